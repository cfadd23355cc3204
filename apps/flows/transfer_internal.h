// SPDX-License-Identifier: Apache-2.0
// apps/flows/transfer_internal.h - the structs of plans, shared by planning and execution.
#ifndef APPS_FLOWS_TRANSFER_INTERNAL_H
#define APPS_FLOWS_TRANSFER_INTERNAL_H

#include "apps/flows/transfer.h"
#include "kernel/order/fifo.h"
#include "kernel/record.h"

#include <stdatomic.h>

typedef struct app__transfer_run app__transfer_run_t;
typedef struct app__connection app__connection_t;

// What starts transfers of a plan besides their time. Of one host.
typedef struct app__trigger {
    uint64_t left;     // activations until it starts what it starts
    bool one_by_one;   // one at each activation from then on
    uint32_t *targets; // transfers
    size_t target_count;
    size_t target_capacity;
    size_t next; // in targets
} app__trigger_t;

// The transfers of one plan that one interface requests.
typedef struct app__failure {
    uint64_t index; // of the transfer
    sim_time_t time_ps;
} app__failure_t;

typedef struct app__source {
    sim_timer_t timer; // at the start of the next one
    app__plan_t *plan;
    app__endpoint_t *endpoint;
    app__transfer_run_t *runs;      // under way
    app__connection_t *connections; // of a plan whose transfers share queue pairs
    uint64_t next;                  // of the interface's transfers, in order of start
    uint64_t end;
    uint64_t started;
    uint64_t completed;
    uint64_t failed;
    app__failure_t *failures; // in order of time
    size_t failure_count;
    size_t failure_capacity;
    sim_timer_t due_timer; // at once, for those that triggers started
    uint32_t *due;         // transfers
    size_t due_count;
    size_t due_capacity;
    bool late; // its time has come, and it waits for what else was scheduled for that time
} app__source_t;

// A transfer under way, at its requester.
struct app__transfer_run {
    app__active_t active; // first
    app__source_t *source;
    app__transfer_run_t *run_next; // of the source
    app__transfer_run_t *run_previous;
    nic_qp_t *qp;
    app__connection_t *connection;   // NULL: the QP is its own
    app__transfer_run_t *queue_next; // of the connection
    uint64_t first_psn;              // UINT64_MAX: nothing of it is posted
    uint64_t count;                  // work requests in all
    uint64_t posted;
    uint64_t completed;
    uint32_t index; // of the transfer
    uint32_t local_key;
    uint32_t remote_key;
    uint8_t status; // nic_wc_status_t: the first that is no success
};

// Transfers that were made together (blocks.c).
typedef struct app__block {
    uint64_t first; // number of the first one
    size_t count;
    app__transfer_t *transfers; // in order of start
    uint8_t *received;          // by transfer: the responder has everything and forgot the QP
    // By requester and by responder, each in order of start, as places in the block: those of
    // interface i are by_source[source_first[i]] .. by_source[source_first[i + 1] - 1].
    uint32_t *by_source;
    uint32_t *source_first;
    uint32_t *by_destination;
    uint32_t *destination_first;
    atomic_uint_fast64_t open; // ends and receptions to come, and responders made again
} app__block_t;

// What is known of a block whether it is made or not.
typedef struct app__block_entry {
    _Atomic(app__block_t *) made; // NULL: not yet, or packed
    uint32_t *sources_before;     // by interface: transfers in earlier blocks
    uint32_t *destinations_before;
    void *arrivals;      // that begin with its first one; NULL: a list
    sim_time_t first_ps; // its first start
    uint8_t *outcomes;   // what became of its transfers, packed; NULL: not known of all
} app__block_entry_t;

struct app__plan {
    const net_t *net;
    app_runtime_t *runtime;
    const char *label;
    app__shape_t shape;
    sim_time_t stop_ps;
    uint64_t seed;
    uint64_t first_flow_id;
    uint64_t first_number; // of transfers' starts where ties go by insertion; 0: they do not
    sim_stream_t *ends;    // there, indices of transfers as they end; else NULL
    uint32_t ended;        // that came from it

    uint64_t bytes_max; // of memory for transfers; 0: no limit
    uint64_t parts;     // transfers that a row was cut into (plan_rows.c); 0: rows are not told of
    app__transfer_t *transfers; // of a list, as they are added
    size_t count;
    size_t capacity;
    app_flow_chain_t *chains; // by transfer; only where there are triggers
    size_t chain_capacity;
    app__trigger_t *triggers;
    size_t trigger_count;

    const app__arrivals_ops_t *arrivals_ops; // NULL: a list
    void *arrivals;
    unsigned block_shift; // transfers of a block: 2 to this
    size_t block_count;
    app__block_entry_t *entries; // and one behind the last block, for how many there are in all
    size_t entry_count;
    size_t entry_capacity;
    uint64_t *positions;        // by interface: of its first QP number
    sim_stream_t *whole_blocks; // numbers of those that may be packed; NULL: a list
    app__source_t *sources;
    size_t source_count;
};

