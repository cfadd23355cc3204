// SPDX-License-Identifier: Apache-2.0
// apps/herd/store/table.c - cuckoo and hopscotch tables in a host's memory, computed when they are
// read.
#include "apps/herd/store/table.h"

#include <string.h>

#include "kernel/bytes.h"
#define PAGE_BYTES UINT64_C(4096)
#define KICKS_MAX 500u   // of a cuckoo insertion
#define PROBES_MAX 4096u // of a hopscotch insertion, for a free place
#define KEY_BYTES APP_HERD_KEY_BYTES
#define ITEM_MAX (KEY_BYTES + APP_HERD_VALUE_MAX)
#define NONE UINT32_MAX

struct app_herd_table_image {
    app_herd_table_kind_t kind;
    uint32_t key_count;
    uint32_t value_bytes;
    uint32_t place_count;
    uint32_t place_bytes; // of a bucket, an item, or a key with its pointer
    uint32_t entry_bytes; // per key, after the places; 0: there are no entries
    uint64_t entries;     // offset of the entries
    uint64_t bytes;
    uint32_t left_out;
    uint32_t *keys; // key in each place; NONE: the place is empty
};

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t checksum(const uint8_t *bytes, uint32_t count)
{
    uint64_t sum = count;
    for (uint32_t at = 0; at < count; at += 8) {
        sum = sim_mix64(sum ^ sim_get_le(bytes + at, SIM_MIN(count - at, 8)));
    }
    return sum;
}

// -- hashes

static uint32_t hash_of(app_city128_t key, uint32_t which, uint32_t range)
{
    const uint32_t hashes[APP_HERD_HASHES] = {
        (uint32_t)key.low,
        (uint32_t)(key.low >> 32),
        (uint32_t)key.high,
    };
    return (uint32_t)((uint64_t)hashes[which] * range >> 32);
}

static uint32_t tag_of(app_city128_t key)
{
    return (uint32_t)(key.high >> 32);
}

static void write_key(app_city128_t key, uint8_t *bytes)
{
    sim_put_le(bytes, key.low, 8);
    sim_put_le(bytes + 8, key.high, 8);
}

static bool is_key(const uint8_t *bytes, app_city128_t key)
{
    return sim_get_le(bytes, 8) == key.low && sim_get_le(bytes + 8, 8) == key.high;
}

// -- population

// Inserts a key into the first free one of its buckets. If none is free, it takes one of them, in
// turn, and the displaced key is inserted again.
static void insert_cuckoo(app_herd_table_image_t *image, uint32_t index)
{
    for (uint32_t kick = 0; kick < KICKS_MAX; kick++) {
        const app_city128_t key = app_herd_key(index);
        for (uint32_t h = 0; h < APP_HERD_HASHES; h++) {
            uint32_t *const place = &image->keys[hash_of(key, h, image->place_count)];
            if (*place == NONE) {
                *place = index;
                return;
            }
        }
        const uint32_t which =
            (uint32_t)(sim_mix64((uint64_t)index << 32 | kick) % APP_HERD_HASHES);
        uint32_t *const place = &image->keys[hash_of(key, which, image->place_count)];
        const uint32_t other = *place;
        *place = index;
        index = other;
    }
    image->left_out++;
}

static uint32_t home_of(const app_herd_table_image_t *image, app_city128_t key)
{
    return hash_of(key, 0, image->place_count - APP_HERD_PLACES + 1);
}

// Frees a place before `free` by moving its key there, if that key may lie there. NONE: no key may.
static uint32_t move_closer(app_herd_table_image_t *image, uint32_t free)
{
    for (uint32_t back = APP_HERD_PLACES - 1; back > 0; back--) {
        const uint32_t at = free - back;
        const uint32_t home = home_of(image, app_herd_key(image->keys[at]));
        if (free - home < APP_HERD_PLACES) {
            image->keys[free] = image->keys[at];
            image->keys[at] = NONE;
            return at;
        }
    }
    return NONE;
}

