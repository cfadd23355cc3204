// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/buffer.h - the registered memory of an engine, and the NICs near it.
#ifndef APPS_MOONCAKE_ENGINE_BUFFER_H
#define APPS_MOONCAKE_ENGINE_BUFFER_H

#include "apps/mooncake/engine/slicing.h"
#include "apps/mooncake_engine.h"
#include "nic/fabric.h"
#include "nic/memory.h"

typedef struct app__mc_local_buffer {
    uint64_t address;
    uint64_t length;
    char *location;
    uint32_t rights;
    nic_mr_t **regions; // per context
    app__mooncake_choice_t choice;
    uint32_t *contexts; // contexts of both lists, one after the other
    uint32_t *near;     // positions in the first list of the nearest NICs
    uint32_t near_count;
} app__mc_local_buffer_t;

// Returns the registered buffer that holds the whole range, or NULL.
const app__mc_local_buffer_t *app__mc_local_buffer(const app_mooncake_t *engine, uint64_t address,
                                                   uint64_t length);
// Reads a location such as "cpu:0" or "cuda:1"; false: the host does not have it.
bool app__mc_host_has(const net_node_t *host, const char *location, nic_location_t *place);
// Declares where a piece of memory lies. SIM_ERR_UNKNOWN: the host has no such socket or GPU.
int app__mc_place(net_node_t *host, uint64_t address, uint64_t size, const char *location);
// Deregisters all buffers of an engine that closes.
void app__mc_buffers_drop(app_mooncake_t *engine);
// Frees the buffers of an engine; their regions belong to the NICs.
void app__mc_buffers_fini(app_mooncake_t *engine);

#endif // APPS_MOONCAKE_ENGINE_BUFFER_H
