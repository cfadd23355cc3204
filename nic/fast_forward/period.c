// SPDX-License-Identifier: Apache-2.0
// nic/fast_forward/period.c - compares two moments of a network at work, and jumps over periods.
//
// A moment holds a copy of all structs with rows, the messages and wakes to come, and what queues
// hold. Packets are compared by their places relative to their queue pairs' positions, and their
// times relative to the moment.
#include "nic/fast_forward_period.h"

#include <stdlib.h>
#include <string.h>

#include "net/draws.h"
#include "net/fast_forward.h"
#include "net/nodes.h"
#include "net/port_queue.h"
#include "nic/fast_forward.h"
#include "nic/fast_forward/noted.h"
#include "nic/objects/numbers.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/rail.h"
#include "nic/transport/entry.h"

// A packet in a queue or on a link, or a wake. Fields that say nothing are 0.
typedef struct item {
    net_packet_t packet; // psn and sent_ps are distances
    sim_time_t after_ps; // it arrives, or the wake is due, this time after the moment
    uint64_t place;      // node, port, class, and whether it waits
    uint32_t frame_bytes;
    uint32_t ingress_port;
    uint32_t marks;
    uint32_t draw; // the sender's port has numbered this number of packets since
} item_t;

// The position of a queue pair. `must` stays; the rest grows.
typedef struct position {
    nic_qp_t *qp;
    uint64_t next_psn;
    uint64_t una_psn;
    uint64_t max_psn;
    uint64_t expected_psn;
    uint32_t send_offset;
    uint32_t una_offset;
    uint32_t rx_left_bytes;
    uint32_t rx_bytes;
    uint64_t must[3]; // neighbours in the scheduler's ring; place of its ACK that waits, from 1
} position_t;

struct nic_moment {
    const net_t *net;
    sim_time_t now_ps;
    sim_state_t list;
    char *copy;
    item_t *items;
    net_packet_t **packets; // of items; NULL: a wake
    size_t count;
    size_t capacity;
    size_t packet_capacity;
    position_t *positions; // by address of the queue pair
    size_t position_count;
    size_t position_capacity;
    uint64_t *draws; // by interface: number of the last packet
    uint64_t *sent;  // by interface: packets that its port has sent
    uint64_t hops;
    const char *refused;
    const nic_moment_program_t *program; // NULL: none acts
    sim_notes_t notes;                   // with a program
};

// -- taking

static void add_item(nic_moment_t *moment, item_t item, net_packet_t *packet)
{
    size_t count = moment->count;
    SIM_GROW(moment->packets, count, &moment->packet_capacity);
    SIM_GROW(moment->items, moment->count, &moment->capacity);
    moment->packets[moment->count] = packet;
    moment->items[moment->count++] = item;
}

// Returns the queue pair that a packet is for.
static nic_qp_t *receiver_of(const nic_moment_t *moment, const net_packet_t *packet)
{
    return nic__find_qp(nic_of_interface(moment->net, packet->destination), packet->destination_qp);
}

// Returns the position from which a packet's PSN is counted.
static uint64_t base_of(const nic_qp_t *receiver, const net_packet_t *packet)
{
    return packet->opcode == ROCE_ACKNOWLEDGE ? receiver->una_psn : receiver->expected_psn;
}

static bool is_middle(const net_packet_t *packet)
{
    return packet->opcode == ROCE_SEND_MIDDLE || packet->opcode == ROCE_WRITE_MIDDLE ||
           (packet->opcode == ROCE_ACKNOWLEDGE && packet->aeth >> 29 == 0);
}

static bool is_steady(const nic_moment_t *moment, const net_packet_t *packet)
{
    return packet->kind == NET_PACKET_ROCE && packet->telemetry == NET_TELEMETRY_NONE &&
           !packet->contents && !packet->retransmission && !packet->addressed &&
           (moment->program != NULL ? nic__may_note(packet) : is_middle(packet));
}

