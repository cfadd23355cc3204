// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/mooncake_transfer.c - requests, cut into slices, sent, retried, ended
// (docs/models/mooncake.md).
#include <string.h>

#include "apps/mooncake/mooncake_internal.h"

#define SLAB_SLICES 256u
#define COPY_BYTES 4096u

// -- slices

static app__mc_slice_t *slice_new(app_mooncake_t *engine)
{
    if (engine->free_slices == NULL) {
        app__mc_slice_t *const slab = sim_alloc_array(SLAB_SLICES, sizeof(*slab));
        SIM_GROW(engine->slabs, engine->slab_count, &engine->slab_capacity);
        engine->slabs[engine->slab_count++] = slab;
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
    slice->older = engine->newest;
    if (engine->newest != NULL) {
        engine->newest->newer = slice;
    } else {
        engine->oldest = slice;
        sim_timer_arm(engine->station->node,
                      &engine->slice_timer,
                      slice->since_ps + engine->config.slice_timeout_ps);
    }
    engine->newest = slice;
}

static void slice_end(app_mooncake_t *engine, app__mc_slice_t *slice)
{
    if (engine->config.slice_timeout_ps != SIM_TIME_NEVER) {
        if (slice->newer != NULL) {
            slice->newer->older = slice->older;
        } else {
            engine->newest = slice->older;
        }
        if (slice->older != NULL) {
            slice->older->newer = slice->newer;
        } else {
            engine->oldest = slice->newer;
        }
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
        sim_free(task);
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

// -- ways

const app__mc_local_buffer_t *app__mc_local_buffer(const app_mooncake_t *engine,
                                                   uint64_t address,
                                                   uint64_t length)
{
    for (size_t i = 0; i < engine->buffer_count; i++) {
        const app__mc_local_buffer_t *const buffer = &engine->buffers[i];
        if (address >= buffer->address && address - buffer->address < buffer->length &&
            length <= buffer->length - (address - buffer->address)) {
            return buffer;
        }
    }
    return NULL;
}

// The devices of a peer's location, both lists one behind the other; all of them where its matrix
// does not know the location. Returns how many are in the first list.
static uint32_t peer_devices(const app_mooncake_segment_desc_t *desc,
                             const char *location,
                             uint32_t *devices,
                             uint32_t *count)
{
    const app_mooncake_priority_t *const item = app__mooncake_priority(&desc->matrix, location);
    *count = 0;
    uint32_t preferred = 0;
    for (unsigned list = 0; item != NULL && list < 2; list++) {
        char *const *const names = list == 0 ? item->preferred : item->available;
        const size_t size = list == 0 ? item->preferred_count : item->available_count;
        for (size_t n = 0; n < size; n++) {
            for (uint32_t d = 0; d < desc->device_count && *count < UINT8_MAX; d++) {
                if (strcmp(desc->devices[d].name, names[n]) == 0) {
                    devices[(*count)++] = d;
                    preferred += list == 0;
                    break;
                }
            }
        }
    }
    for (uint32_t d = 0; *count == 0 && d < desc->device_count && d < UINT8_MAX; d++) {
        devices[d] = d;
    }
    if (*count == 0) {
        *count = (uint32_t)desc->device_count;
    }
    return preferred;
}

static uint64_t least_loaded(const app_mooncake_t *engine, const app__mc_local_buffer_t *buffer)
{
    const uint32_t all = buffer->choice.preferred + buffer->choice.available;
    const uint32_t front = buffer->choice.preferred > 0 ? buffer->choice.preferred : all;
    uint32_t best = 0;
    for (uint32_t i = 1; i < front; i++) {
        if (engine->contexts[buffer->contexts[i]].load_bytes <
            engine->contexts[buffer->contexts[best]].load_bytes) {
            best = i;
        }
    }
    return best;
}

typedef struct draws {
    uint64_t local;
    uint64_t peer;
} draws_t;

static draws_t draw(app_mooncake_t *engine, const app__mc_local_buffer_t *buffer)
{
    switch (engine->config.selection) {
    case APP_MOONCAKE_ROUND_ROBIN:
        engine->turn++;
        return (draws_t){engine->turn, engine->turn};
    case APP_MOONCAKE_LEAST_LOADED: {
        const uint64_t local = least_loaded(engine, buffer);
        return (draws_t){local, sim_random_u64(&engine->random)};
    }
    case APP_MOONCAKE_AFFINITY:
        return (draws_t){0, 0};
    default: {
        const uint64_t local = sim_random_u64(&engine->random);
        return (draws_t){local, sim_random_u64(&engine->random)};
    }
    }
}

void app__mc_route(app_mooncake_t *engine, app__mc_slice_t *slice)
{
    app__mc_task_t *const task = slice->task;
    app__mc_segment_t *const segment = task->segment;
    const app__mc_local_buffer_t *const buffer =
        app__mc_local_buffer(engine, slice->source, slice->length);
    const app_mooncake_buffer_t *const target =
        app__mooncake_buffer_of(segment->desc, slice->target, slice->length);
    const bool again = slice->retry < engine->config.retry_count;
    if (task->ended || buffer == NULL || (target == NULL && !again) || engine->closed) {
        app__mc_slice_lost(engine, slice);
        return;
    }
    if (target == NULL) { // it may be registered again
        slice->retry++;
        engine->counters.retried++;
        segment->refused = true;
    }
    if (segment->refused) {
        // All of them wait, or each would break the connection of the others again.
        slice->next = segment->stale;
        segment->stale = slice;
        app__mc_fetch(segment, NULL, NULL);
        return;
    }
    uint32_t devices[UINT8_MAX];
    uint32_t device_count = 0;
    app__mooncake_choice_t peer = {0, 0};
    peer.preferred = peer_devices(segment->desc, target->name, devices, &device_count);
    peer.available = device_count - peer.preferred;
    const uint32_t local_count = buffer->choice.preferred + buffer->choice.available;
    const draws_t draws = draw(engine, buffer);
    if (slice->retry == 0) {
        slice->first_local = (uint8_t)app__mooncake_choose(&buffer->choice, 0, draws.local, 0);
        slice->first_peer = (uint8_t)app__mooncake_choose(&peer, 0, draws.peer, 0);
    }
    const uint32_t first_peer = slice->first_peer < device_count ? slice->first_peer : 0;
    uint32_t context = 0;
    uint32_t device = 0;
    // Every pair of NICs in turn, beginning with that of this attempt, until one is not paused.
    for (uint32_t attempt = 0; attempt < local_count * device_count + 1; attempt++) {
        const bool last = attempt == local_count * device_count;
        const uint32_t more = last ? 0 : attempt;
        const uint32_t l = app__mooncake_choose(&buffer->choice,
                                                slice->retry + more,
                                                slice->first_local,
                                                slice->first_local);
        const uint32_t p = app__mooncake_choose(&peer,
                                                slice->retry + more + more / local_count,
                                                first_peer,
                                                first_peer);
        context = buffer->contexts[l];
        device = devices[p];
        const app__mc_rail_t *const rail =
            &segment->rails[context * segment->desc->device_count + device];
        if (rail->paused_until_ps <= engine->station->node->now_ps) {
            break;
        }
    }
    slice->context = (uint16_t)context;
    slice->lkey = nic_mr_lkey(buffer->regions[context]);
    slice->rkey = target->rkeys[device];
    app__mc_dispatch(&engine->contexts[context], slice, segment, device);
}

void app__mc_retry(app_mooncake_t *engine, app__mc_slice_t *slice, bool stale)
{
    if (slice->task->ended || slice->retry >= engine->config.retry_count || engine->closed) {
        app__mc_slice_lost(engine, slice);
        return;
    }
    slice->retry++;
    engine->counters.retried++;
    sim_progress(engine->station->node);
    // The key may be of a registration that is over.
    slice->task->segment->refused = slice->task->segment->refused || stale;
    app__mc_route(engine, slice);
}

void app__mc_stale_again(app__mc_segment_t *segment, bool fetched)
{
    app__mc_slice_t *slice = segment->stale;
    segment->stale = NULL;
    segment->refused = false;
    while (slice != NULL) {
        app__mc_slice_t *const next = slice->next;
        if (fetched) {
            app__mc_route(segment->engine, slice);
        } else {
            app__mc_slice_lost(segment->engine, slice);
        }
        slice = next;
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
            sim_free(task);
        }
        return;
    }
    const app_mooncake_request_t *const request = &task->request;
    if (result != SIM_OK) {
        app__mc_task_end(task, APP_MOONCAKE_FAILED);
    } else if (app__mooncake_buffer_of(task->segment->desc,
                                       request->target_offset,
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
    (void)node;
    app__mc_task_t *const task = SIM_CONTAINER_OF(timer, app__mc_task_t, timer);
    const app_mooncake_request_t *const request = &task->request;
    const bool writes = request->opcode == APP_MOONCAKE_WRITE;
    copy_contents(task->engine,
                  writes ? request->source : request->target_offset,
                  writes ? request->target_offset : request->source,
                  request->length);
    task->transferred = request->length;
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
    const sim_time_t from_ps =
        engine->copies_until_ps > node->now_ps ? engine->copies_until_ps : node->now_ps;
    engine->copies_until_ps = from_ps + time_ps + 1;
    task->status = APP_MOONCAKE_WAITING;
    sim_timer_arm(node, &task->timer, engine->copies_until_ps);
}

static void begin(app__mc_task_t *task)
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
        // It may have been registered since the description came.
        task->left = 1; // keeps the task until the answer
        app__mc_fetch(task->segment, target_fetched, task);
    } else {
        start(task);
    }
}

// -- batches

static app__mc_batch_t *batch_of(const app_mooncake_t *engine, app_mooncake_batch_id_t id)
{
    const uint64_t slot = (uint64_t)id & UINT32_MAX;
    if (id < 0 || slot >= engine->batch_count || engine->batches[slot] == NULL ||
        engine->batches[slot]->id != id) {
        return NULL;
    }
    return engine->batches[slot];
}

app_mooncake_batch_id_t app_mooncake_allocate_batch_id(app_mooncake_t *engine, uint64_t batch_size)
{
    if (engine->closed) {
        return SIM_ERR_STATE;
    }
    if (batch_size == 0 || batch_size > UINT64_C(1) << 20) {
        return SIM_ERR_RANGE;
    }
    size_t slot = engine->batch_count;
    if (engine->batches_free > 0) {
        for (slot = 0; engine->batches[slot] != NULL; slot++) {
        }
        engine->batches_free--;
    } else {
        SIM_GROW(engine->batches, engine->batch_count, &engine->batch_capacity);
        engine->batch_count++;
    }
    app__mc_batch_t *const batch = sim_alloc(sizeof(*batch));
    engine->batch_serial++;
    batch->id = (app_mooncake_batch_id_t)((engine->batch_serial & INT32_MAX) << 32 | slot);
    batch->size = batch_size;
    batch->tasks = sim_alloc_array(batch_size, sizeof(app__mc_task_t *));
    engine->batches[slot] = batch;
    return batch->id;
}

int app_mooncake_submit_transfer(app_mooncake_t *engine,
                                 app_mooncake_batch_id_t batch_id,
                                 const app_mooncake_request_t *entries,
                                 size_t count)
{
    app__mc_batch_t *const batch = batch_of(engine, batch_id);
    if (engine->closed) {
        return SIM_ERR_STATE;
    }
    if (batch == NULL) {
        return SIM_ERR_UNKNOWN;
    }
    if (count > batch->size - batch->count) {
        return SIM_ERR_FULL;
    }
    const uint64_t first = batch->count;
    for (size_t i = 0; i < count; i++) {
        app__mc_task_t *const task = sim_alloc(sizeof(*task));
        task->engine = engine;
        task->batch = batch;
        task->request = entries[i];
        task->segment = app__mc_segment_by_id(engine, entries[i].target_id);
        task->status = APP_MOONCAKE_PENDING;
        sim_timer_init(&task->timer, copied);
        batch->tasks[batch->count++] = task;
        batch->open++;
        engine->counters.requests++;
        sim_work_begin(engine->station->node, 1);
    }
    // All of them are open before the first may end.
    for (uint64_t i = first; i < first + count; i++) {
        begin(batch->tasks[i]);
    }
    return SIM_OK;
}

int64_t app_mooncake_get_transfer_status(const app_mooncake_t *engine,
                                         app_mooncake_batch_id_t batch_id,
                                         app_mooncake_status_t *status,
                                         size_t status_count)
{
    const app__mc_batch_t *const batch = batch_of(engine, batch_id);
    if (batch == NULL) {
        return SIM_ERR_UNKNOWN;
    }
    for (uint64_t i = 0; i < batch->count && i < status_count; i++) {
        status[i] = (app_mooncake_status_t){batch->tasks[i]->status, batch->tasks[i]->transferred};
    }
    return (int64_t)batch->count;
}

static void batch_destroy(app__mc_batch_t *batch)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        if (batch->tasks[i]->left > 0) {
            batch->tasks[i]->batch = NULL; // its last slice frees it
        } else {
            sim_free(batch->tasks[i]);
        }
    }
    sim_free(batch->tasks);
    sim_free(batch->audit);
    sim_free(batch);
}

