// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/inside.c - periods that lie within calls: loops of chunks, and
// steps of a ring.
//
// All loops but the last have whole chunks. In the middle of a loop, a rank of a ring does the same
// in each step, with another chunk of the same size. Its clear-to-sends may be for the next loop by
// then, and are counted by the receives that they are for.
#include "apps/workload/collective/repeat/inside.h"

#include "apps/workload/workload.h"

#include <string.h>

// Steps that are worth two moments: jumps within their messages (apps/periods.c) skip most, too.
// They leave about so many bytes of each message, while a step lies between two moments.
#define STEPS_LEAST 4u
#define STEP_BYTES (UINT64_C(512) << 10)

// -- what is alike

static app__step_t step_at(const app__coll_run_t *run, uint32_t block, uint32_t step)
{
    return app__program_step(&run->plan->program, run->begin.member->number, block, step);
}

// Returns whether a block does the same in two steps of its loop, but for the chunks that it moves.
static bool alike(const app__coll_run_t *run, uint32_t block, uint32_t a, uint32_t b)
{
    const uint32_t loop = run->blocks[block].at.loop;
    const app__step_t left = step_at(run, block, a);
    const app__step_t right = step_at(run, block, b);
    return left.what == right.what && left.recv_peer == right.recv_peer &&
           left.send_peer == right.send_peer && left.recv_lane == right.recv_lane &&
           left.send_lane == right.send_lane && left.wait_block == APP__NO_BLOCK &&
           right.wait_block == APP__NO_BLOCK &&
           app__coll_step_bytes(run->plan, &left, loop) ==
               app__coll_step_bytes(run->plan, &right, loop);
}

// Returns the last step of those from `step` on that are alike.
static uint32_t alike_to(const app__coll_run_t *run, uint32_t block, uint32_t step)
{
    while (step + 1 < run->blocks[block].steps && alike(run, block, step, step + 1)) {
        step++;
    }
    return step;
}

typedef struct receive {
    uint32_t peer;
    uint32_t lane;
    uint32_t slices; // 0: the block does not receive there
} receive_t;

static receive_t receive_at(const app__coll_run_t *run, uint32_t block, app__place_t at)
{
    uint64_t slice_bytes = 0;
    if (at.loop >= run->plan->cut.loops) {
        return (receive_t){0};
    }
    const app__step_t step = step_at(run, block, at.step);
    const uint64_t bytes = app__coll_step_bytes(run->plan, &step, at.loop);
    return (receive_t){
        step.recv_peer, step.recv_lane,
        (step.what & APP__STEP_RECV) == 0 ? 0 : app__coll_slices(run->plan, bytes, &slice_bytes)};
}

// Moves a place on by so many receives, as long as they are alike. Returns by how many.
static uint64_t move_permit(const app__coll_run_t *run, uint32_t block, app__place_t *at,
                            uint64_t count)
{
    const receive_t first = receive_at(run, block, *at);
    uint64_t moved = 0;
    app__place_t next = *at;
    while (moved < count && first.slices > 0 && next.loop < run->plan->cut.loops) {
        if (++next.step == run->blocks[block].steps) {
            next.step = 0;
            next.loop++;
        }
        const receive_t receive = receive_at(run, block, next);
        if (receive.slices == 0) {
            continue;
        }
        if (receive.peer != first.peer || receive.lane != first.lane ||
            receive.slices != first.slices) {
            break;
        }
        *at = next;
        moved++;
    }
    return moved;
}

// -- moments

void app__reach_note(app__reaches_t *reaches, app__unit_t unit, sim_notes_t *notes,
                     app__coll_run_t *run, uint32_t number)
{
    app__coll_block_t *const block = &run->blocks[number];
    const app__place_t *const first = &run->blocks[0].at;
    SIM_APPEND(reaches->items, reaches->count, reaches->capacity,
               ((app__reach_t){run, number, block->at, block->permit}));
    if (unit == APP__STEPS) {
        sim_note(notes, (uint64_t)block->at.loop << 32 | (block->at.step - first->step));
        sim_note_step(notes, &block->at.step, sizeof(block->at.step), UINT32_MAX);
        return;
    }
    const uint32_t permit_base = block->permits ? first->loop : 0;
    sim_note(notes, (uint64_t)(block->at.loop - first->loop) << 32 | block->at.step);
    sim_note(notes, (uint64_t)(block->permit.loop - permit_base) << 32 | block->permit.step);
    sim_note_step(notes, &block->at.loop, sizeof(block->at.loop), UINT32_MAX);
    if (block->permits) {
        sim_note_step(notes, &block->permit.loop, sizeof(block->permit.loop), UINT32_MAX);
    }
}

// Chunks of pairs end at loops of their own.
static uint64_t most_chunks(const app__reach_t *before, const app__reach_t *now)
{
    const app__coll_plan_t *const plan = now->run->plan;
    const uint32_t last = plan->program.pairs || plan->cut.loops < 2 ? 0 : plan->cut.loops - 2;
    const uint32_t from = SIM_MAX(before->at.loop, before->permit.loop);
    const uint32_t to = SIM_MAX(now->at.loop, now->permit.loop);
    return to == from ? UINT64_MAX : to >= last ? 0 : (last - to) / (to - from);
}

