// SPDX-License-Identifier: Apache-2.0
// studio/server/http/target.h - parses the target of a request, "/api/v1/runs/7/log?tail=20".
//
// The path is split before its segments are decoded, so that "%2F" never separates segments.
// Ambiguous targets are refused: bad escapes, control characters, "." and "..", empty segments,
// broken UTF-8.
#ifndef STUDIO_SERVER_HTTP_TARGET_H
#define STUDIO_SERVER_HTTP_TARGET_H

#include "kernel/base.h"

#define STUDIO_TARGET_BYTES_MAX 8192u
#define STUDIO_SEGMENTS_MAX 24u
#define STUDIO_VALUES_MAX 256u

typedef struct studio_value {
    const char *name;
    const char *text;
} studio_value_t;

typedef struct studio_target {
    char *memory; // holds all texts that the fields point to
    const char *segments[STUDIO_SEGMENTS_MAX];
    size_t segment_count;
    studio_value_t *values;
    size_t value_count;
} studio_target_t;

// Parses raw, the target as the client sent it. Returns false, with nothing to free, if it is
// refused.
bool studio_target_parse(const char *raw, studio_target_t *target);
void studio_target_fini(studio_target_t *target);
// Returns the value of the query with this name and index; NULL if there is none.
const char *studio_target_value(const studio_target_t *target, const char *name, size_t index);

// Returns whether the path matches a route's path, "/api/v1/runs/{run}/files/{path...}".
bool studio_target_matches(const studio_target_t *target, const char *route_path);
// Returns the segment for {name}, or those for {name...} joined by slashes; freed with sim_free.
// NULL: the route has no such name.
char *studio_target_segment(const studio_target_t *target, const char *route_path,
                            const char *name);

// The result of parsing a Range header: "bytes=0-99", "bytes=100-" or "bytes=-50".
typedef enum studio_range_kind {
    STUDIO_RANGE_WHOLE, // no range, several ranges, or one that is not understood
    STUDIO_RANGE_PART,
    STUDIO_RANGE_NONE, // beyond the end: status 416
} studio_range_kind_t;
studio_range_kind_t studio_range_parse(const char *header, uint64_t size_bytes, uint64_t *first,
                                       uint64_t *count);

// Returns whether text is UTF-8 without control characters except tab, newline and return.
bool studio_text_is_clean(const char *text, size_t size_bytes);

// Returns whether clean text has no character that cannot be seen, or that changes the direction of
// its neighbours, and no space but U+0020: so a name shows what it is.
bool studio_text_is_visible(const char *text);
// Returns whether all letters of clean text are of alphabets that do not look alike: Latin,
// Chinese, Japanese and Korean. For names of accounts.
bool studio_text_is_plain(const char *text);

// Returns whether a Host header ("host", "host:port" or "[address]:port") names localhost, an IP
// address, or one of names (separated by commas; NULL: none).
bool studio_host_allowed(const char *host, const char *names);

#endif // STUDIO_SERVER_HTTP_TARGET_H
