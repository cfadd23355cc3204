// SPDX-License-Identifier: Apache-2.0
// apps/herd/store/mica.h - MICA's cache for one worker: a lossy index over a circular log (Lim et
// al., NSDI 2014), as HERD uses it (docs/models/herd.md).
//
// The index has buckets of 8 slots of 8 bytes: used bit, 16-bit tag, offset in the log. An insert
// takes the last slot that has its tag or is empty, else slot tag & 7, whose entry is lost. A key
// that is present is changed in place. The log is a ring: the head overwrites the oldest entries,
// whose slots detect this at the next look-up.
//
// A store may start from an image, the state after putting keys 0..count-1 in order. Images are
// shared and never change; a store keeps only the buckets and entries that differ, so its memory
// depends on its PUTs. GET and PUT cost O(1).
#ifndef APPS_HERD_STORE_MICA_H
#define APPS_HERD_STORE_MICA_H

#include "apps/herd/store/wire.h"
#include "kernel/ranks.h"

SIM_C_BEGIN

#define APP_MICA_SLOTS 8u

typedef struct app_mica_config {
    uint64_t bucket_count; // a power of two, at most 2^31
    uint64_t log_bytes;    // a multiple of 8, room for at least one entry
    bool large;            // length fields have two bytes
} app_mica_config_t;

typedef struct app_mica_stats {
    uint64_t evictions;      // entries lost to full buckets
    uint64_t overwrites;     // entries lost to another key of the same tag
    uint64_t log_head_bytes; // offset of the head in the log
    uint64_t appended_bytes;
    uint64_t updated; // PUTs in place
    uint64_t inserted;
    uint64_t hits;
    uint64_t misses;
} app_mica_stats_t;

typedef struct app_mica_image app_mica_image_t;
// Creates an image. Values are app_herd_make_value's with stamp 0; value_bytes 0: the length is
// app_herd_value_length's.
app_mica_image_t *app_mica_populate(const app_mica_config_t *config, uint32_t key_count,
                                    uint32_t value_bytes);
void app_mica_image_destroy(app_mica_image_t *image); // NULL is allowed
app_mica_stats_t app_mica_image_stats(const app_mica_image_t *image);
size_t app_mica_image_bytes(const app_mica_image_t *image);

typedef struct app_mica app_mica_t;
// Creates a store. image: NULL for an empty store, else of the same configuration; it must outlive
// the store.
app_mica_t *app_mica_create(const app_mica_config_t *config, const app_mica_image_t *image);
void app_mica_destroy(app_mica_t *mica); // NULL is allowed

// Copies a key's value, at most APP_HERD_VALUE_MAX bytes, and sets *bytes. Returns false if the key
// is not in the store.
bool app_mica_get(app_mica_t *mica, app_city128_t key, uint8_t *value, uint32_t *bytes);
void app_mica_put(app_mica_t *mica, app_city128_t key, const uint8_t *value, uint32_t bytes);

// Sends the results of app_mica_stats and app_mica_bytes to rank 0, but not the store itself.
void app_mica_carry(app_mica_t *mica, sim_carry_t *carry);
// Returns the store's counters; evictions, overwrites, inserted and head start from the image's.
app_mica_stats_t app_mica_stats(const app_mica_t *mica);
size_t app_mica_bytes(const app_mica_t *mica); // memory of the store itself, without the image

// Size of a store as shown in a server's memory: the index, buckets in order, then the log, with
// entries encoded like PUTs (wire.h) with the store's opcode. A slot has, from its lowest bit: used
// 1, tag 16, offset in the log 47, counted over all appended bytes.
static inline uint64_t app_mica_shown_bytes(const app_mica_config_t *config)
{
    return config->bucket_count * APP_MICA_SLOTS * 8 + config->log_bytes;
}
// Returns the eight bytes at an offset (a multiple of 8), little-endian.
uint64_t app_mica_word(const app_mica_t *mica, uint64_t offset);

SIM_C_END

#endif // APPS_HERD_STORE_MICA_H
