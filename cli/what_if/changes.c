// SPDX-License-Identifier: Apache-2.0
// cli/what_if/changes.c - lists the failures and changes that `rocesim what-if` tries.
//
// Each link and each switch fails once. Of hosts that receive slowly and of links that lose frames,
// those that carried the most bytes in the run without changes stand for all.
#include "cli/what_if/changes.h"

#include "kernel/parse.h"
#include "net/port_metrics.h"
#include "net/ports.h"
#include "net/switch.h"
#include "nic/host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUSIEST_MAX 4u         // hosts, and links, of the kinds that do not try all
#define INCAST_SENDERS_MAX 16u // of an incast that the scenario does not have
#define SLOW_SHARE 10u         // a slow receiver takes its link's rate divided by this

const char *cli_change_kind_name(size_t i)
{
    static const char *const names[CLI_CHANGE_KINDS] = {"link",     "access", "switch",   "incast",
                                                        "receiver", "optic",  "threshold"};
    SIM_CHECK(i < CLI_CHANGE_KINDS);
    return names[i];
}

// Adds a change, whose texts it takes; `second` is NULL for a change of one setting.
static void add(cli_changes_t *changes, cli_change_kind_t kind, char *text, char *part, char *first,
                char *second)
{
    char **const settings = sim_alloc_array(3, sizeof(*settings));
    settings[0] = first;
    settings[1] = second;
    SIM_APPEND(changes->items, changes->count, changes->capacity,
               (cli_change_t){.kind = kind, .text = text, .part = part, .settings = settings});
}

// Adds the failure of a part. Takes the texts; `kind_word` NULL: the part goes down. `value` of
// `key` describes another kind of fault.
static void add_fault(cli_changes_t *changes, cli_change_kind_t kind, char *text, char *part,
                      const char *kind_word, const char *key, char *value, sim_time_t at_ps)
{
    char **const words = sim_alloc_array(7, sizeof(*words));
    char *more = sim_strdup("");
    words[0] = sim_strdup("part");
    words[1] = sim_strdup(part);
    if (kind_word != NULL) {
        sim_free(more);
        more = sim_format(", kind: %s, %s: %s", kind_word, key, value);
        words[2] = sim_strdup("kind");
        words[3] = sim_strdup(kind_word);
        words[4] = sim_strdup(key);
        words[5] = value;
    }
    add(changes, kind, text, part,
        sim_format("faults[+]={part: \"%s\"%s, at: %" PRIu64 "ns}", part, more,
                   at_ps / SIM_PS_PER_NS),
        NULL);
    changes->items[changes->count - 1].fault = words;
    sim_free(more);
}

// -- parts

typedef struct busy {
    size_t index;
    uint64_t bytes;
} busy_t;

static int by_bytes(const void *a, const void *b)
{
    const busy_t *const x = a;
    const busy_t *const y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                                : (x->index > y->index) - (x->index < y->index);
}

// Sorts by bytes, and returns how many entries have the most to do. Idle ones do not count.
static size_t busiest(busy_t *list, size_t count)
{
    size_t kept = 0;
    if (count > 0) {
        qsort(list, count, sizeof(*list), by_bytes);
    }
    while (kept < count && kept < BUSIEST_MAX && list[kept].bytes > 0) {
        kept++;
    }
    return kept;
}

// Returns the name of a link, with its number if there are several between its ends.
static char *link_name(const world_t *world, size_t i)
{
    const net_link_ends_t ends = net_link_ends(world->net, i);
    const net_node_t *const a = net_node_at(world->net, ends.a);
    const char *const number = strchr(net_port_name_at(a, ends.a_port), '#');
    return sim_format("%s--%s%s", a->sim.name, net_node_at(world->net, ends.b)->sim.name,
                      number != NULL ? number : "");
}

static uint64_t bytes_of_link(const world_t *world, size_t i)
{
    const net_link_ends_t ends = net_link_ends(world->net, i);
    const net_port_metric_t *const sent = net_port_metric_find("tx_bytes");
    const net_port_t *const a = net_port_at(net_node_at(world->net, ends.a), ends.a_port);
    return net_port_metric_read(sent, a, UINT8_MAX, 0) +
           net_port_metric_read(sent, net_port_peer(a), UINT8_MAX, 0);
}

// Adds the links between switches, and those of hosts, as far as the kinds name them.
static void add_links(cli_changes_t *changes, const world_t *world, unsigned kinds,
                      sim_time_t at_ps)
{
    for (size_t i = 0; i < net_link_count(world->net); i++) {
        const net_link_ends_t ends = net_link_ends(world->net, i);
        const bool switches = net_kind_of(world->net, ends.a) == NET_NODE_SWITCH &&
                              net_kind_of(world->net, ends.b) == NET_NODE_SWITCH;
        const cli_change_kind_t kind = switches ? CLI_CHANGE_LINK : CLI_CHANGE_ACCESS;
        if ((kinds & (unsigned)kind) != 0) {
            char *const name = link_name(world, i);
            add_fault(changes, kind, sim_format("%s goes down", name), name, NULL, NULL, NULL,
                      at_ps);
        }
    }
}

