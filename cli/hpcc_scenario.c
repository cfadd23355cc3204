// SPDX-License-Identifier: Apache-2.0
// cli/hpcc_scenario.c - the scenario that a config of the HPCC ns-3 simulator amounts to.
//
// Every value keeps the place of the config it comes from, so that what an attribute refuses is
// reported there. Which key sets which attribute, and what "compat" adds: docs/formats/hpcc.md.
#include "cli/hpcc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct maker {
    cli_hpcc_t *hpcc;
    const cli_hpcc_config_t *config;
    cli_document_t *document;
    cli_tree_t *root;
} maker_t;

// -- putting values into the tree

static cli_tree_t *child_map(const maker_t *maker, cli_tree_t *map, const char *key)
{
    const cli_tree_entry_t *const found = cli_tree_find(map, key);
    if (found != NULL) {
        return found->value;
    }
    cli_tree_t *const made = cli_tree_new(maker->document, CLI_TREE_MAP, map->place);
    cli_tree_add(map, cli_tree_new_scalar(maker->document, map->place, key), made);
    return made;
}

// Sets the value at a dotted path below map.
static void put(const maker_t *maker,
                cli_tree_t *map,
                const char *path,
                const cli_place_t *place,
                const char *text)
{
    char *const parts = sim_strdup(path);
    char *key = parts;
    for (char *dot = strchr(key, '.'); dot != NULL; dot = strchr(key, '.')) {
        *dot = '\0';
        map = child_map(maker, map, key);
        key = dot + 1;
    }
    cli_tree_add(map,
                 cli_tree_new_scalar(maker->document, *place, key),
                 cli_tree_new_scalar(maker->document, *place, text));
    sim_free(parts);
}

// A value that comes from a key.
static void put_key(const maker_t *maker,
                    const char *path,
                    cli_hpcc_key_t key,
                    const char *format,
                    ...) SIM_PRINTF(4, 5);
static void put_key(const maker_t *maker,
                    const char *path,
                    cli_hpcc_key_t key,
                    const char *format,
                    ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    put(maker, maker->root, path, &maker->config->values[key].place, text);
}

// A value that comes from the simulator's code.
static void put_fixed(const maker_t *maker, const char *path, const char *text)
{
    put(maker, maker->root, path, &maker->root->place, text);
}

static bool on(const maker_t *maker, cli_hpcc_key_t key)
{
    return cli_hpcc_number(maker->config, key) != 0;
}

static const char *text_of(bool value)
{
    return value ? "true" : "false";
}

static void put_rate(const maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    put_key(maker, path, key, "%" PRIu64 "bps", cli_hpcc_number(maker->config, key));
}

static void put_count(const maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    put_key(maker, path, key, "%" PRIu64, cli_hpcc_number(maker->config, key));
}

static void put_text(const maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    put_key(maker, path, key, "%s", cli_hpcc_text(maker->config, key));
}

static void put_flag(const maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    put_key(maker, path, key, "%s", text_of(on(maker, key)));
}

static sim_err_t need(const maker_t *maker, cli_hpcc_key_t key, cli_error_t *error)
{
    return maker->config->values[key].has
               ? SIM_OK
               : cli_fail(error,
                          SIM_ERR_INVALID,
                          &maker->config->values[key].place,
                          "no %s, expected one: the simulator has no value of its own for it",
                          cli_hpcc_key_name(key));
}

// -- the network

static void put_topology(const maker_t *maker)
{
    put_key(maker,
            "topology.file.path",
            CLI_HPCC_TOPOLOGY_FILE,
            "%s",
            maker->hpcc->topology_file.path);
    put_key(maker, "topology.file.format", CLI_HPCC_TOPOLOGY_FILE, "hpcc");
    put_text(maker, "topology.file.loss-rate", CLI_HPCC_ERROR_RATE_PER_LINK);
}

