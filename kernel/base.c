// SPDX-License-Identifier: Apache-2.0
// kernel/base.c - error texts, failed checks and memory that is never NULL.
//
// Exhausted memory ends the program here and nowhere else. A simulation that cannot hold its state
// cannot use an error code, and no caller needs a path that no test reaches.
#include "kernel/base.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

const char *sim_err_text(sim_err_t error)
{
    switch (error) {
#define SIM_ERR_CASE(name, value, text) \
    case name:                          \
        return text;
        SIM_ERR_MAP(SIM_ERR_CASE)
#undef SIM_ERR_CASE
    }
    return "unknown error";
}

// Appends to the message's text.
static void SIM_PRINTF(2, 0) say(sim_message_t *message, const char *format, va_list arguments)
{
    const size_t used = strlen(message->text);
    if (vsnprintf(message->text + used, sizeof(message->text) - used, format, arguments) < 0) {
        message->text[used] = '\0';
    }
}

sim_err_t sim_fail(sim_message_t *message, sim_err_t error, const char *format, ...)
{
    if (message != NULL) {
        *message = (sim_message_t){.placed = false};
        va_list arguments;
        va_start(arguments, format);
        say(message, format, arguments);
        va_end(arguments);
    }
    return error;
}

sim_err_t sim_fail_about(sim_message_t *message, sim_err_t error, const char *about,
                         const char *format, ...)
{
    if (message != NULL) {
        *message = (sim_message_t){.placed = false};
        (void)snprintf(message->about, sizeof(message->about), "%s", about);
        (void)snprintf(message->text, sizeof(message->text), "%s", about);
        va_list arguments;
        va_start(arguments, format);
        say(message, format, arguments);
        va_end(arguments);
    }
    return error;
}

sim_err_t sim_fail_in(sim_message_t *message, sim_err_t error, const char *file, uint64_t line,
                      uint64_t column, const char *format, ...)
{
    if (message != NULL) {
        *message = (sim_message_t){.placed = true};
        (void)snprintf(message->text, sizeof(message->text), "%s:%" PRIu64 ":%" PRIu64 ": ", file,
                       line, column);
        va_list arguments;
        va_start(arguments, format);
        say(message, format, arguments);
        va_end(arguments);
    }
    return error;
}

void sim_check_failed(const char *file, int line, const char *expression, const char *format, ...)
{
    fprintf(stderr, "%s:%d: check failed: %s", file, line, expression);
    if (format != NULL) {
        fputs(": ", stderr);
        va_list arguments;
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
    }
    fputc('\n', stderr);
    fflush(stderr);
    abort();
}

void sim_give_up(const char *format, ...)
{
    char text[512]; // several threads may give up at once: each prints its line in one call
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "rocesim: %s\n", text);
    exit(1);
}

void sim_out_of_memory(size_t count, size_t size_bytes)
{
    if (count == 1) {
        sim_give_up("out of memory: %zu bytes asked for", size_bytes);
    }
    sim_give_up("out of memory: %zu elements of %zu bytes asked for", count, size_bytes);
}

void *sim_alloc(size_t size_bytes)
{
    return sim_alloc_array(1, size_bytes);
}

// Returns a pointer for zero bytes too, so that NULL always means: there is none.
void *sim_alloc_array(size_t count, size_t size_bytes)
{
    const bool empty = count == 0 || size_bytes == 0;
    void *memory = empty ? calloc(1, 1) : calloc(count, size_bytes);
    if (memory == NULL) {
        sim_out_of_memory(count, size_bytes);
    }
    return memory;
}

void *sim_realloc_array(void *memory, size_t count, size_t size_bytes)
{
    size_t total_bytes;
    if (__builtin_mul_overflow(count, size_bytes, &total_bytes)) {
        sim_out_of_memory(count, size_bytes);
    }
    void *grown = realloc(memory, total_bytes == 0 ? 1 : total_bytes);
    if (grown == NULL) {
        sim_out_of_memory(count, size_bytes);
    }
    return grown;
}

