// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes.c - finds congestion and what follows from it, and puts findings in order.
//
// Broken parts come first (hardware.c). Then come ports at which fair sharing costs flows most
// time: incasts, hash collisions, too few links. Waits for retransmission and slow hosts (waits.c),
// which have no cause in the network, come last.
#include "cli/explain/causes/collisions.h"
#include "cli/explain/causes/drops.h"
#include "cli/explain/causes/hardware.h"
#include "cli/explain/causes/host_inside.h"
#include "cli/explain/causes/link_layer.h"
#include "cli/explain/causes/marking.h"
#include "cli/explain/causes/programs.h"
#include "cli/explain/causes/sender_limits.h"
#include "cli/explain/causes/waits.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/order.h"
#include "cli/explain/pauses.h"
#include "cli/explain/run_data.h"
#include "cli/explain/what_if.h"

#include "net/paths.h"
#include "nic/extra.h"
#include "world/format.h"

#include <stdlib.h>
#include <string.h>

#define PORTS_TOLD_MAX 6u
#define SHARE_LEAST 0.02  // of the maximum: ports that cost less are not reported
#define MINOR_SHARE 0.05  // of the time of all flows
#define CHANCE_SHARE 0.15 // likewise, of few flows that meet
#define FEW_FLOWS 3u
#define NEAR_IDEAL 1.5 // mean of times to ideal times, up to which a busy sender is minor
#define BUSY_SHARE 0.5 // share of all losses from which a host that sends much is reported
#define BUSY_LEAST 0.1 // and this of the time of all flows
#define BUSY_PORT 0.5  // share of time from which a port is no longer filled by bursts alone
#define ROOT_LEAST 0.1 // share of all pauses from which a root is reported by itself

const char *cli__explain_kind_name(explain_kind_t kind)
{
    static const char *const names[] = {[EXPLAIN_DEADLOCK] = "deadlock",
                                        [EXPLAIN_PAUSE_STORM] = "pause-storm",
                                        [EXPLAIN_SLOW_RECEIVER] = "slow-receiver",
                                        [EXPLAIN_CORRUPTING_LINK] = "corrupting-link",
                                        [EXPLAIN_LINK_DOWN] = "link-down",
                                        [EXPLAIN_DEGRADED_LINK] = "degraded-link",
                                        [EXPLAIN_COLLISION] = "hash-collision",
                                        [EXPLAIN_INCAST] = "incast",
                                        [EXPLAIN_OVERSUBSCRIBED] = "oversubscribed",
                                        [EXPLAIN_BUSY_SENDER] = "busy-sender",
                                        [EXPLAIN_RETRANSMISSION] = "retransmission",
                                        [EXPLAIN_SLOW_HOST] = "slow-host",
                                        [EXPLAIN_LOSSY_LINKS] = "lossy-links",
                                        [EXPLAIN_BURST] = "burst",
                                        [EXPLAIN_DROPS] = "drops",
                                        [EXPLAIN_PFC_MISMATCH] = "pfc-mismatch",
                                        [EXPLAIN_WINDOW] = "window",
                                        [EXPLAIN_READ_CREDIT] = "read-credit",
                                        [EXPLAIN_QUEUE_DEPTH] = "queue-depth",
                                        [EXPLAIN_ECN_THRESHOLDS] = "ecn-thresholds",
                                        [EXPLAIN_ECN_OUT_OF_REACH] = "ecn-out-of-reach",
                                        [EXPLAIN_NO_CNPS] = "no-cnps",
                                        [EXPLAIN_NO_REACTION] = "no-reaction",
                                        [EXPLAIN_RATE_RECOVERY] = "rate-recovery",
                                        [EXPLAIN_REORDERING] = "reordering",
                                        [EXPLAIN_SHORT_TIMEOUT] = "short-timeout",
                                        [EXPLAIN_SMALL_BUFFER] = "small-buffer",
                                        [EXPLAIN_LOSSY_CLASS] = "lossy-class",
                                        [EXPLAIN_HEADROOM] = "headroom",
                                        [EXPLAIN_STRAGGLER] = "straggler",
                                        [EXPLAIN_LATE_DEPENDENCY] = "late-dependency",
                                        [EXPLAIN_OVERLOAD] = "overload",
                                        [EXPLAIN_KV_TRANSFERS] = "kv-transfers",
                                        [EXPLAIN_CACHE_MISSES] = "cache-misses",
                                        [EXPLAIN_PCIE] = "pcie",
                                        [EXPLAIN_UNITS] = "processing-units",
                                        [EXPLAIN_POSTING_CORE] = "posting-core",
                                        [EXPLAIN_HOST_PATH] = "host-path",
                                        [EXPLAIN_CREDIT_WAIT] = "credit-wait",
                                        [EXPLAIN_LINK_RETRIES] = "link-retries"};
    return names[kind];
}

