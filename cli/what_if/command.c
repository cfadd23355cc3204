// SPDX-License-Identifier: Apache-2.0
// cli/what_if/command.c - `rocesim what-if`: runs the changes and prints what breaks.
//
// The scenario runs once without changes in this process, which says when its traffic is under way
// and which parts carry the most. Then it runs as the first of the sweep's runs again, so that the
// figures of all rows are made in one way.
#include "cli/what_if/changes.h"
#include "cli/what_if/effects.h"
#include "cli/what_if/failures.h"

#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/sweep/jobs.h"
#include "kernel/parse.h"
#include "kernel/scratch.h"
#include "results/file.h"
#include "results/runner.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES_MAX 60u // of a run's folder, besides its number

typedef struct job {
    const cli_args_t *args;
    cli_sweep_t sweep;
    cli_what_if_t what_if;
    cli_changes_t changes;
    const char ***settings; // of each run
    bool scratch;           // folders of runs are removed when they were read
} job_t;

// -- options

static sim_err_t take_kinds(const cli_args_t *args, unsigned *kinds, world_error_t *error)
{
    *kinds = args->kind_count == 0 ? UINT32_MAX : 0;
    const char *names[CLI_CHANGE_KINDS];
    for (size_t k = 0; k < CLI_CHANGE_KINDS; k++) {
        names[k] = cli_change_kind_name(k);
    }
    for (size_t i = 0; i < args->kind_count; i++) {
        size_t k = 0;
        while (k < CLI_CHANGE_KINDS && strcmp(args->kinds[i], names[k]) != 0) {
            k++;
        }
        if (k == CLI_CHANGE_KINDS) {
            world_shown_t shown;
            (void)world_fail(error, SIM_ERR_UNKNOWN, NULL, "rocesim what-if: unknown --kind '%s'",
                             world_show(&shown, args->kinds[i]));
            (void)world_error_add_nearest(error, args->kinds[i], names, CLI_CHANGE_KINDS);
            world_error_add_names(error, names, CLI_CHANGE_KINDS, "rocesim what-if --help");
            return SIM_ERR_UNKNOWN;
        }
        *kinds |= 1u << k;
    }
    return SIM_OK;
}

static sim_err_t take_time(const cli_args_t *args, const json_t *summary, sim_time_t *at_ps,
                           world_error_t *error)
{
    const sim_time_t from_ps =
        (sim_time_t)json_integer_value(json_object_get(summary, "traffic_from_ps"));
    const sim_time_t end_ps =
        (sim_time_t)json_integer_value(json_object_get(summary, "sim_time_ps"));
    sim_message_t message;
    *at_ps = from_ps + (end_ps - SIM_MIN(from_ps, end_ps)) / 3;
    if (args->fail_at != NULL && sim_parse_time(args->fail_at, at_ps, &message) != SIM_OK) {
        return world_fail(error, SIM_ERR_INVALID, NULL, "rocesim what-if: --at: %s", message.text);
    }
    *at_ps = *at_ps / SIM_PS_PER_NS * SIM_PS_PER_NS;
    return SIM_OK;
}

// -- runs

// Lists the settings of a run: those of the command line, then those of the change.
static const char **settings_of(const cli_args_t *args, const cli_change_t *change)
{
    size_t own = 0;
    while (change != NULL && change->settings[own] != NULL) {
        own++;
    }
    const char **const list = sim_alloc_array(args->override_count + own + 3, sizeof(*list));
    size_t count = 0;
    for (size_t i = 0; i < args->override_count; i++) {
        list[count++] = args->overrides[i].text;
    }
    list[count++] = "captures=[]"; // runs are compared by their figures alone
    list[count++] = "observe=[]";
    for (size_t i = 0; i < own; i++) {
        list[count++] = change->settings[i];
    }
    return list;
}

