// SPDX-License-Identifier: Apache-2.0
// apps/workload/channels.c - the channels of a schedule: each carries the messages from one NIC to
// another, over a queue pair that stays, or within a host.
//
// A message is a WRITE, whose last piece has an immediate: what the message is, and the number of
// the send among its rank's operations. Both ends know a channel's numbers from the schedule. A
// channel is opened with its first message. docs/models/workload.md
#include "apps/workload/channels.h"
#include "apps/hosts.h"
#include "apps/workload/domains.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

#include <stdlib.h>

#define POSTED_MAX 64u // work requests of a channel that are posted and not completed

struct app__open_channel {
    app__channel_t channel; // first
    app__workload_t *workload;
    app__rank_channel_t *own;
};

// A message of a rank in progress.
typedef struct sending {
    app__message_t message; // first
    sim_link_t link;        // among the rank's spare ones
} sending_t;

// -- queue pairs

static uint32_t place_of(const app__workload_t *workload, uint32_t number)
{
    return number - workload->ports[workload->channels[number].source].out_first;
}

// Returns the place of a channel among those that come in at its destination.
static uint32_t incoming_place(const app__workload_t *workload, uint32_t number)
{
    const app__port_t *const port = &workload->ports[workload->channels[number].destination];
    uint32_t low = 0;
    uint32_t high = port->in_count;
    while (high - low > 1) { // the channels of a port stand in rising order
        const uint32_t middle = low + (high - low) / 2;
        if (workload->incoming[port->in_first + middle] <= number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    SIM_CHECK(workload->incoming[port->in_first + low] == number);
    return low;
}

static uint32_t number_of(const app__workload_t *workload, uint32_t number, bool passive)
{
    const app__rank_channel_t *const at = &workload->channels[number];
    const app__port_t *const port = &workload->ports[passive ? at->destination : at->source];
    const uint64_t offset = passive ? (uint64_t)port->out_count + incoming_place(workload, number)
                                    : place_of(workload, number);
    return app__qp_number(port->position + offset);
}

static app__pair_t pair_of(const app__workload_t *workload, uint32_t number)
{
    const app__rank_channel_t *const own = &workload->channels[number];
    return (app__pair_t){
        .ends = {workload->ports[own->source].endpoint, workload->ports[own->destination].endpoint},
        .numbers = {number_of(workload, number, false), number_of(workload, number, true)},
        .access = NIC_ACCESS_REMOTE_WRITE,
        .first_psn = (uint32_t)sim_mix64(workload->first_flow_id << 32 ^ number) & ROCE_PSN_MASK,
        .priority = APP__AS_THE_NIC,
    };
}

// -- sending

uint64_t app__word_bytes(const app__rank_t *source, uint32_t word)
{
    return word > APP__WORD_OP ? 0 : source->ops->ops[word].size; // a control message is empty
}

static void message_ended(app__channel_t *channel, app__message_t *message)
{
    const app__open_channel_t *const open = SIM_CONTAINER_OF(channel, app__open_channel_t, channel);
    app__rank_t *const rank = open->workload->ports[open->own->source].rank;
    const uint32_t word = message->word;
    const uint8_t status = message->status;
    sim_list_push_first(&rank->spare_messages,
                        &SIM_CONTAINER_OF(message, sending_t, message)->link);
    if (word <= APP__WORD_OP) {
        app__op_state_t *const state = &rank->states[word];
        state->status = status;
        state->end_ps = rank->node->now_ps;
        rank->failed += status != NIC_WC_SUCCESS;
        app__rank_acknowledged(rank, word);
    }
}

static void piece_released(app__channel_t *channel, uint64_t bytes)
{
    const app__open_channel_t *const open = SIM_CONTAINER_OF(channel, app__open_channel_t, channel);
    app__port_completed(&open->workload->ports[open->own->source], bytes);
}

static const app__channel_ops_t channel_ops = {
    .ended = message_ended,
    .released = piece_released,
    .posts_on = true,
};

static app__open_channel_t *open_channel(app__workload_t *workload, app__rank_channel_t *own)
{
    if (own->open == NULL) {
        const app__pair_t pair = pair_of(workload, (uint32_t)(own - workload->channels));
        own->open = sim_alloc(sizeof(*own->open));
        own->open->workload = workload;
        own->open->own = own;
        app__channel_open(&own->open->channel, &channel_ops, &pair, POSTED_MAX,
                          app__port_piece_bytes(&workload->options));
    }
    return own->open;
}

static app__message_t *make_message(app__rank_t *rank, uint32_t word)
{
    sending_t *sending = SIM_LIST_FIRST(&rank->spare_messages, sending_t, link);
    if (sending != NULL) {
        sim_list_remove(&rank->spare_messages, &sending->link);
    } else {
        sending = sim_alloc(sizeof(*sending));
    }
    app__message_init(&sending->message, app__word_bytes(rank, word), NIC_WR_RDMA_WRITE_WITH_IMM);
    sending->message.word = word;
    return &sending->message;
}

void app__rank_channel_send(app__workload_t *workload, uint32_t number, uint32_t word)
{
    app__rank_channel_t *const own = &workload->channels[number];
    app__open_channel_t *const open = open_channel(workload, own);
    app__channel_send(&open->channel, make_message(workload->ports[own->source].rank, word), 1);
}

app__message_t *app__rank_channel_begin(app__workload_t *workload, uint32_t number, uint32_t word)
{
    app__rank_channel_t *const own = &workload->channels[number];
    app__message_t *const message = make_message(workload->ports[own->source].rank, word);
    app__channel_begin(&open_channel(workload, own)->channel, message);
    return message;
}

static void local_arrived(sim_node_t *node, sim_timer_t *timer)
{
    app__coming_t *const coming = app__coming_of(timer);
    app__rank_t *const source = coming->from;
    app__rank_t *const destination = coming->to;
    const uint32_t word = coming->word;
    SIM_CHECK(destination->node == node);
    app__coming_end(&source->spare_comings, &source->comings, coming);
    if (word <= APP__WORD_OP) {
        source->states[word].end_ps = node->now_ps;
        app__rank_acknowledged(source, word);
    }
    source->workload->arrived(destination, source->number, word);
}

// Sends a message to another rank of the same host, over a link of its own that such messages take
// one after the other.
static void send_local(app__workload_t *workload, const app__rank_channel_t *own, uint32_t word)
{
    app__port_t *const port = &workload->ports[own->source];
    const app__port_t *const to = &workload->ports[own->destination];
    app__rank_t *const rank = port->rank;
    app__coming_t *const coming =
        app__coming_begin(&rank->spare_comings, &rank->comings, local_arrived);
    coming->from = rank;
    coming->to = to->rank;
    coming->word = word;
    const app__local_t way = {
        .link = &port->nvlink,
        .stream = &port->nvlink_sends,
        .to = to->nvlink.accelerator,
        .rate_bps = workload->options.local_bps,
        .width = 1,
        .delay_ps = workload->options.local_ps,
    };
    app__coming_pass(coming, &way, app__word_bytes(rank, word));
}

// -- the channel of two ports

static app__rank_channel_t *find_channel(const app__workload_t *workload, uint32_t source,
                                         uint32_t destination)
{
    const app__port_t *const port = &workload->ports[source];
    uint32_t low = port->out_first;
    uint32_t high = port->out_first + port->out_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (workload->channels[middle].destination <= destination) {
            low = middle;
        } else {
            high = middle;
        }
    }
    SIM_CHECK(workload->channels[low].destination == destination);
    return &workload->channels[low];
}

app__channel_ends_t app__rank_channel_ends(const app__workload_t *workload, uint32_t rank,
                                           uint32_t peer, uint32_t nic)
{
    const app__rank_t *const from = &workload->ranks[rank];
    const app__rank_t *const to = &workload->ranks[peer];
    const uint32_t source = app__port_to(from, to, nic);
    const uint32_t destination = app__port_to(to, from, nic);
    app__channel_ends_t ends = {
        .interfaces = {workload->ports[source].endpoint->interface,
                       workload->ports[destination].endpoint->interface},
    };
    if (from->node != to->node) {
        const uint32_t number =
            (uint32_t)(find_channel(workload, source, destination) - workload->channels);
        ends.numbers[0] = number_of(workload, number, false);
        ends.numbers[1] = number_of(workload, number, true);
        ends.source_port = nic_derived_source_port(ends.interfaces[0], ends.numbers[0],
                                                   ends.interfaces[1], ends.numbers[1]);
    }
    return ends;
}

bool app__rank_channel_path(const app__workload_t *workload, uint32_t rank, uint32_t peer,
                            uint32_t nic, net_path_t *path)
{
    const app__channel_ends_t ends = app__rank_channel_ends(workload, rank, peer, nic);
    const net_t *const net = workload->app.net;
    const uint32_t *const at = ends.interfaces;
    return ends.numbers[0] != 0 &&
           net_path_of(net, at[0], at[1],
                       net_flow_hash_with(net, at[0], at[1], ends.source_port, 0), path);
}

// Sends a message to a rank, over the NICs with a number.
static void send_to(app__rank_t *rank, uint32_t peer, uint8_t nic, uint32_t word)
{
    app__workload_t *const workload = rank->workload;
    const app__rank_t *const other = &workload->ranks[peer];
    const uint32_t source = app__port_to(rank, other, nic);
    const uint32_t destination = app__port_to(other, rank, nic);
    const app__rank_channel_t *const own = find_channel(workload, source, destination);
    if (workload->ranks[peer].node == rank->node) {
        send_local(workload, own, word);
    } else {
        app__port_send(&workload->ports[source], (uint32_t)(own - workload->channels), word);
    }
}

void app__rank_send(app__rank_t *rank, uint32_t op, uint32_t kind)
{
    const app__op_t *const at = &rank->ops->ops[op];
    send_to(rank, app__peer_of(rank->ops, at), at->nic, kind | op);
}

void app__rank_answer(app__rank_t *rank, uint32_t source, uint32_t op)
{
    const app__op_t *const at = &rank->workload->schedule->ranks[source].ops[op];
    send_to(rank, source, at->nic, APP__WORD_CLEAR_TO_SEND | op);
}

// -- receiving

static void post_receives(const app__passive_t *passive, uint32_t count)
{
    app__qp_receive(passive->qp, passive->endpoint, (uint64_t)(uintptr_t)passive, APP__NO_BUFFER,
                    count);
}

static sim_time_t passive_from_ps(const void *owner, uint32_t interface, uint64_t offset)
{
    const app__port_t *const port = owner;
    (void)interface;
    return offset < port->out_count || port->rank->workload->retired ? SIM_TIME_NEVER : 0;
}

static void accept_channel(void *owner, app__endpoint_t *endpoint, uint64_t offset,
                           app__passive_t *passive)
{
    const app__port_t *const port = owner;
    const app__workload_t *const workload = port->rank->workload;
    SIM_CHECK(endpoint == port->endpoint);
    passive->item = workload->incoming[port->in_first + (uint32_t)offset - port->out_count];
    const app__pair_t pair = pair_of(workload, passive->item);
    passive->qp = app__pair_make(&pair, APP__RESPONDER, 1, 2 * POSTED_MAX);
    post_receives(passive, 2 * POSTED_MAX);
}

static bool channel_finished(void *owner, const app__passive_t *passive)
{
    const app__port_t *const port = owner;
    return port->rank->workload->retired && nic_qp_quiet(passive->qp); // else they stay
}

// Hands over a message whose receiver learns of it when its sender does.
static void acknowledged(sim_node_t *node, sim_timer_t *timer)
{
    app__coming_t *const coming = app__coming_of(timer);
    app__port_t *const port = coming->to;
    const app__port_t *const from = coming->from;
    const uint32_t word = coming->word;
    SIM_CHECK(port->rank->node == node);
    app__coming_end(&port->rank->spare_comings, &port->rank->comings, coming);
    app__port_arrived(port, from->rank->number, word);
}

static void message_received(void *owner, app__endpoint_t *endpoint, app__passive_t *passive,
                             const nic_wc_t *wc)
{
    const app__port_t *const port = owner;
    app__workload_t *const workload = port->rank->workload;
    const app__rank_channel_t *const own = &workload->channels[passive->item];
    app__port_t *const to = &workload->ports[own->destination];
    app__port_t *const from = &workload->ports[own->source];
    (void)endpoint;
    post_receives(passive, 1);
    if (workload->options.collective.arrival == APP__ARRIVAL_DATA || wc->imm_data > APP__WORD_OP) {
        app__port_arrived(to, from->rank->number, wc->imm_data);
        return;
    }
    app__rank_t *const rank = to->rank;
    const sim_time_t ack_ps =
        app__ack_ps(workload->app.net, to->endpoint->interface, from->endpoint->interface);
    app__coming_t *const coming =
        app__coming_begin(&rank->spare_comings, &rank->comings, acknowledged);
    coming->from = from;
    coming->to = to;
    coming->word = wc->imm_data;
    sim_timer_arm(rank->node, &coming->timer, rank->node->now_ps + ack_ps);
}

const app__range_ops_t app__rank_channel_range_ops = {
    .passive_from_ps = passive_from_ps,
    .accept = accept_channel,
    .finished = channel_finished,
    .received = message_received,
};

bool app__rank_channels_quiet(const app__workload_t *workload)
{
    for (uint32_t i = 0; i < workload->channel_count; i++) {
        const app__open_channel_t *const open = workload->channels[i].open;
        if (open != NULL &&
            !(app__channel_is_idle(&open->channel) && nic_qp_quiet(open->channel.qp))) {
            return false;
        }
    }
    return true;
}

static void free_messages(sim_list_t *list)
{
    while (list->first != NULL) {
        sending_t *const sending = SIM_LIST_FIRST(list, sending_t, link);
        sim_list_remove(list, &sending->link);
        sim_free(sending);
    }
}

// Frees an open channel with its messages.
static void free_channel(app__open_channel_t *open)
{
    for (app__message_t *at = app__channel_take(&open->channel); at != NULL;
         at = app__channel_take(&open->channel)) {
        sim_free(SIM_CONTAINER_OF(at, sending_t, message));
    }
    sim_free(open);
}

void app__rank_channels_retire(app__workload_t *workload)
{
    for (uint32_t i = 0; i < workload->channel_count; i++) {
        app__open_channel_t *const open = workload->channels[i].open;
        if (open != NULL) {
            app__channel_close(&open->channel);
            free_channel(open);
            workload->channels[i].open = NULL;
        }
    }
}

void app__rank_channels_free(app__workload_t *workload)
{
    for (uint32_t i = 0; i < workload->channel_count; i++) {
        if (workload->channels[i].open != NULL) {
            free_channel(workload->channels[i].open);
        }
    }
    for (uint32_t r = 0; workload->ranks != NULL && r < workload->schedule->rank_count; r++) {
        free_messages(&workload->ranks[r].spare_messages);
        app__comings_free(&workload->ranks[r].comings);
        app__comings_free(&workload->ranks[r].spare_comings);
    }
    sim_free(workload->channels);
    sim_free(workload->incoming);
}

// -- making channels

static int compare_pairs(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t two = *(const uint64_t *)b;
    return one < two ? -1 : one > two;
}

// Returns the pairs of ports that messages go between, sorted, each once.
static uint64_t *pairs_of(const app__workload_t *workload, size_t *count)
{
    const app__schedule_t *const schedule = workload->schedule;
    uint64_t *const pairs = sim_alloc_array(2 * (size_t)schedule->counts.sends + 1, sizeof(*pairs));
    size_t all = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            const app__op_t *const op = &schedule->ranks[r].ops[i];
            if (op->type == APP__OP_SEND) {
                const app__rank_t *const own = &workload->ranks[r];
                const uint32_t number = app__peer_of(&schedule->ranks[r], op);
                const app__rank_t *const other = &workload->ranks[number];
                const uint64_t source = app__port_to(own, other, op->nic);
                const uint64_t peer = app__port_to(other, own, op->nic);
                pairs[all++] = source << 32 | peer;
                if (op->size > workload->options.loggp.eager_max_bytes) {
                    pairs[all++] = peer << 32 | source; // for the clear-to-send
                }
            }
        }
    }
    qsort(pairs, all, sizeof(*pairs), compare_pairs);
    *count = 0;
    for (size_t i = 0; i < all; i++) {
        if (*count == 0 || pairs[*count - 1] != pairs[i]) {
            pairs[(*count)++] = pairs[i];
        }
    }
    return pairs;
}

