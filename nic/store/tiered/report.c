// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/report.c - results of the tiered cache at the end: nics[].cache
// (docs/models/tiered-cache.md).
#include "nic/cache_metrics.h"
#include "nic/carry.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

#include <math.h>
#include <string.h>

typedef struct migrations {
    uint64_t to_l1;
    uint64_t to_l2;
    uint64_t to_l3;
} migrations_t;

typedef struct expands {
    uint64_t urgent;
    uint64_t background;
} expands_t;

typedef struct driver_class {
    uint64_t requests;
    sim_percentiles_t wait_ns;
} driver_class_t;

typedef struct driver_report {
    driver_class_t classes[NIC_SERVER_CLASS_COUNT];
    uint64_t hurried;
    uint64_t waiting_max;
} driver_report_t;

typedef struct type_report {
    const char *type;
    uint64_t objects;
    uint64_t lookups;
    uint64_t l1_hits;
    uint64_t l2_hits;
    uint64_t expands;
    uint64_t l1_tokens;
    uint64_t l2_tokens;
    uint64_t l2_pages;
    uint64_t directory_bytes;
} type_report_t;

typedef struct cache_report {
    const char *policy;
    const char *way;
    uint64_t way_changes;
    tiered_counters_t counters;
    double l1_hit_rate;
    double l2_hit_rate;
    expands_t expands;
    migrations_t migrations;
    sim_percentiles_t access_ns;
    sim_percentiles_t l1_ns;
    sim_percentiles_t l2_ns;
    sim_percentiles_t expand_ns;
    sim_percentiles_t migration_ns;
    sim_percentiles_t met_ns;
    double migration_rate;
    uint64_t l1_entries_peak;
    uint64_t l1_bytes;
    uint64_t l1_bytes_peak;
    uint64_t l1_other_bytes_peak;
    uint64_t l2_bytes;
    uint64_t l2_bytes_peak;
    uint64_t l2_other_bytes_peak;
    uint64_t l2_tokens_peak;
    uint64_t directory_bytes;
    uint64_t state_bytes;
    uint64_t uncompressed;
    uint64_t refused_expands;
    const char *first_refused;
    const nic_cache_config_t *config;
    double host_cpu;
    uint64_t corrupt_pages;
    uint64_t saved_bytes;
    uint64_t dma_bytes;
    uint64_t cxl_bytes;
    double dma_utilisation;
    double cxl_utilisation;
    double driver_utilisation;
    driver_report_t driver;
    double mops;
    uint64_t promote_l1;
    uint64_t promote_l2;
    const char *other_policy;
    uint64_t other_promote_l1;
    uint64_t other_promote_l2;
    uint64_t belady_hits;
    double belady_hit_rate;
    bool recorded;
    type_report_t types[NIC_TOKEN_TYPE_COUNT];
    sim_report_list_t type_list;
} cache_report_t;

// Bytes per token that the rules need and the directory lacks: state 1, counts of uses 4 x 4, last
// access 8.
#define STATE_BYTES 25u

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : (double)part / (double)whole;
}

static void fill_types(const tiered_t *tiered, cache_report_t *report)
{
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        const tiered_type_counters_t *const counters = &tiered->counters.types[type];
        type_report_t *const row = &report->types[type];
        const nic_pages_t *const pages = &tiered->parts[type == NIC_TOKEN_QP ? 0 : 1].pages[type];
        row->type = nic_token_type_name((nic_token_type_t)type);
        row->objects = tiered->type_live[type];
        row->lookups = counters->lookups;
        row->l1_hits = counters->l1_hits;
        row->l2_hits = counters->l2_hits;
        row->expands = counters->expands;
        row->l2_tokens = pages->used_slots;
        row->l2_pages = pages->pages_used;
        row->directory_bytes =
            nic__tiered_by_handle(tiered)
                ? nic_handles_bytes(&tiered->handles, (nic_token_type_t)type)
                : (uint64_t)row->objects * NIC_DIRECTORY_BUCKET_BYTES / NIC_DIRECTORY_SLOTS;
    }
    for (uint32_t number = 0; number < tiered->token_count; number++) {
        const tiered_token_t *const token = &tiered->tokens[number];
        report->types[token->type].l1_tokens += token->live && token->cell.entry.layer == 1;
    }
    report->type_list = (sim_report_list_t){report->types, NIC_TOKEN_TYPE_COUNT};
}

static void fill_memory(const tiered_t *tiered, cache_report_t *report)
{
    const tiered_partition_t *const qps = &tiered->parts[0];
    const tiered_partition_t *const others = &tiered->parts[1];
    const uint64_t unit = sizeof(nic_l1_entry_t);
    report->l1_entries_peak = qps->slots_max;
    report->l1_bytes = qps->units_used * unit;
    report->l1_bytes_peak = qps->units_max * unit;
    report->l1_other_bytes_peak = others->units_max * unit;
    report->l2_bytes = qps->l2_used_bytes;
    report->l2_bytes_peak = qps->l2_used_bytes_max;
    report->l2_other_bytes_peak = others->l2_used_bytes_max;
    report->l2_tokens_peak = qps->pages[NIC_TOKEN_QP].used_slots_max;
    uint64_t objects = 0;
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        objects += tiered->type_peak[type];
    }
    report->directory_bytes =
        nic__tiered_by_handle(tiered) ? 0 : nic_directory_bytes(&tiered->directory);
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        report->directory_bytes += nic_handles_bytes(&tiered->handles, (nic_token_type_t)type);
    }
    report->state_bytes = objects * STATE_BYTES;
    report->uncompressed = tiered->uncompressed;
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        report->corrupt_pages += tiered->parts[type == NIC_TOKEN_QP ? 0 : 1].pages[type].repaired;
    }
    report->saved_bytes = nic__tiered_occupied_saving(tiered);
}

