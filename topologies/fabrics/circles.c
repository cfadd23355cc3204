// SPDX-License-Identifier: Apache-2.0
// topologies/fabrics/circles.c - finds circles of links in which packets can wait for each other.
//
// A packet that came by link u-v and leaves by link v-w waits for room behind w while it takes room
// behind v. If switches pause their peers, a circle of such links can deadlock (Dally and Seitz,
// IEEE Transactions on Computers, 1987). Each leaf has a bit of a word; 64 are looked at at once.
#include <string.h>

#include "net/leaves.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "net/switch_model.h"
#include "topologies/builder_internal.h"
#include "topologies/fabrics/circles.h"

#define BATCH 64u
// Pairs of links that are looked at, and ports by leaf that are read: about 0.1 s.
#define COST_MAX UINT64_C(100000000)

// A link from a port to its peer. These are copied out of ports and nodes, since they are read for
// each batch of leaves.
typedef struct hop {
    uint32_t node; // sim.index of the node ahead
    uint32_t peer; // uid of the port there
    bool between;  // both ends forward packets
} hop_t;

typedef struct circles {
    const net_t *net;
    hop_t *hops;       // by uid of the sending port
    bool *pauses;      // by sim.index
    uint64_t *used;    // by sim.index: leaves of the batch that packets pass this node towards
    uint64_t *towards; // by uid of the sending port: leaves of the batch that it leads to
    uint32_t *level;   // by sim.index: switches on the way to the nearest host
    uint8_t *waits;    // a bit for each pair of ports (in, out) of each node
    size_t *first;     // by sim.index: the first bit of a node's pairs
    uint8_t *colour;   // by uid: 0: not visited, 1: on the path, 2: done
    const net_port_t **path;
    uint32_t *next; // by place on the path: the port of the node ahead to try next
} circles_t;

static const net_switch_config_t *config_of(const net_node_t *node)
{
    return node->kind == NET_NODE_SWITCH ? &net_switch_of((net_node_t *)(uintptr_t)node)->config
                                         : NULL;
}

// Returns the virtual channels of a switch that has some, else 0.
static uint64_t channels_of(const net_node_t *node)
{
    const net_switch_config_t *const config = config_of(node);
    return config != NULL && strcmp(config->mmu.text, "virtual-channels") == 0
               ? config->virtual_channels
               : 0;
}

// Returns whether packets that wait behind a node can make it pause its peers for packets of the
// class in which they wait themselves.
static bool pauses(const net_node_t *node)
{
    const net_switch_config_t *const config = config_of(node);
    return config != NULL && config->pfc_enabled && channels_of(node) == 0;
}

// Returns whether some switch sends packets by way of another one ("valiant", "ugal").
static bool has_detours(const net_t *net)
{
    const char *const all = net_get_config(net)->balance.text;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i);
        const net_switch_config_t *const config = node != NULL ? config_of(node) : NULL;
        const char *const own = config != NULL ? config->balance.name.text : "network";
        const char *const name = own[0] == '\0' || strcmp(own, "network") == 0 ? all : own;
        if (config != NULL && (strcmp(name, "valiant") == 0 || strcmp(name, "ugal") == 0)) {
            return true;
        }
    }
    return false;
}

// Fills in the links and what nodes do.
static void copy_links(const circles_t *circles)
{
    const net_t *const net = circles->net;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        circles->pauses[i] = pauses(node);
        for (uint32_t p = 0; p < node->port_count; p++) {
            const net_port_t *const port = net_port_at(node, p);
            const net_node_t *const ahead = net_neighbour(node, p);
            circles->hops[port->uid] = (hop_t){
                .node = ahead->sim.index,
                .peer = net_port_peer(port)->uid,
                .between = node->forward != NULL && ahead->forward != NULL,
            };
        }
    }
}

// Sets the leaves that each port leads to, of those first .. first + count - 1, whether or not
// packets come that way.
static void set_towards(const circles_t *circles, uint32_t first, uint32_t count)
{
    const net_t *const net = circles->net;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i);
        if (node == NULL) {
            continue;
        }
        uint64_t *const towards = &circles->towards[net_port_uid(node, 0)];
        memset(towards, 0, node->port_count * sizeof(*towards));
        const uint32_t *ports = NULL;
        for (uint32_t leaf = 0, next; node->forward != NULL && leaf < count; leaf = next) {
            const uint32_t found = net_ports_towards(net, node, first + leaf, &ports);
            const uint32_t *others = ports;
            uint64_t leaves = UINT64_C(1) << leaf;
            for (next = leaf + 1; next < count; next++) { // leaves alike follow each other
                if (net_ports_towards(net, node, first + next, &others) != found ||
                    others != ports) {
                    break;
                }
                leaves |= UINT64_C(1) << next;
            }
            for (uint32_t p = 0; p < found; p++) {
                towards[ports[p]] |= leaves;
            }
        }
    }
}

