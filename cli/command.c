// SPDX-License-Identifier: Apache-2.0
// cli/command.c - parses the command line and calls the function of the command.
#include "cli/command.h"
#include "cli/arena/arena.h"
#include "cli/calibrate/calibrate.h"
#include "cli/check.h"
#include "cli/expect/expect.h"
#include "cli/headroom/headroom.h"
#include "cli/hpcc/hpcc.h"
#include "cli/import/import.h"
#include "cli/library.h"
#include "cli/plot/plot.h"
#include "cli/run.h"
#include "cli/sweep/sweep.h"
#include "results/schema.h"

#include "cli/output.h"
#include "cli/ranks/ranks.h"

#include "cli/capture/capture.h"
#include "cli/compare/compare.h"
#include "cli/diff/diff.h"
#include "cli/explain/explain.h"
#include "cli/manual.h"
#include "cli/meta/meta.h"
#include "cli/params.h"
#include "cli/serve/serve.h"
#include "cli/shell/shell.h"
#include "cli/studio_exec.h"
#include "cli/timeline/timeline.h"
#include "cli/what_if/failures.h"
#include "cli/workload/workload.h"
#include "results/manifest.h"
#include "results/outputs_page.h"
#include "results/result_folder.h"
#include "world/control_characters.h"
#include "world/parameters.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_report_failure(const world_error_t *error, int status)
{
    char *const kind = error->input[0] != '\0' ? cli_workload_kind(error->input) : NULL;
    fprintf(stderr, "%s%s%s\n", error->text, kind != NULL ? "; " : "", kind != NULL ? kind : "");
    sim_free(kind);
    return status;
}

// Prints `json` indented on stdout, and frees it. Returns the exit status.
static int print_json(json_t *json)
{
    cli_print_json(json);
    return cli_finish_output(CLI_EXIT_DONE);
}

