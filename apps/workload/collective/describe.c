// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/describe.c - says before a run how collectives are done, and refuses
// those whose ranks cannot reach each other.
#include "apps/workload/collective/engine.h"

#define LINES_MAX 10u   // of `rocesim check`
#define CHECKED_MAX 64u // ranks of a group whose connections are looked at: others are alike

static void write_plan(const app__collectives_t *all,
                       const app__coll_plan_t *plan,
                       uint64_t calls,
                       void (*write)(const char *text, void *ctx),
                       void *ctx)
{
    char *const expected = plan->expected_us > 0
                               ? sim_format("; NCCL expects %.1f us", plan->expected_us)
                               : sim_strdup("");
    char *const text = sim_format(
        "%" PRIu64 " x %s of %u ranks on %u nodes, %" PRIu64 " bytes: %s, %s, %u channels%s\n",
        calls,
        app__coll_kind_name(
            (app__coll_kind_t)(plan->barrier ? APP__COLL_BARRIER : plan->program.kind)),
        plan->program.ranks,
        all->groups[plan->group].layout.nodes,
        plan->bytes,
        plan->program.algorithm->name,
        app__protocol_name(plan->protocol),
        plan->program.channels,
        expected);
    write(text, ctx);
    sim_free(text);
    sim_free(expected);
}

// Returns whether two plans differ in nothing that is shown.
static bool alike(const app__collectives_t *all,
                  const app__coll_plan_t *one,
                  const app__coll_plan_t *two)
{
    return one->barrier == two->barrier && one->program.kind == two->program.kind &&
           one->bytes == two->bytes && one->program.ranks == two->program.ranks &&
           all->groups[one->group].layout.nodes == all->groups[two->group].layout.nodes &&
           one->program.algorithm == two->program.algorithm && one->protocol == two->protocol &&
           one->program.channels == two->program.channels;
}

// Says how many ranks would fit where fewer are.
static void write_places(const app__workload_t *workload,
                         void (*write)(const char *text, void *ctx),
                         void *ctx)
{
    const uint32_t ranks = workload->schedule->rank_count;
    if (ranks < workload->place_count) {
        char *const text = sim_format("%u ranks on %u places: a fabric of %u would do\n",
                                      ranks,
                                      workload->place_count,
                                      ranks);
        write(text, ctx);
        sim_free(text);
    }
}

void app__workload_describe(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    const app__collectives_t *const all = workload->collectives;
    write_places(workload, write, ctx);
    if (all == NULL) {
        return;
    }
    uint64_t *const calls = sim_alloc_array(all->plan_count + 1, sizeof(*calls));
    size_t *const shown = sim_alloc_array(all->plan_count + 1, sizeof(*shown));
    size_t lines = 0;
    for (size_t i = 0; i < workload->schedule->call_count; i++) {
        calls[all->plan_of[i]]++;
    }
    for (size_t i = 0; i < all->plan_count && lines <= LINES_MAX; i++) {
        size_t at = 0;
        while (at < lines && !alike(all, &all->plans[shown[at]], &all->plans[i])) {
            at++;
        }
        if (at < lines) {
            calls[shown[at]] += calls[i];
        } else {
            shown[lines++] = i;
        }
    }
    for (size_t i = 0; i < lines && i < LINES_MAX; i++) {
        write_plan(all, &all->plans[shown[i]], calls[shown[i]], write, ctx);
    }
    if (lines > LINES_MAX) {
        write("The list leaves out further collectives.\n", ctx);
    }
    sim_free(shown);
    sim_free(calls);
}

// -- reaching each other

static sim_err_t check_pair(const app__collectives_t *all,
                            const app__member_t *own,
                            uint32_t peer,
                            uint32_t lane,
                            sim_message_t *message)
{
    const app__member_t *const other = &all->groups[own->group].members[peer];
    const app__port_t *from = NULL;
    const app__port_t *to = NULL;
    const net_t *const net = all->workload->app.net;
    app__conn_ports(own, other, lane, 0, &from, &to);
    if (own->rank->node == other->rank->node ||
        app__can_talk(net, from->endpoint->interface, to->endpoint->interface)) {
        return SIM_OK;
    }
    return app__cannot_talk(net,
                            from->endpoint->interface,
                            to->endpoint->interface,
                            "hosts",
                            message);
}

static sim_err_t check_block(const app__collectives_t *all,
                             const app__coll_plan_t *plan,
                             const app__member_t *own,
                             uint32_t number,
                             sim_message_t *message)
{
    const app__program_t *const program = &plan->program;
    const app__block_t block = program->algorithm->block(program, own->number, number);
    uint32_t checked = own->number; // the peer of the step before
    for (uint32_t i = 0; i < block.steps; i++) {
        const app__step_t step = app__program_step(program, own->number, number, i);
        if ((step.what & APP__STEP_SEND) == 0 || step.send_peer == checked) {
            continue;
        }
        const sim_err_t error =
            check_pair(all, own, step.send_peer, block.channel + step.send_lane, message);
        if (error != SIM_OK) {
            return error;
        }
        checked = step.send_peer;
    }
    return SIM_OK;
}

sim_err_t app__coll_check_paths(const app__collectives_t *all, sim_message_t *message)
{
    for (size_t p = 0; p < all->plan_count; p++) {
        const app__coll_plan_t *const plan = &all->plans[p];
        const uint32_t ranks =
            plan->program.ranks < CHECKED_MAX ? plan->program.ranks : CHECKED_MAX;
        const bool seen = p > 0 && all->plans[p - 1].group == plan->group &&
                          all->plans[p - 1].program.algorithm == plan->program.algorithm;
        for (uint32_t r = 0; r < ranks && !seen; r++) {
            const app__member_t *const own = &all->groups[plan->group].members[r];
            const uint32_t blocks = plan->program.algorithm->blocks(&plan->program, r);
            for (uint32_t b = 0; b < blocks; b++) {
                const sim_err_t error = check_block(all, plan, own, b, message);
                if (error != SIM_OK) {
                    return error;
                }
            }
        }
    }
    return SIM_OK;
}
