// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/adamap_internal.h - the transport "adamap": state of a queue pair and of a
// NIC.
//
//     receiver   open map   the newest packets, on the NIC
//                list       closed maps whose packets were asked for once: the first `cached` on
//                           the NIC, the rest a chain in the host's knitting buffer
//                table      pieces of maps whose packets were asked for again: by index, in blocks
//                           of the same buffer, the latest `table-cache` on the NIC
//     sender     queue      the packets that maps miss, sent before anything new
//
// Packets carry the round they are sent in (0: first) and the index of the table's entry.
#ifndef NIC_TRANSPORT_ADAMAP_ADAMAP_INTERNAL_H
#define NIC_TRANSPORT_ADAMAP_ADAMAP_INTERNAL_H

#include "nic/core.h"
#include "nic/transport/adamap/knitting.h"
#include "nic/transport/selective/early_packets.h"
#include "nic/transport/selective/resend.h"
#include "nic/transport/stalled_pipeline.h"

#define NIC_ADAMAP_TABLE_CACHE_MAX 16u

// The NIC's view of a chain in the host's memory.
typedef enum nic_adamap_chain {
    NIC_ADAMAP_LINKED, // a block's address only when it has read the block before
    NIC_ADAMAP_KNOWN,  // all addresses: nothing waits for them (list_known.c)
} nic_adamap_chain_t;

// The socket whose memory holds the knitting buffer: the NIC's own, or the next one.
typedef enum nic_adamap_location { NIC_ADAMAP_NEAR, NIC_ADAMAP_FAR } nic_adamap_location_t;

typedef struct nic_adamap_config {
    nic_adamap_chain_t chain;
    uint64_t bits;
    uint64_t cached;
    uint64_t watermark;
    uint64_t table_cache;
    sim_time_t scan_interval_ps;
    sim_time_t expire_after_ps; // beyond the base round trip
    sim_time_t close_after_ps;
    sim_time_t timeout_ps;      // SIM_AUTO: 3 base round trips and 200 us
    sim_time_t read_latency_ps; // SIM_AUTO: over PCIe
    uint64_t dma_rate_bps;
    sim_time_t insert_ps;
    sim_time_t return_ps;
    uint64_t run_blocks;
    uint64_t wait_packets;
    uint64_t drain_bps; // SIM_AUTO: 5/4 of the link's rate
    uint64_t stall_bytes;
    uint64_t resend_entries;
    uint64_t late_requests;
    nic_adamap_location_t location;
    uint64_t blocks_max;
    uint64_t block_align_bytes;
    uint64_t chunk_blocks;
    sim_time_t sample_ps;
} nic_adamap_config_t;

// An entry of the table: a piece of at most b packets. Entries are in order of their indices, which
// is that of their PSNs, in a ring; by time of their last request they are in a list.
typedef struct nic_adamap_entry {
    nic_adamap_t map;
    uint64_t task;  // that puts it into a block; meaningful while block is NIC_KNITTING_NONE
    uint32_t block; // NIC_KNITTING_NONE: the core has not taken one yet
    uint32_t older; // indices, in the list by time
    uint32_t newer;
    uint8_t round; // round of the latest packet that filled it, or of its latest request
    bool live;
    bool dirty; // its block says less than the map on the NIC
} nic_adamap_entry_t;

#define NIC_ADAMAP_NO_INDEX UINT32_MAX

// A request for the missing packets of a map, which waits for host memory.
typedef struct nic_adamap_late {
    sim_time_t ready_ps;
    nic_adamap_t map;
    uint32_t index;
    uint8_t round;
} nic_adamap_late_t;

// A packet that waits for its map, or for its entry of the table.
typedef struct nic_adamap_waiter {
    net_packet_t *packet;
    sim_time_t since_ps;
    sim_time_t ready_ps; // of an entry: when it is on the NIC
} nic_adamap_waiter_t;

typedef struct nic_adamap_waiters {
    nic_adamap_waiter_t *ring;
    uint32_t capacity; // power of two
    uint32_t first;    // both run freely
    uint32_t end;
} nic_adamap_waiters_t;

// An entry of the fifo from the NIC to its host's core.
typedef enum nic_adamap_task_kind {
    NIC_ADAMAP_INSERT, // a map, at the tail of its chain
    NIC_ADAMAP_PIECE,  // an entry of the table
    NIC_ADAMAP_RETURN, // a block that is done with
} nic_adamap_task_kind_t;

typedef struct nic_adamap_task {
    sim_time_t done_ps;             // when the core has done it
    struct nic_adamap_state *state; // NULL: its queue pair is gone
    nic_adamap_t map;
    uint32_t number; // index of the piece, or block
    nic_adamap_task_kind_t kind;
} nic_adamap_task_t;

