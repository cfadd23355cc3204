// SPDX-License-Identifier: Apache-2.0
// results/run/series_internal.h - what is observed (observe_sampler.c) and the rows it becomes
// (observe_series.c).
//
// A track is one path on change: a port, a NIC, a switch, or a queue pair. Its upper half belongs
// to the thread that runs the node, its lower half to the writer, which runs between windows.
#ifndef RESULTS_RUN_SERIES_INTERNAL_H
#define RESULTS_RUN_SERIES_INTERNAL_H

#include "results/run/observe_series.h"
#include "world/series.h"

#include "kernel/map.h"
#include "kernel/ranks.h"
#include "results/tables/event_rows.h"

struct results__sampler;

typedef struct results__track {
    const struct results__sampler *sampler;
    uint32_t qp_num;
    uint32_t peer; // QP: interface
    bool known;    // QP: it was found out whether
    bool wanted;   // the patterns mean it
    bool put;      // has a value
    uint64_t put_value;

    bool written;
    uint64_t written_value;
    size_t pending; // place among the pending rows plus 1; 0: none
} results__track_t;

// One entity that a series observes.
typedef struct results__sampler {
    results_series_writer_t *writer;
    size_t index; // among the writer's samplers
    const world_series_t *series;
    const net_node_t *node;
    const net_port_t *port; // PORT
    const world_nic_t *nic; // NIC, QP
    char *path;             // PORT, NIC, SWITCH; of QPs the part before the number
    bool on_change;
    bool met;                  // QP: one that the patterns mean was there
    bool begun;                // the first sample was taken: what comes later counts
    uint64_t times;            // samples that the next call counts as
    uint64_t left_out;         // samples that came after the file was full
    sim_time_t busy_ps;        // of utilisation: counted so far
    sim_time_t load_ps;        // of utilisation: up to this time
    results__track_t track;    // PORT, NIC, SWITCH
    results__track_t **tracks; // QP: in the order in which they were first seen
    uint32_t track_count;
    uint32_t track_capacity;
    sim_map_t track_of; // QP: from a queue pair's number to the index of its track
} results__sampler_t;

typedef struct results__series_record {
    const results__sampler_t *sampler;
    results__track_t *track; // on change; NULL: a sample
    uint64_t value;
    uint32_t qp_num; // QP
    uint32_t peer;   // QP: interface it is connected to
} results__series_record_t;

struct results_series_writer {
    const world_t *world;
    results_file_t *file;
    sim_stream_t *stream;
    uint64_t rows;
    uint64_t rows_left_out;
    bool full; // there are as many rows as may be: samplers only count. Set between windows
    bool *any; // of each of the scenario's series: it has a row
    results__sampler_t **samplers;
    size_t sampler_count;
    size_t sampler_capacity;
    sim_time_t pending_ps;
    results__series_record_t *pending; // of the instant pending_ps, in order
    size_t pending_count;
    size_t pending_capacity;
};

// Returns the track of a queue pair number, made where there is none.
results__track_t *results__track_of_number(results__sampler_t *sampler, uint32_t number);

// Observes one entity of a node, as the series says; sampler gives which. Its path is then the
// writer's.
void results__sampler_add(results_series_writer_t *writer, const world_series_t *series,
                          net_node_t *node, results__sampler_t sampler);

#endif // RESULTS_RUN_SERIES_INTERNAL_H
