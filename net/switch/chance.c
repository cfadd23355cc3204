// SPDX-License-Identifier: Apache-2.0
// net/switch/chance.c - what the order of ties, or a draw, changes at switches that are alike.
#include "net/switch/chance.h"

#include "kernel/fast_forward_notes.h"
#include "net/fast_forward.h"

// The arrivals of one instant.
typedef struct tie {
    sim_time_t time_ps;
    uint64_t turn;
    size_t first; // in ports
    size_t count;
} tie_t;

// How full a class of a port has been.
typedef struct fill {
    uint64_t sure_bytes;  // in any order of ties
    uint64_t most_bytes;  // in some order
    uint64_t *like_bytes; // by switch that is alike: in its own; NULL: as sure_bytes
} fill_t;

struct net_chance {
    net_node_t *const *likes; // the switches that are alike
    uint32_t like_count;
    tie_t *ties; // of this window, by time
    size_t tie_count;
    size_t tie_capacity;
    size_t tie_first; // those before are over
    uint32_t *ports;
    size_t port_count;
    size_t port_capacity;
    fill_t *fills; // by port and class
};

bool net_watch_chance(net_node_t *node, net_node_t *const *likes, uint32_t count)
{
    net_switch_t *const sw = net_switch_of(node);
    if (sw->late == NULL || sw->by_table) {
        return false;
    }
    node->sim.ties_kept = node->sim.ties_watched = true;
    sw->chance = sim_alloc(sizeof(*sw->chance));
    sw->chance->likes = likes;
    sw->chance->like_count = count;
    sw->chance->fills =
        sim_alloc_array((size_t)node->port_count * NET_PRIORITIES, sizeof(*sw->chance->fills));
    return true;
}

void net__chance_free(net_switch_t *sw)
{
    struct net_chance *const chance = sw->chance;
    for (size_t i = 0; chance != NULL && i < (size_t)sw->node.port_count * NET_PRIORITIES; i++) {
        sim_free(chance->fills[i].like_bytes);
    }
    if (chance != NULL) {
        SIM_FREE_ALL(chance->ties, chance->ports, chance->fills, chance);
    }
}

void net__chance_tie(const net_switch_t *sw, const sim_mail_t *mail, size_t count)
{
    struct net_chance *const chance = sw->chance;
    const sim_node_t *const node = &sw->node.sim;
    if (chance->tie_first == chance->tie_count) {
        chance->tie_first = chance->tie_count = chance->port_count = 0;
    }
    const tie_t tie = {node->window_start_ps + (mail->key >> SIM_PORT_BITS), sim_last_turn(node),
                       chance->port_count, count};
    SIM_APPEND(chance->ties, chance->tie_count, chance->tie_capacity, tie);
    for (size_t i = 0; i < count; i++) {
        SIM_APPEND(chance->ports, chance->port_count, chance->port_capacity,
                   sim_mail_port(&mail[i]));
    }
}

// Returns the tie of this instant; NULL: it is not noted.
static const tie_t *tie_at(struct net_chance *chance, sim_time_t now_ps)
{
    while (chance->tie_first < chance->tie_count &&
           chance->ties[chance->tie_first].time_ps < now_ps) {
        chance->tie_first++;
    }
    const tie_t *const tie = &chance->ties[chance->tie_first];
    return chance->tie_first < chance->tie_count && tie->time_ps == now_ps ? tie : NULL;
}

// Returns whether a switch handles the arrival at a port as the last one of a tie.
static bool is_last(const struct net_chance *chance, const tie_t *tie, const net_node_t *node,
                    uint32_t port)
{
    const uint64_t own = sim_turn_rank(&node->sim, tie->turn, port);
    for (size_t i = 0; i < tie->count; i++) {
        if (sim_turn_rank(&node->sim, tie->turn, chance->ports[tie->first + i]) > own) {
            return false;
        }
    }
    return true;
}

bool net__chance_arrival(net_switch_t *sw, uint32_t ingress, const net_port_t *egress,
                         const net_packet_t *packet, bool waits)
{
    struct net_chance *const chance = sw->chance;
    const sim_time_t now_ps = sw->node.sim.now_ps;
    fill_t *const fill = &chance->fills[egress->index * NET_PRIORITIES + packet->priority];
    const uint64_t bytes = egress->classes[packet->priority]->bytes + packet->frame_bytes;
    if (!waits) {
        const bool queued = egress->busy_until_ps > now_ps || egress->wake_pending != NET_WAKE_NONE;
        fill->sure_bytes = queued ? SIM_MAX(bytes, fill->sure_bytes) : fill->sure_bytes;
        return false;
    }
    if (bytes <= fill->sure_bytes) {
        return false;
    }
    const tie_t *const tie = tie_at(chance, now_ps);
    if (fill->like_bytes == NULL) {
        fill->like_bytes = sim_alloc_array(chance->like_count, sizeof(*fill->like_bytes));
    }
    fill->most_bytes = SIM_MAX(bytes, fill->most_bytes);
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; tie != NULL && i < chance->like_count; i++) {
        uint64_t *const like = &fill->like_bytes[i];
        if (*like < bytes && !is_last(chance, tie, chance->likes[i], ingress)) {
            *like = bytes;
        }
        least = SIM_MIN(*like, least);
    }
    sw->node.sim.ties_mattered = sw->node.sim.ties_mattered || tie == NULL;
    return least < bytes; // the leading switch has noted it in its queue
}

const char *net_chance(const net_node_t *node)
{
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    for (uint32_t p = 0; p < node->port_count; p++) {
        uint64_t marks = sw->red == NULL ? 0 : sw->red[p].random.counter;
        for (uint32_t class = 0; class < NET_PRIORITIES; class ++) {
            marks += node->ports[p].rare->ecn_marked[class];
        }
        if (marks != 0) {
            return "marking of a port";
        }
    }
    return node->sim.ties_mattered || !node->sim.alone || node->one_by_one || !net_has_room(node)
               ? "ties of a node"
               : NULL;
}

void net_chance_settle(const net_node_t *node)
{
    const net_switch_t *const sw = (const net_switch_t *)(const void *)node;
    const struct net_chance *const chance = sw->chance;
    for (uint32_t p = 0; p < node->port_count; p++) {
        for (uint32_t class = 0; class < NET_PRIORITIES; class ++) {
            const fill_t *const fill = &chance->fills[p * NET_PRIORITIES + class];
            for (uint32_t i = 0; fill->like_bytes != NULL && i < chance->like_count; i++) {
                chance->likes[i]->ports[p].classes[class]->bytes_max =
                    SIM_MAX(fill->like_bytes[i], fill->sure_bytes);
            }
        }
    }
}
