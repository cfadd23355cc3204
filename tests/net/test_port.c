// SPDX-License-Identifier: Apache-2.0
// tests/net/test_port.c - one end of a link: serialisation, remainders, scheduling, pause, losses.
//
// Goal: a frame's arrival is exact to the picosecond at any rate; classes get the shares of their
// weights; a pause stops a class at the next frame boundary for exactly its quanta; losses have
// the configured probability.
// Method: two scripted hosts at one link (tests/net/link_pair.h), and net_port_choose on its own.
// Expected times are closed forms; statistical bounds are five standard deviations wide.
// Not pinned: which frames are lost, the order among DWRR classes within a round.
#include "net/link_state.h"
#include "net/port_pause.h"
#include "net/port_queue.h"

#include <math.h>

#include "tests/check_main.h"
#include "tests/drop_next.h"
#include "tests/net/link_pair.h"

#include <string.h>

enum { OVERHEAD = 24, GAP = 12 }; // bytes: preamble 8, FCS 4 and gap 12; gap

static const uint64_t rates_gbps[] = {1, 3, 7, 10, 11, 25, 30, 40, 70, 100, 130, 400, 700, 800};

// -- time

// Frame k of a busy period ends floor(k x bytes x 8e12 / rate) after its start: no drift.
START_TEST(frames_back_to_back_do_not_drift)
{
    const uint64_t rate_bps = rates_gbps[_i] * FIXTURE_GBPS;
    static const uint32_t sizes[] = {60, 61, 340, 1070, 4170};
    for (size_t s = 0; s < SIM_COUNT_OF(sizes); s++) {
        const net_link_config_t link = fixture_link_config(rate_bps, DELAY_PS);
        pair_t pair;
        pair_create(&pair, 1, &link);
        const uint64_t count = 5000;
        fixture_flow(
            pair.a,
            &(fixture_flow_t){.to = 1, .count = count, .frame_bytes = sizes[s], .start_ps = 777});
        pair_build(&pair);
        fixture_run(&pair.fixture);
        ck_assert_uint_eq(pair.b->arrival_count, count);
        const sim_time_t gap_ps = fixture_bytes_ps(GAP, rate_bps);
        for (uint64_t k = 0; k < count; k += 1 + k / 100) {
            const sim_time_t end_ps = fixture_bytes_ps((k + 1) * (sizes[s] + OVERHEAD), rate_bps);
            ck_assert_uint_eq(pair.b->arrivals[k].time_ps, 777 + end_ps - gap_ps + DELAY_PS);
            ck_assert_uint_eq(pair.b->arrivals[k].psn, k);
        }
        fixture_destroy(&pair.fixture);
    }
}
END_TEST

// Frames of mixed sizes share one remainder; after idle time it starts from zero.
START_TEST(remainder_ends_with_the_busy_period)
{
    const uint64_t rate_bps = 7 * FIXTURE_GBPS;
    const net_link_config_t link = fixture_link_config(rate_bps, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    for (uint64_t i = 0; i < 10; i++) {
        fixture_flow(pair.a, &(fixture_flow_t){.to = 1,
                                               .count = 3,
                                               .frame_bytes = 100 + (uint32_t)i,
                                               .last_bytes = 60,
                                               .start_ps = 1 + i * 10 * SIM_PS_PER_US});
    }
    pair_build(&pair);
    fixture_run(&pair.fixture);
    ck_assert_uint_eq(pair.b->arrival_count, 40);
    for (uint64_t i = 0; i < 10; i++) {
        for (uint64_t k = 0; k < 4; k++) {
            const uint64_t bytes =
                (k < 3 ? k + 1 : 3) * (100 + i + OVERHEAD) + (k == 3 ? 60 + OVERHEAD : 0);
            ck_assert_uint_eq(pair.b->arrivals[i * 4 + k].time_ps,
                              1 + i * 10 * SIM_PS_PER_US + fixture_bytes_ps(bytes, rate_bps) -
                                  fixture_bytes_ps(GAP, rate_bps) + DELAY_PS);
        }
    }
    fixture_destroy(&pair.fixture);
}
END_TEST

START_TEST(frame_time_has_preamble_fcs_and_gap)
{
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    pair_build(&pair);
    ck_assert_uint_eq(net_port_frame_time_ps(pair.a_port, 1000), 1024 * 80);
    fixture_destroy(&pair.fixture);
}
END_TEST

// -- scheduling

typedef struct shares {
    uint64_t served[NET_PRIORITIES];
} shares_t;

// Serves count frames of random size from classes that always have one.
static void serve_backlogged(net_port_t *port, uint8_t classes, uint64_t count, shares_t *shares)
{
    sim_random_t random;
    sim_random_init(&random, 7, 0, "sizes");
    uint32_t head_bytes[NET_PRIORITIES];
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        head_bytes[p] = 60 + (uint32_t)sim_random_below(&random, 4100);
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t p = net_port_choose(port, classes, head_bytes);
        SIM_CHECK(classes & (1u << p)); // ck_assert writes to a file each time
        shares->served[p] += head_bytes[p];
        head_bytes[p] = 60 + (uint32_t)sim_random_below(&random, 4100);
    }
}