static void fill_use(const tiered_t *tiered, cache_report_t *report)
{
    const tiered_counters_t *const counters = &tiered->counters;
    const sim_time_t span_ps = tiered->now_ps - tiered->counted_from_ps;
    const nic_pcie_t *const pcie = tiered->pcie;
    report->dma_bytes = counters->dma_read_bytes + counters->dma_write_bytes;
    report->cxl_bytes = tiered->cxl.read_bytes + tiered->cxl.write_bytes;
    const uint64_t per_s = pcie->config.lanes * pcie->config.lane_rate_bps / 8;
    const double seconds = (double)span_ps / (double)SIM_PS_PER_S;
    const double dma = span_ps == 0 ? 0 : (double)report->dma_bytes / seconds / (double)per_s;
    report->dma_utilisation = SIM_MIN(dma, 1.0);
    const double cxl = share(tiered->cxl.busy_ps, 2 * span_ps); // of two directions
    report->cxl_utilisation = SIM_MIN(cxl, 1.0);
    const nic_server_t *const server = &tiered->driver;
    const double driver =
        share(server->busy_ps[NIC_SERVER_URGENT] + server->busy_ps[NIC_SERVER_BACKGROUND], span_ps);
    for (uint32_t class = 0; class < NIC_SERVER_CLASS_COUNT; class ++) {
        report->driver.classes[class] = (driver_class_t){
            server->requests[class],
            nic_histogram_percentiles(&server->waits[class], SIM_PS_PER_NS),
        };
    }
    report->driver.hurried = counters->hurried;
    report->driver.waiting_max = server->waiting_max;
    report->driver_utilisation = SIM_MIN(driver, 1.0);
    sim_time_t busy_ps;
    const uint32_t cores = nic__tiered_cores(tiered, &busy_ps);
    const double cpu = share(busy_ps - tiered->cores_busy_from_ps, cores * span_ps);
    report->host_cpu = SIM_MIN(cpu, 1.0);
    const uint64_t migrations = counters->migrations[NIC_LAYER_L1] +
                                counters->migrations[NIC_LAYER_L2] +
                                counters->migrations[NIC_LAYER_L3];
    report->migration_rate = span_ps == 0 ? 0 : (double)migrations / seconds / 1e6;
    report->mops = span_ps == 0 ? 0 : (double)counters->accesses / seconds / 1e6;
}

static void fill(const void *object, void *report_void)
{
    const tiered_t *const tiered = object;
    cache_report_t *const report = report_void;
    const tiered_counters_t *const counters = &tiered->counters;
    report->policy = tiered->parts[0].configured->name;
    for (uint32_t kind = 0; kind < NIC_IOMMU_KIND_COUNT; kind++) {
        report->refused_expands += tiered->counters.refused[kind];
    }
    report->first_refused = tiered->first_refused;
    report->way = tiered->parts[0].shadows != NULL ? nic_shadow_name(tiered->parts[0].way) : "";
    report->way_changes = tiered->parts[0].way_changes;
    report->counters = *counters;
    report->config = &tiered->config;
    report->l1_hit_rate = share(counters->l1_hits, counters->accesses);
    report->l2_hit_rate = share(counters->l2_hits, counters->accesses - counters->l1_hits);
    report->expands = (expands_t){counters->expands_urgent, counters->expands_background};
    report->migrations = (migrations_t){
        counters->migrations[1],
        counters->migrations[2],
        counters->migrations[3],
    };
    report->access_ns = nic_histogram_percentiles(&tiered->all, SIM_PS_PER_NS);
    report->l1_ns = nic_histogram_percentiles(&tiered->paths[TIERED_L1], SIM_PS_PER_NS);
    report->l2_ns = nic_histogram_percentiles(&tiered->paths[TIERED_L2], SIM_PS_PER_NS);
    report->expand_ns = nic_histogram_percentiles(&tiered->paths[TIERED_EXPAND], SIM_PS_PER_NS);
    report->migration_ns = nic_histogram_percentiles(&tiered->move_times, SIM_PS_PER_NS);
    report->met_ns = nic_histogram_percentiles(&tiered->met, SIM_PS_PER_NS);
    fill_memory(tiered, report);
    fill_types(tiered, report);
    fill_use(tiered, report);
    report->promote_l1 = tiered->parts[0].promote_l1;
    report->promote_l2 = tiered->parts[0].promote_l2;
    report->other_promote_l1 = tiered->parts[1].promote_l1;
    report->other_promote_l2 = tiered->parts[1].promote_l2;
    report->other_policy = tiered->parts[1].configured->name;
    report->recorded = tiered->config.record;
    if (report->recorded) {
        const bool stages = !tiered->parts[0].configured->installs_on_miss;
        const uint64_t room =
            tiered->parts[0].slots + (stages ? tiered->parts[0].staging_entries : 0);
        report->belady_hits =
            nic_belady_hits(tiered->recorded, tiered->recorded_count, tiered->recorded_from,
                            (uint32_t)tiered->token_count, (uint32_t)room);
        report->belady_hit_rate = share(report->belady_hits, counters->accesses);
    }
}

