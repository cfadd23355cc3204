// SPDX-License-Identifier: Apache-2.0
// apps/workload/connect.c - moves messages: over queue pairs that stay, or within a host.
//
// A message is a WRITE, whose last piece has an immediate: what the message is, and the number of
// the send among its rank's operations. Both ends know a queue pair's numbers from the schedule.
// The queue pair of a link is made with its first message. docs/models/workload.md
#include "apps/workload/internal.h"

#include <stdlib.h>

#define POSTED_MAX 64u // work requests of a link that are posted and not completed
#define PIECE_BYTES (UINT64_C(1) << 30)

// A message on its way between ranks of one host.
typedef struct local {
    app__passing_t passing;
    sim_timer_t timer;
    app__rank_t *source;
    app__rank_t *destination;
    uint32_t word;
} local_t;

static uint32_t source_number(const app__link_t *link)
{
    return link->workload->ports[link->source].rank->number;
}

// -- queue pairs

static uint32_t place_of(const app__workload_t *workload, uint32_t link)
{
    return link - workload->ports[workload->links[link].source].out_first;
}

// Returns the place of a link among those that come in at its destination.
static uint32_t incoming_place(const app__workload_t *workload, uint32_t link)
{
    const app__port_t *const port = &workload->ports[workload->links[link].destination];
    uint32_t low = 0;
    uint32_t high = port->in_count;
    while (high - low > 1) { // the links of a port stand in rising order
        const uint32_t middle = low + (high - low) / 2;
        if (workload->incoming[port->in_first + middle] <= link) {
            low = middle;
        } else {
            high = middle;
        }
    }
    SIM_CHECK(workload->incoming[port->in_first + low] == link);
    return low;
}

static uint32_t number_of(const app__workload_t *workload, uint32_t link, bool passive)
{
    const app__link_t *const at = &workload->links[link];
    const app__port_t *const port = &workload->ports[passive ? at->destination : at->source];
    const uint64_t offset = passive ? (uint64_t)port->out_count + incoming_place(workload, link)
                                    : place_of(workload, link);
    return app__qp_number(port->position + offset);
}

static nic_qp_t *make_qp(app__workload_t *workload, uint32_t link, bool passive, void *ctx)
{
    const app__link_t *const at = &workload->links[link];
    const app__port_t *const own = &workload->ports[passive ? at->destination : at->source];
    const app__port_t *const peer = &workload->ports[passive ? at->source : at->destination];
    const nic_qp_init_attr_t init = {
        .qp_type = NIC_QPT_RC,
        .send_cq = own->endpoint->send_cq,
        .recv_cq = own->endpoint->recv_cq,
        .max_send_wr = passive ? 1 : POSTED_MAX,
        .max_recv_wr = passive ? 2 * POSTED_MAX : 0,
        .qp_num = number_of(workload, link, passive),
        .ctx = ctx,
    };
    nic_qp_t *qp = NULL;
    nic_qp_attr_t attr;
    sim_message_t message = {.text = ""};
    sim_err_t error = nic_qp_create(own->endpoint->pd, &init, &qp);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", init.qp_num, sim_err_text(error));
    nic_qp_attr_default(own->endpoint->nic, &attr);
    attr.dest_interface = peer->endpoint->interface;
    attr.dest_qp_num = number_of(workload, link, !passive);
    attr.sq_psn = (uint32_t)sim_mix64(workload->first_flow_id << 32 ^ link) & ROCE_PSN_MASK;
    attr.rq_psn = attr.sq_psn;
    attr.access = NIC_ACCESS_REMOTE_WRITE;
    error = nic_qp_connect(qp, &attr, &message);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", init.qp_num, message.text);
    return qp;
}

// -- sending

uint64_t app__word_bytes(const app__rank_t *source, uint32_t word)
{
    return word > APP__WORD_OP ? 0 : source->ops->ops[word].size; // a control message is empty
}