static void add_packet(nic_moment_t *moment, net_packet_t *packet, item_t item)
{
    item.packet = *packet;
    item.packet.next = NULL;
    const nic_qp_t *const receiver = is_steady(moment, packet) ? receiver_of(moment, packet) : NULL;
    if (receiver == NULL) {
        moment->refused = "packets besides the middle of messages";
    } else {
        item.packet.psn = (packet->psn - (uint32_t)base_of(receiver, packet)) & ROCE_PSN_MASK;
        item.packet.sent_ps =
            packet->sent_ps == SIM_TIME_NEVER ? SIM_TIME_NEVER : moment->now_ps - packet->sent_ps;
        item.draw = (uint32_t)moment->draws[packet->source] - net_packet_aside(packet)->draw;
        if (moment->program != NULL) {
            nic__note_packet(&moment->notes, packet, &item.packet);
        }
    }
    add_item(moment, item, packet);
}

static uint64_t place_of(size_t node, uint32_t port, uint32_t class)
{
    return (uint64_t)node << 32 | (uint64_t) class << 24 | port;
}

#define ON_LINK 8u // in the place of a class
#define WAKES 9u

static void add_flights(nic_moment_t *moment)
{
    sim_flights_t flights = {0};
    sim_flights_list(net_sim(moment->net), &flights);
    for (size_t i = 0; i < flights.count; i++) {
        const sim_flight_t *const flight = &flights.items[i];
        item_t item = {.after_ps = flight->time_ps == SIM_TIME_NEVER
                                       ? SIM_TIME_NEVER
                                       : flight->time_ps - moment->now_ps};
        if (flight->message == NULL) {
            item.place = place_of(flight->node, flight->port & 0xffffffu, WAKES);
            add_item(moment, item, NULL);
        } else {
            item.place = place_of(flight->node, flight->port, ON_LINK);
            add_packet(moment, flight->message, item);
            // The place where it arrives sets this when it queues the packet.
            moment->items[moment->count - 1].packet.ingress_port = 0;
        }
    }
    sim_flights_fini(&flights);
}

static void add_queue(nic_moment_t *moment, size_t node, const net_port_t *port, uint32_t class)
{
    const net_class_t *const queue = port->classes[class];
    if (queue->bytes == 0) {
        return;
    }
    const uint32_t room = queue->end / (uint32_t)sizeof(net_queued_t);
    net_queued_t *const queued = sim_alloc_array(room + 1, sizeof(*queued));
    const uint32_t count = net_queue_peek(queue, queued, room);
    for (uint32_t i = 0; i < count; i++) {
        add_packet(moment, queued[i].packet,
                   (item_t){.place = place_of(node, port->index, class),
                            .frame_bytes = queued[i].frame_bytes,
                            .ingress_port = queued[i].ingress_port,
                            .marks = queued[i].marks});
        if (port->node->kind == NET_NODE_HOST) {
            moment->items[moment->count - 1].draw = 0; // it gets a number when it leaves
        }
    }
    sim_free(queued);
}

static const char *refuse_port(const net_port_t *port)
{
    return port->line->config->loss_rate.num > 0 || port->line->config->bit_error_rate.num > 0
               ? "losses"
           : port->controlled || port->paused != 0 ? "pauses or drops at a port"
                                                   : NULL;
}

static void add_queues(nic_moment_t *moment)
{
    for (size_t i = 0; i < net_node_count(moment->net); i++) {
        const net_node_t *const node = net_node_at(moment->net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            const net_port_t *const port = &node->ports[p];
            const char *const refused = refuse_port(port);
            moment->refused = refused != NULL ? refused : moment->refused;
            for (uint32_t class = 0; class < NET_PRIORITIES; class ++) {
                add_queue(moment, i, port, class);
            }
        }
    }
}

static void add_position(const nic_qp_t *qp, void *ctx)
{
    nic_moment_t *const moment = ctx;
    const nic_config_t *const config = qp->nic->host->config;
    if (moment->program != NULL) {
        const char *const refused = nic__note_qp(&moment->notes, qp);
        moment->refused = refused != NULL ? refused : moment->refused;
    } else if (config->ack_from_bytes != 0 || config->ack_chunk_bytes != 0) {
        moment->refused = "nic.ack-from"; // an ACK depends on the place in the message
    }
    uint64_t waits = 0;
    if (nic__ack_still_queued(qp)) {
        const uint32_t popped = qp->nic->queue_popped[qp->queued_ack_class];
        waits = 1 + (uint64_t)(qp->queued_ack_number - popped);
    }
    SIM_GROW(moment->positions, moment->position_count, &moment->position_capacity);
    moment->positions[moment->position_count++] = (position_t){
        .qp = (nic_qp_t *)(uintptr_t)qp,
        .next_psn = qp->next_psn,
        .una_psn = qp->una_psn,
        .max_psn = qp->max_psn,
        .expected_psn = qp->expected_psn,
        .send_offset = qp->send_offset,
        .una_offset = qp->una_offset,
        .rx_left_bytes = qp->rx_left_bytes,
        .rx_bytes = qp->rx_bytes,
        .must = {(uint64_t)(uintptr_t)qp->ready_next, (uint64_t)(uintptr_t)qp->ready_previous,
                 waits},
    };
}

