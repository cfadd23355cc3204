// SPDX-License-Identifier: Apache-2.0
// cli/capture/follow_internal.h - one packet in a capture, as `capture follow` reads it.
//
// follow.c is the command. journeys.c reads the file once, finds the frames of the packet and joins
// them to journeys. waits.c reads it again and splits the waiting times. follow_print.c prints.
#ifndef CLI_CAPTURE_FOLLOW_INTERNAL_H
#define CLI_CAPTURE_FOLLOW_INTERNAL_H

#include "cli/capture/capture.h"

// Distinguishes a copy of the packet from others of the same queue pair number and PSN: those to
// other hosts, and those that were sent again by another path. Switches leave it as it is.
typedef struct label {
    bool is_ipv6;
    uint8_t source_ip[16]; // of the NIC's plane
    uint8_t destination_ip[16];
    uint16_t udp_source_port;
    char *receiver; // the host of the destination's address; NULL: the file does not show it
} label_t;

// A frame of the packet.
typedef struct sight {
    size_t label; // in follow_t.labels
    sim_time_t time_ps;
    char *port; // name of the interface
    pcap_out_ng_way_t way;
    uint64_t rate_bps;
    uint32_t bytes;
    bool is_used;
    char *comment; // of what happened to it; NULL: nothing
    uint8_t class;
} sight_t;

// The time between two sights of a journey.
typedef struct hop {
    size_t from; // sights
    size_t to;
    bool is_link;
    uint64_t behind_ps; // wait: other frames were on the link
    uint64_t frames;    // number of these frames
    uint64_t paused_ps; // wait: the peer had stopped the class, and no frame was on the link
    uint64_t end_ps;    // up to which behind_ps and paused_ps are counted
} hop_t;

typedef struct journey {
    size_t first; // hops
    size_t count;
    size_t start; // sights
    size_t last;
} journey_t;

typedef struct follow {
    const char *path;
    char *host;
    uint64_t qp;
    uint64_t psn;
    uint64_t time; // 1: the first time that it was sent; 0: all times
    label_t *labels;
    size_t label_count;
    size_t label_capacity;
    const char *kind; // of the packet, for people
    sight_t *sights;
    size_t sight_count;
    size_t sight_capacity;
    hop_t *hops;
    size_t hop_count;
    size_t hop_capacity;
    journey_t *journeys;
    size_t journey_count;
    size_t journey_capacity;
} follow_t;

// Calls fn with ctx for each frame of a capture.
typedef void (*cli__follow_frame_fn)(void *ctx, const pcap_out_read_frame_t *frame,
                                     const pcap_out_read_interface_t *interface);
SIM_MUST_CHECK sim_err_t cli__follow_each_frame(const char *path, cli__follow_frame_fn fn,
                                                void *ctx, world_error_t *error);

// Reads the file and joins the frames of the packet to journeys, one for each time that it was
// sent. There is none if the file does not hold the packet.
SIM_MUST_CHECK sim_err_t cli__follow_journeys(follow_t *follow, world_error_t *error);

// Reads the file again and fills the hops' behind_ps, frames and paused_ps, exactly, in ps, and the
// labels' receivers.
SIM_MUST_CHECK sim_err_t cli__follow_waits(follow_t *follow, world_error_t *error);

// Returns whether the port belongs to the node: "host3->leaf0", or "host3/nic1->leaf0".
bool cli__follow_is_of(const char *port, const char *node);

// Returns the name of the port's node; the caller frees it with sim_free.
char *cli__follow_node_of(const char *port);

bool cli__follow_is_dropped(const sight_t *sight);

// Returns the time in ps that a frame with preamble, FCS and gap takes on a link, rounded down; 0
// if the rate is not known.
uint64_t cli__follow_frame_ps(uint32_t bytes, uint64_t rate_bps);

#endif // CLI_CAPTURE_FOLLOW_INTERNAL_H
