// SPDX-License-Identifier: Apache-2.0
// apps/flows/plan_results.c - reports the transfers of a plan, before the run and after it.
#include <stdlib.h>

#include "apps/flows/blocks.h"
#include "apps/flows/plan_results.h"
#include "apps/flows/planned.h"
#include "apps/flows/transfer.h"
#include "apps/report_rows.h"

// Returns the payload in the first `packets` packets of a transfer.
static uint64_t payload_of(const app__plan_t *plan, const app__transfer_t *transfer,
                           uint64_t packets)
{
    const uint64_t mtu_bytes = app__plan_mtu_bytes(plan, transfer);
    if (transfer->bytes == 0 || mtu_bytes == 0) {
        return 0;
    }
    const uint64_t of_message = (transfer->bytes + mtu_bytes - 1) / mtu_bytes;
    const uint64_t rest_bytes = packets % of_message * mtu_bytes;
    const uint64_t bytes = packets / of_message * transfer->bytes + rest_bytes;
    return bytes < app__transfer_bytes(transfer) ? bytes : app__transfer_bytes(transfer);
}

// Returns the bytes that the sender of a reliable transfer knows to have arrived.
static uint64_t delivered_bytes(const app__plan_t *plan, const app__transfer_run_t *run)
{
    const uint64_t una_psn = nic_qp_una_psn(run->message.channel->qp);
    const uint64_t first_psn = run->message.first_psn;
    return una_psn < first_psn
               ? 0
               : payload_of(plan, app__transfer(plan, run->index), una_psn - first_psn);
}

static int compare_progress(const void *left, const void *right)
{
    const app__progress_t *const a = left;
    const app__progress_t *const b = right;
    return a->index < b->index ? -1 : a->index > b->index;
}

app__unfinished_t app__plan_unfinished(const app__plan_t *plan)
{
    app__unfinished_t unfinished = {0};
    for (size_t i = 0; i < plan->elsewhere.count; i++) {
        SIM_APPEND(unfinished.items, unfinished.count, unfinished.capacity,
                   plan->elsewhere.items[i]);
    }
    for (size_t i = 0; i < plan->source_count; i++) {
        const app__source_t *const source = &plan->sources[i];
        for (const app__transfer_run_t *run = source->runs; run != NULL; run = run->run_next) {
            app__transfer_t *const transfer = app__transfer(plan, run->index);
            if (plan->shape.service != APP__RC) {
                continue;
            }
            if (!plan->shape.reuse) {
                transfer->retransmitted =
                    (uint32_t)nic_qp_retransmitted_packets(run->message.channel->qp);
            }
            SIM_GROW(unfinished.items, unfinished.count, &unfinished.capacity);
            unfinished.items[unfinished.count++] =
                (app__progress_t){.index = run->index,
                                  .delivered_bytes = delivered_bytes(plan, run)};
        }
        for (size_t f = 0; f < source->failure_count; f++) {
            SIM_GROW(unfinished.items, unfinished.count, &unfinished.capacity);
            unfinished.items[unfinished.count++] =
                (app__progress_t){.index = source->failures[f].index,
                                  .failed_ps = source->failures[f].time_ps};
        }
    }
    if (unfinished.count > 0) {
        qsort(unfinished.items, unfinished.count, sizeof(*unfinished.items), compare_progress);
    }
    return unfinished;
}

