// SPDX-License-Identifier: Apache-2.0
// programs/turn.c - the turn: a bell each way, and the call in shared memory.

#include "programs/turn.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/bell.h"
#include "programs/parts.h"
#include "programs/system.h"
#include "programs/time/blinds.h"

#define BELOW_BYTES 2048u
#define LIVES_MS 1000u // between two looks at whether the simulator still lives

// A program that looks at a clock and does nothing else waits for time to pass. A look costs at
// least this part of the time since it began, up to LOOKS_MAX_PS; and the simulation catches up
// when a part of the time has passed, which is smaller when that is more than LOOKS_AHEAD_PS, and
// when a signal is due.
#define LOOKS_PART 64u
#define LOOKS_MAX_PS (2 * TURN_PS_PER_US)
#define LOOKS_AHEAD_PART 16u
#define LOOKS_AHEAD_PS (100 * TURN_PS_PER_US)
#define LOOKS_AHEAD_PART_LATER 256u

// Looks at a clock among other calls take no time, as their times are in those of the calls: each
// shows a later time than the look before, but at most so many looks ahead of the program's time.
// More looks in a row take what they show.
#define LOOKS_FREE 32u

// While a program sees nothing but clocks (programs/time/blinds.h), the simulation may stay behind.
#define PUT_OFF_PART 8u                        // by this part of the time since the looks began
#define PUT_OFF_FROM_PS (500 * TURN_PS_PER_US) // since the looks began
#define PUT_OFF_IN_VAIN 4u                     // in a row

#define NEAR_WORDS 62u         // of the stack that are compared at least
#define STACK_NEAR_WORDS 8192u // from the call to the thread's first frame, where more are compared
#define FRAMES_MAX 32u         // of the library, above that of a call
#define MOVES_MAX 10000u       // attempts in a row at other places than the last one
#define ROUNDS_MAX 4u    // attempts after an action that return at once where several take turns
#define PAUSES_MAX 1000u // attempts in a row after which nothing else can follow

#define IDLE_FIRST_PS TURN_PS_PER_US
#define IDLE_DOUBLINGS 7u
#define IDLE_LAST_PS (100 * TURN_PS_PER_US)

program_shared_t *turn_shared;
uint64_t turn_calls;
uint64_t turn_answers;

#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))

static uint64_t actions;
static uint64_t looks;
static bool ended;
// The latest call of this turn that the library has answered itself, or put off: how far the
// program's time was then, and the ring filled. 0: there is none.
static uint64_t answered_lead_ps;
static uint32_t answered_bytes;
static volatile uint32_t put_off; // times that the simulation was to catch up, and has not yet
static uint32_t in_vain;          // it caught up after the first of these, so many times in a row
static volatile uint32_t looking; // calls: signals may come in them, and handlers may look, too
OF_THREAD uint64_t looks_in_a_row;
OF_THREAD uint64_t looks_begin_ps;
OF_THREAD uint64_t shown_ps;     // by the latest look
OF_THREAD uint64_t processor_ns; // processor time of the thread when the last call returned
OF_THREAD uintptr_t stack_end;   // the first frame of a thread other than the first; 0: the first
OF_THREAD int busy;
OF_THREAD int control = PROGRAM_CONTROL_FD;
OF_THREAD uint32_t own_bell;
OF_THREAD int tid; // the kernel's number; 0: the thread may not call the simulator

bool turn_on(void)
{
    return turn_shared != NULL && !ended;
}

bool turn_is_mine(void)
{
    return tid != 0;
}

void turn_say(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    length = length < 0 ? 0 : length > (int)sizeof text - 2 ? (int)sizeof text - 2 : length;
    text[length] = '\n';
    (void)!system_call(SYS_write, STDERR_FILENO, text, (size_t)length + 1);
}

void turn_quit(int status)
{
    for (;;) {
        system_call(SYS_exit_group, status);
    }
}

