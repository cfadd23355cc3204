// SPDX-License-Identifier: Apache-2.0
// cli/arena/command.c - `rocesim arena`: reads the options, runs the cells, writes the results.
#include "cli/arena/health.h"
#include "cli/arena/measure.h"
#include "cli/arena/page.h"
#include "cli/arena/score.h"
#include "cli/arena/store.h"

#include "cli/command.h"
#include "cli/output.h"
#include "cli/sweep/jobs.h"
#include "kernel/parse.h"
#include "kernel/random.h"
#include "kernel/scratch.h"
#include "nic/congestion.h"
#include "world/scenario.h"
#include "world/yaml_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define SEEDS 5u // so that the interval is t = 2.8 standard errors wide to each side
#define SEEDS_MAX 1000u
#define CONTROLS_MAX 100u

// -- options

static sim_err_t take_number(const char *option, const char *text, uint64_t low, uint64_t high,
                             uint64_t *number, world_error_t *error)
{
    sim_message_t message;
    if (text != NULL &&
        (sim_parse_count(text, number, &message) != SIM_OK || *number < low || *number > high)) {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_RANGE, NULL,
                          "rocesim arena: %s is '%s', expected a number from %" PRIu64
                          " to %" PRIu64,
                          option, world_show(&shown, text), low, high);
    }
    return SIM_OK;
}

// Fills in the seeds: 1, 2, 3..., or numbers that the hidden seed draws.
static sim_err_t take_seeds(const cli_args_t *args, cli_arena_t *arena, uint64_t *hidden,
                            world_error_t *error)
{
    uint64_t count = args->quick ? 1 : SEEDS;
    sim_err_t result = take_number("--seeds", args->seed_count, 1, SEEDS_MAX, &count, error);
    if (result == SIM_OK && args->hidden_seed != NULL) {
        result =
            take_number("--hidden-seed", args->hidden_seed, 0, UINT64_C(1) << 62, hidden, error);
        arena->hidden = hidden;
    }
    arena->seed_count = (size_t)count;
    arena->seeds = sim_alloc_array(arena->seed_count, sizeof(*arena->seeds));
    sim_random_t random;
    sim_random_init(&random, *hidden, 0, "arena seeds");
    for (size_t s = 0; s < arena->seed_count; s++) {
        arena->seeds[s] =
            arena->hidden != NULL ? sim_random_below(&random, UINT64_C(1) << 31) : s + 1;
    }
    return result;
}

// Returns the next name of a list with commas, and moves *list behind it; NULL: the end.
static char *next_name(const char **list)
{
    if (*list == NULL) {
        return NULL;
    }
    const size_t size = strcspn(*list, ",");
    char *const name = sim_format("%.*s", (int)size, *list);
    *list = (*list)[size] == ',' ? *list + size + 1 : NULL;
    return name;
}

static sim_err_t unknown_cell(const char *name, world_error_t *error)
{
    world_shown_t shown;
    const char **const names = sim_alloc_array(cli_arena_cell_count, sizeof(*names));
    for (size_t i = 0; i < cli_arena_cell_count; i++) {
        names[i] = cli_arena_cells[i].name;
    }
    (void)world_fail(error, SIM_ERR_UNKNOWN, NULL, "rocesim arena: no cell '%s'",
                     world_show(&shown, name));
    (void)world_error_add_nearest(error, name, names, cli_arena_cell_count);
    world_error_add_expected(error, "a name that rocesim arena --list prints");
    sim_free(names);
    return SIM_ERR_UNKNOWN;
}

