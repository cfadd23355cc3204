// SPDX-License-Identifier: Apache-2.0
// apps/serving/transfers/queue_pairs.c - RDMA WRITEs and READs between the NICs of nodes, for
// `transport: write` (docs/models/serving.md).
//
// Each pair of NICs has one reliable queue pair, whose numbers both know. A NIC makes its end when
// it has something to send, or when the first packet of the peer arrives. A queue pair that fails
// is not set up again: what is posted to it fails. If a node comes back after a loss of power, all
// its pairs begin anew with further queue pairs, whose numbers are those of the next generation.
#include "apps/serving/transfers/queue_pairs.h"

#include "apps/serving/failures.h"

#define POSTED_MAX 128u
#define PIECE_BYTES (UINT64_C(1) << 30) // a message has less than 2 GiB
#define POLL_MAX 16u
#define GENERATIONS 16u // of queue pairs, where nodes come back
#define RECEIVES 1024u  // of a NIC, for immediate values

typedef struct door door_t;
typedef struct line line_t;

// Work requests that a caller waits for together.
typedef struct call {
    sim_link_t link; // among those that end together
    app__serving_flow_fn fn;
    void *ctx;
    uint32_t left; // pieces
    bool failed;
} call_t;

typedef struct piece {
    sim_link_t link;    // among the pieces of its line that have not ended
    struct piece *next; // that waits behind it
    line_t *line;
    call_t *call;
    uint64_t address;
    uint64_t peer_address;
    uint64_t bytes;
    bool reads;
    bool notices; // with an immediate value
    uint32_t notice;
    uint32_t lkey;
    uint32_t rkey;
} piece_t;

struct line {
    nic_qp_t *qp;
    piece_t *waiting;
    piece_t *waiting_last;
    uint32_t posted;
    uint32_t generation;
    sim_list_t pieces;
    sim_list_t orphans; // pieces of earlier queue pairs
};

// A NIC of a node.
struct door {
    app__serving_wire_t *wire;
    const app__serving_node_t *node;
    app__endpoint_t *endpoint;
    nic_cq_t *cq;
    nic_cq_t *noticed;   // of receives; NULL: the node has one host
    nic_srq_t *receives; // take immediate values
    uint64_t position;   // of its QP number for NIC 0
    uint32_t index;      // among the NICs of all nodes
    nic_mr_t *host;      // memory of the host
    line_t *lines;       // by NIC of all nodes
};

struct app__serving_wire {
    door_t *doors;
    uint32_t count;
    nic_mr_t **regions;   // by node and GPU
    uint32_t generations; // 1: no node comes back
};

static uint32_t number_of(const door_t *door, uint32_t peer, uint32_t generation)
{
    return app__qp_number(door->position + (uint64_t)peer * door->wire->generations + generation);
}

static line_t *line_to(door_t *door, uint32_t peer)
{
    line_t *const line = &door->lines[peer];
    if (line->qp != NULL) {
        return line;
    }
    const door_t *const other = &door->wire->doors[peer];
    const bool inside = app__serving_same_instance(door->node, other->node);
    const nic_qp_init_attr_t init = {
        .qp_type = NIC_QPT_RC,
        .send_cq = door->cq,
        .recv_cq = inside ? door->noticed : door->cq,
        .srq = inside ? door->receives : NULL,
        .max_send_wr = POSTED_MAX,
        .sq_sig_all = true,
        .qp_num = number_of(door, peer, line->generation),
    };
    sim_err_t error = nic_qp_create(door->endpoint->pd, &init, &line->qp);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", init.qp_num, sim_err_text(error));
    nic_qp_attr_t attr;
    nic_qp_attr_default(door->endpoint->nic, &attr);
    if (!inside && door->node->serving->config.priority != SIM_AUTO) {
        attr.priority = (uint8_t)door->node->serving->config.priority;
        attr.dscp = (uint8_t)(attr.priority * 8u);
    }
    attr.dest_interface = other->endpoint->interface;
    attr.dest_qp_num = number_of(other, door->index, line->generation);
    sim_message_t message = {.text = ""};
    error = nic_qp_connect(line->qp, &attr, &message);
    SIM_CHECKF(error == SIM_OK, "QP %u: %s", init.qp_num, message.text);
    return line;
}

