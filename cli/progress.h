// SPDX-License-Identifier: Apache-2.0
// cli/progress.h - one line on a terminal that says how far a run is, and one in a file.
//
// It looks at the simulation between windows and at the wall clock, and changes neither.
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "world/world.h"

typedef struct cli_progress {
    const world_t *world;
    bool terminal; // there is a line on stderr
    int file;      // -1: none
    double start_s;
    double shown_s; // when the line was last written
    uint64_t shown_events;
    bool shown;
    char *ports; // their lines; NULL: no file
} cli_progress_t;

// Seconds of a clock that only goes forward.
double cli_wall_s(void);

// The size of the line in a file: filled up with spaces, so that it is written at once and whole.
// Behind it are the ports, a line each:
//
//   ports SIM_NS COUNT
//   NAME <tab> QUEUED_BYTES <tab> SENT_BYTES <tab> DROPS <tab> PAUSED (0 or 1)
//   end SIM_NS
//
// What follows `end` is old. A reader that finds two different times, or no end, came in between
// and reads again. Of networks with more than CLI_PROGRESS_PORTS_MAX ports the first are told.
#define CLI_PROGRESS_PORTS_MAX 8192u
#define CLI_PROGRESS_FILE_BYTES 1024u

// Begins to show progress: on stderr if terminal, in the file of that name unless NULL (one that
// cannot be written is done without). progress must live until cli_progress_end.
void cli_progress_begin(cli_progress_t *progress,
                        const world_t *world,
                        bool terminal,
                        const char *file);
// Removes the line from the terminal; the file keeps what there is at the end of the run.
void cli_progress_end(cli_progress_t *progress);

// Share of the run that is done, 0 to 1, and less than 0 when there is no telling. done: transfers,
// with parts of those under way.
double cli_progress_share(sim_time_t now_ps, sim_time_t until_ps, double done, uint64_t planned);

#endif // CLI_PROGRESS_H
