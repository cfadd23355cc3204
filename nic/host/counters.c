// SPDX-License-Identifier: Apache-2.0
// nic/host/counters.c - names of what a NIC counts, and of what a queue pair can be asked.
// The page docs/formats/counters.md explains them.
#include <string.h>

#include "net/port_metrics.h"
#include "nic/device.h"
#include "nic/port_counters.h"
#include "nic/transport.h"

#include "nic/objects/fields.h"
#include "nic/objects/qp.h"
#include "nic/trace.h"
#include "nic/transport_metrics.h"

// clang-format off
// repeat_: how fast-forward repeats a change (SIM_REPEAT_). A span with FIXED ones is not repeated.
#define FIELD(field_, repeat_) \
    .field = {SIM_FIELD_OF(nic_counters_t, field_, repeat_, repeat_, SIM_CARRIED | SIM_DIGESTED)}
#define COUNTER(field_, repeat_, unit_, help_) \
    {FIELD(field_, repeat_), .name = #field_, .help = help_, .unit = unit_}
#define COUNTER_AND_TOTAL(field_, repeat_, help_, ...)                           \
    {FIELD(field_, repeat_), .name = #field_, .help = help_, .unit = "packets", \
     .total = {__VA_ARGS__}}
const nic_counter_info_t nic_counter_infos[] = {
    COUNTER(tx_packets, COUNT, "packets", "number of RoCE packets sent, CNPs and retransmissions included"),
    COUNTER(rx_packets, COUNT, "packets", "number of RoCE packets that the NIC received"),
    COUNTER(tx_data_bytes, COUNT, "bytes", "payload bytes sent, retransmissions included"),
    COUNTER(rx_data_bytes, COUNT, "bytes", "payload bytes accepted in order"),
    COUNTER(rx_restarted_bytes, COUNT, "bytes", "payload bytes accepted and then discarded by go-back-0"),
    COUNTER_AND_TOTAL(np_cnp_sent, COUNT, "notification point: number of CNPs sent",
                      .group = "cnp", .field = "cnp_sent", .label = "CNPs sent",
                      .line = "ECN", .words = "CNPs sent"),
    COUNTER(np_ecn_marked_roce_packets, COUNT, "packets", "notification point: number of data packets received with CE"),
    COUNTER_AND_TOTAL(rp_cnp_handled, COUNT, "reaction point: number of CNPs given to congestion control",
                      .group = "cnp", .field = "cnp_handled"),
    COUNTER(rp_cnp_ignored, COUNT, "packets", "reaction point: number of CNPs ignored, because the algorithm does not use them or the queue pair is idle"),
    COUNTER_AND_TOTAL(retransmitted_packets, COUNT, "number of packets sent again: requests and READ responses",
                      .group = "retransmission", .field = "retransmitted_packets",
                      .label = "packets retransmitted"),
    COUNTER(out_of_sequence, COUNT, "packets", "responder: number of requests ahead of the expected PSN"),
    COUNTER(duplicate_request, COUNT, "packets", "responder: number of requests behind the expected PSN"),
    COUNTER(packet_seq_err, COUNT, "packets", "requester: number of sequence NAKs received"),
    COUNTER(implied_nak_seq_err, COUNT, "", "requester: number of gaps in READ responses"),
    COUNTER(local_ack_timeout_err, COUNT, "", "requester: number of expirations of the retransmission timer"),
    COUNTER(rnr_nak_retry_err, FIXED, "packets", "requester: number of receiver-not-ready NAKs received"),
    COUNTER(req_remote_access_errors, FIXED, "packets", "requester: number of remote access NAKs received"),
    COUNTER(resp_local_length_error, FIXED, "", "responder: number of messages longer than their receive"),
    COUNTER(out_of_buffer, FIXED, "", "responder: number of messages without a posted receive, answered by an RNR NAK or dropped"),
    COUNTER(late_answers, COUNT, "packets", "number of ACKs, READ responses and CNPs for a queue pair that no longer exists"),
    {.field = {SIM_FIELD_OF(nic_counters_t, loopback_packets, FIXED, FIXED, SIM_CARRIED)},
     .name = "loopback_packets", .unit = "packets",
     .help = "number of packets that the NIC sent to itself, which reach no link"},
    COUNTER(qps_created, FIXED, "", "number of queue pairs created so far"),
    COUNTER(qps_peak, FIXED, "", "largest number of queue pairs that existed at once"),
    COUNTER(qps_live, FIXED, "", "number of queue pairs that exist at this time"),
    {.name = NULL},
};
// clang-format on
const sim_fields_t nic__counter_fields = {
    .name = "counters of a NIC",
    .bytes = sizeof(nic_counters_t),
    .rows = nic_counter_infos,
    .row_count = SIM_COUNT_OF(nic_counter_infos),
    .row_bytes = sizeof(nic_counter_info_t),
};

// -- the port, by Linux's names

#define DATA_WORD_BYTES 4u
#define WAIT_TICK_PS 1000u

const nic_port_counter_info_t nic_port_counter_infos[] = {
    {"port_xmit_data", "tx_bytes", DATA_WORD_BYTES},
    {"port_rcv_data", "rx_bytes", DATA_WORD_BYTES},
    {"port_xmit_packets", "tx_packets", 1},
    {"port_rcv_packets", "rx_packets", 1},
    {"unicast_xmit_packets", "tx_packets", 1},
    {"unicast_rcv_packets", "rx_packets", 1},
    {"port_xmit_discards", "discards", 1},
    {"port_xmit_wait", "paused_ps", WAIT_TICK_PS},
    {"port_rcv_errors", NULL, 1},
    {"port_rcv_remote_physical_errors", NULL, 1},
    {"port_rcv_constraint_errors", NULL, 1},
    {"port_xmit_constraint_errors", NULL, 1},
    {"port_rcv_switch_relay_errors", NULL, 1},
    {"symbol_error", NULL, 1},
    {"link_downed", NULL, 1},
    {"link_error_recovery", NULL, 1},
    {"local_link_integrity_errors", NULL, 1},
    {"excessive_buffer_overrun_errors", NULL, 1},
    {"VL15_dropped", NULL, 1},
    {"multicast_rcv_packets", NULL, 1},
    {"multicast_xmit_packets", NULL, 1},
    {NULL, NULL, 1},
};

const nic_port_counter_info_t nic_interface_counter_infos[] = {
    {"tx_packets", "tx_packets", 1}, {"rx_packets", "rx_packets", 1}, {"tx_bytes", "tx_bytes", 1},
    {"rx_bytes", "rx_bytes", 1},     {"tx_dropped", "discards", 1},   {"rx_dropped", NULL, 1},
    {"tx_errors", NULL, 1},          {"rx_errors", NULL, 1},          {NULL, NULL, 1},
};

uint64_t nic_port_counter(const nic_t *nic, const nic_port_counter_info_t *counter,
                          sim_time_t now_ps)
{
    if (counter->metric == NULL) {
        return 0;
    }
    const net_port_metric_t *const metric = net_port_metric_find(counter->metric);
    return net_port_metric_read(metric, nic_device_port(nic), UINT8_MAX, now_ps) / counter->unit;
}

// -- queue pairs

static uint64_t read_rate(const nic_qp_t *qp)
{
    return nic__cc_const(qp)->rate_bps;
}

static uint64_t read_unacknowledged(const nic_qp_t *qp)
{
    return qp->next_psn - qp->una_psn;
}

static uint64_t read_queued(const nic_qp_t *qp)
{
    return qp->sq_posted - qp->sq_done;
}

bool nic_qp_sends(const nic_qp_t *qp)
{
    return qp->sq_posted != 0 || (qp->rx_flags & NIC_RX_READS) != 0;
}

bool nic_qp_cc_metric(const nic_qp_t *qp, const char *name, uint64_t *value)
{
    const nic_cc_t *const cc = nic__cc_const(qp);
    if (qp->state == NIC_QPS_RESET || cc->ops->metric == NULL || cc->ops->metric_names == NULL) {
        return false;
    }
    for (uint32_t i = 0; cc->ops->metric_names[i] != NULL; i++) {
        if (strcmp(cc->ops->metric_names[i], name) == 0) {
            *value = cc->ops->metric(cc, i);
            return true;
        }
    }
    return false;
}

// clang-format off
#define ACKED (NIC_TRACE_ACK | NIC_TRACE_COMPLETION | NIC_TRACE_STATE)
#define SENT  (NIC_TRACE_SEND | NIC_TRACE_RETRANSMIT)
#define FIELD_OF_QP(field_) \
    .offset = offsetof(nic_qp_t, field_), .bytes = sizeof(((nic_qp_t *)NULL)->field_)
const nic_qp_metric_t nic_qp_metrics[] = {
    {"rate_bps", "bit/s", "rate at which the queue pair paces its packets", .points = NIC_TRACE_RATE, .read = read_rate},
    {"window_bytes", "bytes", "unacknowledged payload allowed; 2^64 - 1: no limit", .points = NIC_TRACE_WINDOW, FIELD_OF_QP(window_bytes)},
    {"in_flight_bytes", "bytes", "payload sent and not acknowledged", .points = SENT | ACKED, FIELD_OF_QP(in_flight_bytes)},
    {"unacked_packets", "packets", "number of packets sent and not acknowledged", .points = SENT | ACKED, .read = read_unacknowledged},
    {"queued_requests", "requests", "number of send work requests that are not completed", .points = NIC_TRACE_POST | ACKED, .read = read_queued},
    {"retransmitted_packets", "packets", "number of packets sent again so far", .points = NIC_TRACE_SEND, FIELD_OF_QP(retransmitted_packets)},
    {"resend_packets", "packets", "number of packets that wait to be sent again (irn, adamap, sdr)", .points = SENT | ACKED | NIC_TRACE_NAK_RECEIVED | NIC_TRACE_TIMEOUT, .read = nic_qp_resend_packets},
    {"rtt_ps", "ps", "round trip of the packet acknowledged last; of one sent again none is known", .points = NIC_TRACE_ACK},
    {"state", "", "0 reset, 3 ready to send, 4 send queue error, 5 error, 6 send queue drains", .points = NIC_TRACE_STATE | NIC_TRACE_LIFE, FIELD_OF_QP(state), .of_all = true},
    {"alpha", "1/1000000", "DCQCN, DCTCP: estimate of congestion", .points = NIC_TRACE_CONTROL, .cc_metric = "alpha"},
    {"target_rate_bps", "bit/s", "DCQCN: rate that recovery aims at", .points = NIC_TRACE_CONTROL, .cc_metric = "target_rate"},
    {.name = NULL},
};
#undef ACKED
#undef SENT
#undef FIELD_OF_QP
// clang-format on

bool nic_qp_metric_is_traced(const nic_qp_metric_t *metric)
{
    return metric->bytes == 0 && metric->cc_metric == NULL && metric->read == NULL;
}

uint64_t nic_qp_metric_read(const nic_qp_metric_t *metric, const nic_qp_t *qp)
{
    uint64_t value = 0;
    if (metric->cc_metric != NULL) {
        return nic_qp_cc_metric(qp, metric->cc_metric, &value) ? value : 0;
    }
    if (metric->read != NULL) {
        return metric->read(qp);
    }
    const char *const field = (const char *)qp + metric->offset;
    if (metric->bytes == sizeof(uint8_t)) {
        return *(const uint8_t *)field;
    }
    SIM_CHECK(metric->bytes == sizeof(value));
    memcpy(&value, field, sizeof(value));
    return value;
}
