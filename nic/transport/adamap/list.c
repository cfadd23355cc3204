// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/list.c - the list of closed maps: head on the NIC, the rest in the
// host.
//
// First retransmissions come in the order of the maps, and within them of the PSNs, because the
// sender sends them so and a path keeps order. So the list is only ever looked at near its head; a
// packet of a later map, or of a later piece of a map, shows that the packets still missing before
// it were lost again: they go to the table. When no more maps than the watermark are left on
// the NIC, it reads as many from the host's memory as there is room for, beside the packets.
#include "nic/transport/adamap/adamap_internal.h"

#include "nic/objects/objects.h"

static inline nic_adamap_t *cached_at(const nic_adamap_state_t *state, uint32_t position)
{
    const uint32_t size = (uint32_t)nic__adamap_config(state)->cached;
    return &state->cached[(state->cached_first + position) % size];
}

static inline uint64_t pieces_of(const nic_adamap_state_t *state, const nic_adamap_t *map)
{
    return (map->length + state->open.bits - 1) / state->open.bits;
}

static void add_cached(nic_adamap_state_t *state, const nic_adamap_t *map)
{
    SIM_ASSERT(state->cached_count < nic__adamap_config(state)->cached);
    *cached_at(state, state->cached_count++) = *map;
}

// Takes the oldest map out of the list.
static nic_adamap_t pop(nic_adamap_state_t *state)
{
    nic_adamap_t map;
    if (state->cached_count > 0) {
        map = *cached_at(state, 0);
        state->cached_first =
            (state->cached_first + 1) % (uint32_t)nic__adamap_config(state)->cached;
        state->cached_count--;
    } else {
        map = nic__knitting_pop(&nic__adamap_shared(state)->knitting, &state->chain);
        state->arriving -= state->arriving != 0;
    }
    state->list_pieces -= pieces_of(state, &map);
    nic__adamap_count_nodes(state, -1);
    return map;
}

// -- prefetch

static void take_arrivals(nic_adamap_state_t *state)
{
    if (state->arriving == 0 || nic__adamap_now(state) < state->arriving_ready_ps) {
        return;
    }
    while (state->arriving > 0) {
        const nic_adamap_t map =
            nic__knitting_pop(&nic__adamap_shared(state)->knitting, &state->chain);
        add_cached(state, &map);
        state->arriving--;
    }
}

// Returns how many blocks from `skip` on the CPU has inserted, at most `most`.
static uint32_t linked(const nic_adamap_state_t *state, uint32_t skip, uint32_t most)
{
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    uint32_t block = state->chain.head;
    uint32_t count = 0;
    for (uint32_t i = 0; block != NIC_KNITTING_NONE && count < most; i++) {
        const nic_knitting_block_t *const at = nic__knitting_at(knitting, block);
        if (at->linked_ps > nic__adamap_now(state)) {
            break;
        }
        count += i >= skip;
        block = at->next;
    }
    return count;
}

static void prefetch(nic_adamap_state_t *state)
{
    const nic_adamap_config_t *const config = nic__adamap_config(state);
    take_arrivals(state);
    if (state->arriving != 0 || nic__chain_count(&state->chain) == 0 ||
        (state->cached_count > config->watermark && state->cached_count != 0)) {
        return;
    }
    const uint32_t count = linked(state, 0, (uint32_t)config->cached - state->cached_count);
    if (count == 0) {
        return;
    }
    state->arriving = count;
    state->arriving_ready_ps = nic__adamap_read_ps(state, count);
    nic__adamap_shared(state)->counters.prefetches++;
    take_arrivals(state);
}

// -- joining

bool nic__adamap_list_room(const nic_adamap_state_t *state)
{
    return (nic__chain_count(&state->chain) == 0 &&
            state->cached_count < nic__adamap_config(state)->cached) ||
           nic__knitting_can_take(&nic__adamap_shared(state)->knitting, 1);
}

// Returns when the CPU has inserted a map that was written at written_ps. It takes maps one by one.
static sim_time_t insertion_ps(nic_adamap_state_t *state, sim_time_t written_ps)
{
    const sim_time_t cost_ps = nic__adamap_config(state)->insert_ps;
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    if (cost_ps == 0) {
        return nic__adamap_now(state); // the NIC writes the link itself, with the map
    }
    if (shared->core == NULL) {
        shared->core = nic_core_create_worker(&state->base.nic->host->node);
    }
    return nic_core_work(shared->core, written_ps, cost_ps);
}

