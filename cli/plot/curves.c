// SPDX-License-Identifier: Apache-2.0
// cli/plot/curves.c - reads series.csv into curves.
#include "cli/plot/curves.h"

#include "kernel/map.h"
#include "world/scenario.h"

#include <stdlib.h>
#include <string.h>

bool cli_metric_is_queue(const char *name)
{
    return strcmp(name, "queue_bytes") == 0 || strcmp(name, "buffer_bytes") == 0 ||
           strcmp(name, "headroom_bytes") == 0;
}

static cli_measure_t measure_of(const char *name)
{
    if (strcmp(name, "alpha") == 0 || strcmp(name, "utilisation") == 0 ||
        strcmp(name, "utilization") == 0) {
        return CLI_MEASURE_SHARE;
    }
    return sim_ends_with(name, "_bytes")                                     ? CLI_MEASURE_BYTES
           : sim_ends_with(name, "_ps")                                      ? CLI_MEASURE_TIME
           : sim_ends_with(name, "_bps") || strcmp(name, "target_rate") == 0 ? CLI_MEASURE_RATE
                                                                             : CLI_MEASURE_PLAIN;
}

// Splits a path such as "port[leaf0->host5].queue_bytes[3]". Returns false if it is no series path.
static bool split(const char *path, cli_curve_t *curve)
{
    const char *const open = strchr(path, '[');
    const char *dot = NULL;
    for (const char *p = open; p != NULL && (p = strstr(p, "].")) != NULL; p++) {
        dot = p;
    }
    if (dot == NULL) {
        return false;
    }
    curve->path = sim_strdup(path);
    curve->entity = sim_format("%.*s", (int)(dot - open - 1), open + 1);
    curve->metric = sim_strdup(dot + 2);
    return true;
}

static void curve_fini(cli_curve_t *curve)
{
    SIM_FREE_ALL(curve->path, curve->entity, curve->metric, curve->times_ps, curve->values);
}

void cli_curves_fini(cli_curves_t *curves)
{
    for (size_t i = 0; i < curves->count; i++) {
        curve_fini(&curves->curves[i]);
    }
    sim_free(curves->curves);
    *curves = (cli_curves_t){0};
}

// Returns the curve of a path, creating it if needed; NULL if the path is invalid. `map` leads from
// hashes of paths to the curves of this run. Curves of unwanted metrics stay empty.
static cli_curve_t *curve_of(sim_map_t *map, cli_curves_t *curves, const char *path, size_t run)
{
    const uint64_t hash = sim_map_hash(path, strlen(path));
    SIM_MAP_EACH (index, map, hash) {
        if (strcmp(curves->curves[index].path, path) == 0) {
            return &curves->curves[index];
        }
    }
    cli_curve_t made = {.run = run};
    if (!split(path, &made)) {
        return NULL;
    }
    sim_map_add(map, hash, curves->count);
    SIM_APPEND(curves->curves, curves->count, curves->capacity, made);
    return &curves->curves[curves->count - 1];
}

static char *name_of(const char *metric)
{
    return sim_format("%.*s", (int)strcspn(metric, "["), metric);
}

static void add_point(cli_curve_t *curve, sim_time_t time_ps, uint64_t value)
{
    if (curve->count == curve->capacity) {
        size_t capacity = curve->capacity;
        SIM_GROW(curve->times_ps, curve->count, &capacity);
        SIM_GROW(curve->values, curve->count, &curve->capacity);
    }
    curve->times_ps[curve->count] = time_ps;
    curve->values[curve->count++] = value;
    curve->most = SIM_MAX(value, curve->most);
}

// The curves that the rows of one run are added to.
typedef struct reading {
    cli_curves_t *curves;
    cli_metric_fn wanted;
    size_t run;
    sim_map_t map;      // of the run's paths
    sim_time_t time_ps; // of the last row of a wanted metric
    sim_time_t last_ps; // of the last row
} reading_t;

