// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/waits.c - finds waits that neither broken parts nor shared ports explain: for
// packets that are sent again, for rates that recover, and for slow hosts.
#include "cli/explain/causes/waits.h"
#include "cli/explain/causes/hardware.h"
#include "cli/explain/causes/marking.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"
#include "world/names.h"

#include "net/frame_opcodes.h"
#include "net/paths.h"
#include "nic/extra.h"
#include "nic/transport.h"
#include "world/format.h"

#include <string.h>

#define QUEUE_LONG_PS 2e6 // of a queue to empty, from which it may explain a flow's waits
#define LONG_SHARE 0.25   // of a flow's time, from which its waits count
#define FEW_LOSSES 0.1    // lost packets to packets sent again, if losses do not explain these
#define ONE_HOST 0.6      // share of the waits, from which one host is reported
#define HOST_LEAST 0.002  // of the time of all flows: short flows may wait as long in one queue
#define RECOVERY_LONG 3.0 // waits for recovery to the sharing before them, if they come first
#define RECOVERY_MOST 0.5 // share of the time of all flows, from which slow recovery is a cause
#define UNSHARED_MOST 0.1 // share of a flow's time that fair shares cost it, if its host is slow

// Returns which flows a broken part explains; the caller frees it.
static bool *claimed_flows(const explain_t *explain)
{
    bool *const claimed = sim_alloc(explain->flow_count + 1);
    memset(claimed, 0, explain->flow_count + 1);
    for (size_t i = 0; i < explain->finding_count; i++) {
        for (size_t f = 0; f < explain->findings[i].flow_count; f++) {
            claimed[explain->findings[i].flows[f]] |= explain->findings[i].tier < 2;
        }
    }
    return claimed;
}

// Returns whether more than this share of the flow's time is unexplained.
static bool waits_long(const explain_flow_t *flow, double share)
{
    return flow->excess_ps > share * (double)(flow->end_ps - flow->begin_ps);
}

// -- packets that are sent again

// The waits of flows that sent packets again.
typedef struct again {
    double lost_ps;
    uint64_t packets;
    uint64_t early;    // packets that arrived out of order, without retransmissions
    uint64_t timeouts; // of the NICs that sent
    uint64_t losses;   // of data and answers, anywhere
    uint32_t flows;
    uint32_t failed; // among them
} again_t;

static bool sends_again(const explain_flow_t *flow)
{
    return flow->retransmitted > 0 && (flow->failed || waits_long(flow, LONG_SHARE));
}

// Returns the time that the flow lost as it sent packets again; all of it if it failed.
static double lost_by_again(const explain_flow_t *flow)
{
    return flow->failed ? (double)(flow->end_ps - flow->begin_ps) : flow->excess_ps;
}

// Returns whether the flow's transport spreads its packets itself. Its receivers take no packet for
// lost because another one overtook it.
static bool sprays(const explain_t *explain, const explain_flow_t *flow)
{
    const nic_config_t *const config = nic_config_of_interface(explain->world->net, flow->source);
    return config->repath == NIC_REPATH_OFF && nic_config_spreads(config);
}

static again_t sum_again(const explain_t *explain, const bool *claimed)
{
    again_t again = {0};
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (!claimed[f] && sends_again(flow)) {
            again.lost_ps += lost_by_again(flow);
            again.failed += flow->failed;
            again.packets += flow->retransmitted;
            again.early += sprays(explain, flow) ? 0 : flow->reordered;
            again.flows++;
        }
    }
    // Go-back-N also refuses the packets behind a lost one, so that this count stands only where
    // the run did not measure reordering.
    const bool measured = json_object_get(explain->summary, "reordering") != NULL;
    for (size_t i = 0; i < explain->world->nic_count; i++) {
        again.timeouts += explain->nics[i].timeouts;
        again.early += measured ? 0 : explain->nics[i].out_of_sequence;
    }
    const json_t *const packets = json_object_get(explain->summary, "packets");
    again.losses = (uint64_t)json_integer_value(json_object_get(packets, "dropped")) +
                   (uint64_t)json_integer_value(json_object_get(explain->summary, "trimmed"));
    return again;
}

