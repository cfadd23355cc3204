// SPDX-License-Identifier: Apache-2.0
// nic/cc/none.h - no congestion control: a QP sends at line rate, held back by its window and by
// pause alone.
#ifndef NIC_CC_NONE_H
#define NIC_CC_NONE_H

#include "nic/congestion.h"

SIM_C_BEGIN

extern const nic_cc_ops_t nic_cc_none;

SIM_C_END

#endif // NIC_CC_NONE_H
