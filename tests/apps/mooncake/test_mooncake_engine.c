// SPDX-License-Identifier: Apache-2.0
// Goal: every call of apps/mooncake.h does what it says; transfers end with the right status
// whatever fails; what arrived is what was sent. What calls refuse: test_mooncake_refusals.c.
// Method: three hosts on a switch, the third keeps the metadata. Real bytes, written here before
// and compared here afterwards; links that go down; peers that crash; a metadata node that is away.
// Not pinned: how long things take (docs/models/mooncake.md says).
#include "tests/mooncake_bed.h"

START_TEST(bytes_arrive_both_ways)
{
    static const uint64_t lengths[] = {8, 4096, 65536, 65536 + 16376, 65536 + 16384, 1000000};
    for (size_t i = 0; i < SIM_COUNT_OF(lengths); i++) {
        bed_t bed;
        bed_begin(&bed);
        bed_build(&bed);
        program_t program = {0};
        const bool reads = _i == 1;
        one_request(&program, reads ? APP_MOONCAKE_READ : APP_MOONCAKE_WRITE, lengths[i]);
        write_pattern(&bed, 0, BASE + 65536 - 64, 1000000 + 128);
        write_pattern(&bed, 1, BASE + 131072 - 64, 1000000 + 128);
        program_at(&program, &bed, 0, MS, open_peer);
        world_run(&bed.world);
        ck_assert_uint_eq(program.done, 1);
        ck_assert_int_eq(program.status[0].s, APP_MOONCAKE_COMPLETED);
        ck_assert_uint_eq(program.status[0].transferred, lengths[i]);
        if (reads) {
            ck_assert(has_pattern(&bed, 0, BASE + 65536, 1, BASE + 131072, lengths[i]));
            ck_assert(
                has_pattern(&bed, 0, BASE + 65536 + lengths[i], 0, BASE + 65536 + lengths[i], 64));
        } else {
            ck_assert(has_pattern(&bed, 1, BASE + 131072, 0, BASE + 65536, lengths[i]));
            ck_assert(has_pattern(&bed, 1, BASE + 131072 - 64, 1, BASE + 131072 - 64, 64));
        }
        ck_assert_int_eq(app_mooncake_free_batch_id(bed.engines[0], program.batch), 0);
        ck_assert_int_lt(app_mooncake_free_batch_id(bed.engines[0], program.batch), 0);
        bed_end(&bed);
    }
}
END_TEST

// -- one transfer, whatever happens to it

START_TEST(local_segment_is_a_target)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    program_t program = {0};
    one_request(&program, APP_MOONCAKE_WRITE, 1 << 20);
    program.requests[0].target_id = APP_MOONCAKE_LOCAL_SEGMENT;
    program.requests[0].target_offset = BASE + (1 << 21);
    write_pattern(&bed, 0, BASE + 65536, 1 << 20);
    program.engine = bed.engines[0];
    program.node = &app_mooncake_host(bed.engines[0])->sim;
    program.batch = app_mooncake_submit(bed.engines[0], program.requests, 1);
    app_mooncake_on_batch(bed.engines[0], program.batch, on_done, &program);
    ck_assert_uint_eq(program.done, 0);
    world_run(&bed.world);
    ck_assert_uint_eq(program.done, 1);
    expect_status(&program, 0, APP_MOONCAKE_COMPLETED);
    ck_assert(has_pattern(&bed, 0, BASE + (1 << 21), 0, BASE + 65536, 1 << 20));
    // 8 Mbit take 104 us at 80 Gbit/s.
    ck_assert_uint_eq(program.done_ps / US, (UINT64_C(8) << 20) / 80000);
    bed_end(&bed);
}
END_TEST

typedef struct told {
    program_t program;
    bool frees; // the batch, when the transfers are done
    unsigned transfers;
    unsigned batches;
} told_t;

static void on_transfers(app_mooncake_batch_id_t batch, void *ctx)
{
    told_t *const told = ctx;
    ck_assert_uint_eq(told->batches, 0);
    ck_assert_int_eq(batch, told->program.batch);
    told->transfers++;
    if (told->frees) {
        ck_assert_int_eq(app_mooncake_free_batch_id(told->program.engine, batch), 0);
        // A new batch may take the freed place at once.
        ck_assert_int_ge(app_mooncake_allocate_batch_id(told->program.engine, 1), 0);
    }
}

