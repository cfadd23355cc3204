// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/route.h - the two NICs of a slice, at first and for each retry.
#ifndef APPS_MOONCAKE_ENGINE_ROUTE_H
#define APPS_MOONCAKE_ENGINE_ROUTE_H

#include "apps/mooncake/engine/task.h"

// Chooses the NICs of a slice and queues it.
void app__mc_route(app_mooncake_t *engine, app__mc_slice_t *slice);
// Retries a slice, or gives it up. stale: its key was refused, a new description is needed.
void app__mc_retry(app_mooncake_t *engine, app__mc_slice_t *slice, bool stale);
// Routes the slices that waited for a segment's new description, or gives them up.
void app__mc_stale_again(app__mc_segment_t *segment, bool fetched);

#endif // APPS_MOONCAKE_ENGINE_ROUTE_H
