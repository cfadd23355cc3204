// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/lower.c - makes a program of blocks and steps of an execution plan
// of MSCCL++.
//
// Memory that others write needs no thread block: each thread block that puts to a GPU has a block
// there, which stores. A signal is a short message; whoever waits for it also waits until the puts
// before it are stored. A get is a short request, which a block of the other GPU answers.
#include "apps/workload/collective/msccl/moves.h"
#include "apps/workload/collective/msccl/signals.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_MAX (UINT32_C(1) << 22)
#define DEPTH_MAX 8u

static const app__lower_kind_t kinds[] = {
    {"nop", APP__LOWER_NOTHING, false, false, false},
    {"flush", APP__LOWER_NOTHING, false, false, false},
    {"barrier", APP__LOWER_BARRIER, false, false, false},
    {"copy", APP__LOWER_MOVE, false, false, false},
    {"cpkt", APP__LOWER_MOVE, false, true, false},
    {"tpkt", APP__LOWER_MOVE, false, true, false},
    {"upkt", APP__LOWER_MOVE, true, false, false},
    {"put", APP__LOWER_PUT, false, false, false},
    {"pws", APP__LOWER_PUT, false, false, true},
    {"pwsf", APP__LOWER_PUT, false, false, true},
    {"ppkt", APP__LOWER_PUT, false, true, false},
    {"rppkt", APP__LOWER_PUT, true, true, false},
    {"get", APP__LOWER_GET, false, false, false},
    {"re", APP__LOWER_REDUCE, false, false, false},
    {"res", APP__LOWER_REDUCE, false, false, false},
    {"rre", APP__LOWER_REDUCE, false, false, false},
    {"rres", APP__LOWER_REDUCE, false, false, false},
    {"repkt", APP__LOWER_REDUCE, true, false, false},
    {"respkt", APP__LOWER_REDUCE, true, true, false},
    {"recpkt", APP__LOWER_REDUCE, true, true, false},
    {"recspkt", APP__LOWER_REDUCE, true, true, false},
    {"signal", APP__LOWER_SIGNAL, false, false, false},
    {"rlxsignal", APP__LOWER_SIGNAL, false, false, false},
    {"wait", APP__LOWER_WAIT, false, false, false},
    {"rlxwait", APP__LOWER_WAIT, false, false, false},
    {"sem_acquire", APP__LOWER_ACQUIRE, false, false, false},
    {"sem_release", APP__LOWER_RELEASE, false, false, false},
    {"pipeline", APP__LOWER_PIPELINE, false, false, false},
};
void app__lower_fail(app__lowering_t *to, uint32_t value, const char *problem, const char *expected)
{
    if (to->error == SIM_OK) {
        to->error = app__json_fail(to->json, value, problem, expected, to->message);
    }
}

// Returns a member that is a number from 0 to `most`; `otherwise` if it is not there.
uint32_t app__lower_number(app__lowering_t *to, uint32_t object, const char *name, uint32_t most,
                           uint32_t otherwise)
{
    const uint32_t member = app__json_member(to->json, object, name);
    int64_t number = otherwise;
    if (member != 0 && to->error == SIM_OK) {
        to->error = app__json_integer(to->json, member, 0, most, &number, to->message);
    }
    return to->error == SIM_OK ? (uint32_t)number : otherwise;
}

const char *app__lower_text(const app__json_t *json, uint32_t object, const char *name, char *text,
                            size_t size)
{
    const uint32_t member = app__json_member(json, object, name);
    const app__json_value_t *const value = &json->values[member];
    const size_t length = member == 0 ? 0 : SIM_MIN(value->length, size - 1);
    if (length > 0) {
        memcpy(text, value->text, length);
    }
    text[length] = '\0';
    return text;
}
// -- blocks, steps and streams

static uint32_t add_block(app__lower_gpu_t *gpu)
{
    SIM_GROW(gpu->blocks, gpu->block_count, &gpu->block_capacity);
    gpu->blocks[gpu->block_count] = (app__lower_made_t){0};
    return (uint32_t)gpu->block_count++;
}

