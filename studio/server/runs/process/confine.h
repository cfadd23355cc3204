// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/process/confine.h - what a process that reads somebody's scenario may touch.
//
// A scenario names files to read and to write. Linux's Landlock keeps a process, and what it
// starts, to the folders given here and away from the network, whoever runs the server; resource
// limits keep it to its share of memory and disk.
#ifndef STUDIO_SERVER_RUNS_PROCESS_CONFINE_H
#define STUDIO_SERVER_RUNS_PROCESS_CONFINE_H

#include "kernel/base.h"

// Whether this kernel has Landlock.
bool studio_confine_possible(void);

typedef struct studio_confine {
    const char *writable;             // a folder; NULL: none
    const char *readable;             // a further folder; NULL: none
    const char *const *also_readable; // and these, NULL at the end; or NULL
    const char *program;              // that will be executed; its folder is readable
    uint64_t memory_bytes;
    uint64_t file_bytes; // of the largest file
    uint64_t cpu_s;      // 0: no limit
} studio_confine_t;

// For the process that calls it, for good. False: errno says what failed; what Landlock cannot do
// on this kernel is left out.
SIM_MUST_CHECK bool studio_confine(const studio_confine_t *confine);

// Whether address space can be limited: sanitizers reserve more than there is memory.
bool studio_confine_limits_memory(void);

#endif // STUDIO_SERVER_RUNS_PROCESS_CONFINE_H
