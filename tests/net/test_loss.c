// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_loss.c - losses in patterns and by lists, reordering, duplication.
//
// Goal: each model loses the share of frames that its closed form says, in events of the right
// kind; directions are apart; lists lose exactly what they name; nothing is lost twice or invented.
// Method: one link between two scripted hosts; which frames arrived is read from their numbers.
// Bounds are five standard deviations of the number of events (or exact).
// Not pinned: which frames a model loses.
#include "net/loss.h"

#include <math.h>

#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define FRAMES 400000u
#define DELAY_PS UINT64_C(1000000)

typedef struct line {
    fixture_t fixture;
    fixture_host_t *a;
    fixture_host_t *b;
} line_t;

static void line_run(line_t *line, const net_link_config_t *link, net_loss_trace_t *trace,
                     uint64_t frames, uint64_t seed)
{
    const fixture_options_t options = {.seed = seed, .net = fixture_net_config()};
    fixture_create(&line->fixture, &options);
    line->a = fixture_host(&line->fixture, "a");
    line->b = fixture_host(&line->fixture, "b");
    const uint32_t number = net_link_add(line->fixture.net, &line->a->node, &line->b->node, link);
    if (trace != NULL) {
        net_link_lose(line->fixture.net, number, NET_LOSS_FORWARD, trace);
    }
    line->a->keep = line->b->keep = true;
    fixture_flow(line->a, &(fixture_flow_t){.to = 1, .count = frames, .payload_bytes = 900});
    fixture_flow(line->b, &(fixture_flow_t){.to = 0, .count = frames});
    fixture_build(&line->fixture);
    fixture_run(&line->fixture);
}

static net_link_config_t link_of(uint32_t model, sim_ratio_t rate)
{
    net_link_config_t link = fixture_link_config(100 * FIXTURE_GBPS, DELAY_PS);
    link.loss_model = model;
    link.loss_rate = rate;
    return link;
}

static const net_port_t *port_of(const fixture_host_t *host)
{
    return &host->node.ports[0];
}

// -- rates and events

typedef struct model_case {
    uint32_t model;
    uint32_t burst;
    sim_ratio_t rate;
    double lost;      // of an event, mean
    double length;    // of an event, mean
    double deviation; // of the lost of an event
} model_case_t;

static const model_case_t cases[] = {
    {NET_LOSS_BURSTS, 20, {1, 1000}, 20, 20, 2.6},
    {NET_LOSS_BURSTS, 1, {1, 100}, 1, 1, 0},
    {NET_LOSS_HIGH_FREQUENCY, 15, {1, 200}, 8, 15, 3.8},
    {NET_LOSS_AMAZON, 15, {1, 100}, 6.74, 0.35 * 15 + 0.12 * 15 + 0.53, 6.6},
    {NET_LOSS_GOOGLE, 15, {1, 100}, 6.25, 0.63 * 15 + 0.37, 5.5},
    {NET_LOSS_MICROSOFT, 15, {1, 100}, 4.15, 0.32 * 15 + 0.68, 5.4},
};

START_TEST(events_have_their_rate_and_size)
{
    const model_case_t *const test = &cases[_i];
    net_link_config_t link = link_of(test->model, test->rate);
    link.loss_burst = test->burst;
    line_t line;
    line_run(&line, &link, NULL, FRAMES, 7);
    net_loss_counters_t counters;
    ck_assert(net_loss_get_counters(port_of(line.a), &counters));
    ck_assert_uint_eq(counters.frames, FRAMES);
    ck_assert_uint_eq(counters.lost, port_of(line.a)->rare->drops[NET_DROP_LINK_LOSS]);
    ck_assert_uint_eq(line.b->received + counters.lost, FRAMES);
    const double rate = (double)test->rate.num / (double)test->rate.den;
    const double start = rate / test->lost;
    const double events = FRAMES * start / (1 + start * (test->length - 1));
    ck_assert_msg(fabs((double)counters.events - events) < 5 * sqrt(events) + 1,
                  "%.0f events, expected %.1f", (double)counters.events, events);
    const double lost = (double)counters.events * test->lost;
    const double deviation = sqrt((double)counters.events) * test->deviation;
    ck_assert_msg(fabs((double)counters.lost - lost) < 5 * deviation + test->burst,
                  "%.0f lost, expected %.1f +- %.1f", (double)counters.lost, lost, 5 * deviation);
    fixture_destroy(&line.fixture);
}
END_TEST

