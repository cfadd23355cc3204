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
//     move.c     the thresholds' moves, the maintenance worker
//     rules/     what moves together, and thresholds that adapt
//     batch.c    the miss queue, and the staging areas
//     table.c    page tables
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
#include "nic/store/tiered/directory/buckets.h"
#include "nic/store/tiered/driver/server.h"
#include "nic/store/tiered/histogram.h"
#include "nic/store/tiered/pages.h"
#include "nic/store/tiered/protocol.h"
#include "nic/store/tiered/rules/shadow.h"
#include "nic/store/tiered/window.h"

#define TIERED_NONE UINT32_MAX
// Bytes of an L1 entry without its fields, beside an uncompressed context.
#define TIERED_ENTRY_BARE_BYTES 20u

typedef enum tiered_path { TIERED_L1, TIERED_L2, TIERED_EXPAND, TIERED_PATH_COUNT } tiered_path_t;

// A unit that waits for tokens of batches.
typedef struct tiered_waiter {
    sim_timer_t *timer;
    sim_time_t least_ps;
    uint32_t missing;           // tokens
    struct tiered_waiter *next; // that is free
} tiered_waiter_t;

// Says which unit waits for a token.
typedef struct tiered_link {
    tiered_waiter_t *waiter;
    sim_time_t begin_ps;
    struct tiered_link *next;
} tiered_link_t;

// A token as the NIC works with it: the entry of L1, and the context of what fits in no token.
typedef struct tiered_image {
    nic_l1_entry_t entry;
    uint8_t context[NIC_CONTEXT_BYTES_MAX]; // only where it is not compressed
} tiered_image_t;

typedef enum tiered_prefetch {
    TIERED_ASKED_FOR,
    TIERED_NEIGHBOUR, // came to L2 with another one
    TIERED_PRESTAGED, // the driver staged it
} tiered_prefetch_t;

// A change of a token: it reads the token's version at begin_ps and swaps it at end_ps.
typedef struct tiered_change {
    sim_time_t begin_ps;
    sim_time_t end_ps;
    bool rewrites; // by the driver: state or rights, and the version
} tiered_change_t;

typedef struct tiered_token {
    nic_cell_t cell;
    uint64_t key;
    uint8_t host_word[NIC_SMALL_FIELDS_BYTES]; // hot word of its context in the host
    uint64_t contents;      // hot word as it is: what no copy may fall behind unnoticed
    uint64_t changes;       // number of accesses that have changed it
    uint64_t owner_changes; // number of these changes in the copy of the tier that owns it
    uint64_t host_changes;  // number of these changes in the host's copy
    uint32_t away_uses;     // outside L1: frequency and last access of its next entry there
    sim_time_t away_access_ps;
    nic_window_t window;
    sim_time_t here_ps;       // what was asked for last is on the NIC; or the end of its move
    tiered_change_t *windows; // changes that are booked; those that are over may be left out
    uint32_t window_count;
    uint32_t window_capacity;
    uint32_t pending; // writes of accesses that wait for the end of its move
    uint32_t l1_slot; // TIERED_NONE: none
    uint32_t staging; // place in the staging area; TIERED_NONE: none
    uint32_t newer;   // in L2, by last use
    uint32_t older;
    uint32_t move;   // in the heap of moves; TIERED_NONE: none
    uint32_t order;  // that the driver has not taken up yet; TIERED_NONE: none
    uint32_t index;  // in the pool of its type
    uint32_t object; // number of the queue pair, CQ or PD, or the key of the region
    uint8_t type;    // nic_token_type_t
    bool live;
    bool compressed;
    bool queued; // in the miss queue or on its way from there
    bool staged_dirty;
    uint8_t prefetched; // tiered_prefetch_t, as long as it is not used
    uint32_t queued_offset;
    sim_time_t lands_ps; // of its batch; SIM_TIME_NEVER: it is in the queue
    tiered_link_t *waiters;
} tiered_token_t;

