// SPDX-License-Identifier: Apache-2.0
// apps/sessions/channel.c - carries a session's transfers over queue pairs.
//
// A channel is a queue pair for one transfer, or for all transfers between two interfaces that
// share one. Its numbers, port and first PSN follow from the transfer's place as those of flows in
// a scenario do (apps/flows/plan.c), so equal transfers take equal paths. docs/models/sessions.md
#include "apps/sessions/session_internal.h"

#define SLOTS (UINT32_C(1) << 19) // QP numbers of an interface for each direction
// The numbers of a session begin behind those of most applications. A NIC's table of queue pairs
// grows with the largest number, so requesters and responders have every other number.
#define FIRST_POSITION (UINT64_C(1) << 16)
#define OUTSTANDING_MAX 16u // work requests of a channel
#define PRIORITIES 9u       // the eight classes, and the NIC's own

// -- values

static uint64_t hash_of(const app_session_t *session, uint64_t number)
{
    return sim_mix64(session->seed ^ sim_mix64(session->first_flow_id + number + 1));
}

static uint64_t key_of(const app_session_t *session, const app__session_transfer_t *transfer)
{
    const uint64_t pair = (uint64_t)transfer->source * session->side_count + transfer->destination;
    const uint8_t priority = transfer->priority;
    return pair * PRIORITIES + (priority == APP__SESSION_AS_THE_NIC ? PRIORITIES - 1 : priority);
}

static uint64_t number_of(const app_session_t *session, const app__session_transfer_t *transfer)
{
    return transfer->reuse ? key_of(session, transfer) : transfer->place;
}

uint16_t app__session_port(const app_session_t *session, const app__session_transfer_t *transfer)
{
    if (transfer->source_port != 0) {
        return transfer->source_port;
    }
    const uint64_t span = UINT16_MAX - ROCE_SOURCE_PORT_MIN;
    const uint64_t hash = hash_of(session, number_of(session, transfer));
    return (uint16_t)(ROCE_SOURCE_PORT_MIN + (hash & span));
}

uint8_t app__session_priority(const app_session_t *session, const app__session_transfer_t *transfer)
{
    const nic_t *const nic = nic_of_interface(session->app.net, transfer->source);
    return transfer->priority != APP__SESSION_AS_THE_NIC ? transfer->priority
                                                         : (uint8_t)nic_get_config(nic)->priority;
}

uint32_t app__session_mtu_bytes(const app_session_t *session, uint32_t source, uint32_t destination)
{
    const uint64_t one = nic_config_of_interface(session->app.net, source)->mtu_bytes;
    const uint64_t two = nic_config_of_interface(session->app.net, destination)->mtu_bytes;
    return (uint32_t)(one < two ? one : two);
}

static uint64_t piece_bytes(const app__session_transfer_t *transfer, uint32_t piece)
{
    return piece + 1 < transfer->pieces
               ? APP__SESSION_PIECE_BYTES
               : transfer->bytes - (uint64_t)piece * APP__SESSION_PIECE_BYTES;
}

static uint32_t qp_number(const app_session_t *session, uint32_t interface, uint64_t offset)
{
    return app__qp_number(session->sides[interface].position + offset);
}

static uint32_t requester_number(const app__session_channel_t *channel)
{
    return qp_number(channel->session, channel->source, 2 * (uint64_t)channel->source_slot);
}

static uint32_t responder_number(const app__session_channel_t *channel)
{
    return qp_number(channel->session, channel->destination,
                     2 * (uint64_t)channel->destination_slot + 1);
}

// -- queue pairs

