// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/credit.c - RCCC: a receiver paces its senders by credit.
//
// Each packet says how much its sender wants to send. The receiver grants four packets at a time,
// to its senders in turn, a little slower than its link. Senders begin with a window without
// credit, and lose the rest of it when they hear the first answer.
//
// With nic.uec.demand "missing", the rules are those of the public simulator. Receivers grant no
// more than a sender asks for. Each time that this is reached, the PDC gets one turn more to
// credit that it did not ask for. A sender that asks for more, and yet for less than it was
// granted, gets a turn without credit. Receivers do not learn that a PDC has ended: its turns go
// on. Page: docs/models/uec.md.
#include "nic/transport/uec/credit.h"
#include "nic/cc/control.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport/responder_internal.h"
#include "nic/transport/uec/uec.h"

#define GRANT_PACKETS 4u        // payloads
#define GRANT_UNIT 256          // bytes of credit
#define GRANT_BYTES_LEAST 1024u // of time on the link that a grant of 0 bytes takes
#define TURNS_MAX 4096u         // turns of a PDC that wait
#define PACE 0.99               // share of the link's rate that grants take
// The rule for narrow fabrics.
#define NARROW_PERIOD 1.5 // round trips, a quarter more or less
#define NARROW_SPREAD 0.5
#define NARROW_MARKED 0.3 // share of marked packets from which on grants get fewer
#define NARROW_CUT 0.5
#define NARROW_STEP 0.01
#define NARROW_FLOOR 0.9
#define NARROW_DOUBLINGS 6u

// A turn of a PDC to credit that it did not ask for.
typedef struct turn {
    sim_link_t link;
    nic_uec_grants_t *grants;
} turn_t;

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
    if (uec->credited) {
        uec->grants = sim_alloc(sizeof(*uec->grants));
        *uec->grants = (nic_uec_grants_t){
            .uec = uec,
            .line_bps = uec->nscc.line_bps,
            .size_bytes = grant_size(uec),
            .ahead_max_bytes = (uint64_t)uec->nscc.cap_bytes,
            .missing_only = uec->config->demand == NIC_UEC_DEMAND_MISSING,
        };
    }
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

// Returns the bytes of credit to ask for beyond what was granted. With the demand "missing" they
// are negative while the sender has more credit than it needs.
static int64_t demand_bytes(const nic_uec_t *uec)
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
        return missing > 0 ? missing : 0;
    }
    if (uec->speculative && backlog > 0) {
        missing = SIM_MAX(missing, (int64_t)uec->nscc.mtu_bytes);
    }
    const int64_t share = missing / waiting_count(qp);
    const int64_t up = share > 0 ? GRANT_UNIT - 1 : 0; // whole units, rounded up
    return (share + up) / GRANT_UNIT * GRANT_UNIT;
}

