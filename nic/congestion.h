// SPDX-License-Identifier: Apache-2.0
// nic/congestion.h - congestion control as a table of operations, one per algorithm.
//
// An algorithm owns a state of state_bytes per QP, which the NIC creates zeroed. It sets two
// numbers: the rate at which the QP paces its packets, and the window of unacknowledged bytes. The
// operations below inform it of what happens to the QP, in events of the QP's host. It may arm
// timers of its own; it must not send. nic.congestion-control names a row of nic_cc_all or of the
// program's registry (nic/extra.h); or a program sets nic_config_t.custom_cc.
#ifndef NIC_CONGESTION_H
#define NIC_CONGESTION_H

#include "kernel/attribute.h"
#include "kernel/event.h"
#include "kernel/fields.h"
#include "net/paths.h"
#include "net/telemetry.h"
#include "nic/nic.h"

SIM_C_BEGIN

typedef struct nic_cc nic_cc_t;
typedef struct nic_cc_ops nic_cc_ops_t;

#define NIC_WINDOW_UNLIMITED UINT64_MAX

// nic.bdp-window: whether a QP has a window of its bandwidth-delay product, besides the
// algorithm's.
typedef enum nic_bdp_window {
    NIC_BDP_WINDOW_NONE,
    NIC_BDP_WINDOW_FIXED,  // line rate x base RTT
    NIC_BDP_WINDOW_SCALED, // current rate x base RTT
} nic_bdp_window_t;

// The part of a QP's state that the NIC and the algorithm share. The algorithm's own state follows
// in memory.
struct nic_cc {
    const nic_cc_ops_t *ops;
    const void *config; // the algorithm's config struct for this NIC
    sim_node_t *node;
    uint64_t rate_bps;     // current pacing rate, 0 < rate <= line_bps
    uint64_t window_bytes; // NIC_WINDOW_UNLIMITED: none
    uint64_t line_bps;     // the port's rate, or the QP's rate_max if lower
    uint32_t mtu_bytes;    // payload of a full packet
    bool active;           // the QP has something unsent or unacknowledged
    uint64_t bdp_bytes;    // for windows: as configured, or base RTT x line rate; 0: unknown
    sim_time_t base_rtt_ps;
    uint64_t id;             // number of its random draws, by its ends, port and first PSN
    uint32_t int_multiplier; // factor of the units in INT's records
    const net_pint_t *pint;  // the meaning of PINT's digests; NULL: nobody wanted PINT
    uint32_t overhead_bytes; // on the link, of a data packet besides its payload
    // Copied from nic_cc_ops_t before init(); init() may change them if a parameter decides.
    bool hears_acks;
    bool acks_every_packet;
    bool echoes_ecn;
    uint8_t bdp_window;   // nic_bdp_window_t: a window besides window_bytes; set by the NIC
    bool draws_by_packet; // network.draws: packet; set by the NIC
    // Set by an algorithm that paces bursts: packets follow each other at the port's rate until
    // this many bytes on the link are out, and then the QP pauses, so that the burst with its pause
    // has rate_bps. 0: packet by packet. At most NIC_CC_BURST_BYTES_MAX.
    uint32_t burst_bytes;
    uint32_t burst_sent_bytes; // set by the NIC, like burst_start_ps
    sim_time_t burst_start_ps;
    // True: HPCC's law assigned rate_bps, possibly an equal value. compat/hpcc reads it: the HPCC
    // simulator looks at the QP again after every assignment.
    bool rate_set;
    const struct net_dice *dice; // net/models.h; NULL: algorithms draw from streams of their own
};

#define NIC_CC_BURST_BYTES_MAX (UINT32_C(1) << 20)

typedef struct nic_cc_ack {
    sim_time_t rtt_ps; // round trip of the packet that caused the ACK; 0: unknown (stamps_packets)
    // The part of it in the NICs of both hosts, after the links (hears_hosts); 0: none, or unknown.
    sim_time_t host_ps;
    uint64_t acked_bytes; // newly acknowledged payload
    uint64_t acked_psn;   // 64-bit count of packets acknowledged so far
    uint64_t next_psn;    // 64-bit count of packets sent so far
    bool nak;             // a sequence error NAK
    bool ecn_echo;        // the packet it answers was marked CE (where echoes_ecn)
    const net_packet_t *packet;
    // The telemetry that the answered packet collected. NONE: nobody asked for it, or that packet's
    // ACK had to wait behind READ responses. Valid during the call.
    net_telemetry_t telemetry;
    uint32_t hop_count;   // INT: records, in the order of the path
    uint16_t path_id;     // another one: other switches
    uint16_t digest;      // PINT
    const uint64_t *hops; // INT (net/telemetry.h)
} nic_cc_ack_t;

