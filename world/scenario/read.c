// SPDX-License-Identifier: Apache-2.0
// world/scenario/read.c - reads the sections of a scenario.
#include "world/bind.h"
#include "world/captures.h"
#include "world/overlays.h"
#include "world/patterns.h"
#include "world/registry/plugins/section.h"
#include "world/registry/trade_words.h"
#include "world/scenario.h"
#include "world/scenario/choice.h"
#include "world/scenario/fault_section.h"
#include "world/scenario/output_sections.h"
#include "world/scenario/own_nodes.h"
#include "world/scenario/sections.h"
#include "world/scenario/topology_sections.h"
#include "world/series.h"
#include "world/values/values.h"

#include <string.h>

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(world_run_config_t, __VA_ARGS__)
static const sim_attr_t run_attrs[] = {
    ATTR(COUNT, "format", format, "1", "1", "1", "version of the language of scenarios that the file is written in; a newer rocesim reads higher ones"),
    ATTR(STRING, "name", name, "", "name of the results; empty: the name of the scenario's file without .yaml"),
    ATTR(STRING, "description", description, "", "the question that the scenario asks, for people"),
    ATTR(COUNT, "seed", seed, "1", NULL, NULL, "number from which every random draw of the run derives"),
    ATTR(COUNT, "tie-seed", tie_seed, "0", NULL, NULL, "number that varies the order of events at the same picosecond (ties: hash and ties: rotor)"),
    ATTR(ENUM, "ties", ties, "hash", "hash|insertion|rotor", "order of events at the same picosecond: hash, by a hash of node and time; insertion, in the order in which they were scheduled, as sequential simulators do (slower); rotor, by a hash of node and number of the tie since the node's last rest of 10us, so that it does not depend on the time"),
    ATTR(TIME, "until", until_ps, "never", NULL, NULL, "simulated time at which the run ends at the latest; every run ends at 9223372s (106 days)"),
    ATTR(TIME, "stall-after", stall_ps, "1s", NULL, NULL, "simulated time with events but without any progress after which the run counts as stalled, also if nothing but pauses goes on; 0s: never"),
    ATTR(COUNT, "threads", threads, "1", "1", "64", "number of threads that run the simulation; results do not depend on their number"),
    ATTR(BYTES, "memory-max", memory_max_bytes, "8GB", "64KB", NULL, "memory that the run may take; a network or planned transfers that need more by estimate are refused, and a run that takes more is stopped; auto: no limit", .auto_ok = true),
    ATTR(TIME, "time-max", time_max_ps, "36000s", "1s", NULL, "time that the run may take by the estimate of its transfers' packets; a longer run is refused before it begins; auto: no limit", .auto_ok = true),
    ATTR(STRING, "folder", folder, "", "folder from which file names in the scenario start, or several with ':' between them, which are searched in this order; empty: the folder of the scenario"),
};
const sim_attr_table_t world_run_config_attrs = SIM_ATTR_TABLE("", "simulation", world_run_config_t, run_attrs);

#undef ATTR
#define ATTR(...) SIM_ATTR_ROW(world_fast_forward_config_t, __VA_ARGS__)
static const sim_attr_t fast_forward_attrs[] = {
    ATTR(ENUM, "fast-forward.mode", mode, "off", "off|exact", "off: everything is simulated; exact: the run leaves out what it knows to repeat, to the same results (docs/models/fast-forward.md)"),
    ATTR(BOOL, "fast-forward.memo", memo, "true", "whether mode: exact remembers collectives and repeats them from memory"),
    ATTR(BOOL, "fast-forward.rails", rails, "true", "whether mode: exact simulates one of equal rails, where all NICs of each host send the same at the same times"),
    ATTR(RATIO, "fast-forward.audit", audit, "1/100", "0", "1", "share of the repetitions from memory that are simulated all the same; a difference aborts the run"),
};
const sim_attr_table_t world_fast_forward_config_attrs = SIM_ATTR_TABLE("fast-forward", "simulation", world_fast_forward_config_t, fast_forward_attrs);

