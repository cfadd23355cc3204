// SPDX-License-Identifier: Apache-2.0
// apps/flows/plan_results.h - results of plans: flows, progress, reports, and what ranks carry.
#ifndef APPS_FLOWS_PLAN_RESULTS_H
#define APPS_FLOWS_PLAN_RESULTS_H

#include "apps/flows/plan_internal.h"

extern const sim_report_table_t app__plan_report; // about an app__plan_t

// Collects the progress of transfers in progress and the times of failures. Writes the
// retransmitted packets of transfers in progress into the transfers. The caller frees the items
// with sim_free.
app__unfinished_t app__plan_unfinished(const app__plan_t *plan);

// Carries what became of transfers to rank 0 (carry.c).
void app__plan_carry(app__plan_t *plan, sim_carry_t *carry);

// Reports rows that were cut into parts (plan_rows.c).
extern const sim_report_table_t app__plan_rows_report; // about an app__plan_t with parts

#endif // APPS_FLOWS_PLAN_RESULTS_H
