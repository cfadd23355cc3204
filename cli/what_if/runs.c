// SPDX-License-Identifier: Apache-2.0
// cli/what_if/runs.c - the processes that run the changes, and what they leave.
//
// A process writes its results into a folder of its own, explains them, and leaves the figures in
// a file of JSON. Warm runs (warm.c) are forked by a run that stands shortly before the failure.
#include "cli/what_if/runs.h"

#include "cli/explain/explain.h"
#include "cli/progress.h"
#include "cli/what_if/runs_internal.h"
#include "kernel/scratch.h"
#include "results/runner.h"
#include "world/format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_PERIOD_S 5.0 // of lines of progress, where standard error is no terminal

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static void handle_signals(void (*handler)(int))
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIM_COUNT_OF(numbers); i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

cli_effect_t *cli_what_if_effect(cli_what_if_t *what_if, size_t row)
{
    SIM_CHECK(row <= what_if->row_count);
    return row == 0 ? &what_if->base : &what_if->rows[row - 1].effect;
}

const cli_change_t *cli__what_if_change(const cli_what_if_runs_t *runs, size_t row)
{
    return row == 0 ? NULL : runs->what_if->rows[row - 1].change;
}

// -- in the process of a run

static char *effect_path(const cli_what_if_runs_t *runs, size_t row)
{
    return sim_format("%s/%zu.json", runs->folder, row);
}

// Leaves the figures of the run, whose results are in `folder`, for the first process.
void cli__what_if_leave(const cli_what_if_runs_t *runs, size_t row, const results_run_t *run,
                        const char *folder)
{
    world_error_t ignored;
    json_t *explained = NULL;
    cli_effect_t effect = {0};
    const sim_err_t result = cli_explain_causes(folder, &explained, &ignored);
    cli_effect_take(&effect, cli__what_if_change(runs, row), results_json(run),
                    result == SIM_OK ? explained : NULL);
    json_t *const json = cli_effect_json(&effect);
    char *const path = effect_path(runs, row);
    (void)json_dump_file(json, path, JSON_COMPACT);
    sim_free(path);
    json_decref(json);
    json_decref(explained);
    cli_effect_fini(&effect);
}

