// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/table_read.c - reads a table file.
//
// The file may have been cut or overwritten. Opening it checks every offset in its footer, so that
// decoding need not.
#include "studio/server/data/import/table.h"
#include "studio/server/data/import/table_internal.h"

#include "kernel/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS_MAX (UINT64_C(1) << 40)

size_t studio_table_block_rows(const studio_table_t *table, size_t block)
{
    SIM_CHECK(block < table->block_count);
    const uint64_t left = table->row_count - (uint64_t)block * STUDIO_BLOCK_ROWS;
    return left < STUDIO_BLOCK_ROWS ? (size_t)left : STUDIO_BLOCK_ROWS;
}

static sim_err_t damaged(const char *path, const char *what, sim_message_t *message)
{
    return sim_fail(message, SIM_ERR_INVALID, "%s is damaged (%s): import the run again", path,
                    what);
}

static bool lies_within(const studio_table_t *table, uint64_t offset, uint64_t size)
{
    return offset <= table->size && size <= table->size - offset;
}

static uint64_t whole(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static char *text_of(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    return sim_strdup(text != NULL ? text : "");
}

static double real_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static bool take_block(const studio_table_t *table, studio_column_t *column, size_t index,
                       json_t *row)
{
    if (json_array_size(row) != 8) {
        return false;
    }
    const json_int_t width = json_integer_value(json_array_get(row, 2));
    const json_int_t decimals = json_integer_value(json_array_get(row, 3));
    const json_int_t offset = json_integer_value(json_array_get(row, 0));
    studio_block_t *const block = &column->blocks[index];
    *block = (studio_block_t){
        .offset = (uint64_t)offset,
        .base = json_integer_value(json_array_get(row, 1)),
        .width = (uint8_t)width,
        .decimals = (uint8_t)decimals,
        .real = json_integer_value(json_array_get(row, 4)) == 1,
        .missing = (uint32_t)json_integer_value(json_array_get(row, 5)),
        .least = real_or_nan(json_array_get(row, 6)),
        .most = real_or_nan(json_array_get(row, 7)),
    };
    const size_t rows = studio_table_block_rows(table, index);
    column->least = fmin(column->least, block->least);
    column->most = fmax(column->most, block->most);
    return offset >= 0 && (width == 0 || width == 1 || width == 2 || width == 4 || width == 8) &&
           decimals >= 0 && decimals <= (json_int_t)STUDIO_DECIMALS_MAX &&
           (!block->real || width == 8) &&
           lies_within(table, block->offset, rows * (uint64_t)width);
}

static bool take_texts(const studio_table_t *table, studio_column_t *column, const json_t *foot)
{
    const uint64_t count = whole(foot, "texts");
    const uint64_t ends_at = whole(foot, "ends_at");
    const uint64_t bytes_at = whole(foot, "bytes_at");
    column->text_size = whole(foot, "text_size");
    if (count >= UINT32_MAX || !lies_within(table, ends_at, 8 * count) ||
        !lies_within(table, bytes_at, column->text_size)) {
        return false;
    }
    column->text_count = (uint32_t)count;
    column->text_ends = table->bytes + ends_at;
    column->text_bytes = (const char *)(table->bytes + bytes_at);
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t end = sim_get_le64(column->text_ends + 8 * i);
        if (end <= before || end > column->text_size || column->text_bytes[end - 1] != '\0') {
            return false;
        }
        before = end;
    }
    return true;
}

static bool take_column(studio_table_t *table, size_t index, const json_t *foot)
{
    studio_column_t *const column = &table->columns[index];
    const char *const type = json_string_value(json_object_get(foot, "type"));
    column->spec = (studio_column_spec_t){
        text_of(foot, "name"), text_of(foot, "unit"), text_of(foot, "help"),
        type != NULL && strcmp(type, "text") == 0 ? STUDIO_TEXT : STUDIO_NUMBER};
    column->least = column->most = (double)NAN;
    column->blocks = sim_alloc_array(table->block_count, sizeof(*column->blocks));
    const json_t *const blocks = json_object_get(foot, "blocks");
    bool fits = json_array_size(blocks) == table->block_count;
    for (size_t i = 0; fits && i < table->block_count; i++) {
        fits = take_block(table, column, i, json_array_get(blocks, i));
    }
    return fits && (column->spec.type != STUDIO_TEXT || take_texts(table, column, foot));
}

