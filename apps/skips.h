// SPDX-License-Identifier: Apache-2.0
// apps/skips.h - counts what a run leaves out because it knows the outcome: `fast-forward`.
// docs/models/fast-forward.md
#ifndef APPS_SKIPS_H
#define APPS_SKIPS_H

#include "kernel/random.h"

SIM_C_BEGIN

typedef struct app_skip_refusal {
    const char *reason; // static
    uint64_t count;
} app_skip_refusal_t;
#define APP_SKIP_REASONS_MAX 32u

typedef struct app_skips app_skips_t;
struct app_skips {
    // settings
    bool exact; // fast-forward.mode
    bool memo;
    sim_ratio_t audit;  // share of hits that are simulated, too
    const char *barred; // why nothing of this run can be skipped; NULL: see each span
    bool held;          // somebody compares whole calls: nobody else looks for periods
    // outcome
    bool taken; // by an application
    uint64_t hops_skipped;
    uint64_t jumps;
    uint64_t hits;
    uint64_t misses;
    uint64_t audited;
    uint64_t bytes; // of memory for spans
    uint64_t rails; // of which one was simulated for all
    app_skip_refusal_t refused[APP_SKIP_REASONS_MAX];
    size_t refused_count;
    // Completes `refused` after the run; NULL: it is complete. Called once, by app_skips_settle.
    void (*settle)(app_skips_t *skips);
    void *settle_ctx;
};

// Counts a span that could not be skipped, by a static reason.
void app_skips_refuse(app_skips_t *skips, const char *reason);

// Completes the outcome after the run. A copy of `skips` will do.
void app_skips_settle(app_skips_t *skips);

SIM_C_END

#endif // APPS_SKIPS_H