extern const app__range_ops_t app__plan_range_ops;
void app__source_fired(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn
void app__source_arm(app__source_t *source);                  // for its next transfer
void app__source_due(sim_node_t *node, sim_timer_t *timer);   // a sim_timer_fn

// chain.c
static inline bool app__waits(const app__plan_t *plan, uint64_t index)
{
    return plan->trigger_count > 0 && plan->chains[index].started_by != 0;
}
void app__chains_begin(app__plan_t *plan);
void app__chains_free(app__plan_t *plan);
// In an event of the trigger's host; 0: no trigger.
void app__chain_activate(app__plan_t *plan, uint32_t number);

// plan_rows.c: of rows that were cut into parts.
extern const sim_report_table_t app__plan_rows_report; // about an app__plan_t with parts
// Ideal time of a transfer, if it had messages of that size.
sim_time_t app__plan_ideal_ps(const app__plan_t *plan,
                              const app__transfer_t *transfer,
                              uint64_t index,
                              uint64_t message_bytes);
uint16_t app__plan_udp_source_port(const app__plan_t *plan,
                                   const app__transfer_t *transfer,
                                   uint64_t index);

// transfer.c, for transfers whatever their queue pairs
nic_qp_t *app__requester_qp(const app__source_t *source,
                            const app__transfer_t *transfer,
                            uint64_t index,
                            uint64_t depth,
                            void *ctx);
nic_qp_t *app__responder_qp(const app__plan_t *plan,
                            const app__endpoint_t *endpoint,
                            const app__transfer_t *transfer,
                            uint64_t index,
                            uint32_t receives,
                            void *ctx);
uint64_t app__run_post(app__transfer_run_t *run); // the next one; returns how many packets
bool app__run_goes_on(const app__transfer_run_t *run);
void app__run_end(app__transfer_run_t *run);
void app__run_drop(app__transfer_run_t *run); // nothing of it was posted: it is unfinished

// connections.c
uint64_t app__connections_of(const app__plan_t *plan); // QP numbers of an interface, one way
void app__connection_number(const app__plan_t *plan, app__transfer_t *transfer);
uint64_t app__connection_key(const app__plan_t *plan, const app__transfer_t *transfer);
void app__connection_start(app__transfer_run_t *run);
void app__connection_completed(app__transfer_run_t *run);
uint32_t app__connection_retransmitted(app__transfer_run_t *run); // since the latest asked
bool app__connection_is_passive(const app__plan_t *plan, uint64_t offset);
void app__connection_accept(app__plan_t *plan,
                            app__endpoint_t *endpoint,
                            uint64_t offset,
                            app__passive_t *passive);
void app__connection_received(app__endpoint_t *endpoint, app__passive_t *passive);
void app__connections_free(app__source_t *source);

// blocks.c
void app__blocks_begin(app__plan_t *plan);  // the plan has all its transfers
void app__blocks_number(app__plan_t *plan); // its interfaces have positions
void app__blocks_free(app__plan_t *plan);
app__block_t *app__block_of(const app__plan_t *plan, uint64_t index);
// Valid until the end of the event.
static inline app__transfer_t *app__transfer(const app__plan_t *plan, uint64_t index)
{
    const app__block_t *const block = app__block_of(plan, index);
    return &block->transfers[index - block->first];
}
// The place'th transfer that an interface requests, or responds to.
uint32_t app__transfer_at_source(const app__plan_t *plan, uint32_t interface, uint64_t place);
uint32_t app__transfer_at_destination(const app__plan_t *plan, uint32_t interface, uint64_t place);
// When the place'th transfer that it responds to begins; of one that is not at hand no later.
sim_time_t app__passive_start_ps(const app__plan_t *plan, uint32_t interface, uint64_t place);
// One of the two ends is done with it, in an event of the node; it is needed again.
void app__transfer_closed(const app__plan_t *plan, uint64_t index, const sim_node_t *node);
void app__transfer_opened(const app__plan_t *plan, uint64_t index);
static inline uint64_t app__requested_by(const app__plan_t *plan, uint32_t interface)
{
    return plan->entries[plan->block_count].sources_before[interface];
}

// For results, outside the run: transfers in order, those that are not at hand made for it.
typedef struct app__reader {
    const app__plan_t *plan;
    app__block_t *block;
    size_t number;
    bool own;
} app__reader_t;
const app__transfer_t *app__read(app__reader_t *reader, uint64_t index); // valid until the next
void app__reader_close(app__reader_t *reader);

app__transfer_t app__transfer_of(const app__plan_t *plan, const app__request_t *request);
// Whether the verb goes with the service; the message begins with the attribute's name.
sim_err_t app__check_service(const app__plan_t *plan, sim_message_t *message);
sim_err_t app__too_many(const char *blame, sim_message_t *message);

// Hash of a transfer's flow id: for what differs from flow to flow and both ends must know.
uint64_t app__plan_hash(const app__plan_t *plan, const app__transfer_t *transfer, uint64_t index);
// PSNs start anywhere, as connection managers let them: wrapping is nothing rare.
uint32_t app__plan_first_psn(const app__plan_t *plan,
                             const app__transfer_t *transfer,
                             uint64_t index);
nic_qp_type_t app__plan_qp_type(const app__plan_t *plan);
// A message is posted in pieces of this: what a work request takes, or a datagram.
uint64_t app__piece_bytes(const app__plan_t *plan, const app__transfer_t *transfer);
nic_wr_opcode_t app__transfer_opcode(const app__transfer_t *transfer);
uint32_t app__plan_mtu_bytes(const app__plan_t *plan, const app__transfer_t *transfer);
uint8_t app__plan_priority(const app__plan_t *plan, const app__transfer_t *transfer);
uint8_t app__plan_dscp(const app__plan_t *plan, const app__transfer_t *transfer);

#endif // APPS_FLOWS_TRANSFER_INTERNAL_H
