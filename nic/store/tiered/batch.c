// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/batch.c - Prefetched Batch: the miss queue of L2, and the staging
// area next to L1 (docs/models/tiered-cache.md).
//
// Tokens that missed L1 and are in L2 are collected until there are enough, or the first has waited
// long enough. Those whose pages lie next to each other are read in one transfer. When L2's link
// has more to do than it can, the queue waits for it, or drops what nobody waits for.
#include "nic/store/tiered/batch.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

#include <stdlib.h>
#include <string.h>

// A token of a transfer: its bytes as they were read, where L2 had it.
typedef struct tiered_passenger {
    uint32_t token;
    bool read;
    nic_cell_view_t view;
    tiered_image_t image;
} tiered_passenger_t;

// Tokens of one transfer.
typedef struct tiered_flight {
    sim_timer_t timer; // first
    tiered_t *tiered;
    struct tiered_flight *next;
    struct tiered_flight *previous;
    uint32_t count;
    tiered_passenger_t tokens[];
} tiered_flight_t;

// -- staging area: copies of tokens that stay where they are, or tokens

void nic__tiered_stage(tiered_t *tiered, tiered_token_t *token, const tiered_image_t *image)
{
    tiered_partition_t *const part = nic__tiered_part(tiered, token);
    if (part->staging_entries == 0 || token->staging != TIERED_NONE ||
        nic_cell_moving(&token->cell)) {
        return;
    }
    if (part->seats != 0) {
        nic__tiered_seat(tiered, token);
        return;
    }
    tiered_image_t fetched;
    if (image == NULL) {
        (void)nic__tiered_fetch(tiered, token, &fetched);
        image = &fetched;
    }
    const uint32_t place = part->staging_next;
    part->staging_next = place + 1 < part->staging_entries ? place + 1 : 0;
    if (part->staging[place] != TIERED_NONE) {
        nic__tiered_unstage(tiered, &tiered->tokens[part->staging[place]]);
    }
    part->staging[place] = nic__tiered_number(tiered, token);
    token->staging = place;
    part->staged[place] = *image;
    token->staged_dirty = false;
}

// Stages a token of a transfer, as it was read. If it has moved or its rights have changed since,
// it is read again; a hot word that was written since is merged.
static void stage_passenger(tiered_t *tiered, tiered_token_t *token, tiered_passenger_t *passenger)
{
    tiered_image_t now;
    (void)nic__tiered_fetch(tiered, token, &now);
    if (!passenger->read || !nic_cell_leave(&token->cell, &passenger->view)) {
        tiered->counters.version_retries += passenger->read;
        nic__tiered_stage(tiered, token, &now);
        return;
    }
    if (nic_context_hot_offset((nic_token_type_t)token->type) != UINT32_MAX) {
        memcpy(nic_l1_word(&passenger->image.entry), nic_l1_word(&now.entry),
               NIC_SMALL_FIELDS_BYTES);
    }
    nic__tiered_use(tiered, token, &passenger->image);
    nic__tiered_stage(tiered, token, &passenger->image);
}

// -- those who wait

void nic__tiered_ask(tiered_t *tiered, uint32_t number)
{
    for (size_t i = 0; i < tiered->asked_count; i++) {
        if (tiered->asked[i] == number) {
            return;
        }
    }
    SIM_APPEND(tiered->asked, tiered->asked_count, tiered->asked_capacity, number);
}

static void *take_free(void **list, size_t size_bytes, size_t next_offset)
{
    void *const taken = *list;
    if (taken == NULL) {
        return sim_alloc(size_bytes);
    }
    memcpy(list, (const char *)taken + next_offset, sizeof(*list));
    return taken;
}

