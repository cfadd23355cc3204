// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/cc_timely.h - parameters and state of TIMELY as the HPCC project's simulator has it.
//
// Model, differences from nic/cc/timely.h, validation: docs/models/timely-hpcc.md.
#ifndef COMPAT_HPCC_CC_TIMELY_H
#define COMPAT_HPCC_CC_TIMELY_H

#include "nic/congestion.h"

SIM_C_BEGIN

// Attributes "nic.timely-hpcc.".
typedef struct compat_timely_hpcc_config {
    sim_ratio_t alpha; // weight of the newest difference of round-trip times
    sim_ratio_t beta;
    sim_time_t t_low_ps; // this and the next two are used in whole ns
    sim_time_t t_high_ps;
    sim_time_t min_rtt_ps;
    uint64_t additive_bps; // RATE_AI
    uint64_t hyper_bps;    // RATE_HAI
    uint64_t min_rate_bps; // MIN_RATE
} compat_timely_hpcc_config_t;

typedef struct compat_timely_hpcc {
    nic_cc_t cc; // first
    double alpha;
    double beta;
    double difference_ns; // moving average of differences of round-trip times
    uint64_t rtt_ns;      // at the last update
    uint64_t update_psn;  // an ACK beyond this PSN updates the rate
    uint64_t acked_psn;   // PSN of the last ACK, where the next flow begins
    uint32_t increases;   // increases in a row
    bool measured;        // rtt_ns was measured in this flow
} compat_timely_hpcc_t;

extern const sim_attr_table_t compat_timely_hpcc_attrs; // "nic.timely-hpcc."
extern const nic_cc_ops_t compat_cc_timely_hpcc;

SIM_C_END

#endif // COMPAT_HPCC_CC_TIMELY_H
