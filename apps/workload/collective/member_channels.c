// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/member_channels.c - moves the messages of collectives over channels.
//
// A channel has a queue pair that stays, or one for each message (queue_pairs.c). A message is a
// WRITE with an immediate, for which a clear-to-send, a WRITE of 64 bytes, has come the other
// way. Where each message has a queue pair, both ends keep it until the other one has all ACKs.
// A plain message is what a flow with triggers is: a SEND if the receiver sends it on, else a
// WRITE, which the receiver sees in its memory. docs/models/collectives.md
#include "apps/workload/collective/member_channels.h"
#include "apps/hosts.h"
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

static sim_time_t now_of(const app__member_channel_t *channel)
{
    return channel->member->rank->node->now_ps;
}

// Lets the block go on that waits for the channel, if there is one.
static void wake_waiter(app__member_channel_t *channel)
{
    const uint32_t waiter = channel->waiter;
    if (waiter != APP__NO_BLOCK) {
        channel->waiter = APP__NO_BLOCK;
        app__coll_wake(channel->member, waiter);
    }
}

// -- messages that the receiver learns of later

static app__coming_t *coming_begin(app__member_channel_t *channel, uint32_t number, sim_timer_fn fn)
{
    app__coming_t *const coming = app__coming_begin(
        &app__member_rank(channel->member)->host->spare_comings, &channel->comings, fn);
    coming->to = channel;
    coming->word = number;
    return coming;
}

