// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/chakra_schedule.c - makes a schedule of the Chakra traces of all ranks.
//
// The file NAME.RANK.et, or NAME.RANK.json, is one rank's; the others' stand beside it. The Nth
// collective of a rank in a group belongs to the same call as the Nth one of every other rank of
// the group.
#include "apps/workload/formats/chakra.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_US UINT64_C(1000)
#define CPU_OF_HOST 1u // nodes with is_cpu_op run beside those of the GPU
#define PEER_MAX UINT64_C(100000)
#define GROUPS_MAX 4096u
#define NAME_BYTES_MAX 100u // of a node, in messages

// A group of ranks, and how far each of them has come.
typedef struct group {
    app__chakra_text_t name; // NULL: all ranks
    uint32_t *ranks;
    uint32_t count;
    size_t capacity;
    uint32_t *seen;  // per rank of the job: collectives so far
    uint32_t last;   // node of the present rank's last one
    uint32_t *calls; // by number: index in the schedule
    size_t call_count;
    size_t call_capacity;
    uint32_t index; // in the schedule
} group_t;

typedef struct job {
    const app__workload_file_t *file;
    app__chakra_trace_t *traces; // by rank
    size_t trace_count;
    size_t trace_capacity;
    uint64_t own; // the rank of the named file
    uint32_t ranks;
    char *absent; // why the job cannot run: a rank without a trace; NULL: it can
    group_t *groups;
    size_t group_count;
    size_t group_capacity;
    app__schedule_t *schedule;
    sim_message_t *message;
} job_t;

// -- the files

// Splits NAME.RANK.et or NAME.RANK.json; returns false if the name has another form.
static bool split_name(const char *name, size_t *prefix, uint64_t *rank, const char **suffix)
{
    *suffix = strrchr(name, '.');
    if (*suffix == NULL || (strcmp(*suffix, ".et") != 0 && strcmp(*suffix, ".json") != 0)) {
        return false;
    }
    const size_t end = (size_t)(*suffix - name);
    size_t at = end;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') {
        at--;
    }
    if (at == end || at == 0 || name[at - 1] != '.' || end - at > 7) {
        return false;
    }
    *prefix = at;
    *rank = strtoull(name + at, NULL, 10);
    return true;
}

static app__chakra_trace_t *add_trace(job_t *job)
{
    SIM_GROW(job->traces, job->trace_count, &job->trace_capacity);
    job->traces[job->trace_count] = (app__chakra_trace_t){.file = NULL};
    return &job->traces[job->trace_count++];
}

// Notes that a rank has no trace.
static void note_absent(job_t *job, uint64_t rank)
{
    if (job->absent == NULL) {
        job->absent = sim_format("%s: the trace of rank %" PRIu64 " is not beside it, expected "
                                 "NAME.RANK.et for each rank",
                                 job->file->name, rank);
    }
}

// Reads the traces of all ranks: those before and behind the named file, as long as there are any.
static sim_err_t read_traces(job_t *job)
{
    const app__workload_file_t *const file = job->file;
    size_t prefix = 0;
    const char *suffix = NULL;
    const bool several = split_name(file->name, &prefix, &job->own, &suffix);
    sim_err_t error = SIM_OK;
    for (uint64_t rank = 0; error == SIM_OK && rank < APP__RANKS_MAX; rank++) {
        sim_message_t ignored = {.text = ""};
        char *bytes = NULL;
        size_t size = file->size_bytes;
        const bool other = several && rank != job->own;
        char *const name =
            other ? sim_format("%.*s%" PRIu64 "%s", (int)prefix, file->name, rank, suffix) : NULL;
        if (other && (file->read_file == NULL ||
                      file->read_file(name, &bytes, &size, &ignored, file->ctx) != SIM_OK)) {
            sim_free(name);
            if (rank > job->own) {
                return SIM_OK;
            }
            note_absent(job, rank);
            add_trace(job)->file = file->name;
            continue;
        }
        app__chakra_trace_t *const trace = add_trace(job);
        error = app__chakra_read(other ? name : file->name, other ? bytes : file->text, size, trace,
                                 job->message);
        trace->name = name;
        trace->bytes = bytes;
        if (!several) {
            break;
        }
    }
    return error;
}

// -- groups of collectives

