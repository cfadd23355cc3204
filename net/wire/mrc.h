// SPDX-License-Identifier: Apache-2.0
// net/wire/mrc.h - Multipath Reliable Connection (MRC) on the wire: the headers behind the BTH, and
// their codec.
//
// Sources: MRC Specification 1.0 (OCP, March 2026), sections 6 and 7, as public implementations of
// its tables give them. They agree about all fields but the place of the retransmission bit of the
// BTH. Page: docs/formats/frames.md.
#ifndef NET_WIRE_MRC_H
#define NET_WIRE_MRC_H

#include "kernel/base.h"

SIM_C_BEGIN

struct net_packet;

enum {
    MRC_METH_BYTES = 4,  // message numbers
    MRC_TSETH_BYTES = 4, // time stamp
    MRC_SETH_BYTES = 28, // SACK
    MRC_CC_STATE_BYTES = 8,
    MRC_NETH_BYTES = 20, // NACK
    MRC_PETH_BYTES = 16, // probe of a queue pair
    MRC_ERTH_BYTES = 16, // request of an endpoint operation
    MRC_EETH_BYTES = 36, // its response
    MRC_HEADERS_MAX = MRC_SETH_BYTES + MRC_CC_STATE_BYTES,
    MRC_TIME_UNIT_PS = 128000, // of time stamps
    MRC_RANGE_UNIT = 128,      // PSNs, of the largest range
    MRC_BYTES_UNIT = 256,      // of received bytes
};

// Bits of the BTH's byte of ACK requests: the packet was sent before; a TSETH follows the METH.
enum {
    MRC_BTH_AGAIN = 0x20,
    MRC_BTH_STAMPED = 0x10,
    MRC_BTH_RESERVED = 0x4f,
};

// How a SACK speaks of the path of the packet that caused it.
enum {
    MRC_MARK_NONE = 0,
    MRC_MARK_SKIP_ONCE = 1,
    MRC_MARK_ALWAYS_SKIP = 2,
};

// Reasons of NACKs.
enum {
    MRC_NACK_TRIMMED = 0x01,
    MRC_NACK_TRIMMED_LAST_HOP = 0x02,
    MRC_NACK_NO_BITMAP = 0x06,
    MRC_NACK_NO_BUFFER = 0x07,
    MRC_NACK_OUT_OF_WINDOW = 0x0b,
    MRC_NACK_UNEXPECTED = 0x19,
};

// Types of the time stamp's format.
enum {
    MRC_STAMP_NONE = 0,
    MRC_STAMP_TIME = 1,
};

// The headers between BTH and payload, in host order. The opcode says which of them are there.
typedef struct net_mrc {
    bool again;               // BTH: sent before
    bool stamped;             // BTH: a WRITE has a TSETH
    bool cut;                 // after trimming: neither pad nor ICRC
    uint16_t receive_message; // METH: number among the WRITEs with immediate
    uint16_t message;
    uint16_t stamp;       // of 128 ns
    bool own_resolution;  // the unit of the stamp is the sender's own
    uint8_t stamp_format; // 4 bits
    // SETH and CC_STATE
    uint8_t mark; // MRC_MARK_
    bool probe_answer;
    int16_t ack_offset; // of the PSN that caused it, or the number of the probe
    uint32_t entropy;   // of the packet that caused it
    uint16_t source_id; // queue pairs, low 16 bits
    uint16_t destination_id;
    uint32_t psn;        // SACK: all up to it have come; NACK: the PSN meant
    uint8_t cc_type;     // 4 bits
    uint8_t cc_flags;    // 4 bits
    uint8_t range;       // largest range of PSNs, units of MRC_RANGE_UNIT
    int16_t sack_offset; // of the bitmap's first PSN
    uint64_t bitmap;
    uint16_t ahead; // 15 bits: packets ahead of a missing one
    bool restore;
    uint8_t penalty;   // 7 bits: of the receiver, on the sender's window
    uint32_t received; // 24 bits, units of MRC_BYTES_UNIT
    uint8_t reason;    // NACK
    uint8_t vendor;
    uint16_t probe;      // number of a probe
    uint8_t operation;   // of an endpoint; 2 bits
    uint32_t ports_down; // of an endpoint: a bit for each port
    uint64_t address;    // RETH
    uint32_t rkey;
    uint32_t length;
    uint32_t immediate; // or an AETH
    uint64_t swap_add;  // atomics
    uint64_t compare;   // or the original value, of an answer
} net_mrc_t;

// Returns whether an opcode is one of MRC 1.0.
bool net_mrc_known(uint8_t opcode);
// Returns "MRC WRITE FIRST", "MRC SACK"...; an opcode of RC in MRC's space, which the specification
// leaves out, is "MRC SEND FIRST". "unknown": it is none. Static.
const char *net_mrc_opcode_name(uint8_t opcode);
// Each returns the bytes of the headers between BTH and payload, which depend on no other field.
uint32_t net_mrc_header_bytes(uint8_t opcode, bool stamped);
uint32_t net_mrc_bytes(uint8_t opcode, const net_mrc_t *mrc);
// Returns whether packets of the opcode carry a payload.
bool net_mrc_has_payload(uint8_t opcode);
// Writes the headers; returns where they end. A field that does not fit its place is a bug.
uint8_t *net_mrc_build(uint8_t opcode, const net_mrc_t *mrc, uint8_t *at);
// Reads the headers at the start of size_bytes; mrc->stamped says whether a TSETH is there. Returns
// NULL, or what is wrong: they are cut off, or reserved bits are set.
const char *net_mrc_parse(uint8_t opcode, const uint8_t *bytes, size_t size_bytes, net_mrc_t *mrc);

// Fills in the headers of a packet whose opcode is one of MRC.
void net_mrc_of_packet(const struct net_packet *packet, net_mrc_t *mrc);
// Returns the bytes of an MRC packet's frame, without preamble and FCS.
uint32_t net_mrc_frame_bytes(const struct net_packet *packet, bool tagged, bool ipv6);

SIM_C_END

#endif // NET_WIRE_MRC_H
