// SPDX-License-Identifier: Apache-2.0
// tests/algorithms.h - all congestion controls that scenarios can choose: the library's, then those
// of compat/.
#ifndef TESTS_ALGORITHMS_H
#define TESTS_ALGORITHMS_H

#include "compat/hpcc/rules.h"

static inline const nic_cc_ops_t *algorithm_or_null(size_t index)
{
    for (size_t i = 0; nic_cc_all[i] != NULL; i++) {
        if (index-- == 0) {
            return nic_cc_all[i];
        }
    }
    for (size_t i = 0; i < compat_hpcc_nic_row_count; i++) {
        if (compat_hpcc_nic_rows[i].kind == NIC_EXTRA_CC && index-- == 0) {
            return compat_hpcc_nic_rows[i].ops;
        }
    }
    return NULL;
}

static inline int algorithm_count(void)
{
    int count = 0;
    while (algorithm_or_null((size_t)count) != NULL) {
        count++;
    }
    return count;
}

static inline const nic_cc_ops_t *algorithm_at(size_t index)
{
    const nic_cc_ops_t *const ops = algorithm_or_null(index);
    SIM_CHECK(ops != NULL);
    return ops;
}

#endif // TESTS_ALGORITHMS_H
