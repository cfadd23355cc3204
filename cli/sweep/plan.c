// SPDX-License-Identifier: Apache-2.0
// cli/sweep/plan.c - reads a sweep file and lists its runs.
#include "cli/library.h"
#include "cli/sweep/columns.h"
#include "cli/sweep/direct.h"
#include "cli/sweep/points.h"
#include "cli/sweep/sweep.h"
#include "kernel/parse.h"
#include "results/summary.h"
#include "world/bind.h"
#include "world/ranks.h"
#include "world/scenario.h"
#include "world/world.h"

#include <string.h>

#define SEEDS_MAX 10000u
#define COLUMN_TRIES 8 // points that are built to find one with all columns

static const char *const keys[] = {"scenario", "set",   "variants", "grid",       "points",
                                   "seeds",    "quick", "columns",  "description"};

static void free_texts(char **texts, size_t count)
{
    sim_free_each(texts, count);
    sim_free(texts);
}

static sim_err_t check_keys(const world_tree_t *root, world_error_t *error)
{
    if (root->kind != WORLD_TREE_MAP) {
        return world_tree_fail(root, "the sweep",
                               "a mapping with 'scenario' and 'grid' or 'points'", error);
    }
    return world_tree_check_keys(root, "a sweep", keys, SIM_COUNT_OF(keys), "docs/formats/sweep.md",
                                 error);
}

static sim_err_t take_scenario(cli_sweep_t *sweep, const world_tree_t *root, world_error_t *error)
{
    const world_tree_t *const value = world_tree_value(root, "scenario");
    if (value == NULL || value->kind != WORLD_TREE_SCALAR) {
        return world_fail(error, SIM_ERR_INVALID, value == NULL ? &root->place : &value->place,
                          "no scenario, expected its file or its name: 'scenario: base.yaml'");
    }
    sweep->scenario = cli_library_beside(sweep->file_name, value->text);
    return SIM_OK;
}

// Adds the settings of a mapping for all runs.
static sim_err_t take_settings(cli_sweep_t *sweep, const world_tree_t *map, world_error_t *error)
{
    if (map != NULL && map->kind != WORLD_TREE_MAP) {
        return world_tree_fail(map, "set", "a mapping of paths to values", error);
    }
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        char *const text = cli_sweep_setting(&map->entries[i], error);
        if (text == NULL) {
            return SIM_ERR_INVALID;
        }
        size_t capacity = sweep->setting_capacity;
        SIM_GROW(sweep->setting_places, sweep->setting_count, &capacity);
        sweep->setting_places[sweep->setting_count] = &map->entries[i].value->place;
        SIM_APPEND(sweep->settings, sweep->setting_count, sweep->setting_capacity, text);
    }
    return SIM_OK;
}

static void add_seed(cli_sweep_t *sweep, uint64_t seed)
{
    SIM_APPEND(sweep->seeds, sweep->seed_count, sweep->seed_capacity, seed);
}

// Reads the seeds: a list, or a number n for the seeds 1 to n.
static sim_err_t take_seeds(cli_sweep_t *sweep, const world_tree_t *value, world_error_t *error)
{
    const bool list = value != NULL && value->kind == WORLD_TREE_LIST;
    if (value == NULL) {
        add_seed(sweep, 1);
        return SIM_OK;
    }
    const size_t count = list ? value->count : 1;
    for (size_t i = 0; i < count; i++) {
        const world_tree_t *const item = list ? value->entries[i].value : value;
        uint64_t number = 0;
        sim_message_t message;
        if (item->kind != WORLD_TREE_SCALAR || item->is_null ||
            sim_parse_count(item->text, &number, &message) != SIM_OK ||
            (!list && (number == 0 || number > SEEDS_MAX))) {
            return world_tree_fail(item, "seeds", "how many (1 to 10000) or a list of numbers",
                                   error);
        }
        for (uint64_t seed = 1; !list && seed <= number; seed++) {
            add_seed(sweep, seed);
        }
        if (list) {
            add_seed(sweep, number);
        }
    }
    return sweep->seed_count > 0 ? SIM_OK : world_tree_fail(value, "seeds", "at least one", error);
}

