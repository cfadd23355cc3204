// SPDX-License-Identifier: Apache-2.0
// net/switch.h - an output-queued switch with a shared buffer, PFC and ECN.
//
// Every packet is stored once and accounted twice: at its ingress (port, class) and at its egress
// (port, class). Model and sources: docs/models/switch.md.
#ifndef NET_SWITCH_H
#define NET_SWITCH_H

#include "net/port.h"

SIM_C_BEGIN

typedef enum net_trust { NET_TRUST_DSCP, NET_TRUST_PCP } net_trust_t;

typedef enum net_watchdog_action {
    NET_WATCHDOG_OFF,
    NET_WATCHDOG_DROP,  // drops the packets of a queue in a storm
    NET_WATCHDOG_IGNORE // ignores the pauses of the storm
} net_watchdog_action_t;

typedef enum net_mark_at { NET_MARK_AT_DEQUEUE, NET_MARK_AT_ENQUEUE } net_mark_at_t;

typedef enum net_hash_fields {
    NET_HASH_FIVE_TUPLE, // addresses and UDP ports
    NET_HASH_ADDRESSES,
    NET_HASH_ENTROPY, // the UDP source port
} net_hash_fields_t;
typedef enum net_adaptive_by { NET_ADAPTIVE_EXACT, NET_ADAPTIVE_GRADES } net_adaptive_by_t;
#define NET_DRILL_MAX 16u           // remembered ports
#define NET_VIRTUAL_CHANNELS_MAX 6u // classes 1 to 6

// Places where ConWeave's last switch keeps packets that it holds back.
typedef enum net_conweave_held {
    NET_CONWEAVE_COUNTED, // in the switch's buffer
    NET_CONWEAVE_FREE,    // beside it, in memory of any size
} net_conweave_held_t;

// Sources of CONGA's rules.
typedef enum net_conga_rules {
    NET_CONGA_PAPER,
    NET_CONGA_SIMULATOR, // that of the simulator of ConWeave
} net_conga_rules_t;

// How a switch chooses among equal paths (docs/models/load-balancing.md).
typedef struct net_balance_config {
    sim_name_t name; // a load balancer of net/models.h; "network": net_config_t.balance
    net_hash_fields_t ecmp_fields;
    bool ecmp_symmetric; // the order of the addresses does not matter
    bool ecmp_dscp;
    bool ecmp_destination_qp;
    net_adaptive_by_t adaptive_by;
    uint64_t adaptive_full_bytes;   // load that counts as a full port
    uint64_t adaptive_hashed_bytes; // smaller frames take the port of their hash
    sim_time_t adaptive_refresh_ps; // shortest time between two readings of the grades
    sim_time_t adaptive_gap_ps;     // 0: each packet by itself
    uint64_t drill_samples;
    uint64_t drill_memory; // at most NET_DRILL_MAX
    sim_time_t letflow_gap_ps;
    net_conga_rules_t conga_rules;
    sim_time_t conga_gap_ps;
    sim_time_t conga_dre_ps; // between two decays of the estimate
    sim_ratio_t conga_alpha;
    uint64_t conga_bits; // of a quantised utilisation
    sim_time_t conga_ageing_ps;
    uint64_t conga_samples; // uplinks that a choice looks at; 0: all
    uint64_t conga_header_bytes;
    sim_time_t conweave_reply_ps;    // within which a reply must come
    sim_time_t conweave_busy_ps;     // for which a path with marks is avoided
    sim_time_t conweave_inactive_ps; // after which a flow begins a new epoch
    sim_time_t conweave_extra_ps;    // added to the expected arrival of a TAIL
    sim_time_t conweave_wait_ps;     // for a TAIL whose arrival cannot be estimated
    net_conweave_held_t conweave_held;
    uint64_t conweave_header_bytes;
} net_balance_config_t;

typedef enum net_trim_victim { NET_TRIM_ARRIVING, NET_TRIM_EITHER } net_trim_victim_t;

