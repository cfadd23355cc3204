// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/host_inside.h - finds limits inside hosts and their NICs.
#ifndef CLI_EXPLAIN_CAUSES_HOST_INSIDE_H
#define CLI_EXPLAIN_CAUSES_HOST_INSIDE_H

#include "cli/explain/explain_internal.h"

// Reports caches, PCIe and processing units of detailed NICs, and slow memory and links of hosts,
// if they hold the traffic back. Marks these hosts in explain->held_hosts.
void cli__explain_inside(explain_t *explain);

#endif // CLI_EXPLAIN_CAUSES_HOST_INSIDE_H
