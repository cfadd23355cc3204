// SPDX-License-Identifier: Apache-2.0
// world/registry/entries.c - rows of the library and of programs.
#include "world/registry/entries.h"
#include "world/registry/plugins/zones.h"

#include "net/models.h"

#include <string.h>

typedef struct row_list {
    const void **rows; // ends with NULL
    size_t count;
    size_t capacity;
} row_list_t;

typedef struct network {
    world_network_fn fn;
    void *ctx;
} network_t;

struct world_registry {
    row_list_t apps;
    row_list_t topologies;
    row_list_t ccs;
    row_list_t node_kinds;
    nic_extra_t *extras;
    size_t extra_count;
    size_t extra_capacity;
    world_network_part_t *parts;
    size_t part_count;
    size_t part_capacity;
    network_t *networks;
    size_t network_count;
    size_t network_capacity;
    world__plugins_t plugins;
};

world__plugins_t *world__registry_plugins(world_registry_t *registry)
{
    return &registry->plugins;
}

static void list_add(row_list_t *list, const void *row)
{
    SIM_RESERVE(list->rows, list->count + 2, &list->capacity);
    list->rows[list->count++] = row;
    list->rows[list->count] = NULL;
}

world_registry_t *world_registry_create(void)
{
    world_registry_t *const registry = sim_alloc(sizeof(*registry));
    for (size_t i = 0; app_all[i] != NULL; i++) {
        list_add(&registry->apps, app_all[i]);
    }
    for (size_t i = 0; topo_all[i] != NULL; i++) {
        list_add(&registry->topologies, topo_all[i]);
    }
    for (size_t i = 0; nic_cc_all[i] != NULL; i++) {
        list_add(&registry->ccs, nic_cc_all[i]);
    }
    for (size_t i = 0; i < compat_hpcc_nic_row_count; i++) {
        SIM_APPEND(registry->extras, registry->extra_count, registry->extra_capacity,
                   compat_hpcc_nic_rows[i]);
        if (compat_hpcc_nic_rows[i].kind == NIC_EXTRA_CC) {
            list_add(&registry->ccs, compat_hpcc_nic_rows[i].ops);
        }
    }
    return registry;
}

static void list_copy(row_list_t *to, const row_list_t *from)
{
    for (size_t i = 0; i < from->count; i++) {
        list_add(to, from->rows[i]);
    }
}

world_registry_t *world_registry_copy(const world_registry_t *registry)
{
    world_registry_t *const copy = sim_alloc(sizeof(*copy));
    list_copy(&copy->apps, &registry->apps);
    list_copy(&copy->topologies, &registry->topologies);
    list_copy(&copy->ccs, &registry->ccs);
    list_copy(&copy->node_kinds, &registry->node_kinds);
    for (size_t i = 0; i < registry->extra_count; i++) {
        SIM_APPEND(copy->extras, copy->extra_count, copy->extra_capacity, registry->extras[i]);
    }
    for (size_t i = 0; i < registry->part_count; i++) {
        SIM_APPEND(copy->parts, copy->part_count, copy->part_capacity, registry->parts[i]);
    }
    for (size_t i = 0; i < registry->network_count; i++) {
        SIM_APPEND(copy->networks, copy->network_count, copy->network_capacity,
                   registry->networks[i]);
    }
    world__plugins_copy(&copy->plugins, &registry->plugins);
    return copy;
}

void world_registry_destroy(world_registry_t *registry)
{
    if (registry == NULL) {
        return;
    }
    sim_free((void *)registry->apps.rows);
    sim_free((void *)registry->topologies.rows);
    sim_free((void *)registry->ccs.rows);
    sim_free((void *)registry->node_kinds.rows);
    SIM_FREE_ALL(registry->extras, registry->parts, registry->networks);
    world__plugins_fini(&registry->plugins);
    sim_free(registry);
}

// -- adding

static bool is_key(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const size_t size = strlen(name);
    return size > 0 && size < 48 && strspn(name, letters) == size && name[0] != '-';
}

// Fails because a row lacks operations without which nothing can use it.
static sim_err_t lacks(const char *what, const char *members, world_error_t *error)
{
    return world_fail(error, SIM_ERR_INVALID, NULL, "a row for %s lacks something, expected %s",
                      what, members);
}

