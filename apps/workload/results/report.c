// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/report.c - reports a schedule: its messages as flows, when ranks finished,
// and what the others wait for.
#include "apps/app_internal.h"
#include "apps/report_rows.h"
#include "apps/workload/channels.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/record.h"
#include "apps/workload/domains.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/results/exposed.h"
#include "apps/workload/results/results.h"
#include "apps/workload/results/slowest.h"
#include "apps/workload/results/times.h"
#include "apps/workload/run_options.h"
#include "apps/workload/workload.h"
#include "nic/ideal.h"

#include <stdlib.h>

#define BLOCKED_TOLD_MAX 10u
#define RANKS_TOLD_MAX 256u

// -- flows

typedef struct sent {
    const app__rank_t *rank;
    uint32_t op;
    uint64_t flow; // number among the schedule's sends
} sent_t;

static int compare_sent(const void *a, const void *b)
{
    const sent_t *const one = a;
    const sent_t *const two = b;
    const sim_time_t starts[2] = {one->rank->states[one->op].start_ps,
                                  two->rank->states[two->op].start_ps};
    return 2 * SIM_COMPARE(starts[0], starts[1]) + SIM_COMPARE(one->flow, two->flow);
}

static app_flow_result_t flow_of(const sent_t *sent)
{
    const app__rank_t *const rank = sent->rank;
    const app__workload_t *const workload = rank->workload;
    const app__op_t *const op = &rank->ops->ops[sent->op];
    const app__op_state_t *const state = &rank->states[sent->op];
    const app__rank_t *const peer = &workload->ranks[app__peer_of(rank->ops, op)];
    const app__port_t *const from = &workload->ports[app__port_to(rank, peer, op->nic)];
    const app__port_t *const to = &workload->ports[app__port_to(peer, rank, op->nic)];
    nic_qp_attr_t attr;
    nic_qp_attr_default(from->endpoint->nic, &attr);
    const bool failed = state->status != NIC_WC_SUCCESS;
    // No path through the network to compare with.
    const bool local = rank->ideal != NULL || peer->node == rank->node;
    const app__channel_ends_t ends =
        local ? (app__channel_ends_t){.source_port = 0}
              : app__rank_channel_ends(workload, rank->number, peer->number, op->nic);
    const nic_ideal_t ideal = {
        .net = workload->app.net,
        .requester = from->endpoint->interface,
        .responder = to->endpoint->interface,
        .opcode = NIC_WR_RDMA_WRITE_WITH_IMM,
        .mtu_bytes = attr.path_mtu,
        .message_bytes = op->size,
        .messages = 1,
        .piece_bytes = UINT64_C(1) << 30,
        .service = NIC_QPT_RC,
    };
    return (app_flow_result_t){
        .flow_id = workload->first_flow_id + sent->flow,
        .source = from->endpoint->interface,
        .destination = to->endpoint->interface,
        .source_qp = ends.numbers[0],
        .destination_qp = ends.numbers[1],
        .udp_source_port = ends.source_port,
        .mtu_bytes = local ? 0 : attr.path_mtu, // for estimates
        .priority = attr.priority,
        .dscp = attr.dscp,
        .local = local,
        .bytes = op->size,
        .start_ps = state->start_ps,
        .end_ps = failed ? SIM_TIME_NEVER : state->end_ps,
        .ideal_ps = local ? state->end_ps - state->start_ps : 0,
        .ideal = local ? (nic_ideal_t){0} : ideal,
        .delivered_bytes = failed || state->end_ps == SIM_TIME_NEVER ? 0 : op->size,
        .status = (nic_wc_status_t)state->status,
        .failed_ps = failed ? state->end_ps : 0,
        .label = workload->app.ops->name,
    };
}

