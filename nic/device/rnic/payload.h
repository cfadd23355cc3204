// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/payload.h - payloads that are sent: when they are there, and how long the
// sending side works on them.
#ifndef NIC_DEVICE_RNIC_PAYLOAD_H
#define NIC_DEVICE_RNIC_PAYLOAD_H

#include "nic/device/rnic/rnic.h"

static inline bool nic__wqe_fetches(const nic_wqe_t *wqe)
{
    return wqe->opcode >= NIC_WR_RDMA_READ;
}

static inline bool nic__wqe_carries(const nic_wqe_t *wqe)
{
    return !nic__wqe_fetches(wqe) && wqe->length != 0 && (wqe->flags & NIC_SEND_INLINE) == 0;
}

// Returns how long a packet's payload occupies the sending side, which takes it line by line and
// merges PCIe completions. Completions end at multiples of their largest size (PCI Express,
// 2.3.1.1), so the payload's address matters.
static inline sim_time_t nic__payload_ps(const nic_detail_t *detail, uint64_t address,
                                         uint32_t bytes)
{
    if (bytes == 0 || (detail->tx_line_ps | detail->tx_long_ps) == 0) {
        return 0;
    }
    const uint64_t last = address + (bytes - 1);
    const uint64_t lines = last / NIC_PCIE_LINE_BYTES - address / NIC_PCIE_LINE_BYTES + 1;
    const uint64_t size = detail->completion_max_bytes;
    return lines * detail->tx_line_ps + (last / size != address / size ? detail->tx_long_ps : 0);
}

// Returns the same time for a part of a work request's payload.
static inline sim_time_t nic__part_ps(const nic_detail_t *detail, const nic_wqe_t *wqe,
                                      uint64_t offset, uint32_t bytes)
{
    if (SIM_LIKELY((detail->tx_line_ps | detail->tx_long_ps) == 0)) {
        return 0;
    }
    const nic_place_t place = nic__wqe_place(wqe);
    return nic__payload_ps(detail, nic__first_piece(&place, offset, 1).addr, bytes);
}

// Returns when host memory has given a piece of a payload, if something there is slow.
static inline sim_time_t nic__from_memory_ps(nic_t *nic, const nic_sge_t *piece)
{
    return SIM_LIKELY(!nic__rnic(nic)->slow_memory) ? 0
                                                    : nic__rnic_from_memory_ps(nic, NULL, piece);
}

// Returns the same for a READ response of a queue pair.
static inline sim_time_t nic__answer_from_memory_ps(nic_t *nic, const nic_qp_t *qp,
                                                    uint64_t address, uint32_t bytes)
{
    const nic_sge_t piece = {.addr = address, .length = bytes};
    return SIM_LIKELY(!nic__rnic(nic)->slow_memory) ? 0 : nic__rnic_from_memory_ps(nic, qp, &piece);
}

// Reads a packet's payload: one read per scatter/gather element, all requested at once. Returns the
// time at which all data have arrived.
static inline sim_time_t nic__read_payload_ps(nic_t *nic, const nic_wqe_t *wqe, uint64_t offset,
                                              uint32_t bytes, bool prefetched)
{
    nic_pcie_t *const pcie = &nic__rnic(nic)->pcie;
    const sim_time_t now_ps = nic__device_now_ps(nic);
    const nic_place_t place = nic__wqe_place(wqe);
    sim_time_t ready_ps = now_ps;
    for (uint64_t done = 0; done < bytes;) {
        const nic_sge_t piece = nic__first_piece(&place, offset + done, bytes - done);
        const uint64_t piece_bytes = piece.length;
        ready_ps = nic__later(ready_ps, nic__from_memory_ps(nic, &piece));
        ready_ps = nic__later(
            ready_ps, prefetched ? nic_pcie_prefetched(pcie, now_ps, piece.addr, piece_bytes)
                                 : nic_pcie_read_at(pcie, now_ps, piece.addr, piece_bytes,
                                                    NIC_PCIE_PAYLOAD_READ));
        done += piece_bytes;
    }
    return prefetched ? ready_ps : ready_ps + nic__rnic(nic)->gpu_read_ps;
}

#endif // NIC_DEVICE_RNIC_PAYLOAD_H
