// SPDX-License-Identifier: Apache-2.0
// programs/spin/memory.c - sums over the memory of a process.
//
// A loop that only changes memory has equal registers again and again: an interpreter that counts,
// for example. It is no loop that waits. So everything that it may write is compared: pages that
// are not shared, can be written, and have been touched.

#include "programs/spin/memory.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "programs/process/code.h"
#include "programs/system.h"

#define PAGE_BYTES 4096u
#define PAGES 4096u                      // looked for at once
#define MAPPING_MAX ((uintptr_t)1 << 36) // bytes; those of a sanitizer are larger
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define VECTORS_BEGIN 32u // in FXSAVE's area: x87's registers, then the XMM
#define VECTORS_END 416u
#define LIBRARIES_MAX 4u
#define EXCEPT_MAX (LIBRARIES_MAX + 2)

typedef struct range {
    uintptr_t begin;
    uintptr_t end;
} range_t;

static range_t except[EXCEPT_MAX]; // whose bytes do not count; those of this library come first
static uint32_t library_count;
static uint8_t present[PAGES];

static uint64_t add(uint64_t sum, const uint8_t *at, size_t bytes)
{
    for (; bytes >= sizeof sum; at += sizeof sum, bytes -= sizeof sum) {
        uint64_t word;
        __asm__ volatile("movq %1, %0" : "=r"(word) : "m"(*(const uint64_t *)(const void *)at));
        sum = (sum ^ word) * FACTOR;
        sum ^= sum >> 32;
    }
    return sum;
}

static uint64_t add_range(uint64_t sum, uintptr_t begin, uintptr_t end)
{
    while (begin < end) {
        uintptr_t until = end;
        uintptr_t next = end;
        for (uint32_t i = 0; i < EXCEPT_MAX; i++) {
            const range_t *range = &except[i];
            if (range->end > begin && range->begin < until) {
                until = range->begin > begin ? range->begin : begin;
                next = range->end;
            }
        }
        sum = add(sum, (const uint8_t *)begin, until - begin);
        begin = next;
    }
    return sum;
}

// Adds the pages between two addresses that are in memory.
static uint64_t add_present(uint64_t sum, uintptr_t begin, uintptr_t end)
{
    for (uintptr_t at = begin & ~(uintptr_t)(PAGE_BYTES - 1); at < end;) {
        const size_t left = (end - at + PAGE_BYTES - 1) / PAGE_BYTES;
        const size_t pages = left < PAGES ? left : PAGES;
        if (system_call(SYS_mincore, at, pages * PAGE_BYTES, present) != 0) {
            return sum;
        }
        for (size_t i = 0; i < pages; i++, at += PAGE_BYTES) {
            if ((present[i] & 1) != 0) {
                sum = add_range(sum ^ at, at < begin ? begin : at, at + PAGE_BYTES);
            }
        }
    }
    return sum;
}

// -- the list of the kernel

typedef struct reader {
    int file;
    long count;
    long at;
    char bytes[PAGE_BYTES];
} reader_t;

static int next(reader_t *reader)
{
    if (reader->at == reader->count) {
        reader->count = system_call(SYS_read, reader->file, reader->bytes, sizeof reader->bytes);
        reader->at = 0;
    }
    return reader->count <= 0 ? -1 : reader->bytes[reader->at++];
}

static uintptr_t next_number(reader_t *reader, int *end)
{
    uintptr_t number = 0;
    int digit = next(reader);
    for (; (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f'); digit = next(reader)) {
        number = number * 16 + (uintptr_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    *end = digit;
    return number;
}

// Reads a line: "BEGIN-END rw-p ...". Returns false behind the last one.
static bool next_mapping(reader_t *reader, range_t *range, bool *counts)
{
    char rights[4] = "";
    int end;
    range->begin = next_number(reader, &end);
    range->end = next_number(reader, &end);
    for (size_t i = 0; i < sizeof rights && end >= 0; i++) {
        rights[i] = (char)(end = next(reader));
    }
    *counts = memcmp(rights, "rw", 2) == 0 && rights[3] == 'p' &&
              range->end - range->begin <= MAPPING_MAX;
    while (end >= 0 && end != '\n') {
        end = next(reader);
    }
    return end >= 0;
}

uint64_t memory_sum(uintptr_t stack, const void *own, size_t own_bytes)
{
    static reader_t reader;
    stack_t handlers = {0};
    range_t range;
    bool counts;
    uint64_t sum = 0;
    (void)system_call(SYS_sigaltstack, NULL, &handlers);
    except[LIBRARIES_MAX] = (range_t){(uintptr_t)own, (uintptr_t)own + own_bytes};
    except[LIBRARIES_MAX + 1] =
        (range_t){(uintptr_t)handlers.ss_sp, (uintptr_t)handlers.ss_sp + handlers.ss_size};
    reader.file = (int)system_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    reader.count = reader.at = 0;
    while (reader.file >= 0 && next_mapping(&reader, &range, &counts)) {
        if (counts) {
            const bool is_stack = stack >= range.begin && stack < range.end;
            sum = add_present(sum, is_stack ? stack : range.begin, range.end);
        }
    }
    system_call(SYS_close, reader.file);
    return sum;
}

uint64_t memory_sum_vectors(const void *vectors)
{
    return vectors == NULL
               ? 0
               : add(0, (const uint8_t *)vectors + VECTORS_BEGIN, VECTORS_END - VECTORS_BEGIN);
}

// The library is there twice, since programs ask for two names.
static int find_library(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    const char *name = object->dlpi_name;
    range_t range = {UINTPTR_MAX, 0};
    bool is_own = strstr(name, "/libibverbs.so") != NULL || strstr(name, "/librdmacm.so") != NULL;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
        const uintptr_t end = begin + segment->p_memsz;
        if (segment->p_type == PT_LOAD) {
            is_own = is_own || code_is_own((const void *)begin);
            range.begin = begin < range.begin ? begin : range.begin;
            range.end = end > range.end ? end : range.end;
        }
    }
    if (is_own && library_count < LIBRARIES_MAX) {
        except[library_count++] = range;
    }
    return 0;
}

void memory_begin(void)
{
    (void)dl_iterate_phdr(find_library, NULL);
}
