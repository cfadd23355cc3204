// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/nvmeof.c - files of storage nodes as segments (docs/models/mooncake.md).
//
// A transfer is cut into operations. Each is a command to the storage node, like in NVMe over
// Fabrics: the node moves the data by WRITEs to, or READs from, the memory of the requester, and
// answers. Its drive takes queue-depth operations at a time; each lasts the drive's latency plus
// its bytes at the drive's rate. The node is a normal engine, with the NICs, slices and retries of
// its transfers.
#include <string.h>

#include "apps/mooncake/mooncake_internal.h"

#define SLICES_PER_OPERATION 16u
#define FILE_AREA (UINT64_C(1) << 50)
#define FILE_AREA_BITS 44
#define HEADER_BYTES 32u

typedef struct operation operation_t;

struct app__mc_file {
    app__mc_file_t *next;
    app_mooncake_t *engine;
    char *name;
    uint64_t address;
    uint64_t length;
    app_mooncake_drive_config_t drive;
    uint64_t under_way;
    sim_time_t busy_until_ps;
    app__mc_chain_t begun;   // operations in progress
    app__mc_chain_t waiting; // operations that wait for a place in the drive's queue
};

struct operation {
    app__mc_link_t link;
    app__mc_file_t *file;
    uint32_t peer;
    uint64_t id;
    bool reads; // from the file
    uint64_t offset;
    uint64_t length;
    uint64_t address; // in the memory of the requester
    sim_timer_t timer;
    bool good;
};

// -- the storage node

static void operation_end(operation_t *operation, int32_t status);

static void moved(app_mooncake_batch_id_t batch_id, void *ctx);

static void move(operation_t *operation, app_mooncake_segment_id_t target)
{
    app_mooncake_t *const engine = operation->file->engine;
    const app_mooncake_request_t request = {
        .opcode = operation->reads ? APP_MOONCAKE_WRITE : APP_MOONCAKE_READ,
        .source = operation->file->address + operation->offset,
        .target_id = target,
        .target_offset = operation->address,
        .length = operation->length,
    };
    const app_mooncake_batch_id_t batch_id =
        target < 0 ? target : app_mooncake_submit(engine, &request, 1);
    if (batch_id < 0) {
        operation_end(operation, SIM_ERR_IO);
        return;
    }
    (void)app_mooncake_on_batch(engine, batch_id, moved, operation);
}

static void opened(app_mooncake_segment_id_t id, void *ctx)
{
    move(ctx, id);
}

static void find_and_move(operation_t *operation)
{
    app_mooncake_t *const engine = operation->file->engine;
    const app__mc_station_t *const asker = &engine->station->cluster->stations[operation->peer];
    // Any of the requester's engines will do, since they share the memory. If only one of several
    // has registered the address, the transfer may fail; programs have one engine per host.
    if (asker->engines == NULL) {
        operation_end(operation, SIM_ERR_UNKNOWN);
        return;
    }
    app_mooncake_get_segment_id(engine, asker->engines->name, opened, operation);
}

static void drive_done(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    operation_t *const operation = SIM_CONTAINER_OF(timer, operation_t, timer);
    if (operation->reads) {
        find_and_move(operation);
    } else {
        operation_end(operation, SIM_OK);
    }
}

static void drive_begin(operation_t *operation)
{
    app__mc_file_t *const file = operation->file;
    sim_node_t *const node = file->engine->station->node;
    const uint64_t bits = operation->length * 8;
    const uint64_t bps = file->drive.rate_bps;
    const sim_time_t time_ps =
        bits / bps * SIM_PS_PER_S + (sim_time_t)((double)(bits % bps) / (double)bps * 1e12);
    const sim_time_t from_ps =
        file->busy_until_ps > node->now_ps ? file->busy_until_ps : node->now_ps;
    file->busy_until_ps = from_ps + time_ps;
    sim_timer_arm(node, &operation->timer, file->busy_until_ps + file->drive.latency_ps);
}

