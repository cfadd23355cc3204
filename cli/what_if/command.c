// SPDX-License-Identifier: Apache-2.0
// cli/what_if/command.c - `rocesim what-if`: runs the changes and prints what breaks.
//
// The scenario runs once without changes in this process, which says when its traffic is under way
// and which parts carry the most. Then it runs as row 0 again, so that the figures of all rows are
// made in one way. DIR keeps a line for each row that was run, from which the command goes on.
#include "cli/what_if/changes.h"
#include "cli/what_if/effects.h"
#include "cli/what_if/failures.h"
#include "cli/what_if/runs.h"

#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/sweep/sweep.h"
#include "kernel/parse.h"
#include "kernel/scratch.h"
#include "results/file.h"
#include "results/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct job {
    const cli_args_t *args;
    const char *scenario; // file
    world_override_t *overrides;
    size_t override_count;
    cli_what_if_t what_if;
    cli_changes_t changes;
    bool by_steps;
    results_lock_t *lock; // of the folder; NULL: the command has none
    FILE *rows;           // DIR/rows.jsonl; NULL: none
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

// -- rows

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

static void list_rows(job_t *job)
{
    const size_t count = job->changes.count;
    job->what_if.row_count = count;
    job->what_if.rows = sim_alloc_array(count + 1, sizeof(*job->what_if.rows));
    for (size_t i = 0; i < count; i++) {
        const cli_change_t *const change = &job->changes.items[i];
        job->what_if.rows[i] =
            (cli_what_if_row_t){.change = change, .command = command_of(job->args, change)};
    }
}

// Lists the settings of every run: those of the command line, and no files that nobody reads.
static void list_overrides(job_t *job)
{
    static const char *const own[] = {"captures=[]", "observe=[]"};
    const size_t given = job->args->override_count;
    job->override_count = given + SIM_COUNT_OF(own);
    job->overrides = sim_alloc_array(job->override_count, sizeof(*job->overrides));
    for (size_t i = 0; i < job->override_count; i++) {
        job->overrides[i] =
            i < given ? job->args->overrides[i]
                      : (world_override_t){.shown = own[i - given], .text = own[i - given]};
    }
}

// -- the folder of the command

// Opens DIR/rows.jsonl, and takes the effects of the rows that it has. The commands of all rows are
// the folder's identity, so a number means the same row.
static sim_err_t open_rows(job_t *job, const char *folder, world_error_t *error)
{
    char *const path = sim_format("%s/rows.jsonl", folder);
    char *line = NULL;
    size_t size = 0;
    job->rows = fopen(path, "a+e");
    if (job->rows == NULL) {
        const sim_err_t result =
            world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot write: %s", strerror(errno));
        sim_free(path);
        return result;
    }
    rewind(job->rows);
    while (getline(&line, &size, job->rows) > 0) {
        json_t *const json = json_loads(line, 0, NULL); // NULL: the command was killed here
        const json_int_t row = json_integer_value(json_object_get(json, "row"));
        if (json != NULL && row >= 0 && (size_t)row <= job->what_if.row_count) {
            (void)cli_effect_read(cli_what_if_effect(&job->what_if, (size_t)row), json);
        }
        json_decref(json);
    }
    free(line);
    sim_free(path);
    return SIM_OK;
}

// Keeps the effect of a row in DIR/rows.jsonl.
static void keep_row(size_t row, const cli_effect_t *effect, void *ctx)
{
    const job_t *const job = ctx;
    if (job->rows == NULL) {
        return;
    }
    json_t *const json = cli_effect_json(effect);
    json_object_set_new(json, "row", json_integer((json_int_t)row));
    char *const text = json_dumps(json, JSON_COMPACT);
    fprintf(job->rows, "\n%s\n", text); // the line before may be cut
    (void)fflush(job->rows);
    free(text);
    json_decref(json);
}

// Takes the folder of the command, or goes on in that of an interrupted one.
static sim_err_t take_folder(job_t *job, world_error_t *error)
{
    cli_sweep_t sweep = {.folder = job->args->folder, .ranks = 1};
    sweep.scenario = sim_strdup(job->scenario);
    char *const identity = cli_sweep_identity(&sweep, error);
    sim_free(sweep.scenario);
    if (identity == NULL) {
        return SIM_ERR_IO;
    }
    size_t bytes = 0;
    char *text = NULL;
    FILE *const commands = open_memstream(&text, &bytes);
    SIM_CHECK(commands != NULL);
    fprintf(commands, "%s", identity);
    for (size_t i = 0; i < job->what_if.row_count; i++) {
        fprintf(commands, "\n%s", job->what_if.rows[i].command);
    }
    (void)fclose(commands);
    sim_free(identity);
    sweep.identity = text;
    const sim_err_t result = cli_sweep_take_folder(&sweep, &job->lock, error);
    free(text);
    return result == SIM_OK ? open_rows(job, job->args->folder, error) : result;
}

// -- the table

// Leaves out the rows that were not run. Returns how many there were.
static size_t keep_known(cli_what_if_t *what_if)
{
    size_t kept = 0;
    for (size_t i = 0; i < what_if->row_count; i++) {
        if (cli_effect_known(&what_if->rows[i].effect)) {
            what_if->rows[kept++] = what_if->rows[i];
        } else {
            sim_free(what_if->rows[i].command);
        }
    }
    const size_t left_out = what_if->row_count - kept;
    what_if->row_count = kept;
    return left_out;
}

