// SPDX-License-Identifier: Apache-2.0
// cli/explain/fair_share.c - computes what each flow could have had if links were shared fairly.
//
// At some times of the run, the flows that are active share the links max-min fairly
// (progressive filling: Bertsekas and Gallager, "Data Networks", 6.5.2). A flow's time beyond its
// ideal time is split: the part that fair shares explain is charged to the port at which the flow
// is held, the rest is excess, which something else must explain. Messages of one queue pair do not
// compete: one waits for the other, and its time begins with its turn.
#include "cli/explain/explain_internal.h"
#include "cli/explain/pauses.h"
#include "cli/explain/run_data.h"

#include <stdlib.h>
#include <string.h>

#define EPOCHS_LEAST 300u
#define EQUAL 1e-9        // shares differ by less: they are equal
#define WORK_MAX 2000000u // active flows of all epochs together: larger runs get fewer epochs

#define NO_TURN UINT64_MAX // of a port that is none of the tightest
#define RANK_MAX 2u

typedef struct share {
    explain_t *explain;
    uint32_t *by_begin; // all flows with a path
    size_t path_count;
    size_t begun;     // so many of them have begun
    uint32_t *active; // flows, by number
    size_t active_count;
    double *left_bps;    // by port
    uint32_t *unsettled; // by port: active flows whose rate is not known yet
    uint32_t *sharing;   // by port: all active flows
    uint32_t *touched;   // ports with active flows
    size_t touched_count;
    uint32_t *open_flows; // active flows whose rate is not known yet
    size_t open_flow_count;
    uint32_t *open_ports; // ports that such flows pass
    size_t open_port_count;
    uint64_t *turns;   // by port: its place among the tightest; NO_TURN: it is none of them
    double *rate_bps;  // by flow
    double *port_ps;   // of the flow at each of its hops, as explain->hops
    uint32_t *seen;    // by port: the last epoch whose time held_ps has
    uint32_t *held_at; // by active flow: port that settled it
} share_t;

static double rate_of(const explain_t *explain, uint32_t uid)
{
    const explain_port_t *const port = &explain->ports[uid];
    return (double)port->port->line->rate_bps * SIM_MAX(port->planes, 1);
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

// Makes `active` the flows that are active at a time, which is later than those before.
static void update_active(share_t *share, sim_time_t time_ps)
{
    const explain_flow_t *const flows = share->explain->flows;
    size_t kept = 0;
    for (size_t i = 0; i < share->active_count; i++) {
        share->active[kept] = share->active[i];
        kept += flows[share->active[i]].end_ps > time_ps;
    }
    for (; share->begun < share->path_count; share->begun++) {
        const uint32_t f = share->by_begin[share->begun];
        if (flows[f].begin_ps > time_ps) {
            break;
        }
        if (flows[f].end_ps > time_ps) {
            size_t at = kept++;
            for (; at > 0 && share->active[at - 1] > f; at--) {
                share->active[at] = share->active[at - 1];
            }
            share->active[at] = f;
        }
    }
    share->active_count = kept;
}

static void start_epoch(share_t *share, sim_time_t time_ps)
{
    explain_t *const explain = share->explain;
    for (size_t i = 0; i < share->touched_count; i++) {
        share->unsettled[share->touched[i]] = 0;
        share->sharing[share->touched[i]] = 0;
    }
    share->touched_count = 0;
    update_active(share, time_ps);
    for (size_t i = 0; i < share->active_count; i++) {
        const explain_flow_t *const flow = &explain->flows[share->active[i]];
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            const uint32_t uid = explain->hops[flow->first_hop + h];
            if (share->sharing[uid]++ == 0) {
                share->touched[share->touched_count++] = uid;
                share->left_bps[uid] = rate_of(explain, uid);
            }
            share->unsettled[uid]++;
        }
    }
    memcpy(share->open_flows, share->active, share->active_count * sizeof(*share->open_flows));
    memcpy(share->open_ports, share->touched, share->touched_count * sizeof(*share->open_ports));
    share->open_flow_count = share->active_count;
    share->open_port_count = share->touched_count;
}

