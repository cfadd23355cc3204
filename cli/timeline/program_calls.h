// SPDX-License-Identifier: Apache-2.0
// cli/timeline/program_calls.h - the calls of programs in the folder of a run.
#ifndef CLI_TIMELINE_PROGRAM_CALLS_H
#define CLI_TIMELINE_PROGRAM_CALLS_H

#include "world/error.h"

// One call, as a line of DIR/programs/HOST-N.trace has it.
typedef struct cli_call {
    const char *host; // name of its host, host_bytes long
    size_t host_bytes;
    uint64_t program; // number of the program among those of its host
    uint64_t thread;
    sim_time_t time_ps;
    const char *text;  // with arguments and result
    size_t name_bytes; // of the function, at the beginning of the text
} cli_call_t;

typedef void (*cli_call_fn)(const cli_call_t *call, void *ctx);

// Calls fn for each call of each program, in the order of programs' names. A folder without such
// files has none.
SIM_MUST_CHECK sim_err_t cli__timeline_calls(const char *folder, cli_call_fn fn, void *ctx,
                                             world_error_t *error);

#endif // CLI_TIMELINE_PROGRAM_CALLS_H
