// SPDX-License-Identifier: Apache-2.0
// studio/server/http/target.h - the target of a request, "/api/v1/runs/7/log?tail=20", taken apart.
//
// Read from what the client sent, before anything decodes it: a path is split first and its
// segments decoded afterwards, so that "%2F" can never make two segments of one. What has more than
// one reading is refused: bad escapes, control characters, "." and "..", empty segments, broken
// UTF-8.
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
    char *memory; // of all that is pointed to
    const char *segments[STUDIO_SEGMENTS_MAX];
    size_t segment_count;
    studio_value_t *values;
    size_t value_count;
} studio_target_t;

// False: refused, and there is nothing to free.
bool studio_target_parse(const char *raw, studio_target_t *target);
void studio_target_fini(studio_target_t *target);
// NULL: there is none of this name and index.
const char *studio_target_value(const studio_target_t *target, const char *name, size_t index);

// Whether the path is one of a route's, "/api/v1/runs/{run}/files/{path...}".
bool studio_target_matches(const studio_target_t *target, const char *route_path);
// The segment that stands for {name}; for "{name...}" joined by slashes. Freed with sim_free; NULL:
// the route has no such name.
char *studio_target_segment(const studio_target_t *target,
                            const char *route_path,
                            const char *name);

// "bytes=0-99", "bytes=100-", "bytes=-50" of something that has size_bytes; the one range of which
// something is there. Several ranges are none.
typedef enum studio_range_kind {
    STUDIO_RANGE_WHOLE, // none asked for, or one that is not understood
    STUDIO_RANGE_PART,
    STUDIO_RANGE_NONE, // beyond the end: 416
} studio_range_kind_t;
studio_range_kind_t studio_range_parse(const char *header,
                                       uint64_t size_bytes,
                                       uint64_t *first,
                                       uint64_t *count);

// Whether text is UTF-8 without control characters other than tab, newline and return.
bool studio_text_is_clean(const char *text, size_t size_bytes);

// Whether "host", "host:port" or "[address]:port" of a Host header names one of: localhost, an
// address, or a name of the list (by commas; NULL: none).
bool studio_host_allowed(const char *host, const char *names);

#endif // STUDIO_SERVER_HTTP_TARGET_H
