// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/groups.c - groups rows by keys and collects the values of some
// columns.
#include "studio/server/data/analysis/analysis_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 100000u

typedef struct collecting {
    studio_groups_t *groups;
    studio_analysis_t *analysis;
} collecting_t;

static uint64_t hash_keys(const studio_groups_t *groups, const studio_slot_t *keys)
{
    uint64_t hash = 7;
    for (size_t i = 0; i < groups->key_count; i++) {
        uint64_t bits = 0;
        if (groups->key_types[i] == STUDIO_TEXT) {
            for (const char *at = keys[i].text; at != NULL && *at != '\0'; at++) {
                bits = (bits ^ (uint8_t)*at) * UINT64_C(1099511628211);
            }
        } else if (!isnan(keys[i].number)) {
            // Adding 0.0 turns -0.0 into 0.0, so that both have one key.
            const double number = keys[i].number + 0.0;
            memcpy(&bits, &number, sizeof(bits));
        }
        hash = sim_mix64(hash * 31 + bits);
    }
    return hash;
}

static bool same_keys(const studio_groups_t *groups, const studio_slot_t *a, const studio_slot_t *b)
{
    for (size_t i = 0; i < groups->key_count; i++) {
        if (groups->key_types[i] == STUDIO_TEXT) {
            const bool both = a[i].text != NULL && b[i].text != NULL;
            if (a[i].text != b[i].text && (!both || strcmp(a[i].text, b[i].text) != 0)) {
                return false;
            }
        } else if (isnan(a[i].number) != isnan(b[i].number) || a[i].number < b[i].number ||
                   a[i].number > b[i].number) {
            return false;
        }
    }
    return true;
}

size_t studio__groups_find(const studio_groups_t *groups, const studio_slot_t *keys)
{
    SIM_MAP_EACH (index, &groups->map, hash_keys(groups, keys)) {
        if (same_keys(groups, groups->groups[index].keys, keys)) {
            return (size_t)index;
        }
    }
    return SIZE_MAX;
}

static studio_group_t *group_of(collecting_t *collecting, const studio_slot_t *keys)
{
    studio_groups_t *const groups = collecting->groups;
    const size_t have = studio__groups_find(groups, keys);
    if (have != SIZE_MAX) {
        return &groups->groups[have];
    }
    if (groups->count == GROUPS_MAX) {
        groups->too_many = true;
        return NULL;
    }
    sim_map_add(&groups->map, hash_keys(groups, keys), groups->count);
    SIM_GROW(groups->groups, groups->count, &groups->capacity);
    studio_group_t *const group = &groups->groups[groups->count++];
    memset(group, 0, sizeof(*group));
    for (size_t i = 0; i < groups->key_count; i++) {
        group->keys[i] = studio__analysis_slot(collecting->analysis, groups->key_types[i], keys[i]);
    }
    return group;
}

static void add_values(collecting_t *collecting, studio_group_t *group, const studio_batch_t *batch,
                       size_t row)
{
    const studio_groups_t *const groups = collecting->groups;
    if (group->count == group->capacity) {
        group->capacity = 2 * group->capacity + 16;
        for (size_t i = 0; i < groups->value_count; i++) {
            group->values[i] =
                sim_realloc_array(group->values[i], group->capacity, sizeof(studio_slot_t));
        }
    }
    for (size_t i = 0; i < groups->value_count; i++) {
        // Texts of expressions and tables are freed before the analysis, so they are copied.
        group->values[i][group->count] = studio__analysis_slot(
            collecting->analysis, groups->value_types[i], batch->columns[groups->values[i]][row]);
    }
    group->count++;
}

static void collect(const studio_batch_t *batch, void *ctx)
{
    collecting_t *const collecting = ctx;
    studio_groups_t *const groups = collecting->groups;
    for (size_t row = 0; row < batch->rows && !groups->too_many; row++) {
        studio_slot_t keys[STUDIO_KEYS_MAX] = {{.number = 0}};
        for (size_t i = 0; i < groups->key_count; i++) {
            keys[i] = batch->columns[groups->keys[i]][row];
        }
        groups->held += 1 + groups->value_count;
        if (groups->held > STUDIO_COLLECT_MAX * UINT64_C(4)) {
            groups->too_many = true;
            return;
        }
        studio_group_t *const group = group_of(collecting, keys);
        if (group != NULL) {
            add_values(collecting, group, batch, row);
        }
    }
}

sim_err_t studio__groups_collect(studio_work_t *work, studio_groups_t *groups)
{
    collecting_t collecting = {groups, work->analysis};
    bool *const wanted = sim_alloc(work->pipe->column_count);
    for (size_t i = 0; i < groups->key_count; i++) {
        wanted[groups->keys[i]] = true;
        groups->key_types[i] = work->pipe->columns[groups->keys[i]].type;
    }
    for (size_t i = 0; i < groups->value_count; i++) {
        wanted[groups->values[i]] = true;
        groups->value_types[i] = work->pipe->columns[groups->values[i]].type;
    }
    studio__pipe_pump(work->analysis, work->pipe, wanted, collect, &collecting);
    sim_free(wanted);
    return groups->too_many
               ? studio__step_fail(work,
                                   "more than 100000 groups or too many values: choose fewer rows")
               : SIM_OK;
}

void studio__groups_fini(studio_groups_t *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        sim_free_each(groups->groups[i].values, groups->value_count);
    }
    sim_free(groups->groups);
    sim_map_fini(&groups->map);
}

static int by_number(const void *a, const void *b)
{
    const double x = ((const studio_slot_t *)a)->number;
    const double y = ((const studio_slot_t *)b)->number;
    return (x > y) - (x < y);
}

size_t studio__sort_values(studio_slot_t *values, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i].number)) {
            values[kept++] = values[i];
        }
    }
    if (kept > 0) {
        qsort(values, kept, sizeof(*values), by_number);
    }
    return kept;
}

double studio__percentile(const studio_slot_t *sorted, size_t count, double percent)
{
    if (count == 0) {
        return (double)NAN;
    }
    // Rounding errors must not lift a whole rank: 99 % of 100 is the 99th value.
    const double rank = ceil(percent / 100 * (double)count - 1e-9);
    const size_t index = rank < 1 ? 0 : rank > (double)count ? count - 1 : (size_t)rank - 1;
    return sorted[index].number;
}
