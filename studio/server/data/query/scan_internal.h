// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/scan_internal.h - a scan and its conditions.
#ifndef STUDIO_SERVER_DATA_QUERY_SCAN_INTERNAL_H
#define STUDIO_SERVER_DATA_QUERY_SCAN_INTERNAL_H

#include "studio/server/data/query/scan.h"

#define STUDIO_NO_COLUMN SIZE_MAX

typedef enum studio_test {
    STUDIO_TEST_EQUAL,
    STUDIO_TEST_UNEQUAL,
    STUDIO_TEST_LESS,
    STUDIO_TEST_LESS_EQUAL,
    STUDIO_TEST_MORE,
    STUDIO_TEST_MORE_EQUAL,
    STUDIO_TEST_IN,
    STUDIO_TEST_BETWEEN,
    STUDIO_TEST_CONTAINS,
    STUDIO_TEST_STARTS,
    STUDIO_TEST_ENDS,
    STUDIO_TEST_GLOB,
    STUDIO_TEST_MISSING,
    STUDIO_TEST_PRESENT,
} studio_test_t;

typedef struct studio_condition {
    size_t column;
    studio_test_t test;
    double *numbers;
    char **texts;
    size_t count;
    uint8_t **verdicts; // by table: one verdict for each text of the dictionary
    size_t group;       // conditions of one group are alternatives
} studio_condition_t;

typedef struct studio_scan_table {
    studio_table_t *table;
    const studio_source_t *source;
    size_t *places; // by column of the scan: the table's column, or STUDIO_NO_COLUMN
} studio_scan_table_t;

struct studio_scan {
    char *name;
    studio_scan_table_t *tables;
    size_t table_count;
    studio_scan_column_t *columns;
    size_t column_count;
    size_t column_capacity;
    studio_condition_t conditions[STUDIO_CONDITIONS_MAX];
    size_t condition_count;
    size_t group_count;
    studio_expression_t *wheres[STUDIO_CONDITIONS_MAX];
    size_t where_count;
    // range of time: matches rows that begin before its end and end after its begin
    size_t from_column;
    size_t to_column;
    bool has_range;
    double from_ns;
    double to_ns;
    // the current position
    size_t table;
    size_t block;
    double **numbers; // by column of the scan: decoded values; NULL: not needed yet
    uint32_t **ids;
    uint8_t *decoded; // by column: decoded for this block
    uint8_t *mask;
    uint8_t *group_mask;
    uint32_t *rows;
    studio_slot_t **slots; // by column, for one batch
};

// Decodes a column of the current block; NULL if the table does not have it.
const double *studio__scan_numbers(studio_scan_t *scan, size_t column);
const uint32_t *studio__scan_ids(studio_scan_t *scan, size_t column);
// Returns whether the condition can hold for any row of the block.
bool studio__condition_may_hold(const studio_scan_t *scan, const studio_condition_t *condition);
// Sets mask[i] for each row for which the condition holds.
void studio__condition_apply(studio_scan_t *scan, const studio_condition_t *condition, size_t rows,
                             uint8_t *mask);
void studio__condition_fini(const studio_scan_t *scan, studio_condition_t *condition);

#endif // STUDIO_SERVER_DATA_QUERY_SCAN_INTERNAL_H
