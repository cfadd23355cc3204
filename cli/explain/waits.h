// SPDX-License-Identifier: Apache-2.0
// cli/explain/waits.h - finds waits that neither broken parts nor shared ports explain.
#ifndef CLI_EXPLAIN_WAITS_H
#define CLI_EXPLAIN_WAITS_H

#include "cli/explain/explain_internal.h"

// waits.c
// Reports waits for retransmission, and a slow host.
void cli__explain_waits(explain_t *explain);

#endif // CLI_EXPLAIN_WAITS_H
