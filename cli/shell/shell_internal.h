// SPDX-License-Identifier: Apache-2.0
// cli/shell/shell_internal.h - what the parts of `rocesim shell` share.
#ifndef CLI_SHELL_SHELL_INTERNAL_H
#define CLI_SHELL_SHELL_INTERNAL_H

#include "apps/processes.h"
#include "cli/args.h"
#include "cli/shell/input.h"
#include "world/world.h"

// A program of the world, by the index of its application.
typedef struct cli_shell_program {
    uint64_t shown_bytes[2]; // of its standard output and error
    bool end_shown;
} cli_shell_program_t;

typedef struct cli_shell {
    const cli_args_t *args;
    world_scenario_t *scenario;
    world_t *world; // while it runs
    cli_input_t *input;
    world_place_t place; // of the present line; line 0 at a terminal
    sim_time_t now_ps;
    uint64_t step_began_ns; // real time at which the present step began
    cli_shell_program_t *programs;
    size_t program_count;
    size_t program_capacity;
    app_t *foreground; // NULL: none
    unsigned ctrl_c;   // number of times that Ctrl-C was pressed while it was in the foreground
    char *folder;      // in which result files are being written; NULL: none are
    sim_ended_t ended; // how the last step ended
    bool leaves;
    bool bad_line;
    world_error_t error;
} cli_shell_t;

#endif // CLI_SHELL_SHELL_INTERNAL_H