sim_time_t nic__adamap_list_append(nic_adamap_state_t *state, const nic_adamap_t *map)
{
    sim_time_t ready_ps = nic__adamap_now(state);
    nic__adamap_count_nodes(state, 1);
    state->list_pieces += pieces_of(state, map);
    nic__adamap_shared(state)->counters.work++;
    if (nic__chain_count(&state->chain) == 0 &&
        state->cached_count < nic__adamap_config(state)->cached) {
        add_cached(state, map);
    } else {
        ready_ps = nic__adamap_write_ps(state, 1);
        const bool stored = nic__knitting_append(&nic__adamap_shared(state)->knitting,
                                                 &state->chain,
                                                 map,
                                                 insertion_ps(state, ready_ps));
        SIM_CHECK(stored);
        prefetch(state);
    }
    if (!sim_timer_armed(&state->list_timer)) {
        sim_timer_arm(nic_transport_node(state->base.qp),
                      &state->list_timer,
                      nic__adamap_now(state) + nic__adamap_config(state)->scan_interval_ps);
    }
    return ready_ps;
}

static nic_adamap_t *oldest(nic_adamap_state_t *state)
{
    if (state->cached_count > 0) {
        return cached_at(state, 0);
    }
    return nic__chain_count(&state->chain) > 0
               ? &nic__knitting_at(&nic__adamap_shared(state)->knitting, state->chain.head)->map
               : NULL;
}

// Removes maps that miss nothing any more. (The expected packet is taken whatever the list says.)
static void drop_done(nic_adamap_state_t *state)
{
    const nic_adamap_t *head = oldest(state);
    while (head != NULL && head->first_psn + head->length <= state->kept.first_psn) {
        (void)pop(state);
        head = oldest(state);
    }
}

// -- matching

// Finds the map that covers psn, and the pieces before it. Returns false if there is none.
static bool find(const nic_adamap_state_t *state,
                 uint64_t psn,
                 uint32_t *position,
                 uint64_t *pieces)
{
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    uint32_t block = state->chain.head;
    *pieces = 0;
    for (*position = 0; *position < nic__adamap_list_count(state); (*position)++) {
        const nic_adamap_t *map = NULL;
        if (*position < state->cached_count) {
            map = cached_at(state, *position);
        } else {
            const nic_knitting_block_t *const at = nic__knitting_at(knitting, block);
            map = &at->map;
            block = at->next;
        }
        if (psn < map->first_psn) {
            return false;
        }
        if (nic__adamap_covers(map, psn)) {
            const uint64_t offset = psn - map->first_psn;
            *pieces += offset / state->open.bits;
            return offset >= NIC_ADAMAP_BITS_MAX || !nic__adamap_has(map, (uint32_t)offset);
        }
        *pieces += pieces_of(state, map);
    }
    return false;
}

// Makes sure that the map at this position is on the NIC: else it is read, with those before it.
static void fetch(nic_adamap_state_t *state, uint32_t position)
{
    struct nic_adamap_counters *const counters = &nic__adamap_shared(state)->counters;
    counters->list_access++;
    if (position < state->cached_count) {
        counters->prefetch_hits++;
        return;
    }
    sim_time_t ready_ps = state->arriving_ready_ps;
    const uint32_t beyond = position - state->cached_count;
    if (beyond >= state->arriving) {
        const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
        uint32_t block = state->chain.head;
        for (uint32_t i = 0; i < beyond; i++) {
            block = nic__knitting_at(knitting, block)->next;
        }
        const sim_time_t linked_ps = nic__knitting_at(knitting, block)->linked_ps;
        const sim_time_t now_ps = nic__adamap_now(state);
        ready_ps = nic__adamap_read_ps(state, beyond + 1 - state->arriving) +
                   (linked_ps > now_ps ? linked_ps - now_ps : 0);
    }
    counters->prefetch_stalls++;
    counters->stalled_ps += ready_ps - nic__adamap_now(state);
    if (ready_ps > state->list_ready_ps) {
        state->list_ready_ps = ready_ps;
    }
}

// Removes the first piece of the head, and puts it into the table if it misses packets.
static void leave_piece(nic_adamap_state_t *state, nic_adamap_t *head)
{
    const nic_adamap_t piece = nic__adamap_head(head, state->open.bits);
    nic__adamap_table_add(state, &piece, state->list_ready_ps);
    nic__adamap_slide(head, piece.length);
    state->list_pieces--;
}