// Puts the number of seeds of the command line in the place of the file's seeds, also of those of
// its shorter form.
static sim_err_t give_seeds(const cli_sweep_t *sweep, const char *text, world_tree_t *root,
                            world_error_t *error)
{
    uint64_t number = 0;
    sim_message_t message;
    if (sim_parse_count(text, &number, &message) != SIM_OK || number == 0 || number > SEEDS_MAX) {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_RANGE, NULL,
                          "rocesim sweep: --seeds is '%s', expected how many: 1 to %u",
                          world_show(&shown, text), SEEDS_MAX);
    }
    const world_place_t place = {.origin = "--seeds"};
    world_tree_t *const value = world_tree_new_scalar(sweep->document, place, text);
    world_tree_t *const quick = sweep->quick ? world_tree_value(root, "quick") : NULL;
    world_tree_entry_t *const shorter = quick != NULL ? world_tree_find(quick, "seeds") : NULL;
    world_tree_entry_t *const own = shorter != NULL ? shorter : world_tree_find(root, "seeds");
    if (own != NULL) {
        own->value = value;
    } else {
        world_tree_add(root, world_tree_new_scalar(sweep->document, place, "seeds"), value);
    }
    return SIM_OK;
}

static void add_column(cli_sweep_t *sweep, const char *path)
{
    SIM_APPEND(sweep->columns, sweep->column_count, sweep->column_capacity, sim_strdup(path));
}

// Adds the columns of a sweep that names none: fields of summary.json that their rows mark as such.
static void add_usual_columns(cli_sweep_t *sweep)
{
    static const results_section_t sections[] = {RESULTS_SECTION_FLOWS, RESULTS_SECTION_RATES,
                                                 RESULTS_SECTION_TIMES, RESULTS_SECTION_NETWORK,
                                                 RESULTS_SECTION_HEAD};
    size_t count = 0;
    results_summary_field_t *const fields = results_summary_fields(&count);
    for (size_t s = 0; s < SIM_COUNT_OF(sections); s++) {
        for (size_t i = 0; i < count; i++) {
            if (fields[i].swept && fields[i].section == sections[s]) {
                add_column(sweep, fields[i].path);
            }
        }
    }
    sim_free(fields);
}

static sim_err_t take_columns(cli_sweep_t *sweep, const world_tree_t *list, world_error_t *error)
{
    if (list == NULL) {
        add_usual_columns(sweep);
        return SIM_OK;
    }
    if ((list->kind != WORLD_TREE_LIST || list->count == 0)) {
        return world_tree_fail(list, "columns", "a list of paths in summary.json", error);
    }
    for (size_t i = 0; i < list->count; i++) {
        const world_tree_t *const item = list->entries[i].value;
        if (item->kind != WORLD_TREE_SCALAR || item->is_null ||
            strncmp(item->text, "wall_", 5) == 0) {
            return world_tree_fail(item, "a column",
                                   "a path in summary.json that is no wall_ value", error);
        }
        add_column(sweep, item->text);
    }
    sweep->column_list = list;
    return cli_sweep_check_columns(list, NULL, error);
}

static void list_runs(cli_sweep_t *sweep)
{
    sweep->run_count = sweep->point_count * sweep->seed_count;
    sweep->runs = sim_alloc_array(sweep->run_count, sizeof(*sweep->runs));
    int digits = 1;
    for (size_t most = sweep->point_count; most >= 10; most /= 10) {
        digits++;
    }
    for (size_t i = 0; i < sweep->run_count; i++) {
        const size_t point = i / sweep->seed_count;
        const uint64_t seed = sweep->seeds[i % sweep->seed_count];
        char *const name = sim_format("p%0*zu-s%" PRIu64, digits, point + 1, seed);
        sweep->runs[i] = (cli_sweep_run_t){
            .point = point,
            .seed = seed,
            .name = name,
            .folder = sim_format("%s/runs/%s", sweep->folder, name),
        };
    }
}

