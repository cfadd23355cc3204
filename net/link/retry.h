// SPDX-License-Identifier: Apache-2.0
// net/link/retry.h - link layer retry (LLR) of a port, as sender and as receiver.
#ifndef NET_LINK_RETRY_H
#define NET_LINK_RETRY_H

#include "net/link/layer.h"

void net__retry_build(struct net_layer *layer);
void net__retry_fini(struct net_layer *layer);
// Forgets all frames that wait for an acknowledgement: the link goes down or comes up.
void net__retry_reset(struct net_layer *layer);

// -- the sender

// Returns whether frames are to be repeated.
bool net__retry_waits(const struct net_layer *layer);
// Returns the next of them, for net__retry_send.
net_packet_t *net__retry_take(struct net_layer *layer);
// Returns whether this is a frame that net__retry_take returned.
bool net__retry_repeats(const struct net_layer *layer, const net_packet_t *packet);
// Sends a frame, and keeps it until it has arrived undamaged. Takes the packet.
void net__retry_send(struct net_layer *layer, net_packet_t *packet, sim_time_t arrive_ps,
                     bool goes_down);

// -- both

// Counts a frame that has arrived in order.
void net__retry_arrived(struct net_layer *layer);
// Applies a message. Returns the classes that were released.
uint8_t net__retry_received(struct net_layer *layer, const net_packet_t *packet);

#endif // NET_LINK_RETRY_H
