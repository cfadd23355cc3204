// SPDX-License-Identifier: Apache-2.0
// net/models.c - the registry of a network's models (net/models.h), its extensions and rules.
#include <stdio.h>
#include <string.h>

#include "net/models_internal.h"
#include "net/network_internal.h"

#define NAMES_MAX 64u

// -- rows

static net_row_t *find_row(const net_t *net, const char *kind, const char *name)
{
    for (size_t i = 0; i < net->row_count; i++) {
        if (strcmp(net->rows[i].kind, kind) == 0 && strcmp(net->rows[i].name, name) == 0) {
            return &net->rows[i];
        }
    }
    return NULL;
}

static void add_row(net_t *net, const char *kind, const char *name, const void *table)
{
    SIM_CHECK(!net->built);
    SIM_CHECKF(strlen(name) <= SIM_NAME_MAX, "%s \"%s\": a long name", kind, name);
    net_row_t *row = find_row(net, kind, name);
    if (row == NULL) {
        SIM_GROW(net->rows, net->row_count, &net->row_capacity);
        row = &net->rows[net->row_count++];
    }
    *row = (net_row_t){kind, name, table, NULL};
}

const void *net_registered(const net_t *net, const char *kind, const char *name)
{
    const net_row_t *const row = find_row(net, kind, name);
    return row == NULL ? NULL : row->table;
}

const char *net_registered_name(const net_t *net, const char *kind, size_t index)
{
    for (size_t i = 0; i < net->row_count; i++) {
        if (strcmp(net->rows[i].kind, kind) == 0 && index-- == 0) {
            return net->rows[i].name;
        }
    }
    return NULL;
}

void net_register_config(net_t *net, const char *kind, const char *name, const void *config)
{
    net_row_t *const row = find_row(net, kind, name);
    SIM_CHECKF(row != NULL, "no %s \"%s\"", kind, name);
    row->config = config;
}

const void *net_registered_config(const net_t *net, const char *kind, const char *name)
{
    const net_row_t *const row = find_row(net, kind, name);
    return row == NULL ? NULL : row->config;
}

sim_err_t net_registered_check(const net_t *net, const char *attribute, const char *kind,
                               const char *name, sim_message_t *message)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    char list[256] = "";
    if (net_registered(net, kind, name) != NULL) {
        return SIM_OK;
    }
    while (count < NAMES_MAX && (names[count] = net_registered_name(net, kind, count)) != NULL) {
        const size_t length = strlen(list);
        const char *const comma = count == 0 ? "" : ", ";
        (void)snprintf(list + length, sizeof(list) - length, "%s%s", comma, names[count++]);
    }
    const char *const nearest = sim_nearest_name(name, names, count);
    return nearest != NULL
               ? sim_fail_about(message, SIM_ERR_UNKNOWN, attribute,
                                ": no %s \"%s\", did you mean \"%s\"?", kind, name, nearest)
               : sim_fail_about(message, SIM_ERR_UNKNOWN, attribute,
                                ": no %s \"%s\", expected one of %s", kind, name, list);
}

void net_register_buffer(net_t *net, const net_buffer_ops_t *ops)
{
    SIM_CHECK(ops->built != NULL);
    SIM_CHECK(ops->loop != NULL || (ops->admit != NULL && ops->release != NULL));
    add_row(net, NET_BUFFER, ops->name, ops);
}

void net_register_marking(net_t *net, const net_marking_ops_t *ops)
{
    SIM_CHECK(ops->built != NULL);
    add_row(net, NET_MARKING, ops->name, ops);
}

void net_register_balance(net_t *net, const net_balance_ops_t *ops)
{
    SIM_CHECK(ops->built != NULL && ops->choose != NULL && ops->path != NULL);
    add_row(net, NET_BALANCE, ops->name, ops);
}

void net_register_routes(net_t *net, const net_routes_ops_t *ops)
{
    SIM_CHECK(ops->search != NULL);
    add_row(net, NET_ROUTES, ops->name, ops);
}

void net_register_timing(net_t *net, const net_timing_ops_t *ops)
{
    add_row(net, NET_TIMING, ops->name, ops);
}

void net_register_framing(net_t *net, const net_framing_t *framing)
{
    SIM_CHECK(framing->gap_bytes <= framing->overhead_bytes && framing->pause_bytes > 0);
    add_row(net, NET_FRAMING, framing->name, framing);
}

// -- extensions

void net_extend(net_t *net, const net_extension_t *extension)
{
    SIM_CHECK(!net->built);
    SIM_CHECKF(net_extension_state(net, extension->name) == NULL, "%s again", extension->name);
    SIM_APPEND(net->extensions, net->extension_count, net->extension_capacity, *extension);
}

void *net_extension_state(const net_t *net, const char *name)
{
    for (size_t i = 0; i < net->extension_count; i++) {
        if (strcmp(net->extensions[i].name, name) == 0) {
            return net->extensions[i].state;
        }
    }
    return NULL;
}

void net__extensions_before_build(net_t *net)
{
    for (size_t i = 0; i < net->extension_count; i++) {
        if (net->extensions[i].before_build != NULL) {
            net->extensions[i].before_build(net, net->extensions[i].state);
        }
    }
}

void net__extensions_with_ports(net_t *net)
{
    for (size_t i = 0; i < net->extension_count; i++) {
        if (net->extensions[i].with_ports != NULL) {
            net->extensions[i].with_ports(net, net->extensions[i].state);
        }
    }
}

void net__registry_free(net_t *net)
{
    for (size_t i = 0; i < net->extension_count; i++) {
        if (net->extensions[i].destroy != NULL) {
            net->extensions[i].destroy(net->extensions[i].state);
        }
    }
    sim_free(net->extensions);
    sim_free(net->rows);
}

// -- rules

void net_set_link_rules(net_t *net, const net_link_rules_t *rules)
{
    SIM_CHECK(!net->built);
    net->link_rules = *rules;
}

void net_set_pint(net_t *net, const net_pint_ops_t *ops)
{
    SIM_CHECK(!net->built);
    net->pint_ops = *ops;
}

void net_set_dice(net_t *net, const net_dice_t *dice)
{
    SIM_CHECK(!net->built);
    net->dice = *dice;
}

const net_dice_t *net_dice_of(const net_t *net)
{
    return net->dice.roll == NULL ? NULL : &net->dice;
}
