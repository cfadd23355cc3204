// SPDX-License-Identifier: Apache-2.0
// nic/transport/answer.c - ACKs and NAKs: how they are built, merged and held back.
//
// Requests are answered in order. An acknowledgement behind a READ waits for the READ's last
// response; at most one waits, since a later one replaces it. An ACK that waits for the port is
// updated instead of followed by another, unless congestion control wants one for each packet.
// Source: IBA vol. 1, 9.7.5.1 (AETH, MSN), 9.9.3 (responder's errors).
#include "nic/transport/responder_internal.h"

#include "nic/cc/control.h"
#include "nic/host/listen.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/path/spray.h"
#include "nic/transport/entry.h"
#include "nic/transport/finish.h"

static inline bool is_ack(uint32_t aeth)
{
    return aeth >> 29 == 0;
}

bool nic__ack_still_queued(const nic_qp_t *qp)
{
    return qp->queued_ack != NULL &&
           (int32_t)(qp->queued_ack_number - qp->nic->queue_popped[qp->queued_ack_class]) >= 0;
}

// Copies into an answer what it brings back of the packet that caused it.
static void add_feedback(nic_t *nic, net_packet_t *answer, const net_packet_t *cause)
{
    answer->becn = cause->echo_ecn && cause->ecn == NET_ECN_CE;
    if (cause->telemetry != NET_TELEMETRY_NONE) {
        nic__add_telemetry(nic, answer, (net_telemetry_t)cause->telemetry, cause);
    }
}

// Always inline, because it runs twice for each packet and its ACK.
static SIM_ALWAYS_INLINE net_packet_t *build_answer(nic_qp_t *qp, uint32_t psn, uint32_t aeth,
                                                    sim_time_t sent_ps, const net_packet_t *cause,
                                                    uint32_t extra_bytes)
{
    nic_t *const nic = qp->nic;
    // A QP that answers READs too keeps all answers in one class, which keeps their order.
    const uint8_t class = (qp->rx_flags & NIC_RX_READS) == 0 ? qp->ack_priority : qp->priority;
    const uint32_t body_bytes =
        SIM_LIKELY(nic->ack_bytes == 0) ? ROCE_AETH_BYTES : nic->ack_bytes - nic->header_bytes;
    net_packet_t *const packet =
        nic__new_packet(nic, qp, class, NET_ECN_NOT_ECT, body_bytes + extra_bytes);
    packet->opcode = ROCE_ACKNOWLEDGE;
    packet->psn = psn;
    packet->aeth = aeth;
    packet->sent_ps = sent_ps;
    // Switches must see the class it was sent in; else a pause of that class would not stop it.
    if (SIM_UNLIKELY(class != qp->priority)) {
        packet->dscp = (class * 8u) & 63u;
    }
    if (SIM_UNLIKELY(cause != NULL)) {
        add_feedback(nic, packet, cause);
    }
    if (SIM_UNLIKELY(nic->odd_answers)) {
        packet->route = qp->answer_route;
        packet->priority = nic->loop != NULL ? nic->loop->answer_queue(nic, class) : class;
        if (nic__sprays(qp)) {
            nic__spray_answer(qp, packet);
        }
        net_packet_aside(packet)->reth.address = nic__host_delay_ps(nic);
    }
    if (SIM_UNLIKELY(!is_ack(aeth))) {
        nic__trace(nic, qp, NIC_TRACE_NAK_SENT, aeth >> 24, 0);
        if (SIM_UNLIKELY(qp->ops->dress != NULL)) {
            qp->ops->dress(qp, packet);
        }
    }
    return packet;
}

net_packet_t *nic__build_answer(nic_qp_t *qp, const nic_answer_t *answer, uint32_t extra_bytes)
{
    return build_answer(qp, answer->psn, answer->aeth, answer->sent_ps, answer->cause, extra_bytes);
}

static SIM_ALWAYS_INLINE void send_any(nic_qp_t *qp, uint32_t psn, uint32_t aeth,
                                       sim_time_t sent_ps, const net_packet_t *cause)
{
    nic_t *const nic = qp->nic;
    if (is_ack(aeth) && nic__ack_still_queued(qp) && cause == NULL) {
        qp->queued_ack->psn = psn;
        qp->queued_ack->aeth = aeth;
        qp->queued_ack->sent_ps = sent_ps;
        return;
    }
    net_packet_t *const packet = build_answer(qp, psn, aeth, sent_ps, cause, 0);
    const uint8_t class = packet->priority;
    const uint32_t number = nic->queue_pushed[class];
    nic__send_answer(qp, packet);
    // An ACK does not merge with one queued before a NAK, since it must not overtake the NAK.
    const bool queued = nic->queue_pushed[class] != number && is_ack(aeth) && cause == NULL;
    qp->queued_ack = queued ? packet : NULL;
    if (SIM_UNLIKELY(queued)) {
        qp->queued_ack_number = number;
        qp->queued_ack_class = class;
    }
}

static SIM_NOINLINE void send_answer(nic_qp_t *qp, uint32_t psn, uint32_t aeth, sim_time_t sent_ps,
                                     const net_packet_t *cause)
{
    send_any(qp, psn, aeth, sent_ps, cause);
}

