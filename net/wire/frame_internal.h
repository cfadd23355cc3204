// SPDX-License-Identifier: Apache-2.0
// net/wire/frame_internal.h - checksums and sizes shared by the builder and parser of net/frame.h.
#ifndef NET_WIRE_FRAME_INTERNAL_H
#define NET_WIRE_FRAME_INTERNAL_H

#include "net/frame.h"

// Returns how many zero bytes bring a payload to a multiple of four.
static inline uint32_t net__frame_pad_bytes(uint32_t payload_bytes)
{
    return -payload_bytes & 3u;
}

// Returns the size of a frame before it is padded to Ethernet's minimum.
uint32_t net__frame_raw_bytes(uint8_t opcode, uint32_t payload_bytes, bool tagged, bool ipv6);
// Returns the size from the BTH to the ICRC, pad included.
uint32_t net__frame_transport_bytes(uint8_t opcode, uint32_t payload_bytes);

// Returns the size from the BTH to the ICRC of a frame of RoCE or MRC, pad included.
uint32_t net__frame_size_from_bth(const net_frame_t *frame);

// Returns the size of the telemetry behind the packet and its padding.
uint32_t net__frame_telemetry_bytes(const net_frame_t *frame);

// The destination of every PFC frame, 01-80-C2-00-00-01 (IEEE 802.3 annex 31B).
extern const uint8_t net__frame_pfc_destination[6];

// Adds bytes to a one's complement sum as 16-bit big-endian words (RFC 1071); an odd last byte is
// the upper half of a word. The sum is right for up to 64 KiB in total from sum 0.
uint32_t net__frame_sum(uint32_t sum, const uint8_t *bytes, size_t size_bytes);
// Folds a sum to 16 bits and complements it. The result is the checksum field's value, or 0 for a
// sum over bytes that include the right checksum.
uint16_t net__frame_sum_finish(uint32_t sum);

// Returns the UDP checksum over IPv6 (RFC 8200 8.1) of the pseudo-header and of UDP header and
// payload as they are, checksum field included: 0 if that field is right. ip: the IPv6 header.
uint16_t net__frame_udp6_checksum(const uint8_t *ip, uint32_t udp_bytes);

// Returns the CRC-32 over the ICRC's first part, the 8 bytes of ones to the BTH, with variant
// fields as ones (A17.3.3). ip: the IP header. The caller continues behind the BTH, pad included.
uint32_t net__frame_icrc_start(const uint8_t *ip, bool ipv6);

#endif // NET_WIRE_FRAME_INTERNAL_H
