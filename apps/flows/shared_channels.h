// SPDX-License-Identifier: Apache-2.0
// apps/flows/shared_channels.h - the channels of transfers, which may share them.
#ifndef APPS_FLOWS_SHARED_CHANNELS_H
#define APPS_FLOWS_SHARED_CHANNELS_H

#include "apps/flows/transfer.h"

// Returns the pair of a transfer's channel.
app__pair_t app__plan_pair(const app__plan_t *plan, const app__transfer_t *transfer,
                           uint64_t index);
// Returns the channel for a transfer of this number of work requests, opening it if there is none.
app__channel_t *app__flow_channel(app__source_t *source, const app__transfer_t *transfer,
                                  uint64_t index, uint64_t pieces);
void app__flow_channel_idle(app__channel_t *channel); // of app__channel_ops_t
// Frees the channels and the transfers in progress of a source.
void app__flow_channels_free(app__source_t *source);
// Returns how many QP numbers an interface reserves per direction, where transfers share channels.
uint64_t app__flow_channels_of(const app__plan_t *plan);
void app__flow_channel_number(const app__plan_t *plan, app__transfer_t *transfer);
bool app__flow_channel_is_passive(const app__plan_t *plan, uint64_t offset);
void app__flow_channel_accept(const app__plan_t *plan, const app__endpoint_t *endpoint,
                              uint64_t offset, app__passive_t *passive);
void app__flow_channel_received(const app__passive_t *passive);

#endif // APPS_FLOWS_SHARED_CHANNELS_H