static nic_qp_t *make_qp(const app__session_channel_t *channel, bool passive, void *ctx)
{
    const app_session_t *const session = channel->session;
    const uint32_t own = passive ? channel->destination : channel->source;
    const app__endpoint_t *const endpoint = session->sides[own].endpoint;
    const nic_qp_init_attr_t init = {
        .qp_type = NIC_QPT_RC,
        .send_cq = endpoint->send_cq,
        .recv_cq = endpoint->recv_cq,
        .max_send_wr = passive ? 1 : OUTSTANDING_MAX,
        .max_recv_wr = passive ? 2 * OUTSTANDING_MAX : 0,
        .qp_num = passive ? responder_number(channel) : requester_number(channel),
        .ctx = ctx,
    };
    nic_qp_t *qp = NULL;
    sim_err_t error = nic_qp_create(endpoint->pd, &init, &qp);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", init.qp_num, sim_err_text(error));
    nic_qp_attr_t attr;
    nic_qp_attr_default(endpoint->nic, &attr);
    attr.dest_interface = passive ? channel->source : channel->destination;
    attr.dest_qp_num = passive ? requester_number(channel) : responder_number(channel);
    attr.sq_psn = channel->first_psn;
    attr.rq_psn = channel->first_psn;
    attr.path_mtu = app__session_mtu_bytes(session, channel->source, channel->destination);
    attr.udp_source_port = channel->source_port;
    attr.access = NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ;
    if (channel->priority != APP__SESSION_AS_THE_NIC) {
        attr.priority = channel->priority;
        attr.dscp = (uint8_t)(channel->priority * 8);
    } else if (passive) {
        const nic_t *const requester = nic_of_interface(session->app.net, channel->source);
        nic_qp_attr_t theirs;
        nic_qp_attr_default(requester, &theirs);
        attr.priority = theirs.priority;
        attr.dscp = theirs.dscp;
    }
    sim_message_t message = {.text = ""};
    error = nic_qp_connect(qp, &attr, &message);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", init.qp_num, message.text);
    return qp;
}

// Doubles the slots, or makes the first.
static void grow_slots(app__session_slots_t *slots)
{
    const uint32_t capacity = slots->capacity == 0 ? 64 : slots->capacity * 2;
    app__session_channel_t **const channels = sim_alloc_array(capacity, sizeof(*channels));
    SIM_CHECK(capacity <= SLOTS); // app_session_submit limits what is open
    for (uint32_t i = 0; i < slots->capacity; i++) {
        channels[i] = slots->channels[i];
    }
    sim_free(slots->channels);
    slots->channels = channels;
    slots->next = slots->capacity;
    slots->capacity = capacity;
}

// Takes a free slot, and makes it the channel's. Numbers are used again as late as possible.
static uint32_t take_slot(app__session_slots_t *slots, app__session_channel_t *channel)
{
    for (;;) {
        for (uint32_t tried = 0; tried < slots->capacity; tried++) {
            const uint32_t slot = slots->next++ & (slots->capacity - 1);
            if (slots->channels[slot] == NULL) {
                slots->channels[slot] = channel;
                return slot;
            }
        }
        grow_slots(slots);
    }
}

static app__session_channel_t *find_shared(const app_session_t *session,
                                           const app__session_transfer_t *transfer)
{
    app__session_channel_t *at = session->sides[transfer->source].shared;
    while (at != NULL && (at->failed || at->destination != transfer->destination ||
                          at->priority != transfer->priority)) {
        at = at->next_shared;
    }
    return at;
}

static app__session_channel_t *open_channel(app__session_transfer_t *transfer)
{
    app_session_t *const session = transfer->session;
    app__session_channel_t *const channel = sim_alloc(sizeof(*channel));
    const uint64_t hash = hash_of(session, number_of(session, transfer));
    *channel = (app__session_channel_t){
        .active = {&app__session_range_ops},
        .session = session,
        .next = session->channels,
        .source = transfer->source,
        .destination = transfer->destination,
        .priority = transfer->priority,
        .reuse = transfer->reuse,
        .source_port = app__session_port(session, transfer),
        .first_psn = (uint32_t)(hash >> 32) & ROCE_PSN_MASK,
    };
    if (session->channels != NULL) {
        session->channels->previous = channel;
    }
    session->channels = channel;
    app__session_side_t *const side = &session->sides[transfer->source];
    channel->source_slot = take_slot(&side->slots[0], channel);
    channel->destination_slot = take_slot(&session->sides[transfer->destination].slots[1], channel);
    if (channel->reuse) {
        channel->next_shared = side->shared;
        side->shared = channel;
    }
    channel->qp = make_qp(channel, false, channel);
    return channel;
}

