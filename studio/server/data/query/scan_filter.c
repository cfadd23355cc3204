// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/scan_filter.c - applies the conditions of a filter.
//
// Each text of a dictionary is judged once; rows then look up the verdict.
#include "studio/server/data/query/scan_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    studio_test_t test;
} tests[] = {
    {"=", STUDIO_TEST_EQUAL},         {"==", STUDIO_TEST_EQUAL},
    {"!=", STUDIO_TEST_UNEQUAL},      {"<", STUDIO_TEST_LESS},
    {"<=", STUDIO_TEST_LESS_EQUAL},   {">", STUDIO_TEST_MORE},
    {">=", STUDIO_TEST_MORE_EQUAL},   {"in", STUDIO_TEST_IN},
    {"between", STUDIO_TEST_BETWEEN}, {"contains", STUDIO_TEST_CONTAINS},
    {"starts", STUDIO_TEST_STARTS},   {"ends", STUDIO_TEST_ENDS},
    {"glob", STUDIO_TEST_GLOB},       {"missing", STUDIO_TEST_MISSING},
    {"present", STUDIO_TEST_PRESENT},
};

#define VALUES_MAX 1000u

static bool number_of(const json_t *value, const char *unit, double *number)
{
    if (json_is_number(value)) {
        *number = json_number_value(value);
        return true;
    }
    const char *const text = json_string_value(value);
    return text != NULL && studio_number_in(text, unit, number);
}

static sim_err_t take_value(const studio_scan_column_t *column, studio_condition_t *condition,
                            const json_t *value, studio_place_error_t *error)
{
    const size_t at = condition->count;
    if (column->type == STUDIO_NUMBER) {
        if (!number_of(value, column->unit, &condition->numbers[at])) {
            return sim_fail(
                &error->message, SIM_ERR_INVALID, "%s: expected a number%s%s", column->name,
                column->unit[0] != '\0' ? ", as it is or with its unit: " : "", column->unit);
        }
    } else if (json_is_string(value)) {
        condition->texts[at] = sim_strdup(json_string_value(value));
    } else if (json_is_integer(value)) {
        condition->texts[at] = sim_format("%lld", (long long)json_integer_value(value));
    } else {
        return sim_fail(&error->message, SIM_ERR_INVALID, "%s: expected a text", column->name);
    }
    condition->count++;
    return SIM_OK;
}

static sim_err_t take_values(const studio_scan_column_t *column, studio_condition_t *condition,
                             const json_t *value, studio_place_error_t *error)
{
    const bool none =
        condition->test == STUDIO_TEST_MISSING || condition->test == STUDIO_TEST_PRESENT;
    const bool list = condition->test == STUDIO_TEST_IN || condition->test == STUDIO_TEST_BETWEEN;
    const size_t count = list ? json_array_size(value) : 1;
    if (none) {
        return SIM_OK;
    }
    if (list && (count == 0 || count > VALUES_MAX ||
                 (condition->test == STUDIO_TEST_BETWEEN && count != 2))) {
        return sim_fail(&error->message, SIM_ERR_INVALID, "%s: expected a list of %s", column->name,
                        condition->test == STUDIO_TEST_IN ? "1 to 1000 values" : "two values");
    }
    if (column->type == STUDIO_NUMBER &&
        (condition->test == STUDIO_TEST_CONTAINS || condition->test == STUDIO_TEST_STARTS ||
         condition->test == STUDIO_TEST_ENDS || condition->test == STUDIO_TEST_GLOB)) {
        return sim_fail(&error->message, SIM_ERR_INVALID,
                        "%s has numbers, expected one of = != < <= > >= in between", column->name);
    }
    condition->numbers = sim_alloc_array(count, sizeof(*condition->numbers));
    condition->texts = sim_alloc_array(count, sizeof(*condition->texts));
    for (size_t i = 0; i < count; i++) {
        const sim_err_t code =
            take_value(column, condition, list ? json_array_get(value, i) : value, error);
        if (code != SIM_OK) {
            return code;
        }
    }
    return SIM_OK;
}

