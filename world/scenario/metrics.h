// SPDX-License-Identifier: Apache-2.0
// world/scenario/metrics.h - the metrics that a series may have, by name.
#ifndef WORLD_SCENARIO_METRICS_H
#define WORLD_SCENARIO_METRICS_H

#include "world/scenario.h"
#include "world/series.h"

// Fills the metric of a series whose kind is known. SIM_ERR_UNKNOWN: there is no metric of that
// name; the error lists those of the kind, or those with the same part before the dot.
SIM_MUST_CHECK sim_err_t world__find_metric(const world_registry_t *registry,
                                            world_series_t *series, const char *name,
                                            const world_place_t *place, world_error_t *error);

#endif // WORLD_SCENARIO_METRICS_H
