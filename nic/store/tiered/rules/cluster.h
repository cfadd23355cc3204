// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/rules/cluster.h - the tokens that move together.
#ifndef NIC_STORE_TIERED_RULES_CLUSTER_H
#define NIC_STORE_TIERED_RULES_CLUSTER_H

#include "nic/store/tiered/object.h"

// Idle tokens that one transfer demotes.
typedef struct tiered_demotions {
    uint32_t to;
    uint32_t count;
    uint32_t *tokens;
} tiered_demotions_t;

#define TIERED_HEATS 4096u
// The driver's record of recent requests for one cluster in host memory.
typedef struct tiered_heat {
    uint64_t name; // type and first key; 0: none
    nic_window_t requests;
} tiered_heat_t;

// Promotes a token to L2, together with its cluster in host memory as far as L2 has room. One
// request and one transfer move them all.
void nic__tiered_promote_to_l2(tiered_t *tiered, tiered_token_t *token);
// Promotes a token of L2 to L1, together with tokens of its page that are nearly as hot.
void nic__tiered_promote_page(tiered_t *tiered, tiered_token_t *token);
// Demotes an idle token together with others: the move begins when there are enough of them, or
// with nic__tiered_demote_gathered.
void nic__tiered_demote(tiered_t *tiered, const tiered_token_t *token, uint32_t to);
void nic__tiered_demote_gathered(tiered_t *tiered, tiered_demotions_t *down);
// Notes that the driver was asked for a context; it may stage the token's cluster.
void nic__tiered_note_expand(tiered_t *tiered, const tiered_token_t *token);

#endif // NIC_STORE_TIERED_RULES_CLUSTER_H
