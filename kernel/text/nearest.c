// SPDX-License-Identifier: Apache-2.0
// kernel/text/nearest.c - the name a person probably meant.
//
// Damerau-Levenshtein in its restricted form (optimal string alignment): the fewest insertions,
// deletions, replacements and swaps of neighbours, none of them touching the same place twice.
// Upper and lower case count as equal: what differs in nothing else is surely meant.
#include <string.h>

#include "kernel/attribute.h"

#define LENGTH_MAX 127 // of text and names: longer ones are near nothing

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Compares the i-th character of a, from 1, with all of b. rows[] are those of i - 2, i - 1 and i.
static void next_row(const char *a, size_t i, const char *b, size_t b_length,
                     unsigned *const rows[3])
{
    const unsigned *const before = rows[1];
    unsigned *const row = rows[2];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= b_length; ++j) {
        const bool equal = fold(a[i - 1]) == fold(b[j - 1]);
        unsigned cost = before[j - 1] + (equal ? 0U : 1U);
        cost = SIM_MIN(cost, before[j] + 1);
        cost = SIM_MIN(cost, row[j - 1] + 1);
        if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
            fold(a[i - 2]) == fold(b[j - 1])) {
            cost = SIM_MIN(cost, rows[0][j - 2] + 1);
        }
        row[j] = cost;
    }
}

static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned storage[3][LENGTH_MAX + 1];
    unsigned *rows[3] = {storage[0], storage[1], storage[2]};
    for (size_t j = 0; j <= b_length; ++j) {
        rows[2][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a_length; ++i) {
        unsigned *const oldest = rows[0];
        rows[0] = rows[1];
        rows[1] = rows[2];
        rows[2] = oldest;
        next_row(a, i, b, b_length, rows);
    }
    return rows[2][b_length];
}

const char *sim_nearest_name(const char *text, const char *const *names, size_t count)
{
    const size_t length = strnlen(text, LENGTH_MAX + 1);
    if (length > LENGTH_MAX) {
        return NULL;
    }
    const char *nearest = NULL;
    unsigned nearest_distance = (unsigned)(length / 3);
    for (size_t i = 0; i < count; ++i) {
        const size_t name_length = strnlen(names[i], LENGTH_MAX + 1);
        if (name_length > LENGTH_MAX) {
            continue;
        }
        const unsigned distance = edit_distance(text, length, names[i], name_length);
        if (distance < nearest_distance || (distance == nearest_distance && nearest == NULL)) {
            nearest = names[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}
