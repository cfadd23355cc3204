// SPDX-License-Identifier: Apache-2.0
// apps/flows/files/htsim.c - reads htsim's connection matrices (.cm).
//
//     Nodes 16
//     Connections 2
//     0->1 id 1 start 0 size 1000000
//     3->2 start 2000000 size 64000 prio 1
//     3->2 id 2 msg start 2000000 size 64000
//
// Start is in picoseconds; # begins a comment. triggers.c reads triggers. Link failures are
// refused: they belong in the scenario. docs/formats/peers.md
#include "apps/flows/files/reader.h"

#include <string.h>

#define START_PS_MAX (10000 * SIM_PS_PER_S)
#define NODES_MAX (UINT64_C(1) << 24)

typedef enum section {
    SECTION_NODES,
    SECTION_CONNECTIONS,
    SECTION_TRIGGERS,
    SECTION_FAILURES
} section_t;
#define SECTION_COUNT 4
static const char *const sections[SECTION_COUNT] = {"Nodes", "Connections", "Triggers", "Failures"};

typedef struct matrix {
    uint64_t declared[SECTION_COUNT];
    bool given[SECTION_COUNT];
    sim_word_t word[SECTION_COUNT]; // the declared number, for error messages
    bool noted_priority;
    bool noted_endless;
    bool noted_message;
} matrix_t;

bool app__flow_is_htsim(sim_words_t words)
{
    sim_word_t word;
    do {
        if (sim_words_next_in_line(&words, &word) && word.text[0] != '#') {
            for (int i = 0; i < SECTION_COUNT; i++) {
                if (sim_word_is(&word, sections[i])) {
                    return true;
                }
            }
            return false;
        }
    } while (sim_words_next_line(&words));
    return false;
}

static sim_err_t need_value(app__flow_reader_t *reader, const char *key, uint64_t min, uint64_t max,
                            uint64_t *value, sim_word_t *word)
{
    if (!sim_words_next_in_line(&reader->words, word)) {
        return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_INVALID,
                             "%s is not followed by a value, expected a number", key);
    }
    return sim_word_count(&reader->words, word, key, min, max, value, reader->message);
}

// Reads the ends of a connection: "3->12".
static sim_err_t take_ends(app__flow_reader_t *reader, const matrix_t *matrix,
                           const sim_word_t *word, app_flow_row_t *row)
{
    const char *arrow = word->text;
    const char *const end = word->text + word->size_bytes;
    while (arrow + 1 < end && (arrow[0] != '-' || arrow[1] != '>')) {
        arrow++;
    }
    const size_t left = (size_t)(arrow - word->text);
    const sim_word_t from = {word->text, left, word->line, word->column};
    const sim_word_t to = {arrow + 2, word->size_bytes - left - 2, word->line,
                           word->column + (uint32_t)left + 2};
    const uint64_t nodes = matrix->declared[SECTION_NODES];
    if (nodes == 0) {
        return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_INVALID,
                             "a connection before 'Nodes', expected a line 'Nodes COUNT' first");
    }
    uint64_t source = 0;
    uint64_t destination = 0;
    sim_err_t error = sim_word_count(&reader->words, &from, "the source of a connection", 0,
                                     nodes - 1, &source, reader->message);
    if (error == SIM_OK) {
        error = sim_word_count(&reader->words, &to, "the destination of a connection", 0, nodes - 1,
                               &destination, reader->message);
    }
    if (error == SIM_OK && source == destination) {
        error = sim_word_fail(&reader->words, &to, reader->message, SIM_ERR_INVALID,
                              "a connection from node %" PRIu64 " to itself, expected two nodes",
                              source);
    }
    row->source = (uint32_t)source;
    row->destination = (uint32_t)destination;
    row->destination_line = to.line;
    row->destination_column = to.column;
    return error;
}

// Reads a start in picoseconds; some generators write it with decimals.
static sim_err_t take_start(app__flow_reader_t *reader, app_flow_row_t *row)
{
    sim_word_t word;
    if (!sim_words_next_in_line(&reader->words, &word)) {
        return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                             "start is not followed by a value, expected picoseconds");
    }
    sim_err_t error =
        sim_word_time(&reader->words, &word, "a start", "ps", &row->start_ps, reader->message);
    if (error == SIM_OK && row->start_ps > START_PS_MAX) {
        error = sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_RANGE,
                              "a start later than 10000 s, expected at most 10000 s in "
                              "picoseconds");
    }
    return error;
}