// Gives back the message of a timer, and sets *number to its number. Returns its channel.
static app__member_channel_t *coming_end(sim_timer_t *timer, uint32_t *number)
{
    app__coming_t *const coming = app__coming_of(timer);
    app__member_channel_t *const channel = coming->to;
    *number = coming->word;
    app__coming_end(&app__member_rank(channel->member)->host->spare_comings, &channel->comings,
                    coming);
    return channel;
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
static uint32_t next_of(const app__member_channel_t *channel, const app__sequence_t *sequence,
                        uint32_t qp_num)
{
    const uint32_t slots = channel->member->all->slots;
    for (uint32_t at = sequence->next;
         at != sequence->next + 2 * APP__MEMBER_CHANNEL_SLOTS && slots > 1; at++) {
        const nic_qp_t *const qp = channel->slots[at % slots].qp;
        if (qp != NULL && nic_qp_num(qp) == qp_num && !sequence_has(sequence, at)) {
            return at;
        }
    }
    SIM_CHECKF(slots == 1, "QP %u has no message", qp_num);
    return sequence->next;
}

// -- channels of a member

static void due(sim_node_t *node, sim_timer_t *timer);

app__member_channel_t *app__member_channel(app__member_t *member, uint32_t peer, uint32_t lane,
                                           bool incoming)
{
    const uint64_t key = (uint64_t)lane << 33 | (uint64_t)peer << 1 | incoming;
    const uint64_t found = sim_map_get(&member->channel_of, key);
    if (found != SIM_MAP_NONE) {
        return (app__member_channel_t *)(uintptr_t)found;
    }
    app__member_channel_t *const channel = sim_alloc(sizeof(*channel));
    const app__member_t *const other = &member->all->groups[member->group].members[peer];
    SIM_CHECK(peer != member->number);
    *channel = (app__member_channel_t){
        .active = {&app__member_channel_range_ops},
        .member = member,
        .peer = peer,
        .lane = lane,
        .incoming = incoming,
        .local = other->rank->node == member->rank->node,
        .waiter = APP__NO_BLOCK,
        .permitter = APP__NO_BLOCK,
        .call = APP__NO_OP,
    };
    sim_timer_init(&channel->timer, due);
    if (channel->local) {
        sim_expect_timers(member->rank->node);
    } else {
        channel->slots = sim_alloc_array(member->all->slots, sizeof(*channel->slots));
    }
    sim_list_push_last(&member->channels, &channel->link);
    sim_map_add(&member->channel_of, key, (uint64_t)(uintptr_t)channel);
    return channel;
}

void app__member_channels_fini(app__member_t *member)
{
    while (member->channels.first != NULL) {
        app__member_channel_t *const channel =
            SIM_LIST_FIRST(&member->channels, app__member_channel_t, link);
        sim_list_remove(&member->channels, &channel->link);
        app__comings_free(&channel->comings);
        SIM_FREE_ALL(channel->slots, channel->messages, channel);
    }
    sim_map_fini(&member->channel_of);
}

static bool channel_quiet(const app__member_channel_t *channel)
{
    const uint32_t slots = channel->slots == NULL ? 0 : channel->member->all->slots;
    if (channel->comings.first != NULL || channel->filled != channel->acked.next ||
        channel->arrived.next != channel->consumed) {
        return false;
    }
    for (uint32_t i = 0; i < slots; i++) {
        if (channel->slots[i].qp != NULL && !nic_qp_quiet(channel->slots[i].qp)) {
            return false;
        }
    }
    return true;
}

bool app__member_channels_quiet(const app__member_t *member)
{
    for (const app__member_channel_t *channel =
             SIM_LIST_FIRST(&member->channels, app__member_channel_t, link);
         channel != NULL; channel = SIM_LIST_NEXT(channel, app__member_channel_t, link)) {
        if (!channel_quiet(channel)) {
            return false;
        }
    }
    return true;
}

// Returns the other end of a channel within a host.
static app__member_channel_t *other_end(app__member_channel_t *channel)
{
    if (channel->other == NULL) {
        channel->other =
            app__member_channel(app__member_channel_peer(channel), channel->member->number,
                                channel->lane, !channel->incoming);
        channel->other->other = channel;
    }
    return channel->other;
}

static void try_post(app__member_channel_t *channel);
static void close_sent(app__member_channel_t *channel);

// -- what arrives

// A clear-to-send has arrived.
void app__member_channel_cts_arrived(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    app__member_channel_t *const channel = ctx;
    (void)address;
    SIM_CHECK(byte_len == CTS_BYTES && !channel->incoming);
    sequence_end(&channel->allowed, next_of(channel, &channel->allowed, nic_qp_num(qp)));
    close_sent(channel);
    try_post(channel);
}

static void arrived(app__member_channel_t *channel, uint32_t number);
static uint32_t arriving(const app__member_channel_t *channel, uint32_t qp_num);

// A message without an immediate lies in memory.
void app__member_channel_write_arrived(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    app__member_channel_t *const channel = ctx;
    (void)address;
    (void)byte_len;
    arrived(channel, arriving(channel, nic_qp_num(qp)));
}

// Returns the place of a message among those of the member's call on the channel. Their numbers
// rise.
static uint32_t place_in_call(app__member_channel_t *channel, uint32_t number)
{
    const app__coll_run_t *const run = channel->member->run;
    if (run != NULL && channel->call != run->op) {
        channel->call = run->op;
        channel->call_first = number;
    }
    return number - channel->call_first;
}

// Returns the label of a message (nic_send_wr_t.label): that of its counterpart in another call.
static uint64_t label_of(const app__member_channel_t *channel, uint32_t place)
{
    return sim_mix64((uint64_t)channel->lane << 33 | (uint64_t)channel->peer << 1 |
                     channel->incoming) ^
           ((uint64_t)place + 1);
}

// -- sending

static app__coll_message_t *message_at(app__member_channel_t *channel, uint32_t number)
{
    return &channel->messages[number & (channel->message_capacity - 1)];
}

static uint32_t note_record(app__member_channel_t *channel, uint64_t bytes)
{
    app__coll_rank_t *const rank = app__member_rank(channel->member);
    if (rank->record_count >= channel->member->all->records_max) {
        return APP__NO_RECORD;
    }
    SIM_GROW(rank->records, rank->record_count, &rank->record_capacity);
    app__coll_record_t *const record = &rank->records[rank->record_count];
    const app__port_t *own = NULL;
    const app__port_t *peer = NULL;
    app__member_channel_ports(channel->member, app__member_channel_peer(channel), channel->lane,
                              channel->posted, &own, &peer);
    *record = (app__coll_record_t){
        .start_ps = now_of(channel),
        .end_ps = SIM_TIME_NEVER,
        .bytes = bytes,
        .source = own->endpoint->interface,
        .destination = peer->endpoint->interface,
        .local = channel->local,
    };
    return (uint32_t)rank->record_count++;
}

static void end_record(const app__member_channel_t *channel, uint32_t record, bool failed)
{
    if (record != APP__NO_RECORD) {
        app__member_rank(channel->member)->records[record].end_ps = now_of(channel);
        app__member_rank(channel->member)->records[record].failed = failed;
    }
}

static void post(app__member_channel_t *channel, app__coll_message_t *message)
{
    const uint32_t number = channel->posted++;
    nic_qp_t *const qp = app__member_channel_qp(channel, number);
    const app__ends_t ends = app__member_channel_ends(channel, number);
    const nic_wr_opcode_t opcode = app__member_channel_has_cts(channel) ? NIC_WR_RDMA_WRITE_WITH_IMM
                                   : (message->what & APP__STEP_FINAL) != 0 ? NIC_WR_RDMA_WRITE
                                                                            : NIC_WR_SEND;
    message->record = note_record(channel, message->bytes);
    if (message->record != APP__NO_RECORD) {
        app__coll_record_t *const record =
            &app__member_rank(channel->member)->records[message->record];
        record->udp_source_port = nic_qp_udp_source_port(qp);
        record->source_qp = ends.own_number;
        record->destination_qp = ends.peer_number;
        record->opcode = opcode;
    }
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)channel,
        .opcode = opcode,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {app__address_of_qp(ends.own_number), message->bytes,
                app__buffer_key(ends.own->endpoint, ends.own_number)},
        .imm_data = number,
        .rdma = {app__address_of_qp(ends.peer_number),
                 app__buffer_key(ends.peer->endpoint, ends.peer_number)},
        .label = label_of(channel, message->place),
    };
    app__qp_post(qp, &wr);
}

