// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_frame.c - the frame builder and the round trip through the parser (net/frame.h).
//
// Goal: frames are on the wire what the standards say, and come back as the same fields.
// Method: whole frames written out by hand; every opcode, tag, IP version and pad held byte by
// byte against the second reading of the standards in tests/frame_reference.h.
// Not pinned: speed; which frames a network sends; what the parser refuses (test_frame_parse.c).
#include "net/frame_opcodes.h"
#include "net/packets.h"

#include <string.h>

#include "net/wire/roce.h"
#include "tests/check_main.h"
#include "tests/frame_reference.h"

static const uint32_t payload_sizes[] = {0, 1,   2,   3,   4,    5,    6,    7,    8,
                                         9, 255, 256, 257, 1023, 4093, 4094, 4095, 4096};

static void fill_payload(uint8_t *payload, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        payload[i] = (uint8_t)(i * 37 + i / 256 + 1);
    }
}

static void assert_same_fields(const net_frame_t *a, const net_frame_t *b)
{
    ck_assert_mem_eq(a->destination_mac, b->destination_mac, 6);
    ck_assert_mem_eq(a->source_mac, b->source_mac, 6);
    ck_assert_int_eq(a->tagged, b->tagged);
    ck_assert_uint_eq(a->pcp, b->pcp);
    ck_assert_uint_eq(a->vlan_id, b->vlan_id);
    ck_assert_int_eq(a->is_pfc, b->is_pfc);
    ck_assert_uint_eq(a->pfc_classes, b->pfc_classes);
    ck_assert_mem_eq(a->pfc_quanta, b->pfc_quanta, sizeof(a->pfc_quanta));
    ck_assert_int_eq(a->ipv6, b->ipv6);
    ck_assert_uint_eq(a->dscp, b->dscp);
    ck_assert_uint_eq(a->ecn, b->ecn);
    ck_assert_uint_eq(a->ttl, b->ttl);
    ck_assert_uint_eq(a->ip_id, b->ip_id);
    ck_assert_uint_eq(a->flow_label, b->flow_label);
    ck_assert_mem_eq(a->source_ip, b->source_ip, 16);
    ck_assert_mem_eq(a->destination_ip, b->destination_ip, 16);
    ck_assert_uint_eq(a->udp_source_port, b->udp_source_port);
    ck_assert_uint_eq(a->opcode, b->opcode);
    ck_assert_int_eq(a->solicited, b->solicited);
    ck_assert_int_eq(a->migration, b->migration);
    ck_assert_uint_eq(a->pkey, b->pkey);
    ck_assert_int_eq(a->fecn, b->fecn);
    ck_assert_int_eq(a->becn, b->becn);
    ck_assert_uint_eq(a->destination_qp, b->destination_qp);
    ck_assert_int_eq(a->ack_request, b->ack_request);
    ck_assert_uint_eq(a->psn, b->psn);
    ck_assert_uint_eq(a->reth.address, b->reth.address);
    ck_assert_uint_eq(a->reth.rkey, b->reth.rkey);
    ck_assert_uint_eq(a->reth.length, b->reth.length);
    ck_assert_uint_eq(a->aeth.syndrome, b->aeth.syndrome);
    ck_assert_uint_eq(a->aeth.msn, b->aeth.msn);
    ck_assert_uint_eq(a->deth.qkey, b->deth.qkey);
    ck_assert_uint_eq(a->deth.source_qp, b->deth.source_qp);
    ck_assert_uint_eq(a->immediate, b->immediate);
    ck_assert_uint_eq(a->invalidate_rkey, b->invalidate_rkey);
    ck_assert_uint_eq(a->atomic.address, b->atomic.address);
    ck_assert_uint_eq(a->atomic.rkey, b->atomic.rkey);
    ck_assert_uint_eq(a->atomic.swap_add, b->atomic.swap_add);
    ck_assert_uint_eq(a->atomic.compare, b->atomic.compare);
    ck_assert_uint_eq(a->atomic_original, b->atomic_original);
    ck_assert_uint_eq(a->payload_bytes, b->payload_bytes);
}

