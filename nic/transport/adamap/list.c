// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/list.c - the list of closed maps: head on the NIC, the rest in the
// host.
//
// First retransmissions come in the order of the maps, and within them of the PSNs, because the
// sender sends them so and a path keeps order. So the list is only ever looked at near its head; a
// packet of a later map, or of a later piece of a map, shows that the packets still missing before
// it were lost again: they go to the table.
#include "nic/transport/adamap/list_internal.h"

#include "nic/objects/objects.h"

nic_adamap_t nic__list_pop(nic_adamap_state_t *state)
{
    SIM_CHECK(state->cached_count > 0);
    const nic_adamap_t map = *nic__list_at(state, 0);
    state->cached_first = (state->cached_first + 1) % (uint32_t)nic__adamap_config(state)->cached;
    state->cached_count--;
    nic__list_note_left(state, &map);
    return map;
}

static void read_ahead(nic_adamap_state_t *state)
{
    if (nic__adamap_config(state)->chain == NIC_ADAMAP_KNOWN) {
        nic__known_prefetch(state);
    } else {
        nic__adamap_refill(state);
    }
}

// -- joining

// Returns true if the next closed map stays on the NIC.
static bool stays(const nic_adamap_state_t *state)
{
    return nic__chain_count(&state->chain) == 0 && nic__list_room(state) > 0;
}

bool nic__adamap_list_claim(nic_adamap_state_t *state)
{
    return stays(state) || nic__knitting_claim(&nic__adamap_shared(state)->knitting, 1);
}

sim_time_t nic__adamap_list_append(nic_adamap_state_t *state, const nic_adamap_t *map)
{
    sim_time_t ready_ps = nic__adamap_now(state);
    nic__adamap_count_nodes(state, 1);
    state->list_pieces += nic__list_pieces(state, map);
    nic__adamap_shared(state)->counters.work++;
    if (stays(state)) {
        nic__list_add(state, map);
    } else {
        nic__chain_give(&state->chain);
        ready_ps = nic__adamap_hand_map(state, map);
        read_ahead(state);
    }
    if (!sim_timer_armed(&state->list_timer)) {
        sim_timer_arm(nic_transport_node(state->base.qp), &state->list_timer,
                      nic__adamap_now(state) + nic__adamap_config(state)->scan_interval_ps);
    }
    return ready_ps;
}

// Removes maps that miss nothing any more. (The expected packet is taken whatever the list says.)
static void drop_done(nic_adamap_state_t *state)
{
    while (state->cached_count > 0) {
        const nic_adamap_t *const head = nic__list_at(state, 0);
        if (head->first_psn + head->length > state->kept.first_psn) {
            return;
        }
        (void)nic__list_pop(state);
    }
}

// -- matching

// Removes the first piece of the head, and puts it into the table if it misses packets.
static void leave_piece(nic_adamap_state_t *state, nic_adamap_t *head, sim_time_t ready_ps)
{
    const nic_adamap_t piece = nic__adamap_head(head, state->open.bits);
    nic__adamap_table_add(state, &piece, ready_ps);
    nic__adamap_slide(head, piece.length);
    state->list_pieces--;
}

void nic__list_fill(nic_adamap_state_t *state, uint64_t psn, uint32_t span, sim_time_t ready_ps)
{
    nic_adamap_t *const head = nic__list_at(state, 0);
    const uint32_t bits = state->open.bits;
    while (psn - head->first_psn >= bits) {
        leave_piece(state, head, ready_ps);
    }
    const uint64_t end = psn - head->first_psn + span;
    const uint32_t last = (uint32_t)SIM_MIN(end, head->length);
    for (uint32_t offset = (uint32_t)(psn - head->first_psn); offset < last && offset < bits;
         offset++) {
        nic__adamap_set(head, offset);
    }
    head->touched_ps = nic__adamap_now(state);
    const uint32_t piece_end = SIM_MIN(head->length, bits);
    if (nic__adamap_find(head, SIM_MIN(last, piece_end), false) >= piece_end) {
        leave_piece(state, head, ready_ps);
        while (last > bits && head->length > 0 && head->first_psn < psn + span) {
            // A READ's PSNs reach into further pieces.
            const uint64_t rest = psn + span - head->first_psn;
            for (uint32_t o = 0; o < bits && o < rest && o < head->length; o++) {
                nic__adamap_set(head, o);
            }
            if (rest < bits && rest < head->length) {
                break;
            }
            leave_piece(state, head, ready_ps);
        }
        if (head->length == 0) {
            (void)nic__list_pop(state);
        }
    }
}

