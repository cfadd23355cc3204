// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_mrc_frame.c - MRC's headers: their bytes, lengths and refusals.
//
// Goal: fields lie where the specification's tables have them; the parser gives back what was
// built, and refuses what is cut off or has reserved bits set; a packet cut to its headers is read.
// Method: bytes written out by hand; every opcode with random bytes, at random lengths; whole
// frames. Not pinned: what packets put into them.
#include <string.h>

#include "kernel/random.h"
#include "net/frame.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "tests/check_main.h"

START_TEST(a_write_has_these_bytes)
{
    const net_mrc_t mrc = {
        .stamped = true,
        .receive_message = 0x0102,
        .message = 0x0304,
        .stamp = 0x0506,
        .own_resolution = true,
        .stamp_format = MRC_STAMP_TIME,
        .address = UINT64_C(0x0708090a0b0c0d0e),
        .rkey = 0x0f101112,
        .length = 0x13141516,
        .immediate = 0x1718191a,
    };
    static const uint8_t expected[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x80, 0x01, 0x07, 0x08,
                                       0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12,
                                       0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a};
    uint8_t bytes[MRC_HEADERS_MAX];
    ck_assert_uint_eq(net_mrc_bytes(0xcb, &mrc), sizeof(expected));
    ck_assert_ptr_eq(net_mrc_build(0xcb, &mrc, bytes), bytes + sizeof(expected));
    ck_assert_mem_eq(bytes, expected, sizeof(expected));
    ck_assert_uint_eq(net_mrc_bytes(0xc7, &mrc), sizeof(expected) - 4); // no immediate
}
END_TEST

START_TEST(a_sack_has_these_bytes)
{
    const net_mrc_t mrc = {
        .mark = MRC_MARK_ALWAYS_SKIP,
        .probe_answer = true,
        .ack_offset = -2,
        .entropy = 0xdeadbeef,
        .source_id = 0x0102,
        .destination_id = 0x0304,
        .psn = 0x050607,
        .cc_type = 1,
        .cc_flags = 10,
        .range = 32,
        .sack_offset = 5,
        .bitmap = UINT64_C(0x8000000000000001),
        .stamp = 0xbeef,
        .ahead = 0x1234,
        .restore = true,
        .penalty = 0x15,
        .received = 0xabcdef,
    };
    static const uint8_t expected[] = {0x00, 0x42, 0xff, 0xfe, 0xde, 0xad, 0xbe, 0xef, 0x01,
                                       0x02, 0x03, 0x04, 0x00, 0x05, 0x06, 0x07, 0x1a, 0x20,
                                       0x00, 0x05, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                       0x01, 0xbe, 0xef, 0x12, 0x34, 0x95, 0xab, 0xcd, 0xef};
    uint8_t bytes[MRC_HEADERS_MAX];
    ck_assert_uint_eq(net_mrc_bytes(0xdc, &mrc), sizeof(expected));
    (void)net_mrc_build(0xdc, &mrc, bytes);
    ck_assert_mem_eq(bytes, expected, sizeof(expected));
}
END_TEST

START_TEST(a_nack_has_these_bytes)
{
    const net_mrc_t mrc = {
        .reason = MRC_NACK_OUT_OF_WINDOW,
        .vendor = 0x77,
        .entropy = 0xcafef00d,
        .source_id = 0x0102,
        .destination_id = 0x0304,
        .psn = 0x123456,
        .cc_type = 2,
        .cc_flags = 3,
        .stamp = 0x4321,
    };
    static const uint8_t expected[] = {0x00, 0x00, 0x0b, 0x77, 0xca, 0xfe, 0xf0, 0x0d, 0x01, 0x02,
                                       0x03, 0x04, 0x00, 0x12, 0x34, 0x56, 0x23, 0x00, 0x43, 0x21};
    uint8_t bytes[MRC_HEADERS_MAX];
    (void)net_mrc_build(0xdd, &mrc, bytes);
    ck_assert_mem_eq(bytes, expected, sizeof(expected));
    const net_mrc_t probe = {.vendor = 0x5a, .probe = 0x9999, .stamp = 0x1111, .stamp_format = 1};
    static const uint8_t probed[] = {0, 0, 0, 0x5a, 0x99, 0x99, 0, 0, 0, 0, 0, 0, 0x11, 0x11, 0, 1};
    ck_assert_uint_eq(net_mrc_bytes(0xde, &probe), sizeof(probed));
    (void)net_mrc_build(0xde, &probe, bytes);
    ck_assert_mem_eq(bytes, probed, sizeof(probed));
}
END_TEST

