// SPDX-License-Identifier: Apache-2.0
// apps/workload/schedule.h - schedules of messages and computations, such as collectives have.
//
// Each rank has operations: sends, receives and computations. An operation starts when those that
// it requires have finished, and those that it "irequires" have started. The format is GOAL of
// LogGOPSim (Hoefler, Schneider, Lumsdaine: LogGOPSim, HPDC 2010), as text or binary.
#ifndef APPS_WORKLOAD_SCHEDULE_H
#define APPS_WORKLOAD_SCHEDULE_H

#include "kernel/base.h"

#define APP__ANY UINT32_MAX // peer or tag of a receive: any
#define APP__RANKS_MAX UINT32_C(1000000)
#define APP__OPS_MAX (UINT32_C(1) << 30) // of a rank

typedef enum app__op_type { APP__OP_SEND = 1, APP__OP_RECV = 2, APP__OP_CALC = 3 } app__op_type_t;

// The numbers of the types are those of the binary format.
typedef struct app__op {
    uint64_t size;           // bytes of a message; ns of a computation
    uint32_t peer;           // rank, or APP__ANY
    uint32_t tag;            // or APP__ANY
    uint32_t needs;          // operations that must finish or start before this one starts
    uint32_t required_first; // in next: operations that may start when this one has finished
    uint32_t required_count;
    uint32_t irequired_first; // in next: operations that may start when this one has started
    uint32_t irequired_count;
    uint8_t type; // app__op_type_t
    uint8_t cpu;  // operations of one cpu run one at a time
    uint8_t nic;  // number of the host's NIC
} app__op_t;

typedef struct app__rank_ops {
    app__op_t *ops;
    uint32_t count;
    uint32_t capacity;
    uint32_t *next; // indices of operations
    uint32_t next_count;
} app__rank_ops_t;

// Counts of a schedule.
typedef struct app__schedule_counts {
    uint64_t sends;
    uint64_t recvs;
    uint64_t calcs;
    uint64_t bytes;
    uint64_t calc_ns;
    uint64_t requires;
    uint64_t irequires;
    uint64_t unmatched_sends; // sends for which no receive names the rank and the tag
    uint64_t unmatched_recvs;
    uint64_t stuck; // operations that can never start, since they wait for each other
    uint32_t depth; // computations and messages on the longest chain through all ranks
    uint8_t cpu_max;
    uint8_t nic_max;
} app__schedule_counts_t;

typedef struct app__schedule {
    app__rank_ops_t *ranks;
    uint32_t rank_count;
    app__schedule_counts_t counts;
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
// Sets the order of a rank's operations, in the order of the list. Called once for each rank.
void app__schedule_order(app__schedule_t *schedule,
                         uint32_t rank,
                         const app__dependency_t *list,
                         size_t count);
// Fills the counts, after all ranks have their operations and orders.
void app__schedule_finish(app__schedule_t *schedule);

// Reads a GOAL file, binary or text. A message begins with "NAME:LINE:COLUMN: ", or with "NAME: "
// for a binary file. The caller destroys *schedule.
SIM_MUST_CHECK sim_err_t app__goal_read(const char *name,
                                        const char *text,
                                        size_t size_bytes,
                                        app__schedule_t **schedule,
                                        sim_message_t *message);
// Returns whether the bytes begin like a GOAL file.
bool app__goal_is_binary(const char *text, size_t size_bytes);
SIM_MUST_CHECK sim_err_t app__goal_read_binary(const char *name,
                                               const char *bytes,
                                               size_t size_bytes,
                                               app__schedule_t **schedule,
                                               sim_message_t *message);
SIM_MUST_CHECK sim_err_t app__goal_read_text(const char *name,
                                             const char *text,
                                             size_t size_bytes,
                                             app__schedule_t **schedule,
                                             sim_message_t *message);
// Writes the binary format, as LogGOPSim's txt2bin does. *bytes is freed with sim_free.
void app__goal_write_binary(const app__schedule_t *schedule, char **bytes, size_t *size_bytes);

#endif // APPS_WORKLOAD_SCHEDULE_H
