// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/options.h - how ranks do collectives: attributes of all applications
// that have some.
#ifndef APPS_WORKLOAD_COLLECTIVE_OPTIONS_H
#define APPS_WORKLOAD_COLLECTIVE_OPTIONS_H

#include "kernel/attribute.h"

typedef enum app__protocol {
    APP__PROTOCOL_AUTO,
    APP__PROTOCOL_SIMPLE,
    APP__PROTOCOL_LL,
    APP__PROTOCOL_LL128,
    APP__PROTOCOL_PLAIN,
    APP__PROTOCOL_COUNT
} app__protocol_t;

typedef enum app__coll_algorithm {
    APP__ALGORITHM_AUTO,
    APP__ALGORITHM_RING,
    APP__ALGORITHM_TREE,
    APP__ALGORITHM_HALVING_DOUBLING,
    APP__ALGORITHM_HIERARCHICAL,
    APP__ALGORITHM_PAT,
    APP__ALGORITHM_NVLS,
    APP__ALGORITHM_NVLS_TREE,
    APP__ALGORITHM_CHAIN,
    APP__ALGORITHM_PAIRWISE,
    APP__ALGORITHM_DIRECT,
    APP__ALGORITHM_COUNT
} app__coll_algorithm_t;

typedef enum app__queue_pairs { APP__QPS_PERMANENT, APP__QPS_PER_MESSAGE } app__queue_pairs_t;

typedef enum app__source_ports { APP__PORTS_HASHED, APP__PORTS_COUNTED } app__source_ports_t;

typedef enum app__arrival { APP__ARRIVAL_DATA, APP__ARRIVAL_ACKNOWLEDGED } app__arrival_t;

typedef struct app__coll_options {
    char *algorithm_file;
    app__coll_algorithm_t algorithm;
    app__protocol_t protocol;
    app__queue_pairs_t queue_pairs;
    app__source_ports_t source_ports;
    app__arrival_t arrival;
    bool pxn;
    bool nvls;
    bool tuning_latency;
    sim_ratio_t tuning_scale;
    uint64_t per_node; // SIM_AUTO: NICs of the host
    uint64_t channels; // SIM_AUTO: by protocol
    uint64_t pairs;    // queue pairs of a connection that stay
    uint64_t chunk_bytes;
    uint64_t slice_bytes;
    sim_time_t send_ps;
    uint64_t nvls_bps;   // SIM_AUTO: by local-rate
    uint64_t reduce_bps; // SIM_AUTO: no time
    uint64_t block_bps;  // SIM_AUTO: no time
    uint64_t flows_max;
} app__coll_options_t;

