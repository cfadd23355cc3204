// SPDX-License-Identifier: Apache-2.0
// nic/cache.h - the tiered cache of the detailed NIC: attributes nic.cache.*, and what it tells at
// the end (docs/models/tiered-cache.md).
#ifndef NIC_CACHE_H
#define NIC_CACHE_H

#include "kernel/attribute.h"
#include "kernel/report.h"
#include "nic/cache_policy.h"
#include "nic/store.h"

SIM_C_BEGIN

typedef enum nic_cache_waiting { NIC_CACHE_WAIT, NIC_CACHE_OPTIMISTIC } nic_cache_waiting_t;
typedef enum nic_cache_write { NIC_CACHE_WRITE_BACK, NIC_CACHE_WRITE_THROUGH } nic_cache_write_t;
typedef enum nic_cache_directory {
    NIC_CACHE_DIRECTORY_AUTO, // in L2 where there is one, else with the host
    NIC_CACHE_DIRECTORY_SRAM,
    NIC_CACHE_DIRECTORY_CXL,
    NIC_CACHE_DIRECTORY_HOST,
} nic_cache_directory_t;
typedef enum nic_cache_access { NIC_CACHE_LOAD, NIC_CACHE_DMA } nic_cache_access_t;
typedef enum nic_cache_path { NIC_CACHE_DIRECT, NIC_CACHE_BATCH } nic_cache_path_t;
typedef enum nic_cache_saturated { NIC_CACHE_DELAY, NIC_CACHE_DROP } nic_cache_saturated_t;
typedef enum nic_cache_answer { NIC_CACHE_TO_NIC, NIC_CACHE_TO_CXL } nic_cache_answer_t;

#define NIC_TABLE_LINE_BYTES 64u // of a page table
#define NIC_TABLE_LINE_PAGES 8u

// Attributes "nic.cache."
typedef struct nic_cache_config {
    char *policy; // "flat": no tiered cache
    bool compression;
    uint32_t write;      // nic_cache_write_t
    uint32_t waiting;    // nic_cache_waiting_t
    uint64_t l1_entries; // of queue pairs
    uint64_t l1_other_entries;
    sim_time_t l1_latency_ps;
    sim_time_t cas_ps;
    uint64_t cas_retries;
    uint64_t staging_entries;
    uint64_t doorbells;
    uint32_t directory; // nic_cache_directory_t
    uint64_t l2_bytes;  // 0: there is no L2
    uint64_t l2_other_bytes;
    uint64_t l2_table_bytes;
    uint64_t l2_slots;
    sim_time_t l2_latency_ps;
    uint64_t l2_rate_bps;
    uint32_t l2_access; // nic_cache_access_t
    sim_time_t l2_setup_ps;
    uint32_t l2_path; // nic_cache_path_t
    sim_ratio_t l2_pressure;
    bool expand_asynchronous;
    uint32_t expand_answer; // nic_cache_answer_t
    bool decompress_on_nic;
    sim_time_t decompress_ps;
    sim_time_t driver_ps;
    sim_time_t iommu_ps;
    uint64_t promote_l1;
    uint64_t promote_l2;
    sim_time_t demote_l1_ps;
    sim_time_t demote_l2_ps;
    sim_time_t window_ps;
    uint64_t sample_every;
    sim_time_t aging_ps;
    sim_ratio_t alpha;
    uint64_t cluster_bytes;
    uint64_t neighbours;
    sim_time_t maintenance_ps;
    uint64_t maintenance_tokens;
    uint64_t batch_threshold;
    uint64_t batch_max;
    sim_time_t batch_wait_ps;
    sim_time_t backlog_ps;
    uint32_t saturated; // nic_cache_saturated_t
    bool adaptive;
    sim_time_t adaptive_interval_ps;
    sim_ratio_t saturation;
    sim_ratio_t adaptive_hits;
    sim_ratio_t adaptive_cpu;
    uint64_t pinned;
    sim_time_t reset_ps;
    bool record;
    // A policy of the program's own instead of the one `policy` names; borrowed. NULL: by name.
    const nic_policy_ops_t *custom_policy;
} nic_cache_config_t;

