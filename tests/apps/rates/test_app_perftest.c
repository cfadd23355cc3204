// SPDX-License-Identifier: Apache-2.0
// Goal: perftest's numbers on an idle network are those of closed forms.
// Method: average bandwidth of n messages is n x bytes over the time of all their frames and one
// answer, latencies the times of the frames of a ping, behind the acknowledgement of the last one;
// written out here from header sizes. The table: its columns parse to the same numbers.
// Does not pin: the layout of the table beyond its columns.
#include <math.h>
#include <string.h>

#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define MTU 4096u
#define BYTE_PS 80u // 100 Gbps
#define DELAY_PS SIM_PS_PER_US
enum { HEADERS = 14 + 20 + 8 + 12 + 4, ON_LINK = 8 + 4 + 12, GAP = 12, ACK = 62 + ON_LINK };

// Bytes on the link of a message of whole MTUs or of less than one MTU.
static uint64_t message_bytes(uint64_t extra_first, uint64_t bytes)
{
    const uint64_t frames = (bytes + MTU - 1) / MTU;
    return frames * (HEADERS + ON_LINK) + (bytes + 3) / 4 * 4 + extra_first;
}

static uint64_t first_frame_bytes(uint64_t extra_first, uint64_t bytes)
{
    return message_bytes(extra_first, bytes < MTU ? bytes : MTU);
}

// Returns the time over `hops` hops of frames with `sum` bytes, whose first frame is the largest.
static sim_time_t one_way_ps(uint64_t hops, uint64_t first, uint64_t sum)
{
    return ((hops - 1) * first + sum) * BYTE_PS + hops * (DELAY_PS - GAP * BYTE_PS);
}

static app_t *run(world_t *world, const char *settings)
{
    world_init(world);
    world->nic.mtu_bytes = MTU;
    world_build(world, "star", "hosts=2; rate=100Gbps; delay=1us");
    app_t *const app = world_app(world, "perftest", settings);
    world_run(world);
    ck_assert_int_eq(world->ended, SIM_ENDED_DONE);
    ck_assert_uint_eq(sim_work_outstanding(world->sim), 0);
    return app;
}

static void assert_near(double found, double expected)
{
    ck_assert_msg(fabs(found - expected) <= 1e-9 * fabs(expected), "%.12f, expected %.12f", found,
                  expected);
}

START_TEST(write_bandwidth_is_line_efficiency)
{
    world_t world;
    const app_t *const app =
        run(&world, "test=ib_write_bw; size=65536; iterations=2000; start=1us");
    const uint64_t sum = 2000 * message_bytes(16, 65536);
    const double time_ps =
        (double)(one_way_ps(2, first_frame_bytes(16, 65536), sum) + one_way_ps(2, ACK, ACK));
    assert_near(world_value(app, "bw_average"), 2000.0 * 65536 * 8000 / time_ps);
    assert_near(world_value(app, "message_rate"), 2000.0 * 1e6 / time_ps);
    // The peak does not contain the round trip: it is line rate less headers, and never more.
    const double line_gbps = 65536.0 * 100 / (double)message_bytes(16, 65536);
    const double peak_gbps = world_value(app, "bw_peak");
    ck_assert_double_le(peak_gbps, line_gbps);
    ck_assert_double_ge(peak_gbps, world_value(app, "bw_average"));
    world_fini(&world);
}
END_TEST

START_TEST(read_bandwidth_is_line_efficiency)
{
    world_t world;
    const app_t *const app = run(&world, "test=ib_read_bw; size=1MiB; iterations=100; start=1us");
    const uint64_t request = HEADERS + 16 + ON_LINK;
    // The first and the last response carry an AETH.
    const uint64_t sum = 100 * (message_bytes(4, 1 << 20) + 4);
    const double time_ps = (double)(one_way_ps(2, request, request) +
                                    one_way_ps(2, first_frame_bytes(4, 1 << 20), sum));
    assert_near(world_value(app, "bw_average"), 100.0 * (1 << 20) * 8000 / time_ps);
    world_fini(&world);
}
END_TEST

START_TEST(send_bandwidth_of_several_qps)
{
    world_t world;
    const app_t *const app =
        run(&world, "test=ib_send_bw; size=16384; iterations=500; qps=4; post-list=8; start=1us");
    const uint64_t sum = 2000 * message_bytes(0, 16384);
    const double time_ps =
        (double)(one_way_ps(2, first_frame_bytes(0, 16384), sum) + one_way_ps(2, ACK, ACK));
    assert_near(world_value(app, "bw_average"), 2000.0 * 16384 * 8000 / time_ps);
    assert_near(world_value(app, "iterations"), 2000.0);
    world_fini(&world);
}
END_TEST

// With one message outstanding, the rate is one message per transfer time.
START_TEST(depth_of_one_waits_for_each)
{
    world_t world;
    const app_t *const app =
        run(&world, "test=ib_write_bw; size=4096; iterations=10; tx-depth=1; start=1us");
    const uint64_t frame = message_bytes(16, 4096);
    const double each_ps = (double)(one_way_ps(2, frame, frame) + one_way_ps(2, ACK, ACK));
    assert_near(world_value(app, "bw_average"), 4096 * 8000 / each_ps);
    assert_near(world_value(app, "bw_peak"), 4096 * 8000 / each_ps);
    world_fini(&world);
}
END_TEST