static int command_schema(const cli_args_t *args)
{
    const bool scenario = args->operand_count > 0;
    if (scenario && strcmp(args->operands[0], "scenario") != 0) {
        (void)fprintf(stderr, "rocesim schema %s: expected scenario\n", args->operands[0]);
        return 2;
    }
    world_registry_t *registry = NULL;
    world_error_t error;
    if (cli_params_registry(args, &registry, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    json_t *const schema =
        scenario ? results_scenario_schema_json(registry) : results_schema_json(registry);
    world_registry_destroy(registry);
    return print_json(schema);
}

// Prints all attributes, or the parameters of a scenario, as JSON.
static int params_json(const world_registry_t *registry, const char *operand)
{
    if (cli_params_is_file(operand)) {
        world_error_t error;
        world_scenario_t *scenario = NULL;
        if (world_scenario_load(registry, operand, NULL, 0, &scenario, &error) != SIM_OK) {
            return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
        }
        json_t *const json = world_parameters_json(scenario->root);
        world_scenario_destroy(scenario);
        return print_json(json);
    }
    return print_json(results_parameters_json(registry));
}

static int command_params(const cli_args_t *args)
{
    world_error_t error;
    const char *const operand = args->operand_count > 0 ? args->operands[0] : "";
    world_registry_t *registry = NULL;
    sim_err_t result = cli_params_registry(args, &registry, &error);
    int status = CLI_EXIT_DONE;
    if (result == SIM_OK && args->json) {
        status = params_json(registry, operand);
    } else if (result == SIM_OK && args->markdown) {
        cli_params_markdown(registry, stdout);
    } else if (result == SIM_OK && args->outputs_markdown) {
        results_outputs_markdown(stdout);
    } else if (result == SIM_OK) {
        result = cli_params_is_file(operand)
                     ? cli_params_scenario(registry, operand, stdout, &error)
                     : cli_params_print(registry, operand, stdout, &error);
    }
    world_registry_destroy(registry);
    if (result != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    return args->json ? status : cli_finish_output(CLI_EXIT_DONE);
}

static int command_diff(const cli_args_t *args)
{
    world_error_t error;
    bool same = false;
    const cli_diff_side_t a = {args->operands[0], args->programs[0]};
    const cli_diff_side_t b = {args->operands[1], args->programs[1]};
    if (cli_diff(&a, &b, stdout, &same, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    const int status = cli_finish_output(CLI_EXIT_DONE);
    return status == CLI_EXIT_DONE && !same ? CLI_EXIT_FAILED : status;
}

static int command_compare(const cli_args_t *args)
{
    world_error_t error;
    char **runs;
    size_t run_count;
    bool by_point = args->seeds;
    for (size_t i = 0; i < args->operand_count; i++) {
        by_point = by_point || (!args->csv && results_result_is_sweep(args->operands[i]));
    }
    const cli_compare_options_t options = {by_point, args->csv, args->app};
    sim_err_t result =
        results_result_runs(args->operands, args->operand_count, &runs, &run_count, &error);
    if (result == SIM_OK) {
        const char *const *const folders = (const char *const *)runs;
        result = cli_compare(folders, run_count, &options, stdout, &error);
    }
    sim_free_each(runs, run_count);
    sim_free(runs);
    return result == SIM_OK ? cli_finish_output(CLI_EXIT_DONE)
                            : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
}

static int command_meta(const cli_args_t *args)
{
    world_error_t error;
    const cli_meta_options_t options = {
        .action = args->operands[0],
        .from = args->operand_count > 1 ? args->operands[1] : NULL,
        .etcd = args->etcd,
        .memcached = args->memcached,
    };
    const sim_err_t result = cli_meta(&options, stdout, &error);
    if (result != SIM_OK) {
        return cli_report_failure(&error,
                                  result == SIM_ERR_IO ? CLI_EXIT_FAILED : CLI_EXIT_BAD_INPUT);
    }
    return cli_finish_output(CLI_EXIT_DONE);
}

static int command_help(const cli_args_t *args)
{
    world_error_t error;
    if (args->shell != NULL) {
        if (cli_manual_completion(args->shell, stdout, &error) != SIM_OK) {
            return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
        }
    } else if (args->manual) {
        cli_manual_page(args->help_of, stdout);
    } else {
        fputs(cli_help_text(args->help_of), stdout);
    }
    return cli_finish_output(CLI_EXIT_DONE);
}

// Prints the version of the program, and with --json those of its formats (docs/compatibility.md).
static int command_version(const cli_args_t *args)
{
    char *const library = cli_ranks_library();
    if (args->json) {
        json_t *const json = json_pack("{s:s, s:s?, s:{s:i, s:i, s:i}}", "version", ROCESIM_VERSION,
                                       "mpi", library, "formats", "scenario", WORLD_SCENARIO_FORMAT,
                                       "results", RESULTS_FORMAT, "sessions", SERVE_PROTOCOL);
        SIM_CHECK(json != NULL);
        sim_free(library);
        return print_json(json);
    }
    if (library != NULL) {
        printf("rocesim %s, with %s\n", ROCESIM_VERSION, library);
    } else {
        printf("rocesim %s, without MPI\n", ROCESIM_VERSION);
    }
    sim_free(library);
    return cli_finish_output(CLI_EXIT_DONE);
}

// Refuses a command that simulates in one process where mpirun started several.
static sim_err_t check_alone(const cli_args_t *args, world_error_t *error)
{
    const unsigned processes = cli_ranks_processes();
    const bool alone = args->command == CLI_HPCC || args->command == CLI_SWEEP ||
                       args->command == CLI_SERVE || args->command == CLI_SHELL ||
                       args->command == CLI_CALIBRATE || args->command == CLI_EXPECT ||
                       args->command == CLI_ARENA || args->command == CLI_WHAT_IF ||
                       args->live_count > 0 || args->pace != NULL;
    if (!alone || processes < 2) {
        return SIM_OK;
    }
    return world_fail(
        error, SIM_ERR_INVALID, NULL,
        "rocesim %s: mpirun started %u processes, but this command runs in one; expected "
        "the command without mpirun%s",
        cli_command_name(args->command), processes,
        args->command == CLI_SWEEP ? ", and its option --ranks" : "");
}

static int dispatch(const cli_args_t *args)
{
    world_error_t error;
    if (check_alone(args, &error) != SIM_OK) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    static int (*const commands[])(const cli_args_t *args) = {
        [CLI_LIST] = cli_command_list,
        [CLI_SHOW] = cli_command_show,
        [CLI_NEW] = cli_command_new,
        [CLI_EXPECT] = cli_command_expect,
        [CLI_RUN] = cli_command_run,
        [CLI_HPCC] = cli_command_hpcc,
        [CLI_CHECK] = cli_command_check,
        [CLI_TOPO] = cli_command_topo,
        [CLI_PARAMS] = command_params,
        [CLI_COMPARE] = command_compare,
        [CLI_PLOT] = cli_command_plot,
        [CLI_TIMELINE] = cli_command_timeline,
        [CLI_EXPLAIN] = cli_command_explain,
        [CLI_CAPTURE] = cli_command_capture,
        [CLI_SERVE] = cli_command_serve,
        [CLI_SHELL] = cli_command_shell,
        [CLI_CONVERT] = cli_command_convert,
        [CLI_IMPORT] = cli_command_import,
        [CLI_SWEEP] = cli_command_sweep,
        [CLI_WHAT_IF] = cli_command_what_if,
        [CLI_HEADROOM] = cli_command_headroom,
        [CLI_ARENA] = cli_command_arena,
        [CLI_CALIBRATE] = cli_command_calibrate,
        [CLI_DIFF] = command_diff,
        [CLI_SCHEMA] = command_schema,
        [CLI_META] = command_meta,
        [CLI_HELP] = command_help,
        [CLI_VERSION] = command_version,
        [CLI_PROGRAM] = command_version,
    };
    return commands[args->command](args);
}

// Returns whether the command prints what programs read: CSV, DOT or lines of a shell.
static bool prints_data(const cli_args_t *args)
{
    return (args->command == CLI_COMPARE && args->csv) || args->command == CLI_TOPO ||
           args->command == CLI_CONVERT || args->command == CLI_TIMELINE ||
           args->command == CLI_IMPORT || args->command == CLI_SERVE || args->manual ||
           args->shell != NULL || args->show_cell != NULL ||
           (args->command == CLI_SWEEP && (args->print_jobs || args->slurm));
}

// Lets the standard output show control characters, which names from files may have. Data that
// does not go to a terminal stays as it is.
static void show_controls(const cli_args_t *args)
{
    const bool json = args->command == CLI_SCHEMA || args->json;
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    if (!prints_data(args) || terminal) {
        const world_shown_kind_t kind = json ? WORLD_SHOWN_JSON : WORLD_SHOWN_TEXT;
        FILE *const shown = world_shown_open(STDOUT_FILENO, kind, terminal);
        stdout = shown != NULL ? shown : stdout;
    }
}

// Closes the stream that shows control characters, and returns the one it stands before.
static FILE *without_shown(FILE *stream, FILE *own)
{
    if (stream != own) {
        (void)fclose(stream); // commands have flushed what they wrote, and looked for errors
    }
    return own;
}

int cli_main(int argc, const char *const *argv)
{
    // A file that reaches the size limit becomes a write error instead of a signal.
    signal(SIGXFSZ, SIG_IGN);
    if (argc > 1 && strcmp(argv[1], "studio") == 0) {
        return cli_studio_exec(argc, argv);
    }
    FILE *const own_output = stdout;
    FILE *const own_error = stderr;
    FILE *const shown = world_shown_open(STDERR_FILENO, WORLD_SHOWN_TEXT, true);
    stderr = shown != NULL ? shown : stderr;
    cli_args_t args;
    world_error_t error;
    int status = CLI_EXIT_DONE;
    if (cli_args_parse(argc, argv, &args, &error) != SIM_OK ||
        cli_library_resolve(&args, &error) != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else {
        show_controls(&args);
        status = dispatch(&args);
    }
    cli_args_fini(&args);
    stdout = without_shown(stdout, own_output);
    stderr = without_shown(stderr, own_error);
    return status;
}