// Adds the flows that sent packets again, and claims them.
static void claim_again(const explain_t *explain, explain_finding_t *finding, const again_t *again,
                        bool *claimed)
{
    if (again->failed > 0) {
        cli__explain_evidence(finding, sim_format("%u of the flows failed: their senders gave up "
                                                  "after nic.retry-count attempts",
                                                  again->failed));
    }
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        if (!claimed[f] && sends_again(&explain->flows[f])) {
            cli__explain_flow(finding, f);
            claimed[f] = true;
        }
    }
}

// Returns the lowest port of the link that all flows with reordered packets pass, and no other flow
// without them; EXPLAIN_NONE: there is none, or several.
static uint32_t reordering_link(const explain_t *explain)
{
    uint32_t *const with = sim_alloc_array(explain->port_count + 1, sizeof(*with));
    uint32_t *const without = sim_alloc_array(explain->port_count + 1, sizeof(*without));
    memset(with, 0, (explain->port_count + 1) * sizeof(*with));
    memset(without, 0, (explain->port_count + 1) * sizeof(*without));
    uint32_t all = 0;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        all += flow->reordered > 0;
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            const uint32_t uid = explain->hops[flow->first_hop + h];
            const uint32_t link = SIM_MIN(uid, explain->ports[uid].port->peer->uid);
            *(flow->reordered > 0 ? &with[link] : &without[link]) += 1;
        }
    }
    uint32_t best = EXPLAIN_NONE;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        if (with[i] > 0 && without[i] == 0 && (best == EXPLAIN_NONE || with[i] > with[best])) {
            best = i;
        }
    }
    // Most of the flows must pass it: then it is common to what they do not share otherwise.
    const bool common = best != EXPLAIN_NONE && 2 * with[best] > all;
    sim_free(with);
    sim_free(without);
    return common ? best : EXPLAIN_NONE;
}

static void tell_reordering(explain_t *explain, const again_t *again, bool *claimed)
{
    const uint32_t link = explain->paths_known ? reordering_link(explain) : EXPLAIN_NONE;
    const char *const who = link != EXPLAIN_NONE      ? "one link holds packets back"
                            : !explain->switches_keep ? "switches spread packets over paths"
                            : !explain->paths_known   ? "senders spread packets over paths"
                                                      : "the network reorders packets";
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_REORDERING, 1,
        link != EXPLAIN_NONE ? cli__explain_link_name(explain, link) : sim_strdup("network"));
    const char *const transport = explain->scenario->nic_config.transport;
    finding->port = link;
    finding->score_ps = again->lost_ps;
    finding->sentence =
        sim_format("reordering: %s, and %s takes packets out of order for losses: %" PRIu64
                   " packets arrived behind later ones, and %" PRIu64 " were sent again",
                   who, transport, again->early, again->packets);
    cli__explain_evidence(
        finding, sim_format("%" PRIu64 " packet%s lost; out_of_sequence of nics.csv counts "
                            "what receivers refused",
                            again->losses, again->losses == 1 ? " was" : "s were"));
    claim_again(explain, finding, again, claimed);
    if (!explain->switches_keep) {
        cli__explain_remedy(finding, "network.load-balancer=ecmp", "each flow keeps its path");
    }
    cli__explain_remedy(finding, "nic.ooo=place", "receivers place packets in any order");
    cli__explain_remedy_selective(explain, finding,
                                  "selective retransmission sends only missing packets again");
}

// Returns the retransmission timer of nic.timeout; 0: the sender's transport has its own, or none.
static double timer_of(const explain_t *explain, uint32_t interface)
{
    const nic_config_t *const config = nic_config_of_interface(explain->world->net, interface);
    const void *part = NULL;
    const nic_transport_ops_t *const ops =
        nic_config_find(config, NIC_EXTRA_TRANSPORT, config->transport, &part);
    return ops == NULL || ops->own_timeouts || config->timeout == 0
               ? 0
               : 4096000.0 * (double)(UINT64_C(1) << SIM_MIN(config->timeout, 31));
}

