// SPDX-License-Identifier: Apache-2.0
// apps/channel/send.c - cuts the messages of channels into pieces, posts these, and ends messages
// (docs/models/traffic.md).
#include "apps/channel/channel.h"

// -- lists of messages

static void append(app__message_list_t *list, app__message_t *message)
{
    message->next = NULL;
    if (list->last != NULL) {
        list->last->next = message;
    } else {
        list->first = message;
    }
    list->last = message;
}

static app__message_t *take_first(app__message_list_t *list)
{
    app__message_t *const message = list->first;
    list->first = message->next;
    list->last = list->first == NULL ? NULL : list->last;
    return message;
}

// -- pieces

static uint64_t piece_bytes(const app__message_t *message, uint32_t piece)
{
    const uint64_t most = message->channel->piece_bytes;
    return piece + 1 < message->pieces ? most : message->bytes - piece * most;
}

uint64_t app__message_piece_bytes(const app__message_t *message)
{
    return piece_bytes(message, message->piece);
}

static void post_piece(app__channel_t *channel, app__message_t *message)
{
    const uint64_t bytes = piece_bytes(message, message->piece);
    const bool last = message->piece + 1 == message->pieces;
    const bool bare = message->opcode == NIC_WR_RDMA_WRITE_WITH_IMM && !last;
    nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)message,
        .opcode = bare ? NIC_WR_RDMA_WRITE : (nic_wr_opcode_t)message->opcode,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {app__address_of_qp(channel->numbers[APP__REQUESTER]), bytes,
                channel->keys[APP__REQUESTER]},
        .imm_data = message->word,
        .rdma = {app__address_of_qp(channel->numbers[APP__RESPONDER]),
                 channel->keys[APP__RESPONDER]},
        .ud = {channel->destination, channel->numbers[APP__RESPONDER], 0},
    };
    if (channel->ops->fill != NULL) {
        channel->ops->fill(message, (uint64_t)message->piece * channel->piece_bytes, &wr);
    }
    if (message->posted == 0) {
        message->first_psn = channel->next_psn;
    }
    message->posted++;
    message->piece = last ? 0 : message->piece + 1;
    channel->outstanding++;
    channel->next_psn +=
        bytes <= channel->mtu_bytes ? 1 : (bytes + channel->mtu_bytes - 1) / channel->mtu_bytes;
    app__qp_post(channel->qp, &wr);
}

// -- progress

// Returns whether another piece of a message that waits is posted when the window allows it.
static bool goes_on(const app__channel_t *channel, const app__message_t *message)
{
    if (message->cancelled || (channel->failed && !channel->ops->posts_on)) {
        return false;
    }
    return message->piece != 0 || channel->ops->goes_on == NULL || channel->ops->goes_on(message);
}

// Lets the first message that waits post nothing more.
static void stop_first(app__channel_t *channel)
{
    app__message_t *const message = take_first(&channel->waiting);
    message->stopped = true;
    if (channel->failed && message->status == NIC_WC_SUCCESS) {
        message->status = NIC_WC_WR_FLUSH_ERR;
    }
    if (channel->ops->ends_in_order || message->completed < message->posted) {
        append(&channel->posted, message);
    } else {
        channel->ops->ended(channel, message);
    }
}

static void post_waiting(app__channel_t *channel)
{
    while (channel->waiting.first != NULL) {
        app__message_t *const message = channel->waiting.first;
        if (!goes_on(channel, message)) {
            stop_first(channel);
        } else if (channel->outstanding < channel->window) {
            post_piece(channel, message);
            if (message->posted == message->count) {
                append(&channel->posted, take_first(&channel->waiting));
            }
        } else {
            return;
        }
    }
}

static void end_completed(app__channel_t *channel)
{
    while (channel->posted.first != NULL) {
        app__message_t *const message = channel->posted.first;
        if (message->completed < message->posted ||
            (message->posted < message->count && !message->stopped)) {
            return;
        }
        channel->ops->ended(channel, take_first(&channel->posted));
    }
}

// Posts and ends what can be posted and ended.
static void go_on(app__channel_t *channel)
{
    if (channel->ops->posts_first) {
        post_waiting(channel);
    }
    end_completed(channel);
    post_waiting(channel);
    end_completed(channel);
}

static void rest(app__channel_t *channel)
{
    if (channel->ops->idle != NULL && app__channel_is_idle(channel)) {
        channel->ops->idle(channel);
    }
}

