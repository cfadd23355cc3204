// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/read.c - reads MSCCL's XML, with expat.
#include "apps/workload/collective/msccl/msccl.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 1024
#define CHUNKS_MAX 100000
#define STEPS_MAX (UINT32_C(1) << 22)

// The names of steps, and what each does.
static const struct {
    const char *name;
    const char *fact; // its name among counts
    uint16_t what;
} types[] = {
    {"s", "send", APP__STEP_SEND},
    {"r", "recv", APP__STEP_RECV | APP__STEP_STORE},
    {"rrc", "recv_reduce_copy", APP__STEP_RECV | APP__STEP_REDUCE | APP__STEP_STORE},
    {"rcs", "recv_copy_send", APP__STEP_RECV | APP__STEP_STORE | APP__STEP_SEND},
    {"rrs", "recv_reduce_send", APP__STEP_RECV | APP__STEP_REDUCE | APP__STEP_SEND},
    {"rrcs", "recv_reduce_copy_send",
     APP__STEP_RECV | APP__STEP_REDUCE | APP__STEP_STORE | APP__STEP_SEND},
    {"cpy", "copy", APP__STEP_COPY},
    {"re", "reduce", APP__STEP_REDUCE},
    {"nop", "nop", 0},
};

typedef struct reader {
    app__msccl_t *msccl;
    XML_Parser parser;
    sim_message_t *message;
    sim_err_t error;
    unsigned depth;
    unsigned skipped; // depth within an element that MSCCL does not know either; 0: none
    uint32_t ranks;
    uint64_t algo_line; // place of the first element
    uint64_t algo_column;
    uint32_t channels_used;
    int64_t send; // peers of the present block; -1: none
    int64_t recv;
} reader_t;

static void fail(reader_t *reader, const char *problem, const char *value, const char *expected)
{
    if (reader->error != SIM_OK) {
        return;
    }
    reader->error = sim_fail_in(reader->message, SIM_ERR_INVALID, reader->msccl->file_name,
                                XML_GetCurrentLineNumber(reader->parser),
                                XML_GetCurrentColumnNumber(reader->parser) + 1,
                                "%s: '%.60s', expected %s", problem, value, expected);
    (void)XML_StopParser(reader->parser, XML_FALSE);
}

// -- attributes

static const char *attr_of(const XML_Char **attrs, const char *name)
{
    for (; attrs[0] != NULL; attrs += 2) {
        if (strcmp(attrs[0], name) == 0) {
            return attrs[1];
        }
    }
    return NULL;
}

// Reads an attribute as a whole number from `least` to `most`; `otherwise` if it is not there.
static int64_t number_or(reader_t *reader, const XML_Char **attrs, const char *name, int64_t least,
                         int64_t most, int64_t otherwise)
{
    const char *const text = attr_of(attrs, name);
    char *end = NULL;
    if (text == NULL) {
        return otherwise;
    }
    const long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || number < least || number > most) {
        char *const expected =
            sim_format("%s from %lld to %lld", name, (long long)least, (long long)most);
        fail(reader, "the number is wrong", text, expected);
        sim_free(expected);
        return otherwise;
    }
    return number;
}

static int64_t number_of(reader_t *reader, const XML_Char **attrs, const char *name, int64_t least,
                         int64_t most)
{
    if (attr_of(attrs, name) == NULL) {
        fail(reader, "an attribute is missing", name, "the element to have it");
        return least;
    }
    return number_or(reader, attrs, name, least, most, least);
}

// -- elements

app__coll_kind_t app__msccl_kind(const char *name)
{
    static const struct {
        const char *name;
        app__coll_kind_t kind;
    } kinds[] = {
        {"allreduce", APP__COLL_ALL_REDUCE},
        {"allgather", APP__COLL_ALL_GATHER},
        {"reducescatter", APP__COLL_REDUCE_SCATTER},
        {"reduce_scatter", APP__COLL_REDUCE_SCATTER},
        {"alltoall", APP__COLL_ALL_TO_ALL},
        {"broadcast", APP__COLL_BROADCAST},
        {"reduce", APP__COLL_REDUCE},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            return kinds[i].kind;
        }
    }
    return APP__COLL_COUNT;
}

