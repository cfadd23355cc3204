// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/bench.h - the application mooncake-bench: its threads and targets.
#ifndef APPS_MOONCAKE_PROGRAMS_BENCH_H
#define APPS_MOONCAKE_PROGRAMS_BENCH_H

#include "apps/mooncake/programs/programs.h"
#include "apps/mooncake_files.h"

#define APP__MC_BENCH_AREA_BYTES (UINT64_C(1) << 46) // of each location
#define APP__MC_BENCH_FILE "bench.file"

// Returns the address of an application's blocks, the same on all of its hosts. All programs on a
// host share one address space.
static inline uint64_t app__mc_bench_address(uint32_t index)
{
    return index == 0 ? UINT64_C(1) << 40 : (UINT64_C(1) << 60) + ((uint64_t)(index % 1024) << 51);
}

#define APP__MC_MOMENTS_MAX 1000000u // intervals whose bandwidth is stored

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
    app_mooncake_opcode_t operation;
    sim_time_t start_ps;
    sim_time_t warm_ps;
    sim_time_t duration_ps;
    uint64_t total_bytes; // SIM_AUTO: runs for duration
    uint64_t file_bytes;  // 0: the target is memory
    bool verify;
    sim_time_t interval_ps;
    sim_time_t crash_ps;
    sim_time_t unregister_ps;
    app_mooncake_drive_config_t drive;
    app_mooncake_metadata_config_t metadata;
    char *records;
    app_mooncake_config_t engine;
} app__mc_bench_config_t;

typedef struct app__mc_bench app__mc_bench_t;

#define APP__MC_BENCH_NONE (-1) // no batch

typedef struct app__mc_bench_thread {
    app__mc_bench_t *bench;
    uint32_t index;
    uint32_t half; // half whose turn it is
    bool waits;    // waits for that half
    // Last submitted batch of each half; NONE when the peer has verified it.
    app_mooncake_batch_id_t submitted[2];
    uint64_t source; // address of its blocks
    uint64_t target;
    sim_time_t since_ps;
} app__mc_bench_thread_t;

typedef struct app__mc_bench_target {
    app__mc_bench_t *bench;
    app_mooncake_t *engine;
    app_mooncake_segment_id_t id;
    uint64_t address; // of its first blocks
    sim_timer_t crash_timer;
    sim_timer_t unregister_timer;
} app__mc_bench_target_t;

struct app__mc_bench {
    app_t app;                     // first
    app__mc_bench_config_t config; // its texts last until the end of the creation
    app_mooncake_cluster_t *cluster;
    app_mooncake_t *engine;
    app__mc_bench_target_t *targets;
    uint32_t target_count;
    uint32_t opened;
    app__mc_bench_thread_t *threads;
    uint32_t thread_count;
    uint64_t submitted_bytes;
    app_mooncake_request_t *requests;
    app_mooncake_status_t *statuses;
    sim_node_t *node;
    sim_timer_t start_timer;
    sim_timer_t warm_timer;
    sim_timer_t stop_timer;
    sim_timer_t interval_timer;
    sim_time_t begun_ps; // NEVER: not begun yet
    sim_time_t ended_ps; // end of the last batch
    sim_time_t last_ps;  // when data last arrived
    sim_time_t gap_ps;   // longest time without an arrival
    bool measuring;
    bool stopped;
    uint64_t warm_bytes;
    uint64_t end_bytes;
    uint64_t interval_bytes;
    uint64_t completed;
    uint64_t failed;
    uint64_t running; // running threads
    sim_sample_set_t batches_ps;
    app__mc_moment_t *moments; // at most APP__MC_MOMENTS_MAX
    size_t moment_count;
    size_t moment_capacity;
};

extern const sim_attr_table_t app__mc_bench_attrs;

// -- bench_create.c

sim_err_t app__mc_bench_create(const app_context_t *context, const void *config, app_t **app,
                               sim_message_t *message);
void app__mc_bench_destroy(app_t *app);

// -- bench.c

// Initialises the threads and the timers that drive them.
void app__mc_bench_init(app__mc_bench_t *bench);

#endif // APPS_MOONCAKE_PROGRAMS_BENCH_H
