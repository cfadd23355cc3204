// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/moves.c - makes steps of a plan's operations that move data.
#include "apps/workload/collective/msccl/moves.h"

#include <string.h>

// -- the ends of operations

static bool take_type(app__lowering_t *to, uint32_t object, uint32_t type, uint8_t *buffer)
{
    static const char *const names[APP__MSCCL_BUFFERS] = {"i", "o", "s"};
    for (uint8_t b = 0; b < APP__MSCCL_BUFFERS; b++) {
        if (app__json_is(to->json, type, names[b])) {
            *buffer = b;
            return true;
        }
    }
    app__lower_fail(to, type != 0 ? type : object, "the buffer is unknown",
                    "type i, o or s, or a buffer_id");
    return false;
}

// Finds a buffer of another GPU by its number among those that the thread block refers to.
static void take_remote(app__lowering_t *to, uint32_t object, app__lower_end_t *end)
{
    char wanted[16];
    char has[16];
    (void)app__lower_text(to->json, to->op, "channel_type", wanted, sizeof(wanted));
    uint32_t ref = 0;
    const uint32_t refs = app__json_list(to->json, to->object, "remote_buffer_refs", &ref);
    const uint32_t id = app__lower_number(to, object, "buffer_id", 1 << 16, 0);
    uint32_t buffer = 0;
    const uint32_t buffers =
        app__json_list(to->json, to->gpus[to->gpu].object, "remote_buffers", &buffer);
    for (uint32_t i = 0; i < refs && to->error == SIM_OK; i++) {
        uint32_t at = 0;
        const uint32_t count = app__json_list(to->json, ref, "remote_buffer_ids", &at);
        (void)app__lower_text(to->json, ref, "access_channel_type", has, sizeof(has));
        if (strcmp(wanted, has) == 0 && id < count) {
            int64_t number = 0;
            to->error = app__json_integer(to->json, app__lower_element(to->json, at, id), 0,
                                          buffers == 0 ? 0 : buffers - 1, &number, to->message);
            if (to->error == SIM_OK && buffers > 0) {
                buffer = app__lower_element(to->json, buffer, (uint32_t)number);
                end->rank = app__lower_number(to, buffer, "rank", to->ranks - 1, 0);
                (void)take_type(to, buffer, app__json_member(to->json, buffer, "type"),
                                &end->range.buffer);
                return;
            }
        }
        ref = to->json->values[ref].next;
    }
    app__lower_fail(to, object, "the thread block has no such remote buffer",
                    "a buffer_id among its remote_buffer_refs");
}

static void take_end(app__lowering_t *to, uint32_t object, app__lower_end_t *end)
{
    const uint32_t tbg = app__json_member(to->json, to->op, "tbg_info");
    const uint32_t shared =
        tbg == 0 ? 1 : app__lower_number(to, tbg, "tbg_size", APP__LOWER_PARTS, 1);
    const uint32_t own = tbg == 0 ? 0 : app__lower_number(to, tbg, "tb_id", APP__LOWER_PARTS, 0);
    const uint32_t index = app__lower_number(to, object, "index", 1000000, 0);
    const uint32_t size = app__lower_number(to, object, "size", 1000000, 1);
    *end = (app__lower_end_t){.rank = to->gpu};
    if (app__json_member(to->json, object, "switch_channel_id") != 0) {
        app__lower_fail(to, object,
                        "the operation needs a switch channel, which plans have no model of",
                        "memory and port channels");
    } else if (app__json_member(to->json, object, "buffer_id") != 0) {
        take_remote(to, object, end);
    } else {
        (void)take_type(to, object, app__json_member(to->json, object, "type"), &end->range.buffer);
    }
    if (to->error != SIM_OK) {
        return;
    }
    if (shared == 0 || own >= shared || to->parts % shared != 0) {
        app__lower_fail(to, tbg, "the group of thread blocks is wrong", "tb_id below tbg_size");
        return;
    }
    end->range.first = index * to->parts + size * (to->parts / shared) * own;
    end->range.count = size * (to->parts / shared);
    const uint32_t *const chunks = &to->msccl->chunks[end->rank * APP__MSCCL_BUFFERS];
    uint32_t most = chunks[end->range.buffer];
    if (to->msccl->program->in_place && end->range.buffer != APP__BUFFER_SCRATCH) {
        most = SIM_MAX(chunks[0], chunks[1]);
    }
    if ((uint64_t)end->range.first + end->range.count > most || end->range.count == 0) {
        app__lower_fail(to, object, "the operation leaves the buffer", "chunks that the GPU has");
    }
}

