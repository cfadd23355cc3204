// SPDX-License-Identifier: Apache-2.0
// net/models.h - the exchangeable parts of a network, as tables of operations.
//
//     buffer     where a switch stores packets and when it pauses its peers switch.mmu
//     marking    which packets get CE                                       switch.marking
//     balance    which of several equal ports a packet takes                switch.load-balancing
//     routes     which ports are equal, and in which order                  network.routes
//     timing     how long a frame takes on a link                           network.timing
//     framing    which bytes around a frame take time there                 network.framing
//
// A program adds rows of its own with net_register_*, between net_create and net_build, and selects
// them by name like net's own; compat/hpcc/balance.c is an example. Tables are immutable and
// outlive the network. A name is unique within its kind.
//
// net_build looks the rows up. A switch whose buffer, marking and balance are net's own runs a loop
// with these three compiled in, or with only the balance called through its table. Any other switch
// runs the same loop through the tables; a buffer may bring a whole loop of its own. Models see a
// switch through net/switch_model.h.
#ifndef NET_MODELS_H
#define NET_MODELS_H

#include "net/port.h"

SIM_C_BEGIN

typedef struct net_switch net_switch_t;

typedef struct net_buffer_ops {
    const char *name; // "standard"
    // A loop of its own for the switch; then admit and release are not called. NULL: the switch's
    // loop.
    const sim_node_ops_t *loop;
    size_t state_bytes; // memory per switch, zeroed: net_switch_t.buffer_state

    // Called when the ports exist. Sets limits (net_switch_t.shared_limit, ...).
    void (*built)(net_switch_t *sw);
    // Frees memory that `built` allocated; the caller frees the state itself. NULL: nothing to do.
    void (*fini)(net_switch_t *sw);
    // Returns the class in which a packet that has arrived leaves; NET_PRIORITIES: none, and it is
    // dropped as NET_DROP_NO_ROUTE. NULL: the class in which it came.
    uint32_t (*queue_class)(const net_switch_t *sw, const net_packet_t *packet);
    // Reserves room for a packet that must wait at `egress`. It came in at packet->ingress_port in
    // class packet->priority, unless queue_class changed that. May send pauses
    // (net_port_pause_send). Returns false with *reason if there is no room;
    // NET_DROP_HEADROOM_FULL counts at the ingress port, others at the egress.
    bool (*admit)(net_switch_t *sw, const net_port_t *egress, const net_packet_t *packet,
                  net_drop_reason_t *reason);
    // Called when admit refused a packet: makes it smaller, or makes room for it. Returns true if
    // the packet is admitted now, in the class of packet->priority; else it is dropped for *reason.
    // NULL: it is dropped.
    bool (*no_room)(net_switch_t *sw, net_port_t *egress, net_packet_t *packet,
                    net_drop_reason_t *reason);
    // Frees the room of a packet whose transmission begins. May send resumes.
    void (*release)(net_switch_t *sw, uint32_t ingress_port, uint32_t priority, uint32_t bytes);
    // Returns the bytes that are not shared; net_switch_check tests that the buffer holds them.
    void (*dedicated)(const net_switch_t *sw, uint64_t *headroom_bytes, uint64_t *reserved_bytes);
    // SIM_CHECKs the invariants between events, in builds with dear checks. NULL: none.
    void (*check)(const net_switch_t *sw);
} net_buffer_ops_t;

