// SPDX-License-Identifier: Apache-2.0
// cli/expect/judge.c - finds the value that an expectation names, and compares it.
#include "cli/expect/judge.h"

#include "results/comparison.h"
#include "results/runner.h"

#include <math.h>
#include <string.h>

// Short names of values that many expectations are about.
static const struct {
    const char *name;
    const char *path;
} short_names[] = {
    {"pauses", "pfc.pauses"},
    {"marks", "ecn_marked"},
    {"retransmissions", "retransmitted_packets"},
};

// Returns the value at the path inside the one entry of `apps` that has it; NULL: none, or several.
static const json_t *in_one_app(const json_t *summary, const char *path)
{
    const json_t *const apps = json_object_get(summary, "apps");
    const json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(apps); i++) {
        const json_t *const value = results_json_at(json_array_get(apps, i), path);
        if (value != NULL && found != NULL) {
            return NULL;
        }
        found = value != NULL ? value : found;
    }
    return found;
}

// Returns the sum of a group of counters, such as the reasons for drops; NULL: it is no such group.
static json_t *sum_of(const json_t *group)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_int_t sum = 0;
    json_object_foreach((json_t *)(uintptr_t)group, key, value)
    {
        if (!json_is_integer(value)) {
            return NULL;
        }
        sum += json_integer_value(value);
    }
    return json_object_size(group) > 0 ? json_integer(sum) : NULL;
}

// Returns a new reference to the value that the path names; NULL: the summary has none.
static json_t *value_at(const json_t *summary, const char *path)
{
    for (size_t i = 0; i < SIM_COUNT_OF(short_names); i++) {
        if (strcmp(path, short_names[i].name) == 0) {
            path = short_names[i].path;
        }
    }
    const json_t *value = results_json_at(summary, path);
    value = value != NULL ? value : in_one_app(summary, path);
    if (json_is_object(value)) {
        return sum_of(value);
    }
    if (value != NULL) {
        return json_incref((json_t *)(uintptr_t)value);
    }
    const double number = results_comparison_number(summary, path);
    return isnan(number) ? NULL : json_real(number);
}

static bool compare_numbers(const cli_expectation_t *expectation, double value)
{
    const double wanted = expectation->value;
    switch (expectation->op) {
    case CLI_EXPECT_BELOW:
        return value < wanted;
    case CLI_EXPECT_AT_MOST:
        return value <= wanted;
    case CLI_EXPECT_ABOVE:
        return value > wanted;
    case CLI_EXPECT_AT_LEAST:
        return value >= wanted;
    case CLI_EXPECT_EQUAL:
        return !(value < wanted) && !(value > wanted);
    case CLI_EXPECT_UNEQUAL:
        return value < wanted || value > wanted;
    case CLI_EXPECT_WITHIN:
        break;
    }
    return fabs(value - wanted) <= expectation->margin;
}

void cli_expect_judge(cli_expectation_t *expectation, const json_t *summary)
{
    json_t *const value = value_at(summary, expectation->path);
    bool met = false;
    if (value == NULL || json_is_array(value)) {
        expectation->outcome = CLI_EXPECT_UNKNOWN;
        expectation->found = sim_strdup("no single value in summary.json");
        json_decref(value);
        return;
    }
    if (expectation->word != NULL || json_is_string(value)) {
        const char *const text = json_is_string(value)  ? json_string_value(value)
                                 : json_is_true(value)  ? "true"
                                 : json_is_false(value) ? "false"
                                 : json_is_null(value)  ? "null"
                                                        : "a number";
        expectation->found = sim_strdup(text);
        met = expectation->word != NULL &&
              (strcmp(text, expectation->word) == 0) == (expectation->op == CLI_EXPECT_EQUAL);
    } else if (json_is_number(value)) {
        const double number = json_number_value(value);
        expectation->found = sim_format("%.9g", number);
        met = compare_numbers(expectation, number);
    } else {
        expectation->found =
            sim_strdup(json_is_null(value) ? "null: no value in this run" : "no number");
    }
    expectation->outcome = met ? CLI_EXPECT_MET : CLI_EXPECT_MISSED;
    json_decref(value);
}