// -- the tests

// This file's CRC gives the check value of CRC-32 that every catalogue of CRCs publishes.
START_TEST(reference_crc_is_crc32)
{
    const uint8_t digits[] = "123456789";
    ck_assert_uint_eq(~frame_crc_bits(UINT32_MAX, digits, 9), UINT32_C(0xcbf43926));
}
END_TEST

START_TEST(opcode_table_is_ibas)
{
    static const struct {
        char letter;
        uint32_t bit;
        uint32_t bytes;
    } letters[] = {
        {'R', NET_EXT_RETH, 16},      {'A', NET_EXT_AETH, 4}, {'D', NET_EXT_DETH, 8},
        {'I', NET_EXT_IMMDT, 4},      {'E', NET_EXT_IETH, 4}, {'T', NET_EXT_ATOMIC, 28},
        {'K', NET_EXT_ATOMIC_ACK, 8}, {'C', NET_EXT_CNP, 16},
    };
    int known = 0;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        if (net_frame_extensions((uint8_t)opcode) != 0) {
            known++;
        } else if (!net_mrc_known((uint8_t)opcode)) { // those: test_mrc_frame.c
            ck_assert_str_eq(net_frame_opcode_name((uint8_t)opcode), "unknown");
            ck_assert_uint_eq(net_frame_extension_bytes((uint8_t)opcode), 0);
        }
    }
    ck_assert_int_eq(known, FRAME_ROW_COUNT);
    for (int i = 0; i < FRAME_ROW_COUNT; i++) {
        const frame_row_t *const row = &frame_rows[i];
        uint32_t set = NET_EXT_KNOWN | (row->payload ? (uint32_t)NET_EXT_PAYLOAD : 0);
        uint32_t bytes = 0;
        for (size_t k = 0; k < SIM_COUNT_OF(letters); k++) {
            if (frame_has(row, letters[k].letter)) {
                set |= letters[k].bit;
                bytes += letters[k].bytes;
            }
        }
        ck_assert_str_eq(net_frame_opcode_name(row->opcode), row->name);
        ck_assert_uint_eq(net_frame_extensions(row->opcode), set);
        ck_assert_uint_eq(net_frame_extension_bytes(row->opcode), bytes);
    }
}
END_TEST

// The bytes of a CNP over IPv4 are written by hand from the standards. Sum of the header's words
// without the checksum: 4500+003c+1234+4000+4011+0a00+0001+0a00+0002 = eb84, so the checksum is
// 147b.
START_TEST(cnp_is_right_byte_by_byte)
{
    uint8_t expected[] = {
        0x02, 0,    0,    0,    0,    0x02, 0x02, 0,    0,    0,    0, 0x01, 0x08, 0x00, // Ethernet
        0x45, 0x00, 0x00, 0x3c, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11,       // IPv4, 60 bytes, DF
        0x14, 0x7b, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00, 0x02,       //
        0xc0, 0x01, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,                   // UDP to 4791, 40 bytes
        0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x00, 0x11, 0x00, 0,    0, 0, // BTH, BECN, QP 17
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0,    0,    0,
        0,    0,             // reserved
        0,    0,    0,    0, // ICRC
    };
    frame_repair_icrc(expected);
    const net_frame_t frame = {
        .destination_mac = {0x02, 0, 0, 0, 0, 0x02},
        .source_mac = {0x02, 0, 0, 0, 0, 0x01},
        .ttl = 64,
        .ip_id = 0x1234,
        .source_ip = {10, 0, 0, 1},
        .destination_ip = {10, 0, 0, 2},
        .udp_source_port = 0xc001,
        .opcode = ROCE_CNP,
        .pkey = 0xffff,
        .becn = true,
        .destination_qp = 17,
    };
    uint8_t bytes[FRAME_BYTES_MAX];
    ck_assert_uint_eq(net_frame_build(&frame, bytes, sizeof(bytes)), sizeof(expected));
    ck_assert_mem_eq(bytes, expected, sizeof(expected));
}
END_TEST