#undef ATTR
#define ATTR(...) SIM_ATTR_ROW(world_outputs_config_t, __VA_ARGS__)
static const sim_attr_t outputs_attrs[] = {
    ATTR(BOOL, "outputs.flows", flows, "true", "whether the run writes flows.csv"),
    ATTR(COUNT, "outputs.events-max", events_max, "100000", NULL, NULL, "maximum number of rows of events.csv; further events are counted but not written"),
    ATTR(BOOL, "outputs.cache-events", cache_events, "false", "whether misses, moves and write-backs of tiered caches (nic.cache.policy) become rows of events.csv"),
    ATTR(COUNT, "outputs.series-max", series_max, "10000000", NULL, NULL, "maximum number of rows of series.csv; further rows are counted but not written"),
    ATTR(COUNT, "outputs.hops-max", hops_max, "0", NULL, "100000000", "maximum number of rows of hops.csv, one for each frame on each link; 0: the run does not write hops.csv"),
    ATTR(COUNT, "outputs.operations-max", operations_max, "0", NULL, "1000000000", "maximum number of rows of operations.csv, in equal shares for all ranks of a workload; 0: the file is not written. `rocesim timeline` draws it"),
    ATTR(COUNT, "outputs.hottest-ports", hottest_ports, "10", "1", "1000", "number of ports that summary.json lists in hottest_ports and in pfc.roots"),
    ATTR(TIME, "outputs.rates-until", rates_until_ps, "auto", "0s", NULL, "end of the time over which goodput and utilisation are reported, beginning at the first start of a transfer; auto: the last start if 16 or more follow one another, else the end of the run, or of the last transfer where processes of this machine (rocesim run --programs) have all of them", .auto_ok = true),
};
const sim_attr_table_t world_outputs_config_attrs = SIM_ATTR_TABLE("outputs", "simulation", world_outputs_config_t, outputs_attrs);
// clang-format on

// -- sections

static sim_err_t take_outputs(world_scenario_t *scenario, const world_tree_t *map,
                              world_error_t *error)
{
    const world_targets_t targets =
        world_targets_one(&world_outputs_config_attrs, &scenario->outputs);
    return world_bind(map, "outputs", &targets, NULL, error);
}

static sim_err_t take_fast_forward(world_scenario_t *scenario, const world_tree_t *map,
                                   world_error_t *error)
{
    const world_targets_t targets =
        world_targets_one(&world_fast_forward_config_attrs, &scenario->fast_forward);
    return world_bind(map, "fast-forward", &targets, NULL, error);
}

// Finds the index-th part with attributes among the parts that were registered when the scenario
// was made.
static bool network_part_at(const void *source, size_t index, world_target_t *target)
{
    const world_scenario_t *const scenario = source;
    size_t count;
    const world_network_part_t *const parts =
        world_registry_network_parts(scenario->registry, &count);
    for (size_t i = 0; i < scenario->network_part_count; i++) {
        if (parts[i].attrs != NULL && index-- == 0) {
            *target = (world_target_t){parts[i].attrs, scenario->network_parts[i]};
            return true;
        }
    }
    return false;
}

world_targets_t world__targets_network(const world_scenario_t *scenario)
{
    union {
        const void *in;
        void *out;
    } network = {.in = &scenario->network};
    return (world_targets_t){
        .first = {&net_config_attrs, network.out},
        .more = network_part_at,
        .source = scenario,
    };
}

static void make_network_parts(world_scenario_t *scenario)
{
    const world_network_part_t *const parts =
        world_registry_network_parts(scenario->registry, &scenario->network_part_count);
    const size_t count = scenario->network_part_count;
    scenario->network_parts = sim_alloc_array(count + 1, sizeof(*scenario->network_parts));
    for (size_t i = 0; i < count; i++) {
        if (parts[i].attrs != NULL) {
            scenario->network_parts[i] = sim_alloc(parts[i].attrs->config_bytes);
            sim_attrs_default(parts[i].attrs, scenario->network_parts[i]);
        }
    }
}

static void free_network_parts(world_scenario_t *scenario)
{
    size_t count;
    const world_network_part_t *const parts =
        world_registry_network_parts(scenario->registry, &count);
    for (size_t i = 0; i < scenario->network_part_count; i++) {
        if (scenario->network_parts[i] != NULL) {
            sim_attrs_fini(parts[i].attrs, scenario->network_parts[i]);
            sim_free(scenario->network_parts[i]);
        }
    }
    sim_free(scenario->network_parts);
}

static sim_err_t take_network(world_scenario_t *scenario, const world_tree_t *map,
                              world_error_t *error)
{
    const world_targets_t targets = world__targets_network(scenario);
    return world_bind(map, "network", &targets, NULL, error);
}

