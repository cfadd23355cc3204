// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_frame_parse.c - what the frame parser refuses (net/frame.h).
//
// Goal: nothing but a right frame is taken for one, no byte beyond a frame is read, the ICRC covers
// exactly what it must, and a refusal says why.
// Method: every truncation and trailer from memory of exact size; every flipped bit, as it is and
// with the checksums repaired so that the ICRC alone has to notice; each refusal by its message.
// Not pinned: that good frames parse to the right fields (test_frame.c).
#include "net/frame_opcodes.h"
#include "net/packets.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check_main.h"
#include "tests/frame_reference.h"

// Parses from memory of exactly the size, so that a sanitizer sees a byte too far.
static sim_err_t parse_exact(const uint8_t *bytes, size_t size, sim_message_t *message)
{
    uint8_t *const copy = malloc(size != 0 ? size : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    net_frame_t frame;
    const sim_err_t error = net_frame_parse(copy, size, &frame, message);
    free(copy);
    return error;
}

START_TEST(every_truncation_and_every_trailer_is_refused)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    for (unsigned kind = 0; kind < 4; kind++) {
        memset(bytes, 0, sizeof(bytes));
        const size_t size =
            frame_build_sample(frame_rows[_i].opcode, (kind & 1) != 0, (kind & 2) != 0, bytes);
        ck_assert_int_eq(parse_exact(bytes, size, NULL), SIM_OK);
        for (size_t cut = 0; cut < size; cut++) {
            ck_assert_int_eq(parse_exact(bytes, cut, NULL), SIM_ERR_INVALID);
        }
        // Zeros behind a packet that may have telemetry are a digest, or no hops and room for some.
        const bool may = net_frame_may_have_telemetry(frame_rows[_i].opcode);
        for (size_t more = 1; more < 70; more++) {
            const sim_err_t expected =
                may && (more == 1 || more % 8 == 2) ? SIM_OK : SIM_ERR_INVALID;
            ck_assert_int_eq(parse_exact(bytes, size + more, NULL), expected);
        }
    }
}
END_TEST

// Returns whether a flipped bit leaves a good frame: nothing covers the MACs and the tag, and the
// ICRC masks fields of which any value may be a good one.
static bool may_change(const uint8_t *bytes, size_t at, unsigned bit)
{
    const size_t ip = frame_ip_offset(bytes);
    const size_t bth = frame_udp_offset(bytes) + 8;
    if (at < 12) {
        return true;
    }
    if (ip == 18 && at == 14) {
        return bit != 4; // drop eligible
    }
    if (ip == 18 && at == 15) {
        return true;
    }
    if (at == bth + 4) {
        return bit >= 6; // FECN, BECN
    }
    if (frame_is_ipv6(bytes)) {
        return (at == ip && bit < 4) || (at > ip && at <= ip + 3) || at == ip + 7;
    }
    return at == ip + 1 || at == ip + 8;
}

// An unchanged frame is accepted; a frame with a flipped bit is refused unless nothing covers the
// bit.
START_TEST(every_flipped_bit_is_noticed)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    for (unsigned kind = 0; kind < 4; kind++) {
        const size_t size =
            frame_build_sample(frame_rows[_i].opcode, (kind & 1) != 0, (kind & 2) != 0, bytes);
        for (size_t bit = 0; bit < size * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            net_frame_t parsed;
            if (net_frame_parse(bytes, size, &parsed, NULL) == SIM_OK &&
                net_frame_icrc_ok(bytes, size, &parsed)) {
                ck_assert_msg(may_change(bytes, bit / 8, (unsigned)bit % 8),
                              "kind %u: bit %zu of byte %zu", kind, bit % 8, bit / 8);
            }
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}
END_TEST

// With the checksums made right after the flip, only the parser's rules and the ICRC are left to
// notice it: they notice exactly what they must.
START_TEST(icrc_covers_what_it_must_and_no_more)
{
    uint8_t good[FRAME_BYTES_MAX];
    uint8_t bytes[FRAME_BYTES_MAX];
    for (unsigned kind = 0; kind < 4; kind++) {
        const size_t size =
            frame_build_sample(frame_rows[_i].opcode, (kind & 1) != 0, (kind & 2) != 0, good);
        for (size_t bit = frame_ip_offset(good) * 8; bit < size * 8; bit++) {
            memcpy(bytes, good, size);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            frame_repair_checksums(bytes, size);
            const bool expected =
                memcmp(bytes, good, size) == 0 || may_change(good, bit / 8, (unsigned)bit % 8);
            net_frame_t parsed;
            const bool accepted = net_frame_parse(bytes, size, &parsed, NULL) == SIM_OK &&
                                  net_frame_icrc_ok(bytes, size, &parsed);
            ck_assert_msg(accepted == expected, "kind %u: bit %zu of byte %zu %s", kind, bit % 8,
                          bit / 8, accepted ? "is not covered" : "must be masked");
        }
    }
}
END_TEST

// A frame with a wrong ICRC is well-formed: the parser accepts it and reports the ICRC as wrong.
START_TEST(wrong_icrc_is_well_formed)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    const size_t size = frame_build_sample(ROCE_RC | ROCE_ACKNOWLEDGE, false, false, bytes);
    memcpy(bytes + size - 4, "\x01\x02\x03\x04", 4);
    net_frame_t parsed;
    ck_assert_int_eq(net_frame_parse(bytes, size, &parsed, NULL), SIM_OK);
    ck_assert_uint_eq(parsed.icrc, 0x04030201);
    ck_assert(!net_frame_icrc_ok(bytes, size, &parsed));
}
END_TEST