typedef struct tiered_partition {
    uint32_t slots; // of L1
    uint32_t units; // of 28 bytes: capacity
    uint32_t units_used;
    uint32_t units_max;
    uint32_t slots_used;
    uint32_t slots_max;
    uint32_t *held;          // token by slot; TIERED_NONE: free
    nic_l1_entry_t *entries; // by slot
    uint8_t **contexts;      // by slot: of what is not compressed, else NULL
    uint32_t *free;          // stack of free slots
    uint32_t free_count;
    const nic_policy_ops_t *policy; // in use
    void *ranks;
    const nic_policy_ops_t *configured;
    nic_shadows_t *shadows; // of policy hybrid with adaptive.rule shadow; else NULL
    nic_shadow_way_t way;
    uint64_t way_changes;
    bool l2_closed; // L1 gives tokens up to L3, and what an expand brings does not go to L2
    nic_pages_t pages[NIC_TOKEN_TYPE_COUNT]; // L2; types that are not of the partition have none
    uint64_t l2_bytes;                       // capacity, of all pages together
    uint64_t l2_used_bytes;
    uint64_t l2_used_bytes_max;
    uint32_t anchor;        // of the ring by last use: a token that stands for none
    uint32_t *staging;      // ring of tokens
    tiered_image_t *staged; // by place of the ring
    uint32_t staging_entries;
    uint32_t staging_next;
    nic_cache_path_t path;
    uint64_t promote_l1; // as adapted
    uint64_t promote_l2;
    uint64_t promote_l1_set; // as configured
    uint64_t promote_l2_set;
} tiered_partition_t;

typedef struct tiered_cxl {
    sim_time_t read_free_ps;
    sim_time_t write_free_ps;
    uint64_t read_bytes;
    uint64_t write_bytes;
    sim_time_t busy_ps;
    sim_time_t own_ps; // of reads that the access at hand has booked
} tiered_cxl_t;

// The purpose of a background request to the driver.
typedef enum tiered_order_kind {
    TIERED_ORDER_CONTEXT, // the token's context, for which a queue pair waits
    TIERED_ORDER_L1,      // a move to L1
    TIERED_ORDER_L2,      // a move to L2
} tiered_order_kind_t;

typedef struct tiered_order {
    uint8_t kind;   // tiered_order_kind_t
    bool counted;   // its time is that of an access
    uint8_t type;   // of its tokens
    uint32_t count; // of tokens; one that has gone is TIERED_NONE
    uint32_t *tokens;
    sim_time_t begin_ps;
    sim_time_t before_ps; // time that passes until the driver has it, added at the end
    sim_time_t work_ps;
    uint32_t next; // in the list of free orders
} tiered_order_t;

typedef struct tiered_move {
    sim_time_t begin_ps;
    sim_time_t end_ps; // SIM_TIME_NEVER: the driver has not taken it up yet
    uint32_t token;
} tiered_move_t;

// The resources that were busy in the last interval of adaptation.
typedef struct tiered_busy {
    bool links;  // PCIe or the link of L2 is nearly full
    bool l2;     // the link of L2 is
    bool driver; // the driver's core is busy, by adaptive.cpu
} tiered_busy_t;

// Idle tokens that one transfer demotes.
typedef struct tiered_demotions {
    uint32_t to;
    uint32_t count;
    uint32_t *tokens;
} tiered_demotions_t;