static bool get_belady(const void *object, sim_report_value_t *value)
{
    const cache_report_t *const report = object;
    value->whole = report->belady_hits;
    return report->recorded;
}

static bool get_belady_rate(const void *object, sim_report_value_t *value)
{
    const cache_report_t *const report = object;
    value->real = report->belady_hit_rate;
    return report->recorded;
}

// A count of an option has a row only where the option is used.
#define OPTIONAL(name_, field, used)                                       \
    static bool get_##name_(const void *object, sim_report_value_t *value) \
    {                                                                      \
        const cache_report_t *const report = object;                       \
        value->whole = report->field;                                      \
        return (used);                                                     \
    }
OPTIONAL(handle_hits, counters.handle_hits, report->config->handles != 0)
OPTIONAL(wqe_hits, counters.wqe_hits, report->config->wqes == NIC_CACHE_WQES_IN_L1)
OPTIONAL(wqe_evictions, counters.wqe_evictions, report->config->wqes == NIC_CACHE_WQES_IN_L1)
OPTIONAL(wqes_peak, counters.wqes_peak, report->config->wqes == NIC_CACHE_WQES_IN_L1)

OPTIONAL(pages_taken, counters.pages_taken, report->config->l2_shared)
OPTIONAL(pages_given, counters.pages_given, report->config->l2_shared)

static bool get_host_cpu(const void *object, sim_report_value_t *value)
{
    const cache_report_t *const report = object;
    value->real = report->host_cpu;
    return report->config->driver_core == NIC_CACHE_CORE_SHARED;
}

// clang-format off
#define GET(name_, unit_, help_) {.name = #name_, .kind = SIM_REPORT_U64, .unit = unit_, .help = help_, .get = get_##name_}
#define WHOLE(name_, field, unit_, help_) {.name = name_, .kind = SIM_REPORT_U64, .unit = unit_, .help = help_, .offset = offsetof(cache_report_t, field)}
#define SHOWN(name_, field, unit_, help_) {.name = name_, .kind = SIM_REPORT_U64, .unit = unit_, .help = help_, .offset = offsetof(cache_report_t, field), .shown = true}
#define REAL(name_, field, unit_, help_, shown_) {.name = name_, .kind = SIM_REPORT_REAL, .unit = unit_, .help = help_, .offset = offsetof(cache_report_t, field), .shown = shown_}
#define TIMES(name_, field, help_, shown_) {.name = name_, .kind = SIM_REPORT_OBJECT, .unit = "ns", .help = help_, .offset = offsetof(cache_report_t, field), .table = &sim_report_percentiles, .shown = shown_}
#define OBJECT(name_, field, help_, table_) {.name = name_, .kind = SIM_REPORT_OBJECT, .unit = "", .help = help_, .offset = offsetof(cache_report_t, field), .table = &table_, .shown = true}

static const sim_report_row_t expand_rows[] = {
    {.name = "urgent", .kind = SIM_REPORT_U64, .unit = "", .help = "number of expands (requests to the host's driver) for which a processing unit waited", .offset = offsetof(expands_t, urgent), .shown = true},
    {.name = "background", .kind = SIM_REPORT_U64, .unit = "", .help = "number of expands for which only the queue pair waited (expand.asynchronous)", .offset = offsetof(expands_t, background), .shown = true},
};
static const sim_report_table_t expand_table = {.rows = expand_rows, .count = SIM_COUNT_OF(expand_rows), .bytes = sizeof(expands_t)};

static const sim_report_row_t driver_class_rows[] = {
    {.name = "requests", .kind = SIM_REPORT_U64, .unit = "", .help = "number of requests of this class that the driver took up", .offset = offsetof(driver_class_t, requests), .shown = true},
    {.name = "wait_ns", .kind = SIM_REPORT_OBJECT, .unit = "ns", .help = "time that a request of this class waits before the driver takes it up", .offset = offsetof(driver_class_t, wait_ns), .table = &sim_report_percentiles, .shown = true},
};
static const sim_report_table_t driver_class_table = {.rows = driver_class_rows, .count = SIM_COUNT_OF(driver_class_rows), .bytes = sizeof(driver_class_t)};

