// SPDX-License-Identifier: Apache-2.0
// results/tables/tables.h - the CSV files of a run. Each has one table of columns, from which it is
// written and documented.
#ifndef RESULTS_TABLES_TABLES_H
#define RESULTS_TABLES_TABLES_H

#include "net/port_metrics.h"
#include "results/file.h"

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

extern const results_table_t *const results_tables[]; // all of them; ends with NULL

// Opens FOLDER/<the table's file> and writes its header; the caller closes it.
SIM_MUST_CHECK sim_err_t results_table_open(const results_table_t *table, const char *folder,
                                            results_file_t **file, world_error_t *error);
void results_table_put_row(const results_table_t *table, results_file_t *file, const void *row);

SIM_C_END

#endif // RESULTS_TABLES_TABLES_H
