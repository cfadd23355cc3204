// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/receive.c - the receiving side: which packets it takes, and which it
// requests.
//
// A packet is taken if the maps can say that it came: new ones by the open map, retransmissions by
// the list or the table; the expected packet always. Others are dropped as if they had been lost:
// they are asked for again. So nothing depends on the host having blocks to spare but time.
#include "nic/objects/qp.h"
#include "nic/transport/adamap/adamap_internal.h"
#include "nic/transport/selective/acked_packet.h"

// -- requests

static void send_request(nic_adamap_state_t *state, const nic_adamap_t *map, uint8_t round,
                         uint32_t index)
{
    nic_qp_t *const qp = state->base.qp;
    const uint32_t bytes = nic__adamap_bytes(state->open.bits);
    net_packet_t *const answer = nic_transport_answer(
        qp, state->kept.first_psn, (uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE,
        (bytes + 3) & ~3u, NULL);
    net_packet_aside_t *const aside = net_packet_aside(answer);
    answer->addressed = true;
    aside->map.first_psn = (uint32_t)map->first_psn & ROCE_PSN_MASK;
    aside->map.length = map->length;
    for (uint32_t w = 0; w < NIC_ADAMAP_WORDS; w++) {
        aside->map.bits[w] = map->bits[w];
    }
    aside->selective.round = round;
    aside->selective.index = index;
    nic_transport_send(qp, answer);
}

static void send_late(nic_adamap_state_t *state)
{
    const sim_time_t now_ps = nic__adamap_now(state);
    while (state->late_first != state->late_end) {
        const nic_adamap_late_t *const late =
            &state->late[state->late_first & (state->late_capacity - 1)];
        if (late->ready_ps > now_ps) {
            sim_timer_arm(nic_transport_node(state->base.qp), &state->late_timer, late->ready_ps);
            return;
        }
        state->late_first++;
        send_request(state, &late->map, late->round, late->index);
    }
}

static void late_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    send_late(SIM_CONTAINER_OF(timer, nic_adamap_state_t, late_timer));
}

static void keep_late(nic_adamap_state_t *state, const nic_adamap_late_t *late)
{
    if (state->late_end - state->late_first == state->late_capacity) {
        const uint32_t capacity = state->late_capacity == 0 ? 8 : state->late_capacity * 2;
        nic_adamap_late_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
        for (uint32_t i = state->late_first; i != state->late_end; i++) {
            ring[i & (capacity - 1)] = state->late[i & (state->late_capacity - 1)];
        }
        sim_free(state->late);
        state->late = ring;
        state->late_capacity = capacity;
    }
    state->late[state->late_end++ & (state->late_capacity - 1)] = *late;
}

void nic__adamap_ask(nic_adamap_state_t *state, const nic_adamap_t *map, uint8_t round,
                     uint32_t index, sim_time_t ready_ps)
{
    struct nic_adamap_counters *const counters = &nic__adamap_shared(state)->counters;
    counters->requests++;
    if (state->late_first == state->late_end && ready_ps <= nic__adamap_now(state)) {
        send_request(state, map, round, index);
        return;
    }
    const uint32_t waiting = state->late_end - state->late_first;
    if (waiting >= nic__adamap_config(state)->late_requests) {
        counters->late_refused++; // the scan asks for the map again
        return;
    }
    counters->late_max = waiting >= counters->late_max ? waiting + 1 : counters->late_max;
    // Requests keep their order, so that retransmissions do.
    const bool first = state->late_first == state->late_end;
    keep_late(state, &(nic_adamap_late_t){
                         .ready_ps = ready_ps,
                         .map = *map,
                         .round = round,
                         .index = index,
                     });
    if (first) {
        sim_timer_arm(nic_transport_node(state->base.qp), &state->late_timer, ready_ps);
    }
}

// -- the open map

// Closes the open map before psn, the first of `span` PSNs that came. There is room in the list.
static void close_map(nic_adamap_state_t *state, uint64_t psn, uint32_t span)
{
    nic_adamap_t closed = nic__adamap_close(&state->open, psn, span);
    closed.id = state->next_id++;
    closed.touched_ps = nic__adamap_now(state);
    nic__adamap_shared(state)->counters.nodes_closed++;
    const sim_time_t ready_ps = nic__adamap_list_append(state, &closed);
    nic__adamap_ask(state, &closed, 1, 0, ready_ps);
}