// Returns the command with which a person repeats a row.
static char *command_of(const cli_args_t *args, const cli_change_t *change)
{
    size_t count = 0;
    while (change->settings[count] != NULL) {
        count++;
    }
    const size_t most = 4 + 2 * (args->override_count + count);
    char **const words = sim_alloc_array(most, sizeof(*words));
    size_t size = 0;
    words[size++] = sim_strdup("rocesim");
    words[size++] = sim_strdup("run");
    words[size++] = sim_strdup(args->operands[0]);
    for (size_t i = 0; i < args->override_count + count; i++) {
        words[size++] = sim_strdup("--set");
        words[size++] =
            sim_strdup(i < args->override_count ? args->overrides[i].text
                                                : change->settings[i - args->override_count]);
    }
    char *const line = cli_sweep_line(words);
    cli_sweep_arguments_free(words);
    return line;
}

// Returns the name of a run's folder: its number, and the change in letters that suit files.
static char *name_of(size_t number, const char *text)
{
    char *const name = sim_format("%04zu-%.*s", number, (int)NAME_BYTES_MAX, text);
    for (char *p = name; *p != '\0'; p++) {
        const bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                            (*p >= '0' && *p <= '9') || strchr("-_.#", *p) != NULL;
        *p = letter ? *p : '_';
    }
    return name;
}

static void list_runs(job_t *job, uint64_t seed, const char *folder)
{
    cli_sweep_t *const sweep = &job->sweep;
    const size_t count = job->changes.count + 1;
    sweep->folder = folder;
    sweep->scenario = sim_strdup(job->args->operands[0]);
    sweep->ranks = 1;
    sweep->explains = true;
    sweep->plugin_limits = job->args->plugin_limits;
    sweep->point_count = count;
    sweep->points = sim_alloc_array(count, sizeof(*sweep->points));
    sweep->run_count = count;
    sweep->runs = sim_alloc_array(count, sizeof(*sweep->runs));
    job->settings = sim_alloc_array(count, sizeof(*job->settings));
    job->what_if.row_count = count - 1;
    job->what_if.rows = sim_alloc_array(count, sizeof(*job->what_if.rows));
    for (size_t i = 0; i < count; i++) {
        const cli_change_t *const change = i > 0 ? &job->changes.items[i - 1] : NULL;
        char *const name = name_of(i, change != NULL ? change->text : "without_changes");
        job->settings[i] = settings_of(job->args, change);
        sweep->points[i] = (cli_sweep_point_t){.settings = job->settings[i]};
        sweep->runs[i] = (cli_sweep_run_t){
            .point = i,
            .seed = seed,
            .name = name,
            .folder = sim_format("%s/runs/%s", folder, name),
        };
        if (change != NULL) {
            job->what_if.rows[i - 1] =
                (cli_what_if_row_t){.change = change, .command = command_of(job->args, change)};
        }
    }
}

// Reads the figures of a run that has ended.
static void take_run(const cli_sweep_run_t *run, void *ctx)
{
    job_t *const job = ctx;
    cli_what_if_row_t *const row = run->point > 0 ? &job->what_if.rows[run->point - 1] : NULL;
    cli_effect_t *const effect = row != NULL ? &row->effect : &job->what_if.base;
    if (run->summary != NULL) {
        cli_effect_take(effect, row != NULL ? row->change : NULL, run->folder, run->summary);
    } else if (effect->failure == NULL) {
        effect->failure = sim_strdup(run->failure != NULL ? run->failure : "no results");
    }
    if (job->scratch) {
        sim_folder_remove(run->folder);
    }
}

// Writes and prints the rows. Returns the exit status.
static int report(job_t *job)
{
    world_error_t error;
    int status = CLI_EXIT_DONE;
    if (job->what_if.base.ended == NULL) {
        fprintf(stderr, "the run without changes failed: %s\n", job->what_if.base.failure);
        return CLI_EXIT_FAILED;
    }
    cli_what_if_judge(&job->what_if);
    for (size_t i = 0; i < job->what_if.row_count; i++) {
        status = job->what_if.rows[i].effect.failure != NULL ? CLI_EXIT_FAILED : status;
    }
    if (!job->scratch && results_file_write(job->sweep.folder, "what-if.csv", cli_what_if_put_csv,
                                            &job->what_if, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_FAILED);
    }
    if (job->args->json) {
        cli_print_json(cli_what_if_json(&job->what_if));
    } else {
        cli_what_if_print(&job->what_if, stdout);
    }
    return status;
}

