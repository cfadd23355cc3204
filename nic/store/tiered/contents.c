// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/contents.c - the bytes of tokens: fetched from the tier that has them, checked,
// decoded, used, changed, and encoded where they go (docs/models/tiered-cache.md).
//
// In L1 a token is an entry of 28 bytes. In L2 its bytes are followed by its hot word, and the
// directory has a check of both. L3 has the context, with a hot word inside.
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

#include <string.h>

#include "kernel/bytes.h"

// -- where the bytes are

static uint8_t *l2_bytes(const tiered_t *tiered, const tiered_token_t *token)
{
    const tiered_partition_t *const part = &tiered->parts[token->type == NIC_TOKEN_QP ? 0 : 1];
    return nic_pages_at(&part->pages[token->type], token->cell.entry.token_offset);
}

// Returns the hot word among the bytes that a token has in L2, or NULL if it has none.
static uint8_t *word_in(const tiered_token_t *token, uint8_t *bytes)
{
    const uint32_t hot = nic_context_hot_offset((nic_token_type_t)token->type);
    if (hot == UINT32_MAX) {
        return NULL;
    }
    return bytes + (token->compressed ? nic_token_bytes((nic_token_type_t)token->type) : hot);
}

static uint8_t *host_context(const tiered_t *tiered, const tiered_token_t *token)
{
    return nic_l3_context(&tiered->l3[token->type], token->index);
}

uint8_t *nic__tiered_host_word(tiered_t *tiered, const tiered_token_t *token)
{
    const uint32_t hot = nic_context_hot_offset((nic_token_type_t)token->type);
    return hot == UINT32_MAX ? tiered->no_word : host_context(tiered, token) + hot;
}

nic_copies_t nic__tiered_copies(tiered_t *tiered, tiered_token_t *token)
{
    // A token without a hot word has the same word of zeros in each layer.
    uint8_t *const host_word = nic__tiered_host_word(tiered, token);
    nic_copies_t copies = {{NULL, host_word, host_word, host_word}};
    if (nic_context_hot_offset((nic_token_type_t)token->type) == UINT32_MAX) {
        return copies;
    }
    if (token->cell.entry.layer == NIC_LAYER_L1) {
        copies.word[NIC_LAYER_L1] = nic_l1_word(nic__tiered_entry(tiered, token));
    } else if (token->cell.entry.layer == NIC_LAYER_L2) {
        copies.word[NIC_LAYER_L2] = word_in(token, l2_bytes(tiered, token));
    }
    return copies;
}

uint64_t nic__tiered_word(const tiered_t *tiered, const tiered_token_t *token)
{
    // The copies are only read.
    tiered_t *const mutable_tiered = (tiered_t *)(uintptr_t)tiered;
    tiered_token_t *const mutable_token = (tiered_token_t *)(uintptr_t)token;
    const nic_copies_t copies = nic__tiered_copies(mutable_tiered, mutable_token);
    const uint8_t *const word = copies.word[token->cell.entry.layer];
    SIM_CHECK(word != NULL);
    return sim_get_le64(word);
}

uint64_t nic__tiered_newest_word(const tiered_t *tiered, const tiered_token_t *token)
{
    return token->staging != TIERED_NONE
               ? sim_get_le64(nic_l1_word(&nic__tiered_staged(tiered, token)->entry))
               : nic__tiered_word(tiered, token);
}

// -- contexts and what stands for them

static void set_context_word(nic_context_t *context, uint64_t word)
{
    if (context->type == NIC_TOKEN_QP) {
        context->qp.small_fields = word;
    } else if (context->type == NIC_TOKEN_CQ) {
        context->cq.producer = (uint32_t)word;
        context->cq.consumer = (uint32_t)(word >> 32);
    }
}

// Fills an image from a context and a hot word.
static void image_of(const tiered_token_t *token, nic_context_t *context, uint64_t word,
                     tiered_image_t *image)
{
    set_context_word(context, word);
    if (token->compressed) {
        const bool fits = nic_l1_entry_pack(context, &image->entry);
        SIM_CHECK(fits);
        return;
    }
    nic_context_encode(context, image->context);
    image->entry.token_id = nic__tiered_handle(token);
    sim_put_le64(nic_l1_word(&image->entry), word);
    image->entry.metadata = 0;
}

