// SPDX-License-Identifier: Apache-2.0
// nic/host/dma.h - a host's sockets, memory and PCIe switches, as its NICs use them
// (nic/fabric.h).
#ifndef NIC_HOST_DMA_H
#define NIC_HOST_DMA_H

#include "nic/objects/objects.h"

// Makes the host's fabric if a part of it has a limit. read_over is called when a NIC that had to
// stop may send again, because enough of what it reads has arrived.
void nic__fabric_build(nic_host_t *host, void (*read_over)(nic_t *nic));
void nic__fabric_destroy(nic_host_t *host);
// Returns true while an ideal NIC still reads what it sent last. The NIC is kicked afterwards.
bool nic__dma_holds_back(nic_t *nic);
// Books a write of an ideal NIC, and pauses `priority` on its link if memory falls behind.
void nic__dma_write_ideal(nic_t *nic, uint64_t address, uint64_t bytes, uint8_t priority);

#endif // NIC_HOST_DMA_H
