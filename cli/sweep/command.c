// SPDX-License-Identifier: Apache-2.0
// cli/sweep/command.c - `rocesim sweep`: prepares the folder, then runs or prints the jobs.
#include "cli/sweep/jobs.h"
#include "cli/sweep/sweep.h"
#include "cli/sweep/table.h"

#include "cli/command.h"
#include "cli/output.h"
#include "cli/ranks/ranks.h"
#include "kernel/parse.h"
#include "results/file.h"
#include "results/lock.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define JOBS_MAX 1024u
#define PLAN_BYTES_MAX ((size_t)1 << 30)
#define SCENARIO_BYTES_MAX ((size_t)64 << 20)

char *cli_sweep_identity(const cli_sweep_t *sweep, world_error_t *error)
{
    char *bytes = NULL;
    size_t size = 0;
    if (sweep->identity != NULL) {
        return sim_strdup(sweep->identity);
    }
    if (world_read_file(sweep->scenario, SCENARIO_BYTES_MAX, &bytes, &size, error) != SIM_OK) {
        return NULL;
    }
    const unsigned long sum = crc32(0, (const Bytef *)bytes, (uInt)size);
    sim_free(bytes);
    return sim_format("%s %08lx", sweep->scenario, sum);
}

// Returns the identity of a sweep: version, scenario and runs. A sweep continues only in a folder
// of the same identity.
static char *plan_text(const cli_sweep_t *sweep, world_error_t *error)
{
    char *const identity = cli_sweep_identity(sweep, error);
    if (identity == NULL) {
        return NULL;
    }
    char *buffer = NULL;
    size_t length = 0;
    FILE *const out = open_memstream(&buffer, &length);
    SIM_CHECK(out != NULL);
    cli_sweep_t alone = *sweep; // ranks do not change results, so a sweep may go on with others
    alone.ranks = 1;
    fprintf(out, "# rocesim %s, %s\n", ROCESIM_VERSION, identity);
    sim_free(identity);
    for (size_t i = 0; i < sweep->run_count; i++) {
        char *const line = cli_sweep_command(&alone, &sweep->runs[i]);
        fprintf(out, "%s\n", line);
        sim_free(line);
    }
    (void)fclose(out);
    char *const text = sim_strdup(buffer);
    free(buffer);
    return text;
}

// Makes a folder and those above it.
static sim_err_t make_folder(const char *path, world_error_t *error)
{
    struct stat status;
    const char *const slash = strrchr(path, '/');
    if (slash != NULL && slash != path && stat(path, &status) != 0) {
        char *const above = sim_format("%.*s", (int)(slash - path), path);
        const sim_err_t result = make_folder(above, error);
        sim_free(above);
        if (result != SIM_OK) {
            return result;
        }
    }
    if (mkdir(path, 0777) == 0 || (stat(path, &status) == 0 && S_ISDIR(status.st_mode))) {
        return SIM_OK;
    }
    return world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot make the folder: %s",
                      strerror(errno));
}

static sim_err_t write_plan(const char *path, const char *text, world_error_t *error)
{
    char *const aside = sim_format("%s.part", path);
    results_file_t *file = NULL;
    sim_err_t result = results_file_open(aside, &file, error);
    if (result == SIM_OK) {
        results_file_put(file, text);
        result = results_file_close(file, error);
    }
    if (result == SIM_OK && rename(aside, path) != 0) {
        result =
            world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot write: %s", strerror(errno));
    }
    sim_free(aside);
    return result;
}

// Returns whether the folder has nothing but the lock.
static bool is_empty(const char *path)
{
    DIR *const opened = opendir(path);
    bool empty = opened != NULL;
    for (const struct dirent *entry = empty ? readdir(opened) : NULL; entry != NULL && empty;
         entry = readdir(opened)) {
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                strcmp(entry->d_name, RESULTS_LOCK_OF_SWEEP) == 0;
    }
    if (opened != NULL) {
        closedir(opened);
    }
    return empty;
}

// Writes jobs.txt into an empty folder, or accepts a folder that the same sweep has begun.
static sim_err_t begin_folder(const cli_sweep_t *sweep, const char *text, world_error_t *error)
{
    char *const path = sim_format("%s/jobs.txt", sweep->folder);
    char *before = NULL;
    size_t size = 0;
    world_error_t ignored;
    sim_err_t result = SIM_OK;
    if (world_read_file(path, PLAN_BYTES_MAX, &before, &size, &ignored) == SIM_OK) {
        if (strcmp(before, text) != 0) {
            result =
                world_fail(error, SIM_ERR_EXISTS, WORLD_FILE(sweep->folder),
                           "holds another sweep (its jobs.txt differs), expected a new folder");
        }
    } else if (!is_empty(sweep->folder)) {
        result = world_fail(error, SIM_ERR_EXISTS, WORLD_FILE(sweep->folder),
                            "holds something and no sweep, expected a new or empty folder");
    } else {
        result = write_plan(path, text, error);
    }
    sim_free(before);
    sim_free(path);
    return result;
}

