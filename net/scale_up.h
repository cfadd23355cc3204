// SPDX-License-Identifier: Apache-2.0
// net/scale_up.h - accelerators of a host and the switches that join them, as nodes of the network:
// NVLink, UALink or Scale-Up Ethernet (SUE).
//
// A program on the host hands messages to an accelerator, which sends them in trains: packets of
// one message that take each link together. A port sends a train of a virtual channel when the
// other end of its link has room for it: credits. The accelerator that receives the last train
// tells the program on its host. docs/models/scale-up.md
//
// A virtual channel is a class of the ports (net_port_t.classes).
#ifndef NET_SCALE_UP_H
#define NET_SCALE_UP_H

#include "net/network.h"

SIM_C_BEGIN

typedef enum net_scale_up_model {
    NET_SCALE_UP_FORMULA, // applications compute the times of messages; there are no such nodes
    NET_SCALE_UP_PACKETS,
} net_scale_up_model_t;

typedef enum net_scale_up_protocol {
    NET_SCALE_UP_NVLINK,
    NET_SCALE_UP_UALINK,
    NET_SCALE_UP_SUE,
    NET_SCALE_UP_PROTOCOLS,
} net_scale_up_protocol_t;

// "scale-up."
typedef struct net_scale_up_config {
    net_scale_up_model_t model;
    net_scale_up_protocol_t protocol;
    uint64_t accelerators;  // of each host; SIM_AUTO: one for each of its NICs
    uint64_t switches;      // of each host, each linked to all accelerators; SIM_AUTO: by protocol
    uint64_t rate_bps;      // of an accelerator in one direction, all links; SIM_AUTO: by protocol
    sim_time_t delay_ps;    // of a hop: link, and the way through the node behind it
    sim_time_t memory_ps;   // between a program and the links of its accelerator
    uint64_t packet_bytes;  // payload of a packet; SIM_AUTO: by protocol
    uint64_t train_bytes;   // payload of a train; SIM_AUTO: 4 KiB, less with few credits
    uint64_t credit_bytes;  // room for each virtual channel behind a link
    sim_ratio_t error_rate; // share of packets that a link repeats
    sim_time_t retry_ps;    // until a port repeats them; SIM_AUTO: twice delay_ps
    uint64_t loads_bytes;   // that an accelerator has asked for and not got
    uint64_t reduce_bps;    // of the unit of a switch that adds up; SIM_AUTO: all its links
} net_scale_up_config_t;

extern const sim_attr_table_t net_scale_up_attrs;
// Fails if the values do not fit each other. The message begins with the attribute's name.
SIM_MUST_CHECK sim_err_t net_scale_up_check(const net_scale_up_config_t *config,
                                            sim_message_t *message);

// -- sizes

// Returns the bytes that a payload takes on a link, in packets of the protocol.
uint64_t net_scale_up_wire_bytes(const net_scale_up_config_t *config, uint64_t bytes);
// Return the values of attributes that are left open.
uint64_t net_scale_up_switches(const net_scale_up_config_t *config);
uint64_t net_scale_up_rate_bps(const net_scale_up_config_t *config);
uint64_t net_scale_up_packet_bytes(const net_scale_up_config_t *config);
uint64_t net_scale_up_train_bytes(const net_scale_up_config_t *config);
// Returns whether messages that wait for one destination share packets.
bool net_scale_up_packs(const net_scale_up_config_t *config);
// Returns the time between a program's call and the arrival of a message of one byte, less the time
// of its bytes on a link.
sim_time_t net_scale_up_latency_ps(const net_scale_up_config_t *config);

// -- building, between the creation of hosts and net_build

// Adds the accelerators and switches of a host, without links: `count` accelerators, then the
// switches, in the order of their numbers. config is borrowed and outlives the network.
void net_scale_up_add(net_t *net, net_node_t *host, uint32_t count,
                      const net_scale_up_config_t *config);
// Returns an accelerator or a switch of a host. Each accelerator gets a link to each switch, in the
// order of the switches, and each switch's links are in the order of the accelerators.
net_node_t *net_accelerator(const net_node_t *host, uint32_t number);
net_node_t *net_scale_up_switch(const net_node_t *host, uint32_t number);

// Frees what a host knows of its accelerators, which are nodes of their own.
void net_scale_up_free(net_node_t *host);

// Returns the host of an accelerator; NULL: the node is none.
const net_node_t *net_accelerator_host(const net_node_t *node);
// Returns the number of a host's accelerators that are nodes; 0: there are none.
uint32_t net_accelerator_count(const net_node_t *host);
// Returns the configuration of a host's accelerators; NULL: there are none.
const net_scale_up_config_t *net_scale_up_config(const net_node_t *host);

// -- messages

typedef struct net_put net_put_t;

typedef enum net_put_kind {
    NET_PUT_STORE, // from the first accelerator to the second: puts and stores
    NET_PUT_LOAD,  // the first asks the second for the bytes, which come back
    // Messages of one group, which a switch handles together:
    NET_PUT_SUM,    // from several accelerators to one: the switch adds them up, and sends the sum
    NET_PUT_SPREAD, // from one accelerator to several: it sends one, which the switch copies
} net_put_kind_t;

typedef struct net_put_group net_put_group_t; // of the network

// Messages from one accelerator to another, which begin and arrive in order. Those of different
// streams take turns, train by train. All members are 0 at first.
typedef struct net_stream {
    net_put_t *first; // that have not arrived; of the host
    net_put_t *last;
    // of the sending accelerator, which need not look into the message for each train
    struct net_stream *next; // whose turn is next
    uint64_t number;         // of groups: the less, the longer its next train has waited
    net_put_t *sending;
    net_put_t *sending_last;
    uint64_t left_bytes; // of the first message, to be sent or asked for
    uint64_t pace_bps;
    net_put_kind_t kind;
    uint16_t from;
    uint16_t to;
    uint16_t port; // that its next train takes, as all of its group; NET_NO_PORT: any
} net_stream_t;

// A message: a part of its owner, which keeps it until it has arrived.
struct net_put {
    uint64_t bytes; // payload
    uint16_t from;  // accelerators of one host
    uint16_t to;
    net_put_kind_t kind;
    uint64_t pace_bps;      // of groups: rate of all messages of an accelerator of this kind
    uint64_t arrived_bytes; // of the network, as those below
    net_put_group_t *group; // NULL: none
    net_stream_t *stream;
    // Called in an event of the host when the bytes have arrived, and all messages of the stream
    // before it have; may free it, and send others.
    void (*arrived)(net_put_t *put, sim_node_t *host);
    net_put_t *next;         // of the stream, at the host
    net_put_t *next_sending; // of the stream, at the accelerator
    bool here;               // at its destination
};

// Sends a message, of which bytes, from, to, kind, pace_bps and arrived are set, in an event of the
// host. All messages of a stream have the same accelerators and kind.
void net_put_send(net_node_t *host, net_stream_t *stream, net_put_t *put);
// Sends a message of a group of `members`, which have one key and equal sizes: at once, or when all
// of a group that is spread are there.
void net_put_send_in_group(net_node_t *host, net_stream_t *stream, net_put_t *put, uint64_t key,
                           uint32_t members);
// Takes a message that an accelerator has handed to its host, in an event of the host.
void net_put_arrived(net_node_t *host, void *message);

SIM_C_END

#endif // NET_SCALE_UP_H
