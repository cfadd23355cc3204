// SPDX-License-Identifier: Apache-2.0
// studio/server/library/order.c - expands an order into its runs.
#include "studio/server/library/order.h"

#include <string.h>

#define AXES_MAX 16u

// Returns a grid value as it stands behind "path=", freed with sim_free; NULL if it is no value.
static char *value_text(const json_t *value)
{
    if (json_is_string(value)) {
        return sim_strdup(json_string_value(value));
    }
    if (json_is_integer(value)) {
        return sim_format("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    }
    if (json_is_real(value)) {
        return sim_format("%.15g", json_real_value(value));
    }
    return json_is_boolean(value) ? sim_strdup(json_is_true(value) ? "true" : "false") : NULL;
}

static bool setting_good(const char *text)
{
    return text != NULL && strlen(text) <= STUDIO_SETTING_BYTES_MAX && text[0] != '=' &&
           strchr(text, '=') != NULL && strpbrk(text, "\r\n") == NULL;
}

static bool check_set(const json_t *set, sim_message_t *message)
{
    if (set != NULL && (!json_is_array(set) || json_array_size(set) > STUDIO_SETTINGS_MAX)) {
        (void)sim_fail(message, SIM_ERR_INVALID,
                       "set: expected a list of at most %u texts PATH=VALUE", STUDIO_SETTINGS_MAX);
        return false;
    }
    for (size_t i = 0; i < json_array_size(set); i++) {
        if (!setting_good(json_string_value(json_array_get(set, i)))) {
            (void)sim_fail(message, SIM_ERR_INVALID, "set: expected texts PATH=VALUE");
            return false;
        }
    }
    return true;
}

// Refuses equal values: equal runs would falsify means and confidence intervals.
static bool check_twins(const char *path, const json_t *values, sim_message_t *message)
{
    json_t *const seen = json_object();
    bool good = true;
    for (size_t v = 0; good && v < json_array_size(values); v++) {
        char *const value = value_text(json_array_get(values, v));
        good = value == NULL || json_object_get(seen, value) == NULL;
        if (value != NULL && good) {
            (void)json_object_set_new(seen, value, json_true());
        }
        if (!good) {
            (void)sim_fail(message, SIM_ERR_INVALID,
                           "%.100s: the value %.100s is given twice, expected it once", path,
                           value);
        }
        sim_free(value);
    }
    json_decref(seen);
    return good;
}

// Replaces each run of the list by one run for each value of the path.
static json_t *multiply(json_t *list, const char *path, const json_t *values, uint64_t most,
                        sim_message_t *message)
{
    json_t *const longer = json_array();
    if (!json_is_array(values) || json_array_size(values) == 0 ||
        json_array_size(list) * json_array_size(values) > most) {
        (void)sim_fail(message, SIM_ERR_RANGE,
                       "%.100s: expected values that make at most %" PRIu64 " runs in all", path,
                       most);
        json_decref(list);
        json_decref(longer);
        return NULL;
    }
    if (!check_twins(path, values, message)) {
        json_decref(list);
        json_decref(longer);
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        for (size_t v = 0; v < json_array_size(values); v++) {
            char *const value = value_text(json_array_get(values, v));
            char *const text = value == NULL ? NULL : sim_format("%s=%s", path, value);
            const bool good = setting_good(text);
            json_t *const run = json_copy(json_array_get(list, i));
            (void)json_array_append_new(run, json_string(good ? text : ""));
            (void)json_array_append_new(longer, run);
            sim_free(text);
            sim_free(value);
            if (!good) {
                (void)sim_fail(message, SIM_ERR_INVALID,
                               "%.100s: expected texts, numbers, true or false", path);
                json_decref(list);
                json_decref(longer);
                return NULL;
            }
        }
    }
    json_decref(list);
    return longer;
}

static bool seeds_good(const json_t *seeds)
{
    for (size_t i = 0; i < json_array_size(seeds); i++) {
        const json_t *const seed = json_array_get(seeds, i);
        if (!json_is_integer(seed) || json_integer_value(seed) < 0) {
            return false;
        }
    }
    return json_is_array(seeds);
}

// Returns whether something other than `seeds` sets a run's seed, which is refused.
static bool sets_seed(const json_t *set, const json_t *grid)
{
    bool is_set = json_object_get(grid, "seed") != NULL;
    for (size_t i = 0; i < json_array_size(set); i++) {
        is_set = is_set || strncmp(json_string_value(json_array_get(set, i)), "seed=", 5) == 0;
    }
    return is_set;
}

json_t *studio_order_expand(const json_t *set, const json_t *grid, const json_t *seeds,
                            uint64_t most, sim_message_t *message)
{
    if (!check_set(set, message)) {
        return NULL;
    }
    if (grid != NULL && (!json_is_object(grid) || json_object_size(grid) > AXES_MAX)) {
        (void)sim_fail(message, SIM_ERR_INVALID,
                       "grid: expected {PATH: [VALUE...]} of at most %u paths", AXES_MAX);
        return NULL;
    }
    if (seeds != NULL && json_array_size(seeds) > 0 && !seeds_good(seeds)) {
        (void)sim_fail(message, SIM_ERR_INVALID,
                       "seeds: expected a list of whole numbers from 0 on");
        return NULL;
    }
    if (json_array_size(seeds) > 0 && sets_seed(set, grid)) {
        (void)sim_fail(message, SIM_ERR_INVALID,
                       "both seeds and the parameter 'seed' set the seed of runs, expected one "
                       "of the two");
        return NULL;
    }
    json_t *list = json_array();
    (void)json_array_append_new(list, set == NULL ? json_array() : json_deep_copy(set));
    const char *path;
    json_t *values;
    json_object_foreach((json_t *)(uintptr_t)grid, path, values)
    {
        list = list == NULL ? NULL : multiply(list, path, values, most, message);
    }
    if (list != NULL && json_array_size(seeds) > 0) {
        list = multiply(list, "seed", seeds, most, message);
    }
    SIM_CHECK(json_array_size(list) <= most);
    return list;
}
