// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/points.c - writes and reads series by path, with their pyramids.
//
// The table has all paths mixed, in order of time. A first pass counts the points of each path; the
// second pass then writes each point to its place in the mapped file.
#include "studio/server/data/import/points.h"
#include "studio/server/data/import/table_internal.h"

#include "kernel/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATHS_MAX 4000000u

static uint64_t spans_of(uint64_t count)
{
    uint64_t sum = 0;
    while (count > 1) {
        count = (count + STUDIO_PYRAMID - 1) / STUDIO_PYRAMID;
        sum += count;
    }
    return sum;
}

static studio_span_t span_of_points(const studio_point_t *points, uint64_t count)
{
    studio_span_t span = {(double)INFINITY, -(double)INFINITY};
    for (uint64_t i = 0; i < count; i++) {
        span.least = SIM_MIN(points[i].value, span.least);
        span.most = SIM_MAX(points[i].value, span.most);
    }
    return span;
}

static studio_span_t span_of_spans(const studio_span_t *spans, uint64_t count)
{
    studio_span_t span = {(double)INFINITY, -(double)INFINITY};
    for (uint64_t i = 0; i < count; i++) {
        span.least = SIM_MIN(spans[i].least, span.least);
        span.most = SIM_MAX(spans[i].most, span.most);
    }
    return span;
}

static uint64_t part(uint64_t at, uint64_t count)
{
    return SIM_MIN(count - at, STUDIO_PYRAMID);
}

static void build_pyramid(const studio_point_t *points, uint64_t count, studio_span_t *spans)
{
    const studio_span_t *below = NULL;
    while (count > 1) {
        const uint64_t groups = (count + STUDIO_PYRAMID - 1) / STUDIO_PYRAMID;
        for (uint64_t i = 0; i < groups; i++) {
            const uint64_t at = i * STUDIO_PYRAMID;
            spans[i] = below == NULL ? span_of_points(points + at, part(at, count))
                                     : span_of_spans(below + at, part(at, count));
        }
        below = spans;
        spans += groups;
        count = groups;
    }
}

// -- writing

typedef struct places {
    size_t time;
    size_t path;
    size_t value;
    uint64_t *counts; // by path
    uint64_t *nexts;  // by path: offset of the next point, in bytes
    uint32_t count;
} places_t;

typedef struct buffers {
    double values[STUDIO_BLOCK_ROWS];
    uint32_t ids[STUDIO_BLOCK_ROWS];
} buffers_t;

static void count_paths(const studio_table_t *table, places_t *places, buffers_t *buffers)
{
    for (size_t block = 0; block < table->block_count; block++) {
        studio_table_texts(table, places->path, block, buffers->ids);
        studio_table_numbers(table, places->value, block, buffers->values);
        for (size_t i = 0; i < studio_table_block_rows(table, block); i++) {
            if (buffers->ids[i] < places->count && !isnan(buffers->values[i])) {
                places->counts[buffers->ids[i]]++;
            }
        }
    }
}

static int64_t time_of(const studio_table_t *table, size_t column, uint64_t row)
{
    const studio_cell_t cell = studio_table_cell(table, column, row);
    if (cell.kind == STUDIO_CELL_DECIMAL && cell.decimals <= 3) {
        int64_t time_ps = 0;
        if (!__builtin_mul_overflow(cell.mantissa, studio_power_of_ten(3u - cell.decimals),
                                    &time_ps)) {
            return time_ps;
        }
    }
    // Beyond this range a time of a foreign file does not fit picoseconds.
    return fabs(cell.real) < 9e15 ? (int64_t)(cell.real * 1000) : 0;
}

static void scatter(const studio_table_t *table, const places_t *places, buffers_t *buffers,
                    uint8_t *bytes, atomic_ullong *done)
{
    for (size_t block = 0; block < table->block_count; block++) {
        const size_t rows = studio_table_block_rows(table, block);
        studio_table_texts(table, places->path, block, buffers->ids);
        studio_table_numbers(table, places->value, block, buffers->values);
        for (size_t i = 0; i < rows; i++) {
            const uint32_t id = buffers->ids[i];
            if (id >= places->count || isnan(buffers->values[i])) {
                continue;
            }
            const uint64_t row = (uint64_t)block * STUDIO_BLOCK_ROWS + i;
            const studio_point_t point = {time_of(table, places->time, row), buffers->values[i]};
            memcpy(bytes + places->nexts[id], &point, sizeof(point));
            places->nexts[id] += sizeof(point);
        }
        atomic_fetch_add(done, rows);
    }
}

