// SPDX-License-Identifier: Apache-2.0
// cli/run.c - `rocesim run`: simulates with a progress line, handles Ctrl-C, prints a report.
#include "cli/run.h"
#include "cli/command.h"
#include "cli/ranks/balance.h"
#include "cli/ranks/slurm.h"

#include "cli/explain/explain.h"
#include "cli/live/live.h"
#include "cli/output.h"
#include "cli/plugins/faults.h"
#include "cli/plugins/limited_run.h"
#include "cli/processes.h"
#include "cli/progress.h"
#include "cli/ranks/ranks.h"
#include "cli/ranks/watch.h"
#include "cli/workload/workload.h"
#include "kernel/order/fifo.h"
#include "kernel/scratch.h"
#include "results/summary.h"
#include "world/explain.h"
#include "world/ranks.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The simulation that Ctrl-C ends. It is global because a signal handler has no context argument.
static sim_t *volatile interruptible;
static volatile sig_atomic_t interrupted;

// mpirun sends SIGTERM to ranks when it was interrupted, and also when another rank has died. A
// rank then ends the run, which needs all ranks, or dies when this time is over.
#define GRACE_S 5u
static volatile sig_atomic_t is_rank;

static void on_signal(int number)
{
    if (is_rank != 0 && number == SIGTERM) {
        cli_ranks_note_told();
        (void)signal(SIGALRM, SIG_DFL); // the clock of plug-ins has it
        (void)alarm(GRACE_S);
    }
    sim_t *const sim = interruptible;
    if (sim != NULL) {
        interrupted = 1;
        sim_interrupt(sim);
    }
}

// SIGUSR1 is what mpirun passes on to ranks (cli/ranks/launch.c).
static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

// Installs the handlers of the ending signals. A second signal ends the program at once. If SIGHUP
// is ignored at the start, it stays ignored, so that a program under nohup lives on.
static void catch_signals(sim_t *sim)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    interruptible = sim;
    interrupted = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(ending_signals); i++) {
        struct sigaction before;
        const bool ignored = ending_signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
                             before.sa_handler == SIG_IGN;
        if (!ignored) {
            sigaction(ending_signals[i], &action, NULL);
        }
    }
}

// Returns why a program that computes has to end.
static const char *why_ends(const app_t *app, void *ctx)
{
    (void)app;
    (void)ctx;
    return interrupted != 0
               ? "the program was ended while it was computing because the run was interrupted"
               : NULL;
}

static void release_signals(void)
{
    interruptible = NULL;
    if (is_rank != 0) {
        (void)alarm(0);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(ending_signals); i++) {
        struct sigaction now;
        if (sigaction(ending_signals[i], NULL, &now) == 0 && now.sa_handler == on_signal) {
            signal(ending_signals[i], SIG_DFL);
        }
    }
}

typedef struct run {
    const cli_args_t *args;
    const cli_run_extra_t *extra;
    const sim_ranks_t *ranks; // NULL: one process
    cli_ranks_costs_t costs;
    cli_programs_t programs;
    cli_progress_t progress;
    cli_live_t *live;  // NULL: nobody watches
    int progress_file; // -1: none, or taken over by `progress`
    bool shows_progress;
} run_t;

// Returns whether this process speaks: of several ranks only the first does.
static bool speaks(const run_t *run)
{
    return run->ranks == NULL || run->ranks->rank == 0;
}

static sim_err_t on_built(world_t *world, void *ctx, world_error_t *error)
{
    const run_t *const run = ctx;
    const sim_err_t result = cli_live_check(run->args, world, error);
    if (!speaks(run) || result != SIM_OK) {
        return result;
    }
    const world_scenario_t *const scenario = world->scenario;
    world_print_notes(world, stderr);
    if (run->args->folder == NULL && scenario->series_count + scenario->capture_count > 0) {
        fprintf(stderr,
                "note: the scenario asks for %zu series and %zu capture%s; without -o DIR none is "
                "written\n",
                scenario->series_count, scenario->capture_count,
                sim_plural(scenario->capture_count));
    }
    return SIM_OK;
}