// Adds a step to a block; returns its number.
uint32_t app__lower_step(app__lowering_t *to, uint32_t gpu, uint32_t block, const app__step_t *step)
{
    app__lower_made_t *const made = &to->gpus[gpu].blocks[block];
    if (++to->steps > STEPS_MAX) {
        app__lower_fail(to, to->op, "there are too many steps", "up to 4194304");
        return 0;
    }
    SIM_GROW(made->steps, made->count, &made->capacity);
    made->steps[made->count] = *step;
    SIM_APPEND(made->lines, made->line_count, made->line_capacity, to->json->values[to->op].line);
    return (uint32_t)made->count++;
}

app__step_t app__lower_step_of(unsigned what, const app__lower_range_t *from,
                               const app__lower_range_t *into)
{
    return (app__step_t){
        .what = (uint16_t)what,
        .from_buffer = from->buffer,
        .to_buffer = into->buffer,
        .from_chunk = from->first,
        .to_chunk = into->first,
        .count = into->count,
        .wait_block = APP__NO_BLOCK,
    };
}

static uint32_t next_lane(app__lowering_t *to, uint32_t from, uint32_t peer)
{
    uint32_t *const lanes = &to->lanes[(size_t)from * to->ranks + peer];
    to->lanes_most = SIM_MAX(*lanes + 1, to->lanes_most);
    return (*lanes)++;
}

// Finds or makes a stream from a GPU to another one; returns its number.
uint32_t app__lower_stream(app__lowering_t *to, uint32_t from, uint32_t peer,
                           app__lower_purpose_t purpose, uint32_t key)
{
    app__lower_gpu_t *const gpu = &to->gpus[from];
    for (size_t i = 0; i < gpu->stream_count; i++) {
        const app__lower_stream_t *const at = &gpu->streams[i];
        if (at->purpose == purpose && at->to == peer && at->key == key) {
            return (uint32_t)i;
        }
    }
    SIM_GROW(gpu->streams, gpu->stream_count, &gpu->stream_capacity);
    gpu->streams[gpu->stream_count] = (app__lower_stream_t){
        .purpose = purpose,
        .to = peer,
        .key = key,
        .lane = next_lane(to, from, peer),
        .back = purpose == APP__LOWER_FOR_GETS ? next_lane(to, peer, from) : 0,
        .block = purpose == APP__LOWER_FOR_SIGNALS ? APP__LOWER_NONE : add_block(&to->gpus[peer]),
        .sender = APP__LOWER_NONE,
        .waiter = APP__LOWER_NONE,
    };
    return (uint32_t)gpu->stream_count++;
}
uint32_t app__lower_element(const app__json_t *json, uint32_t first, uint32_t index)
{
    uint32_t at = first;
    for (uint32_t i = 0; i < index; i++) {
        at = json->values[at].next;
    }
    return at;
}

// Adds a step that waits for what is made later.
void app__lower_late(app__lowering_t *to, app__lower_late_t late, const app__step_t *step)
{
    late.gpu = to->gpu;
    late.block = to->block;
    late.step = app__lower_step(to, to->gpu, to->block, step);
    late.op = to->op;
    SIM_APPEND(to->late, to->late_count, to->late_capacity, late);
}

// -- the whole

static void take_list(app__lowering_t *to, uint32_t list, uint32_t thread_blocks, uint32_t depth);