static int compare_positions(const void *left, const void *right)
{
    const uintptr_t a = (uintptr_t)((const position_t *)left)->qp;
    const uintptr_t b = (uintptr_t)((const position_t *)right)->qp;
    return a < b ? -1 : a > b;
}

static bool is_sorted(const nic_moment_t *moment)
{
    for (size_t i = 1; i < moment->position_count; i++) {
        if (compare_positions(&moment->positions[i - 1], &moment->positions[i]) > 0) {
            return false;
        }
    }
    return true;
}

nic_moment_t *nic_moment_take(const net_t *net, sim_time_t now_ps,
                              const nic_moment_program_t *program)
{
    nic_moment_t *const moment = sim_alloc(sizeof(*moment));
    sim_time_t rest_ps = 0;
    *moment = (nic_moment_t){.net = net, .now_ps = now_ps, .program = program};
    nic_state_list(net, &moment->list, &rest_ps,
                   program != NULL ? NIC_SPAN_CALLS : NIC_SPAN_MESSAGES);
    moment->refused = moment->list.refused;
    if (program != NULL && moment->refused == NULL) {
        sim_notes_init(&moment->notes, net_sim(net), now_ps);
        moment->refused = program->note(program->ctx, &moment->list, &moment->notes);
    }
    if (moment->refused != NULL) {
        return moment;
    }
    moment->draws = sim_alloc_array(net_interface_count(net) + 1, sizeof(*moment->draws));
    moment->sent = sim_alloc_array(net_interface_count(net) + 1, sizeof(*moment->sent));
    for (size_t i = 0; i < net_node_count(net); i++) {
        net_node_t *const node = net_node_at(net, i);
        if (program != NULL) {
            sim_state_add_clock(&moment->list, &node->sim);
            sim_note_ties(&moment->notes, &node->sim, !net_has_room(node));
        } else {
            sim_state_add_node(&moment->list, &node->sim);
        }
        for (uint32_t n = 0; node->kind == NET_NODE_HOST && n < nic_count(node); n++) {
            nic_t *const nic = nic_at(node, n);
            if (program == NULL && nic__rail_follows(nic)) {
                continue;
            }
            moment->draws[nic->interface] = nic->port->rare->draw;
            for (uint32_t class = 0; class < NET_PRIORITIES; class ++) {
                moment->sent[nic->interface] += nic->port->classes[class]->tx_packets;
            }
            nic_for_each_qp(nic, add_position, moment);
        }
    }
    if (!is_sorted(moment)) {
        qsort(moment->positions, moment->position_count, sizeof(*moment->positions),
              compare_positions);
    }
    moment->copy = sim_state_copy(&moment->list);
    moment->hops = nic_frames_sent(net);
    add_flights(moment);
    add_queues(moment);
    return moment;
}

void nic_moment_free(nic_moment_t *moment)
{
    if (moment == NULL) {
        return;
    }
    sim_state_fini(&moment->list);
    sim_notes_fini(&moment->notes);
    SIM_FREE_ALL(moment->copy, moment->items, moment->packets, moment->positions, moment->draws,
                 moment->sent, moment);
}

const char *nic_moment_refused(const nic_moment_t *moment)
{
    return moment->refused;
}

size_t nic_moment_bytes(const nic_moment_t *moment)
{
    return moment->list.bytes;
}

sim_time_t nic_moment_time_ps(const nic_moment_t *moment)
{
    return moment->now_ps;
}

// -- comparing