// Decodes the context in host memory.
static void read_host(const tiered_t *tiered, const tiered_token_t *token, nic_context_t *context)
{
    const nic_token_type_t type = (nic_token_type_t)token->type;
    const bool right =
        nic_context_decode(type, host_context(tiered, token), nic_context_bytes(type), context);
    SIM_CHECK(right);
}

void nic__tiered_put_host(tiered_t *tiered, const tiered_token_t *token, nic_context_t *context,
                          uint64_t word)
{
    set_context_word(context, word);
    nic_context_encode(context, host_context(tiered, token));
}

void nic__tiered_note_host(tiered_t *tiered, const tiered_token_t *token)
{
    nic_record_t *const record = nic__tiered_record(tiered, token);
    record->written_ps = tiered->now_ps;
    record->changes = token->changes;
    const nic_qp_t *const qp =
        token->type == NIC_TOKEN_QP ? nic_device_find_qp(tiered->store.nic, token->object) : NULL;
    if (qp != NULL) {
        const nic_device_counts_t counts = nic_device_counts(qp);
        record->finished = counts.finished;
        record->retransmitted = counts.retransmitted;
    }
}

// Fills an image from the context in host memory.
static void from_host(tiered_t *tiered, const tiered_token_t *token, tiered_image_t *image)
{
    nic_context_t context;
    read_host(tiered, token, &context);
    image_of(token, &context, sim_get_le64(nic__tiered_host_word(tiered, token)), image);
}

// Writes an image as it lies in L2; returns its bytes.
uint32_t nic__tiered_encode(const tiered_token_t *token, const tiered_image_t *image,
                            uint8_t *bytes)
{
    const uint32_t size_bytes = nic__tiered_bytes(token);
    nic_l1_entry_t entry = image->entry;
    if (token->compressed) {
        nic_context_t context = {.type = (nic_token_type_t)token->type};
        nic_l1_entry_unpack(&entry, (uint32_t)token->object, &context);
        const bool fits = nic_token_encode(&context, bytes);
        SIM_CHECK(fits);
    } else {
        memcpy(bytes, image->context, size_bytes);
    }
    uint8_t *const word = word_in(token, bytes);
    if (word != NULL) {
        memcpy(word, nic_l1_word(&entry), NIC_SMALL_FIELDS_BYTES);
    }
    return size_bytes;
}

// Decodes the bytes of a token in L2. Returns false if they are corrupt: they differ from the
// directory's check, or are no token of this type, layout, number and place in the pool.
bool nic__tiered_decode(const tiered_token_t *token, const uint8_t *bytes, tiered_image_t *image)
{
    const uint32_t size_bytes = nic__tiered_bytes(token);
    const nic_token_type_t type = (nic_token_type_t)token->type;
    if (nic_token_check(bytes, size_bytes) != token->cell.entry.check) {
        return false;
    }
    const uint8_t *const hot = word_in(token, (uint8_t *)(uintptr_t)bytes);
    const uint64_t word = hot != NULL ? sim_get_le64(hot) : 0;
    nic_context_t context = {.type = type};
    if (!token->compressed) {
        if (!nic_context_decode(type, bytes, size_bytes, &context)) {
            return false;
        }
        image_of(token, &context, word, image);
        return true;
    }
    if (!nic_token_decode(bytes, nic_token_bytes(type), &context)) {
        return false;
    }
    set_context_word(&context, word);
    nic_l1_entry_t entry = image->entry;
    if (!nic_l1_entry_pack(&context, &entry) || entry.token_id != nic_handle(type, token->index) ||
        sim_get_le32(bytes + sizeof(nic_token_header_t)) != token->object) {
        return false;
    }
    image->entry = entry;
    return true;
}

// -- fetching

static bool fetch(tiered_t *tiered, tiered_token_t *token, tiered_image_t *image)
{
    image->entry = (nic_l1_entry_t){.freq = 0};
    switch (token->cell.entry.layer) {
    case NIC_LAYER_L1: {
        const uint8_t *const context = nic__tiered_part(tiered, token)->contexts[token->l1_slot];
        image->entry = *nic__tiered_entry(tiered, token);
        if (context != NULL) {
            memcpy(image->context, context, nic_context_bytes((nic_token_type_t)token->type));
        }
        return true;
    }
    case NIC_LAYER_L2:
        return nic__tiered_decode(token, l2_bytes(tiered, token), image);
    default:
        from_host(tiered, token, image);
        return true;
    }
}

