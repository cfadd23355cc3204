// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/connection.c - moves the messages of collectives over connections.
//
// A connection has a queue pair that stays, or one for each message (queue_pairs.c). A message is a
// WRITE with an immediate, for which a clear-to-send, a WRITE of 64 bytes, has come the other
// way. Where each message has a queue pair, both ends keep it until the other one has all ACKs.
// A plain message is what a flow with triggers is: a SEND if the receiver sends it on, else a
// WRITE, which the receiver sees in its memory. docs/models/collectives.md
#include "apps/workload/collective/connection.h"
#include "apps/workload/collective/call_plan.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/member.h"
#include "apps/workload/collective/record.h"
#include "apps/workload/collective/run.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

#define CTS_BYTES 64u    // NCCL: struct ncclIbSendFifo, src/transport/net_ib.cc
#define LOCAL_AHEAD 512u // messages within a host up to which a block looks ahead for others

static sim_time_t now_of(const app__conn_t *conn)
{
    return conn->member->rank->node->now_ps;
}

// Lets the block go on that waits for the connection, if there is one.
static void wake_waiter(app__conn_t *conn)
{
    const uint32_t waiter = conn->waiter;
    if (waiter != APP__NO_BLOCK) {
        conn->waiter = APP__NO_BLOCK;
        app__coll_wake(conn->member, waiter);
    }
}

// -- messages that the receiver learns of later

static app__coming_t *coming_begin(app__conn_t *conn, uint32_t number, sim_timer_fn fn)
{
    app__coming_t *const coming =
        app__coming_begin(&app__member_rank(conn->member)->host->spare_comings, &conn->comings, fn);
    coming->to = conn;
    coming->word = number;
    return coming;
}

// Gives back the message of a timer, and sets *number to its number. Returns its connection.
static app__conn_t *coming_end(sim_timer_t *timer, uint32_t *number)
{
    app__coming_t *const coming = app__coming_of(timer);
    app__conn_t *const conn = coming->to;
    *number = coming->word;
    app__coming_end(&app__member_rank(conn->member)->host->spare_comings, &conn->comings, coming);
    return conn;
}

// -- sequences

static bool sequence_has(const app__sequence_t *sequence, uint32_t number)
{
    const uint32_t ahead = number - sequence->next; // wraps for those below
    return ahead > UINT32_MAX / 2 ||
           (ahead > 0 && ahead <= 64 && (sequence->ahead >> (ahead - 1) & 1) != 0);
}

static void sequence_end(app__sequence_t *sequence, uint32_t number)
{
    const uint32_t ahead = number - sequence->next;
    SIM_CHECK(ahead <= 64 && !sequence_has(sequence, number));
    if (ahead > 0) {
        sequence->ahead |= UINT64_C(1) << (ahead - 1);
        return;
    }
    bool more = true;
    while (more) {
        sequence->next++;
        more = (sequence->ahead & 1) != 0;
        sequence->ahead >>= 1;
    }
}

// Returns the first message that has not ended in a sequence and has the queue pair with a number.
static uint32_t next_of(const app__conn_t *conn, const app__sequence_t *sequence, uint32_t qp_num)
{
    const uint32_t slots = conn->member->all->slots;
    for (uint32_t at = sequence->next; at != sequence->next + 2 * APP__CONN_SLOTS && slots > 1;
         at++) {
        const nic_qp_t *const qp = conn->slots[at % slots].qp;
        if (qp != NULL && nic_qp_num(qp) == qp_num && !sequence_has(sequence, at)) {
            return at;
        }
    }
    SIM_CHECKF(slots == 1, "QP %u has no message", qp_num);
    return sequence->next;
}

// -- connections of a member

static void due(sim_node_t *node, sim_timer_t *timer);

app__conn_t *app__conn(app__member_t *member, uint32_t peer, uint32_t lane, bool incoming)
{
    const uint64_t key = (uint64_t)lane << 33 | (uint64_t)peer << 1 | incoming;
    const uint64_t found = sim_map_get(&member->conn_of, key);
    if (found != SIM_MAP_NONE) {
        return (app__conn_t *)(uintptr_t)found;
    }
    app__conn_t *const conn = sim_alloc(sizeof(*conn));
    const app__member_t *const other = &member->all->groups[member->group].members[peer];
    SIM_CHECK(peer != member->number);
    *conn = (app__conn_t){
        .active = {&app__conn_range_ops},
        .member = member,
        .peer = peer,
        .lane = lane,
        .incoming = incoming,
        .local = other->rank->node == member->rank->node,
        .waiter = APP__NO_BLOCK,
        .permitter = APP__NO_BLOCK,
        .call = APP__NO_OP,
    };
    sim_timer_init(&conn->timer, due);
    if (conn->local) {
        sim_expect_timers(member->rank->node);
    } else {
        conn->slots = sim_alloc_array(member->all->slots, sizeof(*conn->slots));
    }
    sim_list_push_last(&member->conns, &conn->link);
    sim_map_add(&member->conn_of, key, (uint64_t)(uintptr_t)conn);
    return conn;
}

