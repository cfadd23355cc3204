// SPDX-License-Identifier: Apache-2.0
// cli/explain/what_if.c - runs the scenario again with each remedy and compares the results.
#include "cli/explain/what_if.h"
#include "cli/explain/explain_internal.h"

#include "results/runner.h"
#include "world/format.h"
#include "world/registry.h"

#include <string.h>

#define FINDINGS_MAX 3u
#define VALUES_MAX 4u   // of one remedy
#define BUILT_MAX 1000u // interfaces: for larger networks, remedies are checked without building

// The figures of a run that are compared.
typedef struct outcome {
    const char *ended;
    double paused_ps;
    double completed;
    double slowdown_p50;
    double slowdown_p99;
    double dropped;
} outcome_t;

static double number_at(const json_t *summary, const char *path)
{
    return json_number_value(results_json_at(summary, path));
}

static outcome_t outcome_of(const json_t *summary)
{
    const char *const ended = json_string_value(json_object_get(summary, "ended"));
    return (outcome_t){.ended = ended != NULL ? ended : "?",
                       .paused_ps = number_at(summary, "pfc.paused_ps"),
                       .completed = number_at(summary, "flows.completed"),
                       .slowdown_p50 = number_at(summary, "flows.slowdown.p50"),
                       .slowdown_p99 = number_at(summary, "flows.slowdown.p99"),
                       .dropped = number_at(summary, "packets.dropped")};
}

static void print_outcome(const char *set, const outcome_t *outcome)
{
    world_text_t time;
    printf("  %-40s %-8s %8.0f %10.2f %10.2f %12s %8.0f\n", set, outcome->ended, outcome->completed,
           outcome->slowdown_p50, outcome->slowdown_p99,
           world_format_time(&time, (sim_time_t)outcome->paused_ps), outcome->dropped);
}

static json_t *outcome_json(const char *set, const outcome_t *outcome)
{
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f}", "set", set, "ended", outcome->ended,
                     "completed", outcome->completed, "slowdown_p50", outcome->slowdown_p50,
                     "slowdown_p99", outcome->slowdown_p99, "paused_ps", outcome->paused_ps,
                     "dropped", outcome->dropped);
}

static const char between[] = " --set ";

// Splits "PATH=VALUE --set PATH=VALUE" in place. Returns how many values there are.
static size_t split_values(char *values, const char *shown, world_override_t overrides[VALUES_MAX])
{
    size_t count = 0;
    for (char *at = values; at != NULL && count < VALUES_MAX;) {
        char *const next = strstr(at, between);
        if (next != NULL) {
            *next = '\0';
        }
        overrides[count++] = (world_override_t){.shown = shown, .text = at};
        at = next != NULL ? next + strlen(between) : NULL;
    }
    return count;
}

// Reads DIR/scenario.yaml with other values. The caller frees the scenario, also on error.
static sim_err_t load_with(const explain_t *explain, const char *set, world_scenario_t **scenario,
                           world_error_t *error)
{
    char *const path = sim_format("%s/scenario.yaml", explain->folder);
    char *const shown = sim_format("--set %s", set);
    char *const values = sim_strdup(set);
    world_override_t overrides[VALUES_MAX];
    const size_t count = split_values(values, shown, overrides);
    *scenario = NULL;
    const sim_err_t result =
        world_scenario_load(explain->registry, path, overrides, count, scenario, error);
    SIM_FREE_ALL(values, shown, path);
    return result;
}

// Returns whether no application reads any of the values when it is created.
static bool spares_applications(const char *set)
{
    static const char *const spared[] = {"seed=", "switch.", "network.", "nic.congestion-control="};
    for (const char *at = set; at != NULL;) {
        bool known = false;
        for (size_t i = 0; i < SIM_COUNT_OF(spared); i++) {
            known |= strncmp(at, spared[i], strlen(spared[i])) == 0;
        }
        if (!known) {
            return false;
        }
        at = strstr(at, between);
        at = at != NULL ? at + strlen(between) : NULL;
    }
    return true;
}

