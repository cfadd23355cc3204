// SPDX-License-Identifier: Apache-2.0
// apps/serving/transfers/node_channels.h - RDMA WRITEs and READs between the NICs of nodes.
#ifndef APPS_SERVING_TRANSFERS_NODE_CHANNELS_H
#define APPS_SERVING_TRANSFERS_NODE_CHANNELS_H

#include "apps/serving/transfers/kv_transfer.h"

void app__serving_channels_create(app__serving_t *serving, const app_context_t *context);
void app__serving_channels_destroy(app__serving_channels_t *channels);
// Destroys the queue pairs of a node that has lost its power.
void app__serving_channels_crash(const app__serving_node_t *node);
// Begins anew with the queue pairs between two nodes after one of them came back.
void app__serving_channels_renew(const app__serving_node_t *node, uint32_t peer);
typedef void (*app__serving_flow_fn)(void *ctx, bool good);
// Posts the work requests of a flow between two ends. Calls fn once, in a later event.
void app__serving_post_flow(const app__serving_end_t *from, const app__serving_end_t *to,
                            const app__serving_transfer_t *transfer, app__serving_flow_fn fn,
                            void *ctx);

#endif // APPS_SERVING_TRANSFERS_NODE_CHANNELS_H
