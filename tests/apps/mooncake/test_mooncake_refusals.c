// SPDX-License-Identifier: Apache-2.0
// Goal: each call of apps/mooncake.h refuses what it must, and what was refused changes nothing.
// Method: wrong numbers, sizes, places and names; calls of an engine that is closed.
// Not pinned: which negative number it is.
#include "tests/mooncake_bed.h"

START_TEST(batches_refuse)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    app_mooncake_t *const engine = bed.engines[0];
    const app_mooncake_request_t entries[3] = {
        {APP_MOONCAKE_WRITE, BASE, 0, BASE + 65536, 64},
        {APP_MOONCAKE_WRITE, BASE, 0, BASE + 65536, 64},
        {APP_MOONCAKE_WRITE, BASE, 0, BASE + 65536, 64},
    };
    app_mooncake_status_t status[3];
    bool freed = true;
    ck_assert_int_lt(app_mooncake_allocate_batch_id(engine, 0), 0);
    ck_assert_int_lt(app_mooncake_allocate_batch_id(engine, (1 << 20) + 1), 0);
    const app_mooncake_batch_id_t batch = app_mooncake_allocate_batch_id(engine, 2);
    ck_assert_int_ge(batch, 0);
    ck_assert_int_lt(app_mooncake_submit_transfer(engine, batch, entries, 3), 0);
    ck_assert_int_eq(app_mooncake_get_transfer_status(engine, batch, status, 3), 0);
    ck_assert_int_eq(app_mooncake_submit_transfer(engine, batch, entries, 1), 0);
    ck_assert_int_lt(app_mooncake_submit_transfer(engine, batch, entries, 2), 0);
    ck_assert_int_eq(app_mooncake_submit_transfer(engine, batch, entries, 1), 0);
    ck_assert_int_eq(app_mooncake_get_transfer_status(engine, batch, status, 3), 2);
    ck_assert_int_lt(app_mooncake_submit_transfer(engine, batch + 1, entries, 1), 0);
    ck_assert_int_lt(app_mooncake_submit_transfer(engine, -1, entries, 1), 0);
    ck_assert_int_lt(app_mooncake_get_transfer_status(engine, batch + 1, status, 3), 0);
    ck_assert_int_lt(app_mooncake_cancel_transfer(engine, batch + 1, 0), 0);
    ck_assert_int_lt(app_mooncake_on_batch(engine, batch + 1, on_done, NULL), 0);
    ck_assert_int_lt(app_mooncake_free_batch_id(engine, batch), 0);
    ck_assert_int_lt(app_mooncake_free_batch_id(engine, -7), 0);
    ck_assert_int_lt(app_mooncake_submit(engine, entries, 0), 0);
    world_run(&bed.world);
    ck_assert_int_eq(app_mooncake_get_status(engine, batch, status, 3, &freed), 2);
    ck_assert(freed);
    ck_assert_int_eq(status[1].s, APP_MOONCAKE_COMPLETED);
    ck_assert_int_lt(app_mooncake_get_status(engine, batch, status, 3, &freed), 0);
    ck_assert(!freed);
    bed_end(&bed);
}
END_TEST

START_TEST(registrations_refuse)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    app_mooncake_t *const engine = bed.engines[0];
    const uint64_t after = BASE + BUFFER_BYTES;
    ck_assert_int_lt(app_mooncake_register_local_memory(engine, after, 0, "cpu:0", 3, NULL, NULL),
                     0);
    ck_assert_int_lt(app_mooncake_register_local_memory(engine, after, 64, "cpu:9", 3, NULL, NULL),
                     0);
    ck_assert_int_lt(
        app_mooncake_register_local_memory(engine, after - 1, 64, "cpu:0", 3, NULL, NULL), 0);
    ck_assert_int_lt(
        app_mooncake_register_local_memory(engine, UINT64_MAX, 64, "cpu:0", 3, NULL, NULL), 0);
    ck_assert_int_lt(app_mooncake_register_local_memory(engine, after, 64, "cpu:0", 4, NULL, NULL),
                     0);
    ck_assert_int_eq(app_mooncake_register_local_memory(engine, after, 64, "cuda:0", 3, NULL, NULL),
                     0);
    ck_assert_int_lt(app_mooncake_unregister_local_memory(engine, after + 1, NULL, NULL), 0);
    ck_assert_int_eq(app_mooncake_unregister_local_memory(engine, after, NULL, NULL), 0);
    const app_mooncake_drive_config_t drive = {4, 10 * US, UINT64_C(50000000000), 0, 0};
    const app_mooncake_drive_config_t none = {0, 10 * US, UINT64_C(50000000000), 0, 0};
    ck_assert_int_lt(app_mooncake_serve_file(engine, "f", 0, &drive, NULL, NULL), 0);
    ck_assert_int_lt(app_mooncake_serve_file(engine, "f", 4096, &none, NULL, NULL), 0);
    ck_assert_int_eq(app_mooncake_serve_file(engine, "f", 4096, &drive, NULL, NULL), 0);
    ck_assert_int_lt(app_mooncake_serve_file(engine, "f", 4096, &drive, NULL, NULL), 0);
    world_run(&bed.world);
    bed_end(&bed);
}
END_TEST

