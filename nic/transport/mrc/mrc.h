// SPDX-License-Identifier: Apache-2.0
// nic/transport/mrc/mrc.h - Multipath Reliable Connection: RC whose packets are sprayed over many
// paths, placed in any order and acknowledged one by one.
//
// Paths: evs.c. Sender: send.c, repair.c. Receiver: receive.c. Page: docs/models/mrc.md.
// Source: MRC Specification 1.0 (OCP, March 2026), as public notes and implementations give it.
#ifndef NIC_TRANSPORT_MRC_MRC_H
#define NIC_TRANSPORT_MRC_MRC_H

#include "nic/path/port_routes.h"
#include "nic/transport/mrc/evs.h"
#include "nic/transport/selective/flight.h"
#include "nic/transport/selective/nscc.h"
#include "nic/transport/selective/sack.h"

// Whether a queue pair keeps to a window.
typedef enum nic_mrc_control {
    NIC_MRC_NSCC,
    NIC_MRC_UNLIMITED,
} nic_mrc_control_t;

typedef enum nic_mrc_operations {
    NIC_MRC_WRITES,
    NIC_MRC_ALL, // SEND, READ and atomics, too
} nic_mrc_operations_t;

// How round trips are measured.
typedef enum nic_mrc_times {
    NIC_MRC_HEADER, // by time stamps in packets
    NIC_MRC_LOCAL,  // by the sender's own record
} nic_mrc_times_t;

typedef struct nic_mrc_config {
    nic_mrc_control_t control;
    nic_mrc_operations_t operations;
    nic_evs_config_t evs;
    nic_mrc_times_t times;
    uint64_t ack_bytes;
    uint64_t range_packets;
    sim_time_t reorder_ps; // SIM_AUTO
    sim_time_t quiet_ps;   // SIM_AUTO
    sim_time_t rto_ps;     // SIM_AUTO
    uint64_t rto_linear;
    sim_time_t rto_max_ps;
} nic_mrc_config_t;

extern const sim_attr_table_t nic__mrc_attrs;

// The counters that all queue pairs of a NIC share.
typedef struct nic_mrc_shared {
    nic_single_acks_shared_t held; // first
    uint64_t retransmitted;
    uint64_t sacks;   // sent
    uint64_t nacks;   // sent, for trimmed packets
    uint64_t trimmed; // trimmed packets that arrived as new data
    uint64_t probes;  // sent
    uint64_t credits; // always 0: MRC has no credit, and readers of UEC's summary find the name
    uint64_t gaps;    // packets found lost by a gap in a SACK
    uint64_t lost;    // packets found lost by a time-out
    uint64_t skipped; // paths that became SKIP
    uint64_t failed;  // paths that became ASSUMED_BAD
    uint64_t healed;  // paths that came back from there
} nic_mrc_shared_t;

// The length of the frame that was sent last, and what it follows from: most are alike.
typedef struct nic_mrc_frame {
    uint8_t opcode; // 0: none yet
    uint8_t flags;  // net_packet_aside_t.mrc.flags
    uint16_t payload_bytes;
    uint32_t bytes;
} nic_mrc_frame_t;

typedef struct nic_mrc {
    nic_single_acks_t held; // first
    const nic_mrc_config_t *config;
    uint64_t range_packets; // a multiple of 128
    // sender
    nic_flight_t flight;
    nic_evs_t evs;
    nic_nscc_t nscc;
    bool windowed;
    sim_time_t rto_ps;     // at least: see nic__mrc_rto_ps
    sim_time_t reorder_ps; // at least: see nic__mrc_reorder_ps
    sim_time_t quiet_ps;
    sim_time_t heard_ps;  // of the last answer, or of the probe that asked for one
    sim_time_t newest_ps; // when the newest packet was sent that is known to have arrived
    uint32_t probe_number;
    uint32_t immediates; // WRITEs with immediate among the work requests that began to be sent
    nic_mrc_frame_t frame;
    nic_port_routes_t routes; // by EV
    // receiver
    nic_sack_t sack;
    uint32_t told_msn;  // of the last transport ACK
    bool turn;          // the last bitmap began at the packet that caused it
    uint64_t shown_psn; // where the next one begins that goes from the oldest gap on
} nic_mrc_t;

static inline nic_mrc_t *nic__mrc_of(nic_qp_t *qp)
{
    return nic__state(qp);
}

static inline nic_mrc_shared_t *nic__mrc_shared(const nic_mrc_t *mrc)
{
    return mrc->held.base.nic_state;
}

bool nic__mrc_ready(const nic_qp_t *qp);
bool nic__mrc_any_path(const nic_mrc_t *mrc); // some path is usable
net_packet_t *nic__mrc_next_packet(nic_t *nic, nic_qp_t *qp);
// Gives a packet its path, its length on the wire and the opcode that says that it is of MRC.
void nic__mrc_dress(nic_qp_t *qp, net_packet_t *packet, uint16_t port);
// Returns the time-out of a packet that was sent again so often. Without a configured one, it is
// never shorter than the round trips measured: packets that wait in a queue are not lost.
sim_time_t nic__mrc_rto_ps(const nic_mrc_t *mrc, uint32_t times);
// Returns how much later than a missing packet one was sent whose arrival shows that the former is
// lost. It follows the round trips likewise: paths differ by their queues.
sim_time_t nic__mrc_reorder_ps(const nic_mrc_t *mrc);
// Arms the timer for what is due next, `due_ps` at the latest.
void nic__mrc_arm(nic_mrc_t *mrc, sim_time_t due_ps);

void nic__mrc_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);

#endif // NIC_TRANSPORT_MRC_MRC_H
