// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/window.h - how often something happened within the last while: a counter in
// NIC_WINDOW_PARTS parts of a window; the oldest one is forgotten as time goes on
// (docs/models/tiered-cache.md).
//
// Exact to a part: the result lies between the number in the last 3/4 of the window and that in the
// whole window.
#ifndef NIC_STORE_TIERED_WINDOW_H
#define NIC_STORE_TIERED_WINDOW_H

#include "kernel/base.h"

SIM_C_BEGIN

#define NIC_WINDOW_PARTS 4u

typedef struct nic_window {
    uint64_t part; // number of the part that counts[part % PARTS] is of
    uint32_t counts[NIC_WINDOW_PARTS];
} nic_window_t;

static inline void nic_window_move(nic_window_t *window, uint64_t part)
{
    if (part - window->part >= NIC_WINDOW_PARTS) {
        for (uint32_t i = 0; i < NIC_WINDOW_PARTS; i++) {
            window->counts[i] = 0;
        }
    } else {
        for (uint64_t p = window->part + 1; p <= part; p++) {
            window->counts[p % NIC_WINDOW_PARTS] = 0;
        }
    }
    window->part = part;
}

// Counts an event at now_ps. part_ps is the window divided by NIC_WINDOW_PARTS. Time must not go
// back.
static inline void nic_window_add(nic_window_t *window, sim_time_t now_ps, sim_time_t part_ps,
                                  uint32_t weight)
{
    nic_window_move(window, now_ps / part_ps);
    window->counts[window->part % NIC_WINDOW_PARTS] += weight;
}

static inline uint64_t nic_window_count(nic_window_t *window, sim_time_t now_ps, sim_time_t part_ps)
{
    nic_window_move(window, now_ps / part_ps);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < NIC_WINDOW_PARTS; i++) {
        sum += window->counts[i];
    }
    return sum;
}

SIM_C_END

#endif // NIC_STORE_TIERED_WINDOW_H
