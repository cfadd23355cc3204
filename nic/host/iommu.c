// SPDX-License-Identifier: Apache-2.0
// nic/host/iommu.c - the IOTLB of a host, its page walks, and the pages that NICs may not touch.
// docs/models/rnic.md
#include "nic/iommu.h"

#include <string.h>

#include "nic/config/layout.h"
#include "nic/device.h"
#include "nic/host/dma.h"
#include "nic/objects/objects.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"
#include "nic/reports.h"

#define LINE_BYTES 64u
#define PAGE_NUMBER_BITS 40u

typedef nic_page_range_t range_t;

typedef struct translation {
    uint64_t key; // 0: none
    uint64_t used;
} translation_t;

typedef struct walker {
    uint64_t key; // translation that it has walked for last
    sim_time_t end_ps;
} walker_t;

// A translation that a NIC keeps (ATS).
typedef struct kept {
    uint64_t key; // 0: none
    uint64_t used;
    sim_time_t ready_ps; // the NIC has it from then on
} kept_t;
#define KEPT_WAYS 4u

struct nic_iommu {
    nic_host_t *host;
    nic_iommu_use_t use;
    translation_t *tlb; // sets x ways
    uint64_t sets;
    uint64_t ways;
    uint64_t clock; // of translation_t.used
    uint32_t page_bits;
    uint32_t levels;
    sim_time_t hit_ps;
    sim_time_t read_ps;
    walker_t *walkers;
    uint32_t walker_count;
    kept_t *kept; // of each NIC of the host, by port: kept_sets x KEPT_WAYS
    uint64_t kept_sets;
    sim_time_t request_ps;
    range_t *denied;
    size_t denied_count;
    size_t denied_capacity;
    nic_iommu_counters_t counters;
};

// -- life

