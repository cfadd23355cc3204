// SPDX-License-Identifier: Apache-2.0
// programs/spin/loops.c - finds loops that only a change of memory can end, and waits there.
//
// A timer of processor time fires when the thread has made no call for a while. Then the thread
// runs step by step (the trap flag raises SIGTRAP after each instruction), and its registers are
// compared with a snapshot, which is renewed after 1, 2, 4, 8... steps (Brent's search for
// cycles). Equal registers at the same instruction, with an equal stack, show a loop, and an int3
// is planted at one of its jumps. Steps are slow, so the rest is done there: if the thread comes to
// the int3 in the same state again, without a call in between, it goes in a circle, which only a
// write of the NIC or a signal can end. So it waits for these, in simulated time, as if it had
// called a function.
//
// The int3 stays, so that the next wait there begins at once. A jump stands in its place if one of
// the loop's instructions can be moved (programs/time/detour.h), since two signals for each wait
// take longer than the wait itself. When the search happens changes no result: the thread waits
// from the program's time on in any case.

#include "programs/spin/loops.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "programs/process/code.h"
#include "programs/process/signals.h"
#include "programs/spin/counting.h"
#include "programs/spin/iterations.h"
#include "programs/system.h"
#include "programs/time/detour.h"
#include "programs/turn.h"

#define TRAP_FLAG ((greg_t)0x100)
#define RESUME_FLAG ((greg_t)0x10000)
#define INT3 0xcc

#define PERIOD_NS 5000000        // of the timer
#define PERIOD_NS_MAX 1000000000 // after searches that found nothing
#define STEPS_PER_PERIOD 200u    // of a search, for each PERIOD_NS of the timer
#define STEPS_MAX 20000u         // of a search
#define LOOP_MAX 256u            // instructions of a loop among which a jump is looked for
#define STACK_BYTES 1024u        // that are compared
#define DATA_BYTES_MAX (1u << 20)
#define DATA_SEGMENTS_MAX 256u
#define HEAP_BYTES_MAX (UINT64_C(16) << 20)
#define LOOPS_MAX 32u
#define JUMPS_TRIED 4u
#define VISITS_MAX 512u // of an int3 in a row without a wait, after which it is removed

typedef struct state {
    greg_t registers[REG_EFL + 1];
    uint8_t stack[STACK_BYTES];
    size_t stack_bytes;
} state_t;

// A place in a loop.
typedef struct loop {
    uintptr_t place; // where the int3 or the jump is; 0: free
    uint8_t byte;    // what the int3 replaces
    bool planted;
    detour_loop_t jump; // of length 0: there is an int3
    bool trusted;       // the loop does not change the program's variables
    uint64_t calls;     // at the last visit
    uint32_t visits;    // since the last call or wait
    uint32_t renew;     // the state at this number of visits
    uint64_t data;
    state_t state;
} loop_t;

// The state by which a thread is watched.
typedef struct watch {
    uintptr_t stack_end; // where its stack begins to grow down
    timer_t timer;
    long period_ns;
    uint64_t calls_seen;
    // the walk
    bool on;
    loop_t *over; // steps over the instruction at this place; NULL: searches
    uint64_t calls;
    uint32_t steps;
    uint32_t renew; // the snapshot at this number of steps
    uint32_t length;
    uintptr_t code[LOOP_MAX]; // since the snapshot
    state_t snapshot;
    // its last wait in a loop
    uint64_t wait_calls;
    state_t wait_state;
} watch_t;

static loop_t loops[LOOPS_MAX];
static watch_t first_watch;
static __thread watch_t *watch __attribute__((tls_model("initial-exec"))) = &first_watch;

static struct {
    const uint8_t *begin;
    size_t bytes;
} data_segments[DATA_SEGMENTS_MAX];
static uint32_t data_segment_count;
static const uint8_t *heap_begin;

extern void *__libc_stack_end;

// -- states

static greg_t flags_of(const greg_t *registers)
{
    return registers[REG_EFL] & ~(TRAP_FLAG | RESUME_FLAG);
}

static size_t stack_bytes_at(uintptr_t pointer)
{
    const uintptr_t end = watch->stack_end;
    if (pointer > end || end - pointer > (UINT64_C(1) << 30)) {
        return 0; // another stack, whose size is not known
    }
    return end - pointer < STACK_BYTES ? end - pointer : STACK_BYTES;
}

static void take_state(state_t *state, const greg_t *registers)
{
    memcpy(state->registers, registers, sizeof state->registers);
    state->stack_bytes = stack_bytes_at((uintptr_t)registers[REG_RSP]);
    memcpy(state->stack, (const void *)(uintptr_t)registers[REG_RSP], state->stack_bytes);
}

