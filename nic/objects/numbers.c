// SPDX-License-Identifier: Apache-2.0
// nic/objects/numbers.c - numbers of queue pairs, and the table that finds a queue pair by number.
//
// Numbers are given in rising order and reused only after all others, so that a packet in flight to
// a destroyed QP does not reach a new one.
#include "nic/objects/numbers.h"

nic_qp_t **nic__qp_slot(nic_t *nic, uint32_t number)
{
    const uint32_t index = number - ROCE_QPN_GSI;
    const uint32_t page = index >> NIC_QP_PAGE_BITS;
    if (page >= nic->qp_page_capacity) {
        uint32_t capacity = nic->qp_page_capacity == 0 ? 1 : nic->qp_page_capacity * 2;
        while (capacity <= page) {
            capacity *= 2;
        }
        nic->qp_pages = sim_realloc_array(nic->qp_pages, capacity, sizeof(*nic->qp_pages));
        for (uint32_t i = nic->qp_page_capacity; i < capacity; i++) {
            nic->qp_pages[i] = NULL;
        }
        nic->qp_gone = sim_realloc_array(nic->qp_gone, capacity, sizeof(*nic->qp_gone));
        for (uint32_t i = nic->qp_page_capacity; i < capacity; i++) {
            nic->qp_gone[i] = 0;
        }
        nic->qp_page_capacity = capacity;
    }
    if (page >= nic->qp_page_count) {
        nic->qp_page_count = page + 1;
    }
    if (nic->qp_pages[page] == NULL) {
        nic->qp_pages[page] = sim_alloc_array(NIC_QP_PAGE, sizeof(**nic->qp_pages));
    }
    return &nic->qp_pages[page][index & (NIC_QP_PAGE - 1)];
}

void nic__qp_forget_number(nic_t *nic, uint32_t number)
{
    const uint32_t index = number - ROCE_QPN_GSI;
    nic_qp_t **const page = nic->qp_pages[index >> NIC_QP_PAGE_BITS];
    page[index & (NIC_QP_PAGE - 1)] = NULL;
    nic->latest[0] = nic->latest[1] = NULL;
    nic->qp_gone[index >> NIC_QP_PAGE_BITS] |= (uint8_t)(1u << (index & (NIC_QP_PAGE - 1)));
    for (uint32_t i = 0; i < NIC_QP_PAGE; i++) {
        if (page[i] != NULL) {
            return;
        }
    }
    sim_free(page);
    nic->qp_pages[index >> NIC_QP_PAGE_BITS] = NULL;
}

bool nic__qp_is_gone(const nic_t *nic, uint32_t number)
{
    static_assert(NIC_QP_PAGE == 8, "a page's numbers are the bits of a byte");
    const uint32_t index = number - ROCE_QPN_GSI;
    const uint32_t page = index >> NIC_QP_PAGE_BITS;
    return page < nic->qp_page_count && nic__find_qp(nic, number) == NULL &&
           (nic->qp_gone[page] >> (index & (NIC_QP_PAGE - 1)) & 1) != 0;
}

uint32_t nic__qp_next_number(nic_t *nic)
{
    for (uint32_t tries = ROCE_QPN_FIRST; tries <= ROCE_QPN_MASK; tries++) {
        const uint32_t number = nic->next_qp_num;
        nic->next_qp_num = number == ROCE_QPN_MASK ? (uint32_t)ROCE_QPN_FIRST : number + 1;
        if (nic__find_qp(nic, number) == NULL) {
            return number;
        }
    }
    return 0;
}

void nic_for_each_qp(const nic_t *nic, nic_qp_visit_fn fn, void *ctx)
{
    for (uint32_t page = 0; page < nic->qp_page_count; page++) {
        for (uint32_t i = 0; nic->qp_pages[page] != NULL && i < NIC_QP_PAGE; i++) {
            const nic_qp_t *const qp = nic->qp_pages[page][i];
            if (qp != NULL) {
                fn(qp, ctx);
            }
        }
    }
}
