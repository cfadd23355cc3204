// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/waits.h - finds waits that neither broken parts nor shared ports explain.
#ifndef CLI_EXPLAIN_CAUSES_WAITS_H
#define CLI_EXPLAIN_CAUSES_WAITS_H

#include "cli/explain/explain_internal.h"

// Reports packets that are sent again, rates that recover slowly, and slow hosts.
void cli__explain_waits(explain_t *explain);

#endif // CLI_EXPLAIN_CAUSES_WAITS_H
