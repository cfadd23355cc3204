// SPDX-License-Identifier: Apache-2.0
// apps/workload/matrices/report.c - the report of kvbench for each pattern: its latency beside that
// of the pattern alone, and the port that carries most of it.
//
// The latency of a pattern is the time from the start of its first sender to the end of its last.
// Alone, it is the longest of its senders, each the mean of its runs, as kvbench has it.
#include "apps/workload/matrices/matrices.h"
#include "apps/workload/matrices/tags.h"

#include "apps/report_rows.h"
#include "apps/workload/channels.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"

#include <stdlib.h>
#include <string.h>

// A pattern's row; the columns of kvbench first.
typedef struct pattern_row {
    uint64_t pattern;
    double size_gbytes;
    double latency_ms;
    double isolated_latency_ms;
    uint64_t num_senders;
    double mean_bw_gbytes_per_s;
    double bound_ms;
    const char *bottleneck;
    bool ran; // at least once as part of the workload
    bool isolated;
} pattern_row_t;

// clang-format off
#define KV_ROWS(X) \
    X(ranks, U64, "", true, "number of ranks of the matrices and of storage ranks") \
    X(ranks_finished, U64, "", true, "number of ranks that came to the end of their patterns") \
    X(messages_failed, U64, "", true, "number of messages that failed because their path was down") \
    X(duration_ms, REAL, "ms", true, "time until the last rank finished") \
    X(slowdown_mean, REAL, "", true, "latency of a pattern within the workload divided by that of the pattern alone, mean") \
    X(slowdown_max, REAL, "", true, "largest ratio of a pattern's latency within the workload to that of the pattern alone") \
    X(agent_tx_bytes, U64, "bytes", true, "bytes of all transfers (NIXL's name)") \
    X(agent_tx_requests_num, U64, "", true, "number of transfers that have finished (NIXL's name)") \
    X(agent_xfer_time_us, REAL, "us", true, "mean time of a transfer (NIXL's name)")
// clang-format on
typedef struct kv_report {
    KV_ROWS(APP__MEMBER)
    sim_report_list_t patterns;
} kv_report_t;

// A rank's part in one run of a pattern.
typedef struct part {
    sim_time_t begin_ps; // NEVER: it is no sender
    sim_time_t end_ps;   // NEVER: not all of it has ended
    uint64_t bytes;
} part_t;

static bool is_begin(const app__op_t *op)
{
    const uint32_t kind = op->tag % APP__KV_PARTS;
    return op->type == APP__OP_SEND && (kind == APP__KV_WRITE || kind == APP__KV_REQUEST);
}

static bool is_end(const app__op_t *op)
{
    const uint32_t kind = op->tag % APP__KV_PARTS;
    return (op->type == APP__OP_SEND && kind == APP__KV_WRITE) ||
           (op->type == APP__OP_RECV && kind == APP__KV_READ);
}

// Adds the operations of a rank to what it did in each run of each pattern.
static void add_rank(const app__rank_t *rank, part_t *parts)
{
    for (uint32_t i = 0; i < rank->ops->count; i++) {
        const app__op_t *const op = &rank->ops->ops[i];
        const app__op_state_t *const state = &rank->states[i];
        part_t *const part = &parts[op->tag / APP__KV_PARTS];
        if (is_begin(op)) {
            part->begin_ps = SIM_MIN(state->start_ps, part->begin_ps);
        }
        if (is_end(op)) {
            part->bytes += op->size;
            part->end_ps = state->end_ps == SIM_TIME_NEVER || state->end_ps > part->end_ps
                               ? state->end_ps
                               : part->end_ps;
        }
    }
}

// A run of a pattern, over all ranks.
typedef struct run {
    sim_time_t begin_ps;
    sim_time_t end_ps;
    uint64_t bytes;
    uint64_t senders;
    double bandwidths; // sum over senders, in bytes per second
    bool whole;
} run_t;

static void add_part(const part_t *part, run_t *run)
{
    if (part->begin_ps == SIM_TIME_NEVER && part->bytes == 0) {
        return;
    }
    run->senders++;
    run->bytes += part->bytes;
    if (part->begin_ps == SIM_TIME_NEVER || part->end_ps == SIM_TIME_NEVER) {
        run->whole = false;
        return;
    }
    const sim_time_t took_ps = part->end_ps - part->begin_ps;
    run->begin_ps = SIM_MIN(part->begin_ps, run->begin_ps);
    run->end_ps = SIM_MAX(part->end_ps, run->end_ps);
    run->bandwidths += took_ps > 0 ? (double)part->bytes / (double)took_ps * SIM_PS_PER_S : 0;
}

// -- the busiest port

typedef struct load {
    const net_port_t *port;
    double ps;
} load_t;

static int compare_loads(const void *a, const void *b)
{
    const load_t *const one = a;
    const load_t *const two = b;
    const int order = strcmp(net_port_name(one->port), net_port_name(two->port));
    return order != 0 ? order : one->port < two->port ? -1 : one->port > two->port;
}

