// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/hardware.c - finds what is broken: circles of pauses, hosts that pause, links
// that fail or are slower than their like. losses.c finds links that corrupt.
#include "cli/explain/causes/hardware.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/pauses.h"
#include "cli/explain/run_data.h"

#include "net/faults.h"
#include "net/ports.h"
#include "net/scale_up.h"
#include "nic/detail.h"
#include "world/format.h"

#include <stdlib.h>
#include <string.h>

#define STORM_DUTY 0.97
#define WATCHDOG_DETECT_PS (500 * SIM_PS_PER_US) // of the remedy
#define WATCHDOG                                                             \
    "switch.pfc.watchdog=drop --set switch.pfc.watchdog-detect=500us --set " \
    "switch.pfc.watchdog-restore=500us"

static const char *name_of(const explain_t *explain, uint32_t uid)
{
    return cli__explain_port_name(explain, uid);
}

// -- deadlocks

static void find_deadlock(explain_t *explain)
{
    size_t *const cycle = sim_alloc_array(explain->port_count + 1, sizeof(*cycle));
    const size_t count = explain->stalled ? cli__explain_cycle(explain, cycle) : 0;
    if (count == 0) {
        sim_free(cycle);
        return;
    }
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_DEADLOCK, 0, sim_strdup(name_of(explain, (uint32_t)cycle[0])));
    char *path = sim_strdup("");
    for (size_t i = 0; i <= count; i++) {
        char *const longer = sim_format("%s%s%s", path, i > 0 ? ", " : "",
                                        name_of(explain, (uint32_t)cycle[i % count]));
        sim_free(path);
        path = longer;
    }
    finding->sentence =
        sim_format("PFC deadlock: %zu ports wait for each other in a circle: %s", count, path);
    sim_free(path);
    finding->port = (uint32_t)cycle[0];
    finding->score_ps = (double)explain->end_ps;
    for (size_t i = 0; i < count; i++) {
        world_text_t text;
        const explain_port_t *const port = &explain->ports[cycle[i]];
        cli__explain_evidence(finding,
                              sim_format("%s is stopped to the end and held up to %s",
                                         name_of(explain, (uint32_t)cycle[i]),
                                         world_format_bytes(&text, port->queue_bytes_max)));
    }
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        if (!explain->flows[f].ended) {
            cli__explain_flow(finding, f);
        }
    }
    cli__explain_remedy(finding, WATCHDOG,
                        "the PFC watchdog empties a queue that is stopped for too long");
    cli__explain_remedy(finding, "nic.congestion-control=dcqcn",
                        "senders slow down before buffers fill up");
    cli__explain_remedy(finding, "switch.pfc.enabled=false",
                        "packets are dropped and sent again instead of waiting");
    sim_free(cycle);
}

// -- hosts that pause

typedef struct pausing {
    uint32_t port; // of the switch towards the host that is stopped for the longest time
    sim_time_t stopped_ps;
    sim_time_t longest_ps;
    uint64_t pauses;
    uint8_t faults; // of the host's ports
} pausing_t;

static pausing_t pausing_of(const explain_t *explain, uint32_t root_index)
{
    const explain_root_t *const root = &explain->roots[root_index];
    pausing_t pausing = {.port = EXPLAIN_NONE};
    for (uint32_t p = 0; p < root->node->port_count; p++) {
        const net_port_t *const port = &root->node->ports[p];
        pausing.faults |= explain->ports[port->uid].faults;
        const uint32_t uid = port->peer->uid;
        if (root->by_port[uid] > pausing.stopped_ps) {
            pausing.stopped_ps = root->by_port[uid];
            pausing.port = uid;
        }
    }
    for (size_t i = 0; i < explain->stop_count; i++) {
        const explain_stop_t *const stop = &explain->stops[i];
        if (stop->root == root_index && stop->port == pausing.port) {
            const sim_time_t ps = stop->to_ps - stop->from_ps;
            pausing.longest_ps = SIM_MAX(ps, pausing.longest_ps);
            pausing.pauses++;
        }
    }
    return pausing;
}