void nic__tiered_wait(nic_store_t *store, sim_timer_t *timer, sim_time_t least_ps)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    SIM_CHECK(tiered->asked_count != 0);
    tiered_waiter_t *const waiter =
        take_free((void **)&tiered->free_waiters, sizeof(*waiter), offsetof(tiered_waiter_t, next));
    *waiter = (tiered_waiter_t){timer, least_ps, (uint32_t)tiered->asked_count, NULL};
    for (size_t i = 0; i < tiered->asked_count; i++) {
        tiered_token_t *const token = &tiered->tokens[tiered->asked[i]];
        SIM_CHECK(token->queued);
        tiered_link_t *const link =
            take_free((void **)&tiered->free_links, sizeof(*link), offsetof(tiered_link_t, next));
        *link = (tiered_link_t){waiter, tiered->now_ps, token->waiters};
        token->waiters = link;
    }
    tiered->asked_count = 0;
}

static void wake(tiered_t *tiered, tiered_token_t *token)
{
    const sim_time_t here_ps = tiered->now_ps + tiered->config.l1_latency_ps;
    token->here_ps = nic__later(token->here_ps, here_ps);
    while (token->waiters != NULL) {
        tiered_link_t *const link = token->waiters;
        token->waiters = link->next;
        if (token->type == NIC_TOKEN_QP) {
            nic_histogram_add(&tiered->all, here_ps - link->begin_ps);
            nic_histogram_add(&tiered->paths[TIERED_L2], here_ps - link->begin_ps);
        }
        tiered_waiter_t *const waiter = link->waiter;
        waiter->least_ps = nic__later(waiter->least_ps, here_ps);
        if (--waiter->missing == 0) {
            sim_timer_arm(tiered->node, waiter->timer, waiter->least_ps);
            waiter->next = tiered->free_waiters;
            tiered->free_waiters = waiter;
        }
        link->next = tiered->free_links;
        tiered->free_links = link;
    }
}

static void land(sim_node_t *node, sim_timer_t *timer)
{
    tiered_flight_t *const flight = SIM_CONTAINER_OF(timer, tiered_flight_t, timer);
    tiered_t *const tiered = flight->tiered;
    tiered->begin(tiered->store.nic);
    tiered->now_ps = nic__later(tiered->now_ps, node->now_ps);
    nic__tiered_catch_up(tiered);
    for (uint32_t i = 0; i < flight->count; i++) {
        tiered_token_t *const token = &tiered->tokens[flight->tokens[i].token];
        token->queued = false;
        wake(tiered, token);
        if (!token->live) {
            SIM_APPEND(tiered->freed, tiered->freed_count, tiered->freed_capacity,
                       flight->tokens[i].token);
        } else if (token->cell.entry.layer != NIC_LAYER_L1 &&
                   !nic__tiered_part(tiered, token)->policy->installs_on_miss) {
            stage_passenger(tiered, token, &flight->tokens[i]);
        }
    }
    if (flight->next != NULL) {
        flight->next->previous = flight->previous;
    }
    *(flight->previous != NULL ? &flight->previous->next : &tiered->flights) = flight->next;
    sim_free(flight);
}

// -- the worker

#define LINE_BYTES 64u // of CXL memory

typedef struct place {
    uint64_t page; // in L2, or where it was when it was asked for
    uint32_t offset;
    uint32_t token;
    uint32_t type; // of the token and its page
} place_t;

static int by_page(const void *a, const void *b)
{
    const place_t *const left = a;
    const place_t *const right = b;
    return 8 * SIM_COMPARE(left->type, right->type) + 4 * SIM_COMPARE(left->page, right->page) +
           2 * SIM_COMPARE(left->offset, right->offset) + SIM_COMPARE(left->token, right->token);
}

// Reads a token of a transfer out of its page. What has left L2 since it was asked for is not
// there. Returns the time that it takes more if its bytes are corrupt: the host has it.
static sim_time_t read_passenger(tiered_t *tiered, uint32_t number, tiered_passenger_t *passenger)
{
    tiered_token_t *const token = &tiered->tokens[number];
    *passenger = (tiered_passenger_t){.token = number};
    if (!token->live || token->cell.entry.layer != NIC_LAYER_L2 ||
        !nic_cell_enter(&token->cell, true, &passenger->view)) {
        return 0;
    }
    const bool right = nic__tiered_fetch(tiered, token, &passenger->image);
    const bool entered = nic_cell_enter(&token->cell, false, &passenger->view);
    SIM_CHECK(entered);
    passenger->read = true;
    return right ? 0 : nic__tiered_expand(tiered, token);
}

