// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/drops.h - finds why switches dropped packets.
#ifndef CLI_EXPLAIN_CAUSES_DROPS_H
#define CLI_EXPLAIN_CAUSES_DROPS_H

#include "cli/explain/explain_internal.h"

// Reports full buffers, classes without PFC, and headroom that is too small.
void cli__explain_full(explain_t *explain);

#endif // CLI_EXPLAIN_CAUSES_DROPS_H
