// SPDX-License-Identifier: Apache-2.0
// Goal: memory that an engine registers lies where its location says; the matrix "auto" prefers
// the NICs that nic.host puts nearest; affinity takes these, and the peer's of the same name; where
// rails pause, others share the load.
// Method: hosts with sockets, PCIe switches and GPUs; the text of the matrix; bytes of each NIC
// after a transfer.
// Not pinned: rates, which test_mooncake_rates.sh has.
#include "apps/mooncake/programs/programs.h"
#include "apps/mooncake_memory.h"
#include "net/link_state.h"
#include "nic/fabric.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"
#include "world/mooncake_json.h"

#define BASE (UINT64_C(1) << 40)
#define BUFFER_BYTES (UINT64_C(1) << 23)
#define MS SIM_PS_PER_MS

typedef struct bed_config {
    app_mooncake_config_t engine;
} bed_config_t;

static const sim_attr_t rows[] = {APP_MOONCAKE_ATTRS("test", bed_config_t, engine)};
static const sim_attr_table_t table = {"test", "", sizeof(bed_config_t), rows, SIM_COUNT_OF(rows)};

typedef struct bed {
    world_t world;
    app_mooncake_cluster_t *cluster;
    app_mooncake_t *engines[2];
    app_mooncake_config_t config;
    unsigned nics;
    sim_timer_t timer;
    app_mooncake_request_t request;
    unsigned done;
    unsigned again; // how often another such request follows
} bed_t;

static void bed_begin(bed_t *bed, unsigned nics)
{
    *bed = (bed_t){.nics = nics};
    bed_config_t config;
    sim_attrs_default(&table, &config);
    bed->config = config.engine;
    world_init(&bed->world);
}

static net_node_t *host(const bed_t *bed, unsigned index)
{
    char name[16];
    snprintf(name, sizeof(name), "host%u", index);
    return net_node_find(bed->world.net, name);
}

static void bed_network(bed_t *bed)
{
    char settings[64];
    snprintf(settings, sizeof(settings), "hosts=3; rate=100Gbps; nics-per-host=%u", bed->nics);
    world_build(&bed->world, "star", settings);
}

static void bed_engines(bed_t *bed)
{
    net_node_t *const hosts[3] = {host(bed, 0), host(bed, 1), host(bed, 2)};
    sim_message_t message = {.text = ""};
    const app_mooncake_plan_t plan = {
        .net = bed->world.net,
        .runtime = bed->world.runtime,
        .hosts = hosts,
        .host_count = 3,
        .metadata_host = hosts[2],
        .codec = &world_mooncake_codec,
        .metadata = {.latency_ps = SIM_PS_PER_US,
                     .down_from_ps = SIM_TIME_NEVER,
                     .down_until_ps = SIM_TIME_NEVER},
    };
    ck_assert_msg(app_mooncake_cluster_create(&plan, &bed->cluster, &message) == SIM_OK, "%s",
                  message.text);
    for (unsigned i = 0; i < 2; i++) {
        char *const matrix = app__mc_matrix(hosts[i], "auto");
        ck_assert_msg(app_mooncake_create(bed->cluster, hosts[i], i == 0 ? "node0" : "node1",
                                          matrix, &bed->config, &bed->engines[i],
                                          &message) == SIM_OK,
                      "%s", message.text);
        sim_free(matrix);
    }
}

static void bed_end(bed_t *bed)
{
    app_mooncake_cluster_destroy(bed->cluster);
    world_fini(&bed->world);
}

static int add(const bed_t *bed, unsigned engine, uint64_t address, const char *location)
{
    return app_mooncake_register_local_memory(bed->engines[engine], address, BUFFER_BYTES, location,
                                              APP_MOONCAKE_ALL, NULL, NULL);
}

// -- the matrix

