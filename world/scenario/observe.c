// SPDX-License-Identifier: Apache-2.0
// world/scenario/observe.c - the sections that say what to write down: observe, captures.
#include "net/balance_gauges.h"
#include "net/port_metrics.h"
#include "world/bind.h"
#include "world/captures.h"
#include "world/patterns.h"
#include "world/scenario.h"
#include "world/scenario/capture_names.h"
#include "world/scenario/choice.h"
#include "world/scenario/metrics.h"
#include "world/scenario/output_sections.h"
#include "world/series.h"

#include <string.h>

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(world_observe_config_t, __VA_ARGS__)
static const sim_attr_t observe_attrs[] = {
    ATTR(STRING, "observe.series", series, "", "metrics to record: port[leaf0->host5].queue_bytes, nic[host5].np_cnp_sent..."),
    ATTR(TIME, "observe.start", start_ps, "0s", "0s", NULL, "time of the first row of the series"),
    ATTR(TIME, "observe.every", every_ps, "10us", "1ns", "10000s", "time between two samples of the series"),
    ATTR(ENUM, "observe.on", on, "time", "time|change", "time: one row at every sample; change: one row at 'start' and one at every time at which the value has changed"),
};
const sim_attr_table_t world_observe_config_attrs = SIM_ATTR_TABLE("observe", "series", world_observe_config_t, observe_attrs);

#undef ATTR
#define ATTR(...) SIM_ATTR_ROW(world_capture_config_t, __VA_ARGS__)
static const sim_attr_t capture_attrs[] = {
    ATTR(STRING, "captures.ports", ports, "", "ports at which frames are captured, as patterns: leaf0->host5, leaf*->spine*"),
    ATTR(ENUM, "captures.direction", direction, "both", "both|tx|rx", "frames that are captured; tx: those the port sends; rx: those it receives; both: all"),
    ATTR(STRING, "captures.filter", filter, "", "pcap filter that frames must match, for example udp port 4791; empty: every frame"),
    ATTR(BYTES, "captures.snaplen", snaplen_bytes, "auto", "14", "65535", "bytes that are kept of each frame; auto: whole frames", .auto_ok = true),
    ATTR(BYTES, "captures.bytes-max", bytes_max, "10GB", "1KB", "1000TB", "maximum size of the file before compression; the first frame that does not fit and all later ones are counted but not written"),
    ATTR(BOOL, "captures.telemetry", telemetry, "false", "true: frames keep the telemetry behind the packet; false: they end with the packet, for tools that accept no trailer"),
    ATTR(STRING, "captures.file", file, "", "name of the file in the folder captures/, compressed if it ends in .gz; {port} in it: one file per port with the port's name; {node} alone: one per node; empty: named after the ports"),
    ATTR(STRING, "captures.fabric", fabric, "", "name of a pcapng file in the folder captures/, such as all.pcapng: it names the port of each frame and says which packets were dropped, trimmed, marked, paused for or sent again; 'ports' is all ports unless it is given"),
    ATTR(ENUM, "captures.times", times, "ns", "ns|ps", "unit of the times in a file of 'fabric'; ns: an option of the frame holds the rest in ps; ps: Wireshark 4.0 shows wrong times after 18 ms"),
    ATTR(ENUM, "captures.around", around, "all", "all|drop|mark|pause|retransmission|trim", "frames that a file of 'fabric' keeps; all: every frame; otherwise: those from 'before' to 'after' that kind of event at any of its ports"),
    ATTR(TIME, "captures.before", before_ps, "10us", "0s", "10000s", "time before each moment of 'around' from which frames are kept"),
    ATTR(TIME, "captures.after", after_ps, "50us", "0s", "10000s", "time after each moment of 'around' up to which frames are kept"),
    ATTR(COUNT, "captures.at-most", at_most, "100", "1", "1000000000", "number of moments of 'around' that count; later ones keep no frames"),
    ATTR(BYTES, "captures.ring", ring_bytes, "0", "0", "1TB", "size up to which the file of captures.fabric holds the last frames of the run; 0: it holds the first ones, up to captures.bytes-max"),
};
const sim_attr_table_t world_capture_config_attrs = SIM_ATTR_TABLE("captures", "capture", world_capture_config_t, capture_attrs);
// clang-format on

#define SERIES_EXPECTED                                              \
    "port[A->B].METRIC, nic[HOST].COUNTER, qp[HOST:NUMBER].METRIC, " \
    "qp[HOST->PEER].METRIC, switch[NAME].METRIC or node[NAME].METRIC"

