// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/queue_pairs.c - queue pairs of channels: how they begin and end.
//
// Both ends compute their numbers from the group: each member has a range of numbers, by direction,
// lane, peer and slot. docs/models/collectives.md
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/member.h"
#include "apps/workload/collective/member_channels.h"
#include "apps/workload/domains.h"
#include "apps/workload/places.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

#define CTS_MAX 64u // posted at one time
#define COUNTED_PORT_FIRST 10000u

// -- places and numbers

void app__member_channel_ports(const app__member_t *own, const app__member_t *peer, uint32_t lane,
                               uint32_t number, const app__port_t **own_port,
                               const app__port_t **peer_port)
{
    const app__collectives_t *const all = own->all;
    // An all-to-all has one lane, so that its pairs of GPUs take turns at the NVSwitches.
    const bool inside = own->rank->domain != NULL && own->rank->domain == peer->rank->domain;
    const uint32_t turn = lane + (all->options.queue_pairs == APP__QPS_PER_MESSAGE ? number : 0) +
                          (inside ? own->number + peer->number : 0);
    *own_port = &all->workload->ports[app__port_to(own->rank, peer->rank, turn)];
    *peer_port = &all->workload->ports[app__port_to(peer->rank, own->rank, turn)];
}

static uint64_t numbers_of(const app__collectives_t *all, uint32_t group)
{
    return (uint64_t)all->groups[group].layout.ranks * all->groups[group].lanes * all->slots;
}

static uint32_t qp_number(const app__member_t *member, const app__port_t *port, uint32_t peer,
                          uint32_t lane, bool incoming, uint32_t slot)
{
    const app__collectives_t *const all = member->all;
    const uint64_t ranks = all->groups[member->group].layout.ranks;
    const uint64_t offset = (lane * ranks + peer) * all->slots + slot;
    const uint32_t place = (uint32_t)(port - &all->workload->ports[member->rank->port_first]);
    return app__qp_number(member->position[place] + offset +
                          (incoming ? numbers_of(all, member->group) : 0));
}

app__ends_t app__member_channel_ends(const app__member_channel_t *channel, uint32_t message)
{
    const app__member_t *const own = channel->member;
    const app__member_t *const peer = app__member_channel_peer(channel);
    const uint32_t slot = message % own->all->slots;
    app__ends_t ends;
    app__member_channel_ports(own, peer, channel->lane, message, &ends.own, &ends.peer);
    ends.own_number =
        qp_number(own, ends.own, channel->peer, channel->lane, channel->incoming, slot);
    ends.peer_number =
        qp_number(peer, ends.peer, own->number, channel->lane, !channel->incoming, slot);
    return ends;
}

// -- queue pairs

void app__member_channel_post_receive(app__member_channel_t *channel, nic_qp_t *qp,
                                      uint32_t message)
{
    const uint64_t wr_id = (uint64_t)(uintptr_t)&channel->passive;
    if (app__member_channel_has_cts(channel)) {
        app__qp_receive(qp, NULL, wr_id, APP__NO_BUFFER, 1);
    } else {
        app__qp_receive(qp, app__member_channel_ends(channel, message).own->endpoint, wr_id,
                        app__address_of_qp(1), 1);
    }
}

// Returns the UDP source port of a message's queue pair; 0: by its numbers. Both ends return one.
static uint16_t port_number(const app__member_channel_t *channel, const app__ends_t *ends,
                            uint32_t message)
{
    if (channel->member->all->options.source_ports == APP__PORTS_COUNTED) {
        return (uint16_t)(COUNTED_PORT_FIRST + message % (0x10000u - COUNTED_PORT_FIRST));
    }
    if (app__member_channel_permanent(channel)) {
        return 0;
    }
    const uint64_t first = channel->incoming ? ends->peer_number : ends->own_number;
    return (uint16_t)(0xc000u | (sim_mix64(first << 32 | message) & 0x3fffu));
}

static nic_qp_t *make_qp(app__member_channel_t *channel, uint32_t message)
{
    const app__collectives_t *const all = channel->member->all;
    const app__ends_t ends = app__member_channel_ends(channel, message);
    const app__side_of_pair_t own = channel->incoming ? APP__RESPONDER : APP__REQUESTER;
    const app__side_of_pair_t peer = channel->incoming ? APP__REQUESTER : APP__RESPONDER;
    app__pair_t pair = {
        .access = NIC_ACCESS_REMOTE_WRITE,
        .source_port = port_number(channel, &ends, message),
        .priority = APP__AS_THE_NIC,
    };
    pair.ends[own] = ends.own->endpoint;
    pair.ends[peer] = ends.peer->endpoint;
    pair.numbers[own] = ends.own_number;
    pair.numbers[peer] = ends.peer_number;
    pair.first_psn = (uint32_t)sim_mix64((uint64_t)pair.numbers[APP__REQUESTER] << 32 ^ message ^
                                         all->workload->first_flow_id << 8) &
                     ROCE_PSN_MASK;
    nic_qp_t *const qp = app__pair_make(&pair, own, channel->incoming ? CTS_MAX : 2 * CTS_MAX,
                                        channel->incoming ? CTS_MAX : 0);
    if (channel->incoming) {
        channel->passive.qp = qp;
        channel->passive.ops = &app__member_channel_range_ops;
        channel->passive.owner = channel->member;
        nic_qp_on_write(qp, app__member_channel_write_arrived, channel);
    } else {
        nic_qp_on_write(qp, app__member_channel_cts_arrived, channel);
    }
    return qp;
}

