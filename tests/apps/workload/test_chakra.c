// SPDX-License-Identifier: Apache-2.0
// tests/apps/workload/test_chakra.c - execution traces of Chakra: wire format, groups, errors.
//
// Goal: nodes become operations whatever type of number and packing their fields have; only data
// dependencies order them; collectives of a group meet, in one order; what is absent or circular is
// named.
// Method: traces made here by a small writer of protobuf; public ones where they exist.
#include "tests/check_main.h"

#include "apps/workload/formats/format.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "../shared/data/ai"

// -- a writer

typedef struct buffer {
    uint8_t bytes[4000];
    size_t size;
} buffer_t;

static void put_varint(buffer_t *out, uint64_t value)
{
    for (; value > 127; value >>= 7) {
        out->bytes[out->size++] = (uint8_t)(value | 128);
    }
    out->bytes[out->size++] = (uint8_t)value;
}

static void put_number(buffer_t *out, uint64_t field, uint64_t value)
{
    put_varint(out, field << 3);
    put_varint(out, value);
}

static void put_part(buffer_t *out, uint64_t field, const void *bytes, size_t size)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, size);
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

// Fields of AttributeProto for numbers.
enum { DOUBLE = 3, FLOAT = 5, INT32 = 7, INT64 = 9, UINT64 = 13, SINT64 = 17 };
enum { FIXED64 = 21, BOOL = 27 };

// Puts a number of fixed width: 8 or 4 bytes.
static void put_fixed(buffer_t *out, uint64_t field, uint64_t bits, size_t bytes)
{
    put_varint(out, field << 3 | (bytes == 8 ? 1 : 5));
    for (unsigned i = 0; i < bytes; i++) {
        out->bytes[out->size++] = (uint8_t)(bits >> 8 * i);
    }
}

// Puts a number with a fraction: a double or a float.
static void put_real(buffer_t *out, uint64_t field, double real)
{
    uint64_t bits = 0;
    uint32_t low = 0;
    const float single = (float)real;
    memcpy(&bits, &real, sizeof(bits));
    memcpy(&low, &single, sizeof(low));
    put_fixed(out, field, field == DOUBLE ? bits : low, field == DOUBLE ? 8 : 4);
}

static void put_attr(buffer_t *node, const char *name, uint64_t field, uint64_t value)
{
    buffer_t attr = {.size = 0};
    put_part(&attr, 1, name, strlen(name));
    if (field == FIXED64) {
        put_fixed(&attr, field, value, 8);
    } else if (field == DOUBLE || field == FLOAT) {
        put_real(&attr, field, (double)value);
    } else {
        put_number(&attr, field, field == SINT64 ? value << 1 : value);
    }
    put_part(node, 10, attr.bytes, attr.size);
}

static void put_message(buffer_t *out, const buffer_t *message)
{
    put_varint(out, message->size);
    memcpy(out->bytes + out->size, message->bytes, message->size);
    out->size += message->size;
}

static buffer_t begin_trace(void)
{
    buffer_t trace = {.size = 0};
    buffer_t metadata = {.size = 0};
    put_part(&metadata, 1, "0.0.4", 5);
    put_message(&trace, &metadata);
    return trace;
}

static buffer_t node_of(uint64_t id, const char *name, uint64_t type)
{
    buffer_t node = {.size = 0};
    put_number(&node, 1, id);
    put_part(&node, 2, name, strlen(name));
    put_number(&node, 3, type);
    return node;
}

static void put_group(buffer_t *node, const char *group)
{
    buffer_t attr = {.size = 0};
    put_part(&attr, 1, "pg_name", 7);
    put_part(&attr, 29, group, strlen(group));
    put_part(node, 10, attr.bytes, attr.size);
}

// A collective of 1000 bytes.
static buffer_t coll_of(uint64_t id, uint64_t comm_type, const char *group)
{
    buffer_t node = node_of(id, "coll", 7);
    put_attr(&node, "comm_type", INT64, comm_type);
    put_attr(&node, "comm_size", INT64, 1000);
    if (group != NULL) {
        put_group(&node, group);
    }
    return node;
}