static sim_err_t take_scale_up(world_scenario_t *scenario, const world_tree_t *map,
                               world_error_t *error)
{
    const world_targets_t targets = world_targets_one(&net_scale_up_attrs, &scenario->scale_up);
    sim_err_t result = world_bind(map, "scale-up", &targets, NULL, error);
    sim_message_t message;
    if (result == SIM_OK) {
        result = net_scale_up_check(&scenario->scale_up, &message);
        if (result != SIM_OK) {
            const world_place_t place = world_locate(map, "scale-up", message.about);
            return world_fail(error, result, &place, "scale-up.%s", message.text);
        }
    }
    return result;
}

static sim_err_t take_hpcc(world_scenario_t *scenario, const world_tree_t *map,
                           world_error_t *error)
{
    const world_targets_t targets = world_targets_one(&compat_hpcc_config_attrs, &scenario->hpcc);
    return world_bind(map, "hpcc", &targets, NULL, error);
}

static sim_err_t take_programs(world_scenario_t *scenario, const world_tree_t *map,
                               world_error_t *error)
{
    const world_targets_t targets =
        world_targets_one(&app_programs_attrs, &scenario->programs_config);
    return world_bind(map, "programs", &targets, NULL, error);
}

static sim_err_t take_link(world_scenario_t *scenario, const world_tree_t *map,
                           world_error_t *error)
{
    const world_targets_t targets = world_targets_one(&net_link_config_attrs, &scenario->link);
    scenario->link_map = map->is_null ? NULL : map;
    return world_bind(map, "link", &targets, NULL, error);
}

static sim_err_t take_switch(world_scenario_t *scenario, const world_tree_t *map,
                             world_error_t *error)
{
    const world_targets_t targets =
        world_targets_one(&net_switch_config_attrs, &scenario->switch_config);
    sim_err_t result = world_bind(map, "switch", &targets, NULL, error);
    sim_message_t message;
    if (result == SIM_OK) {
        result = net_switch_config_check(&scenario->switch_config, &message);
        if (result != SIM_OK) {
            const world_place_t place = world_locate(map, "switch", message.about);
            return world_fail(error, result, &place, "%s", message.text);
        }
    }
    return result;
}

static sim_err_t take_nic(world_scenario_t *scenario, const world_tree_t *map, world_error_t *error)
{
    const world_targets_t targets = world_targets_nic(&scenario->nic_config);
    sim_err_t result = world_bind(map, "nic", &targets, NULL, error);
    if (result != SIM_OK) {
        return result;
    }
    sim_message_t message;
    result = nic_config_check(&scenario->nic_config, &message);
    if (result != SIM_OK) {
        const world_place_t place = world_locate(map, "nic", message.about);
        return world_fail(error, result, &place, "%s", message.text);
    }
    return SIM_OK;
}

static sim_err_t add_app(world_scenario_t *scenario, const app_ops_t *ops, world_place_t place,
                         const world_tree_t *map, world_error_t *error)
{
    SIM_GROW(scenario->traffic, scenario->traffic_count, &scenario->traffic_capacity);
    world_traffic_t *const traffic = &scenario->traffic[scenario->traffic_count++];
    *traffic = (world_traffic_t){.ops = ops, .place = place, .map = map};
    traffic->config = sim_alloc(ops->attrs->config_bytes);
    sim_attrs_default(ops->attrs, traffic->config);
    const world_targets_t targets = world_targets_one(ops->attrs, traffic->config);
    return world_bind(map, ops->attrs->prefix, &targets, NULL, error);
}

static sim_err_t take_traffic_entry(world_scenario_t *scenario, const world_tree_t *map,
                                    world_error_t *error)
{
    const app_ops_t *const *const apps = world_registry_apps(scenario->registry);
    const char **names = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (size_t i = 0; apps[i] != NULL; i++) {
        SIM_APPEND(names, count, capacity, apps[i]->name);
    }
    const world_tree_entry_t *entry = NULL;
    const sim_err_t result = world__take_choice(map, "traffic", names, count, &entry, error);
    sim_free((void *)names);
    if (result != SIM_OK) {
        return result;
    }
    const app_ops_t *const ops = world_registry_app(scenario->registry, entry->key->text);
    SIM_CHECK(ops != NULL);
    if (entry->value->kind != WORLD_TREE_LIST || strcmp(ops->name, "programs") != 0) {
        return add_app(scenario, ops, entry->key->place, entry->value, error);
    }
    sim_err_t added = SIM_OK;
    for (size_t i = 0; i < entry->value->count && added == SIM_OK; i++) {
        const world_tree_t *const item = entry->value->entries[i].value;
        added = add_app(scenario, ops, item->place, item, error);
    }
    return added;
}