// The frame pauses class 3 for the longest time and resumes class 4 (IEEE 802.1Q figure 36-2).
START_TEST(pfc_is_right_byte_by_byte)
{
    static const uint8_t expected[60] = {
        0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0xab, 0xcd, 0x88, 0x08,
        0x01, 0x01, 0x00, 0x18, 0,    0,    0,    0,    0,    0,    0xff, 0xff, 0,    0,
    };
    const net_frame_t frame = {
        .destination_mac = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01},
        .source_mac = {0x02, 0x00, 0x00, 0x00, 0xab, 0xcd},
        .is_pfc = true,
        .pfc_classes = 0x18,
        .pfc_quanta = {[3] = 0xffff},
    };
    uint8_t bytes[64];
    memset(bytes, 0xee, sizeof(bytes));
    ck_assert_uint_eq(net_frame_build(&frame, bytes, sizeof(bytes)), 60);
    ck_assert_mem_eq(bytes, expected, 60);
    ck_assert_uint_eq(bytes[60], 0xee);

    net_frame_t parsed;
    ck_assert_int_eq(net_frame_parse(bytes, 60, &parsed, NULL), SIM_OK);
    assert_same_fields(&frame, &parsed);
    ck_assert(net_frame_icrc_ok(bytes, 60, &parsed));
}
END_TEST

// Every quanta lands in the slot of its class.
START_TEST(pfc_quanta_are_in_class_order)
{
    net_frame_t frame = {
        .destination_mac = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01},
        .is_pfc = true,
        .pfc_classes = 0xff,
    };
    for (unsigned i = 0; i < 8; i++) {
        frame.pfc_quanta[i] = (uint16_t)(0x1000 + i);
    }
    uint8_t bytes[60];
    net_frame_build(&frame, bytes, sizeof(bytes));
    for (unsigned i = 0; i < 8; i++) {
        ck_assert_uint_eq(bytes[18 + 2 * i], 0x10);
        ck_assert_uint_eq(bytes[19 + 2 * i], i);
    }
    net_frame_t parsed;
    ck_assert_int_eq(net_frame_parse(bytes, sizeof(bytes), &parsed, NULL), SIM_OK);
    assert_same_fields(&frame, &parsed);
}
END_TEST

// Writes the bytes before a sample's extension headers, from the standards; returns how many.
static size_t reference_headers(const net_frame_t *frame, size_t transport_bytes, uint8_t *out)
{
    size_t at = 12;
    memcpy(out, frame->destination_mac, 6);
    memcpy(out + 6, frame->source_mac, 6);
    if (frame->tagged) {
        memcpy(out + at, "\x81\x00\xa1\x23", 4);
        at += 4;
    }
    const uint32_t udp_bytes = (uint32_t)(8 + transport_bytes);
    if (frame->ipv6) {
        memcpy(out + at, "\x86\xdd\x66\xa9\xab\xcd", 6);
        frame_put16(out + at + 6, udp_bytes);
        out[at + 8] = 17;
        out[at + 9] = 63;
        memcpy(out + at + 10, frame->source_ip, 16);
        memcpy(out + at + 26, frame->destination_ip, 16);
        at += 42;
    } else {
        memcpy(out + at, "\x08\x00\x45\x6a", 4);
        frame_put16(out + at + 4, 20 + udp_bytes);
        memcpy(out + at + 6, "\x77\x88\x40\x00\x3f\x11\0\0", 8);
        memcpy(out + at + 14, frame->source_ip, 4);
        memcpy(out + at + 18, frame->destination_ip, 4);
        at += 22;
    }
    memcpy(out + at, "\xc0\xde\x12\xb7", 4);
    frame_put16(out + at + 4, udp_bytes);
    frame_put16(out + at + 6, 0);
    at += 8;
    out[at] = frame->opcode;
    out[at + 1] =
        (uint8_t)(0x80 | (frame->migration ? 0x40 : 0) | (4 - frame->payload_bytes % 4) % 4 << 4);
    memcpy(out + at + 2, "\xff\xff\0\xa1\xb2\xc3\x80\xd4\xe5\xf6", 10);
    out[at + 4] = (uint8_t)((frame->fecn ? 0x80 : 0) | (frame->becn ? 0x40 : 0));
    return at + 12;
}