#define QUANTUM NET_FRAME_BYTES_QUANTUM
static const uint32_t equal_quanta[NET_PRIORITIES] = {QUANTUM, QUANTUM, QUANTUM, QUANTUM,
                                                      QUANTUM, QUANTUM, QUANTUM, QUANTUM};

// Makes a port without a network, to test its scheduler alone.
static net_port_t *port_of_quanta(const uint32_t *quanta)
{
    net_port_t *const port = sim_alloc_lines(sizeof(*port));
    port->rare = sim_alloc_lines(sizeof(*port->rare));
    net_line_t *const line = sim_alloc(sizeof(*line));
    memcpy(line->quantum_bytes, quanta, sizeof(line->quantum_bytes));
    port->line = line;
    return port;
}

static void free_port(net_port_t *port)
{
    sim_free(port->rare);
    sim_free((net_line_t *)(uintptr_t)port->line);
    sim_free(port);
}

// Between two classes that are always backlogged, service per weight differs by at most one quantum
// and one frame each (Shreedhar and Varghese).
START_TEST(dwrr_shares_follow_weights)
{
    static const uint32_t weights[][NET_PRIORITIES] = {
        {1, 1, 1, 1, 1, 1, 1, 1},
        {1, 3, 1, 1, 1, 1, 1, 1},
        {1, 2, 3, 4, 5, 6, 7, 8},
        {255, 1, 128, 1, 1, 200, 1, 2},
    };
    static const uint8_t sets[] = {0x03, 0xff, 0xa1, 0x90, 0x06};
    for (size_t w = 0; w < SIM_COUNT_OF(weights); w++) {
        for (size_t s = 0; s < SIM_COUNT_OF(sets); s++) {
            uint32_t quanta[NET_PRIORITIES];
            for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
                quanta[p] = weights[w][p] * NET_FRAME_BYTES_QUANTUM;
            }
            net_port_t *const port = port_of_quanta(quanta);
            shares_t shares = {{0}};
            serve_backlogged(port, sets[s], 100000, &shares);
            for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
                for (uint32_t q = 0; q < NET_PRIORITIES; q++) {
                    if ((sets[s] & (1u << p)) && (sets[s] & (1u << q))) {
                        const double per_p = (double)shares.served[p] / weights[w][p];
                        const double per_q = (double)shares.served[q] / weights[w][q];
                        ck_assert_double_le(fabs(per_p - per_q),
                                            NET_FRAME_BYTES_QUANTUM + 2 * 4160);
                    }
                }
            }
            free_port(port);
        }
    }
}
END_TEST

// -- queues

enum { DEEPEST = 6000 };

