// SPDX-License-Identifier: Apache-2.0
// apps/flows/transfer.c - runs transfers: creates QPs when they are needed and posts messages.
//
// The requester's host writes the transfer's end, status and count; the responder's host writes the
// byte that shows that everything was received. They are different bytes, so hosts on different
// threads do not disturb each other. docs/models/traffic.md
#include "apps/flows/transfer.h"
#include "apps/flows/blocks.h"
#include "apps/flows/chain.h"
#include "apps/flows/shared_channels.h"
#include "apps/hosts.h"
#include "kernel/order/fifo.h"

#include <string.h>

// Maximum number of receives that a responder keeps posted.
#define RECEIVES_POSTED_MAX 16u

static app__plan_t *plan_of(const app__transfer_run_t *run)
{
    return run->source->plan;
}

static bool is_reliable(const app__plan_t *plan)
{
    return plan->shape.service == APP__RC;
}

// Returns the number of work requests of a whole transfer.
static uint64_t pieces_of(const app__plan_t *plan, const app__transfer_t *transfer)
{
    const uint64_t most = app__piece_bytes(plan, transfer);
    const uint64_t pieces = transfer->bytes <= most ? 1 : (transfer->bytes + most - 1) / most;
    return pieces * transfer->messages;
}

static uint64_t packets_of(const app__plan_t *plan, const app__transfer_t *transfer)
{
    const uint64_t mtu = app__plan_mtu_bytes(plan, transfer);
    // Pieces are multiples of every MTU; a message of 0 bytes is one packet.
    const uint64_t packets = transfer->bytes == 0 ? 1 : (transfer->bytes + mtu - 1) / mtu;
    return packets * transfer->messages;
}

// -- the requester

static void link_run(app__source_t *source, app__transfer_run_t *run)
{
    run->run_next = source->runs;
    if (source->runs != NULL) {
        source->runs->run_previous = run;
    }
    source->runs = run;
}

static void unlink_run(app__source_t *source, const app__transfer_run_t *run)
{
    if (run->run_previous != NULL) {
        run->run_previous->run_next = run->run_next;
    } else {
        source->runs = run->run_next;
    }
    if (run->run_next != NULL) {
        run->run_next->run_previous = run->run_previous;
    }
}

static void start_transfer(app__source_t *source, uint64_t index)
{
    app__plan_t *const plan = source->plan;
    const app__transfer_t *const transfer = app__transfer(plan, index);
    app__transfer_run_t *const run = sim_alloc(sizeof(*run));
    run->source = source;
    run->index = (uint32_t)index;
    link_run(source, run);
    app__message_init(&run->message, transfer->bytes, app__transfer_opcode(transfer));
    sim_work_begin(source->endpoint->node, 1);
    source->started++;
    app__channel_t *const channel =
        app__flow_channel(source, transfer, index, pieces_of(plan, transfer));
    app__channel_send(channel, &run->message, transfer->messages);
}

static void note_end(const app__transfer_run_t *run)
{
    const sim_node_t *const node = run->source->endpoint->node;
    const uint64_t index = run->index;
    memcpy(sim_stream_put(run->source->plan->ends, node, node->now_ps, sizeof(index)), &index,
           sizeof(index));
}

// Notes how a transfer ended that had posted something.
static void end_run(const app__transfer_run_t *run)
{
    app__source_t *const source = run->source;
    const app__message_t *const message = &run->message;
    app__transfer_t *const transfer = app__transfer(source->plan, run->index);
    transfer->status = message->status;
    if (message->status == NIC_WC_SUCCESS) {
        transfer->left_out = (uint32_t)((message->count - message->posted) / message->pieces);
    }
    if (is_reliable(source->plan)) {
        transfer->retransmitted = app__channel_retransmitted(message->channel);
    }
    if (message->status == NIC_WC_SUCCESS) {
        if (is_reliable(source->plan)) {
            transfer->end_ps = source->endpoint->node->now_ps;
        }
        if (source->plan->ends != NULL && is_reliable(source->plan)) {
            note_end(run);
        }
        source->completed++;
        if (source->plan->trigger_count > 0) {
            app__chain_activate(source->plan, source->plan->chains[run->index].sent, 0);
        }
    } else {
        source->failed++;
        SIM_APPEND(source->failures, source->failure_count, source->failure_capacity,
                   (app__failure_t){run->index, source->endpoint->node->now_ps});
    }
    app__transfer_closed(source->plan, run->index, source->endpoint->node);
}