explain_finding_t *cli__explain_add(explain_t *explain, explain_kind_t kind, uint32_t tier,
                                    char *place)
{
    SIM_GROW(explain->findings, explain->finding_count, &explain->finding_capacity);
    explain_finding_t *const finding = &explain->findings[explain->finding_count++];
    *finding =
        (explain_finding_t){.kind = kind, .tier = tier, .place = place, .port = EXPLAIN_NONE};
    return finding;
}

uint32_t cli__explain_busiest_port(const explain_t *explain)
{
    uint32_t busiest = EXPLAIN_NONE;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        if (explain->ports[i].port != NULL &&
            (busiest == EXPLAIN_NONE ||
             explain->ports[i].utilisation > explain->ports[busiest].utilisation)) {
            busiest = i;
        }
    }
    return busiest;
}

void cli__explain_add_root(explain_finding_t *finding, uint32_t root)
{
    if (finding->root_count < EXPLAIN_ROOTS_MAX) {
        finding->roots[finding->root_count++] = root;
    }
}

void cli__explain_evidence(explain_finding_t *finding, char *text)
{
    SIM_APPEND(finding->evidence, finding->evidence_count, finding->evidence_capacity, text);
}

void cli__explain_remedy(explain_finding_t *finding, const char *set, const char *why)
{
    SIM_APPEND(finding->remedies, finding->remedy_count, finding->remedy_capacity,
               (explain_remedy_t){.set = sim_strdup(set), .why = sim_strdup(why)});
}

void cli__explain_nic_remedy(const explain_t *explain, explain_finding_t *finding,
                             uint32_t interface, const char *set, const char *why)
{
    const nic_config_t *const own = nic_config_of_interface(explain->world->net, interface);
    const net_node_t *const host = world_host_of(explain->world, &explain->world->nics[interface]);
    char *const text = nic_config_equal(own, &explain->scenario->nic_config)
                           ? sim_format("nic.%s", set)
                           : sim_format("nodes.%s.nic.%s", host->sim.name, set);
    cli__explain_remedy(finding, text, why);
    sim_free(text);
}

void cli__explain_flow(explain_finding_t *finding, uint32_t flow)
{
    if (finding->flow_count > 0 && finding->flows[finding->flow_count - 1] == flow) {
        return;
    }
    SIM_APPEND(finding->flows, finding->flow_count, finding->flow_capacity, flow);
}

bool cli__explain_passes(const explain_t *explain, const explain_flow_t *flow, uint32_t uid)
{
    for (uint32_t h = 0; h < flow->hop_count; h++) {
        if (explain->hops[flow->first_hop + h] == uid) {
            return true;
        }
    }
    return false;
}

explain_passing_t cli__explain_passing(const explain_t *explain, uint32_t uid)
{
    const size_t from = explain->passing_from[uid];
    return (explain_passing_t){explain->passing + from,
                               (uint32_t)(explain->passing_from[uid + 1] - from)};
}

