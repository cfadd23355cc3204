// SPDX-License-Identifier: Apache-2.0
// studio/server/process/confine.h - limits what a process that reads a scenario may touch.
//
// A scenario names files to read and write. Linux's Landlock restricts the process, and all that it
// starts, to the given folders and keeps it off the network. Resource limits bound its memory and
// files.
#ifndef STUDIO_SERVER_PROCESS_CONFINE_H
#define STUDIO_SERVER_PROCESS_CONFINE_H

#include "kernel/base.h"

// Returns whether this kernel has Landlock.
bool studio_confine_possible(void);

typedef struct studio_confine {
    const char *writable;             // a folder; NULL: none
    const char *readable;             // another folder; NULL: none
    const char *const *also_readable; // further folders, ended by NULL; or NULL
    const char *program;              // will be executed; its folder is readable
    uint64_t memory_bytes;
    uint64_t file_bytes; // size of the largest file
    uint64_t cpu_s;      // processor time; 0: no limit
    bool mpi;            // it starts mpirun: the network, and reading /etc, /proc and /sys
} studio_confine_t;

// Confines the calling process for good. Rules that this kernel's Landlock lacks are left out.
// Returns false with errno on failure.
SIM_MUST_CHECK bool studio_confine(const studio_confine_t *confine);

// Returns whether address space can be limited: sanitizers reserve more than the machine has.
bool studio_confine_limits_memory(void);

#endif // STUDIO_SERVER_PROCESS_CONFINE_H
