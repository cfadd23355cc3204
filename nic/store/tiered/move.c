// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/move.c - who moves where, and when: after an access, and by the
// maintenance worker (docs/models/tiered-cache.md).
//
// A move takes time: the token's state says that it moves, accesses meet it (lookup.c), and its
// layer changes when the data are there. Policies that take everything in have no moves of this
// kind: their tokens change places in the access that misses, and only their data are late.
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/batch.h"
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/driver/orders.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/rules/adapt.h"
#include "nic/store/tiered/rules/cluster.h"
#include "nic/store/tiered/tiered.h"
#include "nic/store/tiered/tiers/place.h"

// -- the heap of moves, the one that ends first on top

static bool sooner(const tiered_move_t *a, const tiered_move_t *b)
{
    return a->end_ps != b->end_ps ? a->end_ps < b->end_ps : a->token < b->token;
}

static void set_move(tiered_t *tiered, size_t place, tiered_move_t move)
{
    tiered->moves[place] = move;
    tiered->tokens[move.token].move = (uint32_t)place;
}

static void sift(tiered_t *tiered, size_t place)
{
    const tiered_move_t move = tiered->moves[place];
    while (place > 0 && sooner(&move, &tiered->moves[(place - 1) / 2])) {
        set_move(tiered, place, tiered->moves[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * place + 1;
        if (child + 1 < tiered->move_count &&
            sooner(&tiered->moves[child + 1], &tiered->moves[child])) {
            child++;
        }
        if (child >= tiered->move_count || !sooner(&tiered->moves[child], &move)) {
            break;
        }
        set_move(tiered, place, tiered->moves[child]);
        place = child;
    }
    set_move(tiered, place, move);
}

static tiered_move_t take_move(tiered_t *tiered, size_t place)
{
    const tiered_move_t move = tiered->moves[place];
    tiered->tokens[move.token].move = TIERED_NONE;
    const tiered_move_t last = tiered->moves[--tiered->move_count];
    if (place < tiered->move_count) {
        set_move(tiered, place, last);
        sift(tiered, place);
    }
    return move;
}

void nic__tiered_forget_move(tiered_t *tiered, tiered_token_t *token)
{
    if (token->move != TIERED_NONE) {
        nic__tiered_forget_order(tiered, token);
        (void)take_move(tiered, token->move);
        nic_move_give_up(&token->cell);
        nic__tiered_write_pending(tiered, token);
    }
}

void nic__tiered_end_move_at(tiered_t *tiered, const tiered_token_t *token, sim_time_t end_ps)
{
    SIM_CHECK(token->move != TIERED_NONE);
    tiered->moves[token->move].end_ps = end_ps + tiered->config.move_work_ps;
    sift(tiered, token->move);
}

// -- moves

void nic__tiered_begin_move(tiered_t *tiered, tiered_token_t *token, uint32_t to,
                            sim_time_t took_ps)
{
    if (token->staging != TIERED_NONE) {
        nic__tiered_unstage(tiered, token); // the copy that moves is the newest
    }
    const bool began = nic_move_begin(&token->cell, to);
    SIM_CHECK(began);
    const nic_copies_t copies = nic__tiered_copies(tiered, token);
    nic_move_take(&token->cell, &copies);
    SIM_GROW(tiered->moves, tiered->move_count, &tiered->move_capacity);
    const size_t place = tiered->move_count++;
    set_move(tiered, place,
             (tiered_move_t){
                 .begin_ps = tiered->now_ps,
                 .end_ps = took_ps == SIM_TIME_NEVER
                               ? SIM_TIME_NEVER
                               : tiered->now_ps + took_ps + tiered->config.move_work_ps,
                 .token = nic__tiered_number(tiered, token),
             });
    sift(tiered, place);
}

static void end_move(tiered_t *tiered, const tiered_move_t *move)
{
    tiered_token_t *const token = &tiered->tokens[move->token];
    nic_cell_t *const cell = &token->cell;
    const uint32_t to = nic_move_target(cell);
    if (to == NIC_LAYER_L1) {
        nic__tiered_set_uses(tiered, token,
                             nic_window_count(&token->window, tiered->now_ps,
                                              tiered->config.window_ps / NIC_WINDOW_PARTS));
    }
    nic__tiered_move_now(tiered, token, to, move->end_ps - move->begin_ps);
    nic__tiered_write_pending(tiered, token);
}

bool nic__tiered_may_move(const tiered_token_t *token)
{
    return !nic_cell_moving(&token->cell) && !token->queued && token->order == TIERED_NONE &&
           (token->cell.entry.flags & NIC_DIRECTORY_PINNED) == 0;
}

bool nic__tiered_is_hotter(tiered_t *tiered, const tiered_token_t *token, uint64_t count)
{
    const tiered_partition_t *const part = nic__tiered_part(tiered, token);
    if (nic__tiered_l1_has_room(tiered, token)) {
        return true;
    }
    const uint32_t slot = part->policy->victim(part->ranks);
    return slot != NIC_POLICY_NONE && part->entries[slot].freq < count;
}

// Returns false if every token of a full L1 is used more often.
static bool promote_to_l1(tiered_t *tiered, tiered_token_t *token, uint64_t count)
{
    if (!nic__tiered_is_hotter(tiered, token, count)) {
        tiered->counters.refused_moves++;
        return false;
    }
    const bool near = token->cell.entry.layer == NIC_LAYER_L2;
    tiered->counters.fills += !near;
    if (near) {
        nic__tiered_promote_page(tiered, token);
        return true;
    }
    const uint32_t number = nic__tiered_number(tiered, token);
    nic__tiered_begin_move(tiered, token, NIC_LAYER_L1, SIM_TIME_NEVER);
    nic__tiered_order(tiered, TIERED_ORDER_L1, &number, 1, nic__tiered_mailbox(tiered), false);
    return true;
}

static bool l2_is_tight(const tiered_t *tiered, const tiered_partition_t *part)
{
    const sim_ratio_t pressure = tiered->config.l2_pressure;
    return (sim_wide_t)nic__tiered_l2_used(tiered, part) * pressure.den >=
           (sim_wide_t)part->l2_bytes * pressure.num;
}

uint64_t nic__tiered_count(tiered_t *tiered, tiered_token_t *token)
{
    return nic_window_count(&token->window, tiered->now_ps,
                            tiered->config.window_ps / NIC_WINDOW_PARTS);
}

static void promote(tiered_t *tiered, tiered_token_t *token)
{
    const uint64_t count = nic__tiered_count(tiered, token);
    const bool seated = token->seat != TIERED_NONE;
    if (!nic__tiered_may_move(token) || nic__tiered_denied(tiered, token) ||
        (token->cell.entry.layer == NIC_LAYER_L1 && !seated)) {
        return;
    }
    const tiered_partition_t *const part = nic__tiered_part(tiered, token);
    if (seated) {
        if (count >= part->promote_l1 && nic__tiered_is_hotter(tiered, token, count)) {
            nic__tiered_settle(tiered, token);
        } else if (count >= part->promote_l2 && token->home == NIC_LAYER_L3) {
            token->home = NIC_LAYER_L2;
            nic__tiered_promote_to_l2(tiered, token);
        }
        return;
    }
    if (count >= part->promote_l1 && promote_to_l1(tiered, token, count)) {
        return;
    }
    if (count >= part->promote_l2 && token->cell.entry.layer == NIC_LAYER_L3) {
        nic__tiered_promote_to_l2(tiered, token);
    }
}

// -- after an access

void nic__tiered_use_prefetched(tiered_t *tiered, tiered_token_t *token)
{
    tiered->counters.prefetches_used += token->prefetched == TIERED_NEIGHBOUR;
    tiered->counters.prestaged_used += token->prefetched == TIERED_PRESTAGED;
    token->prefetched = TIERED_ASKED_FOR;
}

static void count_access(tiered_t *tiered, tiered_token_t *token)
{
    const uint64_t uses = nic__tiered_uses(tiered, token) + 1;
    nic__tiered_set_uses(tiered, token, uses);
    nic__tiered_set_last_access(tiered, token);
    if (++tiered->sampled >= tiered->config.sample_every) {
        tiered->sampled = 0;
        nic_window_add(&token->window, tiered->now_ps, tiered->config.window_ps / NIC_WINDOW_PARTS,
                       (uint32_t)tiered->config.sample_every);
    }
    if (nic__tiered_part(tiered, token)->shadows != NULL) {
        nic_shadows_use(nic__tiered_part(tiered, token)->shadows, nic__tiered_number(tiered, token),
                        nic__tiered_count(tiered, token));
    }
    if (token->cell.entry.layer == NIC_LAYER_L1) {
        if (!nic__tiered_ranked(token)) {
            return;
        }
        const tiered_partition_t *const part = nic__tiered_part(tiered, token);
        part->policy->use(part->ranks, token->l1_slot, uses);
    } else if (token->cell.entry.layer == NIC_LAYER_L2) {
        nic__tiered_use_l2(tiered, token);
    }
    if (token->cell.entry.layer == NIC_LAYER_L2) {
        nic__tiered_use_prefetched(tiered, token);
    }
}

void nic__tiered_after_access(tiered_t *tiered, tiered_token_t *token, bool counted)
{
    if (counted) {
        count_access(tiered, token);
    }
    if (token->cell.entry.layer == NIC_LAYER_L1) {
        return;
    }
    if (nic__tiered_part(tiered, token)->policy->installs_on_miss) {
        if (nic_cell_moving(&token->cell)) {
            nic__tiered_forget_move(tiered, token); // to L2: it was prefetched or staged
        }
        const sim_time_t here_ps = nic__tiered_here_ps(tiered, token);
        const sim_time_t took_ps = here_ps > tiered->now_ps ? here_ps - tiered->now_ps : 0;
        nic__tiered_move_now(tiered, token, NIC_LAYER_L1, took_ps);
        return;
    }
    if (counted && nic__tiered_part(tiered, token)->shadows != NULL) {
        nic__tiered_place(tiered, token);
    }
    if (!token->queued && token->cell.entry.layer != NIC_LAYER_L1) {
        nic__tiered_stage(tiered, token, NULL);
    }
}

void nic__tiered_consider(tiered_t *tiered, tiered_token_t *token)
{
    const tiered_partition_t *const part = nic__tiered_part(tiered, token);
    if (!part->policy->installs_on_miss && part->shadows == NULL) {
        promote(tiered, token);
    }
}

// -- the maintenance worker

static void maintain_token(tiered_t *tiered, tiered_token_t *token)
{
    if (!nic__tiered_may_move(token)) {
        return;
    }
    const nic_cache_config_t *const config = &tiered->config;
    const sim_time_t idle_ps = tiered->now_ps - nic__tiered_last_access(tiered, token);
    const uint32_t layer = token->cell.entry.layer;
    if (layer == NIC_LAYER_L1 && idle_ps > config->demote_l1_ps) {
        const uint32_t to = nic__tiered_has_l2(tiered, token) ? NIC_LAYER_L2 : NIC_LAYER_L3;
        nic__tiered_demote(tiered, token, to);
    } else if (layer == NIC_LAYER_L2 && idle_ps > config->demote_l2_ps &&
               l2_is_tight(tiered, nic__tiered_part(tiered, token))) {
        nic__tiered_demote(tiered, token, NIC_LAYER_L3);
    } else if (nic__tiered_part(tiered, token)->shadows == NULL) {
        promote(tiered, token);
    }
}

static void maintain(tiered_t *tiered)
{
    tiered->counters.maintenance_runs++;
    for (uint64_t i = 0; i < tiered->config.maintenance_tokens && i < tiered->token_count; i++) {
        tiered->hand = tiered->hand + 1 < tiered->token_count ? tiered->hand + 1 : 0;
        tiered_token_t *const token = &tiered->tokens[tiered->hand];
        if (token->live && !nic__tiered_part(tiered, token)->policy->installs_on_miss) {
            maintain_token(tiered, token);
        }
    }
    for (uint32_t i = 0; i < SIM_COUNT_OF(tiered->demotions); i++) {
        nic__tiered_demote_gathered(tiered, &tiered->demotions[i]);
    }
}

static void age(tiered_t *tiered)
{
    for (uint32_t p = 0; p < 2; p++) {
        const tiered_partition_t *const part = &tiered->parts[p];
        if (part->shadows != NULL) {
            nic_shadows_age(part->shadows);
        }
        if (part->policy->age == NULL && part->shadows == NULL) {
            continue;
        }
        tiered->counters.agings++;
        for (uint32_t slot = 0; slot < part->slots + part->seats; slot++) {
            if (part->held[slot] != TIERED_NONE) {
                part->entries[slot].freq >>= 1;
            }
        }
        if (part->policy->age != NULL) {
            part->policy->age(part->ranks);
        }
    }
}

// -- what is due, in the order of time

void nic__tiered_catch_up(tiered_t *tiered)
{
    const sim_time_t until_ps = tiered->now_ps;
    const nic_cache_config_t *const config = &tiered->config;
    for (;;) {
        const sim_time_t move_ps =
            tiered->move_count != 0 ? tiered->moves[0].end_ps : SIM_TIME_NEVER;
        sim_time_t due_ps = move_ps;
        const sim_time_t driver_ps = nic_server_next_ps(&tiered->driver);
        const sim_time_t others_ps[] = {driver_ps, tiered->reset_ps, tiered->next_aging_ps,
                                        tiered->next_maintenance_ps, tiered->next_adaptation_ps};
        for (uint32_t i = 0; i < SIM_COUNT_OF(others_ps); i++) {
            due_ps = SIM_MIN(others_ps[i], due_ps);
        }
        if (due_ps > until_ps) {
            break;
        }
        tiered->now_ps = due_ps;
        if (due_ps == move_ps) {
            const tiered_move_t move = take_move(tiered, 0);
            end_move(tiered, &move);
        } else if (due_ps == driver_ps) {
            nic__tiered_drive(tiered);
        } else if (due_ps == tiered->reset_ps) {
            tiered->reset_ps = SIM_TIME_NEVER;
            nic__tiered_reset(tiered);
        } else if (due_ps == tiered->next_aging_ps) {
            tiered->next_aging_ps += config->aging_ps;
            age(tiered);
        } else if (due_ps == tiered->next_maintenance_ps) {
            tiered->next_maintenance_ps += config->maintenance_ps;
            maintain(tiered);
        } else {
            tiered->next_adaptation_ps += config->adaptive_interval_ps;
            nic__tiered_adapt(tiered);
        }
    }
    tiered->now_ps = until_ps;
}
