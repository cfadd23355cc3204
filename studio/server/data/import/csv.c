// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/csv.c - imports CSV files and logs as tables.
//
// schema.json describes the columns of rocesim's own files; this file knows which of them are
// names. A column of another file is numeric if its first rows contain only numbers.
#include "studio/server/data/import/import.h"

#include "studio/server/data/import/table.h"

#include "kernel/utf8.h"
#include "results/csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BYTES_MAX ((size_t)1 << 20)
#define CHUNK_BYTES ((size_t)1 << 20)
#define SAMPLE_ROWS 200u
#define TEXT_BYTES_MAX (UINT64_C(1) << 28) // size of a table's dictionaries, which are in memory
#define LOG_LINES_MAX UINT64_C(5000000)
#define LINE_BYTES_MAX 4096u

// -- lines

typedef struct lines {
    FILE *stream;
    const char *path;
    char *bytes; // ROW_BYTES_MAX + CHUNK_BYTES bytes
    size_t from;
    size_t to;
    bool end;
    uint64_t line;
    studio_progress_t *progress;
} lines_t;

static sim_err_t lines_open(lines_t *lines, const char *path, studio_progress_t *progress,
                            sim_message_t *message)
{
    *lines = (lines_t){.path = path, .progress = progress, .stream = fopen(path, "rbe")};
    if (lines->stream == NULL) {
        return sim_fail(message, SIM_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    }
    lines->bytes = sim_alloc(ROW_BYTES_MAX + CHUNK_BYTES + 1);
    return SIM_OK;
}

static void lines_close(lines_t *lines)
{
    if (lines->stream != NULL) {
        (void)fclose(lines->stream);
    }
    sim_free(lines->bytes);
}

static sim_err_t read_more(lines_t *lines, sim_message_t *message)
{
    memmove(lines->bytes, lines->bytes + lines->from, lines->to - lines->from);
    lines->to -= lines->from;
    lines->from = 0;
    if (lines->to > ROW_BYTES_MAX) {
        return sim_fail(message, SIM_ERR_INVALID, "%s:%" PRIu64 ": the row has more than 1 MiB",
                        lines->path, lines->line + 1);
    }
    const size_t count = fread(lines->bytes + lines->to, 1, CHUNK_BYTES, lines->stream);
    if (count == 0 && ferror(lines->stream) != 0) {
        return sim_fail(message, SIM_ERR_IO, "%s: cannot be read: %s", lines->path,
                        strerror(errno));
    }
    lines->to += count;
    lines->end = count == 0;
    atomic_fetch_add(&lines->progress->bytes_done, count);
    if (atomic_load(&lines->progress->stop)) {
        return sim_fail(message, SIM_ERR_STATE, "the import was stopped");
    }
    return SIM_OK;
}

// Returns the next line without its end; *line is NULL at the end of the file.
static sim_err_t next_line(lines_t *lines, char **line, size_t *size, sim_message_t *message)
{
    size_t searched = 0;
    for (;;) {
        SIM_CHECK(lines->from <= lines->to && lines->to <= ROW_BYTES_MAX + CHUNK_BYTES);
        SIM_CHECK(lines->bytes != NULL);
        char *const from = lines->bytes + lines->from;
        const size_t have = lines->to - lines->from;
        char *const end = memchr(from + searched, '\n', have - searched);
        if (end != NULL || lines->end) {
            *line = end == NULL && have == 0 ? NULL : from;
            *size = end != NULL ? (size_t)(end - from) : have;
            lines->from += end != NULL ? *size + 1 : have;
            lines->line++;
            *size -= *size > 0 && from[*size - 1] == '\r';
            return SIM_OK;
        }
        searched = have;
        const sim_err_t error = read_more(lines, message);
        if (error != SIM_OK) {
            return error;
        }
    }
}

// -- rows

static bool is_number(const results_csv_cell_t *field, int64_t *mantissa, unsigned *decimals,
                      double *real)
{
    if (studio_decimal(field->text, field->size, mantissa, decimals)) {
        *real = (double)NAN;
        return true;
    }
    if (field->size == 0 || field->size > 40) {
        return false;
    }
    char text[48];
    memcpy(text, field->text, field->size);
    text[field->size] = '\0';
    if (strspn(text, "0123456789+-.eE") != field->size) {
        return false;
    }
    char *end = NULL;
    *real = strtod(text, &end);
    return *end == '\0' && isfinite(*real);
}

// Returns whether a column of rocesim's tables holds names, which may look like numbers or be empty
// in many rows.
static bool is_known_text(const char *column)
{
    static const char *const names[] = {"src",    "dst",  "app",  "status", "event", "port",
                                        "reason", "path", "name", "folder", "run"};
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        if (strcmp(names[i], column) == 0) {
            return true;
        }
    }
    return false;
}

typedef struct csv {
    lines_t lines;
    results_csv_cell_t *fields;
    studio_column_spec_t *columns;
    size_t column_count;
    studio_table_writer_t *writer;
} csv_t;

