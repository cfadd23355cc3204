// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/acked_packet.c - ACKs for packets that are gone.
#include "nic/transport/selective/acked_packet.h"

#include "nic/cc/control.h"
#include "nic/objects/qp.h"
#include "nic/transport/responder_internal.h"

void nic__acked_packet_acknowledge(nic_qp_t *qp, nic_acked_packet_t *cause)
{
    if (SIM_LIKELY(cause->packet.telemetry != NET_TELEMETRY_INT)) {
        nic_transport_acknowledge(qp, &cause->packet);
        return;
    }
    cause->packet.telemetry = NET_TELEMETRY_NONE; // its records do not lie behind the copy
    if (qp->read_count != 0) {
        nic_transport_acknowledge(qp, &cause->packet); // after the READs, when they would be old
        return;
    }
    net_packet_t *const answer = nic_transport_answer(
        qp, qp->expected_psn - 1, nic__ack_aeth(qp->msn) >> 24, 0, &cause->packet);
    answer->path_id = cause->packet.path_id;
    answer->digest = cause->packet.digest;
    answer->hop_count = cause->packet.hop_count;
    memcpy(net_packet_telemetry(answer), cause->hops, answer->hop_count * sizeof(uint64_t));
    nic__add_telemetry(qp->nic, answer, NET_TELEMETRY_INT, NULL);
    nic_transport_send(qp, answer);
}