typedef struct net_switch_config {
    sim_name_t mmu;               // a buffer of net/models.h
    uint64_t virtual_channels;    // classes of arriving packets with the buffer "virtual-channels"
    sim_name_t marking;           // a marking of net/models.h
    uint64_t buffer_bytes;        // packet memory of the whole switch
    uint8_t pfc_priorities;       // lossless classes, a bit each
    bool pfc_enabled;             // false: no class is lossless
    sim_ratio_t pfc_alpha;        // XOFF above alpha x free shared buffer
    uint64_t pfc_xon_bytes;       // XON this far below the XOFF threshold
    uint64_t pfc_reserved_bytes;  // per lossless (port, class), used before the shared buffer
    uint64_t pfc_headroom_bytes;  // per lossless (port, class); SIM_AUTO: computed
    uint64_t headroom_pool_bytes; // that all headroom may hold together; SIM_AUTO: all in full
    sim_time_t pfc_response_ps;   // peer's reaction time for headroom; SIM_AUTO: 802.3 by rate
    uint64_t pfc_quanta;          // pause time of an XOFF; repeated after half of it
    uint64_t pfc_threshold_bytes; // fixed XOFF threshold instead of alpha; SIM_AUTO: dynamic
    net_watchdog_action_t pfc_watchdog;
    sim_time_t watchdog_detect_ps;
    sim_time_t watchdog_restore_ps;
    sim_ratio_t lossy_alpha;     // egress limit of lossy classes: alpha x free shared buffer
    bool trim_enabled;           // false: full queues drop
    uint8_t trim_priorities;     // classes whose packets are trimmed
    uint64_t trim_queue_bytes;   // limit of a queue of these classes; see trim_scale
    uint64_t trim_headers_bytes; // limit of the queue of trimmed packets; SIM_AUTO: twice that
    bool trim_scale;             // both limits times the port's rate / 100 Gbps
    uint64_t trim_bytes;         // frame that is left
    net_trim_victim_t trim_victim;
    bool ecn_enabled;
    bool ecn_last_hop; // false: ports to hosts never mark
    uint8_t ecn_priorities;
    net_mark_at_t ecn_mark_at; // by the bytes behind, or by those ahead
    uint64_t ecn_kmin_bytes;   // of a 100 Gbps port if ecn_scale is on
    uint64_t ecn_kmax_bytes;
    sim_ratio_t ecn_pmax;
    bool ecn_scale;              // thresholds times the port's rate / 100 Gbps
    sim_profiles_t ecn_profiles; // kmin, kmax and pmax of ports of given rates; not scaled
    net_trust_t trust;           // class from DSCP (dscp / 8) or from the 802.1Q PCP
    uint8_t strict_priorities;
    uint32_t weights[NET_PRIORITIES]; // DWRR, 1..255
    uint64_t ecmp_seed;               // SIM_AUTO: from the run's seed and the switch
    bool telemetry;                   // writes it into packets that ask (net/telemetry.h)
    net_balance_config_t balance;
} net_switch_config_t;

extern const sim_attr_table_t net_switch_config_attrs; // "switch."

// Checks values against each other (kmin <= kmax...). Fails with SIM_ERR_RANGE; the message begins
// with the attribute at fault.
SIM_MUST_CHECK sim_err_t net_switch_config_check(const net_switch_config_t *config,
                                                 sim_message_t *message);

typedef struct net_switch net_switch_t;

// Adds a switch to the network, which owns it. config is copied. Before net_build.
net_node_t *net_switch_create(net_t *net, const char *name, const net_switch_config_t *config);

// Returns the switch's configuration, borrowed.
const net_switch_config_t *net_switch_config(const net_node_t *node);

// Returns the headroom in bytes that one lossless (port, class) needs in order never to drop: the
// the maximum that the peer can still send after the XOFF was decided. Derived in
// docs/models/pfc.md.
uint64_t net_switch_headroom_bytes(uint64_t rate_bps, sim_time_t delay_ps, sim_time_t response_ps,
                                   uint32_t frame_bytes_max);

// Fails with SIM_ERR_RANGE and the sums in message if the buffer is too small for the reserved
// bytes and the headroom of every lossless (port, class). After net_build.
SIM_MUST_CHECK sim_err_t net_switch_check(const net_node_t *node, sim_message_t *message);

// Return the bytes that the buffer holds now, and the part of them in headroom.
uint64_t net_switch_buffer_bytes(const net_node_t *node);
uint64_t net_switch_headroom_used_bytes(const net_node_t *node);
// Returns the response time of peers at links of this rate, for which headroom is computed.
sim_time_t net_switch_response_ps(const net_node_t *node, uint64_t rate_bps);
// Returns the headroom of each lossless class of the port, given or computed. After net_build.
uint64_t net_switch_headroom_limit_bytes(const net_node_t *node, uint32_t port);

SIM_C_END

#endif // NET_SWITCH_H
