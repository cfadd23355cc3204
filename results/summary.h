// SPDX-License-Identifier: Apache-2.0
// results/summary.h - the results of a run as JSON (summary.json) and as text for a person.
#ifndef RESULTS_SUMMARY_H
#define RESULTS_SUMMARY_H

#include "results/results.h"

#include <jansson.h>
#include <stdio.h>

SIM_C_BEGIN

// A field of summary.json, by dotted path. One table writes the file and its documentation.
typedef struct results_summary_field {
    const char *path;
    const char *unit;
    const char *help;
    json_t *(*get)(const world_t *world, results_t *results); // a new reference
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
