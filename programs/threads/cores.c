// SPDX-License-Identifier: Apache-2.0
// programs/threads/cores.c - the cores of the simulated host: thread N runs on core N.

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "programs/threads/threads.h"

PROGRAM_EXPORT long sysconf(int name)
{
    if (turn_on() && name == _SC_AVPHYS_PAGES) {
        return get_avphys_pages();
    }
    return turn_on() && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)
               ? (long)turn_shared->cores
               : PROGRAM_NEXT(sysconf)(name);
}

PROGRAM_EXPORT int get_nprocs(void)
{
    return turn_on() ? (int)turn_shared->cores : PROGRAM_NEXT(get_nprocs)();
}

PROGRAM_EXPORT int get_nprocs_conf(void)
{
    return turn_on() ? (int)turn_shared->cores : PROGRAM_NEXT(get_nprocs_conf)();
}

PROGRAM_EXPORT int sched_getcpu(void)
{
    return turn_on() ? (int)(threads_own_number() % turn_shared->cores)
                     : PROGRAM_NEXT(sched_getcpu)();
}

// Every thread may use all cores, whatever the program asks for: each has its own.
static int show_all(size_t bytes, cpu_set_t *set)
{
    if (bytes * 8 < turn_shared->cores) {
        return EINVAL;
    }
    memset(set, 0, bytes);
    for (uint32_t i = 0; i < turn_shared->cores; i++) {
        CPU_SET_S(i, bytes, set);
    }
    return 0;
}

PROGRAM_EXPORT int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(sched_getaffinity)(pid, bytes, set);
    }
    const int error = show_all(bytes, set);
    errno = error != 0 ? error : errno;
    return error == 0 ? 0 : -1;
}

PROGRAM_EXPORT int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(sched_setaffinity)(pid, bytes, set);
    }
    turn_act();
    return 0;
}

PROGRAM_EXPORT int pthread_getaffinity_np(pthread_t id, size_t bytes, cpu_set_t *set)
{
    return turn_on() ? show_all(bytes, set) : PROGRAM_NEXT(pthread_getaffinity_np)(id, bytes, set);
}

PROGRAM_EXPORT int pthread_setaffinity_np(pthread_t id, size_t bytes, const cpu_set_t *set)
{
    return turn_on() ? 0 : PROGRAM_NEXT(pthread_setaffinity_np)(id, bytes, set);
}
