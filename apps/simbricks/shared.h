// SPDX-License-Identifier: Apache-2.0
// apps/simbricks/shared.h - memory that is shared with another process, which may make it smaller.
//
// An access beyond the end of a file's mapping raises SIGBUS. For these mappings, a handler of that
// signal puts empty memory of this process in their place, so the access ends, and notes that. Each
// thread knows its own mappings, for the handler: only the thread that made one uses and unmaps it.
#ifndef APPS_SIMBRICKS_SHARED_H
#define APPS_SIMBRICKS_SHARED_H

#include "kernel/base.h"

#include <signal.h>

typedef struct app__shared {
    uint8_t *base; // NULL: not mapped
    size_t size;
    volatile sig_atomic_t cut; // not 0: the other process made it smaller, and all is lost
    struct sigaction before;   // what the process did on SIGBUS before the thread's first mapping
    struct app__shared *next;  // of the thread's mappings
} app__shared_t;

// Maps the first `size` bytes of a file. Returns false, and sets errno, if that is impossible.
bool app__shared_map(app__shared_t *shared, int file, size_t size);
void app__shared_unmap(app__shared_t *shared);
// Returns whether one of the accesses so far found that the memory had become smaller.
bool app__shared_is_cut(const app__shared_t *shared);

#endif // APPS_SIMBRICKS_SHARED_H
