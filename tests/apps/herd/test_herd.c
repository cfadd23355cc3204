// SPDX-License-Identifier: Apache-2.0
// labels: clang
// Goal: HERD over the verbs holds data: every operation ends, values are those that were put, also
// where packets get lost; windows, gates and presets are kept.
// Method: small worlds on ideal and detailed NICs, with losses and without, every system and way of
// requests and answers; what clients count against what workers and the store count.
// Does not pin: rates (tests/apps/herd/test_herd_figures.sh).
#include <string.h>

#include "apps/herd/client.h"
#include "apps/herd/regions.h"
#include "apps/herd/worker.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define SPAN "warm-up=0s; measure=40ms; server=host0; clients-on=host1|host2|host3; "

static sim_ratio_t loss;

static void lose(const char *a, const char *b, net_link_config_t *config)
{
    (void)a;
    (void)b;
    config->loss_rate = loss;
}

static app_t *run(world_t *world, bool detailed, uint64_t loss_permille, const char *settings)
{
    world_init(world);
    sim_message_t message;
    const char *const nic = detailed ? "model=detailed; detailed.pcie.lanes=16" : "model=ideal";
    ck_assert_int_eq(world_set(&nic_config_attrs, &world->nic, nic, &message), SIM_OK);
    world->switch_config.pfc_priorities = 0xff;
    loss = (sim_ratio_t){loss_permille, 1000};
    world->tweak_link = lose;
    world_build(world, "star", "hosts=4; rate=100Gbps; delay=1us");
    char all[1024];
    snprintf(all, sizeof(all), SPAN "%s", settings);
    app_t *const app = world_app(world, "herd", all);
    world_run(world);
    ck_assert_int_eq(world->ended, SIM_ENDED_DONE);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert(nic_conserved(nic_of_interface(world->net, i)));
    }
    return app;
}

// Counts that hold in every run in which all is answered or given up.
static void check_books(const app_t *app, double operations)
{
    ck_assert_double_eq(world_value(app, "requests"), operations);
    ck_assert_double_eq(world_value(app, "responses") + world_value(app, "lost"), operations);
    ck_assert_double_eq(world_value(app, "gets") + world_value(app, "puts"),
                        world_value(app, "responses"));
    ck_assert_double_eq(world_value(app, "wrong_values"), 0);
    ck_assert_double_eq(world_value(app, "malformed"), 0);
    ck_assert_double_eq(world_value(app, "failed"), 0);
}

static const char *const systems[] = {
    "preset=guide",
    "preset=public-code; keys=20000",
    "preset=sigcomm-2014",
    "preset=sigcomm-2014; service=model",
    "preset=guide; gate=all",
    "preset=guide; gate=ring; value=32",
    "preset=guide; unsignaled=1; window=100",
    "preset=guide; window-per=client; value=32",
    "preset=guide; window-per=client; gate=each",
    "preset=public-code; keys=20000; postlist=1; batch=off; qps-per-port=3",
    "preset=sigcomm-2014; value=200",
    "preset=sigcomm-2014; value=1024; inline-max=0",
    "preset=guide; value=auto",
    "preset=guide; request=send",
    "preset=guide; answer=write-uc",
    "preset=guide; request=write-rc; answer=write-rc",
    "preset=sigcomm-2014; unsignaled=1",
    "preset=guide; unsignaled=7; postlist=128",
    "preset=guide; skew=0.99; worker-by-key=on",
    "preset=sigcomm-2014; interval=1us",
    "preset=sigcomm-2014; system=echo",
    "preset=sigcomm-2014; system=echo; request=send",
    "preset=sigcomm-2014; system=echo; request=send-rc; answer=send-rc; signal-all=on",
    "preset=guide; request=send-rc; answer=send",
    "preset=guide; request=write-rc; answer=send-rc",
    "preset=guide; system=farm; request=write-rc; answer=write-rc; value=16",
    "preset=sigcomm-2014; system=pilaf; value=1024",
    "preset=sigcomm-2014; system=farm; value=13",
    "preset=sigcomm-2014; system=pilaf",
    "preset=sigcomm-2014; system=farm",
    "preset=sigcomm-2014; system=farm-var",
};

