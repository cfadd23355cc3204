// SPDX-License-Identifier: Apache-2.0
// net/message.h - hops of a network of messages: network.model: message (docs/models/message.md).
//
// A message moves as one unit. A hop stores it whole, then puts it into the one queue of the link
// that it leaves by. The queue is as long as it gets; it has no classes, pauses, marks or losses.
#ifndef NET_MESSAGE_H
#define NET_MESSAGE_H

#include "net/node.h"

SIM_C_BEGIN

// Creates a hop in the place of a switch, before net_build. The simulation frees it.
net_node_t *net_message_hop_create(net_t *net, const char *name);

SIM_C_END

#endif // NET_MESSAGE_H
