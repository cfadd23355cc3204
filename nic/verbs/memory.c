// SPDX-License-Identifier: Apache-2.0
// nic/verbs/memory.c - protection domains and memory regions: keys, bounds, rights.
//
// A key is index << 8 | generation. The generation changes whenever the index is used again, so
// that a key of a deregistered region is detected (10.6.3: the region's R_Key is no longer valid).
// The local and the remote key of a region are equal.
#include "nic/host/dma.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/region.h"
#include "nic/transport/entry.h"

nic_pd_t *nic_pd_alloc(nic_t *nic)
{
    nic_pd_t *const pd = sim_alloc(sizeof(*pd));
    pd->nic = nic;
    pd->number = nic->pds == NULL ? 1 : nic->pds->number + 1;
    pd->next = nic->pds;
    nic->pds = pd;
    NIC_DEVICE(nic, pd_created, nic, pd->number);
    return pd;
}

// Returns an index whose slot is empty. Index 0 is never used, so that no key is 0.
static uint32_t free_index(nic_t *nic)
{
    for (uint32_t i = nic->mr_free; i < nic->mr_count; i++) {
        if (nic->mrs[i] == NULL) {
            return i;
        }
    }
    if (nic->mr_count == 0) {
        SIM_APPEND(nic->mrs, nic->mr_count, nic->mr_capacity, NULL);
    }
    SIM_GROW(nic->mrs, nic->mr_count, &nic->mr_capacity);
    nic->mrs[nic->mr_count] = NULL;
    return nic->mr_count++;
}

sim_err_t nic_mr_register(nic_pd_t *pd, uint64_t address, uint64_t length_bytes, uint32_t access,
                          nic_mr_t **mr)
{
    const uint32_t needs_local_write = NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_ATOMIC;
    if (length_bytes == 0 || address + (length_bytes - 1) < address ||
        ((access & needs_local_write) != 0 && (access & NIC_ACCESS_LOCAL_WRITE) == 0)) {
        return SIM_ERR_INVALID;
    }
    nic_t *const nic = pd->nic;
    const uint32_t index = free_index(nic);
    if (index >= 1u << 24) {
        return SIM_ERR_FULL;
    }
    nic_mr_t *const region = sim_alloc(sizeof(*region));
    *region = (nic_mr_t){
        .pd = pd,
        .address = address,
        .length_bytes = length_bytes,
        .access = access,
        .key = index << 8 | (++nic->mr_generation & 0xff),
    };
    nic->mrs[index] = region;
    nic->mr_free = index + 1;
    NIC_DEVICE(nic, mr_registered, nic, region->key);
    *mr = region;
    return SIM_OK;
}

void nic_mr_deregister(nic_mr_t *mr)
{
    nic_t *const nic = mr->pd->nic;
    const uint32_t index = mr->key >> 8;
    SIM_CHECK(index < nic->mr_count && nic->mrs[index] == mr);
    nic__revoke(nic, mr->key);
    nic->mrs[index] = NULL;
    NIC_DEVICE(nic, mr_deregistered, nic, mr->key);
    nic__iommu_forget(nic, mr->pd->number, mr->address, mr->length_bytes);
    if (index < nic->mr_free) {
        nic->mr_free = index;
    }
    sim_free(mr);
}

void nic_mr_set_iova(nic_mr_t *mr, uint64_t iova)
{
    nic_t *const nic = mr->pd->nic;
    mr->shift = mr->address - iova;
    if (mr->shift != 0) {
        nic->shifts = true;
        nic->plain = nic->served = false; // packets take the way on which they are translated
    }
}

uint32_t nic_mr_lkey(const nic_mr_t *mr)
{
    return mr->key;
}

uint32_t nic_mr_rkey(const nic_mr_t *mr)
{
    return mr->key;
}

// -- contents

static nic_memory_t *check_word(const nic_mr_t *mr, uint64_t address)
{
    SIM_CHECK((address & 7) == 0 && address >= mr->address && mr->length_bytes >= 8 &&
              address - mr->address <= mr->length_bytes - 8);
    return &mr->pd->nic->host->memory;
}

uint64_t nic_mr_read64(const nic_mr_t *mr, uint64_t address)
{
    return nic_memory_read64(check_word(mr, address), address);
}

void nic_mr_write64(nic_mr_t *mr, uint64_t address, uint64_t value)
{
    nic_memory_write64(check_word(mr, address), address, value);
}
