// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/object.c - the tokens of the tiered store: found by key, made,
// changed, removed (docs/models/tiered-cache.md).
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/driver/orders.h"
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"
#include "nic/store/tiered/tiers/wqes.h"

#include <string.h>

#include "kernel/bytes.h"

// -- objects by key

nic_token_type_t nic__tiered_type_of(nic_store_kind_t kind)
{
    switch (kind) {
    case NIC_STORE_CONTEXT:
        return NIC_TOKEN_QP;
    case NIC_STORE_CQ:
        return NIC_TOKEN_CQ;
    case NIC_STORE_KEY:
        return NIC_TOKEN_MR;
    case NIC_STORE_PD:
        return NIC_TOKEN_PD;
    case NIC_STORE_TRANSLATION:
    case NIC_STORE_WQE:
    case NIC_STORE_KIND_COUNT:
        break;
    }
    SIM_CHECK(false);
    return NIC_TOKEN_PD;
}

uint32_t nic__tiered_find(const tiered_t *tiered, nic_token_type_t type, uint64_t key)
{
    return nic_directory_find(&tiered->directory, nic_directory_name(type, key), NULL);
}

static bool fill_queue(const tiered_t *tiered, const tiered_token_t *token, nic_cq_context_t *cq)
{
    nic_device_queue_t queue;
    cq->index = token->index;
    cq->cqn = token->object;
    if (!nic_device_find_queue(tiered->store.nic, token->key, &queue)) {
        return false;
    }
    // The driver gives a large queue a ring of a power of two.
    cq->cqe = queue.entries;
    while (cq->cqe > UINT16_MAX && (cq->cqe & (cq->cqe - 1)) != 0) {
        cq->cqe += cq->cqe & -cq->cqe;
    }
    cq->comp_vector = queue.vector % (UINT8_MAX + 1u);
    cq->flags = (queue.polled ? NIC_CQ_POLLED : 0u) | (queue.shared ? NIC_CQ_SHARED : 0u) |
                (queue.overflowed ? NIC_CQ_OVERFLOWED : 0u);
    return true;
}

bool nic__tiered_context_of(const tiered_t *tiered, const tiered_token_t *token,
                            nic_context_t *context)
{
    const uint32_t number = token->object;
    bool found = true;
    context->type = (nic_token_type_t)token->type;
    const nic_t *const nic = tiered->store.nic;
    switch (context->type) {
    case NIC_TOKEN_PD:
        context->pd.index = token->index;
        context->pd.pdn = number;
        break;
    case NIC_TOKEN_CQ:
        found = fill_queue(tiered, token, &context->cq);
        break;
    case NIC_TOKEN_MR: {
        nic_device_region_t mr;
        context->mr.index = token->index;
        context->mr.lkey = number;
        found = nic_device_find_region(nic, number, &mr);
        if (found) {
            const uint32_t shift = tiered->page_bits;
            context->mr.access_flags = mr.access;
            context->mr.page_bits = shift;
            context->mr.page_count =
                ((mr.address + (mr.length_bytes - 1)) >> shift) - (mr.address >> shift) + 1;
            context->mr.address = mr.address;
            context->mr.length_bytes = mr.length_bytes;
            context->mr.pdn = mr.pd_number;
        }
        break;
    }
    case NIC_TOKEN_QP: {
        const nic_qp_t *const qp = nic_device_find_qp(nic, number);
        context->qp.index = token->index;
        context->qp.qpn = number;
        context->qp.small_fields = token->contents;
        found = qp != NULL;
        if (found) {
            const nic_device_context_t its = nic_device_context(qp);
            context->qp.qp_type = its.type;
            context->qp.state = its.state;
            context->qp.pd_index = its.pd_number - 1;
            context->qp.send_cq_index = its.send_cq_number - 1;
            context->qp.recv_cq_index = its.recv_cq_number - 1;
            context->qp.access_flags = its.access;
            context->qp.mtu_bytes = its.mtu_bytes;
        }
        break;
    }
    case NIC_TOKEN_TYPE_COUNT:
        break;
    }
    return found;
}

static void fill_connection(nic_qp_context_t *context, const nic_device_connection_t *its)
{
    memcpy(&context->address_path[NIC_PATH_TO_MAC], its->to_mac, sizeof(its->to_mac));
    memcpy(&context->address_path[NIC_PATH_FROM_MAC], its->from_mac, sizeof(its->from_mac));
    memcpy(&context->address_path[NIC_PATH_TO_IP], its->to_ip, sizeof(its->to_ip));
    memcpy(&context->address_path[NIC_PATH_FROM_IP], its->from_ip, sizeof(its->from_ip));
    context->remote_qpn = its->remote_qpn;
    context->udp_source_port = its->udp_source_port;
    context->hop_limit = its->hop_limit;
    context->dscp = its->dscp;
    context->timeout = its->timeout;
    context->retry = its->retry_count;
    context->rnr_timer = its->rnr_timer;
    context->rnr_retry = its->rnr_retry;
}

