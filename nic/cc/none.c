// SPDX-License-Identifier: Apache-2.0
// The algorithm "none": every operation is absent, so rate and window stay what the QP was given.
// Model page: docs/models/cc-none.md.

#include "nic/cc/none.h"

const nic_cc_ops_t nic_cc_none = {
    .name = "none",
    .state_bytes = sizeof(nic_cc_t),
};
