// SPDX-License-Identifier: Apache-2.0
// cli/ranks/balance.c - prints how ranks shared the work, and which rank the others waited for.
#include "cli/ranks/balance.h"
#include "cli/ranks/ranks.h"
#include "cli/ranks/slurm.h"

#include "world/format.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

// A rank with this many times the mean number of events deserves a note.
#define UNEVEN 1.25

static void take(unsigned rank, const void *bytes, size_t size, void *ctx)
{
    cli_ranks_costs_t *const costs = ctx;
    SIM_CHECK(size == sizeof(cli_ranks_cost_t) && rank == costs->count);
    costs->ranks = sim_realloc_array(costs->ranks, rank + 1, sizeof(*costs->ranks));
    memcpy(&costs->ranks[costs->count++], bytes, size);
}

// Returns the largest memory that this process used so far.
static uint64_t memory_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

void cli_ranks_collect(const sim_t *sim, cli_ranks_costs_t *costs)
{
    const sim_ranks_t *const ranks = sim_ranks(sim);
    cli_ranks_cost_t own = {.away_s = cli_ranks_away_s(ranks), .memory_bytes = memory_bytes()};
    sim_ranks_cost(sim, &own.sim);
    own.sim.waited_s -= own.away_s;
    ranks->ops->collect(ranks->ctx, &own, sizeof(own), take, costs);
}

void cli_ranks_print_parts(const world_t *world, FILE *out)
{
    const world_parts_t *const parts = world->parts;
    fprintf(out,
            "  parts     by %s: %" PRIu64 " of %" PRIu64 " links join ranks (%.1f %%); the busiest "
            "rank is expected to do %.2f times the mean\n",
            world_parts_way_name(parts->way), parts->cut_count, parts->link_count,
            parts->link_count > 0 ? 100.0 * (double)parts->cut_count / (double)parts->link_count
                                  : 0.0,
            parts->busiest);
}

// Rank 0, which prints, has taken more since its costs were collected.
static void print_memory(const cli_ranks_costs_t *costs, FILE *out)
{
    unsigned most = 0;
    uint64_t bytes = memory_bytes();
    for (unsigned r = 1; r < costs->count; r++) {
        if (costs->ranks[r].memory_bytes > bytes) {
            most = r;
            bytes = costs->ranks[r].memory_bytes;
        }
    }
    world_text_t text;
    fprintf(out, "            rank %u took the largest memory, %s\n", most,
            world_format_bytes(&text, bytes));
}

void cli_ranks_report(const cli_ranks_costs_t *costs, const world_t *world, FILE *out)
{
    uint64_t events = 0;
    uint64_t messages = 0;
    uint64_t bytes = 0;
    unsigned busiest = 0;
    unsigned slowest = 0;
    for (unsigned r = 0; r < costs->count; r++) {
        const sim_ranks_cost_t *const cost = &costs->ranks[r].sim;
        events += cost->events;
        messages += cost->messages_out;
        bytes += cost->bytes_out;
        busiest = cost->events > costs->ranks[busiest].sim.events ? r : busiest;
        slowest = cost->waited_s < costs->ranks[slowest].sim.waited_s ? r : slowest;
    }
    fprintf(out,
            "  ranks     %u, %" PRIu64 " window%s in step (rank 0 began %" PRIu64
            " early), %" PRIu64 " message%s of %.1f bytes between ranks\n",
            costs->count, costs->count > 0 ? costs->ranks[0].sim.windows : 0,
            sim_plural(costs->count > 0 ? costs->ranks[0].sim.windows : 0),
            costs->count > 0 ? costs->ranks[0].sim.early : 0, messages, sim_plural(messages),
            messages > 0 ? (double)bytes / (double)messages : 0.0);
    fprintf(out, "            waited for others");
    for (unsigned r = 0; r < costs->count; r++) {
        fprintf(out, "%s %.3f s (rank %u)", r > 0 ? "," : "", costs->ranks[r].sim.waited_s, r);
    }
    fprintf(out, "; the others waited most for rank %u", slowest);
    if (costs->count > 0 && costs->ranks[slowest].away_s > 0) {
        fprintf(out, ", which got no processor for %.3f s", costs->ranks[slowest].away_s);
    }
    fputc('\n', out);
    const double mean = costs->count > 0 ? (double)events / costs->count : 0.0;
    const double share = mean > 0 ? (double)costs->ranks[busiest].sim.events / mean : 1.0;
    fprintf(out, "            divided by %s; rank %u ran %.2f times the mean number of events%s\n",
            world_parts_way_name(world->parts->way), busiest, share,
            share > UNEVEN ? ": fewer ranks, or traffic spread over more hosts, would wait less"
                           : "");
    print_memory(costs, out);
}
