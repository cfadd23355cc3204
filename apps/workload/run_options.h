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
    SIM_ATTR(prefix ".hosts", STRING, type, member.hosts,                                          \
             .default_text = "*",                                                                  \
             .help = "hosts that the ranks run on"),                                               \
    SIM_ATTR(prefix ".map", ENUM, type, member.map,                                                \
             .default_text = "packed", .choices = "packed|round-robin|random|list",                \
             .help = "order in which ranks take places: NIC by NIC, host by host, drawn by the "   \
                     "seed, or as places lists them"),                                             \
    SIM_ATTR(prefix ".places", STRING, type, member.places,                                        \
             .default_text = "",                                                                   \
             .help = "places of the ranks with map: list, by number from 0, such as 0 4 1 5; a "   \
                     "place is a NIC of a host, or a host if the file numbers NICs"),              \
    SIM_ATTR(prefix ".start", TIME, type, member.start_ps,                                         \
             .default_text = "0s", .min_text = "0s", .max_text = "10000s",                         \
             .help = "time at which all ranks begin"),                                             \
    SIM_ATTR(prefix ".network-model", ENUM, type, member.network,                                  \
             .default_text = "packets", .choices = "packets|ideal",                                \
             .help = "the network of messages: the simulated one, or an ideal one with LogGP's "   \
                     "L and G and no packets"),                                                    \
    SIM_ATTR(prefix ".semantics", ENUM, type, member.loggp.semantics,                              \
             .default_text = "atlahs", .choices = "spcl|atlahs",                                   \
             .help = "rules for receivers: those of LogGOPSim, which takes a message on the "      \
                     "processor of its send, or those of ATLAHS, on that of its receive"),         \
    SIM_ATTR(prefix ".ties", ENUM, type, member.loggp.ties,                                   \
             .default_text = "file", .choices = "file|heap",                                       \
             .help = "order of events of one instant on the ideal network: that of the file, or "  \
                     "that of ATLAHS's own program, which breaks the order of receives"),          \
    SIM_ATTR(prefix ".latency", TIME, type, member.loggp.latency_ps,                               \
             .default_text = "3700ns", .min_text = "0s", .max_text = "1s",                         \
             .help = "time of a message in the ideal network (L of LogGP)"),                       \
    SIM_ATTR(prefix ".byte-gap", TIME, type, member.loggp.byte_gap_ps,                             \
             .default_text = "40ps", .min_text = "0s", .max_text = "100ns",                        \
             .help = "time of a byte in the ideal network (G of LogGP); 40 ps are 200 Gbps"),      \
    SIM_ATTR(prefix ".gap", TIME, type, member.loggp.gap_ps,                                       \
             .default_text = "0s", .min_text = "0s", .max_text = "1s",                             \
             .help = "time between two messages that a NIC sends or receives (g of LogGP)"),       \
    SIM_ATTR(prefix ".byte-overhead", TIME, type, member.loggp.byte_overhead_ps,                   \
             .default_text = "0s", .min_text = "0s", .max_text = "100ns",                          \
             .help = "time of a processor for each byte of a message after the first (O of "       \
                     "LogGOPS)"),                                                                  \
    SIM_ATTR(prefix ".eager-max", BYTES, type, member.loggp.eager_max_bytes,                       \
             .default_text = "1TiB", .min_text = "0", .max_text = "1TiB",                          \
             .help = "longest message that a send hands over without waiting for its receive; "    \
                     "longer ones first exchange ready-to-send and clear-to-send (S of LogGOPS)"), \
    SIM_ATTR(prefix ".send-order", ENUM, type, member.send_order,                                  \
             .default_text = "in-turn", .choices = "in-turn|in-order",                             \
             .help = "messages of a NIC to several ranks: all at once, which then share its rate " \
                     "in turn, or one after the other in the order of the sends"),                 \
    SIM_ATTR(prefix ".send-window", BYTES, type, member.send_window_bytes,                         \
             .default_text = "128KiB", .min_text = "4KiB", .max_text = "1TiB",                     \
             .help = "maximum number of bytes of a NIC that are posted and not acknowledged with " \
                     "send-order in-order; the next message begins only within it"),               \
    SIM_ATTR(prefix ".send-overhead", TIME, type, member.loggp.send_ps,                            \
             .default_text = "0s", .min_text = "0s", .max_text = "1s",                             \
             .help = "time of a processor for each send (o of LogGP)"),                            \
    SIM_ATTR(prefix ".recv-overhead", TIME, type, member.loggp.recv_ps,                            \
             .default_text = "0s", .min_text = "0s", .max_text = "1s",                             \
             .help = "time of a processor for each message that it receives (o of LogGP)"),        \
    SIM_ATTR(prefix ".calc-scale", RATIO, type, member.loggp.calc_scale,                           \
             .default_text = "1", .min_text = "0", .max_text = "1000",                             \
             .help = "factor on the duration of every computation"),                               \
    SIM_ATTR(prefix ".calc-grid", TIME, type, member.calc_grid_ps,                                 \
             .default_text = "0s", .min_text = "0s", .max_text = "1s",                             \
             .help = "computations of ranks end at multiples of this simulated time, so that "     \
                     "ranks go on together; 0s: when they are done"),                              \
    SIM_ATTR(prefix ".local-rate", RATE, type, member.local_bps,                                   \
             .default_text = "3600Gbps", .min_text = "1Mbps", .max_text = "1000Tbps",              \
             .help = "rate of messages between ranks of one host; the default is NVLink of an "    \
                     "H100"),                                                                      \
    SIM_ATTR(prefix ".local-delay", TIME, type, member.local_ps,                                   \
             .default_text = "1us", .min_text = "0s", .max_text = "1s",                            \
             .help = "time between the last byte of a message and its arrival within a host"),     \
    APP__COLL_ATTRS(prefix, type, member.collective)
// clang-format on

#endif // APPS_WORKLOAD_RUN_OPTIONS_H
