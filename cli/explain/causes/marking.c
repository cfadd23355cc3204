// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/marking.c - finds faults of congestion control by marks: thresholds of one
// switch that are unlike the others', thresholds that no queue reaches, hosts that send no CNPs,
// senders that do not react to them.
//
// A setting is accused only if counters show its effect: marks where other switches would make
// none, no marks where they would, queues, pauses, or senders that keep more than their share.
#include "cli/explain/causes/marking.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"
#include "world/names.h"

#include "net/marking.h"
#include "net/nodes.h"
#include "net/paths.h"
#include "nic/extra.h"
#include "nic/transport.h"
#include "world/format.h"

#include <stdlib.h>
#include <string.h>

#define MARKS_LEAST 20u      // packets, below which marks say little
#define UNLIKE 2.0           // ratio of thresholds that are unlike
#define ODD_MOST 3u          // at most one switch of so many is odd
#define FEW_MARKED 0.05      // share of packets, below which a port hardly marks
#define TRIPS_LONG 10.0      // round trips that a queue takes to empty, if nothing was marked
#define EAGER_PACKETS 10.0   // queue in packets, from which a port that marks all of them is eager
#define EAGER_USED 0.75      // share of the time in which it was shared that it sent, at most
#define CNP_INTERVAL_PS 50e6 // the longest usual time between two CNPs of a flow
#define CNPS_FEW 0.5         // share of the CNPs that such an interval gives
#define OTHERS_CNPS 5u       // CNPs that other senders of the port handled
#define SHARE_UNFAIR 1.5     // goodput to the median of the port, of a sender without CNPs
#define SHARE_DEAF 2.5       // likewise, of one that got CNPs
#define STOPPED_SHARE 0.6    // of the time that PFC stops senders that never slow down
#define LASTING_PS 2e9       // shorter flows may end before a control acts

const nic_cc_ops_t *cli__explain_control(const explain_t *explain, const explain_flow_t *flow)
{
    return explain->controls[flow->source];
}

// Returns whether the flow's sender slows down by marks alone.
static bool heeds_marks(const explain_t *explain, const explain_flow_t *flow)
{
    const nic_cc_ops_t *const cc = cli__explain_control(explain, flow);
    return cc != NULL && (cc->cnp != NULL || cc->echoes_ecn);
}

// Returns whether the flow's sender never slows down.
static bool is_deaf(const explain_t *explain, const explain_flow_t *flow)
{
    const nic_cc_ops_t *const cc = cli__explain_control(explain, flow);
    return cc != NULL && cc->cnp == NULL && cc->ack == NULL;
}

// Adds the flows that pass the port, and returns the time that they lost.
static double add_flows(const explain_t *explain, explain_finding_t *finding, uint32_t uid)
{
    double lost_ps = 0;
    const explain_passing_t passing = cli__explain_passing(explain, uid);
    for (uint32_t i = 0; i < passing.count; i++) {
        const explain_flow_t *const flow = &explain->flows[passing.flows[i]];
        cli__explain_flow(finding, passing.flows[i]);
        lost_ps += flow->excess_ps + flow->shared_ps;
    }
    return lost_ps;
}

// -- switches that are unlike the others

// Thresholds as times that a full port takes to send these queues; of a port that does not mark,
// SIM_TIME_NEVER.
typedef struct thresholds {
    double low_ps;
    double high_ps;
    double probability;
    bool known;
} thresholds_t;

static thresholds_t thresholds_of(const net_port_t *port)
{
    if (port->node->kind != NET_NODE_SWITCH ||
        !net_switch_marks_red(net_switch_of((net_node_t *)(uintptr_t)port->node))) {
        return (thresholds_t){.known = false};
    }
    sim_profile_t profile;
    const bool marks = net_switch_ecn_thresholds(port->node, port->index, &profile);
    const double per_byte = 8e12 / (double)port->line->rate_bps;
    return (thresholds_t){
        .low_ps = marks ? (double)profile.low_bytes * per_byte : (double)SIM_TIME_NEVER,
        .high_ps = marks ? (double)profile.high_bytes * per_byte : (double)SIM_TIME_NEVER,
        .probability = (double)profile.probability.num / (double)profile.probability.den,
        .known = true,
    };
}

