// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/store_kinds.h - kinds of objects for which a store answers, not the flat caches.
#ifndef NIC_DEVICE_RNIC_STORE_KINDS_H
#define NIC_DEVICE_RNIC_STORE_KINDS_H

#include "nic/device/rnic/rnic.h"

void nic__store_create(nic_rnic_t *rnic);
void nic__store_destroy(nic_rnic_t *rnic);
// Objects that a store knows come and go.
void nic__store_add(nic_t *nic, nic_store_kind_t kind, uint64_t key);
void nic__store_change(nic_t *nic, nic_store_kind_t kind, uint64_t key);
void nic__store_remove(nic_t *nic, nic_store_kind_t kind, uint64_t key);
void nic__store_look_up(nic_t *nic, nic_store_lookup_t *lookup);
// Informs the store that the protocol moves the positions of a queue pair, or has moved them.
static inline void nic__store_moved(const nic_rnic_t *rnic, uint32_t number, bool over)
{
    if (SIM_UNLIKELY(rnic->keeps_positions)) {
        rnic->store->ops->moved(rnic->store, number, over);
    }
}
// Returns when the context of a queue pair that waits for it alone is there; 0: the NIC knows.
static inline sim_time_t nic__rnic_context_here_ps(nic_rnic_t *rnic, uint32_t number)
{
    nic_store_t *const store = rnic->store;
    if (SIM_LIKELY(!rnic->asynchronous) || store->ops->here == NULL) {
        return 0;
    }
    return store->ops->here(store, NIC_STORE_CONTEXT, number, rnic->at_ps);
}
// Makes the current service wait for a look-up; the timer is armed when the look-up ends.
void nic__store_wait(nic_rnic_t *rnic, sim_timer_t *timer, sim_time_t least_ps);

#endif // NIC_DEVICE_RNIC_STORE_KINDS_H
