// SPDX-License-Identifier: Apache-2.0
// apps/flows/files/triggers.c - reads the triggers of htsim's connection matrices.
//
//     0->1 id 1 start 0 size 1000 send_done_trigger 7
//     0->2 id 2 trigger 7 size 1000
//     trigger id 7 oneshot
//
// A oneshot starts all its connections at its one activation; a multishot starts one at each
// activation, in the order of the file; a barrier starts all at activation number `count`.
#include <stdlib.h>
#include <string.h>

#include "apps/flows/files/reader.h"

#define ID_MAX (UINT64_MAX / 4)

static sim_err_t need_id(app__flow_reader_t *reader, uint64_t *id, sim_word_t *word)
{
    if (!sim_words_next_in_line(&reader->words, word)) {
        return sim_word_fail(&reader->words, word, reader->message, SIM_ERR_INVALID,
                             "a trigger without an id, expected a number from 1");
    }
    return sim_word_count(&reader->words, word, "the id of a trigger", 1, ID_MAX, id,
                          reader->message);
}

sim_err_t app__trigger_refer(app__flow_reader_t *reader, app__trigger_use_t use)
{
    app__trigger_reference_t reference = {.row = reader->file->count, .use = use};
    const sim_err_t error = need_id(reader, &reference.id, &reference.word);
    if (error == SIM_OK) {
        SIM_APPEND(reader->references, reader->reference_count, reader->reference_capacity,
                   reference);
    }
    return error;
}

static bool take_kind(const sim_word_t *word, app_flow_trigger_t *trigger)
{
    static const char *const names[] = {
        [APP_TRIGGER_ONESHOT] = "oneshot",
        [APP_TRIGGER_MULTISHOT] = "multishot",
        [APP_TRIGGER_BARRIER] = "barrier",
    };
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        if (sim_word_is(word, names[i])) {
            trigger->kind = (app_trigger_kind_t)i;
            return true;
        }
    }
    return false;
}

sim_err_t app__trigger_read(app__flow_reader_t *reader, const sim_word_t *begin)
{
    app_flow_trigger_t trigger = {.line = begin->line, .column = begin->column};
    bool has_kind = false;
    sim_word_t word;
    sim_word_shown_t shown;
    sim_err_t error = SIM_OK;
    while (error == SIM_OK && sim_words_next_in_line(&reader->words, &word)) {
        if (sim_word_is(&word, "id")) {
            error = need_id(reader, &trigger.id, &word);
        } else if (sim_word_is(&word, "count")) {
            error = sim_words_need_count(&reader->words, "the count of a barrier", 1, UINT32_MAX,
                                         &trigger.count, &word, reader->message);
        } else if (!has_kind && take_kind(&word, &trigger)) {
            has_kind = true;
        } else {
            error = sim_word_fail(&reader->words, &word, reader->message, SIM_ERR_UNKNOWN,
                                  "'%s' in a trigger, expected id, count and one of oneshot, "
                                  "multishot, barrier",
                                  sim_word_show(&word, &shown));
        }
    }
    const bool barrier = trigger.kind == APP_TRIGGER_BARRIER;
    if (error == SIM_OK && (trigger.id == 0 || !has_kind || (barrier && trigger.count == 0))) {
        error = sim_word_fail(&reader->words, begin, reader->message, SIM_ERR_INVALID,
                              "a trigger without %s, expected 'trigger id 1 oneshot' or 'trigger "
                              "id 1 barrier count 2'",
                              trigger.id == 0 ? "id"
                              : has_kind      ? "count"
                                              : "a kind");
    }
    trigger.count = barrier ? trigger.count : 1;
    if (error == SIM_OK) {
        app_flow_file_t *const file = reader->file;
        SIM_APPEND(file->triggers, file->trigger_count, file->trigger_capacity, trigger);
    }
    return error;
}

// -- after the whole file is read

static int compare_triggers(const void *a, const void *b)
{
    const app_flow_trigger_t *const x = a;
    const app_flow_trigger_t *const y = b;
    return 2 * SIM_COMPARE(x->id, y->id) + SIM_COMPARE(x->line, y->line);
}