// Rates of the ports of switches, each once.
static size_t collect_rates(const topo_file_t *file, uint64_t *rates, size_t rates_max)
{
    size_t count = 0;
    for (size_t i = 0; i < file->link_count; i++) {
        const topo_file_link_t *const link = &file->links[i];
        if (file->nodes[link->a].kind != NET_NODE_SWITCH &&
            file->nodes[link->b].kind != NET_NODE_SWITCH) {
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

static sim_err_t put_marking(const maker_t *maker, cli_error_t *error)
{
    const cli_hpcc_config_t *const config = maker->config;
    put_flag(maker, "switch.ecn.enabled", CLI_HPCC_ENABLE_QCN);
    if (!on(maker, CLI_HPCC_ENABLE_QCN)) {
        return SIM_OK; // nothing is marked, whatever the tables say
    }
    uint64_t rates[SIM_PROFILES_MAX + 1];
    const size_t count = collect_rates(maker->hpcc->topology, rates, SIM_COUNT_OF(rates));
    if (count > SIM_PROFILES_MAX) {
        return cli_fail(error,
                        SIM_ERR_RANGE,
                        &config->values[CLI_HPCC_KMIN_MAP].place,
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
            return cli_fail(error,
                            SIM_ERR_INVALID,
                            &config->values[key].place,
                            "%s has no row for ports of %" PRIu64 " bit/s, expected one for each "
                            "rate of the topology",
                            cli_hpcc_key_name(key),
                            rates[i]);
        }
        if (kmin->number.num > kmax->number.num) {
            return cli_fail(error,
                            SIM_ERR_RANGE,
                            &kmin->place,
                            "a KMIN_MAP of %" PRIu64 " for ports of %" PRIu64
                            " bit/s, expected at most its KMAX_MAP, which is %" PRIu64,
                            kmin->number.num,
                            rates[i],
                            kmax->number.num);
        }
        const size_t length = strlen(text);
        snprintf(text + length,
                 sizeof(text) - length,
                 "%s%" PRIu64 "bps %" PRIu64 "KB %" PRIu64 "KB %" PRIu64 "/%" PRIu64,
                 i > 0 ? ", " : "",
                 rates[i],
                 kmin->number.num,
                 kmax->number.num,
                 pmax->number.num,
                 pmax->number.den);
    }
    if (count > 0) {
        put_key(maker, "switch.ecn.profiles", CLI_HPCC_KMIN_MAP, "%s]", text);
    }
    return SIM_OK;
}

// Every class that a flow uses is lossless.
static void put_classes(const maker_t *maker)
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
    put_key(maker, "switch.pfc.priorities", CLI_HPCC_FLOW_FILE, "%s]", text);
}

static sim_err_t put_switch(const maker_t *maker, cli_error_t *error)
{
    put_key(maker,
            "switch.buffer",
            CLI_HPCC_BUFFER_SIZE,
            "%" PRIu64 "MiB",
            cli_hpcc_number(maker->config, CLI_HPCC_BUFFER_SIZE));
    put_flag(maker, "switch.pfc.enabled", CLI_HPCC_ENABLE_PFC);
    put_classes(maker);
    return put_marking(maker, error);
}

static sim_err_t put_link_down(const maker_t *maker, cli_error_t *error)
{
    const cli_hpcc_config_t *const config = maker->config;
    const topo_file_t *const file = maker->hpcc->topology;
    const cli_place_t *const place = &config->values[CLI_HPCC_LINK_DOWN].place;
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
        return cli_fail(error,
                        SIM_ERR_UNKNOWN,
                        place,
                        "LINK_DOWN: no link joins %" PRIu64 " and %" PRIu64
                        ", expected a link of the topology",
                        a,
                        b);
    }
    char *const name = sim_format("%s--%s", file->nodes[a].name, file->nodes[b].name);
    cli_tree_t *const links = child_map(maker, maker->root, "links");
    // The time counts from 2 s, when flows begin by habit.
    char text[64];
    snprintf(text, sizeof(text), "%" PRIu64 "us", 2000000 + config->down_us);
    put(maker, child_map(maker, links, name), "down.at", place, text);
    sim_free(name);
    put_fixed(maker, "network.convergence", "0ps");
    return SIM_OK;
}

// -- the hosts

static void put_time(const maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    put_key(maker, path, key, "%sus", cli_hpcc_text(maker->config, key));
}

// DCQCN as the simulator has it.
static void put_dcqcn_compat(const maker_t *maker)
{
    put_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "dcqcn-hpcc");
    put_time(maker, "nic.dcqcn-hpcc.alpha-period", CLI_HPCC_ALPHA_RESUME_INTERVAL);
    put_time(maker, "nic.dcqcn-hpcc.cut-period", CLI_HPCC_RATE_DECREASE_INTERVAL);
    put_time(maker, "nic.dcqcn-hpcc.increase-period", CLI_HPCC_RP_TIMER);
    put_text(maker, "nic.dcqcn-hpcc.gain", CLI_HPCC_EWMA_GAIN);
    put_count(maker, "nic.dcqcn-hpcc.fast-recovery", CLI_HPCC_FAST_RECOVERY_TIMES);
    put_rate(maker, "nic.dcqcn-hpcc.additive-rate", CLI_HPCC_RATE_AI);
    put_rate(maker, "nic.dcqcn-hpcc.hyper-rate", CLI_HPCC_RATE_HAI);
    put_rate(maker, "nic.dcqcn-hpcc.min-rate", CLI_HPCC_MIN_RATE);
    put_flag(maker, "nic.dcqcn-hpcc.clamp-target", CLI_HPCC_CLAMP_TARGET_RATE);
    put_key(maker,
            "nic.dcqcn-hpcc.scaled-window",
            CLI_HPCC_VAR_WIN,
            "%s",
            text_of(on(maker, CLI_HPCC_HAS_WIN) && on(maker, CLI_HPCC_VAR_WIN)));
}

