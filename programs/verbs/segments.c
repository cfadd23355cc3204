// SPDX-License-Identifier: Apache-2.0
// programs/verbs/segments.c - segments of System V. The simulator makes them: the pages of each are
// a file, which the process maps when it attaches the segment. Other files that a program maps and
// registers become segments, too.

#include "programs/verbs/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "programs/system.h"
#include "programs/threads/shared.h"
#include "programs/turn.h"

#define PAGE_BYTES UINT64_C(4096)
#define HUGE_BYTES (UINT64_C(2) << 20)
#define DESCRIPTORS 1024 // of a program, among which a mapped file is looked for

// A segment that is attached.
typedef struct segment {
    uint64_t address; // 0: a file that the program mapped itself
    uint64_t bytes;
    uint64_t inode;
    uint32_t id;
    struct segment *next;
} segment_t;

static segment_t *segments;

static long fail(int error)
{
    errno = error;
    return -1;
}

static long get(int key, size_t bytes, int flags)
{
    program_call_t call = {.op = PROGRAM_SEGMENT_GET,
                           .segment = {.bytes = bytes,
                                       .key = key,
                                       .flags = (uint32_t)(flags & ~0777),
                                       .mode = (uint32_t)(flags & 0777),
                                       .creator = getpid()}};
    turn_charge_call();
    const int error = turn_call(&call);
    return error == 0 ? (long)call.handle : fail(error);
}

// Maps the pages of a segment. Returns their address, or -1.
static long map_pages(int file, uint64_t bytes, uint64_t unit, const void *wish, int flags)
{
    uint64_t place = (uintptr_t)wish;
    const int protection = PROT_READ | ((flags & SHM_RDONLY) != 0 ? 0 : PROT_WRITE) |
                           ((flags & SHM_EXEC) != 0 ? PROT_EXEC : 0);
    int fixed = MAP_FIXED;
    if (wish == NULL) {
        place = shared_find_room(bytes, unit);
    } else {
        place = (flags & SHM_RND) != 0 ? place & ~(unit - 1) : place;
        fixed = (flags & SHM_REMAP) != 0 ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    }
    if (place == 0 || (place & (unit - 1)) != 0) {
        return fail(place == 0 ? ENOMEM : EINVAL);
    }
    const long address =
        system_call(SYS_mmap, place, bytes, protection, MAP_SHARED | fixed, file, 0);
    return address == -1 && errno == EEXIST ? fail(EINVAL) : address;
}

static void give_up(uint32_t id)
{
    program_call_t call = {.op = PROGRAM_SEGMENT_DETACH, .handle = id};
    (void)turn_call(&call);
}

static long attach(int id, const void *wish, int flags)
{
    program_call_t call = {.op = PROGRAM_SEGMENT_ATTACH, .handle = (uint32_t)id};
    int file;
    struct stat status;
    segment_t *segment = malloc(sizeof *segment);
    turn_charge_call();
    const int error = segment == NULL ? ENOMEM : turn_call_descriptor(&call, &file);
    if (error != 0) {
        free(segment);
        return fail(error);
    }
    const uint64_t unit = (call.segment.flags & SHM_HUGETLB) != 0 ? HUGE_BYTES : PAGE_BYTES;
    const uint64_t bytes = (call.segment.bytes + unit - 1) & ~(unit - 1);
    const bool known = fstat(file, &status) == 0;
    const long address = known ? map_pages(file, bytes, unit, wish, flags) : fail(ENOMEM);
    const int reason = errno;
    system_call(SYS_close, file);
    if (address == -1) {
        give_up(call.handle);
        free(segment);
        return fail(reason);
    }
    *segment = (segment_t){(uint64_t)address, bytes, status.st_ino, call.handle, segments};
    segments = segment;
    shared_add(segment->address, bytes, status.st_dev, status.st_ino, 0);
    return address;
}

static long detach(const void *address)
{
    segment_t **at = &segments;
    while (*at != NULL && (*at)->address != (uintptr_t)address) {
        at = &(*at)->next;
    }
    segment_t *segment = *at;
    if (segment == NULL) {
        return fail(EINVAL);
    }
    *at = segment->next;
    turn_charge_call();
    shared_remove(segment->address, segment->bytes);
    system_call(SYS_munmap, segment->address, segment->bytes);
    give_up(segment->id);
    free(segment);
    return 0;
}

static void fill_status(const program_segment_t *from, struct shmid_ds *to)
{
    memset(to, 0, sizeof *to);
    to->shm_perm.__key = from->key;
    to->shm_perm.uid = to->shm_perm.cuid = getuid();
    to->shm_perm.gid = to->shm_perm.cgid = getgid();
    to->shm_perm.mode = (unsigned short)from->mode;
    to->shm_segsz = from->bytes;
    to->shm_cpid = from->creator;
    to->shm_nattch = from->attaches;
}