// Runs of the bad state are geometric; the rate is that asked for.
START_TEST(gilbert_elliott_has_two_states)
{
    static const sim_ratio_t bad_rates[] = {{1, 1}, {1, 2}};
    for (size_t i = 0; i < SIM_COUNT_OF(bad_rates); i++) {
        net_link_config_t link = link_of(NET_LOSS_GILBERT_ELLIOTT, (sim_ratio_t){1, 50});
        link.loss_burst = 10;
        link.loss_bad_rate = bad_rates[i];
        line_t line;
        line_run(&line, &link, NULL, FRAMES, 3);
        net_loss_counters_t counters;
        ck_assert(net_loss_get_counters(port_of(line.a), &counters));
        const double bad = (double)bad_rates[i].num / (double)bad_rates[i].den;
        const double share = 0.02 / bad;
        const double events = FRAMES * share / 10;
        ck_assert_double_lt(fabs((double)counters.events - events), 5 * sqrt(events));
        const double lost = FRAMES * 0.02;
        ck_assert_double_lt(fabs((double)counters.lost - lost), 5 * bad * 14.5 * sqrt(events));
        fixture_destroy(&line.fixture);
    }
}
END_TEST

// -- directions, kinds of frames

START_TEST(directions_and_acks_are_apart)
{
    net_link_config_t link = link_of(NET_LOSS_INDEPENDENT, (sim_ratio_t){1, 10});
    link.loss_direction = NET_LOSS_FORWARD;
    line_t line;
    line_run(&line, &link, NULL, 20000, 1);
    net_loss_counters_t counters;
    ck_assert(net_loss_get_counters(port_of(line.a), &counters));
    ck_assert(!net_loss_get_counters(port_of(line.b), &counters));
    ck_assert_uint_eq(line.a->received, 20000);
    ck_assert_uint_lt(line.b->received, 18500);
    fixture_destroy(&line.fixture);

    link.loss_direction = NET_LOSS_BACKWARD;
    line_run(&line, &link, NULL, 20000, 1);
    ck_assert_uint_eq(line.b->received, 20000);
    ck_assert_uint_lt(line.a->received, 18500);
    fixture_destroy(&line.fixture);
}
END_TEST

// The draws of one direction do not depend on whether the other direction draws too.
START_TEST(streams_are_independent)
{
    uint64_t received[2];
    for (int i = 0; i < 2; i++) {
        net_link_config_t link = link_of(NET_LOSS_AMAZON, (sim_ratio_t){1, 100});
        link.loss_direction = i == 0 ? NET_LOSS_FORWARD : NET_LOSS_BOTH;
        link.duplicate_rate = (sim_ratio_t){0, 1};
        line_t line;
        line_run(&line, &link, NULL, 50000, 9);
        received[i] = line.b->received;
        fixture_destroy(&line.fixture);
    }
    ck_assert_uint_eq(received[0], received[1]);
}
END_TEST

START_TEST(impossible_rates_are_refused)
{
    sim_message_t message;
    net_link_config_t link = link_of(NET_LOSS_GILBERT_ELLIOTT, (sim_ratio_t){1, 2});
    link.loss_bad_rate = (sim_ratio_t){1, 2};
    ck_assert_int_eq(net_loss_check(&link, &message), SIM_ERR_RANGE);
    link.loss_rate = (sim_ratio_t){1, 3};
    ck_assert_int_eq(net_loss_check(&link, &message), SIM_OK);
    link.loss_model = NET_LOSS_HIGH_FREQUENCY;
    link.loss_burst = 2;
    ck_assert_int_eq(net_loss_check(&link, &message), SIM_ERR_RANGE);
}
END_TEST

// -- reordering and duplication