bool app__link_post(app__link_t *link, uint32_t word, uint64_t bytes, bool last)
{
    app__workload_t *const workload = link->workload;
    app__port_t *const port = &workload->ports[link->source];
    const uint32_t number = (uint32_t)(link - workload->links);
    const uint32_t own = number_of(workload, number, false);
    const uint32_t peer = number_of(workload, number, true);
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)link,
        .opcode = last ? NIC_WR_RDMA_WRITE_WITH_IMM : NIC_WR_RDMA_WRITE,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {app__address_of_qp(own), bytes, app__buffer_key(port->endpoint, own)},
        .imm_data = word,
        .rdma = {app__address_of_qp(peer),
                 app__buffer_key(workload->ports[link->destination].endpoint, peer)},
    };
    if (link->outstanding.count >= POSTED_MAX) {
        return false;
    }
    if (link->qp == NULL) {
        link->qp = make_qp(workload, number, false, link);
    }
    const sim_err_t error = nic_post_send(link->qp, &wr);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", own, sim_err_text(error));
    app__fifo_put(&link->outstanding, (app__item_t){{bytes}, word, last});
    return true;
}

static void post_waiting(app__link_t *link)
{
    while (link->waiting.count > 0) {
        const app__item_t message = app__fifo_first(&link->waiting);
        const uint64_t left = message.bytes - link->posted;
        const uint64_t bytes = SIM_MIN(left, PIECE_BYTES);
        if (!app__link_post(link, message.word, bytes, bytes == left)) {
            return;
        }
        link->posted += bytes;
        if (bytes == left) {
            link->posted = 0;
            (void)app__fifo_take(&link->waiting);
        }
    }
}

void app__link_put(app__link_t *link, uint32_t word)
{
    const app__rank_t *const rank = link->workload->ports[link->source].rank;
    app__fifo_put(&link->waiting, (app__item_t){{app__word_bytes(rank, word)}, word, 0});
    post_waiting(link);
}

// Notes the completion of a piece of a send's data.
static void data_completed(app__rank_t *rank, const app__item_t *piece, const nic_wc_t *wc)
{
    app__op_state_t *const state = &rank->states[piece->word];
    if (wc->status != NIC_WC_SUCCESS && state->status == NIC_WC_SUCCESS) {
        state->status = (uint8_t)wc->status;
    }
    if (piece->about != 0) {
        state->end_ps = rank->node->now_ps;
        rank->failed += state->status != NIC_WC_SUCCESS;
        app__rank_acknowledged(rank, piece->word);
    }
}

static void send_completed(const nic_wc_t *wc)
{
    app__link_t *const link = (app__link_t *)(uintptr_t)wc->wr_id;
    app__port_t *const port = &link->workload->ports[link->source];
    SIM_CHECK(link->outstanding.count > 0);
    const app__item_t piece = app__fifo_take(&link->outstanding);
    if (piece.word <= APP__WORD_OP) {
        data_completed(port->rank, &piece, wc);
    }
    post_waiting(link);
    app__port_completed(port, piece.bytes);
}

static void local_arrived(sim_node_t *node, sim_timer_t *timer)
{
    local_t *const local = SIM_CONTAINER_OF(timer, local_t, timer);
    SIM_CHECK(local->destination->node == node);
    app__rank_t *const source = local->source;
    if (local->word <= APP__WORD_OP) {
        source->states[local->word].end_ps = node->now_ps;
        app__rank_acknowledged(source, local->word);
    }
    source->workload->arrived(local->destination, source->number, local->word);
    sim_free(local);
}

// Lets a message that has passed the link of its sender arrive.
static void local_passed(app__passing_t *passing, sim_node_t *node)
{
    local_t *const local = SIM_CONTAINER_OF(passing, local_t, passing);
    sim_timer_arm(node, &local->timer, node->now_ps + local->source->workload->options.local_ps);
}

// Sends a message to another rank of the same host, over a link of its own that such messages take
// one after the other.
static void send_local(app__link_t *link, uint32_t word)
{
    app__workload_t *const workload = link->workload;
    app__port_t *const port = &workload->ports[link->source];
    const uint64_t bytes = app__word_bytes(port->rank, word);
    local_t *const local = sim_alloc(sizeof(*local));
    *local = (local_t){
        .passing = {.alone_ps = (sim_time_t)((double)bytes * 8 * 1e12 /
                                             (double)workload->options.local_bps),
                    .width = 1,
                    .passed = local_passed},
        .source = port->rank,
        .destination = workload->ports[link->destination].rank,
        .word = word,
    };
    sim_timer_init(&local->timer, local_arrived);
    app__nvlink_put(&port->nvlink, &port->nvlink_sends, &local->passing);
}

// -- links

