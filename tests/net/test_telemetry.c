// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_telemetry.c - in-band telemetry: fields, digests, trailers, and what switches
// write.
//
// Goal: records and digests say what is so, over wraps and for any width; trailers survive the
// codec and nothing else is taken for one; a switch writes what its port did, and the frame grows
// by it on the wire and nowhere else; the receiver brings it back whole.
// Method: fields by hand; frames built and parsed; two hosts over two switches, the records of each
// packet against what a listener at the ports counted; PINT's utilization against a closed form.
// Not pinned: what senders do with it (test_cc_hpcc.c), tshark's view (test_captures.sh).
#include "net/telemetry.h"

#include "net/frame_opcodes.h"
#include "tests/drop_next.h"
#include "tests/frame_reference.h"
#include "tests/nic_pair.h"

// -- records

START_TEST(rates_have_codes)
{
    static const uint64_t tenths_gbps[] = {10,  25,   50,   100,  200,  250,   400,  500,
                                           560, 1000, 2000, 4000, 8000, 16000, 32000};
    for (uint32_t i = 0; i < SIM_COUNT_OF(tenths_gbps); i++) {
        const uint64_t rate_bps = tenths_gbps[i] * 100000000;
        ck_assert_uint_eq(net_int_rate_code(rate_bps), i + 1);
        ck_assert_uint_eq(net_int_rate_bps((uint64_t)(i + 1) << 60 | 12345), rate_bps);
        ck_assert_uint_eq(net_int_rate_code(rate_bps + 1), 0);
    }
    ck_assert_uint_eq(net_int_rate_bps(UINT64_MAX >> 4), 0);
}
END_TEST

START_TEST(records_hold_their_fields)
{
    // Code 10; 123456789 ns = 0x75bcd15; 1000000 bytes = 7812 units; 8079 = 100 units.
    const uint64_t record = net_int_record(10, 123456789999, 1000000, 8079, 1);
    ck_assert_uint_eq(record, UINT64_C(10) << 60 | UINT64_C(0x5bcd15) << 36 | 7812 << 16 | 100);
    // Units of 512 and 320.
    ck_assert_uint_eq(net_int_record(1, 0, 1000000, 8079, 4), UINT64_C(1) << 60 | 1953 << 16 | 25);
    ck_assert_uint_eq(net_int_queue_bytes(record, 1), 8000);
    ck_assert_uint_eq(net_int_queue_bytes(record, 4), 32000);
    // A queue beyond 16 bits is reported as the longest possible, not as a short one.
    ck_assert_uint_eq(net_int_record(0, 0, 0, 80 * 65536, 1), 65535);
    ck_assert_uint_eq(net_int_record(0, 0, 0, 80 * 65535, 1), 65535);
    ck_assert_uint_eq(net_int_record(0, 0, 0, 80 * 65535 - 1, 1), 65534);
    ck_assert_uint_eq(net_int_record(0, 0, 0, 80 * 65536, 2), 32768);
}
END_TEST

START_TEST(differences_survive_wraps)
{
    for (uint64_t i = 0; i < 3000; i++) {
        const uint64_t time_ps = i * 16777215111;
        const uint64_t sent = i * 134217700;
        const uint64_t before = net_int_record(5, time_ps, sent, i % 70000, 1);
        const uint64_t after = net_int_record(5, time_ps + 16777000000, sent + 134217600, 0, 1);
        const uint64_t elapsed_ns = (time_ps + 16777000000) / 1000 - time_ps / 1000;
        const uint64_t units = (sent + 134217600) / 128 - sent / 128;
        ck_assert_uint_eq(net_int_elapsed_ns(after, before), elapsed_ns);
        ck_assert_uint_eq(net_int_sent_bytes(after, before, 1), units * 128);
        ck_assert_uint_eq(net_int_sent_bytes(after, before, 3), units * 384);
    }
}
END_TEST

// -- digests

