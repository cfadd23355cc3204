// SPDX-License-Identifier: Apache-2.0
// nic/cc/control.c - the thread between a congestion control and its queue pair.
// Page: docs/models/nic-ideal.md.
#include "nic/congestion.h"

#include "net/extensions.h"
#include "net/paths.h"
#include "nic/cc/control.h"
#include "nic/cc/none.h"
#include "nic/compare_internal.h"
#include "nic/config/parts.h"
#include "nic/host/listen.h"
#include "nic/objects/objects.h"
#include "nic/objects/plane_set.h"
#include "nic/objects/qp.h"
#include "nic/path/repath.h"
#include "nic/schedule/eligible.h"
#include "nic/schedule/loopback.h"

static const nic_path_rtt_ops_t path_rtt_frames = {.name = "frames"};

const nic_path_rtt_ops_t *const nic_path_rtt_all[] = {
    &path_rtt_frames,
    NULL,
};

// Returns the round trip of a full packet and its ACK over this QP's idle path. Telemetry is
// assumed to have its final length on every hop. Lowers *rate_bps, the rate of the BDP, to the
// path's rate.
static sim_time_t path_rtt_ps(const nic_qp_t *qp, uint64_t *rate_bps)
{
    const nic_t *const nic = qp->nic;
    const net_t *const net = nic->host->node.net;
    if (qp->type != NIC_QPT_UD && nic__loops(qp)) {
        const uint32_t bytes = 2u * (nic->header_bytes + (uint32_t)nic->overhead_bytes) +
                               qp->mtu_bytes + ROCE_AETH_BYTES;
        return 2 * NIC_LOOPBACK_DELAY_PS + bytes * 8 * SIM_PS_PER_S / *rate_bps;
    }
    net_path_t path;
    if (qp->type == NIC_QPT_UD ||
        !net_path_of(net, nic->interface, qp->path.destination, qp->path.flow_hash, &path)) {
        return 0;
    }
    const nic_path_rtt_ops_t *const ops = nic__config_path_rtt(nic->host->config);
    SIM_CHECKF(ops != NULL, "no path round trip \"%s\"", nic->host->config->path_rtt.text);
    if (ops->rtt_ps != NULL) {
        return ops->rtt_ps(&path, qp->mtu_bytes, rate_bps);
    }
    const net_packet_t last = {
        .telemetry = (unsigned)nic->cc_ops->telemetry & 3u,
        .hop_count = nic__min(path.hop_count - 1, NET_INT_HOPS_MAX) & 15u,
    };
    const uint32_t telemetry_bytes = net_packet_telemetry_bytes(net, &last);
    const uint32_t data_bytes = nic->header_bytes + qp->mtu_bytes + telemetry_bytes;
    const uint32_t ack_bytes = nic->header_bytes + ROCE_AETH_BYTES + telemetry_bytes;
    return net_path_time_ps(&path, 1, data_bytes, 0) + net_path_time_ps(&path, 1, ack_bytes, 0);
}

// Returns the window for the QP's rate: floor(BDP x rate / line rate).
static uint64_t effective_window(const nic_cc_t *cc)
{
    if (SIM_LIKELY(cc->bdp_window == NIC_BDP_WINDOW_NONE)) {
        return cc->window_bytes;
    }
    const uint64_t bdp_bytes =
        cc->bdp_window == NIC_BDP_WINDOW_FIXED
            ? cc->bdp_bytes
            : (uint64_t)((sim_wide_t)cc->bdp_bytes * cc->rate_bps / cc->line_bps);
    return SIM_MIN(bdp_bytes, cc->window_bytes);
}

// Returns rate x time / 8 in bytes. Whole seconds and the rest are multiplied separately, so that
// nothing overflows.
static uint64_t bytes_in(uint64_t rate_bps, sim_time_t time_ps)
{
    const uint64_t seconds = time_ps / SIM_PS_PER_S;
    const uint64_t rest_ps = time_ps % SIM_PS_PER_S;
    const uint64_t rest = rest_ps / SIM_PS_PER_US * rate_bps / (SIM_PS_PER_S / SIM_PS_PER_US) +
                          rest_ps % SIM_PS_PER_US * (rate_bps / SIM_PS_PER_US) / SIM_PS_PER_US;
    return (seconds * rate_bps + rest) / 8;
}

