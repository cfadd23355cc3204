// SPDX-License-Identifier: Apache-2.0
// apps/herd/store/mica.c - MICA's index and log; a store keeps only what differs from its image.
#include "apps/herd/store/mica.h"

#include <string.h>

#include "kernel/bytes.h"

#define CHUNK_BYTES UINT64_C(65536)

// -- the index

// A slot as it is in memory: used (bit 0), tag (16 bits), offset in the log (47 bits, counted over
// all appended bytes).
#define SLOT_USED UINT64_C(1)

static inline uint64_t make_slot(uint32_t tag, uint64_t offset)
{
    return SLOT_USED | (uint64_t)tag << 1 | offset << 17;
}
static inline uint32_t slot_tag(uint64_t slot)
{
    return (uint32_t)(slot >> 1) & 0xffffu;
}
static inline uint64_t slot_offset(uint64_t slot)
{
    return slot >> 17;
}
static inline uint32_t tag_of(app_city128_t key)
{
    return (uint32_t)(key.high >> 48);
}
static inline uint32_t bucket_of(const app_mica_config_t *config, app_city128_t key)
{
    return (uint32_t)key.high & (uint32_t)(config->bucket_count - 1);
}

// Chooses the slot of an insert, and counts what it displaces: the last slot that is empty or has
// the same tag, else slot tag & 7.
static uint32_t choose_slot(const uint64_t slots[APP_MICA_SLOTS], uint32_t tag,
                            app_mica_stats_t *stats)
{
    uint32_t chosen = APP_MICA_SLOTS;
    for (uint32_t i = 0; i < APP_MICA_SLOTS; i++) {
        if ((slots[i] & SLOT_USED) == 0 || slot_tag(slots[i]) == tag) {
            chosen = i;
        }
    }
    if (chosen == APP_MICA_SLOTS) {
        stats->evictions++;
        return tag & (APP_MICA_SLOTS - 1);
    }
    stats->overwrites += (slots[chosen] & SLOT_USED) != 0;
    return chosen;
}

static uint32_t find_slot(const uint64_t slots[APP_MICA_SLOTS], uint32_t tag)
{
    uint32_t i = 0;
    while (i < APP_MICA_SLOTS && ((slots[i] & SLOT_USED) == 0 || slot_tag(slots[i]) != tag)) {
        i++;
    }
    return i;
}

// -- the log

static uint64_t entry_bytes(const app_mica_config_t *config, uint32_t value_bytes)
{
    const uint64_t bytes = app_herd_request_bytes(true, value_bytes, config->large);
    return (bytes + 7) & ~UINT64_C(7);
}

// Returns the offset of the next entry; an entry never wraps around the end of the ring.
static uint64_t place(const app_mica_config_t *config, uint64_t head, uint64_t bytes)
{
    const uint64_t left = config->log_bytes - head % config->log_bytes;
    return bytes <= left ? head : head + left;
}

// -- images

struct app_mica_image {
    app_mica_config_t config;
    uint32_t key_count;
    uint32_t value_bytes;
    uint32_t *first;   // by bucket: index of its first key; one more than buckets
    uint32_t *keys;    // by bucket, then in order of insertion
    uint16_t *tags;    // tags of the keys, in the same order
    uint32_t *offsets; // per key, in units of 8 bytes; NULL: all entries have the same size
    uint64_t head;
    app_mica_stats_t stats;
};

static uint32_t image_value_bytes(const app_mica_image_t *image, app_city128_t key)
{
    return image->value_bytes != 0 ? image->value_bytes : app_herd_value_length(key);
}

static uint64_t image_offset(const app_mica_image_t *image, uint32_t key)
{
    if (image->offsets != NULL) {
        return (uint64_t)image->offsets[key] * 8;
    }
    const uint64_t bytes = entry_bytes(&image->config, image->value_bytes);
    const uint64_t per_lap = image->config.log_bytes / bytes;
    return key / per_lap * image->config.log_bytes + key % per_lap * bytes;
}

// Rebuilds the bucket by inserting its keys again; keys[i] becomes the key of slot i.
static void replay(const app_mica_image_t *image, uint32_t bucket, uint64_t slots[APP_MICA_SLOTS],
                   uint32_t keys[APP_MICA_SLOTS], app_mica_stats_t *stats)
{
    memset(slots, 0, APP_MICA_SLOTS * sizeof(*slots));
    for (uint32_t i = image->first[bucket]; i < image->first[bucket + 1]; i++) {
        const uint32_t slot = choose_slot(slots, image->tags[i], stats);
        slots[slot] = make_slot(image->tags[i], 0);
        keys[slot] = image->keys[i];
    }
}