// clang-format off
// The rows of the fields that the NIC and all algorithms share: those that may change, with the rule
// of fast-forward for the fields that algorithms set, and the others.
#define NIC_CC_FIELD(member_, repeat_) SIM_FIELD(nic_cc_t, member_, repeat_)
#define NIC_CC_SAME(member_) SIM_FIELD(nic_cc_t, member_, FIXED)
#define NIC_CC_FIELDS(set_, burst_, until_) \
    NIC_CC_FIELD(rate_bps, set_), NIC_CC_FIELD(window_bytes, set_), \
    NIC_CC_FIELD(rate_set, set_), NIC_CC_FIELD(burst_sent_bytes, burst_), \
    NIC_CC_FIELD(burst_start_ps, until_), \
    NIC_CC_SAME(ops), NIC_CC_SAME(config), NIC_CC_SAME(node), NIC_CC_SAME(line_bps), \
    NIC_CC_SAME(mtu_bytes), NIC_CC_SAME(active), NIC_CC_SAME(bdp_bytes), \
    NIC_CC_SAME(base_rtt_ps), NIC_CC_SAME(id), NIC_CC_SAME(int_multiplier), NIC_CC_SAME(pint), \
    NIC_CC_SAME(overhead_bytes), NIC_CC_SAME(hears_acks), NIC_CC_SAME(acks_every_packet), \
    NIC_CC_SAME(echoes_ecn), NIC_CC_SAME(bdp_window), NIC_CC_SAME(draws_by_packet), \
    NIC_CC_SAME(burst_bytes), NIC_CC_SAME(dice), \
    SIM_FIELD_BITS(nic_cc_t, active, bdp_bytes), SIM_FIELD_BITS(nic_cc_t, int_multiplier, pint), \
    SIM_FIELD_BITS(nic_cc_t, draws_by_packet, burst_bytes), \
    SIM_FIELD_BITS(nic_cc_t, burst_sent_bytes, burst_start_ps), \
    SIM_FIELD_BITS(nic_cc_t, rate_set, dice)
// clang-format on

struct nic_cc_ops {
    const char *name;              // "dcqcn"
    size_t state_bytes;            // sizeof the algorithm's struct, which starts with a nic_cc_t
    const sim_attr_table_t *attrs; // "nic.dcqcn."; NULL: no parameters
    // The attribute of attrs that is added to the rate once for each round trip, in bps, as in
    // "ai-rate"; NULL: rates rise another way.
    const char *increase;

    // The next three fields say what the algorithm needs to hear on reliable connections. The
    // sender's algorithm counts, whatever the receiver's is: each packet says how it is to be
    // answered, as if the ends had agreed when they connected. READ requests and responses say
    // nothing.
    net_telemetry_t telemetry; // packets of SENDs and WRITEs collect it, ACKs bring it back
    bool acks_every_packet;    // each asks for an ACK, and ACKs that wait are not merged
    bool echoes_ecn;           // a CE mark comes back in the packet's ACK instead of as a CNP
    // Packets carry their send time, so that the ACK of a repeated packet gives a round trip, too.
    bool stamps_packets;
    // ACKs report how long detailed NICs had the packet, and then the ACK, before they served it.
    bool hears_hosts;
    // True: a packet may start while less than the window is unacknowledged, and go beyond it.
    // False: a packet starts only if it fits. True suits windows of a few packets, which pacing is
    // to distinguish.
    bool window_overshoots;

    // Called when the QP got connected: rate_bps is line_bps, window_bytes the QP's own. It may
    // change both.
    void (*init)(nic_cc_t *cc);
    // Called when the QP had nothing unsent or unacknowledged, and gets something. It may start
    // timers.
    void (*start)(nic_cc_t *cc);
    // Called when everything is sent and acknowledged, or the QP dies. It cancels timers. start may
    // follow.
    void (*stop)(nic_cc_t *cc);
    // Called when a data packet starts on the wire; bytes: its length on the link, frame and
    // overhead.
    void (*sent)(nic_cc_t *cc, uint32_t bytes);
    // Called when a CNP for this QP arrived.
    void (*cnp)(nic_cc_t *cc);
    // Called when an ACK or sequence NAK arrived, after the QP's own accounting.
    void (*ack)(nic_cc_t *cc, const nic_cc_ack_t *ack);
    // Called when the retransmission timer expired.
    void (*timeout)(nic_cc_t *cc);
    // Names (NULL-terminated) and values of the algorithm's own state, for time series and traces:
    // e.g. "alpha" in millionths.
    const char *const *metric_names;
    uint64_t (*metric)(const nic_cc_t *cc, uint32_t index);
    // The table of the state's fields for spans that are repeated (kernel/fields.h), NIC_CC_FIELDS
    // first.
    // NULL: no span with this algorithm is repeated.
    const struct sim_fields *fields;
}; // any operation may be NULL: nothing to do

// A way to compute the round trip of an idle path, chosen by nic.path-rtt (nic/extra.h).
typedef struct nic_path_rtt_ops {
    const char *name;
    // Returns the round trip. If the slot is NULL, it is that of a full packet and its ACK.
    // *rate_bps is the rate of the bandwidth-delay product, and may be lowered.
    sim_time_t (*rtt_ps)(const net_path_t *path, uint32_t payload_bytes, uint64_t *rate_bps);
} nic_path_rtt_ops_t;
extern const nic_path_rtt_ops_t *const nic_path_rtt_all[]; // ends with NULL

extern const nic_cc_ops_t *const nic_cc_all[]; // ends with NULL

// Informs the NIC that the algorithm changed cc->rate_bps, which it keeps in [1, line_bps]. A
// packet that waits for its turn waits for the rest of its time at the new rate.
void nic_cc_rate_changed(nic_cc_t *cc);

// Returns how many other QPs of the same NIC are active.
uint32_t nic_cc_others_active(const nic_cc_t *cc);

// Takes a NIC out of congestion control: its queue pairs send at line rate, and switches mark none
// of their packets. For links such as NVLink. Before the NIC's first queue pair is made.
void nic_exempt(nic_t *nic);

SIM_C_END

#endif // NIC_CONGESTION_H
