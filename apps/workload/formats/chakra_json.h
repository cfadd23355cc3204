// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/chakra_json.h - traces of Chakra in JSON.
#ifndef APPS_WORKLOAD_FORMATS_CHAKRA_JSON_H
#define APPS_WORKLOAD_FORMATS_CHAKRA_JSON_H

#include "apps/workload/formats/chakra.h"

// Returns whether a text is a trace in JSON.
bool app__chakra_is_json(const char *text, size_t size_bytes);
// Reads the nodes of a trace in JSON; their dependencies are ids. An error names the place.
SIM_MUST_CHECK sim_err_t app__chakra_read_json(const char *file, const char *bytes,
                                               size_t size_bytes, app__chakra_trace_t *trace,
                                               sim_message_t *message);

#endif // APPS_WORKLOAD_FORMATS_CHAKRA_JSON_H
