// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/credit.c - RCCC: a receiver paces its senders by credit.
//
// Each packet says how much its sender wants to send. The receiver grants four packets at a time,
// to its senders in turn, a little slower than its link. Senders begin with a window without
// credit, and lose the rest of it when they hear the first answer. With nic.uec.demand "missing",
// receivers grant no more than that; then PDCs that asked for no more get credit ahead. Page:
// docs/models/uec.md.
#include "nic/transport/uec/credit.h"
#include "nic/cc/control.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/responder_internal.h"
#include "nic/transport/uec/uec.h"

#define GRANT_PACKETS 4u        // payloads
#define GRANT_UNIT 256u         // bytes of credit
#define GRANT_BYTES_LEAST 1024u // of time on the link that a grant of 0 bytes takes
#define PACE 0.99               // share of the link's rate that grants take
// The rule for narrow fabrics.
#define NARROW_PERIOD 1.5 // round trips, a quarter more or less
#define NARROW_SPREAD 0.5
#define NARROW_MARKED 0.3 // share of marked packets from which on grants get fewer
#define NARROW_CUT 0.5
#define NARROW_STEP 0.01
#define NARROW_FLOOR 0.9
#define NARROW_DOUBLINGS 6u

static uint32_t grant_size(const nic_uec_t *uec)
{
    const uint32_t bytes = GRANT_PACKETS * (uint32_t)uec->nscc.mss_bytes;
    return bytes > GRANT_UNIT ? bytes / GRANT_UNIT * GRANT_UNIT : bytes;
}

// -- sender

void nic__uec_credit_open(nic_uec_t *uec)
{
    uec->speculative = true;
    uec->credit_bytes = (int64_t)uec->nscc.cap_bytes;
}

// Returns the bytes that wait to be sent for the first time, or again; at most `limit`.
static uint64_t backlog_bytes(const nic_uec_t *uec, uint64_t limit)
{
    const nic_qp_t *const qp = uec->held.base.qp;
    uint64_t bytes = uec->held.resend.waiting * (uint64_t)uec->nscc.mtu_bytes;
    uint64_t sent_bytes = qp->send_offset;
    for (uint32_t i = qp->sq_send; i != qp->sq_posted && bytes < limit; i++) {
        const uint64_t left_bytes = nic__wqe(qp, i)->length - sent_bytes;
        const uint64_t packets = (left_bytes + qp->mtu_bytes - 1) / qp->mtu_bytes;
        bytes += left_bytes + packets * nic__flight_frame_bytes(qp, 0);
        sent_bytes = 0;
    }
    return SIM_MIN(bytes, limit);
}

// Returns the number of queue pairs that could send now, this one included.
static uint32_t waiting_count(const nic_qp_t *qp)
{
    uint32_t count = 1;
    const nic_qp_t *at = (qp->flags & NIC_QP_READY) != 0 ? qp->ready_next : qp;
    for (; at != qp; at = at->ready_next) {
        count++;
    }
    return count;
}

// Returns the bytes of credit to ask for beyond what was granted.
static uint64_t demand_bytes(const nic_uec_t *uec)
{
    const nic_qp_t *const qp = uec->held.base.qp;
    const bool missing_only = uec->config->demand == NIC_UEC_DEMAND_MISSING;
    // Flows that are active at the NIC share the largest window.
    const uint64_t sharers = missing_only ? 1 : 1 + nic_cc_others_active(nic__cc_const(qp));
    const uint64_t backlog = backlog_bytes(uec, (uint64_t)uec->nscc.cap_bytes / sharers);
    uint64_t wanted = backlog;
    const double window = uec->nscc.window_bytes + uec->nscc.mtu_bytes;
    if (uec->windowed && (double)wanted > window) {
        wanted = (uint64_t)window;
    }
    // The rest of the speculative window will be taken away; an overdrawn part is owed.
    const bool spends = missing_only || !uec->speculative;
    int64_t missing = (int64_t)wanted - (spends ? uec->credit_bytes : 0);
    if (!missing_only) {
        return missing > 0 ? (uint64_t)missing : 0;
    }
    if (uec->speculative && backlog > 0) {
        missing = SIM_MAX(missing, (int64_t)uec->nscc.mtu_bytes);
    }
    const uint64_t share = missing > 0 ? (uint64_t)missing / waiting_count(qp) : 0;
    return (share + GRANT_UNIT - 1) / GRANT_UNIT * GRANT_UNIT;
}

