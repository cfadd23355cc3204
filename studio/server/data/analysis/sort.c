// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/sort.c - the step that sorts rows and keeps the first ones.
#include "studio/server/data/analysis/analysis_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct keeping {
    studio_analysis_t *analysis;
    const studio_pipe_t *pipe;
    studio_frame_t *frame;
    size_t most;
} keeping_t;

static void keep(const studio_batch_t *batch, void *ctx)
{
    keeping_t *const keeping = ctx;
    for (size_t i = 0; i < batch->rows; i++) {
        if (keeping->frame->row_count >= keeping->most) {
            keeping->frame->all_rows += batch->rows - i;
            return;
        }
        studio_slot_t *const row = studio__frame_add_row(keeping->frame);
        for (size_t j = 0; row != NULL && j < keeping->pipe->column_count; j++) {
            row[j] = studio__analysis_slot(keeping->analysis, keeping->pipe->columns[j].type,
                                           batch->columns[j][i]);
        }
    }
}

static void keep_rows(studio_work_t *work, studio_frame_t *frame, size_t most)
{
    const studio_pipe_t *const pipe = work->pipe;
    for (size_t i = 0; i < pipe->column_count; i++) {
        studio__frame_add_column(frame, pipe->columns[i].name, pipe->columns[i].unit,
                                 pipe->columns[i].type);
    }
    keeping_t keeping = {work->analysis, pipe, frame, most};
    studio__pipe_pump(work->analysis, work->pipe, NULL, keep, &keeping);
}

sim_err_t studio__step_limit(studio_work_t *work, studio_step_result_t *result)
{
    const json_int_t rows = json_integer_value(json_object_get(work->step, "rows"));
    if (rows < 1 || rows > (json_int_t)STUDIO_FRAME_ROWS_MAX) {
        return studio__step_fail(work, "rows: expected 1 to %u", STUDIO_FRAME_ROWS_MAX);
    }
    keep_rows(work, &result->frame, (size_t)rows);
    result->frame.all_rows = result->frame.row_count;
    result->words = sim_format("the first %lld rows", (long long)rows);
    return SIM_OK;
}

typedef struct sorting {
    size_t column;
    bool descending;
    bool text;
    size_t row; // position before sorting, so that equal rows keep their order
    studio_slot_t key;
} sorting_t;

static int by_key(const void *a, const void *b)
{
    const sorting_t *const x = a;
    const sorting_t *const y = b;
    const bool x_missing = x->text ? x->key.text == NULL : isnan(x->key.number) != 0;
    const bool y_missing = y->text ? y->key.text == NULL : isnan(y->key.number) != 0;
    int order = 0;
    if (x_missing != y_missing) {
        return x_missing ? 1 : -1;
    }
    if (!x_missing) {
        order = x->text ? strcmp(x->key.text, y->key.text)
                        : (x->key.number > y->key.number) - (x->key.number < y->key.number);
    }
    order = x->descending ? -order : order;
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

static void sort_frame(studio_frame_t *frame, size_t column, bool descending)
{
    const size_t width = frame->column_count;
    sorting_t *const rows = sim_alloc_array(frame->row_count, sizeof(*rows));
    for (size_t i = 0; i < frame->row_count; i++) {
        rows[i] = (sorting_t){column, descending, frame->columns[column].type == STUDIO_TEXT, i,
                              frame->slots[i * width + column]};
    }
    if (frame->row_count > 0) {
        qsort(rows, frame->row_count, sizeof(*rows), by_key);
    }
    studio_slot_t *const sorted = sim_alloc_array(frame->row_count * width, sizeof(*sorted));
    for (size_t i = 0; i < frame->row_count; i++) {
        memcpy(sorted + i * width, frame->slots + rows[i].row * width, width * sizeof(*sorted));
    }
    sim_free(frame->slots);
    frame->slots = sorted;
    frame->row_capacity = frame->row_count;
    sim_free(rows);
}

sim_err_t studio__step_sort(studio_work_t *work, studio_step_result_t *result)
{
    const json_t *const by = json_object_get(work->step, "by");
    const size_t count = json_array_size(by);
    size_t columns[STUDIO_KEYS_MAX];
    if (count == 0 || count > STUDIO_KEYS_MAX) {
        return studio__step_fail(work, "by: expected a list of 1 to 8 {column, descending}");
    }
    for (size_t i = 0; i < count; i++) {
        studio_work_t inner = *work;
        inner.step = json_array_get(by, i);
        columns[i] = studio__step_column(&inner, "column", STUDIO_BOOL);
        if (columns[i] == SIZE_MAX) {
            return SIM_ERR_INVALID;
        }
    }
    keep_rows(work, &result->frame, STUDIO_FRAME_ROWS_MAX);
    if (result->frame.all_rows > STUDIO_FRAME_ROWS_MAX) {
        return studio__step_fail(work,
                                 "%" PRIu64 " rows, at most 200000 are sorted: filter or group "
                                 "first",
                                 result->frame.all_rows);
    }
    // A stable sort by the least important key first gives the whole order.
    for (size_t i = count; i-- > 0;) {
        const json_t *const row = json_array_get(by, i);
        sort_frame(&result->frame, columns[i], json_is_true(json_object_get(row, "descending")));
    }
    result->words = sim_format("sorted by %zu column(s)", count);
    return SIM_OK;
}