typedef struct latency {
    const char *settings;
    uint64_t bytes;
    uint64_t extra_first; // RETH
} latency_t;

static const latency_t latencies[] = {
    {"test=ib_write_lat; size=2; iterations=100; start=1us", 2, 16},
    {"test=ib_write_lat; size=65536; iterations=10; start=1us", 65536, 16},
    {"test=ib_send_lat; size=64; iterations=100; start=1us", 64, 0},
    {"test=ib_send_lat; size=8192; iterations=33; start=1us", 8192, 0},
};

// A ping follows the acknowledgement of the pong before it; the first ping follows none. The
// receiver acknowledges at the instant it sees the message, and answers then.
START_TEST(ping_pong_takes_the_closed_form)
{
    const latency_t *const latency = &latencies[_i];
    world_t world;
    const app_t *const app = run(&world, latency->settings);
    const sim_time_t way_ps = one_way_ps(2, first_frame_bytes(latency->extra_first, latency->bytes),
                                         message_bytes(latency->extra_first, latency->bytes));
    const sim_time_t behind_ack_ps = ACK * BYTE_PS;
    const double usual_us = (double)(way_ps + behind_ack_ps) / 1e6;
    assert_near(world_value(app, "t_min"), ((double)way_ps + (double)behind_ack_ps / 2) / 1e6);
    assert_near(world_value(app, "t_typical"), usual_us);
    assert_near(world_value(app, "t_max"), usual_us);
    assert_near(world_value(app, "t_p99"), usual_us);
    const double count = world_value(app, "iterations");
    // One of the iterations is shorter by half an acknowledgement's time.
    const double short_us = (double)behind_ack_ps / 2e6;
    assert_near(world_value(app, "t_avg"), usual_us - short_us / count);
    ck_assert_double_eq_tol(world_value(app, "t_stdev"),
                            short_us * sqrt((count - 1) / (count * count)), 1e-9);
    world_fini(&world);
}
END_TEST

START_TEST(read_latency_is_the_round_trip)
{
    world_t world;
    const app_t *const app = run(&world, "test=ib_read_lat; size=4; iterations=50; start=1us");
    const uint64_t request = HEADERS + 16 + ON_LINK;
    const uint64_t response = HEADERS + 4 + 4 + ON_LINK;
    const double expected_us =
        (double)(one_way_ps(2, request, request) + one_way_ps(2, response, response)) / 1e6;
    assert_near(world_value(app, "t_min"), expected_us);
    assert_near(world_value(app, "t_max"), expected_us);
    assert_near(world_value(app, "t_avg"), expected_us);
    assert_near(world_value(app, "t_p999"), expected_us);
    world_fini(&world);
}
END_TEST

typedef struct table {
    char text[8192];
    size_t length;
} table_t;

static void keep(const char *text, void *ctx)
{
    table_t *const table = ctx;
    const size_t length = strlen(text);
    ck_assert_uint_lt(table->length + length, sizeof(table->text));
    memcpy(table->text + table->length, text, length + 1);
    table->length += length;
}

// With all sizes the table has one row for each, in order, with the same numbers as the values.
START_TEST(table_has_a_row_for_each_size)
{
    world_t world;
    const bool latency = _i == 1;
    const app_t *const app = run(&world, latency ? "test=ib_send_lat; all=on; iterations=5"
                                                 : "test=ib_write_bw; all=on; iterations=20");
    table_t table = {"", 0};
    app->ops->print(app, keep, &table);
    const char *at = strstr(table.text, "#bytes");
    ck_assert_ptr_nonnull(at);
    at = strchr(at, '\n') + 1;
    uint32_t index = 0;
    for (uint64_t bytes = 2; bytes <= 1 << 23; bytes *= 2) {
        double columns[7] = {0};
        unsigned long found_bytes = 0;
        unsigned long found_iterations = 0;
        const int count = sscanf(at, "%lu %lu %lf %lf %lf %lf %lf %lf %lf", &found_bytes,
                                 &found_iterations, &columns[0], &columns[1], &columns[2],
                                 &columns[3], &columns[4], &columns[5], &columns[6]);
        ck_assert_int_ge(count, latency ? 9 : 5);
        ck_assert_uint_eq(found_bytes, bytes);
        ck_assert_uint_eq(found_iterations, latency ? 5 : 20);
        char name[64];
        snprintf(name, sizeof(name), latency ? "sizes[%u].t_avg" : "sizes[%u].bw_average", index++);
        ck_assert_double_eq_tol(columns[latency ? 3 : 1], world_value(app, name), 0.0051);
        at = strchr(at, '\n') + 1;
    }
    world_fini(&world);
}
END_TEST