// Sorts the keys by bucket, by counting.
static void sort_keys(app_mica_image_t *image)
{
    const uint32_t count = image->key_count;
    const uint64_t buckets = image->config.bucket_count;
    uint32_t *const bucket = sim_alloc_array((size_t)count + 1, sizeof(*bucket));
    uint16_t *const tag = sim_alloc_array((size_t)count + 1, sizeof(*tag));
    for (uint32_t i = 0; i < count; i++) {
        const app_city128_t key = app_herd_key(i);
        bucket[i] = bucket_of(&image->config, key);
        tag[i] = (uint16_t)tag_of(key);
        image->first[bucket[i] + 1]++;
        const uint64_t bytes = entry_bytes(&image->config, image_value_bytes(image, key));
        const uint64_t at = place(&image->config, image->head, bytes);
        if (image->offsets != NULL) {
            SIM_CHECK(at / 8 <= UINT32_MAX);
            image->offsets[i] = (uint32_t)(at / 8);
        }
        image->head = at + bytes;
    }
    for (uint64_t b = 0; b < buckets; b++) {
        image->first[b + 1] += image->first[b];
    }
    for (uint32_t i = count; i-- > 0;) {
        // From the end: first[b + 1] moves down to the beginning of the bucket.
        const uint32_t at = --image->first[bucket[i] + 1];
        image->keys[at] = i;
        image->tags[at] = tag[i];
    }
    memmove(image->first, image->first + 1, buckets * sizeof(*image->first));
    image->first[buckets] = count;
    sim_free(bucket);
    sim_free(tag);
}

app_mica_image_t *app_mica_populate(const app_mica_config_t *config, uint32_t key_count,
                                    uint32_t value_bytes)
{
    SIM_CHECK((config->bucket_count & (config->bucket_count - 1)) == 0);
    SIM_CHECK(config->bucket_count >= 1 && config->bucket_count <= UINT64_C(1) << 31);
    app_mica_image_t *const image = sim_alloc(sizeof(*image));
    image->config = *config;
    image->key_count = key_count;
    image->value_bytes = value_bytes;
    image->first = sim_alloc_array(config->bucket_count + 2, sizeof(*image->first));
    image->keys = sim_alloc_array((size_t)key_count + 1, sizeof(*image->keys));
    image->tags = sim_alloc_array((size_t)key_count + 1, sizeof(*image->tags));
    if (value_bytes == 0) {
        image->offsets = sim_alloc_array((size_t)key_count + 1, sizeof(*image->offsets));
    }
    sort_keys(image);
    for (uint64_t b = 0; b < config->bucket_count; b++) {
        uint64_t slots[APP_MICA_SLOTS];
        uint32_t keys[APP_MICA_SLOTS];
        replay(image, (uint32_t)b, slots, keys, &image->stats);
    }
    image->stats.inserted = key_count;
    image->stats.appended_bytes = image->head;
    image->stats.log_head_bytes = image->head % config->log_bytes;
    return image;
}

void app_mica_image_destroy(app_mica_image_t *image)
{
    if (image != NULL) {
        SIM_FREE_ALL(image->first, image->keys, image->tags, image->offsets, image);
    }
}

app_mica_stats_t app_mica_image_stats(const app_mica_image_t *image)
{
    return image->stats;
}

size_t app_mica_image_bytes(const app_mica_image_t *image)
{
    return sizeof(*image) + (image->config.bucket_count + 2) * sizeof(*image->first) +
           ((size_t)image->key_count + 1) * (sizeof(*image->keys) + sizeof(*image->tags) +
                                             (image->offsets != NULL ? sizeof(uint32_t) : 0));
}

// -- changes of a store: a map from numbers to memory blocks, open addressing

typedef struct change {
    uint64_t number; // number + 1; 0: free
    void *memory;
} change_t;

typedef struct changes {
    change_t *table;
    uint64_t capacity; // a power of two
    uint64_t count;
} changes_t;

static change_t *find_change(const changes_t *changes, uint64_t number)
{
    uint64_t at = sim_mix64(number) & (changes->capacity - 1);
    while (changes->table[at].number != 0 && changes->table[at].number != number + 1) {
        at = (at + 1) & (changes->capacity - 1);
    }
    return &changes->table[at];
}