// Returns whether a finding of hardware is about this port or its other end.
static bool is_told(const explain_t *explain, uint32_t uid)
{
    for (size_t i = 0; i < explain->finding_count; i++) {
        const explain_finding_t *const finding = &explain->findings[i];
        const bool link = finding->kind == EXPLAIN_DEGRADED_LINK;
        if (finding->port != EXPLAIN_NONE &&
            (finding->port == uid ||
             (link && explain->ports[finding->port].port->peer->uid == uid))) {
            return finding->kind == EXPLAIN_DEGRADED_LINK ||
                   finding->kind == EXPLAIN_SLOW_RECEIVER || finding->kind == EXPLAIN_PAUSE_STORM;
        }
    }
    return false;
}

// -- ports that flows share

static uint32_t sources_of(const explain_t *explain, uint32_t uid)
{
    bool *const seen = sim_alloc(explain->world->nic_count + 1);
    uint32_t count = 0;
    memset(seen, 0, explain->world->nic_count + 1);
    const explain_passing_t passing = cli__explain_passing(explain, uid);
    for (uint32_t i = 0; i < passing.count; i++) {
        const uint32_t source = explain->flows[passing.flows[i]].source;
        count += !seen[source];
        seen[source] = true;
    }
    sim_free(seen);
    return count;
}

static void add_senders(const explain_t *explain, explain_finding_t *finding, uint32_t uid)
{
    const explain_passing_t passing = cli__explain_passing(explain, uid);
    for (uint32_t i = 0; i < passing.count; i++) {
        cli__explain_flow(finding, passing.flows[i]);
    }
}

// Finds the pauses that a port's congestion caused: of the port itself, or of one that only its
// flows fill.
static void attach_roots(const explain_t *explain, explain_finding_t *finding)
{
    for (uint32_t r = 0; r < explain->root_count; r++) { // the longest pauses come first
        const explain_root_t *const root = &explain->roots[r];
        if (root->port == EXPLAIN_NONE) {
            continue;
        }
        const explain_passing_t through = cli__explain_passing(explain, root->port);
        uint32_t held_here = 0;
        for (uint32_t i = 0; i < through.count; i++) {
            held_here += explain->flows[through.flows[i]].bottleneck == finding->port;
        }
        if (root->port == finding->port || (through.count > 0 && 2 * held_here > through.count)) {
            cli__explain_add_root(finding, r);
        }
    }
}

// Offers lower thresholds of marks: 50 KB, or half of smaller ones.
static void offer_earlier_marks(const explain_t *explain, explain_finding_t *finding)
{
    const uint64_t kmin = explain->scenario->switch_config.ecn_kmin_bytes;
    if (kmin < 4000 || !cli__explain_marks_slow(explain, finding->port)) {
        return; // two packets: lower ones mark everything
    }
    const uint64_t lower = kmin > 50000 ? 50000 : kmin / 2;
    char *const set = lower % 1000 == 0 ? sim_format("switch.ecn.kmin=%" PRIu64 "KB", lower / 1000)
                                        : sim_format("switch.ecn.kmin=%" PRIu64 "B", lower);
    cli__explain_remedy(finding, set, "lower ECN thresholds slow the senders down earlier");
    sim_free(set);
}

static void add_storm_remedies(const explain_t *explain, explain_finding_t *finding)
{
    const char *const control =
        json_string_value(json_object_get(explain->summary, "congestion_control"));
    if (control == NULL || strcmp(control, "none") == 0) {
        cli__explain_remedy(finding, "nic.congestion-control=dcqcn",
                            "senders slow down before PFC has to stop them");
    } else {
        offer_earlier_marks(explain, finding);
        cli__explain_remedy(finding, "nic.congestion-control=hpcc",
                            "a control by telemetry keeps queues short");
    }
    if (finding->root_count > 0) {
        const net_switch_config_t *const config = &explain->scenario->switch_config;
        if (config->pfc_alpha.num < config->pfc_alpha.den) {
            cli__explain_remedy(finding, "switch.pfc.alpha=1",
                                "a larger share of the buffer delays pauses");
        }
        const uint64_t twice_mb = 2 * config->buffer_bytes / 1000000;
        char *const set =
            sim_format("switch.buffer=%" PRIu64 "MB", twice_mb > 64 ? twice_mb : UINT64_C(64));
        cli__explain_remedy(finding, set, "more shared buffer and headroom delay pauses");
        sim_free(set);
    }
}

