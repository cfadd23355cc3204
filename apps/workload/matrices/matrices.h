// SPDX-License-Identifier: Apache-2.0
// apps/workload/matrices/matrices.h - sequences of traffic matrices, as NIXL's kvbench has them.
//
// plan.c reads a plan's matrices, generate.c makes those of a model, schedule.c turns them into
// operations of ranks, report.c measures each pattern. docs/models/kv-matrix.md
#ifndef APPS_WORKLOAD_MATRICES_MATRICES_H
#define APPS_WORKLOAD_MATRICES_MATRICES_H

#include "apps/kv_plan.h"
#include "apps/workload/workload.h"

// Bytes from one rank to another.
typedef struct app__transfer {
    uint32_t source;
    uint32_t destination;
    uint64_t bytes;
} app__transfer_t;

// Bytes that a rank reads from storage before a pattern and writes to it during the pattern.
typedef struct app__stored {
    uint32_t rank;
    uint64_t read_bytes;
    uint64_t write_bytes;
} app__stored_t;

typedef struct app__pattern {
    app__transfer_t *transfers; // by source, then by destination; none of 0 bytes
    size_t count;
    app__stored_t *stored; // by rank
    size_t stored_count;
    bool reads;
    uint64_t before_ns;
    uint64_t after_ns;
} app__pattern_t;

typedef struct app__patterns {
    app__pattern_t *list;
    size_t count;
    uint32_t ranks;
} app__patterns_t;

// How patterns run: settings of the application.
typedef struct app__pattern_options {
    uint64_t iterations;
    uint64_t isolated;      // measurements of each pattern alone; 0: none
    uint64_t storage_ranks; // that keep what is stored; 0: each rank has storage of its own
    uint64_t storage_bps;   // of a rank's own storage
    sim_time_t storage_ps;  // latency of an access
} app__pattern_options_t;

void app__patterns_fini(app__patterns_t *patterns);
// Reads every matrix of a plan. Frees nothing of the plan. After an error the caller calls
// app__patterns_fini, too.
SIM_MUST_CHECK sim_err_t app__patterns_read(const app_context_t *context, const char *plan_name,
                                            const app_kv_plan_t *plan, app__patterns_t *patterns,
                                            sim_message_t *message);

// Makes the operations of all ranks.
app__schedule_t *app__patterns_schedule(const app__patterns_t *patterns,
                                        const app__pattern_options_t *options);

extern const sim_report_table_t app__pattern_report;

#endif // APPS_WORKLOAD_MATRICES_MATRICES_H
