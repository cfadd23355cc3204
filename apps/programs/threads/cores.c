// SPDX-License-Identifier: Apache-2.0
// apps/programs/threads/cores.c - the life of threads, and how they wait for each other.
#include "apps/programs/threads/cores.h"
#include "apps/programs/guest.h"
#include "apps/programs/turns.h"
#include "programs/bell.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// A look at memory that finds nothing may still write: a thread that polls sees a flag and sets
// another one. So it lets others look again, but they do so for this number of times in a row only.
#define DEPTH_MAX 2u
#define GONE_NS 20000L // between two looks at whether a thread is gone
#define GONE_LOOKS 100000u

// Threads that wait in a circle end the program after this time.
#define STUCK_PS (60 * SIM_PS_PER_S)

// -- life

static void wait_is_over(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__pr_thread_t *const thread = SIM_CONTAINER_OF(timer, app__pr_thread_t, wait_timer);
    thread->wait_over = true;
    nic_core_wake(thread->core);
}

static void later_is_now(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__pr_thread_t *const thread = SIM_CONTAINER_OF(timer, app__pr_thread_t, later_timer);
    const uint32_t reasons = thread->later_reasons;
    thread->later_reasons = 0;
    app__thread_notice(thread, reasons);
}

// Returns the first bell that no thread has. A thread that has ended may still take its last answer
// from its bell, until its process ends, if it is the first one of its process.
static uint32_t free_bell(const app__program_t *program)
{
    bool taken[PROGRAM_BELLS] = {[PROGRAM_BELL_OF_SIMULATOR] = true};
    uint32_t bell = 0;
    for (size_t i = 0; i < program->thread_count; i++) {
        const app__pr_thread_t *const thread = program->threads[i];
        taken[thread->bell] = taken[thread->bell] || !thread->ended || thread->lingers;
    }
    while (bell < PROGRAM_BELLS && taken[bell]) {
        bell++;
    }
    return bell;
}

app__pr_thread_t *app__thread_add(app__program_t *program, int control)
{
    app__pr_thread_t *const thread = sim_alloc(sizeof(*thread));
    *thread = (app__pr_thread_t){
        .program = program,
        .process = program->process,
        .number = (uint32_t)program->thread_count,
        .bell = free_bell(program),
        .control = control,
        .begins = true,
    };
    thread->core = nic_core_create(program->node, app__program_take_turn, thread);
    sim_timer_init(&thread->wait_timer, wait_is_over);
    sim_timer_init(&thread->later_timer, later_is_now);
    SIM_APPEND(program->threads, program->thread_count, program->thread_capacity, thread);
    return thread;
}

int app__thread_create(app__program_t *program, program_call_t *call, int *descriptor)
{
    int ends[2];
    if (free_bell(program) == PROGRAM_BELLS) {
        return EAGAIN;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return errno;
    }
    app__pr_thread_t *const thread = app__thread_add(program, ends[0]);
    *descriptor = ends[1];
    call->handle = thread->number;
    call->count = thread->bell;
    program->process->shared->bells[thread->bell] = PROGRAM_BELL_SILENT;
    if (call->op == PROGRAM_THREAD) {
        nic_core_start(thread->core, nic_core_now_ps(program->core));
    }
    return 0;
}

static void close_control(app__pr_thread_t *thread)
{
    if (thread->control >= 0) {
        close(thread->control);
        thread->control = -1;
    }
}

// Gives the completion queues of a thread that has ended to the first one that lives.
static void leave_queues(const app__pr_thread_t *thread)
{
    const app__program_t *const program = thread->program;
    app__pr_thread_t *heir = NULL;
    for (size_t i = 0; i < program->thread_count && heir == NULL; i++) {
        heir = program->threads[i]->ended ? NULL : program->threads[i];
    }
    for (size_t i = 0; i < program->cq_count && heir != NULL; i++) {
        if (program->cqs[i]->owner == thread) {
            program->cqs[i]->owner = heir;
            nic_cq_change_core(program->cqs[i]->cq, heir->core);
        }
    }
}

void app__thread_stop(app__pr_thread_t *thread)
{
    sim_node_t *const node = &thread->program->node->sim;
    thread->ended = true;
    thread->parked = false;
    sim_timer_cancel(node, &thread->wait_timer);
    sim_timer_cancel(node, &thread->later_timer);
    nic_core_stop(thread->core);
    leave_queues(thread);
    close_control(thread);
}

