// SPDX-License-Identifier: Apache-2.0
// nic/transport/revoke.c - what a deregistered region does to messages that use it.
//
// A card looks its keys up for each packet, so a message fails at the first packet after its region
// is gone (IBA vol. 1, 10.6.3). Keys are looked up once a message here; instead, the messages that
// have begun are marked when a region is deregistered, which is rare. Messages that were sent whole
// and only wait for their acknowledgements do not fail.
#include "nic/transport/entry.h"
#include "nic/transport/responder_internal.h"

#include "nic/objects/calls.h"
#include "nic/objects/numbers.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"

static bool names(const nic_place_t *place, uint32_t key)
{
    bool found = place->list == NULL && place->key == key;
    for (uint32_t i = 0; place->list != NULL && i < place->count; i++) {
        found = found || place->list[i].lkey == key;
    }
    return found;
}

// The message that is being received.
static void revoke_receiving(nic_qp_t *qp, uint32_t key)
{
    if (qp->rx_kind == NIC_RX_WRITE && qp->rx_key == key) {
        qp->rx_kind = NIC_RX_REVOKED_WRITE;
    } else if (qp->rx_kind == NIC_RX_SEND) {
        const nic_place_t place = nic__receive_place(nic__oldest_receive(qp));
        if (names(&place, key)) {
            qp->rx_kind = NIC_RX_REVOKED_SEND;
        }
    }
}

// READs that are being answered: a NAK takes the place of what was not sent.
static void revoke_answers(nic_qp_t *qp, uint32_t key)
{
    for (uint32_t i = 0; i < qp->read_count; i++) {
        const nic_read_t *const read = nic__read_at(qp, i);
        if (!read->atomic && read->left_bytes != 0 && read->key == key) {
            const uint64_t psn = read->next_psn;
            nic__forget_answers(qp, psn);
            if (qp->read_count == 0) {
                qp->flags &= (uint16_t)~NIC_QP_READS;
            }
            qp->expected_psn = psn;
            NIC_DEVICE(qp->nic, moved, qp);
            nic__refuse_for_good(qp, ROCE_NAK_REMOTE_ACCESS, SIM_TIME_NEVER);
            nic__fail_when_answered(qp);
            return;
        }
    }
}

// Own work requests that have begun. The next response of a READ does not fit any more.
static void revoke_requests(nic_qp_t *qp, uint32_t key)
{
    for (uint32_t index = qp->sq_done; index != qp->sq_posted; index++) {
        nic_wqe_t *const wqe = nic__wqe(qp, index);
        const nic_place_t place = nic__wqe_place(wqe);
        const bool is_fetch = nic__is_fetch(wqe->opcode);
        const bool is_current = index == qp->sq_send;
        if ((is_current && qp->send_offset == 0) || (int32_t)(index - qp->sq_send) > 0) {
            return; // it has not begun, and is checked when it does
        }
        if (!names(&place, key) || (!is_fetch && (wqe->flags & NIC_SEND_INLINE) != 0)) {
            continue;
        }
        if (is_fetch) {
            wqe->flags |= NIC_WQE_REVOKED;
            wqe->length = index == qp->sq_done ? qp->una_offset : 0;
        } else if (is_current) {
            nic__stop_send_queue(qp, NIC_WC_LOC_PROT_ERR);
            return;
        }
    }
}

void nic__revoke(nic_t *nic, uint32_t key)
{
    for (uint32_t page = 0; page < nic->qp_page_count; page++) {
        for (uint32_t i = 0; nic->qp_pages[page] != NULL && i < NIC_QP_PAGE; i++) {
            nic_qp_t *const qp = nic->qp_pages[page][i];
            if (qp != NULL && qp->state != NIC_QPS_ERR && (qp->flags & NIC_QP_DEAD) == 0) {
                revoke_receiving(qp, key);
                revoke_answers(qp, key);
                if (qp->state != NIC_QPS_ERR && (qp->flags & NIC_QP_SQ_STOPPED) == 0) {
                    revoke_requests(qp, key);
                }
            }
        }
    }
}
