// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/hardware.h - finds what is broken, and what lost packets.
#ifndef CLI_EXPLAIN_CAUSES_HARDWARE_H
#define CLI_EXPLAIN_CAUSES_HARDWARE_H

#include "cli/explain/explain_internal.h"

void cli__explain_hardware(explain_t *explain);
// losses.c
// Reports links that lose more frames than others do, and losses that all links have.
void cli__explain_losses(explain_t *explain);
// Reports switches that dropped packets of a class which most other switches protect by PFC.
void cli__explain_mismatch(explain_t *explain);
// Reports packets that hosts or switches dropped for reasons that no other finding is about.
void cli__explain_drops(explain_t *explain);
// Returns "leaf0--host3" for a port of the link; the caller frees it.
char *cli__explain_link_name(const explain_t *explain, uint32_t uid);
// Adds the flows whose data or answers pass the link, if they lost time; returns that time.
double cli__explain_flows_of_link(const explain_t *explain, explain_finding_t *finding,
                                  uint32_t uid, bool retransmitted);
// Offers selective retransmission, where the run had none.
void cli__explain_remedy_selective(const explain_t *explain, explain_finding_t *finding,
                                   const char *why);

#endif // CLI_EXPLAIN_CAUSES_HARDWARE_H