// Returns the round trip of the flow's idle path, and adds to *queued_ps the longest queues there.
static double trip_of(const explain_t *explain, const explain_flow_t *flow, double *queued_ps)
{
    net_path_t path;
    if (!net_path_of(explain->world->net, flow->source, flow->destination, 0, &path)) {
        return 0;
    }
    *queued_ps = 0;
    for (uint32_t h = 0; h < flow->hop_count; h++) {
        const explain_port_t *const port = &explain->ports[explain->hops[flow->first_hop + h]];
        *queued_ps += (double)port->queue_bytes_max * 8e12 / (double)port->port->line->rate_bps;
    }
    const nic_config_t *const config = nic_config_of_interface(explain->world->net, flow->source);
    const uint32_t frame =
        net_frame_bytes(ROCE_WRITE_ONLY, (uint32_t)config->mtu_bytes, false, false);
    return (double)net_path_time_ps(&path, 1, frame, 0) + (double)path.delay_ps;
}

static void tell_short_timeout(explain_t *explain, const again_t *again, bool *claimed)
{
    uint32_t worst = EXPLAIN_NONE;
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < explain->world->nic_count; i++) {
        hosts += explain->nics[i].timeouts > 0;
        if (explain->nics[i].timeouts >
            (worst == EXPLAIN_NONE ? 0 : explain->nics[worst].timeouts)) {
            worst = i;
        }
    }
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_SHORT_TIMEOUT, 1,
        sim_strdup(hosts == 1 ? world_interface_name(explain->world, worst) : "hosts"));
    finding->score_ps = again->lost_ps;
    claim_again(explain, finding, again, claimed);
    double trip_ps = 0;
    double queued_ps = 0;
    for (size_t i = 0; i < finding->flow_count; i++) {
        double queued = 0;
        trip_ps = SIM_MAX(trip_of(explain, &explain->flows[finding->flows[i]], &queued), trip_ps);
        queued_ps = SIM_MAX(queued, queued_ps);
    }
    world_text_t timer;
    world_text_t trip;
    world_text_t queued;
    const double timer_ps = worst != EXPLAIN_NONE ? timer_of(explain, worst) : 0;
    finding->sentence = sim_format(
        "retransmission timer too short: it expired %" PRIu64 " times%s%s, and %" PRIu64
        " packets were sent again, while %" PRIu64 " %s lost; the round trip is %s, and queues add "
        "up to %s",
        again->timeouts, timer_ps > 0 ? " after " : "",
        timer_ps > 0 ? world_format_time(&timer, (sim_time_t)timer_ps) : "", again->packets,
        again->losses, again->losses == 1 ? "was" : "were",
        world_format_time(&trip, (sim_time_t)trip_ps),
        world_format_time(&queued, (sim_time_t)queued_ps));
    cli__explain_evidence(finding, sim_format("local_ack_timeout_err of %u NIC%s (nics.csv)", hosts,
                                              sim_plural(hosts)));
    unsigned exponent = 0;
    while (timer_ps > 0 && exponent < 20 &&
           4096000.0 * (double)(1u << exponent) < 4 * (trip_ps + queued_ps)) {
        exponent++;
    }
    if (timer_ps > 0) {
        char *const set = sim_format("nic.timeout=%u", exponent);
        cli__explain_remedy(finding, set, "a timer of more than the round trip and its queues");
        sim_free(set);
    }
}

