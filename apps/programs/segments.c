// SPDX-License-Identifier: Apache-2.0
// apps/programs/segments.c - segments of System V, and files that a program has mapped: their keys,
// and the processes that attach them.
#define _GNU_SOURCE
#include "apps/programs/segments.h"
#include "apps/programs/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_BYTES (UINT64_C(2) << 20)
#define PAGE_BYTES UINT64_C(4096)
#define SEGMENTS_MAX 4096u // of a host, as Linux's shmmni

typedef struct attach {
    const app__process_t *process;
    uint32_t count;
} attach_t;

typedef struct segment {
    program_segment_t status;
    int file; // -1: its pages are gone
    attach_t *attaches;
    size_t attach_count;
    size_t attach_capacity;
} segment_t;

struct app__segments {
    const net_node_t *host;
    segment_t *segments; // by handle
    size_t count;
    size_t capacity;
    app__program_t *sharers; // programs that have attached one
    app__segments_t *next;   // of another host
};

app__segments_t *app__segments_of(app__segments_t **list, const net_node_t *host)
{
    app__segments_t *segments = *list;
    while (segments != NULL && segments->host != host) {
        segments = segments->next;
    }
    if (segments == NULL) {
        segments = sim_alloc(sizeof(*segments));
        *segments = (app__segments_t){.host = host, .next = *list};
        *list = segments;
    }
    return segments;
}

static void drop_pages(segment_t *segment)
{
    if (segment->file >= 0) {
        close(segment->file);
        segment->file = -1;
    }
}

void app__segments_destroy(app__segments_t *list)
{
    while (list != NULL) {
        app__segments_t *const next = list->next;
        for (size_t i = 0; i < list->count; i++) {
            drop_pages(&list->segments[i]);
            sim_free(list->segments[i].attaches);
        }
        sim_free(list->segments);
        sim_free(list);
        list = next;
    }
}

static segment_t *find(const app__segments_t *segments, uint32_t handle)
{
    segment_t *const segment = handle < segments->count ? &segments->segments[handle] : NULL;
    return segment != NULL && segment->file >= 0 ? segment : NULL;
}

int app__segment_file(const app__segments_t *segments, uint32_t handle)
{
    const segment_t *const segment = find(segments, handle);
    return segment == NULL ? -1 : segment->file;
}

// -- attaching

static attach_t *attach_of(segment_t *segment, const app__process_t *process)
{
    for (size_t i = 0; i < segment->attach_count; i++) {
        if (segment->attaches[i].process == process) {
            return &segment->attaches[i];
        }
    }
    SIM_APPEND(segment->attaches, segment->attach_count, segment->attach_capacity,
               ((attach_t){.process = process}));
    return &segment->attaches[segment->attach_count - 1];
}

static void attach(segment_t *segment, const app__process_t *process, uint32_t count)
{
    attach_of(segment, process)->count += count;
    segment->status.attaches += count;
}

static void detach(segment_t *segment, attach_t *from, uint32_t count)
{
    from->count -= count;
    segment->status.attaches -= count;
    if (segment->status.attaches == 0 && (segment->status.mode & SHM_DEST) != 0) {
        drop_pages(segment);
    }
}

void app__segments_leave(app__segments_t *segments, const app__process_t *process)
{
    for (size_t i = 0; i < segments->count; i++) {
        segment_t *const segment = &segments->segments[i];
        attach_t *const from = attach_of(segment, process);
        detach(segment, from, from->count);
        *from = segment->attaches[--segment->attach_count];
    }
}

void app__segments_forked(app__segments_t *segments, const app__process_t *parent,
                          const app__process_t *child)
{
    for (size_t i = 0; i < segments->count; i++) {
        attach(&segments->segments[i], child, attach_of(&segments->segments[i], parent)->count);
    }
}

app__program_t *app__segments_sharers(app__program_t *program)
{
    return program->shares ? program->segments->sharers : program;
}

void app__segments_share(app__program_t *program)
{
    if (!program->shares) {
        program->shares = true;
        program->next_sharer = program->segments->sharers;
        program->segments->sharers = program;
    }
}

// -- the calls

static size_t count_living(const app__segments_t *segments)
{
    size_t count = 0;
    for (size_t i = 0; i < segments->count; i++) {
        count += segments->segments[i].file >= 0;
    }
    return count;
}

