// SPDX-License-Identifier: Apache-2.0
// nic/cc/hpcc_law.h - HPCC's control law: from a utilization to a queue pair's window and rate.
//
// The law that HPCC and HPCC-PINT share. Each reads the utilization U of the path in its own way;
// the law steers towards U = eta from a reference that follows once per round trip:
//
//     X = X_c / (U / eta) + AI    where U >= eta or stage >= max_stage; the stage is 0 again
//     X = X_c + AI                otherwise; the stage counts up
//
// X is the window in bytes (the rate is X / T), as published, or the rate in bit/s (the window is
// in proportion), as in the authors' simulator. Source: Li et al., SIGCOMM 2019, algorithm 1.
// Models: docs/models/hpcc.md, docs/models/hpcc-pint.md.
#ifndef NIC_CC_HPCC_LAW_H
#define NIC_CC_HPCC_LAW_H

#include "nic/congestion.h"

SIM_C_BEGIN

typedef enum nic_hpcc_form { NIC_HPCC_WINDOW, NIC_HPCC_RATE } nic_hpcc_form_t;

// The ACKs to which the law reacts. Every ACK is read and counts in U unless stated otherwise.
typedef enum nic_hpcc_reaction {
    NIC_HPCC_BY_REFERENCE, // each ACK changes X, one per round trip X_c too
    NIC_HPCC_PER_RTT,      // only the one per round trip changes anything
    NIC_HPCC_PER_RTT_ONLY, // likewise, and the others are not read: U is of a round trip's ends
    NIC_HPCC_PER_ACK,      // each ACK changes X_c
} nic_hpcc_reaction_t;

// The limit of the bytes in flight.
typedef enum nic_hpcc_limit {
    NIC_HPCC_LIMIT_SCALED, // W, or the bandwidth-delay product in proportion to the rate
    NIC_HPCC_LIMIT_FIXED,  // the bandwidth-delay product
    NIC_HPCC_LIMIT_NONE,   // only the queue pair's own window
} nic_hpcc_limit_t;

typedef struct nic_hpcc_law_config {
    nic_hpcc_form_t form;
    nic_hpcc_reaction_t reaction;
    nic_hpcc_limit_t limit;
    sim_ratio_t eta;
    uint64_t max_stage;
    uint64_t window_ai_bytes; // W_AI
    uint64_t rate_ai_bps;
    uint64_t min_rate_bps;
} nic_hpcc_law_config_t;

// The reference value X_c and its stage.
typedef struct nic_hpcc_reference {
    double value;
    uint32_t stage;
} nic_hpcc_reference_t;

// The state of the law, one per queue pair.
typedef struct nic_hpcc_law {
    const nic_hpcc_law_config_t *config;
    double eta;
    double increase;              // AI
    double least;                 // of X
    double most;                  // of X
    uint64_t window_own_bytes;    // of the queue pair, never exceeded
    uint64_t update_psn;          // an ACK beyond it may change X_c; see nic__hpcc_law_ack
    nic_hpcc_reference_t current; // X_c and its stage
    double applied;               // X
    sim_time_t stopped_ps;        // the last moment of activity; NEVER: none yet
    bool started;                 // update_psn is known
} nic_hpcc_law_t;

typedef enum nic_hpcc_step {
    NIC_HPCC_IGNORE,  // the ACK changes nothing
    NIC_HPCC_FIRST,   // the first ACK: it set update_psn, and there is no record to compare with
    NIC_HPCC_MEASURE, // the ACK changes U
    NIC_HPCC_REACT,   // the ACK changes U, and X is computed from X_c
    NIC_HPCC_UPDATE,  // the ACK changes U, X and X_c
} nic_hpcc_step_t;

// Initialises the law. Returns false if the path has no known round trip; then nothing is
// controlled.
bool nic__hpcc_law_init(nic_hpcc_law_t *law, const nic_hpcc_law_config_t *config, nic_cc_t *cc);

// Informs the law that the queue pair becomes active. Returns true if it was inactive for a round
// trip or more: it begins again at line rate like a new flow, and the caller must forget its
// measurements.
bool nic__hpcc_law_start(nic_hpcc_law_t *law, nic_cc_t *cc);
void nic__hpcc_law_stop(nic_hpcc_law_t *law, const nic_cc_t *cc);

// Returns what an ACK may change.
nic_hpcc_step_t nic__hpcc_law_ack(nic_hpcc_law_t *law, const nic_cc_ack_t *ack);
// Completes a NIC_HPCC_UPDATE: the next update follows the ACK of the packets sent until now.
void nic__hpcc_law_updated(nic_hpcc_law_t *law, const nic_cc_ack_t *ack);

// Returns X and its stage for a utilization, computed from a reference.
nic_hpcc_reference_t nic__hpcc_law_next(const nic_hpcc_law_t *law, const nic_hpcc_reference_t *from,
                                        double utilization);
// Makes the queue pair follow X.
void nic__hpcc_law_apply(nic_hpcc_law_t *law, nic_cc_t *cc, double value);

// Rows of an attribute table for a config struct that begins with the law's.
// clang-format off
#define NIC_HPCC_LAW_ATTRS(prefix)                                                                \
    SIM_ATTR_ROW(nic_hpcc_law_config_t, ENUM, prefix "law", form, "window", "window|rate", "value that the algorithm computes: a window, as published, or a rate, as the authors' simulator does"), \
    SIM_ATTR_ROW(nic_hpcc_law_config_t, ENUM, prefix "reaction", reaction, "reference", "reference|per-rtt|per-rtt-only|per-ack", "each ACK reacts from a reference that follows once a round trip; or one ACK a round trip reacts; or one is read at all; or each moves the reference"), \
    SIM_ATTR_ROW(nic_hpcc_law_config_t, ENUM, prefix "limit", limit, "scaled", "scaled|fixed|none", "bytes in flight: in proportion to the rate, the bandwidth-delay product, or whatever the queue pair's own window is"), \
    SIM_ATTR_ROW(nic_hpcc_law_config_t, RATIO, prefix "eta", eta, "95%", "1%", "100%", "the utilization it steers for"), \
    SIM_ATTR_ROW(nic_hpcc_law_config_t, COUNT, prefix "max-stage", max_stage, "0", NULL, "1000", "number of round trips of additive increase before a multiplicative one (0: always multiplicative; the paper's text says 5, its results are of 0)"), \
    SIM_ATTR_ROW(nic_hpcc_law_config_t, BYTES, prefix "window-ai", window_ai_bytes, "80", NULL, "1GB", "W_AI: bytes that each change adds to the window (law: window)"), \
    SIM_ATTR_ROW(nic_hpcc_law_config_t, RATE, prefix "rate-ai", rate_ai_bps, "40Mbps", "0bps", NULL, "rate that each change adds to the sending rate (law: rate)"), \
    SIM_ATTR_ROW(nic_hpcc_law_config_t, RATE, prefix "min-rate", min_rate_bps, "100Mbps", "1Mbps", NULL, "lower limit of the rate; the window has at least what this rate sends in a round trip")
// clang-format on

SIM_C_END

#endif // NIC_CC_HPCC_LAW_H
