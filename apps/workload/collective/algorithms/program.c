// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/program.c - programs from files, and how buffers are cut into
// chunks.
#include "apps/workload/collective/algorithms/program.h"

app__program_file_t *app__program_file_create(uint32_t ranks)
{
    app__program_file_t *const file = sim_alloc(sizeof(*file));
    file->block_first = sim_alloc_array((size_t)ranks + 1, sizeof(*file->block_first));
    return file;
}

void app__program_file_destroy(app__program_file_t *file)
{
    if (file == NULL) {
        return;
    }
    SIM_FREE_ALL(file->name, file->protocol, file->block_first, file->blocks, file->steps, file);
}

void app__program_file_rank(app__program_file_t *file)
{
    file->ranks++;
    file->block_first[file->ranks] = (uint32_t)file->block_count;
}

void app__program_file_block(app__program_file_t *file, uint32_t channel)
{
    SIM_CHECK(file->ranks > 0);
    SIM_APPEND(file->blocks, file->block_count, file->block_capacity,
               (app__block_t){channel, (uint32_t)file->step_count, 0});
    file->block_first[file->ranks] = (uint32_t)file->block_count;
}

void app__program_file_step(app__program_file_t *file, const app__step_t *step)
{
    SIM_CHECK(file->block_count > 0);
    SIM_APPEND(file->steps, file->step_count, file->step_capacity, *step);
    file->blocks[file->block_count - 1].steps++;
}

// -- the algorithm whose steps stand in a file

static const char *file_refuses(const app__program_t *program)
{
    const app__program_file_t *const file = program->file;
    return file == NULL                    ? "needs a file"
           : file->kind != program->kind   ? "is for another collective"
           : file->ranks != program->ranks ? "is for another number of ranks"
                                           : NULL;
}

static void file_plan(app__program_t *program)
{
    program->channels = program->file->channels;
    program->lanes = program->file->channels;
    program->chunks = program->file->chunks;
    program->equal_chunks = true;
    program->waits = true;
    for (size_t i = 0; i < program->file->step_count; i++) {
        const uint32_t count = program->file->steps[i].count;
        program->step_chunks = SIM_MAX(count, program->step_chunks);
    }
}

static uint32_t file_blocks(const app__program_t *program, uint32_t rank)
{
    return program->file->block_first[rank + 1] - program->file->block_first[rank];
}

static app__block_t file_block(const app__program_t *program, uint32_t rank, uint32_t block)
{
    return program->file->blocks[program->file->block_first[rank] + block];
}

static void file_step(const app__program_t *program, uint32_t rank, uint32_t block, uint32_t index,
                      app__step_t *step)
{
    *step = program->file->steps[file_block(program, rank, block).step_first + index];
}

const app__algorithm_t app__from_file = {
    .name = "file",
    .refuses = file_refuses,
    .plan = file_plan,
    .blocks = file_blocks,
    .block = file_block,
    .step = file_step,
};

app__step_t app__program_step(const app__program_t *program, uint32_t rank, uint32_t block,
                              uint32_t index)
{
    app__step_t step = {.wait_block = APP__NO_BLOCK};
    program->algorithm->step(program, rank, block, index, &step);
    return step;
}

uint32_t app__layout_on_rail(const app__layout_t *layout, uint32_t node, uint32_t rail)
{
    for (uint32_t at = layout->node_first[node]; at < layout->node_first[node + 1]; at++) {
        if (layout->rail[layout->order[at]] == rail) {
            return layout->order[at];
        }
    }
    return APP__NO_RANK;
}

// -- cuts

app__cut_t app__cut(uint64_t bytes, uint32_t chunks, uint64_t chunk_max, bool equal)
{
    const uint64_t whole = (bytes + chunks - 1) / chunks;
    const uint64_t most = chunk_max == 0 || chunk_max > whole ? whole : chunk_max;
    const uint64_t loops = most == 0 ? 1 : (bytes + most * chunks - 1) / (most * chunks);
    SIM_CHECK(chunks > 0);
    return (app__cut_t){bytes, most, chunks,
                        loops < APP__LOOPS_MAX ? (uint32_t)loops : APP__LOOPS_MAX, equal};
}

// Returns where chunk `at` begins in a part of `bytes` bytes that is cut evenly: the first chunks
// have the bytes that remain, one each.
static uint64_t begin_of(uint64_t bytes, uint32_t chunks, uint64_t at)
{
    const uint64_t rest = bytes % chunks;
    return bytes / chunks * at + SIM_MIN(at, rest);
}

uint64_t app__cut_bytes(const app__cut_t *cut, uint64_t bytes, uint32_t loop, uint32_t first,
                        uint32_t count)
{
    const uint64_t loop_bytes = cut->chunk_bytes * cut->chunks;
    const uint64_t done = loop_bytes * loop;
    const uint64_t left = bytes > done ? bytes - done : 0;
    const uint64_t part = SIM_MIN(left, loop_bytes);
    if (cut->equal) {
        return (part + cut->chunks - 1) / cut->chunks * count;
    }
    return begin_of(part, cut->chunks, (uint64_t)first + count) -
           begin_of(part, cut->chunks, first);
}
