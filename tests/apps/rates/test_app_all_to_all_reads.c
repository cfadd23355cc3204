// SPDX-License-Identifier: Apache-2.0
// Goal: all-to-all-reads reads from everywhere, keeps its window, and counts what it measures.
// Method: with the ideal NIC the rate of a window of one is that of round trips, a closed form; the
// operations are those that the NICs' counters saw.
// Does not pin: the rates of the detailed NIC, which the guidelines' table compares.
#include <math.h>
#include <string.h>

#include "tests/app_fixture.h"
#include "tests/check_main.h"

static app_t *run(world_t *world, const char *hosts, const char *settings)
{
    world_init(world);
    world_build(world, "star", hosts);
    app_t *const app = world_app(world, "all-to-all-reads", settings);
    world_run(world);
    ck_assert_int_eq(world->ended, SIM_ENDED_DONE);
    return app;
}

START_TEST(rate_of_one_read_at_a_time_is_a_round_trip)
{
    world_t world;
    const app_t *const app = run(&world, "hosts=3; rate=100Gbps; delay=1us",
                                 "threads-per-machine=1; window-per-thread=1; read-bytes=32; "
                                 "warm-up=100us; measure=1ms");
    // Request and answer have 58 + 16 and 58 + 4 + 32 bytes with 24 more on the link, at 80 ps a
    // byte, on two links each. The core's turn takes 1 ns.
    const double trip_us = 4 + 2 * ((74 + 24) * 80 + (94 + 24) * 80) * 1e-6;
    const double found = world_value(app, "mops_per_machine");
    ck_assert_msg(fabs(found * trip_us - 1) < 0.01, "%f, expected %f", found, 1 / trip_us);
    world_fini(&world);
}
END_TEST

START_TEST(operations_are_those_of_the_network)
{
    world_t world;
    const app_t *const app = run(&world, "hosts=4; rate=100Gbps; delay=1us",
                                 "threads-per-machine=2; qps-per-machine=24; window-per-thread=8; "
                                 "read-bytes=64; warm-up=10us; measure=100us");
    uint64_t read_bytes = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const nic_t *const nic = nic_of_interface(world.net, i);
        read_bytes += nic_get_counters(nic)->rx_data_bytes;
        // Each machine is read from by all the others: its part is about a quarter.
        ck_assert_msg(nic_get_counters(nic)->rx_data_bytes > 0, "machine %u read nothing", i);
    }
    const double operations = world_value(app, "operations");
    // READs that were in flight when the threads stopped are in the network's number alone.
    ck_assert_double_ge((double)read_bytes / 64, operations);
    ck_assert_double_le((double)read_bytes / 64, operations + 4 * 2 * 8);
    ck_assert_double_ge(operations, world_value(app, "mops_per_machine") * 4 * 100);
    ck_assert_double_le(world_value(app, "mops_min"), world_value(app, "mops_max"));
    world_fini(&world);
}
END_TEST

START_TEST(odd_ends_are_refused)
{
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=3");
    app_t *app = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t odd = world_try_app(&world, "all-to-all-reads",
                                        "threads-per-machine=1; qps-per-machine=4", &app, &message);
    ck_assert_int_eq(odd, SIM_ERR_RANGE);
    const sim_err_t few = world_try_app(&world, "all-to-all-reads",
                                        "threads-per-machine=9; qps-per-machine=3", &app, &message);
    ck_assert_int_eq(few, SIM_ERR_RANGE);
    ck_assert_ptr_nonnull(strstr(message.text, "qps-per-machine"));
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_TEST(rate_of_one_read_at_a_time_is_a_round_trip),
           CHECK_TEST(operations_are_those_of_the_network), CHECK_TEST(odd_ends_are_refused))
