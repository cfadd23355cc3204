// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/control/metadata.h - the metadata server of a cluster, and requests to it.
#ifndef APPS_MOONCAKE_ENGINE_CONTROL_METADATA_H
#define APPS_MOONCAKE_ENGINE_CONTROL_METADATA_H

#include "apps/mooncake/engine/control/station.h"
#include "apps/mooncake_engine.h"

typedef struct app__mc_server app__mc_server_t;

app__mc_server_t *app__mc_server_create(app__mc_station_t *station,
                                        const app_mooncake_metadata_config_t *config);
void app__mc_server_destroy(app__mc_server_t *server);
void app__mc_server_import(app__mc_server_t *server, const char *key, const char *value,
                           size_t size);
void app__mc_server_carry(app__mc_server_t *server, sim_carry_t *carry); // its records, to rank 0
void app__mc_server_visit(const app__mc_server_t *server, app_mooncake_change_fn fn, void *ctx);

// -- client.c

// Asks the engine's metadata client. fn is called once, perhaps before this function returns. With
// `owns` the context is freed after that.
void app__mc_ask_metadata(app_mooncake_t *engine, const app__mc_message_t *message,
                          app__mc_reply_fn fn, void *ctx, bool owns);

#endif // APPS_MOONCAKE_ENGINE_CONTROL_METADATA_H
