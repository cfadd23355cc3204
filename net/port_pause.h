// SPDX-License-Identifier: Apache-2.0
// net/port_pause.h - pauses of a port's classes by PFC frames.
#ifndef NET_PORT_PAUSE_H
#define NET_PORT_PAUSE_H

#include "net/port.h"

SIM_C_BEGIN

// Returns how long a pause of `quanta` (512 bit times each) lasts on this link, rounded down.
sim_time_t net_port_quanta_ps(const net_port_t *port, uint16_t quanta);
// Returns how long the peer has stopped a class in total, the current pause included.
sim_time_t net_port_paused_ps(const net_port_t *port, uint32_t priority, sim_time_t now_ps);
// Applies a control message that arrived at this port. The caller keeps the packet. Returns the
// classes that were released; the node then tries to send.
uint8_t net_port_control_received(net_port_t *port, const net_packet_t *packet);
// ignore true: ends current pauses of these classes; later ones are counted and have no effect.
// ignore false: pauses have an effect again, from the next frame on.
void net_port_ignore_pauses(net_port_t *port, uint8_t classes, bool ignore);
// Sends the peer a PFC frame for these classes (quanta 0: resume) before any data. The peer gets
// no credits instead for classes that have them (link.flow-control: cbfc). An idle port
// sends it at once, otherwise the next wake must send it and clear rare->control. A frame that
// still waits is updated with the newest quanta of each class, so at most one waits.
void net_port_pause_send(net_port_t *port, uint8_t classes, uint16_t quanta);
// Appends a separate PFC frame to the list rare->control. Does not start it.
void net_port_pause_queue(net_port_t *port, uint32_t priority, uint16_t quanta);

SIM_C_END

#endif // NET_PORT_PAUSE_H
