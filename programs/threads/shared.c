// SPDX-License-Identifier: Apache-2.0
// programs/threads/shared.c - memory that processes share, and semaphores with names, which lie in
// it.

#include "programs/threads/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "programs/system.h"
#include "programs/threads/threads.h"

#define HUGE_BYTES (UINT64_C(2) << 20)

typedef struct range {
    uint64_t begin;
    uint64_t end;
    uint64_t file; // a hash of the device and the inode
    uint64_t offset;
} range_t;

static range_t *ranges;
static size_t range_count;
static size_t range_capacity;

static uint64_t mix(uint64_t value)
{
    value ^= value >> 31;
    value *= UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 29;
}

static const range_t *find(const volatile void *object)
{
    const uint64_t address = (uintptr_t)object;
    for (size_t i = 0; i < range_count; i++) {
        if (address >= ranges[i].begin && address < ranges[i].end) {
            return &ranges[i];
        }
    }
    return NULL;
}

static void append(range_t range)
{
    if (range_count == range_capacity) {
        const size_t capacity = range_capacity == 0 ? 16 : range_capacity * 2;
        range_t *grown = realloc(ranges, capacity * sizeof *ranges);
        if (grown == NULL) {
            return;
        }
        ranges = grown;
        range_capacity = capacity;
    }
    if (range.begin < range.end) {
        ranges[range_count++] = range;
    }
}

void shared_add(uint64_t address, uint64_t bytes, uint64_t device, uint64_t inode, uint64_t offset)
{
    append((range_t){address, address + bytes, mix(mix(device) + inode), offset});
}

void shared_remove(uint64_t address, uint64_t bytes)
{
    const uint64_t end = address + bytes;
    for (size_t i = 0; i < range_count;) {
        const range_t range = ranges[i];
        if (range.end <= address || range.begin >= end) {
            i++;
            continue;
        }
        ranges[i] = ranges[--range_count];
        if (range.begin < address) {
            append((range_t){range.begin, address, range.file, range.offset});
        }
        if (range.end > end) {
            append((range_t){end, range.end, range.file, range.offset + (end - range.begin)});
        }
    }
}

// Lets other programs of the host look at their memory when this one has had a turn, and wakes of
// each reach the other.
static void begin_sharing(void)
{
    static bool shares;
    if (!shares && turn_on() && turn_is_mine() && !turn_busy()) {
        program_call_t call = {.op = PROGRAM_SHARE};
        shares = true;
        (void)turn_call(&call);
    }
}

uint64_t shared_key(const volatile void *object)
{
    const range_t *range = range_count == 0 ? NULL : find(object);
    if (range == NULL) {
        return (uintptr_t)object;
    }
    begin_sharing();
    return mix(range->file + range->offset + ((uintptr_t)object - range->begin)) |
           PROGRAM_KEY_SHARED;
}

bool shared_object(const volatile void *object)
{
    if (range_count == 0 || find(object) == NULL) {
        return false;
    }
    threads_become_many();
    return true;
}

void *shared_libc(const char *name)
{
    return PROGRAM_NEXT(dlvsym)(RTLD_NEXT, name, "GLIBC_2.2.5");
}

uint64_t shared_find_room(uint64_t bytes, uint64_t unit)
{
    const long room = system_call(SYS_mmap, NULL, bytes + unit, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == -1) {
        return 0;
    }
    const uint64_t begin = ((uint64_t)room + unit - 1) & ~(unit - 1);
    system_call(SYS_munmap, room, begin - (uint64_t)room);
    system_call(SYS_munmap, begin + bytes, (uint64_t)room + unit - begin);
    return begin;
}

// Maps memory in huge pages (MAP_HUGETLB). The pages are those that this machine has, at the place
// where huge ones would be.
static void *map_huge(void *wish, size_t bytes, int protection, int flags)
{
    const uint32_t size = (uint32_t)flags >> MAP_HUGE_SHIFT & MAP_HUGE_MASK;
    const uint64_t unit = size == 0 ? HUGE_BYTES : UINT64_C(1) << size;
    const uint64_t whole = (bytes + unit - 1) & ~(unit - 1);
    uint64_t place = (uintptr_t)wish;
    flags &= ~(int)(MAP_HUGETLB | (uint32_t)MAP_HUGE_MASK << MAP_HUGE_SHIFT);
    const bool fixed = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
    if (bytes == 0 || unit < HUGE_BYTES || whole < bytes || (fixed && (place & (unit - 1)) != 0)) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    if (!fixed) {
        place = shared_find_room(whole, unit);
        flags |= MAP_FIXED;
    }
    if (!turn_shared->huge_pages || (place == 0 && !fixed)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)system_call(SYS_mmap, place, whole, protection, flags, -1, 0);
}

// -- mapped files. The C library's own mappings are not seen, and libraries of memory management
// map before this one is ready. Calls go on to the C library, whose code other libraries may have
// replaced to follow mappings, as UCX's libucm does.

static __typeof__(mmap) *libc_mmap;
static __typeof__(munmap) *libc_munmap;