START_TEST(digests_rise_by_the_base)
{
    static const struct {
        sim_ratio_t base;
        uint32_t bytes;
    } cases[] = {{{105, 100}, 1},
                 {{2, 1}, 1},
                 {{1045, 1000}, 1},
                 {{104, 100}, 2},
                 {{1003, 1000}, 2}};
    for (size_t c = 0; c < SIM_COUNT_OF(cases); c++) {
        net_pint_t pint;
        net_pint_init(&pint, cases[c].base, SIM_PS_PER_US);
        ck_assert_uint_eq(pint.digest_bytes, cases[c].bytes);
        ck_assert_uint_le(pint.digest_count, cases[c].bytes == 1 ? 256 : 4096);
        ck_assert_double_eq(pint.values[0], 0.0);
        ck_assert_double_eq(pint.values[1], 1.0 / 1024);
        const double base = (double)cases[c].base.num / (double)cases[c].base.den;
        for (uint32_t i = 2; i < pint.digest_count; i++) {
            ck_assert_double_eq_tol(pint.values[i] / pint.values[i - 1], base, 1e-12);
        }
        ck_assert_double_ge(pint.values[pint.digest_count - 1], 64.0);
    }
}
END_TEST

// The encoder draws only among the two neighbours of a value, and the mean is right: within 4
// standard deviations of 40000 draws.
START_TEST(digests_are_right_in_the_mean)
{
    static const double utilizations[] = {0.0, 0.0001, 0.3, 0.95, 1.0, 7.7, 60.0};
    net_pint_t pint;
    net_pint_init(&pint, (sim_ratio_t){105, 100}, SIM_PS_PER_US);
    sim_random_t random;
    sim_random_init(&random, 1, 2, "test");
    for (size_t c = 0; c < SIM_COUNT_OF(utilizations); c++) {
        const double utilization = utilizations[c];
        double sum = 0.0;
        double widest = 0.0;
        for (int i = 0; i < 40000; i++) {
            const uint16_t digest = net_pint_encode(&pint, utilization, &random);
            const double off = pint.values[digest] - utilization;
            const double step = digest <= 1 ? pint.values[1] : pint.values[digest] * 0.05;
            SIM_CHECK(off < step && off > -step);
            widest = step > widest ? step : widest;
            sum += pint.values[digest];
        }
        ck_assert_double_eq_tol(sum / 40000, utilization, 4.0 * 0.5 * widest / 200.0 + 1e-12);
    }
    // A value beyond the largest digest gives the largest digest.
    ck_assert_uint_eq(net_pint_encode(&pint, 1e9, &random), pint.digest_count - 1);
}
END_TEST

// -- trailers

static void check_trailer(net_frame_t *frame, const uint8_t *trailer, size_t trailer_bytes)
{
    uint8_t plain[FRAME_BYTES_MAX];
    uint8_t bytes[FRAME_BYTES_MAX];
    net_frame_t without = *frame;
    without.telemetry = NET_TELEMETRY_NONE;
    const size_t plain_size = net_frame_build(&without, plain, sizeof(plain));
    const size_t size = net_frame_build(frame, bytes, sizeof(bytes));
    // Lengths, checksums and ICRC of the packet are those of a packet without telemetry.
    ck_assert_uint_eq(size, plain_size + trailer_bytes);
    ck_assert_uint_eq(size, net_frame_size_bytes(frame));
    ck_assert_mem_eq(bytes, plain, plain_size);
    ck_assert_mem_eq(bytes + plain_size, trailer, trailer_bytes);

    net_frame_t parsed;
    sim_message_t message = {.text = ""};
    ck_assert_msg(net_frame_parse(bytes, size, &parsed, &message) == SIM_OK, "%s", message.text);
    ck_assert(net_frame_icrc_ok(bytes, size, &parsed));
    ck_assert_uint_eq(parsed.telemetry, frame->telemetry);
    ck_assert_uint_eq(parsed.hop_count, frame->hop_count);
    ck_assert_uint_eq(parsed.path_id, frame->path_id);
    ck_assert_uint_eq(parsed.digest, frame->digest);
    ck_assert_mem_eq(parsed.hops, frame->hops, frame->hop_count * sizeof(frame->hops[0]));
    uint8_t again[FRAME_BYTES_MAX];
    ck_assert_uint_eq(net_frame_build(&parsed, again, sizeof(again)), size);
    ck_assert_mem_eq(again, bytes, size);
    for (size_t cut = 1; cut < trailer_bytes; cut++) {
        const sim_err_t error = net_frame_parse(bytes, size - cut, &parsed, NULL);
        // A truncated INT trailer may be well-formed by chance, but never equals the original.
        ck_assert(error == SIM_ERR_INVALID || parsed.telemetry != frame->telemetry ||
                  net_frame_size_bytes(&parsed) == size - cut);
    }
}

