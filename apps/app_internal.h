// SPDX-License-Identifier: Apache-2.0
// apps/app_internal.h - the applications of rocesim, and what all of them check.
#ifndef APPS_APP_INTERNAL_H
#define APPS_APP_INTERNAL_H

#include "apps/app.h"

extern const app_ops_t app_flows;
extern const app_ops_t app_poisson;
extern const app_ops_t app_incast;
extern const app_ops_t app_bulk;
extern const app_ops_t app_permutation;
extern const app_ops_t app_all_to_all;
extern const app_ops_t app_perftest;
extern const app_ops_t app_all_to_all_reads;
extern const app_ops_t app_verbs_rate;
extern const app_ops_t app_sequencer;
extern const app_ops_t app_herd;
extern const app_ops_t app_drtm_kv;
extern const app_ops_t app_mooncake_bench;
extern const app_ops_t app_mooncake_replay;
extern const app_ops_t app_contexts;
extern const app_ops_t app_submitted;
extern const app_ops_t app_workload;
extern const app_ops_t app_collective;
extern const app_ops_t app_accelerators;
extern const app_ops_t app_training;
extern const app_ops_t app_kv_matrix;
extern const app_ops_t app_serving;
extern const app_ops_t app_program;
extern const app_ops_t app_simbricks;

// Fills a tally from the rows "requests" and "failed" of the application's report.
void app__tally_report(const app_t *app, app_tally_t *tally);

// -- flows/listed.c

// Makes the application `flows` of a file, with the defaults of its other attributes. A message
// begins with "file", or with "FILE:LINE:COLUMN: ".
SIM_MUST_CHECK sim_err_t app__flows_create_from(const app_context_t *context, const char *file,
                                                app_t **app, sim_message_t *message);

// Checks that `count` of the things that `what` names, of each_bytes each, need no more memory than
// the scenario's memory-max. SIM_ERR_RANGE: the message begins with `attribute`.
SIM_MUST_CHECK sim_err_t app__check_memory(const app_context_t *context, const char *attribute,
                                           double count, uint64_t each_bytes, const char *what,
                                           sim_message_t *message);

#endif // APPS_APP_INTERNAL_H
