// SPDX-License-Identifier: Apache-2.0
// nic/cc/hpcc.h - HPCC: parameters and state of one QP.
//
// Model, sources, limits and validation: docs/models/hpcc.md. The header is open for tests and for
// programs that set parameters in C; nothing else looks inside.
#ifndef NIC_CC_HPCC_H
#define NIC_CC_HPCC_H

#include "nic/cc/hpcc_law.h"

SIM_C_BEGIN

// Attributes "nic.hpcc.".
typedef struct nic_hpcc_config {
    nic_hpcc_law_config_t law; // first
    bool multi_rate;           // a reference per hop instead of one for the path
    bool sample_feedback;      // between updates of the reference, hops without a queue say nothing
    bool check_path;           // by the exclusive or of the switches' ids
} nic_hpcc_config_t;

// The reference of one hop, for multi_rate.
typedef struct nic_hpcc_hop {
    double utilization;
    nic_hpcc_reference_t reference;
} nic_hpcc_hop_t;

typedef struct nic_hpcc {
    nic_cc_t cc; // first
    nic_hpcc_law_t law;
    bool controlled;                    // the path has a round trip time
    uint8_t hop_count;                  // of records
    uint16_t path_id;                   // they are of
    uint64_t rtt_ns;                    // T
    double utilization;                 // U, a moving average over T
    uint64_t records[NET_INT_HOPS_MAX]; // L: the last ones
    nic_hpcc_hop_t hops[NET_INT_HOPS_MAX];
} nic_hpcc_t;

extern const sim_attr_table_t nic_hpcc_attrs; // "nic.hpcc."
extern const nic_cc_ops_t nic_cc_hpcc;

SIM_C_END

#endif // NIC_CC_HPCC_H