static const sim_report_row_t driver_rows[] = {
    {.name = "urgent", .kind = SIM_REPORT_OBJECT, .unit = "", .help = "requests that a processing unit waits for; they overtake those in the background", .offset = offsetof(driver_report_t, classes[NIC_SERVER_URGENT]), .table = &driver_class_table, .shown = true},
    {.name = "background", .kind = SIM_REPORT_OBJECT, .unit = "", .help = "requests of asynchronous expands and of moves, which the driver takes up when no urgent one waits", .offset = offsetof(driver_report_t, classes[NIC_SERVER_BACKGROUND]), .table = &driver_class_table, .shown = true},
    {.name = "hurried", .kind = SIM_REPORT_U64, .unit = "", .help = "number of background requests that became urgent because an access needed their token", .offset = offsetof(driver_report_t, hurried)},
    {.name = "queue_peak", .kind = SIM_REPORT_U64, .unit = "", .help = "largest number of background requests that waited at a time", .offset = offsetof(driver_report_t, waiting_max)},
};
static const sim_report_table_t driver_table = {.rows = driver_rows, .count = SIM_COUNT_OF(driver_rows), .bytes = sizeof(driver_report_t)};

static const sim_report_row_t migration_rows[] = {
    {.name = "to_l1", .kind = SIM_REPORT_U64, .unit = "", .help = "number of tokens that moved to L1 by promotion or after a miss", .offset = offsetof(migrations_t, to_l1), .shown = true},
    {.name = "to_l2", .kind = SIM_REPORT_U64, .unit = "", .help = "number of tokens that moved to L2 by promotion from L3 or eviction from L1", .offset = offsetof(migrations_t, to_l2), .shown = true},
    {.name = "to_l3", .kind = SIM_REPORT_U64, .unit = "", .help = "number of tokens that moved back to the host", .offset = offsetof(migrations_t, to_l3), .shown = true},
};
static const sim_report_table_t migration_table = {.rows = migration_rows, .count = SIM_COUNT_OF(migration_rows), .bytes = sizeof(migrations_t)};

static const sim_report_row_t refused_rows[] = {
    {.name = "pd", .kind = SIM_REPORT_U64, .unit = "", .help = "number of refused contexts of protection domains", .offset = NIC_IOMMU_PD * sizeof(uint64_t)},
    {.name = "mr", .kind = SIM_REPORT_U64, .unit = "", .help = "number of refused contexts of memory regions", .offset = NIC_IOMMU_MR * sizeof(uint64_t)},
    {.name = "cq", .kind = SIM_REPORT_U64, .unit = "", .help = "number of refused contexts of completion queues", .offset = NIC_IOMMU_CQ * sizeof(uint64_t)},
    {.name = "qp", .kind = SIM_REPORT_U64, .unit = "", .help = "number of refused contexts of queue pairs", .offset = NIC_IOMMU_QP * sizeof(uint64_t)},
    {.name = "srq", .kind = SIM_REPORT_U64, .unit = "", .help = "number of refused contexts of shared receive queues", .offset = NIC_IOMMU_SRQ * sizeof(uint64_t)},
    {.name = "mtt", .kind = SIM_REPORT_U64, .unit = "", .help = "number of refused lines of page tables", .offset = NIC_IOMMU_MTT * sizeof(uint64_t)},
};
static const sim_report_table_t refused_table = {.rows = refused_rows, .count = SIM_COUNT_OF(refused_rows), .bytes = sizeof(uint64_t[NIC_IOMMU_KIND_COUNT])};

#define TYPE(name_, help_) {.name = #name_, .kind = SIM_REPORT_U64, .unit = "", .help = help_, .offset = offsetof(type_report_t, name_)}
static const sim_report_row_t type_rows[] = {
    {.name = "type", .kind = SIM_REPORT_STRING, .unit = "", .help = "type of object: pd, mr, cq or qp", .offset = offsetof(type_report_t, type)},
    TYPE(objects, "number of objects of this type that exist at the end"),
    TYPE(lookups, "number of look-ups of tokens of this type, also by operations in progress"),
    TYPE(l1_hits, "number of look-ups of this type that hit L1 or the staging area"),
    TYPE(l2_hits, "number of look-ups of this type that hit L2"),
    TYPE(expands, "number of contexts of this type that were requested from the host's driver"),
    TYPE(l1_tokens, "number of tokens of this type in L1 at the end"),
    TYPE(l2_tokens, "number of tokens of this type in L2 at the end"),
    TYPE(l2_pages, "number of pages of L2 that this type uses at the end"),
    {.name = "directory_bytes", .kind = SIM_REPORT_U64, .unit = "bytes", .help = "bytes of directory slots of this type: 16 for each object", .offset = offsetof(type_report_t, directory_bytes)},
};
static const sim_report_table_t type_table = {.rows = type_rows, .count = SIM_COUNT_OF(type_rows), .bytes = sizeof(type_report_t)};