static long control(int id, int command, struct shmid_ds *status)
{
    program_call_t call = {.handle = (uint32_t)id};
    switch (command) {
    case IPC_STAT:
    case SHM_LOCK: // all pages stay in memory in any case
    case SHM_UNLOCK:
        call.op = PROGRAM_SEGMENT_STATUS;
        break;
    case IPC_RMID:
        call.op = PROGRAM_SEGMENT_REMOVE;
        break;
    case IPC_SET:
        call.op = PROGRAM_SEGMENT_MODE;
        call.segment.mode = status->shm_perm.mode;
        break;
    default:
        return fail(EINVAL);
    }
    turn_charge_call();
    const int error = turn_call(&call);
    if (error != 0) {
        return fail(error);
    }
    if (command == IPC_STAT) {
        fill_status(&call.segment, status);
    }
    return 0;
}

bool segments_call(long number, const long arguments[3], long *result)
{
    const bool known = number == SYS_shmget || number == SYS_shmat || number == SYS_shmdt ||
                       (number == SYS_shmctl && arguments[1] != IPC_INFO);
    if (!known || !turn_enter("a function of shared memory")) {
        return false;
    }
    *result = number == SYS_shmget ? get((int)arguments[0], (size_t)arguments[1], (int)arguments[2])
              : number == SYS_shmat
                  ? attach((int)arguments[0], (const void *)arguments[1], (int)arguments[2])
              : number == SYS_shmdt
                  ? detach((const void *)arguments[0])
                  : control((int)arguments[0], (int)arguments[1], (struct shmid_ds *)arguments[2]);
    return true;
}

uint32_t segments_of_inode(uint64_t inode)
{
    const segment_t *segment = segments;
    while (segment != NULL && segment->inode != inode) {
        segment = segment->next;
    }
    return segment == NULL ? 0 : segment->id + 1;
}

// -- files that the program has mapped

// Opens the file that is mapped: by the mapping, which needs a privilege, or by a descriptor that
// the program has still open.
static int open_mapped(uint64_t begin, uint64_t end, uint64_t device, uint64_t inode)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", begin, end);
    int file = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    for (int i = 0; i < DESCRIPTORS && file < 0; i++) {
        if (fstat(i, &status) == 0 && status.st_ino == inode && status.st_dev == device &&
            (system_call(SYS_fcntl, i, F_GETFL) & O_ACCMODE) == O_RDWR) {
            file = (int)system_call(SYS_fcntl, i, F_DUPFD_CLOEXEC, 0);
        }
    }
    return file;
}

uint32_t segments_of_mapping(uint64_t begin, uint64_t end, uint64_t device, uint64_t inode)
{
    const int file = open_mapped(begin, end, device, inode);
    segment_t *segment = file < 0 ? NULL : malloc(sizeof *segment);
    program_call_t call = {.op = PROGRAM_SEGMENT_FILE, .status = file};
    const int error = segment == NULL ? ENOMEM : turn_call(&call);
    if (file >= 0) {
        system_call(SYS_close, file);
    }
    if (error != 0) {
        free(segment);
        return 0;
    }
    *segment = (segment_t){.inode = inode, .id = call.handle, .next = segments};
    segments = segment;
    return call.handle + 1;
}

// -- the functions of the C library: our own syscall() comes back to this file

PROGRAM_EXPORT int shmget(key_t key, size_t bytes, int flags)
{
    return (int)syscall(SYS_shmget, key, bytes, flags);
}

// The first bytes of a function of the C library.
typedef struct code {
    const uint8_t *place;
    uint8_t bytes[16];
} code_t;

static code_t shmat_code;
static code_t shmdt_code;

static code_t code_of(const char *name)
{
    code_t code = {.place = shared_libc(name)};
    if (code.place != NULL) {
        memcpy(code.bytes, code.place, sizeof code.bytes);
    }
    return code;
}

static __attribute__((constructor(101))) void note_codes(void)
{
    shmat_code = code_of("shmat");
    shmdt_code = code_of("shmdt");
}

// Returns true if a library, such as UCX's libucm, has replaced the code of the function. That
// library gets the call then, and makes it by syscall().
static bool is_replaced(const code_t *code)
{
    return code->place != NULL && memcmp(code->bytes, code->place, sizeof code->bytes) != 0;
}

PROGRAM_EXPORT void *shmat(int id, const void *wish, int flags)
{
    __typeof__(shmat) *replaced;
    memcpy(&replaced, &shmat_code.place, sizeof replaced);
    return is_replaced(&shmat_code) ? replaced(id, wish, flags)
                                    : (void *)syscall(SYS_shmat, id, wish, flags);
}

PROGRAM_EXPORT int shmdt(const void *address)
{
    __typeof__(shmdt) *replaced;
    memcpy(&replaced, &shmdt_code.place, sizeof replaced);
    return is_replaced(&shmdt_code) ? replaced(address) : (int)syscall(SYS_shmdt, address);
}

PROGRAM_EXPORT int shmctl(int id, int command, struct shmid_ds *status)
{
    return (int)syscall(SYS_shmctl, id, command, status);
}
