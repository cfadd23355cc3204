// SPDX-License-Identifier: Apache-2.0
// nic/transport/irn.c - the transport "irn": selective repeat within a window of one
// bandwidth-delay product.
//
// The receiver keeps packets that come ahead, and sends a NAK that names the expected packet and
// the one that came. The first such NAK begins a recovery: each missing packet is sent again once,
// then new ones follow. It ends when all packets sent before it are acknowledged. A packet lost
// again waits for the time-out, which is short while few packets are in flight. docs/models/irn.md
// Source: Mittal et al., "Revisiting network support for RDMA" (IRN), SIGCOMM 2018.
#include "nic/objects/qp.h"
#include "nic/transport/selective/acked_packet.h"
#include "nic/transport/selective/single_acks.h"

#define PREFIX "nic.irn"
// Bits of bitmaps for each packet: two at the receiver, one at the sender, and two for READ
// responses.
#define BITMAPS 5u
// The paper's time-outs are for 40 Gbps. On slow links a few packets of others take longer.
#define LOW_PACKETS 16u
#define HIGH_PACKETS 64u

typedef enum irn_recovery {
    IRN_MISSING, // packets before one that came are sent again
    IRN_ALL,     // all that were sent and are not known to have come, as if going back
} irn_recovery_t;

typedef struct irn_config {
    irn_recovery_t recovery;
    uint64_t window_bytes; // SIM_AUTO: one bandwidth-delay product
    uint64_t bits;         // SIM_AUTO: as many as the window has packets
    sim_time_t rto_low_ps;
    sim_time_t rto_high_ps;
    uint64_t rto_low_packets;
} irn_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(irn_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(BYTES, "window", window_bytes, "auto", "1", NULL, "largest payload from the oldest unacknowledged packet to the newest; auto: rate of the NIC x round trip of the path", .auto_ok = true),
    ATTR(ENUM, "recovery", recovery, "missing", "missing|all", "packets that the NAK that begins a recovery makes the sender send again; missing: those before one that came; all: all that are in flight and are not known to have come, as in the simulator of ConWeave"),
    ATTR(COUNT, "bits", bits, "auto", "1", "8388608", "number of packets that a receiver's bitmap covers from the expected one on, which limits the packets in flight; auto: those of the window", .auto_ok = true),
    ATTR(TIME, "rto-low", rto_low_ps, "auto", "1us", "100s", "time-out while few packets are in flight (rto-low-packets); auto: the path's round trip plus 100 us, or plus the time of 16 full packets on a slow link", .not_above = PREFIX ".rto-high", .auto_ok = true),
    ATTR(TIME, "rto-high", rto_high_ps, "auto", "1us", "100s", "time-out while more packets are in flight; auto: twice the path's round trip plus 320 us, or plus the time of 64 full packets on a slow link", .auto_ok = true),
    ATTR(COUNT, "rto-low-packets", rto_low_packets, "3", "0", "1000", "number of packets in flight up to which rto-low applies"),
};
// clang-format on
static const sim_attr_table_t attr_table = SIM_ATTR_TABLE(PREFIX, "node", irn_config_t, attrs);

typedef struct irn {
    nic_single_acks_t held; // first
    uint64_t window_packets;
    uint64_t bits;
    uint64_t recovery_psn; // the recovery ends when this is acknowledged
    uint64_t looked_psn;   // missing packets before it are queued
    sim_time_t rto_low_ps;
    sim_time_t rto_high_ps;
    bool recovering;
} irn_t;

static inline irn_t *irn_of(nic_qp_t *qp)
{
    return nic__state(qp);
}

static sim_time_t longer_of(sim_time_t a_ps, sim_time_t b_ps)
{
    return SIM_MAX(a_ps, b_ps);
}

// Returns the time that full packets take on the NIC's link.
static sim_time_t packets_ps(const nic_qp_t *qp, uint32_t count)
{
    const sim_wide_t bits = (sim_wide_t)count * qp->mtu_bytes * 8;
    return (sim_time_t)(bits * SIM_PS_PER_S / nic_rate_bps(qp->nic));
}