static sim_err_t take_cells(const cli_args_t *args, cli_arena_t *arena, world_error_t *error)
{
    arena->cells = sim_alloc_array(cli_arena_cell_count, sizeof(*arena->cells));
    const char *list = args->cells;
    char *name = NULL;
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < cli_arena_cell_count && list == NULL; i++) {
        arena->cells[arena->cell_count++] = &cli_arena_cells[i];
    }
    while (result == SIM_OK && (name = next_name(&list)) != NULL) {
        const cli_arena_cell_t *const cell = cli_arena_cell_find(name);
        bool twice = false;
        for (size_t i = 0; i < arena->cell_count; i++) {
            twice = twice || arena->cells[i] == cell;
        }
        if (cell == NULL) {
            result = unknown_cell(name, error);
        } else if (twice) {
            result = world_fail(error, SIM_ERR_INVALID, NULL,
                                "rocesim arena: --cells has '%s' twice, expected it once", name);
        } else {
            arena->cells[arena->cell_count++] = cell;
        }
        sim_free(name);
    }
    return result;
}

static sim_err_t add_control(cli_arena_t *arena, const char *name, world_error_t *error)
{
    world_shown_t shown;
    for (size_t k = 0; k < arena->control_count; k++) {
        if (strcmp(arena->controls[k].name, name) == 0) {
            return world_fail(error, SIM_ERR_INVALID, NULL,
                              "rocesim arena: --cc has '%s' twice, expected it once",
                              world_show(&shown, name));
        }
    }
    if (arena->control_count >= CONTROLS_MAX) {
        return world_fail(error, SIM_ERR_RANGE, NULL,
                          "rocesim arena: --cc has more than %u names, expected fewer",
                          CONTROLS_MAX);
    }
    (void)cli_arena_add(arena, name);
    return SIM_OK;
}

// Adds the controls of --cc. "all" stands for those of the library.
static sim_err_t take_controls(const cli_args_t *args, cli_arena_t *arena, world_error_t *error)
{
    const char *list = args->controls;
    char *name = NULL;
    sim_err_t result = SIM_OK;
    if (list == NULL || list[0] == '\0') {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim arena: no --cc, expected names of congestion controls, or all: "
                          "--cc dcqcn,hpcc");
    }
    while (result == SIM_OK && (name = next_name(&list)) != NULL) {
        if (strcmp(name, "all") != 0) {
            result = add_control(arena, name, error);
        }
        for (size_t i = 0; strcmp(name, "all") == 0 && nic_cc_all[i] != NULL && result == SIM_OK;
             i++) {
            result = add_control(arena, nic_cc_all[i]->name, error);
        }
        sim_free(name);
    }
    return result;
}

// Fills in the sum over everything that results depend on besides the control.
static void take_suite(const cli_args_t *args, cli_arena_t *arena)
{
    unsigned long sum = crc32(0, (const Bytef *)ROCESIM_VERSION, sizeof(ROCESIM_VERSION));
    for (size_t c = 0; c < arena->cell_count; c++) {
        char *const text = cli_arena_cell_text(arena->cells[c], arena->hidden);
        sum = crc32(sum, (const Bytef *)text, (uInt)strlen(text));
        sim_free(text);
    }
    for (size_t s = 0; s < arena->seed_count; s++) {
        char *const text = sim_format("%" PRIu64 " ", arena->seeds[s]);
        sum = crc32(sum, (const Bytef *)text, (uInt)strlen(text));
        sim_free(text);
    }
    for (size_t i = 0; i < args->override_count; i++) {
        const char *const text = args->overrides[i].text;
        const bool plugin = strncmp(text, "plugins[+]=", strlen("plugins[+]=")) == 0;
        sum = plugin ? sum : crc32(sum, (const Bytef *)text, (uInt)strlen(text) + 1);
    }
    arena->suite = sim_format("%08lx", sum);
}

