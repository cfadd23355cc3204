// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/members.c - runs the programs of collectives: the blocks of a call take
// their steps.
//
// Whatever lets a block go on is noted as work of the host and done one after the other: within a
// host, a step of one rank may let another one go on.

#include "apps/workload/collective/call_plan.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/estimate.h"
#include "apps/workload/collective/member.h"
#include "apps/workload/collective/member_channels.h"
#include "apps/workload/collective/msccl/lower.h"
#include "apps/workload/collective/repeat/memo.h"
#include "apps/workload/collective/run.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

// -- steps

// Moves to the next slice, step or loop; returns false after the last one.
static bool move_on(const app__coll_run_t *run, const app__coll_block_t *block, app__place_t *at,
                    uint32_t slices)
{
    if (++at->slice < slices) {
        return true;
    }
    at->slice = 0;
    if (++at->step < block->steps) {
        return true;
    }
    at->step = 0;
    return ++at->loop < run->plan->cut.loops;
}

static app__coll_look_t look_at(const app__member_t *member, uint32_t block, const app__place_t *at)
{
    const app__coll_plan_t *const plan = member->run->plan;
    app__coll_look_t look = {
        .step = app__program_step(&plan->program, member->number, block, at->step)};
    look.bytes = app__coll_step_bytes(plan, &look.step, at->loop);
    look.slices = app__coll_slices(plan, look.bytes, &look.slice_bytes);
    return look;
}

static uint64_t bytes_of(const app__coll_look_t *look, uint32_t slice)
{
    const uint64_t before = look->slice_bytes * slice;
    const uint64_t left = look->bytes - before;
    return SIM_MIN(left, look->slice_bytes);
}

// Returns whether a block of the rank has finished a step of a loop.
static bool has_done(const app__coll_run_t *run, uint32_t block, uint32_t loop, uint32_t step)
{
    const app__coll_block_t *const other = &run->blocks[block];
    SIM_CHECK(block < run->block_count);
    return other->done || other->at.loop > loop ||
           (other->at.loop == loop && other->at.step > step);
}

// -- clear-to-send

// Lets senders send what the block receives next, as far as the buffers of their channels go.
static void permit(app__member_t *member, uint32_t number)
{
    const app__coll_run_t *const run = member->run;
    app__coll_block_t *const block = &run->blocks[number];
    while (block->permits && block->permit.loop < run->plan->cut.loops) {
        const app__coll_look_t look = look_at(member, number, &block->permit);
        if ((look.step.what & APP__STEP_RECV) != 0 && look.slices > 0) {
            const uint32_t lane = block->channel + look.step.recv_lane;
            app__member_channel_t *const channel =
                app__member_channel(member, look.step.recv_peer, lane, true);
            if (!app__member_channel_may_permit(channel, run->plan->window, number)) {
                return;
            }
            app__member_channel_permit(channel);
        }
        (void)move_on(run, block, &block->permit, look.slices);
    }
}

// -- blocks

static void stop_waiting(const app__coll_run_t *run, app__coll_block_t *block)
{
    if (block->awaits != APP__NO_BLOCK) {
        run->blocks[block->awaits].waiters--;
        block->awaits = APP__NO_BLOCK;
    }
}

// Returns whether the slice at hand must wait, and notes for what.
static bool must_wait(app__member_t *member, uint32_t number)
{
    const app__coll_run_t *const run = member->run;
    app__coll_block_t *const block = &run->blocks[number];
    const app__step_t *const step = &block->look.step;
    stop_waiting(run, block);
    if (step->wait_block != APP__NO_BLOCK && block->at.slice == 0 &&
        !has_done(run, step->wait_block, block->at.loop, step->wait_step)) {
        block->awaits = step->wait_block; // wakes this one when it has finished a step
        run->blocks[block->awaits].waiters++;
        return true;
    }
    if (block->from != NULL && block->from->visible.next == block->from->consumed) {
        block->from->waiter = number;
        return true;
    }
    if (block->to != NULL && !app__member_channel_has_room(block->to, run->plan->window)) {
        block->to->waiter = number;
        return true;
    }
    return false;
}

