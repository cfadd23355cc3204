// SPDX-License-Identifier: Apache-2.0
// cli/arena/store.c - writes arena.json, and reads the controls of an earlier one.
#include "cli/arena/store.h"
#include "cli/arena/health.h"
#include "cli/arena/score.h"

#include "results/runner.h"

#include <math.h>
#include <string.h>

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

// Returns {"mean", "ci95"}.
static json_t *spread_json(const results_spread_t *spread)
{
    return json_pack("{s:o, s:o}", "mean", number(spread->count > 0 ? spread->mean : (double)NAN),
                     "ci95", number(spread->half));
}

static json_t *result_json(const cli_arena_t *arena, const cli_arena_result_t *result)
{
    json_t *const metrics = json_object();
    for (size_t m = 0; m < CLI_ARENA_METRICS; m++) {
        const results_spread_t spread = cli_arena_spread(arena, result, m);
        if (spread.count == 0) {
            continue;
        }
        json_t *const values = json_array();
        for (size_t s = 0; s < arena->seed_count; s++) {
            json_array_append_new(values, number(cli_arena_value(arena, result, m, s)));
        }
        json_t *const metric = spread_json(&spread);
        json_object_set_new(metric, "values", values);
        json_object_set_new(metrics, cli_arena_metrics[m].name, metric);
    }
    json_t *const json =
        json_pack("{s:o, s:o}", "score", number(result->score), "metrics", metrics);
    if (result->failure != NULL) {
        json_object_set_new(json, "failure", json_string(result->failure));
    }
    return json;
}

static json_t *control_json(const cli_arena_t *arena, const cli_arena_control_t *control)
{
    json_t *const cells = json_object();
    for (size_t c = 0; c < arena->cell_count; c++) {
        json_object_set_new(cells, arena->cells[c]->name, result_json(arena, &control->results[c]));
    }
    json_t *const findings = json_array();
    for (size_t i = 0; i < control->finding_count; i++) {
        const cli_arena_finding_t *const finding = &control->findings[i];
        json_array_append_new(findings,
                              json_pack("{s:s, s:s, s:I, s:s, s:o, s:s}", "kind", finding->kind,
                                        "state", cli_arena_state_name(finding->state), "cells",
                                        (json_int_t)finding->count, "worst_cell",
                                        arena->cells[finding->worst]->name, "value",
                                        number(finding->value), "text", finding->text));
    }
    char *const sentence = cli_arena_sentence(control);
    json_t *const health =
        json_pack("{s:s, s:s, s:o}", "state", cli_arena_state_name(control->state), "sentence",
                  sentence, "findings", findings);
    sim_free(sentence);
    return json_pack("{s:s, s:I, s:o, s:o, s:o}", "name", control->name, "place",
                     (json_int_t)control->place, "score", spread_json(&control->score), "health",
                     health, "cells", cells);
}

static json_t *cell_json(const cli_arena_t *arena, const cli_arena_cell_t *cell)
{
    json_t *const parameters = json_object();
    for (size_t i = 0; cell->parameters[i].name != NULL; i++) {
        char *const text = sim_format("%u%s", cli_arena_parameter_value(cell, i, arena->hidden),
                                      cell->parameters[i].unit);
        json_object_set_new(parameters, cell->parameters[i].name, json_string(text));
        sim_free(text);
    }
    return json_pack("{s:s, s:s, s:o}", "name", cell->name, "about", cell->about, "parameters",
                     parameters);
}

