// SPDX-License-Identifier: Apache-2.0
// cli/shell/command.c - `rocesim shell`: makes the scenario, and runs lines in the place of a run.
#include "cli/command.h"
#include "cli/run.h"
#include "cli/shell/clock.h"
#include "cli/shell/commands.h"
#include "cli/shell/shell.h"
#include "cli/shell/started.h"
#include "kernel/steps.h"
#include "results/file.h"
#include "world/yaml_tree.h"

#include <stdio.h>
#include <string.h>

static const char origin[] = "rocesim shell";

// -- the scenario

// Adds "KIND[:VALUE][,NAME=VALUE]..." as the topology of a scenario. The first VALUE is that of the
// topology's first attribute.
static sim_err_t take_topology(const char *text, world_document_t *document, world_tree_t *root,
                               world_error_t *error)
{
    world_registry_t *const registry = world_registry_create();
    char *const words = sim_strdup(text);
    char *rest = NULL;
    char *const kind = strtok_r(words, ",", &rest);
    char *const first = kind != NULL ? strchr(kind, ':') : NULL;
    const world_place_t place = {world_document_text(document, "--topology"), 0, 0};
    world_tree_t *const map = world_tree_new(document, WORLD_TREE_MAP, place);
    sim_err_t result = SIM_OK;
    if (first != NULL) {
        *first = '\0';
    }
    const topo_ops_t *const ops = kind != NULL ? world_registry_topology(registry, kind) : NULL;
    if (first != NULL && ops != NULL && ops->attrs->count > 0) {
        const char *const path = ops->attrs->attrs[0].path;
        world_tree_add(
            map, world_tree_new_scalar(document, place, path + strlen(ops->attrs->prefix) + 1),
            world_tree_new_scalar(document, place, first + 1));
    }
    for (char *pair = strtok_r(NULL, ",", &rest); pair != NULL && result == SIM_OK;
         pair = strtok_r(NULL, ",", &rest)) {
        char *const equals = strchr(pair, '=');
        if (equals == NULL) {
            world_shown_t shown;
            result = world_fail(error, SIM_ERR_INVALID, &place, "'%s': expected NAME=VALUE",
                                world_show(&shown, pair));
            break;
        }
        *equals = '\0';
        world_tree_add(map, world_tree_new_scalar(document, place, pair),
                       world_tree_new_scalar(document, place, equals + 1));
    }
    world_tree_t *const choice = world_tree_new(document, WORLD_TREE_MAP, place);
    world_tree_add(choice, world_tree_new_scalar(document, place, kind != NULL ? kind : ""), map);
    world_tree_add(root, world_tree_new_scalar(document, place, "topology"), choice);
    sim_free(words);
    world_registry_destroy(registry);
    return result;
}

static sim_err_t load(const cli_args_t *args, world_scenario_t **scenario, world_error_t *error)
{
    if ((args->operand_count == 0) == (args->topology == NULL)) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "rocesim shell: %s, expected one scenario file, or --topology star:8",
                          args->topology == NULL ? "nothing given" : "a file and --topology given");
    }
    if (args->topology == NULL && strcmp(args->operands[0], "-") == 0) {
        return world_fail(
            error, SIM_ERR_INVALID, NULL,
            "rocesim shell: the standard input has the lines of the shell, expected a "
            "scenario file");
    }
    if (args->topology == NULL) {
        return world_scenario_load(NULL, args->operands[0], args->overrides, args->override_count,
                                   scenario, error);
    }
    world_document_t *const document = world_document_create();
    const world_place_t place = {world_document_text(document, "--topology"), 0, 0};
    world_tree_t *const root = world_tree_new(document, WORLD_TREE_MAP, place);
    const sim_err_t result = take_topology(args->topology, document, root, error);
    if (result != SIM_OK) {
        world_document_destroy(document);
        return result;
    }
    return world_scenario_load_tree(NULL, document, root, "shell.yaml", args->overrides,
                                    args->override_count, scenario, error);
}

// Refuses a scenario with programs of its own: a file that somebody sends starts nothing by itself.
static sim_err_t refuse_programs(const world_scenario_t *scenario, world_error_t *error)
{
    SIM_CHECK(scenario != NULL);
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        if (scenario->traffic[i].ops->machine_command != NULL) {
            return world_fail(
                error, SIM_ERR_INVALID, &scenario->traffic[i].place,
                "traffic.programs: the scenario would start programs of its own, which "
                "`rocesim check` lists; only `rocesim shell --programs` does that");
        }
    }
    return SIM_OK;
}

