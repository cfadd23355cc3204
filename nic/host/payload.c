// SPDX-License-Identifier: Apache-2.0
// nic/host/payload.c - between a host's memory and the packets of its NICs.
//
// A packet carries a copy of what lay at its source when it was made: the memory there may change
// while it is under way. One whose source is all zeros carries nothing; where it arrives it clears
// what is there.
#include <string.h>

#include "nic/host/contents.h"
#include "nic/host/dma.h"
#include "nic/host/packet_contents.h"
#include "nic/iommu.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/wqe.h"

// Books the reading of a payload on a host whose fabric has limits.
static void read_for(nic_t *nic, const nic_place_t *place, uint64_t offset, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes && !nic->detailed;) {
        const nic_sge_t piece = nic__first_piece(place, offset + done, bytes - done);
        (void)nic_device_dma(nic, piece.addr, piece.length, false);
        done += piece.length;
    }
}

static void write_for(nic_t *nic, const nic_sge_t *piece, uint8_t priority)
{
    if (nic->detailed) {
        const sim_time_t landed_ps = nic_device_dma(nic, piece->addr, piece->length, true);
        NIC_DEVICE(nic, lands, nic, landed_ps);
    } else {
        nic__dma_write_ideal(nic, piece->addr, piece->length, priority);
    }
}

// Bytes of a place; NULL: only whether there are any.
static bool gather(const nic_memory_t *memory, const nic_place_t *place, uint64_t offset,
                   uint8_t *to, uint64_t bytes)
{
    bool any = false;
    for (uint64_t done = 0; done < bytes;) {
        const nic_sge_t piece = nic__first_piece(place, offset + done, bytes - done);
        if (to != NULL) {
            nic_memory_read(memory, piece.addr, to + done, piece.length);
        } else {
            any |= nic_memory_has(memory, piece.addr, piece.length);
        }
        done += piece.length;
    }
    return any;
}

// Copies what lies at the place into the packet, unless nothing does.
static void carry(nic_t *nic, net_packet_t *packet, const nic_place_t *place, uint64_t offset)
{
    const nic_memory_t *const memory = &nic->host->memory;
    net_node_t *const node = &nic->host->node;
    const uint32_t bytes = packet->payload_bytes;
    if (nic->bound) {
        read_for(nic, place, offset, bytes);
    }
    const uint8_t *const at =
        place->list == NULL ? nic__memory_at(memory, place->address + offset, bytes) : NULL;
    if (at != NULL) {
        memcpy(net_packet_add_contents(node, packet), at, bytes);
    } else if (gather(memory, place, offset, NULL, bytes)) {
        (void)gather(memory, place, offset, net_packet_add_contents(node, packet), bytes);
    }
}

void nic__carry(nic_t *nic, net_packet_t *packet, uint64_t address)
{
    const nic_place_t place = {.address = address, .count = 1};
    carry(nic, packet, &place, 0);
}

void nic__keep(nic_t *nic, const net_packet_t *packet, const nic_place_t *place, uint64_t offset)
{
    nic_memory_t *const memory = &nic->host->memory;
    const uint8_t *const contents = net_packet_contents(packet);
    const bool usual = place->list == NULL && contents != NULL && !nic->bound;
    uint8_t *const at =
        usual ? nic__memory_at(memory, place->address + offset, packet->payload_bytes) : NULL;
    if (at != NULL && !nic_iommu_translates(nic)) {
        memcpy(at, contents, packet->payload_bytes);
        return;
    }
    uint64_t done = 0;
    while (done < packet->payload_bytes) {
        const nic_sge_t piece =
            nic__first_piece(place, offset + done, packet->payload_bytes - done);
        if (contents != NULL) {
            nic_memory_write(memory, piece.addr, contents + done, piece.length);
        } else {
            nic_memory_clear(memory, piece.addr, piece.length);
        }
        if (nic->bound) {
            write_for(nic, &piece, packet->priority);
        }
        if (nic_iommu_translates(nic)) {
            // The write waits for the translation at the root port, and lands later.
            const sim_time_t now_ps = nic__node(nic)->now_ps;
            const sim_time_t ready_ps = nic__iommu_place_ps(nic, &piece, now_ps);
            if (ready_ps > now_ps && nic->detailed) {
                NIC_DEVICE(nic, lands, nic, ready_ps);
            }
        }
        done += piece.length;
    }
}

