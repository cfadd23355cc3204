// SPDX-License-Identifier: Apache-2.0
// nic/transport/requester.c - the send queue: from work requests to packets.
//
// A QP has two positions in its send queue, each made of a WQE, an offset in bytes and a PSN: the
// next to be sent (sq_send, send_offset, next_psn) and the next to be acknowledged (sq_done,
// una_offset, una_psn). Going back N sets the first to the second.
// Source: IBA vol. 1, 9.7 (reliable service), 9.8.3 (UC and UD), 9.9.2 (requester).
#include "nic/host/dma.h"
#include "nic/transport/requester_internal.h"

#include "nic/cc/control.h"
#include "nic/compare_internal.h"
#include "nic/host/contents.h"
#include "nic/host/packet_contents.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/finish.h"

static inline bool is_fetch(const nic_wqe_t *wqe)
{
    return nic__is_fetch(wqe->opcode);
}

static inline bool has_immediate(const nic_wqe_t *wqe)
{
    return wqe->opcode == NIC_WR_SEND_WITH_IMM || wqe->opcode == NIC_WR_RDMA_WRITE_WITH_IMM;
}

bool nic__special_ready(const nic_qp_t *qp, const nic_wqe_t *wqe)
{
    if (qp->send_offset == 0 && (wqe->flags & NIC_SEND_FENCE) != 0 && qp->reads_outstanding != 0) {
        return false;
    }
    // Requests that began before are sent again where needed; others are held (10.3.1.5).
    if (SIM_UNLIKELY((wqe->flags & NIC_WQE_HELD) != 0) && qp->state == NIC_QPS_SQD &&
        qp->send_offset == 0 && qp->next_psn == qp->max_psn) {
        return false;
    }
    if (!is_fetch(wqe)) {
        return true;
    }
    const uint64_t outstanding = qp->next_psn - qp->una_psn;
    const uint32_t count = nic__packet_count(qp, wqe->length - qp->send_offset);
    return qp->reads_outstanding < qp->reads_max &&
           (outstanding == 0 || outstanding + count <= NIC_PSN_WINDOW);
}

bool nic__cursor_ready(const nic_qp_t *qp)
{
    return nic__new_ready(qp);
}

// -- building packets

// Reads the WQE that begins to be sent. Returns false if the program may not use its memory.
static bool nic__fetch_wqe(nic_qp_t *qp, nic_wqe_t *wqe)
{
    wqe->end_psn = (uint32_t)qp->next_psn + nic__packet_count(qp, wqe->length);
    if ((wqe->flags & NIC_SEND_INLINE) != 0 && !is_fetch(wqe)) {
        return true;
    }
    const nic_place_t place = nic__wqe_place(wqe);
    return nic__place_ok(qp->pd, &place, wqe->length, is_fetch(wqe) ? NIC_ACCESS_LOCAL_WRITE : 0) &&
           !(SIM_UNLIKELY(qp->nic->refuses) &&
             nic__iommu_refuses_place(qp->nic, &place, wqe->length));
}

void nic__stop_send_queue(nic_qp_t *qp, nic_wc_status_t status)
{
    qp->flags |= NIC_QP_SQ_STOPPED;
    qp->stopped_status = (uint8_t)status;
    if (qp->sq_done == qp->sq_send) {
        nic__fail_request(qp, status);
    } else if ((qp->flags & NIC_QP_READS) == 0) {
        nic__unschedule(qp);
    }
}

static inline void note_sent(nic_t *nic, nic_qp_t *qp, uint64_t end_psn)
{
    const bool first = qp->next_psn == qp->una_psn;
    qp->next_psn = end_psn;
    if (end_psn > qp->max_psn) {
        qp->max_psn = end_psn;
    }
    if (first) {
        sim_node_t *const node = nic__node(nic);
        qp->retry_base_ps = node->now_ps;
        if (!sim_timer_armed(&qp->retry_timer) && qp->timeout != 0) {
            sim_timer_arm(node, &qp->retry_timer, node->now_ps + nic__timeout_ps(qp));
        }
    }
}

static inline void count_retransmission(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    if (SIM_UNLIKELY(qp->next_psn < qp->max_psn)) {
        nic__sent_again(packet, nic__cc_const(qp)->ops->stamps_packets);
        nic->counters.retransmitted_packets++;
        qp->retransmitted_packets++;
    }
}

