// SPDX-License-Identifier: Apache-2.0
// apps/workload/carry.c - brings the progress of a schedule's ranks to rank 0 of the simulation.
//
// A rank here is a program of the schedule, on one host, whose process alone ran it. All processes
// have the same schedule, so only times and counts are carried (kernel/ranks.h).
#include "apps/workload/internal.h"

#include "apps/workload/collective/engine.h"

// The values of a rank that are carried besides its operations.
typedef struct state {
    sim_time_t end_ps;
    uint64_t failed;
    uint64_t unexpected_peak;
    uint32_t left;
    uint32_t cpu_count;
} state_t;

static void leave_collectives(const app__coll_rank_t *rank, sim_buffer_t *bytes)
{
    sim_buffer_put_u64(bytes, rank->messages);
    sim_buffer_put(bytes, &rank->bytes, sizeof(rank->bytes));
    sim_buffer_put_u64(bytes, rank->record_count);
    sim_buffer_put(bytes, rank->records, rank->record_count * sizeof(*rank->records));
}

static void take_collectives(app__coll_rank_t *rank, sim_reader_t *bytes)
{
    rank->messages = sim_reader_u64(bytes);
    sim_reader_get(bytes, &rank->bytes, sizeof(rank->bytes));
    const size_t count = (size_t)sim_reader_u64(bytes);
    SIM_CHECK(rank->record_count == 0);
    rank->records = sim_realloc_array(rank->records, count + 1, sizeof(*rank->records));
    rank->record_count = count;
    rank->record_capacity = count + 1;
    sim_reader_get(bytes, rank->records, count * sizeof(*rank->records));
}

void app__workload_leave(const app_t *app, sim_buffer_t *bytes)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        if (!sim_node_is_here(rank->node)) {
            continue;
        }
        const state_t state = {.end_ps = rank->end_ps,
                               .failed = rank->failed,
                               .unexpected_peak = rank->unexpected_peak,
                               .left = rank->left,
                               .cpu_count = rank->cpu_count};
        sim_buffer_put_u32(bytes, r);
        sim_buffer_put(bytes, &state, sizeof(state));
        sim_buffer_put(bytes, rank->states, rank->ops->count * sizeof(*rank->states));
        for (uint32_t i = 0; i < rank->cpu_count; i++) {
            sim_buffer_put_u64(bytes, rank->cpus[i].busy_ps);
        }
        if (workload->collectives != NULL) {
            leave_collectives(&workload->collectives->ranks[r], bytes);
        }
    }
    sim_buffer_put_u32(bytes, UINT32_MAX);
}

void app__workload_take(app_t *app, sim_reader_t *bytes)
{
    app__workload_t *const workload = (app__workload_t *)app;
    for (uint32_t r = sim_reader_u32(bytes); r != UINT32_MAX; r = sim_reader_u32(bytes)) {
        SIM_CHECK(r < workload->schedule->rank_count);
        app__rank_t *const rank = &workload->ranks[r];
        state_t state;
        sim_reader_get(bytes, &state, sizeof(state));
        SIM_CHECK(state.cpu_count == rank->cpu_count);
        rank->end_ps = state.end_ps;
        rank->failed = state.failed;
        rank->unexpected_peak = state.unexpected_peak;
        rank->left = state.left;
        sim_reader_get(bytes, rank->states, rank->ops->count * sizeof(*rank->states));
        for (uint32_t i = 0; i < rank->cpu_count; i++) {
            rank->cpus[i].busy_ps = sim_reader_u64(bytes);
        }
        if (workload->collectives != NULL) {
            take_collectives(&workload->collectives->ranks[r], bytes);
        }
    }
}