static void take_op(app__lowering_t *to, uint32_t thread_blocks, uint32_t depth)
{
    const uint32_t name = app__json_member(to->json, to->op, "name");
    const app__lower_kind_t *kind = NULL;
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        kind = app__json_is(to->json, name, kinds[i].name) ? &kinds[i] : kind;
    }
    if (kind == NULL) {
        app__lower_fail(
            to, name, "the operation cannot be run",
            "one that puts, gets, copies, reduces, signals or waits without a switch channel");
        return;
    }
    to->kind = kind;
    app__lower_ends(to, "src_buff", to->sources, &to->source_count);
    app__lower_ends(to, "dst_buff", to->destinations, &to->destination_count);
    if (to->error != SIM_OK) {
        return;
    }
    app__lower_await_packets(to);
    if (kind->action == APP__LOWER_MOVE || kind->action == APP__LOWER_PUT ||
        kind->action == APP__LOWER_GET) {
        app__lower_move(to);
    } else if (kind->action == APP__LOWER_REDUCE) {
        app__lower_reduce(to);
    } else if (kind->action == APP__LOWER_BARRIER) {
        app__lower_barrier(to, thread_blocks);
    } else if (kind->action == APP__LOWER_ACQUIRE || kind->action == APP__LOWER_RELEASE) {
        app__lower_semaphores(to, kind->action == APP__LOWER_ACQUIRE);
    } else if (kind->action == APP__LOWER_PIPELINE) {
        const uint32_t list = app__json_member(to->json, to->op, "ops");
        if (list == 0) {
            app__lower_fail(to, to->op, "the pipeline has no operations", "a list ops");
            return;
        }
        take_list(to, list, thread_blocks, depth + 1);
        return;
    }
    if (to->error == SIM_OK &&
        (kind->action == APP__LOWER_SIGNAL || kind->action == APP__LOWER_WAIT || kind->signals)) {
        app__lower_channels(to, kind->action == APP__LOWER_WAIT);
    }
}

static void take_list(app__lowering_t *to, uint32_t list, uint32_t thread_blocks, uint32_t depth)
{
    uint32_t at = list + 1;
    SIM_CHECK(depth <= DEPTH_MAX + 1); // plan.c has counted the operations
    for (uint32_t i = 0; i < to->json->values[list].count && to->error == SIM_OK; i++) {
        to->op = at;
        take_op(to, thread_blocks, depth);
        at = to->json->values[at].next;
    }
}

static void take_gpu(app__lowering_t *to)
{
    uint32_t at = 0;
    const uint32_t count = app__json_list(to->json, to->gpus[to->gpu].object, "threadblocks", &at);
    for (uint32_t b = 0; b < count && to->error == SIM_OK; b++) {
        to->block = b;
        to->object = at;
        to->op = at;
        if (app__lower_number(to, at, "id", 1 << 20, b) != b) {
            app__lower_fail(to, at, "the thread block is not the next one", "ids in order");
        }
        take_list(to, app__json_member(to->json, at, "ops"), count, 1);
        at = to->json->values[at].next;
    }
}

// Finds the step that a late one waits for. Returns false if there is none to wait for.
static bool find_late(const app__lowering_t *to, const app__lower_late_t *late, uint32_t *block,
                      uint32_t *step, const char **wrong)
{
    uint32_t found = 0;
    *wrong = NULL;
    if (late->what == APP__LOWER_WAIT) {
        const app__lower_stream_t *const stream = &to->gpus[late->a].streams[late->b];
        if (late->n >= stream->sent_count) {
            *wrong = "the operation waits for a signal that nobody sends";
            return false;
        }
        *block = stream->sent[late->n].block;
        *step = stream->sent[late->n].steps - 1;
        return *block != APP__LOWER_NONE;
    }
    for (size_t i = 0; i < to->mark_count; i++) {
        const app__lower_mark_t *const mark = &to->marks[i];
        const app__lower_action_t what =
            late->what == APP__LOWER_ACQUIRE ? APP__LOWER_RELEASE : late->what;
        if (mark->gpu != late->gpu || mark->what != what) {
            continue;
        }
        if (late->what == APP__LOWER_MOVE) {
            const app__lower_range_t *const range = &mark->range;
            if (range->buffer == late->range.buffer && range->first <= late->range.first &&
                range->first + range->count >= late->range.first + late->range.count) {
                *block = mark->block;
                *step = mark->step;
                found++;
            }
        } else if (mark->id == (late->what == APP__LOWER_BARRIER ? late->b : late->a) &&
                   (late->what == APP__LOWER_ACQUIRE || mark->block == late->a) &&
                   found++ == late->n) {
            *block = mark->block;
            *step = late->what == APP__LOWER_BARRIER ? mark->step - 1 : mark->step;
            return late->what == APP__LOWER_ACQUIRE || mark->step > 0;
        }
    }
    if (late->what == APP__LOWER_MOVE) {
        *wrong =
            found == 1 ? NULL : "the operation reads packets that no other one, or several, write";
        return found == 1;
    }
    // A thread block that has no such barrier is not part of it.
    *wrong = late->what == APP__LOWER_ACQUIRE || (found > 0 && late->n >= found)
                 ? "the thread block waits for one that never comes"
                 : NULL;
    return false;
}

