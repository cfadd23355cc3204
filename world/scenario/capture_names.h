// SPDX-License-Identifier: Apache-2.0
// world/scenario/capture_names.h - the names of capture files.
#ifndef WORLD_SCENARIO_CAPTURE_NAMES_H
#define WORLD_SCENARIO_CAPTURE_NAMES_H

#include "kernel/base.h"

#define WORLD__CAPTURE_NAME_MAX 200u
// Returns the name of a capture without one: "leaf0-host5.pcap.gz" for leaf0->host5. Free it with
// sim_free.
char *world__capture_default_name(const char *ports);
// Returns whether a name has braces; whether it has no other ones than {port} and {node}.
bool world__capture_is_pattern(const char *file);
bool world__capture_pattern_ok(const char *file);

#endif // WORLD_SCENARIO_CAPTURE_NAMES_H