static sim_err_t on_begin(world_t *world, const char *folder, void *ctx, world_error_t *error)
{
    run_t *const run = ctx;
    sim_err_t result = cli_live_begin(run->args, world, &run->live, error);
    if (result == SIM_OK && run->extra->begin != NULL) {
        result = run->extra->begin(world, folder, run->extra->ctx, error);
    }
    if (result != SIM_OK) {
        cli_live_end(run->live);
        run->live = NULL;
    }
    return result;
}

static sim_err_t on_end(world_t *world, void *ctx, world_error_t *error)
{
    run_t *const run = ctx;
    cli_live_end(run->live);
    run->live = NULL;
    return run->extra->end == NULL ? SIM_OK : run->extra->end(world, run->extra->ctx, error);
}

static sim_ended_t drive(world_t *world, void *ctx)
{
    const run_t *const run = ctx;
    return run->extra->drive(world, run->extra->ctx);
}

static void on_warned(const world_warnings_t *warnings, void *ctx)
{
    if (speaks(ctx)) {
        world_warnings_print(warnings, stderr);
    }
}

static void on_started(world_t *world, void *ctx)
{
    run_t *const run = ctx;
    int terminal = -1;
    if (speaks(run) && !run->args->quiet) {
        terminal = run->ranks != NULL           ? cli_ranks_terminal()
                   : isatty(STDERR_FILENO) == 1 ? STDERR_FILENO
                                                : -1;
    }
    run->shows_progress = terminal >= 0 || run->progress_file >= 0 || run->ranks != NULL;
    if (run->shows_progress) {
        cli_progress_begin(&run->progress, world, terminal, run->progress_file);
        run->progress_file = -1;
    }
    is_rank = run->ranks != NULL;
    if (run->extra->drive == NULL) {
        catch_signals(world->sim);
    }
    cli_plugins_confine_run(world->sim);
}

static void on_stopped(world_t *world, void *ctx)
{
    run_t *const run = ctx;
    cli_plugins_end_calls();
    release_signals();
    world_add_servers(world);
    for (size_t i = 0; i < world->app_count; i++) {
        app_programs_stop(world->apps[i]);
    }
    if (run->shows_progress) {
        cli_progress_end(&run->progress);
    }
    if (run->ranks != NULL) {
        cli_ranks_collect(world->sim, &run->costs);
    }
    if (!speaks(run)) {
        return;
    }
    const unsigned threads = sim_threads_missed(world->sim);
    if (threads > 0) {
        fprintf(stderr,
                "warning: the system gave %u of %" PRIu64 " threads: memory or the number of "
                "processes is limited; results are the same\n",
                threads, world->scenario->run.threads);
    }
    if (sim_had_one_list(world->sim) && world->scenario->run.threads > 1) {
        fprintf(stderr,
                "note: ties: insertion runs this scenario on one thread, of %" PRIu64
                " asked for (docs/models/hpcc-compat.md says why); ties: hash runs on all\n",
                world->scenario->run.threads);
    }
}

static void on_file_failed(const char *message, void *ctx)
{
    (void)ctx;
    fprintf(stderr, "%s\n", message);
}

static int print_results(const run_t *run, results_run_t *done)
{
    if (run->args->json) {
        fputs(results_text(done), stdout);
    } else {
        const bool whole = results_files_whole(done);
        const char *const folder = run->args->folder;
        results_report(results_world(done), results_of(done), whole ? folder : NULL, stdout);
        if (run->ranks != NULL) {
            cli_ranks_report(&run->costs, results_world(done), stdout);
        }
        if (!whole && folder != NULL) {
            printf("  files     not whole, in %s/.unfinished/; %s/ is as it was before the run\n",
                   folder, folder);
        }
    }
    return cli_finish_output(CLI_EXIT_DONE);
}

// Returns the exit status for the way in which the run ended.
static int judge(results_run_t *done)
{
    const results_t *const results = results_of(done);
    int status = CLI_EXIT_DONE;
    if (results->ended == SIM_ENDED_STALLED) {
        world_explain(results_world(done), stderr);
        status = CLI_EXIT_FAILED;
    }
    if (results->ended == SIM_ENDED_INTERRUPTED) {
        fprintf(stderr, "interrupted: the results are those up to this moment\n");
        status = CLI_EXIT_FAILED;
    }
    const world_t *const world = results_world(done);
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        const char *const why = app_failure(app);
        if (why != NULL) {
            fprintf(stderr, "rocesim: traffic[%zu] (%s) failed: %s\n", i, app->ops->name, why);
            status = CLI_EXIT_FAILED;
        }
    }
    if (!results->conservation_ok) {
        fprintf(stderr, "rocesim: packets are not conserved: %s\n",
                results->conservation_message.text);
        status = CLI_EXIT_FAILED;
    }
    return status;
}

