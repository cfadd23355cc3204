// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/sharing.c - who gives way in an L2 that NICs share
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/tiers/sharing.h"
#include "nic/host.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

void nic__tiered_join(tiered_t *tiered)
{
    const net_node_t *const host = SIM_CONTAINER_OF(tiered->node, net_node_t, sim);
    for (uint32_t i = 0; i < nic_count(host) && tiered->shared == NULL; i++) {
        nic_store_t *const store = nic_store_of(nic_at(host, i));
        if (store != NULL && store->ops == &nic__store_tiered) {
            tiered->shared = ((tiered_t *)(void *)store)->shared;
        }
    }
    if (tiered->shared == NULL) {
        tiered->shared = sim_alloc(sizeof(*tiered->shared));
    }
    tiered->next_member = tiered->shared->members;
    tiered->shared->members = tiered;
    tiered->cxl.line = &tiered->shared->line;
}

void nic__tiered_part_company(tiered_t *tiered)
{
    if (tiered->shared == NULL) {
        return;
    }
    tiered_t **link = &tiered->shared->members;
    while (*link != tiered) {
        link = &(*link)->next_member;
    }
    *link = tiered->next_member;
    if (tiered->shared->members == NULL) {
        sim_free(tiered->shared);
    }
    tiered->shared = NULL;
}

uint64_t nic__tiered_l2_used(const tiered_t *tiered, const tiered_partition_t *part)
{
    if (tiered->shared == NULL) {
        return part->l2_used_bytes;
    }
    uint64_t bytes = 0;
    for (const tiered_t *m = tiered->shared->members; m != NULL; m = m->next_member) {
        bytes += m->parts[part - tiered->parts].l2_used_bytes;
    }
    return bytes;
}

// Evicts the tokens of the page of a token. Returns false, and evicts none, if one of them moves.
static bool give_page_up(tiered_t *tiered, tiered_partition_t *part, const tiered_token_t *token)
{
    const nic_pages_t *const pages = &part->pages[token->type];
    const uint32_t first = token->cell.entry.token_offset / pages->slots * pages->slots;
    for (uint32_t offset = first; offset < first + pages->slots; offset++) {
        const uint32_t number = pages->owner[offset];
        if (number != NIC_HANDLE_NONE && nic_cell_moving(&tiered->tokens[number].cell)) {
            return false;
        }
    }
    for (uint32_t offset = first; offset < first + pages->slots; offset++) {
        const uint32_t number = pages->owner[offset];
        if (number != NIC_HANDLE_NONE) {
            tiered_token_t *const victim = &tiered->tokens[number];
            const sim_time_t took_ps = nic__tiered_write_back(tiered, victim, NIC_LAYER_L3);
            nic__tiered_move_now(tiered, victim, NIC_LAYER_L3, took_ps);
        }
    }
    return true;
}

bool nic__tiered_take_page(tiered_t *tiered, const tiered_partition_t *part)
{
    if (tiered->shared == NULL) {
        return false;
    }
    const ptrdiff_t p = part - tiered->parts;
    const sim_ratio_t reserve = tiered->config.l2_reserve;
    const uint32_t own = nic__tiered_l2_victim(tiered, part);
    sim_time_t oldest_ps = own != TIERED_NONE ? tiered->tokens[own].l2_used_ps : SIM_TIME_NEVER;
    tiered_t *other = NULL;
    for (tiered_t *m = tiered->shared->members; m != NULL; m = m->next_member) {
        const tiered_partition_t *const theirs = &m->parts[p];
        const uint32_t number = m != tiered ? nic__tiered_l2_victim(m, theirs) : TIERED_NONE;
        const bool reserved = (sim_wide_t)theirs->l2_used_bytes * reserve.den <=
                              (sim_wide_t)theirs->l2_bytes * reserve.num;
        if (number != TIERED_NONE && !reserved && m->tokens[number].l2_used_ps < oldest_ps) {
            oldest_ps = m->tokens[number].l2_used_ps;
            other = m;
        }
    }
    if (other == NULL) {
        return false;
    }
    nic__tiered_move_time_on(other, tiered->now_ps);
    const uint32_t number = nic__tiered_l2_victim(other, &other->parts[p]);
    if (!give_page_up(other, &other->parts[p], &other->tokens[number])) {
        return false;
    }
    tiered->counters.pages_taken++;
    other->counters.pages_given++;
    return true;
}
