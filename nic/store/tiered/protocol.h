// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/protocol.h - how a token moves between tiers while others read and write it
// (docs/models/tiered-cache.md).
//
// A cell is what readers, writers and a move share: the token's directory entry and its state. The
// copies of its hot word lie in the memories of the tiers. Each function below is one atomic step
// (a compare-and-swap on the directory entry, one word of contents); everything else may happen
// between two steps. Rules:
//   - one tier owns a token: the entry's layer. A move changes it in one step, with the version;
//   - while a token moves its state says so. Readers and writers wait for the end of it, or go on
//     with the old copy (optimistic); what they write there is merged before the layer changes;
//   - who has read looks at the version again, and reads again if it changed;
//   - who writes swaps the word that it has read, and reads again if another word is there.
// test_cache_protocol.c goes through all orders of a reader, two writers and a move.
#ifndef NIC_STORE_TIERED_PROTOCOL_H
#define NIC_STORE_TIERED_PROTOCOL_H

#include "nic/store/tiered/token.h"

SIM_C_BEGIN

// The tier that owns a token: nic_directory_entry_t.layer.
typedef enum nic_layer {
    NIC_LAYER_L1 = 1, // SRAM on the NIC
    NIC_LAYER_L2,     // CXL memory
    NIC_LAYER_L3,     // host memory
    NIC_LAYER_END
} nic_layer_t;

// The place of a token. The first three values equal its layer.
typedef enum nic_token_state {
    NIC_TOKEN_IN_L1 = NIC_LAYER_L1,
    NIC_TOKEN_IN_L2 = NIC_LAYER_L2,
    NIC_TOKEN_IN_L3 = NIC_LAYER_L3,
    NIC_TOKEN_TO_L1, // MIGRATING_TO_L1
    NIC_TOKEN_TO_L2,
    NIC_TOKEN_TO_L3,
} nic_token_state_t;

typedef struct nic_cell {
    nic_directory_entry_t entry;
    uint8_t state;             // nic_token_state_t
    uint32_t snapshot_version; // when a move took its snapshot
    uint64_t snapshot;         // word that a move has taken from the old copy
} nic_cell_t;

// The places of a token's hot word, 8 bytes in little-endian order, by layer; [0] is not used. A
// move needs the place of its target, too.
typedef struct nic_copies {
    uint8_t *word[NIC_LAYER_END];
} nic_copies_t;

static inline bool nic_cell_moving(const nic_cell_t *cell)
{
    return cell->state >= NIC_TOKEN_TO_L1;
}

void nic_cell_init(nic_cell_t *cell, uint32_t layer);

// -- a move: begin, copy, commit until it succeeds

// Begins a move by CAS(state: layer -> MIGRATING_TO_to). Returns false if the token is moving, is
// pinned, or is in `to` already.
bool nic_move_begin(nic_cell_t *cell, uint32_t to);
void nic_move_take(nic_cell_t *cell, const nic_copies_t *copies);      // reads the old copy
void nic_move_put(const nic_cell_t *cell, const nic_copies_t *copies); // writes that to the new one
// Commits a move if the old copy is unchanged since it was read: layer, version and state change
// in one step. Returns false if it was written since; then the move must read, write and commit
// again.
bool nic_move_commit(nic_cell_t *cell, const nic_copies_t *copies);
void nic_move_give_up(nic_cell_t *cell); // before it was committed
uint32_t nic_move_target(const nic_cell_t *cell);

// -- access

typedef struct nic_cell_view {
    uint32_t version;
    uint8_t layer;
} nic_cell_view_t;

// Enters a cell to access its token. Returns false if the token is moving and `waits` asks to wait.
bool nic_cell_enter(const nic_cell_t *cell, bool waits, nic_cell_view_t *view);
uint64_t nic_cell_read(const nic_cell_view_t *view, const nic_copies_t *copies);
// Leaves a cell. Returns false if its version has changed since it was entered; then the data read
// may be stale.
bool nic_cell_leave(const nic_cell_t *cell, const nic_cell_view_t *view);
// Writes a word by CAS, if the token is still where it was entered and its word is still `seen`.
// Returns false if the caller must enter and read again.
bool nic_cell_swap(const nic_cell_t *cell, const nic_cell_view_t *view, const nic_copies_t *copies,
                   uint64_t seen, uint64_t word);
// Raises the version in place: fields outside the hot word have changed, so that whoever has read
// them, and a move that has copied them, reads them again.
void nic_cell_touch(nic_cell_t *cell);

// Returns whether state, layer and flags agree.
bool nic_cell_check(const nic_cell_t *cell);

SIM_C_END

#endif // NIC_STORE_TIERED_PROTOCOL_H