static __attribute__((constructor(101))) void find_libc(void)
{
    void *const found[] = {shared_libc("mmap"), shared_libc("munmap")};
    memcpy(&libc_mmap, &found[0], sizeof libc_mmap);
    memcpy(&libc_munmap, &found[1], sizeof libc_munmap);
}

PROGRAM_EXPORT void *mmap(void *wish, size_t bytes, int protection, int flags, int file,
                          off_t offset)
{
    struct stat status;
    const bool huge = (flags & MAP_HUGETLB) != 0 && (flags & MAP_ANONYMOUS) != 0 && turn_on();
    void *place = huge                ? map_huge(wish, bytes, protection, flags)
                  : libc_mmap != NULL ? libc_mmap(wish, bytes, protection, flags, file, offset)
                                      : (void *)(uintptr_t)system_call(
                                            SYS_mmap, wish, bytes, protection, flags, file, offset);
    if (place == MAP_FAILED || !turn_on()) {
        return place;
    }
    if ((flags & MAP_FIXED) != 0 && range_count != 0) {
        shared_remove((uintptr_t)place, bytes);
    }
    if ((flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0 && file >= 0 &&
        fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        shared_add((uintptr_t)place, bytes, status.st_dev, status.st_ino, (uint64_t)offset);
        if (status.st_nlink != 0) {
            begin_sharing();
        }
    }
    return place;
}

PROGRAM_EXPORT void *mmap64(void *wish, size_t bytes, int protection, int flags, int file,
                            off64_t offset)
{
    return mmap(wish, bytes, protection, flags, file, offset);
}

PROGRAM_EXPORT int munmap(void *place, size_t bytes)
{
    if (range_count != 0) {
        shared_remove((uintptr_t)place, bytes);
    }
    return libc_munmap != NULL ? libc_munmap(place, bytes)
                               : (int)system_call(SYS_munmap, place, bytes);
}

// -- semaphores with names: files below /dev/shm, as the C library has them

typedef struct named {
    sem_t *semaphore;
    ino_t inode;
    unsigned users;
    struct named *next;
} named_t;

static named_t *all_named;

// Writes the path of a name into `path`. Returns false, with errno, if it is none.
static bool path_of(const char *name, char path[PATH_MAX])
{
    name += strspn(name, "/");
    if (*name == '\0' || strchr(name, '/') != NULL || strlen(name) > NAME_MAX - 4) {
        errno = EINVAL;
        return false;
    }
    snprintf(path, PATH_MAX, "/dev/shm/sem.%s", name);
    return true;
}

// Opens the file of a semaphore, and writes a new one, which no other process sees half: this one
// has the turn.
static int open_file(const char *path, int flags, mode_t mode, unsigned value)
{
    int file = -1;
    if ((flags & O_CREAT) != 0) {
        sem_t made;
        if (sem_init(&made, 1, value) != 0) {
            return -1;
        }
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (file >= 0 && system_call(SYS_write, file, &made, sizeof made) != (long)sizeof made) {
            system_call(SYS_close, file);
            return -1;
        }
    }
    if (file < 0 && ((flags & O_CREAT) == 0 || (errno == EEXIST && (flags & O_EXCL) == 0))) {
        file = open(path, O_RDWR | O_CLOEXEC);
    }
    return file;
}

static sem_t *open_named(const char *path, int flags, mode_t mode, unsigned value)
{
    struct stat status;
    const int file = open_file(path, flags, mode, value);
    if (file < 0 || fstat(file, &status) != 0) {
        return SEM_FAILED;
    }
    named_t *named = all_named;
    while (named != NULL && named->inode != status.st_ino) {
        named = named->next;
    }
    if (named == NULL && (named = calloc(1, sizeof *named)) != NULL) {
        void *place = mmap(NULL, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        *named = (named_t){place, status.st_ino, 0, all_named};
        all_named = named;
    }
    system_call(SYS_close, file);
    if (named == NULL) {
        errno = ENOMEM;
        return SEM_FAILED;
    }
    named->users++;
    return named->semaphore;
}

PROGRAM_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
    char path[PATH_MAX];
    va_list list;
    va_start(list, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    const unsigned value = (flags & O_CREAT) != 0 ? va_arg(list, unsigned) : 0;
    va_end(list);
    if (!turn_enter("sem_open")) {
        return PROGRAM_NEXT(sem_open)(name, flags, mode, value);
    }
    return path_of(name, path) ? open_named(path, flags, mode, value) : SEM_FAILED;
}

PROGRAM_EXPORT int sem_close(sem_t *semaphore)
{
    named_t **at = &all_named;
    while (*at != NULL && (*at)->semaphore != semaphore) {
        at = &(*at)->next;
    }
    named_t *named = *at;
    if (named == NULL) {
        return PROGRAM_NEXT(sem_close)(semaphore);
    }
    named->users--;
    if (named->users == 0) {
        *at = named->next;
        (void)munmap(semaphore, sizeof *semaphore);
        free(named);
    }
    return 0;
}

PROGRAM_EXPORT int sem_unlink(const char *name)
{
    char path[PATH_MAX];
    if (!turn_on()) {
        return PROGRAM_NEXT(sem_unlink)(name);
    }
    return path_of(name, path) ? unlink(path) : -1;
}