#define TIERED_HEATS 4096u
// The driver's record of recent requests for one cluster in host memory.
typedef struct tiered_heat {
    uint64_t name; // type and first key; 0: none
    nic_window_t requests;
} tiered_heat_t;

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
    uint64_t directory_lines; // buckets that they read
    uint64_t directory_writes;
    uint64_t directory_growths;
    uint64_t agings;
    uint64_t maintenance_runs;
    uint64_t raised; // thresholds
    uint64_t lowered;
    uint64_t resets;
    uint64_t lost_writes;
    uint64_t dirty_lost; // tokens
    uint64_t refused;    // expands of contexts that the NIC may not touch
    uint64_t corrupt;    // tokens in L2 whose bytes were found corrupt
    uint64_t dma_read_bytes;
    uint64_t dma_write_bytes;
    uint64_t hurried; // orders that became urgent
    uint64_t doorbell_waits;
    uint64_t wqe_reads;
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
    nic_server_t driver;
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
    tiered_pool_t pools[NIC_TOKEN_TYPE_COUNT];
    uint32_t type_live[NIC_TOKEN_TYPE_COUNT];
    uint32_t type_peak[NIC_TOKEN_TYPE_COUNT];
    uint64_t pins;
    sim_time_t reset_ps;
    uint32_t uncompressed;
    tiered_partition_t parts[2];     // 0: queue pairs
    tiered_demotions_t demotions[3]; // L1 to L2, L1 to L3, L2 to L3
    tiered_heat_t *heats;            // by hash, the last one of each
    nic_window_t moved;              // migrations
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
static inline uint32_t nic__tiered_units(const tiered_token_t *token)
{
    const uint32_t bytes =
        TIERED_ENTRY_BARE_BYTES + nic_context_bytes((nic_token_type_t)token->type);
    const uint32_t unit = (uint32_t)sizeof(nic_l1_entry_t);
    return token->compressed ? 1 : (bytes + unit - 1) / unit;
}
// Returns the bytes that an object of the type takes in L2 and on links: its token and its hot
// word, or its context, which has that word inside.
static inline uint32_t nic__tiered_slot_bytes(nic_token_type_t type, bool compressed)
{
    const uint32_t hot_bytes =
        nic_context_hot_offset(type) == UINT32_MAX ? 0 : NIC_SMALL_FIELDS_BYTES;
    return compressed ? nic_token_bytes(type) + hot_bytes : nic_context_bytes(type);
}
static inline uint32_t nic__tiered_bytes(const tiered_token_t *token)
{
    return nic__tiered_slot_bytes((nic_token_type_t)token->type, token->compressed);
}
static inline void nic__tiered_move_time_on(tiered_t *tiered, sim_time_t time_ps)
{
    tiered->now_ps = SIM_MAX(time_ps, tiered->now_ps);
    tiered->cxl.own_ps = 0;
}
static inline bool nic__tiered_in_l1(const tiered_token_t *token)
{
    return token->cell.state == NIC_TOKEN_IN_L1;
}
static inline bool nic__tiered_in_l1_slot(const tiered_token_t *token) // also while it moves away
{
    return token->l1_slot != TIERED_NONE;
}