static void set_late(app__lowering_t *to)
{
    for (size_t i = 0; i < to->late_count && to->error == SIM_OK; i++) {
        const app__lower_late_t *const late = &to->late[i];
        app__lower_made_t *const made = &to->gpus[late->gpu].blocks[late->block];
        uint32_t block = 0;
        uint32_t step = 0;
        const char *wrong = NULL;
        if (find_late(to, late, &block, &step, &wrong)) {
            made->steps[late->step].wait_block = block;
            made->steps[late->step].wait_step = step;
        } else if (wrong != NULL) {
            app__lower_fail(to, late->op, wrong, "a plan that ends");
        }
    }
}

// Writes what is made to the program.
static void write_program(app__lowering_t *to)
{
    app__msccl_t *const msccl = to->msccl;
    for (uint32_t g = 0; g < to->ranks; g++) {
        app__program_file_rank(msccl->program);
        for (size_t b = 0; b < to->gpus[g].block_count; b++) {
            const app__lower_made_t *const made = &to->gpus[g].blocks[b];
            app__program_file_block(msccl->program, 0);
            for (size_t s = 0; s < made->count; s++) {
                app__program_file_step(msccl->program, &made->steps[s]);
                SIM_APPEND(msccl->step_line, msccl->line_count, msccl->line_capacity,
                           made->lines[s]);
            }
        }
    }
    msccl->program->channels = to->lanes_most > 0 ? to->lanes_most : 1;
}

// Returns the least number of parts of a chunk that all groups of thread blocks divide.
static uint32_t parts_of(app__lowering_t *to)
{
    uint32_t parts = 1;
    for (uint32_t v = 1; v < to->json->count; v++) {
        const app__json_value_t *const value = &to->json->values[v];
        if (value->key == NULL || value->key_length != 8 ||
            memcmp(value->key, "tbg_size", 8) != 0) {
            continue;
        }
        int64_t size = 1;
        to->op = v;
        to->error = app__json_integer(to->json, v, 1, APP__LOWER_PARTS, &size, to->message);
        uint32_t more = parts;
        while (to->error == SIM_OK && more % (uint32_t)size != 0) {
            more += parts;
        }
        if (to->error == SIM_OK && more > APP__LOWER_PARTS) {
            app__lower_fail(to, v, "the groups of thread blocks do not fit together",
                            "sizes whose common multiple is up to 64");
        }
        if (to->error != SIM_OK) {
            return 1;
        }
        parts = more;
    }
    return parts;
}

