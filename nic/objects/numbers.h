// SPDX-License-Identifier: Apache-2.0
// nic/objects/numbers.h - the table that finds a NIC's queue pairs by their numbers.
#ifndef NIC_OBJECTS_NUMBERS_H
#define NIC_OBJECTS_NUMBERS_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// The number of queue pairs in a page of the table that finds them by number.
#define NIC_QP_PAGE_BITS 3
#define NIC_QP_PAGE (1u << NIC_QP_PAGE_BITS)

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
    const uint32_t index = number - ROCE_QPN_GSI;
    const uint32_t page = index >> NIC_QP_PAGE_BITS;
    if (SIM_UNLIKELY(page >= nic->qp_page_count || nic->qp_pages[page] == NULL)) {
        return NULL;
    }
    return nic->qp_pages[page][index & (NIC_QP_PAGE - 1)];
}

#endif // NIC_OBJECTS_NUMBERS_H
