// SPDX-License-Identifier: Apache-2.0
// tests/net/test_port_observers.c - who listens at a port, and what its metrics say.
//
// Goal: a listener hears each event that it asked for once, in the order of time and of listening;
// metrics have the values of the port's counters.
// Method: two scripted hosts at one link (tests/net/link_pair.h), with counts known before.
// Not pinned: how ports share their lists of listeners.
#include "net/link_state.h"
#include "net/port_metrics.h"

#include "tests/check_main.h"
#include "tests/drop_next.h"
#include "tests/net/link_pair.h"

#include <string.h>

typedef struct heard {
    uint64_t by_point[10];
    sim_time_t last_ps;
} heard_t;

static void hear(const net_trace_t *trace, void *ctx)
{
    heard_t *const heard = ctx;
    heard->by_point[__builtin_ctz((unsigned)trace->point)]++;
    SIM_CHECK(trace->time_ps >= heard->last_ps);
    heard->last_ps = trace->time_ps;
}

START_TEST(listeners_hear_what_they_asked_for)
{
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.a, &(fixture_flow_t){.to = 1, .count = 100, .priority = 3});
    fixture_pause(pair.b, 3 * SIM_PS_PER_US, 1u << 3, 100);
    pair_build(&pair);
    test_drop_next(pair.a_port, 10);
    heard_t all = {{0}, 0};
    heard_t some = {{0}, 0};
    heard_t there = {{0}, 0};
    net_port_listen(pair.a_port, 0x3ff, hear, &all);
    net_port_listen(pair.a_port, NET_TRACE_TX | NET_TRACE_DROP, hear, &some);
    net_port_listen(pair.b_port, NET_TRACE_RX | NET_TRACE_XOFF, hear, &there);
    fixture_run(&pair.fixture);
    ck_assert_uint_eq(all.by_point[0], 100);
    ck_assert_uint_eq(all.by_point[1], 1); // the pause frame
    ck_assert_uint_eq(all.by_point[2], 100);
    ck_assert_uint_eq(all.by_point[3], 1);
    ck_assert_uint_eq(all.by_point[5], 1);
    ck_assert_uint_eq(all.by_point[6], 1);
    ck_assert_uint_eq(some.by_point[0], 100);
    ck_assert_uint_eq(some.by_point[1], 0);
    ck_assert_uint_eq(some.by_point[3], 1);
    ck_assert_uint_eq(there.by_point[1], 99);
    ck_assert_uint_eq(there.by_point[7], 1);
    fixture_destroy(&pair.fixture);
}
END_TEST

typedef struct letter {
    char text[2];
    char *heard[2]; // at a, at b
} letter_t;

static void write_letter(const net_trace_t *trace, void *ctx)
{
    const letter_t *const letter = ctx;
    strcat(letter->heard[trace->port->node->sim.index], letter->text);
}

// Ports with the same listeners share a list, up to the first that only one of them has.
START_TEST(listeners_are_called_in_their_order)
{
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.a, &(fixture_flow_t){.to = 1, .count = 2});
    fixture_flow(pair.b, &(fixture_flow_t){.to = 0, .count = 2});
    pair_build(&pair);
    char at_a[32] = "";
    char at_b[32] = "";
    letter_t letters[6];
    for (size_t i = 0; i < SIM_COUNT_OF(letters); i++) {
        letters[i] = (letter_t){{(char)('u' + i), '\0'}, {at_a, at_b}};
        if (i != 3) {
            net_port_listen(pair.a_port, NET_TRACE_TX, write_letter, &letters[i]);
        }
        if (i != 1) {
            net_port_listen(pair.b_port, NET_TRACE_TX, write_letter, &letters[i]);
        }
    }
    fixture_run(&pair.fixture);
    ck_assert_str_eq(at_a, "uvwyzuvwyz");
    ck_assert_str_eq(at_b, "uwxyzuwxyz");
    fixture_destroy(&pair.fixture);
}
END_TEST

START_TEST(metrics_read_the_counters)
{
    const net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    pair_t pair;
    pair_create(&pair, 1, &link);
    fixture_flow(pair.a, &(fixture_flow_t){.to = 1, .count = 100, .priority = 3});
    fixture_flow(pair.a,
                 &(fixture_flow_t){.to = 1, .count = 50, .priority = 4, .frame_bytes = 500});
    pair_build(&pair);
    fixture_run(&pair.fixture);
    static const struct {
        const char *name;
        bool at_b;
        uint8_t classes;
        uint64_t value;
    } cases[] = {
        {"tx_bytes", false, 0xff, 125000},  {"tx_bytes", false, 1u << 3, 100000},
        {"tx_packets", false, 1u << 4, 50}, {"rx_packets", true, 0xff, 150},
        {"rx_bytes", true, 1u << 4, 25000}, {"queue_bytes", false, 0xff, 0},
        {"discards", false, 0xff, 0},       {"paused", false, 0xff, 0},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        const net_port_metric_t *const metric = net_port_metric_find(cases[i].name);
        ck_assert_ptr_nonnull(metric);
        ck_assert_uint_eq(net_port_metric_read(metric, cases[i].at_b ? pair.b_port : pair.a_port,
                                               cases[i].classes, sim_end_time_ps(pair.fixture.sim)),
                          cases[i].value);
    }
    ck_assert_ptr_null(net_port_metric_find("colour"));
    fixture_destroy(&pair.fixture);
}
END_TEST

CHECK_MAIN(CHECK_TEST(listeners_hear_what_they_asked_for),
           CHECK_TEST(listeners_are_called_in_their_order), CHECK_TEST(metrics_read_the_counters))
