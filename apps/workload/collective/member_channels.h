// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/member_channels.h - the channels of members: each carries the messages
// from one member to another on one lane, with clear-to-sends. A struct is one end of it.
//
// NCCL's channels are something else: copies of an algorithm that work side by side. They have
// lanes of their own.
//
// member_channels.c moves messages, and queue_pairs.c makes queue pairs: one that stays, several in
// turn, or one for each message. Only events of the member's host touch a channel.
#ifndef APPS_WORKLOAD_COLLECTIVE_MEMBER_CHANNELS_H
#define APPS_WORKLOAD_COLLECTIVE_MEMBER_CHANNELS_H

#include "apps/channel/local.h"
#include "apps/channel/pair.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/port.h"

// Numbers that end in any order: all below `next` have ended, and next + 1 + i if bit i is set.
typedef struct app__sequence {
    uint32_t next;
    uint64_t ahead;
} app__sequence_t;

typedef struct app__coll_message {
    uint64_t bytes; // on the wire
    uint64_t local_bps;
    uint64_t block_bps; // not 0: its thread block moves one message after the other
    sim_time_t wait_ps; // of the thread block, between the message before it and this one
    sim_time_t way_ps;  // within a host: from the sender to the receiver
    sim_time_t due_ps;
    uint32_t record; // in the rank's records, or APP__NO_RECORD
    uint32_t place;  // among the channel's messages of its call
    uint16_t what;   // of its step: APP__STEP_FINAL, APP__STEP_SPREAD
} app__coll_message_t;

// The queue pair of a channel, or of one message of it.
typedef struct app__slot {
    nic_qp_t *qp;             // NULL: not made yet
    app__passive_t *accepted; // the runtime's note of a queue pair that a packet made
} app__slot_t;

// One end of a channel: messages from one member to another on one lane.
typedef struct app__member_channel {
    app__active_t active; // first: completions of sends find it
    app__member_t *member;
    uint32_t peer; // number in the group
    uint32_t lane;
    bool incoming;
    bool local;            // within a host
    app__passers_t stream; // incoming and local: messages that pass a link
    uint32_t waiter;       // block that waits for a message, or for room; or APP__NO_BLOCK
    sim_link_t link;       // among those of the member
    struct app__member_channel *other; // local: the other end
    app__slot_t *slots;
    uint32_t phase;      // place of the next message among the queue pairs: repeat/memo.c sets it
    uint32_t call;       // operation of the call that its latest messages are of
    uint32_t call_first; // number of the first of them
    // outgoing: messages are filled by a block, allowed by the receiver, posted, acknowledged
    uint32_t filled;
    uint32_t posted;
    app__sequence_t allowed;
    // local: taken out of the receiver's buffer; incoming: clear-to-sends that are acknowledged
    app__sequence_t acked;
    app__coll_message_t *messages; // ring: those from acked.next to filled
    uint32_t message_capacity;
    sim_timer_t timer; // until the first message is due
    // incoming
    sim_list_t comings; // messages that the block learns of later
    app__sequence_t arrived;
    app__sequence_t visible; // to the block: with arrival acknowledged, later than arrived
    sim_time_t ack_ps;       // that much later
    uint32_t consumed;
    uint32_t permitted; // clear-to-send was sent for those below
    uint32_t permitter; // block that waits until it may send one; or APP__NO_BLOCK
    uint32_t closed;    // queue pairs of messages below are gone
    app__passive_t passive;
} app__member_channel_t;

#define APP__MEMBER_CHANNEL_SLOTS 32u // queue pairs of a channel that has one for each message
#define APP__MEMBER_CHANNEL_POSTED_MAX \
    16u // messages of a channel that are posted and not acknowledged

// The two ends of the queue pair of a message.
typedef struct app__ends {
    const app__port_t *own;
    const app__port_t *peer;
    uint32_t own_number;
    uint32_t peer_number;
} app__ends_t;

static inline app__member_t *app__member_channel_peer(const app__member_channel_t *channel)
{
    return &channel->member->all->groups[channel->member->group].members[channel->peer];
}

// Returns whether the channel's queue pairs stay.
static inline bool app__member_channel_permanent(const app__member_channel_t *channel)
{
    return channel->member->all->options.queue_pairs == APP__QPS_PERMANENT;
}

static inline bool app__member_channel_has_cts(const app__member_channel_t *channel)
{
    return channel->member->all->options.protocol != APP__PROTOCOL_PLAIN;
}

app__ends_t app__member_channel_ends(const app__member_channel_t *channel, uint32_t message);
// Returns the queue pair of a message, making it if there is none yet.
nic_qp_t *app__member_channel_qp(app__member_channel_t *channel, uint32_t message);
void app__member_channel_end_qp(app__member_channel_t *channel, uint32_t message);
void app__member_channel_post_receive(app__member_channel_t *channel, nic_qp_t *qp,
                                      uint32_t message);
// Members of app__member_channel_range_ops.
sim_time_t app__member_channel_passive_from_ps(const void *owner, uint32_t interface,
                                               uint64_t offset);
void app__member_channel_accept(void *owner, app__endpoint_t *endpoint, uint64_t offset,
                                app__passive_t *passive);
bool app__member_channel_is_finished(void *owner, const app__passive_t *passive);

extern const app__range_ops_t app__member_channel_range_ops;
// Takes a clear-to-send, or a message without an immediate, that a queue pair has written.
void app__member_channel_cts_arrived(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx);
void app__member_channel_write_arrived(nic_qp_t *qp, uint64_t address, uint32_t byte_len,
                                       void *ctx);
// Finds or makes the end of a channel at a member.
app__member_channel_t *app__member_channel(app__member_t *member, uint32_t peer, uint32_t lane,
                                           bool incoming);
bool app__member_channel_has_room(const app__member_channel_t *channel, uint32_t window);
// Sends the data of a step that does `what`. The block has copied so many bytes since it last sent.
void app__member_channel_send(app__member_channel_t *channel, const app__coll_plan_t *plan,
                              uint64_t bytes, uint64_t copied, uint16_t what);
// Returns whether a block may send a clear-to-send; if not, the block is woken when it may.
bool app__member_channel_may_permit(app__member_channel_t *channel, uint32_t window,
                                    uint32_t block);
void app__member_channel_permit(app__member_channel_t *channel); // sends a clear-to-send
void app__member_channel_consume(app__member_channel_t *channel);
void app__member_channels_reserve(app__collectives_t *collectives); // QP numbers of all members
void app__member_channels_fini(app__member_t *member);
bool app__member_channels_quiet(
    const app__member_t *member); // all messages have arrived, and it is known
void app__member_channels_retire(app__member_t *member); // frees all channels
// Sets the ports of the two ends of a channel for the message `number`.
void app__member_channel_ports(const app__member_t *own, const app__member_t *peer, uint32_t lane,
                               uint32_t number, const app__port_t **own_port,
                               const app__port_t **peer_port);

#endif // APPS_WORKLOAD_COLLECTIVE_MEMBER_CHANNELS_H
