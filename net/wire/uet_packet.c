// SPDX-License-Identifier: Apache-2.0
// net/wire/uet_packet.c - the headers of Ultra Ethernet that a packet has.
//
// The simulator's queue pair is a PDC in each direction: its number is the PDC's identifier (16
// bits), and in full PIDonFEP and resource index (12 bits each).
#include <string.h>

#include "kernel/bytes.h"
#include "net/packet.h"
#include "net/wire/uet.h"

#define BYTES_UNIT 256u  // of received bytes in an ACK
#define CREDIT_UNIT 256u // of credit

static bool is_first(uint32_t operation)
{
    return operation == ROCE_SEND_FIRST || operation == ROCE_SEND_ONLY ||
           operation == ROCE_SEND_ONLY_IMM || operation == ROCE_WRITE_FIRST ||
           operation == ROCE_WRITE_ONLY || operation == ROCE_WRITE_ONLY_IMM;
}

static bool is_last(uint32_t operation)
{
    return operation != ROCE_SEND_FIRST && operation != ROCE_SEND_MIDDLE &&
           operation != ROCE_WRITE_FIRST && operation != ROCE_WRITE_MIDDLE;
}

static void fill_ack(const net_packet_t *packet, net_uet_t *uet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    uet->flags = packet->becn ? UET_FLAG_MARKED : 0;
    uet->psn = packet->psn;
    if (packet->aeth >> 29 != 0) {
        const bool told = packet->addressed; // else the request could not be executed
        uet->type = UET_NACK;
        uet->psn = told ? aside->nack_psn : packet->psn;
        uet->offset = (uint16_t)((told ? aside->uet.code : (uint32_t)UET_NACK_NO_RESOURCE) << 8);
        return;
    }
    const uint64_t units = aside->sack.arrived_bytes / BYTES_UNIT;
    const uint64_t ahead = SIM_MIN(aside->sack.ahead_packets, UINT16_MAX);
    uet->type = aside->uet.ccx_bytes == 0 ? UET_ACK_CC : UET_ACK_CCX;
    uet->long_ccx = aside->uet.ccx_bytes == UET_ACK_CCX_LONG_BYTES;
    uet->next = UET_NEXT_RESPONSE;
    uet->offset = (uint16_t)(aside->sack.cause_psn - packet->psn);
    uet->sack_offset = (uint16_t)(aside->sack.base_psn - packet->psn);
    uet->sack_bitmap = aside->sack.bits;
    if (aside->sack.granted_bytes != 0) { // credit
        uet->cc_type = 1;
        uet->state[0] = (aside->sack.granted_bytes / CREDIT_UNIT & 0xffffff) << 40 | ahead;
    } else { // service time 16, restore 1, penalty 7, bytes 24, packets ahead 16
        uet->state[0] = (units & 0xffffff) << 16 | ahead;
    }
    uet->opcode = UET_SES_DEFAULT_RESPONSE;
    uet->ses_flags = UET_SES_OK;
}

static void fill_response(const net_packet_t *packet, net_uet_t *uet)
{
    uet->next = UET_NEXT_RESPONSE_DATA;
    uet->opcode = UET_SES_RESPONSE_WITH_DATA;
    uet->ses_flags = UET_SES_OK;
    uet->payload_length = packet->payload_bytes & 0xfff;
    uet->modified_length = packet->payload_bytes;
    uet->message_id = (uint16_t)packet->aeth;
    uet->read_message_id = (uint16_t)packet->aeth;
    if ((packet->opcode & ROCE_OPERATION_MASK) == ROCE_ATOMIC_ACKNOWLEDGE) {
        uet->extension_bytes = UET_SES_ORIGINAL_BYTES;
        sim_put_be64(uet->extension, net_packet_aside(packet)->atomic_original);
    }
}

static void fill_atomic(const net_packet_t *packet, net_uet_t *uet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const bool swap = (packet->opcode & ROCE_OPERATION_MASK) == ROCE_COMPARE_SWAP;
    uet->opcode = UET_SES_FETCHING_ATOMIC;
    uet->buffer_offset = aside->atomic.address;
    uet->memory_key = aside->atomic.rkey;
    uet->request_length = 8;
    uet->extension_bytes = swap ? UET_SES_SWAP_BYTES : UET_SES_ADD_BYTES;
    uet->extension[0] = swap ? UET_ATOMIC_SWAP : UET_ATOMIC_SUM;
    uet->extension[1] = UET_ATOMIC_UINT64;
    if (swap) { // values have 16 bytes
        sim_put_be64(uet->extension + 12, aside->atomic.compare);
        sim_put_be64(uet->extension + 28, aside->atomic.swap_add);
    } else {
        sim_put_be64(uet->extension + 4, aside->atomic.swap_add);
    }
}

