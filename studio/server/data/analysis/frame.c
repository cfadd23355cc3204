// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/frame.c - frames, their texts, and the pump that moves rows.
#include "studio/server/data/analysis/analysis_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void studio__frame_add_column(studio_frame_t *frame, const char *name, const char *unit,
                              studio_type_t type)
{
    SIM_CHECK(frame->row_count == 0);
    SIM_APPEND(frame->columns, frame->column_count, frame->column_capacity,
               (studio_frame_column_t){sim_strdup(name), sim_strdup(unit), type});
}

studio_slot_t *studio__frame_add_row(studio_frame_t *frame)
{
    frame->all_rows++;
    if (frame->row_count == STUDIO_FRAME_ROWS_MAX) {
        return NULL;
    }
    if (frame->row_count == frame->row_capacity) {
        frame->row_capacity = 2 * frame->row_capacity + 64;
        frame->slots = sim_realloc_array(frame->slots, frame->row_capacity * frame->column_count,
                                         sizeof(*frame->slots));
    }
    return frame->slots + frame->column_count * frame->row_count++;
}

static void frame_fini(studio_frame_t *frame)
{
    for (size_t i = 0; i < frame->column_count; i++) {
        sim_free(frame->columns[i].name);
        sim_free(frame->columns[i].unit);
    }
    sim_free(frame->columns);
    sim_free(frame->slots);
}

void studio_analysis_fini(studio_analysis_t *analysis)
{
    for (size_t i = 0; i < analysis->count; i++) {
        frame_fini(&analysis->results[i].frame);
        sim_free(analysis->results[i].words);
        json_decref(analysis->results[i].more);
    }
    studio_texts_fini(&analysis->texts);
}

// -- texts

const char *studio__analysis_text(studio_analysis_t *analysis, const char *text)
{
    return studio_texts_put(&analysis->texts, text, SIZE_MAX);
}

studio_slot_t studio__analysis_slot(studio_analysis_t *analysis, studio_type_t type,
                                    studio_slot_t slot)
{
    if (type == STUDIO_TEXT && slot.text != NULL) {
        slot.text = studio__analysis_text(analysis, slot.text);
    }
    return slot;
}

// -- steps

sim_err_t studio__step_fail(studio_work_t *work, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(work->error->message.text, sizeof(work->error->message.text), format,
                    arguments);
    va_end(arguments);
    return SIM_ERR_INVALID;
}

size_t studio__pipe_find(const studio_pipe_t *pipe, const char *name)
{
    size_t i = 0;
    while (i < pipe->column_count && strcmp(pipe->columns[i].name, name) != 0) {
        i++;
    }
    return i;
}

static size_t column_named(studio_work_t *work, const char *key, const char *name)
{
    const size_t column = studio__pipe_find(work->pipe, name);
    if (column < work->pipe->column_count) {
        return column;
    }
    char names[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < work->pipe->column_count && used < 150; i++) {
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.30s", i > 0 ? ", " : "",
                                 work->pipe->columns[i].name);
    }
    (void)studio__step_fail(work, "%s: no column is called '%.60s', expected one of %s", key, name,
                            names);
    return SIZE_MAX;
}

size_t studio__step_column(studio_work_t *work, const char *key, studio_type_t type)
{
    const char *const name = json_string_value(json_object_get(work->step, key));
    if (name == NULL) {
        (void)studio__step_fail(work, "%s is missing, expected the name of a column", key);
        return SIZE_MAX;
    }
    const size_t column = column_named(work, key, name);
    if (column != SIZE_MAX && type != STUDIO_BOOL && work->pipe->columns[column].type != type) {
        (void)studio__step_fail(work, "%s: %s is a %s, expected a %s", key, name,
                                studio_type_name(work->pipe->columns[column].type),
                                studio_type_name(type));
        return SIZE_MAX;
    }
    return column;
}

bool studio__step_columns(studio_work_t *work, const char *key, size_t *columns, size_t most,
                          size_t *count)
{
    const json_t *const list = json_object_get(work->step, key);
    *count = json_is_string(list) ? 1 : json_array_size(list);
    if (*count > most) {
        (void)studio__step_fail(work, "%s: more than %zu columns", key, most);
        return false;
    }
    for (size_t i = 0; i < *count; i++) {
        const char *const name =
            json_string_value(json_is_string(list) ? list : json_array_get(list, i));
        columns[i] = column_named(work, key, name != NULL ? name : "");
        if (columns[i] == SIZE_MAX) {
            return false;
        }
    }
    return true;
}

// -- rows on their way

typedef struct pumping {
    studio_analysis_t *analysis;
    studio_pipe_t *pipe;
    studio_slot_t **buffers; // by column
    studio_slot_t **given;   // by column: the filled buffers
    bool *needed;
    size_t rows;
    bool quiet; // the tables of the steps were made by an earlier pass
} pumping_t;

