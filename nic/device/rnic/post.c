// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/post.c - posting to a detailed NIC: from the core to the processing unit.
//
// WQE-by-MMIO: the core writes the WQE in lines of 64 bytes; it arrives with the last one.
// Doorbell: the core writes 8 bytes, and the NIC reads all new WQEs, padded to lines, at once.
// A GPU and its proxy (nic.posting) ring a Doorbell, too, for each call. They work on one request
// after the other, and the Doorbell leaves when they are done with its WQEs.
// In all cases WQEs enter the WQE cache, the queue of the processing unit, and, when that is
// through with them and the payload is there, what nic/transport/requester.c may send from.
#include "nic/device/rnic/post.h"
#include "nic/device/rnic/items.h"
#include "nic/device/rnic/payload.h"
#include "nic/device/rnic/send.h"

#define COPY_BYTES 16u // a register, nic.detailed.cpu.copy

// Returns the number of scatter/gather pointers in the WQE.
static inline uint64_t places(const nic_wqe_t *wqe)
{
    return SIM_LIKELY((wqe->flags & NIC_WQE_LIST) == 0) ? 1 : wqe->lkey;
}

static uint64_t wqe_bytes(const nic_detail_t *detail, const nic_qp_t *qp, const nic_wqe_t *wqe)
{
    const uint64_t header = nic__device_type(qp) == NIC_QPT_UD ? detail->datagram_header_bytes
                                                               : detail->wqe_header_bytes;
    if (wqe->opcode == NIC_WR_RDMA_READ) {
        return header + places(wqe) * detail->pointer_bytes;
    }
    if (nic__wqe_fetches(wqe)) {
        return header + detail->pointer_bytes + detail->atomic_bytes;
    }
    if (wqe->length == 0) {
        return nic__min((uint32_t)header, NIC_PCIE_LINE_BYTES); // the address fits without payload
    }
    if ((wqe->flags & NIC_SEND_INLINE) == 0) {
        return header + places(wqe) * detail->pointer_bytes;
    }
    // An inline payload first fills the line that holds the header; further lines begin with a
    // header.
    const uint64_t room =
        (NIC_PCIE_LINE_BYTES - header % NIC_PCIE_LINE_BYTES) % NIC_PCIE_LINE_BYTES;
    const uint64_t line = NIC_PCIE_LINE_BYTES - detail->block_header_bytes;
    const uint64_t blocks = wqe->length > room ? (wqe->length - room + line - 1) / line : 0;
    return header + wqe->length + blocks * detail->block_header_bytes;
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + NIC_PCIE_LINE_BYTES - 1) / NIC_PCIE_LINE_BYTES * NIC_PCIE_LINE_BYTES;
}

sim_time_t nic__rnic_lines_ps(const nic_rnic_t *rnic, const nic_qp_t *qp, const nic_wqe_t *wqe)
{
    const uint64_t bytes =
        nic_pcie_mmio_bytes(&rnic->pcie.config, wqe_bytes(&rnic->detail, qp, wqe));
    return bytes * rnic->pcie.mmio_byte_time >> NIC_PCIE_FRACTION_BITS;
}

// -- WQEs on their way by MMIO

// Schedules the check at the earliest time at which a processing unit could finish the WQE. Nothing
// before that time is visible outside the NIC.
void nic__rnic_look_for_coming(nic_rnic_t *rnic)
{
    if (rnic->pcie.coming_ps == SIM_TIME_NEVER) {
        return;
    }
    const sim_time_t look_ps = rnic->pcie.coming_ps + rnic->detail.pu_send_ps;
    if (SIM_LIKELY(rnic->look_ps <= look_ps)) {
        return;
    }
    nic_item_t *const look = rnic->coming_look;
    if (rnic->look_ps != SIM_TIME_NEVER) { // another core's WQE comes sooner
        if (sim_timer_armed(&look->timer)) {
            sim_timer_cancel(nic__device_node(rnic->nic), &look->timer);
        } else {
            nic__device_step_remove(rnic->nic, NIC_LANE_HOST, &look->step);
        }
    }
    rnic->look_ps = look_ps;
    nic__item_at(look, look_ps);
}