void *sim_alloc_lines(size_t size_bytes)
{
    size_t rounded_bytes;
    if (__builtin_add_overflow(size_bytes, (size_t)(SIM_CACHE_LINE - 1), &rounded_bytes)) {
        sim_out_of_memory(1, size_bytes);
    }
    rounded_bytes -= rounded_bytes % SIM_CACHE_LINE;
    if (rounded_bytes == 0) {
        rounded_bytes = SIM_CACHE_LINE;
    }
    // Large memory is walked at random: huge pages save most of its TLB misses.
    const bool huge = rounded_bytes >= HUGE_PAGE_BYTES / 2;
    if (huge) {
        rounded_bytes = (rounded_bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    }
    void *memory = aligned_alloc(huge ? HUGE_PAGE_BYTES : SIM_CACHE_LINE, rounded_bytes);
    if (memory == NULL) {
        sim_out_of_memory(1, size_bytes);
    }
    if (huge) {
        (void)madvise(memory, rounded_bytes, MADV_HUGEPAGE); // small pages work as well
    }
    memset(memory, 0, rounded_bytes);
    return memory;
}

void *sim_alloc_sparse(size_t size_bytes)
{
    void *const memory =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        sim_out_of_memory(1, size_bytes);
    }
    (void)madvise(memory, size_bytes, MADV_NOHUGEPAGE); // a huge one would bring its neighbours
    return memory;
}

void sim_free_sparse(void *memory, size_t size_bytes)
{
    if (memory != NULL) {
        (void)munmap(memory, size_bytes);
    }
}

#define OWN_PAGES_BYTES (1 << 20) // memory from this size on has pages of its own

void sim_return_freed(void)
{
#ifdef __GLIBC__
    // Without this, the library learns from large memory that was freed to keep more of it.
    (void)mallopt(M_MMAP_THRESHOLD, OWN_PAGES_BYTES);
    (void)malloc_trim(0);
#endif
}

char *sim_strdup(const char *text)
{
    const size_t size_bytes = strlen(text) + 1;
    char *copy = sim_alloc(size_bytes);
    memcpy(copy, text, size_bytes);
    return copy;
}

char *sim_format_list(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    SIM_CHECKF(length >= 0, "format \"%s\"", format);
    const size_t size_bytes = (size_t)length + 1;
    char *text = sim_alloc(size_bytes);
    vsnprintf(text, size_bytes, format, again);
    va_end(again);
    return text;
}

char *sim_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = sim_format_list(format, arguments);
    va_end(arguments);
    return text;
}

bool sim_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

void sim_free(void *memory)
{
    free(memory);
}

void sim_free_all(void *const *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(blocks[i]);
    }
}

void sim_free_each(const void *pointers, size_t count)
{
    for (size_t i = 0; pointers != NULL && i < count; i++) {
        void *block;
        memcpy(&block, (const char *)pointers + i * sizeof(block), sizeof(block));
        free(block);
    }
}

void *sim_reserve(void *memory, size_t count, void *capacity, size_t capacity_bytes,
                  size_t size_bytes)
{
    SIM_CHECK(capacity_bytes == sizeof(size_t) || capacity_bytes == sizeof(uint32_t));
    const bool wide = capacity_bytes == sizeof(size_t);
    const size_t before = wide ? *(const size_t *)capacity : *(const uint32_t *)capacity;
    if (count <= before) {
        return memory;
    }
    // The first elements fill a cache line: most arrays stay small, and there are millions of them.
    size_t after = before > 0 ? before : SIM_MAX((size_t)1, SIM_CACHE_LINE / size_bytes);
    while (after < count) {
        if (__builtin_mul_overflow(after, (size_t)2, &after)) {
            sim_out_of_memory(count, size_bytes);
        }
    }
    if (!wide && after > UINT32_MAX) {
        sim_out_of_memory(count, size_bytes);
    }
    void *grown = sim_realloc_array(memory, after, size_bytes);
    if (wide) {
        *(size_t *)capacity = after;
    } else {
        *(uint32_t *)capacity = (uint32_t)after;
    }
    return grown;
}