// Frees a channel that has ended at both ends.
static void free_channel(app__session_channel_t *channel)
{
    app_session_t *const session = channel->session;
    session->sides[channel->destination].slots[1].channels[channel->destination_slot] = NULL;
    app__session_channel_t **at = &session->sides[channel->source].shared;
    while (channel->reuse && *at != NULL && *at != channel) {
        at = &(*at)->next_shared;
    }
    if (channel->reuse && *at == channel) {
        *at = channel->next_shared;
    }
    if (channel->previous != NULL) {
        channel->previous->next = channel->next;
    } else {
        session->channels = channel->next;
    }
    if (channel->next != NULL) {
        channel->next->previous = channel->previous;
    }
    sim_free(channel);
}

// -- posting

static void post_piece(app__session_channel_t *channel, app__session_transfer_t *transfer)
{
    static const nic_wr_opcode_t opcodes[] = {NIC_WR_RDMA_WRITE, NIC_WR_SEND, NIC_WR_RDMA_READ};
    const app_session_t *const session = channel->session;
    const uint64_t bytes = piece_bytes(transfer, transfer->posted);
    const uint32_t own = requester_number(channel);
    const uint32_t peer = responder_number(channel);
    const uint32_t mtu_bytes =
        app__session_mtu_bytes(session, channel->source, channel->destination);
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)channel,
        .opcode = opcodes[transfer->verb],
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {app__address_of_qp(own), bytes,
                app__buffer_key(session->sides[channel->source].endpoint, own)},
        .rdma = {app__address_of_qp(peer),
                 app__buffer_key(session->sides[channel->destination].endpoint, peer)},
    };
    if (transfer->posted == 0) {
        transfer->source_qp = requester_number(channel);
        transfer->destination_qp = responder_number(channel);
        transfer->first_psn = (uint32_t)(channel->first_psn + channel->packets) & ROCE_PSN_MASK;
    }
    const sim_err_t error = nic_post_send(channel->qp, &wr);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", own, sim_err_text(error));
    transfer->posted++;
    channel->outstanding++;
    channel->messages++;
    channel->packets += bytes <= mtu_bytes ? 1 : (bytes + mtu_bytes - 1) / mtu_bytes;
}

static bool goes_on(const app__session_channel_t *channel, const app__session_transfer_t *transfer)
{
    return transfer->posted < transfer->pieces && !transfer->cancelled && !channel->failed;
}

static void post_some(app__session_channel_t *channel)
{
    for (app__session_transfer_t *at = channel->head; at != NULL; at = at->next) {
        while (goes_on(channel, at) && channel->outstanding < OUTSTANDING_MAX) {
            post_piece(channel, at);
        }
        if (goes_on(channel, at)) {
            return;
        }
    }
}

static void end_head(app__session_channel_t *channel)
{
    app__session_transfer_t *const transfer = channel->head;
    sim_node_t *const node = channel->session->sides[channel->source].endpoint->node;
    const bool failed = transfer->status != NIC_WC_SUCCESS ||
                        (channel->failed && transfer->completed < transfer->pieces);
    const nic_wc_status_t status = transfer->status != NIC_WC_SUCCESS
                                       ? (nic_wc_status_t)transfer->status
                                       : NIC_WC_WR_FLUSH_ERR;
    channel->head = transfer->next;
    channel->tail = channel->head == NULL ? NULL : channel->tail;
    if (failed) {
        app__session_end(transfer, APP_SESSION_FAILED, status, node->now_ps);
    } else {
        const bool whole = transfer->completed == transfer->pieces;
        app__session_end(transfer, whole ? APP_SESSION_DONE : APP_SESSION_CANCELLED, NIC_WC_SUCCESS,
                         node->now_ps);
    }
    sim_work_end(node, 1);
    sim_progress(node);
}

// Ends transfers whose last completion is there, posts what may be posted, and closes the channel
// of a single transfer.
static void pump(app__session_channel_t *channel)
{
    post_some(channel);
    while (channel->head != NULL && channel->head->completed == channel->head->posted &&
           !goes_on(channel, channel->head)) {
        end_head(channel);
        post_some(channel);
    }
    if (channel->head == NULL && (!channel->reuse || channel->failed) && channel->qp != NULL) {
        nic_qp_destroy(channel->qp);
        channel->qp = NULL;
        channel->session->sides[channel->source].slots[0].channels[channel->source_slot] = NULL;
    }
}

