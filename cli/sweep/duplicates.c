// SPDX-License-Identifier: Apache-2.0
// cli/sweep/duplicates.c - refuses duplicate points, seeds and columns, which would be counted
// twice.
#include "cli/sweep/columns.h"
#include "cli/sweep/sweep.h"
#include "world/error.h"

#include <stdlib.h>
#include <string.h>

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Fails if two of the texts are equal; takes ownership of them. Equal runs would falsify means and
// intervals.
static sim_err_t refuse_twins(char **texts, size_t count, const char *what,
                              const world_tree_t *tree, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    if (count > 1) {
        qsort((void *)texts, count, sizeof(*texts), compare_texts);
    }
    for (size_t i = 1; i < count && result == SIM_OK; i++) {
        if (strcmp(texts[i - 1], texts[i]) == 0) {
            world_shown_t shown;
            result = world_fail(error, SIM_ERR_INVALID, &tree->place,
                                "%s %s is there twice, expected it once", what,
                                world_show(&shown, texts[i]));
        }
    }
    sim_free_each(texts, count);
    sim_free((void *)texts);
    return result;
}

static char *point_text(const cli_sweep_t *sweep, const cli_sweep_point_t *point)
{
    char *text = sim_strdup("");
    for (size_t i = 0; i < sweep->parameter_count; i++) {
        char *const longer = sim_format("%s%s%s=%s", text, i > 0 ? ", " : "", sweep->parameters[i],
                                        point->values[i]);
        sim_free(text);
        text = longer;
    }
    return text;
}

static sim_err_t check_points(const cli_sweep_t *sweep, const world_tree_t *tree,
                              world_error_t *error)
{
    char **const texts = sim_alloc_array(sweep->point_count + 1, sizeof(*texts));
    for (size_t i = 0; i < sweep->point_count; i++) {
        texts[i] = point_text(sweep, &sweep->points[i]);
    }
    return refuse_twins(texts, sweep->point_count, "the point", tree, error);
}

static sim_err_t check_seeds(const cli_sweep_t *sweep, const world_tree_t *tree,
                             world_error_t *error)
{
    char **const texts = sim_alloc_array(sweep->seed_count + 1, sizeof(*texts));
    for (size_t i = 0; i < sweep->seed_count; i++) {
        texts[i] = sim_format("%" PRIu64, sweep->seeds[i]);
    }
    return refuse_twins(texts, sweep->seed_count, "seed", tree, error);
}

static sim_err_t check_columns(const cli_sweep_t *sweep, const world_tree_t *tree,
                               world_error_t *error)
{
    char **const texts = sim_alloc_array(sweep->column_count + 1, sizeof(*texts));
    for (size_t i = 0; i < sweep->column_count; i++) {
        texts[i] = sim_strdup(sweep->columns[i]);
    }
    return refuse_twins(texts, sweep->column_count, "column", tree, error);
}

// Fails if a parameter sets the seed, because `seeds` alone decides the seed of each run.
static sim_err_t check_seed(const cli_sweep_t *sweep, const world_tree_t *root,
                            world_error_t *error)
{
    bool is_set = false;
    for (size_t i = 0; i < sweep->setting_count; i++) {
        is_set = is_set || strncmp(sweep->settings[i], "seed=", 5) == 0;
    }
    for (size_t i = 0; i < sweep->parameter_count; i++) {
        is_set = is_set || strcmp(sweep->parameters[i], "seed") == 0;
    }
    for (size_t i = 0; i < sweep->override_count; i++) {
        is_set = is_set || strncmp(sweep->overrides[i].text, "seed=", 5) == 0;
    }
    return is_set ? world_fail(error, SIM_ERR_INVALID, &root->place,
                               "'seed' is among the parameters, expected it under seeds: [3, 5], "
                               "or --seeds N")
                  : SIM_OK;
}

sim_err_t cli_sweep_check_twins(const cli_sweep_t *sweep, const world_tree_t *root,
                                world_error_t *error)
{
    static const char *const lists[] = {"grid", "points"};
    sim_err_t result = check_seed(sweep, root, error);
    for (size_t i = 0; i < SIM_COUNT_OF(lists) && result == SIM_OK; i++) {
        const world_tree_entry_t *const entry = world_tree_find(root, lists[i]);
        if (entry != NULL && !entry->value->is_null) {
            result = check_points(sweep, entry->value, error);
        }
    }
    const world_tree_entry_t *const seeds = world_tree_find(root, "seeds");
    if (result == SIM_OK && seeds != NULL) {
        result = check_seeds(sweep, seeds->value, error);
    }
    const world_tree_entry_t *const columns = world_tree_find(root, "columns");
    if (result == SIM_OK && columns != NULL) {
        result = check_columns(sweep, columns->value, error);
    }
    return result;
}