// Ranks ports that are equally full, the highest first: links of senders, links to hosts, links
// between switches. Where each of n hosts sends to all others, links into hosts are as full as
// those out of them, and no host is the target of an incast. Flows to one host that meet before its
// link gain nothing from other paths.
static unsigned rank_of(const share_t *share, uint32_t uid)
{
    const net_port_t *const port = share->explain->ports[uid].port;
    return port->node->kind == NET_NODE_HOST         ? RANK_MAX
           : port->peer->node->kind == NET_NODE_HOST ? 1u
                                                     : 0u;
}

// Leaves out ports whose flows are all settled. Returns the smallest fair share of the others.
static double least_share(share_t *share)
{
    double least_bps = 0;
    size_t kept = 0;
    for (size_t i = 0; i < share->open_port_count; i++) {
        const uint32_t uid = share->open_ports[i];
        if (share->unsettled[uid] > 0) {
            const double fair_bps = share->left_bps[uid] / share->unsettled[uid];
            least_bps = kept == 0 || fair_bps < least_bps ? fair_bps : least_bps;
            share->open_ports[kept++] = uid;
        }
    }
    share->open_port_count = kept;
    return least_bps;
}

// Gives turns to the ports whose fair share is the smallest, by rank, then by number in the list.
static void take_turns(share_t *share, double least_bps)
{
    for (size_t i = 0; i < share->open_port_count; i++) {
        const uint32_t uid = share->open_ports[i];
        if (share->left_bps[uid] / share->unsettled[uid] <= least_bps * (1 + EQUAL)) {
            share->turns[uid] = (uint64_t)(RANK_MAX - rank_of(share, uid)) << 32 | i;
        }
    }
}

// Returns the port of the flow's path whose turn comes first; EXPLAIN_NONE: none has a turn.
static uint32_t first_turn(const share_t *share, const explain_flow_t *flow)
{
    uint32_t first = EXPLAIN_NONE;
    uint64_t turn = NO_TURN;
    for (uint32_t h = 0; h < flow->hop_count; h++) {
        const uint32_t uid = share->explain->hops[flow->first_hop + h];
        if (share->turns[uid] < turn) {
            turn = share->turns[uid];
            first = uid;
        }
    }
    return first;
}

// Settles the flows that the tightest ports hold. These ports do not change each other's shares: a
// flow takes as much of a port as its share.
static void settle(share_t *share)
{
    explain_t *const explain = share->explain;
    const double fair_bps = least_share(share);
    take_turns(share, fair_bps);
    size_t kept = 0;
    for (size_t i = 0; i < share->open_flow_count; i++) {
        const uint32_t f = share->open_flows[i];
        const explain_flow_t *const flow = &explain->flows[f];
        const uint32_t uid = first_turn(share, flow);
        if (uid == EXPLAIN_NONE) {
            share->open_flows[kept++] = f;
            continue;
        }
        share->rate_bps[f] = fair_bps;
        share->held_at[f] = uid;
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            const uint32_t hop = explain->hops[flow->first_hop + h];
            share->left_bps[hop] -= fair_bps;
            share->left_bps[hop] = SIM_MAX(share->left_bps[hop], 0);
            share->unsettled[hop]--;
        }
    }
    SIM_CHECK(kept < share->open_flow_count);
    share->open_flow_count = kept;
    for (size_t i = 0; i < share->open_port_count; i++) {
        share->turns[share->open_ports[i]] = NO_TURN;
    }
}

