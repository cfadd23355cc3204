// SPDX-License-Identifier: Apache-2.0
// nic/transport/sdr/chunks.c - the transport "sdr": selective repeat of chunks, as SDR-RDMA builds
// it on a bitmap of chunks that software reads.
//
// A chunk is some packets in a row, by PSN. The receiver reports each chunk that is whole; the
// sender sends a chunk again that it did not hear of for RTO = a x RTT since its last packet left.
// With nack on the receiver asks for a chunk as soon as a later one is whole. docs/models/sdr.md
// Source: "SDR-RDMA", SC 2025 (arXiv 2505.05366), sections on reliability and its model.
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/wqe.h"
#include "nic/transport/sdr/sdr_internal.h"
#include "nic/transport/selective/acked_packet.h"

#define PREFIX "nic.sdr"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(nic_sdr_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(BYTES, "chunk", chunk_bytes, "4KiB", "1", "64MiB", "payload of a chunk, rounded up to packets"),
    ATTR(RATIO, "rto", rto, "3", "1", "1000", "round trips of the path after which an unacknowledged chunk is sent again"),
    ATTR(BOOL, "nack", nack, "off", "whether the receiver requests a missing chunk once, when a later chunk is complete; not used with a code"),
    ATTR(ENUM, "code", code, "none", "none|xor|mds", "parity behind each group of chunks of a WRITE without contents"),
    ATTR(COUNT, "code-data", data_chunks, "32", "1", "1024", "number of data chunks of a group (k)"),
    ATTR(COUNT, "code-parity", parity_chunks, "8", "1", "64", "number of parity chunks of a group (m)"),
    ATTR(RATIO, "fallback", fallback, "0.5", "0", "1000", "round trips after which the receiver requests chunks that parity could not repair"),
};
// clang-format on
static const sim_attr_table_t attr_table = SIM_ATTR_TABLE(PREFIX, "node", nic_sdr_config_t, attrs);

// Returns the time-out after which a chunk or READ without any answer is sent again.
static inline sim_time_t rto_of(const nic_sdr_t *sdr)
{
    return nic__rto_ps(&sdr->held.resend.fetch.rto, sdr->held.base.qp);
}

static uint64_t begin_of(uint64_t origin_psn, const nic_sdr_t *sdr, uint64_t chunk)
{
    return origin_psn + chunk * sdr->packets;
}

static void chunk_due(sim_node_t *node, sim_timer_t *timer);
static void fetch_due(sim_node_t *node, sim_timer_t *timer);

static void sdr_open(nic_qp_t *qp)
{
    nic_sdr_t *const sdr = nic__sdr_of(qp);
    const nic_sdr_config_t *const config = sdr->held.base.config;
    nic__single_acks_open(&sdr->held);
    sdr->packets = (uint32_t)((config->chunk_bytes + qp->mtu_bytes - 1) / qp->mtu_bytes);
    // Units of 1/1000 round trip are exact enough, and stay in range.
    const uint64_t permille = config->rto.num * 1000 / config->rto.den;
    sim_time_t rto_ps =
        sdr->held.rtt_ps / 1000 * permille + sdr->held.rtt_ps % 1000 * permille / 1000;
    // An answer that comes after exactly one round trip is in time, whatever it waits behind.
    const uint64_t frame_bytes = (uint64_t)qp->mtu_bytes + qp->nic->header_bytes;
    rto_ps += 2 * frame_bytes * 8 * SIM_PS_PER_S / nic_rate_bps(qp->nic);
    sdr->origin_psn = qp->next_psn;
    sdr->source_psn = sdr->held.kept.first_psn;
    sim_timer_init(&sdr->timer, chunk_due);
    sim_timer_init(&sdr->fetch_timer, fetch_due);
    if (config->code != NIC_SDR_PLAIN) {
        // A chunk may be reported only when its group's parity has come.
        rto_ps += (config->data_chunks + config->parity_chunks) * sdr->packets *
                  (frame_bytes + 44) * 8 * SIM_PS_PER_S / nic_rate_bps(qp->nic);
    }
    sdr->held.resend.fetch.rto.own_ps = rto_ps;
    nic__sdr_code_open(sdr);
}