// Adds the flows that pass a port which the root stopped, and returns the time that they lost.
static double add_flows_of_root(const explain_t *explain, explain_finding_t *finding,
                                const explain_root_t *root)
{
    double lost_ps = 0;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        bool hit = false;
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            hit |= root->by_port[explain->hops[flow->first_hop + h]] > 0;
        }
        if (hit) {
            cli__explain_flow(finding, f);
            lost_ps += flow->excess_ps;
        }
    }
    return lost_ps;
}

// Returns whether the host stopped its switch nearly all the time since its first pause. Where
// events.csv is cut, only the port's counter shows it.
static bool stops_all_the_time(const explain_t *explain, const explain_root_t *root,
                               const pausing_t *pausing)
{
    const bool cut = explain->events_left_out > 0;
    const sim_time_t to_ps = cut ? explain->end_ps : root->last_ps;
    const double span_ps = (double)(to_ps - root->first_ps);
    const double stopped_ps =
        (double)(cut ? explain->ports[pausing->port].paused_ps : pausing->stopped_ps);
    return span_ps > 0 && stopped_ps > STORM_DUTY * span_ps &&
           (cut || (double)pausing->longest_ps > 0.5 * span_ps);
}

// Adds the pauses of a host to the finding about a limit inside it.
static void add_root_to_host(explain_t *explain, uint32_t root_index)
{
    const char *const name = explain->roots[root_index].node->sim.name;
    for (size_t i = 0; i < explain->finding_count; i++) {
        explain_finding_t *const finding = &explain->findings[i];
        if (strncmp(finding->place, name, strlen(name)) == 0 && finding->root_count == 0) {
            cli__explain_add_root(finding, root_index);
        }
    }
}

// Returns whether the host's NIC has an inside with the constants of its profile.
static bool is_usual_inside(const explain_t *explain, const net_node_t *host)
{
    for (uint32_t i = 0; i < explain->world->nic_count; i++) {
        if (world_host_of(explain->world, &explain->world->nics[i]) == host) {
            const nic_config_t *const config = nic_config_of_interface(explain->world->net, i);
            nic_detail_t own;
            nic_detail_t profile;
            nic_detail_resolve(config, &own);
            nic_detail_profile(config->profile, &profile);
            return strcmp(config->model.text, NIC_IDEAL.text) != 0 &&
                   memcmp(&own, &profile, sizeof(own)) == 0;
        }
    }
    return false;
}

static void find_pausing_host(explain_t *explain, uint32_t root_index)
{
    const explain_root_t *const root = &explain->roots[root_index];
    const pausing_t pausing = pausing_of(explain, root_index);
    if (pausing.port == EXPLAIN_NONE) {
        return;
    }
    if (explain->held_hosts[root->node->sim.index] && pausing.faults == 0) {
        add_root_to_host(explain, root_index); // what is slow inside it is reported
        return;
    }
    const bool logged_storm = (pausing.faults >> NET_FAULT_PAUSE_STORM & 1u) != 0;
    const bool logged_slow = (pausing.faults >> NET_FAULT_SLOW_RECEIVER & 1u) != 0;
    const bool storm =
        logged_storm || (!logged_slow && stops_all_the_time(explain, root, &pausing));
    explain_finding_t *const finding =
        cli__explain_add(explain, storm ? EXPLAIN_PAUSE_STORM : EXPLAIN_SLOW_RECEIVER, 1,
                         sim_strdup(root->node->sim.name));
    const explain_port_t *const port = &explain->ports[pausing.port];
    world_text_t stopped;
    world_text_t rate;
    world_text_t line;
    finding->port = pausing.port;
    cli__explain_add_root(finding, root_index);
    const double taken_bps = (double)port->tx_bytes * 8 * 1e12 / (double)explain->end_ps;
    finding->sentence =
        storm ? sim_format("%s sends pause frames all the time: its NIC stops %s for %s (a PFC "
                           "pause storm)",
                           root->node->sim.name, name_of(explain, pausing.port),
                           world_format_time(&stopped, port->paused_ps))
              : sim_format("%s is a slow receiver: its NIC stops %s %s%" PRIu64 " time%s, for %s "
                           "in all; it took %s on average of a link of %s",
                           root->node->sim.name, name_of(explain, pausing.port),
                           explain->events_left_out > 0 ? "at least " : "", pausing.pauses,
                           sim_plural(pausing.pauses), world_format_time(&stopped, port->paused_ps),
                           world_format_rate(&rate, (uint64_t)taken_bps),
                           world_format_rate(&line, port->port->line->rate_bps));
    if (logged_storm || logged_slow) {
        cli__explain_evidence(finding,
                              sim_format("events.csv logs the fault %s at %s",
                                         net_fault_name(logged_storm ? NET_FAULT_PAUSE_STORM
                                                                     : NET_FAULT_SLOW_RECEIVER),
                                         root->node->sim.name));
    }
    finding->score_ps = add_flows_of_root(explain, finding, root) + (double)root->paused_ps;
    // A benchmark that asks a NIC for all it can do fills its buffer; that is no fault.
    finding->spread =
        !storm && !logged_slow && explain->flow_count == 0 && is_usual_inside(explain, root->node);
    if (storm || pausing.longest_ps >= WATCHDOG_DETECT_PS) {
        cli__explain_remedy(finding, WATCHDOG,
                            "the PFC watchdog gives up a queue that a receiver stops for too long");
    }
    if (!storm) {
        cli__explain_remedy(finding, "switch.pfc.alpha=1",
                            "more shared buffer stands in front of the slow receiver");
    }
    cli__explain_remedy(finding, "switch.pfc.enabled=false",
                        "only packets to the slow receiver are lost, and others pass");
}