void app__lower_ends(app__lowering_t *to, const char *name, app__lower_end_t *ends, uint32_t *count)
{
    uint32_t at = 0;
    *count = app__json_list(to->json, to->op, name, &at);
    if (*count > APP__LOWER_ENDS) {
        app__lower_fail(to, to->op, "the operation has too many buffers", "up to 64");
        return;
    }
    for (uint32_t i = 0; i < *count && to->error == SIM_OK; i++) {
        take_end(to, at, &ends[i]);
        at = to->json->values[at].next;
    }
}
// -- operations that move data

static void note_packets(app__lowering_t *to, uint32_t gpu, uint32_t block, uint32_t step,
                         const app__lower_range_t *range)
{
    SIM_GROW(to->marks, to->mark_count, &to->mark_capacity);
    to->marks[to->mark_count++] = (app__lower_mark_t){.what = APP__LOWER_MOVE,
                                                      .gpu = gpu,
                                                      .block = block,
                                                      .step = step,
                                                      .range = *range};
}

static void copy_to(app__lowering_t *to, const app__lower_range_t *from,
                    const app__lower_range_t *into)
{
    if (from->count != into->count) {
        app__lower_fail(to, to->op, "the buffers have different sizes", "equal sizes");
        return;
    }
    const app__step_t step = app__lower_step_of(APP__STEP_COPY, from, into);
    const uint32_t index = app__lower_step(to, to->gpu, to->block, &step);
    if (to->kind->packets && into->buffer == APP__BUFFER_SCRATCH) {
        note_packets(to, to->gpu, to->block, index, into);
    }
}

static void put_to(app__lowering_t *to, const app__lower_range_t *from,
                   const app__lower_end_t *into)
{
    if (from->count != into->range.count || into->rank == to->gpu) {
        app__lower_fail(to, to->op, "the operation puts to no other GPU, or another size",
                        "equal sizes, buffer_id");
        return;
    }
    const uint32_t number =
        app__lower_stream(to, to->gpu, into->rank, APP__LOWER_FOR_PUTS, to->block);
    const app__lower_stream_t *const stream = &to->gpus[to->gpu].streams[number];
    app__step_t step = app__lower_step_of(APP__STEP_SEND | APP__STEP_FINAL |
                                              (to->kind->packets ? APP__STEP_PACKETS : 0u),
                                          from, from);
    step.send_peer = into->rank;
    step.send_lane = stream->lane;
    (void)app__lower_step(to, to->gpu, to->block, &step);
    step = app__lower_step_of(APP__STEP_RECV | APP__STEP_STORE, &into->range, &into->range);
    step.recv_peer = to->gpu;
    step.recv_lane = stream->lane;
    const uint32_t index = app__lower_step(to, into->rank, stream->block, &step);
    if (to->kind->packets) {
        note_packets(to, into->rank, stream->block, index, &into->range);
    }
    to->msccl->chunks_sent += from->count;
}

// Gets chunks of another GPU, and adds those of `add`; NULL: stores them only.
static void get_from(app__lowering_t *to, const app__lower_end_t *from,
                     const app__lower_range_t *add, const app__lower_range_t *into)
{
    if (from->rank == to->gpu || from->range.count != into->count) {
        app__lower_fail(to, to->op, "the operation gets from no other GPU, or another size",
                        "equal sizes, buffer_id");
        return;
    }
    const uint32_t number =
        app__lower_stream(to, to->gpu, from->rank, APP__LOWER_FOR_GETS, to->block);
    const app__lower_stream_t *const stream = &to->gpus[to->gpu].streams[number];
    const app__lower_range_t none = {APP__BUFFER_INPUT, 0, 0};
    app__step_t step =
        app__lower_step_of(APP__STEP_SEND | APP__STEP_FINAL | APP__STEP_SIGNAL, &none, &none);
    step.send_peer = from->rank;
    step.send_lane = stream->lane;
    (void)app__lower_step(to, to->gpu, to->block, &step);
    step = app__lower_step_of(APP__STEP_RECV | APP__STEP_SIGNAL, &none, &none);
    step.recv_peer = to->gpu;
    step.recv_lane = stream->lane;
    (void)app__lower_step(to, from->rank, stream->block, &step);
    step = app__lower_step_of(APP__STEP_SEND | APP__STEP_FINAL, &from->range, &from->range);
    step.send_peer = to->gpu;
    step.send_lane = stream->back;
    (void)app__lower_step(to, from->rank, stream->block, &step);
    step =
        app__lower_step_of(APP__STEP_RECV | APP__STEP_STORE | (add != NULL ? APP__STEP_REDUCE : 0u),
                           add != NULL ? add : into, into);
    step.recv_peer = from->rank;
    step.recv_lane = stream->back;
    (void)app__lower_step(to, to->gpu, to->block, &step);
    to->msccl->chunks_sent += into->count;
}