void turn_fail(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    turn_say("rocesim: %s", text);
    turn_quit(PROGRAM_STATUS_LOST);
}

static uint64_t thread_processor_ns(void)
{
    struct timespec time = {0};
    system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

bool turn_enter(const char *function)
{
    turn_settle();
    return turn_enter_look(function);
}

bool turn_enter_look(const char *function)
{
    if (!turn_on()) {
        return false;
    }
    if (tid == 0) {
        turn_fail("the program called %s() in a thread that was not made with pthread_create()",
                  function);
    }
    turn_calls++;
    if (turn_shared->compute_permille != 0 && busy == 0) {
        const uint64_t now_ns = thread_processor_ns();
        turn_shared->lead_ps += (now_ns - processor_ns) * turn_shared->compute_permille;
        processor_ns = now_ns;
    }
    return true;
}

// -- one exchange

// Takes the descriptor of an answer out of the control socket. Returns -1 if there is none.
static int receive_descriptor(void)
{
    char byte = 0;
    struct iovec place = {.iov_base = &byte, .iov_len = 1};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } extra;
    struct msghdr message = {.msg_iov = &place,
                             .msg_iovlen = 1,
                             .msg_control = &extra,
                             .msg_controllen = sizeof extra.bytes};
    long received;
    do {
        received = system_call(SYS_recvmsg, control, &message, 0);
    } while (received < 0 && errno == EINTR);
    if (received != 1) {
        turn_quit(PROGRAM_STATUS_LOST);
    }
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int found = -1;
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        memcpy(&found, CMSG_DATA(header), sizeof found);
    }
    return found;
}

// Returns true if the simulator is gone: nothing but a descriptor comes by the control socket.
static bool is_abandoned(void)
{
    struct pollfd socket = {.fd = control, .events = POLLRDHUP};
    const struct timespec now = {0};
    return system_call(SYS_ppoll, &socket, 1, &now, NULL, 0) == 1;
}

// Waits for an answer. Ends the process if the simulator is gone.
static void await_answer(void)
{
    uint32_t *const bell = &turn_shared->bells[own_bell];
    bool rung = program_bell_look(bell, turn_shared->spins);
    uint64_t waited_ms = 0;
    while (!rung) {
        rung = program_bell_sleep(bell, LIVES_MS, &waited_ms);
        if (!rung && is_abandoned()) {
            // The simulator rings with the last answer before it closes the socket.
            rung = program_bell_take(bell);
            if (!rung) {
                turn_quit(PROGRAM_STATUS_LOST);
            }
        }
    }
    if (turn_shared->killed != 0) {
        turn_quit(PROGRAM_STATUS_LOST);
    }
    answered_lead_ps = 0;
    answered_bytes = 0;
    turn_answers++;
}

// Clears the stack below the caller. What a wait left there depends on the machine, and programs
// have it in variables to which they write nothing, while loops are known by their stacks.
static __attribute__((noinline)) void clear_below(void)
{
    uint8_t below[BELOW_BYTES];
    memset(below, 0, sizeof below);
    __asm__ volatile("" : : "r"(below) : "memory");
}

static void exchange(program_call_t *call, int *descriptor)
{
    turn_settle();
    const int error = errno;
    turn_shared->call = *call;
    (void)program_bell_ring(&turn_shared->bells[PROGRAM_BELL_OF_SIMULATOR]);
    await_answer();
    clear_below();
    if (descriptor != NULL) {
        *descriptor = turn_shared->with_descriptor != 0 ? receive_descriptor() : -1;
    }
    *call = turn_shared->call;
    turn_shared->tid = tid;
    if (turn_shared->compute_permille != 0) {
        processor_ns = thread_processor_ns();
    }
    errno = error;
}

