// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/scenario.c - makes a scenario of a config of the HPCC ns-3 simulator.
//
// Each value keeps its place in the config, so that an error is reported there.
// docs/formats/hpcc.md
// lists which key sets which attribute, and what "compat" adds.
#include "cli/hpcc/hpcc.h"
#include "cli/hpcc/scenario_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A later stop means never; the clock ends after 18,446,744 s.
#define STOP_S_MAX 1e7

// -- putting values into the tree

static world_tree_t *child_map(const cli__maker_t *maker, world_tree_t *map, const char *key)
{
    const world_tree_entry_t *const found = world_tree_find(map, key);
    if (found != NULL) {
        return found->value;
    }
    world_tree_t *const made = world_tree_new(maker->document, WORLD_TREE_MAP, map->place);
    world_tree_add(map, world_tree_new_scalar(maker->document, map->place, key), made);
    return made;
}

// Sets the value at a dotted path below `map`.
static void put(const cli__maker_t *maker, world_tree_t *map, const char *path,
                const world_place_t *place, const char *text)
{
    char *const parts = sim_strdup(path);
    char *key = parts;
    for (char *dot = strchr(key, '.'); dot != NULL; dot = strchr(key, '.')) {
        *dot = '\0';
        map = child_map(maker, map, key);
        key = dot + 1;
    }
    world_tree_add(map, world_tree_new_scalar(maker->document, *place, key),
                   world_tree_new_scalar(maker->document, *place, text));
    sim_free(parts);
}

bool cli__maker_replaced(const cli__maker_t *maker, const char *path)
{
    for (size_t i = 0; i < maker->hpcc->override_count; i++) {
        const char *const text = maker->hpcc->overrides[i].text;
        const size_t size = strcspn(text, "=");
        if (strncmp(path, text, size) == 0 && (path[size] == '\0' || path[size] == '.')) {
            return true;
        }
    }
    return false;
}

// Counts that the key sets the attribute. Returns whether its value is refused and --set stands
// over it, so that there is nothing to put.
static bool use(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    cli_hpcc_value_t *const value = &maker->hpcc->config->values[key];
    const bool replaced = cli__maker_replaced(maker, path);
    value->uses++;
    value->replaced += replaced;
    return replaced && value->wrong != NULL;
}

void cli__maker_key(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key,
                    const char *format, ...)
{
    if (use(maker, path, key)) {
        return;
    }
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    put(maker, maker->root, path, &maker->config->values[key].place, text);
}

// Sets an attribute to a value that is fixed in the simulator's code.
void cli__maker_fixed(const cli__maker_t *maker, const char *path, const char *text)
{
    put(maker, maker->root, path, &maker->root->place, text);
}

bool cli__maker_on(const cli__maker_t *maker, cli_hpcc_key_t key)
{
    return cli_hpcc_number(maker->config, key) != 0;
}

const char *cli__maker_bool(bool value)
{
    return value ? "true" : "false";
}

void cli__maker_rate(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    cli__maker_key(maker, path, key, "%" PRIu64 "bps", cli_hpcc_number(maker->config, key));
}

void cli__maker_count(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    cli__maker_key(maker, path, key, "%" PRIu64, cli_hpcc_number(maker->config, key));
}

void cli__maker_text(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    cli__maker_key(maker, path, key, "%s", cli_hpcc_text(maker->config, key));
}

void cli__maker_flag(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    cli__maker_key(maker, path, key, "%s", cli__maker_bool(cli__maker_on(maker, key)));
}

sim_err_t cli__maker_need(const cli__maker_t *maker, cli_hpcc_key_t key, world_error_t *error)
{
    const char *const wrong = maker->config->values[key].wrong;
    return maker->config->values[key].has ? SIM_OK
           : wrong != NULL
               ? world_fail(error, SIM_ERR_INVALID, NULL, "%s", wrong)
               : world_fail(error, SIM_ERR_INVALID, &maker->config->values[key].place,
                            "no %s, expected one: the simulator has no value of its own for it",
                            cli_hpcc_key_name(key));
}

// -- the network

static void put_topology(const cli__maker_t *maker)
{
    cli__maker_key(maker, "topology.file.path", CLI_HPCC_TOPOLOGY_FILE, "%s",
                   maker->hpcc->topology_file.path);
    cli__maker_key(maker, "topology.file.format", CLI_HPCC_TOPOLOGY_FILE, "hpcc");
    cli__maker_text(maker, "topology.file.loss-rate", CLI_HPCC_ERROR_RATE_PER_LINK);
}

