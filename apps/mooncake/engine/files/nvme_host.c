// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/files/nvme_host.c - the host's side of NVMe over RDMA: a queue from each of
// an engine's NICs to a storage node, and the commands on them (docs/models/mooncake.md).
//
// A queue asks the node's NIC for a connection, joins the subsystem by a Connect command, and then
// carries up to APP__NVME_DEPTH commands. A queue that fails or is silent is torn down; its
// commands take another one, at most engine.retries times each.
#include <stdio.h>
#include <string.h>

#include "apps/mooncake/engine/files/nvme.h"
#include "apps/mooncake/engine/files/nvmeof.h"
#include "apps/mooncake/engine/verify.h"

#define POLL_MAX 16u
#define SLICES_PER_COMMAND 16u
#define COMMAND_MAX_BYTES (UINT64_C(1) << 20) // what a storage node accepts (MDTS)
#define KEYED_BLOCK 0x40u                     // SGL descriptor: keyed data block
#define OFFSET_BLOCK 0x01u                    // data block in the capsule
#define SGL_FLAG 0x40u                        // the command has SGLs

typedef enum queue_state { IDLE, ASKING, JOINING, LIVE, FAILING } queue_state_t;

typedef struct command command_t;
typedef struct remote remote_t;

typedef struct queue {
    app__nvme_pair_t pair;
    remote_t *remote;
    queue_state_t state;
    uint32_t interface; // of the storage node's NIC
    uint32_t local_id;
    uint32_t remote_id; // the storage node's, once it has replied; 0: none
    uint32_t remote_qp;
    uint64_t tries_left;
    command_t *commands[APP__NVME_DEPTH]; // by command id; NULL: free
    uint32_t under_way;
    sim_timer_t timer; // while ASKING or JOINING
} queue_t;

struct remote { // a storage node
    app__mc_remote_link_t link;
    app_mooncake_t *engine;
    uint32_t station;
    char *server;
    queue_t *queues; // by context
    uint32_t turn;
    sim_list_t waiting; // commands without a queue
};

struct command {
    sim_link_t link;
    app__mc_task_t *task;
    remote_t *remote;
    uint64_t offset; // in the file
    uint64_t address;
    uint64_t length;
    uint64_t tries;
    queue_t *queue; // NULL: it waits
    uint32_t id;
    bool timed; // the slice timeout is over
    sim_timer_t timer;
};

static sim_node_t *node_of(const remote_t *remote)
{
    return remote->engine->station->node;
}

// Returns how long a command may take before its queue is given up.
static sim_time_t patience_ps(const app_mooncake_t *engine)
{
    return engine->config.handshake_timeout_ps * (engine->config.call_retries + 1);
}

// -- the end of a command

static void command_end(command_t *command, bool good)
{
    app__mc_task_t *const task = command->task;
    sim_timer_cancel(node_of(command->remote), &command->timer);
    if (good && !task->ended) {
        task->transferred += command->length;
    }
    task->failed = task->failed || !good;
    task->left--;
    sim_free(command);
    if (task->left == 0 && !task->ended) {
        app__mc_task_end(task, task->failed ? APP_MOONCAKE_FAILED : APP_MOONCAKE_COMPLETED);
    } else if (task->left == 0 && task->batch == NULL) {
        app__mc_task_free(task);
    }
}

static void pump(remote_t *remote);

// Fails the commands that wait now; programs may submit others when they learn of it.
static void fail_waiting(remote_t *remote)
{
    sim_list_t waiting = remote->waiting;
    remote->waiting = (sim_list_t){NULL, NULL};
    while (waiting.first != NULL) {
        command_t *const command = SIM_CONTAINER_OF(waiting.first, command_t, link);
        sim_list_remove(&waiting, &command->link);
        command_end(command, false);
    }
}

// -- the end of a queue

