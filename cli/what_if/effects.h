// SPDX-License-Identifier: Apache-2.0
// cli/what_if/effects.h - what came of each change, beside the run without changes.
#ifndef CLI_WHAT_IF_EFFECTS_H
#define CLI_WHAT_IF_EFFECTS_H

#include "cli/what_if/changes.h"

#include "results/file.h"

#include <jansson.h>
#include <stdio.h>

// Kinds of damage, a bit each; a higher bit is worse.
typedef enum cli_effect_break {
    CLI_BREAK_SLOW = 1,        // the worst FCT is 10 % longer
    CLI_BREAK_PAUSES = 2,      // PFC stops ports 10 % longer
    CLI_BREAK_DROPS = 4,       // more packets are dropped
    CLI_BREAK_VICTIMS = 8,     // pauses stop more flows that do not pass their root
    CLI_BREAK_LOSSLESS = 16,   // lossless classes drop packets because headroom is full
    CLI_BREAK_UNFINISHED = 32, // more flows do not end
    CLI_BREAK_STALL = 64,
    CLI_BREAK_DEADLOCK = 128, // ports wait for each other in a circle
    CLI_BREAK_RUN = 256,      // the run gave no results
} cli_effect_break_t;
#define CLI_BREAK_KINDS 9u

// The figures of a run.
typedef struct cli_effect {
    char *ended;
    char *cause;   // of pauses, drops or slow flows besides the change itself; NULL: none
    char *failure; // NULL: the run has results
    bool deadlock;
    uint64_t unfinished; // flows
    uint64_t drops;
    uint64_t lossless_drops;
    uint64_t pauses;
    sim_time_t paused_ps;
    uint64_t victims; // flows
    double worst_us;  // longest FCT; 0: no flow ended
    unsigned breaks;  // cli_effect_break_t
} cli_effect_t;

// A row: a change, and what came of it.
typedef struct cli_what_if_row {
    const cli_change_t *change;
    char *command; // that repeats it
    cli_effect_t effect;
} cli_what_if_row_t;

typedef struct cli_what_if {
    const char *scenario; // file
    sim_time_t at_ps;
    cli_effect_t base;
    cli_what_if_row_t *rows;
    size_t row_count;
} cli_what_if_t;

// Takes the figures of a run from its summary and from what explain says (NULL: nothing). `change`
// is NULL for the run without changes.
void cli_effect_take(cli_effect_t *effect, const cli_change_t *change, const json_t *summary,
                     const json_t *explained);
void cli_effect_fini(cli_effect_t *effect);
// Returns whether the run has ended, with or without results.
bool cli_effect_known(const cli_effect_t *effect);
json_t *cli_effect_json(const cli_effect_t *effect);
// Reads what cli_effect_json made. Returns false if it is not known.
bool cli_effect_read(cli_effect_t *effect, const json_t *json);
// Compares all rows with the run without changes, and sorts them: the worst first.
void cli_what_if_judge(cli_what_if_t *what_if);

// table.c: print the rows. The table for people has only those that break something.
void cli_what_if_print(const cli_what_if_t *what_if, FILE *out);
json_t *cli_what_if_json(const cli_what_if_t *what_if);
// Writes what-if.csv (results_put_fn).
void cli_what_if_put_csv(results_file_t *file, const void *what_if);

#endif // CLI_WHAT_IF_EFFECTS_H