int app_mooncake_free_batch_id(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id)
{
    app__mc_batch_t *const batch = batch_of(engine, batch_id);
    if (batch == NULL) {
        return SIM_ERR_UNKNOWN;
    }
    if (batch->open > 0) {
        return SIM_ERR_STATE;
    }
    engine->batches[(uint64_t)batch_id & UINT32_MAX] = NULL;
    engine->batches_free++;
    batch_destroy(batch);
    return SIM_OK;
}

int app_mooncake_cancel_transfer(app_mooncake_t *engine,
                                 app_mooncake_batch_id_t batch_id,
                                 size_t index)
{
    app__mc_batch_t *const batch = batch_of(engine, batch_id);
    if (batch == NULL || index >= batch->count) {
        return SIM_ERR_UNKNOWN;
    }
    if (batch->tasks[index]->ended) {
        return SIM_ERR_STATE;
    }
    app__mc_task_end(batch->tasks[index], APP_MOONCAKE_CANCELED);
    return SIM_OK;
}

int app_mooncake_on_batch(app_mooncake_t *engine,
                          app_mooncake_batch_id_t batch_id,
                          app_mooncake_batch_fn fn,
                          void *ctx)
{
    app__mc_batch_t *const batch = batch_of(engine, batch_id);
    if (batch == NULL) {
        return SIM_ERR_UNKNOWN;
    }
    batch->fn = fn;
    batch->ctx = ctx;
    app__mc_batch_settle(engine, batch);
    return SIM_OK;
}

