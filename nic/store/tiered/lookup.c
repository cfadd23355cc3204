// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/lookup.c - the tiered store: lookups, its life, its invariants
// (docs/models/tiered-cache.md).
//
// A lookup goes one of three ways. Hot Inline: the token is in L1 (or staged next to it), one
// compare-and-swap serves the work request. Prefetched Batch: the directory says L2, the token is
// loaded from there, alone or with others. On-demand Expand: it is with the host, whose driver
// answers a request for it.
#include "nic/cache_metrics.h"
#include "nic/store/tiered/batch.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/driver/orders.h"
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/rules/adapt.h"
#include "nic/store/tiered/rules/cluster.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// -- lookups

typedef struct serving {
    tiered_path_t path;
    sim_time_t took_ps;
    bool late;    // its order to the driver says how long it takes
    bool gave_up; // it lost too many swaps: the token leaves L1, and is fetched again
} serving_t;

// Loads one token from L2, after a look-up in the directory. Returns the time it takes.
static sim_time_t load(tiered_t *tiered, const tiered_token_t *token)
{
    const uint32_t number = nic__tiered_number(tiered, token);
    return tiered->config.l1_latency_ps + nic__tiered_read_directory(tiered, &number, 1) +
           nic__tiered_cxl_read(tiered, nic__tiered_bytes(token));
}

// Requests a context for which only a queue pair waits. Returns the least time that it takes.
static serving_t order_context(tiered_t *tiered, const tiered_token_t *token, sim_time_t before_ps)
{
    const uint32_t number = nic__tiered_number(tiered, token);
    before_ps += nic__tiered_mailbox(tiered);
    nic__tiered_order(tiered, TIERED_ORDER_CONTEXT, &number, 1, before_ps, true);
    const sim_time_t here_ps = nic__tiered_here_ps(tiered, token);
    return (serving_t){TIERED_EXPAND, here_ps - tiered->now_ps, true, false};
}

// `patient`: only the queue pair waits, so that an expand may be done in the background.
static serving_t serve_from(tiered_t *tiered, tiered_token_t *token, uint32_t layer, bool patient)
{
    const sim_time_t l1_ps = tiered->config.l1_latency_ps;
    if (layer == NIC_LAYER_L1) {
        bool gave_up = false;
        const sim_time_t swap_ps =
            token->type == NIC_TOKEN_QP ? nic__tiered_swap(tiered, token, l1_ps, &gave_up) : 0;
        return (serving_t){TIERED_L1, l1_ps + swap_ps, false, gave_up};
    }
    if (layer == NIC_LAYER_L2) {
        return (serving_t){TIERED_L2, load(tiered, token), false, false};
    }
    const uint32_t number = nic__tiered_number(tiered, token);
    const sim_time_t before_ps = l1_ps + nic__tiered_read_directory(tiered, &number, 1);
    if (patient && token->order == TIERED_NONE) {
        return order_context(tiered, token, before_ps);
    }
    return (serving_t){TIERED_EXPAND, before_ps + nic__tiered_expand(tiered, token), false, false};
}

// Serves an access to a token that is moving: it waits for the end of the move.
static serving_t serve_after_move(tiered_t *tiered, tiered_token_t *token, bool patient)
{
    nic__tiered_hurry(tiered, token);
    const sim_time_t end_ps = tiered->moves[token->move].end_ps;
    const sim_time_t left_ps = end_ps > tiered->now_ps ? end_ps - tiered->now_ps : 0;
    tiered->counters.waits++;
    serving_t serving = serve_from(tiered, token, nic_move_target(&token->cell), patient);
    serving.took_ps += left_ps;
    return serving;
}

// Serves an access from the copy that the directory names, and looks at the version again when it
// has read: if that has changed, it reads again, from where the token is then.
static serving_t serve_and_validate(tiered_t *tiered, tiered_token_t *token, bool patient)
{
    serving_t all = {TIERED_L1, 0, false, false};
    for (;;) {
        const sim_time_t begin_ps = tiered->now_ps + all.took_ps;
        const nic_cell_view_t view = nic__tiered_view_at(tiered, token, begin_ps);
        const serving_t serving = serve_from(tiered, token, view.layer, patient);
        all.took_ps += serving.took_ps;
        all.path = SIM_MAX(serving.path, all.path);
        all.late = serving.late;
        all.gave_up = serving.gave_up;
        const nic_cell_view_t now =
            nic__tiered_view_at(tiered, token, tiered->now_ps + all.took_ps);
        // A swap in L1 has met the driver's rewrites already.
        const bool valid =
            serving.path == TIERED_L1 ? now.layer == view.layer : now.version == view.version;
        if (valid || serving.late || serving.gave_up) {
            return all;
        }
        tiered->counters.version_retries++;
    }
}

