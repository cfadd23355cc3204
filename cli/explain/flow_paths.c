// SPDX-License-Identifier: Apache-2.0
// cli/explain/flow_paths.c - finds the ports that each flow passes.
//
// A flow that keeps its path has a port per hop. Where packets of a flow spread over ports of equal
// cost, one port of each hop stands for all of them, with the sum of their rates.
#include "cli/explain/flow_paths.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"

#include "net/nodes.h"
#include "net/paths.h"
#include "net/switch_model.h"
#include "nic/extra.h"

#include <string.h>

#define SPREAD_FLOWS_MAX 5000u // of more flows, only the ends of such paths are looked at
#define DRAWS_WITHOUT_NEWS 40u // hashes in a row that lead to no further port
#define DRAWS_MAX 2000u

// Returns whether all switches give each flow one path.
static bool switches_keep(const net_t *net)
{
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        if (node->planes > 1 ||
            (node->kind == NET_NODE_SWITCH &&
             net_switch_of((net_node_t *)(uintptr_t)node)->balance->spreads_flows)) {
            return false;
        }
    }
    return true;
}

// Returns the plane that a queue pair's packets take. `spread`: they take all planes.
static uint32_t plane_of(const explain_t *explain, const explain_flow_t *flow, uint32_t hash,
                         uint32_t planes, bool *spread)
{
    *spread = explain->scenario->nic_config.planes != NIC_PLANES_HASH || flow->reads;
    return *spread ? 0 : (uint32_t)(sim_mix64((uint64_t)hash << 32 | flow->source_port) % planes);
}

static void add_hop(explain_t *explain, explain_flow_t *flow, uint32_t uid, uint32_t count)
{
    explain_port_t *const port = &explain->ports[uid];
    SIM_APPEND(explain->hops, explain->hop_count, explain->hop_capacity, uid);
    port->flow_count++;
    port->planes = SIM_MAX(port->planes, count);
    flow->hop_count++;
}

// The ports that packets of a flow take between its ends, by hop.
typedef struct spread_ports {
    uint32_t lowest[SIM_COUNT_OF(((net_path_t *)0)->ports)];
    uint32_t count[SIM_COUNT_OF(((net_path_t *)0)->ports)];
    uint32_t hop_count;
} spread_ports_t;

// Draws hashes until they lead to no further port. `seen`: by port, the last flow that found it.
static spread_ports_t spread_of(const explain_t *explain, const explain_flow_t *flow,
                                uint32_t number, uint32_t *seen)
{
    spread_ports_t found = {.hop_count = 0};
    uint32_t quiet = 0;
    for (uint32_t d = 0; d < DRAWS_MAX && quiet < DRAWS_WITHOUT_NEWS; d++, quiet++) {
        net_path_t path;
        if (!net_path_of(explain->world->net, flow->source, flow->destination,
                         (uint32_t)sim_mix64(d + 1), &path)) {
            break;
        }
        found.hop_count = d == 0 ? path.hop_count : SIM_MIN(path.hop_count, found.hop_count);
        for (uint32_t h = 0; h < path.hop_count; h++) {
            const uint32_t uid = path.ports[h]->uid;
            if (seen[uid] != number) {
                seen[uid] = number;
                found.lowest[h] = found.count[h]++ == 0 ? uid : SIM_MIN(found.lowest[h], uid);
                quiet = 0;
            }
        }
    }
    return found;
}

static void take_spread_path(explain_t *explain, explain_flow_t *flow, uint32_t number,
                             uint32_t *seen)
{
    const spread_ports_t found = spread_of(explain, flow, number, seen);
    flow->first_hop = (uint32_t)explain->hop_count;
    for (uint32_t h = 0; h < found.hop_count; h++) {
        add_hop(explain, flow, found.lowest[h], found.count[h]);
    }
}

