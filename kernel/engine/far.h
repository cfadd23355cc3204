// SPDX-License-Identifier: Apache-2.0
// kernel/engine/far.h - messages that arrive beyond the mailboxes, on their way to the receiver's
// thread.
#ifndef KERNEL_ENGINE_FAR_H
#define KERNEL_ENGINE_FAR_H

#include "kernel/event.h"
#include "kernel/ring.h"

typedef struct sim_thread sim_thread_t;

// A message on a channel that arrives beyond the mail slots.
typedef struct sim_far_letter {
    sim_time_t arrive_ps;
    void *message;
} sim_far_letter_t;

// The far messages of one channel, in order of arrival.
typedef SIM_RING(sim_far_letter_t) sim_far_ring_t;

// The channels into a node that have carried far messages.
struct sim_far {
    sim_channel_t **channels;
    size_t count;
    size_t capacity;
};

// A far message on its way to the thread that owns the receiver.
typedef struct sim_parcel {
    sim_channel_t *channel;
    sim_time_t arrive_ps;
    void *message;
} sim_parcel_t;

// The far messages from one thread to another.
typedef struct sim_parcels {
    sim_parcel_t *items;
    size_t count;
    size_t capacity;
    sim_time_t earliest_ps;
} sim_parcels_t;

// Takes over the parcels that other threads sent in the window before.
void sim__receive_parcels(sim_thread_t *thread);

// Sends a message whose arrival lies beyond the slots.
void sim__parcel_send(sim_thread_t *thread, sim_channel_t *channel, sim_time_t arrive_ps,
                      void *message);
// Takes the channel's next far message if it arrives in this window. False: it does not, or there
// is none.
bool sim__far_take(sim_thread_t *thread, const sim_node_t *node, const sim_channel_t *channel,
                   sim_far_letter_t *letter);

#endif // KERNEL_ENGINE_FAR_H
