// SPDX-License-Identifier: Apache-2.0
// cli/ranks/balance.h - what a run cost each rank.
#ifndef CLI_RANKS_BALANCE_H
#define CLI_RANKS_BALANCE_H

#include "kernel/ranks.h"
#include "world/world.h"
#include <stdio.h>

typedef struct cli_ranks_cost {
    sim_ranks_cost_t sim;  // waited_s without away_s
    double away_s;         // cli_ranks_away_s
    uint64_t memory_bytes; // maximum so far
} cli_ranks_cost_t;

// Costs of the run for each rank; `count` of them, at rank 0 only.
typedef struct cli_ranks_costs {
    cli_ranks_cost_t *ranks;
    unsigned count;
} cli_ranks_costs_t;

// Collects the costs at rank 0, after sim_run. All ranks call it. Free items with sim_free.
void cli_ranks_collect(const sim_t *sim, cli_ranks_costs_t *costs);
// Prints how the work was spread and who was waited for.
void cli_ranks_report(const cli_ranks_costs_t *costs, const world_t *world, FILE *out);
// Prints how the network is divided among ranks.
void cli_ranks_print_parts(const world_t *world, FILE *out);

#endif // CLI_RANKS_BALANCE_H