static void plan_flows(const app__plan_t *plan, app_flow_fn fn, void *ctx)
{
    const bool reliable = plan->shape.service == APP__RC;
    const app__unfinished_t unfinished = app__plan_unfinished(plan);
    app__reader_t reader = {.plan = plan};
    size_t at = 0;
    for (uint64_t i = 0; i < plan->count; i++) {
        const app__transfer_t *const transfer = app__read(&reader, i);
        const app__progress_t none = {.index = i};
        const bool ended_well = at == unfinished.count || unfinished.items[at].index != i;
        const app__progress_t *const progress = ended_well ? &none : &unfinished.items[at++];
        const nic_ideal_t ideal = app__plan_ideal(plan, transfer, i, transfer->bytes);
        const app_flow_result_t result = {
            .flow_id = plan->first_flow_id + i,
            .source = transfer->source,
            .destination = transfer->destination,
            .udp_source_port = ideal.udp_source_port,
            .service_port = transfer->service_port,
            .first_psn = app__plan_first_psn(plan, transfer, i),
            .source_qp = transfer->source_qp,
            .destination_qp = transfer->destination_qp,
            .mtu_bytes = ideal.mtu_bytes,
            .priority = app__plan_priority(plan, transfer),
            .dscp = app__plan_dscp(plan, transfer),
            .reads = transfer->verb == APP__VERB_READ,
            .bytes = app__transfer_bytes(transfer),
            .start_ps = transfer->start_ps,
            .end_ps = transfer->end_ps,
            .end_order = reliable ? transfer->end_order : 0,
            .ideal = ideal,
            .delivered_bytes = reliable ? progress->delivered_bytes : transfer->arrived_bytes,
            .failed_ps = progress->failed_ps,
            .retransmitted_packets = reliable ? transfer->retransmitted : 0,
            .status = (nic_wc_status_t)transfer->status,
            .label = plan->label,
        };
        fn(&result, ctx);
    }
    app__reader_close(&reader);
    sim_free(unfinished.items);
}

static void plan_progress(const app__plan_t *plan, uint64_t *done, uint64_t *planned)
{
    *done = 0;
    *planned = plan->count;
    for (size_t i = 0; i < plan->source_count; i++) {
        *done += plan->sources[i].completed + plan->sources[i].failed;
    }
}

static double gbps(uint64_t bytes, sim_time_t time_ps)
{
    return time_ps == 0 ? 0.0 : (double)bytes * 8000.0 / (double)time_ps;
}

// clang-format off
#define FINISH_ROWS(X) \
    X(mean, REAL, "us", false, "mean over the transfers that have completed") \
    X(max, REAL, "us", false, "end of the last transfer that has completed")
// clang-format on
typedef struct finishes {
    FINISH_ROWS(APP__MEMBER)
} finishes_t;

static void fill_finishes(const void *object, void *into)
{
    const app__plan_t *const plan = object;
    finishes_t *const finishes = into;
    app__reader_t reader = {.plan = plan};
    uint64_t count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const app__transfer_t *const transfer = app__read(&reader, i);
        if (transfer->end_ps != SIM_TIME_NEVER) {
            const double end_us = (double)transfer->end_ps / (double)SIM_PS_PER_US;
            count++;
            finishes->mean += end_us;
            finishes->max = SIM_MAX(end_us, finishes->max);
        }
    }
    app__reader_close(&reader);
    finishes->mean /= count == 0 ? 1 : (double)count;
}

#define FINISH(...) APP__ROW(finishes_t, __VA_ARGS__)
static const sim_report_row_t finish_rows[] = {FINISH_ROWS(FINISH)};
static const sim_report_table_t finish_report = APP__FILLED(finish_rows, finishes_t, fill_finishes);

// clang-format off
#define PLAN_ROWS(X) \
    X(transfers_planned, U64, "", false, "number of transfers that were planned") \
    X(transfers_started, U64, "", false, "number of transfers whose start time was reached") \
    X(transfers_completed, U64, "", false, "number of transfers acknowledged to the last byte; with uc and ud, transfers whose bytes all arrived") \
    X(transfers_failed, U64, "", false, "number of transfers ended by a completion error") \
    X(planned_bytes, U64, "bytes", true, "payload of all planned transfers") \
    X(completed_bytes, U64, "bytes", true, "payload of all completed transfers") \
    X(goodput_gbps, REAL, "Gbps", true, "completed_bytes, divided by the time from the first start to the last end")
// clang-format on
typedef struct plan_report {
    PLAN_ROWS(APP__MEMBER)
    sim_report_part_t rows; // of transfers in parts
    sim_report_part_t finishes;
} plan_report_t;