void app__workload_flows(const app_t *app, app_flow_fn fn, void *ctx)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    const size_t sends = (size_t)workload->schedule->counts.sends;
    sent_t *const list = sim_alloc_array(sends + 1, sizeof(*list));
    size_t count = 0;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        for (uint32_t op = 0; op < rank->ops->count; op++) {
            if (rank->ops->ops[op].type == APP__OP_SEND) {
                list[count] = (sent_t){rank, op, count};
                count++;
            }
        }
    }
    SIM_CHECK(count == sends);
    if (workload->collectives != NULL) {
        app__coll_flows(workload->collectives, fn, ctx);
    }
    qsort(list, count, sizeof(*list), compare_sent);
    for (size_t i = 0; i < count; i++) {
        const app_flow_result_t flow = flow_of(&list[i]);
        fn(&flow, ctx);
    }
    sim_free(list);
}

uint64_t app__workload_flows_left_out(const app_t *app)
{
    const app__collectives_t *const all = ((const app__workload_t *)app)->collectives;
    uint64_t left_out = 0;
    for (uint32_t r = 0; all != NULL && r < all->workload->schedule->rank_count; r++) {
        const app__coll_rank_t *const rank = &all->ranks[r];
        const bool full = rank->record_count >= all->records_max;
        left_out += full ? rank->messages - rank->record_count : 0;
    }
    return left_out;
}

// -- operations

static app_operation_t operation_of(const app__rank_t *rank, uint32_t number)
{
    const app__schedule_t *const schedule = rank->workload->schedule;
    const app__op_t *const op = &rank->ops->ops[number];
    const bool message = op->type == APP__OP_SEND || op->type == APP__OP_RECV;
    const uint32_t peer = app__peer_of(rank->ops, op);
    const app__call_t *const call = op->type == APP__OP_COLL ? &schedule->calls[peer] : NULL;
    const char *kind = op->type == APP__OP_SEND ? "send" : message ? "recv" : "calc";
    if (call != NULL) {
        kind = app__coll_kind_name((app__coll_kind_t)call->kind);
    }
    return (app_operation_t){
        .rank = rank->number,
        .number = number,
        .interface = rank->workload->ports[rank->port_first].endpoint->interface,
        .kind = kind,
        .dimension = app__dimension_name((app__dimension_t)op->dimension),
        .name = call != NULL && call->name != NULL ? call->name : "",
        .cpu = op->cpu,
        .bytes = call != NULL ? call->bytes
                 : message    ? op->size
                              : 0,
        .peer = message ? peer : UINT32_MAX,
        .start_ps = rank->states[number].start_ps,
        .end_ps = rank->states[number].end_ps,
    };
}

uint64_t app__workload_operations(const app_t *app, uint64_t most, app_operation_fn fn, void *ctx)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    const uint64_t share = most / workload->schedule->rank_count;
    uint64_t started = 0;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        uint64_t told = 0;
        for (uint32_t op = 0; op < rank->ops->count; op++) {
            if (rank->states[op].start_ps == SIM_TIME_NEVER) {
                continue;
            }
            started++;
            if (fn != NULL && told < share) {
                const app_operation_t operation = operation_of(rank, op);
                fn(&operation, ctx);
                told++;
            }
        }
    }
    return started;
}

// -- what did not come to an end

// Returns the first operation of a rank that started and has not finished, else the first that
// waits for others.
static uint32_t blocked_op(const app__rank_t *rank)
{
    uint32_t waits = APP__NO_OP;
    for (uint32_t op = 0; op < rank->ops->count; op++) {
        const app__op_state_t *const state = &rank->states[op];
        if (!state->finished && state->start_ps != SIM_TIME_NEVER) {
            return op;
        }
        waits = !state->finished && waits == APP__NO_OP ? op : waits;
    }
    return waits;
}

// Returns the first rank of a call's group that has not called; the number of ranks if all have.
static uint32_t missing_rank(const app__workload_t *workload, uint32_t call)
{
    const app__schedule_t *const schedule = workload->schedule;
    const app__group_t *const group = &schedule->groups[schedule->calls[call].group];
    for (uint32_t i = 0; i < group->count; i++) {
        const app__rank_t *const rank = &workload->ranks[group->ranks[i]];
        bool called = false;
        for (uint32_t op = 0; op < rank->ops->count && !called; op++) {
            called = rank->ops->ops[op].type == APP__OP_COLL &&
                     app__peer_of(rank->ops, &rank->ops->ops[op]) == call &&
                     rank->states[op].start_ps != SIM_TIME_NEVER;
        }
        if (!called) {
            return group->ranks[i];
        }
    }
    return schedule->rank_count;
}