void app__conns_fini(app__member_t *member)
{
    while (member->conns.first != NULL) {
        app__conn_t *const conn = SIM_LIST_FIRST(&member->conns, app__conn_t, link);
        sim_list_remove(&member->conns, &conn->link);
        app__comings_free(&conn->comings);
        sim_free(conn->slots);
        sim_free(conn->messages);
        sim_free(conn);
    }
    sim_map_fini(&member->conn_of);
}

static bool conn_quiet(const app__conn_t *conn)
{
    const uint32_t slots = conn->slots == NULL ? 0 : conn->member->all->slots;
    if (conn->comings.first != NULL || conn->filled != conn->acked.next ||
        conn->arrived.next != conn->consumed) {
        return false;
    }
    for (uint32_t i = 0; i < slots; i++) {
        if (conn->slots[i].qp != NULL && !nic_qp_quiet(conn->slots[i].qp)) {
            return false;
        }
    }
    return true;
}

bool app__conns_quiet(const app__member_t *member)
{
    for (const app__conn_t *conn = SIM_LIST_FIRST(&member->conns, app__conn_t, link); conn != NULL;
         conn = SIM_LIST_NEXT(conn, app__conn_t, link)) {
        if (!conn_quiet(conn)) {
            return false;
        }
    }
    return true;
}

// Returns the other end of a connection within a host.
static app__conn_t *other_end(app__conn_t *conn)
{
    if (conn->other == NULL) {
        conn->other =
            app__conn(app__conn_peer(conn), conn->member->number, conn->lane, !conn->incoming);
        conn->other->other = conn;
    }
    return conn->other;
}

static void try_post(app__conn_t *conn);
static void close_sent(app__conn_t *conn);

// -- what arrives

// A clear-to-send has arrived.
void app__conn_cts_arrived(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    app__conn_t *const conn = ctx;
    (void)address;
    SIM_CHECK(byte_len == CTS_BYTES && !conn->incoming);
    sequence_end(&conn->allowed, next_of(conn, &conn->allowed, nic_qp_num(qp)));
    close_sent(conn);
    try_post(conn);
}

static void arrived(app__conn_t *conn, uint32_t number);
static uint32_t arriving(const app__conn_t *conn, uint32_t qp_num);

// A message without an immediate lies in memory.
void app__conn_write_arrived(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    app__conn_t *const conn = ctx;
    (void)address;
    (void)byte_len;
    arrived(conn, arriving(conn, nic_qp_num(qp)));
}

// Returns the place of a message among those of the member's call on the connection. Their numbers
// rise.
static uint32_t place_in_call(app__conn_t *conn, uint32_t number)
{
    const app__coll_run_t *const run = conn->member->run;
    if (run != NULL && conn->call != run->op) {
        conn->call = run->op;
        conn->call_first = number;
    }
    return number - conn->call_first;
}

// Returns the label of a message (nic_send_wr_t.label): that of its counterpart in another call.
static uint64_t label_of(const app__conn_t *conn, uint32_t place)
{
    return sim_mix64((uint64_t)conn->lane << 33 | (uint64_t)conn->peer << 1 | conn->incoming) ^
           ((uint64_t)place + 1);
}

// -- sending

static app__coll_message_t *message_at(app__conn_t *conn, uint32_t number)
{
    return &conn->messages[number & (conn->message_capacity - 1)];
}

static uint32_t note_record(app__conn_t *conn, uint64_t bytes)
{
    app__coll_rank_t *const rank = app__member_rank(conn->member);
    if (rank->record_count >= conn->member->all->records_max) {
        return APP__NO_RECORD;
    }
    SIM_GROW(rank->records, rank->record_count, &rank->record_capacity);
    app__coll_record_t *const record = &rank->records[rank->record_count];
    const app__port_t *own = NULL;
    const app__port_t *peer = NULL;
    app__conn_ports(conn->member, app__conn_peer(conn), conn->lane, conn->posted, &own, &peer);
    *record = (app__coll_record_t){
        .start_ps = now_of(conn),
        .end_ps = SIM_TIME_NEVER,
        .bytes = bytes,
        .source = own->endpoint->interface,
        .destination = peer->endpoint->interface,
        .local = conn->local,
    };
    return (uint32_t)rank->record_count++;
}

