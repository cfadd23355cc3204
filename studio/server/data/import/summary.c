// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/summary.c - imports summary.json as a table with one row per field.
#include "studio/server/data/import/import.h"

#include "studio/server/data/import/table.h"

#include <string.h>

#define DEPTH_MAX 12u
#define ROWS_MAX 200000u

typedef struct leaves {
    studio_table_writer_t *writer;
    uint64_t rows;
    sim_err_t error;
    sim_message_t *message;
} leaves_t;

static void put_leaf(leaves_t *leaves, const char *path, const json_t *value)
{
    studio_table_put_text(leaves->writer, 0, path, strlen(path));
    if (json_is_integer(value)) {
        studio_table_put_decimal(leaves->writer, 1, json_integer_value(value), 0);
    } else if (json_is_real(value)) {
        studio_table_put_real(leaves->writer, 1, json_real_value(value));
    } else if (json_is_boolean(value)) {
        studio_table_put_decimal(leaves->writer, 1, json_is_true(value), 0);
    } else if (json_is_string(value)) {
        const char *const text = json_string_value(value);
        studio_table_put_text(leaves->writer, 2, text, strlen(text));
    }
    leaves->error = studio_table_end_row(leaves->writer, leaves->message);
    leaves->rows++;
}

static void walk(leaves_t *leaves, const char *path, const json_t *value, unsigned depth)
{
    if (leaves->error != SIM_OK || leaves->rows >= ROWS_MAX || depth > DEPTH_MAX) {
        return;
    }
    if (json_is_object(value)) {
        const char *key = NULL;
        json_t *inner = NULL;
        // jansson's iteration takes no const pointer, but changes nothing.
        void *at = json_object_iter((json_t *)(uintptr_t)value);
        for (; at != NULL; at = json_object_iter_next((json_t *)(uintptr_t)value, at)) {
            key = json_object_iter_key(at);
            inner = json_object_iter_value(at);
            char *const longer = sim_format("%s%s%s", path, path[0] != '\0' ? "." : "", key);
            walk(leaves, longer, inner, depth + 1);
            sim_free(longer);
        }
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            char *const longer = sim_format("%s[%zu]", path, i);
            walk(leaves, longer, json_array_get(value, i), depth + 1);
            sim_free(longer);
        }
    } else {
        put_leaf(leaves, path, value);
    }
}

sim_err_t studio_import_summary(const json_t *summary, const char *table_path, uint64_t *rows,
                                sim_message_t *message)
{
    char names[3][8] = {"field", "value", "text"};
    char none[] = "";
    const studio_column_spec_t columns[] = {{names[0], none, none, STUDIO_TEXT},
                                            {names[1], none, none, STUDIO_NUMBER},
                                            {names[2], none, none, STUDIO_TEXT}};
    leaves_t leaves = {.message = message};
    leaves.error =
        studio_table_writer_open(table_path, "summary", "A row per field of summary.json.", columns,
                                 SIM_COUNT_OF(columns), &leaves.writer, message);
    if (leaves.error != SIM_OK) {
        return leaves.error;
    }
    walk(&leaves, "", summary, 0);
    *rows = leaves.rows;
    if (leaves.error == SIM_OK) {
        return studio_table_writer_close(leaves.writer, message);
    }
    studio_table_writer_abandon(leaves.writer);
    return leaves.error;
}