static sim_err_t take_foot(studio_table_t *table, const char *path, sim_message_t *message)
{
    const size_t least = 2 * STUDIO_TABLE_MAGIC_BYTES + 16;
    const uint8_t *const end = table->bytes + table->size - STUDIO_TABLE_MAGIC_BYTES;
    if (table->size < least ||
        memcmp(table->bytes, STUDIO_TABLE_MAGIC, STUDIO_TABLE_MAGIC_BYTES) != 0 ||
        memcmp(end, STUDIO_TABLE_MAGIC, STUDIO_TABLE_MAGIC_BYTES) != 0) {
        return damaged(path, "it is no table, or not whole", message);
    }
    const uint64_t foot_at = sim_get_le64(end - 16);
    const uint64_t foot_size = sim_get_le64(end - 8);
    if (!lies_within(table, foot_at, foot_size)) {
        return damaged(path, "its foot lies elsewhere", message);
    }
    json_t *const foot =
        json_loadb((const char *)table->bytes + foot_at, (size_t)foot_size, 0, NULL);
    const json_t *const columns = json_object_get(foot, "columns");
    table->row_count = whole(foot, "rows");
    table->name = text_of(foot, "name");
    table->help = text_of(foot, "help");
    bool fits = json_array_size(columns) > 0 && json_array_size(columns) <= STUDIO_COLUMNS_MAX &&
                table->row_count < ROWS_MAX;
    if (fits) {
        table->block_count =
            (size_t)((table->row_count + STUDIO_BLOCK_ROWS - 1) / STUDIO_BLOCK_ROWS);
        // A block needs at least one byte of the footer.
        fits = table->block_count <= foot_size;
    }
    if (fits) {
        table->columns = sim_alloc_array(json_array_size(columns), sizeof(*table->columns));
        for (size_t i = 0; fits && i < json_array_size(columns); i++) {
            table->column_count++;
            fits = take_column(table, i, json_array_get(columns, i));
        }
    }
    json_decref(foot);
    return fits ? SIM_OK : damaged(path, "its foot does not fit", message);
}

sim_err_t studio_table_open(const char *path, studio_table_t **result, sim_message_t *message)
{
    *result = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        const int reason = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return sim_fail(message, SIM_ERR_IO, "%s: cannot be read: %s", path, strerror(reason));
    }
    if (status.st_size <= 0) {
        (void)close(fd);
        return damaged(path, "the file is empty", message);
    }
    const size_t size = (size_t)status.st_size;
    void *const bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (bytes == MAP_FAILED) {
        return sim_fail(message, SIM_ERR_IO, "%s: cannot be mapped: %s", path, strerror(errno));
    }
    studio_table_t *const table = sim_alloc(sizeof(*table));
    table->bytes = bytes;
    table->size = size;
    const sim_err_t error = take_foot(table, path, message);
    if (error != SIM_OK) {
        studio_table_close(table);
        return error;
    }
    *result = table;
    return SIM_OK;
}

void studio_table_close(studio_table_t *table)
{
    if (table == NULL) {
        return;
    }
    // The bytes are read-only, but munmap takes a pointer without const.
    void *bytes = NULL;
    memcpy(&bytes, &table->bytes, sizeof(bytes));
    (void)munmap(bytes, table->size);
    for (size_t i = 0; i < table->column_count; i++) {
        SIM_FREE_ALL(table->columns[i].spec.name, table->columns[i].spec.unit,
                     table->columns[i].spec.help, table->columns[i].blocks);
    }
    SIM_FREE_ALL(table->columns, table->name, table->help, table);
}

size_t studio_table_find(const studio_table_t *table, const char *name)
{
    size_t i = 0;
    while (i < table->column_count && strcmp(table->columns[i].spec.name, name) != 0) {
        i++;
    }
    return i;
}

// -- blocks

static uint64_t get_width(const uint8_t *at, unsigned width)
{
    uint64_t value = 0;
    memcpy(&value, at, width);
    return value;
}

static uint64_t all_ones(unsigned width)
{
    return width == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * width)) - 1;
}

static void decode_reals(const uint8_t *at, size_t rows, double *values)
{
    memcpy(values, at, rows * sizeof(*values));
}