bool cli__explain_marks_slow(const explain_t *explain, uint32_t uid)
{
    const thresholds_t own = thresholds_of(explain->ports[uid].port);
    const explain_passing_t passing = cli__explain_passing(explain, uid);
    bool slow = passing.count == 0; // flows.csv does not list them
    for (uint32_t i = 0; i < passing.count; i++) {
        const nic_cc_ops_t *const cc =
            cli__explain_control(explain, &explain->flows[passing.flows[i]]);
        slow |= cc == NULL || cc->cnp != NULL ||
                (cc->echoes_ecn && cc->telemetry == NET_TELEMETRY_NONE); // HPCC ignores echoes
    }
    return own.known && own.low_ps < (double)SIM_TIME_NEVER && slow;
}

static bool differ(double a, double b)
{
    return a > UNLIKE * b || b > UNLIKE * a;
}

static bool are_alike(thresholds_t a, thresholds_t b)
{
    return a.known && b.known && !differ(a.low_ps + 1, b.low_ps + 1) &&
           !differ(a.high_ps + 1, b.high_ps + 1) &&
           !differ(a.probability + 1e-6, b.probability + 1e-6);
}

// Returns the thresholds of the most switches that are alike, by their first ports. They are not
// known if others than a few switches have them.
static thresholds_t usual_thresholds(const explain_t *explain)
{
    const net_t *const net = explain->world->net;
    thresholds_t usual = {.known = false};
    uint32_t most = 0;
    uint32_t all = 1;
    for (size_t i = 0; i < net_node_count(net) && 2 * most <= all; i++) {
        const net_node_t *const node = net_node_at(net, i);
        if (node->kind != NET_NODE_SWITCH || node->port_count == 0) {
            continue;
        }
        const thresholds_t own = thresholds_of(&node->ports[0]);
        uint32_t alike = 0;
        all = 0;
        for (size_t j = 0; j < net_node_count(net); j++) {
            const net_node_t *const other = net_node_at(net, j);
            if (other->kind == NET_NODE_SWITCH && other->port_count > 0) {
                all++;
                alike += are_alike(own, thresholds_of(&other->ports[0]));
            }
        }
        if (alike > most) {
            most = alike;
            usual = own;
        }
    }
    const uint32_t odd = all - SIM_MIN(most, all);
    usual.known &= all > 1 && odd >= 1 && ODD_MOST * odd <= SIM_MAX(all, ODD_MOST);
    return usual;
}

static double queue_ps(const explain_port_t *port)
{
    return (double)port->queue_bytes_max * 8e12 / (double)port->port->line->rate_bps;
}

// The ports of a switch whose counters show that its thresholds have an effect.
typedef struct odd_switch {
    uint32_t worst; // the port with the longest queue of them
    uint64_t marked;
    uint32_t ports;
    bool eager; // it marks earlier than others do
} odd_switch_t;

static odd_switch_t examine(const explain_t *explain, const net_node_t *node, thresholds_t usual)
{
    odd_switch_t odd = {.worst = EXPLAIN_NONE};
    for (uint32_t p = 0; p < node->port_count; p++) {
        const uint32_t uid = node->ports[p].uid;
        const explain_port_t *const port = &explain->ports[uid];
        const thresholds_t own = thresholds_of(&node->ports[p]);
        const double longest_ps = queue_ps(port);
        const bool eager =
            (own.low_ps < usual.low_ps / UNLIKE || own.high_ps < usual.high_ps / UNLIKE ||
             (own.probability > UNLIKE * usual.probability &&
              own.low_ps < UNLIKE * usual.low_ps)) &&
            port->marked >= MARKS_LEAST;
        // Others would have marked at least a part of this queue.
        const bool late =
            (own.low_ps > UNLIKE * usual.low_ps || own.high_ps > UNLIKE * usual.high_ps ||
             own.probability < usual.probability / UNLIKE) &&
            longest_ps > UNLIKE * usual.low_ps &&
            (longest_ps > UNLIKE * usual.high_ps ||
             (double)port->marked < FEW_MARKED * (double)port->tx_packets);
        if (!eager && !late) {
            continue;
        }
        odd.ports++;
        odd.marked += port->marked;
        odd.eager = eager;
        if (odd.worst == EXPLAIN_NONE || longest_ps > queue_ps(&explain->ports[odd.worst])) {
            odd.worst = uid;
        }
    }
    return odd;
}