static void end_record(const app__conn_t *conn, uint32_t record, bool failed)
{
    if (record != APP__NO_RECORD) {
        app__member_rank(conn->member)->records[record].end_ps = now_of(conn);
        app__member_rank(conn->member)->records[record].failed = failed;
    }
}

static void post(app__conn_t *conn, app__coll_message_t *message)
{
    const uint32_t number = conn->posted++;
    nic_qp_t *const qp = app__conn_qp(conn, number);
    const app__ends_t ends = app__conn_ends(conn, number);
    const nic_wr_opcode_t opcode = app__conn_has_cts(conn) ? NIC_WR_RDMA_WRITE_WITH_IMM
                                   : (message->what & APP__STEP_FINAL) != 0 ? NIC_WR_RDMA_WRITE
                                                                            : NIC_WR_SEND;
    message->record = note_record(conn, message->bytes);
    if (message->record != APP__NO_RECORD) {
        app__coll_record_t *const record =
            &app__member_rank(conn->member)->records[message->record];
        record->udp_source_port = nic_qp_udp_source_port(qp);
        record->source_qp = ends.own_number;
        record->destination_qp = ends.peer_number;
        record->opcode = opcode;
    }
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)conn,
        .opcode = opcode,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {app__address_of_qp(ends.own_number), message->bytes,
                app__buffer_key(ends.own->endpoint, ends.own_number)},
        .imm_data = number,
        .rdma = {app__address_of_qp(ends.peer_number),
                 app__buffer_key(ends.peer->endpoint, ends.peer_number)},
        .label = label_of(conn, message->place),
    };
    app__qp_post(qp, &wr);
}

// Notes that the memory of a message may be used again.
static void sent(app__conn_t *conn)
{
    app__member_t *const member = conn->member;
    SIM_CHECK(member->unsent > 0);
    if (--member->unsent == 0) {
        app__coll_wake(member, APP__NO_BLOCK);
    }
}

static void local_arrived(sim_node_t *node, sim_timer_t *timer)
{
    uint32_t number = 0;
    app__conn_t *const to = coming_end(timer, &number);
    SIM_CHECK(to->member->rank->node == node && number == to->arrived.next);
    app__conn_t *const from = other_end(to);
    app__count_others(to->member);
    end_record(from, message_at(from, to->arrived.next)->record, false);
    to->arrived.next++;
    to->visible.next++;
    sim_progress(node);
    sent(from);
    wake_waiter(to);
    app__coll_work_all(app__member_rank(to->member)->host);
}

// Sends a message to another rank of the host: over the sender's link, or over the receiver's if
// the NVSwitch spreads it. Connections share a link.
static void post_local(app__conn_t *conn, app__coll_message_t *message)
{
    app__workload_t *const workload = conn->member->all->workload;
    app__conn_t *const to = other_end(conn);
    app__port_t *const from_port = &workload->ports[conn->member->rank->port_first];
    app__port_t *const to_port = &workload->ports[to->member->rank->port_first];
    message->record = note_record(conn, message->bytes);
    app__coming_t *const coming = coming_begin(to, conn->posted++, local_arrived);
    app__coming_pass(
        coming, (message->what & APP__STEP_SPREAD) != 0 ? &to_port->nvlink_in : &from_port->nvlink,
        &to->stream, message->bytes, message->local_bps, app__member_width(conn->member),
        workload->options.local_ps);
}

static void try_post(app__conn_t *conn)
{
    const bool cts = app__conn_has_cts(conn);
    while (conn->posted != conn->filled) {
        app__coll_message_t *const message = message_at(conn, conn->posted);
        if (message->due_ps > now_of(conn)) {
            if (conn->timer.position == SIM_TIMER_UNARMED) {
                sim_timer_arm(conn->member->rank->node, &conn->timer, message->due_ps);
            }
            return;
        }
        if (conn->local) {
            post_local(conn, message);
        } else if (conn->posted - conn->acked.next < APP__CONN_POSTED_MAX &&
                   (!cts || conn->posted != conn->allowed.next)) {
            post(conn, message);
        } else {
            return;
        }
    }
}

static void due(sim_node_t *node, sim_timer_t *timer)
{
    app__conn_t *const conn = SIM_CONTAINER_OF(timer, app__conn_t, timer);
    SIM_CHECK(conn->member->rank->node == node);
    app__count_others(conn->member);
    try_post(conn);
}