static void transfer_ended(app__channel_t *channel, app__message_t *message)
{
    (void)channel;
    app__transfer_run_t *const run = SIM_CONTAINER_OF(message, app__transfer_run_t, message);
    app__source_t *const source = run->source;
    // Where the plan stopped before its turn, nothing is posted, and it stays unfinished.
    const bool ends = message->posted > 0 || message->status != NIC_WC_SUCCESS;
    if (ends) {
        end_run(run);
    }
    sim_work_end(source->endpoint->node, 1);
    if (ends) {
        sim_progress(source->endpoint->node);
    }
    unlink_run(source, run);
    sim_free(run);
}

// Returns whether a transfer posts another message. Over UC and UD one end alone cannot shorten
// what the other expects whole.
static bool transfer_goes_on(const app__message_t *message)
{
    const app__transfer_run_t *const run = (const app__transfer_run_t *)(const void *)message;
    const app__plan_t *const plan = plan_of(run);
    return !is_reliable(plan) || run->source->endpoint->node->now_ps < plan->stop_ps;
}

const app__channel_ops_t app__flow_channel_ops = {
    .ended = transfer_ended,
    .idle = app__flow_channel_idle,
    .goes_on = transfer_goes_on,
};

// Arms the source's timer for its next transfer. With ties by insertion, transfers of one instant
// start in the order of the plan, after all other events of that instant.
void app__source_arm(app__source_t *source)
{
    const app__plan_t *const plan = source->plan;
    const uint32_t index = app__transfer_at_source(plan, source->endpoint->interface, source->next);
    const sim_time_t start_ps = app__transfer(plan, index)->start_ps;
    sim_node_t *const node = source->endpoint->node;
    if (plan->first_number != 0) {
        sim_fifo_arm(node, &source->timer, start_ps, plan->first_number + index);
    } else {
        sim_timer_arm(node, &source->timer, start_ps);
    }
}

void app__source_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__source_t *const source = SIM_CONTAINER_OF(timer, app__source_t, timer);
    const app__plan_t *const plan = source->plan;
    if (plan->first_number != 0 && !source->late) {
        source->late = true;
        sim_timer_arm(node, timer, node->now_ps);
        return;
    }
    source->late = false;
    while (source->next < source->end) {
        const uint32_t index =
            app__transfer_at_source(plan, source->endpoint->interface, source->next);
        if (app__transfer(plan, index)->start_ps > node->now_ps) {
            app__source_arm(source);
            break;
        }
        source->next++;
        start_transfer(source, index);
    }
}

void app__source_due(sim_node_t *node, sim_timer_t *timer)
{
    app__source_t *const source = SIM_CONTAINER_OF(timer, app__source_t, due_timer);
    app__plan_t *const plan = source->plan;
    size_t kept = 0;
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (size_t i = 0; i < source->due_count && node->now_ps < plan->stop_ps; i++) {
        const app__due_t due = source->due[i];
        if (due.time_ps > node->now_ps) {
            next_ps = SIM_MIN(due.time_ps, next_ps);
            source->due[kept++] = due;
            continue;
        }
        app__transfer(plan, due.index)->start_ps = node->now_ps;
        start_transfer(source, due.index);
    }
    source->due_count = kept;
    if (kept > 0) {
        sim_timer_arm(node, timer, next_ps);
    }
}

// -- the responder

// Returns the transfer of QP number `offset` of the plan's range: first the interface's requesters,
// in order of start, then its responders. TRANSFER_NONE: the number is a requester's.
#define TRANSFER_NONE UINT32_MAX
static uint32_t passive_transfer(const app__plan_t *plan, uint32_t interface, uint64_t offset)
{
    const uint64_t actives = app__requested_by(plan, interface);
    return offset < actives ? TRANSFER_NONE
                            : app__transfer_at_destination(plan, interface, offset - actives);
}

static sim_time_t passive_from_ps(const void *owner, uint32_t interface, uint64_t offset)
{
    const app__plan_t *const plan = owner;
    if (plan->shape.reuse) {
        return app__flow_channel_is_passive(plan, offset) ? 0 : SIM_TIME_NEVER;
    }
    const uint64_t actives = app__requested_by(plan, interface);
    if (offset < actives) {
        return SIM_TIME_NEVER;
    }
    // Only the requester knows the start of a triggered transfer; a packet for it proves that it
    // began.
    if (plan->trigger_count > 0 && app__waits(plan, passive_transfer(plan, interface, offset))) {
        return 0;
    }
    return app__passive_start_ps(plan, interface, offset - actives);
}

static void post_receives(app__passive_t *passive, uint32_t count)
{
    const app__plan_t *const plan = passive->owner;
    const app__transfer_t *const transfer = app__transfer(plan, passive->item);
    const uint64_t most = app__piece_bytes(plan, transfer);
    app__qp_receive(passive->qp, passive->endpoint, (uint64_t)(uintptr_t)passive,
                    SIM_MIN(transfer->bytes, most), count);
    passive->left -= count;
}