START_TEST(every_operation_ends)
{
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings),
             "workers=3; clients=7; requests=300; keys=5000; update-percentage=30; %s",
             systems[_i / 2]);
    const app_t *const app = run(&world, _i % 2 != 0, 0, settings);
    check_books(app, 7 * 300);
    ck_assert_double_eq(world_value(app, "lost"), 0);
    ck_assert_double_eq(world_value(app, "retried"), 0);
    ck_assert_double_eq(world_value(app, "looked_back"), 0);
    const double puts = world_value(app, "puts");
    ck_assert(puts > 630 - 110 && puts < 630 + 110); // five standard deviations
    ck_assert_double_eq(world_value(app, "latency_us.count"), 7 * 300);
    ck_assert_double_gt(world_value(app, "mops"), 0);
    world_fini(&world);
}
END_TEST

// One packet in a hundred is lost in each of two directions: about 4 % of the operations are sent
// again.
START_TEST(losses_are_made_up_for)
{
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings),
             "workers=3; clients=7; requests=300; keys=5000; update-percentage=30; timeout=60us; "
             "retries=20; %s",
             systems[_i / 2]);
    const bool reads = strstr(settings, "system=pilaf") || strstr(settings, "system=farm") ||
                       strstr(settings, "-rc");
    const app_t *const app = run(&world, _i % 2 != 0, reads ? 0 : 10, settings);
    check_books(app, 7 * 300);
    ck_assert_double_eq(world_value(app, "lost"), 0);
    ck_assert(reads || world_value(app, "retried") > 20);
    world_fini(&world);
}
END_TEST

// A GET by READs that is given up still has a READ in flight. The clients give up more operations
// than a queue pair has room for, and a late response to such a READ is never taken for that of
// another.
START_TEST(reads_that_were_given_up_hold_their_places)
{
    static const char *const stores[] = {"pilaf", "farm", "farm-var"};
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings),
             "preset=sigcomm-2014; workers=2; clients=9; requests=2000; keys=3000; window=16; "
             "gate=%s; update-percentage=5; timeout=6us; value=300; system=%s",
             _i % 2 == 0 ? "all" : "each", stores[_i / 4]);
    const app_t *const app = run(&world, _i / 2 % 2 != 0, _i % 2 == 0 ? 3 : 0, settings);
    check_books(app, world_value(app, "responses") + world_value(app, "lost"));
    ck_assert_double_gt(world_value(app, "responses"), 0);
    ck_assert_double_gt(world_value(app, "lost"), 100);
    world_fini(&world);
}
END_TEST

// A request that is alone leaves a stage of the pipeline by a no-op, after `failed-polls` polls.
START_TEST(a_stage_of_the_pipeline_is_left_by_a_no_op)
{
    double before_us = 0;
    for (uint32_t stages = 0; stages <= 4; stages++) {
        world_t world;
        char settings[512];
        snprintf(settings, sizeof(settings),
                 "preset=sigcomm-2014; workers=1; clients=1; window=1; requests=50; keys=100; "
                 "failed-polls=1000; look-back=0; cpu.look=2ns; pipeline=%u",
                 stages);
        const app_t *const app = run(&world, false, 0, settings);
        check_books(app, 50);
        const double mean_us = world_value(app, "latency_us.mean");
        if (stages > 0) {
            ck_assert_double_eq_tol(mean_us - before_us, 2, 0.1);
        }
        before_us = mean_us;
        world_fini(&world);
    }
}
END_TEST

START_TEST(without_retries_what_is_lost_is_counted)
{
    world_t world;
    const app_t *const app =
        run(&world, _i != 0, 20,
            "workers=3; clients=7; requests=300; keys=5000; timeout=60us; retries=0");
    check_books(app, 7 * 300);
    // Each of four links loses one packet in fifty.
    const double lost = world_value(app, "lost");
    ck_assert(lost > 164 - 65 && lost < 164 + 65);
    world_fini(&world);
}
END_TEST

// A single client that puts and gets one key sees its own last value; the check knows its stamp.
START_TEST(counts_of_clients_workers_and_store_agree)
{
    world_t world;
    const app_t *const app = run(&world, true, 0,
                                 "workers=2; clients=5; requests=1000; keys=3000; "
                                 "update-percentage=50; index-buckets=256; value=32");
    check_books(app, 5000);
    double gets = 0;
    double puts = 0;
    for (int w = 0; w < 2; w++) {
        char path[64];
        snprintf(path, sizeof(path), "workers[%d].gets", w);
        gets += world_value(app, path);
        snprintf(path, sizeof(path), "workers[%d].puts", w);
        puts += world_value(app, path);
    }
    ck_assert_double_eq(gets, world_value(app, "gets"));
    ck_assert_double_eq(puts, world_value(app, "puts"));
    // A cache of 2048 slots cannot hold 3000 keys: entries get lost, but each PUT is counted either
    // as updated in place or as inserted.
    ck_assert_double_eq(world_value(app, "updated_in_place") + world_value(app, "inserted"),
                        puts + 2 * 3000);
    ck_assert_double_gt(world_value(app, "index_evictions"), 2 * 900);
    ck_assert_double_lt(world_value(app, "get_hit_rate"), 0.75);
    ck_assert_double_gt(world_value(app, "get_hit_rate"), 0.55);
    // A GET has 17 bytes and a PUT 50; each hit returns a value of 32.
    const double bytes = (17 * gets + 50 * puts) / 5000;
    ck_assert_double_eq_tol(world_value(app, "request_bytes_mean"), bytes, 1e-9);
    ck_assert_double_eq_tol(world_value(app, "response_bytes_mean"),
                            32 * world_value(app, "hits") / 5000, 1e-9);
    world_fini(&world);
}
END_TEST

