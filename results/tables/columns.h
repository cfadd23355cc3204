// SPDX-License-Identifier: Apache-2.0
// results/tables/columns.h - macros for the rows of a table of columns (results/tables/tables.h).
#ifndef RESULTS_TABLES_COLUMNS_H
#define RESULTS_TABLES_COLUMNS_H

#include "results/tables/tables.h"

// clang-format off
#define RESULTS_AT(type_, member_) \
    .offset = offsetof(type_, member_), .size = sizeof(((type_ *)NULL)->member_)
// A column that is a field of the row's object: an unsigned integer, a time (none_ puts an empty
// cell), a text, the name of a port.
#define WHOLE(name_, unit_, help_, type_, member_)                                         \
    {.name = name_, .unit = unit_, .help = help_, .kind = RESULTS_COLUMN_WHOLE,            \
     RESULTS_AT(type_, member_)}
#define TIME(name_, help_, type_, member_, none_)                                          \
    {.name = name_, .unit = "ns", .help = help_, .kind = RESULTS_COLUMN_TIME,              \
     RESULTS_AT(type_, member_), .none_ps = none_}
#define TEXT(name_, unit_, help_, type_, member_)                                          \
    {.name = name_, .unit = unit_, .help = help_, .kind = RESULTS_COLUMN_TEXT,             \
     RESULTS_AT(type_, member_)}
#define PORT_NAME(name_, unit_, help_, type_, member_)                                     \
    {.name = name_, .unit = unit_, .help = help_, .kind = RESULTS_COLUMN_PORT,             \
     RESULTS_AT(type_, member_)}
// An integer in what a port has a pointer to; APART_CLASSES: integers by class, in an array there.
#define APART_WHOLE(name_, unit_, help_, pointer_, type_, member_)                         \
    {.name = name_, .unit = unit_, .help = help_, .kind = RESULTS_COLUMN_WHOLE,            \
     .apart = true, .pointer = offsetof(net_port_t, pointer_), RESULTS_AT(type_, member_)}
#define APART_CLASSES(name_, unit_, help_, pointer_, type_, member_)                       \
    {.name = name_, .unit = unit_, .help = help_, .kind = RESULTS_COLUMN_WHOLE,            \
     .per_class = true, .apart = true, .pointer = offsetof(net_port_t, pointer_),          \
     RESULTS_AT(type_, member_), .stride = sizeof(((net_port_t *)NULL)->pointer_[0])}
// A column for each counter of a group in net_port_metrics; CLASS_COUNTERS: eight, one per class.
#define COUNTERS(group_) {.name = group_, .kind = RESULTS_COLUMN_COUNTERS}
#define CLASS_COUNTERS(group_) {.name = group_, .kind = RESULTS_COLUMN_COUNTERS, .per_class = true}
// A value that a function works out.
#define MADE(name_, unit_, help_, put_) \
    {.name = name_, .unit = unit_, .help = help_, .kind = RESULTS_COLUMN_MADE, .put = put_}
// clang-format on

#endif // RESULTS_TABLES_COLUMNS_H
