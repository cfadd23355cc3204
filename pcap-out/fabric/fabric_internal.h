// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric/fabric_internal.h - the state of a fabric's capture, which the nodes' threads
// fill and the thread between windows writes out.
#ifndef PCAP_OUT_FABRIC_FABRIC_INTERNAL_H
#define PCAP_OUT_FABRIC_FABRIC_INTERNAL_H

#include "kernel/buffer.h"
#include "kernel/record.h"
#include "pcap-out/fabric.h"
#include "pcap-out/fabric/note_queue.h"
#include "pcap-out/fabric/ring.h"
#include "pcap-out/ng_file.h"
#include "pcap-out/pcap_file.h"

// The thread of a node remembers here the last frame that it noted.
typedef struct at_node {
    alignas(SIM_CACHE_LINE) const net_packet_t *packet;
    sim_time_t time_ps;
    const net_port_t *port;
    pcap_out_place_t place;
    const net_packet_t *marked; // its next frame gets a comment
    uint64_t marked_bytes;
} at_node_t;

typedef struct counts {
    uint64_t frames;
    uint64_t drops;
} counts_t;

struct pcap_out_fabric {
    const net_t *net;
    pcap_out_ng_t *ng;
    pcap_out_filter_t *filter;
    sim_stream_t *stream;
    at_node_t *nodes; // by the node's index
    size_t node_count;
    size_t port_count;
    const net_port_t **ports;        // by uid; NULL: not captured
    uint32_t *interfaces;            // by uid and place
    counts_t *counts;                // by uid and place
    pcap_out_fabric_config_t config; // without the texts
    char *section;
    uint32_t points;

    sim_buffer_t pending; // an item: the last frame, with the comments so far
    bool is_triggered;    // by a comment on the pending frame
    sim_time_t open_until_ps;
    bool is_open; // some trigger has come
    uint64_t triggers;
    pcap_out_held_t before;      // frames that a trigger may still ask for
    pcap_out_held_t ring;        // with a trigger
    pcap_out_ring_t *nodes_ring; // a ring or a trigger, not both; NULL: none
    bool *chosen;                // in_logs: frames of the file, by uid and place; NULL: all
    bool in_logs;                // nodes_ring: nodes note most frames by themselves (net/log.h)
    uint64_t frames;
    uint64_t left_out;
    uint64_t skipped;
    sim_pool_t *pool; // of one packet, in which noted packets become frames
    net_packet_t *packet;
};

static inline const net_port_t *pcap_out__sender_of(const net_port_t *port, pcap_out_place_t place)
{
    return place == PCAP_OUT_RECEIVED ? port->peer : port;
}

// pcap-out/fabric/listen.c: returns the trace points of a direction.
uint32_t pcap_out__points_of(pcap_out_direction_t direction);
// Lets nodes note frames by themselves, if the file shows the frames of many ports and switches
// send on what they receive: sets in_logs.
void pcap_out__fabric_attach_logs(pcap_out_fabric_t *fabric);
// Listens at a port.
void pcap_out__fabric_listen(pcap_out_fabric_t *fabric, net_port_t *port);

#endif // PCAP_OUT_FABRIC_FABRIC_INTERNAL_H