static void tear_down(queue_t *queue)
{
    remote_t *const remote = queue->remote;
    sim_timer_cancel(node_of(remote), &queue->timer);
    if (queue->remote_id != 0 && !remote->engine->station->crashed) {
        const app__cm_message_t leave = {
            .attribute = APP__CM_LEAVE,
            .local_id = queue->local_id,
            .remote_id = queue->remote_id,
            .qp_num = queue->remote_qp,
        };
        app__cm_send(remote->engine->station, queue->pair.context->nic_index, queue->interface,
                     &leave);
    }
    queue->remote_id = 0;
    app__nvme_pair_bury(&queue->pair);
    queue->state = IDLE;
    for (uint32_t i = 0; i < APP__NVME_DEPTH; i++) {
        command_t *const command = queue->commands[i];
        if (command == NULL) {
            continue;
        }
        queue->commands[i] = NULL;
        command->queue = NULL;
        sim_timer_cancel(node_of(remote), &command->timer);
        sim_list_push_last(&remote->waiting, &command->link);
    }
    queue->under_way = 0;
}

// Gives a queue up. Its commands take others, unless they have done so too often.
static void queue_failed(queue_t *queue)
{
    remote_t *const remote = queue->remote;
    app_mooncake_t *const engine = remote->engine;
    const bool connected = queue->state == LIVE;
    if (queue->state == IDLE || queue->state == FAILING) {
        return;
    }
    queue->state = FAILING;
    engine->counters.endpoints_disconnected += connected;
    engine->counters.handshakes_failed += !connected;
    for (uint32_t i = 0; i < APP__NVME_DEPTH; i++) {
        command_t *const command = queue->commands[i];
        if (command != NULL && (command->tries++ >= engine->config.retry_count || engine->closed ||
                                command->task->ended)) {
            queue->commands[i] = NULL;
            command_end(command, false);
        } else if (command != NULL) {
            engine->counters.retried++;
        }
    }
    sim_progress(node_of(remote));
    tear_down(queue);
    if (connected) {
        pump(remote);
        return;
    }
    // Nobody answered: commands wait only for connections that are there or are being made.
    for (uint32_t i = 0; i < engine->context_count; i++) {
        if (remote->queues[i].state != IDLE) {
            return;
        }
    }
    fail_waiting(remote);
}

// -- connecting

static void ask(queue_t *queue)
{
    const remote_t *const remote = queue->remote;
    const app__mc_context_t *const context = queue->pair.context;
    const app__cm_message_t message = {
        .attribute = APP__CM_REQUEST,
        .local_id = queue->local_id,
        .qp_num = nic_qp_num(queue->pair.qp),
        .queue_id = (uint16_t)(context->index + 1),
    };
    app__cm_send(remote->engine->station, context->nic_index, queue->interface, &message);
    sim_timer_arm(node_of(remote), &queue->timer,
                  node_of(remote)->now_ps + remote->engine->config.handshake_timeout_ps);
}

static void queue_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    queue_t *const queue = SIM_CONTAINER_OF(timer, queue_t, timer);
    sim_progress(node_of(queue->remote));
    if (queue->state == ASKING && queue->tries_left > 0) {
        queue->tries_left--;
        ask(queue);
        return;
    }
    queue_failed(queue);
}

static void join(queue_t *queue)
{
    uint8_t capsule[APP__NVME_COMMAND_BYTES + APP__NVME_CONNECT_BYTES] = {APP__NVME_FABRICS,
                                                                          SGL_FLAG};
    uint8_t *const data = capsule + APP__NVME_COMMAND_BYTES;
    const app_mooncake_t *const engine = queue->remote->engine;
    capsule[4] = 1; // Connect
    sim_put_le(capsule + 32, APP__NVME_CONNECT_BYTES, 4);
    capsule[39] = OFFSET_BLOCK;
    sim_put_le(capsule + 42, queue->pair.context->index + 1, 2);
    sim_put_le(capsule + 44, APP__NVME_DEPTH - 1, 2);
    sim_put_le(data, app__mc_seed_of(engine->name), 8); // host identifier
    sim_put_le(data + 16, 1, 2);                        // controller
    (void)snprintf((char *)data + 256, 223, "nqn.2014-08.org.nvmexpress:%s", queue->remote->server);
    (void)snprintf((char *)data + 512, 223, "nqn.2014-08.org.nvmexpress:%s", engine->name);
    app__nvme_pair_send(&queue->pair, 0, capsule, sizeof(capsule));
}