void app__thread_end(app__pr_thread_t *thread, int tid)
{
    const pid_t pid = thread->process->pid;
    app__threads_look(thread);
    // Until it is gone the C library may still work on its stack. The first thread of a process
    // stays until the process ends.
    for (uint32_t i = 0; i < GONE_LOOKS && tid != pid && tid > 0; i++) {
        if (syscall(SYS_tgkill, pid, tid, 0) != 0) {
            break;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = GONE_NS}, NULL);
    }
    thread->lingers = tid == pid;
    app__thread_stop(thread);
}

void app__threads_stop_others(const app__pr_thread_t *thread)
{
    const app__program_t *const program = thread->program;
    for (size_t i = 0; i < program->thread_count; i++) {
        if (program->threads[i] != thread && program->threads[i]->process == thread->process) {
            app__thread_stop(program->threads[i]);
        }
    }
}

void app__threads_stop(app__program_t *program)
{
    for (size_t i = 0; i < program->thread_count; i++) {
        app__thread_stop(program->threads[i]);
    }
}

void app__threads_destroy(app__program_t *program)
{
    for (size_t i = 0; i < program->thread_count; i++) {
        close_control(program->threads[i]);
        sim_free(program->threads[i]);
    }
    sim_free((void *)program->threads);
}

// -- waking

uint32_t app__thread_mask(const program_call_t *call)
{
    const uint32_t mask = call->wait.mask;
    return (mask & PROGRAM_ON_MEMORY) != 0 ? mask | PROGRAM_ON_TURN : mask;
}

static bool concerns(const app__pr_thread_t *thread, uint32_t reason)
{
    return thread->program->thread_count == 1 || thread->call.op == PROGRAM_CONNECT ||
           (app__thread_mask(&thread->call) & reason) != 0;
}

void app__thread_notice(app__pr_thread_t *thread, uint32_t reason)
{
    if (thread->ended) {
        return;
    }
    if (thread->parked && !concerns(thread, reason)) {
        thread->missed |= reason & ~(uint32_t)PROGRAM_ON_TURN;
        return;
    }
    thread->reasons |= reason;
    if (thread->program->state == APP__PR_RUNS && thread->parked) {
        nic_core_wake(thread->core);
    }
}

// Notices a thread at the time of the thread that has the turn, which may be later than the host's.
static void notice_now(const app__program_t *program, app__pr_thread_t *thread, uint32_t reason)
{
    sim_node_t *const node = &program->node->sim;
    const sim_time_t now_ps = nic_core_now_ps(program->core);
    if (now_ps == node->now_ps) {
        app__thread_notice(thread, reason);
        return;
    }
    if (sim_timer_armed(&thread->later_timer)) {
        if (sim_timer_time_ps(node, &thread->later_timer) <= now_ps) {
            thread->later_reasons |= reason;
            return;
        }
        sim_timer_cancel(node, &thread->later_timer);
    }
    thread->later_reasons |= reason;
    sim_timer_arm(node, &thread->later_timer, now_ps);
}

static bool waits_at(const app__pr_thread_t *thread, uint64_t key)
{
    return thread->parked && !thread->wait_over && (thread->call.wait.mask & PROGRAM_ON_KEY) != 0 &&
           thread->call.wait.key == key;
}

// Returns true if a thread is woken before another one. A private object of one process may have
// the address of another's: threads of the process that wakes are first.
static bool is_before(const app__pr_thread_t *thread, const app__pr_thread_t *other)
{
    const app__process_t *const own = thread->program->process;
    return (thread->process == own) != (other->process == own) ? thread->process == own
                                                               : thread->order < other->order;
}

// Returns the thread that waits for a key, has not been woken, and is first to be; NULL: none.
static app__pr_thread_t *first_of(const app__program_t *program, uint64_t key)
{
    app__pr_thread_t *first = NULL;
    for (size_t i = 0; i < program->thread_count; i++) {
        app__pr_thread_t *const thread = program->threads[i];
        if (waits_at(thread, key) && (first == NULL || is_before(thread, first))) {
            first = thread;
        }
    }
    return first;
}

// Does the same for the program and, if the key is of shared memory, those that share it.
static app__pr_thread_t *first_at(app__program_t *program, uint64_t key)
{
    app__pr_thread_t *first = first_of(program, key);
    if ((key & PROGRAM_KEY_SHARED) != 0) {
        for (const app__program_t *other = app__segments_sharers(program);
             other != NULL && first == NULL; other = other->next_sharer) {
            first = first_of(other, key);
        }
    }
    return first;
}

