// SPDX-License-Identifier: Apache-2.0
// results/run/hops.h - hops.csv: a row for each frame on each link, for pictures of small runs.
//
// Written only with outputs.hops-max: a run of a second has millions of such rows.
#ifndef RESULTS_RUN_HOPS_H
#define RESULTS_RUN_HOPS_H

#include "results/results.h"

SIM_C_BEGIN

typedef struct results_hops results_hops_t;

// Opens hops.csv in folder and listens to all ports of the world, before its run. *hops is NULL if
// the scenario asks for no rows.
SIM_MUST_CHECK sim_err_t results_hops_create(const world_t *world, const char *folder,
                                             results_hops_t **hops, world_error_t *error);

// Closes the file after the run, notes in results (NULL: nowhere) what it leaves out, and frees
// hops (NULL: does nothing) also on failure.
SIM_MUST_CHECK sim_err_t results_hops_close(results_hops_t *hops, results_t *results,
                                            world_error_t *error);

SIM_C_END

#endif // RESULTS_RUN_HOPS_H
