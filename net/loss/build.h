// SPDX-License-Identifier: Apache-2.0
// net/loss/build.h - the losses of a network: lists, and the state of each direction of a link.
#ifndef NET_LOSS_BUILD_H
#define NET_LOSS_BUILD_H

#include "net/node.h"

// A list of losses for one direction of a link. The network owns the trace.
typedef struct net_loss_list {
    uint32_t link;
    bool forward;
    struct net_loss_trace *trace;
} net_loss_list_t;

// net/loss/models.c: build makes the state of both directions of a link that loses, reorders or
// duplicates frames; free releases one direction's, lists_free all loss lists.
void net__loss_build(net_t *net, uint32_t link);
// Takes the losses out of a port's configuration if they are not those of its direction.
void net__loss_direct(net_port_t *port, bool forward);
void net__loss_free(net_port_t *port);
void net__loss_lists_free(net_t *net);

#endif // NET_LOSS_BUILD_H
