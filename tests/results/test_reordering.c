// SPDX-License-Identifier: Apache-2.0
// tests/results/test_reordering.c - reordered packets and their extents, as RFC 4737 defines them.
//
// Goal: the counts of results/reordering.h are those of the RFC's definitions, for requests and
// responses apart, across the wrap of PSNs, and without retransmissions.
// Method: sequences of packets shown to the listener of one host's port, against a direct count
// over all pairs of arrivals. Not pinned: that runs attach the observer (test_cli_balance.sh).
#include "results/reordering.h"
#include "tests/check_main.h"
#include "tests/net_fixture.h"

typedef struct bed {
    fixture_t fixture;
    results_reordering_t *reordering;
} bed_t;

static void make(bed_t *bed)
{
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, SIM_PS_PER_US);
    fixture_create(&bed->fixture, NULL);
    (void)fixture_star(&bed->fixture, NULL, 1, &link);
    fixture_build(&bed->fixture);
    bed->reordering = results_reordering_create(bed->fixture.net);
}

static void finish(bed_t *bed)
{
    results_reordering_destroy(bed->reordering);
    fixture_destroy(&bed->fixture);
}

static const net_node_t *receiver(const bed_t *bed)
{
    return &bed->fixture.hosts[1]->node;
}

static void arrive(const bed_t *bed, uint64_t psn, bool again, uint8_t opcode)
{
    const net_packet_t packet = {
        .source = 0,
        .destination = 1,
        .udp_source_port = 49152,
        .kind = NET_PACKET_ROCE,
        .psn = (uint32_t)psn & ROCE_PSN_MASK,
        .destination_qp = 2,
        .opcode = opcode,
        .retransmission = again,
    };
    net_port_trace(&receiver(bed)->ports[0], NET_TRACE_RX, &packet, 0);
}

#define WRITE ROCE_WRITE_MIDDLE

static const results_reordering_ends_t of_port = {0, 1, 2, 49152};

static void shows(const uint64_t *psns, size_t count, uint64_t reordered, uint64_t extent_max)
{
    bed_t bed;
    make(&bed);
    for (size_t i = 0; i < count; i++) {
        arrive(&bed, psns[i], false, WRITE);
    }
    const results_reordered_t sums =
        results_reordering_of(bed.reordering, receiver(&bed), &of_port);
    ck_assert_uint_eq(sums.arrived, count);
    ck_assert_uint_eq(sums.reordered, reordered);
    ck_assert_uint_eq(sums.extent_max, extent_max);
    finish(&bed);
}

// The example of RFC 4737, section 4.2.4: packets 4 to 6 come behind 7 to 10. Their extents are 4,
// 5 and 6, counted from packet 7.
START_TEST(examples_of_the_rfc)
{
    const uint64_t table[] = {1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11};
    shows(table, SIM_COUNT_OF(table), 3, 6);
    const uint64_t one_early[] = {1, 2, 3, 10, 4, 5, 6, 7, 8, 9, 11};
    shows(one_early, SIM_COUNT_OF(one_early), 6, 6);
    const uint64_t in_order[] = {5, 6, 8, 9, 20};
    shows(in_order, SIM_COUNT_OF(in_order), 0, 0);
}
END_TEST

START_TEST(random_orders_agree_with_all_pairs)
{
    enum { COUNT = 400 };
    const uint64_t first = _i % 2 == 0 ? 7 : ROCE_PSN_MASK - 150; // in some, PSNs wrap
    sim_random_t random;
    sim_random_init(&random, (uint64_t)_i, 0, "order");
    uint64_t psns[COUNT];
    for (uint64_t i = 0; i < COUNT; i++) {
        psns[i] = first + i;
    }
    for (uint64_t i = 1; i < COUNT; i++) { // each goes forward by a few places; the first stays
        const uint64_t from = i > 12 ? i - sim_random_below(&random, 12) : i;
        const uint64_t psn = psns[i];
        psns[i] = psns[from];
        psns[from] = psn;
    }
    results_reordered_t expected = {0};
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t j = 0;
        while (j < i && psns[j] < psns[i]) {
            j++;
        }
        expected.reordered += j < i;
        expected.extent_sum += i - j;
        expected.extent_max = i - j > expected.extent_max ? i - j : expected.extent_max;
    }
    bed_t bed;
    make(&bed);
    for (uint64_t i = 0; i < COUNT; i++) {
        arrive(&bed, psns[i], false, WRITE);
    }
    const results_reordered_t sums = results_reordering_total(bed.reordering);
    ck_assert_uint_gt(sums.reordered, 10);
    ck_assert_uint_eq(sums.reordered, expected.reordered);
    ck_assert_uint_eq(sums.extent_max, expected.extent_max);
    ck_assert_uint_eq(sums.extent_sum, expected.extent_sum);
    finish(&bed);
}
END_TEST