void nic__take_contents(const nic_qp_t *qp, net_packet_t *packet, nic_rx_kind_t kind, bool accepted)
{
    nic_t *const nic = qp->nic;
    if (accepted) {
        const nic_place_t place = nic__rx_place(qp, kind);
        nic__keep(nic, packet, &place, qp->rx_bytes);
    }
    if (packet->contents) {
        net_packet_drop_contents(&nic->host->node, packet);
    }
}

// -- work requests that hold more than most

static nic_wqe_more_t *more_at(const nic_qp_t *qp, uint32_t index)
{
    return &qp->sq_more[index & qp->sq_mask];
}

static void clear_more(nic_wqe_more_t *more)
{
    sim_free(more->list);
    *more = (nic_wqe_more_t){.inlined = more->inlined, .inlined_room = more->inlined_room};
}

void nic__grow_more(nic_qp_t *qp, uint32_t capacity)
{
    nic_wqe_more_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
    for (uint32_t i = qp->sq_done; qp->sq_more != NULL && i != qp->sq_posted; i++) {
        ring[i & (capacity - 1)] = *more_at(qp, i);
        *more_at(qp, i) = (nic_wqe_more_t){0};
    }
    nic__free_more(qp);
    qp->sq_more = ring;
}

void nic__free_more(nic_qp_t *qp)
{
    for (uint32_t i = 0; qp->sq_more != NULL && i < nic__sq_capacity(qp); i++) {
        clear_more(&qp->sq_more[i]);
        sim_free(qp->sq_more[i].inlined);
    }
    sim_free(qp->sq_more);
    qp->sq_more = NULL;
}

void nic__set_more(nic_qp_t *qp, uint32_t index, const nic_send_wr_t *wr)
{
    const nic_memory_t *const memory = &qp->nic->host->memory;
    nic_wqe_t *const wqe = nic__wqe(qp, index);
    const uint32_t bytes = wqe->length;
    const bool listed = wr->num_sge > 1;
    const nic_place_t place = {.address = wqe->local_address,
                               .count = wr->num_sge,
                               .list = listed ? wr->sg_list : NULL};
    const bool atomic = nic__is_atomic((uint8_t)wr->opcode);
    const bool inlined = (wr->send_flags & NIC_SEND_INLINE) != 0 && qp->nic->contents &&
                         !nic__is_fetch((uint8_t)wr->opcode) &&
                         gather(memory, &place, 0, NULL, bytes);
    if (qp->sq_more == NULL) {
        if (!atomic && !inlined && !listed) {
            return;
        }
        nic__grow_more(qp, nic__sq_capacity(qp));
    }
    nic_wqe_more_t *const more = more_at(qp, index);
    clear_more(more); // what the one before it in the ring left
    if (atomic) {
        more->compare_add = wr->atomic.compare_add;
        more->swap = wr->atomic.swap;
    }
    if (inlined) {
        if (more->inlined_room < bytes) {
            more->inlined = sim_realloc_array(more->inlined, bytes, 1);
            more->inlined_room = bytes;
        }
        more->inlined_bytes = bytes;
        (void)gather(memory, &place, 0, more->inlined, bytes);
    }
    if (listed) {
        more->list = nic__copy_list(wr->sg_list, wr->num_sge);
        wqe->local_address = (uintptr_t)more->list;
        wqe->lkey = wr->num_sge;
        wqe->flags |= NIC_WQE_LIST;
    }
}

void nic__carry_request(nic_qp_t *qp, uint32_t index, uint32_t offset, net_packet_t *packet)
{
    const nic_wqe_t *const wqe = nic__wqe(qp, index);
    if (packet->payload_bytes == 0) {
        return;
    }
    if ((wqe->flags & NIC_SEND_INLINE) == 0) {
        const nic_place_t place = nic__wqe_place(wqe);
        carry(qp->nic, packet, &place, offset);
        return;
    }
    const nic_wqe_more_t *const more = qp->sq_more != NULL ? more_at(qp, index) : NULL;
    if (more != NULL && more->inlined_bytes != 0) {
        uint8_t *const contents = net_packet_add_contents(&qp->nic->host->node, packet);
        memcpy(contents, more->inlined + offset, packet->payload_bytes);
    }
}
