// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/grid.c - switches at the points of a grid: "torus" and "hyperx".
//
// Switch (x, y, z) has number (z Y + y) X + x. In a torus each dimension is a ring; in a HyperX
// (Ahn et al., SC 2009) each switch is linked to all others that differ in one coordinate. A switch
// has its hosts first, then its neighbours by dimension, in the order in which links are added.
#include "topologies/builder_internal.h"

#define PATH_LINKS_MAX 64u // entries of net_path_t.ports

// clang-format off
#define SHARED_ATTRS(PREFIX, X, Y, Z)                                                             \
    SIM_ATTR_ROW(topo_grid_config_t, COUNT, PREFIX ".x", x, X, "1", "65535", "number of switches in the first dimension"), \
    SIM_ATTR_ROW(topo_grid_config_t, COUNT, PREFIX ".y", y, Y, "1", "65535", "number of switches in the second dimension; 1: the dimension does not exist"), \
    SIM_ATTR_ROW(topo_grid_config_t, COUNT, PREFIX ".z", z, Z, "1", "65535", "number of switches in the third dimension; 1: the dimension does not exist"), \
    SIM_ATTR_ROW(topo_grid_config_t, COUNT, PREFIX ".hosts-per-switch", hosts_per_switch, "1", "1", "65535", "number of hosts on each switch"), \
    SIM_ATTR_ROW(topo_grid_config_t, COUNT, PREFIX ".links", links, "1", "1", "1024", "number of parallel links between two neighbours"), \
    SIM_ATTR_ROW(topo_grid_config_t, RATE, PREFIX ".host-rate", host_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the hosts' links"), \
    SIM_ATTR_ROW(topo_grid_config_t, RATE, PREFIX ".fabric-rate", fabric_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the links between switches"), \
    SIM_ATTR_ROW(topo_grid_config_t, TIME, PREFIX ".delay", delay_ps, "500ns", "1ps", "1s", "one-way delay of every link")
// clang-format on

static const sim_attr_t torus_attrs[] = {SHARED_ATTRS("topology.torus", "4", "4", "1")};
static const sim_attr_t hyperx_attrs[] = {SHARED_ATTRS("topology.hyperx", "4", "4", "1")};
static const sim_attr_table_t torus_table =
    SIM_ATTR_TABLE("topology.torus", "simulation", topo_grid_config_t, torus_attrs);
static const sim_attr_table_t hyperx_table =
    SIM_ATTR_TABLE("topology.hyperx", "simulation", topo_grid_config_t, hyperx_attrs);

// Returns the pairs of neighbours in a row of n switches.
static uint64_t pairs_in(uint64_t n, bool full)
{
    return full ? n * (n - 1) / 2 : n <= 2 ? n - 1 : n;
}

static void size_of(const topo_grid_config_t *grid, bool full, topo_size_t *size)
{
    const uint64_t switches = grid->x * grid->y * grid->z;
    const uint64_t pairs = grid->y * grid->z * pairs_in(grid->x, full) +
                           grid->x * grid->z * pairs_in(grid->y, full) +
                           grid->x * grid->y * pairs_in(grid->z, full);
    const uint64_t hosts = switches * grid->hosts_per_switch;
    *size =
        (topo_size_t){.hosts = hosts, .switches = switches, .links = hosts + pairs * grid->links};
}

// Returns the neighbours of a switch in a row of n.
static uint64_t degree_in(uint64_t n, bool full)
{
    return full || n <= 3 ? n - 1 : 2;
}

// Checks that paths of a torus have as few links as a path may have (net_path_t).
static sim_err_t check_length(const topo_grid_config_t *grid, sim_message_t *message)
{
    const uint64_t links = grid->x / 2 + grid->y / 2 + grid->z / 2 + 2;
    const char *const longest = grid->y > grid->x && grid->y >= grid->z ? "y"
                                : grid->z > grid->x                     ? "z"
                                                                        : "x";
    if (links <= PATH_LINKS_MAX) {
        return SIM_OK;
    }
    return sim_fail_about(message, SIM_ERR_RANGE, longest,
                          ": the longest path between two hosts would have %" PRIu64
                          " links, expected at most %u",
                          links, PATH_LINKS_MAX);
}

static sim_err_t check(const topo_grid_config_t *grid, bool full, sim_message_t *message)
{
    if (!full) {
        const sim_err_t error = check_length(grid, message);
        if (error != SIM_OK) {
            return error;
        }
    }
    const uint64_t degree =
        degree_in(grid->x, full) + degree_in(grid->y, full) + degree_in(grid->z, full);
    const sim_err_t error =
        topo__check_ports("hosts-per-switch", grid->hosts_per_switch,
                          grid->hosts_per_switch + degree * grid->links, message);
    return error != SIM_OK
               ? error
               : topo__check_interfaces(
                     "x", grid->x, grid->x * grid->y * grid->z * grid->hosts_per_switch, message);
}

// Links a row of n switches, `stride` numbers apart from the first on.
static void link_row(const topo_plan_t *plan, net_node_t **first, uint64_t n, uint64_t stride,
                     bool full, const topo__cable_t *cable)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t end = full || i + 2 > n ? n : i + 2;
        for (uint64_t j = i + 1; j < end; j++) {
            topo__connect(plan, first[i * stride], first[j * stride], cable);
        }
    }
    if (!full && n > 2) {
        topo__connect(plan, first[(n - 1) * stride], first[0], cable);
    }
}