static void handle_ended(sim_node_t *node, sim_timer_t *timer)
{
    app__coll_timer_t *const at = SIM_CONTAINER_OF(timer, app__coll_timer_t, timer);
    app__member_t *const member = at->member;
    SIM_CHECK(member->rank->node == node && member->run != NULL);
    app__coll_block_t *const block = &member->run->blocks[at->block];
    app__count_others(member);
    block->busy = false;
    block->handled = true;
    app__coll_wake(member, at->block);
    app__coll_work_all(member->all->ranks[member->rank->number].host);
}

// Begins to move the slice at hand, and to reduce it. Returns whether that takes time.
static bool handle(app__member_t *member, uint32_t number, uint64_t bytes, uint16_t what)
{
    const app__coll_run_t *const run = member->run;
    const app__coll_options_t *const options = &member->all->options;
    app__coll_block_t *const block = &run->blocks[number];
    const bool moves = (what & (APP__STEP_RECV | APP__STEP_SEND)) != 0;
    const bool reduces = (what & APP__STEP_REDUCE) != 0;
    if (run->timers == NULL || block->handled) {
        block->handled = false;
        return false;
    }
    const double bits = (double)bytes * 8 * 1e12;
    double took_ps = 0;
    if (reduces && options->reduce_bps != SIM_AUTO) {
        took_ps += bits / (double)options->reduce_bps;
    }
    if (moves && options->block_bps != SIM_AUTO) {
        took_ps += bits / (double)options->block_bps;
    } else if (moves && run->plan->pairs_bps > 0) {
        took_ps += bits / (double)run->plan->pairs_bps;
    } else if (run->plan->last_bps > 0 && (what & APP__STEP_SEND) == 0 &&
               block->at.loop + 1 == run->plan->cut.loops &&
               (!run->plan->program.pairs || block->at.slice + 1 == block->look.slices)) {
        took_ps += bits / (double)run->plan->last_bps; // the last copy, behind which there is none
    }
    if (took_ps <= 0) {
        return false;
    }
    block->busy = true;
    sim_timer_arm(member->rank->node, &run->timers[number].timer,
                  member->rank->node->now_ps + (sim_time_t)took_ps);
    return true;
}

// Lets those blocks look again that wait for a step of this one.
static void wake_dependents(app__member_t *member, uint32_t number)
{
    uint32_t left = member->run->blocks[number].waiters;
    for (uint32_t i = 0; left > 0; i++) {
        SIM_CHECK(i < member->run->block_count);
        if (member->run->blocks[i].awaits == number) {
            left--;
            app__coll_wake(member, i);
        }
    }
}

static void finish_block(app__member_t *member, uint32_t number)
{
    app__coll_block_t *const block = &member->run->blocks[number];
    block->done = true;
    SIM_CHECK(member->run->left > 0);
    member->run->left--;
}

// Looks at the step at hand.
static void look(app__member_t *member, uint32_t number)
{
    app__coll_block_t *const block = &member->run->blocks[number];
    block->look = look_at(member, number, &block->at);
    const app__step_t *const step = &block->look.step;
    const unsigned what = block->look.slices > 0 ? step->what : 0u;
    block->from =
        (what & APP__STEP_RECV) != 0
            ? app__member_channel(member, step->recv_peer, block->channel + step->recv_lane, true)
            : NULL;
    block->to =
        (what & APP__STEP_SEND) != 0
            ? app__member_channel(member, step->send_peer, block->channel + step->send_lane, false)
            : NULL;
    block->looked = true;
}

// Does the slice at hand; returns false if it must wait or takes time.
static bool do_slice(app__member_t *member, uint32_t number)
{
    const app__coll_run_t *const run = member->run;
    app__coll_block_t *const block = &run->blocks[number];
    if (!block->looked) {
        look(member, number);
    }
    if (must_wait(member, number)) {
        return false;
    }
    const uint64_t bytes = block->look.slices > 0 ? bytes_of(&block->look, block->at.slice) : 0;
    if (bytes > 0 && handle(member, number, bytes, block->look.step.what)) {
        return false;
    }
    if (block->from != NULL) {
        app__member_channel_consume(block->from);
    }
    if (block->to != NULL) {
        const uint64_t copied =
            run->plan->program.waits ? block->copied : SIM_MIN(block->copied, bytes);
        app__member_channel_send(block->to, run->plan, bytes, copied, block->look.step.what);
        block->copied -= copied;
    } else if (run->plan->block_bps > 0 && !run->plan->program.pairs) {
        block->copied += bytes;
    }
    return true;
}

