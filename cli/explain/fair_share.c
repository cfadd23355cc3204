// SPDX-License-Identifier: Apache-2.0
// cli/explain/fair_share.c - computes what each flow could have had if links were shared fairly.
//
// At some times of the run, the flows that are active share the links max-min fairly
// (progressive filling: Bertsekas and Gallager, "Data Networks", 6.5.2). A flow's time beyond its
// ideal time is split: the part that fair shares explain is charged to the port at which the flow
// is held, the rest is excess, which something else must explain. Messages of one queue pair do not
// compete: one waits for the other, and its time begins with its turn.
#include "cli/explain/explain_internal.h"
#include "cli/explain/order.h"
#include "cli/explain/pauses.h"
#include "cli/explain/run_data.h"
#include "nic/extra.h"

#include <string.h>

#define EPOCHS_LEAST 300u
#define EQUAL 1e-9        // shares differ by less: they are equal
#define WORK_MAX 2000000u // active flows of all epochs together: larger runs get fewer epochs

#define RANKS 3u

// A flow that is active in an epoch.
typedef struct active {
    uint32_t flow;
    uint32_t first_hop; // as in explain_flow_t
    uint32_t hop_count;
    uint32_t held_at; // port that settled it; EXPLAIN_NONE: its rate is not known yet
    double rate_bps;
} active_t;

typedef struct share {
    explain_t *explain;
    uint32_t *by_begin; // all flows with a path
    size_t path_count;
    size_t begun;     // so many of them have begun
    uint32_t *active; // flows, by number
    size_t active_count;
    active_t *settling; // likewise, in this epoch
    size_t open_count;  // number of them whose rate is not known yet
    double *rates_bps;  // by port: of its link
    double *left_bps;
    uint32_t *unsettled; // by port: active flows whose rate is not known yet
    uint32_t *sharing;   // by port: all active flows
    uint32_t *touched;   // ports with active flows
    size_t touched_count;
    uint32_t *passing; // numbers of active flows in `settling`, by the ports that they pass
    size_t passing_capacity;
    size_t *passing_to;   // by port: behind its last one there
    uint32_t *open_ports; // ports that flows pass whose rate is not known yet
    size_t open_port_count;
    uint32_t *tightest;   // those of them with the least share
    double *useful_bytes; // by port
    double *again_bytes;  // likewise
    double *port_ps;      // of the flow at each of its hops, as explain->hops
    uint32_t *seen;       // by port: the last epoch whose time held_ps has
} share_t;

static double rate_of(const explain_t *explain, uint32_t uid)
{
    const explain_port_t *const port = &explain->ports[uid];
    return (double)port->port->line->rate_bps * SIM_MAX(port->planes, 1);
}