static void check_round_trip(const frame_row_t *row, const net_frame_t *frame)
{
    uint8_t extensions[64];
    uint8_t expected[FRAME_BYTES_MAX] = {0};
    const size_t extension_bytes = frame_sample_headers(row, extensions);
    const size_t padded = (frame->payload_bytes + 3) / 4 * 4;
    const size_t transport = 12 + extension_bytes + padded + 4;
    size_t at = reference_headers(frame, transport, expected);
    memcpy(expected + at, extensions, extension_bytes);
    at += extension_bytes;
    if (frame->payload_bytes != 0) {
        memcpy(expected + at, frame->payload, frame->payload_bytes);
    }
    at += padded + 4;
    frame_repair_icrc(expected);
    frame_repair_checksums(expected, at);

    uint8_t bytes[FRAME_BYTES_MAX];
    const size_t size = net_frame_build(frame, bytes, sizeof(bytes));
    ck_assert_uint_eq(size, at < 60 ? 60 : at);
    ck_assert_uint_eq(
        size, net_frame_bytes(row->opcode, frame->payload_bytes, frame->tagged, frame->ipv6));
    ck_assert_mem_eq(bytes, expected, size);

    net_frame_t parsed;
    sim_message_t message = {.text = ""};
    ck_assert_msg(net_frame_parse(bytes, size, &parsed, &message) == SIM_OK, "%s", message.text);
    assert_same_fields(frame, &parsed);
    ck_assert_uint_eq(parsed.pad_bytes, padded - frame->payload_bytes);
    ck_assert_ptr_eq(parsed.payload, bytes + at - 4 - padded);
    ck_assert_uint_eq(parsed.icrc, frame_reference_icrc(bytes));
    ck_assert(net_frame_icrc_ok(bytes, size, &parsed));

    uint8_t again[FRAME_BYTES_MAX];
    ck_assert_uint_eq(net_frame_build(&parsed, again, sizeof(again)), size);
    ck_assert_mem_eq(again, bytes, size);
}

START_TEST(every_frame_is_right_and_survives_a_round_trip)
{
    uint8_t payload[4096];
    fill_payload(payload, sizeof(payload));
    const frame_row_t *const row = &frame_rows[_i];
    const size_t sizes = row->payload ? SIM_COUNT_OF(payload_sizes) : 1;
    for (size_t i = 0; i < sizes; i++) {
        for (unsigned kind = 0; kind < 4; kind++) {
            net_frame_t frame = frame_sample(row, (kind & 1) != 0, (kind & 2) != 0);
            frame.payload_bytes = payload_sizes[i];
            frame.payload = payload;
            check_round_trip(row, &frame);
        }
    }
}
END_TEST

// Zeros that are not given are the same as zeros that are.
START_TEST(absent_payload_is_zeros)
{
    static const uint8_t zeros[4096];
    for (uint32_t size = 0; size <= 4096; size += size < 300 ? 1 : 73) {
        for (unsigned kind = 0; kind < 2; kind++) {
            uint8_t given[FRAME_BYTES_MAX];
            uint8_t absent[FRAME_BYTES_MAX];
            memset(absent, 0xee, sizeof(absent));
            net_frame_t frame =
                frame_sample(frame_row_of(ROCE_RC | ROCE_WRITE_ONLY), false, kind != 0);
            frame.payload_bytes = size;
            const size_t absent_size = net_frame_build(&frame, absent, sizeof(absent));
            frame.payload = zeros;
            ck_assert_uint_eq(net_frame_build(&frame, given, sizeof(given)), absent_size);
            ck_assert_mem_eq(given, absent, absent_size);
        }
    }
}
END_TEST

