// SPDX-License-Identifier: Apache-2.0
// nic/verbs/qp_explain.c - why a queue pair with unfinished work does not move, in words.
#include "net/ports.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/loopback.h"

static void explain_outstanding(const nic_qp_t *qp, sim_message_t *why)
{
    (void)sim_fail(why, SIM_OK,
                   "waits for acknowledgement of %" PRIu64 " packet%s from PSN %" PRIu64,
                   qp->next_psn - qp->una_psn, sim_plural(qp->next_psn - qp->una_psn),
                   qp->una_psn & ROCE_PSN_MASK);
}

// Says what holds back the next packet of a QP that is not in its class's ring.
static void explain_blocked(const nic_qp_t *qp, sim_message_t *why)
{
    if ((qp->flags & NIC_QP_RNR_WAIT) != 0) {
        (void)sim_fail(why, SIM_OK, "waits because the receiver was not ready");
    } else if ((qp->flags & NIC_QP_PACING) != 0) {
        (void)sim_fail(why, SIM_OK, "paced at %" PRIu64 " bit/s, next packet at %" PRIu64 " ps",
                       nic__cc_const(qp)->rate_bps, qp->next_send_ps);
    } else if (qp->sq_send == qp->sq_posted) {
        explain_outstanding(qp, why);
    } else if (qp->state == NIC_QPS_SQD && qp->next_psn == qp->max_psn) {
        (void)sim_fail(why, SIM_OK, "its send queue drains");
    } else if ((qp->flags & NIC_QP_FETCHING) != 0) {
        (void)sim_fail(why, SIM_OK, "its next work request is on its way through the NIC");
    } else if (qp->next_psn != qp->una_psn && nic__is_fetch(nic__wqe(qp, qp->sq_send)->opcode)) {
        (void)sim_fail(why, SIM_OK, "%u READs outstanding", qp->reads_outstanding);
    } else if (qp->in_flight_bytes != 0) {
        (void)sim_fail(why, SIM_OK, "window full: %" PRIu64 " of %" PRIu64 " bytes unacknowledged",
                       qp->in_flight_bytes, qp->window_bytes);
    } else {
        explain_outstanding(qp, why);
    }
}

bool nic_qp_explain(const nic_qp_t *qp, sim_message_t *why)
{
    if (qp->sq_done == qp->sq_posted && qp->read_count == 0) {
        return false;
    }
    const net_port_t *const port = qp->nic->port + (qp->nic->planes != NULL ? qp->plane : 0);
    const bool ready = (qp->flags & NIC_QP_READY) != 0;
    if (ready && qp->plane == NIC_PLANE_LOOPBACK) {
        (void)sim_fail(why, SIM_OK, "ready to send, waits for the loopback of its NIC");
    } else if (ready && port->down) {
        (void)sim_fail(why, SIM_OK, "link %s is down", net_port_name(port));
    } else if (ready && (port->paused & 1u << qp->priority) != 0) {
        (void)sim_fail(why, SIM_OK, "class %u paused by %s", qp->priority,
                       port->peer->node->sim.name);
    } else if (ready) {
        (void)sim_fail(why, SIM_OK, "ready to send, waits for %s", net_port_name(port));
    } else if (qp->ops->explain == NULL || !qp->ops->explain(qp, why)) {
        explain_blocked(qp, why);
    }
    return true;
}
