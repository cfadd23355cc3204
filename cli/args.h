// SPDX-License-Identifier: Apache-2.0
// cli/args.h - the command line, read.
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
    CLI_HELP,
    CLI_VERSION,
} cli_command_t;

typedef struct cli_args {
    cli_command_t command;
    cli_command_t help_of; // HELP: CLI_HELP itself for the whole program
    const char **operands; // not copied
    size_t operand_count;
    size_t operand_capacity;
    const char *folder; // -o; NULL: none. Of plot, calibrate: a file
    const char **kinds; // plot; not copied
    size_t kind_count;
    size_t kind_capacity;
    const char *x;           // plot
    const char *y;           // plot
    const char *app;         // plot, compare; NULL: none
    bool seeds;              // compare
    bool csv;                // compare
    const char *programs[2]; // diff: that made A and B; NULL: this one
    const char *etcd;        // mooncake-meta; NULL: not given
    const char *memcached;   // likewise
    const char *jobs;        // sweep; NULL: not given
    bool print_jobs;         // sweep
    bool slurm;              // sweep
    const char *progress;    // run; NULL: not given
    bool quiet;
    bool json;
    bool markdown;         // params
    bool outputs_markdown; // params
    world_override_t *overrides;
    size_t override_count;
    size_t override_capacity;
    char **texts; // that the overrides point to
    size_t text_count;
    size_t text_capacity;
} cli_args_t;

// Reads argv; free what is inside with cli_args_fini, also on error.
SIM_MUST_CHECK sim_err_t cli_args_parse(int argc,
                                        const char *const *argv,
                                        cli_args_t *args,
                                        world_error_t *error);
void cli_args_fini(cli_args_t *args);

// What `rocesim COMMAND --help` prints.
const char *cli_help_text(cli_command_t command);

#endif // CLI_ARGS_H
