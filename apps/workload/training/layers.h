// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/layers.h - the passes of a rank through the layers of a model.
#ifndef APPS_WORKLOAD_TRAINING_LAYERS_H
#define APPS_WORKLOAD_TRAINING_LAYERS_H

#include "apps/workload/training/generate_internal.h"

void app__maker_forward(app__maker_t *maker, uint64_t layer, bool again);
void app__maker_backward(app__maker_t *maker, uint64_t layer);
void app__maker_head(app__maker_t *maker, bool backward);

#endif // APPS_WORKLOAD_TRAINING_LAYERS_H