sim_err_t cli_sweep_take_folder(const cli_sweep_t *sweep, results_lock_t **lock,
                                world_error_t *error)
{
    *lock = NULL;
    char *const text = plan_text(sweep, error);
    sim_err_t result = text == NULL ? SIM_ERR_IO : make_folder(sweep->folder, error);
    if (result == SIM_OK) {
        result = results_lock_take(sweep->folder, RESULTS_LOCK_OF_SWEEP, lock, error);
    }
    if (result == SIM_OK) {
        result = begin_folder(sweep, text, error);
    }
    if (result == SIM_OK) {
        char *const runs = sim_format("%s/runs", sweep->folder);
        result = make_folder(runs, error);
        sim_free(runs);
    }
    sim_free(text);
    return result;
}

static void print_jobs(const cli_sweep_t *sweep, FILE *out)
{
    for (size_t i = 0; i < sweep->run_count; i++) {
        char *const line = cli_sweep_command(sweep, &sweep->runs[i]);
        fprintf(out, "%s\n", line);
        sim_free(line);
    }
}

// Prints a Slurm job array in which task N runs the N-th line. Afterwards `rocesim sweep` with the
// same folder finds the finished runs and writes the tables.
static void print_slurm(const cli_sweep_t *sweep, FILE *out)
{
    char folder[4096] = ".";
    if (getcwd(folder, sizeof(folder)) == NULL) {
        snprintf(folder, sizeof(folder), ".");
    }
    fprintf(out,
            "#!/bin/bash\n"
            "#SBATCH --job-name=rocesim\n"
            "#SBATCH --array=1-%zu\n"
            "#SBATCH --nodes=1\n"
            "#SBATCH --ntasks=%u\n"
            "#SBATCH --output=/dev/null\n"
            "cd '%s' || exit 1\n"
            "sed -n \"${SLURM_ARRAY_TASK_ID}p\" <<'ROCESIM_JOBS' | bash\n",
            sweep->run_count, sweep->ranks, folder);
    print_jobs(sweep, out);
    fprintf(out, "ROCESIM_JOBS\n");
}

static int work(const cli_args_t *args, cli_sweep_t *sweep, unsigned jobs)
{
    world_error_t error;
    size_t done = 0;
    for (size_t i = 0; i < sweep->run_count; i++) {
        cli_sweep_look(&sweep->runs[i]);
        done += sweep->runs[i].summary != NULL;
    }
    if (!cli_sweep_work(sweep, jobs, args->quiet)) {
        fprintf(stderr, "interrupted: the same command goes on with the runs that are left\n");
        return CLI_EXIT_FAILED;
    }
    size_t failed = 0;
    for (size_t i = 0; i < sweep->run_count; i++) {
        if (sweep->runs[i].failure != NULL) {
            failed++;
            fprintf(stderr, "%s: %s\n", sweep->runs[i].name, sweep->runs[i].failure);
        }
    }
    if (cli_sweep_write(sweep, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_FAILED);
    }
    printf("%zu point%s, %zu run%s (%zu were there), %zu failed: %s/points.csv, %s/runs.csv\n",
           sweep->point_count, sim_plural(sweep->point_count), sweep->run_count,
           sim_plural(sweep->run_count), done, failed, sweep->folder, sweep->folder);
    return failed > 0 ? CLI_EXIT_FAILED : CLI_EXIT_DONE;
}

sim_err_t cli_sweep_take_jobs(const cli_args_t *args, unsigned *jobs, world_error_t *error)
{
    uint64_t number = *jobs;
    sim_message_t message;
    if (args->jobs != NULL && (sim_parse_count(args->jobs, &number, &message) != SIM_OK ||
                               number == 0 || number > JOBS_MAX)) {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_RANGE, NULL, "rocesim %s: -j is '%s', expected 1 to %u",
                          cli_command_name(args->command), world_show(&shown, args->jobs),
                          JOBS_MAX);
    }
    *jobs = (unsigned)number;
    return SIM_OK;
}

int cli_command_sweep(const cli_args_t *args)
{
    world_error_t error;
    unsigned jobs = 1;
    cli_sweep_t sweep = {0};
    results_lock_t *lock = NULL;
    unsigned ranks = 1;
    sim_err_t result = cli_sweep_take_jobs(args, &jobs, &error);
    if (result == SIM_OK && args->ranks != NULL) {
        result = cli_ranks_wanted(args, &ranks, &error);
    }
    if (result == SIM_OK && args->folder == NULL) {
        result = world_fail(&error, SIM_ERR_INVALID, NULL,
                            "rocesim sweep: no -o, expected a folder for the runs");
    }
    if (result == SIM_OK) {
        result = cli_sweep_load(args, args->folder, ranks, &sweep, &error);
    }
    int status = CLI_EXIT_DONE;
    if (result != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else if (cli_sweep_take_folder(&sweep, &lock, &error) != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else if (args->slurm) {
        print_slurm(&sweep, stdout); // its jobs fill the folder later, so it must exist now
    } else if (args->print_jobs) {
        print_jobs(&sweep, stdout);
    } else {
        status = work(args, &sweep, jobs);
    }
    results_lock_release(lock);
    cli_sweep_fini(&sweep);
    return cli_finish_output(status);
}