// clang-format off
#define ROW(name_, unit_, shown_, help_) \
    {#name_, SIM_REPORT_U64, unit_, help_, .offset = offsetof(nic_iommu_counters_t, name_), .shown = shown_}
static const sim_report_row_t rows[] = {
    ROW(hits, "", true, "number of pages whose translation was in the IOTLB"),
    ROW(walks, "", true, "number of walks of the page table for translations that the IOTLB lacked"),
    ROW(waits, "", false, "number of walks that waited until a page walker was free"),
    ROW(reads, "", false, "number of reads of memory by page walks: one per level of the page table"),
    ROW(invalidations, "", false, "number of translations that left the IOTLB because their region was deregistered or denied"),
    ROW(ats_hits, "", true, "number of pages whose translation the NIC had itself (ATS)"),
    ROW(ats_misses, "", true, "number of translation requests of NICs (ATS)"),
    ROW(faults, "", true, "number of accesses that failed because NICs may not touch their page"),
    ROW(walk_ps, "ps", false, "time of all walks together, with the time that they waited for a walker"),
};
// clang-format on
const sim_report_table_t nic_iommu_report = {
    .rows = rows,
    .count = SIM_COUNT_OF(rows),
    .bytes = sizeof(nic_iommu_counters_t),
};

static void note_denied(const nic_iommu_t *iommu)
{
    const nic_host_t *const host = iommu->host;
    for (uint32_t i = 0; host->nics != NULL && i < host->nic_count; i++) {
        host->nics[i].refuses = iommu->denied_count != 0 && iommu->use == NIC_IOMMU_ALL;
    }
}

static void create(nic_host_t *host)
{
    const nic_host_config_t *const config = &host->config->host;
    nic_iommu_t *const iommu = sim_alloc(sizeof(*iommu));
    host->iommu = iommu;
    iommu->host = host;
    iommu->use = config->iommu;
    iommu->page_bits = (uint32_t)__builtin_ctzll(config->iommu_page_bytes);
    iommu->levels = 4 - (iommu->page_bits - 12) / 9;
    iommu->hit_ps = config->iommu_hit_ps;
    iommu->read_ps = config->iommu_read_ps;
    iommu->walker_count = (uint32_t)config->iommu_walkers;
    iommu->walkers = sim_alloc_array(iommu->walker_count, sizeof(*iommu->walkers));
    iommu->ways = SIM_MIN(config->iommu_ways, config->iommu_entries);
    iommu->sets = config->iommu_entries / iommu->ways;
    iommu->tlb = sim_alloc_array(iommu->sets * iommu->ways, sizeof(*iommu->tlb));
    iommu->request_ps = config->ats_request_ps;
    iommu->kept_sets = (config->ats_entries + KEPT_WAYS - 1) / KEPT_WAYS;
    iommu->kept =
        sim_alloc_array(iommu->kept_sets * KEPT_WAYS * host->node.port_count, sizeof(*iommu->kept));
    for (const char *rest = config->iommu_deny; rest != NULL;) {
        range_t range;
        const bool some = nic__denied_range(&rest, iommu->page_bits, &range);
        if (some) {
            SIM_APPEND(iommu->denied, iommu->denied_count, iommu->denied_capacity, range);
        }
    }
    note_denied(iommu);
}

// Returns the host's IOMMU; NULL: nic.host.iommu.use is off. One that only translates contexts that
// the tiered store expands is made when it is first needed: it takes more memory than an idle NIC.
static nic_iommu_t *iommu_of(nic_host_t *host)
{
    if (host->iommu == NULL && host->config->host.iommu != NIC_IOMMU_OFF) {
        create(host);
    }
    return host->iommu;
}

void nic__iommu_build(nic_host_t *host)
{
    if (host->config->host.iommu == NIC_IOMMU_ALL) {
        create(host);
        for (uint32_t i = 0; i < host->nic_count; i++) {
            nic_iommu_add_report(&host->nics[i]);
        }
    }
}

void nic_iommu_add_report(nic_t *nic)
{
    size_t count;
    const nic_report_t *const reports = nic_reports(nic, &count);
    for (size_t i = 0; i < count; i++) {
        if (reports[i].part.table == &nic_iommu_report) {
            return;
        }
    }
    nic_iommu_t *const iommu = iommu_of(nic->host);
    if (iommu != NULL) {
        nic_add_report(nic, "iommu", &nic_iommu_report, &iommu->counters);
    }
}

void nic__iommu_destroy(nic_host_t *host)
{
    nic_iommu_t *const iommu = host->iommu;
    if (iommu != NULL) {
        SIM_FREE_ALL(iommu->tlb, iommu->kept, iommu->walkers, iommu->denied, iommu);
    }
}

bool nic_iommu_get_counters(const net_node_t *node, nic_iommu_counters_t *counters)
{
    const nic_host_t *const host = nic__host_of(node);
    if (host->config->host.iommu == NIC_IOMMU_OFF) {
        return false;
    }
    *counters = host->iommu == NULL ? (nic_iommu_counters_t){0} : host->iommu->counters;
    return true;
}

// -- translations

bool nic_iommu_translates(const nic_t *nic)
{
    return nic->host->config->host.iommu == NIC_IOMMU_ALL;
}

uint64_t nic_iommu_context_address(const nic_t *nic, nic_iommu_kind_t kind, uint32_t number)
{
    return nic__context_address(nic->port->index, kind, number);
}

static uint64_t key_of(const nic_t *nic, uint32_t domain, uint64_t page)
{
    return ((uint64_t)(nic->port->index & 0xff) << 56 | (uint64_t)(domain & 0xffff) << 40 |
            (page & ((UINT64_C(1) << PAGE_NUMBER_BITS) - 1))) +
           1;
}

// Looks a translation up and puts it in; of its set the one not used for longest gives way. Returns
// whether it was there.
static bool use_translation(nic_iommu_t *iommu, uint64_t key)
{
    translation_t *const set = &iommu->tlb[sim_mix64(key) % iommu->sets * iommu->ways];
    translation_t *victim = set;
    for (uint64_t i = 0; i < iommu->ways; i++) {
        if (set[i].key == key) {
            set[i].used = ++iommu->clock;
            return true;
        }
        victim = set[i].used < victim->used ? &set[i] : victim;
    }
    *victim = (translation_t){key, ++iommu->clock};
    return false;
}

// Walks the page table: one read per level, each over the host's memory.
static sim_time_t walk(nic_iommu_t *iommu, nic_t *nic, uint64_t key, sim_time_t now_ps)
{
    walker_t *walker = &iommu->walkers[0];
    for (uint32_t i = 1; i < iommu->walker_count; i++) {
        walker = iommu->walkers[i].end_ps < walker->end_ps ? &iommu->walkers[i] : walker;
    }
    iommu->counters.walks++;
    iommu->counters.waits += walker->end_ps > now_ps;
    sim_time_t at_ps = SIM_MAX(walker->end_ps, now_ps);
    for (uint32_t level = 0; level < iommu->levels; level++) {
        iommu->counters.reads++;
        const sim_time_t read_ps = at_ps + iommu->read_ps;
        const sim_time_t memory_ps =
            nic->bound ? nic_device_dma_own(nic, at_ps, LINE_BYTES, false) : at_ps;
        at_ps = SIM_MAX(memory_ps, read_ps);
    }
    *walker = (walker_t){key, at_ps};
    iommu->counters.walk_ps += at_ps - now_ps;
    return at_ps;
}

// Returns when the IOMMU has translated a page.
static sim_time_t translate_page(nic_iommu_t *iommu, nic_t *nic, uint64_t key, sim_time_t now_ps)
{
    sim_time_t here_ps = now_ps + iommu->hit_ps;
    if (!use_translation(iommu, key)) {
        return walk(iommu, nic, key, here_ps);
    }
    iommu->counters.hits++;
    for (uint32_t i = 0; i < iommu->walker_count; i++) { // a walk for it may be under way
        const walker_t *const walker = &iommu->walkers[i];
        here_ps = walker->key == key && walker->end_ps > here_ps ? walker->end_ps : here_ps;
    }
    return here_ps;
}

// Returns when a NIC that keeps translations has that of a page.
static sim_time_t ask_for_page(nic_iommu_t *iommu, nic_t *nic, uint64_t key, sim_time_t now_ps)
{
    const uint64_t set = nic->port->index * iommu->kept_sets + sim_mix64(key) % iommu->kept_sets;
    kept_t *victim = &iommu->kept[set * KEPT_WAYS];
    for (uint64_t i = 0; i < KEPT_WAYS; i++) {
        kept_t *const kept = &iommu->kept[set * KEPT_WAYS + i];
        if (kept->key == key) {
            kept->used = ++iommu->clock;
            iommu->counters.ats_hits++;
            return SIM_MAX(kept->ready_ps, now_ps);
        }
        victim = kept->used < victim->used ? kept : victim;
    }
    iommu->counters.ats_misses++;
    const sim_time_t ready_ps = translate_page(iommu, nic, key, now_ps + iommu->request_ps);
    *victim = (kept_t){key, ++iommu->clock, ready_ps};
    return ready_ps;
}

sim_time_t nic_iommu_translate(nic_t *nic, uint32_t domain, uint64_t address, uint64_t bytes,
                               sim_time_t now_ps)
{
    nic_iommu_t *const iommu = iommu_of(nic->host);
    if (iommu == NULL || bytes == 0) {
        return now_ps;
    }
    sim_time_t ready_ps = now_ps;
    const uint64_t last = (address + (bytes - 1)) >> iommu->page_bits;
    for (uint64_t page = address >> iommu->page_bits; page <= last; page++) {
        const uint64_t key = key_of(nic, domain, page);
        const sim_time_t here_ps = iommu->kept_sets != 0 ? ask_for_page(iommu, nic, key, now_ps)
                                                         : translate_page(iommu, nic, key, now_ps);
        ready_ps = SIM_MAX(here_ps, ready_ps);
    }
    return ready_ps;
}

// Takes the translations of a range of pages out of the IOTLB; domain UINT32_MAX: of all domains.
static void invalidate(nic_iommu_t *iommu, const nic_t *nic, uint32_t domain, range_t range)
{
    const uint64_t mask = (UINT64_C(1) << PAGE_NUMBER_BITS) - 1;
    // NICs forget all that they keep: requests for invalidation are rare.
    const uint64_t kept_count = iommu->kept_sets * KEPT_WAYS * iommu->host->node.port_count;
    for (uint64_t i = 0; i < kept_count; i++) {
        iommu->kept[i] = (kept_t){0};
    }
    for (uint64_t i = 0; i < iommu->sets * iommu->ways; i++) {
        translation_t *const translation = &iommu->tlb[i];
        const uint64_t name = translation->key - 1;
        const bool its = translation->key != 0 &&
                         (domain == UINT32_MAX || name >> 40 == (key_of(nic, domain, 0) - 1) >> 40);
        if (its && (name & mask) >= (range.first & mask) && (name & mask) <= (range.last & mask)) {
            *translation = (translation_t){0, 0};
            iommu->counters.invalidations++;
        }
    }
}

void nic__iommu_forget(nic_t *nic, uint32_t domain, uint64_t address, uint64_t length_bytes)
{
    nic_iommu_t *const iommu = nic->host->iommu;
    if (iommu != NULL && iommu->use == NIC_IOMMU_ALL) {
        const range_t range = {address >> iommu->page_bits,
                               (address + (length_bytes - 1)) >> iommu->page_bits};
        invalidate(iommu, nic, domain, range);
    }
}

uint32_t nic_iommu_domain(const nic_t *nic, uint32_t key)
{
    const nic_mr_t *const mr = nic__region(nic, key);
    return mr != NULL ? mr->pd->number : NIC_IOMMU_DRIVER;
}

sim_time_t nic__iommu_place_ps(nic_t *nic, const nic_sge_t *piece, sim_time_t now_ps)
{
    return nic_iommu_translate(nic, nic_iommu_domain(nic, piece->lkey), piece->addr, piece->length,
                               now_ps);
}

// -- pages that NICs may not touch

bool nic_iommu_denies(const nic_t *nic, uint64_t address, uint64_t bytes)
{
    const nic_iommu_t *const iommu = iommu_of(nic->host);
    if (iommu == NULL || bytes == 0) {
        return false;
    }
    const uint64_t first = address >> iommu->page_bits;
    const uint64_t last = (address + (bytes - 1)) >> iommu->page_bits;
    for (size_t i = 0; i < iommu->denied_count; i++) {
        if (iommu->denied[i].first <= last && iommu->denied[i].last >= first) {
            return true;
        }
    }
    return false;
}

bool nic_iommu_refuses(const nic_t *nic, uint64_t address, uint64_t bytes)
{
    if (!nic_iommu_denies(nic, address, bytes)) {
        return false;
    }
    nic->host->iommu->counters.faults++;
    return true;
}

bool nic__iommu_refuses_place(const nic_t *nic, const nic_place_t *place, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        const nic_sge_t piece = nic__first_piece(place, done, bytes - done);
        if (nic_iommu_refuses(nic, piece.addr, piece.length)) {
            return true;
        }
        done += piece.length;
    }
    return false;
}

