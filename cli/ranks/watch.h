// SPDX-License-Identifier: Apache-2.0
// cli/ranks/watch.h - which of the ranks that a launcher started ends first, and whether the others
// end, too.
#ifndef CLI_RANKS_WATCH_H
#define CLI_RANKS_WATCH_H

#include "kernel/base.h"

#include <poll.h>
#include <sys/types.h>

typedef struct cli_ranks_watch {
    const char *file; // where ranks sign in; borrowed
    unsigned count;
    unsigned met;             // ranks that have signed in
    int first;                // the rank that ended first; -1: none has ended, or nobody knows
    pid_t mpirun;             // its process, for signals
    bool ended_mpirun;        // by SIGKILL, since it did not end
    const char *status;       // file that rank 0 writes when its results are whole; borrowed
    int64_t over_ms;          // on the system's clock: when the first rank ended; 0: none has
    int64_t empty_ms;         // on the system's clock: when the last rank that has signed in ended
    unsigned signals;         // that asked the launcher to end and were passed on
    int64_t signal_ms;        // on the system's clock: when the last of them was passed on
    struct pollfd *processes; // [0] is for messages, the others are ranks as they signed in
    int *ranks;               // number of the rank, by place in processes
} cli_ranks_watch_t;

// Reports this process to the launcher, which made the file. Called by a rank as it begins.
void cli_ranks_sign_in(const char *file);

// Notes that mpirun asked this rank to end. Safe in a signal handler. Does nothing before
// cli_ranks_sign_in.
void cli_ranks_note_told(void);

// Begins to watch the ranks that sign in, and catches the signals that end a program.
void cli_ranks_watch_begin(cli_ranks_watch_t *watch, const char *file, unsigned count);
// Waits until a descriptor can be read. Returns false if that failed. Passes signals on, and ends
// the ranks and mpirun if they are still there seconds after a rank has died.
bool cli_ranks_watch_wait(cli_ranks_watch_t *watch, int messages);
// Returns the time in milliseconds of a clock that only grows.
int64_t cli_ranks_now_ms(void);
// Frees the memory; `first` stays.
void cli_ranks_watch_end(cli_ranks_watch_t *watch);

#endif // CLI_RANKS_WATCH_H