START_TEST(nothing_is_lost_by_reordering_or_doubling)
{
    net_link_config_t link = link_of(NET_LOSS_INDEPENDENT, (sim_ratio_t){0, 1});
    link.reorder_rate = (sim_ratio_t){1, 50};
    link.reorder_delay_ps = 2 * SIM_PS_PER_US;
    link.duplicate_rate = (sim_ratio_t){1, 100};
    line_t line;
    line_run(&line, &link, NULL, 100000, 1);
    net_loss_counters_t counters;
    ck_assert(net_loss_get_counters(port_of(line.a), &counters));
    ck_assert_double_lt(fabs((double)counters.reordered - 2000), 5 * sqrt(2000));
    ck_assert_double_lt(fabs((double)counters.duplicated - 980), 5 * sqrt(980));
    ck_assert_uint_eq(line.b->received, 100000 + counters.duplicated);
    uint8_t *const seen = calloc(100000, 1);
    uint64_t late = 0;
    uint32_t newest = 0;
    for (size_t i = 0; i < line.b->arrival_count; i++) {
        const fixture_arrival_t *const arrival = &line.b->arrivals[i];
        ck_assert_uint_lt(arrival->psn, 100000);
        const bool again = seen[arrival->psn]++ != 0;
        late += !again && arrival->psn < newest;
        newest = arrival->psn > newest ? arrival->psn : newest;
        ck_assert(i == 0 || arrival->time_ps >= line.b->arrivals[i - 1].time_ps);
    }
    for (uint32_t i = 0; i < 100000; i++) {
        ck_assert_uint_ge(seen[i], 1);
    }
    free(seen);
    // Frames held for 2 us, while frames of 82 ns pass, arrive late, except for those at the very
    // end.
    ck_assert_uint_le(late, counters.reordered);
    ck_assert_uint_ge(late, counters.reordered - 2);
    fixture_destroy(&line.fixture);
}
END_TEST

// -- lists

static sim_err_t parse(const char *text, net_loss_trace_t **trace)
{
    sim_message_t message;
    return net_loss_trace_parse(text, strlen(text), trace, &message);
}

START_TEST(lists_are_read_or_refused)
{
    static const char *const good[] = {"",           "1\n",      "3\n5\n900", "# x\n\n1\n2 # y\r\n",
                                       "0,1\n7,3\n", "9\n2\n9\n"};
    static const char *const bad[] = {"0\n",   "5\n2\n1\n", "5\n2\n6\n", "1\n1\n",
                                      "x\n",   "1,2\n5\n",  "4\n7,1\n",  "1,0\n",
                                      "1 2\n", "-3\n",      "1,\n"};
    for (size_t i = 0; i < SIM_COUNT_OF(good); i++) {
        net_loss_trace_t *trace = NULL;
        ck_assert_msg(parse(good[i], &trace) == SIM_OK, "%s", good[i]);
        net_loss_trace_destroy(trace);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(bad); i++) {
        net_loss_trace_t *trace = NULL;
        ck_assert_msg(parse(bad[i], &trace) != SIM_OK, "%s", bad[i]);
    }
}
END_TEST

START_TEST(list_loses_what_it_names)
{
    net_loss_trace_t *trace = NULL;
    ck_assert_int_eq(parse("1\n5\n6\n1000\n", &trace), SIM_OK);
    net_link_config_t link = link_of(NET_LOSS_INDEPENDENT, (sim_ratio_t){0, 1});
    line_t line;
    line_run(&line, &link, trace, 1000, 1);
    net_loss_counters_t counters;
    ck_assert(net_loss_get_counters(port_of(line.a), &counters));
    ck_assert_uint_eq(counters.lost, 4);
    ck_assert_uint_eq(line.b->received, 996);
    static const uint32_t gone[] = {0, 4, 5, 999};
    for (size_t i = 0; i < line.b->arrival_count; i++) {
        for (size_t g = 0; g < SIM_COUNT_OF(gone); g++) {
            ck_assert_uint_ne(line.b->arrivals[i].psn, gone[g]);
        }
    }
    ck_assert_uint_eq(line.a->received, 1000);
    fixture_destroy(&line.fixture);
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(events_have_their_rate_and_size, 0, SIM_COUNT_OF(cases), 1),
           CHECK_MANY(gilbert_elliott_has_two_states), CHECK_TEST(directions_and_acks_are_apart),
           CHECK_TEST(streams_are_independent), CHECK_TEST(impossible_rates_are_refused),
           CHECK_TEST(nothing_is_lost_by_reordering_or_doubling),
           CHECK_TEST(lists_are_read_or_refused), CHECK_TEST(list_loses_what_it_names))
