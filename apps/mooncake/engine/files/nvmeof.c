// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/files/nvmeof.c - files of storage nodes as segments: the node's side of NVMe
// over RDMA, and its drive (docs/models/mooncake.md).
//
// A host connects a queue pair by the communication manager and sends commands on it. The node
// reads or writes the host's memory at the address and key of the command, uses its drive, and
// answers. All files of a host, of all its engines, are namespaces of one drive. It takes
// queue-depth operations at a time; their bytes pass one after the other at the drive's rate, and
// then each operation keeps the channel that is free first for its latency.
#include "apps/mooncake/engine/files/nvmeof.h"

#include <string.h>

#include "apps/channel/pair.h"
#include "apps/mooncake/engine/files/nvme.h"
#include "apps/mooncake_files.h"
#include "apps/mooncake_memory.h"

#define DEPTH_MAX 65536u
#define FILES_MAX 60u
#define POLL_MAX 16u
#define INVALID_OPCODE 0x01u // status codes, generic
#define INVALID_FIELD 0x02u
#define INVALID_NAMESPACE 0x0bu
#define OUT_OF_RANGE 0x80u
#define INVALID_CONNECT 0x182u // of Connect

typedef struct operation operation_t;

struct app__mc_file {
    app__mc_file_t *next;
    app_mooncake_t *engine;
    char *name;
    uint64_t nsid;
    uint64_t length;
};

struct app__mc_drive {
    app_mooncake_drive_config_t config;
    uint64_t engines; // of the host that have files on it
    uint64_t files;   // namespaces so far
    uint64_t under_way;
    sim_time_t busy_until_ps; // end of the transfers so far
    sim_time_t *free_ps;      // per channel: end of its last operation
    sim_list_t begun;         // operations in progress
    sim_list_t waiting;       // operations that wait for a place in the drive's queue
};

struct app__nvme_queue { // of a host
    app__nvme_queue_t *next;
    app_mooncake_t *engine;
    app__nvme_pair_t pair;
    uint32_t interface; // of the host's NIC
    uint32_t remote_id; // the host's
    uint32_t local_id;
    uint16_t id;
    uint16_t head; // commands taken so far
    bool joined;
};

struct operation {
    sim_link_t link;
    app_mooncake_t *engine;
    const app__mc_file_t *file;
    app__nvme_queue_t *queue; // NULL: that of a task at home, or the queue is gone
    app__mc_task_t *task;     // at home
    uint32_t id;              // of the command
    bool reads;               // from the file
    bool moving;              // its data is on the way
    uint64_t offset;
    uint64_t length;
    uint64_t address; // in the memory of the host
    uint32_t rkey;
    sim_timer_t timer;
};

static uint64_t address_of(const operation_t *operation)
{
    return app__mc_file_address(operation->file->nsid) + operation->offset;
}

// -- answers

static void answer(app__nvme_queue_t *queue, uint32_t id, uint32_t status, uint32_t result)
{
    uint8_t entry[APP__NVME_ANSWER_BYTES] = {0};
    if (queue->pair.qp == NULL || nic_qp_state(queue->pair.qp) != NIC_QPS_RTS) {
        return;
    }
    sim_put_le(entry, result, 4);
    sim_put_le(entry + 8, queue->head % APP__NVME_DEPTH, 2);
    sim_put_le(entry + 10, queue->id, 2);
    sim_put_le(entry + 12, id, 2);
    sim_put_le(entry + 14, (uint64_t)status << 1, 2);
    app__nvme_pair_send(&queue->pair, id % APP__NVME_DEPTH, entry, sizeof(entry));
}

// -- moving data

static void operation_begin(operation_t *operation);

static void end_at_home(app__mc_task_t *task, uint64_t length, bool good)
{
    task->transferred += good && !task->ended ? length : 0;
    task->failed = task->failed || !good;
    task->left--;
    if (task->left == 0 && !task->ended) {
        app__mc_task_end(task, task->failed ? APP_MOONCAKE_FAILED : APP_MOONCAKE_COMPLETED);
    } else if (task->left == 0 && task->batch == NULL) {
        app__mc_task_free(task);
    }
}

static void operation_end(operation_t *operation, bool good)
{
    app_mooncake_t *const engine = operation->engine;
    app__mc_drive_t *const drive = engine->drive;
    engine->counters.file_operations++;
    drive->under_way--;
    sim_list_remove(&drive->begun, &operation->link);
    if (operation->task != NULL) {
        end_at_home(operation->task, operation->length, good);
    }
    sim_free(operation);
    sim_link_t *const next = drive->waiting.first;
    if (next != NULL) {
        sim_list_remove(&drive->waiting, next);
        operation_begin(SIM_CONTAINER_OF(next, operation_t, link));
    }
}

