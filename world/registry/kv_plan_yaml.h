// SPDX-License-Identifier: Apache-2.0
// world/registry/kv_plan_yaml.h - reads the YAML of NIXL's kvbench (docs/models/kv-matrix.md).
#ifndef WORLD_REGISTRY_KV_PLAN_YAML_H
#define WORLD_REGISTRY_KV_PLAN_YAML_H

#include "apps/kv_plan.h"

// The reader that apps/app.h asks for (app_kv_read_fn).
sim_err_t world_kv_plan_read(const char *name, const char *text, size_t size_bytes,
                             app_kv_plan_t *plan, sim_message_t *message);

#endif // WORLD_REGISTRY_KV_PLAN_YAML_H
