// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/hpcc.h - the parts of `rocesim hpcc`: inputs, the scenario made of them, and outputs.
#ifndef CLI_HPCC_HPCC_H
#define CLI_HPCC_HPCC_H

#include "apps/flow_file.h"
#include "cli/args.h"
#include "cli/hpcc/config.h"
#include "cli/hpcc/paths.h"
#include "world/world.h"

// A file that the config names: the path under which it was found, and its text.
typedef struct cli_hpcc_file {
    char *path; // NULL: the config names no such file
    char *text;
    size_t size_bytes;
} cli_hpcc_file_t;

// An input that an option gives instead of the config.
typedef struct cli_hpcc_given {
    const char *name;  // of the file; NULL: the config gives it
    const char *shown; // the option, for messages
} cli_hpcc_given_t;

typedef struct cli_hpcc {
    cli_hpcc_config_t *config;
    cli_hpcc_given_t given[2];         // the topology, the flows
    bool compat;                       // use the simulator's models instead of our own
    const world_override_t *overrides; // --set
    size_t override_count;
    cli_hpcc_file_t topology_file;
    cli_hpcc_file_t flow_file;
    cli_hpcc_file_t trace_file;
    topo_file_t *topology;
    app_flow_file_t flows;
    uint32_t *traced; // nodes whose packets are traced
    size_t traced_count;
    cli_hpcc_paths_t *paths;
    uint64_t rtt_ns_max;
    uint64_t bdp_bytes_max;
    char **notes; // lines that are printed on stderr if the inputs are valid
    size_t note_count;
    size_t note_capacity;
} cli_hpcc_t;

// Adds the line "note: PLACE: text" to the notes.
void cli_hpcc_note(cli_hpcc_t *hpcc, const world_place_t *place, const char *format, ...)
    SIM_PRINTF(3, 4);

// Reads the config and the files that it names. Call cli_hpcc_fini afterwards, also on failure.
SIM_MUST_CHECK sim_err_t cli_hpcc_load(cli_hpcc_t *hpcc, const char *file_name,
                                       world_error_t *error);
void cli_hpcc_fini(cli_hpcc_t *hpcc);

// -- outputs: create them before the run, close them after it. folder NULL: write to the files that
// -- the config names.

int cli_command_hpcc(const cli_args_t *args);

#endif // CLI_HPCC_HPCC_H
