// SPDX-License-Identifier: Apache-2.0
// Goal: the calls about descriptions, metadata clients and connections do what the engine's
// document says, with its return values; a connection that failed is set up again by the same call.
// Method: the three hosts of mooncake_bed.h; a metadata client of the test's own; a link that goes
// down and comes back.
// Not pinned: which negative number a refusal is.
#include "tests/mooncake_bed.h"

// -- descriptions

typedef struct asked {
    program_t program;
    int results[8];
    unsigned count;
    char name[32]; // of the last description
    size_t buffers;
    size_t lkeys;
} asked_t;

static void on_result(int result, void *ctx)
{
    asked_t *const asked = ctx;
    asked->results[asked->count++] = result;
}

static void on_desc(int result, const app_mooncake_segment_desc_t *desc, void *ctx)
{
    asked_t *const asked = ctx;
    ck_assert_int_eq(desc == NULL, result != 0);
    asked->results[asked->count++] = result;
    if (desc != NULL) {
        snprintf(asked->name, sizeof(asked->name), "%s", desc->name);
        asked->buffers = desc->buffer_count;
        asked->lkeys = desc->buffer_count > 0 ? desc->buffers[0].lkey_count : 0;
    }
}

static void write_read_remove(program_t *program)
{
    asked_t *const asked = SIM_CONTAINER_OF(program, asked_t, program);
    app_mooncake_t *const engine = program->engine;
    app_mooncake_segment_desc_t *const desc = app_mooncake_local_segment_desc(engine);
    ck_assert_str_eq(desc->name, "node0");
    ck_assert_uint_eq(desc->buffer_count, 1);
    ck_assert_uint_eq(desc->buffers[0].lkey_count, desc->device_count);
    ck_assert_uint_eq(desc->buffers[0].rkey_count, desc->device_count);
    for (size_t i = 0; i < desc->device_count; i++) {
        ck_assert_uint_ne(desc->buffers[0].lkeys[i], 0);
    }
    sim_free(desc->name);
    desc->name = sim_strdup("elsewhere");
    ck_assert_int_lt(app_mooncake_update_segment_desc(engine, "", desc, on_result, asked), 0);
    ck_assert_int_lt(app_mooncake_get_segment_desc(engine, "", on_desc, asked), 0);
    ck_assert_int_lt(app_mooncake_remove_segment_desc(engine, "", on_result, asked), 0);
    desc->buffers[0].rkey_count--;
    ck_assert_int_lt(app_mooncake_update_segment_desc(engine, "elsewhere", desc, on_result, asked),
                     0);
    desc->buffers[0].rkey_count++;
    ck_assert_int_eq(app_mooncake_get_segment_desc(engine, "elsewhere", on_desc, asked), 0);
    ck_assert_int_eq(app_mooncake_update_segment_desc(engine, "elsewhere", desc, on_result, asked),
                     0);
    ck_assert_int_eq(app_mooncake_update_segment_desc(engine, "elsewhere", desc, NULL, NULL), 0);
    ck_assert_int_eq(app_mooncake_get_segment_desc(engine, "elsewhere", on_desc, asked), 0);
    ck_assert_int_eq(app_mooncake_remove_segment_desc(engine, "elsewhere", on_result, asked), 0);
    ck_assert_int_eq(app_mooncake_remove_segment_desc(engine, "elsewhere", on_result, asked), 0);
    ck_assert_int_eq(app_mooncake_get_segment_desc(engine, "node1", on_desc, asked), 0);
    ck_assert_uint_eq(asked->count, 0); // each takes a round trip
    app_mooncake_segment_desc_destroy(desc);
}

START_TEST(descriptions_are_written_read_and_removed)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    asked_t asked = {.count = 0};
    program_at(&asked.program, &bed, 0, MS, write_read_remove);
    world_run(&bed.world);
    ck_assert_uint_eq(asked.count, 6);
    ck_assert_int_lt(asked.results[0], 0); // nobody had written it
    ck_assert_int_eq(asked.results[1], 0);
    ck_assert_int_eq(asked.results[2], 0);
    ck_assert_int_eq(asked.results[3], 0);
    ck_assert_int_lt(asked.results[4], 0); // it was removed before
    ck_assert_int_eq(asked.results[5], 0);
    ck_assert_str_eq(asked.name, "node1");
    ck_assert_uint_eq(asked.buffers, 1);
    ck_assert_uint_eq(asked.lkeys, 0); // records have none
    app_mooncake_close(bed.engines[0]);
    ck_assert_int_lt(app_mooncake_get_segment_desc(bed.engines[0], "node1", on_desc, &asked), 0);
    bed_end(&bed);
}
END_TEST

