// SPDX-License-Identifier: Apache-2.0
// net/link/port_setup.h - the life of ports: made, placed, linked.
#ifndef NET_LINK_PORT_SETUP_H
#define NET_LINK_PORT_SETUP_H

#include "net/node.h"
#include "net/port.h"

// net/link/port.c
void net__port_init(net_port_t *port, net_node_t *node, uint32_t index);
// Points the port to its entries in the network's arrays (classes, received, rare, meters).
void net__port_place(net_port_t *port, uint32_t uid);
// Makes the port an end of a link and gives it its line.
void net__port_join(net_port_t *port, uint32_t link, bool is_a);
// Sets all fields that follow from the port's line. No frame may be on the link.
void net__port_set_speed(net_port_t *port);
void net__lines_free(net_t *net);
// net/link/transmit.c: returns whether the link loses a frame, and draws for it.
bool net__port_loses(net_port_t *port, const net_packet_t *packet);
// Returns when the port's link next goes down.
static inline sim_time_t net__port_next_down(const net_port_t *port)
{
    return SIM_UNLIKELY(port->changes) ? port->rare->next_down_ps : SIM_TIME_NEVER;
}

#endif // NET_LINK_PORT_SETUP_H
