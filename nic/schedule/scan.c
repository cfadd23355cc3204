// SPDX-License-Identifier: Apache-2.0
// nic/schedule/scan.c - the scheduler "scan": one list of queue pairs, looked through in turn.
//
// What waits in the port's queues (ACKs, NAKs, CNPs) goes first, unless its class is paused. Of the
// QPs, one may send if its class is not paused, it has something unsent, its window is open, and
// the time its last packet takes at its rate is over. If none may, a timer is set to the earliest
// such time over all QPs with something unsent, whatever else they wait for, unless that time has
// come or the timer is set already. QPs that have finished leave the list when a search meets them.
// Behaviour learnt from alibaba-edu/High-Precision-Congestion-Control: qbb-net-device.cc,
// rdma-hw.cc.
#include "nic/schedule/scan.h"

#include "kernel/order/fifo.h"
#include "net/models.h"

static inline bool is_free(const net_port_t *port)
{
    const sim_node_t *const node = &port->node->sim;
    return node->now_ps > port->busy_until_ps ||
           (node->now_ps == port->busy_until_ps && sim_fifo_passed(node, port->index));
}

static inline bool is_finished(const nic_qp_t *qp)
{
    return qp == NULL || (qp->sq_done == qp->sq_posted && (qp->flags & NIC_QP_READS) == 0);
}

// -- the list

static void forget(struct nic_scan *scan, uint32_t position)
{
    if (scan->qps[position] != NULL) {
        scan->qps[position]->rx_flags &= (uint8_t)~NIC_RX_LISTED;
        scan->qps[position] = NULL;
    }
}

void nic__scan_forget(nic_qp_t *qp)
{
    struct nic_scan *const scan = qp->nic->scan;
    if (scan == NULL || (qp->rx_flags & NIC_RX_LISTED) == 0) {
        return;
    }
    for (uint32_t i = 0; i < scan->count; i++) {
        if (scan->qps[i] == qp) {
            forget(scan, i);
        }
    }
}

// Takes finished ones out, from the first that the search met; returns where `chosen` is then.
static uint32_t compact(struct nic_scan *scan, uint32_t first, uint32_t chosen)
{
    uint32_t to = first;
    uint32_t moved = chosen;
    forget(scan, first);
    for (uint32_t i = first + 1; i < scan->count; i++) {
        if (is_finished(scan->qps[i])) {
            forget(scan, i);
            continue;
        }
        if (i == chosen) {
            moved = to;
        }
        scan->qps[to++] = scan->qps[i];
    }
    scan->count = to;
    return moved;
}

#define NONE UINT32_MAX
static uint32_t search(struct nic_scan *scan)
{
    const nic_t *const nic = scan->nic;
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    uint32_t chosen = NONE;
    uint32_t first_finished = NONE;
    for (uint32_t i = 1; i <= scan->count && chosen == NONE; i++) {
        const uint32_t position = (i + scan->last) % scan->count;
        const nic_qp_t *const qp = scan->qps[position];
        if (is_finished(qp)) {
            first_finished = position < first_finished ? position : first_finished;
        } else if ((nic->port->paused & 1u << qp->priority) == 0 && nic__can_send(qp) &&
                   qp->next_send_ps <= now_ps) {
            chosen = position;
        }
    }
    return first_finished == NONE ? chosen : compact(scan, first_finished, chosen);
}

// -- pacing

static sim_time_t packet_time_ps(const nic_t *nic, uint32_t bytes, uint64_t rate_bps)
{
    __extension__ typedef unsigned __int128 wide_t;
    const net_timing_ops_t *const timing = nic->port->timing;
    return timing != NULL ? timing->rate_time_ps(bytes, rate_bps)
                          : (sim_time_t)((wide_t)bytes * 8 * SIM_PS_PER_S / rate_bps);
}

static void pace(nic_t *nic, nic_qp_t *qp, sim_time_t now_ps, uint32_t bytes)
{
    nic_cc_t *const cc = nic__cc(qp);
    if ((qp->flags & NIC_QP_CC_SENT) != 0) {
        cc->ops->sent(cc, bytes);
        nic__cc_sync(qp);
    }
    const uint64_t rate_bps = nic->host->config.rate_bound ? cc->rate_bps : cc->line_bps;
    qp->next_send_ps = now_ps + packet_time_ps(nic, bytes, rate_bps);
    qp->pace_bps = cc->rate_bps;
    qp->last_frame_bytes = bytes;
}

void nic__scan_repace(nic_qp_t *qp)
{
    nic_t *const nic = qp->nic;
    nic_cc_t *const cc = nic__cc(qp);
    const uint64_t rate_bps = cc->rate_bps;
    const bool set = cc->rate_set || rate_bps != qp->pace_bps;
    cc->rate_set = false;
    if (nic->host->config.rate_change != NIC_RATE_CHANGE_LAST_PACKET || qp->last_frame_bytes == 0 ||
        !set) {
        return;
    }
    sim_node_t *const node = nic__node(nic);
    qp->next_send_ps += packet_time_ps(nic, qp->last_frame_bytes, rate_bps);
    qp->next_send_ps -= packet_time_ps(nic, qp->last_frame_bytes, qp->pace_bps);
    qp->pace_bps = rate_bps;
    sim_timer_t *const wake = &nic->scan->wake;
    if (sim_timer_armed(wake) && qp->next_send_ps < sim_timer_time_ps(node, wake)) {
        sim_timer_arm(node,
                      wake,
                      qp->next_send_ps < node->now_ps ? node->now_ps : qp->next_send_ps);
    }
}

