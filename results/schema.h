// SPDX-License-Identifier: Apache-2.0
// results/schema.h - what parameters, fields and columns there are, as JSON: schema.json of a
// result folder, `rocesim schema` and `rocesim params --json`.
#ifndef RESULTS_SCHEMA_H
#define RESULTS_SCHEMA_H

#include "world/registry.h"

#include <jansson.h>

SIM_C_BEGIN

// A list of all attributes of the registry's scenarios; the caller's reference.
json_t *results_parameters_json(const world_registry_t *registry);
// All: parameters, tables, metrics of series, and a JSON Schema of summary.json.
json_t *results_schema_json(const world_registry_t *registry);
// The unit of a metric of series.csv by its name ("queue_bytes", "queue_bytes[3]"): "" if it is a
// plain number, or an algorithm's own. Lives as long as the program.
const char *results_metric_unit(const char *metric);
// "a|b" as a list; the caller's reference.
json_t *results_words_json(const char *words);
// The parts that the attribute of this path and default chooses from, as a list, the caller's
// reference; NULL if it names no part.
json_t *results_names_json(const world_registry_t *registry,
                           const char *path,
                           const char *default_text);
// A JSON Schema of the scenario files that the registry can load.
json_t *results_scenario_schema_json(const world_registry_t *registry);
// Text of results_schema_json, on one line; free with sim_free.
char *results_schema_text(const world_registry_t *registry);

SIM_C_END

#endif // RESULTS_SCHEMA_H
