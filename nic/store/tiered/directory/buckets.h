// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/directory/buckets.h - the token directory as it lies in memory: compact
// buckets of a line of 64 bytes, found by type and key (docs/models/tiered-cache.md).
//
// A bucket has 4 slots of 16 bytes: a directory entry of 12 (token.h), and the low 32 bits of the
// key. The entries' 16 reserved bits hold the type and how many entries of this bucket's own had
// to go on to a later one. A look-up reads buckets from the home of its key on until it finds the
// key, or a bucket that nobody went past: each costs the read of one line. The number of buckets
// is a power of two, and doubles when the used share of the slots reaches `load`.
#ifndef NIC_STORE_TIERED_DIRECTORY_BUCKETS_H
#define NIC_STORE_TIERED_DIRECTORY_BUCKETS_H

#include "kernel/random.h"
#include "nic/store/tiered/token.h"

SIM_C_BEGIN

#define NIC_DIRECTORY_SLOTS 4u
#define NIC_DIRECTORY_BUCKET_BYTES 64u
#define NIC_DIRECTORY_NONE UINT32_MAX

static_assert(NIC_DIRECTORY_SLOTS * (sizeof(nic_directory_entry_t) + sizeof(uint32_t)) ==
                  NIC_DIRECTORY_BUCKET_BYTES,
              "a bucket is a line");

typedef struct nic_directory_bucket {
    uint64_t names[NIC_DIRECTORY_SLOTS];  // 0: free
    uint32_t tokens[NIC_DIRECTORY_SLOTS]; // whose entry is in the slot
    uint32_t passed;                      // entries that would be here if there were room
} nic_directory_bucket_t;

typedef struct nic_directory {
    nic_directory_bucket_t *buckets;
    uint32_t count; // a power of two; 0 before the first entry
    uint32_t used;  // slots
    sim_ratio_t load;
} nic_directory_t;

static inline uint64_t nic_directory_name(nic_token_type_t type, uint64_t key)
{
    return (key << 2 | (uint64_t)type) + 1;
}

// `load` is above 0 and at most 1.
void nic_directory_init(nic_directory_t *directory, sim_ratio_t load);
void nic_directory_fini(nic_directory_t *directory);
// Finds the token of a name; NIC_DIRECTORY_NONE: there is none. *reads is the number of buckets
// read; it may be NULL.
uint32_t nic_directory_find(const nic_directory_t *directory, uint64_t name, uint32_t *reads);
// Puts in a name that is not there. Returns the number of buckets if they doubled, else 0.
uint32_t nic_directory_put(nic_directory_t *directory, uint64_t name, uint32_t token);
// Takes out a name that is there.
void nic_directory_remove(nic_directory_t *directory, uint64_t name);
static inline uint64_t nic_directory_bytes(const nic_directory_t *directory)
{
    return (uint64_t)directory->count * NIC_DIRECTORY_BUCKET_BYTES;
}
// Returns whether each name is found, counts of entries that went past add up. O(n).
bool nic_directory_check(const nic_directory_t *directory);

SIM_C_END

#endif // NIC_STORE_TIERED_DIRECTORY_BUCKETS_H