static sim_err_t fail_at(const csv_t *csv, sim_message_t *message, const char *what)
{
    return sim_fail(message, SIM_ERR_INVALID, "%s:%" PRIu64 ": %s", csv->lines.path,
                    csv->lines.line, what);
}

static const char *schema_text(const json_t *schema, const char *column, const char *key)
{
    const json_t *const columns = json_object_get(schema, "columns");
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *const row = json_array_get(columns, i);
        const char *const name = json_string_value(json_object_get(row, "name"));
        if (name != NULL && strcmp(name, column) == 0) {
            return json_string_value(json_object_get(row, key));
        }
    }
    return NULL;
}

// Guesses the unit from the end of a column's name; for columns that schema.json does not describe.
static const char *unit_by_name(const char *name)
{
    static const char *const ends[][2] = {
        {"_ns", "ns"},     {"_ps", "ps"},     {"_us", "us"},         {"bytes", "bytes"},
        {"_bps", "bit/s"}, {"_gbps", "Gbps"}, {"packets", "packets"}};
    const size_t size = strlen(name);
    for (size_t i = 0; i < SIM_COUNT_OF(ends); i++) {
        const size_t end = strlen(ends[i][0]);
        if (size >= end && strcmp(name + size - end, ends[i][0]) == 0) {
            return ends[i][1];
        }
    }
    return "";
}

static sim_err_t take_header(csv_t *csv, const json_t *schema, sim_message_t *message)
{
    char *line = NULL;
    size_t size = 0;
    const sim_err_t error = next_line(&csv->lines, &line, &size, message);
    if (error != SIM_OK) {
        return error;
    }
    if (line == NULL) {
        return fail_at(csv, message, "it is empty, expected a header row");
    }
    csv->fields = sim_alloc_array(STUDIO_COLUMNS_MAX, sizeof(*csv->fields));
    csv->column_count = results_csv_split(line, size, csv->fields, STUDIO_COLUMNS_MAX);
    if (csv->column_count > STUDIO_COLUMNS_MAX) {
        csv->column_count = 0;
        return fail_at(csv, message, "more than 1024 columns, or quotes that do not end");
    }
    csv->columns = sim_alloc_array(csv->column_count, sizeof(*csv->columns));
    for (size_t i = 0; i < csv->column_count; i++) {
        studio_column_spec_t *const column = &csv->columns[i];
        column->name = sim_format("%.*s", (int)csv->fields[i].size, csv->fields[i].text);
        const char *const unit = schema_text(schema, column->name, "unit");
        const char *const help = schema_text(schema, column->name, "help");
        column->unit = sim_strdup(unit != NULL ? unit : unit_by_name(column->name));
        column->help = sim_strdup(help != NULL ? help : "");
        column->type = is_known_text(column->name) ? STUDIO_TEXT : STUDIO_NUMBER;
        if (column->name[0] == '\0') {
            return fail_at(csv, message, "a column without a name");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(csv->columns[j].name, column->name) == 0) {
                return fail_at(csv, message, "two columns of one name");
            }
        }
    }
    return SIM_OK;
}

// Decides the types of unknown columns by the first rows, which are in the buffer.
static sim_err_t guess_types(csv_t *csv, sim_message_t *message)
{
    sim_err_t error = SIM_OK;
    if (!csv->lines.end && csv->lines.to - csv->lines.from < CHUNK_BYTES / 2) {
        error = read_more(&csv->lines, message);
    }
    const size_t size = csv->lines.to - csv->lines.from;
    char *const copy = sim_alloc(size + 1);
    memcpy(copy, csv->lines.bytes + csv->lines.from, size);
    char *at = copy;
    for (unsigned row = 0; row < SAMPLE_ROWS && error == SIM_OK; row++) {
        char *const end = memchr(at, '\n', (size_t)(copy + size - at));
        if (end == NULL) {
            break;
        }
        const size_t count =
            results_csv_split(at, (size_t)(end - at), csv->fields, STUDIO_COLUMNS_MAX);
        for (size_t i = 0; count == csv->column_count && i < count; i++) {
            int64_t mantissa = 0;
            unsigned decimals = 0;
            double real = 0;
            if (csv->fields[i].size > 0 &&
                !is_number(&csv->fields[i], &mantissa, &decimals, &real)) {
                csv->columns[i].type = STUDIO_TEXT;
            }
        }
        at = end + 1;
    }
    sim_free(copy);
    return error;
}

