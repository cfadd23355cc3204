// SPDX-License-Identifier: Apache-2.0
// apps/workload/ideal/loggp.h - runs a schedule on an ideal network: the LogGOPS model.
//
// A message costs its processors o and O a byte, its NICs g and G a byte, and arrives after L. No
// two messages share anything else. Source: Hoefler, Schneider, Lumsdaine, "LogGOPSim: Simulating
// Large-Scale Applications in the LogGOPS Model", HPDC 2010. docs/models/workload.md
#ifndef APPS_WORKLOAD_IDEAL_LOGGP_H
#define APPS_WORKLOAD_IDEAL_LOGGP_H

#include "apps/workload/schedule.h"
#include "kernel/attribute.h"

// LogGOPSim exists twice, with different rules for receivers and for G.
typedef enum app__semantics {
    // G passes at the receiver, which takes a message on the processor and the NIC whose numbers
    // the send has, with or without a receive.
    APP__SEMANTICS_SPCL,
    // G passes in flight, in whole ns. A message takes the processor and the NIC of its receive.
    APP__SEMANTICS_ATLAHS
} app__semantics_t;

// The order of events of one instant.
typedef enum app__ties {
    APP__TIES_FILE, // in which they arose, which is that of the file
    // As in the program of ATLAHS: in which a heap yields equal times, and a receive whose
    // processor is busy goes behind the others.
    APP__TIES_HEAP
} app__ties_t;

typedef struct app__loggp {
    app__semantics_t semantics;
    app__ties_t ties;
    sim_time_t latency_ps;       // L
    sim_time_t send_ps;          // o of a send
    sim_time_t recv_ps;          // o of a receive
    sim_time_t gap_ps;           // g
    sim_time_t byte_gap_ps;      // G
    sim_time_t byte_overhead_ps; // O
    uint64_t eager_max_bytes;    // S: a longer send finishes only with its receive
    sim_ratio_t calc_scale;      // factor on computations
    uint64_t events_max;         // after which the run is given up; 0: never
    // Per rank: its node. Messages within a node have a time of their own. NULL: there are none.
    const void *const *nodes;
    sim_time_t near_latency_ps;
    sim_time_t near_byte_gap_ps;
} app__loggp_t;

typedef struct app__loggp_op {
    sim_time_t start_ps;   // SIM_TIME_NEVER: it has not started
    sim_time_t end_ps;     // SIM_TIME_NEVER: it has not finished
    sim_time_t arrival_ps; // of a send: when its last byte arrives; SIM_TIME_NEVER: not yet
} app__loggp_op_t;

typedef struct app__loggp_rank {
    app__loggp_op_t *ops; // in result->ops
    sim_time_t end_ps;    // when the last of its processors is free
    sim_time_t busy_ps;   // of all its processors
    uint32_t unfinished;
    uint32_t unexpected_peak; // maximum number of messages that waited for a receive
} app__loggp_rank_t;

typedef struct app__loggp_result {
    app__loggp_op_t *ops;
    app__loggp_rank_t *ranks;
    sim_time_t end_ps;   // when the last rank finished
    uint64_t unfinished; // operations
    bool cut;            // events_max was reached
} app__loggp_result_t;

// Returns the time of a computation that a file gives in ns.
static inline sim_time_t app__calc_ps(uint64_t ns, const sim_ratio_t *scale)
{
    return scale->num == scale->den
               ? ns * SIM_PS_PER_NS
               : (sim_time_t)((double)ns * SIM_PS_PER_NS * (double)scale->num / (double)scale->den);
}

// Returns whether two ranks are in one node.
static inline bool app__are_near(const app__loggp_t *loggp, uint32_t rank, uint32_t other)
{
    return loggp->nodes != NULL && loggp->nodes[rank] == loggp->nodes[other];
}

static inline sim_time_t app__latency_ps(const app__loggp_t *loggp, bool near)
{
    return near ? loggp->near_latency_ps : loggp->latency_ps;
}

// Returns the time of the bytes of a message after its first, in whole ns for ATLAHS. An empty
// message counts as one byte.
static inline sim_time_t app__byte_gaps_ps(const app__loggp_t *loggp, uint64_t bytes, bool near)
{
    const sim_time_t took_ps =
        (bytes > 0 ? bytes - 1 : 0) * (near ? loggp->near_byte_gap_ps : loggp->byte_gap_ps);
    return loggp->semantics == APP__SEMANTICS_ATLAHS ? took_ps - took_ps % SIM_PS_PER_NS : took_ps;
}

// Returns the time of the longest path through a schedule: that of a run in which no operation
// waits for a processor or a NIC. call_ps has the time of each collective, from its last caller on.
sim_time_t app__schedule_path_ps(const app__schedule_t *schedule, const app__loggp_t *loggp,
                                 const sim_time_t *call_ps);

// Runs the sends, receives and computations of a schedule from time 0. The caller ends the result
// with app__loggp_fini. Operations of collectives never finish.
void app__loggp_run(const app__schedule_t *schedule, const app__loggp_t *loggp,
                    app__loggp_result_t *result);
void app__loggp_fini(app__loggp_result_t *result);

#endif // APPS_WORKLOAD_IDEAL_LOGGP_H
