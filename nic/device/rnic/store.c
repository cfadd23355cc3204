// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/store.c - the store that answers what the flat caches do not (nic/store.h).
//
// nic__rnic_lookup reads the flat caches in place, so that a hit costs one comparison. A kind that
// the store answers for has a flat cache of one entry that stays empty. Its lookups always come
// here, and those of ordinary NICs pay nothing for it.
#include "nic/device/rnic/rnic.h"
#include "nic/device/rnic/send.h"
#include "nic/device/rnic/store_kinds.h"
#include "nic/device/rnic/unit.h"
#include "nic/extra.h"

nic_store_t *nic_store_of(const nic_t *nic)
{
    return nic_device_of(nic) == &nic_device_rnic ? nic__rnic(nic)->store : NULL;
}

// Begins an event of the store: its timers fire between the NIC's own events.
static void begin(nic_t *nic)
{
    nic__rnic_begin(nic);
}

void nic__store_create(nic_rnic_t *rnic)
{
    nic_t *const nic = rnic->nic;
    const nic_config_t *const config = nic_get_config(nic);
    const void *store_config;
    const nic_store_ops_t *const ops = nic_config_store(config, &store_config);
    SIM_CHECKF(ops != NULL, "no store \"%s\"", config->store);
    const nic_store_place_t place = {
        .nic = nic,
        .node = nic__device_node(nic),
        .pcie = &rnic->pcie,
        .page_bytes = rnic->detail.page_bytes,
        .begin = begin,
        .seed = nic_interface(nic),
        .config = store_config,
        .ops = ops,
    };
    rnic->store = ops->create(&place);
    SIM_CHECKF(rnic->store != NULL, "%s", ops->name);
    rnic->store->ops = ops;
    rnic->store->nic = nic;
    rnic->answered = ops->kinds | rnic->store->more_kinds;
    rnic->keeps_positions = ops->moved != NULL;
    rnic->asynchronous = ops->asynchronous != NULL && ops->asynchronous(rnic->store);
}

void nic__store_destroy(nic_rnic_t *rnic)
{
    nic_store_t *const store = rnic->store;
    sim_message_t message = {.text = ""};
    if (store->ops->check != NULL) {
        SIM_CHECKF(store->ops->check(store, &message), "%s", message.text);
    }
    if (store->ops->destroy != NULL) {
        store->ops->destroy(store);
    } else {
        sim_free(store);
    }
    rnic->store = NULL;
}

void nic__store_look_up(nic_t *nic, nic_store_lookup_t *lookup)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    nic_store_t *const store = rnic->store;
    lookup->at_ps = rnic->at_ps;
    store->ops->look_up(store, lookup);
    SIM_CHECK(!lookup->waits || (lookup->can_wait && store->ops->wait != NULL));
    rnic->waits |= lookup->waits;
#ifdef SIM_DEAR_CHECKS
    // A large store is checked as a whole less often.
    sim_message_t message = {.text = ""};
    rnic->lookups++;
    if (store->ops->check != NULL && (rnic->lookups < 200 || rnic->lookups % 1024 == 0)) {
        SIM_CHECKF(store->ops->check(store, &message), "%s", message.text);
    }
#endif
}

void nic__store_wait(nic_rnic_t *rnic, sim_timer_t *timer, sim_time_t least_ps)
{
    rnic->waits = false;
    rnic->store->ops->wait(rnic->store, timer, least_ps);
}

void nic__store_add(nic_t *nic, nic_store_kind_t kind, uint64_t key)
{
    const nic_rnic_t *const rnic = nic__rnic(nic);
    if (SIM_UNLIKELY((rnic->answered >> kind & 1) != 0) && rnic->store->ops->add != NULL) {
        rnic->store->ops->add(rnic->store, kind, key);
    }
}

void nic__store_change(nic_t *nic, nic_store_kind_t kind, uint64_t key)
{
    const nic_rnic_t *const rnic = nic__rnic(nic);
    if (SIM_UNLIKELY((rnic->answered >> kind & 1) != 0) && rnic->store->ops->change != NULL) {
        rnic->store->ops->change(rnic->store, kind, key);
    }
}

void nic__store_remove(nic_t *nic, nic_store_kind_t kind, uint64_t key)
{
    const nic_rnic_t *const rnic = nic__rnic(nic);
    if (SIM_UNLIKELY((rnic->answered >> kind & 1) != 0) && rnic->store->ops->remove != NULL) {
        rnic->store->ops->remove(rnic->store, kind, key);
    }
}