static void sdr_sender_set(nic_qp_t *qp)
{
    nic__sdr_of(qp)->origin_psn = qp->next_psn;
}

static void sdr_close(nic_qp_t *qp)
{
    nic_sdr_t *const sdr = nic__sdr_of(qp);
    sim_timer_cancel(nic_transport_node(qp), &sdr->timer);
    sim_timer_cancel(nic_transport_node(qp), &sdr->fetch_timer);
    sim_free(sdr->waits);
    nic__sdr_code_close(sdr);
    nic__single_acks_close(&sdr->held);
}

// Adds the counters. The receiver's bitmap has one bit a chunk, in host memory; the NIC keeps none.
static void totals(const nic_t *nic, const void *nic_state, nic_transport_totals_t *sums)
{
    (void)nic;
    const nic_sdr_shared_t *const shared = nic_state;
    nic__single_acks_totals(&shared->held, 1, sums);
    sums->parity += shared->parity;
    sums->decoded += shared->decoded;
    sums->fallbacks += shared->fallbacks;
}

// -- sending

static bool ready(const nic_qp_t *qp)
{
    const nic_sdr_t *const sdr = (const nic_sdr_t *)(const void *)nic_transport_of_const(qp);
    bool may = false;
    if (SIM_UNLIKELY(nic__single_acks_waits(&sdr->held, &may))) {
        return may;
    }
    if (nic__sdr_parity_due(sdr)) {
        return (qp->flags & (NIC_QP_RNR_WAIT | NIC_QP_CLOSED)) == 0;
    }
    return nic_transport_new_ready(qp);
}

static void push_wait(nic_sdr_t *sdr, uint64_t chunk, sim_time_t sent_ps)
{
    if (sdr->wait_end - sdr->wait_first == sdr->wait_capacity) {
        const uint32_t capacity = sdr->wait_capacity == 0 ? 16 : sdr->wait_capacity * 2;
        nic_sdr_wait_t *const waits = sim_alloc_array(capacity, sizeof(*waits));
        for (uint32_t i = sdr->wait_first; i != sdr->wait_end; i++) {
            waits[i & (capacity - 1)] = sdr->waits[i & (sdr->wait_capacity - 1)];
        }
        sim_free(sdr->waits);
        sdr->waits = waits;
        sdr->wait_capacity = capacity;
    }
    sdr->waits[sdr->wait_end++ & (sdr->wait_capacity - 1)] = (nic_sdr_wait_t){chunk, sent_ps};
}

// Starts the time-out of a chunk, from now on.
static void await(nic_sdr_t *sdr, uint64_t chunk)
{
    nic_qp_t *const qp = sdr->held.base.qp;
    sim_node_t *const node = nic_transport_node(qp);
    push_wait(sdr, chunk, node->now_ps);
    if (!sim_timer_armed(&sdr->timer) && qp->timeout != 0) {
        sim_timer_arm(node, &sdr->timer, node->now_ps + rto_of(sdr));
    }
}

// Finds the PSNs of a chunk that were sent.
static bool stretch_of(const nic_sdr_t *sdr, uint64_t chunk, uint64_t *psn, uint32_t *count)
{
    const nic_qp_t *const qp = sdr->held.base.qp;
    uint64_t end_psn = begin_of(sdr->origin_psn, sdr, chunk + 1);
    *psn = begin_of(sdr->origin_psn, sdr, chunk);
    *psn = SIM_MAX(qp->una_psn, *psn);
    end_psn = SIM_MIN(qp->next_psn, end_psn);
    *count = end_psn > *psn ? (uint32_t)(end_psn - *psn) : 0;
    return *count != 0;
}

// Returns true if the receiver is known to have a packet. The oldest packet never counts: if it is
// not acknowledged, its answer was lost, and only another copy causes a new answer.
static bool is_told_of(const nic_sdr_t *sdr, uint64_t psn)
{
    return psn != sdr->held.base.qp->una_psn &&
           (*nic__resend_of(&sdr->held.resend, psn) & NIC_SENT_HELD) != 0;
}

