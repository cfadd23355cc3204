// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/task.h - requests of a batch, and the slices that they are cut into.
#ifndef APPS_MOONCAKE_ENGINE_TASK_H
#define APPS_MOONCAKE_ENGINE_TASK_H

#include "apps/mooncake/engine/peers/peer_nic.h"
#include "apps/mooncake_transfers.h"

typedef struct app__mc_task app__mc_task_t;
typedef struct app__mc_batch app__mc_batch_t;

struct app__mc_slice {
    app__mc_task_t *task;
    app__mc_slice_t *next; // list of the queue it is in
    sim_link_t timed;
    app__mc_endpoint_t *endpoint;
    uint64_t source;
    uint64_t target;
    sim_time_t since_ps;
    uint32_t length;
    uint32_t lkey;
    uint32_t rkey;
    uint16_t qp;
    uint16_t retry;
    uint8_t first_local; // positions in the NIC lists that the first attempt took
    uint8_t first_peer;
    uint16_t context;
};

struct app__mc_task {
    app_mooncake_t *engine;
    sim_link_t made;
    app__mc_batch_t *batch; // NULL: the batch is freed
    app__mc_segment_t *segment;
    app_mooncake_request_t request;
    app_mooncake_task_status_t status;
    uint64_t transferred;
    uint32_t slices; // total number
    uint32_t left;   // slices that have not ended; they keep the task alive
    bool failed;     // a slice failed
    bool ended;
    bool is_part;      // of another task, which is verified as a whole
    sim_timer_t timer; // fires at the end of a local copy
};

struct app__mc_batch {
    app_mooncake_batch_id_t id;
    uint64_t size;
    app__mc_task_t **tasks;
    uint64_t count;
    uint64_t open;                  // entries that are PENDING or WAITING
    uint64_t audits;                // audits in flight
    uint64_t unverified;            // bytes
    app_mooncake_batch_fn ended_fn; // called when no entry is open
    void *ended_ctx;
    app_mooncake_batch_fn fn; // called when also nothing is left to verify
    void *ctx;
    char *audit; // body of the next audit message to the peer
    size_t audit_size;
    size_t audit_capacity;
    uint64_t audit_bytes;
    app__mc_segment_t *audit_segment;
};

static inline void app__mc_queue_push(app__mc_queue_t *queue, app__mc_slice_t *slice)
{
    slice->next = NULL;
    if (queue->last != NULL) {
        queue->last->next = slice;
    } else {
        queue->first = slice;
    }
    queue->last = slice;
    queue->count++;
}
static inline app__mc_slice_t *app__mc_queue_pop(app__mc_queue_t *queue)
{
    app__mc_slice_t *const slice = queue->first;
    if (slice != NULL) {
        queue->first = slice->next;
        queue->last = slice->next == NULL ? NULL : queue->last;
        queue->count--;
        slice->next = NULL;
    }
    return slice;
}

app__mc_task_t *app__mc_task_new(app_mooncake_t *engine, app__mc_batch_t *batch,
                                 const app_mooncake_request_t *request);
void app__mc_task_free(app__mc_task_t *task);
void app__mc_task_begin(app__mc_task_t *task);
void app__mc_slice_done(app_mooncake_t *engine, app__mc_slice_t *slice);
void app__mc_slice_lost(app_mooncake_t *engine, app__mc_slice_t *slice);
// Notes that a slice is on a queue pair now.
void app__mc_slice_posted(app__mc_slice_t *slice);
void app__mc_task_end(app__mc_task_t *task, app_mooncake_task_status_t status);

// -- batch.c

void app__mc_transfers_fini(app_mooncake_t *engine);
void app__mc_abandon(app_mooncake_t *engine);

#endif // APPS_MOONCAKE_ENGINE_TASK_H