// Counts bytes that arrived at the responder over UC or UD. The transfer ends with the last byte;
// anything beyond it is a duplicate datagram that a link has made.
static void take_arrived(const app__passive_t *passive, uint32_t bytes)
{
    app__plan_t *const plan = passive->owner;
    const sim_node_t *const node = passive->endpoint->node;
    app__transfer_t *const transfer = app__transfer(plan, passive->item);
    const uint64_t all_bytes = transfer->bytes * transfer->messages;
    if (transfer->arrived_bytes == all_bytes) {
        return;
    }
    transfer->arrived_bytes += bytes;
    if (transfer->arrived_bytes >= all_bytes) {
        transfer->arrived_bytes = all_bytes;
        transfer->end_ps = node->now_ps;
    }
}

static void message_written(nic_qp_t *qp, uint64_t address, uint32_t bytes, void *ctx)
{
    (void)qp;
    (void)address;
    take_arrived(ctx, bytes);
}

static void message_received(void *owner, app__endpoint_t *endpoint, app__passive_t *passive,
                             const nic_wc_t *wc)
{
    app__plan_t *const plan = owner;
    (void)endpoint;
    if (plan->shape.reuse) {
        app__flow_channel_received(passive);
        return;
    }
    if (passive->left > 0) {
        post_receives(passive, 1);
    }
    if (!is_reliable(plan)) {
        take_arrived(passive, wc->byte_len);
    }
    const app__transfer_t *const transfer = app__transfer(plan, passive->item);
    if (plan->trigger_count > 0 && ++passive->done == pieces_of(plan, transfer)) {
        const app_flow_chain_t *const chain = &plan->chains[passive->item];
        const bool later = chain->received != 0 && chain->acknowledged;
        app__chain_activate(plan, chain->received,
                            later ? app__ack_ps(plan->net, transfer->destination, transfer->source)
                                  : 0);
    }
}

static void accept_transfer(void *owner, app__endpoint_t *endpoint, uint64_t offset,
                            app__passive_t *passive)
{
    app__plan_t *const plan = owner;
    if (plan->shape.reuse) {
        app__flow_channel_accept(plan, endpoint, offset, passive);
        return;
    }
    const uint32_t index = passive_transfer(plan, endpoint->interface, offset);
    const app__transfer_t *const transfer = app__transfer(plan, index);
    const app__block_t *const block = app__block_of(plan, index);
    const bool again = block->received[index - block->first] != 0;
    app__pair_t pair = app__plan_pair(plan, transfer, index);
    passive->item = index;
    if (again) {
        app__transfer_opened(plan, index);
        pair.received_packets = (uint32_t)packets_of(plan, transfer);
        pair.received_messages = (uint32_t)pieces_of(plan, transfer);
    } else if (transfer->verb == APP__VERB_SEND) {
        passive->left = pieces_of(plan, transfer);
    }
    const uint32_t receives =
        passive->left < RECEIVES_POSTED_MAX ? (uint32_t)passive->left : RECEIVES_POSTED_MAX;
    passive->qp = app__pair_make(&pair, APP__RESPONDER, 1, receives);
    if (!is_reliable(plan) && transfer->verb == APP__VERB_WRITE) {
        nic_qp_on_write(passive->qp, message_written, passive);
    }
    if (receives > 0) {
        post_receives(passive, receives);
    }
}

static bool forget_responder(const app__passive_t *passive)
{
    const app__plan_t *const plan = passive->owner;
    const app__block_t *const block = app__block_of(plan, passive->item);
    block->received[passive->item - block->first] = 1;
    app__transfer_closed(plan, passive->item, passive->endpoint->node);
    return true;
}

static bool transfer_finished(void *owner, const app__passive_t *passive)
{
    app__plan_t *const plan = owner;
    if (plan->shape.reuse) {
        return false;
    }
    const app__transfer_t *const transfer = app__transfer(plan, passive->item);
    if (!is_reliable(plan)) {
        const bool all = transfer->arrived_bytes == transfer->bytes * transfer->messages;
        return all && forget_responder(passive);
    }
    const uint64_t packets = packets_of(plan, transfer);
    // For longer transfers the PSN after the last one also occurs earlier, so such a QP is kept.
    if (packets > ROCE_PSN_MASK / 2) {
        return false;
    }
    const uint32_t end_psn =
        (app__plan_first_psn(plan, transfer, passive->item) + (uint32_t)packets) & ROCE_PSN_MASK;
    if (nic_qp_rq_psn(passive->qp) != end_psn || !nic_qp_quiet(passive->qp)) {
        return false;
    }
    return forget_responder(passive);
}

const app__range_ops_t app__plan_range_ops = {
    .passive_from_ps = passive_from_ps,
    .accept = accept_transfer,
    .finished = transfer_finished,
    .received = message_received,
};