// A message with data of the first run of the whole sequence.
typedef struct sent {
    uint64_t pattern;
    uint32_t rank;
    uint32_t op;
} sent_t;

typedef struct sent_list {
    sent_t *items; // by pattern
    size_t count;
    size_t capacity;
} sent_list_t;

static int compare_sent(const void *a, const void *b)
{
    const sent_t *const one = a;
    const sent_t *const two = b;
    return one->pattern < two->pattern ? -1 : one->pattern > two->pattern;
}

static void collect_sent(const app__workload_t *workload, uint64_t patterns, uint64_t isolated,
                         sent_list_t *list)
{
    const uint64_t first = isolated * patterns;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_ops_t *const ops = &workload->schedule->ranks[r];
        for (uint32_t i = 0; i < ops->count; i++) {
            const app__op_t *const op = &ops->ops[i];
            const uint32_t kind = op->tag % APP__KV_PARTS;
            const uint64_t phase = op->tag / APP__KV_PARTS;
            if (op->type == APP__OP_SEND && (kind == APP__KV_WRITE || kind == APP__KV_READ) &&
                phase >= first && phase < first + patterns) {
                SIM_APPEND(list->items, list->count, list->capacity, (sent_t){phase - first, r, i});
            }
        }
    }
    if (list->count > 0) {
        qsort(list->items, list->count, sizeof(*list->items), compare_sent);
    }
}

// Finds the port that needs the longest time for messages, by their paths.
static void find_bottleneck(const app__workload_t *workload, const sent_t *sent, size_t sent_count,
                            pattern_row_t *row)
{
    load_t *loads = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < sent_count; i++) {
        const app__op_t *const op = &workload->schedule->ranks[sent[i].rank].ops[sent[i].op];
        net_path_t path;
        if (!app__rank_channel_path(workload, sent[i].rank, op->peer, op->nic, &path)) {
            continue;
        }
        for (uint32_t h = 0; h < path.hop_count; h++) {
            SIM_GROW(loads, count, &capacity);
            loads[count++] = (load_t){
                path.ports[h],
                (double)op->size * 8 / (double)path.ports[h]->line->rate_bps * SIM_PS_PER_S,
            };
        }
    }
    if (count > 0) {
        qsort(loads, count, sizeof(*loads), compare_loads);
    }
    row->bottleneck = "none";
    double sum_ps = 0;
    for (size_t i = 0; i < count; i++) {
        sum_ps = (i > 0 && loads[i].port == loads[i - 1].port ? sum_ps : 0) + loads[i].ps;
        if (sum_ps / SIM_PS_PER_MS > row->bound_ms) {
            row->bound_ms = sum_ps / SIM_PS_PER_MS;
            row->bottleneck = net_port_name(loads[i].port);
        }
    }
    sim_free(loads);
}

// -- rows

static uint64_t fact(const app__workload_t *workload, size_t at)
{
    return workload->schedule->facts[at].number; // patterns, isolated, iterations (schedule.c)
}

static void fill_row(const app__workload_t *workload, const part_t *parts, size_t phases,
                     uint64_t pattern, pattern_row_t *row)
{
    const uint64_t patterns = fact(workload, 0);
    const uint64_t isolated = fact(workload, 1);
    const uint64_t iterations = fact(workload, 2);
    const uint32_t ranks = workload->schedule->rank_count;
    *row = (pattern_row_t){.pattern = pattern, .ran = true, .isolated = isolated > 0};
    for (uint64_t i = isolated; i < isolated + iterations; i++) {
        run_t run = {.begin_ps = SIM_TIME_NEVER, .whole = true};
        for (uint32_t r = 0; r < ranks; r++) {
            add_part(&parts[r * phases + i * patterns + pattern], &run);
        }
        row->ran = row->ran && run.whole && run.senders > 0;
        row->num_senders = run.senders;
        row->size_gbytes = (double)run.bytes / 1e9;
        if (row->ran) {
            row->latency_ms +=
                (double)(run.end_ps - run.begin_ps) / SIM_PS_PER_MS / (double)iterations;
            row->mean_bw_gbytes_per_s +=
                run.bandwidths / 1e9 / (double)run.senders / (double)iterations;
        }
    }
    for (uint32_t r = 0; r < ranks && row->isolated; r++) {
        double mean_ms = 0;
        for (uint64_t i = 0; i < isolated; i++) {
            const part_t *const part = &parts[r * phases + i * patterns + pattern];
            if (part->begin_ps != SIM_TIME_NEVER && part->end_ps != SIM_TIME_NEVER) {
                mean_ms +=
                    (double)(part->end_ps - part->begin_ps) / SIM_PS_PER_MS / (double)isolated;
            }
            row->isolated = row->isolated && part->end_ps != SIM_TIME_NEVER;
        }
        row->isolated_latency_ms = SIM_MAX(mean_ms, row->isolated_latency_ms);
    }
}