// Returns the number of lines in which tokens of one type lie.
static uint64_t lines_of(const nic_pages_t *kind, const place_t *places, uint32_t count)
{
    uint64_t lines = 0;
    uint64_t next = 0; // behind the last line counted
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t from = places[i].page * nic_pages_page_bytes(kind) +
                              sizeof(nic_page_header_t) +
                              (uint64_t)(places[i].offset % kind->slots) * kind->slot_bytes;
        const uint64_t first = nic__later(from / LINE_BYTES, next);
        const uint64_t end = (from + kind->slot_bytes - 1) / LINE_BYTES + 1;
        lines += end > first ? end - first : 0;
        next = nic__later(next, end);
    }
    return lines;
}

// The directory knows where the tokens are, directory_ps from now on.
static void read_cluster(tiered_t *tiered, const place_t *places, uint32_t count,
                         sim_time_t directory_ps)
{
    const nic_pages_t *const kind =
        &nic__tiered_part(tiered, &tiered->tokens[places[0].token])->pages[places[0].type];
    sim_time_t took_ps = tiered->config.l1_latency_ps + directory_ps +
                         nic__tiered_cxl_read(tiered, lines_of(kind, places, count) * LINE_BYTES);
    tiered_flight_t *const flight = sim_alloc(sizeof(*flight) + count * sizeof(flight->tokens[0]));
    sim_timer_init(&flight->timer, land);
    flight->tiered = tiered;
    flight->count = count;
    for (uint32_t i = 0; i < count; i++) {
        took_ps += read_passenger(tiered, places[i].token, &flight->tokens[i]);
    }
    flight->next = tiered->flights;
    if (flight->next != NULL) {
        flight->next->previous = flight;
    }
    tiered->flights = flight;
    tiered->counters.batch_clusters++;
    for (uint32_t i = 0; i < count; i++) {
        tiered->tokens[places[i].token].lands_ps = tiered->now_ps + took_ps;
    }
    sim_timer_arm(tiered->node, &flight->timer, tiered->now_ps + took_ps);
}

// Takes up to batch_max from the queue's head into places.
static uint32_t drain(tiered_t *tiered, place_t *places)
{
    uint32_t count = 0;
    size_t taken = 0;
    while (taken < tiered->queue_count && count < tiered->config.batch_max) {
        const uint32_t number = tiered->queue[taken++];
        const tiered_token_t *const token = &tiered->tokens[number];
        const uint32_t slots = nic__tiered_part(tiered, token)->pages[token->type].slots;
        places[count++] =
            (place_t){token->queued_offset / slots, token->queued_offset, number, token->type};
    }
    for (size_t i = taken; i < tiered->queue_count; i++) {
        tiered->queue[i - taken] = tiered->queue[i];
    }
    tiered->queue_count -= taken;
    return count;
}

static void run_worker(tiered_t *tiered)
{
    tiered->counters.batches++;
    place_t *const places = sim_alloc_array(tiered->config.batch_max, sizeof(*places));
    const uint32_t count = drain(tiered, places);
    tiered->counters.batch_tokens += count;
    uint32_t *const numbers = sim_alloc_array(count, sizeof(*numbers));
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = places[i].token;
    }
    const sim_time_t directory_ps = nic__tiered_read_directory(tiered, numbers, count);
    sim_free(numbers);
    qsort(places, count, sizeof(*places), by_page);
    for (uint32_t first = 0; first < count;) {
        uint32_t end = first + 1;
        const tiered_partition_t *const part =
            nic__tiered_part(tiered, &tiered->tokens[places[first].token]);
        const uint64_t pages_max =
            tiered->config.cluster_bytes / nic_pages_page_bytes(&part->pages[places[first].type]);
        while (end < count && places[end].type == places[first].type &&
               places[end].page <= places[end - 1].page + 1 &&
               places[end].page - places[first].page < pages_max) {
            end++;
        }
        read_cluster(tiered, &places[first], end - first, directory_ps);
        first = end;
    }
    sim_free(places);
    if (tiered->queue_count != 0) {
        sim_timer_arm(tiered->node, &tiered->batch_timer,
                      tiered->now_ps + tiered->config.batch_wait_ps);
    }
}

