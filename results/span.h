// SPDX-License-Identifier: Apache-2.0
// results/span.h - the span of a run that rates and utilisation are of.
//
// Two runs of the same traffic end at different times: the one with the longer tail shows lower
// rates over its whole run although nobody waited longer. What is compared is therefore counted
// from the first start of a transfer to outputs.rates-until, by default the last start: while
// traffic arrives.
#ifndef RESULTS_SPAN_H
#define RESULTS_SPAN_H

#include "world/world.h"

SIM_C_BEGIN

typedef struct results_span results_span_t;

// Before the run. Costs no event and changes no result.
results_span_t *results_span_create(const world_t *world);
void results_span_destroy(results_span_t *span); // NULL is allowed

// After the run, which ended at end_ps: where it did not reach the end of the span, that is here.
void results_span_end(results_span_t *span, sim_time_t end_ps);

// Whether it is transfers of which none starts before the end: when traffic begins and ends is not
// its to say. A program without transfers runs from 0 on.
bool results_plans_nothing(const app_t *app);

// Valid after results_span_end, from <= to.
sim_time_t results_span_from_ps(const results_span_t *span); // first start; 0: programs without
sim_time_t results_span_to_ps(const results_span_t *span);
// Share of the span that the port's frames took, preamble to gap; 0 where it has no length.
double results_span_utilisation(const results_span_t *span, const net_port_t *port);
// Payload that all NICs accepted in order within the span.
double results_span_goodput_gbps(const results_span_t *span);

SIM_C_END

#endif // RESULTS_SPAN_H
