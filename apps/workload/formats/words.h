// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/words.h - reads the words of a text, with the line and the column of each.
#ifndef APPS_WORKLOAD_FORMATS_WORDS_H
#define APPS_WORKLOAD_FORMATS_WORDS_H

#include "apps/workload/formats/format.h"

typedef struct app__words {
    const char *name; // of the file
    const char *at;   // behind the last word
    const char *end;
    const char *line_start; // of the last word's line
    uint64_t line;
    const char *word; // the last word; at the end of the text if there is none
    size_t length;
    sim_message_t *message;
} app__words_t;

void app__words_init(app__words_t *words, const app__workload_file_t *file, sim_message_t *message);
// Moves to the next word, also across lines. Blanks, tabs and line ends separate words. Returns
// false at the end of the text.
bool app__words_next(app__words_t *words);
// Returns whether the last word is `word`.
bool app__words_is(const app__words_t *words, const char *word);
// Reads the last word as a whole number of at most `most`.
bool app__words_number(const app__words_t *words, uint64_t most, uint64_t *number);
// Writes a message about the last word: "NAME:LINE:COLUMN: PROBLEM: 'WORD', expected EXPECTED".
sim_err_t app__words_fail(const app__words_t *words, const char *problem, const char *expected);

#endif // APPS_WORKLOAD_FORMATS_WORDS_H