static void on_seen(app_mooncake_batch_id_t batch, void *ctx)
{
    told_t *const told = ctx;
    ck_assert_int_eq(batch, told->program.batch);
    ck_assert_uint_eq(told->transfers, 1);
    told->batches++;
}

static void submit_and_ask(program_t *program)
{
    told_t *const told = SIM_CONTAINER_OF(program, told_t, program);
    app_mooncake_t *const engine = program->engine;
    program->batch = app_mooncake_submit(engine, program->requests, program->count);
    ck_assert_int_eq(app_mooncake_on_transfers(engine, program->batch, on_transfers, told), 0);
    ck_assert_int_eq(app_mooncake_on_batch(engine, program->batch, on_seen, told), 0);
    ck_assert_int_lt(app_mooncake_on_transfers(engine, program->batch + 1, on_transfers, told), 0);
    ck_assert_int_lt(app_mooncake_on_transfers(engine, -1, on_transfers, told), 0);
}

// The end of the transfers is reported before the end of the batch. If the program frees the batch
// in the first call, the second is not made.
START_TEST(transfers_are_told_before_batches)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    told_t told = {.frees = _i == 1};
    one_request(&told.program, APP_MOONCAKE_WRITE, 1 << 20);
    told.program.requests[0].target_offset = BASE + (1 << 21);
    program_at(&told.program, &bed, 0, MS, submit_and_ask);
    world_run(&bed.world);
    ck_assert_uint_eq(told.transfers, 1);
    ck_assert_uint_eq(told.batches, told.frees ? 0 : 1);
    bed_end(&bed);
}
END_TEST

START_TEST(what_is_outside_is_invalid)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    program_t program = {0};
    program.count = 4;
    for (size_t i = 0; i < 4; i++) {
        program.requests[i] = (app_mooncake_request_t){APP_MOONCAKE_WRITE, BASE, 0, BASE, 4096};
    }
    program.requests[0].source = BASE + BUFFER_BYTES - 4095;
    program.requests[1].target_offset = BASE + BUFFER_BYTES - 4095;
    program.requests[2].length = 0;
    program.requests[3].target_id = 77;
    run_one(&bed, &program);
    for (size_t i = 0; i < 4; i++) {
        expect_status(&program, i, APP_MOONCAKE_INVALID);
        ck_assert_uint_eq(program.status[i].transferred, 0);
    }
    ck_assert_uint_eq(app_mooncake_get_counters(bed.engines[0])->invalid, 4);
    bed_end(&bed);
}
END_TEST

START_TEST(a_nic_that_goes_down_is_left_for_the_second_list)
{
    bed_t bed;
    bed_begin(&bed);
    bed.down_ps = MS + 200 * US;
    bed_build(&bed);
    program_t program = {0};
    one_request(&program, APP_MOONCAKE_WRITE, 3 << 20);
    write_pattern(&bed, 0, BASE + 65536, 3 << 20);
    run_one(&bed, &program);
    expect_status(&program, 0, APP_MOONCAKE_COMPLETED);
    ck_assert(has_pattern(&bed, 1, BASE + 131072, 0, BASE + 65536, 3 << 20));
    const app_mooncake_counters_t *const counters = app_mooncake_get_counters(bed.engines[0]);
    ck_assert_uint_gt(counters->retried, 0);
    ck_assert_uint_ge(counters->rails_paused, 1);
    ck_assert_uint_ge(counters->endpoints_disconnected, 1);
    ck_assert_uint_gt(app_mooncake_nic_bytes(bed.engines[0], 0), 0);
    ck_assert_uint_gt(app_mooncake_nic_bytes(bed.engines[0], 1), 0);
    // The transfer takes two ACK timeouts of 1.05 ms more than needed, and a handshake.
    ck_assert_uint_lt(program.done_ps, 60 * MS);
    bed_end(&bed);
}
END_TEST

static void crash(program_t *program)
{
    app_mooncake_crash(program->bed->engines[1]);
}