static app__link_t *find_link(const app__workload_t *workload, uint32_t source,
                              uint32_t destination)
{
    const app__port_t *const port = &workload->ports[source];
    uint32_t low = port->out_first;
    uint32_t high = port->out_first + port->out_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (workload->links[middle].destination <= destination) {
            low = middle;
        } else {
            high = middle;
        }
    }
    SIM_CHECK(workload->links[low].destination == destination);
    return &workload->links[low];
}

bool app__link_path(const app__workload_t *workload, uint32_t rank, uint32_t peer, uint32_t nic,
                    net_path_t *path)
{
    const app__rank_t *const from = &workload->ranks[rank];
    const app__rank_t *const to = &workload->ranks[peer];
    const uint32_t source = app__port_to(from, to, nic);
    const uint32_t destination = app__port_to(to, from, nic);
    const net_t *const net = workload->app.net;
    if (from->node == to->node || source == APP__NO_PORT || destination == APP__NO_PORT) {
        return false;
    }
    const uint32_t link = (uint32_t)(find_link(workload, source, destination) - workload->links);
    const uint32_t interface = workload->ports[source].endpoint->interface;
    const uint32_t other = workload->ports[destination].endpoint->interface;
    const uint16_t port = nic_derived_source_port(interface, number_of(workload, link, false),
                                                  other, number_of(workload, link, true));
    return net_path_of(net, interface, other, net_flow_hash_with(net, interface, other, port, 0),
                       path);
}

// Sends a message to a rank, over the NICs with a number.
static void send_to(app__rank_t *rank, uint32_t peer, uint8_t nic, uint32_t word)
{
    app__workload_t *const workload = rank->workload;
    const app__rank_t *const other = &workload->ranks[peer];
    const uint32_t source = app__port_to(rank, other, nic);
    const uint32_t destination = app__port_to(other, rank, nic);
    app__link_t *const link = find_link(workload, source, destination);
    if (workload->ranks[peer].node == rank->node) {
        send_local(link, word);
    } else {
        app__port_send(&workload->ports[source], link, word);
    }
}

void app__links_send(app__rank_t *rank, uint32_t op, uint32_t kind)
{
    const app__op_t *const at = &rank->ops->ops[op];
    send_to(rank, app__peer_of(rank->ops, at), at->nic, kind | op);
}

void app__links_answer(app__rank_t *rank, uint32_t source, uint32_t op)
{
    const app__op_t *const at = &rank->workload->schedule->ranks[source].ops[op];
    send_to(rank, source, at->nic, APP__WORD_CLEAR_TO_SEND | op);
}

// -- receiving

static void post_receive(const app__passive_t *passive)
{
    const nic_recv_wr_t wr = {.wr_id = (uint64_t)(uintptr_t)passive};
    const sim_err_t error = nic_post_recv(passive->qp, &wr);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", nic_qp_num(passive->qp), sim_err_text(error));
}

static sim_time_t passive_from_ps(const void *owner, uint32_t interface, uint64_t offset)
{
    const app__port_t *const port = owner;
    (void)interface;
    return offset < port->out_count || port->rank->workload->retired ? SIM_TIME_NEVER : 0;
}

static void accept_link(void *owner, app__endpoint_t *endpoint, uint64_t offset,
                        app__passive_t *passive)
{
    const app__port_t *const port = owner;
    app__workload_t *const workload = port->rank->workload;
    SIM_CHECK(endpoint == port->endpoint);
    const uint32_t link = workload->incoming[port->in_first + (uint32_t)offset - port->out_count];
    passive->item = link;
    passive->qp = make_qp(workload, link, true, passive);
    for (uint32_t i = 0; i < 2 * POSTED_MAX; i++) {
        post_receive(passive);
    }
}

static bool link_finished(void *owner, const app__passive_t *passive)
{
    const app__port_t *const port = owner;
    return port->rank->workload->retired && nic_qp_quiet(passive->qp); // else they stay
}

// A message whose receiver learns of it when its sender does.
typedef struct later {
    sim_timer_t timer;
    app__port_t *port;
    uint32_t source;
    uint32_t word;
} later_t;

static void acknowledged(sim_node_t *node, sim_timer_t *timer)
{
    later_t *const later = SIM_CONTAINER_OF(timer, later_t, timer);
    SIM_CHECK(later->port->rank->node == node);
    app__port_arrived(later->port, later->source, later->word);
    sim_free(later);
}

