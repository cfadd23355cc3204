// SPDX-License-Identifier: Apache-2.0
// nic/transport/execute.c - checking and executing the next request of a reliable connection.
//
// Requests are executed in the order of their PSNs, whatever order they arrive in.
// Source: IBA vol. 1, 9.7.4 (responder), 9.9.3 (responder's errors).
#include "nic/cc/control.h"
#include "nic/host/contents.h"
#include "nic/host/dma.h"
#include "nic/host/packet_contents.h"
#include "nic/host/packets.h"
#include "nic/iommu.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/rail.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"
#include "nic/transport/finish.h"
#include "nic/transport/operation_internal.h"
#include "nic/transport/responder_internal.h"

// -- checking a request that is in order

// A message of one packet needs the places of its own bytes only, as with adapters. The length of a
// longer one is not known yet, so it needs the whole receive.
static nic_verdict_t begin_send(nic_qp_t *qp, const net_packet_t *packet, uint32_t operation)
{
    if (!nic__receive_posted(qp)) {
        return NIC_VERDICT_NOT_READY;
    }
    const nic_recv_wqe_t *const receive = nic__oldest_receive(qp);
    const nic_place_t place = nic__receive_place(receive);
    const uint64_t bytes = (operation & IS_LAST) != 0
                               ? SIM_MIN(packet->payload_bytes, receive->length)
                               : receive->length;
    if (!nic__place_ok(nic__receive_pd(qp), &place, bytes, NIC_ACCESS_LOCAL_WRITE)) {
        return NIC_VERDICT_OPERATION;
    }
    if (SIM_UNLIKELY(qp->nic->refuses) &&
        nic__iommu_refuses_place(qp->nic, &place, receive->length)) {
        return NIC_VERDICT_OPERATION;
    }
    qp->rx_bytes = 0;
    return NIC_VERDICT_OK;
}

static nic_verdict_t begin_write(nic_qp_t *qp, const net_packet_t *packet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    if (aside->reth.length > NIC_MESSAGE_BYTES_MAX) {
        return NIC_VERDICT_INVALID;
    }
    if ((qp->access & NIC_ACCESS_REMOTE_WRITE) == 0 ||
        !nic__access_ok(qp->pd, aside->reth.rkey, aside->reth.address, aside->reth.length,
                        NIC_ACCESS_REMOTE_WRITE)) {
        return NIC_VERDICT_ACCESS;
    }
    if (SIM_UNLIKELY(qp->nic->refuses) &&
        nic_iommu_refuses(qp->nic, aside->reth.address, aside->reth.length)) {
        return NIC_VERDICT_MEMORY;
    }
    qp->rx_left_bytes = aside->reth.length;
    qp->rx_address = aside->reth.address;
    qp->rx_key = aside->reth.rkey;
    qp->rx_bytes = 0;
    return NIC_VERDICT_OK;
}

// Checks the payload's size: packets are full except the last of a message, and together they have
// the announced length.
static inline nic_verdict_t check_payload(const nic_qp_t *qp, const net_packet_t *packet,
                                          uint32_t operation)
{
    const uint32_t bytes = packet->payload_bytes;
    if ((operation & IS_LAST) == 0
            ? bytes != qp->rx_mtu_bytes
            : bytes > qp->rx_mtu_bytes || (bytes == 0 && !(operation & IS_FIRST))) {
        return NIC_VERDICT_INVALID;
    }
    if ((operation & IS_WRITE) != 0) {
        const bool fits =
            (operation & IS_LAST) != 0 ? bytes == qp->rx_left_bytes : bytes < qp->rx_left_bytes;
        return fits ? NIC_VERDICT_OK : NIC_VERDICT_INVALID;
    }
    return qp->rx_bytes + bytes <= nic__oldest_receive(qp)->length ? NIC_VERDICT_OK
                                                                   : NIC_VERDICT_LOCAL_SIZE;
}

// Returns why a packet does not continue the message before it.
static SIM_NOINLINE nic_verdict_t refuse_middle(const nic_qp_t *qp, nic_rx_kind_t kind)
{
    if (kind == NIC_RX_WRITE && qp->rx_kind == NIC_RX_REVOKED_WRITE) {
        return NIC_VERDICT_ACCESS;
    }
    return kind == NIC_RX_SEND && qp->rx_kind == NIC_RX_REVOKED_SEND ? NIC_VERDICT_OPERATION
                                                                     : NIC_VERDICT_INVALID;
}

static SIM_ALWAYS_INLINE nic_verdict_t check_request(nic_qp_t *qp, const net_packet_t *packet,
                                                     uint32_t operation)
{
    const nic_rx_kind_t kind = (operation & IS_SEND) != 0 ? NIC_RX_SEND : NIC_RX_WRITE;
    if (SIM_LIKELY((operation & IS_FIRST) == 0)) {
        if (SIM_UNLIKELY(qp->rx_kind != kind)) {
            return refuse_middle(qp, kind);
        }
    } else {
        if (qp->rx_kind != NIC_RX_NONE) {
            return NIC_VERDICT_INVALID;
        }
        const nic_verdict_t verdict =
            kind == NIC_RX_SEND ? begin_send(qp, packet, operation) : begin_write(qp, packet);
        if (verdict != NIC_VERDICT_OK) {
            return verdict;
        }
    }
    const nic_verdict_t verdict = check_payload(qp, packet, operation);
    if (verdict != NIC_VERDICT_OK) {
        return verdict;
    }
    if ((operation & (HAS_IMM | IS_WRITE)) == (HAS_IMM | IS_WRITE) && !nic__receive_posted(qp)) {
        return NIC_VERDICT_NOT_READY;
    }
    return NIC_VERDICT_OK;
}

