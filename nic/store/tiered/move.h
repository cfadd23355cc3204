// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/move.h - the moves between layers, and the swaps and rewrites that meet them.
#ifndef NIC_STORE_TIERED_MOVE_H
#define NIC_STORE_TIERED_MOVE_H

#include "nic/store/tiered/object.h"

typedef struct tiered_move {
    sim_time_t begin_ps;
    sim_time_t end_ps; // SIM_TIME_NEVER: the driver has not taken it up yet
    uint32_t token;
} tiered_move_t;

// Begins a move that takes took_ps; SIM_TIME_NEVER: nic__tiered_end_move_at gives its end.
void nic__tiered_begin_move(tiered_t *tiered, tiered_token_t *token, uint32_t to,
                            sim_time_t took_ps);
void nic__tiered_use_prefetched(tiered_t *tiered, tiered_token_t *token);
bool nic__tiered_may_move(const tiered_token_t *token);
// Returns whether a token is used more often than the victim of a full L1, which it would replace.
bool nic__tiered_is_hotter(tiered_t *tiered, const tiered_token_t *token, uint64_t count);
// Returns the uses of a token within the window.
uint64_t nic__tiered_count(tiered_t *tiered, tiered_token_t *token);

// Applies the policy after an access. `counted`: the access counts as a use of the token;
// otherwise it may only have fetched it.
void nic__tiered_after_access(tiered_t *tiered, tiered_token_t *token, bool counted);
void nic__tiered_consider(tiered_t *tiered, tiered_token_t *token); // whether it is to be promoted
void nic__tiered_catch_up(tiered_t *tiered);                        // what is due by now_ps
void nic__tiered_forget_move(tiered_t *tiered, tiered_token_t *token);
void nic__tiered_end_move_at(tiered_t *tiered, const tiered_token_t *token, sim_time_t end_ps);

// Swaps the hot word of an entry after after_ps, again for each change that it meets, at most
// cas-retries times before it takes the lock, or gives up (l1.cas-fallback: path). Returns the time
// from then on.
sim_time_t nic__tiered_swap(tiered_t *tiered, tiered_token_t *token, sim_time_t after_ps,
                            bool *gave_up);
// Books the driver's rewrite of state or rights, which takes took_ps from now on; again for each
// change that it meets.
void nic__tiered_rewrite_takes(tiered_t *tiered, tiered_token_t *token, sim_time_t took_ps);
// Returns what an access sees that looks at the directory at a time that is not over: versions and
// layers follow from rewrites and moves that are booked.
nic_cell_view_t nic__tiered_view_at(const tiered_t *tiered, const tiered_token_t *token,
                                    sim_time_t time_ps);

#endif // NIC_STORE_TIERED_MOVE_H
