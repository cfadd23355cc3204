// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/rules/cluster.c - tokens that move together: clusters of host memory to L2,
// tokens of a page of L2 to L1, idle ones down, and what the driver stages by a rule of its own
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/rules/cluster.h"
#include "nic/store/tiered/batch.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/driver/orders.h"
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

// -- clusters of contexts in host memory

typedef struct cluster {
    uint64_t first; // key
    uint64_t count;
} cluster_t;

// Returns the cluster of a key: contexts lie in host memory in the order of keys.
static cluster_t cluster_of(const tiered_t *tiered, nic_token_type_t type, uint64_t key)
{
    const uint64_t in_cluster = tiered->config.cluster_bytes / nic_context_bytes(type);
    return in_cluster == 0 ? (cluster_t){key, 1}
                           : (cluster_t){key / in_cluster * in_cluster, in_cluster};
}

// Returns a list with room for the tokens of a cluster.
static uint32_t *new_list(const tiered_t *tiered, nic_token_type_t type)
{
    const uint64_t in_cluster = cluster_of(tiered, type, 0).count;
    const uint64_t count = SIM_MIN(in_cluster, tiered->token_count);
    return sim_alloc_array(count + 1, sizeof(uint32_t));
}

// Returns how many more tokens of a type L2 takes before it is nearly full.
static uint64_t room_in_l2(const tiered_t *tiered, const tiered_partition_t *part, uint32_t type)
{
    const sim_ratio_t pressure = tiered->config.l2_pressure;
    const uint64_t limit = (uint64_t)((sim_wide_t)part->l2_bytes * pressure.num / pressure.den);
    const nic_pages_t *const pages = &part->pages[type];
    const uint64_t used = nic__tiered_l2_used(tiered, part);
    if (used >= limit) {
        return 0;
    }
    return (limit - used) / nic_pages_page_bytes(pages) * pages->slots +
           (pages->pages_used * pages->slots - pages->used_slots);
}

// Gathers up to `limit` tokens of the cluster of a key that are with the host: those behind the key
// first, then those before it. Returns their number.
static uint32_t gather(tiered_t *tiered, nic_token_type_t type, uint64_t key, uint64_t limit,
                       uint32_t *tokens)
{
    const cluster_t cluster = cluster_of(tiered, type, key);
    const bool drops =
        tiered->config.saturated == NIC_CACHE_DROP && nic__tiered_behind_ps(tiered) != 0;
    uint32_t count = 0;
    for (uint64_t k = 1; k < cluster.count && count < limit; k++) {
        const uint64_t other = cluster.first + (key - cluster.first + k) % cluster.count;
        const uint32_t number = nic__tiered_find(tiered, type, other);
        if (number == TIERED_NONE || tiered->tokens[number].cell.state != NIC_TOKEN_IN_L3 ||
            !nic__tiered_may_move(&tiered->tokens[number]) ||
            nic__tiered_denied(tiered, &tiered->tokens[number]) ||
            !nic__tiered_has_l2(tiered, &tiered->tokens[number])) {
            continue;
        }
        if (drops) {
            tiered->counters.prefetches_dropped++; // L2 has enough to do without it
            continue;
        }
        tokens[count++] = number;
    }
    return count;
}

static void stage(tiered_t *tiered, const uint32_t *tokens, uint32_t count, sim_time_t before_ps)
{
    for (uint32_t i = 0; i < count; i++) {
        nic__tiered_begin_move(tiered, &tiered->tokens[tokens[i]], NIC_LAYER_L2, SIM_TIME_NEVER);
    }
    nic__tiered_order(tiered, TIERED_ORDER_L2, tokens, count, before_ps, false);
}

void nic__tiered_promote_to_l2(tiered_t *tiered, tiered_token_t *token)
{
    if (!nic__tiered_has_l2(tiered, token)) {
        return;
    }
    const nic_token_type_t type = (nic_token_type_t)token->type;
    const uint64_t room = room_in_l2(tiered, nic__tiered_part(tiered, token), type);
    const uint64_t others = SIM_MIN(room, tiered->config.neighbours);
    uint32_t *const tokens = new_list(tiered, type);
    // A token that has a seat in the staging area goes to L2 when it leaves that.
    const uint32_t own = token->seat == TIERED_NONE;
    tokens[0] = nic__tiered_number(tiered, token);
    const uint32_t count = own + gather(tiered, type, token->key, others, &tokens[own]);
    for (uint32_t i = own; i < count; i++) {
        tiered->tokens[tokens[i]].prefetched = TIERED_NEIGHBOUR;
    }
    tiered->counters.prefetches += count - own;
    if (count != 0) {
        tiered->counters.fills++;
        stage(tiered, tokens, count, nic__tiered_mailbox(tiered));
    }
    sim_free(tokens);
}

// -- pages of L2

