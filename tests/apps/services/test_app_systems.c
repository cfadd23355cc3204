// SPDX-License-Identifier: Apache-2.0
// Goal: the systems of the guidelines do what they are for: a sequencer gives every number once,
// and to one client in order; stores answer every request, and their atomics add up.
// Method: clients that make a given number of requests, with the ideal and the detailed NIC;
// numbers are sorted and counted, words in memory summed, requests and responses compared.
// Does not pin: rates, which the guidelines' table compares.
#include <string.h>

#include "tests/app_fixture.h"
#include "tests/check_main.h"

static app_t *run_on(world_t *world, const char *nic, const char *kind, const char *settings)
{
    world_init(world);
    sim_message_t message;
    ck_assert_int_eq(world_set(&nic_config_attrs, &world->nic, nic, &message), SIM_OK);
    world->switch_config.pfc_priorities = 0xff;
    world_build(world, "star", "hosts=4; rate=100Gbps; delay=1us");
    app_t *const app = world_app(world, kind, settings);
    world_run(world);
    ck_assert_int_eq(world->ended, SIM_ENDED_DONE);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert(nic_conserved(nic_of_interface(world->net, i)));
    }
    return app;
}

static app_t *run(world_t *world, bool detailed, const char *kind, const char *settings)
{
    return run_on(world, detailed ? "model=detailed" : "model=ideal", kind, settings);
}

// Clients are done long before the span is over.
#define SPAN "warm-up=0s; measure=2ms; "
#define CLIENTS "server=host0; clients-on=host1|host2|host3; clients=7; requests=96; window=32; "
#define REQUESTS (7.0 * 96)

static const char *const versions[] = {
    "version=rpc; workers=3",
    "version=rpc; workers=2; batch=off; collect=1; qps-per-port=1",
    "version=rpc; workers=2; first-number=4294967000",
    "version=spec; workers=3",
    "version=spec; workers=2; batch=off",
    "version=spec; workers=2; first-number=4294967000",
    "version=fetch-add",
    "version=fetch-add; first-number=4294967000",
};

START_TEST(every_number_is_given_once)
{
    world_t world;
    char settings[512];
    const int version = _i / 2;
    snprintf(settings, sizeof(settings), SPAN CLIENTS "%s", versions[version]);
    const app_t *const app = run(&world, _i % 2 != 0, "sequencer", settings);
    ck_assert_double_eq(world_value(app, "requests"), REQUESTS);
    ck_assert_double_eq(world_value(app, "responses"), REQUESTS);
    ck_assert_double_eq(world_value(app, "numbers"), REQUESTS);
    const double wrong = world_value(app, "wrong_guesses");
    if (version == 5) {
        // The upper half changes once; requests in flight at that time have guessed wrong, and no
        // others.
        ck_assert_double_ge(wrong, 7);
        ck_assert_double_le(wrong, 7 * 2 * 32);
    } else {
        ck_assert_double_eq(wrong, 0);
    }
    world_fini(&world);
}
END_TEST

START_TEST(a_client_that_waits_gets_them_in_order)
{
    static const char *const kinds[] = {"rpc; workers=3", "spec; workers=3", "fetch-add"};
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings),
             SPAN "server=host0; clients-on=host1|host2|host3; clients=7; requests=50; window=1; "
                  "version=%s",
             kinds[_i]);
    const app_t *const app = run(&world, true, "sequencer", settings);
    ck_assert_double_eq(world_value(app, "numbers"), 7 * 50);
    ck_assert_double_eq(world_value(app, "backward"), 0);
    world_fini(&world);
}
END_TEST

// The server's NIC sends a response in a microsecond, from the one queue pair of the only worker: 7
// clients have 224 requests in flight, and the queue holds 128.
START_TEST(workers_wait_when_their_queue_is_full)
{
    static const char *const kinds[] = {"version=rpc", "version=rpc; batch=off; collect=1"};
    static const char *const slow =
        "model=detailed; detailed.pu.send-fetched=1us; detailed.pu.send=1us";
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings), SPAN CLIENTS "workers=1; ports=1; qps-per-port=1; %s",
             kinds[_i]);
    const app_t *const app = run_on(&world, slow, "sequencer", settings);
    ck_assert_double_eq(world_value(app, "numbers"), REQUESTS);
    ck_assert_double_gt(world_value(app, "full_queue_waits"), 2);
    // The worker waits at most once for each 64 responses.
    ck_assert_double_le(world_value(app, "full_queue_waits"), REQUESTS / 64);
    world_fini(&world);
}
END_TEST

// One completion in 64 is signaled. A turn takes up to 128 requests, the signaled one among them.
START_TEST(a_turn_may_take_what_fills_the_queue)
{
    static const char *const kinds[] = {"version=rpc; cpu.request=100ns",
                                        "version=spec; cpu.count=1us",
                                        "version=spec; cpu.count=1us; batch=off"};
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings),
             SPAN "server=host0; clients-on=host1|host2|host3; clients=150; requests=20; window=4; "
                  "workers=1; ports=1; qps-per-port=1; collect=128; %s",
             kinds[_i]);
    const app_t *const app = run(&world, false, "sequencer", settings);
    ck_assert_double_eq(world_value(app, "numbers"), 150 * 20);
    world_fini(&world);
}
END_TEST

