// SPDX-License-Identifier: Apache-2.0
// apps/workload/rank.h - a rank: the program of a schedule on one host, which places.c chooses.
//
// execute.c starts its operations and runs its processors, or ideal/ on an ideal network. match.c
// pairs its messages with receives, and channels.c moves them. Only events of the rank's host touch
// a rank.
#ifndef APPS_WORKLOAD_RANK_H
#define APPS_WORKLOAD_RANK_H

#include "apps/channel/local.h"
#include "apps/workload/ideal/loggp.h"
#include "apps/workload/match.h"
#include "kernel/list.h"
#include "kernel/ring.h"
#include "nic/host.h"

#define APP__DOMAIN_PORTS_MAX 32u // further links to NVSwitches are not used
#define APP__DOMAIN_TURNS 64u     // after which NVSwitches of unequal rates are dealt anew

// The ports of a host that lead to NVSwitches, in the order of the switches.
typedef struct app__domain_ports {
    uint8_t ports[APP__DOMAIN_PORTS_MAX];
    uint32_t switches[APP__DOMAIN_PORTS_MAX]; // the node to which each port leads
    uint32_t count;
    uint8_t turns[APP__DOMAIN_TURNS]; // port of each turn, by the rates of the switches
    uint32_t turn_count;
} app__domain_ports_t;

typedef struct app__workload app__workload_t;
typedef struct app__moment app__moment_t;

// An operation that waits for a processor, or a message that has arrived.
typedef struct app__cpu_item {
    uint32_t op;
    uint32_t source; // rank of the message; APP__NO_OP: an operation
} app__cpu_item_t;

// A processor of a rank: it runs one operation at a time, in the order in which they got ready.
typedef struct app__cpu {
    sim_timer_t timer;
    app__rank_t *rank;
    SIM_RING(app__cpu_item_t) queue;
    bool busy;
    uint32_t running;   // APP__NO_OP while busy: a message without a receive
    sim_time_t busy_ps; // so far
} app__cpu_t;

// A receive that has its ready-to-send and waits for the data.
typedef struct app__granted {
    uint32_t source;
    uint32_t op; // of the source
    uint32_t receive;
} app__granted_t;

struct app__rank {
    app__workload_t *workload;
    const app__rank_ops_t *ops;
    app__op_state_t *states;
    uint32_t number;
    uint32_t port_first; // first of its NICs in workload->ports
    uint32_t port_count;
    app__domain_ports_t domain_ports; // those of its ports that lead to NVSwitches
    const net_node_t *domain;         // the first NVSwitch of its domain; NULL: there is none
    bool direct;                      // its host has links to other hosts
    uint32_t left;                    // operations that have not finished
    bool begun;
    sim_node_t *node;
    sim_timer_t begin;
    app__cpu_t *cpus;
    uint32_t cpu_count;
    app__op_queue_t ready; // operations to start in this event
    app__match_t match;
    app__granted_t *granted;
    size_t granted_count;
    size_t granted_capacity;
    sim_list_t comings; // messages within the host that it sends, or that it learns of later
    sim_list_t spare_comings;
    sim_list_t spare_messages;      // of channels.c
    sim_time_t end_ps;              // when its last operation finished
    uint64_t failed;                // messages
    const app__loggp_rank_t *ideal; // its times on an ideal network; NULL: packets
    app__moment_t *moments;         // of the ideal network (ideal/network.c), in order of time
    size_t moment_count;
    size_t moment_at; // the next one
};

void app__rank_begin(app__rank_t *rank, sim_time_t start_ps); // arms its first event
// Starts everything that is ready; called at the end of whatever made operations ready.
void app__rank_pump(app__rank_t *rank);
// Takes a message that has arrived: operation `op` of rank `source`.
void app__rank_arrived(app__rank_t *rank, uint32_t source, uint32_t op);
// Takes a ready-to-send; answers it when its receive is there.
void app__rank_announced(app__rank_t *rank, uint32_t source, uint32_t op);
// Takes a clear-to-send for an operation of the rank itself: sends its data.
void app__rank_cleared(app__rank_t *rank, uint32_t op);
// Notes that all data of a send have been acknowledged, or have failed.
void app__rank_acknowledged(app__rank_t *rank, uint32_t op);
void app__rank_finish(app__rank_t *rank, uint32_t op);

// Runs the schedule on an ideal network and arms the events of the ranks.
void app__ideal_begin(app__workload_t *workload);

#endif // APPS_WORKLOAD_RANK_H
