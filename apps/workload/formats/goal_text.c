// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/goal_text.c - reads GOAL schedules as text (docs/models/workload.md).
#include "apps/workload/formats/format.h"

#include <string.h>

#define WORD_BYTES_MAX 200u
#define PEER_MAX (APP__RANKS_MAX - 1)

// A label of a rank and the operation that it names.
typedef struct label {
    const char *name; // in the text
    uint32_t length;
    uint32_t op;
} label_t;

typedef struct reader {
    const char *name;
    const char *text;
    const char *end;
    const char *at;
    const char *line_start;
    uint64_t line;
    const char *word; // the last word read
    size_t length;
    app__schedule_t *schedule;
    uint32_t rank;
    label_t *labels; // hash table of the present rank; name NULL: free
    size_t label_count;
    size_t label_capacity;
    app__dependency_t *list; // of the present rank
    size_t list_count;
    size_t list_capacity;
    sim_message_t *message;
} reader_t;

// Fails at the last word.
static sim_err_t fail(const reader_t *reader, const char *problem, const char *expected)
{
    const size_t shown = SIM_MIN(reader->length, 40);
    return sim_fail_in(reader->message, SIM_ERR_INVALID, reader->name, reader->line,
                       (uint64_t)(reader->word - reader->line_start) + 1, "%s: '%.*s', expected %s",
                       problem, (int)shown, reader->word, expected);
}