// Notes that the memory of a message may be used again.
static void sent(app__member_channel_t *channel)
{
    app__member_t *const member = channel->member;
    SIM_CHECK(member->unsent > 0);
    if (--member->unsent == 0) {
        app__coll_wake(member, APP__NO_BLOCK);
    }
}

static void local_arrived(sim_node_t *node, sim_timer_t *timer)
{
    uint32_t number = 0;
    app__member_channel_t *const to = coming_end(timer, &number);
    SIM_CHECK(to->member->rank->node == node && number == to->arrived.next);
    app__member_channel_t *const from = other_end(to);
    app__count_others(to->member);
    end_record(from, message_at(from, to->arrived.next)->record, false);
    to->arrived.next++;
    to->visible.next++;
    sim_progress(node);
    sent(from);
    if (from->posted != from->filled && message_at(from, from->posted)->block_bps > 0) {
        app__coll_message_t *const next = message_at(from, from->posted);
        next->due_ps = SIM_MAX(node->now_ps + next->wait_ps, next->due_ps);
        try_post(from);
    }
    wake_waiter(to);
    app__coll_work_all(app__member_rank(to->member)->host);
}

// Makes a message one of those that the NVSwitch adds up or spreads: all of its number on the lane
// that have the same receiver, or the same sender.
static void set_group(const app__member_channel_t *channel, bool spreads, uint32_t number,
                      app__local_t *way)
{
    const app__member_t *const member = channel->member;
    const uint32_t common = spreads ? member->number : channel->peer;
    const uint64_t place = (uint64_t)member->all->workload->app.index << 32 | member->group;
    way->kind = spreads ? NET_PUT_SPREAD : NET_PUT_SUM;
    way->key = sim_mix64(sim_mix64(place) ^ ((uint64_t)channel->lane << 32 | common)) ^ number;
    way->members = member->all->groups[member->group].layout.per_node - 1;
}

// Sends a message to another rank of the host: over the sender's link, or over the receiver's if
// the NVSwitch spreads it. Channels share a link.
static void post_local(app__member_channel_t *channel, app__coll_message_t *message)
{
    app__workload_t *const workload = channel->member->all->workload;
    app__member_channel_t *const to = other_end(channel);
    app__port_t *const from_port = &workload->ports[channel->member->rank->port_first];
    app__port_t *const to_port = &workload->ports[to->member->rank->port_first];
    message->record = note_record(channel, message->bytes);
    app__coming_t *const coming = coming_begin(to, channel->posted++, local_arrived);
    const bool packets = from_port->nvlink.packets != NULL;
    const bool spreads = (message->what & APP__STEP_SPREAD) != 0;
    const bool sums = (message->what & APP__STEP_SUM) != 0;
    app__local_t way = {
        .link = spreads && !packets ? &to_port->nvlink_in : &from_port->nvlink,
        .stream = &to->stream,
        .to = to_port->nvlink.accelerator,
        .rate_bps = message->local_bps,
        .block_bps = message->block_bps,
        .width = app__member_width(channel->member),
        .delay_ps = message->way_ps,
    };
    if (packets && (spreads || sums)) {
        set_group(channel, spreads, channel->posted - 1, &way);
    }
    app__coming_pass(coming, &way, message->bytes);
}