void nic_iommu_deny(net_node_t *node, uint64_t address, uint64_t length_bytes)
{
    nic_iommu_t *const iommu = iommu_of(nic__host_of(node));
    SIM_CHECK(length_bytes != 0 && address + (length_bytes - 1) >= address);
    if (iommu == NULL) {
        return; // nobody asks
    }
    const range_t range = {address >> iommu->page_bits,
                           (address + (length_bytes - 1)) >> iommu->page_bits};
    SIM_APPEND(iommu->denied, iommu->denied_count, iommu->denied_capacity, range);
    invalidate(iommu, NULL, UINT32_MAX, range);
    note_denied(iommu);
}

void nic_iommu_allow(net_node_t *node, uint64_t address, uint64_t length_bytes)
{
    nic_iommu_t *const iommu = iommu_of(nic__host_of(node));
    if (iommu == NULL) {
        return;
    }
    const uint64_t first = address >> iommu->page_bits;
    const uint64_t last = (address + (length_bytes - 1)) >> iommu->page_bits;
    for (size_t i = 0; i < iommu->denied_count;) {
        range_t *const range = &iommu->denied[i];
        const range_t before = *range;
        if (before.last < first || before.first > last) {
            i++;
            continue;
        }
        *range = iommu->denied[--iommu->denied_count];
        if (before.first < first) {
            SIM_APPEND(iommu->denied, iommu->denied_count, iommu->denied_capacity,
                       (range_t){before.first, first - 1});
        }
        if (before.last > last) {
            SIM_APPEND(iommu->denied, iommu->denied_count, iommu->denied_capacity,
                       (range_t){last + 1, before.last});
        }
    }
    note_denied(iommu);
}
