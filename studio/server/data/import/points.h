// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/points.h - the series of a run by path, reduced for plots.
//
// The points of a path lie together in order of time. Behind them lies a pyramid: the least and
// greatest value of each 64 points, of each 64 of those, and so on. So the extremes of any interval
// need only a few hundred reads.
#ifndef STUDIO_SERVER_DATA_IMPORT_POINTS_H
#define STUDIO_SERVER_DATA_IMPORT_POINTS_H

#include "studio/server/data/import/table.h"

#include <stdatomic.h>

#define STUDIO_PYRAMID 64u
#define STUDIO_PIXELS_MAX 4000u

typedef struct studio_point {
    int64_t time_ps;
    double value;
} studio_point_t;

typedef struct studio_span {
    double least;
    double most;
} studio_span_t;

typedef struct studio_series {
    const char *path; // port[leaf0->host5].queue_bytes[3]
    char *kind;       // port
    char *of;         // leaf0->host5
    char *metric;     // queue_bytes[3]
    const studio_point_t *points;
    uint64_t count;
    const studio_span_t *spans; // level by level
    double most;
    double least;
} studio_series_t;

typedef struct studio_points {
    studio_series_t *series; // in the order of their first points
    size_t count;
    const uint8_t *bytes;
    size_t size;
    json_t *foot;
} studio_points_t;

// Writes the file from INDEX/series.table; writes none if the table lacks time_ns, path or value.
SIM_MUST_CHECK sim_err_t studio_points_write(const studio_table_t *table, const char *path,
                                             atomic_ullong *done, sim_message_t *message);
SIM_MUST_CHECK sim_err_t studio_points_open(const char *path, studio_points_t **points,
                                            sim_message_t *message);
void studio_points_close(studio_points_t *points); // NULL is allowed

// Returns the index of the first point not before time_ps.
uint64_t studio_points_from(const studio_series_t *series, int64_t time_ps);
// Returns the least and greatest value of the points from..to - 1, at least one point.
studio_span_t studio_points_span(const studio_series_t *series, uint64_t from, uint64_t to);

// The values within one pixel's interval of time.
typedef struct studio_pixel {
    int64_t time_ps; // time of its first point
    double least;
    double most;
    double last;
} studio_pixel_t;

// Divides from_ps..to_ps into pixels and writes those that have points to out. Returns their
// number, at most pixels. If there are no more points than pixels, each point is given unchanged.
size_t studio_points_draw(const studio_series_t *series, int64_t from_ps, int64_t to_ps,
                          size_t pixels, studio_pixel_t *out);
// Does this for a counter's growth per second from point to point.
size_t studio_points_draw_rate(const studio_series_t *series, int64_t from_ps, int64_t to_ps,
                               size_t pixels, studio_pixel_t *out);

#endif // STUDIO_SERVER_DATA_IMPORT_POINTS_H