bool nic__tiered_describe(const tiered_t *tiered, const tiered_token_t *token,
                          nic_context_t *context)
{
    memset(context, 0, sizeof(*context));
    const nic_t *const nic = tiered->store.nic;
    const bool found = nic__tiered_context_of(tiered, token, context);
    if (!found) {
        return false;
    }
    if (context->type == NIC_TOKEN_QP) {
        const nic_device_connection_t its =
            nic_device_connection(nic_device_find_qp(nic, token->object));
        fill_connection(&context->qp, &its);
    } else if (context->type == NIC_TOKEN_MR) {
        const uint64_t line = (context->mr.address >> tiered->page_bits) / NIC_TABLE_LINE_PAGES;
        context->mr.table_address = nic_iommu_context_address(nic, NIC_IOMMU_MTT, (uint32_t)line);
    } else if (context->type == NIC_TOKEN_PD) {
        context->pd.owner = tiered->node->index;
    }
    return true;
}

// Begins the context of a new object in host memory, and the record behind it.
static void begin_context(tiered_t *tiered, tiered_token_t *token)
{
    nic_context_t context;
    nic_l1_entry_t entry;
    nic_l3_put(&tiered->l3[token->type], token->index);
    (void)nic__tiered_describe(tiered, token, &context);
    token->compressed = tiered->config.compression && nic_l1_entry_pack(&context, &entry);
    nic__tiered_put_host(tiered, token, &context, token->contents);
    *nic__tiered_record(tiered, token) = (nic_record_t){
        .made_ps = tiered->now_ps,
        .owner = context.type == NIC_TOKEN_QP   ? context.qp.pd_index + 1
                 : context.type == NIC_TOKEN_MR ? context.mr.pdn
                 : context.type == NIC_TOKEN_PD ? context.pd.pdn
                                                : 0,
    };
}

// Gives out the index that was freed last, or else the next one.
static uint32_t take_index(tiered_pool_t *pool)
{
    return pool->free_count != 0 ? pool->free[--pool->free_count] : pool->next++;
}

static void give_index(tiered_pool_t *pool, uint32_t index)
{
    SIM_APPEND(pool->free, pool->free_count, pool->free_capacity, index);
}

// Begins the hot word of a new queue pair with its state.
static void begin_word(const tiered_t *tiered, tiered_token_t *token)
{
    const nic_qp_t *const qp =
        token->type == NIC_TOKEN_QP ? nic_device_find_qp(tiered->store.nic, token->object) : NULL;
    if (qp != NULL) {
        const nic_small_fields_t fields = {.state = nic_device_context(qp).state};
        token->contents = nic_small_fields_pack(&fields);
    }
}

uint32_t nic__tiered_make(tiered_t *tiered, nic_token_type_t type, uint64_t key)
{
    uint32_t number = 0;
    if (tiered->freed_count != 0) {
        number = tiered->freed[--tiered->freed_count];
    } else {
        SIM_GROW(tiered->tokens, tiered->token_count, &tiered->token_capacity);
        number = (uint32_t)tiered->token_count++;
    }
    tiered_token_t *const token = &tiered->tokens[number];
    *token = (tiered_token_t){
        .key = key,
        .type = (uint8_t)type,
        // The keys of shared receive queues begin above those of CQs.
        .object = (uint32_t)(key > UINT32_MAX ? key >> 32 : key),
        .live = true,
        .behind = true,
        .l1_slot = TIERED_NONE,
        .staging = TIERED_NONE,
        .seat = TIERED_NONE,
        .move = TIERED_NONE,
        .order = TIERED_NONE,
        .index = take_index(&tiered->pools[type]),
        .away_access_ps = tiered->now_ps,
    };
    nic_cell_init(&token->cell, NIC_LAYER_L3);
    begin_word(tiered, token);
    token->cell.entry.token_offset = token->index;
    begin_context(tiered, token);
    if (!token->compressed) {
        token->cell.entry.flags |= NIC_DIRECTORY_UNCOMPRESSED;
        tiered->uncompressed++;
    }
    uint32_t grown = nic_directory_put(&tiered->directory, nic_directory_name(type, key), number);
    if (nic__tiered_by_handle(tiered)) {
        grown = nic_handles_put(&tiered->handles, nic__tiered_handle(token), number);
    }
    if (grown != 0) {
        nic__tiered_copy_directory(tiered, grown);
    }
    tiered->type_live[type]++;
    tiered->type_peak[type] = SIM_MAX(tiered->type_live[type], tiered->type_peak[type]);
    if (type == NIC_TOKEN_QP && tiered->pins < tiered->config.pinned) {
        tiered->pins++;
        nic__tiered_move_now(tiered, token, NIC_LAYER_L1, 0);
        nic__tiered_part(tiered, token)
            ->policy->remove(nic__tiered_part(tiered, token)->ranks, token->l1_slot);
        token->cell.entry.flags |= NIC_DIRECTORY_PINNED;
    }
    return number;
}

