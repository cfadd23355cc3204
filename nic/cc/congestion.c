// SPDX-License-Identifier: Apache-2.0
// nic/cc/congestion.c - the congestion controls there are.
#include "nic/congestion.h"

#include "nic/cc/dcqcn.h"
#include "nic/cc/dctcp.h"
#include "nic/cc/hpcc.h"
#include "nic/cc/hpcc_pint.h"
#include "nic/cc/none.h"
#include "nic/cc/swift.h"
#include "nic/cc/table.h"
#include "nic/cc/timely.h"

const nic_cc_ops_t *const nic_cc_all[] = {
    &nic_cc_none,  &nic_cc_dcqcn, &nic_cc_dctcp,  &nic_cc_hpcc,           &nic_cc_hpcc_pint,
    &nic_cc_swift, &nic_cc_table, &nic_cc_timely, &nic_cc_timely_patched, NULL,
};
