// SPDX-License-Identifier: Apache-2.0
// net/scale_up/kinds.h - the two kinds of nodes of a scale-up network, and what they share.
#ifndef NET_SCALE_UP_KINDS_H
#define NET_SCALE_UP_KINDS_H

#include "kernel/list.h"
#include "kernel/map.h"
#include "net/scale_up/flits.h"

// Messages that a switch handles together.
struct net_put_group {
    sim_link_t link; // in net_accelerators_t.all_groups
    uint64_t key;
    uint64_t number; // which selects the switch of its first trains
    uint32_t members;
    uint32_t joined; // messages that are here: of the host
    uint32_t ended;  // of them, those that have arrived
    net_put_t **puts;
    uint32_t *counts; // of the switches: by train of a sum, how many have come
};

// The accelerators and switches of a host.
typedef struct net_accelerators {
    const net_scale_up_config_t *config;
    uint32_t count;
    uint32_t switch_count;
    net_node_t **nodes;             // accelerators, then switches
    sim_channel_t **to_accelerator; // from the host, by number
    sim_map_t groups;               // by key
    sim_list_t all_groups;
    uint64_t group_count; // so far: groups take switches in turn
} net_accelerators_t;

// Returns a node that the simulation owns.
net__flit_node_t *net__accelerator_create(net_t *net, net_node_t *host, uint32_t number,
                                          const net_scale_up_config_t *config, const char *name);
// Returns a node that the simulation owns.
net__flit_node_t *net__flit_switch_create(net_t *net, uint32_t accelerators,
                                          const net_scale_up_config_t *config, const char *name);
// Returns the host of an accelerator; NULL: the node is none.
const net_node_t *net__accelerator_host(const net_node_t *node);

#endif // NET_SCALE_UP_KINDS_H
