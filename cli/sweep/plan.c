// SPDX-License-Identifier: Apache-2.0
// cli/sweep/plan.c - reads a sweep file and lists its runs.
#include "cli/library.h"
#include "cli/sweep/columns.h"
#include "cli/sweep/sweep.h"
#include "kernel/parse.h"
#include "results/summary.h"
#include "world/bind.h"
#include "world/ranks.h"
#include "world/scenario.h"
#include "world/world.h"

#include <string.h>

#define RUNS_MAX 100000u
#define SEEDS_MAX 10000u
#define COLUMN_TRIES 8 // points that are built to find one with all columns

static const char *const keys[] = {"scenario", "set", "grid", "points", "seeds", "columns"};

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sim_free(texts[i]);
    }
    sim_free(texts);
}

static const world_tree_t *value_of(const world_tree_t *map, const char *key)
{
    const world_tree_entry_t *const entry = world_tree_find(map, key);
    return entry == NULL || entry->value->is_null ? NULL : entry->value;
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
    const world_tree_t *const value = value_of(root, "scenario");
    if (value == NULL || value->kind != WORLD_TREE_SCALAR) {
        return world_fail(error, SIM_ERR_INVALID, value == NULL ? &root->place : &value->place,
                          "no scenario, expected its file or its name: 'scenario: base.yaml'");
    }
    sweep->scenario = cli_library_beside(sweep->file_name, value->text);
    return SIM_OK;
}

static sim_err_t take_settings(cli_sweep_t *sweep, const world_tree_t *map, world_error_t *error)
{
    if (map == NULL) {
        return SIM_OK;
    }
    if (map->kind != WORLD_TREE_MAP) {
        return world_tree_fail(map, "set", "a mapping of paths to values", error);
    }
    sweep->setting_map = map;
    for (size_t i = 0; i < map->count; i++) {
        char *const text =
            world_value_text(map->entries[i].value, map->entries[i].key->text, error);
        if (text == NULL) {
            return SIM_ERR_INVALID;
        }
        SIM_APPEND(sweep->settings, sweep->setting_count, sweep->setting_capacity,
                   sim_format("%s=%s", map->entries[i].key->text, text));
        sim_free(text);
    }
    return SIM_OK;
}

static void add_parameter(cli_sweep_t *sweep, const char *name)
{
    SIM_APPEND(sweep->parameters, sweep->parameter_count, sweep->parameter_capacity,
               sim_strdup(name));
}

// Appends a point without values and returns it; it is valid until the next is added.
static cli_sweep_point_t *add_point(cli_sweep_t *sweep)
{
    SIM_GROW(sweep->points, sweep->point_count, &sweep->point_capacity);
    cli_sweep_point_t *const point = &sweep->points[sweep->point_count++];
    *point = (cli_sweep_point_t){
        .values = sim_alloc_array(sweep->parameter_count + 1, sizeof(*point->values)),
        .places = sim_alloc_array(sweep->parameter_count + 1, sizeof(*point->places)),
    };
    return point;
}

static sim_err_t too_many(const world_tree_t *tree, world_error_t *error)
{
    return world_fail(error, SIM_ERR_RANGE, &tree->place, "more than %u runs, expected fewer",
                      RUNS_MAX);
}

// Gives a point its value of parameter i.
static sim_err_t set_value(const cli_sweep_t *sweep, cli_sweep_point_t *point, size_t i,
                           const world_tree_t *value, world_error_t *error)
{
    point->values[i] = world_value_text(value, sweep->parameters[i], error);
    point->places[i] = &value->place;
    return point->values[i] == NULL ? SIM_ERR_INVALID : SIM_OK;
}

