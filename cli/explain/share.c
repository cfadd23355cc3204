// SPDX-License-Identifier: Apache-2.0
// cli/explain/share.c - computes what each flow could have had if links were shared fairly.
//
// At some times of the run, the flows that are active share the links max-min fairly
// (progressive filling: Bertsekas and Gallager, "Data Networks", 6.5.2). A flow's time beyond its
// ideal time is split: the part that fair shares explain is charged to the port at which the flow
// is held, the rest is excess, which something else must explain. Messages of one queue pair do not
// compete: one waits for the other, and its time begins with its turn.
#include "cli/explain/explain_internal.h"

#include <stdlib.h>
#include <string.h>

#define EPOCHS_MAX 300u
#define EQUAL 1e-9         // shares differ by less: they are equal
#define WORK_MAX 20000000u // flows x epochs: larger runs get fewer epochs

typedef struct share {
    explain_t *explain;
    uint32_t *active; // flows
    size_t active_count;
    double *left_bps;    // by port
    uint32_t *unsettled; // by port: active flows whose rate is not known yet
    uint32_t *sharing;   // by port: all active flows
    uint32_t *touched;   // ports with active flows
    size_t touched_count;
    double *rate_bps;  // by flow; negative: not settled
    double *port_ps;   // of the flow at each of its hops, as explain->hops
    uint32_t *held_at; // by active flow: port that settled it
} share_t;

static double rate_of(const explain_t *explain, uint32_t uid)
{
    const explain_port_t *const port = &explain->ports[uid];
    return (double)port->port->line->rate_bps * (port->planes > 1 ? port->planes : 1);
}

// Returns the smallest rate of the flow's path: what it has alone.
static double alone_bps(const explain_t *explain, const explain_flow_t *flow)
{
    double least = 0;
    for (uint32_t h = 0; h < flow->hop_count; h++) {
        const double rate = rate_of(explain, explain->hops[flow->first_hop + h]);
        least = h == 0 || rate < least ? rate : least;
    }
    return least;
}

static void start_epoch(share_t *share, sim_time_t time_ps)
{
    explain_t *const explain = share->explain;
    for (size_t i = 0; i < share->touched_count; i++) {
        share->unsettled[share->touched[i]] = 0;
        share->sharing[share->touched[i]] = 0;
    }
    share->touched_count = 0;
    share->active_count = 0;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (flow->begin_ps > time_ps || flow->end_ps <= time_ps || flow->hop_count == 0) {
            continue;
        }
        share->active[share->active_count++] = f;
        share->rate_bps[f] = -1;
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            const uint32_t uid = explain->hops[flow->first_hop + h];
            if (share->sharing[uid]++ == 0) {
                share->touched[share->touched_count++] = uid;
                share->left_bps[uid] = rate_of(explain, uid);
            }
            share->unsettled[uid]++;
        }
    }
}

// Ranks ports that are equally full, the highest first: links of senders, links to hosts, links
// between switches. Where each of n hosts sends to all others, links into hosts are as full as
// those out of them, and no host is the target of an incast. Flows to one host that meet before its
// link gain nothing from other paths.
static int rank_of(const share_t *share, uint32_t uid)
{
    const net_port_t *const port = share->explain->ports[uid].port;
    return port->node->kind == NET_NODE_HOST ? 2 : port->peer->node->kind == NET_NODE_HOST ? 1 : 0;
}

// Returns the port with the smallest fair share; EXPLAIN_NONE: all flows have their rates.
static uint32_t tightest(const share_t *share, double *fair_bps)
{
    uint32_t best = EXPLAIN_NONE;
    for (size_t i = 0; i < share->touched_count; i++) {
        const uint32_t uid = share->touched[i];
        if (share->unsettled[uid] == 0) {
            continue;
        }
        const double fair = share->left_bps[uid] / share->unsettled[uid];
        const bool equal = best != EXPLAIN_NONE && fair > *fair_bps * (1 - EQUAL) &&
                           fair < *fair_bps * (1 + EQUAL);
        if (best == EXPLAIN_NONE ||
            (equal ? rank_of(share, uid) > rank_of(share, best) : fair < *fair_bps)) {
            best = uid;
            *fair_bps = fair;
        }
    }
    return best;
}

static void settle(share_t *share, uint32_t uid, double fair_bps)
{
    explain_t *const explain = share->explain;
    for (size_t i = 0; i < share->active_count; i++) {
        const uint32_t f = share->active[i];
        const explain_flow_t *const flow = &explain->flows[f];
        if (share->rate_bps[f] >= 0 || !cli__explain_passes(explain, flow, uid)) {
            continue;
        }
        share->rate_bps[f] = fair_bps;
        share->held_at[f] = uid;
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            const uint32_t hop = explain->hops[flow->first_hop + h];
            share->left_bps[hop] -= fair_bps;
            share->left_bps[hop] = share->left_bps[hop] > 0 ? share->left_bps[hop] : 0;
            share->unsettled[hop]--;
        }
    }
}

