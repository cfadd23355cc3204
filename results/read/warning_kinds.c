// SPDX-License-Identifier: Apache-2.0
// results/read/warning_kinds.c - counts in how many runs a kind of warning stands.
#include "results/warning_kinds.h"

#include <string.h>

static results_warning_kind_t *find(results_warning_kinds_t *kinds, const char *kind)
{
    for (size_t i = 0; i < kinds->count; i++) {
        if (strcmp(kinds->items[i].kind, kind) == 0) {
            return &kinds->items[i];
        }
    }
    return NULL;
}

// Returns whether an earlier warning of the list is of this kind.
static bool is_again(const json_t *list, size_t at, const char *kind)
{
    for (size_t i = 0; i < at; i++) {
        const json_t *const other = json_object_get(json_array_get(list, i), "kind");
        if (json_is_string(other) && strcmp(json_string_value(other), kind) == 0) {
            return true;
        }
    }
    return false;
}

void results_warning_kinds_add(results_warning_kinds_t *kinds, size_t run, const json_t *summary)
{
    const json_t *const list = json_object_get(summary, "warnings");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const warning = json_array_get(list, i);
        const char *const kind = json_string_value(json_object_get(warning, "kind"));
        const char *const text = json_string_value(json_object_get(warning, "text"));
        if (kind == NULL || text == NULL || is_again(list, i, kind)) {
            continue;
        }
        results_warning_kind_t *known = find(kinds, kind);
        if (known == NULL) {
            SIM_GROW(kinds->items, kinds->count, &kinds->capacity);
            known = &kinds->items[kinds->count++];
            *known = (results_warning_kind_t){sim_strdup(kind), sim_strdup(text), run, 0};
        }
        known->runs++;
    }
}

void results_warning_kinds_fini(results_warning_kinds_t *kinds)
{
    for (size_t i = 0; i < kinds->count; i++) {
        sim_free(kinds->items[i].kind);
        sim_free(kinds->items[i].text);
    }
    sim_free(kinds->items);
    *kinds = (results_warning_kinds_t){NULL, 0, 0};
}
