// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/tiered.h - what the files of the tiered store share
// (docs/models/tiered-cache.md).
//
// Objects are tokens with a number; queue pairs are in one partition of L1 and L2, all other types
// in another, so that they cannot push each other out. Moves, aging and maintenance are no events:
// whatever looks something up next makes up for what is due, in the order of time.
//
//     lookup.c   lookups, life, invariants
//     object.c   tokens by key: made, changed, removed
//     contents.c their bytes: fetched, checked, used, changed, encoded
//     directory/ where each token is, in compact buckets
//     cost.c     what a step takes: CXL, directory, mailbox and driver
//     conflicts.c swaps, rewrites and moves that meet
//     driver/    the driver as a server, and the requests that it takes up when nothing is urgent
//     place.c    L1 and L2: what is put where, and what gives way
//     l3.c       L3: pages of whole contexts
//     move.c     the thresholds' moves, the maintenance worker
//     rules/     what moves together, and thresholds that adapt
//     batch.c    the miss queue, and the staging areas
//     report.c   its results
#ifndef NIC_STORE_TIERED_TIERED_H
#define NIC_STORE_TIERED_TIERED_H

#include "nic/cache.h"
#include "nic/compare_internal.h"
#include "nic/device.h"
#include "nic/iommu.h"
#include "nic/pcie.h"
#include "nic/reports.h"
#include "nic/store.h"
#include "nic/store/flat/set_cache.h"
#include "nic/store/tiered/batch.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/directory/buckets.h"
#include "nic/store/tiered/directory/handles.h"
#include "nic/store/tiered/driver/orders.h"
#include "nic/store/tiered/driver/server.h"
#include "nic/store/tiered/histogram.h"
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/protocol.h"
#include "nic/store/tiered/rules/cluster.h"
#include "nic/store/tiered/rules/shadow.h"
#include "nic/store/tiered/tiers/l3.h"
#include "nic/store/tiered/tiers/pages.h"
#include "nic/store/tiered/tiers/place.h"
#include "nic/store/tiered/tiers/wqes.h"
#include "nic/store/tiered/window.h"

typedef enum tiered_path { TIERED_L1, TIERED_L2, TIERED_EXPAND, TIERED_PATH_COUNT } tiered_path_t;

typedef struct tiered_type_counters {
    uint64_t lookups;
    uint64_t l1_hits;
    uint64_t l2_hits;
    uint64_t expands;
} tiered_type_counters_t;

typedef struct tiered_counters {
    uint64_t accesses;
    uint64_t l1_hits;
    uint64_t staging_hits; // lookups of any type, follow-ups too
    uint64_t l2_hits;
    uint64_t expands_urgent;
    uint64_t expands_background;
    uint64_t follow_ups; // lookups of operations under way
    uint64_t follow_up_misses;
    uint64_t fills;                     // asked for by the thresholds and the prefetch
    uint64_t migrations[NIC_LAYER_END]; // by the layer they lead to
    uint64_t refused_moves;
    uint64_t cas_failures;
    uint64_t cas_retries;
    uint64_t cas_fallbacks;
    uint64_t driver_retries;
    uint64_t version_retries;
    uint64_t waits;
    uint64_t reconciled;
    uint64_t write_backs;
    uint64_t write_throughs;
    uint64_t strong_writes;
    uint64_t batches;
    uint64_t batch_tokens;
    uint64_t batch_clusters;
    uint64_t batch_delays;
    uint64_t prefetches;
    uint64_t prefetches_used;
    uint64_t prestages; // clusters
    uint64_t prestaged; // tokens
    uint64_t prestaged_used;
    uint64_t move_transfers; // between L1 and L2, and of idle tokens to L3
    uint64_t moved_along;    // tokens in them beside the first
    uint64_t prefetches_dropped;
    uint64_t directory_reads; // look-ups
    uint64_t directory_lines; // buckets, or lines of the table of handles, that they read
    uint64_t handle_hits;     // look-ups that the index on the NIC answered
    uint64_t directory_writes;
    uint64_t directory_growths;
    uint64_t agings;
    uint64_t maintenance_runs;
    uint64_t raised; // thresholds
    uint64_t lowered;
    uint64_t resets;
    uint64_t lost_writes;
    uint64_t dirty_lost;                    // tokens
    uint64_t refused[NIC_IOMMU_KIND_COUNT]; // fetches of contexts that the NIC may not touch
    uint64_t corrupt;                       // tokens in L2 whose bytes were found corrupt
    uint64_t dma_read_bytes;
    uint64_t dma_write_bytes;
    uint64_t hurried; // orders that became urgent
    uint64_t doorbell_waits;
    uint64_t wqe_reads;
    uint64_t wqe_hits;
    uint64_t wqe_evictions;
    uint64_t wqes_peak;
    uint64_t pages_taken; // of other NICs that share L2
    uint64_t pages_given;
    uint64_t table_hits;
    uint64_t table_misses;
    tiered_type_counters_t types[NIC_TOKEN_TYPE_COUNT];
} tiered_counters_t;