bool nic__list_fits(const nic_adamap_state_t *state, uint64_t psn, uint32_t span)
{
    if (state->cached_count == 0) {
        return false;
    }
    const nic_adamap_t *const head = nic__list_at(state, 0);
    const uint64_t offset = psn - head->first_psn;
    return offset + span <= state->open.bits && nic__adamap_find(head, 0, false) >= offset;
}

// Where a PSN is, for the NIC, which knows its own maps only.
typedef struct place {
    enum { NOWHERE, HERE, BEYOND } at;
    uint32_t position; // maps before it
    uint64_t pieces;   // pieces before it
} place_t;

static place_t find(const nic_adamap_state_t *state, uint64_t psn)
{
    place_t place = {.at = NOWHERE};
    for (; place.position < state->cached_count; place.position++) {
        const nic_adamap_t *const map = nic__list_at(state, place.position);
        if (psn < map->first_psn) {
            return place;
        }
        if (nic__adamap_covers(map, psn)) {
            const uint64_t offset = psn - map->first_psn;
            place.pieces += offset / state->open.bits;
            const bool misses =
                offset >= NIC_ADAMAP_BITS_MAX || !nic__adamap_has(map, (uint32_t)offset);
            place.at = misses ? HERE : NOWHERE;
            return place;
        }
        place.pieces += nic__list_pieces(state, map);
    }
    place.at = nic__adamap_beyond(state) > 0 ? BEYOND : NOWHERE;
    return place;
}

static nic_adamap_match_t match_linked(nic_adamap_state_t *state, uint64_t psn, uint32_t span,
                                       bool waited)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    const place_t place = find(state, psn);
    if (place.at == NOWHERE) {
        return NIC_ADAMAP_UNKNOWN;
    }
    shared->counters.work += place.position + (place.at == HERE);
    const uint64_t pieces = place.pieces + (place.at == HERE ? 1 + span / state->open.bits : 0);
    if (!nic__knitting_has(&shared->knitting, pieces) &&
        !(place.at == HERE && place.position == 0 && nic__list_fits(state, psn, span))) {
        shared->knitting.refused++;
        shared->counters.no_block_dropped++;
        return NIC_ADAMAP_UNKNOWN;
    }
    for (uint32_t i = 0; i < place.position; i++) {
        const nic_adamap_t map = nic__list_pop(state);
        nic__adamap_table_add(state, &map, nic__adamap_now(state));
    }
    if (place.at == BEYOND) {
        return NIC_ADAMAP_WAITS;
    }
    shared->counters.list_access += !waited;
    shared->counters.prefetch_hits += !waited;
    nic__list_fill(state, psn, span, nic__adamap_now(state));
    nic__adamap_refill(state);
    return NIC_ADAMAP_MATCHED;
}

nic_adamap_match_t nic__adamap_list_match(nic_adamap_state_t *state, uint64_t psn, uint32_t span,
                                          bool waited)
{
    if (nic__adamap_config(state)->chain == NIC_ADAMAP_LINKED) {
        return match_linked(state, psn, span, waited);
    }
    return nic__known_match(state, psn, span) ? NIC_ADAMAP_MATCHED : NIC_ADAMAP_UNKNOWN;
}

// -- time

// Handles a head that was not repaired in time. It goes to the table, or is asked for as it is if
// there are no blocks for its pieces.
static void expire(nic_adamap_state_t *state, nic_adamap_t *head)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    const sim_time_t now_ps = nic__adamap_now(state);
    shared->counters.list_expired++;
    if (nic__knitting_has(&shared->knitting, nic__list_pieces(state, head))) {
        const nic_adamap_t map = nic__list_pop(state);
        nic__adamap_table_add(state, &map, now_ps);
        return;
    }
    shared->knitting.refused++;
    head->touched_ps = now_ps;
    nic__adamap_ask(state, head, 1, 0, now_ps);
}

static bool is_expired(const nic_adamap_state_t *state)
{
    const sim_time_t expire_ps = state->base_rtt_ps + nic__adamap_config(state)->expire_after_ps;
    return state->cached_count > 0 &&
           nic__adamap_now(state) > nic__list_at(state, 0)->touched_ps + expire_ps;
}

void nic__adamap_list_fired(sim_node_t *node, sim_timer_t *timer)
{
    nic_adamap_state_t *const state = SIM_CONTAINER_OF(timer, nic_adamap_state_t, list_timer);
    nic__known_take_arrivals(state);
    drop_done(state);
    const bool expired = is_expired(state);
    while (is_expired(state)) {
        expire(state, nic__list_at(state, 0));
        drop_done(state);
    }
    read_ahead(state);
    if (nic__adamap_list_count(state) > 0 && nic__adamap_asks_on(state, expired)) {
        sim_timer_arm(node, timer, node->now_ps + nic__adamap_config(state)->scan_interval_ps);
    }
}
