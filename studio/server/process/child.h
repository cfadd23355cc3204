// SPDX-License-Identifier: Apache-2.0
// studio/server/process/child.h - the process that watches one run: it starts rocesim, keeps
// it to its limits and records the end, also while no server works. It keeps in the run's folder:
//   begun.N   who runs attempt N; link() creates it once, so that an attempt never begins twice
//   exit.N    how the attempt ended; appears complete, after all its processes are gone
//   progress  one line that rocesim overwrites; log holds rocesim's output
#ifndef STUDIO_SERVER_PROCESS_CHILD_H
#define STUDIO_SERVER_PROCESS_CHILD_H

#include "kernel/base.h"

#include <sys/types.h>

typedef struct studio_child {
    const char *folder;
    int64_t attempt;
    const char *program;  // rocesim, which may be executed
    const char *readable; // folder that scenarios may read; "": none
    const char *files;    // another one; "": none
    uint64_t time_s;
    uint64_t memory_bytes;
    uint64_t disk_bytes;
    uint64_t disk_bytes_free;
    uint64_t ranks; // processes of the run, which mpirun starts; 1: none
} studio_child_t;

// Starts `SELF child ...` in its own session. arguments, ended by NULL, is the command that the
// child runs: rocesim ("rocesim" means child->program) or a program by its full path. Returns the
// process, or -1 with errno.
pid_t studio_child_spawn(const studio_child_t *child, const char *const *arguments);
// Runs in that process; arguments are those behind `child`. Returns the exit status.
int studio_child_main(const char *const *arguments);

// The process that runs an attempt.
typedef struct studio_begun {
    pid_t process;
    uint64_t start; // start of the process, in ticks since boot
    char boot[40];
} studio_begun_t;
// Reads who runs an attempt; returns false if nobody does.
bool studio_begun_read(const char *folder, int64_t attempt, studio_begun_t *begun);
bool studio_begun_alive(const studio_begun_t *begun);

typedef struct studio_exit {
    int status; // rocesim's exit status; -1: ended by a signal
    int signal;
    char reason[16]; // "", "cancelled", "time", "memory", "disk", "full" or "start"
    double wall_s;
    double cpu_s;
    uint64_t memory_bytes;
} studio_exit_t;
// Reads how an attempt ended; returns false if it has not ended.
bool studio_exit_read(const char *folder, int64_t attempt, studio_exit_t *exit);

#endif // STUDIO_SERVER_PROCESS_CHILD_H