// Checks that a table of attributes can be used: each row has its texts and its place in the
// struct, and its default can be read.
static sim_err_t check_attrs(const sim_attr_table_t *table, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    void *const config = sim_alloc(table->config_bytes + sizeof(sim_profiles_t));
    for (size_t i = 0; i < table->count && result == SIM_OK; i++) {
        const sim_attr_t *const attr = &table->attrs[i];
        sim_message_t message = {.text = ""};
        if (attr->path == NULL || attr->default_text == NULL || attr->help == NULL ||
            (attr->type == SIM_ATTR_ENUM && attr->choices == NULL)) {
            result = world_fail(error, SIM_ERR_INVALID, NULL,
                                "attribute %zu of '%s' lacks a text, expected a path, "
                                ".default_text, .help, and .choices for ENUM",
                                i, table->prefix);
        } else if (attr->offset >= table->config_bytes) {
            result = world_fail(error, SIM_ERR_INVALID, NULL,
                                "the attribute '%s' is not in its struct of %zu bytes, expected "
                                ".config_bytes to be the size of the struct",
                                attr->path, table->config_bytes);
        } else if (sim_attr_set(attr, config, attr->default_text, &message) != SIM_OK) {
            result = world_fail(error, SIM_ERR_INVALID, NULL, "the default of '%s' is refused: %s",
                                attr->path, message.text);
        } else if (attr->type == SIM_ATTR_STRING) {
            char **const text = (char **)(void *)((char *)config + attr->offset);
            sim_free(*text);
            *text = NULL;
        }
    }
    sim_free(config);
    return result;
}

// Checks the name and the attributes of a new row. group is "traffic", what "application".
static sim_err_t check_row(const char *name, const sim_attr_table_t *attrs, const char *group,
                           const char *what, world_error_t *error)
{
    world_shown_t shown;
    if (name == NULL || !is_key(name)) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "the name of the %s is '%s', expected small letters, digits and dashes",
                          what, name != NULL ? world_show(&shown, name) : "");
    }
    char *const prefix = sim_format("%s.%s", group, name);
    const bool fits =
        attrs == NULL || (attrs->prefix != NULL && strcmp(attrs->prefix, prefix) == 0);
    sim_err_t result = SIM_OK;
    if (!fits) {
        result = world_fail(error, SIM_ERR_INVALID, NULL,
                            "attributes of the %s %s begin with '%s', expected '%s'", what, name,
                            world_show(&shown, attrs->prefix != NULL ? attrs->prefix : ""), prefix);
    }
    for (size_t i = 0; result == SIM_OK && attrs != NULL && i < attrs->count; i++) {
        const char *const path = attrs->attrs[i].path != NULL ? attrs->attrs[i].path : "";
        if (strncmp(path, prefix, strlen(prefix)) != 0 || path[strlen(prefix)] != '.') {
            result = world_fail(error, SIM_ERR_INVALID, NULL,
                                "the attribute '%s' of the %s %s is not below '%s'",
                                world_show(&shown, path), what, name, prefix);
        }
    }
    sim_free(prefix);
    return result == SIM_OK && attrs != NULL ? check_attrs(attrs, error) : result;
}

static sim_err_t taken(const char *what, const char *name, world_error_t *error)
{
    return world_fail(error, SIM_ERR_EXISTS, NULL,
                      "there is a %s '%s' already, expected another name", what, name);
}

// Returns whether "nic.<name>" is taken: by an attribute, a group of them, or another row.
static bool nic_key_is_taken(const world_registry_t *registry, const char *name)
{
    char *const path = sim_format("nic.%s", name);
    bool found = false;
    for (size_t i = 0; i < nic_config_attrs.count; i++) {
        const char *const other = nic_config_attrs.attrs[i].path;
        const size_t size = strlen(path);
        found = found ||
                (strncmp(other, path, size) == 0 && (other[size] == '\0' || other[size] == '.'));
    }
    nic_config_t config; // with all rows so far, the library's included
    nic_config_init_with(&config, registry->extras, registry->extra_count);
    const sim_attr_table_t *table;
    void *part;
    for (size_t i = 0; nic_config_part_at(&config, i, &table, &part); i++) {
        found = found || strcmp(table->prefix, path) == 0;
    }
    nic_config_fini(&config);
    sim_free(path);
    return found;
}

