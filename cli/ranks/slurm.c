// SPDX-License-Identifier: Apache-2.0
// cli/ranks/slurm.c - `rocesim run --ranks N --print-slurm`: a job script for sbatch.
//
// The limits come from the world as it was built: its resident memory, and the estimated time of
// the planned transfers on one thread.
#include "cli/ranks/slurm.h"
#include "cli/ranks/ranks.h"

#include "world/planned_transfers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Packets in flight, buffers between ranks, and results. With 1,024,000 hosts in 4 ranks and one
// flow, a rank took 1.14 times what was built.
#define MEMORY_FACTOR 1.5
#define MEMORY_LEAST_MB 512.0
#define TIME_FACTOR 10.0 // the estimate knows no stops and no retransmissions
#define TIME_LEAST_MIN 10.0

double cli_ranks_resident_bytes(void)
{
    char line[128] = "";
    unsigned long resident = 0;
    FILE *const file = fopen("/proc/self/statm", "re");
    if (file != NULL) {
        if (fgets(line, sizeof(line), file) != NULL) {
            char *second = line; // the first number is the size
            (void)strtoul(line, &second, 10);
            resident = strtoul(second, NULL, 10);
        }
        (void)fclose(file);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double most(double a, double b)
{
    return SIM_MAX(a, b);
}

// Prints a word for the shell, between single quotes.
static void put_word(const char *word, FILE *out)
{
    fputs(" '", out);
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*word, out);
        }
    }
    fputc('\'', out);
}

void cli_ranks_print_slurm(const cli_args_t *args, unsigned count, const world_t *world, FILE *out)
{
    const uint64_t threads = world->scenario->run.threads;
    const double observed = world->survey != NULL ? world->survey->observed.memory_bytes : 0;
    const double wall_s = world->survey != NULL ? world->survey->wall_s : 0;
    const double memory_mb =
        most((cli_ranks_resident_bytes() * MEMORY_FACTOR + observed) / 1e6, MEMORY_LEAST_MB);
    const double minutes = most(wall_s * TIME_FACTOR / 60, TIME_LEAST_MIN);
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof(folder)) == NULL) {
        snprintf(folder, sizeof(folder), ".");
    }
    fprintf(out,
            "#!/bin/bash\n"
            "#SBATCH --job-name=rocesim\n"
            "#SBATCH --ntasks=%u\n"
            "#SBATCH --cpus-per-task=%" PRIu64 "\n"
            "#SBATCH --mem-per-cpu=%.0fM\n"
            "#SBATCH --time=%.0f\n"
            "#SBATCH --signal=B:USR1@60\n"
            "# A minute before its time is over, the run ends with the results so far.\n"
            "cd",
            count, threads, memory_mb / (double)threads + 1, minutes + 1);
    put_word(folder, out);
    fprintf(out,
            " || exit 1\n"
            "trap 'kill -USR1 $run' USR1\n"
            "mpirun --bind-to none -n %u rocesim",
            count);
    const char **const words = sim_alloc_array((size_t)args->argc + 1, sizeof(*words));
    const size_t word_count = cli_ranks_words(args, words);
    for (size_t i = 0; i < word_count; i++) {
        put_word(words[i], out);
    }
    sim_free(words);
    fprintf(out,
            " &\n"
            "run=$!\n"
            "wait $run; status=$?\n"
            "[ $status -lt 128 ] || { wait $run; status=$?; } # the signal interrupted `wait`\n"
            "exit $status\n");
}
