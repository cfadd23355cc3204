// SPDX-License-Identifier: Apache-2.0
// nic/fast_forward/rails.c - rails that follow the first one.
#include "nic/rails.h"

#include <string.h>

#include "kernel/timer.h"
#include "net/fast_forward.h"
#include "net/nodes.h"
#include "net/port.h"
#include "net/ports.h"
#include "nic/fast_forward.h"
#include "nic/objects/calls.h"
#include "nic/objects/numbers.h"
#include "nic/objects/rail.h"
#include "nic/objects/wqe.h"
#include "nic/transport/finish.h"

// Nodes with shorter links may run together, in windows that are longer than the way of a message.
#define DELAY_LEAST_PS (100 * SIM_PS_PER_NS)

struct nic_rails {
    net_t *net;
    net_node_t **leaves; // by node: the switch of the first rail that this one is like
    net_node_t **others; // by node and rail: the switch of that rail that is like this one
    uint32_t count;      // of rails
    uint32_t windows;
    bool *posted;     // by node
    sim_state_t rare; // of ports of the first rail
    char *start;
    const char *apart;
};

// -- what happens at queue pairs

static void differ(const nic_t *nic, const char *why)
{
    nic->rail->apart = nic->rail->apart == NULL ? why : nic->rail->apart;
    *nic->rail->posted = true;
}

static bool stays_on_rail(const nic_t *nic, const net_port_t *other)
{
    return other->index == nic->port->index && other->peer->node == nic->port->peer->node;
}

void nic__rail_posted(nic_qp_t *qp)
{
    nic_t *const nic = qp->nic;
    struct nic_rail *const rail = nic->rail;
    const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_posted - 1);
    const net_port_t *const other =
        qp->type == NIC_QPT_RC ? net_interface_port(nic->host->node.net, qp->path.destination)
                               : nic->port;
    if (qp->type != NIC_QPT_RC || nic__is_fetch(wqe->opcode) || !stays_on_rail(nic, other)) {
        differ(nic, "messages between rails");
    }
    *rail->posted = true;
    SIM_APPEND(rail->posts, rail->post_count, rail->post_capacity,
               ((nic_rail_post_t){.time_ps = nic__node(nic)->now_ps,
                                  .remote_address = wqe->remote_address,
                                  .qp = qp->number,
                                  .host = other->node->sim.index,
                                  .length = wqe->length,
                                  .immediate = wqe->immediate,
                                  .rkey = wqe->rkey,
                                  .what = (uint32_t)wqe->opcode << 16 | wqe->flags}));
}

// Returns how many NICs follow one. None follows while the run is about to end: a program must not
// hear of a message that it has not sent.
static uint32_t followers(const nic_t *nic)
{
    return *nic->rail->over == NULL ? nic->rail->count : 0;
}

void nic__rail_accepted(nic_t *nic, uint32_t qp_num)
{
    for (uint32_t i = 0; i < followers(nic); i++) {
        nic_t *const follower = &nic->rail->followers[i];
        if (nic__find_qp(follower, qp_num) == NULL &&
            (follower->accept == NULL ||
             follower->accept(follower, qp_num, follower->accept_ctx) == NULL)) {
            differ(nic, "queue pairs of rails");
        }
    }
}

// Returns the queue pair of a NIC that follows, if it has work; NULL: it does something else.
static nic_qp_t *twin(const nic_t *nic, uint32_t index, const nic_qp_t *qp, bool works)
{
    nic_qp_t *const found = nic__find_qp(&nic->rail->followers[index], qp->number);
    if (found == NULL || !works) {
        differ(nic, "queue pairs of rails");
    }
    return works ? found : NULL;
}

void nic__rail_sent(nic_qp_t *qp, nic_wc_status_t status)
{
    const nic_t *const nic = qp->nic;
    for (uint32_t i = 0; i < followers(nic); i++) {
        nic_qp_t *const other = twin(nic, i, qp, status == NIC_WC_SUCCESS);
        if (other == NULL || other->sq_done == other->sq_posted) {
            differ(nic, "queue pairs of rails");
            continue;
        }
        const nic_wqe_t wqe = *nic__wqe(other, other->sq_done);
        other->sq_done++;
        nic__complete_send(other, &wqe, status);
    }
}

void nic__rail_received(nic_qp_t *qp, const nic_wc_t *wc)
{
    const nic_t *const nic = qp->nic;
    for (uint32_t i = 0; i < followers(nic); i++) {
        nic_qp_t *const other = twin(nic, i, qp, true);
        if (other == NULL || other->rq_done == other->rq_posted) {
            differ(nic, "queue pairs of rails");
            continue;
        }
        nic_wc_t own = *wc;
        own.wr_id = other->rq[other->rq_done & (other->rq_capacity - 1)].wr_id;
        own.qp_num = other->number;
        other->rq_done++;
        nic__write_cqe(other, other->recv_cq, &own);
    }
}

