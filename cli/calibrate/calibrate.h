// SPDX-License-Identifier: Apache-2.0
// cli/calibrate/calibrate.h - `rocesim calibrate`: fits constants of a scenario to measured points.
//
// plan.c reads the constants and the points. fit.c finds the constants and their errors (least
// squares by Levenberg and Marquardt, each step takes several runs). report.c prints the result and
// writes the file that scenarios include (world/values/constants.h). docs/formats/calibrate.md
#ifndef CLI_CALIBRATE_CALIBRATE_H
#define CLI_CALIBRATE_CALIBRATE_H

#include "cli/args.h"
#include "world/scenario.h"
#include "world/yaml_tree.h"

#include <stdio.h>

#define CLI_CALIBRATE_FITTED_MAX 16u
#define CLI_CALIBRATE_POINTS_MAX 256u

typedef struct cli_constant {
    char *name;
    const world_tree_t *path; // the attribute path in the plan, or a list of paths
    char **paths;
    size_t path_count;
    size_t path_capacity;
    char *note;   // a remark from the plan; NULL: none
    char *origin; // "fitted", or for a kept constant "measured", "published"...
    char *value;  // of a kept constant: text with its unit
    bool fitted;
    char *unit; // of a fitted constant: "ns", "" for a plain number
    uint64_t decimals;
    double from; // lower limit of the search in this unit, above 0
    double to;
    double start;
    // Results of the fit:
    double found;
    double error;  // standard error, in the unit
    bool unknown;  // the points do not determine the constant
    bool at_limit; // the fitted value is `from` or `to`
} cli_constant_t;

typedef struct cli_point {
    char *name;
    char *scenario;  // path of the point's scenario; NULL: the calibration's scenario
    char **settings; // "PATH=VALUE"
    size_t setting_count;
    size_t setting_capacity;
    char *column; // field of summary.json that the measurement corresponds to
    double value;
    double share; // standard error of the measured value, as a share of it
    bool held;    // held out: the fit does not use this point, only predicts it
    // Results of the fit:
    double before; // simulated with the initial constants
    double result;
    double without; // predicted by a fit without this point
    bool alone;     // only this point determines some constant
} cli_point_t;

typedef struct cli_calibration {
    const char *file_name;
    world_document_t *document;
    char *scenario; // path of the scenario's file
    char **settings;
    size_t setting_count;
    size_t setting_capacity;
    const world_override_t *overrides; // the plug-ins of the command line, borrowed
    size_t override_count;
    cli_constant_t *constants;
    size_t constant_count;
    size_t constant_capacity;
    cli_point_t *points;
    size_t point_count;
    size_t point_capacity;
    size_t fitted_count;
    size_t used_count; // points that the fit uses
    FILE *progress;    // stream of the progress line; NULL: none
    uint64_t runs;
    // Results of the fit:
    double spread; // square root of chi^2 / degrees of freedom; 0: no degrees of freedom
    double correlation[CLI_CALIBRATE_FITTED_MAX][CLI_CALIBRATE_FITTED_MAX];
    uint32_t steps;
    bool settled; // the fit converged: the last step changed no constant noticeably
} cli_calibration_t;

// Reads a plan. Call cli_calibration_fini afterwards, also on error.
SIM_MUST_CHECK sim_err_t cli_calibration_load(const char *file_name, cli_calibration_t *calibration,
                                              world_error_t *error);
void cli_calibration_fini(cli_calibration_t *calibration);

int cli_command_calibrate(const cli_args_t *args);

#endif // CLI_CALIBRATE_CALIBRATE_H
