// SPDX-License-Identifier: Apache-2.0
// programs/spin/spin.c - finds loops that only a change of memory can end, and waits there.
//
// A timer of processor time fires when the thread has made no call for a while. Then the thread
// runs step by step (the trap flag raises SIGTRAP after each instruction), and its registers are
// compared with a snapshot, which is renewed after 1, 2, 4, 8... steps (Brent's search for
// cycles). Equal registers at the same instruction, with an equal stack and equal data of the
// program, prove that the thread goes in a circle: only a write of the NIC or a signal can end it.
// So it waits for these, in simulated time, as if it had called a function.
//
// An int3 stays at one instruction of the loop, so that the next wait there begins at once. When the
// search happens changes no result: the thread waits from the program's time on in any case.

#include "programs/spin/spin.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "programs/process/code.h"
#include "programs/process/signals.h"
#include "programs/turn.h"

#define TRAP_FLAG ((greg_t)0x100)
#define RESUME_FLAG ((greg_t)0x10000)
#define INT3 0xcc

#define PERIOD_NS 5000000        // of the timer
#define PERIOD_NS_MAX 1000000000 // after searches that found nothing
#define STEPS_MAX 20000u         // of a search
#define LOOP_MAX 256u            // instructions of a loop whose end is seen at once
#define STACK_BYTES 1024u        // that are compared
#define DATA_BYTES_MAX (1u << 20)
#define DATA_SEGMENTS_MAX 4u
#define LOOPS_MAX 32u
#define MISSES_MAX 8u // searches at an int3 that find no loop, after which it is removed

typedef struct state {
    greg_t registers[NGREG];
    uint8_t stack[STACK_BYTES];
    size_t stack_bytes;
} state_t;

// A loop that was proven.
typedef struct loop {
    uintptr_t head; // where the int3 is; 0: free
    uint8_t byte;   // what the int3 replaces
    bool planted;
    uint32_t misses;
    uint32_t length;
    uintptr_t code[LOOP_MAX]; // its instructions, if they are not too many
} loop_t;

static struct {
    bool on;
    loop_t *loop; // that it goes through; NULL: a search
    uint64_t calls;
    uint32_t steps;
    uint32_t renew; // at this number of steps
    bool checked;   // one equal state was seen; `data` is the sum of the data at that time
    uint64_t data;
    uint32_t length;
    uintptr_t code[LOOP_MAX]; // since the snapshot
    state_t snapshot;
} walk;

static loop_t loops[LOOPS_MAX];
static timer_t timer;
static uint64_t calls_seen;
static long period_ns;

static struct {
    const uint8_t *begin;
    size_t bytes;
} data_segments[DATA_SEGMENTS_MAX];
static uint32_t data_segment_count;

extern void *__libc_stack_end;

// -- states

static greg_t flags_of(const greg_t *registers)
{
    return registers[REG_EFL] & ~(TRAP_FLAG | RESUME_FLAG);
}

static size_t stack_bytes_at(uintptr_t pointer)
{
    const uintptr_t end = (uintptr_t)__libc_stack_end;
    if (pointer > end || end - pointer > (UINT64_C(1) << 30)) {
        return 0; // another stack, whose size is not known
    }
    return end - pointer < STACK_BYTES ? end - pointer : STACK_BYTES;
}

static void take_snapshot(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    memcpy(walk.snapshot.registers, registers, sizeof walk.snapshot.registers);
    walk.snapshot.stack_bytes = stack_bytes_at((uintptr_t)registers[REG_RSP]);
    memcpy(walk.snapshot.stack, (const void *)(uintptr_t)registers[REG_RSP],
           walk.snapshot.stack_bytes);
    walk.length = 0;
    walk.checked = false;
}

static bool equals_snapshot(const ucontext_t *context)
{
    const greg_t *now = context->uc_mcontext.gregs;
    const greg_t *then = walk.snapshot.registers;
    // The general registers and the instruction pointer come first in the array.
    return memcmp(now, then, (REG_RIP + 1) * sizeof *now) == 0 &&
           flags_of(now) == flags_of(then) &&
           memcmp((const void *)(uintptr_t)now[REG_RSP], walk.snapshot.stack,
                  walk.snapshot.stack_bytes) == 0;
}

// Returns a sum over the program's variables, which a loop that counts in memory changes.
static uint64_t sum_data(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < data_segment_count; i++) {
        const uint8_t *at = data_segments[i].begin;
        for (size_t left = data_segments[i].bytes; left >= 8; left -= 8, at += 8) {
            uint64_t word;
            memcpy(&word, at, sizeof word);
            sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        }
    }
    return sum;
}

static int find_data(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0 &&
            data_segment_count < DATA_SEGMENTS_MAX) {
            const uintptr_t begin = (object->dlpi_addr + segment->p_vaddr + 7) & ~(uintptr_t)7;
            data_segments[data_segment_count].begin = (const uint8_t *)begin;
            data_segments[data_segment_count].bytes =
                segment->p_memsz < DATA_BYTES_MAX ? segment->p_memsz & ~(size_t)7 : DATA_BYTES_MAX;
            data_segments[data_segment_count].bytes -= 8;
            data_segment_count++;
        }
    }
    return 1; // the first object is the program
}

// -- loops

static loop_t *loop_at(uintptr_t head)
{
    for (uint32_t i = 0; i < LOOPS_MAX; i++) {
        if (loops[i].head == head) {
            return &loops[i];
        }
    }
    return NULL;
}

