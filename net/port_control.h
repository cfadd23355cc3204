// SPDX-License-Identifier: Apache-2.0
// net/port_control.h - what a port sends before all classes, and the credits of its link layer.
// Page: docs/models/link-layer.md.
#ifndef NET_PORT_CONTROL_H
#define NET_PORT_CONTROL_H

#include "net/port.h"

SIM_C_BEGIN

// -- what goes before all classes

// Returns whether the link layer has something to send before all classes.
bool net__layer_waits(const net_port_t *port);
// Takes what the link layer sends next. For net_port_take_control.
net_packet_t *net__layer_take(net_port_t *port);

// Sets the list of PFC frames that are sent before everything else; NULL: none.
static inline void net_port_set_control(net_port_t *port, net_packet_t *packet)
{
    port->rare->control = packet;
    port->controlled = packet != NULL || (port->layered && net__layer_waits(port));
}
// Returns what is to be sent next if port->controlled is set. The caller sends it.
static inline net_packet_t *net_port_take_control(net_port_t *port)
{
    net_packet_t *const packet = port->rare->control;
    if (SIM_UNLIKELY(packet == NULL)) {
        return net__layer_take(port);
    }
    net_port_set_control(port, packet->next);
    return packet;
}

// -- credits, for nodes with a buffer (port->layered is set)

// Returns the classes in which the port grants credits to its peer.
uint8_t net_layer_grants(const net_port_t *port);
// Returns the bytes of buffer that each of these classes needs.
uint64_t net_layer_granted_bytes(const net_port_t *port);
// Holds the credits of a frame that has just arrived, because it waits in the node's buffer.
void net_layer_store(net_port_t *port, uint32_t priority, uint32_t frame_bytes);
// Frees them: the frame has left.
void net_layer_free(net_port_t *port, uint32_t priority, uint32_t frame_bytes);
// Looks at a stopped class anew, in whose queue a packet now waits.
void net_layer_queued(net_port_t *port, uint32_t priority);

SIM_C_END

#endif // NET_PORT_CONTROL_H
