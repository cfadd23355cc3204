// SPDX-License-Identifier: Apache-2.0
// cli/explain/verdict.h - says what is to be thought of the whole run.
#ifndef CLI_EXPLAIN_VERDICT_H
#define CLI_EXPLAIN_VERDICT_H

#include "cli/explain/explain_internal.h"

typedef enum explain_verdict {
    EXPLAIN_HAS_CAUSE,
    EXPLAIN_HEALTHY,     // flows took about their ideal times
    EXPLAIN_FAIR_SHARES, // longer, as they share links
    EXPLAIN_UNEXPLAINED, // longer, and no known cause explains it
    EXPLAIN_NO_FLOWS,    // no cause, and flows.csv has no flows that show how long they took
} explain_verdict_t;
explain_verdict_t cli__explain_verdict(const explain_t *explain);
const char *cli__explain_verdict_name(explain_verdict_t verdict);
// Returns the sentence for people; the caller frees it.
char *cli__explain_verdict_text(const explain_t *explain);
// Returns the time of all flows divided by their ideal times.
double cli__explain_slowdown(const explain_t *explain);

#endif // CLI_EXPLAIN_VERDICT_H