static void index_incoming(app__workload_t *workload)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < workload->channel_count; i++) {
        workload->ports[workload->channels[i].destination].in_count++;
    }
    for (uint32_t p = 0; p < workload->port_count; p++) {
        workload->ports[p].in_first = at;
        at += workload->ports[p].in_count;
        workload->ports[p].in_count = 0;
    }
    workload->incoming = sim_alloc_array((size_t)at + 1, sizeof(*workload->incoming));
    for (uint32_t i = 0; i < workload->channel_count; i++) {
        app__port_t *const port = &workload->ports[workload->channels[i].destination];
        workload->incoming[port->in_first + port->in_count++] = i;
    }
}

static sim_err_t check_channel(const app__workload_t *workload, const app__rank_channel_t *own,
                               sim_message_t *message)
{
    const app__port_t *const source = &workload->ports[own->source];
    const app__port_t *const destination = &workload->ports[own->destination];
    const uint32_t from = source->endpoint->interface;
    const uint32_t to = destination->endpoint->interface;
    if (source->rank->node == destination->rank->node ||
        app__can_talk(workload->app.net, from, to)) {
        return SIM_OK;
    }
    return app__cannot_talk(workload->app.net, from, to, "hosts", message);
}

sim_err_t app__rank_channels_create(app__workload_t *workload, sim_message_t *message)
{
    size_t count = 0;
    sim_err_t error = SIM_OK;
    uint64_t *const pairs = pairs_of(workload, &count);
    workload->channel_count = (uint32_t)count;
    workload->channels = sim_alloc_array(count + 1, sizeof(*workload->channels));
    for (size_t i = 0; i < count && error == SIM_OK; i++) {
        app__rank_channel_t *const own = &workload->channels[i];
        own->source = (uint32_t)(pairs[i] >> 32);
        own->destination = (uint32_t)pairs[i];
        app__port_t *const port = &workload->ports[own->source];
        port->out_first = port->out_count == 0 ? (uint32_t)i : port->out_first;
        port->out_count++;
        error = check_channel(workload, own, message);
    }
    sim_free(pairs);
    if (error != SIM_OK) {
        return error;
    }
    index_incoming(workload);
    for (uint32_t p = 0; p < workload->port_count; p++) {
        app__port_t *const port = &workload->ports[p];
        const uint64_t numbers = (uint64_t)port->out_count + port->in_count;
        if (numbers > 0) {
            port->position =
                app__reserve_qps(port->endpoint, &app__rank_channel_range_ops, port, numbers);
            app__register_buffers(port->endpoint);
        }
    }
    return SIM_OK;
}