void studio_table_numbers(const studio_table_t *table, size_t column, size_t block, double *values)
{
    const studio_block_t *const have = &table->columns[column].blocks[block];
    const size_t rows = studio_table_block_rows(table, block);
    const uint8_t *at = table->bytes + have->offset;
    const double one = (double)studio_power_of_ten(have->decimals);
    const unsigned width = have->width;
    if (have->real) {
        decode_reals(at, rows, values);
        return;
    }
    if (width == 0) {
        const double value = have->missing > 0 ? (double)NAN : (double)have->base / one;
        for (size_t i = 0; i < rows; i++) {
            values[i] = value;
        }
        return;
    }
    const uint64_t missing = have->missing > 0 ? all_ones(width) : 0;
    const bool whole_numbers = have->decimals == 0;
    // One loop per width, so that the compiler emits plain loads.
#define DECODE(bytes)                                             \
    for (size_t i = 0; i < rows; i++, at += (bytes)) {            \
        const uint64_t raw = get_width(at, (bytes));              \
        const double value = (double)((int64_t)raw + have->base); \
        values[i] = whole_numbers ? value : value / one;          \
    }
    if (width == 1) {
        DECODE(1)
    } else if (width == 2) {
        DECODE(2)
    } else if (width == 4) {
        DECODE(4)
    } else {
        for (size_t i = 0; i < rows; i++, at += 8) {
            const uint64_t raw = get_width(at, 8);
            values[i] = (double)(int64_t)(raw + (uint64_t)have->base) / one;
        }
    }
#undef DECODE
    at = table->bytes + have->offset;
    for (size_t i = 0; have->missing > 0 && i < rows; i++) {
        if (get_width(at + i * width, width) == missing) {
            values[i] = (double)NAN;
        }
    }
}

static uint32_t id_of(const studio_column_t *column, const studio_block_t *block, uint64_t raw)
{
    if (block->missing > 0 && raw == all_ones(block->width)) {
        return STUDIO_TEXT_MISSING;
    }
    const uint64_t id = raw + (uint64_t)block->base;
    return id < column->text_count ? (uint32_t)id : STUDIO_TEXT_MISSING;
}

void studio_table_texts(const studio_table_t *table, size_t column, size_t block, uint32_t *ids)
{
    const studio_column_t *const texts = &table->columns[column];
    SIM_CHECK(texts->spec.type == STUDIO_TEXT);
    const studio_block_t *const have = &texts->blocks[block];
    const size_t rows = studio_table_block_rows(table, block);
    const uint8_t *const at = table->bytes + have->offset;
    const unsigned width = have->width;
    const bool none = width == 0 && have->missing > 0;
    for (size_t i = 0; i < rows; i++) {
        ids[i] = none ? STUDIO_TEXT_MISSING
                      : id_of(texts, have, width > 0 ? get_width(at + i * width, width) : 0);
    }
}

const char *studio_table_text(const studio_table_t *table, size_t column, uint32_t id)
{
    const studio_column_t *const texts = &table->columns[column];
    if (id >= texts->text_count) {
        return NULL;
    }
    const uint64_t from = id > 0 ? sim_get_le64(texts->text_ends + 8 * (size_t)(id - 1)) : 0;
    return texts->text_bytes + from;
}

studio_cell_t studio_table_cell(const studio_table_t *table, size_t column, uint64_t row)
{
    SIM_CHECK(row < table->row_count);
    const studio_column_t *const have = &table->columns[column];
    const studio_block_t *const block = &have->blocks[row / STUDIO_BLOCK_ROWS];
    const uint8_t *const at = table->bytes + block->offset + row % STUDIO_BLOCK_ROWS * block->width;
    const uint64_t raw = block->width > 0 ? get_width(at, block->width) : 0;
    studio_cell_t cell = {.real = (double)NAN};
    if (have->spec.type == STUDIO_TEXT) {
        const bool none = block->width == 0 && block->missing > 0;
        cell.text = none ? NULL : studio_table_text(table, column, id_of(have, block, raw));
        cell.kind = cell.text != NULL ? STUDIO_CELL_TEXT : STUDIO_CELL_MISSING;
        return cell;
    }
    if (block->real) {
        memcpy(&cell.real, &raw, sizeof(cell.real));
        cell.kind = isnan(cell.real) ? STUDIO_CELL_MISSING : STUDIO_CELL_REAL;
        return cell;
    }
    if (block->missing > 0 && (block->width == 0 || raw == all_ones(block->width))) {
        return cell;
    }
    cell.kind = STUDIO_CELL_DECIMAL;
    cell.decimals = block->decimals;
    cell.mantissa = (int64_t)(raw + (uint64_t)block->base);
    cell.real = (double)cell.mantissa / (double)studio_power_of_ten(block->decimals);
    return cell;
}