static void piece_end(piece_t *piece, bool good)
{
    call_t *const call = piece->call;
    if (call == NULL) { // its queue pair is that of an earlier generation
        sim_list_remove(&piece->line->orphans, &piece->link);
        sim_free(piece);
        return;
    }
    sim_list_remove(&piece->line->pieces, &piece->link);
    sim_free(piece);
    call->failed = call->failed || !good;
    if (--call->left > 0) {
        return;
    }
    const call_t ended = *call;
    sim_free(call);
    ended.fn(ended.ctx, !ended.failed);
}

static void pump(line_t *line)
{
    while (line->waiting != NULL && line->posted < POSTED_MAX) {
        piece_t *const piece = line->waiting;
        line->waiting = piece->next;
        line->waiting_last = line->waiting == NULL ? NULL : line->waiting_last;
        const nic_send_wr_t wr = {
            .wr_id = (uint64_t)(uintptr_t)piece,
            .opcode = piece->reads     ? NIC_WR_RDMA_READ
                      : piece->notices ? NIC_WR_RDMA_WRITE_WITH_IMM
                                       : NIC_WR_RDMA_WRITE,
            .imm_data = piece->notice,
            .send_flags = NIC_SEND_SIGNALED,
            .sge = {piece->address, piece->bytes, piece->lkey},
            .rdma = {piece->peer_address, piece->rkey},
        };
        const sim_err_t error = nic_post_send(line->qp, &wr);
        SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
        line->posted++;
    }
}

static void sent(nic_cq_t *cq, void *ctx)
{
    (void)ctx;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            piece_t *const piece = (piece_t *)(uintptr_t)wc[i].wr_id;
            line_t *const line = piece->line;
            if (piece->call != NULL) {
                line->posted--;
                pump(line);
            }
            piece_end(piece, wc[i].status == NIC_WC_SUCCESS);
        }
    }
}

// -- immediate values

static void post_receive(const door_t *door)
{
    const nic_recv_wr_t wr = {.wr_id = 0};
    const sim_err_t error = nic_post_srq_recv(door->receives, &wr, 1, NULL);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
}

static void noticed(nic_cq_t *cq, void *ctx)
{
    const door_t *const door = ctx;
    app__serving_node_t *const node = &door->node->serving->nodes[door->node->index];
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            post_receive(door);
            if (wc[i].status == NIC_WC_SUCCESS && (wc[i].wc_flags & NIC_WC_WITH_IMM) != 0) {
                app__serving_noticed(node, wc[i].imm_data);
            }
        }
    }
}

// -- posting

static nic_mr_t *region_of(const app__serving_wire_t *wire, const app__serving_end_t *end)
{
    return end->place == APP__SERVING_HOST
               ? wire->doors[end->node->first_nic + end->nic].host
               : wire->regions[end->node->index * APP__SERVING_GPUS_MAX + end->place];
}

void app__serving_wire_post(const app__serving_end_t *from, const app__serving_end_t *to,
                            const app__serving_transfer_t *transfer, app__serving_flow_fn fn,
                            void *ctx)
{
    const app__serving_wire_t *const wire = from->node->serving->wire;
    line_t *const line =
        line_to(&wire->doors[from->node->first_nic + from->nic], to->node->first_nic + to->nic);
    const uint64_t bytes = transfer->bytes;
    call_t *const call = sim_alloc(sizeof(*call));
    *call = (call_t){.fn = fn, .ctx = ctx};
    call->left = (uint32_t)((bytes + PIECE_BYTES - 1) / PIECE_BYTES);
    for (uint64_t at = 0; at < bytes; at += PIECE_BYTES) {
        piece_t *const piece = sim_alloc(sizeof(*piece));
        *piece = (piece_t){
            .line = line,
            .call = call,
            .address = app__serving_address(from->node, from->place) + transfer->offset + at,
            .peer_address = app__serving_address(to->node, to->place) + transfer->offset + at,
            .bytes = SIM_MIN(bytes - at, PIECE_BYTES),
            .reads = transfer->reads,
            .notices = transfer->notice > 0 && at + PIECE_BYTES >= bytes,
            .notice = transfer->notice > 0 ? (transfer->notice - 1) << 8 | to->place : 0,
            .lkey = nic_mr_lkey(region_of(wire, from)),
            .rkey = nic_mr_rkey(region_of(wire, to)),
        };
        sim_list_push_last(&line->pieces, &piece->link);
        if (line->waiting_last != NULL) {
            line->waiting_last->next = piece;
        } else {
            line->waiting = piece;
        }
        line->waiting_last = piece;
    }
    pump(line);
}

