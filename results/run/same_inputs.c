// SPDX-License-Identifier: Apache-2.0
// results/run/same_inputs.c - refuses ranks that do not run the same program on the same inputs.
#include "results/run/gather_ranks.h"

#include <string.h>

#include "kernel/random.h"

#define FILE_BYTES_MAX ((size_t)1 << 32)

// Hashes of all that a run depends on.
typedef struct inputs {
    uint64_t program;  // the file of this program
    uint64_t scenario; // with every default
    uint64_t files;    // those that the scenario names
    uint64_t parts;    // which rank has which nodes
    uint64_t writes;   // whether there are result files
} inputs_t;

static uint64_t hash(uint64_t sum, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    sum = sim_mix64(sum ^ size);
    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        sum = sim_mix64(sum ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    }
    uint64_t rest = 0;
    memcpy(&rest, at, size);
    return sim_mix64(sum ^ rest);
}

// A file that cannot be read counts as an empty one: whoever needs it has reported that before.
static uint64_t hash_file(uint64_t sum, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    world_error_t ignored;
    if (world_read_file(path, FILE_BYTES_MAX, &text, &size, &ignored) == SIM_OK) {
        sum = hash(sum, text, size);
        sim_free(text);
    }
    return sum;
}

static void look(const world_t *world, bool writes, inputs_t *inputs)
{
    char *const resolved = world_scenario_resolved(world->scenario);
    inputs->program = hash_file(0, "/proc/self/exe");
    inputs->scenario = hash(0, resolved, strlen(resolved));
    inputs->files = 0;
    inputs->writes = writes;
    inputs->parts =
        hash(0, world->parts->rank_of, net_node_count(world->net) * sizeof(*world->parts->rank_of));
    for (size_t i = 0; i < world->file_count; i++) {
        char *const path = world_input_path(world->scenario->file_name, world->scenario->run.folder,
                                            world->files[i]);
        inputs->files = hash_file(inputs->files, path);
        sim_free(path);
    }
    sim_free(resolved);
}

typedef struct judge {
    inputs_t own;
    unsigned rank; // the first that differs; 0: none
    const char *what;
} judge_t;

static void take(unsigned rank, const void *bytes, size_t size, void *ctx)
{
    judge_t *const judge = ctx;
    inputs_t theirs;
    SIM_CHECK(size == sizeof(theirs));
    memcpy(&theirs, bytes, size);
    const char *const what = theirs.program != judge->own.program     ? "program file"
                             : theirs.scenario != judge->own.scenario ? "scenario"
                             : theirs.files != judge->own.files       ? "input file"
                             : theirs.parts != judge->own.parts ? "division of the network (METIS)"
                             : theirs.writes != judge->own.writes ? "command line (-o)"
                                                                  : NULL;
    if (what != NULL && judge->rank == 0) {
        judge->rank = rank;
        judge->what = what;
    }
}

sim_err_t results__same_inputs(const sim_ranks_t *ranks, const world_t *world, bool writes,
                               world_error_t *error)
{
    judge_t judge = {.rank = 0};
    look(world, writes, &judge.own);
    ranks->ops->collect(ranks->ctx, &judge.own, sizeof(judge.own), take, &judge);
    return judge.rank == 0
               ? SIM_OK
               : world_fail(error, SIM_ERR_INVALID, NULL,
                            "rank %u has another %s than rank 0, expected the same build of "
                            "rocesim, scenario, input files and command line everywhere",
                            judge.rank, judge.what);
}
