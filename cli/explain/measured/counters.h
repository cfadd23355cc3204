// SPDX-License-Identifier: Apache-2.0
// cli/explain/measured/counters.h - explains the pauses of a real network by its counters.
#ifndef CLI_EXPLAIN_MEASURED_COUNTERS_H
#define CLI_EXPLAIN_MEASURED_COUNTERS_H

#include "world/error.h"

#include <stdbool.h>

// Explains counters of ports that the file of a topology names: one file of samples over time, or
// several snapshots, each a file or a folder.
SIM_MUST_CHECK sim_err_t cli__explain_counters(const char *const *counters, size_t count,
                                               const char *topology, bool json,
                                               world_error_t *error);

#endif // CLI_EXPLAIN_MEASURED_COUNTERS_H