void app__nvme_host_received(app__mc_station_t *station, const app__cm_message_t *message)
{
    queue_t *queue = NULL;
    for (app_mooncake_t *e = station->engines; e != NULL && queue == NULL; e = e->next_on_station) {
        for (app__mc_remote_link_t *r = e->remotes; r != NULL && queue == NULL; r = r->next) {
            remote_t *const remote = SIM_CONTAINER_OF(r, remote_t, link);
            for (uint32_t i = 0; i < e->context_count && queue == NULL; i++) {
                queue =
                    remote->queues[i].local_id == message->remote_id ? &remote->queues[i] : NULL;
            }
        }
    }
    if (queue == NULL || queue->state != ASKING) {
        return; // late, or a repetition
    }
    if (message->attribute != APP__CM_REPLY ||
        !app__nvme_pair_connect(&queue->pair, message->interface, message->qp_num)) {
        queue_failed(queue);
        return;
    }
    queue->remote_id = message->local_id;
    queue->remote_qp = message->qp_num;
    const app__cm_message_t ready = {
        .attribute = APP__CM_READY,
        .local_id = queue->local_id,
        .remote_id = message->local_id,
    };
    app__cm_send(station, queue->pair.context->nic_index, queue->interface, &ready);
    queue->state = JOINING;
    sim_timer_cancel(station->node, &queue->timer);
    sim_timer_arm(station->node, &queue->timer,
                  station->node->now_ps + patience_ps(queue->remote->engine));
    join(queue);
}

// -- commands

static const app__mc_local_buffer_t *buffer_of(const command_t *command)
{
    return app__mc_local_buffer(command->remote->engine, command->address, command->length);
}

static void post(queue_t *queue, command_t *command)
{
    const app__mc_task_t *const task = command->task;
    const app_mooncake_t *const engine = queue->remote->engine;
    sim_node_t *const node = node_of(queue->remote);
    const app__mc_local_buffer_t *const buffer = buffer_of(command);
    const bool reads = task->request.opcode == APP_MOONCAKE_READ;
    const uint64_t shift = command->offset % APP__NVME_BLOCK_BYTES;
    const uint64_t blocks =
        (shift + command->length + APP__NVME_BLOCK_BYTES - 1) / APP__NVME_BLOCK_BYTES;
    uint8_t capsule[APP__NVME_COMMAND_BYTES] = {reads ? APP__NVME_READ : APP__NVME_WRITE, SGL_FLAG};
    command->id = 0;
    while (queue->commands[command->id] != NULL) {
        command->id++;
    }
    sim_put_le(capsule + 2, command->id, 2);
    sim_put_le(capsule + 4, task->segment->desc->nsid, 4);
    sim_put_le(capsule + 24, command->address, 8);
    sim_put_le(capsule + 32, command->length, 3);
    sim_put_le(capsule + 35, nic_mr_rkey(buffer->regions[queue->pair.context->index]), 4);
    capsule[39] = KEYED_BLOCK;
    sim_put_le(capsule + 40, command->offset / APP__NVME_BLOCK_BYTES, 8);
    sim_put_le(capsule + 48, blocks - 1, 2);
    sim_put_le(capsule + 56, shift, 4); // bytes of the first block that are not transferred
    queue->commands[command->id] = command;
    queue->under_way++;
    command->queue = queue;
    const bool first = !command->timed && engine->config.slice_timeout_ps < patience_ps(engine);
    sim_timer_arm(node, &command->timer,
                  node->now_ps + (first ? engine->config.slice_timeout_ps : patience_ps(engine)));
    app__nvme_pair_send(&queue->pair, command->id, capsule, sizeof(capsule));
}

