// SPDX-License-Identifier: Apache-2.0
// world/construct/names.c - nodes, hosts, NICs and ports of a built network by the names people
// write.
#include "world/names.h"
#include "net/ports.h"
#include "world/construct/link_patterns.h"
#include "world/patterns.h"

#include <string.h>

#define STEMS_MAX 32u

// -- nodes

// Lists patterns that fit the nodes of a kind: "host*" for host0, host1... Returns how many there
// are, at most stems_max.
static size_t collect_stems(const net_t *net, int kind, char **stems, size_t stems_max)
{
    size_t count = 0;
    for (size_t i = 0; i < net_node_count(net) && count < stems_max; i++) {
        const char *const name = net_node_name(net, i);
        size_t size = strlen(name);
        while (size > 0 && name[size - 1] >= '0' && name[size - 1] <= '9') {
            size--;
        }
        if ((kind >= 0 && (int)net_kind_of(net, i) != kind) || size == strlen(name)) {
            continue;
        }
        size_t s = 0;
        while (s < count && (strncmp(stems[s], name, size) != 0 || strlen(stems[s]) != size + 1)) {
            s++;
        }
        if (s == count) {
            stems[count++] = sim_format("%.*s*", (int)size, name);
        }
    }
    return count;
}

void world_add_nearest_node(world_error_t *error, const net_t *net, const char *pattern, int kind)
{
    char *stems[STEMS_MAX];
    const size_t stem_count = collect_stems(net, kind, stems, STEMS_MAX);
    const size_t count = net_node_count(net);
    const char **const names = sim_alloc_array(count + stem_count + 1, sizeof(*names));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (kind < 0 || (int)net_kind_of(net, i) == kind) {
            names[used++] = net_node_name(net, i);
        }
    }
    const size_t node_count = used;
    // A bracket means any number, as far as spelling goes.
    char *const spelling = sim_strdup(pattern);
    char *const bracket = strchr(spelling, '[');
    if (bracket != NULL) {
        memcpy(bracket, "*", 2);
    }
    if (!world_pattern_is_literal(pattern)) {
        memcpy(names + used, stems, stem_count * sizeof(*names));
        used += stem_count;
    }
    if (!world_error_add_nearest(error, spelling, names, used) && node_count > 0) {
        world_error_add(error, ", expected a name such as %s", names[0]);
        if (node_count > 1) {
            world_error_add(error, " or %s", names[node_count - 1]);
        }
    }
    sim_free_each(stems, stem_count);
    sim_free(spelling);
    sim_free(names);
}

// -- NICs and their ports

const char *world_interface_name(const world_t *world, uint32_t interface)
{
    return world->nics[net_interface_of_nic(world->net, interface)].name;
}

void world__name_nics(world_t *world)
{
    world->nic_count = 0;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        world->nic_count +=
            net_kind_of(world->net, i) == NET_NODE_HOST ? nic_count_at(world->net, i) : 0;
    }
    world->nics = sim_alloc_array(world->nic_count + 1, sizeof(*world->nics));
    uint32_t interface = 0; // NICs have the first numbers, in the order of hosts
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        if (net_kind_of(world->net, i) != NET_NODE_HOST) {
            continue;
        }
        const uint32_t count = nic_count_at(world->net, i);
        const char *const host = net_node_name(world->net, i);
        for (uint32_t n = 0; n < count; n++) {
            const char *const name = count == 1 ? host : sim_format("%s/nic%u", host, n);
            SIM_CHECK(net_interface_node_number(world->net, interface) == i);
            world->nics[interface++] = (world_nic_t){name, (uint32_t)i, n};
        }
    }
}

// Returns the name of the NIC that a port belongs to; NULL if it is not a host's.
static const char *nic_name(const world_t *world, const net_port_t *port)
{
    const uint32_t interface = net_port_interface(port);
    return interface < net_interface_count(world->net) ? world_interface_name(world, interface)
                                                       : NULL;
}

// Returns whether the pair means the port, by the names of the nodes or of the NICs at either end:
// host2/nic0->*, leaf0->host2/nic0.
static bool is_meant(const world_t *world, const world_pair_t *pair, const net_port_t *port)
{
    const char *const node = port->node->sim.name;
    const char *const name = net_port_name(port);
    const char *const from = nic_name(world, port);
    const char *const to = nic_name(world, net_port_peer(port));
    bool meant =
        world_port_match(pair, node, name) || (from != NULL && world_port_match(pair, from, name));
    for (; to != NULL && pair != NULL && !meant; pair = pair->more) {
        meant = world_pattern_match(pair->right, to) &&
                (world_pattern_match(pair->left, node) ||
                 (from != NULL && world_pattern_match(pair->left, from)));
    }
    return meant;
}