static const sim_report_row_t rows[] = {
    {.name = "policy", .kind = SIM_REPORT_STRING, .unit = "", .help = "eviction policy of L1 (nic.cache.policy)", .offset = offsetof(cache_report_t, policy)},
    {.name = "other_policy", .kind = SIM_REPORT_STRING, .unit = "", .help = "eviction policy of L1 for protection domains, regions and completion queues (nic.cache.other.policy)", .offset = offsetof(cache_report_t, other_policy)},
    SHOWN("accesses", counters.accesses, "", "number of look-ups of a queue pair's context by operations that begin: l1_hits + l2_hits + expands"),
    SHOWN("l1_hits", counters.l1_hits, "", "number of accesses that found the context in L1 or in the staging area beside it"),
    WHOLE("staging_hits", counters.staging_hits, "", "number of look-ups that found a staged copy of the token"),
    SHOWN("l2_hits", counters.l2_hits, "", "number of accesses that found the token in L2"),
    OBJECT("expands", expands, "number of contexts that the NIC requested from the host's driver", expand_table),
    REAL("l1_hit_rate", l1_hit_rate, "", "share of accesses that hit L1: l1_hits / accesses", false),
    REAL("l2_hit_rate", l2_hit_rate, "", "share of the L1 misses that hit L2", false),
    WHOLE("follow_ups", counters.follow_ups, "", "number of look-ups by operations in progress: answers, acknowledgements, later packets"),
    WHOLE("follow_up_misses", counters.follow_up_misses, "", "number of look-ups by operations in progress that missed L1"),
    TIMES("access_ns", access_ns, "time from a look-up until the context is on the NIC", true),
    TIMES("l1_ns", l1_ns, "time of an access that hits L1", false),
    TIMES("l2_ns", l2_ns, "time of an access that hits L2", false),
    TIMES("expand_ns", expand_ns, "time of an access that needs the host's driver", false),
    OBJECT("migrations", migrations, "number of moves of tokens between tiers, by destination", migration_table),
    REAL("migration_rate", migration_rate, "M/s", "moves of tokens between tiers per second, in millions", false),
    WHOLE("move_transfers", counters.move_transfers, "", "number of transfers that promoted tokens from L2 to L1, or demoted idle ones"),
    WHOLE("moved_along", counters.moved_along, "", "number of tokens that one transfer promoted or demoted together with its first one"),
    TIMES("met_ns", met_ns, "time of an access to a token that was moving", false),
    TIMES("migration_ns", migration_ns, "time that a move of a token takes", false),
    WHOLE("fills", counters.fills, "", "number of requests to the driver for which no access waited"),
    WHOLE("refused_moves", counters.refused_moves, "", "number of promotions to L1 that were refused because every entry there is used more often"),
    WHOLE("cas_failures", counters.cas_failures, "", "number of compare-and-swaps of an entry's fields that lost against another one"),
    WHOLE("cas_retries", counters.cas_retries, "", "number of compare-and-swaps that were tried again after a failure"),
    WHOLE("cas_fallbacks", counters.cas_fallbacks, "", "number of accesses that stopped trying compare-and-swap: they asked the directory, or the token left L1 (l1.cas-fallback)"),
    WHOLE("driver_retries", counters.driver_retries, "", "number of times that the driver rewrote state or rights again because a unit had changed the token"),
    WHOLE("version_retries", counters.version_retries, "", "number of reads of an old copy that had to be repeated because it had changed"),
    WHOLE("waits", counters.waits, "", "number of accesses that waited for a moving token to arrive in its tier"),
    WHOLE("reconciled", counters.reconciled, "", "number of moves during which the old copy was written"),
    WHOLE("write_backs", counters.write_backs, "", "number of tokens whose changes were written back when they left a tier"),
    WHOLE("write_throughs", counters.write_throughs, "", "number of changes that were written to the host at once (write: through)"),
    WHOLE("strong_writes", counters.strong_writes, "", "number of changes of rights, keys and states, which are always written at once"),
    WHOLE("batches", counters.batches, "", "number of runs of the batch worker that fetches tokens from L2"),
    WHOLE("batch_tokens", counters.batch_tokens, "", "number of tokens that the batch worker fetched from L2"),
    WHOLE("batch_clusters", counters.batch_clusters, "", "number of transfers over L2's link that the batch worker made"),
    WHOLE("batch_delays", counters.batch_delays, "", "number of times that the batch worker waited for a saturated link of L2"),
    WHOLE("prefetches", counters.prefetches, "", "number of neighbouring tokens that were moved to L2 together with a requested one"),
    WHOLE("prefetches_used", counters.prefetches_used, "", "number of prefetched tokens that were used while they were in L2"),
    WHOLE("prestages", counters.prestages, "", "number of clusters that the driver staged in L2 by itself (driver.prestage)"),
    WHOLE("prestaged", counters.prestaged, "", "number of tokens of the clusters that the driver staged in L2 by itself"),
    WHOLE("prestaged_used", counters.prestaged_used, "", "number of tokens that the driver staged in L2 by itself and that were used while they were in L2"),
    WHOLE("prefetches_dropped", counters.prefetches_dropped, "", "number of neighbouring tokens that were not prefetched because L2's link was saturated"),
    WHOLE("directory_reads", counters.directory_reads, "", "number of look-ups of tokens in the directory by the NIC"),
    WHOLE("directory_lines", counters.directory_lines, "", "number of buckets, or lines of the table of handles, of 64 bytes that look-ups of the directory read"),
    GET(handle_hits, "", "number of look-ups of tokens that the NIC's own index of handles answered (handles)"),
    WHOLE("directory_writes", counters.directory_writes, "", "number of entries of the directory that moves changed"),
    WHOLE("directory_growths", counters.directory_growths, "", "number of times that the directory's buckets doubled during the run"),
    WHOLE("agings", counters.agings, "", "number of times that all counts of uses were halved"),
    WHOLE("maintenance_runs", counters.maintenance_runs, "", "number of runs of the maintenance worker that moves tokens"),
    WHOLE("raised", counters.raised, "", "number of times that the promotion thresholds rose"),
    WHOLE("lowered", counters.lowered, "", "number of times that the promotion thresholds fell"),
    WHOLE("promote_l1", promote_l1, "", "number of uses from which on a queue pair's token is promoted to L1, at the end of the run"),
    WHOLE("promote_l2", promote_l2, "", "number of uses from which on a queue pair's token is promoted to L2, at the end of the run"),
    WHOLE("other_promote_l1", other_promote_l1, "", "number of uses from which on a token of another type is promoted to L1, at the end of the run"),
    WHOLE("other_promote_l2", other_promote_l2, "", "number of uses from which on a token of another type is promoted to L2, at the end of the run"),
    {.name = "way", .kind = SIM_REPORT_STRING, .unit = "", .help = "way that L1 follows at the end of the run (adaptive.rule: shadow): recency, sieve, frequency or still", .offset = offsetof(cache_report_t, way)},
    WHOLE("way_changes", way_changes, "", "number of times that L1 changed to another way (adaptive.rule: shadow)"),
    WHOLE("resets", counters.resets, "", "number of resets of the NIC during the run"),
    WHOLE("refused_expands", refused_expands, "", "number of fetches of contexts in pages that the NIC may not touch (nic.host.iommu); the queue pairs that need them fail"),
    OBJECT("refused", counters.refused, "number of refused_expands by the kind of context", refused_table),
    {.name = "first_refused", .kind = SIM_REPORT_STRING, .unit = "", .help = "kind and number of the first context that the NIC may not touch, such as cq:3; empty: there was none", .offset = offsetof(cache_report_t, first_refused)},
    WHOLE("corrupt_tokens", counters.corrupt, "", "number of tokens whose bytes in L2 were corrupt and were fetched again from the host"),
    WHOLE("corrupt_pages", corrupt_pages, "", "number of headers of pages in L2 that were corrupt and were made anew"),
    WHOLE("lost_writes", counters.lost_writes, "", "number of changes of tokens that a reset of the NIC lost"),
    WHOLE("dirty_lost", counters.dirty_lost, "", "number of tokens whose changes a reset of the NIC lost"),
    WHOLE("doorbell_waits", counters.doorbell_waits, "", "number of Doorbells that waited for a place in L1"),
    WHOLE("wqe_reads", counters.wqe_reads, "", "number of WQEs that were read again from L2, or with l1.wqes from the host"),
    GET(wqe_hits, "", "number of look-ups of WQEs that L1 held (l1.wqes: entries)"),
    GET(wqe_evictions, "", "number of WQEs that L1 evicted before they were done (l1.wqes: entries)"),
    GET(wqes_peak, "", "largest number of WQEs in L1, 3 entries each (l1.wqes: entries)"),
    GET(pages_taken, "", "number of pages of a shared L2 that other NICs of the host gave up for this one (l2.shared)"),
    GET(pages_given, "", "number of pages of a shared L2 that this NIC gave up for others of the host (l2.shared)"),
    WHOLE("table_hits", counters.table_hits, "", "number of translations missing on the NIC that a line of a page table in L2 held (l2.page-table)"),
    WHOLE("table_misses", counters.table_misses, "", "number of translations missing on the NIC that were read from the host; L2 keeps their line"),
    WHOLE("l1_entries_peak", l1_entries_peak, "", "largest number of queue pairs in L1"),
    WHOLE("l1_bytes", l1_bytes, "bytes", "bytes of L1 that queue pairs use at the end: 28 each, 252 if not compressed"),
    SHOWN("l1_bytes_peak", l1_bytes_peak, "bytes", "largest number of bytes of L1 that queue pairs used"),
    WHOLE("l1_other_bytes_peak", l1_other_bytes_peak, "bytes", "largest number of bytes of L1 that regions, PDs and CQs used"),
    WHOLE("l2_bytes", l2_bytes, "bytes", "bytes of L2 pages that queue pairs use at the end: 8 + slots x 14 per page"),
    SHOWN("l2_bytes_peak", l2_bytes_peak, "bytes", "largest number of bytes of L2 pages that queue pairs used"),
    WHOLE("l2_other_bytes_peak", l2_other_bytes_peak, "bytes", "largest number of bytes of L2 pages that regions, PDs and CQs used"),
    WHOLE("l2_tokens_peak", l2_tokens_peak, "", "largest number of queue pairs in L2"),
    WHOLE("directory_bytes", directory_bytes, "bytes", "bytes of the token directory: 64 for each bucket of four entries, or for each line of five handles"),
    WHOLE("state_bytes", state_bytes, "bytes", "bytes of states, counts and times of use: 25 for each object, besides the directory"),
    WHOLE("uncompressed", uncompressed, "", "number of objects that do not fit into a token, or all objects without compression"),
    WHOLE("saved_bytes", saved_bytes, "bytes", "bytes that compression saves in L1 and L2 at the end of the run"),
    SHOWN("dma_bytes", dma_bytes, "bytes", "bytes of contexts, changes and directory entries on PCIe, without headers and requests"),
    WHOLE("cxl_bytes", cxl_bytes, "bytes", "bytes read from and written to L2"),
    REAL("dma_utilisation", dma_utilisation, "", "dma_bytes as a share of what PCIe could carry", false),
    REAL("cxl_utilisation", cxl_utilisation, "", "share of the time that L2's link was busy, as the mean of both directions", false),
    REAL("driver_utilisation", driver_utilisation, "", "share of the time that the driver's core was busy", true),
    {.name = "host_cpu", .kind = SIM_REPORT_REAL, .unit = "", .help = "share of the time that the host's cores worked for programs and the driver, as the mean of all cores (driver.core: shared); polls that find nothing do not count", .get = get_host_cpu},
    OBJECT("driver", driver, "requests to the driver by class, and how long they wait for its core", driver_table),
    REAL("accesses_mops", mops, "M/s", "accesses per second, in millions", true),
    {.name = "belady_hits", .kind = SIM_REPORT_U64, .unit = "", .help = "number of L1 hits of an optimal policy that knows the future, for the same L1 (record)", .get = get_belady},
    {.name = "belady_hit_rate", .kind = SIM_REPORT_REAL, .unit = "", .help = "share of accesses that the optimal policy hits: belady_hits / accesses", .get = get_belady_rate},
    {.name = "types", .kind = SIM_REPORT_LIST, .of = SIM_REPORT_OBJECT, .unit = "", .help = "look-ups and tokens by type of object", .offset = offsetof(cache_report_t, type_list), .table = &type_table},
};
// clang-format on