// -- a folder of traces

static buffer_t files[4];
static size_t file_count;
static const char *json;

static sim_err_t read_beside(const char *name, char **text, size_t *size, sim_message_t *message,
                             void *ctx)
{
    (void)ctx;
    const bool is_json = strcmp(name, "t.json") == 0 && json != NULL;
    const size_t rank =
        name[0] == 't' && name[2] >= '0' && name[2] <= '9' ? (size_t)(name[2] - '0') : 99;
    if (!is_json && rank >= file_count) {
        return sim_fail(message, SIM_ERR_IO, "there is no %s", name);
    }
    *size = is_json ? strlen(json) : files[rank].size;
    *text = sim_alloc(*size + 1);
    memcpy(*text, is_json ? (const void *)json : files[rank].bytes, *size);
    return SIM_OK;
}

static sim_err_t read_folder(size_t count, app__schedule_t **schedule, sim_message_t *message)
{
    file_count = count;
    const app__workload_file_t file = {
        .name = "t.0.et",
        .text = (const char *)files[0].bytes,
        .size_bytes = files[0].size,
        .read_file = read_beside,
    };
    return app__format_read(&file, schedule, message);
}

static app__schedule_t *read_good(size_t count)
{
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t error = read_folder(count, &schedule, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    return schedule;
}

static void check_refused(size_t count, const char *said)
{
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_int_ne(read_folder(count, &schedule, &message), SIM_OK);
    ck_assert_msg(strstr(message.text, said) != NULL, "said %s", message.text);
}

static bool has_note(const app__schedule_t *schedule, const char *part)
{
    for (size_t i = 0; i < schedule->note_count; i++) {
        if (strstr(schedule->notes[i], part) != NULL) {
            return true;
        }
    }
    return false;
}

// A trace: a computation, a message to `to` and one from `from`, which waits for node 4.
static buffer_t pair_of(uint64_t to, uint64_t from, uint64_t field, bool packed)
{
    buffer_t trace = begin_trace();
    buffer_t node = node_of(4, "comp", 4);
    put_number(&node, 7, 50);
    put_part(&node, 4, "\x09\x04", 2); // control dependencies: an absent node, and itself
    put_number(&node, 99, 1);          // a field of a later version
    put_message(&trace, &node);
    node = node_of(5, "send", 5);
    put_attr(&node, "comm_size", field, 4096);
    put_attr(&node, "comm_dst", INT32, to);
    put_attr(&node, "comm_tag", INT32, 7);
    put_attr(&node, "is_cpu_op", BOOL, 0);
    if (packed) {
        put_part(&node, 5, "\x04", 1);
    } else {
        put_number(&node, 5, 4);
    }
    put_message(&trace, &node);
    node = node_of(6, "recv", 6);
    put_attr(&node, "comm_size", field, 4096);
    put_attr(&node, "comm_src", INT32, from);
    put_attr(&node, "comm_tag", INT32, 7);
    put_message(&trace, &node);
    return trace;
}

START_TEST(nodes_are_operations)
{
    static const uint64_t fields[] = {INT32, INT64, UINT64, SINT64, FIXED64, DOUBLE, FLOAT};
    for (size_t i = 0; i < 2 * SIM_COUNT_OF(fields); i++) {
        files[0] = pair_of(1, 1, fields[i / 2], i % 2 == 0);
        files[1] = pair_of(0, 0, fields[i / 2], i % 2 == 0);
        app__schedule_t *const schedule = read_good(2);
        const app__rank_ops_t *const ops = &schedule->ranks[0];
        ck_assert_uint_eq(schedule->rank_count, 2);
        ck_assert_uint_eq(ops->count, 3);
        ck_assert_uint_eq(ops->ops[0].type, APP__OP_CALC);
        ck_assert_uint_eq(ops->ops[0].size, 50000);
        ck_assert_uint_eq(ops->ops[0].needs, 0);
        ck_assert_uint_eq(ops->ops[1].type, APP__OP_SEND);
        ck_assert_uint_eq(ops->ops[1].size, 4096);
        ck_assert_uint_eq(ops->ops[1].peer, 1);
        ck_assert_uint_eq(ops->ops[1].tag, 7);
        ck_assert_uint_eq(ops->ops[1].needs, 1);
        ck_assert_uint_eq(ops->ops[2].type, APP__OP_RECV);
        ck_assert_uint_eq(schedule->counts.unmatched_sends + schedule->counts.unmatched_recvs, 0);
        ck_assert_ptr_null(schedule->absent_rank);
        app__schedule_destroy(schedule);
    }
}
END_TEST

START_TEST(absent_ranks_are_named)
{
    files[0] = pair_of(1, 1, INT64, true);
    app__schedule_t *const schedule = read_good(1);
    ck_assert_uint_eq(schedule->rank_count, 2);
    ck_assert_ptr_nonnull(schedule->absent_rank);
    ck_assert(strstr(schedule->absent_rank, "rank 1") != NULL);
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(collectives_of_a_group_meet)
{
    json = NULL;
    for (size_t r = 0; r < 4; r++) {
        const buffer_t nodes[] = {coll_of(1, 0, r < 2 ? "a" : "b"), coll_of(2, 2, NULL)};
        files[r] = begin_trace();
        put_message(&files[r], &nodes[0]);
        put_message(&files[r], &nodes[1]);
    }
    app__schedule_t *const schedule = read_good(4);
    ck_assert_uint_eq(schedule->call_count, 3);
    ck_assert_uint_eq(schedule->counts.stuck, 0);
    ck_assert_uint_eq(schedule->ranks[0].ops[0].peer, schedule->ranks[1].ops[0].peer);
    ck_assert_uint_ne(schedule->ranks[0].ops[0].peer, schedule->ranks[2].ops[0].peer);
    const app__call_t *const all = &schedule->calls[schedule->ranks[3].ops[1].peer];
    ck_assert_uint_eq(all->kind, APP__COLL_ALL_GATHER);
    ck_assert_uint_eq(all->bytes, 4000); // of the result
    ck_assert_uint_eq(schedule->groups[all->group].count, 4);
    app__schedule_destroy(schedule);
    // The list of groups says who takes part: rank 1 never calls.
    json = "{\"a\": [1, 0, 2], \"b\": [2, 3]}";
    const buffer_t node = coll_of(1, 0, "a");
    files[0] = begin_trace();
    put_message(&files[0], &node);
    files[2] = files[0];
    files[1] = begin_trace();
    files[3] = begin_trace();
    app__schedule_t *const waits = read_good(4);
    const app__call_t *const call = &waits->calls[waits->ranks[0].ops[0].peer];
    ck_assert_uint_eq(waits->groups[call->group].count, 3);
    ck_assert_uint_eq(waits->groups[call->group].ranks[0], 1);
    ck_assert_uint_eq(waits->counts.stuck, 2);
    app__schedule_destroy(waits);
    json = "{\"a\": [1, 9]}";
    check_refused(4, "t.json: this is no list of groups");
    json = NULL;
}
END_TEST

// Nothing else orders the calls of a group: the one that a computation precedes is the second one
// at all ranks. The file of rank 1 has its nodes the other way round.
START_TEST(calls_of_a_group_begin_in_one_order)
{
    json = NULL;
    buffer_t nodes[] = {node_of(1, "comp", 4), coll_of(2, 0, NULL), coll_of(3, 2, NULL)};
    put_number(&nodes[0], 7, 50);
    put_number(&nodes[1], 5, 1);
    files[0] = begin_trace();
    for (size_t i = 0; i < SIM_COUNT_OF(nodes); i++) {
        put_message(&files[0], &nodes[i]);
    }
    files[1] = begin_trace();
    const buffer_t first = coll_of(2, 0, NULL);
    buffer_t second = coll_of(3, 2, NULL);
    put_number(&second, 5, 2);
    put_message(&files[1], &second);
    put_message(&files[1], &first);
    app__schedule_t *const schedule = read_good(2);
    const app__op_t *const ops = schedule->ranks[0].ops;
    ck_assert_uint_eq(schedule->call_count, 2);
    ck_assert_uint_eq(ops[1].irequired_count, 1); // the other collective waits for its start
    ck_assert_uint_eq(ops[2].needs, 1);
    ck_assert_uint_eq(schedule->calls[ops[1].peer].kind, APP__COLL_ALL_REDUCE);
    ck_assert_uint_eq(schedule->ranks[1].ops[0].peer, ops[2].peer);
    ck_assert_uint_eq(schedule->ranks[1].ops[1].peer, ops[1].peer);
    ck_assert_uint_eq(schedule->counts.stuck, 0);
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(ranks_may_send_to_themselves)
{
    files[0] = pair_of(0, 0, INT64, true);
    app__schedule_t *const schedule = read_good(1);
    ck_assert_uint_eq(schedule->rank_count, 1);
    ck_assert_uint_eq(schedule->ranks[0].ops[1].peer, 0);
    ck_assert_uint_eq(schedule->counts.unmatched_sends + schedule->counts.unmatched_recvs, 0);
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(trouble_is_named)
{
    buffer_t node = node_of(1, "first", 4);
    files[0] = begin_trace();
    put_number(&node, 5, 2);
    put_message(&files[0], &node);
    node = node_of(2, "second", 4);
    put_number(&node, 5, 1);
    put_number(&node, 5, 77);
    put_message(&files[0], &node);
    app__schedule_t *const schedule = read_good(1);
    ck_assert(has_note(schedule, "warning: t.0.et: 1 data dependencies name absent nodes and are "
                                 "left out; the first: node 2 (second) waits for node 77"));
    ck_assert(has_note(schedule, "2 nodes wait for each other in a circle or behind one; the "
                                 "first: node 1 (first)"));
    ck_assert_uint_eq(schedule->counts.stuck, 2);
    app__schedule_destroy(schedule);

    put_message(&files[0], &node);
    check_refused(1, "t.0.et: two nodes have the id 2");
    files[0] = pair_of(1, 200000, INT64, true);
    check_refused(1, "t.0.et: node 6 (recv): comm_src is missing or wrong");
    files[0].size -= 3;
    check_refused(1, "t.0.et: the file ends within the message at byte");
    files[0].size = 0;
    check_refused(1, "t.0.et: the file is empty");
    node = coll_of(3, 4, NULL);
    files[0] = begin_trace();
    put_message(&files[0], &node);
    check_refused(1, "there is no model of this comm_type");
    node = node_of(3, "a\nb\x7f", 5);
    files[0] = begin_trace();
    put_message(&files[0], &node);
    check_refused(1, "t.0.et: node 3 (a?b?): comm_dst is missing or wrong");
    buffer_t attr = {.size = 0};
    put_part(&attr, 1, "comm_size", 9);
    put_real(&attr, DOUBLE, 0.5);
    node = node_of(3, "half a byte", 5);
    put_part(&node, 10, attr.bytes, attr.size);
    files[0] = begin_trace();
    put_message(&files[0], &node);
    check_refused(1, "the message at byte 8 is broken");
    files[1] = begin_trace();
    files[0] = begin_trace();
    const buffer_t two[] = {coll_of(3, 0, NULL), coll_of(3, 2, NULL)};
    put_message(&files[0], &two[0]);
    put_message(&files[1], &two[1]);
    check_refused(2, "t.1.et: node 3 (coll): another rank of the group has another collective");
}
END_TEST

// A node that only launches a collective has no size: it is a computation of the host.
START_TEST(launches_are_computations)
{
    buffer_t node = node_of(1, "launch", 7);
    put_attr(&node, "is_cpu_op", BOOL, 1);
    put_number(&node, 7, 3);
    files[0] = begin_trace();
    put_message(&files[0], &node);
    app__schedule_t *const schedule = read_good(1);
    ck_assert_uint_eq(schedule->ranks[0].ops[0].type, APP__OP_CALC);
    ck_assert_uint_eq(schedule->ranks[0].ops[0].cpu, 1);
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(mutations_are_survived)
{
    files[0] = pair_of(1, 1, INT64, true);
    files[1] = pair_of(0, 0, FIXED64, false);
    const buffer_t whole = files[0];
    for (size_t i = 0; i < whole.size; i++) {
        app__schedule_t *schedule = NULL;
        sim_message_t message = {.text = ""};
        files[0].size = i;
        if (read_folder(2, &schedule, &message) == SIM_OK) {
            app__schedule_destroy(schedule);
        }
        files[0] = whole;
        for (unsigned bit = 0; bit < 8; bit++) {
            files[0].bytes[i] ^= (uint8_t)(1u << bit);
            if (read_folder(2, &schedule, &message) == SIM_OK) {
                app__schedule_destroy(schedule);
            }
            files[0].bytes[i] ^= (uint8_t)(1u << bit);
        }
    }
}
END_TEST

// -- public traces, counted by an independent parser

static unsigned files_compared;

static void check_row(char *row)
{
    static const struct {
        size_t column;
        const char *fact;
    } facts[] = {{3, "nodes"},        {4, "metadata"},    {5, "mem_load"},       {6, "mem_store"},
                 {7, "comp"},         {8, "send"},        {9, "recv"},           {10, "coll"},
                 {11, "ctrl_deps"},   {12, "data_deps"},  {13, "dangling_deps"}, {14, "node_depth"},
                 {15, "unreachable"}, {16, "comm_bytes"}, {17, "duration_us"}};
    char *columns[20] = {NULL};
    char path[500];
    for (size_t i = 0; i < SIM_COUNT_OF(columns) && row != NULL; i++) {
        columns[i] = strsep(&row, ",");
    }
    ck_assert_ptr_nonnull(columns[17]);
    snprintf(path, sizeof(path), FOLDER "/data/%s", columns[0]);
    FILE *const stream = fopen(path, "rb");
    if (stream == NULL) {
        return; // some are kept apart
    }
    char *const text = sim_alloc(1 << 20);
    const size_t size = fread(text, 1, 1 << 20, stream);
    (void)fclose(stream);
    const app__workload_file_t file = {.name = path, .text = text, .size_bytes = size};
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_msg(app__format_read(&file, &schedule, &message) == SIM_OK, "%s", message.text);
    for (size_t i = 0; i < SIM_COUNT_OF(facts); i++) {
        for (size_t f = 0; f < schedule->fact_count; f++) {
            if (strcmp(schedule->facts[f].name, facts[i].fact) == 0) {
                ck_assert_msg(schedule->facts[f].number ==
                                  strtoull(columns[facts[i].column], NULL, 10),
                              "%s: %s is %llu", path, facts[i].fact,
                              (unsigned long long)schedule->facts[f].number);
            }
        }
    }
    files_compared++;
    app__schedule_destroy(schedule);
    sim_free(text);
}

START_TEST(public_counts_are_equal)
{
    char row[2000];
    FILE *const table = fopen(FOLDER "/expected/chakra_counts.csv", "r");
    if (table == NULL) {
        printf("skip: no " FOLDER "\n");
        return;
    }
    ck_assert_ptr_nonnull(fgets(row, sizeof(row), table));
    while (fgets(row, sizeof(row), table) != NULL) {
        check_row(row);
    }
    (void)fclose(table);
    ck_assert_uint_gt(files_compared, 40);
}
END_TEST

CHECK_MAIN(CHECK_TEST(nodes_are_operations), CHECK_TEST(absent_ranks_are_named),
           CHECK_TEST(collectives_of_a_group_meet), CHECK_TEST(calls_of_a_group_begin_in_one_order),
           CHECK_TEST(ranks_may_send_to_themselves), CHECK_TEST(trouble_is_named),
           CHECK_TEST(launches_are_computations), CHECK_TEST(mutations_are_survived),
           CHECK_TEST(public_counts_are_equal))
