// SPDX-License-Identifier: Apache-2.0
// net/ethernet.h - whole Ethernet frames of programs outside the simulation, as packets.
//
// Such a packet has the opcode ROCE_ETHERNET, and its contents are all bytes of the frame, from the
// destination's MAC address to the last byte before the FCS. Switches see its class, DSCP, ECN and
// TTL; what they change is written back into the bytes when the frame leaves the simulation, and
// for captures.
#ifndef NET_ETHERNET_H
#define NET_ETHERNET_H

#include "net/node.h"

SIM_C_BEGIN

// Fields of a frame's headers that switches look at.
typedef struct net_ethernet {
    uint32_t ip_at; // offset of the IP header; 0: the frame is not of IP, or its header is cut off
    bool ipv6;
    bool tagged;   // 802.1Q
    uint8_t pcp;   // priority of the tag
    uint8_t dscp;  // without IP: 8 times the priority of the tag
    uint8_t ecn;   // without IP: NET_ECN_NOT_ECT
    uint8_t ttl;   // without IP: 255
    uint16_t port; // of UDP or TCP, for the hash of the path: 0 without them
    bool roce;     // UDP to port 4791 with a whole BTH
    uint8_t opcode;
    uint32_t psn;
} net_ethernet_t;

// Reads the headers of a frame and never beyond size_bytes.
void net_ethernet_look(const uint8_t *bytes, uint32_t size_bytes, net_ethernet_t *ethernet);
// Writes ECN and TTL into the IP header of a frame, if it has one, and corrects its checksum.
void net_ethernet_mark(uint8_t *bytes, uint32_t size_bytes, uint8_t ecn, uint8_t ttl);
// Returns the class in which a host's port sends the frame: that which its switch gives it.
uint8_t net_ethernet_class(const net_port_t *port, const net_ethernet_t *ethernet);

SIM_C_END

#endif // NET_ETHERNET_H