START_TEST(two_stores_on_the_same_machines_keep_apart)
{
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=4; rate=100Gbps; delay=1us");
    app_t *const a = world_app(&world, "herd",
                               SPAN "clients=7; workers=2; requests=200; keys=1000; value=32; "
                                    "update-percentage=50");
    app_t *const b = world_app(&world, "herd",
                               SPAN "clients=7; workers=2; requests=200; keys=1000; value=40; "
                                    "update-percentage=50");
    world_run(&world);
    check_books(a, 1400);
    check_books(b, 1400);
    world_fini(&world);
}
END_TEST

START_TEST(several_servers_share_the_keys)
{
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=4; rate=100Gbps; delay=1us");
    app_t *const app = world_app(&world, "herd",
                                 "warm-up=0s; measure=40ms; server=host0|host1; "
                                 "clients-on=host2|host3; clients=6; workers=2; requests=500; "
                                 "keys=4000; window=8; value=auto");
    world_run(&world);
    check_books(app, 3000);
    for (int w = 0; w < 4; w++) {
        char path[64];
        snprintf(path, sizeof(path), "workers[%d].answered", w);
        ck_assert_double_gt(world_value(app, path), 750 - 130);
        ck_assert_double_lt(world_value(app, path), 750 + 130);
    }
    world_fini(&world);
}
END_TEST

// With few keys, and PUTs for half of the operations, READs meet values that change, and never
// accept one that is torn.
START_TEST(stores_read_by_reads_hold_data)
{
    static const char *const stores[] = {"pilaf", "farm", "farm-var"};
    world_t world;
    char settings[512];
    snprintf(settings, sizeof(settings),
             "preset=sigcomm-2014; system=%s; workers=3; clients=12; requests=600; keys=20; "
             "update-percentage=50; value=1000",
             stores[_i / 2]);
    const app_t *const app = run(&world, _i % 2 != 0, 0, settings);
    check_books(app, 12 * 600);
    ck_assert_double_eq(world_value(app, "get_hit_rate"), 1);
    // A pointer does not change, and the value behind it arrives in one packet, so it is never
    // torn.
    ck_assert((world_value(app, "reads_again") > 0) == (_i / 2 != 2));
    ck_assert_double_eq_tol(
        world_value(app, "response_bytes_mean"),
        (1000 * world_value(app, "hits") + (_i / 2 == 0 ? 1 : 31) * world_value(app, "puts")) /
            (12 * 600),
        1e-9);
    world_fini(&world);
}
END_TEST

// The entry of each key that was put last lies in the server's memory: a reader finds it there by
// following the index to the log.
START_TEST(memory_shows_the_stores)
{
    world_t world;
    const app_t *const app = run(&world, _i != 0, 0,
                                 "workers=2; clients=3; requests=500; keys=100; value=40; "
                                 "update-percentage=50");
    check_books(app, 1500);
    const app__herd_t *const herd = (const app__herd_t *)(const void *)app;
    const nic_memory_t *const memory = herd->workers[0].memory;
    uint32_t changed = 0;
    for (uint32_t i = 0; i < 200; i++) {
        const app_city128_t key = app_herd_key(i % 100);
        const uint64_t store =
            app__herd_table_address(herd) + i / 100 * app__herd_store_bytes(herd);
        const uint64_t bucket = key.high & (herd->mica_config.bucket_count - 1);
        uint64_t slot = 0;
        for (uint32_t s = 0; s < APP_MICA_SLOTS; s++) {
            const uint64_t word = nic_memory_read64(memory, store + bucket * 64 + s * 8);
            slot = (word & 1) != 0 && (word >> 1 & 0xffff) == key.high >> 48 ? word : slot;
        }
        ck_assert_uint_ne(slot, 0);
        uint8_t entry[18 + 40];
        const uint64_t log = store + herd->mica_config.bucket_count * 64;
        nic_memory_read(memory, log + (slot >> 17), entry, sizeof(entry));
        ck_assert_uint_eq(entry[16], APP_MICA_PUT);
        ck_assert_uint_eq(entry[17], 40);
        uint32_t stamp = 0;
        ck_assert(app_herd_check_value(key, entry + 18, 40, &stamp));
        changed += stamp != 0;
    }
    // 750 PUTs go to 200 entries, so a share of e^-3.75 of the entries was not put.
    ck_assert_uint_gt(changed, 180);
    world_fini(&world);
}
END_TEST

