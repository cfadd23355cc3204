// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/generate_internal.h - the schedule of a rank while it is being made.
//
// What a rank computes, and the collectives that it waits for, form one chain (`last`). Messages
// between stages and overlapped collectives hang on the chain.
#ifndef APPS_WORKLOAD_TRAINING_GENERATE_INTERNAL_H
#define APPS_WORKLOAD_TRAINING_GENERATE_INTERNAL_H

#include "apps/workload/training/iteration.h"

#define APP__NO_CHAIN UINT32_MAX

// Groups of ranks that a rank belongs to.
typedef enum app__team {
    APP__TEAM_TP,
    APP__TEAM_CP,
    APP__TEAM_EP,
    APP__TEAM_DP,    // context and data parallelism
    APP__TEAM_DP_EP, // those of them that hold the same experts
    APP__TEAM_COUNT
} app__team_t;

// Calls of a group so far. All its ranks make them in the same order.
typedef struct app__calls {
    uint32_t *list;
    size_t count;
    size_t capacity;
} app__calls_t;

// A collective on the chain or beside it.
typedef struct app__collective {
    app__team_t team;
    app__coll_kind_t kind;
    uint64_t bytes;
    const uint64_t *matrix;
    const char *name;
} app__collective_t;

// Collectives before or behind each piece of a matrix product, one after the other.
typedef struct app__beside {
    app__collective_t list[2];
    uint32_t count;
} app__beside_t;

// Gradients that wait for their collective.
typedef struct app__bucket {
    uint64_t dense_bytes;
    uint64_t expert_bytes;
} app__bucket_t;

typedef struct app__maker {
    const app__iteration_t *plan;
    app__schedule_t *schedule;
    app__calls_t *calls;               // by group of the schedule
    uint32_t *groups[APP__TEAM_COUNT]; // by rank: its group of each team; NULL: of one rank
    // of the rank that is being made
    uint32_t rank;
    uint32_t stage;
    uint32_t cursor[APP__TEAM_COUNT]; // calls made so far
    app__dependency_t *dependencies;
    size_t dependency_count;
    size_t dependency_capacity;
    uint32_t last;       // of the chain
    uint32_t pending[8]; // what the next operation of the chain also waits for
    uint32_t pending_count;
    uint32_t pass_ends[2]; // of the last pass and of the one before it
    uint32_t data;         // the last collective of gradients or parameters
    uint32_t fetch_after;  // what a layer's parameters of ZeRO 3 wait for
    uint32_t *gathered; // by layer: the collective that brings its parameters; APP__NO_CHAIN: none
    app__bucket_t bucket;
    sim_random_t random;
    uint32_t iteration;
} app__maker_t;

void app__maker_teams(app__maker_t *maker);      // makes the groups of the schedule
void app__maker_teams_fini(app__maker_t *maker); // frees the lists
// Returns the number of ranks of a team.
uint32_t app__team_size(const app__iteration_t *plan, app__team_t team);

uint32_t app__maker_add(app__maker_t *maker, const app__op_t *op);
// Makes `after` wait for `before`; APP__NO_CHAIN: nothing.
void app__maker_after(app__maker_t *maker, uint32_t after, uint32_t before);
// Makes the next operation of the chain wait for an operation beside it; APP__NO_CHAIN: nothing.
void app__maker_need(app__maker_t *maker, uint32_t op);
// Appends a computation to the chain; 0 FLOPs: none. Slowness and jitter of the rank lengthen it.
void app__maker_compute(app__maker_t *maker, double flops);
void app__maker_compute_ns(app__maker_t *maker, double ns);
// Appends a collective to the chain; a team of one rank has none.
void app__maker_wait(app__maker_t *maker, const app__collective_t *collective);
// Appends a matrix product in pieces, each with collectives before and behind it that run beside
// the computation of other pieces. All ranks call these in one order.
void app__maker_pieces(app__maker_t *maker, double flops, uint32_t pieces,
                       const app__beside_t *before, const app__beside_t *behind);
// Starts a collective of gradients or parameters beside the chain, behind the one before it and
// what the chain has so far. Returns the operation; APP__NO_CHAIN: a team of one rank has none.
uint32_t app__maker_start(app__maker_t *maker, const app__collective_t *collective);

#endif // APPS_WORKLOAD_TRAINING_GENERATE_INTERNAL_H