// Explains the run whose files are in the folder: on the terminal, unless JSON is printed, and in
// explain.json. Returns the exit status.
static int explain(const run_t *run, const char *folder)
{
    world_error_t error;
    if (cli_explain_write(folder, !run->args->json, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_FAILED);
    }
    return cli_finish_output(CLI_EXIT_DONE);
}

// Prints and judges the results of a run whose files are in the folder, and destroys the run.
// Returns the exit status.
static int finish(const run_t *run, results_run_t *done, const char *folder)
{
    world_error_t error;
    int status = CLI_EXIT_DONE;
    if (results_of(done) != NULL) {
        status = print_results(run, done);
        status = judge(done) != CLI_EXIT_DONE ? CLI_EXIT_FAILED : status;
        if (run->args->folder != NULL && results_files_whole(done) && speaks(run) &&
            cli_programs_save(results_world(done), run->args->folder, &error) != SIM_OK) {
            status = cli_report_failure(&error, CLI_EXIT_FAILED);
        }
    }
    const bool whole = results_files_whole(done);
    const bool explains =
        run->args->explains && folder != NULL && results_of(done) != NULL && whole;
    results_run_destroy(done);
    status = whole ? status : CLI_EXIT_FAILED;
    if (explains && explain(run, folder) != CLI_EXIT_DONE) {
        status = CLI_EXIT_FAILED;
    }
    return status;
}

static int run_scenario(run_t *run, world_scenario_t *scenario)
{
    // Explaining reads files; without -o DIR they are in a folder that nobody keeps.
    sim_scratch_t scratch = {0};
    const bool wants_scratch =
        run->args->explains && run->args->folder == NULL && run->ranks == NULL;
    const char *const folder = wants_scratch && sim_scratch_make(&scratch, NULL, "rocesim-scratch")
                                   ? scratch.folder
                                   : run->args->folder;
    const results_options_t options = {
        .folder = folder,
        .scenario_file = run->args->operand_count > 0 ? run->args->operands[0] : NULL,
        .ranks = run->ranks,
        .limited = cli_plugins_limited(),
        .drive = run->extra->drive != NULL ? drive : NULL,
        .built = on_built,
        .begin = on_begin,
        .end = on_end,
        .warned = on_warned,
        .started = on_started,
        .stopped = on_stopped,
        .file_failed = on_file_failed,
        .ctx = run,
    };
    cli_plugins_watch(scenario);
    if (run->args->starts_programs) {
        cli_programs_allow(&run->programs);
        run->programs.permission.keeps_output =
            run->args->folder != NULL || run->extra->drive != NULL;
        run->programs.permission.ends = run->extra->ends != NULL ? run->extra->ends : why_ends;
        run->programs.permission.ctx = run->extra->ctx;
        run->programs.permission.anywhere = run->extra->drive != NULL;
        run->programs.permission.traces = run->args->traces_programs;
        scenario->programs = &run->programs.permission;
    }
    results_run_t *done = NULL;
    world_error_t error;
    const char *const progress = speaks(run) ? run->args->progress : NULL;
    sim_err_t result = cli_progress_open(progress, &run->progress_file, &error);
    if (result == SIM_OK || run->ranks != NULL) {
        result = results_execute(scenario, &options, &done, &error);
    }
    if (run->progress_file >= 0) {
        (void)close(run->progress_file);
    }
    int status = result == SIM_OK || error.text[0] == '\0'
                     ? CLI_EXIT_BAD_INPUT
                     : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    if (result == SIM_OK) {
        status = finish(run, done, folder);
    }
    sim_scratch_remove(&scratch);
    sim_free(run->costs.ranks);
    return status;
}

int cli_run_scenario(const cli_args_t *args, world_scenario_t *scenario,
                     const cli_run_extra_t *extra)
{
    run_t run = {.args = args, .extra = extra};
    return run_scenario(&run, scenario);
}

