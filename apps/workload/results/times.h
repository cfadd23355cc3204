// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/times.h - what a schedule reports about its collectives.
#ifndef APPS_WORKLOAD_RESULTS_TIMES_H
#define APPS_WORKLOAD_RESULTS_TIMES_H

#include "apps/workload/workload.h"

// Calls of collectives that are alike: one name, kind, size, and number of ranks.
typedef struct app__coll_times {
    const char *name;
    const char *kind;
    uint64_t count; // calls that have ended at all ranks
    uint64_t bytes; // of a call
    uint64_t ranks;
    double mean_us; // from the start of the last rank to the end of the last rank
    double p99_us;
    double busbw_gbytes_per_s; // as nccl-tests define it, of the mean
    const char *algorithm;
    const char *protocol;
    uint64_t channels;
} app__coll_times_t;
extern const sim_report_table_t app__coll_times_report;

// Makes a row for each set of calls that are alike. The caller frees the list with sim_free.
app__coll_times_t *app__coll_times(const app__workload_t *workload, size_t *count);
// Returns one row for the exchanges of the kind send-recv. Free it with sim_free.
app__coll_times_t *app__exchange_times(const app__workload_t *workload);

#endif // APPS_WORKLOAD_RESULTS_TIMES_H