json_t *cli_arena_json(const cli_arena_t *arena)
{
    json_t *const metrics = json_object();
    for (size_t m = 0; m < CLI_ARENA_METRICS; m++) {
        const cli_arena_metric_t *const metric = &cli_arena_metrics[m];
        json_object_set_new(metrics, metric->name,
                            json_pack("{s:s, s:s, s:i}", "unit", metric->unit, "help", metric->help,
                                      "better", metric->better));
    }
    json_t *const seeds = json_array();
    for (size_t s = 0; s < arena->seed_count; s++) {
        json_array_append_new(seeds, json_integer((json_int_t)arena->seeds[s]));
    }
    json_t *const cells = json_array();
    for (size_t c = 0; c < arena->cell_count; c++) {
        json_array_append_new(cells, cell_json(arena, arena->cells[c]));
    }
    json_t *const controls = json_array();
    size_t *const order = cli_arena_order(arena);
    for (size_t i = 0; i < arena->control_count; i++) {
        json_array_append_new(controls, control_json(arena, &arena->controls[order[i]]));
    }
    sim_free(order);
    json_t *const json =
        json_pack("{s:s, s:s, s:O, s:o, s:o, s:o, s:o, s:o}", "version", ROCESIM_VERSION, "suite",
                  arena->suite, "plugins", arena->plugins, "hidden_seed",
                  arena->hidden != NULL ? json_integer((json_int_t)*arena->hidden) : json_null(),
                  "seeds", seeds, "metrics", metrics, "cells", cells, "controls", controls);
    SIM_CHECK(json != NULL);
    return json;
}

// -- baselines

static bool has(const cli_arena_t *arena, const char *name)
{
    for (size_t k = 0; k < arena->control_count; k++) {
        if (strcmp(arena->controls[k].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void take_control(cli_arena_t *arena, const char *name, const json_t *json)
{
    cli_arena_control_t *const control = cli_arena_add(arena, name);
    control->known = true;
    for (size_t c = 0; c < arena->cell_count; c++) {
        const json_t *const cell =
            json_object_get(json_object_get(json, "cells"), arena->cells[c]->name);
        const char *const failure = json_string_value(json_object_get(cell, "failure"));
        control->results[c].failure = failure != NULL ? sim_strdup(failure) : NULL;
        for (size_t m = 0; m < CLI_ARENA_METRICS; m++) {
            const json_t *const values = json_object_get(
                json_object_get(json_object_get(cell, "metrics"), cli_arena_metrics[m].name),
                "values");
            for (size_t s = 0; s < arena->seed_count; s++) {
                const json_t *const value = json_array_get(values, s);
                control->results[c].values[m * arena->seed_count + s] =
                    json_is_number(value) ? json_number_value(value) : (double)NAN;
            }
        }
    }
}

// Adds a plug-in of a baseline, unless the arena has the same one.
static void add_plugin(cli_arena_t *arena, json_t *plugin)
{
    bool known = false;
    for (size_t i = 0; i < json_array_size(arena->plugins); i++) {
        known = known || json_equal(json_array_get(arena->plugins, i), plugin);
    }
    if (!known) {
        json_array_append(arena->plugins, plugin);
    }
}

sim_err_t cli_arena_add_baseline(cli_arena_t *arena, const char *file, world_error_t *error)
{
    json_error_t why;
    json_t *const json = json_load_file(file, 0, &why);
    const char *const suite = json_string_value(json_object_get(json, "suite"));
    const json_t *const controls = json_object_get(json, "controls");
    sim_err_t result = SIM_OK;
    if (suite == NULL || !json_is_array(controls)) {
        result = world_fail(error, SIM_ERR_INVALID, WORLD_FILE(file), "%s, expected an arena.json",
                            json == NULL ? why.text : "no results of an arena");
    } else if (strcmp(suite, arena->suite) != 0) {
        result = world_fail(error, SIM_ERR_INVALID, WORLD_FILE(file),
                            "results of another suite, expected one of the same version, cells, "
                            "seeds and settings: make it anew with the options of this command");
    }
    for (size_t i = 0; i < json_array_size(controls) && result == SIM_OK; i++) {
        const json_t *const control = json_array_get(controls, i);
        const char *const name = json_string_value(json_object_get(control, "name"));
        if (name != NULL && !has(arena, name)) {
            take_control(arena, name, control);
        }
    }
    const json_t *const plugins = json_object_get(json, "plugins");
    for (size_t i = 0; i < json_array_size(plugins) && result == SIM_OK; i++) {
        add_plugin(arena, json_array_get(plugins, i));
    }
    json_decref(json);
    return result;
}
