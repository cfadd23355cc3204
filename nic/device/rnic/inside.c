// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/inside.c - the inside of a detailed NIC: its life, what is under way in it, cache
// misses.
#include "nic/carry.h"
#include "nic/device/rnic/items.h"
#include "nic/device/rnic/lookup.h"
#include "nic/device/rnic/receive.h"
#include "nic/device/rnic/rnic.h"
#include "nic/device/rnic/send.h"
#include "nic/device/rnic/store_kinds.h"
#include "nic/device/rnic/unit.h"

// Reads of a context: a cache line (a QP's context is larger, its hot part is not).
#define CONTEXT_BYTES NIC_PCIE_LINE_BYTES

static void make_caches(nic_rnic_t *rnic, const nic_config_t *config, uint64_t seed)
{
    const nic_detail_t *const detail = &rnic->detail;
    const struct {
        uint64_t entries;
        uint64_t ways;
        uint64_t stall_ps;
    } caches[NIC_CACHE_COUNT] = {
        [NIC_STORE_CONTEXT] = {detail->context_entries, detail->context_ways,
                               detail->context_stall_ps},
        [NIC_STORE_TRANSLATION] = {detail->translation_entries, detail->translation_ways,
                                   detail->translation_stall_ps},
        [NIC_STORE_WQE] = {detail->wqe_entries, detail->wqe_ways, detail->wqe_stall_ps},
        [NIC_STORE_CQ] = {detail->cq_entries, detail->cq_ways, detail->cq_stall_ps},
        [NIC_STORE_KEY] = {detail->key_entries, detail->key_ways, detail->key_stall_ps},
    };
    uint64_t all_entries = 0;
    for (uint32_t c = 0; c < NIC_CACHE_COUNT; c++) {
        all_entries += (rnic->answered >> c & 1) == 0 ? caches[c].entries : 0;
        rnic->stall_ps[c] = caches[c].stall_ps;
    }
    const bool at_random = config->replacement == NIC_REPLACE_RANDOM;
    for (uint32_t side = 0; side < 2; side++) {
        nic_cache_init(&rnic->near[side], detail->near_entries, detail->near_ways, at_random,
                       seed + side);
    }
    for (uint32_t c = 0; c < NIC_CACHE_COUNT; c++) {
        // A shared cache: the first one holds everything, the others have one unused entry.
        const uint64_t alone =
            (rnic->answered >> c & 1) != 0 || caches[c].entries == 0 ? 1 : caches[c].entries;
        const uint64_t own = config->sram_shared ? (c == 0 ? all_entries : 1) : alone;
        nic_cache_init(&rnic->caches[c], own, caches[c].ways, at_random, seed + c);
        const bool shared = config->sram_shared && (rnic->answered >> c & 1) == 0;
        rnic->held[c] = &rnic->caches[shared ? 0 : c];
    }
    if (detail->uc_context_entries != 0 && !config->sram_shared) {
        nic_cache_init(&rnic->uc_contexts, detail->uc_context_entries, detail->context_ways,
                       true, // docs/models/herd.md: the decline of figure 12
                       seed + NIC_CACHE_COUNT);
    }
}

// Books a transfer that is no payload: rings and contexts of the driver, or a core's MMIO write.
static sim_time_t on_the_fabric(void *ctx, sim_time_t now_ps, uint64_t bytes, nic_pcie_use_t use)
{
    const nic_t *const nic = ctx;
    if (use == NIC_PCIE_WQE_MMIO || use == NIC_PCIE_DOORBELL) {
        return nic_device_dma_from_core(ctx, now_ps, bytes);
    }
    const bool to_memory = use >= NIC_PCIE_PAYLOAD_WRITE;
    if (nic__rnic(nic)->posting == NIC_POSTING_GPU &&
        (use == NIC_PCIE_WQE_READ || use == NIC_PCIE_CQE_WRITE)) {
        return nic_device_dma_default(ctx, now_ps, bytes, to_memory);
    }
    return nic_device_dma_own(ctx, now_ps, bytes, to_memory);
}