START_TEST(runs_beside_other_traffic)
{
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=4");
    app_t *const flows = world_app(&world, "permutation", "bytes=1MB");
    app_t *const test = world_app(&world, "perftest", "test=ib_send_bw; iterations=100");
    app_t *const more = world_app(&world, "incast", "to=host1; bytes=10KB; verb=send");
    world_run(&world);
    ck_assert_int_eq(world.ended, SIM_ENDED_DONE);
    ck_assert_double_eq(world_value(flows, "transfers_completed"), 4.0);
    ck_assert_double_eq(world_value(more, "transfers_completed"), 3.0);
    uint64_t done = 0;
    uint64_t planned = 0;
    test->ops->progress(test, &done, &planned);
    ck_assert_uint_eq(done, 100);
    ck_assert_uint_eq(planned, 100);
    ck_assert_double_lt(world_value(test, "bw_average"), 97.0);
    world_fini(&world);
}
END_TEST

START_TEST(bad_values_are_refused)
{
    static const char *const wrong[][2] = {
        {"from=host7", "from: "},
        {"to=host*", "to: \"host*\" names several hosts, expected the name of one"},
        {"to=host1:1",
         "to: \"host1:1\" names a NIC that the host does not have, expected a NIC number below 1"},
        {"tx-depth=4; post-list=5", "post-list is 5, expected at most tx-depth (4)"},
        {"start=5us; stop=5us", "stop: the test starts later, expected a time after start"},
        {"test=ib_send_lat; qps=2", "qps is 2, expected 1 for a latency test"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        world_t world;
        world_init(&world);
        world_build(&world, "star", "hosts=2");
        sim_message_t message = {.text = ""};
        app_t *app = NULL;
        ck_assert_int_ne(world_try_app(&world, "perftest", wrong[i][0], &app, &message), SIM_OK);
        ck_assert_msg(strncmp(message.text, wrong[i][1], strlen(wrong[i][1])) == 0, "%s",
                      message.text);
        world_fini(&world);
    }
}
END_TEST

// `stop` ends the test: messages posted before it complete and are measured.
START_TEST(stop_ends_the_test)
{
    static const char *const tests[] = {"ib_write_bw",  "ib_read_bw",  "ib_send_bw",
                                        "ib_write_lat", "ib_read_lat", "ib_send_lat"};
    static const char *const depths[] = {"1", "2", "128"};
    for (size_t i = 0; i < SIM_COUNT_OF(depths); i++) {
        world_t world;
        char settings[256];
        const bool latency = _i >= 3;
        snprintf(settings, sizeof(settings),
                 "test=%s; size=8192; iterations=1000000; tx-depth=%s; start=1us; stop=101us",
                 tests[_i], depths[i]);
        const app_t *const app = run(&world, settings);
        const double iterations = world_value(app, "iterations");
        const uint64_t depth = latency ? 1 : (uint64_t)atoi(depths[i]);
        const sim_time_t end_ps = sim_end_time_ps(world.sim);
        ck_assert_uint_ge(end_ps, 101 * SIM_PS_PER_US);
        ck_assert_uint_le(end_ps, 101 * SIM_PS_PER_US + depth * 800000 + 12 * SIM_PS_PER_US);
        if (!latency && depth == 128) {
            // The messages are those of 100 us at line rate, plus those still outstanding then.
            const double expected = 100e6 / (double)(message_bytes(0, 8192) * BYTE_PS) + 128;
            ck_assert_double_le(fabs(iterations - expected), 20);
        } else if (latency) {
            const bool read = _i == 4;
            const double each_us = world_value(app, "t_avg") * (read ? 1 : 2);
            ck_assert_double_le(fabs(iterations - 100 / each_us), 1.5);
        }
        uint64_t done = 0;
        uint64_t planned = 0;
        app->ops->progress(app, &done, &planned);
        ck_assert_uint_eq(done, planned);
        ck_assert_uint_eq(done, (uint64_t)iterations);
        world_fini(&world);
    }
}
END_TEST

// Sizes in turn: the one that is being measured is the last.
START_TEST(stop_leaves_out_sizes)
{
    world_t world;
    const app_t *const app =
        run(&world, "test=ib_write_lat; all=on; iterations=4; tx-depth=1; stop=100us");
    double values[2] = {world_value(app, "sizes[0].iterations"),
                        world_value(app, "sizes[1].iterations")};
    ck_assert_double_eq(values[0], 4);
    ck_assert_double_eq(values[1], 4);
    table_t table = {"", 0};
    app->ops->print(app, keep, &table);
    ck_assert_ptr_null(strstr(table.text, "not finished"));
    ck_assert_ptr_null(strstr(table.text, "8388608"));
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(stop_ends_the_test, 0, 6), CHECK_TEST(stop_leaves_out_sizes),
           CHECK_TEST(write_bandwidth_is_line_efficiency),
           CHECK_TEST(read_bandwidth_is_line_efficiency), CHECK_TEST(send_bandwidth_of_several_qps),
           CHECK_TEST(depth_of_one_waits_for_each),
           CHECK_LOOP(ping_pong_takes_the_closed_form, 0, (int)SIM_COUNT_OF(latencies)),
           CHECK_TEST(read_latency_is_the_round_trip),
           CHECK_LOOP(table_has_a_row_for_each_size, 0, 2), CHECK_TEST(runs_beside_other_traffic),
           CHECK_TEST(bad_values_are_refused))