START_TEST(a_peer_that_crashes_fails_the_batch)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    program_t program = {0};
    program_t crasher = {0};
    one_request(&program, _i == 0 ? APP_MOONCAKE_WRITE : APP_MOONCAKE_READ, 3 << 20);
    program_at(&crasher, &bed, 1, MS + 220 * US, crash);
    run_one(&bed, &program);
    expect_status(&program, 0, APP_MOONCAKE_FAILED);
    ck_assert_uint_gt(program.status[0].transferred, 0);
    ck_assert_uint_lt(program.status[0].transferred, 3 << 20);
    ck_assert_int_eq(app_mooncake_free_batch_id(bed.engines[0], program.batch), 0);
    bed_end(&bed);
}
END_TEST

static void unregister(program_t *program)
{
    app_mooncake_t *const engine = program->bed->engines[1];
    ck_assert_int_eq(app_mooncake_unregister_local_memory(engine, BASE, NULL, NULL), 0);
    ck_assert_int_lt(app_mooncake_unregister_local_memory(engine, BASE, NULL, NULL), 0);
    if (program->extra != NULL) { // comes back with other keys
        ck_assert_int_eq(app_mooncake_register_local_memory(engine, BASE, BUFFER_BYTES, "cuda:0",
                                                            APP_MOONCAKE_ALL, NULL, NULL),
                         0);
    }
}

START_TEST(a_buffer_unregistered_under_a_transfer)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    program_t program = {0};
    program_t other = {.extra = _i == 0 ? NULL : &bed};
    one_request(&program, APP_MOONCAKE_WRITE, 3 << 20);
    write_pattern(&bed, 0, BASE + 65536, 3 << 20);
    program_at(&other, &bed, 1, MS + 220 * US, unregister);
    run_one(&bed, &program);
    expect_status(&program, 0, _i == 0 ? APP_MOONCAKE_FAILED : APP_MOONCAKE_COMPLETED);
    if (_i == 1) {
        ck_assert(has_pattern(&bed, 1, BASE + 131072, 0, BASE + 65536, 3 << 20));
    }
    ck_assert_uint_gt(app_mooncake_get_counters(bed.engines[0])->retried, 0);
    bed_end(&bed);
}
END_TEST

START_TEST(rights_are_the_nics)
{
    bed_t bed;
    bed_begin(&bed);
    bed.no_target_buffer = true;
    bed_build(&bed);
    ck_assert_int_eq(app_mooncake_register_local_memory(bed.engines[1], BASE, BUFFER_BYTES, "cpu:0",
                                                        APP_MOONCAKE_REMOTE_READ, NULL, NULL),
                     0);
    program_t program = {0};
    one_request(&program, _i == 0 ? APP_MOONCAKE_WRITE : APP_MOONCAKE_READ, 4096);
    run_one(&bed, &program);
    expect_status(&program, 0, _i == 0 ? APP_MOONCAKE_FAILED : APP_MOONCAKE_COMPLETED);
    bed_end(&bed);
}
END_TEST

START_TEST(a_metadata_node_that_is_away)
{
    bed_t bed;
    bed_begin(&bed);
    bed.metadata.down_from_ps = 500 * US;
    bed.metadata.down_until_ps = _i == 0 ? SIM_TIME_NEVER : 30 * MS;
    bed_build(&bed);
    program_t program = {.peer = 55};
    one_request(&program, APP_MOONCAKE_WRITE, 4096);
    program_at(&program, &bed, 0, MS, open_peer);
    world_run(&bed.world);
    if (_i == 0) {
        ck_assert_int_lt(program.peer, 0);
        ck_assert_uint_eq(program.done, 0);
        ck_assert_uint_eq(app_mooncake_get_counters(bed.engines[0])->metadata_failures, 1);
    } else {
        ck_assert_uint_eq(program.done, 1);
        expect_status(&program, 0, APP_MOONCAKE_COMPLETED);
    }
    bed_end(&bed);
}
END_TEST

// -- statuses while it happens

