// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/programs.h - helpers of the applications on the Transfer Engine: their
// cluster and their report.
#ifndef APPS_MOONCAKE_PROGRAMS_PROGRAMS_H
#define APPS_MOONCAKE_PROGRAMS_PROGRAMS_H

#include "apps/mooncake/programs/transfer_report.h"

// Rows of `metadata`, for both applications.
// clang-format off
#define APP__MC_METADATA_ATTRS(prefix, type, member)                                               \
    SIM_ATTR_ROW(type, TIME, prefix ".metadata.latency", member.latency_ps, "200us", "0ps", "100s", "time that the metadata node takes for a request, one at a time"), \
    SIM_ATTR_ROW(type, TIME, prefix ".metadata.down-from", member.down_from_ps, "never", "0ps", NULL, "time from which the metadata node answers nobody; never: it always answers", .not_above = prefix ".metadata.down-until"), \
    SIM_ATTR_ROW(type, TIME, prefix ".metadata.down-until", member.down_until_ps, "never", "0ps", NULL, "time from which the metadata node answers again after down-from"), \
    SIM_ATTR_ROW(type, STRING, prefix ".metadata.records", records, "", "file of records that the metadata node holds when the run begins, as `rocesim mooncake-meta import` prints them; none if empty")
// clang-format on

// Gives the metadata node the records of a file; nothing if its name is empty. A message names the
// file.
SIM_MUST_CHECK sim_err_t app__mc_import(const app_context_t *context, const char *file,
                                        app_mooncake_cluster_t *cluster, sim_message_t *message);

// -- locations.c

// Returns a priority matrix. "auto": for each socket and GPU the nearest NICs are preferred and the
// others available.
char *app__mc_matrix(const net_node_t *host, const char *matrix);
// Returns location `index`, modulo their number, of a list such as "cpu:0, cpu:1"; free with
// sim_free.
char *app__mc_location_of(const char *list, uint64_t index);
uint32_t app__mc_location_count(const char *list);
// Registers memory at location `index` of a list, with all rights. An error message names the
// location that the engine's host does not have.
SIM_MUST_CHECK sim_err_t app__mc_register_location(app_mooncake_t *engine, const char *list,
                                                   uint64_t index, uint64_t address, uint64_t bytes,
                                                   sim_message_t *message);

#endif // APPS_MOONCAKE_PROGRAMS_PROGRAMS_H
