// SPDX-License-Identifier: Apache-2.0
// nic/cache.h - the tiered cache of the detailed NIC: its attributes nic.cache.*, metrics and
// report (docs/models/tiered-cache.md).
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
typedef enum nic_cache_rule { NIC_CACHE_RULE_DOCUMENT, NIC_CACHE_RULE_SHADOW } nic_cache_rule_t;
// Places to which an access goes after its compare-and-swap has failed too often.
typedef enum nic_cache_fallback {
    NIC_CACHE_LOCK, // it takes the entry's lock
    NIC_CACHE_PATH, // the token leaves L1, and the access goes on as one that missed L1
} nic_cache_fallback_t;
// Contents of the staging area beside L1.
typedef enum nic_cache_staged {
    NIC_CACHE_COPIES, // a copy; the token stays in its tier
    NIC_CACHE_TOKENS, // the token itself, which the directory says is in L1
} nic_cache_staged_t;
typedef enum nic_cache_wqes { NIC_CACHE_WQES_APART, NIC_CACHE_WQES_IN_L1 } nic_cache_wqes_t;
typedef enum nic_cache_core {
    NIC_CACHE_CORE_OWN,    // the driver has a core that does nothing else
    NIC_CACHE_CORE_SHARED, // the driver interrupts the first core of the host's program
} nic_cache_core_t;
typedef enum nic_cache_answer { NIC_CACHE_TO_NIC, NIC_CACHE_TO_CXL } nic_cache_answer_t;

#define NIC_TABLE_LINE_BYTES 64u // one line of a page table
#define NIC_TABLE_LINE_PAGES 8u
#define NIC_CACHE_WQE_ENTRIES 3u // of L1, of a WQE (l1.wqes: entries)

// The config struct of the attributes "nic.cache.".
typedef struct nic_cache_config {
    char *policy; // "flat": no tiered cache
    bool compression;
    nic_cache_write_t write;
    nic_cache_waiting_t waiting;
    uint64_t l1_entries; // for queue pairs
    uint64_t l1_other_entries;
    char *other_policy;        // of the partition of PDs, memory regions and CQs, as the next five
    uint64_t other_promote_l1; // SIM_AUTO: as queue pairs
    uint64_t other_promote_l2;
    uint64_t other_staging_entries;
    nic_cache_path_t other_path;
    sim_time_t l1_latency_ps;
    sim_time_t cas_ps;
    uint64_t cas_retries;
    nic_cache_fallback_t cas_fallback;
    uint64_t staging_entries;
    nic_cache_staged_t staged;
    nic_cache_wqes_t wqes;
    uint64_t doorbells;
    nic_cache_directory_t directory;
    sim_ratio_t directory_load;
    uint64_t handles;  // 0: the directory is found by type and key
    uint64_t l2_bytes; // 0: there is no L2
    uint64_t l2_other_bytes;
    uint64_t l2_table_bytes;
    uint64_t l2_slots;
    bool l2_shared;         // by the NICs of a host
    sim_ratio_t l2_reserve; // share of it that others cannot take from a NIC
    sim_time_t l2_latency_ps;
    uint64_t l2_rate_bps;
    nic_cache_access_t l2_access;
    sim_time_t l2_setup_ps;
    nic_cache_path_t l2_path;
    sim_ratio_t l2_pressure;
    bool expand_asynchronous;
    nic_cache_answer_t expand_answer;
    bool decompress_on_nic;
    sim_time_t decompress_ps;
    nic_cache_core_t driver_core;
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
    uint64_t neighbours; // SIM_AUTO: the whole cluster
    uint64_t move_batch;
    sim_time_t move_work_ps;
    sim_ratio_t promote_along;
    uint64_t prestage;
    sim_time_t maintenance_ps;
    uint64_t maintenance_tokens;
    uint64_t batch_threshold;
    uint64_t batch_max;
    sim_time_t batch_wait_ps;
    sim_time_t backlog_ps;
    nic_cache_saturated_t saturated;
    bool adaptive;
    nic_cache_rule_t adaptive_rule;
    sim_time_t adaptive_interval_ps;
    sim_ratio_t saturation;
    sim_ratio_t adaptive_hits;
    sim_ratio_t adaptive_cpu;
    uint64_t pinned;
    sim_time_t reset_ps;
    bool record;
    // A policy of the program's own, borrowed; NULL: the one that `policy` names.
    const nic_policy_ops_t *custom_policy;
} nic_cache_config_t;

// Checks the rules between attributes. The message begins with an attribute.
SIM_MUST_CHECK sim_err_t nic_cache_check(const nic_cache_config_t *config, sim_message_t *message);

// Starts the statistics at the given access: accesses are those of a queue pair's context by an
// operation that begins, and earlier ones only warm the tiers up. To be called before the run.
// Returns false if the NIC has no tiered cache.
bool nic_cache_count_from(nic_t *nic, uint64_t access);

SIM_C_END

#endif // NIC_CACHE_H
