// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/protocol.c - the steps of a move, and of those who meet it
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/protocol.h"

#include "kernel/bytes.h"

void nic_cell_init(nic_cell_t *cell, uint32_t layer)
{
    SIM_CHECK(layer >= NIC_LAYER_L1 && layer <= NIC_LAYER_L3);
    *cell = (nic_cell_t){.entry = {.layer = (uint8_t)layer}, .state = (uint8_t)layer};
}

uint32_t nic_move_target(const nic_cell_t *cell)
{
    SIM_CHECK(nic_cell_moving(cell));
    return cell->state - NIC_TOKEN_TO_L1 + 1u;
}

bool nic_move_begin(nic_cell_t *cell, uint32_t to)
{
    SIM_CHECK(to >= 1 && to <= 3);
    if (nic_cell_moving(cell) || cell->entry.layer == to ||
        (cell->entry.flags & NIC_DIRECTORY_PINNED) != 0) {
        return false;
    }
    cell->state = (uint8_t)(NIC_TOKEN_TO_L1 + to - 1);
    cell->entry.flags |= NIC_DIRECTORY_MIGRATING;
    return true;
}

static uint64_t word_of(const nic_cell_t *cell, const nic_copies_t *copies)
{
    return sim_get_le64(copies->word[cell->entry.layer]);
}

void nic_move_take(nic_cell_t *cell, const nic_copies_t *copies)
{
    SIM_CHECK(nic_cell_moving(cell));
    cell->snapshot = word_of(cell, copies);
    cell->snapshot_version = cell->entry.version;
}

void nic_move_put(const nic_cell_t *cell, const nic_copies_t *copies)
{
    sim_put_le64(copies->word[nic_move_target(cell)], cell->snapshot);
}

bool nic_move_commit(nic_cell_t *cell, const nic_copies_t *copies)
{
    const uint32_t to = nic_move_target(cell);
    if (word_of(cell, copies) != cell->snapshot || cell->entry.version != cell->snapshot_version) {
        return false;
    }
    cell->entry.layer = (uint8_t)to;
    cell->entry.version++;
    cell->entry.flags &= (uint8_t)~NIC_DIRECTORY_MIGRATING;
    cell->state = (uint8_t)to;
    return true;
}

void nic_move_give_up(nic_cell_t *cell)
{
    SIM_CHECK(nic_cell_moving(cell));
    cell->state = cell->entry.layer;
    cell->entry.flags &= (uint8_t)~NIC_DIRECTORY_MIGRATING;
}

bool nic_cell_enter(const nic_cell_t *cell, bool waits, nic_cell_view_t *view)
{
    if (waits && nic_cell_moving(cell)) {
        return false;
    }
    *view = (nic_cell_view_t){.version = cell->entry.version, .layer = cell->entry.layer};
    return true;
}

uint64_t nic_cell_read(const nic_cell_view_t *view, const nic_copies_t *copies)
{
    return sim_get_le64(copies->word[view->layer]);
}

bool nic_cell_leave(const nic_cell_t *cell, const nic_cell_view_t *view)
{
    return cell->entry.version == view->version;
}

bool nic_cell_swap(const nic_cell_t *cell, const nic_cell_view_t *view, const nic_copies_t *copies,
                   uint64_t seen, uint64_t word)
{
    if (cell->entry.version != view->version || sim_get_le64(copies->word[view->layer]) != seen) {
        return false;
    }
    SIM_ASSERT(cell->entry.layer == view->layer);
    sim_put_le64(copies->word[view->layer], word);
    return true;
}

void nic_cell_touch(nic_cell_t *cell)
{
    cell->entry.version++;
}

bool nic_cell_check(const nic_cell_t *cell)
{
    const bool moving = (cell->entry.flags & NIC_DIRECTORY_MIGRATING) != 0;
    return cell->entry.layer >= NIC_LAYER_L1 && cell->entry.layer <= NIC_LAYER_L3 &&
           moving == nic_cell_moving(cell) &&
           (moving ? nic_move_target(cell) != cell->entry.layer
                   : cell->state == cell->entry.layer) &&
           (!moving || (cell->entry.flags & NIC_DIRECTORY_PINNED) == 0);
}
