// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/transfer_rows.h - objects in the report of the applications on the
// Transfer Engine.
#ifndef APPS_MOONCAKE_PROGRAMS_TRANSFER_ROWS_H
#define APPS_MOONCAKE_PROGRAMS_TRANSFER_ROWS_H

#include "apps/report_rows.h"

// A NIC's share of the bytes that an engine moved.
// clang-format off
#define APP__MC_SHARE_ROWS(X) \
    X(engine, STRING, "", false, "name of the engine that owns the NIC") \
    X(nic, U64, "", false, "number of the NIC in its host") \
    X(bytes, U64, "bytes", false, "payload of completed slices that the NIC carried")
// clang-format on
typedef struct app__mc_share {
    APP__MC_SHARE_ROWS(APP__MEMBER)
} app__mc_share_t;

// Throughput of an interval.
// clang-format off
#define APP__MC_MOMENT_ROWS(X) \
    X(time_us, REAL, "us", false, "time at which the interval ends") \
    X(gbytes_per_s, REAL, "GB/s", false, "payload per second of slices that completed in the interval")
// clang-format on
typedef struct app__mc_moment {
    APP__MC_MOMENT_ROWS(APP__MEMBER)
} app__mc_moment_t;

// A part of a host, or a thread, with its utilisation.
typedef struct app__mc_part {
    const char *engine;
    char *part;
    double gbytes_per_s; // that it can carry; of a thread: bytes per busy time
    uint64_t bytes;
    double busy_percent;
} app__mc_part_t;

// Times of a prompt; NaN: the event did not happen.
// clang-format off
#define APP__MC_PROMPT_ROWS(X) \
    X(prompt, U64, "", false, "number of the prompt in the trace, from 0") \
    X(prefill, STRING, "", false, "prefill node that computed the prompt") \
    X(decode, STRING, "", false, "decode node that received the prompt's KV data") \
    X(input_tokens, U64, "", false, "number of input tokens of the prompt") \
    X(cached_tokens, REAL, "", false, "number of input tokens that were cached and not computed again") \
    X(admitted_ms, REAL, "ms", false, "time of the prompt's admission, since the beginning of the run") \
    X(wait_ms, REAL, "ms", false, "time from admission until it was computed: earlier prompts, and fetching its blocks") \
    X(compute_ms, REAL, "ms", false, "time to compute the prompt") \
    X(send_ms, REAL, "ms", false, "time from the end of computing until the decode node knew that all KV data had arrived") \
    X(ttft_ms, REAL, "ms", false, "time to the first token: wait_ms, compute_ms, send_ms and a decoding step")
// clang-format on
typedef struct app__mc_told_prompt {
    APP__MC_PROMPT_ROWS(APP__MEMBER)
} app__mc_told_prompt_t;

// A record of the metadata node at the end of the run.
typedef struct app__mc_record {
    char *key;
    char *value;
    const char *change;
} app__mc_record_t;

#endif // APPS_MOONCAKE_PROGRAMS_TRANSFER_ROWS_H