static const struct {
    const char *host;
    const char *name;
    const char *matrix;
    const char *message;
} bad_engines[] = {
    {"host0", "node0", MATRIX, "two engines of the cluster have the name 'node0'"},
    {"host0", "n", "{", "priority matrix:1:"},
    {"host0", "n", "[]", "expected an object"},
    {"host0", "n", "{}", "names no location"},
    {"host0", "n", "{\"cpu:0\": []}", "expected one or two lists"},
    {"host0", "n", "{\"cpu:0\": [[], []]}", "names no NIC for location 'cpu:0'"},
    {"host0", "n", "{\"cpu:0\": [[3]]}", "names of NICs"},
    {"host0", "n", "{\"cpu:0\": [[\"mlx5_2\"]]}",
     "expected a name that ends with a number from 0 to 1"},
    {"host0", "n", "{\"cpu:0\": [[\"eth\"]]}", "expected a name that ends"},
    {"host0", "n", "{\"cpu:0\": [[\"a0\"], [\"b0\"]]}", "gives one NIC the names 'a0' and 'b0'"},
};

START_TEST(constructors_refuse)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    for (size_t i = 0; i < SIM_COUNT_OF(bad_engines); i++) {
        app_mooncake_t *engine = NULL;
        sim_message_t message = {.text = ""};
        ck_assert_int_ne(app_mooncake_create(bed.cluster,
                                             net_node_find(bed.world.net, bad_engines[i].host),
                                             bad_engines[i].name, bad_engines[i].matrix,
                                             &bed.config, &engine, &message),
                         SIM_OK);
        ck_assert_msg(strstr(message.text, bad_engines[i].message) != NULL, "%s", message.text);
    }
    world_run(&bed.world);
    bed_end(&bed);
}
END_TEST

START_TEST(clusters_refuse)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    net_node_t *hosts[2] = {app_mooncake_host(bed.engines[0]), app_mooncake_host(bed.engines[0])};
    app_mooncake_plan_t plan = {
        .net = bed.world.net,
        .runtime = bed.world.runtime,
        .index = 1,
        .hosts = hosts,
        .host_count = 2,
        .metadata_host = hosts[0],
        .codec = &world_mooncake_codec,
    };
    app_mooncake_cluster_t *cluster = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(app_mooncake_cluster_create(&plan, &cluster, &message), SIM_ERR_INVALID);
    ck_assert_msg(strstr(message.text, "twice") != NULL, "%s", message.text);
    hosts[1] = app_mooncake_host(bed.engines[1]);
    plan.metadata_host = net_node_find(bed.world.net, "host2");
    message.text[0] = '\0';
    ck_assert_int_eq(app_mooncake_cluster_create(&plan, &cluster, &message), SIM_ERR_INVALID);
    ck_assert_str_ne(message.text, "");
    world_run(&bed.world);
    bed_end(&bed);
}
END_TEST

static void not_opened(app_mooncake_segment_id_t id, void *ctx)
{
    ck_assert_int_lt(id, 0);
    ++*(unsigned *)ctx;
}

static void close_and_call(program_t *program)
{
    app_mooncake_t *const engine = program->engine;
    const app_mooncake_drive_config_t drive = {4, 10 * US, UINT64_C(50000000000), 0, 0};
    const app_mooncake_batch_id_t batch = app_mooncake_allocate_batch_id(engine, 1);
    ck_assert_int_eq(app_mooncake_submit_transfer(engine, batch, program->requests, 1), 0);
    app_mooncake_close(engine);
    app_mooncake_close(engine);
    ck_assert_int_eq(app_mooncake_get_transfer_status(engine, batch, program->status, 4), 1);
    expect_status(program, 0, APP_MOONCAKE_CANCELED);
    ck_assert_int_lt(app_mooncake_allocate_batch_id(engine, 1), 0);
    ck_assert_int_lt(app_mooncake_submit_transfer(engine, batch, program->requests, 1), 0);
    ck_assert_int_lt(app_mooncake_submit(engine, program->requests, 1), 0);
    ck_assert_int_lt(app_mooncake_cancel_transfer(engine, batch, 0), 0);
    ck_assert_int_lt(
        app_mooncake_register_local_memory(engine, UINT64_C(1) << 50, 64, "cpu:0", 3, NULL, NULL),
        0);
    ck_assert_int_lt(app_mooncake_unregister_local_memory(engine, BASE, NULL, NULL), 0);
    ck_assert_int_lt(app_mooncake_serve_file(engine, "f", 4096, &drive, NULL, NULL), 0);
    ck_assert_int_lt(app_mooncake_disconnect(engine, 0, "node1@mlx5_0"), 0);
    app_mooncake_get_segment_id(engine, "node1", not_opened, program->extra);
}

START_TEST(a_closed_engine_refuses)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    unsigned refused = 0;
    program_t program = {.extra = &refused};
    one_request(&program, APP_MOONCAKE_WRITE, 1 << 20);
    program.requests[0].target_offset = BASE + (1 << 21);
    program_at(&program, &bed, 0, 5 * MS, close_and_call);
    world_run(&bed.world);
    ck_assert_uint_eq(refused, 1);
    ck_assert_uint_eq(app_mooncake_get_counters(bed.engines[0])->canceled, 1);
    bed_end(&bed);
}
END_TEST

CHECK_MAIN(CHECK_TEST(batches_refuse), CHECK_TEST(registrations_refuse),
           CHECK_TEST(constructors_refuse), CHECK_TEST(clusters_refuse),
           CHECK_TEST(a_closed_engine_refuses))