// Compares a class's queue with a list of the packets put in. Lengths swing between none and
// thousands, so that its ring grows, wraps and starts again.
static void check_queue(net_port_t *port, uint32_t class, uint64_t seed)
{
    static net_packet_t packets[DEEPEST];
    net_class_t *const queue = port->classes[class];
    sim_random_t random;
    sim_random_init(&random, seed, class, "queue");
    uint64_t put = 0;
    uint64_t taken = 0;
    uint64_t bytes = 0;
    uint64_t deepest = 0;
    for (uint64_t turn = 0; turn < 60; turn++) {
        const uint64_t most = turn % 3 == 0 ? 5 : turn % 3 == 1 ? 200 : DEEPEST;
        const uint64_t aim = sim_random_u64(&random) % most;
        for (uint64_t step = 0; step < 2 * most; step++) {
            const bool grows = put - taken < aim ? sim_random_u64(&random) % 8 != 0
                                                 : sim_random_u64(&random) % 8 == 0;
            if (grows && put - taken < DEEPEST) {
                net_packet_t *const packet = &packets[put % DEEPEST];
                *packet = (net_packet_t){.frame_bytes = (uint16_t)(64 + put % 4000),
                                         .ingress_port = (uint16_t)(put % 311),
                                         .priority = (uint8_t) class,
                                         .ecn = put & 3u};
                net_queue_push(port, packet);
                bytes += packet->frame_bytes;
                put++;
            } else if (put != taken) {
                const net_packet_t *const packet = &packets[taken % DEEPEST];
                net_queued_t first;
                SIM_CHECK(net_queue_peek(queue, &first, 1) == 1 && first.packet == packet);
                const net_queued_t queued = net_queue_take(port, class);
                SIM_CHECK(queued.packet == packet && queued.frame_bytes == packet->frame_bytes);
                SIM_CHECK(queued.ingress_port == packet->ingress_port);
                SIM_CHECK(queued.marks == packet->marks);
                bytes -= packet->frame_bytes;
                taken++;
            }
            deepest = put - taken > deepest ? put - taken : deepest;
            SIM_CHECK(queue->bytes == bytes);
            SIM_CHECK(((port->waiting >> class) & 1) == (put != taken));
        }
    }
    while (put != taken) {
        SIM_CHECK(net_queue_pop(port, class) == &packets[taken++ % DEEPEST]);
    }
    ck_assert_uint_gt(deepest, DEEPEST / 2);
    ck_assert_uint_eq(queue->bytes, 0);
}

START_TEST(queues_keep_their_order)
{
    const net_link_config_t link = fixture_link_config(FIXTURE_GBPS, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    pair_build(&pair);
    fixture_run(&pair.fixture);
    check_queue(pair.a_port, 3, 1);
    check_queue(pair.a_port, 6, 2);
    check_queue(pair.b_port, 0, 3);
    fixture_destroy(&pair.fixture);
}
END_TEST

START_TEST(strict_classes_go_first)
{
    net_port_t *const port = port_of_quanta(equal_quanta);
    const uint32_t head_bytes[NET_PRIORITIES] = {100, 100, 100, 100, 100, 100, 100, 100};
    port->strict = 0x62;
    for (uint32_t candidates = 1; candidates < 256; candidates++) {
        const uint32_t chosen = net_port_choose(port, (uint8_t)candidates, head_bytes);
        ck_assert(candidates & (1u << chosen));
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
            if ((candidates & port->strict & (1u << p)) != 0) {
                ck_assert(port->strict & (1u << chosen));
                ck_assert_uint_ge(chosen, p);
            }
        }
    }
    free_port(port);
}
END_TEST

// A class that was idle comes back without credit for that time: within two quanta of work the
// other class has had its share.
START_TEST(idle_class_saves_nothing)
{
    net_port_t *const port = port_of_quanta(equal_quanta);
    const uint32_t head_bytes[NET_PRIORITIES] = {1100, 1100, 1100, 0, 0, 0, 0, 0};
    for (int i = 0; i < 1000; i++) {
        (void)net_port_choose(port, 0x6, head_bytes);
    }
    uint64_t served[3] = {0};
    for (int i = 0; i < 24; i++) {
        served[net_port_choose(port, 0x7, head_bytes)]++;
    }
    ck_assert_uint_eq(served[0], 8);
    ck_assert_uint_eq(served[1], 8);
    ck_assert_uint_eq(served[2], 8);
    free_port(port);
}
END_TEST

