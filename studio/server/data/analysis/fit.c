// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/fit.c - means with intervals and stars, fits, outliers.
#include "results/spread.h"
#include "studio/server/data/analysis/analysis_internal.h"

#include "results/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CURVE_POINTS 50u
#define CURVES_MAX 100u

static void add_keys(const studio_work_t *work, const studio_groups_t *groups,
                     studio_frame_t *frame)
{
    for (size_t i = 0; i < groups->key_count; i++) {
        const studio_frame_column_t *const column = &work->pipe->columns[groups->keys[i]];
        studio__frame_add_column(frame, column->name, column->unit, column->type);
    }
}

static results_spread_t spread_of(const studio_slot_t *values, size_t count)
{
    double *const numbers = sim_alloc_array(count, sizeof(*numbers));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        numbers[kept] = values[i].number;
        kept += isnan(values[i].number) == 0;
    }
    const results_spread_t spread = results_spread(numbers, kept);
    sim_free(numbers);
    return spread;
}

// -- means: pairs of the same seed, as rocesim compare has them

// Returns the group with equal other keys whose last key is the base.
static const studio_group_t *base_of(const studio_groups_t *groups, const studio_group_t *group,
                                     const char *base)
{
    const size_t last = groups->key_count - 1;
    studio_slot_t keys[STUDIO_KEYS_MAX] = {{.number = 0}};
    memcpy(keys, group->keys, sizeof(keys));
    for (size_t i = 0; i < groups->count; i++) {
        const studio_slot_t key = groups->groups[i].keys[last];
        char number[40];
        (void)snprintf(number, sizeof(number), "%.12g", key.number);
        const bool is_base = groups->key_types[last] == STUDIO_TEXT
                                 ? key.text != NULL && strcmp(key.text, base) == 0
                                 : strcmp(number, base) == 0;
        if (is_base) {
            keys[last] = key;
            const size_t found = studio__groups_find(groups, keys);
            return found != SIZE_MAX ? &groups->groups[found] : NULL;
        }
    }
    return NULL;
}

static bool same_pair(studio_type_t type, studio_slot_t a, studio_slot_t b)
{
    if (type == STUDIO_TEXT) {
        return a.text != NULL && a.text == b.text;
    }
    return !(a.number < b.number) && !(a.number > b.number) && !isnan(a.number) && !isnan(b.number);
}

// Returns the differences of paired rows; each pair must occur exactly once on both sides.
static results_spread_t difference_of(const studio_groups_t *groups, const studio_group_t *group,
                                      const studio_group_t *base)
{
    studio_slot_t *const differences = sim_alloc_array(group->count, sizeof(*differences));
    size_t count = 0;
    for (size_t i = 0; i < group->count && group->count <= 10000; i++) {
        size_t partner = SIZE_MAX;
        size_t partners = 0;
        for (size_t j = 0; j < base->count && base->count <= 10000; j++) {
            if (same_pair(groups->value_types[1], group->values[1][i], base->values[1][j])) {
                partner = j;
                partners++;
            }
        }
        if (partners == 1) {
            differences[count++].number =
                group->values[0][i].number - base->values[0][partner].number;
        }
    }
    const results_spread_t spread = spread_of(differences, count);
    sim_free(differences);
    return spread;
}

static void put_means(studio_work_t *work, const studio_groups_t *groups, const char *base,
                      studio_frame_t *frame)
{
    for (size_t i = 0; i < groups->count; i++) {
        const studio_group_t *const group = &groups->groups[i];
        const results_spread_t spread = spread_of(group->values[0], group->count);
        const studio_group_t *const other =
            base != NULL && groups->value_count == 2 ? base_of(groups, group, base) : NULL;
        studio_slot_t *const row = studio__frame_add_row(frame);
        if (row == NULL) {
            return;
        }
        memcpy(row, group->keys, groups->key_count * sizeof(*row));
        studio_slot_t *const rest = row + groups->key_count;
        rest[0].number = (double)spread.count;
        rest[1].number = spread.count > 0 ? spread.mean : (double)NAN;
        rest[2].number = spread.count > 1 ? spread.half : (double)NAN;
        rest[3].number = (double)NAN;
        rest[4].number = (double)NAN;
        rest[5].text = NULL;
        if (other != NULL && other != group) {
            const results_spread_t difference = difference_of(groups, group, other);
            rest[3].number = difference.count > 0 ? difference.mean : (double)NAN;
            rest[4].number = difference.count > 1 ? difference.half : (double)NAN;
            rest[5].text = studio__analysis_text(
                work->analysis, results_spread_is_not_zero(&difference) ? "*" : "");
        }
    }
}

