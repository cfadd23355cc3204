// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/command.c - `rocesim hpcc`: runs a config of the HPCC ns-3 simulator.
//
// The config becomes a scenario (cli/hpcc/scenario.c) that runs like any other; only the files that
// this command reads and writes are special. docs/formats/hpcc.md
#include "cli/hpcc/hpcc.h"
#include "cli/hpcc/outputs.h"
#include "cli/hpcc/scenario_internal.h"
#include "cli/run.h"

#include "cli/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct hpcc_run {
    const cli_args_t *args;
    cli_hpcc_t hpcc;
    cli_hpcc_outputs_t *outputs;
} hpcc_run_t;

static sim_err_t begin(world_t *world, const char *folder, void *ctx, world_error_t *error)
{
    hpcc_run_t *const run = ctx;
    for (size_t i = 0; i < run->hpcc.note_count; i++) {
        fprintf(stderr, "%s\n", run->hpcc.notes[i]);
    }
    if (!run->args->json) {
        printf("maxRtt=%" PRIu64 " maxBdp=%" PRIu64 "\n", run->hpcc.rtt_ns_max,
               run->hpcc.bdp_bytes_max);
        fflush(stdout);
    }
    return cli_hpcc_outputs_open(&run->hpcc, world, folder, &run->outputs, error);
}

static sim_err_t end(world_t *world, void *ctx, world_error_t *error)
{
    (void)world;
    hpcc_run_t *const run = ctx;
    return cli_hpcc_outputs_close(run->outputs, error);
}

// Removes "compat=on|off" from the overrides: it is no attribute, but selects which attributes are
// set.
static sim_err_t take_compat(hpcc_run_t *run, world_override_t *overrides, size_t *count,
                             world_error_t *error)
{
    static const char prefix[] = "compat=";
    run->hpcc.compat = true;
    *count = 0;
    for (size_t i = 0; i < run->args->override_count; i++) {
        const world_override_t *const given = &run->args->overrides[i];
        if (strncmp(given->text, prefix, sizeof(prefix) - 1) != 0) {
            overrides[(*count)++] = *given;
            continue;
        }
        const char *const value = given->text + sizeof(prefix) - 1;
        if (strcmp(value, "on") == 0 || strcmp(value, "true") == 0) {
            run->hpcc.compat = true;
        } else if (strcmp(value, "off") == 0 || strcmp(value, "false") == 0) {
            run->hpcc.compat = false;
        } else {
            world_shown_t shown;
            return world_fail(error, SIM_ERR_INVALID, NULL, "--set compat=%s: expected on or off",
                              world_show(&shown, value));
        }
    }
    return SIM_OK;
}

// The inputs that options may give instead of the config, as SimAI's program takes them.
static const struct {
    const char *prefix; // of the override
    cli_hpcc_key_t key;
} inputs[] = {
    {"topology.file.path=", CLI_HPCC_TOPOLOGY_FILE},
    {"topology.file=", CLI_HPCC_TOPOLOGY_FILE},
    {"traffic[0].flows.file=", CLI_HPCC_FLOW_FILE},
};

// Moves overrides that name an input into hpcc.given. The config's other keys depend on the
// topology, so it must be known before the scenario is made.
static void take_inputs(hpcc_run_t *run, world_override_t *overrides, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        bool input = false;
        for (size_t n = 0; n < SIM_COUNT_OF(inputs) && !input; n++) {
            const size_t size = strlen(inputs[n].prefix);
            input = strncmp(overrides[i].text, inputs[n].prefix, size) == 0;
            if (input) {
                run->hpcc.given[inputs[n].key == CLI_HPCC_FLOW_FILE] =
                    (cli_hpcc_given_t){overrides[i].text + size, overrides[i].shown};
            }
        }
        if (!input) {
            overrides[kept++] = overrides[i];
        }
    }
    *count = kept;
}

static sim_err_t make_scenario(hpcc_run_t *run, world_scenario_t **scenario, world_error_t *error)
{
    const cli_args_t *const args = run->args;
    world_override_t *const overrides =
        sim_alloc_array(args->override_count + 1, sizeof(*overrides));
    size_t count = 0;
    sim_err_t result = take_compat(run, overrides, &count, error);
    if (result == SIM_OK) {
        take_inputs(run, overrides, &count);
        run->hpcc.overrides = overrides;
        run->hpcc.override_count = count;
        result = cli_hpcc_load(&run->hpcc, args->operands[0], error);
    }
    if (result == SIM_OK) {
        world_document_t *const document = world_document_create();
        world_tree_t *root = NULL;
        result = cli_hpcc_scenario(&run->hpcc, document, &root, error);
        if (result == SIM_OK) {
            result = world_scenario_load_tree(NULL, document, root, args->operands[0], overrides,
                                              count, scenario, error);
        } else {
            world_document_destroy(document);
        }
    }
    run->hpcc.override_count = 0;
    sim_free(overrides);
    return result;
}

// Returns whether a configuration has a key of the other simulator; else the file may be no
// configuration.
static bool has_known_key(const cli_hpcc_config_t *config)
{
    for (size_t i = 0; config != NULL && i < CLI_HPCC_KEY_COUNT; i++) {
        if (config->values[i].given) {
            return true;
        }
    }
    return config == NULL;
}

int cli_command_hpcc(const cli_args_t *args)
{
    hpcc_run_t run = {.args = args};
    const cli_run_extra_t extra = {.begin = begin, .end = end, .ctx = &run};
    world_scenario_t *scenario = NULL;
    world_error_t error;
    const sim_err_t result = make_scenario(&run, &scenario, &error);
    if (result != SIM_OK && !has_known_key(run.hpcc.config)) {
        world_error_about(&error, args->operands[0], args->operands[0]);
    }
    const int status = result == SIM_OK ? cli_run_scenario(args, scenario, &extra)
                                        : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    world_scenario_destroy(scenario);
    cli_hpcc_fini(&run.hpcc);
    return status;
}