static void report_transfers(const app__plan_t *plan, plan_report_t *report)
{
    app__reader_t reader = {.plan = plan};
    sim_time_t first_ps = 0;
    sim_time_t last_end_ps = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const app__transfer_t *const transfer = app__read(&reader, i);
        const uint64_t bytes = app__transfer_bytes(transfer);
        first_ps = i == 0 ? transfer->start_ps : first_ps;
        report->planned_bytes += bytes;
        if (transfer->end_ps != SIM_TIME_NEVER) {
            report->transfers_completed++;
            report->completed_bytes += bytes;
            last_end_ps = SIM_MAX(transfer->end_ps, last_end_ps);
        }
    }
    app__reader_close(&reader);
    const sim_time_t active_ps = last_end_ps > first_ps ? last_end_ps - first_ps : 0;
    report->goodput_gbps = gbps(report->completed_bytes, active_ps);
}

static void fill_report(const void *object, void *into)
{
    const app__plan_t *const plan = object;
    plan_report_t *const report = into;
    report->transfers_planned = plan->count;
    for (size_t i = 0; i < plan->source_count; i++) {
        report->transfers_started += plan->sources[i].started;
        report->transfers_failed += plan->sources[i].failed;
    }
    report_transfers(plan, report);
    if (plan->parts > 0) {
        report->rows = (sim_report_part_t){&app__plan_rows_report, plan};
    }
    report->finishes = (sim_report_part_t){&finish_report, plan};
}

// clang-format off
#define ROW(...) APP__ROW(plan_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {
    PLAN_ROWS(ROW)
    {"rows", SIM_REPORT_PART, "", "number of rows of transfers in parts (qps above 1), each reported as a whole",
     .offset = offsetof(plan_report_t, rows), .shown = true, .table = &app__plan_rows_report},
    {"finish_us", SIM_REPORT_PART, "us", "time from the start of the run to the ends of transfers",
     .offset = offsetof(plan_report_t, finishes), .table = &finish_report},
};
// clang-format on
const sim_report_table_t app__plan_report = APP__FILLED(report_rows, plan_report_t, fill_report);

// -- applications that consist of one plan

app_t *app__planned_create(const app_ops_t *ops, const app_context_t *context, app__plan_t *plan)
{
    app__planned_t *const planned = sim_alloc(sizeof(*planned));
    planned->app = (app_t){ops, context->net, context->index};
    planned->plan = plan;
    app__plan_begin(plan);
    return &planned->app;
}

static const app__plan_t *plan_of(const app_t *app)
{
    return ((const app__planned_t *)(const void *)app)->plan;
}

void app__planned_destroy(app_t *app)
{
    app__planned_t *const planned = (app__planned_t *)(void *)app;
    app__plan_destroy(planned->plan);
    sim_free(planned);
}

void app__planned_flows(const app_t *app, app_flow_fn fn, void *ctx)
{
    plan_flows(plan_of(app), fn, ctx);
}

void app__planned_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    plan_progress(plan_of(app), done, planned);
}

double app__planned_under_way(const app_t *app)
{
    const app__plan_t *const plan = plan_of(app);
    double parts = 0;
    for (size_t i = 0; plan->shape.service == APP__RC && i < plan->source_count; i++) {
        for (const app__transfer_run_t *run = plan->sources[i].runs; run != NULL;
             run = run->run_next) {
            const uint64_t bytes = app__transfer_bytes(app__transfer(plan, run->index));
            parts += bytes == 0 ? 0 : (double)delivered_bytes(plan, run) / (double)bytes;
        }
    }
    return parts;
}

void app__planned_carry(app_t *app, sim_carry_t *carry)
{
    app__plan_carry(((app__planned_t *)(void *)app)->plan, carry);
}

static void fill_planned(const void *object, void *report)
{
    fill_report(plan_of(object), report);
}

const sim_report_table_t app__planned_report =
    APP__FILLED(report_rows, plan_report_t, fill_planned);