// Adds every combination of the grid's values. The last parameter changes fastest.
static sim_err_t take_grid(cli_sweep_t *sweep, const world_tree_t *map, world_error_t *error)
{
    if (map->kind != WORLD_TREE_MAP || map->count == 0) {
        return world_tree_fail(map, "grid", "a mapping of paths to lists of values", error);
    }
    size_t count = 1;
    for (size_t i = 0; i < map->count; i++) {
        const world_tree_t *const list = map->entries[i].value;
        if (list->kind != WORLD_TREE_LIST || list->count == 0) {
            return world_tree_fail(list, map->entries[i].key->text, "a list of values", error);
        }
        add_parameter(sweep, map->entries[i].key->text);
        if (list->count > RUNS_MAX / count) {
            return too_many(list, error);
        }
        count *= list->count;
    }
    for (size_t p = 0; p < count; p++) {
        cli_sweep_point_t *const point = add_point(sweep);
        size_t rest = p;
        for (size_t i = map->count; i-- > 0;) {
            const world_tree_t *const list = map->entries[i].value;
            const world_tree_t *const value = list->entries[rest % list->count].value;
            if (set_value(sweep, point, i, value, error) != SIM_OK) {
                return SIM_ERR_INVALID;
            }
            rest /= list->count;
        }
    }
    return SIM_OK;
}

