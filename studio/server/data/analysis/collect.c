// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/collect.c - the steps group and pivot: one value per group of rows.
#include "studio/server/data/analysis/analysis_internal.h"

#include <math.h>
#include <string.h>

#define PIVOT_COLUMNS_MAX 200u

void studio__groups_add_keys(const studio_work_t *work, const studio_groups_t *groups,
                             studio_frame_t *frame)
{
    for (size_t i = 0; i < groups->key_count; i++) {
        const studio_frame_column_t *const column = &work->pipe->columns[groups->keys[i]];
        studio__frame_add_column(frame, column->name, column->unit, column->type);
    }
}

// -- group

typedef struct take {
    const char *function;
    const char *as;
    size_t value; // index of the groups' values; SIZE_MAX: the count of rows
} take_t;

static sim_err_t take_functions(studio_work_t *work, studio_groups_t *groups, take_t *takes,
                                size_t *count)
{
    const json_t *const list = json_object_get(work->step, "take");
    *count = json_array_size(list);
    if (*count == 0 || *count > STUDIO_TAKES_MAX) {
        return studio__step_fail(work, "take: expected a list of 1 to 32 {function, column, as}");
    }
    for (size_t i = 0; i < *count; i++) {
        const json_t *const row = json_array_get(list, i);
        const char *const column = json_string_value(json_object_get(row, "column"));
        takes[i] = (take_t){json_string_value(json_object_get(row, "function")),
                            json_string_value(json_object_get(row, "as")), SIZE_MAX};
        if (takes[i].function == NULL || !studio__is_function(takes[i].function)) {
            return studio__step_fail(work,
                                     "take: function is '%.30s', expected count, sum, mean, min, "
                                     "max, median, p90, p99, p99.9, deviation, interval, distinct, "
                                     "first or last",
                                     takes[i].function != NULL ? takes[i].function : "");
        }
        if (column == NULL && strcmp(takes[i].function, "count") == 0) {
            continue;
        }
        studio_work_t inner = *work;
        inner.step = row;
        const size_t place = studio__step_column(&inner, "column", STUDIO_BOOL);
        if (place == SIZE_MAX) {
            return SIM_ERR_INVALID;
        }
        size_t j = 0;
        while (j < groups->value_count && groups->values[j] != place) {
            j++;
        }
        takes[i].value = j;
        groups->value_count += j == groups->value_count;
        groups->values[j] = place;
    }
    return SIM_OK;
}

static void fill_groups(studio_work_t *work, const studio_groups_t *groups, const take_t *takes,
                        size_t count, studio_frame_t *frame)
{
    studio__groups_add_keys(work, groups, frame);
    for (size_t i = 0; i < count; i++) {
        const studio_frame_column_t *const column =
            takes[i].value == SIZE_MAX ? NULL
                                       : &work->pipe->columns[groups->values[takes[i].value]];
        char *const name = takes[i].as != NULL ? sim_strdup(takes[i].as)
                           : column != NULL ? sim_format("%s_%s", takes[i].function, column->name)
                                            : sim_strdup("count");
        const bool text = column != NULL && column->type == STUDIO_TEXT &&
                          (takes[i].function[0] == 'f' || takes[i].function[0] == 'l');
        studio__frame_add_column(
            frame, name,
            column != NULL && studio__function_keeps_unit(takes[i].function) ? column->unit : "",
            text ? STUDIO_TEXT : STUDIO_NUMBER);
        sim_free(name);
    }
    for (size_t i = 0; i < groups->count; i++) {
        const studio_group_t *const group = &groups->groups[i];
        studio_slot_t *const row = studio__frame_add_row(frame);
        for (size_t j = 0; row != NULL && j < groups->key_count; j++) {
            row[j] = group->keys[j];
        }
        for (size_t j = 0; row != NULL && j < count; j++) {
            row[groups->key_count + j] =
                takes[j].value == SIZE_MAX
                    ? (studio_slot_t){.number = (double)group->count}
                    : studio__function_of(takes[j].function, groups->value_types[takes[j].value],
                                          group->values[takes[j].value], group->count);
        }
    }
}

sim_err_t studio__step_group(studio_work_t *work, studio_step_result_t *result)
{
    studio_groups_t groups = {.count = 0};
    take_t takes[STUDIO_TAKES_MAX];
    size_t count = 0;
    if (!studio__step_columns(work, "by", groups.keys, STUDIO_KEYS_MAX, &groups.key_count)) {
        return SIM_ERR_INVALID;
    }
    sim_err_t code = take_functions(work, &groups, takes, &count);
    if (code == SIM_OK) {
        code = studio__groups_collect(work, &groups);
    }
    if (code == SIM_OK) {
        fill_groups(work, &groups, takes, count, &result->frame);
        result->words = sim_format("%zu groups by %zu column(s)", groups.count, groups.key_count);
    }
    studio__groups_fini(&groups);
    return code;
}