static uint64_t switch_buffer_bytes(const net_node_t *node)
{
    return net_switch_buffer_bytes(node);
}

static uint64_t switch_headroom_bytes(const net_node_t *node)
{
    return net_switch_headroom_used_bytes(node);
}

static uint64_t balance_flows(const net_node_t *node)
{
    return net_switch_balance_gauges(node).flows;
}

static uint64_t balance_flowlets(const net_node_t *node)
{
    return net_switch_balance_gauges(node).flowlets;
}

static uint64_t balance_known_paths(const net_node_t *node)
{
    return net_switch_balance_gauges(node).known_paths;
}

static uint64_t balance_reroutes(const net_node_t *node)
{
    return net_switch_balance_gauges(node).reroutes;
}

static uint64_t balance_held_flows(const net_node_t *node)
{
    return net_switch_balance_gauges(node).held_flows;
}

static uint64_t balance_held_bytes(const net_node_t *node)
{
    return net_switch_balance_gauges(node).held_bytes;
}

static uint64_t balance_remembered(const net_node_t *node)
{
    return net_switch_balance_gauges(node).remembered;
}

const world_switch_metric_t world_switch_metrics[] = {
    {"buffer_bytes", "bytes", "bytes of the packets that the switch's buffer holds",
     switch_buffer_bytes, NET_TRACE_ENQUEUE | NET_TRACE_RELEASE},
    {"headroom_bytes", "bytes", "bytes of the packets in the switch's PFC headroom",
     switch_headroom_bytes, NET_TRACE_ENQUEUE | NET_TRACE_RELEASE},
    {"balance_flows", "flows", "number of flows in the tables of the switch's load balancer",
     balance_flows, NET_TRACE_RX},
    {"balance_flowlets", "flowlets",
     "number of flowlets that the switch's load balancer (letflow, conga) has begun so far",
     balance_flowlets, NET_TRACE_RX},
    {"balance_known_paths", "paths",
     "number of paths whose load other leaves have reported to the switch and whose report is not "
     "too old (conga)",
     balance_known_paths, NET_TRACE_RX},
    {"balance_reroutes", "reroutes", "number of moves of flows to another path so far (conweave)",
     balance_reroutes, NET_TRACE_RX},
    {"balance_held_flows", "flows",
     "number of flows whose packets the switch holds back "
     "(conweave)",
     balance_held_flows, NET_TRACE_RX},
    {"balance_held_bytes", "bytes", "bytes of the packets that the switch holds back (conweave)",
     balance_held_bytes, NET_TRACE_RX},
    {"balance_remembered", "ports", "number of ports that the switch remembers (drill)",
     balance_remembered, NET_TRACE_RX},
    {NULL, NULL, NULL, NULL, 0},
};

static uint64_t node_arrivals(const net_node_t *node)
{
    return node->sim.digest;
}

const world_switch_metric_t world_node_metrics[] = {
    {"arrivals_hash", "",
     "hash over the times and ports of all arrivals at the node; two runs have equal values until "
     "a packet arrives at another time or port (rocesim diff)",
     node_arrivals, NET_TRACE_RX},
    {NULL, NULL, NULL, NULL, 0},
};

// Takes the class from the name of a metric ("queue_bytes[3]") and cuts it off.
static sim_err_t take_class(world_series_t *series, char *metric, const world_place_t *place,
                            world_error_t *error)
{
    series->classes = 0xff;
    char *const bracket = strchr(metric, '[');
    if (bracket == NULL) {
        return SIM_OK;
    }
    if (series->kind != WORLD_SERIES_PORT || bracket[1] < '0' || bracket[1] > '7' ||
        strcmp(bracket + 2, "]") != 0) {
        return world_fail(error, SIM_ERR_INVALID, place,
                          "'%s' is no class of a port, expected [0] to [7]", bracket);
    }
    *bracket = '\0';
    series->one_class = true;
    series->classes = (uint8_t)(1u << (bracket[1] - '0'));
    return SIM_OK;
}

// Refuses `on: change` for a metric whose changes no trace point reports.
static sim_err_t check_on(const world_series_t *series, const world_place_t *place,
                          world_error_t *error)
{
    const char *name = NULL;
    if (series->transport_metric != NULL) {
        name = series->transport_metric->name; // timers change them, too
    } else if (series->kind == WORLD_SERIES_PORT && net_port_metrics[series->metric].points == 0) {
        name = net_port_metrics[series->metric].name;
    }
    if (series->config.on == WORLD_ON_TIME || name == NULL) {
        return SIM_OK;
    }
    return world_fail(error, SIM_ERR_INVALID, place,
                      "%s is only sampled, expected 'every' without 'on: change'", name);
}

