// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/scan.c - the scheduler "scan": one list of queue pairs, searched in turn.
//
// Queue pairs with unfinished work are in a list, in the order in which they became ready. When the
// port may be free, the NIC searches from behind the queue pair served last for one that may send:
// O(QPs) per packet. Packets in the port's queues (ACKs, NAKs, CNPs) go first unless their class is
// paused. A queue pair may send if its class is not paused, it has unsent data, its window is open,
// and the time of its last packet at its rate is over. If none may send, a timer is set to the
// earliest such time over all queue pairs with unsent data, whatever else they wait for, unless
// that time has come or the timer is set already. Finished queue pairs leave the list when a search
// meets them. Page: docs/models/hpcc-compat.md. Behaviour learnt from
// alibaba-edu/High-Precision-Congestion-Control: qbb-net-device.cc, rdma-hw.cc.
#include "compat/hpcc/rules.h"

#include "kernel/order/fifo.h"
#include "net/models.h"
#include "net/port_control.h"
#include "net/port_pause.h"
#include "nic/scheduler.h"

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(compat_hpcc_scan_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "nic.scan.rate-change", rate_change, "never", "never|last-packet", "effect of a new rate on the packet that was sent last; last-packet: its time at the rate is computed anew; never: unchanged"),
    ATTR(BOOL, "nic.scan.rate-bound", rate_bound, "true", "true: queue pairs keep to their own rate; false: only to the rate of the line"),
    ATTR(COUNT, "nic.scan.ack-pause-class", ack_pause_class, "auto", "0", "7", "class whose pause holds back ACKs, NAKs and CNPs; auto: their own class", .auto_ok = true),
};
const sim_attr_table_t compat_hpcc_scan_config_attrs = {
    "nic.scan", "node", sizeof(compat_hpcc_scan_config_t), attrs, SIM_COUNT_OF(attrs),
};
// clang-format on

typedef struct scan_qp {
    nic_qp_t *qp;
    sim_time_t next_send_ps;   // earliest time of the next packet
    uint64_t pace_bps;         // rate from which next_send_ps was computed
    sim_time_t pace_ps;        // time of the last packet at pace_bps
    uint32_t last_frame_bytes; // size of the last packet sent; 0: none yet
    uint8_t class;
    bool listed;
} scan_qp_t;
#define QP_STATE_BYTES SIM_CACHE_LINE
static_assert(sizeof(scan_qp_t) <= QP_STATE_BYTES, "one cache line per queue pair");

typedef struct scan {
    nic_t *nic;
    net_port_t *port;
    sim_node_t *node;
    const compat_hpcc_scan_config_t *config;
    scan_qp_t **list; // entry NULL: that queue pair has finished
    uint32_t count;
    uint32_t capacity;
    uint32_t last;     // position served last, in the list as it was then
    uint8_t ack_class; // class of the queue of ACKs, and whose pause holds them back
    bool receiving;    // a packet is being handled
    sim_timer_t wake;
} scan_t;

static scan_t *scan_of(const nic_t *nic)
{
    return nic_scheduler_state(nic);
}

static scan_qp_t *entry_of(nic_qp_t *qp)
{
    return nic_scheduler_qp_state(qp);
}

static inline bool is_free(const scan_t *scan)
{
    const sim_node_t *const node = scan->node;
    return node->now_ps > scan->port->busy_until_ps ||
           (node->now_ps == scan->port->busy_until_ps && sim_fifo_passed(node, scan->port->index));
}

static inline bool is_finished(const scan_qp_t *entry)
{
    return entry == NULL || nic_scheduler_finished(entry->qp);
}

// -- the list

static void forget(scan_t *scan, uint32_t position)
{
    if (scan->list[position] != NULL) {
        scan->list[position]->listed = false;
        scan->list[position] = NULL;
    }
}

static void stopped(nic_qp_t *qp)
{
    scan_t *const scan = scan_of(nic_qp_nic(qp));
    const scan_qp_t *const entry = entry_of(qp);
    for (uint32_t i = 0; entry->listed && i < scan->count; i++) {
        if (scan->list[i] == entry) {
            forget(scan, i);
        }
    }
}

#define NONE UINT32_MAX

// Removes finished queue pairs, from the first that the search met. Returns the new position of
// `chosen`.
static uint32_t compact(scan_t *scan, uint32_t first, uint32_t chosen)
{
    uint32_t to = first;
    uint32_t moved = chosen;
    forget(scan, first);
    for (uint32_t i = first + 1; i < scan->count; i++) {
        if (is_finished(scan->list[i])) {
            forget(scan, i);
            continue;
        }
        if (i == chosen) {
            moved = to;
        }
        scan->list[to++] = scan->list[i];
    }
    scan->count = to;
    SIM_CHECK(chosen == NONE || moved < to); // a queue pair that may send has not finished
    return moved;
}

