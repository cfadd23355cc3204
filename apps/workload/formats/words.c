// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/words.c - reads the words of a text, with the line and the column of each.
#include "apps/workload/formats/words.h"

#include <string.h>

#define SHOWN_BYTES_MAX 40u // of a word, in messages

void app__words_init(app__words_t *words, const app__workload_file_t *file, sim_message_t *message)
{
    *words = (app__words_t){
        .name = file->name,
        .at = file->text,
        .end = file->text + file->size_bytes,
        .line_start = file->text,
        .line = 1,
        .word = file->text,
        .message = message,
    };
}

static bool separates(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

bool app__words_next(app__words_t *words)
{
    while (words->at < words->end && separates(*words->at)) {
        if (*words->at++ == '\n') {
            words->line++;
            words->line_start = words->at;
        }
    }
    words->word = words->at;
    while (words->at < words->end && !separates(*words->at)) {
        words->at++;
    }
    words->length = (size_t)(words->at - words->word);
    return words->length > 0;
}

bool app__words_is(const app__words_t *words, const char *word)
{
    return words->length == strlen(word) && memcmp(words->word, word, words->length) == 0;
}

bool app__words_number(const app__words_t *words, uint64_t most, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < words->length; i++) {
        const char digit = words->word[i];
        if (digit < '0' || digit > '9' || *number > (UINT64_MAX - 9) / 10) {
            return false;
        }
        *number = *number * 10 + (uint64_t)(digit - '0');
    }
    return words->length > 0 && *number <= most;
}

sim_err_t app__words_fail(const app__words_t *words, const char *problem, const char *expected)
{
    return sim_fail_in(words->message, SIM_ERR_INVALID, words->name, words->line,
                       (uint64_t)(words->word - words->line_start) + 1, "%s: '%.*s', expected %s",
                       problem, (int)SIM_MIN(words->length, SHOWN_BYTES_MAX), words->word,
                       expected);
}
