// SPDX-License-Identifier: Apache-2.0
// apps/flows/files/hpcc.c - reads flow files of HPCC's ns-3 simulator and its forks.
//
//     flows
//     source destination priority-group destination-port bytes start    HPCC
//     source destination priority-group bytes start                     ConWeave
//
// Start is in seconds, or has a unit. Seconds are read as that simulator does, into a double that
// is cut to whole nanoseconds, so that starts equal those in its results. docs/formats/peers.md
#include "apps/flow_file.h"

#include "apps/flows/files/foreign.h"
#include "apps/flows/files/reader.h"

#include <stdlib.h>
#include <string.h>

#define START_S_MAX 10000.0
// The HPCC simulator's source port of a flow is this plus the number of earlier flows of its pair.
#define SOURCE_PORT_FIRST 10000u

app_flow_format_t app_flow_file_detect(const char *text, size_t size_bytes)
{
    sim_words_t words;
    sim_word_t word;
    uint64_t count = 0;
    sim_words_init(&words, "", text, size_bytes);
    if (app__flow_is_htsim(words)) {
        return APP_FLOW_HTSIM;
    }
    if (sim_words_in_next_line(words) == 1 && sim_words_next(&words, &word) &&
        sim_word_count(&words, &word, "", 0, UINT32_MAX, &count, NULL) == SIM_OK) {
        return APP_FLOW_HPCC;
    }
    return APP_FLOW_ROWS;
}

// -- one row

// Converts seconds to picoseconds of whole nanoseconds, with the rounding of the HPCC simulator:
// the fraction is cut to 64 bits, multiplied by 10^9 and cut again.
static sim_time_t seconds_ps(double seconds)
{
    const uint64_t whole = (uint64_t)seconds;
    const uint64_t fraction = (uint64_t)((seconds - (double)whole) * 0x1p64);
    const uint64_t fraction_ns = (uint64_t)((sim_wide_t)fraction * UINT64_C(1000000000) >> 64);
    return whole * SIM_PS_PER_S + fraction_ns * SIM_PS_PER_NS;
}

static sim_err_t read_start(app__flow_reader_t *reader, sim_time_t *start_ps)
{
    sim_word_t word;
    sim_plain_t plain;
    sim_word_t rest;
    sim_err_t error = sim_words_need(&reader->words, &word, "the start of a flow", reader->message);
    if (error != SIM_OK) {
        return error;
    }
    if (sim_word_plain(&word, &plain, &rest) && rest.size_bytes == 0 && plain.text[0] != '-') {
        const double seconds = strtod(plain.text, NULL);
        *start_ps = seconds <= START_S_MAX ? seconds_ps(seconds) : SIM_TIME_NEVER;
    } else {
        error = sim_word_time(&reader->words, &word, "a start", "s", start_ps, reader->message);
    }
    if (error == SIM_OK && *start_ps > (sim_time_t)START_S_MAX * SIM_PS_PER_S) {
        error = sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_RANGE,
                              "a start later than 10000 s, expected 0 to 10000 s");
    }
    if (error == SIM_OK && *start_ps < reader->last_start_ps && !reader->noted_order) {
        reader->noted_order = true;
        sim_word_note(&reader->words, &word, reader->note, reader->ctx,
                      "flows are not in order of start: rocesim sorts them");
    }
    reader->last_start_ps = *start_ps;
    return error;
}

static sim_err_t read_source(app__flow_reader_t *reader, uint64_t number, app_flow_row_t *row)
{
    sim_word_t word;
    if (!sim_words_next(&reader->words, &word)) {
        return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                             "the file ends after %" PRIu64 " flows, expected %" PRIu64
                             " as line %u says",
                             number, reader->declared, reader->declared_line);
    }
    uint64_t source = 0;
    row->line = word.line;
    row->column = word.column;
    const sim_err_t error = sim_word_count(&reader->words, &word, "the source of a flow", 0,
                                           UINT32_MAX, &source, reader->message);
    row->source = (uint32_t)source;
    return error;
}

