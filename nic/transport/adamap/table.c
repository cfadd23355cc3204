// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/table.c - the look-up table: pieces of maps asked for more than once.
//
// Retransmissions of round 2 and later carry the index of their entry. An entry whose successor
// gets packets while it still misses some is asked for again at once; one that rests for a round
// trip and nic.adamap.expire-after, by the scan. All entries rest equally long, so that those in
// order of their last use are in order of their end: the scan looks at the first only.
#include "nic/transport/adamap/adamap_internal.h"

#define FIRST_ENTRIES 16u

static nic_adamap_entry_t *find(const nic_adamap_state_t *state, uint32_t index)
{
    if (index - state->entry_first >= state->entry_end - state->entry_first) {
        return NULL;
    }
    nic_adamap_entry_t *const entry = nic__adamap_entry(state, index);
    return entry->live ? entry : NULL;
}

// -- the list by time

static void unlink_entry(nic_adamap_state_t *state, uint32_t index)
{
    const nic_adamap_entry_t *const entry = nic__adamap_entry(state, index);
    if (entry->older != NIC_ADAMAP_NO_INDEX) {
        nic__adamap_entry(state, entry->older)->newer = entry->newer;
    } else {
        state->oldest = entry->newer;
    }
    if (entry->newer != NIC_ADAMAP_NO_INDEX) {
        nic__adamap_entry(state, entry->newer)->older = entry->older;
    } else {
        state->newest = entry->older;
    }
}

static void link_newest(nic_adamap_state_t *state, uint32_t index)
{
    nic_adamap_entry_t *const entry = nic__adamap_entry(state, index);
    entry->map.touched_ps = nic__adamap_now(state);
    entry->older = state->newest;
    entry->newer = NIC_ADAMAP_NO_INDEX;
    if (state->newest != NIC_ADAMAP_NO_INDEX) {
        nic__adamap_entry(state, state->newest)->newer = index;
    } else {
        state->oldest = index;
    }
    state->newest = index;
}

static void touch(nic_adamap_state_t *state, uint32_t index)
{
    unlink_entry(state, index);
    link_newest(state, index);
}

// -- entries

static void grow(nic_adamap_state_t *state)
{
    const uint32_t capacity =
        state->entry_capacity == 0 ? FIRST_ENTRIES : state->entry_capacity * 2;
    nic_adamap_entry_t *const entries = sim_alloc_array(capacity, sizeof(*entries));
    for (uint32_t i = state->entry_first; i != state->entry_end; i++) {
        entries[i & (capacity - 1)] = *nic__adamap_entry(state, i);
    }
    sim_free(state->entries);
    state->entries = entries;
    state->entry_capacity = capacity;
}

static void give_block(nic_adamap_state_t *state, const nic_adamap_entry_t *entry)
{
    if (entry->block != NIC_KNITTING_NONE) {
        nic__adamap_hand_back(state, entry->block);
    } else {
        nic__adamap_recall_piece(state, entry);
    }
}

static void erase(nic_adamap_state_t *state, uint32_t index)
{
    nic_adamap_entry_t *const entry = nic__adamap_entry(state, index);
    unlink_entry(state, index);
    give_block(state, entry);
    entry->live = false;
    state->live_count--;
    nic__adamap_shared(state)->table_now--;
    nic__adamap_count_nodes(state, -1);
    while (state->entry_first != state->entry_end &&
           !nic__adamap_entry(state, state->entry_first)->live) {
        state->entry_first++;
    }
}

void nic__adamap_table_free(nic_adamap_state_t *state)
{
    for (uint32_t i = state->entry_first; i != state->entry_end; i++) {
        if (nic__adamap_entry(state, i)->live) {
            give_block(state, nic__adamap_entry(state, i));
            nic__adamap_shared(state)->table_now--;
            nic__adamap_count_nodes(state, -1);
        }
    }
    sim_free(state->entries);
    state->entries = NULL;
    state->entry_first = state->entry_end = state->entry_capacity = state->live_count = 0;
}

// Removes packets from a map that came in order, by whatever way.
static void trim(const nic_adamap_state_t *state, nic_adamap_t *map)
{
    const uint64_t expected_psn = state->kept.first_psn;
    for (uint32_t o = 0; o < map->length && map->first_psn + o < expected_psn; o++) {
        nic__adamap_set(map, o);
    }
}