// The findings about the points that were built so far.
typedef struct building {
    bool built;         // one was
    bool columns_good;  // one has all columns
    size_t tries;       // points built for the columns
    world_error_t why;  // the first point cannot be built
    world_error_t lack; // the first column that the first built point lacks
} building_t;

// Builds a point. Missing files, patterns without a match and unknown columns show only here.
static void build(const cli_sweep_t *sweep, const world_scenario_t *scenario, bool first,
                  building_t *building)
{
    world_error_t error;
    json_t *const summary = cli_sweep_begun_summary(scenario, first ? &building->why : &error);
    if (summary == NULL) {
        return;
    }
    building->columns_good =
        sweep->column_list == NULL ||
        cli_sweep_check_columns(sweep->column_list, summary,
                                building->built ? &error : &building->lack) == SIM_OK;
    building->built = true;
    building->tries++;
    json_decref(summary);
}

// Adds "PATH=VALUE" of the file or the command line, with its place, to the overrides of a point.
static void add_override(world_override_t *overrides, size_t *count, char *text,
                         const world_place_t *place)
{
    char *const where = place->line == 0
                            ? sim_format("%s: ", place->origin)
                            : sim_format("%s:%d:%d: ", place->origin, place->line, place->column);
    overrides[(*count)++] = (world_override_t){text, text, where};
}

// Loads a point's scenario, and builds it where that can find something new.
static sim_err_t check_point(const cli_sweep_t *sweep, size_t p, building_t *building,
                             world_error_t *error)
{
    const cli_sweep_point_t *const point = &sweep->points[p];
    size_t most = sweep->setting_count + sweep->parameter_count + sweep->override_count + 1;
    for (const char *const *own = point->settings; own != NULL && *own != NULL; own++) {
        most++;
    }
    world_override_t *const overrides = sim_alloc_array(most, sizeof(*overrides));
    size_t count = 0;
    for (size_t i = 0; i < sweep->setting_count; i++) {
        add_override(overrides, &count, sim_strdup(sweep->settings[i]), sweep->setting_places[i]);
    }
    for (const char *const *own = point->settings; own != NULL && *own != NULL; own++) {
        add_override(overrides, &count, sim_strdup(*own), point->places[0]);
    }
    for (size_t i = sweep->variant_count > 0; i < sweep->parameter_count; i++) {
        char *const text = sim_format("%s=%s", sweep->parameters[i], point->values[i]);
        add_override(overrides, &count, text, point->places[i]);
    }
    const size_t made = count;
    for (size_t i = 0; i < sweep->override_count; i++) {
        overrides[count++] = sweep->overrides[i];
    }
    world_scenario_t *scenario = NULL;
    sim_err_t result =
        world_scenario_load(NULL, sweep->scenario, overrides, count, &scenario, error);
    if (result == SIM_OK && sweep->ranks > 1) {
        result = world_ranks_check(scenario, error);
    }
    static const app_programs_t looked_at = {.start = false};
    if (result == SIM_OK) {
        scenario->programs = sweep->starts_programs ? &looked_at : NULL;
        if (!building->built || (!building->columns_good && building->tries < COLUMN_TRIES)) {
            build(sweep, scenario, p == 0, building);
        }
    }
    world_scenario_destroy(scenario);
    for (size_t i = 0; i < made; i++) {
        sim_free((void *)(uintptr_t)overrides[i].text);
        sim_free((void *)(uintptr_t)overrides[i].where);
    }
    sim_free(overrides);
    return result;
}

