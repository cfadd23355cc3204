// SPDX-License-Identifier: Apache-2.0
// nic/compare_internal.h - the smaller of two counts and the later of two times.
#ifndef NIC_COMPARE_INTERNAL_H
#define NIC_COMPARE_INTERNAL_H

#include "kernel/base.h"

static inline uint32_t nic__min(uint32_t a, uint32_t b)
{
    return SIM_MIN(a, b);
}

static inline sim_time_t nic__later(sim_time_t a_ps, sim_time_t b_ps)
{
    return SIM_MAX(a_ps, b_ps);
}

#endif // NIC_COMPARE_INTERNAL_H
