// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_selective_frames.c - the frames of selective transports, byte by byte.
//
// Goal: whatever packet a transport sends, its frame is as long as the link was told, is built and
// read to the same fields, has what docs/formats/frames.md says where it says so, and no shorter
// piece of it passes for a frame. Method: requests of every kind, of no bytes to several packets,
// over a lossy link, with every transport, tagged or not, over IPv4 and IPv6, with both codes of
// sdr; each packet that leaves a host is put into bytes, and what selective transports add is read
// off them by offsets of its own. Not pinned: the standard's headers (test_frame); that Wireshark
// reads them (test_wireshark).
#include <stdlib.h>

#include "kernel/bytes.h"
#include "nic/transport.h"
#include "tests/frame_reference.h"
#include "tests/nic_pair.h"

#define MTU 256u
#define REQUESTS 400u
#define ADDRESSED 0x40u // of byte 8 of the BTH
#define SELECTIVE 0x20u

// Counts of the kinds of frames met.
typedef struct met {
    uint64_t frames;
    uint64_t again; // with a round
    uint64_t empty_sends_again;
    uint64_t addresses; // where the standard has none
    uint64_t maps;      // with a bitmap
    uint64_t stretches;
    uint64_t parity;
    bool cut[256][3]; // every truncation was tried: of an opcode with nothing, data's, a map behind
} met_t;

static met_t met;

static bool is_request(uint8_t opcode)
{
    return opcode < ROCE_READ_RESPONSE_FIRST || opcode > ROCE_ATOMIC_ACKNOWLEDGE;
}

// Checks the bytes at `extra` by docs/formats/frames.md.
static void check_extra(const net_packet_t *packet, const uint8_t *bth, const uint8_t *extra)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const uint32_t bits = bth[8] & 0x7f;
    if (packet->opcode == ROCE_ACKNOWLEDGE) {
        const bool refusal = packet->aeth >> 24 == 0x60;
        ck_assert_uint_eq(bits, refusal && packet->addressed ? SELECTIVE : 0);
        if (bits != 0) {
            ck_assert_uint_eq(sim_get_be32(extra), aside->map.first_psn);
            ck_assert_uint_eq(sim_get_be32(extra + 4), aside->map.length);
            ck_assert_uint_ge(aside->map.length, 1);
            ck_assert_uint_eq(extra[8], aside->selective.round);
            ck_assert_uint_eq(sim_get_be32(extra + 8) & 0xffffff,
                              aside->selective.index & 0xffffff);
        }
        return;
    }
    if ((bits & ADDRESSED) != 0) {
        ck_assert_uint_ge(packet->opcode, ROCE_WRITE_MIDDLE);
        ck_assert_uint_le(packet->opcode, ROCE_WRITE_LAST_IMM);
        ck_assert_uint_eq(sim_get_be64(extra), aside->reth.address);
        ck_assert_uint_eq(sim_get_be32(extra + 8), aside->reth.rkey);
        ck_assert_uint_eq(sim_get_be32(extra + 12), aside->reth.length);
        ck_assert_uint_ge(aside->reth.length, packet->payload_bytes);
        extra += 16;
        met.addresses++;
    }
    if ((bits & SELECTIVE) != 0) {
        ck_assert(is_request(packet->opcode));
        ck_assert_uint_eq(extra[0], aside->selective.round);
        ck_assert_uint_eq(sim_get_be32(extra) & 0xffffff, aside->selective.index & 0xffffff);
        met.parity += extra[0] == 255 && packet->opcode == ROCE_WRITE_MIDDLE;
        met.again++;
        met.empty_sends_again +=
            packet->payload_bytes == 0 && packet->opcode == ROCE_SEND_ONLY && extra[0] != 0;
    } else if (packet->addressed) {
        ck_assert_uint_eq(aside->selective.round, 0);
    }
}

static void check_cuts(const uint8_t *bytes, size_t size)
{
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *const copy = malloc(cut != 0 ? cut : 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, bytes, cut);
        net_frame_t frame;
        ck_assert_int_eq(net_frame_parse(copy, cut, &frame, NULL), SIM_ERR_INVALID);
        free(copy);
    }
}

static void check_packet(const net_trace_t *trace, void *ctx)
{
    (void)ctx;
    const net_packet_t *const packet = trace->packet;
    if (packet->kind != NET_PACKET_ROCE) {
        return;
    }
    net_frame_t frame;
    net_packet_frame(trace->port, packet, &frame);
    ck_assert_uint_eq(net_frame_size_bytes(&frame), packet->frame_bytes);
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    const size_t size = net_frame_build(&frame, bytes, sizeof(bytes));
    ck_assert_uint_eq(size, packet->frame_bytes);

    net_frame_t parsed;
    sim_message_t message = {.text = ""};
    ck_assert_msg(net_frame_parse(bytes, size, &parsed, &message) == SIM_OK, "%s", message.text);
    ck_assert(net_frame_icrc_ok(bytes, size, &parsed));
    ck_assert_uint_eq(parsed.icrc, frame_reference_icrc(bytes));
    ck_assert_uint_eq(parsed.opcode, packet->opcode);
    ck_assert_uint_eq(parsed.psn, packet->psn);
    ck_assert_uint_eq(parsed.payload_bytes, packet->payload_bytes);
    ck_assert_uint_eq(parsed.ack_request, packet->ack_request);
    ck_assert_uint_eq(parsed.extra_bytes, frame.extra_bytes);
    ck_assert_mem_eq(parsed.extra, frame.extra, frame.extra_bytes);
    uint8_t again[NET_FRAME_BYTES_MAX];
    ck_assert_uint_eq(net_frame_build(&parsed, again, sizeof(again)), size);
    ck_assert_mem_eq(again, bytes, size);

    const uint8_t *const bth = bytes + frame_udp_offset(bytes) + 8;
    check_extra(packet, bth, bth + 12 + net_frame_extension_bytes(packet->opcode));
    if (packet->opcode == ROCE_ACKNOWLEDGE && frame.extra_bytes != 0) {
        met.maps += frame.extra_bytes > 12;
        met.stretches += frame.extra_bytes == 12;
    }
    const unsigned kind = frame.extra_bytes == 0 ? 0 : packet->opcode == ROCE_ACKNOWLEDGE ? 2 : 1;
    if (!met.cut[packet->opcode][kind]) {
        met.cut[packet->opcode][kind] = true;
        check_cuts(bytes, size);
    }
    met.frames++;
}

