// SPDX-License-Identifier: Apache-2.0
// net/wire/uet.h - Ultra Ethernet on the wire: the headers of the packet delivery sublayer (PDS)
// and of the semantic sublayer (SES) behind UDP, and their codec.
//
// Sources: Ultra Ethernet Specification 1.0; order and sizes of the fields as in the public headers
// of ultraethernet/uet-ref-prov (uet_pkt_hdr.h) and xdp2-dev/xdp2 (src/include/uet).
// Page: docs/formats/frames.md.
#ifndef NET_WIRE_UET_H
#define NET_WIRE_UET_H

#include "kernel/base.h"

SIM_C_BEGIN

struct net_packet;

enum {
    UET_UDP_PORT = 4793,
    UET_REQUEST_BYTES = 12, // PDS of RUD and ROD requests
    UET_REQUEST_CC_BYTES = 16,
    UET_UUD_BYTES = 4,
    UET_ACK_BYTES = 12,
    UET_ACK_CC_BYTES = 32,
    UET_ACK_CCX_LONG_BYTES = 40, // uet-ref-prov; xdp2 has 32
    UET_NACK_BYTES = 16,
    UET_CONTROL_BYTES = 16,
    UET_SES_STANDARD_BYTES = 44,
    UET_SES_RESPONSE_BYTES = 12,
    UET_SES_RESPONSE_DATA_BYTES = 20,
    UET_SES_ADD_BYTES = 12,  // atomic extension and the operand
    UET_SES_SWAP_BYTES = 36, // atomic extension, values to compare and swap
    UET_SES_ORIGINAL_BYTES = 8,
    UET_HEADERS_MAX = UET_ACK_CCX_LONG_BYTES + UET_SES_STANDARD_BYTES + UET_SES_SWAP_BYTES,
    UET_QP_BITS = 24,
};

// Types of PDS headers.
typedef enum net_uet_type {
    UET_RUD_REQUEST = 2,
    UET_ROD_REQUEST = 3,
    UET_UUD_REQUEST = 6,
    UET_ACK = 7,
    UET_ACK_CC = 8,
    UET_ACK_CCX = 9,
    UET_NACK = 10,
    UET_CONTROL = 11,
    UET_RUD_CC_REQUEST = 13,
    UET_ROD_CC_REQUEST = 14,
} net_uet_type_t;

// The header behind the PDS header.
enum {
    UET_NEXT_NONE = 0,
    UET_NEXT_STANDARD = 3,
    UET_NEXT_RESPONSE = 4,
    UET_NEXT_RESPONSE_DATA = 5,
};

// Flags of PDS headers.
enum {
    UET_FLAG_SYN = 1 << 2,         // requests, control
    UET_FLAG_ACK_REQUEST = 1 << 3, // requests, control
    UET_FLAG_PROBE = 1 << 3,       // ACKs
    UET_FLAG_RETRANSMISSION = 1 << 4,
    UET_FLAG_MARKED = 1 << 5, // ACKs
};

// Codes of NACKs, and types of control packets.
enum {
    UET_NACK_TRIMMED = 1,
    UET_NACK_TRIMMED_LAST_HOP = 2,
    UET_NACK_NO_RESOURCE = 0x0a,
    UET_NACK_OUT_OF_ORDER = 0x0d, // ROD
    UET_CONTROL_PROBE = 6,
    UET_CONTROL_CREDIT = 7,
    UET_CONTROL_CREDIT_REQUEST = 8,
};

// Opcodes and flags of SES headers.
enum {
    UET_SES_WRITE = 1,
    UET_SES_READ = 2,
    UET_SES_FETCHING_ATOMIC = 4,
    UET_SES_SEND = 5,
    UET_SES_DATAGRAM_SEND = 7,
    UET_SES_DEFAULT_RESPONSE = 0,
    UET_SES_RESPONSE_WITH_DATA = 2,
    UET_SES_START = 1 << 0,
    UET_SES_END = 1 << 1,
    UET_SES_HEADER_DATA = 1 << 2,
    UET_SES_OK = 1, // return code
    UET_ATOMIC_SUM = 2,
    UET_ATOMIC_SWAP = 0x0d,
    UET_ATOMIC_UINT64 = 7,
};

// The headers of a packet, all fields in host order. The type says which of them are there.
typedef struct net_uet {
    uint8_t type;  // net_uet_type_t
    uint8_t next;  // UET_NEXT_; of control packets their type
    uint8_t flags; // 7 bits
    // Requests: offset of the PSN that is cleared. ACKs: offset of the PSN that caused it. Control:
    // what a probe carries. NACKs: code << 8 | vendor's code.
    uint16_t offset;
    uint32_t psn; // ACKs: all up to it have come
    uint16_t source_pdc;
    uint16_t destination_pdc; // with UET_FLAG_SYN: 4 bits of information and 12 of the PSN's offset
    uint32_t word;        // requests with CC state: id 8, credit target 24; NACKs, control: payload
    uint8_t cc_type;      // 4 bits; 0: NSCC, 1: credit
    uint8_t cc_flags;     // 4 bits
    uint8_t range;        // largest range of PSNs
    uint16_t sack_offset; // of the bitmap's first PSN
    uint64_t sack_bitmap;
    uint64_t state[2]; // of congestion control; the second only in long ACK_CCX headers
    bool long_ccx;     // ACK_CCX has 40 bytes
    // SES
    uint8_t opcode;      // 6 bits; of responses: list 2, opcode 6
    uint8_t ses_flags;   // 6 bits; of responses: return code
    uint8_t ses_version; // 2 bits
    uint16_t message_id;
    uint32_t job;            // generation 8, job id 24
    uint16_t pid_on_fep;     // 12 bits
    uint16_t resource_index; // 12 bits
    uint64_t buffer_offset;
    uint32_t initiator;
    uint64_t memory_key;
    uint64_t header_data; // not the first packet: 18 bits reserved, payload length 14, offset 32
    uint32_t request_length;
    // Responses: modified length; with data also the request's message, length 12 bits, offset.
    uint32_t modified_length;
    uint16_t read_message_id;
    uint16_t payload_length;
    uint32_t message_offset;
    uint8_t extension_bytes;
    uint8_t
        extension[UET_SES_SWAP_BYTES]; // atomics: operation and operands; responses: the original
} net_uet_t;

// Returns the bytes of the headers.
uint32_t net_uet_bytes(const net_uet_t *uet);
// Writes the headers; returns where they end. A field that does not fit its place is a bug.
uint8_t *net_uet_build(const net_uet_t *uet, uint8_t *at);
// Reads the headers at the start of size_bytes. Returns their length; 0: they are none, or cut off,
// or reserved bits are set, and *why says what is wrong. Bytes behind the headers are the payload.
size_t net_uet_parse(const uint8_t *bytes, size_t size_bytes, net_uet_t *uet, const char **why);

// Fills in the headers of a packet whose opcode is ROCE_UET.
void net_uet_of_packet(const struct net_packet *packet, net_uet_t *uet);
// Returns the bytes of an Ultra Ethernet packet's frame, without preamble and FCS.
uint32_t net_uet_frame_bytes(const struct net_packet *packet, bool tagged, bool ipv6);

SIM_C_END

#endif // NET_WIRE_UET_H
