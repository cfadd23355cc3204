// SPDX-License-Identifier: Apache-2.0
// cli/observe_series_internal.h - what is observed (observe_sampler.c) and the rows it becomes
// (observe_series.c).
//
// A track is one path on change: a port, a NIC, a switch, or a queue pair. Its upper half belongs
// to the thread that runs the node, its lower half to the writer, which runs between windows.
#ifndef CLI_OBSERVE_SERIES_INTERNAL_H
#define CLI_OBSERVE_SERIES_INTERNAL_H

#include "cli/observe_series.h"

#include "cli/tables.h"
#include "kernel/record.h"

struct cli__sampler;

typedef struct cli__track {
    const struct cli__sampler *sampler;
    uint32_t qp_num;
    uint32_t peer; // QP: interface
    bool known;    // QP: it was found out whether
    bool wanted;   // the patterns mean it
    bool put;      // has a value
    uint64_t put_value;

    bool written;
    uint64_t written_value;
    size_t pending; // place among the pending rows plus 1; 0: none
} cli__track_t;

// One entity that a series observes.
typedef struct cli__sampler {
    cli_series_writer_t *writer;
    const cli_series_t *series;
    const net_node_t *node;
    const net_port_t *port; // PORT
    const cli_nic_t *nic;   // NIC, QP
    char *path;             // PORT, NIC, SWITCH; of QPs the part before the number
    bool on_change;
    bool begun;            // the first sample was taken: what comes later counts
    uint64_t load_bytes;   // at the sample before
    sim_time_t load_ps;    //
    cli__track_t track;    // PORT, NIC, SWITCH
    cli__track_t **tracks; // QP: open addressing by number
    uint32_t track_count;
    uint32_t track_capacity; // power of two
} cli__sampler_t;

typedef struct cli__series_record {
    const cli__sampler_t *sampler;
    cli__track_t *track; // on change; NULL: a sample
    uint64_t value;
    uint32_t qp_num; // QP
    uint32_t peer;   // QP: interface it is connected to
} cli__series_record_t;

struct cli_series_writer {
    const cli_world_t *world;
    cli_file_t *file;
    sim_stream_t *stream;
    uint64_t rows;
    uint64_t rows_left_out;
    cli__sampler_t **samplers;
    size_t sampler_count;
    size_t sampler_capacity;
    sim_time_t pending_ps;
    cli__series_record_t *pending; // of the instant pending_ps, in order
    size_t pending_count;
    size_t pending_capacity;
};

// Observes one entity of a node, as the series says; sampler gives which. Its path is then the
// writer's.
void cli__sampler_add(cli_series_writer_t *writer,
                      const cli_series_t *series,
                      net_node_t *node,
                      cli__sampler_t sampler);

#endif // CLI_OBSERVE_SERIES_INTERNAL_H