static sim_err_t fail_node(const job_t *job, uint32_t rank, const app__chakra_node_t *node,
                           const char *problem)
{
    char name[NAME_BYTES_MAX + 1] = "";
    for (uint32_t i = 0; node->name.text != NULL && i < node->name.length && i < NAME_BYTES_MAX;
         i++) {
        const unsigned char c = (unsigned char)node->name.text[i];
        name[i] = c < ' ' || c == 127 ? '?' : (char)c; // a broken file may have line ends there
        name[i + 1] = '\0';
    }
    return sim_fail(job->message, SIM_ERR_INVALID, "%s: node %" PRIu64 " (%s): %s",
                    job->traces[rank].file, node->id, name, problem);
}

static bool same_text(const app__chakra_text_t *one, const app__chakra_text_t *two)
{
    return (one->text == NULL) == (two->text == NULL) && one->length == two->length &&
           (one->text == NULL || memcmp(one->text, two->text, one->length) == 0);
}

static group_t *group_of(job_t *job, const app__chakra_text_t *name)
{
    for (size_t i = 0; i < job->group_count; i++) {
        if (same_text(&job->groups[i].name, name)) {
            return &job->groups[i];
        }
    }
    SIM_GROW(job->groups, job->group_count, &job->group_capacity);
    group_t *const group = &job->groups[job->group_count++];
    *group = (group_t){.name = *name};
    group->seen = sim_alloc_array(job->ranks, sizeof(*group->seen));
    return group;
}

static void add_member(group_t *group, uint32_t rank)
{
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->ranks[i] == rank) {
            return;
        }
    }
    size_t capacity = group->capacity;
    SIM_GROW(group->ranks, group->count, &capacity);
    group->capacity = capacity;
    group->ranks[group->count++] = rank;
}

// Returns whether a node is a collective that moves data; others only launch one.
static bool is_collective(const app__chakra_node_t *node)
{
    return node->type == APP__CHAKRA_COLL && app__chakra_has(node, APP__CHAKRA_COMM_TYPE) &&
           (app__chakra_has(node, APP__CHAKRA_COMM_SIZE) ||
            node->values[APP__CHAKRA_COMM_TYPE] == 9);
}

// Skips blanks in the JSON of groups.
static const char *skip(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r' || *at == ',')) {
        at++;
    }
    return at;
}

// Reads {"name": [rank, rank], ...}. Returns false if it is something else.
static bool read_groups(job_t *job, const char *at, const char *end)
{
    at = skip(at, end);
    if (at == end || *at++ != '{') {
        return false;
    }
    for (at = skip(at, end); at < end && *at == '"' && job->group_count < GROUPS_MAX;
         at = skip(at, end)) {
        const char *const name = ++at;
        while (at < end && *at != '"') {
            at++;
        }
        const app__chakra_text_t text = {name, (uint32_t)(at - name)};
        group_t *const group = group_of(job, &text);
        at = skip(at < end ? at + 1 : at, end);
        at = skip(at < end && *at == ':' ? at + 1 : end, end);
        if (at >= end || *at++ != '[') {
            return false;
        }
        for (at = skip(at, end); at < end && *at != ']'; at = skip(at, end)) {
            uint64_t rank = 0;
            const char *const first = at;
            for (; at < end && *at >= '0' && *at <= '9' && rank < job->ranks; at++) {
                rank = rank * 10 + (uint64_t)(*at - '0');
            }
            if (at == first || rank >= job->ranks) {
                return false;
            }
            add_member(group, (uint32_t)rank);
        }
        at += at < end;
    }
    return at < end && *at == '}';
}

