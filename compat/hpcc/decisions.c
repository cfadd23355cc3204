// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/decisions.c - marks that are drawn in the order of the HPCC project's simulator.
//
// Whose number a decision gets depends on what all nodes do before it. Where nodes run apart for a
// window, decisions are noted and made after it, in order. Nobody sees the difference but listeners
// at the marking port: a packet arrives in a later window (sim_keep_apart), and a switch does
// nothing by its marks.
#include <string.h>

#include "compat/hpcc/hpcc_internal.h"
#include "kernel/record.h"

typedef struct decision {
    net_port_t *egress;   // NULL: only a number is taken
    net_packet_t *packet; // NULL: cannot be marked, or does not arrive
    double chance;
} decision_t;

static void decide(compat_draws_t *draws, const decision_t *decision)
{
    if (decision->egress == NULL) {
        compat_draws_skip(draws);
    } else if (compat_draws_next(draws) < decision->chance && decision->packet != NULL) {
        net_switch_mark(decision->egress, decision->packet);
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

// -- set-up

static uint32_t roll(void *ctx)
{
    return compat_draws_rand(ctx);
}

void compat__decisions_prepare(compat_hpcc_t *rules)
{
    sim_t *const sim = net_sim(rules->net);
    const sim_options_t *const options = sim_options(sim);
    if (rules->config.draws != COMPAT_HPCC_DRAWS_HPCC || !options->fifo_ties) {
        return;
    }
    rules->draws = compat_draws_create(options->seed, rules->config.draws_used);
    if (options->one_list) {
        net_set_dice(rules->net, &(net_dice_t){.roll = roll, .ctx = rules->draws});
    } else {
        rules->decisions = sim_stream_create(sim, decide_later, rules->draws);
        sim_keep_apart(sim);
    }
}

void compat__decisions_free(compat_hpcc_t *rules)
{
    compat_draws_destroy(rules->draws);
}

static void take_draw(compat_hpcc_t *rules, const net_switch_t *sw, const decision_t *decision)
{
    const sim_node_t *const node = &sw->node.sim;
    if (rules->decisions == NULL) {
        decide(rules->draws, decision);
        return;
    }
    memcpy(sim_stream_put(rules->decisions, node, node->now_ps, sizeof(*decision)),
           decision,
           sizeof(*decision));
}

// A packet that is dropped as its link goes down is gone before the decision.
static bool will_arrive(const net_port_t *egress, const net_packet_t *packet)
{
    const sim_time_t time_ps = net_port_frame_time_ps(egress, packet->frame_bytes);
    return !egress->down &&
           egress->node->sim.now_ps + time_ps + egress->delay_ps + egress->down_first <=
               egress->next_down_ps;
}

void compat__draw_left_out(compat_hpcc_t *rules, const net_switch_t *sw)
{
    take_draw(rules, sw, &(decision_t){.egress = NULL});
}

// An ACK takes a number too, though it cannot be marked here.
void compat__mark_drawn(compat_hpcc_t *rules,
                        net_switch_t *sw,
                        net_port_t *egress,
                        net_packet_t *packet)
{
    const net_red_t *const red = &sw->red[egress->index];
    const uint64_t queued = egress->classes[packet->priority]->bytes;
    if (((uint32_t)sw->marks_late >> packet->priority & 1u) == 0 || queued <= red->kmin_bytes) {
        return;
    }
    const bool markable = packet->ecn != NET_ECN_NOT_ECT;
    if (queued > red->kmax_bytes) {
        if (markable) {
            net_switch_mark(egress, packet);
        }
        return;
    }
    const double above = (double)(queued - red->kmin_bytes);
    const double range = (double)(red->kmax_bytes - red->kmin_bytes);
    const decision_t decision = {
        .egress = egress,
        .packet = markable && will_arrive(egress, packet) ? packet : NULL,
        .chance = red->pmax * above / range,
    };
    take_draw(rules, sw, &decision);
}