// Says which collective a rank waits in, and for whom.
static void print_collective(const app__rank_t *rank, uint32_t at,
                             void (*write)(const char *text, void *ctx), void *ctx)
{
    const app__workload_t *const workload = rank->workload;
    const uint32_t number = app__peer_of(rank->ops, &rank->ops->ops[at]);
    const app__call_t *const call = &workload->schedule->calls[number];
    const uint32_t missing = missing_rank(workload, number);
    char *const whom = missing < workload->schedule->rank_count
                           ? sim_format("rank %u, which has not called it", missing)
                           : sim_strdup("its messages");
    char *const text = sim_format(
        "warning: traffic[%u].%s: rank %u did not finish: its operation %u, %s of "
        "%" PRIu64 " bytes%s%s, waits for %s, and %u operations are left\n",
        workload->app.index, workload->app.ops->name, rank->number, at,
        app__coll_kind_name((app__coll_kind_t)call->kind), call->bytes,
        call->name == NULL ? "" : ", ", call->name == NULL ? "" : call->name, whom, rank->left);
    write(text, ctx);
    sim_free(text);
    sim_free(whom);
}

static void print_blocked(const app__rank_t *rank, void (*write)(const char *text, void *ctx),
                          void *ctx)
{
    const uint32_t at = blocked_op(rank);
    const app__op_t *const op = &rank->ops->ops[at];
    if (op->type == APP__OP_COLL && rank->states[at].start_ps != SIM_TIME_NEVER) {
        print_collective(rank, at, write, ctx);
        return;
    }
    const bool receives = op->type == APP__OP_RECV && !rank->states[at].arrived;
    const uint32_t peer = app__peer_of(rank->ops, op);
    char *const from = peer == APP__ANY ? sim_strdup("any rank") : sim_format("rank %u", peer);
    char *const tag = op->tag == APP__ANY ? sim_strdup("any") : sim_format("%u", op->tag);
    char *const text =
        receives ? sim_format("warning: traffic[%u].%s: rank %u did not finish: its "
                              "operation %u waits for %" PRIu64 " bytes from %s with the tag %s, "
                              "and %u operations are left\n",
                              rank->workload->app.index, rank->workload->app.ops->name,
                              rank->number, at, op->size, from, tag, rank->left)
                 : sim_format("warning: traffic[%u].%s: rank %u did not finish: %u "
                              "operations are left, the first is number %u\n",
                              rank->workload->app.index, rank->workload->app.ops->name,
                              rank->number, rank->left, at);
    write(text, ctx);
    SIM_FREE_ALL(text, tag, from);
}

void app__workload_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    uint32_t told = 0;
    uint32_t more = 0;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        if (workload->ranks[r].left == 0) {
            continue;
        }
        if (told < BLOCKED_TOLD_MAX) {
            print_blocked(&workload->ranks[r], write, ctx);
            told++;
        } else {
            more++;
        }
    }
    if (more > 0) {
        char *const text = sim_format("warning: traffic[%u].%s: %u more rank%s did not finish\n",
                                      app->index, app->ops->name, more, sim_plural(more));
        write(text, ctx);
        sim_free(text);
    }
}

// -- the report

// Values by the parallelism that communication belongs to.
// clang-format off
#define KIND_ROWS(X) \
    X(tp, REAL, "", true, "tensor parallelism, which shares each layer") \
    X(pp, REAL, "", true, "pipeline parallelism, between stages of layers") \
    X(dp, REAL, "", true, "data parallelism, between replicas of layers or experts") \
    X(ep, REAL, "", true, "expert parallelism, between tokens and their experts") \
    X(cp, REAL, "", true, "context parallelism, which shares each sequence") \
    X(other, REAL, "", true, "communication of any other kind")
