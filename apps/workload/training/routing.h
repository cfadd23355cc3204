// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/routing.h - how many tokens of a rank go to which experts.
#ifndef APPS_WORKLOAD_TRAINING_ROUTING_H
#define APPS_WORKLOAD_TRAINING_ROUTING_H

#include "apps/workload/training/iteration.h"

// Weights of a routing: row s, column e is the share of source rank s that goes to expert e.
typedef struct app__routing {
    double *weights;  // rows x columns
    uint32_t rows;    // 1: all sources are alike; or the ranks of an expert group
    uint32_t columns; // experts, or the ranks of an expert group
} app__routing_t;

// Reads a matrix: a line for each row, numbers separated by blanks or commas, comments from # on.
SIM_MUST_CHECK sim_err_t app__routing_read(const char *name, const char *text, size_t size_bytes,
                                           app__routing_t *routing, sim_message_t *message);
// Makes weights that fall as 1 / (expert + 1)^skew.
void app__routing_zipf(uint32_t experts, sim_ratio_t skew, app__routing_t *routing);
void app__routing_fini(app__routing_t *routing);

// Gives a plan its matrices and loads, which `schedule` owns afterwards through
// app__routing_hand_over. permute: each layer has other hot experts, drawn by the plan's seed.
// SIM_ERR_INVALID: the matrix has other sizes than the plan.
SIM_MUST_CHECK sim_err_t app__routing_apply(const app__routing_t *routing, bool permute,
                                            app__iteration_t *plan, sim_message_t *message);
// Frees the plan's matrices and loads after the schedule was made; the schedule keeps matrices.
void app__routing_hand_over(app__iteration_t *plan, app__schedule_t *schedule);

#endif // APPS_WORKLOAD_TRAINING_ROUTING_H
