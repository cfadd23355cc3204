// SPDX-License-Identifier: Apache-2.0
// apps/flows/channels.c - the channels of transfers: one for each transfer, or one for all between
// two interfaces that have the same priority (attribute `reuse`).
//
// A shared channel is opened with its first transfer and kept until the end of the run, so its
// rate, window and cache entries carry over. Transfers take turns in order of start: all messages
// of one are posted before those of the next, with at most `depth` outstanding. A transfer's time
// includes its wait. Both ends know the numbers of its queue pairs: an interface has one per peer
// and priority, first requesters, then responders.
//
// After an error a channel stays broken, and transfers started later on it fail at once, like on a
// queue pair that nobody resets.
#include "apps/flows/shared_channels.h"

#define RECEIVES_POSTED 16u

struct app__flow_channel {
    app__channel_t channel;    // first
    app__flow_channel_t *next; // shared channels of the source
    uint32_t destination;
    uint8_t priority; // of its transfers, may be APP__AS_THE_NIC
    bool shared;
};

uint64_t app__flow_channels_of(const app__plan_t *plan)
{
    return net_interface_count(plan->net) * APP__PRIORITIES;
}

void app__flow_channel_number(const app__plan_t *plan, app__transfer_t *transfer)
{
    const uint64_t place = app__priority_place(transfer->priority);
    const uint64_t active = transfer->destination * APP__PRIORITIES + place;
    const uint64_t passive =
        app__flow_channels_of(plan) + transfer->source * APP__PRIORITIES + place;
    transfer->source_qp = app__qp_number(plan->positions[transfer->source] + active);
    transfer->destination_qp = app__qp_number(plan->positions[transfer->destination] + passive);
}

app__pair_t app__plan_pair(const app__plan_t *plan, const app__transfer_t *transfer, uint64_t index)
{
    return (app__pair_t){
        .ends = {app__endpoint_of(plan->runtime, transfer->source),
                 app__endpoint_of(plan->runtime, transfer->destination)},
        .numbers = {transfer->source_qp, transfer->destination_qp},
        .type = app__plan_qp_type(plan),
        .access = NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ,
        .first_psn = app__plan_first_psn(plan, transfer, index),
        .mtu_bytes = app__plan_mtu_bytes(plan, transfer),
        .source_port = app__plan_udp_source_port(plan, transfer, index),
        .hashed_port = transfer->service_port,
        .priority = app__plan_priority(plan, transfer),
        .dscp = app__plan_dscp(plan, transfer),
    };
}

// -- the requester

app__channel_t *app__flow_channel(app__source_t *source, const app__transfer_t *transfer,
                                  uint64_t index, uint64_t pieces)
{
    const app__plan_t *const plan = source->plan;
    const bool shared = plan->shape.reuse;
    app__flow_channel_t *at = source->channels;
    while (at != NULL &&
           (at->destination != transfer->destination || at->priority != transfer->priority)) {
        at = at->next;
    }
    if (at != NULL) {
        return &at->channel;
    }
    at = sim_alloc(sizeof(*at));
    at->destination = transfer->destination;
    at->priority = transfer->priority;
    at->shared = shared;
    if (shared) {
        at->next = source->channels;
        source->channels = at;
    }
    const uint64_t depth = !shared && pieces < plan->shape.depth ? pieces : plan->shape.depth;
    const app__pair_t pair = app__plan_pair(plan, transfer, shared ? 0 : index);
    app__channel_open(&at->channel, &app__flow_channel_ops, &pair, (uint32_t)depth,
                      app__piece_bytes(plan, transfer));
    return &at->channel;
}

void app__flow_channel_idle(app__channel_t *channel)
{
    app__flow_channel_t *const own = SIM_CONTAINER_OF(channel, app__flow_channel_t, channel);
    if (!own->shared) {
        app__channel_close(channel);
        sim_free(own);
    }
}

void app__flow_channels_free(app__source_t *source)
{
    for (app__transfer_run_t *run = source->runs; run != NULL;) {
        app__transfer_run_t *const next = run->run_next;
        app__flow_channel_t *const own =
            SIM_CONTAINER_OF(run->message.channel, app__flow_channel_t, channel);
        if (!own->shared) {
            sim_free(own);
        }
        sim_free(run);
        run = next;
    }
    while (source->channels != NULL) {
        app__flow_channel_t *const next = source->channels->next;
        sim_free(source->channels);
        source->channels = next;
    }
}

// -- the responder of a shared channel

bool app__flow_channel_is_passive(const app__plan_t *plan, uint64_t offset)
{
    return offset >= app__flow_channels_of(plan);
}

static void post_receives(const app__passive_t *passive, uint32_t count)
{
    app__qp_receive(passive->qp, passive->endpoint, (uint64_t)(uintptr_t)passive, APP__PIECE_BYTES,
                    count);
}

void app__flow_channel_received(const app__passive_t *passive)
{
    post_receives(passive, 1);
}

void app__flow_channel_accept(const app__plan_t *plan, const app__endpoint_t *endpoint,
                              uint64_t offset, app__passive_t *passive)
{
    const uint64_t place = offset - app__flow_channels_of(plan);
    const uint64_t priority = place % APP__PRIORITIES;
    app__transfer_t transfer = {
        .source = (uint32_t)(place / APP__PRIORITIES),
        .destination = endpoint->interface,
        .priority = priority == APP__PRIORITIES - 1 ? APP__AS_THE_NIC : (uint8_t)priority,
        .dscp = plan->shape.dscp == SIM_AUTO ? APP__AS_THE_NIC : (uint8_t)plan->shape.dscp,
    };
    app__flow_channel_number(plan, &transfer);
    const uint32_t receives = plan->shape.verb == APP__VERB_SEND ? RECEIVES_POSTED : 0;
    const app__pair_t pair = app__plan_pair(plan, &transfer, 0);
    passive->qp = app__pair_make(&pair, APP__RESPONDER, 1, receives);
    post_receives(passive, receives);
}
