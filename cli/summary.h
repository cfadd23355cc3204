// SPDX-License-Identifier: Apache-2.0
// cli/summary.h - the results of a run as JSON (summary.json) and as text for a person.
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "cli/results.h"

#include <jansson.h>
#include <stdio.h>

// A field of summary.json, by dotted path. One table writes the file and its documentation.
typedef struct cli_summary_field {
    const char *path;
    const char *unit;
    const char *help;
    json_t *(*get)(const cli_world_t *world, cli_results_t *results); // a new reference
} cli_summary_field_t;
extern const cli_summary_field_t cli_summary_fields[]; // ends with a NULL path

// The whole object; give back with json_decref. Sorts the sample sets of results.
json_t *cli_summary_json(const cli_world_t *world, cli_results_t *results);

// Its text, ending in a newline; free with sim_free.
char *cli_summary_text(const json_t *summary);

// What the run did, for a terminal. folder: where files are; NULL: none were written.
void cli_report(const cli_world_t *world, cli_results_t *results, const char *folder, FILE *out);

#endif // CLI_SUMMARY_H
