// SPDX-License-Identifier: Apache-2.0
// cli/ranks/slurm.h - job scripts for sbatch.
#ifndef CLI_RANKS_SLURM_H
#define CLI_RANKS_SLURM_H

#include "cli/args.h"
#include "world/world.h"
#include <stdio.h>

// Prints a job script for sbatch that runs this command line in `count` ranks. world is built: its
// memory and its survey give the job's limits.
void cli_ranks_print_slurm(const cli_args_t *args, unsigned count, const world_t *world, FILE *out);
// Returns the resident memory of this process in bytes; 0: unknown.
double cli_ranks_resident_bytes(void);

#endif // CLI_RANKS_SLURM_H