static void explain_collision(const explain_t *explain, explain_finding_t *finding,
                              const explain_draws_t *draws)
{
    finding->sentence =
        sim_format("hash collision: %u flows share %s at one time, and %u of them could take "
                   "another path",
                   draws->together, finding->place, draws->elsewhere);
    cli__explain_tell_draws(finding, draws);
    char *const seed = sim_format("seed=%" PRIu64, explain->scenario->run.seed + 1);
    cli__explain_remedy(finding, seed, "the next seed hashes flows to other paths");
    sim_free(seed);
    cli__explain_remedy(finding, "network.load-balancer=letflow",
                        "switches move flowlets to paths with room");
}

static void add_evidence_of_port(const explain_t *explain, explain_finding_t *finding, uint32_t uid)
{
    world_text_t used;
    world_text_t queue;
    world_text_t lost;
    const explain_port_t *const port = &explain->ports[uid];
    char *const cost =
        explain->flow_count == 0
            ? sim_strdup("flows.csv has no flows that tell what that cost")
            : sim_format("fair shares there cost %u flow%s %s, %.0f %% of the time of all flows",
                         port->shared_flows, sim_plural(port->shared_flows),
                         world_format_time(&lost, (sim_time_t)port->shared_ps),
                         explain->flows_ps > 0 ? 100 * port->shared_ps / explain->flows_ps : 0);
    cli__explain_evidence(finding,
                          sim_format("%s was used %s, its queue reached %s; %s", finding->place,
                                     world_format_percent(&used, port->utilisation),
                                     world_format_bytes(&queue, port->queue_bytes_max), cost));
    sim_free(cost);
    const uint64_t full = port->drops[NET_DROP_EGRESS_FULL] + port->drops[NET_DROP_BUFFER_FULL];
    if (full > 0) {
        cli__explain_evidence(finding,
                              sim_format("%s dropped %" PRIu64
                                         " packet%s because its queue or the buffer was full "
                                         "(tx_discards)",
                                         finding->place, full, sim_plural(full)));
    }
}

static void find_port(explain_t *explain, uint32_t uid)
{
    const explain_port_t *const port = &explain->ports[uid];
    const net_node_t *const to = port->port->peer->node;
    const bool to_host = to->kind == NET_NODE_HOST;
    const bool from_host = port->port->node->kind == NET_NODE_HOST;
    const bool group = port->planes > 1; // packets that spread over equal ports never collide
    const explain_draws_t draws =
        to_host || from_host || group ? (explain_draws_t){0} : cli__explain_draw(explain, uid);
    const bool collision = cli__explain_is_collision(&draws);
    explain_finding_t *const finding =
        cli__explain_add(explain,
                         collision   ? EXPLAIN_COLLISION
                         : to_host   ? EXPLAIN_INCAST
                         : from_host ? EXPLAIN_BUSY_SENDER
                                     : EXPLAIN_OVERSUBSCRIBED,
                         from_host ? 3 : 2, sim_strdup(cli__explain_port_name(explain, uid)));
    world_text_t rate;
    finding->port = uid;
    if (collision) {
        explain_collision(explain, finding, &draws);
    } else if (to_host) {
        finding->sentence = sim_format(
            "incast: %u hosts send to %s, up to %u flow%s at a time, over "
            "its one link of %s",
            sources_of(explain, uid), to->sim.name, port->shared_most,
            sim_plural(port->shared_most), world_format_rate(&rate, port->port->line->rate_bps));
    } else if (from_host) {
        finding->sentence = sim_format(
            "busy sender: the flows of %s fill its own link %s of %s, up to %u at a time",
            port->port->node->sim.name, finding->place,
            world_format_rate(&rate, port->port->line->rate_bps), port->shared_most);
    } else if (draws.elsewhere > 0) {
        finding->sentence = sim_format(
            "oversubscribed links: up to %u flows of %u hosts meet at %s; spread evenly over equal "
            "ports, %.0f would, and %.2g fill it",
            draws.together, sources_of(explain, uid), finding->place, draws.expected, draws.fit);
        cli__explain_tell_draws(finding, &draws);
    } else {
        finding->sentence =
            group
                ? sim_format("oversubscribed links: %u hosts share %s and the %u port%s beside it, "
                             "up to %u flow%s at a time, whose packets spread over them",
                             sources_of(explain, uid), finding->place, port->planes - 1,
                             sim_plural(port->planes - 1), port->shared_most,
                             sim_plural(port->shared_most))
                : sim_format("oversubscribed link: %u hosts share %s, up to %u flow%s at a time, "
                             "and no other path has room",
                             sources_of(explain, uid), finding->place, port->shared_most,
                             sim_plural(port->shared_most));
    }
    finding->score_ps = port->shared_ps;
    attach_roots(explain, finding);
    add_evidence_of_port(explain, finding, uid);
    add_senders(explain, finding, uid);
    add_storm_remedies(explain, finding);
}