// The window of algorithms that have none of their own: a BDP, whole or in proportion to the rate.
static void put_bdp_window(const maker_t *maker)
{
    put_key(maker,
            "nic.bdp-window",
            CLI_HPCC_HAS_WIN,
            !on(maker, CLI_HPCC_HAS_WIN)  ? "none"
            : on(maker, CLI_HPCC_VAR_WIN) ? "scaled"
                                          : "fixed");
}

static sim_err_t put_dcqcn(const maker_t *maker, cli_error_t *error)
{
    const cli_hpcc_config_t *const config = maker->config;
    static const cli_hpcc_key_t needed[] = {CLI_HPCC_RP_TIMER,
                                            CLI_HPCC_EWMA_GAIN,
                                            CLI_HPCC_RATE_AI,
                                            CLI_HPCC_RATE_HAI};
    for (size_t i = 0; i < SIM_COUNT_OF(needed); i++) {
        const sim_err_t result = need(maker, needed[i], error);
        if (result != SIM_OK) {
            return result;
        }
    }
    if (maker->hpcc->compat) {
        put_dcqcn_compat(maker);
        return SIM_OK;
    }
    put_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "dcqcn");
    put_fixed(maker, "nic.dcqcn.feedback", "ack"); // as CC_MODE 1 has it
    put_time(maker, "nic.dcqcn.dce-tcp-rtt", CLI_HPCC_ALPHA_RESUME_INTERVAL);
    put_time(maker, "nic.dcqcn.rate-reduce-monitor-period", CLI_HPCC_RATE_DECREASE_INTERVAL);
    put_time(maker, "nic.dcqcn.rpg-time-reset", CLI_HPCC_RP_TIMER);
    put_rate(maker, "nic.dcqcn.rpg-ai-rate", CLI_HPCC_RATE_AI);
    put_rate(maker, "nic.dcqcn.rpg-hai-rate", CLI_HPCC_RATE_HAI);
    put_rate(maker, "nic.dcqcn.rpg-min-rate", CLI_HPCC_MIN_RATE);
    put_count(maker, "nic.dcqcn.rpg-threshold", CLI_HPCC_FAST_RECOVERY_TIMES);
    put_flag(maker, "nic.dcqcn.clamp-tgt-rate", CLI_HPCC_CLAMP_TARGET_RATE);
    const double gain = strtod(cli_hpcc_text(config, CLI_HPCC_EWMA_GAIN), NULL);
    put_key(maker,
            "nic.dcqcn.dce-tcp-g",
            CLI_HPCC_EWMA_GAIN,
            "%d",
            gain < 1.0 ? (int)(1024.0 * (1.0 - gain) + 0.5) : 0);
    put_fixed(maker, "nic.dcqcn.rpg-byte-reset", "0");
    put_fixed(maker, "nic.dcqcn.initial-alpha-value", "1024");
    put_bdp_window(maker);
    return SIM_OK;
}

