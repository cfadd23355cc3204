// SPDX-License-Identifier: Apache-2.0
// apps/workload/schedule.h - schedules of messages and computations, such as collectives have.
//
// Each rank has operations: sends, receives, computations and its parts of collectives. An
// operation starts when those that it requires have finished, and those that it "irequires" have
// started. Readers of files (formats/) and generators make schedules; hosts execute them.
#ifndef APPS_WORKLOAD_SCHEDULE_H
#define APPS_WORKLOAD_SCHEDULE_H

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

// The ranks that call collectives together, as a communicator of NCCL or MPI has them.
typedef struct app__group {
    uint32_t *ranks; // in the order of their numbers within the group
    uint32_t count;
} app__group_t;

typedef enum app__coll_kind {
    APP__COLL_ALL_REDUCE,
    APP__COLL_REDUCE_SCATTER,
    APP__COLL_ALL_GATHER,
    APP__COLL_BROADCAST,
    APP__COLL_REDUCE,
    APP__COLL_ALL_TO_ALL,
    APP__COLL_BARRIER,
    APP__COLL_COUNT
} app__coll_kind_t;

// One collective, called once by every rank of a group. A rank's operation of the type
// APP__OP_COLL is its part of the call: it starts when the rank calls, and finishes when the rank
// has its result.
typedef struct app__call {
    // All-reduce, broadcast, reduce: the buffer. Reduce-scatter: the input of a rank. All-gather:
    // the result of a rank. All-to-all: what a rank sends to all, itself included.
    uint64_t bytes;
    // All-to-all with unequal parts: bytes from row to column, count x count values by the numbers
    // within the group; NULL: equal parts. Borrowed from the schedule (app__schedule_keep).
    const uint64_t *matrix;
    uint32_t group;
    uint32_t root;     // number within the group; broadcast and reduce
    uint8_t kind;      // app__coll_kind_t
    uint8_t dimension; // app__dimension_t
    const char *name;  // for reports: "layer 3 forward"; NULL: none. Borrowed from the schedule.
} app__call_t;

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

// Counts of a schedule.
typedef struct app__schedule_counts {
    uint64_t sends;
    uint64_t recvs;
    uint64_t calcs;
    uint64_t colls; // parts of collectives
    uint64_t bytes; // of sends
    uint64_t calc_ns;
    uint64_t requires;
    uint64_t irequires;
    uint64_t unmatched_sends; // sends for which no receive names the rank and the tag
    uint64_t unmatched_recvs;
    uint64_t size_mismatches; // messages and the receives that take them, of different sizes
    uint64_t stuck;           // operations that can never start, since they wait for each other
    uint32_t depth;           // computations and messages on the longest chain through all ranks
    uint8_t cpu_max;
    uint8_t nic_max;
} app__schedule_counts_t;

// A count of a file that its format's reader made, for programs: "layers_present", 92.
typedef struct app__fact {
    const char *name; // static
    uint64_t number;
    char *text; // NULL: the number counts
} app__fact_t;

typedef struct app__schedule {
    app__rank_ops_t *ranks;
    uint32_t rank_count;
    app__group_t *groups;
    size_t group_count;
    size_t group_capacity;
    app__call_t *calls;
    size_t call_count;
    size_t call_capacity;
    void **kept; // memory that calls point to
    size_t kept_count;
    size_t kept_capacity;
    char **notes; // lines for a person who checks the file; "warning: " first in some
    size_t note_count;
    size_t note_capacity;
    app__fact_t *facts;
    size_t fact_count;
    size_t fact_capacity;
    // A schedule with one rank for each kind of ranks that do the same: all counts and paths follow
    // from it. NULL: all ranks are looked at.
    struct app__schedule *typical;
    uint32_t *typical_of; // per call: the call of `typical` that stands for it
    uint32_t alike;       // ranks for which each of the typical ones stands
    char *refusal; // why no run can hold the schedule, which then has counts only; NULL: one can
    char *flaw;    // why also `algorithm-file` refuses this file of an algorithm; NULL: it does not
    app__schedule_counts_t counts;
    // Message about the first place where the file names a rank that it does not have; NULL: none.
    // Such a schedule can be counted and converted, but not run.
    char *absent_rank;
} app__schedule_t;

// An order between two operations of a rank, as a file names it.
typedef struct app__dependency {
    uint32_t after;  // this operation waits
    uint32_t before; // for this one
    bool started;    // until it has started; else until it has finished
} app__dependency_t;

app__schedule_t *app__schedule_create(uint32_t rank_count);
void app__schedule_destroy(app__schedule_t *schedule); // NULL is allowed
// Appends an operation to a rank and returns its index.
uint32_t app__schedule_add(app__schedule_t *schedule, uint32_t rank, const app__op_t *op);
// Appends a group of ranks, each at most once, and returns its index. Copies the list.
uint32_t app__schedule_group(app__schedule_t *schedule, const uint32_t *ranks, uint32_t count);
// Appends a call and returns its index: the peer of the operations of its group's ranks.
uint32_t app__schedule_call(app__schedule_t *schedule, const app__call_t *call);
// Makes the schedule own a block of memory of sim_alloc, such as a matrix or a name; returns it.
void *app__schedule_keep(app__schedule_t *schedule, void *block);
// Appends a line about the file that the schedule comes from. Takes a text of sim_format.
void app__schedule_note(app__schedule_t *schedule, char *text);
// Appends a fact: a number, or a text of sim_format, which it takes. `name` is static.
void app__schedule_fact(app__schedule_t *schedule, const char *name, uint64_t number);
void app__schedule_fact_text(app__schedule_t *schedule, const char *name, char *text);
// Says why no run can hold the schedule. Takes a text of sim_format. Its reader fills the counts.
void app__schedule_refuse(app__schedule_t *schedule, char *text);
// Returns the name of a dimension, "tp", or of a kind of collective, "all-reduce".
const char *app__dimension_name(app__dimension_t dimension);
const char *app__coll_kind_name(app__coll_kind_t kind);
// Gives a rank the operations and the order of another one, and other peers: of sim_alloc, owned by
// the schedule from now on.
void app__schedule_share(app__schedule_t *schedule, uint32_t rank, uint32_t owner, uint32_t *peers);
// Sets the order of a rank's operations, in the order of the list. Called once for each rank.
void app__schedule_order(app__schedule_t *schedule, uint32_t rank, const app__dependency_t *list,
                         size_t count);
// Fills the counts, after all ranks have their operations and orders.
void app__schedule_finish(app__schedule_t *schedule);

// Calls tell for the first `most` operations without a counterpart, or that wait for what never
// comes: of those that wait, the first of each rank.
void app__schedule_tell(const app__schedule_t *schedule, uint32_t most,
                        void (*tell)(const char *text, void *ctx), void *ctx);

// Returns whether a rank's receive takes a message of this source and tag.
static inline bool app__op_allows(const app__rank_ops_t *ops, const app__op_t *receive,
                                  uint32_t source, uint32_t tag)
{
    const uint32_t peer = app__peer_of(ops, receive);
    return (peer == APP__ANY || peer == source) &&
           (receive->tag == APP__ANY || receive->tag == tag);
}

#endif // APPS_WORKLOAD_SCHEDULE_H
