// SPDX-License-Identifier: Apache-2.0
// world/registry/attributes.c - the attribute tables of all sections.
#include "world/attributes.h"
#include "world/bind.h"
#include "world/captures.h"
#include "world/faults.h"
#include "world/series.h"

#include "world/scenario.h"

typedef struct table_list {
    const sim_attr_table_t **tables;
    size_t count;
    size_t capacity;
} table_list_t;

static void add(table_list_t *list, const sim_attr_table_t *table)
{
    SIM_APPEND(list->tables, list->count, list->capacity, table);
}

static void add_nic(table_list_t *list, const world_registry_t *registry)
{
    size_t extra_count;
    const nic_extra_t *const extras = world_registry_extras(registry, &extra_count);
    nic_config_t config;
    nic_config_init_with(&config, extras, extra_count);
    const world_targets_t targets = world_targets_nic(&config);
    world_target_t target;
    for (size_t i = 0; world_target_at(&targets, i, &target); i++) {
        add(list, target.table);
    }
    nic_config_fini(&config);
}

size_t world_attr_tables(const world_registry_t *registry, const sim_attr_table_t ***tables)
{
    table_list_t list = {0};
    add(&list, &world_run_config_attrs);
    add(&list, &world_outputs_config_attrs);
    add(&list, &world_fast_forward_config_attrs);
    add(&list, &net_config_attrs);
    size_t part_count;
    const world_network_part_t *const parts = world_registry_network_parts(registry, &part_count);
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].attrs != NULL) {
            add(&list, parts[i].attrs);
        }
    }
    add(&list, &net_scale_up_attrs);
    add(&list, &compat_hpcc_config_attrs);
    add(&list, &app_programs_attrs);
    for (const topo_ops_t *const *ops = world_registry_topologies(registry); *ops != NULL; ops++) {
        add(&list, (*ops)->attrs);
    }
    add(&list, &net_link_config_attrs);
    add(&list, &net_switch_config_attrs);
    add_nic(&list, registry);
    const world_node_kind_t *const *kind = world_registry_node_kinds(registry);
    for (; *kind != NULL; kind++) {
        if ((*kind)->attrs != NULL) {
            add(&list, (*kind)->attrs);
        }
    }
    add(&list, &world_down_config_attrs);
    add(&list, &world_fault_config_attrs);
    for (const app_ops_t *const *ops = world_registry_apps(registry); *ops != NULL; ops++) {
        add(&list, (*ops)->attrs);
    }
    add(&list, &world_observe_config_attrs);
    add(&list, &world_capture_config_attrs);
    *tables = list.tables;
    return list.count;
}