static void insert_neighbour(app_herd_table_image_t *image, uint32_t index)
{
    const uint32_t home = home_of(image, app_herd_key(index));
    uint32_t free = home;
    while (free < image->place_count && free - home < PROBES_MAX && image->keys[free] != NONE) {
        free++;
    }
    if (free == image->place_count || image->keys[free] != NONE) {
        image->left_out++;
        return;
    }
    while (free != NONE && free - home >= APP_HERD_PLACES) {
        free = move_closer(image, free);
    }
    if (free == NONE) {
        image->left_out++;
        return;
    }
    image->keys[free] = index;
}

app_herd_table_image_t *app_herd_table_populate(app_herd_table_kind_t kind, uint32_t key_count,
                                                uint32_t value_bytes)
{
    app_herd_table_image_t *const image = sim_alloc(sizeof(*image));
    SIM_CHECK(value_bytes >= 4 && value_bytes <= APP_HERD_VALUE_MAX);
    const bool cuckoo = kind == APP_HERD_CUCKOO;
    const uint64_t places = cuckoo ? ((uint64_t)key_count * 4 + 2) / 3 : 2 * (uint64_t)key_count;
    *image = (app_herd_table_image_t){
        .kind = kind,
        .key_count = key_count,
        .value_bytes = value_bytes,
        .place_count = (uint32_t)places + APP_HERD_PLACES,
        .place_bytes = cuckoo                        ? APP_HERD_BUCKET_BYTES
                       : kind == APP_HERD_NEIGHBOURS ? KEY_BYTES + value_bytes
                                                     : KEY_BYTES + APP_HERD_POINTER_BYTES,
        .entry_bytes = cuckoo ? (uint32_t)round_up(KEY_BYTES + value_bytes, 8)
                       : kind == APP_HERD_NEIGHBOURS ? 0
                                                     : (uint32_t)round_up(value_bytes, 8),
    };
    image->entries = round_up((uint64_t)image->place_count * image->place_bytes, 64);
    image->bytes = round_up(image->entries + (uint64_t)key_count * image->entry_bytes, PAGE_BYTES);
    image->keys = sim_alloc_array(image->place_count, sizeof(*image->keys));
    memset(image->keys, 0xff, image->place_count * sizeof(*image->keys));
    for (uint32_t i = 0; i < key_count; i++) {
        if (cuckoo) {
            insert_cuckoo(image, i);
        } else {
            insert_neighbour(image, i);
        }
    }
    return image;
}

void app_herd_table_image_destroy(app_herd_table_image_t *image)
{
    if (image != NULL) {
        sim_free(image->keys);
        sim_free(image);
    }
}

uint64_t app_herd_table_bytes(const app_herd_table_image_t *image)
{
    return image->bytes;
}

uint32_t app_herd_table_left_out(const app_herd_table_image_t *image)
{
    return image->left_out;
}

size_t app_herd_table_image_bytes(const app_herd_table_image_t *image)
{
    return sizeof(*image) + image->place_count * sizeof(*image->keys);
}

// -- computations by clients

app_herd_extent_t app_herd_table_bucket(const app_herd_table_image_t *image, app_city128_t key,
                                        uint32_t hash)
{
    const uint64_t place = hash_of(key, hash, image->place_count);
    return (app_herd_extent_t){place * APP_HERD_BUCKET_BYTES, APP_HERD_BUCKET_BYTES};
}

app_herd_extent_t app_herd_table_neighbourhood(const app_herd_table_image_t *image,
                                               app_city128_t key)
{
    const uint64_t home = home_of(image, key);
    return (app_herd_extent_t){home * image->place_bytes, APP_HERD_PLACES * image->place_bytes};
}