// Refuses what MSCCL itself refuses in the first element.
static void check_algo(reader_t *reader, const XML_Char **attrs)
{
    static const char *const protocols[] = {"Simple", "LL", "LL128"};
    const app__program_file_t *const program = reader->msccl->program;
    bool known = program->protocol == NULL;
    for (size_t i = 0; i < SIM_COUNT_OF(protocols); i++) {
        known = known || strcmp(program->protocol, protocols[i]) == 0;
    }
    if (!known) {
        fail(reader, "the protocol is unknown", program->protocol, "Simple, LL or LL128");
    }
    if (program->bytes_max > 0 && program->bytes_min > program->bytes_max) {
        fail(reader, "minBytes is above maxBytes", attr_of(attrs, "minBytes"),
             "at most the number of maxBytes");
    }
}

static void take_algo(reader_t *reader, const XML_Char **attrs)
{
    const char *const coll = attr_of(attrs, "coll");
    const char *const name = attr_of(attrs, "name");
    const char *const protocol = attr_of(attrs, "proto");
    const app__coll_kind_t kind = coll == NULL ? APP__COLL_COUNT : app__msccl_kind(coll);
    reader->ranks = (uint32_t)number_of(reader, attrs, "ngpus", 2, RANKS_MAX);
    app__program_file_t *const program = app__program_file_create(reader->ranks);
    reader->msccl->program = program;
    reader->msccl->chunks =
        sim_alloc_array((size_t)reader->ranks * APP__MSCCL_BUFFERS, sizeof(*reader->msccl->chunks));
    reader->msccl->gpu_line = sim_alloc_array(reader->ranks, sizeof(*reader->msccl->gpu_line));
    program->name = sim_format("%s", name == NULL ? "" : name);
    program->protocol = protocol == NULL ? NULL : sim_format("%s", protocol);
    program->kind = kind;
    program->channels = (uint32_t)number_or(reader, attrs, "nchannels", 1, 1024, 1);
    program->chunks = (uint32_t)number_of(reader, attrs, "nchunksperloop", 1, CHUNKS_MAX);
    program->in_place = number_or(reader, attrs, "inplace", 0, 1, 0) == 1;
    program->bytes_min = (uint64_t)number_or(reader, attrs, "minBytes", 0, INT64_MAX, 0);
    program->bytes_max = (uint64_t)number_or(reader, attrs, "maxBytes", 0, INT64_MAX, 0);
    if (kind == APP__COLL_COUNT) {
        fail(reader, "the collective is unknown", coll == NULL ? "" : coll,
             "allreduce, allgather, reducescatter, alltoall, broadcast or reduce");
    }
    check_algo(reader, attrs);
    reader->algo_line = XML_GetCurrentLineNumber(reader->parser);
    reader->algo_column = XML_GetCurrentColumnNumber(reader->parser) + 1;
}

static void take_gpu(reader_t *reader, const XML_Char **attrs)
{
    static const char *const names[APP__MSCCL_BUFFERS] = {"i_chunks", "o_chunks", "s_chunks"};
    app__program_file_t *const program = reader->msccl->program;
    const uint32_t rank = program->ranks;
    if (rank == reader->ranks) {
        fail(reader, "the file has one gpu too many", "gpu",
             "a file with as many gpu elements as its attribute ngpus says");
        return;
    }
    (void)number_of(reader, attrs, "id", rank, rank);
    for (uint32_t i = 0; i < APP__MSCCL_BUFFERS; i++) {
        reader->msccl->chunks[rank * APP__MSCCL_BUFFERS + i] =
            (uint32_t)number_or(reader, attrs, names[i], 0, CHUNKS_MAX, 0);
    }
    reader->msccl->gpu_line[rank] = XML_GetCurrentLineNumber(reader->parser);
    app__program_file_rank(program);
}

static uint32_t blocks_of(const app__program_file_t *program, uint32_t rank)
{
    return program->block_first[rank + 1] - program->block_first[rank];
}

static void take_block(reader_t *reader, const XML_Char **attrs)
{
    app__program_file_t *const program = reader->msccl->program;
    const uint32_t rank = program->ranks - 1;
    const int64_t number = blocks_of(program, rank);
    (void)number_of(reader, attrs, "id", number, number);
    reader->send = number_of(reader, attrs, "send", -1, reader->ranks - 1);
    reader->recv = number_of(reader, attrs, "recv", -1, reader->ranks - 1);
    const int64_t channel = number_or(reader, attrs, "chan", 0, program->channels - 1, 0);
    if (reader->send == rank || reader->recv == rank) {
        fail(reader, "the peer is the rank itself", "tb", "send and recv of other ranks, or -1");
    }
    reader->channels_used =
        channel + 1 > reader->channels_used ? (uint32_t)channel + 1 : reader->channels_used;
    app__program_file_block(program, (uint32_t)channel);
}