static bool is_in_state(const state_t *state, const greg_t *now)
{
    const greg_t *then = state->registers;
    // The general registers and the instruction pointer come first in the array.
    return memcmp(now, then, (REG_RIP + 1) * sizeof *now) == 0 && flags_of(now) == flags_of(then) &&
           memcmp((const void *)(uintptr_t)now[REG_RSP], state->stack, state->stack_bytes) == 0;
}

static uint64_t add_to_sum(uint64_t sum, const uint8_t *at, size_t bytes)
{
    for (size_t left = bytes; left >= 8; left -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return sum;
}

// Returns a sum over the variables of the program and its libraries, and over the heap. A loop that
// counts or reads a file changes them.
static uint64_t sum_data(void)
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

// -- the timer

static void set_timer(long new_period_ns)
{
    const struct itimerspec times = {
        .it_interval = {.tv_sec = new_period_ns / 1000000000,
                        .tv_nsec = new_period_ns % 1000000000},
        .it_value = {.tv_sec = new_period_ns / 1000000000, .tv_nsec = new_period_ns % 1000000000}};
    if (new_period_ns != watch->period_ns) {
        watch->period_ns = new_period_ns;
        system_call(SYS_timer_settime, watch->timer, 0, &times, NULL);
    }
}

// -- loops

static loop_t *loop_at(uintptr_t place)
{
    for (uint32_t i = 0; i < LOOPS_MAX; i++) {
        if (loops[i].place == place) {
            return &loops[i];
        }
    }
    return NULL;
}

static void plant(loop_t *loop)
{
    const uint8_t int3 = INT3;
    const bool jumps = loop->jump.length != 0;
    if (!loop->planted && code_write((const void *)loop->place, jumps ? loop->jump.after : &int3,
                                     jumps ? loop->jump.length : 1)) {
        loop->planted = true;
    }
}

static void uproot(loop_t *loop)
{
    const bool jumps = loop->jump.length != 0;
    if (loop->planted &&
        code_write((const void *)loop->place, jumps ? loop->jump.before : &loop->byte,
                   jumps ? loop->jump.length : 1)) {
        loop->planted = false;
    }
}

static bool is_jump(const uint8_t *code, uint8_t first)
{
    return (first & 0xf0) == 0x70 || first == 0xeb || (first == 0x0f && (code[1] & 0xf0) == 0x80);
}

// Returns where the jump leads to whose first byte the int3 replaces.
static uintptr_t target_of(const loop_t *loop)
{
    const uint8_t *code = (const uint8_t *)loop->place;
    int32_t distance = code[1] < 0x80 ? code[1] : code[1] - 0x100;
    if (loop->byte == 0x0f) {
        memcpy(&distance, code + 2, sizeof distance);
    }
    return loop->place + (loop->byte == 0x0f ? 6 : 2) + (uintptr_t)(intptr_t)distance;
}

// Does what this jump does.
static void execute_jump(const loop_t *loop, greg_t *registers)
{
    const uint8_t *code = (const uint8_t *)loop->place;
    const bool is_near = loop->byte == 0x0f;
    const unsigned condition = (is_near ? code[1] : loop->byte) & 0xf;
    const bool taken =
        loop->byte == 0xeb || iteration_jumps(condition, (uint64_t)registers[REG_EFL]);
    registers[REG_RIP] = taken ? (greg_t)target_of(loop) : (greg_t)loop->place + (is_near ? 6 : 2);
}

// Returns true if the bytes from `place` on are some of another loop's, or an int3 goes on there.
static bool overlaps(uintptr_t place, unsigned length)
{
    if (counting_overlaps((const uint8_t *)place, length)) {
        return true;
    }
    for (uint32_t i = 0; i < LOOPS_MAX; i++) {
        const uintptr_t other = loops[i].place;
        const unsigned bytes = loops[i].jump.length == 0 ? 1 : loops[i].jump.length;
        if (other == 0) {
            continue;
        }
        const uintptr_t target = bytes == 1 ? target_of(&loops[i]) : place;
        if ((place < other + bytes && other < place + length) ||
            (target > place && target < place + length)) {
            return true;
        }
    }
    return false;
}

// Looks for an instruction of the loop that the walk has found where a jump can stand. The walk is
// at `code`, which may be no other byte of the jump: sets *again then. Returns NULL if there is no
// place.
static loop_t *find_jump(uint32_t length, uintptr_t code, bool *again)
{
    unsigned tried = 0;
    for (uint32_t i = 0; i < length && tried < JUMPS_TRIED; i++) {
        const uintptr_t place = watch->code[i];
        loop_t *loop = loop_at(place);
        detour_loop_t jump = {0};
        if (loop == NULL) {
            tried++;
            loop = overlaps(place, DETOUR_MAX) ? NULL : loop_at(0);
            if (loop == NULL || !detour_make_loop((const uint8_t *)place, &jump)) {
                continue;
            }
            *loop = (loop_t){.place = place, .byte = jump.before[0], .jump = jump};
        }
        if (loop->jump.length != 0) {
            *again = code > place && code < place + loop->jump.length;
            return *again ? NULL : loop;
        }
    }
    return NULL;
}

// Returns the loop of an int3 at the jump back, else at another jump, else where the walk is; NULL:
// there are too many.
static loop_t *find_int3(uint32_t length, uintptr_t code)
{
    uintptr_t place = code;
    for (uint32_t i = 0; i < length; i++) {
        const uint8_t *at = (const uint8_t *)watch->code[i];
        if (is_jump(at, *at)) {
            place = watch->code[i];
            if (watch->code[(i + 1) % length] < place) {
                break;
            }
        }
    }
    loop_t *loop = loop_at(place);
    if (loop == NULL && !overlaps(place, 1) && (loop = loop_at(0)) != NULL) {
        *loop = (loop_t){.place = place, .byte = *(const uint8_t *)place};
    }
    return loop;
}

// Plants a jump or an int3 in the loop that the walk has found. Returns false if the walk has to go
// on for a step.
static bool note_loop(uintptr_t code)
{
    const uint32_t length = watch->length <= LOOP_MAX ? watch->length : 0;
    bool again = false;
    loop_t *loop = find_jump(length, code, &again);
    loop = loop == NULL && !again ? find_int3(length, code) : loop;
    if (loop != NULL) {
        loop->trusted = false;
        loop->visits = 0;
        loop->renew = 1;
        plant(loop);
    }
    return !again;
}

// Returns true if the thread comes here in the same state as before, and nothing has happened.
static bool goes_in_circle(loop_t *loop, const greg_t *registers)
{
    if (loop->calls != turn_calls) {
        loop->calls = turn_calls;
        loop->visits = 0;
        loop->renew = 1;
    }
    loop->visits++;
    bool equal = loop->visits > 1 && is_in_state(&loop->state, registers);
    if (equal && !loop->trusted) {
        const uint64_t data = sum_data();
        equal = data == loop->data;
        loop->trusted = equal;
        loop->data = data;
    }
    if (loop->visits == loop->renew) {
        loop->renew *= 2;
        take_state(&loop->state, registers);
        loop->data = loop->trusted ? 0 : sum_data();
    }
    return equal;
}

// Waits until something may have changed the memory that the loop looks at.
static void wait_for_memory(const greg_t *registers)
{
    program_call_t call = {
        .wait = {.mask = PROGRAM_ON_MEMORY | PROGRAM_ON_SIGNAL, .timeout_ps = PROGRAM_NEVER}};
    if (watch->wait_calls == turn_calls && is_in_state(&watch->wait_state, registers)) {
        call.flags = PROGRAM_WAIT_WROTE_NOTHING;
    }
    take_state(&watch->wait_state, registers);
    (void)turn_wait_call(&call);
    watch->wait_calls = turn_calls;
}

// The thread is at an int3 or a jump. Waits if it goes in a circle.
static void visit(loop_t *loop, const greg_t *registers)
{
    if (turn_on() && !turn_busy() && goes_in_circle(loop, registers)) {
        wait_for_memory(registers);
        loop->calls = turn_calls; // handlers of signals may have made calls
        loop->visits = 1;
        loop->renew = 2;
        take_state(&loop->state, registers);
        set_timer(PERIOD_NS);
    }
    watch->calls_seen = turn_calls - 1; // the timer need not look here
    if (loop->visits > VISITS_MAX) {
        uproot(loop);
        loop->visits = 0;
    }
}

// Does what is in the place of the int3.
static void go_on(loop_t *loop, ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (!loop->planted) {
        return;
    }
    if (is_jump((const uint8_t *)loop->place, loop->byte)) {
        execute_jump(loop, registers);
    } else {
        uproot(loop);
        watch->on = true;
        watch->over = loop;
        registers[REG_EFL] |= TRAP_FLAG;
    }
}

void detour_pass(long long *registers)
{
    registers[REG_RSP] += DETOUR_BELOW;
    for (uint32_t i = 0; i < LOOPS_MAX && turn_is_mine(); i++) {
        if (loops[i].jump.length != 0 && loops[i].jump.back == (uintptr_t)registers[REG_EFL + 1]) {
            registers[REG_RIP] = (greg_t)loops[i].place;
            visit(&loops[i], registers);
        }
    }
}

// -- the search

static void start(ucontext_t *context)
{
    watch->on = true;
    watch->over = NULL;
    watch->calls = turn_calls;
    watch->steps = 0;
    watch->renew = 1;
    watch->length = 0;
    take_state(&watch->snapshot, context->uc_mcontext.gregs);
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void stop(ucontext_t *context)
{
    watch->on = false;
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

// Returns the maximum number of steps of a search. A program that computes runs slowly during the
// searches, for a part of its time that does not grow.
static uint32_t steps_max(void)
{
    const uint64_t steps = (uint64_t)watch->period_ns * STEPS_PER_PERIOD / PERIOD_NS;
    return steps < STEPS_MAX ? (uint32_t)steps : STEPS_MAX;
}

static void step(ucontext_t *context)
{
    const uintptr_t code = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (watch->over != NULL) {
        plant(watch->over);
        stop(context);
        return;
    }
    watch->steps++;
    if (watch->length < LOOP_MAX) {
        watch->code[watch->length] = code;
    }
    watch->length++;
    if (turn_calls != watch->calls || code_is_own((const void *)code) || !turn_on()) {
        stop(context);
    } else if (is_in_state(&watch->snapshot, context->uc_mcontext.gregs)) {
        if (note_loop(code)) {
            stop(context);
        } else {
            watch->renew = watch->steps + 1;
        }
    } else if (watch->steps > steps_max()) {
        stop(context);
        set_timer(watch->period_ns < PERIOD_NS_MAX / 2 ? watch->period_ns * 2 : PERIOD_NS_MAX);
    } else if (watch->steps == watch->renew) {
        watch->renew *= 2;
        watch->length = 0;
        take_state(&watch->snapshot, context->uc_mcontext.gregs);
    }
}

static bool on_trap(siginfo_t *info, ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (!turn_is_mine()) {
        return false;
    }
    if (info->si_code == SI_KERNEL && counting_visit(registers)) {
        if (watch->on) {
            stop(context);
        }
        watch->calls_seen = turn_calls - 1;
        return true;
    }
    loop_t *loop = info->si_code == SI_KERNEL ? loop_at((uintptr_t)registers[REG_RIP] - 1) : NULL;
    if (loop != NULL && loop->planted) {
        registers[REG_RIP]--;
        if (watch->on) {
            stop(context);
        }
        visit(loop, registers);
        go_on(loop, context);
        return true;
    }
    if (!watch->on) {
        return false;
    }
    step(context);
    return true;
}

static bool on_timer(siginfo_t *info, ucontext_t *context)
{
    (void)info;
    const bool silent = turn_calls == watch->calls_seen;
    watch->calls_seen = turn_calls;
    if (silent && !watch->on && turn_on() && turn_is_mine() && !turn_busy() &&
        !code_is_own((const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP])) {
        start(context);
    }
    return true;
}

// Makes a timer of the calling thread's processor time.
static void begin_watch(watch_t *mine)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNALS_SPIN};
    event._sigev_un._tid = (int)system_call(SYS_gettid);
    int id = 0;
    watch = mine;
    if (system_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id) == 0) {
        mine->timer = (timer_t)(intptr_t)id; // the kernel's number, for system calls only
        set_timer(PERIOD_NS);
    }
}