static const char *threshold_text(world_text_t *text, double ps, const net_port_t *port)
{
    return ps >= (double)SIM_TIME_NEVER / 2
               ? "no queue"
               : world_format_bytes(text,
                                    (uint64_t)(ps * (double)port->line->rate_bps / 8e12 + 0.5));
}

static void tell_odd_switch(explain_t *explain, const net_node_t *node, thresholds_t usual,
                            const odd_switch_t *odd)
{
    const net_port_t *const port = explain->ports[odd->worst].port;
    const thresholds_t own = thresholds_of(port);
    explain_finding_t *const finding =
        cli__explain_add(explain, EXPLAIN_ECN_THRESHOLDS, 1, sim_strdup(node->sim.name));
    world_text_t texts[5];
    finding->port = odd->worst;
    finding->sentence = sim_format(
        "ECN thresholds of %s are unlike those of the other switches: %s marks from %s to %s "
        "(%.3g %% there), where others do from %s to %s (%.3g %%)",
        node->sim.name, cli__explain_port_name(explain, odd->worst),
        threshold_text(&texts[0], own.low_ps, port), threshold_text(&texts[1], own.high_ps, port),
        100 * own.probability, threshold_text(&texts[2], usual.low_ps, port),
        threshold_text(&texts[3], usual.high_ps, port), 100 * usual.probability);
    cli__explain_evidence(
        finding,
        sim_format(odd->eager
                       ? "%u of its ports marked %" PRIu64 " packets, with queues of up to %s: "
                         "its senders slow down for queues that others let pass"
                       : "%u of its ports marked %" PRIu64 " packets, though queues reached %s: "
                         "its senders do not hear of them in time",
                   odd->ports, odd->marked,
                   world_format_bytes(&texts[4], explain->ports[odd->worst].queue_bytes_max)));
    for (uint32_t p = 0; p < node->port_count; p++) {
        const uint32_t uid = node->ports[p].uid;
        if (uid == odd->worst || (odd->eager && explain->ports[uid].marked > 0)) {
            finding->score_ps += add_flows(explain, finding, uid);
        }
    }
    const net_switch_config_t *const config = &explain->scenario->switch_config;
    char *const set = sim_format("nodes.%s.switch.ecn.enabled=true --set nodes.%s.switch.ecn.kmin="
                                 "%" PRIu64 "B --set nodes.%s.switch.ecn.kmax=%" PRIu64 "B",
                                 node->sim.name, node->sim.name, config->ecn_kmin_bytes,
                                 node->sim.name, config->ecn_kmax_bytes);
    cli__explain_remedy(finding, set, "the thresholds of the other switches");
    sim_free(set);
}

static void find_odd_switches(explain_t *explain)
{
    const thresholds_t usual = usual_thresholds(explain);
    for (size_t i = 0; usual.known && i < net_node_count(explain->world->net); i++) {
        const net_node_t *const node = net_node_at(explain->world->net, i);
        if (node->kind != NET_NODE_SWITCH || node->port_count == 0 ||
            are_alike(thresholds_of(&node->ports[0]), usual)) {
            continue;
        }
        const odd_switch_t odd = examine(explain, node, usual);
        if (odd.worst != EXPLAIN_NONE) {
            tell_odd_switch(explain, node, usual, &odd);
        }
    }
}

// -- thresholds that no queue reaches

static bool is_root(const explain_t *explain, uint32_t uid)
{
    for (size_t r = 0; r < explain->root_count; r++) {
        if (explain->roots[r].port == uid) {
            return true;
        }
    }
    return false;
}

// Returns the longest round trip of flows that pass the port and slow down by marks; 0: there are
// none.
static double trip_of(const explain_t *explain, uint32_t uid)
{
    double trip_ps = 0;
    const explain_passing_t passing = cli__explain_passing(explain, uid);
    for (uint32_t i = 0; i < passing.count; i++) {
        const explain_flow_t *const flow = &explain->flows[passing.flows[i]];
        net_path_t path;
        if (heeds_marks(explain, flow) &&
            net_path_of(explain->world->net, flow->source, flow->destination, 0, &path)) {
            trip_ps = SIM_MAX(2.0 * (double)path.delay_ps + SIM_PS_PER_US, trip_ps);
        }
    }
    return trip_ps;
}