// CC_MODE 3 and 10 share their law; prefix is "nic.hpcc" or "nic.hpcc-pint".
static sim_err_t put_hpcc_law(const maker_t *maker, const char *prefix, cli_error_t *error)
{
    const sim_err_t result = need(maker, CLI_HPCC_RATE_AI, error);
    if (result != SIM_OK) {
        return result;
    }
    const char *const limit = !on(maker, CLI_HPCC_HAS_WIN)  ? "none"
                              : on(maker, CLI_HPCC_VAR_WIN) ? "scaled"
                                                            : "fixed";
    const char *const reaction = on(maker, CLI_HPCC_FAST_REACT) ? "reference" : "per-rtt-only";
    char path[64];
#define PATH(name) (snprintf(path, sizeof(path), "%s." name, prefix), path)
    put_key(maker, PATH("law"), CLI_HPCC_RATE_AI, "rate");
    put_key(maker, PATH("reaction"), CLI_HPCC_FAST_REACT, "%s", reaction);
    put_key(maker, PATH("limit"), CLI_HPCC_HAS_WIN, "%s", limit);
    put_text(maker, PATH("eta"), CLI_HPCC_U_TARGET);
    put_count(maker, PATH("max-stage"), CLI_HPCC_MI_THRESH);
    put_rate(maker, PATH("rate-ai"), CLI_HPCC_RATE_AI);
    put_rate(maker, PATH("min-rate"), CLI_HPCC_MIN_RATE);
#undef PATH
    return SIM_OK;
}

static sim_err_t put_hpcc(const maker_t *maker, cli_error_t *error)
{
    put_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "hpcc");
    put_flag(maker, "nic.hpcc.multi-rate", CLI_HPCC_MULTI_RATE);
    put_flag(maker, "nic.hpcc.sample-feedback", CLI_HPCC_SAMPLE_FEEDBACK);
    put_count(maker, "network.int-multiplier", CLI_HPCC_INT_MULTI);
    return put_hpcc_law(maker, "nic.hpcc", error);
}

static sim_err_t put_hpcc_pint(const maker_t *maker, cli_error_t *error)
{
    put_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "hpcc-pint");
    put_text(maker, "nic.hpcc-pint.probability", CLI_HPCC_PINT_PROB);
    put_text(maker, "network.pint-base", CLI_HPCC_PINT_LOG_BASE);
    put_key(maker,
            "network.pint-rtt",
            CLI_HPCC_TOPOLOGY_FILE,
            "%" PRIu64 "ns",
            maker->hpcc->rtt_ns_max);
    return put_hpcc_law(maker, "nic.hpcc-pint", error);
}

static sim_err_t put_timely(const maker_t *maker, cli_error_t *error)
{
    sim_err_t result = need(maker, CLI_HPCC_RATE_AI, error);
    if (result == SIM_OK) {
        result = need(maker, CLI_HPCC_RATE_HAI, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    put_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "timely");
    put_key(maker, "nic.timely.update", CLI_HPCC_CC_MODE, "rtt");
    put_key(maker, "nic.timely.burst", CLI_HPCC_CC_MODE, "false");
    put_key(maker, "nic.timely.start", CLI_HPCC_CC_MODE, "line");
    put_key(maker, "nic.timely.exclude-serialisation", CLI_HPCC_CC_MODE, "false");
    put_rate(maker, "nic.timely.ai-rate", CLI_HPCC_RATE_AI);
    put_rate(maker, "nic.timely.hai-rate", CLI_HPCC_RATE_HAI);
    put_rate(maker, "nic.timely.min-rate", CLI_HPCC_MIN_RATE);
    put_bdp_window(maker);
    return SIM_OK;
}

static sim_err_t put_dctcp(const maker_t *maker, cli_error_t *error)
{
    const sim_err_t result = need(maker, CLI_HPCC_EWMA_GAIN, error);
    if (result != SIM_OK) {
        return result;
    }
    put_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "dctcp");
    put_text(maker, "nic.dctcp.g", CLI_HPCC_EWMA_GAIN);
    put_rate(maker, "nic.dctcp.ai-rate", CLI_HPCC_DCTCP_RATE_AI);
    put_rate(maker, "nic.dctcp.min-rate", CLI_HPCC_MIN_RATE);
    put_bdp_window(maker);
    return SIM_OK;
}

