// SPDX-License-Identifier: Apache-2.0
// nic/cc/hpcc_pint.h - HPCC on PINT: parameters and state of one QP.
//
// Model, sources, limits and validation: docs/models/hpcc-pint.md. The header is open for tests and
// for programs that set parameters in C; nothing else looks inside.
#ifndef NIC_CC_HPCC_PINT_H
#define NIC_CC_HPCC_PINT_H

#include "nic/cc/hpcc_law.h"

SIM_C_BEGIN

// Attributes "nic.hpcc-pint.".
typedef struct nic_hpcc_pint_config {
    nic_hpcc_law_config_t law; // first
    sim_ratio_t probability;   // of a packet's digest to be one of utilization
} nic_hpcc_pint_config_t;

typedef struct nic_hpcc_pint {
    nic_cc_t cc; // first
    nic_hpcc_law_t law;
    const struct net_dice *dice; // NULL: random
    sim_random_t random;
    double utilization; // U, as last heard
    bool controlled;    // the path has a round trip time
} nic_hpcc_pint_t;

extern const sim_attr_table_t nic_hpcc_pint_attrs; // "nic.hpcc-pint."
extern const nic_cc_ops_t nic_cc_hpcc_pint;

SIM_C_END

#endif // NIC_CC_HPCC_PINT_H
