// SPDX-License-Identifier: Apache-2.0
// studio/data/analysis_collect.c - steps that make a small table of many rows.
#include "studio/data/analysis_internal.h"

#include "results/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 5000
#define PIVOT_COLUMNS_MAX 200u

// -- functions of a group

static const char *const functions[] = {"count",
                                        "sum",
                                        "mean",
                                        "min",
                                        "max",
                                        "median",
                                        "deviation",
                                        "interval",
                                        "distinct",
                                        "first",
                                        "last"};

// "p99", "p99.9", "p999" (99.9).
static bool percent_of(const char *name, double *percent)
{
    if (name[0] != 'p' || strspn(name + 1, "0123456789.") != strlen(name + 1) || name[1] == '\0' ||
        strlen(name) > 12) {
        return false;
    }
    char text[16];
    const bool pointless =
        strchr(name, '.') == NULL && strlen(name) > 3 && strcmp(name, "p100") != 0;
    (void)snprintf(text,
                   sizeof(text),
                   pointless ? "%.2s.%s" : "%.2s%s",
                   name + 1,
                   strlen(name) > 3 ? name + 3 : "");
    *percent = strtod(text, NULL);
    return *percent >= 0 && *percent <= 100;
}

static bool is_function(const char *name)
{
    double percent = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(functions); i++) {
        if (strcmp(functions[i], name) == 0) {
            return true;
        }
    }
    return percent_of(name, &percent);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const studio_slot_t *)a)->text, ((const studio_slot_t *)b)->text);
}

static double of_texts(const char *name, const studio_slot_t *values, size_t count)
{
    studio_slot_t *const sorted = sim_alloc_array(count, sizeof(*sorted));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        sorted[kept] = values[i];
        kept += values[i].text != NULL;
    }
    size_t distinct = kept > 0;
    if (kept > 0) {
        qsort(sorted, kept, sizeof(*sorted), by_text);
    }
    for (size_t i = 1; i < kept; i++) {
        distinct += strcmp(sorted[i].text, sorted[i - 1].text) != 0;
    }
    sim_free(sorted);
    return strcmp(name, "count") == 0      ? (double)kept
           : strcmp(name, "distinct") == 0 ? (double)distinct
                                           : (double)NAN;
}

static double of_sorted(const char *name, const studio_slot_t *sorted, size_t count)
{
    double percent = 50;
    if (strcmp(name, "count") == 0) {
        return (double)count;
    }
    if (strcmp(name, "distinct") == 0) {
        size_t distinct = count > 0;
        for (size_t i = 1; i < count; i++) {
            distinct += sorted[i].number > sorted[i - 1].number;
        }
        return (double)distinct;
    }
    if (count == 0) {
        return strcmp(name, "sum") == 0 ? 0 : (double)NAN;
    }
    if (strcmp(name, "min") == 0) {
        return sorted[0].number;
    }
    if (strcmp(name, "max") == 0) {
        return sorted[count - 1].number;
    }
    if (strcmp(name, "median") == 0 || percent_of(name, &percent)) {
        return studio__percentile(sorted, count, percent);
    }
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += sorted[i].number;
    }
    if (strcmp(name, "sum") == 0) {
        return sum;
    }
    if (strcmp(name, "mean") == 0) {
        return sum / (double)count;
    }
    // The same intervals as rocesim compare's.
    double *const numbers = sim_alloc_array(count, sizeof(*numbers));
    for (size_t i = 0; i < count; i++) {
        numbers[i] = sorted[i].number;
    }
    const results_spread_t spread = results_spread(numbers, count);
    sim_free(numbers);
    const double value = strcmp(name, "deviation") == 0 ? spread.deviation : spread.half;
    return isfinite(value) ? value : (double)NAN;
}

