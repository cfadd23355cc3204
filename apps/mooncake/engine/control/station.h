// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/control/station.h - control messages between the hosts of a cluster.
//
// A cluster has a station on each host, which exchanges messages with all other stations on its own
// queue pairs. The engines of a host, and on one host the metadata server, use its station. Only
// events of its host touch its state. Names, addresses and queue pair numbers are fixed before the
// run.
#ifndef APPS_MOONCAKE_ENGINE_CONTROL_STATION_H
#define APPS_MOONCAKE_ENGINE_CONTROL_STATION_H

#include "apps/endpoints.h"
#include "apps/mooncake/engine/control/calls.h"
#include "apps/mooncake_engine.h"
#include "nic/fabric.h"
#include "nic/memory.h"

// Start of a host's control area; each application has its own, 2^40 bytes apart.
#define APP__MC_AREA (UINT64_C(1) << 52)
#define APP__MC_MESSAGE_MAX (UINT64_C(1) << 20)

typedef struct app__cm_port app__cm_port_t; // apps/mooncake/engine/files/nvme_cm.c
typedef struct app__mc_call app__mc_call_t;
typedef struct app__mc_outgoing app__mc_outgoing_t;

typedef struct app__mc_station_nic { // a NIC of the station
    app__mc_station_t *station;
    app__endpoint_t *endpoint;
    uint32_t nic;
    nic_mr_t *region;
    nic_cq_t *send_cq;
    nic_cq_t *recv_cq;
    nic_srq_t *receives;
    uint64_t position; // of the first of its QP numbers
} app__mc_station_nic_t;

typedef struct app__mc_channel { // a connection to a peer station
    app__mc_station_t *station;
    uint32_t peer;
    uint32_t generation; // number of times it was set up again
    nic_qp_t *qp;
    app__mc_outgoing_t *waiting;
    app__mc_outgoing_t *waiting_last;
    uint32_t posted;
    uint32_t failures; // of its queue pairs in a row
    bool broken;       // its QP failed and must be set up again
} app__mc_channel_t;

struct app__mc_station {
    app_mooncake_cluster_t *cluster;
    net_node_t *host;
    sim_node_t *node;
    nic_memory_t *memory;
    uint32_t index;
    uint32_t nic_count;
    app__mc_station_nic_t *nics;
    app__mc_channel_t *channels; // by peer; the one to itself is unused
    // Receives the bytes of each outgoing that arrives from a peer; set by app__mc_calls_init.
    void (*deliver)(app__mc_station_t *station, uint32_t peer, const char *bytes, size_t size);
    app__mc_handler_fn handlers[APP__MC_KINDS];
    void *handler_ctx[APP__MC_KINDS];
    app__mc_call_t *calls; // calls that wait for answers, newest first
    uint64_t next_id;
    uint64_t next_address;     // where the next message is written
    app__mc_outgoing_t *local; // messages to itself, oldest first
    app__mc_outgoing_t *local_last;
    app__mc_outgoing_t *posted; // messages whose completions have not arrived
    sim_timer_t local_timer;
    sim_timer_t chores; // destroys QPs and sets channels up again
    nic_qp_t **dead;
    size_t dead_count;
    size_t dead_capacity;
    bool crashed;
    app_mooncake_t *engines;
    uint32_t cm_serial;       // of connections of NVMe over RDMA
    uint64_t nvme_queues;     // number of such queues so far
    app__cm_port_t *cm_ports; // where it takes messages about connections
};

struct app_mooncake_cluster {
    net_t *net;
    app_runtime_t *runtime;
    uint32_t index;
    const app_mooncake_codec_t *codec;
    app__mc_station_t *stations;
    uint32_t station_count;
    uint32_t metadata_station;
    struct app__mc_server *server;
};

// Returns the address of a station's control area.
static inline uint64_t app__mc_area(const app__mc_station_t *station)
{
    return APP__MC_AREA + ((uint64_t)station->cluster->index << 40);
}

// Sends the bytes of a outgoing, which it frees (sim_alloc). The receiver passes them to its
// station->deliver.
void app__mc_send(app__mc_station_t *station, uint32_t peer, char *bytes, size_t size);
// Destroys a QP later, when no function on the stack uses it any more.
void app__mc_bury(app__mc_station_t *station, nic_qp_t *qp);
// Stops a station like a power loss. Its queue pairs are destroyed after the current event.
void app__mc_station_crash(app__mc_station_t *station);
// Starts a crashed station again, without the messages and calls from before. Its engines stay
// dead.
void app__mc_station_restore(app__mc_station_t *station);
app_mooncake_t *app__mc_engine_named(const app__mc_station_t *station, const char *name);
// Finds the station that serves a name; SIM_ERR_UNKNOWN.
sim_err_t app__mc_station_named(const app_mooncake_cluster_t *cluster, const char *name,
                                uint32_t *station);
sim_err_t app__mc_stations_create(app_mooncake_cluster_t *cluster, sim_message_t *message);
void app__mc_stations_destroy(app_mooncake_cluster_t *cluster);

#endif // APPS_MOONCAKE_ENGINE_CONTROL_STATION_H