// The number of maps over time: the area below the curve, at whole steps since the first packet. A
// step is a round trip at first, and doubles whenever there are FLIGHT_MARKS.
#define NIC_ADAMAP_FLIGHT_MARKS 1024u
typedef struct nic_adamap_flight {
    sim_time_t first_ps; // first packet; 0: none yet
    sim_time_t new_ps;   // latest new packet
    sim_time_t rtt_ps;
    sim_time_t step_ps;
    sim_time_t counted_ps; // up to here
    double area;           // maps x ps
    double *marks;         // the area at first_ps + i x step_ps
    uint32_t mark_count;
} nic_adamap_flight_t;

// The state that all queue pairs of one NIC share, and their counters.
typedef struct nic_adamap_shared {
    nic_knitting_t knitting;
    sim_time_t read_busy_ps; // the channels of the DMA engine
    sim_time_t write_busy_ps;
    nic_core_t *core; // the core that inserts maps; NULL before the first map
    nic_t *nic;
    nic_adamap_task_t *tasks; // ring
    uint64_t task_capacity;   // power of two
    uint64_t task_first;      // both run freely
    uint64_t task_end;
    sim_timer_t task_timer;
    nic_gate_t gate;
    uint64_t waiting;   // packets, of all queue pairs
    uint64_t table_now; // entries of tables now
    // maps held now, by all queue pairs; samples of it at whole multiples of the sampling interval
    uint64_t nodes_now;
    uint64_t nodes_peak;
    sim_time_t sample_ps;
    uint64_t sampled;  // intervals since the start
    uint64_t *samples; // by number of maps: how many intervals ended with it
    uint64_t samples_capacity;
    nic_adamap_flight_t flight;
    struct nic_adamap_counters {
        uint64_t retransmitted;
        uint64_t by_round[NIC_RESEND_ROUNDS];
        uint64_t rounds_max;
        uint64_t left_out;
        uint64_t resend_entries_max; // of a queue pair
        uint64_t resend_refused;     // packets that a full queue of retransmissions left out
        uint64_t late_max;           // requests of a queue pair that waited for host memory
        uint64_t late_refused;       // requests that a full ring of them left out
        uint64_t nodes_closed;
        uint64_t requests;    // maps asked for, all rounds
        uint64_t list_access; // by first retransmissions
        uint64_t prefetch_hits;
        uint64_t prefetch_stalls;
        uint64_t stalled_ps;
        uint64_t prefetches;
        uint64_t dma_reads;
        uint64_t dma_read_bytes;
        uint64_t dma_writes;
        uint64_t dma_write_bytes;
        uint64_t table_entries;
        uint64_t table_access;
        uint64_t table_hits;
        uint64_t list_expired;
        uint64_t table_expired;
        uint64_t resent_at_once; // entries left behind, asked for at once
        uint64_t duplicates;
        uint64_t late_dropped;     // packets that no map knew any more, or not yet
        uint64_t no_block_dropped; // packets that needed a block when there was none
        uint64_t rereads;          // reads of a word that named no next block yet
        uint64_t waiting_max;      // packets that waited for maps or entries at a time
        uint64_t probes;
        uint64_t repaired;
        uint64_t repair_ps;
        uint64_t repair_ps_max;
        uint64_t work; // steps of the NIC's control path: look-ups, bits, list moves
        uint64_t nic_bytes_per_qp;
    } counters;
} nic_adamap_shared_t;