// Answers now, or after the READs before it. Then it carries no feedback, which would be old.
static inline void answer(nic_qp_t *qp, uint32_t psn, uint32_t aeth, sim_time_t sent_ps,
                          const net_packet_t *cause)
{
    if (SIM_UNLIKELY(qp->read_count != 0)) {
        qp->rx_flags |= NIC_RX_HELD;
        qp->held_psn = psn;
        qp->held_aeth = aeth;
        qp->held_sent_ps = sent_ps;
        return;
    }
    send_answer(qp, psn, aeth, sent_ps, cause);
}

// Returns true if a NAK of the expected PSN is held behind READs. It acknowledges all before it,
// too.
static bool gap_is_held(const nic_qp_t *qp)
{
    return (qp->rx_flags & NIC_RX_HELD) != 0 && !is_ack(qp->held_aeth) &&
           qp->held_psn == ((uint32_t)qp->expected_psn & ROCE_PSN_MASK);
}

void nic__acknowledge(nic_qp_t *qp, sim_time_t sent_ps, const net_packet_t *cause)
{
    if (SIM_UNLIKELY(qp->read_count != 0) && gap_is_held(qp)) {
        return;
    }
    const uint32_t psn = (uint32_t)(qp->expected_psn - 1) & ROCE_PSN_MASK;
    const uint32_t aeth = nic__ack_aeth(qp->msn);
    if (SIM_LIKELY(qp->read_count == 0 && cause == NULL)) {
        send_any(qp, psn, aeth, sent_ps, NULL); // little of it is left
    } else {
        answer(qp, psn, aeth, sent_ps, cause);
    }
}

void nic__refuse(nic_qp_t *qp, uint32_t syndrome, sim_time_t sent_ps, const net_packet_t *cause)
{
    const uint32_t psn = (uint32_t)qp->expected_psn & ROCE_PSN_MASK;
    answer(qp, psn, syndrome << 24 | (qp->msn & ROCE_PSN_MASK), sent_ps, cause);
}

void nic__refuse_for_good(nic_qp_t *qp, uint32_t code, sim_time_t sent_ps)
{
    nic__refuse(qp, ROCE_SYNDROME_NAK | code, sent_ps, NULL);
    qp->rx_flags |= NIC_RX_STOPPED;
}

void nic__fail_when_answered(nic_qp_t *qp)
{
    if ((qp->rx_flags & NIC_RX_STOPPED) != 0 && qp->read_count == 0) {
        nic__to_error(qp);
    }
}

void nic__reject(nic_t *nic, nic_qp_t *qp, nic_verdict_t verdict, sim_time_t sent_ps)
{
    switch (verdict) {
    case NIC_VERDICT_NOT_READY:
        nic->counters.out_of_buffer++;
        if (qp->ops->not_ready != NULL) {
            qp->ops->not_ready(qp);
        }
        nic__refuse(qp, (uint32_t)ROCE_SYNDROME_RNR_NAK | qp->min_rnr_timer, sent_ps, NULL);
        break;
    case NIC_VERDICT_LOCAL_SIZE:
    case NIC_VERDICT_OPERATION: {
        // The receive completes with an error first, then the QP fails.
        const bool size = verdict == NIC_VERDICT_LOCAL_SIZE;
        const nic_wc_t wc = {
            .wr_id = nic__oldest_receive(qp)->wr_id,
            .status = size ? NIC_WC_LOC_LEN_ERR : NIC_WC_LOC_PROT_ERR,
            .opcode = NIC_WC_RECV,
            .qp_num = qp->number,
        };
        nic->counters.resp_local_length_error += size;
        qp->rq_done++;
        nic__refuse_for_good(qp, size ? ROCE_NAK_INVALID_REQUEST : ROCE_NAK_REMOTE_OPERATION,
                             sent_ps);
        nic__write_cqe(qp, qp->recv_cq, &wc);
        break;
    }
    case NIC_VERDICT_MEMORY:
        nic__refuse_for_good(qp, ROCE_NAK_REMOTE_OPERATION, sent_ps);
        break;
    case NIC_VERDICT_ACCESS:
        nic__refuse_for_good(qp, ROCE_NAK_REMOTE_ACCESS, sent_ps);
        break;
    case NIC_VERDICT_INVALID:
    case NIC_VERDICT_OK:
        nic__refuse_for_good(qp, ROCE_NAK_INVALID_REQUEST, sent_ps);
        break;
    }
    nic__fail_when_answered(qp);
}

// Sends what waited behind READs, after their last response.
static void release_held(nic_qp_t *qp)
{
    if ((qp->rx_flags & NIC_RX_HELD) == 0) {
        return;
    }
    qp->rx_flags &= (uint8_t)~NIC_RX_HELD;
    send_answer(qp, qp->held_psn, qp->held_aeth, qp->held_sent_ps, NULL);
}

void nic__responses_sent(nic_qp_t *qp)
{
    release_held(qp);
    nic__rest(qp);
    nic__fail_when_answered(qp);
}
