// SPDX-License-Identifier: Apache-2.0
// apps/flows/connections.c - plans whose transfers share one queue pair per pair of interfaces.
//
// A connection is created with its first transfer and kept until the end of the run, so its rate,
// window and cache entries carry over. Transfers take turns in order of start: all messages of one
// are posted before those of the next, with at most `depth` outstanding. A transfer's time includes
// its wait in the queue. Both ends know the QP number: an interface has one per peer and priority,
// first requesters, then responders.
//
// After an error a connection stays broken, and transfers started later on it fail at once, like on
// a queue pair that nobody resets.
#include "apps/flows/transfer_internal.h"

#define PRIORITIES 9u // the eight traffic classes, and one entry for the NIC's own priority
#define RECEIVES_POSTED 16u

struct app__connection {
    app__connection_t *next; // list of the source
    app__source_t *source;
    nic_qp_t *qp;
    uint32_t destination;
    uint8_t priority; // class of its transfers, may be APP__AS_THE_NIC
    bool failed;
    uint64_t outstanding;
    uint64_t next_psn;         // of the next packet to post, without wrapping
    uint64_t retransmitted;    // packets, of transfers that have ended
    app__transfer_run_t *head; // queue in order of start: transfers with messages still to post
    app__transfer_run_t *tail;
};

static uint64_t slot_of(uint8_t priority)
{
    return priority == APP__AS_THE_NIC ? PRIORITIES - 1 : priority;
}

uint64_t app__connections_of(const app__plan_t *plan)
{
    return net_interface_count(plan->net) * PRIORITIES;
}

void app__connection_number(const app__plan_t *plan, app__transfer_t *transfer)
{
    const uint64_t slot = slot_of(transfer->priority);
    const uint64_t active = transfer->destination * PRIORITIES + slot;
    const uint64_t passive = app__connections_of(plan) + transfer->source * PRIORITIES + slot;
    transfer->source_qp = app__qp_number(plan->positions[transfer->source] + active);
    transfer->destination_qp = app__qp_number(plan->positions[transfer->destination] + passive);
}

uint64_t app__connection_key(const app__plan_t *plan, const app__transfer_t *transfer)
{
    const uint64_t pair =
        (uint64_t)transfer->source * net_interface_count(plan->net) + transfer->destination;
    return pair * PRIORITIES + slot_of(transfer->priority);
}

// -- the requester

static app__connection_t *find(const app__source_t *source, const app__transfer_t *transfer)
{
    app__connection_t *at = source->connections;
    while (at != NULL &&
           (at->destination != transfer->destination || at->priority != transfer->priority)) {
        at = at->next;
    }
    return at;
}

static app__connection_t *create(app__source_t *source, const app__transfer_t *transfer)
{
    const app__plan_t *const plan = source->plan;
    app__connection_t *const connection = sim_alloc(sizeof(*connection));
    connection->source = source;
    connection->destination = transfer->destination;
    connection->priority = transfer->priority;
    connection->next = source->connections;
    source->connections = connection;
    connection->qp = app__requester_qp(source, transfer, 0, plan->shape.depth, connection);
    connection->next_psn = app__plan_first_psn(plan, transfer, 0);
    return connection;
}

static void drop_head(app__connection_t *connection)
{
    connection->head = connection->head->queue_next;
    if (connection->head == NULL) {
        connection->tail = NULL;
    }
}

static void post(app__connection_t *connection, app__transfer_run_t *run)
{
    if (run->posted == 0) {
        run->first_psn = connection->next_psn;
    }
    connection->next_psn += app__run_post(run);
    connection->outstanding++;
}

// Removes the first run from the queue. It has nothing left to post, but may still wait for
// completions.
static void leave(app__connection_t *connection)
{
    app__transfer_run_t *const run = connection->head;
    drop_head(connection);
    if (run->posted == 0 && run->status == NIC_WC_SUCCESS) {
        app__run_drop(run); // the plan stopped before its turn
    } else if (run->completed == run->posted) {
        app__run_end(run);
    }
}

