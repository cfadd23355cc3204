// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/directory/buckets.c - compact buckets with open addressing
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/directory/buckets.h"

static uint32_t home_of(const nic_directory_t *directory, uint64_t name)
{
    return (uint32_t)sim_mix64(name) & (directory->count - 1);
}

static uint32_t after(const nic_directory_t *directory, uint32_t bucket)
{
    return (bucket + 1) & (directory->count - 1);
}

// Returns the slot of a name in a bucket, or NIC_DIRECTORY_NONE. Name 0 finds a free slot.
static uint32_t slot_of(const nic_directory_bucket_t *bucket, uint64_t name)
{
    for (uint32_t slot = 0; slot < NIC_DIRECTORY_SLOTS; slot++) {
        if (bucket->names[slot] == name) {
            return slot;
        }
    }
    return NIC_DIRECTORY_NONE;
}

void nic_directory_init(nic_directory_t *directory, sim_ratio_t load)
{
    SIM_CHECK(load.num != 0 && load.num <= load.den);
    *directory = (nic_directory_t){.load = load};
}

void nic_directory_fini(nic_directory_t *directory)
{
    sim_free(directory->buckets);
}

uint32_t nic_directory_find(const nic_directory_t *directory, uint64_t name, uint32_t *reads)
{
    uint32_t read = 0;
    uint32_t token = NIC_DIRECTORY_NONE;
    if (directory->count != 0) {
        uint32_t at = home_of(directory, name);
        while (read < directory->count) {
            const nic_directory_bucket_t *const bucket = &directory->buckets[at];
            read++;
            const uint32_t slot = slot_of(bucket, name);
            if (slot != NIC_DIRECTORY_NONE) {
                token = bucket->tokens[slot];
                break;
            }
            if (bucket->passed == 0) {
                break;
            }
            at = after(directory, at);
        }
    }
    if (reads != NULL) {
        *reads = read;
    }
    return token;
}

static void place(nic_directory_t *directory, uint64_t name, uint32_t token)
{
    uint32_t at = home_of(directory, name);
    uint32_t slot = slot_of(&directory->buckets[at], 0);
    while (slot == NIC_DIRECTORY_NONE) {
        directory->buckets[at].passed++;
        at = after(directory, at);
        slot = slot_of(&directory->buckets[at], 0);
    }
    directory->buckets[at].names[slot] = name;
    directory->buckets[at].tokens[slot] = token;
    directory->used++;
}

static void grow(nic_directory_t *directory)
{
    nic_directory_bucket_t *const old = directory->buckets;
    const uint32_t old_count = directory->count;
    directory->count = old_count == 0 ? 16 : 2 * old_count;
    SIM_CHECK(directory->count != 0);
    directory->buckets = sim_alloc_array(directory->count, sizeof(*directory->buckets));
    directory->used = 0;
    for (uint32_t i = 0; i < old_count; i++) {
        for (uint32_t slot = 0; slot < NIC_DIRECTORY_SLOTS; slot++) {
            if (old[i].names[slot] != 0) {
                place(directory, old[i].names[slot], old[i].tokens[slot]);
            }
        }
    }
    sim_free(old);
}

uint32_t nic_directory_put(nic_directory_t *directory, uint64_t name, uint32_t token)
{
    const uint64_t slots = (uint64_t)directory->count * NIC_DIRECTORY_SLOTS;
    const bool grows = (sim_wide_t)(directory->used + 1) * directory->load.den >
                       (sim_wide_t)slots * directory->load.num;
    if (grows) {
        grow(directory);
    }
    place(directory, name, token);
    return grows ? directory->count : 0;
}

void nic_directory_remove(nic_directory_t *directory, uint64_t name)
{
    uint32_t at = home_of(directory, name);
    uint32_t slot = slot_of(&directory->buckets[at], name);
    while (slot == NIC_DIRECTORY_NONE) {
        SIM_CHECK(directory->buckets[at].passed != 0);
        directory->buckets[at].passed--;
        at = after(directory, at);
        slot = slot_of(&directory->buckets[at], name);
    }
    directory->buckets[at].names[slot] = 0;
    directory->used--;
}

bool nic_directory_check(const nic_directory_t *directory)
{
    uint64_t used = 0;
    uint64_t passed = 0;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < directory->count; i++) {
        const nic_directory_bucket_t *const bucket = &directory->buckets[i];
        passed += bucket->passed;
        for (uint32_t slot = 0; slot < NIC_DIRECTORY_SLOTS; slot++) {
            if (bucket->names[slot] == 0) {
                continue;
            }
            used++;
            uint32_t reads = 0;
            if (nic_directory_find(directory, bucket->names[slot], &reads) !=
                bucket->tokens[slot]) {
                return false;
            }
            steps += reads - 1;
        }
    }
    return used == directory->used && passed == steps;
}