// Replaces the bytes of a token in L2, and the directory's check of them.
static void write_l2(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image)
{
    uint8_t *const bytes = l2_bytes(tiered, token);
    const uint32_t size_bytes = nic__tiered_encode(token, image, bytes);
    token->cell.entry.check = nic_token_check(bytes, size_bytes);
}

void nic__tiered_lose(tiered_t *tiered, tiered_token_t *token, uint64_t changes, uint64_t word)
{
    tiered->counters.dirty_lost += token->changes != changes;
    tiered->counters.lost_writes += token->changes - changes;
    token->changes = changes;
    token->contents = word;
    token->behind = true; // the driver restores the positions from the queue pair
}

// Makes the bytes of a corrupt token in L2 anew: from its staged copy, or else from the host, which
// lacks the changes that were not written back.
static void repair(tiered_t *tiered, tiered_token_t *token)
{
    tiered_image_t image;
    image.entry = (nic_l1_entry_t){.freq = 0};
    tiered->counters.corrupt++;
    if (token->staging != TIERED_NONE) {
        image = *nic__tiered_staged(tiered, token);
    } else {
        from_host(tiered, token, &image);
        nic__tiered_lose(tiered, token, nic__tiered_record(tiered, token)->changes,
                         sim_get_le64(nic__tiered_host_word(tiered, token)));
        token->cell.entry.flags &= (uint8_t)~NIC_DIRECTORY_DIRTY;
    }
    token->owner_changes = token->changes;
    write_l2(tiered, token, &image);
    nic_cell_touch(&token->cell);
}

bool nic__tiered_fetch(tiered_t *tiered, tiered_token_t *token, tiered_image_t *image)
{
    if (fetch(tiered, token, image)) {
        return true;
    }
    repair(tiered, token);
    const bool right = fetch(tiered, token, image);
    SIM_CHECK(right);
    return false;
}

// -- using

static void set_state(uint8_t *word, uint32_t state)
{
    nic_small_fields_t fields = nic_small_fields_unpack(sim_get_le64(word));
    fields.state = state;
    sim_put_le64(word, nic_small_fields_pack(&fields));
}

// Replaces the fields of an image by those of a context, all but its hot word; a queue pair's state
// is in that, too.
static void replace(const tiered_token_t *token, nic_context_t *context, tiered_image_t *image)
{
    if (context->type == NIC_TOKEN_QP) {
        set_state(nic_l1_word(&image->entry), context->qp.state);
    }
    image_of(token, context, sim_get_le64(nic_l1_word(&image->entry)), image);
}

void nic__tiered_use(const tiered_t *tiered, const tiered_token_t *token, tiered_image_t *image)
{
    SIM_CHECK(image != NULL);
    const bool hot = nic_context_hot_offset((nic_token_type_t)token->type) != UINT32_MAX;
    const uint64_t word = hot ? sim_get_le64(nic_l1_word(&image->entry)) : 0;
    uint8_t *const inside = token->compressed ? NULL : word_in(token, image->context);
    if (inside != NULL) {
        sim_put_le64(inside, word);
    }
    SIM_CHECKF(
        word == token->contents,
        "token %u (%s %u): the NIC works with a stale hot word, %" PRIx64 " instead of %" PRIx64,
        nic__tiered_number(tiered, token), nic_token_type_name((nic_token_type_t)token->type),
        token->object, word, token->contents);
    nic_context_t context = {.type = (nic_token_type_t)token->type};
    if (!token->compressed) {
        read_host(tiered, token, &context); // the fields of no token must be those of the host
    }
    if (!nic__tiered_context_of(tiered, token, &context)) {
        return; // it is about to go, or nobody made it
    }
    tiered_image_t right;
    right.entry = image->entry;
    replace(token, &context, &right);
    const uint32_t context_bytes = nic_context_bytes(context.type);
    SIM_CHECKF(memcmp(&right.entry, &image->entry, sizeof(right.entry)) == 0 &&
                   (token->compressed || memcmp(right.context, image->context, context_bytes) == 0),
               "token %u (%s %u): the NIC works with a stale copy of its state or rights",
               nic__tiered_number(tiered, token), nic_token_type_name(context.type), token->object);
}

// -- changing

