// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/place.c - L1 and L2: what is put where, and what gives way
// (docs/models/tiered-cache.md).
//
// A token is in one tier. L1 gives up what its policy says, to L2 where there is one; L2 gives up
// what was not used for longest, to L3, where there is always room.
#include "nic/store/tiered/tiers/place.h"
#include "nic/extra.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/sharing.h"
#include "nic/store/tiered/tiers/wqes.h"

// -- partitions

static void init_l1(tiered_partition_t *part, const tiered_t *tiered, uint64_t entries,
                    uint64_t staging_entries, const nic_policy_ops_t *policy, uint64_t seed)
{
    part->units = (uint32_t)entries;
    part->slots = (uint32_t)entries;
    part->seats = tiered->config.staged == NIC_CACHE_TOKENS ? (uint32_t)staging_entries : 0;
    const uint64_t all = entries + part->seats;
    part->held = sim_alloc_array(all, sizeof(*part->held));
    part->free = sim_alloc_array(entries, sizeof(*part->free));
    part->entries = sim_alloc_array(all, sizeof(*part->entries));
    part->contexts = sim_alloc_array(all, sizeof(*part->contexts));
    for (uint32_t i = 0; i < all; i++) {
        part->held[i] = TIERED_NONE;
    }
    for (uint32_t i = 0; i < part->slots; i++) {
        part->free[i] = part->slots - 1 - i;
    }
    part->free_count = part->slots;
    part->policy = policy;
    const nic_policy_place_t place = {part->slots, seed, tiered->config.alpha, policy};
    part->ranks = policy->create(&place);
}

static const nic_policy_ops_t *policy_of(const nic_config_t *config, const char *name)
{
    const void *part;
    const nic_policy_ops_t *const found = nic_config_find(config, NIC_EXTRA_POLICY, name, &part);
    return found != NULL ? found : nic_policy_find("hybrid");
}

static void init_rules(tiered_t *tiered)
{
    const nic_cache_config_t *const config = &tiered->config;
    tiered_partition_t *const qps = &tiered->parts[0];
    tiered_partition_t *const others = &tiered->parts[1];
    qps->path = config->l2_path;
    others->path = config->other_path;
    qps->promote_l1_set = config->promote_l1;
    qps->promote_l2_set = config->promote_l2;
    others->promote_l1_set =
        config->other_promote_l1 == SIM_AUTO ? config->promote_l1 : config->other_promote_l1;
    others->promote_l2_set =
        config->other_promote_l2 == SIM_AUTO ? config->promote_l2 : config->other_promote_l2;
    qps->staging_entries = (uint32_t)config->staging_entries;
    others->staging_entries = (uint32_t)config->other_staging_entries;
    for (uint32_t p = 0; p < 2; p++) {
        tiered_partition_t *const part = &tiered->parts[p];
        part->promote_l1 = part->promote_l1_set;
        part->promote_l2 = part->promote_l2_set;
        part->staging = sim_alloc_array((size_t)part->staging_entries + 1, sizeof(*part->staging));
        part->staged = sim_alloc_array((size_t)part->staging_entries + 1, sizeof(*part->staged));
        for (uint32_t i = 0; i < part->staging_entries; i++) {
            part->staging[i] = TIERED_NONE;
        }
    }
}