// -- refusals, each by its message

typedef struct refusal {
    uint8_t opcode;
    bool tagged;
    bool ipv6;
    bool repaired; // checksums made right after the change
    uint16_t at;   // 16 bits there are changed
    uint16_t value;
    const char *message;
} refusal_t;

// Offsets over IPv4: the IP header is at 14 (18 after a tag), UDP at 34, BTH at 42, extensions at
// 54.
static const refusal_t refusals[] = {
    {0x04, false, false, false, 12, 0x0806, "EtherType 0x0806 is not IPv4, IPv6 or MAC control"},
    {0x04, true, false, false, 14, 0xb123, "802.1Q tag 0xb123: drop eligible"},
    {0x04, true, false, false, 14, 0xafff, "VLAN 4095 is reserved"},
    {0x04, true, false, false, 16, 0x8100, "EtherType 0x8100"},
    {0x04, false, false, true, 14, 0x466a, "IPv4 version and header length 0x46"},
    {0x04, false, false, false, 24, 0x0000, "IPv4 header checksum 0x0000, must be"},
    {0x04, false, false, true, 20, 0x2000, "fragment offset 0x2000, must be 0x4000"},
    {0x04, false, false, true, 22, 0x3f06, "IP protocol 6, expected UDP"},
    {0x04, false, false, true, 22, 0x0011, "time to live"},
    {0x04, false, false, true, 16, 19, "IPv4 total length 19"},
    {0x04, false, false, true, 16, 1500, "IP packet ends at byte 1514"},
    {0x0a, false, false, true, 16, 64, "UDP length 48 in an IP packet that has 44 bytes"},
    {0x04, false, true, true, 14, 0x46a9, "IP version 4 under the EtherType of IPv6"},
    {0x04, false, true, true, 18, 1500, "IP packet ends at byte 1554"},
    {0x04, false, true, true, 20, 0x003f, "IP protocol 0"},
    {0x04, false, true, true, 20, 0x1100, "hop limit"},
    {0x04, false, false, false, 36, 4792, "UDP destination port 4792, RoCEv2 is 4791"},
    {0x04, false, false, false, 38, 100, "UDP length 100 in an IP packet that has"},
    {0x04, false, false, false, 40, 0x1234, "UDP checksum 0x1234, RoCEv2 over IPv4 sends 0"},
    {0x04, false, true, false, 60, 0x0000, "UDP checksum is missing over IPv6"},
    {0x04, false, true, false, 60, 0x1234, "UDP checksum 0x1234 is wrong"},
    {0x04, false, false, false, 42, 0x1580, "BTH opcode 0x15"},
    {0x04, false, false, false, 42, 0x4080, "BTH opcode 0x40"},
    {0x0a, false, false, false, 42, 0x0ad1, "BTH transport version 1"},
    {0x04, false, false, false, 46, 0x01a1, "BTH reserved bits"},
    {0x04, false, false, false, 50, 0x81d4, "BTH reserved bits"},
    {0x11, false, false, false, 42, 0x1190, "RC ACKNOWLEDGE: pad count 1 with 0 bytes"},
    {0x04, false, false, false, 42, 0x1180, "RC ACKNOWLEDGE carries 4 bytes, must be none"},
    {0x0a, false, false, false, 76, 0x07ff, "frame byte 77: pad is 0xff, must be zero"},
    {0x64, false, false, false, 58, 0x0151, "DETH reserved byte 0x01"},
    {0x81, false, false, false, 60, 0x0002, "reserved byte of a CNP is 0x02"},
};

START_TEST(refusal_names_the_reason)
{
    const refusal_t *const row = &refusals[_i];
    uint8_t bytes[FRAME_BYTES_MAX];
    const size_t size = frame_build_sample(row->opcode, row->tagged, row->ipv6, bytes);
    frame_put16(bytes + row->at, row->value);
    if (row->repaired) {
        frame_repair_checksums(bytes, size);
    }
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(parse_exact(bytes, size, &message), SIM_ERR_INVALID);
    ck_assert_msg(strstr(message.text, row->message) != NULL, "%s", message.text);
}
END_TEST

static void assert_refused(const uint8_t *bytes, size_t size, const char *expected)
{
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(parse_exact(bytes, size, &message), SIM_ERR_INVALID);
    ck_assert_msg(strstr(message.text, expected) != NULL, "%s", message.text);
}