// Runs the scenario with the settings of a row from its beginning.
void cli__what_if_run_cold(const cli_what_if_runs_t *runs, size_t row)
{
    const cli_change_t *const change = cli__what_if_change(runs, row);
    world_override_t overrides[4];
    size_t count = 0;
    for (size_t i = 0; change != NULL && change->settings[i] != NULL; i++) {
        SIM_CHECK(count < SIM_COUNT_OF(overrides));
        overrides[count++] =
            (world_override_t){.shown = change->settings[i], .text = change->settings[i]};
    }
    const size_t all = runs->override_count + count;
    world_override_t *const list = sim_alloc_array(all + 1, sizeof(*list));
    memcpy(list, runs->overrides, runs->override_count * sizeof(*list));
    memcpy(list + runs->override_count, overrides, count * sizeof(*list));
    char *const folder = sim_format("%s/%zu", runs->folder, row);
    const results_options_t options = {.folder = folder, .brief = true};
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    world_error_t error;
    sim_err_t result = world_scenario_load(NULL, runs->scenario, list, all, &scenario, &error);
    if (result == SIM_OK) {
        result = results_execute(scenario, &options, &run, &error);
    }
    if (result == SIM_OK) {
        cli__what_if_leave(runs, row, run, folder);
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    sim_folder_remove(folder);
    sim_free(folder);
    sim_free(list);
}

// -- in the first process

static char *log_path(const cli_what_if_runs_t *runs, size_t row)
{
    return sim_format("%s/%zu.log", runs->folder, row);
}

// Returns the first line that a run printed, or its exit status or signal in words.
static char *failure_of(const char *log, int status)
{
    FILE *const file = fopen(log, "re");
    char line[1024] = "";
    if (file != NULL) {
        const char *const got = fgets(line, sizeof(line), file);
        line[got != NULL ? strcspn(line, "\r\n") : 0] = '\0';
        (void)fclose(file);
    }
    if (WIFSIGNALED(status)) {
        return sim_format("ended by signal %d%s%s", WTERMSIG(status), line[0] != '\0' ? ": " : "",
                          line);
    }
    return line[0] != '\0' ? sim_strdup(line) : sim_format("exit status %d", WEXITSTATUS(status));
}

// Reads what the run of a row has left. A run that this process ended is not known.
static void take(const cli_what_if_runs_t *runs, size_t row, int status)
{
    cli_effect_t *const effect = cli_what_if_effect(runs->what_if, row);
    char *const path = effect_path(runs, row);
    char *const log = log_path(runs, row);
    json_t *const json = json_load_file(path, 0, NULL);
    if (!cli_effect_read(effect, json) && stopped == 0) {
        effect->failure = failure_of(log, status);
    }
    json_decref(json);
    (void)unlink(path);
    (void)unlink(log);
    sim_free(path);
    sim_free(log);
    if (cli_effect_known(effect)) {
        runs->ended(row, effect, runs->ctx);
    }
}

// Prints how many runs have ended: over the line before on a terminal, else a line now and then.
static void show(cli__what_if_pool_t *pool, bool last)
{
    const double now_s = wall_s();
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const double period_s = terminal ? 0.1 : LINE_PERIOD_S;
    if (pool->runs->quiet || pool->wanted == 0 || (!last && now_s - pool->shown_s < period_s)) {
        return;
    }
    pool->shown_s = now_s;
    const double took_s = now_s - pool->begin_s;
    const double left_s =
        pool->done > 0 ? took_s * (double)(pool->wanted - pool->done) / (double)pool->done : 0;
    if (terminal) {
        dprintf(STDERR_FILENO, CLI_PROGRESS_CLEAR);
    }
    if (!(terminal && last)) {
        dprintf(STDERR_FILENO, "%zu of %zu runs in %.0f s, %.0f s left%s", pool->done, pool->wanted,
                took_s, left_s, terminal ? "" : "\n");
    }
}

// Forks the process of a row. Returns true in the new process.
static bool begin(cli__what_if_pool_t *pool, cli__what_if_slot_t *slot, size_t row)
{
    char *const log = log_path(pool->runs, row);
    const pid_t child = fork();
    if (child == 0) {
        // A run must not continue when the command is killed.
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        handle_signals(SIG_IGN); // the first process ends its runs
        const int out = open("/dev/null", O_RDWR | O_CLOEXEC);
        const int messages = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        (void)dup2(out, STDIN_FILENO);
        (void)dup2(out, STDOUT_FILENO);
        (void)dup2(messages, STDERR_FILENO);
    } else if (child < 0) {
        cli_effect_t *const effect = cli_what_if_effect(pool->runs->what_if, row);
        effect->failure = sim_format("no process: %s", strerror(errno));
        pool->done++;
    } else {
        *slot = (cli__what_if_slot_t){child, row};
        pool->busy++;
    }
    sim_free(log);
    return child == 0;
}

static void end_all(const cli__what_if_pool_t *pool)
{
    for (unsigned i = 0; i < pool->runs->jobs; i++) {
        if (pool->slots[i].process != 0) {
            (void)kill(pool->slots[i].process, SIGKILL);
        }
    }
}

static void wait_for_one(cli__what_if_pool_t *pool)
{
    int status = 0;
    const pid_t process = waitpid(-1, &status, 0);
    for (unsigned i = 0; process > 0 && i < pool->runs->jobs; i++) {
        cli__what_if_slot_t *const slot = &pool->slots[i];
        if (slot->process == process) {
            slot->process = 0;
            pool->busy--;
            pool->done++;
            take(pool->runs, slot->row, status);
        }
    }
}

static cli__what_if_slot_t *free_slot(cli__what_if_pool_t *pool)
{
    unsigned i = 0;
    while (pool->slots[i].process != 0) {
        i++;
    }
    return &pool->slots[i];
}

size_t cli__what_if_run_all(cli__what_if_pool_t *pool, bool warm)
{
    const cli_what_if_runs_t *const runs = pool->runs;
    size_t row = 0;
    while (row <= runs->what_if->row_count || pool->busy > 0) {
        if (stopped != 0) {
            row = runs->what_if->row_count + 1;
            end_all(pool);
        }
        while (row <= runs->what_if->row_count &&
               (cli_effect_known(cli_what_if_effect(runs->what_if, row)) ||
                (warm && !cli__what_if_is_warm(runs, row)))) {
            row++;
        }
        if (row <= runs->what_if->row_count && pool->busy < runs->jobs) {
            if (begin(pool, free_slot(pool), row)) {
                return row;
            }
            row++;
        } else if (pool->busy > 0) {
            wait_for_one(pool);
            show(pool, false);
        }
    }
    return CLI__WHAT_IF_NO_ROW;
}

bool cli_what_if_work(const cli_what_if_runs_t *runs)
{
    cli__what_if_pool_t pool = {
        .runs = runs,
        .slots = sim_alloc_array(runs->jobs, sizeof(*pool.slots)),
        .begin_s = wall_s(),
    };
    size_t warm = 0;
    pool.shown_s = pool.begin_s;
    for (size_t row = 0; row <= runs->what_if->row_count; row++) {
        const bool known = cli_effect_known(cli_what_if_effect(runs->what_if, row));
        pool.wanted += !known;
        warm += !known && cli__what_if_is_warm(runs, row);
    }
    stopped = 0;
    handle_signals(on_signal);
    if (runs->by_steps && warm > 1) {
        cli__what_if_run_warm(&pool);
    }
    const size_t row = stopped == 0 ? cli__what_if_run_all(&pool, false) : CLI__WHAT_IF_NO_ROW;
    if (row != CLI__WHAT_IF_NO_ROW) {
        cli__what_if_run_cold(runs, row);
        _exit(0);
    }
    show(&pool, true);
    handle_signals(SIG_DFL);
    sim_free(pool.slots);
    return stopped == 0;
}
