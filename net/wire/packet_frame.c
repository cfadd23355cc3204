// SPDX-License-Identifier: Apache-2.0
// net/wire/packet_frame.c - MAC and IP addresses, and the frame that a packet is on the wire.
#include <string.h>

#include "kernel/bytes.h"
#include "net/frame_opcodes.h"
#include "net/network_internal.h"
#include "net/ports.h"
#include "net/switch_model.h"
#include "net/telemetry.h"
#include "net/wire/frame_internal.h"
#include "net/wire/layout.h"

uint32_t net_flow_hash(const net_t *net, uint32_t source, uint32_t destination,
                       uint16_t source_port)
{
    return net_flow_hash_with(net, source, destination, source_port, 0);
}

uint32_t net_flow_hash_with(const net_t *net, uint32_t source, uint32_t destination,
                            uint16_t source_port, uint16_t hashed_port)
{
    if (net->balance->flow_hash != NULL) {
        return net->balance->flow_hash(source, destination, source_port, hashed_port);
    }
    // The destination port and the protocol are equal for all RoCEv2 packets.
    const uint64_t addresses = ((uint64_t)source << 32) | destination;
    return (uint32_t)(sim_mix64(sim_mix64(addresses) ^ source_port) >> 32);
}

bool net_answers_differ(const net_t *net)
{
    return net->balance->answer_hash != NULL;
}

uint32_t net_answer_hash(const net_t *net, uint32_t flow_hash)
{
    return net_answers_differ(net) ? net->balance->answer_hash(net, flow_hash) : flow_hash;
}

void net_port_mac(const net_port_t *port, uint8_t mac[6])
{
    const uint8_t bytes[6] = {0x02, // locally administered, unicast
                              0x00,
                              (uint8_t)(port->uid >> 24),
                              (uint8_t)(port->uid >> 16),
                              (uint8_t)(port->uid >> 8),
                              (uint8_t)port->uid};
    memcpy(mac, bytes, sizeof(bytes));
}

void net_port_next_mac(const net_port_t *port, uint32_t interface, uint8_t mac[6])
{
    const net_t *const net = port->node->net;
    const bool routed = net->config.forwarding == NET_FORWARDING_ROUTED;
    net_port_mac(routed ? net_port_peer(port) : net_interface_port(net, interface), mac);
}

void net_interface_ip(const net_t *net, uint32_t interface, uint8_t ip[16])
{
    const uint32_t host = interface + 1;
    memset(ip, 0, 16);
    if (net->config.ipv6) {
        ip[0] = 0xfd;
        ip[12] = (uint8_t)(host >> 24);
        ip[13] = (uint8_t)(host >> 16);
        ip[14] = (uint8_t)(host >> 8);
        ip[15] = (uint8_t)host;
    } else {
        ip[0] = 10;
        ip[1] = (uint8_t)(host >> 16);
        ip[2] = (uint8_t)(host >> 8);
        ip[3] = (uint8_t)host;
    }
}

static void put_extensions(const net_packet_t *packet, net_frame_t *frame)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t extensions = net_frame_extensions(packet->opcode);
    if (extensions & NET_EXT_RETH) {
        frame->reth.address = aside->reth.address;
        frame->reth.rkey = aside->reth.rkey;
        frame->reth.length = aside->reth.length;
    }
    if (extensions & NET_EXT_AETH) {
        frame->aeth.syndrome = (uint8_t)(packet->aeth >> 24);
        frame->aeth.msn = packet->aeth & 0xffffff;
    }
    if (extensions & NET_EXT_DETH) {
        frame->deth.qkey = aside->deth.qkey;
        frame->deth.source_qp = aside->deth.source_qp;
    }
    if (extensions & NET_EXT_ATOMIC) {
        frame->atomic.address = aside->atomic.address;
        frame->atomic.rkey = aside->atomic.rkey;
        frame->atomic.swap_add = aside->atomic.swap_add;
        frame->atomic.compare = aside->atomic.compare;
    }
    if (extensions & NET_EXT_ATOMIC_ACK) {
        frame->atomic_original = aside->atomic_original;
    }
    if (extensions & NET_EXT_IMMDT) {
        frame->immediate = aside->immediate;
    }
    if (extensions & NET_EXT_IETH) {
        frame->invalidate_rkey = aside->immediate;
    }
}

