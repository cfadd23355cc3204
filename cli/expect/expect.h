// SPDX-License-Identifier: Apache-2.0
// cli/expect/expect.h - `rocesim expect`: runs scenarios and checks what is expected of their
// results.
//
// plan.c reads a file of expectations, judge.c compares one with a summary, outcomes.c prints the
// outcome and writes it as JUnit, command.c runs the scenarios. docs/formats/expect.md
#ifndef CLI_EXPECT_EXPECT_H
#define CLI_EXPECT_EXPECT_H

#include "cli/args.h"
#include "world/yaml_tree.h"

typedef enum cli_expect_op {
    CLI_EXPECT_BELOW,
    CLI_EXPECT_AT_MOST,
    CLI_EXPECT_ABOVE,
    CLI_EXPECT_AT_LEAST,
    CLI_EXPECT_EQUAL,
    CLI_EXPECT_UNEQUAL,
    CLI_EXPECT_WITHIN,
} cli_expect_op_t;

typedef enum cli_expect_outcome {
    CLI_EXPECT_OPEN, // its scenario has not run
    CLI_EXPECT_MET,
    CLI_EXPECT_MISSED,
    CLI_EXPECT_UNKNOWN, // the summary has nothing of this name
} cli_expect_outcome_t;

// "flows.slowdown.p99 < 12", "ended == done", "iteration_ms within 2 % of 45.3".
typedef struct cli_expectation {
    const world_tree_t *item; // in the file
    char *path;               // of a value in summary.json
    cli_expect_op_t op;
    double value;
    double margin; // of WITHIN, in the unit of the value
    char *word;    // that is expected instead of a number; NULL: a number is
    cli_expect_outcome_t outcome;
    char *found; // what the summary has, in words; NULL: not judged
} cli_expectation_t;

// A scenario, and what is expected of its results.
typedef struct cli_expect_case {
    char *name;
    char *scenario;  // path of its file
    char **settings; // "PATH=VALUE"
    size_t setting_count;
    size_t setting_capacity;
    cli_expectation_t *expectations;
    size_t expectation_count;
    char *failure; // why there are no results, or why they are no good; NULL: neither
    double seconds;
} cli_expect_case_t;

typedef struct cli_expect_file {
    const char *name;
    world_document_t *document;
    cli_expect_case_t *cases;
    size_t case_count;
} cli_expect_file_t;

// Reads a file of expectations. Call cli_expect_fini afterwards, also on error.
SIM_MUST_CHECK sim_err_t cli_expect_load(const char *name, cli_expect_file_t *file,
                                         world_error_t *error);
void cli_expect_fini(cli_expect_file_t *file);

// The command `rocesim expect`. Returns the exit status.
int cli_command_expect(const cli_args_t *args);

#endif // CLI_EXPECT_EXPECT_H
