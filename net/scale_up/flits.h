// SPDX-License-Identifier: Apache-2.0
// net/scale_up/flits.h - what accelerators and their switches have in common: links with credits.
#ifndef NET_SCALE_UP_FLITS_H
#define NET_SCALE_UP_FLITS_H

#include "net/port.h"
#include "net/scale_up.h"

// Virtual channels: requests wait for answers, and answers for nobody.
enum { NET__VC_REQUESTS, NET__VC_ANSWERS, NET__VC_COUNT };

// A port of a link with credits, beside its net_port_t.
typedef struct net__flit_port {
    sim_channel_t *credits;              // to the other end, for what this end has freed
    uint64_t room_bytes[NET__VC_COUNT];  // of the other end
    uint64_t freed_bytes[NET__VC_COUNT]; // here, not reported to the other end yet
    sim_time_t wait_since_ps[NET__VC_COUNT];
    uint8_t waits;       // virtual channels that wait for credits
    sim_random_t random; // of errors
} net__flit_port_t;

typedef struct net__flit_node net__flit_node_t;
// Operations of the two kinds of nodes.
typedef struct net__flit_ops {
    // Takes a train whose first packet has arrived.
    void (*train)(net__flit_node_t *node, net_port_t *ingress, net_packet_t *packet);
    // Takes a message of the host. NULL: none comes.
    void (*put)(net__flit_node_t *node, net_put_t *put);
    void (*built)(net__flit_node_t *node); // the ports exist; NULL: nothing to do
    // Sends the next train on an idle port, if there is one and it has credits.
    void (*serve)(net__flit_node_t *node, net_port_t *port);
    void (*fini)(net__flit_node_t *node); // frees what the kind has; NULL: nothing
} net__flit_ops_t;

// The first member of accelerators and of their switches.
struct net__flit_node {
    net_node_t node; // first
    const net__flit_ops_t *ops;
    const net_scale_up_config_t *config;
    net__flit_port_t *flits; // by port
    uint32_t packet_bytes;   // of a full packet on a link
    uint32_t train_bytes;    // payload of a full train
    sim_time_t retry_ps;
    uint64_t credit_step_bytes; // freed bytes that are reported at once
};

// Fills in the first part of a node and registers it.
void net__flit_node_init(net_t *net, net__flit_node_t *node, const net__flit_ops_t *ops,
                         const net_scale_up_config_t *config, const char *name);
bool net__is_flit_node(const net_node_t *node);
// Returns a train of a message with `payload_bytes` for a virtual channel. Requests of loads want
// some bytes, and have no payload.
net_packet_t *net__train_new(net__flit_node_t *node, net_put_t *put, uint32_t vc,
                             uint32_t payload_bytes, uint32_t wanted_bytes);
// Returns the bytes of such a train on a link.
uint32_t net__train_bytes(const net__flit_node_t *node, uint32_t payload_bytes,
                          uint32_t wanted_bytes);
// Returns whether the other end of a port's link has room for a train of so many bytes. If not, the
// virtual channel waits until it has.
bool net__flit_may_send(net__flit_node_t *node, net_port_t *port, uint32_t vc, uint32_t bytes);
// Sends a train of `bytes` on an idle port that may send it.
void net__flit_send(net__flit_node_t *node, net_port_t *port, net_packet_t *packet, uint32_t vc,
                    uint32_t bytes);
// Sends the first train that waits in the queues of an idle port and may be sent. Returns whether
// there was one; *sent is it, which the next node owns, with the fields that it had.
bool net__flit_send_queued(net__flit_node_t *node, net_port_t *port, net_queued_t *sent);
// Gives back the room of a train behind the port by which it came.
void net__flit_free(net__flit_node_t *node, uint32_t port, uint32_t vc, uint32_t bytes);
// Serves a port now if it is idle, or as soon as it is.
void net__flit_wake(net__flit_node_t *node, net_port_t *port);
// Returns the time from the arrival of a train's first packet to that of its last byte.
sim_time_t net__train_rest_ps(const net__flit_node_t *node, const net_port_t *port,
                              uint32_t frame_bytes);

#endif // NET_SCALE_UP_FLITS_H