// -- pause

// Returns when a knows of a pause frame that b, whose port is idle, decides to send at time_ps.
static sim_time_t pause_arrives(sim_time_t time_ps, uint64_t rate_bps)
{
    return time_ps + fixture_bytes_ps(60 + OVERHEAD, rate_bps) - fixture_bytes_ps(GAP, rate_bps) +
           DELAY_PS;
}

static sim_time_t quanta_to_ps(uint64_t quanta, uint64_t rate_bps)
{
    return fixture_bytes_ps(quanta * 64, rate_bps);
}

// Sends frames of class 3 back to back, pauses them once, and says when the pause was known, the
// time from the first frame after it back to the last one before it, and the account.
static void run_pause(uint64_t rate_bps, uint16_t quanta, sim_time_t again_ps, uint16_t again)
{
    const net_link_config_t link = fixture_link_config(rate_bps, DELAY_PS);
    const uint32_t bytes = 1000;
    const sim_time_t frame_ps = fixture_bytes_ps(bytes + OVERHEAD, rate_bps);
    const sim_time_t start_ps = 1;
    const sim_time_t pause_ps = start_ps + 10 * frame_ps + frame_ps / 3;
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.a,
                 &(fixture_flow_t){.to = 1, .count = 200, .frame_bytes = bytes, .priority = 3});
    fixture_flow(pair.a, &(fixture_flow_t){.to = 1,
                                           .count = 1,
                                           .frame_bytes = 60,
                                           .priority = 5,
                                           .start_ps = 2 * SIM_PS_PER_S});
    fixture_pause(pair.b, pause_ps, 1u << 3, quanta);
    if (again_ps > 0) {
        fixture_pause(pair.b, pause_ps + again_ps, 1u << 3, again);
    }
    pair_build(&pair);
    fixture_run(&pair.fixture);

    const sim_time_t known_ps = pause_arrives(pause_ps, rate_bps);
    sim_time_t until_ps = known_ps + quanta_to_ps(quanta, rate_bps);
    if (again_ps > 0) {
        until_ps = known_ps + again_ps + quanta_to_ps(again, rate_bps);
    }
    // Frames start at start + k x frame; the last before the pause is the one being sent.
    uint64_t before = (known_ps - start_ps) / frame_ps + 1;
    sim_time_t expected_ps = until_ps;
    if (start_ps + before * frame_ps > until_ps) {
        expected_ps = start_ps + before * frame_ps; // released before the frame ended
    }
    const sim_time_t to_arrival_ps = frame_ps - fixture_bytes_ps(GAP, rate_bps) + DELAY_PS;
    ck_assert_uint_eq(pair.b->arrivals[before - 1].time_ps,
                      start_ps + (before - 1) * frame_ps + to_arrival_ps);
    ck_assert_uint_eq(pair.b->arrivals[before].time_ps, expected_ps + to_arrival_ps);
    const net_pause_counters_t *const pauses = &pair.a_port->rare->pauses[3];
    ck_assert_uint_eq(pauses->paused_ps, until_ps - known_ps);
    ck_assert_uint_eq(pauses->rx_pause, again_ps > 0 && again > 0 ? 2 : 1);
    ck_assert_uint_eq(pauses->rx_resume, again_ps > 0 && again == 0 ? 1 : 0);
    ck_assert_uint_eq(pair.b_port->rare->pauses[3].tx_pause, pauses->rx_pause);
    ck_assert_uint_eq(pair.b_port->rare->pauses[3].tx_resume, pauses->rx_resume);
    ck_assert_uint_eq(net_port_paused_ps(pair.a_port, 3, sim_end_time_ps(pair.fixture.sim)),
                      until_ps - known_ps);
    ck_assert_uint_eq(pair.b->received, 201);
    fixture_destroy(&pair.fixture);
}