static bool has_planes(const explain_t *explain, const explain_flow_t *flow)
{
    return world_host_of(explain->world, &explain->world->nics[flow->source])->planes > 1;
}

static void take_path(explain_t *explain, explain_flow_t *flow)
{
    const net_t *const net = explain->world->net;
    const net_node_t *const host =
        world_host_of(explain->world, &explain->world->nics[flow->source]);
    const uint32_t hash = net_flow_hash(net, flow->source, flow->destination, flow->source_port);
    const uint32_t planes = SIM_MAX(host->planes, 1);
    uint32_t ends[] = {flow->source, flow->destination};
    bool all_planes = false;
    if (planes > 1) {
        const uint32_t plane = plane_of(explain, flow, hash, planes, &all_planes);
        ends[0] = net_interface_in_plane(net, flow->source, plane);
        ends[1] = net_interface_in_plane(net, flow->destination, plane);
    }
    net_path_t path;
    if (!net_path_of(net, ends[0], ends[1], hash, &path) || path.hop_count == 0) {
        return;
    }
    flow->first_hop = (uint32_t)explain->hop_count;
    for (uint32_t i = 0; i < path.hop_count; i++) {
        // Only the ends of the path are known if packets spread, and of READs: flows.csv has no UDP
        // port of the answers.
        if ((flow->spread || flow->reads) && i != 0 && i + 1 != path.hop_count) {
            continue;
        }
        add_hop(explain, flow, path.ports[i]->uid, all_planes ? planes : 1);
    }
}

// Sorts the flows by the ports that they pass.
static void sort_by_port(explain_t *explain)
{
    const size_t ports = explain->port_count;
    size_t *const from = sim_alloc_array(ports + 2, sizeof(*from)); // one further at first
    uint32_t *const last = sim_alloc_array(ports + 1, sizeof(*last));
    explain->passing = sim_alloc_array(explain->hop_count + 1, sizeof(*explain->passing));
    memset(from, 0, (ports + 2) * sizeof(*from));
    for (int pass = 0; pass < 2; pass++) {
        memset(last, 0xff, (ports + 1) * sizeof(*last));
        for (uint32_t f = 0; f < explain->flow_count; f++) {
            const explain_flow_t *const flow = &explain->flows[f];
            for (uint32_t h = 0; h < flow->hop_count; h++) {
                const uint32_t uid = explain->hops[flow->first_hop + h];
                if (last[uid] == f) {
                    continue; // a port that it passes twice
                }
                last[uid] = f;
                if (pass == 1) {
                    explain->passing[from[uid + 1]] = f;
                    from[uid + 1]++;
                } else {
                    from[uid + 2]++;
                }
            }
        }
        for (size_t uid = 0; pass == 0 && uid < ports; uid++) {
            from[uid + 2] += from[uid + 1];
        }
    }
    explain->passing_from = from;
    sim_free(last);
}

void cli__explain_paths(explain_t *explain)
{
    const net_t *const net = explain->world->net;
    uint32_t *const seen = sim_alloc_array(explain->port_count + 1, sizeof(*seen));
    memset(seen, 0xff, (explain->port_count + 1) * sizeof(*seen));
    explain->switches_keep = switches_keep(net);
    explain->paths_known = explain->switches_keep;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        explain_flow_t *const flow = &explain->flows[f];
        if (flow->source_port == 0 && explain->world->nics[flow->source].host ==
                                          explain->world->nics[flow->destination].host) {
            continue; // between GPUs of one server, over NVLink
        }
        flow->spread = !explain->switches_keep ||
                       nic_config_spreads(nic_config_of_interface(net, flow->source));
        explain->paths_known &= !flow->spread;
        if (flow->spread && !has_planes(explain, flow) && explain->flow_count <= SPREAD_FLOWS_MAX) {
            take_spread_path(explain, flow, f, seen);
        } else {
            take_path(explain, flow);
        }
    }
    sim_free(seen);
    sort_by_port(explain);
}