static void look(program_t *program)
{
    app_mooncake_status_t status = {APP_MOONCAKE_FAILED, 0};
    ck_assert_int_eq(app_mooncake_get_transfer_status(program->engine, program->batch, &status, 1),
                     1);
    ck_assert_int_eq(status.s,
                     program->extra == NULL ? APP_MOONCAKE_PENDING : APP_MOONCAKE_WAITING);
    ck_assert_int_lt(app_mooncake_free_batch_id(program->engine, program->batch), 0);
    bool freed = true;
    ck_assert_int_eq(app_mooncake_get_status(program->engine, program->batch, &status, 1, &freed),
                     1);
    ck_assert(!freed);
    const bool lower_bound = status.transferred <= 3 << 20;
    ck_assert(lower_bound);
    if (program->extra == NULL) { // again when slices are out
        program->extra = program;
        sim_timer_arm(program->node, &program->timer, program->node->now_ps + 100 * US);
    } else if (program->result != 0) {
        ck_assert_int_eq(app_mooncake_cancel_transfer(program->engine, program->batch, 0), 0);
        ck_assert_int_lt(app_mooncake_cancel_transfer(program->engine, program->batch, 0), 0);
        ck_assert_int_lt(app_mooncake_cancel_transfer(program->engine, program->batch, 1), 0);
    }
}

static void opened_and_look(app_mooncake_segment_id_t id, void *ctx)
{
    program_t *const program = ctx;
    opened(id, ctx);
    program->act = look;
    look(program);
}

static void open_and_look(program_t *program)
{
    app_mooncake_get_segment_id(program->engine, "node1", opened_and_look, program);
}

START_TEST(pending_waiting_and_canceled)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    program_t program = {.result = _i};
    one_request(&program, APP_MOONCAKE_WRITE, 3 << 20);
    program_at(&program, &bed, 0, MS, open_and_look);
    world_run(&bed.world);
    ck_assert_uint_eq(program.done, 1);
    expect_status(&program, 0, _i == 0 ? APP_MOONCAKE_COMPLETED : APP_MOONCAKE_CANCELED);
    if (_i == 1) {
        ck_assert_uint_lt(program.done_ps, 2 * MS);
        ck_assert_uint_lt(program.status[0].transferred, 3 << 20);
    }
    ck_assert_int_eq(app_mooncake_free_batch_id(bed.engines[0], program.batch), 0);
    bed_end(&bed);
}
END_TEST

START_TEST(a_slice_that_takes_too_long_is_a_timeout)
{
    bed_t bed;
    bed_begin(&bed);
    bed.config.slice_timeout_ps = MS;
    bed.config.ack_timeout = 14;
    bed.down_ps = MS + 200 * US;
    bed_build(&bed);
    program_t program = {0};
    one_request(&program, APP_MOONCAKE_WRITE, 3 << 20);
    run_one(&bed, &program);
    expect_status(&program, 0, APP_MOONCAKE_TIMEOUT);
    ck_assert_uint_lt(program.done_ps, 3 * MS);
    ck_assert_uint_lt(program.status[0].transferred, 3 << 20);
    bed_end(&bed);
}
END_TEST

// -- records

typedef struct seen {
    unsigned count;
    char text[4][2048];
} seen_t;

static void see(const char *key, const char *value, size_t size, void *ctx)
{
    seen_t *const seen = ctx;
    snprintf(seen->text[seen->count++], 2048, "%s %.*s", key, (int)size, value);
}

static void close_second(program_t *program)
{
    app_mooncake_close(program->bed->engines[1]);
    ck_assert_int_lt(app_mooncake_allocate_batch_id(program->bed->engines[1], 1), 0);
}

