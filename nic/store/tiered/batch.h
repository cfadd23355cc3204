// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/batch.h - the miss queue of L2, the staging areas, and the units that wait.
#ifndef NIC_STORE_TIERED_BATCH_H
#define NIC_STORE_TIERED_BATCH_H

#include "nic/store/tiered/object.h"

// A unit that waits for tokens of batches.
typedef struct tiered_waiter {
    sim_timer_t *timer;
    sim_time_t least_ps;
    uint32_t missing;           // tokens
    struct tiered_waiter *next; // that is free
} tiered_waiter_t;

// Says which unit waits for a token.
typedef struct tiered_link {
    tiered_waiter_t *waiter;
    sim_time_t begin_ps;
    struct tiered_link *next;
} tiered_link_t;

void nic__tiered_batch_fired(sim_node_t *node, sim_timer_t *timer);
void nic__tiered_queue_miss(tiered_t *tiered, tiered_token_t *token);
// Notes that the lookup at hand waits for a token of the miss queue.
void nic__tiered_ask(tiered_t *tiered, uint32_t number);
// Fetches a token of L2 that nobody can wait for: the worker starts at once, and takes the queue
// along. Returns the time it takes.
sim_time_t nic__tiered_fetch_now(tiered_t *tiered, tiered_token_t *token);
void nic__tiered_wait(nic_store_t *store, sim_timer_t *timer, sim_time_t least_ps);
// Puts an image into the staging area; NULL: what the tier has that owns the token. With l1.staged:
// tokens, it gives the token a seat there.
void nic__tiered_stage(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image);
sim_time_t nic__tiered_behind_ps(const tiered_t *tiered); // 0: L2 keeps up
void nic__tiered_batch_fini(tiered_t *tiered);

#endif // NIC_STORE_TIERED_BATCH_H