static sim_err_t append_foot(const char *path, json_t *foot, uint64_t at, sim_message_t *message)
{
    char *const text = json_dumps(foot, JSON_COMPACT);
    FILE *const stream = text != NULL ? fopen(path, "r+be") : NULL;
    bool whole = stream != NULL && fseeko(stream, (off_t)at, SEEK_SET) == 0;
    if (whole) {
        uint8_t end[16];
        sim_put_le64(end, at);
        sim_put_le64(end + 8, strlen(text));
        fwrite(text, 1, strlen(text), stream);
        fwrite(end, 1, sizeof(end), stream);
        fwrite(STUDIO_TABLE_MAGIC, 1, STUDIO_TABLE_MAGIC_BYTES, stream);
        whole = fflush(stream) == 0 && ferror(stream) == 0 && fdatasync(fileno(stream)) == 0;
    }
    const int reason = errno;
    if (stream != NULL) {
        (void)fclose(stream);
    }
    json_free_t json_free = NULL;
    json_get_alloc_funcs(NULL, &json_free);
    json_free(text);
    return whole
               ? SIM_OK
               : sim_fail(message, SIM_ERR_IO, "%s cannot be written: %s", path, strerror(reason));
}

// Reserves the disk space first, so that a write into the map cannot fail.
static uint8_t *map_new(const char *path, uint64_t size, sim_message_t *message)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int reason = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)(size > 0 ? size : 1));
    void *bytes = MAP_FAILED;
    if (reason == 0) {
        bytes = mmap(NULL, size > 0 ? size : 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        reason = errno;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (bytes == MAP_FAILED) {
        (void)sim_fail(message, SIM_ERR_IO, "%s cannot be created: %s", path, strerror(reason));
        return NULL;
    }
    return bytes;
}

static void lay_out(places_t *places, uint64_t *size)
{
    *size = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        places->nexts[i] = *size;
        *size += places->counts[i] * sizeof(studio_point_t) +
                 spans_of(places->counts[i]) * sizeof(studio_span_t);
    }
}

static json_t *foot_of(const studio_table_t *table, const places_t *places)
{
    json_t *const rows = json_array();
    uint64_t at = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        const uint64_t count = places->counts[i];
        const char *const path = studio_table_text(table, places->path, i);
        if (count > 0) {
            json_t *row = json_pack("[s,I,I]", path, (json_int_t)at, (json_int_t)count);
            row = row != NULL ? row : json_pack("[s,I,I]", "?", (json_int_t)at, (json_int_t)count);
            json_array_append_new(rows, row);
        }
        at += count * sizeof(studio_point_t) + spans_of(count) * sizeof(studio_span_t);
    }
    return rows;
}

sim_err_t studio_points_write(const studio_table_t *table, const char *path, atomic_ullong *done,
                              sim_message_t *message)
{
    places_t places = {.time = studio_table_find(table, "time_ns"),
                       .path = studio_table_find(table, "path"),
                       .value = studio_table_find(table, "value")};
    const size_t none = table->column_count;
    if (places.time == none || places.path == none || places.value == none ||
        table->columns[places.path].spec.type != STUDIO_TEXT ||
        table->columns[places.value].spec.type != STUDIO_NUMBER ||
        table->columns[places.time].spec.type != STUDIO_NUMBER) {
        return SIM_OK;
    }
    places.count = table->columns[places.path].text_count;
    if (places.count > PATHS_MAX) {
        return sim_fail(message, SIM_ERR_RANGE, "there are series of %u paths, which is too many",
                        places.count);
    }
    places.counts = sim_alloc_array(places.count + 1u, sizeof(*places.counts));
    places.nexts = sim_alloc_array(places.count + 1u, sizeof(*places.nexts));
    buffers_t *const buffers = sim_alloc(sizeof(*buffers));
    count_paths(table, &places, buffers);
    uint64_t size = 0;
    lay_out(&places, &size);
    uint8_t *const bytes = map_new(path, size, message);
    sim_err_t result = bytes != NULL ? SIM_OK : SIM_ERR_IO;
    if (result == SIM_OK) {
        scatter(table, &places, buffers, bytes, done);
        for (uint32_t i = 0; i < places.count; i++) {
            // This part of the file holds whole points of 16 bytes, aligned from the map's start.
            const studio_point_t *const points =
                (const void *)(bytes + places.nexts[i] - places.counts[i] * sizeof(studio_point_t));
            build_pyramid(points, places.counts[i], (void *)(bytes + places.nexts[i]));
        }
        (void)munmap(bytes, size > 0 ? size : 1);
        json_t *const foot = foot_of(table, &places);
        result = append_foot(path, foot, size, message);
        json_decref(foot);
    }
    SIM_FREE_ALL(buffers, places.counts, places.nexts);
    return result;
}