START_TEST(pause_lasts_its_quanta)
{
    const uint64_t rate_bps = (uint64_t[]){10, 25, 100, 400}[_i] * FIXTURE_GBPS;
    static const uint16_t quanta[] = {1, 10, 100, 1000, 30000, 36029, 65535};
    for (size_t q = 0; q < SIM_COUNT_OF(quanta); q++) {
        run_pause(rate_bps, quanta[q], 0, 0);
    }
}
END_TEST

START_TEST(refresh_extends_a_pause)
{
    run_pause(100 * FIXTURE_GBPS, 1000, quanta_to_ps(500, 100 * FIXTURE_GBPS), 1000);
    run_pause(100 * FIXTURE_GBPS, 65535, quanta_to_ps(30000, 100 * FIXTURE_GBPS), 65535);
}
END_TEST

// A second pause replaces the rest of the first, even if it is shorter.
START_TEST(newest_pause_counts)
{
    run_pause(100 * FIXTURE_GBPS, 10000, quanta_to_ps(100, 100 * FIXTURE_GBPS), 1000);
}
END_TEST

START_TEST(resume_releases_at_once)
{
    run_pause(100 * FIXTURE_GBPS, 65535, quanta_to_ps(777, 100 * FIXTURE_GBPS), 0);
    run_pause(25 * FIXTURE_GBPS, 65535, quanta_to_ps(5000, 25 * FIXTURE_GBPS), 0);
}
END_TEST

// Classes have clocks of their own, and those not named go on.
START_TEST(classes_pause_apart)
{
    const uint64_t rate_bps = 100 * FIXTURE_GBPS;
    const net_link_config_t link = fixture_link_config(rate_bps, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    for (uint8_t p = 1; p <= 4; p++) {
        fixture_flow(pair.a, &(fixture_flow_t){.to = 1, .count = 300, .priority = p});
    }
    fixture_pause(pair.b, 10 * SIM_PS_PER_US, 1u << 1 | 1u << 2, 2000);
    fixture_pause(pair.b, 11 * SIM_PS_PER_US, 1u << 3, 4000);
    pair_build(&pair);
    fixture_run(&pair.fixture);
    const sim_time_t until[5] = {
        0,
        pause_arrives(10 * SIM_PS_PER_US, rate_bps) + quanta_to_ps(2000, rate_bps),
        pause_arrives(10 * SIM_PS_PER_US, rate_bps) + quanta_to_ps(2000, rate_bps),
        pause_arrives(11 * SIM_PS_PER_US, rate_bps) + quanta_to_ps(4000, rate_bps),
        0,
    };
    sim_time_t first_ps[5] = {0};
    const sim_time_t settled_ps = 14 * SIM_PS_PER_US; // all frames sent before are here
    for (size_t i = 0; i < pair.b->arrival_count; i++) {
        const fixture_arrival_t *const arrival = &pair.b->arrivals[i];
        if (arrival->time_ps > settled_ps && first_ps[arrival->priority] == 0) {
            first_ps[arrival->priority] = arrival->time_ps;
        }
    }
    const sim_time_t frame_ps = 1024 * 80;
    for (uint32_t p = 1; p <= 3; p++) {
        // Classes are released while a frame may be on the link, and compete with the others.
        ck_assert_uint_ge(first_ps[p], until[p] + frame_ps - GAP * 80 + DELAY_PS);
        ck_assert_uint_le(first_ps[p], until[p] + 14 * frame_ps + DELAY_PS);
    }
    ck_assert_uint_le(first_ps[4], settled_ps + frame_ps);
    ck_assert_uint_eq(pair.a_port->rare->pauses[4].paused_ps, 0);
    ck_assert_uint_eq(pair.a_port->rare->pauses[1].paused_ps, quanta_to_ps(2000, rate_bps));
    ck_assert_uint_eq(pair.a_port->rare->pauses[3].paused_ps, quanta_to_ps(4000, rate_bps));
    fixture_destroy(&pair.fixture);
}
END_TEST

// A pause waits for the frame on the link and goes before all others. A decision made while it
// waits goes into the same frame: the newest counts, and only sent pauses are counted.
START_TEST(waiting_pause_takes_the_newest_word)
{
    const uint64_t rate_bps = 100 * FIXTURE_GBPS;
    const net_link_config_t link = fixture_link_config(rate_bps, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.b,
                 &(fixture_flow_t){.to = 0, .count = 3, .frame_bytes = 4000, .priority = 6});
    pair.a->keep = true;
    fixture_pause(pair.b, 1000, 1u << 3, 500);
    fixture_pause(pair.b, 2000, 1u << 4, 600);
    fixture_pause(pair.b, 3000, 1u << 3, 0);
    pair_build(&pair);
    fixture_run(&pair.fixture);
    ck_assert_uint_eq(pair.b_port->classes[7]->tx_packets, 1);
    ck_assert_uint_eq(pair.a_port->rare->pauses[3].rx_pause, 0);
    ck_assert_uint_eq(pair.a_port->rare->pauses[3].rx_resume, 0); // of a pause it has not heard of
    ck_assert_uint_eq(pair.a_port->rare->pauses[4].rx_pause, 1);
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        ck_assert_uint_eq(pair.b_port->rare->pauses[p].tx_pause,
                          pair.a_port->rare->pauses[p].rx_pause);
        ck_assert_uint_eq(pair.b_port->rare->pauses[p].tx_resume,
                          pair.a_port->rare->pauses[p].rx_resume);
    }
    // The second data frame follows the first one and the pause.
    const sim_time_t expected_ps = 1 + (2 * 4024 + 84 - GAP) * 80 + DELAY_PS;
    ck_assert_uint_eq(pair.a->arrivals[1].time_ps, expected_ps);
    fixture_destroy(&pair.fixture);
}
END_TEST

