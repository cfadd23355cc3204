// SPDX-License-Identifier: Apache-2.0
// net/switch/channels.c - the buffer "virtual-channels": net's own, a class higher at each switch.
//
// A packet that arrives in class c < n takes room in class c where it came in, and leaves in class
// c + 1. So it waits only for room in a higher class, and no circle of pauses can close (Dally and
// Seitz, IEEE Transactions on Computers, 1987). n is switch.virtual-channels. Higher classes, such
// as that of CNPs, stay. Page: docs/models/pfc.md.
#include "net/models_internal.h"
#include "net/switch/admission.h"

static uint32_t channels(const net_switch_t *sw)
{
    return (uint32_t)sw->config.virtual_channels;
}

// Returns the class in which packets of a queue came in.
static uint32_t came_in(const net_switch_t *sw, uint32_t queue_class)
{
    return queue_class > 0 && queue_class <= channels(sw) ? queue_class - 1 : queue_class;
}

static void built(net_switch_t *sw)
{
    if (sw->config.pfc_enabled) {
        sw->lossless |= (uint8_t)((1u << (channels(sw) + 1)) - 1);
    }
    sw->trust_dscp = false; // the class is that of the tag, which switches rewrite
    sw->routed_by_dscp = false;
    net__buffer_standard.built(sw);
}

static uint32_t queue_class(const net_switch_t *sw, const net_packet_t *packet)
{
    if (packet->priority > channels(sw)) {
        return packet->priority;
    }
    return packet->priority < channels(sw) ? packet->priority + 1u : NET_PRIORITIES;
}

static bool admit(net_switch_t *sw, const net_port_t *egress, const net_packet_t *packet,
                  net_drop_reason_t *reason)
{
    net_packet_t arrived = *packet;
    arrived.priority = (uint8_t)came_in(sw, packet->priority);
    return net__admit(sw, egress, &arrived, reason);
}

static void release(net_switch_t *sw, uint32_t ingress_port, uint32_t priority, uint32_t bytes)
{
    net__release(sw, ingress_port, came_in(sw, priority), bytes);
}

static void dedicated(const net_switch_t *sw, uint64_t *headroom_bytes, uint64_t *reserved_bytes)
{
    net__buffer_standard.dedicated(sw, headroom_bytes, reserved_bytes);
}

const net_buffer_ops_t net__buffer_channels = {
    .name = "virtual-channels",
    .built = built,
    .queue_class = queue_class,
    .admit = admit,
    .release = release,
    .dedicated = dedicated,
};
