// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/handle_series.c - routes of series, reduced to the pixels of a plot.
#include "studio/server/data/handlers.h"
#include "studio/server/data/import/points.h"

#include "results/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CURVES_MAX 64u
#define PATH_BYTES_MAX 512u

typedef struct asked {
    const studio_series_t *curves[CURVES_MAX];
    size_t count;
    bool too_many;
} asked_t;

// Returns whether a word is in a list separated by commas, whose entries may be shell patterns.
static bool is_listed(const char *list, const char *word)
{
    while (list != NULL && *list != '\0') {
        const size_t size = strcspn(list, ",");
        char entry[PATH_BYTES_MAX];
        if (size < sizeof(entry)) {
            memcpy(entry, list, size);
            entry[size] = '\0';
            // The brackets in paths are no pattern.
            const bool star = strpbrk(entry, "*?") != NULL && strchr(entry, '[') == NULL;
            if (strcmp(entry, word) == 0 || (star && studio_glob(entry, word))) {
                return true;
            }
        }
        list += size + (list[size] == ',');
    }
    return false;
}

static void choose(const studio_request_t *request, const studio_points_t *points, asked_t *asked)
{
    const char *const paths = studio_request_query(request, "path");
    const char *const metric = studio_request_query(request, "metric");
    const char *const of = studio_request_query(request, "of");
    for (size_t i = 0; i < points->count; i++) {
        const studio_series_t *const series = &points->series[i];
        const bool wanted = paths != NULL ? is_listed(paths, series->path)
                                          : metric != NULL && strcmp(metric, series->metric) == 0 &&
                                                (of == NULL || is_listed(of, series->of));
        if (wanted && asked->count == CURVES_MAX) {
            asked->too_many = true;
        } else if (wanted) {
            asked->curves[asked->count++] = series;
        }
    }
}

static void put_list(studio_out_t *out, const char *name, const studio_pixel_t *pixels,
                     size_t count)
{
    studio_out_format(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        studio_out_text(out, i > 0 ? "," : "");
        if (name[0] == 't') {
            const studio_cell_t time = {.kind = STUDIO_CELL_DECIMAL,
                                        .decimals = 3,
                                        .mantissa = pixels[i].time_ps};
            studio_out_cell(out, &time, false);
        } else {
            studio_out_real(out,
                            name[1] == 'i'   ? pixels[i].least
                            : name[0] == 'l' ? pixels[i].last
                                             : pixels[i].most,
                            false);
        }
    }
    studio_out_text(out, "]");
}

static void write_curve(studio_out_t *out, const studio_series_t *series,
                        const studio_pixel_t *pixels, size_t count)
{
    studio_out_text(out, "{\"path\":");
    studio_out_json(out, series->path);
    studio_out_text(out, ",\"of\":");
    studio_out_json(out, series->of);
    studio_out_text(out, ",\"metric\":");
    studio_out_json(out, series->metric);
    studio_out_format(out, ",\"points\":%" PRIu64, series->count);
    put_list(out, "time_ns", pixels, count);
    put_list(out, "min", pixels, count);
    put_list(out, "max", pixels, count);
    put_list(out, "last", pixels, count);
    studio_out_text(out, "}");
}

static int64_t time_ps_of(double time_ns, int64_t otherwise)
{
    // The range also holds the difference of two such times.
    return isnan(time_ns) || fabs(time_ns) > 4.6e15 ? otherwise : (int64_t)(time_ns * 1000);
}

static void draw(const studio_request_t *request, const asked_t *asked, size_t pixels,
                 studio_out_t *out)
{
    int64_t first = INT64_MAX;
    int64_t last = 0;
    for (size_t i = 0; i < asked->count; i++) {
        const studio_series_t *const series = asked->curves[i];
        first = SIM_MIN(series->points[0].time_ps, first);
        const int64_t end = series->points[series->count - 1].time_ps;
        last = SIM_MAX(end, last);
    }
    const char *const rate = studio_request_query(request, "rate");
    const bool rates = rate != NULL && strcmp(rate, "1") == 0;
    first = SIM_MIN(first, last);
    const int64_t from = time_ps_of(studio__data_real(request, "from_ns"), first);
    const int64_t to = time_ps_of(studio__data_real(request, "to_ns"), last);
    studio_out_text(out, "{\"metric\":");
    studio_out_json(out, asked->curves[0]->metric);
    studio_out_format(
        out,
        ",\"unit\":\"%s%s\",\"from_ns\":%.3f,\"to_ns\":%.3f,\"rate\":%s,\"left_out\":%s,"
        "\"curves\":[",
        results_metric_unit(asked->curves[0]->metric), rates ? "/s" : "", (double)from / 1000,
        (double)to / 1000, rates ? "true" : "false", asked->too_many ? "true" : "false");
    studio_pixel_t *const drawn = sim_alloc_array(pixels, sizeof(*drawn));
    for (size_t i = 0; i < asked->count; i++) {
        const size_t count =
            to < from ? 0
            : rates   ? studio_points_draw_rate(asked->curves[i], from, to, pixels, drawn)
                      : studio_points_draw(asked->curves[i], from, to, pixels, drawn);
        studio_out_text(out, i > 0 ? ",\n" : "\n");
        write_curve(out, asked->curves[i], drawn, count);
    }
    sim_free(drawn);
    studio_out_text(out, "]}\n");
}

int studio_handle_series(studio_request_t *request, studio_response_t *response)
{
    studio_sources_t sources;
    int status = 0;
    int64_t pixels = 0;
    if (!studio_request_query_number(request, "pixels", 800, 2, STUDIO_PIXELS_MAX, &pixels)) {
        return studio_response_error(response, 400, "pixels: expected 2 to %u", STUDIO_PIXELS_MAX);
    }
    if (studio__data_real(request, "from_ns") > studio__data_real(request, "to_ns")) {
        return studio_response_error(response, 400, "from_ns is after to_ns");
    }
    if (!studio__data_source(request, response, &sources, &status)) {
        return status;
    }
    char *const path = sim_format("%s/series.points", sources.sources[0].index);
    studio_points_t *points = NULL;
    sim_message_t message;
    if (access(path, F_OK) != 0) {
        status = studio_response_error(
            response, 404, "the run has no series; an observe block in the scenario makes them");
    } else if (studio_points_open(path, &points, &message) != SIM_OK) {
        status = studio_response_error(response, 500, "%s", message.text);
    } else {
        asked_t asked = {.count = 0};
        choose(request, points, &asked);
        if (asked.count == 0) {
            status = studio_response_error(
                response, 404,
                "the run has no such series, expected metric= (and of=) or path= "
                "as GET tables lists them");
        } else {
            studio_out_t out = {.bytes = NULL};
            draw(request, &asked, (size_t)pixels, &out);
            status = studio__data_answer(response, &out);
        }
    }
    studio_points_close(points);
    sim_free(path);
    studio_sources_fini(&sources);
    return status;
}
