// SPDX-License-Identifier: Apache-2.0
// programs/verbs/pages.c - moves pages of the process into the memory file.
//
// A page keeps its place in the file for ever: when new memory appears at an address whose old page
// is gone, it takes the old place, so that programs which map and unmap buffers fill no memory.
// The move itself runs on a stack of its own, since the program's stack may be what is moved.

#include "programs/verbs/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "programs/system.h"
#include "programs/turn.h"
#include "programs/verbs/segments.h"

#define PAGE_BYTES UINT64_C(4096)
#define HUGE_BYTES (UINT64_C(2) << 20)
#define STACK_ROOM_BYTES 65536u
#define VIEW_BYTES (UINT64_C(64) << 20) // of the file, while pages are copied

// A line of /proc/self/maps.
typedef struct mapping {
    uint64_t begin;
    uint64_t end;
    uint64_t offset;
    uint64_t inode;
    uint32_t device_major;
    uint32_t device_minor;
    int protection;
    bool shared;
    bool anonymous_shared; // memory that only children of a fork could share
    uint32_t segment;      // its number plus 1; 0: none
    bool huge;
    bool stack;
    bool heap; // of the C library, which grows in small steps
} mapping_t;

// Pages that were moved: [begin, end) lies, or lay, at `offset`.
typedef struct extent {
    uint64_t begin;
    uint64_t end;
    uint64_t offset;
    bool shared; // with processes that are forked
} extent_t;

static extent_t *extents;
static size_t extent_count;
static size_t extent_capacity;
static uint64_t file_bytes;

static mapping_t *mappings;
static size_t mapping_count;
static size_t mapping_capacity;

// -- /proc/self/maps

// Returns the whole file, or NULL. Memory that is allocated between two reads may change a line
// that was read, and the file would have it twice: so a larger buffer is filled from the beginning.
static const char *read_maps(void)
{
    static char *text;
    static size_t capacity;
    for (;;) {
        const int maps =
            (int)system_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
        if (maps < 0) {
            return NULL;
        }
        size_t length = 0;
        long got = 1;
        while (length < capacity && got > 0) {
            got = system_call(SYS_read, maps, text + length, capacity - length);
            length += got > 0 ? (size_t)got : 0;
        }
        system_call(SYS_close, maps);
        if (length < capacity) {
            text[length] = '\0';
            return text;
        }
        char *larger = realloc(text, capacity == 0 ? 1u << 16 : capacity * 2);
        if (larger == NULL) {
            return NULL;
        }
        text = larger;
        capacity = capacity == 0 ? 1u << 16 : capacity * 2;
    }
}

static bool parse_mapping(const char *line, mapping_t *mapping)
{
    char flags[8] = "";
    char name[64] = "";
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long offset = 0;
    unsigned long inode = 0;
    unsigned int major = 0;
    unsigned int minor = 0;
    // NOLINTNEXTLINE(cert-err34-c): the kernel writes these numbers
    if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %63[^\n]", &begin, &end, flags, &offset, &major,
               &minor, &inode, name) < 7) {
        return false;
    }
    *mapping = (mapping_t){.begin = begin,
                           .end = end,
                           .offset = offset,
                           .inode = inode,
                           .device_major = major,
                           .device_minor = minor,
                           .shared = flags[3] == 's',
                           .anonymous_shared = strncmp(name, "/dev/zero", 9) == 0,
                           .segment = flags[3] == 's' ? segments_of_inode(inode) : 0,
                           .huge = strncmp(name, "/anon_hugepage", 14) == 0,
                           .stack = strncmp(name, "[stack", 6) == 0,
                           .heap = strncmp(name, "[heap]", 6) == 0};
    mapping->protection = (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0) |
                          (flags[2] == 'x' ? PROT_EXEC : 0);
    return true;
}

// Reads all mappings of the process, in the order of their addresses.
static int list_mappings(void)
{
    const char *text = read_maps();
    if (text == NULL) {
        return ENOMEM;
    }
    mapping_count = 0;
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *next = strchr(line, '\n');
        if (mapping_count == mapping_capacity) {
            const size_t capacity = mapping_capacity == 0 ? 256 : mapping_capacity * 2;
            mapping_t *larger = realloc(mappings, capacity * sizeof *larger);
            if (larger == NULL) {
                break;
            }
            mappings = larger;
            mapping_capacity = capacity;
        }
        mapping_count += parse_mapping(line, &mappings[mapping_count]);
        line = next == NULL ? NULL : next + 1;
    }
    return mapping_count == 0 ? ENOMEM : 0;
}

