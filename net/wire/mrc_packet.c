// SPDX-License-Identifier: Apache-2.0
// net/wire/mrc_packet.c - the headers of MRC that a packet has.
#include "net/packet.h"
#include "net/wire/frame_internal.h"
#include "net/wire/mrc.h"

#define STAMPS_OF_SACKS 0u // cc_type: NSCC
#define STAMPS_OF_NACKS 2u // cc_type that announces a time stamp

static uint16_t stamp_of(const net_packet_t *packet)
{
    return packet->sent_ps == SIM_TIME_NEVER ? 0 : (uint16_t)(packet->sent_ps / MRC_TIME_UNIT_PS);
}

static void fill_sack(const net_packet_t *packet, net_mrc_t *mrc)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint64_t units = aside->sack.arrived_bytes / MRC_BYTES_UNIT;
    mrc->mark = packet->becn ? MRC_MARK_SKIP_ONCE : MRC_MARK_NONE;
    mrc->probe_answer = (aside->mrc.flags & NET_MRC_PROBE_ANSWER) != 0;
    mrc->ack_offset = (int16_t)(uint16_t)(mrc->probe_answer ? aside->sack.cause_psn
                                                            : aside->sack.cause_psn - packet->psn);
    mrc->entropy = packet->udp_source_port;
    mrc->psn = packet->psn;
    mrc->cc_type = STAMPS_OF_SACKS;
    mrc->range = (uint8_t)(aside->sack.range_packets / MRC_RANGE_UNIT);
    mrc->sack_offset = (int16_t)(uint16_t)(aside->sack.base_psn - packet->psn);
    mrc->bitmap = aside->sack.bits;
    mrc->stamp = stamp_of(packet);
    mrc->ahead = (uint16_t)SIM_MIN(aside->sack.ahead_packets, 0x7fff);
    mrc->received = (uint32_t)(units & 0xffffff);
}

static void fill_nack(const net_packet_t *packet, net_mrc_t *mrc)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    mrc->reason = aside->mrc.reason;
    mrc->entropy = packet->udp_source_port;
    mrc->psn = aside->nack_psn & 0xffffff;
    mrc->cc_type = STAMPS_OF_NACKS;
    mrc->stamp = stamp_of(packet);
}

static void fill_probe(const net_packet_t *packet, net_mrc_t *mrc)
{
    mrc->probe = (uint16_t)net_packet_aside(packet)->sack.cause_psn;
    mrc->stamp = stamp_of(packet);
    mrc->stamp_format = MRC_STAMP_TIME;
}

static void fill_data(const net_packet_t *packet, net_mrc_t *mrc)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    mrc->again = (aside->mrc.flags & NET_MRC_AGAIN) != 0;
    mrc->stamped = (aside->mrc.flags & NET_MRC_STAMPED) != 0;
    mrc->message = (uint16_t)packet->aeth;
    mrc->receive_message = (uint16_t)(packet->aeth >> 16);
    if (mrc->stamped) {
        mrc->stamp = stamp_of(packet);
        mrc->stamp_format = MRC_STAMP_TIME;
    }
    if ((packet->opcode & ROCE_OPERATION_MASK) > ROCE_READ_REQUEST) {
        mrc->address = aside->atomic.address;
        mrc->rkey = aside->atomic.rkey;
        mrc->swap_add = aside->atomic.swap_add;
        mrc->compare = aside->atomic.compare;
        return;
    }
    mrc->address = aside->reth.address;
    mrc->rkey = aside->reth.rkey;
    mrc->length = aside->reth.length;
    mrc->immediate = aside->immediate;
}

void net_mrc_of_packet(const net_packet_t *packet, net_mrc_t *mrc)
{
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    *mrc = (net_mrc_t){
        .source_id = (uint16_t)net_packet_aside(packet)->mrc.qp,
        .destination_id = (uint16_t)packet->destination_qp,
    };
    if (operation == ROCE_MRC_SACK) {
        fill_sack(packet, mrc);
    } else if (operation == ROCE_MRC_NACK) {
        fill_nack(packet, mrc);
    } else if (operation == ROCE_MRC_PROBE) {
        fill_probe(packet, mrc);
    } else if (operation > ROCE_READ_REQUEST && operation <= ROCE_ATOMIC_ACKNOWLEDGE) {
        mrc->immediate = packet->aeth; // an AETH, where there is one
        mrc->compare =
            operation == ROCE_ATOMIC_ACKNOWLEDGE ? net_packet_aside(packet)->atomic_original : 0;
    } else {
        fill_data(packet, mrc);
    }
}

uint32_t net_mrc_frame_bytes(const net_packet_t *packet, bool tagged, bool ipv6)
{
    const bool stamped = (net_packet_aside(packet)->mrc.flags & NET_MRC_STAMPED) != 0;
    const uint32_t bytes = (uint32_t)NET_ETHERNET_BYTES + (tagged ? NET_VLAN_BYTES : 0u) +
                           (ipv6 ? (uint32_t)NET_IPV6_BYTES : (uint32_t)NET_IPV4_BYTES) +
                           NET_UDP_BYTES + ROCE_BTH_BYTES +
                           net_mrc_header_bytes(packet->opcode, stamped) + packet->payload_bytes +
                           net__frame_pad_bytes(packet->payload_bytes) + ROCE_ICRC_BYTES;
    return bytes < NET_FRAME_BYTES_MIN ? (uint32_t)NET_FRAME_BYTES_MIN : bytes;
}
