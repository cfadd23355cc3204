// SPDX-License-Identifier: Apache-2.0
// net/switch/check.c - invariants of a port and of a switch between two events.
//
// Called after each event in builds with dear checks. Sums over all ports take most of the time of
// such a build, and a wrong sum stays wrong. So they are checked after each of a switch's first
// events if its ports are few, then once in a while, and when the run ends.
#include "net/switch/check.h"
#include "net/port_queue.h"
#include "net/switch_checks.h"

#define PORTS_FEW 16u
#define EVENTS_FIRST 256u
#define EVENTS_BETWEEN 64u

void net__port_check(const net_port_t *port)
{
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        const net_class_t *const class = port->classes[p];
        const bool waits = (port->waiting >> p & 1u) != 0;
        const bool stopped = (port->paused >> p & 1u) != 0;
        SIM_CHECK((class->bytes > 0) == waits);
        SIM_CHECK(class->bytes <= class->bytes_max);
        if (waits) {
            const net_queued_t *const head = net_queue_head(class);
            SIM_CHECK(head->packet->priority == p);
            SIM_CHECK(head->packet->frame_bytes == head->frame_bytes);
        }
        if (stopped) {
            SIM_CHECK(port->rare->pauses[p].paused_since_ps <= port->node->sim.now_ps);
            SIM_CHECK(port->layered || port->rare->pauses[p].rx_pause > 0);
        }
    }
    SIM_CHECK(!port->metered || port->special);
    SIM_CHECK(!port->down || port->special);
}

// SIM_CHECKs that a port with a packet to send will be served.
static void check_awake(const net_port_t *port)
{
    if (port->controlled || (port->waiting & (uint8_t)~port->paused) != 0) {
        SIM_CHECK(port->wake_pending);
    }
}

void net_switch_check_sums(const net_switch_t *sw, uint8_t charged, bool lossy_is_shared)
{
    uint64_t in_bytes = 0;
    uint64_t out_bytes = 0;
    uint64_t lossy_bytes = 0;
    uint64_t shared_bytes = 0;
    for (uint32_t i = 0; i < sw->node.port_count; i++) {
        const net_port_t *const port = &sw->node.ports[i];
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
            const net_received_t *const held = port->received[p];
            const bool at_ingress = (charged & 1u << p) != 0;
            *(at_ingress ? &out_bytes : &lossy_bytes) += port->classes[p]->bytes;
            in_bytes += held->stored_bytes + held->headroom_bytes;
            shared_bytes += net_switch_above_reserved(sw, held->stored_bytes);
            SIM_CHECK(at_ingress || held->stored_bytes + held->headroom_bytes == 0);
            SIM_CHECK(held->headroom_bytes <= sw->ingress[i].headroom_limit);
            SIM_CHECK(!held->stopped || (sw->lossless >> p & 1u) != 0);
        }
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        *((charged & 1u << p) != 0 ? &out_bytes : &lossy_bytes) += sw->parked_bytes[p];
    }
    shared_bytes += lossy_is_shared ? lossy_bytes : 0;
    SIM_CHECK(in_bytes == out_bytes);
    SIM_CHECK(sw->held_bytes == out_bytes + lossy_bytes);
    SIM_CHECK(sw->shared_bytes == shared_bytes);
    SIM_CHECK(sw->shared_bytes <= sw->shared_limit);
}

void net__switch_check(const net_switch_t *sw, uint32_t port)
{
    if (port < sw->node.port_count) {
        net__port_check(&sw->node.ports[port]);
        check_awake(&sw->node.ports[port]);
    }
    const uint64_t events = sw->node.sim.events;
    if (events % EVENTS_BETWEEN == 0 ||
        (events < EVENTS_FIRST && sw->node.port_count <= PORTS_FEW)) {
        net__switch_check_buffer(sw);
    }
}

void net__switch_check_buffer(const net_switch_t *sw)
{
    if (sw->ingress != NULL && sw->buffer->check != NULL) {
        sw->buffer->check(sw);
    }
}