// Returns the staged copy of a token that has one.
static inline tiered_image_t *nic__tiered_staged(const tiered_t *tiered,
                                                 const tiered_token_t *token)
{
    return &tiered->parts[token->type == NIC_TOKEN_QP ? 0 : 1].staged[token->staging];
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

// -- cost.c: each returns how long it takes from now on, and occupies what it needs

sim_time_t nic__tiered_cxl_read(tiered_t *tiered, uint64_t bytes);
sim_time_t nic__tiered_cxl_write(tiered_t *tiered, uint64_t bytes);
// Looks tokens up in the directory, all at a time: each reads one bucket after the other.
sim_time_t nic__tiered_read_directory(tiered_t *tiered, const uint32_t *tokens, uint32_t count);
// Writes a changed entry of the directory; nobody waits for it.
void nic__tiered_write_directory(tiered_t *tiered);
// Copies the directory into `buckets` buckets.
void nic__tiered_copy_directory(tiered_t *tiered, uint32_t buckets);
// Writes a request to the driver's mailbox.
sim_time_t nic__tiered_mailbox(tiered_t *tiered);
// Returns how long the driver's core works on a request for `count` tokens like this one.
sim_time_t nic__tiered_driver_work_ps(const tiered_t *tiered, const tiered_token_t *token,
                                      uint32_t count);
// Transfers the contexts of tokens (TIERED_NONE: none) from the host to the NIC, or to L2 with
// `stage`.
sim_time_t nic__tiered_answer(tiered_t *tiered, nic_token_type_t type, const uint32_t *tokens,
                              uint32_t count, bool stage);
// Expands a token for which an access waits: an urgent request to the driver, the driver's work,
// and the transfer of the context to the NIC.
sim_time_t nic__tiered_expand(tiered_t *tiered, const tiered_token_t *token);
sim_time_t nic__tiered_dma_read(tiered_t *tiered, uint64_t bytes);
sim_time_t nic__tiered_dma_write(tiered_t *tiered, uint64_t bytes);

// Returns whether the context of a token that is with the host lies in a page that the NIC may not
// touch. The second one counts a fault.
bool nic__tiered_denied(const tiered_t *tiered, const tiered_token_t *token);
bool nic__tiered_refused(const tiered_t *tiered, const tiered_token_t *token);

// -- conflicts.c

// Swaps the hot word of an entry after after_ps, again for each change that it meets, at most
// cas-retries times before it takes the lock. Returns the time from then on.
sim_time_t nic__tiered_swap(tiered_t *tiered, tiered_token_t *token, sim_time_t after_ps);
// Books the driver's rewrite of state or rights, which takes took_ps from now on; again for each
// change that it meets.
void nic__tiered_rewrite_takes(tiered_t *tiered, tiered_token_t *token, sim_time_t took_ps);
// Returns what an access sees that looks at the directory at a time that is not over: versions and
// layers follow from rewrites and moves that are booked.
nic_cell_view_t nic__tiered_view_at(const tiered_t *tiered, const tiered_token_t *token,
                                    sim_time_t time_ps);

// -- driver/orders.c

// Queues a background request for tokens of one type. It reaches the driver before_ps from now on.
// `counted`: the time that it takes is that of an access.
void nic__tiered_order(tiered_t *tiered, tiered_order_kind_t kind, const uint32_t *tokens,
                       uint32_t count, sim_time_t before_ps, bool counted);
void nic__tiered_drive(tiered_t *tiered); // takes up what the driver starts by now
// Makes the order of a token urgent, if the driver has not taken it up yet.
void nic__tiered_hurry(tiered_t *tiered, const tiered_token_t *token);
// Returns when a token is on the NIC, or the earliest such time if its order waits for the driver.
sim_time_t nic__tiered_here_ps(const tiered_t *tiered, const tiered_token_t *token);
void nic__tiered_forget_order(tiered_t *tiered, tiered_token_t *token);
void nic__tiered_orders_fini(tiered_t *tiered);

// -- place.c

void nic__tiered_parts_init(tiered_t *tiered, uint64_t seed);
void nic__tiered_parts_fini(tiered_t *tiered);
// Makes room in L1 and puts an image there. The token must not be in a tier.
void nic__tiered_fill_l1(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image);
bool nic__tiered_l1_has_room(tiered_t *tiered, const tiered_token_t *token);
bool nic__tiered_has_l2(const tiered_t *tiered, const tiered_token_t *token);
// Makes room in L2 and puts an image there; false: there is none to be had.
bool nic__tiered_fill_l2(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image);
void nic__tiered_leave(tiered_t *tiered, tiered_token_t *token); // its tier, L1 or L2
void nic__tiered_use_l2(tiered_t *tiered, tiered_token_t *token);
// Moves it at once, contents and all; counts the migration. It takes took_ps.
void nic__tiered_move_now(tiered_t *tiered, tiered_token_t *token, uint32_t to, sim_time_t took_ps);
// Writes what is dirty in L1 or L2 back where the token goes.
sim_time_t nic__tiered_write_back(tiered_t *tiered, tiered_token_t *token, uint32_t to);
uint64_t nic__tiered_occupied_saving(const tiered_t *tiered);

// Like nic__tiered_write_back, for tokens of the same tier in one transfer.
sim_time_t nic__tiered_write_back_all(tiered_t *tiered, const uint32_t *tokens, uint32_t count,
                                      uint32_t to);

// -- rules/cluster.c

// Promotes a token to L2, together with its cluster in host memory as far as L2 has room. One
// request and one transfer move them all.
void nic__tiered_promote_to_l2(tiered_t *tiered, tiered_token_t *token);
// Promotes a token of L2 to L1, together with tokens of its page that are nearly as hot.
void nic__tiered_promote_page(tiered_t *tiered, tiered_token_t *token);
// Demotes an idle token together with others: the move begins when there are enough of them, or
// with nic__tiered_demote_gathered.
void nic__tiered_demote(tiered_t *tiered, const tiered_token_t *token, uint32_t to);
void nic__tiered_demote_gathered(tiered_t *tiered, tiered_demotions_t *down);
// Notes that the driver was asked for a context; it may stage the token's cluster.
void nic__tiered_note_expand(tiered_t *tiered, const tiered_token_t *token);

// -- move.c

// Begins a move that takes took_ps; SIM_TIME_NEVER: nic__tiered_end_move_at gives its end.
void nic__tiered_begin_move(tiered_t *tiered, tiered_token_t *token, uint32_t to,
                            sim_time_t took_ps);
void nic__tiered_use_prefetched(tiered_t *tiered, tiered_token_t *token);
bool nic__tiered_may_move(const tiered_token_t *token);
// Returns whether a token is used more often than the victim of a full L1, which it would replace.
bool nic__tiered_is_hotter(tiered_t *tiered, const tiered_token_t *token, uint64_t count);
// Returns the uses of a token within the window.
uint64_t nic__tiered_count(tiered_t *tiered, tiered_token_t *token);

// Applies the policy after an access. `counted`: the access counts as a use of the token;
// otherwise it may only have fetched it.
void nic__tiered_after_access(tiered_t *tiered, tiered_token_t *token, bool counted);
void nic__tiered_consider(tiered_t *tiered, tiered_token_t *token); // whether it is to be promoted
void nic__tiered_catch_up(tiered_t *tiered);                        // what is due by now_ps
void nic__tiered_forget_move(tiered_t *tiered, tiered_token_t *token);
void nic__tiered_end_move_at(tiered_t *tiered, const tiered_token_t *token, sim_time_t end_ps);

// -- rules/follow.c

void nic__tiered_shadows_init(tiered_t *tiered, uint64_t seed);
void nic__tiered_shadows_fini(tiered_t *tiered);
// Puts a token that was used, and is not in L1, where the way in use wants it.
void nic__tiered_place(tiered_t *tiered, tiered_token_t *token);
// Lets a partition follow the miniature that costs least.
void nic__tiered_follow(tiered_t *tiered, uint32_t p, const tiered_busy_t *busy);

// -- rules/adapt.c

void nic__tiered_adapt(tiered_t *tiered); // the thresholds of both partitions

// -- batch.c

void nic__tiered_batch_fired(sim_node_t *node, sim_timer_t *timer);
void nic__tiered_queue_miss(tiered_t *tiered, tiered_token_t *token);
// Notes that the lookup at hand waits for a token of the miss queue.
void nic__tiered_ask(tiered_t *tiered, uint32_t number);
// Fetches a token of L2 that nobody can wait for: the worker starts at once, and takes the queue
// along. Returns the time it takes.
sim_time_t nic__tiered_fetch_now(tiered_t *tiered, tiered_token_t *token);
void nic__tiered_wait(nic_store_t *store, sim_timer_t *timer, sim_time_t least_ps);
// Puts an image into the staging area; NULL: what the tier has that owns the token.
void nic__tiered_stage(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image);
sim_time_t nic__tiered_behind_ps(const tiered_t *tiered); // 0: L2 keeps up
void nic__tiered_batch_fini(tiered_t *tiered);

// -- object.c

nic_token_type_t nic__tiered_type_of(nic_store_kind_t kind);
// Finds the token of a key. Returns its index, or TIERED_NONE.
uint32_t nic__tiered_find(const tiered_t *tiered, nic_token_type_t type, uint64_t key);
// Makes a token, in L3, and returns its index. The call invalidates pointers to tokens.
uint32_t nic__tiered_make(tiered_t *tiered, nic_token_type_t type, uint64_t key);
void nic__tiered_add(nic_store_t *store, nic_store_kind_t kind, uint64_t key);
void nic__tiered_change(nic_store_t *store, nic_store_kind_t kind, uint64_t key);
void nic__tiered_remove(nic_store_t *store, nic_store_kind_t kind, uint64_t key);
void nic__tiered_reset(tiered_t *tiered);
// Computes the full context that a token stands for, as the driver knows it. Returns false if there
// is no such object (any more).
bool nic__tiered_context_of(const tiered_t *tiered, const tiered_token_t *token,
                            nic_context_t *context);

// -- contents.c

// Returns the places of a token's hot word: the host's, and that of the tier that owns it.
nic_copies_t nic__tiered_copies(tiered_t *tiered, tiered_token_t *token);
// Returns the hot word of the tier that owns a token.
uint64_t nic__tiered_word(const tiered_t *tiered, const tiered_token_t *token);
// Returns the hot word of the staged copy, if there is one, else that of the owner.
uint64_t nic__tiered_newest_word(const tiered_t *tiered, const tiered_token_t *token);
// Fills an image from the driver's fields and the host's hot word. Returns false if there is no
// such object (any more).
bool nic__tiered_from_host(const tiered_t *tiered, const tiered_token_t *token,
                           tiered_image_t *image);
// Fills an image from the tier that owns the token. Returns false if its bytes in L2 were corrupt;
// then they and the image were made anew from the host, without changes that the host lacks.
bool nic__tiered_fetch(tiered_t *tiered, tiered_token_t *token, tiered_image_t *image);
// Ends the program if what the NIC works with is not what was written last, or not what the object
// is.
void nic__tiered_use(const tiered_t *tiered, const tiered_token_t *token, tiered_image_t *image);
uint32_t nic__tiered_encode(const tiered_token_t *token, const tiered_image_t *image,
                            uint8_t *bytes);
// Decodes bytes of L2. Returns false if they are corrupt.
bool nic__tiered_decode(const tiered_token_t *token, const uint8_t *bytes, tiered_image_t *image);
void nic__tiered_put_l1(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image);
// Changes the hot word of a token after an access, in the copy that the access used, or after the
// move that the access waits for.
void nic__tiered_note_write(tiered_t *tiered, tiered_token_t *token);
// Makes the writes that have waited for the end of a move.
void nic__tiered_write_pending(tiered_t *tiered, tiered_token_t *token);
// Writes changed rights or another state into all copies on the NIC and in L2.
void nic__tiered_rewrite(tiered_t *tiered, tiered_token_t *token);
// Takes a token out of the staging area, and writes a changed hot word back.
void nic__tiered_unstage(tiered_t *tiered, tiered_token_t *token);
// Counts the changes of a token that are lost; `changes` and `word` are left.
void nic__tiered_lose(tiered_t *tiered, tiered_token_t *token, uint64_t changes, uint64_t word);

// -- table.c

void nic__tiered_table_init(tiered_t *tiered, uint64_t seed);
void nic__tiered_table_fini(tiered_t *tiered);
// Reads a translation that the NIC lacks. Returns the time at which it arrives.
sim_time_t nic__tiered_read_table(tiered_t *tiered, uint64_t page);

// -- lookup.c

extern const nic_store_ops_t nic__store_tiered;

#endif // NIC_STORE_TIERED_TIERED_H