static sim_err_t take_row(csv_t *csv, char *line, size_t size, sim_message_t *message)
{
    const size_t count = results_csv_split(line, size, csv->fields, csv->column_count);
    if (count != csv->column_count) {
        return fail_at(csv, message, "not as many cells as the header row has (a row cut off?)");
    }
    for (size_t i = 0; i < count; i++) {
        const results_csv_cell_t *const field = &csv->fields[i];
        int64_t mantissa = 0;
        unsigned decimals = 0;
        double real = 0;
        if (field->size == 0) {
            continue;
        }
        if (csv->columns[i].type == STUDIO_TEXT) {
            studio_table_put_text(csv->writer, i, field->text, field->size);
        } else if (!is_number(field, &mantissa, &decimals, &real)) {
            return sim_fail(message, SIM_ERR_INVALID,
                            "%s:%" PRIu64 ": '%.*s' is no number, as column %s has",
                            csv->lines.path, csv->lines.line, (int)SIM_MIN(field->size, 40),
                            field->text, csv->columns[i].name);
        } else if (isnan(real)) {
            studio_table_put_decimal(csv->writer, i, mantissa, decimals);
        } else {
            studio_table_put_real(csv->writer, i, real);
        }
    }
    return studio_table_end_row(csv->writer, message);
}

static sim_err_t take_rows(csv_t *csv, uint64_t *rows, sim_message_t *message)
{
    for (*rows = 0;;) {
        char *line = NULL;
        size_t size = 0;
        sim_err_t error = next_line(&csv->lines, &line, &size, message);
        if (error != SIM_OK || line == NULL) {
            return error;
        }
        error = take_row(csv, line, size, message);
        if (error != SIM_OK) {
            return error;
        }
        if (++*rows % 4096 == 0) {
            atomic_fetch_add(&csv->lines.progress->rows, 4096);
            if (studio_table_writer_text_bytes(csv->writer) > TEXT_BYTES_MAX) {
                return fail_at(csv, message, "more than 256 MiB of different texts");
            }
        }
    }
}

sim_err_t studio_import_csv(const char *path, const char *table_path, const char *name,
                            const json_t *schema, studio_progress_t *progress, uint64_t *rows,
                            sim_message_t *message)
{
    csv_t csv = {.writer = NULL};
    sim_err_t error = lines_open(&csv.lines, path, progress, message);
    if (error == SIM_OK) {
        error = take_header(&csv, schema, message);
    }
    if (error == SIM_OK) {
        error = guess_types(&csv, message);
    }
    if (error == SIM_OK) {
        const char *const help = json_string_value(json_object_get(schema, "help"));
        error = studio_table_writer_open(table_path, name, help != NULL ? help : "", csv.columns,
                                         csv.column_count, &csv.writer, message);
    }
    if (error == SIM_OK) {
        error = take_rows(&csv, rows, message);
    }
    if (error == SIM_OK) {
        error = studio_table_writer_close(csv.writer, message);
    } else {
        studio_table_writer_abandon(csv.writer);
    }
    for (size_t i = 0; csv.columns != NULL && i < csv.column_count; i++) {
        SIM_FREE_ALL(csv.columns[i].name, csv.columns[i].unit, csv.columns[i].help);
    }
    sim_free(csv.columns);
    sim_free(csv.fields);
    lines_close(&csv.lines);
    return error;
}

// -- the log

// Replaces bytes that are no UTF-8 or no printable character by '?'.
static size_t plain_text(char *text, size_t size)
{
    size_t to = 0;
    for (size_t i = 0; i < size && to < LINE_BYTES_MAX;) {
        const unsigned char *const at = (const unsigned char *)text + i;
        const size_t bytes = *at >= 0x20 || *at == '\t' ? sim_utf8_bytes(at, size - i) : 0;
        if (bytes > 0) {
            memmove(text + to, text + i, bytes);
            to += bytes;
            i += bytes;
        } else {
            text[to++] = '?';
            i++;
        }
    }
    return to;
}

sim_err_t studio_import_log(const char *path, const char *table_path, studio_progress_t *progress,
                            uint64_t *rows, sim_message_t *message)
{
    char line_name[] = "line";
    char text_name[] = "text";
    char none[] = "";
    const studio_column_spec_t columns[] = {{line_name, none, none, STUDIO_NUMBER},
                                            {text_name, none, none, STUDIO_TEXT}};
    lines_t lines;
    studio_table_writer_t *writer = NULL;
    sim_err_t error = lines_open(&lines, path, progress, message);
    if (error == SIM_OK) {
        error =
            studio_table_writer_open(table_path, "log", "What the program wrote on the terminal.",
                                     columns, SIM_COUNT_OF(columns), &writer, message);
    }
    // A long log is cut at its end; the file still has all of it.
    for (*rows = 0; error == SIM_OK && *rows < LOG_LINES_MAX &&
                    studio_table_writer_text_bytes(writer) < TEXT_BYTES_MAX;) {
        char *line = NULL;
        size_t size = 0;
        error = next_line(&lines, &line, &size, message);
        if (error != SIM_OK || line == NULL) {
            break;
        }
        const uint64_t number = ++*rows;
        studio_table_put_decimal(writer, 0, (int64_t)number, 0);
        studio_table_put_text(writer, 1, line, plain_text(line, size));
        error = studio_table_end_row(writer, message);
    }
    if (error == SIM_OK) {
        error = studio_table_writer_close(writer, message);
    } else {
        studio_table_writer_abandon(writer);
    }
    lines_close(&lines);
    return error;
}
