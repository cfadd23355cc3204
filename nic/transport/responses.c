// SPDX-License-Identifier: Apache-2.0
// nic/transport/responses.c - READs and atomics to be answered, and the packets that answer them.
//
// Source: IBA vol. 1, 9.7.4 (responder), 9.7.5.1.2 (a READ asked for again).
#include "nic/iommu.h"
#include "nic/transport/responder_internal.h"

#include "nic/cc/control.h"
#include "nic/compare_internal.h"
#include "nic/host/contents.h"
#include "nic/host/listen.h"
#include "nic/host/packet_contents.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/region.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"

// Returns true if the device decides when a READ or atomic may be answered.
static inline bool responses_wait(const nic_t *nic)
{
    return SIM_UNLIKELY(nic->detailed) && nic->device->respond != NULL;
}

nic_read_t *nic__read_at(const nic_qp_t *qp, uint32_t index)
{
    return &qp->reads[(uint32_t)(qp->read_first + index) & (qp->read_capacity - 1u)];
}

static void grow_reads(nic_qp_t *qp)
{
    const uint32_t capacity = qp->read_capacity == 0 ? 1 : qp->read_capacity * 2u;
    nic_read_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
    for (uint32_t i = 0; i < qp->read_count; i++) {
        ring[i] = *nic__read_at(qp, i);
    }
    sim_free(qp->reads);
    qp->reads = ring;
    qp->read_capacity = (uint16_t)capacity;
    qp->read_first = 0;
}

static SIM_ALWAYS_INLINE void add_read(nic_qp_t *qp, const nic_read_t *read)
{
    if (qp->read_count == qp->read_capacity) {
        grow_reads(qp);
    }
    if (qp->read_count == 0) {
        qp->read_first = 0; // the same line over and over
    }
    *nic__read_at(qp, qp->read_count) = *read;
    qp->read_count++;
    qp->rx_flags |= NIC_RX_READS;
    nic__trace(qp->nic, qp, NIC_TRACE_ANSWER, read->left_bytes, 0);
    if ((qp->flags & NIC_QP_ACTIVE) == 0) {
        nic__cc_start(qp);
    }
    if (responses_wait(qp->nic)) {
        const uint32_t bytes = read->atomic ? 8 : nic__min(read->left_bytes, qp->mtu_bytes);
        qp->nic->device->respond(qp, read->address, bytes, read->atomic && !read->retransmission);
        return;
    }
    qp->flags |= NIC_QP_READS;
    nic__schedule(qp);
}

void nic__add_read(nic_qp_t *qp, const nic_read_t *read)
{
    add_read(qp, read);
}

static inline nic_verdict_t check_read(const nic_qp_t *qp, const net_packet_t *packet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    if (qp->rx_kind != NIC_RX_NONE || qp->read_count >= qp->reads_accepted_max ||
        aside->reth.length > NIC_MESSAGE_BYTES_MAX) {
        return NIC_VERDICT_INVALID;
    }
    if ((qp->access & NIC_ACCESS_REMOTE_READ) == 0 ||
        !nic__access_ok(qp->pd, aside->reth.rkey, aside->reth.address, aside->reth.length,
                        NIC_ACCESS_REMOTE_READ)) {
        return NIC_VERDICT_ACCESS;
    }
    return SIM_UNLIKELY(qp->nic->refuses) &&
                   nic_iommu_refuses(qp->nic, aside->reth.address, aside->reth.length)
               ? NIC_VERDICT_MEMORY
               : NIC_VERDICT_OK;
}

void nic__receive_read(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const nic_verdict_t verdict = check_read(qp, packet);
    const sim_time_t sent_ps = packet->sent_ps;
    const uint32_t length = net_packet_aside(packet)->reth.length;
    const uint64_t address = net_packet_aside(packet)->reth.address;
    const uint32_t key = net_packet_aside(packet)->reth.rkey;
    nic__consume(nic, packet);
    if (verdict != NIC_VERDICT_OK) {
        nic__reject(nic, qp, verdict, sent_ps);
        return;
    }
    const nic_read_t read = {
        .next_psn = qp->expected_psn,
        .address = address,
        .left_bytes = length,
        .key = key,
        .msn = ++qp->msn,
    };
    qp->expected_psn += nic__packet_count(qp, length);
    sim_progress(nic__node(nic));
    add_read(qp, &read);
}

void nic__forget_answers(nic_qp_t *qp, uint64_t psn)
{
    while (qp->read_count > 0) {
        if (nic__read_end_psn(qp, nic__read_at(qp, qp->read_count - 1u)) <= psn) {
            break;
        }
        qp->read_count--;
    }
    if (qp->reads_ready > qp->read_count) {
        qp->reads_ready = qp->read_count;
    }
    qp->rx_flags &= (uint8_t)~NIC_RX_HELD;
}