// Runs all changes. Returns the exit status.
static int work(job_t *job, unsigned jobs)
{
    world_error_t error;
    results_lock_t *lock = NULL;
    int status = CLI_EXIT_FAILED;
    if (cli_sweep_take_folder(&job->sweep, &lock, &error) != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else {
        for (size_t i = 0; i < job->sweep.run_count; i++) {
            cli_sweep_look(&job->sweep.runs[i]);
            if (job->sweep.runs[i].summary != NULL) {
                take_run(&job->sweep.runs[i], job);
            }
        }
        job->sweep.ended = take_run;
        job->sweep.ctx = job;
        if (cli_sweep_work(&job->sweep, jobs, job->args->quiet)) {
            status = report(job);
        } else {
            fprintf(stderr, "interrupted%s\n",
                    job->scratch ? "" : ": the same command goes on with the runs that are left");
        }
    }
    results_lock_release(lock);
    return status;
}

// Runs the scenario without changes, and lists the changes and their runs.
static sim_err_t prepare(job_t *job, const char *folder, world_error_t *error)
{
    const bool shows = !job->args->quiet && isatty(STDERR_FILENO) == 1;
    const results_options_t options = {.folder = NULL};
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    unsigned kinds = 0;
    sim_err_t result = take_kinds(job->args, &kinds, error);
    if (result == SIM_OK) {
        result = world_scenario_load(NULL, job->args->operands[0], job->args->overrides,
                                     job->args->override_count, &scenario, error);
    }
    if (shows) {
        dprintf(STDERR_FILENO, "the run without changes");
    }
    if (result == SIM_OK) {
        result = results_execute(scenario, &options, &run, error);
    }
    if (shows) {
        dprintf(STDERR_FILENO, CLI_PROGRESS_CLEAR);
    }
    if (result == SIM_OK) {
        result = take_time(job->args, results_json(run), &job->what_if.at_ps, error);
    }
    if (result == SIM_OK) {
        cli_changes_list(&job->changes, results_world(run), kinds, job->what_if.at_ps);
        list_runs(job, scenario->run.seed, folder);
    }
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    return result;
}

static void job_fini(job_t *job)
{
    for (size_t i = 0; i < job->sweep.point_count; i++) {
        sim_free((void *)job->settings[i]);
    }
    sim_free((void *)job->settings);
    for (size_t i = 0; i < job->what_if.row_count; i++) {
        sim_free(job->what_if.rows[i].command);
        cli_effect_fini(&job->what_if.rows[i].effect);
    }
    cli_effect_fini(&job->what_if.base);
    sim_free(job->what_if.rows);
    cli_changes_fini(&job->changes);
    cli_sweep_fini(&job->sweep);
}

int cli_command_what_if(const cli_args_t *args)
{
    world_error_t error;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = processors > 0 ? (unsigned)SIM_MIN(processors, 64) : 1;
    job_t job = {.args = args, .scratch = args->folder == NULL};
    job.what_if.scenario = args->operands[0];
    sim_scratch_t scratch = {0};
    sim_err_t result = cli_sweep_take_jobs(args, &jobs, &error);
    if (result == SIM_OK && job.scratch) {
        result = sim_scratch_make(&scratch, NULL, "rocesim-scratch")
                     ? SIM_OK
                     : world_fail(&error, SIM_ERR_IO, NULL,
                                  "rocesim what-if: cannot make a folder for the runs: %s",
                                  strerror(errno));
    }
    if (result == SIM_OK) {
        result = prepare(&job, scratch.folder != NULL ? scratch.folder : args->folder, &error);
    }
    const int status =
        result == SIM_OK ? work(&job, jobs) : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    sim_scratch_remove(&scratch);
    job_fini(&job);
    return cli_finish_output(status);
}