static const uint8_t carriers[] = {ROCE_SEND_ONLY, ROCE_WRITE_MIDDLE, ROCE_WRITE_FIRST,
                                   ROCE_SEND_LAST_IMM, ROCE_ACKNOWLEDGE};

START_TEST(trailers_survive_a_round_trip)
{
    const frame_row_t *const row = frame_row_of(carriers[_i]);
    for (unsigned kind = 0; kind < 4; kind++) {
        net_frame_t frame = frame_sample(row, (kind & 1) != 0, (kind & 2) != 0);
        frame.payload_bytes = 0; // the shortest frame: some have padding before the trailer
        for (uint32_t hops = 0; hops <= NET_INT_HOPS_MAX; hops++) {
            for (uint32_t room = 0; room <= NET_INT_HOPS_MAX; room += 7) {
                uint8_t trailer[NET_INT_BYTES_MAX] = {(uint8_t)(hops << 4 | 0xa), 0xbc};
                frame.telemetry = NET_TELEMETRY_INT;
                frame.hop_count = (uint8_t)hops;
                frame.reserved_hops = (uint8_t)room;
                frame.path_id = 0xabc;
                for (uint32_t i = 0; i < hops; i++) {
                    frame.hops[i] = UINT64_C(0x0102030405060708) * (i + 1u);
                    for (int b = 0; b < 8; b++) {
                        trailer[2 + 8 * i + (unsigned)b] = (uint8_t)(frame.hops[i] >> (56 - 8 * b));
                    }
                }
                check_trailer(&frame, trailer, 2 + 8u * (hops > room ? hops : room));
            }
        }
        frame.path_id = frame.hop_count = frame.reserved_hops = 0;
        frame.telemetry = NET_TELEMETRY_PINT;
        frame.digest = 0xfe;
        frame.digest_bytes = 1;
        check_trailer(&frame, (const uint8_t *)"\xfe", 1);
        frame.digest = 0x123;
        frame.digest_bytes = 2;
        check_trailer(&frame, (const uint8_t *)"\xf1\x23", 2);
    }
}
END_TEST

START_TEST(other_trailers_are_refused)
{
    static const struct {
        uint8_t opcode;
        size_t bytes;
        uint8_t trailer[20];
    } cases[] = {
        {ROCE_WRITE_ONLY, 3, {0}},                     // neither
        {ROCE_WRITE_ONLY, 2, {0x10}},                  // a hop that is not there
        {ROCE_WRITE_ONLY, 10, {0x20}},                 // of two one
        {ROCE_WRITE_ONLY, 10, {0xf0}},                 // 15 hops are PINT's mark
        {ROCE_WRITE_ONLY, 18, {[0] = 0x10, [17] = 1}}, // room for hops is zeros
        {ROCE_READ_REQUEST, 2, {0}},                   // READs carry none
        {ROCE_READ_RESPONSE_ONLY, 2, {0}},             //
        {ROCE_UC | ROCE_SEND_ONLY, 2, {0}},            // nor does UC
        {ROCE_CNP, 1, {0}},                            //
    };
    for (size_t c = 0; c < SIM_COUNT_OF(cases); c++) {
        uint8_t bytes[FRAME_BYTES_MAX];
        const size_t size = frame_build_sample(cases[c].opcode, false, false, bytes);
        memcpy(bytes + size, cases[c].trailer, cases[c].bytes);
        net_frame_t frame;
        sim_message_t message = {.text = ""};
        ck_assert_int_eq(net_frame_parse(bytes, size + cases[c].bytes, &frame, &message),
                         SIM_ERR_INVALID);
        ck_assert_msg(strstr(message.text, "are no telemetry") != NULL, "%s", message.text);
    }
}
END_TEST

// -- what switches write, and receivers bring back

#define HEARD_MAX 4096

// An algorithm that records what it hears and changes nothing.
typedef struct heard {
    net_telemetry_t telemetry;
    uint32_t hop_count;
    uint16_t path_id;
    uint16_t digest;
    bool ecn_echo;
    uint64_t acked_psn;
    uint64_t hops[NET_INT_HOPS_MAX];
} heard_t;

typedef struct listener {
    heard_t heard[HEARD_MAX];
    size_t count;
    size_t cnps;
    const net_pint_t *pint;
} listener_t;

