// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/teams.c - groups of ranks, and the operations that a rank's schedule is
// made of.
#include "apps/workload/training/generate_internal.h"

#include <string.h>

// -- teams

uint32_t app__team_size(const app__iteration_t *plan, app__team_t team)
{
    switch (team) {
    case APP__TEAM_TP:
        return plan->tp;
    case APP__TEAM_CP:
        return plan->cp;
    case APP__TEAM_EP:
        return plan->ep;
    case APP__TEAM_DP:
        return plan->cp * plan->dp;
    case APP__TEAM_DP_EP:
        return plan->cp * plan->dp / plan->ep;
    case APP__TEAM_COUNT:
        break;
    }
    SIM_CHECKF(false, "team %d", (int)team);
    return 0;
}

// Returns the distance between the numbers of neighbours in a team.
static uint32_t team_stride(const app__iteration_t *plan, app__team_t team)
{
    return team == APP__TEAM_TP ? 1 : team == APP__TEAM_DP_EP ? plan->tp * plan->ep : plan->tp;
}

static void make_team(app__maker_t *maker, app__team_t team)
{
    const app__iteration_t *const plan = maker->plan;
    const uint32_t ranks = app__iteration_ranks(plan);
    const uint32_t size = app__team_size(plan, team);
    const uint32_t stride = team_stride(plan, team);
    uint32_t *const groups = sim_alloc_array(ranks, sizeof(*groups));
    uint32_t *const members = sim_alloc_array(size, sizeof(*members));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (rank / stride % size != 0) {
            continue; // not the first of its team
        }
        for (uint32_t i = 0; i < size; i++) {
            members[i] = rank + i * stride;
        }
        const uint32_t group = app__schedule_group(maker->schedule, members, size);
        for (uint32_t i = 0; i < size; i++) {
            groups[members[i]] = group;
        }
    }
    sim_free(members);
    maker->groups[team] = groups;
}

void app__maker_teams(app__maker_t *maker)
{
    for (uint32_t team = 0; team < APP__TEAM_COUNT; team++) {
        if (app__team_size(maker->plan, (app__team_t)team) > 1) {
            make_team(maker, (app__team_t)team);
        }
    }
    maker->calls = sim_alloc_array(maker->schedule->group_count + 1, sizeof(*maker->calls));
}

void app__maker_teams_fini(app__maker_t *maker)
{
    for (size_t i = 0; i < maker->schedule->group_count; i++) {
        sim_free(maker->calls[i].list);
    }
    sim_free(maker->calls);
    sim_free_each(maker->groups, APP__TEAM_COUNT);
}

// -- operations

uint32_t app__maker_add(app__maker_t *maker, const app__op_t *op)
{
    return app__schedule_add(maker->schedule, maker->rank, op);
}

void app__maker_after(app__maker_t *maker, uint32_t after, uint32_t before)
{
    if (before == APP__NO_CHAIN) {
        return;
    }
    SIM_APPEND(maker->dependencies, maker->dependency_count, maker->dependency_capacity,
               (app__dependency_t){.after = after, .before = before});
}

void app__maker_need(app__maker_t *maker, uint32_t op)
{
    if (op != APP__NO_CHAIN) {
        SIM_CHECK(maker->pending_count < SIM_COUNT_OF(maker->pending));
        maker->pending[maker->pending_count++] = op;
    }
}

// Appends an operation to the chain.
static void chain(app__maker_t *maker, uint32_t op)
{
    app__maker_after(maker, op, maker->last);
    for (uint32_t i = 0; i < maker->pending_count; i++) {
        if (maker->pending[i] != maker->last) {
            app__maker_after(maker, op, maker->pending[i]);
        }
    }
    maker->pending_count = 0;
    maker->last = op;
}

// Draws a factor of a computation: 1 + jitter x (a sum of twelve uniform numbers - 6), which has
// nearly a normal distribution; at least 1/10.
static double draw_factor(app__maker_t *maker)
{
    const app__iteration_t *const plan = maker->plan;
    double factor = 1;
    if (plan->jitter.num > 0) {
        double sum = -6;
        for (int i = 0; i < 12; i++) {
            sum += (double)(sim_random_u64(&maker->random) >> 11) / 9007199254740992.0;
        }
        factor += sum * (double)plan->jitter.num / (double)plan->jitter.den;
        factor = SIM_MAX(0.1, factor);
    }
    if (plan->slow != NULL && plan->slow[maker->rank]) {
        factor *= (double)plan->slow_factor.num / (double)plan->slow_factor.den;
    }
    return factor;
}

// Adds a computation to the chain. One that takes no time is left out unless it is to wait for
// something: then it is what later operations wait for.
static void add_computation(app__maker_t *maker, double ns, bool waits)
{
    const app__op_t op = {
        .type = APP__OP_CALC,
        .size = (uint64_t)(ns * draw_factor(maker) + 0.5),
        .cpu = APP__STREAM_COMPUTE,
    };
    if (op.size > 0 || waits) {
        chain(maker, app__maker_add(maker, &op));
    }
}

