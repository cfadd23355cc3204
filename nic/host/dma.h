// SPDX-License-Identifier: Apache-2.0
// nic/host/dma.h - a host's sockets, memory and PCIe switches, as its NICs use them
// (nic/fabric.h).
#ifndef NIC_HOST_DMA_H
#define NIC_HOST_DMA_H

#include "nic/objects/objects.h"
#include "nic/objects/wqe.h"

// Makes the host's fabric if a part of it has a limit. read_over is called when a NIC that had to
// stop may send again, because enough of what it reads has arrived.
void nic__fabric_build(nic_host_t *host, void (*read_over)(nic_t *nic));
void nic__fabric_destroy(nic_host_t *host);
// Sends the results of nic_host_part of a host to rank 0.
void nic__fabric_carry(nic_host_t *host, sim_carry_t *carry);
// Returns true while an ideal NIC still reads what it sent last. The NIC is kicked afterwards.
bool nic__dma_holds_back(nic_t *nic);
// Books a write of an ideal NIC, and pauses `priority` on its link if memory falls behind.
void nic__dma_write_ideal(nic_t *nic, uint64_t address, uint64_t bytes, uint8_t priority);

// The IOMMU (nic/iommu.h) of a host whose nic.host.iommu.use is not off.
void nic__iommu_build(nic_host_t *host);
void nic__iommu_destroy(nic_host_t *host);
// Takes the translations of a region out of the IOTLB.
void nic__iommu_forget(nic_t *nic, uint32_t domain, uint64_t address, uint64_t length_bytes);
// Returns when the translations of a piece of a payload are there.
sim_time_t nic__iommu_place_ps(nic_t *nic, const nic_sge_t *piece, sim_time_t now_ps);
// Returns true, and counts a fault, if the NIC may not touch a page of a place.
bool nic__iommu_refuses_place(const nic_t *nic, const nic_place_t *place, uint64_t bytes);

#endif // NIC_HOST_DMA_H
