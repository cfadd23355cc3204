// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/zones.c - looks behind the states of plug-ins' parts.
//
// A part with an own state gets a table of operations with a larger state: the zone behind the
// plug-in's state stays zero. Each operation that a packet causes calls the plug-in's, and then
// looks at the zone. guard.c does the same for congestion controls, which it checks further, and
// answers.c for devices, stores and policies.
#include "world/registry/plugins/zones.h"

#include "net/models.h"
#include "net/switch_model.h"

#include <string.h>

static const world__zone_t *zone_of(const void *table)
{
    return table;
}

void world__zone_check(const world__zone_t *zone, const void *state, size_t size,
                       const char *operation)
{
    static const char zeros[WORLD__ZONE_BYTES];
    if (size > 0 && state != NULL &&
        memcmp((const char *)state + size, zeros, WORLD__ZONE_BYTES) != 0) {
        sim_give_up("plug-in %s: the operation %s of '%s' wrote past its state of %zu bytes",
                    zone->plugin, operation, zone->name, size);
    }
}

// -- switches

// Calls an operation of a switch's part and looks behind the part's state.
#define OF_SWITCH(part_, operation_, result_, arguments_) \
    const world__zone_t *const zone = zone_of(sw->part_); \
    const net_##part_##_ops_t *const own = zone->own;     \
    result_ own->operation_ arguments_;                   \
    world__zone_check(zone, sw->part_##_state, own->state_bytes, #operation_)

static uint32_t balance_choose(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                               uint32_t count)
{
    OF_SWITCH(balance, choose, const uint32_t port =, (sw, packet, ports, count));
    bool offered = port == NET_NO_PORT;
    for (uint32_t i = 0; i < count && !offered; i++) {
        offered = ports[i] == port;
    }
    if (!offered) {
        sim_give_up("plug-in %s: the operation choose of '%s' answers port %" PRIu32
                    ", expected one of the %" PRIu32 " ports that it was given, or NET_NO_PORT",
                    zone->plugin, zone->name, port, count);
    }
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
    const world__zone_t *const zone = zone_of(nic_scheduler_ops(nic));
    const nic_scheduler_ops_t *const own = zone->own;
    world__zone_check(zone, own->state_bytes > 0 ? nic_scheduler_state(nic) : NULL,
                      own->state_bytes, operation);
    world__zone_check(zone,
                      own->qp_state_bytes > 0 && qp != NULL ? nic_scheduler_qp_state(qp) : NULL,
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
    if (qp == NULL || nic_qp_nic(qp) != nic) {
        const world__zone_t *const zone = zone_of(nic_scheduler_ops(nic));
        sim_give_up("plug-in %s: the operation next of '%s' returned no queue pair of the NIC, "
                    "although one has joined",
                    zone->plugin, zone->name);
    }
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
    const world__zone_t *const zone = zone_of(nic_transport_ops(qp));
    const nic_transport_ops_t *const own = zone->own;
    const nic_transport_t *const state = nic_transport_of_const(qp);
    world__zone_check(zone, state, own->state_bytes, operation);
    world__zone_check(zone, state->nic_state, own->nic_state_bytes, operation);
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

world__zone_t *world__zone_add(world__plugins_t *plugins, const char *name, const void *own,
                               size_t size)
{
    world__zone_t *const zone = sim_alloc(sizeof(*zone));
    SIM_APPEND(plugins->guards, plugins->guard_count, plugins->guard_capacity, zone);
    memcpy(&zone->table, own, size);
    zone->own = own;
    zone->name = name;
    const char *const plugin = plugins->files[plugins->count - 1].name;
    (void)strncpy(zone->plugin, plugin, sizeof(zone->plugin) - 1);
    return zone;
}

static nic_scheduler_ops_t *watch_scheduler(world__plugins_t *plugins, const nic_extra_t *extra)
{
    world__zone_t *const zone =
        world__zone_add(plugins, extra->name, extra->ops, sizeof(nic_scheduler_ops_t));
    nic_scheduler_ops_t *const ops = &zone->table.scheduler;
    ops->state_bytes = world__with_zone(ops->state_bytes);
    ops->qp_state_bytes = world__with_zone(ops->qp_state_bytes);
    WORLD__INSTEAD(*ops, scheduler, join);
    WORLD__INSTEAD(*ops, scheduler, leave);
    WORLD__INSTEAD(*ops, scheduler, next);
    WORLD__INSTEAD(*ops, scheduler, sent);
    return ops;
}

static const nic_transport_ops_t *watch_transport(world__plugins_t *plugins,
                                                  const nic_extra_t *extra)
{
    const nic_transport_ops_t *const own = extra->ops;
    if (own->state_bytes == 0) {
        return own;
    }
    nic_transport_ops_t *const ops =
        &world__zone_add(plugins, extra->name, own, sizeof(*own))->table.transport;
    ops->state_bytes = world__with_zone(ops->state_bytes);
    ops->nic_state_bytes = world__with_zone(ops->nic_state_bytes);
    WORLD__INSTEAD(*ops, transport, open);
    WORLD__INSTEAD(*ops, transport, timeout);
    WORLD__INSTEAD(*ops, transport, next_packet);
    WORLD__INSTEAD(*ops, transport, acknowledged);
    WORLD__INSTEAD(*ops, transport, responded);
    WORLD__INSTEAD(*ops, transport, request);
    return ops;
}

const void *world__plugins_watch_nic_part(world__plugins_t *plugins, const nic_extra_t *extra)
{
    world__zone_t *zone = NULL;
    switch (extra->kind) {
    case NIC_EXTRA_SCHEDULER:
        return watch_scheduler(plugins, extra);
    case NIC_EXTRA_TRANSPORT:
        return watch_transport(plugins, extra);
    case NIC_EXTRA_DEVICE:
        zone = world__zone_add(plugins, extra->name, extra->ops, sizeof(nic_device_ops_t));
        world__zone_device(&zone->table.device);
        return &zone->table;
    case NIC_EXTRA_STORE:
        zone = world__zone_add(plugins, extra->name, extra->ops, sizeof(nic_store_ops_t));
        world__zone_store(&zone->table.store);
        return &zone->table;
    case NIC_EXTRA_POLICY:
        zone = world__zone_add(plugins, extra->name, extra->ops, sizeof(nic_policy_ops_t));
        world__zone_policy(&zone->table.policy);
        return &zone->table;
    case NIC_EXTRA_CC: // guard.c
    case NIC_EXTRA_FRAMES:
    case NIC_EXTRA_PATH_RTT:
    case NIC_EXTRA_KIND_COUNT:
        break;
    }
    return extra->ops;
}

const void *world__plugins_watch_network_part(world__plugins_t *plugins,
                                              const world_network_part_t *part)
{
    world__zone_t *zone;
    switch (part->kind) {
    case WORLD_NETWORK_BALANCE:
        zone = world__zone_add(plugins, part->name, part->ops, sizeof(net_balance_ops_t));
        zone->table.balance.state_bytes = world__with_zone(zone->table.balance.state_bytes);
        WORLD__INSTEAD(zone->table.balance, balance, choose);
        WORLD__INSTEAD(zone->table.balance, balance, enters);
        return &zone->table;
    case WORLD_NETWORK_MARKING:
        zone = world__zone_add(plugins, part->name, part->ops, sizeof(net_marking_ops_t));
        zone->table.marking.state_bytes = world__with_zone(zone->table.marking.state_bytes);
        WORLD__INSTEAD(zone->table.marking, marking, leaves);
        WORLD__INSTEAD(zone->table.marking, marking, joins);
        return &zone->table;
    case WORLD_NETWORK_BUFFER:
        zone = world__zone_add(plugins, part->name, part->ops, sizeof(net_buffer_ops_t));
        zone->table.buffer.state_bytes = world__with_zone(zone->table.buffer.state_bytes);
        WORLD__INSTEAD(zone->table.buffer, buffer, admit);
        WORLD__INSTEAD(zone->table.buffer, buffer, no_room);
        WORLD__INSTEAD(zone->table.buffer, buffer, release);
        return &zone->table;
    case WORLD_NETWORK_ROUTES:
    case WORLD_NETWORK_TIMING:
    case WORLD_NETWORK_FRAMING:
    case WORLD_NETWORK_KIND_COUNT:
        break; // they have no state
    }
    return part->ops;
}