// -- reading

// Splits "port[leaf0->host5].queue_bytes[3]" into kind, of and metric.
static void take_path(studio_series_t *series)
{
    const char *const open = strchr(series->path, '[');
    const char *const close = open != NULL ? strstr(open, "].") : NULL;
    if (close == NULL) {
        series->kind = sim_strdup("");
        series->of = sim_strdup("");
        series->metric = sim_strdup(series->path);
        return;
    }
    series->kind = sim_format("%.*s", (int)(open - series->path), series->path);
    series->of = sim_format("%.*s", (int)(close - open - 1), open + 1);
    series->metric = sim_strdup(close + 2);
}

static bool take_series(studio_points_t *points, const json_t *row)
{
    studio_series_t *const series = &points->series[points->count];
    const json_int_t at = json_integer_value(json_array_get(row, 1));
    const json_int_t count = json_integer_value(json_array_get(row, 2));
    series->path = json_string_value(json_array_get(row, 0));
    if (series->path == NULL || at < 0 || at % 16 != 0 || count <= 0 ||
        (uint64_t)count > points->size / sizeof(studio_point_t)) {
        return false;
    }
    series->count = (uint64_t)count;
    const uint64_t size =
        series->count * sizeof(studio_point_t) + spans_of(series->count) * sizeof(studio_span_t);
    if ((uint64_t)at > points->size || size > points->size - (uint64_t)at) {
        return false;
    }
    series->points = (const void *)(points->bytes + at);
    series->spans = (const void *)(series->points + series->count);
    points->count++;
    take_path(series);
    const studio_span_t all = studio_points_span(series, 0, series->count);
    series->least = all.least;
    series->most = all.most;
    return true;
}

static bool take_foot(studio_points_t *points)
{
    const size_t least = 16 + STUDIO_TABLE_MAGIC_BYTES;
    const uint8_t *const end = points->bytes + points->size - STUDIO_TABLE_MAGIC_BYTES;
    if (points->size < least || memcmp(end, STUDIO_TABLE_MAGIC, STUDIO_TABLE_MAGIC_BYTES) != 0) {
        return false;
    }
    const uint64_t at = sim_get_le64(end - 16);
    const uint64_t size = sim_get_le64(end - 8);
    if (at > points->size || size > points->size - at) {
        return false;
    }
    points->foot = json_loadb((const char *)points->bytes + at, (size_t)size, 0, NULL);
    const size_t count = json_array_size(points->foot);
    points->series = sim_alloc_array(count, sizeof(*points->series));
    bool fits = json_is_array(points->foot);
    for (size_t i = 0; fits && i < count; i++) {
        fits = take_series(points, json_array_get(points->foot, i));
    }
    return fits;
}

sim_err_t studio_points_open(const char *path, studio_points_t **result, sim_message_t *message)
{
    *result = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status = {.st_size = 0};
    void *bytes = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    }
    const bool empty = fd >= 0 && status.st_size == 0;
    const int reason = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (bytes == MAP_FAILED) {
        return sim_fail(message, SIM_ERR_IO, "%s: cannot be read: %s", path,
                        empty ? "the file is empty" : strerror(reason));
    }
    studio_points_t *const points = sim_alloc(sizeof(*points));
    points->bytes = bytes;
    points->size = (size_t)status.st_size;
    if (!take_foot(points)) {
        studio_points_close(points);
        return sim_fail(message, SIM_ERR_INVALID, "%s is damaged: import the run again", path);
    }
    *result = points;
    return SIM_OK;
}

void studio_points_close(studio_points_t *points)
{
    if (points == NULL) {
        return;
    }
    for (size_t i = 0; i < points->count; i++) {
        SIM_FREE_ALL(points->series[i].kind, points->series[i].of, points->series[i].metric);
    }
    void *bytes = NULL;
    memcpy(&bytes, &points->bytes, sizeof(bytes));
    (void)munmap(bytes, points->size);
    sim_free(points->series);
    json_decref(points->foot);
    sim_free(points);
}