static void fill_data(const net_packet_t *packet, net_uet_t *uet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    const bool read = operation == ROCE_READ_REQUEST;
    const bool write = operation >= ROCE_WRITE_FIRST && operation <= ROCE_WRITE_ONLY_IMM;
    const bool immediate = operation == ROCE_SEND_LAST_IMM || operation == ROCE_SEND_ONLY_IMM ||
                           operation == ROCE_WRITE_LAST_IMM || operation == ROCE_WRITE_ONLY_IMM;
    const bool first = read || is_first(operation);
    uet->opcode = read ? UET_SES_READ : write ? UET_SES_WRITE : UET_SES_SEND;
    uet->ses_flags =
        (uint8_t)((first ? UET_SES_START : 0) | (is_last(operation) ? UET_SES_END : 0) |
                  (immediate ? UET_SES_HEADER_DATA : 0));
    if (read || write) {
        uet->buffer_offset = aside->reth.address - aside->message_offset;
        uet->memory_key = aside->reth.rkey;
    }
    uet->request_length = read ? aside->reth.length : aside->message_bytes;
    if (!first) {
        uet->header_data = (uint64_t)packet->payload_bytes << 32 | aside->message_offset;
    } else if (immediate) {
        uet->header_data = aside->immediate;
    }
}

// A datagram has no PSN and no PDC. The Q_Key is the job's id, and the queue pair that sent it the
// memory key.
static void fill_datagram(const net_packet_t *packet, net_uet_t *uet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const bool immediate = (packet->opcode & ROCE_OPERATION_MASK) == (uint32_t)ROCE_SEND_ONLY_IMM;
    uet->type = UET_UUD_REQUEST;
    uet->next = UET_NEXT_STANDARD;
    uet->source_pdc = uet->destination_pdc = 0;
    uet->opcode = UET_SES_DATAGRAM_SEND;
    uet->ses_flags = (uint8_t)(UET_SES_START | UET_SES_END | (immediate ? UET_SES_HEADER_DATA : 0));
    uet->message_id = (uint16_t)packet->aeth;
    uet->job = aside->deth.qkey & 0xffffff;
    uet->memory_key = aside->deth.source_qp;
    uet->request_length = packet->payload_bytes;
    uet->header_data = immediate ? aside->immediate : 0;
}

void net_uet_of_packet(const net_packet_t *packet, net_uet_t *uet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    const uint32_t number = packet->destination_qp;
    *uet = (net_uet_t){
        .source_pdc = (uint16_t)aside->uet.pdc,
        .destination_pdc = (uint16_t)number,
        .initiator = packet->source,
        .job = 1,
        .pid_on_fep = (uint16_t)(number >> 12),
        .resource_index = number & 0xfff,
    };
    if (operation == ROCE_ACKNOWLEDGE) {
        fill_ack(packet, uet);
        return;
    }
    if (operation == ROCE_UET_PROBE || operation == ROCE_UET_CREDIT) {
        const bool credit = operation == ROCE_UET_CREDIT;
        uet->type = UET_CONTROL;
        uet->next = credit ? UET_CONTROL_CREDIT : UET_CONTROL_PROBE;
        uet->flags = credit ? 0 : UET_FLAG_ACK_REQUEST;
        uet->psn = packet->psn;
        uet->word = (uint32_t)(aside->sack.granted_bytes / CREDIT_UNIT) & 0xffffff;
        return;
    }
    if (net_packet_is_uud(packet)) {
        fill_datagram(packet, uet);
        return;
    }
    const bool rod = (aside->uet.flags & NET_UET_ORDERED) != 0;
    const bool state = (aside->uet.flags & NET_UET_STATE) != 0;
    uet->type = state ? (rod ? UET_ROD_CC_REQUEST : UET_RUD_CC_REQUEST)
                      : (rod ? UET_ROD_REQUEST : UET_RUD_REQUEST);
    uet->flags = (uint8_t)((packet->ack_request ? UET_FLAG_ACK_REQUEST : 0) |
                           ((aside->uet.flags & NET_UET_AGAIN) != 0 ? UET_FLAG_RETRANSMISSION : 0));
    if (state && operation < ROCE_READ_REQUEST) {
        uet->word = aside->credit_target / CREDIT_UNIT & 0xffffff;
    }
    uet->psn = packet->psn;
    uet->next = UET_NEXT_STANDARD;
    uet->message_id = (uint16_t)packet->aeth;
    if (operation >= ROCE_READ_RESPONSE_FIRST && operation <= ROCE_ATOMIC_ACKNOWLEDGE) {
        fill_response(packet, uet);
    } else if (operation == ROCE_COMPARE_SWAP || operation == ROCE_FETCH_ADD) {
        fill_atomic(packet, uet);
    } else {
        fill_data(packet, uet);
    }
}

uint32_t net_uet_frame_bytes(const net_packet_t *packet, bool tagged, bool ipv6)
{
    net_uet_t uet;
    net_uet_of_packet(packet, &uet);
    const uint32_t bytes = (uint32_t)NET_ETHERNET_BYTES + (tagged ? NET_VLAN_BYTES : 0u) +
                           (ipv6 ? (uint32_t)NET_IPV6_BYTES : (uint32_t)NET_IPV4_BYTES) +
                           NET_UDP_BYTES + net_uet_bytes(&uet) + packet->payload_bytes;
    return bytes < NET_FRAME_BYTES_MIN ? (uint32_t)NET_FRAME_BYTES_MIN : bytes;
}