// -- pivot

static char *text_of_key(studio_type_t type, studio_slot_t key)
{
    if (type == STUDIO_TEXT) {
        return sim_strdup(key.text != NULL ? key.text : "(missing)");
    }
    return isnan(key.number) ? sim_strdup("(missing)") : sim_format("%.12g", key.number);
}

static sim_err_t fill_pivot(studio_work_t *work, const studio_groups_t *groups,
                            const char *function, studio_frame_t *frame)
{
    // The values of the last key become the columns.
    studio_groups_t outer = *groups;
    outer.key_count--;
    studio__groups_add_keys(work, &outer, frame);
    const size_t last = outer.key_count;
    size_t *const places = sim_alloc_array(groups->count, sizeof(*places));
    const studio_frame_column_t *const value = &work->pipe->columns[groups->values[0]];
    sim_err_t code = SIM_OK;
    for (size_t i = 0; i < groups->count && code == SIM_OK; i++) {
        char *const name = text_of_key(groups->key_types[last], groups->groups[i].keys[last]);
        size_t j = last;
        while (j < frame->column_count && strcmp(frame->columns[j].name, name) != 0) {
            j++;
        }
        places[i] = j;
        if (j == frame->column_count && j - last == PIVOT_COLUMNS_MAX) {
            code = studio__step_fail(work, "columns: more than 200 different values");
        } else if (j == frame->column_count) {
            studio__frame_add_column(frame, name,
                                     studio__function_keeps_unit(function) ? value->unit : "",
                                     STUDIO_NUMBER);
        }
        sim_free(name);
    }
    for (size_t i = 0; i < groups->count && code == SIM_OK; i++) {
        const studio_group_t *const group = &groups->groups[i];
        studio_groups_t keyed = outer;
        size_t row = 0;
        for (; row < frame->row_count; row++) {
            studio_slot_t *const have = frame->slots + row * frame->column_count;
            bool same = true;
            for (size_t k = 0; k < keyed.key_count && same; k++) {
                same = keyed.key_types[k] == STUDIO_TEXT
                           ? have[k].text == group->keys[k].text
                           : !(have[k].number < group->keys[k].number) &&
                                 !(have[k].number > group->keys[k].number);
            }
            if (same) {
                break;
            }
        }
        if (row == frame->row_count) {
            studio_slot_t *const made = studio__frame_add_row(frame);
            SIM_CHECK(made != NULL);
            for (size_t k = 0; k < frame->column_count; k++) {
                made[k] = k < last ? group->keys[k] : (studio_slot_t){.number = (double)NAN};
            }
        }
        frame->slots[row * frame->column_count + places[i]] =
            studio__function_of(function, groups->value_types[0], group->values[0], group->count);
    }
    sim_free(places);
    return code;
}

sim_err_t studio__step_pivot(studio_work_t *work, studio_step_result_t *result)
{
    studio_groups_t groups = {.count = 0, .value_count = 1};
    const char *function = json_string_value(json_object_get(work->step, "function"));
    function = function != NULL ? function : "mean";
    if (!studio__step_columns(work, "rows", groups.keys, STUDIO_KEYS_MAX - 1, &groups.key_count)) {
        return SIM_ERR_INVALID;
    }
    const size_t across = studio__step_column(work, "columns", STUDIO_BOOL);
    groups.values[0] =
        across == SIZE_MAX ? SIZE_MAX : studio__step_column(work, "column", STUDIO_NUMBER);
    if (groups.values[0] == SIZE_MAX) {
        return SIM_ERR_INVALID;
    }
    if (!studio__is_function(function) || strcmp(function, "first") == 0 ||
        strcmp(function, "last") == 0) {
        return studio__step_fail(work, "function: '%.30s' is none of group's", function);
    }
    groups.keys[groups.key_count++] = across;
    sim_err_t code = studio__groups_collect(work, &groups);
    if (code == SIM_OK && groups.count > 20000) {
        code = studio__step_fail(work, "more than 20000 cells: choose fewer rows");
    }
    if (code == SIM_OK) {
        code = fill_pivot(work, &groups, function, &result->frame);
        result->words = sim_format("%.30s in a column for each value", function);
    }
    studio__groups_fini(&groups);
    return code;
}