// Adds a token of L2 to the miss queue, if the caller can wait. A policy that admits every token
// gives it a place in L1 now; only its data arrive later.
static bool joins_batch(tiered_t *tiered, const tiered_token_t *token,
                        const nic_store_lookup_t *lookup)
{
    const bool other = token->type != NIC_TOKEN_QP;
    if ((!other && !lookup->can_wait) || nic__tiered_part(tiered, token)->path != NIC_CACHE_BATCH) {
        return false;
    }
    return token->queued || (token->cell.state == NIC_TOKEN_IN_L2 && token->staging == TIERED_NONE);
}

// Takes a token whose swaps failed out of L1 or the staging area. The access goes on as one that
// has missed: it joins a batch, loads the token from L2, or requests it from the driver.
static serving_t fall_back(tiered_t *tiered, tiered_token_t *token,
                           const nic_store_lookup_t *lookup, bool patient, sim_time_t spent_ps)
{
    if (token->staging != TIERED_NONE) {
        nic__tiered_unstage(tiered, token);
    } else {
        const uint32_t to = nic__tiered_has_l2(tiered, token) ? NIC_LAYER_L2 : NIC_LAYER_L3;
        spent_ps += nic__tiered_write_back(tiered, token, to);
        nic__tiered_move_now(tiered, token, to, spent_ps);
    }
    if (joins_batch(tiered, token, lookup)) {
        return (serving_t){TIERED_L2, spent_ps, false, true};
    }
    serving_t serving = serve_from(tiered, token, token->cell.entry.layer, patient);
    serving.took_ps += serving.late ? 0 : spent_ps;
    return serving;
}

// Serves an access. If the answer has gave_up, the caller adds the token to the miss queue.
static serving_t serve(tiered_t *tiered, tiered_token_t *token, const nic_store_lookup_t *lookup,
                       bool patient)
{
    const sim_time_t now_ps = tiered->now_ps;
    serving_t serving;
    tiered_image_t image;
    bool right = true;
    if (token->staging != TIERED_NONE && !nic__tiered_in_l1(token)) {
        serving = serve_from(tiered, token, NIC_LAYER_L1, patient);
        tiered->counters.staging_hits++;
        nic__tiered_use_prefetched(tiered, token);
        image = *nic__tiered_staged(tiered, token);
    } else {
        const bool waits = tiered->config.waiting == NIC_CACHE_WAIT;
        nic_cell_view_t view;
        if (!patient && nic_cell_moving(&token->cell)) {
            // Else urgent requests for the old copy would keep the driver from the move for good.
            nic__tiered_hurry(tiered, token);
        }
        serving = nic_cell_enter(&token->cell, waits, &view)
                      ? serve_and_validate(tiered, token, patient)
                      : serve_after_move(tiered, token, patient);
        tiered->counters.staging_hits += token->seat != TIERED_NONE;
        right = nic__tiered_fetch(tiered, token, &image);
    }
    if (serving.gave_up) {
        serving = fall_back(tiered, token, lookup, patient, serving.took_ps);
    }
    if (!right) { // what L2 gave was corrupt, so the host is asked
        serving.took_ps += nic__tiered_expand(tiered, token);
        serving.path = TIERED_EXPAND;
    }
    nic__tiered_use(tiered, token, &image);
    // An earlier access has requested the token, which is still in flight; this access waits for
    // it. Its order becomes urgent if this access cannot wait.
    if (!patient && !nic_cell_moving(&token->cell)) {
        nic__tiered_hurry(tiered, token);
    }
    const sim_time_t here_ps =
        nic_cell_moving(&token->cell) ? token->here_ps : nic__tiered_here_ps(tiered, token);
    if (here_ps > now_ps + serving.took_ps) {
        serving.took_ps = here_ps - now_ps;
    }
    return serving;
}