static void listen_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    listener_t *const listener = (listener_t *)(uintptr_t)cc->config;
    SIM_CHECK(listener->count < HEARD_MAX);
    heard_t *const heard = &listener->heard[listener->count++];
    *heard = (heard_t){.telemetry = ack->telemetry,
                       .hop_count = ack->hop_count,
                       .path_id = ack->path_id,
                       .digest = ack->digest,
                       .ecn_echo = ack->ecn_echo,
                       .acked_psn = ack->acked_psn};
    listener->pint = cc->pint;
    if (ack->hop_count > 0) {
        memcpy(heard->hops, ack->hops, ack->hop_count * sizeof(heard->hops[0]));
    }
}

static void listen_cnp(nic_cc_t *cc)
{
    ((listener_t *)(uintptr_t)cc->config)->cnps++;
}

static nic_cc_ops_t listening(net_telemetry_t telemetry)
{
    return (nic_cc_ops_t){.name = "listener",
                          .state_bytes = sizeof(nic_cc_t),
                          .telemetry = telemetry,
                          .acks_every_packet = true,
                          .echoes_ecn = true,
                          .ack = listen_ack,
                          .cnp = listen_cnp};
}

// Configures two switches between the hosts, joined by a link of that rate, and the listener on
// both NICs.
static void listen_through(pair_config_t *config, uint64_t middle_bps, const nic_cc_ops_t *ops,
                           listener_t *listener)
{
    pair_config_init(config);
    config->nic.mtu_bytes = 1024;
    config->nic.custom_cc = ops;
    config->nic.custom_cc_config = listener;
    config->middle_bps = middle_bps;
}

// Every frame that left a switch's port towards b, in order, as a trace listener saw it.
typedef struct tap {
    const net_port_t *port;
    uint64_t records[HEARD_MAX]; // what each packet should bring along
    uint32_t sizes[HEARD_MAX];
    size_t count;
    uint64_t sent_bytes;
    uint64_t multiplier;
} tap_t;

static void tap_tx(const net_trace_t *trace, void *ctx)
{
    tap_t *const tap = ctx;
    const uint64_t code = trace->port->line->rate_bps == UINT64_C(25000000000) ? 6 : 10;
    const uint64_t queue = trace->port->classes[3]->bytes;
    SIM_CHECK(tap->count < HEARD_MAX);
    tap->sizes[tap->count] = trace->packet->frame_bytes;
    tap->records[tap->count++] = code << 60 | (trace->time_ps / 1000 % (1u << 24)) << 36 |
                                 (tap->sent_bytes / (128 * tap->multiplier) % (1u << 20)) << 16 |
                                 queue / (80 * tap->multiplier);
    tap->sent_bytes += trace->packet->frame_bytes + 24u; // preamble, FCS, gap
}

static void tap_port(tap_t *tap, pair_t *pair, const char *node, uint32_t port, uint64_t multiplier)
{
    tap->multiplier = multiplier;
    tap->port = &net_node_find(pair->net, node)->ports[port];
    net_port_listen(&net_node_find(pair->net, node)->ports[port], NET_TRACE_TX, tap_tx, tap);
}

static void reserve_five(net_config_t *config)
{
    config->int_reserved_hops = 5;
}

static void multiply_by_four(net_config_t *config)
{
    config->int_multiplier = 4;
}

