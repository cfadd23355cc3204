// SPDX-License-Identifier: Apache-2.0
// kernel/engine/steps.c - runs that go by steps: each ends at a time that the caller gives, or
// behind an event that the caller watches for.
#include "kernel/steps.h"

#include "kernel/engine/appoint.h"
#include "kernel/engine/thread.h"
#include "kernel/engine/unit.h"
#include "kernel/engine/window.h"
#include "kernel/engine_internal.h"

static void begin_steps(sim_t *sim)
{
    SIM_CHECK(sim->ranks == NULL && sim->options.steps && sim->options.threads == 1 &&
              sim__ties_by_hash(sim));
    sim__partition(sim);
    sim->ran = true;
    sim->judged_cell = SIM_NO_WINDOW;
    for (size_t i = 0; i < sim->node_count; i++) {
        sim_node_t *const node = sim->nodes[i];
        node->unit->watched |= node->watched;
        node->alone &= !node->watched;
        sim_touch(node);
    }
}

void sim_watch(sim_node_t *node)
{
    SIM_CHECK(!node->sim->ran);
    node->watched = true;
}

void sim_cut_step(sim_node_t *node)
{
    if (node->sim->watching) {
        SIM_CHECK(node->watched);
        node->sim->stop_ps = SIM_MIN(node->now_ps + 1, node->sim->stop_ps);
    }
}

void sim_touch(sim_node_t *node)
{
    if (node->sim->ran) {
        sim__appoint(sim__thread_of(node), node->unit, sim__node_next_ps(node));
    }
}

// Runs windows up to sim->stop_ps, the last of them in part.
static void run_step(sim_t *sim)
{
    sim_thread_t *const thread = sim->threads[0];
    sim->clipped = true; // the present window may have a rest
    sim__publish_next(thread);
    for (sim__decide(sim); sim->decided_window != SIM_NO_WINDOW; sim__decide(sim)) {
        if (sim->ends_step) {
            sim->ended = SIM_ENDED_UNTIL;
            return;
        }
        sim->window = sim->decided_window;
        sim->parity ^= 1;
        sim->clipped = sim__window_end(sim, sim->window) > sim->stop_ps;
        sim__run_window(thread); // it may lower stop_ps
        if (sim->clipped) {
            sim->stopped_ps = sim->stop_ps;
        }
    }
}

void sim_end_step(sim_t *sim, sim_time_t window_end_ps)
{
    if (window_end_ps < sim->stop_ps) {
        sim->stop_ps = window_end_ps;
        sim->ends_step = true;
    }
}

sim_ended_t sim_step(sim_t *sim, sim_time_t stop_ps)
{
    SIM_CHECK(stop_ps >= sim->stopped_ps);
    if (!sim->ran) {
        begin_steps(sim);
    }
    if (sim->ended == SIM_ENDED_STALLED) {
        sim->stall.fruitless_ps = 0; // what was submitted since may bring progress
    }
    const sim_time_t last_ps = SIM_MIN(stop_ps, sim->options.until_ps);
    sim->stop_ps = last_ps;
    sim->ends_step = false;
    sim->ended = SIM_ENDED_DONE;
    if (sim->node_count > 0) {
        run_step(sim);
    }
    if (sim->ended == SIM_ENDED_DONE || sim->ended == SIM_ENDED_UNTIL) {
        sim->stopped_ps = sim->stop_ps < last_ps ? sim->stop_ps : stop_ps;
    }
    return sim->ended;
}

// Returns the time after the last event so far, which is not before from_ps.
static sim_time_t after_last_ps(const sim_t *sim, sim_time_t from_ps)
{
    sim_time_t after_ps = from_ps;
    for (size_t i = 0; i < sim->node_count; i++) {
        const sim_time_t node_ps = sim->nodes[i] != NULL ? sim->nodes[i]->now_ps + 1 : 0;
        after_ps = SIM_MAX(node_ps, after_ps);
    }
    return after_ps;
}

sim_ended_t sim_step_watched(sim_t *sim, sim_time_t stop_ps)
{
    const sim_time_t from_ps = sim->stopped_ps;
    sim->watching = true;
    const sim_ended_t ended = sim_step(sim, stop_ps);
    sim->watching = false;
    if (sim->stop_ps < SIM_MIN(stop_ps, sim->options.until_ps)) {
        return SIM_ENDED_UNTIL; // the caller may answer the event, though nothing else was to come
    }
    if (ended != SIM_ENDED_UNTIL) {
        sim->stopped_ps = after_last_ps(sim, from_ps);
    }
    return ended;
}

sim_time_t sim_stepped_ps(const sim_t *sim)
{
    return sim->stopped_ps;
}

sim_ended_t sim_last_step(sim_t *sim)
{
    sim__sum_digests(sim->threads[0]);
    sim__finish(sim);
    return sim->ended;
}