static const struct {
    uint64_t sockets;
    uint64_t nics_per_switch;
    uint64_t gpus;
    const char *text;
    const char *nics; // where they are; NULL: evenly
    const char *gpu_places;
} matrices[] = {
    {1, 0, 0,
     "{\"cpu:0\": [[\"mlx5_0\", \"mlx5_1\", \"mlx5_2\", \"mlx5_3\"], []], "
     "\"cuda:0\": [[\"mlx5_0\", \"mlx5_1\", \"mlx5_2\", \"mlx5_3\"], []]}",
     NULL, NULL},
    {2, 0, 0,
     "{\"cpu:0\": [[\"mlx5_0\", \"mlx5_1\"], [\"mlx5_2\", \"mlx5_3\"]], "
     "\"cpu:1\": [[\"mlx5_2\", \"mlx5_3\"], [\"mlx5_0\", \"mlx5_1\"]], "
     "\"cuda:0\": [[\"mlx5_0\", \"mlx5_1\", \"mlx5_2\", \"mlx5_3\"], []]}",
     NULL, NULL},
    {2, 1, 2,
     "{\"cpu:0\": [[\"mlx5_0\", \"mlx5_1\"], [\"mlx5_2\", \"mlx5_3\"]], "
     "\"cpu:1\": [[\"mlx5_2\", \"mlx5_3\"], [\"mlx5_0\", \"mlx5_1\"]], "
     "\"cuda:0\": [[\"mlx5_0\"], [\"mlx5_1\", \"mlx5_2\", \"mlx5_3\"]], "
     "\"cuda:1\": [[\"mlx5_2\"], [\"mlx5_0\", \"mlx5_1\", \"mlx5_3\"]]}",
     NULL, NULL},
    {2, 0, 1,
     "{\"cpu:0\": [[\"mlx5_0\", \"mlx5_1\"], [\"mlx5_2\", \"mlx5_3\"]], "
     "\"cpu:1\": [[\"mlx5_2\", \"mlx5_3\"], [\"mlx5_0\", \"mlx5_1\"]], "
     "\"cuda:0\": [[\"mlx5_0\", \"mlx5_1\"], [\"mlx5_2\", \"mlx5_3\"]]}",
     NULL, NULL},
    {2, 0, 2,
     "{\"cpu:0\": [[\"mlx5_0\"], [\"mlx5_1\", \"mlx5_2\", \"mlx5_3\"]], "
     "\"cpu:1\": [[\"mlx5_1\", \"mlx5_2\", \"mlx5_3\"], [\"mlx5_0\"]], "
     "\"cuda:0\": [[\"mlx5_1\", \"mlx5_3\"], [\"mlx5_0\", \"mlx5_2\"]], "
     "\"cuda:1\": [[\"mlx5_0\"], [\"mlx5_1\", \"mlx5_2\", \"mlx5_3\"]]}",
     "[cpu:0, switch:1, cpu:1, switch:1]", "[switch:1, cpu:0]"},
};

START_TEST(the_nearest_are_preferred)
{
    bed_t bed;
    bed_begin(&bed, 4);
    bed.world.nic.host.sockets = matrices[_i].sockets;
    bed.world.nic.host.nics_per_switch = matrices[_i].nics_per_switch;
    bed.world.nic.host.gpus = matrices[_i].gpus;
    if (matrices[_i].nics != NULL) {
        sim_free(bed.world.nic.host.nic_places);
        bed.world.nic.host.nic_places = sim_strdup(matrices[_i].nics);
        sim_free(bed.world.nic.host.gpu_places);
        bed.world.nic.host.gpu_places = sim_strdup(matrices[_i].gpu_places);
    }
    bed_network(&bed);
    char *const matrix = app__mc_matrix(host(&bed, 0), "auto");
    ck_assert_str_eq(matrix, matrices[_i].text);
    sim_free(matrix);
    bed_engines(&bed);
    bed_end(&bed);
}
END_TEST