// The indices of a type's objects: given out in order, and again when they are free.
typedef struct tiered_pool {
    uint32_t *free; // stack
    size_t free_count;
    size_t free_capacity;
    uint32_t next; // never given out
} tiered_pool_t;

typedef struct tiered {
    nic_store_t store; // first
    nic_cache_config_t config;
    sim_node_t *node;
    nic_pcie_t *pcie;
    void (*begin)(nic_t *nic); // nic_store_place_t.begin
    uint32_t page_bits;        // of a page of registered memory
    sim_time_t now_ps;         // of the lookup at hand; does not go back
    bool has_l2;
    bool directory_in_cxl;
    bool directory_on_nic;
    uint64_t cxl_byte_time; // in units of 2^-20 ps
    tiered_cxl_t cxl;
    tiered_shared_t *shared; // NULL: L2 is this NIC's own
    tiered_t *next_member;   // of those that share it
    nic_server_t driver;
    bool shares_core;              // the driver, with a program
    sim_time_t cores_busy_from_ps; // busy time of the host's cores when counting began
    sim_time_t cores_busy_at_adaptation_ps;
    tiered_order_t *orders;
    size_t order_count; // ever
    size_t order_capacity;
    uint32_t free_order;
    tiered_token_t *tokens;
    size_t token_count; // ever
    size_t token_capacity;
    uint32_t *freed; // numbers to be used again
    size_t freed_count;
    size_t freed_capacity;
    nic_directory_t directory;
    tiered_wqes_t wqes;
    nic_handle_table_t handles;
    nic_cache_t handle_index; // entries on the NIC; without slots: the table is not used
    tiered_pool_t pools[NIC_TOKEN_TYPE_COUNT];
    uint32_t type_live[NIC_TOKEN_TYPE_COUNT];
    uint32_t type_peak[NIC_TOKEN_TYPE_COUNT];
    uint64_t pins;
    sim_time_t reset_ps;
    uint32_t uncompressed;
    tiered_partition_t parts[2]; // 0: queue pairs
    nic_l3_t l3[NIC_TOKEN_TYPE_COUNT];
    uint8_t no_word[NIC_SMALL_FIELDS_BYTES]; // zeros: of objects without a hot word
    tiered_demotions_t demotions[3];         // L1 to L2, L1 to L3, L2 to L3
    tiered_heat_t *heats;                    // by hash, the last one of each
    nic_window_t moved;                      // migrations
    // Moves that are in progress.
    tiered_move_t *moves; // heap by end
    size_t move_count;
    size_t move_capacity;
    uint32_t sampled; // accesses since the last one counted
    sim_time_t next_aging_ps;
    sim_time_t next_maintenance_ps;
    uint32_t hand; // of maintenance
    sim_time_t next_adaptation_ps;
    tiered_counters_t at_adaptation;
    sim_time_t cxl_busy_at_adaptation_ps;
    sim_time_t driver_busy_at_adaptation_ps;
    sim_time_t up_busy_ps; // of PCIe, at the last adaptation
    sim_time_t down_busy_ps;
    // The miss queue of L2.
    uint32_t *queue;
    size_t queue_count;
    size_t queue_capacity;
    sim_timer_t batch_timer;
    char first_refused[24]; // "cq:3"; "": none
    sim_timer_t fault_timer;
    uint32_t *faulted; // numbers of queue pairs that fail at the timer's event
    size_t faulted_count;
    size_t faulted_capacity;
    tiered_waiter_t *free_waiters;
    tiered_link_t *free_links;
    uint32_t *asked; // tokens of the lookups that wait and have no timer yet
    size_t asked_count;
    size_t asked_capacity;
    struct tiered_flight *flights;
    nic_cache_t table;            // lines of page tables in L2; without slots: none
    sim_time_t *doorbell_free_ps; // of each place
    uint64_t next_doorbell;
    // Statistics.
    uint64_t count_from;
    uint64_t seen; // counted accesses, ever
    tiered_counters_t counters;
    nic_histogram_t paths[TIERED_PATH_COUNT];
    nic_histogram_t all;
    nic_histogram_t met; // accesses that met a move
    nic_histogram_t move_times;
    sim_time_t counted_from_ps;
    uint32_t *recorded;
    size_t recorded_count;
    size_t recorded_capacity;
    size_t recorded_from;
} tiered_t;

