// SPDX-License-Identifier: Apache-2.0
// cli/hpcc_output_internal.h - the outputs of `rocesim hpcc`, shared by the files that write them.
#ifndef CLI_HPCC_OUTPUT_INTERNAL_H
#define CLI_HPCC_OUTPUT_INTERNAL_H

#include "cli/file.h"
#include "cli/hpcc.h"
#include "kernel/record.h"

struct cli_hpcc_outputs {
    cli_hpcc_t *hpcc;
    cli_world_t *world;
    const char *folder;
    cli_file_t *fct;
    cli_file_t *pfc;
    sim_stream_t *pause_stream;
};

#endif // CLI_HPCC_OUTPUT_INTERNAL_H
