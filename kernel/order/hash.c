// SPDX-License-Identifier: Apache-2.0
// kernel/order/hash.c - ties by hash: the usual order, in which events have no numbers.
//
// Ports that tie go in the order of sim__tie_rank (kernel/event.h), which depends on the seed, the
// node and the time alone. So the engine needs nothing beyond what it does for every event.
#include "kernel/engine/mail.h"
#include "kernel/engine/sort.h"
#include "kernel/engine/window.h"

static uint64_t record_place(const sim_node_t *node)
{
    return node->index;
}

const sim_order_ops_t sim__order_by_hash = {
    .by_hash = true,
    .send = sim__send_by_slots,
    .wake = sim__wake_with_room,
    .run_window = sim__run_units,
    .sort_ties = sim__sort_by_rank,
    .record_place = record_place,
};
