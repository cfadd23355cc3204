// SPDX-License-Identifier: Apache-2.0
// apps/kv_plan.h - what a file of NIXL's kvbench says: a sequence of traffic patterns.
//
// The file is YAML, which this library does not read: world/ does, and hands over this struct.
// Matrices are texts that apps/workload/matrices/ reads. Source: ai-dynamo/nixl,
// benchmark/kvbench/main.py and docs (sequential-ct-perftest, ct-perftest).
#ifndef APPS_KV_PLAN_H
#define APPS_KV_PLAN_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct app_kv_pattern {
    char *place;         // "FILE:LINE:COLUMN" of the pattern, for messages
    char *file;          // with the matrix; NULL: none
    char *matrix;        // text of a matrix that stands in the YAML file; NULL: none
    char *storage_read;  // sizes by rank between blanks; NULL: none
    char *storage_write; // sizes by rank between blanks; NULL: none
    bool sections;       // the file has sections: [rdma], [read], [write]
    bool reads;          // xfer_op READ: a rank reads its row's bytes from the others
    double before_s;     // sleep before the transfers; 0 or more
    double after_s;      // sleep after them
} app_kv_pattern_t;

typedef struct app_kv_plan {
    app_kv_pattern_t *patterns;
    size_t count;
    uint64_t iterations;           // that the file asks for; 0: it does not say
    uint64_t isolation_iterations; // 0: it does not say
} app_kv_plan_t;

// Reads the text of a plan. The caller frees it with app_kv_plan_fini, also after an error. A
// message begins with "NAME:LINE:COLUMN: ".
typedef sim_err_t (*app_kv_read_fn)(const char *name, const char *text, size_t size_bytes,
                                    app_kv_plan_t *plan, sim_message_t *message);
void app_kv_plan_fini(app_kv_plan_t *plan);

SIM_C_END

#endif // APPS_KV_PLAN_H
