// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiers/wqes.h - hot WQEs as entries of L1 (l1.wqes: entries), beside the tokens
// of queue pairs (docs/models/tiered-cache.md).
//
// A WQE of 64 bytes takes three entries of 28 bytes. It comes when it arrives on the NIC, and goes
// when it is done. The policy of L1 may evict it before: to L2, or where there is none it is
// dropped, as the host's send queue has it. Then it is read again.
#ifndef NIC_STORE_TIERED_TIERS_WQES_H
#define NIC_STORE_TIERED_TIERS_WQES_H

#include "kernel/base.h"

typedef struct tiered tiered_t;

#define TIERED_WQE_BYTES 64u

typedef struct tiered_wqes {
    struct nic_directory *slots; // of L1, by key; NULL: WQEs are not in L1
    uint64_t *keys;              // by slot
} tiered_wqes_t;

void nic__tiered_wqes_init(tiered_t *tiered);
void nic__tiered_wqes_fini(tiered_t *tiered);
void nic__tiered_put_wqe(tiered_t *tiered, uint64_t key);
// Looks a WQE up that has arrived and is not done. Returns when it is on the NIC.
sim_time_t nic__tiered_look_up_wqe(tiered_t *tiered, uint64_t key);
void nic__tiered_drop_wqe(tiered_t *tiered, uint64_t key);
// Reads a WQE again that was evicted. Returns when it is on the NIC.
sim_time_t nic__tiered_read_wqe(tiered_t *tiered);
// Evicts the WQE in a slot of L1.
void nic__tiered_evict_wqe(tiered_t *tiered, uint32_t slot);
// Returns whether each WQE is in the slot that the index says.
bool nic__tiered_wqes_check(const tiered_t *tiered);

#endif // NIC_STORE_TIERED_TIERS_WQES_H