void nic__uec_use_credit(nic_uec_t *uec, net_packet_t *packet)
{
    if (!uec->credited || packet->payload_bytes == 0) {
        return;
    }
    uec->credit_bytes -= nic__flight_frame_bytes(uec->held.base.qp, packet->payload_bytes);
    net_packet_aside(packet)->credit_target = (uint32_t)(uec->granted_bytes + demand_bytes(uec));
}

void nic__uec_take_credit(nic_uec_t *uec, uint64_t granted_bytes)
{
    if (!uec->credited) {
        return;
    }
    if (uec->speculative) {
        uec->speculative = false;
        uec->credit_bytes = 0;
    }
    if (granted_bytes > uec->granted_bytes) {
        uec->credit_bytes += (int64_t)(granted_bytes - uec->granted_bytes);
        uec->granted_bytes = granted_bytes;
    }
}

// -- receiver

// Sends credit of so many bytes more.
static void send_grant(nic_uec_t *uec, uint64_t bytes)
{
    nic_qp_t *const qp = uec->held.base.qp;
    net_packet_t *const packet = nic_transport_answer(qp, uec->held.kept.first_psn, 0, 0, NULL);
    net_packet_aside_t *const aside = net_packet_aside(packet);
    uec->grant_bytes += bytes;
    packet->opcode = ROCE_UET_CREDIT;
    packet->psn = (uint32_t)uec->held.kept.first_psn;
    aside->sack.granted_bytes = uec->grant_bytes;
    aside->uet.flags = 0;
    nic__uec_dress(qp, packet,
                   nic__entropy_port(qp, uec->rod ? 0 : nic__uec_paths_any(&uec->paths)));
    nic__uec_shared(uec)->credits++;
    nic_transport_send(qp, packet);
}

static void arm_pacer(nic_uec_shared_t *shared)
{
    sim_node_t *const node = nic__node(shared->nic);
    const bool any = shared->owed.first != NULL || shared->idle.first != NULL;
    if (any && !sim_timer_armed(&shared->pacer)) {
        const sim_time_t now_ps = node->now_ps;
        sim_timer_arm(node, &shared->pacer, SIM_MAX(shared->paced_ps, now_ps));
    }
}

static void set_owed(nic_uec_shared_t *shared, nic_uec_t *uec, bool owed)
{
    if (owed && !uec->is_owed) {
        sim_list_push_last(&shared->owed, &uec->owed);
    } else if (!owed && uec->is_owed) {
        sim_list_remove(&shared->owed, &uec->owed);
    }
    uec->is_owed = owed;
}

static void set_idle(nic_uec_shared_t *shared, nic_uec_t *uec, bool idle)
{
    if (idle && !uec->is_idle) {
        sim_list_push_last(&shared->idle, &uec->idle);
    } else if (!idle && uec->is_idle) {
        sim_list_remove(&shared->idle, &uec->idle);
    }
    uec->is_idle = idle;
}

// Grants credit to the next PDC that is owed some. Returns the bytes.
static uint64_t grant_owed(nic_uec_shared_t *shared, nic_uec_t *uec)
{
    uint64_t bytes = grant_size(uec);
    const bool missing_only = uec->config->demand == NIC_UEC_DEMAND_MISSING;
    if (missing_only) {
        const uint64_t owed = uec->target_bytes - SIM_MIN(uec->target_bytes, uec->grant_bytes);
        bytes = SIM_MIN(bytes, owed);
    }
    set_owed(shared, uec, false);
    send_grant(uec, bytes);
    if (uec->target_bytes > uec->grant_bytes) {
        set_owed(shared, uec, true);
    } else if (missing_only) {
        set_idle(shared, uec, true);
    }
    return bytes;
}

// Grants credit to a PDC that did not ask for it, up to its largest window ahead of what it asked.
static uint64_t grant_idle(nic_uec_shared_t *shared, nic_uec_t *uec)
{
    const uint64_t bytes = grant_size(uec);
    set_idle(shared, uec, false);
    send_grant(uec, bytes);
    const uint64_t ahead_bytes = uec->grant_bytes - SIM_MIN(uec->target_bytes, uec->grant_bytes);
    set_idle(shared, uec, ahead_bytes != 0 && ahead_bytes < (uint64_t)uec->nscc.cap_bytes);
    return bytes;
}