// Returns whether a node is a switch that marks packets. NVSwitches do not: NVLink is exempt from
// congestion control.
static bool marks(const topo_file_node_t *node)
{
    return node->kind == NET_NODE_SWITCH && !node->nvswitch;
}

// Collects the different rates of the ports of switches that mark, and returns their number.
static size_t collect_rates(const topo_file_t *file, uint64_t *rates, size_t rates_max)
{
    size_t count = 0;
    for (size_t i = 0; i < file->link_count; i++) {
        const topo_file_link_t *const link = &file->links[i];
        if (!marks(&file->nodes[link->a]) && !marks(&file->nodes[link->b])) {
            continue;
        }
        size_t r = 0;
        while (r < count && rates[r] != link->rate_bps) {
            r++;
        }
        if (r == count && count < rates_max) {
            rates[count++] = link->rate_bps;
        }
    }
    return count;
}

static sim_err_t put_marking(const cli__maker_t *maker, world_error_t *error)
{
    const cli_hpcc_config_t *const config = maker->config;
    cli__maker_flag(maker, "switch.ecn.enabled", CLI_HPCC_ENABLE_QCN);
    if (!cli__maker_on(maker, CLI_HPCC_ENABLE_QCN)) {
        return SIM_OK; // ECN is off, so the marking tables have no effect
    }
    // Each key counts as used, whichever is given.
    const bool has_kmin = use(maker, "switch.ecn.profiles", CLI_HPCC_KMIN_MAP);
    const bool has_kmax = use(maker, "switch.ecn.profiles", CLI_HPCC_KMAX_MAP);
    const bool has_pmax = use(maker, "switch.ecn.profiles", CLI_HPCC_PMAX_MAP);
    if (has_kmin || has_kmax || has_pmax || cli__maker_replaced(maker, "switch.ecn.profiles")) {
        return SIM_OK;
    }
    for (size_t i = 0; i < maker->hpcc->topology->node_count; i++) {
        const topo_file_node_t *const node = &maker->hpcc->topology->nodes[i];
        if (node->nvswitch) {
            world_tree_t *const nodes = child_map(maker, maker->root, "nodes");
            put(maker, child_map(maker, nodes, node->name), "switch.ecn.enabled",
                &config->values[CLI_HPCC_ENABLE_QCN].place, "false");
        }
    }
    uint64_t rates[SIM_PROFILES_MAX + 1];
    const size_t count = collect_rates(maker->hpcc->topology, rates, SIM_COUNT_OF(rates));
    if (count > SIM_PROFILES_MAX) {
        return world_fail(error, SIM_ERR_RANGE, &config->values[CLI_HPCC_KMIN_MAP].place,
                          "switches with ports of more than %u rates, expected fewer",
                          (unsigned)SIM_PROFILES_MAX);
    }
    char text[SIM_PROFILES_MAX * 128 + 8] = "[";
    for (size_t i = 0; i < count; i++) {
        const cli_hpcc_row_t *const kmin = cli_hpcc_find(&config->kmin, rates[i]);
        const cli_hpcc_row_t *const kmax = cli_hpcc_find(&config->kmax, rates[i]);
        const cli_hpcc_row_t *const pmax = cli_hpcc_find(&config->pmax, rates[i]);
        if (kmin == NULL || kmax == NULL || pmax == NULL) {
            const cli_hpcc_key_t key = kmin == NULL   ? CLI_HPCC_KMIN_MAP
                                       : kmax == NULL ? CLI_HPCC_KMAX_MAP
                                                      : CLI_HPCC_PMAX_MAP;
            return world_fail(error, SIM_ERR_INVALID, &config->values[key].place,
                              "%s has no row for ports of %" PRIu64 " bit/s, expected one for each "
                              "rate of the topology",
                              cli_hpcc_key_name(key), rates[i]);
        }
        if (kmin->number.num > kmax->number.num) {
            return world_fail(error, SIM_ERR_RANGE, &kmin->place,
                              "a KMIN_MAP of %" PRIu64 " for ports of %" PRIu64
                              " bit/s, expected at most its KMAX_MAP, which is %" PRIu64,
                              kmin->number.num, rates[i], kmax->number.num);
        }
        const size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length,
                 "%s%" PRIu64 "bps %" PRIu64 "KB %" PRIu64 "KB %" PRIu64 "/%" PRIu64,
                 i > 0 ? ", " : "", rates[i], kmin->number.num, kmax->number.num, pmax->number.num,
                 pmax->number.den);
    }
    if (count > 0) {
        cli__maker_key(maker, "switch.ecn.profiles", CLI_HPCC_KMIN_MAP, "%s]", text);
    }
    return SIM_OK;
}