// Makes IP and UDP end where an IPv4 frame of this size does.
static void set_lengths(uint8_t *bytes, size_t size)
{
    frame_put16(bytes + 16, (uint32_t)size - 14);
    frame_put16(bytes + 38, (uint32_t)size - 34);
    frame_repair_checksums(bytes, size);
}

START_TEST(lengths_that_agree_but_do_not_fit_are_refused)
{
    uint8_t bytes[FRAME_BYTES_MAX] = {0};
    const size_t size = frame_build_sample(ROCE_RC | ROCE_COMPARE_SWAP, false, false, bytes);
    set_lengths(bytes, size - 4);
    assert_refused(bytes, size - 4, "RC COMPARE SWAP needs 28 bytes, 24 are left");

    // The length fields stay within the least frame of 60 bytes, so only headers are short.
    memset(bytes, 0, sizeof(bytes));
    frame_build_sample(ROCE_RC | ROCE_ACKNOWLEDGE, false, false, bytes);
    memset(bytes + 54, 0, 8);
    set_lengths(bytes, 50);
    memset(bytes + 50, 0, 4);
    assert_refused(bytes, 60, "BTH and ICRC needs 16 bytes, 8 are left");
    set_lengths(bytes, 40);
    memset(bytes + 38, 0, 12);
    assert_refused(bytes, 60, "UDP header needs 8 bytes, 6 are left");

    frame_build_sample(ROCE_RC | ROCE_SEND_ONLY, false, false, bytes);
    set_lengths(bytes, 64);
    assert_refused(bytes, 64, "pad count 1 with 6 bytes");

    net_frame_t frame = frame_sample(frame_row_of(ROCE_RC | ROCE_SEND_ONLY), false, false);
    frame.payload_bytes = 4096;
    const size_t large = net_frame_build(&frame, bytes, sizeof(bytes));
    memset(bytes + large, 0, 4);
    set_lengths(bytes, large + 4);
    assert_refused(bytes, large + 4, "carries 4100 bytes, the largest path MTU is 4096");
}
END_TEST

START_TEST(short_frames_are_padded_and_the_padding_checked)
{
    uint8_t bytes[FRAME_BYTES_MAX];
    memset(bytes, 0xee, sizeof(bytes));
    const net_frame_t frame = frame_sample(frame_row_of(ROCE_RC | ROCE_SEND_ONLY), false, false);
    ck_assert_uint_eq(net_frame_build(&frame, bytes, sizeof(bytes)), 60);
    ck_assert_uint_eq(bytes[58], 0);
    ck_assert_uint_eq(bytes[59], 0);
    ck_assert_uint_eq(bytes[60], 0xee);
    ck_assert_int_eq(parse_exact(bytes, 60, NULL), SIM_OK);
    assert_refused(bytes, 58, "frame of 58 bytes, Ethernet's least is 60");
    bytes[59] = 1;
    assert_refused(bytes, 60, "frame byte 59: Ethernet padding is 0x01, must be zero");
}
END_TEST

START_TEST(pfc_refusals)
{
    uint8_t good[64] = {0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0x01, 0x01, 0, 8};
    uint8_t bytes[64];
    ck_assert_int_eq(parse_exact(good, 60, NULL), SIM_OK);
    static const struct {
        size_t at;
        uint8_t value;
        const char *message;
    } rows[] = {
        {5, 0x0e, "not sent to 01-80-C2-00-00-01"},
        {14, 0x00, "MAC control opcode 0x0001, only PFC (0x0101) and CC_Update (0xfffe) are known"},
        {16, 0x01, "class-enable vector 0x0108: the upper byte is reserved"},
        {34, 0x01, "frame byte 34: padding of a PFC frame is 0x01"},
        {59, 0x80, "frame byte 59: padding of a PFC frame is 0x80"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        memcpy(bytes, good, sizeof(bytes));
        bytes[rows[i].at] = rows[i].value;
        assert_refused(bytes, 60, rows[i].message);
    }
    assert_refused(good, 59, "frame of 59 bytes");
    assert_refused(good, 64, "PFC frame of 64 bytes, must be 60");

    memcpy(bytes, good, 12);
    memcpy(bytes + 12, "\x81\x00\x60\x00", 4);
    memcpy(bytes + 16, good + 12, 44);
    assert_refused(bytes, 60, "MAC control frame with an 802.1Q tag");
}
END_TEST

CHECK_MAIN(CHECK_LOOP(every_truncation_and_every_trailer_is_refused, 0, FRAME_ROW_COUNT),
           CHECK_LOOP(every_flipped_bit_is_noticed, 0, FRAME_ROW_COUNT),
           CHECK_LOOP(icrc_covers_what_it_must_and_no_more, 0, FRAME_ROW_COUNT),
           CHECK_TEST(wrong_icrc_is_well_formed),
           CHECK_LOOP(refusal_names_the_reason, 0, (int)SIM_COUNT_OF(refusals)),
           CHECK_TEST(lengths_that_agree_but_do_not_fit_are_refused),
           CHECK_TEST(short_frames_are_padded_and_the_padding_checked), CHECK_TEST(pfc_refusals))