static void command_fired(sim_node_t *node, sim_timer_t *timer)
{
    command_t *const command = SIM_CONTAINER_OF(timer, command_t, timer);
    const app_mooncake_t *const engine = command->remote->engine;
    sim_progress(node);
    if (!command->timed && engine->config.slice_timeout_ps < patience_ps(engine)) {
        command->timed = true;
        sim_timer_arm(node, timer, node->now_ps + patience_ps(engine));
        if (!command->task->ended) {
            app__mc_task_end(command->task, APP_MOONCAKE_TIMEOUT);
        }
        return;
    }
    queue_failed(command->queue);
}

static void answered(queue_t *queue, const uint8_t *answer)
{
    remote_t *const remote = queue->remote;
    const uint32_t id = (uint32_t)sim_get_le(answer + 12, 2);
    const bool good = sim_get_le(answer + 14, 2) >> 1 == 0;
    if (queue->state == JOINING) {
        if (!good) {
            queue_failed(queue);
            return;
        }
        sim_timer_cancel(node_of(remote), &queue->timer);
        queue->state = LIVE;
        remote->engine->counters.handshakes++;
        pump(remote);
        return;
    }
    command_t *const command = id < APP__NVME_DEPTH ? queue->commands[id] : NULL;
    if (queue->state != LIVE || command == NULL) {
        return;
    }
    queue->commands[id] = NULL;
    queue->under_way--;
    queue->pair.context->bytes += good ? command->length : 0;
    sim_progress(node_of(remote));
    command_end(command, good);
    pump(remote);
}

static void completed(nic_cq_t *cq, void *ctx)
{
    queue_t *const queue = ctx;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            if (queue->pair.qp == NULL || nic_qp_num(queue->pair.qp) != wc[i].qp_num) {
                continue; // of an earlier connection
            }
            if (wc[i].status != NIC_WC_SUCCESS) {
                queue_failed(queue);
            } else if ((wc[i].wr_id & APP__NVME_RECEIVED) != 0) {
                uint8_t answer[APP__NVME_ANSWER_BYTES];
                app__nvme_pair_take(&queue->pair, wc[i].wr_id & UINT32_MAX, answer, sizeof(answer));
                answered(queue, answer);
            }
        }
    }
}

// -- giving commands to queues

static void connect(queue_t *queue)
{
    remote_t *const remote = queue->remote;
    app__mc_context_t *const context = &remote->engine->contexts[queue - remote->queues];
    const app__mc_station_t *const peer =
        &remote->engine->station->cluster->stations[remote->station];
    app__cm_open(remote->engine->station, context->nic_index);
    queue->interface = nic_interface(nic_at(peer->host, context->nic_index % peer->nic_count));
    queue->local_id = app__cm_new_id(remote->engine->station);
    queue->tries_left = remote->engine->config.call_retries;
    queue->state = ASKING;
    app__nvme_pair_make(&queue->pair, context, completed, queue);
    ask(queue);
}

// Finds a queue with room for a command, at first on the NICs of its first list. Queues that are
// not connected are, from then on. NULL: none has room yet.
static queue_t *find_queue(const command_t *command, bool *hopeless)
{
    remote_t *const remote = command->remote;
    const app__mc_local_buffer_t *const buffer = buffer_of(command);
    *hopeless = buffer == NULL;
    if (buffer == NULL) {
        return NULL;
    }
    const app__mooncake_choice_t *const choice = &buffer->choice;
    const uint32_t all = choice->preferred + choice->available;
    const uint32_t count = command->tries == 0 && choice->preferred > 0 ? choice->preferred : all;
    queue_t *found = NULL;
    remote->turn++;
    for (uint32_t i = 0; i < count; i++) {
        queue_t *const queue = &remote->queues[buffer->contexts[(remote->turn + i) % count]];
        if (queue->state == IDLE) {
            connect(queue);
        } else if (queue->state == LIVE && found == NULL && queue->under_way < APP__NVME_DEPTH) {
            found = queue;
        }
    }
    return found;
}