void nic__tiered_parts_init(tiered_t *tiered, uint64_t seed)
{
    const nic_cache_config_t *const config = &tiered->config;
    const nic_config_t *const whole = nic_get_config(tiered->store.nic);
    const nic_policy_ops_t *const own = config->custom_policy;
    init_l1(&tiered->parts[0], tiered, config->l1_entries, config->staging_entries,
            own != NULL ? own : policy_of(whole, config->policy), seed);
    init_l1(&tiered->parts[1], tiered, config->l1_other_entries, config->other_staging_entries,
            policy_of(whole, config->other_policy), seed);
    init_rules(tiered);
    const uint64_t others_bytes =
        config->l2_other_bytes == SIM_AUTO ? config->l2_bytes / 4 : config->l2_other_bytes;
    for (uint32_t p = 0; p < 2; p++) {
        tiered_partition_t *const part = &tiered->parts[p];
        part->l2_bytes = p == 0 ? config->l2_bytes : others_bytes;
        for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
            if ((type == NIC_TOKEN_QP) == (p == 0)) {
                const uint32_t slot_bytes =
                    nic__tiered_slot_bytes((nic_token_type_t)type, config->compression);
                nic_pages_init(&part->pages[type], part->l2_bytes, (uint32_t)config->l2_slots,
                               slot_bytes);
            }
        }
        // A token without an object anchors the ring.
        SIM_GROW(tiered->tokens, tiered->token_count, &tiered->token_capacity);
        part->anchor = (uint32_t)tiered->token_count++;
        tiered->tokens[part->anchor] = (tiered_token_t){
            .newer = part->anchor,
            .older = part->anchor,
            .type = p == 0 ? NIC_TOKEN_QP : NIC_TOKEN_CQ,
        };
    }
}

void nic__tiered_parts_fini(tiered_t *tiered)
{
    for (uint32_t p = 0; p < 2; p++) {
        tiered_partition_t *const part = &tiered->parts[p];
        part->policy->destroy(part->ranks);
        SIM_FREE_ALL(part->held, part->staging, part->staged, part->free, part->entries);
        for (uint32_t slot = 0; slot < part->slots + part->seats; slot++) {
            sim_free(part->contexts[slot]);
        }
        sim_free(part->contexts);
        for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
            nic_pages_fini(&part->pages[type]);
        }
    }
}

// -- L1

bool nic__tiered_l1_has_room(tiered_t *tiered, const tiered_token_t *token)
{
    const tiered_partition_t *const part = nic__tiered_part(tiered, token);
    return part->units_used + nic__tiered_units(token) <= part->units;
}

static void make_room_l1(tiered_t *tiered, tiered_partition_t *part, uint32_t units)
{
    while (part->units_used + units > part->units) {
        const uint32_t slot = part->policy->victim(part->ranks);
        SIM_CHECKF(slot != NIC_POLICY_NONE && slot < part->slots && part->held[slot] != TIERED_NONE,
                   "policy %s has no victim", part->policy->name);
        if (part->held[slot] == TIERED_WQE) {
            nic__tiered_evict_wqe(tiered, slot);
            continue;
        }
        tiered_token_t *const victim = &tiered->tokens[part->held[slot]];
        nic__tiered_forget_move(tiered, victim);
        const bool l2 = !part->l2_closed && nic__tiered_has_l2(tiered, victim);
        const uint32_t to = l2 ? NIC_LAYER_L2 : NIC_LAYER_L3;
        const sim_time_t took_ps = nic__tiered_write_back(tiered, victim, to);
        nic__tiered_move_now(tiered, victim, to, took_ps);
    }
}

uint32_t nic__tiered_take_slot(tiered_t *tiered, tiered_partition_t *part, uint32_t units)
{
    make_room_l1(tiered, part, units);
    SIM_CHECK(part->free_count != 0);
    part->units_used += units;
    part->units_max = SIM_MAX(part->units_used, part->units_max);
    return part->free[--part->free_count];
}

void nic__tiered_give_slot(tiered_partition_t *part, uint32_t slot, uint32_t units)
{
    part->held[slot] = TIERED_NONE;
    part->free[part->free_count++] = slot;
    part->units_used -= units;
}

// Puts a token into a slot of L1 that is free.
static void occupy(tiered_t *tiered, tiered_token_t *token, uint32_t slot)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    part->held[slot] = nic__tiered_number(tiered, token);
    token->l1_slot = slot;
    token->cell.entry.token_offset = slot * (uint32_t)sizeof(nic_l1_entry_t);
    if (slot >= part->slots) {
        part->seats_used++;
        return;
    }
    part->slots_used++;
    part->slots_max = SIM_MAX(part->slots_used, part->slots_max);
}