// -- places in the file

// Returns true if any mapping shows this part of the memory file.
static bool is_mapped(uint64_t offset, uint64_t bytes, const struct stat *file)
{
    for (size_t i = 0; i < mapping_count; i++) {
        const mapping_t *mapping = &mappings[i];
        if (mapping->shared && mapping->inode == (uint64_t)file->st_ino &&
            mapping->offset < offset + bytes &&
            offset < mapping->offset + (mapping->end - mapping->begin)) {
            return true;
        }
    }
    return false;
}

// Returns a place in the file for [begin, end), and the number of bytes in `bytes` that it is for:
// the old place of these pages, or a new one.
static uint64_t find_place(uint64_t begin, uint64_t end, const struct stat *file, uint64_t *bytes)
{
    uint64_t stop = end;
    for (size_t i = 0; i < extent_count; i++) {
        const extent_t *extent = &extents[i];
        if (extent->begin <= begin && begin < extent->end) {
            const uint64_t offset = extent->offset + (begin - extent->begin);
            *bytes = (extent->end < end ? extent->end : end) - begin;
            if (!is_mapped(offset, *bytes, file)) {
                return offset;
            }
        } else if (extent->begin > begin && extent->begin < stop) {
            stop = extent->begin;
        }
    }
    *bytes = stop - begin;
    const uint64_t offset = turn_shared->memory_used_bytes;
    turn_shared->memory_used_bytes += (*bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
    return offset;
}

static int note_extent(uint64_t begin, uint64_t end, uint64_t offset, bool shared)
{
    for (size_t i = 0; i < extent_count; i++) {
        if (extents[i].begin <= begin && end <= extents[i].end &&
            extents[i].offset + (begin - extents[i].begin) == offset) {
            return 0;
        }
    }
    if (extent_count == extent_capacity) {
        const size_t capacity = extent_capacity == 0 ? 64 : extent_capacity * 2;
        extent_t *larger = realloc(extents, capacity * sizeof *larger);
        if (larger == NULL) {
            return ENOMEM;
        }
        extents = larger;
        extent_capacity = capacity;
    }
    extents[extent_count++] =
        (extent_t){.begin = begin, .end = end, .offset = offset, .shared = shared};
    return 0;
}

// -- the move

typedef struct move {
    uint64_t begin;
    uint64_t bytes;
    uint64_t offset;
    int protection;
    int error;
} move_t;

static bool is_zero(const uint64_t *page)
{
    uint64_t any = 0;
    for (size_t i = 0; i < PAGE_BYTES / sizeof *page && any == 0; i += 8) {
        any = page[i] | page[i + 1] | page[i + 2] | page[i + 3] | page[i + 4] | page[i + 5] |
              page[i + 6] | page[i + 7];
    }
    return any == 0;
}

// Copies the pages into the file and maps the file over them. Nothing that this function writes to
// may lie in the pages.
static void move_pages(void *argument)
{
    move_t *move = argument;
    for (uint64_t begin = 0; begin < move->bytes; begin += VIEW_BYTES) {
        const uint64_t left = move->bytes - begin;
        const uint64_t bytes = left < VIEW_BYTES ? left : VIEW_BYTES;
        const long view = system_call(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                      PROGRAM_MEMORY_FD, move->offset + begin);
        if (view == -1) {
            move->error = ENOMEM;
            return;
        }
        for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
            const uint64_t *from = (const uint64_t *)(uintptr_t)(move->begin + begin + at);
            if (!is_zero(from)) {
                memcpy((void *)(uintptr_t)((uint64_t)view + at), from, PAGE_BYTES);
            }
        }
        system_call(SYS_munmap, view, bytes);
    }
    if (system_call(SYS_mmap, move->begin, move->bytes, move->protection, MAP_SHARED | MAP_FIXED,
                    PROGRAM_MEMORY_FD, move->offset) == -1) {
        move->error = ENOMEM;
    }
}

