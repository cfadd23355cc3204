// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/describe.c - says before a run how collectives are done, and refuses
// those whose ranks cannot reach each other.
#include "apps/hosts.h"
#include "apps/workload/channels.h"
#include "apps/workload/collective/call_plan.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/estimate.h"
#include "apps/workload/collective/member_channels.h"
#include "apps/workload/domains.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/results/summary.h"
#include "apps/workload/run_options.h"
#include "apps/workload/workload.h"
#include "kernel/digits.h"
#include "nic/ideal.h"

#define FRAME_SHARE 1.02 // bytes of frames of 4096 bytes of payload, for each of them
#define QP_BYTES 1500.0  // of a queue pair and its queues, about
#define SLOT_BYTES 100.0 // of a channel's messages, about
#define LINES_MAX 10u    // of `rocesim check`
#define CHECKED_MAX 64u  // ranks of a group whose channels are looked at: others are alike

static void write_plan(const app__collectives_t *all, const app__coll_plan_t *plan, uint64_t calls,
                       void (*write)(const char *text, void *ctx), void *ctx)
{
    char *const expected =
        plan->expected_us > 0
            ? sim_format("; %s expects %.1f us",
                         all->options.ccl == APP__CCL_RCCL ? "RCCL" : "NCCL", plan->expected_us)
            : sim_strdup("");
    char *const text = sim_format(
        "%" PRIu64 " x %s of %u rank%s on %u node%s, %" PRIu64 " bytes: %s, %s, %u channel%s%s\n",
        calls,
        app__coll_kind_name(
            (app__coll_kind_t)(plan->barrier ? APP__COLL_BARRIER : plan->program.kind)),
        plan->program.ranks, sim_plural(plan->program.ranks), all->groups[plan->group].layout.nodes,
        sim_plural(all->groups[plan->group].layout.nodes), plan->bytes,
        plan->program.algorithm->name, app__protocol_name(plan->protocol), plan->program.channels,
        sim_plural(plan->program.channels), expected);
    write(text, ctx);
    sim_free(text);
    sim_free(expected);
}

// Returns whether two plans differ in nothing that is shown.
static bool alike(const app__collectives_t *all, const app__coll_plan_t *one,
                  const app__coll_plan_t *two)
{
    return one->barrier == two->barrier && one->program.kind == two->program.kind &&
           one->bytes == two->bytes && one->program.ranks == two->program.ranks &&
           all->groups[one->group].layout.nodes == all->groups[two->group].layout.nodes &&
           one->program.algorithm == two->program.algorithm && one->protocol == two->protocol &&
           one->program.channels == two->program.channels;
}

static void say(void (*write)(const char *text, void *ctx), void *ctx, char *text)
{
    write(text, ctx);
    sim_free(text);
}

// -- amounts

static sim_time_t most_of(sim_time_t a, sim_time_t b)
{
    return SIM_MAX(a, b);
}

// Returns the one-way time of a packet between two interfaces: half of the time until its sender
// knows that it has arrived.
static sim_time_t latency_ps(const net_t *net, uint32_t from, uint32_t to)
{
    nic_qp_attr_t attr;
    nic_qp_attr_default(nic_of_interface(net, from), &attr);
    const nic_ideal_t ideal = {
        .net = net,
        .requester = from,
        .responder = to,
        .opcode = NIC_WR_RDMA_WRITE_WITH_IMM,
        .mtu_bytes = attr.path_mtu,
        .message_bytes = 1,
        .messages = 1,
        .piece_bytes = UINT64_C(1) << 30,
        .service = NIC_QPT_RC,
    };
    return nic_ideal_ps(&ideal) / 2;
}

// Returns the network of schedules as LogGP's: latency and rate of the first pair of ranks. nodes
// has room for the node of each rank.
static app__loggp_t network_of(const app__workload_t *workload, const void **nodes)
{
    app__loggp_t loggp = workload->options.loggp;
    if (workload->options.network != APP__NETWORK_PACKETS) {
        return loggp;
    }
    uint64_t near_bps = workload->options.local_bps;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        nodes[r] = rank->domain != NULL ? (const void *)rank->domain : (const void *)rank->node;
        if (rank->domain != NULL) {
            const uint64_t rate_bps = app__domain_bps(rank);
            near_bps = SIM_MAX(rate_bps, near_bps);
        }
    }
    loggp.byte_gap_ps = 8 * SIM_PS_PER_S / nic_rate_bps(workload->ports[0].endpoint->nic);
    loggp.nodes = nodes;
    loggp.near_byte_gap_ps = 8 * SIM_PS_PER_S / near_bps;
    loggp.near_latency_ps = workload->options.local_ps;
    loggp.latency_ps = 0;
    bool near = false; // near_latency_ps is that of an NVSwitch
    for (uint32_t i = 0; i < workload->channel_count && (!near || loggp.latency_ps == 0); i++) {
        const app__rank_channel_t *const channel = &workload->channels[i];
        const app__port_t *const source = &workload->ports[channel->source];
        const app__port_t *const destination = &workload->ports[channel->destination];
        const bool same = nodes[source->rank->number] == nodes[destination->rank->number];
        if (source->rank == destination->rank || (same && source->rank->domain == NULL) ||
            (same ? near : loggp.latency_ps != 0)) {
            continue;
        }
        const sim_time_t link_ps = latency_ps(workload->app.net, source->endpoint->interface,
                                              destination->endpoint->interface);
        if (same) {
            near = true;
            loggp.near_latency_ps = SIM_MIN(link_ps, loggp.near_latency_ps);
        } else {
            loggp.byte_gap_ps = 8 * SIM_PS_PER_S / nic_rate_bps(source->endpoint->nic);
            loggp.latency_ps = link_ps;
        }
    }
    return loggp;
}