static uint64_t most_steps(const app__reach_t *before, const app__reach_t *now)
{
    const app__coll_run_t *const run = now->run;
    const uint32_t each = now->at.step - before->at.step;
    if (each == 0) {
        return now->permit.loop == before->permit.loop && now->permit.step == before->permit.step
                   ? UINT64_MAX
                   : 0;
    }
    const uint32_t last = alike_to(run, now->block, before->at.step);
    if (last < now->at.step) {
        return 0;
    }
    const uint64_t most = (last - now->at.step) / each;
    app__place_t permit = before->permit;
    const uint32_t loops = run->plan->cut.loops;
    if (!run->blocks[now->block].permits || (permit.loop == loops && now->permit.loop == loops)) {
        return most;
    }
    if (move_permit(run, now->block, &permit, each) != each || permit.loop != now->permit.loop ||
        permit.step != now->permit.step) {
        return 0;
    }
    return move_permit(run, now->block, &permit, most * each) / each;
}

uint64_t app__reach_most(app__unit_t unit, const app__reaches_t *before, const app__reaches_t *now)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < now->count; i++) {
        const uint64_t own = unit == APP__STEPS ? most_steps(&before->items[i], &now->items[i])
                                                : most_chunks(&before->items[i], &now->items[i]);
        least = SIM_MIN(own, least);
    }
    return least;
}

// Moves the latest times of a call's places along, so that the next guess has them.
static void move_times(sim_time_t times_ps[APP__PLACES_NOTED], uint32_t by, sim_time_t by_ps)
{
    sim_time_t moved_ps[APP__PLACES_NOTED];
    for (uint32_t i = 0; i < APP__PLACES_NOTED; i++) {
        moved_ps[(i + by) % APP__PLACES_NOTED] = times_ps[i] + by_ps;
    }
    memcpy(times_ps, moved_ps, sizeof(moved_ps));
}

void app__reach_jump(app__unit_t unit, const app__reaches_t *before, const app__reaches_t *now,
                     uint64_t count, sim_time_t period_ps)
{
    const bool steps = unit == APP__STEPS;
    for (size_t i = 0; unit != APP__CALLS && i < now->count; i++) {
        const app__reach_t *const at = &now->items[i];
        const app__reach_t *const was = &before->items[i];
        app__coll_block_t *const block = &at->run->blocks[at->block];
        const uint64_t each = steps ? at->at.step - was->at.step : at->at.loop - was->at.loop;
        if (at->block == 0) {
            move_times(steps ? at->run->stepped_ps : at->run->began_ps, (uint32_t)(count * each),
                       count * period_ps);
        }
        if (steps && block->permits) {
            (void)move_permit(at->run, at->block, &block->permit, count * each);
        }
    }
}

// -- guesses

// Returns whether a call has so many steps alike ahead of it that it gains by looking for them.
static bool steps_ahead(const app__coll_run_t *run, uint32_t apart)
{
    const uint32_t number = run->blocks[0].at.step;
    const uint32_t ahead = alike_to(run, 0, number) - number;
    const app__step_t step = step_at(run, 0, number);
    uint64_t slice_bytes = 0;
    (void)app__coll_slices(
        run->plan, app__coll_step_bytes(run->plan, &step, run->blocks[0].at.loop), &slice_bytes);
    return ahead >= apart + STEPS_LEAST && slice_bytes < ahead * STEP_BYTES;
}

static sim_time_t time_of(const app__coll_run_t *run, app__unit_t unit, uint32_t apart,
                          sim_time_t known_ps)
{
    const bool steps = unit == APP__STEPS;
    const app__place_t *const at = &run->blocks[0].at;
    const uint32_t number = steps ? at->step : at->loop;
    const sim_time_t *const began_ps = steps ? run->stepped_ps : run->began_ps;
    if (number < 2 * apart ||
        !(steps ? steps_ahead(run, apart) : number + apart + 2 <= run->plan->cut.loops)) {
        return 0;
    }
    if (number == 2 * apart) {
        return steps ? known_ps : 0;
    }
    const sim_time_t middle_ps = began_ps[(number - apart) % APP__PLACES_NOTED];
    const sim_time_t time_ps = began_ps[number % APP__PLACES_NOTED] - middle_ps;
    return middle_ps - began_ps[(number - 2 * apart) % APP__PLACES_NOTED] == time_ps ? time_ps : 0;
}

sim_time_t app__inside_period_ps(const app__workload_t *workload, app__unit_t unit, uint32_t apart,
                                 sim_time_t known_ps)
{
    sim_time_t period_ps = 0;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__coll_rank_t *const at = &workload->collectives->ranks[r];
        for (uint32_t i = 0; i < at->member_count; i++) {
            const app__coll_run_t *const run = at->members[i]->run;
            if (run == NULL || run->left == 0) {
                continue;
            }
            const sim_time_t own_ps = time_of(run, unit, apart, known_ps);
            if (own_ps == 0 || (period_ps != 0 && own_ps != period_ps)) {
                return 0;
            }
            period_ps = own_ps;
        }
    }
    return period_ps;
}