static void moved(app_mooncake_batch_id_t batch_id, void *ctx)
{
    operation_t *const operation = ctx;
    app_mooncake_t *const engine = operation->file->engine;
    const app__mc_batch_t *const batch = engine->batches[(uint64_t)batch_id & UINT32_MAX];
    operation->good = batch->unverified == 0;
    app_mooncake_status_t status;
    (void)app_mooncake_get_transfer_status(engine, batch_id, &status, 1);
    const int freed = app_mooncake_free_batch_id(engine, batch_id);
    SIM_CHECK(freed == SIM_OK);
    if (status.s != APP_MOONCAKE_COMPLETED) {
        operation_end(operation, SIM_ERR_IO);
    } else if (operation->reads) {
        operation_end(operation, SIM_OK);
    } else {
        drive_begin(operation);
    }
}

static void operation_begin(operation_t *operation)
{
    app__mc_file_t *const file = operation->file;
    app__mc_chain_add(&file->begun, &operation->link);
    file->under_way++;
    if (operation->reads) {
        drive_begin(operation);
    } else {
        find_and_move(operation);
    }
}

static void operation_end(operation_t *operation, int32_t status)
{
    app__mc_file_t *const file = operation->file;
    const char body[1] = {operation->good ? 1 : 0};
    file->engine->counters.file_operations++;
    file->under_way--;
    app__mc_chain_remove(&file->begun, &operation->link);
    app__mc_answer(file->engine->station, operation->peer, operation->id, status, body, 1);
    sim_free(operation);
    app__mc_link_t *const next = file->waiting.oldest;
    if (next != NULL) {
        app__mc_chain_remove(&file->waiting, next);
        operation_begin(SIM_CONTAINER_OF(next, operation_t, link));
    }
}

static app__mc_file_t *file_named(const app__mc_station_t *station, const char *name)
{
    for (const app_mooncake_t *e = station->engines; e != NULL; e = e->next_on_station) {
        for (app__mc_file_t *file = e->files; file != NULL && !e->closed; file = file->next) {
            if (strcmp(file->name, name) == 0) {
                return file;
            }
        }
    }
    return NULL;
}

void app__mc_on_file_io(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    (void)ctx;
    app__mc_file_t *const file = file_named(station, incoming->key);
    if (file == NULL || incoming->size != HEADER_BYTES) {
        app__mc_answer(station, incoming->peer, incoming->id, SIM_ERR_UNKNOWN, "", 0);
        return;
    }
    const uint64_t offset = app__mc_get64(incoming->body + 8);
    const uint64_t length = app__mc_get64(incoming->body + 16);
    if (length == 0 || offset > file->length || length > file->length - offset) {
        app__mc_answer(station, incoming->peer, incoming->id, SIM_ERR_RANGE, "", 0);
        return;
    }
    operation_t *const operation = sim_alloc(sizeof(*operation));
    *operation = (operation_t){
        .file = file,
        .peer = incoming->peer,
        .id = incoming->id,
        .reads = app__mc_get64(incoming->body) == APP_MOONCAKE_READ,
        .offset = offset,
        .length = length,
        .address = app__mc_get64(incoming->body + 24),
    };
    sim_timer_init(&operation->timer, drive_done);
    if (file->under_way < file->drive.queue_depth) {
        operation_begin(operation);
        return;
    }
    app__mc_chain_add(&file->waiting, &operation->link);
}