bool app__conn_has_room(const app__conn_t *conn, uint32_t window)
{
    return window == 0 || conn->filled - conn->acked.next < window;
}

void app__conn_send(app__conn_t *conn, const app__coll_plan_t *plan, uint64_t bytes, uint16_t what)
{
    app__coll_rank_t *const rank = app__member_rank(conn->member);
    const uint64_t wire_bytes = app__coll_wire_bytes(plan, bytes, what);
    const uint32_t width = app__member_width(conn->member);
    if (conn->filled - conn->acked.next == conn->message_capacity) {
        SIM_RING_GROW(conn->messages, conn->acked.next, conn->filled, &conn->message_capacity, 4u);
    }
    const uint32_t number = conn->filled++;
    *message_at(conn, number) = (app__coll_message_t){
        .bytes = wire_bytes,
        .place = place_in_call(conn, number),
        .local_bps = plan->local_bps,
        .what = what,
        .due_ps =
            now_of(conn) + conn->member->all->options.send_ps +
            (rank->node == app__member_rank(app__conn_peer(conn))->node ? plan->latency.inside_ps
                                                                        : plan->latency.between_ps),
    };
    conn->member->unsent++;
    rank->messages += width;
    rank->bytes += width * wire_bytes;
    try_post(conn);
}

// -- acknowledgements

static uint32_t message_of(const app__conn_t *conn, uint32_t qp_num)
{
    for (uint32_t at = conn->acked.next; at != conn->posted; at++) {
        if (conn->member->all->slots == 1) {
            return at;
        }
        if (!sequence_has(&conn->acked, at)) {
            const nic_qp_t *const qp = conn->slots[at % conn->member->all->slots].qp;
            if (qp != NULL && nic_qp_num(qp) == qp_num) {
                return at;
            }
        }
    }
    SIM_CHECKF(false, "QP %u has no message", qp_num);
    return 0;
}

static void go_on(app__conn_t *conn)
{
    try_post(conn);
    wake_waiter(conn);
}

// Destroys the queue pairs of messages whose acknowledgement has come. The receiver must have that
// of their clear-to-send, too: then it has sent a much later one.
static void close_sent(app__conn_t *conn)
{
    while (!app__conn_permanent(conn) && conn->closed != conn->acked.next &&
           (int32_t)(conn->allowed.next - conn->closed) > (int32_t)APP__CONN_POSTED_MAX) {
        app__conn_end_qp(conn, conn->closed++);
    }
}

// A clear-to-send was acknowledged, or failed since the path is down.
static void cts_completed(app__conn_t *conn, const nic_wc_t *wc)
{
    if (wc->status != NIC_WC_SUCCESS) {
        conn->member->rank->failed++;
        return;
    }
    sequence_end(&conn->acked, next_of(conn, &conn->acked, wc->qp_num));
    const uint32_t block = conn->permitter;
    if (block != APP__NO_BLOCK) {
        conn->permitter = APP__NO_BLOCK;
        app__coll_wake(conn->member, block);
        app__coll_work_all(app__member_rank(conn->member)->host);
    }
}

static void send_completed(const nic_wc_t *wc)
{
    app__conn_t *const conn = (app__conn_t *)(uintptr_t)wc->wr_id;
    if (conn->incoming) {
        cts_completed(conn, wc);
        return;
    }
    const uint32_t number = message_of(conn, wc->qp_num);
    conn->member->rank->failed += wc->status != NIC_WC_SUCCESS;
    end_record(conn, message_at(conn, number)->record, wc->status != NIC_WC_SUCCESS);
    sequence_end(&conn->acked, number);
    sent(conn);
    if (app__conn_has_cts(conn)) {
        close_sent(conn);
    } else if (!app__conn_permanent(conn)) {
        app__conn_end_qp(conn, number);
    }
    go_on(conn);
    app__coll_work_all(app__member_rank(conn->member)->host);
}

// -- receiving

// Returns the message that arrives by the queue pair with a number.
static uint32_t arriving(const app__conn_t *conn, uint32_t qp_num)
{
    return next_of(conn, &conn->arrived, qp_num);
}

// Destroys queue pairs of messages that ended long ago: the sender has posted a later one, so it
// has their acknowledgements.
static void close_old(app__conn_t *conn, uint32_t number)
{
    while ((int32_t)(number - conn->closed) > (int32_t)APP__CONN_POSTED_MAX - 1) {
        app__conn_end_qp(conn, conn->closed++);
    }
}

