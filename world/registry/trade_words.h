// SPDX-License-Identifier: Apache-2.0
// world/registry/trade_words.h - words of the trade for what a scenario calls by another name, for
// "did you mean": a newcomer writes `clos`, `cc` or `message-size`.
#ifndef WORLD_REGISTRY_TRADE_WORDS_H
#define WORLD_REGISTRY_TRADE_WORDS_H

#include <stddef.h>

// Returns what to write in the place of the word: one of the names, or one with its value such as
// "collective: {kind: all-reduce}". NULL: the word stands for none of the names. Upper and lower
// case are alike, and so are '-' and '_'.
const char *world_trade_word(const char *word, const char *const *names, size_t count);

#endif // WORLD_REGISTRY_TRADE_WORDS_H
