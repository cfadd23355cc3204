// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/exchange.c - exchanges in log2 of the ranks steps:
// halving-doubling, and PAT (parallel aggregated trees).
//
// One block of a channel sends and one receives, so that two ranks that exchange data do not wait
// for each other. A send waits for the receive before.
#include "apps/workload/collective/algorithms/program.h"

static uint32_t floor_log2(uint32_t n)
{
    uint32_t log = 0;
    while (n >> (log + 1) != 0) {
        log++;
    }
    return log;
}

static uint32_t two_blocks(const app__program_t *program, uint32_t rank)
{
    (void)rank;
    return program->ranks > 1 ? 2 * program->channels : 0;
}

// -- halving-doubling. Without a power of 2 of ranks, the first odd ranks hand their data to the
// even ones before, and get the result at the end.

// A rank in the exchange.
typedef struct seat {
    uint32_t power;  // ranks that exchange: a power of 2
    uint32_t log;    // binary logarithm of power
    uint32_t extra;  // ranks that do not
    uint32_t number; // among those that exchange; APP__NO_RANK: it does not
    uint32_t helped; // rank that hands its data over, or takes them; APP__NO_RANK: none
} seat_t;

static seat_t seat_of(const app__program_t *program, uint32_t rank)
{
    seat_t seat = {.log = floor_log2(program->ranks), .helped = APP__NO_RANK};
    seat.power = UINT32_C(1) << seat.log;
    seat.extra = program->ranks - seat.power;
    if (rank >= 2 * seat.extra) {
        seat.number = rank - seat.extra;
    } else {
        seat.number = rank % 2 == 0 ? rank / 2 : APP__NO_RANK;
        seat.helped = rank ^ 1;
    }
    return seat;
}

static uint32_t rank_of(const seat_t *seat, uint32_t number)
{
    return number < seat->extra ? 2 * number : number + seat->extra;
}

static const char *halving_refuses(const app__program_t *program)
{
    const bool whole = (program->ranks & (program->ranks - 1)) == 0;
    if (program->kind == APP__COLL_ALL_REDUCE) {
        return NULL;
    }
    return program->kind != APP__COLL_REDUCE_SCATTER && program->kind != APP__COLL_ALL_GATHER
               ? "does all-reduce, reduce-scatter and all-gather"
           : whole ? NULL
                   : "needs a power of 2 of ranks for reduce-scatter and all-gather";
}

static void halving_plan(app__program_t *program)
{
    const seat_t seat = seat_of(program, 0);
    program->lanes = program->channels;
    program->chunks = program->channels * seat.power;
    program->step_chunks = seat.extra > 0 ? seat.power : (seat.power + 1) / 2;
    program->waits = true;
}

// Returns how many exchanges there are: halving, doubling or both.
static uint32_t exchanges_of(const app__program_t *program, const seat_t *seat)
{
    return program->kind == APP__COLL_ALL_REDUCE ? 2 * seat->log : seat->log;
}

static app__block_t halving_block(const app__program_t *program, uint32_t rank, uint32_t block)
{
    const seat_t seat = seat_of(program, rank);
    const uint32_t steps = seat.number == APP__NO_RANK ? 0 : exchanges_of(program, &seat);
    return (app__block_t){
        .channel = block / 2,
        .steps = steps + (seat.helped != APP__NO_RANK ? 1 : 0),
    };
}

// Fills exchange `index`: who with, and which chunks this rank sends or receives.
static void fill_exchange(const app__program_t *program, const seat_t *seat, uint32_t index,
                          bool sends, app__step_t *step)
{
    const bool reduces = program->kind != APP__COLL_ALL_GATHER && index < seat->log;
    const uint32_t doubling = program->kind == APP__COLL_ALL_GATHER ? index : index - seat->log;
    const uint32_t distance = reduces ? seat->power >> (index + 1) : UINT32_C(1) << doubling;
    const uint32_t other = seat->number ^ distance;
    const uint32_t owner = reduces == sends ? other : seat->number; // whose half the chunks are
    step->count = distance;
    step->from_chunk = owner & ~(distance - 1);
    step->send_peer = rank_of(seat, other);
    step->recv_peer = step->send_peer;
    step->what =
        (uint8_t)(sends ? APP__STEP_SEND
                        : APP__STEP_RECV | APP__STEP_STORE | (reduces ? APP__STEP_REDUCE : 0));
}