START_TEST(what_is_parsed_is_built_again)
{
    sim_random_t random;
    sim_random_init(&random, 1, 0, "mrc");
    uint32_t taken = 0;
    uint32_t opcodes = 0;
    for (uint32_t opcode = 0; opcode < 256; opcode++) {
        opcodes += net_mrc_known((uint8_t)opcode);
        for (uint32_t i = 0; net_mrc_known((uint8_t)opcode) && i < 300; i++) {
            uint8_t bytes[MRC_HEADERS_MAX];
            for (size_t k = 0; k < sizeof(bytes);
                 k++) { // mostly zeros, since many bits are reserved
                bytes[k] =
                    (uint8_t)(sim_random_below(&random, 8) == 0 ? sim_random_below(&random, 256)
                                                                : 0);
            }
            const size_t size = sim_random_below(&random, sizeof(bytes) + 1);
            net_mrc_t mrc = {.stamped = i % 2 == 0 && opcode <= 0xcc};
            if (net_mrc_parse((uint8_t)opcode, bytes, size, &mrc) != NULL) {
                continue;
            }
            taken++;
            const uint32_t length = net_mrc_bytes((uint8_t)opcode, &mrc);
            ck_assert_uint_le(length, size);
            uint8_t again[MRC_HEADERS_MAX];
            ck_assert_ptr_eq(net_mrc_build((uint8_t)opcode, &mrc, again), again + length);
            ck_assert_mem_eq(again, bytes, length);
            if (length != 0) {
                ck_assert_ptr_nonnull(net_mrc_parse((uint8_t)opcode, bytes, length - 1, &mrc));
            }
        }
    }
    ck_assert_uint_eq(opcodes, 26);
    ck_assert_uint_gt(taken, 500);
}
END_TEST

START_TEST(frames_are_parsed_as_they_were_built)
{
    uint8_t payload[102];
    memset(payload, 7, sizeof(payload));
    const bool cut = _i >= 2;
    net_frame_t frame = {
        .is_mrc = true,
        .opcode = 0xc7,
        .ipv6 = _i % 2 == 1,
        .ttl = 64,
        .udp_source_port = 0xc001,
        .pkey = 0xffff,
        .psn = 5,
        .mrc = {.again = true, .stamped = true, .stamp = 9, .message = 3, .cut = cut},
        .payload = payload,
        .payload_bytes = sizeof(payload),
    };
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    const size_t size = net_frame_build(&frame, bytes, sizeof(bytes));
    const size_t tail = cut ? 0 : 2 + 4; // pad and ICRC
    ck_assert_uint_eq(size, 14u + (_i % 2 == 1 ? 40 : 20) + 8 + 12 + 24 + 102 + tail);
    net_frame_t parsed;
    sim_message_t message = {.text = ""};
    ck_assert_msg(net_frame_parse(bytes, size, &parsed, &message) == SIM_OK, "%s", message.text);
    ck_assert(parsed.is_mrc && parsed.mrc.again && parsed.mrc.stamped && parsed.mrc.cut == cut);
    ck_assert_uint_eq(parsed.payload_bytes, sizeof(payload));
    ck_assert_mem_eq(parsed.payload, payload, sizeof(payload));
    ck_assert(net_frame_icrc_ok(bytes, size, &parsed));
    ck_assert_uint_eq(parsed.mrc.stamp, 9);
    bytes[14 + (_i % 2 == 1 ? 40 : 20) + 8 + 8] |= 1; // reserved
    ck_assert_int_eq(net_frame_parse(bytes, size, &parsed, &message), SIM_ERR_INVALID);
}
END_TEST

CHECK_MAIN(CHECK_TEST(a_write_has_these_bytes), CHECK_TEST(a_sack_has_these_bytes),
           CHECK_TEST(a_nack_has_these_bytes), CHECK_TEST(what_is_parsed_is_built_again),
           CHECK_LOOP(frames_are_parsed_as_they_were_built, 0, 4))