// Reads the buffer and the chunks that one end of a step names.
static void take_place(reader_t *reader, const XML_Char **attrs, const char *buffer_name,
                       const char *offset_name, uint32_t count, uint8_t *buffer, uint32_t *chunk)
{
    const char *const text = attr_of(attrs, buffer_name);
    const char *const place = text == NULL || text[0] == '\0' ? NULL : strchr("ios", text[0]);
    const uint32_t rank = reader->msccl->program->ranks - 1;
    if (place == NULL || text[1] != '\0') {
        fail(reader, "the buffer is unknown", text == NULL ? "" : text, "i, o or s");
        return;
    }
    *buffer = (uint8_t)(place[0] == 'i'   ? APP__BUFFER_INPUT
                        : place[0] == 'o' ? APP__BUFFER_OUTPUT
                                          : APP__BUFFER_SCRATCH);
    const uint32_t *const chunks = &reader->msccl->chunks[rank * APP__MSCCL_BUFFERS];
    uint32_t most = chunks[*buffer];
    if (reader->msccl->program->in_place && *buffer != APP__BUFFER_SCRATCH) {
        // One buffer: the larger of the two.
        most = SIM_MAX(chunks[0], chunks[1]);
    }
    *chunk = (uint32_t)number_of(reader, attrs, offset_name, 0, CHUNKS_MAX);
    if (*chunk + count > most) {
        char *const expected = sim_format("chunks below %u of buffer %s", most, text);
        fail(reader, "the step leaves the buffer", attr_of(attrs, offset_name), expected);
        sim_free(expected);
    }
}

static void take_wait(reader_t *reader, const XML_Char **attrs, app__step_t *step)
{
    const int64_t block = number_or(reader, attrs, "depid", -1, UINT16_MAX, -1);
    step->wait_block = APP__NO_BLOCK;
    if (block >= 0) {
        step->wait_block = (uint32_t)block;
        step->wait_step = (uint32_t)number_of(reader, attrs, "deps", 0, UINT16_MAX);
        reader->msccl->depends++;
    }
}

static void take_step(reader_t *reader, const XML_Char **attrs)
{
    app__msccl_t *const msccl = reader->msccl;
    app__program_file_t *const program = msccl->program;
    const char *const name = attr_of(attrs, "type");
    const app__block_t *const block = &program->blocks[program->block_count - 1];
    size_t type = 0;
    while (type < SIM_COUNT_OF(types) && (name == NULL || strcmp(name, types[type].name) != 0)) {
        type++;
    }
    if (type == SIM_COUNT_OF(types)) {
        fail(reader, "the step is unknown", name == NULL ? "" : name,
             "s, r, rcs, rrc, rrs, rrcs, cpy, re or nop");
        return;
    }
    (void)number_of(reader, attrs, "s", block->steps, block->steps);
    app__step_t step = {.what = types[type].what};
    step.count = (uint32_t)number_or(reader, attrs, "cnt", 0, CHUNKS_MAX, 1);
    if (step.what != 0) {
        take_place(reader, attrs, "srcbuf", "srcoff", step.count, &step.from_buffer,
                   &step.from_chunk);
        take_place(reader, attrs, "dstbuf", "dstoff", step.count, &step.to_buffer, &step.to_chunk);
    }
    take_wait(reader, attrs, &step);
    if (((step.what & APP__STEP_SEND) != 0 && reader->send < 0) ||
        ((step.what & APP__STEP_RECV) != 0 && reader->recv < 0)) {
        fail(reader, "the block has no peer for the step", name,
             "a peer in the block's send or "
             "recv");
    }
    step.send_peer = reader->send < 0 ? 0 : (uint32_t)reader->send;
    step.recv_peer = reader->recv < 0 ? 0 : (uint32_t)reader->recv;
    if (program->step_count == STEPS_MAX) {
        fail(reader, "there are too many steps", name, "up to 4194304");
        return;
    }
    app__program_file_step(program, &step);
    SIM_APPEND(msccl->step_line, msccl->line_count, msccl->line_capacity,
               XML_GetCurrentLineNumber(reader->parser));
    msccl->types[type]++;
    msccl->chunks_sent += (step.what & APP__STEP_SEND) != 0 ? step.count : 0;
}

