// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/link_layer.h - finds waits for credits, and retries of links.
#ifndef CLI_EXPLAIN_CAUSES_LINK_LAYER_H
#define CLI_EXPLAIN_CAUSES_LINK_LAYER_H

#include "cli/explain/explain_internal.h"

// Reports the port that waits longest for credits, and the link that loses most time to retries.
void cli__explain_link_layer(explain_t *explain);

#endif // CLI_EXPLAIN_CAUSES_LINK_LAYER_H
