// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/report.c - what the tiered cache tells at the end: nics[].cache
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/tiered.h"

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
    uint64_t saved_bytes;
    uint64_t dma_bytes;
    uint64_t cxl_bytes;
    double dma_utilisation;
    double cxl_utilisation;
    double driver_utilisation;
    double mops;
    uint64_t promote_l1;
    uint64_t promote_l2;
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
        row->directory_bytes = (uint64_t)row->objects * sizeof(nic_directory_entry_t);
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
    report->directory_bytes = objects * sizeof(nic_directory_entry_t);
    report->state_bytes = objects * STATE_BYTES;
    report->uncompressed = tiered->uncompressed;
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
    report->dma_utilisation = dma < 1.0 ? dma : 1.0;
    const double cxl = share(tiered->cxl.busy_ps, 2 * span_ps); // of two directions
    report->cxl_utilisation = cxl < 1.0 ? cxl : 1.0;
    const double driver = share(counters->driver_busy_ps, span_ps);
    report->driver_utilisation = driver < 1.0 ? driver : 1.0;
    report->mops = span_ps == 0 ? 0 : (double)counters->accesses / seconds / 1e6;
}

static void fill(const void *object, void *report_void)
{
    const tiered_t *const tiered = object;
    cache_report_t *const report = report_void;
    const tiered_counters_t *const counters = &tiered->counters;
    report->policy = tiered->parts[0].policy->name;
    report->counters = *counters;
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
    fill_memory(tiered, report);
    fill_types(tiered, report);
    fill_use(tiered, report);
    report->promote_l1 = tiered->promote_l1;
    report->promote_l2 = tiered->promote_l2;
    report->recorded = tiered->config.record;
    if (report->recorded) {
        const bool stages = !tiered->parts[0].policy->installs_on_miss;
        const uint64_t room =
            tiered->parts[0].slots + (stages ? tiered->config.staging_entries : 0);
        report->belady_hits = nic_belady_hits(tiered->recorded,
                                              tiered->recorded_count,
                                              tiered->recorded_from,
                                              (uint32_t)tiered->token_count,
                                              (uint32_t)room);
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

// clang-format off
#define WHOLE(name_, field, unit_, help_) {.name = name_, .kind = SIM_REPORT_U64, .unit = unit_, .help = help_, .offset = offsetof(cache_report_t, field)}
#define SHOWN(name_, field, unit_, help_) {.name = name_, .kind = SIM_REPORT_U64, .unit = unit_, .help = help_, .offset = offsetof(cache_report_t, field), .shown = true}
#define REAL(name_, field, unit_, help_, shown_) {.name = name_, .kind = SIM_REPORT_REAL, .unit = unit_, .help = help_, .offset = offsetof(cache_report_t, field), .shown = shown_}
#define TIMES(name_, field, help_, shown_) {.name = name_, .kind = SIM_REPORT_OBJECT, .unit = "ns", .help = help_, .offset = offsetof(cache_report_t, field), .table = &sim_report_percentiles, .shown = shown_}
#define OBJECT(name_, field, help_, table_) {.name = name_, .kind = SIM_REPORT_OBJECT, .unit = "", .help = help_, .offset = offsetof(cache_report_t, field), .table = &table_, .shown = true}

static const sim_report_row_t expand_rows[] = {
    {.name = "urgent", .kind = SIM_REPORT_U64, .unit = "", .help = "a processing unit waited for", .offset = offsetof(expands_t, urgent), .shown = true},
    {.name = "background", .kind = SIM_REPORT_U64, .unit = "", .help = "only its queue pair waited for (expand.asynchronous)", .offset = offsetof(expands_t, background), .shown = true},
};
static const sim_report_table_t expand_table = {.rows = expand_rows, .count = SIM_COUNT_OF(expand_rows), .bytes = sizeof(expands_t)};

static const sim_report_row_t migration_rows[] = {
    {.name = "to_l1", .kind = SIM_REPORT_U64, .unit = "", .help = "promoted, or brought by a miss", .offset = offsetof(migrations_t, to_l1), .shown = true},
    {.name = "to_l2", .kind = SIM_REPORT_U64, .unit = "", .help = "promoted from L3, or gave way in L1", .offset = offsetof(migrations_t, to_l2), .shown = true},
    {.name = "to_l3", .kind = SIM_REPORT_U64, .unit = "", .help = "back to the host", .offset = offsetof(migrations_t, to_l3), .shown = true},
};
static const sim_report_table_t migration_table = {.rows = migration_rows, .count = SIM_COUNT_OF(migration_rows), .bytes = sizeof(migrations_t)};

#define TYPE(name_, help_) {.name = #name_, .kind = SIM_REPORT_U64, .unit = "", .help = help_, .offset = offsetof(type_report_t, name_)}
static const sim_report_row_t type_rows[] = {
    {.name = "type", .kind = SIM_REPORT_STRING, .unit = "", .help = "pd, mr, cq or qp", .offset = offsetof(type_report_t, type)},
    TYPE(objects, "that live at the end"),
    TYPE(lookups, "of tokens of this type, of operations under way too"),
    TYPE(l1_hits, "of them, found in L1 or staged"),
    TYPE(l2_hits, "found in L2"),
    TYPE(expands, "asked for at the host"),
    TYPE(l1_tokens, "in L1 at the end"),
    TYPE(l2_tokens, "in L2 at the end"),
    TYPE(l2_pages, "of L2 used at the end"),
    {.name = "directory_bytes", .kind = SIM_REPORT_U64, .unit = "bytes", .help = "12 for each object", .offset = offsetof(type_report_t, directory_bytes)},
};
static const sim_report_table_t type_table = {.rows = type_rows, .count = SIM_COUNT_OF(type_rows), .bytes = sizeof(type_report_t)};

static const sim_report_row_t rows[] = {
    {.name = "policy", .kind = SIM_REPORT_STRING, .unit = "", .help = "of L1", .offset = offsetof(cache_report_t, policy)},
    SHOWN("accesses", counters.accesses, "", "looks at a queue pair's context by operations that begin: l1_hits + l2_hits + expands"),
    SHOWN("l1_hits", counters.l1_hits, "", "of them, found in L1 or staged next to it"),
    WHOLE("staging_hits", counters.staging_hits, "", "lookups that found a staged copy"),
    SHOWN("l2_hits", counters.l2_hits, "", "found in L2"),
    OBJECT("expands", expands, "asked for at the host, whose driver answers", expand_table),
    REAL("l1_hit_rate", l1_hit_rate, "", "l1_hits / accesses", false),
    REAL("l2_hit_rate", l2_hit_rate, "", "l2_hits of those that missed L1", false),
    WHOLE("follow_ups", counters.follow_ups, "", "looks by operations under way: answers, acknowledgements, later packets"),
    WHOLE("follow_up_misses", counters.follow_up_misses, "", "of them, not found in L1"),
    TIMES("access_ns", access_ns, "from the lookup until the context is there", true),
    TIMES("l1_ns", l1_ns, "the same of L1 hits", false),
    TIMES("l2_ns", l2_ns, "of L2 hits", false),
    TIMES("expand_ns", expand_ns, "of expands", false),
    OBJECT("migrations", migrations, "of tokens, by where they went", migration_table),
    TIMES("migration_ns", migration_ns, "that they took", false),
    WHOLE("fills", counters.fills, "", "requests to the driver that no access waited for"),
    WHOLE("refused_moves", counters.refused_moves, "", "promotions to L1 that no entry there was cooler than"),
    WHOLE("cas_failures", counters.cas_failures, "", "swaps of an entry's fields that another one came before"),
    WHOLE("cas_retries", counters.cas_retries, "", "tries again"),
    WHOLE("cas_fallbacks", counters.cas_fallbacks, "", "accesses that gave up trying and asked the directory"),
    WHOLE("version_retries", counters.version_retries, "", "reads of an old copy that had to be made again"),
    WHOLE("waits", counters.waits, "", "accesses that waited for a token to arrive in its tier"),
    WHOLE("reconciled", counters.reconciled, "", "moves whose old copy was written meanwhile"),
    WHOLE("write_backs", counters.write_backs, "", "tokens whose difference was written where they went"),
    WHOLE("write_throughs", counters.write_throughs, "", "changes written to the host at once (write: through)"),
    WHOLE("strong_writes", counters.strong_writes, "", "changes of rights, keys and states, always written at once"),
    WHOLE("batches", counters.batches, "", "runs of the batch worker"),
    WHOLE("batch_tokens", counters.batch_tokens, "", "tokens it read"),
    WHOLE("batch_clusters", counters.batch_clusters, "", "transfers it needed"),
    WHOLE("batch_delays", counters.batch_delays, "", "times it waited for a saturated L2"),
    WHOLE("prefetches", counters.prefetches, "", "neighbours brought along to L2"),
    WHOLE("prefetches_used", counters.prefetches_used, "", "of them, used there"),
    WHOLE("prefetches_dropped", counters.prefetches_dropped, "", "neighbours left because L2 was saturated"),
    WHOLE("directory_reads", counters.directory_reads, "", "of the token directory"),
    WHOLE("agings", counters.agings, "", "times all counts were halved"),
    WHOLE("maintenance_runs", counters.maintenance_runs, "", "of the maintenance worker"),
    WHOLE("raised", counters.raised, "", "times the thresholds rose"),
    WHOLE("lowered", counters.lowered, "", "times they fell"),
    WHOLE("promote_l1", promote_l1, "", "the threshold at the end"),
    WHOLE("promote_l2", promote_l2, "", "the threshold at the end"),
    WHOLE("resets", counters.resets, "", "of the NIC"),
    WHOLE("lost_writes", counters.lost_writes, "", "changes that a reset lost"),
    WHOLE("dirty_lost", counters.dirty_lost, "", "tokens that it lost changes of"),
    WHOLE("doorbell_waits", counters.doorbell_waits, "", "Doorbells that waited for a place in L1"),
    WHOLE("wqe_reads", counters.wqe_reads, "", "WQEs read again from L2"),
    WHOLE("table_hits", counters.table_hits, "", "translations that the NIC lacked, read from a page table's line in L2 (l2.page-table)"),
    WHOLE("table_misses", counters.table_misses, "", "and from the host, the line being kept in L2"),
    WHOLE("l1_entries_peak", l1_entries_peak, "", "of queue pairs in L1 at most"),
    WHOLE("l1_bytes", l1_bytes, "bytes", "used by them at the end, 28 each, 252 where not compressed"),
    SHOWN("l1_bytes_peak", l1_bytes_peak, "bytes", "of L1 used for queue pairs, at most"),
    WHOLE("l1_other_bytes_peak", l1_other_bytes_peak, "bytes", "and for the other types"),
    WHOLE("l2_bytes", l2_bytes, "bytes", "pages of queue pairs used at the end, 8 + slots x 14 each"),
    SHOWN("l2_bytes_peak", l2_bytes_peak, "bytes", "of L2 used for queue pairs, at most"),
    WHOLE("l2_other_bytes_peak", l2_other_bytes_peak, "bytes", "and for the other types"),
    WHOLE("l2_tokens_peak", l2_tokens_peak, "", "of queue pairs in L2 at most"),
    WHOLE("directory_bytes", directory_bytes, "bytes", "12 for each object that lived at once"),
    WHOLE("state_bytes", state_bytes, "bytes", "state, counts and last access of them, besides: 25 each"),
    WHOLE("uncompressed", uncompressed, "", "objects that do not fit in a token, or all without compression"),
    WHOLE("saved_bytes", saved_bytes, "bytes", "that what lies in L1 and L2 at the end would take more without compression"),
    SHOWN("dma_bytes", dma_bytes, "bytes", "contexts, differences and directory entries over PCIe, without headers and requests"),
    WHOLE("cxl_bytes", cxl_bytes, "bytes", "read from and written to L2"),
    REAL("dma_utilisation", dma_utilisation, "", "dma_bytes of what PCIe could carry", false),
    REAL("cxl_utilisation", cxl_utilisation, "", "share of the time that L2's link was busy, mean of its directions", false),
    REAL("driver_utilisation", driver_utilisation, "", "share of the time that the driver's core was busy", true),
    REAL("accesses_mops", mops, "M/s", "accesses a second", true),
    {.name = "belady_hits", .kind = SIM_REPORT_U64, .unit = "", .help = "that an L1 of this size would have had with knowledge of the future (record)", .get = get_belady},
    {.name = "belady_hit_rate", .kind = SIM_REPORT_REAL, .unit = "", .help = "belady_hits / accesses", .get = get_belady_rate},
    {.name = "types", .kind = SIM_REPORT_LIST, .of = SIM_REPORT_OBJECT, .unit = "", .help = "the same by type of object", .offset = offsetof(cache_report_t, type_list), .table = &type_table},
};
// clang-format on

const sim_report_table_t nic_cache_report = {
    .rows = rows,
    .count = SIM_COUNT_OF(rows),
    .bytes = sizeof(cache_report_t),
    .fill = fill,
};

// -- while it runs

// clang-format off
#define METRIC(name_, field, unit_, help_) {"cache." name_, unit_, help_, offsetof(tiered_t, field), sizeof(((tiered_t *)NULL)->field)}
const nic_cache_metric_t nic_cache_metrics[] = {
    METRIC("accesses", counters.accesses, "", "of the tiered cache: contexts looked up by operations that begin, since it counts (this and the next: 0 again when the first counted access comes)"),
    METRIC("l1_hits", counters.l1_hits, "", "of them, found in L1 or staged"),
    METRIC("l2_hits", counters.l2_hits, "", "found in L2"),
    METRIC("expands_urgent", counters.expands_urgent, "", "asked for at the host, a unit waits"),
    METRIC("expands_background", counters.expands_background, "", "asked for at the host, the queue pair waits"),
    METRIC("to_l1", counters.migrations[1], "", "tokens that moved to L1"),
    METRIC("to_l2", counters.migrations[2], "", "to L2"),
    METRIC("to_l3", counters.migrations[3], "", "to the host"),
    METRIC("write_backs", counters.write_backs, "", "tokens whose difference was written where they went"),
    METRIC("cas_failures", counters.cas_failures, "", "swaps of an entry's fields that another one came before"),
    METRIC("version_retries", counters.version_retries, "", "reads of an old copy that had to be made again"),
    METRIC("waits", counters.waits, "", "accesses that waited for a token that moved"),
    METRIC("batches", counters.batches, "", "runs of the batch worker"),
    METRIC("table_hits", counters.table_hits, "", "translations read from page tables in L2"),
    METRIC("table_misses", counters.table_misses, "", "and from the host"),
    METRIC("dma_read_bytes", counters.dma_read_bytes, "bytes", "contexts and directory entries read from the host"),
    METRIC("dma_write_bytes", counters.dma_write_bytes, "bytes", "differences written to it"),
    METRIC("cxl_read_bytes", cxl.read_bytes, "bytes", "read from L2"),
    METRIC("cxl_write_bytes", cxl.write_bytes, "bytes", "written to it"),
    METRIC("driver_busy_ps", counters.driver_busy_ps, "ps", "time that the driver's core worked"),
    METRIC("l1_entries", parts[0].slots_used, "", "queue pairs in L1 now"),
    METRIC("l2_tokens", parts[0].pages[NIC_TOKEN_QP].used_slots, "", "queue pairs in L2 now"),
    METRIC("l2_bytes", parts[0].l2_used_bytes, "bytes", "of L2's pages that they take now"),
    METRIC("moves", move_count, "", "tokens on their way between tiers now"),
    METRIC("queue", queue_count, "", "misses that wait for a batch now"),
    METRIC("promote_l1", promote_l1, "", "the threshold, as adapted"),
    METRIC("promote_l2", promote_l2, "", "the threshold, as adapted"),
    {NULL, NULL, NULL, 0, 0},
};
// clang-format on

uint64_t nic_cache_metric_read(const nic_t *nic, const nic_cache_metric_t *metric)
{
    const nic_store_t *const store = nic_store_of(nic);
    if (store == NULL || store->ops != &nic__store_tiered) {
        return 0;
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
