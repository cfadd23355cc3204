// SPDX-License-Identifier: Apache-2.0
// nic/verbs/hand_over.c - callbacks of programs, called in order at the end of the event.
//
// Every queue pair is consistent then, so a callback may do anything. It may cause further notices
// in the same event. Whether a queue pair rests is checked after them, since they may give it work.
#include "nic/verbs/hand_over.h"
#include "nic/objects/notices.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/transport/entry.h"
#include "nic/verbs/life.h"

static void tell(const nic_notice_t *notice)
{
    nic_cq_t *const cq = notice->cq;
    nic_qp_t *const qp = notice->qp;
    nic_srq_t *const srq = notice->srq;
    if (SIM_LIKELY(cq != NULL)) {
        cq->noted = false;
        if (cq->count != 0) { // not taken out meanwhile
            cq->fn(cq, cq->ctx);
        }
    } else if (srq != NULL) {
        notice->limit_fn(srq, notice->ctx);
    } else if ((qp->flags & NIC_QP_DEAD) == 0) {
        if (notice->rests) {
            nic__rest_now(qp);
        } else if (qp->on_write != NULL) {
            qp->on_write(qp, notice->address, notice->bytes, qp->on_write_ctx);
        }
    }
}

void nic__hand_over(nic_host_t *host)
{
    // A callback may add notices and move the array, so it is read again each time.
    for (uint32_t i = 0; i < host->notice_count; i++) {
        const nic_notice_t notice = host->notices[i];
        tell(&notice);
    }
    host->notice_count = 0;
}

void nic__hand_over_outside(nic_host_t *host)
{
    if (!host->in_event && host->notice_count != 0) {
        host->in_event = true;
        nic__hand_over(host);
        host->in_event = false;
        nic__free_dead(host);
    }
}