// Checks all points before anything runs, so that a mistake is reported once and not by every run.
// A point that cannot be built is refused only if no point can be built; a column only if none of
// the points that were built has it.
static sim_err_t check_points(const cli_sweep_t *sweep, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    building_t building = {0};
    for (size_t p = 0; p < sweep->point_count && result == SIM_OK; p++) {
        result = check_point(sweep, p, &building, error);
    }
    if (result == SIM_OK && !building.built) {
        *error = building.why;
        result = SIM_ERR_INVALID;
    } else if (result == SIM_OK && !building.columns_good) {
        *error = building.lack;
        result = SIM_ERR_INVALID;
    }
    return result;
}

sim_err_t cli_sweep_load(const cli_args_t *args, const char *folder, unsigned ranks,
                         cli_sweep_t *sweep, world_error_t *error)
{
    const char *const file_name = args->operands[0];
    *sweep = (cli_sweep_t){
        .file_name = file_name,
        .folder = folder,
        .ranks = ranks,
        .quick = args->quick,
        .starts_programs = args->starts_programs,
        .plugin_limits = args->plugin_limits,
    };
    sweep->document = world_document_create();
    world_tree_t *root = NULL;
    sim_err_t result = world_yaml_read(sweep->document, file_name, &root, error);
    if (result == SIM_OK && cli_sweep_is_scenario(root)) {
        result = cli_sweep_of_scenario(sweep, args, &root, error);
    }
    if (result == SIM_OK && args->seed_count != NULL) {
        result = give_seeds(sweep, args->seed_count, root, error);
    }
    if (result == SIM_OK) {
        result = check_keys(root, error);
    }
    if (result == SIM_OK) {
        result = take_scenario(sweep, root, error);
    }
    const world_tree_t *const quick = result == SIM_OK ? world_tree_value(root, "quick") : NULL;
    if (quick != NULL && quick->kind != WORLD_TREE_MAP) {
        result =
            world_tree_fail(quick, "quick", "a mapping with other values of these keys", error);
    }
    if (result == SIM_OK) {
        result = take_settings(sweep, world_tree_value(root, "set"), error);
    }
    if (result == SIM_OK && sweep->quick && quick != NULL) {
        result = take_settings(sweep, world_tree_value(quick, "set"), error);
    }
    if (result == SIM_OK) {
        result = cli_sweep_make_points(sweep, args, root, error);
    }
    if (result == SIM_OK) {
        result = take_seeds(sweep, cli_sweep_value(sweep, root, "seeds"), error);
    }
    if (result == SIM_OK) {
        result = take_columns(sweep, world_tree_value(root, "columns"), error);
    }
    SIM_CHECK(result != SIM_OK || sweep->seed_count > 0);
    if (result == SIM_OK && sweep->point_count > CLI_SWEEP_RUNS_MAX / sweep->seed_count) {
        result = cli_sweep_too_many(root, error);
    }
    if (result == SIM_OK) {
        result = cli_sweep_check_twins(sweep, root, error);
    }
    if (result == SIM_OK && !sweep->plugin_limits) {
        result = check_points(sweep, error);
    }
    if (result == SIM_OK) {
        list_runs(sweep);
    }
    return result;
}

void cli_sweep_fini(cli_sweep_t *sweep)
{
    for (size_t i = 0; i < sweep->point_count; i++) {
        cli_sweep_point_fini(&sweep->points[i], sweep->parameter_count);
    }
    for (size_t v = 0; v < sweep->variant_count; v++) {
        for (const char **setting = sweep->variants[v]; *setting != NULL; setting++) {
            sim_free((void *)(uintptr_t)*setting);
        }
        sim_free((void *)sweep->variants[v]);
    }
    sim_free((void *)sweep->variants);
    sim_free((void *)sweep->setting_places);
    sim_free(sweep->overrides);
    sim_free(sweep->points);
    for (size_t i = 0; i < sweep->run_count; i++) {
        SIM_FREE_ALL(sweep->runs[i].name, sweep->runs[i].folder, sweep->runs[i].failure);
        json_decref(sweep->runs[i].summary);
    }
    sim_free(sweep->runs);
    free_texts(sweep->parameters, sweep->parameter_count);
    free_texts(sweep->settings, sweep->setting_count);
    free_texts(sweep->columns, sweep->column_count);
    SIM_FREE_ALL(sweep->seeds, sweep->scenario, sweep->identity);
    world_document_destroy(sweep->document);
}