// Returns the time that sharing of their own links costs all hosts.
static double busy_ps(const explain_t *explain)
{
    double sum_ps = 0;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const explain_port_t *const port = &explain->ports[i];
        sum_ps +=
            port->port != NULL && port->port->node->kind == NET_NODE_HOST ? port->shared_ps : 0;
    }
    return sum_ps;
}

// Returns whether the port is worth a report: flows share it, and it is no host that sends as much
// at once as most of its like do.
static bool is_shared(const explain_t *explain, const explain_port_t *port, double all_busy_ps)
{
    if (port->port == NULL || port->shared_flows < 2 || port->shared_most < 2) {
        return false;
    }
    return port->port->node->kind != NET_NODE_HOST ||
           (port->shared_ps > BUSY_SHARE * all_busy_ps &&
            port->shared_ps > BUSY_LEAST * explain->flows_ps);
}

static void find_shared(explain_t *explain)
{
    const double all_busy_ps = busy_ps(explain);
    double most_ps = 0;
    for (uint32_t told = 0; told < PORTS_TOLD_MAX; told++) {
        uint32_t best = EXPLAIN_NONE;
        for (uint32_t i = 0; i < explain->port_count; i++) {
            const explain_port_t *const port = &explain->ports[i];
            if (!is_shared(explain, port, all_busy_ps) || is_told(explain, i)) {
                continue;
            }
            bool done = false;
            for (size_t f = 0; f < explain->finding_count; f++) {
                done |= explain->findings[f].tier >= 2 && explain->findings[f].port == i;
            }
            if (!done &&
                (best == EXPLAIN_NONE || port->shared_ps > explain->ports[best].shared_ps)) {
                best = i;
            }
        }
        if (best == EXPLAIN_NONE || explain->ports[best].shared_ps < SHARE_LEAST * most_ps) {
            return;
        }
        most_ps = most_ps > 0 ? most_ps : explain->ports[best].shared_ps;
        find_port(explain, best);
    }
}

