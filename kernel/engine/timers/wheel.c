// SPDX-License-Identifier: Apache-2.0
// kernel/engine/timers/wheel.c - allocates the wheel of a node's timers that are due soon.
#include "kernel/engine/timers/wheel.h"

#define FIRST_ENTRIES 64u

sim_wheel_t *sim__wheel_create(void)
{
    sim_wheel_t *const wheel = sim_alloc_lines(sizeof(*wheel));
    sim__wheel_grow(wheel);
    return wheel;
}

void sim__wheel_destroy(sim_wheel_t *wheel)
{
    if (wheel != NULL) {
        sim_free(wheel->entries);
        sim_free(wheel);
    }
}

void sim__wheel_grow(sim_wheel_t *wheel)
{
    const uint32_t old = wheel->entry_count == 0 ? 1 : wheel->entry_count;
    const uint32_t count = old == 1 ? FIRST_ENTRIES : old * 2;
    SIM_CHECK(wheel->free == 0 && count < SIM_TIMER_IN_WHEEL);
    wheel->entries = sim_realloc_array(wheel->entries, count, sizeof(*wheel->entries));
    for (uint32_t i = old; i < count; i++) {
        wheel->entries[i].next = i + 1 < count ? i + 1 : 0;
    }
    wheel->entries[0] = (sim_wheel_entry_t){.time_ps = SIM_TIME_NEVER};
    wheel->free = old;
    wheel->entry_count = count;
}
