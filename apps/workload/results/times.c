// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/times.c - computes after a run how long collectives took.
// docs/models/collectives.md
#include "apps/workload/results/times.h"
#include "apps/workload/collective/call_plan.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/estimate.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/rank.h"
#include "apps/workload/run_options.h"
#include "apps/workload/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRINTED_MAX 8u // kinds of calls
#define NEAR_SHARE 0.9 // of an estimate, above which a time is taken to be near to it

// A call: when its last rank began, and when its last rank ended.
typedef struct span {
    sim_time_t start_ps;
    sim_time_t end_ps;
    uint32_t left; // ranks that have not ended
} span_t;

static span_t *spans_of(const app__workload_t *workload)
{
    const app__schedule_t *const schedule = workload->schedule;
    span_t *const spans = sim_alloc_array(schedule->call_count + 1, sizeof(*spans));
    for (size_t i = 0; i < schedule->call_count; i++) {
        spans[i].left = schedule->groups[schedule->calls[i].group].count;
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        for (uint32_t i = 0; i < rank->ops->count; i++) {
            const app__op_state_t *const state = &rank->states[i];
            if (rank->ops->ops[i].type != APP__OP_COLL || !state->finished) {
                continue;
            }
            span_t *const span = &spans[app__peer_of(rank->ops, &rank->ops->ops[i])];
            span->start_ps = SIM_MAX(state->start_ps, span->start_ps);
            span->end_ps = SIM_MAX(state->end_ps, span->end_ps);
            span->left--;
        }
    }
    return spans;
}

// A call, to be sorted beside those that are alike.
typedef struct item {
    const app__workload_t *workload;
    const char *name;
    uint32_t call;
} item_t;

static int compare_numbers(uint64_t one, uint64_t two)
{
    return one < two ? -1 : one > two;
}

// Compares what makes calls alike.
static int compare_kinds(const item_t *one, const item_t *two)
{
    const app__schedule_t *const schedule = one->workload->schedule;
    const app__call_t *const calls[2] = {&schedule->calls[one->call], &schedule->calls[two->call]};
    const int names = strcmp(one->name, two->name);
    const int kinds = compare_numbers(calls[0]->kind, calls[1]->kind);
    const int bytes = compare_numbers(calls[0]->bytes, calls[1]->bytes);
    return names != 0   ? names
           : kinds != 0 ? kinds
           : bytes != 0 ? bytes
                        : compare_numbers(schedule->groups[calls[0]->group].count,
                                          schedule->groups[calls[1]->group].count);
}

static int compare_items(const void *a, const void *b)
{
    const item_t *const one = a;
    const item_t *const two = b;
    const int kinds = compare_kinds(one, two);
    return kinds != 0 ? kinds : compare_numbers(one->call, two->call);
}

// Returns what nccl-tests multiply the bytes by to get the bytes that a bus must carry.
static double bus_factor(uint8_t kind, uint32_t ranks)
{
    const double share = (double)(ranks - 1) / (double)ranks;
    switch (kind) {
    case APP__COLL_ALL_REDUCE:
    case APP__COLL_BARRIER:
        return 2 * share;
    case APP__COLL_REDUCE_SCATTER:
    case APP__COLL_ALL_GATHER:
    case APP__COLL_ALL_TO_ALL:
        return share;
    default:
        return 1;
    }
}

