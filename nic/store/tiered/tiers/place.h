// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/place.h - L1 and L2: the tokens that they hold, and those that give way.
#ifndef NIC_STORE_TIERED_TIERS_PLACE_H
#define NIC_STORE_TIERED_TIERS_PLACE_H

#include "nic/cache.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/rules/shadow.h"
#include "nic/store/tiered/tiers/pages.h"

typedef struct tiered_partition {
    uint32_t slots; // of L1, without seats
    uint32_t seats; // slots behind them: the staging area, where it holds tokens (l1.staged)
    uint32_t units; // of 28 bytes: capacity
    uint32_t units_used;
    uint32_t units_max;
    uint32_t slots_used;
    uint32_t slots_max;
    uint32_t seats_used;
    uint32_t wqes;           // slots that hold WQEs
    uint32_t *held;          // token by slot; TIERED_NONE: free; TIERED_WQE: a WQE
    nic_l1_entry_t *entries; // by slot
    uint8_t **contexts;      // by slot: of what is not compressed, else NULL
    uint32_t *free;          // stack of free slots
    uint32_t free_count;
    const nic_policy_ops_t *policy; // in use
    void *ranks;
    const nic_policy_ops_t *configured;
    nic_shadows_t *shadows; // of policy hybrid with adaptive.rule shadow; else NULL
    nic_shadow_way_t way;
    uint64_t way_changes;
    bool l2_closed; // L1 gives tokens up to L3, and what an expand brings does not go to L2
    nic_pages_t pages[NIC_TOKEN_TYPE_COUNT]; // L2; types that are not of the partition have none
    uint64_t l2_bytes;                       // capacity, of all pages together
    uint64_t l2_used_bytes;
    uint64_t l2_used_bytes_max;
    uint32_t anchor;        // of the ring by last use: a token that stands for none
    uint32_t *staging;      // ring of tokens
    tiered_image_t *staged; // by place of the ring
    uint32_t staging_entries;
    uint32_t staging_next;
    nic_cache_path_t path;
    uint64_t promote_l1; // as adapted
    uint64_t promote_l2;
    uint64_t promote_l1_set; // as configured
    uint64_t promote_l2_set;
} tiered_partition_t;

#define TIERED_WQE (UINT32_MAX - 1)

void nic__tiered_parts_init(tiered_t *tiered, uint64_t seed);
void nic__tiered_parts_fini(tiered_t *tiered);
// Makes room in L1 and puts an image there. The token must not be in a tier.
void nic__tiered_fill_l1(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image);
// Moves a token from its seat into a slot of L1 that the policy ranks.
void nic__tiered_settle(tiered_t *tiered, tiered_token_t *token);
// Makes room in L1 for a WQE. Returns its slot.
uint32_t nic__tiered_take_slot(tiered_t *tiered, tiered_partition_t *part, uint32_t units);
void nic__tiered_give_slot(tiered_partition_t *part, uint32_t slot, uint32_t units);
// Gives a token a seat in the staging area, which another one leaves for it.
void nic__tiered_seat(tiered_t *tiered, tiered_token_t *token);
bool nic__tiered_l1_has_room(tiered_t *tiered, const tiered_token_t *token);
bool nic__tiered_has_l2(const tiered_t *tiered, const tiered_token_t *token);
// Makes room in L2 and puts an image there; false: there is none to be had.
bool nic__tiered_fill_l2(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image);
void nic__tiered_leave(tiered_t *tiered, tiered_token_t *token); // its tier, L1 or L2
// Returns the least recently used token of L2 that is not moving, or TIERED_NONE.
uint32_t nic__tiered_l2_victim(const tiered_t *tiered, const tiered_partition_t *part);
void nic__tiered_use_l2(tiered_t *tiered, tiered_token_t *token);
// Moves it at once, contents and all; counts the migration. It takes took_ps.
void nic__tiered_move_now(tiered_t *tiered, tiered_token_t *token, uint32_t to, sim_time_t took_ps);
// Writes what is dirty in L1 or L2 back where the token goes.
sim_time_t nic__tiered_write_back(tiered_t *tiered, tiered_token_t *token, uint32_t to);
uint64_t nic__tiered_occupied_saving(const tiered_t *tiered);

// Like nic__tiered_write_back, for tokens of the same tier in one transfer.
sim_time_t nic__tiered_write_back_all(tiered_t *tiered, const uint32_t *tokens, uint32_t count,
                                      uint32_t to);

#endif // NIC_STORE_TIERED_TIERS_PLACE_H
