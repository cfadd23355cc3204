// SPDX-License-Identifier: Apache-2.0
// apps/channel/channel.h - a channel: it sends messages from one interface to another over a queue
// pair, in the order in which they are given to it.
//
// A message is cut into pieces of at most `piece_bytes`, each a work request. At most `window` of
// them are posted and not completed. A message ends when all of its pieces are completed; `ended`
// then gives it back to its owner. Only events of the requester's host touch a channel and its
// messages. The responder needs no channel: its queue pair (app__pair_make) is made when the first
// packet arrives, and keeps receives posted (app__qp_receive).
//
// Usage, in events of the requester's host:
//
//     typedef struct my_message { app__message_t message; ... } my_message_t;   // message first
//     app__channel_open(&channel, &my_ops, &pair, 64, APP__PIECE_BYTES);
//     app__channel_send(&channel, &mine->message, bytes, NIC_WR_RDMA_WRITE);
//     // ... my_ops.ended(&channel, &mine->message): mine->message.status; free or send it again
//     app__channel_close(&channel);                          // when my_ops.idle says so, or never
//
// Channels within a host do not need a queue pair: apps/channel/local.h.
#ifndef APPS_CHANNEL_CHANNEL_H
#define APPS_CHANNEL_CHANNEL_H

#include "apps/channel/pair.h"

// Largest piece that all transports take: a work request has at most 2^31 bytes.
#define APP__PIECE_BYTES (UINT64_C(1) << 30)

typedef struct app__channel app__channel_t;
typedef struct app__message app__message_t;

// A message, or several of one size that follow one another. It belongs to the channel from
// app__channel_send to `ended`.
struct app__message {
    app__active_t active; // first: completions find it
    app__channel_t *channel;
    app__message_t *next; // of the channel
    uint64_t bytes;       // of each repetition
    uint64_t count;       // work requests of all repetitions
    uint64_t posted;      // work requests so far
    uint64_t completed;
    uint64_t first_psn; // without wrapping; UINT64_MAX: nothing is posted yet
    uint32_t pieces;    // of a repetition
    uint32_t piece;     // number of the next one
    uint32_t word;      // immediate value of its last piece, with NIC_WR_RDMA_WRITE_WITH_IMM
    uint8_t opcode;     // nic_wr_opcode_t; pieces before the last have no immediate value
    uint8_t status;     // nic_wc_status_t: the first error, or SUCCESS
    bool cancelled;     // set by the owner: no further piece is posted
    bool stopped;       // no further piece is posted
};

typedef struct app__channel_ops {
    // Takes back a message: what was posted is completed, and nothing more will be posted.
    // message->posted < message->count: it was not sent whole. It may send messages on any channel,
    // and may not close this one.
    void (*ended)(app__channel_t *channel, app__message_t *message);
    // Called last after each completion and each send that leaves no message in the channel. It may
    // close and free the channel, unless `ended` sends on the same channel. NULL: it stays.
    void (*idle)(app__channel_t *channel);
    // Returns whether the next repetition of a message may begin. NULL: always.
    bool (*goes_on)(const app__message_t *message);
    // Changes the work request of a piece: its places, keys, label. `at` is the offset of the piece
    // in the message. NULL: pieces use the buffers of the queue pairs' numbers.
    void (*fill)(const app__message_t *message, uint64_t at, nic_send_wr_t *wr);
    // Called after each completion, when the channel has posted and ended all that it could, with
    // the bytes of the piece that is completed. NULL: nobody shares its window.
    void (*released)(app__channel_t *channel, uint64_t bytes);
    // -- rules in which applications differ
    // The numbers of the queue pairs have no buffers: `fill` sets all places and keys.
    bool own_memory;
    // After an error, messages are posted on, and the NIC flushes them. Else they end with
    // WR_FLUSH_ERR, without being posted.
    bool posts_on;
    // Messages that are not posted end after those before them, even after an error.
    bool ends_in_order;
    // After a completion, pieces that wait are posted before the message ends, not after it.
    bool posts_first;
} app__channel_ops_t;

typedef struct app__message_list {
    app__message_t *first; // NULL: empty
    app__message_t *last;
} app__message_list_t;

struct app__channel {
    const app__channel_ops_t *ops;
    nic_qp_t *qp; // NULL: closed
    const app__endpoint_t *endpoint;
    app__message_list_t waiting; // have pieces to post
    app__message_list_t posted;  // have none, and have not ended
    uint64_t next_psn;           // of the next packet, without wrapping
    uint32_t numbers[2];         // of the queue pairs, by app__side_of_pair_t
    uint32_t keys[2];            // of their buffers, likewise
    uint32_t destination;        // interface
    uint32_t piece_bytes;
    uint32_t mtu_bytes;
    uint32_t window;
    uint32_t outstanding;   // work requests that are posted and not completed
    uint64_t retransmitted; // packets, of messages that have ended (app__channel_retransmitted)
    bool failed;            // a work request has failed
};

// Opens a channel: makes the requester's queue pair. `channel` must stay where it is.
void app__channel_open(app__channel_t *channel, const app__channel_ops_t *ops,
                       const app__pair_t *pair, uint32_t window, uint64_t piece_bytes);
// Opens a channel on a queue pair that its owner has made and connected, and over which the peer
// may have a channel, too. Its sends complete at the endpoint's queue. `ops` have own_memory.
void app__channel_attach(app__channel_t *channel, const app__channel_ops_t *ops, nic_qp_t *qp,
                         const app__endpoint_t *endpoint, uint32_t window, uint64_t piece_bytes);
// Destroys the queue pair. No completion comes for what was posted. Messages stay the owner's to
// free (app__channel_take).
void app__channel_close(app__channel_t *channel);

// Fills a message that is about to be sent. The caller may set `word` afterwards.
void app__message_init(app__message_t *message, uint64_t bytes, nic_wr_opcode_t opcode);
// Sends a message that app__message_init has filled, `repetitions` times; it may end at once.
void app__channel_send(app__channel_t *channel, app__message_t *message, uint64_t repetitions);
// -- for senders that share a window between channels

// Begins a message whose pieces the caller posts, one by one.
void app__channel_begin(app__channel_t *channel, app__message_t *message);
// Returns the bytes of the next piece.
uint64_t app__message_piece_bytes(const app__message_t *message);
// Posts the next piece. Returns false if the channel's window is full.
bool app__channel_post(app__message_t *message);

// Returns the number of packets that were sent again since the last call.
uint32_t app__channel_retransmitted(app__channel_t *channel);

// Takes any message out of a channel that is closed, or at the end of the run; NULL: there is none.
app__message_t *app__channel_take(app__channel_t *channel);

static inline bool app__channel_is_idle(const app__channel_t *channel)
{
    return channel->waiting.first == NULL && channel->posted.first == NULL;
}

#endif // APPS_CHANNEL_CHANNEL_H
