// SPDX-License-Identifier: Apache-2.0
// apps/mooncake_metadata.h - the way of an engine of Mooncake to its metadata service.
#ifndef APPS_MOONCAKE_METADATA_H
#define APPS_MOONCAKE_METADATA_H

#include "apps/mooncake_engine.h"

SIM_C_BEGIN

// Receives the result of a request to the metadata service: 0, or a negative sim_err_t
// (SIM_ERR_UNKNOWN: there is no such record; SIM_ERR_IO: nobody answered). `value` is valid during
// the call, and empty except for the answer to a get.
typedef void (*app_mooncake_value_fn)(int result, const char *value, size_t size, void *ctx);

// The engine's way to the metadata service (TransferEngineMetadataClient). Each function begins a
// request and returns 0; then it calls fn once, in an event of the engine's host. Or it returns a
// negative sim_err_t and never calls fn.
typedef struct app_mooncake_metadata_client {
    int (*put)(void *client, const char *key, const char *value, size_t size,
               app_mooncake_value_fn fn, void *ctx);
    int (*get)(void *client, const char *key, app_mooncake_value_fn fn, void *ctx);
    int (*remove)(void *client, const char *key, app_mooncake_value_fn fn, void *ctx);
    void *client; // first argument of these functions
} app_mooncake_metadata_client_t;
// Gives an engine another client than that of the cluster's metadata node, before the run.
void app_mooncake_set_metadata_client(app_mooncake_t *engine,
                                      const app_mooncake_metadata_client_t *client);
// Returns the client of the cluster's metadata node, for an engine's host. A program's own client
// may pass requests on to it.
app_mooncake_metadata_client_t app_mooncake_metadata_client(app_mooncake_t *engine);

typedef void (*app_mooncake_desc_fn)(int result,
                                     const app_mooncake_segment_desc_t *desc, // NULL: none
                                     void *ctx);
// Write, read and remove the record mooncake/[server_name] (updateSegmentDesc, getSegmentDesc,
// removeSegmentDesc). They return 0, and fn (may be NULL) gets the result; or a negative number,
// and fn is not called: the engine is closed, the name is empty, or a buffer of desc does not have
// one rkey per device. An engine writes its own record again when its buffers change.
int app_mooncake_update_segment_desc(app_mooncake_t *engine, const char *server_name,
                                     const app_mooncake_segment_desc_t *desc,
                                     app_mooncake_done_fn fn, void *ctx);
int app_mooncake_get_segment_desc(app_mooncake_t *engine, const char *server_name,
                                  app_mooncake_desc_fn fn, void *ctx);
int app_mooncake_remove_segment_desc(app_mooncake_t *engine, const char *server_name,
                                     app_mooncake_done_fn fn, void *ctx);
// Returns the description of the engine's own segment, with lkeys. The caller destroys it.
app_mooncake_segment_desc_t *app_mooncake_local_segment_desc(const app_mooncake_t *engine);

SIM_C_END

#endif // APPS_MOONCAKE_METADATA_H
