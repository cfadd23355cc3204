// SPDX-License-Identifier: Apache-2.0
// programs/turn.h - the turn: calls to the simulator, and what calls cost.
//
// Exactly one thread of a program has the turn; all functions are called by that one. Between two
// answers the thread runs for no simulated time, except for what turn_charge() adds. No function
// allocates, so a signal handler may call them, unless the thread is in a call (turn_busy()).
#ifndef PROGRAMS_TURN_H
#define PROGRAMS_TURN_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "programs/protocol.h"

// Functions that programs call instead of those of libibverbs and libc.
#define PROGRAM_EXPORT __attribute__((visibility("default")))

// The function of this name that the program would have called without this library. All that were
// not called before are looked up when a program starts its first thread (threads/life.c).
#define PROGRAM_NEXT(function)                                                                   \
    (__extension__({                                                                             \
        static turn_next_t next_ __attribute__((section("program_next"))) = {.name = #function}; \
        __typeof__(function) *found_;                                                            \
        turn_find_next(&next_);                                                                  \
        __builtin_memcpy(&found_, &next_.found, sizeof found_);                                  \
        found_;                                                                                  \
    }))

typedef struct turn_next {
    const char *name;
    void *found; // NULL: not looked up yet
} turn_next_t;

static inline void turn_find_next(turn_next_t *next)
{
    if (next->found == NULL) {
        next->found = dlsym(RTLD_NEXT, next->name);
    }
}

#define TURN_PS_PER_NS UINT64_C(1000)
#define TURN_PS_PER_US UINT64_C(1000000)
#define TURN_PS_PER_S UINT64_C(1000000000000)

// The shared memory. NULL: this process is no program of rocesim, and all calls pass through.
extern program_shared_t *turn_shared;

// Returns an entry of the hosts of the scenario.
static inline const program_host_t *turn_host(uint64_t index)
{
    return (const program_host_t *)(const void *)(turn_shared + 1) + index;
}

// Returns true if the ports are of InfiniBand: peers have LIDs, by the number of their host entry.
static inline bool turn_has_lids(void)
{
    return turn_shared->devices[0].lid != 0;
}

// Returns true if the simulator answers this process: it is a program, and has not ended.
bool turn_on(void);

// Returns true if the calling thread may call the simulator: it is the program's first, or was made
// with pthread_create().
bool turn_is_mine(void);

// Begins a call of the program that is simulated. Returns false if it passes through. Ends the
// program with one sentence if the thread may not call the simulator.
bool turn_enter(const char *function);

// Begins a call that only looks at a clock, which may leave the simulation behind
// (programs/time/blinds.h).
bool turn_enter_look(const char *function);

// Lets the simulation catch up with such looks, as every other call does.
void turn_settle(void);

// Prints "rocesim: TEXT" on the standard error output.
void turn_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Prints a sentence and ends the process.
_Noreturn void turn_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Ends the process without a call of any handler.
_Noreturn void turn_quit(int status);

// Sends a call and returns its `error`. The answer lies in `call`. Signals and events that the
// answer brings are delivered before the function returns.
int turn_call(program_call_t *call);

// Does the same, and returns in `descriptor` the descriptor that the answer brings, or -1.
int turn_call_descriptor(program_call_t *call, int *descriptor);

// Sends PROGRAM_POLL_CQ and copies the completions of the answer before signals are delivered.
int turn_poll(program_call_t *call, program_completion_t *completions);

// Forgets what was foreseen: the thread does something that may change it.
void turn_forget_foreseen(void);

// Lets the simulator work on posts and sockets.
void turn_flush(void);

// Makes room for so many bytes in the ring of posts, and returns their place.
uint8_t *turn_reserve(size_t bytes);

// Notes that the call of which a record was just written needs no answer: all later costs count as
// if it had had one.
void turn_answer_here(void);

// Sends PROGRAM_WAIT. Returns the reasons; 0: the time is over.
uint32_t turn_wait_call(program_call_t *call);

// Waits for what `mask` names. Returns the reasons; 0: the time is over.
uint32_t turn_wait(uint32_t mask, uint64_t timeout_ps);

// Sends the end of the program.
void turn_bye(int status);

// Adds a cost to the program's time, and lets the simulation catch up when it is due.
void turn_charge(uint64_t cost_ps);

// Adds what a call costs that is neither a post nor a poll nor a look at a clock.
void turn_charge_call(void);

// Lets the simulation come to the program's time, if another thread may run before. Calls by which
// threads meet begin with that, so that the order of such calls is that of their times.
void turn_catch_up(void);

// Lets the simulation come to the program's time before a post to an ideal NIC, which sends from
// the time of the simulation on. Posts that follow each other within 1 ns belong together.
void turn_begin_post(void);

// Joins the simulation whose memory is `shared`: the calling thread is the first of its process.
void turn_begin_process(program_shared_t *shared);

// Lets the simulator give turns to the calling thread by this socket and bell, and waits for the
// first one.
void turn_begin_thread(int control, uint32_t bell);

// Waits until a process that was just forked has called turn_tell_parent(), or has ended.
void turn_await_child(int pid);
void turn_tell_parent(void);

// Ends the calling thread for the simulator. It may make no call any more.
void turn_end_thread(void);

// Gives the socket of the calling thread the number at which another program looks for it.
void turn_prepare_exec(void);

// Returns the program's time since the simulation began.
uint64_t turn_now_ps(void);

// Returns the program's time, as a look at a clock that costs what it costs.
uint64_t turn_look_ps(void);

// Returns true while the thread is in a call, where no other may begin.
bool turn_busy(void);

// Keeps handlers of signals from making calls until turn_release().
void turn_hold(void);
void turn_release(void);

// Counts calls of the program of any kind, to know a program that makes none.
extern uint64_t turn_calls;

// Counts answers of the simulator.
extern uint64_t turn_answers;

// -- attempts that find nothing, like an empty poll

#define TURN_CALLER_WORDS 126u // of the program's stack that are compared at most

// Something that the program tries again and again. Zeroes are the beginning.
typedef struct turn_idle {
    uint64_t actions; // number of actions at the last attempt that found nothing, plus 1
    uint64_t looks;   // number of looks at a clock at that time
    uint32_t tries;   // attempts in a row with a look at a clock between them
    uint32_t moves;   // attempts in a row at another place of the program than the one before
    uint32_t pauses;  // in a row, without a look at a clock between them
    uint32_t rounds;  // attempts since the last action, where attempts of several kinds take turns
    bool by_state;    // places do not count
    uintptr_t frame;  // the place of the last attempt, and what was on the stack
    uintptr_t words[TURN_CALLER_WORDS];
} turn_idle_t;

// Notes that the program did something, or that something happened to it.
void turn_act(void);

// Returns how long an attempt that found nothing may wait: 0 if something was done since the last
// one, so that the program may do more at this time; else PROGRAM_NEVER, or 1 us to 100 us if the
// program looks at a clock between its attempts, or makes them at different places.
uint64_t turn_idle_timeout_ps(turn_idle_t *idle);

// Waits as long as an attempt that found nothing may wait. Returns true if something happened.
bool turn_idle_wait(turn_idle_t *idle);

// Does the same for an attempt that something else may follow, since a program that counts its
// attempts in a register seems to go in circles: waits for 1 us, then 2 us, at most 100 us, until
// 1000 in a row show that nothing follows.
bool turn_idle_pause(turn_idle_t *idle);

#endif // PROGRAMS_TURN_H