// -- its lines

static void run_lines(cli_shell_t *shell)
{
    const bool terminal = cli_input_is_terminal(shell->input);
    shell->place.origin = origin;
    while (!shell->leaves && !cli__shell_terminated()) {
        cli__shell_show_background(shell);
        char *const line =
            cli_input_line(shell->input, cli__shell_terminated, cli__shell_interrupted);
        if (line == NULL) {
            break;
        }
        shell->place.line += terminal ? 0 : 1;
        shell->place.column = terminal ? 0 : 1;
        if (cli__shell_run_line(shell, line) != SIM_OK) {
            fprintf(stderr, "%s\n", shell->error.text);
            if (!terminal) {
                shell->bad_line = true;
                return;
            }
        }
    }
    if (cli_input_is_too_long(shell->input)) {
        fprintf(stderr, "%s: a line has more than 1 MiB, which is the maximum\n", origin);
        shell->bad_line = true;
    } else if (!terminal && !shell->leaves && !cli__shell_terminated()) {
        cli__shell_wait(shell);
        (void)cli__shell_pass(shell, SIM_TIME_END, false);
    }
}

static sim_ended_t drive(world_t *world, void *ctx)
{
    cli_shell_t *const shell = ctx;
    shell->world = world;
    sim_on_window(world->sim, cli__shell_look, shell);
    (void)sim_step(world->sim, 0);
    cli__shell_catch_signals();
    run_lines(shell);
    cli__shell_show_background(shell);
    const bool terminated = cli__shell_terminated();
    cli__shell_release_signals();
    shell->ended = sim_last_step(world->sim);
    return terminated ? SIM_ENDED_INTERRUPTED : shell->ended;
}

// -- the scenario that repeats it

static sim_err_t begin(world_t *world, const char *folder, void *ctx, world_error_t *error)
{
    cli_shell_t *const shell = ctx;
    (void)world;
    (void)error;
    shell->folder = folder == NULL ? NULL : sim_strdup(folder);
    return SIM_OK;
}

static void put_text(results_file_t *file, const void *text)
{
    results_file_put(file, text);
}

// Writes scenario.yaml again, with the programs and faults of the shell, and the time at which it
// was left.
static sim_err_t end(world_t *world, void *ctx, world_error_t *error)
{
    const cli_shell_t *const shell = ctx;
    (void)world;
    if (shell->folder == NULL) {
        return SIM_OK;
    }
    world_run_config_t *const config = &shell->scenario->run;
    const sim_time_t until_ps = config->until_ps;
    if (shell->ended == SIM_ENDED_UNTIL) {
        config->until_ps = SIM_MIN(shell->now_ps, until_ps);
    }
    char *const text = world_scenario_resolved(shell->scenario);
    config->until_ps = until_ps;
    const sim_err_t result =
        results_file_write(shell->folder, "scenario.yaml", put_text, text, error);
    sim_free(text);
    return result;
}

int cli_command_shell(const cli_args_t *args)
{
    cli_shell_t shell = {.args = args};
    world_error_t error;
    sim_err_t result = load(args, &shell.scenario, &error);
    if (result == SIM_OK) {
        result = world_scenario_by_steps(shell.scenario, "a shell", &error);
    }
    if (result == SIM_OK && !args->starts_programs) {
        result = refuse_programs(shell.scenario, &error);
    }
    if (result != SIM_OK) {
        world_scenario_destroy(shell.scenario);
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    cli_args_t run_args = *args;
    run_args.quiet = true; // no line of progress
    run_args.starts_programs = true;
    const cli_run_extra_t extra = {.begin = begin,
                                   .end = end,
                                   .ctx = &shell,
                                   .drive = drive,
                                   .ends = cli__shell_why_ends};
    shell.input = cli_input_open(cli__shell_name_at, &shell);
    const int status = cli_run_scenario(&run_args, shell.scenario, &extra);
    cli_input_close(shell.input);
    sim_free(shell.programs);
    sim_free(shell.folder);
    world_scenario_destroy(shell.scenario);
    return shell.bad_line ? CLI_EXIT_BAD_INPUT : status;
}