static void message_received(void *owner, app__endpoint_t *endpoint, app__passive_t *passive,
                             const nic_wc_t *wc)
{
    const app__port_t *const port = owner;
    app__workload_t *const workload = port->rank->workload;
    const app__link_t *const link = &workload->links[passive->item];
    app__port_t *const to = &workload->ports[link->destination];
    (void)endpoint;
    post_receive(passive);
    if (workload->options.collective.arrival == APP__ARRIVAL_DATA || wc->imm_data > APP__WORD_OP) {
        app__port_arrived(to, source_number(link), wc->imm_data);
        return;
    }
    const sim_time_t ack_ps = app__ack_ps(workload->app.net, to->endpoint->interface,
                                          workload->ports[link->source].endpoint->interface);
    later_t *const later = sim_alloc(sizeof(*later));
    *later = (later_t){.port = to, .source = source_number(link), .word = wc->imm_data};
    sim_timer_init(&later->timer, acknowledged);
    sim_timer_arm(to->rank->node, &later->timer, to->rank->node->now_ps + ack_ps);
}

const app__range_ops_t app__link_range_ops = {
    .passive_from_ps = passive_from_ps,
    .accept = accept_link,
    .finished = link_finished,
    .received = message_received,
    .completed = send_completed,
};

bool app__links_quiet(const app__workload_t *workload)
{
    for (uint32_t i = 0; i < workload->link_count; i++) {
        const app__link_t *const link = &workload->links[i];
        if (link->waiting.count > 0 || link->outstanding.count > 0 ||
            (link->qp != NULL && !nic_qp_quiet(link->qp))) {
            return false;
        }
    }
    return true;
}

void app__links_retire(app__workload_t *workload)
{
    for (uint32_t i = 0; i < workload->link_count; i++) {
        if (workload->links[i].qp != NULL) {
            nic_qp_destroy(workload->links[i].qp);
            workload->links[i].qp = NULL;
        }
    }
}

// -- making links

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
    for (uint32_t i = 0; i < workload->link_count; i++) {
        workload->ports[workload->links[i].destination].in_count++;
    }
    for (uint32_t p = 0; p < workload->port_count; p++) {
        workload->ports[p].in_first = at;
        at += workload->ports[p].in_count;
        workload->ports[p].in_count = 0;
    }
    workload->incoming = sim_alloc_array((size_t)at + 1, sizeof(*workload->incoming));
    for (uint32_t i = 0; i < workload->link_count; i++) {
        app__port_t *const port = &workload->ports[workload->links[i].destination];
        workload->incoming[port->in_first + port->in_count++] = i;
    }
}

static sim_err_t check_link(const app__workload_t *workload, const app__link_t *link,
                            sim_message_t *message)
{
    const app__port_t *const source = &workload->ports[link->source];
    const app__port_t *const destination = &workload->ports[link->destination];
    const uint32_t from = source->endpoint->interface;
    const uint32_t to = destination->endpoint->interface;
    if (source->rank->node == destination->rank->node ||
        app__can_talk(workload->app.net, from, to)) {
        return SIM_OK;
    }
    return app__cannot_talk(workload->app.net, from, to, "hosts", message);
}

sim_err_t app__links_create(app__workload_t *workload, sim_message_t *message)
{
    size_t count = 0;
    sim_err_t error = SIM_OK;
    uint64_t *const pairs = pairs_of(workload, &count);
    workload->link_count = (uint32_t)count;
    workload->links = sim_alloc_array(count + 1, sizeof(*workload->links));
    for (size_t i = 0; i < count && error == SIM_OK; i++) {
        app__link_t *const link = &workload->links[i];
        link->active.ops = &app__link_range_ops;
        link->workload = workload;
        link->source = (uint32_t)(pairs[i] >> 32);
        link->destination = (uint32_t)pairs[i];
        app__port_t *const port = &workload->ports[link->source];
        port->out_first = port->out_count == 0 ? (uint32_t)i : port->out_first;
        port->out_count++;
        error = check_link(workload, link, message);
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
            port->position = app__reserve_qps(port->endpoint, &app__link_range_ops, port, numbers);
            app__register_buffers(port->endpoint);
        }
    }
    return SIM_OK;
}
