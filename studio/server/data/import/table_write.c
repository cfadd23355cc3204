// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/table_write.c - writes a table file.
#include "studio/server/data/import/table.h"
#include "studio/server/data/import/table_internal.h"

#include "kernel/bytes.h"
#include "kernel/map.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The values of one column in the block that is being filled.
typedef struct pending {
    int64_t *mantissas; // of a text column: numbers in the dictionary
    double *reals;      // for values that are no decimals; NULL: the block has none
    uint8_t *decimals;  // number of decimals, or MISSING, or REAL
    bool touched;       // has a value in the current row
} pending_t;

enum { MISSING = 0xff, REAL = 0xfe };

// Texts in order of appearance.
typedef struct dictionary {
    char *bytes;
    uint64_t size;
    uint64_t capacity;
    uint64_t *ends;
    size_t count;
    size_t ends_capacity;
    sim_map_t map; // from the hash of a text to its number
    uint32_t last; // number of the last text: neighbours are often equal
} dictionary_t;

struct studio_table_writer {
    FILE *stream;
    char *path;
    char *name;
    char *help;
    studio_column_spec_t *columns;
    pending_t *pending;
    dictionary_t *dictionaries;
    json_t **blocks; // by column: an array of arrays
    size_t column_count;
    size_t filled;
    uint64_t row_count;
    uint64_t offset;
    uint8_t *buffer; // encodes one block
    uint64_t text_bytes;
};

const char *studio_type_name(studio_type_t type)
{
    return type == STUDIO_TEXT ? "text" : type == STUDIO_BOOL ? "bool" : "number";
}

int64_t studio_power_of_ten(unsigned exponent)
{
    SIM_CHECK(exponent <= 18);
    int64_t power = 1;
    for (unsigned i = 0; i < exponent; i++) {
        power *= 10;
    }
    return power;
}

// Reads digits from text[*at] on into *value, which overflows for more than 18 of them.
static size_t read_digits(const char *text, size_t size, size_t *at, uint64_t *value)
{
    const size_t from = *at;
    for (unsigned digit; *at < size && (digit = (unsigned)(text[*at] - '0')) <= 9; (*at)++) {
        *value = 10 * *value + digit;
    }
    return *at - from;
}

bool studio_decimal(const char *text, size_t size, int64_t *mantissa, unsigned *decimals)
{
    const bool minus = size > 0 && text[0] == '-';
    size_t i = minus ? 1 : 0;
    uint64_t value = 0;
    size_t digits = read_digits(text, size, &i, &value);
    size_t after = 0;
    if (i < size && text[i] == '.') {
        i++;
        after = read_digits(text, size, &i, &value);
        digits += after;
    }
    if (i < size || digits == 0 || digits > 18) {
        return false;
    }
    // Removes zeros at the end of the decimals.
    for (; after > 0 && text[i - 1] == '0'; i--) {
        value /= 10;
        after--;
    }
    if (after > STUDIO_DECIMALS_MAX) {
        return false;
    }
    *mantissa = minus ? -(int64_t)value : (int64_t)value;
    *decimals = (unsigned)after;
    return true;
}

sim_err_t studio_table_writer_open(const char *path, const char *name, const char *help,
                                   const studio_column_spec_t *columns, size_t column_count,
                                   studio_table_writer_t **result, sim_message_t *message)
{
    *result = NULL;
    SIM_CHECK(column_count > 0 && column_count <= STUDIO_COLUMNS_MAX);
    FILE *const stream = fopen(path, "wbe");
    if (stream == NULL) {
        return sim_fail(message, SIM_ERR_IO, "%s cannot be created: %s", path, strerror(errno));
    }
    studio_table_writer_t *const writer = sim_alloc(sizeof(*writer));
    writer->stream = stream;
    writer->path = sim_strdup(path);
    writer->name = sim_strdup(name);
    writer->help = sim_strdup(help);
    writer->column_count = column_count;
    writer->columns = sim_alloc_array(column_count, sizeof(*writer->columns));
    writer->pending = sim_alloc_array(column_count, sizeof(*writer->pending));
    writer->dictionaries = sim_alloc_array(column_count, sizeof(*writer->dictionaries));
    writer->blocks = sim_alloc_array(column_count, sizeof(json_t *));
    writer->buffer = sim_alloc_array(STUDIO_BLOCK_ROWS, 8);
    for (size_t i = 0; i < column_count; i++) {
        writer->columns[i] =
            (studio_column_spec_t){sim_strdup(columns[i].name), sim_strdup(columns[i].unit),
                                   sim_strdup(columns[i].help), columns[i].type};
        writer->pending[i].mantissas = sim_alloc_array(STUDIO_BLOCK_ROWS, sizeof(int64_t));
        writer->pending[i].decimals = sim_alloc_array(STUDIO_BLOCK_ROWS, 1);
        writer->blocks[i] = json_array();
    }
    fwrite(STUDIO_TABLE_MAGIC, 1, STUDIO_TABLE_MAGIC_BYTES, stream);
    writer->offset = STUDIO_TABLE_MAGIC_BYTES;
    *result = writer;
    return SIM_OK;
}

