// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/summary.c - sums up a schedule: sizes of its messages, bounds and an
// estimate.
#include "apps/workload/results/summary.h"

#include <stdlib.h>
#include <string.h>

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t two = *(const uint64_t *)b;
    return one < two ? -1 : one > two;
}

static void sum_sizes(const app__schedule_t *schedule, app__workload_summary_t *summary)
{
    uint64_t *const sizes = sim_alloc_array((size_t)schedule->counts.sends + 1, sizeof(*sizes));
    size_t count = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            if (schedule->ranks[r].ops[i].type == APP__OP_SEND) {
                sizes[count++] = schedule->ranks[r].ops[i].size;
            }
        }
    }
    qsort(sizes, count, sizeof(*sizes), compare_sizes);
    for (size_t i = 0; i < count; i++) {
        summary->message_sizes += i == 0 || sizes[i] != sizes[i - 1];
    }
    summary->message_bytes_min = count > 0 ? sizes[0] : 0;
    summary->message_bytes_max = count > 0 ? sizes[count - 1] : 0;
    sim_free(sizes);
}

static void raise_to(sim_time_t *most_ps, const sim_time_t *works_ps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *most_ps = SIM_MAX(works_ps[i], *most_ps);
    }
}

// -- collectives as rings, all-to-alls as direct exchanges

// Messages and bytes that a rank sends in a call.
typedef struct share {
    double bytes;
    uint32_t messages;
    uint32_t rounds; // messages that follow one another
} share_t;

static double row_of(const app__call_t *call, uint32_t ranks, uint32_t row)
{
    double bytes = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        bytes += i != row ? (double)call->matrix[(uint64_t)row * ranks + i] : 0;
    }
    return bytes;
}

// Returns the share of a rank: number `member` of its group.
static share_t share_of(const app__schedule_t *schedule, const app__call_t *call, uint32_t member)
{
    const uint32_t n = schedule->groups[call->group].count;
    const double part = (double)call->bytes * (n - 1) / n;
    switch (call->kind) {
    case APP__COLL_ALL_REDUCE:
        return (share_t){2 * part, 2 * (n - 1), 2 * (n - 1)};
    case APP__COLL_BARRIER:
        return (share_t){2.0 * (n - 1), 2 * (n - 1), 2 * (n - 1)};
    case APP__COLL_REDUCE_SCATTER:
    case APP__COLL_ALL_GATHER:
        return (share_t){part, n - 1, n - 1};
    case APP__COLL_ALL_TO_ALL:
        return (share_t){call->matrix != NULL ? row_of(call, n, member) : part, n - 1, n > 1};
    default: // broadcast, reduce: the last one of the chain sends nothing
        return (share_t){n > 1 ? (double)call->bytes : 0, n > 1, n - 1};
    }
}

static app__call_cost_t cost_of(const app__schedule_t *schedule, const app__call_t *call,
                                const app__loggp_t *loggp)
{
    const uint32_t n = schedule->groups[call->group].count;
    double bytes = 0;
    share_t share = {0, 0, 0};
    for (uint32_t i = 0; i < (call->matrix != NULL ? n : 1); i++) {
        share = share_of(schedule, call, i);
        bytes = SIM_MAX(share.bytes, bytes);
    }
    const sim_time_t least_ps = (sim_time_t)(bytes * (double)loggp->byte_gap_ps);
    const sim_time_t round_ps = loggp->latency_ps + loggp->send_ps + loggp->recv_ps;
    return (app__call_cost_t){least_ps, least_ps + share.rounds * round_ps};
}

static void sum_calls(const app__schedule_t *schedule, app__workload_summary_t *summary)
{
    for (size_t i = 0; i < schedule->call_count; i++) {
        const app__call_t *const call = &schedule->calls[i];
        const uint32_t n = schedule->groups[call->group].count;
        const bool chain = call->kind == APP__COLL_BROADCAST || call->kind == APP__COLL_REDUCE;
        const uint32_t senders = chain && n > 0 ? n - 1 : n;
        const uint32_t rows = call->matrix != NULL ? n : 1;
        for (uint32_t row = 0; row < rows; row++) {
            const share_t share = share_of(schedule, call, row);
            summary->call_messages += (uint64_t)share.messages * senders / rows;
            summary->call_bytes += share.bytes * senders / rows;
        }
    }
}

// Returns whether all ranks send in a call.
static bool all_send(const app__schedule_t *schedule, uint32_t call)
{
    const uint8_t kind = schedule->calls[call].kind;
    return kind != APP__COLL_BROADCAST && kind != APP__COLL_REDUCE;
}

// -- bounds

// Returns whether the message of a send or a receive may stay in its node, where it takes no NIC.
static bool may_be_near(const app__schedule_t *schedule, const app__loggp_t *loggp, uint32_t rank,
                        const app__op_t *op)
{
    const uint32_t peer = app__peer_of(&schedule->ranks[rank], op);
    const bool message = op->type == APP__OP_SEND || op->type == APP__OP_RECV;
    return message && loggp->nodes != NULL &&
           (peer >= schedule->rank_count || app__are_near(loggp, rank, peer));
}

