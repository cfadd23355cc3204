// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/all_pairs.c - all-reduce in two steps, as RCCL does few bytes
// on GPUs that all have a link to each other: each rank owns a shard of a channel's chunk, adds up
// what all others send it for that shard, and sends the sum to all of them.
//
// A channel has a block for each other rank. The sum is complete when the last block of a channel
// has noted that all blocks before it have added.
#include "apps/workload/collective/algorithms/program.h"

enum { CONTRIBUTE, ADD, NOTE, SPREAD, COLLECT, STEPS };

static const char *refuses(const app__program_t *program)
{
    return program->kind == APP__COLL_ALL_REDUCE ? NULL : "does all-reduce";
}

static void plan(app__program_t *program)
{
    program->lanes = program->channels;
    program->chunks = program->channels * program->ranks;
    program->waits = true;
}

static uint32_t blocks(const app__program_t *program, uint32_t rank)
{
    (void)rank;
    return program->channels * (program->ranks - 1);
}

static app__block_t block_at(const app__program_t *program, uint32_t rank, uint32_t block)
{
    (void)rank;
    return (app__block_t){.channel = block / (program->ranks - 1), .steps = STEPS};
}

static void step_of(const app__program_t *program, uint32_t rank, uint32_t block, uint32_t index,
                    app__step_t *step)
{
    static const uint16_t what[STEPS] = {
        [CONTRIBUTE] = APP__STEP_SEND,
        [ADD] = APP__STEP_RECV | APP__STEP_REDUCE | APP__STEP_STORE,
        [NOTE] = 0,
        [SPREAD] = APP__STEP_SEND | APP__STEP_FINAL,
        [COLLECT] = APP__STEP_RECV | APP__STEP_STORE,
    };
    const uint32_t n = program->ranks;
    const uint32_t at = block % (n - 1);
    const uint32_t peer = (rank + 1 + at) % n;
    const bool own = index == ADD || index == SPREAD;
    const bool notes = index == NOTE && at > 0;
    step->what = what[index];
    step->from_chunk = block / (n - 1) * n + (own ? rank : peer);
    step->to_chunk = step->from_chunk;
    step->count = index == NOTE ? 0 : 1;
    step->send_peer = peer;
    step->recv_peer = peer;
    if (notes || index == SPREAD) {
        step->wait_block = notes ? block - 1 : block - at + n - 2;
        step->wait_step = NOTE;
    }
}

const app__algorithm_t app__all_pairs = {
    .name = "all-pairs",
    .refuses = refuses,
    .plan = plan,
    .blocks = blocks,
    .block = block_at,
    .step = step_of,
};
