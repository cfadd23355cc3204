// SPDX-License-Identifier: Apache-2.0
// results/tables/summary_parts.h - the fields of summary.json that have to be worked out. Each
// function returns the value of the row of results/tables/summary.c that names it, as a new
// reference.
#ifndef RESULTS_TABLES_SUMMARY_PARTS_H
#define RESULTS_TABLES_SUMMARY_PARTS_H

#include "results/summary.h"

SIM_C_BEGIN

json_t *results_make_fast_forward(const results_view_t *view);
json_t *results_make_plugins(const results_view_t *view);
json_t *results_make_digest(const results_view_t *view);
json_t *results_make_outcome_digest(const results_view_t *view);
json_t *results_make_control(const results_view_t *view);
json_t *results_make_ended(const results_view_t *view);
json_t *results_make_nodes(const results_view_t *view);
json_t *results_make_hosts(const results_view_t *view);
json_t *results_make_accelerators(const results_view_t *view);
json_t *results_make_links(const results_view_t *view);
json_t *results_make_rates_from(const results_view_t *view);
json_t *results_make_rates_until(const results_view_t *view);
json_t *results_make_rates_goodput(const results_view_t *view);
json_t *results_make_run_goodput(const results_view_t *view);
json_t *results_make_notes(const results_view_t *view);
json_t *results_make_warnings(const results_view_t *view);
json_t *results_make_fct(const results_view_t *view);
json_t *results_make_local_fct(const results_view_t *view);
json_t *results_make_slowdown(const results_view_t *view);
json_t *results_make_by_size(const results_view_t *view);
json_t *results_make_goodput(const results_view_t *view);
json_t *results_make_fairness(const results_view_t *view);
json_t *results_make_drops(const results_view_t *view);
json_t *results_make_classes(const results_view_t *view);
json_t *results_make_hottest(const results_view_t *view);
json_t *results_make_pause_roots(const results_view_t *view);
json_t *results_make_conservation(const results_view_t *view);
json_t *results_make_nic_counters(const results_view_t *view);
json_t *results_make_apps(const results_view_t *view);
json_t *results_make_operations(const results_view_t *view);
json_t *results_make_events_per_operation(const results_view_t *view);
json_t *results_make_nics(const results_view_t *view);
json_t *results_make_trimmed(const results_view_t *view);   // NULL: no switch trims
json_t *results_make_transport(const results_view_t *view); // NULL: no transport of Ultra Ethernet
json_t *results_make_story(const results_view_t *view);
json_t *results_make_wall_hops(const results_view_t *view);
json_t *results_make_wall_events(const results_view_t *view);
json_t *results_make_wall_operations(const results_view_t *view);
json_t *results_make_wall_memory(const results_view_t *view);

SIM_C_END

#endif // RESULTS_TABLES_SUMMARY_PARTS_H