static void try_post(app__member_channel_t *channel)
{
    const bool cts = app__member_channel_has_cts(channel);
    while (channel->posted != channel->filled) {
        app__coll_message_t *const message = message_at(channel, channel->posted);
        if (message->block_bps > 0 && channel->posted != other_end(channel)->arrived.next) {
            return; // its block waits until the message before it has arrived
        }
        if (message->due_ps > now_of(channel)) {
            if (channel->timer.position == SIM_TIMER_UNARMED) {
                sim_timer_arm(channel->member->rank->node, &channel->timer, message->due_ps);
            }
            return;
        }
        if (channel->local) {
            post_local(channel, message);
        } else if (channel->posted - channel->acked.next < APP__MEMBER_CHANNEL_POSTED_MAX &&
                   (!cts || channel->posted != channel->allowed.next)) {
            post(channel, message);
        } else {
            return;
        }
    }
}

static void due(sim_node_t *node, sim_timer_t *timer)
{
    app__member_channel_t *const channel = SIM_CONTAINER_OF(timer, app__member_channel_t, timer);
    SIM_CHECK(channel->member->rank->node == node);
    app__count_others(channel->member);
    try_post(channel);
}

bool app__member_channel_has_room(const app__member_channel_t *channel, uint32_t window)
{
    return window == 0 || channel->filled - channel->acked.next < window;
}

// Returns when a message to another node may be posted. A thread block hands it over, and wait_ps
// later the rank's processor posts it. The block takes one message of the channel
// after the other, and the processor those of all channels.
static sim_time_t due_between(app__member_channel_t *channel, const app__coll_plan_t *plan,
                              uint64_t bytes, uint64_t block_bps, sim_time_t wait_ps)
{
    app__coll_rank_t *const rank = app__member_rank(channel->member);
    const sim_time_t block_ps = app__bits_ps(bytes, block_bps);
    sim_time_t due_ps = now_of(channel) + block_ps + wait_ps;
    if (plan->block_bps == 0 && plan->pairs_bps == 0) {
        return due_ps; // NVLS, whose latencies are those of a whole call
    }
    if (channel->posted != channel->filled) {
        const sim_time_t before_ps = message_at(channel, channel->filled - 1)->due_ps;
        due_ps = SIM_MAX(due_ps, before_ps + block_ps);
    }
    due_ps = SIM_MAX(due_ps, rank->posts_ps + plan->latency.post_ps);
    rank->posts_ps = due_ps;
    return due_ps;
}

void app__member_channel_send(app__member_channel_t *channel, const app__coll_plan_t *plan,
                              uint64_t bytes, uint64_t copied, uint16_t what)
{
    app__coll_rank_t *const rank = app__member_rank(channel->member);
    const uint64_t wire_bytes = app__coll_wire_bytes(plan, bytes, what);
    const uint32_t width = app__member_width(channel->member);
    if (channel->filled - channel->acked.next == channel->message_capacity) {
        SIM_RING_GROW(channel->messages, channel->acked.next, channel->filled,
                      &channel->message_capacity, 4u);
    }
    const bool inside = rank->node == app__member_rank(app__member_channel_peer(channel))->node;
    const sim_time_t wait_ps = channel->member->all->options.send_ps +
                               (inside ? plan->latency.inside_ps : plan->latency.between_ps);
    const double share = (double)bytes / (double)(bytes + copied);
    const uint64_t block_bps = (uint64_t)((double)plan->block_bps * share);
    const sim_time_t due_ps = inside ? now_of(channel) + wait_ps
                                     : due_between(channel, plan, wire_bytes, block_bps, wait_ps);
    const uint32_t number = channel->filled++;
    *message_at(channel, number) = (app__coll_message_t){
        .bytes = wire_bytes,
        .place = place_in_call(channel, number),
        .local_bps = plan->local_bps,
        .block_bps = channel->local ? block_bps : 0,
        .wait_ps = wait_ps,
        .way_ps = plan->way_ps,
        .what = what,
        .due_ps = due_ps,
    };
    channel->member->unsent++;
    rank->messages += width;
    rank->bytes += width * wire_bytes;
    try_post(channel);
}