// A resume is sent only to a peer that knows of the pause: resumes never outnumber pauses.
START_TEST(only_a_known_pause_is_released)
{
    static const struct {
        sim_time_t times_ps[3]; // of a pause, a release, a pause; 0: none
        uint64_t frames;
        uint64_t pauses;
        uint64_t releases;
    } cases[] = {
        {{1000, 2000, 0}, 0, 0, 0},        // taken back while the first data frame is on the link
        {{1000, 2000, 3000}, 1, 1, 0},     // and said again
        {{1000, 400000, 0}, 2, 1, 1},      // the first was sent at 322 ns
        {{1000, 400000, 410000}, 2, 2, 0}, // the release is overtaken
    };
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.b,
                 &(fixture_flow_t){.to = 0, .count = 30, .frame_bytes = 4000, .priority = 6});
    for (uint32_t i = 0; i < 3; i++) {
        if (cases[_i].times_ps[i] != 0) {
            fixture_pause(pair.b, cases[_i].times_ps[i], 1u << 3, i == 1 ? 0 : 500);
        }
    }
    pair_build(&pair);
    fixture_run(&pair.fixture);
    ck_assert_uint_eq(pair.b_port->classes[7]->tx_packets, cases[_i].frames);
    ck_assert_uint_eq(pair.a_port->rare->pauses[3].rx_pause, cases[_i].pauses);
    ck_assert_uint_eq(pair.a_port->rare->pauses[3].rx_resume, cases[_i].releases);
    ck_assert_uint_eq(pair.b_port->rare->pauses[3].tx_pause, cases[_i].pauses);
    ck_assert_uint_eq(pair.b_port->rare->pauses[3].tx_resume, cases[_i].releases);
    ck_assert_uint_eq(pair.a->received, 30);
    sim_message_t message;
    ck_assert_msg(net_conservation_ok(pair.fixture.net, &message), "%s", message.text);
    fixture_destroy(&pair.fixture);
}
END_TEST

// -- losses