void studio_table_put_decimal(studio_table_writer_t *writer, size_t column, int64_t mantissa,
                              unsigned decimals)
{
    SIM_CHECK(decimals <= STUDIO_DECIMALS_MAX && column < writer->column_count);
    pending_t *const pending = &writer->pending[column];
    pending->mantissas[writer->filled] = mantissa;
    pending->decimals[writer->filled] = (uint8_t)decimals;
    pending->touched = true;
}

void studio_table_put_real(studio_table_writer_t *writer, size_t column, double value)
{
    pending_t *const pending = &writer->pending[column];
    if (isnan(value)) {
        return;
    }
    if (pending->reals == NULL) {
        pending->reals = sim_alloc_array(STUDIO_BLOCK_ROWS, sizeof(double));
    }
    pending->reals[writer->filled] = value;
    pending->decimals[writer->filled] = REAL;
    pending->touched = true;
}

// -- dictionaries

static const char *dictionary_text(const dictionary_t *dictionary, size_t index, size_t *size)
{
    const uint64_t from = index > 0 ? dictionary->ends[index - 1] : 0;
    *size = (size_t)(dictionary->ends[index] - from - 1);
    return dictionary->bytes + from;
}

static bool dictionary_is(const dictionary_t *dictionary, size_t index, const char *bytes,
                          size_t size)
{
    size_t have = 0;
    const char *const text = dictionary_text(dictionary, index, &have);
    return have == size && memcmp(text, bytes, size) == 0;
}

static uint32_t dictionary_put(dictionary_t *dictionary, const char *bytes, size_t size)
{
    if (dictionary->count > 0 && dictionary_is(dictionary, dictionary->last, bytes, size)) {
        return dictionary->last;
    }
    const uint64_t hash = sim_map_hash(bytes, size);
    SIM_MAP_EACH (index, &dictionary->map, hash) {
        if (dictionary_is(dictionary, (size_t)index, bytes, size)) {
            dictionary->last = (uint32_t)index;
            return dictionary->last;
        }
    }
    SIM_RESERVE(dictionary->bytes, dictionary->size + size + 1, &dictionary->capacity);
    memcpy(dictionary->bytes + dictionary->size, bytes, size);
    dictionary->bytes[dictionary->size + size] = '\0';
    dictionary->size += size + 1;
    SIM_APPEND(dictionary->ends, dictionary->count, dictionary->ends_capacity, dictionary->size);
    SIM_CHECK(dictionary->count < UINT32_MAX);
    sim_map_add(&dictionary->map, hash, dictionary->count - 1);
    dictionary->last = (uint32_t)dictionary->count - 1;
    return dictionary->last;
}

void studio_table_put_text(studio_table_writer_t *writer, size_t column, const char *bytes,
                           size_t size)
{
    SIM_CHECK(writer->columns[column].type == STUDIO_TEXT);
    dictionary_t *const dictionary = &writer->dictionaries[column];
    const uint64_t before = dictionary->size;
    // The text is cut at its first 0.
    const char *const zero = memchr(bytes, '\0', size);
    const size_t kept = zero != NULL ? (size_t)(zero - bytes) : size;
    const uint32_t id = dictionary_put(dictionary, bytes, kept);
    writer->text_bytes += dictionary->size - before;
    studio_table_put_decimal(writer, column, id, 0);
}

// -- blocks

// Scales all decimals of the block to the largest number of decimals. Returns false if a value does
// not fit then.
static bool align_decimals(pending_t *pending, size_t count, unsigned decimals)
{
    for (size_t i = 0; i < count; i++) {
        if (pending->decimals[i] == MISSING || pending->decimals[i] == decimals) {
            continue;
        }
        const int64_t factor = studio_power_of_ten(decimals - pending->decimals[i]);
        if (__builtin_mul_overflow(pending->mantissas[i], factor, &pending->mantissas[i])) {
            // Undoes the scaling: the block will hold doubles.
            pending->mantissas[i] /= factor;
            for (size_t j = 0; j < i; j++) {
                if (pending->decimals[j] != MISSING) {
                    pending->mantissas[j] /= studio_power_of_ten(decimals - pending->decimals[j]);
                }
            }
            return false;
        }
    }
    return true;
}

static double real_of(const pending_t *pending, size_t i)
{
    if (pending->decimals[i] == MISSING) {
        return (double)NAN;
    }
    if (pending->decimals[i] == REAL) {
        return pending->reals[i];
    }
    return (double)pending->mantissas[i] / (double)studio_power_of_ten(pending->decimals[i]);
}

