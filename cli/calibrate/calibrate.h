// SPDX-License-Identifier: Apache-2.0
// cli/calibrate/calibrate.h - `rocesim calibrate`: constants of a scenario from measured points.
//
// plan.c reads what may change and what was measured, fit.c finds the constants
// (least squares by Levenberg and Marquardt, each step some runs) and how sure they are,
// report.c prints and writes the file that scenarios include (world/constants.h),
// command.c is the command. docs/formats/calibrate.md
#ifndef CLI_CALIBRATE_CALIBRATE_H
#define CLI_CALIBRATE_CALIBRATE_H

#include "world/scenario.h"
#include "world/yaml_tree.h"

#include <stdio.h>

#define CLI_CALIBRATE_FITTED_MAX 16u
#define CLI_CALIBRATE_POINTS_MAX 256u

typedef struct cli_constant {
    char *name;
    const world_tree_t *path; // as it is written: one, or a list
    char **paths;
    size_t path_count;
    size_t path_capacity;
    char *note;   // NULL: none
    char *origin; // of one that is kept: measured, published; "fitted" of the others
    char *value;  // kept: text with its unit
    bool fitted;
    char *unit; // fitted: "ns", ""
    uint64_t decimals;
    double from; // in the unit; above 0
    double to;
    double start;
    // What comes of it.
    double found;
    double error;  // standard error, in the unit
    bool unknown;  // the points do not determine it
    bool at_limit; // of from and to
} cli_constant_t;

typedef struct cli_point {
    char *name;
    char *scenario;  // path of its file; NULL: the calibration's
    char **settings; // "PATH=VALUE"
    size_t setting_count;
    size_t setting_capacity;
    char *column; // in summary.json
    double value;
    double share; // standard error of what was measured, as a share of it
    bool held;    // not fitted to: only predicted
    // What comes of it.
    double before; // with the constants as they start
    double result;
    double without; // predicted by a fit that does not know it
    bool alone;     // nothing else determines some constant
} cli_point_t;

typedef struct cli_calibration {
    const char *file_name;
    world_document_t *document;
    char *scenario; // path of its file
    char **settings;
    size_t setting_count;
    size_t setting_capacity;
    cli_constant_t *constants;
    size_t constant_count;
    size_t constant_capacity;
    cli_point_t *points;
    size_t point_count;
    size_t point_capacity;
    size_t fitted_count;
    size_t used_count; // points that are fitted to
    FILE *progress;    // NULL: none
    uint64_t runs;
    // What comes of it.
    double spread; // root of chi^2 / degrees of freedom; 0: there are no such degrees
    double correlation[CLI_CALIBRATE_FITTED_MAX][CLI_CALIBRATE_FITTED_MAX];
    uint32_t steps;
    bool settled; // the last step changed nothing that matters
} cli_calibration_t;

// Reads a plan. Free with cli_calibration_fini, also on error.
SIM_MUST_CHECK sim_err_t cli_calibration_load(const char *file_name,
                                              cli_calibration_t *calibration,
                                              world_error_t *error);
void cli_calibration_fini(cli_calibration_t *calibration);

// Runs, and fills what comes of it. An error is that of a run.
SIM_MUST_CHECK sim_err_t cli_calibration_fit(cli_calibration_t *calibration, world_error_t *error);

// A constant's value as it stands in a scenario, of a fitted one `value` in its unit. Free with
// sim_free.
char *cli_constant_text(const cli_constant_t *constant, double value);

void cli_calibration_print(const cli_calibration_t *calibration, FILE *out);
// The file of constants.
SIM_MUST_CHECK sim_err_t cli_calibration_write(const cli_calibration_t *calibration,
                                               const char *path,
                                               world_error_t *error);

#endif // CLI_CALIBRATE_CALIBRATE_H
