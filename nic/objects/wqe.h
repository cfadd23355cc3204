// SPDX-License-Identifier: Apache-2.0
// nic/objects/wqe.h - work requests as the NIC keeps them, and the places in memory that
// they name.
#ifndef NIC_OBJECTS_WQE_H
#define NIC_OBJECTS_WQE_H

#include "nic/verbs.h"

// A work request of a send queue. Each fills one cache line, and rings begin on a line.
typedef struct nic_wqe {
    _Alignas(SIM_CACHE_LINE) uint64_t wr_id;
    uint64_t local_address;  // NIC_WQE_LIST: address of the list of places, whose length is lkey
    uint64_t remote_address; // UD: interface << 32 | QP number
    uint32_t length;
    uint32_t lkey;
    uint32_t rkey; // UD: Q_Key
    uint32_t immediate;
    uint32_t end_psn;     // first PSN after it, low 32 bits; valid once it began to be sent
    uint8_t opcode;       // nic_wr_opcode_t
    uint8_t flags;        // NIC_SEND_ bits, NIC_WQE_HELD, NIC_WQE_LIST
    uint16_t device_slot; // slot of the device's cache that holds it
} nic_wqe_t;

// The WQE was posted before or while the send queue drains. It waits until the state is RTS again.
#define NIC_WQE_HELD 0x80u
#define NIC_WQE_LIST 0x40u    // the payload lies in several places
#define NIC_WQE_REVOKED 0x20u // a READ whose region was deregistered

// The data that only few work requests need. It lies in a second ring, at the index of its WQE.
typedef struct nic_wqe_more {
    uint64_t compare_add; // operands of an atomic
    uint64_t swap;
    uint8_t *inlined;       // inline payload that is not all zeros; kept for the next WQE here
    uint32_t inlined_bytes; // 0: there is none
    uint32_t inlined_room;  // bytes allocated
    nic_sge_t *list;        // NULL: one place
} nic_wqe_more_t;

// The place of a message in a host's memory, or its several places.
typedef struct nic_place {
    uint64_t address;
    uint32_t key;
    uint32_t count;
    const nic_sge_t *list; // NULL: address and key name the one place
} nic_place_t;

// Returns where the payload of a WQE lies.
static inline nic_place_t nic__wqe_place(const nic_wqe_t *wqe)
{
    if (SIM_LIKELY((wqe->flags & NIC_WQE_LIST) == 0)) {
        return (nic_place_t){.address = wqe->local_address, .key = wqe->lkey, .count = 1};
    }
    return (nic_place_t){.count = wqe->lkey,
                         .list = (const nic_sge_t *)(uintptr_t)wqe->local_address};
}

static inline bool nic__is_atomic(uint8_t opcode)
{
    return opcode >= NIC_WR_ATOMIC_CMP_AND_SWP;
}
// Returns true for a READ or an atomic. The peer answers these with data, one after the other, and
// their number in flight is limited.
static inline bool nic__is_fetch(uint8_t opcode)
{
    return opcode >= NIC_WR_RDMA_READ;
}

typedef struct nic_recv_wqe {
    uint64_t wr_id;
    uint64_t address;
    uint32_t length; // bytes of all places together
    uint32_t lkey;
    nic_sge_t *list; // NULL: one place
    uint32_t list_count;
} nic_recv_wqe_t;

// Returns where the message of a receive goes.
static inline nic_place_t nic__receive_place(const nic_recv_wqe_t *receive)
{
    return (nic_place_t){.address = receive->address,
                         .key = receive->lkey,
                         .count = receive->list == NULL ? 1 : receive->list_count,
                         .list = receive->list};
}

// -- gather.c: work requests with several places

// Returns a copy of the list, which the caller owns.
nic_sge_t *nic__copy_list(const nic_sge_t *list, uint32_t count);
// Adds up the lengths of all places. Returns false where the list has too many places or is too
// long. `sge` is the place of a work request without a list.
bool nic__list_length(const nic_sge_t *sge, const nic_sge_t *list, uint32_t count, uint64_t *bytes);
// Returns the first piece of at most `bytes` bytes from `offset` on that lies in one place.
nic_sge_t nic__first_piece(const nic_place_t *place, uint64_t offset, uint64_t bytes);

#endif // NIC_OBJECTS_WQE_H
