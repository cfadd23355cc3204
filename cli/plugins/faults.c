// SPDX-License-Identifier: Apache-2.0
// cli/plugins/faults.c - a crash of a plug-in becomes a message that names it, and exit status 1.
//
// A handler looks which code was running: the first address of the stack that lies in the object of
// a plug-in. Memory may be broken, so it allocates nothing and prints with write(2).
#define _GNU_SOURCE // dladdr

#include "cli/plugins/faults.h"
#include "cli/plugins/confine.h"
#include "cli/plugins/limited_run.h"
#include "kernel/sim.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define NAMES_MAX 16u
#define FRAMES_MAX 64
#define CALL_S_MAX 5u // of one call
#define EXIT_FAILED 1

// Signal handlers have no context argument.
static struct {
    char name[64];
    char object[1024];
} names[NAMES_MAX];
static size_t name_count;
static volatile bool *told_of;
static const sim_t *volatile watched;
static uint64_t events_before;
static unsigned ticks; // of the present call

void cli_plugins_name(const world_plugin_file_t *file)
{
    for (size_t i = 0; i < name_count; i++) {
        if (strcmp(names[i].object, file->object) == 0) {
            return;
        }
    }
    if (name_count < NAMES_MAX) {
        (void)snprintf(names[name_count].name, sizeof(names->name), "%s", file->name);
        (void)snprintf(names[name_count].object, sizeof(names->object), "%s", file->object);
        name_count++;
    }
}

void cli_plugins_names(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", name_count == 0 ? "a plug-in" : "plug-in ");
    for (size_t i = 0; i < name_count && used < size; i++) {
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " or " : "", names[i].name);
    }
}

// Returns the name of the plug-in whose code is running, or NULL.
static const char *running_plugin(void)
{
    void *frames[FRAMES_MAX];
    const int count = backtrace(frames, FRAMES_MAX);
    for (int f = 0; f < count; f++) {
        Dl_info info;
        if (dladdr(frames[f], &info) == 0 || info.dli_fname == NULL) {
            continue;
        }
        for (size_t i = 0; i < name_count; i++) {
            if (strcmp(names[i].object, info.dli_fname) == 0) {
                return names[i].name;
            }
        }
    }
    return NULL;
}

// Prints a line and ends the process.
static _Noreturn void end(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void end(const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    const bool told = write(STDERR_FILENO, text, SIM_MIN((size_t)size, sizeof(text) - 1)) > 0;
    if (told_of != NULL) {
        *told_of = told;
    }
    _exit(EXIT_FAILED);
}

// Prints what a plug-in did, or what happened in code of rocesim, and ends the process.
static _Noreturn void give_up(const char *plugin, const char *what)
{
    if (plugin != NULL) {
        end("rocesim: plug-in %s: the plug-in %s; the run has failed\n", plugin, what);
    }
    char all[512];
    cli_plugins_names(all, sizeof(all));
    end("rocesim: the program %s in code of its own; plug-in %s called it or broke its memory; the "
        "run "
        "has failed\n",
        what, all);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    static const struct {
        int number;
        const char *what;
    } faults[] = {
        {SIGSEGV, "used memory that there is not (segmentation fault)"},
        {SIGBUS, "used memory that there is not (bus error)"},
        {SIGFPE, "computed what has no result, such as a division by zero"},
        {SIGILL, "ran what is no instruction, as a trap of the compiler is"},
        {SIGABRT, "aborted"},
    };
    if (number == SIGXCPU) {
        char all[512];
        cli_plugins_names(all, sizeof(all));
        end("rocesim: the run with %s took more processor time than time-max; it has failed\n",
            all);
    }
    char text[160] = "ended by a signal";
    for (size_t i = 0; i < SIM_COUNT_OF(faults); i++) {
        if (faults[i].number == number) {
            (void)snprintf(text, sizeof(text), "%s", faults[i].what);
        }
    }
    if (number == SIGSYS) {
        (void)snprintf(text, sizeof(text),
                       "called %s (system call %d), which --plugin-limits forbids",
                       cli_plugins_call_name(info->si_syscall), info->si_syscall);
    }
    give_up(running_plugin(), text);
}

// Counts the seconds for which a plug-in runs without any event between them.
static void on_second(int number)
{
    (void)number;
    const sim_t *const sim = watched;
    const uint64_t events = sim == NULL ? 0 : sim_events(sim);
    const char *const plugin = running_plugin();
    ticks = plugin != NULL && events == events_before ? ticks + 1 : 0;
    events_before = events;
    if (ticks >= CALL_S_MAX) {
        char text[80];
        (void)snprintf(text, sizeof(text), "does not return from a call, after %u s", ticks);
        give_up(plugin, text);
    }
}

void cli_plugins_handle_faults(volatile bool *told)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU};
    static char stack[1 << 16];
    void *frames[1];
    (void)backtrace(frames, 1); // the first call allocates
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    (void)sigaltstack(&own, NULL);
    told_of = told;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_fault;
    action.sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIM_COUNT_OF(numbers); i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

void cli_plugins_begin_clock(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_second;
    action.sa_flags = (int)(SA_ONSTACK | SA_RESTART);
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGALRM, &action, NULL);
    const struct itimerval second = {{1, 0}, {1, 0}};
    (void)setitimer(ITIMER_REAL, &second, NULL);
}

// Called by exit(): a plug-in must not end the program.
static void at_end(void)
{
    const char *const plugin = running_plugin();
    if (plugin != NULL) {
        give_up(plugin, "called exit");
    }
}

void world_plugin_loads(const world_plugin_file_t *file)
{
    const bool first = name_count == 0;
    cli_plugins_name(file);
    if (first && !cli_plugins_limited()) { // else all of this was done before
        (void)atexit(at_end);
        cli_plugins_handle_faults(NULL);
        cli_plugins_begin_clock();
    }
}

void cli_plugins_watch_calls(const sim_t *sim)
{
    ticks = 0;
    events_before = 0;
    watched = sim;
}

void cli_plugins_end_calls(void)
{
    watched = NULL;
}