// Goes through the stretches of a chunk that are no READ's, since READs wait for responses. Returns
// true if the receiver did not report all of them. `again`: retransmits these stretches.
static bool look_through(nic_sdr_t *sdr, uint64_t psn, uint64_t end_psn, bool again)
{
    nic_qp_t *const qp = sdr->held.base.qp;
    bool waits = false;
    while (psn < end_psn) {
        uint64_t begin_psn = 0;
        uint64_t wqe_end_psn = 0;
        const nic_wqe_t *const wqe = nic__resend_wqe(qp, psn, &begin_psn, &wqe_end_psn);
        const uint64_t stop_psn = SIM_MIN(wqe_end_psn, end_psn);
        const bool data = !nic__is_fetch(wqe->opcode);
        if (data && again) {
            nic__resend_add(&sdr->held.resend, qp, psn, (uint32_t)(stop_psn - psn), 1, 0);
        }
        for (; data && !waits && psn < stop_psn; psn++) {
            waits = !is_told_of(sdr, psn);
        }
        if (waits && !again) {
            return true;
        }
        psn = stop_psn;
    }
    return waits;
}

// Asks again for READs and atomics, which have no chunks, when nothing was heard for RTO.
static void await_fetches(nic_sdr_t *sdr)
{
    const nic_qp_t *const qp = sdr->held.base.qp;
    if (qp->reads_outstanding != 0 && qp->timeout != 0 && !sim_timer_armed(&sdr->fetch_timer)) {
        sim_node_t *const node = nic_transport_node(qp);
        sdr->fetch_ps = node->now_ps;
        sim_timer_arm(node, &sdr->fetch_timer, node->now_ps + rto_of(sdr));
    }
}

static void fetch_due(sim_node_t *node, sim_timer_t *timer)
{
    nic_sdr_t *const sdr = SIM_CONTAINER_OF(timer, nic_sdr_t, fetch_timer);
    nic_qp_t *const qp = sdr->held.base.qp;
    const sim_time_t due_ps = sdr->fetch_ps + rto_of(sdr);
    if (qp->reads_outstanding == 0) {
        return;
    }
    if (node->now_ps < due_ps || (qp->flags & NIC_QP_RNR_WAIT) != 0) {
        sim_timer_arm(node, timer, node->now_ps < due_ps ? due_ps : node->now_ps + rto_of(sdr));
        return;
    }
    sdr->fetch_ps = node->now_ps;
    if (node->now_ps >= sdr->held.active_ps + rto_of(sdr)) {
        if (!nic__single_acks_silent(&sdr->held)) {
            return;
        }
        sdr->held.active_ps = node->now_ps;
    }
    nic__fetch_all(&sdr->held.resend, qp, sdr->held.silent);
    await_fetches(sdr);
}

static void chunk_due(sim_node_t *node, sim_timer_t *timer)
{
    nic_sdr_t *const sdr = SIM_CONTAINER_OF(timer, nic_sdr_t, timer);
    nic_qp_t *const qp = sdr->held.base.qp;
    while (sdr->wait_first != sdr->wait_end) {
        const nic_sdr_wait_t wait = sdr->waits[sdr->wait_first & (sdr->wait_capacity - 1)];
        uint64_t psn = 0;
        uint32_t count = 0;
        if (!stretch_of(sdr, wait.chunk, &psn, &count) ||
            !look_through(sdr, psn, psn + count, false)) {
            sdr->wait_first++;
            continue;
        }
        // Round trips may have been measured since it left.
        const sim_time_t due_ps = wait.sent_ps + rto_of(sdr);
        if (due_ps > node->now_ps || (qp->flags & NIC_QP_RNR_WAIT) != 0) {
            sim_timer_arm(node, timer, due_ps > node->now_ps ? due_ps : node->now_ps + rto_of(sdr));
            break;
        }
        sdr->wait_first++;
        // All chunks that are due count as one time-out of a silent peer.
        if (node->now_ps >= sdr->held.active_ps + rto_of(sdr)) {
            if (!nic__single_acks_silent(&sdr->held)) {
                return;
            }
            sdr->held.active_ps = node->now_ps;
        }
        if (psn == qp->una_psn) {
            // The packet is sent again even if only its ACK is missing.
            *nic__resend_of(&sdr->held.resend, psn) &= (uint8_t)~NIC_SENT_HELD;
        }
        (void)look_through(sdr, psn, psn + count, true);
    }
    if (sdr->wait_first == sdr->wait_end && qp->una_psn != qp->next_psn &&
        !nic__resend_waits(&sdr->held.resend) && !nic_transport_expects_response(qp)) {
        await(sdr, (qp->una_psn - sdr->origin_psn) / sdr->packets);
    }
    nic_transport_schedule(qp);
}

