// SPDX-License-Identifier: Apache-2.0
// apps/submitted/transfer_channels.c - the channels that carry submitted transfers: one for each
// transfer, or one for all transfers between two interfaces that share one.
//
// Their numbers, ports and first PSNs follow from the transfer's place as those of flows in a
// scenario do (apps/flows/plan.c), so equal transfers take equal paths.
// docs/models/submitted-transfers.md
#include "apps/submitted/submitted_internal.h"

#include "kernel/steps.h"

#define SLOTS (UINT32_C(1) << 19) // QP numbers of an interface for each direction
#define TURNS (UINT32_C(1) << 16) // transfers of an interface until numbers are used again
// The numbers of these transfers begin behind those of most applications. A NIC's table of queue
// pairs grows with the largest number, so requesters and responders have every other block of
// numbers. Within a block, they use all processing units of a detailed NIC in turn.
#define FIRST_POSITION (UINT64_C(1) << 16)
#define BLOCK UINT32_C(256)                     // the largest pu.count
#define PACKET_LIFETIME_PS (10 * SIM_PS_PER_MS) // no packet stays in the network for longer
#define OUTSTANDING_MAX 16u                     // work requests of a channel

// A transfer in progress, at its requester.
struct app__submitted_run {
    app__message_t message; // first
    app__submitted_transfer_t *transfer;
};

// -- values

static uint64_t hash_of(const app_submitted_t *submitted, const app__submitted_transfer_t *transfer)
{
    const uint64_t number = !transfer->reuse
                                ? transfer->place
                                : app__pair_key(submitted->app.net, transfer->source,
                                                transfer->destination, transfer->priority);
    return app__flow_hash(submitted->seed, submitted->first_flow_id + number);
}

uint16_t app__submitted_port(const app_submitted_t *submitted,
                             const app__submitted_transfer_t *transfer)
{
    return transfer->source_port != 0 ? transfer->source_port
                                      : app__port_of_hash(hash_of(submitted, transfer));
}

// Returns the number that `slot` of an interface's requesters or responders stands for.
static uint32_t qp_number(const app_submitted_t *submitted, uint32_t interface, size_t side,
                          uint32_t slot)
{
    const uint64_t block = 2 * (uint64_t)(slot / BLOCK) + side;
    return app__qp_number(submitted->interfaces[interface].position + block * BLOCK + slot % BLOCK);
}

// Returns what both ends of a transfer's channel know. Its slots must be taken.
static app__pair_t pair_of(const app__submitted_channel_t *own,
                           const app__submitted_transfer_t *transfer)
{
    const app_submitted_t *const submitted = own->submitted;
    const net_t *const net = submitted->app.net;
    const uint32_t source = transfer->source;
    const uint8_t priority = transfer->priority;
    return (app__pair_t){
        .ends = {submitted->interfaces[source].endpoint,
                 submitted->interfaces[transfer->destination].endpoint},
        .numbers = {qp_number(submitted, source, APP__REQUESTER, own->source_slot),
                    qp_number(submitted, transfer->destination, APP__RESPONDER,
                              own->destination_slot)},
        .access = NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ,
        .first_psn = app__psn_of_hash(hash_of(submitted, transfer)),
        .mtu_bytes = app__pair_mtu_bytes(net, source, transfer->destination),
        .source_port = app__submitted_port(submitted, transfer),
        .priority = app__priority_of(net, source, priority),
        .dscp = app__dscp_of(net, source, priority, APP__AS_THE_NIC),
    };
}

// -- opening and freeing

// Doubles the slots, or makes the first.
static void grow_slots(app__submitted_slots_t *slots)
{
    const uint32_t capacity = slots->capacity == 0 ? 64 : slots->capacity * 2;
    app__submitted_channel_t **const channels = sim_alloc_array(capacity, sizeof(*channels));
    SIM_CHECK(capacity <= SLOTS); // app_submitted_submit limits what is open
    for (uint32_t i = 0; i < slots->capacity; i++) {
        channels[i] = slots->channels[i];
    }
    sim_free(slots->channels);
    slots->channels = channels;
    slots->capacity = capacity;
}