#define BYTE_PS_AT_100G 80.0

static void find_out_of_reach(explain_t *explain)
{
    uint32_t worst = EXPLAIN_NONE;
    uint32_t ports = 0;
    explain_finding_t *finding = NULL;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const explain_port_t *const port = &explain->ports[i];
        if (port->port == NULL || port->marked > 0 || port->shared_flows == 0 ||
            !thresholds_of(port->port).known ||
            queue_ps(port) >= thresholds_of(port->port).low_ps) {
            continue;
        }
        if (queue_ps(port) < TRIPS_LONG * SIM_PS_PER_US && !is_root(explain, i)) {
            continue; // shorter than ten of the shortest round trips
        }
        const double trip_ps = trip_of(explain, i);
        if (trip_ps <= 0 || (queue_ps(port) < TRIPS_LONG * trip_ps && !is_root(explain, i))) {
            continue;
        }
        if (finding == NULL) {
            finding = cli__explain_add(explain, EXPLAIN_ECN_OUT_OF_REACH, 1, NULL);
        }
        ports++;
        finding->score_ps += add_flows(explain, finding, i);
        worst =
            worst == EXPLAIN_NONE || queue_ps(port) > queue_ps(&explain->ports[worst]) ? i : worst;
    }
    if (finding == NULL) {
        return;
    }
    const net_port_t *const port = explain->ports[worst].port;
    world_text_t low;
    world_text_t queue;
    finding->port = worst;
    finding->place = sim_strdup(cli__explain_port_name(explain, worst));
    const double low_ps = thresholds_of(port).low_ps;
    world_format_bytes(&queue, explain->ports[worst].queue_bytes_max);
    finding->sentence =
        low_ps >= (double)SIM_TIME_NEVER / 2
            ? sim_format("ECN is off: %s marks no packet, and its queue reached %s: congestion "
                         "control never heard of it",
                         finding->place, queue.text)
            : sim_format("ECN out of reach: %s marks from a queue of %s on, and its queue of up to "
                         "%s never got there: congestion control never heard of it",
                         finding->place, threshold_text(&low, low_ps, port), queue.text);
    cli__explain_evidence(
        finding, sim_format("%u congested port%s marked no packet%s", ports, sim_plural(ports),
                            is_root(explain, worst) ? "; PFC stopped senders first" : ""));
    // A quarter of the queue that there was, also as the queue of a port of 100 Gbit/s would be.
    const double queue_bytes = SIM_MIN(queue_ps(&explain->ports[worst]) / BYTE_PS_AT_100G,
                                       (double)explain->ports[worst].queue_bytes_max);
    const uint64_t low_kb = (uint64_t)SIM_MAX(SIM_MIN(queue_bytes / 4000, 100.0), 1.0);
    char *const remedy = sim_format("switch.ecn.enabled=true --set switch.ecn.kmin=%" PRIu64
                                    "KB --set switch.ecn.kmax=%" PRIu64 "KB",
                                    low_kb, 4 * low_kb);
    cli__explain_remedy(finding, remedy, "marks begin before queues are long");
    sim_free(remedy);
}

// -- thresholds that mark almost every queue

// Returns whether the port marks queues of a few packets, and was used little while fair shares
// held its flows: senders that heed marks left it idle.
static bool is_eager(const explain_t *explain, uint32_t uid)
{
    const explain_port_t *const port = &explain->ports[uid];
    if (port->port == NULL || port->marked < MARKS_LEAST || port->shared_flows < 2 ||
        !thresholds_of(port->port).known) {
        return false;
    }
    const double per_byte = 8e12 / (double)port->port->line->rate_bps;
    const double packet_ps = (double)explain->scenario->nic_config.mtu_bytes * per_byte;
    return thresholds_of(port->port).high_ps < EAGER_PACKETS * packet_ps &&
           (double)port->tx_bytes * per_byte < EAGER_USED * port->held_ps;
}