// Sorts the values, but for first and last, which come before.
static studio_slot_t function_of(const char *name,
                                 studio_type_t type,
                                 const studio_slot_t *values,
                                 size_t count)
{
    const bool first = strcmp(name, "first") == 0;
    if (first || strcmp(name, "last") == 0) {
        return count > 0             ? values[first ? 0 : count - 1]
               : type == STUDIO_TEXT ? (studio_slot_t){.text = NULL}
                                     : (studio_slot_t){.number = (double)NAN};
    }
    if (type == STUDIO_TEXT) {
        return (studio_slot_t){.number = of_texts(name, values, count)};
    }
    studio_slot_t *const sorted = sim_alloc_array(count, sizeof(*sorted));
    memcpy(sorted, values, count * sizeof(*sorted));
    const size_t kept = studio__sort_values(sorted, count);
    const double value = of_sorted(name, sorted, kept);
    sim_free(sorted);
    return (studio_slot_t){.number = value};
}

static bool keeps_unit(const char *function)
{
    return strcmp(function, "count") != 0 && strcmp(function, "distinct") != 0;
}

static void add_key_columns(const studio_work_t *work,
                            const studio_groups_t *groups,
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
    size_t value; // of the groups; SIZE_MAX: count of rows
} take_t;

static sim_err_t take_functions(studio_work_t *work,
                                studio_groups_t *groups,
                                take_t *takes,
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
                            json_string_value(json_object_get(row, "as")),
                            SIZE_MAX};
        if (takes[i].function == NULL || !is_function(takes[i].function)) {
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

static void fill_groups(studio_work_t *work,
                        const studio_groups_t *groups,
                        const take_t *takes,
                        size_t count,
                        studio_frame_t *frame)
{
    add_key_columns(work, groups, frame);
    for (size_t i = 0; i < count; i++) {
        const studio_frame_column_t *const column =
            takes[i].value == SIZE_MAX ? NULL
                                       : &work->pipe->columns[groups->values[takes[i].value]];
        char *const name = takes[i].as != NULL ? sim_strdup(takes[i].as)
                           : column != NULL ? sim_format("%s_%s", takes[i].function, column->name)
                                            : sim_strdup("count");
        const bool text = column != NULL && column->type == STUDIO_TEXT &&
                          (takes[i].function[0] == 'f' || takes[i].function[0] == 'l');
        studio__frame_add_column(frame,
                                 name,
                                 column != NULL && keeps_unit(takes[i].function) ? column->unit
                                                                                 : "",
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
            row[groups->key_count + j] = takes[j].value == SIZE_MAX
                                             ? (studio_slot_t){.number = (double)group->count}
                                             : function_of(takes[j].function,
                                                           groups->value_types[takes[j].value],
                                                           group->values[takes[j].value],
                                                           group->count);
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

static sim_err_t fill_pivot(studio_work_t *work,
                            const studio_groups_t *groups,
                            const char *function,
                            studio_frame_t *frame)
{
    // The last key is the one that makes columns.
    studio_groups_t outer = *groups;
    outer.key_count--;
    add_key_columns(work, &outer, frame);
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
            studio__frame_add_column(frame,
                                     name,
                                     keeps_unit(function) ? value->unit : "",
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
            function_of(function, groups->value_types[0], group->values[0], group->count);
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
    if (!is_function(function) || strcmp(function, "first") == 0 || strcmp(function, "last") == 0) {
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

// -- distributions

static sim_err_t collect_one(studio_work_t *work, studio_groups_t *groups)
{
    *groups = (studio_groups_t){.value_count = 1};
    groups->values[0] = studio__step_column(work, "column", STUDIO_NUMBER);
    if (groups->values[0] == SIZE_MAX ||
        !studio__step_columns(work, "by", groups->keys, STUDIO_KEYS_MAX, &groups->key_count)) {
        groups->value_count = 0;
        return SIM_ERR_INVALID;
    }
    return studio__groups_collect(work, groups);
}

static void put_keys(const studio_groups_t *groups, const studio_group_t *group, studio_slot_t *row)
{
    for (size_t i = 0; i < groups->key_count; i++) {
        row[i] = group->keys[i];
    }
}

sim_err_t studio__step_percentiles(studio_work_t *work, studio_step_result_t *result)
{
    static const double usual[] = {1, 10, 50, 90, 99, 99.9};
    const json_t *const points = json_object_get(work->step, "points");
    const size_t count = points != NULL ? json_array_size(points) : SIM_COUNT_OF(usual);
    if (count == 0 || count > 100) {
        return studio__step_fail(work,
                                 "points: expected a list of percents, such as [50, 99, 99.9]");
    }
    studio_groups_t groups;
    const sim_err_t code = collect_one(work, &groups);
    if (code == SIM_OK) {
        const studio_frame_column_t *const column = &work->pipe->columns[groups.values[0]];
        add_key_columns(work, &groups, &result->frame);
        studio__frame_add_column(&result->frame, "percent", "", STUDIO_NUMBER);
        studio__frame_add_column(&result->frame, column->name, column->unit, STUDIO_NUMBER);
        for (size_t i = 0; i < groups.count; i++) {
            studio_group_t *const group = &groups.groups[i];
            const size_t kept = studio__sort_values(group->values[0], group->count);
            for (size_t j = 0; j < count; j++) {
                const double percent =
                    points != NULL ? json_number_value(json_array_get(points, j)) : usual[j];
                studio_slot_t *const row = studio__frame_add_row(&result->frame);
                if (row != NULL) {
                    put_keys(&groups, group, row);
                    row[groups.key_count].number = percent;
                    row[groups.key_count + 1].number =
                        studio__percentile(group->values[0], kept, percent);
                }
            }
        }
        result->words = sim_format("percentiles of %.100s", column->name);
    }
    studio__groups_fini(&groups);
    return code;
}

static int64_t whole_or(const json_t *step, const char *key, int64_t otherwise, int64_t most)
{
    const json_t *const value = json_object_get(step, key);
    const json_int_t number = json_is_integer(value) ? json_integer_value(value) : otherwise;
    return number < 2 ? 2 : number > most ? most : number;
}

sim_err_t studio__step_cdf(studio_work_t *work, studio_step_result_t *result)
{
    studio_groups_t groups;
    const sim_err_t code = collect_one(work, &groups);
    if (code == SIM_OK) {
        const size_t points = (size_t)whole_or(work->step, "points", 500, POINTS_MAX);
        const studio_frame_column_t *const column = &work->pipe->columns[groups.values[0]];
        add_key_columns(work, &groups, &result->frame);
        studio__frame_add_column(&result->frame, column->name, column->unit, STUDIO_NUMBER);
        studio__frame_add_column(&result->frame, "share", "", STUDIO_NUMBER);
        for (size_t i = 0; i < groups.count; i++) {
            studio_group_t *const group = &groups.groups[i];
            const size_t kept = studio__sort_values(group->values[0], group->count);
            const size_t shown = kept < points ? kept : points;
            for (size_t j = 0; j < shown; j++) {
                // From the least to the greatest, both with their own share.
                const size_t at = shown == 1 ? 0 : j * (kept - 1) / (shown - 1);
                studio_slot_t *const row = studio__frame_add_row(&result->frame);
                if (row != NULL) {
                    put_keys(&groups, group, row);
                    row[groups.key_count] = group->values[0][at];
                    row[groups.key_count + 1].number = (double)(at + 1) / (double)kept;
                }
            }
        }
        result->words = sim_format("share of rows up to each %.100s", column->name);
    }
    studio__groups_fini(&groups);
    return code;
}

typedef struct bins {
    double least;
    double width; // of the logarithm where log
    size_t count;
    bool log;
} bins_t;

static double bin_begin(const bins_t *bins, size_t bin)
{
    const double at = bins->least + bins->width * (double)bin;
    return bins->log ? exp(at) : at;
}

static size_t bin_of(const bins_t *bins, double value)
{
    const double at = ((bins->log ? log(value) : value) - bins->least) / bins->width;
    return at <= 0 ? 0 : at >= (double)bins->count ? bins->count - 1 : (size_t)at;
}

static void fill_histogram(const studio_groups_t *groups, const bins_t *bins, studio_frame_t *frame)
{
    uint64_t *const counts = sim_alloc_array(bins->count, sizeof(*counts));
    for (size_t i = 0; i < groups->count; i++) {
        const studio_group_t *const group = &groups->groups[i];
        uint64_t all = 0;
        memset(counts, 0, bins->count * sizeof(*counts));
        for (size_t j = 0; j < group->count; j++) {
            const double value = group->values[0][j].number;
            if (!isnan(value) && (!bins->log || value > 0)) {
                counts[bin_of(bins, value)]++;
                all++;
            }
        }
        for (size_t bin = 0; bin < bins->count; bin++) {
            studio_slot_t *const row = studio__frame_add_row(frame);
            if (row != NULL) {
                put_keys(groups, group, row);
                studio_slot_t *const rest = row + groups->key_count;
                rest[0].number = bin_begin(bins, bin);
                rest[1].number = bin_begin(bins, bin + 1);
                rest[2].number = (double)counts[bin];
                rest[3].number = all > 0 ? (double)counts[bin] / (double)all : 0;
            }
        }
    }
    sim_free(counts);
}

sim_err_t studio__step_histogram(studio_work_t *work, studio_step_result_t *result)
{
    const char *const scale = json_string_value(json_object_get(work->step, "scale"));
    studio_groups_t groups;
    const sim_err_t code = collect_one(work, &groups);
    if (code == SIM_OK) {
        bins_t bins = {.count = (size_t)whole_or(work->step, "bins", 40, POINTS_MAX),
                       .log = scale != NULL && strcmp(scale, "log") == 0};
        double least = (double)INFINITY;
        double most = -(double)INFINITY;
        for (size_t i = 0; i < groups.count; i++) {
            for (size_t j = 0; j < groups.groups[i].count; j++) {
                const double value = groups.groups[i].values[0][j].number;
                if (!isnan(value) && (!bins.log || value > 0)) {
                    least = fmin(least, value);
                    most = fmax(most, value);
                }
            }
        }
        const double from = bins.log ? log(least) : least;
        const double to = bins.log ? log(most) : most;
        const studio_frame_column_t *const column = &work->pipe->columns[groups.values[0]];
        add_key_columns(work, &groups, &result->frame);
        studio__frame_add_column(&result->frame, "from", column->unit, STUDIO_NUMBER);
        studio__frame_add_column(&result->frame, "to", column->unit, STUDIO_NUMBER);
        studio__frame_add_column(&result->frame, "count", "", STUDIO_NUMBER);
        studio__frame_add_column(&result->frame, "share", "", STUDIO_NUMBER);
        if (least <= most) {
            bins.least = from;
            bins.width = to > from ? (to - from) / (double)bins.count : 1;
            fill_histogram(&groups, &bins, &result->frame);
        }
        result->words = sim_format("%.100s in %zu bins", column->name, bins.count);
    }
    studio__groups_fini(&groups);
    return code;
}

// -- sort and limit

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
            row[j] = studio__analysis_slot(keeping->analysis,
                                           keeping->pipe->columns[j].type,
                                           batch->columns[j][i]);
        }
    }
}

static void keep_rows(studio_work_t *work, studio_frame_t *frame, size_t most)
{
    const studio_pipe_t *const pipe = work->pipe;
    for (size_t i = 0; i < pipe->column_count; i++) {
        studio__frame_add_column(frame,
                                 pipe->columns[i].name,
                                 pipe->columns[i].unit,
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
    size_t row; // where it lay: equal ones stay in order
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
        rows[i] = (sorting_t){column,
                              descending,
                              frame->columns[column].type == STUDIO_TEXT,
                              i,
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
    // The least important first: each keeps the order before.
    for (size_t i = count; i-- > 0;) {
        const json_t *const row = json_array_get(by, i);
        sort_frame(&result->frame, columns[i], json_is_true(json_object_get(row, "descending")));
    }
    result->words = sim_format("sorted by %zu column(s)", count);
    return SIM_OK;
}
