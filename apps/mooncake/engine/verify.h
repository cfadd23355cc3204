// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/verify.h - the contents of memory, by which engines check what has arrived.
#ifndef APPS_MOONCAKE_ENGINE_VERIFY_H
#define APPS_MOONCAKE_ENGINE_VERIFY_H

#include "apps/mooncake/engine/control/calls.h"
#include "apps/mooncake/engine/task.h"

uint64_t app__mc_seed_of(const char *name);
void app__mc_fill(app_mooncake_t *engine, uint64_t address, uint64_t length);
// Verifies the data of a completed task, or asks the peer to verify it.
void app__mc_verify(app__mc_task_t *task);
void app__mc_on_audit(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx);
void app__mc_batch_settle(app_mooncake_t *engine, app__mc_batch_t *batch);

#endif // APPS_MOONCAKE_ENGINE_VERIFY_H