START_TEST(records_are_the_documents)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    program_t closer = {0};
    if (_i == 1) {
        program_at(&closer, &bed, 1, 5 * MS, close_second);
    }
    world_run(&bed.world);
    seen_t seen = {0};
    app_mooncake_records(bed.cluster, see, &seen);
    ck_assert_uint_eq(seen.count, _i == 0 ? 2 : 1);
    const char *const start =
        "mooncake/node0 {\"name\":\"node0\",\"devices\":[{\"name\":\"mlx5_0\",\"lid\":0,\"gid\":"
        "\"00:00:00:00:00:00:00:00:00:00:ff:ff:";
    ck_assert_msg(strncmp(seen.text[0], start, strlen(start)) == 0, "%s", seen.text[0]);
    const char *const matrix =
        "\"priority_matrix\":{\"cpu:0\":[[\"mlx5_0\"],[\"mlx5_1\"]],\"cuda:0\":[[\"mlx5_1\"],[]]}";
    ck_assert_msg(strstr(seen.text[0], matrix) != NULL, "%s", seen.text[0]);
    ck_assert(strstr(seen.text[0], "\"buffers\":[{\"name\":\"cpu:0\",\"addr\":1099511627776,"
                                   "\"length\":4194304,\"rkey\":[") != NULL);
    ck_assert(strstr(seen.text[0], "lkey") == NULL);
    app_mooncake_segment_desc_t *desc = NULL;
    sim_message_t message;
    const char *const json = strchr(seen.text[0], ' ') + 1;
    ck_assert_int_eq(world_mooncake_codec.read_segment(json, strlen(json), &desc, &message),
                     SIM_OK);
    char *const again = world_mooncake_codec.write_segment(desc);
    ck_assert_str_eq(again, json);
    sim_free(again);
    app_mooncake_segment_desc_destroy(desc);
    bed_end(&bed);
}
END_TEST

static const char *const bad_records[] = {
    "",
    "[]",
    "{\"name\": 5}",
    "{\"name\": \"a\", \"name\": \"b\"}",
    "{\"name\": \"a\", \"devices\": [], \"priority_matrix\": {}}",
    "{\"name\": \"a\", \"devices\": [{\"name\": \"m0\", \"lid\": 70000, \"gid\": \"\"}], "
    "\"buffers\": [], \"priority_matrix\": {}}",
    "{\"name\": \"a\", \"devices\": [], \"buffers\": [{\"name\": \"cpu:0\", \"addr\": -1, "
    "\"length\": 1, \"rkey\": []}], \"priority_matrix\": {}}",
    "{\"name\": \"a\", \"devices\": [], \"buffers\": [{\"name\": \"cpu:0\", \"addr\": 1, "
    "\"length\": 1, \"rkey\": [1]}], \"priority_matrix\": {}}",
    "{\"name\": \"a\", \"devices\": [], \"buffers\": [], \"priority_matrix\": {\"cpu:0\": [[], [], "
    "[]]}}",
    "{\"name\": \"a\", \"protocol\": \"nvmeof\", \"length\": 5}",
};

START_TEST(broken_records_are_refused)
{
    app_mooncake_segment_desc_t *desc = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_int_ne(world_mooncake_codec.read_segment(bad_records[_i], strlen(bad_records[_i]),
                                                       &desc, &message),
                     SIM_OK);
    ck_assert_str_ne(message.text, "");
    app_mooncake_handshake_desc_t handshake;
    ck_assert_int_ne(world_mooncake_codec.read_handshake(bad_records[_i], strlen(bad_records[_i]),
                                                         &handshake, &message),
                     SIM_OK);
}
END_TEST

// -- endpoints

static void cut(program_t *program)
{
    app_mooncake_endpoint_state_t state = APP_MOONCAKE_INITIALIZING;
    ck_assert(app_mooncake_endpoint_state(program->engine, 0, "node1@mlx5_0", &state));
    ck_assert_int_eq(state, APP_MOONCAKE_CONNECTED);
    ck_assert(!app_mooncake_endpoint_state(program->engine, 0, "node1@mlx5_7", &state));
    ck_assert(!app_mooncake_endpoint_state(program->engine, 9, "node1@mlx5_0", &state));
    ck_assert_int_lt(app_mooncake_disconnect(program->engine, 0, "node9@mlx5_0"), 0);
    ck_assert_int_eq(app_mooncake_disconnect(program->engine, 0, "node1@mlx5_0"), 0);
    ck_assert(app_mooncake_endpoint_state(program->engine, 0, "node1@mlx5_0", &state));
    ck_assert_int_eq(state, APP_MOONCAKE_UNCONNECTED);
}

