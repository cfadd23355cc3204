// SPDX-License-Identifier: Apache-2.0
// cli/progress.h - shows the progress of a run as one line on the terminal and in a file.
//
// It reads the simulation between windows, and the wall clock; it changes neither.
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "world/error.h"
#include "world/world.h"

// Sums over ports that the progress line shows.
typedef struct cli_load {
    uint64_t sent_bytes; // sent by hosts
    uint64_t queued_bytes;
    uint64_t drops;
    uint64_t pauses;
    uint64_t paused_ports; // ports that PFC stops at this moment
    uint64_t longest_bytes;
    char longest[256]; // name of the port with the longest queue; "": all are empty
} cli_load_t;

typedef struct cli_progress {
    const world_t *world;
    int terminal; // descriptor of the terminal on which a line is shown; -1: none
    int file;     // descriptor of the progress file; -1: none
    double start_s;
    double shown_s; // wall time at which the line was last written
    uint64_t shown_events;
    bool shown;
    char *ports; // buffer for the lines of ports; NULL: no file
    // Rank 0 with a file: what other ranks answered when it asked them last.
    cli_load_t others;
    char **lines; // of ports, by node; NULL: a node of this rank
    bool asks;
} cli_progress_t;

// The first line of the progress file has a fixed size, padded with spaces, so that one write
// replaces it whole. The ports follow, one line each:
//
//   ports SIM_NS COUNT
//   NAME <tab> QUEUED_BYTES <tab> SENT_BYTES <tab> DROPS <tab> PAUSED (0 or 1)
//   end SIM_NS
//
// Text behind `end` is old. A reader that finds two different times, or no end, met a write in
// progress and must read again. Only the first CLI_PROGRESS_PORTS_MAX ports of a network are
// listed.
#define CLI_PROGRESS_PORTS_MAX 8192u
#define CLI_PROGRESS_FILE_BYTES 1024u

#define CLI_PROGRESS_CLEAR "\r\033[K" // empties the line of the terminal

// Opens the progress file. *file is -1 where name is NULL. SIM_ERR_IO: it cannot be opened, or it
// is a pipe, in which no line can be replaced.
SIM_MUST_CHECK sim_err_t cli_progress_open(const char *name, int *file, world_error_t *error);

// Begins to show progress: on the terminal and in the file, which it takes over, unless they are
// -1. In ranks all ranks call it, so that rank 0 shows the progress of all. `progress` must live
// until cli_progress_end.
void cli_progress_begin(cli_progress_t *progress, const world_t *world, int terminal, int file);
// Removes the line from the terminal. The file keeps the state at the end of the run.
void cli_progress_end(cli_progress_t *progress);

// Returns the share of the run that is done, 0 to 1, or a value below 0 if it is unknown. `done`
// counts completed transfers plus the completed fractions of transfers in progress.
double cli_progress_share(sim_time_t now_ps, sim_time_t until_ps, double done, uint64_t planned);

#endif // CLI_PROGRESS_H