static bool text_holds(const studio_condition_t *condition, const char *text)
{
    const char *const first = condition->count > 0 ? condition->texts[0] : "";
    const size_t size = strlen(text);
    const size_t first_size = strlen(first);
    const int order = strcmp(text, first);
    switch (condition->test) {
    case STUDIO_TEST_EQUAL:
        return order == 0;
    case STUDIO_TEST_UNEQUAL:
        return order != 0;
    case STUDIO_TEST_LESS:
        return order < 0;
    case STUDIO_TEST_LESS_EQUAL:
        return order <= 0;
    case STUDIO_TEST_MORE:
        return order > 0;
    case STUDIO_TEST_MORE_EQUAL:
        return order >= 0;
    case STUDIO_TEST_IN:
        for (size_t i = 0; i < condition->count; i++) {
            if (strcmp(text, condition->texts[i]) == 0) {
                return true;
            }
        }
        return false;
    case STUDIO_TEST_BETWEEN:
        return order >= 0 && strcmp(text, condition->texts[1]) <= 0;
    case STUDIO_TEST_CONTAINS:
        return studio_text_has(text, first);
    case STUDIO_TEST_STARTS:
        return strncmp(text, first, first_size) == 0;
    case STUDIO_TEST_ENDS:
        return size >= first_size && strcmp(text + size - first_size, first) == 0;
    case STUDIO_TEST_GLOB:
        return studio_glob(first, text);
    case STUDIO_TEST_MISSING:
        return false;
    case STUDIO_TEST_PRESENT:
    default:
        return true;
    }
}

static bool number_holds(const studio_condition_t *condition, double value)
{
    const double first = condition->count > 0 ? condition->numbers[0] : 0;
    if (isnan(value)) {
        return condition->test == STUDIO_TEST_MISSING;
    }
    switch (condition->test) {
    case STUDIO_TEST_EQUAL:
        return !(value < first) && !(value > first);
    case STUDIO_TEST_UNEQUAL:
        return value < first || value > first;
    case STUDIO_TEST_LESS:
        return value < first;
    case STUDIO_TEST_LESS_EQUAL:
        return value <= first;
    case STUDIO_TEST_MORE:
        return value > first;
    case STUDIO_TEST_MORE_EQUAL:
        return value >= first;
    case STUDIO_TEST_IN:
        for (size_t i = 0; i < condition->count; i++) {
            if (!(value < condition->numbers[i]) && !(value > condition->numbers[i])) {
                return true;
            }
        }
        return false;
    case STUDIO_TEST_BETWEEN:
        return value >= first && value <= condition->numbers[1];
    case STUDIO_TEST_PRESENT:
        return true;
    case STUDIO_TEST_MISSING:
    case STUDIO_TEST_CONTAINS:
    case STUDIO_TEST_STARTS:
    case STUDIO_TEST_ENDS:
    case STUDIO_TEST_GLOB:
    default:
        return false;
    }
}

static void judge_texts(const studio_scan_t *scan, studio_condition_t *condition)
{
    condition->verdicts = sim_alloc_array(scan->table_count, sizeof(*condition->verdicts));
    for (size_t i = 0; i < scan->table_count; i++) {
        const size_t place = scan->tables[i].places[condition->column];
        if (place == STUDIO_NO_COLUMN) {
            continue;
        }
        const studio_table_t *const table = scan->tables[i].table;
        const uint32_t count = table->columns[place].text_count;
        condition->verdicts[i] = sim_alloc((size_t)count + 1);
        for (uint32_t id = 0; id < count; id++) {
            condition->verdicts[i][id] = text_holds(condition, studio_table_text(table, place, id));
        }
    }
}

static sim_err_t take_condition(studio_scan_t *scan, const json_t *row, size_t group,
                                studio_place_error_t *error)
{
    const char *const name = json_string_value(json_object_get(row, "column"));
    const char *const op = json_string_value(json_object_get(row, "op"));
    const size_t column = name != NULL ? studio_scan_find(scan, name) : scan->column_count;
    if (column == scan->column_count) {
        return sim_fail(&error->message, SIM_ERR_UNKNOWN, "the table %s has no column '%.60s'",
                        scan->name, name != NULL ? name : "");
    }
    size_t i = 0;
    while (i < SIM_COUNT_OF(tests) && (op == NULL || strcmp(tests[i].name, op) != 0)) {
        i++;
    }
    if (i == SIM_COUNT_OF(tests)) {
        return sim_fail(&error->message, SIM_ERR_UNKNOWN,
                        "%s: op is '%.20s', expected one of = != < <= > >= in between contains "
                        "starts ends glob missing present",
                        name, op != NULL ? op : "");
    }
    if (scan->condition_count == STUDIO_CONDITIONS_MAX) {
        return sim_fail(&error->message, SIM_ERR_INVALID, "filter: expected at most 64 conditions");
    }
    studio_condition_t *const condition = &scan->conditions[scan->condition_count++];
    *condition = (studio_condition_t){.column = column, .test = tests[i].test, .group = group};
    const sim_err_t code =
        take_values(&scan->columns[column], condition, json_object_get(row, "value"), error);
    if (code == SIM_OK && scan->columns[column].type == STUDIO_TEXT) {
        judge_texts(scan, condition);
    }
    return code;
}

