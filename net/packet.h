// SPDX-License-Identifier: Apache-2.0
// net/packet.h - a packet in flight: parsed fields, never bytes.
//
// 64 hot bytes travel from node to node; what only the two ends read (RETH, DETH, immediates,
// atomics) lies aside in the pool's cold part, and behind it the records of in-band telemetry in
// networks where someone asks for them. A payload is a number of bytes and nothing else until its
// sender gives it contents (net_packet_add_contents): a packet without any carries zeros. Frames
// are made by net/frame.h when a capture wants them.
// Exactly one owner at any time: a queue, a channel, or the function that was handed it.
#ifndef NET_PACKET_H
#define NET_PACKET_H

#include "kernel/pool.h"
#include "net/wire/roce.h"
#include "net/wire/trailer.h"

SIM_C_BEGIN

typedef enum net_packet_kind { NET_PACKET_ROCE, NET_PACKET_PFC } net_packet_kind_t;

// Of a PFC frame.
typedef struct net_pfc {
    uint16_t quanta[NET_PRIORITIES]; // 0: resume
    uint8_t classes;
} net_pfc_t;

typedef struct net_packet {
    struct net_packet *next; // in a queue

    // Where switches that follow routes (net_node_t.follows_routes) send it: 1 + the port, a byte
    // for each, the next one lowest. 0: they look it up. Of net_source_route.
    uint64_t route;

    uint32_t source;        // interface ids (net/network.h): they name the IP addresses
    uint32_t destination;   // likewise
    uint32_t flow_hash;     // of the 5-tuple, computed once per QP
    uint16_t frame_bytes;   // Ethernet header to ICRC, pad included; no preamble, no FCS
    uint16_t payload_bytes; // of these, the payload alone
    uint16_t udp_source_port;
    uint16_t ingress_port; // of the switch that holds it
    uint8_t priority;      // 802.1p class, 0..7: which queue and which pause bit
    uint8_t kind : 1;      // net_packet_kind_t
    uint8_t : 1;           // so that the class is all that is above the lower half of the DSCP
    uint8_t dscp : 6;
    union {
        struct {
            uint8_t ecn : 2;
            uint8_t telemetry : 2; // net_telemetry_t; in an ACK: that of the packet it answers
            uint8_t hop_count : 4; // INT: records at net_packet_telemetry
        };
        uint8_t marks; // all three
    };
    uint8_t ttl;

    union {
        struct {
            sim_time_t sent_ps;      // when its first bit left the source NIC; an ACK echoes it, or
                                     // has NEVER
            uint32_t psn;            // 24 bits
            uint32_t destination_qp; // 24 bits
            uint32_t aeth;           // syndrome << 24 | MSN, where the opcode has an AETH
            union {
                uint16_t path_id; // INT: exclusive or of the switches' ids
                uint16_t digest;  // PINT
            };
            uint8_t opcode; // BTH
            bool ack_request : 1;
            bool solicited : 1;
            bool becn : 1;
            bool retransmission : 1; // sent_ps says nothing; bookkeeping only: not on the wire
            bool acked_alone : 1; // its ACK is not merged with later ones; agreed by the ends, not
                                  // sent
            bool echo_ecn : 1;    // CE comes back as BECN of its ACK, not as a CNP; likewise agreed
            bool contents : 1;    // its payload is at net_packet_aside; else it is all zeros
            bool addressed : 1;   // a WRITE's, with a RETH whatever its opcode
        };
        net_pfc_t pfc; // in a PFC frame, which needs no other line than this, and has no flags
    };
} net_packet_t;

static_assert(NET_INT_HOPS_MAX < 16, "hop_count has room for it");
static_assert(sizeof(net_pfc_t) <= 20, "contents stays what it says in a PFC frame, too");
static_assert(sizeof(net_packet_t) <= SIM_CACHE_LINE, "the hot part of a packet is one cache line");

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

// Aside. Which members mean something follows from the opcode.
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
            uint8_t *payload; // payload_bytes of it, where the packet has contents
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
            uint64_t bits[4]; // of the first 256 packets: it came
        } map;                // in a NAK of a transport that asks for single packets
    };
    uint32_t immediate; // or the rkey of an IETH
    struct {
        uint32_t index; // of the receiver's
        uint8_t round;  // how often what it carries or asks for was sent before
    } selective;        // of transports that send single packets again
} net_packet_aside_t;

static inline net_packet_aside_t *net_packet_aside(const net_packet_t *packet)
{
    return (net_packet_aside_t *)sim_pool_cold(packet);
}

// The records of INT, NET_INT_HOPS_MAX of them: only in packets whose kind of telemetry is INT.
#define NET_PACKET_TELEMETRY_AT SIM_CACHE_LINE          // in the cold part...
#define NET_PACKET_TELEMETRY_BYTES (3 * SIM_CACHE_LINE) // ...which then is this large
static_assert(NET_PACKET_TELEMETRY_AT + NET_INT_BYTES_MAX <= NET_PACKET_TELEMETRY_BYTES, "");
static_assert(sizeof(net_packet_aside_t) <= NET_PACKET_TELEMETRY_AT, "what lies aside comes first");

static inline uint64_t *net_packet_telemetry(const net_packet_t *packet)
{
    return (uint64_t *)(void *)((char *)sim_pool_cold(packet) + NET_PACKET_TELEMETRY_AT);
}

SIM_C_END

#endif // NET_PACKET_H