// Takes the slot of a transfer's turn, or the next free one if a transfer of 2^16 turns before
// still has it. So numbers do not depend on when nodes run within a window, nor on where a step
// ends.
static uint32_t take_slot(app__submitted_slots_t *slots, uint32_t turn,
                          app__submitted_channel_t *channel)
{
    uint32_t slot = turn % TURNS;
    for (uint32_t tried = 0;; tried++) {
        while (slot >= slots->capacity) {
            grow_slots(slots);
        }
        if (slots->channels[slot] == NULL) {
            slots->channels[slot] = channel;
            return slot;
        }
        slot = tried < slots->capacity && slot + 1 == slots->capacity ? 0 : slot + 1;
    }
}

static app__submitted_channel_t *find_shared(const app_submitted_t *submitted,
                                             const app__submitted_transfer_t *transfer)
{
    app__submitted_channel_t *at =
        transfer->reuse ? submitted->interfaces[transfer->source].shared : NULL;
    while (at != NULL && (at->channel.failed ||
                          at->pair.ends[APP__RESPONDER]->interface != transfer->destination ||
                          at->priority != transfer->priority)) {
        at = at->next_shared;
    }
    return at;
}

static const app__channel_ops_t channel_ops;

static app__submitted_channel_t *open_channel(app_submitted_t *submitted,
                                              const app__submitted_transfer_t *transfer)
{
    app__submitted_channel_t *const own = sim_alloc(sizeof(*own));
    app__submitted_interface_t *const here = &submitted->interfaces[transfer->source];
    *own = (app__submitted_channel_t){
        .submitted = submitted,
        .next = submitted->channels,
        .closed_ps = SIM_TIME_NEVER,
        .reuse = transfer->reuse,
        .priority = transfer->priority,
        .source_slot = take_slot(&here->slots[0], transfer->turns[0], own),
        .destination_slot = take_slot(&submitted->interfaces[transfer->destination].slots[1],
                                      transfer->turns[1], own),
    };
    if (submitted->channels != NULL) {
        submitted->channels->previous = own;
    }
    submitted->channels = own;
    if (own->reuse) {
        own->next_shared = here->shared;
        here->shared = own;
    }
    own->pair = pair_of(own, transfer);
    app__channel_open(&own->channel, &channel_ops, &own->pair, OUTSTANDING_MAX, APP__PIECE_BYTES);
    return own;
}

// Frees a channel that has ended at both ends.
static void free_channel(app__submitted_channel_t *own)
{
    app_submitted_t *const submitted = own->submitted;
    submitted->interfaces[own->pair.ends[APP__RESPONDER]->interface]
        .slots[1]
        .channels[own->destination_slot] = NULL;
    app__submitted_channel_t **at = &submitted->interfaces[own->channel.endpoint->interface].shared;
    while (own->reuse && *at != NULL && *at != own) {
        at = &(*at)->next_shared;
    }
    if (own->reuse && *at == own) {
        *at = own->next_shared;
    }
    if (own->previous != NULL) {
        own->previous->next = own->next;
    } else {
        submitted->channels = own->next;
    }
    if (own->next != NULL) {
        own->next->previous = own->previous;
    }
    sim_free(own);
}

// -- what has come to the responder

// Notes that the next piece has come whole. Pieces of a channel come in their order.
static void piece_arrived(app__submitted_channel_t *own, sim_node_t *node)
{
    app__submitted_transfer_t *const transfer = own->due;
    if (transfer == NULL || --transfer->pieces_due > 0) {
        return;
    }
    own->due = transfer->next_due;
    if (transfer->shortened) {
        return;
    }
    app__submitted_deliver(transfer, node->now_ps);
    if (transfer->delivery && own->submitted->to_completion) {
        sim_cut_step(node);
    }
}

static void piece_written(nic_qp_t *qp, uint64_t address, uint32_t bytes, void *ctx)
{
    (void)qp;
    (void)address;
    (void)bytes;
    app__submitted_channel_t *const own = ctx;
    piece_arrived(own, own->pair.ends[APP__RESPONDER]->node);
}

static void expect_pieces(app__submitted_channel_t *own, app__submitted_transfer_t *transfer,
                          uint64_t count)
{
    app__submitted_transfer_t **at = &own->due;
    while (*at != NULL) {
        at = &(*at)->next_due;
    }
    *at = transfer;
    transfer->pieces_due = count;
}

