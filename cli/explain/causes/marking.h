// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/marking.h - finds faults of congestion control by marks.
#ifndef CLI_EXPLAIN_CAUSES_MARKING_H
#define CLI_EXPLAIN_CAUSES_MARKING_H

#include "cli/explain/explain_internal.h"

#include "nic/congestion.h"

// Reports thresholds of ECN that are wrong, hosts that send no CNPs, senders that do not react.
void cli__explain_marking(explain_t *explain);
// Returns the congestion control of the flow's sender; NULL: its transport has its own.
const nic_cc_ops_t *cli__explain_control(const explain_t *explain, const explain_flow_t *flow);
// Returns whether the port can mark packets whose senders then slow down.
bool cli__explain_marks_slow(const explain_t *explain, uint32_t uid);

#endif // CLI_EXPLAIN_CAUSES_MARKING_H
