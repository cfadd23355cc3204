// SPDX-License-Identifier: Apache-2.0
// apps/serving/steps/measured.h - measured times of steps, instead of the formula.
//
// A table has a time for each of several numbers of computed tokens and each of several numbers of
// tokens whose KV data is read. Between them times are linear in both, and beyond them, too,
// but never below the least of the four nearest ones.
#ifndef APPS_SERVING_STEPS_MEASURED_H
#define APPS_SERVING_STEPS_MEASURED_H

#include "kernel/base.h"

typedef struct app__step_times {
    double *tokens; // increasing
    size_t token_count;
    double *contexts; // increasing
    size_t context_count;
    double *us; // by tokens, then context
} app__step_times_t;

// Reads a table: CSV text, whose first line names the columns tokens, context and us, in any order.
// Lines stand in any order. Errors begin with FILE:LINE:COLUMN; after one nothing is to be freed.
SIM_MUST_CHECK sim_err_t app__step_times_read(const char *name, const char *text, size_t size,
                                              app__step_times_t *times, sim_message_t *message);
void app__step_times_fini(app__step_times_t *times);

// Returns the time of a step in us, at least 0.
double app__step_times_us(const app__step_times_t *times, uint64_t tokens, uint64_t context);

#endif // APPS_SERVING_STEPS_MEASURED_H
