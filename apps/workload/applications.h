// SPDX-License-Identifier: Apache-2.0
// apps/workload/applications.h - what the applications that run a schedule have in common.
#ifndef APPS_WORKLOAD_APPLICATIONS_H
#define APPS_WORKLOAD_APPLICATIONS_H

#include "apps/workload/collective/estimate.h"
#include "apps/workload/places.h"
#include "apps/workload/results/results.h"
#include "apps/workload/workload.h"

// The members of app_ops_t that all applications of this folder share.
#define APP__WORKLOAD_OPS APP__WORKLOAD_OPS_WITH(&app__workload_report)
#define APP__WORKLOAD_OPS_WITH(table)                                                       \
    .destroy = app__workload_destroy, .flows = app__workload_flows,                         \
    .flows_left_out = app__workload_flows_left_out, .operations = app__workload_operations, \
    .places = app__workload_places, .progress = app__workload_progress,                     \
    .carry = app__workload_carry, .describe = app__workload_describe,                       \
    .loads = app__workload_loads, .report = (table), .warn = app__workload_warn,            \
    .program = &app__workload_program

#endif // APPS_WORKLOAD_APPLICATIONS_H