START_TEST(a_disconnected_endpoint_shakes_hands_again)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    program_t program = {0};
    program_t cutter = {0};
    one_request(&program, APP_MOONCAKE_WRITE, 3 << 20);
    write_pattern(&bed, 0, BASE + 65536, 3 << 20);
    program_at(&cutter, &bed, 0, MS + 200 * US, cut);
    run_one(&bed, &program);
    expect_status(&program, 0, APP_MOONCAKE_COMPLETED);
    ck_assert(has_pattern(&bed, 1, BASE + 131072, 0, BASE + 65536, 3 << 20));
    ck_assert_uint_ge(app_mooncake_get_counters(bed.engines[0])->handshakes, 2);
    // The second handshake of the first engine invalidated the peer's endpoint.
    ck_assert_uint_eq(app_mooncake_get_counters(bed.engines[1])->handshakes,
                      app_mooncake_get_counters(bed.engines[0])->handshakes);
    app_mooncake_endpoint_state_t state = APP_MOONCAKE_UNCONNECTED;
    ck_assert(app_mooncake_endpoint_state(bed.engines[1], 0, "node0@mlx5_1", &state) ||
              app_mooncake_endpoint_state(bed.engines[1], 0, "node0@mlx5_0", &state));
    ck_assert_int_eq(state, APP_MOONCAKE_CONNECTED);
    bed_end(&bed);
}
END_TEST

static void refreshed(int result, void *ctx)
{
    program_t *const program = ctx;
    program->result = result;
    program->done++;
}

// Asks again for the description of the second engine, which has registered more memory: only then
// does the first engine know of it.
static void look_again(program_t *program)
{
    const app_mooncake_segment_desc_t *const desc = app_mooncake_segment(program->engine, 1);
    ck_assert_ptr_nonnull(desc);
    ck_assert_str_eq(desc->name, "node1");
    ck_assert_uint_eq(desc->buffer_count, 1);
    ck_assert_ptr_null(app_mooncake_segment(program->engine, 99));
    app_mooncake_refresh_segment(program->engine, 99, refreshed, program);
    ck_assert_int_lt(program->result, 0);
    app_mooncake_refresh_segment(program->engine, APP_MOONCAKE_LOCAL_SEGMENT, refreshed, program);
    ck_assert_int_eq(program->result, 0);
    program->result = 1;
    app_mooncake_refresh_segment(program->engine, 1, refreshed, program);
    ck_assert_int_eq(program->result, 1); // it takes a round trip
}

static void add_more(program_t *program)
{
    ck_assert_int_eq(
        app_mooncake_register_local_memory(program->bed->engines[1], BASE + BUFFER_BYTES, 4096,
                                           "cpu:0", APP_MOONCAKE_REMOTE_READ, refreshed, program),
        0);
}

START_TEST(a_segment_is_asked_for_again)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    program_t opener = {0};
    program_t adder = {0};
    program_t looker = {0};
    program_at(&opener, &bed, 0, MS, open_peer);
    opener.count = 1;
    opener.requests[0] = (app_mooncake_request_t){APP_MOONCAKE_READ, BASE, 0, BASE, 4096};
    program_at(&adder, &bed, 1, 2 * MS, add_more);
    program_at(&looker, &bed, 0, 5 * MS, look_again);
    world_run(&bed.world);
    ck_assert_uint_eq(opener.done, 1);
    ck_assert_int_eq(opener.peer, 1);
    ck_assert_uint_eq(adder.done, 1);
    ck_assert_int_eq(adder.result, 0);
    ck_assert_uint_eq(looker.done, 3);
    ck_assert_int_eq(looker.result, 0);
    ck_assert_uint_eq(app_mooncake_segment(bed.engines[0], 1)->buffer_count, 2);
    ck_assert_str_eq(app_mooncake_name(bed.engines[0]), "node0");
    ck_assert(app_mooncake_host_of(bed.cluster, "node1") == app_mooncake_host(bed.engines[1]));
    ck_assert_ptr_null(app_mooncake_host_of(bed.cluster, "nobody"));
    bed_end(&bed);
}
END_TEST