// Builds a READ request. It asks for everything from send_offset on, and takes the PSNs of all its
// responses.
static net_packet_t *build_read(nic_t *nic, nic_qp_t *qp, const nic_wqe_t *wqe, uint32_t offset)
{
    net_packet_t *const packet =
        nic__new_packet(nic, qp, qp->priority, qp->path.ecn, ROCE_RETH_BYTES);
    packet->opcode = ROCE_READ_REQUEST;
    nic__set_reth(packet, wqe, offset);
    return packet;
}

static net_packet_t *build_atomic(nic_t *nic, nic_qp_t *qp, const nic_wqe_t *wqe, uint32_t index)
{
    const nic_wqe_more_t *const operands = &qp->sq_more[index & qp->sq_mask];
    const bool swap = wqe->opcode == NIC_WR_ATOMIC_CMP_AND_SWP;
    net_packet_t *const packet =
        nic__new_packet(nic, qp, qp->priority, qp->path.ecn, ROCE_ATOMIC_ETH_BYTES);
    packet->opcode = swap ? ROCE_COMPARE_SWAP : ROCE_FETCH_ADD;
    net_packet_aside_t *const aside = net_packet_aside(packet);
    aside->atomic.address = wqe->remote_address;
    aside->atomic.rkey = wqe->rkey;
    aside->atomic.swap_add = swap ? operands->swap : operands->compare_add;
    aside->atomic.compare = swap ? operands->compare_add : 0;
    return packet;
}

// Moves the position past a request that is answered with data, and past the PSNs of its responses.
static net_packet_t *build_fetch(nic_t *nic, nic_qp_t *qp, const nic_wqe_t *wqe)
{
    net_packet_t *const packet = nic__is_atomic(wqe->opcode)
                                     ? build_atomic(nic, qp, wqe, qp->sq_send)
                                     : build_read(nic, qp, wqe, qp->send_offset);
    packet->psn = (uint32_t)qp->next_psn & ROCE_PSN_MASK;
    count_retransmission(nic, qp, packet);
    note_sent(nic, qp, nic__wqe_end(wqe, qp->next_psn));
    qp->reads_outstanding++;
    qp->sq_send++;
    qp->send_offset = 0;
    return packet;
}

// Returns true if the packet asks for an ACK (AckReq): the last of a message, one in ack_interval,
// and one that closes the window, which only an ACK opens again.
static inline bool wants_ack(const nic_t *nic, nic_qp_t *qp, bool last, uint32_t payload_bytes)
{
    if (last || --qp->ack_countdown == 0 ||
        qp->in_flight_bytes + payload_bytes + qp->mtu_bytes > qp->window_bytes ||
        qp->next_psn + 1 - qp->una_psn >= NIC_PSN_WINDOW) {
        qp->ack_countdown = nic->ack_interval;
        return true;
    }
    return false;
}

static void address_datagram(nic_t *nic, nic_qp_t *qp, const nic_wqe_t *wqe)
{
    const uint32_t destination = (uint32_t)(wqe->remote_address >> 32);
    if (destination != qp->path.destination) {
        qp->path.destination = destination;
        qp->path.flow_hash = net_flow_hash(nic->host->node.net, nic->interface, destination,
                                           qp->path.udp_source_port);
    }
    qp->path.destination_qp = (uint32_t)wqe->remote_address & ROCE_QPN_MASK;
}

static inline uint32_t extension_bytes(const nic_qp_t *qp, const nic_wqe_t *wqe, bool first,
                                       bool last)
{
    return (qp->transport == ROCE_UD ? (uint32_t)ROCE_DETH_BYTES : 0) +
           (first && nic__is_write(wqe) ? (uint32_t)ROCE_RETH_BYTES : 0) +
           (last && has_immediate(wqe) ? (uint32_t)ROCE_IMMDT_BYTES : 0);
}

static void set_extensions(net_packet_t *packet, const nic_qp_t *qp, const nic_wqe_t *wqe)
{
    net_packet_aside_t *const aside = net_packet_aside(packet);
    if (qp->transport == ROCE_UD) {
        aside->deth.qkey = wqe->rkey;
        aside->deth.source_qp = qp->number;
    } else {
        nic__set_reth(packet, wqe, 0);
    }
    aside->immediate = wqe->immediate;
}