void nic__cc_create(nic_qp_t *qp, uint64_t line_bps, uint64_t window_bytes)
{
    nic_t *const nic = qp->nic;
    const nic_config_t *const config = nic->host->config;
    nic_cc_t *const cc = nic__cc(qp);
    cc->ops = nic->cc_ops;
    cc->config = nic->cc_config;
    cc->node = nic__node(nic);
    cc->rate_bps = line_bps;
    cc->line_bps = line_bps;
    cc->window_bytes = window_bytes;
    cc->mtu_bytes = qp->mtu_bytes;
    cc->id = nic__qp_stream(qp);
    cc->int_multiplier = (uint32_t)net_get_config(nic->host->node.net)->int_multiplier;
    cc->pint = net_pint_of(nic->host->node.net);
    cc->dice = net_dice_of(nic->host->node.net);
    cc->draws_by_packet = nic->draws;
    cc->overhead_bytes = nic->header_bytes + (uint32_t)nic->overhead_bytes;
    const nic_bdp_window_t bdp_window = nic->exempt ? NIC_BDP_WINDOW_NONE : config->bdp_window;
    if (cc->ops->init != NULL || bdp_window != NIC_BDP_WINDOW_NONE) {
        uint64_t bdp_bps = line_bps;
        cc->base_rtt_ps =
            config->base_rtt_ps == SIM_AUTO ? path_rtt_ps(qp, &bdp_bps) : config->base_rtt_ps;
        cc->bdp_bytes =
            config->bdp_bytes == SIM_AUTO ? bytes_in(bdp_bps, cc->base_rtt_ps) : config->bdp_bytes;
    }
    if (cc->bdp_bytes != 0) { // else there is no path: no window either
        cc->bdp_window = (uint8_t)bdp_window;
    }
    cc->hears_acks = cc->ops->ack != NULL;
    cc->acks_every_packet = cc->ops->acks_every_packet;
    cc->echoes_ecn = cc->ops->echoes_ecn;
    if (cc->ops->init != NULL) {
        cc->ops->init(cc);
    }
    nic__repath_connect(qp);
    qp->flags |= cc->ops->sent != NULL ? NIC_QP_CC_SENT : 0;
    qp->flags |= config->window_overshoot ? NIC_QP_OVERSHOOT : 0;
    if (qp->type == NIC_QPT_RC &&
        (cc->ops->telemetry != NET_TELEMETRY_NONE || cc->acks_every_packet || cc->echoes_ecn ||
         cc->bdp_window == NIC_BDP_WINDOW_SCALED)) {
        qp->flags |= NIC_QP_FEEDBACK;
    }
    qp->flags |= cc->ops->window_overshoots || cc->bdp_window ? NIC_QP_OVERSHOOT : 0;
    nic__cc_sync(qp);
}

void nic_exempt(nic_t *nic)
{
    if (nic->counters.qps_created == 0) {
        nic->exempt = true;
        nic->cc_ops = &nic_cc_none;
    }
}

void nic__cc_sync(nic_qp_t *qp)
{
    const nic_cc_t *const cc = nic__cc_const(qp);
    SIM_CHECKF(cc->rate_bps > 0 && cc->rate_bps <= cc->line_bps,
               "%s set a rate of %" PRIu64 " bit/s on a line of %" PRIu64 " bit/s", cc->ops->name,
               cc->rate_bps, cc->line_bps);
    const uint64_t window_before_bytes = qp->window_bytes;
    const bool paced = cc->rate_bps < nic__line_bps(qp->nic);
    qp->flags = (uint16_t)(paced ? qp->flags | NIC_QP_PACED : qp->flags & ~NIC_QP_PACED);
    nic__repace(qp);
    const uint64_t window_now_bytes = effective_window(cc);
    if (window_now_bytes != qp->window_bytes) {
        const bool wider = window_now_bytes > qp->window_bytes;
        qp->window_bytes = window_now_bytes;
        if (wider && qp->nic->loop == NULL) { // a loop looks when it will
            nic__schedule(qp);
        } else if (!nic__can_send(qp)) {
            nic__unschedule(qp);
        }
    }
    if (nic__traced(qp->nic, NIC_TRACE_RATE | NIC_TRACE_WINDOW | NIC_TRACE_CONTROL)) {
        nic__trace_control(qp, window_before_bytes);
    }
}

void nic_cc_rate_changed(nic_cc_t *cc)
{
    nic__cc_sync(nic__cc_qp(cc));
}

uint32_t nic_cc_others_active(const nic_cc_t *cc)
{
    const nic_qp_t *const qp = (const nic_qp_t *)(const void *)((const char *)cc - NIC_QP_BYTES);
    return qp->nic->active_qps - (uint32_t)cc->active;
}

void nic__cc_start(nic_qp_t *qp)
{
    qp->flags |= NIC_QP_ACTIVE;
    qp->nic->active_qps++;
    if (SIM_UNLIKELY(qp->nic->draws)) {
        qp->pace_remainder = 0; // else the first packets would depend on those before the rest
    }
    if (qp->nic->cc_ops == &nic_cc_none) {
        return; // it has no use for its line
    }
    nic_cc_t *const cc = nic__cc(qp);
    cc->active = true;
    if (cc->ops->start != NULL) {
        cc->ops->start(cc);
        nic__cc_sync(qp);
    }
}

