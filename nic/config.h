// SPDX-License-Identifier: Apache-2.0
// nic/config.h - the configuration of hosts and NICs.
#ifndef NIC_CONFIG_H
#define NIC_CONFIG_H

#include "kernel/attribute.h"
#include "nic/cache.h"
#include "nic/congestion.h"
#include "nic/detail.h"
#include "nic/iommu.h"
#include "nic/verbs.h"

SIM_C_BEGIN

typedef enum nic_cnp_scope {
    NIC_CNP_PER_QP,
    NIC_CNP_PER_DESTINATION,
    NIC_CNP_PER_PORT
} nic_cnp_scope_t;

// The packet from which a requester sends again after a loss, and the part that a responder keeps
// of the message that has the gap. Both ends must agree.
typedef enum nic_retransmission {
    NIC_GO_BACK_N, // from the packet that is missing
    NIC_GO_BACK_0, // from the first packet of its message, or of its chunk
} nic_retransmission_t;

typedef enum nic_repath_rule {
    NIC_REPATH_OFF,
    NIC_REPATH_PLB,
    NIC_REPATH_FLOWBENDER,
    NIC_REPATH_REPS,
} nic_repath_rule_t;

#define NIC_REPS_CACHE_MAX 64

// REPS (nic/path/reps.h).
typedef struct nic_reps_config {
    uint64_t cache;       // entropies remembered; 0: each packet takes a random one
    uint64_t entropies;   // different ones that are drawn, 1 to 65536
    sim_time_t freeze_ps; // after a time-out only remembered ones are used; 0: never
    uint64_t explore;     // packets with random ones afterwards
} nic_reps_config_t;

typedef enum nic_ooo {
    NIC_OOO_OFF,   // a request ahead of its turn is dropped
    NIC_OOO_PLACE, // it is placed and kept
} nic_ooo_t;

// How the packets of a queue pair are spread over the planes of a NIC that has a port in each.
typedef enum nic_plane_choice {
    NIC_PLANES_OFF, // each port is a NIC of its own
    NIC_PLANES_HASH,
    NIC_PLANES_ROUND_ROBIN,
    NIC_PLANES_LEAST_QUEUE,
} nic_plane_choice_t;

#define NIC_IDEAL ((sim_name_t){"ideal"})       // the device whose inside takes no time
#define NIC_DETAILED ((sim_name_t){"detailed"}) // PCIe, units, caches (docs/models/rnic.md)
typedef enum nic_replacement { NIC_REPLACE_LRU, NIC_REPLACE_RANDOM } nic_replacement_t;

// The parts of a host besides its NICs (nic/fabric.h). A rate is SIM_AUTO where nothing limits it.
// The way between a NIC and a GPU behind the same PCIe switch.
typedef enum nic_peer {
    NIC_PEER_SWITCH, // through the switch alone
    NIC_PEER_ROOT,   // up to the root and back: access control services redirect it
} nic_peer_t;

typedef struct nic_host_config {
    uint64_t sockets;
    uint64_t memory_bps;      // rate of a socket's memory, reads and writes together
    uint64_t socket_link_bps; // rate between two sockets, each direction
    sim_time_t socket_link_ps;
    uint64_t nics_per_switch; // 0: no PCIe switches
    char *nic_places;         // "even", or a list of places (nic/config/layout.c)
    char *switch_places;
    char *gpu_places;
    uint64_t uplink_bps; // rate of a switch's uplink, each direction
    uint64_t nic_bps;    // rate of a NIC's own link, each direction, besides a detailed NIC's lanes
    uint64_t gpus;
    uint64_t gpu_bps; // rate of a GPU's link, each direction
    nic_peer_t peer;
    uint64_t peer_bps; // rate at which the root of a socket forwards between its ports
    char *location;    // place of memory that nobody placed
    nic_iommu_use_t iommu;
    uint64_t iommu_entries; // of the IOTLB
    uint64_t iommu_ways;
    uint64_t iommu_page_bytes;
    sim_time_t iommu_hit_ps;
    sim_time_t iommu_read_ps; // of one level of a page table
    uint64_t iommu_walkers;
    uint64_t ats_entries; // translations that a NIC keeps itself; 0: it asks for none
    sim_time_t ats_request_ps;
    char *iommu_deny; // "none", or a list of ADDRESS+BYTES
} nic_host_config_t;

// The processor that posts work requests and polls, for applications that have no own cores.
typedef enum nic_posting {
    NIC_POSTING_FREE,  // takes no time
    NIC_POSTING_GPU,   // threads of a GPU: WQEs and CQEs lie in GPU memory
    NIC_POSTING_PROXY, // a core for a GPU, which asks it by descriptors in host memory
} nic_posting_t;

