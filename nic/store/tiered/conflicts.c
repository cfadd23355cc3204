// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/conflicts.c - who changes a token when: swaps of units, rewrites of the driver
// and commits of moves, and who of them has to try again (docs/models/tiered-cache.md).
//
// A change reads a version and swaps it some time later, so it has a window. Windows of one token
// never overlap: of two that would, the one that was booked first succeeds, and the other one tries
// again. A read is valid if no rewrite and no move ends within it.
#include "nic/store/tiered/cost.h"
#include "nic/store/tiered/move.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/tiered.h"

// Forgets the windows that nobody can meet any more.
static void prune(const tiered_t *tiered, tiered_token_t *token)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < token->window_count; i++) {
        if (token->windows[i].end_ps > tiered->now_ps) {
            token->windows[kept++] = token->windows[i];
        }
    }
    token->window_count = kept;
}

static bool collides(const tiered_token_t *token, sim_time_t begin_ps, sim_time_t end_ps)
{
    for (uint32_t i = 0; i < token->window_count; i++) {
        if (token->windows[i].begin_ps < end_ps && token->windows[i].end_ps > begin_ps) {
            return true;
        }
    }
    return false;
}

static sim_time_t last_end_ps(const tiered_token_t *token)
{
    sim_time_t last_ps = 0;
    for (uint32_t i = 0; i < token->window_count; i++) {
        last_ps = nic__later(last_ps, token->windows[i].end_ps);
    }
    return last_ps;
}

static void add(tiered_token_t *token, sim_time_t begin_ps, sim_time_t end_ps, bool rewrites)
{
    if (token->window_count == token->window_capacity) {
        token->window_capacity = token->window_capacity == 0 ? 4 : token->window_capacity * 2;
        token->windows =
            sim_realloc_array(token->windows, token->window_capacity, sizeof(*token->windows));
    }
    token->windows[token->window_count++] = (tiered_change_t){begin_ps, end_ps, rewrites};
}

sim_time_t nic__tiered_swap(tiered_t *tiered, tiered_token_t *token, sim_time_t after_ps,
                            bool *gave_up)
{
    *gave_up = false;
    const sim_time_t cas_ps = tiered->config.cas_ps;
    const sim_time_t begin_ps = tiered->now_ps + after_ps;
    sim_time_t at_ps = begin_ps;
    if (cas_ps == 0) {
        return 0;
    }
    prune(tiered, token);
    for (uint64_t tried = 0; collides(token, at_ps, at_ps + cas_ps); tried++) {
        tiered->counters.cas_failures++;
        at_ps += cas_ps;
        if (tried == tiered->config.cas_retries) {
            if (tiered->config.cas_fallback == NIC_CACHE_PATH && nic__tiered_may_move(token)) {
                tiered->counters.cas_fallbacks++;
                *gave_up = true;
                return at_ps - begin_ps;
            }
            // The access takes the entry's lock: it comes after all others, and swaps where the
            // directory can see it.
            tiered->counters.cas_fallbacks++;
            at_ps = nic__later(at_ps, last_end_ps(token));
            const uint32_t number = nic__tiered_number(tiered, token);
            const sim_time_t end_ps =
                at_ps + cas_ps + nic__tiered_read_directory(tiered, &number, 1);
            add(token, at_ps, end_ps, false);
            return end_ps - begin_ps;
        }
        tiered->counters.cas_retries++;
    }
    add(token, at_ps, at_ps + cas_ps, false);
    return at_ps + cas_ps - begin_ps;
}

void nic__tiered_rewrite_takes(tiered_t *tiered, tiered_token_t *token, sim_time_t took_ps)
{
    sim_time_t at_ps = tiered->now_ps;
    prune(tiered, token);
    while (collides(token, at_ps, at_ps + took_ps)) {
        tiered->counters.driver_retries++;
        at_ps += took_ps;
    }
    add(token, at_ps, at_ps + took_ps, true);
}

nic_cell_view_t nic__tiered_view_at(const tiered_t *tiered, const tiered_token_t *token,
                                    sim_time_t time_ps)
{
    const nic_cell_t *const cell = &token->cell;
    nic_cell_view_t view = {.version = cell->entry.version, .layer = cell->entry.layer};
    for (uint32_t i = 0; i < token->window_count; i++) {
        view.version -= token->windows[i].rewrites && token->windows[i].end_ps > time_ps;
    }
    if (nic_cell_moving(cell) && tiered->moves[token->move].end_ps <= time_ps) {
        view.version++;
        view.layer = (uint8_t)nic_move_target(cell);
    }
    return view;
}