// Delivers what an answer brought. Handlers of signals run here.
static void deliver(void)
{
    const int error = errno;
    for (uint32_t i = 0; i < turn_shared->event_count && i < PROGRAM_EVENTS_MAX; i++) {
        parts_deliver_event(&turn_shared->events[i]);
    }
    turn_shared->event_count = 0;
    const uint64_t due = turn_shared->signals;
    turn_shared->signals = 0;
    parts_deliver_timers();
    turn_release();
    for (int signal = 1; due != 0 && signal < 64; signal++) {
        if ((due >> signal & 1) != 0) {
            parts_deliver_signal(signal);
        }
    }
    errno = error;
}

int turn_call_descriptor(program_call_t *call, int *descriptor)
{
    turn_hold();
    exchange(call, descriptor);
    // EAGAIN: nothing was found. A lock that is given back is no news.
    if (call->error != EAGAIN && call->wait.object != PROGRAM_AT_MUTEX) {
        actions++;
    }
    looks_in_a_row = 0;
    deliver();
    return call->error;
}

int turn_call(program_call_t *call)
{
    return turn_call_descriptor(call, NULL);
}

// -- answers that were foreseen

// Returns when the simulator would answer a poll that waits from now on for a completion of that
// time. The thread's core looks once at the end of its turn, and then each nanosecond.
static uint64_t answer_time_ps(uint64_t completion_ps)
{
    const uint64_t end_ps = turn_now_ps();
    const uint64_t least_ps = turn_shared->turn_ps + TURN_PS_PER_NS;
    const uint64_t free_ps = end_ps < least_ps ? least_ps : end_ps;
    return completion_ps <= free_ps ? free_ps
                                    : free_ps + (completion_ps - free_ps + TURN_PS_PER_NS - 1) /
                                                    TURN_PS_PER_NS * TURN_PS_PER_NS;
}

// Adds to the call's answer what is foreseen until `now_ps`. Returns how much that is; 0: the
// answer is not known.
static uint32_t take_foreseen(program_call_t *call, uint64_t now_ps)
{
    const uint32_t first = turn_shared->foreseen_used;
    const uint32_t wanted = call->op == PROGRAM_POLL_CQ ? call->count : 0;
    uint32_t events = 0;
    call->count = 0;
    call->wait.reasons = 0;
    while (first + events < turn_shared->foreseen_count &&
           turn_shared->foreseen[first + events].time_ps <= now_ps) {
        const uint32_t cq = turn_shared->foreseen[first + events].cq;
        if (cq != 0 && (call->count == wanted || cq != call->handle)) {
            return 0;
        }
        call->count += cq != 0;
        call->wait.reasons |= (uint32_t)(cq != 0 ? PROGRAM_ON_POLL : PROGRAM_ON_MEMORY);
        events++;
    }
    return (call->wait.reasons & ~call->wait.mask) == 0 ? events : 0;
}

// Puts the payloads in their places, and the completions into the answer.
static void give_foreseen(uint32_t events, uint64_t now_ps)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < events; i++) {
        program_foreseen_t *foreseen = &turn_shared->foreseen[turn_shared->foreseen_used++];
        memcpy((void *)(uintptr_t)foreseen->address,
               turn_shared->foreseen_payload + foreseen->payload, foreseen->bytes);
        if (foreseen->cq != 0) {
            foreseen->completion.time_ps = now_ps;
            turn_shared->completions[count++] = foreseen->completion;
        }
    }
}

