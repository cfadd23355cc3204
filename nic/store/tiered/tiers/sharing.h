// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/sharing.h - an L2 that the NICs of a host share (l2.shared): its capacity
// and its link (docs/models/tiered-cache.md).
//
// Each NIC has its own tokens and pages; the pages of all of them together fit into the L2. Where
// it is full, the token that was not used for longest gives way, whichever NIC has it: another NIC
// gives up the whole page of its token, which leaves for the host. A NIC keeps its reserve.
#ifndef NIC_STORE_TIERED_TIERS_SHARING_H
#define NIC_STORE_TIERED_TIERS_SHARING_H

#include "kernel/base.h"

typedef struct tiered tiered_t;
struct tiered_partition;

// When the link of an L2 is free, in each direction.
typedef struct tiered_line {
    sim_time_t read_free_ps;
    sim_time_t write_free_ps;
} tiered_line_t;

typedef struct tiered_shared {
    tiered_line_t line;
    tiered_t *members;
} tiered_shared_t;

// Joins the L2 that the NICs of the host share, which the first one to come makes.
void nic__tiered_join(tiered_t *tiered);
void nic__tiered_part_company(tiered_t *tiered);
// Returns the bytes of L2 in use by a partition, of all NICs that share it.
uint64_t nic__tiered_l2_used(const tiered_t *tiered, const struct tiered_partition *part);
// Makes another NIC give up a page, if its token was not used for longest. Returns false if none
// does.
bool nic__tiered_take_page(tiered_t *tiered, const struct tiered_partition *part);

#endif // NIC_STORE_TIERED_TIERS_SHARING_H
