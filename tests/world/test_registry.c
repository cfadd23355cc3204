// SPDX-License-Identifier: Apache-2.0
// tests/world/test_registry.c - rows that a program adds to a registry.
//
// Goal: a congestion control of one's own is known to YAML, --set, patterns of nodes, checks, the
// resolved scenario, and is what runs; names that are taken or no names are refused; registries
// know nothing of each other.
// Method: an algorithm that holds one rate, which the time of a transfer shows.
// Not pinned: the other kinds' operations, which are the library's own (apps, topologies).
#include "net/models.h"
#include "tests/check_main.h"
#include "world/attributes.h"
#include "world/bind.h"
#include "world/choices.h"
#include "world/world.h"

#include <string.h>

typedef struct fixed_config {
    uint64_t rate_bps;
} fixed_config_t;

static const sim_attr_t fixed_attrs[] = {
    SIM_ATTR("nic.fixed.rate", RATE, fixed_config_t, rate_bps, .default_text = "10Gbps",
             .min_text = "1Gbps", .help = "the rate"),
};
static const sim_attr_table_t fixed_table = {"nic.fixed", "node", sizeof(fixed_config_t),
                                             fixed_attrs, SIM_COUNT_OF(fixed_attrs)};

static void fixed_init(nic_cc_t *cc)
{
    cc->rate_bps = ((const fixed_config_t *)cc->config)->rate_bps;
}

static const nic_cc_ops_t fixed = {.name = "fixed",
                                   .state_bytes = sizeof(nic_cc_t),
                                   .attrs = &fixed_table,
                                   .init = fixed_init};

static const char scenario_text[] = "topology: {star: {hosts: 4}}\n"
                                    "nic: {congestion-control: fixed, fixed: {rate: 20Gbps}}\n"
                                    "nodes: {host1: {nic: {fixed: {rate: 40Gbps}}}}\n"
                                    "traffic: [flows: {list: [host0 host2 10MB 0us, host1 host3 "
                                    "10MB 0us]}]\n";

static sim_time_t ends_ps[2];

static void take_end(const app_flow_result_t *flow, void *ctx)
{
    (void)ctx;
    ends_ps[flow->source == 1] = flow->end_ps;
}

START_TEST(algorithm_of_ones_own)
{
    world_error_t error;
    world_registry_t *const registry = world_registry_create();
    ck_assert_int_eq(world_registry_add_cc(registry, &fixed, &error), SIM_OK);
    world_scenario_t *scenario = NULL;
    const sim_err_t result = world_scenario_parse(registry, "x.yaml", scenario_text,
                                                  strlen(scenario_text), &scenario, &error);
    ck_assert_msg(result == SIM_OK, "%s", error.text);
    char *const resolved = world_scenario_resolved(scenario);
    ck_assert_ptr_nonnull(strstr(resolved, "rate: 20Gbps"));
    sim_free(resolved);
    world_t *world = NULL;
    ck_assert_msg(world_create(scenario, WORLD_BUILD_ALL, &world, &error) == SIM_OK, "%s",
                  error.text);
    ck_assert_int_eq(sim_run(world->sim), SIM_ENDED_DONE);
    world->apps[0]->ops->flows(world->apps[0], take_end, NULL);
    // 80 Mbit and headers at 20 and at 40 Gbps.
    ck_assert_uint_ge(ends_ps[0], 4 * SIM_PS_PER_MS);
    ck_assert_uint_le(ends_ps[0], 5 * SIM_PS_PER_MS);
    ck_assert_uint_ge(ends_ps[1], 2 * SIM_PS_PER_MS);
    ck_assert_uint_le(ends_ps[1], 3 * SIM_PS_PER_MS);
    world_destroy(world);
    world_scenario_destroy(scenario);
    world_registry_destroy(registry);
}
END_TEST

static void refused(const world_registry_t *registry, const char *text, const char *message)
{
    world_error_t error;
    world_scenario_t *scenario = NULL;
    ck_assert_int_ne(
        world_scenario_parse(registry, "x.yaml", text, strlen(text), &scenario, &error), SIM_OK);
    ck_assert_msg(strstr(error.text, message) != NULL, "%s", error.text);
}

START_TEST(checked_as_the_shipped)
{
    world_error_t error;
    world_registry_t *const registry = world_registry_create();
    ck_assert_int_eq(world_registry_add_cc(registry, &fixed, &error), SIM_OK);
    refused(registry, "nic: {fixed: {rat: 20Gbps}}", "did you mean 'rate'");
    refused(registry, "nic: {fixed: {rate: 20Mbps}}", "at least 1Gbps");
    refused(registry, "nic: {congestion-control: fixd}", "did you mean \"fixed\"");
    // Another registry does not know it.
    refused(NULL, "nic: {fixed: {rate: 20Gbps}}", "unknown");
    refused(NULL, "nic: {congestion-control: fixed}", "no algorithm");
    const sim_attr_table_t **tables = NULL;
    const size_t count = world_attr_tables(registry, &tables);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || tables[i] == &fixed_table;
    }
    ck_assert(found);
    sim_free((void *)tables);
    world_registry_destroy(registry);
}
END_TEST

