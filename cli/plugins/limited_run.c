// SPDX-License-Identifier: Apache-2.0
// cli/plugins/limited_run.c - runs a scenario whose plug-ins nobody has read, in another process.
#include "cli/plugins/limited_run.h"
#include "cli/command.h"
#include "cli/plugins/confine.h"
#include "cli/plugins/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The limited process and the one that waits for it share this.
typedef struct shared {
    volatile bool finished; // the command ended by itself
    volatile bool told;     // a message says why the run failed
} shared_t;

// Signal handlers have no context argument.
static volatile pid_t limited;

#define PROGRAM_BYTES (UINT64_C(1) << 28) // addresses of the program without a scenario

// Set in the limited process.
static struct {
    bool here;
    const char *folder;
    const char *file;
} confinement;

static void pass_on(int number)
{
    if (limited > 0) {
        (void)kill(limited, number);
    }
}

static sim_err_t check_options(const cli_args_t *args, world_error_t *error)
{
    const char *const wrong = args->ranks != NULL     ? "--ranks, which starts processes"
                              : args->starts_programs ? "--programs, which starts processes"
                              : args->print_slurm     ? "--print-slurm, which runs nothing"
                              : args->explains        ? "--explain, which reads the results again"
                                                      : NULL;
    return wrong == NULL ? SIM_OK
                         : world_fail(error, SIM_ERR_INVALID, NULL,
                                      "rocesim run: --plugin-limits does not go with %s, expected "
                                      "one of the two",
                                      wrong);
}

// Makes the standard input a file that can be read twice, if the scenario comes from there.
static void keep_input(const cli_args_t *args)
{
    if (strcmp(args->operands[0], "-") != 0) {
        return;
    }
    FILE *const kept = tmpfile();
    char bytes[4096];
    ssize_t size = 0;
    while (kept != NULL && (size = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0) {
        (void)fwrite(bytes, 1, (size_t)size, kept);
    }
    if (kept != NULL && fflush(kept) == 0) {
        (void)dup2(fileno(kept), STDIN_FILENO);
        (void)lseek(STDIN_FILENO, 0, SEEK_SET);
    }
}

// Compiles the plug-ins, which the limited process cannot do, and notes their names. The caller
// frees *needs, also on an error.
static sim_err_t prepare(const cli_args_t *args, world_needs_t *needs, world_error_t *error)
{
    const sim_err_t result =
        world_needs_read(args->operands[0], args->overrides, args->override_count, needs, error);
    for (size_t i = 0; i < needs->plugin_count; i++) {
        cli_plugins_name(&needs->plugins[i]);
    }
    (void)lseek(STDIN_FILENO, 0, SEEK_SET);
    clearerr(stdin);
    return result;
}

static void limit(int which, rlim_t soft, rlim_t hard)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)which, &now) == 0) {
        const struct rlimit set = {SIM_MIN(soft, now.rlim_max), SIM_MIN(hard, now.rlim_max)};
        (void)setrlimit((__rlimit_resource_t)which, &set);
    }
}

// The runtime of a sanitizer needs terabytes of addresses.
static bool limits_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return false;
#else
    return true;
#endif
#else
    return true;
#endif
}

static void limit_all(const world_needs_t *needs)
{
    limit(RLIMIT_CORE, 0, 0);
    if (needs->time_max_ps != SIM_AUTO) {
        const rlim_t seconds = SIM_MAX(1, needs->time_max_ps / SIM_PS_PER_S);
        limit(RLIMIT_CPU, seconds, seconds + 5);
    }
    if (needs->memory_max_bytes != SIM_AUTO && limits_memory()) {
        const rlim_t bytes = needs->memory_max_bytes + PROGRAM_BYTES;
        limit(RLIMIT_AS, bytes, bytes);
    }
}

// Becomes the limited process and returns the command's exit status.
static int run_here(const cli_args_t *args, int (*run)(const cli_args_t *), shared_t *shared,
                    const world_needs_t *needs)
{
    world_error_t error;
    (void)setpgid(0, 0); // Ctrl-C is passed on by the process that waits
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    confinement.here = true;
    confinement.folder = args->folder;
    confinement.file = args->progress;
    if (args->progress != NULL) {
        const int file = open(args->progress, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (file >= 0) {
            (void)close(file);
        }
    }
    // Else these would be read when the results are written: /dev/urandom and /etc/localtime.
    json_object_seed(0);
    tzset();
    limit_all(needs);
    cli_plugins_handle_faults(&shared->told);
    cli_plugins_begin_clock();
    for (int file = 3; file < 1024; file++) {
        (void)close(file);
    }
    if (cli_plugins_confine(args->folder, args->progress, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    cli_args_t alone = *args;
    alone.plugin_limits = false;
    return run(&alone);
}

// Says how the limited process ended, if no other message does. Returns the exit status.
static int judge(const shared_t *shared, int status)
{
    char names[512];
    cli_plugins_names(names, sizeof(names));
    if (WIFEXITED(status) && (shared->finished || shared->told)) {
        return WEXITSTATUS(status);
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "rocesim: %s: the process of the run was ended by signal %d\n", names,
                WTERMSIG(status));
    } else {
        fprintf(stderr,
                "rocesim: %s: the process of the run ended (status %d) before the run did\n", names,
                WEXITSTATUS(status));
    }
    return CLI_EXIT_FAILED;
}

static int wait_for(pid_t process)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = pass_on;
    sigemptyset(&action.sa_mask);
    limited = process;
    for (size_t i = 0; i < SIM_COUNT_OF(signals); i++) {
        (void)sigaction(signals[i], &action, NULL);
    }
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    limited = 0;
    return status;
}

int cli_plugins_run_limited(const cli_args_t *args, int (*run)(const cli_args_t *args))
{
    world_error_t error;
    world_needs_t needs = {.plugins = NULL};
    sim_err_t result = check_options(args, &error);
    if (result == SIM_OK) {
        keep_input(args);
        result = prepare(args, &needs, &error);
    }
    if (result != SIM_OK) {
        world_needs_fini(&needs);
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    shared_t *const shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        sim_give_up("no memory is left to share with the process of the run");
    }
    const bool made = args->folder != NULL && mkdir(args->folder, 0777) == 0;
    (void)fflush(NULL);
    const pid_t process = fork();
    if (process == 0) {
        const int status = run_here(args, run, shared, &needs);
        (void)fflush(NULL);
        shared->finished = true;
        _exit(status);
    }
    int status = CLI_EXIT_FAILED;
    if (process < 0) {
        fprintf(stderr, "rocesim: the process of the run cannot be started: %s\n", strerror(errno));
    } else {
        status = judge(shared, wait_for(process));
    }
    if (made) {
        (void)rmdir(args->folder); // which fails if the run wrote something
    }
    (void)munmap(shared, sizeof(*shared));
    world_needs_fini(&needs);
    return status;
}

bool cli_plugins_limited(void)
{
    return confinement.here;
}

void cli_plugins_watch(world_scenario_t *scenario)
{
    size_t count;
    const world_plugin_file_t *const files = world_registry_plugins(scenario->registry, &count);
    if (confinement.here) {
        scenario->run.threads = 1; // the process may start no threads
    }
    for (size_t i = 0; i < count; i++) {
        cli_plugins_name(&files[i]);
    }
}

void cli_plugins_confine_run(const sim_t *sim)
{
    cli_plugins_watch_calls(sim);
    if (confinement.here) {
        cli_plugins_confine_reading(confinement.folder, confinement.file);
    }
}
