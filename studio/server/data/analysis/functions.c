// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/functions.c - functions that reduce many values to one, for groups
// and pivots.
#include "results/spread.h"
#include "studio/server/data/analysis/analysis_internal.h"

#include "results/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const functions[] = {"count",    "sum",    "mean",      "min",
                                        "max",      "median", "deviation", "interval",
                                        "distinct", "first",  "last"};

// Reads the percentage of "p99", "p99.9" or "p999" (99.9).
static bool percent_of(const char *name, double *percent)
{
    if (name[0] != 'p' || strspn(name + 1, "0123456789.") != strlen(name + 1) || name[1] == '\0' ||
        strlen(name) > 12) {
        return false;
    }
    char text[16];
    const bool pointless =
        strchr(name, '.') == NULL && strlen(name) > 3 && strcmp(name, "p100") != 0;
    (void)snprintf(text, sizeof(text), pointless ? "%.2s.%s" : "%.2s%s", name + 1,
                   strlen(name) > 3 ? name + 3 : "");
    *percent = strtod(text, NULL);
    return *percent >= 0 && *percent <= 100;
}

bool studio__is_function(const char *name)
{
    double percent = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(functions); i++) {
        if (strcmp(functions[i], name) == 0) {
            return true;
        }
    }
    return percent_of(name, &percent);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const studio_slot_t *)a)->text, ((const studio_slot_t *)b)->text);
}

static double of_texts(const char *name, const studio_slot_t *values, size_t count)
{
    studio_slot_t *const sorted = sim_alloc_array(count, sizeof(*sorted));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        sorted[kept] = values[i];
        kept += values[i].text != NULL;
    }
    size_t distinct = kept > 0;
    if (kept > 0) {
        qsort(sorted, kept, sizeof(*sorted), by_text);
    }
    for (size_t i = 1; i < kept; i++) {
        distinct += strcmp(sorted[i].text, sorted[i - 1].text) != 0;
    }
    sim_free(sorted);
    return strcmp(name, "count") == 0      ? (double)kept
           : strcmp(name, "distinct") == 0 ? (double)distinct
                                           : (double)NAN;
}

static double of_sorted(const char *name, const studio_slot_t *sorted, size_t count)
{
    double percent = 50;
    if (strcmp(name, "count") == 0) {
        return (double)count;
    }
    if (strcmp(name, "distinct") == 0) {
        size_t distinct = count > 0;
        for (size_t i = 1; i < count; i++) {
            distinct += sorted[i].number > sorted[i - 1].number;
        }
        return (double)distinct;
    }
    if (count == 0) {
        return strcmp(name, "sum") == 0 ? 0 : (double)NAN;
    }
    if (strcmp(name, "min") == 0) {
        return sorted[0].number;
    }
    if (strcmp(name, "max") == 0) {
        return sorted[count - 1].number;
    }
    if (strcmp(name, "median") == 0 || percent_of(name, &percent)) {
        return studio__percentile(sorted, count, percent);
    }
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += sorted[i].number;
    }
    if (strcmp(name, "sum") == 0) {
        return sum;
    }
    if (strcmp(name, "mean") == 0) {
        return sum / (double)count;
    }
    // Uses the confidence intervals of rocesim compare.
    double *const numbers = sim_alloc_array(count, sizeof(*numbers));
    for (size_t i = 0; i < count; i++) {
        numbers[i] = sorted[i].number;
    }
    const results_spread_t spread = results_spread(numbers, count);
    sim_free(numbers);
    const double value = strcmp(name, "deviation") == 0 ? spread.deviation : spread.half;
    return isfinite(value) ? value : (double)NAN;
}

studio_slot_t studio__function_of(const char *name, studio_type_t type, const studio_slot_t *values,
                                  size_t count)
{
    const bool first = strcmp(name, "first") == 0;
    if (first || strcmp(name, "last") == 0) {
        return count > 0             ? values[first ? 0 : count - 1]
               : type == STUDIO_TEXT ? (studio_slot_t){.text = NULL}
                                     : (studio_slot_t){.number = (double)NAN};
    }
    if (type == STUDIO_TEXT) {
        return (studio_slot_t){.number = of_texts(name, values, count)};
    }
    studio_slot_t *const sorted = sim_alloc_array(count, sizeof(*sorted));
    memcpy(sorted, values, count * sizeof(*sorted));
    const size_t kept = studio__sort_values(sorted, count);
    const double value = of_sorted(name, sorted, kept);
    sim_free(sorted);
    return (studio_slot_t){.number = value};
}

bool studio__function_keeps_unit(const char *function)
{
    return strcmp(function, "count") != 0 && strcmp(function, "distinct") != 0;
}