// Loads a cell with a control, so that a wrong name or setting is reported once, before any run.
static sim_err_t check_control(const cli_args_t *args, const cli_arena_t *arena,
                               const char *control, world_error_t *error)
{
    const cli_arena_published_t *const published = cli_arena_published(control);
    world_override_t *const overrides = sim_alloc_array(
        args->override_count + 1 + SIM_COUNT_OF(published->settings), sizeof(*overrides));
    size_t count = 0;
    for (size_t i = 0; published != NULL && published->settings[i] != NULL; i++) {
        const char *const text = published->settings[i];
        overrides[count++] = (world_override_t){.shown = text, .text = text};
    }
    for (size_t i = 0; i < args->override_count; i++) {
        overrides[count++] = args->overrides[i];
    }
    char *const setting = sim_format("nic.congestion-control=%s", control);
    char *const shown = sim_format("--cc %s", control);
    overrides[count++] = (world_override_t){.shown = shown, .text = setting};
    char *const text = cli_arena_cell_text(arena->cells[0], arena->hidden);
    world_document_t *const document = world_document_create();
    world_tree_t *root = NULL;
    world_scenario_t *scenario = NULL;
    sim_err_t result =
        world_yaml_parse(document, arena->cells[0]->name, true, text, strlen(text), &root, error);
    if (result == SIM_OK) {
        result = world_scenario_load_tree(NULL, document, root, arena->cells[0]->name, overrides,
                                          count, &scenario, error);
    } else {
        world_document_destroy(document);
    }
    world_scenario_destroy(scenario);
    SIM_FREE_ALL(text, shown, setting, overrides);
    return result;
}

// Compiles the plug-ins and notes their names and hashes.
static sim_err_t take_plugins(const cli_args_t *args, cli_arena_t *arena, world_error_t *error)
{
    arena->plugins = json_array();
    for (size_t i = 0; i < args->plugin_count; i++) {
        world_plugin_file_t file;
        const sim_err_t result = world_plugin_locate(args->plugins[i], &file, error);
        if (result != SIM_OK) {
            return result;
        }
        json_array_append_new(arena->plugins,
                              json_pack("{s:s, s:s}", "name", file.name, "sha256", file.sha256));
        sim_free(file.path);
        sim_free(file.object);
    }
    return SIM_OK;
}

static sim_err_t take_options(const cli_args_t *args, cli_arena_t *arena, uint64_t *hidden,
                              unsigned *jobs, world_error_t *error)
{
    sim_err_t result = cli_sweep_take_jobs(args, jobs, error);
    if (result == SIM_OK) {
        result = take_seeds(args, arena, hidden, error);
    }
    if (result == SIM_OK) {
        result = take_cells(args, arena, error);
    }
    if (result == SIM_OK) {
        result = take_controls(args, arena, error);
    }
    if (result == SIM_OK) {
        result = take_plugins(args, arena, error);
    }
    // With limits, the plug-ins are loaded by the runs alone.
    for (size_t k = 0; k < arena->control_count && result == SIM_OK && !args->plugin_limits; k++) {
        result = check_control(args, arena, arena->controls[k].name, error);
    }
    if (result == SIM_OK) {
        take_suite(args, arena);
    }
    return result;
}

// -- runs

