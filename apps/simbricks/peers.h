// SPDX-License-Identifier: Apache-2.0
// apps/simbricks/peers.h - the processes of SimBricks at the hosts of one network, and where frames
// between them go.
#ifndef APPS_SIMBRICKS_PEERS_H
#define APPS_SIMBRICKS_PEERS_H

#include "apps/app_internal.h"
#include "apps/processes.h"
#include "apps/simbricks/link.h"
#include "kernel/map.h"
#include "kernel/timer.h"
#include "nic/ethernet.h"
#include "nic/host.h"

// A frame that a process has sent, until it enters the network.
typedef struct app__arrival {
    sim_time_t time_ps;
    uint32_t size_bytes;
    uint8_t *bytes;
} app__arrival_t;

typedef struct app__peer {
    app_t app; // first
    struct app__peers *peers;
    app__link_t link;
    app__link_config_t config; // owns the path
    uint64_t waiting_max_bytes;
    nic_t *nic;
    uint32_t interface;
    sim_node_t *node;
    sim_timer_t timer; // of the first arrival
    app__arrival_t *arrivals;
    size_t arrival_first;
    size_t arrival_count;
    size_t arrival_capacity;
    bool begun;
    char *failure; // text of the message; NULL: none
    // counters
    uint64_t frames_in;
    uint64_t bytes_in;
    uint64_t roce_in;
    uint64_t cnps_in;
    uint64_t flooded;
    uint64_t dropped;
    uint64_t frames_out;
    uint64_t bytes_out;
    uint64_t marked_out;
} app__peer_t;

// A MAC address that a process has sent from, since a time.
typedef struct app__station {
    app__peer_t *peer;
    sim_time_t since_ps;
} app__station_t;

typedef struct app__peers {
    net_t *net;
    app__peer_t **list;
    size_t count;
    size_t capacity;
    sim_map_t by_mac; // indices of the stations with an address
    app__station_t *stations;
    size_t station_count;
    size_t station_capacity;
    const app_programs_t *permission;
    uint64_t patience_ms;
} app__peers_t;

void app__peers_destroy(app__peers_t *peers); // NULL: does nothing

// Notes a frame that the peer has sent at time_ps, which enters the network at that time.
void app__peer_take(app__peer_t *peer, sim_time_t time_ps, const uint8_t *bytes,
                    uint32_t size_bytes);
// Makes the peer's host ready to send and receive frames.
SIM_MUST_CHECK sim_err_t app__peer_join(app__peer_t *peer, sim_message_t *message);
// Waits until the other side has taken a message, so that the next one can leave. Returns false if
// the peer has failed.
bool app__peer_wait_for_room(app__peer_t *peer);

#endif // APPS_SIMBRICKS_PEERS_H