// Returns the backlog of L2's link if it is longer than a batch may wait, else 0.
sim_time_t nic__tiered_behind_ps(const tiered_t *tiered)
{
    const sim_time_t free_ps = tiered->cxl.line->read_free_ps;
    const sim_time_t queue_ps = free_ps > tiered->now_ps ? free_ps - tiered->now_ps : 0;
    return queue_ps > tiered->config.backlog_ps ? queue_ps : 0;
}

void nic__tiered_batch_fired(sim_node_t *node, sim_timer_t *timer)
{
    tiered_t *const tiered = SIM_CONTAINER_OF(timer, tiered_t, batch_timer);
    tiered->begin(tiered->store.nic);
    tiered->now_ps = nic__later(tiered->now_ps, node->now_ps);
    tiered->cxl.own_ps = 0;
    const sim_time_t late_ps = nic__tiered_behind_ps(tiered);
    if (late_ps != 0) {
        tiered->counters.batch_delays++;
        sim_timer_arm(node, timer, tiered->now_ps + late_ps);
    } else if (tiered->queue_count != 0) {
        run_worker(tiered);
    }
}

static void enqueue(tiered_t *tiered, tiered_token_t *token)
{
    token->queued = true;
    token->lands_ps = SIM_TIME_NEVER;
    token->queued_offset = token->cell.entry.token_offset;
    SIM_APPEND(tiered->queue, tiered->queue_count, tiered->queue_capacity,
               nic__tiered_number(tiered, token));
}

void nic__tiered_queue_miss(tiered_t *tiered, tiered_token_t *token)
{
    enqueue(tiered, token);
    if (tiered->queue_count == tiered->config.batch_threshold) {
        // The batch is full. It starts as an event at this instant, after all requests of the
        // instant have joined.
        sim_timer_arm(tiered->node, &tiered->batch_timer, tiered->node->now_ps);
    } else if (!sim_timer_armed(&tiered->batch_timer)) {
        sim_timer_arm(tiered->node, &tiered->batch_timer,
                      tiered->node->now_ps + tiered->config.batch_wait_ps);
    }
}

sim_time_t nic__tiered_fetch_now(tiered_t *tiered, tiered_token_t *token)
{
    if (!token->queued) {
        enqueue(tiered, token);
    }
    while (token->lands_ps == SIM_TIME_NEVER) { // it is still in the queue
        run_worker(tiered);
    }
    const sim_time_t here_ps = token->lands_ps + tiered->config.l1_latency_ps;
    return here_ps > tiered->now_ps ? here_ps - tiered->now_ps : 0;
}

void nic__tiered_batch_fini(tiered_t *tiered)
{
    for (size_t i = 0; i < tiered->token_count; i++) {
        while (tiered->tokens[i].waiters != NULL) {
            tiered_link_t *const link = tiered->tokens[i].waiters;
            tiered->tokens[i].waiters = link->next;
            if (--link->waiter->missing == 0) {
                sim_free(link->waiter);
            }
            sim_free(link);
        }
    }
    while (tiered->free_waiters != NULL) {
        tiered_waiter_t *const waiter = tiered->free_waiters;
        tiered->free_waiters = waiter->next;
        sim_free(waiter);
    }
    while (tiered->free_links != NULL) {
        tiered_link_t *const link = tiered->free_links;
        tiered->free_links = link->next;
        sim_free(link);
    }
    sim_free(tiered->asked);
    while (tiered->flights != NULL) {
        tiered_flight_t *const flight = tiered->flights;
        tiered->flights = flight->next;
        sim_free(flight);
    }
    sim_free(tiered->queue);
}