static void link_all(const topo_plan_t *plan, const topo_grid_config_t *grid, bool full,
                     net_node_t **switches)
{
    const topo__cable_t cable = topo__cable(grid->fabric_rate_bps, grid->delay_ps, grid->links);
    const uint64_t area = grid->x * grid->y;
    for (uint64_t row = 0; row < grid->y * grid->z; row++) {
        link_row(plan, &switches[row * grid->x], grid->x, 1, full, &cable);
    }
    for (uint64_t z = 0; z < grid->z; z++) {
        for (uint64_t x = 0; x < grid->x; x++) {
            link_row(plan, &switches[z * area + x], grid->y, grid->x, full, &cable);
        }
    }
    for (uint64_t i = 0; i < area; i++) {
        link_row(plan, &switches[i], grid->z, area, full, &cable);
    }
}

static sim_err_t build(const topo_plan_t *plan, const topo_grid_config_t *grid, bool full,
                       sim_message_t *message)
{
    const sim_err_t error = check(grid, full, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const uint64_t count = grid->x * grid->y * grid->z;
    const topo__cable_t host_cable = topo__cable(grid->host_rate_bps, grid->delay_ps, 1);
    net_node_t **const switches = sim_alloc_array(count, sizeof(net_node_t *));
    for (uint64_t i = 0; i < count; i++) {
        switches[i] = topo__switch(plan, "switch", i);
        topo__hosts(plan, switches[i], i * grid->hosts_per_switch, grid->hosts_per_switch,
                    &host_cable);
    }
    link_all(plan, grid, full, switches);
    sim_free(switches);
    topo_size_t size;
    size_of(grid, full, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

static sim_err_t torus_check(const void *config, sim_message_t *message)
{
    return check(config, false, message);
}

static sim_err_t torus_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    return build(plan, config, false, message);
}

static void torus_size(const void *config, topo_size_t *size)
{
    size_of(config, false, size);
}

static sim_err_t hyperx_check(const void *config, sim_message_t *message)
{
    return check(config, true, message);
}

static sim_err_t hyperx_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    return build(plan, config, true, message);
}

static void hyperx_size(const void *config, topo_size_t *size)
{
    size_of(config, true, size);
}

const topo_ops_t topo_torus = {"torus",      "a grid of switches whose rows are rings",
                               &torus_table, torus_check,
                               torus_build,  torus_size};

const topo_ops_t topo_hyperx = {
    "hyperx",      "a grid of switches, each linked to all others of its rows",
    &hyperx_table, hyperx_check,
    hyperx_build,  hyperx_size};
