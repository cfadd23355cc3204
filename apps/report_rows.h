// SPDX-License-Identifier: Apache-2.0
// apps/report_rows.h - macros for the rows of an application's report (kernel/report.h).
//
// A report names each of its values once, in a list from which its struct and its rows follow:
//
//     #define MY_ROWS(X) X(requests, U64, "", true, "number of requests that were served")
//     typedef struct my_report { MY_ROWS(APP__MEMBER) } my_report_t;
//     #define ROW(...) APP__ROW(my_report_t, __VA_ARGS__)
//     static const sim_report_row_t rows[] = {MY_ROWS(ROW)};
#ifndef APPS_REPORT_ROWS_H
#define APPS_REPORT_ROWS_H

#include "kernel/report.h"

// Make a member of the struct, and a row followed by a comma. The fourth argument says whether the
// terminal shows the row.
#define APP__MEMBER(name, kind, unit, shown, help) APP__MEMBER_##kind name;
#define APP__MEMBER_U64 uint64_t
#define APP__MEMBER_REAL double
#define APP__MEMBER_STRING const char *
#define APP__MEMBER_TIMES sim_percentiles_t
#define APP__ROW(type, name_, kind_, unit_, shown_, help_) \
    {.name = #name_,                                       \
     APP__KIND_##kind_,                                    \
     .unit = unit_,                                        \
     .help = help_,                                        \
     .offset = offsetof(type, name_),                      \
     .shown = shown_},
// Makes a row that is left out where the bool `given_` of the struct is false.
#define APP__ROW_IF(type, given_, name_, kind_, unit_, shown_, help_) \
    {.name = #name_,                                                  \
     APP__KIND_##kind_,                                               \
     .unit = unit_,                                                   \
     .help = help_,                                                   \
     .offset = offsetof(type, name_),                                 \
     .given = offsetof(type, given_),                                 \
     .shown = shown_},
#define APP__KIND_U64 .kind = SIM_REPORT_U64
#define APP__KIND_REAL .kind = SIM_REPORT_REAL
#define APP__KIND_STRING .kind = SIM_REPORT_STRING
#define APP__KIND_TIMES .kind = SIM_REPORT_OBJECT, .table = &sim_report_percentiles
// Make the table of such rows, without or with a function that fills the struct (members behind it
// follow by name), and a row of a list of objects, a member of the kind sim_report_list_t.
#define APP__TABLE(rows_, type)                                            \
    {                                                                      \
        .rows = rows_, .count = SIM_COUNT_OF(rows_), .bytes = sizeof(type) \
    }
#define APP__FILLED(rows_, type, ...)                                                           \
    {                                                                                           \
        .rows = rows_, .count = SIM_COUNT_OF(rows_), .bytes = sizeof(type), .fill = __VA_ARGS__ \
    }
#define APP__LIST(type, name_, table_, help_) \
    {.name = #name_,                          \
     .kind = SIM_REPORT_LIST,                 \
     .unit = "",                              \
     .help = help_,                           \
     .offset = offsetof(type, name_),         \
     .of = SIM_REPORT_OBJECT,                 \
     .table = &(table_)},
// Makes a row of a list, of which the struct has the pointer to its items, `items_`, and their
// number, `count_`. optional_: the row is left out without items.
#define APP__ARRAY(type, name_, items_, count_, table_, optional_, help_) \
    {.name = #name_,                                                      \
     .kind = SIM_REPORT_LIST,                                             \
     .unit = "",                                                          \
     .help = help_,                                                       \
     .offset = offsetof(type, items_),                                    \
     .count = offsetof(type, count_),                                     \
     .of = SIM_REPORT_OBJECT,                                             \
     .table = &(table_),                                                  \
     .optional = optional_},

#endif // APPS_REPORT_ROWS_H
