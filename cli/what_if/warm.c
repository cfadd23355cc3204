// SPDX-License-Identifier: Apache-2.0
// cli/what_if/warm.c - runs failures as copies of one run that stands shortly before them.
//
// The run stops before the failure by more than the time that a frame takes on any link. So what is
// on its way then has arrived, and the failure changes what happens as if it had been known from
// the beginning. The name of the folder of results is relative: each copy has its own folder
// around it, with copies of the files that were open.
#include "cli/what_if/runs_internal.h"

#include "kernel/scratch.h"
#include "kernel/steps.h"
#include "net/network.h"
#include "net/ports.h"
#include "results/file.h"
#include "results/stage.h"
#include "world/faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESULTS ".rocesim-what-if"
#define STAGE RESULTS "/" RESULTS_STAGE_NAME
#define FRAME_BYTES_MAX 16384u
#define COPY_BYTES 65536u

typedef struct warm {
    cli__what_if_pool_t *pool;
    world_scenario_t *scenario;
    char *trunk;   // folder of the run that is copied
    int home;      // descriptor of the folder in which the command was given
    size_t row;    // of this process; CLI__WHAT_IF_NO_ROW: it is the first
    char *own;     // its folder
    bool diverged; // the failure cannot be added at its time
} warm_t;

bool cli__what_if_is_warm(const cli_what_if_runs_t *runs, size_t row)
{
    const cli_change_t *const change = cli__what_if_change(runs, row);
    return runs->by_steps && (change == NULL || change->fault != NULL);
}

// Returns how long before the failure the run must stop.
static sim_time_t margin_ps(const net_t *net)
{
    sim_time_t margin = 0;
    for (size_t i = 0; i < net_link_count(net); i++) {
        const net_link_ends_t ends = net_link_ends(net, i);
        const net_port_t *const port = net_port_at(net_node_at(net, ends.a), ends.a_port);
        const double frame_ps =
            FRAME_BYTES_MAX * 8.0 * (double)SIM_PS_PER_S / (double)port->line->rate_bps;
        margin = SIM_MAX(margin, port->line->delay_ps + (sim_time_t)frame_ps);
    }
    return margin + SIM_PS_PER_US;
}

// Copies an open file into the folder of this process, which writes the copy from now on.
static bool copy_file(int descriptor, const char *name)
{
    char bytes[COPY_BYTES];
    const int copy = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    const int source = open(path, O_RDONLY | O_CLOEXEC);
    bool done = copy >= 0 && source >= 0;
    for (ssize_t count = 1; done && count > 0;) {
        count = read(source, bytes, sizeof(bytes));
        done = count >= 0 && write(copy, bytes, (size_t)count) == count;
    }
    done = done && dup2(copy, descriptor) >= 0;
    (void)close(source);
    (void)close(copy);
    return done;
}

