// SPDX-License-Identifier: Apache-2.0
// nic/transport/stalled_pipeline.c - the packets that wait while a NIC's receive pipeline stands.
#include "nic/transport/stalled_pipeline.h"

#include "nic/objects/plane_set.h"
#include "nic/transport/entry.h"

#define PAUSE_QUANTA 0xffffu

static void set_gated(nic_gate_t *gate, bool gated)
{
    nic_t *const nic = gate->nic;
    nic->gated = gated;
    nic->plain = nic->loop == NULL && !nic->detailed && !gated;
}

// -- pauses of the link

static void pause_link(nic_gate_t *gate, uint8_t classes)
{
    sim_node_t *const node = nic__node(gate->nic);
    gate->pausing |= classes;
    gate->pauses++;
    nic__ports_pause(gate->nic, classes, PAUSE_QUANTA);
    if (!sim_timer_armed(&gate->pause_timer)) {
        const sim_time_t pause_ps = nic__ports_pause_ps(gate->nic, PAUSE_QUANTA);
        sim_timer_arm(node, &gate->pause_timer, node->now_ps + pause_ps / 2);
    }
}

static void pause_fired(sim_node_t *node, sim_timer_t *timer)
{
    const nic_gate_t *const gate = SIM_CONTAINER_OF(timer, nic_gate_t, pause_timer);
    const sim_time_t pause_ps = nic__ports_pause_ps(gate->nic, PAUSE_QUANTA);
    nic__ports_pause(gate->nic, gate->pausing, PAUSE_QUANTA);
    sim_timer_arm(node, timer, node->now_ps + pause_ps / 2);
}

static void resume_link(nic_gate_t *gate)
{
    if (gate->pausing != 0 && gate->bytes <= gate->buffer_bytes / 2) {
        nic__ports_pause(gate->nic, gate->pausing, 0);
        gate->pausing = 0;
        sim_timer_cancel(nic__node(gate->nic), &gate->pause_timer);
    }
}

// -- waiting packets

static void drain_next(nic_gate_t *gate)
{
    sim_node_t *const node = nic__node(gate->nic);
    if (gate->held || sim_timer_armed(&gate->drain_timer)) {
        return;
    }
    if (gate->first == NULL) {
        set_gated(gate, false);
        return;
    }
    const uint64_t bits = 8 * (uint64_t)gate->first->frame_bytes;
    sim_timer_arm(node, &gate->drain_timer, node->now_ps + bits * SIM_PS_PER_S / gate->drain_bps);
}

static void drain_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    nic_gate_t *const gate = SIM_CONTAINER_OF(timer, nic_gate_t, drain_timer);
    net_packet_t *const packet = gate->first;
    gate->first = packet->next;
    gate->last = gate->first == NULL ? NULL : gate->last;
    gate->bytes -= packet->frame_bytes;
    packet->next = NULL;
    resume_link(gate);
    nic__receive(gate->nic, packet);
    drain_next(gate);
}

void nic__gate_push(nic_gate_t *gate, net_packet_t *packet)
{
    packet->next = NULL;
    if (gate->first == NULL) {
        gate->first = packet;
    } else {
        gate->last->next = packet;
    }
    gate->last = packet;
    gate->bytes += packet->frame_bytes;
    gate->bytes_max = SIM_MAX(gate->bytes, gate->bytes_max);
    gate->waited++;
    const uint8_t class = (uint8_t)(1u << packet->priority);
    if (gate->bytes > gate->buffer_bytes && (gate->pausing & class) == 0) {
        pause_link(gate, class);
    }
    drain_next(gate);
}

void nic__gate_hold(nic_gate_t *gate, bool held)
{
    sim_node_t *const node = nic__node(gate->nic);
    if (held == gate->held || gate->nic->loop != NULL) {
        return;
    }
    gate->held = held;
    if (held) {
        gate->held_since_ps = node->now_ps;
        set_gated(gate, true);
        sim_timer_cancel(node, &gate->drain_timer);
    } else {
        gate->held_ps += node->now_ps - gate->held_since_ps;
        drain_next(gate);
    }
}

// -- life

void nic__gate_init(nic_gate_t *gate, nic_t *nic, uint64_t drain_bps, uint64_t buffer_bytes)
{
    SIM_CHECK(nic->gate == NULL && drain_bps != 0);
    *gate = (nic_gate_t){.nic = nic, .drain_bps = drain_bps, .buffer_bytes = buffer_bytes};
    sim_timer_init(&gate->drain_timer, drain_fired);
    sim_timer_init(&gate->pause_timer, pause_fired);
    nic->gate = gate;
}

void nic__gate_fini(nic_gate_t *gate)
{
    gate->nic->gate = NULL;
    gate->nic->gated = false;
}
