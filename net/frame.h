// SPDX-License-Identifier: Apache-2.0
// net/frame.h - the one codec: a frame's fields to bytes and back.
//
// A net_frame_t holds every field of an Ethernet frame that rocesim knows: RoCEv2 over IPv4 or
// IPv6, with or without an 802.1Q tag, with or without in-band telemetry behind it
// (net/wire/trailer.h), and 802.1Qbb PFC MAC control frames. Bytes are as on an Ethernet link
// without preamble and FCS (LINKTYPE_ETHERNET). All multi-byte fields of the struct are in host
// order.
//
// Sources: IEEE 802.3 (31, annex 31B/31D), 802.1Q (9.6, 36), RFC 791, RFC 8200, RFC 768,
// IBA vol. 1 ch. 9 and annex A17 (RoCEv2; A17.3.3: ICRC).
#ifndef NET_FRAME_H
#define NET_FRAME_H

#include "kernel/base.h"
#include "net/wire/roce.h"
#include "net/wire/trailer.h"

SIM_C_BEGIN

#define NET_FRAME_HEADERS_MAX 160 // bytes before the payload, at most
#define NET_FRAME_BYTES_MAX 4400  // MTU 4096, every header and all telemetry

static_assert(NET_FRAME_HEADERS_MAX + 4096 + ROCE_ICRC_BYTES + NET_INT_BYTES_MAX <=
                  NET_FRAME_BYTES_MAX,
              "the largest frame with all telemetry");

typedef struct net_frame {
    uint8_t destination_mac[6];
    uint8_t source_mac[6];
    bool tagged; // 802.1Q
    uint8_t pcp; // of the tag
    uint16_t vlan_id;

    bool is_pfc;
    uint8_t pfc_classes;    // bit per priority
    uint16_t pfc_quanta[8]; // 0: resume

    bool ipv6;
    uint8_t dscp;
    uint8_t ecn;
    uint8_t ttl;           // hop limit
    uint16_t ip_id;        // IPv4; DF is always set
    uint32_t flow_label;   // IPv6
    uint8_t source_ip[16]; // IPv4: the first four bytes
    uint8_t destination_ip[16];
    uint16_t udp_source_port; // destination is always 4791 and the UDP checksum 0
                              // (IPv4) or computed (IPv6)

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

    // Extension headers; which are present follows from the opcode.
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

    // What a selective transport puts behind the standard's headers, before the payload, of which
    // it is a part to who does not know it; two bits of the BTH that the standard reserves tell of
    // it (docs/formats/frames.md). A multiple of 4 bytes: an ACK's map (12 to 64), else a RETH
    // (16), the round and index of a retransmission (4), or both.
    uint32_t extra_bytes;
    uint8_t extra[64];

    uint32_t payload_bytes;
    const uint8_t *payload; // NULL when building: zeros. After parsing: points into the bytes.
    uint32_t icrc;          // after parsing: as found; see net_frame_icrc_ok

    // In-band telemetry: RC SENDs, WRITEs and ACKs may have it.
    uint8_t telemetry;     // net_telemetry_t
    uint8_t digest_bytes;  // PINT: 1 or 2
    uint8_t hop_count;     // INT
    uint8_t reserved_hops; // INT: zeros follow the records up to so many; 0: as many as records
    uint16_t path_id;
    uint16_t digest;                 // PINT
    uint64_t hops[NET_INT_HOPS_MAX]; // INT: net/telemetry.h reads them. Last: most are not there
} net_frame_t;

// Extension headers an opcode carries.
enum {
    NET_EXT_RETH = 1 << 0,
    NET_EXT_AETH = 1 << 1,
    NET_EXT_DETH = 1 << 2,
    NET_EXT_IMMDT = 1 << 3,
    NET_EXT_IETH = 1 << 4,
    NET_EXT_ATOMIC = 1 << 5,
    NET_EXT_ATOMIC_ACK = 1 << 6,
    NET_EXT_CNP = 1 << 7,     // 16 reserved bytes
    NET_EXT_KNOWN = 1 << 8,   // set for every opcode of RoCEv2 RC, UC, UD and the CNP
    NET_EXT_PAYLOAD = 1 << 9, // may carry payload
};

// The set of NET_EXT_ bits of an opcode; 0 for an opcode that RoCEv2 does not have.
uint32_t net_frame_extensions(uint8_t opcode);
// Their bytes together (with the CNP's reserved 16).
uint32_t net_frame_extension_bytes(uint8_t opcode);
// "RC SEND FIRST", "CNP"...; "unknown" for others. Static.
const char *net_frame_opcode_name(uint8_t opcode);

// Bytes of a RoCEv2 frame (no preamble, no FCS), at least NET_FRAME_BYTES_MIN, no telemetry.
uint32_t net_frame_bytes(uint8_t opcode, uint32_t payload_bytes, bool tagged, bool ipv6);
// Bytes of what net_frame_build makes of the frame, telemetry included.
uint32_t net_frame_size_bytes(const net_frame_t *frame);
// Whether a packet of this opcode may have telemetry.
bool net_frame_may_have_telemetry(uint8_t opcode);

// Writes the frame with all lengths, checksums, pad and ICRC right. capacity_bytes must hold it.
// Returns its length.
size_t net_frame_build(const net_frame_t *frame, uint8_t *bytes, size_t capacity_bytes);

// Reads a frame. Never reads beyond size_bytes. SIM_ERR_INVALID with a message for anything that is
// not a well-formed frame of the kinds above (a wrong ICRC is well-formed: see below).
SIM_MUST_CHECK sim_err_t net_frame_parse(const uint8_t *bytes,
                                         size_t size_bytes,
                                         net_frame_t *frame,
                                         sim_message_t *message);

// Whether the ICRC in these bytes, parsed before, is what it must be.
bool net_frame_icrc_ok(const uint8_t *bytes, size_t size_bytes, const net_frame_t *frame);

SIM_C_END

#endif // NET_FRAME_H
