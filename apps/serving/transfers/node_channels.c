// SPDX-License-Identifier: Apache-2.0
// apps/serving/transfers/node_channels.c - RDMA WRITEs and READs between the NICs of nodes, for
// `transport: write` (docs/models/serving.md).
//
// Each pair of NICs has one reliable queue pair, over which both send, and whose numbers both know.
// A NIC makes its end when it has something to send, or when the first packet of the peer arrives.
// A queue pair that fails is not set up again: what is posted to it fails. If a node comes back
// after a loss of power, all its pairs begin anew with further queue pairs, whose numbers are those
// of the next generation.
#include "apps/serving/transfers/node_channels.h"

#include "apps/channel/channel.h"
#include "apps/serving/failures.h"

#define POSTED_MAX 128u
#define POLL_MAX 16u
#define GENERATIONS 16u // of queue pairs, where nodes come back
#define RECEIVES 1024u  // of a NIC, for immediate values

// Work requests that a caller waits for together.
typedef struct flow {
    app__message_t message; // first
    app__serving_flow_fn fn;
    void *ctx;
    uint64_t address;
    uint64_t peer_address;
    uint32_t lkey;
    uint32_t rkey;
} flow_t;

typedef struct pair {
    app__channel_t channel; // its qp is NULL: not open
    uint32_t generation;
} pair_t;

// A NIC of a node.
typedef struct card {
    app__serving_channels_t *all;
    const app__serving_node_t *node;
    app__endpoint_t *endpoint;
    nic_cq_t *noticed;   // of receives; NULL: the node has one host
    nic_srq_t *receives; // take immediate values
    uint64_t position;   // of its QP number for NIC 0
    uint32_t index;      // among the NICs of all nodes
    nic_mr_t *host;      // memory of the host
    pair_t *pairs;       // by NIC of all nodes
} card_t;

struct app__serving_channels {
    card_t *cards;
    uint32_t count;
    nic_mr_t **regions;   // by node and GPU
    uint32_t generations; // 1: no node comes back
};

// -- flows

static void fill(const app__message_t *message, uint64_t at, nic_send_wr_t *wr)
{
    const flow_t *const flow = (const flow_t *)(const void *)message;
    wr->sge.addr = flow->address + at;
    wr->sge.lkey = flow->lkey;
    wr->rdma.remote_addr = flow->peer_address + at;
    wr->rdma.rkey = flow->rkey;
}

static void ended(app__channel_t *channel, app__message_t *message)
{
    (void)channel;
    const flow_t flow = *(flow_t *)(void *)message;
    sim_free(message);
    flow.fn(flow.ctx, flow.message.status == NIC_WC_SUCCESS);
}

static const app__channel_ops_t channel_ops = {
    .ended = ended,
    .fill = fill,
    .own_memory = true,
    .posts_on = true,
    .posts_first = true,
};

static uint32_t number_of(const card_t *card, uint32_t peer, uint32_t generation)
{
    return app__qp_number(card->position + (uint64_t)peer * card->all->generations + generation);
}

// Returns the channel to a peer's NIC, which it opens on first use.
static app__channel_t *channel_to(card_t *card, uint32_t peer)
{
    pair_t *const pair = &card->pairs[peer];
    if (pair->channel.qp != NULL) {
        return &pair->channel;
    }
    const card_t *const other = &card->all->cards[peer];
    const bool inside = app__serving_same_instance(card->node, other->node);
    const app__queues_t queues = {.recv_cq = card->noticed, .srq = card->receives};
    nic_qp_t *const qp =
        app__qp_create(card->endpoint, NIC_QPT_RC, number_of(card, peer, pair->generation),
                       POSTED_MAX, 0, inside ? &queues : NULL);
    nic_qp_attr_t attr;
    nic_qp_attr_default(card->endpoint->nic, &attr);
    if (!inside && card->node->serving->config.priority != SIM_AUTO) {
        attr.priority = (uint8_t)card->node->serving->config.priority;
        attr.dscp = (uint8_t)(attr.priority * 8u);
    }
    attr.dest_interface = other->endpoint->interface;
    attr.dest_qp_num = number_of(other, card->index, pair->generation);
    app__qp_connect(qp, &attr);
    app__channel_attach(&pair->channel, &channel_ops, qp, card->endpoint, POSTED_MAX,
                        APP__PIECE_BYTES);
    return &pair->channel;
}