sim_err_t world__add_traffic(world_scenario_t *scenario, const world_tree_t *map,
                             world_error_t *error)
{
    const size_t before = scenario->traffic_count;
    const sim_err_t result = take_traffic_entry(scenario, map, error);
    if (result != SIM_OK && scenario->traffic_count > before) {
        world__drop_traffic(scenario);
    }
    return result;
}

void world__drop_traffic(world_scenario_t *scenario)
{
    SIM_CHECK(scenario->traffic_count > 0);
    const world_traffic_t *const last = &scenario->traffic[--scenario->traffic_count];
    sim_attrs_fini(last->ops->attrs, last->config);
    sim_free(last->config);
}

// The plug-ins are loaded already: the other sections need them.
static sim_err_t take_plugins(world_scenario_t *scenario, const world_tree_t *list,
                              world_error_t *error)
{
    (void)list;
    return world__check_plugins(scenario, error);
}

static sim_err_t take_traffic(world_scenario_t *scenario, const world_tree_t *list,
                              world_error_t *error)
{
    return world__take_list(scenario, list, "traffic", "'- poisson: {load: 0.5}'",
                            take_traffic_entry, error);
}

typedef struct section {
    const char *key;
    sim_err_t (*take)(world_scenario_t *scenario, const world_tree_t *value, world_error_t *error);
    bool plain; // a plain value may be meant for it
} section_t;

// The sections of a scenario. A section stands behind those it depends on.
static const section_t sections[] = {
    {"parameters", world__take_parameters, false},
    {"outputs", take_outputs, false},
    {"fast-forward", take_fast_forward, false},
    {"plugins", take_plugins, true},
    {"network", take_network, false},
    {"scale-up", take_scale_up, false},
    {"hpcc", take_hpcc, false},
    {"programs", take_programs, false},
    {"link", take_link, false},
    {"switch", take_switch, false},
    {"nic", take_nic, false},
    {"node", world__take_own_nodes, false},
    {"topology", world__take_topology, true},
    {"nodes", world__take_nodes, false},
    {"links", world__take_links, false},
    {"faults", world__take_faults, true},
    {"traffic", take_traffic, true},
    {"observe", world__take_observe, true},
    {"captures", world__take_captures, true},
};

const char *world__section_of(const char *key, bool plain)
{
    const char *names[SIM_COUNT_OF(sections)];
    size_t count = 0;
    const size_t size = strlen(key);
    for (size_t i = 0; i < SIM_COUNT_OF(sections); i++) {
        const char *const name = sections[i].key;
        const char *const rest = strncmp(name, key, size) == 0 ? name + size : "?";
        if (plain && !sections[i].plain) {
            continue;
        }
        if (rest[0] == '\0' || strcmp(rest, "s") == 0) {
            return name;
        }
        names[count++] = name;
    }
    return world_trade_word(key, names, count);
}

bool world_scenario_has_key(const char *key)
{
    const char *names[SIM_COUNT_OF(sections) + SIM_COUNT_OF(run_attrs)];
    size_t count = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(sections); i++) {
        names[count++] = sections[i].key;
    }
    for (size_t i = 0; i < SIM_COUNT_OF(run_attrs); i++) {
        names[count++] = run_attrs[i].path;
    }
    return sim_nearest_name(key, names, count) != NULL;
}