static void write_bytes(studio_table_writer_t *writer, const void *bytes, size_t size)
{
    static const uint8_t zeros[8] = {0};
    if (size > 0) {
        fwrite(bytes, 1, size, writer->stream);
    }
    const size_t more = -size & 7u;
    fwrite(zeros, 1, more, writer->stream);
    writer->offset += size + more;
}

static void add_block(studio_table_writer_t *writer, size_t column, const studio_block_t *block)
{
    const bool any = !isnan(block->least);
    json_t *const row =
        json_pack("[I,I,i,i,i,i]", (json_int_t)block->offset, (json_int_t)block->base, block->width,
                  block->decimals, block->real ? 1 : 0, (int)block->missing);
    json_array_append_new(row, any ? json_real(block->least) : json_null());
    json_array_append_new(row, any ? json_real(block->most) : json_null());
    json_array_append_new(writer->blocks[column], row);
}

static void write_reals(studio_table_writer_t *writer, size_t column)
{
    const pending_t *const pending = &writer->pending[column];
    studio_block_t block = {.offset = writer->offset, .width = 8, .real = true};
    block.least = block.most = (double)NAN;
    for (size_t i = 0; i < writer->filled; i++) {
        const double value = real_of(pending, i);
        uint64_t bits = 0;
        memcpy(&bits, &value, sizeof(bits));
        sim_put_le64(writer->buffer + 8 * i, bits);
        block.missing += isnan(value) != 0;
        block.least = fmin(block.least, value);
        block.most = fmax(block.most, value);
    }
    write_bytes(writer, writer->buffer, 8 * writer->filled);
    add_block(writer, column, &block);
}

// Writes differences to the least value; the largest number of the width means missing.
static void write_decimals(studio_table_writer_t *writer, size_t column, unsigned decimals)
{
    const pending_t *const pending = &writer->pending[column];
    int64_t least = INT64_MAX;
    int64_t most = INT64_MIN;
    studio_block_t block = {.offset = writer->offset, .decimals = (uint8_t)decimals};
    for (size_t i = 0; i < writer->filled; i++) {
        if (pending->decimals[i] == MISSING) {
            block.missing++;
            continue;
        }
        least = SIM_MIN(pending->mantissas[i], least);
        most = SIM_MAX(pending->mantissas[i], most);
    }
    const bool any = block.missing < writer->filled;
    block.base = any ? least : 0;
    const double one = (double)studio_power_of_ten(decimals);
    block.least = any ? (double)least / one : (double)NAN;
    block.most = any ? (double)most / one : (double)NAN;
    const uint64_t range = any ? (uint64_t)most - (uint64_t)least : 0;
    if (range > (uint64_t)INT64_MAX) {
        write_reals(writer, column);
        return;
    }
    const uint64_t needed = range + (block.missing > 0);
    block.width = needed == 0 ? 0 : needed <= UINT8_MAX ? 1 : needed <= UINT16_MAX ? 2 : 8;
    block.width = block.width == 8 && needed <= UINT32_MAX ? 4 : block.width;
    for (size_t i = 0; block.width > 0 && i < writer->filled; i++) {
        const uint64_t value = pending->decimals[i] == MISSING
                                   ? UINT64_MAX
                                   : (uint64_t)pending->mantissas[i] - (uint64_t)block.base;
        // The next value overwrites the bytes beyond the width; the buffer has 8 for each row.
        sim_put_le64(writer->buffer + i * block.width, value);
    }
    write_bytes(writer, writer->buffer, writer->filled * block.width);
    add_block(writer, column, &block);
}

static sim_err_t write_block(studio_table_writer_t *writer, sim_message_t *message)
{
    for (size_t column = 0; column < writer->column_count; column++) {
        pending_t *const pending = &writer->pending[column];
        unsigned decimals = 0;
        bool real = false;
        for (size_t i = 0; i < writer->filled; i++) {
            const unsigned have = pending->decimals[i];
            real = real || have == REAL;
            decimals = have <= STUDIO_DECIMALS_MAX && have > decimals ? have : decimals;
        }
        if (real || !align_decimals(pending, writer->filled, decimals)) {
            write_reals(writer, column);
        } else {
            write_decimals(writer, column, decimals);
        }
    }
    writer->filled = 0;
    if (ferror(writer->stream) != 0) {
        return sim_fail(message, SIM_ERR_IO, "%s cannot be written: %s", writer->path,
                        strerror(errno));
    }
    return SIM_OK;
}