// Lets the policy rank a token that has come to L1.
static void rank(tiered_t *tiered, const tiered_token_t *token)
{
    const tiered_partition_t *const part = nic__tiered_part(tiered, token);
    if (nic__tiered_ranked(token)) {
        part->policy->insert(part->ranks, token->l1_slot,
                             nic_handle(token->type, nic__tiered_number(tiered, token)),
                             part->entries[token->l1_slot].freq);
    }
}

void nic__tiered_fill_l1(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    SIM_CHECK(token->l1_slot == TIERED_NONE);
    const uint32_t slot = token->seat != TIERED_NONE
                              ? part->slots + token->seat
                              : nic__tiered_take_slot(tiered, part, nic__tiered_units(token));
    occupy(tiered, token, slot);
    nic__tiered_put_l1(tiered, token, image);
    nic_l1_entry_t *const entry = &part->entries[slot];
    entry->freq = token->away_uses;
    entry->last_access_ps = token->away_access_ps;
    rank(tiered, token);
}

// Gives the place of a token in L1 back.
static void vacate(tiered_t *tiered, tiered_token_t *token)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    if (token->seat != TIERED_NONE) {
        part->held[token->l1_slot] = TIERED_NONE;
        part->staging[token->seat] = TIERED_NONE;
        part->seats_used--;
        token->seat = TIERED_NONE;
    } else {
        nic__tiered_give_slot(part, token->l1_slot, nic__tiered_units(token));
        part->slots_used--;
    }
    token->l1_slot = TIERED_NONE;
}

void nic__tiered_settle(tiered_t *tiered, tiered_token_t *token)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    SIM_CHECK(token->seat != TIERED_NONE);
    const uint32_t slot = nic__tiered_take_slot(tiered, part, nic__tiered_units(token));
    const uint32_t seat = token->l1_slot;
    vacate(tiered, token);
    occupy(tiered, token, slot);
    part->entries[slot] = part->entries[seat];
    part->contexts[slot] = part->contexts[seat];
    part->contexts[seat] = NULL;
    nic_cell_touch(&token->cell); // it lies elsewhere now
    nic__tiered_write_directory(tiered);
    rank(tiered, token);
}

void nic__tiered_seat(tiered_t *tiered, tiered_token_t *token)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    const uint32_t place = part->staging_next;
    part->staging_next = place + 1 < part->staging_entries ? place + 1 : 0;
    if (part->staging[place] != TIERED_NONE) {
        tiered_token_t *const other = &tiered->tokens[part->staging[place]];
        nic__tiered_forget_move(tiered, other);
        const bool l2 =
            other->home == NIC_LAYER_L2 && !part->l2_closed && nic__tiered_has_l2(tiered, other);
        const uint32_t to = l2 ? NIC_LAYER_L2 : NIC_LAYER_L3;
        const sim_time_t took_ps = nic__tiered_write_back(tiered, other, to);
        nic__tiered_move_now(tiered, other, to, took_ps);
    }
    part->staging[place] = nic__tiered_number(tiered, token);
    token->seat = place;
    token->home = token->cell.entry.layer;
    nic__tiered_move_now(tiered, token, NIC_LAYER_L1, 0);
}

static void leave_l1(tiered_t *tiered, tiered_token_t *token)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    if (nic__tiered_ranked(token)) {
        part->policy->remove(part->ranks, token->l1_slot);
    }
    const nic_l1_entry_t *const entry = &part->entries[token->l1_slot];
    token->away_uses = part->policy->remembers ? entry->freq : 0;
    token->away_access_ps = entry->last_access_ps;
    sim_free(part->contexts[token->l1_slot]);
    part->contexts[token->l1_slot] = NULL;
    vacate(tiered, token);
}

// -- L2