// -- posting

// Pieces that a core copies of an inline payload.
static inline uint64_t copies_of(const nic_wqe_t *wqe)
{
    const bool inlined = !nic__wqe_fetches(wqe) && (wqe->flags & NIC_SEND_INLINE) != 0;
    return inlined ? ((uint64_t)wqe->length + COPY_BYTES - 1) / COPY_BYTES : 0;
}

// Charges a core for posting its last `count` WQEs by a Doorbell.
static void spend_on_doorbell(nic_core_t *core, const nic_detail_t *detail, const nic_qp_t *qp,
                              uint32_t count)
{
    uint64_t copies = 0;
    for (uint32_t i = 1; i <= count; i++) {
        copies += copies_of(nic__device_wqe(qp, nic__device_posted(qp) - i));
    }
    nic__core_spend(core, count * detail->cpu_post_ps);
    nic__core_spend(core, copies * detail->cpu_copy_ps);
    nic__core_spend(core, detail->cpu_doorbell_ps);
}

// Charges a core for posting a WQE of that many bytes by MMIO.
static inline void spend_on_lines(nic_core_t *core, const nic_detail_t *detail,
                                  const nic_wqe_t *wqe, uint64_t bytes)
{
    nic__core_spend(core, detail->cpu_post_ps);
    if (detail->cpu_copy_ps != 0 && copies_of(wqe) != 0) {
        nic__core_spend(core, copies_of(wqe) * detail->cpu_copy_ps);
    }
    nic__core_spend(core, padded(bytes) / NIC_PCIE_LINE_BYTES * detail->cpu_line_ps);
}

static SIM_NOINLINE void post_by_doorbell(nic_qp_t *qp, uint32_t count)
{
    nic_t *const nic = nic__device_nic(qp);
    const nic_rnic_t *const rnic = nic__rnic(nic);
    nic_core_t *const core = nic__device_core(nic);
    nic_item_t *const item = nic__item_new(nic, NIC_ITEM_POSTING, qp);
    item->first = nic__device_posted(qp) - count;
    item->count = count;
    item->fetched = true;
    if (core == NULL) {
        nic__rnic_posted(item);
        return;
    }
    spend_on_doorbell(core, &rnic->detail, qp, count);
    nic__item_at(item, nic__device_posting_ps(nic));
    nic__core_spend(core, rnic->detail.cpu_fence_ps);
}

static inline void post_by_mmio(nic_qp_t *qp)
{
    nic_t *const nic = nic__device_nic(qp);
    nic_rnic_t *const rnic = nic__rnic(nic);
    nic_core_t *const core = nic__device_core(nic);
    const uint32_t index = nic__device_posted(qp) - 1;
    const nic_wqe_t *const wqe = nic__device_wqe(qp, index);
    const uint64_t bytes = wqe_bytes(&rnic->detail, qp, wqe);
    if (core != NULL) {
        spend_on_lines(core, &rnic->detail, wqe, bytes);
    }
    nic_item_t *const item = nic__item_new(nic, NIC_ITEM_WQE, qp);
    item->first = index;
    item->count = 1;
    item->fetched = false;
    item->set = nic_cache_set(rnic->held[NIC_STORE_WQE],
                              nic__cache_key(NIC_STORE_WQE, nic__wqe_key(qp, index)));
    nic_pcie_mmio(&rnic->pcie, &item->write, nic__device_posting_ps(nic), bytes);
    if (core != NULL) {
        nic__core_spend(core, rnic->detail.cpu_fence_ps);
    }
    nic__rnic_look_for_coming(rnic);
}

// -- a GPU that posts, or a core that posts for it

