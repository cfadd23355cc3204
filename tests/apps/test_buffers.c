// SPDX-License-Identifier: Apache-2.0
// Goal: transfers use memory that was registered for them: each NIC has a region for the buffers of
// an application's queue pairs, and nothing beyond.
// Method: an incast and a permutation on three hosts; keys and bounds are asked of the NICs by the
// rules that requests are checked by.
// Does not pin: the addresses themselves.
#include "apps/endpoints.h"
#include "nic/objects/region.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define BUFFER_BYTES (UINT64_C(1) << 31)
#define BOTH (NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ | NIC_ACCESS_LOCAL_WRITE)

static bool may_use(const app__endpoint_t *endpoint, uint32_t key, uint64_t address, uint64_t bytes)
{
    return nic__access_ok(endpoint->pd, key, address, bytes, BOTH);
}

START_TEST(buffers_are_registered_and_nothing_else)
{
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=3; rate=100Gbps");
    app_t *const incast = world_app(&world, "incast", "to=host0; senders=2; bytes=100KB");
    (void)world_app(&world, "permutation", "bytes=50KB");
    // Host 0 receives two flows, then sends one and receives one: it has two regions, one of each
    // kind.
    const app__endpoint_t *const endpoint = app__endpoint_of(world.runtime, 0);
    ck_assert_uint_eq(endpoint->range_count, 2);
    const uint32_t first = app__qp_number(0);
    const uint32_t keys[2] = {app__buffer_key(endpoint, first),
                              app__buffer_key(endpoint, first + 2)};
    ck_assert_uint_ne(keys[0], keys[1]);
    ck_assert_uint_eq(app__buffer_key(endpoint, first + 1), keys[0]);
    ck_assert_uint_eq(app__buffer_key(endpoint, first + 3), keys[1]);
    const uint64_t address = app__address_of_qp(first);
    ck_assert(may_use(endpoint, keys[0], address, 2 * BUFFER_BYTES));
    ck_assert(!may_use(endpoint, keys[0], address - 1, 1));
    ck_assert(!may_use(endpoint, keys[0], address, 2 * BUFFER_BYTES + 1));
    ck_assert(!may_use(endpoint, keys[0] ^ 1, address, 1));
    ck_assert(may_use(endpoint, keys[1], address + 2 * BUFFER_BYTES, 2 * BUFFER_BYTES));
    ck_assert(!may_use(endpoint, keys[1], address + 2 * BUFFER_BYTES - 1, 1));
    world_run(&world);
    world_flows(&world, incast);
    ck_assert_uint_eq(world.flow_count, 2);
    world_fini(&world);
}
END_TEST

START_TEST(a_number_nobody_reserved_has_no_buffer)
{
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=3; rate=100Gbps");
    (void)world_app(&world, "incast", "to=host0; senders=2; bytes=100KB");
    (void)app__buffer_key(app__endpoint_of(world.runtime, 0), app__qp_number(2));
}
END_TEST

CHECK_MAIN(CHECK_TEST(buffers_are_registered_and_nothing_else),
           CHECK_SIGNAL(a_number_nobody_reserved_has_no_buffer, SIGABRT))
