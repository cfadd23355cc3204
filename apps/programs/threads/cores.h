// SPDX-License-Identifier: Apache-2.0
// apps/programs/threads/cores.h - the threads of a program: each is a core of its host.
//
// Exactly one thread of a host has the turn, in a step of its core. Threads that wait for each
// other wait for keys: addresses of the memory that they share. Threads that look at memory again
// and again, without a call or with polls that find nothing, look again when another one has had
// its turn.
#ifndef APPS_PROGRAMS_THREADS_CORES_H
#define APPS_PROGRAMS_THREADS_CORES_H

#include "kernel/timer.h"
#include "nic/core.h"
#include "programs/protocol.h"

typedef struct app__program app__program_t;
typedef struct app__process app__process_t;

typedef struct app__pr_thread {
    app__program_t *program;
    app__process_t *process;
    nic_core_t *core;
    uint32_t number; // among the threads of its program, from 0
    uint32_t bell;   // index in program_shared_t.bells
    int control;     // the simulator's end of its socket; -1: closed
    bool begins;     // it has had no turn yet
    bool ended;
    bool lingers; // it has ended, but the kernel's thread lives as long as its process

    bool polled;         // in this step of its core
    uint32_t passed;     // empty polls in a row that returned since other queues have completions
    bool called;         // its call lies in shared memory, for the next step of its core
    bool parked;         // its call waits for something
    program_call_t call; // in which it waits
    program_cm_t cm;     // of that call
    uint32_t reasons;    // PROGRAM_ON_ bits of what has happened since the last answer
    bool wait_over;
    sim_timer_t wait_timer;
    uint64_t order;         // of its wait among those of the program
    uint32_t later_reasons; // will be added to `reasons` by later_timer
    sim_timer_t later_timer;

    uint32_t missed;       // reasons that came in calls which they do not end, since its last wait
    uint32_t missed_depth; // of turns of others among them

    bool acted;     // in this turn, it did more than polls that found nothing
    uint32_t depth; // 0: the turn began for another reason than a turn of another thread
    uint32_t next_depth;
} app__pr_thread_t;

// Adds a thread to the program. Its core is not started. The program owns it.
app__pr_thread_t *app__thread_add(app__program_t *program, int control);
// Does PROGRAM_THREAD: makes a thread that begins now. For PROGRAM_FORK, the thread does not begin:
// app__fork_done() starts its core. Returns an errno value.
int app__thread_create(app__program_t *program, program_call_t *call, int *descriptor);
// Ends the thread that has the turn, after its last answer, and waits until the kernel's is gone.
void app__thread_end(app__pr_thread_t *thread, int tid);
// Stops the core of a thread and closes its socket.
void app__thread_stop(app__pr_thread_t *thread);
// Stops the other threads of the process: it has become another program.
void app__threads_stop_others(const app__pr_thread_t *thread);
// Stops the cores of all threads and closes their sockets.
void app__threads_stop(app__program_t *program);
void app__threads_destroy(app__program_t *program);

// Lets the thread look again at what it waits for: `reason` (a PROGRAM_ON_ bit) has happened.
void app__thread_notice(app__pr_thread_t *thread, uint32_t reason);
// Does PROGRAM_WAKE: wakes up to call->count threads that wait for call->wait.key, in the order in
// which they began to wait. Sets call->count to the number of those.
void app__threads_wake(app__program_t *program, program_call_t *call);
// Lets threads that wait for descriptors look at them again: the thread that has the turn has
// written to one, or closed it.
void app__threads_touch(app__program_t *program, uint32_t reasons);
// Lets threads that look at memory do so again: the thread that has the turn ends it.
void app__threads_look(app__pr_thread_t *thread);

// Returns the reasons that end a wait.
uint32_t app__thread_mask(const program_call_t *call);
// Ends the program later if the thread waits for a lock whose holder waits for one, and so on, up
// to this thread, and still does then.
void app__thread_look_for_circle(app__pr_thread_t *thread);
// Returns true if no other thread can run before this one makes a call.
bool app__thread_is_alone(const app__pr_thread_t *thread);
// Returns the number of other threads that wait for descriptors.
uint32_t app__threads_at_descriptors(const app__pr_thread_t *thread);
// Returns true if signals of timers go to this thread: it waits for them (sigwait), or no thread of
// its process does and it is the first that lives.
bool app__thread_takes_signals(const app__pr_thread_t *thread);
// Returns what the threads of a program wait for, in words that begin with a blank or a colon, and
// that live until the next call of this function; "": nothing.
const char *app__program_awaited(const app__program_t *program);

#endif // APPS_PROGRAMS_THREADS_CORES_H
