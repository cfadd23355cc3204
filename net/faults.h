// SPDX-License-Identifier: Apache-2.0
// net/faults.h - faults that a link or a NIC has from one time to another.
//
// These faults leave the link up: net_link_change_at (net/network.h) takes one down. They begin and
// end at fixed times, do not keep a run alive, and call the listeners of NET_TRACE_FAULT at each
// port that they change. Page: docs/models/faults.md.
#ifndef NET_FAULTS_H
#define NET_FAULTS_H

#include "net/node.h"

SIM_C_BEGIN

typedef enum net_fault_kind {
    NET_FAULT_DEGRADED,      // the link carries only rate_bps, in both directions
    NET_FAULT_ERRORS,        // the link has bit_error_rate and loss_rate, in both directions
    NET_FAULT_SLOW_RECEIVER, // `node` takes packets at rate_bps and pauses its peer when it lags
    NET_FAULT_PAUSE_STORM,   // `node` pauses `priorities` of its peer all the time
} net_fault_kind_t;

typedef struct net_fault {
    net_fault_kind_t kind;
    uint32_t link;
    const net_node_t *node; // for SLOW_RECEIVER and PAUSE_STORM: the end at fault
    sim_time_t at_ps;
    sim_time_t until_ps; // > at_ps; SIM_TIME_NEVER: until the end of the run
    uint64_t rate_bps;   // > 0
    sim_ratio_t bit_error_rate;
    sim_ratio_t loss_rate;
    uint8_t priorities; // PFC classes, a bit each
} net_fault_t;

// Schedules a fault; it is copied. Faults of one kind on one link must not overlap in time. Before
// net_build, or between two steps (kernel/steps.h) for a time that has not passed.
void net_fault_at(net_t *net, const net_fault_t *fault);

const char *net_fault_name(net_fault_kind_t kind); // "degraded"; static

SIM_C_END

#endif // NET_FAULTS_H
