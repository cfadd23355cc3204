// SPDX-License-Identifier: Apache-2.0
// nic/transport/uec/uec.h - Ultra Ethernet's reliable transports: RUD, which takes packets in any
// order, and ROD, which takes them in order and goes back.
//
// A queue pair is a packet delivery context (PDC), which its first packet sets up. Sender: send.c,
// paths.c. Receiver: receive.c. Page: docs/models/uec.md.
// Source: Ultra Ethernet Specification 1.0, packet delivery sublayer (3.5).
#ifndef NIC_TRANSPORT_UEC_UEC_H
#define NIC_TRANSPORT_UEC_UEC_H

#include "kernel/list.h"
#include "nic/host/listen.h"
#include "nic/path/port_routes.h"
#include "nic/transport/selective/flight.h"
#include "nic/transport/selective/nscc.h"
#include "nic/transport/selective/prefetch.h"
#include "nic/transport/selective/sack.h"
#include "nic/transport/uec/paths.h"

// The reason that holds the sender back.
typedef enum nic_uec_control {
    NIC_UEC_NSCC, // its window
    NIC_UEC_RCCC, // the receiver's credit
    NIC_UEC_BOTH,
    NIC_UEC_UNLIMITED,
} nic_uec_control_t;

// The header of ACKs. Public sources disagree about the length of ACK_CCX.
typedef enum nic_uec_ack {
    NIC_UEC_ACK_CC,
    NIC_UEC_ACK_CCX_32, // xdp2
    NIC_UEC_ACK_CCX_40, // uet-ref-prov
} nic_uec_ack_t;

// The rule by which a sender asks for credit.
typedef enum nic_uec_demand {
    NIC_UEC_DEMAND_WINDOW,  // its share of the largest window of its NIC
    NIC_UEC_DEMAND_MISSING, // what it misses, divided by the senders that wait for the port
} nic_uec_demand_t;

typedef struct nic_uec_config {
    nic_uec_control_t control;
    nic_uec_demand_t demand;
    bool sleek;
    nic_uec_spray_t spray;
    uint64_t paths;
    uint64_t ack_bytes;
    uint64_t range_packets;
    sim_time_t rto_ps; // SIM_AUTO
    sim_time_t rto_max_ps;
    sim_ratio_t narrowness; // of the fabric: the hosts' rate / its share of the fabric's; 1: none
    nic_uec_ack_t ack_header;
    bool congestion_state; // data packets carry the CC state: 4 bytes more
} nic_uec_config_t;

extern const sim_attr_table_t nic__uec_attrs;

// The counters that all PDCs of a NIC share.
typedef struct nic_uec_shared {
    nic_single_acks_shared_t held; // first
    uint64_t retransmitted;
    uint64_t sacks;   // ACKs sent
    uint64_t nacks;   // NACKs sent, for trimmed packets and, with ROD, for gaps
    uint64_t trimmed; // trimmed packets that arrived as new data
    uint64_t probes;  // sent
    uint64_t credits; // grants sent
    uint64_t lost;    // packets found lost by a time-out
    // RCCC: receivers of this NIC that owe credit take turns.
    nic_t *nic;
    sim_timer_t pacer;
    sim_time_t paced_ps; // no grant before this time
    double share;        // of the link's rate that grants take: less in a narrow fabric
    double marked;       // smoothed share of marked packets
    uint32_t calm;       // periods without marks in a row
    sim_time_t look_ps;  // end of the period
    uint64_t came;       // packets in it, whole or trimmed
    uint64_t came_marked;
    uint64_t came_cut; // trimmed before the last hop
    sim_random_t random;
    sim_list_t owed;  // nic_uec_grants_t: PDCs that wait for credit
    sim_list_t turns; // PDCs that get more credit than they asked for, while none is owed some
    nic_prefetch_t expect;
} nic_uec_shared_t;

// RCCC: the credit that a receiver grants a PDC. With the demand "missing" it outlives the PDC, as
// long as it waits for a turn.
typedef struct nic_uec_grants {
    struct nic_uec *uec; // NULL: the PDC has ended
    uint64_t line_bps;
    uint64_t granted_bytes;   // so far
    uint64_t target_bytes;    // what the sender asks for, or needs for trimmed packets
    uint64_t ahead_max_bytes; // how far granted_bytes may lie above target_bytes
    uint32_t size_bytes;      // of a grant
    uint32_t turn_count;      // in the shared list of turns
    sim_link_t owed;          // in the shared list of that name
    bool is_owed;
    bool missing_only; // nic.uec.demand
} nic_uec_grants_t;

typedef struct nic_uec {
    nic_single_acks_t held; // first
    const nic_uec_config_t *config;
    uint64_t range_packets; // 0 until the queue pair is connected
    bool rod;
    // sender
    nic_flight_t flight;
    bool windowed; // it keeps to the window of nscc
    bool credited; // it keeps to the receiver's credit
    nic_nscc_t nscc;
    int64_t credit_bytes;   // that may be sent now
    uint64_t granted_bytes; // by the receiver so far
    bool speculative;       // nothing was heard yet: the first window needs no grant
    sim_time_t rto_ps;
    sim_time_t heard_ps;   // of the last answer or probe
    sim_time_t probe_ps;   // of the last probe
    uint64_t recovery_psn; // SLEEK repairs losses until everything before it has arrived
    uint64_t repaired_psn; // SLEEK has looked at everything before this one
    bool trims;            // a NACK has shown that the network trims
    nic_uec_paths_t paths;
    nic_port_routes_t routes; // two for each of paths.count values (receive.c)
    // receiver
    nic_sack_t sack;
    uint64_t told_psn;        // ROD: the gap that was reported last; UINT64_MAX: none
    nic_uec_grants_t *grants; // RCCC, else NULL
} nic_uec_t;

static inline nic_uec_t *nic__uec_of(nic_qp_t *qp)
{
    return nic__state(qp);
}

static inline nic_uec_shared_t *nic__uec_shared(const nic_uec_t *uec)
{
    return uec->held.base.nic_state;
}

bool nic__uec_ready(const nic_qp_t *qp);
net_packet_t *nic__uec_next_packet(nic_t *nic, nic_qp_t *qp);
void nic__uec_acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
void nic__uec_responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
void nic__uec_timed_out(nic_qp_t *qp);

// Reports to listeners that the numbers of the control (setup.c) may have changed.
static inline void nic__uec_show_control(nic_qp_t *qp)
{
    if (nic__traced(qp->nic, NIC_TRACE_CONTROL)) {
        nic__trace(qp->nic, qp, NIC_TRACE_CONTROL, 0, 0);
    }
}

void nic__uec_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
// Gives a packet of a PDC its length on the wire and the opcode that says so. port: its UDP
// source port, which stands for its path; ROD keeps to that of the queue pair.
void nic__uec_dress(nic_qp_t *qp, net_packet_t *packet, uint16_t port);

#endif // NIC_TRANSPORT_UEC_UEC_H
