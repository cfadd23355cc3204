// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/table.h - a table of an imported run as a file of typed columns.
//
// Rows come in blocks of STUDIO_BLOCK_ROWS; a block keeps each column by itself, numbers as
// differences to the least of the block in 1, 2, 4 or 8 bytes, texts as numbers into a dictionary
// of the column. The foot of the file, JSON, says where blocks lie and between which values, so
// that a filter passes over blocks that cannot match. Readers map the file and decode blocks.
//
// Numbers are exact decimals of up to nine decimals; where that does not do (exponents, more than
// 63 bits) the block holds doubles. Computing is done on doubles: missing is NAN.
//
// The files are made anew from the result folder whenever they do not fit: they are no archive.
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
    STUDIO_BOOL, // of expressions; no table has one
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
    double real;      // of both kinds of numbers
    const char *text; // of the table
} studio_cell_t;

// -- writing

typedef struct studio_table_writer studio_table_writer_t;

// Makes the file at path. Columns and help are copied.
SIM_MUST_CHECK sim_err_t studio_table_writer_open(const char *path,
                                                  const char *name,
                                                  const char *help,
                                                  const studio_column_spec_t *columns,
                                                  size_t column_count,
                                                  studio_table_writer_t **writer,
                                                  sim_message_t *message);
// Each cell of the row once, then the end of the row. A cell that is not put is missing.
void studio_table_put_decimal(studio_table_writer_t *writer,
                              size_t column,
                              int64_t mantissa,
                              unsigned decimals);
void studio_table_put_real(studio_table_writer_t *writer, size_t column, double value);
void studio_table_put_text(studio_table_writer_t *writer,
                           size_t column,
                           const char *bytes,
                           size_t size);
SIM_MUST_CHECK sim_err_t studio_table_end_row(studio_table_writer_t *writer,
                                              sim_message_t *message);
uint64_t studio_table_writer_rows(const studio_table_writer_t *writer);
// Bytes of all dictionaries, which stand in memory until the end.
uint64_t studio_table_writer_text_bytes(const studio_table_writer_t *writer);
// Completes the file and frees, also where that fails.
SIM_MUST_CHECK sim_err_t studio_table_writer_close(studio_table_writer_t *writer,
                                                   sim_message_t *message);
void studio_table_writer_abandon(studio_table_writer_t *writer); // NULL is allowed

// -- reading

typedef struct studio_block {
    uint64_t offset;
    int64_t base;
    double least; // NAN: all are missing. Of texts: not kept
    double most;
    uint32_t missing;
    uint8_t width; // 0: all are base; 1, 2, 4, 8
    uint8_t decimals;
    bool real;
} studio_block_t;

typedef struct studio_column {
    studio_column_spec_t spec;
    studio_block_t *blocks;
    const uint8_t *text_ends; // 8 bytes each, little endian: where texts end behind text_bytes
    const char *text_bytes;   // each ends in 0
    uint32_t text_count;
    uint64_t text_size;
    double least; // over all blocks; NAN: none
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

// Only reads afterwards: several threads may use it at once.
SIM_MUST_CHECK sim_err_t studio_table_open(const char *path,
                                           studio_table_t **table,
                                           sim_message_t *message);
void studio_table_close(studio_table_t *table); // NULL is allowed

size_t studio_table_block_rows(const studio_table_t *table, size_t block);
// Index of the column; column_count: there is none of that name.
size_t studio_table_find(const studio_table_t *table, const char *name);
// The block's values. The column must be of numbers, of texts.
void studio_table_numbers(const studio_table_t *table, size_t column, size_t block, double *values);
void studio_table_texts(const studio_table_t *table, size_t column, size_t block, uint32_t *ids);
// NULL of STUDIO_TEXT_MISSING.
const char *studio_table_text(const studio_table_t *table, size_t column, uint32_t id);
studio_cell_t studio_table_cell(const studio_table_t *table, size_t column, uint64_t row);

// Reads a decimal number of at most 18 digits, STUDIO_DECIMALS_MAX of them decimals, the whole
// text. False: it is none.
bool studio_decimal(const char *text, size_t size, int64_t *mantissa, unsigned *decimals);
// 10^exponent, up to 18.
int64_t studio_power_of_ten(unsigned exponent);

#endif // STUDIO_SERVER_DATA_IMPORT_TABLE_H