static sim_err_t put_algorithm(const maker_t *maker, cli_error_t *error)
{
    static const struct {
        uint64_t mode;
        sim_err_t (*put)(const maker_t *maker, cli_error_t *error);
    } modes[] = {
        {1, put_dcqcn},
        {3, put_hpcc},
        {7, put_timely},
        {8, put_dctcp},
        {10, put_hpcc_pint},
    };
    const uint64_t mode = cli_hpcc_number(maker->config, CLI_HPCC_CC_MODE);
    for (size_t i = 0; i < SIM_COUNT_OF(modes); i++) {
        if (modes[i].mode == mode) {
            return modes[i].put(maker, error);
        }
    }
    return cli_fail(error,
                    SIM_ERR_UNKNOWN,
                    &maker->config->values[CLI_HPCC_CC_MODE].place,
                    "CC_MODE %" PRIu64 ", expected 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP) or "
                    "10 (HPCC-PINT)",
                    mode);
}

static sim_err_t put_nic(const maker_t *maker, cli_error_t *error)
{
    const cli_hpcc_config_t *const config = maker->config;
    const uint64_t payload = cli_hpcc_number(config, CLI_HPCC_PACKET_PAYLOAD_SIZE);
    uint64_t mtu = 256;
    while (mtu < payload && mtu < 4096) {
        mtu *= 2;
    }
    put_key(maker,
            "nic.mtu",
            CLI_HPCC_PACKET_PAYLOAD_SIZE,
            "%" PRIu64,
            maker->hpcc->compat ? payload : mtu);
    put_flag(maker, "nic.rate-bound", CLI_HPCC_RATE_BOUND);
    if (on(maker, CLI_HPCC_L2_BACK_TO_ZERO)) {
        put_key(maker, "nic.retransmission", CLI_HPCC_L2_BACK_TO_ZERO, "go-back-0");
        put_count(maker, "nic.retransmission-chunk", CLI_HPCC_L2_CHUNK_SIZE);
    }
    const uint64_t mode = cli_hpcc_number(config, CLI_HPCC_CC_MODE);
    const bool own = mode == 7 || mode == 8 || (mode == 1 && !maker->hpcc->compat); // bdp-window
    if (on(maker, CLI_HPCC_HAS_WIN) && on(maker, CLI_HPCC_GLOBAL_T) && !own) {
        put_key(maker, "nic.window", CLI_HPCC_HAS_WIN, "%" PRIu64, maker->hpcc->bdp_bytes_max);
    }
    if (on(maker, CLI_HPCC_GLOBAL_T)) {
        put_key(maker, "nic.base-rtt", CLI_HPCC_GLOBAL_T, "%" PRIu64 "ns", maker->hpcc->rtt_ns_max);
    }
    return put_algorithm(maker, error);
}

// -- the simulator's models

// Destination port of the flows, as far as the hash for paths is concerned; 100 by habit.
static uint32_t service_port(const maker_t *maker)
{
    const app_flow_file_t *const flows = &maker->hpcc->flows;
    const uint32_t port = flows->count > 0 ? flows->rows[0].destination_port : 100;
    for (size_t i = 0; i < flows->count; i++) {
        if (flows->rows[i].destination_port != port) {
            const cli_place_t place = {maker->hpcc->flow_file.path,
                                       (int)flows->rows[i].line,
                                       (int)flows->rows[i].column};
            cli_hpcc_note(maker->hpcc,
                          &place,
                          "flows have several destination ports: paths are chosen as if all had %u",
                          port);
            break;
        }
    }
    return port;
}

// Bytes of a data frame without payload, and of an ACK; telemetry of INT and PINT comes on top.
static void put_frames(const maker_t *maker)
{
    const uint64_t mode = cli_hpcc_number(maker->config, CLI_HPCC_CC_MODE);
    const unsigned header = mode == 7 ? 48 + 8 : 48; // TIMELY's time stamp
    const double base = strtod(cli_hpcc_text(maker->config, CLI_HPCC_PINT_LOG_BASE), NULL);
    const unsigned digest = base < 1.045 ? 2 : 1;
    const unsigned ack = mode == 3 ? 46 : mode == 10 ? 60 - digest : 60;
    put_key(maker, "nic.frame-header", CLI_HPCC_CC_MODE, "%u", header);
    put_key(maker, "nic.frame-ack", CLI_HPCC_CC_MODE, "%u", ack);
}

