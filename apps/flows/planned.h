// SPDX-License-Identifier: Apache-2.0
// apps/flows/planned.h - applications that consist of one plan (plan_results.c).
#ifndef APPS_FLOWS_PLANNED_H
#define APPS_FLOWS_PLANNED_H

#include "apps/flows/plan.h"

// An application that consists of one plan.
typedef struct app__planned {
    app_t app; // first
    app__plan_t *plan;
} app__planned_t;

// Begins the plan and creates the application that owns it.
app_t *app__planned_create(const app_ops_t *ops, const app_context_t *context, app__plan_t *plan);
void app__planned_destroy(app_t *app);
void app__planned_flows(const app_t *app, app_flow_fn fn, void *ctx);
void app__planned_progress(const app_t *app, uint64_t *done, uint64_t *planned);
double app__planned_under_way(const app_t *app);
void app__planned_carry(app_t *app, sim_carry_t *carry);
extern const sim_report_table_t app__planned_report; // about an app__planned_t
#define APP__PLANNED_OPS                                                    \
    .destroy = app__planned_destroy, .flows = app__planned_flows,           \
    .progress = app__planned_progress, .under_way = app__planned_under_way, \
    .carry = app__planned_carry, .report = &app__planned_report

#endif // APPS_FLOWS_PLANNED_H