static void pump(app__connection_t *connection)
{
    while (connection->head != NULL) {
        app__transfer_run_t *const run = connection->head;
        if (connection->failed && run->status == NIC_WC_SUCCESS) {
            run->status = NIC_WC_WR_FLUSH_ERR;
        }
        if (!app__run_goes_on(run)) {
            leave(connection);
        } else if (connection->outstanding < connection->source->plan->shape.depth) {
            post(connection, run);
            if (run->posted == run->count) {
                drop_head(connection);
            }
        } else {
            break;
        }
    }
}

void app__connection_start(app__transfer_run_t *run)
{
    app__source_t *const source = run->source;
    const app__transfer_t *const transfer = app__transfer(source->plan, run->index);
    app__connection_t *connection = find(source, transfer);
    if (connection == NULL) {
        connection = create(source, transfer);
    }
    run->connection = connection;
    run->qp = connection->qp;
    run->first_psn = UINT64_MAX; // nothing of it is posted
    if (connection->tail != NULL) {
        connection->tail->queue_next = run;
    } else {
        connection->head = run;
    }
    connection->tail = run;
    pump(connection);
}

void app__connection_completed(app__transfer_run_t *run)
{
    app__connection_t *const connection = run->connection;
    connection->outstanding--;
    connection->failed |= run->status != NIC_WC_SUCCESS;
    // A run that is still in the queue ends, if it does, when it leaves the queue.
    const bool queued = connection->head == run;
    if (!queued && run->completed == run->posted) {
        app__run_end(run);
    }
    pump(connection);
}

uint32_t app__connection_retransmitted(app__transfer_run_t *run)
{
    app__connection_t *const connection = run->connection;
    const uint64_t all = nic_qp_retransmitted_packets(connection->qp);
    const uint64_t since = all - connection->retransmitted;
    connection->retransmitted = all;
    return (uint32_t)since;
}

void app__connections_free(app__source_t *source)
{
    while (source->connections != NULL) {
        app__connection_t *const next = source->connections->next;
        sim_free(source->connections);
        source->connections = next;
    }
}

// -- the responder

bool app__connection_is_passive(const app__plan_t *plan, uint64_t offset)
{
    return offset >= app__connections_of(plan);
}

static void post_receive(const app__endpoint_t *endpoint, app__passive_t *passive)
{
    const uint32_t number = nic_qp_num(passive->qp);
    const nic_recv_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)passive,
        .sge = {app__address_of_qp(number), APP__PIECE_BYTES, app__buffer_key(endpoint, number)},
    };
    const sim_err_t error = nic_post_recv(passive->qp, &wr);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", number, sim_err_text(error));
}

void app__connection_received(app__endpoint_t *endpoint, app__passive_t *passive)
{
    post_receive(endpoint, passive);
}

void app__connection_accept(app__plan_t *plan, app__endpoint_t *endpoint, uint64_t offset,
                            app__passive_t *passive)
{
    const uint64_t place = offset - app__connections_of(plan);
    const uint64_t slot = place % PRIORITIES;
    app__transfer_t transfer = {
        .source = (uint32_t)(place / PRIORITIES),
        .destination = endpoint->interface,
        .priority = slot == PRIORITIES - 1 ? APP__AS_THE_NIC : (uint8_t)slot,
        .dscp = plan->shape.dscp == SIM_AUTO ? APP__AS_THE_NIC : (uint8_t)plan->shape.dscp,
    };
    app__connection_number(plan, &transfer);
    const uint32_t receives = plan->shape.verb == APP__VERB_SEND ? RECEIVES_POSTED : 0;
    passive->qp = app__responder_qp(plan, endpoint, &transfer, 0, receives, passive);
    for (uint32_t i = 0; i < receives; i++) {
        post_receive(endpoint, passive);
    }
}