void nic__tiered_add(nic_store_t *store, nic_store_kind_t kind, uint64_t key)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    nic__tiered_move_time_on(tiered, tiered->node->now_ps);
    if (kind == NIC_STORE_WQE) {
        nic__tiered_put_wqe(tiered, key);
        return;
    }
    const nic_token_type_t type = nic__tiered_type_of(kind);
    SIM_CHECK(nic__tiered_find(tiered, type, key) == TIERED_NONE);
    (void)nic__tiered_make(tiered, type, key);
}

void nic__tiered_remove(nic_store_t *store, nic_store_kind_t kind, uint64_t key)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    if (kind == NIC_STORE_WQE) {
        nic__tiered_drop_wqe(tiered, key);
        return;
    }
    const nic_token_type_t type = nic__tiered_type_of(kind);
    const uint32_t number = nic__tiered_find(tiered, type, key);
    if (number == TIERED_NONE) {
        return;
    }
    tiered_token_t *const token = &tiered->tokens[number];
    token->pending = 0;
    nic__tiered_forget_move(tiered, token);
    nic__tiered_forget_order(tiered, token);
    sim_free(token->windows);
    token->windows = NULL;
    token->window_count = token->window_capacity = 0;
    if (token->staging != TIERED_NONE) {
        nic__tiered_part(tiered, token)->staging[token->staging] = TIERED_NONE;
    }
    nic__tiered_leave(tiered, token);
    nic_directory_remove(&tiered->directory, nic_directory_name(type, key));
    if (nic__tiered_by_handle(tiered)) {
        nic_handles_remove(&tiered->handles, nic__tiered_handle(token));
        nic_cache_remove(&tiered->handle_index, (uint64_t)nic__tiered_handle(token) + 1);
    }
    tiered->type_live[type]--;
    nic_l3_remove(&tiered->l3[type], token->index);
    give_index(&tiered->pools[type], token->index);
    tiered->uncompressed -= !token->compressed;
    tiered->pins -= (token->cell.entry.flags & NIC_DIRECTORY_PINNED) != 0;
    token->live = false;
    if (!token->queued) { // else the batch gives its number back
        SIM_APPEND(tiered->freed, tiered->freed_count, tiered->freed_capacity, number);
    }
}

// Writes a changed right, key or state through to the host at once.
void nic__tiered_change(nic_store_t *store, nic_store_kind_t kind, uint64_t key)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    nic__tiered_move_time_on(tiered, tiered->node->now_ps);
    const uint32_t number = nic__tiered_find(tiered, nic__tiered_type_of(kind), key);
    if (number == TIERED_NONE) {
        return;
    }
    tiered_token_t *const token = &tiered->tokens[number];
    tiered->counters.strong_writes++;
    nic__tiered_rewrite(tiered, token);
    if (token->cell.entry.layer != NIC_LAYER_L3) {
        const sim_time_t took_ps =
            nic__tiered_dma_write(tiered, nic__tiered_bytes(token)) +
            (tiered->has_l2 ? nic__tiered_cxl_write(tiered, nic__tiered_bytes(token)) : 0);
        nic__tiered_rewrite_takes(tiered, token, took_ps);
    }
}

static void reset_staging(tiered_t *tiered, tiered_partition_t *part)
{
    for (uint32_t i = 0; i < part->staging_entries; i++) {
        const uint32_t number = part->staging[i];
        if (number == TIERED_NONE || tiered->tokens[number].seat != TIERED_NONE) {
            continue; // a token with a seat is lost as others in L1
        }
        tiered_token_t *const token = &tiered->tokens[number];
        if (token->staged_dirty) {
            nic__tiered_lose(tiered, token, token->owner_changes, nic__tiered_word(tiered, token));
        }
        token->staged_dirty = false;
        token->staging = TIERED_NONE;
        part->staging[i] = TIERED_NONE;
    }
}

// Resets the NIC: contents of L1 and of the staging areas that were not written through are lost.
void nic__tiered_reset(tiered_t *tiered)
{
    tiered->counters.resets++;
    for (uint32_t p = 0; p < 2; p++) {
        reset_staging(tiered, &tiered->parts[p]);
    }
    for (uint32_t number = 0; number < tiered->token_count; number++) {
        tiered_token_t *const token = &tiered->tokens[number];
        if (!token->live || token->cell.entry.layer != NIC_LAYER_L1) {
            continue;
        }
        nic__tiered_forget_move(tiered, token);
        const uint64_t word = sim_get_le64(nic__tiered_host_word(tiered, token));
        nic__tiered_lose(tiered, token, nic__tiered_record(tiered, token)->changes, word);
        sim_put_le64(nic__tiered_copies(tiered, token).word[NIC_LAYER_L1], word);
        token->owner_changes = token->changes;
        token->cell.entry.flags &= (uint8_t)~NIC_DIRECTORY_DIRTY;
        if ((token->cell.entry.flags & NIC_DIRECTORY_PINNED) == 0) {
            nic__tiered_move_now(tiered, token, NIC_LAYER_L3, 0);
        }
    }
}