static size_t rows_shown(const studio_analysis_t *analysis, size_t result)
{
    return result + 1 == analysis->count ? STUDIO_LAST_ROWS : STUDIO_PREVIEW_ROWS;
}

static void show(pumping_t *pumping, size_t result, size_t columns)
{
    studio_frame_t *const frame = &pumping->analysis->results[result].frame;
    if (pumping->quiet || (pumping->pipe->frame == frame)) {
        return;
    }
    const size_t most = rows_shown(pumping->analysis, result);
    for (size_t i = 0; i < pumping->rows; i++) {
        if (frame->row_count >= most) {
            frame->all_rows += pumping->rows - i;
            return;
        }
        studio_slot_t *const row = studio__frame_add_row(frame);
        for (size_t j = 0; j < columns; j++) {
            row[j] = studio__analysis_slot(pumping->analysis, pumping->pipe->columns[j].type,
                                           pumping->buffers[j][i]);
        }
    }
}

// Returns whether all tables to be shown have their rows; from then on only needed columns are
// read.
static bool all_shown(const pumping_t *pumping)
{
    const studio_pipe_t *const pipe = pumping->pipe;
    const studio_analysis_t *const analysis = pumping->analysis;
    if (pumping->quiet) {
        return true;
    }
    bool shown = pipe->frame != NULL || analysis->results[pipe->first_result].frame.row_count >=
                                            rows_shown(analysis, pipe->first_result);
    for (size_t i = 0; i < pipe->stage_count; i++) {
        const size_t result = pipe->stages[i].result;
        shown = shown && analysis->results[result].frame.row_count >= rows_shown(analysis, result);
    }
    return shown;
}

static void apply_stage(pumping_t *pumping, const studio_stage_t *stage)
{
    studio_slot_t out[STUDIO_BATCH_ROWS];
    const bool filter = stage->target == SIZE_MAX;
    studio_expression_evaluate(stage->expression, (const studio_slot_t *const *)pumping->buffers,
                               pumping->rows, filter ? out : pumping->buffers[stage->target]);
    if (!filter) {
        pumping->given[stage->target] = pumping->buffers[stage->target];
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < pumping->rows; i++) {
        if (out[i].number > 0) {
            for (size_t j = 0; kept < i && j < stage->columns_before; j++) {
                if (pumping->given[j] != NULL) {
                    pumping->buffers[j][kept] = pumping->buffers[j][i];
                }
            }
            kept++;
        }
    }
    pumping->rows = kept;
}

static void pass_batch(pumping_t *pumping, studio_sink_fn sink, void *ctx)
{
    const studio_pipe_t *const pipe = pumping->pipe;
    show(pumping, pipe->first_result, pipe->base_count);
    for (size_t i = 0; i < pipe->stage_count && pumping->rows > 0; i++) {
        const studio_stage_t *const stage = &pipe->stages[i];
        apply_stage(pumping, stage);
        show(pumping, stage->result,
             stage->target == SIZE_MAX ? stage->columns_before : stage->target + 1);
    }
    if (sink != NULL && pumping->rows > 0) {
        const studio_batch_t batch = {pumping->given, pumping->rows};
        sink(&batch, ctx);
    }
}

static void find_needed(pumping_t *pumping, const bool *wanted)
{
    const studio_pipe_t *const pipe = pumping->pipe;
    for (size_t i = 0; i < pipe->column_count; i++) {
        pumping->needed[i] = wanted == NULL || wanted[i];
        for (size_t j = 0; j < pipe->stage_count; j++) {
            pumping->needed[i] =
                pumping->needed[i] || studio_expression_uses(pipe->stages[j].expression, i);
        }
    }
}

static void pump_scan(pumping_t *pumping, studio_sink_fn sink, void *ctx)
{
    const studio_pipe_t *const pipe = pumping->pipe;
    studio_found_t found = {.rows = NULL};
    studio_scan_rewind(pipe->scan);
    while (!studio_is_over(pumping->analysis->patience) && studio_scan_next(pipe->scan, &found)) {
        for (size_t from = 0; from < found.count; from += STUDIO_BATCH_ROWS) {
            const size_t left = found.count - from;
            const bool full = !all_shown(pumping);
            pumping->rows = SIM_MIN(left, STUDIO_BATCH_ROWS);
            for (size_t i = 0; i < pipe->base_count; i++) {
                pumping->given[i] = NULL;
                if (full || pumping->needed[i]) {
                    pumping->given[i] = pumping->buffers[i];
                    studio_scan_values(pipe->scan, &found, pipe->scan_columns[i], from,
                                       pumping->rows, pumping->buffers[i]);
                }
            }
            pass_batch(pumping, sink, ctx);
        }
    }
}