// Reports a host whose fault is logged although it never stopped its switch: its senders slow down
// before that.
static void find_logged_host(explain_t *explain, const net_node_t *node)
{
    for (uint32_t i = 0; i < explain->root_count; i++) {
        if (explain->roots[i].node == node && explain->roots[i].port == EXPLAIN_NONE) {
            return; // reported by its pauses
        }
    }
    uint8_t faults = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        faults |= explain->ports[node->ports[p].uid].faults;
    }
    if ((faults >> NET_FAULT_SLOW_RECEIVER & 1u) == 0) {
        return;
    }
    double lost_ps = 0;
    explain_finding_t *finding = NULL;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (world_host_of(explain->world, &explain->world->nics[flow->destination]) != node ||
            flow->excess_ps <= 0) {
            continue;
        }
        finding = finding != NULL ? finding
                                  : cli__explain_add(explain, EXPLAIN_SLOW_RECEIVER, 1,
                                                     sim_strdup(node->sim.name));
        cli__explain_flow(finding, f);
        lost_ps += flow->excess_ps;
    }
    if (finding == NULL) {
        return;
    }
    world_text_t lost;
    finding->port = node->ports[0].peer->uid;
    finding->score_ps = lost_ps;
    finding->sentence = sim_format("%s is a slow receiver: it never stopped its switch, since its "
                                   "senders slowed down, which cost %zu flows %s",
                                   node->sim.name, finding->flow_count,
                                   world_format_time(&lost, (sim_time_t)lost_ps));
    cli__explain_evidence(finding,
                          sim_format("events.csv logs the fault %s at %s",
                                     net_fault_name(NET_FAULT_SLOW_RECEIVER), node->sim.name));
}

static void find_pausing_hosts(explain_t *explain)
{
    for (size_t i = 0; i < net_node_count(explain->world->net); i++) {
        const net_node_t *const node = net_node_at(explain->world->net, i);
        if (node->kind == NET_NODE_HOST) {
            find_logged_host(explain, node);
        }
    }
    for (uint32_t i = 0; i < explain->root_count; i++) {
        const net_node_t *const node = explain->roots[i].node;
        if (node != NULL && node->kind == NET_NODE_HOST && explain->roots[i].port == EXPLAIN_NONE) {
            find_pausing_host(explain, i);
        }
    }
}

// -- links that fail

static bool node_failed(const explain_t *explain, const net_node_t *node)
{
    for (uint32_t p = 0; p < node->port_count; p++) {
        if (explain->ports[node->ports[p].uid].downs == 0) {
            return false;
        }
    }
    return node->port_count > 1;
}