// Waits until the packets that the operation reads are there.
void app__lower_await_packets(app__lowering_t *to)
{
    const app__lower_range_t none = {APP__BUFFER_INPUT, 0, 0};
    const app__step_t step = app__lower_step_of(0, &none, &none);
    for (uint32_t i = 0; i < to->source_count && to->kind->reads_packets; i++) {
        if (to->sources[i].range.buffer == APP__BUFFER_SCRATCH) {
            app__lower_late(
                to, (app__lower_late_t){.what = APP__LOWER_MOVE, .range = to->sources[i].range},
                &step);
        }
    }
}

static bool same_range(const app__lower_range_t *a, const app__lower_range_t *b)
{
    return a->buffer == b->buffer && a->first == b->first && a->count == b->count;
}

void app__lower_reduce(app__lowering_t *to)
{
    const app__lower_end_t *const sources = to->sources;
    const app__lower_end_t *const own = &to->destinations[0];
    if (to->source_count < 2 || to->destination_count < 1 || own->rank != to->gpu ||
        sources[0].rank != to->gpu) {
        app__lower_fail(
            to, to->op, "the operation cannot be done",
            "a first source and a first destination of its own GPU, and another source");
        return;
    }
    if (!same_range(&sources[0].range, &own->range)) {
        copy_to(to, &sources[0].range, &own->range);
    }
    for (uint32_t i = 1; i < to->source_count && to->error == SIM_OK; i++) {
        if (sources[i].rank != to->gpu) {
            get_from(to, &sources[i], &own->range, &own->range);
        } else if (sources[i].range.count != own->range.count) {
            app__lower_fail(to, to->op, "the buffers have different sizes", "equal sizes");
        } else {
            const app__step_t step =
                app__lower_step_of(APP__STEP_REDUCE, &sources[i].range, &own->range);
            (void)app__lower_step(to, to->gpu, to->block, &step);
        }
    }
    for (uint32_t i = 1; i < to->destination_count && to->error == SIM_OK; i++) {
        if (to->destinations[i].rank == to->gpu) {
            copy_to(to, &own->range, &to->destinations[i].range);
        } else {
            put_to(to, &own->range, &to->destinations[i]);
        }
    }
}

// Copies, puts and gets: each destination has a source of its own, or all have one.
void app__lower_move(app__lowering_t *to)
{
    const bool one = to->source_count == 1;
    if (to->destination_count == 0 || (!one && to->source_count != to->destination_count)) {
        app__lower_fail(to, to->op, "the operation does not say what it moves",
                        "src_buff and dst_buff of a plan of 2025 or later");
        return;
    }
    for (uint32_t i = 0; i < to->destination_count && to->error == SIM_OK; i++) {
        const app__lower_end_t *const from = &to->sources[one ? 0 : i];
        const app__lower_end_t *const into = &to->destinations[i];
        if (to->kind->action == APP__LOWER_PUT && from->rank == to->gpu) {
            put_to(to, &from->range, into);
        } else if (to->kind->action == APP__LOWER_GET && into->rank == to->gpu) {
            get_from(to, from, NULL, &into->range);
        } else if (to->kind->action == APP__LOWER_MOVE && from->rank == to->gpu &&
                   into->rank == to->gpu) {
            copy_to(to, &from->range, &into->range);
        } else {
            app__lower_fail(to, to->op, "the operation has a buffer of the wrong GPU",
                            "a put from the own memory, a get or a copy into it");
        }
    }
}
