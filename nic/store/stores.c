// SPDX-License-Identifier: Apache-2.0
// nic/store/stores.c - stores by name, and the one that a configuration chooses
// (docs/models/tiered-cache.md).
#include "nic/extra.h"
#include "nic/store/tiered/tiered.h"

#include <string.h>

static nic_store_t *create_flat(const nic_store_place_t *place)
{
    (void)place;
    return sim_alloc(sizeof(nic_store_t));
}

// The store "flat" answers for no kind; the flat caches answer every lookup.
static const nic_store_ops_t flat = {
    .name = "flat",
    .help = "a set-associative cache for each kind, in front of host memory",
    .create = create_flat,
};

const nic_store_ops_t *const nic_store_all[] = {&flat, &nic__store_tiered, NULL};

const nic_store_ops_t *nic_config_store(const nic_config_t *config, const void **store_config)
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
