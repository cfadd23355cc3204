// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/distributions.c - percentiles, shares and histograms of a column.
#include "studio/server/data/analysis/analysis_internal.h"

#include <math.h>
#include <string.h>

#define POINTS_MAX 5000

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
        studio__groups_add_keys(work, &groups, &result->frame);
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
    return number < 2 ? 2 : SIM_MIN(most, number);
}

sim_err_t studio__step_cdf(studio_work_t *work, studio_step_result_t *result)
{
    studio_groups_t groups;
    const sim_err_t code = collect_one(work, &groups);
    if (code == SIM_OK) {
        const size_t points = (size_t)whole_or(work->step, "points", 500, POINTS_MAX);
        const studio_frame_column_t *const column = &work->pipe->columns[groups.values[0]];
        studio__groups_add_keys(work, &groups, &result->frame);
        studio__frame_add_column(&result->frame, column->name, column->unit, STUDIO_NUMBER);
        studio__frame_add_column(&result->frame, "share", "", STUDIO_NUMBER);
        for (size_t i = 0; i < groups.count; i++) {
            studio_group_t *const group = &groups.groups[i];
            const size_t kept = studio__sort_values(group->values[0], group->count);
            const size_t shown = SIM_MIN(kept, points);
            for (size_t j = 0; j < shown; j++) {
                // The curve includes the least and the greatest value, each with its own share.
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
    double width; // width of a bin, of the logarithm if log is set
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
        studio__groups_add_keys(work, &groups, &result->frame);
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