// Lists the runs: cell by cell, so that those of a cell end together; then control, then seed.
static void list_runs(const cli_args_t *args, const cli_arena_t *arena, size_t controls,
                      const char *folder, cli_sweep_t *sweep)
{
    static const char *const parameter = "nic.congestion-control";
    sweep->folder = folder;
    sweep->ranks = 1;
    char *const plugins = json_dumps(arena->plugins, JSON_COMPACT);
    SIM_CHECK(plugins != NULL);
    // Runs of another text of a plug-in are not gone on with.
    sweep->identity = sim_format("arena %s %08lx", arena->suite,
                                 crc32(0, (const Bytef *)plugins, (uInt)strlen(plugins)));
    free(plugins);
    SIM_APPEND(sweep->parameters, sweep->parameter_count, sweep->parameter_capacity,
               sim_strdup(parameter));
    for (size_t i = 0; i < args->override_count; i++) {
        SIM_APPEND(sweep->overrides, sweep->override_count, sweep->override_capacity,
                   args->overrides[i]);
    }
    sweep->plugin_limits = args->plugin_limits;
    sweep->point_count = arena->cell_count * controls;
    sweep->points = sim_alloc_array(sweep->point_count, sizeof(*sweep->points));
    sweep->run_count = sweep->point_count * arena->seed_count;
    sweep->runs = sim_alloc_array(sweep->run_count, sizeof(*sweep->runs));
    for (size_t p = 0; p < sweep->point_count; p++) {
        const char *const cell = arena->cells[p / controls]->name;
        const char *const control = arena->controls[p % controls].name;
        const cli_arena_published_t *const published = cli_arena_published(control);
        cli_sweep_point_t *const point = &sweep->points[p];
        point->values = sim_alloc_array(1, sizeof(*point->values));
        point->values[0] = sim_strdup(control);
        point->scenario = sim_format("%s/cells/%s.yaml", folder, cell);
        point->settings = published != NULL ? published->settings : NULL;
        for (size_t s = 0; s < arena->seed_count; s++) {
            char *const name = sim_format("%s-%s-s%" PRIu64, cell, control, arena->seeds[s]);
            sweep->runs[p * arena->seed_count + s] = (cli_sweep_run_t){
                .point = p,
                .seed = arena->seeds[s],
                .name = name,
                .folder = sim_format("%s/runs/%s", folder, name),
            };
        }
    }
}

static void put_text(results_file_t *file, const void *text)
{
    results_file_put(file, text);
}

// Writes the cells as scenarios that also run alone.
static sim_err_t write_cells(const cli_arena_t *arena, const char *folder, world_error_t *error)
{
    char *const cells = sim_format("%s/cells", folder);
    sim_err_t result = SIM_OK;
    if (mkdir(cells, 0777) != 0 && errno != EEXIST) {
        result = world_fail(error, SIM_ERR_IO, WORLD_FILE(cells), "cannot make the folder: %s",
                            strerror(errno));
    }
    for (size_t c = 0; c < arena->cell_count && result == SIM_OK; c++) {
        char *const name = sim_format("%s.yaml", arena->cells[c]->name);
        char *const text = cli_arena_cell_text(arena->cells[c], arena->hidden);
        result = results_file_write(cells, name, put_text, text, error);
        sim_free(text);
        sim_free(name);
    }
    sim_free(cells);
    return result;
}

// Measures the runs. Returns the number of those that failed.
static size_t measure(cli_arena_t *arena, size_t controls, const cli_sweep_t *sweep)
{
    size_t failed = 0;
    for (size_t r = 0; r < sweep->run_count; r++) {
        const cli_sweep_run_t *const run = &sweep->runs[r];
        const size_t cell = run->point / controls;
        cli_arena_result_t *const result = &arena->controls[run->point % controls].results[cell];
        world_error_t error;
        const char *failure = run->failure;
        if (run->summary != NULL &&
            cli_arena_measure(arena, arena->cells[cell], run->folder, run->summary,
                              r % arena->seed_count, result->values, &error) != SIM_OK) {
            failure = error.text;
        }
        if (failure != NULL) {
            fprintf(stderr, "%s: %s\n", run->name, failure);
            result->failure = result->failure != NULL ? result->failure : sim_strdup(failure);
            failed++;
        }
    }
    return failed;
}

static sim_err_t write_results(const cli_arena_t *arena, const char *folder, const char *json,
                               world_error_t *error)
{
    sim_err_t result = results_file_write(folder, "arena.json", put_text, json, error);
    if (result == SIM_OK) {
        result = results_file_write(folder, "arena.html", cli_arena_put_page, arena, error);
    }
    if (result == SIM_OK) {
        result = results_file_write(folder, "arena.tex", cli_arena_put_latex, arena, error);
    }
    return result;
}

