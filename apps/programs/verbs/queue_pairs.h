// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/queue_pairs.h - the queue pairs of a process.
#ifndef APPS_PROGRAMS_VERBS_QUEUE_PAIRS_H
#define APPS_PROGRAMS_VERBS_QUEUE_PAIRS_H

#include "apps/programs/guest.h"

// Returns the queue pair of that number, or NULL.
app__pr_qp_t *app__program_qp(app__program_t *program, uint32_t number);
// Each works on a call. Returns an errno value.
int app__program_create_qp(app__program_t *program, program_call_t *call);
int app__program_modify_qp(app__program_t *program, program_call_t *call);

// Returns true if the call ends a queue pair, or moves it to an error, whose sends are unfinished.
bool app__program_ends_sends(app__program_t *program, const program_call_t *call);
int app__program_query_qp(app__program_t *program, program_call_t *call);
int app__program_destroy_qp(app__program_t *program, const program_call_t *call);
// Works on PROGRAM_GROUP. Returns an errno value.
int app__program_change_group(app__program_t *program, const program_call_t *call);
// Destroys a queue pair of the NIC, and keeps the entry of the process's list.
void app__program_free_qp(app__program_t *program, app__pr_qp_t *qp);

#endif // APPS_PROGRAMS_VERBS_QUEUE_PAIRS_H
