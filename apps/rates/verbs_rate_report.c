// SPDX-License-Identifier: Apache-2.0
// apps/rates/verbs_rate_report.c - the report of verbs-rate.
#include "apps/rates/verbs_rate_internal.h"
#include "apps/report_rows.h"

static uint64_t sum_words(const app__rate_t *rate)
{
    uint64_t sum = 0;
    for (uint32_t m = 0; rate->verb == APP__RATE_FETCH_ADD && m < rate->to_count; m++) {
        for (uint64_t i = 0; i < rate->counters; i++) {
            sum += nic_mr_read64(rate->to[m].memory, rate->to[m].address + 8 * i);
        }
    }
    return sum;
}

typedef struct rate_report {
    double mops;
    double mops_received;
    double mops_per_machine;
    uint64_t operations;
    uint64_t failed;
    uint64_t received;
    uint64_t counters_sum;
} rate_report_t;

static void fill_report(const void *object, void *report)
{
    const app__rate_t *const rate = object;
    uint64_t sent = 0;
    uint64_t posted = 0;
    uint64_t failed = 0;
    uint64_t received = 0;
    uint64_t received_all = 0;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        sent += app__rate_measured(&rate->senders[s]);
        failed += rate->senders[s].thread.failed;
        for (uint32_t q = 0; q < rate->qps; q++) {
            posted += rate->senders[s].posted[q];
        }
    }
    for (uint32_t r = 0; r < rate->receiver_count; r++) {
        received += rate->receivers[r].thread.counted;
        received_all += rate->receivers[r].thread.total;
    }
    *(rate_report_t *)report = (rate_report_t){
        .mops = app__mops(&rate->app, &rate->span, sent),
        .mops_received = app__mops(&rate->app, &rate->span, received),
        .mops_per_machine = app__mops(&rate->app, &rate->span, sent) / rate->from_count,
        .operations = posted,
        .failed = failed,
        .received = received_all,
        .counters_sum = sum_words(rate),
    };
}

// clang-format off
static const sim_report_row_t report_rows[] = {
    APP__REAL(rate_report_t, mops, "M/s", "operations per second of all senders"),
    APP__REAL(rate_report_t, mops_received, "M/s", "messages per second that receivers took"),
    APP__REAL(rate_report_t, mops_per_machine, "M/s", "operations per second of one sending "
                                                      "machine, the mean of all"),
    APP__WHOLE(rate_report_t, operations, "", "number of operations posted in the whole run"),
    APP__WHOLE(rate_report_t, failed, "", "number of operations that ended with an error"),
    APP__WHOLE(rate_report_t, received, "", "number of messages received in the whole run"),
    APP__WHOLE(rate_report_t, counters_sum, "", "sum of the words that atomics added to, at the "
                                                "end"),
};
// clang-format on
const sim_report_table_t app__rate_report = {
    .rows = report_rows,
    .count = SIM_COUNT_OF(report_rows),
    .bytes = sizeof(rate_report_t),
    .fill = fill_report,
};
