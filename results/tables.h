// SPDX-License-Identifier: Apache-2.0
// results/tables.h - the CSV files of a run. Each has one table of columns, from which it is
// written and documented.
#ifndef RESULTS_TABLES_H
#define RESULTS_TABLES_H

#include "results/file.h"
#include "results/results.h"

#include <stdio.h>

SIM_C_BEGIN

// clang-format off
typedef enum results_column_kind { // of the row's object (results_table_t.object) the field at offset
    RESULTS_COLUMN_WHOLE,          // an unsigned integer of 1, 2, 4 or 8 bytes
    RESULTS_COLUMN_TIME,           // sim_time_t, put as nanoseconds
    RESULTS_COLUMN_TEXT,           // const char *
    RESULTS_COLUMN_PORT,           // const net_port_t *: its name
    RESULTS_COLUMN_COUNTERS,       // none: a column for each counter of a group (net/port.h)
    RESULTS_COLUMN_MADE,           // none: put works it out
} results_column_kind_t;
// clang-format on

typedef struct results_column {
    const char *name; // with "%u" for the class where per_class; COUNTERS: the group
    const char *unit; // "" for names and plain numbers
    const char *help;
    results_column_kind_t kind;
    bool per_class; // stands for eight columns
    size_t offset;
    size_t size;
    size_t stride; // per_class: the next class's is so many bytes further on
    bool apart;    // the field is in what the object has a pointer to, at `pointer`
    size_t pointer;
    sim_time_t none_ps; // TIME that stands for none: the column is empty then
    void (*put)(results_file_t *file, const void *row);
} results_column_t;

typedef struct results_table {
    const char *file_name;
    const char *help; // what a row is, and their order
    const results_column_t *columns;
    size_t count;
    const void *(*object)(const void *row); // that fields are of; NULL: the row itself
    bool (*classes_idle)(const void *row);  // all its columns by class are 0; NULL: never asked
} results_table_t;

// A column as the file has it. A results_column_t that is per_class or COUNTERS stands for several.
typedef struct results_file_column {
    const results_column_t *column;
    const net_port_metric_t *counter; // COUNTERS: which one; else NULL
    unsigned priority;                // per_class: which class
    const char *name;                 // with "%u" for the class where per_class
    const char *unit;
    const char *help;
} results_file_column_t;
// Steps to the next column of the table's file; from all zeros, to the first. False: none is left.
bool results_table_next(const results_table_t *table, results_file_column_t *at);
// Returns the column's name with `priority` in the place of "%u". Free it with sim_free.
char *results_file_column_name(const results_file_column_t *at, const char *priority);

// Rows of the tables.
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

typedef struct results_operation_row {
    const world_t *world;
    size_t app; // its number
    const app_operation_t *operation;
} results_operation_row_t;

typedef struct results_port_row {
    const world_t *world;
    const net_port_t *port;
    sim_time_t end_ps;
    const results_span_t *span;
    const struct results_counter_columns *counters; // of the table
    const char *name;
} results_port_row_t;

typedef struct results_event_row {
    const world_t *world;
    sim_time_t time_ps;
    const char *cache;      // what a tiered cache did; NULL: it is of a port
    const world_nic_t *nic; // then: whose
    uint32_t qp;            // then: number of the queue pair
    const net_port_t *port;
    net_trace_point_t point;
    uint32_t detail;
    bool has_packet;
    uint32_t source;
    uint32_t destination;
    uint16_t frame_bytes;
    uint8_t priority;
    const results_pause_root_t *root; // of a pause; NULL: unknown
} results_event_row_t;

typedef struct results_series_row {
    sim_time_t time_ps;
    const char *path;
    uint64_t value;
} results_series_row_t;

typedef struct results_hop_row {
    const world_t *world;
    sim_time_t time_ps;
    sim_time_t arrive_ps;
    const net_port_t *port;
    uint32_t source;      // interface id; NET_INTERFACES_MAX: none
    uint32_t destination; //
    uint32_t qp;
    uint32_t psn;
    uint16_t frame_bytes;
    uint8_t priority;
    uint8_t opcode;
    bool is_roce; // otherwise a frame of PFC
    bool is_nak;
    bool is_pause;
    uint8_t is_marked;
    uint8_t is_again;
} results_hop_row_t;

typedef struct results_pause_row {
    const net_port_t *port;
    uint32_t priority;
    sim_time_t from_ps; // of the bin
    sim_time_t to_ps;
    sim_time_t stopped_ps; // of it
} results_pause_row_t;

extern const results_table_t results_flow_table;      // flows.csv
extern const results_table_t results_app_table;       // apps.csv
extern const results_table_t results_port_table;      // ports.csv
extern const results_table_t results_event_table;     // events.csv
extern const results_table_t results_pause_table;     // pauses.csv
extern const results_table_t results_series_table;    // series.csv
extern const results_table_t results_hop_table;       // hops.csv
extern const results_table_t results_operation_table; // operations.csv
extern const results_table_t *const results_tables[]; // all of them; ends with NULL

// Opens FOLDER/<the table's file> and writes its header; the caller closes it.
SIM_MUST_CHECK sim_err_t results_table_open(const results_table_t *table, const char *folder,
                                            results_file_t **file, world_error_t *error);
void results_table_put_header(const results_table_t *table, results_file_t *file);
void results_table_put_row(const results_table_t *table, results_file_t *file, const void *row);

// Writes FOLDER/flows.csv, FOLDER/apps.csv and FOLDER/ports.csv.
SIM_MUST_CHECK sim_err_t results_write_flows(const world_t *world, const results_t *results,
                                             const char *folder, world_error_t *error);
SIM_MUST_CHECK sim_err_t results_write_apps(const world_t *world, const char *folder,
                                            world_error_t *error);
SIM_MUST_CHECK sim_err_t results_write_ports(const world_t *world, const results_t *results,
                                             const char *folder, world_error_t *error);

// Writes FOLDER/operations.csv.
SIM_MUST_CHECK sim_err_t results_write_operations(const world_t *world, const char *folder,
                                                  world_error_t *error);
// Returns how many operations have started beyond those that operations.csv holds; 0 if the run
// writes none.
uint64_t results_operations_left_out(const world_t *world);

// Prints the reference page docs/formats/outputs.md.
void results_outputs_markdown(FILE *out);

SIM_C_END

#endif // RESULTS_TABLES_H