typedef struct net_marking_ops {
    const char *name;   // "red"
    size_t state_bytes; // per switch, zeroed: net_switch_t.marking_state
    void (*built)(net_switch_t *sw);
    void (*fini)(net_switch_t *sw); // NULL: nothing
    // Decides on CE and sets it with net_switch_mark: `leaves` when the packet has left its queue
    // and is about to be sent, `joins` before it joins the queue. NULL: no marks at that moment.
    void (*leaves)(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
    void (*joins)(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
} net_marking_ops_t;

struct net_balance_gauges; // net/switch.h

typedef struct net_balance_ops {
    const char *name;   // "ecmp"
    size_t state_bytes; // per switch, zeroed: net_switch_t.balance_state
    bool spreads_flows; // packets of one flow may take several paths and arrive out of order
    // Whether the switch may replay departures late (net/switch/late.c): choose and enters then see
    // ports as of their last replay, except by net_switch_port_load. false: no departure is late.
    bool late;
    // Returns the shortest pause of a flow after which its next packet may take another path; NEVER
    // if the last switch restores the order. NULL: with spreads_flows any packet may.
    sim_time_t (*gap_ps)(const net_switch_t *sw);
    void (*built)(net_switch_t *sw);
    void (*fini)(net_switch_t *sw); // NULL: nothing
    // Returns net_packet_t.flow_hash for a flow. hashed_port is a further port chosen by the
    // program, 0: none. NULL: the hash of ECMP.
    uint32_t (*flow_hash)(uint32_t source, uint32_t destination, uint16_t source_port,
                          uint16_t hashed_port);
    // Returns the flow_hash to ask `path` with for answers (ACKs, CNPs, READ responses) of a queue
    // pair whose packets carry this one. NULL: it is the same.
    uint32_t (*answer_hash)(const net_t *net, uint32_t flow_hash);
    // Returns the port that this packet takes out of `count` >= 1 equal ones; NET_NO_PORT: none.
    // It must avoid ports that are down: net_switch_choose_live.
    uint32_t (*choose)(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports,
                       uint32_t count);
    // Whether switches may follow the routes that packets bring (net_packet_t.route): while all
    // links are up, `choose` returns what `path` does, and nothing else follows from its call.
    bool follows;
    // Whether a lone port (count 1) that is up is taken without a call of `choose`, which would
    // return it and do nothing else.
    bool lone;
    // Sees each packet but PFC frames before its port is looked up, and may change it. Returns
    // false if it took the packet: it consumed it, or keeps it for net_switch_forward or
    // net_switch_release. NULL: not called. A buffer with a loop of its own never calls it.
    bool (*enters)(net_switch_t *sw, net_port_t *ingress, net_packet_t *packet);
    bool enters_leaves; // `enters` need only be called at switches with hosts
    // Returns the bytes of the header that packets carry between switches, behind the frame;
    // net_packet_aside_t.overlay holds its first 8. NULL: there is none.
    uint32_t (*header_bytes)(const net_switch_t *sw);
    // Returns the index, below count, of the port that packets of a flow would take with all links
    // up. It reads only state that never changes and may be called from any thread. If packets of a
    // flow take several ports, it returns one of them.
    uint32_t (*path)(const net_switch_t *sw, uint32_t source, uint32_t destination,
                     uint32_t flow_hash, uint32_t count);
    // Fills in what the balancer has. NULL: nothing.
    void (*gauges)(const net_switch_t *sw, struct net_balance_gauges *gauges);
} net_balance_ops_t;

typedef struct net_routes_ops {
    const char *name; // "shortest"
    // Fills the routes of all forwarding nodes with net_routes_set. link_up is indexed by link.
    void (*search)(const net_t *net, const bool *link_up, net_routes_t *routes);
} net_routes_ops_t;

typedef struct net_timing_ops {
    const char *name; // "exact"
    // Returns the time of `bytes` on the port's link, independent of earlier frames.
    sim_time_t (*time_ps)(const net_port_t *port, uint64_t bytes);
    // Returns the time of `bytes` at any rate, for the pacing of a queue pair.
    sim_time_t (*rate_time_ps)(uint64_t bytes, uint64_t rate_bps);
    // true: time_ps only cuts the exact time to whole ns, where a byte takes a whole number of ps,
    // the frame takes less than a second and its time is not a whole number of ns already. Ports
    // then compute it without a call.
    bool cuts_to_ns;
} net_timing_ops_t;

typedef struct net_framing {
    const char *name;        // "ethernet"
    uint32_t overhead_bytes; // bytes per frame on links, besides the frame itself
    uint32_t gap_bytes;      // the part of overhead_bytes that follows the frame
    uint32_t pause_bytes;    // size of a PFC frame
} net_framing_t;

// Add a row, before net_build. A second row of the same name replaces the first.
void net_register_buffer(net_t *net, const net_buffer_ops_t *ops);
void net_register_marking(net_t *net, const net_marking_ops_t *ops);
void net_register_balance(net_t *net, const net_balance_ops_t *ops);
void net_register_routes(net_t *net, const net_routes_ops_t *ops);
void net_register_timing(net_t *net, const net_timing_ops_t *ops);
void net_register_framing(net_t *net, const net_framing_t *framing);

// The kinds of rows, for the look-ups below.
#define NET_BUFFER "buffer"
#define NET_MARKING "marking"
#define NET_BALANCE "load balancer"
#define NET_ROUTES "order of routes"
#define NET_TIMING "timing"
#define NET_FRAMING "framing"

// Returns the table registered under a kind and a name; NULL: none.
const void *net_registered(const net_t *net, const char *kind, const char *name);
// Returns the index-th name of a kind, from 0 on; NULL: there are no more.
const char *net_registered_name(const net_t *net, const char *kind, size_t index);
// Set and return the parameters of a registered row, which its operations read. Borrowed; NULL:
// none.
void net_register_config(net_t *net, const char *kind, const char *name, const void *config);
const void *net_registered_config(const net_t *net, const char *kind, const char *name);
// Fails with SIM_ERR_UNKNOWN and "ATTRIBUTE: no KIND "name", ..." if there is no such row.
SIM_MUST_CHECK sim_err_t net_registered_check(const net_t *net, const char *attribute,
                                              const char *kind, const char *name,
                                              sim_message_t *message);

SIM_C_END

#endif // NET_MODELS_H