const sim_report_table_t nic_cache_report = {
    .rows = rows,
    .count = SIM_COUNT_OF(rows),
    .bytes = sizeof(cache_report_t),
    .fill = fill,
};

// -- while it runs

static uint64_t driver_busy(const nic_store_t *store)
{
    const nic_server_t *const driver = &((const tiered_t *)(const void *)store)->driver;
    return driver->busy_ps[NIC_SERVER_URGENT] + driver->busy_ps[NIC_SERVER_BACKGROUND];
}

static uint64_t migration_rate(const nic_store_t *store)
{
    const tiered_t *const tiered = (const tiered_t *)(const void *)store;
    nic_window_t moved = tiered->moved; // a copy: the original moves on with the accesses
    const sim_time_t window_ps = tiered->config.window_ps;
    const uint64_t count = nic_window_count(&moved, tiered->now_ps, window_ps / NIC_WINDOW_PARTS);
    const sim_time_t span_ps = SIM_MIN(tiered->now_ps, window_ps);
    return span_ps == 0 ? 0 : (uint64_t)((sim_wide_t)count * SIM_PS_PER_S / span_ps);
}

static uint64_t wait_of(const nic_store_t *store, nic_server_class_t class, uint64_t percentile)
{
    const nic_server_t *const driver = &((const tiered_t *)(const void *)store)->driver;
    return nic_histogram_percentile(&driver->waits[class], percentile, 100);
}