// A link of 100 Gbit/s leads into one of 25: the queue grows by three packets for each that leaves.
// Whether frames grow or have room from the start, the records differ only by their bytes.
START_TEST(records_are_what_the_ports_did)
{
    static listener_t listener;
    memset(&listener, 0, sizeof(listener));
    static tap_t taps[2];
    memset(taps, 0, sizeof(taps));
    const uint32_t room = _i == 1 ? 5 : 0;
    const uint64_t multiplier = _i == 2 ? 4 : 1;
    const nic_cc_ops_t ops = listening(NET_TELEMETRY_INT);
    pair_config_t config;
    listen_through(&config, 25000000000, &ops, &listener);
    config.change_net = _i == 0 ? NULL : (_i == 1 ? reserve_five : multiply_by_four);
    pair_t *const pair = pair_create(&config);
    tap_port(&taps[0], pair, "left", 1, multiplier);
    tap_port(&taps[1], pair, "right", 1, multiplier);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 200 * 1024);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);

    ck_assert_uint_eq(listener.count, 200);
    for (size_t i = 0; i < 200; i++) {
        const heard_t *const heard = &listener.heard[i];
        const uint32_t headers = 58 + 1024 + (i == 0 ? 16 : 0);
        ck_assert_int_eq(heard->telemetry, NET_TELEMETRY_INT);
        ck_assert_uint_eq(heard->acked_psn, i + 1);
        ck_assert_uint_eq(heard->hop_count, 2);
        ck_assert_uint_eq(heard->path_id, listener.heard[0].path_id);
        for (uint32_t hop = 0; hop < 2; hop++) {
            ck_assert_uint_eq(heard->hops[hop], taps[hop].records[i]);
            const uint32_t grown = room == 0 ? 2 + 8u * (hop + 1) : 42;
            ck_assert_uint_eq(taps[hop].sizes[i], headers + grown);
        }
        // Frames are seen as they left the hosts: the data with an empty list, the ACK with a full
        // one.
        ck_assert_uint_eq(pair_nth(pair, 0, i)->packet.frame_bytes, headers + (room == 0 ? 2 : 42));
        ck_assert_uint_eq(pair_nth(pair, 1, i)->packet.frame_bytes,
                          PAIR_ACK_BYTES + (room == 0 ? 18 : 42));
    }
    // A queue was reported, and nothing of it is left.
    ck_assert_uint_gt(net_int_queue_bytes(listener.heard[100].hops[0], (uint32_t)multiplier),
                      50000);
    ck_assert_uint_eq(net_int_queue_bytes(listener.heard[199].hops[0], 1), 0);
    ck_assert_uint_eq(net_switch_buffer_bytes(net_node_find(pair->net, "left")), 0);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

static void at_ten_gbps(nic_qp_attr_t *attr)
{
    attr->rate_max_bps = 10000000000;
}

static void look_over_100_us(net_config_t *config)
{
    config->pint_rtt_ps = 100 * SIM_PS_PER_US;
    config->pint_base = (sim_ratio_t){1003, 1000};
}

// A QP of 10 Gbit/s uses links of 100, 25 and 100: the largest utilization is 0.4, without a queue.
// With T = 100 us it rises as 0.4 (1 - e^(-t/T)): the packet after t = T finds 0.253.
START_TEST(digests_are_the_largest_utilization)
{
    const uint32_t digest_bytes = _i == 0 ? 1 : 2;
    static listener_t listener;
    memset(&listener, 0, sizeof(listener));
    const nic_cc_ops_t ops = listening(NET_TELEMETRY_PINT);
    pair_config_t config;
    listen_through(&config, 25000000000, &ops, &listener);
    config.change_net = _i == 0 ? NULL : look_over_100_us;
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, at_ten_gbps);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 2000 * 1024);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);

    ck_assert_uint_eq(listener.count, 2000);
    double sum = 0.0;
    for (size_t i = 0; i < 2000; i++) {
        ck_assert_int_eq(listener.heard[i].telemetry, NET_TELEMETRY_PINT);
        sum += i < 500 ? 0.0 : listener.pint->values[listener.heard[i].digest];
        ck_assert_uint_eq(pair_nth(pair, 1, i)->packet.frame_bytes, PAIR_ACK_BYTES + digest_bytes);
    }
    ck_assert_double_eq_tol(sum / 1500, 0.4, 0.002);
    if (_i == 1) {
        // 1107 bytes at 10 Gbit/s are 0.8856 us: the 113th packet starts at T.
        ck_assert_double_eq_tol(listener.pint->values[listener.heard[113].digest], 0.253, 0.004);
        ck_assert_double_eq_tol(listener.pint->values[listener.heard[226].digest], 0.346, 0.004);
    }
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// How marks come back is the sender's choice, packet by packet: a listens to ACKs, b to CNPs.
START_TEST(senders_choose_how_marks_come_back)
{
    static listener_t listeners[2];
    memset(listeners, 0, sizeof(listeners));
    nic_cc_ops_t ops[2] = {listening(NET_TELEMETRY_NONE), listening(NET_TELEMETRY_NONE)};
    ops[1].echoes_ecn = false;
    ops[1].acks_every_packet = false;
    pair_config_t config;
    nic_config_t nic_b;
    listen_through(&config, 25000000000, &ops[0], &listeners[0]);
    nic_config_copy(&nic_b, &config.nic);
    nic_b.custom_cc = &ops[1];
    nic_b.custom_cc_config = &listeners[1];
    config.nic_b = &nic_b;
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 100 * 1024);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    wr.sge.lkey = nic_mr_lkey(pair->mr[1]);
    wr.rdma.rkey = nic_mr_rkey(pair->mr[0]);
    pair_post_at(pair, 1000, qps.qp[1], &wr);
    pair_run(pair);

    // Every packet of a was acknowledged by itself, although b's data kept the port busy. Packets
    // that left another behind are marked; the first (forwarded at once) and the last are not.
    ck_assert_uint_eq(listeners[0].count, 100);
    ck_assert_uint_eq(listeners[0].cnps, 0);
    uint32_t echoes = 0;
    for (size_t i = 0; i < 100; i++) {
        ck_assert_uint_eq(listeners[0].heard[i].acked_psn, i + 1);
        echoes += listeners[0].heard[i].ecn_echo;
    }
    ck_assert_uint_eq(echoes, nic_get_counters(pair->nic[1])->np_ecn_marked_roce_packets);
    ck_assert_uint_ge(echoes, 90);
    ck_assert_uint_eq(nic_get_counters(pair->nic[1])->np_cnp_sent, 0);
    // The marks of b's packets came as CNPs.
    ck_assert_uint_gt(listeners[1].cnps, 0);
    ck_assert_uint_eq(listeners[1].cnps, nic_get_counters(pair->nic[0])->np_cnp_sent);
    for (size_t i = 0; i < listeners[1].count; i++) {
        ck_assert(!listeners[1].heard[i].ecn_echo);
    }
    pair_destroy(pair);
    nic_config_fini(&nic_b);
    pair_config_fini(&config);
}
END_TEST