// Returns the smallest rate of the flow's path: what it has alone.
static double alone_bps(const share_t *share, const active_t *active)
{
    double least = 0;
    for (uint32_t h = 0; h < active->hop_count; h++) {
        const double rate = share->rates_bps[share->explain->hops[active->first_hop + h]];
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

// Lists the active flows by the ports that they pass.
static void sort_by_port(share_t *share)
{
    const uint32_t *const hops = share->explain->hops;
    size_t sum = 0;
    for (size_t i = 0; i < share->touched_count; i++) {
        share->passing_to[share->touched[i]] = sum;
        sum += share->sharing[share->touched[i]];
    }
    SIM_RESERVE(share->passing, sum, &share->passing_capacity);
    for (size_t i = 0; i < share->active_count; i++) {
        const active_t *const active = &share->settling[i];
        for (uint32_t h = 0; h < active->hop_count; h++) {
            share->passing[share->passing_to[hops[active->first_hop + h]]++] = (uint32_t)i;
        }
    }
}

static void start_epoch(share_t *share, sim_time_t time_ps)
{
    const explain_t *const explain = share->explain;
    for (size_t i = 0; i < share->touched_count; i++) {
        share->sharing[share->touched[i]] = 0;
    }
    share->touched_count = 0;
    update_active(share, time_ps);
    for (size_t i = 0; i < share->active_count; i++) {
        const explain_flow_t *const flow = &explain->flows[share->active[i]];
        share->settling[i] = (active_t){.flow = share->active[i],
                                        .first_hop = flow->first_hop,
                                        .hop_count = flow->hop_count,
                                        .held_at = EXPLAIN_NONE};
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            const uint32_t uid = explain->hops[flow->first_hop + h];
            if (share->sharing[uid]++ == 0) {
                share->touched[share->touched_count++] = uid;
                share->left_bps[uid] = share->rates_bps[uid];
            }
        }
    }
    for (size_t i = 0; i < share->touched_count; i++) {
        const uint32_t uid = share->touched[i];
        share->unsettled[uid] = share->sharing[uid];
        share->open_ports[i] = uid;
    }
    share->open_count = share->active_count;
    share->open_port_count = share->touched_count;
    sort_by_port(share);
}

// Ranks ports that are equally full, the highest first: links of senders, links to hosts, links
// between switches. Where each of n hosts sends to all others, links into hosts are as full as
// those out of them, and no host is the target of an incast. Flows to one host that meet before its
// link gain nothing from other paths.
static unsigned rank_of(const share_t *share, uint32_t uid)
{
    const net_port_t *const port = share->explain->ports[uid].port;
    return port->node->kind == NET_NODE_HOST         ? RANKS - 1
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

// Settles the flows that a port holds at the smallest share.
static void settle_port(share_t *share, uint32_t uid, double fair_bps)
{
    const uint32_t *const hops = share->explain->hops;
    for (size_t i = share->passing_to[uid] - share->sharing[uid]; i < share->passing_to[uid]; i++) {
        active_t *const active = &share->settling[share->passing[i]];
        if (active->held_at != EXPLAIN_NONE) {
            continue;
        }
        active->rate_bps = fair_bps;
        active->held_at = uid;
        share->open_count--;
        for (uint32_t h = 0; h < active->hop_count; h++) {
            const uint32_t hop = hops[active->first_hop + h];
            share->left_bps[hop] = SIM_MAX(share->left_bps[hop] - fair_bps, 0);
            share->unsettled[hop]--;
        }
    }
}

// Settles the flows that the tightest ports hold, by rank, then by number in the list. These ports
// do not change each other's shares: a flow takes as much of a port as its share.
static void settle(share_t *share)
{
    const double fair_bps = least_share(share);
    const size_t before = share->open_count;
    size_t count = 0;
    for (size_t i = 0; i < share->open_port_count; i++) {
        const uint32_t uid = share->open_ports[i];
        if (share->left_bps[uid] / share->unsettled[uid] <= fair_bps * (1 + EQUAL)) {
            share->tightest[count++] = uid;
        }
    }
    for (unsigned rank = RANKS; rank-- > 0;) {
        for (size_t i = 0; i < count; i++) {
            if (rank_of(share, share->tightest[i]) == rank) {
                settle_port(share, share->tightest[i], fair_bps);
            }
        }
    }
    SIM_CHECK(share->open_count < before);
}

// Charges `ps` of the run, during which the shares hold, to flows and the ports that hold them.
static void charge(share_t *share, uint32_t epoch, sim_time_t from_ps, sim_time_t to_ps)
{
    explain_t *const explain = share->explain;
    for (size_t i = 0; i < share->active_count; i++) {
        const active_t *const active = &share->settling[i];
        explain_flow_t *const flow = &explain->flows[active->flow];
        const sim_time_t from = SIM_MAX(flow->begin_ps, from_ps);
        const sim_time_t to = SIM_MIN(flow->end_ps, to_ps);
        if (to <= from) {
            continue;
        }
        const double lost = 1 - active->rate_bps / alone_bps(share, active);
        const double ps = (double)(to - from) * SIM_MAX(lost, 0);
        const uint32_t uid = active->held_at;
        flow->fair_bytes += (double)(to - from) * active->rate_bps / 8e12;
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

// Lists the flows with a path by the times at which they begin.
static void order_flows(share_t *share)
{
    const explain_t *const explain = share->explain;
    uint64_t *const begins = sim_alloc_array(explain->flow_count + 1, sizeof(*begins));
    size_t count = 0;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        if (explain->flows[f].hop_count > 0) {
            begins[count] = explain->flows[f].begin_ps;
            share->by_begin[count++] = f;
        }
    }
    cli__explain_sort(begins, share->by_begin, count);
    share->path_count = count;
    sim_free(begins);
}

// Merges two lists of times that are in order to the times that occur in them. Returns how many
// there are, and stores in *work how many flows are active at all of these times together.
static size_t merge(const sim_time_t *begins, const sim_time_t *ends, size_t flows,
                    sim_time_t *times, size_t *work)
{
    size_t kept = 0;
    *work = 0; // modulo 2^64 until all ends are counted
    for (size_t begun = 0, ended = 0; ended < flows; kept++) {
        const bool begins_next = begun < flows && begins[begun] < ends[ended];
        const sim_time_t time_ps = begins_next ? begins[begun] : ends[ended];
        times[kept] = time_ps;
        for (; begun < flows && begins[begun] == time_ps; begun++) {
            *work -= kept;
        }
        for (; ended < flows && ends[ended] == time_ps; ended++) {
            *work += kept;
        }
    }
    return kept;
}

// Returns the times at which the shares are computed: all at which a flow begins or ends, or as
// many of them as the limits allow.
static size_t epochs_of(const explain_t *explain, sim_time_t *times)
{
    const size_t flows = explain->flow_count;
    sim_time_t *const begins = sim_alloc_array(flows + 1, sizeof(*begins));
    sim_time_t *const ends = sim_alloc_array(flows + 1, sizeof(*ends));
    for (size_t i = 0; i < flows; i++) {
        begins[i] = explain->flows[i].begin_ps;
        ends[i] = explain->flows[i].end_ps;
    }
    cli__explain_sort(begins, NULL, flows);
    cli__explain_sort(ends, NULL, flows);
    size_t work = 0; // of all epochs
    const size_t kept = merge(begins, ends, flows, times, &work);
    sim_free(begins);
    sim_free(ends);
    const double share = work <= WORK_MAX ? 1 : (double)WORK_MAX / (double)work;
    const size_t most = SIM_MAX((size_t)(share * (double)kept), EPOCHS_LEAST);
    if (kept <= most) {
        return kept;
    }
    SIM_CHECK(most > 1);
    for (size_t i = 0; i < most; i++) {
        times[i] = times[i * (kept - 1) / (most - 1)];
    }
    return most;
}

// Sums, by port, the bytes that flows through it delivered and those that they sent again.
static void sum_bytes(share_t *share)
{
    const explain_t *const explain = share->explain;
    for (size_t i = 0; i < explain->flow_count; i++) {
        const explain_flow_t *const flow = &explain->flows[i];
        const nic_config_t *const config =
            flow->retransmitted > 0 ? nic_config_of_interface(explain->world->net, flow->source)
                                    : NULL;
        const double again =
            config != NULL ? (double)flow->retransmitted * (double)config->mtu_bytes : 0;
        for (uint32_t h = 0; h < flow->hop_count; h++) {
            const uint32_t uid = explain->hops[flow->first_hop + h];
            share->again_bytes[uid] += again;
            share->useful_bytes[uid] += (double)(flow->ended ? flow->bytes : flow->delivered_bytes);
        }
    }
}

// Returns the share of the time in which the port held flows that its frames took, at most.
// Packets that were sent again do not count.
static double used_share(const share_t *share, uint32_t uid)
{
    const explain_port_t *const port = &share->explain->ports[uid];
    const double could = port->held_ps * (double)port->port->line->rate_bps / 8e12;
    const double sent = (double)port->tx_bytes;
    const double used =
        SIM_MAX(sent - share->again_bytes[uid], SIM_MIN(sent, share->useful_bytes[uid]));
    return could > 0 ? used / could : 0;
}

// Returns the part of a flow's charge at a port that is due. Fair shares held the flow only as far
// as it got its share, or others used the port. A flow loses no more than its time beyond the ideal
// one, the sum of its charges is `all_ps`.
static double due_share(const share_t *share, const explain_flow_t *flow, uint32_t uid,
                        double all_ps, double lost_ps)
{
    const double bytes = (double)(flow->ended ? flow->bytes : flow->delivered_bytes);
    const double got = flow->fair_bytes > 0 ? bytes / flow->fair_bytes : 0;
    const double used = used_share(share, uid);
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
                              due_share(share, flow, uid, all_ps, took_ps - ideal_ps);
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
                     .settling = sim_alloc_array(flows, sizeof(active_t)),
                     .rates_bps = sim_alloc_array(ports, sizeof(double)),
                     .left_bps = sim_alloc_array(ports, sizeof(double)),
                     .unsettled = sim_alloc_array(ports, sizeof(uint32_t)),
                     .sharing = sim_alloc_array(ports, sizeof(uint32_t)),
                     .touched = sim_alloc_array(ports, sizeof(uint32_t)),
                     .passing_to = sim_alloc_array(ports, sizeof(size_t)),
                     .open_ports = sim_alloc_array(ports, sizeof(uint32_t)),
                     .tightest = sim_alloc_array(ports, sizeof(uint32_t)),
                     .useful_bytes = sim_alloc_array(ports, sizeof(double)),
                     .again_bytes = sim_alloc_array(ports, sizeof(double)),
                     .port_ps = sim_alloc_array(explain->hop_count + 1, sizeof(double)),
                     .seen = sim_alloc_array(ports, sizeof(uint32_t))};
    memset(share.seen, 0xff, ports * sizeof(uint32_t));
    for (uint32_t uid = 0; uid < explain->port_count; uid++) {
        share.rates_bps[uid] = explain->ports[uid].port != NULL ? rate_of(explain, uid) : 0;
    }
    order_flows(&share);
    sim_time_t *const times = sim_alloc_array(2 * flows, sizeof(*times));
    const size_t count = epochs_of(explain, times);
    for (size_t i = 0; i + 1 < count; i++) {
        start_epoch(&share, times[i]);
        while (share.open_count > 0) {
            settle(&share);
        }
        charge(&share, (uint32_t)i, times[i], times[i + 1]);
    }
    explain->shared_epochs = (uint32_t)count;
    sum_bytes(&share);
    sum_up(&share);
    SIM_FREE_ALL(times, share.by_begin, share.active, share.settling, share.rates_bps,
                 share.left_bps, share.unsettled, share.sharing, share.touched, share.passing,
                 share.passing_to, share.open_ports, share.tightest, share.useful_bytes,
                 share.again_bytes, share.port_ps, share.seen);
}
