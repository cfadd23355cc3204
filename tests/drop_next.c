// SPDX-License-Identifier: Apache-2.0
// tests/drop_next.c - a listener at NET_TRACE_TX, which comes before a loss is decided, sets the
// port's loss rate to 1 for one packet.
#include "tests/drop_next.h"

#include "net/network_internal.h"

#define DROPPERS 64u // more than ports that one test needs at a time

typedef struct dropper {
    net_port_t *port;
    uint64_t left; // packets up to the lost one; 0: it has been sent
    bool dropping;
} dropper_t;

static void set_loss(net_port_t *port, bool lost)
{
    net_port_own_config(port)->loss_rate = (sim_ratio_t){lost, 1};
}

static void on_sent(const net_trace_t *trace, void *ctx)
{
    dropper_t *const dropper = ctx;
    if (dropper->dropping) {
        dropper->dropping = false;
        set_loss(dropper->port, false);
    }
    if (dropper->left > 0 && trace->packet->kind == NET_PACKET_ROCE && --dropper->left == 0) {
        dropper->dropping = true;
        set_loss(dropper->port, true);
    }
}

void test_drop_next(net_port_t *port, uint64_t count)
{
    static dropper_t droppers[DROPPERS];
    static uint32_t next;
    for (uint32_t i = 0; i < DROPPERS; i++) {
        if (droppers[i].port == port) {
            droppers[i].left = 0;
        }
    }
    dropper_t *const dropper = &droppers[next++ % DROPPERS];
    *dropper = (dropper_t){port, count, false};
    net_port_listen(port, NET_TRACE_TX, on_sent, dropper);
}
