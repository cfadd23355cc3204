// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/output_internal.h - the outputs of `rocesim hpcc`, shared by the files that write them.
#ifndef CLI_HPCC_OUTPUT_INTERNAL_H
#define CLI_HPCC_OUTPUT_INTERNAL_H

#include "cli/hpcc/outputs.h"
#include "kernel/record.h"
#include "results/file.h"

typedef struct cli__hpcc_qlen cli__hpcc_qlen_t;
typedef struct cli__hpcc_trace cli__hpcc_trace_t;
typedef struct cli__hpcc_monitors cli__hpcc_monitors_t;

struct cli_hpcc_outputs {
    cli_hpcc_t *hpcc;
    world_t *world;
    const char *folder;
    results_file_t *fct;
    results_file_t *pfc;
    sim_stream_t *pause_stream;
    results_file_t *qlen; // NULL: the config asks for no qlen.txt
    cli__hpcc_qlen_t *qlen_monitors;
    results_file_t *monitored[4]; // by cli__hpcc_monitor_t; NULL: not asked for
    cli__hpcc_monitors_t *monitors;
    results_file_t *packets; // NULL: no node is traced
    cli__hpcc_trace_t *trace;
};

// Appends a record with its simulated time to the stream.
void cli__hpcc_put(sim_stream_t *stream, const net_trace_t *trace, const void *record,
                   size_t record_bytes);

// -- packets.txt (trace.c)
void cli__hpcc_trace_attach(cli_hpcc_outputs_t *outputs);
void cli__hpcc_trace_free(cli__hpcc_trace_t *trace);

#endif // CLI_HPCC_OUTPUT_INTERNAL_H