// Expects `count` pieces of a transfer less, which are not sent.
static void forget_pieces(app__submitted_channel_t *own, app__submitted_transfer_t *transfer,
                          uint64_t count)
{
    app__submitted_transfer_t **at = &own->due;
    while (*at != NULL && *at != transfer) {
        at = &(*at)->next_due;
    }
    transfer->pieces_due -= SIM_MIN(count, transfer->pieces_due);
    if (*at != NULL && transfer->pieces_due == 0) {
        *at = transfer->next_due;
    }
}

// -- sending

// Notes the numbers of a transfer that begins.
static void fill(const app__message_t *message, uint64_t at, nic_send_wr_t *wr)
{
    app__submitted_transfer_t *const transfer =
        ((const app__submitted_run_t *)(const void *)message)->transfer;
    const app__channel_t *const channel = message->channel;
    (void)wr;
    if (at == 0) {
        transfer->source_qp = channel->numbers[APP__REQUESTER];
        transfer->destination_qp = channel->numbers[APP__RESPONDER];
        transfer->first_psn = (uint32_t)channel->next_psn & ROCE_PSN_MASK;
    }
}

static void transfer_ended(app__channel_t *channel, app__message_t *message)
{
    app__submitted_run_t *const run = SIM_CONTAINER_OF(message, app__submitted_run_t, message);
    sim_node_t *const node = channel->endpoint->node;
    const bool whole = message->completed == message->count;
    const bool flushed = channel->failed && !whole;
    const nic_wc_status_t status = message->status == NIC_WC_SUCCESS && flushed
                                       ? NIC_WC_WR_FLUSH_ERR
                                       : (nic_wc_status_t)message->status;
    run->transfer->run = NULL;
    run->transfer->retransmitted = app__channel_retransmitted(channel);
    app__submitted_end(run->transfer,
                       status != NIC_WC_SUCCESS ? APP_SUBMITTED_FAILED
                       : whole                  ? APP_SUBMITTED_DONE
                                                : APP_SUBMITTED_CANCELLED,
                       status, node->now_ps);
    sim_free(run);
    sim_work_end(node, 1);
    sim_progress(node);
}

// Closes the channel of a single transfer, and one that has failed.
static void channel_idle(app__channel_t *channel)
{
    app__submitted_channel_t *const own =
        SIM_CONTAINER_OF(channel, app__submitted_channel_t, channel);
    if (!own->reuse || channel->failed) {
        app__channel_close(channel);
        own->closed_ps = channel->endpoint->node->now_ps;
        own->submitted->interfaces[channel->endpoint->interface]
            .slots[0]
            .channels[own->source_slot] = NULL;
    }
}

static const app__channel_ops_t channel_ops = {
    .ended = transfer_ended,
    .idle = channel_idle,
    .fill = fill,
    .ends_in_order = true,
};

void app__submitted_start(app__submitted_transfer_t *transfer)
{
    app__submitted_run_t *const run = sim_alloc(sizeof(*run));
    app__submitted_channel_t *own = find_shared(transfer->submitted, transfer);
    if (own == NULL) {
        own = open_channel(transfer->submitted, transfer);
    }
    app__message_init(&run->message, transfer->bytes,
                      app__submitted_opcode((app_submitted_verb_t)transfer->verb));
    run->transfer = transfer;
    transfer->run = run;
    if (transfer->verb != APP_SUBMITTED_READ) {
        const uint64_t pieces = (transfer->bytes + APP__PIECE_BYTES - 1) / APP__PIECE_BYTES;
        expect_pieces(own, transfer, SIM_MAX(pieces, UINT64_C(1)));
    }
    app__channel_send(&own->channel, &run->message, 1);
}

nic_wr_opcode_t app__submitted_opcode(app_submitted_verb_t verb)
{
    static const nic_wr_opcode_t opcodes[] = {NIC_WR_RDMA_WRITE, NIC_WR_SEND, NIC_WR_RDMA_READ};
    return opcodes[verb];
}

