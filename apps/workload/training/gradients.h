// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/gradients.h - collectives of gradients and parameters.
#ifndef APPS_WORKLOAD_TRAINING_GRADIENTS_H
#define APPS_WORKLOAD_TRAINING_GRADIENTS_H

#include "apps/workload/training/generate_internal.h"

// Brings the parameters of a layer where ZeRO 3 has spread them.
void app__maker_fetch(app__maker_t *maker, uint64_t layer);
// Adds the gradients of a layer to the bucket, and reduces them if it is full and computation may
// go on meanwhile.
void app__maker_gradients(app__maker_t *maker, uint64_t layer);
void app__maker_flush(app__maker_t *maker); // reduces what the bucket has
// Begins and ends an iteration: parameters are gathered, the optimizer runs.
void app__maker_gather(app__maker_t *maker);
void app__maker_gathered(app__maker_t *maker, uint64_t layer); // the layer's parameters are needed
void app__maker_update(app__maker_t *maker);

#endif // APPS_WORKLOAD_TRAINING_GRADIENTS_H