static void add_piece(nic_adamap_state_t *state, const nic_adamap_t *piece, sim_time_t ready_ps)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    SIM_CHECK(nic__knitting_claim(&shared->knitting, 1));
    if (state->entry_end - state->entry_first == state->entry_capacity) {
        grow(state);
    }
    const uint32_t index = state->entry_end++;
    *nic__adamap_entry(state, index) =
        (nic_adamap_entry_t){.map = *piece, .round = 1, .live = true};
    link_newest(state, index);
    state->live_count++;
    shared->table_now++;
    nic__adamap_count_nodes(state, 1);
    shared->counters.table_entries++;
    shared->counters.work++;
    const sim_time_t written_ps = nic__adamap_hand_piece(state, index);
    nic__adamap_ask(state, piece, 2, index, SIM_MAX(written_ps, ready_ps));
    if (!sim_timer_armed(&state->table_timer)) {
        sim_timer_arm(nic_transport_node(state->base.qp), &state->table_timer,
                      nic__adamap_now(state) + nic__adamap_config(state)->scan_interval_ps);
    }
}

void nic__adamap_table_add(nic_adamap_state_t *state, const nic_adamap_t *map, sim_time_t ready_ps)
{
    nic_adamap_t rest = *map;
    while (rest.length > 0) {
        nic_adamap_t piece = nic__adamap_head(&rest, state->open.bits);
        nic__adamap_slide(&rest, piece.length);
        trim(state, &piece);
        if (!nic__adamap_full(&piece)) {
            add_piece(state, &piece, ready_ps);
        }
    }
}

// -- matching

static inline bool is_linked(const nic_adamap_state_t *state)
{
    return nic__adamap_config(state)->chain == NIC_ADAMAP_LINKED;
}

// Reads the entry's block. In a linked chain the look-up table's slot, which holds the address of
// the block, has to be read first, and the map is what the block says. A block that the core has
// not written yet is still in the fifo, from where it is read.
static sim_time_t read_entry(nic_adamap_state_t *state, uint32_t index)
{
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    nic_adamap_entry_t *const entry = nic__adamap_entry(state, index);
    const sim_time_t now_ps = nic__adamap_now(state);
    const bool written = entry->block != NIC_KNITTING_NONE;
    const uint64_t address =
        written ? nic__knitting_address(knitting, entry->block) : knitting->config.address;
    sim_time_t slot_ps = now_ps;
    if (is_linked(state)) {
        slot_ps = nic__adamap_read_ps(state, address, NIC_KNITTING_NEXT_BYTES);
        if (written) {
            const nic_adamap_t map =
                nic__knitting_read(knitting, entry->block, state->kept.first_psn, now_ps);
            SIM_ASSERT(!entry->dirty && map.first_psn == entry->map.first_psn);
            for (uint32_t w = 0; w < NIC_ADAMAP_WORDS; w++) {
                entry->map.bits[w] = map.bits[w];
            }
            trim(state, &entry->map);
        }
    }
    return slot_ps - now_ps + nic__adamap_read_ps(state, address, nic__adamap_dma_bytes(state));
}

// Writes an entry that leaves the NIC back to its block, if packets have filled it since.
static void write_back(nic_adamap_state_t *state, uint32_t index)
{
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    nic_adamap_entry_t *const entry = find(state, index);
    if (entry == NULL || !entry->dirty || entry->block == NIC_KNITTING_NONE || !is_linked(state)) {
        return;
    }
    (void)nic__adamap_write_ps(state, nic__knitting_address(knitting, entry->block),
                               nic__adamap_dma_bytes(state) - NIC_KNITTING_NEXT_BYTES);
    nic__knitting_write(knitting, entry->block, &entry->map);
    entry->dirty = false;
}

// Makes an entry the latest of those on the NIC. Returns whether it was there before.
static bool hold(nic_adamap_state_t *state, uint32_t index)
{
    const uint32_t size = (uint32_t)nic__adamap_config(state)->table_cache;
    uint32_t place = 0;
    while (place < size && state->lru[place] != index) {
        place++;
    }
    const bool hit = place < size;
    if (size == 0) {
        return false;
    }
    if (!hit) {
        place = size - 1;
        write_back(state, state->lru[place]);
    }
    for (uint32_t i = place; i > 0; i--) {
        state->lru[i] = state->lru[i - 1];
    }
    state->lru[0] = index;
    return hit;
}