static void tell_retransmission(explain_t *explain, const again_t *again, bool *claimed)
{
    uint32_t worst = EXPLAIN_NONE;
    uint64_t drops = 0;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        if (explain->ports[i].port != NULL && explain->ports[i].discards > drops) {
            worst = i;
            drops = explain->ports[i].discards;
        }
    }
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_RETRANSMISSION, 2,
        sim_strdup(worst != EXPLAIN_NONE ? cli__explain_port_name(explain, worst) : "network"));
    world_text_t time;
    finding->port = worst;
    finding->score_ps = again->lost_ps;
    finding->sentence =
        sim_format("%u flow%s waited for retransmission, %s in all, beyond what sharing explains",
                   again->flows, sim_plural(again->flows),
                   world_format_time(&time, (sim_time_t)again->lost_ps));
    const json_t *const counters = json_object_get(explain->summary, "nic_counters");
    cli__explain_evidence(
        finding,
        sim_format("%" PRIu64 " packet%s sent again; local_ack_timeout_err %" PRIu64
                   ", packet_seq_err %" PRId64 ", out_of_sequence %" PRId64,
                   again->packets, sim_plural(again->packets), again->timeouts,
                   (int64_t)json_integer_value(json_object_get(counters, "packet_seq_err")),
                   (int64_t)json_integer_value(json_object_get(counters, "out_of_sequence"))));
    if (worst != EXPLAIN_NONE) {
        cli__explain_evidence(finding, sim_format("the largest number of packets, %" PRIu64
                                                  ", was dropped at %s",
                                                  drops, finding->place));
    }
    claim_again(explain, finding, again, claimed);
    cli__explain_remedy_selective(explain, finding,
                                  "selective retransmission recovers without a time-out as a rule");
    const uint64_t timeout = explain->scenario->nic_config.timeout;
    if (timeout == 0 || timeout > 8) {
        cli__explain_remedy(finding, "nic.timeout=8", "a shorter retransmission timer (1.05 ms)");
    }
}

static void find_again(explain_t *explain, bool *claimed)
{
    const again_t again = sum_again(explain, claimed);
    if (again.flows == 0) {
        return;
    }
    const bool lossless = (double)again.losses <= FEW_LOSSES * (double)again.packets;
    if (lossless && again.timeouts > 0 && again.losses < again.timeouts &&
        again.early <= again.timeouts) {
        tell_short_timeout(explain, &again, claimed);
    } else if (lossless && again.early > again.losses) {
        tell_reordering(explain, &again, claimed);
    } else {
        tell_retransmission(explain, &again, claimed);
    }
}

// -- rates that recover

// Returns whether a control hears of congestion by round-trip times, and adds to its rate step by
// step when they are short again.
static bool adds_by_delay(const nic_cc_ops_t *cc)
{
    return cc->increase != NULL && cc->cnp == NULL && !cc->echoes_ecn &&
           cc->telemetry == NET_TELEMETRY_NONE;
}

// Returns whether the flow's sender slowed down by marks or by delay, and nothing else explains its
// waits.
static bool recovers(const explain_t *explain, const explain_flow_t *flow)
{
    const nic_cc_ops_t *const cc = cli__explain_control(explain, flow);
    return cc != NULL && flow->retransmitted == 0 && waits_long(flow, LONG_SHARE) &&
           ((adds_by_delay(cc) && flow->shared_ps > 0) ||
            (cc->cnp != NULL && explain->nics[flow->source].cnps_handled > 0) ||
            (cc->echoes_ecn && explain->nics[flow->destination].marked > 0));
}

// Returns the time that fair shares of the ports on the paths of the finding's flows cost.
static double shared_of(const explain_t *explain, const explain_finding_t *finding)
{
    bool *const passed = sim_alloc(explain->port_count + 1);
    memset(passed, 0, explain->port_count + 1);
    for (size_t i = 0; i < finding->flow_count; i++) {
        const explain_flow_t *const flow = &explain->flows[finding->flows[i]];
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            passed[explain->hops[flow->first_hop + h]] = true;
        }
    }
    double sum_ps = 0;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        sum_ps += passed[i] ? explain->ports[i].shared_ps : 0;
    }
    sim_free(passed);
    return sum_ps;
}

// Returns the destination of the finding's flows from `source` that received most marked packets.
static uint32_t marked_receiver(const explain_t *explain, const explain_finding_t *finding,
                                uint32_t source)
{
    uint32_t most = source;
    uint64_t marked = 0;
    for (size_t i = 0; i < finding->flow_count; i++) {
        const explain_flow_t *const flow = &explain->flows[finding->flows[i]];
        if (flow->source == source && explain->nics[flow->destination].marked > marked) {
            most = flow->destination;
            marked = explain->nics[most].marked;
        }
    }
    return most;
}