typedef struct by_kind {
    KIND_ROWS(APP__MEMBER)
} by_kind_t;
#define KIND(...) APP__ROW(by_kind_t, __VA_ARGS__)
static const sim_report_row_t kind_rows[] = {KIND_ROWS(KIND)};
static const sim_report_table_t kind_report = APP__TABLE(kind_rows, by_kind_t);

// The times of a rank, or of a chain of operations.
#define SHARE_ROWS(X) \
    X(compute, REAL, "", false, "time in which the rank or chain computes") \
    KIND_ROWS(X)
typedef struct share {
    SHARE_ROWS(APP__MEMBER)
} share_t;
#define SHARE(...) APP__ROW(share_t, __VA_ARGS__)
static const sim_report_row_t share_rows[] = {SHARE_ROWS(SHARE)};
static const sim_report_table_t share_report = APP__TABLE(share_rows, share_t);

#define RANK_ROWS(X) \
    X(rank, U64, "", false, "number of the rank") \
    X(host, STRING, "", false, "name of the rank's host") \
    X(compute, REAL, "ms", false, "time in which the rank computed") \
    X(tp, REAL, "ms", false, "time in which the rank waited for tensor parallelism") \
    X(pp, REAL, "ms", false, "time in which the rank waited for pipeline parallelism") \
    X(dp, REAL, "ms", false, "time in which the rank waited for data parallelism") \
    X(ep, REAL, "ms", false, "time in which the rank waited for expert parallelism") \
    X(cp, REAL, "ms", false, "time in which the rank waited for context parallelism") \
    X(other, REAL, "ms", false, "other time without computation")
typedef struct rank_row {
    RANK_ROWS(APP__MEMBER)
} rank_row_t;
#define RANK(...) APP__ROW(rank_row_t, __VA_ARGS__)
static const sim_report_row_t rank_rows[] = {RANK_ROWS(RANK)};
static const sim_report_table_t rank_table = APP__TABLE(rank_rows, rank_row_t);

// When the ranks that finished did so.
#define FINISH_ROWS(X) \
    X(mean, REAL, "", true, "mean time until a rank finished") \
    X(max, REAL, "", true, "time from the start until the last rank finished")
typedef struct finishes {
    FINISH_ROWS(APP__MEMBER)
} finishes_t;
#define FINISH(...) APP__ROW(finishes_t, __VA_ARGS__)
static const sim_report_row_t finish_rows[] = {FINISH_ROWS(FINISH)};
static const sim_report_table_t finish_report = APP__TABLE(finish_rows, finishes_t);

#define COUNT_ROWS(X) \
    X(ranks, U64, "", true, "number of ranks of the schedule") \
    X(ranks_finished, U64, "", true, "number of ranks whose operations have all finished") \
    X(operations, U64, "", true, "number of sends, receives and computations of all ranks") \
    X(operations_finished, U64, "", true, "number of operations that have finished") \
    X(messages, U64, "", true, "number of messages of the schedule") \
    X(messages_failed, U64, "", true, "number of messages that failed because their path was down") \
    X(bytes_sent, U64, "bytes", true, "payload of all messages of the schedule") \
    X(calc_ms, REAL, "ms", true, "computations of all ranks together, as the file has them")
#define USE_ROWS(X) \
    X(busy, REAL, "", true, "share of finish_us.max in which a processor worked, mean of all") \
    X(unexpected_peak, U64, "", true, "maximum number of messages of a rank that waited for a receive at one time") \
    X(depth, U64, "", true, "number of messages and computations on the longest chain through all ranks")
// clang-format on
typedef struct report {
    COUNT_ROWS(APP__MEMBER)
    USE_ROWS(APP__MEMBER)
    finishes_t finish_us;
    bool dimensioned; // the rest has values
    bool iterated;    // iteration_ms has a value, too
    double iteration_ms;
    double compute_ms;
    by_kind_t exposed_ms;
    by_kind_t bytes;
    share_t critical_ms;
    sim_report_list_t by_rank;
    uint64_t by_rank_left_out;
    bool computes; // slowest_rank has values
    app__slowest_t slowest_rank;
    sim_report_list_t collectives;
} report_t;