static uint64_t frames_lost(const net_link_config_t *link, uint64_t seed, uint32_t bytes)
{
    pair_t pair;
    pair_create(&pair, seed, link);
    pair.b->keep = false;
    fixture_flow(pair.a, &(fixture_flow_t){.to = 1, .count = 100000, .frame_bytes = bytes});
    pair_build(&pair);
    fixture_run(&pair.fixture);
    const uint64_t lost = pair.a_port->rare->drops[NET_DROP_LINK_LOSS];
    ck_assert_uint_eq(pair.b->received + lost, 100000);
    ck_assert_uint_eq(pair.a_port->rare->dropped_bytes, lost * bytes);
    ck_assert_uint_eq(pair.a_port->classes[0]->tx_packets, 100000);
    fixture_destroy(&pair.fixture);
    return lost;
}

static void check_binomial(uint64_t hits, double count, double probability)
{
    const double mean = count * probability;
    const double deviation = sqrt(count * probability * (1 - probability));
    ck_assert_msg(fabs((double)hits - mean) <= 5 * deviation + 1e-9,
                  "%.0f of %.0f, expected %.1f +- %.1f", (double)hits, count, mean, 5 * deviation);
}

START_TEST(loss_rate_is_kept)
{
    static const sim_ratio_t rates[] = {{1, 1000}, {1, 10}, {1, 3}, {999, 1000}};
    for (size_t i = 0; i < SIM_COUNT_OF(rates); i++) {
        net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
        link.loss_rate = rates[i];
        const uint64_t lost = frames_lost(&link, 5, 1000);
        check_binomial(lost, 100000, (double)rates[i].num / (double)rates[i].den);
        ck_assert_uint_eq(frames_lost(&link, 5, 1000), lost);
        ck_assert_uint_ne(frames_lost(&link, 6, 1000), lost);
    }
    net_link_config_t dead = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    dead.loss_rate = (sim_ratio_t){1, 1};
    ck_assert_uint_eq(frames_lost(&dead, 5, 1000), 100000);
}
END_TEST

// A frame survives bit errors with probability (1 - rate)^(8 x (frame + FCS)).
START_TEST(bit_errors_hit_long_frames_more)
{
    static const struct {
        sim_ratio_t rate;
        uint32_t bytes;
    } cases[] = {
        {{1, 1000000}, 60},
        {{1, 1000000}, 4170},
        {{1, 10000000}, 4170},
        {{3, 100000}, 1070},
        {{1, 1000}, 60},
        {{1, 7}, 60},
        {{1, UINT64_C(1000000000000000)}, 4170},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
        link.bit_error_rate = cases[i].rate;
        const double rate = (double)cases[i].rate.num / (double)cases[i].rate.den;
        const double lost = -expm1(8.0 * (cases[i].bytes + 4) * log1p(-rate));
        check_binomial(frames_lost(&link, 3, cases[i].bytes), 100000, lost);
    }
    net_link_config_t noise = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    noise.bit_error_rate = (sim_ratio_t){1, 1};
    ck_assert_uint_eq(frames_lost(&noise, 3, 60), 100000);
}
END_TEST

START_TEST(drop_next_drops_exactly_one)
{
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.a, &(fixture_flow_t){.to = 1, .count = 20});
    pair_build(&pair);
    test_drop_next(pair.a_port, 7);
    fixture_run(&pair.fixture);
    ck_assert_uint_eq(pair.b->arrival_count, 19);
    for (uint32_t i = 0; i < 19; i++) {
        ck_assert_uint_eq(pair.b->arrivals[i].psn, i < 6 ? i : i + 1);
    }
    fixture_destroy(&pair.fixture);
}
END_TEST

START_TEST(memory_of_packets_is_counted)
{
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.a, &(fixture_flow_t){.to = 1, .count = 200});
    pair_build(&pair);
    const uint64_t before = net_packet_memory_bytes(pair.fixture.net);
    fixture_run(&pair.fixture);
    const uint64_t after = net_packet_memory_bytes(pair.fixture.net);
    ck_assert_uint_gt(after, before);
    ck_assert_uint_ge(after, sizeof(net_packet_t) + sizeof(net_packet_aside_t));
    fixture_destroy(&pair.fixture);
}
END_TEST

// -- up and down

