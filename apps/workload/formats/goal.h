// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/goal.h - writes schedules in GOAL's formats.
#ifndef APPS_WORKLOAD_FORMATS_GOAL_H
#define APPS_WORKLOAD_FORMATS_GOAL_H

#include "apps/workload/schedule.h"

// Writes GOAL's text; *text is freed with sim_free. Its binary equals that of the schedule.
// Collectives have no place in GOAL: the schedule has none.
void app__goal_write_text(const app__schedule_t *schedule, char **text, size_t *size_bytes);
// Writes the binary format, as LogGOPSim's txt2bin does. *bytes is freed with sim_free.
void app__goal_write_binary(const app__schedule_t *schedule, char **bytes, size_t *size_bytes);

#endif // APPS_WORKLOAD_FORMATS_GOAL_H
