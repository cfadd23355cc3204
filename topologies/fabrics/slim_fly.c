// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/slim_fly.c - 2 q^2 switches of diameter 2.
//
// The graphs of McKay, Miller and Siran, as in Besta and Hoefler, "Slim Fly" (SC 2014), for a power
// of a prime q = 4 w + d, d = 1, 0 or -1. Switch (0, x, y) has number x q + y, switch (1, m, c)
// q^2 + m q + c. (0, x, y) and (0, x, y') are linked if y - y' is in X, (1, m, c) and (1, m, c') if
// c - c' is in X', and (0, x, y) and (1, m, c) if y = m x + c, all in the field of q elements.
#include "topologies/builder_internal.h"

#define PREFIX "topology.slim-fly"
#define Q_MAX 251u

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_slim_fly_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(COUNT, "q", q, "5", "3", "251", "number q, a prime or a power of one, from 3; there are 2 q^2 switches"),
    ATTR(COUNT, "hosts-per-switch", hosts_per_switch, "2", "1", "65535", "number of hosts on each switch"),
    ATTR(RATE, "host-rate", host_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the hosts' links"),
    ATTR(RATE, "fabric-rate", fabric_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of the links between switches"),
    ATTR(TIME, "delay", delay_ps, "500ns", "1ps", "1s", "one-way delay of every link"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_slim_fly_config_t, attrs);

// Returns the prime that q is a power of; 0: there is none.
static uint32_t prime_of(uint64_t q)
{
    for (uint32_t p = 2; p <= q; p++) {
        if (q % p == 0) {
            while (q % p == 0) {
                q /= p;
            }
            return q == 1 ? p : 0;
        }
    }
    return 0;
}

// Returns the links of a switch to others: (3 q - d) / 2.
static uint64_t degree_of(uint64_t q)
{
    return q % 4 == 1 ? (3 * q - 1) / 2 : q % 4 == 0 ? 3 * q / 2 : (3 * q + 1) / 2;
}

static sim_err_t slim_fly_check(const void *config, sim_message_t *message)
{
    const topo_slim_fly_config_t *const fly = config;
    if (fly->q < 3 || fly->q > Q_MAX || prime_of(fly->q) == 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "q",
                              " is %" PRIu64 ": expected a prime or a power of one from 3 to %u",
                              fly->q, Q_MAX);
    }
    const sim_err_t error = topo__check_ports("hosts-per-switch", fly->hosts_per_switch,
                                              fly->hosts_per_switch + degree_of(fly->q), message);
    return error != SIM_OK ? error
                           : topo__check_interfaces(
                                 "q", fly->q, 2 * fly->q * fly->q * fly->hosts_per_switch, message);
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

// -- the field of q = p^k elements: numbers whose digits to the base p are a polynomial's

typedef struct field {
    uint32_t q;
    uint32_t p;
    uint32_t powers[Q_MAX];    // of an element whose powers are all but 0
    uint32_t logs[Q_MAX + 1u]; // logs[x] is the exponent of element x
} field_t;

// Returns a - factor x b, digit by digit.
static uint32_t minus(const field_t *field, uint32_t a, uint32_t b, uint32_t factor)
{
    uint32_t result = 0;
    for (uint32_t place = 1; place < field->q; place *= field->p) {
        const uint32_t x = a / place % field->p;
        const uint32_t y = factor * (b / place % field->p) % field->p;
        result += (x + field->p - y) % field->p * place;
    }
    return result;
}

static uint32_t plus(const field_t *field, uint32_t a, uint32_t b)
{
    return minus(field, a, b, field->p - 1);
}

static uint32_t times(const field_t *field, uint32_t a, uint32_t b)
{
    return a == 0 || b == 0 ? 0 : field->powers[(field->logs[a] + field->logs[b]) % (field->q - 1)];
}

// Returns an element times the root: the number `root` where q is a prime, else the polynomial x,
// modulo x^k + the polynomial `root`.
static uint32_t times_root(const field_t *field, uint32_t element, uint32_t root)
{
    if (field->p == field->q) {
        return element * root % field->q;
    }
    const uint32_t top = field->q / field->p;
    return minus(field, element % top * field->p, root, element / top);
}

// Finds the first root whose powers are all elements but 0, and notes them.
static field_t field_of(uint64_t q)
{
    field_t field = {.q = (uint32_t)q, .p = prime_of(q)};
    uint32_t count = 0;
    SIM_CHECK(field.p >= 2);
    for (uint32_t root = 1; count != field.q - 1; root++) {
        SIM_CHECK(root < field.q);
        uint32_t power = 1;
        count = 0;
        do {
            field.powers[count] = power;
            field.logs[power] = count;
            power = times_root(&field, power, root);
            count++;
        } while (power > 1 && count < field.q - 1);
        count = power == 1 ? count : 0;
    }
    return field;
}

// Marks the differences at which switches of one row are linked, X in sets[0] and X' in sets[1].
static void make_sets(const field_t *field, bool sets[2][Q_MAX + 1])
{
    const uint64_t q = field->q;
    const uint64_t half = (q - 1) / 2; // root^half is -1 where q is odd
    for (uint64_t i = 0; i < q; i++) {
        const uint32_t power = field->powers[i % (q - 1)];
        const bool even = i % 2 == 0;
        if (q % 4 != 3) {
            // Each set has its negatives: -1 is an even power, or 1.
            sets[even ? 0 : 1][power] |= q % 4 == 0 || i < q - 1;
        } else {
            // -1 is an odd power. Past it each set goes on with powers of the other parity.
            sets[0][power] |= i < q - 1 && even == (i < half);
            sets[1][power] |= even == (i > half);
        }
    }
}

static void link_switches(const topo_plan_t *plan, const topo_slim_fly_config_t *fly,
                          net_node_t **switches)
{
    bool sets[2][Q_MAX + 1] = {{false}};
    const uint64_t q = fly->q;
    const topo__cable_t cable = topo__cable(fly->fabric_rate_bps, fly->delay_ps, 1);
    const field_t field = field_of(q);
    make_sets(&field, sets);
    for (uint64_t row = 0; row < 2 * q; row++) {
        for (uint64_t y = 0; y < q; y++) {
            for (uint64_t other = y + 1; other < q; other++) {
                if (sets[row / q][minus(&field, (uint32_t)other, (uint32_t)y, 1)]) {
                    topo__connect(plan, switches[row * q + y], switches[row * q + other], &cable);
                }
            }
        }
    }
    for (uint64_t x = 0; x < q; x++) {
        for (uint64_t m = 0; m < q; m++) {
            for (uint64_t c = 0; c < q; c++) {
                const uint32_t product = times(&field, (uint32_t)m, (uint32_t)x);
                topo__connect(plan, switches[x * q + plus(&field, product, (uint32_t)c)],
                              switches[q * q + m * q + c], &cable);
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
        topo__hosts(plan, switches[i], i * fly->hosts_per_switch, fly->hosts_per_switch,
                    &host_cable);
    }
    link_switches(plan, fly, switches);
    sim_free(switches);
    topo_size_t size;
    slim_fly_size(config, &size);
    topo__check_added(plan, start, &size);
    return SIM_OK;
}

const topo_ops_t topo_slim_fly = {
    "slim-fly",     "2 q^2 switches, each at most two links from every other",
    &attr_table,    slim_fly_check,
    slim_fly_build, slim_fly_size};