// Returns when the entry is on the NIC; it may have to be read.
static sim_time_t look_up(nic_adamap_state_t *state, uint32_t index)
{
    struct nic_adamap_counters *const counters = &nic__adamap_shared(state)->counters;
    const bool hit = hold(state, index);
    counters->table_access++;
    counters->table_hits += hit;
    counters->work++;
    return hit ? nic__adamap_now(state) : read_entry(state, index);
}

static void ask_again(nic_adamap_state_t *state, uint32_t index, uint8_t round, sim_time_t ready_ps)
{
    nic_adamap_entry_t *const entry = nic__adamap_entry(state, index);
    entry->round = round;
    touch(state, index);
    nic__adamap_ask(state, &entry->map, round, index, ready_ps);
}

// Asks again for what an entry still misses, since the sender has gone on to the next entry.
static void leave_latest(nic_adamap_state_t *state, uint32_t index, sim_time_t ready_ps)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    const uint32_t latest = state->latest_index;
    state->latest_index = index;
    if (latest == index || latest == NIC_ADAMAP_NO_INDEX) {
        return;
    }
    const nic_adamap_entry_t *const entry = find(state, latest);
    const sim_time_t expire_ps = state->base_rtt_ps + nic__adamap_config(state)->expire_after_ps;
    if (entry != NULL && nic__adamap_now(state) <= entry->map.touched_ps + expire_ps) {
        shared->counters.resent_at_once++;
        ask_again(state, latest, (uint8_t)(entry->round < UINT8_MAX ? entry->round + 1 : UINT8_MAX),
                  ready_ps);
    }
}

nic_adamap_match_t nic__adamap_table_match(nic_adamap_state_t *state, uint32_t index, uint8_t round,
                                           uint64_t psn, uint32_t span, bool waited,
                                           sim_time_t *ready_ps)
{
    nic_adamap_entry_t *const entry = find(state, index);
    if (entry == NULL || !nic__adamap_covers(&entry->map, psn) ||
        nic__adamap_has(&entry->map, (uint32_t)(psn - entry->map.first_psn))) {
        return NIC_ADAMAP_UNKNOWN;
    }
    *ready_ps = nic__adamap_now(state);
    if (waited) {
        (void)hold(state, index); // others may have taken its place meanwhile
    } else {
        *ready_ps = look_up(state, index);
    }
    if (is_linked(state) && !waited &&
        (*ready_ps > nic__adamap_now(state) || nic__adamap_any_waits(&state->entry_waiters))) {
        return NIC_ADAMAP_WAITS;
    }
    leave_latest(state, index, *ready_ps);
    const uint64_t end = psn - entry->map.first_psn + span;
    for (uint32_t o = (uint32_t)(psn - entry->map.first_psn); o < end && o < entry->map.length;
         o++) {
        nic__adamap_set(&entry->map, o);
    }
    entry->round = round;
    entry->dirty = true;
    if (nic__adamap_full(&entry->map)) {
        erase(state, index);
    } else if (nic__adamap_config(state)->table_cache == 0) {
        write_back(state, index);
    }
    return NIC_ADAMAP_MATCHED;
}

void nic__adamap_table_fired(sim_node_t *node, sim_timer_t *timer)
{
    nic_adamap_state_t *const state = SIM_CONTAINER_OF(timer, nic_adamap_state_t, table_timer);
    const nic_adamap_config_t *const config = nic__adamap_config(state);
    const sim_time_t expire_ps = state->base_rtt_ps + config->expire_after_ps;
    bool expired = false;
    while (state->oldest != NIC_ADAMAP_NO_INDEX) {
        const uint32_t index = state->oldest;
        nic_adamap_entry_t *const entry = nic__adamap_entry(state, index);
        if (node->now_ps <= entry->map.touched_ps + expire_ps) {
            break;
        }
        trim(state, &entry->map);
        if (nic__adamap_full(&entry->map)) {
            erase(state, index);
            continue;
        }
        expired = true;
        nic__adamap_shared(state)->counters.table_expired++;
        ask_again(state, index, SIM_MAX(2, entry->round), node->now_ps);
    }
    if (state->oldest != NIC_ADAMAP_NO_INDEX && nic__adamap_asks_on(state, expired)) {
        sim_timer_arm(node, timer, node->now_ps + config->scan_interval_ps);
    }
}
