// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/order.h - an order of runs: a scenario, what is set, a grid of parameters,
// seeds.
#ifndef STUDIO_SERVER_RUNS_ORDER_H
#define STUDIO_SERVER_RUNS_ORDER_H

#include "studio/server/studio.h"

#include <jansson.h>

#define STUDIO_YAML_BYTES_MAX ((size_t)524288)
#define STUDIO_SETTING_BYTES_MAX 4096u
#define STUDIO_SETTINGS_MAX 200u

// The runs of an order, each an array of "path=value": set, then every combination of the grid
// ({"path": [value...]}, the last path fastest), then each seed. The caller's reference; NULL: it
// is none, and message says why. Each may be NULL. most: runs.
json_t *studio_order_expand(const json_t *set,
                            const json_t *grid,
                            const json_t *seeds,
                            uint64_t most,
                            sim_message_t *message);

#endif // STUDIO_SERVER_RUNS_ORDER_H