// Returns how many items of a list of the report have such a value.
// A worker serves its clients in turn. Of more connections than the card has room for, the least
// recently used one is always the next, so only an eviction at random leaves some of them: for n
// connections and e entries, the hit rate h solves h = (1 - 1/e) ^ (n (1 - h)).
START_TEST(contexts_of_connections_give_way_at_random)
{
    world_t world;
    world_init(&world);
    sim_message_t message;
    ck_assert_int_eq(world_set(&nic_config_attrs, &world.nic,
                               "model=detailed; profile=connectx-3; detailed.context.ways=12; "
                               "detailed.context.uc-entries=12",
                               &message),
                     SIM_OK);
    world_build(&world, "star", "hosts=4; rate=100Gbps; delay=1us");
    (void)world_app(&world, "herd",
                    SPAN "preset=sigcomm-2014; workers=1; clients=18; window=1; requests=400; "
                         "keys=1000");
    world_run(&world);
    nic_rnic_counters_t counters;
    ck_assert(nic_get_rnic_counters(nic_of_interface(world.net, 0), &counters));
    // The other contexts are those of the worker's own queue pair, which always hit.
    const double misses = (double)counters.context_misses / (18 * 400);
    ck_assert_double_gt(misses, 0.45);
    ck_assert_double_lt(misses, 0.75);
    world_fini(&world);
}
END_TEST

static int count_items(const app_t *app, const char *list, const char *value)
{
    int count = 0;
    double unused = 0;
    char path[64];
    do {
        snprintf(path, sizeof(path), "%s[%d].%s", list, count++, value);
    } while (sim_report_number(app->ops->report, app, path, &unused));
    return count - 1;
}

// Intervals and distributions add up to what the whole run has.
START_TEST(the_series_adds_up)
{
    world_t world;
    const app_t *const app = run(&world, true, 0,
                                 "workers=3; clients=5; requests=400; keys=1000; value=auto; "
                                 "update-percentage=20; series=20us");
    check_books(app, 2000);
    double answers = 0;
    double posted = 0;
    double bytes = 0;
    double busy = 0;
    double pcie = 0;
    double worst_us = 0;
    const int intervals = count_items(app, "series", "mops");
    ck_assert_int_gt(intervals, 2);
    for (int i = 0; i < intervals; i++) {
        char path[64];
        snprintf(path, sizeof(path), "series[%d].mops", i);
        const double here = 20 * world_value(app, path);
        answers += here;
        snprintf(path, sizeof(path), "series[%d].response_bytes_mean", i);
        bytes += here * world_value(app, path);
        snprintf(path, sizeof(path), "series[%d].pcie_bytes_per_operation", i);
        pcie += here * world_value(app, path);
        snprintf(path, sizeof(path), "series[%d].cores_busy", i);
        busy += world_value(app, path);
        snprintf(path, sizeof(path), "series[%d].latency_us_max", i);
        const double latest_us = world_value(app, path);
        worst_us = latest_us > worst_us ? latest_us : worst_us;
        for (int w = 0; w < 3; w++) {
            snprintf(path, sizeof(path), "series[%d].worker_mops[%d]", i, w);
            posted += 20 * world_value(app, path);
        }
    }
    ck_assert_double_eq_tol(answers, 2000, 1e-6);
    ck_assert_double_eq_tol(posted, 2000, 1e-6);
    ck_assert_double_eq_tol(bytes / 2000, world_value(app, "response_bytes_mean"), 1e-6);
    ck_assert_double_eq_tol(worst_us, world_value(app, "latency_us.max"), 1e-9);
    ck_assert_double_gt(busy, 0);
    // Bytes that came after the last turn belong to no interval.
    ck_assert_double_le(pcie / 2000, world_value(app, "pcie_bytes_per_operation"));
    ck_assert_double_ge(pcie / 2000, 0.95 * world_value(app, "pcie_bytes_per_operation"));
    double turns = 0;
    double requests = 0;
    for (int i = 0; i < count_items(app, "batches", "turns"); i++) {
        char path[64];
        snprintf(path, sizeof(path), "batches[%d].turns", i);
        const double times = world_value(app, path);
        snprintf(path, sizeof(path), "batches[%d].requests", i);
        turns += times;
        requests += times * world_value(app, path);
    }
    ck_assert_double_eq(requests, 2000);
    ck_assert_double_eq_tol(requests / turns, world_value(app, "batch_mean"), 1e-9);
    double sized = 0;
    for (int i = 0; i < count_items(app, "response_sizes", "bytes"); i++) {
        char path[64];
        snprintf(path, sizeof(path), "response_sizes[%d].bytes", i);
        const double size = world_value(app, path);
        ck_assert(size == 0 || (size >= 8 && size <= 46));
        snprintf(path, sizeof(path), "response_sizes[%d].responses", i);
        sized += world_value(app, path);
    }
    ck_assert_double_eq(sized, 2000);
    world_fini(&world);
}
END_TEST

