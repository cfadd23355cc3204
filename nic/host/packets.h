// SPDX-License-Identifier: Apache-2.0
// nic/host/packets.h - making packets of the right frame length, and ending them.
#ifndef NIC_HOST_PACKETS_H
#define NIC_HOST_PACKETS_H

#include "net/frame_opcodes.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// Sets the NIC's frame lengths from its configuration.
void nic__frames_create(nic_t *nic);

// Returns the bytes of a request behind the NIC's header: extension headers, payload and pad.
static inline uint32_t nic__body_bytes(const nic_t *nic, uint32_t extension_bytes,
                                       uint32_t payload_bytes)
{
    return SIM_UNLIKELY(nic->body_bytes != NULL) ? nic->body_bytes(extension_bytes, payload_bytes)
                                                 : extension_bytes + ((payload_bytes + 3) & ~3u);
}

// Returns the length of a frame with a body of this kind.
static inline uint32_t nic__frame_bytes(const nic_t *nic, uint32_t body_bytes)
{
    const uint32_t bytes = nic->header_bytes + body_bytes;
    return SIM_MAX(nic->frame_bytes_min, bytes);
}

// Returns a new packet of a QP. The caller sets opcode, PSN, payload and extension headers, which
// take `body_bytes` together (pad included).
static inline net_packet_t *nic__new_packet(nic_t *nic, const nic_qp_t *qp, uint8_t priority,
                                            uint8_t ecn, uint32_t body_bytes)
{
    const uint32_t frame_bytes = nic__frame_bytes(nic, body_bytes);
    net_packet_t *const packet = net_packet_new(&nic->host->node, frame_bytes);
    *packet = (net_packet_t){
        .route = qp->path.route,
        .source = nic->interface,
        .destination = qp->path.destination,
        .flow_hash = qp->path.flow_hash,
        .frame_bytes = (uint16_t)frame_bytes,
        .udp_source_port = qp->path.udp_source_port,
        .kind = NET_PACKET_ROCE,
        .priority = priority,
        .dscp = qp->path.dscp & 63u,
        .ecn = ecn & 3u,
        .ttl = NIC_TTL,
        .destination_qp = qp->path.destination_qp,
        .sent_ps = nic__node(nic)->now_ps,
    };
    return packet;
}

// Marks a packet that was sent before. Without stamps its answer must not give a round trip: it may
// be the answer to the first one.
static inline void nic__sent_again(net_packet_t *packet, bool stamps)
{
    packet->retransmission = true;
    if (!stamps) {
        packet->sent_ps = SIM_TIME_NEVER;
    }
}

// Makes a packet longer by `bytes` that its opcode does not have. Fill of a shortest frame makes
// room for them first.
static inline void nic__grow_frame(nic_t *nic, net_packet_t *packet, uint32_t bytes)
{
    if (SIM_UNLIKELY(nic->body_bytes != NULL)) {
        return;
    }
    if (SIM_UNLIKELY(packet->payload_bytes == 0)) {
        const uint32_t whole = nic->header_bytes + net_frame_extension_bytes(packet->opcode);
        const uint32_t fill = whole < nic->frame_bytes_min ? nic->frame_bytes_min - whole : 0;
        bytes -= SIM_MIN(fill, bytes);
    }
    net_packet_grow(&nic->host->node, packet, bytes);
}

// Gives a packet that has not left another length.
static inline void nic__resize_frame(nic_t *nic, net_packet_t *packet, uint32_t bytes)
{
    nic->host->node.tally.bytes_created += (uint64_t)bytes - packet->frame_bytes;
    packet->frame_bytes = (uint16_t)bytes;
}

// Frees a packet that reached its end.
static inline void nic__consume(nic_t *nic, net_packet_t *packet)
{
    net_packet_deliver(&nic->host->node, packet);
}
// Frees a packet that reached its end and carries no contents.
static inline void nic__consume_empty(nic_t *nic, net_packet_t *packet)
{
    net_packet_deliver_empty(&nic->host->node, packet);
}

#endif // NIC_HOST_PACKETS_H