// Notes a rank that the file does not have. Generators write such files: they can be counted.
static void note_absent(const reader_t *reader)
{
    sim_message_t text;
    reader_t copy = *reader;
    copy.message = &text;
    if (reader->schedule->absent_rank == NULL) {
        (void)fail(&copy, "there is no such rank", "a rank below num_ranks");
        reader->schedule->absent_rank = sim_strdup(text.text);
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void next_line(reader_t *reader)
{
    const char *const end = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    reader->at = end == NULL ? reader->end : end + 1;
    reader->line_start = reader->at;
    reader->line++;
}

// Skips a comment at the beginning of a line. Comments behind statements are no part of the format.
static bool skip_comment(reader_t *reader)
{
    const size_t left = (size_t)(reader->end - reader->at);
    if (left >= 2 && memcmp(reader->at, "//", 2) == 0) {
        next_line(reader);
        return true;
    }
    if (left < 2 || memcmp(reader->at, "/*", 2) != 0) {
        return false;
    }
    reader->at += 2;
    while (reader->at < reader->end &&
           (reader->at + 1 == reader->end || memcmp(reader->at, "*/", 2) != 0)) {
        if (*reader->at++ == '\n') {
            reader->line_start = reader->at;
            reader->line++;
        }
    }
    reader->at = reader->at + 2 <= reader->end ? reader->at + 2 : reader->end;
    return true;
}

// Reads the next word of the present line; returns false at the end of the line.
static bool next_word(reader_t *reader)
{
    while (reader->at < reader->end && is_blank(*reader->at)) {
        reader->at++;
    }
    reader->word = reader->at;
    reader->length = 0;
    if (reader->at == reader->end || *reader->at == '\n') {
        return false;
    }
    if (*reader->at == '{' || *reader->at == '}') {
        reader->at++;
        reader->length = 1;
        return true;
    }
    while (reader->at < reader->end && !is_blank(*reader->at) && *reader->at != '\n' &&
           *reader->at != '{' && *reader->at != '}') {
        reader->at++;
        reader->length++;
        if (reader->word[reader->length - 1] == ':') {
            break; // the end of a label
        }
    }
    return true;
}

// Moves to the first word of the next line that has one; returns false at the end of the file.
static bool next_statement(reader_t *reader)
{
    for (;;) {
        while (reader->at < reader->end && is_blank(*reader->at)) {
            reader->at++;
        }
        if (reader->at == reader->end) {
            reader->word = reader->at;
            reader->length = 0;
            return false;
        }
        if (*reader->at == '\n') {
            next_line(reader);
        } else if (!skip_comment(reader)) {
            return next_word(reader);
        }
    }
}

static bool is_word(const reader_t *reader, const char *word)
{
    return reader->length == strlen(word) && memcmp(reader->word, word, reader->length) == 0;
}

// Reads the last word as a number up to most. unit: 'b' must follow the digits; any: -1 is allowed
// and gives APP__ANY.
static bool read_number(const reader_t *reader, uint64_t most, char unit, bool any,
                        uint64_t *number)
{
    size_t length = reader->length;
    if (any && is_word(reader, "-1")) {
        *number = APP__ANY;
        return true;
    }
    if (unit != '\0') {
        if (length < 2 || reader->word[length - 1] != unit) {
            return false;
        }
        length--;
    }
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        const char digit = reader->word[i];
        if (digit < '0' || digit > '9' || *number > (UINT64_MAX - 9) / 10) {
            return false;
        }
        *number = *number * 10 + (uint64_t)(digit - '0');
    }
    return length > 0 && *number <= most;
}

// Reads the next word as a number.
static sim_err_t take_number(reader_t *reader, uint64_t most, char unit, bool any, uint64_t *number,
                             const char *expected)
{
    if (!next_word(reader) || !read_number(reader, most, unit, any, number)) {
        return fail(reader, "the number is wrong", expected);
    }
    return SIM_OK;
}

// -- labels

static uint64_t hash_of(const char *name, size_t length)
{
    uint64_t hash = length;
    for (size_t i = 0; i < length; i++) {
        hash = sim_mix64(hash ^ (uint8_t)name[i]);
    }
    return hash;
}

// Returns the place of a label, or the free place where it belongs.
static label_t *find_label(const reader_t *reader, const char *name, size_t length)
{
    size_t at = hash_of(name, length) & (reader->label_capacity - 1);
    while (reader->labels[at].name != NULL &&
           (reader->labels[at].length != length ||
            memcmp(reader->labels[at].name, name, length) != 0)) {
        at = (at + 1) & (reader->label_capacity - 1);
    }
    return &reader->labels[at];
}

static void grow_labels(reader_t *reader)
{
    label_t *const old = reader->labels;
    const size_t count = reader->label_capacity;
    reader->label_capacity = count == 0 ? 64 : 2 * count;
    reader->labels = sim_alloc_array(reader->label_capacity, sizeof(*reader->labels));
    for (size_t i = 0; i < count; i++) {
        if (old[i].name != NULL) {
            *find_label(reader, old[i].name, old[i].length) = old[i];
        }
    }
    sim_free(old);
}

static void forget_labels(reader_t *reader)
{
    if (reader->label_count > 0) {
        memset(reader->labels, 0, reader->label_capacity * sizeof(*reader->labels));
    }
    reader->label_count = 0;
    reader->list_count = 0;
}

// -- statements

// Reads the optional words "tag N", "cpu N" and "nic N", each at most once, in this order.
static sim_err_t take_options(reader_t *reader, app__op_t *op)
{
    static const char *const words[] = {"tag", "cpu", "nic"};
    const bool messages = op->type != APP__OP_CALC;
    size_t next = messages ? 0 : 1;
    const size_t end = messages ? 3 : 2;
    while (next_word(reader)) {
        while (next < end && !is_word(reader, words[next])) {
            next++;
        }
        if (next == end) {
            return fail(reader, "there is an unknown word",
                        messages ? "tag, cpu or nic, in this order" : "cpu");
        }
        uint64_t number = 0;
        const bool is_tag = next == 0;
        const sim_err_t error = take_number(reader, is_tag ? UINT32_MAX - 1 : UINT8_MAX, '\0',
                                            is_tag && op->type == APP__OP_RECV, &number,
                                            is_tag ? "a tag" : "a number up to 255");
        if (error != SIM_OK) {
            return error;
        }
        op->tag = is_tag ? (uint32_t)number : op->tag;
        op->cpu = next == 1 ? (uint8_t)number : op->cpu;
        op->nic = next == 2 ? (uint8_t)number : op->nic;
        next++;
    }
    return SIM_OK;
}

// Reads "BYTESb to PEER" or "BYTESb from PEER".
static sim_err_t take_message(reader_t *reader, app__op_t *op)
{
    const bool sends = op->type == APP__OP_SEND;
    const char *const word = sends ? "to" : "from";
    uint64_t peer = 0;
    sim_err_t error = take_number(reader, UINT64_C(1) << 40, 'b', false, &op->size,
                                  "a size up to 2^40 such as 1024b");
    if (error != SIM_OK) {
        return error;
    }
    if (!next_word(reader) || !is_word(reader, word)) {
        return fail(reader, "a word is missing", sends ? "to RANK" : "from RANK");
    }
    error = take_number(reader, UINT32_MAX - 1, '\0', !sends, &peer, "a rank");
    if (error == SIM_OK && peer != APP__ANY && peer >= reader->schedule->rank_count) {
        note_absent(reader);
    }
    op->peer = (uint32_t)peer;
    return error;
}

static sim_err_t add_label(reader_t *reader, const char *name, size_t length, uint32_t op)
{
    if (2 * reader->label_count >= reader->label_capacity) {
        grow_labels(reader);
    }
    label_t *const label = find_label(reader, name, length);
    if (label->name != NULL) {
        reader->word = name;
        reader->length = length;
        return fail(reader, "the label is used twice", "another name");
    }
    *label = (label_t){name, (uint32_t)length, op};
    reader->label_count++;
    SIM_CHECK(reader->label_count < reader->label_capacity); // so that each search ends
    return SIM_OK;
}

static sim_err_t take_operation(reader_t *reader, app__op_type_t type)
{
    app__op_t op = {.type = (uint8_t)type};
    sim_err_t error = type == APP__OP_CALC ? take_number(reader, UINT64_C(1) << 53, '\0', false,
                                                         &op.size, "a duration in ns")
                                           : take_message(reader, &op);
    if (error == SIM_OK) {
        error = take_options(reader, &op);
    }
    if (error == SIM_OK && reader->schedule->ranks[reader->rank].count == APP__OPS_MAX) {
        return fail(reader, "the rank has too many operations", "fewer than 2^30");
    }
    if (error == SIM_OK) {
        (void)app__schedule_add(reader->schedule, reader->rank, &op);
    }
    return error;
}

// Returns the type of the operation that the word begins; 0 if it begins none.
static app__op_type_t type_of(const reader_t *reader)
{
    return is_word(reader, "send")   ? APP__OP_SEND
           : is_word(reader, "recv") ? APP__OP_RECV
           : is_word(reader, "calc") ? APP__OP_CALC
                                     : (app__op_type_t)0;
}

static const label_t *known_label(const reader_t *reader)
{
    return reader->label_capacity == 0 ? NULL : find_label(reader, reader->word, reader->length);
}

// Reads "A requires B" or "A irequires B"; the last word is A.
static sim_err_t take_dependency(reader_t *reader)
{
    const label_t *const after = known_label(reader);
    if (after == NULL || after->name == NULL) {
        return fail(reader, "there is no such label before this line",
                    "send, recv, calc, a label followed by ':', or a label that requires another");
    }
    const bool has_word = next_word(reader);
    const bool started = has_word && is_word(reader, "irequires");
    if (!started && !(has_word && is_word(reader, "requires"))) {
        return fail(reader, "a word is missing behind the label", "requires or irequires");
    }
    if (!next_word(reader)) {
        return fail(reader, "a label is missing", "the label of an operation to wait for");
    }
    const label_t *const before = known_label(reader);
    if (before == NULL || before->name == NULL) {
        return fail(reader, "there is no such label before this line", "a label of this rank");
    }
    SIM_APPEND(reader->list, reader->list_count, reader->list_capacity,
               (app__dependency_t){after->op, before->op, started});
    return next_word(reader) ? fail(reader, "there is one word too many", "the end of the line")
                             : SIM_OK;
}

static bool is_label(const reader_t *reader)
{
    return reader->length >= 2 && reader->word[reader->length - 1] == ':';
}

// Reads one line of a rank.
static sim_err_t take_statement(reader_t *reader)
{
    const char *label = NULL;
    size_t length = 0;
    if (is_label(reader)) {
        label = reader->word;
        length = reader->length - 1;
        if (length > WORD_BYTES_MAX) {
            return fail(reader, "the label is too long", "at most 200 letters");
        }
        if (!next_word(reader)) {
            return fail(reader, "an operation is missing", "send, recv or calc");
        }
    }
    const app__op_type_t type = type_of(reader);
    if (type == 0) {
        return label != NULL ? fail(reader, "the operation is unknown", "send, recv or calc")
                             : take_dependency(reader);
    }
    sim_err_t error = take_operation(reader, type);
    if (error == SIM_OK && label != NULL) {
        error = add_label(reader, label, length, reader->schedule->ranks[reader->rank].count - 1);
    }
    return error;
}

static sim_err_t take_rank(reader_t *reader)
{
    uint64_t rank = 0;
    sim_err_t error = take_number(reader, reader->schedule->rank_count - 1, '\0', false, &rank,
                                  "the number of a rank below num_ranks");
    if (error != SIM_OK) {
        return error;
    }
    reader->rank = (uint32_t)rank;
    if (reader->schedule->ranks[rank].next != NULL) {
        return fail(reader, "the rank stands twice", "each rank once");
    }
    if (!next_word(reader) || !is_word(reader, "{")) {
        return fail(reader, "a brace is missing", "{");
    }
    forget_labels(reader);
    while (error == SIM_OK) {
        if (!next_statement(reader)) {
            return fail(reader, "the file ends within a rank", "}");
        }
        if (is_word(reader, "}")) {
            break;
        }
        error = take_statement(reader);
    }
    if (error == SIM_OK) {
        app__schedule_order(reader->schedule, reader->rank, reader->list, reader->list_count);
    }
    return error;
}

static sim_err_t read_all(reader_t *reader)
{
    uint64_t ranks = 0;
    if (!next_statement(reader) || !is_word(reader, "num_ranks")) {
        return fail(reader, "this is no GOAL schedule", "num_ranks N");
    }
    sim_err_t error =
        take_number(reader, APP__RANKS_MAX, '\0', false, &ranks, "a number of ranks up to 1000000");
    if (error == SIM_OK && ranks == 0) {
        return fail(reader, "there is no rank", "a number of ranks from 1 to 1000000");
    }
    if (error != SIM_OK) {
        return error;
    }
    reader->schedule = app__schedule_create((uint32_t)ranks);
    while (error == SIM_OK && next_statement(reader)) {
        error = is_word(reader, "rank") ? take_rank(reader)
                                        : fail(reader, "the word is unknown here", "rank N {");
    }
    return error;
}

static sim_err_t read_text(const app__workload_file_t *file, app__schedule_t **schedule,
                           sim_message_t *message)
{
    reader_t reader = {
        .name = file->name,
        .text = file->text,
        .end = file->text + file->size_bytes,
        .at = file->text,
        .line_start = file->text,
        .line = 1,
        .word = file->text,
        .message = message,
    };
    const sim_err_t error = read_all(&reader);
    sim_free(reader.labels);
    sim_free(reader.list);
    if (error != SIM_OK) {
        app__schedule_destroy(reader.schedule);
        return error;
    }
    app__schedule_finish(reader.schedule);
    *schedule = reader.schedule;
    return SIM_OK;
}

static bool recognises(const app__workload_file_t *file)
{
    reader_t reader = {.at = file->text, .end = file->text + file->size_bytes};
    while (reader.at < reader.end) {
        if (skip_comment(&reader)) {
            continue;
        }
        if (!is_blank(*reader.at) && *reader.at != '\n') {
            break;
        }
        reader.at++;
    }
    return next_word(&reader) && is_word(&reader, "num_ranks");
}

const app__format_t app__format_goal_text = {
    .name = "goal",
    .what = "GOAL, text",
    .recognises = recognises,
    .read = read_text,
};
