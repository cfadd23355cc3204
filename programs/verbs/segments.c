// SPDX-License-Identifier: Apache-2.0
// programs/verbs/segments.c - attaches and detaches segments of System V.
//
// Pages that are registered lie in the memory file, so the kernel finds no segment there.

#include "programs/verbs/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "programs/turn.h"

typedef struct segment {
    long address;
    size_t bytes;
    struct segment *next;
} segment_t;

static segment_t *segments;

long segments_attach(int id, const void *wish, int flags)
{
    const long address = PROGRAM_NEXT(syscall)(SYS_shmat, id, wish, flags);
    struct shmid_ds status;
    const int error = errno;
    if (turn_on() && turn_is_mine() && address != -1 && shmctl(id, IPC_STAT, &status) == 0) {
        segment_t *segment = malloc(sizeof *segment);
        if (segment != NULL) {
            *segment = (segment_t){address, status.shm_segsz, segments};
            segments = segment;
        }
    }
    errno = error;
    return address;
}

long segments_detach(const void *address)
{
    segment_t **at = &segments;
    const long error = PROGRAM_NEXT(syscall)(SYS_shmdt, address);
    if (!turn_on() || !turn_is_mine()) {
        return error;
    }
    while (*at != NULL && (*at)->address != (long)address) {
        at = &(*at)->next;
    }
    segment_t *segment = *at;
    if (segment == NULL) {
        return error;
    }
    *at = segment->next;
    PROGRAM_NEXT(syscall)(SYS_munmap, segment->address, segment->bytes);
    free(segment);
    return 0;
}

PROGRAM_EXPORT void *shmat(int id, const void *wish, int flags)
{
    return (void *)segments_attach(id, wish, flags);
}

PROGRAM_EXPORT int shmdt(const void *address)
{
    return (int)segments_detach(address);
}
