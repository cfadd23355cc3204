// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/object.h - the tokens of objects, by key, and their bytes.
#ifndef NIC_STORE_TIERED_OBJECT_H
#define NIC_STORE_TIERED_OBJECT_H

#include "nic/compare_internal.h"
#include "nic/store.h"
#include "nic/store/tiered/directory/buckets.h"
#include "nic/store/tiered/protocol.h"
#include "nic/store/tiered/token.h"
#include "nic/store/tiered/window.h"

typedef struct tiered tiered_t;
typedef struct tiered_link tiered_link_t;

#define TIERED_NONE UINT32_MAX
// Bytes of an L1 entry without its fields, beside an uncompressed context.
#define TIERED_ENTRY_BARE_BYTES 20u

// A token as the NIC works with it: the entry of L1, and the context of what fits in no token.
typedef struct tiered_image {
    nic_l1_entry_t entry;
    uint8_t context[NIC_CONTEXT_BYTES_MAX]; // only where it is not compressed
} tiered_image_t;

typedef enum tiered_prefetch {
    TIERED_ASKED_FOR,
    TIERED_NEIGHBOUR, // came to L2 with another one
    TIERED_PRESTAGED, // the driver staged it
} tiered_prefetch_t;

// A change of a token: it reads the token's version at begin_ps and swaps it at end_ps.
typedef struct tiered_change {
    sim_time_t begin_ps;
    sim_time_t end_ps;
    bool rewrites; // by the driver: state or rights, and the version
} tiered_change_t;

typedef struct tiered_token {
    nic_cell_t cell;
    uint64_t key;
    uint64_t contents;      // hot word as it is: what no copy may fall behind unnoticed
    uint64_t changes;       // number of accesses that have changed it
    uint64_t owner_changes; // number of these changes in the copy of the tier that owns it
    uint32_t away_uses;     // outside L1: frequency and last access of its next entry there
    sim_time_t away_access_ps;
    nic_window_t window;
    sim_time_t here_ps;       // what was asked for last is on the NIC; or the end of its move
    tiered_change_t *windows; // changes that are booked; those that are over may be left out
    uint32_t window_count;
    uint32_t window_capacity;
    uint32_t pending; // writes of accesses that wait for the end of its move
    uint32_t l1_slot; // TIERED_NONE: none
    uint32_t staging; // place of its copy in the staging area; TIERED_NONE: none
    uint32_t seat;  // place in the staging area that it owns (l1.staged: tokens); TIERED_NONE: none
    uint8_t home;   // nic_layer_t that it left for its seat
    uint32_t newer; // in L2, by last use
    uint32_t older;
    sim_time_t l2_used_ps; // last use there
    uint32_t move;         // in the heap of moves; TIERED_NONE: none
    uint32_t order;        // that the driver has not taken up yet; TIERED_NONE: none
    uint32_t index;        // in the pool of its type
    uint32_t object;       // number of the queue pair, CQ or PD, or the key of the region
    uint8_t type;          // nic_token_type_t
    bool live;
    bool compressed;
    bool queued; // in the miss queue or on its way from there
    bool staged_dirty;
    bool behind;        // the PSNs of its hot word are older than the protocol's
    bool in_turn;       // the protocol works on a packet of the queue pair
    uint8_t prefetched; // tiered_prefetch_t, as long as it is not used
    uint32_t queued_offset;
    sim_time_t lands_ps; // of its batch; SIM_TIME_NEVER: it is in the queue
    tiered_link_t *waiters;
} tiered_token_t;

static inline uint32_t nic__tiered_units(const tiered_token_t *token)
{
    const uint32_t bytes =
        TIERED_ENTRY_BARE_BYTES + nic_context_bytes((nic_token_type_t)token->type);
    const uint32_t unit = (uint32_t)sizeof(nic_l1_entry_t);
    return token->compressed ? 1 : (bytes + unit - 1) / unit;
}
// Returns the bytes that an object of the type takes in L2 and on links: its token and its hot
// word, or its context, which has that word inside.
static inline uint32_t nic__tiered_slot_bytes(nic_token_type_t type, bool compressed)
{
    const uint32_t hot_bytes =
        nic_context_hot_offset(type) == UINT32_MAX ? 0 : NIC_SMALL_FIELDS_BYTES;
    return compressed ? nic_token_bytes(type) + hot_bytes : nic_context_bytes(type);
}
static inline uint32_t nic__tiered_bytes(const tiered_token_t *token)
{
    return nic__tiered_slot_bytes((nic_token_type_t)token->type, token->compressed);
}

