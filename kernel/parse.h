// SPDX-License-Identifier: Apache-2.0
// kernel/parse.h - parses scalars that are in no table of attributes.
#ifndef KERNEL_PARSE_H
#define KERNEL_PARSE_H

#include "kernel/random.h"

SIM_C_BEGIN

// Parse scalars that are in no table. They are exact: nothing is rounded, and a value finer than
// the unit (0.5 bytes) is an error. On error the result is unchanged.
SIM_MUST_CHECK sim_err_t sim_parse_bytes(const char *text, uint64_t *bytes, sim_message_t *message);
SIM_MUST_CHECK sim_err_t sim_parse_time(const char *text, sim_time_t *time_ps,
                                        sim_message_t *message);
SIM_MUST_CHECK sim_err_t sim_parse_rate(const char *text, uint64_t *rate_bps,
                                        sim_message_t *message);
SIM_MUST_CHECK sim_err_t sim_parse_count(const char *text, uint64_t *count, sim_message_t *message);
SIM_MUST_CHECK sim_err_t sim_parse_ratio(const char *text, sim_ratio_t *ratio,
                                         sim_message_t *message);

SIM_C_END

#endif // KERNEL_PARSE_H
