// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/sender_limits.h - finds flows that their senders' own limits hold.
#ifndef CLI_EXPLAIN_CAUSES_SENDER_LIMITS_H
#define CLI_EXPLAIN_CAUSES_SENDER_LIMITS_H

#include "cli/explain/explain_internal.h"

// Reports windows, the credit of READs, and programs that post too few requests.
void cli__explain_limits(explain_t *explain);

#endif // CLI_EXPLAIN_CAUSES_SENDER_LIMITS_H