static void add_switches(cli_changes_t *changes, const world_t *world, sim_time_t at_ps)
{
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        if (node->kind == NET_NODE_SWITCH) {
            add_fault(changes, CLI_CHANGE_SWITCH, sim_format("%s goes down", node->sim.name),
                      sim_strdup(node->sim.name), NULL, NULL, NULL, at_ps);
        }
    }
}

static void add_optics(cli_changes_t *changes, const world_t *world, sim_time_t at_ps)
{
    const size_t count = net_link_count(world->net);
    busy_t *const list = sim_alloc_array(count + 1, sizeof(*list));
    for (size_t i = 0; i < count; i++) {
        list[i] = (busy_t){i, bytes_of_link(world, i)};
    }
    const size_t kept = busiest(list, count);
    for (size_t i = 0; i < kept; i++) {
        char *const name = link_name(world, list[i].index);
        add_fault(changes, CLI_CHANGE_OPTIC, sim_format("%s loses 0.1 %% of frames", name), name,
                  "bit-errors", "loss-rate", sim_strdup("0.001"), at_ps);
    }
    sim_free(list);
}

// Lists interfaces by the bytes that they received. Returns how many have the most to do.
static size_t receivers(const world_t *world, busy_t *list)
{
    for (size_t i = 0; i < world->nic_count; i++) {
        const world_nic_t *const nic = &world->nics[i];
        const bool exists = world_nic_exists(world, nic);
        list[i] =
            (busy_t){i, exists ? nic_get_counters(world_nic_of(world, nic))->rx_data_bytes : 0};
    }
    return busiest(list, world->nic_count);
}

static void add_receivers(cli_changes_t *changes, const world_t *world, sim_time_t at_ps)
{
    busy_t *const list = sim_alloc_array(world->nic_count + 1, sizeof(*list));
    const size_t kept = receivers(world, list);
    for (size_t i = 0; i < kept; i++) {
        const char *const name = world->nics[list[i].index].name;
        const net_port_t *const port = net_interface_port(world->net, (uint32_t)list[i].index);
        add_fault(changes, CLI_CHANGE_RECEIVER, sim_format("%s receives at a tenth", name),
                  sim_strdup(name), "slow-receiver", "rate",
                  sim_format("%" PRIu64 "bps", SIM_MAX(port->line->rate_bps / SLOW_SHARE, 1)),
                  at_ps);
    }
    sim_free(list);
}

// -- incasts

static uint64_t number_at(const world_tree_t *map, const char *key, bool bytes, uint64_t otherwise)
{
    const world_tree_t *const value =
        map != NULL && map->kind == WORLD_TREE_MAP ? world_tree_value(map, key) : NULL;
    uint64_t number = 0;
    sim_message_t message;
    if (value == NULL || value->kind != WORLD_TREE_SCALAR || value->is_null) {
        return otherwise;
    }
    const sim_err_t result = bytes ? sim_parse_bytes(value->text, &number, &message)
                                   : sim_parse_count(value->text, &number, &message);
    return result == SIM_OK ? number : otherwise;
}

// Doubles each incast of the scenario: its senders, or its bytes if there are not enough hosts.
static bool double_incasts(cli_changes_t *changes, const world_t *world)
{
    const world_scenario_t *const scenario = world->scenario;
    bool found = false;
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        const world_traffic_t *const traffic = &scenario->traffic[i];
        if (strcmp(traffic->ops->name, "incast") != 0) {
            continue;
        }
        const uint64_t senders = number_at(traffic->map, "senders", false, 0);
        const uint64_t bytes = number_at(traffic->map, "bytes", true, 64000);
        const bool from_all = traffic->map == NULL || traffic->map->kind != WORLD_TREE_MAP ||
                              world_tree_value(traffic->map, "from") == NULL;
        found = true;
        if (from_all && senders > 0 && 2 * senders < world->nic_count) {
            add(changes, CLI_CHANGE_INCAST,
                sim_format("traffic[%zu]: %" PRIu64 " senders", i, 2 * senders), NULL,
                sim_format("traffic[%zu].incast.senders=%" PRIu64, i, 2 * senders), NULL);
        } else {
            add(changes, CLI_CHANGE_INCAST,
                sim_format("traffic[%zu]: incast of twice the bytes", i), NULL,
                sim_format("traffic[%zu].incast.bytes=%" PRIu64 "B", i, 2 * bytes), NULL);
        }
    }
    return found;
}

static void add_incasts(cli_changes_t *changes, const world_t *world, sim_time_t at_ps)
{
    busy_t *const list = sim_alloc_array(world->nic_count + 1, sizeof(*list));
    if (!double_incasts(changes, world) && receivers(world, list) > 0 && world->nic_count > 1) {
        const size_t senders = SIM_MIN(world->nic_count - 1, INCAST_SENDERS_MAX);
        const char *const name = world->nics[list[0].index].name;
        add(changes, CLI_CHANGE_INCAST, sim_format("%zu more senders to %s", senders, name), NULL,
            sim_format("traffic[+]={incast: {to: \"%s\", senders: %zu, bytes: 1MB, start: %" PRIu64
                       "ns}}",
                       name, senders, at_ps / SIM_PS_PER_NS),
            NULL);
    }
    sim_free(list);
}