sim_err_t world_find_ports(const world_t *world, const world_pair_t *pair, const char *pattern,
                           const world_place_t *place, net_port_t ***ports, size_t *count,
                           world_error_t *error)
{
    net_port_t **found = NULL;
    size_t found_count = 0;
    size_t capacity = 0;
    bool left_found = false;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        left_found = left_found || world_pattern_match(pair->left, node->sim.name);
        for (uint32_t p = 0; p < node->port_count; p++) {
            const char *const nic = nic_name(world, net_port_at(node, p));
            left_found = left_found || (nic != NULL && world_pattern_match(pair->left, nic));
            if (is_meant(world, pair, net_port_at(node, p))) {
                SIM_APPEND(found, found_count, capacity, net_port_at(node, p));
            }
        }
    }
    *ports = found;
    *count = found_count;
    if (found_count > 0) {
        return SIM_OK;
    }
    world_shown_t shown;
    world_fail(error, SIM_ERR_UNKNOWN, place, "'%s' matches no port", world_show(&shown, pattern));
    if (!left_found) {
        world_error_add(error, ": no node '%s'", world_show(&shown, pair->left));
        world_add_nearest_node(error, world->net, pair->left, -1);
        return SIM_ERR_UNKNOWN;
    }
    bool right_found = false;
    for (size_t i = 0; i < net_node_count(world->net) && !right_found; i++) {
        right_found = world_pattern_match(pair->right, net_node_name(world->net, i));
    }
    if (right_found) {
        world_error_add(error, ": there is no link between them, expected neighbours");
    } else {
        world_error_add(error, ": no node '%s'", world_show(&shown, pair->right));
        world_add_nearest_node(error, world->net, pair->right, -1);
    }
    return SIM_ERR_UNKNOWN;
}

// -- hosts, for applications

static void add_interfaces(const world_t *world, const char *pattern, bool *chosen)
{
    for (size_t i = 0; i < world->nic_count; i++) {
        const world_nic_t *const nic = &world->nics[i];
        if (world_pattern_match(pattern, net_node_name(world->net, nic->host)) ||
            world_pattern_match(pattern, nic->name)) {
            chosen[i] = true;
        }
    }
}

static sim_err_t no_such_host(const world_t *world, const char *pattern, sim_message_t *message)
{
    world_error_t error;
    world_shown_t shown;
    world_fail(&error, SIM_ERR_UNKNOWN, NULL, "'%s' matches no host", world_show(&shown, pattern));
    world_add_nearest_node(&error, world->net, pattern, NET_NODE_HOST);
    return sim_fail(message, SIM_ERR_UNKNOWN, "%.500s", error.text);
}

sim_err_t world__find_hosts(const char *pattern, app_hosts_t *hosts, sim_message_t *message,
                            void *ctx)
{
    const world_t *const world = ctx;
    world_pattern_list_t list;
    sim_err_t result = world_pattern_list_parse(pattern, &list, message);
    if (result != SIM_OK) {
        return result;
    }
    bool *const chosen = sim_alloc_array(world->nic_count + 1, sizeof(bool));
    size_t before = 0;
    for (size_t i = 0; i < list.count && result == SIM_OK; i++) {
        size_t count = 0;
        add_interfaces(world, list.patterns[i], chosen);
        for (size_t n = 0; n < world->nic_count; n++) {
            count += chosen[n];
        }
        if (count == before) {
            // The pattern may have named only hosts that earlier patterns name, too.
            bool *const alone = sim_alloc_array(world->nic_count + 1, sizeof(bool));
            add_interfaces(world, list.patterns[i], alone);
            if (memchr(alone, 1, world->nic_count) == NULL) {
                result = no_such_host(world, list.patterns[i], message);
            }
            sim_free(alone);
        }
        before = count;
    }
    world_pattern_list_fini(&list);
    if (result == SIM_OK) {
        hosts->count = 0;
        hosts->interfaces = sim_alloc_array(before + 1, sizeof(*hosts->interfaces));
        for (size_t n = 0; n < world->nic_count; n++) {
            if (chosen[n]) {
                hosts->interfaces[hosts->count++] = (uint32_t)n;
            }
        }
    }
    sim_free(chosen);
    return result;
}
