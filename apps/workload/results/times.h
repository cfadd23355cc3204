// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/times.h - what a schedule reports about its collectives.
#ifndef APPS_WORKLOAD_RESULTS_TIMES_H
#define APPS_WORKLOAD_RESULTS_TIMES_H

#include "apps/report_rows.h"
#include "apps/workload/workload.h"

// Calls of collectives that are alike: one name, kind, size, and number of ranks.
// clang-format off
#define APP__COLL_TIMES_ROWS(X) \
    X(name, STRING, "", false, "name that the schedule gives, else that of the collective") \
    X(kind, STRING, "", false, "collective that the calls are, such as all-reduce") \
    X(count, U64, "", true, "number of calls that have ended at all ranks") \
    X(bytes, U64, "bytes", true, "size of a call") \
    X(ranks, U64, "", true, "number of ranks of a call") \
    X(mean_us, REAL, "us", true, "mean time from the last start to the last end") \
    X(p99_us, REAL, "us", true, "time that 99 % of the calls do not exceed") \
    X(busbw_gbytes_per_s, REAL, "GB/s", true, "bus bandwidth of the mean time, as nccl-tests define it") \
    X(bound_us, REAL, "us", true, "time in which the busiest rank of a call sends its bytes at the full rate of its NIC or NVLink, which no call can beat; null for send-recv") \
    X(bound_gbytes_per_s, REAL, "GB/s", false, "bus bandwidth of a call that takes bound_us") \
    X(bound_by, STRING, "", false, "the part of the network that needs the time bound_us: nic or nvlink") \
    X(algorithm, STRING, "", false, "algorithm of the calls") \
    X(protocol, STRING, "", false, "protocol of the calls") \
    X(channels, U64, "", true, "number of channels of the calls")
// clang-format on
typedef struct app__coll_times {
    APP__COLL_TIMES_ROWS(APP__MEMBER)
    double estimate_us; // the library's own estimate, where its software takes no time here; else 0
    bool rccl;          // the library is RCCL
} app__coll_times_t;
extern const sim_report_table_t app__coll_times_report;

// Makes a row for each set of calls that are alike. The caller frees the list with sim_free.
app__coll_times_t *app__coll_times(const app__workload_t *workload, size_t *count);
// Returns one row for the exchanges of the kind send-recv. Free it with sim_free.
app__coll_times_t *app__exchange_times(const app__workload_t *workload);

// Writes for people how long the collectives took, and their bound.
void app__coll_print(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);

#endif // APPS_WORKLOAD_RESULTS_TIMES_H