sim_err_t studio__step_means(studio_work_t *work, studio_step_result_t *result)
{
    studio_groups_t groups = {.value_count = 1};
    const json_t *const base = json_object_get(work->step, "base");
    char *base_text = json_is_string(base)   ? sim_strdup(json_string_value(base))
                      : json_is_number(base) ? sim_format("%.12g", json_number_value(base))
                                             : NULL;
    groups.values[0] = studio__step_column(work, "value", STUDIO_NUMBER);
    sim_err_t code =
        groups.values[0] != SIZE_MAX && studio__step_columns(work, "by", groups.keys,
                                                             STUDIO_KEYS_MAX - 1, &groups.key_count)
            ? SIM_OK
            : SIM_ERR_INVALID;
    if (code == SIM_OK && json_object_get(work->step, "versus") != NULL) {
        const size_t versus = studio__step_column(work, "versus", STUDIO_BOOL);
        code = versus != SIZE_MAX ? SIM_OK : SIM_ERR_INVALID;
        groups.keys[groups.key_count] = versus;
        groups.key_count += code == SIM_OK;
        const char *pair = json_string_value(json_object_get(work->step, "pair"));
        const size_t seed = studio__pipe_find(work->pipe, pair != NULL ? pair : "seed");
        if (code == SIM_OK && seed < work->pipe->column_count) {
            groups.values[groups.value_count++] = seed;
        }
    }
    if (code == SIM_OK) {
        code = studio__groups_collect(work, &groups);
    } else {
        groups.value_count = 0;
    }
    if (code == SIM_OK) {
        const char *const unit = work->pipe->columns[groups.values[0]].unit;
        studio_frame_t *const frame = &result->frame;
        add_keys(work, &groups, frame);
        studio__frame_add_column(frame, "count", "", STUDIO_NUMBER);
        studio__frame_add_column(frame, "mean", unit, STUDIO_NUMBER);
        studio__frame_add_column(frame, "interval", unit, STUDIO_NUMBER);
        studio__frame_add_column(frame, "difference", unit, STUDIO_NUMBER);
        studio__frame_add_column(frame, "difference_interval", unit, STUDIO_NUMBER);
        studio__frame_add_column(frame, "stars", "", STUDIO_TEXT);
        put_means(work, &groups, base_text, frame);
        result->words =
            base_text == NULL
                ? sim_format("means with 95 %% intervals (Student's t)")
                : sim_format("means with 95 %% intervals (Student's t), against %.100s", base_text);
    }
    studio__groups_fini(&groups);
    sim_free(base_text);
    return code;
}

// -- fits by least squares

typedef enum curve {
    LINEAR,
    LOGARITHMIC,
    POWER,
    EXPONENTIAL,
} curve_t;

typedef struct fit {
    double slope;
    double offset;
    double r2;
    size_t count;
    double least; // least x
    double most;
} fit_t;

static double image(bool logarithm, double value)
{
    return logarithm ? value > 0 ? log(value) : (double)NAN : value;
}

static fit_t fit_of(curve_t curve, const studio_group_t *group)
{
    const bool log_x = curve == LOGARITHMIC || curve == POWER;
    const bool log_y = curve == POWER || curve == EXPONENTIAL;
    fit_t fit = {.least = (double)INFINITY, .most = -(double)INFINITY};
    double mean_x = 0;
    double mean_y = 0;
    double xx = 0;
    double xy = 0;
    double yy = 0;
    for (size_t i = 0; i < group->count; i++) {
        const double x = image(log_x, group->values[0][i].number);
        const double y = image(log_y, group->values[1][i].number);
        if (isnan(x) || isnan(y)) {
            continue;
        }
        // Welford's method: sums of squares about the means, updated point by point.
        const double n = (double)++fit.count;
        const double dx = x - mean_x;
        const double dy = y - mean_y;
        mean_x += dx / n;
        mean_y += dy / n;
        xx += dx * (x - mean_x);
        yy += dy * (y - mean_y);
        xy += dx * (y - mean_y);
        fit.least = fmin(fit.least, group->values[0][i].number);
        fit.most = fmax(fit.most, group->values[0][i].number);
    }
    fit.slope = xx > 0 ? xy / xx : (double)NAN;
    fit.offset = mean_y - fit.slope * mean_x;
    fit.r2 = xx > 0 && yy > 0 ? xy * xy / (xx * yy) : (double)NAN;
    if (log_y) {
        fit.offset = exp(fit.offset);
    }
    return fit;
}