sim_err_t studio_scan_filter(studio_scan_t *scan, const json_t *conditions,
                             studio_place_error_t *error)
{
    *error = (studio_place_error_t){.column = 0};
    if (conditions == NULL || json_is_null(conditions)) {
        return SIM_OK;
    }
    if (!json_is_array(conditions)) {
        return sim_fail(&error->message, SIM_ERR_INVALID, "filter: expected a list of conditions");
    }
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const json_t *const row = json_array_get(conditions, i);
        const json_t *const any = json_object_get(row, "any");
        const size_t count = any != NULL ? json_array_size(any) : 1;
        if (count == 0) {
            return sim_fail(&error->message, SIM_ERR_INVALID, "any: expected a list of conditions");
        }
        for (size_t j = 0; j < count; j++) {
            const sim_err_t code = take_condition(scan, any != NULL ? json_array_get(any, j) : row,
                                                  scan->group_count, error);
            if (code != SIM_OK) {
                return code;
            }
        }
        scan->group_count++;
    }
    return SIM_OK;
}

void studio__condition_fini(const studio_scan_t *scan, studio_condition_t *condition)
{
    sim_free_each(condition->texts, condition->count);
    sim_free_each(condition->verdicts, scan->table_count);
    SIM_FREE_ALL(condition->numbers, condition->texts, condition->verdicts);
}

bool studio__condition_may_hold(const studio_scan_t *scan, const studio_condition_t *condition)
{
    const studio_scan_table_t *const table = &scan->tables[scan->table];
    const size_t place = table->places[condition->column];
    if (place == STUDIO_NO_COLUMN || scan->columns[condition->column].type != STUDIO_NUMBER) {
        return true;
    }
    const studio_block_t *const block = &table->table->columns[place].blocks[scan->block];
    const double first = condition->count > 0 ? condition->numbers[0] : 0;
    switch ((int)condition->test) {
    case STUDIO_TEST_EQUAL:
        return block->least <= first && block->most >= first;
    case STUDIO_TEST_LESS:
        return block->least < first;
    case STUDIO_TEST_LESS_EQUAL:
        return block->least <= first;
    case STUDIO_TEST_MORE:
        return block->most > first;
    case STUDIO_TEST_MORE_EQUAL:
        return block->most >= first;
    case STUDIO_TEST_BETWEEN:
        return block->most >= first && block->least <= condition->numbers[1];
    case STUDIO_TEST_MISSING:
        return block->missing > 0;
    default:
        return true;
    }
}

void studio__condition_apply(studio_scan_t *scan, const studio_condition_t *condition, size_t rows,
                             uint8_t *mask)
{
    if (scan->columns[condition->column].type == STUDIO_NUMBER) {
        const double *const numbers = studio__scan_numbers(scan, condition->column);
        for (size_t i = 0; i < rows; i++) {
            mask[i] |= number_holds(condition, numbers[i]);
        }
        return;
    }
    const uint32_t *const ids = studio__scan_ids(scan, condition->column);
    const uint8_t *const verdicts = condition->verdicts[scan->table];
    const bool missing_holds = condition->test == STUDIO_TEST_MISSING;
    if (ids == NULL) {
        const bool is_name = strcmp(scan->columns[condition->column].name, "run_name") == 0;
        const bool holds =
            is_name ? text_holds(condition, scan->tables[scan->table].source->name) : missing_holds;
        for (size_t i = 0; i < rows; i++) {
            mask[i] |= holds;
        }
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        mask[i] |= ids[i] == STUDIO_TEXT_MISSING ? missing_holds : verdicts[ids[i]];
    }
}
