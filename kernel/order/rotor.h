// SPDX-License-Identifier: Apache-2.0
// kernel/order/rotor.h - the number of ties that a node has had.
#ifndef KERNEL_ORDER_ROTOR_H
#define KERNEL_ORDER_ROTOR_H

#include "kernel/event.h"

// Counts a tie of the node at time_ps, which is not before that of the one before, and returns its
// number since the node's last rest, modulo SIM__ROTOR_TURNS.
#define SIM__ROTOR_TURNS 16u
uint64_t sim__rotor_turn(sim_node_t *node, sim_time_t time_ps);

#endif // KERNEL_ORDER_ROTOR_H