// whole: messages begin and end.
static bool position_repeats(const position_t *a, const position_t *b, bool whole)
{
    const nic_qp_t *const qp = a->qp;
    const uint64_t sent = b->next_psn - a->next_psn;
    const uint64_t received = b->expected_psn - a->expected_psn;
    const bool places = a->qp == b->qp && memcmp(a->must, b->must, sizeof(a->must)) == 0 &&
                        b->una_psn - a->una_psn == sent && b->max_psn - a->max_psn == sent;
    if (whole) {
        return places; // rows have the rest
    }
    const uint32_t sent_bytes = (uint32_t)sent * qp->mtu_bytes;
    const uint32_t received_bytes = (uint32_t)received * qp->rx_mtu_bytes;
    const uint32_t left_bytes = a->rx_left_bytes - b->rx_left_bytes;
    return places && b->send_offset - a->send_offset == sent_bytes &&
           b->una_offset - a->una_offset == sent_bytes &&
           b->rx_bytes - a->rx_bytes == received_bytes &&
           (left_bytes == received_bytes || left_bytes == 0);
}

// Returns whether each port has numbered its packets on since the first moment, or again from where
// a rest ended.
static bool draws_repeat(const nic_moment_t *first, const nic_moment_t *second)
{
    for (size_t i = 0; i < net_interface_count(first->net); i++) {
        const uint64_t step = second->draws[i] - first->draws[i];
        if (step != 0 && step != second->sent[i] - first->sent[i]) {
            return false;
        }
    }
    return true;
}

bool nic_moment_repeats(const nic_moment_t *first, const nic_moment_t *second, const char **why)
{
    if (second->refused != NULL) {
        *why = second->refused;
        return false;
    }
    if (!sim_state_same_structs(&first->list, &second->list)) {
        *why = "new queue pairs";
        return false;
    }
    if (!sim_state_repeats(&first->list, first->copy, first->now_ps, second->copy, second->now_ps,
                           why)) {
        return false;
    }
    const bool whole = second->program != NULL;
    if (whole && !sim_notes_repeat(&first->notes, &second->notes, why)) {
        return false;
    }
    *why = "numbers of packets";
    if (whole && !draws_repeat(first, second)) {
        return false;
    }
    *why = "positions of queue pairs";
    for (size_t i = 0; i < first->position_count; i++) {
        if (!position_repeats(&first->positions[i], &second->positions[i], whole)) {
            return false;
        }
    }
    *why = "packets under way";
    return first->count == second->count &&
           memcmp(first->items, second->items, first->count * sizeof(*first->items)) == 0;
}

static uint64_t at_most(uint64_t most, uint64_t left, uint64_t each)
{
    return SIM_MIN(left / each, most);
}

// Lowers `most` to the periods in which a queue pair neither sends nor is acknowledged the last
// packet of a message.
static uint64_t within_message(const position_t *a, const position_t *b, uint64_t most)
{
    const nic_qp_t *const qp = b->qp;
    const uint64_t bytes = (b->next_psn - a->next_psn) * qp->mtu_bytes;
    if (bytes == 0) {
        return most;
    }
    if (qp->sq_send == qp->sq_posted || nic__is_fetch(nic__wqe(qp, qp->sq_send)->opcode)) {
        return 0;
    }
    const uint64_t margin = 2 * (uint64_t)qp->mtu_bytes;
    const uint64_t sends = nic__wqe(qp, qp->sq_send)->length - (uint64_t)b->send_offset;
    const uint64_t acked = nic__wqe(qp, qp->sq_done)->length - (uint64_t)b->una_offset;
    const uint64_t left = SIM_MIN(sends, acked);
    return left <= margin ? 0 : at_most(most, left - margin, bytes);
}

uint64_t nic_moment_most(const nic_moment_t *first, const nic_moment_t *second)
{
    const sim_t *const sim = net_sim(first->net);
    const sim_time_t period_ps = second->now_ps - first->now_ps;
    const nic_moment_program_t *const program = second->program;
    const sim_time_t timer_ps =
        program != NULL ? sim_notes_until_ps(&second->notes) : sim_next_timer_ps(sim);
    const sim_time_t until_ps = sim_options(sim)->until_ps;
    const sim_time_t end_ps = SIM_MIN(timer_ps, until_ps);
    uint64_t most =
        end_ps <= second->now_ps ? 0 : at_most(UINT32_MAX, end_ps - second->now_ps - 1, period_ps);
    bool any = program != NULL;
    if (program != NULL) {
        const uint64_t calls = program->most(program->ctx);
        most = SIM_MIN(calls, most);
    }
    for (size_t i = 0; i < first->position_count; i++) {
        const position_t *const a = &first->positions[i];
        const position_t *const b = &second->positions[i];
        most = program != NULL ? most : within_message(a, b, most);
        any = any || a->next_psn != b->next_psn;
    }
    while (any && most > 0 && !sim_may_shift(sim, second->now_ps, most * period_ps)) {
        most--;
    }
    return any ? most : 0;
}

