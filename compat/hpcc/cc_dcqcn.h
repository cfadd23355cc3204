// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/cc_dcqcn.h - parameters and state of DCQCN as the HPCC project's simulator computes
// it (its cc_mode "mlx").
//
// Model, differences from nic/cc/dcqcn.h, validation: docs/models/dcqcn-hpcc.md.
#ifndef COMPAT_HPCC_CC_DCQCN_H
#define COMPAT_HPCC_CC_DCQCN_H

#include "nic/congestion.h"

SIM_C_BEGIN

// Attributes "nic.dcqcn-hpcc.".
typedef struct compat_dcqcn_hpcc_config {
    sim_time_t alpha_period_ps;    // the simulator's ALPHA_RESUME_INTERVAL
    sim_time_t cut_period_ps;      // RATE_DECREASE_INTERVAL
    sim_time_t increase_period_ps; // RP_TIMER
    sim_ratio_t gain;              // EWMA_GAIN, g
    uint64_t fast_recovery_stages; // FAST_RECOVERY_TIMES
    uint64_t additive_bps;         // RATE_AI
    uint64_t hyper_bps;            // RATE_HAI
    uint64_t min_rate_bps;         // MIN_RATE
    bool clamp_target;             // CLAMP_TARGET_RATE
    bool scaled_window;            // VAR_WIN: the QP's window is proportional to the rate
} compat_dcqcn_hpcc_config_t;

typedef struct compat_dcqcn_hpcc {
    nic_cc_t cc; // first
    sim_timer_t alpha_timer;
    sim_timer_t cut_timer;
    sim_timer_t increase_timer;
    double alpha;
    double gain;
    uint64_t target_bps;
    uint64_t window_own_bytes;
    uint32_t stage;     // increases since the last cut
    bool marked;        // a marked ACK has come since the flow began
    bool marked_alpha;  // a marked ACK has come since alpha changed
    bool marked_to_cut; // a marked ACK has come since the last cut
} compat_dcqcn_hpcc_t;

extern const sim_attr_table_t compat_dcqcn_hpcc_attrs; // "nic.dcqcn-hpcc."
extern const nic_cc_ops_t compat_cc_dcqcn_hpcc;

SIM_C_END

#endif // COMPAT_HPCC_CC_DCQCN_H