// Asks for all missing packets, when no new packet has come for a while.
static void open_fired(sim_node_t *node, sim_timer_t *timer)
{
    nic_adamap_state_t *const state = SIM_CONTAINER_OF(timer, nic_adamap_state_t, open_timer);
    if (nic__adamap_idle(&state->open)) {
        return;
    }
    const sim_time_t after_ps = nic__adamap_config(state)->close_after_ps;
    sim_time_t due_ps = state->open_touched_ps + after_ps;
    if (due_ps <= node->now_ps && nic__adamap_list_claim(state)) {
        close_map(state, state->open.map.first_psn + state->open.map.length, 0);
        return;
    }
    due_ps = due_ps <= node->now_ps ? node->now_ps + after_ps : due_ps;
    sim_timer_arm(node, timer, due_ps);
}

static bool admit_new(nic_adamap_state_t *state, uint64_t psn, uint32_t span)
{
    if (nic__adamap_arrive(&state->open, psn, span) == NIC_ADAMAP_BEYOND) {
        if (!nic__adamap_list_claim(state)) {
            nic__adamap_shared(state)->counters.no_block_dropped++;
            return false;
        }
        close_map(state, psn, span);
    }
    if (SIM_UNLIKELY(!nic__adamap_idle(&state->open))) {
        sim_node_t *const node = nic_transport_node(state->base.qp);
        state->open_touched_ps = node->now_ps;
        if (!sim_timer_armed(&state->open_timer)) {
            sim_timer_arm(node, &state->open_timer,
                          node->now_ps + nic__adamap_config(state)->close_after_ps);
        }
    }
    return true;
}

// The action for a packet that did not arrive before.
typedef enum fate { TAKEN, DROPPED, WAITS } fate_t;

static fate_t admit(nic_adamap_state_t *state, net_packet_t *packet, uint64_t psn, bool waited)
{
    const uint32_t span = nic__packet_span(state->base.qp, packet);
    if (SIM_LIKELY(psn >= state->open.map.first_psn)) {
        nic__adamap_note_new(state);
        return admit_new(state, psn, span) ? TAKEN : DROPPED;
    }
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint8_t round = aside->selective.round;
    nic_adamap_match_t match = NIC_ADAMAP_UNKNOWN;
    if (round == 1) {
        const bool others_wait = nic__adamap_any_waits(&state->waiters);
        match = !waited && others_wait ? NIC_ADAMAP_WAITS
                                       : nic__adamap_list_match(state, psn, span, waited);
        if (match == NIC_ADAMAP_WAITS && !waited) {
            nic__adamap_wait(state, packet);
        }
    } else if (round > 1) {
        sim_time_t ready_ps;
        match = nic__adamap_table_match(state, aside->selective.index, round, psn, span, waited,
                                        &ready_ps);
        if (match == NIC_ADAMAP_WAITS) {
            nic__adamap_wait_entry(state, packet, ready_ps);
        }
    }
    if (match == NIC_ADAMAP_UNKNOWN && psn != state->kept.first_psn) {
        nic__adamap_shared(state)->counters.late_dropped++;
        return DROPPED;
    }
    return match == NIC_ADAMAP_WAITS ? WAITS : TAKEN;
}

static void note_repairs(nic_adamap_state_t *state)
{
    struct nic_adamap_counters *const counters = &nic__adamap_shared(state)->counters;
    counters->repaired += state->kept.repaired;
    counters->repair_ps += state->kept.repair_ps;
    if (state->kept.repair_ps_max > counters->repair_ps_max) {
        counters->repair_ps_max = state->kept.repair_ps_max;
    }
    state->kept.repaired = state->kept.repair_ps = 0;
}