static int create(app__program_t *program, program_call_t *call)
{
    app__segments_t *const segments = program->segments;
    const program_segment_t *const wish = &call->segment;
    const bool huge = (wish->flags & SHM_HUGETLB) != 0;
    const uint64_t unit = huge ? HUGE_BYTES : PAGE_BYTES;
    const uint64_t most = program->config->memory_max_bytes;
    if (wish->bytes == 0 || wish->bytes > (UINT64_C(1) << 46)) {
        return EINVAL;
    }
    if ((huge && !program->config->huge_pages) || (most != 0 && wish->bytes > most)) {
        return ENOMEM;
    }
    if (count_living(segments) >= SEGMENTS_MAX) {
        return ENOSPC;
    }
    segment_t segment = {.status = *wish, .file = memfd_create("segment", MFD_CLOEXEC)};
    segment.status.attaches = 0;
    segment.status.mode &= 0777;
    if (segment.file < 0) {
        return errno;
    }
    if (ftruncate(segment.file, (off_t)((wish->bytes + unit - 1) / unit * unit)) != 0) {
        drop_pages(&segment);
        return ENOMEM;
    }
    call->handle = (uint32_t)segments->count;
    SIM_APPEND(segments->segments, segments->count, segments->capacity, segment);
    return 0;
}

static int get(app__program_t *program, program_call_t *call)
{
    const program_segment_t *const wish = &call->segment;
    const app__segments_t *const segments = program->segments;
    for (size_t i = 0; i < segments->count && wish->key != IPC_PRIVATE; i++) {
        const program_segment_t *const status = &segments->segments[i].status;
        if (status->key != wish->key || (status->mode & SHM_DEST) != 0) {
            continue;
        }
        if ((wish->flags & IPC_CREAT) != 0 && (wish->flags & IPC_EXCL) != 0) {
            return EEXIST;
        }
        call->handle = (uint32_t)i;
        return wish->bytes > status->bytes ? EINVAL : 0;
    }
    return wish->key != IPC_PRIVATE && (wish->flags & IPC_CREAT) == 0 ? ENOENT
                                                                      : create(program, call);
}

// Gives the file of the segment to the process, under a descriptor that the caller closes.
static int give(app__program_t *program, segment_t *segment, int *descriptor)
{
    *descriptor = fcntl(segment->file, F_DUPFD_CLOEXEC, 0);
    if (*descriptor < 0) {
        return errno;
    }
    attach(segment, program->process, 1);
    app__segments_share(program);
    return 0;
}

static int take_back(const app__program_t *program, segment_t *segment)
{
    attach_t *const from = attach_of(segment, program->process);
    if (from->count == 0) {
        return EINVAL;
    }
    detach(segment, from, 1);
    return 0;
}

// Opens the file behind a descriptor of the process. Returns -1 if that is none, or not for both
// reading and writing.
static int open_file(const app__process_t *process, int descriptor, struct stat *status)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process->pid, descriptor);
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0 && (fstat(file, status) != 0 || !S_ISREG(status->st_mode))) {
        close(file);
        return -1;
    }
    return file;
}

// Makes a file that the process has mapped a segment, unless it is one.
static int take_file(app__program_t *program, program_call_t *call)
{
    app__segments_t *const segments = program->segments;
    struct stat wanted;
    struct stat known;
    segment_t segment = {.status = {.mode = SHM_DEST}};
    segment.file = open_file(program->process, call->status, &wanted);
    if (segment.file < 0) {
        return EBADF;
    }
    size_t i = 0;
    while (i < segments->count &&
           (segments->segments[i].file < 0 || fstat(segments->segments[i].file, &known) != 0 ||
            known.st_ino != wanted.st_ino || known.st_dev != wanted.st_dev)) {
        i++;
    }
    if (i < segments->count || count_living(segments) >= SEGMENTS_MAX) {
        drop_pages(&segment);
    } else {
        SIM_APPEND(segments->segments, segments->count, segments->capacity, segment);
    }
    if (i == segments->count) {
        return ENOSPC;
    }
    call->handle = (uint32_t)i;
    attach(&segments->segments[i], program->process, 1);
    app__segments_share(program);
    return 0;
}

int app__segment_call(app__program_t *program, program_call_t *call, int *descriptor)
{
    segment_t *const segment = find(program->segments, call->handle);
    if (call->op == PROGRAM_SEGMENT_GET) {
        return get(program, call);
    }
    if (call->op == PROGRAM_SEGMENT_FILE) {
        return take_file(program, call);
    }
    if (segment == NULL) {
        return EINVAL;
    }
    const uint32_t mode = call->segment.mode & 0777;
    call->segment = segment->status;
    switch (call->op) {
    case PROGRAM_SEGMENT_ATTACH:
        return give(program, segment, descriptor);
    case PROGRAM_SEGMENT_DETACH:
        return take_back(program, segment);
    case PROGRAM_SEGMENT_MODE:
        segment->status.mode = (segment->status.mode & SHM_DEST) | mode;
        return 0;
    case PROGRAM_SEGMENT_REMOVE:
        segment->status.mode |= SHM_DEST;
        if (segment->status.attaches == 0) {
            drop_pages(segment);
        }
        return 0;
    default:
        return 0;
    }
}