void app__maker_compute_ns(app__maker_t *maker, double ns)
{
    add_computation(maker, ns, false);
}

void app__maker_compute(app__maker_t *maker, double flops)
{
    if (flops > 0) {
        add_computation(maker, flops / maker->plan->flops * 1e9, maker->pending_count > 0);
    }
}

static app__dimension_t dimension_of(app__team_t team)
{
    static const app__dimension_t dimensions[APP__TEAM_COUNT] = {
        [APP__TEAM_TP] = APP__DIM_TP,       [APP__TEAM_CP] = APP__DIM_CP,
        [APP__TEAM_EP] = APP__DIM_EP,       [APP__TEAM_DP] = APP__DIM_DP,
        [APP__TEAM_DP_EP] = APP__DIM_DP_EP,
    };
    return dimensions[team];
}

// Returns the call that the rank makes next with its team; the first rank to come makes it.
static uint32_t next_call(app__maker_t *maker, const app__collective_t *collective)
{
    const uint32_t group = maker->groups[collective->team][maker->rank];
    app__calls_t *const calls = &maker->calls[group];
    const uint32_t number = maker->cursor[collective->team]++;
    if (number == calls->count) {
        const app__call_t call = {
            .bytes = collective->bytes,
            .matrix = collective->matrix,
            .group = group,
            .kind = (uint8_t)collective->kind,
            .dimension = (uint8_t)dimension_of(collective->team),
            .name = collective->name,
        };
        SIM_APPEND(calls->list, calls->count, calls->capacity,
                   app__schedule_call(maker->schedule, &call));
    }
    SIM_CHECK(number < calls->count);
    const uint32_t call = calls->list[number];
    const app__call_t *const made = &maker->schedule->calls[call];
    SIM_CHECK(made->kind == collective->kind && made->bytes == collective->bytes);
    return call;
}

static uint32_t add_collective(app__maker_t *maker, const app__collective_t *collective,
                               app__stream_t stream)
{
    const app__op_t op = {
        .type = APP__OP_COLL,
        .peer = next_call(maker, collective),
        .cpu = (uint8_t)stream,
        .dimension = (uint8_t)dimension_of(collective->team),
    };
    return app__maker_add(maker, &op);
}

void app__maker_wait(app__maker_t *maker, const app__collective_t *collective)
{
    if (maker->groups[collective->team] == NULL || collective->bytes == 0) {
        return;
    }
    chain(maker, add_collective(maker, collective, APP__STREAM_BLOCKING));
}

// Adds collectives beside the chain, one after the other, the first behind two operations. Returns
// the last one.
static uint32_t add_beside(app__maker_t *maker, const app__beside_t *beside, uint32_t after,
                           uint32_t also)
{
    uint32_t last = APP__NO_CHAIN;
    for (uint32_t i = 0; i < beside->count; i++) {
        last = add_collective(maker, &beside->list[i], APP__STREAM_BLOCKING);
        app__maker_after(maker, last, after);
        app__maker_after(maker, last, also);
        after = last;
        also = APP__NO_CHAIN;
    }
    return last;
}

void app__maker_pieces(app__maker_t *maker, double flops, uint32_t pieces,
                       const app__beside_t *before, const app__beside_t *behind)
{
    uint32_t moved = APP__NO_CHAIN;   // the last collective
    uint32_t product = APP__NO_CHAIN; // the last computation
    uint32_t input = APP__NO_CHAIN;   // what the next computation works on
    for (uint32_t i = 0; i < before->count; i++) {
        chain(maker, add_collective(maker, &before->list[i], APP__STREAM_BLOCKING));
        moved = maker->last;
    }
    for (uint32_t i = 0; i < pieces; i++) {
        if (before->count > 0 && i + 1 < pieces) {
            input = add_beside(maker, before, moved, APP__NO_CHAIN);
            moved = input;
        }
        app__maker_compute(maker, flops / pieces); // behind the piece before, and its input
        product = maker->last;
        if (behind->count > 0) {
            moved = add_beside(maker, behind, product, moved);
        }
        app__maker_need(maker, input);
        input = APP__NO_CHAIN;
    }
    maker->last = behind->count > 0 ? moved : product;
    maker->pending_count = 0;
}

uint32_t app__maker_start(app__maker_t *maker, const app__collective_t *collective)
{
    if (maker->groups[collective->team] == NULL || collective->bytes == 0) {
        return APP__NO_CHAIN;
    }
    const uint32_t op = add_collective(maker, collective, APP__STREAM_DATA);
    app__maker_after(maker, op, maker->last);
    if (maker->data != maker->last) {
        app__maker_after(maker, op, maker->data);
    }
    maker->data = op;
    return op;
}
