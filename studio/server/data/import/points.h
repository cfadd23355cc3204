// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/points.h - the series of a run by path, for plots that show what a
// screen can.
//
// For each path its points lie together in order of time, and behind them a pyramid: least and
// greatest of 64 points, of 64 of those, and so on. The least and greatest value of any stretch is
// known from a few hundred numbers however many points it has.
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

// From INDEX/series.table; none is made where the table has no columns time_ns, path, value.
SIM_MUST_CHECK sim_err_t studio_points_write(const studio_table_t *table,
                                             const char *path,
                                             atomic_ullong *done,
                                             sim_message_t *message);
SIM_MUST_CHECK sim_err_t studio_points_open(const char *path,
                                            studio_points_t **points,
                                            sim_message_t *message);
void studio_points_close(studio_points_t *points); // NULL is allowed

// Index of the first point not before time_ps.
uint64_t studio_points_from(const studio_series_t *series, int64_t time_ps);
// Of points from..to - 1, at least one.
studio_span_t studio_points_span(const studio_series_t *series, uint64_t from, uint64_t to);

// What one pixel's stretch of time holds.
typedef struct studio_pixel {
    int64_t time_ps; // of its first point
    double least;
    double most;
    double last;
} studio_pixel_t;

// Cuts from_ps..to_ps into that many pixels; those without a point are left out. Where there are no
// more points than pixels each is given as it is. Returns how many were written to out (at most
// pixels).
size_t studio_points_draw(const studio_series_t *series,
                          int64_t from_ps,
                          int64_t to_ps,
                          size_t pixels,
                          studio_pixel_t *out);
// The same of the growth per second from point to point, of counters.
size_t studio_points_draw_rate(const studio_series_t *series,
                               int64_t from_ps,
                               int64_t to_ps,
                               size_t pixels,
                               studio_pixel_t *out);

#endif // STUDIO_SERVER_DATA_IMPORT_POINTS_H