static void find_eager(explain_t *explain)
{
    explain_finding_t *finding = NULL;
    uint32_t ports = 0;
    for (uint32_t uid = 0; uid < explain->port_count; uid++) {
        bool told = false; // as a switch that is unlike the others
        for (size_t i = 0; i < explain->finding_count && finding == NULL; i++) {
            told |= explain->findings[i].kind == EXPLAIN_ECN_THRESHOLDS;
        }
        if (told) {
            return;
        }
        if (!is_eager(explain, uid)) {
            continue;
        }
        if (finding == NULL) {
            finding = cli__explain_add(explain, EXPLAIN_ECN_THRESHOLDS, 1, NULL);
        }
        ports++;
        finding->score_ps += add_flows(explain, finding, uid);
        finding->port = finding->port == EXPLAIN_NONE || explain->ports[uid].shared_ps >
                                                             explain->ports[finding->port].shared_ps
                            ? uid
                            : finding->port;
    }
    if (finding == NULL) {
        return;
    }
    const explain_port_t *const worst = &explain->ports[finding->port];
    const thresholds_t own = thresholds_of(worst->port);
    world_text_t texts[3];
    const double per_byte = 8e12 / (double)worst->port->line->rate_bps;
    finding->place = sim_strdup(cli__explain_port_name(explain, finding->port));
    finding->sentence = sim_format(
        "ECN thresholds too low: %s marks from a queue of %s to %s, a few packets, so that its "
        "senders slow down too far: while flows shared it, it was used %s",
        finding->place, threshold_text(&texts[0], own.low_ps, worst->port),
        threshold_text(&texts[1], own.high_ps, worst->port),
        world_format_percent(&texts[2], (double)worst->tx_bytes * per_byte / worst->held_ps));
    cli__explain_evidence(
        finding, sim_format("%" PRIu64 " of its packets were marked; %u port%s of the network "
                            "mark%s so early and had room",
                            worst->marked, ports, sim_plural(ports), ports == 1 ? "s" : ""));
    cli__explain_remedy(finding,
                        "switch.ecn.kmin=100KB --set switch.ecn.kmax=400KB --set "
                        "switch.ecn.pmax=0.2",
                        "queues of about a round trip form before marks begin");
}

// -- hosts that send no CNPs

// The flows to a NIC whose senders heed CNPs.
typedef struct heeding {
    uint32_t flows;
    double flows_ps; // sum of their times
    sim_time_t from_ps;
    sim_time_t to_ps;
} heeding_t;

// Returns them by interface; the caller frees the array.
static heeding_t *flows_to(const explain_t *explain)
{
    heeding_t *const all = sim_alloc_array(explain->world->nic_count + 1, sizeof(*all));
    for (uint32_t i = 0; i < explain->world->nic_count; i++) {
        all[i] = (heeding_t){.from_ps = SIM_TIME_NEVER};
    }
    for (size_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        const nic_cc_ops_t *const cc = cli__explain_control(explain, flow);
        if (cc != NULL && cc->cnp != NULL && !cc->echoes_ecn && !flow->reads) {
            heeding_t *const to = &all[flow->destination];
            to->flows++;
            to->flows_ps += (double)(flow->end_ps - flow->begin_ps);
            to->from_ps = SIM_MIN(flow->begin_ps, to->from_ps);
            to->to_ps = SIM_MAX(flow->end_ps, to->to_ps);
        }
    }
    return all;
}

// Returns the number of CNPs that a NIC with the longest usual interval sends for its marked
// packets. Where each queue pair has an interval of its own, flows at the same time get a CNP each.
static double expected_cnps(const explain_t *explain, uint32_t interface, const heeding_t *to)
{
    const nic_config_t *const config = nic_config_of_interface(explain->world->net, interface);
    const net_node_t *const host = world_host_of(explain->world, &explain->world->nics[interface]);
    const double marked = (double)explain->nics[interface].marked;
    const double marked_ps =
        marked * (double)config->mtu_bytes * 8e12 / (double)host->ports[0].line->rate_bps;
    const double at_once = config->cnp_scope == NIC_CNP_PER_QP && to->to_ps > to->from_ps
                               ? to->flows_ps / (double)(to->to_ps - to->from_ps)
                               : 1;
    return SIM_MIN(marked, marked_ps * at_once / CNP_INTERVAL_PS);
}