// Finds the groups: those of NAME.json beside the traces; else a group holds the ranks that use it,
// and the group without a name all ranks.
static sim_err_t find_groups(job_t *job, char **json)
{
    size_t prefix = 0;
    size_t size = 0;
    uint64_t rank = 0;
    const char *suffix = NULL;
    sim_message_t ignored = {.text = ""};
    if (split_name(job->file->name, &prefix, &rank, &suffix) && job->file->read_file != NULL) {
        char *const name = sim_format("%.*s.json", (int)(prefix - 1), job->file->name);
        const bool there =
            job->file->read_file(name, json, &size, &ignored, job->file->ctx) == SIM_OK;
        const bool good = !there || read_groups(job, *json, *json + size);
        if (!good) {
            (void)sim_fail(job->message, SIM_ERR_INVALID,
                           "%s: this is no list of groups, expected {\"NAME\": [RANK, ...], ...} "
                           "with ranks below %u",
                           name, job->ranks);
        }
        sim_free(name);
        if (!good) {
            return SIM_ERR_INVALID;
        }
    }
    const size_t listed = job->group_count;
    for (uint32_t r = 0; r < job->trace_count; r++) {
        for (size_t n = 0; n < job->traces[r].node_count; n++) {
            const app__chakra_node_t *const node = &job->traces[r].nodes[n];
            if (is_collective(node) && job->group_count > GROUPS_MAX) {
                return fail_node(job, r, node, "there are too many groups, expected 4096");
            }
            if (is_collective(node)) {
                group_t *const group = group_of(job, &node->group);
                if (group >= job->groups + listed && node->group.text != NULL) {
                    add_member(group, r);
                }
            }
        }
    }
    for (size_t i = 0; i < job->group_count; i++) {
        group_t *const group = &job->groups[i];
        if (group->name.text == NULL) {
            group->ranks = sim_alloc_array(job->ranks, sizeof(*group->ranks));
            for (group->count = 0; group->count < job->ranks; group->count++) {
                group->ranks[group->count] = group->count;
            }
        }
        if (group->count > 0) {
            group->index = app__schedule_group(job->schedule, group->ranks, group->count);
        }
    }
    return SIM_OK;
}

// -- nodes

// Returns the kind of a collective; APP__COLL_COUNT: there is no model of it.
static app__coll_kind_t kind_of(uint64_t comm_type)
{
    static const app__coll_kind_t kinds[] = {
        APP__COLL_ALL_REDUCE, APP__COLL_REDUCE,         APP__COLL_ALL_GATHER,
        APP__COLL_COUNT,      APP__COLL_COUNT,          APP__COLL_BROADCAST,
        APP__COLL_ALL_TO_ALL, APP__COLL_REDUCE_SCATTER, APP__COLL_REDUCE_SCATTER,
        APP__COLL_BARRIER,
    };
    return comm_type < SIM_COUNT_OF(kinds) ? kinds[comm_type] : APP__COLL_COUNT;
}

// The dependencies of a rank's operations, which have the numbers of their nodes.
typedef struct order {
    app__dependency_t *list;
    size_t count;
} order_t;

// Fills the row of a rank in the matrix of an all-to-all: equal parts for all ranks.
static void fill_row(uint64_t *matrix, uint32_t count, uint32_t number, uint64_t bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        matrix[(size_t)number * count + i] = bytes / count + (i < bytes % count);
    }
}

// Gives an all-to-all a matrix if its ranks send different amounts (PyTorch's all_to_allv). Chakra
// says what a rank sends to all, and not how much to each, so a rank's parts are equal.
static void take_unequal(job_t *job, const group_t *group, uint32_t rank, uint64_t bytes,
                         app__call_t *made)
{
    uint64_t *matrix = (uint64_t *)(uintptr_t)made->matrix; // made below
    if (matrix == NULL) {
        matrix = sim_alloc_array((size_t)group->count * group->count, sizeof(*matrix));
        for (uint32_t i = 0; i < group->count; i++) {
            fill_row(matrix, group->count, i, made->bytes);
        }
        made->matrix = app__schedule_keep(job->schedule, matrix);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->ranks[i] == rank) {
            fill_row(matrix, group->count, i, bytes);
        }
    }
    made->bytes = SIM_MAX(made->bytes, bytes);
}

