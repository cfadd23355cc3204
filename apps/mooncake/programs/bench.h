// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/bench.h - the parts of the application mooncake-bench: threads, targets.
#ifndef APPS_MOONCAKE_PROGRAMS_BENCH_H
#define APPS_MOONCAKE_PROGRAMS_BENCH_H

#include "apps/mooncake/programs/programs.h"

#define APP__MC_BENCH_AREA_BYTES (UINT64_C(1) << 46) // of each location
#define APP__MC_BENCH_FILE "bench.file"

// Where the blocks of an application begin, on all of its hosts: a host has one address space for
// all programs.
static inline uint64_t app__mc_bench_address(uint32_t index)
{
    return index == 0 ? UINT64_C(1) << 40 : (UINT64_C(1) << 60) + ((uint64_t)(index % 1024) << 51);
}

typedef struct app__mc_bench_config {
    char *from;
    char *to;
    char *metadata_host;
    char *matrix;
    char *source_location;
    char *target_location;
    uint64_t threads;
    uint64_t batch;
    uint64_t block_bytes;
    uint32_t operation; // app_mooncake_opcode_t
    sim_time_t start_ps;
    sim_time_t warm_ps;
    sim_time_t duration_ps;
    uint64_t total_bytes; // SIM_AUTO: for duration
    uint64_t file_bytes;  // 0: the target is memory
    bool verify;
    sim_time_t interval_ps;
    sim_time_t crash_ps;
    sim_time_t unregister_ps;
    app_mooncake_drive_config_t drive;
    app_mooncake_metadata_config_t metadata;
    app_mooncake_config_t engine;
} app__mc_bench_config_t;

typedef struct app__mc_bench app__mc_bench_t;

#define APP__MC_BENCH_NONE (-1) // no batch

typedef struct app__mc_bench_thread {
    app__mc_bench_t *bench;
    uint32_t index;
    uint32_t half; // whose turn it is
    bool waits;    // for that half
    // Of each half, what was last submitted; NONE when the peer has looked at it.
    app_mooncake_batch_id_t submitted[2];
    uint64_t source; // address of its blocks
    uint64_t target;
    sim_time_t since_ps;
} app__mc_bench_thread_t;

typedef struct app__mc_bench_target {
    app__mc_bench_t *bench;
    app_mooncake_t *engine;
    app_mooncake_segment_id_t id;
    sim_timer_t crash_timer;
    sim_timer_t unregister_timer;
} app__mc_bench_target_t;

struct app__mc_bench {
    app_t app; // first
    app_mooncake_cluster_t *cluster;
    app_mooncake_t *engine;
    app__mc_bench_target_t *targets;
    uint32_t target_count;
    uint32_t opened;
    app__mc_bench_thread_t *threads;
    uint32_t thread_count;
    uint64_t batch;
    uint64_t block_bytes;
    uint32_t operation;
    sim_time_t warm_ps;
    sim_time_t duration_ps;
    uint64_t total_bytes;
    uint64_t submitted_bytes;
    uint64_t file_bytes;
    app_mooncake_drive_config_t drive;
    app_mooncake_request_t *requests;
    app_mooncake_status_t *statuses;
    sim_node_t *node;
    sim_timer_t start_timer;
    sim_timer_t warm_timer;
    sim_timer_t stop_timer;
    sim_timer_t interval_timer;
    sim_time_t interval_ps;
    sim_time_t begun_ps; // NEVER: not yet
    sim_time_t ended_ps; // of the last batch
    sim_time_t last_ps;  // when something arrived
    sim_time_t gap_ps;   // longest in which nothing did
    bool measuring;
    bool stopped;
    uint64_t warm_bytes;
    uint64_t end_bytes;
    uint64_t interval_bytes;
    uint64_t completed;
    uint64_t failed;
    uint64_t running; // threads
    sim_sample_set_t batches_ps;
    app__mc_moment_t *moments;
    size_t moment_count;
    size_t moment_capacity;
};

extern const sim_attr_table_t app__mc_bench_attrs;

// -- bench_create.c

sim_err_t app__mc_bench_create(const app_context_t *context,
                               const void *config,
                               app_t **app,
                               sim_message_t *message);
void app__mc_bench_destroy(app_t *app);

// -- bench.c

// Sets up threads and the timers that run it.
void app__mc_bench_init(app__mc_bench_t *bench);

#endif // APPS_MOONCAKE_PROGRAMS_BENCH_H
