// SPDX-License-Identifier: Apache-2.0
// cli/what_if/effects.c - reads what came of a change, and compares it with the run without it.
#include "cli/what_if/effects.h"

#include "results/runner.h"

#include <stdlib.h>
#include <string.h>

#define MORE 1.1 // times the value of the run without changes: what is below is no effect

static double number_at(const json_t *summary, const char *path)
{
    return json_number_value(results_json_at(summary, path));
}

static uint64_t count_at(const json_t *summary, const char *path)
{
    const json_int_t value = json_integer_value(results_json_at(summary, path));
    return value > 0 ? (uint64_t)value : 0;
}

// Returns whether a finding of explain is only the change itself.
static bool is_change(const json_t *cause, const cli_change_t *change)
{
    const char *const place = json_string_value(json_object_get(cause, "place"));
    return change != NULL && change->part != NULL && place != NULL &&
           strcmp(place, change->part) == 0;
}

// Takes victims, deadlocks and the first cause from what explain says.
static void take_causes(cli_effect_t *effect, const cli_change_t *change, const json_t *explained)
{
    size_t i;
    const json_t *cause;
    json_array_foreach(json_object_get(explained, "causes"), i, cause)
    {
        const char *const kind = json_string_value(json_object_get(cause, "kind"));
        const char *const place = json_string_value(json_object_get(cause, "place"));
        effect->victims += json_array_size(json_object_get(cause, "victims"));
        effect->deadlock = effect->deadlock || (kind != NULL && strcmp(kind, "deadlock") == 0);
        if (effect->cause == NULL && kind != NULL && place != NULL && !is_change(cause, change) &&
            !json_is_true(json_object_get(cause, "minor"))) {
            effect->cause = sim_format("%s at %s", kind, place);
        }
    }
}

void cli_effect_take(cli_effect_t *effect, const cli_change_t *change, const json_t *summary,
                     const json_t *explained)
{
    const char *const ended = json_string_value(json_object_get(summary, "ended"));
    const uint64_t flows = count_at(summary, "flows.count");
    cli_effect_fini(effect);
    *effect = (cli_effect_t){
        .ended = sim_strdup(ended != NULL ? ended : "?"),
        .unfinished = flows - SIM_MIN(flows, count_at(summary, "flows.completed")),
        .drops = count_at(summary, "packets.dropped"),
        .lossless_drops = count_at(summary, "drops.headroom-full"),
        .pauses = count_at(summary, "pfc.pauses"),
        .paused_ps = count_at(summary, "pfc.paused_ps"),
        .worst_us = number_at(summary, "flows.fct_us.max"),
    };
    take_causes(effect, change, explained);
}

json_t *cli_effect_json(const cli_effect_t *effect)
{
    json_t *const json = json_pack(
        "{s:s*, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:b}", "ended", effect->ended, "unfinished",
        (json_int_t)effect->unfinished, "drops", (json_int_t)effect->drops, "lossless_drops",
        (json_int_t)effect->lossless_drops, "pauses", (json_int_t)effect->pauses, "paused_ps",
        (json_int_t)effect->paused_ps, "victims", (json_int_t)effect->victims, "worst_fct_us",
        effect->worst_us, "deadlock", (int)effect->deadlock);
    if (effect->cause != NULL) {
        json_object_set_new(json, "cause", json_string(effect->cause));
    }
    if (effect->failure != NULL) {
        json_object_set_new(json, "failure", json_string(effect->failure));
    }
    return json;
}

static char *copy_text(const json_t *json, const char *key)
{
    const char *const text = json_string_value(json_object_get(json, key));
    return text != NULL ? sim_strdup(text) : NULL;
}

bool cli_effect_read(cli_effect_t *effect, const json_t *json)
{
    cli_effect_fini(effect);
    *effect = (cli_effect_t){
        .ended = copy_text(json, "ended"),
        .cause = copy_text(json, "cause"),
        .failure = copy_text(json, "failure"),
        .deadlock = json_is_true(json_object_get(json, "deadlock")),
        .unfinished = count_at(json, "unfinished"),
        .drops = count_at(json, "drops"),
        .lossless_drops = count_at(json, "lossless_drops"),
        .pauses = count_at(json, "pauses"),
        .paused_ps = count_at(json, "paused_ps"),
        .victims = count_at(json, "victims"),
        .worst_us = number_at(json, "worst_fct_us"),
    };
    return cli_effect_known(effect);
}

bool cli_effect_known(const cli_effect_t *effect)
{
    return effect->ended != NULL || effect->failure != NULL;
}

void cli_effect_fini(cli_effect_t *effect)
{
    SIM_FREE_ALL(effect->ended, effect->cause, effect->failure);
}

static unsigned breaks_of(const cli_effect_t *base, const cli_effect_t *effect)
{
    const bool stalled = effect->ended != NULL && strcmp(effect->ended, "stalled") == 0 &&
                         strcmp(base->ended, "stalled") != 0;
    unsigned breaks = 0;
    if (effect->failure != NULL || effect->ended == NULL) {
        return CLI_BREAK_RUN;
    }
    breaks |= effect->worst_us > MORE * base->worst_us ? CLI_BREAK_SLOW : 0;
    breaks |= (double)effect->paused_ps > MORE * (double)base->paused_ps ? CLI_BREAK_PAUSES : 0;
    breaks |= effect->drops > base->drops ? CLI_BREAK_DROPS : 0;
    breaks |= effect->victims > base->victims ? CLI_BREAK_VICTIMS : 0;
    breaks |= effect->lossless_drops > base->lossless_drops ? CLI_BREAK_LOSSLESS : 0;
    breaks |= effect->unfinished > base->unfinished ? CLI_BREAK_UNFINISHED : 0;
    breaks |= stalled && !effect->deadlock ? CLI_BREAK_STALL : 0;
    breaks |= effect->deadlock && !base->deadlock ? CLI_BREAK_DEADLOCK : 0;
    return breaks;
}

// Returns -1 if a is larger and comes first, 1 if b is.
static int larger(double a, double b)
{
    return (a < b) - (a > b);
}

static int worst_first(const void *a, const void *b)
{
    const cli_what_if_row_t *const x = a;
    const cli_what_if_row_t *const y = b;
    const unsigned grave = ~(unsigned)(CLI_BREAK_SLOW | CLI_BREAK_PAUSES | CLI_BREAK_DROPS);
    const int orders[] = {
        larger(x->effect.breaks != 0, y->effect.breaks != 0),
        larger(x->effect.breaks & grave, y->effect.breaks & grave),
        larger((double)x->effect.unfinished, (double)y->effect.unfinished),
        larger((double)x->effect.lossless_drops, (double)y->effect.lossless_drops),
        larger((double)x->effect.victims, (double)y->effect.victims),
        larger(x->effect.worst_us, y->effect.worst_us),
        larger((double)x->effect.paused_ps, (double)y->effect.paused_ps),
        larger((double)x->effect.drops, (double)y->effect.drops),
        (x->change > y->change) - (x->change < y->change),
    };
    for (size_t i = 0; i < SIM_COUNT_OF(orders); i++) {
        if (orders[i] != 0) {
            return orders[i];
        }
    }
    return 0;
}

void cli_what_if_judge(cli_what_if_t *what_if)
{
    for (size_t i = 0; i < what_if->row_count; i++) {
        what_if->rows[i].effect.breaks = breaks_of(&what_if->base, &what_if->rows[i].effect);
    }
    if (what_if->row_count > 0) {
        qsort(what_if->rows, what_if->row_count, sizeof(*what_if->rows), worst_first);
    }
}