static app__coll_times_t row_of(const item_t *items, size_t count, const span_t *spans)
{
    const app__workload_t *const workload = items->workload;
    const app__call_t *const call = &workload->schedule->calls[items->call];
    const app__coll_plan_t *const plan =
        &workload->collectives->plans[workload->collectives->plan_of[items->call]];
    const uint32_t ranks = workload->schedule->groups[call->group].count;
    sim_sample_set_t set;
    sim_sample_set_init(&set);
    for (size_t i = 0; i < count; i++) {
        const span_t *const span = &spans[items[i].call];
        if (span->left == 0) {
            sim_sample_set_add(&set, span->end_ps - span->start_ps);
        }
    }
    const sim_percentiles_t times = sim_percentiles(&set, SIM_PS_PER_US);
    sim_sample_set_fini(&set);
    const app__coll_load_t load = app__coll_load(workload->collectives, plan, 1, NULL, NULL, NULL);
    return (app__coll_times_t){
        .name = items->name,
        .kind = app__coll_kind_name((app__coll_kind_t)call->kind),
        .count = times.count,
        .bytes = call->bytes,
        .ranks = ranks,
        .mean_us = times.mean,
        .p99_us = times.p99,
        .busbw_gbytes_per_s =
            times.mean > 0 ? (double)call->bytes * bus_factor(call->kind, ranks) / times.mean / 1e3
                           : 0,
        .bound_us = load.send_s * 1e6,
        .bound_gbytes_per_s =
            load.send_s > 0
                ? (double)call->bytes * bus_factor(call->kind, ranks) / load.send_s / 1e9
                : (double)NAN,
        .bound_by = load.nic_s < load.send_s ? "nvlink" : "nic",
        .algorithm = plan->program.algorithm->name,
        .protocol = app__protocol_name(plan->protocol),
        .channels = plan->program.channels,
        .estimate_us = workload->options.collective.tuning_latency ? 0 : plan->expected_us,
        .rccl = workload->options.collective.ccl == APP__CCL_RCCL,
    };
}

// Returns the time of the exchange with a number: of each rank's send and receive.
static span_t exchange_of(const app__workload_t *workload, uint32_t number)
{
    span_t span = {.left = 2 * workload->schedule->rank_count};
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        for (uint32_t i = 2 * number; i < 2 * number + 2; i++) {
            const app__op_state_t *const state = &workload->ranks[r].states[i];
            if (state->finished) {
                span.start_ps = SIM_MAX(state->start_ps, span.start_ps);
                span.end_ps = SIM_MAX(state->end_ps, span.end_ps);
                span.left--;
            }
        }
    }
    return span;
}

app__coll_times_t *app__exchange_times(const app__workload_t *workload)
{
    const app__rank_ops_t *const ops = workload->ranks[0].ops;
    app__coll_times_t *const row = sim_alloc(sizeof(*row));
    sim_sample_set_t set;
    sim_sample_set_init(&set);
    for (uint32_t i = 0; i < ops->count / 2; i++) {
        const span_t span = exchange_of(workload, i);
        if (span.left == 0) {
            sim_sample_set_add(&set, span.end_ps - span.start_ps);
        }
    }
    const sim_percentiles_t times = sim_percentiles(&set, SIM_PS_PER_US);
    sim_sample_set_fini(&set);
    *row = (app__coll_times_t){
        .name = "send-recv",
        .kind = "send-recv",
        .count = times.count,
        .bytes = ops->ops[0].size,
        .ranks = workload->schedule->rank_count,
        .mean_us = times.mean,
        .p99_us = times.p99,
        .busbw_gbytes_per_s = times.mean > 0 ? (double)ops->ops[0].size / times.mean / 1e3 : 0,
        .bound_us = (double)NAN,
        .bound_gbytes_per_s = (double)NAN,
        .algorithm = "direct",
        .protocol = app__protocol_name(APP__PROTOCOL_PLAIN),
        .channels = 1,
    };
    return row;
}

app__coll_times_t *app__coll_times(const app__workload_t *workload, size_t *count)
{
    const app__schedule_t *const schedule = workload->schedule;
    const size_t calls = workload->collectives == NULL ? 0 : schedule->call_count;
    item_t *const items = sim_alloc_array(calls + 1, sizeof(*items));
    app__coll_times_t *const list = sim_alloc_array(calls + 1, sizeof(*list));
    span_t *const spans = spans_of(workload);
    for (size_t i = 0; i < calls; i++) {
        const app__call_t *const call = &schedule->calls[i];
        const char *const kind = app__coll_kind_name((app__coll_kind_t)call->kind);
        items[i] = (item_t){workload, call->name != NULL ? call->name : kind, (uint32_t)i};
    }
    qsort(items, calls, sizeof(*items), compare_items);
    *count = 0;
    for (size_t begin = 0; begin < calls;) {
        size_t end = begin;
        while (end < calls && compare_kinds(&items[begin], &items[end]) == 0) {
            end++;
        }
        list[(*count)++] = row_of(&items[begin], end - begin, spans);
        begin = end;
    }
    sim_free(spans);
    sim_free(items);
    return list;
}

