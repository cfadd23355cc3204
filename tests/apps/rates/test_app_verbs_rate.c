// SPDX-License-Identifier: Apache-2.0
// Goal: verbs-rate posts what it says, of every verb and transport, and counts it once.
// Method: words in memory hold the number of increments; bytes and receives are those that the
// NICs' counters saw; a window is never exceeded, which four READs at a time show by their closed
// form; the detailed NIC's WQEs, completions and PCIe bytes are conserved.
// Does not pin: the rates of the detailed NIC, which the guidelines' table compares.
#include <math.h>
#include <string.h>

#include "tests/app_fixture.h"
#include "tests/check_main.h"

static app_t *run(world_t *world, bool detailed, const char *settings)
{
    world_init(world);
    if (detailed) {
        sim_message_t message;
        ck_assert_int_eq(world_set(&nic_config_attrs, &world->nic, "model=detailed", &message),
                         SIM_OK);
    }
    world->switch_config.pfc_priorities = 0xff;
    world_build(world, "star", "hosts=4; rate=100Gbps; delay=1us");
    app_t *const app = world_app(world, "verbs-rate", settings);
    world_run(world);
    ck_assert_int_eq(world->ended, SIM_ENDED_DONE);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert(nic_conserved(nic_of_interface(world->net, i)));
    }
    return app;
}

#define SPAN "threads-per-machine=2; receivers=2; warm-up=10us; measure=50us; "

START_TEST(increments_are_all_there)
{
    world_t world;
    const app_t *const app = run(&world, _i != 0,
                                 SPAN "verb=fetch-add; from=host1|host2|host3; to=host0; "
                                      "counters=5; window=8; signal-every=4; qps-per-thread=3");
    ck_assert_double_gt(world_value(app, "operations"), 100);
    ck_assert_double_eq(world_value(app, "counters_sum"), world_value(app, "operations"));
    world_fini(&world);
}
END_TEST

static const struct {
    const char *settings;
    uint32_t bytes;
    bool received;
} kinds[] = {
    {"verb=write; transport=rc; bytes=40", 40, false},
    {"verb=write; transport=uc; bytes=40; batch=4", 40, false},
    {"verb=read; transport=rc; bytes=24", 24, false},
    {"verb=send; transport=rc; bytes=16", 16, true},
    {"verb=send; transport=uc; bytes=16; inline=off", 16, true},
    {"verb=send; transport=ud; bytes=16; batch=8; receiver-qps=2", 16, true},
    {"verb=send; transport=ud; bytes=0; random-peer=off", 0, true},
};

START_TEST(bytes_and_receives_are_those_of_the_network)
{
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings),
             SPAN "from=host0; to=host1|host2; window=16; qps-per-thread=2; %s",
             kinds[_i].settings);
    const app_t *const app = run(&world, true, settings);
    const double operations = world_value(app, "operations");
    ck_assert_double_gt(operations, 100);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < 3; i++) {
        bytes += nic_get_counters(nic_of_interface(world.net, i))->rx_data_bytes;
    }
    const uint64_t sent = (uint64_t)operations * kinds[_i].bytes;
    if (!kinds[_i].received) {
        ck_assert_uint_eq(bytes, sent);
    } else {
        // A receiver stops counting at the end of the span; earlier messages are counted.
        ck_assert_uint_le(bytes, sent);
        ck_assert_double_gt(world_value(app, "received"), operations / 2);
        ck_assert_double_le(world_value(app, "received"), operations);
    }
    world_fini(&world);
}
END_TEST

// A READ of 128 bytes comes over PCIe in one completion if its address is a multiple of 128. At the
// other 127 of the 128 possible offsets it comes in two.
START_TEST(addresses_are_multiples_of_align)
{
    static const uint32_t aligns[] = {128, 64, 1};
    static const double extra[] = {0, 1.0 / 2, 127.0 / 128};
    for (size_t i = 0; i < SIM_COUNT_OF(aligns); i++) {
        world_t world;
        char settings[256];
        snprintf(settings, sizeof(settings),
                 "threads-per-machine=2; warm-up=10us; measure=300us; verb=read; bytes=128; "
                 "from=host1; to=host0; window=8; align=%u",
                 aligns[i]);
        const app_t *const app = run(&world, true, settings);
        const double operations = world_value(app, "operations");
        nic_rnic_counters_t counters;
        ck_assert(nic_get_rnic_counters(nic_of_interface(world.net, 0), &counters));
        // The rest are translations and the reads of two contexts: 64 bytes and a header each, for
        // each of two queue pairs.
        const double more = (double)counters.pcie_down_bytes / operations - (128 + 22);
        ck_assert_double_gt(operations, 300);
        ck_assert_double_ge(more, 22 * extra[i] - 1);
        ck_assert_double_lt(more, 22 * extra[i] + 3);
        world_fini(&world);
    }
}
END_TEST