static double fitted(curve_t curve, const fit_t *fit, double x)
{
    switch (curve) {
    case LINEAR:
        return fit->slope * x + fit->offset;
    case LOGARITHMIC:
        return fit->slope * log(x) + fit->offset;
    case POWER:
        return fit->offset * pow(x, fit->slope);
    case EXPONENTIAL:
    default:
        return fit->offset * exp(fit->slope * x);
    }
}

static char *formula(curve_t curve, const fit_t *fit)
{
    switch (curve) {
    case LINEAR:
        return sim_format("y = %.6g x + %.6g", fit->slope, fit->offset);
    case LOGARITHMIC:
        return sim_format("y = %.6g ln(x) + %.6g", fit->slope, fit->offset);
    case POWER:
        return sim_format("y = %.6g x^%.6g", fit->offset, fit->slope);
    case EXPONENTIAL:
    default:
        return sim_format("y = %.6g e^(%.6g x)", fit->offset, fit->slope);
    }
}

static json_t *curve_points(curve_t curve, const fit_t *fit, size_t group, const char *name)
{
    json_t *const xs = json_array();
    json_t *const ys = json_array();
    const bool by_factors = (curve == LOGARITHMIC || curve == POWER) && fit->least > 0;
    for (size_t i = 0; i <= CURVE_POINTS; i++) {
        const double share = (double)i / CURVE_POINTS;
        const double x = by_factors ? fit->least * pow(fit->most / fit->least, share)
                                    : fit->least + (fit->most - fit->least) * share;
        const double y = fitted(curve, fit, x);
        if (isfinite(x) && isfinite(y)) {
            json_array_append_new(xs, json_real(x));
            json_array_append_new(ys, json_real(y));
        }
    }
    return json_pack("{s:s,s:I,s:o,s:o}", "name", name, "row", (json_int_t)group, "x", xs, "y", ys);
}

static void put_fits(studio_work_t *work, const studio_groups_t *groups, curve_t curve,
                     studio_step_result_t *result)
{
    studio_frame_t *const frame = &result->frame;
    static const char *const names[] = {"slope", "offset", "r2", "count"};
    add_keys(work, groups, frame);
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        studio__frame_add_column(frame, names[i], "", STUDIO_NUMBER);
    }
    studio__frame_add_column(frame, "words", "", STUDIO_TEXT);
    result->more = json_array();
    for (size_t i = 0; i < groups->count; i++) {
        const fit_t fit = fit_of(curve, &groups->groups[i]);
        studio_slot_t *const row = studio__frame_add_row(frame);
        if (row == NULL) {
            return;
        }
        memcpy(row, groups->groups[i].keys, groups->key_count * sizeof(*row));
        studio_slot_t *const rest = row + groups->key_count;
        rest[0].number = fit.slope;
        rest[1].number = isfinite(fit.offset) ? fit.offset : (double)NAN;
        rest[2].number = fit.r2;
        rest[3].number = (double)fit.count;
        char *const words =
            isnan(fit.slope) ? sim_strdup("not enough points") : formula(curve, &fit);
        rest[4].text = studio__analysis_text(work->analysis, words);
        sim_free(words);
        if (!isnan(fit.slope) && i < CURVES_MAX) {
            json_array_append_new(result->more, curve_points(curve, &fit, i, rest[4].text));
        }
    }
}

sim_err_t studio__step_fit(studio_work_t *work, studio_step_result_t *result)
{
    static const char *const kinds[] = {"linear", "log", "power", "exponential"};
    const char *kind = json_string_value(json_object_get(work->step, "kind"));
    kind = kind != NULL ? kind : "linear";
    size_t curve = 0;
    while (curve < SIM_COUNT_OF(kinds) && strcmp(kinds[curve], kind) != 0) {
        curve++;
    }
    if (curve == SIM_COUNT_OF(kinds)) {
        return studio__step_fail(work, "kind: expected linear, log, power or exponential");
    }
    studio_groups_t groups = {.value_count = 2};
    groups.values[0] = studio__step_column(work, "x", STUDIO_NUMBER);
    groups.values[1] =
        groups.values[0] == SIZE_MAX ? SIZE_MAX : studio__step_column(work, "y", STUDIO_NUMBER);
    if (groups.values[1] == SIZE_MAX ||
        !studio__step_columns(work, "by", groups.keys, STUDIO_KEYS_MAX, &groups.key_count)) {
        return SIM_ERR_INVALID;
    }
    const sim_err_t code = studio__groups_collect(work, &groups);
    if (code == SIM_OK) {
        put_fits(work, &groups, (curve_t)curve, result);
        result->words = sim_format("%s fit by least squares", kinds[curve]);
    }
    studio__groups_fini(&groups);
    return code;
}

// -- outliers

typedef struct limits {
    double from;
    double to;
} limits_t;