void nic__rail_written(nic_qp_t *qp)
{
    const nic_t *const nic = qp->nic;
    for (uint32_t i = 0; i < followers(nic); i++) {
        nic_qp_t *const other = twin(nic, i, qp, true);
        if (other != NULL && other->on_write != NULL) {
            nic__notice(
                nic->host,
                &(nic_notice_t){.qp = other, .address = qp->rx_address, .bytes = qp->rx_bytes});
        }
    }
}

// -- comparing

static bool is_host(const net_node_t *node)
{
    return node->kind == NET_NODE_HOST;
}

// Returns why the NICs of a host have done different things since the last time; NULL: they have
// not. Called after each window, which is shorter than the way of a message.
static const char *compare_host(const net_node_t *node, uint32_t count)
{
    const char *why = NULL;
    const struct nic_rail *const first = nic_at(node, 0)->rail;
    for (uint32_t n = 0; n < count; n++) {
        struct nic_rail *const rail = nic_at(node, n)->rail;
        if (rail->post_count != first->post_count ||
            (rail->post_count > 0 &&
             memcmp(rail->posts, first->posts, rail->post_count * sizeof(*rail->posts)) != 0)) {
            why = "messages of rails";
        }
        why = rail->apart != NULL ? rail->apart : why;
    }
    for (uint32_t n = 0; n < count; n++) {
        nic_at(node, n)->rail->post_count = 0;
    }
    return why;
}

static void compare(nic_rails_t *rails)
{
    for (size_t i = 0; i < net_node_count(rails->net) && rails->apart == NULL; i++) {
        const net_node_t *const node = net_node_at(rails->net, i);
        if (rails->posted[i]) {
            rails->posted[i] = false;
            rails->apart = compare_host(node, rails->count);
        } else if (rails->leaves[i] == node && node->sim.ties_mattered) {
            rails->apart = "ties of a node";
        }
    }
}

// Returns why nothing is known of what some part does; NULL: all have rows.
static const char *refuse(const nic_rails_t *rails)
{
    sim_state_t state = {0};
    sim_time_t rest_ps = 0;
    nic_state_list(rails->net, &state, &rest_ps, NIC_SPAN_CALLS);
    const char *refused = state.refused;
    for (size_t i = 0; i < net_node_count(rails->net); i++) {
        refused = net_node_at(rails->net, i)->sim.alone ? refused : "nodes that share a unit";
    }
    sim_state_fini(&state);
    return refused;
}

static void look(sim_time_t now_ps, void *ctx)
{
    (void)now_ps;
    nic_rails_t *const rails = ctx;
    if (rails->apart != NULL) {
        return;
    }
    rails->apart = rails->windows++ == 0 ? refuse(rails) : NULL;
    compare(rails);
    if (rails->apart != NULL) {
        sim_interrupt(net_sim(rails->net));
    }
}

// -- which rails are alike

static bool same_line(const net_port_t *a, const net_port_t *b)
{
    return a->line->rate_bps == b->line->rate_bps && a->line->delay_ps == b->line->delay_ps &&
           a->line->config == b->line->config && a->line->timing == b->line->timing;
}

// Returns whether NIC n of a host is at a switch like that of its first NIC, and notes that.
static bool add_nic(nic_rails_t *rails, const net_node_t *host, uint32_t n)
{
    const net_port_t *const first = host->ports[0].peer;
    const net_port_t *const own = host->ports[n].peer;
    net_node_t **const other = &rails->others[first->node->sim.index * rails->count + n];
    net_node_t **const leaf = &rails->leaves[own->node->sim.index];
    if (first->node->kind != NET_NODE_SWITCH || own->node->kind != NET_NODE_SWITCH ||
        first->index != own->index || !same_line(first, own) ||
        !same_line(&host->ports[0], &host->ports[n]) || (*other != NULL && *other != own->node) ||
        (*leaf != NULL && *leaf != first->node) || own->line->delay_ps < DELAY_LEAST_PS ||
        (n > 0 && own->node == first->node) || !net_same_switches(first->node, own->node)) {
        return false;
    }
    *other = own->node;
    *leaf = first->node;
    return true;
}

static bool find_rails(nic_rails_t *rails)
{
    for (size_t i = 0; i < net_node_count(rails->net); i++) {
        const net_node_t *const node = net_node_at(rails->net, i);
        if (node->kind == NET_NODE_FORWARDER || node->scale_up) {
            return false;
        }
        if (!is_host(node)) {
            continue;
        }
        const uint32_t count = nic_count(node);
        if (rails->count == 0) {
            rails->count = count;
            rails->others =
                sim_alloc_array(net_node_count(rails->net) * count, sizeof(*rails->others));
        }
        if (count != rails->count || count < 2 || count != node->port_count) {
            return false;
        }
        for (uint32_t n = 0; n < count; n++) {
            if (!add_nic(rails, node, n)) {
                return false;
            }
        }
    }
    return rails->count != 0;
}