// -- acknowledgements

static uint32_t message_of(const app__member_channel_t *channel, uint32_t qp_num)
{
    for (uint32_t at = channel->acked.next; at != channel->posted; at++) {
        if (channel->member->all->slots == 1) {
            return at;
        }
        if (!sequence_has(&channel->acked, at)) {
            const nic_qp_t *const qp = channel->slots[at % channel->member->all->slots].qp;
            if (qp != NULL && nic_qp_num(qp) == qp_num) {
                return at;
            }
        }
    }
    SIM_CHECKF(false, "QP %u has no message", qp_num);
    return 0;
}

static void go_on(app__member_channel_t *channel)
{
    try_post(channel);
    wake_waiter(channel);
}

// Destroys the queue pairs of messages whose acknowledgement has come. The receiver must have that
// of their clear-to-send, too: then it has sent a much later one.
static void close_sent(app__member_channel_t *channel)
{
    while (!app__member_channel_permanent(channel) && channel->closed != channel->acked.next &&
           (int32_t)(channel->allowed.next - channel->closed) >
               (int32_t)APP__MEMBER_CHANNEL_POSTED_MAX) {
        app__member_channel_end_qp(channel, channel->closed++);
    }
}

// A clear-to-send was acknowledged, or failed since the path is down.
static void cts_completed(app__member_channel_t *channel, const nic_wc_t *wc)
{
    if (wc->status != NIC_WC_SUCCESS) {
        channel->member->rank->failed++;
        return;
    }
    sequence_end(&channel->acked, next_of(channel, &channel->acked, wc->qp_num));
    const uint32_t block = channel->permitter;
    if (block != APP__NO_BLOCK) {
        channel->permitter = APP__NO_BLOCK;
        app__coll_wake(channel->member, block);
        app__coll_work_all(app__member_rank(channel->member)->host);
    }
}

static void send_completed(const nic_wc_t *wc)
{
    app__member_channel_t *const channel = (app__member_channel_t *)(uintptr_t)wc->wr_id;
    if (channel->incoming) {
        cts_completed(channel, wc);
        return;
    }
    const uint32_t number = message_of(channel, wc->qp_num);
    channel->member->rank->failed += wc->status != NIC_WC_SUCCESS;
    end_record(channel, message_at(channel, number)->record, wc->status != NIC_WC_SUCCESS);
    sequence_end(&channel->acked, number);
    sent(channel);
    if (app__member_channel_has_cts(channel)) {
        close_sent(channel);
    } else if (!app__member_channel_permanent(channel)) {
        app__member_channel_end_qp(channel, number);
    }
    go_on(channel);
    app__coll_work_all(app__member_rank(channel->member)->host);
}

// -- receiving

// Returns the message that arrives by the queue pair with a number.
static uint32_t arriving(const app__member_channel_t *channel, uint32_t qp_num)
{
    return next_of(channel, &channel->arrived, qp_num);
}

// Destroys queue pairs of messages that ended long ago: the sender has posted a later one, so it
// has their acknowledgements.
static void close_old(app__member_channel_t *channel, uint32_t number)
{
    while ((int32_t)(number - channel->closed) > (int32_t)APP__MEMBER_CHANNEL_POSTED_MAX - 1) {
        app__member_channel_end_qp(channel, channel->closed++);
    }
}

static void show(app__member_channel_t *channel, uint32_t number)
{
    sequence_end(&channel->visible, number);
    if (channel->visible.next != channel->consumed) {
        wake_waiter(channel);
    }
    app__coll_work_all(app__member_rank(channel->member)->host);
}

static void show_later(sim_node_t *node, sim_timer_t *timer)
{
    uint32_t number = 0;
    app__member_channel_t *const channel = coming_end(timer, &number);
    SIM_CHECK(channel->member->rank->node == node);
    show(channel, number);
}

