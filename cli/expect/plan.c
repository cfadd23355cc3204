// SPDX-License-Identifier: Apache-2.0
// cli/expect/plan.c - reads a file of expectations.
#include "cli/expect/expect.h"

#include "cli/library.h"
#include "world/bind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "docs/formats/expect.md"

static const char *const case_keys[] = {"name", "scenario", "set", "expect"};
static const char *const file_keys[] = {"name", "scenario", "set", "expect", "cases"};

// Reads the number at the beginning of a text. Returns where it ends; NULL: there is no number.
static const char *take_number(const char *text, double *number)
{
    char *end = NULL;
    *number = strtod(text, &end);
    return end != text && isfinite(*number) ? end : NULL;
}

// Moves `text` behind a word that stands there, and the spaces around it. Returns whether it does.
static bool take_word(const char **text, const char *word)
{
    const char *const begin = *text + strspn(*text, " ");
    if (strncmp(begin, word, strlen(word)) != 0) {
        return false;
    }
    *text = begin + strlen(word);
    *text += strspn(*text, " ");
    return true;
}

// Reads "2 % of 45.3" or "0.5 of 45.3". Returns whether it is that.
static bool take_range(const char *text, cli_expectation_t *expectation)
{
    double margin = 0;
    text = take_number(text, &margin);
    if (text == NULL || margin < 0) {
        return false;
    }
    const bool percent = take_word(&text, "%");
    if (!take_word(&text, "of") || (text = take_number(text, &expectation->value)) == NULL) {
        return false;
    }
    expectation->margin = percent ? fabs(expectation->value) * margin / 100 : margin;
    return text[strspn(text, " ")] == '\0';
}

// Reads what stands behind the operator. Returns whether it is right.
static bool take_value(const char *text, cli_expectation_t *expectation)
{
    if (expectation->op == CLI_EXPECT_WITHIN) {
        return take_range(text, expectation);
    }
    const char *const end = take_number(text, &expectation->value);
    if (end != NULL && end[strspn(end, " ")] == '\0') {
        return true;
    }
    const bool compares =
        expectation->op == CLI_EXPECT_EQUAL || expectation->op == CLI_EXPECT_UNEQUAL;
    if (!compares || end != NULL || text[0] == '\0') {
        return false;
    }
    expectation->word = sim_strdup(text);
    return true;
}

static sim_err_t take_expectation(const world_tree_t *item, cli_expectation_t *expectation,
                                  world_error_t *error)
{
    static const struct {
        const char *text;
        cli_expect_op_t op;
    } ops[] = {
        {"<=", CLI_EXPECT_AT_MOST},     {"<", CLI_EXPECT_BELOW},  {">=", CLI_EXPECT_AT_LEAST},
        {">", CLI_EXPECT_ABOVE},        {"==", CLI_EXPECT_EQUAL}, {"!=", CLI_EXPECT_UNEQUAL},
        {"within ", CLI_EXPECT_WITHIN},
    };
    *expectation = (cli_expectation_t){.item = item};
    bool good = item->kind == WORLD_TREE_SCALAR && !item->is_null;
    const char *text = good ? item->text : "";
    const size_t size = strcspn(text, " ");
    expectation->path = sim_format("%.*s", (int)size, text);
    text += size;
    size_t i = 0;
    while (good && i < SIM_COUNT_OF(ops) && !take_word(&text, ops[i].text)) {
        i++;
    }
    good = good && size > 0 && i < SIM_COUNT_OF(ops);
    expectation->op = good ? ops[i].op : CLI_EXPECT_EQUAL;
    if (!good || !take_value(text, expectation)) {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_INVALID, &item->place,
                          "'%s' is no expectation, expected such as 'flows.slowdown.p99 < 12', "
                          "'ended == done' or 'flows.fct_us.p50 within 2 %% of 45.3' (" PAGE ")",
                          world_show(&shown, item->kind == WORLD_TREE_SCALAR
                                                 ? item->text
                                                 : world_tree_kind_text(item)));
    }
    return SIM_OK;
}

static sim_err_t take_settings(const world_tree_t *map, cli_expect_case_t *one,
                               world_error_t *error)
{
    if (map != NULL && map->kind != WORLD_TREE_MAP) {
        return world_tree_fail(map, "set", "a mapping of paths to values", error);
    }
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        char *const text =
            world_value_text(map->entries[i].value, map->entries[i].key->text, error);
        if (text == NULL) {
            return SIM_ERR_INVALID;
        }
        SIM_APPEND(one->settings, one->setting_count, one->setting_capacity,
                   sim_format("%s=%s", map->entries[i].key->text, text));
        sim_free(text);
    }
    return SIM_OK;
}