bool nic__tiered_has_l2(const tiered_t *tiered, const tiered_token_t *token)
{
    const tiered_partition_t *const part = &tiered->parts[token->type == NIC_TOKEN_QP ? 0 : 1];
    const nic_pages_t *const pages = &part->pages[token->type];
    return nic__tiered_bytes(token) <= pages->slot_bytes && pages->page_limit != 0;
}

static void ring_push(tiered_t *tiered, const tiered_partition_t *part, uint32_t number)
{
    tiered_token_t *const tokens = tiered->tokens;
    const uint32_t newest = tokens[part->anchor].older;
    tokens[number].l2_used_ps = tiered->now_ps;
    tokens[number].newer = part->anchor;
    tokens[number].older = newest;
    tokens[newest].newer = number;
    tokens[part->anchor].older = number;
}

static void ring_take_out(tiered_t *tiered, const tiered_token_t *token)
{
    tiered->tokens[token->older].newer = token->newer;
    tiered->tokens[token->newer].older = token->older;
}

void nic__tiered_use_l2(tiered_t *tiered, tiered_token_t *token)
{
    ring_take_out(tiered, token);
    ring_push(tiered, nic__tiered_part(tiered, token), nic__tiered_number(tiered, token));
}

static uint64_t used_bytes(const tiered_partition_t *part)
{
    uint64_t bytes = 0;
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        const nic_pages_t *const pages = &part->pages[type];
        if (pages->slots != 0) {
            bytes += (uint64_t)pages->pages_used * nic_pages_page_bytes(pages);
        }
    }
    return bytes;
}

// Returns whether another token of this type fits into L2 without a victim.
static bool l2_fits(const tiered_t *tiered, tiered_partition_t *part, uint32_t type)
{
    nic_pages_t *const pages = &part->pages[type];
    if (pages->used_slots < pages->pages_used * pages->slots) {
        return true; // in a page that is used already
    }
    return nic__tiered_l2_used(tiered, part) + nic_pages_page_bytes(pages) <= part->l2_bytes &&
           nic_pages_has_room(pages, 1);
}

uint32_t nic__tiered_l2_victim(const tiered_t *tiered, const tiered_partition_t *part)
{
    uint32_t number = tiered->tokens[part->anchor].newer;
    while (number != part->anchor && nic_cell_moving(&tiered->tokens[number].cell)) {
        number = tiered->tokens[number].newer;
    }
    return number == part->anchor ? TIERED_NONE : number;
}

bool nic__tiered_fill_l2(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    if (!nic__tiered_has_l2(tiered, token)) {
        return false;
    }
    while (!l2_fits(tiered, part, token->type)) {
        if (nic__tiered_take_page(tiered, part)) {
            continue;
        }
        const uint32_t number = nic__tiered_l2_victim(tiered, part);
        if (number == TIERED_NONE) {
            return false;
        }
        tiered_token_t *const victim = &tiered->tokens[number];
        const sim_time_t took_ps = nic__tiered_write_back(tiered, victim, NIC_LAYER_L3);
        nic__tiered_move_now(tiered, victim, NIC_LAYER_L3, took_ps);
    }
    const uint32_t number = nic__tiered_number(tiered, token);
    uint8_t bytes[NIC_CONTEXT_BYTES_MAX] = {0};
    const uint32_t size_bytes = nic__tiered_encode(token, image, bytes);
    const uint32_t offset = nic_pages_put(&part->pages[token->type], number, 1, bytes, size_bytes);
    SIM_CHECK(offset != NIC_PAGE_NONE);
    token->cell.entry.token_offset = offset;
    token->cell.entry.check = nic_token_check(bytes, size_bytes);
    part->l2_used_bytes = used_bytes(part);
    part->l2_used_bytes_max = SIM_MAX(part->l2_used_bytes, part->l2_used_bytes_max);
    SIM_CHECK(nic__tiered_l2_used(tiered, part) <= part->l2_bytes);
    ring_push(tiered, part, number);
    return true;
}

