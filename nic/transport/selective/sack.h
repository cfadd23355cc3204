// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/sack.h - when the receiver of a sprayed transport answers, and with what.
// Ultra Ethernet and MRC share this part.
#ifndef NIC_TRANSPORT_SELECTIVE_SACK_H
#define NIC_TRANSPORT_SELECTIVE_SACK_H

#include "nic/transport/selective/early_packets.h"

#define NIC_SACK_BITS 64u // of the bitmap of an answer

// The fields of a packet that the answer to it needs.
typedef struct nic_sack_cause {
    uint64_t psn;
    sim_time_t sent_ps; // SIM_TIME_NEVER: the answer has no time
    uint16_t port;      // its UDP source port, by which the answer returns
    uint32_t payload_bytes;
    bool marked;
    bool ack_request;
} nic_sack_cause_t;

// The state of a receiver.
typedef struct nic_sack {
    uint64_t taken_bytes; // of frames with a payload that have come for the first time
    uint64_t quiet_bytes; // of all frames with a payload, since the last answer
    bool any;             // a packet has come
    bool asked;           // one has asked for an answer, which waits until nothing is missing
} nic_sack_t;

// Returns what the answer to a packet needs. expected_psn: the first that is missing.
static inline nic_sack_cause_t nic__sack_cause(const net_packet_t *packet, uint64_t expected_psn)
{
    return (nic_sack_cause_t){
        .psn = nic__psn(packet->psn, expected_psn),
        .sent_ps = packet->sent_ps,
        .port = packet->udp_source_port,
        .payload_bytes = packet->payload_bytes,
        .marked = packet->ecn == NET_ECN_CE,
        .ack_request = packet->ack_request,
    };
}

// Counts a packet that was taken. frame_bytes: its frame as windows count it; 0: it has no payload.
// again: it had come before. Returns whether it is the first.
static inline bool nic__sack_count(nic_sack_t *sack, uint32_t frame_bytes, bool again)
{
    const bool first = !sack->any;
    sack->taken_bytes += again ? 0 : frame_bytes;
    sack->quiet_bytes += frame_bytes;
    sack->any = true;
    return first;
}

// Returns whether a packet is to be answered now: `at_once` or if it asks for it, after enough
// bytes, or because the last missing one has come after an answer was asked for. whole: nothing is
// missing.
static inline bool nic__sack_due(nic_sack_t *sack, const nic_sack_cause_t *cause, bool at_once,
                                 bool whole, uint64_t ack_bytes)
{
    sack->asked |= cause->ack_request;
    const bool due = at_once || cause->marked || cause->ack_request || (sack->asked && whole) ||
                     sack->quiet_bytes >= ack_bytes;
    sack->asked = sack->asked && !(due && whole);
    return due;
}

// Returns the bitmap of NIC_SACK_BITS PSNs from base_psn on, lowest bit first.
static inline uint64_t nic__sack_bits(const nic_early_t *kept, uint64_t base_psn)
{
    return nic__early_bits(kept, base_psn, NIC_SACK_BITS);
}

#endif // NIC_TRANSPORT_SELECTIVE_SACK_H
