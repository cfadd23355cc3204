// SPDX-License-Identifier: Apache-2.0
// apps/herd/mica.h - MICA's cache for one worker: a lossy index over a circular log (Lim et al.,
// NSDI 2014), as HERD uses it (docs/models/herd.md).
//
// The index has buckets of 8 slots of 8 bytes: in use, a tag of 16 bits, where in the log. An
// insert looks at all 8 slots and takes the last that has its tag or is empty, else slot tag & 7,
// whose entry is lost. A key that is present is changed where it lies in the log. The log is a
// ring: what the head comes round to is gone, and its slots find that out when they are looked up.
//
// A store may begin as an image: what putting keys 0..count-1 in order leaves. Images are shared
// and never change; a store keeps beside its image only the buckets and entries that became
// different, so that a worker costs what its PUTs touch. Costs: GET and PUT O(1).
#ifndef APPS_HERD_MICA_H
#define APPS_HERD_MICA_H

#include "apps/herd/wire.h"

SIM_C_BEGIN

#define APP_MICA_SLOTS 8u

typedef struct app_mica_config {
    uint64_t bucket_count; // a power of two, at most 2^31
    uint64_t log_bytes;    // a multiple of 8, room for at least one entry
    bool large;            // lengths have two bytes
} app_mica_config_t;

typedef struct app_mica_stats {
    uint64_t evictions;      // entries lost to full buckets
    uint64_t overwrites;     // entries lost to another key of the same tag
    uint64_t log_head_bytes; // in the log: of what was ever appended, modulo its size
    uint64_t appended_bytes;
    uint64_t updated; // PUTs in place
    uint64_t inserted;
    uint64_t hits;
    uint64_t misses;
} app_mica_stats_t;

typedef struct app_mica_image app_mica_image_t;
// Values are app_herd_make_value's of stamp 0; value_bytes 0: app_herd_value_length says how long.
app_mica_image_t *app_mica_populate(const app_mica_config_t *config,
                                    uint32_t key_count,
                                    uint32_t value_bytes);
void app_mica_image_destroy(app_mica_image_t *image); // NULL is allowed
app_mica_stats_t app_mica_image_stats(const app_mica_image_t *image);
size_t app_mica_image_bytes(const app_mica_image_t *image);

typedef struct app_mica app_mica_t;
// image may be NULL: empty. It must be of the same configuration, and outlive the store.
app_mica_t *app_mica_create(const app_mica_config_t *config, const app_mica_image_t *image);
void app_mica_destroy(app_mica_t *mica); // NULL is allowed

// Copies the value, at most APP_HERD_VALUE_MAX bytes, and sets *bytes. False: not there.
bool app_mica_get(app_mica_t *mica, app_city128_t key, uint8_t *value, uint32_t *bytes);
void app_mica_put(app_mica_t *mica, app_city128_t key, const uint8_t *value, uint32_t bytes);

// Counts begin with the image's evictions, overwrites, inserted and head.
app_mica_stats_t app_mica_stats(const app_mica_t *mica);
size_t app_mica_bytes(const app_mica_t *mica); // of its own

// What a server's memory shows of a store: the index, buckets in order, then the log, entries as
// PUTs are in memory (wire.h) with the store's opcode. A slot is, from its lowest bit: used 1,
// tag 16, offset in the log 47, of all that was ever appended.
static inline uint64_t app_mica_shown_bytes(const app_mica_config_t *config)
{
    return config->bucket_count * APP_MICA_SLOTS * 8 + config->log_bytes;
}
// The eight bytes at an offset, a multiple of 8; little-endian.
uint64_t app_mica_word(const app_mica_t *mica, uint64_t offset);

SIM_C_END

#endif // APPS_HERD_MICA_H
