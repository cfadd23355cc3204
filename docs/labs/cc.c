// SPDX-License-Identifier: Apache-2.0
// docs/labs/cc.c - exercise 2: a congestion control. A switch marks packets where its queue grows,
// the receiver answers marks with CNPs, and the sender has to slow down. Fill in what GAP says.
#include "world/plugin.h"

// A CNP has come: packets of this queue pair wait somewhere.
static void lab_cnp(nic_cc_t *cc)
{
    // GAP 1: halve cc->rate_bps, but let it be at least 1 % of cc->line_bps
    nic_cc_rate_changed(cc);
}

// An ACK has come: packets get through.
static void lab_ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    (void)ack;
    // GAP 2: add 1/200 of cc->line_bps, but never exceed cc->line_bps
    nic_cc_rate_changed(cc);
}

static const nic_cc_ops_t lab = {
    .name = "lab",
    .state_bytes = sizeof(nic_cc_t),
    .cnp = lab_cnp,
    .ack = lab_ack,
};

WORLD_PLUGIN
{
    return world_registry_add_cc(registry, &lab, error);
}