// Returns how many messages follow one another: those of a rank, or those of a tree's levels.
static uint32_t depth_of(const app__coll_plan_t *plan, uint32_t rounds)
{
    const app__algorithm_t *const algorithm = plan->program.algorithm;
    const bool tree = algorithm == &app__tree || algorithm == &app__nvls_tree;
    uint32_t levels = 1;
    while (tree && plan->program.ranks >> levels != 0) {
        levels++;
    }
    return rounds * levels;
}

typedef struct amounts {
    double messages;
    double local_messages;
    double bytes;
    sim_time_t nic_ps; // maximum time that a NIC has to send for collectives
    double memory_bytes;
} amounts_t;

// Returns the memory of the operations of all ranks.
static double op_bytes(const app__schedule_t *schedule)
{
    const app__schedule_counts_t *const counts = &schedule->counts;
    const double ops = (double)(counts->sends + counts->recvs + counts->calcs + counts->colls);
    const double each = schedule->typical != NULL
                            ? sizeof(uint32_t) + (double)sizeof(app__op_t) / schedule->alike
                            : sizeof(app__op_t);
    const double orders = (double)(counts->requires + counts->irequires) * sizeof(uint32_t);
    return ops * (each + sizeof(app__op_state_t)) +
           (schedule->typical != NULL ? orders / schedule->alike : orders) +
           (double)schedule->call_count * sizeof(app__call_t);
}

// Adds the collectives to the amounts, and fills the costs of their calls.
static void add_calls(const app__workload_t *workload, app__call_cost_t *costs, amounts_t *amounts)
{
    const app__collectives_t *const all = workload->collectives;
    uint64_t *const calls = app__coll_calls(all);
    double *const port_bytes = sim_alloc_array((size_t)workload->port_count + 1, sizeof(double));
    app__call_cost_t *const each = sim_alloc_array(all->plan_count + 1, sizeof(*each));
    double *const group_bytes =
        sim_alloc_array(workload->schedule->group_count + 1, sizeof(*group_bytes));
    for (size_t i = 0; i < all->plan_count; i++) {
        const app__coll_load_t load =
            app__coll_load(all, &all->plans[i], calls[i], port_bytes, NULL, NULL);
        const sim_time_t round_ps = load.from == APP__NO_RANK
                                        ? workload->options.local_ps
                                        : latency_ps(workload->app.net, load.from, load.to);
        each[i].least_ps = (sim_time_t)(load.send_s * SIM_PS_PER_S);
        each[i].likely_ps = most_of(
            (sim_time_t)((load.send_s * FRAME_SHARE + load.fill_s) * SIM_PS_PER_S) + round_ps,
            (sim_time_t)(load.serial_s * SIM_PS_PER_S) +
                depth_of(&all->plans[i], load.rounds) * (round_ps + all->options.send_ps));
        const double ends = 2 * (sizeof(app__member_channel_t) + SLOT_BYTES);
        const double conn_bytes =
            load.streams * ends + (load.streams - load.local_streams) * 2 * QP_BYTES;
        double *const most_bytes = &group_bytes[all->plans[i].group];
        *most_bytes = SIM_MAX(conn_bytes, *most_bytes);
        amounts->messages += load.messages;
        amounts->local_messages += load.local_messages;
        amounts->bytes += load.bytes;
    }
    for (size_t i = 0; i < workload->schedule->call_count; i++) {
        costs[i] = each[all->plan_of[i]];
    }
    for (size_t i = 0; i < workload->schedule->group_count; i++) {
        amounts->memory_bytes += group_bytes[i];
    }
    sim_free(group_bytes);
    for (uint32_t p = 0; p < workload->port_count; p++) {
        const double bps = (double)nic_rate_bps(workload->ports[p].endpoint->nic);
        const sim_time_t took_ps = (sim_time_t)(port_bytes[p] * 8 / bps * SIM_PS_PER_S);
        amounts->nic_ps = SIM_MAX(took_ps, amounts->nic_ps);
    }
    SIM_FREE_ALL(each, port_bytes, calls);
}

// Counts the sends of a rank that stay in its node.
static uint32_t near_messages(const app__schedule_t *schedule, const app__loggp_t *loggp,
                              uint32_t rank)
{
    const app__rank_ops_t *const ops = &schedule->ranks[rank];
    uint32_t count = 0;
    for (uint32_t i = 0; i < ops->count; i++) {
        count += ops->ops[i].type == APP__OP_SEND &&
                 app__are_near(loggp, rank, app__peer_of(ops, &ops->ops[i]));
    }
    return count;
}