int app_mooncake_serve_file(app_mooncake_t *engine,
                            const char *file_name,
                            uint64_t length,
                            const app_mooncake_drive_config_t *drive,
                            app_mooncake_done_fn fn,
                            void *ctx)
{
    if (engine->closed) {
        return SIM_ERR_STATE;
    }
    if (length == 0 || length >= UINT64_C(1) << FILE_AREA_BITS || drive->queue_depth == 0 ||
        drive->rate_bps == 0) {
        return SIM_ERR_RANGE;
    }
    uint64_t number = 0;
    for (const app__mc_file_t *file = engine->files; file != NULL; file = file->next) {
        if (strcmp(file->name, file_name) == 0) {
            return SIM_ERR_EXISTS;
        }
        number++;
    }
    const uint64_t address = FILE_AREA + (number << FILE_AREA_BITS);
    const uint64_t whole_pages = (length + 4095) / 4096 * 4096;
    const int result = app_mooncake_register_local_memory(engine,
                                                          address,
                                                          whole_pages,
                                                          engine->matrix.items[0].location,
                                                          0,
                                                          NULL,
                                                          NULL);
    if (result != SIM_OK) {
        return result;
    }
    app__mc_file_t *const file = sim_alloc(sizeof(*file));
    *file = (app__mc_file_t){
        .next = engine->files,
        .engine = engine,
        .name = sim_strdup(file_name),
        .address = address,
        .length = length,
        .drive = *drive,
    };
    engine->files = file;
    app__mc_put_file_record(engine, file_name, length, fn, ctx);
    return SIM_OK;
}

static void free_operations(app__mc_chain_t *chain)
{
    while (chain->newest != NULL) {
        operation_t *const operation = SIM_CONTAINER_OF(chain->newest, operation_t, link);
        app__mc_chain_remove(chain, &operation->link);
        sim_free(operation);
    }
}

void app__mc_files_fini(app_mooncake_t *engine)
{
    while (engine->files != NULL) {
        app__mc_file_t *const file = engine->files;
        engine->files = file->next;
        free_operations(&file->begun);
        free_operations(&file->waiting);
        sim_free(file->name);
        sim_free(file);
    }
}

// -- the requester

typedef struct asked {
    app__mc_task_t *task;
    uint64_t length;
} asked_t;

static void answered(int32_t status, const char *body, size_t size, void *ctx)
{
    asked_t *const asked = ctx;
    app__mc_task_t *const task = asked->task;
    app_mooncake_t *const engine = task->engine;
    if (status == SIM_OK && !task->ended) {
        task->transferred += asked->length;
        if (engine->verify) {
            const bool good = size == 1 && body[0] == 1;
            engine->counters.verified_bytes += good ? asked->length : 0;
            engine->counters.unverified_bytes += good ? 0 : asked->length;
        }
    }
    task->failed = task->failed || status != SIM_OK;
    task->left--;
    if (task->left == 0 && !task->ended) {
        app__mc_task_end(task, task->failed ? APP_MOONCAKE_FAILED : APP_MOONCAKE_COMPLETED);
    } else if (task->left == 0 && task->batch == NULL) {
        app__mc_task_free(task);
    }
}

void app__mc_file_submit(app_mooncake_t *engine, app__mc_task_t *task)
{
    const app_mooncake_request_t *const request = &task->request;
    const app_mooncake_segment_desc_t *const desc = task->segment->desc;
    if (request->target_offset + request->length > desc->file_length) {
        app__mc_task_end(task, APP_MOONCAKE_INVALID);
        return;
    }
    task->segment->file_checked = true;
    const uint64_t most = engine->config.slice_bytes * SLICES_PER_OPERATION;
    const uint64_t count = (request->length + most - 1) / most;
    SIM_CHECK(count <= UINT32_MAX);
    task->slices = (uint32_t)count;
    task->left = task->slices;
    task->status = APP_MOONCAKE_WAITING;
    for (uint64_t at = 0; at < request->length; at += most) {
        const uint64_t rest = request->length - at;
        asked_t *const asked = sim_alloc(sizeof(*asked));
        *asked = (asked_t){task, rest < most ? rest : most};
        char body[HEADER_BYTES];
        app__mc_put64(body, request->opcode);
        app__mc_put64(body + 8, request->target_offset + at);
        app__mc_put64(body + 16, asked->length);
        app__mc_put64(body + 24, request->source + at);
        const app__mc_message_t message = {APP__MC_FILE_IO,
                                           task->segment->name,
                                           body,
                                           sizeof(body)};
        app__mc_ask(engine->station,
                    task->segment->station,
                    &message,
                    engine->config.handshake_timeout_ps,
                    engine->config.call_retries,
                    answered,
                    asked,
                    true);
    }
}