// Returns the queue pair of a message, making it if there is none yet.
nic_qp_t *app__member_channel_qp(app__member_channel_t *channel, uint32_t message)
{
    SIM_CHECK(channel->slots != NULL);
    app__slot_t *const slot = &channel->slots[message % channel->member->all->slots];
    if (slot->qp == NULL) {
        const bool counts = app__member_channel_permanent(channel);
        slot->qp = make_qp(channel, counts ? message % channel->member->all->slots : message);
        // Without a clear-to-send, receives stand ready; with one, it brings them.
        const uint32_t ready = app__member_channel_has_cts(channel) ? 0
                               : counts ? 2 * APP__MEMBER_CHANNEL_POSTED_MAX
                                        : 1;
        for (uint32_t i = 0; channel->incoming && i < ready; i++) {
            app__member_channel_post_receive(channel, slot->qp, message);
        }
    }
    return slot->qp;
}

void app__member_channel_end_qp(app__member_channel_t *channel, uint32_t message)
{
    app__slot_t *const slot = &channel->slots[message % channel->member->all->slots];
    if (slot->qp != NULL) {
        nic_qp_destroy(slot->qp);
    }
    if (slot->accepted != NULL) {
        slot->accepted->qp = NULL;
    }
    *slot = (app__slot_t){.qp = NULL};
}

void app__member_channels_retire(app__member_t *member)
{
    for (app__member_channel_t *channel =
             SIM_LIST_FIRST(&member->channels, app__member_channel_t, link);
         channel != NULL; channel = SIM_LIST_NEXT(channel, app__member_channel_t, link)) {
        for (uint32_t s = 0; channel->slots != NULL && s < member->all->slots; s++) {
            app__member_channel_end_qp(channel, s);
        }
    }
    app__member_channels_fini(member);
}

// -- queue pairs that packets make

sim_time_t app__member_channel_passive_from_ps(const void *owner, uint32_t interface,
                                               uint64_t offset)
{
    const app__member_t *const member = owner;
    (void)interface;
    (void)offset;
    return member->all->workload->retired ? SIM_TIME_NEVER : 0;
}

void app__member_channel_accept(void *owner, app__endpoint_t *endpoint, uint64_t offset,
                                app__passive_t *passive)
{
    app__member_t *const member = owner;
    const app__collectives_t *const all = member->all;
    const uint64_t numbers = numbers_of(all, member->group);
    const uint32_t ranks = all->groups[member->group].layout.ranks;
    const uint64_t at = offset % numbers;
    const uint32_t slot = (uint32_t)(at % all->slots);
    const uint64_t pair = at / all->slots;
    app__member_channel_t *const channel = app__member_channel(
        member, (uint32_t)(pair % ranks), (uint32_t)(pair / ranks), offset >= numbers);
    SIM_CHECK(endpoint->node == member->rank->node);
    // The message of the slot is the first one that has it and has not ended.
    const uint32_t from = channel->incoming ? channel->closed : channel->acked.next;
    const uint32_t message = from + (slot + all->slots - from % all->slots) % all->slots;
    passive->qp = app__member_channel_qp(channel, message);
    channel->slots[slot].accepted = passive;
}

bool app__member_channel_is_finished(void *owner, const app__passive_t *passive)
{
    (void)owner;
    return passive->qp == NULL;
}

void app__member_channels_reserve(app__collectives_t *all)
{
    const app__schedule_t *const schedule = all->workload->schedule;
    all->slots = all->options.queue_pairs == APP__QPS_PERMANENT ? (uint32_t)all->options.pairs
                                                                : APP__MEMBER_CHANNEL_SLOTS;
    for (uint32_t g = 0; g < schedule->group_count; g++) {
        const uint64_t numbers = 2 * numbers_of(all, g);
        for (uint32_t i = 0; numbers > 0 && i < schedule->groups[g].count; i++) {
            app__member_t *const member = &all->groups[g].members[i];
            const app__port_t *const ports = &all->workload->ports[member->rank->port_first];
            for (uint32_t p = 0; p < member->rank->port_count; p++) {
                member->position[p] = app__reserve_qps(
                    ports[p].endpoint, &app__member_channel_range_ops, member, numbers);
                app__register_buffers(ports[p].endpoint);
            }
        }
    }
}
