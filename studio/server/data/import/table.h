// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/table.h - a table of an imported run as a file of typed columns.
//
// Rows are stored in blocks of STUDIO_BLOCK_ROWS, column by column: numbers as differences to the
// block's least value in 1, 2, 4 or 8 bytes, texts as indices into the column's dictionary. The
// footer (JSON) holds the offset and the value range of each block, so that filters skip blocks.
// Numbers are exact decimals with up to nine decimals; a block with other numbers (exponents, more
// than 63 bits) holds doubles. Computing uses doubles, where NAN is missing.
#ifndef STUDIO_SERVER_DATA_IMPORT_TABLE_H
#define STUDIO_SERVER_DATA_IMPORT_TABLE_H

#include "kernel/base.h"

#include <jansson.h>

#define STUDIO_BLOCK_ROWS 16384u
#define STUDIO_COLUMNS_MAX 1024u
#define STUDIO_TEXT_MISSING UINT32_MAX
#define STUDIO_DECIMALS_MAX 9u

typedef enum studio_type {
    STUDIO_NUMBER,
    STUDIO_TEXT,
    STUDIO_BOOL, // for expressions only: no table has a column of this type
} studio_type_t;

const char *studio_type_name(studio_type_t type);

typedef struct studio_column_spec {
    char *name;
    char *unit; // "": none
    char *help;
    studio_type_t type;
} studio_column_spec_t;

// A value as it is shown.
typedef enum studio_cell_kind {
    STUDIO_CELL_MISSING,
    STUDIO_CELL_DECIMAL, // mantissa / 10^decimals
    STUDIO_CELL_REAL,
    STUDIO_CELL_TEXT,
} studio_cell_kind_t;

typedef struct studio_cell {
    studio_cell_kind_t kind;
    uint8_t decimals;
    int64_t mantissa;
    double real;      // set for both kinds of numbers
    const char *text; // owned by the table
} studio_cell_t;

// -- writing

typedef struct studio_table_writer studio_table_writer_t;

// Creates the file at path. Columns and help are copied.
SIM_MUST_CHECK sim_err_t studio_table_writer_open(
    const char *path, const char *name, const char *help, const studio_column_spec_t *columns,
    size_t column_count, studio_table_writer_t **writer, sim_message_t *message);
// Put each cell of a row at most once, then end the row. A cell that is not put is missing.
void studio_table_put_decimal(studio_table_writer_t *writer, size_t column, int64_t mantissa,
                              unsigned decimals);
void studio_table_put_real(studio_table_writer_t *writer, size_t column, double value);
void studio_table_put_text(studio_table_writer_t *writer, size_t column, const char *bytes,
                           size_t size);
SIM_MUST_CHECK sim_err_t studio_table_end_row(studio_table_writer_t *writer,
                                              sim_message_t *message);
uint64_t studio_table_writer_rows(const studio_table_writer_t *writer);
// Returns the bytes of all dictionaries, which stay in memory until the end.
uint64_t studio_table_writer_text_bytes(const studio_table_writer_t *writer);
// Completes the file and frees the writer, also on failure.
SIM_MUST_CHECK sim_err_t studio_table_writer_close(studio_table_writer_t *writer,
                                                   sim_message_t *message);
void studio_table_writer_abandon(studio_table_writer_t *writer); // NULL is allowed

// -- reading

typedef struct studio_block {
    uint64_t offset;
    int64_t base;
    double least; // NAN: all values are missing; not set for texts
    double most;
    uint32_t missing;
    uint8_t width; // bytes per value: 1, 2, 4 or 8; 0: all values equal base
    uint8_t decimals;
    bool real;
} studio_block_t;

typedef struct studio_column {
    studio_column_spec_t spec;
    studio_block_t *blocks;
    const uint8_t *text_ends; // 8 bytes each, little endian: where each text ends in text_bytes
    const char *text_bytes;   // each text ends with a 0
    uint32_t text_count;
    uint64_t text_size;
    double least; // over all blocks; NAN: all are missing
    double most;
} studio_column_t;

typedef struct studio_table {
    char *name;
    char *help;
    uint64_t row_count;
    size_t block_count;
    studio_column_t *columns;
    size_t column_count;
    const uint8_t *bytes;
    size_t size;
} studio_table_t;

// Opens a table. Reading does not change it, so several threads may share it.
SIM_MUST_CHECK sim_err_t studio_table_open(const char *path, studio_table_t **table,
                                           sim_message_t *message);
void studio_table_close(studio_table_t *table); // NULL is allowed

size_t studio_table_block_rows(const studio_table_t *table, size_t block);
// Returns the index of a column; column_count if there is none of that name.
size_t studio_table_find(const studio_table_t *table, const char *name);
// Decode a block of a column: the first function needs a column of numbers, the second of texts.
void studio_table_numbers(const studio_table_t *table, size_t column, size_t block, double *values);
void studio_table_texts(const studio_table_t *table, size_t column, size_t block, uint32_t *ids);
// Returns a text of the dictionary; NULL for STUDIO_TEXT_MISSING.
const char *studio_table_text(const studio_table_t *table, size_t column, uint32_t id);
studio_cell_t studio_table_cell(const studio_table_t *table, size_t column, uint64_t row);

// Reads a decimal number of at most 18 digits, at most STUDIO_DECIMALS_MAX of them decimals.
// Returns false unless the whole text is such a number.
bool studio_decimal(const char *text, size_t size, int64_t *mantissa, unsigned *decimals);
// Returns 10^exponent; exponent is at most 18.
int64_t studio_power_of_ten(unsigned exponent);

#endif // STUDIO_SERVER_DATA_IMPORT_TABLE_H