// Adds up the work of the processors and the NICs of each rank.
static void bound_resources(const app__schedule_t *schedule, const app__loggp_t *loggp,
                            const app__call_cost_t *costs, // NULL: NICs send no collectives
                            app__workload_summary_t *summary)
{
    sim_time_t cpu_ps[UINT8_MAX + 1];
    sim_time_t send_ps[UINT8_MAX + 1];
    sim_time_t receive_ps[UINT8_MAX + 1];
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        memset(cpu_ps, 0, sizeof(cpu_ps));
        memset(send_ps, 0, sizeof(send_ps));
        memset(receive_ps, 0, sizeof(receive_ps));
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            const app__op_t *const op = &schedule->ranks[r].ops[i];
            const bool near = may_be_near(schedule, loggp, r, op);
            const sim_time_t gaps_ps =
                near ? 0 : loggp->gap_ps + app__byte_gaps_ps(loggp, op->size, false);
            if (op->type == APP__OP_CALC) {
                cpu_ps[op->cpu] += app__calc_ps(op->size, &loggp->calc_scale);
            } else if (op->type == APP__OP_SEND) {
                cpu_ps[op->cpu] += loggp->send_ps;
                send_ps[op->nic] += gaps_ps;
            } else if (op->type == APP__OP_RECV) {
                receive_ps[op->nic] += gaps_ps;
            } else if (op->type == APP__OP_COLL && costs != NULL && all_send(schedule, op->peer)) {
                send_ps[op->nic] += costs[op->peer].least_ps;
            }
        }
        raise_to(&summary->cpu_ps, cpu_ps, SIM_COUNT_OF(cpu_ps));
        raise_to(&summary->nic_send_ps, send_ps, SIM_COUNT_OF(send_ps));
        raise_to(&summary->nic_receive_ps, receive_ps, SIM_COUNT_OF(receive_ps));
    }
}

// Fills the longest path with the least times of collectives; and the estimate with likely ones,
// if there are some.
static void find_paths(const app__schedule_t *schedule, const app__loggp_t *loggp,
                       const app__call_cost_t *costs, app__workload_summary_t *summary)
{
    sim_time_t *const call_ps = sim_alloc_array(schedule->call_count + 1, sizeof(*call_ps));
    for (size_t i = 0; i < schedule->call_count; i++) {
        call_ps[i] = costs[i].least_ps;
    }
    summary->path_ps = app__schedule_path_ps(schedule, loggp, call_ps);
    if (schedule->counts.colls > 0) {
        for (size_t i = 0; i < schedule->call_count; i++) {
            call_ps[i] = costs[i].likely_ps;
        }
        summary->estimated = true;
        summary->estimate_ps = app__schedule_path_ps(schedule, loggp, call_ps);
    }
    sim_free(call_ps);
}

static void run_ideal(const app__schedule_t *schedule, const app__loggp_t *loggp,
                      app__workload_summary_t *summary)
{
    app__loggp_result_t result;
    app__loggp_t limited = *loggp;
    limited.events_max = APP__ESTIMATE_EVENTS_MAX;
    app__loggp_run(schedule, &limited, &result);
    summary->estimated = !result.cut;
    summary->estimate_ps = result.end_ps;
    summary->unfinished = result.cut ? 0 : result.unfinished;
    app__loggp_fini(&result);
}

// Returns the least costs of the calls for which each typical one stands. The caller frees them.
static app__call_cost_t *typical_costs(const app__schedule_t *schedule,
                                       const app__call_cost_t *costs)
{
    const app__schedule_t *const typical = schedule->typical;
    app__call_cost_t *const least = sim_alloc_array(typical->call_count + 1, sizeof(*least));
    bool *const known = sim_alloc_array(typical->call_count + 1, sizeof(*known));
    for (size_t i = 0; i < schedule->call_count; i++) {
        const uint32_t at = schedule->typical_of[i];
        if (!known[at] || costs[i].least_ps < least[at].least_ps) {
            least[at].least_ps = costs[i].least_ps;
        }
        if (!known[at] || costs[i].likely_ps < least[at].likely_ps) {
            least[at].likely_ps = costs[i].likely_ps;
        }
        known[at] = true;
    }
    sim_free(known);
    return least;
}

void app__workload_summarise(const app__schedule_t *schedule, const app__loggp_t *loggp,
                             const app__call_cost_t *costs, app__workload_summary_t *summary)
{
    app__call_cost_t *const own = sim_alloc_array(schedule->call_count + 1, sizeof(*own));
    for (size_t i = 0; i < schedule->call_count && costs == NULL; i++) {
        own[i] = cost_of(schedule, &schedule->calls[i], loggp);
    }
    *summary = (app__workload_summary_t){.operations = 0};
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        summary->operations += schedule->ranks[r].count;
    }
    const app__schedule_t *const typical = schedule->typical;
    const app__schedule_t *const body = typical != NULL ? typical : schedule;
    app__call_cost_t *const least =
        typical != NULL ? typical_costs(schedule, costs == NULL ? own : costs) : NULL;
    const app__call_cost_t *const used = least != NULL ? least : costs == NULL ? own : costs;
    sum_sizes(body, summary);
    sum_calls(schedule, summary);
    app__loggp_t known = *loggp; // ranks that share operations have several nodes
    known.nodes = typical != NULL ? NULL : loggp->nodes;
    bound_resources(body, &known, costs == NULL ? used : NULL, summary);
    find_paths(body, &known, used, summary);
    sim_free(least);
    const sim_time_t bounds_ps[] = {summary->path_ps, summary->cpu_ps, summary->nic_send_ps,
                                    summary->nic_receive_ps};
    raise_to(&summary->bound_ps, bounds_ps, SIM_COUNT_OF(bounds_ps));
    if (summary->estimated) {
        raise_to(&summary->estimate_ps, &summary->bound_ps, 1);
    } else if (summary->operations <= APP__ESTIMATE_OPS_MAX) {
        run_ideal(schedule, loggp, summary);
    }
    sim_free(own);
}
