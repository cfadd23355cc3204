// SPDX-License-Identifier: Apache-2.0
// apps/app_results.h - results of applications: flows, loads, operations and ends of ranks.
#ifndef APPS_APP_RESULTS_H
#define APPS_APP_RESULTS_H

#include "nic/host.h"
#include "nic/ideal.h"

SIM_C_BEGIN

// One finished or unfinished transfer, a row of flows.csv.
typedef struct app_flow_result {
    uint64_t flow_id; // unique in the run, in order of (application, start)
    uint32_t source;  // interface
    uint32_t destination;
    uint16_t udp_source_port;
    uint16_t service_port; // destination port in the flow file; 0: none
    uint32_t first_psn;    // first PSN of the requester's packets
    uint32_t source_qp;    // number of the queue pair at the source; 0: unknown
    uint32_t destination_qp;
    uint32_t mtu_bytes; // payload of a full packet; 0: no packets belong to this flow alone
    uint8_t priority;
    uint8_t dscp;
    bool reads; // READ: the payload goes from the destination to the source
    bool local; // within a host: no packets
    uint64_t bytes;
    sim_time_t start_ps;
    sim_time_t end_ps; // when the sender has the last acknowledgement; NEVER: unfinished or failed
    sim_time_t ideal_ps;      // shortest possible time, for the idle path: app_flow_timed
    nic_ideal_t ideal;        // what ideal_ps follows from; net is NULL: ideal_ps is set
    uint64_t delivered_bytes; // acknowledged so far; set for unfinished flows only
    sim_time_t failed_ps;     // when the flow failed; 0: it has not failed
    uint64_t retransmitted_packets;
    // Position among the ended flows of its application, from 1, where ties go by insertion; else
    // 0.
    uint32_t end_order;
    nic_wc_status_t status; // error of a failed flow; SUCCESS also while a flow is unfinished
    const char *label;      // the application's name: "poisson", "incast"...
} app_flow_result_t;
typedef void (*app_flow_fn)(const app_flow_result_t *flow, void *ctx);

// Returns the flow with its ideal_ps. Computing that takes longer than all else about a flow, so it
// is left to those who need it.
static inline app_flow_result_t app_flow_timed(const app_flow_result_t *flow)
{
    app_flow_result_t timed = *flow;
    if (flow->ideal.net != NULL) {
        timed.ideal_ps = nic_ideal_ps(&flow->ideal);
        timed.ideal.net = NULL;
    }
    return timed;
}

// Messages of one kind from one interface to another that an application will send besides its
// flows, before a run: for estimates.
typedef struct app_load {
    uint32_t source; // interface
    uint32_t destination;
    uint32_t mtu_bytes; // payload of a full packet
    uint8_t priority;
    uint8_t dscp;
    bool local;      // within a host: no packets
    double messages; // may be a mean, hence a fraction
    double bytes;    // of all messages
    sim_time_t start_ps;
} app_load_t;
typedef void (*app_load_fn)(const app_load_t *load, void *ctx);

// One operation of a program on a host, a row of operations.csv.
typedef struct app_operation {
    uint32_t rank;         // of the program
    uint32_t number;       // among the rank's operations
    uint32_t interface;    // that the rank has first
    const char *kind;      // "calc", "send", "recv", "all-reduce"...
    const char *dimension; // "tp": what it is for; "none": unknown
    const char *name;      // of a collective; "": none
    uint8_t cpu;
    uint64_t bytes; // of a message or a collective
    uint32_t peer;  // rank at the other end; UINT32_MAX: none, or any
    sim_time_t start_ps;
    sim_time_t end_ps; // SIM_TIME_NEVER: it has not ended
} app_operation_t;
typedef void (*app_operation_fn)(const app_operation_t *operation, void *ctx);

typedef void (*app_place_fn)(uint32_t rank, uint32_t interface, void *ctx);

// When a rank of a program ended, and how.
typedef struct app_rank_end {
    sim_time_t end_ps;
    uint64_t failed_messages;
} app_rank_end_t;

SIM_C_END

#endif // APPS_APP_RESULTS_H