// Charges `ps` of the run, during which the shares hold, to flows and the ports that hold them.
static void charge(share_t *share, uint32_t epoch, sim_time_t from_ps, sim_time_t to_ps)
{
    explain_t *const explain = share->explain;
    for (size_t i = 0; i < share->active_count; i++) {
        const uint32_t f = share->active[i];
        explain_flow_t *const flow = &explain->flows[f];
        const sim_time_t from = SIM_MAX(flow->begin_ps, from_ps);
        const sim_time_t to = SIM_MIN(flow->end_ps, to_ps);
        if (to <= from) {
            continue;
        }
        const double lost = 1 - share->rate_bps[f] / alone_bps(explain, flow);
        const double ps = (double)(to - from) * SIM_MAX(lost, 0);
        const uint32_t uid = share->held_at[f];
        flow->fair_bytes += (double)(to - from) * share->rate_bps[f] / 8e12;
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            if (explain->hops[flow->first_hop + h] == uid) {
                share->port_ps[flow->first_hop + h] += ps;
            }
        }
        explain_port_t *const port = &explain->ports[uid];
        if (lost > 0.01 && share->sharing[uid] > port->shared_most) {
            port->shared_most = share->sharing[uid];
        }
        if (lost > 0.01 && share->seen[uid] != epoch) {
            share->seen[uid] = epoch;
            port->held_ps += (double)(to_ps - from_ps);
        }
    }
}

static int by_time(const void *a, const void *b)
{
    const sim_time_t x = *(const sim_time_t *)a;
    const sim_time_t y = *(const sim_time_t *)b;
    return (x > y) - (x < y);
}

// Lists the flows with a path by the times at which they begin.
static void order_flows(share_t *share)
{
    const explain_t *const explain = share->explain;
    sim_time_t *const keys = sim_alloc_array(2 * (explain->flow_count + 1), sizeof(*keys));
    size_t count = 0;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        if (explain->flows[f].hop_count > 0) {
            keys[2 * count] = explain->flows[f].begin_ps;
            keys[2 * count++ + 1] = f;
        }
    }
    qsort(keys, count, 2 * sizeof(*keys), by_time);
    for (size_t i = 0; i < count; i++) {
        share->by_begin[i] = (uint32_t)keys[2 * i + 1];
    }
    share->path_count = count;
    sim_free(keys);
}

static size_t place_of(const sim_time_t *times, size_t count, sim_time_t time_ps)
{
    const sim_time_t *const found = bsearch(&time_ps, times, count, sizeof(*times), by_time);
    return (size_t)(found - times);
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
    size_t work = 0; // of all epochs
    for (size_t i = 0; i < explain->flow_count; i++) {
        const explain_flow_t *const flow = &explain->flows[i];
        work += flow->end_ps <= flow->begin_ps
                    ? 0
                    : place_of(times, kept, flow->end_ps) - place_of(times, kept, flow->begin_ps);
    }
    const double share = work <= WORK_MAX ? 1 : (double)WORK_MAX / (double)work;
    const size_t most = SIM_MAX((size_t)(share * (double)kept), EPOCHS_LEAST);
    if (kept <= most) {
        return kept;
    }
    for (size_t i = 0; i < most; i++) {
        times[i] = times[i * (kept - 1) / (most - 1)];
    }
    return most;
}

// Returns the share of the time in which the port held flows that its frames took, at most.
static double used_share(const explain_t *explain, uint32_t uid)
{
    const explain_port_t *const port = &explain->ports[uid];
    const double could = port->held_ps * (double)port->port->line->rate_bps / 8e12;
    return could > 0 ? (double)port->tx_bytes / could : 0;
}

// Returns the part of a flow's charge at a port that is due. Fair shares held the flow only as far
// as it got its share, or others used the port. A flow loses no more than its time beyond the ideal
// one, the sum of its charges is `all_ps`.
static double due_share(const explain_t *explain, const explain_flow_t *flow, uint32_t uid,
                        double all_ps, double lost_ps)
{
    const double bytes = (double)(flow->ended ? flow->bytes : flow->delivered_bytes);
    const double got = flow->fair_bytes > 0 ? bytes / flow->fair_bytes : 0;
    const double used = used_share(explain, uid);
    const double held = SIM_MAX(got, used);
    const double most = all_ps > 0 ? SIM_MAX(lost_ps, 0) / all_ps : 0;
    return SIM_MIN(SIM_MIN(held, most), 1);
}