// -- executing it

// Completes the receive of a message that has arrived whole.
static void complete_receive(nic_qp_t *qp, uint32_t operation, uint32_t immediate)
{
    const nic_recv_wqe_t receive = *nic__oldest_receive(qp);
    qp->rq_done++;
    const nic_wc_t wc = {
        .wr_id = receive.wr_id,
        .status = NIC_WC_SUCCESS,
        .opcode = (operation & IS_SEND) != 0 ? NIC_WC_RECV : NIC_WC_RECV_RDMA_WITH_IMM,
        .byte_len = qp->rx_bytes,
        .imm_data = immediate,
        .qp_num = qp->number,
        .wc_flags = nic__wc_flags(operation),
    };
    nic__write_cqe(qp, qp->recv_cq, &wc);
    if (SIM_UNLIKELY(qp->nic->rail != NULL)) {
        nic__rail_received(qp, &wc);
    }
}

// Flags of execute(): the payload is in memory already; the transport acknowledges itself. Each
// form of execute() inlines what it calls, so that it is one leaf function.
enum { PLACED = 1, SILENT = 2 };

static SIM_ALWAYS_INLINE void receive_message(nic_t *nic, nic_qp_t *qp, net_packet_t *packet,
                                              uint32_t operation, uint32_t how)
{
    // Values that are needed after the packet is freed.
    const bool ack_request = packet->ack_request && (how & SILENT) == 0;
    const sim_time_t sent_ps = packet->sent_ps;
    const uint32_t bytes = packet->payload_bytes;
    const uint32_t immediate = (operation & HAS_IMM) != 0 ? net_packet_aside(packet)->immediate : 0;

    const nic_verdict_t verdict = check_request(qp, packet, operation);
    if ((how & PLACED) == 0 && nic__keeps(nic, packet)) {
        const bool send = (operation & IS_SEND) != 0;
        nic__take_contents(qp, packet, send ? NIC_RX_SEND : NIC_RX_WRITE,
                           verdict == NIC_VERDICT_OK);
    }
    // The packet is freed here, unless the ACK needs something from it.
    const bool needed = ack_request && verdict == NIC_VERDICT_OK && nic__wants_feedback(packet);
    if (SIM_LIKELY(!needed)) {
        nic__consume_empty(nic, packet);
    }
    if (SIM_UNLIKELY(verdict != NIC_VERDICT_OK)) {
        nic__reject(nic, qp, verdict, sent_ps);
        return;
    }
    const bool last = (operation & IS_LAST) != 0;
    if ((how & PLACED) == 0) {
        nic__write_payload(nic, bytes);
    }
    sim_progress(nic__node(nic));
    qp->rx_left_bytes -= bytes;
    qp->rx_bytes += bytes;
    qp->rx_kind = last ? NIC_RX_NONE : ((operation & IS_SEND) != 0 ? NIC_RX_SEND : NIC_RX_WRITE);
    qp->expected_psn++;
    qp->msn += last;
    if (SIM_UNLIKELY(needed)) {
        nic__acknowledge(qp, sent_ps, packet);
        nic__consume_empty(nic, packet);
    } else if (ack_request) {
        nic__acknowledge(qp, sent_ps, NULL);
    }
    if (last && (operation & (IS_SEND | HAS_IMM)) != 0) {
        complete_receive(qp, operation, immediate);
    } else if (last && qp->on_write != NULL) {
        nic__tell_write(qp);
        if (SIM_UNLIKELY(nic->rail != NULL)) {
            nic__rail_written(qp);
        }
    }
}

static SIM_ALWAYS_INLINE void execute(nic_t *nic, nic_qp_t *qp, net_packet_t *packet, uint32_t how)
{
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK];
    if (SIM_LIKELY(operation == IS_WRITE)) { // the middle of one: most of what is asked goes away
        receive_message(nic, qp, packet, IS_WRITE, how);
    } else if (SIM_LIKELY((operation & (IS_SEND | IS_WRITE)) != 0)) {
        receive_message(nic, qp, packet, operation | (packet->solicited ? SOLICITED : 0u), how);
    } else if (SIM_UNLIKELY((operation & IS_ATOMIC) != 0)) {
        nic__receive_atomic(nic, qp, packet);
    } else if (operation != 0) {
        nic__receive_read(nic, qp, packet);
    } else {
        nic__consume(nic, packet);
        nic__refuse_for_good(qp, ROCE_NAK_INVALID_REQUEST, 0);
        nic__fail_when_answered(qp);
    }
}

void nic__execute_other(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    execute(nic, qp, packet, 0);
}

void nic__execute_silently(nic_t *nic, nic_qp_t *qp, net_packet_t *packet, bool placed)
{
    execute(nic, qp, packet, placed ? SILENT | PLACED : SILENT);
}