// Writes a READ's data into the host's memory, or reads a WRITE's data from there.
static void move(operation_t *operation)
{
    app__nvme_queue_t *const queue = operation->queue;
    const app__mc_local_buffer_t *const buffer =
        app__mc_local_buffer(operation->engine, address_of(operation), operation->length);
    if (queue == NULL || queue->pair.qp == NULL || buffer == NULL ||
        nic_qp_state(queue->pair.qp) != NIC_QPS_RTS) {
        operation_end(operation, false);
        return;
    }
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)(uintptr_t)operation,
        .opcode = operation->reads ? NIC_WR_RDMA_WRITE : NIC_WR_RDMA_READ,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {address_of(operation), operation->length,
                nic_mr_lkey(buffer->regions[queue->pair.context->index])},
        .rdma = {operation->address, operation->rkey},
    };
    operation->moving = true;
    app__qp_post(queue->pair.qp, &wr);
    if (operation->reads) {
        answer(queue, operation->id, 0, 0); // behind the data on the same queue pair
    }
}

// -- at home: a file of the submitting engine

static void copied(app_mooncake_batch_id_t batch_id, void *ctx);

static void copy(operation_t *operation)
{
    app_mooncake_t *const engine = operation->engine;
    const app_mooncake_request_t request = {
        .opcode = operation->reads ? APP_MOONCAKE_READ : APP_MOONCAKE_WRITE,
        .source = operation->address,
        .target_id = APP_MOONCAKE_LOCAL_SEGMENT,
        .target_offset = address_of(operation),
        .length = operation->length,
    };
    const app_mooncake_batch_id_t batch_id = app_mooncake_submit(engine, &request, 1);
    if (batch_id < 0) {
        operation_end(operation, false);
    } else {
        // The check of the task that this is a part of will do.
        engine->batches[(uint64_t)batch_id & UINT32_MAX]->tasks[0]->is_part = true;
        (void)app_mooncake_on_transfers(engine, batch_id, copied, operation);
    }
}

// -- the drive

static sim_time_t *first_free_channel(const app__mc_drive_t *drive)
{
    sim_time_t *first = &drive->free_ps[0];
    for (uint64_t i = 1; i < drive->config.channels; i++) {
        first = drive->free_ps[i] < *first ? &drive->free_ps[i] : first;
    }
    return first;
}

static void drive_begin(operation_t *operation)
{
    app__mc_drive_t *const drive = operation->engine->drive;
    sim_node_t *const node = operation->engine->station->node;
    const uint64_t bits = operation->length * 8;
    const uint64_t bps = drive->config.rate_bps;
    const sim_time_t time_ps =
        bits / bps * SIM_PS_PER_S + (sim_time_t)((double)(bits % bps) / (double)bps * 1e12);
    drive->busy_until_ps = SIM_MAX(drive->busy_until_ps, node->now_ps) + time_ps;
    sim_time_t *const channel_ps = first_free_channel(drive);
    *channel_ps = SIM_MAX(*channel_ps, drive->busy_until_ps) +
                  (operation->reads ? drive->config.latency_ps : drive->config.write_latency_ps);
    sim_timer_arm(node, &operation->timer, *channel_ps);
}

static void drive_done(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    operation_t *const operation = SIM_CONTAINER_OF(timer, operation_t, timer);
    if (operation->reads && operation->task != NULL) {
        copy(operation);
    } else if (operation->reads) {
        move(operation);
    } else {
        if (operation->queue != NULL) {
            answer(operation->queue, operation->id, 0, 0);
        }
        operation_end(operation, true);
    }
}

static void copied(app_mooncake_batch_id_t batch_id, void *ctx)
{
    operation_t *const operation = ctx;
    app_mooncake_t *const engine = operation->engine;
    app_mooncake_status_t status;
    (void)app_mooncake_get_transfer_status(engine, batch_id, &status, 1);
    const int freed = app_mooncake_free_batch_id(engine, batch_id);
    SIM_CHECK(freed == SIM_OK);
    if (status.s == APP_MOONCAKE_COMPLETED && !operation->reads) {
        drive_begin(operation);
    } else {
        operation_end(operation, status.s == APP_MOONCAKE_COMPLETED);
    }
}

