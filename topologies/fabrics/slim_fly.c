// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/slim_fly.c - 2 q^2 switches of diameter 2.
//
// The graphs of McKay, Miller and Siran, as in Besta and Hoefler, "Slim Fly" (SC 2014), for an odd
// prime q = 4 w + d, d = 1 or -1. Switch (0, x, y) has number x q + y, switch (1, m, c) number
// q^2 + m q + c. (0, x, y) and (0, x, y') are linked if y - y' is in X, (1, m, c) and (1, m, c') if
// c - c' is in X', and (0, x, y) and (1, m, c) if y = m x + c, all modulo q.
#include "topologies/builder_internal.h"

#define PREFIX "topology.slim-fly"
#define Q_MAX 251u

// clang-format off
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".q", COUNT, topo_slim_fly_config_t, q,
             .default_text = "5", .min_text = "3", .max_text = "251",
             .help = "an odd prime; there are 2 q^2 switches"),
    SIM_ATTR(PREFIX ".hosts-per-switch", COUNT, topo_slim_fly_config_t, hosts_per_switch,
             .default_text = "2", .min_text = "1", .max_text = "65535",
             .help = "hosts on each switch"),
    SIM_ATTR(PREFIX ".host-rate", RATE, topo_slim_fly_config_t, host_rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of the hosts' links"),
    SIM_ATTR(PREFIX ".fabric-rate", RATE, topo_slim_fly_config_t, fabric_rate_bps,
             .default_text = "100Gbps", .min_text = "1bps", .max_text = "100Tbps",
             .help = "rate of the links between switches"),
    SIM_ATTR(PREFIX ".delay", TIME, topo_slim_fly_config_t, delay_ps,
             .default_text = "500ns", .min_text = "1ps", .max_text = "1s",
             .help = "one-way delay of every link"),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX,
                                            "simulation",
                                            sizeof(topo_slim_fly_config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

static bool is_prime(uint64_t q)
{
    for (uint64_t d = 2; d * d <= q; d++) {
        if (q % d == 0) {
            return false;
        }
    }
    return q >= 2;
}

// Returns the links of a switch to others: (3 q - d) / 2.
static uint64_t degree_of(uint64_t q)
{
    return q % 4 == 1 ? (3 * q - 1) / 2 : (3 * q + 1) / 2;
}

static sim_err_t slim_fly_check(const void *config, sim_message_t *message)
{
    const topo_slim_fly_config_t *const fly = config;
    if (fly->q < 3 || fly->q > Q_MAX || !is_prime(fly->q)) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "q",
                              " is %" PRIu64 ": expected a prime from 3 to %u",
                              fly->q,
                              Q_MAX);
    }
    const sim_err_t error = topo__check_ports("hosts-per-switch",
                                              fly->hosts_per_switch,
                                              fly->hosts_per_switch + degree_of(fly->q),
                                              message);
    return error != SIM_OK ? error
                           : topo__check_interfaces("q",
                                                    fly->q,
                                                    2 * fly->q * fly->q * fly->hosts_per_switch,
                                                    message);
}

static void slim_fly_size(const void *config, topo_size_t *size)
{
    const topo_slim_fly_config_t *const fly = config;
    const uint64_t switches = 2 * fly->q * fly->q;
    const uint64_t hosts = switches * fly->hosts_per_switch;
    *size = (topo_size_t){.hosts = hosts,
                          .switches = switches,
                          .links = hosts + switches * degree_of(fly->q) / 2};
}

// Returns the smallest number whose powers are all numbers from 1 to q - 1 modulo q.
static uint64_t primitive_root(uint64_t q)
{
    for (uint64_t root = 2;; root++) {
        uint64_t power = root;
        uint64_t order = 1;
        while (power != 1) {
            power = power * root % q;
            order++;
        }
        if (order == q - 1) {
            return root;
        }
    }
}

// Marks the differences at which switches of one row are linked, X in sets[0] and X' in sets[1].
static void make_sets(uint64_t q, bool sets[2][Q_MAX + 1])
{
    const uint64_t root = primitive_root(q);
    const uint64_t half = (q - 1) / 2; // root^half is -1
    uint64_t power = 1;
    for (uint64_t i = 0; i < q; i++) {
        const bool even = i % 2 == 0;
        if (q % 4 == 1) {
            sets[even ? 0 : 1][power] = true; // -1 is an even power: each set has its negatives
        } else {
            // -1 is an odd power. Past it each set goes on with powers of the other parity.
            sets[0][power] |= i < q - 1 && even == (i < half);
            sets[1][power] |= even == (i > half);
        }
        power = power * root % q;
    }
}

static void link_switches(const topo_plan_t *plan,
                          const topo_slim_fly_config_t *fly,
                          net_node_t **switches)
{
    bool sets[2][Q_MAX + 1] = {{false}};
    const uint64_t q = fly->q;
    const topo__cable_t cable = topo__cable(fly->fabric_rate_bps, fly->delay_ps, 1);
    make_sets(q, sets);
    for (uint64_t row = 0; row < 2 * q; row++) {
        for (uint64_t y = 0; y < q; y++) {
            for (uint64_t other = y + 1; other < q; other++) {
                if (sets[row / q][other - y]) {
                    topo__connect(plan, switches[row * q + y], switches[row * q + other], &cable);
                }
            }
        }
    }
    for (uint64_t x = 0; x < q; x++) {
        for (uint64_t m = 0; m < q; m++) {
            for (uint64_t c = 0; c < q; c++) {
                topo__connect(plan,
                              switches[x * q + (m * x + c) % q],
                              switches[q * q + m * q + c],
                              &cable);
            }
        }
    }
}

static sim_err_t slim_fly_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    const topo_slim_fly_config_t *const fly = config;
    const sim_err_t error = slim_fly_check(fly, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const uint64_t count = 2 * fly->q * fly->q;
    const topo__cable_t host_cable = topo__cable(fly->host_rate_bps, fly->delay_ps, 1);
    net_node_t **const switches = sim_alloc_array(count, sizeof(net_node_t *));
    for (uint64_t i = 0; i < count; i++) {
        switches[i] = topo__switch(plan, "switch", i);
        topo__hosts(plan,
                    switches[i],
                    i * fly->hosts_per_switch,
                    fly->hosts_per_switch,
                    &host_cable);
    }
    link_switches(plan, fly, switches);
    sim_free(switches);
    topo_size_t size;
    slim_fly_size(config, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

const topo_ops_t topo_slim_fly = {"slim-fly",
                                  "2 q^2 switches, each at most two links from every other",
                                  &attr_table,
                                  slim_fly_check,
                                  slim_fly_build,
                                  slim_fly_size};
