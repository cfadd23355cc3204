// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_uet_frame.c - Ultra Ethernet's headers: their bytes, lengths and refusals.
//
// Goal: fields lie where the public headers have them; the parser gives back what was built, and
// refuses what is cut off or has reserved bits set. Method: bytes written out by hand; every type
// with random fields, at every shorter length. Not pinned: what packets put into them.
#include <string.h>

#include "net/frame.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "tests/check_main.h"

#include "kernel/random.h"

START_TEST(a_write_has_these_bytes)
{
    const net_uet_t uet = {
        .type = UET_RUD_REQUEST,
        .next = UET_NEXT_STANDARD,
        .flags = UET_FLAG_ACK_REQUEST | UET_FLAG_RETRANSMISSION,
        .offset = 0x0102,
        .psn = 0x03040506,
        .source_pdc = 0x0708,
        .destination_pdc = 0x090a,
        .opcode = UET_SES_WRITE,
        .ses_flags = UET_SES_START | UET_SES_END,
        .message_id = 0x0b0c,
        .job = 0x0d0e0f10,
        .pid_on_fep = 0x111,
        .resource_index = 0x213,
        .buffer_offset = UINT64_C(0x1415161718191a1b),
        .initiator = 0x1c1d1e1f,
        .memory_key = UINT64_C(0x2021222324252627),
        .header_data = UINT64_C(0x28292a2b2c2d2e2f),
        .request_length = 0x30313233,
    };
    // Prologue: type 2 (5 bits), next header 3 (4 bits), flags 0x18 (7 bits).
    static const uint8_t expected[] = {
        0x11, 0x98, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x01, 0x03,
        0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x01, 0x11, 0x02, 0x13, 0x14, 0x15, 0x16, 0x17,
        0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25,
        0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x33};
    uint8_t bytes[UET_HEADERS_MAX];
    ck_assert_uint_eq(net_uet_bytes(&uet), UET_REQUEST_BYTES + UET_SES_STANDARD_BYTES);
    ck_assert_ptr_eq(net_uet_build(&uet, bytes), bytes + sizeof(expected));
    ck_assert_mem_eq(bytes, expected, sizeof(expected));
}
END_TEST

START_TEST(headers_have_the_published_sizes)
{
    static const struct {
        net_uet_t uet;
        uint32_t bytes;
    } sizes[] = {
        {{.type = UET_ROD_REQUEST, .next = UET_NEXT_STANDARD}, 12 + 44},
        {{.type = UET_RUD_CC_REQUEST, .next = UET_NEXT_STANDARD}, 16 + 44},
        {{.type = UET_RUD_REQUEST, .next = UET_NEXT_RESPONSE_DATA}, 12 + 20},
        {{.type = UET_UUD_REQUEST, .next = UET_NEXT_STANDARD}, 4 + 44},
        {{.type = UET_ACK, .next = UET_NEXT_RESPONSE}, 12 + 12},
        {{.type = UET_ACK_CC, .next = UET_NEXT_RESPONSE}, 32 + 12},
        {{.type = UET_ACK_CCX}, 32},
        {{.type = UET_ACK_CCX, .long_ccx = true}, 40},
        {{.type = UET_NACK}, 16},
        {{.type = UET_CONTROL, .next = UET_CONTROL_PROBE}, 16},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(sizes); i++) {
        ck_assert_uint_eq(net_uet_bytes(&sizes[i].uet), sizes[i].bytes);
    }
}
END_TEST

// Fills bytes at random, with a type and next header that exist.
static void draw(sim_random_t *random, uint32_t type, uint32_t next, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)sim_random_below(random, 256);
    }
    const uint32_t flags = (uint32_t)sim_random_below(random, 128);
    const uint32_t prologue = type << 11 | next << 7 | flags;
    bytes[0] = (uint8_t)(prologue >> 8);
    bytes[1] = (uint8_t)prologue;
}

START_TEST(what_is_parsed_is_built_again)
{
    static const uint8_t types[] = {2, 3, 6, 7, 8, 9, 10, 11, 13, 14};
    static const uint8_t nexts[] = {0, 3, 4, 5};
    sim_random_t random;
    sim_random_init(&random, 1, 0, "uet");
    uint32_t taken = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        uint8_t bytes[UET_HEADERS_MAX];
        draw(&random, types[i % 10], nexts[i / 10 % 4], bytes, sizeof(bytes));
        const size_t size = sim_random_below(&random, sizeof(bytes) + 1);
        net_uet_t uet;
        const char *why = NULL;
        const size_t length = net_uet_parse(bytes, size, &uet, &why);
        if (length == 0) {
            ck_assert_ptr_nonnull(why);
            continue;
        }
        taken++;
        ck_assert_uint_le(length, size);
        ck_assert_uint_eq(length, net_uet_bytes(&uet));
        uint8_t again[UET_HEADERS_MAX];
        (void)net_uet_build(&uet, again);
        ck_assert_mem_eq(again, bytes, length);
        ck_assert_uint_eq(net_uet_parse(bytes, length - 1, &uet, &why), 0);
    }
    ck_assert_uint_gt(taken, 400);
}
END_TEST

START_TEST(frames_are_parsed_as_they_were_built)
{
    uint8_t payload[100];
    memset(payload, 7, sizeof(payload));
    net_frame_t frame = {
        .is_uet = true,
        .ipv6 = _i == 1,
        .ttl = 64,
        .udp_source_port = 0xc001,
        .uet = {.type = UET_RUD_REQUEST, .next = UET_NEXT_STANDARD, .opcode = UET_SES_SEND},
        .payload = payload,
        .payload_bytes = sizeof(payload),
    };
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    const size_t size = net_frame_build(&frame, bytes, sizeof(bytes));
    ck_assert_uint_eq(size, (_i == 1 ? 14u + 40 : 14u + 20) + 8 + 12 + 44 + 100);
    net_frame_t parsed;
    sim_message_t message = {.text = ""};
    ck_assert_msg(net_frame_parse(bytes, size, &parsed, &message) == SIM_OK, "%s", message.text);
    ck_assert(parsed.is_uet && parsed.payload_bytes == sizeof(payload));
    ck_assert_mem_eq(parsed.payload, payload, sizeof(payload));
    ck_assert_int_eq(parsed.uet.opcode, UET_SES_SEND);
    bytes[size - sizeof(payload) - UET_SES_STANDARD_BYTES] |= 0x80; // reserved
    ck_assert_int_eq(net_frame_parse(bytes, size, &parsed, &message), SIM_ERR_INVALID);
}
END_TEST

CHECK_MAIN(CHECK_TEST(a_write_has_these_bytes), CHECK_TEST(headers_have_the_published_sizes),
           CHECK_TEST(what_is_parsed_is_built_again),
           CHECK_LOOP(frames_are_parsed_as_they_were_built, 0, 2))
