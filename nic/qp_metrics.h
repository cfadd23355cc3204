// SPDX-License-Identifier: Apache-2.0
// nic/qp_metrics.h - what a queue pair can be asked during a run.
#ifndef NIC_QP_METRICS_H
#define NIC_QP_METRICS_H

#include "nic/queue_pair.h"

SIM_C_BEGIN

// A metric of one QP, for time series.
typedef struct nic_qp_metric {
    const char *name; // "rate_bps", "window_bytes", "in_flight_bytes", "alpha"...
    const char *unit;
    const char *help;
    // The value is a field of the queue pair (bytes != 0), a number of its congestion control
    // (nic_qp_cc_metric), or comes from `read`; else its trace point reports it.
    uint16_t offset;
    uint16_t bytes;
    const char *cc_metric;
    uint64_t (*read)(const nic_qp_t *qp);
    uint32_t points; // nic_trace_point_t bits after which it may have changed
    bool of_all;     // true: also valid for a QP that only answers (nic_qp_sends)
} nic_qp_metric_t;
extern const nic_qp_metric_t nic_qp_metrics[]; // ends with a NULL name
// Returns whether the value is known only when its trace point reports it.
bool nic_qp_metric_is_traced(const nic_qp_metric_t *metric);
// Returns the present value; 0 if the congestion control has no such number.
uint64_t nic_qp_metric_read(const nic_qp_metric_t *metric, const nic_qp_t *qp);

// Returns whether this queue pair ever had something to send in its state: a work request posted,
// or a READ or atomic to answer. A queue pair that only acknowledges has a rate and a window too,
// but they say nothing.
bool nic_qp_sends(const nic_qp_t *qp);

// Reads a number of the QP's congestion control (nic_cc_ops_t.metric) by its name. Returns false if
// there is none of that name. The number may change at NIC_TRACE_CONTROL.
bool nic_qp_cc_metric(const nic_qp_t *qp, const char *name, uint64_t *value);

// Says why a QP with unfinished work does not move, for stall reports: "class 3 paused by leaf0",
// "window full", "waits for ACK"... Returns false if the QP has nothing unfinished.
bool nic_qp_explain(const nic_qp_t *qp, sim_message_t *why);

SIM_C_END

#endif // NIC_QP_METRICS_H
