// SPDX-License-Identifier: Apache-2.0
// results/results.h - the totals of a finished run: sums and percentiles over flows, ports and
// NICs.
#ifndef RESULTS_RESULTS_H
#define RESULTS_RESULTS_H

#include "net/port_metrics.h"
#include "results/flow_bins.h"
#include "results/reordering.h"
#include "results/span.h"
#include "world/warnings.h"
#include "world/world.h"

SIM_C_BEGIN

typedef struct results_pause_roots results_pause_roots_t; // results/totals/pause_roots.h

typedef struct results {
    sim_ended_t ended;
    sim_time_t sim_time_ps;
    sim_time_t traffic_from_ps; // first start of a flow; 0 where there are programs without flows
    uint64_t digest;
    uint64_t outcome; // results/totals/outcome.h
    uint64_t events;
    uint64_t packet_hops;
    net_tally_t packets;
    uint64_t packets_in_flight;
    bool conservation_ok;
    sim_message_t conservation_message;
    uint64_t work_outstanding;
    uint64_t flow_not_begun;              // whose start is not before the end of the run
    uint64_t flow_left_out;               // messages that flows.csv and the flows below lack
    results_span_t *span;                 // whose rates are reported
    results_flow_bins_t flows;            // over the network
    results_flow_bins_t local_flows;      // within hosts: over NVLink, or in memory
    results_flow_bins_t *app_flows;       // of each traffic entry
    results_flow_bins_t *app_local_flows; // likewise
    size_t app_count;
    // Counters summed over all ports: by row of net_port_metrics, and by class, too.
    uint64_t port_totals[NET_PORT_METRICS_MAX];
    uint64_t class_totals[NET_PRIORITIES][NET_PORT_METRICS_MAX];
    uint64_t drops[NET_DROP_REASON_COUNT];
    nic_counters_t nics;        // summed
    size_t rnic_count;          // NICs with nic.model detailed
    nic_rnic_counters_t rnics;  // theirs summed; of buffer_bytes_max the largest
    const net_port_t **hottest; // by largest queue, then bytes sent
    size_t hottest_count;
    results_pause_roots_t *pause_roots; // NULL: not observed
    results_reordering_t *reordering;   // NULL: packets could not overtake each other
    results_reordered_t reordered;
    double reordered_ratio;
    uint64_t paths_equal;  // number of ports with others of equal cost, at switches that forwarded
    uint64_t paths_used;   // number of these ports that sent
    double link_imbalance; // docs/models/load-balancing.md
    uint64_t series_rows;
    uint64_t series_rows_left_out;
    uint64_t event_rows;
    uint64_t event_rows_left_out;
    uint64_t capture_frames;
    uint64_t capture_frames_left_out;
    uint64_t captures_cut;
    char **notes; // why something asked for is empty, a line each
    size_t note_count;
    size_t note_capacity;
    world_warnings_t warnings;
    size_t remark_first; // from this one on, the warnings are about what happened in the run
    double wall_s;
} results_t;

// Gathers the totals of a finished run. Takes the span. Free the contents with results_fini.
void results_init(results_t *results, const world_t *world, sim_ended_t ended,
                  results_span_t *span);
void results_fini(results_t *results);
// totals/warnings.c: adds warnings about what happened in a run that has ended.
void results__remark(const world_t *world, results_t *results);
// Adds a line to the notes. Takes the text.
void results_note(results_t *results, char *text);

const char *results_ended_text(sim_ended_t ended); // "done", "until", "interrupted", "stalled"

// Returns the share of the time from from_ps to now_ps that the port needed for the frames it sent,
// all of them after from_ps. Of a frame still on the link only the bytes already out count. 0 where
// no time has passed.
double results_port_utilisation(const net_port_t *port, sim_time_t from_ps, sim_time_t now_ps);
// Returns the rate of payload that NICs accepted in order, from the first start to the end.
double results_run_goodput_gbps(const results_t *results);
// Writes the number of packets that switches trimmed into *sum. Returns whether any switch trims.
bool results_trimmed_packets(const world_t *world, uint64_t *sum);

SIM_C_END

#endif // RESULTS_RESULTS_H