// Computes, writes and prints the results of the runs. Returns the exit status.
static int report(const cli_args_t *args, cli_arena_t *arena, size_t controls,
                  const cli_sweep_t *sweep, const char *folder)
{
    world_error_t error;
    int status = measure(arena, controls, sweep) > 0 ? CLI_EXIT_FAILED : CLI_EXIT_DONE;
    cli_arena_score(arena);
    cli_arena_examine(arena);
    json_t *const json = cli_arena_json(arena);
    char *const text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    SIM_CHECK(text != NULL);
    if (args->folder != NULL && write_results(arena, folder, text, &error) != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_FAILED);
    }
    if (args->json) {
        puts(text);
    } else {
        cli_arena_print(arena, stdout);
    }
    free(text);
    json_decref(json);
    return status;
}

// Runs all cells in the folder, and writes and prints the results. Returns the exit status.
static int compete(const cli_args_t *args, cli_arena_t *arena, const char *folder, unsigned jobs)
{
    world_error_t error;
    cli_sweep_t sweep = {0};
    results_lock_t *lock = NULL;
    const size_t controls = arena->control_count;
    int status = CLI_EXIT_DONE;
    list_runs(args, arena, controls, folder, &sweep);
    if ((args->baseline != NULL &&
         cli_arena_add_baseline(arena, args->baseline, &error) != SIM_OK) ||
        cli_sweep_take_folder(&sweep, &lock, &error) != SIM_OK ||
        write_cells(arena, folder, &error) != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else {
        for (size_t i = 0; i < sweep.run_count; i++) {
            cli_sweep_look(&sweep.runs[i]);
        }
        if (!cli_sweep_work(&sweep, jobs, args->quiet)) {
            fprintf(stderr, "interrupted%s\n",
                    args->folder != NULL ? ": the same command goes on with the runs that are left"
                                         : "");
            status = CLI_EXIT_FAILED;
        }
    }
    if (status == CLI_EXIT_DONE) {
        status = report(args, arena, controls, &sweep, folder);
    }
    results_lock_release(lock);
    cli_sweep_fini(&sweep);
    return status;
}

// -- the command

static void print_list(void)
{
    for (size_t i = 0; i < cli_arena_cell_count; i++) {
        printf("%-18s %s\n", cli_arena_cells[i].name, cli_arena_cells[i].about);
    }
}

static sim_err_t show_cell(const char *name, const uint64_t *hidden, world_error_t *error)
{
    const cli_arena_cell_t *const cell = cli_arena_cell_find(name);
    if (cell == NULL) {
        return unknown_cell(name, error);
    }
    char *const text = cli_arena_cell_text(cell, hidden);
    fputs(text, stdout);
    sim_free(text);
    return SIM_OK;
}

int cli_command_arena(const cli_args_t *args)
{
    world_error_t error;
    cli_arena_t arena = {0};
    uint64_t hidden = 0;
    unsigned jobs = 2;
    sim_scratch_t scratch = {0};
    int status = CLI_EXIT_DONE;
    if (args->list_cells) {
        print_list();
        return cli_finish_output(CLI_EXIT_DONE);
    }
    sim_err_t result = args->show_cell != NULL ? take_seeds(args, &arena, &hidden, &error)
                                               : take_options(args, &arena, &hidden, &jobs, &error);
    if (result == SIM_OK && args->show_cell != NULL) {
        result = show_cell(args->show_cell, arena.hidden, &error);
    } else if (result == SIM_OK && args->folder == NULL) {
        result = sim_scratch_make(&scratch, NULL, "rocesim-scratch")
                     ? SIM_OK
                     : world_fail(&error, SIM_ERR_IO, NULL,
                                  "rocesim arena: cannot make a folder for the runs: %s",
                                  strerror(errno));
    }
    if (result != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else if (args->show_cell == NULL) {
        status =
            compete(args, &arena, scratch.folder != NULL ? scratch.folder : args->folder, jobs);
    }
    sim_scratch_remove(&scratch);
    cli_arena_fini(&arena);
    return cli_finish_output(status);
}
