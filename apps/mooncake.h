// SPDX-License-Identifier: Apache-2.0
// apps/mooncake.h - Mooncake's Transfer Engine on the hosts of a network (docs/models/mooncake.md).
//
// An engine moves data between segments. A RAM segment is one host's registered memory, DRAM and
// VRAM; an NVMe-oF segment is a file of a storage node. Transfers are submitted in batches, cut
// into slices, spread over the host's NICs by the priority matrix, and retried over others when a
// NIC, a path or a peer fails. Names and meaning are those of the engine's design document.
//
// Everything is asynchronous, as the verbs below it are: calls are made in events of the engine's
// own host (or before the run) and return at once; what takes a round trip ends in a callback.
// Addresses are those of the simulated host. An example:
//
// cluster: the hosts that know each other by name; one of them keeps the metadata
//     app_mooncake_cluster_t *const cluster = app_mooncake_cluster_create(&plan, &message);
//     app_mooncake_create(cluster, host, "node0", "{\"cpu:0\": [[\"mlx5_0\"], []]}", &config, ...);
//     app_mooncake_register_local_memory(engine, address, size, "cpu:0", APP_MOONCAKE_ALL);
//     app_mooncake_get_segment_id(engine, "node1", opened, my);       later: opened(id, my)
//     batch = app_mooncake_allocate_batch_id(engine, 1);
//     app_mooncake_submit_transfer(engine, batch, &request, 1);
//     app_mooncake_on_batch(engine, batch, done, my);                 or poll its status
//     app_mooncake_free_batch_id(engine, batch);
#ifndef APPS_MOONCAKE_H
#define APPS_MOONCAKE_H

#include "apps/mooncake_endpoints.h"
#include "apps/mooncake_files.h"
#include "apps/mooncake_memory.h"
#include "apps/mooncake_metadata.h"
#include "apps/mooncake_transfers.h"

#endif // APPS_MOONCAKE_H