static void pump(remote_t *remote)
{
    while (remote->waiting.first != NULL) {
        command_t *const command = SIM_CONTAINER_OF(remote->waiting.first, command_t, link);
        bool hopeless = false;
        queue_t *const queue = find_queue(command, &hopeless);
        if (queue == NULL && !hopeless) {
            return;
        }
        sim_list_remove(&remote->waiting, &command->link);
        if (queue == NULL) {
            command_end(command, false); // its memory is no longer registered
        } else {
            post(queue, command);
        }
    }
}

static remote_t *remote_of(app_mooncake_t *engine, const app__mc_segment_t *segment)
{
    for (app__mc_remote_link_t *r = engine->remotes; r != NULL; r = r->next) {
        remote_t *const remote = SIM_CONTAINER_OF(r, remote_t, link);
        if (remote->station == segment->station &&
            strcmp(remote->server, segment->desc->server) == 0) {
            return remote;
        }
    }
    remote_t *const remote = sim_alloc(sizeof(*remote));
    *remote = (remote_t){
        .link = {engine->remotes},
        .engine = engine,
        .station = segment->station,
        .server = sim_strdup(segment->desc->server),
        .queues = sim_alloc_array(engine->context_count, sizeof(queue_t)),
    };
    for (uint32_t i = 0; i < engine->context_count; i++) {
        remote->queues[i].remote = remote;
        sim_timer_init(&remote->queues[i].timer, queue_fired);
    }
    engine->remotes = &remote->link;
    return remote;
}

void app__mc_file_submit(app_mooncake_t *engine, app__mc_task_t *task)
{
    const app_mooncake_request_t *const request = &task->request;
    const app_mooncake_segment_desc_t *const desc = task->segment->desc;
    if (request->target_offset + request->length > desc->file_length) {
        app__mc_task_end(task, APP_MOONCAKE_INVALID);
        return;
    }
    uint64_t most = engine->config.slice_bytes * SLICES_PER_COMMAND;
    most = SIM_MIN(most, COMMAND_MAX_BYTES);
    const uint64_t count = (request->length + most - 1) / most;
    SIM_CHECK(count <= UINT32_MAX);
    task->slices = (uint32_t)count;
    task->left = task->slices;
    task->status = APP_MOONCAKE_WAITING;
    engine->counters.slices += count;
    if (task->segment->station == engine->station->index) {
        app__mc_file_at_home(engine, task);
        return;
    }
    remote_t *const remote = remote_of(engine, task->segment);
    for (uint64_t at = 0; at < request->length; at += most) {
        const uint64_t rest = request->length - at;
        command_t *const command = sim_alloc(sizeof(*command));
        *command = (command_t){
            .task = task,
            .remote = remote,
            .offset = request->target_offset + at,
            .address = request->source + at,
            .length = SIM_MIN(rest, most),
        };
        sim_timer_init(&command->timer, command_fired);
        sim_list_push_last(&remote->waiting, &command->link);
    }
    pump(remote);
}

// -- closing

void app__nvme_host_close(app_mooncake_t *engine)
{
    for (app__mc_remote_link_t *r = engine->remotes; r != NULL; r = r->next) {
        remote_t *const remote = SIM_CONTAINER_OF(r, remote_t, link);
        for (uint32_t i = 0; i < engine->context_count; i++) {
            if (remote->queues[i].state != IDLE) {
                tear_down(&remote->queues[i]);
            }
        }
        fail_waiting(remote);
    }
}

void app__nvme_host_fini(app_mooncake_t *engine)
{
    while (engine->remotes != NULL) {
        remote_t *const remote = SIM_CONTAINER_OF(engine->remotes, remote_t, link);
        engine->remotes = remote->link.next;
        for (uint32_t i = 0; i < engine->context_count; i++) {
            sim_free_each(remote->queues[i].commands, APP__NVME_DEPTH);
        }
        while (remote->waiting.first != NULL) {
            command_t *const command = SIM_CONTAINER_OF(remote->waiting.first, command_t, link);
            sim_list_remove(&remote->waiting, &command->link);
            sim_free(command);
        }
        SIM_FREE_ALL(remote->queues, remote->server, remote);
    }
}
