// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/signals.h - makes steps of operations that let others go on.
#ifndef APPS_WORKLOAD_COLLECTIVE_MSCCL_SIGNALS_H
#define APPS_WORKLOAD_COLLECTIVE_MSCCL_SIGNALS_H

#include "apps/workload/collective/msccl/lowering.h"

// Signals on the channels of the operation, or waits for a signal of each.
void app__lower_channels(app__lowering_t *to, bool waits);
void app__lower_barrier(app__lowering_t *to, uint32_t thread_blocks);
void app__lower_semaphores(app__lowering_t *to, bool acquires);

#endif // APPS_WORKLOAD_COLLECTIVE_MSCCL_SIGNALS_H
