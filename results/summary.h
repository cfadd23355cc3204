// SPDX-License-Identifier: Apache-2.0
// results/summary.h - the results of a run as JSON (summary.json) and as text for a person.
#ifndef RESULTS_SUMMARY_H
#define RESULTS_SUMMARY_H

#include "results/results.h"

#include <jansson.h>
#include <stdio.h>

SIM_C_BEGIN

// A field of summary.json, by dotted path. One table writes the file and its documentation.
// What fields are read from.
typedef struct results_view {
    const world_t *world;
    results_t *results;
} results_view_t;

// clang-format off
typedef enum results_field_kind {  // at offset
    RESULTS_FIELD_WHOLE,           // uint64_t of results_t
    RESULTS_FIELD_REAL,            // double of results_t
    RESULTS_FIELD_SCENARIO_WHOLE,  // uint64_t of world_scenario_t
    RESULTS_FIELD_SCENARIO_TEXT,   // char * of world_scenario_t
    RESULTS_FIELD_TEXT,           // none: text itself
    RESULTS_FIELD_MADE,            // worked out by make
} results_field_kind_t;
// clang-format on

// path, help as in docs/formats/outputs.md; a dot in path is an object
typedef struct results_summary_field {
    const char *path;
    const char *unit;
    const char *help;
    results_field_kind_t kind;
    size_t offset;
    const char *text;
    json_t *(*make)(const results_view_t *view); // a new reference
} results_summary_field_t;
extern const results_summary_field_t results_summary_fields[]; // ends with a NULL path

// The whole object; give back with json_decref. Sorts the sample sets of results.
json_t *results_summary_json(const world_t *world, results_t *results);

// Its text, ending in a newline; free with sim_free.
char *results_summary_text(const json_t *summary);

// What the run did, for a terminal. folder: where files are; NULL: none were written.
void results_report(const world_t *world, results_t *results, const char *folder, FILE *out);

SIM_C_END

#endif // RESULTS_SUMMARY_H
