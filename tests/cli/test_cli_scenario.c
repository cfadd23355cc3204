// SPDX-License-Identifier: Apache-2.0
// Goal: a scenario's values reach the attributes they name, overrides win, the resolved scenario
// says the same as the one it came from, and limits hold.
// Method: small scenarios in memory, compared with the config structs field by field.
// Not pinned: messages (tests/golden/bad) and what a scenario does when it runs.
#include "world/captures.h"
#include "world/overlays.h"
#include "world/scenario.h"
#include "world/series.h"

#include "tests/check_main.h"

#include <string.h>

static world_scenario_t *parse(const char *text)
{
    world_scenario_t *scenario = NULL;
    world_error_t error;
    const sim_err_t result =
        world_scenario_parse(NULL, "x.yaml", text, strlen(text), &scenario, &error);
    ck_assert_msg(result == SIM_OK, "%s", error.text);
    return scenario;
}

static void refuse(const char *text, size_t size, const char *part)
{
    world_scenario_t *scenario = NULL;
    world_error_t error;
    ck_assert_int_ne(world_scenario_parse(NULL, "x.yaml", text, size, &scenario, &error), SIM_OK);
    ck_assert_msg(strstr(error.text, part) != NULL, "%s", error.text);
}

START_TEST(values_reach_their_attributes)
{
    world_scenario_t *const s = parse("seed: 5\n"
                                      "until: 20ms\n"
                                      "topology: {star: {hosts: 4}}\n"
                                      "switch:\n"
                                      "  buffer: 9MB\n"
                                      "  pfc: {priorities: [3, 4], alpha: 1/8}\n"
                                      "  ecn: {kmin: 4KiB}\n"
                                      "nic: {mtu: 1024, congestion-control: none}\n"
                                      "traffic:\n"
                                      "  - poisson: {from: host[0-1], to: *, load: 25%}\n"
                                      "  - permutation:\n");
    ck_assert_uint_eq(s->run.seed, 5);
    ck_assert_uint_eq(s->run.until_ps, 20 * SIM_PS_PER_MS);
    ck_assert_uint_eq(s->switch_config.buffer_bytes, 9000000);
    ck_assert_uint_eq(s->switch_config.pfc_priorities, 0x18);
    ck_assert_uint_eq(s->switch_config.ecn_kmin_bytes, 4096);
    ck_assert_uint_eq(s->nic_config.mtu_bytes, 1024);
    ck_assert_str_eq(s->nic_config.congestion_control, "none");
    ck_assert_str_eq(s->topology->name, "star");
    ck_assert_str_eq(s->run.name, "x");
    ck_assert_uint_eq(s->traffic_count, 2);
    ck_assert_str_eq(s->traffic[0].ops->name, "poisson");
    ck_assert_str_eq(s->traffic[1].ops->name, "permutation");
    const sim_attr_table_t *const table = s->traffic[0].ops->attrs;
    char *const from =
        sim_attr_get(sim_attr_find(table, "traffic.poisson.from"), s->traffic[0].config);
    ck_assert_str_eq(from, "host[0-1]");
    sim_free(from);
    char *const to = sim_attr_get(sim_attr_find(table, "traffic.poisson.to"), s->traffic[0].config);
    ck_assert_str_eq(to, "*");
    sim_free(to);
    world_scenario_destroy(s);
}
END_TEST

START_TEST(patterns_stand_without_quotes)
{
    // The spellings say the same in block and flow style, quoted and unquoted; commas and stars are
    // inside brackets.
    static const char *const spellings[] = {
        "traffic: [{incast: {to: host0, from: host[1-2,5]}}]\n",
        "traffic: [{incast: {to: host0, from: \"host[1-2,5]\"}}]\n",
        "traffic:\n  - incast:\n      to: host0\n      from: host[1-2,5]\n",
        "traffic:\n  - incast:\n      to: host0\n      from: 'host[1-2,5]'\n",
    };
    for (size_t i = 0; i < SIM_COUNT_OF(spellings); i++) {
        char *const text = sim_format("topology: {star: {hosts: 8}}\n%s", spellings[i]);
        world_scenario_t *const s = parse(text);
        const sim_attr_table_t *const table = s->traffic[0].ops->attrs;
        char *const from =
            sim_attr_get(sim_attr_find(table, "traffic.incast.from"), s->traffic[0].config);
        ck_assert_str_eq(from, "host[1-2,5]");
        sim_free(from);
        world_scenario_destroy(s);
        sim_free(text);
    }
}
END_TEST