static void leave_l2(tiered_t *tiered, tiered_token_t *token)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    const uint32_t offset = token->cell.entry.token_offset;
    SIM_CHECK(part->pages[token->type].owner[offset] == nic__tiered_number(tiered, token));
    nic_pages_remove(&part->pages[token->type], offset, 1);
    token->cell.entry.check = 0;
    part->l2_used_bytes = used_bytes(part);
    ring_take_out(tiered, token);
}

static void leave(tiered_t *tiered, tiered_token_t *token, uint32_t layer)
{
    if (layer == NIC_LAYER_L1) {
        leave_l1(tiered, token);
    } else if (layer == NIC_LAYER_L2) {
        leave_l2(tiered, token);
    }
}

void nic__tiered_leave(tiered_t *tiered, tiered_token_t *token)
{
    leave(tiered, token, token->cell.entry.layer);
}

// -- moves

static void tell(const tiered_t *tiered, const tiered_token_t *token, uint64_t value,
                 sim_time_t took_ps)
{
    const nic_t *const nic = tiered->store.nic;
    if (token->type != NIC_TOKEN_QP || !nic_device_traced(nic, NIC_TRACE_TIER)) {
        return;
    }
    const nic_qp_t *const qp = nic_device_find_qp(nic, (uint32_t)token->key);
    if (qp != NULL) { // else it is about to go
        nic_device_trace(nic, qp, NIC_TRACE_TIER, value, took_ps);
    }
}

// Writes tokens' differences back to the tier `to`: their hot fields, and the whole tokens if L2
// takes them in. Returns the time it takes.
sim_time_t nic__tiered_write_back_all(tiered_t *tiered, const uint32_t *tokens, uint32_t count,
                                      uint32_t to)
{
    const uint32_t from = tiered->tokens[tokens[0]].cell.entry.layer;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        const tiered_token_t *const token = &tiered->tokens[tokens[i]];
        SIM_CHECK(token->cell.entry.layer == from);
        bytes += to == NIC_LAYER_L2 ? nic__tiered_bytes(token) : 0;
        if ((token->cell.entry.flags & NIC_DIRECTORY_DIRTY) != 0) {
            tiered->counters.write_backs++;
            bytes += NIC_SMALL_FIELDS_BYTES;
            tell(tiered, token, NIC_TRACE_TIER_WRITTEN | from * 4u | to, 0);
        }
    }
    if (to == NIC_LAYER_L2) {
        return nic__tiered_cxl_write(tiered, bytes);
    }
    if (bytes == 0) {
        return 0; // L3 has them
    }
    const sim_time_t read_ps = from == NIC_LAYER_L2 ? nic__tiered_cxl_read(tiered, bytes) : 0;
    return read_ps + nic__tiered_dma_write(tiered, bytes);
}

sim_time_t nic__tiered_write_back(tiered_t *tiered, tiered_token_t *token, uint32_t to)
{
    const uint32_t number = nic__tiered_number(tiered, token);
    return nic__tiered_write_back_all(tiered, &number, 1, to);
}

// Copies a token that moves and commits the move, again for each change of the old copy since it
// was read. Its new copy is *image, until it has a place of its own.
static void commit(tiered_t *tiered, tiered_token_t *token, tiered_image_t *image,
                   nic_copies_t *copies)
{
    nic_cell_t *const cell = &token->cell;
    const uint32_t to = nic_move_target(cell);
    const bool hot = nic_context_hot_offset((nic_token_type_t)token->type) != UINT32_MAX;
    for (;;) {
        (void)nic__tiered_fetch(tiered, token, image);
        *copies = nic__tiered_copies(tiered, token);
        if (to != NIC_LAYER_L3 && hot) {
            copies->word[to] = nic_l1_word(&image->entry);
        }
        nic_move_put(cell, copies);
        if (nic_move_commit(cell, copies)) {
            return;
        }
        // The difference must follow.
        tiered->counters.reconciled++;
        (void)(tiered->has_l2 ? nic__tiered_cxl_write(tiered, NIC_SMALL_FIELDS_BYTES)
                              : nic__tiered_dma_write(tiered, NIC_SMALL_FIELDS_BYTES));
        nic_move_take(cell, copies);
    }
}

