// SPDX-License-Identifier: Apache-2.0
// net/packet.h - a packet in flight: parsed fields, never bytes.
//
// 64 hot bytes travel from node to node. Fields that only the two ends read (RETH, DETH,
// immediates, atomics) lie in the pool's cold part; behind them lie the records of in-band
// telemetry in networks where somebody asks for them. A payload is only a number of bytes until
// its sender gives it contents (net_packet_add_contents); without contents it is all zeros. Frames
// are made by net/frame.h when a capture wants them. A packet has exactly one owner at any time: a
// queue, a channel, or the function that holds it.
#ifndef NET_PACKET_H
#define NET_PACKET_H

#include <stddef.h>
#include <string.h>

#include "kernel/pool.h"
#include "net/wire/roce.h"
#include "net/wire/trailer.h"

SIM_C_BEGIN

typedef enum net_packet_kind {
    NET_PACKET_ROCE,
    NET_PACKET_CONTROL, // between the two ends of a link: net_packet_t.control
} net_packet_kind_t;

// Messages between the two ends of a link.
typedef enum net_control {
    NET_CONTROL_PFC,       // a frame
    NET_CONTROL_CC_UPDATE, // a frame of CBFC: credits that the sender has consumed
    NET_CONTROL_LLR_AGAIN, // stands for a frame that link layer retry repeats although it has come
    // Control ordered sets, which are no frames: 8 bytes that the PCS inserts into the stream.
    NET_CONTROL_CF_UPDATE,   // of CBFC: credits that the receiver has freed
    NET_CONTROL_LLR_ACK,     // frames that have come in order
    NET_CONTROL_LLR_NACK,    // likewise, and the next one is missing
    NET_CONTROL_LLR_DAMAGED, // no set: stands for a frame that is damaged when it comes
} net_control_t;
#define NET_CONTROL_SET_BYTES 8u

// Returns whether a message is no frame that counts: a control ordered set, or a damaged frame.
static inline bool net_control_is_set(uint32_t control)
{
    return control >= NET_CONTROL_CF_UPDATE;
}

// Contents of a PFC frame.
typedef struct net_pfc {
    uint16_t quanta[NET_PRIORITIES]; // 0: resume
    uint8_t classes;
    uint8_t storming; // classes whose pause is of a storm (net/faults.h); not on the wire
} net_pfc_t;

// Contents of a message of the link layer: a cyclic counter of 20 bits for each class.
#define NET_COUNT_BITS 20u
typedef struct net_counts {
    uint16_t low[NET_PRIORITIES];
    uint8_t high[NET_PRIORITIES / 2]; // bits 16..19 of two classes
    uint8_t classes;                  // whose counters are present
} net_counts_t;

static inline uint32_t net_counts_get(const net_counts_t *counts, uint32_t priority)
{
    return counts->low[priority] | (uint32_t)(counts->high[priority / 2] >> priority % 2 * 4 & 0xf)
                                       << 16;
}
// Sets a counter that is 0.
static inline void net_counts_set(net_counts_t *counts, uint32_t priority, uint64_t value)
{
    counts->low[priority] = (uint16_t)value;
    counts->high[priority / 2] |= (uint8_t)((value >> 16 & 0xf) << priority % 2 * 4);
    counts->classes |= (uint8_t)(1u << priority);
}