// Adds one point per entry of the list. All entries have the keys of the first.
static sim_err_t take_points(cli_sweep_t *sweep, const world_tree_t *list, world_error_t *error)
{
    SIM_CHECK(list != NULL);
    if (list->kind != WORLD_TREE_LIST || list->count == 0 ||
        list->entries[0].value->kind != WORLD_TREE_MAP) {
        return world_tree_fail(list, "points", "a list of mappings of paths to values", error);
    }
    if (list->count > RUNS_MAX) {
        return too_many(list, error);
    }
    const world_tree_t *const first = list->entries[0].value;
    for (size_t i = 0; i < first->count; i++) {
        add_parameter(sweep, first->entries[i].key->text);
    }
    for (size_t p = 0; p < list->count; p++) {
        const world_tree_t *const map = list->entries[p].value;
        if (map->kind != WORLD_TREE_MAP || map->count != first->count) {
            return world_tree_fail(map, "a point", "a mapping with the same keys as the first",
                                   error);
        }
        cli_sweep_point_t *const point = add_point(sweep);
        for (size_t i = 0; i < sweep->parameter_count; i++) {
            const world_tree_entry_t *const entry = world_tree_find(map, sweep->parameters[i]);
            if (entry == NULL) {
                return world_tree_fail(map, "a point", "the same keys as the first", error);
            }
            if (set_value(sweep, point, i, entry->value, error) != SIM_OK) {
                return SIM_ERR_INVALID;
            }
        }
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

// Loads a point's scenario, and builds it where that can find something new.
static sim_err_t check_point(const cli_sweep_t *sweep, size_t point, building_t *building,
                             world_error_t *error)
{
    const size_t count = sweep->setting_count + sweep->parameter_count;
    const size_t given = sweep->override_count;
    world_override_t *const overrides = sim_alloc_array(count + given + 1, sizeof(*overrides));
    for (size_t i = 0; i < given; i++) {
        overrides[count + i] = sweep->overrides[i];
    }
    char **const texts = sim_alloc_array(2 * count + 1, sizeof(*texts));
    for (size_t i = 0; i < count; i++) {
        const size_t own = i - sweep->setting_count;
        const bool fixed = i < sweep->setting_count;
        texts[i] =
            fixed ? sim_strdup(sweep->settings[i])
                  : sim_format("%s=%s", sweep->parameters[own], sweep->points[point].values[own]);
        const world_place_t *const place =
            fixed ? &sweep->setting_map->entries[i].value->place : sweep->points[point].places[own];
        texts[count + i] = sim_format("%s:%d:%d: ", place->origin, place->line, place->column);
        overrides[i] = (world_override_t){texts[i], texts[i], texts[count + i]};
    }
    world_scenario_t *scenario = NULL;
    sim_err_t result =
        world_scenario_load(NULL, sweep->scenario, overrides, count + given, &scenario, error);
    if (result == SIM_OK && sweep->ranks > 1) {
        result = world_ranks_check(scenario, error);
    }
    if (result == SIM_OK) {
        if (!building->built || (!building->columns_good && building->tries < COLUMN_TRIES)) {
            build(sweep, scenario, point == 0, building);
        }
    }
    world_scenario_destroy(scenario);
    free_texts(texts, 2 * count);
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
        .overrides = args->overrides,
        .override_count = args->override_count,
        .plugin_limits = args->plugin_limits,
    };
    sweep->document = world_document_create();
    world_tree_t *root = NULL;
    sim_err_t result = world_yaml_read(sweep->document, file_name, &root, error);
    if (result == SIM_OK) {
        result = check_keys(root, error);
    }
    if (result == SIM_OK) {
        result = take_scenario(sweep, root, error);
    }
    if (result == SIM_OK) {
        result = take_settings(sweep, value_of(root, "set"), error);
    }
    const world_tree_t *const grid = result == SIM_OK ? value_of(root, "grid") : NULL;
    const world_tree_t *const points = result == SIM_OK ? value_of(root, "points") : NULL;
    const bool seeds_alone =
        result == SIM_OK && grid == NULL && points == NULL && value_of(root, "seeds") != NULL;
    if (result == SIM_OK && (grid != NULL) == (points != NULL) && !seeds_alone) {
        result = world_fail(error, SIM_ERR_INVALID, &root->place,
                            "%s, expected %s: 'grid: {nic.congestion-control: [dcqcn, hpcc]}'",
                            grid != NULL ? "both grid and points" : "neither grid nor points",
                            grid != NULL ? "one of them" : "one of them, or seeds");
    }
    if (seeds_alone) {
        (void)add_point(sweep);
    } else if (result == SIM_OK) {
        result = grid != NULL ? take_grid(sweep, grid, error) : take_points(sweep, points, error);
    }
    if (result == SIM_OK) {
        result = take_seeds(sweep, value_of(root, "seeds"), error);
    }
    if (result == SIM_OK) {
        result = take_columns(sweep, value_of(root, "columns"), error);
    }
    SIM_CHECK(result != SIM_OK || sweep->seed_count > 0);
    if (result == SIM_OK && sweep->point_count > RUNS_MAX / sweep->seed_count) {
        result = too_many(root, error);
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
        free_texts(sweep->points[i].values, sweep->parameter_count);
        sim_free(sweep->points[i].places);
        sim_free(sweep->points[i].scenario);
    }
    sim_free(sweep->points);
    for (size_t i = 0; i < sweep->run_count; i++) {
        sim_free(sweep->runs[i].name);
        sim_free(sweep->runs[i].folder);
        sim_free(sweep->runs[i].failure);
        json_decref(sweep->runs[i].summary);
    }
    sim_free(sweep->runs);
    free_texts(sweep->parameters, sweep->parameter_count);
    free_texts(sweep->settings, sweep->setting_count);
    free_texts(sweep->columns, sweep->column_count);
    sim_free(sweep->seeds);
    sim_free(sweep->scenario);
    sim_free(sweep->identity);
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
        14 + 2 * (own + sweep->setting_count + sweep->parameter_count + sweep->override_count);
    char **const arguments = sim_alloc_array(most, sizeof(*arguments));
    size_t count = 0;
    arguments[count++] = sim_strdup("rocesim");
    arguments[count++] = sim_strdup("run");
    arguments[count++] = sim_strdup(point->scenario != NULL ? point->scenario : sweep->scenario);
    arguments[count++] = sim_strdup("--quiet");
    for (size_t i = 0; i < own; i++) {
        arguments[count++] = sim_strdup("--set");
        arguments[count++] = sim_strdup(point->settings[i]);
    }
    for (size_t i = 0; i < sweep->setting_count; i++) {
        arguments[count++] = sim_strdup("--set");
        arguments[count++] = sim_strdup(sweep->settings[i]);
    }
    for (size_t i = 0; i < sweep->parameter_count; i++) {
        arguments[count++] = sim_strdup("--set");
        arguments[count++] = sim_format("%s=%s", sweep->parameters[i], point->values[i]);
    }
    for (size_t i = 0; i < sweep->override_count; i++) {
        arguments[count++] = sim_strdup("--set");
        arguments[count++] = sim_strdup(sweep->overrides[i].text);
    }
    if (sweep->plugin_limits) {
        arguments[count++] = sim_strdup("--plugin-limits");
    }
    if (sweep->explains) {
        arguments[count++] = sim_strdup("--explain");
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
