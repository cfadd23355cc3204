// SPDX-License-Identifier: Apache-2.0
// apps/flows/transfer_internal.h - structs of plans, shared by planning and execution.
#ifndef APPS_FLOWS_TRANSFER_INTERNAL_H
#define APPS_FLOWS_TRANSFER_INTERNAL_H

#include "apps/flows/transfer.h"
#include "kernel/order/fifo.h"
#include "kernel/record.h"

#include <stdatomic.h>

typedef struct app__transfer_run app__transfer_run_t;
typedef struct app__flow_channel app__flow_channel_t;

// A trigger that starts transfers of a plan; all of them belong to one host.
typedef struct app__trigger {
    uint64_t left;     // activations until it starts transfers
    bool one_by_one;   // it starts one transfer at each activation
    uint32_t *targets; // transfers
    size_t target_count;
    size_t target_capacity;
    size_t next; // index in targets of the transfer to start next
} app__trigger_t;

// A failed transfer.
typedef struct app__failure {
    uint64_t index; // of the transfer
    sim_time_t time_ps;
} app__failure_t;

// A transfer that a trigger started.
typedef struct app__due {
    uint32_t index; // of the transfer
    sim_time_t time_ps;
} app__due_t;

// The transfers of one plan that one interface requests.
typedef struct app__source {
    sim_timer_t timer; // fires at the start of the next transfer
    app__plan_t *plan;
    app__endpoint_t *endpoint;
    app__transfer_run_t *runs;     // transfers in progress
    app__flow_channel_t *channels; // that transfers share
    uint64_t next; // place of the next transfer among the interface's, in order of start
    uint64_t end;
    uint64_t started;
    uint64_t completed;
    uint64_t failed;
    app__failure_t *failures; // in order of time
    size_t failure_count;
    size_t failure_capacity;
    sim_timer_t due_timer; // fires for transfers that triggers started
    app__due_t *due;
    size_t due_count;
    size_t due_capacity;
    bool late; // the start time has come; waits for other events scheduled for that time
} app__source_t;

// A transfer in progress, at its requester.
struct app__transfer_run {
    app__message_t message; // first
    app__source_t *source;
    app__transfer_run_t *run_next; // list of the source
    app__transfer_run_t *run_previous;
    uint32_t index; // of the transfer
};

// A block of transfers that are made together (blocks.c).
typedef struct app__block {
    uint64_t first; // index of the first transfer
    size_t count;
    app__transfer_t *transfers; // in order of start
    uint8_t *received; // per transfer: the responder has received everything and destroyed its QP
    // Places in the block by requester and by responder, each in order of start: those of interface
    // i are by_source[source_first[i]] .. by_source[source_first[i + 1] - 1].
    uint32_t *by_source;
    uint32_t *source_first;
    uint32_t *by_destination;
    uint32_t *destination_first;
    // requesters and responders still to finish, and responders made again
    atomic_uint_fast64_t open;
} app__block_t;

// A block's permanent record; it exists whether the block is made or not.
typedef struct app__block_entry {
    _Atomic(app__block_t *) made; // NULL: not yet, or packed
    uint32_t *sources_before;     // per interface: transfers in earlier blocks
    uint32_t *destinations_before;
    void *arrivals;      // arrivals that begin with the block's first transfer; NULL: a list
    sim_time_t first_ps; // its first start
    uint8_t *outcomes;   // packed results of its transfers; NULL: not all are known
} app__block_entry_t;

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
    sim_stream_t *whole_blocks; // numbers of blocks that may be packed; NULL: a list
    app__source_t *sources;
    size_t source_count;
    app__unfinished_t elsewhere; // progress of transfers that other ranks ran, after the run
};