// When a packet is lost, the NAK brings a record too, and in the end no ACK is missing.
START_TEST(naks_bring_telemetry)
{
    static listener_t listener;
    memset(&listener, 0, sizeof(listener));
    const nic_cc_ops_t ops = listening(NET_TELEMETRY_INT);
    pair_config_t config;
    listen_through(&config, 100000000000, &ops, &listener);
    pair_t *const pair = pair_create(&config);
    test_drop_next(pair->port[0], 5);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 20 * 1024);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 1);
    ck_assert_uint_gt(listener.count, 20); // 20 ACKs and a NAK, at least
    for (size_t i = 0; i < listener.count; i++) {
        ck_assert_int_eq(listener.heard[i].telemetry, NET_TELEMETRY_INT);
        ck_assert_uint_eq(listener.heard[i].hop_count, 2);
    }
    ck_assert_uint_eq(listener.heard[listener.count - 1].acked_psn, 20);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// INT has 4 bits for a rate: a network with a rate that has no code is refused with a message.
START_TEST(unknown_rates_are_refused)
{
    static listener_t listener;
    memset(&listener, 0, sizeof(listener));
    const nic_cc_ops_t ops = listening(NET_TELEMETRY_INT);
    pair_config_t config;
    pair_config_init(&config);
    config.nic.custom_cc = &ops;
    config.nic.custom_cc_config = &listener;
    sim_t *const sim = sim_create(&(sim_options_t){.seed = 1, .threads = 1, .until_ps = 1});
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    net_t *const net = net_create(sim, &net_config);
    net_switch_config_t sw;
    sim_attrs_default(&net_switch_config_attrs, &sw);
    net_node_t *const hub = net_switch_create(net, "hub", &sw);
    net_node_t *const host = nic_host_create(net, "host", &config.nic);
    config.link.rate_bps = 30000000000;
    (void)net_link_add(net, host, hub, &config.link);
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(net_build(net, &message), SIM_ERR_RANGE);
    ck_assert_msg(strstr(message.text, "link of host and hub") != NULL, "%s", message.text);
    ck_assert_msg(strstr(message.text, "30000000000 bit/s") != NULL, "%s", message.text);
    sim_destroy(sim);
    net_destroy(net);
    sim_attrs_fini(&net_switch_config_attrs, &sw);
    pair_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_TEST(rates_have_codes), CHECK_TEST(records_hold_their_fields),
           CHECK_TEST(differences_survive_wraps), CHECK_TEST(digests_rise_by_the_base),
           CHECK_TEST(digests_are_right_in_the_mean),
           CHECK_LOOP(trailers_survive_a_round_trip, 0, SIM_COUNT_OF(carriers)),
           CHECK_TEST(other_trailers_are_refused), CHECK_LOOP(records_are_what_the_ports_did, 0, 3),
           CHECK_LOOP(digests_are_the_largest_utilization, 0, 2),
           CHECK_TEST(senders_choose_how_marks_come_back), CHECK_TEST(naks_bring_telemetry),
           CHECK_TEST(unknown_rates_are_refused))