static void operation_begin(operation_t *operation)
{
    app__mc_drive_t *const drive = operation->engine->drive;
    sim_list_push_last(&drive->begun, &operation->link);
    drive->under_way++;
    if (operation->reads) {
        drive_begin(operation);
    } else if (operation->task != NULL) {
        copy(operation);
    } else {
        move(operation);
    }
}

static void operation_queue(operation_t *operation)
{
    app__mc_drive_t *const drive = operation->engine->drive;
    sim_timer_init(&operation->timer, drive_done);
    if (drive->under_way < drive->config.queue_depth) {
        operation_begin(operation);
        return;
    }
    sim_list_push_last(&drive->waiting, &operation->link);
}

static const app__mc_file_t *file_of(const app_mooncake_t *engine, uint64_t nsid)
{
    const app__mc_file_t *file = engine->files;
    while (file != NULL && file->nsid != nsid) {
        file = file->next;
    }
    return file;
}

void app__mc_file_at_home(app_mooncake_t *engine, app__mc_task_t *task)
{
    const app_mooncake_request_t *const request = &task->request;
    const app__mc_file_t *const file = file_of(engine, task->segment->desc->nsid);
    if (file == NULL || strcmp(task->segment->desc->server, engine->name) != 0) {
        task->left = 0;
        app__mc_task_end(task, APP_MOONCAKE_FAILED);
        return;
    }
    const uint64_t most = (request->length + task->slices - 1) / task->slices;
    const uint32_t count = task->slices;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t at = i * most;
        const uint64_t rest = request->length > at ? request->length - at : 0;
        if (rest == 0) {
            task->left--; // pieces were rounded up
            continue;
        }
        operation_t *const operation = sim_alloc(sizeof(*operation));
        *operation = (operation_t){
            .engine = engine,
            .file = file,
            .task = task,
            .reads = request->opcode == APP_MOONCAKE_READ,
            .offset = request->target_offset + at,
            .length = SIM_MIN(rest, most),
            .address = request->source + at,
        };
        operation_queue(operation);
    }
}

// -- commands

static uint32_t take_io(app__nvme_queue_t *queue, const uint8_t *capsule)
{
    app_mooncake_t *const engine = queue->engine;
    const app__mc_file_t *const file = file_of(engine, sim_get_le(capsule + 4, 4));
    if (capsule[0] != APP__NVME_READ && capsule[0] != APP__NVME_WRITE) {
        return INVALID_OPCODE;
    }
    if (file == NULL) {
        return INVALID_NAMESPACE;
    }
    const uint64_t shift = sim_get_le(capsule + 56, 4);
    const uint64_t block = sim_get_le(capsule + 40, 8);
    const uint64_t length = sim_get_le(capsule + 32, 3);
    const uint64_t blocks = sim_get_le(capsule + 48, 2) + 1;
    if (shift >= APP__NVME_BLOCK_BYTES || length == 0 ||
        length + shift > blocks * APP__NVME_BLOCK_BYTES) {
        return INVALID_FIELD;
    }
    const uint64_t offset = block * APP__NVME_BLOCK_BYTES + shift;
    if (block > file->length || offset > file->length || length > file->length - offset) {
        return OUT_OF_RANGE;
    }
    operation_t *const operation = sim_alloc(sizeof(*operation));
    *operation = (operation_t){
        .engine = engine,
        .file = file,
        .queue = queue,
        .id = (uint32_t)sim_get_le(capsule + 2, 2),
        .reads = capsule[0] == APP__NVME_READ,
        .offset = offset,
        .length = length,
        .address = sim_get_le(capsule + 24, 8),
        .rkey = (uint32_t)sim_get_le(capsule + 35, 4),
    };
    operation_queue(operation);
    return 0;
}

static void take(app__nvme_queue_t *queue, const uint8_t *capsule, uint64_t bytes)
{
    const uint32_t id = (uint32_t)sim_get_le(capsule + 2, 2);
    uint32_t status = INVALID_FIELD;
    queue->head++;
    if (bytes < APP__NVME_COMMAND_BYTES) {
        return;
    }
    if (capsule[0] == APP__NVME_FABRICS) {
        queue->joined =
            bytes == APP__NVME_COMMAND_BYTES + APP__NVME_CONNECT_BYTES && capsule[4] == 1;
        answer(queue, id, queue->joined ? 0 : INVALID_CONNECT, queue->joined ? 1 : 0);
        return;
    }
    if (queue->joined) {
        status = take_io(queue, capsule);
    }
    if (status != 0) {
        answer(queue, id, status, 0);
    }
}

// -- queues of hosts