nic_rnic_t *nic__rnic_create(nic_t *nic)
{
    const nic_config_t *const config = nic_get_config(nic);
    nic_rnic_t *const rnic = sim_alloc_lines(sizeof(*rnic));
    rnic->nic = nic;
    rnic->port = nic_device_port(nic);
    rnic->tells_arrivals = nic_device_tells_arrivals(nic);
    rnic->bound = nic_device_bound(nic);
    rnic->slow_memory = rnic->bound || nic_iommu_translates(nic);
    nic_detail_resolve(config, &rnic->detail);
    const uint32_t lanes = nic_device_lanes(nic);
    rnic->detail.lanes = lanes != 0 ? lanes : rnic->detail.lanes;
    nic_pcie_config_t pcie;
    nic_detail_pcie(&rnic->detail, &pcie);
    nic_pcie_init(&rnic->pcie, &pcie);
    rnic->pcie.beyond = rnic->bound ? on_the_fabric : NULL;
    rnic->pcie.beyond_ctx = nic;
    nic__store_create(rnic);
    make_caches(rnic, config, nic_interface(nic));
    rnic->looks_up_keys = rnic->detail.key_entries != 0 || (rnic->answered >> NIC_STORE_KEY) != 0;
    rnic->wqes_know = rnic->held[NIC_STORE_WQE]->sets * rnic->held[NIC_STORE_WQE]->ways <=
                      (uint64_t)UINT16_MAX + 1;
    rnic->lock_free_ps = sim_alloc_array(rnic->detail.atomic_locks, sizeof(*rnic->lock_free_ps));
    rnic->posting = config->posting;
    rnic->gpu_read_ps = rnic->posting != NIC_POSTING_FREE ? rnic->detail.gpu_read_ps : 0;
    rnic->posters =
        rnic->posting == NIC_POSTING_GPU ? rnic->detail.gpu_channels : rnic->detail.proxy_cores;
    rnic->poster_free_ps = sim_alloc_array(rnic->posters, sizeof(*rnic->poster_free_ps));
    rnic->page_shift = (uint64_t)__builtin_ctzll(rnic->detail.page_bytes);
    rnic->look_ps = SIM_TIME_NEVER;
    sim_timer_init_upkeep(&rnic->pause_timer, nic__rnic_pause_fired);
    rnic->coming_look = nic__items_grow(rnic);
    rnic->free_items = rnic->coming_look->next;
    rnic->coming_look->kind = NIC_ITEM_COMING;
    nic__rnic_set_costs(rnic);
    nic__units_create(rnic);
    return rnic;
}

void nic__rnic_destroy(nic_t *nic)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    nic__store_destroy(rnic);
    while (rnic->item_blocks != NULL) {
        nic_item_block_t *const block = rnic->item_blocks;
        rnic->item_blocks = block->next;
        sim_free(block);
    }
    for (uint32_t c = 0; c < NIC_CACHE_COUNT; c++) {
        nic_cache_fini(&rnic->caches[c]);
    }
    for (uint32_t side = 0; side < 2; side++) {
        nic_cache_fini(&rnic->near[side]);
    }
    nic_cache_fini(&rnic->uc_contexts);
    nic_pcie_fini(&rnic->pcie);
    SIM_FREE_ALL(rnic->lock_free_ps, rnic->poster_free_ps, rnic->tx_units, rnic->rx_units, rnic);
}

uint32_t nic__rnic_inline_max(const nic_t *nic)
{
    return (uint32_t)nic__rnic(nic)->detail.inline_max_bytes;
}

// In a host with limits the fabric serves the address, as it does for payloads.
sim_time_t nic__rnic_host_read(nic_t *nic, uint64_t address, uint32_t bytes)
{
    nic__rnic_begin(nic);
    nic_rnic_t *const rnic = nic__rnic(nic);
    const nic_pcie_use_t use = rnic->bound ? NIC_PCIE_PAYLOAD_READ : NIC_PCIE_CONTEXT_READ;
    const sim_time_t here_ps = nic_pcie_read(&rnic->pcie, rnic->at_ps, bytes, use);
    if (!rnic->bound) {
        return here_ps;
    }
    const sim_time_t fabric_ps = nic_device_dma(nic, address, bytes, false);
    return nic__later(here_ps, fabric_ps + rnic->pcie.config.read_latency_ps);
}