static void count_path(tiered_t *tiered, const tiered_token_t *token,
                       const nic_store_lookup_t *lookup, tiered_path_t path)
{
    tiered_counters_t *const counters = &tiered->counters;
    tiered_type_counters_t *const type = &counters->types[token->type];
    type->lookups++;
    type->l1_hits += path == TIERED_L1;
    type->l2_hits += path == TIERED_L2;
    type->expands += path == TIERED_EXPAND;
    if (token->type != NIC_TOKEN_QP) {
        return;
    }
    if (!lookup->begins) {
        counters->follow_ups++;
        counters->follow_up_misses += path != TIERED_L1;
        return;
    }
    const bool background = path == TIERED_EXPAND && !lookup->urgent;
    counters->accesses++;
    counters->l1_hits += path == TIERED_L1;
    counters->l2_hits += path == TIERED_L2;
    counters->expands_urgent += path == TIERED_EXPAND && !background;
    counters->expands_background += background;
}

static void count_time(tiered_t *tiered, tiered_path_t path, sim_time_t took_ps)
{
    nic_histogram_add(&tiered->all, took_ps);
    nic_histogram_add(&tiered->paths[path], took_ps);
}

static void begin_counting(tiered_t *tiered)
{
    tiered->counted_from_ps = tiered->now_ps;
    tiered->recorded_from = tiered->recorded_count;
    (void)nic__tiered_cores(tiered, &tiered->cores_busy_from_ps);
    if (tiered->count_from == 0) {
        return; // there was no warm-up: what came before the first access counts
    }
    memset(&tiered->counters, 0, sizeof(tiered->counters));
    memset(&tiered->at_adaptation, 0, sizeof(tiered->at_adaptation));
    for (uint32_t path = 0; path < TIERED_PATH_COUNT; path++) {
        nic_histogram_clear(&tiered->paths[path]);
    }
    nic_histogram_clear(&tiered->all);
    nic_histogram_clear(&tiered->move_times);
    nic_histogram_clear(&tiered->met);
    nic_server_clear_statistics(&tiered->driver);
    (void)nic__tiered_cores(tiered, &tiered->cores_busy_from_ps);
    tiered->cores_busy_at_adaptation_ps = tiered->cores_busy_from_ps;
    tiered->driver_busy_at_adaptation_ps = 0;
    tiered->cxl.read_bytes = 0;
    tiered->cxl.write_bytes = 0;
    tiered->cxl.busy_ps = 0;
    tiered->cxl_busy_at_adaptation_ps = 0;
}

static void note_access(tiered_t *tiered, uint32_t number)
{
    if (tiered->seen++ == tiered->count_from) {
        begin_counting(tiered);
    }
    if (tiered->config.record) {
        SIM_APPEND(tiered->recorded, tiered->recorded_count, tiered->recorded_capacity, number);
    }
}

static void trace(const tiered_t *tiered, const tiered_token_t *token, tiered_path_t path,
                  sim_time_t took_ps)
{
    const nic_t *const nic = tiered->store.nic;
    if (token->type == NIC_TOKEN_QP && nic_device_traced(nic, NIC_TRACE_CACHE)) {
        const nic_qp_t *const qp = nic_device_find_qp(nic, (uint32_t)token->key);
        nic_device_trace(nic, qp, NIC_TRACE_CACHE, path, took_ps);
    }
}

static void join_batch(tiered_t *tiered, tiered_token_t *token, nic_store_lookup_t *lookup)
{
    const bool first = !token->queued;
    count_path(tiered, token, lookup, first || !nic__tiered_in_l1(token) ? TIERED_L2 : TIERED_L1);
    trace(tiered, token, TIERED_L2, 0);
    if (!lookup->can_wait) {
        const sim_time_t took_ps = nic__tiered_fetch_now(tiered, token);
        lookup->ready_ps = nic__later(lookup->ready_ps, tiered->now_ps + took_ps);
        return;
    }
    if (first) {
        nic__tiered_queue_miss(tiered, token);
    }
    lookup->waits = true;
    nic__tiered_ask(tiered, nic__tiered_number(tiered, token));
}

// Fails queue pairs whose contexts cannot be fetched: an error of the standard's class "local work
// queue catastrophic error", after which a queue pair is in the error state.
static void faults_fired(sim_node_t *node, sim_timer_t *timer)
{
    tiered_t *const tiered = SIM_CONTAINER_OF(timer, tiered_t, fault_timer);
    (void)node;
    tiered->begin(tiered->store.nic);
    for (size_t i = 0; i < tiered->faulted_count; i++) {
        nic_qp_t *const qp = nic_device_find_qp(tiered->store.nic, tiered->faulted[i]);
        if (qp != NULL && nic_qp_state(qp) != NIC_QPS_RESET) {
            nic_qp_to_error(qp);
        }
    }
    tiered->faulted_count = 0;
}