// Returns the operations without which a part of a NIC cannot be used, if it lacks one.
static const char *lacking_nic_part(const nic_extra_t *extra)
{
    if (extra->kind == NIC_EXTRA_POLICY) {
        const nic_policy_ops_t *const ops = extra->ops;
        return ops->create == NULL || ops->destroy == NULL || ops->insert == NULL ||
                       ops->use == NULL || ops->victim == NULL || ops->remove == NULL
                   ? "create, destroy, insert, use, victim and remove"
                   : NULL;
    }
    if (extra->kind == NIC_EXTRA_STORE) {
        const nic_store_ops_t *const ops = extra->ops;
        return ops->create == NULL || ops->look_up == NULL ? "create and look_up" : NULL;
    }
    if (extra->kind == NIC_EXTRA_SCHEDULER) {
        const nic_scheduler_ops_t *const ops = extra->ops;
        return ops->loop == NULL && (ops->join == NULL || ops->leave == NULL || ops->next == NULL)
                   ? "join, leave and next, or a loop"
                   : NULL;
    }
    if (extra->kind == NIC_EXTRA_TRANSPORT) {
        const nic_transport_ops_t *const ops = extra->ops;
        return ops->next_packet == NULL || ops->acknowledged == NULL || ops->responded == NULL ||
                       ops->request == NULL || ops->timeout == NULL
                   ? "timeout, next_packet, acknowledged, responded and request"
                   : NULL;
    }
    return NULL;
}

sim_err_t world_registry_add_nic_part(world_registry_t *registry, const nic_extra_t *extra,
                                      world_error_t *error)
{
    if ((unsigned)extra->kind >= NIC_EXTRA_KIND_COUNT || extra->ops == NULL) {
        return lacks("a part of a NIC", "a kind and ops", error);
    }
    const char *const what = nic_extra_kind_text(extra->kind);
    const sim_err_t result = check_row(extra->name, extra->attrs, "nic", what, error);
    if (result != SIM_OK) {
        return result;
    }
    SIM_CHECK(extra->name != NULL);
    const char *const lacking = lacking_nic_part(extra);
    if (lacking != NULL) {
        return lacks(what, lacking, error);
    }
    for (const void *const *row = nic_extra_library(extra->kind); *row != NULL; row++) {
        if (strcmp(*(const char *const *)*row, extra->name) == 0) {
            return taken(what, extra->name, error);
        }
    }
    for (size_t i = 0; i < registry->extra_count; i++) {
        if (registry->extras[i].kind == extra->kind &&
            strcmp(registry->extras[i].name, extra->name) == 0) {
            return taken(what, extra->name, error);
        }
    }
    if (extra->attrs != NULL && nic_key_is_taken(registry, extra->name)) {
        return taken("key nic.", extra->name, error);
    }
    nic_extra_t row = *extra;
    if (registry->plugins.adding) {
        row.ops = world__plugins_watch_nic_part(&registry->plugins, extra);
    }
    SIM_APPEND(registry->extras, registry->extra_count, registry->extra_capacity, row);
    const nic_cc_ops_t *const cc = extra->kind == NIC_EXTRA_CC ? extra->ops : NULL;
    world__plugins_note_row(&registry->plugins, extra->name, cc != NULL && cc->fields != NULL);
    return SIM_OK;
}

sim_err_t world_registry_add_cc(world_registry_t *registry, const nic_cc_ops_t *ops,
                                world_error_t *error)
{
    if (ops->state_bytes < sizeof(nic_cc_t)) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "state_bytes of a congestion control is %zu, expected at least "
                          "sizeof(nic_cc_t), with which its state begins",
                          ops->state_bytes);
    }
    for (size_t i = 0; registry->ccs.rows[i] != NULL; i++) {
        const nic_cc_ops_t *const other = registry->ccs.rows[i];
        if (ops->name != NULL && strcmp(other->name, ops->name) == 0) {
            return taken("congestion control", ops->name, error);
        }
    }
    if (registry->plugins.adding) {
        ops = world__plugins_guard(&registry->plugins, ops);
    }
    const nic_extra_t extra = {NIC_EXTRA_CC, ops->name, ops->attrs, ops};
    const sim_err_t result = world_registry_add_nic_part(registry, &extra, error);
    if (result == SIM_OK) {
        list_add(&registry->ccs, ops);
    }
    return result;
}

sim_err_t world_registry_add_app(world_registry_t *registry, const app_ops_t *ops,
                                 world_error_t *error)
{
    if (ops->attrs == NULL || ops->create == NULL || ops->destroy == NULL ||
        ops->progress == NULL) {
        return lacks("an application", "attrs, create, destroy and progress", error);
    }
    const sim_err_t result = check_row(ops->name, ops->attrs, "traffic", "application", error);
    if (result == SIM_OK && world_registry_app(registry, ops->name) != NULL) {
        return taken("kind of traffic", ops->name, error);
    }
    if (result == SIM_OK) {
        list_add(&registry->apps, ops);
        world__plugins_note_row(&registry->plugins, ops->name, false);
    }
    return result;
}

