// SPDX-License-Identifier: Apache-2.0
// apps/rates/contexts_choice.c - chooses the queue pair of each operation
// (docs/models/tiered-cache.md).
#include "apps/rates/contexts_internal.h"

#include "kernel/words.h"

// Reads a file of one number per line; lines without a word are skipped.
static sim_err_t read_replay(const char *text, size_t size, app__choices_t *choices,
                             sim_message_t *message)
{
    const app__contexts_config_t *const config = choices->config;
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
        SIM_APPEND(choices->replay, choices->replay_count, capacity, (uint32_t)number);
        if (sim_words_next_in_line(&words, &word)) {
            return sim_word_fail(&words, &word, message, SIM_ERR_INVALID,
                                 "a second number in a line, expected one queue pair per line");
        }
    } while (sim_words_next_line(&words));
    if (choices->replay_count == 0) {
        return sim_fail_in(message, SIM_ERR_INVALID, config->replay_file, 1, 1,
                           "the file has no number, expected the number of a queue pair in each "
                           "line");
    }
    return SIM_OK;
}

static sim_err_t read_file(const app_context_t *context, app__choices_t *choices,
                           sim_message_t *message)
{
    const char *const name = choices->config->replay_file;
    if (name[0] == '\0') {
        return sim_fail_about(message, SIM_ERR_INVALID, "replay-file",
                              ": not given, expected a file, which pattern replay needs");
    }
    char *text = NULL;
    size_t size = 0;
    sim_err_t error = context->read_file(name, &text, &size, message, context->ctx);
    if (error != SIM_OK) {
        const sim_message_t why = *message;
        return sim_fail_about(message, error, "replay-file", ": %s", why.text);
    }
    error = read_replay(text, size, choices, message);
    sim_free(text);
    return error;
}

sim_err_t app__choices_init(app__choices_t *choices, const app_context_t *context,
                            const app__contexts_config_t *config, sim_message_t *message)
{
    const uint32_t tokens = (uint32_t)config->tokens;
    *choices = (app__choices_t){.config = config};
    if (config->pattern == APP__REPLAY) {
        const sim_err_t error = read_file(context, choices, message);
        if (error != SIM_OK) {
            sim_free(choices->replay);
            return error;
        }
    }
    choices->order = sim_alloc_array(tokens, sizeof(*choices->order));
    for (uint32_t i = 0; i < tokens; i++) {
        choices->order[i] = i;
    }
    if (config->shuffle && config->pattern != APP__SCAN) {
        sim_random_t random;
        app__random_init(&random, context, 0, "contexts order");
        sim_random_permutation(&random, choices->order, tokens);
    }
    if (config->pattern == APP__ZIPF) {
        app_zipf_init(&choices->zipf, tokens, config->skew);
    }
    return SIM_OK;
}

void app__choices_fini(app__choices_t *choices)
{
    sim_free(choices->order);
    sim_free(choices->replay);
    app_zipf_fini(&choices->zipf);
}

uint32_t app__choose(app__choice_t *choice, uint64_t index)
{
    const app__choices_t *const shared = choice->shared;
    const app__contexts_config_t *const config = shared->config;
    const uint32_t tokens = (uint32_t)config->tokens;
    switch (config->pattern) {
    case APP__UNIFORM:
        return shared->order[sim_random_below(&choice->random, tokens)];
    case APP__ZIPF:
        return shared->order[app_zipf_draw(&shared->zipf, &choice->random)];
    case APP__SCAN:
        return shared->order[index % tokens];
    case APP__BURSTY: {
        if (index % config->phase == 0) {
            choice->set_first = (uint32_t)sim_random_below(&choice->random, tokens);
        }
        const uint64_t within = sim_random_below(&choice->random, config->working_set);
        return shared->order[(choice->set_first + within) % tokens];
    }
    case APP__REPLAY:
        return shared->replay[index % shared->replay_count];
    }
    SIM_CHECK(false);
    return 0;
}
