// SPDX-License-Identifier: Apache-2.0
// cli/expect/command.c - `rocesim expect`: runs the scenarios of files of expectations one after
// another.
#include "cli/expect/expect.h"
#include "cli/expect/judge.h"
#include "cli/expect/outcomes.h"

#include "cli/command.h"
#include "cli/output.h"
#include "cli/plugins/limited_run.h"
#include "cli/processes.h"
#include "results/runner.h"

#include <string.h>

// Returns whether an expectation of the case names one of the values, of any application.
static bool is_about(const cli_expect_case_t *one, const char *const *names)
{
    for (size_t i = 0; i < one->expectation_count; i++) {
        const char *const path = one->expectations[i].path;
        const char *const dot = strrchr(path, '.');
        for (const char *const *name = names; *name != NULL; name++) {
            if (strcmp(dot == NULL ? path : dot + 1, *name) == 0) {
                return true;
            }
        }
    }
    return false;
}

// Returns why a program of the scenario failed; NULL: none did.
static char *failed_program(const world_t *world)
{
    for (size_t i = 0; i < world->app_count; i++) {
        const char *const why = app_failure(world->apps[i]);
        if (why != NULL && strcmp(world->apps[i]->ops->name, "programs") == 0) {
            return sim_format("traffic[%zu] (programs) failed: %s", i, why);
        }
    }
    return NULL;
}

// Returns why a run is no good; NULL: it is. A run may stall and a program may fail if an
// expectation is about that.
static char *fault_of(results_run_t *run, const cli_expect_case_t *one)
{
    static const char *const end_of_run[] = {"ended", NULL};
    static const char *const end_of_program[] = {"end", "exit_status", "succeeded", NULL};
    const results_t *const results = results_of(run);
    if (results->ended == SIM_ENDED_STALLED && !is_about(one, end_of_run)) {
        return sim_strdup(
            "the run stalled: traffic waits for ever (expect 'ended == stalled' if it "
            "should)");
    }
    if (!results->conservation_ok) {
        return sim_format("packets are not conserved: %s", results->conservation_message.text);
    }
    if (!results_files_whole(run)) {
        return sim_strdup(results_error(run));
    }
    return is_about(one, end_of_program) ? NULL : failed_program(results_world(run));
}

// Runs the scenario of a case and judges its expectations. Returns SIM_OK also if they are missed.
static sim_err_t run_case(const cli_args_t *args, cli_expect_case_t *one, const char *folder,
                          world_error_t *error)
{
    const size_t count = args->override_count + one->setting_count; // plug-ins, then settings
    world_override_t *const overrides = sim_alloc_array(count + 1, sizeof(*overrides));
    for (size_t i = 0; i < args->override_count; i++) {
        overrides[i] = args->overrides[i];
    }
    for (size_t i = 0; i < one->setting_count; i++) {
        overrides[args->override_count + i] =
            (world_override_t){.shown = one->settings[i], .text = one->settings[i]};
    }
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    cli_programs_t programs;
    sim_err_t result = world_scenario_load(NULL, one->scenario, overrides, count, &scenario, error);
    if (result == SIM_OK) {
        cli_plugins_watch(scenario);
        if (args->starts_programs) {
            cli_programs_allow(&programs);
            programs.permission.keeps_output = folder != NULL;
            scenario->programs = &programs.permission;
        }
        const results_options_t options = {.folder = folder, .scenario_file = one->scenario};
        result = results_execute(scenario, &options, &run, error);
    }
    if (result == SIM_OK) {
        one->failure = fault_of(run, one);
        if (args->starts_programs && folder != NULL && results_files_whole(run)) {
            result = cli_programs_save(results_world(run), folder, error);
        }
        one->seconds = results_of(run)->wall_s;
        for (size_t i = 0; i < one->expectation_count; i++) {
            cli_expect_judge(&one->expectations[i], results_json(run));
        }
        results_run_destroy(run);
    }
    world_scenario_destroy(scenario);
    sim_free(overrides);
    return result;
}

// Runs all cases of a file and prints their outcomes. A scenario that is refused fails its case.
// Returns the exit status.
static int run_file(const cli_args_t *args, cli_expect_file_t *file)
{
    int status = CLI_EXIT_DONE;
    for (size_t c = 0; c < file->case_count; c++) {
        cli_expect_case_t *const one = &file->cases[c];
        const bool alone = args->operand_count == 1 && file->case_count == 1;
        char *const folder = args->folder == NULL ? NULL
                             : alone              ? sim_strdup(args->folder)
                                                  : sim_format("%s/%s", args->folder, one->name);
        world_error_t error;
        if (run_case(args, one, folder, &error) != SIM_OK) {
            one->failure = sim_strdup(error.text);
            status = CLI_EXIT_BAD_INPUT;
        }
        sim_free(folder);
        cli_expect_print(one, stdout);
        (void)fflush(stdout);
        status = status == CLI_EXIT_DONE && one->failure != NULL ? CLI_EXIT_FAILED : status;
        for (size_t i = 0; i < one->expectation_count; i++) {
            const cli_expect_outcome_t outcome = one->expectations[i].outcome;
            if (outcome == CLI_EXPECT_UNKNOWN) {
                status = CLI_EXIT_BAD_INPUT;
            } else if (outcome == CLI_EXPECT_MISSED && status == CLI_EXIT_DONE) {
                status = CLI_EXIT_FAILED;
            }
        }
    }
    return status;
}

int cli_command_expect(const cli_args_t *args)
{
    const size_t count = args->operand_count;
    cli_expect_file_t *const files = sim_alloc_array(count, sizeof(*files));
    world_error_t error;
    size_t loaded = 0;
    sim_err_t result = SIM_OK;
    while (loaded < count && result == SIM_OK) {
        result = cli_expect_load(args->operands[loaded], &files[loaded], &error);
        loaded++;
    }
    int status = result == SIM_OK ? CLI_EXIT_DONE : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        const int of_file = run_file(args, &files[i]);
        status = SIM_MAX(of_file, status);
    }
    if (result == SIM_OK && args->junit != NULL &&
        cli_expect_write_junit(files, count, args->junit, &error) != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_FAILED);
    }
    for (size_t i = 0; i < loaded; i++) {
        cli_expect_fini(&files[i]);
    }
    sim_free(files);
    return status == CLI_EXIT_DONE ? cli_finish_output(status) : status;
}