static uint64_t urgent_p50(const nic_store_t *store)
{
    return wait_of(store, NIC_SERVER_URGENT, 50);
}

static uint64_t urgent_p99(const nic_store_t *store)
{
    return wait_of(store, NIC_SERVER_URGENT, 99);
}

static uint64_t background_p50(const nic_store_t *store)
{
    return wait_of(store, NIC_SERVER_BACKGROUND, 50);
}

static uint64_t background_p99(const nic_store_t *store)
{
    return wait_of(store, NIC_SERVER_BACKGROUND, 99);
}

// clang-format off
#define DERIVED(name_, function_, unit_, help_) {.name = "cache." name_, .unit = unit_, .help = help_, .read = function_}
#define METRIC(name_, field, unit_, help_) {"cache." name_, unit_, help_, offsetof(tiered_t, field), sizeof(((tiered_t *)NULL)->field), NULL}
const nic_cache_metric_t nic_cache_metrics[] = {
    METRIC("accesses", counters.accesses, "", "number of look-ups of queue pairs' contexts by operations that begin; starts at 0 again when counting begins"),
    METRIC("l1_hits", counters.l1_hits, "", "number of accesses that found the context in L1 or staged; starts at 0 again when counting begins"),
    METRIC("l2_hits", counters.l2_hits, "", "number of accesses that found the token in L2"),
    METRIC("expands_urgent", counters.expands_urgent, "", "number of contexts requested from the host for which a processing unit waits"),
    METRIC("expands_background", counters.expands_background, "", "number of contexts requested from the host for which only the queue pair waits"),
    METRIC("to_l1", counters.migrations[1], "", "number of tokens that moved to L1 so far"),
    METRIC("to_l2", counters.migrations[2], "", "number of tokens that moved to L2 so far"),
    METRIC("to_l3", counters.migrations[3], "", "number of tokens that moved back to the host so far"),
    METRIC("write_backs", counters.write_backs, "", "number of tokens whose changes were written back when they left a tier"),
    METRIC("cas_failures", counters.cas_failures, "", "number of compare-and-swaps of an entry's fields that lost against another one"),
    METRIC("version_retries", counters.version_retries, "", "number of reads of an old copy that had to be repeated because it had changed"),
    METRIC("waits", counters.waits, "", "number of accesses that waited for a moving token"),
    METRIC("batches", counters.batches, "", "number of runs of the batch worker that fetches tokens from L2"),
    METRIC("table_hits", counters.table_hits, "", "number of translations missing on the NIC that a line of a page table in L2 held (l2.page-table)"),
    METRIC("table_misses", counters.table_misses, "", "number of translations missing on the NIC that were read from the host; L2 keeps their line"),
    METRIC("directory_reads", counters.directory_reads, "", "number of look-ups of tokens in the directory by the NIC"),
    METRIC("directory_lines", counters.directory_lines, "", "number of buckets that look-ups of the directory read"),
    METRIC("dma_read_bytes", counters.dma_read_bytes, "bytes", "bytes of contexts and directory entries read from the host"),
    METRIC("dma_write_bytes", counters.dma_write_bytes, "bytes", "bytes of changes written to the host"),
    METRIC("cxl_read_bytes", cxl.read_bytes, "bytes", "bytes that the NIC read from L2"),
    METRIC("cxl_write_bytes", cxl.write_bytes, "bytes", "bytes that the NIC wrote to L2"),
    METRIC("driver_urgent", driver.requests[NIC_SERVER_URGENT], "", "number of urgent requests that the driver took up so far"),
    METRIC("driver_urgent_wait_ps", driver.waited_ps[NIC_SERVER_URGENT], "ps", "time that urgent requests waited for the driver, all together"),
    METRIC("driver_urgent_busy_ps", driver.busy_ps[NIC_SERVER_URGENT], "ps", "time that the driver's core worked on urgent requests"),
    METRIC("driver_background", driver.requests[NIC_SERVER_BACKGROUND], "", "number of background requests that the driver took up so far"),
    METRIC("driver_background_wait_ps", driver.waited_ps[NIC_SERVER_BACKGROUND], "ps", "time that background requests waited for the driver, all together"),
    METRIC("driver_background_busy_ps", driver.busy_ps[NIC_SERVER_BACKGROUND], "ps", "time that the driver's core worked on background requests"),
    METRIC("driver_queue", driver.waiting, "", "number of background requests that wait for the driver at this time"),
    DERIVED("driver_busy_ps", driver_busy, "ps", "time that the driver's core was busy"),
    DERIVED("driver_urgent_wait_p50_ps", urgent_p50, "ps", "median time that urgent requests waited for the driver so far"),
    DERIVED("driver_urgent_wait_p99_ps", urgent_p99, "ps", "99th percentile of the time that urgent requests waited for the driver so far"),
    DERIVED("driver_background_wait_p50_ps", background_p50, "ps", "median time that background requests waited for the driver so far"),
    DERIVED("driver_background_wait_p99_ps", background_p99, "ps", "99th percentile of the time that background requests waited for the driver so far"),
    DERIVED("migration_rate", migration_rate, "1/s", "moves of tokens between tiers per second, within the window"),
    METRIC("prestaged", counters.prestaged, "", "number of tokens that the driver staged in L2 by itself"),
    METRIC("l1_entries", parts[0].slots_used, "", "number of queue pairs in L1 at this time"),
    METRIC("l2_tokens", parts[0].pages[NIC_TOKEN_QP].used_slots, "", "number of queue pairs in L2 at this time"),
    METRIC("l2_bytes", parts[0].l2_used_bytes, "bytes", "bytes of L2 pages that tokens use at this time"),
    METRIC("moves", move_count, "", "number of tokens that are moving between tiers at this time"),
    METRIC("queue", queue_count, "", "number of misses that wait for a batch at this time"),
    METRIC("way", parts[0].way, "", "way that L1 follows at this time (adaptive.rule: shadow); 0: recency, 1: sieve, 2: frequency, 3: still"),
    METRIC("promote_l1", parts[0].promote_l1, "", "number of uses from which on a queue pair's token is promoted to L1 at this time"),
    METRIC("promote_l2", parts[0].promote_l2, "", "number of uses from which on a queue pair's token is promoted to L2 at this time"),
    {NULL, NULL, NULL, 0, 0, NULL},
};
// clang-format on

bool nic_has_tiered_cache(const nic_t *nic)
{
    const nic_store_t *const store = nic_store_of(nic);
    return store != NULL && store->ops == &nic__store_tiered;
}

uint64_t nic_cache_metric_read(const nic_t *nic, const nic_cache_metric_t *metric)
{
    const nic_store_t *const store = nic_store_of(nic);
    if (store == NULL || store->ops != &nic__store_tiered) {
        return 0;
    }
    const uint64_t *const carried = nic_carried_cache_metrics(nic);
    if (carried != NULL) {
        return carried[metric - nic_cache_metrics];
    }
    if (metric->read != NULL) {
        return metric->read(store);
    }
    const char *const at = (const char *)store + metric->offset;
    if (metric->bytes == sizeof(uint32_t)) {
        uint32_t number;
        memcpy(&number, at, sizeof(number));
        return number;
    }
    uint64_t number;
    SIM_CHECK(metric->bytes == sizeof(number));
    memcpy(&number, at, sizeof(number));
    return number;
}
