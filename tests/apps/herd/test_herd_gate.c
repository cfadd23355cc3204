// SPDX-License-Identifier: Apache-2.0
// Goal: HERD's clients keep the guide's gate; seeds move draws where asked; the time of a batch is
// that of the table; the report's rates, counts and queues belong to the times that it names.
// Method: small worlds; counts of answers between gates, times of looks from the log of operations,
// latencies in closed form.
// Does not pin: rates (tests/apps/herd/test_herd_figures.sh).
#include "apps/herd/client.h"
#include "apps/herd/regions.h"
#include "apps/herd/worker.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define HOSTS 4u

// Runs HERD on a star with a seed and a rate of links.
static app_t *run(world_t *world, bool detailed, uint64_t seed, const char *rate, const char *rest)
{
    world_init(world);
    sim_message_t message;
    const char *const nic = detailed ? "model=detailed; detailed.pcie.lanes=16" : "model=ideal";
    ck_assert_int_eq(world_set(&nic_config_attrs, &world->nic, nic, &message), SIM_OK);
    world->switch_config.pfc_priorities = 0xff;
    world->options.seed = seed;
    char star[128];
    snprintf(star, sizeof(star), "hosts=%u; rate=%s; delay=1us", HOSTS, rate);
    world_build(world, "star", star);
    char all[1024];
    snprintf(all, sizeof(all),
             "warm-up=0s; measure=40ms; server=host0; clients-on=host1|host2|host3; keys=5000; %s",
             rest);
    app_t *const app = world_app(world, "herd", all);
    world_run(world);
    ck_assert_int_eq(world->ended, SIM_ENDED_DONE);
    ck_assert_double_eq(world_value(app, "lost"), 0);
    ck_assert_double_eq(world_value(app, "wrong_values"), 0);
    return app;
}

static const char *const ways[] = {
    "workers=1; clients=5",
    "workers=12; clients=9",
    "workers=3; clients=7; answer=write-uc",
    "workers=3; clients=7; request=send",
    "workers=3; clients=7; request=send-rc; answer=send-rc",
    "workers=2; clients=7; unsignaled=1",
    "workers=2; clients=7; window=100; window-per=client",
    "workers=3; clients=7; system=farm",
};

// With the strict gate no answer is taken between two gates, whatever stops the client; with the
// ring gate most are where one worker's ring is soon full.
START_TEST(a_strict_gate_is_the_only_place_for_answers)
{
    world_t world;
    char settings[512];
    for (int strict = 0; strict < 2; strict++) {
        snprintf(settings, sizeof(settings), "requests=330; %s; gate=%s", ways[_i / 2],
                 strict ? "strict" : "ring");
        const app_t *const app = run(&world, _i % 2 != 0, 1, "100Gbps", settings);
        const double outside = world_value(app, "answers_outside_gates");
        const double all = world_value(app, "responses");
        ck_assert_double_eq(all, world_value(app, "requests"));
        if (strict) {
            ck_assert_double_eq(outside, 0);
        } else if (_i / 2 == 0) {
            ck_assert_double_gt(outside, 0.75 * all);
        }
        world_fini(&world);
    }
}
END_TEST

// A look takes at most a window of answers, also where more of them wait.
START_TEST(a_look_takes_at_most_a_window)
{
    world_t world;
    const app_t *const app =
        run(&world, true, 1, "100Gbps", "workers=12; clients=40; requests=400; window=2; log=on");
    ck_assert_double_gt(world_value(app, "client_queue_max"), 2);
    const app__herd_t *const herd = (const app__herd_t *)(const void *)app;
    for (uint32_t c = 0; c < herd->client_count; c++) {
        const app__herd_client_t *const client = &herd->clients[c];
        size_t together = 0;
        for (size_t i = 0; i < client->record_count; i++) {
            const bool same = i > 0 && client->records[i].end_ps == client->records[i - 1].end_ps;
            together = same ? together + 1 : 1;
            ck_assert_uint_le(together, 2);
        }
    }
    world_fini(&world);
}
END_TEST

// Between two looks at gates that found answers, a client sends whole windows of requests.
START_TEST(looks_are_whole_windows_apart)
{
    world_t world;
    (void)run(&world, true, 1, "100Gbps", "workers=4; clients=3; requests=600; window=8; log=on");
    const app__herd_t *const herd = (const app__herd_t *)(const void *)world.apps[0];
    for (uint32_t c = 0; c < herd->client_count; c++) {
        const app__herd_client_t *const client = &herd->clients[c];
        for (size_t i = 0; i < client->record_count; i++) {
            uint32_t sent = 0;
            for (size_t k = 0; k < client->record_count; k++) {
                sent += client->records[k].start_ps < client->records[i].end_ps;
            }
            ck_assert_uint_eq(sent % 8, 0);
        }
    }
    world_fini(&world);
}
END_TEST

