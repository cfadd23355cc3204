// SPDX-License-Identifier: Apache-2.0
// net/models.h - the parts that a network is made of, as tables of operations under names.
//
//     buffer     where a switch stores packets, when it stops its peers     switch.mmu
//     marking    which packets get CE                                       switch.marking
//     balance    which of several equal ports a packet takes                network.load-balancer
//     routes     which ports are equal, and in which order                  network.routes
//     timing     how long a frame takes on a link                           network.timing
//     framing    what of a frame takes time there                           network.framing
//
// A program adds rows of its own with net_register_*, between net_create and net_build, and chooses
// them by name like those that net/ has; compat/hpcc/balance.c is one. Tables are immutable
// and outlive the network; each row's name is its own within its kind.
//
// They are looked up when the network is built. A switch whose buffer, marking and balance are
// net's own runs a loop in which they are compiled in; any other switch runs the same loop through
// the tables; a buffer may bring a whole loop of its own. What they see of a switch is
// net/switch_model.h.
#ifndef NET_MODELS_H
#define NET_MODELS_H

#include "net/port.h"

SIM_C_BEGIN

typedef struct net_switch net_switch_t;

typedef struct net_buffer_ops {
    const char *name; // "standard"
    // The loop of a switch that is run in another way altogether; then admit, release and paused
    // are not called. NULL: the switch's own.
    const sim_node_ops_t *loop;
    size_t state_bytes; // of memory per switch, zeroed: net_switch_t.buffer_state

    // Ports exist: sets limits (net_switch_t.shared_limit, ...).
    void (*built)(net_switch_t *sw);
    // Frees what built made, but for the state itself. NULL: nothing.
    void (*fini)(net_switch_t *sw);
    // A packet must wait at `egress`: whether there is room, which is then taken. It came in at
    // packet->ingress_port in class packet->priority. May send pauses (net_port_pause_send). False:
    // *reason says why, NET_DROP_HEADROOM_FULL at the ingress port, others at the egress port.
    bool (*admit)(net_switch_t *sw,
                  const net_port_t *egress,
                  const net_packet_t *packet,
                  net_drop_reason_t *reason);
    // The room is given back, as the packet's transmission has begun. May send resumes.
    void (*release)(net_switch_t *sw, uint32_t ingress_port, uint32_t priority, uint32_t bytes);
    // Bytes that are set aside and so not shared, for the check that the buffer can hold them.
    void (*dedicated)(const net_switch_t *sw, uint64_t *headroom_bytes, uint64_t *reserved_bytes);
    // SIM_CHECKs what must hold between events: called in builds with dear checks. NULL: nothing.
    void (*check)(const net_switch_t *sw);
} net_buffer_ops_t;

