// SPDX-License-Identifier: Apache-2.0
// results/warning_kinds.h - the warnings of many runs, each kind once.
#ifndef RESULTS_WARNING_KINDS_H
#define RESULTS_WARNING_KINDS_H

#include "kernel/base.h"

#include <jansson.h>

SIM_C_BEGIN

typedef struct results_warning_kind {
    char *kind;
    char *text;   // of the first run that has it
    size_t first; // number of that run
    size_t runs;  // how many runs have it
} results_warning_kind_t;

// Begins as {0}.
typedef struct results_warning_kinds {
    results_warning_kind_t *items; // owned
    size_t count;
    size_t capacity;
} results_warning_kinds_t;

// Adds the warnings of a run's summary. Runs are added in the order of their numbers.
void results_warning_kinds_add(results_warning_kinds_t *kinds, size_t run, const json_t *summary);
void results_warning_kinds_fini(results_warning_kinds_t *kinds);

SIM_C_END

#endif // RESULTS_WARNING_KINDS_H