// Ends the operations that a queue that is gone had begun; the drive finishes what it has.
static void drop_operations(app__nvme_queue_t *queue)
{
    app__mc_drive_t *const drive = queue->engine->drive;
    for (sim_link_t *link = drive->waiting.first; link != NULL;) {
        operation_t *const operation = SIM_CONTAINER_OF(link, operation_t, link);
        link = link->next;
        if (operation->queue == queue) {
            sim_list_remove(&drive->waiting, &operation->link);
            sim_free(operation);
        }
    }
    for (sim_link_t *link = drive->begun.first; link != NULL;) {
        operation_t *const operation = SIM_CONTAINER_OF(link, operation_t, link);
        link = link->next;
        if (operation->queue == queue) {
            operation->queue = NULL;
            if (operation->moving) {
                operation->moving = false;
                // Ends in a timer, since an end may begin operations of this chain.
                sim_timer_init(&operation->timer, drive_done);
                operation->reads = false;
                sim_timer_arm(queue->engine->station->node, &operation->timer,
                              queue->engine->station->node->now_ps);
            }
        }
    }
}

static void queue_leave(app__nvme_queue_t *queue)
{
    if (queue->pair.qp == NULL) {
        return;
    }
    app__nvme_pair_bury(&queue->pair);
    drop_operations(queue);
}

static void moved(operation_t *operation, bool good)
{
    app__nvme_queue_t *const queue = operation->queue;
    operation->moving = false;
    if (good) {
        queue->pair.context->bytes += operation->length;
    }
    if (good && !operation->reads) {
        drive_begin(operation);
    } else {
        operation_end(operation, good);
    }
}

static void completed(nic_cq_t *cq, void *ctx)
{
    app__nvme_queue_t *const queue = ctx;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count && queue->pair.qp != NULL; i++) {
            if (wc[i].status != NIC_WC_SUCCESS) {
                queue_leave(queue); // the host connects again
            } else if ((wc[i].wr_id & APP__NVME_RECEIVED) != 0) {
                uint8_t capsule[APP__NVME_SLOT_BYTES];
                app__nvme_pair_take(&queue->pair, wc[i].wr_id & UINT32_MAX, capsule,
                                    wc[i].byte_len);
                take(queue, capsule, wc[i].byte_len);
            } else if ((wc[i].wr_id & APP__NVME_SENT) == 0) {
                moved((operation_t *)(uintptr_t)wc[i].wr_id, true);
            }
        }
    }
}

// Returns the context of a NIC in the engine that has the station's files, or NULL.
static app__mc_context_t *context_of(const app__mc_station_t *station, uint32_t nic)
{
    for (app_mooncake_t *e = station->engines; e != NULL; e = e->next_on_station) {
        for (uint32_t i = 0; e->files != NULL && !e->closed && i < e->context_count; i++) {
            if (e->contexts[i].nic_index == nic) {
                return &e->contexts[i];
            }
        }
    }
    return NULL;
}

static app__nvme_queue_t *queue_of(const app__mc_station_t *station,
                                   const app__cm_message_t *message)
{
    for (const app_mooncake_t *e = station->engines; e != NULL; e = e->next_on_station) {
        for (app__nvme_queue_t *q = e->queues; q != NULL; q = q->next) {
            if (q->remote_id == message->local_id && q->interface == message->interface &&
                q->pair.qp != NULL) {
                return q;
            }
        }
    }
    return NULL;
}

static app__nvme_queue_t *make_queue(app__mc_context_t *context, const app__cm_message_t *message)
{
    app__nvme_queue_t *const queue = sim_alloc(sizeof(*queue));
    *queue = (app__nvme_queue_t){
        .next = context->engine->queues,
        .engine = context->engine,
        .interface = message->interface,
        .remote_id = message->local_id,
        .local_id = app__cm_new_id(context->engine->station),
        .id = message->queue_id,
    };
    context->engine->queues = queue;
    app__nvme_pair_make(&queue->pair, context, completed, queue);
    if (!app__nvme_pair_connect(&queue->pair, message->interface, message->qp_num)) {
        app__nvme_pair_bury(&queue->pair);
        return NULL;
    }
    return queue;
}

