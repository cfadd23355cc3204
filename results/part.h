// SPDX-License-Identifier: Apache-2.0
// results/part.h - what applications and parts of NICs tell (kernel/report.h) as JSON, as lines on
// a terminal, and in the reference.
#ifndef RESULTS_PART_H
#define RESULTS_PART_H

#include "kernel/report.h"

#include <jansson.h>
#include <stdio.h>

SIM_C_BEGIN

// Adds the rows to into. units hears of those that have a unit, by dotted path from here
// ("transport.stall_us": "us"; of an object, the unit of the reals in it); NULL: nobody asks.
void results_part_json(const sim_report_table_t *table,
                       const void *object,
                       json_t *into,
                       json_t *units);

// Lines of a terminal's width for a person: rows that are shown, indented; plain rows follow each
// other from width on, in the line that has begun; objects and lists have lines of their own.
// name begins the lines of an unnamed part; count of objects of one table are added up: whole
// numbers are summed, reals averaged, of names that end in _max the largest counts.
void results_part_print(const sim_report_table_t *table,
                        const void *object,
                        FILE *out,
                        size_t width);
void results_part_print_sum(const char *name,
                            const sim_report_part_t *parts,
                            size_t count,
                            FILE *out);

// Rows of the reference, each path behind prefix.
void results_part_markdown(const sim_report_table_t *table, const char *prefix, FILE *out);

// A whole number; as text where JSON has no place for it.
json_t *results_json_whole(uint64_t value);

// A row of a reference's table.
void results_markdown_row(const char *name, const char *unit, const char *help, FILE *out);

SIM_C_END

#endif // RESULTS_PART_H
