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
    SIM_ATTR_ROW(type, BYTES, prefix ".slice", member.slice_bytes, "64KiB", "64", "1GiB", "largest slice of a transfer, which is one work request (MC_SLICE_SIZE)"), \
    SIM_ATTR_ROW(type, BYTES, prefix ".fragment", member.fragment_bytes, "auto", "0", "1GiB", "length below which the tail of a transfer joins the slice before it; auto: a quarter of a slice (MC_FRAGMENT_RATIO)", .auto_ok = true), \
    SIM_ATTR_ROW(type, COUNT, prefix ".qps-per-endpoint", member.qps_per_endpoint, "2", "1", "256", "number of queue pairs between two NICs (MC_NUM_QP_PER_EP)"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".workers", member.workers, "2", "1", "64", "number of threads per NIC: the first polls, the others post; a single one does both (MC_WORKERS_PER_CTX)"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".max-wr", member.max_wr, "256", "1", "65536", "maximum number of slices in flight on a queue pair (MC_MAX_WR)"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".max-cqe", member.max_cqe, "4096", "1", "1000000", "maximum number of slices in flight on a NIC (MC_MAX_CQE_PER_CTX)"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".max-endpoints", member.max_endpoints, "65536", "1", "1000000", "maximum number of endpoints that a NIC keeps (MC_MAX_EP_PER_CTX)"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".endpoint-store", member.endpoint_store, "sieve", "sieve|fifo", "policy by which a NIC at max-endpoints evicts an endpoint (MC_ENDPOINT_STORE_TYPE)"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".retries", member.retry_count, "9", "0", "128", "number of times that a slice is retried, each time on other NICs (MC_RETRY_CNT)"), \
    SIM_ATTR_ROW(type, BYTES, prefix ".mtu", member.mtu_bytes, "4096", "256", "4096", "path MTU; the smallest of this, the peer's and the NICs' is used (MC_MTU)"), \
    SIM_ATTR_ROW(type, ENUM, prefix ".selection", member.selection, "random", "random|round-robin|least-loaded|affinity", "choice of a slice's NIC among the preferred ones of its location; affinity: the nearest, always the same for a piece of memory"), \
    SIM_ATTR_ROW(type, TIME, prefix ".slice-timeout", member.slice_timeout_ps, "never", "1us", NULL, "time after which an unfinished slice ends its transfer (MC_SLICE_TIMEOUT)"), \
    SIM_ATTR_ROW(type, TIME, prefix ".rail-pause", member.rail_pause_ps, "30s", "0s", "1000s", "time for which two NICs are not paired after slices between them failed (MC_RDMA_RAIL_PAUSE_SECONDS)"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".rail-failures", member.rail_failures, "1", "1", "1000", "number of connections between two NICs that fail in a row before these NICs are not paired for rail-pause"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".ack-timeout", member.ack_timeout, "14", "1", "31", "local ACK timeout of the queue pairs: 4.096 us x 2^this"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".ack-retries", member.ack_retries, "7", "0", "7", "number of times that a NIC retransmits before the connection fails"), \
    SIM_ATTR_ROW(type, TIME, prefix ".handshake-timeout", member.handshake_timeout_ps, "5s", "1us", "1000s", "maximum wait for the answer to a handshake (MC_HANDSHAKE_CONNECT_TIMEOUT)"), \
    SIM_ATTR_ROW(type, TIME, prefix ".metadata-timeout", member.metadata_timeout_ps, "1s", "1us", "1000s", "maximum wait for an answer of the metadata node"), \
    SIM_ATTR_ROW(type, COUNT, prefix ".call-retries", member.call_retries, "2", "0", "1000", "number of times that a handshake or a metadata request is repeated"), \
    SIM_ATTR_ROW(type, TIME, prefix ".cpu.post", member.post_ps, "150ns", "1ns", "1ms", "time that a posting thread takes for a slice"), \
    SIM_ATTR_ROW(type, TIME, prefix ".cpu.poll", member.poll_ps, "50ns", "1ns", "1ms", "time that a polling thread takes for a completion"), \
    SIM_ATTR_ROW(type, RATE, prefix ".copy-rate", member.copy_bps, "80Gbps", "1bps", "100Tbps", "rate of copies where source and target are the same host, one at a time"), \
    SIM_ATTR_ROW(type, BYTES, prefix ".verify-stride", member.verify_stride_bytes, "auto", "8", "1GiB", "distance of the marks by which arrived data is verified, rounded down to a power of two; 8: every byte; auto: a quarter of a slice, at most 16 KiB", .auto_ok = true)
// clang-format on

// Behaviour of the metadata node.
typedef struct app_mooncake_metadata_config {
    sim_time_t latency_ps; // time to serve a request; requests are served one at a time
    sim_time_t down_from_ps;
    sim_time_t down_until_ps;
} app_mooncake_metadata_config_t;

SIM_C_END

#endif // APPS_MOONCAKE_CONFIG_H
