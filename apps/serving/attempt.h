// SPDX-License-Identifier: Apache-2.0
// apps/serving/attempt.h - the times and nodes of an attempt to serve a request.
#ifndef APPS_SERVING_ATTEMPT_H
#define APPS_SERVING_ATTEMPT_H

#include "apps/serving/serving.h"

// Attempt a x count + n is that of request n when it was placed for time a, from 0: it is placed
// again if a node of its own is lost. Times are SIM_TIME_NEVER until the event happens.
struct app__serving_attempt {
    // written by the router
    sim_time_t arrival_ps;
    sim_time_t settled_ps; // when the router knew that it had ended
    uint32_t prefill;
    uint32_t decode;     // index among all nodes
    uint64_t weight;     // tokens that count as its prefill node's load
    uint64_t reused;     // tokens whose KV data was in a cache
    uint64_t fetched;    // tokens that were in the store only
    bool through_decode; // the decode node fetched them
    bool placed;         // it counts as load of its nodes
    bool computed;       // its prompt is computed
    bool refused;
    bool failed;
    // written by the prefill node
    sim_time_t queued_ps;  // when the prefill node received it
    sim_time_t fetched_ps; // when it had the KV data of earlier prompts
    sim_time_t began_ps;
    sim_time_t computed_ps;
    sim_time_t prefill_first_ps;
    uint64_t reused_in_fact; // tokens that were not computed
    // written by the decode node
    sim_time_t reserved_ps; // when it was asked for memory
    sim_time_t gave_ps;     // when it gave that memory
    sim_time_t ready_ps;    // when it knew that all KV data is there
    sim_time_t joined_ps;   // begin of its first step
    sim_time_t first_ps;
    sim_time_t end_ps;
    uint64_t tokens; // that were generated for the user
    uint64_t preempted;
};

// Creates the attempts of all requests, and the places of their jobs.
void app__serving_attempts_init(app__serving_t *serving);
// Returns the attempt that served a request first, or NULL.
const app__serving_attempt_t *app__serving_served(const app__serving_t *serving, uint32_t number);
// Carries all attempts, and the counters of the router and of all nodes, to rank 0.
void app__serving_carry(app_t *app, sim_carry_t *carry);

#endif // APPS_SERVING_ATTEMPT_H