// Finds the call of a rank's next collective in its group, or makes it. It begins behind the call
// before: ranks that begin the calls of a group in different orders would wait for each other.
static sim_err_t take_collective(job_t *job, uint32_t rank, const app__chakra_node_t *node,
                                 app__op_t *op, order_t *order)
{
    group_t *const group = group_of(job, &node->group);
    const app__coll_kind_t kind = kind_of(node->values[APP__CHAKRA_COMM_TYPE]);
    const uint64_t bytes = node->values[APP__CHAKRA_COMM_SIZE];
    bool member = false;
    for (uint32_t i = 0; i < group->count; i++) {
        member = member || group->ranks[i] == rank;
    }
    if (kind == APP__COLL_COUNT) {
        return fail_node(job, rank, node,
                         "there is no model of this comm_type, expected 0 to 2 or 5 to 9 (all "
                         "but gather and scatter)");
    }
    if (!member) {
        return fail_node(job, rank, node, "the rank is not in the group, expected one that is");
    }
    if (bytes > UINT64_C(1) << 40 || node->values[APP__CHAKRA_COMM_ROOT] >= group->count) {
        return fail_node(job, rank, node, "the size or the root is too large, expected up to 2^40");
    }
    if (group->count < 2) {
        *op = (app__op_t){.type = APP__OP_CALC, .size = node->duration_us * NS_PER_US};
        return SIM_OK;
    }
    const app__call_t call = {
        // Chakra says what a rank gives to an all-gather, a call what it gets.
        .bytes = kind == APP__COLL_ALL_GATHER ? bytes * group->count : bytes,
        .group = group->index,
        .root = (uint32_t)node->values[APP__CHAKRA_COMM_ROOT],
        .kind = (uint8_t)kind,
    };
    const uint32_t index = (uint32_t)(node - job->traces[rank].nodes);
    const uint32_t number = group->seen[rank]++;
    if (number > 0) {
        order->list[order->count++] = (app__dependency_t){index, group->last, true};
    }
    group->last = index;
    if (number == group->call_count) {
        SIM_APPEND(group->calls, group->call_count, group->call_capacity,
                   app__schedule_call(job->schedule, &call));
    }
    *op = (app__op_t){.type = APP__OP_COLL, .peer = group->calls[number]};
    app__call_t *const made = &job->schedule->calls[op->peer];
    if (made->kind == APP__COLL_ALL_TO_ALL && kind == APP__COLL_ALL_TO_ALL &&
        (made->matrix != NULL || made->bytes != bytes)) {
        take_unequal(job, group, rank, bytes, made);
        return SIM_OK;
    }
    return made->kind == call.kind && made->bytes == call.bytes && made->root == call.root
               ? SIM_OK
               : fail_node(job, rank, node,
                           "another rank of the group has another collective or size at this "
                           "place, expected the same");
}

// Makes the operation of a send or a receive.
static sim_err_t take_message(job_t *job, uint32_t rank, const app__chakra_node_t *node,
                              app__op_t *op)
{
    const bool sends = node->type == APP__CHAKRA_SEND;
    const app__chakra_attr_t attr = sends ? APP__CHAKRA_COMM_DST : APP__CHAKRA_COMM_SRC;
    const uint64_t peer = node->values[attr];
    if (!app__chakra_has(node, attr) || peer >= job->ranks) {
        return fail_node(job, rank, node,
                         sends ? "comm_dst is missing or wrong, expected a rank"
                               : "comm_src is missing or wrong, expected a rank");
    }
    if (node->values[APP__CHAKRA_COMM_SIZE] > UINT64_C(1) << 40) {
        return fail_node(job, rank, node, "comm_size is too large, expected up to 2^40 bytes");
    }
    *op = (app__op_t){
        .type = sends ? APP__OP_SEND : APP__OP_RECV,
        .size = node->values[APP__CHAKRA_COMM_SIZE],
        .peer = (uint32_t)peer,
        .tag = (uint32_t)(node->values[APP__CHAKRA_COMM_TAG] & INT32_MAX),
    };
    return SIM_OK;
}

// Returns the nodes of a trace in an order in which each stands behind those that it waits for, and
// otherwise as the file has them. Free it with sim_free.
static uint32_t *sorted_nodes(const app__chakra_trace_t *trace)
{
    uint32_t *const sorted = sim_alloc_array(trace->node_count + 1, sizeof(*sorted));
    uint32_t *const stack = sim_alloc_array(trace->node_count + 1, sizeof(*stack));
    uint32_t *const seen =
        sim_alloc_array(trace->node_count + 1, sizeof(*seen)); // 1 + dependencies
    size_t count = 0;
    for (size_t n = 0; n < trace->node_count; n++) {
        size_t depth = 0;
        if (seen[n]++ == 0) {
            stack[depth++] = (uint32_t)n;
        }
        while (depth > 0) {
            const uint32_t at = stack[depth - 1];
            const app__chakra_node_t *const node = &trace->nodes[at];
            if (seen[at] > node->dep_count) {
                sorted[count++] = at;
                depth--;
                continue;
            }
            const uint64_t before = trace->deps[node->dep_first + seen[at]++ - 1];
            if (before != UINT64_MAX && seen[before] == 0) {
                seen[before] = 1;
                stack[depth++] = (uint32_t)before;
            }
        }
    }
    sim_free(seen);
    sim_free(stack);
    return sorted;
}

