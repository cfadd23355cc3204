// SPDX-License-Identifier: Apache-2.0
// kernel/words.h - reads text files of words between blanks, or of cells between commas, with their
// places.
//
// The formats of other simulators are read this way: their readers take the next word wherever it
// stands. Every message begins with "NAME:LINE:COLUMN: " of the word it is about. Lines and columns
// count from 1, columns in bytes. Nothing is copied: words point into the text.
#ifndef KERNEL_WORDS_H
#define KERNEL_WORDS_H

#include "kernel/random.h"

SIM_C_BEGIN

typedef struct sim_word {
    const char *text; // not 0-terminated
    size_t size_bytes;
    uint32_t line;
    uint32_t column;
} sim_word_t;

typedef struct sim_words {
    const char *name; // of the file, for messages
    const char *at;
    const char *end;
    const char *line_begin;
    uint32_t line;
} sim_words_t;

// Returns the text behind a byte order mark of UTF-8 (EF BB BF), which some editors write first. A
// text without one is returned as it is.
const char *sim_text_after_mark(const char *text, size_t size_bytes);
// Starts a reader. text must live as long as the reader and its words. Skips a byte order mark.
void sim_words_init(sim_words_t *words, const char *name, const char *text, size_t size_bytes);

// Take the next word of the file, or of the reader's line. False: there is none; word is then empty
// and its place is where the file, or the line, ends.
bool sim_words_next(sim_words_t *words, sim_word_t *word);
bool sim_words_next_in_line(sim_words_t *words, sim_word_t *word);
// Skips the rest of the line and moves to the next one. False: this line was the last.
bool sim_words_next_line(sim_words_t *words);

// Takes the next cell of a line of CSV, without the spaces and the quotes around it; it may be
// empty. Between cells stands `separator`, which may also stand between quotes. Returns whether
// another cell follows in the line.
bool sim_words_next_cell(sim_words_t *words, char separator, sim_word_t *cell);

bool sim_word_is(const sim_word_t *word, const char *text);

// A word as messages show it: control characters as '?', long words cut short.
typedef struct sim_word_shown {
    char text[72];
} sim_word_shown_t;
const char *sim_word_show(const sim_word_t *word, sim_word_shown_t *shown);

// Writes "NAME:LINE:COLUMN: message" and returns error.
sim_err_t sim_word_fail(const sim_words_t *words, const sim_word_t *word, sim_message_t *message,
                        sim_err_t error, const char *format, ...) SIM_PRINTF(5, 6);

// Gives "NAME:LINE:COLUMN: message" to note, which may be NULL.
typedef void (*sim_word_note_fn)(const char *text, void *ctx);
void sim_word_note(const sim_words_t *words, const sim_word_t *word, sim_word_note_fn note,
                   void *ctx, const char *format, ...) SIM_PRINTF(5, 6);

// Takes the next word, which must exist. `what` names it in the message ("the number of links").
SIM_MUST_CHECK sim_err_t sim_words_need(sim_words_t *words, sim_word_t *word, const char *what,
                                        sim_message_t *message);

// Return how many words are left on this line, or on the first line, from this one on, that has
// any. The caller's reader does not move: words is a copy.
size_t sim_words_in_line(sim_words_t words);
size_t sim_words_in_next_line(sim_words_t words);

// -- words as values. All accept an exponent ("1e-5"), as the readers of other simulators do.
// `what` names the value in the message.

// Reads a whole number from min to max.
SIM_MUST_CHECK sim_err_t sim_word_count(const sim_words_t *words, const sim_word_t *word,
                                        const char *what, uint64_t min, uint64_t max,
                                        uint64_t *count, sim_message_t *message);
// Takes the next word, which must be a whole number from min to max.
SIM_MUST_CHECK sim_err_t sim_words_need_count(sim_words_t *words, const char *what, uint64_t min,
                                              uint64_t max, uint64_t *count, sim_word_t *word,
                                              sim_message_t *message);
// Reads a rate above 0, such as "100Gbps", "12.5GB/s" or "1Gib/s"; a bare number is bit/s. Parts of
// a bit/s are cut off.
SIM_MUST_CHECK sim_err_t sim_word_rate(const sim_words_t *words, const sim_word_t *word,
                                       const char *what, uint64_t *rate_bps,
                                       sim_message_t *message);
// Reads a time such as "1000ns" or "0.001ms"; a bare number counts bare_unit ("s", "us"). Digits
// finer than a picosecond are cut off.
SIM_MUST_CHECK sim_err_t sim_word_time(const sim_words_t *words, const sim_word_t *word,
                                       const char *what, const char *bare_unit, sim_time_t *time_ps,
                                       sim_message_t *message);
// Reads a probability, from 0 to 1.
SIM_MUST_CHECK sim_err_t sim_word_ratio(const sim_words_t *words, const sim_word_t *word,
                                        const char *what, sim_ratio_t *ratio,
                                        sim_message_t *message);

typedef struct sim_plain {
    char text[96];
} sim_plain_t;
// Rewrites the number that a word begins with as plain decimal text: no sign but '-', no exponent,
// at most 19 decimals. *rest is what follows it in the word. False: the word does not begin with a
// number, or that number is too long.
bool sim_word_plain(const sim_word_t *word, sim_plain_t *plain, sim_word_t *rest);

SIM_C_END

#endif // KERNEL_WORDS_H