// Returns bytes in words: 64 MiB, 1000000 bytes. Free with sim_free.
static char *bytes_text(uint64_t bytes)
{
    static const char *const units[] = {"GiB", "MiB", "KiB"};
    for (size_t i = 0; i < SIM_COUNT_OF(units); i++) {
        const uint64_t unit = UINT64_C(1) << (30 - 10 * i);
        if (bytes >= unit && bytes % unit == 0) {
            return sim_format("%" PRIu64 " %s", bytes / unit, units[i]);
        }
    }
    return sim_format("%" PRIu64 " bytes", bytes);
}

// Says so if the call took less than NCCL or RCCL expects.
static void print_library(const app__coll_times_t *row, void (*write)(const char *text, void *ctx),
                          void *ctx)
{
    if (row->mean_us >= NEAR_SHARE * row->estimate_us) {
        return;
    }
    char *const text =
        sim_format("            %s expects %.1f us: its software takes no time here unless "
                   "tuning-latency is on\n",
                   row->rccl ? "RCCL" : "NCCL", row->estimate_us);
    write(text, ctx);
    sim_free(text);
}

static void print_row(const app__coll_times_t *row, void (*write)(const char *text, void *ctx),
                      void *ctx)
{
    char *const bytes = bytes_text(row->bytes);
    char *const took =
        sim_format("  answer    %s of %s on %" PRIu64 " GPUs takes %.1f us (mean of %" PRIu64
                   " call%s); bus bandwidth %.1f GB/s\n"
                   "            algorithm %s, protocol %s, %" PRIu64 " channel%s\n",
                   row->kind, bytes, row->ranks, row->mean_us, row->count, sim_plural(row->count),
                   row->busbw_gbytes_per_s, row->algorithm, row->protocol, row->channels,
                   sim_plural(row->channels));
    write(took, ctx);
    sim_free(took);
    sim_free(bytes);
    print_library(row, write, ctx);
    if (row->bound_by == NULL || row->bound_us <= 0 || row->mean_us <= 0) {
        return;
    }
    char *const bound =
        sim_format("            bound %.1f us, in which the %s of the busiest GPU sends at its "
                   "full rate, is %.0f %% of the time that the call took\n",
                   row->bound_us, strcmp(row->bound_by, "nic") == 0 ? "NIC" : "NVLink",
                   100 * row->bound_us / row->mean_us);
    write(bound, ctx);
    sim_free(bound);
}

void app__coll_print(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    size_t count = 1;
    if (workload->collectives == NULL && workload->options.network != APP__NETWORK_PACKETS) {
        return;
    }
    app__coll_times_t *const list = workload->collectives != NULL
                                        ? app__coll_times(workload, &count)
                                        : app__exchange_times(workload);
    for (size_t i = 0; i < count && i < PRINTED_MAX; i++) {
        if (list[i].count > 0) {
            print_row(&list[i], write, ctx);
        }
    }
    sim_free(list);
}

#define ROW(...) APP__ROW(app__coll_times_t, __VA_ARGS__)
static const sim_report_row_t rows[] = {APP__COLL_TIMES_ROWS(ROW)};
const sim_report_table_t app__coll_times_report = {
    .rows = rows,
    .count = SIM_COUNT_OF(rows),
    .bytes = sizeof(app__coll_times_t),
    .object_bytes = sizeof(app__coll_times_t),
};