static void pump_frame(pumping_t *pumping, studio_sink_fn sink, void *ctx)
{
    const studio_pipe_t *const pipe = pumping->pipe;
    const studio_frame_t *const frame = pipe->frame;
    for (size_t from = 0; from < frame->row_count; from += STUDIO_BATCH_ROWS) {
        const size_t left = frame->row_count - from;
        pumping->rows = SIM_MIN(left, STUDIO_BATCH_ROWS);
        for (size_t i = 0; i < pipe->base_count; i++) {
            pumping->given[i] = pumping->buffers[i];
            for (size_t row = 0; row < pumping->rows; row++) {
                pumping->buffers[i][row] = frame->slots[(from + row) * frame->column_count + i];
            }
        }
        pass_batch(pumping, sink, ctx);
    }
}

void studio__pipe_pump(studio_analysis_t *analysis, studio_pipe_t *pipe, const bool *wanted,
                       studio_sink_fn sink, void *ctx)
{
    const size_t count = pipe->column_count;
    pumping_t pumping = {.analysis = analysis, .pipe = pipe, .quiet = pipe->pumped};
    pumping.buffers = sim_alloc_array(count, sizeof(*pumping.buffers));
    pumping.given = sim_alloc_array(count, sizeof(*pumping.given));
    pumping.needed = sim_alloc(count);
    for (size_t i = 0; i < count; i++) {
        pumping.buffers[i] = sim_alloc_array(STUDIO_BATCH_ROWS, sizeof(studio_slot_t));
    }
    find_needed(&pumping, wanted);
    if (pipe->scan != NULL) {
        pump_scan(&pumping, sink, ctx);
    } else {
        pump_frame(&pumping, sink, ctx);
    }
    pipe->pumped = true;
    sim_free_each(pumping.buffers, count);
    SIM_FREE_ALL(pumping.buffers, pumping.given, pumping.needed);
}

// -- answers

static void put_slot(studio_out_t *out, studio_type_t type, studio_slot_t slot, bool csv)
{
    if (type == STUDIO_TEXT) {
        if (slot.text == NULL) {
            studio_out_text(out, csv ? "" : "null");
        } else if (csv) {
            studio_out_csv(out, slot.text);
        } else {
            studio_out_json(out, slot.text);
        }
    } else if (type == STUDIO_BOOL) {
        studio_out_text(out, slot.number > 0 ? "true" : "false");
    } else {
        studio_out_real(out, slot.number, csv);
    }
}

void studio_frame_csv(const studio_frame_t *frame, studio_out_t *out)
{
    for (size_t i = 0; i < frame->column_count; i++) {
        studio_out_text(out, i > 0 ? "," : "");
        studio_out_csv(out, frame->columns[i].name);
    }
    studio_out_text(out, "\n");
    for (size_t row = 0; row < frame->row_count; row++) {
        for (size_t i = 0; i < frame->column_count; i++) {
            studio_out_text(out, i > 0 ? "," : "");
            put_slot(out, frame->columns[i].type, frame->slots[row * frame->column_count + i],
                     true);
        }
        studio_out_text(out, "\n");
    }
}

static void write_step(const studio_step_result_t *result, size_t most, studio_out_t *out)
{
    const studio_frame_t *const frame = &result->frame;
    studio_out_text(out, "{\"do\":");
    studio_out_json(out, result->name);
    studio_out_text(out, ",\"words\":");
    studio_out_json(out, result->words != NULL ? result->words : "");
    studio_out_text(out, ",\"columns\":[");
    for (size_t i = 0; i < frame->column_count; i++) {
        studio_out_text(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        studio_out_json(out, frame->columns[i].name);
        studio_out_format(out,
                          ",\"type\":\"%s\",\"unit\":", studio_type_name(frame->columns[i].type));
        studio_out_json(out, frame->columns[i].unit);
        studio_out_text(out, "}");
    }
    studio_out_text(out, "],\"rows\":[");
    for (size_t row = 0; row < frame->row_count && row < most; row++) {
        studio_out_text(out, row > 0 ? ",\n[" : "\n[");
        for (size_t i = 0; i < frame->column_count; i++) {
            studio_out_text(out, i > 0 ? "," : "");
            put_slot(out, frame->columns[i].type, frame->slots[row * frame->column_count + i],
                     false);
        }
        studio_out_text(out, "]");
    }
    studio_out_format(out, "],\"count\":%" PRIu64 ",\"seconds\":%.6f", frame->all_rows,
                      result->seconds);
    char *const more = result->more != NULL ? json_dumps(result->more, JSON_COMPACT) : NULL;
    if (more != NULL) {
        studio_out_format(out, ",\"curves\":%s", more);
        json_free_t json_free = NULL;
        json_get_alloc_funcs(NULL, &json_free);
        json_free(more);
    }
    studio_out_text(out, "}");
}

void studio_analysis_write(const studio_analysis_t *analysis, studio_out_t *out)
{
    studio_out_text(out, "{\"steps\":[");
    for (size_t i = 0; i < analysis->count; i++) {
        studio_out_text(out, i > 0 ? ",\n" : "\n");
        write_step(&analysis->results[i],
                   i + 1 == analysis->count ? STUDIO_LAST_ROWS : STUDIO_PREVIEW_ROWS, out);
    }
    studio_out_text(out, "]}\n");
}
