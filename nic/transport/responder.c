// SPDX-License-Identifier: Apache-2.0
// nic/transport/responder.c - the receiving side of a reliable connection: requests in, ACKs and
// data out.
//
// Requests are executed in the order of their PSNs and answered in that order too. READs are
// answered at the pace the port and the QP's rate allow, so what follows a READ waits for its last
// response: at most one acknowledgement does, because a later one says all an earlier one did.
// Likewise an ACK that waits for the port is brought up to date rather than followed by another,
// unless the sender's congestion control wants one for each packet.
// Source: IBA vol. 1, 9.7.4 (responder), 9.7.5.1 (AETH, MSN), 9.9.3 (responder's errors).
#include "nic/nic_internal.h"
#include "nic/schedule/scan.h"
#include "nic/transport/operation_internal.h"

// -- answers

static inline uint32_t ack_aeth(uint32_t msn)
{
    return (uint32_t)(ROCE_SYNDROME_ACK | ROCE_CREDITS_NOT_USED) << 24 | (msn & ROCE_PSN_MASK);
}

static inline bool is_ack(uint32_t aeth)
{
    return aeth >> 29 == 0;
}

bool nic__ack_still_queued(const nic_qp_t *qp)
{
    return qp->queued_ack != NULL &&
           qp->queued_ack_number >= qp->nic->queue_popped[qp->queued_ack_class];
}

// What an answer brings back of the packet that caused it.
static void add_feedback(nic_t *nic, net_packet_t *answer, const net_packet_t *cause)
{
    answer->becn = cause->echo_ecn && cause->ecn == NET_ECN_CE;
    if (cause->telemetry != NET_TELEMETRY_NONE) {
        nic__add_telemetry(nic, answer, (net_telemetry_t)cause->telemetry, cause);
    }
}

// cause: the packet it answers, if that wants feedback; else NULL.
static void send_answer(nic_qp_t *qp,
                        uint32_t psn,
                        uint32_t aeth,
                        sim_time_t sent_ps,
                        const net_packet_t *cause)
{
    nic_t *const nic = qp->nic;
    if (is_ack(aeth) && nic__ack_still_queued(qp) && cause == NULL) {
        qp->queued_ack->psn = psn;
        qp->queued_ack->aeth = aeth;
        qp->queued_ack->sent_ps = sent_ps;
        return;
    }
    // Where READs are answered too, one class keeps the order.
    uint8_t class = (qp->rx_flags & NIC_RX_READS) == 0 ? qp->ack_priority : qp->priority;
    const uint32_t body_bytes =
        SIM_LIKELY(nic->ack_bytes == 0) ? ROCE_AETH_BYTES : nic->ack_bytes - nic->header_bytes;
    net_packet_t *const packet = nic__new_packet(nic, qp, class, NET_ECN_NOT_ECT, body_bytes);
    packet->opcode = ROCE_ACKNOWLEDGE;
    packet->psn = psn;
    packet->aeth = aeth;
    packet->sent_ps = sent_ps;
    // Switches must see the class it was sent in, or a pause of it would stop nothing.
    if (SIM_UNLIKELY(class != qp->priority)) {
        packet->dscp = (uint8_t)(class * 8);
    }
    if (SIM_UNLIKELY(nic->scan != NULL)) {
        class = nic->scan->ack_class; // one queue for all; switches go by the DSCP
        packet->priority = class;
    }
    if (SIM_UNLIKELY(cause != NULL)) {
        add_feedback(nic, packet, cause);
    }
    if (SIM_UNLIKELY(!is_ack(aeth))) {
        nic__trace(nic, qp, NIC_TRACE_NAK_SENT, aeth >> 24, 0);
    }
    const uint64_t number = nic->queue_pushed[class];
    nic__send(nic, packet);
    // A later ACK must not overtake a NAK: it does not merge with what is before one.
    const bool queued = nic->queue_pushed[class] != number;
    qp->queued_ack = queued && is_ack(aeth) && cause == NULL ? packet : NULL;
    qp->queued_ack_number = number;
    qp->queued_ack_class = class;
}

