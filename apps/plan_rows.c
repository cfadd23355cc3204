// SPDX-License-Identifier: Apache-2.0
// apps/plan_rows.c - transfers cut into parts, each on a queue pair of its own, as wholes.
//
// A row of flows with qps above 1 is that many transfers with one start, one after another in the
// plan: plans are ordered by start, and among equal starts as they were added. The whole is done
// with its last part. Its ideal time is that of one transfer of all its bytes on the idle path of
// its first part: what a single queue pair could reach, so more paths than the host's links can use
// gain nothing.
#include "apps/transfer_internal.h"
#include "kernel/statistics.h"

static void give(app_value_fn fn, void *ctx, const char *name, const char *unit, double value)
{
    const app_value_t record = {name, unit, value};
    fn(&record, ctx);
}

typedef struct rows {
    uint64_t completed;
    sim_sample_set_t fct_ps;
    sim_sample_set_t slowdown; // thousandths
    sim_sample_set_t rate_kbps;
} rows_t;

static void take_row(const app__plan_t *plan, uint64_t first, rows_t *rows)
{
    const app__transfer_t *const row = &plan->transfers[first];
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
        end_ps = part->end_ps > end_ps ? part->end_ps : end_ps;
        bytes += app__transfer_bytes(part);
        message_bytes += part->bytes;
    }
    const sim_time_t fct_ps = end_ps - row->start_ps;
    const sim_time_t ideal_ps = app__plan_ideal_of_ps(plan, first, message_bytes);
    if (fct_ps == 0 || ideal_ps == 0) {
        return;
    }
    rows->completed++;
    sim_sample_set_add(&rows->fct_ps, fct_ps);
    sim_sample_set_add(&rows->slowdown,
                       (uint64_t)((double)fct_ps / (double)ideal_ps * 1000.0 + 0.5));
    sim_sample_set_add(&rows->rate_kbps, (uint64_t)((double)bytes * 8e9 / (double)fct_ps + 0.5));
}

void app__plan_row_values(const app__plan_t *plan, app_value_fn fn, void *ctx)
{
    rows_t rows = {0};
    sim_sample_set_init(&rows.fct_ps);
    sim_sample_set_init(&rows.slowdown);
    sim_sample_set_init(&rows.rate_kbps);
    SIM_CHECK(plan->count % plan->parts == 0);
    for (uint64_t i = 0; i < plan->count; i += plan->parts) {
        take_row(plan, i, &rows);
    }
    static const struct {
        const char *fct;
        const char *slowdown;
        uint64_t percent;
    } percentiles[] = {
        {"row_fct_p50", "row_slowdown_p50", 50},
        {"row_fct_p99", "row_slowdown_p99", 99},
        {"row_fct_max", "row_slowdown_max", 100},
    };
    const uint64_t row_count = plan->count / plan->parts;
    give(fn, ctx, "rows", "", (double)row_count);
    give(fn, ctx, "rows_completed", "", (double)rows.completed);
    for (size_t i = 0; i < SIM_COUNT_OF(percentiles) && rows.completed > 0; i++) {
        const uint64_t percent = percentiles[i].percent;
        const uint64_t fct_ps = sim_sample_set_percentile(&rows.fct_ps, percent, 100);
        const uint64_t slowdown = sim_sample_set_percentile(&rows.slowdown, percent, 100);
        give(fn, ctx, percentiles[i].fct, "us", (double)fct_ps / (double)SIM_PS_PER_US);
        give(fn, ctx, percentiles[i].slowdown, "", (double)slowdown / 1000.0);
    }
    if (rows.completed > 0) {
        const uint64_t median = sim_sample_set_percentile(&rows.rate_kbps, 50, 100);
        const uint64_t least = sim_sample_set_percentile(&rows.rate_kbps, 0, 100);
        give(fn, ctx, "row_goodput_p50", "Gbps", (double)median / 1e6);
        give(fn, ctx, "row_goodput_min", "Gbps", (double)least / 1e6);
    }
    sim_sample_set_fini(&rows.fct_ps);
    sim_sample_set_fini(&rows.slowdown);
    sim_sample_set_fini(&rows.rate_kbps);
}
