// SPDX-License-Identifier: Apache-2.0
// apps/report_rows.h - macros for rows of an application's report (kernel/report.h) that are shown
// on the terminal.
#ifndef APPS_REPORT_ROWS_H
#define APPS_REPORT_ROWS_H

#include "kernel/report.h"

// Make a row of a field of the struct `type`: a uint64_t, a double.
#define APP__WHOLE(type, field, unit_, help_)                                                \
    {                                                                                        \
        .name = #field, .kind = SIM_REPORT_U64, .unit = unit_, .help = help_, .shown = true, \
        .offset = offsetof(type, field)                                                      \
    }
#define APP__REAL(type, field, unit_, help_)                                                  \
    {                                                                                         \
        .name = #field, .kind = SIM_REPORT_REAL, .unit = unit_, .help = help_, .shown = true, \
        .offset = offsetof(type, field)                                                       \
    }

#endif // APPS_REPORT_ROWS_H
