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
    ATTR("policy", STRING, policy, "flat", NULL, NULL, "flat: the caches of an ordinary NIC; any other name: a tiered cache of compressed tokens, whose L1 evicts by this policy: hybrid, lru, lfu, fifo, sieve, random") \
    ATTR("compression", BOOL, compression, "true", NULL, NULL, "true: L1 and L2 hold compressed tokens; false: they hold whole contexts") \
    CHOICE("write", write, "back", "back|through", "when a change made in L1 reaches the host; back: when the token is evicted; through: at once") \
    CHOICE("waiting", waiting, "wait", "wait|optimistic", "behaviour of an access to a token that is being moved; wait: wait for the end of the move; optimistic: use the old copy and check it afterwards") \
    ATTR("l1.entries", COUNT, l1_entries, "8192", "1", "16777216", "number of L1 entries for queue pairs, 28 bytes each") \
    ATTR("l1.other-entries", COUNT, l1_other_entries, "1024", "3", "16777216", "number of L1 entries for protection domains, memory regions and completion queues, 28 bytes each") \
    ATTR("l1.latency", TIME, l1_latency_ps, "5ns", "1ps", "1ms", "time of a lookup in L1") \
    ATTR("l1.cas", TIME, cas_ps, "2ns", "0ps", "1ms", "time of a compare-and-swap of an L1 entry's fields") \
    ATTR("l1.cas-retries", COUNT, cas_retries, "3", "0", "1000", "how often a failed compare-and-swap is tried again before the NIC reads the token directory") \
    ATTR("l1.staging", COUNT, staging_entries, "64", "0", "1048576", "entries of the staging area beside L1, which holds copies of tokens that are not promoted; for policies with thresholds") \
    ATTR("l1.doorbells", COUNT, doorbells, "256", "1", "65536", "number of Doorbells that L1 holds while the NIC reads their WQEs; a further Doorbell waits until one is done") \
    CHOICE("directory", directory, "auto", "auto|sram|cxl|host", "where the NIC reads the token directory after a miss of L1; auto: in L2 where there is one, else with the host") \
    ATTR("l2.bytes", BYTES, l2_bytes, "16MiB", "0", "1TiB", "size of L2, in CXL memory, for tokens of queue pairs; 0: there is no L2") \
    AUTO("l2.other-bytes", BYTES, l2_other_bytes, "0", "1TiB", "size of L2 for tokens of protection domains, memory regions and completion queues; auto: a quarter of l2.bytes") \
    ATTR("l2.page-table", BYTES, l2_table_bytes, "0", "0", "1TiB", "size of L2 for page tables, kept in lines of 64 bytes with the translations of 8 pages; a missing translation is read there first, else from the host, and its line is kept; 0: always from the host") \
    ATTR("l2.slots", COUNT, l2_slots, "16", "1", "16", "number of tokens in one page of L2") \
    ATTR("l2.latency", TIME, l2_latency_ps, "250ns", "0ps", "1ms", "latency of a load from idle CXL memory") \
    ATTR("l2.rate", RATE, l2_rate_bps, "208Gbps", "1Mbps", "100000Gbps", "rate of CXL memory in each direction, in lines of 64 bytes") \
    CHOICE("l2.access", l2_access, "load", "load|dma", "how the NIC accesses L2; load: by loads and stores; dma: by a light DMA engine") \
    ATTR("l2.setup", TIME, l2_setup_ps, "100ns", "0ps", "1ms", "additional time of a DMA access to L2, compared with a load (l2.access: dma)") \
    CHOICE("l2.path", l2_path, "direct", "direct|batch", "how a token in L2 is fetched; direct: alone; batch: together with other misses, cluster by cluster") \
    ATTR("l2.pressure", RATIO, l2_pressure, "0.9", "0", "1", "used share of L2 from which on idle tokens are demoted to the host") \
    ATTR("expand.asynchronous", BOOL, expand_asynchronous, "false", NULL, NULL, "true: a work request that waits for its context delays its own queue pair only; false: it delays the whole processing unit") \
    CHOICE("expand.answer", expand_answer, "nic", "nic|cxl", "how the driver answers a request for a context; nic: the NIC reads it from host memory; cxl: the driver writes it into L2 and the NIC loads it") \
    ATTR("expand.on-nic", BOOL, decompress_on_nic, "false", NULL, NULL, "true: the NIC compresses contexts into tokens and back; false: the driver does") \
    ATTR("expand.decompress", TIME, decompress_ps, "20ns", "0ps", "1ms", "time to compress a context into a token, or to expand it") \
    ATTR("driver.work", TIME, driver_ps, "300ns", "0ps", "1ms", "work of the driver's core for one request of the NIC") \
    ATTR("driver.iommu", TIME, iommu_ps, "250ns", "0ps", "1ms", "time to check the rights and addresses of a driver's request in the IOMMU") \
    ATTR("promote.l1", COUNT, promote_l1, "128", "1", "4294967295", "uses within the window from which on a token belongs into L1; for policies with thresholds") \
    ATTR("promote.l2", COUNT, promote_l2, "16", "1", "4294967295", "uses within the window from which on a token belongs into L2; for policies with thresholds") \
    ATTR("demote.l1-idle", TIME, demote_l1_ps, "1ms", "0ps", "1000s", "idle time after which a token is demoted from L1") \
    ATTR("demote.l2-idle", TIME, demote_l2_ps, "10ms", "0ps", "1000s", "idle time after which a token is demoted from L2, if L2 is nearly full (l2.pressure)") \
    ATTR("window", TIME, window_ps, "10ms", "4ps", "1000s", "length of the window in which uses of a token are counted for the thresholds") \
    ATTR("sample-every", COUNT, sample_every, "1", "1", "65536", "one access in this many is counted, and stands for all of them") \
    ATTR("aging", TIME, aging_ps, "1ms", "1ns", "1000s", "time between two halvings of the counts of uses in L1") \
    ATTR("alpha", RATIO, alpha, "1", "0", "1000000", "weight of recency (0 oldest, 1 newest) against one use in the scores of policy hybrid") \
    ATTR("cluster", BYTES, cluster_bytes, "64KiB", "0", "1GiB", "largest part of host memory or L2 that one transfer of neighbouring tokens covers") \
    ATTR("neighbours", COUNT, neighbours, "4", "0", "63", "number of following tokens that are prefetched with one that moves to L2, if they lie in its cluster") \
    ATTR("maintenance.interval", TIME, maintenance_ps, "100us", "1ns", "1000s", "time between two runs of the maintenance worker, which demotes idle tokens") \
    ATTR("maintenance.tokens", COUNT, maintenance_tokens, "64", "0", "16777216", "tokens that the maintenance worker examines per run") \
    ATTR("batch.threshold", COUNT, batch_threshold, "32", "1", "65536", "number of queued misses at which the batch worker starts") \
    ATTR("batch.max", COUNT, batch_max, "256", "1", "65536", "largest number of misses that the batch worker takes at once") \
    ATTR("batch.wait", TIME, batch_wait_ps, "1us", "0ps", "1s", "longest time that a queued miss waits before the batch worker starts") \
    ATTR("batch.backlog", TIME, backlog_ps, "2us", "0ps", "1s", "waiting time for the link of L2 from which on the link counts as saturated") \
    CHOICE("batch.saturated", saturated, "delay", "delay|drop", "treatment of neighbours (cluster) while the link of L2 is saturated; delay: they wait; drop: they are not prefetched") \
    ATTR("adaptive.on", BOOL, adaptive, "false", NULL, NULL, "true: the promotion thresholds are adapted to the load") \
    ATTR("adaptive.interval", TIME, adaptive_interval_ps, "100us", "1ns", "1000s", "time between two adaptations of the promotion thresholds") \
    ATTR("adaptive.saturation", RATIO, saturation, "0.8", "0", "1", "busy share of PCIe or L2 from which on thresholds rise, if the hit ratio is below adaptive.hits") \
    ATTR("adaptive.hits", RATIO, adaptive_hits, "0.5", "0", "1", "hit ratio of L1 or L2 below which thresholds are adapted") \
    ATTR("adaptive.cpu", RATIO, adaptive_cpu, "0.5", "0", "1", "busy share of the driver's core from which on thresholds fall, if the hit ratio of L1 is below adaptive.hits") \
    ATTR("pinned", COUNT, pinned, "0", "0", "16777216", "number of queue pairs, the first ones created, whose tokens always stay in L1") \
    ATTR("reset-at", TIME, reset_ps, "never", "0ps", NULL, "time at which the NIC is reset: it loses what it holds, and changes that nobody else has are lost") \
    ATTR("record", BOOL, record, "false", NULL, NULL, "true: records all accesses and reports the hits of Belady's optimal policy for comparison")
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