static sim_err_t check_class(const world_series_t *series, const world_place_t *place,
                             world_error_t *error)
{
    if (!series->one_class || net_port_metrics[series->metric].per_priority) {
        return SIM_OK;
    }
    return world_fail(error, SIM_ERR_INVALID, place,
                      "%s is not counted per class, expected it without [...]",
                      net_port_metrics[series->metric].name);
}

// Parses one pair of names. Refuses a list, which would be several series.
static sim_err_t take_one_pair(const char *text, const char *separator, const char *what,
                               world_pair_t *pair, sim_message_t *message)
{
    const sim_err_t result = world_pair_parse(text, separator, what, pair, message);
    if (result == SIM_OK && pair->more != NULL) {
        world_pair_fini(pair);
        return sim_fail(message, SIM_ERR_INVALID, "a list, expected %s; or a list of series", what);
    }
    return result;
}

// Parses queue pairs: "host5:2", "host5->host6" or "host5->host6:2".
static sim_err_t take_qps(world_series_t *series, const char *text, sim_message_t *message)
{
    world_pair_t pair;
    sim_err_t result = SIM_OK;
    if (strstr(text, "->") == NULL) {
        result = take_one_pair(text, ":", "a QP such as host5:2 or host*:*", &pair, message);
        if (result == SIM_OK) {
            series->nodes = pair.left;
            series->qps = pair.right;
        }
        return result;
    }
    result = take_one_pair(text, "->", "QPs such as host5->host6", &pair, message);
    if (result != SIM_OK) {
        return result;
    }
    char *const colon = strchr(pair.right, ':');
    series->nodes = pair.left;
    series->peers = pair.right;
    series->qps = sim_strdup(colon != NULL ? colon + 1 : "*");
    if (colon != NULL) {
        *colon = '\0';
        result = world_pattern_check(series->peers, message);
        result = result == SIM_OK ? world_pattern_check(series->qps, message) : result;
    }
    return result;
}

// Takes the names of nodes, ports or queue pairs in the brackets of a series.
static sim_err_t take_entities(world_series_t *series, const char *text, const world_place_t *place,
                               world_error_t *error)
{
    sim_message_t message;
    sim_err_t result = SIM_OK;
    if (series->kind == WORLD_SERIES_PORT) {
        result = world_pair_parse(text, "->", "a port such as leaf0->host5 or host2/nic0->*",
                                  &series->ports, &message);
    } else if (series->kind == WORLD_SERIES_QP) {
        result = take_qps(series, text, &message);
    } else {
        series->nodes = sim_strdup(text);
        result = world_pattern_check(text, &message);
    }
    if (result != SIM_OK) {
        world_shown_t shown;
        world_fail(error, result, place, "'%s': %s", world_show(&shown, text), message.text);
    }
    return result;
}

static sim_err_t parse_series(const world_registry_t *registry, world_series_t *series,
                              const world_place_t *place, world_error_t *error)
{
    static const char *const kinds[] = {"port", "nic", "qp", "switch", "node"};
    const char *const text = series->config.series;
    world_shown_t shown;
    const char *const open = strchr(text, '[');
    const char *const dot = strstr(text, "].");
    if (open == NULL || dot == NULL || dot < open) {
        return world_fail(error, SIM_ERR_INVALID, place,
                          "'%s' is no series, expected " SERIES_EXPECTED, world_show(&shown, text));
    }
    char *const kind = sim_format("%.*s", (int)(open - text), text);
    size_t k = 0;
    while (k < SIM_COUNT_OF(kinds) && strcmp(kinds[k], kind) != 0) {
        k++;
    }
    if (k == SIM_COUNT_OF(kinds)) {
        world_fail(error, SIM_ERR_UNKNOWN, place, "unknown kind of series '%s'",
                   world_show(&shown, kind));
        world_error_add_nearest(error, kind, kinds, SIM_COUNT_OF(kinds));
        world_error_add_expected(error, SERIES_EXPECTED);
        sim_free(kind);
        return SIM_ERR_UNKNOWN;
    }
    sim_free(kind);
    series->kind = (world_series_kind_t)k;
    char *const entities = sim_format("%.*s", (int)(dot - open - 1), open + 1);
    sim_err_t result = take_entities(series, entities, place, error);
    sim_free(entities);
    char *const metric = sim_strdup(dot + 2);
    if (result == SIM_OK) {
        result = take_class(series, metric, place, error);
    }
    if (result == SIM_OK) {
        result = world__find_metric(registry, series, metric, place, error);
    }
    if (result == SIM_OK) {
        result = check_class(series, place, error);
    }
    if (result == SIM_OK) {
        result = check_on(series, place, error);
    }
    sim_free(metric);
    return result;
}