static void begin(app__lowering_t *to)
{
    char text[64];
    app__program_file_t *const program = to->msccl->program;
    uint32_t at = 0;
    (void)app__json_list(to->json, 1, "gpus", &at);
    program->kind = app__msccl_kind(app__lower_text(to->json, 1, "collective", text, sizeof(text)));
    program->in_place = app__json_is(to->json, app__json_member(to->json, 1, "inplace"), "true");
    program->one_sided = true;
    program->name = sim_strdup(app__lower_text(to->json, 1, "name", text, sizeof(text)));
    program->protocol = sim_strdup(app__lower_text(to->json, 1, "protocol", text, sizeof(text)));
    program->bytes_min =
        strtoull(app__lower_text(to->json, 1, "min_message_size", text, sizeof(text)), NULL, 10);
    const uint64_t most =
        strtoull(app__lower_text(to->json, 1, "max_message_size", text, sizeof(text)), NULL, 10);
    program->bytes_max = most == UINT64_MAX ? 0 : most;
    if (program->kind == APP__COLL_COUNT) {
        app__lower_fail(to, app__json_member(to->json, 1, "collective"),
                        "the collective is unknown",
                        "allreduce, allgather, reducescatter, alltoall, broadcast or reduce");
    }
    to->parts = parts_of(to);
    for (uint32_t g = 0; g < to->ranks && to->error == SIM_OK; g++) {
        static const char *const names[APP__MSCCL_BUFFERS] = {"input_chunks", "output_chunks",
                                                              "scratch_chunks"};
        uint32_t block = 0;
        to->gpus[g].object = at;
        to->msccl->gpu_line[g] = to->json->values[at].line;
        for (uint32_t b = 0; b < APP__MSCCL_BUFFERS; b++) {
            to->msccl->chunks[g * APP__MSCCL_BUFFERS + b] =
                to->parts * app__lower_number(to, at, names[b], 1000000, 0);
        }
        for (uint32_t n = app__json_list(to->json, at, "threadblocks", &block); n > 0; n--) {
            (void)add_block(&to->gpus[g]);
        }
        at = to->json->values[at].next;
    }
    const uint32_t *const chunks = to->msccl->chunks;
    program->chunks = SIM_MAX(chunks[0], chunks[1]);
    if (to->error == SIM_OK && program->chunks == 0) {
        app__lower_fail(to, to->gpus[0].object, "the plan has no chunks",
                        "input_chunks and output_chunks of a plan of 2025 or later");
    }
}

static void finish(app__lowering_t *to)
{
    for (uint32_t g = 0; g < to->ranks; g++) {
        for (size_t b = 0; b < to->gpus[g].block_count; b++) {
            sim_free(to->gpus[g].blocks[b].steps);
            sim_free(to->gpus[g].blocks[b].lines);
        }
        for (size_t s = 0; s < to->gpus[g].stream_count; s++) {
            sim_free(to->gpus[g].streams[s].sent);
        }
        sim_free(to->gpus[g].blocks);
        sim_free(to->gpus[g].streams);
    }
    SIM_FREE_ALL(to->gpus, to->lanes, to->late, to->marks);
}

sim_err_t app__mscclpp_lower(const app__json_t *json, uint32_t ranks, app__msccl_t *msccl,
                             sim_message_t *message)
{
    *msccl = (app__msccl_t){
        .file_name = json->file,
        .program = app__program_file_create(ranks),
        .chunks = sim_alloc_array((size_t)ranks * APP__MSCCL_BUFFERS, sizeof(*msccl->chunks)),
        .gpu_line = sim_alloc_array(ranks, sizeof(*msccl->gpu_line)),
    };
    app__lowering_t *const to = sim_alloc(sizeof(*to));
    *to = (app__lowering_t){.json = json,
                            .msccl = msccl,
                            .message = message,
                            .ranks = ranks,
                            .op = 1};
    to->gpus = sim_alloc_array(ranks, sizeof(*to->gpus));
    to->lanes = sim_alloc_array((size_t)ranks * ranks, sizeof(*to->lanes));
    begin(to);
    for (to->gpu = 0; to->gpu < ranks && to->error == SIM_OK; to->gpu++) {
        take_gpu(to);
    }
    if (to->error == SIM_OK) {
        set_late(to);
    }
    if (to->error == SIM_OK) {
        write_program(to);
    }
    const sim_err_t error = to->error;
    finish(to);
    sim_free(to);
    return error == SIM_OK ? app__msccl_verify(msccl, message) : error;
}