// Notes the first connection of size 0, which htsim never ends.
static void note_endless(app__flow_reader_t *reader, matrix_t *matrix, const sim_word_t *word)
{
    if (!matrix->noted_endless) {
        matrix->noted_endless = true;
        sim_word_note(&reader->words, word, reader->note, reader->ctx,
                      "size 0 is a flow without end: it sends until the end of the run (until)");
    }
}

// Reads msg of UEC's htsim, perhaps with the number of the message: there, messages of the same id
// share a connection. Here, each message is a flow of its own.
static sim_err_t take_message(app__flow_reader_t *reader, matrix_t *matrix, const sim_word_t *key)
{
    sim_words_t ahead = reader->words;
    sim_word_t word;
    uint64_t number = 0;
    if (!matrix->noted_message) {
        matrix->noted_message = true;
        sim_word_note(&reader->words, key, reader->note, reader->ctx,
                      "messages (msg) of one id share a connection in htsim; here each is a flow");
    }
    const bool numbered =
        sim_words_next_in_line(&ahead, &word) &&
        sim_word_count(&ahead, &word, "", 0, UINT64_MAX / 4, &number, NULL) == SIM_OK;
    if (numbered) {
        reader->words = ahead;
    }
    return numbered && number == 0
               ? sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_RANGE,
                               "'0' is not the number of a message, expected a number above 0")
               : SIM_OK;
}

static sim_err_t take_attribute(app__flow_reader_t *reader, matrix_t *matrix, const sim_word_t *key,
                                app_flow_row_t *row)
{
    uint64_t ignored = 0;
    sim_word_t word;
    if (sim_word_is(key, "start")) {
        return take_start(reader, row);
    }
    if (sim_word_is(key, "size")) {
        const sim_err_t error =
            need_value(reader, "size", 0, APP__FLOW_BYTES_MAX, &row->bytes, &word);
        if (error == SIM_OK && row->bytes == 0) {
            note_endless(reader, matrix, &word);
            row->bytes = APP__FLOW_BYTES_MAX;
        }
        return error;
    }
    if (sim_word_is(key, "id")) {
        return need_value(reader, "id", 1, UINT64_MAX / 4, &ignored, &word);
    }
    if (sim_word_is(key, "msg")) {
        return take_message(reader, matrix, key);
    }
    if (sim_word_is(key, "prio")) {
        if (!matrix->noted_priority) {
            matrix->noted_priority = true;
            sim_word_note(&reader->words, key, reader->note, reader->ctx,
                          "prio is ignored: all flows use the class of their NIC");
        }
        return need_value(reader, "prio", 0, UINT64_MAX / 4, &ignored, &word);
    }
    static const char *const triggers[] = {
        [APP__STARTED_BY] = "trigger",
        [APP__SENT] = "send_done_trigger",
        [APP__RECEIVED] = "recv_done_trigger",
    };
    for (size_t i = 0; i < SIM_COUNT_OF(triggers); i++) {
        if (sim_word_is(key, triggers[i])) {
            row->chain.started_by = i == APP__STARTED_BY ? 1 : row->chain.started_by; // so far
            return app__trigger_refer(reader, (app__trigger_use_t)i);
        }
    }
    sim_word_shown_t shown;
    return sim_word_fail(&reader->words, key, reader->message, SIM_ERR_UNKNOWN,
                         "unknown word '%s', expected start, size, id, msg, prio, trigger, "
                         "send_done_trigger or recv_done_trigger",
                         sim_word_show(key, &shown));
}