// What makes a run the same experiment, whoever's models it runs on: which path each flow takes,
// and who goes first where all senders start in one instant.
static void put_experiment(const maker_t *maker)
{
    put_fixed(maker, "ties", "insertion");
    put_fixed(maker, "network.ecmp", "murmur3");
    put_fixed(maker, "network.next-hops", "last-node-first");
    put_key(maker, "network.ecmp-port", CLI_HPCC_FLOW_FILE, "%u", service_port(maker));
}

static void put_compat(const maker_t *maker)
{
    static const struct {
        const char *path;
        const char *text;
    } values[] = {
        {"network.link-overhead", "false"},
        {"network.whole-ns", "true"},
        {"network.pause-expires", "false"},
        {"network.pause-frame", "43"},
        {"switch.mmu", "hpcc"},
        {"switch.pfc.alpha", "1/8"},
        {"switch.pfc.reserved", "4096"},
        {"switch.pfc.xon-offset", "3072"},
        {"network.int-reserved-hops", "5"},
        {"nic.scheduler", "scan"},
        {"nic.window-overshoot", "true"},
        {"nic.ack-duplicates", "false"},
        {"nic.any-mtu", "true"},
        {"nic.nak-interval", "500us"},
        {"nic.timeout", "0"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(values); i++) {
        put_fixed(maker, values[i].path, values[i].text);
    }
    put_frames(maker);
    const uint64_t mode = cli_hpcc_number(maker->config, CLI_HPCC_CC_MODE);
    put_key(maker,
            "nic.rate-change",
            CLI_HPCC_CC_MODE,
            mode == 3 || mode == 10 ? "last-packet" : "never");
    put_key(maker,
            "nic.ack-pause-class",
            CLI_HPCC_ACK_HIGH_PRIO,
            on(maker, CLI_HPCC_ACK_HIGH_PRIO) ? "0" : "3");
}

// -- the rest

static void put_traffic(const maker_t *maker)
{
    const cli_place_t *const place = &maker->config->values[CLI_HPCC_FLOW_FILE].place;
    cli_tree_t *const list = cli_tree_new(maker->document, CLI_TREE_LIST, *place);
    cli_tree_t *const entry = cli_tree_new(maker->document, CLI_TREE_MAP, *place);
    put(maker, entry, "flows.file", place, maker->hpcc->flow_file.path);
    put(maker, entry, "flows.format", place, "hpcc");
    cli_tree_add(list, NULL, entry);
    cli_tree_add(maker->root, cli_tree_new_scalar(maker->document, *place, "traffic"), list);
}

static void put_run(const maker_t *maker)
{
    char *const folder = getcwd(NULL, 0);
    put_fixed(maker, "folder", folder != NULL ? folder : ".");
    free(folder);
    put_key(maker,
            "until",
            CLI_HPCC_SIMULATOR_STOP_TIME,
            "%ss",
            cli_hpcc_text(maker->config, CLI_HPCC_SIMULATOR_STOP_TIME));
}

sim_err_t cli_hpcc_scenario(cli_hpcc_t *hpcc,
                            cli_document_t *document,
                            cli_tree_t **root,
                            cli_error_t *error)
{
    const char *const origin = cli_document_text(document, hpcc->config->file_name);
    const cli_place_t place = {origin, 1, 1};
    const maker_t maker = {
        .hpcc = hpcc,
        .config = hpcc->config,
        .document = document,
        .root = cli_tree_new(document, CLI_TREE_MAP, place),
    };
    put_run(&maker);
    put_topology(&maker);
    sim_err_t result = put_switch(&maker, error);
    if (result == SIM_OK) {
        result = put_link_down(&maker, error);
    }
    if (result == SIM_OK) {
        result = put_nic(&maker, error);
    }
    put_experiment(&maker);
    if (hpcc->compat) {
        put_compat(&maker);
    }
    put_traffic(&maker);
    *root = maker.root;
    return result;
}
