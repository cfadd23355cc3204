// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/nscc.h - NSCC, the sender's window of Ultra Ethernet and MRC: it follows
// the delay and the marks of single packets, and falls to what arrived in a round trip when packets
// are trimmed or lost.
//
// The law counts bytes of frames, and knows no packets: transports call it for each ACK and NACK.
// Source: Ultra Ethernet Specification 1.0, congestion management, and the project's public
// simulator. Page: docs/models/uec.md.
#ifndef NIC_TRANSPORT_SELECTIVE_NSCC_H
#define NIC_TRANSPORT_SELECTIVE_NSCC_H

#include "kernel/attribute.h"

SIM_C_BEGIN

// The sample that the average delay takes of an unmarked packet above the target.
typedef enum nic_nscc_sample {
    NIC_NSCC_MEASURED,
    NIC_NSCC_QUARTER, // a quarter of the base round trip, as in the public simulator
} nic_nscc_sample_t;

typedef struct nic_nscc_config {
    sim_ratio_t target; // in round trips of the idle path
    sim_ratio_t alpha;
    sim_ratio_t fair;
    sim_ratio_t eta;
    sim_ratio_t fast;
    sim_ratio_t gamma;
    sim_ratio_t least_cut;
    sim_ratio_t weight;
    sim_ratio_t cap; // in bandwidth-delay products
    uint64_t adjust_packets;
    sim_ratio_t quick_share;
    sim_ratio_t quick_delay; // in targets
    nic_nscc_sample_t sample;
} nic_nscc_config_t;

extern const sim_attr_table_t nic_nscc_attrs; // "nic.nscc."

typedef struct nic_nscc {
    const nic_nscc_config_t *config;
    uint64_t line_bps;
    sim_time_t network_ps; // round trip of the network's longest idle path
    sim_time_t base_ps;    // network_ps, or the shortest round trip that was measured
    sim_time_t target_ps;
    double scale_rate;  // a: bandwidth-delay product / that of the reference network
    double scale_delay; // b: target / round trip of the reference network
    double window_bytes;
    double cap_bytes;
    double mss_bytes; // payload of a full packet
    double mtu_bytes; // its frame
    double average_ps;
    double increase; // bytes x bytes that await the next adjustment
    double adjust_bytes;
    sim_time_t adjusted_ps; // of the last addition of eta
    sim_time_t cut_ps;      // of the last decrease
    double fast_bytes;      // received in a row with almost no delay
    bool fast;
    bool alarmed;        // a packet was trimmed since QuickAdapt set the window
    double quick_bytes;  // received since then
    sim_time_t quick_ps; // when it looks next; 0: never yet
    double ignored_bytes;
    double ignore_bytes;
    uint64_t quick_count; // times that QuickAdapt set the window
} nic_nscc_t;

// Begins with the largest window. base_ps: the round trip of the idle path; payload_bytes and
// frame_bytes: of a full packet.
void nic__nscc_init(nic_nscc_t *nscc, const nic_nscc_config_t *config, uint64_t line_bps,
                    sim_time_t base_ps, uint32_t payload_bytes, uint32_t frame_bytes);
// The packet that caused an ACK.
typedef struct nic_nscc_cause {
    sim_time_t rtt_ps; // its round trip; 0: unknown
    bool full;         // it had a full payload
    bool marked;
} nic_nscc_cause_t;

// Takes in an ACK, and the bytes that have newly arrived. in_flight_bytes: after they were taken
// off.
void nic__nscc_ack(nic_nscc_t *nscc, sim_time_t now_ps, const nic_nscc_cause_t *sample,
                   uint64_t bytes, uint64_t in_flight_bytes);
// Takes in that a packet of so many bytes was trimmed. rtt_ps: from its departure to the NACK, 0:
// unknown, or the packet was not full. excused: the receiver's credit controls the place.
void nic__nscc_trimmed(nic_nscc_t *nscc, sim_time_t now_ps, sim_time_t rtt_ps, uint32_t bytes,
                       bool excused, uint64_t in_flight_bytes);
// Takes in that a packet of so many bytes was lost without a trace.
void nic__nscc_lost(nic_nscc_t *nscc, uint32_t bytes);

SIM_C_END

#endif // NIC_TRANSPORT_SELECTIVE_NSCC_H
