// SPDX-License-Identifier: Apache-2.0
// cli/format.h - quantities for people: four digits and the unit that fits.
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include "kernel/base.h"

typedef struct cli_text {
    char text[48];
} cli_text_t;

// "12.34 us"; each returns buffer->text.
const char *cli_format_time(cli_text_t *buffer, sim_time_t time_ps);
const char *cli_format_bytes(cli_text_t *buffer, uint64_t bytes);
const char *cli_format_rate(cli_text_t *buffer, uint64_t rate_bps);
// "12345", "1.234 M"
const char *cli_format_count(cli_text_t *buffer, double count);
const char *cli_format_percent(cli_text_t *buffer, double share); // 0.5 -> "50.0 %"

#endif // CLI_FORMAT_H
