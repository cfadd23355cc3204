// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/driver/orders.c - background requests to the driver: what they are for, and what
// happens when the driver takes them up (docs/models/tiered-cache.md).
//
// The driver takes an order up when it has nothing urgent to do. Nobody knows when that is before
// it happens, so the token of an order that waits has no time of arrival yet. An access that cannot
// wait makes the order urgent.
#include "nic/store/tiered/driver/orders.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/rules/cluster.h"
#include "nic/store/tiered/tiered.h"

static uint32_t new_order(tiered_t *tiered)
{
    if (tiered->free_order != TIERED_NONE) {
        const uint32_t id = tiered->free_order;
        tiered->free_order = tiered->orders[id].next;
        return id;
    }
    SIM_GROW(tiered->orders, tiered->order_count, &tiered->order_capacity);
    return (uint32_t)tiered->order_count++;
}

void nic__tiered_order(tiered_t *tiered, tiered_order_kind_t kind, const uint32_t *tokens,
                       uint32_t count, sim_time_t before_ps, bool counted)
{
    SIM_CHECK(count != 0);
    const uint32_t id = new_order(tiered);
    tiered_order_t *const order = &tiered->orders[id];
    const tiered_token_t *const first = &tiered->tokens[tokens[0]];
    *order = (tiered_order_t){
        .kind = (uint8_t)kind,
        .counted = counted,
        .type = first->type,
        .count = count,
        .begin_ps = tiered->now_ps,
        .before_ps = before_ps,
        .work_ps = nic__tiered_driver_work_ps(tiered, first, count),
        .next = TIERED_NONE,
    };
    order->tokens = sim_alloc_array(count, sizeof(*order->tokens));
    for (uint32_t i = 0; i < count; i++) {
        SIM_CHECK(tiered->tokens[tokens[i]].order == TIERED_NONE);
        order->tokens[i] = tokens[i];
        tiered->tokens[tokens[i]].order = id;
    }
    nic_server_put(&tiered->driver, tiered->now_ps, order->work_ps, id);
    nic__tiered_drive(tiered);
}

// Books what follows the driver's work on an order, which ends work_ps from now on, and informs the
// tokens when they arrive.
static void take_up(tiered_t *tiered, uint32_t id, sim_time_t work_ps)
{
    const tiered_order_t order = tiered->orders[id];
    uint32_t asked = TIERED_NONE;
    const bool stage = order.kind == TIERED_ORDER_L2;
    const sim_time_t end_ps =
        tiered->now_ps + order.before_ps + work_ps +
        nic__tiered_answer(tiered, (nic_token_type_t)order.type, order.tokens, order.count, stage);
    for (uint32_t i = 0; i < order.count; i++) {
        if (order.tokens[i] == TIERED_NONE) {
            continue;
        }
        tiered_token_t *const token = &tiered->tokens[order.tokens[i]];
        token->order = TIERED_NONE;
        if (order.kind == TIERED_ORDER_CONTEXT) {
            token->here_ps = nic__later(token->here_ps, end_ps);
        } else {
            nic__tiered_end_move_at(tiered, token, end_ps);
        }
    }
    if (order.counted) {
        nic_histogram_add(&tiered->all, end_ps - order.begin_ps);
        nic_histogram_add(&tiered->paths[TIERED_EXPAND], end_ps - order.begin_ps);
    }
    if (order.kind == TIERED_ORDER_CONTEXT && order.tokens[0] != TIERED_NONE) {
        asked = order.tokens[0];
    }
    sim_free(order.tokens);
    tiered->orders[id].tokens = NULL;
    tiered->orders[id].next = tiered->free_order;
    tiered->free_order = id;
    if (asked != TIERED_NONE) {
        nic__tiered_note_expand(tiered, &tiered->tokens[asked]);
    }
}

void nic__tiered_drive(tiered_t *tiered)
{
    while (nic_server_next_ps(&tiered->driver) <= tiered->now_ps) {
        const uint32_t id = nic_server_next(&tiered->driver);
        const sim_time_t work_ps = tiered->orders[id].work_ps;
        nic__tiered_drive_on_core(tiered, tiered->now_ps, work_ps);
        take_up(tiered, id, work_ps);
    }
}

void nic__tiered_hurry(tiered_t *tiered, const tiered_token_t *token)
{
    const uint32_t id = token->order;
    if (id == TIERED_NONE) {
        return;
    }
    const bool taken = nic_server_take(&tiered->driver, id);
    SIM_CHECK(taken);
    tiered->counters.hurried++;
    const sim_time_t work_ps = tiered->orders[id].work_ps;
    const sim_time_t wait_ps = nic_server_urgent(&tiered->driver, tiered->now_ps, work_ps);
    nic__tiered_drive_on_core(tiered, tiered->now_ps + wait_ps, work_ps);
    take_up(tiered, id, wait_ps + work_ps);
}

sim_time_t nic__tiered_here_ps(const tiered_t *tiered, const tiered_token_t *token)
{
    if (token->order == TIERED_NONE) {
        return token->here_ps;
    }
    const tiered_order_t *const order = &tiered->orders[token->order];
    const sim_time_t least_ps = nic_server_least_end_ps(&tiered->driver, token->order);
    return nic__later(token->here_ps, nic__later(least_ps, tiered->now_ps + 1) + order->before_ps);
}

void nic__tiered_forget_order(tiered_t *tiered, tiered_token_t *token)
{
    if (token->order == TIERED_NONE) {
        return;
    }
    const tiered_order_t *const order = &tiered->orders[token->order];
    const uint32_t number = nic__tiered_number(tiered, token);
    for (uint32_t i = 0; i < order->count; i++) {
        order->tokens[i] = order->tokens[i] == number ? TIERED_NONE : order->tokens[i];
    }
    token->order = TIERED_NONE; // the driver does the work nevertheless
}

void nic__tiered_orders_fini(tiered_t *tiered)
{
    for (size_t i = 0; i < tiered->order_count; i++) {
        sim_free(tiered->orders[i].tokens);
    }
    sim_free(tiered->orders);
    nic_server_fini(&tiered->driver);
}