sim_time_t nic__rnic_host_write(nic_t *nic, uint64_t address, uint32_t bytes)
{
    nic__rnic_begin(nic);
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t there_ps =
        nic_pcie_write(&rnic->pcie, rnic->at_ps, bytes, NIC_PCIE_PAYLOAD_WRITE);
    if (!rnic->bound) {
        return there_ps;
    }
    const sim_time_t fabric_ps = nic_device_dma(nic, address, bytes, true);
    return nic__later(there_ps, fabric_ps + rnic->pcie.config.write_latency_ps);
}

sim_time_t nic__rnic_from_memory_ps(nic_t *nic, const nic_qp_t *qp, const nic_sge_t *piece)
{
    const nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__device_now_ps(nic);
    const sim_time_t fabric_ps =
        rnic->bound ? nic_device_dma(nic, piece->addr, piece->length, false) : 0;
    if (!nic_iommu_translates(nic)) {
        return fabric_ps;
    }
    // The read waits for the translation at the root port; then its data take the usual time.
    const uint32_t domain =
        qp != NULL ? nic_device_context(qp).pd_number : nic_iommu_domain(nic, piece->lkey);
    const sim_time_t ready_ps =
        nic_iommu_translate(nic, domain, piece->addr, piece->length, now_ps);
    return nic__later(fabric_ps,
                      ready_ps > now_ps ? ready_ps + rnic->pcie.config.read_latency_ps : 0);
}

nic_item_t *nic__items_grow(nic_rnic_t *rnic)
{
    nic_item_block_t *const block = sim_alloc_lines(sizeof(*block));
    block->next = rnic->item_blocks;
    rnic->item_blocks = block;
    for (uint32_t i = NIC_ITEM_BLOCK; i-- > 0;) {
        nic_item_t *const item = &block->items[i];
        sim_timer_init(&item->timer, nic__rnic_item_fired);
        item->nic = rnic->nic;
        item->next = rnic->free_items;
        rnic->free_items = item;
    }
    return &block->items[0];
}

void nic__items_forget(nic_rnic_t *rnic, const nic_qp_t *qp)
{
    for (nic_item_block_t *block = rnic->item_blocks; block != NULL; block = block->next) {
        for (uint32_t i = 0; i < NIC_ITEM_BLOCK; i++) {
            if (block->items[i].qp == qp) {
                block->items[i].qp = NULL;
            }
        }
    }
}

// -- cache misses

static nic_contexts_t contexts_of(const nic_rnic_t *rnic, nic_qp_type_t type)
{
    const bool apart = type == NIC_QPT_UC && rnic->uc_contexts.slots != NULL;
    if (apart || (rnic->answered >> NIC_STORE_CONTEXT & 1) != 0) {
        return NIC_CONTEXTS_ELSEWHERE;
    }
    return type == NIC_QPT_RC ? NIC_CONTEXTS_NEAR : NIC_CONTEXTS_FLAT;
}

void nic__rnic_place(nic_qp_t *qp)
{
    const nic_rnic_t *const rnic = nic__rnic(nic__device_nic(qp));
    for (uint32_t side = 0; side < 2; side++) {
        const uint64_t key = nic__context_key(nic__device_number(qp), side);
        nic__rnic_qp(qp)->context_slot[side] = nic_cache_set(rnic->held[NIC_STORE_CONTEXT], key);
        nic__rnic_qp(qp)->near_slot[side] =
            (uint16_t)nic_cache_set(&rnic->near[side], nic__device_number(qp));
    }
    nic__rnic_qp(qp)->unit = (uint8_t)(nic__device_number(qp) % (uint32_t)rnic->detail.pu_count);
    nic__rnic_qp(qp)->contexts = (uint8_t)contexts_of(rnic, nic__device_type(qp));
}

void nic__rnic_place_cq(nic_cq_t *cq)
{
    const nic_cache_t *const held = nic__rnic(nic__device_cq_nic(cq))->held[NIC_STORE_CQ];
    *nic__device_cq_slot(cq) =
        nic_cache_set(held, nic__cache_key(NIC_STORE_CQ, nic__device_cq_number(cq)));
    nic__store_add(nic__device_cq_nic(cq), NIC_STORE_CQ, nic__device_cq_number(cq));
}