// Handles a completion. A failed queue pair flushes everything posted, so each piece has one.
static void piece_completed(const nic_wc_t *wc)
{
    app__message_t *const message = (app__message_t *)(uintptr_t)wc->wr_id;
    app__channel_t *const channel = message->channel;
    const uint64_t before = message->completed++;
    const uint64_t bytes = channel->ops->released == NULL
                               ? 0
                               : piece_bytes(message, (uint32_t)(before % message->pieces));
    channel->outstanding--;
    if (wc->status != NIC_WC_SUCCESS) {
        channel->failed = true;
        message->status = message->status == NIC_WC_SUCCESS ? (uint8_t)wc->status : message->status;
    }
    go_on(channel);
    if (channel->ops->released != NULL) {
        channel->ops->released(channel, bytes);
    }
    rest(channel);
}

static const app__range_ops_t completions = {.completed = piece_completed};

// -- messages

void app__message_init(app__message_t *message, uint64_t bytes, nic_wr_opcode_t opcode)
{
    *message = (app__message_t){
        .active = {&completions},
        .bytes = bytes,
        .first_psn = UINT64_MAX,
        .opcode = (uint8_t)opcode,
        .status = NIC_WC_SUCCESS,
    };
}

static void cut(app__channel_t *channel, app__message_t *message, uint64_t repetitions)
{
    const uint64_t most = channel->piece_bytes;
    message->channel = channel;
    message->pieces = message->bytes <= most ? 1 : (uint32_t)((message->bytes + most - 1) / most);
    message->count = message->pieces * repetitions;
}

void app__channel_send(app__channel_t *channel, app__message_t *message, uint64_t repetitions)
{
    cut(channel, message, repetitions);
    append(&channel->waiting, message);
    post_waiting(channel);
    end_completed(channel);
    rest(channel);
}

void app__channel_begin(app__channel_t *channel, app__message_t *message)
{
    cut(channel, message, 1);
    append(&channel->posted, message);
}

bool app__channel_post(app__message_t *message)
{
    app__channel_t *const channel = message->channel;
    if (channel->outstanding >= channel->window) {
        return false;
    }
    post_piece(channel, message);
    return true;
}

app__message_t *app__channel_take(app__channel_t *channel)
{
    app__message_list_t *const list =
        channel->posted.first != NULL ? &channel->posted : &channel->waiting;
    return list->first == NULL ? NULL : take_first(list);
}

// -- channels

void app__channel_attach(app__channel_t *channel, const app__channel_ops_t *ops, nic_qp_t *qp,
                         const app__endpoint_t *endpoint, uint32_t window, uint64_t piece_bytes)
{
    SIM_CHECK(window > 0 && piece_bytes > 0 && piece_bytes <= APP__PIECE_BYTES);
    *channel = (app__channel_t){
        .ops = ops,
        .qp = qp,
        .endpoint = endpoint,
        .piece_bytes = (uint32_t)piece_bytes,
        .mtu_bytes = (uint32_t)nic_get_config(endpoint->nic)->mtu_bytes,
        .window = window,
    };
}

void app__channel_open(app__channel_t *channel, const app__channel_ops_t *ops,
                       const app__pair_t *pair, uint32_t window, uint64_t piece_bytes)
{
    app__channel_attach(channel, ops, app__pair_make(pair, APP__REQUESTER, window, 0),
                        pair->ends[APP__REQUESTER], window, piece_bytes);
    channel->next_psn = pair->first_psn;
    channel->destination = pair->ends[APP__RESPONDER]->interface;
    channel->mtu_bytes = pair->mtu_bytes != 0 ? pair->mtu_bytes : channel->mtu_bytes;
    for (int side = 0; side < 2; side++) {
        channel->numbers[side] = pair->numbers[side];
        channel->keys[side] =
            ops->own_memory ? 0 : app__buffer_key(pair->ends[side], pair->numbers[side]);
    }
}

void app__channel_close(app__channel_t *channel)
{
    nic_qp_destroy(channel->qp);
    channel->qp = NULL;
}

uint32_t app__channel_retransmitted(app__channel_t *channel)
{
    const uint64_t all = nic_qp_retransmitted_packets(channel->qp);
    const uint64_t since = all - channel->retransmitted;
    channel->retransmitted = all;
    return (uint32_t)since;
}
