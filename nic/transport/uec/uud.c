// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/uud.c - UUD, the unreliable and unordered datagrams of Ultra Ethernet: what UD
// queue pairs are on NICs whose transport is of Ultra Ethernet.
//
// A datagram has a PDS header of 4 bytes without a PSN, and an entropy value of its own. Nobody
// acknowledges or repeats it, and no control bounds it. One that a switch trimmed is lost. Source:
// Ultra Ethernet Specification 1.0, packet delivery sublayer (3.5). Page: docs/models/uec.md.
#include "nic/extra.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/entry.h"
#include "nic/transport/requester_internal.h"
#include "nic/transport/responder_internal.h"
#include "nic/transport/uec/uec.h"

#include "net/wire/uet.h"

// Returns the entropy value of a datagram: all of nic.uec.paths in turn.
static uint32_t entropy_of(const nic_t *nic, const net_packet_t *packet)
{
    const nic_uec_config_t *const config = nic_config_part(nic->host->config, &nic__uec_attrs);
    return config->spray == NIC_UEC_ONE ? 0 : packet->psn % (uint32_t)config->paths;
}

static net_packet_t *next_datagram(nic_t *nic, nic_qp_t *qp)
{
    net_packet_t *const packet = nic__cursor_packet(nic, qp);
    if (packet == NULL) {
        return NULL;
    }
    const net_config_t *const network = net_get_config(nic->host->node.net);
    net_packet_aside_t *const aside = net_packet_aside(packet);
    aside->uet.pdc = qp->number;
    aside->uet.flags = NET_UET_DATAGRAM;
    aside->message_bytes = packet->payload_bytes;
    aside->message_offset = 0;
    packet->aeth = packet->psn & UINT16_MAX; // the message's id
    packet->udp_source_port = nic__entropy_port(qp, entropy_of(nic, packet));
    packet->flow_hash = net_flow_hash(nic->host->node.net, packet->source, packet->destination,
                                      packet->udp_source_port);
    packet->route = 0; // switches look up the port of each packet
    packet->opcode = (uint8_t)((packet->opcode & ROCE_OPERATION_MASK) | ROCE_UET);
    if (nic->body_bytes == NULL && nic->ack_bytes == 0) {
        nic__resize_frame(nic, packet, net_uet_frame_bytes(packet, network->tagged, network->ipv6));
    }
    return packet;
}

static void take_datagram(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    if (net_packet_trimmed(net_get_config(nic->host->node.net), packet)) {
        nic_transport_consume(qp, packet);
        return;
    }
    nic__receive_datagram(nic, qp, packet);
}

const nic_transport_ops_t nic__transport_uud = {
    .name = "uec-uud",
    .wire = ROCE_UET,
    .ready = nic__cursor_ready,
    .next_packet = next_datagram,
    .request = take_datagram,
};
