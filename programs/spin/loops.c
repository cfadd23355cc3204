// SPDX-License-Identifier: Apache-2.0
// programs/spin/loops.c - finds loops that only a change of memory can end, and waits there.
//
// A timer of processor time fires when the thread has made no call for a while. Then the thread
// runs step by step (the trap flag raises SIGTRAP after each instruction), and its registers are
// compared with a snapshot, which is renewed after 1, 2, 4, 8... steps (Brent's search for
// cycles). Equal registers at the same instruction, with an equal stack, show a loop. The thread
// goes on to the first of its states (state_precedes()), which does not depend on where the
// search met the loop, and an int3 is planted at one of the loop's jumps from there on. Steps
// are slow, so the rest is done there: if the thread comes to the int3 in the same state again,
// without a call in between, it goes in a circle, which only a write of the NIC or a signal can
// end. So it waits for these, in simulated time, as if it had called a function.
//
// While other threads look at memory, they must know whether a thread that was woken writes. So its
// next iteration is computed (iterations.c), or, if the loop has other instructions, executed step
// by step: either it leads back to the same state by the same instructions, and the thread wrote
// nothing and waits again, or the thread has left the loop. Then the others look again.
//
// The int3 stays, so that the next wait there begins at once. A jump stands in its place if one of
// the loop's instructions can be moved (programs/time/detour.h), since two signals for each wait
// take longer than the wait itself. When the search happens changes no result: the thread waits
// from the program's time on in any case, at the same place and in the same state.

#include "programs/spin/loops.h"

#include <dlfcn.h>
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
#include "programs/spin/guards.h"
#include "programs/spin/iterations.h"
#include "programs/spin/memory.h"
#include "programs/spin/state.h"
#include "programs/system.h"
#include "programs/time/detour.h"
#include "programs/turn.h"

#define TRAP_FLAG ((greg_t)0x100)
#define RESUME_FLAG ((greg_t)0x10000)
#define INT3 0xcc

#define PERIOD_NS 2000000        // of the timer
#define PERIOD_NS_MAX 1000000000 // after searches that found nothing
#define STEPS_PER_PERIOD 80u     // of a search, for each PERIOD_NS of the timer
#define STEPS_MIN 200u           // of a search
#define STEPS_MAX 20000u         // of a search
#define WALKED_MAX (STEPS_MAX + 2)
#define LOOP_MAX 1024u // instructions of a loop that is followed after waits
#define LOOPS_MAX GUARDS_LOOPS
#define GUARDED_MIN 24u // instructions of an iteration, from which on guards replace steps
#define JUMPS_TRIED 4u
#define LOCK_TEST 6u    // instructions behind an atomic one, in which a lock's success is tested
#define VISITS_MAX 512u // of an int3 in a row without a wait, after which it is removed
#define TRUSTED_MAX 1024u
#define LOOK_STEPS 600u // after a wait, in which a thread may show that it has not left the loop
#define LOOK_MORE 8u    // steps beside those of the loop
#define DOUBTS_MAX 50
#define DOUBTS_LEFT (-100) // after steps that have shown that the thread left the loop

// A place in a loop.
typedef struct loop {
    uintptr_t place; // where the int3 or the jump is; 0: free
    uint8_t byte;    // what the int3 replaces
    bool planted;
    detour_loop_t jump; // of length 0: there is an int3
    bool summed;        // data is that of the last visit in this state
    bool branches;      // it jumps to addresses that it computes, as interpreters do
    bool trusted;       // the loop has no such jumps, and changed nothing
    uint64_t calls;     // at the last visit
    uint32_t visits;    // since the last call or wait
    uint32_t renew;     // the state at this number of visits
    uint64_t data;      // sum over what the loop may change, beside its state
    uint32_t length;    // of an iteration, in instructions; 0: not known
    uint64_t path;      // sum over them; 0: not known
    bool learned;       // guards were looked for
    int32_t doubts; // counts waits in a row in the same state although the thread seemed to leave.
                    // Above 0, only steps show that; from DOUBTS_MAX on, nothing does
    uint32_t code_count; // of codes; 0: they are not known
    iteration_code_t codes[ITERATION_CODES_MAX];
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
    uint32_t circle;     // instructions of the loop; 0: it is not known yet
    uint32_t circle_end; // the number of steps at which all states of the loop have been seen
    state_t snapshot;
    // its last wait in a loop
    uint64_t wait_calls;
    state_t wait_state;
    // the steps after it
    loop_t *look; // the loop; NULL: the walk is none of these
    uint64_t sum; // over the instructions of this iteration
    uint64_t sum_before;
    uint32_t round; // the number of steps at its beginning
    uint32_t steps_max;
    uintptr_t code[LOOP_MAX]; // of this iteration
    bool differs;             // an iteration before did something else
    bool left;
    bool nested;     // it passed another loop
    loop_t *guarded; // goes on in this loop without steps, between guards; NULL: does not
} watch_t;

