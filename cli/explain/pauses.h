// SPDX-License-Identifier: Apache-2.0
// cli/explain/pauses.h - joins pauses to trees, and shares links fairly.
#ifndef CLI_EXPLAIN_PAUSES_H
#define CLI_EXPLAIN_PAUSES_H

#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"

// fair_share.c: fills shared_ps, excess_ps and bottlenecks of flows and ports by max-min fairness.
void cli__explain_share(explain_t *explain);
// pauses.c
// Sorts the roots by time and sums their pauses.
void cli__explain_roots(explain_t *explain);
// Returns the port whose stop made the node of `uid`'s peer stop `uid`: the parent in the tree of
// the root. EXPLAIN_NONE: the root itself.
uint32_t cli__explain_parent(const explain_t *explain, const explain_root_t *root, uint32_t uid);
// Fills cycle with ports that wait for each other at the end. Returns how many.
size_t cli__explain_cycle(const explain_t *explain, size_t *cycle);

#endif // CLI_EXPLAIN_PAUSES_H