sim_err_t world_registry_add_topology(world_registry_t *registry, const topo_ops_t *ops,
                                      world_error_t *error)
{
    if (ops->attrs == NULL || ops->build == NULL) {
        return lacks("a topology", "attrs and build", error);
    }
    const sim_err_t result = check_row(ops->name, ops->attrs, "topology", "topology", error);
    if (result == SIM_OK &&
        (world_registry_topology(registry, ops->name) != NULL || strcmp(ops->name, "graph") == 0)) {
        return taken("topology", ops->name, error);
    }
    if (result == SIM_OK) {
        list_add(&registry->topologies, ops);
        world__plugins_note_row(&registry->plugins, ops->name, true); // it has no state
    }
    return result;
}

sim_err_t world_registry_add_node_kind(world_registry_t *registry, const world_node_kind_t *kind,
                                       world_error_t *error)
{
    static const char *const others[] = {"host", "switch", "nic"}; // keys beside it
    if (kind->create == NULL) {
        return lacks("a kind of node", "create", error);
    }
    const sim_err_t result = check_row(kind->name, kind->attrs, "node", "kind of node", error);
    if (result != SIM_OK) {
        return result;
    }
    bool found = world_registry_node_kind(registry, kind->name) != NULL;
    for (size_t i = 0; i < SIM_COUNT_OF(others); i++) {
        found = found || strcmp(others[i], kind->name) == 0;
    }
    if (found) {
        return taken("kind of node", kind->name, error);
    }
    list_add(&registry->node_kinds, kind);
    world__plugins_note_row(&registry->plugins, kind->name, false);
    return SIM_OK;
}

// -- parts of the network

static const char *const network_kinds[WORLD_NETWORK_KIND_COUNT] = {
    [WORLD_NETWORK_BUFFER] = NET_BUFFER,   [WORLD_NETWORK_MARKING] = NET_MARKING,
    [WORLD_NETWORK_BALANCE] = NET_BALANCE, [WORLD_NETWORK_ROUTES] = NET_ROUTES,
    [WORLD_NETWORK_TIMING] = NET_TIMING,   [WORLD_NETWORK_FRAMING] = NET_FRAMING,
};

static bool network_key_is_taken(const world_registry_t *registry, const char *prefix)
{
    const size_t size = strlen(prefix);
    for (size_t i = 0; i < net_config_attrs.count; i++) {
        const char *const other = net_config_attrs.attrs[i].path;
        if (strncmp(other, prefix, size) == 0 && (other[size] == '\0' || other[size] == '.')) {
            return true;
        }
    }
    for (size_t i = 0; i < registry->part_count; i++) {
        const sim_attr_table_t *const attrs = registry->parts[i].attrs;
        if (attrs != NULL && strcmp(attrs->prefix, prefix) == 0) {
            return true;
        }
    }
    return false;
}

// Returns the operations without which a part of the network cannot be used, if it lacks one.
static const char *lacking_network_part(const world_network_part_t *part)
{
    const net_buffer_ops_t *const buffer = part->ops;
    const net_balance_ops_t *const balance = part->ops;
    const net_marking_ops_t *const marking = part->ops;
    if (part->kind == WORLD_NETWORK_BUFFER &&
        (buffer->built == NULL ||
         (buffer->loop == NULL &&
          (buffer->admit == NULL || buffer->release == NULL || buffer->dedicated == NULL)))) {
        return "built, and admit, release and dedicated or a loop";
    }
    if (part->kind == WORLD_NETWORK_BALANCE &&
        (balance->built == NULL || balance->choose == NULL || balance->path == NULL)) {
        return "built, choose and path";
    }
    if (part->kind == WORLD_NETWORK_ROUTES &&
        ((const net_routes_ops_t *)part->ops)->search == NULL) {
        return "search";
    }
    return part->kind == WORLD_NETWORK_MARKING && marking->built == NULL ? "built" : NULL;
}

