// SPDX-License-Identifier: Apache-2.0
// apps/serving/router.h - the router, on the first host: what it has given to nodes and what they
// have answered since.
#ifndef APPS_SERVING_ROUTER_H
#define APPS_SERVING_ROUTER_H

#include "apps/mooncake/programs/programs.h"
#include "apps/serving/attempt.h"

struct app__serving_router {
    app__serving_t *serving;
    app__mc_station_t *station;
    sim_timer_t timer;
    uint32_t next;       // next request that does not wait for another one
    uint32_t *followers; // by request: the one that its client sends next; APP__REQUEST_NONE
    uint32_t *due;       // closed-loop requests that arrive, a heap by time
    sim_time_t *due_ps;  // by request
    uint32_t due_count;
    sim_random_t random;
    bool *lost;         // by node: the router knows that it is lost
    uint32_t *restarts; // by node: how often it came back
    uint8_t *retries;   // by request: how often it was placed again
    uint64_t placed_again;
    uint64_t *load;       // by prefill node: tokens that it still has to compute
    uint64_t *held;       // by node: prompt tokens of requests that it decodes, or will
    uint64_t *placed;     // by node: requests that it decodes, or will
    uint64_t *last_given; // by node: when it got its last request
    uint64_t turn;        // of round-robin
    uint64_t decode_turn;
    uint64_t path_turn; // of storage-path: alternate
    uint64_t arrived;
    uint64_t settled;
    uint64_t refused;
    uint64_t too_long; // number of refused requests with more KV data than a node has room for
    uint64_t *fetches; // by node: tokens that it fetches from the store
};

// Returns whether the KV data of a request fits into the memory of the nodes at all.
bool app__serving_fits(const app__serving_t *serving, uint32_t number);
// Creates the router and starts it; frees it (NULL: does nothing).
void app__serving_router_begin(app__serving_t *serving, const app_context_t *context);
void app__serving_router_fini(app__serving_router_t *router);
// Takes a node for lost, once, and places its requests again.
void app__serving_router_lose(app__serving_router_t *router, uint32_t node);
// Gives requests to a node again that is back.
void app__serving_router_restore(app__serving_router_t *router, uint32_t node);

// -- admission.c

// Returns whether a request, whose nodes are chosen, would meet its goals; always true without
// admission by goals.
bool app__serving_admits(const app__serving_router_t *router, uint32_t number);

#endif // APPS_SERVING_ROUTER_H