static by_kind_t by_kind(const double *values)
{
    return (by_kind_t){
        .tp = values[APP__DIM_TP],
        .pp = values[APP__DIM_PP],
        .dp = values[APP__DIM_DP] + values[APP__DIM_DP_EP],
        .ep = values[APP__DIM_EP],
        .cp = values[APP__DIM_CP],
        .other = values[APP__DIM_NONE],
    };
}

static share_t share_of(const app__rank_share_t *times)
{
    const by_kind_t kinds = by_kind(times->waits_ms);
    return (share_t){.compute = times->compute_ms,
                     .tp = kinds.tp,
                     .pp = kinds.pp,
                     .dp = kinds.dp,
                     .ep = kinds.ep,
                     .cp = kinds.cp,
                     .other = kinds.other};
}

static void fill_ranks(report_t *report, const app__workload_t *workload,
                       const app__rank_share_t *times)
{
    const uint32_t ranks = workload->schedule->rank_count;
    const uint32_t count = SIM_MIN(ranks, RANKS_TOLD_MAX);
    rank_row_t *const rows = sim_alloc_array((size_t)count + 1, sizeof(*rows));
    for (uint32_t r = 0; r < count; r++) {
        const share_t share = share_of(&times[r]);
        rows[r] = (rank_row_t){.rank = r,
                               .host = workload->ranks[r].node->name,
                               .compute = share.compute,
                               .tp = share.tp,
                               .pp = share.pp,
                               .dp = share.dp,
                               .ep = share.ep,
                               .cp = share.cp,
                               .other = share.other};
    }
    report->by_rank = (sim_report_list_t){rows, count};
    report->by_rank_left_out = ranks - count;
}

static void fill_exposed(report_t *report, const app__workload_t *workload)
{
    app__exposed_t exposed;
    report->dimensioned = app__has_dimensions(workload->schedule);
    if (report->dimensioned) {
        app__exposed_measure(workload, &exposed);
        report->iteration_ms = exposed.iteration_ms;
        report->compute_ms = exposed.compute_ms;
        report->exposed_ms = by_kind(exposed.waits_ms);
        report->bytes = by_kind(exposed.bytes);
        report->critical_ms = share_of(&exposed.critical);
        fill_ranks(report, workload, exposed.ranks);
        sim_free(exposed.ranks);
    }
}

static void fill_collectives(report_t *report, const app__workload_t *workload)
{
    if (workload->collectives == NULL && workload->app.ops == &app_collective &&
        workload->options.network == APP__NETWORK_PACKETS) {
        report->collectives.items = app__exchange_times(workload);
        report->collectives.count = 1;
    }
    if (workload->collectives == NULL) {
        return;
    }
    size_t count = 0;
    report->collectives.items = app__coll_times(workload, &count);
    report->collectives.count = count;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        report->messages += workload->collectives->ranks[r].messages;
        report->bytes_sent += workload->collectives->ranks[r].bytes;
    }
}

static void fini_report(void *result)
{
    sim_free((void *)(uintptr_t)((report_t *)result)->collectives.items);
    sim_free((void *)(uintptr_t)((report_t *)result)->by_rank.items);
}

static void add_rank(report_t *report, const app__rank_t *rank, double *cpu_ps)
{
    const double took_us =
        (double)(rank->end_ps - rank->workload->options.start_ps) / SIM_PS_PER_US;
    report->operations_finished += rank->ops->count - rank->left;
    report->messages_failed += rank->failed;
    report->unexpected_peak = SIM_MAX(rank->match.peak, report->unexpected_peak);
    for (uint32_t i = 0; i < rank->cpu_count; i++) {
        *cpu_ps += (double)rank->cpus[i].busy_ps / rank->cpu_count;
    }
    if (rank->left == 0) {
        report->ranks_finished++;
        report->finish_us.mean += took_us;
        report->finish_us.max = SIM_MAX(took_us, report->finish_us.max);
    }
}

