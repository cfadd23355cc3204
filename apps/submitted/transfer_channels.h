// SPDX-License-Identifier: Apache-2.0
// apps/submitted/transfer_channels.h - the channels of submitted transfers, and their QP numbers.
#ifndef APPS_SUBMITTED_TRANSFER_CHANNELS_H
#define APPS_SUBMITTED_TRANSFER_CHANNELS_H

#include "apps/channel/channel.h"
#include "apps/submitted.h"

typedef struct app__submitted_transfer app__submitted_transfer_t;
typedef struct app__submitted_channel app__submitted_channel_t;
typedef struct app__submitted_run app__submitted_run_t; // transfer_channels.c

// A channel of one transfer, or of several. It exists until its responder is done with it, too.
struct app__submitted_channel {
    app__channel_t channel; // its queue pair is NULL when the requester is done with it
    app__pair_t pair;
    app_submitted_t *submitted;
    app__submitted_channel_t *next;        // list of the application
    app__submitted_channel_t *previous;    // of the same list
    app__submitted_channel_t *next_shared; // list of the requester's interface, where it is shared
    app__submitted_transfer_t *due;        // those whose pieces have not all come, in order
    sim_time_t closed_ps; // end of the requester's queue pair; SIM_TIME_NEVER: not yet
    uint8_t priority;     // of its transfers, or APP__AS_THE_NIC
    bool reuse;
    uint32_t source_slot; // of QP numbers
    uint32_t destination_slot;
};

// QP numbers of one direction, and the channels that use them.
typedef struct app__submitted_slots {
    app__submitted_channel_t **channels; // NULL: the number is free
    uint32_t capacity;                   // power of two
    uint32_t turns;                      // number of transfers that were released so far
} app__submitted_slots_t;

// Lets transfers use an interface. Call it at planning.
void app__submitted_join(app_submitted_t *submitted, uint32_t interface);
// Begins a transfer in an event of its requester's host.
void app__submitted_start(app__submitted_transfer_t *transfer);
// Ends a cancelled transfer in an event of its requester's host. Where others share its queue pair,
// the work requests that are posted still go.
void app__submitted_stop(app__submitted_transfer_t *transfer);
nic_wr_opcode_t app__submitted_opcode(app_submitted_verb_t verb);
void app__submitted_channels_free(app_submitted_t *submitted);
uint16_t app__submitted_port(const app_submitted_t *submitted,
                             const app__submitted_transfer_t *transfer);

#endif // APPS_SUBMITTED_TRANSFER_CHANNELS_H
