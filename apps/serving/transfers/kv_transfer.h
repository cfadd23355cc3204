// SPDX-License-Identifier: Apache-2.0
// apps/serving/transfers/kv_transfer.h - transfers of KV data and activations between nodes.
#ifndef APPS_SERVING_TRANSFERS_KV_TRANSFER_H
#define APPS_SERVING_TRANSFERS_KV_TRANSFER_H

#include "apps/serving/node.h"

// Places of memory in the addresses of a host: one for each GPU, and one for the host itself.
#define APP__SERVING_HOST APP__SERVING_GPUS_MAX
#define APP__SERVING_PLACE_BYTES (UINT64_C(1) << 49)

// Called once when a transfer has ended, with the bytes that all its flows have moved.
typedef void (*app__serving_moved_fn)(void *ctx, uint64_t bytes, bool good);

typedef struct app__serving_transfer {
    app__serving_node_t *node; // whose NICs are posted to
    uint32_t peer;             // node
    bool reads;                // from the peer; else it writes
    bool unlisted;             // it is no operation of its own for operations.csv
    bool host;                 // memory of hosts, over the NICs for storage; else of GPUs
    uint32_t notice;           // app__serving_notice_t + 1 that the peer gets; 0: none
    uint32_t first_flow;       // of those between two groups of GPUs that share a layer
    uint32_t flow_count;       // 0: as many as the larger host has GPUs, between both hosts
    uint64_t offset;           // in the places of memory of both ends
    uint64_t bytes;            // of each flow
    app__serving_moved_fn fn;
    void *ctx;
} app__serving_transfer_t;

// An end of a flow.
typedef struct app__serving_end {
    const app__serving_node_t *node;
    uint32_t nic;
    uint32_t place; // GPU, or APP__SERVING_HOST
} app__serving_end_t;

// Begins a transfer, which it copies. It may end before this function returns.
void app__serving_move(const app__serving_transfer_t *transfer);
// Returns the number of flows of a transfer, and one end of a flow.
uint32_t app__serving_flows(const app__serving_transfer_t *transfer);
app__serving_end_t app__serving_end(const app__serving_transfer_t *transfer,
                                    const app__serving_node_t *node, uint32_t flow, uint32_t flows);
// Returns the host of a stage that has the GPU of a flow, among flows between all GPUs that share a
// layer.
uint32_t app__serving_rank_of(const app__serving_node_t *node, uint32_t flow, uint32_t flows);
// Returns where a place of memory begins in the addresses of a node's host.
uint64_t app__serving_address(const app__serving_node_t *node, uint32_t place);
// Returns the NIC that a GPU of a node uses.
uint32_t app__serving_nic_of_gpu(const app__serving_node_t *node, uint32_t gpu);
// Frees transfers that the end of the run has cut short.
void app__serving_moves_fini(app__serving_node_t *node);

#endif // APPS_SERVING_TRANSFERS_KV_TRANSFER_H
