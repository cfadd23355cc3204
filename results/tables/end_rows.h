// SPDX-License-Identifier: Apache-2.0
// results/tables/end_rows.h - the tables that are written after a run: flows.csv, apps.csv,
// ports.csv, nics.csv.
#ifndef RESULTS_TABLES_END_ROWS_H
#define RESULTS_TABLES_END_ROWS_H

#include "results/results.h"
#include "results/tables/tables.h"

typedef struct results_flow_row {
    const world_t *world;
    const app_flow_result_t *flow;
    const results_reordering_t *reordering; // NULL: not observed
} results_flow_row_t;

typedef struct results_app_row {
    size_t app; // its number
    const char *kind;
    const char *list;
    char item[24]; // of that list; "": it is in none
    const char *field;
    const char *value;
    const char *unit;
} results_app_row_t;

typedef struct results_port_row {
    const world_t *world;
    const net_port_t *port;
    sim_time_t end_ps;
    const results_span_t *span;
    const struct results_counter_columns *counters; // of the table
    const char *name;
} results_port_row_t;

typedef struct results_nic_row {
    const world_t *world;
    uint32_t interface;
    const nic_counters_t *counters;
} results_nic_row_t;

extern const results_table_t results_flow_table; // flows.csv
extern const results_table_t results_app_table;  // apps.csv
extern const results_table_t results_port_table; // ports.csv
extern const results_table_t results_nic_table;  // nics.csv

// Writes FOLDER/flows.csv, FOLDER/apps.csv, FOLDER/ports.csv and FOLDER/nics.csv.
SIM_MUST_CHECK sim_err_t results_write_flows(const world_t *world, const results_t *results,
                                             const char *folder, world_error_t *error);
SIM_MUST_CHECK sim_err_t results_write_apps(const world_t *world, const char *folder,
                                            world_error_t *error);
SIM_MUST_CHECK sim_err_t results_write_ports(const world_t *world, const results_t *results,
                                             const char *folder, world_error_t *error);
SIM_MUST_CHECK sim_err_t results_write_nics(const world_t *world, const char *folder,
                                            world_error_t *error);

#endif // RESULTS_TABLES_END_ROWS_H
