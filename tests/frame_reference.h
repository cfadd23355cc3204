// SPDX-License-Identifier: Apache-2.0
// tests/frame_reference.h - what a frame must be, written again without the codec.
//
// Offsets are numbers read off the standards, the opcode table is IBA's, the CRC goes bit by bit
// and the sum is taken modulo 65535: nothing here comes from net/frame*.c, so that an error would
// have to be made twice to go unnoticed.
#ifndef TESTS_FRAME_REFERENCE_H
#define TESTS_FRAME_REFERENCE_H

#include "net/frame.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"

#define FRAME_BYTES_MAX 4400

// Extension headers by letter, in wire order: Deth, Reth, aTomic, Aeth, atomic acK, Immdt, iEth,
// Cnp. From IBA vol. 1 table 38 and A17.9.3.
typedef struct frame_row {
    uint8_t opcode;
    bool payload;
    const char *headers;
    const char *name;
} frame_row_t;

#define FRAME_ROW_COUNT 38
extern const frame_row_t frame_rows[FRAME_ROW_COUNT];
const frame_row_t *frame_row_of(uint8_t opcode);
bool frame_has(const frame_row_t *row, char header);

// -- of the bytes of a RoCEv2 frame whose Ethernet header is right

size_t frame_ip_offset(const uint8_t *bytes);
size_t frame_udp_offset(const uint8_t *bytes);
bool frame_is_ipv6(const uint8_t *bytes);

void frame_put16(uint8_t *bytes, uint32_t value);
// Returns the CRC-32 of IEEE 802.3 register, one bit at a time, lowest first; takes the register
// before.
uint32_t frame_crc_bits(uint32_t crc, const uint8_t *bytes, size_t size);
uint32_t frame_reference_icrc(const uint8_t *bytes);
void frame_repair_icrc(uint8_t *bytes);
// Makes the checksums of a changed frame right again: IPv4's header, or UDP over IPv6 as far as
// the frame goes.
void frame_repair_checksums(uint8_t *bytes, size_t size);

// -- frames to try

// Returns a frame in which each field of the opcode has a value of its own; others are 0; no
// payload.
net_frame_t frame_sample(const frame_row_t *row, bool tagged, bool ipv6);
// Writes the extension headers of a sample as they are on the wire. Returns their length.
size_t frame_sample_headers(const frame_row_t *row, uint8_t *out);
// Builds a sample of the opcode with a payload of 7 bytes where it may have one.
size_t frame_build_sample(uint8_t opcode, bool tagged, bool ipv6, uint8_t *bytes);

#endif // TESTS_FRAME_REFERENCE_H
