// SPDX-License-Identifier: Apache-2.0
// apps/mooncake_engine.h - engines of Mooncake's Transfer Engine, and their cluster.
#ifndef APPS_MOONCAKE_ENGINE_H
#define APPS_MOONCAKE_ENGINE_H

#include "apps/app.h"
#include "apps/mooncake_codec.h"
#include "apps/mooncake_config.h"

SIM_C_BEGIN

typedef struct app_mooncake_cluster app_mooncake_cluster_t;
typedef struct app_mooncake app_mooncake_t; // an engine

typedef int32_t app_mooncake_segment_id_t; // negative: none
typedef int64_t app_mooncake_batch_id_t;   // negative: none
// The id that every engine has for its own segment.
#define APP_MOONCAKE_LOCAL_SEGMENT 0

// -- a cluster: set up before the run

typedef struct app_mooncake_plan {
    net_t *net;
    app_runtime_t *runtime;
    uint32_t index; // of the application, for addresses and random streams
    net_node_t *const *hosts;
    size_t host_count;
    const net_node_t *metadata_host; // one of them
    const app_mooncake_codec_t *codec;
    app_mooncake_metadata_config_t metadata;
} app_mooncake_plan_t;

// Creates a cluster. SIM_ERR_INVALID: two hosts are the same, two hosts cannot talk, or
// metadata_host is none of the hosts.
SIM_MUST_CHECK sim_err_t app_mooncake_cluster_create(const app_mooncake_plan_t *plan,
                                                     app_mooncake_cluster_t **cluster,
                                                     sim_message_t *message);
// Destroys the cluster and its engines, after the run.
void app_mooncake_cluster_destroy(app_mooncake_cluster_t *cluster);

// Gives the metadata node a record, before the run. A record of the same key is replaced.
void app_mooncake_import_record(app_mooncake_cluster_t *cluster, const char *key, const char *value,
                                size_t size);
// Visits the records that the metadata node holds, in order of their keys. Call it after the run,
// or in an event of the metadata node's host.
void app_mooncake_records(const app_mooncake_cluster_t *cluster, app_mooncake_record_fn fn,
                          void *ctx);

// The change that a run made to an imported record.
typedef enum app_mooncake_change {
    APP_MOONCAKE_UNCHANGED, // imported, and still as it was
    APP_MOONCAKE_WRITTEN,   // new, or with another value
    APP_MOONCAKE_REMOVED,   // imported, and no longer there
} app_mooncake_change_t;
typedef void (*app_mooncake_change_fn)(const char *key,
                                       const char *value, // REMOVED: the imported value
                                       size_t size, app_mooncake_change_t change, void *ctx);
// Visits the records like app_mooncake_records, and then those that were removed.
void app_mooncake_changes(const app_mooncake_cluster_t *cluster, app_mooncake_change_fn fn,
                          void *ctx);

// -- an engine

// Creates an engine, before the run. The name is unique in the cluster; the matrix names NICs by
// the number at the end of their name. The engine writes its record, mooncake/[name], when the run
// begins.
SIM_MUST_CHECK sim_err_t app_mooncake_create(app_mooncake_cluster_t *cluster, net_node_t *host,
                                             const char *local_server_name,
                                             const char *nic_priority_matrix,
                                             const app_mooncake_config_t *config,
                                             app_mooncake_t **engine, sim_message_t *message);
// Shuts an engine down, in an event of its host: unfinished transfers end CANCELED, connections and
// memory regions are released, the record is removed. Later calls fail. The struct lives until the
// cluster is destroyed.
void app_mooncake_close(app_mooncake_t *engine);
// Stops an engine like a power loss: queue pairs vanish, nothing is answered, the record stays.
void app_mooncake_crash(app_mooncake_t *engine);

// Callbacks of calls that need the network. `result`: 0, or a negative sim_err_t.
typedef void (*app_mooncake_done_fn)(int result, void *ctx);
typedef void (*app_mooncake_segment_fn)(app_mooncake_segment_id_t id, void *ctx);
typedef void (*app_mooncake_batch_fn)(app_mooncake_batch_id_t batch_id, void *ctx);

// -- inspection

typedef struct app_mooncake_counters {
    uint64_t requests;  // submitted
    uint64_t completed; // the next five count requests by their final status
    uint64_t failed;
    uint64_t timed_out;
    uint64_t canceled;
    uint64_t invalid;
    uint64_t bytes;      // of completed requests
    uint64_t slices;     // slices posted, retries included
    uint64_t retried;    // slices that were retried
    uint64_t handshakes; // successful handshakes, active and passive
    uint64_t handshakes_failed;
    uint64_t endpoints_evicted;
    uint64_t endpoints_disconnected;
    uint64_t rails_paused;
    uint64_t metadata_requests;
    uint64_t metadata_failures;
    uint64_t verified_bytes;
    uint64_t unverified_bytes; // bytes of completed transfers that are not the bytes sent
    uint64_t file_operations;  // file operations served
    uint64_t copied_bytes;     // bytes of completed copies within the engine's host
} app_mooncake_counters_t;
const app_mooncake_counters_t *app_mooncake_get_counters(const app_mooncake_t *engine);
// Returns the payload bytes of completed slices that a NIC carried.
uint64_t app_mooncake_nic_bytes(const app_mooncake_t *engine, uint32_t nic);
const char *app_mooncake_name(const app_mooncake_t *engine);
net_node_t *app_mooncake_host(const app_mooncake_t *engine);
net_node_t *app_mooncake_host_of(const app_mooncake_cluster_t *cluster, const char *server_name);

SIM_C_END

#endif // APPS_MOONCAKE_ENGINE_H
