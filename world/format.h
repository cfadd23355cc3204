// SPDX-License-Identifier: Apache-2.0
// world/format.h - formats quantities for people: four digits and the unit that fits.
#ifndef WORLD_FORMAT_H
#define WORLD_FORMAT_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct world_text {
    char text[48];
} world_text_t;

// Formats a quantity ("12.34 us") and returns buffer->text, as the functions below do.
const char *world_format_time(world_text_t *buffer, sim_time_t time_ps);
const char *world_format_bytes(world_text_t *buffer, uint64_t bytes);
// Formats bytes that may be more than a uint64_t holds, such as estimates.
const char *world_format_size(world_text_t *buffer, double bytes);
const char *world_format_rate(world_text_t *buffer, uint64_t rate_bps);
// Formats a count: "12345", "1.234 M".
const char *world_format_count(world_text_t *buffer, double count);
// Formats an estimated number: whole, without an exponent.
const char *world_format_number(world_text_t *buffer, double number);
const char *world_format_percent(world_text_t *buffer, double share); // 0.5 -> "50.0 %"
// Formats a mask of classes as a list in YAML has them: "1, 3".
const char *world_format_classes(world_text_t *buffer, unsigned mask);

SIM_C_END

#endif // WORLD_FORMAT_H
