// SPDX-License-Identifier: Apache-2.0
// net/faults.h - what goes wrong with a link or a NIC at some time, and is mended at another.
//
// These faults leave the link up: net_link_change_at (net/network.h) takes one down. They begin and
// end at their times whatever else happens, keep no run alive, and are told at NET_TRACE_FAULT of
// the port that is changed. Page: docs/models/faults.md.
#ifndef NET_FAULTS_H
#define NET_FAULTS_H

#include "net/port.h"

SIM_C_BEGIN

typedef enum net_fault_kind {
    NET_FAULT_DEGRADED,      // the link carries bits at rate_bps, both ways
    NET_FAULT_ERRORS,        // it has bit_error_rate and loss_rate, both ways
    NET_FAULT_SLOW_RECEIVER, // `node` takes packets at rate_bps and stops its peer by PFC beyond
    NET_FAULT_PAUSE_STORM,   // `node` keeps telling its peer to stop `priorities`
} net_fault_kind_t;

typedef struct net_fault {
    net_fault_kind_t kind;
    uint32_t link;
    const net_node_t *node; // the end at fault: SLOW_RECEIVER, PAUSE_STORM
    sim_time_t at_ps;
    sim_time_t until_ps; // NEVER: for good
    uint64_t rate_bps;   // > 0
    sim_ratio_t bit_error_rate;
    sim_ratio_t loss_rate;
    uint8_t priorities; // PFC classes
} net_fault_t;

// Copied. Before net_build; faults of one kind on one link must not overlap in time.
void net_fault_at(net_t *net, const net_fault_t *fault);

const char *net_fault_name(net_fault_kind_t kind); // "degraded"

SIM_C_END

#endif // NET_FAULTS_H