static double charges_of(const share_t *share, const explain_flow_t *flow)
{
    double sum_ps = 0;
    for (uint32_t h = 0; h < flow->hop_count; h++) {
        sum_ps += share->port_ps[flow->first_hop + h];
    }
    return sum_ps;
}

static void sum_up(share_t *share)
{
    explain_t *const explain = share->explain;
    for (size_t i = 0; i < explain->flow_count; i++) {
        explain_flow_t *const flow = &explain->flows[i];
        const double took_ps = (double)(flow->end_ps - flow->begin_ps);
        double ideal_ps = (double)flow->ideal_ps;
        if (!flow->ended && flow->bytes > 0) {
            ideal_ps *= (double)flow->delivered_bytes / (double)flow->bytes;
        }
        const double all_ps = charges_of(share, flow);
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            const uint32_t uid = explain->hops[flow->first_hop + h];
            const double ps = share->port_ps[flow->first_hop + h] *
                              due_share(explain, flow, uid, all_ps, took_ps - ideal_ps);
            flow->shared_ps += ps;
            if (ps > flow->bottleneck_ps) {
                flow->bottleneck_ps = ps;
                flow->bottleneck = uid;
            }
        }
        explain->ideal_ps += ideal_ps;
        explain->apps[flow->app].ideal_ps += ideal_ps;
        explain->apps[flow->app].flows_ps += took_ps;
        explain->excess_ps += SIM_MAX(took_ps - flow->shared_ps - ideal_ps, 0);
        const double excess_ps = took_ps - flow->shared_ps - ideal_ps;
        flow->excess_ps = SIM_MAX(excess_ps, 0);
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
                     .by_begin = sim_alloc_array(flows, sizeof(uint32_t)),
                     .active = sim_alloc_array(flows, sizeof(uint32_t)),
                     .left_bps = sim_alloc_array(ports, sizeof(double)),
                     .unsettled = sim_alloc_array(ports, sizeof(uint32_t)),
                     .sharing = sim_alloc_array(ports, sizeof(uint32_t)),
                     .touched = sim_alloc_array(ports, sizeof(uint32_t)),
                     .open_flows = sim_alloc_array(flows, sizeof(uint32_t)),
                     .open_ports = sim_alloc_array(ports, sizeof(uint32_t)),
                     .turns = sim_alloc_array(ports, sizeof(uint64_t)),
                     .rate_bps = sim_alloc_array(flows, sizeof(double)),
                     .port_ps = sim_alloc_array(explain->hop_count + 1, sizeof(double)),
                     .held_at = sim_alloc_array(flows, sizeof(uint32_t)),
                     .seen = sim_alloc_array(ports, sizeof(uint32_t))};
    memset(share.unsettled, 0, ports * sizeof(uint32_t));
    memset(share.sharing, 0, ports * sizeof(uint32_t));
    memset(share.seen, 0xff, ports * sizeof(uint32_t));
    memset(share.turns, 0xff, ports * sizeof(uint64_t)); // NO_TURN
    memset(share.port_ps, 0, (explain->hop_count + 1) * sizeof(double));
    order_flows(&share);
    sim_time_t *const times = sim_alloc_array(2 * flows, sizeof(*times));
    const size_t count = epochs_of(explain, times);
    for (size_t i = 0; i + 1 < count; i++) {
        start_epoch(&share, times[i]);
        while (share.open_flow_count > 0) {
            settle(&share);
        }
        charge(&share, (uint32_t)i, times[i], times[i + 1]);
    }
    explain->shared_epochs = (uint32_t)count;
    sum_up(&share);
    SIM_FREE_ALL(times, share.by_begin, share.active, share.left_bps, share.unsettled,
                 share.sharing, share.touched, share.open_flows, share.open_ports, share.turns,
                 share.rate_bps, share.port_ps, share.held_at, share.seen);
}