bool nic__read_again(const nic_qp_t *qp, const net_packet_t *packet, uint64_t psn, nic_read_t *read)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t length = aside->reth.length;
    if ((qp->access & NIC_ACCESS_REMOTE_READ) == 0 || length > NIC_MESSAGE_BYTES_MAX ||
        psn + nic__packet_count(qp, length) > qp->expected_psn ||
        !nic__access_ok(qp->pd, aside->reth.rkey, aside->reth.address, length,
                        NIC_ACCESS_REMOTE_READ)) {
        return false;
    }
    *read = (nic_read_t){
        .next_psn = psn,
        .address = aside->reth.address,
        .left_bytes = length,
        .key = aside->reth.rkey,
        .msn = qp->msn,
        .retransmission = true,
    };
    return true;
}

// Answers a repeated READ, and forgets all answers after it: the requester went back to it and will
// ask for them again (9.7.5.1.2).
bool nic__repeat_read(nic_qp_t *qp, const net_packet_t *packet, uint64_t psn)
{
    nic_read_t read;
    if (!nic__read_again(qp, packet, psn, &read)) {
        return false;
    }
    nic__forget_answers(qp, psn);
    if (qp->read_count < qp->reads_accepted_max) {
        nic__add_read(qp, &read);
    }
    return true;
}

static void end_read(const nic_t *nic, nic_qp_t *qp)
{
    SIM_ASSERT(qp->read_count != 0);
    qp->read_first = (uint16_t)((qp->read_first + 1) & (qp->read_capacity - 1));
    qp->read_count--;
    qp->reads_ready = (uint16_t)(qp->reads_ready - (qp->reads_ready != 0));
    if (qp->read_count == 0 || (responses_wait(nic) && qp->reads_ready == 0)) {
        qp->flags &= (uint16_t)~NIC_QP_READS;
    }
}

static void count_repetition(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    packet->retransmission = true;
    nic->counters.retransmitted_packets++;
    qp->retransmitted_packets++;
}

static net_packet_t *build_atomic_response(nic_qp_t *qp, const nic_read_t *read)
{
    nic_t *const nic = qp->nic;
    const uint32_t bytes = (uint32_t)ROCE_AETH_BYTES + ROCE_ATOMIC_ACK_ETH_BYTES;
    net_packet_t *const packet = nic__new_packet(nic, qp, qp->priority, qp->path.ecn, bytes);
    packet->opcode = ROCE_ATOMIC_ACKNOWLEDGE;
    packet->psn = (uint32_t)read->next_psn & ROCE_PSN_MASK;
    packet->aeth = nic__ack_aeth(read->msn);
    net_packet_aside(packet)->atomic_original = read->original;
    if (read->retransmission) {
        count_repetition(nic, qp, packet);
    }
    return packet;
}

static SIM_ALWAYS_INLINE net_packet_t *build_part(nic_qp_t *qp, nic_read_t *read, bool *last)
{
    nic_t *const nic = qp->nic;
    if (SIM_UNLIKELY(read->atomic)) {
        *last = true;
        return build_atomic_response(qp, read);
    }
    const bool first = !read->started;
    *last = read->left_bytes <= qp->mtu_bytes;
    const uint32_t payload_bytes = *last ? read->left_bytes : qp->mtu_bytes;
    const uint32_t aeth_bytes = first || *last ? ROCE_AETH_BYTES : 0;
    net_packet_t *const packet = nic__new_packet(nic, qp, qp->priority, qp->path.ecn,
                                                 aeth_bytes + ((payload_bytes + 3) & ~3u));
    packet->opcode = first ? (*last ? ROCE_READ_RESPONSE_ONLY : ROCE_READ_RESPONSE_FIRST)
                           : (*last ? ROCE_READ_RESPONSE_LAST : ROCE_READ_RESPONSE_MIDDLE);
    if (SIM_UNLIKELY(nic->odd_answers)) {
        packet->route = qp->answer_route;
    }
    packet->payload_bytes = (uint16_t)payload_bytes;
    packet->psn = (uint32_t)read->next_psn & ROCE_PSN_MASK;
    packet->aeth = nic__ack_aeth(read->msn);
    if (read->retransmission) {
        count_repetition(nic, qp, packet);
    }
    if (SIM_UNLIKELY(nic->contents)) {
        nic__carry(nic, packet, read->address);
    }
    read->started = true;
    read->next_psn++;
    read->address += payload_bytes;
    read->left_bytes -= payload_bytes;
    return packet;
}

net_packet_t *nic__build_part(nic_qp_t *qp, nic_read_t *read, bool *last)
{
    return build_part(qp, read, last);
}

net_packet_t *nic__build_response(nic_t *nic, nic_qp_t *qp)
{
    bool last = false;
    net_packet_t *const packet = build_part(qp, &qp->reads[qp->read_first], &last);
    if (last) {
        end_read(nic, qp);
    }
    if (SIM_UNLIKELY(qp->ops->dress != NULL)) {
        qp->ops->dress(qp, packet);
    }
    return packet;
}
