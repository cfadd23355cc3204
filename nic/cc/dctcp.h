// SPDX-License-Identifier: Apache-2.0
// nic/cc/dctcp.h - DCTCP as a NIC would do it, on rates: parameters and state of one QP.
//
// Model, sources, limits and validation: docs/models/dctcp.md. The header is open for tests and for
// programs that set parameters in C; nothing else looks inside.
#ifndef NIC_CC_DCTCP_H
#define NIC_CC_DCTCP_H

#include "nic/congestion.h"

SIM_C_BEGIN

// Attributes "nic.dctcp.".
typedef struct nic_dctcp_config {
    sim_ratio_t g;             // weight of a new share of marks in alpha
    sim_ratio_t initial_alpha; // before the first
    uint64_t ai_rate_bps;      // per round trip
    uint64_t min_rate_bps;
} nic_dctcp_config_t;

typedef struct nic_dctcp {
    nic_cc_t cc;           // first
    bool begun;            // the first round trip's end is known
    bool reduced;          // cut since the packets of cut_psn were sent
    double alpha;          // share of marked packets, averaged over round trips, 0..1
    uint64_t round_psn;    // the round trip is over when more than this is acknowledged
    uint64_t cut_psn;      // the next cut is allowed when more than this is acknowledged
    uint64_t acked_bytes;  // acknowledged in this round trip
    uint64_t marked_bytes; // the marked ones of acked_bytes
} nic_dctcp_t;

extern const sim_attr_table_t nic_dctcp_attrs; // "nic.dctcp."
extern const nic_cc_ops_t nic_cc_dctcp;

SIM_C_END

#endif // NIC_CC_DCTCP_H
