// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/slowest.h - the rank that computed for the longest time beyond its peers.
#ifndef APPS_WORKLOAD_RESULTS_SLOWEST_H
#define APPS_WORKLOAD_RESULTS_SLOWEST_H

#include "apps/report_rows.h"
#include "apps/workload/workload.h"

// Times of the rank that computed for the longest time beyond its peers, and of these. Peers are
// ranks with as many operations, such as replicas of a stage; without any, all ranks.
// clang-format off
#define APP__SLOWEST_ROWS(X) \
    X(rank, U64, "", true, "number of the rank") \
    X(host, STRING, "", true, "name of the rank's host") \
    X(calc_ms, REAL, "", true, "time of all its computations") \
    X(peers_ms, REAL, "", true, "median of that time over the ranks with as many operations, or over all if no other has as many") \
    X(alike, U64, "", true, "number of ranks that computed for at least nine tenths of that time, itself included") \
    X(longest_ms, REAL, "", true, "time of the longest of its computations")
// clang-format on
typedef struct app__slowest {
    APP__SLOWEST_ROWS(APP__MEMBER)
} app__slowest_t;
extern const sim_report_table_t app__slowest_report;

// Measures a schedule that ran. Returns false if it has one rank, or computes nothing.
bool app__slowest_measure(const app__workload_t *workload, app__slowest_t *slowest);

#endif // APPS_WORKLOAD_RESULTS_SLOWEST_H
