// SPDX-License-Identifier: Apache-2.0
// net/link/credits.h - credits of a port's link layer, as sender and as receiver.
#ifndef NET_LINK_CREDITS_H
#define NET_LINK_CREDITS_H

#include "net/link/layer.h"

// Returns the credits that each class of this direction has: given, or computed.
uint64_t net__credits_limit(const net_port_t *sender);
void net__credits_build(struct net_layer *layer);
void net__credits_link_up(struct net_layer *layer);

// -- the sender

// Returns whether a frame finds the credits that it takes.
bool net__credits_suffice(const struct net_layer *layer, const net_packet_t *packet);
// Takes the credits of a frame that leaves.
void net__credits_taken(struct net_layer *layer, const net_packet_t *packet);
// Stops or releases a class, by the frame that it would send next. Returns whether it is released.
bool net__credits_look(struct net_layer *layer, uint32_t priority);
// Applies a CF_Update. Returns the classes that were released.
uint8_t net__credits_updated(struct net_layer *layer, const net_counts_t *counts);
// Returns a new CC_Update.
net_packet_t *net__credits_sync(struct net_layer *layer);

// -- the receiver

// Counts a frame that has arrived. Its credits are free unless net_layer_store follows.
void net__credits_arrived(struct net_layer *layer, uint32_t priority, uint32_t frame_bytes);
// Applies a CC_Update.
void net__credits_synced(struct net_layer *layer, const net_counts_t *counts);
// Withholds the credits of these classes, or gives them back. Returns which of them have credits.
uint8_t net__credits_withhold(net_port_t *port, uint8_t classes, bool withhold);

#endif // NET_LINK_CREDITS_H