// -- runs as commands

char **cli_sweep_arguments(const cli_sweep_t *sweep, const cli_sweep_run_t *run)
{
    const cli_sweep_point_t *const point = &sweep->points[run->point];
    size_t own = 0;
    while (point->settings != NULL && point->settings[own] != NULL) {
        own++;
    }
    const size_t most =
        15 + 2 * (own + sweep->setting_count + sweep->parameter_count + sweep->override_count);
    char **const arguments = sim_alloc_array(most, sizeof(*arguments));
    size_t count = 0;
    arguments[count++] = sim_strdup("rocesim");
    arguments[count++] = sim_strdup("run");
    arguments[count++] = sim_strdup(point->scenario != NULL ? point->scenario : sweep->scenario);
    arguments[count++] = sim_strdup("--quiet");
    for (size_t i = 0; i < sweep->setting_count; i++) {
        arguments[count++] = sim_strdup("--set");
        arguments[count++] = sim_strdup(sweep->settings[i]);
    }
    for (size_t i = 0; i < own; i++) {
        arguments[count++] = sim_strdup("--set");
        arguments[count++] = sim_strdup(point->settings[i]);
    }
    for (size_t i = sweep->variant_count > 0; i < sweep->parameter_count; i++) {
        arguments[count++] = sim_strdup("--set");
        arguments[count++] = sim_format("%s=%s", sweep->parameters[i], point->values[i]);
    }
    for (size_t i = 0; i < sweep->override_count; i++) {
        arguments[count++] = sim_strdup("--set");
        arguments[count++] = sim_strdup(sweep->overrides[i].text);
    }
    if (sweep->starts_programs) {
        arguments[count++] = sim_strdup("--programs");
    }
    if (sweep->plugin_limits) {
        arguments[count++] = sim_strdup("--plugin-limits");
    }
    arguments[count++] = sim_strdup("--seed");
    arguments[count++] = sim_format("%" PRIu64, run->seed);
    arguments[count++] = sim_strdup("-o");
    arguments[count++] = sim_strdup(run->folder);
    if (sweep->ranks > 1) {
        arguments[count++] = sim_strdup("--ranks");
        arguments[count++] = sim_format("%u", sweep->ranks);
    }
    SIM_CHECK(count < most);
    return arguments;
}

void cli_sweep_arguments_free(char **arguments)
{
    for (char **argument = arguments; *argument != NULL; argument++) {
        sim_free(*argument);
    }
    sim_free(arguments);
}

// Appends an argument, in single quotes if it has characters that a shell would interpret.
static char *quoted(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+./:,@%";
    if (text[0] != '\0' && strspn(text, plain) == strlen(text)) {
        return sim_strdup(text);
    }
    char *const made = sim_alloc(4 * strlen(text) + 3);
    char *to = made;
    *to++ = '\'';
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *p;
        }
    }
    *to++ = '\'';
    *to = '\0';
    return made;
}

char *cli_sweep_line(char *const *arguments)
{
    char *line = sim_strdup("");
    for (size_t i = 0; arguments[i] != NULL; i++) {
        char *const word = quoted(arguments[i]);
        char *const longer = sim_format("%s%s%s", line, i > 0 ? " " : "", word);
        sim_free(word);
        sim_free(line);
        line = longer;
    }
    return line;
}

char *cli_sweep_command(const cli_sweep_t *sweep, const cli_sweep_run_t *run)
{
    char **const arguments = cli_sweep_arguments(sweep, run);
    char *const line = cli_sweep_line(arguments);
    cli_sweep_arguments_free(arguments);
    return line;
}
