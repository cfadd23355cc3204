// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/aicb_program.h - what a rank does in one pass over a workload text of AICB.
#ifndef APPS_WORKLOAD_FORMATS_AICB_PROGRAM_H
#define APPS_WORKLOAD_FORMATS_AICB_PROGRAM_H

#include "apps/workload/formats/aicb.h"

// The ranks of a job and how they are divided.
typedef struct app__aicb_job {
    uint32_t ranks; // tp x dp x pp
    uint32_t tp;
    uint32_t dp;
    uint32_t pp;
    uint32_t ep;
    uint32_t iterations; // passes over the layers
    bool undivided;      // the header has no TP: collectives without a suffix are among all ranks
    bool simai;          // SimAI's meanings, also where they leave something out
} app__aicb_job_t;

// Returns the ranks of each group of a set.
uint32_t app__aicb_members(const app__aicb_job_t *job, app__aicb_set_t set);
// Returns the set whose groups call a collective.
app__aicb_set_t app__aicb_set_of(const app__aicb_job_t *job, const app__aicb_step_t *step);

// A collective that every group of a set calls at the same place of the program.
typedef struct app__aicb_call {
    app__call_t call; // its group is open
    app__aicb_set_t set;
    char *name;     // for reports; freed with the program
    uint32_t first; // index of the first group's call in the schedule
} app__aicb_call_t;

typedef struct app__aicb_program {
    // The peer of a collective is an index in calls, that of a message a pipeline stage.
    app__op_t *ops;
    uint32_t op_count;
    size_t op_capacity;
    app__dependency_t *list; // in the order of the operations that wait
    size_t list_count;
    size_t list_capacity;
    app__aicb_call_t *calls;
    size_t call_count;
    size_t call_capacity;
} app__aicb_program_t;

// Makes the program of the ranks of a stage. Call app__aicb_program_fini afterwards, also after an
// error. SIM_ERR_RANGE: the program has too many operations.
SIM_MUST_CHECK sim_err_t app__aicb_program_make(const app__aicb_t *aicb, const app__aicb_job_t *job,
                                                uint32_t stage, app__aicb_program_t *program,
                                                sim_message_t *message);
void app__aicb_program_fini(app__aicb_program_t *program);

// -- aicb_counts.c

// Notes in the schedule what the file says and holds, with bounds of the time of a pass.
void app__aicb_note_counts(const app__aicb_t *aicb, const app__aicb_job_t *job,
                           app__schedule_t *schedule);

#endif // APPS_WORKLOAD_FORMATS_AICB_PROGRAM_H