extern const app__range_ops_t app__plan_range_ops;
void app__source_fired(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn
void app__source_arm(app__source_t *source);                // arms the timer for the next transfer
void app__source_due(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn

// chain.c
static inline bool app__waits(const app__plan_t *plan, uint64_t index)
{
    return plan->trigger_count > 0 && plan->chains[index].started_by != 0;
}
void app__chains_begin(app__plan_t *plan);
void app__chains_free(app__plan_t *plan);
// Activates a trigger, in an event of its host; number 0 means no trigger. What it starts begins so
// much later.
void app__chain_activate(app__plan_t *plan, uint32_t number, sim_time_t later_ps);

// plan_results.c: collects the progress of transfers in progress and the times of failures. Writes
// the retransmitted packets of transfers in progress into the transfers. The caller frees the items
// with sim_free.
app__unfinished_t app__plan_unfinished(const app__plan_t *plan);

// carry.c: carries what became of transfers to rank 0
void app__plan_carry(app__plan_t *plan, sim_carry_t *carry);

// plan_rows.c: reports rows that were cut into parts
extern const sim_report_table_t app__plan_rows_report; // about an app__plan_t with parts
// Returns the ideal time of a transfer as if its messages had message_bytes.
sim_time_t app__plan_ideal_ps(const app__plan_t *plan, const app__transfer_t *transfer,
                              uint64_t index, uint64_t message_bytes);
uint16_t app__plan_udp_source_port(const app__plan_t *plan, const app__transfer_t *transfer,
                                   uint64_t index);

// transfer.c
extern const app__channel_ops_t app__flow_channel_ops;

// channels.c
// Returns the pair of a transfer's channel.
app__pair_t app__plan_pair(const app__plan_t *plan, const app__transfer_t *transfer,
                           uint64_t index);
// Returns the channel for a transfer of this number of work requests, opening it if there is none.
app__channel_t *app__flow_channel(app__source_t *source, const app__transfer_t *transfer,
                                  uint64_t index, uint64_t pieces);
void app__flow_channel_idle(app__channel_t *channel); // of app__channel_ops_t
// Frees the channels and the transfers in progress of a source.
void app__flow_channels_free(app__source_t *source);
// Returns how many QP numbers an interface reserves per direction, where transfers share channels.
uint64_t app__flow_channels_of(const app__plan_t *plan);
void app__flow_channel_number(const app__plan_t *plan, app__transfer_t *transfer);
bool app__flow_channel_is_passive(const app__plan_t *plan, uint64_t offset);
void app__flow_channel_accept(const app__plan_t *plan, const app__endpoint_t *endpoint,
                              uint64_t offset, app__passive_t *passive);
void app__flow_channel_received(const app__passive_t *passive);

// blocks.c
void app__blocks_begin(app__plan_t *plan);  // call it when the plan has all its transfers
void app__blocks_number(app__plan_t *plan); // call it when the interfaces have positions
void app__blocks_free(app__plan_t *plan);
app__block_t *app__block_of(const app__plan_t *plan, uint64_t index);
// Returns a transfer; the pointer is valid until the end of the event.
static inline app__transfer_t *app__transfer(const app__plan_t *plan, uint64_t index)
{
    const app__block_t *const block = app__block_of(plan, index);
    return &block->transfers[index - block->first];
}
// Returns the index of the place'th transfer that an interface requests, or responds to.
uint32_t app__transfer_at_source(const app__plan_t *plan, uint32_t interface, uint64_t place);
uint32_t app__transfer_at_destination(const app__plan_t *plan, uint32_t interface, uint64_t place);
// Returns when the place'th transfer that the interface responds to begins, or an earlier time
// where its block is not made.
sim_time_t app__passive_start_ps(const app__plan_t *plan, uint32_t interface, uint64_t place);
// Notes, in an event of the node, that one end of a transfer is done with it; notes that the end
// needs it again.
void app__transfer_closed(const app__plan_t *plan, uint64_t index, const sim_node_t *node);
void app__transfer_opened(const app__plan_t *plan, uint64_t index);
static inline uint64_t app__requested_by(const app__plan_t *plan, uint32_t interface)
{
    return plan->entries[plan->block_count].sources_before[interface];
}

// Reads transfers in order for results, outside the run. It makes blocks that do not exist.
typedef struct app__reader {
    const app__plan_t *plan;
    app__block_t *block;
    size_t number;
    bool own;
} app__reader_t;
// valid until the next call
const app__transfer_t *app__read(app__reader_t *reader, uint64_t index);
void app__reader_close(app__reader_t *reader);

app__transfer_t app__transfer_of(const app__plan_t *plan, const app__request_t *request);
// Checks that the verb goes with the service. An error message begins with the attribute's name.
sim_err_t app__check_service(const app__plan_t *plan, sim_message_t *message);
sim_err_t app__too_many(const char *blame, sim_message_t *message);

uint32_t app__plan_first_psn(const app__plan_t *plan, const app__transfer_t *transfer,
                             uint64_t index);
nic_qp_type_t app__plan_qp_type(const app__plan_t *plan);
// Returns the largest piece of a message: what one work request or one datagram carries.
uint64_t app__piece_bytes(const app__plan_t *plan, const app__transfer_t *transfer);
nic_wr_opcode_t app__transfer_opcode(const app__transfer_t *transfer);
uint32_t app__plan_mtu_bytes(const app__plan_t *plan, const app__transfer_t *transfer);
uint8_t app__plan_priority(const app__plan_t *plan, const app__transfer_t *transfer);
uint8_t app__plan_dscp(const app__plan_t *plan, const app__transfer_t *transfer);

#endif // APPS_FLOWS_TRANSFER_INTERNAL_H
