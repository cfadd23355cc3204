// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/collisions.c - draws other hashes for the flows that share a port.
#include "cli/explain/causes/collisions.h"
#include "cli/explain/order.h"
#include "cli/explain/run_data.h"

#include "net/paths.h"

#include <string.h>

#define DRAWS 64u           // of other paths of a flow
#define DRAWN_MAX 20000u    // flows of a run up to which all are drawn, not only those near a port
#define COLLISION_LEAST 0.5 // part of the excess of flows from which it is one of hashes

// Returns how many of the times, which are in order, are not later than `time_ps`.
static size_t count_until(const sim_time_t *times, size_t count, sim_time_t time_ps)
{
    size_t low = 0;
    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        if (times[middle] <= time_ps) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

sim_time_t cli__explain_time_of_most(const explain_t *explain, uint32_t uid)
{
    const explain_passing_t passing = cli__explain_passing(explain, uid);
    const size_t count = passing.count;
    sim_time_t *const begins = sim_alloc_array(2 * count + 1, sizeof(*begins));
    sim_time_t *const ends = begins + count;
    for (size_t i = 0; i < count; i++) {
        begins[i] = explain->flows[passing.flows[i]].begin_ps;
        ends[i] = explain->flows[passing.flows[i]].end_ps;
    }
    cli__explain_sort(begins, NULL, count);
    cli__explain_sort(ends, NULL, count);
    size_t best = 0;
    sim_time_t best_ps = 0;
    for (size_t i = 0; i < count; i++) {
        const sim_time_t at_ps = explain->flows[passing.flows[i]].begin_ps;
        const size_t now = count_until(begins, count, at_ps) - count_until(ends, count, at_ps);
        if (now > best) {
            best = now;
            best_ps = at_ps;
        }
    }
    sim_free(begins);
    return best_ps;
}

// Adds the flows of a port that are under way at that time, each once, to a list.
static uint32_t add_under_way(const explain_t *explain, uint32_t uid, sim_time_t time_ps,
                              bool *listed, uint32_t *list, uint32_t count)
{
    const explain_passing_t passing = cli__explain_passing(explain, uid);
    for (uint32_t i = 0; i < passing.count; i++) {
        const uint32_t number = passing.flows[i];
        const explain_flow_t *const flow = &explain->flows[number];
        if (!listed[number] && flow->begin_ps <= time_ps && flow->end_ps > time_ps) {
            listed[number] = true;
            list[count++] = number;
        }
    }
    return count;
}

// Finds the path of a flow by a hash that is drawn. Returns false if there is none.
static bool draw_path(const explain_t *explain, uint32_t number, uint32_t draw, net_path_t *path)
{
    const explain_flow_t *const flow = &explain->flows[number];
    const uint64_t drawn = (uint64_t)draw << 40 ^ (uint64_t)number << 8 ^ flow->source_port;
    return net_path_of(explain->world->net, flow->source, flow->destination,
                       (uint32_t)sim_mix64(drawn), path);
}

// Counts in how many draws the path of a flow leads over the port.
static uint32_t draws_over(const explain_t *explain, uint32_t number, uint32_t uid)
{
    uint32_t over = 0;
    for (uint32_t d = 0; d < DRAWS; d++) {
        net_path_t path;
        const uint32_t hops = draw_path(explain, number, d, &path) ? path.hop_count : 0;
        for (uint32_t h = 1; h + 1 < hops; h++) {
            over += path.ports[h]->uid == uid;
        }
    }
    return over;
}

// Lists the flows of a port at the time at which most flows pass it, and behind them other flows at
// that time that could pass it. Returns how many there are, and stores the number of the first.
static uint32_t list_candidates(const explain_t *explain, uint32_t uid, uint32_t *flows,
                                uint32_t *together)
{
    const net_node_t *const from = explain->ports[uid].port->node;
    const net_node_t *const to = explain->ports[uid].port->peer->node;
    const sim_time_t time_ps = cli__explain_time_of_most(explain, uid);
    bool *const listed = sim_alloc(explain->flow_count + 1);
    memset(listed, 0, explain->flow_count + 1);
    *together = add_under_way(explain, uid, time_ps, listed, flows, 0);
    uint32_t near = *together;
    if (explain->flow_count <= DRAWN_MAX) {
        for (uint32_t i = 0; i < explain->port_count; i++) {
            near = add_under_way(explain, i, time_ps, listed, flows, near);
        }
    } else {
        for (uint32_t i = 0; i < from->port_count; i++) {
            near = add_under_way(explain, from->ports[i].uid, time_ps, listed, flows, near);
        }
        for (uint32_t i = 0; i < to->port_count; i++) {
            near = add_under_way(explain, to->ports[i].peer->uid, time_ps, listed, flows, near);
        }
    }
    sim_free(listed);
    uint32_t count = *together;
    for (uint32_t i = count; i < near; i++) {
        if (draws_over(explain, flows[i], uid) > 0) {
            flows[count++] = flows[i];
        }
    }
    return count;
}

// Returns how many flows like the first ones of a list fill the port, if the flows of a host share
// the host's link.
static double flows_that_fit(const explain_t *explain, uint32_t uid, const uint32_t *flows,
                             const explain_draws_t *draws)
{
    uint32_t *const of_source = sim_alloc_array(explain->world->nic_count + 1, sizeof(*of_source));
    memset(of_source, 0, (explain->world->nic_count + 1) * sizeof(*of_source));
    for (uint32_t i = 0; i < draws->candidates; i++) {
        of_source[explain->flows[flows[i]].source]++;
    }
    double demand_bps = 0;
    for (uint32_t i = 0; i < draws->together; i++) {
        net_path_t path;
        if (draw_path(explain, flows[i], 0, &path)) {
            demand_bps +=
                (double)path.ports[0]->line->rate_bps / of_source[explain->flows[flows[i]].source];
        }
    }
    sim_free(of_source);
    const double rate_bps = (double)explain->ports[uid].port->line->rate_bps;
    return demand_bps > rate_bps ? draws->together * rate_bps / demand_bps : draws->together;
}

explain_draws_t cli__explain_draw(const explain_t *explain, uint32_t uid)
{
    const net_node_t *const from = explain->ports[uid].port->node;
    const net_node_t *const to = explain->ports[uid].port->peer->node;
    uint32_t *const load = sim_alloc_array(explain->port_count + 1, sizeof(*load));
    uint32_t *const flows = sim_alloc_array(explain->flow_count + 1, sizeof(*flows));
    explain_draws_t draws = {.together = 0};
    draws.candidates = list_candidates(explain, uid, flows, &draws.together);
    draws.fit = flows_that_fit(explain, uid, flows, &draws);
    for (uint32_t i = 0; i < draws.together; i++) {
        draws.elsewhere += draws_over(explain, flows[i], uid) < DRAWS;
    }
    draws.least_most = draws.candidates;
    for (uint32_t d = 0; d < DRAWS; d++) {
        memset(load, 0, (explain->port_count + 1) * sizeof(*load));
        uint32_t most = 0;
        for (uint32_t i = 0; i < draws.candidates; i++) {
            net_path_t path;
            const uint32_t hops = draw_path(explain, flows[i], d, &path) ? path.hop_count : 0;
            for (uint32_t h = 1; h + 1 < hops; h++) {
                const net_port_t *const port = path.ports[h];
                if (port->node == from || port->peer->node == to) {
                    load[port->uid]++;
                    most = SIM_MAX(load[port->uid], most);
                }
            }
        }
        draws.least_most = SIM_MIN(most, draws.least_most);
        draws.share_as_bad += most >= draws.together ? 1.0 / DRAWS : 0;
        draws.expected += (double)load[uid] / DRAWS;
    }
    SIM_FREE_ALL(load, flows);
    return draws;
}

bool cli__explain_is_collision(const explain_draws_t *draws)
{
    if (draws->together < 2 || 2 * draws->elsewhere < draws->together ||
        draws->expected >= draws->together) {
        return false;
    }
    const double even = SIM_MAX(draws->expected, draws->fit);
    return draws->together - even >= COLLISION_LEAST * (draws->together - draws->fit);
}

void cli__explain_tell_draws(explain_finding_t *finding, const explain_draws_t *draws)
{
    cli__explain_evidence(finding,
                          sim_format("another seed of the hashes: in %.0f %% of %u draws, as many "
                                     "of the %u flows that could pass it meet at one port; in the "
                                     "best draw, the number is %u",
                                     100 * draws->share_as_bad, DRAWS, draws->candidates,
                                     draws->least_most));
}