// -- sending

// False: nothing was built, because a work request failed.
static bool transmit_qp(nic_t *nic, nic_qp_t *qp)
{
    const bool response = (qp->flags & NIC_QP_READS) != 0 &&
                          ((qp->flags & NIC_QP_TURN) == 0 || !nic__requester_ready(qp));
    net_packet_t *const packet =
        response ? nic__build_response(nic, qp) : nic__build_request(nic, qp);
    if (packet == NULL) {
        return false;
    }
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    const uint32_t bytes = packet->frame_bytes;
    const uint32_t payload_bytes = packet->payload_bytes;
    nic->counters.tx_packets++;
    nic->counters.tx_data_bytes += payload_bytes;
    net_port_transmit(nic->port, packet);
    qp->flags = (uint16_t)(response ? qp->flags | NIC_QP_TURN : qp->flags & ~NIC_QP_TURN);
    pace(nic, qp, now_ps, bytes);
    nic__trace(nic, qp, NIC_TRACE_SEND, payload_bytes, 0);
    nic__packet_left(qp, response);
    return true;
}

static void wake_later(struct nic_scan *scan)
{
    sim_node_t *const node = nic__node(scan->nic);
    sim_time_t earliest_ps = SIM_TIME_NEVER;
    for (uint32_t i = 0; i < scan->count; i++) {
        const nic_qp_t *const qp = scan->qps[i];
        if (qp != NULL && qp->sq_send != qp->sq_posted && qp->next_send_ps < earliest_ps) {
            earliest_ps = qp->next_send_ps;
        }
    }
    if (!sim_timer_armed(&scan->wake) && earliest_ps != SIM_TIME_NEVER &&
        earliest_ps > node->now_ps) {
        sim_timer_arm(node, &scan->wake, earliest_ps);
    }
}

// Starts one packet, with the port free. False: nothing may be sent.
static bool transmit_next(nic_t *nic)
{
    struct nic_scan *const scan = nic->scan;
    net_port_t *const port = nic->port;
    if (port->control != NULL) {
        net_packet_t *const control = port->control;
        port->control = control->next;
        net_port_transmit(port, control);
        return true;
    }
    if (port->waiting != 0 && (port->paused & 1u << scan->ack_class) == 0) {
        nic__transmit_queued(nic, (uint32_t)__builtin_ctz(port->waiting));
        return true;
    }
    for (;;) {
        const uint32_t chosen = search(scan);
        if (chosen == NONE) {
            wake_later(scan);
            return false;
        }
        scan->last = chosen;
        if (transmit_qp(nic, scan->qps[chosen])) {
            return true;
        }
    }
}

void nic__scan_transmit(nic_t *nic)
{
    const net_port_t *const port = nic->port;
    // At the end of each frame it looks again, and may set its timer then.
    if (transmit_next(nic) &&
        (nic->scan->count > 0 || port->waiting != 0 || port->control != NULL)) {
        net_port_wake(nic->port);
    }
}

static void look(nic_t *nic)
{
    if (is_free(nic->port)) {
        nic__scan_transmit(nic);
    } else {
        net_port_wake(nic->port);
    }
}

static void wake_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    look(SIM_CONTAINER_OF(timer, struct nic_scan, wake)->nic);
}

void nic__scan_add(nic_qp_t *qp)
{
    nic_t *const nic = qp->nic;
    struct nic_scan *const scan = nic->scan;
    if ((qp->rx_flags & NIC_RX_LISTED) == 0) {
        if (scan->count == scan->capacity) {
            scan->capacity = scan->capacity == 0 ? 16 : scan->capacity * 2;
            scan->qps = sim_realloc_array(scan->qps, scan->capacity, sizeof(nic_qp_t *));
        }
        scan->qps[scan->count++] = qp;
        qp->rx_flags |= NIC_RX_LISTED;
        const sim_time_t now_ps = nic__node(nic)->now_ps;
        qp->next_send_ps = qp->next_send_ps > now_ps ? qp->next_send_ps : now_ps;
        if (nic->host->in_event && !nic->receiving) {
            look(nic); // before others come in the same event
            return;
        }
    }
    nic__kick(nic);
}

// -- life

struct nic_scan *nic__scan_create(nic_t *nic)
{
    const nic_config_t *const config = &nic->host->config;
    const uint64_t own_class =
        config->ack_priority == SIM_AUTO ? config->priority : config->ack_priority;
    const uint64_t class =
        config->ack_pause_class == SIM_AUTO ? own_class : config->ack_pause_class;
    struct nic_scan *const scan = sim_alloc(sizeof(*scan));
    scan->nic = nic;
    scan->ack_class = (uint8_t) class;
    sim_timer_init(&scan->wake, wake_fired);
    return scan;
}

void nic__scan_destroy(struct nic_scan *scan)
{
    if (scan != NULL) {
        sim_free(scan->qps);
        sim_free(scan);
    }
}
