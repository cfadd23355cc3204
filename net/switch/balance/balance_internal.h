// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/balance_internal.h - what the load balancers of switches share: hashes of
// packets, loads of ports, tables of flows. Page: docs/models/load-balancing.md.
#ifndef NET_SWITCH_BALANCE_BALANCE_INTERNAL_H
#define NET_SWITCH_BALANCE_BALANCE_INTERNAL_H

#include <string.h>

#include "net/network_internal.h"
#include "net/routes_internal.h"
#include "net/switch_model.h"

// -- hashes and paths (hash.c)

// Returns the hash of the header fields that switch.ecmp names, with the switch's own seed.
uint32_t net__balance_hash(const net_switch_t *sw, const net_packet_t *packet);
// Returns the path that ECMP would choose, for balancers without a fixed path of a flow.
uint32_t net__balance_path(const net_switch_t *sw, uint32_t source, uint32_t destination,
                           uint32_t flow_hash, uint32_t count);
// Sets the seed of the switch's hash; every balancer's `built` calls it.
void net__balance_seed(net_switch_t *sw);

// Returns a key of the packet's flow, which is its addresses and its UDP source port. Never 0.
static inline uint64_t net__flow_key(const net_packet_t *packet)
{
    const uint64_t ends = (uint64_t)packet->source << 32 | packet->destination;
    const uint64_t key = sim_mix64(ends) + packet->udp_source_port * UINT64_C(0x9e3779b97f4a7c15);
    return key != 0 ? key : 1;
}

// Returns the routes that all nodes have while this switch has its present ones, by node index.
const net_routes_t *net__routes_now(const net_switch_t *sw);

// -- ports

// Returns a random port of `count` >= 1 that is up; the only port may be down. NET_NO_PORT: none.
static inline uint32_t net__random_port(const net_switch_t *sw, sim_random_t *random,
                                        const uint32_t *ports, uint32_t count)
{
    const uint32_t port = ports[count == 1 ? 0 : sim_random_below(random, count)];
    if (SIM_LIKELY(!sw->node.ports[port].down) || count == 1) {
        return port;
    }
    return net_switch_choose_live(sw, ports, count, (uint32_t)sim_random_u64(random));
}

// Returns the switch's number for the leaf of a destination, below net->leaf_count.
static inline uint32_t net__leaf_of(const net_switch_t *sw, uint32_t destination)
{
    return sw->attachments[destination].leaf;
}

// Returns whether an interface is attached to this switch.
static inline bool net__is_here(const net_switch_t *sw, uint32_t interface)
{
    return sw->attachments[interface].leaf == sw->leaf;
}

// Returns whether the packets of this port come from a host.
static inline bool net__from_host(const net_port_t *ingress)
{
    return ingress->peer->node->kind == NET_NODE_HOST;
}

// -- flows (flows.c)

// A table of flows by key. Each entry begins with its key; all bytes of a new entry are zero.
typedef struct net_flows {
    char *entries;
    uint32_t room; // a power of two, or 0
    uint32_t count;
    size_t entry_bytes; // set by the owner
} net_flows_t;

// Returns the entry of a key that is not at its first place, which it adds if need be.
void *net__flow_entry_beyond(net_flows_t *flows, uint64_t key);
// Returns the entry of a key, which it adds if need be. A later call may move all entries.
static inline void *net__flow_entry(net_flows_t *flows, uint64_t key)
{
    if (SIM_LIKELY(flows->room != 0)) {
        char *const entry =
            flows->entries + ((uint32_t)key & (flows->room - 1)) * flows->entry_bytes;
        uint64_t found;
        memcpy(&found, entry, sizeof(found));
        if (SIM_LIKELY(found == key)) {
            return entry;
        }
    }
    return net__flow_entry_beyond(flows, key);
}
void net__flows_free(net_flows_t *flows);

// The last packet of a flow, and the port that it took.
typedef struct net_flowlet {
    uint64_t key;
    sim_time_t last_ps;
    uint32_t port;
    bool known; // false: the entry is new
} net_flowlet_t;

// Returns whether the flow's next packet, at this instant, begins a flowlet: it is the flow's
// first, it comes more than gap_ps after the packet before it, or the flow's port is not among
// `ports` or is down.
static inline bool net__flowlet_begins(const net_switch_t *sw, const net_flowlet_t *flowlet,
                                       sim_time_t gap_ps, const uint32_t *ports, uint32_t count)
{
    if (!flowlet->known || sw->node.sim.now_ps - flowlet->last_ps > gap_ps ||
        sw->node.ports[flowlet->port].down) {
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ports[i] == flowlet->port) {
            return false;
        }
    }
    return true;
}

extern const net_balance_ops_t net__balance_hashed; // hash.c
extern const net_balance_ops_t net__balance_weighted;
extern const net_balance_ops_t net__balance_random; // spray.c
extern const net_balance_ops_t net__balance_round_robin;
extern const net_balance_ops_t net__balance_adaptive; // queues.c
extern const net_balance_ops_t net__balance_drill;
extern const net_balance_ops_t net__balance_letflow;  // letflow.c
extern const net_balance_ops_t net__balance_conga;    // conga.c
extern const net_balance_ops_t net__balance_conweave; // conweave.c
extern const net_balance_ops_t net__balance_valiant;  // detour.c
extern const net_balance_ops_t net__balance_ugal;
extern const net_balance_ops_t net__balance_structured;

#endif // NET_SWITCH_BALANCE_BALANCE_INTERNAL_H