static void find_recovery(explain_t *explain, bool *claimed)
{
    double *const waits_ps = sim_alloc_array(explain->world->nic_count + 1, sizeof(*waits_ps));
    memset(waits_ps, 0, (explain->world->nic_count + 1) * sizeof(*waits_ps));
    double all_ps = 0;
    uint32_t worst = 0;
    explain_finding_t *finding = NULL;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (claimed[f] || !recovers(explain, flow)) {
            continue;
        }
        finding =
            finding != NULL ? finding : cli__explain_add(explain, EXPLAIN_RATE_RECOVERY, 2, NULL);
        cli__explain_flow(finding, f);
        waits_ps[flow->source] += flow->excess_ps;
        all_ps += flow->excess_ps;
        worst = waits_ps[flow->source] > waits_ps[worst] ? flow->source : worst;
        claimed[f] = true;
    }
    if (finding != NULL) {
        world_text_t time;
        const bool one = waits_ps[worst] >= ONE_HOST * all_ps;
        const explain_nic_t *const nic = &explain->nics[worst];
        const nic_config_t *const config = nic_config_of_interface(explain->world->net, worst);
        // The sharing that began it comes first, unless it cost far less.
        finding->tier = all_ps > RECOVERY_LONG * shared_of(explain, finding) ? 2 : 3;
        finding->score_ps = all_ps;
        finding->spread = !one && all_ps < RECOVERY_MOST * explain->flows_ps;
        finding->place = sim_strdup(one ? world_interface_name(explain->world, worst) : "hosts");
        finding->sentence = sim_format("slow recovery of rates: after congestion, %s kept %zu "
                                       "flow%s slow for %s more than shared "
                                       "links explain",
                                       config->congestion_control, finding->flow_count,
                                       sim_plural(finding->flow_count),
                                       world_format_time(&time, (sim_time_t)all_ps));
        const char *const waited = world_format_time(&time, (sim_time_t)waits_ps[worst]);
        const char *const name = world_interface_name(explain->world, worst);
        const uint32_t receiver = marked_receiver(explain, finding, worst);
        const nic_cc_ops_t *const cc =
            cli__explain_control(explain, &explain->flows[finding->flows[0]]);
        const bool by_delay = adds_by_delay(cc);
        cli__explain_evidence(
            finding,
            by_delay
                ? sim_format("the flows of %s waited %s: their rates rise by nic.%s.%s at a time "
                             "after long round trips; the hosts themselves are healthy",
                             name, waited, cc->name, cc->increase)
            : nic->cnps_handled > 0
                ? sim_format("%s handled %" PRIu64 " CNPs (rp_cnp_handled of nics.csv), and its "
                             "flows waited %s; the hosts themselves are healthy",
                             name, nic->cnps_handled, waited)
                : sim_format("%s received %" PRIu64 " marked packets "
                             "(np_ecn_marked_roce_packets of nics.csv), also of %s, whose "
                             "flows waited %s; the hosts themselves are healthy",
                             world_interface_name(explain->world, receiver),
                             explain->nics[receiver].marked, name, waited));
        if (strcmp(config->congestion_control, "dcqcn") == 0) {
            cli__explain_remedy(finding,
                                "nic.dcqcn.rpg-ai-rate=100Mbps --set "
                                "nic.dcqcn.rpg-hai-rate=1Gbps",
                                "rates come back faster");
        } else if (by_delay) {
            char *const faster = sim_format("nic.%s.%s=100Mbps", cc->name, cc->increase);
            cli__explain_remedy(finding, faster, "rates come back faster");
            sim_free(faster);
        }
        cli__explain_remedy(finding, "nic.congestion-control=hpcc",
                            "a control by telemetry knows how much room there is");
    }
    sim_free(waits_ps);
}

// -- slow hosts

