// SPDX-License-Identifier: Apache-2.0
// nic/transport/gauges.c - the current state of a NIC's transports as numbers, for series.
#include <string.h>

#include "nic/transport.h"

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/transport_metrics.h"

// clang-format off
#define METRIC(field, unit_, help_) \
    {"transport." #field, unit_, help_, offsetof(nic_transport_gauges_t, field)}
const nic_transport_metric_t nic_transport_metrics[] = {
    METRIC(missing_packets, "packets", "number of packets that receivers lack at this time, although a later one has arrived (irn, adamap, sdr)"),
    METRIC(ahead_packets, "packets", "number of packets that arrived out of order and wait for missing ones at this time"),
    METRIC(list_maps, "", "adamap: number of closed maps in the lists at this time, on the NIC and in chains"),
    METRIC(chain_maps, "", "adamap: number of closed maps in the host's chains at this time"),
    METRIC(table_maps, "", "adamap: number of entries of the look-up tables at this time"),
    METRIC(used_blocks, "", "adamap: number of blocks of the knitting buffer that are in use at this time"),
    METRIC(free_blocks, "", "adamap: number of blocks on the free list of the knitting buffer at this time"),
    METRIC(host_bytes, "bytes", "that the knitting buffer takes now"),
    METRIC(resend_packets, "packets", "number of packets that wait for their retransmission at this time"),
    METRIC(again_stretches, "", "number of ranges of READ responses that wait for their retransmission"),
    {NULL, NULL, NULL, 0},
};
// clang-format on

static void add_qp(const nic_qp_t *qp, void *ctx)
{
    if (qp->transport_open && qp->ops->gauges != NULL) {
        qp->ops->gauges(qp, ctx);
    }
}

uint64_t nic_transport_metric_read(const nic_t *nic, const nic_transport_metric_t *metric)
{
    nic_transport_gauges_t gauges = {0};
    nic_for_each_qp(nic, add_qp, &gauges);
    for (const struct nic_transport_share *share = nic->shares; share != NULL;
         share = share->next) {
        if (share->ops->nic_gauges != NULL) {
            share->ops->nic_gauges(share->state, &gauges);
        }
    }
    uint64_t value = 0;
    memcpy(&value, (const char *)&gauges + metric->offset, sizeof(value));
    return value;
}

uint64_t nic_qp_resend_packets(const nic_qp_t *qp)
{
    nic_transport_gauges_t gauges = {0};
    add_qp(qp, &gauges);
    return gauges.resend_packets;
}
