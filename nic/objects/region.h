// SPDX-License-Identifier: Apache-2.0
// nic/objects/region.h - protection domains and memory regions, and the check of every
// access against them.
#ifndef NIC_OBJECTS_REGION_H
#define NIC_OBJECTS_REGION_H

#include "nic/objects/objects.h"
#include "nic/objects/wqe.h"

struct nic_pd {
    nic_t *nic;
    uint32_t number; // from 1
    nic_pd_t *next;
};

struct nic_mr {
    nic_pd_t *pd;
    uint64_t address;
    uint64_t length_bytes;
    uint32_t access;
    uint32_t key;
    uint64_t shift; // address less the address by which peers name the same byte
};

// Returns true if `key` gives the rights in `access` to all bytes of [address, address +
// length_bytes). Keys are not looked at where there are no bytes (9.7.4.1.5, 10.6.7).
static inline bool nic__access_ok(const nic_pd_t *pd, uint32_t key, uint64_t address,
                                  uint64_t length_bytes, uint32_t access)
{
    if (length_bytes == 0) {
        return true;
    }
    const nic_t *const nic = pd->nic;
    const uint32_t index = key >> 8;
    if (index >= nic->mr_count) {
        return false;
    }
    const nic_mr_t *const mr = nic->mrs[index];
    return mr != NULL && mr->key == key && mr->pd == pd && (mr->access & access) == access &&
           address - mr->address <= mr->length_bytes && // not before it, either
           mr->length_bytes - (address - mr->address) >= length_bytes;
}

// Returns the region of a key, or NULL if there is none.
static inline nic_mr_t *nic__region(const nic_t *nic, uint32_t key)
{
    const uint32_t index = key >> 8;
    nic_mr_t *const mr = index < nic->mr_count ? nic->mrs[index] : NULL;
    return mr != NULL && mr->key == key ? mr : NULL;
}

// Returns true if the keys of the first bytes give the rights in `access`.
bool nic__list_ok(const nic_pd_t *pd, const nic_place_t *place, uint64_t length_bytes,
                  uint32_t access);
static inline bool nic__place_ok(const nic_pd_t *pd, const nic_place_t *place,
                                 uint64_t length_bytes, uint32_t access)
{
    return SIM_LIKELY(place->list == NULL)
               ? nic__access_ok(pd, place->key, place->address, length_bytes, access)
               : nic__list_ok(pd, place, length_bytes, access);
}

#endif // NIC_OBJECTS_REGION_H
