// SPDX-License-Identifier: Apache-2.0
// programs/join.c - how a process that rocesim has started finds the simulator.
//
// The shared memory and the control socket are descriptors that it inherits. Any other process that
// loads the library is left alone.
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "programs/parts.h"
#include "programs/process/sanitizers.h"
#include "programs/system.h"
#include "programs/turn.h"

// More descriptors than the usual 1024: the simulator's lie above them.
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 4096) {
        limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void end_at_exit(int status, void *unused)
{
    (void)unused;
    parts_before_end();
    turn_bye(status);
}

// Lets only one of the library's two forms work in a process: the one that was loaded first.
extern const void *const rocesim_programs_form;
PROGRAM_EXPORT const void *const rocesim_programs_form = &turn_shared;

static bool is_first_form(void)
{
    const void *const *first = dlsym(RTLD_DEFAULT, "rocesim_programs_form");
    return first == NULL || *first == &turn_shared;
}

// Runs before the constructors of all other libraries (-z initfirst), so that they see simulated
// time. The C library has not set its own variable then.
__attribute__((constructor)) static void begin(int count, char **words, char **environment)
{
    (void)count;
    environ = environ == NULL ? environment : environ;
    if (getenv(PROGRAM_ENVIRONMENT) == NULL || !is_first_form()) {
        return;
    }
    struct stat file;
    long place = -1;
    if (system_call(SYS_fstat, PROGRAM_SHARED_FD, &file) == 0 &&
        file.st_size >= (off_t)sizeof *turn_shared) {
        place = system_call(SYS_mmap, NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE,
                            MAP_SHARED, PROGRAM_SHARED_FD, 0);
    }
    if (place == -1) {
        turn_fail("%s is set, but this process was not started by rocesim", PROGRAM_ENVIRONMENT);
    }
    sanitizers_prepare((program_shared_t *)place);
    turn_begin_process((program_shared_t *)place);
    if (turn_shared->version != PROGRAM_VERSION) {
        turn_fail("the library of programs is of another version than rocesim");
    }
    sanitizers_begin(words, environment);
    allow_descriptors();
    (void)on_exit(end_at_exit, NULL);
    parts_begin();
    program_call_t call = {.op = PROGRAM_HELLO};
    (void)turn_call(&call);
    parts_refuse_runtime();
    parts_begin_process(call.handle, call.status);
}