// -- jumping

// Returns by how much the PSN of a packet grows in a period.
static uint64_t psn_step(const position_t *a, const position_t *b, const net_packet_t *packet)
{
    return packet->opcode == ROCE_ACKNOWLEDGE ? b->una_psn - a->una_psn
                                              : b->expected_psn - a->expected_psn;
}

// Returns the place of a queue pair among the positions of a moment, which it has.
static size_t find_position(const nic_moment_t *moment, const nic_qp_t *qp)
{
    const position_t key = {.qp = (nic_qp_t *)(uintptr_t)qp};
    const position_t *const found =
        bsearch(&key, moment->positions, moment->position_count, sizeof(key), compare_positions);
    SIM_CHECK(found != NULL);
    return (size_t)(found - moment->positions);
}

static void move_packet(const nic_moment_t *first, const nic_moment_t *second, net_packet_t *packet,
                        uint64_t count)
{
    const size_t at = find_position(second, receiver_of(second, packet));
    const uint64_t psns = count * psn_step(&first->positions[at], &second->positions[at], packet);
    const uint64_t draws = count * (second->draws[packet->source] - first->draws[packet->source]);
    packet->psn = (packet->psn + (uint32_t)psns) & ROCE_PSN_MASK;
    if (packet->sent_ps != SIM_TIME_NEVER) {
        packet->sent_ps += count * (second->now_ps - first->now_ps);
    }
    net_packet_aside(packet)->draw += (uint32_t)draws;
}

// Checks that a jump by by_ps leads to the state before it.
static void check_jump(const nic_moment_t *second, sim_time_t by_ps)
{
    const char *why = NULL;
    nic_moment_t *const third =
        nic_moment_take(second->net, second->now_ps + by_ps, second->program);
    SIM_CHECKF(nic_moment_repeats(second, third, &why),
               "fast-forward: the jump at %" PRIu64 " ps does not lead to the same state: %s",
               second->now_ps, why);
    nic_moment_free(third);
}

uint64_t nic_moment_jump(const nic_moment_t *first, const nic_moment_t *second, uint64_t count,
                         bool check)
{
    const sim_time_t period_ps = second->now_ps - first->now_ps;
    for (size_t i = 0; i < second->count; i++) {
        if (second->packets[i] != NULL) {
            move_packet(first, second, second->packets[i], count);
        }
    }
    if (second->program != NULL) {
        second->program->jump(second->program->ctx, count, period_ps);
        sim_notes_take(&first->notes, &second->notes, count);
    }
    sim_state_add_periods(&second->list, first->copy, second->copy, period_ps, count);
    for (size_t i = 0; i < second->position_count; i++) {
        const position_t *const position = &second->positions[i];
        nic_qp_t *const qp = position->qp;
        if (position->must[2] != 0) { // the place of the ACK that waits
            qp->queued_ack_number =
                qp->nic->queue_popped[qp->queued_ack_class] + (uint32_t)position->must[2] - 1;
        }
    }
    if (second->program != NULL) {
        sim_notes_put(&first->notes, &second->notes, count);
    }
    sim_shift(net_sim(first->net), second->now_ps, count * period_ps);
    if (check) {
        check_jump(second, count * period_ps);
    }
    return count * (second->hops - first->hops);
}

// -- guessing the period

#define FRAMES_LEAST 48u // from which a period is guessed

struct nic_watch {
    const net_t *net;
    net_port_t *port;
    uint32_t next_count; // of frames, when somebody searches again
    net_tap_t tap;
};

typedef struct senders {
    uint64_t least_packets; // left to send at some queue pair
    uint32_t count;
    uint32_t at_ends; // queue pairs with the first or last packet of a message under way, maybe
    uint32_t seen;    // queue pairs
} senders_t;