// Reports large roots of pauses that no finding has: of traffic whose flows are not listed.
static void find_roots(explain_t *explain)
{
    sim_time_t total_ps = 0;
    for (size_t i = 0; i < explain->root_count; i++) {
        total_ps += explain->roots[i].paused_ps;
    }
    for (uint32_t r = 0; r < explain->root_count; r++) {
        const explain_root_t *const root = &explain->roots[r];
        bool told = root->port == EXPLAIN_NONE ||
                    (double)root->paused_ps < ROOT_LEAST * (double)total_ps ||
                    explain->flow_count > 0 || is_told(explain, root->port);
        for (size_t f = 0; f < explain->finding_count && !told; f++) {
            told = explain->findings[f].kind == EXPLAIN_DEADLOCK;
        }
        if (told) {
            continue;
        }
        const net_node_t *const to = explain->ports[root->port].port->peer->node;
        const bool to_host = to->kind == NET_NODE_HOST;
        const double used = explain->ports[root->port].utilisation;
        const bool burst = used < BUSY_PORT;
        explain_finding_t *const finding = cli__explain_add(explain,
                                                            to_host ? EXPLAIN_INCAST
                                                            : burst ? EXPLAIN_BURST
                                                                    : EXPLAIN_OVERSUBSCRIBED,
                                                            2, sim_strdup(root->name));
        world_text_t share;
        finding->port = root->port;
        cli__explain_add_root(finding, r);
        finding->score_ps = (double)root->paused_ps;
        finding->sentence =
            to_host ? sim_format("incast: more is sent to %s at a time than its link carries",
                                 to->sim.name)
            : burst ? sim_format("burst: for moments, more is sent over %s than it carries; on "
                                 "average it has room (%s used)",
                                 root->name, world_format_percent(&share, used))
                    : sim_format("oversubscribed link: more is sent over %s than it carries",
                                 root->name);
        add_evidence_of_port(explain, finding, root->port);
        add_storm_remedies(explain, finding);
    }
}

// Returns whether the other ends of a host's flows have as many flows at that time as the host: an
// exchange among all, such as an all-to-all, fills all links alike.
static bool is_balanced(const explain_t *explain, uint32_t uid)
{
    const bool to_host = explain->ports[uid].port->peer->node->kind == NET_NODE_HOST;
    const sim_time_t time_ps = cli__explain_time_of_most(explain, uid);
    const explain_passing_t passing = cli__explain_passing(explain, uid);
    uint64_t together = 0;
    uint32_t *const ends = sim_alloc_array(explain->world->nic_count + 1, sizeof(*ends));
    memset(ends, 0, (explain->world->nic_count + 1) * sizeof(*ends)); // flows that meet, by host
    for (uint32_t i = 0; i < passing.count; i++) {
        const explain_flow_t *const flow = &explain->flows[passing.flows[i]];
        if (flow->begin_ps <= time_ps && flow->end_ps > time_ps) {
            ends[to_host ? flow->source : flow->destination]++;
            together++;
        }
    }
    uint64_t elsewhere = 0;
    for (size_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (flow->begin_ps <= time_ps && flow->end_ps > time_ps) {
            elsewhere += ends[to_host ? flow->source : flow->destination];
        }
    }
    sim_free(ends);
    return together > 0 && elsewhere >= together * together;
}

static bool drops_at(const explain_port_t *port)
{
    return port->drops[NET_DROP_EGRESS_FULL] + port->drops[NET_DROP_BUFFER_FULL] > 0;
}

// Returns whether few flows met at a host, as those of random traffic do, and that cost little; or
// whether a host's own flows met while the flows of all hosts took about their ideal times.
static bool is_by_chance(const explain_t *explain, const explain_finding_t *finding)
{
    const explain_port_t *const port = &explain->ports[finding->port];
    const bool paused_or_lost = finding->root_count > 0 || drops_at(port);
    const bool near = explain->flows_ps < NEAR_IDEAL * explain->ideal_ps;
    const bool few = finding->kind == EXPLAIN_INCAST && port->shared_most <= FEW_FLOWS &&
                     finding->score_ps < CHANCE_SHARE * explain->flows_ps;
    return !paused_or_lost && (few || (finding->kind == EXPLAIN_BUSY_SENDER && near));
}

// When a kind of cause is minor. The kinds that are not in the table never are.
typedef enum weight {
    ALWAYS_TELLS,
    IF_LITTLE,     // it costs little of the time of all flows
    SHARING,       // any busy network shares links
    NOTHING_AGAIN, // no flow sent anything again for it
} weight_t;

