// SPDX-License-Identifier: Apache-2.0
// apps/herd/store/table.h - stores in a server's memory that clients read by READs (Kalia et al.,
// SIGCOMM 2014, 5.1).
//
//     pilaf      a cuckoo table with three hashes, one 32-byte bucket per place, three quarters
//                full: pointer 8, tag 4, length 4, checksum of the entry 8, of the bucket 8; then
//                entries of key and value
//     farm       a hopscotch table, half full: key and value in one of the six places from the
//                key's own place on
//     farm-var   the same table with keys and pointers; then values
//
// Populated tables take no memory pages: unwritten memory is filled in from an image that all
// servers share (nic_memory_set_fill); a PUT writes pages. Checksums stand for Pilaf's CRC64. FaRM
// has versions in each line; here clients check the values themselves (app_herd_check_value).
#ifndef APPS_HERD_STORE_TABLE_H
#define APPS_HERD_STORE_TABLE_H

#include "apps/herd/store/wire.h"
#include "nic/memory.h"

SIM_C_BEGIN

#define APP_HERD_PLACES 6u // places of a neighbourhood
#define APP_HERD_HASHES 3u
#define APP_HERD_BUCKET_BYTES 32u
#define APP_HERD_POINTER_BYTES 8u

typedef enum { APP_HERD_CUCKOO, APP_HERD_NEIGHBOURS, APP_HERD_POINTERS } app_herd_table_kind_t;

typedef struct app_herd_table_image app_herd_table_image_t;
// Creates an image with keys 0..key_count-1 and values of value_bytes, app_herd_make_value's with
// stamp 0.
app_herd_table_image_t *app_herd_table_populate(app_herd_table_kind_t kind, uint32_t key_count,
                                                uint32_t value_bytes);
void app_herd_table_image_destroy(app_herd_table_image_t *image);       // NULL is allowed
uint64_t app_herd_table_bytes(const app_herd_table_image_t *image);     // a multiple of 4096
uint32_t app_herd_table_left_out(const app_herd_table_image_t *image);  // keys without a place
size_t app_herd_table_image_bytes(const app_herd_table_image_t *image); // memory of the simulation

// -- what clients know of a table: offsets from its beginning

typedef struct app_herd_extent {
    uint64_t offset;
    uint32_t bytes;
} app_herd_extent_t;
// Returns the bucket of one of the key's hashes.
app_herd_extent_t app_herd_table_bucket(const app_herd_table_image_t *image, app_city128_t key,
                                        uint32_t hash);
// Returns the places that a key may be in.
app_herd_extent_t app_herd_table_neighbourhood(const app_herd_table_image_t *image,
                                               app_city128_t key);

typedef enum { APP_HERD_NOT_IT, APP_HERD_FOUND, APP_HERD_TORN } app_herd_look_t;
// Looks for a key in a bucket; FOUND: *entry is where its entry lies; TORN: the bucket's checksum
// is wrong.
app_herd_look_t app_herd_table_in_bucket(const uint8_t *bucket, app_city128_t key,
                                         app_herd_extent_t *entry);
// Checks whether an entry belongs to the key. TORN: the bucket's checksum is that of another entry.
app_herd_look_t app_herd_table_in_entry(const uint8_t *bucket, const uint8_t *entry,
                                        app_city128_t key);
// Looks for a key in a neighbourhood. *at is the offset of its value (farm), or *value its pointer
// (farm-var). Returns false if the key is in none of the places.
bool app_herd_table_in_neighbourhood(const app_herd_table_image_t *image, const uint8_t *bytes,
                                     app_city128_t key, uint32_t *at, app_herd_extent_t *value);

// -- a server's table

typedef struct app_herd_table app_herd_table_t;
// Creates a table in [address, address + app_herd_table_bytes()), with an address that is a
// multiple of 4096. The image must outlive the table, and the table all uses of the memory.
app_herd_table_t *app_herd_table_create(const app_herd_table_image_t *image, nic_memory_t *memory,
                                        uint64_t address);
void app_herd_table_destroy(app_herd_table_t *table); // NULL is allowed
// Writes a key's value in place. Returns false if the key has no place.
bool app_herd_table_put(app_herd_table_t *table, app_city128_t key, const uint8_t *value);

SIM_C_END

#endif // APPS_HERD_STORE_TABLE_H
