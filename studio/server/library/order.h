// SPDX-License-Identifier: Apache-2.0
// studio/server/library/order.h - an order of runs: a scenario, settings, a grid, seeds.
#ifndef STUDIO_SERVER_LIBRARY_ORDER_H
#define STUDIO_SERVER_LIBRARY_ORDER_H

#include "studio/server/studio.h"

#include <jansson.h>

#define STUDIO_YAML_BYTES_MAX ((size_t)524288)
#define STUDIO_SETTING_BYTES_MAX 4096u
#define STUDIO_SETTINGS_MAX 200u

// Returns the runs of an order, each an array of "path=value": the settings, then every combination
// of the grid ({"path": [value...]}, the last path varies fastest), then each seed. Each input may
// be NULL; most limits the number of runs. Returns NULL with a message for a bad order; the caller
// owns the result.
json_t *studio_order_expand(const json_t *set, const json_t *grid, const json_t *seeds,
                            uint64_t most, sim_message_t *message);

#endif // STUDIO_SERVER_LIBRARY_ORDER_H
