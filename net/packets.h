// SPDX-License-Identifier: Apache-2.0
// net/packets.h - the life of packets: memory, contents, addresses, and the frames that they are.
#ifndef NET_PACKETS_H
#define NET_PACKETS_H

#include "net/network.h"

SIM_C_BEGIN

typedef struct net_frame net_frame_t;

// Returns a packet from the network's pool, owned by the caller, and counts it as created. Only
// frame_bytes is set; the other fields hold stale values, so the caller must set all of them.
static inline net_packet_t *net_packet_new(net_node_t *node, uint32_t frame_bytes)
{
    net_packet_t *const packet = (net_packet_t *)sim_pool_get(node->packets, &node->sim);
    packet->frame_bytes = (uint16_t)frame_bytes;
    node->tally.created++;
    node->tally.bytes_created += frame_bytes;
    return packet;
}

// Returns a buffer for a payload from the network's pools, not zeroed. Its owner, a packet or a
// sender, frees it with the same size_bytes, at any node.
uint8_t *net_payload_new(const net_node_t *node, uint32_t size_bytes);
void net_payload_free(const net_node_t *node, uint8_t *payload, uint32_t size_bytes);

// Gives a packet with a payload a buffer for its bytes; the caller fills it. The packet owns it.
uint8_t *net_packet_add_contents(net_node_t *node, net_packet_t *packet);
// Frees that buffer; the payload counts as zeros again.
void net_packet_drop_contents(net_node_t *node, net_packet_t *packet);
// Returns the payload's bytes; NULL: they are all zeros.
// NULL: zeros.
static inline const uint8_t *net_packet_contents(const net_packet_t *packet)
{
    return packet->contents ? net_packet_aside(packet)->payload : NULL;
}
// Cuts a packet to frame_bytes, or to its headers if they are longer. The rest counts as dropped.
void net_packet_trim(net_node_t *node, net_packet_t *packet, uint32_t frame_bytes);
// Returns whether a request has lost its payload on the way, as its DSCP shows.
static inline bool net_packet_trimmed(const net_config_t *config, const net_packet_t *packet)
{
    return (packet->dscp == config->trim_dscp || packet->dscp == config->trim_last_hop_dscp) &&
           packet->payload_bytes == 0;
}
// Returns whether a packet has a payload, and is of a protocol whose receivers understand packets
// without it: Ultra Ethernet or MRC.
static inline bool net_packet_trimmable(const net_packet_t *packet)
{
    return packet->opcode >= ROCE_MRC && packet->payload_bytes != 0 &&
           packet->kind == NET_PACKET_ROCE;
}

// Makes a frame longer on its way, because telemetry was added.
static inline void net_packet_grow(net_node_t *node, net_packet_t *packet, uint32_t more_bytes)
{
    packet->frame_bytes = (uint16_t)(packet->frame_bytes + more_bytes);
    node->tally.bytes_created += more_bytes;
}

// Makes a frame shorter: a header was taken off.
static inline void net_packet_shrink(net_node_t *node, net_packet_t *packet, uint32_t less_bytes)
{
    packet->frame_bytes = (uint16_t)(packet->frame_bytes - less_bytes);
    node->tally.bytes_created -= less_bytes; // may wrap; the sum over nodes is right
}

// Takes a packet at its destination, counts it as delivered and frees it. It must have no contents.
static inline void net_packet_deliver_empty(net_node_t *node, net_packet_t *packet)
{
    SIM_ASSERT(!packet->contents);
    node->tally.delivered++;
    node->tally.bytes_delivered += packet->frame_bytes;
    sim_pool_put(node->packets, &node->sim, packet);
}

// Takes a packet at its destination, counts it as delivered and frees it with its contents.
// (net_port_drop takes packets that do not reach theirs.)
static inline void net_packet_deliver(net_node_t *node, net_packet_t *packet)
{
    if (SIM_UNLIKELY(packet->contents)) {
        net_packet_drop_contents(node, packet);
    }
    net_packet_deliver_empty(node, packet);
}

// Writes the interface's address: the first four bytes, or all 16 if network.ipv6 is on.
void net_interface_ip(const net_t *net, uint32_t interface, uint8_t ip[16]);
// Writes the MAC address that the port has in frames.
void net_port_mac(const net_port_t *port, uint8_t mac[6]);
// Writes the MAC address to which a port sends packets for an interface.
void net_port_next_mac(const net_port_t *port, uint32_t interface, uint8_t mac[6]);

// Returns the hash of (source, destination, UDP source port) that ECMP uses.
uint32_t net_flow_hash(const net_t *net, uint32_t source, uint32_t destination,
                       uint16_t source_port);

// Like net_flow_hash, with a further port chosen by the program: load balancers other than ECMP may
// include it in the hash; 0: none.
uint32_t net_flow_hash_with(const net_t *net, uint32_t source, uint32_t destination,
                            uint16_t source_port, uint16_t hashed_port);
// Returns the hash to ask net_source_route with for answers (ACKs, CNPs, READ responses) of a queue
// pair whose packets carry flow_hash (net_balance_ops_t.answer_hash).
uint32_t net_answer_hash(const net_t *net, uint32_t flow_hash);
// Returns whether net_answer_hash may differ from its argument.
bool net_answers_differ(const net_t *net);

// Fills in the frame that the packet is on the wire when `port` sends it. frame->payload points
// into the packet and is valid as long as the packet.
void net_packet_frame(const net_port_t *port, const net_packet_t *packet, net_frame_t *frame);

SIM_C_END

#endif // NET_PACKETS_H