// Fills in the bytes that a selective transport adds: in a NAK's ACK its map; else the target
// address if the opcode has no RETH, then round and index of a retransmission.
static void put_extra(const net_t *net, const net_packet_t *packet, uint32_t frame_bytes,
                      net_frame_t *frame)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t raw_bytes = net__frame_raw_bytes(packet->opcode, packet->payload_bytes,
                                                    net->config.tagged, net->config.ipv6);
    const uint32_t least_bytes = SIM_MAX(NET_FRAME_BYTES_MIN, raw_bytes);
    const uint32_t telemetry_bytes = net_packet_telemetry_bytes(net, packet);
    if (!packet->addressed || frame_bytes <= least_bytes + telemetry_bytes) {
        return; // there are none, or frames have other lengths than their headers (nic.frames)
    }
    uint8_t *at = frame->extra;
    frame->extra_bytes = frame_bytes - raw_bytes - telemetry_bytes;
    const uint32_t round =
        (uint32_t)aside->selective.round << 24 | (aside->selective.index & 0xffffff);
    if (packet->opcode == ROCE_ACKNOWLEDGE) {
        sim_put_be32(at, aside->map.first_psn);
        sim_put_be32(at + 4, aside->map.length);
        sim_put_be32(at + 8, round);
        for (uint32_t i = 0; 12 + i < frame->extra_bytes && i < 32; i++) {
            at[12 + i] = (uint8_t)(aside->map.bits[i / 8] >> i % 8 * 8);
        }
        return;
    }
    if (frame->extra_bytes >= ROCE_RETH_BYTES) {
        sim_put_be64(at + ROCE_RETH_AT_ADDRESS, aside->reth.address);
        sim_put_be32(at + ROCE_RETH_AT_RKEY, aside->reth.rkey);
        sim_put_be32(at + ROCE_RETH_AT_LENGTH, aside->reth.length);
        at += ROCE_RETH_BYTES;
    }
    if (frame->extra + frame->extra_bytes > at) {
        sim_put_be32(at, round);
    }
}

static void put_telemetry(const net_t *net, const net_packet_t *packet, net_frame_t *frame)
{
    frame->telemetry = packet->telemetry;
    if (packet->telemetry == NET_TELEMETRY_INT) {
        frame->hop_count = packet->hop_count;
        frame->reserved_hops = (uint8_t)net->config.int_reserved_hops;
        frame->path_id = packet->path_id;
        memcpy(frame->hops, net_packet_telemetry(packet),
               packet->hop_count * sizeof(frame->hops[0]));
    } else if (packet->telemetry == NET_TELEMETRY_PINT) {
        frame->digest = packet->digest;
        frame->digest_bytes = (uint8_t)net->pint->digest_bytes;
    }
}

// Fills in the headers of Ultra Ethernet. A trimmed packet keeps as much of its payload as fits.
static void put_uet(const net_t *net, const net_packet_t *packet, net_frame_t *frame)
{
    frame->is_uet = true;
    net_uet_of_packet(packet, &frame->uet);
    frame->payload_bytes = packet->payload_bytes;
    frame->payload = net_packet_contents(packet);
    const uint32_t whole = net_frame_size_bytes(frame);
    if (net_packet_trimmed(&net->config, packet) && packet->frame_bytes > whole) {
        frame->payload_bytes = packet->frame_bytes - whole;
    }
}

