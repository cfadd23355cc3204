// SPDX-License-Identifier: Apache-2.0
// tests/rank_hub.h - ranks (kernel/ranks.h) as threads of one process, each with a simulation.
//
//     rank_hub_t hub;
//     rank_hub_init(&hub, 2);
//     for (unsigned r = 0; r < 2; r++) { ... thread r uses &hub.members[r].ranks ... }
#ifndef TESTS_RANK_HUB_H
#define TESTS_RANK_HUB_H

#include <pthread.h>

#include "kernel/ranks.h"

#define RANK_HUB_MAX 4u

typedef struct rank_hub rank_hub_t;

typedef struct rank_hub_member {
    rank_hub_t *hub;
    sim_ranks_t ranks;
    // The exchange that was begun.
    size_t count;
    sim_buffer_t *in;
    sim_ranks_view_t *view;
} rank_hub_member_t;

struct rank_hub {
    pthread_barrier_t barrier;
    unsigned count;
    rank_hub_member_t members[RANK_HUB_MAX];
    // By rank, between two meetings:
    sim_ranks_view_t views[RANK_HUB_MAX];
    const unsigned *others[RANK_HUB_MAX];
    const sim_buffer_t *out[RANK_HUB_MAX];
    const void *bytes[RANK_HUB_MAX];
    size_t sizes[RANK_HUB_MAX];
};

void rank_hub_init(rank_hub_t *hub, unsigned count);
void rank_hub_fini(rank_hub_t *hub);

#endif // TESTS_RANK_HUB_H