// Makes every class that a flow uses lossless.
static void put_classes(const cli__maker_t *maker)
{
    unsigned classes = 0;
    for (size_t i = 0; i < maker->hpcc->flows.count; i++) {
        classes |= 1u << maker->hpcc->flows.rows[i].priority;
    }
    char text[64] = "[";
    for (unsigned p = 0; p < NET_PRIORITIES; p++) {
        if ((classes >> p & 1u) != 0) {
            const size_t length = strlen(text);
            snprintf(text + length, sizeof(text) - length, "%s%u", length > 1 ? ", " : "", p);
        }
    }
    cli__maker_key(maker, "switch.pfc.priorities", CLI_HPCC_FLOW_FILE, "%s]", text);
}

static sim_err_t put_switch(const cli__maker_t *maker, world_error_t *error)
{
    cli__maker_key(maker, "switch.buffer", CLI_HPCC_BUFFER_SIZE, "%" PRIu64 "MiB",
                   cli_hpcc_number(maker->config, CLI_HPCC_BUFFER_SIZE));
    cli__maker_flag(maker, "switch.pfc.enabled", CLI_HPCC_ENABLE_PFC);
    put_classes(maker);
    return put_marking(maker, error);
}

static sim_err_t put_link_down(const cli__maker_t *maker, world_error_t *error)
{
    const cli_hpcc_config_t *const config = maker->config;
    const topo_file_t *const file = maker->hpcc->topology;
    const world_place_t *const place = &config->values[CLI_HPCC_LINK_DOWN].place;
    if (config->down_us == 0) {
        return SIM_OK;
    }
    const uint64_t a = config->down_a;
    const uint64_t b = config->down_b;
    bool found = false;
    for (size_t i = 0; i < file->link_count && !found; i++) {
        const topo_file_link_t *const link = &file->links[i];
        found = (link->a == a && link->b == b) || (link->a == b && link->b == a);
    }
    if (!found) {
        return world_fail(error, SIM_ERR_UNKNOWN, place,
                          "LINK_DOWN: no link joins %" PRIu64 " and %" PRIu64
                          ", expected a link of the topology",
                          a, b);
    }
    char *const name = sim_format("%s--%s", file->nodes[a].name, file->nodes[b].name);
    world_tree_t *const links = child_map(maker, maker->root, "links");
    // The simulator counts this time from 2 s, the usual start of flows.
    char text[64];
    snprintf(text, sizeof(text), "%" PRIu64 "us", 2000000 + config->down_us);
    put(maker, child_map(maker, links, name), "down.at", place, text);
    sim_free(name);
    cli__maker_fixed(maker, "network.convergence", "0ps");
    return SIM_OK;
}

// -- the simulator's models

// Sets the bytes of a data frame without payload, and of an ACK. Telemetry of INT or PINT is added
// to them.
static void put_frames(const cli__maker_t *maker)
{
    const uint64_t mode = cli_hpcc_number(maker->config, CLI_HPCC_CC_MODE);
    const unsigned header = mode == 7 ? 48 + 8 : 48; // TIMELY adds a time stamp of 8 bytes
    const unsigned ack = mode == 3 ? 46 : mode == 10 ? 60 - 2 : 60;
    cli__maker_key(maker, "nic.bare.header", CLI_HPCC_CC_MODE, "%u", header);
    cli__maker_key(maker, "nic.bare.ack", CLI_HPCC_CC_MODE, "%u", ack);
}

// Sets what keeps the experiment equal with either simulator's models: the path of each flow, and
// the order of senders that start at the same instant.
static void put_experiment(const cli__maker_t *maker)
{
    cli__maker_fixed(maker, "ties", "insertion");
    cli__maker_fixed(maker, "network.load-balancer", "hpcc");
    cli__maker_fixed(maker, "network.routes", "hpcc");
    cli__maker_fixed(maker, "hpcc.ecmp-port", "0"); // 0: each flow hashes its own port
}

// Returns how many random streams the simulator's set-up uses: six per node (its protocol stack),
// two for the error model of all links, and two for each link with its own error rate.
static uint64_t streams_used(const topo_file_t *file)
{
    uint64_t used = UINT64_C(6) * file->node_count + 2;
    for (size_t i = 0; i < file->link_count; i++) {
        used += file->links[i].loss_rate.num > 0 ? 2 : 0;
    }
    return used;
}

