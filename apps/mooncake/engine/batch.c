// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/batch.c - batches of requests: allocate, submit, query, free
// (docs/models/mooncake.md).
#include "apps/mooncake/engine/transfer_engine.h"
#include "apps/mooncake/engine/verify.h"

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

int app_mooncake_submit_transfer(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                                 const app_mooncake_request_t *entries, size_t count)
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
        batch->tasks[batch->count++] = app__mc_task_new(engine, batch, &entries[i]);
        batch->open++;
        engine->counters.requests++;
        sim_work_begin(engine->station->node, 1);
    }
    // All of them are open before the first can end.
    for (uint64_t i = first; i < first + count; i++) {
        app__mc_task_begin(batch->tasks[i]);
    }
    return SIM_OK;
}

int64_t app_mooncake_get_transfer_status(const app_mooncake_t *engine,
                                         app_mooncake_batch_id_t batch_id,
                                         app_mooncake_status_t *status, size_t status_count)
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
            app__mc_task_free(batch->tasks[i]);
        }
    }
    SIM_FREE_ALL(batch->tasks, batch->audit, batch);
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

int app_mooncake_cancel_transfer(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
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

int app_mooncake_on_transfers(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                              app_mooncake_batch_fn fn, void *ctx)
{
    app__mc_batch_t *const batch = batch_of(engine, batch_id);
    if (batch == NULL) {
        return SIM_ERR_UNKNOWN;
    }
    batch->ended_fn = fn;
    batch->ended_ctx = ctx;
    app__mc_batch_settle(engine, batch);
    return SIM_OK;
}

int app_mooncake_on_batch(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                          app_mooncake_batch_fn fn, void *ctx)
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
                                            const app_mooncake_request_t *entries, size_t count)
{
    const app_mooncake_batch_id_t batch_id = app_mooncake_allocate_batch_id(engine, count);
    if (batch_id >= 0) {
        const int result = app_mooncake_submit_transfer(engine, batch_id, entries, count);
        SIM_CHECK(result == SIM_OK);
    }
    return batch_id;
}

int64_t app_mooncake_get_status(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                                app_mooncake_status_t *status, size_t status_count, bool *freed)
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

void app__mc_transfers_fini(app_mooncake_t *engine)
{
    for (size_t b = 0; b < engine->batch_count; b++) {
        if (engine->batches[b] != NULL) {
            batch_destroy(engine->batches[b]);
        }
    }
    while (engine->tasks.last != NULL) { // their slices never came back
        app__mc_task_free(SIM_CONTAINER_OF(engine->tasks.last, app__mc_task_t, made));
    }
    sim_free(engine->batches);
    sim_free_each(engine->slabs, engine->slab_count);
    sim_free(engine->slabs);
}
