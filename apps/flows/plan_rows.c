// SPDX-License-Identifier: Apache-2.0
// apps/flows/plan_rows.c - reports transfers that were cut into parts, each row as a whole.
//
// A row of flows with qps above 1 is that many transfers with one start, adjacent in the plan:
// plans are ordered by start, and for equal starts by order of adding. A row is done with its last
// part. Its ideal time is that of one transfer of all its bytes on the idle path of the first part,
// which is the best that a single queue pair could reach.
#include "apps/flows/blocks.h"
#include "apps/flows/plan_results.h"
#include "apps/report_rows.h"
#include "kernel/statistics.h"

typedef struct rows {
    uint64_t completed;
    sim_sample_set_t fct_ps;
    sim_sample_set_t slowdown; // in thousandths
    sim_sample_set_t rate_kbps;
} rows_t;

static void take_row(const app__plan_t *plan, uint64_t first, rows_t *rows)
{
    const app__transfer_t *const row = app__transfer(plan, first);
    uint64_t bytes = 0;
    uint64_t message_bytes = 0;
    sim_time_t end_ps = row->start_ps;
    for (uint64_t i = 0; i < plan->parts; i++) {
        const app__transfer_t *const part = &row[i];
        SIM_CHECK(part->start_ps == row->start_ps && part->source == row->source &&
                  part->destination == row->destination);
        if (part->end_ps == SIM_TIME_NEVER) {
            return;
        }
        end_ps = SIM_MAX(part->end_ps, end_ps);
        bytes += app__transfer_bytes(part);
        message_bytes += part->bytes;
    }
    const sim_time_t fct_ps = end_ps - row->start_ps;
    const nic_ideal_t ideal = app__plan_ideal(plan, row, first, message_bytes);
    const sim_time_t ideal_ps = nic_ideal_ps(&ideal);
    if (fct_ps == 0 || ideal_ps == 0) {
        return;
    }
    rows->completed++;
    sim_sample_set_add(&rows->fct_ps, fct_ps);
    sim_sample_set_add(&rows->slowdown,
                       (uint64_t)((double)fct_ps / (double)ideal_ps * 1000.0 + 0.5));
    sim_sample_set_add(&rows->rate_kbps, (uint64_t)((double)bytes * 8e9 / (double)fct_ps + 0.5));
}

// clang-format off
#define ROWS(X) \
    X(count, U64, "", true, "number of rows of the traffic entry") \
    X(completed, U64, "", true, "number of rows whose parts have all completed") \
    X(fct_us, TIMES, "us", true, "time from a row's start to the end of its last part") \
    X(slowdown, TIMES, "", true, "fct_us of a row, divided by the ideal time of one transfer of all its bytes") \
    X(goodput_gbps, TIMES, "Gbps", true, "payload of a row divided by its completion time")
// clang-format on
typedef struct rows_report {
    ROWS(APP__MEMBER)
} rows_report_t;

static void fill_report(const void *object, void *into)
{
    const app__plan_t *const plan = object;
    rows_report_t *const report = into;
    rows_t rows = {0};
    sim_sample_set_init(&rows.fct_ps);
    sim_sample_set_init(&rows.slowdown);
    sim_sample_set_init(&rows.rate_kbps);
    SIM_CHECK(plan->count % plan->parts == 0);
    for (uint64_t i = 0; i < plan->count; i += plan->parts) {
        take_row(plan, i, &rows);
    }
    *report = (rows_report_t){
        .count = plan->count / plan->parts,
        .completed = rows.completed,
        .fct_us = sim_percentiles(&rows.fct_ps, SIM_PS_PER_US),
        .slowdown = sim_percentiles(&rows.slowdown, 1000),
        .goodput_gbps = sim_percentiles(&rows.rate_kbps, 1000000),
    };
    sim_sample_set_fini(&rows.fct_ps);
    sim_sample_set_fini(&rows.slowdown);
    sim_sample_set_fini(&rows.rate_kbps);
}

#define ROW(...) APP__ROW(rows_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {ROWS(ROW)};
const sim_report_table_t app__plan_rows_report =
    APP__FILLED(report_rows, rows_report_t, fill_report);
