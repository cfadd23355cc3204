// SPDX-License-Identifier: Apache-2.0
// results/schema.h - the parameters, fields and columns as JSON: schema.json of a result folder,
// `rocesim schema` and `rocesim params --json`.
#ifndef RESULTS_SCHEMA_H
#define RESULTS_SCHEMA_H

#include "world/registry.h"

#include <jansson.h>

SIM_C_BEGIN

// Returns a list of all attributes of the registry's scenarios; the reference is the caller's.
json_t *results_parameters_json(const world_registry_t *registry);
// Returns the whole schema: parameters, tables, metrics of series, and a JSON Schema of
// summary.json.
json_t *results_schema_json(const world_registry_t *registry);
// Returns the unit of a metric of series.csv by its name ("queue_bytes", "queue_bytes[3]"); "" for
// a plain number or a metric of an algorithm. The text lives as long as the program.
const char *results_metric_unit(const char *metric);
// Returns "a|b" as a list; the reference is the caller's.
json_t *results_words_json(const char *words);
// Returns the parts that the attribute of this path and default chooses from, as a list; NULL if it
// names no part. The reference is the caller's.
json_t *results_names_json(const world_registry_t *registry, const char *path,
                           const char *default_text);
// Returns a JSON Schema of the scenario files that the registry can load.
json_t *results_scenario_schema_json(const world_registry_t *registry);
// Returns the text of results_schema_json, on one line. Free it with sim_free.
char *results_schema_text(const world_registry_t *registry);

SIM_C_END

#endif // RESULTS_SCHEMA_H
