// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/figure_script.h - reads a script of `rocesim plot` as JSON for the
// page.
#ifndef STUDIO_SERVER_DATA_ANALYSIS_FIGURE_SCRIPT_H
#define STUDIO_SERVER_DATA_ANALYSIS_FIGURE_SCRIPT_H

#include "kernel/base.h"

#include <jansson.h>

// Returns {kind, panels: [{title, x_label, ..., curves}]}; NULL if it is no such script.
json_t *studio_figure_read(const char *script, const char *kind);

#endif // STUDIO_SERVER_DATA_ANALYSIS_FIGURE_SCRIPT_H