START_TEST(resolved_scenario_is_a_fixed_point)
{
    world_scenario_t *const first =
        parse("topology: {leaf-spine: {leaves: 2}}\n"
              "link: {loss-rate: 1/1000}\n"
              "nodes: {\"spine*\": {switch: {buffer: 64MB}}}\n"
              "links: {\"leaf0--spine*\": {rate: 40Gbps, down: [{at: 1ms, until: 2ms}]}}\n"
              "traffic: [{incast: {to: host5, from: [host0, \"host[8-9]\"]}}]\n"
              "observe: [{series: \"port[leaf0->host5].queue_bytes[3]\"}]\n"
              "captures: [{ports: leaf0->host5, filter: \"udp port 4791\"}]\n");
    char *const once = world_scenario_resolved(first);
    world_scenario_t *const second = parse(once);
    char *const twice = world_scenario_resolved(second);
    ck_assert_str_eq(once, twice);
    // Nothing was lost in the round trip.
    ck_assert_uint_eq(second->node_count, 1);
    ck_assert_uint_eq(second->links[0].down_count, 1);
    ck_assert_uint_eq(second->links[0].downs[0].config.until_ps, 2 * SIM_PS_PER_MS);
    ck_assert_uint_eq(second->link.loss_rate.den, 1000);
    ck_assert_uint_eq(second->series[0].classes, 1u << 3);
    ck_assert_str_eq(second->captures[0].config.file, "leaf0-host5.pcap.gz");
    // A default rate written down would override that of the topology.
    ck_assert_ptr_null(world_tree_find(second->link_map, "rate"));
    sim_free(once);
    sim_free(twice);
    world_scenario_destroy(first);
    world_scenario_destroy(second);
}
END_TEST

// Applies one --set to text; the resulting scenario, or NULL with the message.
static world_scenario_t *with_set(const char *text, const char *set, world_error_t *error)
{
    world_document_t *const document = world_document_create();
    world_tree_t *root = NULL;
    ck_assert_int_eq(world_yaml_parse(document, "x.yaml", true, text, strlen(text), &root, error),
                     SIM_OK);
    const world_override_t override = {.shown = set, .text = set};
    if (world_override_apply(document, root, &override, error) != SIM_OK) {
        world_document_destroy(document);
        return NULL;
    }
    world_scenario_t *scenario = NULL;
    return world_scenario_create(NULL, document, root, "x.yaml", &scenario, error) == SIM_OK
               ? scenario
               : NULL;
}

#define BASE "topology: {star: {hosts: 4}}\nnic: {mtu: 1024}\ntraffic: [{poisson: {load: 0.5}}]\n"

START_TEST(overrides_set_any_attribute)
{
    world_error_t error;
    world_scenario_t *s = with_set(BASE, "nic.mtu=2048", &error);
    ck_assert_uint_eq(s->nic_config.mtu_bytes, 2048);
    world_scenario_destroy(s);
    s = with_set(BASE, "switch.pfc.priorities=[1, 2]", &error);
    ck_assert_uint_eq(s->switch_config.pfc_priorities, 6);
    world_scenario_destroy(s);
    s = with_set(BASE, "nodes.host[0-1].nic.mtu=512", &error);
    ck_assert_uint_eq(s->node_count, 1);
    ck_assert_str_eq(s->nodes[0].pattern, "host[0-1]");
    world_scenario_destroy(s);
    s = with_set(BASE, "nodes.\"a.b\".nic.mtu=512", &error);
    ck_assert_str_eq(s->nodes[0].pattern, "a.b");
    world_scenario_destroy(s);
    s = with_set(BASE, "traffic[1].permutation.bytes=1KB", &error);
    ck_assert_uint_eq(s->traffic_count, 2);
    world_scenario_destroy(s);
    s = with_set(BASE, "traffic[0].poisson.load=1/4", &error);
    char *const load = sim_attr_get(sim_attr_find(s->traffic[0].ops->attrs, "traffic.poisson.load"),
                                    s->traffic[0].config);
    ck_assert_str_eq(load, "1/4");
    sim_free(load);
    world_scenario_destroy(s);
}
END_TEST

