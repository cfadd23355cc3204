// SPDX-License-Identifier: Apache-2.0
// nic/memory_region.h - protection domains and memory regions.
#ifndef NIC_MEMORY_REGION_H
#define NIC_MEMORY_REGION_H

#include "nic/nic.h"

SIM_C_BEGIN

typedef enum nic_access {
    NIC_ACCESS_LOCAL_WRITE = 1 << 0,
    NIC_ACCESS_REMOTE_WRITE = 1 << 1,
    NIC_ACCESS_REMOTE_READ = 1 << 2,
    NIC_ACCESS_REMOTE_ATOMIC = 1 << 3,
} nic_access_t;

nic_pd_t *nic_pd_alloc(nic_t *nic);

// Registers [address, address + length_bytes) with the rights in access (nic_access_t bits).
// SIM_ERR_INVALID: empty, wraps, or remote write/atomic without local write.
SIM_MUST_CHECK sim_err_t nic_mr_register(nic_pd_t *pd, uint64_t address, uint64_t length_bytes,
                                         uint32_t access, nic_mr_t **mr);
void nic_mr_deregister(nic_mr_t *mr);
// Lets peers name the region's first byte by `iova` (ibv_reg_mr_iova), before the first packet for
// it. Work requests of the host's own programs use addresses in its memory.
void nic_mr_set_iova(nic_mr_t *mr, uint64_t iova);
uint32_t nic_mr_lkey(const nic_mr_t *mr);
uint32_t nic_mr_rkey(const nic_mr_t *mr);
// Each reads or writes an 8-byte word of the region in host memory, at an address that is a
// multiple of 8. Atomics change such words, and write the original value into the requester's
// memory.
uint64_t nic_mr_read64(const nic_mr_t *mr, uint64_t address);
void nic_mr_write64(nic_mr_t *mr, uint64_t address, uint64_t value);

SIM_C_END

#endif // NIC_MEMORY_REGION_H
