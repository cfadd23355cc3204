// SPDX-License-Identifier: Apache-2.0
// results/tables/operations.h - operations.csv: what the ranks of workloads did, and when.
#ifndef RESULTS_TABLES_OPERATIONS_H
#define RESULTS_TABLES_OPERATIONS_H

#include "results/tables/tables.h"
#include "world/world.h"

typedef struct results_operation_row {
    const world_t *world;
    size_t app; // its number
    const app_operation_t *operation;
} results_operation_row_t;

extern const results_table_t results_operation_table; // operations.csv

// Writes FOLDER/operations.csv.
SIM_MUST_CHECK sim_err_t results_write_operations(const world_t *world, const char *folder,
                                                  world_error_t *error);
// Returns how many operations have started beyond those that operations.csv holds; 0 if the run
// writes none.
uint64_t results_operations_left_out(const world_t *world);

#endif // RESULTS_TABLES_OPERATIONS_H
