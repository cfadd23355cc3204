// SPDX-License-Identifier: Apache-2.0
// tests/frame_reference.c - frames and their checksums by a second reading of the standards.
#include "tests/frame_reference.h"

#include <check.h>
#include <string.h>

const frame_row_t frame_rows[FRAME_ROW_COUNT] = {
    {0x00, true, "", "RC SEND FIRST"},
    {0x01, true, "", "RC SEND MIDDLE"},
    {0x02, true, "", "RC SEND LAST"},
    {0x03, true, "I", "RC SEND LAST IMM"},
    {0x04, true, "", "RC SEND ONLY"},
    {0x05, true, "I", "RC SEND ONLY IMM"},
    {0x06, true, "R", "RC WRITE FIRST"},
    {0x07, true, "", "RC WRITE MIDDLE"},
    {0x08, true, "", "RC WRITE LAST"},
    {0x09, true, "I", "RC WRITE LAST IMM"},
    {0x0a, true, "R", "RC WRITE ONLY"},
    {0x0b, true, "RI", "RC WRITE ONLY IMM"},
    {0x0c, false, "R", "RC READ REQUEST"},
    {0x0d, true, "A", "RC READ RESPONSE FIRST"},
    {0x0e, true, "", "RC READ RESPONSE MIDDLE"},
    {0x0f, true, "A", "RC READ RESPONSE LAST"},
    {0x10, true, "A", "RC READ RESPONSE ONLY"},
    {0x11, false, "A", "RC ACKNOWLEDGE"},
    {0x12, false, "AK", "RC ATOMIC ACKNOWLEDGE"},
    {0x13, false, "T", "RC COMPARE SWAP"},
    {0x14, false, "T", "RC FETCH ADD"},
    {0x16, true, "E", "RC SEND LAST INVALIDATE"},
    {0x17, true, "E", "RC SEND ONLY INVALIDATE"},
    {0x20, true, "", "UC SEND FIRST"},
    {0x21, true, "", "UC SEND MIDDLE"},
    {0x22, true, "", "UC SEND LAST"},
    {0x23, true, "I", "UC SEND LAST IMM"},
    {0x24, true, "", "UC SEND ONLY"},
    {0x25, true, "I", "UC SEND ONLY IMM"},
    {0x26, true, "R", "UC WRITE FIRST"},
    {0x27, true, "", "UC WRITE MIDDLE"},
    {0x28, true, "", "UC WRITE LAST"},
    {0x29, true, "I", "UC WRITE LAST IMM"},
    {0x2a, true, "R", "UC WRITE ONLY"},
    {0x2b, true, "RI", "UC WRITE ONLY IMM"},
    {0x64, true, "D", "UD SEND ONLY"},
    {0x65, true, "DI", "UD SEND ONLY IMM"},
    {0x81, false, "C", "CNP"},
};

bool frame_has(const frame_row_t *row, char header)
{
    return strchr(row->headers, header) != NULL;
}

uint32_t frame_crc_bits(uint32_t crc, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            const uint32_t out = (crc ^ (uint32_t)bytes[i] >> bit) & 1u;
            crc = crc >> 1 ^ (out != 0 ? UINT32_C(0xedb88320) : 0);
        }
    }
    return crc;
}

size_t frame_ip_offset(const uint8_t *bytes)
{
    return bytes[12] == 0x81 ? 18 : 14;
}

bool frame_is_ipv6(const uint8_t *bytes)
{
    return bytes[frame_ip_offset(bytes) - 2] == 0x86;
}

size_t frame_udp_offset(const uint8_t *bytes)
{
    return frame_ip_offset(bytes) + (frame_is_ipv6(bytes) ? 40 : 20);
}

static size_t udp_length(const uint8_t *bytes)
{
    const uint8_t *const udp = bytes + frame_udp_offset(bytes);
    return (size_t)(udp[4] << 8 | udp[5]);
}

// Bytes that count as ones in the ICRC, by offset in the frame (A17.3.3). The first byte of IPv6
// is half masked and not here.
static bool is_masked(const uint8_t *bytes, size_t at)
{
    const size_t ip = frame_ip_offset(bytes);
    const size_t udp = frame_udp_offset(bytes);
    if (at == udp + 6 || at == udp + 7 || at == udp + 8 + 4) {
        return true;
    }
    if (frame_is_ipv6(bytes)) {
        return (at > ip && at <= ip + 3) || at == ip + 7;
    }
    return at == ip + 1 || at == ip + 8 || at == ip + 10 || at == ip + 11;
}

uint32_t frame_reference_icrc(const uint8_t *bytes)
{
    static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const size_t end = frame_udp_offset(bytes) + udp_length(bytes) - 4;
    uint32_t crc = frame_crc_bits(UINT32_MAX, ones, sizeof(ones));
    for (size_t i = frame_ip_offset(bytes); i < end; i++) {
        uint8_t byte = is_masked(bytes, i) ? 0xff : bytes[i];
        if (i == frame_ip_offset(bytes) && frame_is_ipv6(bytes)) {
            byte |= 0x0f;
        }
        crc = frame_crc_bits(crc, &byte, 1);
    }
    return ~crc;
}

// Returns the sum of RFC 1071 modulo 65535, without carries to fold.
static uint32_t sum_modulo(uint32_t sum, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sum = (sum + ((uint32_t)bytes[i] << (i % 2 == 0 ? 8 : 0))) % 65535;
    }
    return sum;
}