static void irn_open(nic_qp_t *qp)
{
    irn_t *const irn = irn_of(qp);
    const irn_config_t *const config = irn->held.base.config;
    nic__single_acks_open(&irn->held);
    const sim_time_t rtt_ps = irn->held.rtt_ps;
    const uint64_t product_bytes =
        (uint64_t)((sim_wide_t)nic_rate_bps(qp->nic) * rtt_ps / 8 / SIM_PS_PER_S);
    const uint64_t window_bytes =
        config->window_bytes == SIM_AUTO ? product_bytes : config->window_bytes;
    irn->window_packets = (window_bytes + qp->mtu_bytes - 1) / qp->mtu_bytes + 1;
    irn->window_packets = SIM_MIN(irn->window_packets, NIC_PSN_WINDOW);
    // A limit on packets in flight also limits the bitmaps.
    uint64_t reach = irn->window_packets;
    if (qp->window_bytes != UINT64_MAX && qp->window_bytes / qp->mtu_bytes + 1 > reach) {
        reach = qp->window_bytes / qp->mtu_bytes + 1;
        irn->window_packets = reach;
    }
    irn->bits = config->bits == SIM_AUTO ? reach : config->bits;
    // The sender never has more in flight than the receiver's bitmap can record (the paper's cap);
    // packets beyond it would be dropped.
    if (irn->bits < irn->window_packets) {
        irn->window_packets = irn->bits;
    }
    irn->rto_low_ps = config->rto_low_ps == SIM_AUTO
                          ? rtt_ps + longer_of(100 * SIM_PS_PER_US, packets_ps(qp, LOW_PACKETS))
                          : config->rto_low_ps;
    irn->rto_high_ps =
        config->rto_high_ps == SIM_AUTO
            ? 2 * rtt_ps + longer_of(320 * SIM_PS_PER_US, packets_ps(qp, HIGH_PACKETS))
            : config->rto_high_ps;
    nic_single_acks_shared_t *const shared = irn->held.base.nic_state;
    const uint64_t bytes = BITMAPS * ((irn->bits + 7) / 8);
    shared->nic_bytes_per_qp = SIM_MAX(bytes, shared->nic_bytes_per_qp);
}

static void irn_close(nic_qp_t *qp)
{
    nic__single_acks_close(nic__single_acks_of(qp));
}

static void totals(const nic_t *nic, const void *nic_state, nic_transport_totals_t *sums)
{
    (void)nic;
    nic__single_acks_totals(nic_state, BITMAPS, sums);
}

// -- sending

static bool ready(const nic_qp_t *qp)
{
    const irn_t *const irn = nic__state_const(qp);
    bool may = false;
    if (SIM_UNLIKELY(nic__single_acks_waits(&irn->held, &may))) {
        return may;
    }
    return qp->next_psn - qp->una_psn < irn->window_packets && nic__new_ready(qp);
}

// Returns true while few packets are in flight.
static bool is_low(const irn_t *irn)
{
    const nic_qp_t *const qp = irn->held.base.qp;
    const irn_config_t *const config = irn->held.base.config;
    return qp->next_psn - qp->una_psn <= config->rto_low_packets;
}

static sim_time_t rto_ps(const irn_t *irn)
{
    return is_low(irn) ? irn->rto_low_ps : irn->rto_high_ps;
}

static void arm(irn_t *irn)
{
    nic_qp_t *const qp = irn->held.base.qp;
    sim_node_t *const node = nic__node(qp->nic);
    if (qp->timeout == 0 || qp->una_psn == qp->next_psn) {
        return;
    }
    if (!sim_timer_armed(&qp->retry_timer)) {
        irn->held.active_ps = node->now_ps;
        nic_transport_timer_arm(qp, irn->held.active_ps + rto_ps(irn));
    } else if (is_low(irn)) {
        // The timer may have been armed while many packets were in flight.
        const sim_time_t low_ps = irn->held.active_ps + irn->rto_low_ps;
        const sim_time_t due_ps = SIM_MAX(low_ps, node->now_ps);
        if (sim_timer_time_ps(node, &qp->retry_timer) > due_ps) {
            nic_transport_timer_arm(qp, due_ps);
        }
    }
}

static net_packet_t *next_packet(nic_t *nic, nic_qp_t *qp)
{
    (void)nic;
    irn_t *const irn = irn_of(qp);
    const bool idle = qp->una_psn == qp->next_psn;
    const nic_single_acks_sent_t sent =
        ready(qp) ? nic__single_acks_next(&irn->held) : (nic_single_acks_sent_t){0};
    if (sent.packet != NULL && !sent.answer) {
        // Only an answer opens the window again.
        sent.packet->ack_request |= qp->next_psn - qp->una_psn >= irn->window_packets;
        if (idle) {
            nic_transport_timer_cancel(qp); // the first packet armed it with the standard's time
        }
        if (idle || sent.psn == qp->una_psn) {
            irn->held.active_ps = nic__node(qp->nic)->now_ps;
        }
        arm(irn);
    }
    return sent.packet;
}

