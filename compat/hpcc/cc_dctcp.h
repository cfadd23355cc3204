// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/cc_dctcp.h - parameters and state of DCTCP as the HPCC project's simulator has it.
//
// Model, differences from nic/cc/dctcp.h, validation: docs/models/dctcp-hpcc.md.
#ifndef COMPAT_HPCC_CC_DCTCP_H
#define COMPAT_HPCC_CC_DCTCP_H

#include "nic/congestion.h"

SIM_C_BEGIN

// Attributes "nic.dctcp-hpcc.".
typedef struct compat_dctcp_hpcc_config {
    sim_ratio_t gain;      // EWMA_GAIN, g
    uint64_t additive_bps; // DCTCP_RATE_AI
    uint64_t min_rate_bps; // MIN_RATE
} compat_dctcp_hpcc_config_t;

typedef struct compat_dctcp_hpcc {
    nic_cc_t cc; // first
    double gain;
    double alpha;
    uint64_t round_psn;     // an ACK beyond this PSN ends the round
    uint64_t reduced_psn;   // an ACK beyond this PSN ends the reduction
    uint64_t acked_psn;     // PSN of the last ACK, where the next flow begins
    uint64_t batch_packets; // packets that the share of marked ones refers to
    uint64_t marked_packets;
    bool begun;   // the first round of this flow is over
    bool reduced; // the rate was cut in this round trip
} compat_dctcp_hpcc_t;

extern const sim_attr_table_t compat_dctcp_hpcc_attrs; // "nic.dctcp-hpcc."
extern const nic_cc_ops_t compat_cc_dctcp_hpcc;

SIM_C_END

#endif // COMPAT_HPCC_CC_DCTCP_H
