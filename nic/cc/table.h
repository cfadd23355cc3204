// SPDX-License-Identifier: Apache-2.0
// nic/cc/table.h - the algorithm "table": the rate follows a table of numbers by the round trip.
#ifndef NIC_CC_TABLE_H
#define NIC_CC_TABLE_H

#include "nic/congestion.h"

SIM_C_BEGIN

#define NIC_CC_TABLE_ROWS 8u

// Attributes "nic.table.".
typedef struct nic_cc_table_config {
    uint32_t factors[NIC_CC_TABLE_ROWS]; // thousandths
    uint32_t adds[NIC_CC_TABLE_ROWS];    // thousandths of the line rate
    sim_ratio_t mark_cut;
    sim_ratio_t window; // in bandwidth-delay products of the rate
    uint64_t min_rate_bps;
} nic_cc_table_config_t;

extern const nic_cc_ops_t nic_cc_table;

SIM_C_END

#endif // NIC_CC_TABLE_H