// Fails if a key that --set gave is neither a section nor an attribute, but nearly the name of a
// parameter.
static sim_err_t check_names(const world_scenario_t *scenario, const char *const *others,
                             world_error_t *error)
{
    const world_tree_entry_t *const entry = world_tree_find(scenario->root, "parameters");
    const world_tree_t *const map = entry != NULL ? entry->value : NULL;
    const size_t count = map != NULL && map->kind == WORLD_TREE_MAP ? map->count : 0;
    const char **const names = sim_alloc_array(count + 1, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        names[i] = map->entries[i].key->text;
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < scenario->root->count && result == SIM_OK && count > 0; i++) {
        const world_tree_t *const key = scenario->root->entries[i].key;
        bool known = key->place.line > 0 || sim_attr_find(&world_run_config_attrs, key->text);
        for (size_t o = 0; others[o] != NULL; o++) {
            known = known || strcmp(others[o], key->text) == 0;
        }
        const char *const nearest = known ? NULL : sim_nearest_name(key->text, names, count);
        if (nearest != NULL) {
            world_shown_t shown;
            result = world_fail(error, SIM_ERR_UNKNOWN, &key->place,
                                "unknown key '%s', did you mean '%s'? It is one of %zu parameters "
                                "of the scenario",
                                world_show(&shown, key->text), nearest, count);
        }
    }
    sim_free((void *)names);
    return result;
}

static sim_err_t take_sections(world_scenario_t *scenario, world_error_t *error)
{
    const char *others[SIM_COUNT_OF(sections) + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(sections); i++) {
        const bool own = strcmp(sections[i].key, "node") == 0;
        if (!own || scenario->own_node_count > 0) {
            others[count++] = sections[i].key;
        }
    }
    const world_targets_t targets = world_targets_one(&world_run_config_attrs, &scenario->run);
    sim_err_t result = check_names(scenario, others, error);
    if (result == SIM_OK) {
        result = world_bind(scenario->root, "", &targets, others, error);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(sections) && result == SIM_OK; i++) {
        const world_tree_entry_t *const entry = world_tree_find(scenario->root, sections[i].key);
        if (entry != NULL) {
            result = sections[i].take(scenario, entry->value, error);
        }
    }
    if (result == SIM_OK && world_tree_find(scenario->root, "topology") == NULL) {
        result = world_fail(error, SIM_ERR_INVALID, &scenario->root->place,
                            "no topology, expected one such as 'topology: {star: {hosts: 4}}'");
    }
    return result;
}

// Results must have a name: the file's if the scenario gives none.
static void name_scenario(world_scenario_t *scenario)
{
    if (scenario->run.name[0] != '\0') {
        return;
    }
    const char *const slash = strrchr(scenario->file_name, '/');
    const char *const base = slash != NULL ? slash + 1 : scenario->file_name;
    const char *const dot = strrchr(base, '.');
    const size_t size = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
    sim_free(scenario->run.name);
    scenario->run.name =
        strcmp(base, "-") == 0 ? sim_strdup("stdin") : sim_format("%.*s", (int)size, base);
    for (char *p = scenario->run.name; *p != '\0'; p++) {
        *p = *p > ' ' && *p <= '~' ? *p : '_'; // file names need not be text
    }
}

sim_err_t world_scenario_create(const world_registry_t *registry, world_document_t *document,
                                world_tree_t *root, const char *file_name,
                                world_scenario_t **scenario, world_error_t *error)
{
    world_scenario_t *const made = sim_alloc(sizeof(*made));
    made->document = document;
    made->root = root;
    made->file_name = world_document_text(document, file_name);
    sim_err_t result = world__take_plugins(made, registry, root, error);
    if (result != SIM_OK) {
        world_document_destroy(document);
        world_registry_destroy(made->own_registry);
        sim_free(made);
        return result;
    }
    sim_attrs_default(&world_run_config_attrs, &made->run);
    sim_attrs_default(&world_outputs_config_attrs, &made->outputs);
    sim_attrs_default(&world_fast_forward_config_attrs, &made->fast_forward);
    sim_attrs_default(&net_config_attrs, &made->network);
    make_network_parts(made);
    world__own_nodes_init(made);
    sim_attrs_default(&net_scale_up_attrs, &made->scale_up);
    sim_attrs_default(&compat_hpcc_config_attrs, &made->hpcc);
    sim_attrs_default(&app_programs_attrs, &made->programs_config);
    sim_attrs_default(&net_link_config_attrs, &made->link);
    sim_attrs_default(&net_switch_config_attrs, &made->switch_config);
    size_t extra_count;
    const nic_extra_t *const extras = world_registry_extras(made->registry, &extra_count);
    nic_config_init_with(&made->nic_config, extras, extra_count);
    result = take_sections(made, error);
    if (result != SIM_OK) {
        world_scenario_destroy(made);
        return result;
    }
    name_scenario(made);
    *scenario = made;
    return SIM_OK;
}