// A retransmission fills its gap and is neither counted nor reordered. ACKs have no turn at all.
START_TEST(retransmissions_and_answers_are_apart)
{
    bed_t bed;
    make(&bed);
    arrive(&bed, 1, false, WRITE);
    arrive(&bed, 3, false, WRITE);
    arrive(&bed, 2, true, WRITE);
    arrive(&bed, 3, true, WRITE);
    arrive(&bed, 0, false, ROCE_ACKNOWLEDGE);
    arrive(&bed, 900, false, ROCE_READ_RESPONSE_MIDDLE);
    arrive(&bed, 4, false, WRITE);
    arrive(&bed, 899, false, ROCE_READ_RESPONSE_MIDDLE);
    const results_reordered_t requests =
        results_reordering_of(bed.reordering, receiver(&bed), &of_port);
    ck_assert_uint_eq(requests.arrived, 3);
    ck_assert_uint_eq(requests.reordered, 0);
    const results_reordered_t all = results_reordering_total(bed.reordering);
    ck_assert_uint_eq(all.arrived, 5);
    ck_assert_uint_eq(all.reordered, 1);
    ck_assert_uint_eq(all.extent_max, 0); // its gap would lie before the first packet
    finish(&bed);
}
END_TEST

static void arrive_from(const bed_t *bed, uint64_t psn, uint8_t opcode, uint16_t udp_source_port,
                        bool trimmed)
{
    const net_config_t *const config = net_get_config(bed->fixture.net);
    const net_packet_t packet = {
        .source = 0,
        .destination = 1,
        .udp_source_port = udp_source_port,
        .kind = NET_PACKET_ROCE,
        .psn = (uint32_t)psn,
        .destination_qp = 2,
        .opcode = opcode,
        .dscp = (trimmed ? config->trim_dscp : 24) & 63u,
        .payload_bytes = trimmed ? 0 : 1024,
    };
    net_port_trace(&receiver(bed)->ports[0], NET_TRACE_RX, &packet, 0);
}

// Packets of Ultra Ethernet and MRC have source ports of their own; the queue pair names their
// connection. Answers, probes, credits and trimmed packets are no arrivals.
START_TEST(sprayed_packets_are_those_of_their_queue_pair)
{
    static const uint8_t transports[] = {ROCE_MRC, ROCE_UET};
    for (size_t i = 0; i < SIM_COUNT_OF(transports); i++) {
        const uint8_t transport = transports[i];
        bed_t bed;
        make(&bed);
        arrive_from(&bed, 1, transport | WRITE, 50001, false);
        arrive_from(&bed, 3, transport | WRITE, 50002, false);
        arrive_from(&bed, 900, transport | ROCE_ACKNOWLEDGE, 50003, false);
        arrive_from(&bed, 0, transport | ROCE_MRC_PROBE, 50003, false);
        arrive_from(&bed, 0, transport | ROCE_MRC_SACK, 50003, false);
        arrive_from(&bed, 9, transport | WRITE, 50003, true);
        arrive_from(&bed, 2, transport | WRITE, 50004, false);
        const results_reordering_ends_t ends = {0, 1, 2, 50009};
        const results_reordered_t sums =
            results_reordering_of(bed.reordering, receiver(&bed), &ends);
        ck_assert_uint_eq(sums.arrived, 3);
        ck_assert_uint_eq(sums.reordered, 1);
        ck_assert_uint_eq(sums.extent_max, 1);
        ck_assert_uint_eq(results_reordering_total(bed.reordering).arrived, 3);
        finish(&bed);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(examples_of_the_rfc), CHECK_LOOP(random_orders_agree_with_all_pairs, 0, 8),
           CHECK_TEST(retransmissions_and_answers_are_apart),
           CHECK_TEST(sprayed_packets_are_those_of_their_queue_pair))