void nic__cc_stop(nic_qp_t *qp)
{
    if ((qp->flags & NIC_QP_ACTIVE) == 0) {
        return;
    }
    qp->flags &= (uint16_t)~NIC_QP_ACTIVE;
    qp->nic->active_qps--;
    if (qp->nic->cc_ops == &nic_cc_none) {
        return;
    }
    nic_cc_t *const cc = nic__cc(qp);
    cc->active = false;
    if (cc->ops->stop != NULL) {
        cc->ops->stop(cc);
    }
}

static bool nak_cuts(const nic_qp_t *qp)
{
    return qp->nic->host->config->nak_cuts && (qp->flags & NIC_QP_ACTIVE) != 0;
}

sim_time_t nic__host_delay_ps(const nic_t *nic)
{
    return nic->cc_ops->hears_hosts && nic->detailed ? nic__node(nic)->now_ps - nic->arrived_ps : 0;
}

// Returns the time of a packet and of its ACK in the NICs of both ends.
static SIM_NOINLINE sim_time_t host_ps_of(const nic_qp_t *qp, const net_packet_t *packet)
{
    const bool told = (qp->flags & NIC_QP_HOST_TOLD) != 0 && !packet->addressed;
    return nic__host_delay_ps(qp->nic) + (told ? net_packet_aside(packet)->reth.address : 0);
}

static inline void tell_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t end_psn,
                            uint64_t acked_bytes, bool nak)
{
    nic_cc_t *const cc = nic__cc(qp);
    if (!cc->hears_acks || (nic__repaths(qp) && !nic__repath_ack(qp, packet))) {
        return;
    }
    // If algorithms share one random sequence with the network (net_dice_t), the ACK that ends a
    // flow draws nothing, because its queue pair is gone by then.
    if (SIM_UNLIKELY(cc->dice != NULL) && qp->sq_done == qp->sq_posted) {
        return;
    }
    const nic_cc_ack_t ack = {
        .rtt_ps = packet->sent_ps == SIM_TIME_NEVER ? 0 : cc->node->now_ps - packet->sent_ps,
        .host_ps = SIM_UNLIKELY(cc->ops->hears_hosts) ? host_ps_of(qp, packet) : 0,
        .acked_bytes = acked_bytes,
        .acked_psn = end_psn - qp->first_psn,
        .next_psn = qp->next_psn - qp->first_psn,
        .nak = nak,
        .ecn_echo = packet->becn || (nak && nak_cuts(qp)),
        .packet = packet,
        .telemetry = (net_telemetry_t)packet->telemetry,
        .hop_count = packet->hop_count,
        .path_id = packet->path_id,
        .digest = packet->digest,
        .hops = packet->telemetry == NET_TELEMETRY_INT ? net_packet_telemetry(packet) : NULL,
    };
    cc->ops->ack(cc, &ack);
    nic__cc_sync(qp);
}

// Lets the algorithm take a NAK for a CNP. One that gets marks in ACKs finds a mark in it instead.
static SIM_NOINLINE void cut_for_nak(nic_qp_t *qp)
{
    nic_cc_t *const cc = nic__cc(qp);
    if (nak_cuts(qp) && !cc->echoes_ecn && cc->ops->cnp != NULL) {
        cc->ops->cnp(cc);
        nic__cc_sync(qp);
    }
}

void nic__cc_tell_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t acked_bytes, bool nak)
{
    if (SIM_UNLIKELY(nak)) {
        cut_for_nak(qp);
    }
    tell_ack(qp, packet, qp->una_psn, acked_bytes, nak);
}

void nic__cc_late_ack(nic_qp_t *qp, const net_packet_t *packet, uint64_t end_psn)
{
    tell_ack(qp, packet, end_psn, 0, false);
}

// Copies records in whole lines: gcc makes `rep movs` of a length that is not constant, which takes
// 5 % of a run's time.
static inline void copy_records(uint64_t *to, const uint64_t *from, uint32_t count)
{
    if (SIM_LIKELY(count * sizeof(*to) <= SIM_CACHE_LINE)) {
        memcpy(to, from, SIM_CACHE_LINE);
    } else {
        memcpy(to, from, NET_INT_HOPS_MAX * sizeof(*to));
    }
}

void nic__add_telemetry(nic_t *nic, net_packet_t *packet, net_telemetry_t kind,
                        const net_packet_t *from)
{
    packet->telemetry = (unsigned)kind & 3u;
    if (from != NULL) {
        packet->path_id = from->path_id;
        packet->digest = from->digest;
        packet->hop_count = from->hop_count;
        if (kind == NET_TELEMETRY_INT) {
            copy_records(net_packet_telemetry(packet), net_packet_telemetry(from), from->hop_count);
        }
    }
    net_node_t *const node = &nic->host->node;
    net_packet_grow(node, packet, net_packet_telemetry_bytes(node->net, packet));
}