static loop_t loops[LOOPS_MAX];
static uintptr_t walked[WALKED_MAX]; // instructions of a search, from the snapshot on
static watch_t first_watch;
static __thread watch_t *watch __attribute__((tls_model("initial-exec"))) = &first_watch;

extern void *__libc_stack_end;

static void take_state(state_t *state, const greg_t *registers)
{
    state_take(state, registers, watch->stack_end);
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

// Searches less often, since the program computes.
static void search_later(void)
{
    set_timer(watch->period_ns < PERIOD_NS_MAX / 2 ? watch->period_ns * 2 : PERIOD_NS_MAX);
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

// Returns true for an instruction that reads and writes memory at once.
static bool is_atomic(const uint8_t *code)
{
    const uint8_t *at = (*code & 0xf0) == 0x40 ? code + 1 : code;
    return *code == 0xf0 || ((*at & 0xfe) == 0x86 && at[1] < 0xc0);
}

// Returns the index of an atomic instruction after which the loop jumps or not: it may take a lock,
// which the loop gives back later, so the thread must wait before it. Returns `length` if there is
// none.
static uint32_t find_lock(uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        for (uint32_t j = 1; j <= LOCK_TEST && is_atomic((const uint8_t *)walked[i]); j++) {
            const uint8_t *next = (const uint8_t *)walked[(i + j) % length];
            if (is_atomic(next)) {
                break;
            }
            if (is_jump(next, *next) && *next != 0xeb) {
                return i;
            }
        }
    }
    return length;
}

// Looks for an instruction of the loop that the walk has found where a jump can stand. Returns NULL
// if there is no place.
static loop_t *find_jump(uint32_t length)
{
    const uint32_t lock = find_lock(length);
    unsigned tried = 0;
    for (uint32_t i = lock < length ? lock : 0; i < length && tried < JUMPS_TRIED; i++) {
        const uintptr_t place = walked[i];
        tried = lock < length ? JUMPS_TRIED : tried;
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
            return loop;
        }
    }
    return NULL;
}

