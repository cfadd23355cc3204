// SPDX-License-Identifier: Apache-2.0
// apps/simbricks.h - runs a network whose hosts are simulators of SimBricks.
#ifndef APPS_SIMBRICKS_H
#define APPS_SIMBRICKS_H

#include "apps/app.h"

SIM_C_BEGIN

// Returns whether processes of SimBricks stand at hosts of the network. app_simbricks_run then
// takes the place of sim_run: the processes decide together how far the time goes.
bool app_simbricks_drives(const app_runtime_t *runtime);
sim_ended_t app_simbricks_run(app_runtime_t *runtime);

SIM_C_END

#endif // APPS_SIMBRICKS_H