// -- metadata clients

typedef struct client {
    app_mooncake_metadata_client_t node;
    bool refuses;
    unsigned puts;
    unsigned gets;
    unsigned removes;
} client_t;

static int client_put(void *ctx, const char *key, const char *value, size_t size,
                      app_mooncake_value_fn fn, void *fn_ctx)
{
    client_t *const client = ctx;
    client->puts++;
    return client->refuses ? -1
                           : client->node.put(client->node.client, key, value, size, fn, fn_ctx);
}

static int client_get(void *ctx, const char *key, app_mooncake_value_fn fn, void *fn_ctx)
{
    client_t *const client = ctx;
    client->gets++;
    return client->refuses ? -1 : client->node.get(client->node.client, key, fn, fn_ctx);
}

static int client_remove(void *ctx, const char *key, app_mooncake_value_fn fn, void *fn_ctx)
{
    client_t *const client = ctx;
    client->removes++;
    return client->refuses ? -1 : client->node.remove(client->node.client, key, fn, fn_ctx);
}

static void close_first(program_t *program)
{
    app_mooncake_close(program->engine);
}

// A program's own client carries all requests of its engine; what it refuses fails.
START_TEST(a_client_of_the_program)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    client_t client = {.node = app_mooncake_metadata_client(bed.engines[0]), .refuses = _i == 1};
    const app_mooncake_metadata_client_t own = {client_put, client_get, client_remove, &client};
    app_mooncake_set_metadata_client(bed.engines[0], &own);
    program_t program = {.peer = 55};
    program_t closer = {0};
    one_request(&program, APP_MOONCAKE_WRITE, 4096);
    program_at(&program, &bed, 0, MS, open_peer);
    program_at(&closer, &bed, 0, 40 * MS, close_first);
    world_run(&bed.world);
    ck_assert_uint_ge(client.puts, 1);
    ck_assert_uint_eq(client.gets, 1);
    ck_assert_uint_eq(client.removes, 1);
    ck_assert_uint_eq(program.done, _i == 0);
    ck_assert_int_eq(program.peer < 0, _i == 1);
    ck_assert_uint_eq(app_mooncake_get_counters(bed.engines[0])->metadata_failures,
                      _i == 0 ? 0 : 3);
    bed_end(&bed);
}
END_TEST

// -- records that a run begins with

typedef struct changed {
    unsigned count;
    char text[4][64];
} changed_t;

static void see(const char *key, const char *value, size_t size, app_mooncake_change_t change,
                void *ctx)
{
    changed_t *const changed = ctx;
    snprintf(changed->text[changed->count++], 64, "%s %d %.*s", key, change,
             size < 9 ? (int)size : 9, value);
}

static void remove_both(program_t *program)
{
    ck_assert_int_eq(app_mooncake_remove_segment_desc(program->engine, "old", NULL, NULL), 0);
    ck_assert_int_eq(app_mooncake_remove_segment_desc(program->engine, "node1", NULL, NULL), 0);
}

START_TEST(imported_records_and_what_became_of_them)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    app_mooncake_import_record(bed.cluster, "mooncake/zzz", "{}", 2);
    app_mooncake_import_record(bed.cluster, "mooncake/old", "{1}", 3);
    app_mooncake_import_record(bed.cluster, "mooncake/node0", "stale", 5);
    program_t program = {0};
    program_at(&program, &bed, 0, 5 * MS, remove_both);
    world_run(&bed.world);
    changed_t changed = {.count = 0};
    app_mooncake_changes(bed.cluster, see, &changed);
    ck_assert_uint_eq(changed.count, 3);
    ck_assert_str_eq(changed.text[0], "mooncake/node0 1 {\"name\":\"");
    ck_assert_str_eq(changed.text[1], "mooncake/zzz 0 {}");
    ck_assert_str_eq(changed.text[2], "mooncake/old 2 {1}");
    bed_end(&bed);
}
END_TEST

// -- connections

typedef struct linked {
    program_t program;
    int results[8];
    sim_time_t times_ps[8];
    unsigned count;
    app_mooncake_endpoint_state_t state;
    unsigned step;
} linked_t;

