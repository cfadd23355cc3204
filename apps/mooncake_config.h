// SPDX-License-Identifier: Apache-2.0
// apps/mooncake_config.h - settings of Mooncake's Transfer Engine.
#ifndef APPS_MOONCAKE_CONFIG_H
#define APPS_MOONCAKE_CONFIG_H

#include "kernel/attribute.h"

SIM_C_BEGIN

typedef enum app_mooncake_endpoint_store {
    APP_MOONCAKE_STORE_SIEVE,
    APP_MOONCAKE_STORE_FIFO,
} app_mooncake_endpoint_store_t;

typedef enum app_mooncake_selection {
    APP_MOONCAKE_RANDOM,
    APP_MOONCAKE_ROUND_ROBIN,
    APP_MOONCAKE_LEAST_LOADED,
    APP_MOONCAKE_AFFINITY, // the nearest NIC; a piece of memory always uses the same one
} app_mooncake_selection_t;

// Settings of one engine. APP_MOONCAKE_ATTRS has a row for each, with the environment variable of
// the original engine that it stands for.
typedef struct app_mooncake_config {
    uint64_t slice_bytes;
    uint64_t fragment_bytes; // SIM_AUTO: a quarter of a slice
    uint64_t qps_per_endpoint;
    uint64_t workers; // per NIC: the first polls, the others post; a single one does both
    uint64_t max_wr;
    uint64_t max_cqe;
    uint64_t max_endpoints; // per NIC
    uint32_t endpoint_store;
    uint64_t retry_count;
    uint64_t mtu_bytes;
    uint32_t selection;
    sim_time_t slice_timeout_ps; // NEVER: no timeout
    sim_time_t rail_pause_ps;
    uint64_t rail_failures; // failures in a row after which a rail pauses
    uint64_t ack_timeout;   // exponent of the QPs' local ACK timeout: 4.096 us x 2^ack_timeout
    uint64_t ack_retries;
    sim_time_t handshake_timeout_ps;
    sim_time_t metadata_timeout_ps;
    uint64_t call_retries;
    sim_time_t post_ps; // worker's time for posting a slice
    sim_time_t poll_ps; // worker's time for a completion
    uint64_t copy_bps;  // rate of copies within a host
    uint64_t verify_stride_bytes;
} app_mooncake_config_t;

