// SPDX-License-Identifier: Apache-2.0
// nic/transport/stalled_pipeline.h - the receive pipeline of a NIC, which a transport can make
// stand still.
//
// While the pipeline stands, every packet that arrives at the NIC waits in its order. Afterwards
// the NIC takes the waiting packets at `drain_bps`, and new ones queue behind them. When more than
// `buffer_bytes` wait, the NIC pauses its link, class by class of what arrives, until half of that
// is left. A detailed NIC's packets wait behind its own units and buffer.
// A NIC whose loop belongs to its scheduler has no gate: its pipeline never stands.
#ifndef NIC_TRANSPORT_STALLED_PIPELINE_H
#define NIC_TRANSPORT_STALLED_PIPELINE_H

#include "nic/objects/objects.h"

typedef struct nic_gate {
    nic_t *nic;
    uint64_t drain_bps;
    uint64_t buffer_bytes;
    bool held;
    net_packet_t *first; // waiting, linked by `next`
    net_packet_t *last;
    uint64_t bytes;
    sim_timer_t drain_timer;
    sim_timer_t pause_timer; // renews the pause
    uint8_t pausing;         // classes
    sim_time_t held_since_ps;
    // so far
    uint64_t held_ps;
    uint64_t waited; // packets
    uint64_t bytes_max;
    uint64_t pauses;
} nic_gate_t;

// Makes the gate of a NIC that has none. drain_bps is more than 0.
void nic__gate_init(nic_gate_t *gate, nic_t *nic, uint64_t drain_bps, uint64_t buffer_bytes);
// Gives the waiting packets up, with their network.
void nic__gate_fini(nic_gate_t *gate);
// Makes the pipeline stand, or lets it go on.
void nic__gate_hold(nic_gate_t *gate, bool held);
// Takes a packet that arrived while nic->gated.
void nic__gate_push(nic_gate_t *gate, net_packet_t *packet);

#endif // NIC_TRANSPORT_STALLED_PIPELINE_H