static bool waits_again(const nic_sdr_t *sdr, uint64_t psn)
{
    return psn < sdr->held.base.qp->next_psn &&
           (*nic__resend_of(&sdr->held.resend, psn) & NIC_SENT_QUEUED) != 0;
}

static net_packet_t *next_packet(nic_t *nic, nic_qp_t *qp)
{
    (void)nic;
    nic_sdr_t *const sdr = nic__sdr_of(qp);
    if (!ready(qp)) {
        return NULL;
    }
    if (nic__sdr_parity_due(sdr) && !nic__single_acks_waits(&sdr->held, &(bool){false})) {
        return nic__sdr_parity(sdr);
    }
    const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_send);
    const uint32_t offset = qp->send_offset;
    const nic_single_acks_sent_t sent = nic__single_acks_next(&sdr->held);
    if (sent.packet != NULL && !sent.again && !sent.answer) {
        nic__sdr_code_sent(sdr, wqe, offset, sent.packet);
    }
    if (sent.packet == NULL || sent.answer) {
        return sent.packet;
    }
    const sim_time_t now_ps = nic_transport_node(qp)->now_ps;
    if (qp->una_psn == sent.psn && !sent.again) {
        sdr->held.active_ps = now_ps;
    }
    await_fetches(sdr);
    // The packet is the last of its chunk, or the last to be sent. A READ ends the chunk it begins
    // in. Among retransmissions the last one before a READ counts, since those behind it may not
    // follow.
    const uint64_t chunk = (sent.psn - sdr->origin_psn) / sdr->packets;
    const uint64_t chunk_end_psn = begin_of(sdr->origin_psn, sdr, chunk + 1);
    if (sent.end_psn >= chunk_end_psn ||
        (sent.end_psn == qp->next_psn && qp->sq_send == qp->sq_posted) ||
        (sent.again && !waits_again(sdr, sent.end_psn))) {
        await(sdr, chunk);
        // The receiver reports a whole chunk, whatever nic.ack-interval says.
        sent.packet->ack_request = true;
    }
    if (!sim_timer_armed(&sdr->timer)) {
        // The rest of the chunk may not be allowed to follow (a fence, limits of READs).
        await(sdr, (qp->una_psn - sdr->origin_psn) / sdr->packets);
    }
    return sent.packet;
}

static void acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    nic_sdr_t *const sdr = nic__sdr_of(qp);
    nic__rto_echoed(&sdr->held.resend.fetch.rto, nic_transport_node(qp)->now_ps, packet->sent_ps);
    if (packet->aeth >> 29 != 0) {
        packet->sent_ps = SIM_TIME_NEVER; // no ACK: congestion control has nothing of it
    }
    const nic_single_acks_news_t news = nic__single_acks_acknowledged(&sdr->held, packet);
    if (!news.alive) {
        return;
    }
    sdr->held.active_ps = nic_transport_node(qp)->now_ps;
    if (news.told && news.missing) {
        nic__resend_add(&sdr->held.resend, qp, news.psn, news.count, 1, 0);
        nic__resend_trim(&sdr->held.resend, qp);
    }
    if (qp->una_psn != qp->next_psn && sdr->wait_first == sdr->wait_end) {
        // Waits again for chunks that were refused, or are not whole.
        await(sdr, (qp->una_psn - sdr->origin_psn) / sdr->packets);
    }
    nic_transport_schedule(qp);
}

