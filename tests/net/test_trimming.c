// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_trimming.c - switches that cut packets to their headers instead of dropping them.
//
// Goal: of a burst that does not fit, what is beyond the queue arrives as headers, at once and with
// the DSCP that says where it was cut; nothing is lost. Packets of other protocols are dropped as
// ever. Victims, limits and rules of the configuration hold. Departures without events change
// nothing.
// Method: scripted senders (tests/net_fixture.h) at one switch, in closed form.
// Not pinned: what a transport makes of it (tests/nic/transport/test_uec.sh).
#include <string.h>

#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define RATE_BPS (100 * FIXTURE_GBPS)
#define CLASS 1u
#define FRAME 1000u
#define QUEUE 10000u
#define SENDERS 4u
#define FRAMES 20u
#define TRIM 128u

typedef struct outcome {
    uint64_t whole;
    uint64_t cut;
    uint64_t dropped;
    uint64_t trimmed; // as the port counts
    uint64_t last_hop;
    bool first_cut_early; // headers overtook whole packets
    uint64_t numbers;     // hash of the packets that arrived, in their order
} outcome_t;

static net_switch_config_t config_of(void)
{
    net_switch_config_t config = fixture_switch_config();
    config.mmu = (sim_name_t){"trimming"};
    config.trim_queue_bytes = QUEUE;
    config.trim_headers_bytes = 100000;
    return config;
}

static void look(const fixture_host_t *host, outcome_t *outcome)
{
    size_t last_whole = 0;
    size_t first_cut = host->arrival_count;
    for (size_t i = 0; i < host->arrival_count; i++) {
        const fixture_arrival_t *const at = &host->arrivals[i];
        const bool whole = at->frame_bytes == FRAME;
        ck_assert(whole || at->frame_bytes == TRIM);
        last_whole = whole ? i : last_whole;
        first_cut = !whole && i < first_cut ? i : first_cut;
        outcome->whole += whole;
        outcome->cut += !whole;
        outcome->last_hop += !whole && at->dscp == 49;
        ck_assert_uint_eq(at->priority, whole ? CLASS : 6);
    }
    outcome->first_cut_early = first_cut < last_whole;
    for (size_t i = 0; i < host->arrival_count; i++) {
        const fixture_arrival_t *const at = &host->arrivals[i];
        outcome->numbers = sim_mix64(outcome->numbers ^ ((uint64_t)at->from << 32 | at->psn));
    }
}