static void *changed(const changes_t *changes, uint64_t number)
{
    return changes->count == 0 ? NULL : find_change(changes, number)->memory;
}

static void add_change(changes_t *changes, uint64_t number, void *memory)
{
    if (2 * changes->count >= changes->capacity) {
        const changes_t old = *changes;
        changes->capacity = old.capacity == 0 ? 64 : 2 * old.capacity;
        changes->table = sim_alloc_array(changes->capacity, sizeof(*changes->table));
        for (uint64_t i = 0; i < old.capacity; i++) {
            if (old.table[i].number != 0) {
                *find_change(changes, old.table[i].number - 1) = old.table[i];
            }
        }
        sim_free(old.table);
    }
    change_t *const change = find_change(changes, number);
    SIM_CHECK(change->number == 0);
    *change = (change_t){number + 1, memory};
    changes->count++;
}

static void free_changes(changes_t *changes)
{
    for (uint64_t i = 0; i < changes->capacity; i++) {
        sim_free(changes->table[i].memory);
    }
    sim_free(changes->table);
}

// -- stores

struct app_mica {
    app_mica_config_t config;
    const app_mica_image_t *image;
    uint64_t image_head; // entries before this offset are the image's
    uint64_t head;
    changes_t buckets; // bucket number to its slots
    changes_t entries; // offset to the image's entry that was changed in place
    uint8_t **chunks;  // of the ring, for appended entries
    uint64_t chunk_count;
    uint64_t bytes;
    app_mica_stats_t stats;
};