// Fills in the headers of MRC. A trimmed packet keeps as much of its payload as fits.
static void put_mrc(const net_t *net, const net_packet_t *packet, net_frame_t *frame)
{
    frame->is_mrc = true;
    net_mrc_of_packet(packet, &frame->mrc);
    frame->payload_bytes = packet->payload_bytes;
    frame->payload = net_packet_contents(packet);
    frame->mrc.cut =
        net_packet_trimmed(&net->config, packet) && net_mrc_has_payload(packet->opcode);
    const uint32_t whole = net_frame_size_bytes(frame);
    if (frame->mrc.cut && packet->frame_bytes > whole) {
        frame->payload_bytes = packet->frame_bytes - whole;
    }
}

void net_packet_frame(const net_port_t *port, const net_packet_t *packet, net_frame_t *frame)
{
    const net_t *const net = port->node->net;
    *frame = (net_frame_t){0};
    if (packet->kind == NET_PACKET_CONTROL) {
        static const uint8_t pause_mac[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
        const net_pfc_t *const pfc = &packet->pfc;
        memcpy(frame->destination_mac, pause_mac, sizeof(pause_mac));
        net_port_mac(port, frame->source_mac);
        if (packet->control == NET_CONTROL_CC_UPDATE) {
            frame->is_cc_update = true;
            for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
                frame->cc_consumed[p] = net_counts_get(&packet->counts, p);
            }
            return;
        }
        frame->is_pfc = true;
        frame->pfc_classes = pfc->classes;
        memcpy(frame->pfc_quanta, pfc->quanta, sizeof(frame->pfc_quanta));
        return;
    }
    const bool routed = net->config.forwarding == NET_FORWARDING_ROUTED;
    net_port_mac(routed ? port : net_interface_port(net, packet->source), frame->source_mac);
    net_port_next_mac(port, packet->destination, frame->destination_mac);
    frame->tagged = net->config.tagged;
    frame->pcp = packet->priority;
    frame->vlan_id = (uint16_t)net->config.vlan_id;
    frame->ipv6 = net->config.ipv6;
    frame->dscp = packet->dscp;
    frame->ecn = packet->ecn;
    frame->ttl = packet->ttl;
    net_interface_ip(net, packet->source, frame->source_ip);
    net_interface_ip(net, packet->destination, frame->destination_ip);
    frame->udp_source_port = packet->udp_source_port;
    if (port->node->kind == NET_NODE_SWITCH && port->peer->node->kind == NET_NODE_SWITCH) {
        frame->overlay_bytes = net_switch_of(port->node)->header_bytes;
        frame->overlay = net_packet_aside(packet)->overlay;
    }
    if (packet->opcode == ROCE_ETHERNET) {
        frame->is_ethernet = true;
        frame->payload_bytes = packet->payload_bytes;
        frame->payload = net_packet_contents(packet);
        return;
    }
    if ((packet->opcode & ROCE_TRANSPORT_MASK) == ROCE_UET) {
        put_uet(net, packet, frame);
        return;
    }
    frame->opcode = packet->opcode;
    frame->solicited = packet->solicited;
    frame->migration = packet->opcode != ROCE_CNP; // QPs start migrated (IBA 17.2.8.1)
    frame->pkey = 0xffff;                          // the default partition, full member
    frame->becn = packet->becn;
    frame->destination_qp = packet->destination_qp;
    frame->ack_request = packet->ack_request;
    frame->psn = packet->psn;
    if ((packet->opcode & ROCE_TRANSPORT_MASK) == ROCE_MRC) {
        frame->migration = frame->becn = false; // bits that MRC does not have
        put_mrc(net, packet, frame);
        return;
    }
    frame->payload_bytes = packet->payload_bytes;
    frame->payload = net_packet_contents(packet);
    put_extensions(packet, frame);
    put_extra(net, packet, packet->frame_bytes - frame->overlay_bytes, frame);
    put_telemetry(net, packet, frame);
}
