// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/rules.h - the rules of the HPCC project's ns-3 simulator, for runs that must give the
// same results as its own: docs/models/hpcc-compat.md.
//
// The rules are rows "hpcc" of the tables of net/models.h, selected by name (network.timing: hpcc,
// ...), and a group of attributes "hpcc." for rules without a table. All are off by default.
#ifndef COMPAT_HPCC_RULES_H
#define COMPAT_HPCC_RULES_H

#include "kernel/attribute.h"
#include "nic/extra.h"
#include "nic/frames.h"
#include "nic/scheduler.h"

SIM_C_BEGIN

typedef enum compat_hpcc_draws {
    COMPAT_HPCC_DRAWS_OWN,
    COMPAT_HPCC_DRAWS_HPCC
} compat_hpcc_draws_t;

// Settings of the whole network.
typedef struct compat_hpcc_config {
    bool pause_expires; // a pause ends when its quanta have run out
    bool down_first;    // a link goes down before a packet that arrives at the same instant
    uint64_t ecmp_port; // destination port in the hash of load balancer "hpcc"; 0: each flow's
    compat_hpcc_draws_t draws; // where ties go by insertion
    uint64_t draws_used;       // streams used up before the first draw
} compat_hpcc_config_t;

extern const sim_attr_table_t compat_hpcc_config_attrs; // "hpcc."

// -- the NIC's side: rows for nic_config_init_with (nic/extra.h)

typedef enum compat_hpcc_rate_change {
    COMPAT_HPCC_RATE_CHANGE_NEVER,
    COMPAT_HPCC_RATE_CHANGE_LAST_PACKET
} compat_hpcc_rate_change_t;

// Settings of the scheduler "scan".
typedef struct compat_hpcc_scan_config {
    compat_hpcc_rate_change_t rate_change;
    bool rate_bound;          // queue pairs keep to their rate
    uint64_t ack_pause_class; // class whose pause stops ACKs; SIM_AUTO: their own
} compat_hpcc_scan_config_t;
extern const sim_attr_table_t compat_hpcc_scan_config_attrs; // "nic.scan."
extern const nic_scheduler_ops_t compat_hpcc_scan;

// Settings of the frames "bare".
typedef struct compat_hpcc_bare_config {
    uint64_t header_bytes; // bytes of a data frame besides its payload
    uint64_t answer_bytes; // bytes of an ACK's or NAK's frame
} compat_hpcc_bare_config_t;
extern const sim_attr_table_t compat_hpcc_bare_config_attrs; // "nic.bare."
extern const nic_frames_ops_t compat_hpcc_bare;

extern const nic_extra_t compat_hpcc_nic_rows[];
extern const size_t compat_hpcc_nic_row_count;

// Registers the rows "hpcc" with a network and applies config, which is copied. Before switches are
// added.
void compat_hpcc_register(net_t *net, const compat_hpcc_config_t *config);

// Returns the time of `bytes` on a link of that simulator, in ps but cut to whole nanoseconds.
sim_time_t compat_hpcc_time_ps(uint64_t bytes, uint64_t rate_bps);

SIM_C_END

#endif // COMPAT_HPCC_RULES_H
