// SPDX-License-Identifier: Apache-2.0
// Goal: the public hour of prompts has, at nine capacities of the store, the hits that another
// program counted.
// Method: the trace as published, in ../shared; where it is not there the test says so.
// Not pinned: times (docs/models/mooncake.md).
#include <stdio.h>
#include <unistd.h>

#include "apps/mooncake/programs/prefix_cache.h"
#include "apps/mooncake/programs/trace.h"
#include "tests/check_main.h"

#define TRACE "../shared/data/mooncake/conversation_trace.jsonl"

// Token hits of the public hour by capacity, as counted by an independent program.
static const struct {
    uint64_t capacity_tokens;
    double token_hit;
    double block_hit;
} hour[] = {
    {10000, 0.025777895, 0.025268631},
    {100000, 0.042493360, 0.041656846},
    {1000000, 0.054206000, 0.053161179},
    {2000000, 0.085540603, 0.083906412},
    {3000000, 0.138175197, 0.135532062},
    {5000000, 0.210150436, 0.206110919},
    {10000000, 0.290780788, 0.285175043},
    {50000000, 0.370653457, 0.363500867},
    {APP__MOONCAKE_UNLIMITED, 0.373623749, 0.366412478},
};

START_TEST(the_public_hour_has_its_hits)
{
    FILE *const file = fopen(TRACE, "rb");
    ck_assert_ptr_nonnull(file);
    static char text[4 << 20];
    const size_t size = fread(text, 1, sizeof(text), file);
    fclose(file);
    app__mooncake_trace_t trace;
    sim_message_t message;
    ck_assert_int_eq(app__mooncake_trace_read("hour", text, size, UINT64_MAX, &trace, &message),
                     SIM_OK);
    ck_assert_uint_eq(trace.count, 12031);
    ck_assert_uint_eq(trace.id_count, 288500);
    app__mooncake_prefix_t *const prefix = app__mooncake_prefix_create(
        APP__MOONCAKE_LRU,
        hour[_i].capacity_tokens == APP__MOONCAKE_UNLIMITED ? APP__MOONCAKE_UNLIMITED
                                                            : hour[_i].capacity_tokens / 512,
        1);
    uint64_t tokens = 0;
    uint64_t token_hits = 0;
    uint64_t block_hits = 0;
    for (size_t i = 0; i < trace.count; i++) {
        const app__mooncake_prompt_t *const prompt = &trace.prompts[i];
        const uint64_t *const ids = &trace.ids[prompt->first_id];
        const size_t match = app__mooncake_prefix_match(prefix, ids, prompt->id_count);
        const uint64_t hit = match * 512;
        tokens += prompt->input_tokens;
        block_hits += match;
        token_hits += hit < prompt->input_tokens ? hit : prompt->input_tokens;
        app__mooncake_prefix_insert(prefix, ids, prompt->id_count, 0);
    }
    ck_assert_double_eq_tol((double)token_hits / (double)tokens, hour[_i].token_hit, 1e-9);
    ck_assert_double_eq_tol((double)block_hits / (double)trace.id_count, hour[_i].block_hit, 1e-9);
    app__mooncake_prefix_destroy(prefix);
    app__mooncake_trace_fini(&trace);
}
END_TEST

int main(void)
{
    const check_entry_t entries[] = {
        CHECK_LOOP(the_public_hour_has_its_hits, 0, (int)SIM_COUNT_OF(hour))};
    if (access(TRACE, R_OK) != 0) {
        puts("skip: the public hour, " TRACE ", is not here");
        return 77;
    }
    return check_run(entries, SIM_COUNT_OF(entries));
}