// Returns whether the recovery is over: everything sent before it has arrived, or, as in the
// simulator of ConWeave, an answer names no packet ahead of a missing one.
static bool recovered(const irn_t *irn, const nic_single_acks_news_t *news)
{
    const irn_config_t *const config = irn->held.base.config;
    return irn->held.base.qp->una_psn >= irn->recovery_psn ||
           (config->recovery == IRN_ALL && !news->told);
}

static void acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    irn_t *const irn = irn_of(qp);
    nic_single_acks_news_t news = nic__single_acks_acknowledged(&irn->held, packet);
    if (!news.alive) {
        return;
    }
    if (irn->recovering && recovered(irn, &news)) {
        irn->recovering = false;
    }
    if (news.moved) {
        irn->held.active_ps = nic__node(qp->nic)->now_ps;
    }
    if (news.told && news.psn >= qp->una_psn) {
        if (!irn->recovering) {
            irn->recovering = true;
            irn->recovery_psn = qp->next_psn;
            irn->looked_psn = qp->una_psn;
            const irn_config_t *const config = irn->held.base.config;
            news.psn = config->recovery == IRN_ALL ? qp->next_psn : news.psn;
        }
        if (irn->looked_psn < qp->una_psn) {
            irn->looked_psn = qp->una_psn;
        }
        if (news.psn > irn->looked_psn) {
            nic__resend_add(&irn->held.resend, qp, irn->looked_psn,
                            (uint32_t)(news.psn - irn->looked_psn), 1, 0);
            irn->looked_psn = news.psn;
        }
        nic__resend_trim(&irn->held.resend, qp);
    }
    if ((qp->flags & NIC_QP_RNR_WAIT) == 0) {
        arm(irn);
    }
    nic_transport_schedule(qp);
}

static void timed_out(nic_qp_t *qp)
{
    irn_t *const irn = irn_of(qp);
    const sim_time_t now_ps = nic__node(qp->nic)->now_ps;
    if (qp->una_psn == qp->next_psn) {
        return;
    }
    if (now_ps < irn->held.active_ps + rto_ps(irn)) {
        nic_transport_timer_arm(qp, irn->held.active_ps + rto_ps(irn));
        return;
    }
    if (!nic__single_acks_silent(&irn->held)) {
        return;
    }
    irn->recovering = true;
    irn->recovery_psn = qp->next_psn;
    irn->looked_psn = qp->una_psn + 1;
    nic__fetch_all(&irn->held.resend, qp, irn->held.silent);
    nic__resend_oldest(&irn->held.resend, qp, irn->held.silent, 1);
    // The answer to the newest packet shows which others are missing.
    nic__resend_probe(&irn->held.resend, qp, qp->next_psn - 1, 1);
    irn->held.active_ps = now_ps;
    nic_transport_timer_arm(qp, now_ps + rto_ps(irn));
    nic_transport_schedule(qp);
}

// -- receiving

static void request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    irn_t *const irn = irn_of(qp);
    const bool ack_request = packet->ack_request;
    const uint64_t before_psn = irn->held.kept.first_psn;
    nic_acked_packet_t cause;
    nic__acked_packet_note(&cause, packet);
    const nic_arrival_t arrival = nic__single_acks_take(&irn->held, packet, irn->bits);
    if (arrival.refused) {
        return;
    }
    if (irn->held.kept.first_psn != before_psn) {
        if (ack_request || arrival.news == NIC_KEPT_REPAIR) {
            nic__acked_packet_acknowledge(qp, &cause);
        }
    } else if (arrival.psn > before_psn) {
        nic__single_acks_mark(&irn->held, arrival.psn, arrival.span, false, SIM_TIME_NEVER);
    } else if (ack_request) {
        nic_transport_acknowledge(qp, NULL);
    }
}

const nic_transport_ops_t nic_transport_irn = {
    .name = "irn",
    .state_bytes = sizeof(irn_t),
    .nic_state_bytes = sizeof(nic_single_acks_shared_t),
    .attrs = &attr_table,
    .own_timeouts = true,
    .open = irn_open,
    .close = irn_close,
    .ready = ready,
    .next_packet = next_packet,
    .acknowledged = acknowledged,
    .responded = nic__single_acks_responded,
    .timeout = timed_out,
    .request = request,
    .totals = totals,
    .gauges = nic__single_acks_gauges,
};