START_TEST(names_are_refused)
{
    world_error_t error;
    world_registry_t *const registry = world_registry_create();
    nic_cc_ops_t ops = fixed;
    ops.name = "dcqcn";
    ck_assert_int_eq(world_registry_add_cc(registry, &ops, &error), SIM_ERR_EXISTS);
    ops.name = "my cc";
    ck_assert_int_eq(world_registry_add_cc(registry, &ops, &error), SIM_ERR_INVALID);
    ops.name = "other"; // attributes are nic.fixed.*
    ck_assert_int_eq(world_registry_add_cc(registry, &ops, &error), SIM_ERR_INVALID);
    ck_assert_int_eq(world_registry_add_cc(registry, &fixed, &error), SIM_OK);
    ck_assert_int_eq(world_registry_add_cc(registry, &fixed, &error), SIM_ERR_EXISTS);
    const app_ops_t *const app = world_registry_app(registry, "incast");
    ck_assert_int_eq(world_registry_add_app(registry, app, &error), SIM_ERR_EXISTS);
    const topo_ops_t *const topology = world_registry_topology(registry, "star");
    ck_assert_int_eq(world_registry_add_topology(registry, topology, &error), SIM_ERR_EXISTS);
    world_registry_destroy(registry);
}
END_TEST

// However many keys a section has, and however long they are.
START_TEST(all_keys_are_counted)
{
    enum { KEYS = 300 };
    static char paths[KEYS][128];
    static sim_attr_t attrs[KEYS];
    for (uint32_t i = 0; i < KEYS; i++) {
        snprintf(paths[i], sizeof(paths[i]), "x.%s-%u",
                 "a-key-that-is-longer-than-the-sixty-four-bytes-which-a-name-once-had-at-most", i);
        attrs[i].path = paths[i];
    }
    static const sim_attr_table_t table = {.prefix = "x", .attrs = attrs, .count = KEYS};
    const world_targets_t targets = world_targets_one(&table, NULL);
    world_error_t error = {.text = ""};
    world_add_accepted(&error, "x", &targets, NULL);
    ck_assert_msg(strstr(error.text, "lists all 300)") != NULL, "%s", error.text);
}
END_TEST

static bool is_choice(const world_registry_t *registry, const char *path, const char *name)
{
    const char **names = NULL;
    const size_t count = world_choices(registry, path, "", &names);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || strcmp(names[i], name) == 0;
    }
    sim_free((void *)names);
    return found;
}

static const net_timing_ops_t own_timing = {.name = "own"};
static const net_framing_t own_framing = {.name = "narrow", .pause_bytes = 64};

static void add_timing(net_t *net, void *ctx)
{
    (void)ctx;
    net_register_timing(net, &own_timing);
}

// However a row came to the registry, what chooses among them knows it; other registries do not.
START_TEST(choices_are_the_registrys)
{
    world_error_t error;
    world_registry_t *const registry = world_registry_create();
    world_registry_t *const other = world_registry_create();
    const world_network_part_t part = {WORLD_NETWORK_FRAMING, "narrow", NULL, &own_framing};
    ck_assert_int_eq(world_registry_add_cc(registry, &fixed, &error), SIM_OK);
    ck_assert_int_eq(world_registry_add_network_part(registry, &part, &error), SIM_OK);
    world_registry_add_network(registry, add_timing, NULL);
    static const struct {
        const char *path;
        const char *own;
        const char *shipped;
    } paths[] = {
        {"nic.congestion-control", "fixed", "dcqcn"},
        {"network.framing", "narrow", "ethernet"},
        {"network.timing", "own", "exact"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(paths); i++) {
        ck_assert_msg(is_choice(registry, paths[i].path, paths[i].own), "%s", paths[i].path);
        ck_assert_msg(is_choice(registry, paths[i].path, paths[i].shipped), "%s", paths[i].path);
        ck_assert_msg(!is_choice(other, paths[i].path, paths[i].own), "%s", paths[i].path);
    }
    const char **names = NULL;
    ck_assert_uint_eq(world_choices(registry, "nic.mtu", "4096", &names), 0);
    ck_assert_ptr_null(names);
    world_registry_destroy(other);
    world_registry_destroy(registry);
}
END_TEST

CHECK_MAIN(CHECK_TEST(algorithm_of_ones_own), CHECK_TEST(checked_as_the_shipped),
           CHECK_TEST(names_are_refused), CHECK_TEST(choices_are_the_registrys),
           CHECK_TEST(all_keys_are_counted))