// -- further generations

// Takes the pieces off a line that has no queue pair any more. Completions may still come for them.
static sim_list_t orphan(line_t *line)
{
    sim_list_t calls = {NULL, NULL};
    while (line->pieces.first != NULL) {
        piece_t *const piece = SIM_CONTAINER_OF(line->pieces.first, piece_t, link);
        call_t *const call = piece->call;
        sim_list_remove(&line->pieces, &piece->link);
        sim_list_push_last(&line->orphans, &piece->link);
        piece->call = NULL;
        if (--call->left == 0) {
            sim_list_push_last(&calls, &call->link);
        }
    }
    line->waiting = NULL;
    line->waiting_last = NULL;
    line->posted = 0;
    return calls;
}

// Sets a line to a later generation. What was posted fails, or is forgotten by a node without
// power.
static void renew(const door_t *door, uint32_t peer, uint32_t generation)
{
    line_t *const line = &door->lines[peer];
    if (generation <= line->generation || generation >= door->wire->generations) {
        return;
    }
    if (line->qp != NULL) {
        app__mc_bury(door->node->station, line->qp);
        line->qp = NULL;
    }
    line->generation = generation;
    sim_list_t calls = orphan(line);
    while (calls.first != NULL) {
        call_t *const call = SIM_CONTAINER_OF(calls.first, call_t, link);
        const call_t ended = *call;
        sim_list_remove(&calls, &call->link);
        sim_free(call);
        if (!door->node->lost) {
            ended.fn(ended.ctx, false);
        }
    }
}

void app__serving_wire_renew(const app__serving_node_t *node, uint32_t peer)
{
    const app__serving_wire_t *const wire = node->serving->wire;
    const app__serving_node_t *const other = &node->serving->nodes[peer];
    for (uint32_t i = 0; wire != NULL && i < node->nics; i++) {
        for (uint32_t j = 0; j < other->nics; j++) {
            renew(&wire->doors[node->first_nic + i], other->first_nic + j,
                  node->restarts[node->index] + node->restarts[peer]);
        }
    }
}

// -- queue pairs that a peer's packet creates

static sim_time_t from_ps(const void *owner, uint32_t interface, uint64_t offset)
{
    (void)interface;
    const door_t *const door = owner;
    const line_t *const line = &door->lines[offset / door->wire->generations];
    const uint32_t generation = (uint32_t)(offset % door->wire->generations);
    return door->node->lost || generation < line->generation ? SIM_TIME_NEVER : 0;
}

static void accept(void *owner, app__endpoint_t *endpoint, uint64_t offset, app__passive_t *passive)
{
    (void)endpoint;
    door_t *const door = owner;
    const uint32_t peer = (uint32_t)(offset / door->wire->generations);
    renew(door, peer, (uint32_t)(offset % door->wire->generations));
    passive->qp = line_to(door, peer)->qp;
}

// Returns false: the queue pair may still send.
static bool finished(void *owner, const app__passive_t *passive)
{
    (void)owner;
    (void)passive;
    return false;
}

static const app__range_ops_t range_ops = {
    .passive_from_ps = from_ps,
    .accept = accept,
    .finished = finished,
};

// -- creation

static nic_mr_t *expose(const door_t *door, uint64_t address, uint64_t bytes)
{
    nic_mr_t *region = NULL;
    const sim_err_t error = nic_mr_register(
        door->endpoint->pd, address, bytes,
        NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ, &region);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
    return region;
}

