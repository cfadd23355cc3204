// SPDX-License-Identifier: Apache-2.0
// nic/queue/notices.c - notices to programs, kept in order until the event is over.
#include "nic/objects/notices.h"
#include "nic/objects/objects.h"
#include "nic/objects/queues.h"

void nic__notice(nic_host_t *host, const nic_notice_t *notice)
{
    SIM_ASSERT(notice->cq != NULL || notice->srq != NULL || notice->qp != NULL);
    if (SIM_UNLIKELY(host->notice_count == host->notice_capacity)) {
        SIM_GROW(host->notices, host->notice_count, &host->notice_capacity);
    }
    host->notices[host->notice_count++] = *notice;
    host->unsettled = true;
}