// Charges `ps` of the run, during which the shares hold, to flows and the ports that hold them.
static void charge(share_t *share, sim_time_t from_ps, sim_time_t to_ps)
{
    explain_t *const explain = share->explain;
    for (size_t i = 0; i < share->active_count; i++) {
        const uint32_t f = share->active[i];
        explain_flow_t *const flow = &explain->flows[f];
        const sim_time_t from = flow->begin_ps > from_ps ? flow->begin_ps : from_ps;
        const sim_time_t to = flow->end_ps < to_ps ? flow->end_ps : to_ps;
        if (to <= from) {
            continue;
        }
        const double lost = 1 - share->rate_bps[f] / alone_bps(explain, flow);
        const double ps = (double)(to - from) * (lost > 0 ? lost : 0);
        const uint32_t uid = share->held_at[f];
        flow->shared_ps += ps;
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            if (explain->hops[flow->first_hop + h] == uid) {
                share->port_ps[flow->first_hop + h] += ps;
            }
        }
        explain_port_t *const port = &explain->ports[uid];
        if (lost > 0.01 && share->sharing[uid] > port->shared_most) {
            port->shared_most = share->sharing[uid];
        }
    }
}

static int by_time(const void *a, const void *b)
{
    const sim_time_t x = *(const sim_time_t *)a;
    const sim_time_t y = *(const sim_time_t *)b;
    return (x > y) - (x < y);
}

// Returns the times at which the shares are computed: all at which a flow begins or ends, or as
// many of them as the limits allow.
static size_t epochs_of(const explain_t *explain, sim_time_t *times)
{
    size_t count = 0;
    for (size_t i = 0; i < explain->flow_count; i++) {
        times[count++] = explain->flows[i].begin_ps;
        times[count++] = explain->flows[i].end_ps;
    }
    qsort(times, count, sizeof(*times), by_time);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || times[kept - 1] != times[i]) {
            times[kept++] = times[i];
        }
    }
    const size_t allowed = WORK_MAX / (explain->flow_count + 1) + 2;
    const size_t most = allowed < EPOCHS_MAX ? allowed : EPOCHS_MAX;
    if (kept <= most) {
        return kept;
    }
    for (size_t i = 0; i < most; i++) {
        times[i] = times[i * (kept - 1) / (most - 1)];
    }
    return most;
}

static void sum_up(share_t *share)
{
    explain_t *const explain = share->explain;
    for (size_t i = 0; i < explain->flow_count; i++) {
        explain_flow_t *const flow = &explain->flows[i];
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            const double ps = share->port_ps[flow->first_hop + h];
            if (ps > flow->bottleneck_ps) {
                flow->bottleneck_ps = ps;
                flow->bottleneck = explain->hops[flow->first_hop + h];
            }
        }
        const double took_ps = (double)(flow->end_ps - flow->begin_ps);
        double ideal_ps = (double)flow->ideal_ps;
        if (!flow->ended && flow->bytes > 0) {
            ideal_ps *= (double)flow->delivered_bytes / (double)flow->bytes;
        }
        const double excess_ps = took_ps - flow->shared_ps - ideal_ps;
        flow->excess_ps = excess_ps > 0 ? excess_ps : 0;
        if (flow->bottleneck != EXPLAIN_NONE && flow->bottleneck_ps > 0) {
            explain->ports[flow->bottleneck].shared_ps += flow->bottleneck_ps;
            explain->ports[flow->bottleneck].shared_flows++;
        }
    }
}

void cli__explain_share(explain_t *explain)
{
    const size_t ports = explain->port_count + 1;
    const size_t flows = explain->flow_count + 1;
    share_t share = {.explain = explain,
                     .active = sim_alloc_array(flows, sizeof(uint32_t)),
                     .left_bps = sim_alloc_array(ports, sizeof(double)),
                     .unsettled = sim_alloc_array(ports, sizeof(uint32_t)),
                     .sharing = sim_alloc_array(ports, sizeof(uint32_t)),
                     .touched = sim_alloc_array(ports, sizeof(uint32_t)),
                     .rate_bps = sim_alloc_array(flows, sizeof(double)),
                     .port_ps = sim_alloc_array(explain->hop_count + 1, sizeof(double)),
                     .held_at = sim_alloc_array(flows, sizeof(uint32_t))};
    memset(share.unsettled, 0, ports * sizeof(uint32_t));
    memset(share.sharing, 0, ports * sizeof(uint32_t));
    memset(share.port_ps, 0, (explain->hop_count + 1) * sizeof(double));
    sim_time_t *const times = sim_alloc_array(2 * flows, sizeof(*times));
    const size_t count = epochs_of(explain, times);
    for (size_t i = 0; i + 1 < count; i++) {
        start_epoch(&share, times[i]);
        double fair_bps = 0;
        for (uint32_t uid = tightest(&share, &fair_bps); uid != EXPLAIN_NONE;
             uid = tightest(&share, &fair_bps)) {
            settle(&share, uid, fair_bps);
        }
        charge(&share, times[i], times[i + 1]);
    }
    explain->shared_epochs = (uint32_t)count;
    sum_up(&share);
    sim_free(times);
    sim_free(share.active);
    sim_free(share.left_bps);
    sim_free(share.unsettled);
    sim_free(share.sharing);
    sim_free(share.touched);
    sim_free(share.rate_bps);
    sim_free(share.port_ps);
    sim_free(share.held_at);
}