static sim_err_t sort_triggers(const app__flow_reader_t *reader)
{
    app_flow_file_t *const file = reader->file;
    if (file->trigger_count == 0) {
        return SIM_OK;
    }
    qsort(file->triggers, file->trigger_count, sizeof(*file->triggers), compare_triggers);
    for (size_t i = 1; i < file->trigger_count; i++) {
        const app_flow_trigger_t *const trigger = &file->triggers[i];
        if (trigger->id == trigger[-1].id) {
            const sim_word_t at = {"", 0, trigger->line, trigger->column};
            return sim_word_fail(&reader->words, &at, reader->message, SIM_ERR_EXISTS,
                                 "trigger %" PRIu64
                                 " is already declared in line %u, expected one declaration",
                                 trigger->id, trigger[-1].line);
        }
    }
    return SIM_OK;
}

// Returns the number, from 1, of the trigger with an id; 0: there is none.
static uint32_t find_trigger(const app_flow_file_t *file, uint64_t id)
{
    size_t low = 0;
    size_t high = file->trigger_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (file->triggers[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < file->trigger_count && file->triggers[low].id == id ? (uint32_t)low + 1 : 0;
}

// Checks that connections activate a oneshot once and a barrier `count` times. More is an error;
// fewer is a warning, since its connections never start.
static sim_err_t check_activations(app__flow_reader_t *reader, const uint64_t *activations)
{
    for (size_t i = 0; i < reader->file->trigger_count; i++) {
        const app_flow_trigger_t *const trigger = &reader->file->triggers[i];
        const sim_word_t at = {"", 0, trigger->line, trigger->column};
        if (trigger->kind != APP_TRIGGER_MULTISHOT && activations[i] > trigger->count) {
            return sim_word_fail(&reader->words, &at, reader->message, SIM_ERR_INVALID,
                                 "%" PRIu64 " connections activate trigger %" PRIu64
                                 ", expected %" PRIu64,
                                 activations[i], trigger->id, trigger->count);
        }
        if (activations[i] < trigger->count) {
            sim_word_note(&reader->words, &at, reader->note, reader->ctx,
                          "%" PRIu64 " connections activate trigger %" PRIu64
                          ", which needs %" PRIu64 ": its connections never start",
                          activations[i], trigger->id, trigger->count);
        }
    }
    return SIM_OK;
}

sim_err_t app__trigger_resolve(app__flow_reader_t *reader)
{
    sim_err_t error = sort_triggers(reader);
    app_flow_file_t *const file = reader->file;
    uint64_t *const activations = sim_alloc_array(file->trigger_count + 1, sizeof(*activations));
    for (size_t i = 0; i < reader->reference_count && error == SIM_OK; i++) {
        const app__trigger_reference_t *const reference = &reader->references[i];
        const uint32_t number = find_trigger(file, reference->id);
        if (number == 0) {
            error =
                sim_word_fail(&reader->words, &reference->word, reader->message, SIM_ERR_UNKNOWN,
                              "there is no trigger %" PRIu64
                              ", expected a row such as 'trigger id %" PRIu64 " oneshot'",
                              reference->id, reference->id);
            break;
        }
        app_flow_chain_t *const chain = &file->rows[reference->row].chain;
        *(reference->use == APP__STARTED_BY ? &chain->started_by
          : reference->use == APP__SENT     ? &chain->sent
                                            : &chain->received) = number;
        activations[number - 1] += reference->use != APP__STARTED_BY;
    }
    if (error == SIM_OK) {
        error = check_activations(reader, activations);
    }
    size_t waiting = 0;
    while (waiting < file->count && file->rows[waiting].chain.started_by != 0) {
        waiting++;
    }
    if (error == SIM_OK && waiting > 0 && waiting == file->count) {
        const sim_word_t at = {"", 0, file->rows[0].line, file->rows[0].column};
        error = sim_word_fail(&reader->words, &at, reader->message, SIM_ERR_INVALID,
                              "all connections wait for triggers, expected at least one with a "
                              "start");
    }
    sim_free(activations);
    return error;
}
