// SPDX-License-Identifier: Apache-2.0
// programs/process/allocate.c - calls of the allocator are as one: no thread gives up its turn in
// them.
//
// The C library's malloc() holds locks of its own, by which no thread of the simulation may wait.
// Libraries that follow the program's mappings, such as UCX's libucm, let it call them, and take
// locks there. So other threads have no turn, and handlers of signals wait, until the call is over.

#include <malloc.h>
#include <stdlib.h>

#include "programs/turn.h"

static struct {
    __typeof__(malloc) *malloc;
    __typeof__(calloc) *calloc;
    __typeof__(realloc) *realloc;
    __typeof__(free) *free;
    __typeof__(memalign) *memalign;
    __typeof__(aligned_alloc) *aligned_alloc;
    __typeof__(posix_memalign) *posix_memalign;
} next;

// Finds the C library's functions. The linker may call malloc() where nothing can be looked up.
static __attribute__((constructor(101))) void find_next(void)
{
    next.malloc = PROGRAM_NEXT(malloc);
    next.calloc = PROGRAM_NEXT(calloc);
    next.realloc = PROGRAM_NEXT(realloc);
    next.free = PROGRAM_NEXT(free);
    next.memalign = PROGRAM_NEXT(memalign);
    next.aligned_alloc = PROGRAM_NEXT(aligned_alloc);
    next.posix_memalign = PROGRAM_NEXT(posix_memalign);
}

// Begins a call.
static void enter(void)
{
    turn_hold();
    if (next.malloc == NULL) {
        find_next();
    }
}

PROGRAM_EXPORT void *malloc(size_t bytes)
{
    enter();
    void *const memory = next.malloc(bytes);
    turn_release();
    return memory;
}

PROGRAM_EXPORT void *calloc(size_t count, size_t bytes)
{
    enter();
    void *const memory = next.calloc(count, bytes);
    turn_release();
    return memory;
}

PROGRAM_EXPORT void *realloc(void *before, size_t bytes)
{
    enter();
    void *const memory = next.realloc(before, bytes);
    turn_release();
    return memory;
}

PROGRAM_EXPORT void free(void *memory)
{
    enter();
    next.free(memory);
    turn_release();
}

PROGRAM_EXPORT void *memalign(size_t alignment, size_t bytes)
{
    enter();
    void *const memory = next.memalign(alignment, bytes);
    turn_release();
    return memory;
}

PROGRAM_EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    enter();
    void *const memory = next.aligned_alloc(alignment, bytes);
    turn_release();
    return memory;
}

PROGRAM_EXPORT int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    enter();
    const int error = next.posix_memalign(memory, alignment, bytes);
    turn_release();
    return error;
}
