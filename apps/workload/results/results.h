// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/results.h - what ranks have done: for rank 0 of the simulation, and for the
// results of the run.
#ifndef APPS_WORKLOAD_RESULTS_RESULTS_H
#define APPS_WORKLOAD_RESULTS_RESULTS_H

#include "apps/app.h"

void app__workload_carry(app_t *app, sim_carry_t *carry);

uint64_t app__workload_operations(const app_t *app, uint64_t most, app_operation_fn fn, void *ctx);
void app__workload_flows(const app_t *app, app_flow_fn fn, void *ctx);
uint64_t app__workload_flows_left_out(const app_t *app);
void app__workload_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);
extern const sim_report_table_t app__workload_report;

#endif // APPS_WORKLOAD_RESULTS_RESULTS_H
