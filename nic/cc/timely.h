// SPDX-License-Identifier: Apache-2.0
// nic/cc/timely.h - TIMELY and patched TIMELY: parameters and state of one QP.
//
// Model, sources, limits and validation: docs/models/timely.md. The header is open for tests and
// for programs that set parameters in C; nothing else looks inside.
#ifndef NIC_CC_TIMELY_H
#define NIC_CC_TIMELY_H

#include "nic/congestion.h"

SIM_C_BEGIN

// The moments at which a round-trip time updates the rate.
typedef enum nic_timely_update {
    NIC_TIMELY_PER_SEGMENT, // each segment acknowledged whole, as in the papers
    NIC_TIMELY_PER_RTT,     // the first ACK of what was sent after the last update
    NIC_TIMELY_PER_BURST,   // each whole segment, timed with its own packets before the last
} nic_timely_update_t;

typedef enum nic_timely_start {
    NIC_TIMELY_START_SHARE, // line rate / (QPs of the NIC that are active already + 1)
    NIC_TIMELY_START_LINE,
} nic_timely_start_t;

// Attributes "nic.timely." and, with defaults of their own, "nic.timely-patched.".
typedef struct nic_timely_config {
    nic_timely_update_t update;
    nic_timely_start_t start;
    uint64_t segment_bytes;
    bool burst;                 // a segment leaves at line rate, then the QP pauses
    bool exclude_serialisation; // of the packet itself, from its round-trip time
    sim_ratio_t alpha;          // weight of a new difference of round-trip times
    sim_ratio_t beta;           // of a decrease by the gradient (patched: by the error)
    sim_ratio_t beta_high;      // of a decrease above t_high_ps
    sim_time_t t_low_ps;        // below: increase whatever the gradient
    sim_time_t t_high_ps;       // above: decrease whatever the gradient
    sim_time_t min_rtt_ps;      // gradients are in units of it; at most one update in it
    uint64_t ai_rate_bps;       // delta
    uint64_t hai_rate_bps;      // N x delta; unused by patched TIMELY
    uint64_t hai_threshold;     // increases in a row before
    uint64_t min_rate_bps;
} nic_timely_config_t;

typedef struct nic_timely {
    nic_cc_t cc;           // first
    bool begun;            // a first start was seen
    bool measured;         // rtt_ps is of an update, not 0
    uint32_t increases;    // in a row
    sim_time_t rtt_ps;     // at the last update
    double rtt_diff_ps;    // smoothed difference between updates
    sim_time_t sent_ps;    // when the packet that gave it was
    uint64_t due_psn;      // acknowledgement of it is the next completion
    sim_time_t waiting_ps; // a round-trip time of a segment that is not whole; 0: none
    sim_time_t waiting_sent_ps;
} nic_timely_t;

extern const sim_attr_table_t nic_timely_attrs; // "nic.timely."
extern const nic_cc_ops_t nic_cc_timely;
extern const sim_attr_table_t nic_timely_patched_attrs; // "nic.timely-patched."
extern const nic_cc_ops_t nic_cc_timely_patched;

SIM_C_END

#endif // NIC_CC_TIMELY_H