// Gives this process copies of all files of the trunk that are open for writing.
static bool copy_files(const warm_t *warm)
{
    char *const inside = sim_format("%s/" STAGE "/", warm->trunk);
    DIR *const folder = opendir("/proc/self/fd");
    bool done = folder != NULL;
    for (const struct dirent *entry = done ? readdir(folder) : NULL; entry != NULL && done;
         entry = readdir(folder)) {
        char path[4096];
        const int descriptor = (int)strtol(entry->d_name, NULL, 10); // 0 for "."
        char *const link = sim_format("/proc/self/fd/%d", descriptor);
        const ssize_t size = readlink(link, path, sizeof(path) - 1);
        sim_free(link);
        path[size > 0 ? size : 0] = '\0';
        if (strncmp(path, inside, strlen(inside)) == 0 &&
            (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY) {
            char *const name = sim_format(STAGE "/%s", path + strlen(inside));
            done = copy_file(descriptor, name);
            sim_free(name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    sim_free(inside);
    return done;
}

static void put_text(results_file_t *file, const void *text)
{
    results_file_put(file, text);
}

// Writes scenario.yaml with the failure.
static bool write_scenario(const warm_t *warm)
{
    world_error_t error;
    char *const text = world_scenario_resolved(warm->scenario);
    const bool done = results_file_write(STAGE, "scenario.yaml", put_text, text, &error) == SIM_OK;
    sim_free(text);
    return done;
}

// Lets the part of the row fail. Returns false if that is not possible at its time.
static bool fail_part(const warm_t *warm, const world_t *world)
{
    const cli_what_if_runs_t *const runs = warm->pool->runs;
    const cli_change_t *const change = cli__what_if_change(runs, warm->row);
    const world_place_t place = {"rocesim what-if", 0, 0};
    sim_time_t at_ps = runs->what_if->at_ps;
    world_error_t error;
    return change == NULL ||
           (world_add_fault(world, warm->scenario, &place, (const char *const *)change->fault,
                            runs->what_if->at_ps, SIM_TIME_NEVER, &at_ps, &error) == SIM_OK &&
            at_ps == runs->what_if->at_ps);
}

// Goes to the folder of the trunk, in which results are written.
static sim_err_t go_to_trunk(world_t *world, void *ctx, world_error_t *error)
{
    const warm_t *const warm = ctx;
    (void)world;
    return chdir(warm->trunk) == 0
               ? SIM_OK
               : world_fail(error, SIM_ERR_IO, WORLD_FILE(warm->trunk), "cannot go to the folder");
}

// Goes on in the process of a row, to the end of its run.
static void go_on(warm_t *warm, const world_t *world)
{
    const cli_what_if_runs_t *const runs = warm->pool->runs;
    warm->own = sim_format("%s/%zu", runs->folder, warm->row);
    warm->diverged = mkdir(warm->own, 0777) != 0 || chdir(warm->own) != 0 ||
                     mkdir(RESULTS, 0777) != 0 || mkdir(STAGE, 0777) != 0 || !copy_files(warm) ||
                     !fail_part(warm, world) || !write_scenario(warm);
    if (!warm->diverged) {
        (void)sim_step(world->sim, SIM_TIME_END - 1);
    }
}

static sim_ended_t drive(world_t *world, void *ctx)
{
    warm_t *const warm = ctx;
    const sim_time_t at_ps = warm->pool->runs->what_if->at_ps;
    const sim_time_t before_ps = SIM_MIN(margin_ps(world->net), at_ps);
    (void)sim_step(world->sim, at_ps - before_ps);
    warm->row = cli__what_if_run_all(warm->pool, true);
    if (warm->row != CLI__WHAT_IF_NO_ROW) {
        go_on(warm, world);
    }
    return sim_last_step(world->sim);
}

// Ends the process of a row.
static _Noreturn void end_row(const warm_t *warm, const results_run_t *run)
{
    const cli_what_if_runs_t *const runs = warm->pool->runs;
    if (run != NULL && !warm->diverged && results_files_whole(run)) {
        cli__what_if_leave(runs, warm->row, run, RESULTS);
    } else if (fchdir(warm->home) == 0) {
        sim_folder_remove(warm->own);
        cli__what_if_run_cold(runs, warm->row);
    }
    (void)fchdir(warm->home);
    sim_folder_remove(warm->own);
    _exit(0);
}

void cli__what_if_run_warm(cli__what_if_pool_t *pool)
{
    const cli_what_if_runs_t *const runs = pool->runs;
    warm_t warm = {
        .pool = pool,
        .trunk = sim_format("%s/trunk", runs->folder),
        .home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        .row = CLI__WHAT_IF_NO_ROW,
    };
    const results_options_t options = {.folder = RESULTS,
                                       .brief = true,
                                       .built = go_to_trunk,
                                       .drive = drive,
                                       .ctx = &warm};
    // Files of the scenario are found from another folder, too.
    char *const absolute = realpath(runs->scenario, NULL);
    results_run_t *run = NULL;
    world_error_t ignored;
    sim_err_t result =
        warm.home >= 0 && absolute != NULL && mkdir(warm.trunk, 0777) == 0 ? SIM_OK : SIM_ERR_IO;
    if (result == SIM_OK) {
        result = world_scenario_load(NULL, absolute, runs->overrides, runs->override_count,
                                     &warm.scenario, &ignored);
    }
    if (result == SIM_OK) {
        result = world_scenario_by_steps(warm.scenario, "rocesim what-if", &ignored);
    }
    if (result == SIM_OK) {
        warm.scenario->fails = true;
        result = results_execute(warm.scenario, &options, &run, &ignored);
    }
    if (warm.row != CLI__WHAT_IF_NO_ROW) {
        end_row(&warm, result == SIM_OK ? run : NULL);
    }
    SIM_CHECK(warm.home < 0 || fchdir(warm.home) == 0);
    results_run_destroy(run);
    world_scenario_destroy(warm.scenario);
    (void)close(warm.home);
    free(absolute);
    sim_folder_remove(warm.trunk);
    sim_free(warm.trunk);
}
