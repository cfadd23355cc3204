// SPDX-License-Identifier: Apache-2.0
// results/report/part.h - the reports of applications and parts of NICs (kernel/report.h) as JSON,
// as lines on a terminal, and in the reference.
#ifndef RESULTS_REPORT_PART_H
#define RESULTS_REPORT_PART_H

#include "kernel/report.h"

#include <jansson.h>
#include <stdio.h>

SIM_C_BEGIN

// Adds the rows to `into`. units, if not NULL, gets the unit of each row that has one, by dotted
// path ("transport.stall_us": "us"); the unit of an object is that of the reals in it.
void results_part_json(const sim_report_table_t *table, const void *object, json_t *into,
                       json_t *units);

// Prints the rows that are shown, in lines of a terminal's width. Plain rows go on in the line that
// has begun and is `width` wide; objects and lists get lines of their own. results_part_print_sum
// adds up `count` objects of one table, and its lines begin with `name`: whole numbers are summed,
// reals averaged; of names that end in _max the largest value counts.
void results_part_print(const sim_report_table_t *table, const void *object, FILE *out,
                        size_t width);
void results_part_print_sum(const char *name, const sim_report_part_t *parts, size_t count,
                            FILE *out);

// Prints the rows as lines of the reference, with prefix before each path.
void results_part_markdown(const sim_report_table_t *table, const char *prefix, FILE *out);

// Returns a whole number, or its text where it is too large for JSON.
json_t *results_json_whole(uint64_t value);

// Prints a row of a table in the reference.
void results_markdown_row(const char *name, const char *unit, const char *help, FILE *out);

SIM_C_END

#endif // RESULTS_REPORT_PART_H