static void advance(app__member_t *member, uint32_t number)
{
    app__coll_run_t *const run = member->run;
    app__coll_block_t *const block = &run->blocks[number];
    bool stepped = false;
    while (!block->done && !block->busy) {
        if (!do_slice(member, number)) {
            break;
        }
        const uint32_t step = block->at.step;
        const uint32_t loop = block->at.loop;
        if (!move_on(run, block, &block->at, block->look.slices)) {
            finish_block(member, number);
        }
        if (number == 0 && block->at.step != step) {
            run->stepped_ps[block->at.step % APP__PLACES_NOTED] = member->rank->node->now_ps;
        }
        if (number == 0 && block->at.loop != loop) {
            run->began_ps[block->at.loop % APP__PLACES_NOTED] = member->rank->node->now_ps;
        }
        block->looked = block->at.slice > 0;
        stepped = stepped || block->at.step != step || block->done;
    }
    permit(member, number);
    if (stepped && run->plan->program.waits) {
        wake_dependents(member, number);
    }
}

// -- calls

static void begin_blocks(app__member_t *member)
{
    for (uint32_t i = 0; i < member->run->block_count; i++) {
        if (!member->run->blocks[i].done) {
            app__coll_wake(member, i);
        }
    }
    app__coll_wake(member, APP__NO_BLOCK);
}

// Begins the blocks of a call whose latency is over.
static void begin(sim_node_t *node, sim_timer_t *timer)
{
    app__member_t *const member = SIM_CONTAINER_OF(timer, app__coll_timer_t, timer)->member;
    SIM_CHECK(member->rank->node == node && member->run != NULL);
    begin_blocks(member);
    app__coll_work_all(member->all->ranks[member->rank->number].host);
}

// Returns whether a block receives from another host, and must say when that may send.
static bool has_permits(const app__member_t *member, const app__coll_plan_t *plan, uint32_t number)
{
    const app__program_t *const program = &plan->program;
    const app__block_t block = program->algorithm->block(program, member->number, number);
    const app__member_t *const members = member->all->groups[member->group].members;
    if (plan->window == 0 || member->all->groups[member->group].inside) {
        return false;
    }
    for (uint32_t i = 0; i < block.steps; i++) {
        const app__step_t step = app__program_step(program, member->number, number, i);
        if ((step.what & APP__STEP_RECV) != 0 &&
            members[step.recv_peer].rank->node != member->rank->node) {
            return true;
        }
    }
    return false;
}

// Lets the blocks of channel 0 stand for all channels of a group from now on, if these are alike in
// all of its calls, nothing of the group is under way, and flows.csv is full: the first messages
// of each rank have rows of their own.
static void try_to_join(const app__collectives_t *all, app__coll_group_t *group)
{
    if (group->width == 1 || group->joined) {
        return;
    }
    for (uint32_t i = 0; i < group->layout.ranks; i++) {
        if (app__member_rank(&group->members[i])->record_count < all->records_max) {
            return;
        }
    }
    for (uint32_t i = 0; i < group->layout.ranks; i++) {
        if (group->members[i].run != NULL || !app__member_channels_quiet(&group->members[i])) {
            return;
        }
    }
    group->joined = true;
}