static const weight_t weights[] = {
    [EXPLAIN_RETRANSMISSION] = IF_LITTLE,
    [EXPLAIN_SLOW_HOST] = IF_LITTLE,
    [EXPLAIN_RATE_RECOVERY] = IF_LITTLE,
    [EXPLAIN_REORDERING] = IF_LITTLE,
    [EXPLAIN_SHORT_TIMEOUT] = IF_LITTLE,
    [EXPLAIN_ECN_THRESHOLDS] = IF_LITTLE,
    [EXPLAIN_ECN_OUT_OF_REACH] = IF_LITTLE,
    [EXPLAIN_NO_CNPS] = IF_LITTLE,
    [EXPLAIN_NO_REACTION] = IF_LITTLE,
    [EXPLAIN_INCAST] = SHARING,
    [EXPLAIN_COLLISION] = SHARING,
    [EXPLAIN_OVERSUBSCRIBED] = SHARING,
    [EXPLAIN_BURST] = SHARING,
    [EXPLAIN_BUSY_SENDER] = SHARING,
    [EXPLAIN_CORRUPTING_LINK] = NOTHING_AGAIN,
    [EXPLAIN_LOSSY_LINKS] = NOTHING_AGAIN,
};

// Returns whether the sharing of a port costs little of the time of all flows or is balanced, and
// nothing was stopped or lost for it.
static bool is_minor_sharing(const explain_t *explain, const explain_finding_t *finding)
{
    const bool known = finding->port != EXPLAIN_NONE;
    const bool drops = known && drops_at(&explain->ports[finding->port]);
    if (explain->flow_count == 0) {
        return finding->score_ps < MINOR_SHARE * (double)explain->end_ps && !drops;
    }
    if (!known) {
        return false;
    }
    const bool little = finding->score_ps < MINOR_SHARE * explain->flows_ps;
    const bool of_host = finding->kind == EXPLAIN_INCAST || finding->kind == EXPLAIN_BUSY_SENDER;
    return is_by_chance(explain, finding) ||
           (finding->root_count == 0 && !drops &&
            (little || (of_host && is_balanced(explain, finding->port))));
}

static bool is_minor(const explain_t *explain, const explain_finding_t *finding)
{
    const size_t kind = (size_t)finding->kind;
    switch (kind < SIM_COUNT_OF(weights) ? weights[kind] : ALWAYS_TELLS) {
    case ALWAYS_TELLS:
        break;
    case IF_LITTLE:
        return finding->spread || finding->score_ps < MINOR_SHARE * explain->flows_ps;
    case SHARING:
        return finding->spread || is_minor_sharing(explain, finding);
    case NOTHING_AGAIN:
        return finding->spread || (explain->flow_count > 0 && finding->flow_count == 0);
    }
    return finding->spread;
}

static int by_weight(const void *a, const void *b)
{
    const explain_finding_t *const x = a;
    const explain_finding_t *const y = b;
    if (x->minor != y->minor) {
        return x->minor ? 1 : -1;
    }
    if (x->tier != y->tier) {
        return x->tier < y->tier ? -1 : 1;
    }
    if (x->score_ps < y->score_ps || x->score_ps > y->score_ps) {
        return x->score_ps > y->score_ps ? -1 : 1;
    }
    return strcmp(x->place, y->place);
}

void cli__explain_find(explain_t *explain)
{
    cli__explain_roots(explain);
    cli__explain_share(explain);
    cli__explain_inside(explain);
    cli__explain_hardware(explain);
    cli__explain_link_layer(explain);
    cli__explain_full(explain);
    cli__explain_limits(explain);
    cli__explain_marking(explain);
    find_shared(explain);
    find_roots(explain);
    cli__explain_waits(explain);
    cli__explain_programs(explain);
    for (size_t i = 0; i < explain->finding_count; i++) {
        explain->findings[i].minor = is_minor(explain, &explain->findings[i]);
    }
    cli__explain_drops(explain);
    if (explain->finding_count > 0) {
        qsort(explain->findings, explain->finding_count, sizeof(explain_finding_t), by_weight);
    }
    if (!explain->brief) {
        cli__explain_keep_remedies(explain);
    }
}
