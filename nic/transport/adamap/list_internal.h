// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/list_internal.h - the maps at the head of the list, which are on the NIC.
#ifndef NIC_TRANSPORT_ADAMAP_LIST_INTERNAL_H
#define NIC_TRANSPORT_ADAMAP_LIST_INTERNAL_H

#include "nic/transport/adamap/adamap_internal.h"

static inline nic_adamap_t *nic__list_at(const nic_adamap_state_t *state, uint32_t position)
{
    const uint32_t size = (uint32_t)nic__adamap_config(state)->cached;
    return &state->cached[(state->cached_first + position) % size];
}

static inline uint32_t nic__list_room(const nic_adamap_state_t *state)
{
    return (uint32_t)nic__adamap_config(state)->cached - state->cached_count;
}

static inline void nic__list_add(nic_adamap_state_t *state, const nic_adamap_t *map)
{
    SIM_ASSERT(nic__list_room(state) > 0);
    *nic__list_at(state, state->cached_count++) = *map;
}

// Returns the pieces of at most b packets that a map has.
static inline uint64_t nic__list_pieces(const nic_adamap_state_t *state, const nic_adamap_t *map)
{
    return (map->length + state->open.bits - 1) / state->open.bits;
}

// Notes that a map has left the list.
static inline void nic__list_note_left(nic_adamap_state_t *state, const nic_adamap_t *map)
{
    state->list_pieces -= nic__list_pieces(state, map);
    nic__adamap_count_nodes(state, -1);
}

// list.c
// Takes the oldest map on the NIC out of the list.
nic_adamap_t nic__list_pop(nic_adamap_state_t *state);
// Fills in a packet of the oldest map, which is on the NIC. Pieces before it, and a piece that ends
// with it, leave the map; those that miss packets go to the table at ready_ps.
void nic__list_fill(nic_adamap_state_t *state, uint64_t psn, uint32_t span, sim_time_t ready_ps);
// Returns true if no packet before it in the oldest map is missing: no piece has to go to the table
// then.
bool nic__list_fits(const nic_adamap_state_t *state, uint64_t psn, uint32_t span);

// list_known.c: a chain whose addresses are known
void nic__known_take_arrivals(nic_adamap_state_t *state);
void nic__known_prefetch(nic_adamap_state_t *state);
bool nic__known_match(nic_adamap_state_t *state, uint64_t psn, uint32_t span);

#endif // NIC_TRANSPORT_ADAMAP_LIST_INTERNAL_H
