// SPDX-License-Identifier: Apache-2.0
// kernel/map.c - growth of maps, removal without marks, and a hash of bytes.
#include "kernel/map.h"

#include <string.h>

#define FIRST_CAPACITY 8

void sim__map_grow(sim_map_t *map)
{
    const sim_map_t old = *map;
    map->capacity = old.capacity == 0 ? FIRST_CAPACITY : 2 * old.capacity;
    map->entries = sim_alloc_array(map->capacity, sizeof(sim_map_entry_t));
    map->count = 0;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.entries[i].value_next != 0) {
            sim_map_add(map, old.entries[i].key, old.entries[i].value_next - 1);
        }
    }
    sim_free(old.entries);
}

// Empties a place and moves back the entries behind it that may lie at it or before it, so that no
// search ends too early (Knuth, "The Art of Computer Programming" 6.4, algorithm R).
static void empty_place(sim_map_t *map, size_t hole)
{
    const size_t mask = map->capacity - 1;
    for (size_t at = (hole + 1) & mask; map->entries[at].value_next != 0; at = (at + 1) & mask) {
        const size_t home = (size_t)sim_mix64(map->entries[at].key) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->entries[hole] = map->entries[at];
            hole = at;
        }
    }
    map->entries[hole] = (sim_map_entry_t){0, 0};
    map->count--;
}

bool sim_map_remove(sim_map_t *map, uint64_t key, uint64_t value)
{
    size_t at = (size_t)sim_mix64(key);
    uint64_t found = sim__map_next(map, key, &at);
    while (found != SIM_MAP_NONE && value != SIM_MAP_NONE && found != value) {
        found = sim__map_next(map, key, &at);
    }
    if (found == SIM_MAP_NONE) {
        return false;
    }
    empty_place(map, (at - 1) & (map->capacity - 1));
    return true;
}

void sim_map_clear(sim_map_t *map)
{
    if (map->count > 0) {
        memset(map->entries, 0, map->capacity * sizeof(sim_map_entry_t));
        map->count = 0;
    }
}

void sim_map_fini(sim_map_t *map)
{
    sim_free(map->entries);
    *map = (sim_map_t){NULL, 0, 0};
}

uint64_t sim_map_hash(const void *bytes, size_t size_bytes)
{
    const unsigned char *at = bytes;
    uint64_t hash = size_bytes;
    for (; size_bytes >= sizeof(uint64_t); size_bytes -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        hash = sim_mix64(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
        at += sizeof(word);
    }
    uint64_t rest = 0;
    memcpy(&rest, at, size_bytes);
    return sim_mix64(hash ^ rest);
}