static app__coll_run_t *make_run(app__member_t *member, uint32_t op)
{
    const app__collectives_t *const all = member->all;
    const app__rank_ops_t *const ops = member->rank->ops;
    const app__coll_plan_t *const plan =
        &all->plans[all->plan_of[app__peer_of(ops, &ops->ops[op])]];
    const app__program_t *const program = &plan->program;
    app__coll_run_t *const run = sim_alloc(sizeof(*run));
    run->plan = plan;
    run->op = op;
    run->begin = (app__coll_timer_t){.member = member, .block = APP__NO_BLOCK};
    sim_timer_init(&run->begin.timer, begin);
    run->block_count = plan->cut.bytes == 0 ? 0
                                            : program->algorithm->blocks(program, member->number) /
                                                  app__member_width(member);
    run->left = run->block_count;
    run->blocks = sim_alloc_array((size_t)run->block_count + 1, sizeof(*run->blocks));
    for (uint32_t i = 0; i < run->block_count; i++) {
        const app__block_t block = program->algorithm->block(program, member->number, i);
        run->blocks[i] = (app__coll_block_t){
            .steps = block.steps,
            .channel = block.channel,
            .awaits = APP__NO_BLOCK,
            .permits = has_permits(member, plan, i),
        };
        if (block.steps == 0) {
            run->blocks[i].done = true;
            run->left--;
        }
    }
    if (all->options.reduce_bps != SIM_AUTO || all->options.block_bps != SIM_AUTO ||
        plan->block_bps > 0 || plan->pairs_bps > 0) {
        run->timers = sim_alloc_array((size_t)run->block_count + 1, sizeof(*run->timers));
        for (uint32_t i = 0; i < run->block_count; i++) {
            run->timers[i] = (app__coll_timer_t){.member = member, .block = i};
            sim_timer_init(&run->timers[i].timer, handle_ended);
        }
    }
    return run;
}

static void free_run(app__coll_run_t *run)
{
    if (run != NULL) {
        SIM_FREE_ALL(run->blocks, run->timers, run);
    }
}

// Ends the member's call if all of its blocks are done, and begins the next one.
static void settle(app__member_t *member)
{
    if (member->run != NULL) {
        // NCCL's protocols send from buffers of their own, so a call may end before.
        const bool plain = member->run->plan->protocol == APP__PROTOCOL_PLAIN;
        if (member->run->left > 0 || (plain && member->unsent > 0)) {
            return;
        }
        const uint32_t op = member->run->op;
        free_run(member->run);
        member->run = NULL;
        if (member->all->workload->memo != NULL) {
            app__memo_ended(member->all->workload->memo, member->rank);
        }
        app__rank_finish(member->rank, op);
        app__rank_pump(member->rank);
    }
    if (member->run != NULL || member->calls.head == APP__NO_OP) {
        return;
    }
    const uint32_t op = app__queue_take(&member->calls, member->rank->states);
    sim_node_t *const node = member->rank->node;
    member->rank->states[op].start_ps = node->now_ps; // it may have waited for others
    try_to_join(member->all, &member->all->groups[member->group]);
    member->run = make_run(member, op);
    const sim_time_t latency_ps = member->run->plan->latency.call_ps;
    if (latency_ps > 0 && member->run->left > 0) {
        sim_timer_arm(node, &member->run->begin.timer, node->now_ps + latency_ps);
        return;
    }
    begin_blocks(member);
}

void app__coll_wake(app__member_t *member, uint32_t block)
{
    app__coll_host_t *const host = member->all->ranks[member->rank->number].host;
    SIM_APPEND(host->work, host->work_count, host->work_capacity,
               (app__coll_work_t){member, block});
}

void app__coll_work_all(app__coll_host_t *host)
{
    if (host->working) {
        return;
    }
    host->working = true;
    for (size_t i = 0; i < host->work_count; i++) {
        app__member_t *const member = host->work[i].member;
        const uint32_t block = host->work[i].block;
        if (member->rank->workload->cancelled) {
            break; // all work of the host is of this workload
        }
        if (member->run != NULL && block < member->run->block_count) {
            advance(member, block);
        }
        settle(member);
    }
    host->work_count = 0;
    host->working = false;
}

void app__coll_begin(app__rank_t *rank, uint32_t op)
{
    app__collectives_t *const all = rank->workload->collectives;
    const app__call_t *const call =
        &rank->workload->schedule->calls[app__peer_of(rank->ops, &rank->ops->ops[op])];
    const app__coll_rank_t *const at = &all->ranks[rank->number];
    if (rank->workload->memo != NULL && app__memo_called(rank->workload->memo, rank, op)) {
        return;
    }
    for (uint32_t i = 0; i < at->member_count; i++) {
        if (at->members[i]->group == call->group) {
            app__queue_put(&at->members[i]->calls, rank->states, op);
            app__coll_wake(at->members[i], APP__NO_BLOCK);
            app__coll_work_all(at->host);
            return;
        }
    }
    SIM_CHECKF(false, "rank %u calls a collective of group %u", rank->number, call->group);
}

// -- creation

