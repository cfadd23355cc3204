// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/flows.h - the flows of a program: what its queue pairs carry without a pause.
//
// A flow begins with a work request on a queue pair that has nothing unfinished, or whose latest
// work request went in another direction (READs and atomics bring data, all others send them) or to
// another destination. It takes in the work requests that follow, as long as one of its own is
// unfinished. So a bandwidth test is one flow for each queue pair, and each message of a latency
// test is a flow. Listeners of the NIC (nic/trace.h) find the flows, so they change no run.
#ifndef APPS_PROGRAMS_VERBS_FLOWS_H
#define APPS_PROGRAMS_VERBS_FLOWS_H

#include "apps/app_results.h"
#include "apps/programs/objects.h"
#include "nic/trace.h"

// A flow of a queue pair with unfinished work requests.
typedef struct app__pr_open_flow {
    size_t row;    // SIZE_MAX: it has none
    uint64_t left; // unfinished work requests
} app__pr_open_flow_t;

// A flow, for flows.csv.
typedef struct app__pr_flow {
    uint32_t requester; // interface that posted the work requests
    uint32_t responder;
    uint32_t requester_qp;
    uint32_t responder_qp;
    uint16_t udp_source_port; // of the requester's packets
    uint16_t mtu_bytes;
    uint8_t priority;
    uint8_t dscp;
    uint8_t opcode;  // nic_wr_opcode_t of the first work request
    uint8_t service; // nic_qp_type_t
    uint8_t status;  // nic_wc_status_t
    bool even;       // all messages have the same size
    uint64_t bytes;
    uint64_t messages;
    uint64_t last_bytes; // of the latest message
    uint64_t packets;    // as many as its payload fills
    uint64_t first_psn;  // as nic_qp_una_psn counts
    uint64_t delivered_bytes;
    uint64_t retransmitted_before; // by the queue pair, before the flow
    uint64_t retransmitted;
    sim_time_t start_ps;
    sim_time_t end_ps; // SIM_TIME_NEVER: unfinished or failed
    sim_time_t failed_ps;
} app__pr_flow_t;

// The flows of one program.
typedef struct app__pr_flows {
    app__pr_flow_t *rows; // the first ones, by start
    size_t row_count;
    size_t row_capacity;
    uint64_t rows_max;
    uint64_t begun;    // number of flows, with those that have no row
    uint64_t first_id; // of rows_max flow ids
} app__pr_flows_t;

// Notes a moment of a queue pair: POST, COMPLETION of a send, or STATE.
void app__pr_flows_note(app__pr_flows_t *flows, app__pr_qp_t *qp, const nic_trace_t *trace);
// Ends what is unfinished, because the queue pair is reset or destroyed.
void app__pr_flows_stop(app__pr_flows_t *flows, app__pr_qp_t *qp);
// Notes how much of the unfinished flows of a queue pair has been delivered.
void app__pr_flows_settle(const app__pr_flows_t *flows, const app__pr_qp_t *qp);
// Calls fn for each row.
void app__pr_flows_report(const app__pr_flows_t *flows, const net_t *net, const char *label,
                          app_flow_fn fn, void *ctx);

#endif // APPS_PROGRAMS_VERBS_FLOWS_H
