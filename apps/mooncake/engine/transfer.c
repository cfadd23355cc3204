// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/transfer.c - requests: cut into slices, sent, retried, ended
// (docs/models/mooncake.md).
#include "apps/mooncake/engine/files/nvmeof.h"
#include "apps/mooncake/engine/route.h"
#include "apps/mooncake/engine/transfer_engine.h"
#include "apps/mooncake/engine/verify.h"

#define SLAB_SLICES 256u
#define COPY_BYTES 4096u

// -- slices

static app__mc_slice_t *slice_new(app_mooncake_t *engine)
{
    if (engine->free_slices == NULL) {
        app__mc_slice_t *const slab = sim_alloc_array(SLAB_SLICES, sizeof(*slab));
        SIM_APPEND(engine->slabs, engine->slab_count, engine->slab_capacity, slab);
        for (uint32_t i = SLAB_SLICES; i-- > 0;) {
            slab[i].next = engine->free_slices;
            engine->free_slices = &slab[i];
        }
    }
    app__mc_slice_t *const slice = engine->free_slices;
    engine->free_slices = slice->next;
    *slice = (app__mc_slice_t){.since_ps = engine->station->node->now_ps};
    return slice;
}

static void age_add(app_mooncake_t *engine, app__mc_slice_t *slice)
{
    if (engine->config.slice_timeout_ps == SIM_TIME_NEVER) {
        return;
    }
    sim_list_push_last(&engine->timed, &slice->timed);
    if (engine->timed.first == &slice->timed) {
        sim_timer_arm(engine->station->node, &engine->slice_timer,
                      slice->since_ps + engine->config.slice_timeout_ps);
    }
}

static void slice_end(app_mooncake_t *engine, app__mc_slice_t *slice)
{
    if (engine->config.slice_timeout_ps != SIM_TIME_NEVER) {
        if (engine->looked_at == &slice->timed) {
            engine->looked_at = slice->timed.next;
        }
        sim_list_remove(&engine->timed, &slice->timed);
    }
    app__mc_task_t *const task = slice->task;
    slice->next = engine->free_slices;
    engine->free_slices = slice;
    task->left--;
    if (task->left > 0) {
        return;
    }
    if (!task->ended) {
        app__mc_task_end(task, task->failed ? APP_MOONCAKE_FAILED : APP_MOONCAKE_COMPLETED);
    } else if (task->batch == NULL) {
        app__mc_task_free(task);
    }
}

void app__mc_slice_done(app_mooncake_t *engine, app__mc_slice_t *slice)
{
    if (!slice->task->ended) {
        slice->task->transferred += slice->length;
    }
    slice_end(engine, slice);
}

void app__mc_slice_lost(app_mooncake_t *engine, app__mc_slice_t *slice)
{
    slice->task->failed = true;
    slice_end(engine, slice);
}

void app__mc_slice_posted(app__mc_slice_t *slice)
{
    if (!slice->task->ended) {
        slice->task->status = APP_MOONCAKE_WAITING;
    }
}

// -- tasks

void app__mc_task_end(app__mc_task_t *task, app_mooncake_task_status_t status)
{
    app_mooncake_t *const engine = task->engine;
    app__mc_batch_t *const batch = task->batch;
    app_mooncake_counters_t *const counters = &engine->counters;
    SIM_CHECK(!task->ended && batch != NULL);
    task->ended = true;
    task->status = status;
    sim_timer_cancel(engine->station->node, &task->timer);
    counters->completed += status == APP_MOONCAKE_COMPLETED;
    counters->failed += status == APP_MOONCAKE_FAILED;
    counters->timed_out += status == APP_MOONCAKE_TIMEOUT;
    counters->canceled += status == APP_MOONCAKE_CANCELED;
    counters->invalid += status == APP_MOONCAKE_INVALID;
    counters->bytes += status == APP_MOONCAKE_COMPLETED ? task->request.length : 0;
    sim_work_end(engine->station->node, 1);
    sim_progress(engine->station->node);
    if (status == APP_MOONCAKE_COMPLETED) {
        SIM_CHECK(task->transferred == task->request.length);
        app__mc_verify(task);
    }
    SIM_CHECK(batch->open > 0);
    batch->open--;
    app__mc_batch_settle(engine, batch);
}

static void start(app__mc_task_t *task)
{
    app_mooncake_t *const engine = task->engine;
    const app_mooncake_request_t *const request = &task->request;
    const uint64_t slice_bytes = engine->config.slice_bytes;
    const uint64_t fragment = engine->config.fragment_bytes;
    const uint64_t count = app__mooncake_slice_count(request->length, slice_bytes, fragment);
    SIM_CHECK(count <= UINT32_MAX);
    task->slices = (uint32_t)count;
    task->left = task->slices;
    for (uint64_t i = 0; i < count; i++) {
        app__mc_slice_t *const slice = slice_new(engine);
        slice->task = task;
        slice->source = request->source + i * slice_bytes;
        slice->target = request->target_offset + i * slice_bytes;
        slice->length =
            (uint32_t)app__mooncake_slice_length(request->length, slice_bytes, fragment, i);
        age_add(engine, slice);
        app__mc_route(engine, slice);
    }
}

