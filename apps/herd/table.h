// SPDX-License-Identifier: Apache-2.0
// apps/herd/table.h - stores that clients read by READs, in the server's memory (Kalia et al.,
// SIGCOMM 2014, 5.1): what lies where, and what is in it.
//
//     pilaf      a cuckoo table of three hashes, one bucket of 32 bytes a place, three quarters
//                full: pointer 8, tag 4, length 4, checksum of the entry 8, of this 8; entries,
//                each key and value
//     farm       a hopscotch table, half full: key and value in one of the six places from the
//                key's own on
//     farm-var   the same of keys and pointers; values
//
// Populated tables are no pages: memory that nobody wrote is filled in from an image that all
// servers share (nic_memory_set_fill). A PUT writes pages. Checksums stand for Pilaf's CRC64; where
// FaRM has versions in each line, clients rely on what values say of themselves
// (app_herd_check_value).
#ifndef APPS_HERD_TABLE_H
#define APPS_HERD_TABLE_H

#include "apps/herd/wire.h"
#include "nic/memory.h"

SIM_C_BEGIN

#define APP_HERD_PLACES 6u // of a neighbourhood
#define APP_HERD_HASHES 3u
#define APP_HERD_BUCKET_BYTES 32u
#define APP_HERD_POINTER_BYTES 8u

typedef enum { APP_HERD_CUCKOO, APP_HERD_NEIGHBOURS, APP_HERD_POINTERS } app_herd_table_kind_t;

typedef struct app_herd_table_image app_herd_table_image_t;
// Keys 0..key_count-1 with values of value_bytes, app_herd_make_value's of stamp 0.
app_herd_table_image_t *app_herd_table_populate(app_herd_table_kind_t kind,
                                                uint32_t key_count,
                                                uint32_t value_bytes);
void app_herd_table_image_destroy(app_herd_table_image_t *image);       // NULL is allowed
uint64_t app_herd_table_bytes(const app_herd_table_image_t *image);     // a multiple of 4096
uint32_t app_herd_table_left_out(const app_herd_table_image_t *image);  // keys without a place
size_t app_herd_table_image_bytes(const app_herd_table_image_t *image); // of the simulation's own

// -- what clients know of it: where things are, from its beginning on

typedef struct app_herd_extent {
    uint64_t offset;
    uint32_t bytes;
} app_herd_extent_t;
// The bucket of one of the key's hashes.
app_herd_extent_t app_herd_table_bucket(const app_herd_table_image_t *image,
                                        app_city128_t key,
                                        uint32_t hash);
// The places that a key may be in.
app_herd_extent_t app_herd_table_neighbourhood(const app_herd_table_image_t *image,
                                               app_city128_t key);

typedef enum { APP_HERD_NOT_IT, APP_HERD_FOUND, APP_HERD_TORN } app_herd_look_t;
// What a bucket says of a key: where its entry is. TORN: its checksum is wrong.
app_herd_look_t app_herd_table_in_bucket(const uint8_t *bucket,
                                         app_city128_t key,
                                         app_herd_extent_t *entry);
// Whether an entry is the key's. TORN: the bucket's checksum is of another one.
app_herd_look_t app_herd_table_in_entry(const uint8_t *bucket,
                                        const uint8_t *entry,
                                        app_city128_t key);
// The key's place among those of a neighbourhood: *at is where its value begins (farm), or its
// pointer is in *value (farm-var). False: it is in none.
bool app_herd_table_in_neighbourhood(const app_herd_table_image_t *image,
                                     const uint8_t *bytes,
                                     app_city128_t key,
                                     uint32_t *at,
                                     app_herd_extent_t *value);

// -- a server's

typedef struct app_herd_table app_herd_table_t;
// In [address, address + app_herd_table_bytes()), address a multiple of 4096. The image must
// outlive it, and it the memory's use.
app_herd_table_t *app_herd_table_create(const app_herd_table_image_t *image,
                                        nic_memory_t *memory,
                                        uint64_t address);
void app_herd_table_destroy(app_herd_table_t *table); // NULL is allowed
// Writes the key's value where it is. False: the key has no place.
bool app_herd_table_put(app_herd_table_t *table, app_city128_t key, const uint8_t *value);

SIM_C_END

#endif // APPS_HERD_TABLE_H