static void find_silent(explain_t *explain)
{
    uint32_t silent = 0;
    uint32_t hosts = 0;
    heeding_t *const to = flows_to(explain);
    explain_finding_t *finding = NULL;
    for (uint32_t i = 0; i < explain->world->nic_count; i++) {
        const explain_nic_t *const nic = &explain->nics[i];
        const uint32_t flows = nic->marked >= MARKS_LEAST ? to[i].flows : 0;
        if (flows == 0) {
            continue;
        }
        hosts++;
        const nic_config_t *const config = nic_config_of_interface(explain->world->net, i);
        const double expected = expected_cnps(explain, i, &to[i]);
        if ((double)nic->cnps_sent >= SIM_MAX(1.0, CNPS_FEW * expected) &&
            (nic->cnps_sent > flows || (double)nic->cnps_sent >= CNPS_FEW * expected)) {
            continue;
        }
        if (silent++ == 0) {
            finding = cli__explain_add(explain, EXPLAIN_NO_CNPS, 1,
                                       sim_strdup(world_interface_name(explain->world, i)));
            finding->sentence = sim_format(
                "%s hardly sends CNPs: it received %" PRIu64 " marked packets and sent %" PRIu64
                " CNP%s, so that its senders do not slow down",
                finding->place, nic->marked, nic->cnps_sent, sim_plural(nic->cnps_sent));
            world_text_t interval;
            cli__explain_evidence(
                finding, sim_format("np_ecn_marked_roce_packets and np_cnp_sent of "
                                    "nics.csv; its nic.cnp-interval is %s",
                                    world_format_time(&interval, config->cnp_interval_ps)));
            char *const set = sim_format("nodes.%s.nic.cnp-interval=4us", finding->place);
            cli__explain_remedy(finding, set, "a CNP soon after each mark");
            sim_free(set);
        }
        for (uint32_t f = 0; f < explain->flow_count; f++) {
            const explain_flow_t *const flow = &explain->flows[f];
            if (flow->destination == i) {
                cli__explain_flow(finding, f);
                finding->score_ps += flow->shared_ps + flow->excess_ps;
            }
        }
    }
    sim_free(to);
    if (silent > 1) {
        cli__explain_evidence(
            finding, sim_format("%u of %u hosts with marked packets are so", silent, hosts));
        cli__explain_remedy(finding, "nic.cnp-interval=4us", "a CNP soon after each mark");
    }
}

// -- senders that do not react

static double goodput_of(const explain_flow_t *flow)
{
    const double bytes = (double)(flow->ended ? flow->bytes : flow->delivered_bytes);
    return bytes / (double)SIM_MAX(flow->end_ps - flow->begin_ps, 1);
}

// The goodput of a flow whose sender handled CNPs.
typedef struct heard {
    double rate;
    uint32_t source;
} heard_t;

static int by_rate(const void *a, const void *b)
{
    const double x = ((const heard_t *)a)->rate;
    const double y = ((const heard_t *)b)->rate;
    return (x > y) - (x < y);
}

// Writes the flows through the port whose senders handled CNPs, and returns their number.
static size_t find_heard(const explain_t *explain, uint32_t uid, heard_t *heard)
{
    size_t count = 0;
    const explain_passing_t passing = cli__explain_passing(explain, uid);
    for (uint32_t i = 0; i < passing.count; i++) {
        const explain_flow_t *const flow = &explain->flows[passing.flows[i]];
        if (explain->nics[flow->source].cnps_handled >= OTHERS_CNPS) {
            heard[count++] = (heard_t){.rate = goodput_of(flow), .source = flow->source};
        }
    }
    qsort(heard, count, sizeof(*heard), by_rate);
    return count;
}

// Returns the median rate of those that `source` does not send; 0: there are none. They are in
// order.
static double median_of_others(const heard_t *heard, size_t count, uint32_t source)
{
    size_t others = 0;
    for (size_t i = 0; i < count; i++) {
        others += heard[i].source != source;
    }
    size_t left = others / 2;
    for (size_t i = 0; i < count && others > 0; i++) {
        if (heard[i].source != source && left-- == 0) {
            return heard[i].rate;
        }
    }
    return 0;
}

