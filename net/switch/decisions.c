// SPDX-License-Identifier: Apache-2.0
// net/switch/decisions.c - marks that are drawn in the order of the HPCC project's simulator.
//
// Whose number a decision gets depends on what all nodes do before it. Where nodes run apart for a
// window, decisions are noted and made after it, in order. Nobody sees the difference but listeners
// at the marking port: a packet arrives in a later window (sim_keep_apart), and a switch does
// nothing by its marks.
#include <string.h>

#include "kernel/record.h"
#include "net/switch/draws.h"
#include "net/switch/switch_internal.h"

typedef struct decision {
    net_port_t *egress;   // NULL: only a number is taken
    net_packet_t *packet; // NULL: cannot be marked, or does not arrive
    double chance;
} decision_t;

static void decide(net_draws_t *draws, const decision_t *decision)
{
    if (decision->egress == NULL) {
        net_draws_skip(draws);
    } else if (net_draws_next(draws) < decision->chance && decision->packet != NULL) {
        net__mark_now(decision->egress, decision->packet);
    }
}

static void decide_later(sim_time_t time_ps,
                         uint32_t node_index,
                         const void *record,
                         size_t record_bytes,
                         void *ctx)
{
    (void)time_ps;
    (void)node_index;
    decision_t decision;
    SIM_CHECK(record_bytes == sizeof(decision));
    memcpy(&decision, record, sizeof(decision));
    decide(ctx, &decision);
}

// -- losses

#define LOSS_STREAM 50 // a constant there

// A stream for the links that share a rate, and one for each that has its own; all are equal.
void net__losses_prepare(net_t *net)
{
    if (net_draws_of(net) == NULL) {
        return;
    }
    const uint64_t run = sim_options(net->sim)->seed;
    net->loss_streams = sim_alloc_array(net->link_count + 1, sizeof(net_draws_stream_t *));
    for (size_t i = 0; i < net->link_count; i++) {
        const net_link_t *const link = &net->links[i];
        if (link->config.loss_rate.num == 0) {
            continue;
        }
        net_draws_stream_t **const stream = &net->loss_streams[link->config.loss_own ? i + 1 : 0];
        if (*stream == NULL) {
            *stream = net_draws_stream_create(run, LOSS_STREAM);
        }
        link->a->ports[link->a_port].losses = *stream;
        link->b->ports[link->b_port].losses = *stream;
    }
}

bool net__lost_on_arrival(const net_port_t *port)
{
    const sim_ratio_t rate = port->config.loss_rate;
    return net_draws_stream_next(port->losses) < (double)rate.num / (double)rate.den;
}

// -- set-up

void net__decisions_prepare(net_t *net)
{
    const sim_options_t *const options = sim_options(net->sim);
    if (net->config.draws != NET_DRAWS_HPCC || !options->fifo_ties) {
        return;
    }
    net->draws = net_draws_create(options->seed, net->config.draws_used);
    if (!options->one_list) {
        net->decisions = sim_stream_create(net->sim, decide_later, net->draws);
        sim_keep_apart(net->sim);
    }
}

void net__decisions_free(net_t *net)
{
    for (size_t i = 0; net->loss_streams != NULL && i <= net->link_count; i++) {
        net_draws_stream_destroy(net->loss_streams[i]);
    }
    sim_free(net->loss_streams);
    net_draws_destroy(net->draws);
}

static void take_draw(const net_switch_t *sw, const decision_t *decision)
{
    const net_t *const net = sw->node.net;
    const sim_node_t *const node = &sw->node.sim;
    if (net->decisions == NULL) {
        decide(net->draws, decision);
        return;
    }
    memcpy(sim_stream_put(net->decisions, node, node->now_ps, sizeof(*decision)),
           decision,
           sizeof(*decision));
}

// A packet that is dropped as its link goes down is gone before the decision.
static bool will_arrive(const net_port_t *egress, const net_packet_t *packet)
{
    const sim_time_t time_ps = net_port_frame_time_ps(egress, packet->frame_bytes);
    return !egress->down &&
           egress->node->sim.now_ps + time_ps + egress->delay_ps + egress->whole_ns <=
               egress->next_down_ps;
}

void net__draw_left_out(const net_switch_t *sw)
{
    take_draw(sw, &(decision_t){.egress = NULL});
}

// An ACK takes a number too, though it cannot be marked here.
void net__mark_drawn(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    const net_class_t *const class = &egress->classes[packet->priority];
    const marking_t *const marking = &sw->marking[egress->index];
    const uint64_t queued = class->bytes;
    if (queued <= class->mark_above_bytes) {
        return;
    }
    const bool markable = packet->ecn != NET_ECN_NOT_ECT;
    if (queued > marking->kmax_bytes) {
        if (markable) {
            net__mark_now(egress, packet);
        }
        return;
    }
    const double above = (double)(queued - marking->kmin_bytes);
    const double range = (double)(marking->kmax_bytes - marking->kmin_bytes);
    const decision_t decision = {
        .egress = egress,
        .packet = markable && will_arrive(egress, packet) ? packet : NULL,
        .chance = marking->pmax * above / range,
    };
    take_draw(sw, &decision);
}
