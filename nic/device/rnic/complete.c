// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/complete.c - completing in a detailed NIC: the WQE leaves it, the CQE goes
// to host memory and is seen, or a WRITE is.
#include "nic/device/rnic/complete.h"
#include "nic/device/rnic/items.h"
#include "nic/device/rnic/lookup.h"
#include "nic/device/rnic/post.h"
#include "nic/device/rnic/rnic.h"
#include "nic/device/rnic/send.h"
#include "nic/device/rnic/store_kinds.h"
#include "nic/device/rnic/unit.h"

void nic__rnic_wqe_done(nic_qp_t *qp)
{
    nic_rnic_t *const rnic = nic__rnic(nic__device_nic(qp));
    rnic->counters.wqes_completed++;
    SIM_ASSERT(rnic->counters.wqes_completed <= rnic->counters.wqes_posted);
    nic_cache_t *const cache = rnic->held[NIC_STORE_WQE];
    const uint32_t index = nic__device_oldest(qp) - 1;
    const uint64_t key = nic__cache_key(NIC_STORE_WQE, nic__wqe_key(qp, index));
    const uint32_t slot = nic__device_wqe(qp, index)->device_slot;
    if (SIM_LIKELY(rnic->wqes_know) && SIM_LIKELY(cache->slots[slot].key == key)) {
        nic__cache_remove_at(cache, slot);
    } else {
        nic_cache_remove(cache, key);
        nic__store_remove(rnic->nic, NIC_STORE_WQE, nic__wqe_key(qp, index));
    }
}

void nic__rnic_tell_write(nic_qp_t *qp, uint64_t address, uint32_t bytes)
{
    nic_t *const nic = nic__device_nic(qp);
    const sim_time_t now_ps = nic__device_now_ps(nic);
    nic_item_t *const item = nic__item_new(nic, NIC_ITEM_WRITE, qp);
    item->count = bytes;
    item->address = address;
    const nic_rnic_t *const rnic = nic__rnic(nic);
    // A GPU polls a flag in its memory, whoever posts for it.
    const sim_time_t poll_ps = rnic->posting == NIC_POSTING_FREE ? 0 : rnic->detail.gpu_poll_ps;
    nic__item_at(item, nic__later(now_ps, rnic->payload_ps) + rnic->detail.rx_latency_ps + poll_ps);
}

// Returns whether the receiving side writes the CQE, because a response or an ACK completes the
// WQE.
static inline bool is_completed_by_peer(const nic_qp_t *qp, const nic_wc_t *wc)
{
    return nic__device_type(qp) == NIC_QPT_RC && wc->opcode < NIC_WC_RECV;
}

// Writes a CQE to host memory and returns the time at which a core can see it.
static inline sim_time_t write_cqe(const nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc)
{
    nic_t *const nic = nic__device_nic(qp);
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__device_now_ps(nic);
    nic__rnic_begin(nic);
    nic_cost_t cost = {is_completed_by_peer(qp, wc) ? rnic->detail.rx_cqe_ps : 0, now_ps};
    const uint64_t key = nic__cache_key(NIC_STORE_CQ, nic__device_cq_number(cq));
    rnic->store->user = nic__device_number(qp);
    cost = nic__rnic_lookup(rnic, NIC_STORE_CQ, nic__device_cq_slot(cq), key, cost);
    rnic->rx_free_ps += cost.stall_ps;
    const sim_time_t seen_ps =
        nic_pcie_write(&rnic->pcie, now_ps, rnic->detail.cqe_bytes, NIC_PCIE_CQE_WRITE);
    sim_time_t data_ps = nic__later(cost.ready_ps, rnic->wqe_here_ps);
    if (SIM_UNLIKELY(rnic->bound)) {
        data_ps = nic__later(data_ps, rnic->payload_ps); // it follows its payload
    }
    const sim_time_t late_ps = data_ps - now_ps + rnic->detail.rx_latency_ps;
    sim_time_t *const last_ps = nic__device_cq_seen_ps(cq);
    *last_ps = nic__later(*last_ps, seen_ps + late_ps); // completions keep their order
    return *last_ps;
}

void nic__rnic_completion(nic_qp_t *qp, nic_cq_t *cq, const nic_wc_t *wc)
{
    const sim_time_t seen_ps = write_cqe(qp, cq, wc);
    if (nic__device_cq_polled(cq)) {
        nic_device_complete(qp, cq, wc, seen_ps);
        return;
    }
    nic_item_t *const item = nic__item_new(nic__device_nic(qp), NIC_ITEM_CQE, qp);
    item->cq = cq;
    item->wc = *wc;
    nic__item_at(item, seen_ps + nic__rnic_notice_ps(nic__rnic(nic__device_nic(qp)),
                                                     wc->opcode >= NIC_WC_RECV));
}