static uint32_t search(scan_t *scan)
{
    const sim_time_t now_ps = scan->node->now_ps;
    uint32_t chosen = NONE;
    uint32_t first_finished = NONE;
    uint32_t position = scan->last;
    for (uint32_t i = 0; i < scan->count && chosen == NONE; i++) {
        position++;
        if (position >= scan->count) {
            position = position == scan->count ? 0 : position % scan->count;
        }
        const scan_qp_t *const entry = scan->list[position];
        if (is_finished(entry)) {
            first_finished = SIM_MIN(position, first_finished);
        } else if (entry->next_send_ps <= now_ps &&
                   (scan->port->paused & 1u << entry->class) == 0 &&
                   nic_scheduler_can_send(entry->qp)) {
            chosen = position;
        }
    }
    return first_finished == NONE ? chosen : compact(scan, first_finished, chosen);
}

// -- pacing

static sim_time_t packet_time_ps(const scan_t *scan, uint32_t bytes, uint64_t rate_bps)
{
    const net_timing_ops_t *const timing = scan->port->line->timing;
    return timing != NULL ? timing->rate_time_ps(bytes, rate_bps)
                          : (sim_time_t)((sim_wide_t)bytes * 8 * SIM_PS_PER_S / rate_bps);
}

// Computes pace_ps only if size or rate have changed, because most packets repeat both.
static void set_pace(const scan_t *scan, scan_qp_t *entry, uint32_t bytes, uint64_t rate_bps)
{
    if (bytes != entry->last_frame_bytes || rate_bps != entry->pace_bps) {
        entry->pace_ps = packet_time_ps(scan, bytes, rate_bps);
        entry->pace_bps = rate_bps;
        entry->last_frame_bytes = bytes;
    }
}

static void sent(nic_qp_t *qp, uint32_t bytes)
{
    const scan_t *const scan = scan_of(nic_qp_nic(qp));
    scan_qp_t *const entry = entry_of(qp);
    const nic_cc_t *const cc = nic_scheduler_cc(qp);
    nic_scheduler_tell_sent(qp, bytes);
    set_pace(scan, entry, bytes, cc->rate_bps);
    entry->next_send_ps =
        scan->node->now_ps +
        (scan->config->rate_bound ? entry->pace_ps : packet_time_ps(scan, bytes, cc->line_bps));
}

static void controlled(nic_qp_t *qp)
{
    scan_t *const scan = scan_of(nic_qp_nic(qp));
    if (scan->config->rate_change != COMPAT_HPCC_RATE_CHANGE_LAST_PACKET) {
        return;
    }
    scan_qp_t *const entry = entry_of(qp);
    const uint64_t rate_bps = nic_scheduler_cc(qp)->rate_bps;
    const bool set = nic_scheduler_take_rate_set(qp) || rate_bps != entry->pace_bps;
    if (entry->last_frame_bytes == 0 || !set) {
        return;
    }
    sim_node_t *const node = scan->node;
    entry->next_send_ps -= entry->pace_ps;
    set_pace(scan, entry, entry->last_frame_bytes, rate_bps);
    entry->next_send_ps += entry->pace_ps;
    if (sim_timer_armed(&scan->wake) &&
        entry->next_send_ps < sim_timer_time_ps(node, &scan->wake)) {
        sim_timer_arm(node, &scan->wake, SIM_MAX(node->now_ps, entry->next_send_ps));
    }
}

// -- sending

static void wake_later(scan_t *scan)
{
    sim_time_t earliest_ps = SIM_TIME_NEVER;
    for (uint32_t i = 0; i < scan->count; i++) {
        const scan_qp_t *const entry = scan->list[i];
        if (entry != NULL && entry->next_send_ps < earliest_ps && nic_scheduler_unsent(entry->qp)) {
            earliest_ps = entry->next_send_ps;
        }
    }
    if (!sim_timer_armed(&scan->wake) && earliest_ps != SIM_TIME_NEVER &&
        earliest_ps > scan->node->now_ps) {
        sim_timer_arm(scan->node, &scan->wake, earliest_ps);
    }
}

