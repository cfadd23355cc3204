// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/summary.h - what is in a schedule, and how long it takes at least and on an
// ideal network, before anything runs.
#ifndef APPS_WORKLOAD_RESULTS_SUMMARY_H
#define APPS_WORKLOAD_RESULTS_SUMMARY_H

#include "apps/workload/ideal/loggp.h"

// A schedule with more operations, or more events on an ideal network, has no estimate: it would
// take more than some seconds.
#define APP__ESTIMATE_OPS_MAX UINT64_C(4000000)
#define APP__ESTIMATE_EVENTS_MAX UINT64_C(20000000)

// The time of a collective from its last caller on: at least, and with what can be foreseen.
typedef struct app__call_cost {
    sim_time_t least_ps;
    sim_time_t likely_ps;
} app__call_cost_t;

typedef struct app__workload_summary {
    uint64_t operations;
    uint64_t message_bytes_min;
    uint64_t message_bytes_max;
    uint64_t message_sizes; // different ones
    // These two count collectives as rings and direct exchanges on NICs of the network.
    uint64_t call_messages;
    double call_bytes;
    // Lower bounds of the time: the longest path, and the maximum work of a processor (sends and
    // computations), of a sending and of a receiving NIC.
    sim_time_t path_ps;
    sim_time_t cpu_ps;
    sim_time_t nic_send_ps;
    sim_time_t nic_receive_ps;
    sim_time_t bound_ps; // the largest of the four
    bool estimated;
    // The end of a run on an ideal network; with collectives, the longest path with their likely
    // times, or a bound if that is more.
    sim_time_t estimate_ps;
    uint64_t unfinished; // operations that do not finish there
} app__workload_summary_t;

// costs: of each call; NULL: those of rings and direct exchanges.
void app__workload_summarise(const app__schedule_t *schedule, const app__loggp_t *loggp,
                             const app__call_cost_t *costs, app__workload_summary_t *summary);

#endif // APPS_WORKLOAD_RESULTS_SUMMARY_H