static sim_err_t take_row(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    reading_t *const reading = ctx;
    cli_curves_t *const curves = reading->curves;
    sim_err_t result = results_csv_time(csv, 0, &reading->last_ps, error);
    if (result != SIM_OK) {
        return result;
    }
    const size_t before = curves->count;
    cli_curve_t *const curve =
        curve_of(&reading->map, curves, results_csv_text(csv, 1), reading->run);
    if (curve == NULL) {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_INVALID, NULL,
                          "series.csv: '%s' is no path of a series, expected a file of `rocesim "
                          "run`",
                          world_show(&shown, results_csv_text(csv, 1)));
    }
    if (curves->count > before) {
        char *const name = name_of(curve->metric);
        curve->measure = measure_of(name);
        if (!reading->wanted(name)) {
            sim_free(curve->metric);
            curve->metric = NULL;
        }
        sim_free(name);
    }
    if (curve->metric == NULL) {
        return SIM_OK;
    }
    uint64_t value = 0;
    result = results_csv_time(csv, 0, &reading->time_ps, error);
    if (result == SIM_OK) {
        result = results_csv_number(csv, 2, 1, &value, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    // UINT64_MAX means "no window", which a curve cannot show.
    if (value != UINT64_MAX) {
        add_point(curve, cli_plot_time(reading->time_ps, curves->origin_ps), value);
    }
    return SIM_OK;
}

// Compares names by their numbers: host2 comes before host10.
static int compare_names(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        const size_t a_digits = strspn(a, "0123456789");
        const size_t b_digits = strspn(b, "0123456789");
        if (a_digits > 0 && b_digits > 0 && *a != '0' && *b != '0') {
            const int order = a_digits != b_digits ? (a_digits > b_digits) - (a_digits < b_digits)
                                                   : strncmp(a, b, a_digits);
            if (order != 0) {
                return order;
            }
            a += a_digits;
            b += b_digits;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static int compare_curves(const void *a, const void *b)
{
    const cli_curve_t *const x = a;
    const cli_curve_t *const y = b;
    return x->run != y->run ? (x->run > y->run) - (x->run < y->run)
                            : compare_names(x->path, y->path);
}

sim_err_t cli_curves_load(const cli_plot_t *plot, cli_metric_fn wanted, cli_curves_t *curves,
                          world_error_t *error)
{
    static const char *const names[] = {"time_ns", "path", "value"};
    *curves = (cli_curves_t){.origin_ps = plot->origin_ps};
    sim_err_t result = SIM_OK;
    for (size_t r = 0; r < plot->run_count && result == SIM_OK; r++) {
        reading_t reading = {.curves = curves, .wanted = wanted, .run = r};
        const json_t *const counts = json_object_get(plot->runs[r].summary, "series_csv");
        const bool cut = json_integer_value(json_object_get(counts, "left_out")) > 0;
        result = results_csv_rows(plot->runs[r].folder, "series.csv", names, SIM_COUNT_OF(names),
                                  take_row, &reading, error);
        const sim_time_t last_ps = cli_plot_time(reading.last_ps, plot->origin_ps);
        const sim_time_t end_ps = plot->runs[r].end_ps;
        curves->cut = curves->cut || cut;
        curves->end_ps[r] = cut ? SIM_MIN(last_ps, end_ps) : end_ps;
        sim_map_fini(&reading.map);
    }
    size_t kept = 0;
    for (size_t i = 0; i < curves->count; i++) {
        if (curves->curves[i].count > 0) {
            curves->curves[kept++] = curves->curves[i];
        } else {
            curve_fini(&curves->curves[i]);
        }
    }
    curves->count = kept;
    if (kept > 0) {
        qsort(curves->curves, kept, sizeof(cli_curve_t), compare_curves);
    }
    return result;
}

// Returns whether curve `a` is chosen before `b`: first runs with fewer chosen curves, then higher
// maxima, then more rows.
static bool is_better(const cli_curve_t *a, const cli_curve_t *b, const size_t *of_run)
{
    if (of_run[a->run] != of_run[b->run]) {
        return of_run[a->run] < of_run[b->run];
    }
    return a->most != b->most ? a->most > b->most : a->count > b->count;
}

size_t cli_curves_choose(const cli_curves_t *curves, const char *metric, bool *chosen)
{
    size_t count = 0;
    for (size_t i = 0; i < curves->count; i++) {
        chosen[i] = false;
        count += strcmp(curves->curves[i].metric, metric) == 0;
    }
    size_t of_run[CLI_PLOT_RUNS_MAX] = {0};
    for (size_t n = 0; n < count && n < CLI_PLOT_CURVES_MAX; n++) {
        const cli_curve_t *best = NULL;
        for (size_t i = 0; i < curves->count; i++) {
            const cli_curve_t *const curve = &curves->curves[i];
            if (!chosen[i] && strcmp(curve->metric, metric) == 0 &&
                (best == NULL || is_better(curve, best, of_run))) {
                best = curve;
            }
        }
        SIM_CHECK(best != NULL);
        chosen[best - curves->curves] = true;
        of_run[best->run]++;
    }
    return count;
}

// Returns the time between the rows of a curve if all distances are equal and there are at least
// four rows, else 0.
static sim_time_t gap_of(const cli_curve_t *curve)
{
    size_t first = 0;
    while (first < curve->count && curve->times_ps[first] == 0) {
        first++; // skips rows before the origin
    }
    if (curve->count < first + 4) {
        return 0;
    }
    const sim_time_t gap_ps = curve->times_ps[first + 1] - curve->times_ps[first];
    for (size_t i = first + 2; i < curve->count; i++) {
        if (curve->times_ps[i] - curve->times_ps[i - 1] != gap_ps) {
            return 0;
        }
    }
    return gap_ps;
}

// Returns whether the rows of a curve lie at sample times of another, sampled curve.
static bool sampled_alike(const cli_curve_t *curve, const cli_curve_t *sampled, sim_time_t gap_ps)
{
    const sim_time_t at_ps = sampled->times_ps[sampled->count - 1] % gap_ps;
    for (size_t i = 0; i < curve->count; i++) {
        if (curve->times_ps[i] % gap_ps != at_ps) {
            return false;
        }
    }
    return true;
}

sim_time_t cli_curve_end_ps(const cli_curves_t *curves, const cli_curve_t *curve, sim_time_t end_ps)
{
    end_ps = SIM_MIN(curves->end_ps[curve->run], end_ps);
    if (strncmp(curve->path, "qp[", 3) != 0) {
        return end_ps;
    }
    for (size_t i = 0; i < curves->count; i++) {
        const cli_curve_t *const other = &curves->curves[i];
        if (other->run != curve->run || strcmp(other->metric, curve->metric) != 0) {
            continue;
        }
        const sim_time_t gap_ps = gap_of(other);
        if (gap_ps > 0 && sampled_alike(curve, other, gap_ps)) {
            const sim_time_t gone_ps = curve->times_ps[curve->count - 1] + gap_ps;
            return SIM_MIN(gone_ps, end_ps);
        }
    }
    return end_ps;
}

const char *cli_curves_entity(const cli_curves_t *curves)
{
    for (size_t i = 1; i < curves->count; i++) {
        if (strcmp(curves->curves[i].entity, curves->curves[0].entity) != 0) {
            return NULL;
        }
    }
    return curves->count > 0 ? curves->curves[0].entity : NULL;
}

char *cli_curve_title(const cli_plot_t *plot, const cli_curves_t *curves, const cli_curve_t *curve)
{
    const bool several = cli_curves_entity(curves) == NULL;
    return plot->run_count == 1 ? sim_strdup(curve->entity)
           : several            ? sim_format("%s: %s", plot->runs[curve->run].name, curve->entity)
                                : sim_strdup(plot->runs[curve->run].name);
}