// Makes the operation of a node.
static sim_err_t take_node(job_t *job, uint32_t rank, const app__chakra_node_t *node, app__op_t *op,
                           order_t *order)
{
    *op = (app__op_t){.type = APP__OP_CALC, .size = node->duration_us * NS_PER_US};
    if (node->type == APP__CHAKRA_SEND || node->type == APP__CHAKRA_RECV) {
        return take_message(job, rank, node, op);
    }
    if (is_collective(node)) {
        return take_collective(job, rank, node, op, order);
    }
    op->cpu = node->values[APP__CHAKRA_IS_CPU] != 0 ? CPU_OF_HOST : 0;
    return SIM_OK;
}

static sim_err_t add_rank(job_t *job, uint32_t rank)
{
    const app__chakra_trace_t *const trace = &job->traces[rank];
    app__op_t *const ops = sim_alloc_array(trace->node_count + 1, sizeof(*ops));
    order_t order = {
        .list = sim_alloc_array(trace->dep_count + trace->node_count + 1, sizeof(*order.list)),
    };
    uint32_t *const sorted = sorted_nodes(trace);
    sim_err_t error = SIM_OK;
    for (size_t i = 0; i < trace->node_count && error == SIM_OK; i++) {
        error = take_node(job, rank, &trace->nodes[sorted[i]], &ops[sorted[i]], &order);
    }
    for (size_t n = 0; n < trace->node_count && error == SIM_OK; n++) {
        const app__chakra_node_t *const node = &trace->nodes[n];
        (void)app__schedule_add(job->schedule, rank, &ops[n]);
        for (uint32_t d = 0; d < node->dep_count; d++) {
            const uint64_t before = trace->deps[node->dep_first + d];
            if (before != UINT64_MAX) {
                order.list[order.count++] =
                    (app__dependency_t){(uint32_t)n, (uint32_t)before, false};
            }
        }
    }
    if (error == SIM_OK) {
        app__schedule_order(job->schedule, rank, order.list, order.count);
    }
    SIM_FREE_ALL(sorted, order.list, ops);
    return error;
}

// Counts the ranks: those with a trace, and those that messages name.
static void count_ranks(job_t *job)
{
    uint64_t ranks = job->trace_count;
    for (size_t r = 0; r < job->trace_count; r++) {
        for (size_t n = 0; n < job->traces[r].node_count; n++) {
            const app__chakra_node_t *const node = &job->traces[r].nodes[n];
            const uint64_t peer =
                node->type == APP__CHAKRA_SEND   ? node->values[APP__CHAKRA_COMM_DST]
                : node->type == APP__CHAKRA_RECV ? node->values[APP__CHAKRA_COMM_SRC]
                                                 : 0;
            ranks = peer >= ranks && peer < PEER_MAX ? peer + 1 : ranks;
        }
    }
    if (ranks > job->trace_count) {
        note_absent(job, job->trace_count);
    }
    job->ranks = (uint32_t)ranks;
}

static sim_err_t fill(job_t *job)
{
    char *json = NULL;
    count_ranks(job);
    job->schedule = app__schedule_create(job->ranks);
    job->schedule->absent_rank = job->absent;
    job->absent = NULL;
    app__chakra_note_counts(&job->traces[job->trace_count > job->own ? job->own : 0],
                            job->schedule);
    sim_err_t error = find_groups(job, &json);
    for (uint32_t r = 0; r < job->trace_count && error == SIM_OK; r++) {
        error = add_rank(job, r);
    }
    for (uint32_t r = (uint32_t)job->trace_count; r < job->ranks && error == SIM_OK; r++) {
        app__schedule_order(job->schedule, r, NULL, 0);
    }
    if (error == SIM_OK) {
        app__schedule_finish(job->schedule);
    }
    sim_free(json);
    return error;
}

static sim_err_t read_chakra(const app__workload_file_t *file, app__schedule_t **schedule,
                             sim_message_t *message)
{
    job_t job = {.file = file, .message = message};
    sim_err_t error = read_traces(&job);
    if (error == SIM_OK) {
        error = fill(&job);
    }
    for (size_t i = 0; i < job.trace_count; i++) {
        app__chakra_fini(&job.traces[i]);
    }
    for (size_t i = 0; i < job.group_count; i++) {
        SIM_FREE_ALL(job.groups[i].ranks, job.groups[i].seen, job.groups[i].calls);
    }
    SIM_FREE_ALL(job.traces, job.groups, job.absent);
    if (error != SIM_OK) {
        app__schedule_destroy(job.schedule);
        return error;
    }
    *schedule = job.schedule;
    return SIM_OK;
}

const app__format_t app__format_chakra = {
    .name = "chakra",
    .what = "Chakra execution trace",
    .recognises = app__chakra_recognises,
    .read = read_chakra,
};