static void pace(sim_node_t *node, sim_timer_t *timer)
{
    nic_uec_shared_t *const shared = SIM_CONTAINER_OF(timer, nic_uec_shared_t, pacer);
    nic_uec_t *uec = SIM_LIST_FIRST(&shared->owed, nic_uec_t, owed);
    const bool owed = uec != NULL;
    uec = owed ? uec : SIM_LIST_FIRST(&shared->idle, nic_uec_t, idle);
    SIM_CHECK(uec != NULL); // else the pacer is not armed
    const double rate_bps = PACE * shared->share * (double)uec->nscc.line_bps;
    const uint64_t granted = owed ? grant_owed(shared, uec) : grant_idle(shared, uec);
    const double bits = (double)(granted != 0 ? granted : GRANT_BYTES_LEAST) * 8;
    shared->paced_ps = node->now_ps + (sim_time_t)(bits * (double)SIM_PS_PER_S / rate_bps);
    arm_pacer(shared);
}

void nic__uec_pacer_init(nic_t *nic, void *nic_state, const void *config)
{
    (void)config;
    nic_uec_shared_t *const shared = nic_state;
    shared->nic = nic;
    shared->share = 1;
    sim_random_init(&shared->random, sim_options(nic__node(nic)->sim)->seed, nic->interface,
                    "uec-credit");
    sim_timer_init(&shared->pacer, pace);
}

void nic__uec_owe_credit(nic_uec_t *uec, const net_packet_t *packet, uint32_t more_bytes)
{
    if (!uec->credited) {
        return;
    }
    const uint32_t told_bytes = net_packet_aside(packet)->credit_target;
    const int32_t ahead_bytes = (int32_t)(told_bytes - (uint32_t)uec->target_bytes);
    uec->target_bytes += ahead_bytes > 0 ? (uint32_t)ahead_bytes : 0;
    const bool missing_only = uec->config->demand == NIC_UEC_DEMAND_MISSING;
    uec->target_bytes += missing_only ? 0 : more_bytes;
    if (uec->target_bytes > uec->grant_bytes || (missing_only && more_bytes != 0)) {
        nic_uec_shared_t *const shared = nic__uec_shared(uec);
        set_owed(shared, uec, true);
        arm_pacer(shared);
    }
}

// Ends a period: trims in the fabric and marks lower the share of grants, calm raises it.
static void end_period(nic_uec_shared_t *shared, double narrowness)
{
    const double came = (double)shared->came;
    shared->share -= (double)shared->came_cut / came;
    shared->marked = (shared->marked + (double)shared->came_marked / came) / 2;
    if (shared->marked > NARROW_MARKED) {
        shared->share *= 1 - NARROW_CUT * (shared->marked - NARROW_MARKED);
        shared->calm = 0;
    } else {
        shared->calm = shared->came_marked == 0 ? shared->calm + 1 : 0;
        const uint32_t doublings =
            shared->calm < NARROW_DOUBLINGS ? shared->calm : NARROW_DOUBLINGS;
        shared->share += NARROW_STEP * (double)(1u << doublings);
    }
    const double least =
        NARROW_FLOOR / narrowness > NARROW_STEP ? NARROW_FLOOR / narrowness : NARROW_STEP;
    shared->share = shared->share < least ? least : shared->share > 1 ? 1 : shared->share;
    shared->came = shared->came_marked = shared->came_cut = 0;
}

void nic__uec_note_fabric(nic_uec_t *uec, bool marked, bool cut)
{
    const sim_ratio_t narrowness = uec->config->narrowness;
    nic_uec_shared_t *const shared = nic__uec_shared(uec);
    if (!uec->credited || narrowness.num <= narrowness.den) {
        return;
    }
    const sim_time_t now_ps = nic__node(shared->nic)->now_ps;
    shared->came++;
    shared->came_marked += marked;
    shared->came_cut += cut;
    if (now_ps < shared->look_ps) {
        return;
    }
    if (shared->look_ps != 0) {
        end_period(shared, (double)narrowness.num / (double)narrowness.den);
    }
    const double drawn = (double)sim_random_below(&shared->random, 1000) / 1000;
    const double around = 1 + NARROW_SPREAD * (drawn - 0.5);
    shared->look_ps = now_ps + (sim_time_t)(NARROW_PERIOD * around * (double)uec->nscc.base_ps);
}

void nic__uec_credit_close(nic_uec_t *uec)
{
    nic_uec_shared_t *const shared = nic__uec_shared(uec);
    set_owed(shared, uec, false);
    set_idle(shared, uec, false);
    if (shared->owed.first == NULL && shared->idle.first == NULL) {
        sim_timer_cancel(nic__node(shared->nic), &shared->pacer);
    }
}