START_TEST(the_log_has_a_row_per_operation)
{
    world_t world;
    const app_t *const app =
        run(&world, false, 0, "workers=2; clients=3; requests=100; keys=1000; value=20; log=on");
    world_flows(&world, app);
    ck_assert_uint_eq(world.flow_count, 300);
    uint32_t gets = 0;
    for (size_t i = 0; i < world.flow_count; i++) {
        const app_flow_result_t *const row = &world.flows[i];
        const bool get = strcmp(row->label, "get") == 0;
        ck_assert(get || strcmp(row->label, "put") == 0 || strcmp(row->label, "get-miss") == 0);
        ck_assert_uint_eq(row->service_port, row->label[0] == 'g' ? 17 : 38);
        ck_assert_uint_eq(row->bytes, row->label[0] == 'p' ? 38 : get ? 37 : 17);
        // A round trip takes four delays of 1 us: two links there and two back.
        ck_assert(row->end_ps - row->start_ps > 4 * SIM_PS_PER_US);
        gets += get;
    }
    ck_assert_double_eq(gets, world_value(app, "hits"));
    world_fini(&world);
}
END_TEST

static const char *const wrong[] = {
    "index-buckets=1000",
    "value=2",
    "log-bytes=4100; value=1024; keys=1; window=0",
    "update-percentage=101",
    "server=host0; clients-on=host0",
    "request=send-rc; worker-by-key=on",
    "series=1ps",
    "value=3",
    "gate=poll",
    "model.batch-table=1 0ns",
    "model.batch-table=2 0ns, 32 9ns",
    "model.batch-table=1 0ns, 8 5ns, 8 6ns, 32 9ns",
    "model.batch-table=1 0ns, 32",
    "model.batch-table=1 0ns 32 1ns",
    "model.batch-table=1 0ns, 32 2",
};

START_TEST(what_cannot_be_is_refused)
{
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=4; rate=100Gbps; delay=1us");
    app_t *app = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_int_ne(world_try_app(&world, "herd", wrong[_i], &app, &message), SIM_OK);
    ck_assert_uint_gt(strlen(message.text), 10);
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(every_operation_ends, 0, 2 * SIM_COUNT_OF(systems),
                          SIM_COUNT_OF(systems)),
           CHECK_LOOP_FEW(losses_are_made_up_for, 0, 2 * SIM_COUNT_OF(systems), 3),
           CHECK_LOOP_FEW(reads_that_were_given_up_hold_their_places, 0, 12, 2),
           CHECK_TEST(a_stage_of_the_pipeline_is_left_by_a_no_op),
           CHECK_LOOP(without_retries_what_is_lost_is_counted, 0, 2),
           CHECK_TEST(counts_of_clients_workers_and_store_agree),
           CHECK_TEST(two_stores_on_the_same_machines_keep_apart),
           CHECK_TEST(several_servers_share_the_keys),
           CHECK_LOOP(stores_read_by_reads_hold_data, 0, 6),
           CHECK_LOOP(memory_shows_the_stores, 0, 2), CHECK_TEST(the_series_adds_up),
           CHECK_TEST(the_log_has_a_row_per_operation),
           CHECK_TEST(contexts_of_connections_give_way_at_random),
           CHECK_LOOP(what_cannot_be_is_refused, 0, SIM_COUNT_OF(wrong)))