// A UDP checksum that comes out as zero is sent as 0xffff over IPv6 (RFC 768). One frame in 65535
// has it; the ports and PSNs tried here include some.
START_TEST(ipv6_udp_checksum_is_never_zero)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    net_frame_t frame = frame_sample(frame_row_of(ROCE_RC | ROCE_SEND_ONLY), false, true);
    int found = 0;
    for (uint32_t i = 0; i < (UINT32_C(1) << 20) && found < 3; i++) {
        frame.udp_source_port = (uint16_t)i;
        frame.psn = i >> 16;
        const size_t size = net_frame_build(&frame, bytes, sizeof(bytes));
        const uint8_t *const checksum = bytes + frame_udp_offset(bytes) + 6;
        ck_assert(checksum[0] != 0 || checksum[1] != 0);
        if (checksum[0] == 0xff && checksum[1] == 0xff) {
            found++;
            net_frame_t parsed;
            ck_assert_int_eq(net_frame_parse(bytes, size, &parsed, NULL), SIM_OK);
        }
    }
    ck_assert_int_eq(found, 3);
}
END_TEST

// -- what the builder takes for a bug of its caller

START_TEST(builder_refuses_large_psn)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    net_frame_t frame = frame_sample(frame_row_of(0x04), false, false);
    frame.psn = 0x1000000;
    net_frame_build(&frame, bytes, sizeof(bytes));
}
END_TEST

START_TEST(builder_refuses_unknown_opcode)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    net_frame_t frame = frame_sample(frame_row_of(0x04), false, false);
    frame.opcode = 0x15;
    net_frame_build(&frame, bytes, sizeof(bytes));
}
END_TEST

START_TEST(builder_refuses_payload_on_acknowledge)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    net_frame_t frame = frame_sample(frame_row_of(0x11), false, false);
    frame.payload_bytes = 4;
    net_frame_build(&frame, bytes, sizeof(bytes));
}
END_TEST

START_TEST(builder_refuses_payload_over_mtu)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    net_frame_t frame = frame_sample(frame_row_of(0x04), false, false);
    frame.payload_bytes = 4097;
    net_frame_build(&frame, bytes, sizeof(bytes));
}
END_TEST

START_TEST(builder_refuses_small_capacity)
{
    uint8_t bytes[59];
    const net_frame_t frame = frame_sample(frame_row_of(0x04), false, false);
    net_frame_build(&frame, bytes, sizeof(bytes));
}
END_TEST

START_TEST(builder_refuses_dead_packet)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    net_frame_t frame = frame_sample(frame_row_of(0x04), false, false);
    frame.ttl = 0;
    net_frame_build(&frame, bytes, sizeof(bytes));
}
END_TEST

START_TEST(builder_refuses_tagged_pfc)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    const net_frame_t frame = {.destination_mac = {0x01, 0x80, 0xc2, 0, 0, 1},
                               .is_pfc = true,
                               .tagged = true};
    net_frame_build(&frame, bytes, sizeof(bytes));
}
END_TEST

CHECK_MAIN(CHECK_TEST(reference_crc_is_crc32), CHECK_TEST(opcode_table_is_ibas),
           CHECK_TEST(cnp_is_right_byte_by_byte), CHECK_TEST(pfc_is_right_byte_by_byte),
           CHECK_TEST(pfc_quanta_are_in_class_order),
           CHECK_LOOP(every_frame_is_right_and_survives_a_round_trip, 0, FRAME_ROW_COUNT),
           CHECK_TEST(absent_payload_is_zeros), CHECK_TEST(ipv6_udp_checksum_is_never_zero),
           CHECK_SIGNAL(builder_refuses_large_psn, SIGABRT),
           CHECK_SIGNAL(builder_refuses_unknown_opcode, SIGABRT),
           CHECK_SIGNAL(builder_refuses_payload_on_acknowledge, SIGABRT),
           CHECK_SIGNAL(builder_refuses_payload_over_mtu, SIGABRT),
           CHECK_SIGNAL(builder_refuses_small_capacity, SIGABRT),
           CHECK_SIGNAL(builder_refuses_dead_packet, SIGABRT),
           CHECK_SIGNAL(builder_refuses_tagged_pfc, SIGABRT))
