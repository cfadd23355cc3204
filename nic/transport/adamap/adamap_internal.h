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
#include "nic/transport/selective/kept.h"
#include "nic/transport/selective/resend.h"

#define NIC_ADAMAP_TABLE_CACHE_MAX 16u

typedef struct nic_adamap_config {
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
    uint64_t blocks_max;
    uint64_t block_align_bytes;
    uint64_t chunk_blocks;
    sim_time_t sample_ps;
} nic_adamap_config_t;

// An entry of the table: a piece of at most b packets. Entries are in order of their indices, which
// is that of their PSNs, in a ring; by time of their last request they are in a list.
typedef struct nic_adamap_entry {
    nic_adamap_t map;
    uint32_t block;
    uint32_t older; // indices, in the list by time
    uint32_t newer;
    uint8_t round; // round of the latest packet that filled it, or of its latest request
    bool live;
} nic_adamap_entry_t;

#define NIC_ADAMAP_NO_INDEX UINT32_MAX

// A request for the missing packets of a map, which waits for host memory.
typedef struct nic_adamap_late {
    sim_time_t ready_ps;
    nic_adamap_t map;
    uint32_t index;
    uint8_t round;
} nic_adamap_late_t;

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
    nic_core_t *core;   // the core that inserts maps; NULL before the first map
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
    nic_kept_t kept;
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
    uint32_t latest_index;                    // the latest entry that a packet filled
    uint32_t lru[NIC_ADAMAP_TABLE_CACHE_MAX]; // the latest first
    nic_adamap_late_t *late;                  // ring
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

// receive.c
void nic__adamap_open_receiver(nic_adamap_state_t *state);
void nic__adamap_close_receiver(nic_adamap_state_t *state);
void nic__adamap_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
// Asks for the missing packets of a map, at `ready_ps`.
void nic__adamap_ask(nic_adamap_state_t *state,
                     const nic_adamap_t *map,
                     uint8_t round,
                     uint32_t index,
                     sim_time_t ready_ps);

// list.c
bool nic__adamap_list_room(const nic_adamap_state_t *state);
// Adds a closed map to the list, which has room. Returns when the map is stored; its request waits
// until then.
sim_time_t nic__adamap_list_append(nic_adamap_state_t *state, const nic_adamap_t *map);
// Takes the first retransmission of psn. Returns false, and changes nothing, if no map of the list
// misses it, or if blocks are lacking.
bool nic__adamap_list_match(nic_adamap_state_t *state, uint64_t psn, uint32_t span);
// Returns whether another scan follows a scan of a list or table that still has something (expired:
// it asked for some of it again). A peer that answered none of so many scans is gone or waits for a
// time-out of its own; its next packet wakes the scans.
#define NIC_ADAMAP_UNHEARD_MAX 64u
static inline bool nic__adamap_asks_on(nic_adamap_state_t *state, bool expired)
{
    state->unheard += expired && state->unheard < NIC_ADAMAP_UNHEARD_MAX;
    return state->unheard < NIC_ADAMAP_UNHEARD_MAX;
}

static inline uint64_t nic__adamap_list_count(const nic_adamap_state_t *state)
{
    return (uint64_t)state->cached_count + nic__chain_count(&state->chain);
}
void nic__adamap_list_fired(sim_node_t *node, sim_timer_t *timer);

// table.c
// Adds all pieces of the map that miss packets. There are blocks for them.
void nic__adamap_table_add(nic_adamap_state_t *state, const nic_adamap_t *map, sim_time_t ready_ps);
// Takes a packet of round 2 or later. Returns false if its entry is gone.
bool nic__adamap_table_match(nic_adamap_state_t *state,
                             uint32_t index,
                             uint8_t round,
                             uint64_t psn,
                             uint32_t span);
void nic__adamap_table_fired(sim_node_t *node, sim_timer_t *timer);
void nic__adamap_table_free(nic_adamap_state_t *state);

// memory.c
sim_time_t nic__adamap_read_ps(nic_adamap_state_t *state, uint32_t maps);
sim_time_t nic__adamap_write_ps(nic_adamap_state_t *state, uint32_t maps);
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
