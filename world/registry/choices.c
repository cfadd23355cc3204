// SPDX-License-Identifier: Apache-2.0
// world/registry/choices.c - the parts of NICs and of networks that there are, by the attribute
// that chooses among them.
#include "world/choices.h"

#include <string.h>

#include "net/models.h"
#include "world/registry/entries.h"
#include "world/scenario.h"

typedef struct name_list {
    const char **names;
    size_t count;
    size_t capacity;
} name_list_t;

static void add(name_list_t *list, const char *name)
{
    SIM_APPEND(list->names, list->count, list->capacity, name);
}

static void add_nic_parts(name_list_t *list, const world_registry_t *registry,
                          nic_extra_kind_t kind)
{
    const void *const *const parts = nic_extra_library(kind);
    for (size_t i = 0; parts[i] != NULL; i++) {
        add(list, *(const char *const *)parts[i]); // tables begin with it
    }
    size_t count = 0;
    const nic_extra_t *const extras = world_registry_extras(registry, &count);
    for (size_t i = 0; i < count; i++) {
        if (extras[i].kind == kind) {
            add(list, extras[i].name);
        }
    }
}

// Asks a network without nodes.
static void add_network_parts(name_list_t *list, const world_registry_t *registry, const char *kind)
{
    sim_t *const sim = sim_create(&(sim_options_t){.threads = 1});
    net_config_t config;
    compat_hpcc_config_t hpcc;
    sim_attrs_default(&net_config_attrs, &config);
    sim_attrs_default(&compat_hpcc_config_attrs, &hpcc);
    net_t *const net = net_create(sim, &config);
    compat_hpcc_register(net, &hpcc);
    world__registry_use(registry, NULL, net);
    const char *name = NULL;
    for (size_t i = 0; (name = net_registered_name(net, kind, i)) != NULL; i++) {
        add(list, name);
    }
    sim_destroy(sim);
    net_destroy(net);
    sim_attrs_fini(&compat_hpcc_config_attrs, &hpcc);
    sim_attrs_fini(&net_config_attrs, &config);
}

static const struct {
    const char *attribute;
    const char *kind;
} network_parts[] = {
    {"network.load-balancer", NET_BALANCE}, {"switch.load-balancing", NET_BALANCE},
    {"network.routes", NET_ROUTES},         {"network.timing", NET_TIMING},
    {"network.framing", NET_FRAMING},       {"switch.mmu", NET_BUFFER},
    {"switch.marking", NET_MARKING},
};

static void put_default_first(name_list_t *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->names[i], name) == 0) {
            return;
        }
    }
    add(list, name);
    memmove(list->names + 1, list->names, (list->count - 1) * sizeof(*list->names));
    list->names[0] = name;
}

size_t world_choices(const world_registry_t *registry, const char *path, const char *default_text,
                     const char ***names)
{
    name_list_t list = {0};
    for (nic_extra_kind_t kind = 0; kind < NIC_EXTRA_KIND_COUNT; kind++) {
        if (strcmp(nic_extra_kind_attribute(kind), path) == 0) {
            add_nic_parts(&list, registry, kind);
        }
    }
    for (size_t i = 0; i < SIM_COUNT_OF(network_parts); i++) {
        if (strcmp(network_parts[i].attribute, path) == 0) {
            add_network_parts(&list, registry, network_parts[i].kind);
        }
    }
    if (list.count > 0) {
        put_default_first(&list, default_text);
    }
    *names = list.names;
    return list.count;
}