// Returns whether the flow's acknowledgements pass the end of a link that is reported as shared:
// they wait behind its data, which no fair share of the flow's own path explains.
static bool answers_wait(const explain_t *explain, const explain_flow_t *flow)
{
    const world_t *const world = explain->world;
    const net_node_t *const source = world_host_of(world, &world->nics[flow->source]);
    const net_node_t *const destination = world_host_of(world, &world->nics[flow->destination]);
    for (size_t i = 0; i < explain->finding_count; i++) {
        const explain_finding_t *const finding = &explain->findings[i];
        if (finding->port == EXPLAIN_NONE) {
            continue;
        }
        const net_port_t *const port = explain->ports[finding->port].port;
        if (port->peer->node == source || port->node == destination) {
            return true;
        }
    }
    return false;
}

// Returns whether nothing that is reported explains why the flow waited, other than its hosts.
static bool waits_for_host(const explain_t *explain, const explain_flow_t *flow)
{
    return flow->retransmitted == 0 && waits_long(flow, 0.4) && !answers_wait(explain, flow) &&
           flow->shared_ps < UNSHARED_MOST * (double)(flow->end_ps - flow->begin_ps);
}

// Returns whether flows may have waited between switches where their paths are not known (those of
// READs never are): some queue there took longer than QUEUE_LONG_PS to empty.
static bool queues_unknown(const explain_t *explain)
{
    bool unknown = !explain->paths_known;
    for (size_t f = 0; f < explain->flow_count && !unknown; f++) {
        unknown = explain->flows[f].reads;
    }
    for (uint32_t i = 0; i < explain->port_count && unknown; i++) {
        const explain_port_t *const port = &explain->ports[i];
        if (port->port != NULL && port->port->node->kind != NET_NODE_HOST &&
            port->port->peer->node->kind != NET_NODE_HOST &&
            (double)port->queue_bytes_max * 8e12 / (double)port->port->line->rate_bps >
                QUEUE_LONG_PS) {
            return true;
        }
    }
    return false;
}

// Reports a host if most of the unexplained time belongs to its flows, and little to others'.
static void find_slow_host(explain_t *explain, const bool *claimed)
{
    const size_t count = explain->world->nic_count;
    double *const excess_ps = sim_alloc_array(count + 1, sizeof(*excess_ps));
    double total_ps = 0;
    memset(excess_ps, 0, (count + 1) * sizeof(*excess_ps));
    for (size_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (!claimed[f] && waits_for_host(explain, flow)) {
            excess_ps[flow->source] += flow->excess_ps;
            excess_ps[flow->destination] += flow->excess_ps;
            total_ps += flow->excess_ps;
        }
    }
    uint32_t worst = 0;
    for (uint32_t i = 1; i < count; i++) {
        worst = excess_ps[i] > excess_ps[worst] ? i : worst;
    }
    const double worst_ps = count > 0 ? excess_ps[worst] : 0;
    sim_free(excess_ps);
    if (total_ps <= 0 || worst_ps < ONE_HOST * total_ps ||
        worst_ps < HOST_LEAST * explain->flows_ps || queues_unknown(explain)) {
        return;
    }
    const char *const name = world_interface_name(explain->world, worst);
    explain_finding_t *const finding =
        cli__explain_add(explain, EXPLAIN_SLOW_HOST, 3, sim_strdup(name));
    world_text_t time;
    finding->score_ps = worst_ps;
    finding->sentence = sim_format("%s is a slow host: shared links, losses and pauses do not "
                                   "explain %s of the time of its flows",
                                   name, world_format_time(&time, (sim_time_t)worst_ps));
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (!claimed[f] && waits_for_host(explain, flow) &&
            (flow->source == worst || flow->destination == worst)) {
            cli__explain_flow(finding, f);
        }
    }
    cli__explain_evidence(finding,
                          sim_strdup("look at its PCIe, memory, cores and congestion control"));
}

void cli__explain_waits(explain_t *explain)
{
    bool *const claimed = claimed_flows(explain);
    find_again(explain, claimed);
    find_recovery(explain, claimed);
    find_slow_host(explain, claimed);
    sim_free(claimed);
}