// Returns whether `rocesim check` accepts the scenario with these values, and they change it.
static bool is_accepted(const explain_t *explain, const char *set, const char *resolved)
{
    world_error_t ignored;
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    bool accepted = load_with(explain, set, &scenario, &ignored) == SIM_OK;
    if (accepted) {
        char *const own = world_scenario_resolved(scenario);
        accepted = strcmp(own, resolved) != 0;
        sim_free(own);
    }
    if (accepted && explain->world->nic_count <= BUILT_MAX) {
        const world_build_t build =
            spares_applications(set) ? WORLD_BUILD_NETWORK : WORLD_BUILD_APPS;
        accepted = world_create(scenario, build, &world, &ignored) == SIM_OK;
    }
    world_destroy(world);
    world_scenario_destroy(scenario);
    return accepted;
}

// A remedy that was tried.
typedef struct tried {
    char *set;
    bool accepted;
} tried_t;

void cli__explain_keep_remedies(explain_t *explain)
{
    char *const resolved = world_scenario_resolved(explain->scenario);
    tried_t *tried = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < explain->finding_count; i++) {
        explain_finding_t *const finding = &explain->findings[i];
        size_t kept = 0;
        for (size_t r = 0; r < finding->remedy_count; r++) {
            const explain_remedy_t remedy = finding->remedies[r];
            size_t t = 0;
            while (t < count && strcmp(tried[t].set, remedy.set) != 0) {
                t++;
            }
            if (t == count) {
                SIM_APPEND(
                    tried, count, capacity,
                    (tried_t){sim_strdup(remedy.set), is_accepted(explain, remedy.set, resolved)});
            }
            if (tried[t].accepted) {
                finding->remedies[kept++] = remedy;
            } else {
                sim_free(remedy.set);
                sim_free(remedy.why);
            }
        }
        finding->remedy_count = kept;
    }
    for (size_t t = 0; t < count; t++) {
        sim_free(tried[t].set);
    }
    sim_free(tried);
    sim_free(resolved);
}

// Runs DIR/scenario.yaml with other values, without writing files.
static sim_err_t run_with(const explain_t *explain, const char *set, json_t *json,
                          world_error_t *error)
{
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    sim_err_t result = load_with(explain, set, &scenario, error);
    if (result == SIM_OK) {
        const results_options_t options = {.folder = NULL};
        result = results_execute(scenario, &options, &run, error);
    }
    if (result == SIM_OK) {
        const outcome_t outcome = outcome_of(results_json(run));
        if (json != NULL) {
            json_array_append_new(json, outcome_json(set, &outcome));
        } else {
            print_outcome(set, &outcome);
        }
    }
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    return result;
}

static bool was_run(char *const *sets, size_t count, const char *set)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sets[i], set) == 0) {
            return true;
        }
    }
    return false;
}

sim_err_t cli__explain_what_if(const explain_t *explain, json_t *json, world_error_t *error)
{
    const outcome_t now = outcome_of(explain->summary);
    char **sets = NULL;
    size_t count = 0;
    size_t capacity = 0;
    if (json != NULL) {
        json_array_append_new(json, outcome_json("", &now));
    } else {
        printf(
            "\nwhat if?  (the run again, with one value changed)\n  %-40s %-8s %8s %10s %10s %12s "
            "%8s\n",
            "value", "ended", "flows", "slow p50", "slow p99", "stopped", "dropped");
        print_outcome("without changes", &now);
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < explain->finding_count && i < FINDINGS_MAX; i++) {
        const explain_finding_t *const finding = &explain->findings[i];
        for (size_t r = 0; r < finding->remedy_count && result == SIM_OK; r++) {
            char *const set = finding->remedies[r].set;
            if (!was_run(sets, count, set)) {
                SIM_APPEND(sets, count, capacity, set);
                world_error_t ignored;
                // A remedy that this scenario cannot have is reported, and the others are run.
                if (run_with(explain, set, json, &ignored) != SIM_OK && json == NULL) {
                    printf("  %-40s cannot be run: %s\n", set, ignored.text);
                }
            }
        }
    }
    (void)error;
    sim_free(sets);
    return result;
}