START_TEST(seeds_move_the_draws_where_asked)
{
    double puts[2][3];
    for (int moved = 0; moved < 2; moved++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            world_t world;
            char settings[256];
            snprintf(settings, sizeof(settings),
                     "workers=2; clients=5; requests=200; update-percentage=50; draws=%s",
                     moved ? "seed" : "fixed");
            const app_t *const app = run(&world, false, seed, "100Gbps", settings);
            puts[moved][seed - 1] = world_value(app, "request_bytes_mean");
            world_fini(&world);
        }
    }
    ck_assert_double_eq(puts[0][0], puts[0][1]);
    ck_assert_double_eq(puts[0][0], puts[0][2]);
    ck_assert_double_ne(puts[1][0], puts[1][1]);
    ck_assert_double_ne(puts[1][1], puts[1][2]);
    ck_assert_double_ne(puts[0][0], puts[1][0]);
}
END_TEST

START_TEST(a_batch_table_is_linear_between_its_rows)
{
    app__herd_batch_table_t table;
    sim_message_t message;
    ck_assert_int_eq(
        app__herd_read_batch_table(" 1 10ns, 5 50ns,9 30ns, 32 30ns", 32, &table, &message),
        SIM_OK);
    static const uint64_t expected[][2] = {{1, 10}, {2, 20}, {4, 40},  {5, 50},
                                           {6, 45}, {9, 30}, {20, 30}, {32, 30}};
    for (size_t i = 0; i < SIM_COUNT_OF(expected); i++) {
        ck_assert_uint_eq(app__herd_batch_ps(&table, expected[i][0]),
                          expected[i][1] * SIM_PS_PER_NS);
    }
    ck_assert_int_eq(app__herd_read_batch_table("", 32, &table, &message), SIM_OK);
    ck_assert_uint_eq(table.count, 0);
}
END_TEST

// A lone request pays the first row of the table, and nothing else changes.
START_TEST(a_batch_table_costs_its_time)
{
    static const char *const tables[] = {"", "model.batch-table=1 0ns, 4 900ns; ",
                                         "model.batch-table=1 700ns, 4 900ns; "};
    double mean_us[3];
    for (int i = 0; i < 3; i++) {
        world_t world;
        char settings[256];
        snprintf(settings, sizeof(settings),
                 "%sservice=model; workers=1; clients=1; window=1; postlist=4; requests=50",
                 tables[i]);
        mean_us[i] = world_value(run(&world, true, 1, "100Gbps", settings), "latency_us.mean");
        world_fini(&world);
    }
    ck_assert_double_eq_tol(mean_us[1], mean_us[0], 1e-9);
    ck_assert_double_eq_tol(mean_us[2], mean_us[0] + 0.7, 1e-9);
}
END_TEST

// A worker that answers eight requests together has eight answers in its send queue, and a client
// that looks at a gate alone finds what came in between.
START_TEST(queues_at_both_ends_are_measured)
{
    world_t world;
    const app_t *app = run(&world, false, 1, "1Gbps",
                           "workers=1; clients=1; window=8; postlist=8; requests=400; gate=all; "
                           "value=1000; update-percentage=0; cpu.look=1us");
    ck_assert_double_gt(world_value(app, "send_queue_max"), 1);
    ck_assert_double_le(world_value(app, "send_queue_max"), 8);
    ck_assert_double_gt(world_value(app, "send_queue_mean"),
                        world_value(app, "responses_per_batch") - 0.5);
    world_fini(&world);
    app = run(&world, true, 1, "100Gbps", "workers=12; clients=40; requests=400; window=4");
    ck_assert_double_gt(world_value(app, "client_queue_mean"), 1);
    ck_assert_double_gt(world_value(app, "client_queue_max"), 4);
    ck_assert_double_le(world_value(app, "client_queue_max"), 12 * 4);
    world_fini(&world);
}
END_TEST

// Rates, counts and times of the report belong together: also with a warm-up, whose operations are
// in the counts of the whole run alone.
START_TEST(the_rate_is_that_of_the_measured_operations)
{
    world_t world;
    const app_t *const app = run(&world, true, 1, "100Gbps",
                                 "warm-up=30us; measure=50us; workers=3; clients=7; retries=0");
    ck_assert_double_eq(world_value(app, "measured_us"), 50);
    ck_assert_double_eq(world_value(app, "measured_operations"),
                        world_value(app, "latency_us.count"));
    ck_assert_double_eq_tol(world_value(app, "measured_operations") / 50, world_value(app, "mops"),
                            1e-9);
    ck_assert_double_gt(world_value(app, "responses"),
                        1.3 * world_value(app, "measured_operations"));
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(a_strict_gate_is_the_only_place_for_answers, 0, 2 * SIM_COUNT_OF(ways)),
           CHECK_TEST(a_look_takes_at_most_a_window), CHECK_TEST(looks_are_whole_windows_apart),
           CHECK_TEST(seeds_move_the_draws_where_asked),
           CHECK_TEST(a_batch_table_is_linear_between_its_rows),
           CHECK_TEST(a_batch_table_costs_its_time), CHECK_TEST(queues_at_both_ends_are_measured),
           CHECK_TEST(the_rate_is_that_of_the_measured_operations))
