// SPDX-License-Identifier: Apache-2.0
// cli/arena/cells.h - the cells of the arena: scenarios in which congestion controls compete.
//
// A cell is the text of a scenario below a list of parameters. A hidden seed draws the values of
// the parameters, so that nobody can know them before. docs/arena.md describes the cells.
#ifndef CLI_ARENA_CELLS_H
#define CLI_ARENA_CELLS_H

#include "kernel/base.h"

#define CLI_ARENA_PARAMETERS_MAX 6u

// A parameter of a scenario: a whole number with a unit. A hidden seed draws it from low to high;
// rates are drawn among those of Ethernet. low = high: it is always `value`.
typedef struct cli_arena_parameter {
    const char *name; // NULL: the end of a list
    unsigned value;
    unsigned low;
    unsigned high;
    const char *unit;
} cli_arena_parameter_t;

typedef struct cli_arena_cell {
    const char *name;
    const char *about; // what the cell shows, in a few words
    // Flows without end: percent of the run after which nothing disturbs them, so that their rates
    // are expected to become equal and steady. 0: the flows end.
    unsigned settles;
    cli_arena_parameter_t parameters[CLI_ARENA_PARAMETERS_MAX + 1];
    const char *body; // the scenario without its name and parameters
} cli_arena_cell_t;

extern const cli_arena_cell_t cli_arena_cells[];
extern const size_t cli_arena_cell_count;

// Returns the cell of that name; NULL: there is none.
const cli_arena_cell_t *cli_arena_cell_find(const char *name);

// Returns the value of a parameter. hidden: the seed that draws it; NULL: none.
unsigned cli_arena_parameter_value(const cli_arena_cell_t *cell, size_t index,
                                   const uint64_t *hidden);

// Returns the cell as a scenario file. Free it with sim_free.
char *cli_arena_cell_text(const cli_arena_cell_t *cell, const uint64_t *hidden);

// Settings that a congestion control's authors published for it ("PATH=VALUE"), where the defaults
// of the attributes are meant for something else.
typedef struct cli_arena_published {
    const char *control;
    const char *settings[8]; // ended by NULL
} cli_arena_published_t;

// Returns the settings of a congestion control; NULL: the defaults are its own.
const cli_arena_published_t *cli_arena_published(const char *control);

#endif // CLI_ARENA_CELLS_H