// Each sender sends a burst at once; the receiver's link is as fast as each of theirs.
static outcome_t run(const net_switch_config_t *config, uint8_t opcode)
{
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    const net_link_config_t link = fixture_link_config(RATE_BPS, SIM_PS_PER_US);
    net_node_t *const sw = fixture_star(&fixture, config, SENDERS, &link);
    fixture_host_t *const to = fixture.hosts[fixture.host_count - 1];
    to->keep = true;
    for (uint32_t i = 0; i < SENDERS; i++) {
        fixture_flow(fixture.hosts[i], &(fixture_flow_t){.to = to->number,
                                                         .count = FRAMES,
                                                         .frame_bytes = FRAME,
                                                         .payload_bytes = 900,
                                                         .priority = CLASS,
                                                         .opcode = opcode});
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    outcome_t outcome = {0};
    look(to, &outcome);
    const net_port_t *const port = fixture_port(sw, &to->node);
    outcome.trimmed = port->counted ? port->rare->trimmed[CLASS] : 0;
    outcome.dropped = port->counted ? port->rare->drops[NET_DROP_EGRESS_FULL] : 0;
    ck_assert_uint_le(port->classes[CLASS]->bytes_max, QUEUE);
    fixture_destroy(&fixture);
    return outcome;
}

START_TEST(what_does_not_fit_arrives_as_headers)
{
    const net_switch_config_t config = config_of();
    const outcome_t outcome = run(&config, ROCE_UET | ROCE_WRITE_MIDDLE);
    ck_assert_uint_eq(outcome.whole + outcome.cut, SENDERS * FRAMES);
    ck_assert_uint_eq(outcome.dropped, 0);
    ck_assert_uint_eq(outcome.trimmed, outcome.cut);
    ck_assert_uint_eq(outcome.last_hop, outcome.cut);
    // In the burst's 20 frame times the link takes 20, less the headers' time; the queue holds 10.
    ck_assert_uint_ge(outcome.whole, 20);
    ck_assert_uint_le(outcome.whole, 20 + QUEUE / FRAME + 1);
    ck_assert(outcome.first_cut_early);
}
END_TEST

START_TEST(either_victim_loses_nothing_too)
{
    net_switch_config_t config = config_of();
    const outcome_t arriving = run(&config, ROCE_UET | ROCE_WRITE_MIDDLE);
    config.trim_victim = NET_TRIM_EITHER;
    const outcome_t either = run(&config, ROCE_UET | ROCE_WRITE_MIDDLE);
    ck_assert_uint_eq(either.whole + either.cut, SENDERS * FRAMES);
    ck_assert_uint_eq(either.trimmed, either.cut);
    ck_assert_uint_le(either.whole, arriving.whole + 1);
    ck_assert_uint_ge(either.whole + 1, arriving.whole);
}
END_TEST

START_TEST(without_trimming_they_are_dropped)
{
    net_switch_config_t config = config_of();
    config.trim_enabled = false;
    const outcome_t outcome = run(&config, ROCE_UET | ROCE_WRITE_MIDDLE);
    ck_assert_uint_eq(outcome.cut + outcome.trimmed, 0);
    ck_assert_uint_eq(outcome.whole + outcome.dropped, SENDERS * FRAMES);
    ck_assert_uint_gt(outcome.dropped, 0);
}
END_TEST

// Half of the victims were queued already, so others arrive in their place.
START_TEST(without_trimming_either_victim_is_dropped)
{
    net_switch_config_t config = config_of();
    config.trim_enabled = false;
    const outcome_t arriving = run(&config, ROCE_UET | ROCE_WRITE_MIDDLE);
    config.trim_victim = NET_TRIM_EITHER;
    const outcome_t either = run(&config, ROCE_UET | ROCE_WRITE_MIDDLE);
    ck_assert_uint_eq(either.cut + either.trimmed, 0);
    ck_assert_uint_eq(either.whole + either.dropped, SENDERS * FRAMES);
    ck_assert_uint_eq(either.whole, arriving.whole);
    ck_assert_uint_ne(either.numbers, arriving.numbers);
}
END_TEST

START_TEST(other_protocols_are_dropped)
{
    const net_switch_config_t config = config_of();
    const outcome_t outcome = run(&config, ROCE_WRITE_MIDDLE);
    ck_assert_uint_eq(outcome.cut + outcome.trimmed, 0);
    ck_assert_uint_eq(outcome.whole + outcome.dropped, SENDERS * FRAMES);
}
END_TEST

START_TEST(headers_that_find_no_room_are_dropped)
{
    net_switch_config_t config = config_of();
    config.trim_headers_bytes = 200;
    const outcome_t outcome = run(&config, ROCE_UET | ROCE_WRITE_MIDDLE);
    ck_assert_uint_gt(outcome.dropped, 0);
    ck_assert_uint_eq(outcome.whole + outcome.cut + outcome.dropped, SENDERS * FRAMES);
}
END_TEST

static void ignore(const net_trace_t *trace, void *ctx)
{
    (void)trace;
    (void)ctx;
}

// Bursts to one host, others between hosts at random times, through a buffer for some of them. With
// a listener, the switch handles each departure as an event. Returns the digest.
static uint64_t digest_of(bool listened, uint64_t buffer_bytes, uint64_t *trimmed, uint64_t *full)
{
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    net_switch_config_t config = config_of();
    config.pfc_enabled = false;
    config.trim_victim = NET_TRIM_EITHER;
    config.trim_headers_bytes = 1000;
    config.buffer_bytes = buffer_bytes;
    config.ecn_kmin_bytes = 2000;
    config.ecn_kmax_bytes = 8000;
    config.ecn_priorities = 1u << CLASS;
    const net_link_config_t link = fixture_link_config(RATE_BPS, SIM_PS_PER_US);
    net_node_t *const sw = fixture_star(&fixture, &config, SENDERS, &link);
    for (uint32_t i = 0; i < SENDERS; i++) {
        fixture_host_t *const host = fixture.hosts[i];
        fixture_flow_t flow = {.to = fixture.hosts[SENDERS]->number,
                               .count = 10 * FRAMES,
                               .frame_bytes = FRAME,
                               .payload_bytes = 900,
                               .priority = CLASS,
                               .ecn = NET_ECN_ECT0,
                               .mean_ps = 300 * SIM_PS_PER_NS,
                               .opcode = ROCE_UET | ROCE_WRITE_MIDDLE};
        fixture_flow(host, &flow);
        flow.to = fixture.hosts[(i + 1) % SENDERS]->number;
        flow.mean_ps = 100 * SIM_PS_PER_NS;
        fixture_flow(host, &flow);
        flow.to = fixture.hosts[(i + 2) % SENDERS]->number;
        flow.priority = 0; // dropped when it is full
        fixture_flow(host, &flow);
    }
    fixture_build(&fixture);
    if (listened) {
        net_port_listen(&sw->ports[0], NET_TRACE_RX, ignore, NULL);
    }
    fixture_run(&fixture);
    *trimmed = *full = 0;
    for (uint32_t p = 0; p < sw->port_count; p++) {
        const net_port_t *const port = &sw->ports[p];
        *trimmed += port->counted ? port->rare->trimmed[CLASS] : 0;
        *full += port->counted ? port->rare->drops[NET_DROP_BUFFER_FULL] : 0;
    }
    ck_assert(sw->one_by_one == listened);
    const uint64_t digest = sim_digest(fixture.sim);
    fixture_destroy(&fixture);
    return digest;
}

// Departures that are replayed later change nothing, even where ports wait for each other's buffer.
START_TEST(late_departures_change_nothing)
{
    const uint64_t buffers[] = {6000, 1000000};
    for (size_t i = 0; i < SIM_COUNT_OF(buffers); i++) {
        uint64_t trimmed[2];
        uint64_t full[2];
        const uint64_t late = digest_of(false, buffers[i], &trimmed[0], &full[0]);
        const uint64_t exact = digest_of(true, buffers[i], &trimmed[1], &full[1]);
        ck_assert_uint_eq(late, exact);
        ck_assert_uint_eq(trimmed[0], trimmed[1]);
        ck_assert_uint_eq(full[0], full[1]);
        ck_assert_uint_gt(trimmed[0], 0);
        ck_assert((full[0] > 0) == (i == 0));
    }
}
END_TEST

START_TEST(a_class_is_either_trimmed_or_lossless)
{
    net_switch_config_t config = config_of();
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(net_switch_config_check(&config, &message), SIM_OK);
    config.trim_priorities = 1u << FIXTURE_CLASS;
    ck_assert_int_eq(net_switch_config_check(&config, &message), SIM_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(message.text, "switch.trim.priorities"));
}
END_TEST

CHECK_MAIN(CHECK_TEST(what_does_not_fit_arrives_as_headers),
           CHECK_TEST(either_victim_loses_nothing_too),
           CHECK_TEST(without_trimming_they_are_dropped),
           CHECK_TEST(without_trimming_either_victim_is_dropped),
           CHECK_TEST(other_protocols_are_dropped),
           CHECK_TEST(headers_that_find_no_room_are_dropped),
           CHECK_TEST(late_departures_change_nothing),
           CHECK_TEST(a_class_is_either_trimmed_or_lossless))