// Writes and prints the rows. Returns the exit status.
static int report(job_t *job)
{
    world_error_t error;
    int status = CLI_EXIT_DONE;
    if (job->what_if.base.ended == NULL) {
        fprintf(stderr, "the run without changes failed: %s\n",
                job->what_if.base.failure != NULL ? job->what_if.base.failure : "interrupted");
        return CLI_EXIT_FAILED;
    }
    const size_t left_out = keep_known(&job->what_if);
    cli_what_if_judge(&job->what_if);
    for (size_t i = 0; i < job->what_if.row_count; i++) {
        status = job->what_if.rows[i].effect.failure != NULL ? CLI_EXIT_FAILED : status;
    }
    if (job->args->folder != NULL &&
        results_file_write(job->args->folder, "what-if.csv", cli_what_if_put_csv, &job->what_if,
                           &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_FAILED);
    }
    if (job->args->json) {
        cli_print_json(cli_what_if_json(&job->what_if));
    } else {
        cli_what_if_print(&job->what_if, stdout);
    }
    if (left_out > 0) {
        (void)fflush(stdout);
        fprintf(stderr, "interrupted: %zu changes were not run%s\n", left_out,
                job->args->folder == NULL ? "" : "; the same command goes on with them");
        status = CLI_EXIT_FAILED;
    }
    return status;
}

// Returns whether failures may be copies of a run that has begun.
static bool by_steps(const world_scenario_t *scenario, const json_t *summary)
{
    bool can =
        scenario->run.ties == WORLD_TIES_HASH && json_object_get(summary, "fast_forward") == NULL;
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        can &= scenario->traffic[i].ops->machine_command == NULL;
    }
    return can;
}

// Runs the scenario without changes, and lists the changes.
static sim_err_t prepare(job_t *job, world_error_t *error)
{
    const bool shows = !job->args->quiet;
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const results_options_t options = {.folder = NULL};
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    unsigned kinds = 0;
    sim_err_t result = take_kinds(job->args, &kinds, error);
    if (result == SIM_OK) {
        result = world_scenario_load(NULL, job->scenario, job->args->overrides,
                                     job->args->override_count, &scenario, error);
    }
    if (shows && result == SIM_OK) {
        dprintf(STDERR_FILENO, "the run without changes%s", terminal ? "" : "\n");
    }
    if (result == SIM_OK) {
        result = results_execute(scenario, &options, &run, error);
    }
    if (shows && terminal) {
        dprintf(STDERR_FILENO, CLI_PROGRESS_CLEAR);
    }
    if (result == SIM_OK) {
        result = take_time(job->args, results_json(run), &job->what_if.at_ps, error);
    }
    if (result == SIM_OK) {
        cli_changes_list(&job->changes, results_world(run), kinds, job->what_if.at_ps);
        list_rows(job);
        list_overrides(job);
        job->by_steps = by_steps(scenario, results_json(run));
    }
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    return result;
}

// Runs all changes. Returns the exit status.
static int work(job_t *job, const char *folder, unsigned jobs)
{
    const cli_what_if_runs_t runs = {
        .scenario = job->scenario,
        .overrides = job->overrides,
        .override_count = job->override_count,
        .what_if = &job->what_if,
        .folder = folder,
        .jobs = jobs,
        .quiet = job->args->quiet,
        .by_steps = job->by_steps,
        .ended = keep_row,
        .ctx = job,
    };
    (void)cli_what_if_work(&runs); // the rows that it did not run are not known
    return report(job);
}

static void job_fini(job_t *job)
{
    if (job->rows != NULL) {
        (void)fclose(job->rows);
    }
    results_lock_release(job->lock);
    for (size_t i = 0; i < job->what_if.row_count; i++) {
        sim_free(job->what_if.rows[i].command);
        cli_effect_fini(&job->what_if.rows[i].effect);
    }
    cli_effect_fini(&job->what_if.base);
    sim_free(job->what_if.rows);
    sim_free(job->overrides);
    cli_changes_fini(&job->changes);
}

int cli_command_what_if(const cli_args_t *args)
{
    world_error_t error;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = processors > 0 ? (unsigned)SIM_MIN(processors, 64) : 1;
    job_t job = {.args = args, .scenario = args->operands[0]};
    job.what_if.scenario = args->operands[0];
    sim_scratch_t scratch = {0};
    sim_err_t result = cli_sweep_take_jobs(args, &jobs, &error);
    if (result == SIM_OK) {
        result = prepare(&job, &error);
    }
    if (result == SIM_OK && args->folder != NULL) {
        result = take_folder(&job, &error);
    }
    if (result == SIM_OK && !sim_scratch_make(&scratch, NULL, "rocesim-scratch")) {
        result =
            world_fail(&error, SIM_ERR_IO, NULL,
                       "rocesim what-if: cannot make a folder for the runs: %s", strerror(errno));
    }
    char *const folder = scratch.folder != NULL ? realpath(scratch.folder, NULL) : NULL;
    const int status = result == SIM_OK && folder != NULL
                           ? work(&job, folder, jobs)
                           : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    free(folder);
    sim_scratch_remove(&scratch);
    job_fini(&job);
    return cli_finish_output(status);
}
