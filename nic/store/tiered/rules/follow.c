// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/rules/follow.c - L1 follows the miniature that costs least
// (docs/models/tiered-cache.md).
//
// While the link of L2 is full and the driver is idle, tokens bypass L2.
// Whatever the way, a token that an expand has brought is not requested again: it goes to L1, or
// the NIC writes it to L2.
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/driver/orders.h"
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/rules/adapt.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

// Lines of L2 that a miss reads: a bucket of the directory and the token.
#define READ_LINES 2u
// Lines that a move into a full L1 writes: the token that gives way, and two entries of the
// directory.
#define WRITE_LINES 3u

void nic__tiered_shadows_init(tiered_t *tiered, uint64_t seed)
{
    for (uint32_t p = 0; p < SIM_COUNT_OF(tiered->parts); p++) {
        tiered_partition_t *const part = &tiered->parts[p];
        part->configured = part->policy;
        part->way = NIC_SHADOW_FREQUENCY; // whose policy hybrid is
        if (tiered->config.adaptive && tiered->config.adaptive_rule == NIC_CACHE_RULE_SHADOW &&
            part->policy == nic_shadow_policy(NIC_SHADOW_FREQUENCY)) {
            part->shadows = sim_alloc(sizeof(*part->shadows));
            nic_shadows_init(part->shadows, part->slots, seed);
            part->promote_l1 = 1;
            part->promote_l2 = 1;
        }
    }
}

void nic__tiered_shadows_fini(tiered_t *tiered)
{
    for (uint32_t p = 0; p < SIM_COUNT_OF(tiered->parts); p++) {
        if (tiered->parts[p].shadows != NULL) {
            nic_shadows_fini(tiered->parts[p].shadows);
            sim_free(tiered->parts[p].shadows);
        }
    }
}

void nic__tiered_place(tiered_t *tiered, tiered_token_t *token)
{
    const tiered_partition_t *const part = nic__tiered_part(tiered, token);
    if (!nic__tiered_may_move(token)) {
        return;
    }
    const uint64_t count = nic__tiered_count(tiered, token);
    const bool comes_in =
        nic__tiered_l1_has_room(tiered, token) ||
        (part->way == NIC_SHADOW_FREQUENCY && nic__tiered_is_hotter(tiered, token, count));
    if (comes_in) {
        const sim_time_t here_ps = nic__tiered_here_ps(tiered, token);
        nic__tiered_set_uses(tiered, token, count);
        nic__tiered_move_now(tiered, token, NIC_LAYER_L1,
                             here_ps > tiered->now_ps ? here_ps - tiered->now_ps : 0);
    } else if (token->cell.entry.layer == NIC_LAYER_L3 && !part->l2_closed &&
               nic__tiered_has_l2(tiered, token)) {
        const sim_time_t took_ps = nic__tiered_cxl_write(tiered, nic__tiered_bytes(token));
        nic__tiered_move_now(tiered, token, NIC_LAYER_L2, took_ps);
    }
}

// Returns the slots in use that a policy may rank, in the order of last uses.
static uint32_t by_last_use(const tiered_t *tiered, const tiered_partition_t *part, uint32_t *slots)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < part->slots; slot++) {
        if (part->held[slot] == TIERED_NONE) {
            continue;
        }
        if (part->held[slot] == TIERED_WQE ||
            (tiered->tokens[part->held[slot]].cell.entry.flags & NIC_DIRECTORY_PINNED) == 0) {
            slots[count++] = slot;
        }
    }
    // A heap sort: the latest goes to the end.
    for (uint32_t end = count, next = count / 2; end > 1;) {
        uint32_t slot;
        if (next > 0) {
            slot = slots[--next];
        } else {
            slot = slots[--end];
            slots[end] = slots[0];
        }
        uint32_t at = next;
        for (uint32_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
            if (child + 1 < end && part->entries[slots[child + 1]].last_access_ps >
                                       part->entries[slots[child]].last_access_ps) {
                child++;
            }
            if (part->entries[slots[child]].last_access_ps <= part->entries[slot].last_access_ps) {
                break;
            }
            slots[at] = slots[child];
            at = child;
        }
        slots[at] = slot;
    }
    return count;
}

// Lets L1 go the given way from now on. What it holds stays.
static void go(tiered_t *tiered, tiered_partition_t *part, nic_shadow_way_t way)
{
    const nic_policy_ops_t *const policy = nic_shadow_policy(way);
    part->way_changes++;
    *(way > part->way ? &tiered->counters.raised : &tiered->counters.lowered) += 1;
    part->way = way;
    part->promote_l1 = way == NIC_SHADOW_STILL ? UINT32_MAX : 1;
    if (policy == part->policy) {
        return;
    }
    uint32_t *const slots = sim_alloc_array(part->slots, sizeof(*slots));
    const uint32_t count = by_last_use(tiered, part, slots);
    part->policy->destroy(part->ranks);
    const nic_policy_place_t place = {part->slots, 0, tiered->config.alpha, policy};
    part->policy = policy;
    part->ranks = policy->create(&place);
    for (uint32_t i = 0; i < count; i++) {
        const nic_l1_entry_t *const entry = &part->entries[slots[i]];
        const uint32_t number = part->held[slots[i]];
        const uint32_t handle =
            number == TIERED_WQE
                ? entry->token_id
                : nic_handle((nic_token_type_t)tiered->tokens[number].type, number);
        policy->insert(part->ranks, slots[i], handle, entry->freq);
    }
    sim_free(slots);
}

void nic__tiered_follow(tiered_t *tiered, uint32_t p, const tiered_busy_t *busy)
{
    tiered_partition_t *const part = &tiered->parts[p];
    const bool close = busy->l2 && !busy->driver;
    if (close != part->l2_closed) {
        part->l2_closed = close;
        part->promote_l2 = close ? UINT32_MAX : 1;
        *(close ? &tiered->counters.raised : &tiered->counters.lowered) += 1;
    }
    const nic_shadow_way_t way =
        nic_shadows_best(part->shadows, part->way, busy->links, READ_LINES, WRITE_LINES);
    if (way != part->way) {
        go(tiered, part, way);
    }
}