// Answers a call that waits, if it is known when and how the simulator will, and notes that for the
// next call, with which the simulator does all that comes before. Returns false if it is not known.
static bool answer_foreseen(program_call_t *call)
{
    const uint32_t first = turn_shared->foreseen_used;
    if (first >= turn_shared->foreseen_count || (call->wait.mask & PROGRAM_ON_MEMORY) == 0 ||
        turn_shared->quiet == 0 || turn_shared->sockets_written != 0 || busy != 1 ||
        turn_shared->answered_count == PROGRAM_FORESEEN_MAX) {
        return false;
    }
    const uint64_t now_ps = answer_time_ps(turn_shared->foreseen[first].time_ps);
    program_call_t answer = *call;
    const uint32_t events = take_foreseen(&answer, now_ps);
    if (events == 0 || now_ps >= turn_shared->foreseen_until_ps ||
        now_ps >= turn_shared->signal_ps || now_ps - turn_now_ps() >= call->wait.timeout_ps) {
        return false;
    }
    turn_shared->answered[turn_shared->answered_count++] =
        (program_answered_t){.lead_ps = turn_shared->lead_ps,
                             .now_ps = now_ps,
                             .wait = call->wait,
                             .op = call->op,
                             .posts_bytes = turn_shared->posts_bytes,
                             .handle = call->handle,
                             .wanted = call->count,
                             .flags = call->flags,
                             .count = answer.count,
                             .events = events};
    give_foreseen(events, now_ps);
    turn_shared->now_ps = now_ps;
    turn_shared->turn_ps = now_ps;
    turn_shared->lead_ps = 0;
    answered_lead_ps = 0;
    answered_bytes = turn_shared->posts_bytes;
    turn_answers++;
    *call = answer;
    clear_below();
    return true;
}

void turn_forget_foreseen(void)
{
    turn_shared->foreseen_count = turn_shared->foreseen_used;
}

int turn_poll(program_call_t *call, program_completion_t *completions)
{
    turn_hold();
    if (!answer_foreseen(call)) {
        exchange(call, NULL);
    }
    if (call->count > PROGRAM_POLL_MAX) {
        call->count = PROGRAM_POLL_MAX;
    }
    if (call->error == 0) {
        memcpy(completions, turn_shared->completions, call->count * sizeof *completions);
    }
    if ((call->wait.reasons & ~(uint32_t)(PROGRAM_ON_TURN | PROGRAM_ON_KEY)) != 0) {
        actions++;
    }
    if (call->count != 0) {
        looks_in_a_row = 0;
    }
    deliver();
    return call->error;
}

static void flush(bool counts)
{
    program_call_t call = {.op = PROGRAM_FLUSH, .flags = counts ? 0 : 1};
    turn_hold();
    exchange(&call, NULL);
    deliver();
}

void turn_flush(void)
{
    flush(true);
}

uint8_t *turn_reserve(size_t bytes)
{
    if (turn_shared->posts_bytes + bytes > PROGRAM_POSTS_BYTES) {
        flush(turn_shared->posts_bytes - answered_bytes + bytes > PROGRAM_POSTS_BYTES);
    }
    uint8_t *place = turn_shared->posts + turn_shared->posts_bytes;
    turn_shared->posts_bytes += (uint32_t)bytes;
    return place;
}

void turn_answer_here(void)
{
    answered_lead_ps = turn_shared->lead_ps;
    answered_bytes = turn_shared->posts_bytes;
}

// Returns how far the program's time is ahead of its time at the last answer.
static uint64_t ahead_ps(void)
{
    return turn_shared->lead_ps - answered_lead_ps;
}

static void yield(void)
{
    program_call_t call = {.op = PROGRAM_YIELD};
    turn_hold();
    exchange(&call, NULL);
    deliver();
}

// Lets the simulation catch up to where it was to do that last.
static void catch_up_late(void)
{
    const uint64_t rest_ps = ahead_ps();
    turn_shared->lead_ps = answered_lead_ps;
    turn_shared->put_off = put_off - 1; // the last one is a call
    put_off = 0;
    yield();
    turn_shared->lead_ps += rest_ps;
}

void turn_settle(void)
{
    blinds_open();
    if (put_off != 0 && looking == 0) {
        in_vain = put_off == 1 ? in_vain + 1 : 0;
        catch_up_late();
    }
}

