// SPDX-License-Identifier: Apache-2.0
// nic/cc/swift.h - Swift's windows for fabric and hosts: parameters and state of one QP.
//
// Model, sources, limits and validation: docs/models/swift.md. The header is open for tests and for
// programs that set parameters in C; nothing else looks inside.
#ifndef NIC_CC_SWIFT_H
#define NIC_CC_SWIFT_H

#include "nic/congestion.h"

SIM_C_BEGIN

// Attributes "nic.swift.". Windows are in packets.
typedef struct nic_swift_config {
    sim_ratio_t ai;   // packets per round trip
    sim_ratio_t beta; // share of the excess delay that is cut
    sim_ratio_t max_mdf;
    sim_time_t base_target_ps;
    sim_time_t hop_ps; // added to the target for each hop
    sim_time_t host_target_ps;
    bool flow_scaling;
    sim_time_t fs_range_ps; // largest addition for small windows
    sim_ratio_t fs_min;     // window at and below which the addition is fs_range
    sim_ratio_t fs_max;     // window from which on it is 0
    sim_ratio_t min_window;
    sim_ratio_t max_window;
    sim_ratio_t start_window;
    uint64_t reset_after; // time-outs in a row after which the window is min_window
} nic_swift_config_t;

typedef struct nic_swift {
    nic_cc_t cc;        // first
    double window;      // for the fabric, in packets
    sim_time_t cut_ps;  // when it was last cut
    double host_window; // for the hosts; the smaller of the two counts
    sim_time_t host_cut_ps;
    double host_ps;     // smoothed delay in the hosts
    sim_time_t rtt_ps;  // of the latest ACK; 0: none yet
    sim_time_t goal_ps; // the latest target
    uint64_t timeouts;  // in a row
    bool was_cut;
    bool host_was_cut;
} nic_swift_t;

// Returns the target delay for a window in packets and a number of hops.
sim_time_t nic_swift_target_ps(const nic_swift_config_t *config, double window, uint32_t hops);

extern const sim_attr_table_t nic_swift_attrs; // "nic.swift."
extern const nic_cc_ops_t nic_cc_swift;

SIM_C_END

#endif // NIC_CC_SWIFT_H
