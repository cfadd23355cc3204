// SPDX-License-Identifier: Apache-2.0
// cli/sweep/jobs.c - starts the runs of a sweep as processes, a limited number at a time.
//
// A run is finished if its folder holds a summary, because runs publish complete results only
// (results/stage.h). No other state has to survive a kill.
#include "cli/sweep/jobs.h"
#include "cli/sweep/sweep.h"

#include "cli/progress.h"
#include "results/lock.h"
#include "results/result_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DYING_RUN_WAIT_MS 2000u // a run of a sweep that was killed just now keeps its folder

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

void cli_sweep_look(cli_sweep_run_t *run)
{
    world_error_t ignored;
    json_t *summary = NULL;
    json_decref(run->summary);
    run->summary = NULL;
    if (results_result_summary(run->folder, &summary, &ignored) != SIM_OK) {
        return;
    }
    const char *const ended = json_string_value(json_object_get(summary, "ended"));
    if (ended == NULL || strcmp(ended, "interrupted") == 0) {
        json_decref(summary); // the run was interrupted with the sweep, so it runs again
        return;
    }
    run->summary = summary;
    size_t i;
    const json_t *app;
    json_array_foreach(json_object_get(summary, "apps"), i, app)
    {
        const char *const why = json_string_value(json_object_get(app, "failure"));
        if (why != NULL && run->failure == NULL) {
            run->failure = sim_format("traffic[%zu] (%s) failed: %s", i,
                                      json_string_value(json_object_get(app, "kind")), why);
        }
    }
}

// Starts the process of a run. Its messages go into a file beside its folder.
static pid_t begin(const cli_sweep_t *sweep, const cli_sweep_run_t *run)
{
    char **const arguments = cli_sweep_arguments(sweep, run);
    results_lock_await(run->folder, RESULTS_LOCK_OF_RUN, DYING_RUN_WAIT_MS);
    char *const log = sim_format("%s.log", run->folder);
    const pid_t child = fork();
    if (child == 0) {
        // A run must not continue to write when the sweep is killed and started again.
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int in = open("/dev/null", O_RDONLY);
        const int out = open("/dev/null", O_WRONLY);
        const int messages = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (in >= 0 && out >= 0) {
            (void)dup2(in, STDIN_FILENO);
            (void)dup2(out, STDOUT_FILENO);
            (void)dup2(messages >= 0 ? messages : out, STDERR_FILENO);
            (void)execv("/proc/self/exe", arguments);
        }
        _exit(127);
    }
    sim_free(log);
    cli_sweep_arguments_free(arguments);
    return child;
}

static bool is_remark(const char *line)
{
    return strncmp(line, "warning: ", 9) == 0 || strncmp(line, "note: ", 6) == 0;
}

// Returns the first line that the run printed and that is neither a warning nor a note, or its exit
// status or signal in words.
static char *failure_of(const cli_sweep_run_t *run, int status)
{
    char *const log = sim_format("%s.log", run->folder);
    FILE *const file = fopen(log, "re");
    char *line = NULL;
    size_t size = 0;
    char *why = NULL;
    while (file != NULL && why == NULL && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        why = is_remark(line) || line[0] == '\0' ? NULL : sim_strdup(line);
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
    sim_free(log);
    if (WIFSIGNALED(status)) {
        sim_free(why);
        return sim_format("ended by signal %d", WTERMSIG(status));
    }
    return why != NULL ? why : sim_format("exit status %d", WEXITSTATUS(status));
}

static void ended(cli_sweep_run_t *run, int status)
{
    cli_sweep_look(run);
    char *const log = sim_format("%s.log", run->folder);
    if (run->summary != NULL) {
        (void)unlink(log);
    } else {
        run->failure = failure_of(run, status);
    }
    sim_free(log);
}

static void show(size_t done, size_t count, bool quiet, bool last)
{
    if (!quiet && isatty(STDERR_FILENO) == 1) {
        dprintf(STDERR_FILENO, CLI_PROGRESS_CLEAR);
        if (!last) {
            dprintf(STDERR_FILENO, "%zu of %zu runs", done, count);
        }
    }
}

typedef struct slot {
    pid_t process; // 0: this place is free
    size_t run;
} slot_t;

static void wait_for_one(cli_sweep_t *sweep, slot_t *slots, unsigned jobs)
{
    int status = 0;
    const pid_t process = waitpid(-1, &status, 0);
    for (unsigned i = 0; process > 0 && i < jobs; i++) {
        if (slots[i].process == process) {
            slots[i].process = 0;
            ended(&sweep->runs[slots[i].run], status);
        }
    }
}

static unsigned busy(const slot_t *slots, unsigned jobs)
{
    unsigned count = 0;
    for (unsigned i = 0; i < jobs; i++) {
        count += slots[i].process != 0;
    }
    return count;
}

static void begin_next(cli_sweep_t *sweep, slot_t *slots, unsigned jobs, size_t run)
{
    for (unsigned i = 0; i < jobs; i++) {
        if (slots[i].process != 0) {
            continue;
        }
        const pid_t process = begin(sweep, &sweep->runs[run]);
        if (process < 0) {
            sweep->runs[run].failure = sim_format("no process: %s", strerror(errno));
        } else {
            slots[i] = (slot_t){process, run};
        }
        return;
    }
}

bool cli_sweep_work(cli_sweep_t *sweep, unsigned jobs, bool quiet)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    stopped = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    slot_t *const slots = sim_alloc_array(jobs, sizeof(*slots));
    size_t next = 0;
    while (busy(slots, jobs) > 0 || (next < sweep->run_count && stopped == 0)) {
        while (next < sweep->run_count && sweep->runs[next].summary != NULL) {
            next++;
        }
        if (stopped != 0) {
            for (unsigned i = 0; i < jobs; i++) {
                if (slots[i].process != 0) {
                    (void)kill(slots[i].process, SIGKILL);
                }
            }
        }
        if (stopped == 0 && next < sweep->run_count && busy(slots, jobs) < jobs) {
            begin_next(sweep, slots, jobs, next++);
            continue;
        }
        if (busy(slots, jobs) > 0) {
            wait_for_one(sweep, slots, jobs);
            show(next - busy(slots, jobs), sweep->run_count, quiet, false);
        }
    }
    show(0, 0, quiet, true);
    sim_free(slots);
    return stopped == 0;
}