// Calls function(argument) on another stack, which ends at `top`.
static __attribute__((noinline)) void call_on_stack(void (*function)(void *), void *argument,
                                                    void *top)
{
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "callq *%[function]\n\t"
                     "movq %%rbx, %%rsp\n\t"
                     : "+D"(argument)
                     : [function] "r"(function), [top] "r"(top)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc",
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// Touches the stack below the caller, so that it can grow below pages of it that are moved.
static __attribute__((noinline)) void touch_stack(void)
{
    volatile char room[STACK_ROOM_BYTES];
    for (size_t i = 0; i < sizeof room; i += 1024) {
        room[i] = 0;
    }
}

// Moves [begin, end). Its place has room until `room_end` for what is moved later.
static int move_range(uint64_t begin, uint64_t end, uint64_t room_end, const mapping_t *of,
                      const struct stat *file)
{
    static char stack[STACK_ROOM_BYTES] __attribute__((aligned(4096)));
    static move_t move;
    while (begin < end) {
        uint64_t room = 0;
        const uint64_t offset = find_place(begin, room_end, file, &room);
        const uint64_t bytes = room < end - begin ? room : end - begin;
        if (offset + bytes > file_bytes) {
            const uint64_t wanted = (offset + bytes) * 2;
            if (system_call(SYS_ftruncate, PROGRAM_MEMORY_FD, wanted) != 0 &&
                system_call(SYS_ftruncate, PROGRAM_MEMORY_FD, offset + bytes) != 0) {
                return ENOMEM;
            }
            file_bytes = wanted;
        }
        system_call(SYS_fallocate, PROGRAM_MEMORY_FD, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    offset, bytes);
        if (note_extent(begin, begin + room, offset, of->shared) != 0) {
            return ENOMEM;
        }
        move = (move_t){.begin = begin,
                        .bytes = bytes,
                        .offset = offset,
                        .protection = of->protection};
        turn_hold();
        call_on_stack(move_pages, &move, stack + sizeof stack - 64);
        turn_release();
        if (move.error != 0) {
            return move.error;
        }
        begin += bytes;
    }
    return 0;
}

// Returns true if the pages lie where the NIC can reach them.
static bool is_reached(const mapping_t *mapping, const struct stat *file)
{
    return mapping->shared && (mapping->segment != 0 || mapping->inode == (uint64_t)file->st_ino);
}

// Returns 0 if the NIC may reach the part of a mapping, once it is moved.
static int check_mapping(const mapping_t *mapping, bool write, const struct stat *file)
{
    if ((mapping->protection & PROT_READ) == 0 ||
        (write && (mapping->protection & PROT_WRITE) == 0)) {
        return EFAULT;
    }
    if (mapping->shared && !mapping->anonymous_shared && !is_reached(mapping, file)) {
        turn_say("rocesim: memory of a file cannot be registered, since the file cannot be opened "
                 "for writing");
        return EOPNOTSUPP;
    }
    return 0;
}

// Says to the simulator where the pages lie that the mappings show.
static int announce(uint64_t begin, uint64_t end, const struct stat *file)
{
    for (size_t i = 0; i < mapping_count; i++) {
        const mapping_t *mapping = &mappings[i];
        if (mapping->end <= begin || mapping->begin >= end) {
            continue;
        }
        const uint64_t from = mapping->begin > begin ? mapping->begin : begin;
        const uint64_t to = mapping->end < end ? mapping->end : end;
        if (!is_reached(mapping, file)) {
            return EFAULT;
        }
        program_call_t call = {.op = PROGRAM_MAP,
                               .count = mapping->segment,
                               .memory = {.address = from,
                                          .length_bytes = to - from,
                                          .offset = mapping->offset + (from - mapping->begin)}};
        const int error = turn_call(&call);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

// Moves the private mappings of [begin, end), and sets `moved` if there are any. Their list is that
// of before.
static int move_mappings(uint64_t begin, uint64_t end, bool write, const struct stat *file,
                         bool *moved)
{
    uint64_t covered = begin;
    for (size_t i = 0; i < mapping_count && covered < end; i++) {
        mapping_t *mapping = &mappings[i];
        if (mapping->end <= begin) {
            continue;
        }
        if (mapping->shared && !mapping->anonymous_shared && !is_reached(mapping, file)) {
            mapping->segment = segments_of_mapping(
                mapping->begin, mapping->end, makedev(mapping->device_major, mapping->device_minor),
                mapping->inode);
        }
        const int error = mapping->begin > covered ? EFAULT : check_mapping(mapping, write, file);
        if (error != 0) {
            return error;
        }
        covered = mapping->end;
    }
    if (covered < end) {
        return EFAULT;
    }
    for (size_t i = 0; i < mapping_count; i++) {
        const mapping_t *mapping = &mappings[i];
        // Small pieces of a heap would make a mapping each, so their neighbours go with them.
        const uint64_t unit = mapping->huge || mapping->heap ? HUGE_BYTES : PAGE_BYTES;
        if (mapping->end <= begin || mapping->begin >= end || is_reached(mapping, file)) {
            continue;
        }
        const uint64_t first = begin & ~(unit - 1);
        const uint64_t last = (end + unit - 1) & ~(unit - 1);
        const uint64_t from = mapping->begin > first ? mapping->begin : first;
        const uint64_t to = mapping->end < last ? mapping->end : last;
        if (mapping->stack) {
            touch_stack();
        }
        const int error = move_range(from, to, mapping->heap ? last : to, mapping, file);
        if (error != 0) {
            return error;
        }
        *moved = true;
    }
    return 0;
}

int pages_share(uintptr_t address, size_t length, bool write)
{
    struct stat file;
    const uint64_t begin = address & ~(PAGE_BYTES - 1);
    if (length > UINT64_MAX - address - PAGE_BYTES) {
        return EFAULT;
    }
    const uint64_t end = (address + length + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    if (fstat(PROGRAM_MEMORY_FD, &file) != 0) {
        return ENOMEM;
    }
    if (file_bytes == 0) {
        // After exec the file has pages of the program of before. They are given up.
        file_bytes = (uint64_t)file.st_size;
    }
    bool moved = false;
    int error = list_mappings();
    if (error == 0) {
        error = move_mappings(begin, end, write, &file, &moved);
    }
    if (error == 0 && moved) {
        error = list_mappings();
    }
    return error == 0 ? announce(begin, end, &file) : error;
}

// -- processes that are forked

// Copies pages of the file into private memory at the same place.
static void copy_pages(void *argument)
{
    const move_t *move = argument;
    const long copy = system_call(SYS_mmap, NULL, move->bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == -1) {
        turn_fail("a process that was forked has no memory for pages that its parent registered");
    }
    memcpy((void *)(uintptr_t)copy, (const void *)(uintptr_t)move->begin, move->bytes);
    system_call(SYS_mprotect, copy, move->bytes, move->protection);
    system_call(SYS_mremap, copy, move->bytes, move->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                move->begin);
}

static bool lies_in_shared(uint64_t offset)
{
    for (size_t i = 0; i < extent_count; i++) {
        if (extents[i].shared && extents[i].offset <= offset &&
            offset < extents[i].offset + (extents[i].end - extents[i].begin)) {
            return true;
        }
    }
    return false;
}

void pages_before_fork(void)
{
    if (extent_count == 0 || list_mappings() != 0) {
        mapping_count = 0;
    }
}

// Until it has copied them, the child may not write to pages of its parent: it allocates nothing.
void pages_forked(void)
{
    static char stack[STACK_ROOM_BYTES] __attribute__((aligned(4096)));
    static move_t move;
    struct stat file;
    if (mapping_count == 0 || fstat(PROGRAM_MEMORY_FD, &file) != 0) {
        return;
    }
    for (size_t i = 0; i < mapping_count; i++) {
        const mapping_t *mapping = &mappings[i];
        if (mapping->shared && mapping->inode == (uint64_t)file.st_ino &&
            !lies_in_shared(mapping->offset)) {
            move = (move_t){.begin = mapping->begin,
                            .bytes = mapping->end - mapping->begin,
                            .protection = mapping->protection};
            call_on_stack(copy_pages, &move, stack + sizeof stack - 64);
        }
    }
    // New places in the file: the old ones are the parent's.
    size_t kept = 0;
    for (size_t i = 0; i < extent_count; i++) {
        if (extents[i].shared) {
            extents[kept++] = extents[i];
        }
    }
    extent_count = kept;
}