// Returns true if the simulation can catch up later, since the program sees nothing but clocks.
static bool can_wait(uint64_t waited_ps)
{
    const program_shared_t *shared = turn_shared;
    return waited_ps >= PUT_OFF_FROM_PS && shared->lead_ps < waited_ps / PUT_OFF_PART &&
           in_vain < PUT_OFF_IN_VAIN && shared->alone != 0 && shared->many == 0 &&
           shared->watched == 0 && shared->posts_bytes == 0 && shared->sockets_written == 0 &&
           shared->answered_count == 0 && shared->compute_permille == 0 &&
           turn_now_ps() < shared->signal_ps && blinds_close();
}

uint32_t turn_wait_call(program_call_t *call)
{
    call->op = PROGRAM_WAIT;
    turn_hold();
    if (!answer_foreseen(call)) {
        exchange(call, NULL);
    }
    if ((call->wait.reasons & ~(uint32_t)(PROGRAM_ON_TURN | PROGRAM_ON_KEY)) != 0) {
        actions++;
        looks_in_a_row = 0;
    }
    deliver();
    return call->wait.reasons;
}

uint32_t turn_wait(uint32_t mask, uint64_t timeout_ps)
{
    program_call_t call = {.wait = {.mask = mask, .timeout_ps = timeout_ps}};
    return turn_wait_call(&call);
}

void turn_bye(int status)
{
    if (!turn_on() || tid == 0) {
        return;
    }
    program_call_t call = {.op = PROGRAM_BYE, .status = status};
    turn_hold();
    exchange(&call, NULL);
    ended = true;
}

// -- threads

void turn_begin_process(program_shared_t *shared)
{
    turn_shared = shared;
    own_bell = shared->bell;
    tid = (int)system_call(SYS_gettid);
}

void turn_begin_thread(int thread_control, uint32_t bell)
{
    stack_end = *(const uintptr_t *)__builtin_frame_address(0); // the caller's frame
    control = thread_control;
    own_bell = bell;
    busy = 1; // as in a call: signals wait
    await_answer();
    tid = (int)system_call(SYS_gettid);
    turn_shared->tid = tid;
    processor_ns = thread_processor_ns();
    deliver();
}

// The parent has the turn, so nobody else rings its bell. Its sleep is none that the simulator may
// end, however long the child takes.
void turn_await_child(int pid)
{
    uint32_t *const bell = &turn_shared->bells[own_bell];
    uint64_t waited_ms = 0;
    siginfo_t info = {0};
    turn_shared->tid = 0;
    while (!program_bell_sleep(bell, LIVES_MS, &waited_ms) && info.si_pid == 0) {
        (void)system_call(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL);
    }
}

void turn_tell_parent(void)
{
    (void)program_bell_ring(&turn_shared->bells[own_bell]);
}

void turn_end_thread(void)
{
    program_call_t call = {.op = PROGRAM_THREAD_END, .status = tid};
    turn_hold();
    exchange(&call, NULL);
    tid = 0;
}

void turn_prepare_exec(void)
{
    if (control != PROGRAM_CONTROL_FD) {
        system_call(SYS_dup2, control, PROGRAM_CONTROL_FD);
    }
}

void turn_catch_up(void)
{
    if (turn_shared->alone == 0 && busy == 0 &&
        (ahead_ps() != 0 || turn_shared->posts_bytes != answered_bytes)) {
        yield();
    }
}

void turn_begin_post(void)
{
    if (turn_shared->post_ps != PROGRAM_NEVER && busy == 0 &&
        turn_now_ps() - turn_shared->turn_ps >= TURN_PS_PER_NS) {
        yield();
    }
}

// -- costs and clocks

void turn_charge(uint64_t cost_ps)
{
    turn_shared->lead_ps += cost_ps;
    if (busy == 0 && ahead_ps() >= turn_shared->ahead_ps) {
        yield();
    }
}

void turn_charge_call(void)
{
    turn_charge(turn_shared->call_ps);
}

uint64_t turn_now_ps(void)
{
    return turn_shared->now_ps + turn_shared->lead_ps;
}