void app__threads_wake(app__program_t *program, program_call_t *call)
{
    const uint32_t wanted = call->count;
    call->count = 0;
    app__pr_thread_t *thread = NULL;
    if (call->handle != 0) {
        if (call->handle - 1 < program->thread_count) {
            notice_now(program, program->threads[call->handle - 1], ~0u);
        }
        return;
    }
    while (call->count < wanted && (thread = first_at(program, call->wait.key)) != NULL) {
        thread->call.wait.key = 0;
        sim_timer_cancel(&program->node->sim, &thread->wait_timer);
        notice_now(program, thread, PROGRAM_ON_KEY);
        call->count++;
    }
}

void app__threads_touch(app__program_t *program, uint32_t reasons)
{
    for (size_t i = 0; i < program->thread_count; i++) {
        app__pr_thread_t *const thread = program->threads[i];
        if (thread != program->thread && thread->parked &&
            (thread->call.wait.mask & reasons) != 0) {
            notice_now(program, thread, reasons);
        }
    }
}

void app__threads_look(app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    const program_call_t *const call = &program->process->shared->call;
    const bool quiet = thread->depth != 0 && !thread->acted;
    const uint32_t depth = quiet ? thread->depth + 1 : 1;
    const app__program_t *sharer = app__segments_sharers(program);
    if (depth > DEPTH_MAX ||
        (call->op == PROGRAM_WAIT && (call->flags & PROGRAM_WAIT_WROTE_NOTHING) != 0)) {
        return;
    }
    for (; sharer != NULL; sharer = sharer->next_sharer) {
        for (size_t i = 0; i < sharer->thread_count; i++) {
            app__pr_thread_t *const other = sharer->threads[i];
            const bool looks = (other->call.wait.mask & PROGRAM_ON_MEMORY) != 0;
            uint32_t *const other_depth = looks ? &other->next_depth : &other->missed_depth;
            if (other == thread || !other->parked) {
                continue;
            }
            *other_depth = *other_depth == 0 ? depth : SIM_MIN(*other_depth, depth);
            if (looks) {
                notice_now(program, other, PROGRAM_ON_TURN);
            } else {
                other->missed |= PROGRAM_ON_TURN;
            }
        }
    }
}

// -- threads that wait for each other for ever

// Returns true if the thread waits for a lock whose holder waits for one, and so on, up to it.
static bool is_stuck(const app__pr_thread_t *thread)
{
    const app__program_t *const program = thread->program;
    const app__pr_thread_t *at = thread;
    for (size_t i = 0; i < program->thread_count; i++) {
        const program_wait_t *const wait = &at->call.wait;
        const bool lock = wait->object == PROGRAM_AT_MUTEX || wait->object == PROGRAM_AT_RWLOCK ||
                          wait->object == PROGRAM_AT_SPIN_LOCK;
        if (!at->parked || at->wait_over || (wait->mask & PROGRAM_ON_KEY) == 0 || wait->key == 0 ||
            !lock || wait->timeout_ps != PROGRAM_NEVER || wait->other >= program->thread_count) {
            return false;
        }
        at = program->threads[wait->other];
        if (at == thread) {
            return true;
        }
    }
    return false;
}

// Ends a program some of whose threads still wait for each other.
static void stuck_is_due(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    app__program_t *const program = SIM_CONTAINER_OF(timer, app__program_t, stuck_timer);
    if (!is_stuck(program->stuck)) {
        program->stuck = NULL;
        return;
    }
    char *const text = sim_format("the program was ended, since threads of it have waited for each "
                                  "other's locks for 60 s of simulated time%s",
                                  app__program_awaited(program));
    app__program_end(program, text);
    sim_free(text);
}

void app__thread_look_for_circle(app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    if (program->stuck != NULL || !is_stuck(thread)) {
        return;
    }
    program->stuck = thread;
    sim_timer_init(&program->stuck_timer, stuck_is_due);
    sim_timer_arm(&program->node->sim, &program->stuck_timer,
                  nic_core_now_ps(thread->core) + STUCK_PS);
}

// -- what the answer of a thread says about the others

// Returns true if the thread runs only when another one wakes it.
static bool is_at_rest(const app__pr_thread_t *thread)
{
    const uint32_t keys = PROGRAM_ON_KEY | PROGRAM_ON_SIGNAL;
    return thread->ended ||
           (thread->parked && (thread->call.wait.mask & ~keys) == 0 && thread->reasons == 0 &&
            thread->call.op == PROGRAM_WAIT && !sim_timer_armed(&thread->wait_timer) &&
            !sim_timer_armed(&thread->later_timer));
}