// -- immediate values

static void post_receive(const card_t *card)
{
    const nic_recv_wr_t wr = {.wr_id = 0};
    app__srq_post_receive(card->receives, &wr);
}

static void noticed(nic_cq_t *cq, void *ctx)
{
    const card_t *const card = ctx;
    app__serving_node_t *const node = &card->node->serving->nodes[card->node->index];
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            post_receive(card);
            if (wc[i].status == NIC_WC_SUCCESS && (wc[i].wc_flags & NIC_WC_WITH_IMM) != 0) {
                app__serving_noticed(node, wc[i].imm_data);
            }
        }
    }
}

// -- posting

static nic_mr_t *region_of(const app__serving_channels_t *channels, const app__serving_end_t *end)
{
    return end->place == APP__SERVING_HOST
               ? channels->cards[end->node->first_nic + end->nic].host
               : channels->regions[end->node->index * APP__SERVING_GPUS_MAX + end->place];
}

void app__serving_post_flow(const app__serving_end_t *from, const app__serving_end_t *to,
                            const app__serving_transfer_t *transfer, app__serving_flow_fn fn,
                            void *ctx)
{
    const app__serving_channels_t *const channels = from->node->serving->channels;
    card_t *const card = &channels->cards[from->node->first_nic + from->nic];
    app__channel_t *const channel = channel_to(card, to->node->first_nic + to->nic);
    flow_t *const flow = sim_alloc(sizeof(*flow));
    *flow = (flow_t){
        .fn = fn,
        .ctx = ctx,
        .address = app__serving_address(from->node, from->place) + transfer->offset,
        .peer_address = app__serving_address(to->node, to->place) + transfer->offset,
        .lkey = nic_mr_lkey(region_of(channels, from)),
        .rkey = nic_mr_rkey(region_of(channels, to)),
    };
    app__message_init(&flow->message, transfer->bytes,
                      transfer->reads        ? NIC_WR_RDMA_READ
                      : transfer->notice > 0 ? NIC_WR_RDMA_WRITE_WITH_IMM
                                             : NIC_WR_RDMA_WRITE);
    flow->message.word = transfer->notice > 0 ? (transfer->notice - 1) << 8 | to->place : 0;
    app__channel_send(channel, &flow->message, 1);
}

// -- further generations

// Closes a channel, and ends its flows if `fails`, or forgets them.
static void close_channel(app__channel_t *channel, bool fails)
{
    app__message_list_t left = {NULL, NULL};
    app__message_t *message = NULL;
    if (channel->qp != NULL) {
        app__channel_close(channel);
    }
    while ((message = app__channel_take(channel)) != NULL) {
        message->next = NULL;
        *(left.last == NULL ? &left.first : &left.last->next) = message;
        left.last = message;
    }
    while ((message = left.first) != NULL) {
        left.first = message->next;
        message->status = NIC_WC_WR_FLUSH_ERR;
        if (fails) {
            ended(channel, message);
        } else {
            sim_free(message);
        }
    }
}

// Sets a pair to a later generation. What was posted fails, or is forgotten by a node without
// power.
static void renew(const card_t *card, uint32_t peer, uint32_t generation)
{
    pair_t *const pair = &card->pairs[peer];
    if (generation > pair->generation && generation < card->all->generations) {
        pair->generation = generation;
        close_channel(&pair->channel, !card->node->lost);
    }
}

void app__serving_channels_renew(const app__serving_node_t *node, uint32_t peer)
{
    const app__serving_channels_t *const channels = node->serving->channels;
    const app__serving_node_t *const other = &node->serving->nodes[peer];
    for (uint32_t i = 0; channels != NULL && i < node->nics; i++) {
        for (uint32_t j = 0; j < other->nics; j++) {
            renew(&channels->cards[node->first_nic + i], other->first_nic + j,
                  node->restarts[node->index] + node->restarts[peer]);
        }
    }
}

// -- queue pairs that a peer's packet creates

static sim_time_t from_ps(const void *owner, uint32_t interface, uint64_t offset)
{
    (void)interface;
    const card_t *const card = owner;
    const pair_t *const pair = &card->pairs[offset / card->all->generations];
    const uint32_t generation = (uint32_t)(offset % card->all->generations);
    return card->node->lost || generation < pair->generation ? SIM_TIME_NEVER : 0;
}

