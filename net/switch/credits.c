// SPDX-License-Identifier: Apache-2.0
// net/switch/credits.c - the buffer of switches with links that have credits (link.flow-control:
// cbfc): memory of its own for each class of such a port, else "standard" or "trimming".
//
// The peer sends nothing for which it has no credits, so a frame always finds room where it came
// in. It takes the room that headroom takes elsewhere, and is never a reason for a pause.
// Page: docs/models/link-layer.md.
#include "net/models_internal.h"
#include "net/port_control.h"
#include "net/switch/admission.h"
#include "net/switch_checks.h"

static const net_buffer_ops_t *base_of(const net_switch_t *sw)
{
    return sw->limited_classes != 0 ? &net__buffer_trimming : &net__buffer_standard;
}

// Returns the credits of a class of a port as bytes; 0: it has none.
static uint64_t credit_bytes(const net_port_t *port)
{
    return port->layered ? net_layer_granted_bytes(port) : 0;
}

static bool has_credits(const net_port_t *port, uint32_t priority)
{
    return port->layered && ((uint32_t)net_layer_grants(port) >> priority & 1u) != 0;
}

static void dedicated(const net_switch_t *sw, uint64_t *headroom_bytes, uint64_t *reserved_bytes)
{
    const uint64_t classes = (uint64_t)__builtin_popcount(sw->config.pfc_priorities);
    net__buffer_standard.dedicated(sw, headroom_bytes, reserved_bytes);
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        const uint64_t bytes = classes * credit_bytes(&sw->node.ports[p]);
        if (bytes == 0) {
            continue;
        }
        if (sw->lossless == 0) {
            *headroom_bytes += bytes;
        } else {
            *reserved_bytes -= classes * sw->config.pfc_reserved_bytes;
        }
    }
}

static void built(net_switch_t *sw)
{
    const bool trims = strcmp(sw->config.mmu.text, net__buffer_trimming.name) == 0;
    (trims ? &net__buffer_trimming : &net__buffer_standard)->built(sw);
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        const uint64_t bytes = credit_bytes(&sw->node.ports[p]);
        if (bytes != 0) {
            sw->ingress[p].headroom_limit = bytes;
            sw->node.ports[p].lossless_guaranteed = true;
        }
    }
    net__buffer_share(sw);
}

static void fini(net_switch_t *sw)
{
    if (base_of(sw)->fini != NULL) {
        base_of(sw)->fini(sw);
    }
}

static bool admit(net_switch_t *sw, const net_port_t *egress, const net_packet_t *packet,
                  net_drop_reason_t *reason)
{
    net_port_t *const ingress = &sw->node.ports[packet->ingress_port];
    if (!has_credits(ingress, packet->priority)) {
        return base_of(sw)->admit(sw, egress, packet, reason);
    }
    net_received_t *const held = ingress->received[packet->priority];
    held->headroom_bytes = (held->headroom_bytes + packet->frame_bytes) & NET_HEADROOM_MASK;
    SIM_CHECK(held->headroom_bytes <= sw->ingress[packet->ingress_port].headroom_limit);
    net_layer_store(ingress, packet->priority, packet->frame_bytes);
    return true;
}

static bool no_room(net_switch_t *sw, net_port_t *egress, net_packet_t *packet,
                    net_drop_reason_t *reason)
{
    return base_of(sw)->no_room != NULL && base_of(sw)->no_room(sw, egress, packet, reason);
}

static void release(net_switch_t *sw, uint32_t ingress_port, uint32_t priority, uint32_t bytes)
{
    net_port_t *const ingress = &sw->node.ports[ingress_port];
    if (!has_credits(ingress, priority)) {
        base_of(sw)->release(sw, ingress_port, priority, bytes);
        return;
    }
    net_received_t *const held = ingress->received[priority];
    SIM_CHECK(held->headroom_bytes >= bytes);
    held->headroom_bytes = (held->headroom_bytes - bytes) & NET_HEADROOM_MASK;
    net_layer_free(ingress, priority, bytes);
}

static void check(const net_switch_t *sw)
{
    if (sw->lossless != 0) {
        base_of(sw)->check(sw);
    }
}

const net_buffer_ops_t net__buffer_credits = {
    .name = "credits",
    .state_bytes = sizeof(net_trimming_t),
    .built = built,
    .fini = fini,
    .admit = admit,
    .no_room = no_room,
    .release = release,
    .dedicated = dedicated,
    .check = check,
};