// Reads a case. `common` is the whole file, whose scenario and settings hold for all of its cases.
static sim_err_t take_case(const char *file_name, const world_tree_t *common,
                           const world_tree_t *map, cli_expect_case_t *one, world_error_t *error)
{
    const world_tree_t *const own = world_tree_value(map, "scenario");
    const world_tree_t *const scenario = own != NULL ? own : world_tree_value(common, "scenario");
    const world_tree_t *const name = world_tree_value(map, "name");
    const world_tree_t *const list = world_tree_value(map, "expect");
    if (scenario == NULL || scenario->kind != WORLD_TREE_SCALAR) {
        return world_fail(error, SIM_ERR_INVALID, &map->place,
                          "no scenario, expected its file or its name: 'scenario: base.yaml'");
    }
    if (list == NULL || list->kind != WORLD_TREE_LIST || list->count == 0) {
        return world_fail(error, SIM_ERR_INVALID, list != NULL ? &list->place : &map->place,
                          "nothing is expected, expected a list: 'expect: [drops.total == 0]'");
    }
    one->name =
        sim_strdup(name != NULL && name->kind == WORLD_TREE_SCALAR ? name->text : scenario->text);
    one->scenario = cli_library_beside(file_name, scenario->text);
    sim_err_t result =
        map != common ? take_settings(world_tree_value(common, "set"), one, error) : SIM_OK;
    if (result == SIM_OK) {
        result = take_settings(world_tree_value(map, "set"), one, error);
    }
    one->expectations = sim_alloc_array(list->count, sizeof(*one->expectations));
    for (size_t i = 0; i < list->count && result == SIM_OK; i++) {
        result = take_expectation(list->entries[i].value, &one->expectations[i], error);
        one->expectation_count++;
    }
    return result;
}

sim_err_t cli_expect_load(const char *name, cli_expect_file_t *file, world_error_t *error)
{
    *file = (cli_expect_file_t){.name = name, .document = world_document_create()};
    world_tree_t *root = NULL;
    sim_err_t result = world_yaml_read(file->document, name, &root, error);
    if (result == SIM_OK && root->kind != WORLD_TREE_MAP) {
        result = world_tree_fail(root, "a file of expectations",
                                 "a mapping with 'scenario' and 'expect'", error);
    }
    if (result == SIM_OK) {
        result = world_tree_check_keys(root, "a file of expectations", file_keys,
                                       SIM_COUNT_OF(file_keys), PAGE, error);
    }
    const world_tree_t *const cases = result == SIM_OK ? world_tree_value(root, "cases") : NULL;
    if (cases != NULL && (cases->kind != WORLD_TREE_LIST || cases->count == 0)) {
        result = world_tree_fail(cases, "cases", "a list of mappings", error);
    }
    const size_t count = cases != NULL ? cases->count : 1;
    file->cases = sim_alloc_array(count, sizeof(*file->cases));
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        const world_tree_t *const map = cases != NULL ? cases->entries[i].value : root;
        if (map->kind != WORLD_TREE_MAP) {
            return world_tree_fail(map, "a case", "a mapping with 'expect'", error);
        }
        result = cases == NULL ? SIM_OK
                               : world_tree_check_keys(map, "a case", case_keys,
                                                       SIM_COUNT_OF(case_keys), PAGE, error);
        if (result == SIM_OK) {
            file->case_count++;
            result = take_case(name, root, map, &file->cases[i], error);
        }
    }
    return result;
}

static void case_fini(cli_expect_case_t *one)
{
    sim_free_each(one->settings, one->setting_count);
    for (size_t i = 0; i < one->expectation_count; i++) {
        SIM_FREE_ALL(one->expectations[i].path, one->expectations[i].word,
                     one->expectations[i].found);
    }
    SIM_FREE_ALL(one->settings, one->expectations, one->name, one->scenario, one->failure);
}

void cli_expect_fini(cli_expect_file_t *file)
{
    for (size_t i = 0; i < file->case_count; i++) {
        case_fini(&file->cases[i]);
    }
    sim_free(file->cases);
    world_document_destroy(file->document);
}