static void plant(loop_t *loop)
{
    const uint8_t int3 = INT3;
    if (!loop->planted && code_write((const void *)loop->head, &int3, 1)) {
        loop->planted = true;
    }
}

static void uproot(loop_t *loop)
{
    if (loop->planted && code_write((const void *)loop->head, &loop->byte, 1)) {
        loop->planted = false;
    }
}

// Returns true if the walk has left its loop.
static bool has_left(uintptr_t code)
{
    for (uint32_t i = 0; i < walk.loop->length; i++) {
        if (walk.loop->code[i] == code) {
            return false;
        }
    }
    return walk.loop->length != 0;
}

// Notes a loop that was proven at `head`. Returns NULL if there is no room.
static loop_t *note_loop(uintptr_t head)
{
    loop_t *loop = loop_at(head);
    if (loop == NULL) {
        loop = loop_at(0);
        if (loop == NULL) {
            return NULL;
        }
        loop->head = head;
        loop->byte = *(const uint8_t *)head;
    }
    loop->misses = 0;
    loop->length = walk.length <= LOOP_MAX ? walk.length : 0;
    memcpy(loop->code, walk.code, loop->length * sizeof *loop->code);
    return loop;
}

// -- the timer

static void set_timer(long new_period_ns)
{
    const struct itimerspec times = {.it_interval = {.tv_sec = new_period_ns / 1000000000,
                                                     .tv_nsec = new_period_ns % 1000000000},
                                     .it_value = {.tv_sec = new_period_ns / 1000000000,
                                                  .tv_nsec = new_period_ns % 1000000000}};
    if (new_period_ns != period_ns) {
        period_ns = new_period_ns;
        syscall(SYS_timer_settime, timer, 0, &times, NULL);
    }
}

// -- walks

static void start(ucontext_t *context, loop_t *loop)
{
    walk.on = true;
    walk.loop = loop;
    walk.calls = turn_calls;
    walk.steps = 0;
    walk.renew = 1;
    take_snapshot(context);
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void stop(ucontext_t *context)
{
    walk.on = false;
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    if (walk.loop != NULL && walk.loop->misses < MISSES_MAX) {
        plant(walk.loop);
    }
    walk.loop = NULL;
}

// The thread goes in a circle. Waits until something can end it, and walks on.
static void wait_here(ucontext_t *context)
{
    const uintptr_t code = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (walk.loop == NULL) {
        const uint64_t data = sum_data();
        if (!walk.checked || data != walk.data) {
            walk.checked = true;
            walk.data = data;
            walk.length = 0;
            return; // one more round shows whether the data changes
        }
        walk.loop = note_loop(code);
        set_timer(PERIOD_NS);
    } else {
        walk.loop->misses = 0;
    }
    (void)turn_wait(PROGRAM_ON_MEMORY | PROGRAM_ON_SIGNAL, PROGRAM_NEVER);
    walk.calls = turn_calls;
    calls_seen = turn_calls;
    walk.steps = 0;
    walk.renew = STEPS_MAX;
    take_snapshot(context);
    if (walk.loop == NULL) {
        stop(context);
    }
}

static void step(ucontext_t *context)
{
    const uintptr_t code = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (turn_calls != walk.calls || code_is_own((const void *)code) || !turn_on()) {
        stop(context);
        return;
    }
    walk.steps++;
    if (walk.length < LOOP_MAX) {
        walk.code[walk.length] = code;
    }
    walk.length++;
    if (equals_snapshot(context)) {
        wait_here(context);
    } else if (walk.loop != NULL && has_left(code)) {
        stop(context);
    } else if (walk.loop != NULL && walk.steps > 4 * LOOP_MAX && code != walk.loop->head) {
        walk.loop->misses++;
        stop(context);
    } else if (walk.loop == NULL && walk.steps > STEPS_MAX) {
        stop(context);
        set_timer(period_ns < PERIOD_NS_MAX / 2 ? period_ns * 2 : PERIOD_NS_MAX);
    } else if (walk.steps == walk.renew) {
        walk.renew *= 2;
        take_snapshot(context);
    }
}

static bool on_trap(siginfo_t *info, ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (!turn_is_mine()) {
        return false;
    }
    loop_t *loop = info->si_code == SI_KERNEL ? loop_at((uintptr_t)registers[REG_RIP] - 1) : NULL;
    if (loop != NULL && loop->planted) {
        registers[REG_RIP]--;
        uproot(loop);
        if (walk.on && walk.loop != NULL && walk.loop != loop) {
            stop(context);
        }
        start(context, loop);
        return true;
    }
    if (!walk.on) {
        return false;
    }
    step(context);
    return true;
}

static bool on_timer(siginfo_t *info, ucontext_t *context)
{
    (void)info;
    const bool silent = turn_calls == calls_seen;
    calls_seen = turn_calls;
    if (silent && !walk.on && turn_on() && turn_is_mine() && !turn_busy() &&
        !code_is_own((const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP])) {
        start(context, NULL);
    }
    return true;
}

void spin_begin(void)
{
    (void)dl_iterate_phdr(find_data, NULL);
    (void)code_is_own(NULL);
    (void)code_write(NULL, NULL, 0); // opens the file of the memory
    signals_own(SIGTRAP, on_trap);
    signals_own(SIGNALS_SPIN, on_timer);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNALS_SPIN};
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    int id = 0;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id) == 0) {
        timer = (timer_t)(intptr_t)id; // the kernel's number, for system calls only
        set_timer(PERIOD_NS);
    }
}