void app__session_start(app__session_transfer_t *transfer)
{
    app__session_channel_t *channel = NULL;
    if (transfer->reuse) {
        channel = find_shared(transfer->session, transfer);
    }
    if (channel == NULL) {
        channel = open_channel(transfer);
    }
    const uint64_t most = APP__SESSION_PIECE_BYTES;
    transfer->pieces =
        transfer->bytes <= most ? 1 : (uint32_t)((transfer->bytes + most - 1) / most);
    if (channel->tail != NULL) {
        channel->tail->next = transfer;
    } else {
        channel->head = transfer;
    }
    channel->tail = transfer;
    pump(channel);
}

static void send_completed(const nic_wc_t *wc)
{
    app__session_channel_t *const channel = (app__session_channel_t *)(uintptr_t)wc->wr_id;
    app__session_transfer_t *transfer = channel->head;
    while (transfer->completed == transfer->posted) {
        transfer = transfer->next; // a READ may end behind others that wait for their turn
    }
    SIM_CHECK(channel->outstanding > 0);
    channel->outstanding--;
    transfer->completed++;
    if (wc->status != NIC_WC_SUCCESS) {
        channel->failed = true;
        if (transfer->status == NIC_WC_SUCCESS) {
            transfer->status = (uint8_t)wc->status;
        }
    }
    pump(channel);
}

// -- the responder

static void post_receive(const app__endpoint_t *endpoint, app__passive_t *passive)
{
    const uint32_t number = nic_qp_num(passive->qp);
    const nic_recv_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)passive,
        .sge = {app__address_of_qp(number), APP__SESSION_PIECE_BYTES,
                app__buffer_key(endpoint, number)},
    };
    const sim_err_t error = nic_post_recv(passive->qp, &wr);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", number, sim_err_text(error));
}

static app__session_channel_t *channel_at(const app_session_t *session, uint32_t interface,
                                          uint64_t offset)
{
    const app__session_slots_t *const slots = &session->sides[interface].slots[1];
    return offset % 2 == 0 || offset / 2 >= slots->capacity ? NULL : slots->channels[offset / 2];
}

static sim_time_t passive_from_ps(const void *owner, uint32_t interface, uint64_t offset)
{
    return channel_at(owner, interface, offset) != NULL ? 0 : SIM_TIME_NEVER;
}

static void accept_channel(void *owner, app__endpoint_t *endpoint, uint64_t offset,
                           app__passive_t *passive)
{
    app__session_channel_t *const channel = channel_at(owner, endpoint->interface, offset);
    SIM_CHECK(channel != NULL);
    passive->item = (uint32_t)offset;
    passive->qp = make_qp(channel, true, passive);
    for (uint32_t i = 0; i < 2 * OUTSTANDING_MAX; i++) {
        post_receive(endpoint, passive);
    }
}

// Returns whether a channel has ended, and nothing but duplicates can arrive for it. Its memory and
// its number are then free.
static bool channel_finished(void *owner, const app__passive_t *passive)
{
    app__session_channel_t *const channel =
        channel_at(owner, passive->endpoint->interface, passive->item);
    if (channel == NULL) {
        return true;
    }
    if (channel->qp != NULL || !nic_qp_quiet(passive->qp)) {
        return false;
    }
    free_channel(channel);
    return true;
}

static void message_received(void *owner, app__endpoint_t *endpoint, app__passive_t *passive,
                             const nic_wc_t *wc)
{
    (void)owner;
    (void)wc;
    post_receive(endpoint, passive);
}

const app__range_ops_t app__session_range_ops = {
    .passive_from_ps = passive_from_ps,
    .accept = accept_channel,
    .finished = channel_finished,
    .received = message_received,
    .completed = send_completed,
};

// -- making and freeing

void app__session_join(app_session_t *session, uint32_t interface)
{
    app__session_side_t *const side = &session->sides[interface];
    side->endpoint = app__endpoint_of(session->runtime, interface);
    side->position = app__reserve_qps_at(side->endpoint, &app__session_range_ops, session,
                                         FIRST_POSITION, 2 * (uint64_t)SLOTS);
    app__register_buffers(side->endpoint);
}

void app__channels_free(app_session_t *session)
{
    while (session->channels != NULL) {
        app__session_channel_t *const next = session->channels->next;
        sim_free(session->channels);
        session->channels = next;
    }
}