static void fill_totals(kv_report_t *report, const app__workload_t *workload)
{
    double xfer_us = 0;
    report->ranks = workload->schedule->rank_count;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        report->ranks_finished += rank->left == 0;
        report->messages_failed += rank->failed;
        const double end_ms = (double)rank->end_ps / SIM_PS_PER_MS;
        report->duration_ms = SIM_MAX(end_ms, report->duration_ms);
        for (uint32_t i = 0; i < rank->ops->count; i++) {
            const app__op_t *const op = &rank->ops->ops[i];
            const app__op_state_t *const state = &rank->states[i];
            if (op->type == APP__OP_SEND && state->finished) {
                report->agent_tx_bytes += op->size;
                report->agent_tx_requests_num++;
                xfer_us += (double)(state->end_ps - state->start_ps) / SIM_PS_PER_US;
            }
        }
    }
    report->agent_xfer_time_us =
        report->agent_tx_requests_num > 0 ? xfer_us / (double)report->agent_tx_requests_num : 0;
}

static void fill_report(const void *object, void *result)
{
    const app__workload_t *const workload = object;
    kv_report_t *const report = result;
    const uint64_t patterns = fact(workload, 0);
    const size_t phases = (size_t)(patterns * (fact(workload, 1) + fact(workload, 2)));
    const uint32_t ranks = workload->schedule->rank_count;
    part_t *const parts = sim_alloc_array((size_t)ranks * phases + 1, sizeof(*parts));
    pattern_row_t *const rows = sim_alloc_array((size_t)patterns + 1, sizeof(*rows));
    for (size_t i = 0; i < (size_t)ranks * phases; i++) {
        parts[i].begin_ps = SIM_TIME_NEVER;
    }
    for (uint32_t r = 0; r < ranks; r++) {
        add_rank(&workload->ranks[r], parts + (size_t)r * phases);
    }
    size_t compared = 0;
    sent_list_t sent = {.items = NULL};
    size_t at = 0;
    collect_sent(workload, patterns, fact(workload, 1), &sent);
    for (uint64_t p = 0; p < patterns; p++) {
        const size_t begin = at;
        while (at < sent.count && sent.items[at].pattern == p) {
            at++;
        }
        fill_row(workload, parts, phases, p, &rows[p]);
        find_bottleneck(workload, sent.items + begin, at - begin, &rows[p]);
        if (rows[p].ran && rows[p].isolated && rows[p].isolated_latency_ms > 0) {
            const double slowdown = rows[p].latency_ms / rows[p].isolated_latency_ms;
            report->slowdown_mean += slowdown;
            report->slowdown_max = SIM_MAX(slowdown, report->slowdown_max);
            compared++;
        }
    }
    report->slowdown_mean /= compared > 0 ? (double)compared : 1;
    report->patterns = (sim_report_list_t){rows, (size_t)patterns};
    fill_totals(report, workload);
    sim_free(sent.items);
    sim_free(parts);
}

static void fini_report(void *result)
{
    sim_free((void *)(uintptr_t)((kv_report_t *)result)->patterns.items);
}

// clang-format off
#define ROW(...) APP__ROW(pattern_row_t, __VA_ARGS__)
#define ROW_IF(given_, ...) APP__ROW_IF(pattern_row_t, given_, __VA_ARGS__)
static const sim_report_row_t pattern_rows[] = {
    ROW(pattern, U64, "", true, "number of the traffic pattern, from 0")
    ROW(size_gbytes, REAL, "GB", true, "bytes that its ranks transfer")
    ROW_IF(ran, latency_ms, REAL, "ms", true, "time from the first sender's start to the end of the last sender within the workload, mean of all iterations")
    ROW_IF(isolated, isolated_latency_ms, REAL, "ms", true, "longest time of a sender while the pattern has the network to itself")
    ROW(num_senders, U64, "", true, "number of ranks that send bytes of the pattern")
    ROW_IF(ran, mean_bw_gbytes_per_s, REAL, "GB/s", true, "bytes of a sender divided by its own time, mean of the senders")
    ROW(bound_ms, REAL, "ms", true, "time that the bottleneck needs for the payload of the pattern")
    ROW(bottleneck, STRING, "", true, "port that needs the longest time for the payload, by the paths that ECMP chooses")
};
static const sim_report_table_t pattern_table = APP__TABLE(pattern_rows, pattern_row_t);
#define KV_ROW(...) APP__ROW(kv_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {
    KV_ROWS(KV_ROW)
    {"patterns", SIM_REPORT_LIST, "", "traffic patterns in the order of the plan, with the columns of kvbench",
     .offset = offsetof(kv_report_t, patterns), .of = SIM_REPORT_OBJECT, .table = &pattern_table, .shown = true},
};
// clang-format on
const sim_report_table_t app__pattern_report =
    APP__FILLED(report_rows, kv_report_t, fill_report, .fini = fini_report);