nic_cost_t nic__rnic_look_further(nic_rnic_t *rnic, uint32_t cache, uint32_t *slot, uint64_t key,
                                  nic_cost_t cost)
{
    if (SIM_UNLIKELY((rnic->answered >> cache & 1) != 0)) {
        nic_store_lookup_t lookup = {
            .kind = (nic_store_kind_t)cache,
            .side = NIC_SIDE_RECEIVE,
            .key = (key - 4) >> 2,
            .ready_ps = cost.ready_ps,
        };
        nic__store_look_up(rnic->nic, &lookup);
        return (nic_cost_t){cost.stall_ps + lookup.stall_ps, lookup.ready_ps};
    }
    nic_cache_t *const held = rnic->held[cache];
    if (nic__cache_use(held, slot, key)) {
        rnic->caches[cache].hits++;
        return cost;
    }
    nic_store_t *const store = rnic->store;
    sim_time_t here_ps = SIM_TIME_NEVER;
    if (SIM_UNLIKELY(store->ops->fetch != NULL)) {
        here_ps = store->ops->fetch(store, (nic_store_kind_t)cache, (key - 4) >> 2, rnic->at_ps);
    }
    if (SIM_LIKELY(here_ps == SIM_TIME_NEVER)) {
        here_ps = nic_pcie_read(&rnic->pcie, rnic->at_ps, CONTEXT_BYTES, NIC_PCIE_CONTEXT_READ);
    }
    rnic->caches[cache].misses++;
    return (nic_cost_t){cost.stall_ps + rnic->stall_ps[cache], nic__later(cost.ready_ps, here_ps)};
}

// Looks up the context of a queue pair. A store has one context for both sides of the NIC.
static nic_cost_t look_up_context(nic_rnic_t *rnic, uint32_t number, nic_side_t side, bool begins,
                                  nic_cost_t cost)
{
    nic_store_lookup_t lookup = {
        .kind = NIC_STORE_CONTEXT,
        .side = (uint8_t)side,
        .begins = begins,
        .urgent = begins && (side == NIC_SIDE_RECEIVE || !rnic->asynchronous),
        .key = number,
        .ready_ps = cost.ready_ps,
    };
    lookup.can_wait = begins && lookup.urgent;
    rnic->store->user = number;
    nic__store_look_up(rnic->nic, &lookup);
    return (nic_cost_t){cost.stall_ps + lookup.stall_ps, lookup.ready_ps};
}

// Looks up the context of an unreliable QP. Its receiver needs only the next PSN and the rights,
// so a miss costs less if these contexts are kept apart.
static nic_cost_t look_up_unreliable(nic_rnic_t *rnic, uint64_t key, bool receives, nic_cost_t cost)
{
    nic_cache_t *const contexts = &rnic->caches[NIC_STORE_CONTEXT];
    if (nic_cache_insert(&rnic->uc_contexts, key)) {
        contexts->hits++;
        return cost;
    }
    contexts->misses++;
    const sim_time_t here_ps =
        nic_pcie_read(&rnic->pcie, rnic->at_ps, CONTEXT_BYTES, NIC_PCIE_CONTEXT_READ);
    const sim_time_t stall_ps =
        receives ? rnic->detail.put_context_stall_ps : rnic->detail.context_stall_ps;
    return (nic_cost_t){cost.stall_ps + stall_ps, nic__later(cost.ready_ps, here_ps)};
}

nic_cost_t nic__rnic_context_elsewhere(nic_rnic_t *rnic, const nic_qp_t *qp, uint32_t number,
                                       nic_side_t side, bool begins, nic_cost_t cost)
{
    if ((rnic->answered & 1u << NIC_STORE_CONTEXT) != 0) {
        return look_up_context(rnic, number, side, begins, cost);
    }
    const uint64_t key = nic__context_key(number, side);
    if (qp != NULL) {
        return look_up_unreliable(rnic, key, side == NIC_SIDE_RECEIVE, cost);
    }
    uint32_t slot = nic_cache_set(rnic->held[NIC_STORE_CONTEXT], key);
    return nic__rnic_lookup(rnic, NIC_STORE_CONTEXT, &slot, key, cost);
}

