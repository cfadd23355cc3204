// SPDX-License-Identifier: Apache-2.0
// nic/transport/unreliable.c - receiving UC and UD, without answers: bad packets are dropped.
// docs/models/nic-ideal.md
//
// UC delivers whole messages only: a PSN that is not the expected one ends the message being
// received, and the next FIRST or ONLY starts over from its PSN (IBA vol. 1, 9.8.2). The receive of
// an unfinished message serves the next one. UD checks its Q_Key (9.8.3); immediate data and
// source come with the completion, and the 40 bytes of the GRH for queue pairs that want them.
#include "nic/host/contents.h"
#include "nic/host/packet_contents.h"
#include "nic/host/packets.h"
#include "nic/iommu.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"
#include "nic/transport/entry.h"
#include "nic/transport/finish.h"
#include "nic/transport/operation_internal.h"
#include "nic/transport/requester_internal.h"

#include <string.h>

static const nic_recv_wqe_t *posted_receive(nic_t *nic, nic_qp_t *qp)
{
    if (!nic__receive_posted(qp)) {
        nic->counters.out_of_buffer++;
        return NULL;
    }
    return nic__oldest_receive(qp);
}

static void deliver(nic_qp_t *qp, const nic_wc_t *wc)
{
    const uint64_t wr_id = nic__oldest_receive(qp)->wr_id;
    nic_wc_t complete = *wc;
    complete.wr_id = wr_id;
    complete.qp_num = qp->number;
    qp->rq_done++;
    nic__write_cqe(qp, qp->recv_cq, &complete);
}

static bool receive_usable(nic_t *nic, nic_qp_t *qp, uint32_t bytes)
{
    const nic_recv_wqe_t *const receive = posted_receive(nic, qp);
    if (receive == NULL) {
        return false;
    }
    if (bytes > receive->length) {
        nic->counters.resp_local_length_error++;
        return false;
    }
    const nic_place_t place = nic__receive_place(receive);
    return nic__place_ok(nic__receive_pd(qp), &place, bytes, NIC_ACCESS_LOCAL_WRITE);
}

// -- UC

static bool begin_message(nic_qp_t *qp, const net_packet_t *packet, uint32_t operation)
{
    qp->rx_bytes = 0;
    if ((operation & IS_SEND) != 0) {
        return true;
    }
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    qp->rx_left_bytes = aside->reth.length;
    qp->rx_address = aside->reth.address;
    qp->rx_key = aside->reth.rkey;
    return (qp->access & NIC_ACCESS_REMOTE_WRITE) != 0 &&
           nic__access_ok(qp->pd, aside->reth.rkey, aside->reth.address, aside->reth.length,
                          NIC_ACCESS_REMOTE_WRITE) &&
           !(SIM_UNLIKELY(qp->nic->refuses) &&
             nic_iommu_refuses(qp->nic, aside->reth.address, aside->reth.length));
}

// Returns true if a packet fits into the message that it continues or starts.
static bool accept_packet(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet, uint32_t operation)
{
    const uint32_t bytes = packet->payload_bytes;
    const bool last = (operation & IS_LAST) != 0;
    if (last ? bytes > qp->rx_mtu_bytes : bytes != qp->rx_mtu_bytes) {
        return false;
    }
    if ((operation & IS_FIRST) != 0 && !begin_message(qp, packet, operation)) {
        return false;
    }
    if ((operation & IS_SEND) != 0) {
        return receive_usable(nic, qp, qp->rx_bytes + bytes);
    }
    if (last ? bytes != qp->rx_left_bytes : bytes >= qp->rx_left_bytes) {
        return false;
    }
    return !last || (operation & HAS_IMM) == 0 || posted_receive(nic, qp) != NULL;
}

