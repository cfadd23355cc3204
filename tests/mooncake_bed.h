// SPDX-License-Identifier: Apache-2.0
// tests/mooncake_bed.h - three hosts on a switch: two have engines of Mooncake, the third keeps the
// metadata. And a program that acts on the first engine's host.
#ifndef TESTS_MOONCAKE_BED_H
#define TESTS_MOONCAKE_BED_H

#include <stdio.h>
#include <string.h>

#include "apps/mooncake.h"
#include "net/link_state.h"
#include "nic/memory.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"
#include "world/mooncake_json.h"

#define BASE (UINT64_C(1) << 40)
#define BUFFER_BYTES (UINT64_C(1) << 22)
#define MATRIX "{\"cpu:0\": [[\"mlx5_0\"], [\"mlx5_1\"]], \"cuda:0\": [[\"mlx5_1\"]]}"
#define US SIM_PS_PER_US
#define MS SIM_PS_PER_MS

enum { MEMORY_HOST = 2 };

typedef struct bed {
    world_t world;
    app_mooncake_cluster_t *cluster;
    app_mooncake_t *engines[2];
    app_mooncake_config_t config;
    app_mooncake_metadata_config_t metadata;
    bool no_target_buffer;
    uint64_t second_mtu_bytes; // 0: as the first
    sim_time_t down_ps;        // of the first engine's first NIC; 0: never
    sim_time_t up_ps;
} bed_t;

typedef struct bed_config {
    app_mooncake_config_t engine;
} bed_config_t;

static const sim_attr_t rows[] = {APP_MOONCAKE_ATTRS("test", bed_config_t, engine)};
static const sim_attr_table_t table = {"test", "", sizeof(bed_config_t), rows, SIM_COUNT_OF(rows)};

static inline void bed_begin(bed_t *bed)
{
    *bed = (bed_t){.metadata = {.latency_ps = 100 * US}};
    bed_config_t config;
    sim_attrs_default(&table, &config);
    bed->config = config.engine;
    bed->config.ack_timeout = 8; // 1 ms
    bed->config.ack_retries = 2;
    bed->config.handshake_timeout_ps = 50 * MS;
    bed->config.metadata_timeout_ps = 20 * MS;
    world_init(&bed->world);
}

static inline void bed_build(bed_t *bed)
{
    const topo_star_config_t star = {.hosts = 3,
                                     .rate_bps = UINT64_C(100000000000),
                                     .delay_ps = US,
                                     .nics_per_host = 2};
    world_begin(&bed->world);
    const topo_plan_t topology = world_plan(&bed->world);
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(topo_find("star")->build(&topology, &star, &message), SIM_OK);
    if (bed->down_ps != 0) {
        net_link_change_at(bed->world.net, 0, bed->down_ps, false);
    }
    if (bed->up_ps != 0) {
        net_link_change_at(bed->world.net, 0, bed->up_ps, true);
    }
    world_complete(&bed->world);
    net_node_t *hosts[3];
    for (unsigned i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof(name), "host%u", i);
        hosts[i] = net_node_find(bed->world.net, name);
    }
    const app_mooncake_plan_t plan = {
        .net = bed->world.net,
        .runtime = bed->world.runtime,
        .hosts = hosts,
        .host_count = 3,
        .metadata_host = hosts[MEMORY_HOST],
        .codec = &world_mooncake_codec,
        .metadata = bed->metadata,
    };
    ck_assert_msg(app_mooncake_cluster_create(&plan, &bed->cluster, &message) == SIM_OK, "%s",
                  message.text);
    for (unsigned i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof(name), "node%u", i);
        if (i == 1 && bed->second_mtu_bytes != 0) {
            bed->config.mtu_bytes = bed->second_mtu_bytes;
        }
        ck_assert_msg(app_mooncake_create(bed->cluster, hosts[i], name, MATRIX, &bed->config,
                                          &bed->engines[i], &message) == SIM_OK,
                      "%s", message.text);
        if (i == 0 || !bed->no_target_buffer) {
            ck_assert_int_eq(app_mooncake_register_local_memory(bed->engines[i], BASE, BUFFER_BYTES,
                                                                "cpu:0", APP_MOONCAKE_ALL, NULL,
                                                                NULL),
                             0);
        }
    }
}

