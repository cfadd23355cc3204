// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/flows.c - finds the flows of a program and reports them.
#include "apps/programs/verbs/flows.h"

#include "nic/ideal.h"

#include <string.h>

#define NO_ROW SIZE_MAX
#define BACKWARD (UINT64_C(1) << 63) // direction in app__pr_qp_t.flow_target

static bool is_backward(uint8_t opcode)
{
    return opcode >= NIC_WR_RDMA_READ;
}

// Returns the number of the packets that a message of so many bytes needs.
static uint64_t packets_of(uint64_t bytes, uint64_t mtu_bytes)
{
    return bytes == 0 || mtu_bytes == 0 ? 1 : (bytes + mtu_bytes - 1) / mtu_bytes;
}

// -- noting

static app__pr_flow_t *row_of(const app__pr_flows_t *flows, const app__pr_open_flow_t *open)
{
    return open->row == NO_ROW ? NULL : &flows->rows[open->row];
}

static void begin(app__pr_flows_t *flows, app__pr_qp_t *qp, const nic_trace_t *trace)
{
    app__pr_open_flow_t open = {.row = NO_ROW};
    const bool datagram = qp->type == NIC_QPT_UD;
    if (flows->begun++ < flows->rows_max) {
        open.row = flows->row_count;
        const app__pr_flow_t row = {
            .requester = nic_interface(trace->nic),
            .responder = datagram ? trace->wr->ud.remote_interface : nic_qp_destination(qp->qp),
            .requester_qp = nic_qp_num(qp->qp),
            .responder_qp = datagram ? trace->wr->ud.remote_qpn : qp->attr.dest_qp_num,
            .udp_source_port = nic_qp_udp_source_port(qp->qp),
            .mtu_bytes = qp->mtu_bytes,
            .priority = qp->priority,
            .dscp = qp->dscp,
            .opcode = (uint8_t)trace->wr->opcode,
            .service = (uint8_t)qp->type,
            .even = true,
            .first_psn = qp->flow_next_psn,
            .retransmitted_before = nic_qp_retransmitted_packets(qp->qp),
            .start_ps = trace->time_ps,
            .end_ps = SIM_TIME_NEVER,
        };
        SIM_APPEND(flows->rows, flows->row_count, flows->row_capacity, row);
    }
    SIM_APPEND(qp->flows, qp->flow_count, qp->flow_capacity, open);
}

static void note_post(app__pr_flows_t *flows, app__pr_qp_t *qp, const nic_trace_t *trace)
{
    const nic_send_wr_t *const wr = trace->wr;
    const uint64_t target = (is_backward((uint8_t)wr->opcode) ? BACKWARD : 0) |
                            (qp->type == NIC_QPT_UD ? (uint64_t)wr->ud.remote_interface << 24 |
                                                          (wr->ud.remote_qpn & 0xffffff)
                                                    : 0);
    if (qp->flow_first == qp->flow_count) {
        qp->flow_next_psn = nic_qp_una_psn(qp->qp);
    }
    if (qp->flow_first == qp->flow_count || target != qp->flow_target) {
        begin(flows, qp, trace);
    }
    qp->flow_target = target;
    const uint64_t packets = packets_of(trace->value, qp->mtu_bytes);
    qp->flow_next_psn += packets;
    app__pr_open_flow_t *const open = &qp->flows[qp->flow_count - 1];
    open->left++;
    app__pr_flow_t *const row = row_of(flows, open);
    if (row != NULL) {
        row->even = row->even && (row->messages == 0 || row->last_bytes == trace->value);
        row->messages++;
        row->last_bytes = trace->value;
        row->bytes += trace->value;
        row->packets += packets;
    }
}

// Removes the oldest flow of a queue pair.
static void remove_oldest(app__pr_qp_t *qp)
{
    qp->flow_first++;
    if (qp->flow_first * 2 >= qp->flow_count) {
        qp->flow_count -= qp->flow_first;
        memmove(qp->flows, qp->flows + qp->flow_first, qp->flow_count * sizeof(*qp->flows));
        qp->flow_first = 0;
    }
}

static void note_completion(app__pr_flows_t *flows, app__pr_qp_t *qp, const nic_trace_t *trace)
{
    if (qp->flow_first == qp->flow_count) {
        return;
    }
    app__pr_open_flow_t *const open = &qp->flows[qp->flow_first];
    app__pr_flow_t *const row = row_of(flows, open);
    open->left--;
    if (row != NULL && trace->wc != NULL && trace->wc->status != NIC_WC_SUCCESS &&
        row->status == NIC_WC_SUCCESS) {
        row->status = (uint8_t)trace->wc->status;
        row->failed_ps = trace->time_ps;
    }
    if (open->left == 0) {
        if (row != NULL) {
            row->end_ps = row->status == NIC_WC_SUCCESS ? trace->time_ps : SIM_TIME_NEVER;
            row->retransmitted = nic_qp_retransmitted_packets(qp->qp) - row->retransmitted_before;
        }
        remove_oldest(qp);
    }
}