static void look_at(const nic_qp_t *qp, void *ctx)
{
    senders_t *const senders = ctx;
    senders->seen++;
    if (qp->sq_done == qp->sq_posted) {
        return;
    }
    const bool sends = qp->sq_send != qp->sq_posted;
    const uint64_t left =
        sends ? (nic__wqe(qp, qp->sq_send)->length - qp->send_offset) / qp->mtu_bytes : 0;
    senders->least_packets = SIM_MIN(left, senders->least_packets);
    senders->count += sends;
    senders->at_ends += qp->sq_send != qp->sq_done || qp->una_offset == 0;
}

// Returns the NIC with the most queue pairs that send. NULL: none does, or some one has less than
// least_packets left, or, if at_ends is NULL, is not in the middle of a message. *seen is increased
// by what was looked at, *at_ends by the queue pairs that are not in the middle of a message. The
// search begins at node *from, and leaves the node there at which it ended.
static nic_t *find_watched(const net_t *net, uint32_t least_packets, uint64_t *seen,
                           uint32_t *at_ends, size_t *from)
{
    nic_t *best = NULL;
    uint32_t most = 0;
    const size_t count = net_node_count(net);
    const size_t first = *from < count ? *from : 0;
    for (size_t i = 0; i < count; i++) {
        *from = (first + i) % count;
        net_node_t *const node = net_node_at(net, *from);
        *seen += 1;
        for (uint32_t n = 0; node->kind == NET_NODE_HOST && n < nic_count(node); n++) {
            nic_t *const nic = nic_at(node, n);
            if (nic__rail_follows(nic)) {
                continue;
            }
            senders_t senders = {.least_packets = UINT64_MAX};
            nic_for_each_qp(nic, look_at, &senders);
            *seen += senders.seen;
            if (senders.least_packets < least_packets || (at_ends == NULL && senders.at_ends > 0)) {
                return NULL;
            }
            if (at_ends != NULL) {
                *at_ends += senders.at_ends;
            }
            if (senders.count > most) {
                most = senders.count;
                best = nic;
            }
        }
    }
    return best;
}

nic_watch_t *nic_watch_begin(const net_t *net, uint32_t least_packets, uint64_t *seen, size_t *from)
{
    nic_t *const best = find_watched(net, least_packets, seen, NULL, from);
    if (best == NULL || best->planes != NULL || !best->draws) {
        return NULL;
    }
    nic_watch_t *const watch = sim_alloc(sizeof(*watch));
    watch->net = net;
    watch->port = best->port;
    watch->next_count = FRAMES_LEAST;
    net_draws_tap(watch->port, &watch->tap);
    return watch;
}

bool nic_watch_holds(const nic_watch_t *watch, uint32_t least_packets, uint64_t *seen, bool *steady)
{
    uint32_t at_ends = 0;
    size_t from = 0;
    const bool holds = find_watched(watch->net, least_packets, seen, &at_ends, &from) != NULL;
    *steady = at_ends == 0;
    return holds;
}

void nic_watch_end(nic_watch_t *watch)
{
    if (watch != NULL) {
        net_draws_tap(watch->port, NULL);
        sim_free(watch);
    }
}

// Returns whether the last frames are those `step` before: at least twice, and FRAMES_LEAST / 2.
static bool frames_repeat(const net_tap_t *tap, uint32_t step)
{
    const uint32_t least = SIM_MAX(2 * step, FRAMES_LEAST / 2);
    if (least + step > tap->count) {
        return false;
    }
    const net_tapped_t *const end = &tap->frames[tap->count - 1];
    const sim_time_t period_ps = end->time_ps - (end - step)->time_ps;
    for (uint32_t i = 0; i < least; i++) {
        const net_tapped_t *const frame = end - i;
        if (frame->time_ps - (frame - step)->time_ps != period_ps ||
            frame->kind != (frame - step)->kind) {
            return false;
        }
    }
    return true;
}

sim_time_t nic_watch_period_ps(nic_watch_t *watch, bool *over, uint64_t *seen)
{
    const net_tap_t *const tap = &watch->tap;
    *over = tap->count == NET_TAP_FRAMES;
    if (tap->count < watch->next_count && !*over) {
        return 0;
    }
    watch->next_count = tap->count + tap->count / 8 + 1;
    for (uint32_t step = 1; tap->count >= FRAMES_LEAST && step <= tap->count / 3; step++) {
        *seen += 1;
        if (frames_repeat(tap, step)) {
            return tap->frames[tap->count - 1].time_ps - tap->frames[tap->count - 1 - step].time_ps;
        }
    }
    return 0;
}