static void XMLCALL begin_element(void *ctx, const XML_Char *name, const XML_Char **attrs)
{
    static const struct {
        const char *name;
        void (*take)(reader_t *reader, const XML_Char **attrs);
    } levels[] = {{"algo", take_algo}, {"gpu", take_gpu}, {"tb", take_block}, {"step", take_step}};
    reader_t *const reader = ctx;
    if (reader->error != SIM_OK) {
        return;
    }
    size_t level = 0;
    while (level < SIM_COUNT_OF(levels) && strcmp(name, levels[level].name) != 0) {
        level++;
    }
    // Like MSCCL, pass over elements that have no meaning, such as <copy> of TE-CCL.
    if (reader->skipped > 0 || (level == SIM_COUNT_OF(levels) && reader->depth > 0)) {
        reader->msccl->passed_over += reader->skipped++ == 0;
        return;
    }
    if (level != reader->depth) {
        fail(reader, "the element is wrong here", name,
             reader->depth < SIM_COUNT_OF(levels) ? levels[reader->depth].name : "none");
        return;
    }
    levels[reader->depth++].take(reader, attrs);
}

static void XMLCALL end_element(void *ctx, const XML_Char *name)
{
    reader_t *const reader = ctx;
    (void)name;
    if (reader->skipped > 0) {
        reader->skipped--;
    } else {
        reader->depth--;
    }
}

static void XMLCALL begin_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                                  const XML_Char *public, int internal)
{
    (void)system;
    (void)public;
    (void)internal;
    fail(ctx, "there is a document type", name, "none");
}

// -- the file

// Checks that blocks and steps that others wait for exist.
static sim_err_t check_waits(const app__msccl_t *msccl, sim_message_t *message)
{
    const app__program_file_t *const program = msccl->program;
    SIM_CHECK(program != NULL);
    for (uint32_t rank = 0; rank < program->ranks; rank++) {
        for (uint32_t b = 0; b < blocks_of(program, rank); b++) {
            const app__block_t *const block = &program->blocks[program->block_first[rank] + b];
            for (uint32_t s = 0; s < block->steps; s++) {
                const app__step_t *const step = &program->steps[block->step_first + s];
                if (step->wait_block == APP__NO_BLOCK ||
                    (step->wait_block < blocks_of(program, rank) &&
                     step->wait_step <
                         program->blocks[program->block_first[rank] + step->wait_block].steps)) {
                    continue;
                }
                return sim_fail_in(message, SIM_ERR_INVALID, msccl->file_name,
                                   msccl->step_line[block->step_first + s], 1,
                                   "gpu %u waits for step %u of tb %u, which it does not have, "
                                   "expected depid and deps of a step",
                                   rank, step->wait_step, step->wait_block);
            }
        }
    }
    return SIM_OK;
}

static bool msccl_recognises(const app__workload_file_t *file)
{
    for (size_t i = 0; i < file->size_bytes; i++) {
        const char c = file->text[i];
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
            return c == '<';
        }
    }
    return false;
}

static sim_err_t parse(const app__workload_file_t *file, reader_t *reader)
{
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, begin_element, end_element);
    XML_SetStartDoctypeDeclHandler(reader->parser, begin_doctype);
    if (file->size_bytes > INT32_MAX) {
        return sim_fail(reader->message, SIM_ERR_RANGE,
                        "%s: the file is too large, expected up to 2 GB", file->name);
    }
    const enum XML_Status status =
        XML_Parse(reader->parser, file->text, (int)file->size_bytes, XML_TRUE);
    if (reader->error == SIM_OK && status != XML_STATUS_OK) {
        reader->error = sim_fail_in(reader->message, SIM_ERR_INVALID, file->name,
                                    XML_GetCurrentLineNumber(reader->parser),
                                    XML_GetCurrentColumnNumber(reader->parser) + 1,
                                    "this is no XML: %s, expected an algorithm of MSCCL",
                                    XML_ErrorString(XML_GetErrorCode(reader->parser)));
    }
    return reader->error;
}

sim_err_t app__msccl_read(const app__workload_file_t *file, app__msccl_t *msccl,
                          sim_message_t *message)
{
    *msccl = (app__msccl_t){.file_name = file->name};
    reader_t reader = {.msccl = msccl, .message = message};
    reader.parser = XML_ParserCreate(NULL);
    SIM_CHECK(reader.parser != NULL);
    sim_err_t error = parse(file, &reader);
    if (error == SIM_OK && (msccl->program == NULL || msccl->program->ranks != reader.ranks)) {
        error = sim_fail_in(message, SIM_ERR_INVALID, file->name,
                            XML_GetCurrentLineNumber(reader.parser), 1,
                            "the file has fewer gpus than ngpus says, expected one for each rank");
    }
    XML_ParserFree(reader.parser);
    if (error == SIM_OK && msccl->program != NULL &&
        reader.channels_used < msccl->program->channels) {
        error =
            sim_fail_in(message, SIM_ERR_INVALID, file->name, reader.algo_line, reader.algo_column,
                        "nchannels says %u channels and thread blocks use %u of them, "
                        "expected as many as the largest chan and 1",
                        msccl->program->channels, reader.channels_used);
    }
    if (error == SIM_OK) {
        error = check_waits(msccl, message);
    }
    return error == SIM_OK ? app__msccl_verify(msccl, message) : error;
}

