// SPDX-License-Identifier: Apache-2.0
// world/scenario/format.c - quantities for people.
#include "world/format.h"
#include "kernel/digits.h"

#include <math.h>
#include <stdio.h>

static int digits_after_point(double value)
{
    return value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
}

// Formats value in the largest unit in which it is at least 1; units[0] is the smallest.
static const char *scale(world_text_t *buffer, double value, double step, const char *const *units,
                         size_t count)
{
    size_t unit = 0;
    while (unit + 1 < count && value >= step) {
        value /= step;
        unit++;
    }
    const bool exact = unit == 0;
    snprintf(buffer->text, sizeof(buffer->text), "%.*f%s%s", exact ? 0 : digits_after_point(value),
             value, units[unit][0] != '\0' ? " " : "", units[unit]);
    return buffer->text;
}

const char *world_format_time(world_text_t *buffer, sim_time_t time_ps)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    if (time_ps == SIM_TIME_NEVER) {
        snprintf(buffer->text, sizeof(buffer->text), "never");
        return buffer->text;
    }
    return scale(buffer, (double)time_ps, 1000, units, SIM_COUNT_OF(units));
}

const char *world_format_bytes(world_text_t *buffer, uint64_t bytes)
{
    return world_format_size(buffer, (double)bytes);
}

const char *world_format_size(world_text_t *buffer, double bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes >= 1e21) {
        (void)snprintf(buffer->text, sizeof(buffer->text), "%.3g B", bytes);
        return buffer->text;
    }
    return scale(buffer, bytes, 1000, units, SIM_COUNT_OF(units));
}

const char *world_format_rate(world_text_t *buffer, uint64_t rate_bps)
{
    static const char *const units[] = {"bps", "Kbps", "Mbps", "Gbps", "Tbps"};
    return scale(buffer, (double)rate_bps, 1000, units, SIM_COUNT_OF(units));
}

const char *world_format_count(world_text_t *buffer, double count)
{
    static const char *const units[] = {"", "M", "G"};
    if (count < 100000) {
        snprintf(buffer->text, sizeof(buffer->text), "%.0f", count);
        return buffer->text;
    }
    const double millions = count / 1e6;
    if (millions < 1000) {
        snprintf(buffer->text, sizeof(buffer->text), "%.*f %s", digits_after_point(millions),
                 millions, units[1]);
    } else {
        snprintf(buffer->text, sizeof(buffer->text), "%.2f %s", millions / 1000, units[2]);
    }
    return buffer->text;
}

const char *world_format_number(world_text_t *buffer, double number)
{
    sim_digits_t digits;
    snprintf(buffer->text, sizeof(buffer->text), "%s", sim_digits(&digits, round(number), 18));
    return buffer->text;
}

const char *world_format_percent(world_text_t *buffer, double share)
{
    if (!isfinite(share)) {
        snprintf(buffer->text, sizeof(buffer->text), "-");
        return buffer->text;
    }
    snprintf(buffer->text, sizeof(buffer->text), "%.1f %%", share * 100);
    return buffer->text;
}

const char *world_format_classes(world_text_t *buffer, unsigned mask)
{
    size_t used = 0;
    buffer->text[0] = '\0';
    for (unsigned class = 0; mask >> class != 0; class ++) {
        if ((mask >> class & 1u) != 0) {
            used += (size_t)snprintf(buffer->text + used, sizeof(buffer->text) - used, "%s%u",
                                     used > 0 ? ", " : "", class);
        }
    }
    return buffer->text;
}
