// SPDX-License-Identifier: Apache-2.0
// nic/objects/gather.c - work requests whose message lies in several places.
//
// A message is the concatenation of its places; places of no bytes are ignored. Each place has a
// key of its own. All keys are checked before the first byte moves, since a protection error
// completes the request before anything is sent or received (IBA vol. 1, 10.6.7, 10.8.3).
#include "nic/objects/qp.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"

nic_sge_t *nic__copy_list(const nic_sge_t *list, uint32_t count)
{
    nic_sge_t *const copy = sim_alloc_array(count, sizeof(*copy));
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = list[i];
    }
    return copy;
}

bool nic__list_length(const nic_sge_t *sge, const nic_sge_t *list, uint32_t count, uint64_t *bytes)
{
    *bytes = 0;
    if (count == 0) {
        *bytes = sge->length;
        return true;
    }
    for (uint32_t i = 0; i < count && i < NIC_SGES_MAX; i++) {
        *bytes +=
            list[i].length <= NIC_MESSAGE_BYTES_MAX ? list[i].length : NIC_MESSAGE_BYTES_MAX + 1;
    }
    return count <= NIC_SGES_MAX;
}

bool nic__list_ok(const nic_pd_t *pd, const nic_place_t *place, uint64_t length_bytes,
                  uint32_t access)
{
    const nic_sge_t *const list = place->list;
    for (uint32_t i = 0; i < place->count && length_bytes != 0; i++) {
        const uint64_t bytes = SIM_MIN(list[i].length, length_bytes);
        if (!nic__access_ok(pd, list[i].lkey, list[i].addr, bytes, access)) {
            return false;
        }
        length_bytes -= bytes;
    }
    return true;
}

nic_sge_t nic__first_piece(const nic_place_t *place, uint64_t offset, uint64_t bytes)
{
    if (SIM_LIKELY(place->list == NULL)) {
        return (nic_sge_t){place->address + offset, bytes, place->key};
    }
    uint32_t i = 0;
    while (offset >= place->list[i].length) {
        offset -= place->list[i].length;
        i++;
        SIM_CHECK(i < place->count);
    }
    const nic_sge_t *const sge = &place->list[i];
    const uint64_t here = sge->length - offset;
    return (nic_sge_t){sge->addr + offset, SIM_MIN(bytes, here), sge->lkey};
}
