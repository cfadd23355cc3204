// SPDX-License-Identifier: Apache-2.0
// net/scale_up/host.c - the accelerators of a host: building them, and the messages that its
// programs hand to them (docs/models/scale-up.md).
#include "net/scale_up/kinds.h"

#include <stdio.h>

// -- messages of the host

// Notes a message at the end of its stream.
static void note(const net_accelerators_t *all, net_stream_t *stream, net_put_t *put)
{
    SIM_CHECK(put->from < all->count && put->to < all->count && put->from != put->to);
    put->stream = stream;
    put->next = NULL;
    put->arrived_bytes = 0;
    put->here = false;
    if (stream->first == NULL) {
        stream->first = put;
    } else {
        stream->last->next = put;
    }
    stream->last = put;
}

// Hands a message to its accelerator.
static void hand_over(net_node_t *host, net_put_t *put)
{
    const net_accelerators_t *const all = host->accelerators;
    sim_send(&host->sim, all->to_accelerator[put->from], host->sim.now_ps + all->config->memory_ps,
             put);
}

void net_put_send(net_node_t *host, net_stream_t *stream, net_put_t *put)
{
    put->group = NULL;
    note(host->accelerators, stream, put);
    hand_over(host, put);
}

static net_put_group_t *group_of(net_accelerators_t *all, uint64_t key, const net_put_t *put,
                                 uint32_t members)
{
    const uint64_t found = sim_map_get(&all->groups, key);
    if (found != SIM_MAP_NONE) {
        return (net_put_group_t *)(uintptr_t)found;
    }
    net_put_group_t *const group = sim_alloc(sizeof(*group));
    const uint64_t train_bytes = net_scale_up_train_bytes(all->config);
    const uint64_t trains = (put->bytes + train_bytes - 1) / train_bytes;
    *group = (net_put_group_t){
        .key = key,
        .number = all->group_count++,
        .members = members,
        .puts = sim_alloc_array(members, sizeof(*group->puts)),
        .counts = put->kind == NET_PUT_SUM ? sim_alloc_array(trains, sizeof(uint32_t)) : NULL,
    };
    sim_map_add(&all->groups, key, (uint64_t)(uintptr_t)group);
    sim_list_push_last(&all->all_groups, &group->link);
    return group;
}

static void end_group(net_accelerators_t *all, net_put_group_t *group)
{
    (void)sim_map_remove(&all->groups, group->key, (uint64_t)(uintptr_t)group);
    sim_list_remove(&all->all_groups, &group->link);
    SIM_FREE_ALL(group->puts, group->counts, group);
}

void net_put_send_in_group(net_node_t *host, net_stream_t *stream, net_put_t *put, uint64_t key,
                           uint32_t members)
{
    net_accelerators_t *const all = host->accelerators;
    net_put_group_t *const group = group_of(all, key, put, members);
    SIM_CHECK(group->joined < members && put->bytes > 0);
    note(all, stream, put);
    put->group = group;
    group->puts[group->joined++] = put;
    if (put->kind == NET_PUT_SUM) {
        hand_over(host, put);
    } else if (group->joined == members) {
        hand_over(host, group->puts[0]);
    }
}

// Calls the owners of messages of a stream that have arrived in order.
static void arrive(net_node_t *host, net_stream_t *stream)
{
    while (stream->first != NULL && stream->first->here) {
        net_put_t *const first = stream->first;
        stream->first = first->next;
        sim_progress(&host->sim);
        first->arrived(first, &host->sim);
    }
}

void net_put_arrived(net_node_t *host, void *message)
{
    net_put_t *const put = message;
    net_put_group_t *const group = put->group;
    net_stream_t *const stream = put->stream;
    put->here = true;
    if (group == NULL) {
        arrive(host, stream);
        return;
    }
    if (put->kind == NET_PUT_SPREAD) { // one of its copies
        if (++group->ended == group->members) {
            end_group(host->accelerators, group);
        }
        arrive(host, stream);
        return;
    }
    // A sum: all that it is made of.
    const uint32_t members = group->members;
    net_put_t **const puts = group->puts;
    net_stream_t **const streams = sim_alloc_array(members, sizeof(*streams));
    for (uint32_t i = 0; i < members; i++) {
        puts[i]->here = true;
        streams[i] = puts[i]->stream;
    }
    end_group(host->accelerators, group);
    for (uint32_t i = 0; i < members; i++) {
        arrive(host, streams[i]);
    }
    sim_free(streams);
}

// -- building

void net_scale_up_add(net_t *net, net_node_t *host, uint32_t count,
                      const net_scale_up_config_t *config)
{
    net_accelerators_t *const all = sim_alloc(sizeof(*all));
    const uint32_t switches = (uint32_t)net_scale_up_switches(config);
    SIM_CHECK(host->accelerators == NULL && count > 0);
    *all = (net_accelerators_t){
        .config = config,
        .count = count,
        .switch_count = switches,
        .nodes = sim_alloc_array(count + switches, sizeof(*all->nodes)),
        .to_accelerator = sim_alloc_array(count, sizeof(sim_channel_t *)),
    };
    host->accelerators = all;
    char name[192];
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "%s-gpu%u", host->sim.name, i);
        all->nodes[i] = &net__accelerator_create(net, host, i, config, name)->node;
    }
    for (uint32_t i = 0; i < switches; i++) {
        (void)snprintf(name, sizeof(name), "%s-switch%u", host->sim.name, i);
        all->nodes[count + i] = &net__flit_switch_create(net, count, config, name)->node;
    }
}

void net_scale_up_free(net_node_t *host)
{
    net_accelerators_t *const all = host->accelerators;
    if (all == NULL) {
        return;
    }
    while (all->all_groups.first != NULL) {
        end_group(all, SIM_LIST_FIRST(&all->all_groups, net_put_group_t, link));
    }
    sim_map_fini(&all->groups);
    SIM_FREE_ALL(all->nodes, all->to_accelerator, all);
}

net_node_t *net_accelerator(const net_node_t *host, uint32_t number)
{
    SIM_CHECK(number < net_accelerator_count(host));
    return host->accelerators->nodes[number];
}

net_node_t *net_scale_up_switch(const net_node_t *host, uint32_t number)
{
    SIM_CHECK(host->accelerators != NULL && number < host->accelerators->switch_count);
    return host->accelerators->nodes[host->accelerators->count + number];
}

const net_node_t *net_accelerator_host(const net_node_t *node)
{
    return net__accelerator_host(node);
}

uint32_t net_accelerator_count(const net_node_t *host)
{
    return host->accelerators == NULL ? 0 : host->accelerators->count;
}

const net_scale_up_config_t *net_scale_up_config(const net_node_t *host)
{
    return host->accelerators == NULL ? NULL : host->accelerators->config;
}
