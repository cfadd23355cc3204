// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/driver/orders.h - the background requests to the driver.
#ifndef NIC_STORE_TIERED_DRIVER_ORDERS_H
#define NIC_STORE_TIERED_DRIVER_ORDERS_H

#include "nic/store/tiered/object.h"

// The purpose of a background request to the driver.
typedef enum tiered_order_kind {
    TIERED_ORDER_CONTEXT, // the token's context, for which a queue pair waits
    TIERED_ORDER_L1,      // a move to L1
    TIERED_ORDER_L2,      // a move to L2
} tiered_order_kind_t;

typedef struct tiered_order {
    uint8_t kind;   // tiered_order_kind_t
    bool counted;   // its time is that of an access
    uint8_t type;   // of its tokens
    uint32_t count; // of tokens; one that has gone is TIERED_NONE
    uint32_t *tokens;
    sim_time_t begin_ps;
    sim_time_t before_ps; // time that passes until the driver has it, added at the end
    sim_time_t work_ps;
    uint32_t next; // in the list of free orders
} tiered_order_t;

// Queues a background request for tokens of one type. It reaches the driver before_ps from now on.
// `counted`: the time that it takes is that of an access.
void nic__tiered_order(tiered_t *tiered, tiered_order_kind_t kind, const uint32_t *tokens,
                       uint32_t count, sim_time_t before_ps, bool counted);
void nic__tiered_drive(tiered_t *tiered); // takes up what the driver starts by now
// Makes the order of a token urgent, if the driver has not taken it up yet.
void nic__tiered_hurry(tiered_t *tiered, const tiered_token_t *token);
// Returns when a token is on the NIC, or the earliest such time if its order waits for the driver.
sim_time_t nic__tiered_here_ps(const tiered_t *tiered, const tiered_token_t *token);
void nic__tiered_forget_order(tiered_t *tiered, tiered_token_t *token);
void nic__tiered_orders_fini(tiered_t *tiered);

#endif // NIC_STORE_TIERED_DRIVER_ORDERS_H