// When a link goes down, frames that have not wholly arrived and frames sent meanwhile are lost.
// After it comes up it works like a new one.
START_TEST(link_down_loses_what_is_on_it)
{
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, 20 * SIM_PS_PER_US);
    const sim_time_t frame_ps = 1024 * 80;
    const sim_time_t down_ps = 1 + 300 * frame_ps + frame_ps / 2;
    const sim_time_t up_ps = down_ps + 100 * frame_ps;
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.a, &(fixture_flow_t){.to = 1, .count = 1000});
    net_link_change_at(pair.fixture.net, 0, down_ps, false);
    net_link_change_at(pair.fixture.net, 0, up_ps, true);
    pair_build(&pair);
    fixture_run(&pair.fixture);
    uint64_t expected = 0;
    uint64_t sent = 0; // what goes into the void is not sent
    for (uint64_t k = 0; k < 1000; k++) {
        const sim_time_t start_ps = 1 + k * frame_ps;
        sent += start_ps < down_ps || start_ps >= up_ps;
        const sim_time_t arrive_ps = start_ps + frame_ps - GAP * 80 + 20 * SIM_PS_PER_US;
        if (arrive_ps <= down_ps || start_ps >= up_ps) {
            ck_assert_uint_lt(expected, pair.b->arrival_count);
            ck_assert_uint_eq(pair.b->arrivals[expected].psn, k);
            ck_assert_uint_eq(pair.b->arrivals[expected].time_ps, arrive_ps);
            expected++;
        }
    }
    ck_assert_uint_eq(pair.b->arrival_count, expected);
    ck_assert_uint_eq(pair.a_port->rare->drops[NET_DROP_LINK_DOWN], 1000 - expected);
    ck_assert_uint_eq(pair.a_port->classes[0]->tx_packets, sent);
    ck_assert_uint_lt(sent, 950);
    fixture_destroy(&pair.fixture);
}
END_TEST

START_TEST(link_down_forgets_pause)
{
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.a, &(fixture_flow_t){.to = 1, .count = 1000, .priority = 3});
    fixture_pause(pair.b, 10 * SIM_PS_PER_US, 1u << 3, 65535);
    net_link_change_at(pair.fixture.net, 0, 20 * SIM_PS_PER_US, false);
    net_link_change_at(pair.fixture.net, 0, 30 * SIM_PS_PER_US, true);
    pair_build(&pair);
    fixture_run(&pair.fixture);
    const sim_time_t known_ps = pause_arrives(10 * SIM_PS_PER_US, 100 * FIXTURE_GBPS);
    ck_assert_uint_eq(pair.a_port->rare->pauses[3].paused_ps, 20 * SIM_PS_PER_US - known_ps);
    ck_assert_uint_lt(pair.b->last_ps, 110 * SIM_PS_PER_US);
    fixture_destroy(&pair.fixture);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(frames_back_to_back_do_not_drift, 0, SIM_COUNT_OF(rates_gbps)),
           CHECK_TEST(remainder_ends_with_the_busy_period),
           CHECK_TEST(frame_time_has_preamble_fcs_and_gap), CHECK_TEST(dwrr_shares_follow_weights),
           CHECK_TEST(queues_keep_their_order), CHECK_TEST(strict_classes_go_first),
           CHECK_TEST(idle_class_saves_nothing), CHECK_LOOP(pause_lasts_its_quanta, 0, 4),
           CHECK_TEST(refresh_extends_a_pause), CHECK_TEST(newest_pause_counts),
           CHECK_TEST(resume_releases_at_once), CHECK_TEST(classes_pause_apart),
           CHECK_TEST(waiting_pause_takes_the_newest_word),
           CHECK_LOOP(only_a_known_pause_is_released, 0, 4), CHECK_TEST(loss_rate_is_kept),
           CHECK_TEST(bit_errors_hit_long_frames_more), CHECK_TEST(drop_next_drops_exactly_one),
           CHECK_TEST(memory_of_packets_is_counted), CHECK_TEST(link_down_loses_what_is_on_it),
           CHECK_TEST(link_down_forgets_pause))