static void find_down(explain_t *explain)
{
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const explain_port_t *const port = &explain->ports[i];
        if (port->port == NULL || port->downs == 0 || i > port->port->peer->uid) {
            continue;
        }
        const net_node_t *const ends[] = {port->port->node, port->port->peer->node};
        const net_node_t *const failed = node_failed(explain, ends[0])   ? ends[0]
                                         : node_failed(explain, ends[1]) ? ends[1]
                                                                         : NULL;
        if (failed != NULL && &failed->ports[0] != port->port &&
            &failed->ports[0] != port->port->peer) {
            continue; // reported once, at the node's first port
        }
        explain_finding_t *const finding = cli__explain_add(
            explain, EXPLAIN_LINK_DOWN, 1,
            failed != NULL ? sim_strdup(failed->sim.name) : cli__explain_link_name(explain, i));
        world_text_t time;
        finding->port = i;
        finding->sentence = sim_format("%s %s down %s, first at %s", finding->place,
                                       failed != NULL ? "(all of its links) went" : "went",
                                       port->downs == 1 ? "once" : "again and again",
                                       world_format_time(&time, port->down_ps));
        const uint32_t other = port->port->peer->uid;
        const uint64_t lost =
            port->drops[NET_DROP_LINK_DOWN] + explain->ports[other].drops[NET_DROP_LINK_DOWN];
        cli__explain_evidence(
            finding, sim_format("%u time%s down; %" PRIu64 " packet%s dropped as link-down",
                                port->downs, sim_plural(port->downs), lost, sim_plural(lost)));
        if (failed != NULL) {
            for (uint32_t p = 0; p < failed->port_count; p++) {
                finding->score_ps +=
                    cli__explain_flows_of_link(explain, finding, failed->ports[p].uid, false);
            }
        } else {
            finding->score_ps = cli__explain_flows_of_link(explain, finding, i, false);
        }
        finding->score_ps += (double)lost * SIM_PS_PER_US;
        if (net_accelerator_host(ends[0]) == NULL && net_accelerator_host(ends[1]) == NULL) {
            cli__explain_remedy(finding, "network.convergence=100us",
                                "routing leaves a dead link sooner");
        }
    }
}

// -- links that are slower than their like

// The kind of a port, and its rate.
typedef struct like {
    uint64_t kind;
    uint64_t rate_bps;
    uint32_t uid;
} like_t;

// Returns a number for the kind of a port: the names of its ends without numbers (FNV-1a).
static uint64_t kind_of(const net_port_t *port)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *at = net_port_name(port); *at != '\0' && *at != '#'; at++) {
        if (*at < '0' || *at > '9') {
            hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
        }
    }
    return hash;
}

static int by_kind(const void *a, const void *b)
{
    const like_t *const x = a;
    const like_t *const y = b;
    return 2 * SIM_COMPARE(x->kind, y->kind) + SIM_COMPARE(x->rate_bps, y->rate_bps);
}

// Returns the rate of most of `count` ports of one kind, which are sorted; 0: no half have one.
static uint64_t rate_of_most(const like_t *ports, size_t count)
{
    const uint64_t middle_bps = ports[count / 2].rate_bps; // of more than half, if any is
    size_t equal = 0;
    for (size_t i = 0; i < count; i++) {
        equal += ports[i].rate_bps == middle_bps;
    }
    return 2 * equal > count ? middle_bps : 0;
}

// Returns by uid the rate of most ports of the same kind; 0: fewer than half have a common one. The
// caller frees it.
static uint64_t *usual_rates(const explain_t *explain)
{
    uint64_t *const rates = sim_alloc_array(explain->port_count + 1, sizeof(*rates));
    like_t *const ports = sim_alloc_array(explain->port_count + 1, sizeof(*ports));
    size_t count = 0;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const net_port_t *const port = explain->ports[i].port;
        rates[i] = 0;
        if (port != NULL) {
            ports[count++] = (like_t){kind_of(port), port->line->rate_bps, i};
        }
    }
    qsort(ports, count, sizeof(*ports), by_kind);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && ports[to].kind == ports[from].kind) {
            to++;
        }
        const uint64_t usual_bps = rate_of_most(&ports[from], to - from);
        for (size_t i = from; i < to; i++) {
            rates[ports[i].uid] = usual_bps;
        }
    }
    sim_free(ports);
    return rates;
}