// Looks up the region of a key, and its protection domain if the store keeps protection domains.
nic_cost_t nic__rnic_look_up_key(nic_rnic_t *rnic, uint32_t key, nic_cost_t cost)
{
    if (SIM_LIKELY((rnic->answered & 1u << NIC_STORE_KEY) == 0)) {
        // Translations and keys have names apart in a memory that all kinds share.
        const uint64_t name =
            nic__cache_key(NIC_STORE_TRANSLATION, (uint64_t)key | UINT64_C(1) << 60);
        uint32_t slot = nic_cache_set(rnic->held[NIC_STORE_KEY], name);
        return nic__rnic_lookup(rnic, NIC_STORE_KEY, &slot, name, cost);
    }
    nic_device_region_t region = {0};
    (void)nic_device_find_region(rnic->nic, key, &region);
    const uint64_t keys[] = {key, region.pd_number};
    for (uint32_t i = 0; i < SIM_COUNT_OF(keys) && keys[i] != 0; i++) {
        nic_store_lookup_t lookup = {
            .kind = i == 0 ? NIC_STORE_KEY : NIC_STORE_PD,
            .can_wait = true, // a unit asks
            .key = keys[i],
            .ready_ps = cost.ready_ps,
        };
        if ((rnic->answered >> lookup.kind & 1) != 0) {
            nic__store_look_up(rnic->nic, &lookup);
            cost.stall_ps += lookup.stall_ps;
            cost.ready_ps = lookup.ready_ps;
        }
    }
    return cost;
}

void nic__rnic_check_qp(const nic_qp_t *qp)
{
    const nic_rnic_qp_t *const state = nic__rnic_qp(qp);
    if (nic__device_closed(qp)) {
        return;
    }
    const uint32_t held = nic__device_posted(qp) - nic__device_oldest(qp);
    SIM_CHECK(nic__device_posted(qp) - state->sq_here <= held);
    SIM_CHECK((int32_t)(state->sq_here - state->sq_ready) >= 0);
    const bool through = (int32_t)(state->sq_ready - nic__device_sending(qp)) > 0;
    SIM_CHECK(through || !nic__device_gate_open(qp));
}

// -- counters

bool nic_get_rnic_counters(const nic_t *nic, nic_rnic_counters_t *counters)
{
    if (nic_device_of(nic) != &nic_device_rnic) {
        return false;
    }
    const nic_rnic_counters_t *const carried = nic_carried_rnic_counters(nic);
    if (carried != NULL) {
        *counters = *carried;
        return true;
    }
    const nic_rnic_t *const rnic = nic__rnic(nic);
    const nic_pcie_counters_t *const pcie = &rnic->pcie.counters;
    const nic_cache_t *const caches = rnic->caches;
    *counters = rnic->counters;
    counters->doorbells = pcie->transactions[NIC_PCIE_DOORBELL];
    counters->mmio_lines = pcie->transactions[NIC_PCIE_WQE_MMIO];
    for (uint32_t use = 0; use < NIC_PCIE_USE_COUNT; use++) {
        const bool read = use >= NIC_PCIE_WQE_READ && use <= NIC_PCIE_ATOMIC_READ;
        const bool written = use >= NIC_PCIE_PAYLOAD_WRITE;
        counters->pcie_reads += read ? pcie->transactions[use] : 0;
        counters->pcie_writes += written ? pcie->transactions[use] : 0;
    }
    counters->pcie_up_bytes = rnic->pcie.up.bytes;
    counters->pcie_down_bytes = rnic->pcie.down.bytes;
    counters->context_hits = caches[NIC_STORE_CONTEXT].hits;
    counters->context_misses = caches[NIC_STORE_CONTEXT].misses;
    counters->translation_hits = caches[NIC_STORE_TRANSLATION].hits;
    counters->translation_misses = caches[NIC_STORE_TRANSLATION].misses;
    counters->wqe_hits = caches[NIC_STORE_WQE].hits;
    counters->wqe_misses = caches[NIC_STORE_WQE].misses;
    counters->cq_hits = caches[NIC_STORE_CQ].hits;
    counters->cq_misses = caches[NIC_STORE_CQ].misses;
    counters->key_hits = caches[NIC_STORE_KEY].hits;
    counters->key_misses = caches[NIC_STORE_KEY].misses;
    return true;
}