// Sets unlike[i] to whether at most half of all NICs have the configuration of NIC i. Time is
// proportional to the number of NICs times that of their configurations.
static void find_unlike(const explain_t *explain, bool *unlike)
{
    const net_t *const net = explain->world->net;
    const uint32_t nics = (uint32_t)explain->world->nic_count;
    const nic_config_t **const kinds = sim_alloc_array(nics + 1, sizeof(const nic_config_t *));
    uint32_t *const counts = sim_alloc_array(nics + 1, sizeof(*counts));
    uint32_t *const kind_of = sim_alloc_array(nics + 1, sizeof(*kind_of));
    uint32_t kind_count = 0;
    for (uint32_t i = 0; i < nics; i++) {
        const nic_config_t *const own = nic_config_of_interface(net, i);
        uint32_t kind = 0;
        while (kind < kind_count && kinds[kind] != own && !nic_config_equal(kinds[kind], own)) {
            kind++;
        }
        if (kind == kind_count) {
            kinds[kind_count++] = own;
            counts[kind] = 0;
        }
        counts[kind]++;
        kind_of[i] = kind;
    }
    for (uint32_t i = 0; i < nics; i++) {
        unlike[i] = 2 * counts[kind_of[i]] <= nics;
    }
    sim_free(kind_of);
    sim_free(counts);
    sim_free((void *)(uintptr_t)kinds);
}

// Returns whether the flow's sender keeps its rate while others of a shared port with marks slow
// down. The sender is deaf, or unlike most NICs. `others` is the median rate of the others.
static bool keeps_rate(const explain_t *explain, const explain_flow_t *flow, double others)
{
    const explain_nic_t *const nic = &explain->nics[flow->source];
    const double own = goodput_of(flow);
    if (others <= 0) {
        return false;
    }
    if (is_deaf(explain, flow)) {
        return nic->cnps_ignored >= MARKS_LEAST;
    }
    const bool hears_none = heeds_marks(explain, flow) && nic->cnps_handled == 0;
    return (hears_none && own > SHARE_UNFAIR * others) ||
           (nic->cnps_handled >= OTHERS_CNPS && own > SHARE_DEAF * others);
}

static void tell_no_reaction(explain_t *explain, uint32_t source, uint32_t uid)
{
    const explain_nic_t *const nic = &explain->nics[source];
    const nic_config_t *const config = nic_config_of_interface(explain->world->net, source);
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_NO_REACTION, 1, sim_strdup(world_interface_name(explain->world, source)));
    finding->port = uid;
    finding->sentence =
        sim_format("%s does not react to congestion: at %s others slow down, and it keeps its rate",
                   finding->place, cli__explain_port_name(explain, uid));
    cli__explain_evidence(
        finding, sim_format("it handled %" PRIu64 " CNPs and ignored %" PRIu64
                            "; its congestion control is %s, nic.ecn %s",
                            nic->cnps_handled, nic->cnps_ignored, config->congestion_control,
                            config->ecn_capable ? "on" : "off: its packets cannot be marked"));
    finding->score_ps = add_flows(explain, finding, uid);
    const bool deaf =
        strcmp(config->congestion_control, explain->scenario->nic_config.congestion_control) != 0;
    char *const set = deaf ? sim_format("nodes.%s.nic.congestion-control=%s", finding->place,
                                        explain->scenario->nic_config.congestion_control)
                           : sim_format("nodes.%s.nic.ecn=true", finding->place);
    cli__explain_remedy(finding, set, "the setting of the other hosts");
    sim_free(set);
}

// The median rate of the other senders at a port.
typedef struct median {
    double rate;
    uint32_t uid;
} median_t;