// Returns the fields of a queue pair's hot word with the protocol's positions.
static nic_small_fields_t positioned(const tiered_t *tiered, const tiered_token_t *token,
                                     uint64_t word)
{
    nic_small_fields_t fields = nic_small_fields_unpack(word);
    const nic_qp_t *const qp = nic_device_find_qp(tiered->store.nic, token->object);
    if (qp != NULL) {
        const nic_device_context_t its = nic_device_context(qp);
        fields.send_psn = its.send_psn;
        fields.receive_psn = its.receive_psn;
    }
    return fields;
}

// Returns a hot word after an access: the protocol's positions, and another sequence number.
static uint64_t changed(const tiered_t *tiered, const tiered_token_t *token, uint64_t word)
{
    if (token->type != NIC_TOKEN_QP) {
        return (word & ~(uint64_t)UINT32_MAX) | (uint32_t)(word + 1); // the producer
    }
    nic_small_fields_t fields = positioned(tiered, token, word);
    fields.sequence++;
    return nic_small_fields_pack(&fields);
}

// Swaps the word of the owner's copy.
static void swap_owned(tiered_t *tiered, tiered_token_t *token, uint64_t word)
{
    tiered_image_t image;
    const bool in_l2 = token->cell.entry.layer == NIC_LAYER_L2;
    if (in_l2) {
        (void)nic__tiered_fetch(tiered, token, &image); // a check of corrupt bytes must not be made
    }
    const nic_copies_t copies = nic__tiered_copies(tiered, token);
    nic_cell_view_t view;
    const bool entered = nic_cell_enter(&token->cell, false, &view);
    const uint64_t seen = nic_cell_read(&view, &copies);
    const bool swapped = nic_cell_swap(&token->cell, &view, &copies, seen, word);
    SIM_CHECK(entered && swapped && nic_cell_leave(&token->cell, &view));
    if (in_l2) {
        token->cell.entry.check =
            nic_token_check(l2_bytes(tiered, token), nic__tiered_bytes(token));
    }
    token->owner_changes = token->changes;
    if (token->cell.entry.layer == NIC_LAYER_L3) {
        nic__tiered_note_host(tiered, token);
    }
}

void nic__tiered_unstage(tiered_t *tiered, tiered_token_t *token)
{
    const uint64_t word = sim_get_le64(nic_l1_word(&nic__tiered_staged(tiered, token)->entry));
    tiered_image_t image;
    if (token->staged_dirty) {
        (void)nic__tiered_fetch(tiered, token, &image); // which may need the staged copy
    }
    nic__tiered_part(tiered, token)->staging[token->staging] = TIERED_NONE;
    token->staging = TIERED_NONE;
    if (!token->staged_dirty) {
        return;
    }
    // The changed word is written back to the tier that owns the token.
    token->staged_dirty = false;
    swap_owned(tiered, token, word);
    tiered->counters.write_backs++;
    if (token->cell.entry.layer == NIC_LAYER_L3) {
        (void)nic__tiered_dma_write(tiered, NIC_SMALL_FIELDS_BYTES);
    } else {
        token->cell.entry.flags |= NIC_DIRECTORY_DIRTY;
        (void)nic__tiered_cxl_write(tiered, NIC_SMALL_FIELDS_BYTES);
    }
}

void nic__tiered_note_write(tiered_t *tiered, tiered_token_t *token)
{
    nic_cell_t *const cell = &token->cell;
    const bool through = tiered->config.write == NIC_CACHE_WRITE_THROUGH;
    if (nic_cell_moving(cell) && tiered->config.waiting == NIC_CACHE_WAIT) {
        token->pending++;
        return;
    }
    const bool staged = token->staging != TIERED_NONE;
    if (!staged && cell->entry.layer == NIC_LAYER_L2) {
        tiered_image_t image;
        (void)nic__tiered_fetch(tiered, token, &image); // corrupt bytes are not worth changing
    }
    const uint64_t word = changed(tiered, token, nic__tiered_newest_word(tiered, token));
    token->contents = word;
    token->behind = false;
    token->changes++;
    if (staged) {
        sim_put_le64(nic_l1_word(&nic__tiered_staged(tiered, token)->entry), word);
        if (!through) {
            token->staged_dirty = true;
            return;
        }
    }
    swap_owned(tiered, token, word);
    if (cell->entry.layer == NIC_LAYER_L3 || through) {
        tiered->counters.write_throughs += through;
        sim_put_le64(nic__tiered_host_word(tiered, token), word);
        nic__tiered_note_host(tiered, token);
        (void)nic__tiered_dma_write(tiered, NIC_SMALL_FIELDS_BYTES);
    } else {
        cell->entry.flags |= NIC_DIRECTORY_DIRTY;
    }
}

