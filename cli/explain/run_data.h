// SPDX-License-Identifier: Apache-2.0
// cli/explain/run_data.h - the flows, ports and pauses of a run, as its files have them.
#ifndef CLI_EXPLAIN_RUN_DATA_H
#define CLI_EXPLAIN_RUN_DATA_H

#include "net/trace.h"

typedef struct explain_flow {
    uint64_t id;
    uint32_t source; // interfaces, in the direction of the data
    uint32_t destination;
    uint32_t source_qp; // numbers of queue pairs; 0: not known
    uint32_t destination_qp;
    uint16_t source_port;
    uint8_t priority;
    bool reads;  // the destination asked for the data
    bool spread; // its packets take several paths
    uint64_t bytes;
    uint64_t delivered_bytes;
    uint32_t app;  // in explain_t.apps
    uint32_t pair; // number of its queue pair, by source and destination
    sim_time_t start_ps;
    sim_time_t begin_ps; // when the flow is the first on its queue pair; start_ps or later
    sim_time_t end_ps;   // of the run, if the flow did not end
    bool ended;
    bool failed;
    sim_time_t ideal_ps;
    uint64_t message_bytes; // of one work request
    uint64_t depth;         // number of requests that its program posts at a time
    uint64_t retransmitted;
    uint64_t reordered;  // packets
    double fair_bytes;   // that fair shares would have carried in its time
    uint32_t first_hop;  // in explain_t.hops
    uint32_t hop_count;  // 0: the path is not known
    double shared_ps;    // time that fair sharing of full links costs it
    double excess_ps;    // time beyond that and its ideal time
    uint32_t bottleneck; // port whose sharing costs it the most time; EXPLAIN_NONE: none
    double bottleneck_ps;
} explain_flow_t;

// The flows of all entries of traffic that have one name.
typedef struct explain_app {
    char *name;
    double flows_ps; // sums, as in explain_t
    double ideal_ps;
} explain_app_t;

// A port, by its uid.
typedef struct explain_port {
    const net_port_t *port; // NULL: no such uid
    double utilisation;
    uint64_t queue_bytes_max;
    uint64_t discards;
    sim_time_t paused_ps; // its peer stopped it
    sim_time_t paused_by_priority_ps[NET_PRIORITIES];
    sim_time_t credit_wait_ps; // it had something to send and no credits
    uint64_t retries;          // damaged packets that its link sent again
    sim_time_t retry_ps;
    uint64_t tx_bytes;
    uint64_t tx_packets;
    uint64_t marked;                       // packets that got CE here
    uint64_t drops[NET_DROP_REASON_COUNT]; // rows of events.csv
    uint64_t full[NET_PRIORITIES];         // number of these drops, by class, for want of buffer
    uint32_t downs;                        // times that its link went down
    sim_time_t down_ps;                    // first time
    uint8_t faults;                        // bit per net_fault_kind_t that began here
    uint32_t flow_count;
    uint32_t planes;  // ports that this one stands for: packets that spread over equal ones
    double shared_ps; // sum over the flows whose bottleneck it is
    double held_ps;   // time in which its fair shares held a flow below the rate that it has alone
    uint32_t shared_flows;
    uint32_t shared_most; // flows that share it at one time
} explain_port_t;

// The counters of a NIC, by interface.
typedef struct explain_nic {
    uint64_t sent_packets;
    uint64_t received_packets;
    uint64_t sent_bytes; // payload
    uint64_t received_bytes;
    uint64_t queue_pairs; // at once, at most
    uint64_t marked;      // packets that it received with CE
    uint64_t cnps_sent;
    uint64_t cnps_handled;
    uint64_t cnps_ignored;
    uint64_t out_of_sequence;
    uint64_t timeouts;
    uint64_t retransmitted;
} explain_nic_t;

// A pause of one class of a port.
typedef struct explain_stop {
    uint32_t port;
    uint32_t root;
    uint8_t priority;
    bool ended;
    sim_time_t from_ps;
    sim_time_t to_ps; // the run's end, if it did not end; known up to events_end_ps alone
} explain_stop_t;

// A place at which pauses began.
typedef struct explain_root {
    char *name;
    uint32_t port; // EXPLAIN_NONE: a host
    const net_node_t *node;
    sim_time_t first_ps;
    sim_time_t last_ps;
    sim_time_t paused_ps; // sum over ports
    uint64_t pauses;
    sim_time_t *by_port; // by uid
    uint32_t ports;      // that were stopped
    uint32_t hosts;      // among them
} explain_root_t;

#endif // CLI_EXPLAIN_RUN_DATA_H
