// SPDX-License-Identifier: Apache-2.0
// programs/process/system_calls.c - system calls that programs make by their numbers.
//
// Those that would show this machine, or wait for its time, are what the functions of their names
// are; others pass through.

#include "programs/system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/parts.h"
#include "programs/threads/threads.h"
#include "programs/turn.h"
#include "programs/verbs/segments.h"

#define ARGUMENTS 6
#define MASK_WORD_BYTES 8u

static long call_kernel(long number, const long *arguments)
{
    register long r10 __asm__("r10") = arguments[3];
    register long r8 __asm__("r8") = arguments[4];
    register long r9 __asm__("r9") = arguments[5];
    long result = number;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    if (result < 0 && result >= -4095) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

// Declares the arguments of the calling function, those behind `last`.
#define TAKE_ARGUMENTS(last)               \
    long arguments[ARGUMENTS];             \
    va_list list;                          \
    va_start(list, last);                  \
    for (int i = 0; i < ARGUMENTS; i++) {  \
        arguments[i] = va_arg(list, long); \
    }                                      \
    va_end(list)

long system_call(long number, ...)
{
    TAKE_ARGUMENTS(number);
    return call_kernel(number, arguments);
}

// Returns the result of a function that returns an errno value.
static long result_of(int error)
{
    if (error != 0) {
        errno = error;
    }
    return error == 0 ? 0 : -1;
}

// The system call returns the number of bytes that it has written.
static long get_affinity(size_t bytes, void *mask)
{
    const size_t used = (turn_shared->cores + MASK_WORD_BYTES * 8 - 1) / (MASK_WORD_BYTES * 8);
    return sched_getaffinity(0, bytes, mask) == 0 ? (long)(used * MASK_WORD_BYTES) : -1;
}

static long get_core(unsigned int *core, unsigned int *node)
{
    if (core != NULL) {
        *core = (unsigned int)sched_getcpu();
    }
    if (node != NULL) {
        *node = 0;
    }
    return 0;
}

PROGRAM_EXPORT int getcpu(unsigned int *core, unsigned int *node)
{
    return turn_on() ? (int)get_core(core, node) : (int)system_call(SYS_getcpu, core, node, NULL);
}

// Returns an argument that is a pointer.
#define POINTER(index) ((void *)arguments[index])

// Makes a process that has memory and a stack of its own. Other clones are left to the kernel.
static bool clones(bool tells_parent, uint64_t flags, long stack, long *result)
{
    if (!tells_parent || (flags & CLONE_VM) != 0 || stack != 0) {
        return false;
    }
    *result = fork();
    return true;
}

// Processes, threads, and what they send each other.
static bool call_process(long number, const long *arguments, long *result)
{
    switch (number) {
    case SYS_getpid:
        *result = getpid();
        return true;
    case SYS_getppid:
        *result = getppid();
        return true;
    case SYS_gettid:
        *result = gettid();
        return true;
    case SYS_fork:
    case SYS_vfork:
        *result = fork();
        return true;
    case SYS_clone:
        return clones((arguments[0] & 0xff) == SIGCHLD, (uint64_t)arguments[0], arguments[1],
                      result);
    case SYS_clone3: {
        const struct clone_args *clone = POINTER(0);
        return clones(clone->exit_signal == SIGCHLD, clone->flags, (long)clone->stack, result);
    }
    case SYS_wait4:
        *result = wait4((pid_t)arguments[0], POINTER(1), (int)arguments[2], POINTER(3));
        return true;
    case SYS_waitid:
        *result = waitid((idtype_t)arguments[0], (id_t)arguments[1], POINTER(2), (int)arguments[3]);
        return true;
    case SYS_exit_group:
        _exit((int)arguments[0]);
    case SYS_io_uring_setup:
        *result = parts_refuse_uring();
        return true;
    case SYS_kill:
        *result = kill((pid_t)arguments[0], (int)arguments[1]);
        return true;
    case SYS_tkill:
        *result = tgkill(getpid(), (pid_t)arguments[0], (int)arguments[1]);
        return true;
    case SYS_tgkill:
        *result = tgkill((pid_t)arguments[0], (pid_t)arguments[1], (int)arguments[2]);
        return true;
    case SYS_sched_yield:
        *result = sched_yield();
        return true;
    case SYS_getcpu:
        *result = get_core(POINTER(0), POINTER(1));
        return true;
    case SYS_sched_getaffinity:
        *result = get_affinity((size_t)arguments[1], POINTER(2));
        return true;
    case SYS_sched_setaffinity:
        *result = 0;
        return true;
    case SYS_futex:
        return threads_futex(arguments, result);
    default:
        return segments_call(number, arguments, result);
    }
}

static bool call_time(long number, const long *arguments, long *result)
{
    switch (number) {
    case SYS_clock_gettime:
        *result = clock_gettime((clockid_t)arguments[0], POINTER(1));
        return true;
    case SYS_clock_getres:
        *result = clock_getres((clockid_t)arguments[0], POINTER(1));
        return true;
    case SYS_gettimeofday:
        *result = gettimeofday(POINTER(0), POINTER(1));
        return true;
    case SYS_time:
        *result = time(POINTER(0));
        return true;
    case SYS_nanosleep:
        *result = nanosleep(POINTER(0), POINTER(1));
        return true;
    case SYS_clock_nanosleep:
        *result = result_of(
            clock_nanosleep((clockid_t)arguments[0], (int)arguments[1], POINTER(2), POINTER(3)));
        return true;
    case SYS_getrandom:
        *result = getrandom(POINTER(0), (size_t)arguments[1], (unsigned int)arguments[2]);
        return true;
    default:
        return false;
    }
}

static bool call_descriptor(long number, const long *arguments, long *result)
{
    const int descriptor = (int)arguments[0];
    switch (number) {
    case SYS_read:
        *result = read(descriptor, POINTER(1), (size_t)arguments[2]);
        return true;
    case SYS_write:
        *result = write(descriptor, POINTER(1), (size_t)arguments[2]);
        return true;
    case SYS_readv:
        *result = readv(descriptor, POINTER(1), (int)arguments[2]);
        return true;
    case SYS_writev:
        *result = writev(descriptor, POINTER(1), (int)arguments[2]);
        return true;
    case SYS_open:
        *result = open(POINTER(0), (int)arguments[1], (mode_t)arguments[2]);
        return true;
    case SYS_openat:
        *result = openat(descriptor, POINTER(1), (int)arguments[2], (mode_t)arguments[3]);
        return true;
    case SYS_close:
        *result = close(descriptor);
        return true;
    case SYS_poll:
        *result = poll(POINTER(0), (nfds_t)arguments[1], (int)arguments[2]);
        return true;
    case SYS_epoll_wait:
        *result = epoll_wait(descriptor, POINTER(1), (int)arguments[2], (int)arguments[3]);
        return true;
    case SYS_epoll_pwait:
        *result =
            epoll_pwait(descriptor, POINTER(1), (int)arguments[2], (int)arguments[3], POINTER(4));
        return true;
    default:
        return false;
    }
}

PROGRAM_EXPORT long syscall(long number, ...)
{
    TAKE_ARGUMENTS(number);
    long result;
    if (turn_on() && turn_is_mine() && !turn_busy() &&
        (call_process(number, arguments, &result) || call_time(number, arguments, &result) ||
         call_descriptor(number, arguments, &result))) {
        return result;
    }
    return call_kernel(number, arguments);
}