static void accept(void *owner, app__endpoint_t *endpoint, uint64_t offset, app__passive_t *passive)
{
    (void)endpoint;
    card_t *const card = owner;
    const uint32_t peer = (uint32_t)(offset / card->all->generations);
    renew(card, peer, (uint32_t)(offset % card->all->generations));
    passive->qp = channel_to(card, peer)->qp;
}

// Returns false: the queue pair may still send.
static bool finished(void *owner, const app__passive_t *passive)
{
    (void)owner;
    (void)passive;
    return false;
}

static const app__range_ops_t range_ops = {
    .passive_from_ps = from_ps,
    .accept = accept,
    .finished = finished,
};

// -- creation

static nic_mr_t *expose(const card_t *card, uint64_t address, uint64_t bytes)
{
    nic_mr_t *region = NULL;
    const sim_err_t error = nic_mr_register(
        card->endpoint->pd, address, bytes,
        NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ, &region);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
    return region;
}

static void open_card(app__serving_t *serving, const app_context_t *context,
                      const app__serving_node_t *node, uint32_t nic)
{
    app__serving_channels_t *const channels = serving->channels;
    const uint32_t index = node->first_nic + nic;
    card_t *const card = &channels->cards[index];
    const uint32_t interface = nic_interface(nic_at(node->station->host, nic));
    *card = (card_t){
        .all = channels,
        .node = node,
        .endpoint = app__endpoint_of(context->runtime, interface),
        .index = index,
        .pairs = sim_alloc_array(channels->count, sizeof(pair_t)),
    };
    card->position = app__reserve_qps(card->endpoint, &range_ops, card,
                                      (uint64_t)channels->count * channels->generations);
    if (node->place.host_count > 1) {
        card->noticed = nic_cq_create(card->endpoint->nic, 1u << 20, noticed, card);
        card->receives = nic_srq_create(card->endpoint->pd, RECEIVES);
        for (uint32_t i = 0; i < RECEIVES; i++) {
            post_receive(card);
        }
    }
    for (uint32_t gpu = 0; gpu < node->place.gpus; gpu++) {
        if (app__serving_nic_of_gpu(node, gpu) == nic) {
            channels->regions[node->index * APP__SERVING_GPUS_MAX + gpu] =
                expose(card, app__serving_address(node, gpu), serving->stage_bytes);
        }
    }
    if (serving->storage_count > 0) {
        card->host = expose(card, app__serving_address(node, APP__SERVING_HOST),
                            serving->stage_bytes * serving->host_scale);
    }
}

void app__serving_channels_crash(const app__serving_node_t *node)
{
    const app__serving_channels_t *const channels = node->serving->channels;
    for (uint32_t i = 0; channels != NULL && i < node->nics; i++) {
        for (uint32_t peer = 0; peer < channels->count; peer++) {
            close_channel(&channels->cards[node->first_nic + i].pairs[peer].channel, false);
        }
    }
}

void app__serving_channels_create(app__serving_t *serving, const app_context_t *context)
{
    app__serving_channels_t *const channels = sim_alloc(sizeof(*channels));
    serving->channels = channels;
    const uint32_t nodes = serving->all_count;
    channels->count = serving->nic_count;
    channels->generations = app__serving_comes_back(serving) ? GENERATIONS : 1;
    channels->cards = sim_alloc_array(channels->count, sizeof(*channels->cards));
    channels->regions = sim_alloc_array((size_t)nodes * APP__SERVING_GPUS_MAX, sizeof(nic_mr_t *));
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint32_t i = 0; i < serving->nodes[n].nics; i++) {
            open_card(serving, context, &serving->nodes[n], i);
        }
    }
}

void app__serving_channels_destroy(app__serving_channels_t *channels)
{
    if (channels == NULL) {
        return;
    }
    for (uint32_t c = 0; c < channels->count; c++) {
        for (uint32_t i = 0; i < channels->count; i++) {
            app__message_t *message = NULL;
            while ((message = app__channel_take(&channels->cards[c].pairs[i].channel)) != NULL) {
                sim_free(message); // the end of the run has cut it short
            }
        }
        sim_free(channels->cards[c].pairs);
    }
    SIM_FREE_ALL(channels->cards, channels->regions, channels);
}
