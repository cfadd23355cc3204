// SPDX-License-Identifier: Apache-2.0
// cli/explain/order.c - sorts numbers by their bytes, the lowest byte first.
#include "cli/explain/order.h"

#include <string.h>

#define DIGIT_BITS 8u
#define DIGITS (64u / DIGIT_BITS)
#define BUCKETS (1u << DIGIT_BITS)

static size_t digit_of(uint64_t key, uint32_t digit)
{
    return key >> (digit * DIGIT_BITS) & (BUCKETS - 1);
}

static bool is_in_order(const uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (keys[i - 1] > keys[i]) {
            return false;
        }
    }
    return true;
}

void cli__explain_sort(uint64_t *keys, uint32_t *values, size_t count)
{
    if (is_in_order(keys, count)) {
        return;
    }
    size_t places[DIGITS][BUCKETS] = {{0}};
    for (size_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < DIGITS; d++) {
            places[d][digit_of(keys[i], d)]++;
        }
    }
    uint64_t *const spare_keys = sim_alloc_array(count, sizeof(*spare_keys));
    uint32_t *const spare_values = values != NULL ? sim_alloc_array(count, sizeof(*values)) : NULL;
    uint64_t *from = keys;
    uint64_t *to = spare_keys;
    uint32_t *from_values = values;
    uint32_t *to_values = spare_values;
    for (uint32_t d = 0; d < DIGITS; d++) {
        size_t *const place = places[d];
        if (place[digit_of(keys[0], d)] == count) {
            continue; // all keys have this digit
        }
        size_t sum = 0;
        for (size_t b = 0; b < BUCKETS; b++) {
            const size_t of_digit = place[b];
            place[b] = sum;
            sum += of_digit;
        }
        for (size_t i = 0; i < count; i++) {
            const size_t at = place[digit_of(from[i], d)]++;
            to[at] = from[i];
            if (values != NULL) {
                to_values[at] = from_values[i];
            }
        }
        from = to;
        to = from == keys ? spare_keys : keys;
        from_values = to_values;
        to_values = from == keys ? spare_values : values;
    }
    if (from != keys) {
        memcpy(keys, from, count * sizeof(*keys));
    }
    if (from != keys && values != NULL) {
        memcpy(values, from_values, count * sizeof(*values));
    }
    sim_free(spare_keys);
    sim_free(spare_values);
}