static void show(app__conn_t *conn, uint32_t number)
{
    sequence_end(&conn->visible, number);
    if (conn->visible.next != conn->consumed) {
        wake_waiter(conn);
    }
    app__coll_work_all(app__member_rank(conn->member)->host);
}

static void show_later(sim_node_t *node, sim_timer_t *timer)
{
    uint32_t number = 0;
    app__conn_t *const conn = coming_end(timer, &number);
    SIM_CHECK(conn->member->rank->node == node);
    show(conn, number);
}

// Returns the time that an acknowledgement takes back to the sender on an idle path.
static sim_time_t ack_ps(const app__conn_t *conn, uint32_t number)
{
    const app__ends_t ends = app__conn_ends(conn, number);
    return app__ack_ps(ends.own->endpoint->net, ends.own->endpoint->interface,
                       ends.peer->endpoint->interface);
}

static void arrived(app__conn_t *conn, uint32_t number)
{
    if (!app__conn_permanent(conn)) {
        close_old(conn, number);
    }
    sequence_end(&conn->arrived, number);
    if (conn->member->all->options.arrival == APP__ARRIVAL_DATA) {
        show(conn, number);
        return;
    }
    conn->ack_ps = conn->ack_ps == 0 ? ack_ps(conn, number) : conn->ack_ps;
    app__coming_t *const coming = coming_begin(conn, number, show_later);
    sim_timer_arm(conn->member->rank->node, &coming->timer, now_of(conn) + conn->ack_ps);
}

static void message_arrived(void *owner, app__endpoint_t *endpoint, app__passive_t *passive,
                            const nic_wc_t *wc)
{
    app__conn_t *const conn = SIM_CONTAINER_OF(passive, app__conn_t, passive);
    const uint32_t number = arriving(conn, wc->qp_num);
    SIM_CHECK(owner == conn->member && endpoint->node == conn->member->rank->node);
    SIM_CHECK(!app__conn_has_cts(conn) || number == wc->imm_data);
    if (app__conn_permanent(conn) && !app__conn_has_cts(conn)) {
        app__conn_post_receive(conn, app__conn_qp(conn, number), number);
    }
    arrived(conn, number);
}

void app__conn_consume(app__conn_t *conn)
{
    SIM_CHECK(conn->consumed != conn->visible.next);
    conn->consumed++;
    if (conn->local) {
        app__conn_t *const from = other_end(conn);
        sequence_end(&from->acked, from->acked.next);
        go_on(from);
    }
}

bool app__conn_may_permit(app__conn_t *conn, uint32_t window, uint32_t block)
{
    if (conn->local) { // its messages need none, and may have come before
        return (int32_t)(conn->permitted - conn->consumed) < (int32_t)LOCAL_AHEAD;
    }
    if (app__conn_permanent(conn)) {
        return conn->permitted - conn->consumed < window;
    }
    if (conn->permitted - conn->acked.next >= APP__CONN_POSTED_MAX) {
        conn->permitter = block;
        return false;
    }
    return conn->permitted - conn->consumed < SIM_MIN(window, APP__CONN_POSTED_MAX);
}

void app__conn_permit(app__conn_t *conn)
{
    const uint32_t number = conn->permitted++;
    if (conn->local) {
        return;
    }
    nic_qp_t *const qp = app__conn_qp(conn, number);
    const app__ends_t ends = app__conn_ends(conn, number);
    const uint32_t place = place_in_call(conn, number);
    app__conn_post_receive(conn, qp, number);
    const unsigned flags =
        nic_inline_max(ends.own->endpoint->nic) >= CTS_BYTES ? NIC_SEND_INLINE : 0;
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)conn,
        .opcode = NIC_WR_RDMA_WRITE,
        .send_flags = flags | (app__conn_permanent(conn) ? 0 : NIC_SEND_SIGNALED),
        .sge = {app__address_of_qp(ends.own_number), CTS_BYTES,
                app__buffer_key(ends.own->endpoint, ends.own_number)},
        .rdma = {app__address_of_qp(ends.peer_number),
                 app__buffer_key(ends.peer->endpoint, ends.peer_number)},
        .label = label_of(conn, place),
    };
    app__qp_post(qp, &wr);
}

const app__range_ops_t app__conn_range_ops = {
    .passive_from_ps = app__conn_passive_from_ps,
    .accept = app__conn_accept,
    .finished = app__conn_is_finished,
    .received = message_arrived,
    .completed = send_completed,
};