static void on_linked(int result, void *ctx)
{
    linked_t *const linked = ctx;
    linked->times_ps[linked->count] = linked->program.node->now_ps;
    linked->results[linked->count++] = result;
}

static int link_up(linked_t *linked, uint32_t nic, const char *path)
{
    return app_mooncake_setup_connections_by_active(linked->program.engine, nic, path, on_linked,
                                                    linked);
}

static void set_up(program_t *program)
{
    linked_t *const linked = SIM_CONTAINER_OF(program, linked_t, program);
    app_mooncake_endpoint_state_t state = APP_MOONCAKE_CONNECTED;
    ck_assert_int_lt(link_up(linked, 9, "node1@mlx5_0"), 0);
    ck_assert_int_lt(link_up(linked, 0, "node1"), 0);
    ck_assert_int_lt(link_up(linked, 0, "@mlx5_0"), 0);
    ck_assert_int_lt(link_up(linked, 0, "node1@eth"), 0);
    ck_assert(!app_mooncake_endpoint_state(program->engine, 0, "node1@mlx5_0", &state));
    ck_assert_int_eq(link_up(linked, 0, "node1@mlx5_0"), 0);
    ck_assert(app_mooncake_endpoint_state(program->engine, 0, "node1@mlx5_0", &state));
    ck_assert_int_eq(state, APP_MOONCAKE_INITIALIZING);
    ck_assert_int_eq(link_up(linked, 0, "node9@mlx5_0"), 0); // refused by the network, later
    ck_assert_uint_eq(linked->count, 0);
}

// Connections are made without a transfer; one that is there is told at once; one to nobody fails.
START_TEST(connections_without_a_transfer)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    linked_t linked = {.count = 0};
    program_at(&linked.program, &bed, 0, MS, set_up);
    world_run(&bed.world);
    ck_assert_uint_eq(linked.count, 2);
    ck_assert_int_eq((linked.results[0] == 0) + (linked.results[1] == 0), 1);
    ck_assert_int_eq((linked.results[0] < 0) + (linked.results[1] < 0), 1);
    for (unsigned i = 0; i < 2; i++) {
        app_mooncake_endpoint_state_t state = APP_MOONCAKE_INITIALIZING;
        ck_assert(app_mooncake_endpoint_state(bed.engines[i], 0,
                                              i == 0 ? "node1@mlx5_0" : "node0@mlx5_0", &state));
        ck_assert_int_eq(state, APP_MOONCAKE_CONNECTED);
        ck_assert_uint_eq(app_mooncake_get_counters(bed.engines[i])->slices, 0);
    }
    ck_assert_int_eq(link_up(&linked, 0, "node1@mlx5_0"), 0);
    ck_assert_uint_eq(linked.count, 3);
    ck_assert_int_eq(linked.results[2], 0);
    app_mooncake_close(bed.engines[0]);
    ck_assert_int_lt(link_up(&linked, 0, "node1@mlx5_0"), 0);
    bed_end(&bed);
}
END_TEST

static void try_again(program_t *program)
{
    linked_t *const linked = SIM_CONTAINER_OF(program, linked_t, program);
    app_mooncake_endpoint_state_t state = APP_MOONCAKE_INITIALIZING;
    switch (linked->step++) {
    case 0: // everything is well
        ck_assert_int_eq(link_up(linked, 0, "node1@mlx5_0"), 0);
        sim_timer_arm(program->node, &program->timer, 10 * MS);
        break;
    case 1: // the link is down: a transfer finds out
        program->requests[0].target_id = program->peer;
        program->batch = app_mooncake_submit(program->engine, program->requests, 1);
        app_mooncake_on_batch(program->engine, program->batch, on_done, program);
        sim_timer_arm(program->node, &program->timer, 40 * MS);
        break;
    default: // it is up again
        ck_assert(app_mooncake_endpoint_state(program->engine, 0, "node1@mlx5_0", &state));
        ck_assert_int_eq(state, APP_MOONCAKE_UNCONNECTED);
        ck_assert_int_eq(link_up(linked, 0, "node1@mlx5_0"), 0);
        break;
    }
}

static void opened_then_set_up(app_mooncake_segment_id_t id, void *ctx)
{
    program_t *const program = ctx;
    program->peer = id;
    try_again(program);
}