static inline tiered_partition_t *nic__tiered_part(tiered_t *tiered, const tiered_token_t *token)
{
    return &tiered->parts[token->type == NIC_TOKEN_QP ? 0 : 1];
}
static inline uint32_t nic__tiered_number(const tiered_t *tiered, const tiered_token_t *token)
{
    return (uint32_t)(token - tiered->tokens);
}
static inline void nic__tiered_move_time_on(tiered_t *tiered, sim_time_t time_ps)
{
    tiered->now_ps = SIM_MAX(time_ps, tiered->now_ps);
    tiered->cxl.own_ps = 0;
}
// Returns the staged copy of a token that has one.
static inline tiered_image_t *nic__tiered_staged(const tiered_t *tiered,
                                                 const tiered_token_t *token)
{
    return &tiered->parts[token->type == NIC_TOKEN_QP ? 0 : 1].staged[token->staging];
}
// Returns what the driver has noted about an object.
static inline nic_record_t *nic__tiered_record(const tiered_t *tiered, const tiered_token_t *token)
{
    return nic_l3_record(&tiered->l3[token->type], token->index);
}
// Returns the entry of a token in L1.
static inline nic_l1_entry_t *nic__tiered_entry(tiered_t *tiered, const tiered_token_t *token)
{
    SIM_ASSERT(token->l1_slot != TIERED_NONE);
    return &nic__tiered_part(tiered, token)->entries[token->l1_slot];
}
// Uses as the policy counts them (lfu: all; hybrid: since it is in L1, halved by aging), and the
// last access: in the entry of L1, or beside the directory.
static inline uint64_t nic__tiered_uses(tiered_t *tiered, const tiered_token_t *token)
{
    return nic__tiered_in_l1_slot(token) ? nic__tiered_entry(tiered, token)->freq
                                         : token->away_uses;
}
static inline void nic__tiered_set_uses(tiered_t *tiered, tiered_token_t *token, uint64_t uses)
{
    const uint32_t freq = uses < UINT32_MAX ? (uint32_t)uses : UINT32_MAX;
    if (nic__tiered_in_l1_slot(token)) {
        nic__tiered_entry(tiered, token)->freq = freq;
    } else {
        token->away_uses = freq;
    }
}
static inline sim_time_t nic__tiered_last_access(tiered_t *tiered, const tiered_token_t *token)
{
    return nic__tiered_in_l1_slot(token) ? nic__tiered_entry(tiered, token)->last_access_ps
                                         : token->away_access_ps;
}
// Notes an access that happens now.
static inline void nic__tiered_set_last_access(tiered_t *tiered, tiered_token_t *token)
{
    if (nic__tiered_in_l1_slot(token)) {
        nic__tiered_entry(tiered, token)->last_access_ps = tiered->now_ps;
    } else {
        token->away_access_ps = tiered->now_ps;
    }
}

// Returns whether the directory is a table of handles.
static inline bool nic__tiered_by_handle(const tiered_t *tiered)
{
    return tiered->config.handles != 0;
}

// -- lookup.c

extern const nic_store_ops_t nic__store_tiered;

#endif // NIC_STORE_TIERED_TIERED_H
