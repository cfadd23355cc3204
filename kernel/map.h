// SPDX-License-Identifier: Apache-2.0
// kernel/map.h - a hash map from numbers, or from bytes that the caller keeps, to numbers.
//
// Keys are 64-bit numbers and so are values: an index into the caller's array, or a pointer. A key
// of bytes (a name, a row) enters the map as its hash; the caller compares the bytes of the few
// entries with that hash (SIM_MAP_EACH). Open addressing with linear probing, at most half full.
// Every operation costs O(1) on average, amortised where it adds. Nothing returns the entries in
// the order of their places, so results cannot depend on it. All zeros is an empty map.
#ifndef KERNEL_MAP_H
#define KERNEL_MAP_H

#include "kernel/base.h"

SIM_C_BEGIN

#define SIM_MAP_NONE UINT64_MAX // no value; no value of an entry is this one

typedef struct sim_map_entry {
    uint64_t key;
    uint64_t value_next; // value + 1; 0: this place is free
} sim_map_entry_t;

// Free with sim_map_fini.
typedef struct sim_map {
    sim_map_entry_t *entries;
    size_t count;
    size_t capacity; // 0 or a power of two
} sim_map_t;

// Doubles the number of places.
void sim__map_grow(sim_map_t *map);

// Returns the value at the first place from *at on that has the key, or SIM_MAP_NONE, and sets *at
// to the place behind it.
static inline uint64_t sim__map_next(const sim_map_t *map, uint64_t key, size_t *at)
{
    for (; map->capacity > 0; ++*at) {
        const sim_map_entry_t *const entry = &map->entries[*at & (map->capacity - 1)];
        if (entry->value_next == 0) {
            break;
        }
        if (entry->key == key) {
            ++*at;
            return entry->value_next - 1;
        }
    }
    return SIM_MAP_NONE;
}

// Returns the value of a key, or SIM_MAP_NONE.
static inline uint64_t sim_map_get(const sim_map_t *map, uint64_t key)
{
    size_t at = (size_t)sim_mix64(key);
    return sim__map_next(map, key, &at);
}

// Loops over the values of all entries with a key. The body may leave the loop, but must not
// change the map.
//     SIM_MAP_EACH(index, &map, sim_map_hash(name, length)) {
//         if (strcmp(nodes[index].name, name) == 0) {
#define SIM_MAP_EACH(value, map, key)                                                     \
    for (size_t value##_at = (size_t)sim_mix64(key), value##_once = 1; value##_once != 0; \
         value##_once = 0)                                                                \
        for (uint64_t value; ((value) = sim__map_next((map), (key), &value##_at)) != SIM_MAP_NONE;)

// Adds an entry without a look at others of the same key. The value must not be SIM_MAP_NONE.
static inline void sim_map_add(sim_map_t *map, uint64_t key, uint64_t value)
{
    if (SIM_UNLIKELY(map->count >= map->capacity / 2)) {
        sim__map_grow(map);
    }
    size_t at = (size_t)sim_mix64(key) & (map->capacity - 1);
    while (map->entries[at].value_next != 0) {
        at = (at + 1) & (map->capacity - 1);
    }
    map->entries[at].key = key;
    map->entries[at].value_next = value + 1;
    map->count++;
}

// Removes an entry of a key: the one with `value`, or any one if value is SIM_MAP_NONE. Returns
// whether there was one.
bool sim_map_remove(sim_map_t *map, uint64_t key, uint64_t value);
// Removes all entries and keeps the memory.
void sim_map_clear(sim_map_t *map);
// Frees the memory and leaves an empty map.
void sim_map_fini(sim_map_t *map);
// Returns a hash of bytes, which is the same in all runs and on all machines of one byte order.
uint64_t sim_map_hash(const void *bytes, size_t size_bytes);

SIM_C_END

#endif // KERNEL_MAP_H
