// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/process/child.h - the process beside each run: it starts rocesim, keeps it to
// its limits and
// writes down how it ended, whether or not the server is still there.
//
// In the run's folder:
//   begun.N   who runs attempt N: made once, by link(), so that a run never begins twice, whatever
//             was killed when;
//   exit.N    how it ended: appears whole, when nothing of it runs any more;
//   progress  a line that rocesim writes over; log: what rocesim said.
#ifndef STUDIO_SERVER_RUNS_PROCESS_CHILD_H
#define STUDIO_SERVER_RUNS_PROCESS_CHILD_H

#include "kernel/base.h"

#include <sys/types.h>

typedef struct studio_child {
    const char *folder;
    int64_t attempt;
    const char *program;  // rocesim, which may be executed
    const char *readable; // that scenarios may read; "": none
    uint64_t time_s;
    uint64_t memory_bytes;
    uint64_t disk_bytes;
    uint64_t disk_bytes_free;
} studio_child_t;

// Begins `SELF child ...` in a session of its own; arguments are the line of the process beside
// it, NULL at the end: rocesim's ("rocesim" means child->program), or that of a program by its
// whole path. The process, or -1 with errno.
pid_t studio_child_spawn(const studio_child_t *child, const char *const *arguments);
// The same on its own side: the arguments behind `child`, to the exit status.
int studio_child_main(const char *const *arguments);

// Who runs an attempt.
typedef struct studio_begun {
    pid_t process;
    uint64_t start; // of the process, in ticks since boot
    char boot[40];
} studio_begun_t;
// False: nobody has begun.
bool studio_begun_read(const char *folder, int64_t attempt, studio_begun_t *begun);
bool studio_begun_alive(const studio_begun_t *begun);

typedef struct studio_exit {
    int status; // of rocesim; -1: ended by a signal
    int signal;
    char reason[16]; // "", "cancelled", "time", "memory", "disk", "full", "start"
    double wall_s;
    double cpu_s;
    uint64_t memory_bytes;
} studio_exit_t;
// False: it has not ended.
bool studio_exit_read(const char *folder, int64_t attempt, studio_exit_t *exit);

// Bytes of all files below a folder.
uint64_t studio_folder_bytes(const char *folder);

#endif // STUDIO_SERVER_RUNS_PROCESS_CHILD_H