START_TEST(a_window_is_never_exceeded)
{
    world_t world;
    const app_t *const app = run(&world, false,
                                 "verb=read; bytes=32; threads-per-machine=1; from=host0; "
                                 "to=host1; window=4; whole-window=on; warm-up=100us; "
                                 "measure=1ms");
    // Each post and the one poll take a turn of the core (1 ns). Then four READs follow one
    // another, as far apart as their turns.
    const double trip_us = 4 + 2 * ((74 + 24) * 80 + (94 + 24) * 80) * 1e-6;
    const double most = 4 / trip_us;
    const double found = world_value(app, "mops");
    ck_assert_msg(found <= most && found > 0.95 * most, "%f, expected about %f", found, most);
    world_fini(&world);
}
END_TEST

typedef struct arrived {
    const nic_t *nic;
    uint64_t bytes[2]; // at the begin and at the end of the span
    unsigned count;
} arrived_t;

static void note_arrived(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    (void)time_ps;
    arrived_t *const arrived = ctx;
    if (arrived->count < 2) {
        arrived->bytes[arrived->count++] = nic_get_counters(arrived->nic)->rx_data_bytes;
    }
}

static void lossy(const char *a, const char *b, net_link_config_t *config)
{
    (void)a;
    (void)b;
    config->loss_rate = (sim_ratio_t){1, 1000};
}

// There are 128 queue pairs, each with a few tens of operations within the span, and one operation
// in 64 is signaled.
START_TEST(operations_count_when_they_are_done_not_when_they_are_told)
{
    world_t world;
    world_init(&world);
    sim_message_t message;
    ck_assert_int_eq(world_set(&nic_config_attrs, &world.nic, "model=detailed", &message), SIM_OK);
    world.tweak_link = _i == 1 ? lossy : NULL;
    world.switch_config.pfc_priorities = 0xff;
    world_build(&world, "star", "hosts=4; rate=100Gbps; delay=1us");
    app_t *const app = world_app(&world, "verbs-rate",
                                 "verb=write; bytes=512; from=host0; to=host1; inline=off; "
                                 "threads-per-machine=2; qps-per-thread=64; window=128; "
                                 "warm-up=50us; measure=200us");
    arrived_t arrived = {.nic = nic_of_interface(world.net, 1)};
    sim_sample(world.sim, &((net_node_t *)nic_node(arrived.nic))->sim, 50 * SIM_PS_PER_US,
               200 * SIM_PS_PER_US, note_arrived, &arrived);
    world_run(&world);
    ck_assert_uint_eq(arrived.count, 2);
    const double mops = (double)(arrived.bytes[1] - arrived.bytes[0]) / 512 / 200;
    const double told = world_value(app, "mops");
    ck_assert_double_gt(mops, 5);
    ck_assert_msg(fabs(told / mops - 1) < 0.03, "%f M/s are told, %f arrived", told, mops);
    world_fini(&world);
}
END_TEST

START_TEST(what_does_not_exist_is_refused)
{
    static const char *const bad[] = {
        "to=host1; verb=read; transport=uc",
        "to=host1; verb=write; transport=ud",
        "to=host0",
        "to=host1; window=8; batch=9",
        "to=host1; window=8; whole-window=on; batch=3",
        "to=host9",
    };
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=2");
    app_t *app = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t error = world_try_app(&world, "verbs-rate", bad[_i], &app, &message);
    ck_assert_msg(error != SIM_OK, "%s was accepted", bad[_i]);
    ck_assert_uint_gt(strlen(message.text), 10);
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(increments_are_all_there, 0, 2),
           CHECK_LOOP(bytes_and_receives_are_those_of_the_network, 0, (int)SIM_COUNT_OF(kinds)),
           CHECK_TEST(addresses_are_multiples_of_align), CHECK_TEST(a_window_is_never_exceeded),
           CHECK_LOOP(operations_count_when_they_are_done_not_when_they_are_told, 0, 2),
           CHECK_LOOP(what_does_not_exist_is_refused, 0, 6))