// SEND and WRITE opcodes come in the same order: FIRST, MIDDLE, LAST, LAST+IMM, ONLY, ONLY+IMM.
static inline uint8_t opcode_of(const nic_qp_t *qp, const nic_wqe_t *wqe, bool first, bool last)
{
    const uint32_t base = nic__is_write(wqe) ? ROCE_WRITE_FIRST : ROCE_SEND_FIRST;
    const uint32_t position = first ? (last ? ROCE_SEND_ONLY : ROCE_SEND_FIRST)
                                    : (last ? ROCE_SEND_LAST : ROCE_SEND_MIDDLE);
    return (uint8_t)(qp->transport + base + position + (last && has_immediate(wqe)));
}

// Writes into the packet how the algorithm wants it to be answered.
static void ask_for_feedback(nic_t *nic, const nic_qp_t *qp, net_packet_t *packet, uint32_t offset)
{
    const nic_cc_t *const cc = nic__cc_const(qp);
    // A window that follows the rate may shrink and close behind any packet.
    packet->ack_request |= cc->acks_every_packet || cc->bdp_window == NIC_BDP_WINDOW_SCALED;
    packet->acked_alone = cc->acks_every_packet;
    const nic_config_t *const config = nic->host->config;
    const uint64_t end_bytes = (uint64_t)offset + packet->payload_bytes;
    if (SIM_UNLIKELY(end_bytes < config->ack_from_bytes)) {
        const uint64_t chunk_bytes = config->ack_chunk_bytes;
        packet->ack_request = chunk_bytes != 0 && end_bytes % chunk_bytes == 0;
    }
    packet->echo_ecn = cc->echoes_ecn;
    if (cc->ops->telemetry != NET_TELEMETRY_NONE) {
        nic__add_telemetry(nic, packet, cc->ops->telemetry, NULL);
    }
}

// The part of a work request that one packet carries.
typedef struct piece {
    const nic_wqe_t *wqe;
    uint32_t index; // number of the packet within the work request
    uint32_t offset;
    uint32_t bytes;
    bool last;
} piece_t;

static inline piece_t piece_of(const nic_qp_t *qp, const nic_wqe_t *wqe, uint32_t index,
                               uint32_t offset)
{
    const uint32_t left_bytes = wqe->length - offset;
    const bool last = left_bytes <= qp->mtu_bytes;
    return (piece_t){wqe, index, offset, last ? left_bytes : qp->mtu_bytes, last};
}

// Builds a packet of a SEND or WRITE, without what its ACK needs.
static SIM_ALWAYS_INLINE net_packet_t *build_data(nic_t *nic, nic_qp_t *qp, const piece_t *piece,
                                                  bool first, bool last)
{
    const nic_wqe_t *const wqe = piece->wqe;
    const uint32_t payload_bytes = piece->bytes;
    const uint32_t extensions = first || last ? extension_bytes(qp, wqe, first, last) : 0;
    net_packet_t *const packet = nic__new_packet(nic, qp, qp->priority, qp->path.ecn,
                                                 nic__body_bytes(nic, extensions, payload_bytes));
    packet->opcode = opcode_of(qp, wqe, first, last);
    packet->payload_bytes = (uint16_t)payload_bytes;
    packet->psn = (uint32_t)qp->next_psn & ROCE_PSN_MASK;
    packet->solicited = last && (wqe->flags & NIC_SEND_SOLICITED) != 0;
    if (extensions != 0) {
        set_extensions(packet, qp, wqe);
    }
    if (SIM_UNLIKELY(nic->contents)) {
        nic__carry_request(qp, piece->index, piece->offset, packet);
    }
    return packet;
}

// Gives a packet of a WRITE, `offset` bytes into it, a RETH of its own if it has none.
static inline void address(nic_t *nic, net_packet_t *packet, const nic_wqe_t *wqe, uint32_t offset)
{
    if (!nic__is_write(wqe)) {
        return;
    }
    if (offset != 0) {
        nic__grow_frame(nic, packet, ROCE_RETH_BYTES);
    }
    nic__set_reth(packet, wqe, offset);
    packet->addressed = true;
}

