// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/containers/fuzz_map.c - a map beside an array of its entries.
//
// Each pair of bytes is a key, of which some lie far apart, and an operation with a value.
#include "kernel/map.h"

#include "tests/fuzz/fuzz.h"

typedef struct model {
    sim_map_entry_t *entries;
    size_t count;
    size_t capacity;
} model_t;

// Returns the place of an entry of a key and a value (SIM_MAP_NONE: any), or the number of entries.
static size_t place_of(const model_t *model, uint64_t key, uint64_t value)
{
    size_t at = 0;
    while (at < model->count &&
           (model->entries[at].key != key ||
            (value != SIM_MAP_NONE && model->entries[at].value_next != value + 1))) {
        at++;
    }
    return at;
}

static void compare(const model_t *model, const sim_map_t *map, uint64_t key)
{
    uint64_t sum = 0;
    size_t same = 0;
    for (size_t i = 0; i < model->count; i++) {
        const bool own = model->entries[i].key == key;
        same += own;
        sum += own ? model->entries[i].value_next - 1 : 0;
        SIM_CHECK(sim_map_get(map, model->entries[i].key) != SIM_MAP_NONE);
    }
    SIM_CHECK(map->count == model->count);
    SIM_CHECK((sim_map_get(map, key) == SIM_MAP_NONE) == (same == 0));
    SIM_MAP_EACH (value, map, key) {
        sum -= value;
        same--;
    }
    SIM_CHECK(sum == 0 && same == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sim_map_t map = {NULL, 0, 0};
    model_t model = {NULL, 0, 0};
    for (size_t i = 0; i + 1 < size; i += 2) {
        const uint64_t key = data[i] < 128 ? data[i] : (uint64_t)data[i] << 40;
        const uint64_t value = data[i + 1] % 8;
        const unsigned operation = data[i + 1] / 8;
        if (operation == 31) {
            sim_map_clear(&map);
            model.count = 0;
        } else if (operation % 2 == 0) {
            sim_map_add(&map, key, value);
            SIM_APPEND(model.entries, model.count, model.capacity,
                       (sim_map_entry_t){key, value + 1});
        } else if (operation % 4 == 1 || sim_map_get(&map, key) != SIM_MAP_NONE) {
            const uint64_t which = operation % 4 == 1 ? value : sim_map_get(&map, key);
            const size_t at = place_of(&model, key, which);
            const bool found = at < model.count;
            SIM_CHECK(sim_map_remove(&map, key, operation % 4 == 1 ? value : SIM_MAP_NONE) ==
                      found);
            if (found) {
                model.entries[at] = model.entries[--model.count];
            }
        }
        compare(&model, &map, key);
    }
    SIM_CHECK(sim_map_hash(data, size) == sim_map_hash(data, size));
    sim_free(model.entries);
    sim_map_fini(&map);
    return 0;
}
