// SPDX-License-Identifier: Apache-2.0
// results/tables/event_rows.h - the tables that are written during a run: events.csv, pauses.csv,
// series.csv, hops.csv.
#ifndef RESULTS_TABLES_EVENT_ROWS_H
#define RESULTS_TABLES_EVENT_ROWS_H

#include "results/tables/tables.h"
#include "results/totals/pause_roots.h"
#include "world/world.h"

typedef struct results_event_row {
    const world_t *world;
    sim_time_t time_ps;
    const char *cache;      // what a tiered cache did; NULL: it is of a port
    const world_nic_t *nic; // with cache: the NIC
    uint32_t qp;            // with cache: number of the queue pair
    const net_port_t *port;
    net_trace_point_t point;
    uint32_t detail;
    bool has_packet;
    uint32_t source;
    uint32_t destination;
    uint16_t frame_bytes;
    uint8_t priority;
    const results_pause_root_t *root; // of a pause; NULL: unknown
} results_event_row_t;

typedef struct results_series_row {
    sim_time_t time_ps;
    const char *path;
    uint64_t value;
} results_series_row_t;

typedef struct results_hop_row {
    const world_t *world;
    sim_time_t time_ps;
    sim_time_t arrive_ps;
    const net_port_t *port;
    uint32_t source;      // interface id; NET_INTERFACES_MAX: none
    uint32_t destination; //
    uint32_t qp;
    uint32_t psn;
    uint16_t frame_bytes;
    uint8_t priority;
    uint8_t opcode;
    bool is_roce; // otherwise a frame of PFC
    bool is_nak;
    bool is_pause;
    uint8_t is_marked;
    uint8_t is_again;
} results_hop_row_t;

typedef struct results_pause_row {
    const net_port_t *port;
    uint32_t priority;
    sim_time_t from_ps; // of the bin
    sim_time_t to_ps;
    sim_time_t stopped_ps; // time of the bin in which the class was stopped
} results_pause_row_t;

extern const results_table_t results_event_table;  // events.csv
extern const results_table_t results_pause_table;  // pauses.csv
extern const results_table_t results_series_table; // series.csv
extern const results_table_t results_hop_table;    // hops.csv

#endif // RESULTS_TABLES_EVENT_ROWS_H
