// SPDX-License-Identifier: Apache-2.0
// cli/run.c - `rocesim run`: builds, runs, writes, reports.
#include "cli/command.h"
#include "cli/progress.h"
#include "results/capture_names.h"
#include "results/folder.h"
#include "results/observe.h"
#include "results/summary.h"
#include "results/tables.h"
#include "world/advice.h"
#include "world/explain.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A signal handler has no argument of its own: this is the one simulation that Ctrl-C ends.
static sim_t *volatile interruptible;

static void on_signal(int number)
{
    (void)number;
    sim_t *const sim = interruptible;
    if (sim != NULL) {
        sim_interrupt(sim);
    }
}

// The second signal ends the program at once.
static void catch_signals(sim_t *sim)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    interruptible = sim;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void release_signals(void)
{
    interruptible = NULL;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static sim_err_t write_text(const char *folder,
                            const char *name,
                            const char *text,
                            world_error_t *error)
{
    char *const path = sim_format("%s/%s", folder, name);
    results_file_t *file = NULL;
    sim_err_t result = results_file_open(path, &file, error);
    sim_free(path);
    if (result == SIM_OK) {
        results_file_put(file, text);
        result = results_file_close(file, error);
    }
    return result;
}

// File names in the scenario are relative to its own folder, which this copy is not in.
static sim_err_t write_scenario(world_scenario_t *scenario,
                                const world_t *world,
                                const char *folder,
                                world_error_t *error)
{
    if (world->file_count > 0) {
        char *const absolute = world_scenario_folder(scenario);
        sim_free(scenario->run.folder);
        scenario->run.folder = absolute;
    }
    char *const text = world_scenario_resolved(scenario);
    const sim_err_t result = write_text(folder, "scenario.yaml", text, error);
    sim_free(text);
    return result;
}

typedef struct run {
    const cli_args_t *args;
    const cli_run_extra_t *extra;
    world_scenario_t *scenario;
    world_t *world;
    results_observers_t *observers;
    results_t results;
    char *summary;
} run_t;

// A folder that cannot be made or written into is bad input, and nothing has been written; a file
// that fails after that is output that could not be written.
static sim_err_t prepare(run_t *run, int *status, world_error_t *error)
{
    const char *const folder = run->args->folder;
    sim_err_t result = SIM_OK;
    *status = CLI_EXIT_BAD_INPUT;
    if (folder != NULL) {
        result = results_folder_prepare(folder, run->scenario->capture_count > 0, error);
        if (result == SIM_OK) {
            *status = CLI_EXIT_FAILED;
            result = write_scenario(run->scenario, run->world, folder, error);
        }
        if (result == SIM_OK && run->scenario->capture_count > 0) {
            result = results_write_names(run->world, folder, error);
        }
    }
    if (result == SIM_OK) {
        result = results_observers_create(run->world, folder, &run->observers, error);
    }
    *status = result == SIM_OK ? CLI_EXIT_FAILED : *status;
    if (result == SIM_OK && run->extra->begin != NULL) {
        result = run->extra->begin(run->world, run->extra->ctx, error);
    }
    return result;
}

static sim_ended_t simulate(run_t *run)
{
    cli_progress_t progress;
    const bool show = !run->args->quiet && isatty(STDERR_FILENO) == 1;
    if (show) {
        cli_progress_begin(&progress, run->world);
    }
    catch_signals(run->world->sim);
    const sim_ended_t ended = sim_run(run->world->sim);
    release_signals();
    if (show) {
        cli_progress_end(&progress);
    }
    return ended;
}

// Writes what can be written even when one file fails; the first failure is reported.
static sim_err_t write_results(run_t *run, world_error_t *error)
{
    const char *const folder = run->args->folder;
    sim_err_t result = SIM_OK;
    if (run->observers != NULL) {
        result = results_observers_close(run->observers, &run->results, error);
        run->observers = NULL;
    }
    json_t *const summary = results_summary_json(run->world, &run->results);
    run->summary = results_summary_text(summary);
    json_decref(summary);
    world_error_t other;
    if (run->extra->end != NULL) {
        const sim_err_t ended = run->extra->end(run->world, run->extra->ctx, &other);
        if (ended != SIM_OK && result == SIM_OK) {
            result = ended;
            *error = other;
        }
    }
    if (folder == NULL) {
        return result;
    }
    for (unsigned step = 0; step < 3; step++) {
        sim_err_t written = SIM_OK;
        if (step == 0 && run->scenario->outputs.flows) {
            written = results_write_flows(run->world, folder, &other);
        } else if (step == 1) {
            written = results_write_ports(run->world, folder, &other);
        } else if (step == 2) {
            written = write_text(folder, "summary.json", run->summary, &other);
        }
        if (written != SIM_OK && result == SIM_OK) {
            result = written;
            *error = other;
        }
    }
    return result;
}

static void note_unwritten(const run_t *run)
{
    const world_scenario_t *const scenario = run->scenario;
    if (run->args->folder == NULL && scenario->series_count + scenario->capture_count > 0) {
        fprintf(stderr,
                "note: the scenario asks for %zu series and %zu captures; without -o DIR none is "
                "written\n",
                scenario->series_count,
                scenario->capture_count);
    }
}

static int print_results(run_t *run)
{
    if (run->args->json) {
        fputs(run->summary, stdout);
    } else {
        results_report(run->world, &run->results, run->args->folder, stdout);
    }
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fprintf(stderr, "rocesim: cannot write to the standard output\n");
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_DONE;
}

// What of the way it ended makes the run a failed one.
static int judge(const run_t *run)
{
    int status = CLI_EXIT_DONE;
    if (run->results.ended == SIM_ENDED_STALLED) {
        world_explain(run->world, stderr);
        status = CLI_EXIT_FAILED;
    }
    if (run->results.ended == SIM_ENDED_INTERRUPTED) {
        fprintf(stderr, "interrupted: the results are those up to this moment\n");
        status = CLI_EXIT_FAILED;
    }
    if (!run->results.conservation_ok) {
        fprintf(stderr,
                "rocesim: packets are not conserved: %s\n",
                run->results.conservation_message.text);
        status = CLI_EXIT_FAILED;
    }
    return status;
}

static int run_world(run_t *run)
{
    world_error_t error;
    int status = CLI_EXIT_DONE;
    if (prepare(run, &status, &error) != SIM_OK) {
        return cli_report_failure(&error, status);
    }
    note_unwritten(run);
    if (run->world->app_count > 0) {
        world_advise(run->world, stderr);
    }
    const double start_s = cli_wall_s();
    const sim_ended_t ended = simulate(run);
    results_init(&run->results, run->world, ended);
    run->results.wall_s = cli_wall_s() - start_s;
    const sim_err_t written = write_results(run, &error);
    status = print_results(run);
    if (judge(run) != CLI_EXIT_DONE) {
        status = CLI_EXIT_FAILED;
    }
    if (written != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_FAILED);
    }
    sim_free(run->summary);
    results_fini(&run->results);
    return status;
}