// Returns whether a token of L2 goes to L1 together with another one of its page.
static bool goes_along(tiered_t *tiered, tiered_token_t *token)
{
    const tiered_partition_t *const part = nic__tiered_part(tiered, token);
    const sim_ratio_t along = tiered->config.promote_along;
    const uint64_t count = nic__tiered_count(tiered, token);
    return (sim_wide_t)count * along.den >= (sim_wide_t)part->promote_l1 * along.num &&
           token->cell.state == NIC_TOKEN_IN_L2 && nic__tiered_may_move(token) &&
           nic__tiered_is_hotter(tiered, token, count);
}

void nic__tiered_promote_page(tiered_t *tiered, tiered_token_t *token)
{
    const nic_pages_t *const pages = &nic__tiered_part(tiered, token)->pages[token->type];
    const uint32_t own = token->cell.entry.token_offset;
    const uint32_t first = own / pages->slots * pages->slots;
    uint32_t tokens[NIC_PAGE_SLOTS_MAX];
    uint32_t count = 0;
    uint32_t least = own;
    uint32_t most = own;
    tokens[count++] = nic__tiered_number(tiered, token);
    for (uint32_t k = 1; k < pages->slots && count < tiered->config.move_batch; k++) {
        const uint32_t offset = first + (own - first + k) % pages->slots;
        const uint32_t number = pages->owner[offset];
        if (number != NIC_HANDLE_NONE && goes_along(tiered, &tiered->tokens[number])) {
            tokens[count++] = number;
            least = SIM_MIN(offset, least);
            most = SIM_MAX(offset, most);
        }
    }
    const uint64_t bytes =
        count == 1 ? nic__tiered_bytes(token) : (uint64_t)(most - least + 1) * pages->slot_bytes;
    const sim_time_t took_ps = nic__tiered_cxl_read(tiered, bytes);
    tiered->counters.move_transfers++;
    tiered->counters.moved_along += count - 1;
    for (uint32_t i = 0; i < count; i++) {
        nic__tiered_begin_move(tiered, &tiered->tokens[tokens[i]], NIC_LAYER_L1, took_ps);
    }
}

// -- idle tokens, down

void nic__tiered_demote_gathered(tiered_t *tiered, tiered_demotions_t *down)
{
    // Some may have been promoted since.
    uint32_t count = 0;
    for (uint32_t i = 0; i < down->count; i++) {
        if (nic__tiered_may_move(&tiered->tokens[down->tokens[i]])) {
            down->tokens[count++] = down->tokens[i];
        }
    }
    down->count = count;
    if (count == 0) {
        return;
    }
    const sim_time_t took_ps =
        nic__tiered_write_back_all(tiered, down->tokens, down->count, down->to);
    tiered->counters.move_transfers++;
    tiered->counters.moved_along += down->count - 1;
    for (uint32_t i = 0; i < down->count; i++) {
        nic__tiered_begin_move(tiered, &tiered->tokens[down->tokens[i]], down->to, took_ps);
    }
    down->count = 0;
}

void nic__tiered_demote(tiered_t *tiered, const tiered_token_t *token, uint32_t to)
{
    const bool from_l1 = token->cell.entry.layer == NIC_LAYER_L1;
    tiered_demotions_t *const down = &tiered->demotions[from_l1 ? to - NIC_LAYER_L2 : 2];
    down->to = to;
    down->tokens[down->count++] = nic__tiered_number(tiered, token);
    if (down->count == tiered->config.move_batch) {
        nic__tiered_demote_gathered(tiered, down);
    }
}

// -- what the driver stages by itself

// The driver sees the requests for contexts. Pages of which it was asked for many within the window
// are hot: it stages the rest of such a page when it has nothing urgent to do.
void nic__tiered_note_expand(tiered_t *tiered, const tiered_token_t *token)
{
    const nic_cache_config_t *const config = &tiered->config;
    const nic_token_type_t type = (nic_token_type_t)token->type;
    if (config->prestage == 0 || !nic__tiered_has_l2(tiered, token)) {
        return;
    }
    const uint64_t first = cluster_of(tiered, type, token->key).first;
    const uint64_t name = nic_directory_name(type, first);
    tiered_heat_t *const heat = &tiered->heats[sim_mix64(name) % TIERED_HEATS];
    if (heat->name != name) {
        *heat = (tiered_heat_t){.name = name};
    }
    const sim_time_t part_ps = config->window_ps / NIC_WINDOW_PARTS;
    nic_window_add(&heat->requests, tiered->now_ps, part_ps, 1);
    if (nic_window_count(&heat->requests, tiered->now_ps, part_ps) < config->prestage) {
        return;
    }
    heat->name = 0;
    const uint64_t room = room_in_l2(tiered, nic__tiered_part(tiered, token), type);
    uint32_t *const tokens = new_list(tiered, type);
    const uint32_t count = gather(tiered, type, token->key, room, tokens);
    if (count != 0) {
        tiered->counters.prestages++;
        tiered->counters.prestaged += count;
        for (uint32_t i = 0; i < count; i++) {
            tiered->tokens[tokens[i]].prefetched = TIERED_PRESTAGED;
        }
        stage(tiered, tokens, count, 0);
    }
    sim_free(tokens);
}