// clang-format off
#define APP__COLL_ATTRS(prefix, type, member)                                                      \
    SIM_ATTR(prefix ".algorithm", ENUM, type, member.algorithm,                                    \
             .default_text = "auto",                                                               \
             .choices = "auto|ring|tree|halving-doubling|hierarchical|pat|nvls|nvls-tree|chain|"   \
                        "pairwise|direct",                                                         \
             .help = "algorithm of the collectives that it can do; the others, and auto, take "    \
                     "NCCL's choice"),                                                             \
    SIM_ATTR(prefix ".algorithm-file", STRING, type, member.algorithm_file,                        \
             .default_text = "",                                                                   \
             .help = "file of an algorithm, MSCCL's XML or a plan of MSCCL++; collectives of its " \
                     "kind, ranks and sizes use it"),                                              \
    SIM_ATTR(prefix ".protocol", ENUM, type, member.protocol,                                      \
             .default_text = "auto", .choices = "auto|simple|ll|ll128|plain",                      \
             .help = "how collectives send a message: as NCCL's protocols do, or plain: one "      \
                     "WRITE without a clear-to-send"),                                             \
    SIM_ATTR(prefix ".queue-pairs", ENUM, type, member.queue_pairs,                                \
             .default_text = "permanent", .choices = "permanent|per-message",                      \
             .help = "queue pairs of collectives: made once for each connection, or for each "     \
                     "message, with a UDP source port of its own"),                                \
    SIM_ATTR(prefix ".source-ports", ENUM, type, member.source_ports,                              \
             .default_text = "hashed", .choices = "hashed|counted",                                \
             .help = "UDP source ports of a connection's queue pairs; hashed: 49152 and up, by "   \
                     "the numbers of the queue pairs; counted: 10000 and up in turn, as in "       \
                     "SimAI"),                                                                     \
    SIM_ATTR(prefix ".connection-pairs", COUNT, type, member.pairs,                                \
             .default_text = "1", .min_text = "1", .max_text = "32",                               \
             .help = "number of permanent queue pairs of a connection, which take its messages "   \
                     "in turn; NCCL_IB_QPS_PER_CONNECTION"),                                       \
    SIM_ATTR(prefix ".arrival", ENUM, type, member.arrival,                                        \
             .default_text = "data", .choices = "data|acknowledged",                               \
             .help = "moment at which a message's receiver goes on: when its data are there, or "  \
                     "when the sender knows, as in SimAI and ATLAHS"),                             \
    SIM_ATTR(prefix ".pxn", BOOL, type, member.pxn,                                                \
             .default_text = "off",                                                                \
             .help = "on: the GPU whose NIC is on the receiver's rail sends the messages to "      \
                     "other nodes"),                                                               \
    SIM_ATTR(prefix ".nvls", BOOL, type, member.nvls,                                              \
             .default_text = "on",                                                                 \
             .help = "on: algorithm auto also considers NVLS, since the NVSwitches of nodes can "  \
                     "reduce"),                                                                    \
    SIM_ATTR(prefix ".nvls-rate", RATE, type, member.nvls_bps,                                     \
             .default_text = "auto", .min_text = "1Mbps", .max_text = "1000Tbps", .auto_ok = true, \
             .help = "rate at which a GPU's messages pass the reducing NVSwitch; auto: 0.58 of "   \
                     "local-rate, which is NCCL's constant for an H100; from 7200Gbps on 0.49, "   \
                     "which is that for a B200"),                                                  \
    SIM_ATTR(prefix ".per-node", COUNT, type, member.per_node,                                     \
             .default_text = "auto", .min_text = "1", .max_text = "1024", .auto_ok = true,         \
             .help = "number of ranks of a host, which share its NICs in turn; auto: one for "     \
                     "each NIC"),                                                                  \
    SIM_ATTR(prefix ".channels", COUNT, type, member.channels,                                     \
             .default_text = "auto", .min_text = "1", .max_text = "64", .auto_ok = true,           \
             .help = "number of channels of a collective; auto: the number of ranks of a node, "   \
                     "twice that for NCCL's protocols"),                                           \
    SIM_ATTR(prefix ".chunk", BYTES, type, member.chunk_bytes,                                     \
             .default_text = "auto", .min_text = "1", .max_text = "1TiB", .auto_ok = true,         \
             .help = "maximum number of bytes that a step of a collective moves; auto: by "        \
                     "protocol, plain: whole parts"),                                              \
    SIM_ATTR(prefix ".slice", BYTES, type, member.slice_bytes,                                     \
             .default_text = "auto", .min_text = "1", .max_text = "1GiB", .auto_ok = true,         \
             .help = "maximum number of bytes of a collective's message; auto: by protocol, "      \
                     "plain: a chunk"),                                                            \
    SIM_ATTR(prefix ".send-latency", TIME, type, member.send_ps,                                   \
             .default_text = "0s", .min_text = "0s", .max_text = "1s",                             \
             .help = "time of the software before each message of a collective"),                  \
    SIM_ATTR(prefix ".tuning-latency", BOOL, type, member.tuning_latency,                          \
             .default_text = "off",                                                                \
             .help = "on: calls and messages are delayed by the latencies that NCCL's tuning has " \
                     "for them"),                                                                  \
    SIM_ATTR(prefix ".tuning-scale", RATIO, type, member.tuning_scale,                             \
             .default_text = "1", .min_text = "0", .max_text = "1000",                             \
             .help = "factor on the latencies of tuning-latency, for hosts whose software is "     \
                     "slower"),                                                                    \
    SIM_ATTR(prefix ".reduce-rate", RATE, type, member.reduce_bps,                                 \
             .default_text = "auto", .min_text = "1Mbps", .max_text = "1000Tbps", .auto_ok = true, \
             .help = "rate at which a block of a GPU reduces what it received; auto: no time"),    \
    SIM_ATTR(prefix ".block-rate", RATE, type, member.block_bps,                                   \
             .default_text = "auto", .min_text = "1Mbps", .max_text = "1000Tbps", .auto_ok = true, \
             .help = "rate at which a block of a GPU takes a message and hands it on; auto: no "   \
                     "time"),                                                                      \
    SIM_ATTR(prefix ".flows-max", COUNT, type, member.flows_max,                                   \
             .default_text = "100000", .min_text = "0", .max_text = "100000000",                   \
             .help = "maximum number of messages of collectives in flows.csv: the first ones of "  \
                     "each rank")
// clang-format on

#endif // APPS_WORKLOAD_COLLECTIVE_OPTIONS_H