static sim_err_t take_connection(app__flow_reader_t *reader, matrix_t *matrix,
                                 const sim_word_t *ends)
{
    app_flow_row_t row = {
        .start_ps = SIM_TIME_NEVER,
        .line = ends->line,
        .column = ends->column,
        .priority = APP_FLOW_AS_THE_NIC,
    };
    sim_word_t word;
    sim_err_t error = take_ends(reader, matrix, ends, &row);
    while (error == SIM_OK && sim_words_next_in_line(&reader->words, &word)) {
        error = take_attribute(reader, matrix, &word, &row);
    }
    const bool waits = row.chain.started_by != 0;
    if (error == SIM_OK && waits == (row.start_ps != SIM_TIME_NEVER)) {
        error = sim_word_fail(&reader->words, ends, reader->message, SIM_ERR_INVALID,
                              "a connection with%s, expected 'A->B start PICOSECONDS size BYTES' "
                              "or 'A->B trigger ID size BYTES'",
                              waits ? " start and trigger" : "out start and trigger");
    }
    if (error == SIM_OK && row.bytes == 0) {
        error = sim_word_fail(&reader->words, ends, reader->message, SIM_ERR_INVALID,
                              "a connection without size, expected 'A->B start PICOSECONDS size "
                              "BYTES'");
    }
    if (error == SIM_OK) {
        SIM_APPEND(reader->file->rows, reader->file->count, reader->file->capacity, row);
    }
    return error;
}

static bool has_arrow(const sim_word_t *word)
{
    for (size_t i = 0; i + 1 < word->size_bytes; i++) {
        if (word->text[i] == '-' && word->text[i + 1] == '>') {
            return true;
        }
    }
    return false;
}

static sim_err_t read_line(app__flow_reader_t *reader, matrix_t *matrix)
{
    sim_word_t word;
    sim_word_shown_t shown;
    if (!sim_words_next_in_line(&reader->words, &word) || word.text[0] == '#') {
        return SIM_OK;
    }
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (sim_word_is(&word, sections[i])) {
            matrix->given[i] = true;
            return need_value(reader, sections[i], 0, i == SECTION_NODES ? NODES_MAX : UINT32_MAX,
                              &matrix->declared[i], &matrix->word[i]);
        }
    }
    if (has_arrow(&word)) {
        return take_connection(reader, matrix, &word);
    }
    if (sim_word_is(&word, "trigger")) {
        return app__trigger_read(reader, &word);
    }
    if (sim_word_is(&word, "failure")) {
        return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_UNKNOWN,
                             "failures are not read from this file, expected them in the scenario: "
                             "links: {agg0--core1: {down: {at: 0s}}}");
    }
    return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_UNKNOWN,
                         "unknown word '%s', expected Nodes, Connections or a connection such as "
                         "0->1 start 0 size 1000",
                         sim_word_show(&word, &shown));
}

sim_err_t app__flow_read_htsim(app__flow_reader_t *reader)
{
    matrix_t matrix = {0};
    sim_err_t error = SIM_OK;
    do {
        error = read_line(reader, &matrix);
    } while (error == SIM_OK && sim_words_next_line(&reader->words));
    if (error != SIM_OK) {
        return error;
    }
    const size_t listed[] = {
        [SECTION_CONNECTIONS] = reader->file->count,
        [SECTION_TRIGGERS] = reader->file->trigger_count,
    };
    static const char *const what[] = {
        [SECTION_CONNECTIONS] = "connections",
        [SECTION_TRIGGERS] = "triggers",
    };
    for (int i = SECTION_CONNECTIONS; i <= SECTION_TRIGGERS; i++) {
        if (matrix.given[i] && matrix.declared[i] != listed[i]) {
            return sim_word_fail(&reader->words, &matrix.word[i], reader->message, SIM_ERR_INVALID,
                                 "%" PRIu64
                                 " %s are declared and %zu are listed, expected the same "
                                 "number: the file is cut, or its head is wrong (htsim refuses "
                                 "it, too), and 'Connections %zu' with 'Triggers %zu' mends it",
                                 matrix.declared[i], what[i], listed[i],
                                 listed[SECTION_CONNECTIONS], listed[SECTION_TRIGGERS]);
        }
    }
    reader->file->nodes = matrix.declared[SECTION_NODES];
    reader->file->nodes_line = matrix.word[SECTION_NODES].line;
    reader->file->nodes_column = matrix.word[SECTION_NODES].column;
    return app__trigger_resolve(reader);
}
