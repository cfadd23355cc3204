// SPDX-License-Identifier: Apache-2.0
// cli/calibrate/command.c - `rocesim calibrate`: reads the plan, fits, reports.
#include "cli/calibrate/calibrate.h"
#include "cli/calibrate/fit.h"
#include "cli/calibrate/report.h"

#include "cli/command.h"

#include <unistd.h>

int cli_command_calibrate(const cli_args_t *args)
{
    cli_calibration_t calibration;
    world_error_t error;
    sim_err_t result = cli_calibration_load(args->operands[0], &calibration, &error);
    calibration.overrides = args->overrides;
    calibration.override_count = args->override_count;
    if (result == SIM_OK && calibration.fitted_count == 0) {
        result = world_fail(&error, SIM_ERR_INVALID, NULL,
                            "%s: no constant is to be fitted, expected one with 'from' and 'to'",
                            args->operands[0]);
    }
    calibration.progress = !args->quiet && isatty(STDERR_FILENO) != 0 ? stderr : NULL;
    if (result == SIM_OK) {
        result = cli_calibration_fit(&calibration, &error);
    }
    if (result == SIM_OK) {
        cli_calibration_print(&calibration, stdout);
    }
    int status = result == SIM_OK ? CLI_EXIT_DONE : CLI_EXIT_BAD_INPUT;
    if (result == SIM_OK && args->folder != NULL) {
        result = cli_calibration_write(&calibration, args->folder, &error);
        status = result == SIM_OK ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
    }
    cli_calibration_fini(&calibration);
    return result == SIM_OK ? status : cli_report_failure(&error, status);
}