// clang-format off
#define APP_MOONCAKE_ATTRS(prefix, type, member)                                                   \
    SIM_ATTR(prefix ".slice", BYTES, type, member.slice_bytes,                                     \
             .default_text = "64KiB", .min_text = "64", .max_text = "1GiB",                        \
             .help = "largest slice of a transfer, which is one work request (MC_SLICE_SIZE)"),    \
    SIM_ATTR(prefix ".fragment", BYTES, type, member.fragment_bytes,                               \
             .default_text = "auto", .min_text = "0", .max_text = "1GiB", .auto_ok = true,         \
             .help = "length below which the tail of a transfer joins the slice before it; "       \
                     "auto: a quarter of a slice (MC_FRAGMENT_RATIO)"),                            \
    SIM_ATTR(prefix ".qps-per-endpoint", COUNT, type, member.qps_per_endpoint,                     \
             .default_text = "2", .min_text = "1", .max_text = "256",                              \
             .help = "number of queue pairs between two NICs (MC_NUM_QP_PER_EP)"),                 \
    SIM_ATTR(prefix ".workers", COUNT, type, member.workers,                                       \
             .default_text = "2", .min_text = "1", .max_text = "64",                               \
             .help = "number of threads per NIC: the first polls, the others post; a single one "  \
                     "does both (MC_WORKERS_PER_CTX)"),                                            \
    SIM_ATTR(prefix ".max-wr", COUNT, type, member.max_wr,                                         \
             .default_text = "256", .min_text = "1", .max_text = "65536",                          \
             .help = "maximum number of slices in flight on a queue pair (MC_MAX_WR)"),            \
    SIM_ATTR(prefix ".max-cqe", COUNT, type, member.max_cqe,                                       \
             .default_text = "4096", .min_text = "1", .max_text = "1000000",                       \
             .help = "maximum number of slices in flight on a NIC (MC_MAX_CQE_PER_CTX)"),          \
    SIM_ATTR(prefix ".max-endpoints", COUNT, type, member.max_endpoints,                           \
             .default_text = "65536", .min_text = "1", .max_text = "1000000",                      \
             .help = "maximum number of endpoints that a NIC keeps (MC_MAX_EP_PER_CTX)"),          \
    SIM_ATTR(prefix ".endpoint-store", ENUM, type, member.endpoint_store,                          \
             .default_text = "sieve", .choices = "sieve|fifo",                                     \
             .help = "policy by which a NIC at max-endpoints evicts an endpoint "                  \
                     "(MC_ENDPOINT_STORE_TYPE)"),                                                  \
    SIM_ATTR(prefix ".retries", COUNT, type, member.retry_count,                                   \
             .default_text = "9", .min_text = "0", .max_text = "128",                              \
             .help = "number of times that a slice is retried, each time on other NICs "           \
                     "(MC_RETRY_CNT)"),                                                            \
    SIM_ATTR(prefix ".mtu", BYTES, type, member.mtu_bytes,                                         \
             .default_text = "4096", .min_text = "256", .max_text = "4096",                        \
             .help = "path MTU; the smallest of this, the peer's and the NICs' is used "           \
                     "(MC_MTU)"),                                                                  \
    SIM_ATTR(prefix ".selection", ENUM, type, member.selection,                                    \
             .default_text = "random", .choices = "random|round-robin|least-loaded|affinity",      \
             .help = "choice of a slice's NIC among the preferred ones of its location; "          \
                     "affinity: the nearest, always the same for a piece of memory"),              \
    SIM_ATTR(prefix ".slice-timeout", TIME, type, member.slice_timeout_ps,                         \
             .default_text = "never", .min_text = "1us",                                           \
             .help = "time after which an unfinished slice ends its transfer "                     \
                     "(MC_SLICE_TIMEOUT)"),                                                        \
    SIM_ATTR(prefix ".rail-pause", TIME, type, member.rail_pause_ps,                               \
             .default_text = "30s", .min_text = "0s", .max_text = "1000s",                         \
             .help = "time for which two NICs are not paired after slices between them failed "    \
                     "(MC_RDMA_RAIL_PAUSE_SECONDS)"),                                              \
    SIM_ATTR(prefix ".rail-failures", COUNT, type, member.rail_failures,                           \
             .default_text = "1", .min_text = "1", .max_text = "1000",                             \
             .help = "number of connections between two NICs that fail in a row before these "     \
                     "NICs are not paired for rail-pause"),                                        \
    SIM_ATTR(prefix ".ack-timeout", COUNT, type, member.ack_timeout,                               \
             .default_text = "14", .min_text = "1", .max_text = "31",                              \
             .help = "local ACK timeout of the queue pairs: 4.096 us x 2^this"),                   \
    SIM_ATTR(prefix ".ack-retries", COUNT, type, member.ack_retries,                               \
             .default_text = "7", .min_text = "0", .max_text = "7",                                \
             .help = "number of times that a NIC retransmits before the connection fails"),        \
    SIM_ATTR(prefix ".handshake-timeout", TIME, type, member.handshake_timeout_ps,                 \
             .default_text = "5s", .min_text = "1us", .max_text = "1000s",                         \
             .help = "maximum wait for the answer to a handshake (MC_HANDSHAKE_CONNECT_TIMEOUT)"), \
    SIM_ATTR(prefix ".metadata-timeout", TIME, type, member.metadata_timeout_ps,                   \
             .default_text = "1s", .min_text = "1us", .max_text = "1000s",                         \
             .help = "maximum wait for an answer of the metadata node"),                           \
    SIM_ATTR(prefix ".call-retries", COUNT, type, member.call_retries,                             \
             .default_text = "2", .min_text = "0", .max_text = "1000",                             \
             .help = "number of times that a handshake or a metadata request is repeated"),        \
    SIM_ATTR(prefix ".cpu.post", TIME, type, member.post_ps,                                       \
             .default_text = "150ns", .min_text = "1ns", .max_text = "1ms",                        \
             .help = "time that a posting thread takes for a slice"),                              \
    SIM_ATTR(prefix ".cpu.poll", TIME, type, member.poll_ps,                                       \
             .default_text = "50ns", .min_text = "1ns", .max_text = "1ms",                         \
             .help = "time that a polling thread takes for a completion"),                         \
    SIM_ATTR(prefix ".copy-rate", RATE, type, member.copy_bps,                                     \
             .default_text = "80Gbps", .min_text = "1bps", .max_text = "100Tbps",                  \
             .help = "rate of copies where source and target are the same host, one at a time"),   \
    SIM_ATTR(prefix ".verify-stride", BYTES, type, member.verify_stride_bytes,                     \
             .default_text = "auto", .min_text = "8", .max_text = "1GiB", .auto_ok = true,         \
             .help = "distance of the marks by which arrived data is verified, rounded down "      \
                     "to a power of two; 8: every byte; auto: a quarter of a slice, at most "      \
                     "16 KiB")
// clang-format on

// Behaviour of the metadata node.
typedef struct app_mooncake_metadata_config {
    sim_time_t latency_ps; // time to serve a request; requests are served one at a time
    sim_time_t down_from_ps;
    sim_time_t down_until_ps;
} app_mooncake_metadata_config_t;

SIM_C_END

#endif // APPS_MOONCAKE_CONFIG_H
