// SPDX-License-Identifier: Apache-2.0
// net/frame.h - the codec between a frame's fields and its bytes; there is no other one.
//
// A net_frame_t holds every field of an Ethernet frame that rocesim knows: RoCEv2, MRC and Ultra
// Ethernet over IPv4 or IPv6, with or without an 802.1Q tag, RoCEv2 with or without in-band
// telemetry behind it (net/wire/trailer.h), 802.1Qbb PFC MAC control frames, and CC_Updates of
// Ultra Ethernet. Bytes are as on an Ethernet link without preamble and FCS (LINKTYPE_ETHERNET).
// All multi-byte fields of the struct are in host order.
//
// Sources: IEEE 802.3 (31, annex 31B/31D), 802.1Q (9.6, 36), RFC 791, RFC 8200, RFC 768,
// IBA vol. 1 ch. 9 and annex A17 (RoCEv2; A17.3.3: ICRC).
#ifndef NET_FRAME_H
#define NET_FRAME_H

#include "kernel/base.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "net/wire/mrc.h"
#include "net/wire/roce.h"
#include "net/wire/trailer.h"
#include "net/wire/uet.h"

SIM_C_BEGIN

#define NET_FRAME_HEADERS_MAX 160 // maximum number of bytes before the payload
#define NET_FRAME_BYTES_MAX 4400  // MTU 4096, every header and all telemetry

static_assert(NET_FRAME_HEADERS_MAX + ROCE_MTU_STANDARD_MAX + ROCE_ICRC_BYTES + NET_INT_BYTES_MAX <=
                  NET_FRAME_BYTES_MAX,
              "the largest frame with all telemetry");

#define NET_VCS 16u // virtual channels in one CC_Update

typedef struct net_frame {
    bool without_icrc; // build: the ICRC is zero, for a reader that does not look at it

    uint8_t destination_mac[6];
    uint8_t source_mac[6];
    bool tagged; // 802.1Q
    uint8_t pcp; // priority in the tag
    uint16_t vlan_id;

    bool is_pfc;
    uint8_t pfc_classes;    // bit per priority
    uint16_t pfc_quanta[8]; // 0: resume

    bool is_cc_update;             // of Ultra Ethernet's credits (docs/models/link-layer.md)
    uint32_t cc_consumed[NET_VCS]; // by virtual channel, 20 bits each

    bool ipv6;
    uint8_t dscp;
    uint8_t ecn;
    uint8_t ttl;           // IPv4's TTL, IPv6's hop limit
    uint16_t ip_id;        // IPv4; DF is always set
    uint32_t flow_label;   // IPv6
    uint8_t source_ip[16]; // IPv4 uses the first four bytes
    uint8_t destination_ip[16];
    uint16_t udp_source_port; // destination is always 4791 and the UDP checksum 0
                              // (IPv4) or computed (IPv6)

    // Ultra Ethernet over UDP: headers, then the payload. It has no BTH, pad and ICRC.
    bool is_uet;
    net_uet_t uet;

    // A frame of a program (net/ethernet.h): the payload is all of it, in which ecn and ttl are
    // written. It is built and never parsed.
    bool is_ethernet;

    // MRC: BTH, then its own headers, payload, pad and ICRC. No extension header below is there.
    bool is_mrc;
    net_mrc_t mrc;

    // BTH
    uint8_t opcode;
    bool solicited;
    bool migration;    // MigReq
    uint8_t pad_bytes; // 0..3, set by the builder from payload_bytes
    uint16_t pkey;
    bool fecn;
    bool becn;
    uint32_t destination_qp;
    bool ack_request;
    uint32_t psn;

    // Extension headers. The opcode says which of them are present.
    struct {
        uint64_t address;
        uint32_t rkey;
        uint32_t length;
    } reth;
    struct {
        uint8_t syndrome;
        uint32_t msn;
    } aeth;
    struct {
        uint32_t qkey;
        uint32_t source_qp;
    } deth;
    uint32_t immediate;
    uint32_t invalidate_rkey; // IETH
    struct {
        uint64_t address;
        uint32_t rkey;
        uint64_t swap_add;
        uint64_t compare;
    } atomic;
    uint64_t atomic_original; // AtomicAckETH

    // Bytes that a selective transport adds behind the standard's headers. To other receivers they
    // are part of the payload; two reserved bits of the BTH announce them (docs/formats/frames.md).
    // A multiple of 4 bytes: an ACK's map (12 to 64), else a RETH (16), the round and index of a
    // retransmission (4), or both.
    uint32_t extra_bytes;
    uint8_t extra[64];

    uint32_t payload_bytes;
    const uint8_t *payload; // building: NULL means zeros; after parsing: points into the bytes
    uint32_t icrc;          // after parsing: the frame's; net_frame_icrc_ok checks it

    // In-band telemetry: RC SENDs, WRITEs and ACKs may have it.
    uint8_t telemetry;     // net_telemetry_t
    uint8_t digest_bytes;  // PINT: 1 or 2
    uint8_t hop_count;     // INT
    uint8_t reserved_hops; // INT: zeros follow the records up to this count
    uint16_t path_id;
    uint16_t digest; // PINT
    // Header of a load balancer, a trailer behind the telemetry: its first 8 bytes, then zeros.
    // Such a packet is built and never parsed.
    uint64_t overlay;
    uint8_t overlay_bytes;
    uint64_t hops[NET_INT_HOPS_MAX]; // INT records (net/telemetry.h); last, as most are unused
} net_frame_t;

// Returns whether a frame is a MAC control frame, which has no packet.
static inline bool net_frame_is_control(const net_frame_t *frame)
{
    return frame->is_pfc || frame->is_cc_update;
}

// Writes the frame with correct lengths, checksums, pad and ICRC. Returns its length, which

// capacity_bytes must hold. A field that does not fit its place is a bug and ends the program.
size_t net_frame_build(const net_frame_t *frame, uint8_t *bytes, size_t capacity_bytes);

// Reads a frame and never reads beyond size_bytes. frame->payload points into bytes. Fails with
// SIM_ERR_INVALID and a message for bytes that are not a well-formed frame of the kinds above. A
// wrong ICRC is not an error here: see net_frame_icrc_ok.
SIM_MUST_CHECK sim_err_t net_frame_parse(const uint8_t *bytes, size_t size_bytes,
                                         net_frame_t *frame, sim_message_t *message);

// Returns whether the ICRC in these bytes is right. frame is the result of parsing them.
bool net_frame_icrc_ok(const uint8_t *bytes, size_t size_bytes, const net_frame_t *frame);

SIM_C_END

#endif // NET_FRAME_H