static inline void bed_end(bed_t *bed)
{
    app_mooncake_cluster_destroy(bed->cluster);
    world_fini(&bed->world);
}

static inline nic_memory_t *memory_of(const bed_t *bed, unsigned node)
{
    return nic_host_memory(app_mooncake_host(bed->engines[node]));
}

static inline void write_pattern(const bed_t *bed, unsigned node, uint64_t address, uint64_t length)
{
    for (uint64_t i = 0; i < length; i += 8) {
        nic_memory_write64(memory_of(bed, node), address + i, sim_mix64(address + i + node) | 1);
    }
}

static inline bool has_pattern(const bed_t *bed, unsigned node, uint64_t address,
                               unsigned from_node, uint64_t from, uint64_t length)
{
    for (uint64_t i = 0; i < length; i += 8) {
        if (nic_memory_read64(memory_of(bed, node), address + i) !=
            (sim_mix64(from + i + from_node) | 1)) {
            return false;
        }
    }
    return true;
}

// -- a program: what to do at times, on the first engine's host

typedef struct program program_t;
typedef void (*act_fn)(program_t *program);

struct program {
    bed_t *bed;
    app_mooncake_t *engine; // the first
    app_mooncake_segment_id_t peer;
    app_mooncake_batch_id_t batch;
    app_mooncake_request_t requests[4];
    size_t count;
    app_mooncake_status_t status[4];
    unsigned done;
    sim_time_t done_ps;
    int result;
    sim_timer_t timer;
    sim_node_t *node;
    act_fn act;
    void *extra;
};

static inline void on_done(app_mooncake_batch_id_t batch, void *ctx)
{
    program_t *const program = ctx;
    ck_assert_int_eq(batch, program->batch);
    ck_assert_int_eq(app_mooncake_get_transfer_status(program->engine, batch, program->status, 4),
                     (int64_t)program->count);
    program->done++;
    program->done_ps = program->node->now_ps;
}

static inline void opened(app_mooncake_segment_id_t id, void *ctx)
{
    program_t *const program = ctx;
    program->peer = id;
    if (id < 0) {
        return;
    }
    for (size_t i = 0; i < program->count; i++) {
        if (program->requests[i].target_id == 0) {
            program->requests[i].target_id = id;
        }
    }
    program->batch = app_mooncake_submit(program->engine, program->requests, program->count);
    ck_assert_int_ge(program->batch, 0);
    app_mooncake_on_batch(program->engine, program->batch, on_done, program);
}

static inline void start_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    program_t *const program = SIM_CONTAINER_OF(timer, program_t, timer);
    program->act(program);
}

static inline void open_peer(program_t *program)
{
    app_mooncake_get_segment_id(program->engine, "node1", opened, program);
}

static inline void program_at(program_t *program, bed_t *bed, unsigned node, sim_time_t time_ps,
                              act_fn act)
{
    program->bed = bed;
    program->engine = bed->engines[0];
    program->node = &(app_mooncake_host(bed->engines[node]))->sim;
    program->act = act;
    sim_timer_init(&program->timer, start_fired);
    sim_timer_arm(program->node, &program->timer, time_ps);
}

static inline void one_request(program_t *program, app_mooncake_opcode_t opcode, uint64_t length)
{
    program->requests[0] = (app_mooncake_request_t){
        .opcode = opcode,
        .source = BASE + 65536,
        .target_offset = BASE + 131072,
        .length = length,
    };
    program->count = 1;
}

static inline void run_one(bed_t *bed, program_t *program)
{
    program_at(program, bed, 0, MS, open_peer);
    world_run(&bed->world);
    ck_assert_uint_eq(program->done, 1);
}

static inline void expect_status(const program_t *program, size_t index,
                                 app_mooncake_task_status_t status)
{
    ck_assert_str_eq(app_mooncake_task_status_text(program->status[index].s),
                     app_mooncake_task_status_text(status));
}

#endif // TESTS_MOONCAKE_BED_H
