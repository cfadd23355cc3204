// SPDX-License-Identifier: Apache-2.0
// net/link/layer.h - the Ultra Ethernet link layer of a port: credits (CBFC) and retries (LLR).
//
// A port has a layer if its link's configuration asks for one. All its frames then take the general
// way through net/link/transmit.c, and its node handles each event in its turn. Control ordered
// sets have a channel of their own, because they overtake the frame on the link: the PCS inserts
// them into it. Their bytes lengthen the next frame. Page: docs/models/link-layer.md.
#ifndef NET_LINK_LAYER_H
#define NET_LINK_LAYER_H

#include "net/port_control.h"

// The credits of one class in both directions, counted since the start.
typedef struct net_vc {
    // as a sender
    uint64_t sent;            // credits that frames have taken: S_VC_CC
    uint64_t returned;        // of these, credits that the peer is known to have freed: S_VC_CF
    uint32_t frame_bytes_max; // largest frame sent so far
    net_packet_t *kept;       // frame of a host that waits for credits; NULL: none
    // as a receiver
    uint64_t arrived;   // credits of frames that have come: R_VC_CC
    uint64_t freed;     // of these, credits of frames that have left the buffer: R_VC_CF
    uint64_t announced; // `freed` in the last CF_Update
} net_vc_t;

struct net_layer {
    net_port_t *port;
    sim_channel_t *sets;      // carries control ordered sets
    sim_time_t set_arrive_ps; // when the last one arrives
    sim_time_t set_end_ps;    // when the last one that found the link idle has left
    uint32_t inserted_bytes;  // of sets since the last frame began

    net_vc_t vcs[NET_PRIORITIES];
    uint32_t credit_bytes;
    uint8_t sends;          // classes with credits in which the port sends
    uint8_t receives;       // classes with credits in which it receives
    uint64_t limit;         // credits of each class, as a sender: S_VC_CL
    uint64_t receive_limit; // credits that the port grants to its peer, by class
    uint8_t withheld;       // classes whose frames keep their credits for now
    uint8_t kept;           // classes with a frame in net_vc_t.kept
    uint8_t unannounced;    // classes whose freed credits a CF_Update must still say
    uint8_t repeats;        // CF_Updates that still repeat the last ones
    uint8_t next_class;     // at which the search for the next CF_Update begins
    bool sync_due;          // a CC_Update waits to be sent
    sim_time_t update_ps;   // when the last CF_Update was sent
    sim_time_t update_spacing_ps;
    sim_time_t repeat_spacing_ps;
    sim_timer_t update_timer; // sends the next CF_Update
    sim_timer_t sync_timer;   // sends a CC_Update

    struct net_retry *retry; // net/link/retry.c; NULL: link.llr.enabled is false
    uint8_t blocked;         // classes that may not send because the replay buffer is full
};

// Returns the value of an attribute; the usual one where it is left open.
static inline uint64_t net__layer_value(uint64_t value, uint64_t usual)
{
    return value != 0 && value != SIM_AUTO ? value : usual;
}
// Returns the time of so many bytes on the link of a port.
static inline sim_time_t net__layer_time_ps(const net_port_t *port, uint64_t bytes)
{
    return (sim_time_t)((sim_wide_t)bytes * 8 * SIM_PS_PER_S / port->line->rate_bps);
}

// Fails with SIM_ERR_INVALID or SIM_ERR_RANGE if the layer of some link cannot be built.
SIM_MUST_CHECK sim_err_t net__layers_check(const net_t *net, sim_message_t *message);
// Gives layers to the ports of all links that ask for one. The ports exist; switches are not built.
void net__layers_build(net_t *net);
void net__layer_fini(net_port_t *port);
// Returns the classes that have credits in the direction of the frames that this port sends.
uint8_t net__layer_classes(const net_port_t *port);
// Returns whether a frame may be sent now. If not, the layer keeps it: only a host sends frames
// that find no credits.
bool net__layer_takes(net_port_t *port, net_packet_t *packet);
// Returns whether a frame is repeated: it left before.
bool net__layer_repeats(const net_port_t *port, const net_packet_t *packet);
// Sends a frame whose last bit arrives then, if the link does not lose it. Takes the packet.
void net__layer_send(net_port_t *port, net_packet_t *packet, sim_time_t arrive_ps);
// Notes that a frame leaves, which will be gone from its queue. Returns the bytes by which sets
// lengthen it.
uint32_t net__layer_sends(net_port_t *port, const net_packet_t *packet);
// Notes that a frame has arrived. Its credits are free unless net_layer_store follows.
void net__layer_arrived(const net_port_t *port, const net_packet_t *packet);
// Applies a message of the layer. Returns the classes that were released.
uint8_t net__layer_received(net_port_t *port, const net_packet_t *packet);
void net__layer_link_changed(net_port_t *port);
// Sends a control ordered set at once. Takes the packet.
void net__layer_send_set(struct net_layer *layer, net_packet_t *packet);
// Returns a new control message of this port, without contents.
net_packet_t *net__layer_message(const struct net_layer *layer, net_control_t control);
// Returns whether the link may lose frames or sets.
bool net__layer_can_lose(const struct net_layer *layer);
// Sends what the layer has to send before all frames, now or at the end of the frame on the link.
void net__layer_kick(struct net_layer *layer);

#endif // NET_LINK_LAYER_H