bool app__thread_is_alone(const app__pr_thread_t *thread)
{
    for (const app__program_t *program = app__segments_sharers(thread->program); program != NULL;
         program = program->next_sharer) {
        for (size_t i = 0; i < program->thread_count; i++) {
            if (program->threads[i] != thread && !is_at_rest(program->threads[i])) {
                return false;
            }
        }
    }
    return true;
}

uint32_t app__threads_at_descriptors(const app__pr_thread_t *thread)
{
    const app__program_t *const program = thread->program;
    uint32_t count = 0;
    for (size_t i = 0; i < program->thread_count; i++) {
        const app__pr_thread_t *const other = program->threads[i];
        count +=
            other != thread && other->parked && (other->call.wait.mask & PROGRAM_ON_SOCKET) != 0;
    }
    return count;
}

static bool awaits_signals(const app__pr_thread_t *thread)
{
    return thread->parked && thread->call.op == PROGRAM_WAIT &&
           (thread->call.flags & PROGRAM_WAIT_TAKES_SIGNALS) != 0;
}

bool app__thread_takes_signals(const app__pr_thread_t *thread)
{
    const app__program_t *const program = thread->program;
    const app__pr_thread_t *taker = NULL;
    for (size_t i = 0; i < program->thread_count; i++) {
        const app__pr_thread_t *const other = program->threads[i];
        if (other->process == thread->process && !other->ended &&
            (taker == NULL || (!awaits_signals(taker) && awaits_signals(other)))) {
            taker = other;
        }
    }
    return taker == thread;
}

// Writes what a thread waits for.
static void describe(const app__pr_thread_t *thread, char *text, size_t size)
{
    static const struct {
        uint32_t mask;
        const char *words;
    } reasons[] = {
        {PROGRAM_ON_POLL, "a completion"},
        {PROGRAM_ON_MEMORY, "a write into its memory"},
        {PROGRAM_ON_SOCKET, "bytes or a connection of a socket, or for an event"},
        {PROGRAM_ON_EVENT, "an event"},
        {PROGRAM_ON_SIGNAL, "a signal"},
    };
    static const char *const objects[] = {
        [PROGRAM_AT_MUTEX] = "a mutex",
        [PROGRAM_AT_CONDITION] = "a condition variable",
        [PROGRAM_AT_BARRIER] = "a barrier",
        [PROGRAM_AT_SEMAPHORE] = "a semaphore",
        [PROGRAM_AT_RWLOCK] = "a read-write lock",
        [PROGRAM_AT_SPIN_LOCK] = "a spin lock",
        [PROGRAM_AT_ONCE] = "an initialisation by another thread",
        [PROGRAM_AT_FUTEX] = "a futex",
        [PROGRAM_AT_PROCESSES] = "the end of a process",
    };
    const program_wait_t *const wait = &thread->call.wait;
    const char *words = "nothing";
    for (size_t i = SIM_COUNT_OF(reasons); i-- > 0;) {
        words = (wait->mask & reasons[i].mask) != 0 ? reasons[i].words : words;
    }
    if ((wait->mask & PROGRAM_ON_KEY) != 0 && wait->object < SIM_COUNT_OF(objects) &&
        objects[wait->object] != NULL) {
        words = objects[wait->object];
    }
    if (thread->call.op == PROGRAM_CONNECT) {
        words = "a connection";
    }
    if ((wait->mask & PROGRAM_ON_KEY) == 0 || wait->other == PROGRAM_NO_THREAD) {
        (void)snprintf(text, size, "%s", words);
    } else if (wait->object == PROGRAM_AT_END) {
        (void)snprintf(text, size, "the end of thread %u", wait->other);
    } else {
        (void)snprintf(text, size, "%s that thread %u holds", words, wait->other);
    }
}

const char *app__program_awaited(const app__program_t *program)
{
    char *const text = program->awaited->text;
    const size_t size = sizeof(program->awaited->text);
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < program->thread_count && length < size - 1; i++) {
        const app__pr_thread_t *const thread = program->threads[i];
        char what[128];
        if (!thread->parked) {
            continue;
        }
        describe(thread, what, sizeof(what));
        if (program->thread_count == 1) {
            (void)snprintf(text, size, " for %s", what);
        } else {
            (void)snprintf(text + length, size - length, "%s thread %u for %s",
                           length == 0 ? ":" : ",", thread->number, what);
        }
        length = strlen(text);
    }
    return text;
}