START_TEST(memory_lies_where_it_was_registered)
{
    bed_t bed;
    bed_begin(&bed, 2);
    bed.world.nic.host.sockets = 2;
    bed.world.nic.host.gpus = 2;
    bed_network(&bed);
    bed_engines(&bed);
    ck_assert_int_eq(add(&bed, 0, BASE, "cpu:1"), 0);
    ck_assert_int_eq(add(&bed, 0, BASE + BUFFER_BYTES, "cuda:1"), 0);
    nic_location_t place = nic_memory_location(host(&bed, 0), BASE + BUFFER_BYTES - 1);
    ck_assert(!place.gpu && place.index == 1);
    place = nic_memory_location(host(&bed, 0), BASE + BUFFER_BYTES);
    ck_assert(place.gpu && place.index == 1);
    place = nic_memory_location(host(&bed, 0), BASE + 2 * BUFFER_BYTES);
    ck_assert(!place.gpu && place.index == 0);
    // A later registration replaces the location of an earlier one.
    ck_assert_int_eq(app_mooncake_unregister_local_memory(bed.engines[0], BASE, NULL, NULL), 0);
    ck_assert_int_eq(add(&bed, 0, BASE, "cuda:0"), 0);
    place = nic_memory_location(host(&bed, 0), BASE);
    ck_assert(place.gpu && place.index == 0);
    bed_end(&bed);
}
END_TEST

START_TEST(a_host_has_no_more_than_it_says)
{
    bed_t bed;
    bed_begin(&bed, 2);
    bed.world.nic.host.gpus = _i == 0 ? 0 : 1;
    bed.world.nic.host.sockets = _i == 0 ? 1 : 2;
    bed_network(&bed);
    net_node_t *const node = host(&bed, 0);
    // A host that describes neither sockets nor GPUs takes both for mere names.
    ck_assert_int_eq(app__mc_place(node, BASE, 4096, "cuda:3"), _i == 0 ? 0 : SIM_ERR_UNKNOWN);
    ck_assert_int_eq(app__mc_place(node, BASE, 4096, "cpu:5"), _i == 0 ? 0 : SIM_ERR_UNKNOWN);
    ck_assert_int_eq(app__mc_place(node, BASE, 4096, "npu:1"), 0);
    ck_assert_int_eq(app__mc_place(node, BASE, 4096, "cpu:0"), 0);
    bed_engines(&bed);
    bed_end(&bed);
}
END_TEST

START_TEST(lists_of_locations)
{
    static const char *const expected[] = {"cpu:0", "cuda:1", "cpu:1", "cpu:0"};
    ck_assert_uint_eq(app__mc_location_count("cpu:0, cuda:1,cpu:1"), 3);
    ck_assert_uint_eq(app__mc_location_count("cpu:0"), 1);
    for (uint64_t i = 0; i < SIM_COUNT_OF(expected); i++) {
        char *const location = app__mc_location_of("cpu:0, cuda:1,cpu:1", i);
        ck_assert_str_eq(location, expected[i]);
        sim_free(location);
    }
}
END_TEST

// -- a transfer

static void on_done(app_mooncake_batch_id_t batch, void *ctx)
{
    bed_t *const bed = ctx;
    app_mooncake_status_t status;
    ck_assert_int_eq(app_mooncake_get_transfer_status(bed->engines[0], batch, &status, 1), 1);
    ck_assert_int_eq(status.s, APP_MOONCAKE_COMPLETED);
    bed->done++;
    if (bed->again > 0) {
        bed->again--;
        const app_mooncake_batch_id_t next = app_mooncake_submit(bed->engines[0], &bed->request, 1);
        ck_assert_int_eq(app_mooncake_on_batch(bed->engines[0], next, on_done, bed), 0);
    }
}

static void opened(app_mooncake_segment_id_t id, void *ctx)
{
    bed_t *const bed = ctx;
    ck_assert_int_ge(id, 0);
    bed->request.target_id = id;
    const app_mooncake_batch_id_t batch = app_mooncake_submit(bed->engines[0], &bed->request, 1);
    ck_assert_int_eq(app_mooncake_on_batch(bed->engines[0], batch, on_done, bed), 0);
}

static void start_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    bed_t *const bed = SIM_CONTAINER_OF(timer, bed_t, timer);
    app_mooncake_get_segment_id(bed->engines[0], "node1", opened, bed);
}

static void transfer(bed_t *bed)
{
    bed->request = (app_mooncake_request_t){.opcode = APP_MOONCAKE_WRITE,
                                            .source = BASE,
                                            .target_offset = BASE,
                                            .length = BUFFER_BYTES};
    sim_timer_init(&bed->timer, start_fired);
    sim_timer_arm(&host(bed, 0)->sim, &bed->timer, MS);
    const unsigned times = 1 + bed->again;
    world_run(&bed->world);
    ck_assert_uint_eq(bed->done, times);
}

