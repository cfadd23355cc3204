// SPDX-License-Identifier: Apache-2.0
// results/run/pause_bins.h - how long each class of each port was stopped in each bin of time. The
// bins hold all pauses of a run, however many there were.
#ifndef RESULTS_RUN_PAUSE_BINS_H
#define RESULTS_RUN_PAUSE_BINS_H

#include "results/file.h"
#include "world/world.h"

SIM_C_BEGIN

#define RESULTS_PAUSE_BINS 320u // of a run, at most; at least half as many

typedef struct results_pause_bins results_pause_bins_t;

results_pause_bins_t *results_pause_bins_create(const net_t *net);
void results_pause_bins_destroy(results_pause_bins_t *bins); // NULL is allowed

// Records that the peer stopped the class (paused) or that the pause is over. Call it in order of
// time.
void results_pause_bins_take(results_pause_bins_t *bins, sim_time_t time_ps, const net_port_t *port,
                             uint32_t priority, bool paused);
// Ends the run at end_ps, and with it all pauses that still hold.
void results_pause_bins_end(results_pause_bins_t *bins, sim_time_t end_ps);

// Writes FOLDER/pauses.csv, by port, class and time; only a header where nothing was stopped. Call
// it after results_pause_bins_end.
SIM_MUST_CHECK sim_err_t results_pause_bins_write(const results_pause_bins_t *bins,
                                                  const char *folder, world_error_t *error);

SIM_C_END

#endif // RESULTS_RUN_PAUSE_BINS_H
