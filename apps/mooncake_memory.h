// SPDX-License-Identifier: Apache-2.0
// apps/mooncake_memory.h - registered memory and segments of Mooncake's Transfer Engine.
#ifndef APPS_MOONCAKE_MEMORY_H
#define APPS_MOONCAKE_MEMORY_H

#include "apps/mooncake_engine.h"

SIM_C_BEGIN

enum {
    APP_MOONCAKE_REMOTE_READ = 1,
    APP_MOONCAKE_REMOTE_WRITE = 2,
    APP_MOONCAKE_ALL = 3,
};

// Registers a buffer. Returns 0, or a negative number: the buffer is empty, it overlaps a
// registered one, or the location is not in the matrix. Local transfers may use it at once, remote
// ones once the record says so: then fn (may be NULL) is called.
int app_mooncake_register_local_memory(app_mooncake_t *engine, uint64_t address, uint64_t size,
                                       const char *location, uint32_t rights,
                                       app_mooncake_done_fn fn, void *ctx);
// Unregisters the buffer that begins at the address. Returns 0, or a negative number: there is
// none. Its keys are invalid at once, so transfers in flight that use them fail.
int app_mooncake_unregister_local_memory(app_mooncake_t *engine, uint64_t address,
                                         app_mooncake_done_fn fn, void *ctx);

// Finds a segment by name in the cache or at the metadata node. fn gets its id, or a negative
// number; it may be called before this function returns.
void app_mooncake_get_segment_id(app_mooncake_t *engine, const char *segment_name,
                                 app_mooncake_segment_fn fn, void *ctx);
// Returns the cached description, or NULL. It is valid until the engine receives a newer one.
const app_mooncake_segment_desc_t *app_mooncake_segment(const app_mooncake_t *engine,
                                                        app_mooncake_segment_id_t id);
// Asks the metadata node again for a description that is in the cache.
void app_mooncake_refresh_segment(app_mooncake_t *engine, app_mooncake_segment_id_t id,
                                  app_mooncake_done_fn fn, void *ctx);

SIM_C_END

#endif // APPS_MOONCAKE_MEMORY_H
