// SPDX-License-Identifier: Apache-2.0
// cli/explain/command.c - explains a run, or measured counters.
#include "cli/explain/explain.h"
#include "cli/explain/measured/counters.h"
#include "cli/explain/print.h"
#include "cli/explain/what_if.h"

#include "cli/command.h"
#include "cli/explain/explain_internal.h"
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sim_err_t explain_run(const cli_args_t *args, world_error_t *error)
{
    explain_t explain = {.folder = args->operands[0]};
    sim_err_t result = cli__explain_load(&explain, error);
    if (result == SIM_OK) {
        cli__explain_find(&explain);
        if (!args->json) {
            cli__explain_print(&explain, stdout);
        }
        json_t *const json = args->json ? cli__explain_json(&explain) : NULL;
        json_t *const runs = args->json && args->what_if ? json_array() : NULL;
        if (args->what_if) {
            (void)fflush(stdout);
            result = cli__explain_what_if(&explain, runs, error);
        }
        if (json != NULL && result == SIM_OK) {
            if (runs != NULL) {
                json_object_set(json, "what_if", runs);
            }
            cli_print_json(json_incref(json));
        }
        json_decref(runs);
        json_decref(json);
    }
    cli__explain_fini(&explain);
    return result;
}

sim_err_t cli_explain_write(const char *folder, bool prints, world_error_t *error)
{
    explain_t explain = {.folder = folder};
    char *const path = sim_format("%s/explain.json", folder);
    sim_err_t result = cli__explain_load(&explain, error);
    if (result == SIM_OK) {
        cli__explain_find(&explain);
        if (prints) {
            cli__explain_print(&explain, stdout);
        }
        json_t *const json = cli__explain_json(&explain);
        if (json_dump_file(json, path, JSON_INDENT(1)) != 0) {
            result = world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot be written: %s",
                                strerror(errno));
        }
        json_decref(json);
    }
    cli__explain_fini(&explain);
    sim_free(path);
    return result;
}

sim_err_t cli_explain_causes(const char *folder, json_t **json, world_error_t *error)
{
    explain_t explain = {.folder = folder, .brief = true};
    const sim_err_t result = cli__explain_load(&explain, error);
    if (result == SIM_OK) {
        cli__explain_find(&explain);
        *json = cli__explain_json(&explain);
    }
    cli__explain_fini(&explain);
    return result;
}

int cli_command_explain(const cli_args_t *args)
{
    world_error_t error;
    sim_err_t result = SIM_OK;
    if (args->counter_count > 0) {
        result = cli__explain_counters(args->counters, args->counter_count, args->operands[0],
                                       args->json, &error);
    } else {
        result = explain_run(args, &error);
    }
    return result == SIM_OK ? CLI_EXIT_DONE : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
}