// Runs the scenario as one of several ranks, which mpirun has started.
static int run_as_rank(const cli_args_t *args)
{
    static const cli_run_extra_t nothing = {.ctx = NULL};
    cli_ranks_t *joined = NULL;
    world_scenario_t *scenario = NULL;
    world_error_t error;
    cli_ranks_begin();
    if (cli_ranks_join(&joined, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    run_t run = {.args = args, .extra = &nothing, .ranks = cli_ranks_of(joined)};
    const sim_err_t result = world_scenario_load(NULL, args->operands[0], args->overrides,
                                                 args->override_count, &scenario, &error);
    int status = CLI_EXIT_BAD_INPUT;
    if (results_together(run.ranks, result, &error) == SIM_OK) {
        status = run_scenario(&run, scenario);
    } else if (error.text[0] != '\0') {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    world_scenario_destroy(scenario);
    status = cli_ranks_status(run.ranks, status);
    cli_ranks_leave(joined);
    return status;
}

static sim_err_t print_slurm(const cli_args_t *args, unsigned count,
                             const world_scenario_t *scenario, world_error_t *error)
{
    world_t *world = NULL;
    const sim_ranks_t first = {.count = count};
    sim_err_t result = world_create_part(scenario, WORLD_BUILD_ALL, &first, &world, error);
    if (result == SIM_OK) {
        result = world_ranks_check_built(world, error);
    }
    if (result == SIM_OK) {
        cli_ranks_print_slurm(args, count, world, stdout);
        fflush(stdout);
    }
    world_destroy(world);
    return result;
}

// Checks that the scenario can run in ranks, and starts them.
static int launch(const cli_args_t *args)
{
    unsigned count = 0;
    world_scenario_t *scenario = NULL;
    world_error_t error;
    sim_err_t result = cli_ranks_wanted(args, &count, &error);
    if (result == SIM_OK && strcmp(args->operands[0], "-") == 0) {
        result = world_fail(&error, SIM_ERR_INVALID, NULL,
                            "rocesim run: ranks cannot share the standard input, expected a "
                            "scenario file with --ranks");
    }
    if (result == SIM_OK && count > 1 && (args->live_count > 0 || args->pace != NULL)) {
        result = world_fail(&error, SIM_ERR_INVALID, NULL,
                            "rocesim run: --live and --pace watch a run of one process, expected "
                            "no --ranks");
    }
    if (result == SIM_OK) {
        result = world_scenario_load(NULL, args->operands[0], args->overrides, args->override_count,
                                     &scenario, &error);
    }
    if (result == SIM_OK) {
        result = world_ranks_check(scenario, &error);
    }
    if (result == SIM_OK && args->print_slurm) {
        result = print_slurm(args, count, scenario, &error);
        world_scenario_destroy(scenario);
        return result == SIM_OK ? CLI_EXIT_DONE : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    world_scenario_destroy(scenario);
    if (result == SIM_OK && count == 1) {
        cli_args_t alone = *args;
        alone.ranks = NULL;
        return cli_command_run(&alone);
    }
    return result == SIM_OK ? cli_ranks_launch(args, count)
                            : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
}

int cli_command_run(const cli_args_t *args)
{
    static const cli_run_extra_t nothing = {.ctx = NULL};
    world_scenario_t *scenario = NULL;
    world_error_t error;
    if (args->print_slurm && args->ranks == NULL) {
        (void)world_fail(&error, SIM_ERR_INVALID, NULL,
                         "rocesim run: --print-slurm has no number of ranks, expected --ranks N");
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    if (args->plugin_limits) {
        return cli_plugins_run_limited(args, cli_command_run);
    }
    if (args->ranks != NULL) {
        return launch(args);
    }
    if (cli_ranks_processes() > 1) {
        return run_as_rank(args);
    }
    const sim_err_t result = world_scenario_load(NULL, args->operands[0], args->overrides,
                                                 args->override_count, &scenario, &error);
    const int status = result == SIM_OK ? cli_run_scenario(args, scenario, &nothing)
                       : cli_workload_instead(args->operands[0])
                           ? CLI_EXIT_BAD_INPUT
                           : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    world_scenario_destroy(scenario);
    return status;
}