// `addressed`: each packet of a WRITE gets a RETH of its own.
static SIM_ALWAYS_INLINE net_packet_t *cursor_packet(nic_t *nic, nic_qp_t *qp, const bool addressed)
{
    SIM_ASSERT(nic__cursor_ready(qp));
    const uint32_t index = qp->sq_send;
    nic_wqe_t *const wqe = nic__wqe(qp, index);
    const uint32_t offset = qp->send_offset;
    const bool first = offset == 0;
    if (first) {
        if (SIM_UNLIKELY(qp->ops->allows != NULL) &&
            !qp->ops->allows(nic_transport_of_const(qp)->config, wqe->opcode)) {
            nic__stop_send_queue(qp, NIC_WC_LOC_QP_OP_ERR);
            return NULL;
        }
        if (SIM_UNLIKELY(!nic__fetch_wqe(qp, wqe))) {
            nic__stop_send_queue(qp, NIC_WC_LOC_PROT_ERR);
            return NULL;
        }
        if (qp->transport == ROCE_UD) {
            address_datagram(nic, qp, wqe);
        }
    }
    if (SIM_UNLIKELY(is_fetch(wqe))) {
        return build_fetch(nic, qp, wqe);
    }
    const piece_t piece = piece_of(qp, wqe, index, offset);
    const bool last = piece.last;
    const uint32_t payload_bytes = piece.bytes;
    // Most packets are the middle of a message and carry only data.
    net_packet_t *const packet = SIM_LIKELY(!first && !last)
                                     ? build_data(nic, qp, &piece, false, false)
                                     : build_data(nic, qp, &piece, first, last);
    if (SIM_LIKELY((qp->flags & NIC_QP_UNRELIABLE) == 0)) {
        count_retransmission(nic, qp, packet);
        packet->ack_request = wants_ack(nic, qp, last, payload_bytes);
        if (SIM_UNLIKELY((qp->flags & NIC_QP_FEEDBACK) != 0)) {
            ask_for_feedback(nic, qp, packet, offset);
        }
        qp->in_flight_bytes += payload_bytes;
        note_sent(nic, qp, qp->next_psn + 1);
    } else {
        qp->next_psn++;
        qp->max_psn = qp->una_psn = qp->next_psn;
    }
    qp->send_offset = last ? 0 : offset + payload_bytes;
    qp->sq_send = index + last;
    if (addressed) {
        address(nic, packet, wqe, offset);
    }
    return packet;
}

net_packet_t *nic__cursor_packet(nic_t *nic, nic_qp_t *qp)
{
    return cursor_packet(nic, qp, false);
}

net_packet_t *nic__cursor_addressed(nic_t *nic, nic_qp_t *qp)
{
    return cursor_packet(nic, qp, true);
}

// -- retransmission

uint32_t nic__find_wqe(const nic_qp_t *qp, uint64_t psn, uint64_t *first_psn)
{
    uint32_t low = qp->sq_done;
    uint32_t high = qp->sq_send + (qp->send_offset != 0);
    SIM_CHECK(low != high);
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        // Ends before the middle's: the one before it ends where it begins.
        if (psn < nic__wqe_end(nic__wqe(qp, middle - 1), psn)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    const nic_wqe_t *const wqe = nic__wqe(qp, low);
    *first_psn = nic__wqe_end(wqe, psn) - nic__packet_count(qp, wqe->length);
    return low;
}

static net_packet_t *repeat_data(nic_t *nic, nic_qp_t *qp, uint32_t index, uint32_t offset)
{
    const piece_t piece = piece_of(qp, nic__wqe(qp, index), index, offset);
    net_packet_t *const packet = build_data(nic, qp, &piece, offset == 0, piece.last);
    packet->ack_request = true;
    if ((qp->flags & NIC_QP_FEEDBACK) != 0) {
        ask_for_feedback(nic, qp, packet, offset);
    }
    return packet;
}

net_packet_t *nic_transport_repeat_packet(nic_qp_t *qp, uint64_t psn, uint32_t flags)
{
    SIM_CHECK(psn >= qp->una_psn && psn < qp->next_psn);
    nic_t *const nic = qp->nic;
    uint64_t first_psn = 0;
    const uint32_t index = nic__find_wqe(qp, psn, &first_psn);
    const nic_wqe_t *const wqe = nic__wqe(qp, index);
    const uint32_t offset = (uint32_t)(psn - first_psn) * qp->mtu_bytes;
    net_packet_t *packet = NULL;
    if (nic__is_atomic(wqe->opcode)) {
        packet = build_atomic(nic, qp, wqe, index);
    } else if (is_fetch(wqe)) {
        packet = build_read(nic, qp, wqe, offset);
    } else {
        packet = repeat_data(nic, qp, index, offset);
        if ((flags & NIC_PACKET_ADDRESSED) != 0) {
            address(nic, packet, wqe, offset);
        }
    }
    packet->psn = (uint32_t)psn & ROCE_PSN_MASK;
    nic__sent_again(packet, nic__cc_const(qp)->ops->stamps_packets);
    nic->counters.retransmitted_packets++;
    qp->retransmitted_packets++;
    return packet;
}
