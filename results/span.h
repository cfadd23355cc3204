// SPDX-License-Identifier: Apache-2.0
// results/span.h - the span of a run over which rates and utilisation are reported.
//
// Two runs of the same traffic end at different times: the one with the longer tail shows lower
// rates over its whole run although nobody waited longer. Rates are therefore counted from the
// first start of a transfer to outputs.rates-until, by default the last start. Where programs have
// all transfers, which nobody knows before, it ends with the last of them.
#ifndef RESULTS_SPAN_H
#define RESULTS_SPAN_H

#include "kernel/buffer.h"
#include "world/world.h"

SIM_C_BEGIN

typedef struct results_span results_span_t;

// Creates the span, before the run. It costs no event and changes no result.
results_span_t *results_span_create(const world_t *world);
void results_span_destroy(results_span_t *span); // NULL is allowed

// Ends the span after the run, which ended at end_ps. A span that reaches beyond the run ends
// there.
void results_span_end(results_span_t *span, sim_time_t end_ps);

// Returns whether the application has transfers and none of them starts before the end, so that it
// has no say in when traffic begins. A program without transfers runs from 0 on.
bool results_plans_nothing(const app_t *app);

// Return the two ends of the span, from <= to. Valid after results_span_end.
sim_time_t results_span_from_ps(const results_span_t *span); // first start; 0: programs without
sim_time_t results_span_to_ps(const results_span_t *span);
// Returns whether the span reaches from the first transfer of programs (docs/programs.md) to the
// end of the last one.
bool results_span_is_of_programs(const results_span_t *span);
// Returns the share of the span that the port's frames took, preamble to gap; 0 if it has no
// length.
double results_span_utilisation(const results_span_t *span, const net_port_t *port);
// Returns the rate of payload that all NICs accepted in order within the span.
double results_span_goodput_gbps(const results_span_t *span);

// Append what this rank has (kernel/ranks.h); take what another rank left.
void results__span_leave(const results_span_t *span, sim_buffer_t *bytes);
void results__span_take(results_span_t *span, sim_reader_t *bytes);

SIM_C_END

#endif // RESULTS_SPAN_H
