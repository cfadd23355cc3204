// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/programs.h - finds programs that are slow themselves, whatever the network.
#ifndef CLI_EXPLAIN_CAUSES_PROGRAMS_H
#define CLI_EXPLAIN_CAUSES_PROGRAMS_H

#include "cli/explain/explain_internal.h"

// Reports ranks that compute longer than others, computations that others wait for, and more
// requests than the nodes of a serving system can take.
void cli__explain_programs(explain_t *explain);

#endif // CLI_EXPLAIN_CAUSES_PROGRAMS_H