static void receive_unreliable(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK] |
                               (packet->solicited ? SOLICITED : 0u);
    const int64_t distance = nic__psn_distance(packet->psn, qp->expected_psn);
    const nic_rx_kind_t kind = (operation & IS_SEND) != 0 ? NIC_RX_SEND : NIC_RX_WRITE;
    nic->counters.out_of_sequence += distance > 0;
    nic->counters.duplicate_request += distance < 0;
    // A packet out of sequence, or a FIRST too early, ends the message before it.
    const bool starts = (operation & IS_FIRST) != 0;
    const bool continues = distance == 0 && qp->rx_kind == kind;
    const bool wanted = (operation & (IS_SEND | IS_WRITE)) != 0 && (starts || continues) &&
                        accept_packet(nic, qp, packet, operation);
    const uint32_t bytes = packet->payload_bytes;
    const uint32_t immediate = (operation & HAS_IMM) != 0 ? net_packet_aside(packet)->immediate : 0;
    qp->expected_psn += (uint64_t)distance + 1;
    if (wanted && nic__keeps(nic, packet)) {
        const nic_place_t place = nic__rx_place(qp, kind);
        nic__keep(nic, packet, &place, qp->rx_bytes);
    }
    nic__consume(nic, packet);
    if (!wanted) {
        qp->rx_kind = NIC_RX_NONE;
        return;
    }
    const bool last = (operation & IS_LAST) != 0;
    nic__write_payload(nic, bytes);
    sim_progress(nic__node(nic));
    qp->rx_bytes += bytes;
    qp->rx_left_bytes -= bytes;
    qp->rx_kind = last ? NIC_RX_NONE : (uint8_t)kind;
    if (last && (operation & (IS_SEND | HAS_IMM)) != 0) {
        const nic_wc_t wc = {
            .status = NIC_WC_SUCCESS,
            .opcode = (operation & IS_SEND) != 0 ? NIC_WC_RECV : NIC_WC_RECV_RDMA_WITH_IMM,
            .byte_len = qp->rx_bytes,
            .imm_data = immediate,
            .wc_flags = nic__wc_flags(operation),
        };
        deliver(qp, &wc);
    } else if (last && qp->on_write != NULL) {
        nic__tell_write(qp);
    }
}

// -- UD

#define GRH_BYTES 40u

// Writes what a program sees of a datagram's header: an IPv6 header, or an IPv4 header in the last
// 20 bytes (annex A17).
static void write_header(nic_t *nic, const nic_qp_t *qp, const net_packet_t *packet)
{
    const net_t *const net = nic->host->node.net;
    const nic_place_t place = nic__rx_place(qp, NIC_RX_SEND);
    uint8_t header[GRH_BYTES] = {0};
    uint8_t source[16];
    uint8_t own[16];
    net_interface_ip(net, packet->source, source);
    net_interface_ip(net, nic->interface, own);
    if (net_get_config(net)->ipv6) {
        header[0] = 0x60;
        memcpy(header + 8, source, 16);
        memcpy(header + 24, own, 16);
    } else {
        header[20] = 0x45; // version and length of the header
        header[29] = 17;   // UDP
        memcpy(header + 32, source, 4);
        memcpy(header + 36, own, 4);
    }
    for (uint32_t done = 0; done < GRH_BYTES;) {
        const nic_sge_t piece = nic__first_piece(&place, done, GRH_BYTES - done);
        nic_memory_write(&nic->host->memory, piece.addr, header + done, piece.length);
        done += (uint32_t)piece.length;
    }
}

void nic__receive_datagram(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK] |
                               (packet->solicited ? SOLICITED : 0u);
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t whole = IS_SEND | IS_FIRST | IS_LAST;
    const uint32_t header_bytes = (qp->rx_flags & NIC_RX_GRH) != 0 ? GRH_BYTES : 0;
    const bool wanted = (operation & whole) == whole && aside->deth.qkey == qp->qkey &&
                        packet->payload_bytes <= qp->rx_mtu_bytes &&
                        receive_usable(nic, qp, header_bytes + packet->payload_bytes);
    const nic_wc_t wc = {
        .status = NIC_WC_SUCCESS,
        .opcode = NIC_WC_RECV,
        .byte_len = header_bytes + packet->payload_bytes,
        .imm_data = (operation & HAS_IMM) != 0 ? aside->immediate : 0,
        .src_qp = aside->deth.source_qp,
        .src_interface = packet->source,
        .wc_flags = nic__wc_flags(operation) | ((qp->rx_flags & NIC_RX_GRH) != 0 ? NIC_WC_GRH : 0u),
    };
    if (wanted && nic__keeps(nic, packet)) {
        const nic_place_t place = nic__rx_place(qp, NIC_RX_SEND);
        nic__keep(nic, packet, &place, header_bytes);
    }
    if (wanted && header_bytes != 0) {
        write_header(nic, qp, packet);
    }
    nic__consume(nic, packet);
    if (wanted) {
        nic__write_payload(nic, wc.byte_len - header_bytes);
        sim_progress(nic__node(nic));
        deliver(qp, &wc);
    }
}

const nic_transport_ops_t nic__transport_uc = {
    .name = "uc",
    .ready = nic__cursor_ready,
    .next_packet = nic__cursor_packet,
    .request = receive_unreliable,
};

const nic_transport_ops_t nic__transport_ud = {
    .name = "ud",
    .ready = nic__cursor_ready,
    .next_packet = nic__cursor_packet,
    .request = nic__receive_datagram,
};