app_mica_t *app_mica_create(const app_mica_config_t *config, const app_mica_image_t *image)
{
    app_mica_t *const mica = sim_alloc(sizeof(*mica));
    SIM_CHECK((config->bucket_count & (config->bucket_count - 1)) == 0 && config->bucket_count > 0);
    SIM_CHECK(config->log_bytes % 8 == 0 &&
              config->log_bytes >= entry_bytes(config, APP_HERD_SMALL_VALUE_MAX));
    mica->config = *config;
    mica->image = image;
    mica->chunk_count = (config->log_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    mica->chunks = sim_alloc_array(mica->chunk_count, sizeof(*mica->chunks));
    mica->bytes = sizeof(*mica) + mica->chunk_count * sizeof(*mica->chunks);
    if (image != NULL) {
        SIM_CHECK(image->config.bucket_count == config->bucket_count &&
                  image->config.log_bytes == config->log_bytes &&
                  image->config.large == config->large);
        mica->stats = image->stats;
        mica->image_head = mica->head = image->head;
    }
    return mica;
}

void app_mica_destroy(app_mica_t *mica)
{
    if (mica == NULL) {
        return;
    }
    free_changes(&mica->buckets);
    free_changes(&mica->entries);
    sim_free_each(mica->chunks, mica->chunk_count);
    sim_free(mica->chunks);
    sim_free(mica);
}

// Copies bytes between the ring and a buffer. An entry may cross chunks, but not the end of the
// ring.
static void copy_ring(app_mica_t *mica, uint64_t offset, uint8_t *bytes, uint64_t count, bool write)
{
    uint64_t at = offset % mica->config.log_bytes;
    SIM_CHECK(at + count <= mica->config.log_bytes);
    while (count > 0) {
        uint8_t **const chunk = &mica->chunks[at / CHUNK_BYTES];
        const uint64_t within = at % CHUNK_BYTES;
        const uint64_t now = SIM_MIN(count, CHUNK_BYTES - within);
        if (*chunk == NULL) {
            *chunk = sim_alloc(CHUNK_BYTES);
            mica->bytes += CHUNK_BYTES;
        }
        if (write) {
            memcpy(*chunk + within, bytes, now);
        } else {
            memcpy(bytes, *chunk + within, now);
        }
        at += now;
        bytes += now;
        count -= now;
    }
}

typedef struct bucket {
    uint64_t slots[APP_MICA_SLOTS];
    uint32_t keys[APP_MICA_SLOTS]; // keys of entries of the image
} bucket_t;

// Loads the current slots of a bucket: its own copy if it was changed, else the image's.
static void load_bucket(const app_mica_t *mica, uint32_t number, bucket_t *bucket)
{
    const bucket_t *const own = changed(&mica->buckets, number);
    if (own != NULL) {
        *bucket = *own;
        return;
    }
    *bucket = (bucket_t){{0}, {0}};
    if (mica->image == NULL) {
        return;
    }
    app_mica_stats_t unused = {0};
    replay(mica->image, number, bucket->slots, bucket->keys, &unused);
    for (uint32_t i = 0; i < APP_MICA_SLOTS; i++) {
        if ((bucket->slots[i] & SLOT_USED) != 0) {
            bucket->slots[i] =
                make_slot(slot_tag(bucket->slots[i]), image_offset(mica->image, bucket->keys[i]));
        }
    }
}

static void store_bucket(app_mica_t *mica, uint32_t number, const bucket_t *bucket)
{
    bucket_t *own = changed(&mica->buckets, number);
    if (own == NULL) {
        own = sim_alloc(sizeof(*own));
        add_change(&mica->buckets, number, own);
        mica->bytes += sizeof(*own) + 2 * sizeof(change_t);
    }
    *own = *bucket;
}

// A changed entry of the image.
typedef struct altered {
    uint32_t value_bytes;
    uint8_t value[]; // as long as the entry has room for
} altered_t;

typedef struct found {
    uint64_t offset;
    uint32_t image_key;
    bool of_image;
    uint64_t room_bytes; // size of the whole entry
    uint32_t value_bytes;
    uint8_t bytes[APP_HERD_REQUEST_MAX];
    const uint8_t *value;
} found_t;

static bool load_image(const app_mica_t *mica, app_city128_t key, found_t *found)
{
    const app_city128_t there = app_herd_key(found->image_key);
    if (there.low != key.low || there.high != key.high) {
        return false;
    }
    found->value_bytes = image_value_bytes(mica->image, key);
    found->room_bytes = entry_bytes(&mica->config, found->value_bytes);
    const altered_t *const altered = changed(&mica->entries, found->offset);
    if (altered != NULL) {
        found->value_bytes = altered->value_bytes;
        found->value = altered->value;
    } else {
        app_herd_make_value(key, 0, found->bytes, found->value_bytes);
        found->value = found->bytes;
    }
    return true;
}

static bool load_appended(app_mica_t *mica, app_city128_t key, found_t *found)
{
    const uint64_t left = mica->config.log_bytes - found->offset % mica->config.log_bytes;
    const uint64_t count = SIM_MIN(left, sizeof(found->bytes));
    copy_ring(mica, found->offset, found->bytes, count, false);
    app_herd_request_t request;
    const bool good = app_herd_decode(found->bytes, (uint32_t)count, mica->config.large, &request);
    SIM_CHECK(good && request.opcode == APP_MICA_PUT);
    if (request.key.low != key.low || request.key.high != key.high) {
        return false;
    }
    found->value_bytes = request.value_bytes;
    found->value = request.value;
    found->room_bytes = entry_bytes(&mica->config, request.value_bytes);
    return true;
}

// Finds the entry of a key, unless the ring has overwritten it.
static bool find(app_mica_t *mica, app_city128_t key, const bucket_t *bucket, found_t *found)
{
    const uint32_t slot = find_slot(bucket->slots, tag_of(key));
    if (slot == APP_MICA_SLOTS) {
        return false;
    }
    found->offset = slot_offset(bucket->slots[slot]);
    found->image_key = bucket->keys[slot];
    found->of_image = found->offset < mica->image_head;
    if (mica->head - found->offset > mica->config.log_bytes) {
        return false;
    }
    return found->of_image ? load_image(mica, key, found) : load_appended(mica, key, found);
}

bool app_mica_get(app_mica_t *mica, app_city128_t key, uint8_t *value, uint32_t *bytes)
{
    bucket_t bucket;
    found_t found;
    load_bucket(mica, bucket_of(&mica->config, key), &bucket);
    const bool hit = find(mica, key, &bucket, &found);
    mica->stats.hits += hit;
    mica->stats.misses += !hit;
    if (hit) {
        memcpy(value, found.value, found.value_bytes);
        *bytes = found.value_bytes;
    }
    return hit;
}

static void change_in_place(app_mica_t *mica, app_city128_t key, const found_t *found,
                            const uint8_t *value, uint32_t bytes)
{
    mica->stats.updated++;
    if (!found->of_image) {
        uint8_t entry[APP_HERD_REQUEST_MAX];
        const app_herd_request_t request = {key, APP_MICA_PUT, bytes, value};
        const uint32_t count = app_herd_encode(&request, mica->config.large, entry);
        copy_ring(mica, found->offset, entry, count, true);
        return;
    }
    altered_t *altered = changed(&mica->entries, found->offset);
    if (altered == NULL) {
        const uint64_t size = sizeof(*altered) + found->room_bytes;
        altered = sim_alloc(size);
        add_change(&mica->entries, found->offset, altered);
        mica->bytes += size + 2 * sizeof(change_t);
    }
    altered->value_bytes = bytes;
    memcpy(altered->value, value, bytes);
}

void app_mica_put(app_mica_t *mica, app_city128_t key, const uint8_t *value, uint32_t bytes)
{
    bucket_t bucket;
    found_t found;
    const uint32_t number = bucket_of(&mica->config, key);
    const uint64_t needed = entry_bytes(&mica->config, bytes);
    SIM_CHECK(needed <= mica->config.log_bytes);
    load_bucket(mica, number, &bucket);
    if (find(mica, key, &bucket, &found) && needed <= found.room_bytes) {
        change_in_place(mica, key, &found, value, bytes);
        return;
    }
    const uint32_t slot = choose_slot(bucket.slots, tag_of(key), &mica->stats);
    const uint64_t offset = place(&mica->config, mica->head, needed);
    bucket.slots[slot] = make_slot(tag_of(key), offset);
    store_bucket(mica, number, &bucket);
    uint8_t entry[APP_HERD_REQUEST_MAX];
    const app_herd_request_t request = {key, APP_MICA_PUT, bytes, value};
    const uint32_t count = app_herd_encode(&request, mica->config.large, entry);
    copy_ring(mica, offset, entry, count, true);
    mica->head = offset + needed;
    mica->stats.inserted++;
    mica->stats.appended_bytes = mica->head;
    mica->stats.log_head_bytes = mica->head % mica->config.log_bytes;
}

void app_mica_carry(app_mica_t *mica, sim_carry_t *carry)
{
    SIM_CARRY(carry, mica->stats);
    SIM_CARRY(carry, mica->bytes);
}

app_mica_stats_t app_mica_stats(const app_mica_t *mica)
{
    return mica->stats;
}

size_t app_mica_bytes(const app_mica_t *mica)
{
    return mica->bytes;
}

// -- the store as a server's memory shows it

// Returns the key of the image with the last entry that begins at or before an offset.
static uint32_t image_key_at(const app_mica_image_t *image, uint64_t offset)
{
    uint32_t low = 0;
    uint32_t high = image->key_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (image_offset(image, middle) <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint64_t image_word(const app_mica_t *mica, uint64_t offset)
{
    const uint32_t index = image_key_at(mica->image, offset);
    found_t found = {.offset = image_offset(mica->image, index), .image_key = index};
    const app_city128_t key = app_herd_key(index);
    const bool good = load_image(mica, key, &found);
    SIM_CHECK(good);
    uint8_t entry[APP_HERD_REQUEST_MAX + 8] = {0};
    const app_herd_request_t request = {key, APP_MICA_PUT, found.value_bytes, found.value};
    const uint32_t count = app_herd_encode(&request, mica->config.large, entry);
    const uint64_t within = offset - found.offset;
    return within < count ? sim_get_le(entry + within, SIM_MIN(count - within, 8)) : 0;
}

// Returns the word appended last at a place of the ring: in the head's lap, or the lap before.
static uint64_t log_word(const app_mica_t *mica, uint64_t at)
{
    const uint64_t lap = mica->head / mica->config.log_bytes * mica->config.log_bytes;
    uint64_t offset = lap + at;
    if (offset >= mica->head) {
        if (lap == 0) {
            return 0;
        }
        offset -= mica->config.log_bytes;
    }
    if (offset < mica->image_head) {
        return image_word(mica, offset);
    }
    const uint8_t *const chunk = mica->chunks[at / CHUNK_BYTES];
    return chunk == NULL ? 0 : sim_get_le64(&chunk[at % CHUNK_BYTES]);
}

uint64_t app_mica_word(const app_mica_t *mica, uint64_t offset)
{
    const uint64_t index_bytes = mica->config.bucket_count * APP_MICA_SLOTS * 8;
    SIM_CHECK(offset % 8 == 0 && offset < app_mica_shown_bytes(&mica->config));
    if (offset >= index_bytes) {
        return log_word(mica, offset - index_bytes);
    }
    bucket_t bucket;
    load_bucket(mica, (uint32_t)(offset / 8 / APP_MICA_SLOTS), &bucket);
    return bucket.slots[offset / 8 % APP_MICA_SLOTS];
}