int cli_run_scenario(const cli_args_t *args,
                     world_scenario_t *scenario,
                     const cli_run_extra_t *extra)
{
    run_t run = {.args = args, .extra = extra, .scenario = scenario};
    world_error_t error;
    sim_err_t result = SIM_OK;
    if (args->folder != NULL) {
        result = results_folder_check(args->folder, args->operands[0], &error);
    }
    if (result == SIM_OK) {
        result = world_create(run.scenario, WORLD_BUILD_ALL, &run.world, &error);
    }
    int status = CLI_EXIT_BAD_INPUT;
    if (result == SIM_OK) {
        world_print_notes(run.world, stderr);
        status = run_world(&run);
    } else {
        status = cli_report_failure(&error, status);
    }
    world_destroy(run.world);
    return status;
}

int cli_command_run(const cli_args_t *args)
{
    static const cli_run_extra_t nothing = {NULL, NULL, NULL};
    world_scenario_t *scenario = NULL;
    world_error_t error;
    const sim_err_t result = world_scenario_load(NULL,
                                                 args->operands[0],
                                                 args->overrides,
                                                 args->override_count,
                                                 &scenario,
                                                 &error);
    const int status = result == SIM_OK ? cli_run_scenario(args, scenario, &nothing)
                                        : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    world_scenario_destroy(scenario);
    return status;
}
