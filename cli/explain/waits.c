// SPDX-License-Identifier: Apache-2.0
// cli/explain/waits.c - finds waits that neither broken parts nor shared ports explain: for packets
// that are sent again, and for slow hosts.
#include "cli/explain/waits.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/hardware.h"
#include "cli/explain/run_data.h"
#include "world/names.h"

#include "world/format.h"

#include <string.h>

#define QUEUE_LONG_PS 2e6 // of a queue to empty, from which it may explain a flow's waits

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

static void find_retransmission(explain_t *explain, bool *claimed)
{
    double lost_ps = 0;
    uint64_t packets = 0;
    uint32_t flows = 0;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (!claimed[f] && flow->retransmitted > 0 && waits_long(flow, 0.25)) {
            lost_ps += flow->excess_ps;
            packets += flow->retransmitted;
            flows++;
        }
    }
    if (flows == 0) {
        return;
    }
    uint32_t worst = EXPLAIN_NONE;
    uint64_t drops = 0;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        if (explain->ports[i].port != NULL && explain->ports[i].discards > drops) {
            worst = i;
            drops = explain->ports[i].discards;
        }
    }
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_RETRANSMISSION, 3,
        sim_strdup(worst != EXPLAIN_NONE ? cli__explain_port_name(explain, worst) : "network"));
    world_text_t time;
    finding->port = worst;
    finding->score_ps = lost_ps;
    finding->sentence =
        sim_format("%u flow%s waited for retransmission, %s in all, beyond what sharing explains",
                   flows, sim_plural(flows), world_format_time(&time, (sim_time_t)lost_ps));
    const json_t *const counters = json_object_get(explain->summary, "nic_counters");
    cli__explain_evidence(
        finding,
        sim_format("%" PRIu64 " packet%s sent again; local_ack_timeout_err %" PRId64
                   ", packet_seq_err %" PRId64 ", out_of_sequence %" PRId64,
                   packets, sim_plural(packets),
                   (int64_t)json_integer_value(json_object_get(counters, "local_ack_timeout_err")),
                   (int64_t)json_integer_value(json_object_get(counters, "packet_seq_err")),
                   (int64_t)json_integer_value(json_object_get(counters, "out_of_sequence"))));
    if (worst != EXPLAIN_NONE) {
        cli__explain_evidence(finding, sim_format("most packets, %" PRIu64 ", were dropped at %s",
                                                  drops, finding->place));
    }
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (!claimed[f] && flow->retransmitted > 0 && waits_long(flow, 0.25)) {
            cli__explain_flow(finding, f);
            claimed[f] = true;
        }
    }
    cli__explain_remedy_selective(explain, finding,
                                  "selective retransmission recovers without a time-out as a rule");
    const uint64_t timeout = explain->scenario->nic_config.timeout;
    if (timeout == 0 || timeout > 8) {
        cli__explain_remedy(finding, "nic.timeout=8", "a shorter retransmission timer (1.05 ms)");
    }
}

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
    return flow->retransmitted == 0 && waits_long(flow, 0.4) && !answers_wait(explain, flow);
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
    if (total_ps <= 0 || worst_ps < 0.6 * total_ps || queues_unknown(explain)) {
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
    find_retransmission(explain, claimed);
    find_slow_host(explain, claimed);
    sim_free(claimed);
}