// Returns the loop of an int3 at the jump back, else at another jump, else where the walk ends;
// NULL: there are too many.
static loop_t *find_int3(uint32_t length)
{
    const uint32_t lock = find_lock(length);
    uintptr_t place = walked[lock < length ? lock : 0];
    for (uint32_t i = 0; i < length && lock == length; i++) {
        const uint8_t *at = (const uint8_t *)walked[i];
        if (is_jump(at, *at)) {
            place = walked[i];
            if (walked[(i + 1) % length] < place) {
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

// Plants a jump or an int3 in the loop that the walk has found.
static void note_loop(uint32_t length)
{
    loop_t *loop = find_jump(length);
    loop = loop == NULL ? find_int3(length) : loop;
    if (loop != NULL) {
        loop->visits = 0;
        loop->renew = 1;
        loop->summed = false;
        loop->trusted = false;
        loop->branches = iteration_branches(walked, length);
        loop->length = length <= LOOP_MAX ? length : 0;
        loop->path = 0;
        loop->learned = false;
        guards_forget();
        loop->code_count = counting_translate(walked, length, loop->place, loop->codes);
        plant(loop);
    }
}

// Returns the place for a state in which nothing changes but by others: its sum.
static uint64_t *trusted_at(uint64_t sum)
{
    static uint64_t states[TRUSTED_MAX];
    return &states[sum % TRUSTED_MAX];
}

// The thread is in an equal state again. Returns true if it changes nothing meanwhile. To compare
// its memory takes time, so that is done once for a loop, and for each state of an interpreter.
static bool changes_nothing(loop_t *loop, const greg_t *registers, const void *vectors)
{
    const uint64_t state = state_sum(&loop->state) ^ memory_sum_vectors(vectors);
    if (loop->trusted || *trusted_at(state) == state) {
        return true;
    }
    const uint64_t data = memory_sum((uintptr_t)registers[REG_RSP], watch, sizeof *watch) ^
                          memory_sum_vectors(vectors);
    const bool equal = loop->summed && data == loop->data;
    if (equal) {
        *trusted_at(state) = state;
        loop->trusted = !loop->branches;
    } else if (loop->summed) { // the program computes
        loop->visits = VISITS_MAX + 1;
        search_later();
    }
    loop->summed = true;
    loop->data = data;
    return equal;
}

// Returns true if the thread comes here in the same state as before, and nothing has happened.
static bool goes_in_circle(loop_t *loop, const greg_t *registers, const void *vectors)
{
    if (loop->calls != turn_calls) {
        loop->calls = turn_calls;
        loop->visits = 0;
        loop->renew = 1;
        loop->summed = false;
    }
    loop->visits++;
    const bool equal = loop->visits > 1 && state_is(&loop->state, registers) &&
                       changes_nothing(loop, registers, vectors);
    if (loop->visits == loop->renew && !loop->summed) {
        take_state(&loop->state, registers);
    }
    loop->renew = loop->visits == loop->renew ? loop->renew * 2 : loop->renew;
    return equal;
}

// -- waits

// Returns true if another thread may wait for what this one writes.
static bool others_look(void)
{
    return turn_on() && turn_shared->alone == 0;
}

// Returns what the thread does next, if another one may wait for that and the loop is known.
static iteration_result_t foresee(const loop_t *loop, const greg_t *registers)
{
    return others_look() && loop->doubts <= 0 && loop->code_count != 0
               ? iteration_repeats(loop->codes, loop->code_count, registers)
               : ITERATION_UNKNOWN;
}

// Waits until something may have changed the memory that the loop looks at.
static void wait_for_memory(loop_t *loop, const greg_t *registers)
{
    program_call_t call = {
        .wait = {.mask = PROGRAM_ON_MEMORY | PROGRAM_ON_SIGNAL, .timeout_ps = PROGRAM_NEVER}};
    const bool again = watch->wait_calls == turn_calls && state_is(&watch->wait_state, registers);
    if (again && !watch->left) {
        call.flags = PROGRAM_WAIT_WROTE_NOTHING;
    }
    loop->doubts = !again ? 0 : watch->left ? loop->doubts + 1 : loop->doubts;
    watch->left = false;
    take_state(&watch->wait_state, registers);
    do {
        (void)turn_wait_call(&call);
        call.flags = PROGRAM_WAIT_WROTE_NOTHING;
        call.wait.timeout_ps = PROGRAM_NEVER;
    } while (foresee(loop, registers) == ITERATION_GOES_ON);
    watch->wait_calls = turn_calls;
    loop->calls = turn_calls; // handlers of signals may have made calls
    loop->visits = 1;
    loop->renew = 2;
    loop->summed = false;
    take_state(&loop->state, registers);
    set_timer(PERIOD_NS);
}

// The thread is at an int3 or a jump. Waits if it goes in a circle, and returns true then.
static bool visit(loop_t *loop, const greg_t *registers, const void *vectors)
{
    const bool waits = turn_on() && !turn_busy() && goes_in_circle(loop, registers, vectors);
    if (watch->guarded != NULL && (!waits || watch->guarded != loop)) {
        watch->left = true;
        turn_shared->acted = 1;
    }
    watch->guarded = NULL;
    if (waits) {
        wait_for_memory(loop, registers);
    }
    watch->calls_seen = turn_calls - 1; // the timer need not look here
    if (loop->visits > VISITS_MAX) {
        uproot(loop);
        loop->visits = 0;
    }
    return waits;
}

// Ends the steps after a wait: the thread has left the loop, as far as is known.
static void leave(greg_t *registers)
{
    watch->on = false;
    watch->look = NULL;
    watch->guarded = NULL;
    watch->left = true;
    turn_shared->acted = 1;
    registers[REG_EFL] &= ~TRAP_FLAG;
}

// Begins the steps after a wait, if they are needed.
static void start_look(loop_t *loop, greg_t *registers)
{
    watch->sum = 0;
    watch->sum_before = 0;
    watch->differs = false;
    watch->steps = 0;
    watch->round = 0;
    watch->steps_max = loop->doubts > 0 || loop->length == 0
                           ? LOOK_STEPS
                           : (loop->length + LOOK_MORE) * (loop->path == 0 ? 3 : 1);
    watch->on = others_look() && loop->doubts < DOUBTS_MAX;
    watch->look = watch->on ? loop : NULL;
    registers[REG_EFL] &= ~TRAP_FLAG;
    watch->nested = false;
    watch->code[0] = loop->jump.length != 0 ? loop->jump.past : (uintptr_t)registers[REG_RIP];
    if (foresee(loop, registers) == ITERATION_LEAVES) {
        leave(registers);
    } else if (watch->on && loop->doubts <= 0 && guards_plant((uint32_t)(loop - loops))) {
        watch->on = false;
        watch->look = NULL;
        watch->guarded = loop;
    } else if (watch->on) {
        registers[REG_EFL] |= TRAP_FLAG;
    }
}

// Lets the thread go on behind the place of a loop. Returns false if that takes a step.
static bool pass_by(const loop_t *loop, greg_t *registers)
{
    if (loop->jump.length != 0) {
        registers[REG_RIP] = (greg_t)loop->jump.past;
    } else if (is_jump((const uint8_t *)loop->place, loop->byte)) {
        execute_jump(loop, registers);
    } else {
        return false;
    }
    return true;
}

static bool is_taken(uintptr_t place)
{
    return overlaps(place, 1);
}

// The thread has come back to the place of its wait, in the same state. Waits again if it came by
// the same instructions as before, since it would do so for ever.
static void look_again(loop_t *loop, greg_t *registers)
{
    const uint64_t sum = watch->sum;
    const uint32_t length = watch->steps - watch->round;
    watch->sum = 0;
    watch->round = watch->steps;
    if (sum != loop->path && sum != watch->sum_before) {
        watch->differs = watch->sum_before != 0;
        watch->sum_before = sum;
        return;
    }
    watch->left = watch->differs || (watch->sum_before != 0 && watch->sum_before != sum);
    turn_shared->acted |= watch->left;
    loop->doubts = watch->left ? DOUBTS_LEFT : loop->doubts;
    loop->path = sum;
    loop->length = length;
    if (!loop->learned && !watch->left && length >= GUARDED_MIN && length < LOOP_MAX) {
        loop->learned = true;
        if (!watch->nested) {
            guards_learn((uint32_t)(loop - loops), watch->code, length + 1, is_taken);
        }
    }
    wait_for_memory(loop, registers);
    start_look(loop, registers);
}

// A step after a wait.
static void step_on(greg_t *registers)
{
    const uintptr_t code = (uintptr_t)registers[REG_RIP];
    loop_t *loop = watch->look;
    watch->steps++;
    if (turn_calls != watch->wait_calls || code_is_own((const void *)code) || !turn_on() ||
        watch->steps > watch->steps_max) {
        leave(registers);
        return;
    }
    if (code != loop->jump.back && code != loop->jump.past) {
        watch->sum += (code ^ code >> 7) * UINT64_C(0x9e3779b97f4a7c15);
    }
    if (watch->steps - watch->round < LOOP_MAX) {
        watch->code[watch->steps - watch->round] = code;
    }
    loop_t *at = loop_at(code);
    if (at == NULL || !at->planted) {
        return;
    }
    watch->nested = watch->nested || at != loop;
    if (at == loop && state_is(&watch->wait_state, registers)) {
        look_again(loop, registers);
    }
    if (!pass_by(at, registers)) {
        leave(registers);
    } else if (watch->round == watch->steps) {
        watch->code[0] = (uintptr_t)registers[REG_RIP];
    }
}

// Does what is in the place of the int3.
static void go_on(loop_t *loop, bool waited, ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (!loop->planted) {
        return;
    }
    if (pass_by(loop, registers)) {
        if (waited) {
            start_look(loop, registers);
        }
    } else {
        if (waited && foresee(loop, registers) == ITERATION_LEAVES) {
            leave(registers);
        }
        uproot(loop);
        watch->on = true;
        watch->over = loop;
        registers[REG_EFL] |= TRAP_FLAG;
    }
}

void detour_pass(long long *registers, const void *vectors)
{
    registers[REG_RSP] += DETOUR_BELOW;
    for (uint32_t i = 0; i < LOOPS_MAX && turn_is_mine(); i++) {
        if (loops[i].jump.length != 0 && loops[i].jump.back == (uintptr_t)registers[REG_EFL + 1]) {
            registers[REG_RIP] = (greg_t)loops[i].place;
            if (visit(&loops[i], registers, vectors)) {
                start_look(&loops[i], registers);
            }
        }
    }
}

// -- the search

// Takes a snapshot of the walk, which is at `code`.
static void take_snapshot(uintptr_t code, const greg_t *registers)
{
    watch->length = 0;
    walked[0] = code;
    take_state(&watch->snapshot, registers);
}

static void start(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    guards_remove();
    watch->on = true;
    watch->over = NULL;
    watch->calls = turn_calls;
    watch->steps = 0;
    watch->renew = 1;
    watch->circle = 0;
    take_snapshot((uintptr_t)registers[REG_RIP], registers);
    registers[REG_EFL] |= TRAP_FLAG;
}

static void stop(ucontext_t *context)
{
    if (watch->look != NULL) {
        leave(context->uc_mcontext.gregs);
    }
    watch->on = false;
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

// Returns the maximum number of steps of a search. A program that computes runs slowly during the
// searches, for a part of its time that does not grow.
static uint32_t steps_max(void)
{
    const uint64_t steps = (uint64_t)watch->period_ns * STEPS_PER_PERIOD / PERIOD_NS;
    return steps < STEPS_MIN ? STEPS_MIN : steps < STEPS_MAX ? (uint32_t)steps : STEPS_MAX;
}

// A step of a search. Where the search meets the loop depends on the machine, so all of the loop's
// states are seen before the walk ends, in the first one.
static void step(ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    const uintptr_t code = (uintptr_t)registers[REG_RIP];
    if (watch->over != NULL) {
        plant(watch->over);
        stop(context);
        return;
    }
    watch->steps++;
    watch->length++;
    walked[watch->length % WALKED_MAX] = code;
    if (turn_calls != watch->calls || code_is_own((const void *)code) || !turn_on()) {
        stop(context);
    } else if (state_is(&watch->snapshot, registers)) {
        if (watch->circle == 0) {
            watch->circle = watch->length;
            watch->circle_end = watch->steps + watch->length;
            watch->length = 0;
        } else if (watch->steps >= watch->circle_end) {
            note_loop(watch->circle);
            stop(context);
        }
    } else if (watch->steps > steps_max() + 2 * watch->circle) {
        stop(context);
        search_later();
    } else if (watch->circle != 0 ? state_precedes(registers, &watch->snapshot)
                                  : watch->steps == watch->renew) {
        watch->renew *= 2;
        take_snapshot(code, registers);
    }
}

static bool on_trap(siginfo_t *info, ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (!turn_is_mine()) {
        return false;
    }
    const guards_result_t met = info->si_code == SI_KERNEL ? guards_meet(registers) : GUARDS_NONE;
    if (met != GUARDS_NONE) {
        if (met == GUARDS_LEFT && watch->guarded != NULL) {
            leave(registers);
        }
        return true;
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
        go_on(loop, visit(loop, registers, context->uc_mcontext.fpregs), context);
        return true;
    }
    if (!watch->on) {
        return false;
    }
    if (watch->look != NULL) {
        step_on(registers);
    } else {
        step(context);
    }
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
    counting_open();
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

void spin_load(void)
{
    Dl_info info;
    guards_forget();
    for (uint32_t i = 0; i < LOOPS_MAX; i++) {
        if (loops[i].place != 0 && dladdr((const void *)loops[i].place, &info) == 0) {
            loops[i].place = 0; // its library was closed
        }
    }
    detour_find_code();
    counting_begin();
}

void spin_begin(void)
{
    (void)code_is_own(NULL);
    memory_begin();
    (void)code_write(NULL, NULL, 0); // opens the file of the memory
    signals_begin_stack(true);
    signals_own(SIGTRAP, on_trap);
    signals_own(SIGNALS_SPIN, on_timer);
    counting_begin();
    first_watch.stack_end = (uintptr_t)__libc_stack_end;
    begin_watch(&first_watch);
}
