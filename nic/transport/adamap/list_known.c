// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/list_known.c - the chain as the OmniDMA authors' simulator has it
// (nic.adamap.chain: known).
//
// The NIC knows the address of every block, so one read brings as many maps as there is room for.
// It takes and returns blocks itself and at once. A packet never waits for its map: only the
// requests that follow from it are sent when the map would be there.
#include "nic/transport/adamap/list_internal.h"

static nic_adamap_t pop_block(nic_adamap_state_t *state)
{
    state->arriving -= state->arriving != 0;
    return nic__knitting_pop(&nic__adamap_shared(state)->knitting, &state->chain,
                             state->kept.first_psn, nic__adamap_now(state));
}

static sim_time_t read_maps(nic_adamap_state_t *state, uint32_t maps)
{
    return nic__adamap_read_ps(
        state, nic__knitting_address(&nic__adamap_shared(state)->knitting, state->chain.head),
        maps * nic__adamap_dma_bytes(state));
}

void nic__known_take_arrivals(nic_adamap_state_t *state)
{
    if (state->arriving == 0 || nic__adamap_now(state) < state->arriving_ready_ps) {
        return;
    }
    while (state->arriving > 0) {
        const nic_adamap_t map = pop_block(state);
        nic__list_add(state, &map);
    }
}

void nic__known_prefetch(nic_adamap_state_t *state)
{
    nic__known_take_arrivals(state);
    const uint32_t chained = nic__chain_count(&state->chain);
    if (state->arriving != 0 || chained == 0 ||
        (state->cached_count > nic__adamap_config(state)->watermark && state->cached_count != 0)) {
        return;
    }
    const uint32_t room = nic__list_room(state);
    const uint32_t count = SIM_MIN(chained, room);
    if (count == 0) {
        return;
    }
    state->arriving = count;
    state->arriving_ready_ps = read_maps(state, count);
    nic__adamap_shared(state)->counters.prefetches++;
    nic__known_take_arrivals(state);
}

// Finds the map that covers psn, and the pieces before it. Returns false if there is none.
static bool find(const nic_adamap_state_t *state, uint64_t psn, uint32_t *position,
                 uint64_t *pieces)
{
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    uint32_t block = state->chain.head;
    *pieces = 0;
    for (*position = 0; *position < nic__adamap_list_count(state); (*position)++) {
        nic_adamap_t map;
        if (*position < state->cached_count) {
            map = *nic__list_at(state, *position);
        } else {
            map =
                nic__knitting_read(knitting, block, state->kept.first_psn, nic__adamap_now(state));
            block = nic__knitting_next(knitting, block);
        }
        if (psn < map.first_psn) {
            return false;
        }
        if (nic__adamap_covers(&map, psn)) {
            const uint64_t offset = psn - map.first_psn;
            *pieces += offset / state->open.bits;
            return offset >= NIC_ADAMAP_BITS_MAX || !nic__adamap_has(&map, (uint32_t)offset);
        }
        *pieces += nic__list_pieces(state, &map);
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
        ready_ps = read_maps(state, beyond + 1 - state->arriving);
    }
    counters->prefetch_stalls++;
    counters->stalled_ps += ready_ps - nic__adamap_now(state);
    if (ready_ps > state->list_ready_ps) {
        state->list_ready_ps = ready_ps;
    }
}

bool nic__known_match(nic_adamap_state_t *state, uint64_t psn, uint32_t span)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    uint32_t position = 0;
    uint64_t pieces = 0;
    nic__known_take_arrivals(state);
    if (!find(state, psn, &position, &pieces)) {
        return false;
    }
    shared->counters.work += position + 1;
    const uint64_t span_pieces = 1 + span / state->open.bits;
    if (!nic__knitting_has(&shared->knitting, pieces + span_pieces) &&
        !(position == 0 && nic__list_fits(state, psn, span))) {
        shared->knitting.refused++;
        shared->counters.no_block_dropped++;
        return false;
    }
    if (nic__adamap_now(state) > state->list_ready_ps) {
        state->list_ready_ps = nic__adamap_now(state);
    }
    fetch(state, position);
    for (uint32_t i = 0; i < position; i++) {
        nic_adamap_t map;
        if (state->cached_count > 0) {
            map = nic__list_pop(state);
        } else {
            map = pop_block(state);
            nic__list_note_left(state, &map);
        }
        nic__adamap_table_add(state, &map, state->list_ready_ps);
    }
    if (state->cached_count == 0) {
        const nic_adamap_t map = pop_block(state);
        nic__list_add(state, &map);
    }
    nic__list_fill(state, psn, span, state->list_ready_ps);
    nic__known_prefetch(state);
    return true;
}
