// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/transfer_rows.h - objects in the report of the applications on the
// Transfer Engine.
#ifndef APPS_MOONCAKE_PROGRAMS_TRANSFER_ROWS_H
#define APPS_MOONCAKE_PROGRAMS_TRANSFER_ROWS_H

#include <stdint.h>

// A NIC's share of the bytes that an engine moved.
typedef struct app__mc_share {
    const char *engine;
    uint64_t nic;
    uint64_t bytes;
} app__mc_share_t;

// Throughput of an interval.
typedef struct app__mc_moment {
    double time_us; // end of the interval
    double gbytes_per_s;
} app__mc_moment_t;

// A point of a distribution.
typedef struct app__mc_point {
    double percent; // percentage of samples that are at most ms
    double ms;
} app__mc_point_t;

// A part of a host, or a thread, with its utilisation.
typedef struct app__mc_part {
    const char *engine;
    char *part;
    double gbytes_per_s; // that it can carry; of a thread: bytes per busy time
    uint64_t bytes;
    double busy_percent;
} app__mc_part_t;

// Times of a prompt; NaN: the event did not happen.
typedef struct app__mc_told_prompt {
    uint64_t prompt; // number in the trace
    const char *prefill;
    const char *decode;
    uint64_t input_tokens;
    double cached_tokens; // NaN: computing it never began
    double admitted_ms;   // since the beginning of the run
    double wait_ms;
    double compute_ms;
    double send_ms;
    double ttft_ms;
} app__mc_told_prompt_t;

// A record of the metadata node at the end of the run.
typedef struct app__mc_record {
    char *key;
    char *value;
    const char *change;
} app__mc_record_t;

#endif // APPS_MOONCAKE_PROGRAMS_TRANSFER_ROWS_H