void nic__tiered_take_positions(tiered_t *tiered, const tiered_token_t *token)
{
    nic_qp_t *const qp = nic_device_find_qp(tiered->store.nic, token->object);
    if (qp != NULL && !token->behind && !token->in_turn) {
        const nic_small_fields_t fields =
            nic_small_fields_unpack(nic__tiered_newest_word(tiered, token));
        nic_device_take_positions(qp, fields.send_psn, fields.receive_psn);
    }
}

// The operation's swap was booked and counted when its access began. Here its result is put into
// the copy that the access used.
void nic__tiered_moved(nic_store_t *store, uint32_t number, bool over)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    const uint32_t found = nic__tiered_find(tiered, NIC_TOKEN_QP, number);
    tiered_token_t *const token = found != TIERED_NONE ? &tiered->tokens[found] : NULL;
    if (token == NULL) {
        return;
    }
    token->in_turn = !over;
    if (!over || token->behind) {
        return; // the next access writes the positions of who is behind
    }
    if (nic_cell_moving(&token->cell)) {
        token->behind = true; // the move has copied its word
        return;
    }
    tiered_image_t image;
    if (!nic__tiered_fetch(tiered, token, &image)) {
        return; // its bytes in L2 were corrupt, and it is behind now
    }
    const nic_small_fields_t fields = positioned(tiered, token, token->contents);
    token->contents = nic_small_fields_pack(&fields);
    if (token->staging != TIERED_NONE) {
        sim_put_le64(nic_l1_word(&nic__tiered_staged(tiered, token)->entry), token->contents);
    }
    if (token->staging != TIERED_NONE && token->staged_dirty) {
        return;
    }
    const nic_copies_t copies = nic__tiered_copies(tiered, token);
    sim_put_le64(copies.word[token->cell.entry.layer], token->contents);
    if (token->cell.entry.layer == NIC_LAYER_L2) {
        token->cell.entry.check =
            nic_token_check(l2_bytes(tiered, token), nic__tiered_bytes(token));
    }
    if (nic__tiered_record(tiered, token)->changes == token->changes) {
        sim_put_le64(nic__tiered_host_word(tiered, token), token->contents);
    }
}

void nic__tiered_write_pending(tiered_t *tiered, tiered_token_t *token)
{
    for (; token->pending != 0; token->pending--) {
        nic__tiered_note_write(tiered, token);
    }
}

void nic__tiered_rewrite(tiered_t *tiered, tiered_token_t *token)
{
    nic_context_t context;
    if (!nic__tiered_describe(tiered, token, &context)) {
        return;
    }
    uint8_t *const host_word = nic__tiered_host_word(tiered, token);
    if (context.type == NIC_TOKEN_QP) {
        uint8_t newest[NIC_SMALL_FIELDS_BYTES];
        sim_put_le64(newest, token->contents);
        set_state(newest, context.qp.state);
        token->contents = sim_get_le64(newest);
        set_state(host_word, context.qp.state);
        token->behind = true; // the verbs may have set other PSNs
    }
    nic__tiered_put_host(tiered, token, &context, sim_get_le64(host_word));
    tiered_image_t image;
    (void)nic__tiered_fetch(tiered, token, &image);
    replace(token, &context, &image);
    if (token->cell.entry.layer == NIC_LAYER_L1) {
        nic__tiered_put_l1(tiered, token, &image);
    } else if (token->cell.entry.layer == NIC_LAYER_L2) {
        write_l2(tiered, token, &image);
    }
    if (token->staging != TIERED_NONE) {
        replace(token, &context, nic__tiered_staged(tiered, token));
    }
    nic_cell_touch(&token->cell);
}

// -- putting

void nic__tiered_put_l1(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    part->entries[token->l1_slot] = image->entry;
    if (!token->compressed) {
        uint8_t **const context = &part->contexts[token->l1_slot];
        const uint32_t bytes = nic_context_bytes((nic_token_type_t)token->type);
        if (*context == NULL) {
            *context = sim_alloc(bytes);
        }
        memcpy(*context, image->context, bytes);
    }
}