// The attributes "nic.": one config per host, for all its NICs.
typedef struct nic_config {
    uint64_t mtu_bytes; // path MTU: 256, 512, 1024, 2048, 4096; with nic.frames bare up to 9216
    char *congestion_control;
    uint64_t priority; // class of data, 0..7
    uint64_t dscp;     // SIM_AUTO: priority x 8
    uint64_t cnp_priority;
    uint64_t cnp_dscp;          // SIM_AUTO: cnp_priority x 8
    uint64_t ack_priority;      // SIM_AUTO: the class of the data
    sim_time_t cnp_interval_ps; // at most one CNP per flow in it
    nic_cnp_scope_t cnp_scope;
    bool ecn_capable;            // data packets are ECT(0)
    uint64_t ack_interval;       // packets per ACK within a message, 1..256
    uint64_t window_bytes;       // per QP; SIM_AUTO: none
    nic_bdp_window_t bdp_window; // a window besides window_bytes
    uint64_t bdp_bytes;          // for bdp_window and HPCC; SIM_AUTO: base RTT x line rate
    nic_retransmission_t retransmission;
    uint64_t ack_from_bytes;  // of a message: before it, only multiples of ack_chunk_bytes are
    uint64_t ack_chunk_bytes; // acknowledged, where each packet is; 0: none
    uint64_t chunk_bytes;     // of a message, that go-back-0 goes back to; 0: the message
    uint64_t timeout;         // exponent
    uint64_t retry_count;
    uint64_t rnr_retry;
    uint64_t min_rnr_timer;
    uint64_t max_rd_atomic;
    sim_time_t
        nak_interval_ps; // at least this between two sequence NAKs for one gap; 0: one per gap
    bool nak_ends; // the end of a message ahead is answered by a NAK whatever nak_interval_ps says
    bool nak_once; // the sender goes back again for a NAK of the same gap after a round trip only
    bool nak_cuts; // a sequence NAK is a CNP, too
    nic_repath_rule_t repath;
    sim_ratio_t plb_marks; // a round trip is congested above this share of marked ACKs
    uint64_t plb_rounds;   // congested ones in a row
    sim_ratio_t flowbender_marks;
    uint64_t flowbender_rounds;
    nic_reps_config_t reps;
    nic_ooo_t ooo;
    uint64_t ooo_window;          // packets
    sim_time_t recovery_delay_ps; // after a sequence NAK, before going back
    sim_time_t base_rtt_ps;       // for windows and RTT-based control; SIM_AUTO: from the topology
    // The next four fields are for agreement with other simulators (docs/models/hpcc-compat.md).
    bool window_overshoot; // a packet may start as long as less than the window is in flight
    bool ack_duplicates;   // a request that came before is acknowledged again
    char *frames;          // how long frames are (nic/frames.h)
    sim_name_t path_rtt;   // the way to count an idle path's round trip (nic/congestion.h)
    nic_host_config_t host;
    nic_plane_choice_t planes;
    sim_name_t model; // the device (nic/device.h)
    nic_profile_t profile;
    nic_posting_t posting;
    nic_replacement_t replacement; // of the detailed NIC's caches
    bool sram_shared;              // all of them are one memory
    nic_detail_t detail;           // SIM_AUTO: the profile's
    char *store;                   // "auto": the store that cache.policy asks for
    nic_cache_config_t cache;
    // An algorithm of the program's own; NULL: the one that congestion_control names. Both pointers
    // are borrowed and must outlive the network; QPs find the config in nic_cc_t.
    const nic_cc_ops_t *custom_cc;
    const void *custom_cc_config;
    // A store of the program's own for detailed NICs, borrowed likewise; NULL: the one that store
    // names.
    const struct nic_store_ops *custom_store;
    const void *custom_store_config;
    char *transport; // transport of RC queue pairs that choose none (nic/transport.h)
    // A transport of the program's own, borrowed likewise; NULL: the one that transport names.
    const nic_transport_ops_t *custom_transport;
    const void *custom_transport_config;
    char *scheduler; // rule for the next queue pair to send (nic/scheduler.h)
    // A scheduler of the program's own, borrowed likewise; NULL: the one that scheduler names.
    const nic_scheduler_ops_t *custom_scheduler;
    const void *custom_scheduler_config;
    // A device of the program's own, borrowed likewise; NULL: the one that model names.
    const nic_device_ops_t *custom_device;
    const void *custom_device_config;
    // Rows that a program added to the library's, and the config structs of all that have one
    // (nic/extra.h).
    const struct nic_extra *extras;
    size_t extra_count;
    void **parts;
} nic_config_t;

extern const sim_attr_table_t nic_config_attrs; // "nic."

// Fills config with defaults, those of its parts included; free with nic_config_fini.
void nic_config_init(nic_config_t *config);
void nic_config_copy(nic_config_t *to, const nic_config_t *from);
// Returns whether hosts of the two configs can share one config. It may return false for configs
// that say the same, never true for others.
bool nic_config_equal(const nic_config_t *a, const nic_config_t *b);
void nic_config_fini(nic_config_t *config);
// Checks the rules between fields (MTU a power of two, known algorithm...). The CLI calls it before
// building.
SIM_MUST_CHECK sim_err_t nic_config_check(const nic_config_t *config, sim_message_t *message);

SIM_C_END

#endif // NIC_CONFIG_H
