// SPDX-License-Identifier: Apache-2.0
// cli/args.h - the command line as a struct: the command, its operands and its options.
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "world/scenario.h"

typedef enum cli_command {
    CLI_RUN,
    CLI_HPCC,
    CLI_CHECK,
    CLI_TOPO,
    CLI_PARAMS,
    CLI_COMPARE,
    CLI_PLOT,
    CLI_SCHEMA,
    CLI_SWEEP,
    CLI_CALIBRATE,
    CLI_META,
    CLI_DIFF,
    CLI_CONVERT,
    CLI_TIMELINE,
    CLI_SERVE,
    CLI_HELP,
    CLI_VERSION,
} cli_command_t;

typedef struct cli_args {
    cli_command_t command;
    cli_command_t help_of; // the command that CLI_HELP explains; CLI_HELP: the whole program
    const char **operands; // borrowed from argv
    size_t operand_count;
    size_t operand_capacity;
    int argc; // as main got them, borrowed
    const char *const *argv;
    const char *ranks;  // run; NULL: not given
    bool print_slurm;   // run
    const char *folder; // -o: a folder, or a file; NULL: not given
    const char **kinds; // plot; borrowed from argv
    size_t kind_count;
    size_t kind_capacity;
    const char *x;           // plot; NULL: not given
    const char *y;           // plot; NULL: not given
    const char *app;         // plot, compare; NULL: not given
    bool seeds;              // compare
    bool csv;                // compare
    const char *programs[2]; // diff: the programs that made A and B; NULL: this one
    const char *etcd;        // mooncake-meta; NULL: not given
    const char *memcached;   // mooncake-meta; NULL: not given
    const char *jobs;        // sweep; NULL: not given
    bool print_jobs;         // sweep
    bool slurm;              // sweep
    const char *progress;    // run; NULL: not given
    const char *listen;      // serve; NULL: not given
    const char *from;        // timeline; NULL: not given
    const char *to;          // timeline; NULL: not given
    bool quiet;
    bool json;
    bool markdown;         // params
    bool outputs_markdown; // params
    world_override_t *overrides;
    size_t override_count;
    size_t override_capacity;
    char **texts; // owned; the overrides point into them
    size_t text_count;
    size_t text_capacity;
} cli_args_t;

// Reads argv into args, which borrows its strings. Call cli_args_fini afterwards, also on error.
SIM_MUST_CHECK sim_err_t cli_args_parse(int argc,
                                        const char *const *argv,
                                        cli_args_t *args,
                                        world_error_t *error);
void cli_args_fini(cli_args_t *args);

// Returns the text that `rocesim COMMAND --help` prints (cli/help.c).
const char *cli_help_text(cli_command_t command);

#endif // CLI_ARGS_H