typedef struct nic_adamap_state {
    nic_transport_t base; // first
    nic_resend_t resend;
    nic_early_t kept;
    sim_time_t base_rtt_ps;
    sim_time_t timeout_ps;
    sim_time_t active_ps; // time of the last packet sent, or control packet received
    sim_time_t quiet_ps;  // where silent is not 0: nothing was heard since then
    uint32_t silent;      // time-outs since the peer was last heard
    // receiver
    uint32_t unheard; // scans that asked again since a packet of the peer came
    nic_adamap_open_t open;
    sim_time_t open_touched_ps;
    nic_adamap_t *cached; // ring of config->cached
    uint32_t cached_first;
    uint32_t cached_count;
    nic_knitting_chain_t chain;
    // chain: linked
    uint32_t asked; // blocks that the read under way brings; 0: there is none
    bool refill;    // the NIC reads until it has `cached` maps
    bool peeked;    // the head's map is on the NIC, but not the address of the next block
    bool polling;   // the NIC reads the head's word again and again
    sim_time_t poll_from_ps;
    sim_timer_t read_timer;
    nic_adamap_waiters_t waiters;
    // chain: known
    uint32_t arriving; // maps of the chain that are being read into the NIC
    sim_time_t arriving_ready_ps;
    sim_time_t list_ready_ps; // when the list has dealt with everything that came before
    uint64_t list_pieces;
    uint32_t next_id;
    nic_adamap_entry_t *entries; // ring by index
    uint32_t entry_capacity;
    uint32_t entry_first;
    uint32_t entry_end;
    uint32_t oldest;
    uint32_t newest;
    uint32_t live_count;
    uint32_t latest_index; // the latest entry that a packet filled
    nic_adamap_waiters_t entry_waiters;
    sim_timer_t entry_timer;
    uint32_t lru[NIC_ADAMAP_TABLE_CACHE_MAX]; // the latest first
    nic_adamap_late_t *late;                  // ring of at most config->late_requests
    uint32_t late_capacity;
    uint32_t late_first;
    uint32_t late_end;
    sim_timer_t open_timer;
    sim_timer_t list_timer;
    sim_timer_t table_timer;
    sim_timer_t late_timer;
} nic_adamap_state_t;

static inline nic_adamap_state_t *nic__adamap_of(nic_qp_t *qp)
{
    return (nic_adamap_state_t *)(void *)nic_transport_of(qp);
}
static inline nic_adamap_shared_t *nic__adamap_shared(const nic_adamap_state_t *state)
{
    return state->base.nic_state;
}
static inline const nic_adamap_config_t *nic__adamap_config(const nic_adamap_state_t *state)
{
    return state->base.config;
}
static inline sim_time_t nic__adamap_now(const nic_adamap_state_t *state)
{
    return nic_transport_node(state->base.qp)->now_ps;
}

extern const sim_attr_table_t nic__adamap_attrs;
uint32_t nic__adamap_nic_bytes(const nic_adamap_config_t *config);

// Returns true if a core of the host inserts maps and returns blocks; else the NIC does that
// itself, at once.
static inline bool nic__adamap_has_core(const nic_adamap_config_t *config)
{
    return config->chain == NIC_ADAMAP_LINKED && config->insert_ps != 0;
}

// The state of a packet in a map.
typedef enum nic_adamap_match {
    NIC_ADAMAP_UNKNOWN, // none knows it, or blocks are lacking: nothing was changed
    NIC_ADAMAP_MATCHED,
    NIC_ADAMAP_WAITS, // its map, or the entry, has to be read first
} nic_adamap_match_t;

// receive.c
void nic__adamap_open_receiver(nic_adamap_state_t *state);
void nic__adamap_close_receiver(nic_adamap_state_t *state);
void nic__adamap_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
// Asks for the missing packets of a map, at `ready_ps`.
void nic__adamap_ask(nic_adamap_state_t *state, const nic_adamap_t *map, uint8_t round,
                     uint32_t index, sim_time_t ready_ps);
// Takes a packet, which may have waited. Returns false, and leaves the packet, if it has to wait.
bool nic__adamap_take(nic_adamap_state_t *state, net_packet_t *packet, bool waited);

// list.c
// Claims what a closed map needs to join the list. Returns false, and counts that, if there is no
// room.
bool nic__adamap_list_claim(nic_adamap_state_t *state);
// Adds a closed map to the list, in the room that was claimed. Returns when the map is stored; its
// request waits until then.
sim_time_t nic__adamap_list_append(nic_adamap_state_t *state, const nic_adamap_t *map);
// Takes the first retransmission of psn. waited: it did, so it was counted.
nic_adamap_match_t nic__adamap_list_match(nic_adamap_state_t *state, uint64_t psn, uint32_t span,
                                          bool waited);
// Returns whether another scan follows a scan of a list or table that still has something (expired:
// it asked for some of it again). A peer that answered none of this number of scans is gone or
// waits for a time-out of its own; its next packet wakes the scans.
#define NIC_ADAMAP_UNHEARD_MAX 64u
static inline bool nic__adamap_asks_on(nic_adamap_state_t *state, bool expired)
{
    state->unheard += expired && state->unheard < NIC_ADAMAP_UNHEARD_MAX;
    return state->unheard < NIC_ADAMAP_UNHEARD_MAX;
}

// Returns how many maps of the list are not on the NIC.
static inline uint32_t nic__adamap_beyond(const nic_adamap_state_t *state)
{
    return nic__chain_count(&state->chain) - state->peeked;
}
static inline uint64_t nic__adamap_list_count(const nic_adamap_state_t *state)
{
    return (uint64_t)state->cached_count + nic__adamap_beyond(state);
}
void nic__adamap_list_fired(sim_node_t *node, sim_timer_t *timer);

