// SPDX-License-Identifier: Apache-2.0
// results/summary.h - the results of a run as JSON (summary.json) and as text for a person.
#ifndef RESULTS_SUMMARY_H
#define RESULTS_SUMMARY_H

#include "results/results.h"

#include <jansson.h>
#include <stdio.h>

SIM_C_BEGIN

// The run that the fields of summary.json are read from.
typedef struct results_view {
    const world_t *world;
    results_t *results;
    const json_t *before; // the fields that stand before the one that is made
} results_view_t;

// clang-format off
typedef enum results_field_kind {  // at offset
    RESULTS_FIELD_WHOLE,           // uint64_t of results_t
    RESULTS_FIELD_REAL,            // double of results_t
    RESULTS_FIELD_SCENARIO_WHOLE,  // uint64_t of world_scenario_t
    RESULTS_FIELD_SCENARIO_TEXT,   // char * of world_scenario_t
    RESULTS_FIELD_TEXT,            // none: text itself
    RESULTS_FIELD_MADE,            // none: make works it out
    RESULTS_FIELD_INSIDE,          // none: a number inside the object that a MADE field writes
    RESULTS_FIELD_TOTALS,          // none: stands for the totals of the group that text names
} results_field_kind_t;

typedef enum results_section {     // of the comparison of runs, in their order there
    RESULTS_SECTION_NONE,          // it is not compared
    RESULTS_SECTION_HEAD,
    RESULTS_SECTION_FLOWS,
    RESULTS_SECTION_RATES,
    RESULTS_SECTION_TIMES,
    RESULTS_SECTION_NETWORK,
} results_section_t;
// clang-format on

// A field of summary.json. The rows write the file and its documentation; `rocesim compare` and
// sweeps that name no columns go by them, too. A dot in path is an object.
typedef struct results_summary_field {
    const char *path;
    const char *unit;
    const char *help;
    results_field_kind_t kind;
    size_t offset;
    const char *text;
    json_t *(*make)(const results_view_t *view); // a new reference
    results_section_t section;
    const char *label; // of its row in a comparison; NULL: only in the comparison's CSV
    const char *line;  // on the terminal: head of the line in which its words stand; NULL: none
    const char *words; // behind the number
    bool swept;        // a column of sweeps that name no columns
    bool rare;         // left out on the terminal and of comparisons while all its numbers are 0
} results_summary_field_t;

// Returns all fields in the order of the file, the totals of ports and NICs (sim_total_t) among
// them. Free the array with sim_free.
results_summary_field_t *results_summary_fields(size_t *count);

// Returns the whole object of summary.json, to be given back with json_decref. Sorts the sample
// sets of results.
json_t *results_summary_json(const world_t *world, results_t *results);

// Returns the text of the summary, ending in a newline. Free it with sim_free.
char *results_summary_text(const json_t *summary);

// Prints what the run did, for a terminal. folder: where its files are; NULL: none were written.
void results_report(const world_t *world, results_t *results, const char *folder, FILE *out);

SIM_C_END

#endif // RESULTS_SUMMARY_H