static void fill(nic_adamap_state_t *state, uint64_t psn, uint32_t span)
{
    nic_adamap_t *const head = cached_at(state, 0);
    const uint32_t bits = state->open.bits;
    while (psn - head->first_psn >= bits) {
        leave_piece(state, head);
    }
    const uint64_t end = psn - head->first_psn + span;
    const uint32_t last = (uint32_t)(end < head->length ? end : head->length);
    for (uint32_t offset = (uint32_t)(psn - head->first_psn); offset < last && offset < bits;
         offset++) {
        nic__adamap_set(head, offset);
    }
    head->touched_ps = nic__adamap_now(state);
    const uint32_t piece_end = head->length < bits ? head->length : bits;
    if (nic__adamap_find(head, last < piece_end ? last : piece_end, false) >= piece_end) {
        leave_piece(state, head);
        while (last > bits && head->length > 0 && head->first_psn < psn + span) {
            // A READ's PSNs reach into further pieces.
            const uint64_t rest = psn + span - head->first_psn;
            for (uint32_t o = 0; o < bits && o < rest && o < head->length; o++) {
                nic__adamap_set(head, o);
            }
            if (rest < bits && rest < head->length) {
                break;
            }
            leave_piece(state, head);
        }
        if (head->length == 0) {
            (void)pop(state);
        }
    }
}

// Returns true if no packet before it in the head is missing: no piece has to go to the table then.
// The head is on the NIC.
static bool fits_in_place(nic_adamap_state_t *state, uint32_t position, uint64_t psn, uint32_t span)
{
    if (position != 0 || state->cached_count == 0) {
        return false;
    }
    const nic_adamap_t *const head = cached_at(state, 0);
    const uint64_t offset = psn - head->first_psn;
    return offset + span <= state->open.bits && nic__adamap_find(head, 0, false) >= offset;
}

bool nic__adamap_list_match(nic_adamap_state_t *state, uint64_t psn, uint32_t span)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    uint32_t position = 0;
    uint64_t pieces = 0;
    take_arrivals(state);
    if (!find(state, psn, &position, &pieces)) {
        return false;
    }
    shared->counters.work += position + 1;
    const uint64_t span_pieces = 1 + span / state->open.bits;
    if (!nic__knitting_can_take(&shared->knitting, pieces + span_pieces) &&
        !fits_in_place(state, position, psn, span)) {
        shared->counters.no_block_dropped++;
        return false;
    }
    if (nic__adamap_now(state) > state->list_ready_ps) {
        state->list_ready_ps = nic__adamap_now(state);
    }
    fetch(state, position);
    for (uint32_t i = 0; i < position; i++) {
        const nic_adamap_t map = pop(state);
        nic__adamap_table_add(state, &map, state->list_ready_ps);
    }
    if (state->cached_count == 0) {
        const nic_adamap_t map = nic__knitting_pop(&shared->knitting, &state->chain);
        state->arriving -= state->arriving != 0;
        add_cached(state, &map);
    }
    fill(state, psn, span);
    prefetch(state);
    return true;
}

// -- time

// Handles a head that was not repaired in time. It goes to the table, or is asked for as it is if
// there are no blocks for its pieces.
static void expire(nic_adamap_state_t *state, nic_adamap_t *head)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    const sim_time_t now_ps = nic__adamap_now(state);
    shared->counters.list_expired++;
    if (nic__knitting_can_take(&shared->knitting, pieces_of(state, head))) {
        const nic_adamap_t map = pop(state);
        nic__adamap_table_add(state, &map, now_ps);
        return;
    }
    head->touched_ps = now_ps;
    nic__adamap_ask(state, head, 1, 0, now_ps);
}

void nic__adamap_list_fired(sim_node_t *node, sim_timer_t *timer)
{
    nic_adamap_state_t *const state = SIM_CONTAINER_OF(timer, nic_adamap_state_t, list_timer);
    const nic_adamap_config_t *const config = nic__adamap_config(state);
    const sim_time_t expire_ps = state->base_rtt_ps + config->expire_after_ps;
    take_arrivals(state);
    drop_done(state);
    nic_adamap_t *head = oldest(state);
    const bool expired = head != NULL && node->now_ps > head->touched_ps + expire_ps;
    while (head != NULL && node->now_ps > head->touched_ps + expire_ps) {
        expire(state, head);
        drop_done(state);
        head = oldest(state);
    }
    prefetch(state);
    if (head != NULL && nic__adamap_asks_on(state, expired)) {
        sim_timer_arm(node, timer, node->now_ps + config->scan_interval_ps);
    }
}
