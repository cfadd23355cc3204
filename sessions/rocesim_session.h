// SPDX-License-Identifier: Apache-2.0
// sessions/rocesim_session.h - drives a simulation of rocesim from another program.
//
// A session holds a network in memory, with its background traffic, faults and captures. The
// program submits transfers and advances the time. The simulation runs in a process of its own,
// which the library starts (`rocesim serve`) or connects to. All functions return 0, or -1 with a
// text from rocesim_session_error. Times are in picoseconds, sizes in bytes. A handle is used by
// one thread at a time; a program may have any number of handles. docs/sessions.md
#ifndef SESSIONS_ROCESIM_SESSION_H
#define SESSIONS_ROCESIM_SESSION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rocesim_session rocesim_session_t;

#define ROCESIM_NOW UINT64_MAX
#define ROCESIM_NEVER (UINT64_MAX - 1)

typedef struct rocesim_session_options {
    const char *program;         // NULL: the environment's ROCESIM, or "rocesim" in its PATH
    const char *server;          // "unix:PATH" or "127.0.0.1:PORT"; NULL: start a program
    const char *token;           // that the server asks for; NULL: none
    const char *folder;          // for the results of rocesim_session_finish; NULL: none
    const char *const *settings; // "PATH=VALUE", as for --set
    size_t setting_count;
} rocesim_session_options_t;

typedef enum rocesim_verb { ROCESIM_WRITE, ROCESIM_SEND, ROCESIM_READ } rocesim_verb_t;

typedef struct rocesim_transfer {
    uint32_t source; // number of a host (or of a NIC, where hosts have several)
    uint32_t destination;
    uint64_t bytes;
    uint64_t at_ps; // start; ROCESIM_NOW
    rocesim_verb_t verb;
    int priority;          // 0 to 7; -1: the NIC's
    uint16_t source_port;  // UDP source port, which decides on the path; 0: derived
    int reuse;             // not 0: transfers between two NICs share a queue pair
    uint64_t tag;          // at most INT64_MAX; its completion repeats it
    const uint64_t *after; // numbers of transfers: it begins 1 ps after the last of them has ended,
    size_t after_count;    // and not before at_ps. One that fails or is cancelled cancels it.
    int delivery;          // not 0: its delivery is a completion, too (ROCESIM_DELIVERED)
} rocesim_transfer_t;

// Ranks that run together: a collective, a workload or a training.
typedef struct rocesim_program {
    const char *kind;       // "collective", "workload" or "training"
    const char *attributes; // JSON object: what `rocesim params traffic.KIND` lists
    uint64_t at_ps;         // start of all ranks; ROCESIM_NOW
    int per_rank;           // not 0: each rank is a completion, too
    uint64_t tag;
} rocesim_program_t;

typedef enum rocesim_outcome {
    ROCESIM_DONE,
    ROCESIM_FAILED,
    ROCESIM_CANCELLED,
    ROCESIM_DELIVERED // all bytes have arrived; another completion of the transfer follows
} rocesim_outcome_t;

#define ROCESIM_WHOLE UINT32_MAX

typedef struct rocesim_completion {
    uint64_t transfer;
    uint64_t tag;
    uint32_t rank; // of a program; ROCESIM_WHOLE: a transfer, or all ranks of a program
    uint64_t start_ps;
    uint64_t end_ps; // of a transfer: the requester has the last acknowledgement, or delivered_ps
    rocesim_outcome_t outcome;
    uint64_t delivered_ps; // the last byte has arrived; ROCESIM_NEVER: no transfer that is done
} rocesim_completion_t;

// How a transfer would end.
typedef struct rocesim_estimate {
    uint64_t start_ps;
    uint64_t end_ps;
    rocesim_outcome_t outcome;
    uint64_t delivered_ps; // as in rocesim_completion_t
} rocesim_estimate_t;

// Opens a session of a scenario's file. Returns NULL if no memory is left; else a handle, whose
// error text is not empty if the session cannot be used. options may be NULL.
rocesim_session_t *rocesim_session_open(const char *scenario,
                                        const rocesim_session_options_t *options);
// Ends the session without results, unless they were asked for. NULL is allowed.
void rocesim_session_close(rocesim_session_t *session);
// Returns the text of the last error, or "". It is valid until the next call.
const char *rocesim_session_error(const rocesim_session_t *session);

size_t rocesim_session_host_count(const rocesim_session_t *session);
const char *rocesim_session_host_name(const rocesim_session_t *session, size_t host);
// Returns the time up to which everything has happened.
uint64_t rocesim_session_now_ps(const rocesim_session_t *session);

// Submits a transfer; *id is its number, from 0. A start that has passed is refused.
int rocesim_session_submit(rocesim_session_t *session, const rocesim_transfer_t *transfer,
                           uint64_t *id);
// Submits many transfers in one message; ids has room for count numbers, or is NULL. After an error
// some of them may have been submitted.
int rocesim_session_submit_many(rocesim_session_t *session, const rocesim_transfer_t *transfers,
                                size_t count, uint64_t *ids);
// Submits a program; *id is its number among those of transfers. id may be NULL.
int rocesim_session_submit_program(rocesim_session_t *session, const rocesim_program_t *program,
                                   uint64_t *id);
// Runs everything before until_ps. *completions lists what has ended since the last call, by time;
// it is valid until the next call.
int rocesim_session_advance(rocesim_session_t *session, uint64_t until_ps,
                            const rocesim_completion_t **completions, size_t *count);
// Runs until the next completion, or until_ps (ROCESIM_NEVER: as long as it takes). The time is
// then 1 ps after the completion, so that a transfer that answers it can begin. *count is 0 if none
// ends.
int rocesim_session_next_completion(rocesim_session_t *session, uint64_t until_ps,
                                    const rocesim_completion_t **completions, size_t *count);
// Does nothing: a completion is found exactly, and as fast as with slack. For older programs.
void rocesim_session_set_slack(rocesim_session_t *session, uint64_t slack_ps);
// Returns how many transfers waited or ran after the last of these calls.
uint64_t rocesim_session_open_transfers(const rocesim_session_t *session);
// Returns whether the last of these calls ended since nothing useful happens any more, although
// transfers are open.
int rocesim_session_stalled(const rocesim_session_t *session);
// Cancels a transfer: one that has not begun never does, one that runs ends now.
int rocesim_session_cancel(rocesim_session_t *session, uint64_t id);
// Estimates how long a transfer would take, without changing anything. One that would fail is an
// error.
int rocesim_session_estimate(rocesim_session_t *session, const rocesim_transfer_t *transfer,
                             uint64_t *took_ps);
int rocesim_session_estimate_program(rocesim_session_t *session, const rocesim_program_t *program,
                                     uint64_t *took_ps);
// Estimates a list of transfers in one call: all of them together or, with `alone` not 0, each as
// if the others were not there (at most 1000). `estimates` has room for count of them.
int rocesim_session_estimate_many(rocesim_session_t *session, const rocesim_transfer_t *transfers,
                                  size_t count, int alone, rocesim_estimate_t *estimates);
// Keeps the present state (at most 64 of them), and comes back to the one that was kept last.
int rocesim_session_mark(rocesim_session_t *session);
int rocesim_session_back(rocesim_session_t *session);
// Drops the state that was kept last. The session goes on.
int rocesim_session_drop(rocesim_session_t *session);
// Lets everything end, writes the results, and returns summary.json; free it with free(). Only
// rocesim_session_close may follow.
int rocesim_session_finish(rocesim_session_t *session, char **summary);

#ifdef __cplusplus
}
#endif

#endif // SESSIONS_ROCESIM_SESSION_H