// Rows of nic.cache.: path, type, field, default, least, most, help; choices; automatic ones.
// clang-format off
#define NIC_CACHE_MAP(ATTR, CHOICE, AUTO) \
    ATTR("policy", STRING, policy, "flat", NULL, NULL, "flat: the caches of an ordinary NIC; else a tiered cache of compressed tokens, and who gives way in its L1: hybrid, lru, lfu, fifo, sieve, random") \
    ATTR("compression", BOOL, compression, "true", NULL, NULL, "L1 and L2 hold tokens; off: they hold whole contexts") \
    CHOICE("write", write, "back", "back|through", "when what changed in L1 reaches the host: when the token leaves, or at once") \
    CHOICE("waiting", waiting, "wait", "wait|optimistic", "an access to a token that moves waits for the end, or takes the old copy and looks again") \
    ATTR("l1.entries", COUNT, l1_entries, "8192", "1", "16777216", "entries of 28 bytes in L1 for queue pairs") \
    ATTR("l1.other-entries", COUNT, l1_other_entries, "1024", "3", "16777216", "and for protection domains, memory regions and completion queues") \
    ATTR("l1.latency", TIME, l1_latency_ps, "5ns", "1ps", "1ms", "a lookup in L1") \
    ATTR("l1.cas", TIME, cas_ps, "2ns", "0ps", "1ms", "a compare-and-swap of an entry's fields") \
    ATTR("l1.cas-retries", COUNT, cas_retries, "3", "0", "1000", "tries again after a swap that failed; then the directory is asked") \
    ATTR("l1.staging", COUNT, staging_entries, "64", "0", "1048576", "copies of tokens next to L1 that stay where they are; of policies with thresholds") \
    ATTR("l1.doorbells", COUNT, doorbells, "256", "1", "65536", "Doorbells that L1 holds while their WQEs are read; others wait for one of them") \
    CHOICE("directory", directory, "auto", "auto|sram|cxl|host", "where the NIC reads the token directory after a miss of L1; auto: in L2 where there is one, else with the host") \
    ATTR("l2.bytes", BYTES, l2_bytes, "16MiB", "0", "1TiB", "L2, in CXL memory, for tokens of queue pairs; 0: none") \
    AUTO("l2.other-bytes", BYTES, l2_other_bytes, "0", "1TiB", "and for the other types; auto: a quarter of l2.bytes") \
    ATTR("l2.page-table", BYTES, l2_table_bytes, "0", "0", "1TiB", "and for page tables, in lines of 64 bytes, the translations of 8 pages each: a translation that the NIC lacks is read there, or from the host, whose line is kept; 0: always from the host") \
    ATTR("l2.slots", COUNT, l2_slots, "16", "1", "16", "tokens of a page of L2") \
    ATTR("l2.latency", TIME, l2_latency_ps, "250ns", "0ps", "1ms", "a load from CXL memory, idle") \
    ATTR("l2.rate", RATE, l2_rate_bps, "208Gbps", "1Mbps", "100000Gbps", "of CXL memory, in each direction; lines of 64 bytes") \
    CHOICE("l2.access", l2_access, "load", "load|dma", "by loads and stores, or by a light DMA engine") \
    ATTR("l2.setup", TIME, l2_setup_ps, "100ns", "0ps", "1ms", "what a DMA takes longer than a load") \
    CHOICE("l2.path", l2_path, "direct", "direct|batch", "a token of L2 is loaded alone, or collected with others that missed and read by cluster") \
    ATTR("l2.pressure", RATIO, l2_pressure, "0.9", "0", "1", "idle tokens leave L2 where so much of it is used") \
    ATTR("expand.asynchronous", BOOL, expand_asynchronous, "false", NULL, NULL, "a work request that waits for an expand keeps its queue pair waiting, not its processing unit") \
    CHOICE("expand.answer", expand_answer, "nic", "nic|cxl", "the driver lets the NIC read the context, or writes it into L2 for the NIC to load") \
    ATTR("expand.on-nic", BOOL, decompress_on_nic, "false", NULL, NULL, "tokens are made of contexts on the NIC, not by the driver") \
    ATTR("expand.decompress", TIME, decompress_ps, "20ns", "0ps", "1ms", "to make one of the other") \
    ATTR("driver.work", TIME, driver_ps, "300ns", "0ps", "1ms", "the driver's core, for a request") \
    ATTR("driver.iommu", TIME, iommu_ps, "250ns", "0ps", "1ms", "and to check rights and addresses of it") \
    ATTR("promote.l1", COUNT, promote_l1, "128", "1", "4294967295", "uses within the window from which on a token belongs into L1; of policies with thresholds") \
    ATTR("promote.l2", COUNT, promote_l2, "16", "1", "4294967295", "and into L2") \
    ATTR("demote.l1-idle", TIME, demote_l1_ps, "1ms", "0ps", "1000s", "a token not used for longer leaves L1") \
    ATTR("demote.l2-idle", TIME, demote_l2_ps, "10ms", "0ps", "1000s", "and L2, where that is full") \
    ATTR("window", TIME, window_ps, "10ms", "4ps", "1000s", "uses are counted within it") \
    ATTR("sample-every", COUNT, sample_every, "1", "1", "65536", "every so manyth access is counted, for as many") \
    ATTR("aging", TIME, aging_ps, "1ms", "1ns", "1000s", "counts of uses in L1 are halved so often") \
    ATTR("alpha", RATIO, alpha, "1", "0", "1000000", "weight of the recency rank (0 oldest, 1 newest) against one use, in hybrid's scores") \
    ATTR("cluster", BYTES, cluster_bytes, "64KiB", "0", "1GiB", "of host memory or L2, that one transfer covers at most") \
    ATTR("neighbours", COUNT, neighbours, "4", "0", "63", "tokens behind one that moves to L2 that come along if they are in its cluster") \
    ATTR("maintenance.interval", TIME, maintenance_ps, "100us", "1ns", "1000s", "the maintenance worker looks at some tokens so often") \
    ATTR("maintenance.tokens", COUNT, maintenance_tokens, "64", "0", "16777216", "at so many") \
    ATTR("batch.threshold", COUNT, batch_threshold, "32", "1", "65536", "misses that make the batch worker start") \
    ATTR("batch.max", COUNT, batch_max, "256", "1", "65536", "misses that it takes at once") \
    ATTR("batch.wait", TIME, batch_wait_ps, "1us", "0ps", "1s", "and it starts when the first has waited so long") \
    ATTR("batch.backlog", TIME, backlog_ps, "2us", "0ps", "1s", "the link of L2 is saturated when what waits for it takes longer") \
    CHOICE("batch.saturated", saturated, "delay", "delay|drop", "neighbours then wait, too, or are left where they are") \
    ATTR("adaptive.on", BOOL, adaptive, "false", NULL, NULL, "thresholds follow the load") \
    ATTR("adaptive.interval", TIME, adaptive_interval_ps, "100us", "1ns", "1000s", "so often") \
    ATTR("adaptive.saturation", RATIO, saturation, "0.8", "0", "1", "share of PCIe's or L2's time from which on thresholds rise if L2 is missed") \
    ATTR("adaptive.hits", RATIO, adaptive_hits, "0.5", "0", "1", "less than that share of hits is a miss") \
    ATTR("adaptive.cpu", RATIO, adaptive_cpu, "0.5", "0", "1", "share of the driver's core from which on thresholds fall if L1 is missed") \
    ATTR("pinned", COUNT, pinned, "0", "0", "16777216", "the first queue pairs, which stay in L1") \
    ATTR("reset-at", TIME, reset_ps, "never", "0ps", NULL, "the NIC loses what it holds: writes that nobody else has are lost") \
    ATTR("record", BOOL, record, "false", NULL, NULL, "keeps all accesses, and tells what a cache that knows the future would have found")
// clang-format on

// Rules between attributes; the message begins with one.
SIM_MUST_CHECK sim_err_t nic_cache_check(const nic_cache_config_t *config, sim_message_t *message);

// The report "cache" of a NIC whose policy is not flat.
extern const sim_report_table_t nic_cache_report;
// What the tiered cache tells while it runs: series "nic[HOST].cache.NAME" (observe).
typedef struct nic_cache_metric {
    const char *name; // with the prefix "cache."
    const char *unit;
    const char *help;
    uint32_t offset; // of the number, of so many bytes
    uint32_t bytes;
} nic_cache_metric_t;
extern const nic_cache_metric_t nic_cache_metrics[]; // ends with a NULL name
// 0 where the NIC has no tiered cache.
uint64_t nic_cache_metric_read(const nic_t *nic, const nic_cache_metric_t *metric);

// What counts begins with this counted access (of a queue pair's context, by an operation that
// begins): the ones before warm the tiers up. Before the run. False: the NIC has no tiered cache.
bool nic_cache_count_from(nic_t *nic, uint64_t access);

SIM_C_END

#endif // NIC_CACHE_H
