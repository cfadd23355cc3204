// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/search.h - searches words in the tables of runs.
//
//     drop host5          both words, in any text of a row, capital and small letters alike
//     "paused by"         the phrase            -resumed      not this
//     event:drop          in that column; of numbers: exactly that one
#ifndef STUDIO_SERVER_DATA_QUERY_SEARCH_H
#define STUDIO_SERVER_DATA_QUERY_SEARCH_H

#include "studio/server/data/query/query.h"

#define STUDIO_WORDS_MAX 16u
#define STUDIO_HITS_MAX 1000u

// Adds {"hits": [...], "more": ..., "seconds": ...} to the answer.
SIM_MUST_CHECK sim_err_t studio_search(const studio_sources_t *sources, const char *text,
                                       size_t limit, const studio_patience_t *patience,
                                       studio_out_t *out, sim_message_t *message);

#endif // STUDIO_SERVER_DATA_QUERY_SEARCH_H