// Splits the scenario's last series, whose path is a list "[a, b]", into a series for each member,
// with the same configuration.
static sim_err_t take_series_list(world_scenario_t *scenario, world_error_t *error)
{
    SIM_CHECK(scenario->series_count > 0);
    const world_series_t like = scenario->series[--scenario->series_count];
    const char *const text = like.config.series;
    const size_t size = strlen(text);
    sim_err_t result = SIM_OK;
    size_t start = 1;
    unsigned depth = 0;
    for (size_t i = 1; i < size && result == SIM_OK; i++) {
        depth += text[i] == '[';
        if (depth == 0 && (text[i] == ',' || i == size - 1)) {
            start += strspn(text + start, " ");
            SIM_GROW(scenario->series, scenario->series_count, &scenario->series_capacity);
            world_series_t *const series = &scenario->series[scenario->series_count++];
            *series = (world_series_t){.place = like.place};
            sim_attrs_copy(&world_observe_config_attrs, &series->config, &like.config);
            sim_free(series->config.series);
            series->config.series = sim_format("%.*s", (int)(i - start), text + start);
            result = parse_series(scenario->registry, series, &series->place, error);
            start = i + 1;
        }
        depth -= text[i] == ']' && depth > 0;
    }
    world_observe_config_t config = like.config;
    sim_attrs_fini(&world_observe_config_attrs, &config);
    return result;
}

static sim_err_t take_series(world_scenario_t *scenario, const world_tree_t *map,
                             world_error_t *error)
{
    SIM_GROW(scenario->series, scenario->series_count, &scenario->series_capacity);
    world_series_t *const series = &scenario->series[scenario->series_count++];
    *series = (world_series_t){.place = map->place};
    sim_attrs_default(&world_observe_config_attrs, &series->config);
    // A series on its own may stand without a mapping.
    if (map->kind == WORLD_TREE_SCALAR && !map->is_null) {
        sim_free(series->config.series);
        series->config.series = sim_strdup(map->text);
    } else {
        const world_targets_t targets =
            world_targets_one(&world_observe_config_attrs, &series->config);
        const sim_err_t result = world_bind(map, "observe", &targets, NULL, error);
        if (result != SIM_OK) {
            return result;
        }
        series->place = world_locate(map, "observe", "series");
    }
    if (series->config.series[0] == '\0') {
        return world_fail(error, SIM_ERR_INVALID, &map->place,
                          "an entry of observe without 'series', expected " SERIES_EXPECTED);
    }
    const char *const text = series->config.series;
    if (text[0] == '[' && text[strlen(text) - 1] == ']') {
        return take_series_list(scenario, error);
    }
    return parse_series(scenario->registry, series, &series->place, error);
}

sim_err_t world__take_observe(world_scenario_t *scenario, const world_tree_t *list,
                              world_error_t *error)
{
    return world__take_list(scenario, list, "observe",
                            "'- {series: \"port[leaf0->host5].queue_bytes\", every: 10us}'",
                            take_series, error);
}

// -- captures

static sim_err_t check_file_name(const world_scenario_t *scenario, const char *name,
                                 const world_place_t *place, world_error_t *error)
{
    world_shown_t shown;
    if (strchr(name, '/') != NULL || name[0] == '.' || strlen(name) > WORLD__CAPTURE_NAME_MAX) {
        return world_fail(error, SIM_ERR_INVALID, place,
                          "captures.file is '%s', expected a plain file name such as a.pcap.gz",
                          world_show(&shown, name));
    }
    if (world__capture_is_pattern(name)) {
        // Whether two patterns name one file follows from the ports that they match.
        return world__capture_pattern_ok(name)
                   ? SIM_OK
                   : world_fail(error, SIM_ERR_INVALID, place,
                                "captures.file is '%s', expected braces only around 'port' and "
                                "'node', such as {port}.pcap.gz",
                                world_show(&shown, name));
    }
    for (size_t i = 0; i + 1 < scenario->capture_count; i++) {
        if (strcmp(scenario->captures[i].config.file, name) == 0) {
            return world_fail(
                error, SIM_ERR_EXISTS, place,
                "captures.file is '%s' as that of another capture, expected a name of "
                "its own",
                world_show(&shown, name));
        }
    }
    return SIM_OK;
}

