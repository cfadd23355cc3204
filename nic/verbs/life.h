// SPDX-License-Identifier: Apache-2.0
// nic/verbs/life.h - steps of a queue pair's life: found, connected, failed, flushed,
// freed, checked.
#ifndef NIC_VERBS_LIFE_H
#define NIC_VERBS_LIFE_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// The number of queue pairs in a page of the table that finds them by number.
#define NIC_QP_PAGE_BITS 6
#define NIC_QP_PAGE (1u << NIC_QP_PAGE_BITS)

// -- numbers.c

// Returns the place of a number in the table, which grows if it must.
nic_qp_t **nic__qp_slot(nic_t *nic, uint32_t number);
// Removes a number from the table, and notes that a QP of it existed.
void nic__qp_forget_number(nic_t *nic, uint32_t number);
// Returns the next unused number, or 0 if all are in use.
uint32_t nic__qp_next_number(nic_t *nic);
// Returns true if a QP of this number existed and does not exist any more.
bool nic__qp_is_gone(const nic_t *nic, uint32_t number);
// Returns the QP of this number, or NULL if there is none.
static inline nic_qp_t *nic__find_qp(const nic_t *nic, uint32_t number)
{
    const uint32_t index = number - ROCE_QPN_FIRST;
    const uint32_t page = index >> NIC_QP_PAGE_BITS;
    if (SIM_UNLIKELY(page >= nic->qp_page_count || nic->qp_pages[page] == NULL)) {
        return NULL;
    }
    return nic->qp_pages[page][index & (NIC_QP_PAGE - 1)];
}

// -- qp.c

void nic__free_dead(nic_host_t *host);
void nic__qp_free(nic_qp_t *qp);

// -- qp_state.c

// Stops all timers, sending and answering of the QP.
void nic__silence(nic_qp_t *qp);
// Completes all posted work requests as flushed, now.
void nic__flush(nic_qp_t *qp);
// Completes what was posted in the error state as flushed, a little later.
void nic__flush_late(nic_qp_t *qp);
// Fails the oldest work request with `status`, and the QP with it.
void nic__fail_request(nic_qp_t *qp, nic_wc_status_t status);

// -- qp_connect.c

// Connects a QP but for sending: packets of the peer are taken and answered.
SIM_MUST_CHECK sim_err_t nic__open_to_receive(nic_qp_t *qp,
                                              const nic_qp_attr_t *attr,
                                              sim_message_t *message);

// -- qp_check.c: each aborts where an invariant does not hold

void nic__qp_check(const nic_qp_t *qp);
void nic__cq_check(const nic_cq_t *cq);
void nic__check(const nic_t *nic);       // all objects of the NIC
void nic__check_after_event(nic_t *nic); // some of them, in turn

// -- the send queue's second ring (nic_wqe_more_t): host/payload.c

#endif // NIC_VERBS_LIFE_H
