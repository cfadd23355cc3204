// SPDX-License-Identifier: Apache-2.0
// apps/rates/verbs_rate_report.c - the report of verbs-rate.
#include "apps/rates/verbs_rate_internal.h"
#include "apps/report_rows.h"

static uint64_t sum_words(const app__rate_t *rate)
{
    uint64_t sum = 0;
    for (uint32_t m = 0; rate->config.verb == APP__RATE_FETCH_ADD && m < rate->to_count; m++) {
        for (uint64_t i = 0; i < rate->config.counters; i++) {
            sum += nic_mr_read64(rate->to[m].memory, rate->to[m].address + 8 * i);
        }
    }
    return sum;
}

// clang-format off
#define ROWS(X) \
    X(mops, REAL, "M/s", true, "operations per second of all senders") \
    X(mops_received, REAL, "M/s", true, "messages per second that receivers took") \
    X(mops_per_machine, REAL, "M/s", true, "operations per second of one sending machine, the mean of all") \
    X(operations, U64, "", true, "number of operations posted in the whole run") \
    X(failed, U64, "", true, "number of operations that ended with an error") \
    X(received, U64, "", true, "number of messages received in the whole run") \
    X(counters_sum, U64, "", true, "sum of the words that atomics added to, at the end")
// clang-format on
typedef struct rate_report {
    ROWS(APP__MEMBER)
} rate_report_t;

static void fill_report(const void *object, void *into)
{
    const app__rate_t *const rate = object;
    rate_report_t *const report = into;
    uint64_t sent = 0;
    uint64_t received = 0;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        sent += app__rate_measured(&rate->senders[s]);
        report->failed += rate->senders[s].thread.failed;
        for (uint32_t q = 0; q < rate->qps; q++) {
            report->operations += rate->senders[s].posted[q];
        }
    }
    for (uint32_t r = 0; r < rate->receiver_count; r++) {
        received += rate->receivers[r].thread.counted;
        report->received += rate->receivers[r].thread.total;
    }
    report->mops = app__mops(&rate->app, &rate->config.span, sent);
    report->mops_received = app__mops(&rate->app, &rate->config.span, received);
    report->mops_per_machine = report->mops / rate->from_count;
    report->counters_sum = sum_words(rate);
}

#define ROW(...) APP__ROW(rate_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {ROWS(ROW)};
const sim_report_table_t app__rate_report = APP__FILLED(report_rows, rate_report_t, fill_report);
