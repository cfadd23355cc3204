// SPDX-License-Identifier: Apache-2.0
// cli/progress.c - the progress line.
#include "cli/progress.h"

#include "world/format.h"

#include <stdio.h>
#include <time.h>

#define PERIOD_S 0.2

double cli_wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double cli_progress_share(sim_time_t now_ps, sim_time_t until_ps, uint64_t done, uint64_t planned)
{
    double share = -1;
    if (planned > 0) {
        share = (double)done / (double)planned;
    }
    // A run may end at its limit with flows left, or before it with none left.
    if (until_ps != SIM_TIME_NEVER && until_ps > 0) {
        const double time_share = (double)now_ps / (double)until_ps;
        share = time_share > share ? time_share : share;
    }
    return share > 1 ? 1 : share;
}

static void show(sim_time_t window_end_ps, void *ctx)
{
    cli_progress_t *const progress = ctx;
    const double now_s = cli_wall_s();
    if (now_s - progress->shown_s < PERIOD_S) {
        return;
    }
    const world_t *const world = progress->world;
    uint64_t done = 0;
    uint64_t planned = 0;
    for (size_t i = 0; i < world->app_count; i++) {
        uint64_t app_done = 0;
        uint64_t app_planned = 0;
        world->apps[i]->ops->progress(world->apps[i], &app_done, &app_planned);
        done += app_done;
        planned += app_planned;
    }
    const uint64_t events = sim_events(world->sim);
    const double rate = (double)(events - progress->shown_events) / (now_s - progress->shown_s);
    world_text_t time;
    world_text_t speed;
    fprintf(stderr,
            "\r\033[K%s simulated, %" PRIu64 "/%" PRIu64 " transfers, %s events/s",
            world_format_time(&time, window_end_ps),
            done,
            planned,
            world_format_count(&speed, rate));
    const double share =
        cli_progress_share(window_end_ps, world->scenario->run.until_ps, done, planned);
    if (share > 0.001) {
        const double left_s = (now_s - progress->start_s) * (1 - share) / share;
        fprintf(stderr, ", %.0f %%, %.0f s left", share * 100, left_s);
    }
    fflush(stderr);
    progress->shown = true;
    progress->shown_s = now_s;
    progress->shown_events = events;
}

void cli_progress_begin(cli_progress_t *progress, const world_t *world)
{
    const double now_s = cli_wall_s();
    *progress = (cli_progress_t){.world = world, .start_s = now_s, .shown_s = now_s};
    sim_on_window(world->sim, show, progress);
}

void cli_progress_end(cli_progress_t *progress)
{
    if (progress->shown) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
}
