// SPDX-License-Identifier: Apache-2.0
// cli/serve/limits.h - what a client may use.
#ifndef CLI_SERVE_LIMITS_H
#define CLI_SERVE_LIMITS_H

#include "cli/args.h"
#include "world/world.h"
#include <poll.h>
#include <sys/types.h>

typedef enum serve_reason {
    SERVE_REASON_NONE,
    SERVE_REASON_MEMORY,
    SERVE_REASON_TIME,
    SERVE_REASON_IDLE,
    SERVE_REASON_GONE,   // the client
    SERVE_REASON_STOPPED // SIGTERM or SIGINT
} serve_reason_t;

typedef struct serve_limits {
    uint64_t clients;
    uint64_t memory_bytes; // of a process; 0: no limit
    uint64_t call_ns;      // of processor time; 0: no limit
    uint64_t idle_ms;      // 0: no limit
    char *token;           // NULL: none is asked for
} serve_limits_t;

// Reads the limits from the options. SIM_ERR_INVALID: one is wrong; error says which. Free them
// with serve_limits_fini, also after an error.
SIM_MUST_CHECK sim_err_t serve_limits_read(const cli_args_t *args, serve_limits_t *limits,
                                           world_error_t *error);
void serve_limits_fini(serve_limits_t *limits);
// Lets SIGTERM and SIGINT end the session that this process holds, and the session of a child that
// has gone on from a mark.
void serve_end_by_signals(void);
// Waits as poll() does, at most `most_ms`, -1: without a limit. Returns -1 with EINTR as soon as
// the session has to end, also if the signal came just before the call.
int serve_wait(struct pollfd *files, size_t count, int most_ms);
void serve_pass_signals_to(pid_t child); // 0: to none
// Notes that this process goes on with the session: signals to any of its processes come here, too.
void serve_go_on_here(void);
// Makes the kernel end this process with its parent.
void serve_end_with_parent(void);
// Makes this process the parent of processes below it whose parents end.
void serve_adopt(void);
// Calls `leave`, which makes the parent end, and waits for the next parent.
void serve_change_parent(void (*leave)(void *ctx), void *ctx);
// Watches this process while it uses the processor: a limit that is passed interrupts the
// simulation. Call it again in a process that was forked. `out` is the client's descriptor.
void serve_watch(const serve_limits_t *limits, sim_t *sim, int out);
// Watches no longer, before the simulation is destroyed: a later signal must not touch it.
void serve_watch_ends(void);
void serve_call_begins(void); // the time of a call counts from here
// Looks how much memory is used, where that is limited. Returns why the session has to end.
serve_reason_t serve_look(void);
void serve_note_reason(serve_reason_t reason);
// Returns why the session has to end.
serve_reason_t serve_reason(void);
// Returns a text about the limit that was passed. The caller frees it with sim_free.
char *serve_reason_text(const serve_limits_t *limits, serve_reason_t reason);

#endif // CLI_SERVE_LIMITS_H