START_TEST(affinity_takes_the_nearest)
{
    bed_t bed;
    bed_begin(&bed, 4);
    bed.world.nic.host.sockets = 2;
    bed.world.nic.host.nics_per_switch = 1;
    bed.world.nic.host.gpus = 4;
    bed.config.selection = APP_MOONCAKE_AFFINITY;
    bed_network(&bed);
    bed_engines(&bed);
    const bool gpu = _i == 1;
    ck_assert_int_eq(add(&bed, 0, BASE, gpu ? "cuda:2" : "cpu:1"), 0);
    ck_assert_int_eq(add(&bed, 1, BASE, gpu ? "cuda:2" : "cpu:1"), 0);
    transfer(&bed);
    const uint64_t each = gpu ? BUFFER_BYTES : BUFFER_BYTES / 2;
    ck_assert_uint_eq(app_mooncake_nic_bytes(bed.engines[0], 0), 0);
    ck_assert_uint_eq(app_mooncake_nic_bytes(bed.engines[0], 1), 0);
    ck_assert_uint_eq(app_mooncake_nic_bytes(bed.engines[0], 2), each);
    ck_assert_uint_eq(app_mooncake_nic_bytes(bed.engines[0], 3), gpu ? 0 : each);
    // No transfer went to a NIC of another name: there is one endpoint for each NIC that sent.
    ck_assert_uint_eq(app_mooncake_get_counters(bed.engines[0])->handshakes, gpu ? 1 : 2);
    bed_end(&bed);
}
END_TEST

// The first of four NICs is down: its load is spread over the others instead of being given to its
// neighbour.
START_TEST(what_a_paused_rail_would_carry_is_spread)
{
    bed_t bed;
    bed_begin(&bed, 4);
    bed.config.selection = APP_MOONCAKE_ROUND_ROBIN;
    bed.config.ack_timeout = 4;
    bed.config.ack_retries = 1;
    bed.config.slice_bytes = 4096;
    bed.config.fragment_bytes = 0;
    bed.config.rail_pause_ps = SIM_PS_PER_S;
    const topo_star_config_t star = {.hosts = 3,
                                     .rate_bps = UINT64_C(100000000000),
                                     .delay_ps = SIM_PS_PER_US,
                                     .nics_per_host = 4};
    world_begin(&bed.world);
    const topo_plan_t topology = world_plan(&bed.world);
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(topo_find("star")->build(&topology, &star, &message), SIM_OK);
    net_link_change_at(bed.world.net, 0, MS, false);
    world_complete(&bed.world);
    bed_engines(&bed);
    ck_assert_int_eq(add(&bed, 0, BASE, "cpu:0"), 0);
    ck_assert_int_eq(add(&bed, 1, BASE, "cpu:0"), 0);
    // The first request meets the NIC that is down, and its neighbour takes over. The nine requests
    // that follow find the rail paused.
    bed.again = 9;
    transfer(&bed);
    const uint64_t whole = 10 * BUFFER_BYTES;
    const uint64_t second = app_mooncake_nic_bytes(bed.engines[0], 1);
    const uint64_t third = app_mooncake_nic_bytes(bed.engines[0], 2);
    const uint64_t fourth = app_mooncake_nic_bytes(bed.engines[0], 3);
    ck_assert_uint_eq(app_mooncake_nic_bytes(bed.engines[0], 0), 0);
    ck_assert_uint_eq(second + third + fourth, whole);
    ck_assert_uint_lt(second, whole * 40 / 100);
    ck_assert_uint_gt(third, whole * 27 / 100);
    ck_assert_uint_gt(fourth, whole * 27 / 100);
    bed_end(&bed);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(the_nearest_are_preferred, 0, (int)SIM_COUNT_OF(matrices)),
           CHECK_TEST(memory_lies_where_it_was_registered),
           CHECK_LOOP(a_host_has_no_more_than_it_says, 0, 2), CHECK_TEST(lists_of_locations),
           CHECK_LOOP(affinity_takes_the_nearest, 0, 2),
           CHECK_TEST(what_a_paused_rail_would_carry_is_spread))