// Puts packets towards all leaves of the batch at the switches that have hosts.
static void start_at_hosts(const circles_t *circles)
{
    const net_t *const net = circles->net;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i);
        const uint32_t count = node != NULL && node->forward != NULL ? node->port_count : 0;
        circles->used[i] = 0;
        for (uint32_t p = 0; p < count; p++) {
            if (net_kind_of(net, net_neighbour_number(node, p)) == NET_NODE_HOST) {
                circles->used[i] = UINT64_MAX;
            }
        }
    }
}

// Fills in the levels: 0 for switches with hosts, else one more than the lowest switch beside it.
static void find_levels(const circles_t *circles)
{
    const size_t count = net_node_count(circles->net);
    start_at_hosts(circles);
    for (size_t i = 0; i < count; i++) {
        circles->level[i] = circles->used[i] != 0 ? 0 : UINT32_MAX - 1;
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            const net_node_t *const node = net_node_at(circles->net, i);
            const hop_t *const hops = &circles->hops[net_port_uid(node, 0)];
            for (uint32_t p = 0; p < node->port_count; p++) {
                const uint32_t beside = circles->level[hops[p].node] + 1;
                if (hops[p].between && beside < circles->level[i]) {
                    circles->level[i] = beside;
                    more = true;
                }
            }
        }
    }
}

// Returns whether no packet towards the leaves of the batch climbs to a higher level after it
// descended, or goes on between equal levels. If this holds for all leaves, there is no circle: in
// it, some packet would have to climb behind a link on which packets descend.
static bool climbs_first(const circles_t *circles)
{
    for (size_t i = 0; i < net_node_count(circles->net); i++) {
        const net_node_t *const node = net_node_at(circles->net, i);
        const uint32_t first = net_port_uid(node, 0);
        uint64_t climb = 0;
        uint64_t descended = 0;
        for (uint32_t uid = first; uid < first + node->port_count; uid++) {
            const hop_t *const hop = &circles->hops[uid];
            if (!hop->between || circles->level[hop->node] < circles->level[i]) {
                continue;
            }
            if (circles->level[hop->node] == circles->level[i] && circles->towards[uid] != 0) {
                return false;
            }
            climb |= circles->towards[uid];
            descended |= circles->towards[hop->peer];
        }
        if ((climb & descended) != 0) {
            return false;
        }
    }
    return true;
}

// Returns whether it is plain that there is no circle, as in trees: see climbs_first.
static bool is_plain(const circles_t *circles)
{
    const uint32_t leaves = net_leaf_count(circles->net);
    find_levels(circles);
    bool plain = true;
    for (uint32_t first = 0; plain && first < leaves; first += BATCH) {
        set_towards(circles, first, SIM_MIN(leaves - first, BATCH));
        plain = climbs_first(circles);
    }
    return plain;
}

// Lets packets of all hosts go their ways, and takes away what nobody uses.
static void follow(const circles_t *circles)
{
    const net_t *const net = circles->net;
    const size_t count = net_node_count(net);
    start_at_hosts(circles);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            const net_node_t *const node = net_node_at(net, i);
            const uint32_t first = net_port_uid(node, 0);
            const uint32_t ports = node->forward != NULL ? node->port_count : 0;
            for (uint32_t uid = first; uid < first + ports; uid++) {
                uint64_t *const there = &circles->used[circles->hops[uid].node];
                const uint64_t comes = circles->used[i] & circles->towards[uid];
                more = more || (comes & ~*there) != 0;
                *there |= comes;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        const net_node_t *const node = net_node_at(net, i);
        uint64_t *const towards = &circles->towards[net_port_uid(node, 0)];
        for (uint32_t p = 0; p < node->port_count; p++) {
            towards[p] &= circles->used[i];
        }
    }
}