uint64_t studio_points_from(const studio_series_t *series, int64_t time_ps)
{
    uint64_t from = 0;
    uint64_t to = series->count;
    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;
        if (series->points[middle].time_ps < time_ps) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static void widen(studio_span_t *span, studio_span_t more)
{
    span->least = SIM_MIN(more.least, span->least);
    span->most = SIM_MAX(more.most, span->most);
}

studio_span_t studio_points_span(const studio_series_t *series, uint64_t from, uint64_t to)
{
    SIM_CHECK(from < to && to <= series->count);
    studio_span_t span = {(double)INFINITY, -(double)INFINITY};
    // Visits the points before the first complete group and behind the last one. The groups between
    // are visited by the same rule one level higher.
    const studio_span_t *level = NULL;
    const studio_span_t *next = series->spans;
    uint64_t count = series->count;
    while (from < to) {
        const uint64_t inner_from = (from + STUDIO_PYRAMID - 1) / STUDIO_PYRAMID;
        const uint64_t inner_to = to / STUDIO_PYRAMID;
        const bool has_inner = inner_from < inner_to;
        const uint64_t left_to = has_inner ? inner_from * STUDIO_PYRAMID : to;
        const uint64_t right_from = has_inner ? inner_to * STUDIO_PYRAMID : to;
        if (level == NULL) {
            widen(&span, span_of_points(series->points + from, left_to - from));
            widen(&span, span_of_points(series->points + right_from, to - right_from));
        } else {
            widen(&span, span_of_spans(level + from, left_to - from));
            widen(&span, span_of_spans(level + right_from, to - right_from));
        }
        if (!has_inner) {
            break;
        }
        count = (count + STUDIO_PYRAMID - 1) / STUDIO_PYRAMID;
        level = next;
        next += count;
        from = inner_from;
        to = inner_to;
    }
    return span;
}

// Returns the time at which a pixel begins; exact for long runs, too.
static int64_t pixel_begin(int64_t from_ps, int64_t to_ps, size_t pixels, size_t index)
{
    const double share = (double)index / (double)pixels;
    return index == pixels ? to_ps : from_ps + (int64_t)((double)(to_ps - from_ps) * share);
}

size_t studio_points_draw(const studio_series_t *series, int64_t from_ps, int64_t to_ps,
                          size_t pixels, studio_pixel_t *out)
{
    uint64_t at = studio_points_from(series, from_ps);
    const uint64_t end = to_ps < INT64_MAX ? studio_points_from(series, to_ps + 1) : series->count;
    size_t count = 0;
    if (end - at <= pixels) {
        for (; at < end; at++) {
            const studio_point_t point = series->points[at];
            out[count++] = (studio_pixel_t){point.time_ps, point.value, point.value, point.value};
        }
        return count;
    }
    for (size_t pixel = 0; pixel < pixels && at < end; pixel++) {
        const uint64_t next =
            pixel + 1 == pixels
                ? end
                : studio_points_from(series, pixel_begin(from_ps, to_ps, pixels, pixel + 1));
        if (next > at) {
            const studio_span_t span = studio_points_span(series, at, next);
            out[count++] = (studio_pixel_t){series->points[at].time_ps, span.least, span.most,
                                            series->points[next - 1].value};
            at = next;
        }
    }
    return count;
}

static double rate_at(const studio_series_t *series, uint64_t at)
{
    const studio_point_t *const point = &series->points[at];
    const double seconds = (double)(point->time_ps - point[-1].time_ps) / 1e12;
    return seconds > 0 ? (point->value - point[-1].value) / seconds : 0;
}

size_t studio_points_draw_rate(const studio_series_t *series, int64_t from_ps, int64_t to_ps,
                               size_t pixels, studio_pixel_t *out)
{
    uint64_t at = studio_points_from(series, from_ps);
    const uint64_t end = to_ps < INT64_MAX ? studio_points_from(series, to_ps + 1) : series->count;
    at += at == 0;
    size_t count = 0;
    // The growth of a counter within a pixel follows from its first and last value alone.
    const bool each = at >= end || end - at <= pixels;
    for (size_t pixel = 0; !each && pixel < pixels && at < end; pixel++) {
        const uint64_t next =
            pixel + 1 == pixels
                ? end
                : studio_points_from(series, pixel_begin(from_ps, to_ps, pixels, pixel + 1));
        if (next > at) {
            const studio_point_t before = series->points[at - 1];
            const studio_point_t last = series->points[next - 1];
            const double seconds = (double)(last.time_ps - before.time_ps) / 1e12;
            const double rate = seconds > 0 ? (last.value - before.value) / seconds : 0;
            out[count++] = (studio_pixel_t){series->points[at].time_ps, rate, rate, rate};
            at = next;
        }
    }
    for (; each && at < end; at++) {
        const double rate = rate_at(series, at);
        out[count++] = (studio_pixel_t){series->points[at].time_ps, rate, rate, rate};
    }
    return count;
}