void app__pr_flows_note(app__pr_flows_t *flows, app__pr_qp_t *qp, const nic_trace_t *trace)
{
    if (trace->point == NIC_TRACE_POST) {
        note_post(flows, qp, trace);
    } else if (trace->point == NIC_TRACE_COMPLETION) {
        note_completion(flows, qp, trace);
    } else if (trace->point == NIC_TRACE_STATE && trace->value == NIC_QPS_RESET) {
        app__pr_flows_stop(flows, qp);
    }
}

void app__pr_flows_settle(const app__pr_flows_t *flows, const app__pr_qp_t *qp)
{
    const uint64_t una_psn = nic_qp_una_psn(qp->qp);
    for (size_t i = qp->flow_first; i < qp->flow_count; i++) {
        app__pr_flow_t *const row = row_of(flows, &qp->flows[i]);
        if (row != NULL && una_psn > row->first_psn) {
            const uint64_t packets = SIM_MIN(una_psn - row->first_psn, row->packets);
            row->delivered_bytes =
                (uint64_t)((sim_wide_t)row->bytes * packets / SIM_MAX(row->packets, UINT64_C(1)));
        }
        if (row != NULL) {
            row->retransmitted = nic_qp_retransmitted_packets(qp->qp) - row->retransmitted_before;
        }
    }
}

void app__pr_flows_stop(app__pr_flows_t *flows, app__pr_qp_t *qp)
{
    app__pr_flows_settle(flows, qp);
    qp->flow_first = qp->flow_count = 0;
}

// -- reporting

static sim_time_t ideal_ps(const app__pr_flow_t *row, const net_t *net)
{
    nic_ideal_t ideal = {
        .net = net,
        .requester = row->requester,
        .responder = row->responder,
        .udp_source_port = row->udp_source_port,
        // An answer to an atomic is as long as that to a READ of 8 bytes.
        .opcode = is_backward(row->opcode) ? NIC_WR_RDMA_READ : (nic_wr_opcode_t)row->opcode,
        .mtu_bytes = row->mtu_bytes,
        .message_bytes = row->even ? row->last_bytes : row->bytes,
        .messages = row->even ? row->messages : 1,
        .piece_bytes = UINT64_C(1) << 30,
        .service = (nic_qp_type_t)row->service,
    };
    const sim_time_t all_ps = nic_ideal_ps(&ideal);
    if (row->service == NIC_QPT_RC || all_ps == SIM_TIME_NEVER) {
        return all_ps;
    }
    // The sender's part: a work request is done when its last frame starts.
    const uint64_t rest_bytes = row->last_bytes % row->mtu_bytes;
    ideal.message_bytes = rest_bytes == 0 && row->last_bytes != 0 ? row->mtu_bytes : rest_bytes;
    ideal.messages = 1;
    const sim_time_t frame_ps = nic_ideal_ps(&ideal);
    return all_ps > frame_ps ? all_ps - frame_ps : 0;
}

// Returns true if the ideal time of two flows is the same.
static bool are_alike(const app__pr_flow_t *row, const app__pr_flow_t *other)
{
    return row->requester == other->requester && row->responder == other->responder &&
           row->udp_source_port == other->udp_source_port && row->opcode == other->opcode &&
           row->mtu_bytes == other->mtu_bytes && row->service == other->service &&
           row->bytes == other->bytes && row->last_bytes == other->last_bytes &&
           row->messages == other->messages && row->even == other->even;
}

void app__pr_flows_report(const app__pr_flows_t *flows, const net_t *net, const char *label,
                          app_flow_fn fn, void *ctx)
{
    sim_time_t row_ideal_ps = 0; // of the row before: a latency test has thousands of equal ones
    for (size_t i = 0; i < flows->row_count; i++) {
        const app__pr_flow_t *const row = &flows->rows[i];
        if (i == 0 || !are_alike(row, row - 1)) {
            row_ideal_ps = ideal_ps(row, net);
        }
        const bool backward = is_backward(row->opcode);
        const uint16_t answer_port = nic_derived_source_port(row->responder, row->responder_qp,
                                                             row->requester, row->requester_qp);
        // Data of READs and atomics go from the responder to the requester.
        const app_flow_result_t flow = {
            .flow_id = flows->first_id + i,
            .source = backward ? row->responder : row->requester,
            .destination = backward ? row->requester : row->responder,
            .udp_source_port = backward ? answer_port : row->udp_source_port,
            .source_qp = backward ? row->responder_qp : row->requester_qp,
            .destination_qp = backward ? row->requester_qp : row->responder_qp,
            .priority = row->priority,
            .dscp = row->dscp,
            .bytes = row->bytes,
            .start_ps = row->start_ps,
            .end_ps = row->end_ps,
            .ideal_ps = row_ideal_ps,
            .delivered_bytes = row->end_ps == SIM_TIME_NEVER ? row->delivered_bytes : row->bytes,
            .failed_ps = row->failed_ps,
            .retransmitted_packets = row->retransmitted,
            .status = (nic_wc_status_t)row->status,
            .label = label,
        };
        fn(&flow, ctx);
    }
}