// Returns what a look at a clock shows: the program's time, or a bit more than the look before.
static uint64_t show(void)
{
    const uint64_t now_ps = turn_now_ps();
    const uint64_t next_ps = shown_ps + turn_shared->clock_ps;
    if (next_ps <= now_ps + LOOKS_FREE * turn_shared->clock_ps) {
        shown_ps = next_ps < now_ps ? now_ps : next_ps;
    }
    return shown_ps;
}

// Looks at a clock, and notes that the simulation is to catch up if it is.
static uint64_t look(void)
{
    looks++;
    if (looks_in_a_row++ == 0) {
        in_vain = 0;
        looks_begin_ps = turn_now_ps();
    }
    if (looks_in_a_row <= LOOKS_FREE) {
        return show();
    }
    if (shown_ps > turn_now_ps()) {
        turn_shared->lead_ps += shown_ps - turn_now_ps();
    }
    const uint64_t waited_ps = turn_now_ps() - looks_begin_ps;
    const uint64_t look_part_ps = waited_ps / LOOKS_PART;
    const uint64_t least_ps = look_part_ps < LOOKS_MAX_PS ? look_part_ps : LOOKS_MAX_PS;
    const uint64_t part_ps = waited_ps / LOOKS_AHEAD_PART;
    const uint64_t later_ps = waited_ps / LOOKS_AHEAD_PART_LATER;
    const uint64_t most_ps = later_ps > LOOKS_AHEAD_PS ? later_ps : LOOKS_AHEAD_PS;
    const uint64_t enough_ps = part_ps < most_ps ? part_ps : most_ps;
    turn_shared->lead_ps += least_ps > turn_shared->clock_ps ? least_ps : turn_shared->clock_ps;
    if ((ahead_ps() >= turn_shared->ahead_ps && ahead_ps() >= enough_ps) ||
        turn_now_ps() >= turn_shared->signal_ps) {
        answered_lead_ps = turn_shared->lead_ps;
        put_off++;
        if (!can_wait(waited_ps)) {
            blinds_open();
        }
    }
    return shown_ps = turn_now_ps();
}

uint64_t turn_look_ps(void)
{
    if (!turn_on() || busy != 0) {
        return turn_now_ps();
    }
    if (turn_shared->post_ps == PROGRAM_NEVER && turn_shared->posts_bytes != 0) {
        flush(turn_shared->posts_bytes != answered_bytes);
    }
    looking++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const uint64_t seen_ps = look();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    looking--;
    if (!blinds_on && put_off != 0) { // in this order: a signal may open them in between
        catch_up_late();
    }
    return seen_ps;
}

bool turn_busy(void)
{
    return busy != 0;
}

void turn_hold(void)
{
    busy++;
}

void turn_release(void)
{
    busy--;
    if (busy == 0) {
        parts_deliver_deferred();
    }
}

// -- attempts that find nothing

void turn_act(void)
{
    actions++;
    looks_in_a_row = 0;
}

extern void *__libc_stack_end;
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

// Whether an attempt is at another place than the one before. MOVED_FAR: only what is further away
// on the stack differs, as with a caller that counts its attempts.
typedef enum moved { MOVED_NOT, MOVED_FAR, MOVED } moved_t;

// Returns how many words of the program's stack are compared. Callers may have an array of
// completions there, and behind it what they count. Above the first frame of a thread lies its
// memory of thread-local variables, and a stack of the program's own may end soon.
static uint32_t count_words(const uintptr_t *words)
{
    const uintptr_t end = stack_end != 0 ? stack_end : (uintptr_t)__libc_stack_end;
    const uintptr_t above = (end - (uintptr_t)words) / sizeof *words;
    return above > STACK_NEAR_WORDS || above < NEAR_WORDS ? NEAR_WORDS
           : above < TURN_CALLER_WORDS                    ? (uint32_t)above
                                                          : TURN_CALLER_WORDS;
}