START_TEST(endpoints_leave_for_others)
{
    bed_t bed;
    bed_begin(&bed);
    bed.config.max_endpoints = 1;
    bed.config.endpoint_store = (uint32_t)_i;
    bed_build(&bed);
    // The second engine's cuda:0 is near its other NIC.
    ck_assert_int_eq(app_mooncake_register_local_memory(bed.engines[1], BASE + BUFFER_BYTES,
                                                        BUFFER_BYTES, "cuda:0", 3, NULL, NULL),
                     0);
    program_t program = {.count = 4};
    for (size_t i = 0; i < 4; i++) {
        program.requests[i] = (app_mooncake_request_t){
            APP_MOONCAKE_WRITE, BASE, 0, BASE + i % 2 * BUFFER_BYTES + i * 262144, 262144};
    }
    write_pattern(&bed, 0, BASE, 262144);
    run_one(&bed, &program);
    for (size_t i = 0; i < 4; i++) {
        expect_status(&program, i, APP_MOONCAKE_COMPLETED);
    }
    ck_assert_uint_ge(app_mooncake_get_counters(bed.engines[0])->endpoints_evicted, 1);
    ck_assert(has_pattern(&bed, 1, BASE + BUFFER_BYTES + 3 * 262144, 0, BASE, 262144));
    bed_end(&bed);
}
END_TEST

START_TEST(the_smaller_mtu_counts)
{
    sim_time_t done_ps[2];
    for (unsigned i = 0; i < 2; i++) {
        bed_t bed;
        bed_begin(&bed);
        bed.second_mtu_bytes = i == 0 ? 0 : 256;
        bed_build(&bed);
        program_t program = {0};
        one_request(&program, APP_MOONCAKE_WRITE, 3 << 20);
        run_one(&bed, &program);
        expect_status(&program, 0, APP_MOONCAKE_COMPLETED);
        done_ps[i] = program.done_ps;
        bed_end(&bed);
    }
    // Small packets carry 256 bytes of payload in 338 on the wire, large ones 4096 in 4178.
    ck_assert_uint_gt(done_ps[1], done_ps[0] + 50 * US);
}
END_TEST

// -- files

static void file_opened(app_mooncake_segment_id_t id, void *ctx)
{
    program_t *const program = ctx;
    opened(id, program);
    app_mooncake_request_t request = program->requests[0];
    request.target_offset = (1 << 20) - 4095;
    request.length = 4096;
    const app_mooncake_batch_id_t batch = app_mooncake_submit(program->engine, &request, 1);
    app_mooncake_status_t status;
    bool freed = false;
    ck_assert_int_eq(app_mooncake_get_status(program->engine, batch, &status, 1, &freed), 1);
    ck_assert_int_eq(status.s, APP_MOONCAKE_INVALID);
    ck_assert(freed);
}

static void open_file(program_t *program)
{
    app_mooncake_get_segment_id(program->engine, "a/file", file_opened, program);
}

START_TEST(files_are_segments)
{
    bed_t bed;
    bed_begin(&bed);
    bed_build(&bed);
    const app_mooncake_drive_config_t drive = {1, 100 * US, UINT64_C(8000000000), 0, 0};
    ck_assert_int_eq(app_mooncake_serve_file(bed.engines[1], "a/file", 1 << 20, &drive, NULL, NULL),
                     0);
    program_t program = {0};
    one_request(&program, _i == 0 ? APP_MOONCAKE_READ : APP_MOONCAKE_WRITE, 1 << 20);
    program.requests[0].target_offset = 0;
    program_at(&program, &bed, 0, MS, open_file);
    world_run(&bed.world);
    ck_assert_uint_eq(program.done, 1);
    expect_status(&program, 0, APP_MOONCAKE_COMPLETED);
    ck_assert_uint_eq(app_mooncake_get_counters(bed.engines[1])->file_operations, 1);
    // The time is that of 1 MiB at 1 GB/s plus the latency, and little else.
    ck_assert_uint_gt(program.done_ps, MS + 1048 * US + 100 * US);
    ck_assert_uint_lt(program.done_ps, MS + 1048 * US + 100 * US + 900 * US);
    bed_end(&bed);
}
END_TEST

// -- a drive for all files of a node

typedef struct files {
    program_t program;
    unsigned count;
    unsigned opened;
    unsigned done;
    sim_time_t begun_ps;
    sim_time_t done_ps;
    app_mooncake_segment_id_t ids[2];
} files_t;

static void file_read(app_mooncake_batch_id_t batch, void *ctx)
{
    files_t *const files = ctx;
    app_mooncake_status_t status;
    ck_assert_int_eq(app_mooncake_get_transfer_status(files->program.engine, batch, &status, 1), 1);
    ck_assert_int_eq(status.s, APP_MOONCAKE_COMPLETED);
    files->done++;
    files->done_ps = files->program.node->now_ps;
}