static void put_compat(const cli__maker_t *maker)
{
    static const struct {
        const char *path;
        const char *text;
    } values[] = {
        {"network.framing", "hpcc"},
        {"network.timing", "hpcc"},
        {"hpcc.pause-expires", "false"},
        {"hpcc.down-first", "true"},
        {"switch.mmu", "hpcc"},
        {"switch.pfc.alpha", "1/8"},
        {"switch.pfc.reserved", "4096"},
        {"switch.pfc.xon-offset", "3072"},
        {"network.int-reserved-hops", "5"},
        {"hpcc.draws", "hpcc"},
        {"nic.path-rtt", "hpcc"},
        {"nic.scheduler", "scan"},
        {"nic.window-overshoot", "true"},
        {"nic.ack-duplicates", "false"},
        {"nic.frames", "bare"},
        {"nic.nak-interval", "500us"},
        {"nic.timeout", "0"},
    };
    const bool irn = cli__maker_on(maker, CLI_HPCC_ENABLE_IRN); // the only one with time-outs
    for (size_t i = 0; i < SIM_COUNT_OF(values) - irn; i++) {
        cli__maker_fixed(maker, values[i].path, values[i].text);
    }
    if (irn) { // as in ConWeave's code
        cli__maker_fixed(maker, "nic.irn.rto-low", "100us");
        cli__maker_fixed(maker, "nic.irn.rto-high", "320us");
    }
    put_frames(maker);
    cli__maker_key(maker, "hpcc.draws-used", CLI_HPCC_TOPOLOGY_FILE, "%" PRIu64,
                   streams_used(maker->hpcc->topology));
    const uint64_t mode = cli_hpcc_number(maker->config, CLI_HPCC_CC_MODE);
    cli__maker_key(maker, "nic.scan.rate-change", CLI_HPCC_CC_MODE,
                   mode == 3 || mode == 10 ? "last-packet" : "never");
    cli__maker_key(maker, "nic.scan.ack-pause-class", CLI_HPCC_ACK_HIGH_PRIO,
                   cli__maker_on(maker, CLI_HPCC_ACK_HIGH_PRIO) ? "0" : "3");
}

// -- the rest

static void put_traffic(const cli__maker_t *maker)
{
    const world_place_t *const place = &maker->config->values[CLI_HPCC_FLOW_FILE].place;
    world_tree_t *const list = world_tree_new(maker->document, WORLD_TREE_LIST, *place);
    world_tree_t *const entry = world_tree_new(maker->document, WORLD_TREE_MAP, *place);
    put(maker, entry, "flows.file", place, maker->hpcc->flow_file.path);
    put(maker, entry, "flows.format", place, "hpcc");
    world_tree_add(list, NULL, entry);
    world_tree_add(maker->root, world_tree_new_scalar(maker->document, *place, "traffic"), list);
}

static void put_run(const cli__maker_t *maker)
{
    char *const folder = getcwd(NULL, 0);
    cli__maker_fixed(maker, "folder", folder != NULL ? folder : ".");
    free(folder);
    const char *const stop = cli_hpcc_text(maker->config, CLI_HPCC_SIMULATOR_STOP_TIME);
    const bool never = strtod(stop, NULL) > STOP_S_MAX;
    cli__maker_key(maker, "until", CLI_HPCC_SIMULATOR_STOP_TIME, never ? "never" : "%ss", stop);
    if (never) {
        cli_hpcc_note(maker->hpcc, &maker->config->values[CLI_HPCC_SIMULATOR_STOP_TIME].place,
                      "a stop after %s s is never: the run ends with its traffic", stop);
    }
}

sim_err_t cli_hpcc_scenario(cli_hpcc_t *hpcc, world_document_t *document, world_tree_t **root,
                            world_error_t *error)
{
    const char *const origin = world_document_text(document, hpcc->config->file_name);
    const world_place_t place = {origin, 1, 1};
    const cli__maker_t maker = {
        .hpcc = hpcc,
        .config = hpcc->config,
        .document = document,
        .root = world_tree_new(document, WORLD_TREE_MAP, place),
    };
    put_run(&maker);
    put_topology(&maker);
    sim_err_t result = put_switch(&maker, error);
    if (result == SIM_OK) {
        result = put_link_down(&maker, error);
    }
    if (result == SIM_OK) {
        result = cli__maker_nic(&maker, error);
    }
    put_experiment(&maker);
    if (hpcc->compat) {
        put_compat(&maker);
    }
    put_traffic(&maker);
    *root = maker.root;
    return result == SIM_OK ? cli_hpcc_config_check(hpcc->config, error) : result;
}
