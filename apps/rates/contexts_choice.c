// SPDX-License-Identifier: Apache-2.0
// apps/rates/contexts_choice.c - chooses the queue pair of each operation
// (docs/models/tiered-cache.md).
#include "apps/rates/contexts_internal.h"

#include "kernel/words.h"

// Reads a file of one number per line; lines without a word are skipped.
static sim_err_t read_replay(const char *text, size_t size, app__choice_config_t *choice,
                             sim_message_t *message)
{
    const app__contexts_config_t *const config = choice->config;
    size_t capacity = 0;
    sim_words_t words;
    sim_words_init(&words, config->replay_file, text, size);
    do {
        sim_word_t word;
        uint64_t number = 0;
        if (!sim_words_next_in_line(&words, &word)) {
            continue;
        }
        const sim_err_t error = sim_word_count(&words, &word, "the number of a queue pair", 0,
                                               config->tokens - 1, &number, message);
        if (error != SIM_OK) {
            return error;
        }
        SIM_APPEND(choice->replay, choice->replay_count, capacity, (uint32_t)number);
        if (sim_words_next_in_line(&words, &word)) {
            return sim_word_fail(&words, &word, message, SIM_ERR_INVALID,
                                 "a second number in a line, expected one queue pair per line");
        }
    } while (sim_words_next_line(&words));
    if (choice->replay_count == 0) {
        return sim_fail_in(message, SIM_ERR_INVALID, config->replay_file, 1, 1,
                           "the file has no number, expected the number of a queue pair in each "
                           "line");
    }
    return SIM_OK;
}

sim_err_t app__choice_prepare(const app_context_t *context, const app__contexts_config_t *config,
                              app__choice_config_t *choice, sim_message_t *message)
{
    *choice = (app__choice_config_t){.config = config};
    if (config->pattern != APP__REPLAY) {
        return SIM_OK;
    }
    if (config->replay_file[0] == '\0') {
        return sim_fail_about(message, SIM_ERR_INVALID, "replay-file",
                              ": not given, expected a file, which pattern replay needs");
    }
    char *text = NULL;
    size_t size = 0;
    sim_err_t error = context->read_file(config->replay_file, &text, &size, message, context->ctx);
    if (error != SIM_OK) {
        const sim_message_t why = *message;
        return sim_fail_about(message, error, "replay-file", ": %s", why.text);
    }
    error = read_replay(text, size, choice, message);
    sim_free(text);
    if (error != SIM_OK) {
        app__choice_config_fini(choice);
    }
    return error;
}

void app__choice_config_fini(app__choice_config_t *choice)
{
    sim_free(choice->replay);
    choice->replay = NULL;
}

void app__choice_init(app__choice_t *choice, const app__choice_config_t *config,
                      const app_context_t *context)
{
    const app__contexts_config_t *const from = config->config;
    choice->pattern = (app__pattern_t)from->pattern;
    choice->tokens = (uint32_t)from->tokens;
    choice->working_set = from->working_set;
    choice->phase = from->phase;
    choice->order = sim_alloc_array(choice->tokens, sizeof(*choice->order));
    for (uint32_t i = 0; i < choice->tokens; i++) {
        choice->order[i] = i;
    }
    if (from->shuffle && choice->pattern != APP__SCAN) {
        sim_random_t random;
        app__random_init(&random, context, 0, "contexts order");
        sim_random_permutation(&random, choice->order, choice->tokens);
    }
    if (choice->pattern == APP__ZIPF) {
        app_zipf_init(&choice->zipf, choice->tokens, from->skew);
    }
    if (config->replay_count != 0) {
        choice->replay_count = config->replay_count;
        choice->replay = sim_alloc_array(config->replay_count, sizeof(*choice->replay));
        for (size_t i = 0; i < config->replay_count; i++) {
            choice->replay[i] = config->replay[i];
        }
    }
}

void app__choice_fini(app__choice_t *choice)
{
    sim_free(choice->order);
    sim_free(choice->replay);
    app_zipf_fini(&choice->zipf);
}

uint32_t app__choose(app__choice_t *choice, uint64_t index)
{
    switch (choice->pattern) {
    case APP__UNIFORM:
        return choice->order[sim_random_below(&choice->random, choice->tokens)];
    case APP__ZIPF:
        return choice->order[app_zipf_draw(&choice->zipf, &choice->random)];
    case APP__SCAN:
        return choice->order[index % choice->tokens];
    case APP__BURSTY: {
        if (index % choice->phase == 0) {
            choice->set_first = (uint32_t)sim_random_below(&choice->random, choice->tokens);
        }
        const uint64_t within = sim_random_below(&choice->random, choice->working_set);
        return choice->order[(choice->set_first + within) % choice->tokens];
    }
    case APP__REPLAY:
        return choice->replay[index % choice->replay_count];
    }
    SIM_CHECK(false);
    return 0;
}