static void target_fetched(int result, void *ctx)
{
    app__mc_task_t *const task = ctx;
    task->left = 0;
    if (task->ended) {
        if (task->batch == NULL) {
            app__mc_task_free(task);
        }
        return;
    }
    const app_mooncake_request_t *const request = &task->request;
    if (result != SIM_OK) {
        app__mc_task_end(task, APP_MOONCAKE_FAILED);
    } else if (app__mooncake_buffer_of(task->segment->desc, request->target_offset,
                                       request->length) == NULL) {
        app__mc_task_end(task, APP_MOONCAKE_INVALID);
    } else {
        start(task);
    }
}

// -- within a host

static void copy_contents(app_mooncake_t *engine, uint64_t from, uint64_t to, uint64_t length)
{
    nic_memory_t *const memory = engine->station->memory;
    uint8_t bytes[COPY_BYTES];
    if (!nic_memory_has(memory, from, length)) {
        nic_memory_clear(memory, to, length);
        return;
    }
    while (length > 0) {
        const size_t count = length < COPY_BYTES ? (size_t)length : COPY_BYTES;
        if (nic_memory_has(memory, from, count)) {
            nic_memory_read(memory, from, bytes, count);
            nic_memory_write(memory, to, bytes, count);
        } else {
            nic_memory_clear(memory, to, count);
        }
        from += count;
        to += count;
        length -= count;
    }
}

static void copied(sim_node_t *node, sim_timer_t *timer)
{
    app__mc_task_t *const task = SIM_CONTAINER_OF(timer, app__mc_task_t, timer);
    const app_mooncake_request_t *const request = &task->request;
    sim_happened(node, 'y', node->now_ps, request->length);
    const bool writes = request->opcode == APP_MOONCAKE_WRITE;
    copy_contents(task->engine, writes ? request->source : request->target_offset,
                  writes ? request->target_offset : request->source, request->length);
    task->transferred = request->length;
    task->engine->counters.copied_bytes += request->length;
    app__mc_task_end(task, APP_MOONCAKE_COMPLETED);
}

static void copy_locally(app__mc_task_t *task)
{
    app_mooncake_t *const engine = task->engine;
    sim_node_t *const node = engine->station->node;
    if (app__mc_local_buffer(engine, task->request.target_offset, task->request.length) == NULL) {
        app__mc_task_end(task, APP_MOONCAKE_INVALID);
        return;
    }
    const uint64_t bps = engine->config.copy_bps;
    const uint64_t bits = task->request.length * 8;
    const sim_time_t time_ps =
        bits / bps * SIM_PS_PER_S + (sim_time_t)((double)(bits % bps) / (double)bps * 1e12);
    const sim_time_t from_ps = SIM_MAX(engine->copies_until_ps, node->now_ps);
    engine->copies_until_ps = from_ps + time_ps + 1;
    task->status = APP_MOONCAKE_WAITING;
    sim_timer_arm(node, &task->timer, engine->copies_until_ps);
}

app__mc_task_t *app__mc_task_new(app_mooncake_t *engine, app__mc_batch_t *batch,
                                 const app_mooncake_request_t *request)
{
    app__mc_task_t *const task = sim_alloc(sizeof(*task));
    task->engine = engine;
    task->batch = batch;
    task->request = *request;
    task->segment = app__mc_segment_by_id(engine, request->target_id);
    task->status = APP_MOONCAKE_PENDING;
    sim_timer_init(&task->timer, copied);
    sim_list_push_last(&engine->tasks, &task->made);
    return task;
}

void app__mc_task_free(app__mc_task_t *task)
{
    sim_list_remove(&task->engine->tasks, &task->made);
    sim_free(task);
}

void app__mc_task_begin(app__mc_task_t *task)
{
    app_mooncake_t *const engine = task->engine;
    const app_mooncake_request_t *const request = &task->request;
    const app__mc_segment_t *const segment = task->segment;
    const bool wraps = request->target_offset + request->length < request->target_offset;
    if (request->length == 0 || wraps || segment == NULL ||
        (segment->desc == NULL && segment->id != APP_MOONCAKE_LOCAL_SEGMENT) ||
        app__mc_local_buffer(engine, request->source, request->length) == NULL) {
        app__mc_task_end(task, APP_MOONCAKE_INVALID);
    } else if (segment->id == APP_MOONCAKE_LOCAL_SEGMENT) {
        copy_locally(task);
    } else if (segment->desc->server != NULL) {
        app__mc_file_submit(engine, task);
    } else if (app__mooncake_buffer_of(segment->desc, request->target_offset, request->length) ==
               NULL) {
        // The buffer may have been registered since the description was fetched.
        task->left = 1; // keeps the task until the answer
        app__mc_fetch(task->segment, target_fetched, task);
    } else {
        start(task);
    }
}
