// SPDX-License-Identifier: Apache-2.0
// apps/workload/channels.h - the channels that a schedule needs: each carries the messages from one
// NIC of a rank to a NIC of another rank.
//
// Planning makes and numbers them from the schedule, in the order of their sources, then of their
// destinations. A channel is opened with its first message, and stays. Only events of the source's
// host touch it after planning.
#ifndef APPS_WORKLOAD_CHANNELS_H
#define APPS_WORKLOAD_CHANNELS_H

#include "apps/channel/channel.h"
#include "apps/workload/rank.h"

// The immediate value of a message's last piece: the kind of the message, and the number of the
// send among the operations of its rank.
#define APP__WORD_OP (APP__OPS_MAX - 1) // mask of the operation
#define APP__WORD_DATA 0u
#define APP__WORD_READY_TO_SEND (UINT32_C(1) << 30) // a send above eager-max asks for its receive
#define APP__WORD_CLEAR_TO_SEND (UINT32_C(2) << 30) // its receive is there

// The channel from one NIC to another that the schedule needs.
typedef struct app__open_channel app__open_channel_t; // channels.c
typedef struct app__rank_channel {
    uint32_t source; // port
    uint32_t destination;
    app__open_channel_t *open; // NULL: nothing was sent yet
} app__rank_channel_t;

// Makes the channels that the schedule needs and reserves their QP numbers. SIM_ERR_INVALID: two
// ranks cannot talk; the message begins with "hosts".
SIM_MUST_CHECK sim_err_t app__rank_channels_create(app__workload_t *workload,
                                                   sim_message_t *message);
// Returns whether all messages are acknowledged.
bool app__rank_channels_quiet(const app__workload_t *workload);
// Closes all channels, which are quiet.
void app__rank_channels_retire(app__workload_t *workload);
void app__rank_channels_free(app__workload_t *workload);
// The two ends of the channel from one rank to another on NICs of a number: interfaces, numbers of
// the queue pairs, and the UDP source port. Within a host, numbers and port are 0.
typedef struct app__channel_ends {
    uint32_t interfaces[2];
    uint32_t numbers[2];
    uint16_t source_port;
} app__channel_ends_t;
app__channel_ends_t app__rank_channel_ends(const app__workload_t *workload, uint32_t rank,
                                           uint32_t peer, uint32_t nic);
// Finds the path of messages from one rank to another on NICs of a number while all links are up.
// Returns false if they do not go through the network.
bool app__rank_channel_path(const app__workload_t *workload, uint32_t rank, uint32_t peer,
                            uint32_t nic, net_path_t *path);
// Sends an operation's message, or asks whether it may be sent (APP__WORD_READY_TO_SEND).
void app__rank_send(app__rank_t *rank, uint32_t op, uint32_t kind);
// Answers a rank whose operation asked: APP__WORD_CLEAR_TO_SEND.
void app__rank_answer(app__rank_t *rank, uint32_t source, uint32_t op);
// Sends a message on a channel.
void app__rank_channel_send(app__workload_t *workload, uint32_t channel, uint32_t word);
// Begins a message whose pieces the caller posts (app__channel_post).
app__message_t *app__rank_channel_begin(app__workload_t *workload, uint32_t channel, uint32_t word);
// Returns the bytes of a message of a rank.
uint64_t app__word_bytes(const app__rank_t *source, uint32_t word);

#endif // APPS_WORKLOAD_CHANNELS_H