static void destroy_lists(world_scenario_t *scenario)
{
    world__faults_fini(scenario);
    for (size_t i = 0; i < scenario->link_count; i++) {
        world_pair_fini(&scenario->links[i].names);
        sim_free(scenario->links[i].downs);
    }
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        sim_attrs_fini(scenario->traffic[i].ops->attrs, scenario->traffic[i].config);
        sim_free(scenario->traffic[i].config);
    }
    for (size_t i = 0; i < scenario->series_count; i++) {
        sim_attrs_fini(&world_observe_config_attrs, &scenario->series[i].config);
        world_pair_fini(&scenario->series[i].ports);
        SIM_FREE_ALL(scenario->series[i].nodes, scenario->series[i].qps, scenario->series[i].peers);
    }
    for (size_t i = 0; i < scenario->capture_count; i++) {
        sim_attrs_fini(&world_capture_config_attrs, &scenario->captures[i].config);
        world_pair_fini(&scenario->captures[i].ports);
    }
    SIM_FREE_ALL(scenario->nodes, scenario->links, scenario->traffic, scenario->series,
                 scenario->captures);
}

void world_scenario_destroy(world_scenario_t *scenario)
{
    if (scenario == NULL) {
        return;
    }
    destroy_lists(scenario);
    if (scenario->topology != NULL) {
        sim_attrs_fini(scenario->topology->attrs, scenario->topology_config);
        sim_free(scenario->topology_config);
    }
    world__graph_fini(&scenario->graph);
    nic_config_fini(&scenario->nic_config);
    sim_attrs_fini(&net_switch_config_attrs, &scenario->switch_config);
    sim_attrs_fini(&net_link_config_attrs, &scenario->link);
    sim_attrs_fini(&net_config_attrs, &scenario->network);
    free_network_parts(scenario);
    world__own_nodes_fini(scenario);
    sim_attrs_fini(&world_outputs_config_attrs, &scenario->outputs);
    sim_attrs_fini(&world_fast_forward_config_attrs, &scenario->fast_forward);
    sim_attrs_fini(&app_programs_attrs, &scenario->programs_config);
    sim_attrs_fini(&world_run_config_attrs, &scenario->run);
    world_document_destroy(scenario->document);
    for (size_t i = 0; i < scenario->submitted_count; i++) {
        world_document_destroy(scenario->submitted[i]);
    }
    sim_free(scenario->submitted);
    world_registry_destroy(scenario->own_registry);
    sim_free(scenario);
}

// Takes the document.
static sim_err_t create_from_tree(const world_registry_t *registry, world_document_t *document,
                                  world_tree_t *root, const char *file_name,
                                  world_scenario_t **scenario, world_error_t *error)
{
    if (root->kind != WORLD_TREE_MAP) {
        world_fail(error, SIM_ERR_INVALID, &root->place,
                   "the file is %s, expected a scenario: a mapping with 'topology', 'traffic' and "
                   "others",
                   world_tree_kind_text(root));
        world_document_destroy(document);
        return SIM_ERR_INVALID;
    }
    return world_scenario_create(registry, document, root, file_name, scenario, error);
}

sim_err_t world_scenario_by_steps(world_scenario_t *scenario, const char *what,
                                  world_error_t *error)
{
    // A step may end within a window; with the ties of a rotor, its mail would then be sorted, and
    // its ties counted, again.
    if (scenario->run.ties != WORLD_TIES_HASH) {
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "%s: %s cannot use ties: %s, expected ties: hash", scenario->file_name,
                          what, scenario->run.ties == WORLD_TIES_ROTOR ? "rotor" : "insertion");
    }
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        if (scenario->traffic[i].ops->by_steps) {
            return world_fail(error, SIM_ERR_INVALID, &scenario->traffic[i].place,
                              "traffic.%s: %s cannot use it: processes of this machine decide how "
                              "far the time goes",
                              scenario->traffic[i].ops->name, what);
        }
    }
    scenario->steps = true;
    return SIM_OK;
}

sim_err_t world_scenario_for_session(world_scenario_t *scenario, world_error_t *error)
{
    const sim_err_t result = world_scenario_by_steps(scenario, "a session", error);
    if (result != SIM_OK) {
        return result;
    }
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        if (strcmp(scenario->traffic[i].ops->name, "session") == 0) {
            return SIM_OK;
        }
    }
    world_document_t *const document = scenario->document;
    const world_place_t place = {scenario->file_name, 0, 0};
    world_tree_t *const key = world_tree_new_scalar(document, place, "session");
    world_tree_t *const entry = world_tree_new(document, WORLD_TREE_MAP, place);
    world_tree_add(entry, key, world_tree_new(document, WORLD_TREE_MAP, place));
    scenario->session_added = true;
    return take_traffic_entry(scenario, entry, error);
}