static SIM_NOINLINE void post_for_gpu(nic_qp_t *qp, uint32_t count)
{
    nic_t *const nic = nic__device_nic(qp);
    nic_rnic_t *const rnic = nic__rnic(nic);
    const nic_detail_t *const detail = &rnic->detail;
    const bool gpu = rnic->posting == NIC_POSTING_GPU;
    nic_item_t *const item = nic__item_new(nic, NIC_ITEM_POSTING, qp);
    item->first = nic__device_posted(qp) - count;
    item->count = count;
    item->fetched = true;
    sim_time_t *const free_ps = &rnic->poster_free_ps[nic__device_number(qp) % rnic->posters];
    const sim_time_t from_ps = nic__device_now_ps(nic) + (gpu ? 0 : detail->proxy_hop_ps);
    *free_ps = nic__later(*free_ps, from_ps) +
               count * (gpu ? detail->gpu_post_ps : detail->proxy_request_ps);
    nic__item_at(item, *free_ps + (gpu ? detail->gpu_fence_ps : 0));
}

void nic__rnic_posted(nic_item_t *item)
{
    item->kind = NIC_ITEM_DOORBELL;
    nic__item_at(item,
                 nic_pcie_doorbell(&nic__rnic(item->nic)->pcie, nic__device_now_ps(item->nic)));
}

sim_time_t nic__rnic_notice_ps(const nic_rnic_t *rnic, bool received)
{
    const nic_detail_t *const detail = &rnic->detail;
    switch (rnic->posting) {
    case NIC_POSTING_FREE:
        return 0;
    case NIC_POSTING_GPU:
        return detail->gpu_poll_ps;
    case NIC_POSTING_PROXY:
        // The CQE is in host memory and the payload in GPU memory, and nothing orders the two
        // (PCI Express, 2.4): a read of GPU memory pushes the payload ahead of it.
        return detail->proxy_hop_ps +
               (received ? detail->read_latency_ps + detail->gpu_read_ps : 0);
    }
    return 0;
}

void nic__rnic_post(nic_qp_t *qp, uint32_t count, bool doorbell)
{
    nic__rnic_begin(nic__device_nic(qp));
    nic_rnic_t *const rnic = nic__rnic(nic__device_nic(qp));
    rnic->counters.wqes_posted += count;
    if (SIM_UNLIKELY(rnic->posting != NIC_POSTING_FREE) &&
        nic__device_core(nic__device_nic(qp)) == NULL) {
        post_for_gpu(qp, count);
    } else if (doorbell) {
        post_by_doorbell(qp, count);
    } else {
        SIM_ASSERT(count == 1);
        post_by_mmio(qp);
    }
}

void nic__rnic_post_receive(nic_t *nic, uint32_t count)
{
    nic_core_t *const core = nic__device_core(nic);
    const nic_detail_t *const detail = &nic__rnic(nic)->detail;
    if (core != NULL) {
        nic__core_spend(core, count * detail->cpu_receive_ps);
        // The NIC reads the counter of receives from host memory, so its line is in no core's
        // cache.
        nic__core_wait(core, detail->cpu_line_wait_ps);
    }
}

void nic__rnic_doorbell_arrives(nic_item_t *item, const nic_qp_t *qp)
{
    nic_rnic_t *const rnic = nic__rnic(item->nic);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < item->count; i++) {
        bytes += padded(wqe_bytes(&rnic->detail, qp, nic__device_wqe(qp, item->first + i)));
    }
    item->kind = NIC_ITEM_WQE;
    const sim_time_t now_ps = nic__device_now_ps(item->nic);
    sim_time_t here_ps = nic_pcie_read(&rnic->pcie, now_ps, bytes, NIC_PCIE_WQE_READ);
    here_ps += rnic->posting == NIC_POSTING_GPU ? rnic->detail.gpu_read_ps : 0;
    nic_store_t *const store = rnic->store;
    if (SIM_UNLIKELY(store->ops->hold_doorbell != NULL)) {
        here_ps += store->ops->hold_doorbell(store, now_ps, here_ps);
    }
    nic__item_at(item, here_ps);
}
