// SPDX-License-Identifier: Apache-2.0
// cli/what_if/changes.h - the failures and changes that `rocesim what-if` tries on a scenario.
#ifndef CLI_WHAT_IF_CHANGES_H
#define CLI_WHAT_IF_CHANGES_H

#include "world/world.h"

// The kinds of changes, a bit each.
typedef enum cli_change_kind {
    CLI_CHANGE_LINK = 1,       // a link between switches goes down
    CLI_CHANGE_ACCESS = 2,     // a link of a host goes down
    CLI_CHANGE_SWITCH = 4,     // a switch goes down
    CLI_CHANGE_INCAST = 8,     // an incast is twice as large
    CLI_CHANGE_RECEIVER = 16,  // a host receives slowly
    CLI_CHANGE_OPTIC = 32,     // a link loses frames
    CLI_CHANGE_THRESHOLD = 64, // switches have other thresholds
} cli_change_kind_t;
#define CLI_CHANGE_KINDS 7u

typedef struct cli_change {
    cli_change_kind_t kind;
    char *text;      // "leaf0--spine1 goes down"
    char *part;      // that fails; NULL: none does
    char **fault;    // its fault besides the time: keys and values, ended by NULL; NULL: none
    char **settings; // "PATH=VALUE", ended by NULL
} cli_change_t;

// All zeros is an empty list.
typedef struct cli_changes {
    cli_change_t *items;
    size_t count;
    size_t capacity;
} cli_changes_t;

// Returns the word for the kind with number i: "link", "access"...
const char *cli_change_kind_name(size_t i);

// Adds the changes of these kinds (bits) that matter to the scenario. `world` is that of a run
// which has ended: its counters say which hosts and links have the most to do. Parts fail at at_ps.
void cli_changes_list(cli_changes_t *changes, const world_t *world, unsigned kinds,
                      sim_time_t at_ps);
void cli_changes_fini(cli_changes_t *changes);

#endif // CLI_WHAT_IF_CHANGES_H