typedef struct choosing {
    studio_analysis_t *analysis;
    const studio_pipe_t *pipe;
    const studio_groups_t *groups;
    const limits_t *limits;
    studio_frame_t *frame;
    bool outliers;
} choosing_t;

static limits_t limits_of(const char *method, double k, studio_slot_t *values, size_t count)
{
    const results_spread_t spread = spread_of(values, count);
    const size_t kept = studio__sort_values(values, count);
    const double median = studio__percentile(values, kept, 50);
    if (kept == 0) {
        return (limits_t){-(double)INFINITY, (double)INFINITY};
    }
    if (strcmp(method, "deviation") == 0) {
        return (limits_t){spread.mean - k * spread.deviation, spread.mean + k * spread.deviation};
    }
    if (strcmp(method, "iqr") == 0) {
        const double low = studio__percentile(values, kept, 25);
        const double high = studio__percentile(values, kept, 75);
        return (limits_t){low - k * (high - low), high + k * (high - low)};
    }
    for (size_t i = 0; i < kept; i++) {
        values[i].number = fabs(values[i].number - median);
    }
    (void)studio__sort_values(values, kept);
    // The factor 1.4826 turns the median deviation into the standard deviation of a normal
    // distribution.
    const double mad = 1.4826 * studio__percentile(values, kept, 50);
    return (limits_t){median - k * mad, median + k * mad};
}

static void choose(const studio_batch_t *batch, void *ctx)
{
    const choosing_t *const choosing = ctx;
    const studio_groups_t *const groups = choosing->groups;
    for (size_t i = 0; i < batch->rows; i++) {
        studio_slot_t keys[STUDIO_KEYS_MAX] = {{.number = 0}};
        for (size_t j = 0; j < groups->key_count; j++) {
            keys[j] = batch->columns[groups->keys[j]][i];
        }
        const size_t group = studio__groups_find(groups, keys);
        const double value = batch->columns[groups->values[0]][i].number;
        const bool outside = group != SIZE_MAX && (value < choosing->limits[group].from ||
                                                   value > choosing->limits[group].to);
        if (outside != choosing->outliers || isnan(value)) {
            continue;
        }
        studio_slot_t *const row = studio__frame_add_row(choosing->frame);
        for (size_t j = 0; row != NULL && j < choosing->pipe->column_count; j++) {
            row[j] = studio__analysis_slot(choosing->analysis, choosing->pipe->columns[j].type,
                                           batch->columns[j][i]);
        }
    }
}

sim_err_t studio__step_outliers(studio_work_t *work, studio_step_result_t *result)
{
    const char *method = json_string_value(json_object_get(work->step, "method"));
    const char *const kept = json_string_value(json_object_get(work->step, "keep"));
    const json_t *const factor = json_object_get(work->step, "k");
    method = method != NULL ? method : "iqr";
    if (strcmp(method, "iqr") != 0 && strcmp(method, "mad") != 0 &&
        strcmp(method, "deviation") != 0) {
        return studio__step_fail(work, "method: expected iqr, mad or deviation");
    }
    const double k = json_is_number(factor)       ? json_number_value(factor)
                     : strcmp(method, "iqr") == 0 ? 1.5
                                                  : 3;
    studio_groups_t groups = {.value_count = 1};
    groups.values[0] = studio__step_column(work, "column", STUDIO_NUMBER);
    if (groups.values[0] == SIZE_MAX ||
        !studio__step_columns(work, "by", groups.keys, STUDIO_KEYS_MAX, &groups.key_count)) {
        return SIM_ERR_INVALID;
    }
    const sim_err_t code = studio__groups_collect(work, &groups);
    if (code == SIM_OK) {
        limits_t *const limits = sim_alloc_array(groups.count, sizeof(*limits));
        for (size_t i = 0; i < groups.count; i++) {
            limits[i] = limits_of(method, k, groups.groups[i].values[0], groups.groups[i].count);
        }
        for (size_t i = 0; i < work->pipe->column_count; i++) {
            studio__frame_add_column(&result->frame, work->pipe->columns[i].name,
                                     work->pipe->columns[i].unit, work->pipe->columns[i].type);
        }
        choosing_t choosing = {work->analysis, work->pipe,
                               &groups,        limits,
                               &result->frame, kept == NULL || strcmp(kept, "rest") != 0};
        studio__pipe_pump(work->analysis, work->pipe, NULL, choose, &choosing);
        sim_free(limits);
        result->words = choosing.outliers
                            ? sim_format("rows beyond %.6g times the %s", k, method)
                            : sim_format("all but rows beyond %.6g times the %s", k, method);
    }
    studio__groups_fini(&groups);
    return code;
}
