// SPDX-License-Identifier: Apache-2.0
// studio/server/library/prefix_run.c - estimates how long a run takes from its beginning.
#include "studio/server/library/prefix_run.h"

#include "kernel/sim.h"

#include <time.h>

#define BUDGET_S 0.25
#define SHARE_MIN 0.02 // of the run: where less was done, the budget is four times as large

typedef struct prefix {
    const world_t *world;
    double begun_s;
    double mark_s; // processor time between a quarter and half of what is used, and what was done
    double mark_share;
} prefix_t;

static double cpu_s(void)
{
    struct timespec used = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

// Returns the share of the run that is done: a run ends at its time limit or when nothing is left,
// whichever comes first.
static double share_of(const world_t *world)
{
    const sim_time_t until_ps = world->scenario->run.until_ps;
    double share = -1;
    double done = 0;
    double planned = 0;
    for (size_t i = 0; i < world->app_count; i++) {
        uint64_t app_done = 0;
        uint64_t app_planned = 0;
        const app_t *const app = world->apps[i];
        app->ops->progress(app, &app_done, &app_planned);
        done += (double)app_done + (app->ops->under_way != NULL ? app->ops->under_way(app) : 0);
        planned += (double)app_planned;
    }
    if (planned > 0) {
        share = done / planned;
    }
    if (until_ps != SIM_TIME_NEVER && until_ps > 0) {
        share = SIM_MAX(share, (double)sim_end_time_ps(world->sim) / (double)until_ps);
    }
    return SIM_MIN(share, 1);
}

static void stop_in_time(sim_time_t window_end_ps, void *ctx)
{
    prefix_t *const prefix = ctx;
    const double used_s = cpu_s() - prefix->begun_s;
    (void)window_end_ps;
    if (used_s > SIM_MAX(4 * prefix->mark_s, BUDGET_S / 8)) {
        prefix->mark_s = used_s;
        prefix->mark_share = SIM_MAX(share_of(prefix->world), 0);
    }
    if (used_s > 4 * BUDGET_S || (used_s > BUDGET_S && share_of(prefix->world) > SHARE_MIN)) {
        sim_interrupt(prefix->world->sim);
    }
}

double studio__prefix_run_s(world_t *world, bool *whole)
{
    prefix_t prefix = {.world = world, .begun_s = cpu_s()};
    sim_on_window(world->sim, stop_in_time, &prefix);
    const sim_ended_t ended = sim_run(world->sim);
    const double used_s = cpu_s() - prefix.begun_s;
    *whole = ended != SIM_ENDED_INTERRUPTED;
    const double share = *whole ? 1 : share_of(world);
    if (*whole) {
        return used_s;
    }
    const double newly = share - prefix.mark_share; // without what is slow at the beginning
    return newly > 0 ? used_s + (1 - share) * (used_s - prefix.mark_s) / newly : -1;
}