void app__submitted_stop(app__submitted_transfer_t *transfer)
{
    if (transfer->run == NULL) {
        return; // it has ended in the same instant
    }
    app__submitted_run_t *const run = transfer->run;
    app__channel_t *const channel = run->message.channel;
    app__submitted_channel_t *const own =
        SIM_CONTAINER_OF(channel, app__submitted_channel_t, channel);
    if (own->reuse) {
        run->message.cancelled = true; // others share the queue pair
        transfer->shortened = run->message.posted < run->message.count;
        forget_pieces(own, transfer, run->message.count - run->message.posted);
        return;
    }
    transfer->run = NULL;
    transfer->retransmitted = app__channel_retransmitted(channel);
    const app__message_t *const message = app__channel_take(channel);
    SIM_CHECK(message == &run->message);
    app__submitted_end(transfer, APP_SUBMITTED_CANCELLED, NIC_WC_SUCCESS,
                       channel->endpoint->node->now_ps);
    sim_work_end(channel->endpoint->node, 1);
    sim_progress(channel->endpoint->node);
    sim_free(run);
    channel_idle(channel);
}

// -- the responder

static void post_receives(const app__passive_t *passive, uint32_t count)
{
    app__qp_receive(passive->qp, passive->endpoint, (uint64_t)(uintptr_t)passive, APP__PIECE_BYTES,
                    count);
}

static app__submitted_channel_t *channel_at(const app_submitted_t *submitted, uint32_t interface,
                                            uint64_t offset)
{
    const app__submitted_slots_t *const slots = &submitted->interfaces[interface].slots[1];
    const uint64_t block = offset / BLOCK;
    const uint64_t slot = block / 2 * BLOCK + offset % BLOCK;
    return block % 2 == APP__REQUESTER || slot >= slots->capacity ? NULL : slots->channels[slot];
}

static sim_time_t passive_from_ps(const void *owner, uint32_t interface, uint64_t offset)
{
    return channel_at(owner, interface, offset) != NULL ? 0 : SIM_TIME_NEVER;
}

static void accept_channel(void *owner, app__endpoint_t *endpoint, uint64_t offset,
                           app__passive_t *passive)
{
    app__submitted_channel_t *const own = channel_at(owner, endpoint->interface, offset);
    SIM_CHECK(own != NULL);
    passive->item = (uint32_t)offset;
    passive->qp = app__pair_make(&own->pair, APP__RESPONDER, 1, 2 * OUTSTANDING_MAX);
    nic_qp_on_write(passive->qp, piece_written, own);
    post_receives(passive, 2 * OUTSTANDING_MAX);
}

// Returns whether a channel has ended, and nothing more can arrive for it. Its memory and its
// number are then free. Until then, duplicates and probes are answered, as in a run that keeps all
// flows.
static bool channel_finished(void *owner, const app__passive_t *passive)
{
    app__submitted_channel_t *const own =
        channel_at(owner, passive->endpoint->interface, passive->item);
    if (own == NULL) {
        return true;
    }
    if (own->closed_ps > passive->endpoint->node->now_ps ||
        passive->endpoint->node->now_ps - own->closed_ps < PACKET_LIFETIME_PS ||
        !nic_qp_quiet(passive->qp)) {
        return false;
    }
    free_channel(own);
    return true;
}

static void message_received(void *owner, app__endpoint_t *endpoint, app__passive_t *passive,
                             const nic_wc_t *wc)
{
    (void)wc;
    app__submitted_channel_t *const own = channel_at(owner, endpoint->interface, passive->item);
    if (own != NULL) {
        piece_arrived(own, endpoint->node);
    }
    post_receives(passive, 1);
}

static const app__range_ops_t range_ops = {
    .passive_from_ps = passive_from_ps,
    .accept = accept_channel,
    .finished = channel_finished,
    .received = message_received,
};

// -- making and freeing

void app__submitted_join(app_submitted_t *submitted, uint32_t interface)
{
    app__submitted_interface_t *const here = &submitted->interfaces[interface];
    here->endpoint = app__endpoint_of(submitted->runtime, interface);
    here->position = app__reserve_qps_at(here->endpoint, &range_ops, submitted, FIRST_POSITION,
                                         2 * (uint64_t)SLOTS);
    app__register_buffers(here->endpoint);
}

void app__submitted_channels_free(app_submitted_t *submitted)
{
    while (submitted->channels != NULL) {
        app__submitted_channel_t *const own = submitted->channels;
        submitted->channels = own->next;
        for (app__message_t *at = app__channel_take(&own->channel); at != NULL;
             at = app__channel_take(&own->channel)) {
            sim_free(SIM_CONTAINER_OF(at, app__submitted_run_t, message));
        }
        sim_free(own);
    }
}