void nic__tiered_move_now(tiered_t *tiered, tiered_token_t *token, uint32_t to, sim_time_t took_ps)
{
    nic_cell_t *const cell = &token->cell;
    const uint32_t from = cell->entry.layer;
    if (token->staging != TIERED_NONE) {
        nic__tiered_unstage(tiered, token);
    }
    nic_copies_t copies = nic__tiered_copies(tiered, token);
    if (!nic_cell_moving(cell)) {
        const bool began = nic_move_begin(cell, to);
        SIM_CHECK(began);
        nic_move_take(cell, &copies);
    }
    SIM_CHECK(nic_move_target(cell) == to);
    tiered_image_t image;
    commit(tiered, token, &image, &copies);
    leave(tiered, token, from);
    nic__tiered_record(tiered, token)->fetches += from == NIC_LAYER_L3;
    nic__tiered_write_directory(tiered);
    if (to == NIC_LAYER_L1) {
        // The newest contents move along. If the host has older contents, the entry stays dirty.
        cell->entry.flags &= (uint8_t)~NIC_DIRECTORY_DIRTY;
        const bool older = nic__tiered_record(tiered, token)->changes != token->changes;
        cell->entry.flags |= older ? NIC_DIRECTORY_DIRTY : 0;
        nic__tiered_fill_l1(tiered, token, &image);
    } else if (to == NIC_LAYER_L2 && !nic__tiered_fill_l2(tiered, token, &image)) {
        // Every token of L2 is moving, so this token goes on to L3.
        const bool began = nic_move_begin(cell, NIC_LAYER_L3);
        SIM_CHECK(began);
        nic_move_take(cell, &copies);
        nic_move_put(cell, &copies);
        const bool again = nic_move_commit(cell, &copies);
        SIM_CHECK(again);
        to = NIC_LAYER_L3;
    }
    if (to == NIC_LAYER_L3) {
        cell->entry.flags &= (uint8_t)~NIC_DIRECTORY_DIRTY;
        cell->entry.token_offset = token->index;
        nic__tiered_note_host(tiered, token);
    }
    SIM_CHECKF(nic__tiered_word(tiered, token) == token->contents,
               "a write of token %u was lost on its way from tier %u to tier %u",
               nic__tiered_number(tiered, token), from, to);
    if (token->type == NIC_TOKEN_QP) {
        tiered->counters.migrations[to]++;
        nic_window_add(&tiered->moved, tiered->now_ps, tiered->config.window_ps / NIC_WINDOW_PARTS,
                       1);
        tell(tiered, token, from * 4 + to, took_ps);
        nic_histogram_add(&tiered->move_times, took_ps);
    }
}

uint64_t nic__tiered_occupied_saving(const tiered_t *tiered)
{
    uint64_t saved = 0;
    for (uint32_t p = 0; p < 2; p++) {
        const tiered_partition_t *const part = &tiered->parts[p];
        for (uint32_t slot = 0; slot < part->slots; slot++) {
            if (part->held[slot] != TIERED_NONE && part->held[slot] != TIERED_WQE) {
                const tiered_token_t *const token = &tiered->tokens[part->held[slot]];
                const uint32_t bare =
                    TIERED_ENTRY_BARE_BYTES + nic_context_bytes((nic_token_type_t)token->type);
                saved += token->compressed ? bare - sizeof(nic_l1_entry_t) : 0;
            }
        }
        for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
            const nic_pages_t *const pages = &part->pages[type];
            if (pages->slots != 0 && tiered->config.compression) {
                saved += (uint64_t)pages->used_slots *
                         (nic_context_bytes((nic_token_type_t)type) -
                          nic__tiered_slot_bytes((nic_token_type_t)type, true));
            }
        }
    }
    return saved;
}