app_mooncake_batch_id_t app_mooncake_submit(app_mooncake_t *engine,
                                            const app_mooncake_request_t *entries,
                                            size_t count)
{
    const app_mooncake_batch_id_t batch_id = app_mooncake_allocate_batch_id(engine, count);
    if (batch_id >= 0) {
        const int result = app_mooncake_submit_transfer(engine, batch_id, entries, count);
        SIM_CHECK(result == SIM_OK);
    }
    return batch_id;
}

int64_t app_mooncake_get_status(app_mooncake_t *engine,
                                app_mooncake_batch_id_t batch_id,
                                app_mooncake_status_t *status,
                                size_t status_count,
                                bool *freed)
{
    const int64_t count = app_mooncake_get_transfer_status(engine, batch_id, status, status_count);
    *freed = count >= 0 && app_mooncake_free_batch_id(engine, batch_id) == SIM_OK;
    return count;
}

void app__mc_abandon(app_mooncake_t *engine)
{
    for (size_t b = 0; b < engine->batch_count; b++) {
        app__mc_batch_t *const batch = engine->batches[b];
        for (uint64_t i = 0; batch != NULL && batch == engine->batches[b] && i < batch->count;
             i++) {
            if (!batch->tasks[i]->ended) {
                app__mc_task_end(batch->tasks[i], APP_MOONCAKE_CANCELED);
            }
        }
    }
}

// Orphans whose slices never came back belong to nobody but those slices.
void app__mc_transfers_fini(app_mooncake_t *engine)
{
    for (size_t b = 0; b < engine->batch_count; b++) {
        app__mc_batch_t *const batch = engine->batches[b];
        for (uint64_t i = 0; batch != NULL && i < batch->count; i++) {
            batch->tasks[i]->left = 0;
        }
        if (batch != NULL) {
            batch_destroy(batch);
        }
    }
    sim_free(engine->batches);
    for (size_t i = 0; i < engine->slab_count; i++) {
        sim_free(engine->slabs[i]);
    }
    sim_free(engine->slabs);
}