void frame_put16(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

void frame_repair_checksums(uint8_t *bytes, size_t size)
{
    uint8_t *const ip = bytes + frame_ip_offset(bytes);
    if (!frame_is_ipv6(bytes)) {
        frame_put16(ip + 10, 0);
        frame_put16(ip + 10, 65535 - sum_modulo(0, ip, 20));
        return;
    }
    const size_t length = udp_length(bytes);
    if (frame_udp_offset(bytes) + length > size) {
        return;
    }
    uint8_t *const udp = ip + 40;
    frame_put16(udp + 6, 0);
    uint32_t sum = sum_modulo((uint32_t)length + 17, ip + 8, 32);
    sum = sum_modulo(sum, udp, length);
    frame_put16(udp + 6, sum == 0 ? 65535 : 65535 - sum);
}

void frame_repair_icrc(uint8_t *bytes)
{
    const uint32_t icrc = frame_reference_icrc(bytes);
    uint8_t *const at = bytes + frame_udp_offset(bytes) + udp_length(bytes) - 4;
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(icrc >> 8 * i);
    }
}

// -- frames to try

net_frame_t frame_sample(const frame_row_t *row, bool tagged, bool ipv6)
{
    net_frame_t frame = {
        .destination_mac = {0x02, 0x11, 0x12, 0x13, 0x14, 0x15},
        .source_mac = {0x06, 0x21, 0x22, 0x23, 0x24, 0x25},
        .tagged = tagged,
        .ipv6 = ipv6,
        .dscp = 26,
        .ecn = 2,
        .ttl = 63,
        .udp_source_port = 0xc0de,
        .opcode = row->opcode,
        .solicited = true,
        .migration = row->opcode % 2 == 0,
        .pkey = 0xffff,
        .becn = row->opcode == 0x81,
        .fecn = row->opcode % 3 == 0,
        .destination_qp = 0xa1b2c3,
        .ack_request = true,
        .psn = 0xd4e5f6,
    };
    if (tagged) {
        frame.pcp = 5;
        frame.vlan_id = 0x123;
    }
    for (size_t i = 0; i < (ipv6 ? 16 : 4); i++) {
        frame.source_ip[i] = (uint8_t)(0x30 + i);
        frame.destination_ip[i] = (uint8_t)(0x50 + i);
    }
    if (ipv6) {
        frame.flow_label = 0x9abcd;
    } else {
        frame.ip_id = 0x7788;
    }
    if (frame_has(row, 'R')) {
        frame.reth.address = UINT64_C(0x0102030405060708);
        frame.reth.rkey = 0x11121314;
        frame.reth.length = 0x21222324;
    }
    if (frame_has(row, 'A')) {
        frame.aeth.syndrome = 0x1f;
        frame.aeth.msn = 0x313233;
    }
    if (frame_has(row, 'D')) {
        frame.deth.qkey = 0x41424344;
        frame.deth.source_qp = 0x515253;
    }
    if (frame_has(row, 'T')) {
        frame.atomic.address = UINT64_C(0x6162636465666768);
        frame.atomic.rkey = 0x71727374;
        frame.atomic.swap_add = UINT64_C(0x8182838485868788);
        frame.atomic.compare = UINT64_C(0x9192939495969798);
    }
    frame.atomic_original = frame_has(row, 'K') ? UINT64_C(0xa1a2a3a4a5a6a7a8) : 0;
    frame.immediate = frame_has(row, 'I') ? 0xb1b2b3b4 : 0;
    frame.invalidate_rkey = frame_has(row, 'E') ? 0xc1c2c3c4 : 0;
    return frame;
}

size_t frame_sample_headers(const frame_row_t *row, uint8_t *out)
{
    static const struct {
        char letter;
        uint8_t size;
        const char *bytes;
    } headers[] = {
        {'D', 8, "\x41\x42\x43\x44\x00\x51\x52\x53"},
        {'R', 16, "\x01\x02\x03\x04\x05\x06\x07\x08\x11\x12\x13\x14\x21\x22\x23\x24"},
        {'T', 28,
         "\x61\x62\x63\x64\x65\x66\x67\x68\x71\x72\x73\x74"
         "\x81\x82\x83\x84\x85\x86\x87\x88\x91\x92\x93\x94\x95\x96\x97\x98"},
        {'A', 4, "\x1f\x31\x32\x33"},
        {'K', 8, "\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8"},
        {'I', 4, "\xb1\xb2\xb3\xb4"},
        {'E', 4, "\xc1\xc2\xc3\xc4"},
        {'C', 16, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"},
    };
    size_t length = 0;
    for (const char *letter = row->headers; *letter != 0; letter++) {
        for (size_t i = 0; i < SIM_COUNT_OF(headers); i++) {
            if (headers[i].letter == *letter) {
                memcpy(out + length, headers[i].bytes, headers[i].size);
                length += headers[i].size;
            }
        }
    }
    return length;
}

const frame_row_t *frame_row_of(uint8_t opcode)
{
    for (size_t i = 0; i < SIM_COUNT_OF(frame_rows); i++) {
        if (frame_rows[i].opcode == opcode) {
            return &frame_rows[i];
        }
    }
    ck_abort_msg("no opcode 0x%02x", opcode);
    return NULL;
}

size_t frame_build_sample(uint8_t opcode, bool tagged, bool ipv6, uint8_t *bytes)
{
    static const uint8_t payload[7] = {1, 2, 3, 4, 5, 6, 7};
    const frame_row_t *const row = frame_row_of(opcode);
    net_frame_t frame = frame_sample(row, tagged, ipv6);
    if (row->payload) {
        frame.payload = payload;
        frame.payload_bytes = sizeof(payload);
    }
    return net_frame_build(&frame, bytes, FRAME_BYTES_MAX);
}
