// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/nvmeof.c - files of storage nodes as segments (docs/models/mooncake.md).
//
// A transfer is cut into operations. Each is a command to the storage node, like in NVMe over
// Fabrics: the node moves the data by WRITEs to, or READs from, the memory of the requester, and
// answers. The node is a normal engine, with the NICs, slices and retries of its transfers.
//
// All files of a node lie on one drive. It takes queue-depth operations at a time; their bytes pass
// one after the other at the drive's rate, and then each operation keeps the channel that is free
// first for its latency.
#include <string.h>

#include "apps/mooncake/mooncake_internal.h"

#define SLICES_PER_OPERATION 16u
#define FILE_AREA (UINT64_C(1) << 50)
#define FILE_AREA_BITS 44
#define HEADER_BYTES 32u
#define DEPTH_MAX 65536u

typedef struct operation operation_t;

struct app__mc_file {
    app__mc_file_t *next;
    app_mooncake_t *engine;
    char *name;
    uint64_t address;
    uint64_t length;
    app__mc_drive_t *drive; // of the engine
};

struct app__mc_drive {
    app_mooncake_drive_config_t config;
    uint64_t under_way;
    sim_time_t busy_until_ps; // end of the transfers so far
    sim_time_t *free_ps;      // per channel: end of its last operation
    app__mc_chain_t begun;    // operations in progress
    app__mc_chain_t waiting;  // operations that wait for a place in the drive's queue
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

static sim_time_t *first_free_channel(const app__mc_drive_t *drive)
{
    sim_time_t *first = &drive->free_ps[0];
    for (uint64_t i = 1; i < drive->config.channels; i++) {
        first = drive->free_ps[i] < *first ? &drive->free_ps[i] : first;
    }
    return first;
}

static sim_time_t later(sim_time_t a, sim_time_t b)
{
    return a > b ? a : b;
}

static void drive_begin(operation_t *operation)
{
    app__mc_drive_t *const drive = operation->file->drive;
    sim_node_t *const node = operation->file->engine->station->node;
    const uint64_t bits = operation->length * 8;
    const uint64_t bps = drive->config.rate_bps;
    const sim_time_t time_ps =
        bits / bps * SIM_PS_PER_S + (sim_time_t)((double)(bits % bps) / (double)bps * 1e12);
    drive->busy_until_ps = later(drive->busy_until_ps, node->now_ps) + time_ps;
    sim_time_t *const channel_ps = first_free_channel(drive);
    *channel_ps = later(*channel_ps, drive->busy_until_ps) +
                  (operation->reads ? drive->config.latency_ps : drive->config.write_latency_ps);
    sim_timer_arm(node, &operation->timer, *channel_ps);
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
    app__mc_drive_t *const drive = operation->file->drive;
    app__mc_chain_add(&drive->begun, &operation->link);
    drive->under_way++;
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
    app__mc_drive_t *const drive = file->drive;
    file->engine->counters.file_operations++;
    drive->under_way--;
    app__mc_chain_remove(&drive->begun, &operation->link);
    app__mc_answer(file->engine->station, operation->peer, operation->id, status, body, 1);
    sim_free(operation);
    app__mc_link_t *const next = drive->waiting.oldest;
    if (next != NULL) {
        app__mc_chain_remove(&drive->waiting, next);
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
    if (file->drive->under_way < file->drive->config.queue_depth) {
        operation_begin(operation);
        return;
    }
    app__mc_chain_add(&file->drive->waiting, &operation->link);
}

// Fills in the defaults of a drive.
static app_mooncake_drive_config_t complete(const app_mooncake_drive_config_t *config)
{
    app_mooncake_drive_config_t full = *config;
    if (full.write_latency_ps == 0) {
        full.write_latency_ps = full.latency_ps;
    }
    if (full.channels == 0 || full.channels > full.queue_depth) {
        full.channels = full.queue_depth;
    }
    return full;
}

static bool is_same(const app_mooncake_drive_config_t *a, const app_mooncake_drive_config_t *b)
{
    return a->queue_depth == b->queue_depth && a->latency_ps == b->latency_ps &&
           a->rate_bps == b->rate_bps && a->write_latency_ps == b->write_latency_ps &&
           a->channels == b->channels;
}

// Gives an engine its drive, or checks that it has this one.
static int find_drive(app_mooncake_t *engine, const app_mooncake_drive_config_t *config)
{
    if (config == NULL) {
        return engine->drive == NULL ? SIM_ERR_INVALID : SIM_OK;
    }
    if (config->queue_depth == 0 || config->queue_depth > DEPTH_MAX || config->rate_bps == 0) {
        return SIM_ERR_RANGE;
    }
    const app_mooncake_drive_config_t full = complete(config);
    if (engine->drive != NULL) {
        return is_same(&engine->drive->config, &full) ? SIM_OK : SIM_ERR_INVALID;
    }
    engine->drive = sim_alloc(sizeof(*engine->drive));
    engine->drive->config = full;
    engine->drive->free_ps = sim_alloc_array(full.channels, sizeof(sim_time_t));
    return SIM_OK;
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
    if (length == 0 || length >= UINT64_C(1) << FILE_AREA_BITS) {
        return SIM_ERR_RANGE;
    }
    uint64_t number = 0;
    for (const app__mc_file_t *file = engine->files; file != NULL; file = file->next) {
        if (strcmp(file->name, file_name) == 0) {
            return SIM_ERR_EXISTS;
        }
        number++;
    }
    const int found = find_drive(engine, drive);
    if (found != SIM_OK) {
        return found;
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
        .drive = engine->drive,
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
        sim_free(file->name);
        sim_free(file);
    }
    if (engine->drive != NULL) {
        free_operations(&engine->drive->begun);
        free_operations(&engine->drive->waiting);
        sim_free(engine->drive->free_ps);
        sim_free(engine->drive);
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
