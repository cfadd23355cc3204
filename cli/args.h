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
    CLI_ARENA,
    CLI_CALIBRATE,
    CLI_META,
    CLI_DIFF,
    CLI_CONVERT,
    CLI_TIMELINE,
    CLI_SERVE,
    CLI_CAPTURE,
    CLI_EXPLAIN,
    CLI_LIST,
    CLI_SHOW,
    CLI_NEW,
    CLI_EXPECT,
    CLI_IMPORT,
    CLI_WHAT_IF,
    CLI_HEADROOM,
    CLI_SHELL,
    CLI_HELP,
    CLI_VERSION,
    CLI_PROGRAM, // what help is about: the program and not one of its commands
} cli_command_t;

typedef struct cli_args {
    cli_command_t command;
    cli_command_t help_of; // what CLI_HELP explains
    const char **operands; // borrowed from argv
    size_t operand_count;
    size_t operand_capacity;
    int argc; // as main got them, borrowed
    const char *const *argv;
    const char *ranks;  // run, check; NULL: not given
    bool print_slurm;   // run
    const char *folder; // -o: a folder, or a file; NULL: not given
    const char **kinds; // plot, what-if; borrowed from argv
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
    const char *jobs;        // sweep, arena, what-if; NULL: not given
    bool print_jobs;         // sweep
    bool slurm;              // sweep
    const char *progress;    // run; NULL: not given
    const char *listen;      // serve, as the next five; NULL: not given
    const char *token;
    const char *clients;
    const char *client_memory;
    const char *call_time;
    const char *idle_time;
    const char *from;     // timeline, capture cut; NULL: not given
    const char *to;       // timeline, capture cut; NULL: not given
    const char *events;   // timeline; NULL: not given
    const char *packet;   // capture follow; NULL: not given
    bool comments;        // capture split
    bool what_if;         // explain
    const char *controls; // arena, as the next eight: --cc; NULL: not given
    const char *cells;
    const char *show_cell;
    const char *hidden_seed;
    const char *baseline;
    const char *seed_count; // --seeds N, also of sweep
    bool list_cells;
    bool quick;
    bool starts_programs; // run, sweep, expect
    bool traces_programs; // run, shell
    const char *topology; // shell; NULL: not given
    bool no_hosts;        // import
    const char *links;    // import; NULL: not given
    const char **live;    // run; borrowed from argv
    size_t live_count;
    size_t live_capacity;
    const char *pace;     // run; NULL: not given
    bool explains;        // run
    const char **plugins; // borrowed from argv; the overrides append them to the scenario's
    size_t plugin_count;
    size_t plugin_capacity;
    bool plugin_limits;    // run, sweep
    const char *junit;     // expect: file of the report; NULL: not given
    const char **counters; // explain: files of measured counters; borrowed from argv
    size_t counter_count;
    size_t counter_capacity;
    const char *fail_at;  // what-if: --at; NULL: not given
    const char *response; // headroom, as the next three; NULL: not given
    const char *length;
    const char *cell;
    const char *mtu;
    const char *burst;
    bool quiet;
    bool json;
    bool markdown;         // params, import
    bool manual;           // help: print a manual page
    const char *shell;     // help: print completions for this shell; NULL: not given
    bool outputs_markdown; // params
    world_override_t *overrides;
    size_t override_count;
    size_t override_capacity;
    char **texts; // owned; the overrides point into them
    size_t text_count;
    size_t text_capacity;
} cli_args_t;

// Reads argv into args, which borrows its strings. Call cli_args_fini afterwards, also on error.
SIM_MUST_CHECK sim_err_t cli_args_parse(int argc, const char *const *argv, cli_args_t *args,
                                        world_error_t *error);
void cli_args_fini(cli_args_t *args);

// Returns the text that `rocesim COMMAND --help` prints (cli/help.c).
const char *cli_help_text(cli_command_t command);

// Returns the word that names a command; "": it is no command.
const char *cli_command_name(cli_command_t command);
// Sets *command to number i of all commands; returns false if there are no more.
bool cli_command_at(size_t i, cli_command_t *command);
// Returns the next option of the command at or behind row *i of the table, and advances *i past
// it; NULL: there are no more.
const char *cli_option_at(cli_command_t command, size_t *i, bool *has_value);

#endif // CLI_ARGS_H