// Notes the place of the program's call: its return address, and its stack with what is on it.
// Returns which place that is. All frames of the library have pointers.
static __attribute__((noinline)) moved_t moves_on(turn_idle_t *idle)
{
    const uintptr_t begin = (uintptr_t)__ehdr_start;
    const uintptr_t length = (uintptr_t)etext - begin;
    const uintptr_t *frame = __builtin_frame_address(0);
    for (uint32_t i = 0; i < FRAMES_MAX && frame[1] - begin < length; i++) {
        frame = (const uintptr_t *)frame[0];
    }
    const uintptr_t *const words = frame + 1;
    const uint32_t compared = count_words(words);
    uintptr_t differences = (uintptr_t)frame ^ idle->frame;
    for (uint32_t i = 0; i < NEAR_WORDS; i++) { // no branch: most are equal
        differences |= words[i] ^ idle->words[i];
    }
    const moved_t moved = differences != 0 ? MOVED : MOVED_FAR;
    for (uint32_t i = NEAR_WORDS; i < compared; i++) {
        differences |= words[i] ^ idle->words[i];
    }
    if (differences == 0) {
        return MOVED_NOT;
    }
    idle->frame = (uintptr_t)frame;
    // A sanitizer has its own memcpy(), which would report the bytes between two variables.
    uintptr_t *to = idle->words;
    const uintptr_t *from = words;
    size_t count = compared;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    return moved;
}

uint64_t turn_idle_timeout_ps(turn_idle_t *idle)
{
    OF_THREAD const turn_idle_t *last;
    const bool alternates = !idle->by_state && last != idle;
    last = idle;
    const moved_t moved = idle->by_state ? MOVED_NOT : moves_on(idle);
    if (idle->actions != actions + 1) {
        idle->actions = actions + 1;
        idle->looks = looks;
        idle->tries = 0;
        idle->moves = 0;
        idle->rounds = 0;
        return 0;
    }
    if (alternates && idle->rounds < ROUNDS_MAX) {
        idle->rounds++;
        return 0;
    }
    if (moved != MOVED_NOT) {
        idle->moves++;
    }
    if (idle->looks == looks && (moved == MOVED_NOT || idle->moves >= MOVES_MAX)) {
        return PROGRAM_NEVER;
    }
    if (idle->looks == looks && moved == MOVED_FAR) {
        return IDLE_LAST_PS;
    }
    idle->looks = looks;
    const uint64_t timeout_ps = IDLE_FIRST_PS << idle->tries;
    if (idle->tries < IDLE_DOUBLINGS) {
        idle->tries++;
    }
    return timeout_ps < IDLE_LAST_PS ? timeout_ps : IDLE_LAST_PS;
}

static bool wait_idle(uint64_t timeout_ps)
{
    const uint32_t mask = PROGRAM_ON_POLL | PROGRAM_ON_EVENT | PROGRAM_ON_SOCKET |
                          PROGRAM_ON_SIGNAL | PROGRAM_ON_MEMORY;
    return timeout_ps != 0 && turn_wait(mask, timeout_ps) != 0;
}

bool turn_idle_wait(turn_idle_t *idle)
{
    return wait_idle(turn_idle_timeout_ps(idle));
}

bool turn_idle_pause(turn_idle_t *idle)
{
    const uint64_t timeout_ps = turn_idle_timeout_ps(idle);
    const uint32_t doublings = idle->pauses < IDLE_DOUBLINGS ? idle->pauses : IDLE_DOUBLINGS;
    const uint64_t pause_ps = IDLE_FIRST_PS << doublings;
    idle->pauses = timeout_ps == PROGRAM_NEVER ? idle->pauses + 1 : 0;
    return wait_idle(timeout_ps != PROGRAM_NEVER || idle->pauses >= PAUSES_MAX ? timeout_ps
                     : pause_ps < IDLE_LAST_PS                                 ? pause_ps
                                                                               : IDLE_LAST_PS);
}
