// SPDX-License-Identifier: Apache-2.0
// cli/calibrate/report.h - the results of a calibration.
#ifndef CLI_CALIBRATE_REPORT_H
#define CLI_CALIBRATE_REPORT_H

#include "cli/calibrate/calibrate.h"

void cli_calibration_print(const cli_calibration_t *calibration, FILE *out);
// Writes the file of constants.
SIM_MUST_CHECK sim_err_t cli_calibration_write(const cli_calibration_t *calibration,
                                               const char *path, world_error_t *error);

#endif // CLI_CALIBRATE_REPORT_H