// Returns the key of a value that only a file in pcapng format uses and that is not its default;
// NULL: there is none.
static const char *fabric_key(const world_capture_config_t *config)
{
    world_capture_config_t usual;
    sim_attrs_default(&world_capture_config_attrs, &usual);
    const char *const key = config->around != usual.around         ? "around"
                            : config->before_ps != usual.before_ps ? "before"
                            : config->after_ps != usual.after_ps   ? "after"
                            : config->at_most != usual.at_most     ? "at-most"
                            : config->ring_bytes != 0              ? "ring"
                            : config->times != usual.times         ? "times"
                                                                   : NULL;
    sim_attrs_fini(&world_capture_config_attrs, &usual);
    return key;
}

// Takes the keys of a capture in pcapng format: its name becomes that of the file.
static sim_err_t take_fabric(world_capture_config_t *config, const world_tree_t *map,
                             world_error_t *error)
{
    world_shown_t shown;
    const bool asked = config->fabric[0] != '\0';
    const char *const key = asked ? NULL : fabric_key(config);
    if (key != NULL) {
        const world_place_t place = world_locate(map, "captures", key);
        return world_fail(error, SIM_ERR_INVALID, &place,
                          "captures.%s without 'fabric', expected 'fabric: all.pcapng' beside it: "
                          "a pcap file of 'file' has no comments",
                          key);
    }
    if (!asked) {
        return SIM_OK;
    }
    const world_place_t place = world_locate(map, "captures", "fabric");
    if (config->file[0] != '\0' && strcmp(config->file, config->fabric) != 0) {
        return world_fail(error, SIM_ERR_INVALID, &place,
                          "captures has both 'fabric' and 'file', expected one of them");
    }
    if (!sim_ends_with(config->fabric, ".pcapng") && !sim_ends_with(config->fabric, ".pcapng.gz")) {
        return world_fail(error, SIM_ERR_INVALID, &place,
                          "captures.fabric is '%s', expected a name that ends in .pcapng or "
                          ".pcapng.gz",
                          world_show(&shown, config->fabric));
    }
    if (config->ports[0] == '\0') {
        sim_free(config->ports);
        config->ports = sim_strdup("*->*");
    }
    sim_free(config->file);
    config->file = sim_strdup(config->fabric);
    return SIM_OK;
}

static sim_err_t take_capture(world_scenario_t *scenario, const world_tree_t *map,
                              world_error_t *error)
{
    SIM_GROW(scenario->captures, scenario->capture_count, &scenario->capture_capacity);
    world_capture_t *const capture = &scenario->captures[scenario->capture_count++];
    *capture = (world_capture_t){.place = map->place};
    world_capture_config_t *const config = &capture->config;
    sim_attrs_default(&world_capture_config_attrs, config);
    const world_targets_t targets = world_targets_one(&world_capture_config_attrs, config);
    sim_err_t result = world_bind(map, "captures", &targets, NULL, error);
    if (result != SIM_OK) {
        return result;
    }
    result = take_fabric(config, map, error);
    if (result != SIM_OK) {
        return result;
    }
    if (config->ports[0] == '\0') {
        return world_fail(error, SIM_ERR_INVALID, &map->place,
                          "a capture without 'ports', expected 'ports: leaf0->host5'");
    }
    capture->place = world_locate(map, "captures", "ports");
    capture->filter_place = world_locate(map, "captures", "filter");
    sim_message_t message;
    result = world_pair_parse(config->ports, "->", "a port such as leaf0->host5 or host2/nic0->*",
                              &capture->ports, &message);
    if (result != SIM_OK) {
        return world_fail(error, result, &capture->place, "captures.ports: %s", message.text);
    }
    if (config->file[0] == '\0') {
        sim_free(config->file);
        config->file = world__capture_default_name(config->ports);
    }
    capture->file_place =
        world_locate(map, "captures", config->fabric[0] != '\0' ? "fabric" : "file");
    return check_file_name(scenario, config->file, &capture->file_place, error);
}

sim_err_t world__take_captures(world_scenario_t *scenario, const world_tree_t *list,
                               world_error_t *error)
{
    return world__take_list(scenario, list, "captures", "'- {ports: leaf0->host5}'", take_capture,
                            error);
}
