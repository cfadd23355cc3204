// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/arrivals.h - when the requests of a trace arrive.
#ifndef APPS_MOONCAKE_PROGRAMS_ARRIVALS_H
#define APPS_MOONCAKE_PROGRAMS_ARRIVALS_H

#include "apps/request_trace.h"

typedef enum app__mooncake_unit { // of timestamps
    APP__MOONCAKE_UNIT_AUTO,
    APP__MOONCAKE_UNIT_MS,
    APP__MOONCAKE_UNIT_S,
} app__mooncake_unit_t;

// Settles when the prompts of a trace arrive: at their timestamps in `unit`, or interval_ps apart
// (SIM_AUTO: a trace without timestamps is refused). AUTO takes timestamps as seconds if they have
// decimals and would be above 100 prompts per second as milliseconds. `note` (may be NULL) is told
// what was assumed, and what of the trace does not fit `block_tokens`.
SIM_MUST_CHECK sim_err_t app__mooncake_trace_arrivals(app__mooncake_trace_t *trace,
                                                      const char *name, app__mooncake_unit_t unit,
                                                      sim_time_t interval_ps, uint64_t block_tokens,
                                                      void (*note)(const char *text, void *ctx),
                                                      void *ctx, sim_message_t *message);

#endif // APPS_MOONCAKE_PROGRAMS_ARRIVALS_H
