// SPDX-License-Identifier: Apache-2.0
// apps/workload/results/slowest.c - finds the rank that computed for much longer than others did.
#include "apps/workload/results/slowest.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/rank.h"

#include <stdlib.h>

// Returns the time of all computations of a rank that have ended, and stores the longest one.
static sim_time_t calc_ps(const app__rank_t *rank, sim_time_t *longest_ps)
{
    sim_time_t sum_ps = 0;
    *longest_ps = 0;
    for (uint32_t i = 0; i < rank->ops->count; i++) {
        const app__op_state_t *const state = &rank->states[i];
        if (rank->ops->ops[i].type == APP__OP_CALC && state->finished &&
            state->end_ps != SIM_TIME_NEVER && state->end_ps > state->start_ps) {
            sum_ps += state->end_ps - state->start_ps;
            *longest_ps = SIM_MAX(state->end_ps - state->start_ps, *longest_ps);
        }
    }
    return sum_ps;
}

// The computations of a rank.
typedef struct computed {
    uint32_t rank;
    uint32_t operations; // of any kind: ranks with as many are peers
    sim_time_t calc_ps;
    sim_time_t longest_ps;
} computed_t;

static int by_peers(const void *a, const void *b)
{
    const computed_t *const x = a;
    const computed_t *const y = b;
    return 2 * SIM_COMPARE(x->operations, y->operations) + SIM_COMPARE(x->calc_ps, y->calc_ps);
}

static int by_time(const void *a, const void *b)
{
    const computed_t *const x = a;
    const computed_t *const y = b;
    return (x->calc_ps > y->calc_ps) - (x->calc_ps < y->calc_ps);
}

// Returns how many ranks computed for at least nine tenths of that time.
static uint64_t count_alike(const computed_t *ranks, uint32_t count, sim_time_t time_ps)
{
    uint64_t alike = 0;
    for (uint32_t r = 0; r < count; r++) {
        alike += ranks[r].calc_ps >= time_ps / 10 * 9;
    }
    return alike;
}

// Returns the lower median of `count` sorted ranks.
static sim_time_t median_of(const computed_t *ranks, uint32_t count)
{
    return ranks[(count - 1) / 2].calc_ps;
}

bool app__slowest_measure(const app__workload_t *workload, app__slowest_t *slowest)
{
    const uint32_t count = workload->schedule->rank_count;
    computed_t *const ranks = sim_alloc_array((size_t)count + 1, sizeof(*ranks));
    for (uint32_t r = 0; r < count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        ranks[r] = (computed_t){.rank = r, .operations = rank->ops->count};
        ranks[r].calc_ps = calc_ps(rank, &ranks[r].longest_ps);
    }
    qsort(ranks, count, sizeof(*ranks), by_time);
    const sim_time_t all_ps = count > 0 ? median_of(ranks, count) : 0;
    qsort(ranks, count, sizeof(*ranks), by_peers);
    const computed_t *worst = NULL;
    sim_time_t worst_ps = 0;
    for (uint32_t from = 0, to = 0; from < count; from = to) {
        while (to < count && ranks[to].operations == ranks[from].operations) {
            to++;
        }
        const computed_t *const last = &ranks[to - 1];
        const sim_time_t median_ps = to - from > 1 ? median_of(&ranks[from], to - from) : all_ps;
        if (worst == NULL || last->calc_ps + worst_ps > worst->calc_ps + median_ps) {
            worst = last;
            worst_ps = median_ps;
        }
    }
    const bool computes = count > 1 && worst->calc_ps > 0;
    if (computes) {
        *slowest = (app__slowest_t){
            .rank = worst->rank,
            .host = workload->ranks[worst->rank].node->name,
            .calc_ms = (double)worst->calc_ps / (double)SIM_PS_PER_MS,
            .peers_ms = (double)worst_ps / (double)SIM_PS_PER_MS,
            .alike = count_alike(ranks, count, worst->calc_ps),
            .longest_ms = (double)worst->longest_ps / (double)SIM_PS_PER_MS,
        };
    }
    sim_free(ranks);
    return computes;
}

#define ROW(...) APP__ROW(app__slowest_t, __VA_ARGS__)
static const sim_report_row_t rows[] = {APP__SLOWEST_ROWS(ROW)};
const sim_report_table_t app__slowest_report = APP__TABLE(rows, app__slowest_t);
