// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/matrix.c - reads the sizes of an all-to-all with unequal parts.
#include "apps/workload/collective/collectives.h"

#include "apps/app_internal.h"
#include "kernel/words.h"

static sim_err_t read_values(sim_words_t *words, uint32_t ranks, uint64_t *matrix,
                             sim_message_t *message)
{
    sim_word_t word;
    for (size_t i = 0; i < (size_t)ranks * ranks; i++) {
        const sim_err_t error = sim_words_need_count(words, "the bytes from one rank to another", 0,
                                                     UINT64_C(1) << 50, &matrix[i], &word, message);
        if (error != SIM_OK) {
            return error;
        }
    }
    if (sim_words_next(words, &word)) {
        return sim_word_fail(words, &word, message, SIM_ERR_INVALID,
                             "a value too many, expected %u lines of %u values", ranks, ranks);
    }
    return SIM_OK;
}

sim_err_t app__coll_read_matrix(const app_context_t *context, const char *name, uint32_t ranks,
                                uint64_t **matrix, sim_message_t *message)
{
    char *text = NULL;
    size_t size_bytes = 0;
    sim_err_t error = app__check_memory(context, "matrix", (double)ranks * ranks, sizeof(**matrix),
                                        "sizes of messages", message);
    if (error == SIM_OK) {
        error = context->read_file(name, &text, &size_bytes, message, context->ctx);
    }
    if (error != SIM_OK) {
        return error;
    }
    sim_words_t words;
    uint64_t *const values = sim_alloc_array((size_t)ranks * ranks, sizeof(*values));
    sim_words_init(&words, name, text, size_bytes);
    error = read_values(&words, ranks, values, message);
    sim_free(text);
    if (error != SIM_OK) {
        sim_free(values);
        return error;
    }
    *matrix = values;
    return SIM_OK;
}