static void open_door(app__serving_t *serving, const app_context_t *context,
                      const app__serving_node_t *node, uint32_t nic)
{
    app__serving_wire_t *const wire = serving->wire;
    const uint32_t index = node->first_nic + nic;
    door_t *const door = &wire->doors[index];
    const uint32_t interface = nic_interface(nic_at(node->station->host, nic));
    *door = (door_t){
        .wire = wire,
        .node = node,
        .endpoint = app__endpoint_of(context->runtime, interface),
        .index = index,
        .lines = sim_alloc_array(wire->count, sizeof(line_t)),
    };
    door->cq = nic_cq_create(door->endpoint->nic, 1u << 20, sent, door);
    door->position = app__reserve_qps(door->endpoint, &range_ops, door,
                                      (uint64_t)wire->count * wire->generations);
    if (node->place.host_count > 1) {
        door->noticed = nic_cq_create(door->endpoint->nic, 1u << 20, noticed, door);
        door->receives = nic_srq_create(door->endpoint->pd, RECEIVES);
        for (uint32_t i = 0; i < RECEIVES; i++) {
            post_receive(door);
        }
    }
    for (uint32_t gpu = 0; gpu < node->place.gpus; gpu++) {
        if (app__serving_nic_of_gpu(node, gpu) == nic) {
            wire->regions[node->index * APP__SERVING_GPUS_MAX + gpu] =
                expose(door, app__serving_address(node, gpu), serving->stage_bytes);
        }
    }
    if (serving->storage_count > 0) {
        door->host = expose(door, app__serving_address(node, APP__SERVING_HOST),
                            serving->stage_bytes * serving->host_scale);
    }
}

void app__serving_wire_crash(const app__serving_node_t *node)
{
    const app__serving_wire_t *const wire = node->serving->wire;
    for (uint32_t i = 0; wire != NULL && i < node->nics; i++) {
        const door_t *const door = &wire->doors[node->first_nic + i];
        for (uint32_t peer = 0; peer < wire->count; peer++) {
            if (door->lines[peer].qp != NULL) {
                app__mc_bury(node->station, door->lines[peer].qp);
                door->lines[peer].qp = NULL;
            }
        }
    }
}

void app__serving_wire_create(app__serving_t *serving, const app_context_t *context)
{
    app__serving_wire_t *const wire = sim_alloc(sizeof(*wire));
    serving->wire = wire;
    const uint32_t nodes = serving->all_count;
    wire->count = serving->nic_count;
    wire->generations = app__serving_comes_back(serving) ? GENERATIONS : 1;
    wire->doors = sim_alloc_array(wire->count, sizeof(*wire->doors));
    wire->regions = sim_alloc_array((size_t)nodes * APP__SERVING_GPUS_MAX, sizeof(nic_mr_t *));
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint32_t i = 0; i < serving->nodes[n].nics; i++) {
            open_door(serving, context, &serving->nodes[n], i);
        }
    }
}

// Frees what the end of the run has cut short.
static void free_pieces(line_t *line)
{
    sim_link_t *link = line->pieces.first;
    while (link != NULL) {
        piece_t *const piece = SIM_CONTAINER_OF(link, piece_t, link);
        link = link->next;
        if (--piece->call->left == 0) {
            sim_free(piece->call);
        }
        sim_free(piece);
    }
    link = line->orphans.first;
    while (link != NULL) {
        piece_t *const piece = SIM_CONTAINER_OF(link, piece_t, link);
        link = link->next;
        sim_free(piece);
    }
}

void app__serving_wire_destroy(app__serving_wire_t *wire)
{
    if (wire == NULL) {
        return;
    }
    for (uint32_t d = 0; d < wire->count; d++) {
        for (uint32_t i = 0; i < wire->count; i++) {
            free_pieces(&wire->doors[d].lines[i]);
        }
        sim_free(wire->doors[d].lines);
    }
    sim_free(wire->doors);
    sim_free(wire->regions);
    sim_free(wire);
}