START_TEST(words_of_the_trade_lead_to_names)
{
    static const struct {
        const char *text;
        const char *meant; // NULL: no name is meant
    } words[] = {
        {"topology: {clos: {}}", "'leaf-spine'"},
        {"traffic: [{flows: {from: host0}}]", "'list: [host0 host1 1MB 0s]'"},
        {"traffic: [{incast: {at: 1ms}}]", "'start'"},
        {"traffic: [{poisson: {until: 1ms}}]", "'stop'"},
        {"topology: {Rails: {}}", "'rail-optimised'"},
        {"topology: {single_switch: {}}", "'star'"},
        {"topology: {full-mesh: {}}", "'hyperx'"},
        {"topology: {nonsense: {}}", NULL},
        {"topology: {star: {num_hosts: 4}}", "'hosts'"},
        {"topology: {star: {link-speed: 100Gbps}}", "'rate'"},
        {"topology: {star: {latency: 1us}}", "'delay'"},
        {"topology: {leaf-spine: {bandwidth: 100Gbps}}", "'host-rate'"},
        {"topology: {leaf-spine: {hosts-per-tor: 4}}", "'hosts-per-leaf'"},
        {"topology: {rail-optimised: {hosts_: 4}}", "'hosts'"},
        {"topology: {star: }\ntraffic: [allreduce: {}]", "'collective: {kind: all-reduce}'"},
        {"topology: {star: }\ntraffic: [ib_read_bw: {}]", "'perftest: {test: ib_read_bw}'"},
        {"topology: {star: }\ntraffic: [websearch: {}]", "'poisson: {sizes: websearch}'"},
        {"topology: {star: }\ntraffic: [llm: {}]", "'serving'"},
        {"topology: {star: }\ntraffic: [a2a: {}]", "'all-to-all'"},
        {"topology: {star: }\ntraffic: [permutation: {message-size: 1MB}]", "'bytes'"},
        {"topology: {star: }\ntraffic: [perftest: {bytes: 1MB}]", "'size'"},
        {"topology: {star: }\ntraffic: [collective: {op: all-reduce}]", "'kind'"},
        {"topology: {star: }\ntraffic: [incast: {target: host0}]", "'to'"},
        {"topology: {star: }\ntraffic: [poisson: {duration: 1ms}]", "'stop'"},
        {"topology: {star: }\nnic: {cc: dcqcn}", "'congestion-control'"},
        {"topology: {star: }\nswitch: {ecn: {k_min: 1KB}}", "'kmin'"},
        {"topology: {star: }\nduration: 1ms", "'until'"},
        {"topology: {star: }\npcap: []", "'captures'"},
        {"topology: {star: }\nfailures: []", "'faults'"},
        {"topology: {star: }\nfaults: [leaf0--spine1]", "{part: leaf0--spine1}"},
        {"topology: {star: }\ncaptures: [host0]", "{ports: host0}"},
        {"topology: {leaf-spine: {hosts: 8}}", "'hosts-per-leaf'"},
        {"topology: {star: }\nnic: {dcqcn: {g: 1/256}}", "'dce-tcp-g: 1020, for g = 1/256'"},
        {"topology: {star: }\nnic: {dcqcn: {RATE_AI: 5Mbps}}", "'rpg-ai-rate'"},
        {"topology: {star: }\nnic: {timely: {rate_ai: 5Mbps}}", "'ai-rate'"},
        {"topology: {star: }\noutputs: {pcap: host0}", "captures: at the top of the scenario"},
        {"network: {topology: fat-tree}", "topology: at the top of the scenario"},
        {"topology: {star: }\nfaults: [{link: a}]", "'part'"},
        {"topology: {star: }\nswitch: {pfc: {xoff: 1KB}}", "'threshold'"},
        {"topology: {star: }\nswitch: {pfc: {xon: 1KB}}", "'xon-offset'"},
        {"topology: {star: }\nnic: {detailed: {profile: connectx-5}}",
         "nic: {profile: ...} at the top of the scenario"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(words); i++) {
        char part[64];
        (void)snprintf(part, sizeof(part), "did you mean %s?", words[i].meant);
        world_scenario_t *scenario = NULL;
        world_error_t error;
        ck_assert_int_ne(world_scenario_parse(NULL, "x.yaml", words[i].text, strlen(words[i].text),
                                              &scenario, &error),
                         SIM_OK);
        if (words[i].meant == NULL) {
            ck_assert_msg(strstr(error.text, "did you mean") == NULL, "%s", error.text);
        } else {
            ck_assert_msg(strstr(error.text, part) != NULL, "%s", error.text);
        }
    }
}
END_TEST

START_TEST(wrong_overrides_name_themselves)
{
    static const struct {
        const char *set;
        const char *part;
    } wrong[] = {
        {"nic.mtuu=3", "unknown key 'mtuu' in nic, did you mean 'mtu'?"},
        {"nic.mtu=banana", "nic.mtu: \"banana\""},
        {"nic.mtu", "no '='"},
        {"=3", "the path cannot be read"},
        {"nic..mtu=3", "the path cannot be read"},
        {"traffic[5].poisson.load=1", "'traffic' has 1 entries"},
        {"traffic.poisson.load=1", "'traffic' is a list in the scenario, expected a mapping"},
        {"nic.mtu.x=1", "'mtu' is a value in the scenario, expected a mapping"},
        {"nic[0]=1", "'nic' is a mapping in the scenario, expected a list"},
        {"topology.pair.rate=1Gbps", "topology has both 'star' and 'pair'"},
        {"seed=", "no content"},
        {"seed=[", "not valid YAML"},
        {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q=1", "the path cannot be read"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        world_error_t error;
        ck_assert_msg(with_set(BASE, wrong[i].set, &error) == NULL, "%s", wrong[i].set);
        ck_assert_msg(strncmp(error.text, wrong[i].set, strlen(wrong[i].set)) == 0 &&
                          strstr(error.text, wrong[i].part) != NULL,
                      "%s: %s", wrong[i].set, error.text);
    }
}
END_TEST

START_TEST(limits_hold)
{
    // Nesting depth, number of parts and size are refused beyond their limits, in little time and
    // memory.
    char *const deep = sim_alloc(100001);
    memset(deep, '[', 100000);
    refuse(deep, 100000, "nested more than");
    sim_free(deep);
    const size_t wide_bytes = 4 << 20;
    char *const wide = sim_alloc(wide_bytes);
    wide[0] = '[';
    for (size_t i = 1; i + 1 < wide_bytes; i += 2) {
        memcpy(wide + i, "a,", 2);
    }
    refuse(wide, wide_bytes - 1, "keys and values");
    sim_free(wide);
    const size_t large_bytes = WORLD_YAML_BYTES_MAX + 1;
    char *const large = sim_alloc(large_bytes);
    memset(large, 'a', large_bytes);
    refuse(large, large_bytes, "too large");
    sim_free(large);
}
END_TEST

CHECK_MAIN(CHECK_TEST(values_reach_their_attributes), CHECK_TEST(patterns_stand_without_quotes),
           CHECK_TEST(resolved_scenario_is_a_fixed_point), CHECK_TEST(overrides_set_any_attribute),
           CHECK_TEST(wrong_overrides_name_themselves),
           CHECK_TEST(words_of_the_trade_lead_to_names), CHECK_TEST(limits_hold))