// Returns the time that an acknowledgement takes back to the sender on an idle path.
static sim_time_t ack_ps(const app__member_channel_t *channel, uint32_t number)
{
    const app__ends_t ends = app__member_channel_ends(channel, number);
    return app__ack_ps(ends.own->endpoint->net, ends.own->endpoint->interface,
                       ends.peer->endpoint->interface);
}

static void arrived(app__member_channel_t *channel, uint32_t number)
{
    if (!app__member_channel_permanent(channel)) {
        close_old(channel, number);
    }
    sequence_end(&channel->arrived, number);
    if (channel->member->all->options.arrival == APP__ARRIVAL_DATA) {
        show(channel, number);
        return;
    }
    channel->ack_ps = channel->ack_ps == 0 ? ack_ps(channel, number) : channel->ack_ps;
    app__coming_t *const coming = coming_begin(channel, number, show_later);
    sim_timer_arm(channel->member->rank->node, &coming->timer, now_of(channel) + channel->ack_ps);
}

static void message_arrived(void *owner, app__endpoint_t *endpoint, app__passive_t *passive,
                            const nic_wc_t *wc)
{
    app__member_channel_t *const channel =
        SIM_CONTAINER_OF(passive, app__member_channel_t, passive);
    const uint32_t number = arriving(channel, wc->qp_num);
    SIM_CHECK(owner == channel->member && endpoint->node == channel->member->rank->node);
    SIM_CHECK(!app__member_channel_has_cts(channel) || number == wc->imm_data);
    if (app__member_channel_permanent(channel) && !app__member_channel_has_cts(channel)) {
        app__member_channel_post_receive(channel, app__member_channel_qp(channel, number), number);
    }
    arrived(channel, number);
}

void app__member_channel_consume(app__member_channel_t *channel)
{
    SIM_CHECK(channel->consumed != channel->visible.next);
    channel->consumed++;
    if (channel->local) {
        app__member_channel_t *const from = other_end(channel);
        sequence_end(&from->acked, from->acked.next);
        go_on(from);
    }
}

bool app__member_channel_may_permit(app__member_channel_t *channel, uint32_t window, uint32_t block)
{
    if (channel->local) { // its messages need none, and may have come before
        return (int32_t)(channel->permitted - channel->consumed) < (int32_t)LOCAL_AHEAD;
    }
    if (app__member_channel_permanent(channel)) {
        return channel->permitted - channel->consumed < window;
    }
    if (channel->permitted - channel->acked.next >= APP__MEMBER_CHANNEL_POSTED_MAX) {
        channel->permitter = block;
        return false;
    }
    return channel->permitted - channel->consumed < SIM_MIN(window, APP__MEMBER_CHANNEL_POSTED_MAX);
}

void app__member_channel_permit(app__member_channel_t *channel)
{
    const uint32_t number = channel->permitted++;
    if (channel->local) {
        return;
    }
    nic_qp_t *const qp = app__member_channel_qp(channel, number);
    const app__ends_t ends = app__member_channel_ends(channel, number);
    const uint32_t place = place_in_call(channel, number);
    app__member_channel_post_receive(channel, qp, number);
    const unsigned flags =
        nic_inline_max(ends.own->endpoint->nic) >= CTS_BYTES ? NIC_SEND_INLINE : 0;
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)channel,
        .opcode = NIC_WR_RDMA_WRITE,
        .send_flags = flags | (app__member_channel_permanent(channel) ? 0 : NIC_SEND_SIGNALED),
        .sge = {app__address_of_qp(ends.own_number), CTS_BYTES,
                app__buffer_key(ends.own->endpoint, ends.own_number)},
        .rdma = {app__address_of_qp(ends.peer_number),
                 app__buffer_key(ends.peer->endpoint, ends.peer_number)},
        .label = label_of(channel, place),
    };
    app__qp_post(qp, &wr);
}

const app__range_ops_t app__member_channel_range_ops = {
    .passive_from_ps = app__member_channel_passive_from_ps,
    .accept = app__member_channel_accept,
    .finished = app__member_channel_is_finished,
    .received = message_arrived,
    .completed = send_completed,
};