// Writes the degraded link's sentence. usual_bps 0: events.csv logs the fault. one_way: the other
// direction has its usual rate.
static char *degraded_sentence(const explain_t *explain, const char *place, uint32_t uid,
                               uint64_t usual_bps, bool one_way)
{
    const net_port_t *const port = explain->ports[uid].port;
    world_text_t rate;
    world_text_t usual;
    const char *const own = world_format_rate(&rate, port->line->rate_bps);
    if (usual_bps == 0) {
        return sim_format("the link %s is degraded: it runs below its %s (logged in events.csv)",
                          place, own);
    }
    return one_way
               ? sim_format("the link %s is degraded in one direction: %s has %s where its "
                            "like has %s",
                            place, name_of(explain, uid), own, world_format_rate(&usual, usual_bps))
               : sim_format("the link %s is degraded: it has %s where its like has %s", place, own,
                            world_format_rate(&usual, usual_bps));
}

// Reports the link of the port, where similar ports have usual_bps (0: events.csv logs the fault).
static void add_degraded(explain_t *explain, uint32_t uid, uint64_t usual_bps, bool one_way)
{
    const explain_port_t *const port = &explain->ports[uid];
    const uint32_t other = port->port->peer->uid;
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_DEGRADED_LINK, 1, cli__explain_link_name(explain, SIM_MIN(uid, other)));
    finding->port = !one_way && explain->ports[other].tx_bytes > port->tx_bytes ? other : uid;
    finding->sentence = degraded_sentence(explain, finding->place, uid, usual_bps, one_way);
    const uint32_t ends[] = {uid, other};
    for (size_t i = 0; i < SIM_COUNT_OF(ends); i++) {
        world_text_t used;
        world_text_t queue;
        const explain_port_t *const end = &explain->ports[ends[i]];
        cli__explain_evidence(
            finding,
            sim_format("%s was used %s of its nominal rate, with a queue of up to %s",
                       name_of(explain, ends[i]), world_format_percent(&used, end->utilisation),
                       world_format_bytes(&queue, end->queue_bytes_max)));
    }
    finding->score_ps = cli__explain_flows_of_link(explain, finding, uid, false) + port->shared_ps +
                        explain->ports[other].shared_ps;
    for (uint32_t r = 0; r < explain->root_count; r++) {
        const uint32_t root = explain->roots[r].port;
        if (root == uid || root == other) {
            cli__explain_add_root(finding, r);
        }
    }
    if (usual_bps > 0) {
        const bool whole = usual_bps % UINT64_C(1000000000) == 0;
        char *const set =
            sim_format("links.%s.rate=%" PRIu64 "%s%s%s%s", finding->place,
                       whole ? usual_bps / UINT64_C(1000000000) : usual_bps, whole ? "Gbps" : "bps",
                       one_way ? " --set links." : "", one_way ? finding->place : "",
                       one_way ? ".backward-rate=auto" : "");
        cli__explain_remedy(finding, set, "bring the link back to the rate of its like");
        sim_free(set);
    }
}

static void find_degraded(explain_t *explain)
{
    uint64_t *const usual = usual_rates(explain);
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const explain_port_t *const port = &explain->ports[i];
        if (port->port == NULL || i > port->port->peer->uid) {
            continue;
        }
        const uint32_t other = port->port->peer->uid;
        const uint8_t faults = port->faults | explain->ports[other].faults;
        if ((faults >> NET_FAULT_DEGRADED & 1u) != 0) {
            add_degraded(explain, i, 0, false);
            continue;
        }
        const uint64_t usual_bps[] = {usual[i], usual[other]};
        const bool slow[] = {usual_bps[0] > port->port->line->rate_bps,
                             usual_bps[1] > explain->ports[other].port->line->rate_bps};
        const bool used = port->flow_count + explain->ports[other].flow_count > 0 ||
                          port->tx_bytes + explain->ports[other].tx_bytes > 0;
        if (used && (slow[0] || slow[1])) {
            add_degraded(explain, slow[0] ? i : other, usual_bps[slow[0] ? 0 : 1],
                         slow[0] != slow[1]);
        }
    }
    sim_free(usual);
}

void cli__explain_hardware(explain_t *explain)
{
    find_deadlock(explain);
    find_pausing_hosts(explain);
    cli__explain_losses(explain);
    cli__explain_mismatch(explain);
    find_down(explain);
    find_degraded(explain);
}
