// SPDX-License-Identifier: Apache-2.0
// apps/flows/plan_internal.h - the inside of a plan, and values of its transfers.
#ifndef APPS_FLOWS_PLAN_INTERNAL_H
#define APPS_FLOWS_PLAN_INTERNAL_H

#include "apps/flows/plan.h"
#include "kernel/record.h"

typedef struct app__block_entry app__block_entry_t;
typedef struct app__source app__source_t;
typedef struct app__trigger app__trigger_t;

// Progress of a transfer that has not completed: bytes delivered, or the time of the failure.
typedef struct app__progress {
    uint64_t index; // of the transfer
    uint64_t delivered_bytes;
    sim_time_t failed_ps;
} app__progress_t;

typedef struct app__unfinished {
    app__progress_t *items; // in order of transfers
    size_t count;
    size_t capacity;
} app__unfinished_t;

struct app__plan {
    const net_t *net;
    app_runtime_t *runtime;
    const char *label;
    app__shape_t shape;
    sim_time_t stop_ps;
    uint64_t seed;
    uint64_t first_flow_id;
    // first tie number of transfers' starts, where ties go by insertion; else 0
    uint64_t first_number;
    sim_stream_t *ends; // indices of transfers as they end, where ties go by insertion; else NULL
    uint32_t ended;     // records counted from `ends`

    uint64_t bytes_max;         // limit of memory for transfers; 0: no limit
    uint64_t parts;             // transfers per row (plan_rows.c); 0: rows are not reported
    app__transfer_t *transfers; // a list, in order of adding
    size_t count;
    size_t capacity;
    app_flow_chain_t *chains; // per transfer; only where there are triggers
    size_t chain_capacity;
    app__trigger_t *triggers;
    size_t trigger_count;

    const app__arrivals_ops_t *arrivals_ops; // NULL: a list
    void *arrivals;
    unsigned block_shift; // a block has 2^block_shift transfers
    size_t block_count;
    app__block_entry_t *entries; // one per block, and one after the last with the totals
    size_t entry_count;
    size_t entry_capacity;
    uint64_t *positions;        // per interface: position of its first QP number
    sim_stream_t *whole_blocks; // numbers of blocks that may be packed; NULL: all stay
    app__source_t *sources;
    size_t source_count;
    app__unfinished_t elsewhere; // progress of transfers that other ranks ran, after the run
};

// Returns a new transfer of the plan's shape.
app__transfer_t app__transfer_of(const app__plan_t *plan, const app__request_t *request);
// Checks that the verb goes with the service. An error message begins with the attribute's name.
sim_err_t app__check_service(const app__plan_t *plan, sim_message_t *message);

// Returns what the ideal time of a transfer follows from, as if its messages had message_bytes.
nic_ideal_t app__plan_ideal(const app__plan_t *plan, const app__transfer_t *transfer,
                            uint64_t index, uint64_t message_bytes);
uint16_t app__plan_udp_source_port(const app__plan_t *plan, const app__transfer_t *transfer,
                                   uint64_t index);
uint32_t app__plan_first_psn(const app__plan_t *plan, const app__transfer_t *transfer,
                             uint64_t index);
nic_qp_type_t app__plan_qp_type(const app__plan_t *plan);
// Returns the largest piece of a message: what one work request or one datagram carries.
uint64_t app__piece_bytes(const app__plan_t *plan, const app__transfer_t *transfer);
nic_wr_opcode_t app__transfer_opcode(const app__transfer_t *transfer);
uint32_t app__plan_mtu_bytes(const app__plan_t *plan, const app__transfer_t *transfer);
uint8_t app__plan_priority(const app__plan_t *plan, const app__transfer_t *transfer);
uint8_t app__plan_dscp(const app__plan_t *plan, const app__transfer_t *transfer);

#endif // APPS_FLOWS_PLAN_INTERNAL_H