// Notes that the IOMMU refused a context: the queue pair whose work needs it fails.
static void note_fault(tiered_t *tiered, nic_iommu_kind_t kind, uint32_t number)
{
    const nic_t *const nic = tiered->store.nic;
    const uint32_t user = tiered->store.user;
    if (tiered->first_refused[0] == '\0') {
        (void)snprintf(tiered->first_refused, sizeof(tiered->first_refused), "%s:%" PRIu32,
                       nic_iommu_kind_name(kind), number);
    }
    tiered->counters.refused[kind]++;
    if (nic_device_traced(nic, NIC_TRACE_REFUSED)) {
        nic_device_trace(nic, nic_device_find_qp(nic, user), NIC_TRACE_REFUSED, kind, number);
    }
    SIM_APPEND(tiered->faulted, tiered->faulted_count, tiered->faulted_capacity, user);
    if (!sim_timer_armed(&tiered->fault_timer)) {
        sim_timer_arm(tiered->node, &tiered->fault_timer, tiered->node->now_ps);
    }
}

// Answers a lookup whose expand the IOMMU refuses: nothing is fetched.
static void refuse(tiered_t *tiered, tiered_token_t *token, nic_store_lookup_t *lookup)
{
    const uint32_t number = nic__tiered_number(tiered, token);
    const sim_time_t took_ps = tiered->config.l1_latency_ps +
                               nic__tiered_read_directory(tiered, &number, 1) +
                               nic__tiered_mailbox(tiered) + tiered->config.driver_ps;
    count_path(tiered, token, lookup, TIERED_EXPAND);
    trace(tiered, token, TIERED_EXPAND, took_ps);
    lookup->ready_ps = nic__later(lookup->ready_ps, tiered->now_ps + took_ps);
    note_fault(tiered, nic__tiered_kind(token), token->object);
}

// Serves a lookup that does not join a batch at once.
static void answer(tiered_t *tiered, tiered_token_t *token, nic_store_lookup_t *lookup,
                   bool counted)
{
    const bool patient = token->type == NIC_TOKEN_QP && lookup->begins && !lookup->urgent;
    const bool met = counted && token->staging == TIERED_NONE && nic_cell_moving(&token->cell);
    const serving_t serving = serve(tiered, token, lookup, patient);
    const sim_time_t end_ps = tiered->now_ps + serving.took_ps;
    if (serving.gave_up) {
        lookup->ready_ps = nic__later(lookup->ready_ps, end_ps);
        join_batch(tiered, token, lookup);
        return;
    }
    count_path(tiered, token, lookup, serving.path);
    trace(tiered, token, serving.path, serving.took_ps);
    if (counted && !serving.late) {
        count_time(tiered, serving.path, serving.took_ps);
        if (met) {
            nic_histogram_add(&tiered->met, serving.took_ps);
        }
    }
    lookup->ready_ps = nic__later(lookup->ready_ps, end_ps);
    if (serving.path != TIERED_L1 && !serving.late) {
        token->here_ps = nic__later(token->here_ps, end_ps);
    }
}

static void tiered_look_up(nic_store_t *store, nic_store_lookup_t *lookup)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    if (tiered->config.l2_shared && tiered->shared == NULL) {
        nic__tiered_join(tiered);
    }
    nic__tiered_move_time_on(tiered, lookup->at_ps);
    nic__tiered_catch_up(tiered);
    tiered->cxl.own_ps = 0;
    if (lookup->kind == NIC_STORE_WQE) {
        lookup->ready_ps =
            nic__later(lookup->ready_ps, nic__tiered_look_up_wqe(tiered, lookup->key));
        return;
    }
    const nic_token_type_t type = nic__tiered_type_of(lookup->kind);
    uint32_t number = nic__tiered_find(tiered, type, lookup->key);
    if (number == TIERED_NONE) {
        if (type == NIC_TOKEN_QP) {
            return; // no such queue pair: there is nothing to be brought
        }
        number = nic__tiered_make(tiered, type, lookup->key);
    }
    tiered_token_t *const token = &tiered->tokens[number];
    const bool counted = type == NIC_TOKEN_QP && lookup->begins;
    if (counted) {
        note_access(tiered, number);
    }
    if (token->staging == TIERED_NONE && nic__tiered_refused(tiered, token)) {
        refuse(tiered, token, lookup);
        return;
    }
    if (joins_batch(tiered, token, lookup)) {
        join_batch(tiered, token, lookup);
    } else {
        answer(tiered, token, lookup, counted);
    }
    if (counted || type != NIC_TOKEN_QP || !nic__tiered_in_l1(token)) {
        nic__tiered_after_access(tiered, token, counted || type != NIC_TOKEN_QP);
    }
    if (type == NIC_TOKEN_QP) {
        nic__tiered_take_positions(tiered, token);
    }
    if (type == NIC_TOKEN_QP || type == NIC_TOKEN_CQ) {
        nic__tiered_note_write(tiered, token);
    }
    if (counted || type != NIC_TOKEN_QP) {
        nic__tiered_consider(tiered, token);
    }
}