// chain.c: what the NIC reads of a linked chain, and who waits for it
// Reads on if few maps are left on the NIC, or a packet waits.
void nic__adamap_refill(nic_adamap_state_t *state);
// Says that the core has linked a block.
void nic__adamap_note_linked(nic_adamap_state_t *state);
void nic__adamap_read_fired(sim_node_t *node, sim_timer_t *timer);
void nic__adamap_entry_fired(sim_node_t *node, sim_timer_t *timer);
// Keeps a packet until its map is there, or its entry at ready_ps.
void nic__adamap_wait(nic_adamap_state_t *state, net_packet_t *packet);
void nic__adamap_wait_entry(nic_adamap_state_t *state, net_packet_t *packet, sim_time_t ready_ps);
// Consumes all packets that wait.
void nic__adamap_waiters_free(nic_adamap_state_t *state);
static inline bool nic__adamap_any_waits(const nic_adamap_waiters_t *waiters)
{
    return waiters->first != waiters->end;
}

// core.c: the fifo to the host's core. The functions return when the NIC has written the entry.
void nic__adamap_core_init(nic_adamap_shared_t *shared, nic_t *nic);
void nic__adamap_core_fini(nic_adamap_shared_t *shared);
// Hands over a map for the chain, which was given to it; its block is claimed.
sim_time_t nic__adamap_hand_map(nic_adamap_state_t *state, const nic_adamap_t *map);
// Hands over an entry of the table; its block is claimed.
sim_time_t nic__adamap_hand_piece(nic_adamap_state_t *state, uint32_t index);
// Returns a block of the queue pair's chain or table.
void nic__adamap_hand_back(nic_adamap_state_t *state, uint32_t block);
// Takes an entry back whose block the core has not taken yet.
void nic__adamap_recall_piece(nic_adamap_state_t *state, const nic_adamap_entry_t *entry);
// Returns all blocks of a queue pair's chain, and forgets its tasks.
void nic__adamap_core_forget(nic_adamap_state_t *state);

// table.c
// Adds all pieces of the map that miss packets. There are blocks for them.
void nic__adamap_table_add(nic_adamap_state_t *state, const nic_adamap_t *map, sim_time_t ready_ps);
// Takes a packet of round 2 or later. If it waits, ready_ps is until when.
nic_adamap_match_t nic__adamap_table_match(nic_adamap_state_t *state, uint32_t index, uint8_t round,
                                           uint64_t psn, uint32_t span, bool waited,
                                           sim_time_t *ready_ps);
void nic__adamap_table_fired(sim_node_t *node, sim_timer_t *timer);
void nic__adamap_table_free(nic_adamap_state_t *state);
static inline nic_adamap_entry_t *nic__adamap_entry(const nic_adamap_state_t *state, uint32_t index)
{
    return &state->entries[index & (state->entry_capacity - 1)];
}

// memory.c
// Each books an access of the NIC to the host's memory from now on, and returns when it is done.
sim_time_t nic__adamap_read_ps(nic_adamap_state_t *state, uint64_t address, uint32_t bytes);
sim_time_t nic__adamap_write_ps(nic_adamap_state_t *state, uint64_t address, uint32_t bytes);
// Returns the bytes of a map with its word for the next block.
static inline uint32_t nic__adamap_dma_bytes(const nic_adamap_state_t *state)
{
    return NIC_KNITTING_NEXT_BYTES + nic__adamap_bytes((uint32_t)nic__adamap_config(state)->bits);
}
// Notes that a new packet came.
static inline void nic__adamap_note_new(nic_adamap_state_t *state)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    shared->flight.new_ps = nic__adamap_now(state);
    if (SIM_UNLIKELY(shared->flight.first_ps == 0)) {
        shared->flight.first_ps = shared->flight.counted_ps = shared->flight.new_ps;
        shared->flight.rtt_ps = state->base_rtt_ps;
    }
}
double nic__adamap_flight_steady(const nic_adamap_flight_t *flight);
void nic__adamap_flight_free(nic_adamap_flight_t *flight);
// Changes the number of maps that the NIC's queue pairs hold.
void nic__adamap_count_nodes(nic_adamap_state_t *state, int64_t more);

// check.c
void nic__adamap_check(const nic_qp_t *qp);
extern const nic_counter_info_t nic__adamap_counter_infos[];

#endif // NIC_TRANSPORT_ADAMAP_ADAMAP_INTERNAL_H