typedef struct net_packet {
    struct net_packet *next; // in a queue

    // Ports for switches that follow routes (net_node_t.follows_routes): a byte per hop, 1 + the
    // port, next hop lowest. 0: the switch looks up the port. Made by net_source_route.
    uint64_t route;

    uint32_t source;        // interface id (net/network.h), which implies the IP address
    uint32_t destination;   // interface id
    uint32_t flow_hash;     // hash of the 5-tuple, computed once per QP
    uint16_t frame_bytes;   // Ethernet header to ICRC, pad included; no preamble, no FCS
    uint16_t payload_bytes; // part of frame_bytes
    union {
        uint16_t udp_source_port;
        uint16_t control; // net_control_t, of a NET_PACKET_CONTROL
    };
    uint16_t ingress_port; // in the switch that holds the packet
    uint8_t priority;      // 802.1p class, 0..7: selects the queue and the pause bit
    uint8_t kind : 1;      // net_packet_kind_t
    uint8_t sprayed : 1;   // its answer returns its udp_source_port, or it is that answer;
                           // agreed by the ends, not on the wire
    uint8_t dscp : 6;      // its upper half, the class, lies in the byte's top bits
    union {
        struct {
            uint8_t ecn : 2;
            uint8_t telemetry : 2; // net_telemetry_t; in an ACK: of the packet that it answers
            uint8_t hop_count : 4; // INT: records at net_packet_telemetry
        };
        uint8_t marks; // ecn, telemetry and hop_count together
    };
    uint8_t ttl;

    union {
        struct {
            sim_time_t sent_ps;      // when its first bit left the source NIC; an ACK echoes it;
                                     // SIM_TIME_NEVER: unknown
            uint32_t psn;            // 24 bits
            uint32_t destination_qp; // 24 bits
            uint32_t aeth;           // syndrome << 24 | MSN, where the opcode has an AETH
            union {
                uint16_t path_id; // INT: XOR of the switches' ids
                uint16_t digest;  // PINT
            };
            uint8_t opcode; // BTH
            bool ack_request : 1;
            bool solicited : 1;
            bool becn : 1;
            bool retransmission : 1; // was sent before; bookkeeping only, not on the wire
            bool acked_alone : 1; // its ACK is not merged with later ones; agreed by the ends, not
                                  // on the wire
            bool echo_ecn : 1;    // its ACK returns CE as BECN, no CNP; agreed by the ends
            bool contents : 1;    // its payload is at net_packet_aside; 0: all zeros
            bool addressed : 1;   // a WRITE that has a RETH whatever its opcode
        };
        // The fields of a control message: it needs only this line, and its flags stay 0.
        net_pfc_t pfc;
        net_counts_t counts;
        struct {
            struct net_put *put;   // message that its packets are of
            uint32_t wanted_bytes; // of requests of loads; 0: it has data
            uint32_t grouped : 1;  // a switch copies it or adds it up
            uint32_t
                number : 31; // among the trains of its message, if it is grouped; else messages
                             // that share its packet, besides the first
        } train;             // between accelerators (net/scale_up.h); its flags stay 0
    };
} net_packet_t;

static_assert(NET_INT_HOPS_MAX < 16, "hop_count has 4 bits");
static_assert(sizeof(net_pfc_t) <= 20, "pfc does not overlap the flag `contents`");
static_assert(sizeof(net_counts_t) <= 22, "counts does not overlap the flag `contents`");
static_assert(sizeof(net_packet_t) <= SIM_CACHE_LINE, "the hot part of a packet is one cache line");

// Returns the four bytes of a packet that switches change: class, DSCP, marks and TTL.
static inline uint32_t net_packet_wire(const net_packet_t *packet)
{
    uint32_t wire;
    memcpy(&wire, &packet->priority, sizeof(wire));
    return wire;
}
static inline void net_packet_set_wire(net_packet_t *packet, uint32_t wire)
{
    memcpy(&packet->priority, &wire, sizeof(wire));
}
static_assert(offsetof(net_packet_t, ttl) - offsetof(net_packet_t, priority) == 3,
              "read as one word");

static inline uint32_t net_marks_ecn(uint8_t marks)
{
    net_packet_t packet;
    packet.marks = marks;
    return packet.ecn;
}
static inline uint8_t net_marks_congested(uint8_t marks)
{
    net_packet_t packet;
    packet.marks = marks;
    packet.ecn = NET_ECN_CE;
    return packet.marks;
}

