// SPDX-License-Identifier: Apache-2.0
// apps/programs/exchange.c - the turn changes hands: answers to threads, and waits for their calls.
//
// Who waits looks at its bell (programs/bell.h) for some time before it sleeps, as long as that
// pays: while other processes have the processors, or several programs take turns, looks find
// nothing. Then both sides run on one processor, since waking a process on another one takes
// several times as long, and the simulator yields it to the process once before it sleeps.
#define _GNU_SOURCE
#include "apps/programs/process.h"
#include "programs/bell.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_LOOK_MS 16u // until a silent process is looked at; twice as long each time
#define LOOK_MS 200u      // maximum time between two looks at a silent process
#define ASLEEP_MS 2000u   // after which a thread that waits in a system call is given up

// The number of looks at a bell, about as long as two changes of processes take. Credit grows with
// each exchange in which nobody slept. Without credit, nobody looks for a number of exchanges.
#define SPINS 400u
#define CREDIT_MAX 32
#define CREDIT_LOST 2
#define REST_MIN 64u
#define REST_MAX 8192u

// Reads the first line of a file of the thread that has the turn in /proc; "" if there is none.
static void read_of_thread(const app__process_t *process, const char *name, char line[256])
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)process->pid,
                   (int)process->shared->tid, name);
    FILE *const file = fopen(path, "re");
    line[0] = '\0';
    if (file != NULL && fgets(line, 256, file) == NULL) {
        line[0] = '\0';
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

const char *app__process_awaits(const app__process_t *process)
{
    static const struct {
        long number;
        const char *name;
    } calls[] = {
        {SYS_futex, "futex"},
        {SYS_open, "open"},
        {SYS_openat, "openat"},
        {SYS_read, "read"},
        {SYS_readv, "readv"},
        {SYS_write, "write"},
        {SYS_writev, "writev"},
        {SYS_poll, "poll"},
        {SYS_ppoll, "ppoll"},
        {SYS_select, "select"},
        {SYS_pselect6, "pselect6"},
        {SYS_epoll_wait, "epoll_wait"},
        {SYS_epoll_pwait, "epoll_pwait"},
        {SYS_epoll_pwait2, "epoll_pwait2"},
        {SYS_accept, "accept"},
        {SYS_accept4, "accept4"},
        {SYS_connect, "connect"},
        {SYS_recvfrom, "recvfrom"},
        {SYS_recvmsg, "recvmsg"},
        {SYS_recvmmsg, "recvmmsg"},
        {SYS_sendto, "sendto"},
        {SYS_sendmsg, "sendmsg"},
        {SYS_flock, "flock"},
        {SYS_fcntl, "fcntl"},
        {SYS_wait4, "wait4"},
        {SYS_waitid, "waitid"},
        {SYS_msgrcv, "msgrcv"},
        {SYS_msgsnd, "msgsnd"},
        {SYS_semop, "semop"},
        {SYS_semtimedop, "semtimedop"},
        {SYS_mq_timedreceive, "mq_timedreceive"},
        {SYS_mq_timedsend, "mq_timedsend"},
        {SYS_nanosleep, "nanosleep"},
        {SYS_clock_nanosleep, "clock_nanosleep"},
        {SYS_pause, "pause"},
        {SYS_rt_sigsuspend, "rt_sigsuspend"},
        {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
        {SYS_io_getevents, "io_getevents"},
        {SYS_io_uring_enter, "io_uring_enter"},
    };
    char line[256];
    read_of_thread(process, "stat", line);
    // The state comes after the name, which is in parentheses and may have some itself.
    const char *const state = strrchr(line, ')');
    if (state == NULL || strncmp(state, ") S", 3) != 0) {
        return NULL;
    }
    read_of_thread(process, "syscall", line);
    char *end = line;
    const long number = strtol(line, &end, 10); // "running": it is awake now
    for (size_t i = 0; i < SIM_COUNT_OF(calls) && end != line; i++) {
        if (calls[i].number == number) {
            return calls[i].name;
        }
    }
    return NULL;
}

uint64_t app__process_used_bytes(const app__process_t *process)
{
    char line[256];
    read_of_thread(process, "statm", line);
    const char *const resident = strchr(line, ' ');
    return resident == NULL ? 0 : strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

// -- processors

_Static_assert(sizeof(cpu_set_t) == APP__PROCESSORS, "masks are copied");

void app__processors_allowed(uint8_t allowed[APP__PROCESSORS])
{
    memset(allowed, 0, APP__PROCESSORS);
    (void)sched_getaffinity(0, APP__PROCESSORS, (cpu_set_t *)(void *)allowed);
}

// Lets both sides run on the processor of the calling thread, or the process on the others.
static void place(app__process_t *process, bool beside)
{
    const int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE) {
        return;
    }
    cpu_set_t own;
    memcpy(&own, process->allowed, sizeof(own));
    cpu_set_t its = own;
    if (beside) {
        CPU_ZERO(&own);
        CPU_SET((size_t)here, &own);
        its = own;
    } else if (process->shared->many == 0) {
        CPU_CLR((size_t)here, &its);
    }
    (void)sched_setaffinity(0, sizeof(own), &own);
    (void)sched_setaffinity(process->pid, sizeof(its), &its);
    process->beside = beside ? here : APP__APART;
}

void app__process_leave(app__process_t *process)
{
    if (process->beside >= 0) {
        (void)sched_setaffinity(0, APP__PROCESSORS, (const cpu_set_t *)(void *)process->allowed);
        process->beside = APP__NOT_PLACED;
    }
}

// Places the two sides for the next exchange. Threads of a process are the kernel's to place.
static void place_again(app__process_t *process)
{
    const bool beside = process->spins.rest != 0 && process->shared->many == 0;
    if (process->may_spin && process->beside != (beside ? sched_getcpu() : APP__APART)) {
        place(process, beside);
    }
}

static uint32_t looks_of(const app__process_t *process)
{
    return process->may_spin && process->spins.rest == 0 ? SPINS : 0;
}

// Decides after an exchange whether the two sides look at their bells in the next one.
static void judge(app__spins_t *spins, bool slept)
{
    if (spins->rest != 0) {
        spins->rest--;
        spins->credit = APP__SPINS_CREDIT;
    } else if (!slept) {
        spins->credit += spins->credit < CREDIT_MAX;
        spins->next_rest = spins->credit == CREDIT_MAX ? REST_MIN : spins->next_rest;
    } else {
        spins->credit -= CREDIT_LOST;
        if (spins->credit <= 0) {
            spins->rest = SIM_MAX(spins->next_rest, REST_MIN);
            spins->next_rest = SIM_MIN(spins->rest * 2, REST_MAX);
        }
    }
}

// -- exchanges

// Returns whether the process has rung, if it has had the processor that both run on.
static bool yield_to(const app__process_t *process, uint32_t *bell)
{
    if (process->beside < 0) {
        return false;
    }
    (void)sched_yield();
    return program_bell_take(bell);
}

app__turn_t app__process_wait(app__process_t *process, uint64_t patience_ms,
                              bool (*stops)(void *ctx), void *ctx)
{
    uint32_t *const bell = &process->shared->bells[PROGRAM_BELL_OF_SIMULATOR];
    const bool found = program_bell_look(bell, looks_of(process)) || yield_to(process, bell);
    judge(&process->spins, process->slept || !found);
    if (found) {
        return APP__TURN_CALL;
    }
    uint64_t waited_ms = 0;
    uint64_t awake_ms = 0; // the thread was awake then
    uint32_t look_ms = FIRST_LOOK_MS;
    for (;;) {
        if (program_bell_sleep(bell, look_ms, &waited_ms)) {
            return APP__TURN_CALL;
        }
        if (app__process_is_dead(process)) {
            return APP__TURN_GONE;
        }
        look_ms = SIM_MIN(look_ms * 2, LOOK_MS);
        if (look_ms == LOOK_MS && stops(ctx)) {
            return APP__TURN_STOPPED;
        }
        awake_ms = app__process_awaits(process) == NULL ? waited_ms : awake_ms;
        if (waited_ms >= patience_ms || waited_ms - awake_ms >= ASLEEP_MS) {
            return APP__TURN_LATE;
        }
    }
}

// Sends a descriptor to a thread. A process that is gone is found out by the next wait.
static void send_descriptor(int control, int descriptor)
{
    char byte = 1;
    struct iovec part = {&byte, 1};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } extra;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = extra.bytes,
                             .msg_controllen = sizeof(extra.bytes)};
    struct cmsghdr *const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    while (control >= 0 && sendmsg(control, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

void app__process_answer(app__process_t *process, uint32_t bell, int control, int descriptor)
{
    program_shared_t *const shared = process->shared;
    if (descriptor >= 0) {
        send_descriptor(control, descriptor);
    }
    shared->with_descriptor = descriptor >= 0;
    shared->bell = bell;
    shared->tid = 0; // the thread before sleeps, and this one may not be awake for long
    place_again(process);
    shared->spins = looks_of(process);
    process->slept = program_bell_ring(&shared->bells[bell]);
}
