// SPDX-License-Identifier: Apache-2.0
// cli/explain/flow_paths.h - finds the ports that flows pass.
#ifndef CLI_EXPLAIN_FLOW_PATHS_H
#define CLI_EXPLAIN_FLOW_PATHS_H

#include "cli/explain/explain_internal.h"

// Finds the ports that each flow passes, and whether flows keep their paths.
void cli__explain_paths(explain_t *explain);

#endif // CLI_EXPLAIN_FLOW_PATHS_H
