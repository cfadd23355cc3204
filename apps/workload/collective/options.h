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
    APP__ALGORITHM_ALL_PAIRS,
    APP__ALGORITHM_COUNT
} app__coll_algorithm_t;

typedef enum app__ccl { APP__CCL_NCCL, APP__CCL_RCCL } app__ccl_t;

typedef enum app__processor { APP__PROCESSOR_AMD, APP__PROCESSOR_INTEL } app__processor_t;

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
    app__ccl_t ccl;
    app__processor_t processor;
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
    SIM_ATTR_ROW(type, ENUM, prefix ".algorithm", member.algorithm, "auto", "auto|ring|tree|halving-doubling|hierarchical|pat|nvls|nvls-tree|chain|pairwise|direct|all-pairs", "algorithm of the collectives that it can do; the others, and auto, take the library's choice"), \
    SIM_ATTR_ROW(type, STRING, prefix ".algorithm-file", member.algorithm_file, "", "file of an algorithm, MSCCL's XML or a plan of MSCCL++; collectives of its kind, ranks and sizes use it"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".protocol", member.protocol, "auto", "auto|simple|ll|ll128|plain", "how collectives send a message: as NCCL's protocols do, or plain: one WRITE without a clear-to-send"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".queue-pairs", member.queue_pairs, "permanent", "permanent|per-message", "queue pairs of collectives: made once for each connection, or for each message, with a UDP source port of its own"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".source-ports", member.source_ports, "hashed", "hashed|counted", "UDP source ports of a connection's queue pairs; hashed: 49152 and up, by the numbers of the queue pairs; counted: 10000 and up in turn, as in SimAI"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".connection-pairs", member.pairs, "1", "1", "32", "number of permanent queue pairs of a connection, which take its messages in turn; NCCL_IB_QPS_PER_CONNECTION"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".arrival", member.arrival, "data", "data|acknowledged", "moment at which a message's receiver goes on: when its data are there, or when the sender knows, as in SimAI and ATLAHS"), \
    SIM_ATTR_ROW(type, BOOL, prefix ".pxn", member.pxn, "off", "on: the GPU whose NIC is on the receiver's rail sends the messages to other nodes"), \
    SIM_ATTR_ROW(type, BOOL, prefix ".nvls", member.nvls, "on", "on: algorithm auto also considers NVLS, since the NVSwitches of nodes can reduce"), \
    SIM_ATTR_ROW(type, RATE, prefix ".nvls-rate", member.nvls_bps, "auto", "1Mbps", "1000Tbps", "rate at which the NVSwitches of a node reduce a buffer; auto: by local-rate and the number of GPUs, with the constants of NCCL for H100, and for B200 from 7200Gbps on", .auto_ok = true), \
    SIM_ATTR_ROW(type, COUNT, prefix ".per-node", member.per_node, "auto", "1", "1024", "number of ranks of a host, which share its NICs in turn; auto: one for each NIC", .auto_ok = true), \
    SIM_ATTR_ROW(type, COUNT, prefix ".channels", member.channels, "auto", "1", "64", "number of channels of a collective; auto: the number of ranks of a node, twice that for NCCL's protocols, and with tuning-latency NCCL's 24 or 32 within an NVLink domain", .auto_ok = true), \
    SIM_ATTR_ROW(type, BYTES, prefix ".chunk", member.chunk_bytes, "auto", "1", "1TiB", "maximum number of bytes that a step of a collective moves; auto: by protocol, plain: whole parts", .auto_ok = true), \
    SIM_ATTR_ROW(type, BYTES, prefix ".slice", member.slice_bytes, "auto", "1", "1GiB", "maximum number of bytes of a collective's message; auto: by protocol, plain: a chunk", .auto_ok = true), \
    SIM_ATTR_ROW(type, TIME, prefix ".send-latency", member.send_ps, "0s", "0s", "1s", "time of the software before each message of a collective"), \
    SIM_ATTR_ROW(type, BOOL, prefix ".tuning-latency", member.tuning_latency, "off", "on: calls, messages and thread blocks take the times that NCCL's tuning and its kernels have for them"), \
    SIM_ATTR_ROW(type, RATIO, prefix ".tuning-scale", member.tuning_scale, "1", "0", "1000", "factor on the latencies of tuning-latency, for hosts whose software is slower"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".ccl", member.ccl, "nccl", "nccl|rccl", "library whose choices, units and times collectives have: NCCL's, or RCCL's on GPUs that all have a link to each other; local-rate is that of all links, 3584Gbps on MI300X"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".processor", member.processor, "amd", "amd|intel", "maker of the hosts' processors, whose times for messages between nodes NCCL knows; acts with tuning-latency"), \
    SIM_ATTR_ROW(type, RATE, prefix ".reduce-rate", member.reduce_bps, "auto", "1Mbps", "1000Tbps", "rate at which a block of a GPU reduces what it received; auto: no time", .auto_ok = true), \
    SIM_ATTR_ROW(type, RATE, prefix ".block-rate", member.block_bps, "auto", "1Mbps", "1000Tbps", "rate at which a block of a GPU takes a message and hands it on; auto: no time, and with tuning-latency that of the protocol", .auto_ok = true), \
    SIM_ATTR_ROW(type, COUNT, prefix ".flows-max", member.flows_max, "100000", "0", "100000000", "maximum number of messages of collectives in flows.csv: the first ones of each rank")
// clang-format on

#endif // APPS_WORKLOAD_COLLECTIVE_OPTIONS_H
