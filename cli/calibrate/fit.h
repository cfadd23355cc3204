// SPDX-License-Identifier: Apache-2.0
// cli/calibrate/fit.h - fits constants to measured points.
#ifndef CLI_CALIBRATE_FIT_H
#define CLI_CALIBRATE_FIT_H

#include "cli/calibrate/calibrate.h"

// Fits the constants and fills the result fields of constants and points. Returns the error of the
// first run that failed.
SIM_MUST_CHECK sim_err_t cli_calibration_fit(cli_calibration_t *calibration, world_error_t *error);
// Returns a constant's value as a scenario file writes it; for a fitted constant, `value` with its
// unit. Free with sim_free.
char *cli_constant_text(const cli_constant_t *constant, double value);

#endif // CLI_CALIBRATE_FIT_H