// -- what else is kept: page tables, WQEs that L1 has no room for, Doorbells

static sim_time_t tiered_fetch(nic_store_t *store, nic_store_kind_t kind, uint64_t key,
                               sim_time_t at_ps)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    const bool table = kind == NIC_STORE_TRANSLATION && tiered->table.slots != NULL;
    if (kind == NIC_STORE_TRANSLATION && nic__tiered_refused_line(tiered, key)) {
        note_fault(tiered, NIC_IOMMU_MTT, (uint32_t)(key / NIC_TABLE_LINE_PAGES));
        return at_ps;
    }
    if (!table && (kind != NIC_STORE_WQE || !tiered->has_l2)) {
        return SIM_TIME_NEVER;
    }
    nic__tiered_move_time_on(tiered, at_ps);
    if (table) {
        return nic__tiered_read_table(tiered, key);
    }
    return nic__tiered_read_wqe(tiered);
}

// Returns when the context of a queue pair is on the NIC, as far as that is known.
static sim_time_t tiered_here(nic_store_t *store, nic_store_kind_t kind, uint64_t key,
                              sim_time_t at_ps)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    nic__tiered_move_time_on(tiered, at_ps);
    nic__tiered_catch_up(tiered);
    const uint32_t number = nic__tiered_find(tiered, nic__tiered_type_of(kind), key);
    if (number == TIERED_NONE) {
        return 0;
    }
    const tiered_token_t *const token = &tiered->tokens[number];
    return nic_cell_moving(&token->cell) ? token->here_ps : nic__tiered_here_ps(tiered, token);
}

// Places are taken in turn, so the next one is the first to be free.
static sim_time_t tiered_hold_doorbell(nic_store_t *store, sim_time_t at_ps, sim_time_t done_ps)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    sim_time_t *const free_ps = &tiered->doorbell_free_ps[tiered->next_doorbell];
    tiered->next_doorbell = (tiered->next_doorbell + 1) % tiered->config.doorbells;
    const sim_time_t wait_ps = *free_ps > at_ps ? *free_ps - at_ps : 0;
    tiered->counters.doorbell_waits += wait_ps != 0;
    *free_ps = done_ps + wait_ps;
    return wait_ps;
}

// -- life

#define HANDLE_WAYS 8u

