// SPDX-License-Identifier: Apache-2.0
// apps/workload/run_options.h - how a schedule runs on hosts: the settings of every application
// that runs one.
#ifndef APPS_WORKLOAD_RUN_OPTIONS_H
#define APPS_WORKLOAD_RUN_OPTIONS_H

#include "apps/workload/collective/options.h"
#include "apps/workload/ideal/loggp.h"

typedef enum app__network { APP__NETWORK_PACKETS, APP__NETWORK_IDEAL } app__network_t;

typedef enum app__send_order { APP__SEND_IN_TURN, APP__SEND_IN_ORDER } app__send_order_t;

typedef enum app__map {
    APP__MAP_PACKED,
    APP__MAP_ROUND_ROBIN,
    APP__MAP_RANDOM,
    APP__MAP_LIST
} app__map_t;

// How a schedule runs on hosts: settings of every application that runs one. APP__WORKLOAD_ATTRS
// has a row for each.
typedef struct app__workload_options {
    const char *title; // what the schedule is, in messages: the name of its file; borrowed
    char *hosts;
    app__map_t map;
    char *places; // for APP__MAP_LIST: the place of each rank; during creation only
    sim_time_t start_ps;
    app__network_t network;
    app__send_order_t send_order;
    uint64_t send_window_bytes;
    sim_time_t calc_grid_ps; // computations end at multiples of it; 0: at any time
    app__loggp_t loggp;      // costs of processors and NICs; L and G: of the ideal network only
    uint64_t local_bps;      // between ranks of one host
    sim_time_t local_ps;
    app__coll_options_t collective;
} app__workload_options_t;

// The rows of the options, which are the field `member` of the configuration `type`.
// clang-format off
#define APP__WORKLOAD_ATTRS(prefix, type, member)                                                  \
    SIM_ATTR_ROW(type, STRING, prefix ".hosts", member.hosts, "*", "hosts that the ranks run on"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".map", member.map, "packed", "packed|round-robin|random|list", "order in which ranks take places: NIC by NIC, host by host, drawn by the seed, or as places lists them"), \
    SIM_ATTR_ROW(type, STRING, prefix ".places", member.places, "", "places of the ranks with map: list, by number from 0, such as 0 4 1 5; a place is a NIC of a host, or a host if the file numbers NICs"), \
    SIM_ATTR_ROW(type, TIME, prefix ".start", member.start_ps, "0s", "0s", "10000s", "time at which all ranks begin"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".network-model", member.network, "packets", "packets|ideal", "the network of messages: the simulated one, or an ideal one with LogGP's L and G and no packets"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".semantics", member.loggp.semantics, "atlahs", "spcl|atlahs", "rules for receivers: those of LogGOPSim, which takes a message on the processor of its send, or those of ATLAHS, on that of its receive"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".ties", member.loggp.ties, "file", "file|heap", "order of events of one instant on the ideal network: that of the file, or that of ATLAHS's own program, which breaks the order of receives"), \
    SIM_ATTR_ROW(type, TIME, prefix ".latency", member.loggp.latency_ps, "3700ns", "0s", "1s", "time of a message in the ideal network (L of LogGP)"), \
    SIM_ATTR_ROW(type, TIME, prefix ".byte-gap", member.loggp.byte_gap_ps, "40ps", "0s", "100ns", "time of a byte in the ideal network (G of LogGP); 40 ps are 200 Gbps"), \
    SIM_ATTR_ROW(type, TIME, prefix ".gap", member.loggp.gap_ps, "0s", "0s", "1s", "time between two messages that a NIC sends or receives (g of LogGP)"), \
    SIM_ATTR_ROW(type, TIME, prefix ".byte-overhead", member.loggp.byte_overhead_ps, "0s", "0s", "100ns", "time of a processor for each byte of a message after the first (O of LogGOPS)"), \
    SIM_ATTR_ROW(type, BYTES, prefix ".eager-max", member.loggp.eager_max_bytes, "1TiB", "0", "1TiB", "longest message that a send hands over without waiting for its receive; longer ones first exchange ready-to-send and clear-to-send (S of LogGOPS)"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".send-order", member.send_order, "in-turn", "in-turn|in-order", "messages of a NIC to several ranks: all at once, which then share its rate in turn, or one after the other in the order of the sends"), \
    SIM_ATTR_ROW(type, BYTES, prefix ".send-window", member.send_window_bytes, "128KiB", "4KiB", "1TiB", "maximum number of bytes of a NIC that are posted and not acknowledged with send-order in-order; the next message begins only within it"), \
    SIM_ATTR_ROW(type, TIME, prefix ".send-overhead", member.loggp.send_ps, "0s", "0s", "1s", "time of a processor for each send (o of LogGP)"), \
    SIM_ATTR_ROW(type, TIME, prefix ".recv-overhead", member.loggp.recv_ps, "0s", "0s", "1s", "time of a processor for each message that it receives (o of LogGP)"), \
    SIM_ATTR_ROW(type, RATIO, prefix ".calc-scale", member.loggp.calc_scale, "1", "0", "1000", "factor on the duration of every computation"), \
    SIM_ATTR_ROW(type, TIME, prefix ".calc-grid", member.calc_grid_ps, "0s", "0s", "1s", "computations of ranks end at multiples of this simulated time, so that ranks go on together; 0s: when they are done"), \
    SIM_ATTR_ROW(type, RATE, prefix ".local-rate", member.local_bps, "3600Gbps", "1Mbps", "1000Tbps", "rate of messages between ranks of one host; the default is NVLink of an H100"), \
    SIM_ATTR_ROW(type, TIME, prefix ".local-delay", member.local_ps, "1us", "0s", "1s", "time between the last byte of a message and its arrival within a host"), \
    APP__COLL_ATTRS(prefix, type, member.collective)
// clang-format on

#endif // APPS_WORKLOAD_RUN_OPTIONS_H