// Lets packets of all hosts go hop by hop, and returns the maximum number of links between switches
// on a path.
static uint32_t longest(const circles_t *circles, uint64_t *here, uint64_t *there)
{
    const net_t *const net = circles->net;
    const size_t nodes = sim_node_count(net_sim(net));
    uint32_t hops = 0;
    memcpy(here, circles->used, nodes * sizeof(*here));
    for (bool more = true; more;) {
        more = false;
        memset(there, 0, nodes * sizeof(*there));
        for (size_t i = 0; i < net_node_count(net); i++) {
            const net_node_t *const node = net_node_look(net, i);
            const uint32_t count = node != NULL && node->forward != NULL ? node->port_count : 0;
            for (uint32_t p = 0; p < count; p++) {
                const uint64_t goes = here[i] & circles->towards[net_port_uid(node, p)];
                there[net_neighbour_number(node, p)] |= goes;
                more = more || goes != 0;
            }
        }
        hops += more;
        memcpy(here, there, nodes * sizeof(*here));
    }
    return hops;
}

// Returns the leaves of the batch that a node is itself: where detours turn to their destination.
static uint64_t own_leaves(const net_t *net, const net_node_t *node, uint32_t first, uint32_t count)
{
    uint64_t own = 0;
    for (uint32_t leaf = 0; leaf < count; leaf++) {
        own |= net_leaf_at(net, first + leaf) == node ? UINT64_C(1) << leaf : 0;
    }
    return own;
}

// Notes which links packets can hold while they wait for which. detours: packets may go on from the
// leaf that they were sent to.
static void note_waits(circles_t *circles, uint32_t first, uint32_t count, bool detours)
{
    for (size_t i = 0; i < net_node_count(circles->net); i++) {
        const net_node_t *const node = net_node_at(circles->net, i);
        const uint64_t own = detours ? own_leaves(circles->net, node, first, count) : 0;
        const uint32_t first_uid = net_port_uid(node, 0);
        const hop_t *const hops = &circles->hops[first_uid];
        const uint64_t *const towards = &circles->towards[first_uid];
        for (uint32_t in = 0; circles->pauses[i] && in < node->port_count; in++) {
            const uint64_t come = hops[in].between ? circles->towards[hops[in].peer] : 0;
            const size_t row = circles->first[i] + (size_t)in * node->port_count;
            for (uint32_t out = 0; come != 0 && out < node->port_count; out++) {
                if ((come & (towards[out] | own)) != 0) {
                    circles->waits[(row + out) / 8] |= (uint8_t)(1u << (row + out) % 8);
                }
            }
        }
    }
}

// Returns the next link that packets on a link wait for, from port *out of the node ahead on; NULL:
// there are no more.
static const net_port_t *next_wait(const circles_t *circles, const net_port_t *link, uint32_t *out)
{
    const hop_t *const hop = &circles->hops[link->uid];
    if (!circles->pauses[hop->node]) {
        return NULL; // it holds nothing back
    }
    const net_node_t *const node = net_node_at(circles->net, hop->node);
    const uint32_t first = net_port_uid(node, 0);
    const size_t row = circles->first[hop->node] + (size_t)(hop->peer - first) * node->port_count;
    while (*out < node->port_count) {
        const uint32_t port = (*out)++;
        if (circles->hops[first + port].between &&
            (circles->waits[(row + port) / 8] >> (row + port) % 8 & 1) != 0) {
            return net_port_at(node, port);
        }
    }
    return NULL;
}

// Returns the text "a, b, c, a" of the circle from the link `from` on the path to its end.
static char *circle_text(const circles_t *circles, size_t from, size_t end)
{
    char *text = sim_strdup("");
    for (size_t i = from; i <= end; i++) {
        const net_port_t *const link = circles->path[i == end ? from : i];
        char *const longer =
            i - from >= TOPO__CIRCLE_NODES_MAX && i < end
                ? sim_format("%s%s", text, i - from == TOPO__CIRCLE_NODES_MAX ? "..., " : "")
                : sim_format("%s%s%s", text, link->node->sim.name, i < end ? ", " : "");
        sim_free(text);
        text = longer;
    }
    return text;
}

// Searches in depth from a link on. Returns the text of a circle; NULL: there is none.
static char *search_from(circles_t *circles, const net_port_t *start)
{
    size_t depth = 1;
    circles->path[0] = start;
    circles->next[0] = 0;
    circles->colour[start->uid] = 1;
    while (depth > 0) {
        const net_port_t *const ahead =
            next_wait(circles, circles->path[depth - 1], &circles->next[depth - 1]);
        if (ahead == NULL) {
            circles->colour[circles->path[--depth]->uid] = 2;
        } else if (circles->colour[ahead->uid] == 1) {
            size_t from = depth - 1;
            while (circles->path[from] != ahead) {
                from--;
            }
            return circle_text(circles, from, depth);
        } else if (circles->colour[ahead->uid] == 0) {
            circles->path[depth] = ahead;
            circles->next[depth] = 0;
            circles->colour[ahead->uid] = 1;
            depth++;
        }
    }
    return NULL;
}

