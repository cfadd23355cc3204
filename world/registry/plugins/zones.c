// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/zones.c - looks behind the states of plug-ins' parts.
//
// A part with an own state gets a table of operations with a larger state: the zone behind the
// plug-in's state stays zero. Each operation that a packet causes calls the plug-in's, and then
// looks at the zone. guard.c does the same for congestion controls, which it checks further.
#include "world/registry/plugins/zones.h"

#include "net/models.h"
#include "net/switch_model.h"
#include "nic/extra.h"
#include "nic/scheduler.h"
#include "nic/transport.h"

#include <string.h>

#define ZONE_BYTES 128u // a multiple of SIM_CACHE_LINE, as sizes of states before queue pairs are

typedef union table {
    nic_scheduler_ops_t scheduler;
    nic_transport_ops_t transport;
    net_balance_ops_t balance;
    net_marking_ops_t marking;
    net_buffer_ops_t buffer;
} table_t;

typedef struct zone {
    table_t table; // first: switches and NICs point to it
    const void *own;
    const char *name; // of the part
    char plugin[64];
} zone_t;

static const zone_t *zone_of(const void *table)
{
    return table;
}

// Ends the run if the bytes behind a state are not zero. A state of 0 bytes has no zone.
static void check(const zone_t *zone, const void *state, size_t size, const char *operation)
{
    static const char zeros[ZONE_BYTES];
    if (size > 0 && state != NULL && memcmp((const char *)state + size, zeros, ZONE_BYTES) != 0) {
        sim_give_up("plug-in %s: the operation %s of '%s' wrote past its state of %zu bytes",
                    zone->plugin, operation, zone->name, size);
    }
}

// -- switches

// Calls an operation of a switch's part and looks behind the part's state.
#define OF_SWITCH(part_, operation_, result_, arguments_) \
    const zone_t *const zone = zone_of(sw->part_);        \
    const net_##part_##_ops_t *const own = zone->own;     \
    result_ own->operation_ arguments_;                   \
    check(zone, sw->part_##_state, own->state_bytes, #operation_)

static uint32_t balance_choose(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                               uint32_t count)
{
    OF_SWITCH(balance, choose, const uint32_t port =, (sw, packet, ports, count));
    return port;
}

static bool balance_enters(net_switch_t *sw, net_port_t *ingress, net_packet_t *packet)
{
    OF_SWITCH(balance, enters, const bool goes_on =, (sw, ingress, packet));
    return goes_on;
}

static void marking_leaves(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    OF_SWITCH(marking, leaves, , (sw, egress, packet));
}

static void marking_joins(net_switch_t *sw, net_port_t *egress, net_packet_t *packet)
{
    OF_SWITCH(marking, joins, , (sw, egress, packet));
}

static bool buffer_admit(net_switch_t *sw, const net_port_t *egress, const net_packet_t *packet,
                         net_drop_reason_t *reason)
{
    OF_SWITCH(buffer, admit, const bool admitted =, (sw, egress, packet, reason));
    return admitted;
}

static bool buffer_no_room(net_switch_t *sw, net_port_t *egress, net_packet_t *packet,
                           net_drop_reason_t *reason)
{
    OF_SWITCH(buffer, no_room, const bool admitted =, (sw, egress, packet, reason));
    return admitted;
}

static void buffer_release(net_switch_t *sw, uint32_t ingress_port, uint32_t priority,
                           uint32_t bytes)
{
    OF_SWITCH(buffer, release, , (sw, ingress_port, priority, bytes));
}

// -- NICs

static void check_scheduler(const nic_t *nic, const nic_qp_t *qp, const char *operation)
{
    const zone_t *const zone = zone_of(nic_scheduler_ops(nic));
    const nic_scheduler_ops_t *const own = zone->own;
    check(zone, own->state_bytes > 0 ? nic_scheduler_state(nic) : NULL, own->state_bytes,
          operation);
    check(zone, own->qp_state_bytes > 0 && qp != NULL ? nic_scheduler_qp_state(qp) : NULL,
          own->qp_state_bytes, operation);
}

static const nic_scheduler_ops_t *own_scheduler(const nic_t *nic)
{
    return zone_of(nic_scheduler_ops(nic))->own;
}

static void scheduler_join(nic_t *nic, nic_qp_t *qp)
{
    own_scheduler(nic)->join(nic, qp);
    check_scheduler(nic, qp, "join");
}

static void scheduler_leave(nic_t *nic, nic_qp_t *qp)
{
    own_scheduler(nic)->leave(nic, qp);
    check_scheduler(nic, qp, "leave");
}

static nic_qp_t *scheduler_next(nic_t *nic, uint32_t priority)
{
    nic_qp_t *const qp = own_scheduler(nic)->next(nic, priority);
    check_scheduler(nic, qp, "next");
    return qp;
}

static void scheduler_sent(nic_t *nic, nic_qp_t *qp, uint32_t bytes)
{
    own_scheduler(nic)->sent(nic, qp, bytes);
    check_scheduler(nic, qp, "sent");
}

static const nic_transport_ops_t *own_transport(const nic_qp_t *qp)
{
    return zone_of(nic_transport_ops(qp))->own;
}

static void check_transport(const nic_qp_t *qp, const char *operation)
{
    const zone_t *const zone = zone_of(nic_transport_ops(qp));
    const nic_transport_ops_t *const own = zone->own;
    const nic_transport_t *const state = nic_transport_of_const(qp);
    check(zone, state, own->state_bytes, operation);
    check(zone, state->nic_state, own->nic_state_bytes, operation);
}

static void transport_open(nic_qp_t *qp)
{
    own_transport(qp)->open(qp);
    check_transport(qp, "open");
}

static void transport_timeout(nic_qp_t *qp)
{
    own_transport(qp)->timeout(qp);
    check_transport(qp, "timeout");
}

static net_packet_t *transport_next_packet(nic_t *nic, nic_qp_t *qp)
{
    net_packet_t *const packet = own_transport(qp)->next_packet(nic, qp);
    check_transport(qp, "next_packet");
    return packet;
}

static void transport_acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    own_transport(qp)->acknowledged(nic, qp, packet);
    check_transport(qp, "acknowledged");
}

