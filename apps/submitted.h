// SPDX-License-Identifier: Apache-2.0
// apps/submitted.h - transfers that a program submits while a simulation stands between two steps.
//
// The application `session` has no traffic of its own. Whoever drives the simulation submits
// transfers, runs the simulation by steps (app_submitted_run), and takes the completions after each
// of them. A scenario has at most one session. docs/sessions.md
#ifndef APPS_SUBMITTED_H
#define APPS_SUBMITTED_H

#include "apps/app_internal.h"

SIM_C_BEGIN

typedef struct app_submitted app_submitted_t;

typedef enum app_submitted_verb {
    APP_SUBMITTED_WRITE,
    APP_SUBMITTED_SEND,
    APP_SUBMITTED_READ
} app_submitted_verb_t;

typedef struct app_submitted_request {
    uint32_t source;      // interface of the requester
    uint32_t destination; // interface
    uint64_t bytes;       // at most APP_SUBMITTED_BYTES_MAX
    sim_time_t at_ps;     // start; not before the time up to which the simulation has run
    app_submitted_verb_t verb;
    uint64_t priority;     // 0..7; SIM_AUTO: the NIC's
    uint16_t source_port;  // UDP source port; 0: derived from the transfer's number
    bool reuse;            // the transfer takes its turn on one queue pair per pair of interfaces
    bool delivery;         // its delivery is a completion, too
    const uint64_t *after; // numbers of transfers and programs; it begins 1 ps after the last of
    size_t after_count;    // them has ended, and not before at_ps
} app_submitted_request_t;

#define APP_SUBMITTED_BYTES_MAX (UINT64_C(1) << 42)

typedef enum app_submitted_outcome {
    APP_SUBMITTED_WAITS, // not begun
    APP_SUBMITTED_RUNS,
    APP_SUBMITTED_DELIVERED, // of a completion: all bytes have arrived; the transfer still runs
    APP_SUBMITTED_DONE,
    APP_SUBMITTED_FAILED,
    APP_SUBMITTED_CANCELLED
} app_submitted_outcome_t;

#define APP_SUBMITTED_WHOLE UINT32_MAX

typedef struct app_submitted_completion {
    uint64_t transfer;
    uint32_t rank; // of a program; APP_SUBMITTED_WHOLE: a transfer, or all ranks of the program
    sim_time_t start_ps;
    sim_time_t end_ps;       // of the last completion at the requester; DELIVERED: delivered_ps
    sim_time_t delivered_ps; // when the last byte lay in the memory of the one that gets the data;
                             // SIM_TIME_NEVER: a program, or neither DONE nor DELIVERED
    app_submitted_outcome_t outcome;
    nic_wc_status_t status; // error of a failed transfer
} app_submitted_completion_t;

// Returns the session of an application, or NULL if it is another kind.
app_submitted_t *app_submitted_of(app_t *app);

// Adds a transfer and sets its number, which counts from 0. SIM_ERR_RANGE: a value is out of range;
// SIM_ERR_INVALID: the two interfaces cannot talk. The message names the field.
SIM_MUST_CHECK sim_err_t app_submitted_submit(app_submitted_t *submitted,
                                              const app_submitted_request_t *request,
                                              uint64_t *transfer, sim_message_t *message);
// Checks that something may begin at at_ps. SIM_ERR_RANGE: the time has passed, or too many
// transfers are open.
SIM_MUST_CHECK sim_err_t app_submitted_may_begin(const app_submitted_t *submitted, sim_time_t at_ps,
                                                 sim_message_t *message);
// Adds a program of ranks whose ranks begin at start_ps, which app_submitted_may_begin allows, and
// returns its number, which counts with those of transfers. The program has program ops, and
// outlives the session. With `ranks`, each of its ranks is a completion, too.
uint64_t app_submitted_add_program(app_submitted_t *submitted, app_t *program, sim_time_t start_ps,
                                   bool ranks);
// Runs everything before stop_ps, or with to_completion only up to 1 ps after the next completion.
// Without one, that leaves the time 1 ps after the last event (SIM_ENDED_DONE) if nothing is left
// to happen. Transfers are numbered for their paths in the order of their starts, then of
// submission, as those of a list in a scenario are.
sim_ended_t app_submitted_run(app_submitted_t *submitted, sim_time_t stop_ps, bool to_completion);
// Returns the time up to which everything has happened.
sim_time_t app_submitted_now_ps(const app_submitted_t *submitted);
// Cancels a transfer or a program: one that has not begun never does. A transfer that runs posts
// nothing more and ends with what it has posted. A program that runs ends at once, and messages
// that its ranks have posted still arrive. SIM_ERR_UNKNOWN: there is no such transfer;
// SIM_ERR_STATE: it has ended.
SIM_MUST_CHECK sim_err_t app_submitted_cancel(app_submitted_t *submitted, uint64_t transfer);
// Returns the completions since the last call, by time, number, rank and outcome, and their count.
// The list is valid until the next call.
const app_submitted_completion_t *app_submitted_take(app_submitted_t *submitted, size_t *count);
// Returns how many completions the next call of app_submitted_take returns.
size_t app_submitted_ended(app_submitted_t *submitted);
// Returns how many transfers wait or run.
uint64_t app_submitted_open(const app_submitted_t *submitted);
// Returns the start of the earliest transfer that waits for its time; SIM_TIME_NEVER: none does.
sim_time_t app_submitted_next_start_ps(const app_submitted_t *submitted);

SIM_C_END

#endif // APPS_SUBMITTED_H