uint32_t topo__path_switches(const net_t *net, uint64_t *channels)
{
    const size_t nodes = sim_node_count(net_sim(net));
    *channels = UINT64_MAX;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i); // NULL: a host
        const uint64_t own = node == NULL ? 0 : channels_of(node);
        *channels = own != 0 && own < *channels ? own : *channels;
    }
    if (*channels == UINT64_MAX) {
        return 0;
    }
    const circles_t circles = {
        .net = net,
        .used = sim_alloc_array(nodes + 1, sizeof(uint64_t)),
        .towards = sim_alloc_array(net_link_count(net) * 2 + 1, sizeof(uint64_t)),
    };
    uint64_t *const words = sim_alloc_array(2 * nodes + 1, sizeof(*words));
    uint32_t most = 0;
    for (uint32_t first = 0; first < net_leaf_count(net); first += BATCH) {
        const uint32_t left = net_leaf_count(net) - first;
        set_towards(&circles, first, SIM_MIN(left, BATCH));
        start_at_hosts(&circles);
        const uint32_t hops = longest(&circles, words, words + nodes);
        most = SIM_MAX(hops, most);
    }
    SIM_FREE_ALL(circles.used, circles.towards, words);
    return (has_detours(net) ? 2 * most : most) + 1;
}

// Notes all waits, and searches from each link. Returns the text of a circle; NULL: there is none.
static char *search(circles_t *circles, bool detours)
{
    const net_t *const net = circles->net;
    for (uint32_t first = 0; first < net_leaf_count(net); first += BATCH) {
        const uint32_t left = net_leaf_count(net) - first;
        set_towards(circles, first, SIM_MIN(left, BATCH));
        follow(circles);
        note_waits(circles, first, SIM_MIN(left, BATCH), detours);
    }
    char *found = NULL;
    for (size_t i = 0; i < net_node_count(net) && found == NULL; i++) {
        const net_node_t *const node = net_node_at(net, i);
        for (uint32_t p = 0; p < node->port_count && found == NULL; p++) {
            const net_port_t *const port = net_port_at(node, p);
            const hop_t *const hop = &circles->hops[port->uid];
            if (hop->between && circles->pauses[hop->node] && circles->colour[port->uid] == 0) {
                found = search_from(circles, port);
            }
        }
    }
    return found;
}

char *topo__find_circle(const net_t *net)
{
    const size_t nodes = sim_node_count(net_sim(net));
    const size_t ports = net_link_count(net) * 2;
    circles_t circles = {.net = net, .first = sim_alloc_array(nodes + 1, sizeof(size_t))};
    uint64_t pairs = 0;
    uint64_t forward_ports = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        circles.first[node->sim.index] = pairs;
        forward_ports += node->forward != NULL ? node->port_count : 0;
        pairs += pauses(node) ? (uint64_t)node->port_count * node->port_count : 0;
    }
    char *found = NULL;
    const bool detours = has_detours(net);
    const uint64_t leaves = net_leaf_count(net);
    if (pairs > 0 && pairs * (leaves / BATCH + 1) + leaves * forward_ports <= COST_MAX) {
        circles.used = sim_alloc_array(nodes + 1, sizeof(uint64_t));
        circles.towards = sim_alloc_array(ports + 1, sizeof(uint64_t));
        circles.waits = sim_alloc_array(pairs / 8 + 1, 1);
        circles.colour = sim_alloc_array(ports + 1, 1);
        circles.path = sim_alloc_array(ports + 1, sizeof(net_port_t *));
        circles.next = sim_alloc_array(ports + 1, sizeof(uint32_t));
        circles.hops = sim_alloc_array(ports + 1, sizeof(hop_t));
        circles.pauses = sim_alloc_array(nodes + 1, sizeof(bool));
        circles.level = sim_alloc_array(nodes + 1, sizeof(uint32_t));
        copy_links(&circles);
        if (detours || !is_plain(&circles)) {
            found = search(&circles, detours);
        }
    }
    SIM_FREE_ALL(circles.first, circles.used, circles.towards, circles.level, circles.waits,
                 circles.colour);
    sim_free((void *)circles.path);
    SIM_FREE_ALL(circles.next, circles.hops, circles.pauses);
    return found;
}