// Writes a bucket: pointer (from the table's beginning), tag at 8, length at 12, checksums at 16
// and 24. Zeros mean an empty bucket.
static void write_bucket(uint8_t *bucket, uint64_t pointer, uint32_t tag, const uint8_t *entry,
                         uint32_t bytes)
{
    sim_put_le(bucket, pointer, 8);
    sim_put_le(bucket + 8, tag, 4);
    sim_put_le(bucket + 12, bytes, 4);
    sim_put_le(bucket + 16, checksum(entry, bytes), 8);
    sim_put_le(bucket + 24, checksum(bucket, 24), 8);
}

app_herd_look_t app_herd_table_in_bucket(const uint8_t *bucket, app_city128_t key,
                                         app_herd_extent_t *entry)
{
    *entry = (app_herd_extent_t){sim_get_le(bucket, 8), (uint32_t)sim_get_le(bucket + 12, 4)};
    if (entry->offset == 0 && entry->bytes == 0) {
        return APP_HERD_NOT_IT;
    }
    if (sim_get_le(bucket + 24, 8) != checksum(bucket, 24)) {
        return APP_HERD_TORN;
    }
    return sim_get_le(bucket + 8, 4) == tag_of(key) ? APP_HERD_FOUND : APP_HERD_NOT_IT;
}

app_herd_look_t app_herd_table_in_entry(const uint8_t *bucket, const uint8_t *entry,
                                        app_city128_t key)
{
    if (sim_get_le(bucket + 16, 8) != checksum(entry, (uint32_t)sim_get_le(bucket + 12, 4))) {
        return APP_HERD_TORN;
    }
    return is_key(entry, key) ? APP_HERD_FOUND : APP_HERD_NOT_IT;
}

bool app_herd_table_in_neighbourhood(const app_herd_table_image_t *image, const uint8_t *bytes,
                                     app_city128_t key, uint32_t *at, app_herd_extent_t *value)
{
    for (uint32_t i = 0; i < APP_HERD_PLACES; i++) {
        const uint8_t *const item = bytes + (size_t)i * image->place_bytes;
        if (is_key(item, key)) {
            *at = i * image->place_bytes + KEY_BYTES;
            *value = (app_herd_extent_t){0, image->value_bytes};
            if (image->kind == APP_HERD_POINTERS) {
                value->offset = sim_get_le(item + KEY_BYTES, APP_HERD_POINTER_BYTES);
            }
            return true;
        }
    }
    return false;
}

// -- a server's table

struct app_herd_table {
    const app_herd_table_image_t *image;
    nic_memory_t *memory;
    uint64_t address;
    uint64_t shown; // number of the cached piece + 1: a place or, after all places, an entry
    uint8_t bytes[ITEM_MAX + 8];
};

static uint64_t entry_at(const app_herd_table_image_t *image, uint32_t key)
{
    return image->entries + (uint64_t)key * image->entry_bytes;
}

static uint32_t make_entry(const app_herd_table_image_t *image, uint32_t index, uint8_t *bytes)
{
    const app_city128_t key = app_herd_key(index);
    const uint32_t head = image->kind == APP_HERD_POINTERS ? 0 : KEY_BYTES;
    if (head != 0) {
        write_key(key, bytes);
    }
    app_herd_make_value(key, 0, bytes + head, image->value_bytes);
    return head + image->value_bytes;
}

static void make_place(const app_herd_table_image_t *image, uint32_t place, uint8_t *bytes)
{
    const uint32_t index = image->keys[place];
    memset(bytes, 0, image->place_bytes);
    if (index == NONE) {
        return;
    }
    uint8_t entry[ITEM_MAX];
    switch (image->kind) {
    case APP_HERD_CUCKOO: {
        const uint32_t count = make_entry(image, index, entry);
        write_bucket(bytes, entry_at(image, index), tag_of(app_herd_key(index)), entry, count);
        break;
    }
    case APP_HERD_NEIGHBOURS:
        (void)make_entry(image, index, bytes);
        break;
    case APP_HERD_POINTERS:
        write_key(app_herd_key(index), bytes);
        sim_put_le(bytes + KEY_BYTES, entry_at(image, index), APP_HERD_POINTER_BYTES);
        break;
    }
}