sim_err_t world_registry_add_network_part(world_registry_t *registry,
                                          const world_network_part_t *part, world_error_t *error)
{
    if ((unsigned)part->kind >= WORLD_NETWORK_KIND_COUNT || part->ops == NULL) {
        return lacks("a part of the network", "a kind and ops", error);
    }
    const char *const what = network_kinds[part->kind];
    const sim_err_t result = check_row(part->name, part->attrs, "network", what, error);
    if (result != SIM_OK) {
        return result;
    }
    for (size_t i = 0; i < registry->part_count; i++) {
        if (registry->parts[i].kind == part->kind &&
            strcmp(registry->parts[i].name, part->name) == 0) {
            return taken(what, part->name, error);
        }
    }
    if (part->attrs != NULL && network_key_is_taken(registry, part->attrs->prefix)) {
        return taken("key", part->attrs->prefix, error);
    }
    const char *const lacking = lacking_network_part(part);
    if (lacking != NULL) {
        return lacks(what, lacking, error);
    }
    world_network_part_t row = *part;
    if (registry->plugins.adding) {
        row.ops = world__plugins_watch_network_part(&registry->plugins, part);
    }
    SIM_APPEND(registry->parts, registry->part_count, registry->part_capacity, row);
    world__plugins_note_row(&registry->plugins, part->name, false);
    return SIM_OK;
}

static void register_part(net_t *net, const world_network_part_t *part, const void *config)
{
    switch (part->kind) {
    case WORLD_NETWORK_BUFFER:
        net_register_buffer(net, part->ops);
        break;
    case WORLD_NETWORK_MARKING:
        net_register_marking(net, part->ops);
        break;
    case WORLD_NETWORK_BALANCE:
        net_register_balance(net, part->ops);
        break;
    case WORLD_NETWORK_ROUTES:
        net_register_routes(net, part->ops);
        break;
    case WORLD_NETWORK_TIMING:
        net_register_timing(net, part->ops);
        break;
    case WORLD_NETWORK_FRAMING:
        net_register_framing(net, part->ops);
        break;
    case WORLD_NETWORK_KIND_COUNT:
        return;
    }
    net_register_config(net, network_kinds[part->kind], part->name, config);
}

const world_network_part_t *world_registry_network_parts(const world_registry_t *registry,
                                                         size_t *count)
{
    *count = registry->part_count;
    return registry->parts;
}

void world_registry_add_network(world_registry_t *registry, world_network_fn fn, void *ctx)
{
    SIM_APPEND(registry->networks, registry->network_count, registry->network_capacity,
               (network_t){fn, ctx});
}

void world__registry_use(const world_registry_t *registry, const world_scenario_t *scenario,
                         net_t *net)
{
    const size_t count = scenario != NULL ? scenario->network_part_count : registry->part_count;
    for (size_t i = 0; i < count; i++) {
        const void *const config = scenario != NULL ? scenario->network_parts[i] : NULL;
        register_part(net, &registry->parts[i], config);
    }
    for (size_t i = 0; i < registry->network_count; i++) {
        registry->networks[i].fn(net, registry->networks[i].ctx);
    }
}

// -- looking

const app_ops_t *const *world_registry_apps(const world_registry_t *registry)
{
    return (const app_ops_t *const *)(const void *)registry->apps.rows;
}

const topo_ops_t *const *world_registry_topologies(const world_registry_t *registry)
{
    return (const topo_ops_t *const *)(const void *)registry->topologies.rows;
}

const nic_cc_ops_t *const *world_registry_ccs(const world_registry_t *registry)
{
    return (const nic_cc_ops_t *const *)(const void *)registry->ccs.rows;
}

const world_node_kind_t *const *world_registry_node_kinds(const world_registry_t *registry)
{
    static const world_node_kind_t *const none[] = {NULL};
    return registry->node_kinds.rows == NULL
               ? none
               : (const world_node_kind_t *const *)(const void *)registry->node_kinds.rows;
}

const world_node_kind_t *world_registry_node_kind(const world_registry_t *registry,
                                                  const char *name)
{
    const world_node_kind_t *const *kind = world_registry_node_kinds(registry);
    while (*kind != NULL && strcmp((*kind)->name, name) != 0) {
        kind++;
    }
    return *kind;
}

const nic_extra_t *world_registry_extras(const world_registry_t *registry, size_t *count)
{
    *count = registry->extra_count;
    return registry->extras;
}

const app_ops_t *world_registry_app(const world_registry_t *registry, const char *name)
{
    const app_ops_t *const *app = world_registry_apps(registry);
    while (*app != NULL && strcmp((*app)->name, name) != 0) {
        app++;
    }
    return *app;
}

const topo_ops_t *world_registry_topology(const world_registry_t *registry, const char *name)
{
    const topo_ops_t *const *topology = world_registry_topologies(registry);
    while (*topology != NULL && strcmp((*topology)->name, name) != 0) {
        topology++;
    }
    return *topology;
}