static void open_then_set_up(program_t *program)
{
    program->act = try_again;
    app_mooncake_get_segment_id(program->engine, "node1", opened_then_set_up, program);
}

START_TEST(a_connection_that_failed_is_set_up_again)
{
    bed_t bed;
    bed_begin(&bed);
    bed.down_ps = 5 * MS;
    bed.up_ps = 30 * MS;
    bed_build(&bed);
    linked_t linked = {.count = 0};
    one_request(&linked.program, APP_MOONCAKE_WRITE, 65536);
    program_at(&linked.program, &bed, 0, MS, open_then_set_up);
    world_run(&bed.world);
    ck_assert_uint_eq(linked.program.done, 1);
    expect_status(&linked.program, 0, APP_MOONCAKE_COMPLETED); // over the other NIC
    ck_assert_uint_eq(linked.count, 2);
    ck_assert_int_eq(linked.results[0], 0);
    ck_assert_int_eq(linked.results[1], 0);
    ck_assert_uint_gt(linked.times_ps[1], 40 * MS);
    app_mooncake_endpoint_state_t state = APP_MOONCAKE_INITIALIZING;
    ck_assert(app_mooncake_endpoint_state(bed.engines[0], 0, "node1@mlx5_0", &state));
    ck_assert_int_eq(state, APP_MOONCAKE_CONNECTED);
    bed_end(&bed);
}
END_TEST

// The passive side: a description of a peer's queue pairs connects the own ones, whose numbers the
// answer has.
START_TEST(connections_that_a_peer_asks_for)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    uint32_t numbers[] = {1000, 1001, 1002};
    char peer_path[] = "node0@mlx5_1";
    char own_path[] = "node1@mlx5_0";
    char nobody[] = "node9@mlx5_0";
    app_mooncake_handshake_desc_t peer = {peer_path, own_path, numbers, 2, 1024};
    app_mooncake_handshake_desc_t local = {0};
    app_mooncake_t *const engine = bed.engines[1];
    app_mooncake_endpoint_state_t state = APP_MOONCAKE_INITIALIZING;
    peer.qp_count = 3;
    ck_assert_int_lt(app_mooncake_on_setup_rdma_connections(engine, &peer, &local), 0);
    peer.qp_count = 2;
    peer.local_nic_path = nobody;
    ck_assert_int_lt(app_mooncake_on_setup_rdma_connections(engine, &peer, &local), 0);
    peer.local_nic_path = own_path;
    ck_assert_int_lt(app_mooncake_on_setup_rdma_connections(engine, &peer, &local), 0);
    peer.local_nic_path = peer_path;
    peer.peer_nic_path = nobody;
    ck_assert_int_lt(app_mooncake_on_setup_rdma_connections(engine, &peer, &local), 0);
    ck_assert_int_lt(app_mooncake_setup_connections_by_passive(engine, 9, &peer, &local), 0);
    peer.peer_nic_path = own_path;
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(i == 0
                             ? app_mooncake_on_setup_rdma_connections(engine, &peer, &local)
                             : app_mooncake_setup_connections_by_passive(engine, 0, &peer, &local),
                         0);
        ck_assert_str_eq(local.local_nic_path, own_path);
        ck_assert_str_eq(local.peer_nic_path, peer_path);
        ck_assert_uint_eq(local.qp_count, 2);
        ck_assert_uint_ne(local.qp_nums[0], local.qp_nums[1]);
        ck_assert_uint_eq(local.mtu, 4096);
        app_mooncake_handshake_desc_fini(&local);
        ck_assert(app_mooncake_endpoint_state(engine, 0, peer_path, &state));
        ck_assert_int_eq(state, APP_MOONCAKE_CONNECTED);
    }
    ck_assert_int_eq(app_mooncake_disconnect(engine, 0, peer_path), 0);
    ck_assert(app_mooncake_endpoint_state(engine, 0, peer_path, &state));
    ck_assert_int_eq(state, APP_MOONCAKE_UNCONNECTED);
    bed_end(&bed);
}
END_TEST

CHECK_MAIN(CHECK_TEST(descriptions_are_written_read_and_removed),
           CHECK_LOOP(a_client_of_the_program, 0, 2),
           CHECK_TEST(imported_records_and_what_became_of_them),
           CHECK_TEST(connections_without_a_transfer),
           CHECK_TEST(a_connection_that_failed_is_set_up_again),
           CHECK_TEST(connections_that_a_peer_asks_for))
