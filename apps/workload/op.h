// SPDX-License-Identifier: Apache-2.0
// apps/workload/op.h - the operations of ranks: messages, computations and parts of collectives.
#ifndef APPS_WORKLOAD_OP_H
#define APPS_WORKLOAD_OP_H

#include "kernel/base.h"

#define APP__ANY UINT32_MAX // peer or tag of a receive: any
#define APP__RANKS_MAX UINT32_C(1000000)
#define APP__OPS_MAX (UINT32_C(1) << 30) // of a rank

// The numbers of the first three are those of GOAL's binary format.
typedef enum app__op_type {
    APP__OP_SEND = 1,
    APP__OP_RECV = 2,
    APP__OP_CALC = 3,
    APP__OP_COLL = 4 // the rank's part of a call of a collective
} app__op_type_t;

// The purpose of communication: the parallelism of a training job that it belongs to.
typedef enum app__dimension {
    APP__DIM_NONE,
    APP__DIM_TP,    // tensor
    APP__DIM_PP,    // pipeline
    APP__DIM_DP,    // data
    APP__DIM_EP,    // experts
    APP__DIM_CP,    // context
    APP__DIM_DP_EP, // data, among the ranks that hold the same experts
    APP__DIM_COUNT
} app__dimension_t;

typedef struct app__op {
    uint64_t size;           // bytes of a message; ns of a computation; 0 for a collective
    uint32_t peer;           // rank, or APP__ANY; for a collective: index of its call
    uint32_t tag;            // or APP__ANY
    uint32_t needs;          // operations that must finish or start before this one starts
    uint32_t required_first; // in next: operations that may start when this one has finished
    uint32_t required_count;
    uint32_t irequired_first; // in next: operations that may start when this one has started
    uint32_t irequired_count;
    uint8_t type;      // app__op_type_t
    uint8_t cpu;       // operations of one cpu run one at a time
    uint8_t nic;       // number of the host's NIC
    uint8_t dimension; // app__dimension_t
} app__op_t;

typedef struct app__rank_ops {
    app__op_t *ops;
    uint32_t count;
    uint32_t capacity;
    uint32_t *next; // indices of operations
    uint32_t next_count;
    // Ranks that do the same have one list of operations, which differ in their peers only. peers:
    // per operation, instead of app__op_t.peer; NULL: the operations are the rank's own.
    uint32_t *peers;
} app__rank_ops_t;

// Returns the peer of an operation of a rank.
static inline uint32_t app__peer_of(const app__rank_ops_t *ops, const app__op_t *op)
{
    return ops->peers == NULL ? op->peer : ops->peers[op - ops->ops];
}

// An order between two operations of a rank, as a file names it.
typedef struct app__dependency {
    uint32_t after;  // this operation waits
    uint32_t before; // for this one
    bool started;    // until it has started; else until it has finished
} app__dependency_t;

// Returns the name of a dimension, "tp".
const char *app__dimension_name(app__dimension_t dimension);

// Returns whether a rank's receive takes a message of this source and tag.
static inline bool app__op_allows(const app__rank_ops_t *ops, const app__op_t *receive,
                                  uint32_t source, uint32_t tag)
{
    const uint32_t peer = app__peer_of(ops, receive);
    return (peer == APP__ANY || peer == source) &&
           (receive->tag == APP__ANY || receive->tag == tag);
}

#endif // APPS_WORKLOAD_OP_H
