// SPDX-License-Identifier: Apache-2.0
// nic/transport_metrics.h - what transports hold now, for series.
#ifndef NIC_TRANSPORT_METRICS_H
#define NIC_TRANSPORT_METRICS_H

#include "nic/transport.h"

SIM_C_BEGIN

// A metric of what transports hold now: series "nic[HOST].transport.NAME" (observe). A reading
// costs O(queue pairs).
typedef struct nic_transport_metric {
    const char *name; // with the prefix "transport."
    const char *unit;
    const char *help;
    size_t offset; // in nic_transport_gauges_t
} nic_transport_metric_t;
extern const nic_transport_metric_t nic_transport_metrics[]; // ends with a NULL name
uint64_t nic_transport_metric_read(const nic_t *nic, const nic_transport_metric_t *metric);
uint64_t nic_qp_resend_packets(const nic_qp_t *qp); // packets that wait to be sent again

SIM_C_END

#endif // NIC_TRANSPORT_METRICS_H