static void set_own(nic_config_t *config, const char *path, const char *value)
{
    for (size_t t = 0; nic_transport_all[t] != NULL; t++) {
        const sim_attr_table_t *const table = nic_transport_all[t]->attrs;
        const sim_attr_t *const attr = table == NULL ? NULL : sim_attr_find(table, path);
        if (attr != NULL) {
            sim_message_t message;
            ck_assert_int_eq(sim_attr_set(attr, nic_config_part(config, table), value, &message),
                             SIM_OK);
            return;
        }
    }
    ck_abort_msg("no attribute %s", path);
}

static void post_receives(pair_t *pair, void *ctx)
{
    pair_post_recvs(pair, ctx, REQUESTS, 1 << 16);
}

// Requests of every kind and length over a link that loses one in thirty.
static void run(const char *transport, const char *bits, const char *code, unsigned headers)
{
    static const nic_wr_opcode_t opcodes[] = {NIC_WR_SEND, NIC_WR_RDMA_WRITE,
                                              NIC_WR_RDMA_WRITE_WITH_IMM, NIC_WR_SEND_WITH_IMM,
                                              NIC_WR_RDMA_READ};
    static const uint64_t lengths[] = {0, 1, 3, 4, MTU - 1, MTU, MTU + 1, 5 * MTU, 11 * MTU + 7};
    pair_config_t config;
    pair_config_init(&config);
    sim_free(config.nic.transport);
    config.nic.transport = sim_strdup(transport);
    config.nic.mtu_bytes = MTU;
    config.nic.timeout = 8;
    set_own(&config.nic, "nic.adamap.bits", bits);
    set_own(&config.nic, "nic.sdr.code", code);
    set_own(&config.nic, "nic.sdr.chunk", "256");
    set_own(&config.nic, "nic.sdr.code-data", "4");
    set_own(&config.nic, "nic.sdr.code-parity", "2");
    config.tagged = (headers & 1) != 0;
    config.ipv6 = (headers & 2) != 0;
    config.link.loss_rate = (sim_ratio_t){1, 30};
    config.until_ps = SIM_PS_PER_S;
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    for (uint32_t h = 0; h < 2; h++) {
        net_port_listen(pair->port[h], NET_TRACE_TX, check_packet, NULL);
    }
    pair_call_at(pair, 1, 1, post_receives, &qps);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const nic_send_wr_t wr =
            pair_wr(pair, opcodes[i % SIM_COUNT_OF(opcodes)], lengths[i % SIM_COUNT_OF(lengths)]);
        pair_post_at(pair, 10 * SIM_PS_PER_US, qps.qp[0], &wr);
    }
    memset(&met, 0, sizeof(met));
    pair_run(pair);
    ck_assert_int_eq(pair->ended, SIM_ENDED_DONE);
    ck_assert_uint_eq(pair->done_count[0], REQUESTS);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_SUCCESS);
    }
    pair_destroy(pair);
    pair_config_fini(&config);
    ck_assert_uint_gt(met.frames, 1200);
}

START_TEST(adamap)
{
    static const char *const bits[] = {"1", "16", "31", "100", "256"};
    uint64_t empty = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(bits); i++) {
        run("adamap", bits[i], "none", 3 - (unsigned)_i);
        ck_assert_uint_gt(met.again, 20);
        ck_assert_uint_gt(met.addresses, 200);
        ck_assert_uint_gt(met.maps, 3);
        ck_assert_uint_eq(met.parity, 0);
        empty += met.empty_sends_again;
    }
    ck_assert_uint_gt(empty, 0);
}
END_TEST

START_TEST(irn)
{
    run("irn", "16", "none", 3 - (unsigned)_i);
    ck_assert_uint_gt(met.again, 20);
    ck_assert_uint_gt(met.addresses, 200);
    ck_assert_uint_gt(met.stretches, 20);
    ck_assert_uint_eq(met.maps, 0);
}
END_TEST

START_TEST(sdr)
{
    static const char *const codes[] = {"none", "xor", "mds"};
    for (size_t i = 0; i < SIM_COUNT_OF(codes); i++) {
        run("sdr", "16", codes[i], 3 - (unsigned)_i);
        ck_assert_uint_gt(met.again, 20);
        ck_assert_uint_gt(met.stretches, 20);
        ck_assert_int_eq(met.parity > 20, i > 0);
    }
}
END_TEST

// Go-back-N adds nothing.
START_TEST(go_back_n)
{
    run("go-back-n", "16", "none", 3 - (unsigned)_i);
    ck_assert_uint_eq(met.again + met.addresses + met.maps + met.stretches, 0);
}
END_TEST

// Frames with a tag and IPv6 come first: they are the longest.
CHECK_MAIN(CHECK_LOOP_FEW(adamap, 0, 4, 1), CHECK_LOOP_FEW(irn, 0, 4, 1),
           CHECK_LOOP_FEW(sdr, 0, 4, 1), CHECK_LOOP_FEW(go_back_n, 0, 4, 1))