static void transport_responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    own_transport(qp)->responded(nic, qp, packet);
    check_transport(qp, "responded");
}

static void transport_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    own_transport(qp)->request(nic, qp, packet);
    check_transport(qp, "request");
}

// -- tables

// Puts an operation with a check in the place of the plug-in's, if the plug-in has it.
#define INSTEAD(ops_, prefix_, operation_) \
    (ops_).operation_ = (ops_).operation_ != NULL ? prefix_##_##operation_ : NULL

static size_t with_zone(size_t bytes)
{
    return bytes > 0 ? bytes + ZONE_BYTES : 0;
}

static zone_t *add(world__plugins_t *plugins, const char *name, const void *own, size_t size)
{
    zone_t *const zone = sim_alloc(sizeof(*zone));
    SIM_APPEND(plugins->guards, plugins->guard_count, plugins->guard_capacity, zone);
    memcpy(&zone->table, own, size);
    zone->own = own;
    zone->name = name;
    const char *const plugin = plugins->files[plugins->count - 1].name;
    (void)strncpy(zone->plugin, plugin, sizeof(zone->plugin) - 1);
    return zone;
}

const void *world__plugins_watch_nic_part(world__plugins_t *plugins, const nic_extra_t *extra)
{
    if (extra->kind == NIC_EXTRA_SCHEDULER) {
        zone_t *const zone = add(plugins, extra->name, extra->ops, sizeof(nic_scheduler_ops_t));
        nic_scheduler_ops_t *const ops = &zone->table.scheduler;
        ops->state_bytes = with_zone(ops->state_bytes);
        ops->qp_state_bytes = with_zone(ops->qp_state_bytes);
        INSTEAD(*ops, scheduler, join);
        INSTEAD(*ops, scheduler, leave);
        INSTEAD(*ops, scheduler, next);
        INSTEAD(*ops, scheduler, sent);
        return ops;
    }
    const nic_transport_ops_t *const own = extra->ops;
    if (extra->kind == NIC_EXTRA_TRANSPORT && own->state_bytes > 0) {
        zone_t *const zone = add(plugins, extra->name, own, sizeof(*own));
        nic_transport_ops_t *const ops = &zone->table.transport;
        ops->state_bytes = with_zone(ops->state_bytes);
        ops->nic_state_bytes = with_zone(ops->nic_state_bytes);
        INSTEAD(*ops, transport, open);
        INSTEAD(*ops, transport, timeout);
        INSTEAD(*ops, transport, next_packet);
        INSTEAD(*ops, transport, acknowledged);
        INSTEAD(*ops, transport, responded);
        INSTEAD(*ops, transport, request);
        return ops;
    }
    return extra->ops;
}

const void *world__plugins_watch_network_part(world__plugins_t *plugins,
                                              const world_network_part_t *part)
{
    table_t *table;
    switch (part->kind) {
    case WORLD_NETWORK_BALANCE:
        table = &add(plugins, part->name, part->ops, sizeof(net_balance_ops_t))->table;
        table->balance.state_bytes = with_zone(table->balance.state_bytes);
        INSTEAD(table->balance, balance, choose);
        INSTEAD(table->balance, balance, enters);
        return table;
    case WORLD_NETWORK_MARKING:
        table = &add(plugins, part->name, part->ops, sizeof(net_marking_ops_t))->table;
        table->marking.state_bytes = with_zone(table->marking.state_bytes);
        INSTEAD(table->marking, marking, leaves);
        INSTEAD(table->marking, marking, joins);
        return table;
    case WORLD_NETWORK_BUFFER:
        table = &add(plugins, part->name, part->ops, sizeof(net_buffer_ops_t))->table;
        table->buffer.state_bytes = with_zone(table->buffer.state_bytes);
        INSTEAD(table->buffer, buffer, admit);
        INSTEAD(table->buffer, buffer, no_room);
        INSTEAD(table->buffer, buffer, release);
        return table;
    case WORLD_NETWORK_ROUTES:
    case WORLD_NETWORK_TIMING:
    case WORLD_NETWORK_FRAMING:
    case WORLD_NETWORK_KIND_COUNT:
        break; // they have no state
    }
    return part->ops;
}
