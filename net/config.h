// SPDX-License-Identifier: Apache-2.0
// net/config.h - settings of networks and links.
#ifndef NET_CONFIG_H
#define NET_CONFIG_H

#include "kernel/attribute.h"
#include "net/packet.h"

SIM_C_BEGIN

typedef enum net_forwarding {
    NET_FORWARDING_ROUTED,   // each switch decrements TTL and rewrites MACs
    NET_FORWARDING_SWITCHED, // switches leave the frame as it is
} net_forwarding_t;

typedef enum net_model {
    NET_MODEL_PACKET,
    NET_MODEL_MESSAGE, // messages of HERD as units, and one queue a hop: net/message.h
} net_model_t;

// Where the draws of switches and links about a packet come from: a stream of the port, or a number
// that the packet carries. net/draws.h
typedef enum net_draws { NET_DRAWS_STREAM, NET_DRAWS_PACKET } net_draws_t;

// Settings of the whole network.
typedef struct net_config {
    net_model_t model;
    uint64_t message_overhead_bytes; // of each message on links, with NET_MODEL_MESSAGE
    net_forwarding_t forwarding;
    bool ipv6;
    bool tagged; // data frames carry an 802.1Q tag with the class as PCP
    uint64_t vlan_id;
    sim_time_t convergence_ps;   // time from a link change to the new routes
    uint64_t trim_dscp;          // of packets trimmed between switches (switch.mmu trimming)
    uint64_t trim_last_hop_dscp; // of packets trimmed before the receiving host
    uint64_t int_multiplier;     // factor of INT's units of bytes
    uint64_t int_reserved_hops;  // INT records for which packets have room from the start
    net_draws_t draws;           // of marks, losses and telemetry
    sim_ratio_t pint_base;       // ratio of neighbouring values of PINT's digests
    sim_time_t pint_rtt_ps;      // T of PINT's utilization
    sim_name_t balance;          // load balancer, a row of net/models.h; "": ecmp
    sim_name_t routes;           // order of routes, a row of net/models.h; "": shortest
    sim_name_t timing;           // time of frames, a row of net/models.h; "": exact
    sim_name_t framing;          // overhead of frames, a row of net/models.h; "": ethernet
} net_config_t;

// Pattern of losses, frames that they affect, and their direction: net/loss.h.
typedef enum net_loss_model {
    NET_LOSS_INDEPENDENT,
    NET_LOSS_BURSTS,         // runs of link.loss-burst frames, a fifth more or less
    NET_LOSS_HIGH_FREQUENCY, // 2 or more of link.loss-burst consecutive frames
    NET_LOSS_AMAZON,         // this and the next two: mixes of bursts, dense runs, single losses
    NET_LOSS_GOOGLE,
    NET_LOSS_MICROSOFT,
    NET_LOSS_GILBERT_ELLIOTT,
} net_loss_model_t;

typedef enum net_loss_packets { NET_LOSS_OF_ALL, NET_LOSS_OF_DATA } net_loss_packets_t;
typedef enum net_loss_direction {
    NET_LOSS_BOTH,
    NET_LOSS_FORWARD,  // frames sent by the link's first node (argument a of net_link_add)
    NET_LOSS_BACKWARD, // frames sent by the other node
} net_loss_direction_t;

typedef enum net_flow_control {
    NET_FLOW_CONTROL_PFC,
    NET_FLOW_CONTROL_CBFC, // credits of Ultra Ethernet (docs/models/link-layer.md)
    NET_FLOW_CONTROL_NONE,
} net_flow_control_t;

// Values of the link layer of Ultra Ethernet where a configuration has 0.
#define NET_CREDIT_BYTES 128u
#define NET_CREDITS_MAX 32767u // a CF_Update has 15 bits for the counter of a class
#define NET_CF_SPACING_BYTES 6400u
#define NET_CF_REPEAT_BYTES 262144u
#define NET_CC_INTERVAL_PS (256 * SIM_PS_PER_US)
#define NET_LLR_SPACING_BYTES 2048u

typedef struct net_link_config {
    uint64_t rate_bps;          // > 0
    uint64_t backward_bps;      // of what the other node (argument b) sends; 0, SIM_AUTO: rate_bps
    sim_time_t delay_ps;        // >= 1, one way
    sim_ratio_t loss_rate;      // share of frames lost
    sim_ratio_t bit_error_rate; // chance of each bit to be wrong; a frame with one is lost
    bool loss_own;              // loss_rate was set for this link, not for all links
    net_loss_model_t loss_model;
    net_loss_packets_t loss_packets;
    net_loss_direction_t loss_direction;
    uint64_t loss_burst;       // mean length of a loss event in frames
    sim_ratio_t loss_bad_rate; // Gilbert-Elliott: share of frames lost in the bad state
    sim_ratio_t reorder_rate;  // share of frames held back by reorder_delay_ps
    sim_time_t reorder_delay_ps;
    sim_ratio_t duplicate_rate; // share of frames that arrive twice
    // Headroom of each lossless class for what the link's first node sends, at the switch that
    // receives it, and for what the other node sends. 0, SIM_AUTO: switch.pfc.headroom.
    uint64_t headroom_bytes;
    uint64_t backward_headroom_bytes;
    bool flits; // frames have no preamble, FCS or gap: a link of accelerators (net/scale_up.h)
    net_flow_control_t flow_control; // of the lossless classes, in both directions
    uint64_t credit_bytes;           // bytes of the receiver's buffer that a credit stands for
    uint64_t credits;                // of each class; 0, SIM_AUTO: as many as the link needs
    uint64_t cf_spacing_bytes;       // of link time between two CF_Updates, at least
    uint64_t cf_repeat_bytes;        // of link time after which a CF_Update is repeated
    sim_time_t cc_interval_ps;       // between two CC_Updates
    bool llr_enabled;                // link layer retry, in both directions
    uint64_t llr_buffer_bytes;       // of frames without an acknowledgement; 0, SIM_AUTO: enough
    sim_time_t llr_timer_ps;         // without an acknowledgement; 0, SIM_AUTO: three round trips
    uint64_t llr_spacing_bytes;      // of link time between two acknowledgements, at least
} net_link_config_t;

// Returns the rate of the frames that the link's second node sends.
static inline uint64_t net_link_backward_bps(const net_link_config_t *config)
{
    const bool own = config->backward_bps != 0 && config->backward_bps != SIM_AUTO;
    return own ? config->backward_bps : config->rate_bps;
}

extern const sim_attr_table_t net_config_attrs;      // "network."
extern const sim_attr_table_t net_link_config_attrs; // "link."

SIM_C_END

#endif // NET_CONFIG_H