static void find_no_reaction(explain_t *explain)
{
    // The flows of senders that are deaf, or unlike most NICs, which are few.
    uint32_t *const flows = sim_alloc_array(explain->flow_count + 1, sizeof(*flows));
    bool *const told = sim_alloc(explain->world->nic_count + 1);
    bool *const unlike = sim_alloc(explain->world->nic_count + 1);
    heard_t *const heard = sim_alloc_array(explain->flow_count + 1, sizeof(*heard));
    median_t *const medians = sim_alloc_array(explain->world->nic_count + 1, sizeof(*medians));
    size_t count = 0;
    for (size_t i = 0; i < explain->world->nic_count; i++) {
        medians[i] = (median_t){.uid = EXPLAIN_NONE};
    }
    memset(told, 0, explain->world->nic_count + 1);
    find_unlike(explain, unlike);
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        const bool ignores = explain->nics[flow->source].cnps_ignored >= MARKS_LEAST;
        if (unlike[flow->source] || (ignores && is_deaf(explain, flow))) {
            flows[count++] = f;
        }
    }
    for (uint32_t uid = 0; uid < explain->port_count && count > 0; uid++) {
        const explain_port_t *const port = &explain->ports[uid];
        if (port->port == NULL || port->marked < MARKS_LEAST || port->shared_most < 2) {
            continue;
        }
        const size_t heard_count = find_heard(explain, uid, heard);
        for (size_t i = 0; i < count && heard_count > 0; i++) {
            const explain_flow_t *const flow = &explain->flows[flows[i]];
            const uint32_t source = flow->source;
            if (told[source] || !cli__explain_passes(explain, flow, uid)) {
                continue;
            }
            if (medians[source].uid != uid) {
                medians[source] =
                    (median_t){.rate = median_of_others(heard, heard_count, source), .uid = uid};
            }
            if (keeps_rate(explain, flow, medians[source].rate)) {
                told[source] = true;
                tell_no_reaction(explain, source, uid);
            }
        }
    }
    SIM_FREE_ALL(flows, told, unlike, heard, medians);
}

// Returns whether PFC alone slows a lasting flow down, although its congestion control could: n
// senders that never slow down are stopped (n - 1) / n of the time.
static bool is_held_by_pauses(const explain_t *explain, const explain_flow_t *flow, double senders)
{
    const nic_cc_ops_t *const cc = cli__explain_control(explain, flow);
    const double time_ps = (double)(flow->end_ps - flow->begin_ps);
    if (cc == NULL || is_deaf(explain, flow) || flow->hop_count == 0 || time_ps < LASTING_PS) {
        return false;
    }
    const explain_port_t *const first = &explain->ports[explain->hops[flow->first_hop]];
    return (double)first->paused_ps >= STOPPED_SHARE * (senders - 1) / senders * time_ps;
}

// Finds ports whose senders have a congestion control that does not slow them down.
static void find_held_by_pauses(explain_t *explain)
{
    for (uint32_t uid = 0; uid < explain->port_count; uid++) {
        const explain_port_t *const port = &explain->ports[uid];
        const explain_flow_t *example = NULL;
        size_t held = 0;
        size_t count = 0;
        const explain_passing_t passing = cli__explain_passing(explain, uid);
        for (size_t i = 0; i < passing.count && port->port != NULL && port->marked >= MARKS_LEAST &&
                           port->shared_most >= 2;
             i++) {
            const explain_flow_t *const flow = &explain->flows[passing.flows[i]];
            const bool passes = flow->bottleneck == uid;
            const bool is_held = passes && is_held_by_pauses(explain, flow, port->shared_most);
            count += passes;
            held += is_held;
            example = is_held ? flow : example;
        }
        const nic_cc_ops_t *const control =
            example != NULL ? cli__explain_control(explain, example) : NULL;
        if (control == NULL || held < 2 || 2 * held < count) {
            continue;
        }
        const char *const name = cli__explain_port_name(explain, uid);
        explain_finding_t *const finding =
            cli__explain_add(explain, EXPLAIN_NO_REACTION, 1, sim_strdup(name));
        const explain_port_t *const first = &explain->ports[explain->hops[example->first_hop]];
        finding->port = uid;
        finding->sentence =
            sim_format("the senders at %s do not react to congestion: their control, "
                       "%s, keeps its rate until PFC stops them",
                       name, control->name);
        cli__explain_evidence(
            finding,
            sim_format("PFC stopped %s %.0f %% of the time; %zu of %zu flows that share the port "
                       "are held so, and %" PRIu64 " of its packets were marked",
                       cli__explain_port_name(explain, explain->hops[example->first_hop]),
                       100 * (double)first->paused_ps /
                           (double)(example->end_ps - example->begin_ps),
                       held, count, port->marked));
        finding->score_ps = add_flows(explain, finding, uid);
        cli__explain_remedy(finding, "nic.congestion-control=dcqcn",
                            "a control that slows down when packets are marked");
    }
}

void cli__explain_marking(explain_t *explain)
{
    find_odd_switches(explain);
    find_out_of_reach(explain);
    find_eager(explain);
    find_silent(explain);
    find_no_reaction(explain);
    find_held_by_pauses(explain);
}