void nic__uec_use_credit(nic_uec_t *uec, net_packet_t *packet)
{
    if (!uec->credited || packet->payload_bytes == 0) {
        return;
    }
    uec->credit_bytes -= nic__flight_frame_bytes(uec->held.base.qp, packet->payload_bytes);
    const uint64_t target_bytes = uec->granted_bytes + (uint64_t)demand_bytes(uec);
    net_packet_aside(packet)->credit_target = (uint32_t)target_bytes; // wraps
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

// Sends credit of so many bytes more, unless the PDC has ended.
static void send_grant(nic_uec_grants_t *grants, uint64_t bytes)
{
    nic_uec_t *const uec = grants->uec;
    grants->granted_bytes += bytes;
    if (uec == NULL) {
        return;
    }
    nic_qp_t *const qp = uec->held.base.qp;
    net_packet_t *const packet = nic_transport_answer(qp, uec->held.kept.first_psn, 0, 0, NULL);
    net_packet_aside_t *const aside = net_packet_aside(packet);
    packet->opcode = ROCE_UET_CREDIT;
    packet->psn = (uint32_t)uec->held.kept.first_psn;
    aside->sack.granted_bytes = grants->granted_bytes;
    aside->uet.flags = 0;
    nic__uec_dress(qp, packet,
                   nic__entropy_port(qp, uec->rod ? 0 : nic__uec_paths_any(&uec->paths)));
    nic__uec_shared(uec)->credits++;
    nic_transport_send(qp, packet);
}

static void arm_pacer(nic_uec_shared_t *shared)
{
    sim_node_t *const node = nic__node(shared->nic);
    const bool any = shared->owed.first != NULL || shared->turns.first != NULL;
    if (any && !sim_timer_armed(&shared->pacer)) {
        const sim_time_t now_ps = node->now_ps;
        sim_timer_arm(node, &shared->pacer, SIM_MAX(shared->paced_ps, now_ps));
    }
}

static void set_owed(nic_uec_shared_t *shared, nic_uec_grants_t *grants, bool owed)
{
    if (owed && !grants->is_owed) {
        sim_list_push_last(&shared->owed, &grants->owed);
    } else if (!owed && grants->is_owed) {
        sim_list_remove(&shared->owed, &grants->owed);
    }
    grants->is_owed = owed;
}

// Frees what was granted to a PDC that has ended, once it waits for nothing.
static void free_if_over(nic_uec_grants_t *grants)
{
    if (grants->uec == NULL && !grants->is_owed && grants->turn_count == 0) {
        sim_free(grants);
    }
}

// Adds a turn to credit that the PDC did not ask for.
static void add_turn(nic_uec_shared_t *shared, nic_uec_grants_t *grants)
{
    if (grants->turn_count < TURNS_MAX) {
        turn_t *const turn = sim_alloc(sizeof(*turn));
        *turn = (turn_t){.grants = grants};
        sim_list_push_last(&shared->turns, &turn->link);
        grants->turn_count++;
    }
}

static uint64_t owed_bytes(const nic_uec_grants_t *grants)
{
    return grants->target_bytes - SIM_MIN(grants->target_bytes, grants->granted_bytes);
}

// Grants credit to the next PDC that is owed some. Returns the bytes.
static uint64_t grant_owed(nic_uec_shared_t *shared, nic_uec_grants_t *grants)
{
    const uint64_t bytes =
        grants->missing_only ? SIM_MIN(grants->size_bytes, owed_bytes(grants)) : grants->size_bytes;
    set_owed(shared, grants, false);
    send_grant(grants, bytes);
    if (owed_bytes(grants) > 0) {
        set_owed(shared, grants, true);
    } else if (grants->missing_only) {
        add_turn(shared, grants);
    }
    return bytes;
}

// Grants credit to a PDC that did not ask for it, up to its largest window ahead of what it asked.
static uint64_t grant_turn(nic_uec_shared_t *shared, turn_t *turn)
{
    nic_uec_grants_t *const grants = turn->grants;
    const uint64_t bytes = grants->size_bytes;
    sim_list_remove(&shared->turns, &turn->link);
    sim_free(turn);
    grants->turn_count--;
    send_grant(grants, bytes);
    if (owed_bytes(grants) == 0 &&
        grants->granted_bytes - grants->target_bytes < grants->ahead_max_bytes) {
        add_turn(shared, grants);
    }
    free_if_over(grants);
    return bytes;
}

static void pace(sim_node_t *node, sim_timer_t *timer)
{
    nic_uec_shared_t *const shared = SIM_CONTAINER_OF(timer, nic_uec_shared_t, pacer);
    nic_uec_grants_t *const owed = SIM_LIST_FIRST(&shared->owed, nic_uec_grants_t, owed);
    turn_t *const turn = SIM_LIST_FIRST(&shared->turns, turn_t, link);
    if (owed == NULL && turn == NULL) {
        return; // the PDCs that waited have ended
    }
    const double line_bps = (double)(owed != NULL ? owed : turn->grants)->line_bps;
    const uint64_t granted = owed != NULL ? grant_owed(shared, owed) : grant_turn(shared, turn);
    const double bits = (double)(granted != 0 ? granted : GRANT_BYTES_LEAST) * 8;
    shared->paced_ps = node->now_ps + (sim_time_t)(bits * (double)SIM_PS_PER_S /
                                                   (PACE * shared->share * line_bps));
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
    nic_uec_grants_t *const grants = uec->grants;
    const uint32_t told_bytes = net_packet_aside(packet)->credit_target;
    const int32_t ahead_bytes = (int32_t)(told_bytes - (uint32_t)grants->target_bytes);
    grants->target_bytes += ahead_bytes > 0 ? (uint32_t)ahead_bytes : 0;
    grants->target_bytes += grants->missing_only ? 0 : more_bytes;
    const bool takes_turn = grants->missing_only && (ahead_bytes > 0 || more_bytes != 0);
    if (owed_bytes(grants) > 0 || takes_turn) {
        nic_uec_shared_t *const shared = nic__uec_shared(uec);
        set_owed(shared, grants, true);
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
    nic_uec_grants_t *const grants = uec->grants;
    if (grants == NULL) {
        return;
    }
    if (!grants->missing_only) {
        set_owed(shared, grants, false);
    }
    grants->uec = NULL;
    uec->grants = NULL;
    free_if_over(grants);
    if (shared->owed.first == NULL && shared->turns.first == NULL) {
        sim_timer_cancel(nic__node(shared->nic), &shared->pacer);
    }
}

void nic__uec_pacer_fini(nic_t *nic, void *nic_state)
{
    nic_uec_shared_t *const shared = nic_state;
    (void)nic;
    while (shared->owed.first != NULL) {
        nic_uec_grants_t *const grants = SIM_LIST_FIRST(&shared->owed, nic_uec_grants_t, owed);
        set_owed(shared, grants, false);
        free_if_over(grants);
    }
    while (shared->turns.first != NULL) {
        turn_t *const turn = SIM_LIST_POP(&shared->turns, turn_t, link);
        turn->grants->turn_count--;
        free_if_over(turn->grants);
        sim_free(turn);
    }
}
