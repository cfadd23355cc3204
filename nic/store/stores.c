// SPDX-License-Identifier: Apache-2.0
// nic/store/stores.c - stores by name, and lookups that the flat caches do not answer
// (docs/models/tiered-cache.md).
//
// The flat caches are looked into in place (nic__rnic_lookup): what was used last in its set costs
// a comparison. Kinds that a store answers for have a flat cache of one entry that stays empty, so
// that their lookups always come here and those of ordinary NICs pay nothing for it.
#include "nic/extra.h"
#include "nic/store/tiered/tiered.h"

#include <string.h>

// It answers for no kind: all stay with the caches.
static const nic_store_ops_t flat = {
    .name = "flat",
    .help = "a set-associative cache for each kind, in front of host memory",
};

const nic_store_ops_t *const nic_store_all[] = {&flat, &nic__store_tiered, NULL};

const nic_store_t *nic_store_of(const nic_t *nic)
{
    return nic->device == &nic_device_rnic ? nic__rnic(nic)->store : NULL;
}

static nic_store_t *create_flat(void)
{
    nic_store_t *const store = sim_alloc(sizeof(*store));
    store->ops = &flat;
    return store;
}

// The store that a config chooses, and its own config.
static const nic_store_ops_t *chosen(const nic_config_t *config, const void **store_config)
{
    *store_config = config->custom_store_config;
    if (config->custom_store != NULL) {
        return config->custom_store;
    }
    *store_config = &config->cache;
    if (strcmp(config->store, "auto") == 0) {
        return strcmp(config->cache.policy, "flat") == 0 ? &flat : &nic__store_tiered;
    }
    const void *part;
    const nic_store_ops_t *const found =
        nic_config_find(config, NIC_EXTRA_STORE, config->store, &part);
    if (part != NULL) {
        *store_config = part;
    }
    return found;
}

const nic_policy_ops_t *nic__config_policy(const nic_config_t *config)
{
    if (config->cache.custom_policy != NULL) {
        return config->cache.custom_policy;
    }
    const void *part;
    const nic_policy_ops_t *const found =
        nic_config_find(config, NIC_EXTRA_POLICY, config->cache.policy, &part);
    return found != NULL ? found : nic_policy_find("hybrid");
}

void nic__store_create(nic_t *nic)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    const nic_config_t *const config = nic->host->config;
    const void *store_config;
    const nic_store_ops_t *const ops = chosen(config, &store_config);
    SIM_CHECKF(ops != NULL, "no store \"%s\"", config->store);
    if (ops == &flat) {
        rnic->store = create_flat();
    } else {
        const nic_store_place_t place = {
            .nic = nic,
            .node = nic__node(nic),
            .pcie = &rnic->pcie,
            .seed = nic->interface,
            .config = store_config,
        };
        rnic->store = ops->create(&place);
        SIM_CHECKF(rnic->store != NULL, "%s", ops->name);
        rnic->store->ops = ops;
    }
    rnic->store->nic = nic;
    rnic->answered = rnic->store->ops->kinds;
    rnic->asynchronous = ops == &nic__store_tiered && config->cache.expand_asynchronous;
}

void nic__store_destroy(nic_t *nic)
{
    nic_store_t *const store = nic__rnic(nic)->store;
    sim_message_t message = {.text = ""};
    if (store->ops->check != NULL) {
        SIM_CHECKF(store->ops->check(store, &message), "%s", message.text);
    }
    if (store->ops->destroy != NULL) {
        store->ops->destroy(store);
    } else {
        sim_free(store);
    }
    nic__rnic(nic)->store = NULL;
}

void nic__store_look_up(nic_t *nic, nic_store_lookup_t *lookup)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    nic_store_t *const store = rnic->store;
    lookup->at_ps = rnic->at_ps;
    store->ops->look_up(store, lookup);
    SIM_CHECK(!lookup->waits || (lookup->begins && lookup->urgent && store->ops->wait != NULL));
    rnic->waits |= lookup->waits;
#ifdef SIM_DEAR_CHECKS
    // All of a large store is looked at less often.
    sim_message_t message = {.text = ""};
    rnic->lookups++;
    if (store->ops->check != NULL && (rnic->lookups < 1000 || rnic->lookups % 1024 == 0)) {
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
