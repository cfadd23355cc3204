// SPDX-License-Identifier: Apache-2.0
// apps/workload/matrices/tags.h - the tag of a message: the pattern, and the run of the pattern, to
// which it belongs, and what it carries.
#ifndef APPS_WORKLOAD_MATRICES_TAGS_H
#define APPS_WORKLOAD_MATRICES_TAGS_H

#include <stdint.h>

typedef enum app__kv_part {
    APP__KV_WRITE,   // data that a rank writes to another
    APP__KV_REQUEST, // asks for data
    APP__KV_READ,    // the data that were asked for
    APP__KV_STORAGE_REQUEST,
    APP__KV_STORAGE_READ,
    APP__KV_STORAGE_WRITE,
    APP__KV_DONE, // the receiver has all data
    APP__KV_STORAGE_DONE,
    APP__KV_PARTS = 8
} app__kv_part_t;

static inline uint32_t app__kv_tag(uint32_t phase, app__kv_part_t part)
{
    return phase * APP__KV_PARTS + (uint32_t)part;
}

#endif // APPS_WORKLOAD_MATRICES_TAGS_H
