// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/goal_binary.c - reads and writes GOAL schedules in LogGOPSim's binary
// format.
//
// Little-endian and packed: a magic number of 8 bytes, then ranks, largest cpu and nic, and the
// begin and end of each rank, as offsets from byte 8. A rank has its number of nodes and roots,
// the roots, the nodes of 39 bytes and the indices that nodes refer to. docs/models/workload.md
#include "apps/workload/formats/format.h"
#include "apps/workload/formats/goal.h"

#include "kernel/bytes.h"

#include <string.h>

#define MAGIC UINT64_C(4223)
#define SPOILT UINT64_C(2342) // a simulator has read the file and changed it
#define BASE 8u
#define HEAD_BYTES 14u // up to the first rank's offsets
#define NODE_BYTES 39u

// -- reading

typedef struct input {
    const char *name;
    const uint8_t *bytes;
    size_t size;
    sim_message_t *message;
} input_t;

// Fails at a byte of the file.
static sim_err_t fail(const input_t *in, const uint8_t *at, const char *problem)
{
    return sim_fail(in->message, SIM_ERR_INVALID, "%s: byte %zu: %s", in->name,
                    (size_t)(at - in->bytes), problem);
}

// A node's lists of operations that wait for it.
typedef struct lists {
    uint32_t required_count;
    uint32_t required_first;
    uint32_t irequired_count;
    uint32_t irequired_first;
} lists_t;

static app__op_t node_at(const uint8_t *at, lists_t *lists)
{
    *lists = (lists_t){sim_get_le32(at + 23), sim_get_le32(at + 27), sim_get_le32(at + 31),
                       sim_get_le32(at + 35)};
    return (app__op_t){
        .needs = 0, // counted by app__schedule_order
        .type = at[4],
        .peer = sim_get_le32(at + 5),
        .size = sim_get_le64(at + 9),
        .tag = sim_get_le32(at + 17),
        .cpu = at[21],
        .nic = at[22],
    };
}

static sim_err_t check_node(const input_t *in, app__schedule_t *schedule, const uint8_t *at,
                            const app__op_t *op, uint32_t rank)
{
    const uint32_t ranks = schedule->rank_count;
    if (op->type != APP__OP_SEND && op->type != APP__OP_RECV && op->type != APP__OP_CALC) {
        return fail(in, at, "a node has an unknown type, expected 1 (send), 2 (recv) or 3 (calc)");
    }
    if (op->type == APP__OP_SEND && op->peer == APP__ANY) {
        return fail(in, at, "a node sends to any rank, expected one rank");
    }
    if (op->type != APP__OP_CALC && op->peer >= ranks && op->peer != APP__ANY &&
        schedule->absent_rank == NULL) {
        schedule->absent_rank = sim_format("%s: rank %u names the rank %u, expected one below %u",
                                           in->name, rank, op->peer, ranks);
    }
    if (op->size > (op->type == APP__OP_CALC ? UINT64_C(1) << 53 : UINT64_C(1) << 40)) {
        return fail(in, at,
                    "a node is too large, expected messages up to 2^40 bytes and computations up "
                    "to 2^53 ns");
    }
    return SIM_OK;
}

// Adds the dependencies of one list of a node.
static bool add_list(const uint8_t *indices, size_t index_count, uint32_t first, uint32_t count,
                     const app__dependency_t *pattern, uint32_t nodes, app__dependency_t *list,
                     size_t *filled)
{
    if (first > index_count || count > index_count - first) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t after = sim_get_le32(indices + 4 * ((size_t)first + i));
        if (after >= nodes) {
            return false;
        }
        list[*filled] = *pattern;
        list[(*filled)++].after = after;
    }
    return true;
}

// Reads the lists of all nodes of a rank.
static sim_err_t read_lists(const input_t *in, app__schedule_t *schedule, uint32_t rank,
                            const uint8_t *nodes_at, const uint8_t *end)
{
    const uint32_t nodes = schedule->ranks[rank].count;
    const uint8_t *const indices = nodes_at + (size_t)nodes * NODE_BYTES;
    const size_t index_count = (size_t)(end - indices) / 4;
    app__dependency_t *const list = sim_alloc_array(index_count + 1, sizeof(*list));
    size_t filled = 0;
    bool good = true;
    const uint8_t *at = nodes_at;
    for (uint32_t i = 0; i < nodes && good; i++) {
        lists_t lists;
        at = nodes_at + (size_t)i * NODE_BYTES;
        (void)node_at(at, &lists);
        const app__dependency_t required = {0, i, false};
        const app__dependency_t irequired = {0, i, true};
        good = (uint64_t)lists.required_count + lists.irequired_count <= index_count - filled &&
               add_list(indices, index_count, lists.required_first, lists.required_count, &required,
                        nodes, list, &filled) &&
               add_list(indices, index_count, lists.irequired_first, lists.irequired_count,
                        &irequired, nodes, list, &filled);
    }
    if (good) {
        app__schedule_order(schedule, rank, list, filled);
    }
    sim_free(list);
    return good ? SIM_OK : fail(in, at, "a node refers to nodes that the rank does not have");
}