typedef struct net_marking_ops {
    const char *name;   // "red"
    size_t state_bytes; // per switch, zeroed: net_switch_t.marking_state
    void (*built)(net_switch_t *sw);
    void (*fini)(net_switch_t *sw); // NULL: nothing
    // The packet has left its queue at `egress` and is about to be sent; or, before it joins the
    // queue. Marks with net_switch_mark. NULL: never then.
    void (*leaves)(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
    void (*joins)(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
} net_marking_ops_t;

typedef struct net_balance_ops {
    const char *name;   // "ecmp"
    size_t state_bytes; // per switch, zeroed: net_switch_t.balance_state
    void (*built)(net_switch_t *sw);
    void (*fini)(net_switch_t *sw); // NULL: nothing
    // What packets of a flow carry in flow_hash. hashed_port: of the program's own, besides; 0: it
    // has none. NULL: the hash of ECMP.
    uint32_t (*flow_hash)(uint32_t source,
                          uint32_t destination,
                          uint16_t source_port,
                          uint16_t hashed_port);
    // The flow_hash that `path` is to be asked with for answers (ACKs, CNPs, READ responses) of a
    // queue pair whose packets carry this one. NULL: the same.
    uint32_t (*answer_hash)(const net_t *net, uint32_t flow_hash);
    // The port of `count` >= 1 equal ones that this packet takes; NET_NO_PORT: none. Ports that are
    // down must be avoided: net_switch_choose_live.
    uint32_t (*choose)(net_switch_t *sw,
                       const net_packet_t *packet,
                       const uint32_t *ports,
                       uint32_t count);
    // The index below count of the port that packets of a flow would take with all links up: reads
    // nothing that changes; may be called from any thread. Where packets of a flow take several,
    // one of them.
    uint32_t (*path)(const net_switch_t *sw,
                     uint32_t source,
                     uint32_t destination,
                     uint32_t flow_hash,
                     uint32_t count);
} net_balance_ops_t;

typedef struct net_routes_ops {
    const char *name; // "shortest"
    // Fills the routes of all forwarding nodes with net_routes_set; link_up: by link.
    void (*search)(const net_t *net, const bool *link_up, net_routes_t *routes);
} net_routes_ops_t;

typedef struct net_timing_ops {
    const char *name; // "exact"
    // Time of so many bytes on the link of the port, whatever went before.
    sim_time_t (*time_ps)(const net_port_t *port, uint64_t bytes);
    // The same at any rate: of a queue pair's pacing.
    sim_time_t (*rate_time_ps)(uint64_t bytes, uint64_t rate_bps);
    // Where a byte takes a whole number of ps, and the frame less than a second and not a whole
    // number of ns, time_ps cuts it to one: ports need not ask then.
    bool cuts_to_ns;
} net_timing_ops_t;

typedef struct net_framing {
    const char *name;        // "ethernet"
    uint32_t overhead_bytes; // of each frame on links, besides its own
    uint32_t gap_bytes;      // of them, behind the frame
    uint32_t pause_bytes;    // of a PFC frame
} net_framing_t;

// Before net_build. A second row of a name replaces the first.
void net_register_buffer(net_t *net, const net_buffer_ops_t *ops);
void net_register_marking(net_t *net, const net_marking_ops_t *ops);
void net_register_balance(net_t *net, const net_balance_ops_t *ops);
void net_register_routes(net_t *net, const net_routes_ops_t *ops);
void net_register_timing(net_t *net, const net_timing_ops_t *ops);
void net_register_framing(net_t *net, const net_framing_t *framing);

// The kinds of these rows, for those who look them up.
#define NET_BUFFER "buffer"
#define NET_MARKING "marking"
#define NET_BALANCE "load balancer"
#define NET_ROUTES "order of routes"
#define NET_TIMING "timing"
#define NET_FRAMING "framing"

// A table that was registered, by kind and name; NULL: none.
const void *net_registered(const net_t *net, const char *kind, const char *name);
// The names of a kind one by one, from 0 on; NULL: there are no more.
const char *net_registered_name(const net_t *net, const char *kind, size_t index);
// The parameters of a row that has been registered, for its operations; borrowed. NULL: none.
void net_register_config(net_t *net, const char *kind, const char *name, const void *config);
const void *net_registered_config(const net_t *net, const char *kind, const char *name);
// SIM_ERR_UNKNOWN with "ATTRIBUTE: no KIND "name", ..." where there is no such row.
SIM_MUST_CHECK sim_err_t net_registered_check(const net_t *net,
                                              const char *attribute,
                                              const char *kind,
                                              const char *name,
                                              sim_message_t *message);

// -- what else rules from elsewhere need

// Something that lives as long as the network. Before net_build; one of a name.
typedef struct net_extension {
    const char *name;
    void *state;
    void (*before_build)(net_t *net, void *state); // nodes and links are known; NULL: nothing
    void (*with_ports)(net_t *net, void *state);   // and ports; no route yet; NULL: nothing
    void (*destroy)(void *state);                  // NULL: nothing
} net_extension_t;
void net_extend(net_t *net, const net_extension_t *extension);
void *net_extension_state(const net_t *net, const char *name); // NULL: none of that name

// Rules of links that are not the standard's.
typedef struct net_link_rules {
    bool pauses_last; // until a resume, whatever their quanta
    bool down_first;  // a link goes down before what arrives at that very instant
} net_link_rules_t;
void net_set_link_rules(net_t *net, const net_link_rules_t *rules); // before net_build

// PINT computed in another way, in the turn of the node that sends.
typedef struct net_pint_ops {
    // After net_pint_init: may change the digests' values, number and bytes.
    void (*init)(void *ctx, struct net_pint *pint, sim_ratio_t base, sim_time_t rtt_ps);
    double (*per_byte)(uint64_t rate_bps); // net_meter_t.per_byte
    // A frame starts. asks: it is a data packet that wants a digest.
    void (*frame)(void *ctx,
                  net_meter_t *meter,
                  sim_time_t now_ps,
                  net_packet_t *packet,
                  uint64_t queue_bytes,
                  bool asks);
    void *ctx;
} net_pint_ops_t;
void net_set_pint(net_t *net, const net_pint_ops_t *ops); // in before_build

// One source of random numbers for all that is decided in the network and in algorithms, in a run
// whose events come one by one. NULL: everything that draws has a stream of its own.
typedef struct net_dice {
    uint32_t (*roll)(void *ctx); // in [0, 2^31)
    void *ctx;
} net_dice_t;
void net_set_dice(net_t *net, const net_dice_t *dice); // in before_build; copied
const net_dice_t *net_dice_of(const net_t *net);

// -- routes, for net_routes_ops_t.search

// Forwarding nodes that hosts hang on, and hosts with fixed routes: what routes lead to.
uint32_t net_leaf_count(const net_t *net);
net_node_t *net_leaf_at(const net_t *net, uint32_t leaf);
// The ports of `node` towards a leaf; routes: as given to search.
void net_routes_set(net_routes_t *routes,
                    const net_node_t *node,
                    uint32_t leaf,
                    const uint32_t *ports,
                    uint32_t count);

SIM_C_END

#endif // NET_MODELS_H