// The cold part of a packet. The opcode says which members are in use.
typedef struct net_packet_aside {
    union {
        struct {
            union {
                struct {
                    uint64_t address;
                    uint32_t rkey;
                    uint32_t length;
                } reth;
                struct {
                    uint32_t qkey;
                    uint32_t source_qp;
                } deth;
            };
            uint8_t *payload;       // payload_bytes long; only if the packet has contents
            uint32_t message_bytes; // Ultra Ethernet and MRC: the packet's place in its message
            uint32_t message_offset;
            uint32_t credit_target; // that the sender asks for, in bytes, wrapping around
        };
        struct {
            uint64_t address;
            uint64_t swap_add;
            uint64_t compare;
            uint32_t rkey;
        } atomic;
        uint64_t atomic_original;
        struct {
            uint32_t first_psn; // 24 bits
            uint32_t length;
            uint64_t bits[4]; // bit i: packet first_psn + i arrived, for the first 256
        } map;                // in a NAK of a transport that asks for single packets
        struct {
            uint32_t base_psn; // of the first bit
            uint32_t
                cause_psn; // the packet that it answers; of an answer to a probe of MRC, and in
                           // that probe: the probe's number
            uint64_t bits; // bit i: packet base_psn + i arrived
            uint64_t arrived_bytes; // so far
            union {
                uint64_t granted_bytes; // Ultra Ethernet: credit so far, in a grant, too
                uint64_t range_packets; // MRC
            };
            uint64_t ahead_packets; // that the receiver holds although one before them is missing
        } sack;                     // in an ACK of Ultra Ethernet, and a SACK of MRC
        uint32_t nack_psn;          // in a NACK of Ultra Ethernet or MRC
    };
    uint32_t immediate; // or the rkey of an IETH
    union {
        struct {
            uint32_t index; // the receiver's index of the packet
            uint8_t round;  // how often the packet, or the one it asks for, was sent before
        } selective;        // IRN, AdaMap and SDR-RDMA, which retransmit single packets
        struct {
            uint32_t pdc; // of the sender
            union {
                uint8_t flags;     // of a request: NET_UET_
                uint8_t ccx_bytes; // of an ACK: its congestion control context; 0: ACK_CC
                uint8_t code;      // of a NACK
            };
        } uet; // Ultra Ethernet
        struct {
            uint32_t qp; // of the sender
            union {
                uint8_t flags;  // NET_MRC_
                uint8_t reason; // of a NACK
            };
        } mrc;
    };
    uint32_t draw;    // names the packet in random draws with network.draws: packet
    uint64_t overlay; // header of the switches' load balancer, between leaves only
} net_packet_aside_t;

// Bits of net_packet_aside_t.mrc.flags.
enum {
    NET_MRC_AGAIN = 1 << 0,        // sent before
    NET_MRC_STAMPED = 1 << 1,      // with a time stamp
    NET_MRC_PROBE_ANSWER = 1 << 2, // a SACK that answers a probe
};

static inline net_packet_aside_t *net_packet_aside(const net_packet_t *packet)
{
    return (net_packet_aside_t *)sim_pool_cold(packet);
}

// Bits of net_packet_aside_t.uet.flags.
enum {
    NET_UET_AGAIN = 1 << 0,    // sent before
    NET_UET_ORDERED = 1 << 1,  // ROD
    NET_UET_STATE = 1 << 2,    // with the state of congestion control
    NET_UET_DATAGRAM = 1 << 3, // UUD
};

// Returns whether a packet is a datagram of Ultra Ethernet (UUD).
static inline bool net_packet_is_uud(const net_packet_t *packet)
{
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    return (packet->opcode & ROCE_TRANSPORT_MASK) == ROCE_UET && operation <= ROCE_SEND_ONLY_IMM &&
           (net_packet_aside(packet)->uet.flags & NET_UET_DATAGRAM) != 0;
}

// INT's records, NET_INT_HOPS_MAX of them, exist only in packets whose telemetry is INT.
#define NET_PACKET_TELEMETRY_AT SIM_CACHE_LINE          // byte offset in the cold part
#define NET_PACKET_TELEMETRY_BYTES (3 * SIM_CACHE_LINE) // size of the cold part with records
static_assert(NET_PACKET_TELEMETRY_AT + NET_INT_BYTES_MAX <= NET_PACKET_TELEMETRY_BYTES, "");
static_assert(sizeof(net_packet_aside_t) <= NET_PACKET_TELEMETRY_AT, "the records lie behind it");

static inline uint64_t *net_packet_telemetry(const net_packet_t *packet)
{
    return (uint64_t *)(void *)((char *)sim_pool_cold(packet) + NET_PACKET_TELEMETRY_AT);
}

SIM_C_END

#endif // NET_PACKET_H