// Says what is to be done, and how long that takes at least.
static void write_amounts(const app__workload_t *workload,
                          void (*write)(const char *text, void *ctx), void *ctx)
{
    const app__schedule_t *const schedule = workload->schedule;
    const app__schedule_counts_t *const counts = &schedule->counts;
    const void **const nodes = sim_alloc_array((size_t)schedule->rank_count, sizeof(*nodes));
    const app__loggp_t loggp = network_of(workload, nodes);
    app__call_cost_t *const costs = sim_alloc_array(schedule->call_count + 1, sizeof(*costs));
    amounts_t amounts = {
        .messages = (double)counts->sends,
        .bytes = (double)counts->bytes,
        .memory_bytes = op_bytes(schedule) + 2.0 * workload->channel_count * QP_BYTES,
    };
    app__workload_summary_t summary;
    for (uint32_t r = 0; r < schedule->rank_count && counts->sends > 0; r++) {
        amounts.local_messages += near_messages(schedule, &loggp, r);
    }
    if (workload->collectives != NULL) {
        add_calls(workload, costs, &amounts);
    }
    app__workload_summarise(schedule, &loggp, costs, &summary);
    sim_free(nodes);
    sim_free(costs);
    const sim_time_t nic_ps = most_of(summary.nic_send_ps, amounts.nic_ps);
    const sim_time_t bound_ps = most_of(summary.bound_ps, nic_ps);
    say(write, ctx,
        sim_format("%u rank%s: %" PRIu64 " send%s, %" PRIu64 " receive%s, %" PRIu64
                   " computation%s, %" PRIu64 " part%s of collectives, %u on the longest chain\n",
                   schedule->rank_count, sim_plural(schedule->rank_count), counts->sends,
                   sim_plural(counts->sends), counts->recvs, sim_plural(counts->recvs),
                   counts->calcs, sim_plural(counts->calcs), counts->colls,
                   sim_plural(counts->colls), counts->depth));
    say(write, ctx,
        sim_format("messages: %.0f of %s MB, %.0f of them within nodes; memory of operations and "
                   "connections: %s MB\n",
                   amounts.messages, SIM_DIGITS(amounts.bytes / 1e6, 4), amounts.local_messages,
                   SIM_DIGITS(amounts.memory_bytes / 1e6, 3)));
    say(write, ctx,
        sim_format("takes at least %s us: the longest of path %s, processor %s, sending NIC "
                   "%s, receiving NIC %s us\n",
                   SIM_DIGITS((double)bound_ps / SIM_PS_PER_US, 6),
                   SIM_DIGITS((double)summary.path_ps / SIM_PS_PER_US, 6),
                   SIM_DIGITS((double)summary.cpu_ps / SIM_PS_PER_US, 6),
                   SIM_DIGITS((double)nic_ps / SIM_PS_PER_US, 6),
                   SIM_DIGITS((double)summary.nic_receive_ps / SIM_PS_PER_US, 6)));
    if (summary.estimated) {
        say(write, ctx,
            sim_format(
                "takes about %s us on paths that nobody shares\n",
                SIM_DIGITS((double)most_of(summary.estimate_ps, bound_ps) / SIM_PS_PER_US, 6)));
    }
}

// Says how many ranks would fit where fewer are.
static void write_places(const app__workload_t *workload,
                         void (*write)(const char *text, void *ctx), void *ctx)
{
    const uint32_t ranks = workload->schedule->rank_count;
    if (ranks < workload->place_count) {
        say(write, ctx,
            sim_format("%u rank%s on %u place%s: a fabric of %u would do\n", ranks,
                       sim_plural(ranks), workload->place_count, sim_plural(workload->place_count),
                       ranks));
    }
}

void app__workload_describe(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    const app__collectives_t *const all = workload->collectives;
    write_places(workload, write, ctx);
    write_amounts(workload, write, ctx);
    if (all == NULL) {
        return;
    }
    uint64_t *const calls = app__coll_calls(all);
    size_t *const shown = sim_alloc_array(all->plan_count + 1, sizeof(*shown));
    size_t lines = 0;
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

static sim_err_t check_pair(const app__collectives_t *all, const app__member_t *own, uint32_t peer,
                            uint32_t lane, sim_message_t *message)
{
    const app__member_t *const other = &all->groups[own->group].members[peer];
    const app__port_t *from = NULL;
    const app__port_t *to = NULL;
    const net_t *const net = all->workload->app.net;
    app__member_channel_ports(own, other, lane, 0, &from, &to);
    if (own->rank->node == other->rank->node ||
        app__can_talk(net, from->endpoint->interface, to->endpoint->interface)) {
        return SIM_OK;
    }
    return app__cannot_talk(net, from->endpoint->interface, to->endpoint->interface, "hosts",
                            message);
}

static sim_err_t check_block(const app__collectives_t *all, const app__coll_plan_t *plan,
                             const app__member_t *own, uint32_t number, sim_message_t *message)
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
        const uint32_t ranks = SIM_MIN(plan->program.ranks, CHECKED_MAX);
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
