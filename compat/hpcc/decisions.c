// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/decisions.c - marks drawn in the order of the HPCC project's simulator. There, the
// random number that a decision gets depends on what all nodes did before it.
#include "compat/hpcc/hpcc_internal.h"
#include "kernel/order/fifo.h"
#include "net/marking.h"

static uint32_t roll(void *ctx)
{
    return compat_draws_rand(ctx);
}

void compat__decisions_prepare(compat_hpcc_t *rules)
{
    const sim_options_t *const options = sim_options(net_sim(rules->net));
    if (rules->config.draws != COMPAT_HPCC_DRAWS_HPCC || !options->fifo_ties) {
        return;
    }
    rules->draws = compat_draws_create(options->seed, rules->config.draws_used);
    net_set_dice(rules->net, &(net_dice_t){.roll = roll, .ctx = rules->draws});
}

void compat__decisions_free(compat_hpcc_t *rules)
{
    compat_draws_destroy(rules->draws);
}

// Decides on a mark. `where` holds the egress port in its high bits and the bytes queued there.
#define QUEUED_BITS 48u
static void draw_mark(sim_node_t *node, void *packet, uint64_t where)
{
    net_switch_t *const sw = (net_switch_t *)(void *)node;
    net_port_t *const egress = &sw->node.ports[where >> QUEUED_BITS];
    const net_red_t *const red = net_switch_red(sw, egress);
    const uint64_t queued = where & ((UINT64_C(1) << QUEUED_BITS) - 1);
    const double above = (double)(queued - red->kmin_bytes);
    const double range = (double)(red->kmax_bytes - red->kmin_bytes);
    const bool marked =
        compat_draws_next(compat__switch_state(sw)->rules->draws) < red->pmax * above / range;
    if (marked && ((net_packet_t *)packet)->ecn != NET_ECN_NOT_ECT) {
        net_switch_mark(egress, packet);
    }
}

// An ACK takes a number, too, although it cannot be marked here.
void compat__mark_drawn(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    const net_red_t *const red = net_switch_red(sw, egress);
    const uint64_t queued = egress->classes[packet->priority]->bytes;
    if (((uint32_t)sw->marks_late >> packet->priority & 1u) == 0 || queued <= red->kmin_bytes) {
        return;
    }
    if (queued <= red->kmax_bytes) {
        const uint64_t where = (uint64_t)egress->index << QUEUED_BITS | queued;
        sim_take_turn(&sw->node.sim, draw_mark, packet, where);
    } else if (packet->ecn != NET_ECN_NOT_ECT) {
        net_switch_mark(egress, packet);
    }
}

static void skip_one(sim_node_t *node, void *draws, uint64_t value)
{
    (void)node;
    (void)value;
    compat_draws_skip(draws);
}

void compat__identify_pause(net_switch_t *sw)
{
    sim_take_turn(&sw->node.sim, skip_one, compat__switch_state(sw)->rules->draws, 0);
}