// Clients give up after less than a round trip and ask again, faster than their NIC sends.
START_TEST(impatient_clients_wait_for_room)
{
    static const char *const kinds[] = {"version=rpc", "version=spec"};
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings),
             "warm-up=0s; measure=2ms; server=host0; clients-on=host1; clients=9; timeout=1us; "
             "window=32; %s",
             kinds[_i]);
    const app_t *const app = run_on(&world,
                                    "model=detailed; detailed.pu.send-fetched=1us; "
                                    "detailed.pu.send=1us; detailed.pu.receive=1us",
                                    "sequencer", settings);
    ck_assert_double_gt(world_value(app, "lost"), 9 * 32);
    ck_assert_double_gt(world_value(app, "requests"), 9 * 32);
    world_fini(&world);
}
END_TEST

// Two kinds signal every answer of a NIC that is slower than its worker. In the third, answers wait
// for acknowledgements while clients, whose time-out is shorter than a round trip, ask again.
START_TEST(a_store_keeps_to_its_queues)
{
    static const char *const kinds[] = {
        "workers=1; ports=1; signal-all=on; postlist=16; timeout=100us",
        "workers=1; ports=1; signal-all=on; postlist=128; pipeline=2; timeout=100us",
        "workers=1; request=send-rc; answer=send-rc; timeout=1us; window=1; verify=off",
    };
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings),
             "warm-up=0s; measure=300us; server=host0; clients-on=host1|host2|host3; clients=48; "
             "window=32; keys=1000; %s",
             kinds[_i]);
    const app_t *const app = run_on(&world,
                                    _i == 2 ? "model=ideal"
                                            : "model=detailed; detailed.pu.send-fetched=1us; "
                                              "detailed.pu.send=1us",
                                    "herd", settings);
    ck_assert_double_gt(world_value(app, "responses"), 48);
    ck_assert_int_eq(world_value(app, "unsent_answers") > 0, _i == 2);
    world_fini(&world);
}
END_TEST

START_TEST(store_answers_every_request)
{
    world_t world;
    const app_t *const app =
        run(&world, _i % 2 != 0, "herd",
            _i < 2 ? SPAN CLIENTS "workers=3; update-percentage=20"
                   : SPAN CLIENTS "workers=3; update-percentage=20; batch=off");
    ck_assert_double_eq(world_value(app, "responses"), REQUESTS);
    ck_assert_double_eq(world_value(app, "gets") + world_value(app, "puts"), REQUESTS);
    // A fifth of 672 requests are PUTs, within five standard deviations.
    ck_assert_double_ge(world_value(app, "puts"), 134 - 52);
    ck_assert_double_le(world_value(app, "puts"), 134 + 52);
    world_fini(&world);
}
END_TEST

START_TEST(atomics_of_a_store_add_up)
{
    world_t world;
    const app_t *const app = run(&world, _i != 0, "drtm-kv",
                                 "warm-up=10us; measure=90us; server=host0; clients=6; "
                                 "clients-on=host1|host2|host3; items=50; put-percent=50; "
                                 "qps-per-client=2");
    ck_assert_double_gt(world_value(app, "atomics"), 100);
    ck_assert_double_eq(world_value(app, "words_sum"), world_value(app, "atomics"));
    ck_assert_double_gt(world_value(app, "gets_mops"), 0);
    ck_assert_double_gt(world_value(app, "puts_mops"), 0);
    world_fini(&world);
}
END_TEST

START_TEST(machines_that_cannot_be_are_refused)
{
    static const char *const kinds[] = {"sequencer", "herd", "drtm-kv"};
    static const char *const bad[] = {
        "server=host0; clients-on=host0",
        "server=host7; clients-on=host1",
        "server=host0; clients-on=host9",
    };
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=2");
    app_t *app = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t error = world_try_app(&world, kinds[_i / 3], bad[_i % 3], &app, &message);
    ck_assert_msg(error != SIM_OK, "%s was accepted", bad[_i % 3]);
    ck_assert_uint_gt(strlen(message.text), 10);
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(every_number_is_given_once, 0, 2 * (int)SIM_COUNT_OF(versions), 2),
           CHECK_LOOP(a_client_that_waits_gets_them_in_order, 0, 3),
           CHECK_LOOP(workers_wait_when_their_queue_is_full, 0, 2),
           CHECK_LOOP(a_turn_may_take_what_fills_the_queue, 0, 3),
           CHECK_LOOP(impatient_clients_wait_for_room, 0, 2),
           CHECK_LOOP(a_store_keeps_to_its_queues, 0, 3),
           CHECK_LOOP_FEW(store_answers_every_request, 0, 4, 1),
           CHECK_LOOP(atomics_of_a_store_add_up, 0, 2),
           CHECK_LOOP(machines_that_cannot_be_are_refused, 0, 9))