// Starts one packet on a free port. Returns false if nothing may be sent.
static bool transmit_next(scan_t *scan)
{
    net_port_t *const port = scan->port;
    if (port->controlled) {
        net_port_transmit(port, net_port_take_control(port));
        return true;
    }
    if (port->waiting != 0 && (port->paused & 1u << scan->ack_class) == 0) {
        nic_scheduler_transmit_queued(scan->nic, (uint32_t)__builtin_ctz(port->waiting));
        return true;
    }
    for (;;) {
        const uint32_t chosen = search(scan);
        if (chosen == NONE) {
            wake_later(scan);
            return false;
        }
        scan->last = chosen;
        if (nic_scheduler_transmit(scan->nic, scan->list[chosen]->qp)) {
            return true;
        }
    }
}

static void port_free(nic_t *nic)
{
    scan_t *const scan = scan_of(nic);
    const net_port_t *const port = scan->port;
    // The end of each frame wakes the NIC to search again; it may set its timer then.
    if (transmit_next(scan) && (scan->count > 0 || port->waiting != 0 || port->controlled)) {
        net_port_wake(scan->port);
    }
}

static void look(scan_t *scan)
{
    if (is_free(scan)) {
        port_free(scan->nic);
    } else {
        net_port_wake(scan->port);
    }
}

static void wake_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    look(SIM_CONTAINER_OF(timer, scan_t, wake));
}

static void ready(nic_qp_t *qp)
{
    nic_t *const nic = nic_qp_nic(qp);
    scan_t *const scan = scan_of(nic);
    scan_qp_t *const entry = entry_of(qp);
    if (!entry->listed) {
        entry->qp = qp;
        entry->class = (uint8_t)nic_scheduler_class(qp);
        entry->listed = true;
        SIM_APPEND(scan->list, scan->count, scan->capacity, entry);
        const sim_time_t now_ps = scan->node->now_ps;
        entry->next_send_ps = SIM_MAX(entry->next_send_ps, now_ps);
        if (nic_scheduler_in_event(nic) && !scan->receiving) {
            look(scan); // before the same event makes other queue pairs ready
            return;
        }
    }
    nic_scheduler_kick(nic);
}

// -- receiving

// Handles a packet that has arrived. The port is served again after a resume and after each answer;
// data only produces an ACK, which starts the port by itself.
static void arrived(nic_t *nic, net_packet_t *packet)
{
    scan_t *const scan = scan_of(nic);
    net_port_t *const port = scan->port;
    uint8_t released = UINT8_MAX;
    if (net_port_lost_on_arrival(port)) {
        net_port_drop(port, packet, NET_DROP_LINK_LOSS);
        return;
    }
    if (packet->kind == NET_PACKET_ROCE) {
        const bool data = packet->opcode != ROCE_CNP &&
                          (packet->opcode & ROCE_OPERATION_MASK) < ROCE_READ_REQUEST;
        released = data ? 0 : UINT8_MAX;
        scan->receiving = true;
        nic_scheduler_receive(nic, packet);
        scan->receiving = false;
    } else {
        released = net_port_control_received(port, packet);
        nic_scheduler_consume(nic, packet);
    }
    if (released != 0) {
        nic_scheduler_kick(nic);
    }
}

// Returns the same queue for all answers; switches classify them by their DSCP.
static uint8_t answer_queue(const nic_t *nic, uint8_t class)
{
    (void)class;
    return scan_of(nic)->ack_class;
}

// -- life

static void create(nic_t *nic, const void *config)
{
    scan_t *const scan = scan_of(nic);
    const nic_config_t *const common = nic_get_config(nic);
    scan->nic = nic;
    scan->port = nic_scheduler_port(nic);
    scan->node = &scan->port->node->sim;
    scan->config = config;
    const uint64_t own_class =
        common->ack_priority == SIM_AUTO ? common->priority : common->ack_priority;
    const uint64_t class =
        scan->config->ack_pause_class == SIM_AUTO ? own_class : scan->config->ack_pause_class;
    scan->ack_class = (uint8_t) class;
    sim_timer_init(&scan->wake, wake_fired);
}

static void destroy(nic_t *nic)
{
    sim_free((void *)scan_of(nic)->list);
}

static const nic_schedule_loop_t loop = {
    .ready = ready,
    .stopped = stopped,
    .controlled = controlled,
    .port_free = port_free,
    .sent = sent,
    .arrived = arrived,
    .answer_queue = answer_queue,
    .hears_late_acks = true,
};

const nic_scheduler_ops_t compat_hpcc_scan = {
    .name = "scan",
    .attrs = &compat_hpcc_scan_config_attrs,
    .state_bytes = sizeof(scan_t),
    .qp_state_bytes = QP_STATE_BYTES,
    .create = create,
    .destroy = destroy,
    .loop = &loop,
};