static void begin(nic_rails_t *rails)
{
    for (size_t i = 0; i < net_node_count(rails->net); i++) {
        net_node_t *const node = net_node_at(rails->net, i);
        for (uint32_t n = 0; is_host(node) && n < rails->count; n++) {
            nic_t *const nic = nic_at(node, n);
            nic->rail = sim_alloc(sizeof(*nic->rail));
            *nic->rail = (struct nic_rail){.followers = nic + 1,
                                           .count = n == 0 ? rails->count - 1 : 0,
                                           .follows = n > 0,
                                           .posted = &rails->posted[i],
                                           .over = &rails->apart};
        }
        node->follows = rails->leaves[i] != NULL && rails->leaves[i] != node;
        if (rails->leaves[i] == node) {
            for (uint32_t p = 0; p < node->port_count; p++) {
                net_state_list_rare(&node->ports[p], &rails->rare);
                net_state_list_rare(node->ports[p].peer, &rails->rare);
            }
        }
    }
    rails->start = sim_state_copy(&rails->rare);
    sim_on_window(net_sim(rails->net), look, rails);
}

nic_rails_t *nic_rails_create(net_t *net)
{
    nic_rails_t *const rails = sim_alloc(sizeof(*rails));
    rails->net = net;
    rails->leaves = sim_alloc_array(net_node_count(net) + 1, sizeof(net_node_t *));
    rails->posted = sim_alloc_array(net_node_count(net) + 1, sizeof(*rails->posted));
    bool equal = find_rails(rails);
    for (size_t i = 0; equal && i < net_node_count(net); i++) {
        net_node_t *const node = net_node_at(net, i);
        equal = rails->leaves[i] != node ||
                net_watch_chance(node, &rails->others[i * rails->count + 1], rails->count - 1);
    }
    if (!equal) {
        nic_rails_destroy(rails);
        return NULL;
    }
    begin(rails);
    return rails;
}

void nic_rails_destroy(nic_rails_t *rails)
{
    if (rails == NULL) {
        return;
    }
    for (size_t i = 0; rails->start != NULL && i < net_node_count(rails->net); i++) {
        const net_node_t *const node = net_node_at(rails->net, i);
        for (uint32_t n = 0; is_host(node) && n < rails->count; n++) {
            nic_t *const nic = nic_at(node, n);
            sim_free(nic->rail->posts);
            sim_free(nic->rail);
            nic->rail = NULL;
        }
    }
    sim_state_fini(&rails->rare);
    SIM_FREE_ALL(rails->leaves, rails->others, rails->posted, rails->start, rails);
}

// -- after the run

const char *nic_rails_apart(nic_rails_t *rails, bool whole)
{
    net_tally_t sums;
    uint64_t in_flight = 0;
    size_t offset = 0;
    if (!whole) {
        return rails->apart;
    }
    compare(rails);
    for (size_t i = 0; i < net_node_count(rails->net) && rails->apart == NULL; i++) {
        if (rails->leaves[i] == net_node_at(rails->net, i)) {
            rails->apart = net_chance(rails->leaves[i]);
        }
    }
    if (rails->apart == NULL) {
        char *const end = sim_state_copy(&rails->rare);
        rails->apart = sim_state_changed(&rails->rare, rails->start, end, &offset);
        sim_free(end);
    }
    net_conservation(rails->net, &sums, &in_flight);
    rails->apart = rails->apart == NULL && in_flight != 0 ? "end of the run" : rails->apart;
    return rails->apart;
}

// Gives a node that follows the counters of another: a switch with all its ports, or a host's NIC.
static void copy_counts(net_node_t *from, net_node_t *to)
{
    sim_state_t lists[2] = {0};
    net_state_list_switch(from, &lists[0]);
    net_state_list_switch(to, &lists[1]);
    sim_state_copy_counts(&lists[0], &lists[1]);
    sim_state_fini(&lists[0]);
    sim_state_fini(&lists[1]);
    to->sim.events = from->sim.events;
}

static void copy_nics(net_node_t *host, uint32_t count)
{
    nic_t *const first = nic_at(host, 0);
    sim_state_t lists[2] = {0};
    for (uint32_t n = 1; n < count; n++) {
        nic_at(host, n)->counters = first->counters;
        net_state_list_port(first->port, &lists[0]);
        net_state_list_port(&host->ports[n], &lists[1]);
    }
    sim_state_copy_counts(&lists[0], &lists[1]);
    sim_state_fini(&lists[0]);
    sim_state_fini(&lists[1]);
    host->sim.events += (count - 1) * first->rail_events;
    host->tally.created *= count;
    host->tally.delivered *= count;
    host->tally.bytes_created *= count;
    host->tally.bytes_delivered *= count;
}

uint64_t nic_rails_settle(nic_rails_t *rails, uint64_t *count)
{
    *count = rails->count;
    const uint64_t before = nic_frames_sent(rails->net);
    for (size_t i = 0; i < net_node_count(rails->net); i++) {
        net_node_t *const node = net_node_at(rails->net, i);
        if (is_host(node)) {
            copy_nics(node, rails->count);
        } else if (rails->leaves[i] != NULL && rails->leaves[i] != node) {
            copy_counts(rails->leaves[i], node);
        }
    }
    for (size_t i = 0; i < net_node_count(rails->net); i++) {
        if (rails->leaves[i] == net_node_at(rails->net, i)) {
            net_chance_settle(rails->leaves[i]);
        }
    }
    return nic_frames_sent(rails->net) - before;
}