void app__msccl_fini(app__msccl_t *msccl)
{
    app__program_file_destroy(msccl->program);
    SIM_FREE_ALL(msccl->chunks, msccl->step_line, msccl->gpu_line);
    *msccl = (app__msccl_t){.file_name = NULL};
}

// -- the file as a workload: counted, not run

static void add_facts(const app__msccl_t *msccl, app__schedule_t *schedule)
{
    const app__program_file_t *const program = msccl->program;
    static const char *const colls[APP__COLL_COUNT] = {
        [APP__COLL_ALL_REDUCE] = "allreduce",         [APP__COLL_ALL_GATHER] = "allgather",
        [APP__COLL_REDUCE_SCATTER] = "reducescatter", [APP__COLL_ALL_TO_ALL] = "alltoall",
        [APP__COLL_BROADCAST] = "broadcast",          [APP__COLL_REDUCE] = "reduce",
    };
    app__schedule_fact_text(schedule, "coll", sim_format("%s", colls[program->kind]));
    app__schedule_fact_text(schedule, "proto",
                            sim_format("%s", program->protocol == NULL ? "" : program->protocol));
    app__schedule_fact(schedule, "ngpus", program->ranks);
    app__schedule_fact(schedule, "nchannels", program->channels);
    app__schedule_fact(schedule, "nchunksperloop", program->chunks);
    app__schedule_fact(schedule, "threadblocks", program->block_count);
    app__schedule_fact(schedule, "steps", program->step_count);
    for (size_t i = 0; i < SIM_COUNT_OF(types); i++) {
        app__schedule_fact(schedule, types[i].fact, msccl->types[i]);
    }
    app__schedule_fact(schedule, "chunks_sent", msccl->chunks_sent);
    app__schedule_fact(schedule, "depends", msccl->depends);
    app__schedule_fact(schedule, "inplace", program->in_place);
    app__schedule_fact(schedule, "min_bytes", program->bytes_min);
    app__schedule_fact(schedule, "max_bytes", program->bytes_max);
    app__schedule_note(schedule,
                       sim_format("algorithm %s: %s of %u rank%s, %u channel%s, %u chunk%s: %zu "
                                  "block%s of %zu step%s, %" PRIu64 " chunk%s sent; verified",
                                  program->name, colls[program->kind], program->ranks,
                                  sim_plural(program->ranks), program->channels,
                                  sim_plural(program->channels), program->chunks,
                                  sim_plural(program->chunks), program->block_count,
                                  sim_plural(program->block_count), program->step_count,
                                  sim_plural(program->step_count), msccl->chunks_sent,
                                  sim_plural(msccl->chunks_sent)));
}

static void note_passed_over(const app__msccl_t *msccl, app__schedule_t *schedule)
{
    if (msccl->passed_over > 0) {
        app__schedule_note(
            schedule, sim_format("%" PRIu64 " element%s passed over, as MSCCL does: it knows "
                                 "algo, gpu, tb and step",
                                 msccl->passed_over, msccl->passed_over == 1 ? " is" : "s are"));
    }
}

static sim_err_t read_msccl(const app__workload_file_t *file, app__schedule_t **created,
                            sim_message_t *message)
{
    app__msccl_t msccl;
    const sim_err_t error = app__msccl_read(file, &msccl, message);
    if (error == SIM_OK) {
        app__schedule_t *const schedule = app__schedule_create(msccl.program->ranks);
        add_facts(&msccl, schedule);
        note_passed_over(&msccl, schedule);
        app__schedule_refuse(
            schedule, sim_format("the file is an algorithm of a collective and not a workload; "
                                 "expected it as traffic.collective.algorithm-file"));
        app__schedule_finish(schedule);
        *created = schedule;
    }
    app__msccl_fini(&msccl);
    return error;
}

const app__format_t app__format_msccl = {
    .name = "msccl",
    .what = "MSCCL algorithm, XML",
    .recognises = msccl_recognises,
    .read = read_msccl,
};