static void make_members(app__collectives_t *all)
{
    const app__schedule_t *const schedule = all->workload->schedule;
    for (uint32_t g = 0; g < schedule->group_count; g++) {
        const app__group_t *const group = &schedule->groups[g];
        app__coll_group_t *const made = &all->groups[g];
        made->members = sim_alloc_array((size_t)group->count + 1, sizeof(*made->members));
        for (uint32_t i = 0; i < group->count; i++) {
            app__coll_rank_t *const rank = &all->ranks[group->ranks[i]];
            app__member_t *const member = &made->members[i];
            *member = (app__member_t){
                .all = all,
                .rank = &all->workload->ranks[group->ranks[i]],
                .group = g,
                .number = i,
            };
            member->position =
                sim_alloc_array((size_t)member->rank->port_count + 1, sizeof(*member->position));
            app__queue_init(&member->calls);
            size_t capacity = rank->member_count; // grows by one: there are few
            SIM_APPEND(rank->members, rank->member_count, capacity, member);
        }
    }
}

// A plan of MSCCL++ puts and gets without clear-to-sends; so do all collectives that run beside it.
static sim_err_t check_sides(app__collectives_t *all, sim_message_t *message)
{
    app__protocol_t *const protocol = &all->options.protocol;
    if (!all->file.program->one_sided) {
        return SIM_OK;
    }
    if (*protocol != APP__PROTOCOL_AUTO && *protocol != APP__PROTOCOL_PLAIN) {
        return sim_fail_about(message, SIM_ERR_INVALID, "protocol",
                              ": %s has an execution plan of MSCCL++, expected auto or plain",
                              all->options.algorithm_file);
    }
    *protocol = APP__PROTOCOL_PLAIN;
    return SIM_OK;
}

static sim_err_t read_file(const app_context_t *context, app__collectives_t *all,
                           sim_message_t *message)
{
    char *text = NULL;
    size_t size_bytes = 0;
    const char *const name = all->options.algorithm_file;
    if (name[0] == '\0') {
        return SIM_OK;
    }
    sim_err_t error = context->read_file(name, &text, &size_bytes, message, context->ctx);
    if (error == SIM_OK) {
        const app__workload_file_t file = {.name = name, .text = text, .size_bytes = size_bytes};
        error = app__format_of(&file) == &app__format_mscclpp
                    ? app__mscclpp_read(&file, &all->file, message)
                    : app__msccl_read(&file, &all->file, message);
        error = error == SIM_OK ? check_sides(all, message) : error;
        sim_free(text);
    }
    return error;
}

// Refuses the file of an algorithm that no call can use.
static sim_err_t check_file(const app__collectives_t *all, sim_message_t *message)
{
    const app__program_file_t *const file = all->file.program;
    if (file == NULL || all->file_used) {
        return SIM_OK;
    }
    return sim_fail_about(message, SIM_ERR_INVALID, "algorithm-file",
                          ": %s is for %s of %u ranks with %" PRIu64 " to %" PRIu64
                          " bytes (0: any), expected one for a collective that is called",
                          all->options.algorithm_file, app__coll_kind_name(file->kind), file->ranks,
                          file->bytes_min, file->bytes_max);
}

// Refuses options that do not go together.
static sim_err_t check_options(const app__collectives_t *all, sim_message_t *message)
{
    const sim_ratio_t scale = all->options.tuning_scale;
    if (!all->options.tuning_latency && scale.num != scale.den) {
        return sim_fail_about(message, SIM_ERR_INVALID, "tuning-scale",
                              ": it acts on the latencies of tuning-latency, which is off; "
                              "expected 1, or tuning-latency: on");
    }
    if (all->options.pairs > 1 && all->options.queue_pairs != APP__QPS_PERMANENT) {
        return sim_fail_about(message, SIM_ERR_INVALID, "connection-pairs",
                              ": with queue-pairs: per-message each message has a queue pair, "
                              "expected 1, or queue-pairs: permanent");
    }
    return SIM_OK;
}

// Refuses an algorithm that does none of the collectives.
static sim_err_t check_algorithm(const app__collectives_t *all, sim_message_t *message)
{
    if (all->wanted != NULL && !all->wanted_used) {
        return sim_fail_about(message, SIM_ERR_INVALID, "algorithm",
                              ": %s %s, and the traffic has no such collective; expected auto, or "
                              "one that does some of them (a training job has all-reduces with "
                              "zero: 0 or sequence-parallel: false)",
                              all->wanted->name, all->refusal);
    }
    return SIM_OK;
}