static void count_queued(const nic_qp_t *qp, void *ctx)
{
    uint64_t *const queued = ctx;
    *queued += nic__device_posted(qp) - nic__device_oldest(qp);
}

bool nic__rnic_conserved(const nic_t *nic)
{
    const nic_rnic_counters_t *const counters = &nic__rnic(nic)->counters;
    uint64_t queued = 0;
    nic_for_each_qp(nic, count_queued, &queued);
    const uint64_t waiting = nic_device_waiting_completions(nic);
    return counters->wqes_posted == counters->wqes_completed + queued &&
           counters->cqes_written == counters->cqes_polled + waiting &&
           nic_pcie_conserved(&nic__rnic(nic)->pcie);
}

// clang-format off
#define FIELD(field_) \
    .field = {SIM_FIELD_OF(nic_rnic_counters_t, field_, FIXED, FIXED, SIM_CARRIED | SIM_DIGESTED)}
#define COUNTER(field, help_) \
    {FIELD(field), .name = #field, .help = help_, .unit = ""}
// A counter that comparisons print with a label: per operation; as a share of hits; as a sum.
#define COMPARED(group_, label_, field, help_)                                            \
    {FIELD(field), .name = #field, .help = help_, .unit = "", \
     .total = {.group = group_, .label = label_}}
const nic_counter_info_t nic_rnic_counter_infos[] = {
    COUNTER(wqes_posted, "number of send work requests posted"),
    COUNTER(wqes_completed, "number of send work requests that ended: acknowledged, failed, flushed or destroyed with their queue pair"),
    COUNTER(cqes_written, "number of completions written to completion queues"),
    COUNTER(cqes_polled, "number of completions that programs took out of completion queues"),
    COMPARED("operation", "Doorbells per operation", doorbells, "number of Doorbells that programs rang"),
    COMPARED("operation", "MMIO lines per operation", mmio_lines, "number of lines of 64 bytes of WQEs written by the CPU"),
    COMPARED("operation", "PCIe reads per operation", pcie_reads, "number of read requests of the NIC over PCIe"),
    COMPARED("operation", "PCIe writes per operation", pcie_writes, "number of writes of the NIC over PCIe"),
    COMPARED("operation", "PCIe bytes to hosts per op.", pcie_up_bytes, "bytes from the NIC to the host, headers included"),
    COMPARED("operation", "PCIe bytes to NICs per op.", pcie_down_bytes, "bytes from the host to the NIC, headers included"),
    COMPARED("hits", "hits, contexts of QPs", context_hits, "number of contexts of queue pairs found on the NIC"),
    COUNTER(context_misses, "number of contexts of queue pairs read from the host"),
    COMPARED("hits", "hits, translations", translation_hits, "number of page translations found on the NIC"),
    COUNTER(translation_misses, "number of page translations read from the host"),
    COMPARED("hits", "hits, WQEs", wqe_hits, "number of WQEs found on the NIC"),
    COUNTER(wqe_misses, "number of WQEs read again from the host"),
    COMPARED("hits", "hits, contexts of CQs", cq_hits, "number of contexts of completion queues found on the NIC"),
    COUNTER(cq_misses, "number of contexts of completion queues read from the host"),
    COUNTER(key_hits, "number of memory keys found on the NIC"),
    COUNTER(key_misses, "number of memory keys read from the host"),
    COUNTER(buffer_bytes_max, "largest number of bytes in the receive buffer"),
    COMPARED("sum", "pauses by NICs", pauses_sent, "number of times that the NIC asked its link to pause"),
    COUNTER(atomics, "number of atomics that the NIC executed"),
    COUNTER(atomics_waited, "number of atomics that waited for their lock"),
    {.name = NULL},
};
// clang-format on
const sim_fields_t nic__rnic_counter_fields = {
    .name = "counters of a detailed NIC",
    .bytes = sizeof(nic_rnic_counters_t),
    .rows = nic_rnic_counter_infos,
    .row_count = SIM_COUNT_OF(nic_rnic_counter_infos),
    .row_bytes = sizeof(nic_counter_info_t),
};
