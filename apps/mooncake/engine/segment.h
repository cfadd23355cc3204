// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/segment.h - the segments of other engines that an engine knows, and its own
// record.
#ifndef APPS_MOONCAKE_ENGINE_SEGMENT_H
#define APPS_MOONCAKE_ENGINE_SEGMENT_H

#include "apps/mooncake_engine.h"

typedef struct app__mc_segment app__mc_segment_t;
typedef struct app__mc_slice app__mc_slice_t;
typedef struct app__mc_waiter app__mc_waiter_t;
typedef struct app__mc_peer_nic app__mc_peer_nic_t;

typedef struct app__mc_rail { // path between a NIC here and a NIC of the segment
    uint64_t failures;        // in a row
    sim_time_t paused_until_ps;
    app__mc_peer_nic_t *peer_nic; // NULL: not looked up with this description
} app__mc_rail_t;

struct app__mc_segment {
    app_mooncake_t *engine;
    app_mooncake_segment_id_t id;
    char *name;
    app_mooncake_segment_desc_t *desc; // NULL: never received
    uint32_t station;
    app__mc_rail_t *rails; // by own context, then by the segment's device
    bool fetching;
    bool refused; // one of its keys was refused: slices wait for the new description
    app__mc_waiter_t *waiters;
    app__mc_slice_t *stale; // slices that wait for the new description
};

// Adds a callback to a list (NULL: none); calls all with a result and frees the list; frees it.
void app__mc_wait_for(app__mc_waiter_t **list, app_mooncake_done_fn fn, void *ctx);
void app__mc_tell_waiters(app__mc_waiter_t *waiter, int result, app_mooncake_segment_id_t id);
void app__mc_forget_waiters(app__mc_waiter_t *waiter);

// Writes the engine's own record, now or after the write in progress.
void app__mc_put_record(app_mooncake_t *engine, app_mooncake_done_fn fn, void *ctx);
app_mooncake_segment_desc_t *app__mc_describe(const app_mooncake_t *engine);
void app__mc_fetch(app__mc_segment_t *segment, app_mooncake_done_fn fn, void *ctx);
void app__mc_segments_fini(app_mooncake_t *engine);
app__mc_segment_t *app__mc_segment_by_id(const app_mooncake_t *engine,
                                         app_mooncake_segment_id_t id);
app__mc_segment_t *app__mc_segment_add(app_mooncake_t *engine, const char *name);
void app__mc_put_file_record(app_mooncake_t *engine, const char *name, uint64_t length,
                             uint64_t nsid, app_mooncake_done_fn fn, void *ctx);

#endif // APPS_MOONCAKE_ENGINE_SEGMENT_H
