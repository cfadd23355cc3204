// SPDX-License-Identifier: Apache-2.0
// cli/tables.h - the CSV files of a run: one table of columns each, for writing and for the docs.
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "cli/file.h"
#include "cli/results.h"

#include <stdio.h>

typedef struct cli_column {
    const char *name; // with "%u" for the class where per_class
    const char *unit; // "" for names and plain numbers
    const char *help;
    bool per_class; // stands for eight columns
    void (*put)(cli_file_t *file, const void *row, unsigned priority);
} cli_column_t;

typedef struct cli_table {
    const char *file_name;
    const char *help; // what a row is, and their order
    const cli_column_t *columns;
    size_t count;
} cli_table_t;

// Rows of the tables.
typedef struct cli_flow_row {
    const cli_world_t *world;
    const app_flow_result_t *flow;
} cli_flow_row_t;

typedef struct cli_port_row {
    const cli_world_t *world;
    const net_port_t *port;
    sim_time_t end_ps;
} cli_port_row_t;

typedef struct cli_event_row {
    const cli_world_t *world;
    sim_time_t time_ps;
    const net_port_t *port;
    net_trace_point_t point;
    uint32_t detail;
    bool has_packet;
    uint32_t source;
    uint32_t destination;
    uint16_t frame_bytes;
    uint8_t priority;
    const cli_pause_root_t *root; // of a pause; NULL: unknown
} cli_event_row_t;

typedef struct cli_series_row {
    sim_time_t time_ps;
    const char *path;
    uint64_t value;
} cli_series_row_t;

extern const cli_table_t cli_flow_table;   // flows.csv
extern const cli_table_t cli_port_table;   // ports.csv
extern const cli_table_t cli_event_table;  // events.csv
extern const cli_table_t cli_series_table; // series.csv

// Opens FOLDER/<the table's file> and writes its header; the caller closes it.
SIM_MUST_CHECK sim_err_t cli_table_open(const cli_table_t *table,
                                        const char *folder,
                                        cli_file_t **file,
                                        cli_error_t *error);
void cli_table_put_header(const cli_table_t *table, cli_file_t *file);
void cli_table_put_row(const cli_table_t *table, cli_file_t *file, const void *row);

// Writes FOLDER/flows.csv and FOLDER/ports.csv.
SIM_MUST_CHECK sim_err_t cli_write_flows(const cli_world_t *world,
                                         const char *folder,
                                         cli_error_t *error);
SIM_MUST_CHECK sim_err_t cli_write_ports(const cli_world_t *world,
                                         const char *folder,
                                         cli_error_t *error);

// The reference page docs/formats/outputs.md.
void cli_outputs_markdown(FILE *out);

#endif // CLI_TABLES_H