// Returns a byte of the populated table. The last piece is cached, because words are read in order.
static uint8_t byte_at(app_herd_table_t *table, uint64_t offset)
{
    const app_herd_table_image_t *const image = table->image;
    const bool behind = offset >= image->entries;
    const uint64_t size = behind ? image->entry_bytes : image->place_bytes;
    const uint64_t within = behind ? offset - image->entries : offset;
    const uint64_t count = behind ? image->key_count : image->place_count;
    if (size == 0 || within / size >= count) {
        return 0; // padding up to the next page
    }
    const uint64_t number = within / size;
    const uint64_t piece = 1 + number + (behind ? image->place_count : 0);
    if (table->shown != piece) {
        memset(table->bytes, 0, sizeof(table->bytes));
        if (behind) {
            (void)make_entry(image, (uint32_t)number, table->bytes);
        } else {
            make_place(image, (uint32_t)number, table->bytes);
        }
        table->shown = piece;
    }
    return table->bytes[within % size];
}

static uint64_t word_at(uint64_t address, const void *ctx)
{
    app_herd_table_t *const table = (app_herd_table_t *)(uintptr_t)ctx;
    uint64_t word = 0;
    for (uint32_t i = 0; i < 8; i++) {
        word |= (uint64_t)byte_at(table, address - table->address + i) << (8 * i);
    }
    return word;
}

app_herd_table_t *app_herd_table_create(const app_herd_table_image_t *image, nic_memory_t *memory,
                                        uint64_t address)
{
    app_herd_table_t *const table = sim_alloc(sizeof(*table));
    table->image = image;
    table->memory = memory;
    table->address = address;
    nic_memory_set_fill(memory, address, image->bytes, 8, word_at, table);
    return table;
}

void app_herd_table_destroy(app_herd_table_t *table)
{
    sim_free(table);
}

static bool put_cuckoo(app_herd_table_t *table, app_city128_t key, const uint8_t *value)
{
    for (uint32_t h = 0; h < APP_HERD_HASHES; h++) {
        const uint64_t at = table->address + app_herd_table_bucket(table->image, key, h).offset;
        uint8_t bucket[APP_HERD_BUCKET_BYTES];
        uint8_t entry[ITEM_MAX];
        app_herd_extent_t where;
        nic_memory_read(table->memory, at, bucket, sizeof(bucket));
        if (app_herd_table_in_bucket(bucket, key, &where) != APP_HERD_FOUND) {
            continue;
        }
        nic_memory_read(table->memory, table->address + where.offset, entry, where.bytes);
        if (!is_key(entry, key)) {
            continue;
        }
        memcpy(entry + KEY_BYTES, value, table->image->value_bytes);
        write_bucket(bucket, where.offset, tag_of(key), entry, where.bytes);
        nic_memory_write(table->memory, table->address + where.offset, entry, where.bytes);
        nic_memory_write(table->memory, at, bucket, sizeof(bucket));
        return true;
    }
    return false;
}

bool app_herd_table_put(app_herd_table_t *table, app_city128_t key, const uint8_t *value)
{
    const app_herd_table_image_t *const image = table->image;
    if (image->kind == APP_HERD_CUCKOO) {
        return put_cuckoo(table, key, value);
    }
    const app_herd_extent_t places = app_herd_table_neighbourhood(image, key);
    uint8_t bytes[APP_HERD_PLACES * ITEM_MAX];
    uint32_t at = 0;
    app_herd_extent_t where;
    nic_memory_read(table->memory, table->address + places.offset, bytes, places.bytes);
    if (!app_herd_table_in_neighbourhood(image, bytes, key, &at, &where)) {
        return false;
    }
    const uint64_t offset = image->kind == APP_HERD_POINTERS ? where.offset : places.offset + at;
    nic_memory_write(table->memory, table->address + offset, value, image->value_bytes);
    return true;
}
