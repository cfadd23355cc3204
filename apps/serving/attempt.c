// SPDX-License-Identifier: Apache-2.0
// apps/serving/attempt.c - creates the attempts to serve requests, and carries what nodes and
// router know to rank 0 (docs/models/serving.md).
#include "apps/serving/attempt.h"

#include "apps/mooncake/engine/control/metadata.h"
#include "apps/serving/job.h"
#include "apps/serving/node.h"
#include "apps/serving/router.h"

void app__serving_attempts_init(app__serving_t *serving)
{
    const uint32_t count = serving->requests.count * serving->attempts_max;
    serving->attempts = sim_alloc_array(count, sizeof(*serving->attempts));
    serving->jobs = sim_alloc_array(count, sizeof(*serving->jobs));
    for (uint32_t i = 0; i < count; i++) {
        serving->attempts[i] = (app__serving_attempt_t){
            .arrival_ps = SIM_TIME_NEVER,
            .settled_ps = SIM_TIME_NEVER,
            .queued_ps = SIM_TIME_NEVER,
            .fetched_ps = SIM_TIME_NEVER,
            .began_ps = SIM_TIME_NEVER,
            .computed_ps = SIM_TIME_NEVER,
            .prefill_first_ps = SIM_TIME_NEVER,
            .reserved_ps = SIM_TIME_NEVER,
            .gave_ps = SIM_TIME_NEVER,
            .ready_ps = SIM_TIME_NEVER,
            .joined_ps = SIM_TIME_NEVER,
            .first_ps = SIM_TIME_NEVER,
            .end_ps = SIM_TIME_NEVER,
        };
    }
}

const app__serving_attempt_t *app__serving_served(const app__serving_t *serving, uint32_t number)
{
    const app__serving_attempt_t *best = NULL;
    for (uint32_t a = 0; a < serving->attempts_max; a++) {
        const app__serving_attempt_t *const attempt =
            &serving->attempts[a * serving->requests.count + number];
        if (attempt->end_ps != SIM_TIME_NEVER && (best == NULL || attempt->end_ps < best->end_ps)) {
            best = attempt;
        }
    }
    return best;
}

// -- in ranks

// Takes the members of an attempt that hosts of the carried rank wrote. It left all others NEVER.
static void carry_attempt(app__serving_attempt_t *attempt, sim_carry_t *carry)
{
    app__serving_attempt_t theirs = *attempt;
    SIM_CARRY(carry, theirs);
    if (theirs.arrival_ps != SIM_TIME_NEVER) {
        attempt->arrival_ps = theirs.arrival_ps;
        attempt->settled_ps = theirs.settled_ps;
        attempt->prefill = theirs.prefill;
        attempt->decode = theirs.decode;
        attempt->refused = theirs.refused;
        attempt->through_decode = theirs.through_decode;
        attempt->failed = theirs.failed;
    }
    if (theirs.queued_ps != SIM_TIME_NEVER) {
        attempt->queued_ps = theirs.queued_ps;
        attempt->fetched_ps = theirs.fetched_ps;
        attempt->reused_in_fact = theirs.reused_in_fact;
        attempt->began_ps = theirs.began_ps;
        attempt->computed_ps = theirs.computed_ps;
        attempt->prefill_first_ps = theirs.prefill_first_ps;
    }
    if (theirs.ready_ps != SIM_TIME_NEVER || theirs.first_ps != SIM_TIME_NEVER) {
        attempt->reserved_ps = theirs.reserved_ps;
        attempt->gave_ps = theirs.gave_ps;
        attempt->ready_ps = theirs.ready_ps;
        attempt->joined_ps = theirs.joined_ps;
        attempt->first_ps = theirs.first_ps;
        attempt->end_ps = theirs.end_ps;
        attempt->tokens = theirs.tokens;
        attempt->preempted = theirs.preempted;
    }
}

void app__serving_carry(app_t *app, sim_carry_t *carry)
{
    app__serving_t *const serving = (app__serving_t *)(void *)app;
    app__mc_server_carry(serving->cluster->server, carry);
    for (uint32_t i = 0; i < serving->requests.count * serving->attempts_max; i++) {
        carry_attempt(&serving->attempts[i], carry);
    }
    if (sim_carry_has(carry, serving->router->station->node)) {
        SIM_CARRY(carry, serving->router->placed_again);
        SIM_CARRY_FIELDS(carry, serving->router, arrived, too_long);
    }
    for (uint32_t n = 0; n < serving->all_count; n++) {
        app__serving_node_t *const node = &serving->nodes[n];
        if (node->engine != NULL) {
            (void)app__mc_carry_engine(node->engine, carry);
        }
        if (!sim_carry_has(carry, node->node)) {
            continue;
        }
        SIM_CARRY(carry, node->counters);
        sim_carry(carry, node->nic_sent, node->nics * sizeof(*node->nic_sent));
        sim_carry(carry, node->nic_received, node->nics * sizeof(*node->nic_received));
        sim_carry(carry, node->written_to, serving->nic_count * sizeof(*node->written_to));
        sim_carry(carry, node->read_from, serving->nic_count * sizeof(*node->read_from));
        SIM_CARRY_LIST(carry, node->operations, node->operation_count, node->operation_capacity);
    }
}
