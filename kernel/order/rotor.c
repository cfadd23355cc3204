// SPDX-License-Identifier: Apache-2.0
// kernel/order/rotor.c - ties by rotor: by the number of the tie, not by its time.
//
// The order is that of sim__tie_rank, as with ties by hash, but a counter of the node takes the
// place of the time. The counter starts again after a rest. So events that repeat after a rest run
// in the order of the first time, whenever they begin. It has 16 values, so that the orders of a
// steady state repeat, too. Every second order is the one before in reverse: of two ports, each is
// first eight times. Wakes that tie keep one order, and so do arrivals at hosts, whose ports do not
// compete, and at nodes that share a unit: there, when a tie is found depends on where windows end.
#include "kernel/order/rotor.h"
#include "kernel/engine/mail.h"
#include "kernel/engine/sort.h"
#include "kernel/engine/window.h"
#include "kernel/fast_forward_notes.h"

uint64_t sim__rotor_turn(sim_node_t *node, sim_time_t time_ps)
{
    if (time_ps >= node->tied_ps + SIM_REST_PS) {
        node->ties = 0;
        node->ties_anew = true;
    }
    node->tied_ps = time_ps;
    const uint64_t turn = node->ties;
    node->ties = (turn + 1) % SIM__ROTOR_TURNS;
    return turn;
}

uint64_t sim_last_turn(const sim_node_t *node)
{
    return (node->ties + SIM__ROTOR_TURNS - 1) % SIM__ROTOR_TURNS;
}

uint64_t sim_turn_rank(const sim_node_t *node, uint64_t turn, uint32_t port)
{
    const uint64_t rank = sim__tie_rank(node->tie_key, turn / 2, port);
    return (turn & 1) != 0 ? rank ^ ~(uint64_t)((1u << SIM_PORT_BITS) - 1) : rank;
}

static uint64_t record_place(const sim_node_t *node)
{
    return node->index;
}

const sim_order_ops_t sim__order_by_rotor = {
    .by_hash = true,
    .send = sim__send_by_slots,
    .wake = sim__wake_with_room,
    .run_window = sim__run_units,
    .sort_ties = sim__sort_by_rotor,
    .record_place = record_place,
};