sim_err_t world_scenario_load(const world_registry_t *registry, const char *file_name,
                              const world_override_t *overrides, size_t override_count,
                              world_scenario_t **scenario, world_error_t *error)
{
    world_document_t *const document = world_document_create();
    world_tree_t *root = NULL;
    const sim_err_t result = world_yaml_read(document, file_name, &root, error);
    if (result != SIM_OK) {
        world_document_destroy(document);
        return result;
    }
    return world_scenario_load_tree(registry, document, root, file_name, overrides, override_count,
                                    scenario, error);
}

// Reads an attribute of the top level, or its default.
static sim_err_t read_top(const world_tree_t *root, const char *name, world_run_config_t *config,
                          world_error_t *error)
{
    const sim_attr_t *const attr = sim_attr_find(&world_run_config_attrs, name);
    const world_tree_t *const value = world_tree_value(root, name);
    const bool given = value != NULL && value->kind == WORLD_TREE_SCALAR && !value->is_null;
    sim_message_t message;
    const sim_err_t result =
        sim_attr_set(attr, config, given ? value->text : attr->default_text, &message);
    return result == SIM_OK
               ? SIM_OK
               : world_fail(error, result, &value->place, "%s: %s", name, message.text);
}

sim_err_t world_needs_read(const char *file_name, const world_override_t *overrides,
                           size_t override_count, world_needs_t *needs, world_error_t *error)
{
    world_document_t *const document = world_document_create();
    world_tree_t *root = NULL;
    world_run_config_t config = {.format = 0};
    *needs = (world_needs_t){.plugins = NULL};
    sim_err_t result = world_yaml_read(document, file_name, &root, error);
    if (result == SIM_OK && root->kind != WORLD_TREE_MAP) {
        result = world_tree_fail(root, "the file", "a scenario: a mapping", error);
    }
    if (result == SIM_OK) {
        result = world__prepare_values(document, root, file_name, overrides, override_count, error);
    }
    if (result == SIM_OK) {
        result = read_top(root, "memory-max", &config, error);
    }
    if (result == SIM_OK) {
        result = read_top(root, "time-max", &config, error);
    }
    if (result == SIM_OK) {
        result =
            world__locate_plugins(root, file_name, &needs->plugins, &needs->plugin_count, error);
    }
    needs->memory_max_bytes = config.memory_max_bytes;
    needs->time_max_ps = config.time_max_ps;
    world_document_destroy(document);
    return result;
}

void world_needs_fini(world_needs_t *needs)
{
    for (size_t i = 0; i < needs->plugin_count; i++) {
        sim_free(needs->plugins[i].path);
        sim_free(needs->plugins[i].object);
    }
    sim_free(needs->plugins);
}

sim_err_t world_scenario_load_tree(const world_registry_t *registry, world_document_t *document,
                                   world_tree_t *root, const char *file_name,
                                   const world_override_t *overrides, size_t override_count,
                                   world_scenario_t **scenario, world_error_t *error)
{
    // A root that is no mapping is refused below, whatever the overrides say.
    const sim_err_t result =
        root->kind == WORLD_TREE_MAP
            ? world__prepare_values(document, root, file_name, overrides, override_count, error)
            : SIM_OK;
    if (result != SIM_OK) {
        world_document_destroy(document);
        return result;
    }
    return create_from_tree(registry, document, root, file_name, scenario, error);
}

sim_err_t world_scenario_parse(const world_registry_t *registry, const char *file_name,
                               const char *bytes, size_t size, world_scenario_t **scenario,
                               world_error_t *error)
{
    world_document_t *const document = world_document_create();
    const char *const origin = world_document_text(document, file_name);
    world_tree_t *root = NULL;
    const sim_err_t result = world_yaml_parse(document, origin, true, bytes, size, &root, error);
    if (result != SIM_OK) {
        world_document_destroy(document);
        return result;
    }
    return world_scenario_load_tree(registry, document, root, file_name, NULL, 0, scenario, error);
}