static void halving_step(const app__program_t *program, uint32_t rank, uint32_t block,
                         uint32_t index, app__step_t *step)
{
    const seat_t seat = seat_of(program, rank);
    const bool sends = block % 2 == 0;
    const bool helped = seat.helped != APP__NO_RANK;
    const uint32_t count = seat.number == APP__NO_RANK ? 0 : exchanges_of(program, &seat);
    if (seat.number == APP__NO_RANK || (helped && index == (sends ? count : 0))) {
        step->count = seat.power;
        step->send_peer = seat.helped;
        step->recv_peer = seat.helped;
        step->what = sends ? APP__STEP_SEND : APP__STEP_RECV | APP__STEP_STORE;
        step->what |= !sends && seat.number != APP__NO_RANK ? APP__STEP_REDUCE : 0;
        step->what |= sends && seat.number != APP__NO_RANK ? APP__STEP_FINAL : 0;
    } else {
        fill_exchange(program, &seat, index - (!sends && helped ? 1 : 0), sends, step);
        const bool last = seat_of(program, step->send_peer).helped == APP__NO_RANK;
        step->what |= sends && index + 1 == count && last ? APP__STEP_FINAL : 0;
    }
    const uint32_t before = index + (helped ? 1 : 0); // receives that a send needs
    if (sends && before > 0 && seat.number != APP__NO_RANK) {
        step->wait_block = block + 1;
        step->wait_step = before - 1;
    }
    step->from_chunk += block / 2 * seat.power;
    step->to_chunk = step->from_chunk;
}

const app__algorithm_t app__halving_doubling = {
    .name = "halving-doubling",
    .refuses = halving_refuses,
    .plan = halving_plan,
    .blocks = two_blocks,
    .block = halving_block,
    .step = halving_step,
};

// -- PAT: each rank's data go down a binomial tree of the same shape, far steps first. A message
// has the data of all trees that take the same step. A reduce-scatter goes the other way.

static const char *pat_refuses(const app__program_t *program)
{
    return program->kind != APP__COLL_REDUCE_SCATTER && program->kind != APP__COLL_ALL_GATHER
               ? "does reduce-scatter and all-gather"
               : NULL;
}

static uint32_t pat_steps(const app__program_t *program)
{
    return floor_log2(program->ranks - 1) + 1;
}

static void pat_plan(app__program_t *program)
{
    program->lanes = program->channels;
    program->chunks = program->channels * program->ranks;
    program->step_chunks = (program->ranks + 1) / 2;
    program->waits = true;
}

static app__block_t pat_block(const app__program_t *program, uint32_t rank, uint32_t block)
{
    (void)rank;
    return (app__block_t){.channel = block / 2, .steps = pat_steps(program)};
}

static void pat_step(const app__program_t *program, uint32_t rank, uint32_t block, uint32_t index,
                     app__step_t *step)
{
    const uint32_t n = program->ranks;
    const uint32_t steps = pat_steps(program);
    const bool gathers = program->kind == APP__COLL_ALL_GATHER;
    const bool sends = block % 2 == 0;
    const uint32_t distance = UINT32_C(1) << (gathers ? steps - 1 - index : index);
    const uint32_t above = (rank + n - distance) % n; // nearer to the roots of the trees
    const uint32_t below = (rank + distance) % n;
    const uint32_t upper = sends == gathers ? rank : above; // of the two that exchange
    // Data of the ranks 0, 2 d, 4 d... above the upper one go through it, if the lower one exists.
    step->count = (n - distance - 1) / (2 * distance) + 1;
    step->stride = (n - 2 * distance % n) % n;
    step->from_chunk = block / 2 * n + upper;
    step->to_chunk = step->from_chunk;
    step->send_peer = gathers ? below : above;
    step->recv_peer = gathers ? above : below;
    step->what =
        (uint8_t)(sends ? APP__STEP_SEND
                        : APP__STEP_RECV | APP__STEP_STORE | (gathers ? 0 : APP__STEP_REDUCE));
    step->what |= sends && index + 1 == steps ? APP__STEP_FINAL : 0;
    if (step->count == 1) {
        step->stride = 0;
    }
    if (sends && index > 0) {
        step->wait_block = block + 1;
        step->wait_step = index - 1;
    }
}

const app__algorithm_t app__pat = {
    .name = "pat",
    .refuses = pat_refuses,
    .plan = pat_plan,
    .blocks = two_blocks,
    .block = pat_block,
    .step = pat_step,
};