static inline uint32_t nic__tiered_handle(const tiered_token_t *token)
{
    return nic_handle((nic_token_type_t)token->type, token->index);
}
static inline bool nic__tiered_in_l1(const tiered_token_t *token)
{
    return token->cell.state == NIC_TOKEN_IN_L1;
}
// Returns whether the policy of L1 may evict a token that is there.
static inline bool nic__tiered_ranked(const tiered_token_t *token)
{
    return (token->cell.entry.flags & NIC_DIRECTORY_PINNED) == 0 && token->seat == TIERED_NONE;
}
static inline bool nic__tiered_in_l1_slot(const tiered_token_t *token) // also while it moves away
{
    return token->l1_slot != TIERED_NONE;
}

nic_token_type_t nic__tiered_type_of(nic_store_kind_t kind);
// Finds the token of a key. Returns its index, or TIERED_NONE.
uint32_t nic__tiered_find(const tiered_t *tiered, nic_token_type_t type, uint64_t key);
// Makes a token, in L3, and returns its index. The call invalidates pointers to tokens.
uint32_t nic__tiered_make(tiered_t *tiered, nic_token_type_t type, uint64_t key);
void nic__tiered_add(nic_store_t *store, nic_store_kind_t kind, uint64_t key);
void nic__tiered_change(nic_store_t *store, nic_store_kind_t kind, uint64_t key);
void nic__tiered_remove(nic_store_t *store, nic_store_kind_t kind, uint64_t key);
void nic__tiered_reset(tiered_t *tiered);
// Fills the fields of *context that the NIC works with from the object itself; the others stay.
// Returns false if there is no such object (any more).
bool nic__tiered_context_of(const tiered_t *tiered, const tiered_token_t *token,
                            nic_context_t *context);
// Fills *context from the object as the driver writes it into host memory: these fields, the
// address path, and timers. Returns false if there is no such object (any more).
bool nic__tiered_describe(const tiered_t *tiered, const tiered_token_t *token,
                          nic_context_t *context);

// Returns the places of a token's hot word: the host's, and that of the tier that owns it.
nic_copies_t nic__tiered_copies(tiered_t *tiered, tiered_token_t *token);
// Returns the hot word of the tier that owns a token.
uint64_t nic__tiered_word(const tiered_t *tiered, const tiered_token_t *token);
// Returns the hot word of the staged copy, if there is one, else that of the owner.
uint64_t nic__tiered_newest_word(const tiered_t *tiered, const tiered_token_t *token);
// Returns the place of the host's hot word.
uint8_t *nic__tiered_host_word(tiered_t *tiered, const tiered_token_t *token);
// Writes a context with a hot word into host memory.
void nic__tiered_put_host(tiered_t *tiered, const tiered_token_t *token, nic_context_t *context,
                          uint64_t word);
// Notes in the driver's record that the host has the newest hot word, and the counters.
void nic__tiered_note_host(tiered_t *tiered, const tiered_token_t *token);
// Fills an image from the tier that owns the token. Returns false if its bytes in L2 were corrupt;
// then they and the image were made anew from the host, without changes that the host lacks.
bool nic__tiered_fetch(tiered_t *tiered, tiered_token_t *token, tiered_image_t *image);
// Ends the program if what the NIC works with is not what was written last, or not what the object
// is.
void nic__tiered_use(const tiered_t *tiered, const tiered_token_t *token, tiered_image_t *image);
uint32_t nic__tiered_encode(const tiered_token_t *token, const tiered_image_t *image,
                            uint8_t *bytes);
// Decodes bytes of L2. Returns false if they are corrupt.
bool nic__tiered_decode(const tiered_token_t *token, const uint8_t *bytes, tiered_image_t *image);
void nic__tiered_put_l1(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image);
// Changes the hot word of a token after an access, in the copy that the access used, or after the
// move that the access waits for.
void nic__tiered_note_write(tiered_t *tiered, tiered_token_t *token);
// Makes the protocol of a queue pair go on from the PSNs of its hot word.
void nic__tiered_take_positions(tiered_t *tiered, const tiered_token_t *token);
// Writes the PSNs of the protocol into the hot word, when its operation on a packet is over.
void nic__tiered_moved(nic_store_t *store, uint32_t number, bool over);
// Makes the writes that have waited for the end of a move.
void nic__tiered_write_pending(tiered_t *tiered, tiered_token_t *token);
// Writes changed rights or another state into all copies on the NIC and in L2.
void nic__tiered_rewrite(tiered_t *tiered, tiered_token_t *token);
// Takes a token out of the staging area, and writes a changed hot word back.
void nic__tiered_unstage(tiered_t *tiered, tiered_token_t *token);
// Counts the changes of a token that are lost; `changes` and `word` are left.
void nic__tiered_lose(tiered_t *tiered, tiered_token_t *token, uint64_t changes, uint64_t word);

#endif // NIC_STORE_TIERED_OBJECT_H