static nic_store_t *tiered_create(const nic_store_place_t *place)
{
    tiered_t *const tiered = sim_alloc(sizeof(*tiered));
    const nic_cache_config_t *const config = place->config;
    tiered->config = *config;
    tiered->store.ops = &nic__store_tiered;
    tiered->store.nic = place->nic;
    tiered->node = place->node;
    tiered->pcie = place->pcie;
    tiered->begin = place->begin;
    tiered->page_bits = (uint32_t)__builtin_ctzll(place->page_bytes);
    tiered->has_l2 = config->l2_bytes != 0;
    tiered->cxl.line = &tiered->cxl.own_line;
    tiered->directory_on_nic = config->directory == NIC_CACHE_DIRECTORY_SRAM;
    tiered->directory_in_cxl = tiered->has_l2 && (config->directory == NIC_CACHE_DIRECTORY_CXL ||
                                                  config->directory == NIC_CACHE_DIRECTORY_AUTO);
    const sim_wide_t work = (sim_wide_t)8 * SIM_PS_PER_S << 20;
    tiered->cxl_byte_time = (uint64_t)((work + config->l2_rate_bps - 1) / config->l2_rate_bps);
    tiered->next_aging_ps = config->aging_ps;
    tiered->next_maintenance_ps = config->maintenance_ps;
    tiered->next_adaptation_ps = config->adaptive ? config->adaptive_interval_ps : SIM_TIME_NEVER;
    tiered->reset_ps = config->reset_ps;
    tiered->free_order = TIERED_NONE;
    tiered->doorbell_free_ps =
        sim_alloc_array(config->doorbells, sizeof(*tiered->doorbell_free_ps));
    sim_timer_init(&tiered->batch_timer, nic__tiered_batch_fired);
    sim_timer_init(&tiered->fault_timer, faults_fired);
    for (uint32_t i = 0; i < SIM_COUNT_OF(tiered->demotions); i++) {
        tiered->demotions[i].tokens = sim_alloc_array(config->move_batch, sizeof(uint32_t));
    }
    tiered->heats = sim_alloc_array(TIERED_HEATS, sizeof(*tiered->heats));
    nic_directory_init(&tiered->directory, config->directory_load);
    if (nic__tiered_by_handle(tiered)) {
        nic_cache_init(&tiered->handle_index, config->handles, HANDLE_WAYS, false, place->seed);
    }
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        nic_l3_init(&tiered->l3[type], (nic_token_type_t)type);
    }
    nic__tiered_parts_init(tiered, place->seed);
    nic__tiered_wqes_init(tiered);
    nic__tiered_shadows_init(tiered, place->seed);
    nic__tiered_table_init(tiered, place->seed);
    nic_add_report(place->nic, "cache", &nic_cache_report, tiered);
    nic_iommu_add_report(place->nic);
    return &tiered->store;
}

static void tiered_destroy(nic_store_t *store)
{
    tiered_t *const tiered = (tiered_t *)(void *)store;
    nic__tiered_shadows_fini(tiered);
    nic__tiered_part_company(tiered);
    nic__tiered_wqes_fini(tiered);
    nic__tiered_parts_fini(tiered);
    nic__tiered_batch_fini(tiered);
    nic__tiered_table_fini(tiered);
    nic__tiered_orders_fini(tiered);
    for (uint32_t path = 0; path < TIERED_PATH_COUNT; path++) {
        nic_histogram_fini(&tiered->paths[path]);
    }
    nic_histogram_fini(&tiered->all);
    nic_histogram_fini(&tiered->move_times);
    nic_histogram_fini(&tiered->met);
    for (uint32_t i = 0; i < SIM_COUNT_OF(tiered->demotions); i++) {
        sim_free(tiered->demotions[i].tokens);
    }
    sim_free(tiered->heats);
    for (size_t number = 0; number < tiered->token_count; number++) {
        if (tiered->tokens[number].live) {
            sim_free(tiered->tokens[number].windows);
        }
    }
    sim_free(tiered->tokens);
    sim_free(tiered->freed);
    nic_directory_fini(&tiered->directory);
    nic_handles_fini(&tiered->handles);
    nic_cache_fini(&tiered->handle_index);
    sim_free(tiered->moves);
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        sim_free(tiered->pools[type].free);
        nic_l3_fini(&tiered->l3[type]);
    }
    SIM_FREE_ALL(tiered->recorded, tiered->faulted, tiered->doorbell_free_ps, tiered);
}

// -- invariants

static const char *wrong_with(const tiered_t *tiered, const tiered_token_t *token, uint32_t number)
{
    const tiered_partition_t *const part = &tiered->parts[token->type == NIC_TOKEN_QP ? 0 : 1];
    const nic_directory_entry_t *const entry = &token->cell.entry;
    if (!nic_cell_check(&token->cell)) {
        return "its state, layer and flags differ";
    }
    if ((entry->layer == NIC_LAYER_L1) != (token->l1_slot != TIERED_NONE) ||
        (entry->layer == NIC_LAYER_L1 && part->held[token->l1_slot] != number)) {
        return "directory and L1 differ";
    }
    if (entry->layer == NIC_LAYER_L2 &&
        part->pages[token->type].owner[entry->token_offset] != number) {
        return "directory and L2 differ";
    }
    if ((token->staging != TIERED_NONE && part->staging[token->staging] != number) ||
        (token->seat != TIERED_NONE &&
         (part->staging[token->seat] != number || token->l1_slot != part->slots + token->seat))) {
        return "directory and staging area differ";
    }
    const bool hot = nic_context_hot_offset((nic_token_type_t)token->type) != UINT32_MAX;
    if (hot && nic__tiered_newest_word(tiered, token) != token->contents) {
        return "a write is lost";
    }
    if (nic__tiered_by_handle(tiered) &&
        nic_handles_find(&tiered->handles, nic__tiered_handle(token)) != number) {
        return "its handle is another token's";
    }
    if (nic_cell_moving(&token->cell) != (token->move != TIERED_NONE)) {
        return "it moves without a move";
    }
    if (entry->layer == NIC_LAYER_L1 &&
        part->entries[token->l1_slot].token_id != nic__tiered_handle(token)) {
        return "its entry in L1 is another token's";
    }
    return NULL;
}