void app__nvme_node_received(app__mc_station_t *station, const app__cm_message_t *message)
{
    app__nvme_queue_t *queue = queue_of(station, message);
    app__cm_message_t reply = {.attribute = APP__CM_REJECT, .remote_id = message->local_id};
    if (message->attribute == APP__CM_READY) {
        return; // the queue pair receives since the request
    }
    if (message->attribute == APP__CM_LEAVE) {
        reply.attribute = APP__CM_LEFT;
        reply.local_id = message->remote_id;
        if (queue != NULL) {
            queue_leave(queue);
        }
    } else {
        app__mc_context_t *const context = context_of(station, message->nic);
        if (queue == NULL && context != NULL) {
            queue = make_queue(context, message);
        }
        if (queue != NULL) {
            reply.attribute = APP__CM_REPLY;
            reply.local_id = queue->local_id;
            reply.qp_num = nic_qp_num(queue->pair.qp);
        }
    }
    app__cm_send(station, message->nic, message->interface, &reply);
}

void app__nvme_node_close(app_mooncake_t *engine)
{
    for (app__nvme_queue_t *queue = engine->queues; queue != NULL; queue = queue->next) {
        queue_leave(queue);
    }
}

// -- files

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

// Gives an engine the drive of its host, or checks that it is this one.
static int find_drive(app_mooncake_t *engine, const app_mooncake_drive_config_t *config)
{
    app__endpoint_t *const endpoint = engine->station->nics[0].endpoint;
    app__mc_drive_t *drive = endpoint->drive;
    if (config == NULL && drive == NULL) {
        return SIM_ERR_INVALID;
    }
    if (config != NULL) {
        if (config->queue_depth == 0 || config->queue_depth > DEPTH_MAX || config->rate_bps == 0) {
            return SIM_ERR_RANGE;
        }
        const app_mooncake_drive_config_t full = complete(config);
        if (drive != NULL && !is_same(&drive->config, &full)) {
            return SIM_ERR_INVALID;
        }
        if (drive == NULL) {
            drive = sim_alloc(sizeof(*drive));
            drive->config = full;
            drive->free_ps = sim_alloc_array(full.channels, sizeof(sim_time_t));
            endpoint->drive = drive;
        }
    }
    drive->engines += engine->drive == NULL;
    engine->drive = drive;
    return SIM_OK;
}

int app_mooncake_serve_file(app_mooncake_t *engine, const char *file_name, uint64_t length,
                            const app_mooncake_drive_config_t *drive, app_mooncake_done_fn fn,
                            void *ctx)
{
    if (engine->closed) {
        return SIM_ERR_STATE;
    }
    if (length == 0 || length >= UINT64_C(1) << APP__MC_FILE_AREA_BITS) {
        return SIM_ERR_RANGE;
    }
    for (const app__mc_file_t *file = engine->files; file != NULL; file = file->next) {
        if (strcmp(file->name, file_name) == 0) {
            return SIM_ERR_EXISTS;
        }
    }
    const int found = find_drive(engine, drive);
    if (found != SIM_OK) {
        return found;
    }
    if (engine->drive->files == FILES_MAX) {
        return SIM_ERR_FULL;
    }
    const uint64_t nsid = engine->drive->files + 1;
    const uint64_t address = app__mc_file_address(nsid);
    const uint64_t whole_pages = (length + 4095) / 4096 * 4096;
    const int result = app_mooncake_register_local_memory(
        engine, address, whole_pages, engine->matrix.items[0].location, 0, NULL, NULL);
    if (result != SIM_OK) {
        return result;
    }
    app__mc_file_t *const file = sim_alloc(sizeof(*file));
    *file = (app__mc_file_t){
        .next = engine->files,
        .engine = engine,
        .name = sim_strdup(file_name),
        .nsid = nsid,
        .length = length,
    };
    engine->files = file;
    engine->drive->files++;
    for (uint32_t nic = 0; nic < engine->station->nic_count; nic++) {
        app__cm_open(engine->station, nic);
    }
    app__mc_put_file_record(engine, file_name, length, file->nsid, fn, ctx);
    return SIM_OK;
}

static void free_operations(const app_mooncake_t *engine, sim_list_t *chain)
{
    for (sim_link_t *link = chain->first; link != NULL;) {
        operation_t *const operation = SIM_CONTAINER_OF(link, operation_t, link);
        link = link->next;
        if (operation->engine == engine) {
            sim_list_remove(chain, &operation->link);
            sim_free(operation);
        }
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
    while (engine->queues != NULL) {
        app__nvme_queue_t *const queue = engine->queues;
        engine->queues = queue->next;
        sim_free(queue);
    }
    if (engine->drive != NULL) {
        app__mc_drive_t *const drive = engine->drive;
        free_operations(engine, &drive->begun);
        free_operations(engine, &drive->waiting);
        if (--drive->engines == 0) {
            engine->station->nics[0].endpoint->drive = NULL;
            sim_free(drive->free_ps);
            sim_free(drive);
        }
    }
}