void spin_begin_thread(void)
{
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t bytes = 0;
    watch_t *mine = calloc(1, sizeof *mine);
    if (mine == NULL || pthread_getattr_np(pthread_self(), &attributes) != 0) {
        free(mine);
        return;
    }
    signals_begin_stack(false);
    (void)pthread_attr_getstack(&attributes, &stack, &bytes);
    (void)pthread_attr_destroy(&attributes);
    mine->stack_end = (uintptr_t)stack + bytes;
    begin_watch(mine);
}

void spin_forked(void)
{
    watch->period_ns = 0;
    begin_watch(watch);
}

void spin_end_thread(void)
{
    watch_t *mine = watch;
    signals_end_stack();
    if (mine != &first_watch) {
        system_call(SYS_timer_delete, mine->timer);
        watch = &first_watch;
        free(mine);
    }
}

void spin_begin(void)
{
    (void)code_is_own(NULL);
    (void)dl_iterate_phdr(find_data, NULL);
    heap_begin = (const uint8_t *)(((uintptr_t)sbrk(0) + 7) & ~(uintptr_t)7);
    (void)code_write(NULL, NULL, 0); // opens the file of the memory
    signals_begin_stack(true);
    signals_own(SIGTRAP, on_trap);
    signals_own(SIGNALS_SPIN, on_timer);
    counting_begin();
    first_watch.stack_end = (uintptr_t)__libc_stack_end;
    begin_watch(&first_watch);
}
