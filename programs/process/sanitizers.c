// SPDX-License-Identifier: Apache-2.0
// programs/process/sanitizers.c - programs that were compiled with AddressSanitizer.
//
// Their runtimes reserve terabytes of addresses, so the limit of a program's address space does
// not hold for them. A runtime that is a library of its own must be the first, so such a program is
// started again. ThreadSanitizer, and LeakSanitizer without the other one, let a thread wait for
// the one that it begins, outside of all calls, while threads of a simulated program take turns.
#include "programs/process/sanitizers.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/process/code.h"
#include "programs/system.h"
#include "programs/turn.h"

#define PRELOAD "LD_PRELOAD="
#define VARIABLES_MAX 4096u
#define PATH_BYTES 4096u

// Returns the file that has the runtime, which may be the program itself. NULL: there is none.
static const char *runtime_of(void)
{
    Dl_info info;
    const void *const place = dlsym(RTLD_DEFAULT, "__asan_init");
    return place != NULL && dladdr(place, &info) != 0 ? info.dli_fname : NULL;
}

// Keeps the library from looking for loops in the runtime: a process that it clones to look for
// leaks cannot take the signals of an int3. A runtime that is a part of the program lies in front
// of the program's own functions.
static void spare(const char *runtime)
{
    static const char *const names[] = {
        "__asan_init",
        "__interceptor_sigaction",
        "__lsan_do_leak_check",
        "__ubsan_get_current_report_data",
        "__sanitizer_cov_pcs_init",
        "__asan_backtrace_vector_release",
    };
    const uint8_t *begin = NULL;
    const uint8_t *end = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        Dl_info info;
        const uint8_t *const place = dlsym(RTLD_DEFAULT, names[i]);
        if (place != NULL && dladdr(place, &info) != 0 && strcmp(info.dli_fname, runtime) == 0) {
            begin = info.dli_fbase;
            end = place > end ? place : end;
        }
    }
    const uint8_t *const entry = (const uint8_t *)(uintptr_t)getauxval(AT_ENTRY);
    code_add_own(entry > begin && entry < end ? entry : begin, end);
}

// Starts the program again with the runtime before this library.
static void begin_again(const char *runtime, const char *preloaded, char **words,
                        char **environment)
{
    char path[PATH_BYTES];
    char preload[PATH_BYTES];
    char *variables[VARIABLES_MAX + 1];
    size_t count = 0;
    for (char **at = environment; *at != NULL && count < VARIABLES_MAX; at++) {
        const bool other = strncmp(*at, PRELOAD, strlen(PRELOAD)) != 0;
        variables[count++] = other ? *at : preload;
    }
    variables[count] = NULL;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    const size_t bytes = strlen(PRELOAD) + strlen(runtime) + 1 + strlen(preloaded) + 1;
    if (length > 0 && bytes <= sizeof(preload)) {
        path[length] = '\0';
        (void)stpcpy(stpcpy(stpcpy(stpcpy(preload, PRELOAD), runtime), ":"), preloaded);
        system_call(SYS_execve, path, words, variables);
    }
}

void sanitizers_prepare(program_shared_t *shared)
{
    // A search that fails allocates memory, which these two cannot give yet: so they are the first.
    if (dlsym(RTLD_DEFAULT, "__tsan_init") != NULL || dlsym(RTLD_DEFAULT, "__lsan_init") != NULL) {
        shared->sanitized = PROGRAM_SANITIZED_WRONGLY;
        turn_quit(PROGRAM_STATUS_LOST);
    }
    void *const place = dlsym(RTLD_DEFAULT, "__asan_init");
    if (place != NULL) {
        void (*begin)(void);
        memcpy(&begin, &place, sizeof(begin));
        begin();
        shared->sanitized = PROGRAM_SANITIZED;
    }
}

void sanitizers_limit(bool before_exec)
{
    struct rlimit limit;
    if (turn_shared->memory_max_bytes != 0 && getrlimit(RLIMIT_AS, &limit) == 0) {
        const bool none = before_exec || runtime_of() != NULL;
        const rlim_t most = none ? RLIM_INFINITY : turn_shared->memory_max_bytes;
        limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
        (void)setrlimit(RLIMIT_AS, &limit);
    }
}

bool sanitizers_look(void)
{
    // The runtime clones a process that sends no signal at its end, as no program does.
    siginfo_t info;
    return turn_shared != NULL && turn_shared->sanitized != 0 &&
           system_call(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WCLONE, NULL) ==
               0;
}

void sanitizers_begin(char **words, char **environment)
{
    sanitizers_limit(false);
    const char *const runtime = runtime_of();
    if (runtime == NULL) {
        return;
    }
    const char *const name = strrchr(runtime, '/');
    const char *const preloaded = getenv("LD_PRELOAD");
    if (name != NULL && strstr(name, "san.so") != NULL && preloaded != NULL &&
        strncmp(preloaded, runtime, strlen(runtime)) != 0) {
        begin_again(runtime, preloaded, words, environment);
    }
    spare(runtime);
}