static void one_file_opened(app_mooncake_segment_id_t id, void *ctx)
{
    files_t *const files = ctx;
    files->ids[files->opened++] = id;
    files->begun_ps = files->program.node->now_ps;
    for (unsigned i = 0; files->opened == files->count && i < files->count; i++) {
        const app_mooncake_request_t request = {APP_MOONCAKE_READ, BASE + ((uint64_t)i << 20),
                                                files->ids[i], 0, 1 << 20};
        const app_mooncake_batch_id_t batch =
            app_mooncake_submit(files->program.engine, &request, 1);
        app_mooncake_on_batch(files->program.engine, batch, file_read, files);
    }
}

static void open_files(program_t *program)
{
    files_t *const files = SIM_CONTAINER_OF(program, files_t, program);
    static const char *const names[] = {"first", "second"};
    for (unsigned i = 0; i < files->count; i++) {
        app_mooncake_get_segment_id(program->engine, names[i], one_file_opened, files);
    }
}

// Two files of a node share its drive: a MiB of each takes twice as long as one MiB.
START_TEST(files_share_a_drive)
{
    sim_time_t done_ps[2];
    for (unsigned count = 1; count <= 2; count++) {
        bed_t bed;
        bed_begin(&bed);
        bed_build(&bed);
        const app_mooncake_drive_config_t drive = {8, 100 * US, UINT64_C(8000000000), 0, 0};
        const app_mooncake_drive_config_t other = {8, 100 * US, UINT64_C(9000000000), 0, 0};
        app_mooncake_t *const node = bed.engines[1];
        ck_assert_int_lt(app_mooncake_serve_file(node, "first", 1 << 20, NULL, NULL, NULL), 0);
        ck_assert_int_eq(app_mooncake_serve_file(node, "first", 1 << 20, &drive, NULL, NULL), 0);
        ck_assert_int_lt(app_mooncake_serve_file(node, "second", 1 << 20, &other, NULL, NULL), 0);
        ck_assert_int_eq(app_mooncake_serve_file(node, "second", 1 << 20,
                                                 count == 1 ? &drive : NULL, NULL, NULL),
                         0);
        files_t files = {.count = count};
        program_at(&files.program, &bed, 0, MS, open_files);
        world_run(&bed.world);
        ck_assert_uint_eq(files.done, count);
        done_ps[count - 1] = files.done_ps - files.begun_ps;
        bed_end(&bed);
    }
    // A MiB takes 1048.6 us at 1 GB/s.
    ck_assert_uint_gt(done_ps[1], done_ps[0] + 1000 * US);
    ck_assert_uint_lt(done_ps[1], done_ps[0] + 1100 * US);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(bytes_arrive_both_ways, 0, 2), CHECK_TEST(local_segment_is_a_target),
           CHECK_LOOP(transfers_are_told_before_batches, 0, 2),
           CHECK_TEST(what_is_outside_is_invalid),
           CHECK_TEST(a_nic_that_goes_down_is_left_for_the_second_list),
           CHECK_LOOP(a_peer_that_crashes_fails_the_batch, 0, 2),
           CHECK_LOOP(a_buffer_unregistered_under_a_transfer, 0, 2),
           CHECK_LOOP(rights_are_the_nics, 0, 2), CHECK_LOOP(a_metadata_node_that_is_away, 0, 2),
           CHECK_LOOP(pending_waiting_and_canceled, 0, 2),
           CHECK_TEST(a_slice_that_takes_too_long_is_a_timeout),
           CHECK_LOOP(records_are_the_documents, 0, 2),
           CHECK_LOOP(broken_records_are_refused, 0, (int)SIM_COUNT_OF(bad_records)),
           CHECK_TEST(a_disconnected_endpoint_shakes_hands_again),
           CHECK_TEST(a_segment_is_asked_for_again), CHECK_LOOP(endpoints_leave_for_others, 0, 2),
           CHECK_TEST(the_smaller_mtu_counts), CHECK_LOOP(files_are_segments, 0, 2),
           CHECK_TEST(files_share_a_drive))
