// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/guard.c - watches the congestion controls of plug-ins.
//
// The NIC calls the guarded table. Each of its operations calls the plug-in's, and then checks the
// bytes behind the state, the fields that only the NIC sets, and the rate. A plug-in that broke one
// of them has gone wrong in memory that the simulation needs, so the run ends at once.
#include "world/registry/plugins/plugins.h"

#include <string.h>

#define ZONE_BYTES 128u // behind each state
#define ZONE_BYTE 0xa5

typedef struct guard {
    nic_cc_ops_t ops; // first: cc->ops points here
    const nic_cc_ops_t *own;
    char plugin[64];
} guard_t;

static const guard_t *guard_of(const nic_cc_t *cc)
{
    return (const guard_t *)(const void *)cc->ops;
}

static unsigned char *zone_of(const guard_t *guard, nic_cc_t *cc)
{
    return (unsigned char *)cc + guard->own->state_bytes;
}

// Fields that the NIC sets and an algorithm may only read.
typedef struct fixed {
    const nic_cc_ops_t *ops;
    const void *config;
    sim_node_t *node;
    uint64_t line_bps;
    uint64_t id;
} fixed_t;

static fixed_t fixed_of(const nic_cc_t *cc)
{
    return (fixed_t){cc->ops, cc->config, cc->node, cc->line_bps, cc->id};
}

static void check(const guard_t *guard, nic_cc_t *cc, const fixed_t *before, const char *operation)
{
    const unsigned char *const zone = zone_of(guard, cc);
    bool intact = true;
    for (size_t i = 0; i < ZONE_BYTES; i++) {
        intact = intact && zone[i] == ZONE_BYTE;
    }
    if (!intact) {
        sim_give_up("plug-in %s: the operation %s of '%s' wrote past its state of %zu bytes",
                    guard->plugin, operation, guard->ops.name, guard->own->state_bytes);
    }
    if (cc->ops != before->ops || cc->config != before->config || cc->node != before->node ||
        cc->line_bps != before->line_bps || cc->id != before->id) {
        sim_give_up("plug-in %s: the operation %s of '%s' overwrote fields of nic_cc_t that only "
                    "the NIC sets",
                    guard->plugin, operation, guard->ops.name);
    }
    if (cc->rate_bps == 0 || cc->rate_bps > cc->line_bps) {
        sim_give_up("plug-in %s: the operation %s of '%s' asks for a rate of %" PRIu64
                    " bit/s, expected 1 to %" PRIu64 " bit/s, the rate of the line",
                    guard->plugin, operation, guard->ops.name, cc->rate_bps, cc->line_bps);
    }
}

#define GUARDED(operation_, call_)             \
    const guard_t *const guard = guard_of(cc); \
    const fixed_t before = fixed_of(cc);       \
    guard->own->operation_ call_;              \
    check(guard, cc, &before, #operation_)

static void guarded_init(nic_cc_t *cc)
{
    memset(zone_of(guard_of(cc), cc), ZONE_BYTE, ZONE_BYTES);
    if (guard_of(cc)->own->init != NULL) {
        GUARDED(init, (cc));
    }
}

static void guarded_start(nic_cc_t *cc)
{
    GUARDED(start, (cc));
}

static void guarded_stop(nic_cc_t *cc)
{
    GUARDED(stop, (cc));
}

static void guarded_sent(nic_cc_t *cc, uint32_t bytes)
{
    GUARDED(sent, (cc, bytes));
}

static void guarded_cnp(nic_cc_t *cc)
{
    GUARDED(cnp, (cc));
}

static void guarded_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    GUARDED(ack, (cc, ack));
}

static void guarded_timeout(nic_cc_t *cc)
{
    GUARDED(timeout, (cc));
}

const nic_cc_ops_t *world__plugins_guard(world__plugins_t *plugins, const nic_cc_ops_t *ops)
{
    guard_t *const guard = sim_alloc(sizeof(*guard));
    SIM_APPEND(plugins->guards, plugins->guard_count, plugins->guard_capacity, guard);
    guard->ops = *ops;
    guard->own = ops;
    guard->ops.state_bytes += ZONE_BYTES;
    guard->ops.init = guarded_init;
    guard->ops.start = ops->start != NULL ? guarded_start : NULL;
    guard->ops.stop = ops->stop != NULL ? guarded_stop : NULL;
    guard->ops.sent = ops->sent != NULL ? guarded_sent : NULL;
    guard->ops.cnp = ops->cnp != NULL ? guarded_cnp : NULL;
    guard->ops.ack = ops->ack != NULL ? guarded_ack : NULL;
    guard->ops.timeout = ops->timeout != NULL ? guarded_timeout : NULL;
    const char *const name = plugins->files[plugins->count - 1].name;
    (void)strncpy(guard->plugin, name, sizeof(guard->plugin) - 1);
    return &guard->ops;
}