static bool tiered_check(const nic_store_t *store, sim_message_t *message)
{
    const tiered_t *const tiered = (const tiered_t *)(const void *)store;
    uint32_t in_l1[2] = {0, 0};
    uint32_t in_l2[2] = {0, 0};
    for (uint32_t number = 0; number < tiered->token_count; number++) {
        const tiered_token_t *const token = &tiered->tokens[number];
        if (!token->live) {
            continue;
        }
        const char *const wrong = wrong_with(tiered, token, number);
        if (wrong != NULL) {
            (void)sim_fail(message, SIM_ERR_STATE, "token %u: %s", number, wrong);
            return false;
        }
        in_l1[token->type == NIC_TOKEN_QP ? 0 : 1] += token->cell.entry.layer == NIC_LAYER_L1;
        in_l2[token->type == NIC_TOKEN_QP ? 0 : 1] += token->cell.entry.layer == NIC_LAYER_L2;
    }
    if (!nic__tiered_wqes_check(tiered)) {
        (void)sim_fail(message, SIM_ERR_STATE, "the WQEs in L1 do not add up");
        return false;
    }
    for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
        if (!nic_l3_check(&tiered->l3[type], tiered->type_live[type])) {
            (void)sim_fail(message, SIM_ERR_STATE, "pages of type %u in L3 do not add up", type);
            return false;
        }
    }
    if (!nic_directory_check(&tiered->directory)) {
        (void)sim_fail(message, SIM_ERR_STATE, "the directory's buckets do not add up");
        return false;
    }
    for (uint32_t p = 0; p < 2; p++) {
        const tiered_partition_t *const part = &tiered->parts[p];
        uint32_t slots = 0;
        for (uint32_t type = 0; type < NIC_TOKEN_TYPE_COUNT; type++) {
            const nic_pages_t *const pages = &part->pages[type];
            if (pages->slots != 0 && !nic_pages_check(pages)) {
                (void)sim_fail(message, SIM_ERR_STATE, "pages of type %u do not add up", type);
                return false;
            }
            slots += pages->used_slots;
        }
        if (part->slots_used + part->seats_used != in_l1[p] || part->units_used > part->units ||
            part->free_count + part->slots_used + part->wqes != part->slots || slots != in_l2[p] ||
            part->l2_used_bytes > part->l2_bytes) {
            (void)sim_fail(message, SIM_ERR_STATE, "tiers of partition %u do not add up", p);
            return false;
        }
    }
    return true;
}

static bool tiered_asynchronous(const nic_store_t *store)
{
    return ((const tiered_t *)(const void *)store)->config.expand_asynchronous;
}

const nic_store_ops_t nic__store_tiered = {
    .name = "tiered",
    .help = "compressed tokens in SRAM, CXL memory and host memory (nic.cache.*)",
    .kinds =
        1u << NIC_STORE_CONTEXT | 1u << NIC_STORE_CQ | 1u << NIC_STORE_KEY | 1u << NIC_STORE_PD,
    .create = tiered_create,
    .destroy = tiered_destroy,
    .look_up = tiered_look_up,
    .wait = nic__tiered_wait,
    .add = nic__tiered_add,
    .change = nic__tiered_change,
    .remove = nic__tiered_remove,
    .moved = nic__tiered_moved,
    .fetch = tiered_fetch,
    .hold_doorbell = tiered_hold_doorbell,
    .asynchronous = tiered_asynchronous,
    .here = tiered_here,
    .check = tiered_check,
};

bool nic_cache_count_from(nic_t *nic, uint64_t access)
{
    nic_store_t *const store = nic_store_of(nic);
    if (store == NULL || store->ops != &nic__store_tiered) {
        return false;
    }
    ((tiered_t *)(void *)store)->count_from = access;
    return true;
}
