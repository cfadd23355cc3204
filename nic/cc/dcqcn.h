// SPDX-License-Identifier: Apache-2.0
// nic/cc/dcqcn.h - the reaction point of DCQCN: parameters and state of one QP.
//
// Model, sources, limits and validation: docs/models/dcqcn.md. The header is open for tests and for
// programs that set parameters in C; nothing else looks inside.
#ifndef NIC_CC_DCQCN_H
#define NIC_CC_DCQCN_H

#include "nic/congestion.h"

SIM_C_BEGIN

// The rule by which CNPs become cuts. The parameters have the same meaning in each variant.
typedef enum nic_dcqcn_variant {
    // The rule of adapters: periods are counted from the first CNP on. At the end of each
    // dce_tcp_rtt alpha is updated, upwards if a CNP came in it. At the end of each
    // rate_reduce_monitor_period in which a CNP came, the rate is cut. A QP back at full rate loses
    // its state.
    NIC_DCQCN_VENDOR,
    // The published rule (Zhu et al., SIGCOMM 2015): each CNP cuts the rate, then raises alpha and
    // restarts the timer of alpha's decay. The state is kept as long as the QP lives.
    NIC_DCQCN_PAPER,
} nic_dcqcn_variant_t;

// The way in which the reaction point learns of marked packets.
typedef enum nic_dcqcn_feedback {
    NIC_DCQCN_FEEDBACK_CNP, // packets of their own, as often as the notification point sends them
    NIC_DCQCN_FEEDBACK_ACK, // BECN in the ACK of each packet that was marked
} nic_dcqcn_feedback_t;

// Attributes "nic.dcqcn.", with the vendor's names.
typedef struct nic_dcqcn_config {
    nic_dcqcn_variant_t variant;
    nic_dcqcn_feedback_t feedback;
    sim_time_t rpg_time_reset_ps;  // T: between increases by time
    uint64_t rpg_byte_reset_bytes; // B: sent between increases by bytes; 0: none
    uint64_t rpg_threshold;        // F: increases of one kind that are fast recovery
    uint64_t rpg_ai_rate_bps;      // R_AI
    uint64_t rpg_hai_rate_bps;     // R_HAI
    uint64_t rpg_max_rate_bps;     // 0: the line's
    uint64_t rpg_min_rate_bps;     // a cut goes no lower
    uint64_t rpg_gd;               // a cut takes alpha x 1024 / 2^gd of the rate
    sim_ratio_t rpg_min_dec_fac;   // a cut leaves at least this of the rate
    uint64_t
        rate_to_set_on_first_cnp_bps; // rate from which the first cut starts; 0: the current one
    uint64_t initial_alpha_value;     // 1024ths
    uint64_t dce_tcp_g;               // 1024ths of the old alpha kept by an update: 1 - g
    sim_time_t dce_tcp_rtt_ps;        // between updates of alpha
    sim_time_t rate_reduce_monitor_period_ps; // 0: each CNP cuts
    bool clamp_tgt_rate;                      // each cut lowers the target rate too
    bool clamp_tgt_rate_after_time_inc;       // a cut after an increase by time lowers it
} nic_dcqcn_config_t;

// The state of a QP. A QP that was never cut, or is back at its full rate, has no deadline and
// costs nothing.
typedef struct nic_dcqcn {
    nic_cc_t cc;            // first; cc.rate_bps is R_C
    sim_timer_t timer;      // at the earlier of cut_ps and increase_ps, while running
    bool limited;           // since a first CNP
    bool running;           // between start and stop
    bool cnp_seen;          // in the current period of alpha
    uint32_t time_stage;    // number of increases by time since the last cut
    uint32_t byte_stage;    // number of increases by bytes since the last cut
    uint64_t target_bps;    // R_T
    uint64_t bytes_left;    // to send until the next increase by bytes; huge: none is due
    double alpha;           // estimate of congestion, 0..1, as of alpha_ps
    sim_time_t alpha_ps;    // end of the last period of alpha accounted for
    sim_time_t limited_ps;  // of the first CNP: monitor periods count from here
    sim_time_t cut_ps;      // the next cut; NEVER: none is due
    sim_time_t increase_ps; // the next increase by time; NEVER: none is due
} nic_dcqcn_t;

extern const sim_attr_table_t nic_dcqcn_attrs; // "nic.dcqcn."
extern const nic_cc_ops_t nic_cc_dcqcn;

SIM_C_END

#endif // NIC_CC_DCQCN_H