static void fill_report(const void *object, void *result)
{
    const app__workload_t *const workload = object;
    const app__schedule_counts_t *const counts = &workload->schedule->counts;
    report_t *const report = result;
    double cpu_ps = 0;
    *report = (report_t){
        .ranks = workload->schedule->rank_count,
        .operations = counts->sends + counts->recvs + counts->calcs + counts->colls,
        .messages = counts->sends,
        .bytes_sent = counts->bytes,
        .calc_ms = (double)counts->calc_ns / 1e6,
        .depth = counts->depth,
    };
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        add_rank(report, &workload->ranks[r], &cpu_ps);
    }
    fill_exposed(report, workload);
    report->computes = app__slowest_measure(workload, &report->slowest_rank);
    report->iterated = report->dimensioned && report->ranks_finished == report->ranks;
    fill_collectives(report, workload);
    if (report->ranks_finished > 0) {
        const double last_us = report->finish_us.max;
        report->finish_us.mean /= (double)report->ranks_finished;
        report->busy = last_us > 0 ? cpu_ps / SIM_PS_PER_US / last_us / (double)report->ranks : 0;
    }
}

// clang-format off
#define ROW(...) APP__ROW(report_t, __VA_ARGS__)
#define KINDS(name_, unit_, help_) \
    {#name_, SIM_REPORT_OBJECT, unit_, help_, .offset = offsetof(report_t, name_), .table = &kind_report, \
     .given = offsetof(report_t, dimensioned), .shown = true}
static const sim_report_row_t report_rows[] = {
    APP__ROW_IF(report_t, iterated, iteration_ms, REAL, "ms", true, "time of a training iteration, until its last rank finished; none if a rank did not")
    APP__ROW_IF(report_t, dimensioned, compute_ms, REAL, "ms", true, "time of an iteration in which a rank computes, mean of all ranks")
    KINDS(exposed_ms, "ms", "time of an iteration in which a rank waits for communication instead of computing, by the parallelism that it waits for, mean of all ranks"),
    KINDS(bytes, "bytes", "bytes that leave all ranks in an iteration, by parallelism; of collectives as many as a ring sends, whatever their algorithm"),
    COUNT_ROWS(ROW)
    {"finish_us", SIM_REPORT_OBJECT, "us", "time from the start until a rank finished",
     .offset = offsetof(report_t, finish_us), .table = &finish_report, .shown = true},
    USE_ROWS(ROW)
    {"slowest_rank", SIM_REPORT_OBJECT, "ms", "the rank that computed for the longest time beyond the ranks with as many operations; none with one rank or no computation",
     .offset = offsetof(report_t, slowest_rank), .table = &app__slowest_report, .given = offsetof(report_t, computes)},
    {"critical_ms", SIM_REPORT_OBJECT, "ms", "chain of operations that decides when the last rank ends, of one iteration: computations, and waits by the parallelism that they are for",
     .offset = offsetof(report_t, critical_ms), .table = &share_report, .given = offsetof(report_t, dimensioned)},
    {"by_rank", SIM_REPORT_LIST, "ms", "times of an iteration at each of the first 256 ranks",
     .offset = offsetof(report_t, by_rank), .of = SIM_REPORT_OBJECT, .table = &rank_table, .optional = true},
    APP__ROW_IF(report_t, dimensioned, by_rank_left_out, U64, "", false, "number of ranks that by_rank leaves out")
    {"collectives", SIM_REPORT_LIST, "", "one row for each kind of call of collectives; equal calls share a row",
     .offset = offsetof(report_t, collectives), .of = SIM_REPORT_OBJECT, .table = &app__coll_times_report, .optional = true},
};
// clang-format on
const sim_report_table_t app__workload_report =
    APP__FILLED(report_rows, report_t, fill_report, .fini = fini_report);