// Refuses a line of five words where flows have six, or the other way round. Words are read without
// regard to lines, as the HPCC simulator does, so every later number would shift by one.
static sim_err_t check_row_words(app__flow_reader_t *reader)
{
    const size_t expected = reader->has_port ? 6 : 5;
    const size_t there = sim_words_in_next_line(reader->words);
    if (there == expected || (there != 5 && there != 6)) {
        return SIM_OK;
    }
    sim_word_t word;
    (void)sim_words_next(&reader->words, &word);
    return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                         "a flow of %zu words after flows of %zu words, expected %s in all flows "
                         "or in none",
                         there, expected, "a destination port");
}

#define PORTS_FEW 1000u // ports below it are HPCC's: its examples have 100

// Takes a number; false: the word is none.
static bool take_real(sim_words_t *words, sim_word_t *word, double *number)
{
    sim_plain_t plain;
    sim_word_t rest;
    if (!sim_words_next(words, word) || !sim_word_plain(word, &plain, &rest) ||
        rest.size_bytes > 0) {
        return false;
    }
    *number = strtod(plain.text, NULL);
    return true;
}

// Returns whether rows of six words are those of ns3-rdma, which have packets where HPCC's have a
// port, and then start and stop in seconds: all rows have a fifth number that is not above the
// sixth, and one of them has no port there, or none of them one of HPCC's.
static bool is_ns3_rdma(sim_words_t words, uint64_t rows)
{
    bool large = false;
    bool all_above_few = true;
    for (uint64_t i = 0; i < rows; i++) {
        sim_word_t word;
        double values[6] = {0};
        bool point = false;
        for (size_t v = 0; v < SIM_COUNT_OF(values); v++) {
            if (!take_real(&words, &word, &values[v])) {
                return false;
            }
            point = point || (v == 4 && memchr(word.text, '.', word.size_bytes) != NULL);
        }
        if (values[4] > values[5]) {
            return false;
        }
        large = large || values[3] > UINT16_MAX || point;
        all_above_few = all_above_few && values[3] >= PORTS_FEW;
    }
    return rows > 0 && (large || all_above_few);
}

// Fails at the fourth word of the first row.
static sim_err_t fail_ns3_rdma(app__flow_reader_t *reader)
{
    sim_word_t word = {0};
    for (size_t i = 0; i < 4; i++) {
        (void)sim_words_next(&reader->words, &word);
    }
    return sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                         "a flow file of ns3-rdma (source destination group packets start stop), "
                         "expected HPCC's rows: source destination group port bytes start");
}

static sim_err_t read_row(app__flow_reader_t *reader, uint64_t number)
{
    app_flow_row_t row = {0};
    uint64_t destination = 0;
    uint64_t priority = 0;
    uint64_t port = 0;
    sim_word_t word;
    sim_err_t error = check_row_words(reader);
    if (error == SIM_OK) {
        error = read_source(reader, number, &row);
    }
    if (error == SIM_OK) {
        error = sim_words_need_count(&reader->words, "the destination of a flow", 0, UINT32_MAX,
                                     &destination, &word, reader->message);
    }
    if (error == SIM_OK) {
        row.destination_line = word.line;
        row.destination_column = word.column;
    }
    if (error == SIM_OK && destination == row.source) {
        error = sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_INVALID,
                              "a flow from host %u to itself, expected two hosts", row.source);
    }
    if (error == SIM_OK) {
        error = sim_words_need_count(&reader->words, "the priority group of a flow", 0, 7,
                                     &priority, &word, reader->message);
    }
    if (error == SIM_OK && reader->has_port) {
        error = sim_words_need_count(&reader->words, "the destination port of a flow", 0,
                                     UINT16_MAX, &port, &word, reader->message);
    }
    if (error == SIM_OK) {
        error = sim_words_need_count(&reader->words, "the bytes of a flow", 1, APP__FLOW_BYTES_MAX,
                                     &row.bytes, &word, reader->message);
    }
    if (error == SIM_OK) {
        error = read_start(reader, &row.start_ps);
    }
    if (error != SIM_OK) {
        return error;
    }
    row.destination = (uint32_t)destination;
    row.priority = (uint8_t)priority;
    row.destination_port = (uint16_t)port;
    SIM_APPEND(reader->file->rows, reader->file->count, reader->file->capacity, row);
    return SIM_OK;
}