static void responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    nic__single_acks_responded(nic, qp, packet);
    nic_sdr_t *const sdr = nic__sdr_of(qp);
    sdr->fetch_ps = nic_transport_node(qp)->now_ps;
    if ((qp->flags & NIC_QP_CLOSED) == 0 && qp->una_psn != qp->next_psn &&
        sdr->wait_first == sdr->wait_end) {
        await(sdr, (qp->una_psn - sdr->origin_psn) / sdr->packets);
    }
}

// -- receiving

// Returns true if all packets of a chunk came.
static bool is_whole(const nic_sdr_t *sdr, uint64_t chunk)
{
    const uint64_t begin_psn = begin_of(sdr->source_psn, sdr, chunk);
    for (uint64_t psn = begin_psn; psn < begin_psn + sdr->packets; psn++) {
        if (!nic__early_has(&sdr->held.kept, psn)) {
            return false;
        }
    }
    return true;
}

static void ask_before(nic_sdr_t *sdr, uint64_t chunk)
{
    const uint64_t oldest = (sdr->held.kept.first_psn - sdr->source_psn) / sdr->packets;
    sdr->asked = SIM_MAX(oldest, sdr->asked);
    for (; sdr->asked < chunk; sdr->asked++) {
        if (!is_whole(sdr, sdr->asked)) {
            nic__single_acks_mark(&sdr->held, begin_of(sdr->source_psn, sdr, sdr->asked),
                                  sdr->packets, true, SIM_TIME_NEVER);
        }
    }
}

void nic__sdr_take(nic_sdr_t *sdr, net_packet_t *packet)
{
    nic_qp_t *const qp = sdr->held.base.qp;
    const nic_sdr_config_t *const config = sdr->held.base.config;
    nic_early_t *const kept = &sdr->held.kept;
    const bool message_end = packet->ack_request;
    const uint64_t before_psn = kept->first_psn;
    nic_acked_packet_t cause;
    nic__acked_packet_note(&cause, packet);
    const nic_arrival_t arrival = nic__single_acks_take(&sdr->held, packet, NIC_PSN_WINDOW);
    if (arrival.refused) {
        return;
    }
    if (kept->first_psn != before_psn) {
        if (message_end || arrival.news == NIC_KEPT_REPAIR) {
            nic__acked_packet_acknowledge(qp, &cause);
        }
        return;
    }
    if (arrival.psn < before_psn) {
        nic_transport_acknowledge(qp, NULL);
        return;
    }
    const uint64_t chunk = (arrival.psn - sdr->source_psn) / sdr->packets;
    if (is_whole(sdr, chunk)) {
        nic__single_acks_mark(&sdr->held, begin_of(sdr->source_psn, sdr, chunk), sdr->packets,
                              false, cause.packet.sent_ps);
        if (config->nack && config->code == NIC_SDR_PLAIN) {
            ask_before(sdr, chunk);
        }
    }
}

static void request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    if (nic__sdr_is_parity(packet)) {
        nic__sdr_take_parity(nic__sdr_of(qp), packet);
    } else {
        nic__sdr_take(nic__sdr_of(qp), packet);
    }
}

const nic_transport_ops_t nic_transport_sdr = {
    .name = "sdr",
    .state_bytes = sizeof(nic_sdr_t),
    .nic_state_bytes = sizeof(nic_sdr_shared_t),
    .attrs = &attr_table,
    .own_timeouts = true,
    .open = sdr_open,
    .sender_set = sdr_sender_set,
    .close = sdr_close,
    .ready = ready,
    .next_packet = next_packet,
    .acknowledged = acknowledged,
    .responded = responded,
    .request = request,
    .totals = totals,
    .gauges = nic__single_acks_gauges,
};