static sim_err_t read_rank(const input_t *in, app__schedule_t *schedule, uint32_t rank)
{
    const uint8_t *const place = in->bytes + HEAD_BYTES + (size_t)rank * 16;
    const uint64_t begin = sim_get_le64(place);
    const uint64_t end = sim_get_le64(place + 8);
    if (begin > in->size - BASE || end > in->size - BASE || end < begin || end - begin < 8) {
        return fail(in, place, "a rank lies outside of the file, which may be truncated");
    }
    const uint8_t *at = in->bytes + BASE + begin;
    const uint8_t *const stop = in->bytes + BASE + end;
    const uint32_t nodes = sim_get_le32(at);
    const uint32_t roots = sim_get_le32(at + 4);
    at += 8;
    if (nodes > APP__OPS_MAX || roots > nodes || (uint64_t)(stop - at) < 4 * (uint64_t)roots ||
        (uint64_t)(stop - at) - 4 * (uint64_t)roots < (uint64_t)nodes * NODE_BYTES) {
        return fail(in, at, "a rank is shorter than its number of nodes");
    }
    at += 4 * (size_t)roots;
    for (uint32_t i = 0; i < nodes; i++) {
        lists_t lists;
        const uint8_t *const node = at + (size_t)i * NODE_BYTES;
        const app__op_t op = node_at(node, &lists);
        const sim_err_t error = check_node(in, schedule, node, &op, rank);
        if (error != SIM_OK) {
            return error;
        }
        (void)app__schedule_add(schedule, rank, &op);
    }
    return read_lists(in, schedule, rank, at, stop);
}

static bool recognises(const app__workload_file_t *file)
{
    if (file->size_bytes < BASE) {
        return false;
    }
    const uint64_t magic = sim_get_le64((const uint8_t *)file->text);
    return magic == MAGIC || magic == SPOILT;
}

static sim_err_t read_binary(const app__workload_file_t *file, app__schedule_t **schedule,
                             sim_message_t *message)
{
    const size_t size_bytes = file->size_bytes;
    const input_t in = {file->name, (const uint8_t *)file->text, size_bytes, message};
    if (size_bytes < HEAD_BYTES || sim_get_le64(in.bytes) != MAGIC) {
        return fail(&in, in.bytes,
                    size_bytes >= BASE && sim_get_le64(in.bytes) == SPOILT
                        ? "a simulator has overwritten parts of the schedule while it read it; "
                          "build the file again from its GOAL text"
                        : "this is no GOAL schedule");
    }
    const uint32_t ranks = sim_get_le32(in.bytes + BASE);
    if (ranks == 0 || ranks > APP__RANKS_MAX || size_bytes - HEAD_BYTES < (uint64_t)ranks * 16) {
        return fail(&in, in.bytes + BASE,
                    "the number of ranks does not fit the file, which may be truncated");
    }
    app__schedule_t *const read = app__schedule_create(ranks);
    sim_err_t error = SIM_OK;
    for (uint32_t rank = 0; rank < ranks && error == SIM_OK; rank++) {
        error = read_rank(&in, read, rank);
    }
    if (error != SIM_OK) {
        app__schedule_destroy(read);
        return error;
    }
    app__schedule_finish(read);
    *schedule = read;
    return SIM_OK;
}

const app__format_t app__format_goal_binary = {
    .name = "goal-binary",
    .what = "GOAL, binary",
    .recognises = recognises,
    .read = read_binary,
};

// -- writing

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    sim_put_le32(at, value);
    return at + 4;
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
    sim_put_le64(at, value);
    return at + 8;
}

static uint32_t roots_of(const app__rank_ops_t *ops)
{
    uint32_t roots = 0;
    for (uint32_t i = 0; i < ops->count; i++) {
        roots += ops->ops[i].needs == 0;
    }
    return roots;
}

static size_t rank_bytes(const app__rank_ops_t *ops)
{
    return 8 + 4 * (size_t)roots_of(ops) + (size_t)ops->count * NODE_BYTES +
           4 * (size_t)ops->next_count;
}

static uint8_t *put_rank(uint8_t *at, const app__rank_ops_t *ops)
{
    at = put32(put32(at, ops->count), roots_of(ops));
    for (uint32_t i = 0; i < ops->count; i++) {
        at = ops->ops[i].needs == 0 ? put32(at, i) : at;
    }
    for (uint32_t i = 0; i < ops->count; i++) {
        const app__op_t *const op = &ops->ops[i];
        at = put32(at, op->needs);
        *at++ = op->type;
        at = put64(put32(at, app__peer_of(ops, op)), op->size);
        at = put32(at, op->tag);
        *at++ = op->cpu;
        *at++ = op->nic;
        at = put32(put32(at, op->required_count), op->required_first);
        at = put32(put32(at, op->irequired_count), op->irequired_first);
    }
    for (uint32_t i = 0; i < ops->next_count; i++) {
        at = put32(at, ops->next[i]);
    }
    return at;
}

void app__goal_write_binary(const app__schedule_t *schedule, char **bytes, size_t *size_bytes)
{
    size_t total = HEAD_BYTES + (size_t)schedule->rank_count * 16;
    for (uint32_t i = 0; i < schedule->rank_count; i++) {
        total += rank_bytes(&schedule->ranks[i]);
    }
    uint8_t *const made = sim_alloc(total);
    uint8_t *at = put32(put64(made, MAGIC), schedule->rank_count);
    *at++ = schedule->counts.cpu_max;
    *at++ = schedule->counts.nic_max;
    uint64_t offset = HEAD_BYTES - BASE + (uint64_t)schedule->rank_count * 16;
    for (uint32_t i = 0; i < schedule->rank_count; i++) {
        const uint64_t end = offset + rank_bytes(&schedule->ranks[i]);
        at = put64(put64(at, offset), end);
        offset = end;
    }
    for (uint32_t i = 0; i < schedule->rank_count; i++) {
        at = put_rank(at, &schedule->ranks[i]);
    }
    SIM_CHECK((size_t)(at - made) == total);
    *bytes = (char *)made;
    *size_bytes = total;
}
