// SPDX-License-Identifier: Apache-2.0
// programs/spin/state.c - the state of a thread in a loop.

#include "programs/spin/state.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "programs/process/code.h"

#define TRAP_FLAG ((greg_t)0x100)
#define RESUME_FLAG ((greg_t)0x10000)
#define DATA_BYTES_MAX (1u << 20)
#define DATA_SEGMENTS_MAX 256u
#define HEAP_BYTES_MAX (UINT64_C(16) << 20)

static struct {
    const uint8_t *begin;
    size_t bytes;
} data_segments[DATA_SEGMENTS_MAX];
static uint32_t data_segment_count;
static const uint8_t *heap_begin;

static greg_t flags_of(const greg_t *registers)
{
    return registers[REG_EFL] & ~(TRAP_FLAG | RESUME_FLAG);
}

static size_t stack_bytes_at(uintptr_t pointer, uintptr_t end)
{
    if (pointer > end || end - pointer > (UINT64_C(1) << 30)) {
        return 0; // another stack, whose size is not known
    }
    return end - pointer < STATE_STACK_BYTES ? end - pointer : STATE_STACK_BYTES;
}

// Copies a part of the thread's stack. A sanitizer has its own memcpy() and memcmp(), which would
// report the bytes between two variables.
static void copy_stack(uint8_t *to, const greg_t *registers, size_t bytes)
{
    const void *from = (const void *)(uintptr_t)registers[REG_RSP];
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word); // no call
    return word;
}

// Returns how the end of the thread's stack differs from that of a state, as memcmp() does.
static int compare_stack(const greg_t *registers, const state_t *state)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)registers[REG_RSP];
    size_t equal = 0;
    while (equal + sizeof(uint64_t) <= state->stack_bytes &&
           word_at(at + equal) == word_at(state->stack + equal)) {
        equal += sizeof(uint64_t);
    }
    for (size_t i = equal; i < state->stack_bytes; i++) {
        if (at[i] != state->stack[i]) {
            return at[i] < state->stack[i] ? -1 : 1;
        }
    }
    return 0;
}

void state_take(state_t *state, const greg_t *registers, uintptr_t stack_end)
{
    memcpy(state->registers, registers, sizeof state->registers);
    state->stack_bytes = stack_bytes_at((uintptr_t)registers[REG_RSP], stack_end);
    copy_stack(state->stack, registers, state->stack_bytes);
}

bool state_is(const state_t *state, const greg_t *now)
{
    const greg_t *then = state->registers;
    // The general registers and the instruction pointer come first in the array.
    return memcmp(now, then, (REG_RIP + 1) * sizeof *now) == 0 && flags_of(now) == flags_of(then) &&
           compare_stack(now, state) == 0;
}

bool state_precedes(const greg_t *now, const state_t *other)
{
    const greg_t *then = other->registers;
    if (now[REG_RSP] != then[REG_RSP]) {
        return now[REG_RSP] > then[REG_RSP];
    }
    if (now[REG_RIP] != then[REG_RIP]) {
        return now[REG_RIP] < then[REG_RIP];
    }
    const int order = memcmp(now, then, REG_RIP * sizeof *now);
    return order != 0                        ? order < 0
           : flags_of(now) != flags_of(then) ? flags_of(now) < flags_of(then)
                                             : compare_stack(now, other) < 0;
}

static uint64_t add_to_sum(uint64_t sum, const uint8_t *at, size_t bytes)
{
    for (size_t left = bytes; left >= 8; left -= 8, at += 8) {
        sum = (sum ^ word_at(at)) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return sum;
}

uint64_t state_sum_data(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < data_segment_count; i++) {
        sum = add_to_sum(sum, data_segments[i].begin, data_segments[i].bytes);
    }
    const uint8_t *heap_end = sbrk(0);
    const size_t heap_bytes = heap_end > heap_begin ? (size_t)(heap_end - heap_begin) : 0;
    return add_to_sum(sum, heap_begin, heap_bytes < HEAP_BYTES_MAX ? heap_bytes : HEAP_BYTES_MAX);
}

static bool is_own_object(const struct dl_phdr_info *object)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            return code_is_own((const void *)(object->dlpi_addr + segment->p_vaddr));
        }
    }
    return false;
}

static int find_data(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < object->dlpi_phnum && !is_own_object(object); i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uintptr_t begin = (object->dlpi_addr + segment->p_vaddr + 7) & ~(uintptr_t)7;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0 &&
            segment->p_memsz >= 16 && data_segment_count < DATA_SEGMENTS_MAX) {
            data_segments[data_segment_count].begin = (const uint8_t *)begin;
            data_segments[data_segment_count].bytes =
                segment->p_memsz < DATA_BYTES_MAX ? segment->p_memsz & ~(size_t)7 : DATA_BYTES_MAX;
            data_segments[data_segment_count].bytes -= 8;
            data_segment_count++;
        }
    }
    return 0;
}

void state_find_data(void)
{
    data_segment_count = 0;
    (void)dl_iterate_phdr(find_data, NULL);
    if (heap_begin == NULL) {
        heap_begin = (const uint8_t *)(((uintptr_t)sbrk(0) + 7) & ~(uintptr_t)7);
    }
}
