// SPDX-License-Identifier: Apache-2.0
// tests/net_fixture.h - networks for the tests of net/: scripted hosts around real switches.
//
// A fixture host is no NIC: it sends the frames of its flows as they are, keeps them in the class
// queues of its port, obeys pauses at the next frame boundary and counts what arrives. What it
// does is in closed form, so what a test measures is net/ alone.
//
// Life: fixture_create, nodes, links, flows, fixture_build, (listeners), fixture_run,
// fixture_destroy. Flows may be added before fixture_build only. fixture_destroy checks that
// packets and bytes are conserved and that no class with the computed headroom dropped.
#ifndef TESTS_NET_FIXTURE_H
#define TESTS_NET_FIXTURE_H

#include "compat/hpcc/rules.h"
#include "net/switch.h"

#define FIXTURE_GBPS UINT64_C(1000000000)
#define FIXTURE_CLASS 3u // lossless by default

// One stream of equal frames from a host. Zeroed fields have the meaning in brackets.
typedef struct fixture_flow {
    uint32_t to;            // host number
    uint64_t count;         // frames [no limit]
    uint32_t frame_bytes;   // [1000]
    uint32_t last_bytes;    // one more frame of this size at the end [none]
    uint8_t priority;       // class, and DSCP / 8
    uint8_t ecn;            // [not ECT]
    uint8_t ttl;            // [64]
    sim_time_t start_ps;    // >= 1 [1]
    sim_time_t stop_ps;     // no frame is made at or after this [never]
    sim_time_t period_ps;   // between frames made [as fast as the port takes them]
    sim_time_t mean_ps;     // exponential gaps between frames of this mean instead [as above]
    uint16_t source_port;   // UDP [0xc000]
    bool vary_source_port;  // another 5-tuple for each frame
    uint8_t host_port;      // of the sending host, for hosts with several
    uint16_t payload_bytes; // of its frames [none: they are no data]
    uint8_t opcode;         // [SEND ONLY of UC]
} fixture_flow_t;

typedef struct fixture_arrival {
    sim_time_t time_ps;
    uint32_t from; // host number
    uint32_t psn;  // number of the frame within its flow
    uint32_t frame_bytes;
    uint8_t priority;
    uint8_t ecn;
    uint8_t ttl;
    uint8_t dscp;
} fixture_arrival_t;

typedef struct fixture fixture_t;
typedef struct fixture_source fixture_source_t;

// A pause frame that a host sends by itself.
typedef struct fixture_pause {
    sim_timer_t timer;
    sim_time_t time_ps;
    uint16_t quanta;
    uint8_t classes;
    struct fixture_pause *next;
} fixture_pause_t;

typedef struct fixture_host {
    net_node_t node; // first
    fixture_t *fixture;
    uint32_t number;
    bool keep; // arrivals are kept
    fixture_source_t *sources;
    fixture_source_t *active; // those that send as fast as they can, since their start
    fixture_pause_t *pauses;
    struct held_pause *held; // pauses it has not obeyed yet
    sim_time_t response_ps;  // after which a pause is obeyed, see fixture_host_respond_late

    fixture_arrival_t *arrivals;
    size_t arrival_count; // kept
    size_t arrival_capacity;
    uint64_t received;
    uint64_t received_bytes;
    uint64_t received_marked; // CE
    uint64_t *received_from;  // frames by sending host
    sim_time_t last_ps;
} fixture_host_t;

struct fixture {
    sim_t *sim;
    net_t *net;
    fixture_host_t **hosts;
    size_t host_count;
    size_t host_capacity;
    uint32_t *host_of; // by interface
    sim_ended_t ended;
};

typedef struct fixture_options {
    uint64_t seed;
    uint64_t tie_seed;
    unsigned threads;                 // [1]
    sim_time_t until_ps;              // [never]
    net_config_t net;                 // see fixture_net_config for the defaults
    const compat_hpcc_config_t *hpcc; // [the defaults]
} fixture_options_t;

// Returns a network config with the defaults of the attribute tables.
net_config_t fixture_net_config(void);
net_link_config_t fixture_link_config(uint64_t rate_bps, sim_time_t delay_ps);
net_switch_config_t fixture_switch_config(void);

// Creates the simulation and network. options may be NULL: seed 1, one thread, no limit, default
// network.
void fixture_create(fixture_t *fixture, const fixture_options_t *options);
// Hosts are numbered from 0.
fixture_host_t *fixture_host(fixture_t *fixture, const char *name);
// Adds a switch. config may be NULL: defaults.
net_node_t *fixture_switch(fixture_t *fixture, const char *name, const net_switch_config_t *config);
uint32_t fixture_link(fixture_t *fixture, net_node_t *a, net_node_t *b, uint64_t rate_bps,
                      sim_time_t delay_ps);
void fixture_flow(fixture_host_t *host, const fixture_flow_t *flow);
void fixture_pause(fixture_host_t *host, sim_time_t time_ps, uint8_t classes, uint16_t quanta);
void fixture_build(fixture_t *fixture);
void fixture_run(fixture_t *fixture);
void fixture_destroy(fixture_t *fixture);

// Builds a star: `senders` hosts and one receiver (the last host) at one switch, all links alike.
net_node_t *fixture_star(fixture_t *fixture, const net_switch_config_t *config, unsigned senders,
                         const net_link_config_t *link);

// Returns the port of node a towards b.
net_port_t *fixture_port(const net_node_t *a, const net_node_t *b);
// Returns the time of `bytes` on a link: floor(bytes * 8e12 / rate).
sim_time_t fixture_bytes_ps(uint64_t bytes, uint64_t rate_bps);

// Returns the bytes that one ingress (port, class) of a switch holds now.
uint64_t fixture_ingress_bytes(const net_node_t *sw, uint32_t port, uint32_t priority);

#endif // TESTS_NET_FIXTURE_H