// Starts the scans again that rested because the peer did not answer.
static void wake_scans(nic_adamap_state_t *state)
{
    sim_node_t *const node = nic_transport_node(state->base.qp);
    const sim_time_t at_ps = node->now_ps + nic__adamap_config(state)->scan_interval_ps;
    state->unheard = 0;
    if (nic__adamap_list_count(state) != 0 && !sim_timer_armed(&state->list_timer)) {
        sim_timer_arm(node, &state->list_timer, at_ps);
    }
    if (state->oldest != NIC_ADAMAP_NO_INDEX && !sim_timer_armed(&state->table_timer)) {
        sim_timer_arm(node, &state->table_timer, at_ps);
    }
}

bool nic__adamap_take(nic_adamap_state_t *state, net_packet_t *packet, bool waited)
{
    nic_qp_t *const qp = state->base.qp;
    const uint64_t psn = nic_transport_psn(packet->psn, state->kept.first_psn);
    const bool ack_request = packet->ack_request;
    const uint64_t before_psn = state->kept.first_psn;
    if (psn >= before_psn + NIC_PSN_WINDOW || (qp->rx_flags & NIC_RX_STOPPED) != 0) {
        nic_transport_consume(qp, packet);
        return true;
    }
    const bool again = nic__early_has(&state->kept, psn);
    if (!again) {
        const fate_t fate = admit(state, packet, psn, waited);
        if (fate == DROPPED) {
            nic_transport_consume(qp, packet);
        }
        if (fate != TAKEN) {
            return fate == DROPPED;
        }
    }
    nic_acked_packet_t cause;
    nic__acked_packet_note(&cause, packet);
    const nic_arrival_t arrival = nic__early_receive(&state->kept, qp, packet);
    if (SIM_UNLIKELY(state->kept.repaired != 0)) {
        note_repairs(state);
    }
    nic__adamap_shared(state)->counters.duplicates += again;
    if (arrival.refused || (!ack_request && arrival.news != NIC_KEPT_REPAIR)) {
        return true;
    }
    if (again) {
        nic_transport_acknowledge(qp, NULL);
    } else if (state->kept.first_psn != before_psn || cause.packet.sprayed) {
        nic__acked_packet_acknowledge(qp, &cause);
    }
    return true;
}

void nic__adamap_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    nic_adamap_state_t *const state = nic__adamap_of(qp);
    if (SIM_UNLIKELY(state->unheard != 0)) {
        wake_scans(state);
    }
    (void)nic__adamap_take(state, packet, false);
}

// -- life

void nic__adamap_open_receiver(nic_adamap_state_t *state)
{
    const nic_adamap_config_t *const config = nic__adamap_config(state);
    const uint64_t expected_psn = nic_transport_look(state->base.qp).expected_psn;
    nic__early_init(&state->kept, expected_psn);
    nic__adamap_open(&state->open, (uint32_t)config->bits, expected_psn);
    state->cached = sim_alloc_array(config->cached, sizeof(*state->cached));
    state->oldest = state->newest = state->latest_index = NIC_ADAMAP_NO_INDEX;
    for (uint32_t i = 0; i < NIC_ADAMAP_TABLE_CACHE_MAX; i++) {
        state->lru[i] = NIC_ADAMAP_NO_INDEX;
    }
    sim_timer_init(&state->open_timer, open_fired);
    sim_timer_init(&state->late_timer, late_fired);
    sim_timer_init(&state->list_timer, nic__adamap_list_fired);
    sim_timer_init(&state->table_timer, nic__adamap_table_fired);
    sim_timer_init(&state->read_timer, nic__adamap_read_fired);
    sim_timer_init(&state->entry_timer, nic__adamap_entry_fired);
}

void nic__adamap_close_receiver(nic_adamap_state_t *state)
{
    sim_node_t *const node = nic_transport_node(state->base.qp);
    sim_timer_cancel(node, &state->open_timer);
    sim_timer_cancel(node, &state->late_timer);
    sim_timer_cancel(node, &state->list_timer);
    sim_timer_cancel(node, &state->table_timer);
    sim_timer_cancel(node, &state->read_timer);
    sim_timer_cancel(node, &state->entry_timer);
    nic__adamap_waiters_free(state);
    nic__adamap_count_nodes(state, -(int64_t)nic__adamap_list_count(state));
    nic__adamap_table_free(state);
    nic__adamap_core_forget(state);
    nic__early_fini(&state->kept, state->base.qp);
    sim_free(state->cached);
    sim_free(state->late);
}
