// SPDX-License-Identifier: Apache-2.0
// net/wire/frame_internal.h - what the builder and the parser of net/frame.h share: checksums,
// sizes.
#ifndef NET_WIRE_FRAME_INTERNAL_H
#define NET_WIRE_FRAME_INTERNAL_H

#include "net/frame.h"

// Zero bytes that bring a payload to a multiple of four.
static inline uint32_t net__frame_pad_bytes(uint32_t payload_bytes)
{
    return -payload_bytes & 3u;
}

// BTH to ICRC, pad included.
// Of a frame, before it is filled up to the least that Ethernet carries.
uint32_t net__frame_raw_bytes(uint8_t opcode, uint32_t payload_bytes, bool tagged, bool ipv6);
uint32_t net__frame_transport_bytes(uint8_t opcode, uint32_t payload_bytes);

// What lies behind the packet and its padding.
uint32_t net__frame_telemetry_bytes(const net_frame_t *frame);

// The destination of every PFC frame, 01-80-C2-00-00-01 (IEEE 802.3 annex 31B).
extern const uint8_t net__frame_pfc_destination[6];

// Adds bytes to a one's complement sum as 16-bit big-endian words (RFC 1071), an odd last byte
// being the upper half of a word. For up to 64 KiB in total from sum 0.
uint32_t net__frame_sum(uint32_t sum, const uint8_t *bytes, size_t size_bytes);
// Folds to 16 bits and complements: what a checksum field holds, and 0 over a sum that includes
// the right one.
uint16_t net__frame_sum_finish(uint32_t sum);

// The UDP checksum over IPv6 (RFC 8200 8.1): pseudo-header, then UDP header and payload as they
// are, the checksum field included; 0 if that field is right. ip is where the IPv6 header starts.
uint16_t net__frame_udp6_checksum(const uint8_t *ip, uint32_t udp_bytes);

// CRC-32 over what the ICRC covers from the mask of 8 bytes to the BTH, variant fields as ones
// (A17.3.3). ip is where the IP header starts. Continue with what follows the BTH, pad included.
uint32_t net__frame_icrc_start(const uint8_t *ip, bool ipv6);

// -- parsing (frame_parse.c, frame_parse_roce.c)

// What is being read. Each parse_ function reads one header at offset and moves offset past it.
typedef struct net__frame_reader {
    const uint8_t *bytes;
    size_t offset;
    size_t end;     // headers and payload end here, at most at the end of the bytes
    size_t trailer; // what follows the packet and its padding begins here
    net_frame_t *frame;
    sim_message_t *message;
} net__frame_reader_t;

// Whether `needed` more bytes are there; says so where they are not.
SIM_MUST_CHECK sim_err_t net__frame_require(const net__frame_reader_t *reader,
                                            const char *what,
                                            size_t needed);
// Bytes up to `to` that must be zero.
SIM_MUST_CHECK sim_err_t net__frame_require_zeros(const net__frame_reader_t *reader,
                                                  const char *what,
                                                  size_t to);
// BTH, extension headers, payload and pad; the ICRC is taken, not checked.
SIM_MUST_CHECK sim_err_t net__frame_parse_roce(net__frame_reader_t *reader);

#endif // NET_WIRE_FRAME_INTERNAL_H