sim_err_t studio_table_end_row(studio_table_writer_t *writer, sim_message_t *message)
{
    for (size_t i = 0; i < writer->column_count; i++) {
        pending_t *const pending = &writer->pending[i];
        if (!pending->touched) {
            pending->decimals[writer->filled] = MISSING;
            pending->mantissas[writer->filled] = 0;
        }
        pending->touched = false;
    }
    writer->row_count++;
    return ++writer->filled == STUDIO_BLOCK_ROWS ? write_block(writer, message) : SIM_OK;
}

uint64_t studio_table_writer_rows(const studio_table_writer_t *writer)
{
    return writer->row_count;
}

uint64_t studio_table_writer_text_bytes(const studio_table_writer_t *writer)
{
    return writer->text_bytes;
}

// -- the foot

static json_t *column_foot(studio_table_writer_t *writer, size_t index)
{
    const studio_column_spec_t *const spec = &writer->columns[index];
    const dictionary_t *const dictionary = &writer->dictionaries[index];
    json_t *const foot = json_pack("{s:s,s:s,s:s,s:s,s:O}", "name", spec->name, "unit", spec->unit,
                                   "help", spec->help, "type", studio_type_name(spec->type),
                                   "blocks", writer->blocks[index]);
    if (spec->type == STUDIO_TEXT && foot != NULL) {
        json_object_set_new(foot, "texts", json_integer((json_int_t)dictionary->count));
        json_object_set_new(foot, "text_size", json_integer((json_int_t)dictionary->size));
        json_object_set_new(foot, "ends_at", json_integer((json_int_t)writer->offset));
        for (size_t i = 0; i < dictionary->count; i++) {
            uint8_t end[8];
            sim_put_le64(end, dictionary->ends[i]);
            write_bytes(writer, end, sizeof(end));
        }
        json_object_set_new(foot, "bytes_at", json_integer((json_int_t)writer->offset));
        write_bytes(writer, dictionary->bytes, dictionary->size);
    }
    return foot;
}

static sim_err_t write_foot(studio_table_writer_t *writer, sim_message_t *message)
{
    json_t *const columns = json_array();
    bool whole = true;
    for (size_t i = 0; i < writer->column_count; i++) {
        // JSON refuses a foreign table's names if they are no UTF-8.
        whole = json_array_append_new(columns, column_foot(writer, i)) == 0 && whole;
    }
    json_t *const foot = json_pack("{s:s,s:s,s:I,s:o}", "name", writer->name, "help", writer->help,
                                   "rows", (json_int_t)writer->row_count, "columns", columns);
    char *const text = whole && foot != NULL ? json_dumps(foot, JSON_COMPACT) : NULL;
    json_decref(foot);
    if (text == NULL) {
        return sim_fail(message, SIM_ERR_INVALID, "the table %s has names that are no UTF-8",
                        writer->name);
    }
    const size_t size = strlen(text);
    uint8_t end[16];
    sim_put_le64(end, writer->offset);
    sim_put_le64(end + 8, size);
    fwrite(text, 1, size, writer->stream);
    fwrite(end, 1, sizeof(end), writer->stream);
    fwrite(STUDIO_TABLE_MAGIC, 1, STUDIO_TABLE_MAGIC_BYTES, writer->stream);
    json_free_t json_free = NULL;
    json_get_alloc_funcs(NULL, &json_free);
    json_free(text);
    return SIM_OK;
}

void studio_table_writer_abandon(studio_table_writer_t *writer)
{
    if (writer == NULL) {
        return;
    }
    if (writer->stream != NULL) {
        (void)fclose(writer->stream);
    }
    for (size_t i = 0; i < writer->column_count; i++) {
        SIM_FREE_ALL(writer->columns[i].name, writer->columns[i].unit, writer->columns[i].help,
                     writer->pending[i].mantissas, writer->pending[i].reals,
                     writer->pending[i].decimals, writer->dictionaries[i].bytes,
                     writer->dictionaries[i].ends);
        sim_map_fini(&writer->dictionaries[i].map);
        json_decref(writer->blocks[i]);
    }
    SIM_FREE_ALL(writer->columns, writer->pending, writer->dictionaries, writer->blocks,
                 writer->buffer, writer->path, writer->name, writer->help, writer);
}

sim_err_t studio_table_writer_close(studio_table_writer_t *writer, sim_message_t *message)
{
    sim_err_t result = writer->filled > 0 ? write_block(writer, message) : SIM_OK;
    result = result == SIM_OK ? write_foot(writer, message) : result;
    if (result == SIM_OK) {
        const bool whole = fflush(writer->stream) == 0 && ferror(writer->stream) == 0 &&
                           fdatasync(fileno(writer->stream)) == 0;
        const bool closed = fclose(writer->stream) == 0;
        writer->stream = NULL;
        if (!whole || !closed) {
            result = sim_fail(message, SIM_ERR_IO, "%s cannot be written: %s", writer->path,
                              strerror(errno));
        }
    }
    studio_table_writer_abandon(writer);
    return result;
}