// Answers now, or after the READs before it: then without feedback, which would be old.
static inline void answer(nic_qp_t *qp,
                          uint32_t psn,
                          uint32_t aeth,
                          sim_time_t sent_ps,
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

// A NAK of the expected PSN waits behind READs: it acknowledges everything before, and more.
static bool gap_is_held(const nic_qp_t *qp)
{
    return (qp->rx_flags & NIC_RX_HELD) != 0 && !is_ack(qp->held_aeth) &&
           qp->held_psn == ((uint32_t)qp->expected_psn & ROCE_PSN_MASK);
}

// Everything before expected_psn is acknowledged.
static inline void acknowledge(nic_qp_t *qp, sim_time_t sent_ps, const net_packet_t *cause)
{
    if (SIM_UNLIKELY(qp->read_count != 0) && gap_is_held(qp)) {
        return;
    }
    const uint32_t psn = (uint32_t)(qp->expected_psn - 1) & ROCE_PSN_MASK;
    answer(qp, psn, ack_aeth(qp->msn), sent_ps, cause);
}

static void refuse(nic_qp_t *qp, uint32_t syndrome, sim_time_t sent_ps, const net_packet_t *cause)
{
    const uint32_t psn = (uint32_t)qp->expected_psn & ROCE_PSN_MASK;
    answer(qp, psn, syndrome << 24 | (qp->msn & ROCE_PSN_MASK), sent_ps, cause);
}

// After its NAK nothing is accepted any more; the QP fails when the NAK is out (9.9.3).
static void refuse_for_good(nic_qp_t *qp, uint32_t code, sim_time_t sent_ps)
{
    refuse(qp, ROCE_SYNDROME_NAK | code, sent_ps, NULL);
    qp->rx_flags |= NIC_RX_STOPPED;
}

static void fail_when_answered(nic_qp_t *qp)
{
    if ((qp->rx_flags & NIC_RX_STOPPED) != 0 && qp->read_count == 0) {
        nic_qp_to_error(qp);
    }
}

// -- checking a request that is in order

static nic_verdict_t begin_send(nic_qp_t *qp)
{
    if (!nic__receive_posted(qp)) {
        return NIC_VERDICT_NOT_READY;
    }
    const nic_recv_wqe_t *const receive = nic__oldest_receive(qp);
    if (!nic__access_ok(qp->pd,
                        receive->lkey,
                        receive->address,
                        receive->length,
                        NIC_ACCESS_LOCAL_WRITE)) {
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
    if ((qp->access & NIC_ACCESS_REMOTE_WRITE) == 0 || !nic__access_ok(qp->pd,
                                                                       aside->reth.rkey,
                                                                       aside->reth.address,
                                                                       aside->reth.length,
                                                                       NIC_ACCESS_REMOTE_WRITE)) {
        return NIC_VERDICT_ACCESS;
    }
    qp->rx_left_bytes = aside->reth.length;
    qp->rx_address = aside->reth.address;
    qp->rx_bytes = 0;
    return NIC_VERDICT_OK;
}

// Payload sizes: full but for the last packet of a message, and together what was announced.
static inline nic_verdict_t check_payload(const nic_qp_t *qp,
                                          const net_packet_t *packet,
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

static nic_verdict_t check_request(nic_qp_t *qp, const net_packet_t *packet, uint32_t operation)
{
    const nic_rx_kind_t kind = (operation & IS_SEND) != 0 ? NIC_RX_SEND : NIC_RX_WRITE;
    if (SIM_LIKELY((operation & IS_FIRST) == 0)) {
        if (qp->rx_kind != kind) {
            return NIC_VERDICT_INVALID;
        }
    } else {
        if (qp->rx_kind != NIC_RX_NONE) {
            return NIC_VERDICT_INVALID;
        }
        const nic_verdict_t verdict =
            kind == NIC_RX_SEND ? begin_send(qp) : begin_write(qp, packet);
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

void nic__reject(nic_t *nic, nic_qp_t *qp, nic_verdict_t verdict, sim_time_t sent_ps)
{
    switch (verdict) {
    case NIC_VERDICT_NOT_READY:
        nic->counters.out_of_buffer++;
        qp->rx_flags |= NIC_RX_NAK_SENT;
        qp->nak_ps = nic__node(nic)->now_ps;
        refuse(qp, (uint32_t)ROCE_SYNDROME_RNR_NAK | qp->min_rnr_timer, sent_ps, NULL);
        break;
    case NIC_VERDICT_LOCAL_SIZE:
    case NIC_VERDICT_OPERATION: {
        // The receive itself fails, then the QP.
        const bool size = verdict == NIC_VERDICT_LOCAL_SIZE;
        const nic_wc_t wc = {
            .wr_id = nic__oldest_receive(qp)->wr_id,
            .status = size ? NIC_WC_LOC_LEN_ERR : NIC_WC_LOC_PROT_ERR,
            .opcode = NIC_WC_RECV,
            .qp_num = qp->number,
        };
        nic->counters.resp_local_length_error += size;
        qp->rq_done++;
        refuse_for_good(qp, size ? ROCE_NAK_INVALID_REQUEST : ROCE_NAK_REMOTE_OPERATION, sent_ps);
        nic__write_cqe(qp, qp->recv_cq, &wc);
        break;
    }
    case NIC_VERDICT_ACCESS:
        refuse_for_good(qp, ROCE_NAK_REMOTE_ACCESS, sent_ps);
        break;
    case NIC_VERDICT_INVALID:
    case NIC_VERDICT_OK:
        refuse_for_good(qp, ROCE_NAK_INVALID_REQUEST, sent_ps);
        break;
    }
    fail_when_answered(qp);
}

// -- executing it

// A message that uses up a receive has arrived whole.
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
        .wc_flags = (operation & HAS_IMM) != 0 ? NIC_WC_WITH_IMM : 0,
    };
    nic__write_cqe(qp, qp->recv_cq, &wc);
}

static void receive_message(nic_t *nic, nic_qp_t *qp, net_packet_t *packet, uint32_t operation)
{
    // What is still wanted of the packet when it is gone.
    const bool ack_request = packet->ack_request;
    const sim_time_t sent_ps = packet->retransmission ? SIM_TIME_NEVER : packet->sent_ps;
    const uint32_t bytes = packet->payload_bytes;
    const uint32_t immediate = (operation & HAS_IMM) != 0 ? net_packet_aside(packet)->immediate : 0;

    const nic_verdict_t verdict = check_request(qp, packet, operation);
    if (nic__keeps(nic, packet)) {
        const bool send = (operation & IS_SEND) != 0;
        nic__take_contents(qp,
                           packet,
                           send ? NIC_RX_SEND : NIC_RX_WRITE,
                           verdict == NIC_VERDICT_OK);
    }
    // Its memory is the next packet's, unless the ACK needs something of it.
    const bool needed = ack_request && verdict == NIC_VERDICT_OK && nic__wants_feedback(packet);
    if (SIM_LIKELY(!needed)) {
        nic__consume_empty(nic, packet);
    }
    if (SIM_UNLIKELY(verdict != NIC_VERDICT_OK)) {
        nic__reject(nic, qp, verdict, sent_ps);
        return;
    }
    const bool last = (operation & IS_LAST) != 0;
    nic__write_payload(nic, bytes);
    sim_progress(nic__node(nic));
    qp->rx_left_bytes -= bytes;
    qp->rx_bytes += bytes;
    qp->rx_kind = last ? NIC_RX_NONE : ((operation & IS_SEND) != 0 ? NIC_RX_SEND : NIC_RX_WRITE);
    qp->rx_flags &= (uint8_t)~NIC_RX_NAK_SENT;
    qp->expected_psn++;
    qp->msn += last;
    if (SIM_UNLIKELY(needed)) {
        acknowledge(qp, sent_ps, packet);
        nic__consume_empty(nic, packet);
    } else if (ack_request) {
        acknowledge(qp, sent_ps, NULL);
    }
    if (last && (operation & (IS_SEND | HAS_IMM)) != 0) {
        complete_receive(qp, operation, immediate);
    } else if (last && qp->on_write != NULL) {
        nic__tell_write(qp);
    }
}

// -- READ

static nic_read_t *read_at(const nic_qp_t *qp, uint32_t index)
{
    return &qp->reads[(uint32_t)(qp->read_first + index) & (qp->read_capacity - 1u)];
}

static void grow_reads(nic_qp_t *qp)
{
    const uint32_t capacity = qp->read_capacity == 0 ? 1 : qp->read_capacity * 2u;
    nic_read_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
    for (uint32_t i = 0; i < qp->read_count; i++) {
        ring[i] = *read_at(qp, i);
    }
    sim_free(qp->reads);
    qp->reads = ring;
    qp->read_capacity = (uint16_t)capacity;
    qp->read_first = 0;
}

void nic__add_read(nic_qp_t *qp, const nic_read_t *read)
{
    if (qp->read_count == qp->read_capacity) {
        grow_reads(qp);
    }
    if (qp->read_count == 0) {
        qp->read_first = 0; // the same line over and over
    }
    *read_at(qp, qp->read_count) = *read;
    qp->read_count++;
    qp->rx_flags |= NIC_RX_READS;
    if ((qp->flags & NIC_QP_ACTIVE) == 0) {
        nic__cc_start(qp);
    }
    if (SIM_UNLIKELY(qp->nic->detailed)) {
        const uint32_t bytes = read->atomic ? 8 : nic__min(read->left_bytes, qp->mtu_bytes);
        nic__rnic_respond(qp, read->address, bytes, read->atomic && !read->retransmission);
        return;
    }
    qp->flags |= NIC_QP_READS;
    nic__schedule(qp);
}

static nic_verdict_t check_read(const nic_qp_t *qp, const net_packet_t *packet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    if (qp->rx_kind != NIC_RX_NONE || qp->read_count >= qp->reads_accepted_max ||
        aside->reth.length > NIC_MESSAGE_BYTES_MAX) {
        return NIC_VERDICT_INVALID;
    }
    if ((qp->access & NIC_ACCESS_REMOTE_READ) == 0 || !nic__access_ok(qp->pd,
                                                                      aside->reth.rkey,
                                                                      aside->reth.address,
                                                                      aside->reth.length,
                                                                      NIC_ACCESS_REMOTE_READ)) {
        return NIC_VERDICT_ACCESS;
    }
    return NIC_VERDICT_OK;
}

static void receive_read(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const nic_verdict_t verdict = check_read(qp, packet);
    const sim_time_t sent_ps = packet->retransmission ? SIM_TIME_NEVER : packet->sent_ps;
    const uint32_t length = net_packet_aside(packet)->reth.length;
    const uint64_t address = net_packet_aside(packet)->reth.address;
    nic__consume(nic, packet);
    if (verdict != NIC_VERDICT_OK) {
        nic__reject(nic, qp, verdict, sent_ps);
        return;
    }
    const nic_read_t read = {
        .next_psn = qp->expected_psn,
        .address = address,
        .left_bytes = length,
        .msn = ++qp->msn,
    };
    qp->rx_flags &= (uint8_t)~NIC_RX_NAK_SENT;
    qp->expected_psn += nic__packet_count(qp, length);
    sim_progress(nic__node(nic));
    nic__add_read(qp, &read);
}

// A READ asked again replaces itself and what was to be answered after it: the requester went back
// to it and sends all of that again (9.7.5.1.2).
static void repeat_read(nic_qp_t *qp, const net_packet_t *packet, uint64_t psn)
{
    if ((qp->access & NIC_ACCESS_REMOTE_READ) == 0) {
        return;
    }
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t length = aside->reth.length;
    if (length > NIC_MESSAGE_BYTES_MAX || psn + nic__packet_count(qp, length) > qp->expected_psn ||
        !nic__access_ok(qp->pd,
                        aside->reth.rkey,
                        aside->reth.address,
                        length,
                        NIC_ACCESS_REMOTE_READ)) {
        return; // not a repetition of anything executed: discarded
    }
    while (qp->read_count > 0) {
        const nic_read_t *const newest = read_at(qp, qp->read_count - 1u);
        if (newest->next_psn + nic__packet_count(qp, newest->left_bytes) <= psn) {
            break;
        }
        qp->read_count--;
    }
    if (qp->reads_ready > qp->read_count) {
        qp->reads_ready = qp->read_count;
    }
    // A gap that is still there when the rest has come again is told of again.
    qp->rx_flags &= (uint8_t) ~(NIC_RX_HELD | NIC_RX_NAK_SENT);
    if (qp->read_count >= qp->reads_accepted_max) {
        return;
    }
    const nic_read_t read = {
        .next_psn = psn,
        .address = aside->reth.address,
        .left_bytes = length,
        .msn = qp->msn,
        .retransmission = true,
    };
    nic__add_read(qp, &read);
}

// The last response is out: what waited behind the READs may follow.
static void release_held(nic_qp_t *qp)
{
    if ((qp->rx_flags & NIC_RX_HELD) == 0) {
        return;
    }
    qp->rx_flags &= (uint8_t)~NIC_RX_HELD;
    send_answer(qp, qp->held_psn, qp->held_aeth, qp->held_sent_ps, NULL);
}

static void end_read(const nic_t *nic, nic_qp_t *qp)
{
    qp->read_first = (uint16_t)((qp->read_first + 1) & (qp->read_capacity - 1));
    qp->read_count--;
    qp->reads_ready = (uint16_t)(qp->reads_ready - (qp->reads_ready != 0));
    if (qp->read_count == 0 || (nic->detailed && qp->reads_ready == 0)) {
        qp->flags &= (uint16_t)~NIC_QP_READS;
    }
}

static void count_repetition(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    packet->retransmission = true;
    nic->counters.retransmitted_packets++;
    qp->retransmitted_packets++;
}

static net_packet_t *build_atomic_response(nic_t *nic, nic_qp_t *qp, const nic_read_t *read)
{
    const uint32_t bytes = (uint32_t)ROCE_AETH_BYTES + ROCE_ATOMIC_ACK_ETH_BYTES;
    net_packet_t *const packet = nic__new_packet(nic, qp, qp->priority, qp->path.ecn, bytes);
    packet->opcode = ROCE_ATOMIC_ACKNOWLEDGE;
    packet->psn = (uint32_t)read->next_psn & ROCE_PSN_MASK;
    packet->aeth = ack_aeth(read->msn);
    net_packet_aside(packet)->atomic_original = read->original;
    if (read->retransmission) {
        count_repetition(nic, qp, packet);
    }
    end_read(nic, qp);
    return packet;
}

net_packet_t *nic__build_response(nic_t *nic, nic_qp_t *qp)
{
    nic_read_t *const read = read_at(qp, 0);
    if (SIM_UNLIKELY(read->atomic)) {
        return build_atomic_response(nic, qp, read);
    }
    const bool first = !read->started;
    const bool last = read->left_bytes <= qp->mtu_bytes;
    const uint32_t payload_bytes = last ? read->left_bytes : qp->mtu_bytes;
    const uint32_t aeth_bytes = first || last ? ROCE_AETH_BYTES : 0;
    net_packet_t *const packet = nic__new_packet(nic,
                                                 qp,
                                                 qp->priority,
                                                 qp->path.ecn,
                                                 aeth_bytes + ((payload_bytes + 3) & ~3u));
    packet->opcode = first ? (last ? ROCE_READ_RESPONSE_ONLY : ROCE_READ_RESPONSE_FIRST)
                           : (last ? ROCE_READ_RESPONSE_LAST : ROCE_READ_RESPONSE_MIDDLE);
    packet->payload_bytes = (uint16_t)payload_bytes;
    packet->psn = (uint32_t)read->next_psn & ROCE_PSN_MASK;
    packet->aeth = ack_aeth(read->msn);
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
    if (last) {
        end_read(nic, qp);
    }
    return packet;
}

void nic__responses_sent(nic_qp_t *qp)
{
    release_held(qp);
    nic__rest(qp);
    fail_when_answered(qp);
}

// -- reception

// Going back to zero: the part of the message (or chunk) that came before the gap is given up.
static void restart_message(nic_t *nic, nic_qp_t *qp)
{
    if (qp->rx_kind == NIC_RX_NONE) {
        return;
    }
    const uint32_t packets = qp->rx_bytes / qp->rx_mtu_bytes;
    const uint32_t kept = nic__packets_kept(nic, qp->rx_mtu_bytes, packets);
    const uint32_t lost_bytes = (packets - kept) * qp->rx_mtu_bytes;
    qp->expected_psn -= packets - kept;
    qp->rx_bytes -= lost_bytes;
    qp->rx_left_bytes += lost_bytes;
    nic->counters.rx_restarted_bytes += lost_bytes;
    if (kept == 0) {
        qp->rx_kind = NIC_RX_NONE;
    }
}

static void receive_ahead(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet)
{
    nic->counters.out_of_sequence++;
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    const sim_time_t interval_ps = nic->host->config.nak_interval_ps;
    if ((qp->rx_flags & NIC_RX_NAK_SENT) != 0 &&
        (interval_ps == 0 || now_ps < qp->nak_ps + interval_ps)) {
        return;
    }
    qp->rx_flags |= NIC_RX_NAK_SENT;
    qp->nak_ps = now_ps;
    restart_message(nic, qp);
    refuse(qp,
           (uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE,
           packet->retransmission ? SIM_TIME_NEVER : packet->sent_ps,
           nic__wants_feedback(packet) ? packet : NULL);
}

static void receive_again(nic_t *nic, nic_qp_t *qp, const net_packet_t *packet, uint64_t psn)
{
    nic->counters.duplicate_request++;
    if (packet->opcode == ROCE_READ_REQUEST) {
        repeat_read(qp, packet, psn);
    } else if (SIM_UNLIKELY((nic__operations[packet->opcode & ROCE_OPERATION_MASK] & IS_ATOMIC) !=
                            0)) {
        nic__repeat_atomic(nic, qp, packet, psn);
    } else if (packet->ack_request && nic->host->config.ack_duplicates) {
        acknowledge(qp, 0, nic__wants_feedback(packet) ? packet : NULL);
    }
}

void nic__receive_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    if (SIM_UNLIKELY((qp->rx_flags & NIC_RX_STOPPED) != 0)) {
        nic__consume(nic, packet);
        return;
    }
    const int64_t distance = nic__psn_distance(packet->psn, qp->expected_psn);
    if (SIM_UNLIKELY(distance != 0)) {
        if (distance < 0) {
            receive_again(nic, qp, packet, qp->expected_psn + (uint64_t)distance);
        } else {
            receive_ahead(nic, qp, packet);
        }
        nic__consume(nic, packet);
        return;
    }
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK];
    if (SIM_LIKELY((operation & (IS_SEND | IS_WRITE)) != 0)) {
        receive_message(nic, qp, packet, operation);
    } else if (SIM_UNLIKELY((operation & IS_ATOMIC) != 0)) {
        nic__receive_atomic(nic, qp, packet);
    } else if (operation != 0) {
        receive_read(nic, qp, packet);
    } else {
        nic__consume(nic, packet);
        refuse_for_good(qp, ROCE_NAK_INVALID_REQUEST, 0);
        fail_when_answered(qp);
    }
}