// -- thresholds

// Adds one or two values of all switches. Patterns of `nodes` would stand over those of `switch`.
static void add_threshold(cli_changes_t *changes, const world_t *world, char *text, char *first,
                          char *second)
{
    const char *const place = world->scenario->node_count > 0 ? "nodes.*.switch" : "switch";
    add(changes, CLI_CHANGE_THRESHOLD, text, NULL, sim_format("%s.%s", place, first),
        second != NULL ? sim_format("%s.%s", place, second) : NULL);
    sim_free(first);
    sim_free(second);
}

// Returns the configuration of the switch with the most ports; NULL: there is no switch.
static const net_switch_config_t *usual_switch(const world_t *world)
{
    const net_node_t *largest = NULL;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        if (node->kind == NET_NODE_SWITCH &&
            (largest == NULL || node->port_count > largest->port_count)) {
            largest = node;
        }
    }
    return largest != NULL ? net_switch_config(largest) : NULL;
}

static void add_alphas(cli_changes_t *changes, const world_t *world, sim_ratio_t alpha)
{
    static const struct {
        uint64_t up;
        uint64_t down;
        const char *words;
    } factors[] = {{4, 1, "four times"}, {1, 4, "a quarter of"}};
    for (size_t i = 0; i < SIM_COUNT_OF(factors); i++) {
        add_threshold(changes, world, sim_format("%s switch.pfc.alpha", factors[i].words),
                      sim_format("pfc.alpha=%" PRIu64 "/%" PRIu64, alpha.num * factors[i].up,
                                 alpha.den * factors[i].down),
                      NULL);
    }
}

static void add_thresholds(cli_changes_t *changes, const world_t *world)
{
    const net_switch_config_t *const config = usual_switch(world);
    if (config == NULL) {
        return;
    }
    if (config->ecn_enabled && config->ecn_profiles.count == 0) {
        for (unsigned half = 0; half < 2; half++) {
            const uint64_t up = half == 0 ? 2 : 1;
            const uint64_t down = half == 0 ? 1 : 2;
            add_threshold(changes, world,
                          sim_format("%s ECN thresholds", half == 0 ? "twice the" : "half the"),
                          sim_format("ecn.kmin=%" PRIu64 "B", config->ecn_kmin_bytes * up / down),
                          sim_format("ecn.kmax=%" PRIu64 "B", config->ecn_kmax_bytes * up / down));
        }
        add_threshold(changes, world, sim_strdup("no ECN"), sim_strdup("ecn.enabled=false"), NULL);
    }
    add_threshold(changes, world, sim_strdup("half the buffer"),
                  sim_format("buffer=%" PRIu64 "B", config->buffer_bytes / 2), NULL);
    if (!config->pfc_enabled || config->pfc_priorities == 0) {
        add_threshold(changes, world, sim_strdup("with PFC"), sim_strdup("pfc.enabled=true"), NULL);
        return;
    }
    if (config->pfc_threshold_bytes == SIM_AUTO) {
        add_alphas(changes, world, config->pfc_alpha);
    }
    add_threshold(changes, world, sim_strdup("without PFC"), sim_strdup("pfc.enabled=false"), NULL);
    if (config->pfc_watchdog == NET_WATCHDOG_OFF) {
        add_threshold(changes, world, sim_strdup("with a PFC watchdog"),
                      sim_strdup("pfc.watchdog=drop"), NULL);
    }
}

void cli_changes_list(cli_changes_t *changes, const world_t *world, unsigned kinds,
                      sim_time_t at_ps)
{
    add_links(changes, world, kinds, at_ps);
    if ((kinds & CLI_CHANGE_SWITCH) != 0) {
        add_switches(changes, world, at_ps);
    }
    if ((kinds & CLI_CHANGE_INCAST) != 0) {
        add_incasts(changes, world, at_ps);
    }
    if ((kinds & CLI_CHANGE_RECEIVER) != 0) {
        add_receivers(changes, world, at_ps);
    }
    if ((kinds & CLI_CHANGE_OPTIC) != 0) {
        add_optics(changes, world, at_ps);
    }
    if ((kinds & CLI_CHANGE_THRESHOLD) != 0) {
        add_thresholds(changes, world);
    }
}

static void free_texts(char **texts)
{
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        sim_free(texts[i]);
    }
    sim_free(texts);
}

void cli_changes_fini(cli_changes_t *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        cli_change_t *const change = &changes->items[i];
        sim_free(change->text);
        sim_free(change->part);
        free_texts(change->settings);
        free_texts(change->fault);
    }
    sim_free(changes->items);
}