sim_err_t app__collectives_create(const app_context_t *context, app__workload_t *workload,
                                  sim_message_t *message)
{
    const app__schedule_t *const schedule = workload->schedule;
    app__collectives_t *const all = sim_alloc(sizeof(*all));
    workload->collectives = all;
    all->workload = workload;
    all->options = workload->options.collective;
    all->groups = sim_alloc_array(schedule->group_count + 1, sizeof(*all->groups));
    all->ranks = sim_alloc_array((size_t)schedule->rank_count + 1, sizeof(*all->ranks));
    all->records_max = (all->options.flows_max + schedule->rank_count - 1) / schedule->rank_count;
    all->first_flow_id =
        app__reserve_flow_ids(workload->runtime, all->records_max * schedule->rank_count);
    app__coll_layouts(all);
    sim_err_t error = check_options(all, message);
    error = error == SIM_OK ? read_file(context, all, message) : error;
    error = error == SIM_OK ? app__coll_plan_all(all, message) : error;
    error = error == SIM_OK ? check_file(all, message) : error;
    error = error == SIM_OK ? check_algorithm(all, message) : error;
    if (error == SIM_OK) {
        make_members(all);
        app__member_channels_reserve(all);
        error = app__coll_check_paths(all, message);
    }
    return error;
}

static uint32_t members_of(const app__workload_t *workload, size_t group)
{
    return workload->collectives->groups[group].members == NULL
               ? 0
               : workload->schedule->groups[group].count;
}

void app__collectives_return(const app__workload_t *workload)
{
    const app__collectives_t *const all = workload->collectives;
    for (size_t g = all == NULL ? 0 : workload->schedule->group_count; g > 0; g--) {
        for (uint32_t i = members_of(workload, g - 1); i > 0; i--) {
            const app__member_t *const member = &all->groups[g - 1].members[i - 1];
            const app__port_t *const ports = &workload->ports[member->rank->port_first];
            for (uint32_t p = member->rank->port_count; p > 0; p--) {
                app__return_qps(ports[p - 1].endpoint, member);
            }
        }
    }
}

bool app__collectives_quiet(const app__workload_t *workload)
{
    const size_t groups = workload->collectives == NULL ? 0 : workload->schedule->group_count;
    for (size_t g = 0; g < groups; g++) {
        for (uint32_t i = 0; i < members_of(workload, g); i++) {
            if (!app__member_channels_quiet(&workload->collectives->groups[g].members[i])) {
                return false;
            }
        }
    }
    return true;
}

void app__collectives_retire(const app__workload_t *workload)
{
    const size_t groups = workload->collectives == NULL ? 0 : workload->schedule->group_count;
    for (size_t g = 0; g < groups; g++) {
        for (uint32_t i = 0; i < members_of(workload, g); i++) {
            app__member_channels_retire(&workload->collectives->groups[g].members[i]);
        }
    }
}

void app__collectives_destroy(app__collectives_t *all)
{
    if (all == NULL) {
        return;
    }
    const app__schedule_t *const schedule = all->workload->schedule;
    for (size_t g = 0; g < schedule->group_count; g++) {
        app__coll_group_t *const group = &all->groups[g];
        for (uint32_t i = 0; group->members != NULL && i < schedule->groups[g].count; i++) {
            app__member_channels_fini(&group->members[i]);
            free_run(group->members[i].run);
            sim_free(group->members[i].position);
        }
        SIM_FREE_ALL(group->members, group->layout.node, group->layout.local, group->layout.rail,
                     group->layout.order, group->layout.node_first);
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        sim_free(all->ranks[r].members);
        sim_free(all->ranks[r].records);
    }
    for (uint32_t h = 0; h < all->host_count; h++) {
        app__comings_free(&all->hosts[h].spare_comings);
        sim_free(all->hosts[h].work);
    }
    app__msccl_fini(&all->file);
    SIM_FREE_ALL(all->hosts, all->ranks, all->groups, all->plans, all->plan_of, all);
}