// -- the rest

static uint64_t *find_pair(uint64_t *table, size_t mask, const app_flow_row_t *row)
{
    const uint64_t key = ((uint64_t)row->source << 32 | row->destination) + 1;
    size_t at = (size_t)sim_mix64(key) & mask;
    while (table[2 * at] != 0 && table[2 * at] != key) {
        at = (at + 1) & mask;
    }
    table[2 * at] = key;
    return &table[2 * at + 1];
}

// Counts, for each row, the earlier rows of its pair.
static void count_repeats(app_flow_file_t *file)
{
    size_t size = 64;
    while (size < 2 * file->count) {
        size *= 2;
    }
    uint64_t *const table = sim_alloc_array(2 * size, sizeof(*table));
    for (size_t i = 0; i < file->count; i++) {
        uint64_t *const seen = find_pair(table, size - 1, &file->rows[i]);
        file->rows[i].repeat = (uint32_t)(*seen)++;
    }
    sim_free(table);
}

static sim_err_t read_hpcc(app__flow_reader_t *reader)
{
    sim_word_t word;
    sim_err_t error = sim_words_need_count(&reader->words, "the number of flows", 0, UINT32_MAX,
                                           &reader->declared, &word, reader->message);
    reader->declared_line = word.line;
    reader->has_port = sim_words_in_next_line(reader->words) != 5;
    if (error == SIM_OK && reader->has_port && is_ns3_rdma(reader->words, reader->declared)) {
        return fail_ns3_rdma(reader);
    }
    for (uint64_t i = 0; i < reader->declared && error == SIM_OK; i++) {
        error = read_row(reader, i);
    }
    if (error == SIM_OK && sim_words_next(&reader->words, &word)) {
        uint64_t ignored = 0;
        if (sim_word_count(&reader->words, &word, "", 0, UINT32_MAX, &ignored, NULL) == SIM_OK) {
            sim_word_note(&reader->words, &word, reader->note, reader->ctx,
                          "more follows the %" PRIu64
                          " flows that line %u declares: rocesim ignores it",
                          reader->declared, reader->declared_line);
        }
    }
    return error;
}

sim_err_t app_flow_file_parse(app_flow_format_t format, const char *name, const char *text,
                              size_t size_bytes, app_note_fn note, void *ctx, app_flow_file_t *file,
                              sim_message_t *message)
{
    SIM_CHECK(format == APP_FLOW_HPCC || format == APP_FLOW_HTSIM);
    *file = (app_flow_file_t){0};
    const char *const foreign = app__flow_foreign(text, size_bytes);
    if (foreign != NULL) {
        return sim_fail_in(message, SIM_ERR_INVALID, name, 1, 1, APP__FLOW_FOREIGN_FORMAT, foreign);
    }
    app__flow_reader_t reader = {.file = file, .note = note, .ctx = ctx, .message = message};
    sim_words_init(&reader.words, name, text, size_bytes);
    const sim_err_t error =
        format == APP_FLOW_HTSIM ? app__flow_read_htsim(&reader) : read_hpcc(&reader);
    sim_free(reader.references);
    if (error == SIM_OK) {
        count_repeats(file);
        for (size_t i = 0; i < file->count && format == APP_FLOW_HPCC; i++) {
            file->rows[i].source_port = (uint16_t)(SOURCE_PORT_FIRST + file->rows[i].repeat);
        }
    }
    return error;
}

void app_flow_file_fini(app_flow_file_t *file)
{
    sim_free(file->rows);
    sim_free(file->triggers);
    *file = (app_flow_file_t){0};
}
