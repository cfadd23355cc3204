// SPDX-License-Identifier: Apache-2.0
// world/values/parameters.c - the section `parameters`: values, chosen sections, expressions.
//
// A parameter of the long form has a value that other values are computed from. This file changes
// the tree of the scenario before any section is read, so that the sections know no parameters.
#include "world/parameters.h"
#include "world/values/values.h"

#include "world/bind.h"
#include "world/scenario.h"
#include "world/values/expression.h"
#include "world/values/file_number.h"
#include "world/world.h"

#include <string.h>

#define PAGE "docs/formats/scenario.md"
#define TEXT_BYTES_MAX 4096u
#define CHAIN_MAX 16u // parameters that are computed from one another, which bounds the stack

static const char *const keys[] = {"default", "path", "choose", "help"};

typedef enum state {
    STATE_NEW,
    STATE_ACTIVE, // its value is being computed
    STATE_DONE,
} state_t;

typedef struct parameter {
    const char *name;
    world_tree_t *tree; // of the entry; a mapping in the long form
    state_t state;
} parameter_t;

typedef struct parameters {
    world_document_t *document;
    parameter_t list[WORLD_PARAMETERS_MAX];
    size_t count;
    const char *active[CHAIN_MAX]; // names whose values are being computed, in order
    size_t active_count;
    size_t parts; // copied into the tree so far
    const world_tree_t *root;
} parameters_t;

world_tree_t *world__parameters_section(const world_tree_t *root)
{
    world_tree_t *const map = world_tree_value(root, "parameters");
    return map != NULL && map->kind == WORLD_TREE_MAP ? map : NULL;
}

world_tree_t *world_parameter_find(const world_tree_t *root, const char *name, size_t size)
{
    const world_tree_t *const map = world__parameters_section(root);
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        const char *const key = map->entries[i].key->text;
        if (strlen(key) == size && memcmp(key, name, size) == 0) {
            world_tree_t *const value = map->entries[i].value;
            return value->kind == WORLD_TREE_MAP ? value : NULL;
        }
    }
    return NULL;
}

void world_parameter_set(world_document_t *document, world_tree_t *map, world_tree_t *value)
{
    world_tree_entry_t *const entry = world_tree_find(map, "default");
    if (entry != NULL) {
        entry->value = value;
    } else {
        world_tree_add(map, world_tree_new_scalar(document, value->place, "default"), value);
    }
}

// -- checks

static bool is_plain(const world_tree_t *tree)
{
    return tree->kind == WORLD_TREE_SCALAR && !tree->is_null;
}

static bool is_plain_or_list(const world_tree_t *tree)
{
    bool good = is_plain(tree) || tree->kind == WORLD_TREE_LIST;
    for (size_t i = 0; tree->kind == WORLD_TREE_LIST && i < tree->count; i++) {
        good = good && is_plain(tree->entries[i].value);
    }
    return good;
}

static bool is_name(const char *text)
{
    const size_t size =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return size > 0 && text[size] == '\0' && (text[0] < '0' || text[0] > '9');
}

static sim_err_t fail(const parameter_t *parameter, const world_tree_t *tree, const char *key,
                      const char *expected, world_error_t *error)
{
    return world_fail(error, SIM_ERR_INVALID, &tree->place,
                      "%s of parameter '%s' is %s, expected %s", key, parameter->name,
                      world_tree_kind_text(tree), expected);
}

static sim_err_t check_sections(const parameter_t *parameter, const world_tree_t *choose,
                                bool has_path, world_error_t *error)
{
    if (choose->kind != WORLD_TREE_MAP || choose->count == 0) {
        return fail(parameter, choose, "choose", "a mapping of names to sections of the scenario",
                    error);
    }
    for (size_t i = 0; i < choose->count && !has_path; i++) {
        const world_tree_t *const section = choose->entries[i].value;
        if (section->kind != WORLD_TREE_MAP && !section->is_null) {
            return world_fail(error, SIM_ERR_INVALID, &section->place,
                              "choice '%s' of parameter '%s' is %s, expected a mapping such as "
                              "'nic: {mtu: 1024}', or a path for it beside choose",
                              choose->entries[i].key->text, parameter->name,
                              world_tree_kind_text(section));
        }
    }
    return SIM_OK;
}

static sim_err_t check_form(const parameter_t *parameter, const world_tree_t *key,
                            world_error_t *error)
{
    const world_tree_t *const map = parameter->tree;
    world_shown_t shown;
    if (!is_name(parameter->name)) {
        return world_fail(error, SIM_ERR_INVALID, &key->place,
                          "'%s' cannot stand in an expression, expected a name of letters, digits "
                          "and _",
                          world_show(&shown, parameter->name));
    }
    if (map->count == 0) {
        return fail(parameter, map, "the form", "{default: ..., path: ..., choose: ...}", error);
    }
    char *const what = sim_format("parameter '%s'", parameter->name);
    sim_err_t result = world_tree_check_keys(map, what, keys, SIM_COUNT_OF(keys), PAGE, error);
    sim_free(what);
    const world_tree_t *const path = world_tree_value(map, "path");
    const world_tree_t *const choose = world_tree_value(map, "choose");
    const world_tree_t *const value = world_tree_value(map, "default");
    const world_tree_t *const help = world_tree_value(map, "help");
    if (result == SIM_OK && path != NULL &&
        (!is_plain_or_list(path) || (path->kind == WORLD_TREE_LIST && path->count == 0))) {
        result = fail(parameter, path, "path", "a path such as nic.mtu, or a list of paths", error);
    }
    if (result == SIM_OK && help != NULL && !is_plain(help)) {
        result = fail(parameter, help, "help", "a text", error);
    }
    if (result == SIM_OK && choose != NULL) {
        result = check_sections(parameter, choose, path != NULL, error);
    }
    if (result == SIM_OK && choose != NULL && value == NULL) {
        result = world_fail(error, SIM_ERR_INVALID, &map->place,
                            "parameter '%s' chooses nothing, expected a default: one of the names "
                            "below choose",
                            parameter->name);
    }
    if (result == SIM_OK && value != NULL &&
        !(choose != NULL ? is_plain(value) : is_plain_or_list(value))) {
        result =
            fail(parameter, value, "the value",
                 choose != NULL ? "one of the names below choose" : "a value, or a list of values",
                 error);
    }
    return result;
}

// -- values

static parameter_t *find(parameters_t *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->count; i++) {
        if (strcmp(parameters->list[i].name, name) == 0) {
            return &parameters->list[i];
        }
    }
    return NULL;
}

static sim_err_t unknown_name(const parameters_t *parameters, const char *name,
                              const world_place_t *place, world_error_t *error)
{
    const char *names[WORLD_PARAMETERS_MAX];
    for (size_t i = 0; i < parameters->count; i++) {
        names[i] = parameters->list[i].name;
    }
    world_shown_t shown;
    world_fail(error, SIM_ERR_UNKNOWN, place, "unknown parameter '%s'", world_show(&shown, name));
    world_error_add_nearest(error, name, names, parameters->count);
    if (parameters->count > 0) {
        world_error_add_names(error, names, parameters->count, PAGE);
    } else {
        world_error_add(error, ", expected a name under parameters, such as '%s: {default: 8}'",
                        world_show(&shown, name));
    }
    return SIM_ERR_UNKNOWN;
}

static sim_err_t in_a_cycle(const parameters_t *parameters, const char *name,
                            const world_place_t *place, world_error_t *error)
{
    world_fail(error, SIM_ERR_INVALID, place, "parameters depend on themselves: ");
    size_t i = 0;
    while (strcmp(parameters->active[i], name) != 0) {
        i++;
    }
    for (; i < parameters->active_count; i++) {
        world_error_add(error, "%s -> ", parameters->active[i]);
    }
    world_error_add(error, "%s, expected a value that can be computed first", name);
    return SIM_ERR_INVALID;
}

static sim_err_t replace_value(parameters_t *parameters, world_tree_t *tree, world_error_t *error);

// Finds the computed value of a parameter of the long form.
static sim_err_t find_value(parameters_t *parameters, const char *name, const world_place_t *place,
                            const world_tree_t **value, world_error_t *error)
{
    parameter_t *const parameter = find(parameters, name);
    if (parameter == NULL) {
        return unknown_name(parameters, name, place, error);
    }
    if (parameter->tree->kind != WORLD_TREE_MAP) {
        return world_fail(error, SIM_ERR_INVALID, place,
                          "parameter '%s' only names a path, expected one with a value: '%s: "
                          "{path: ..., default: ...}'",
                          name, name);
    }
    if (parameter->state == STATE_ACTIVE) {
        return in_a_cycle(parameters, name, place, error);
    }
    world_tree_t *const tree = world_tree_value(parameter->tree, "default");
    if (tree == NULL) {
        return world_fail(error, SIM_ERR_INVALID, place,
                          "parameter '%s' has no value, expected a default, or --set %s=VALUE",
                          name, name);
    }
    sim_err_t result = SIM_OK;
    if (parameter->state == STATE_NEW && parameters->active_count == CHAIN_MAX) {
        return world_fail(error, SIM_ERR_RANGE, place,
                          "parameter '%s' ends a chain of parameters that are computed from one "
                          "another, expected at most %u",
                          name, CHAIN_MAX);
    }
    if (parameter->state == STATE_NEW) {
        parameter->state = STATE_ACTIVE;
        parameters->active[parameters->active_count++] = parameter->name;
        result = replace_value(parameters, tree, error);
        parameters->active_count--;
        parameter->state = STATE_DONE;
    }
    *value = tree;
    return result;
}

// Finds a number about the file that a parameter names: name is "FUNCTION(PARAMETER)".
static sim_err_t number_about(parameters_t *parameters, const char *name,
                              const world_place_t *place, world_number_t *number,
                              world_error_t *error)
{
    const size_t prefix = strcspn(name, "(") + 1;
    char *const function = sim_format("%.*s", (int)prefix - 1, name);
    char *const parameter = sim_format("%.*s", (int)(strlen(name) - prefix - 1), name + prefix);
    const world_tree_t *value = NULL;
    sim_err_t result = find_value(parameters, parameter, place, &value, error);
    SIM_CHECK(result != SIM_OK || value != NULL);
    if (result == SIM_OK && value->kind != WORLD_TREE_SCALAR) {
        result = world_fail(error, SIM_ERR_INVALID, place,
                            "parameter '%s' is %s, expected the name of a file", parameter,
                            world_tree_kind_text(value));
    } else if (result == SIM_OK) {
        result = world_file_number(parameters->root, function, value->text, place, number, error);
    }
    sim_free(function);
    sim_free(parameter);
    return result;
}

static sim_err_t number_of(const char *name, const world_place_t *place, world_number_t *number,
                           world_error_t *error, void *ctx)
{
    const world_tree_t *value = NULL;
    if (strchr(name, '(') != NULL) {
        return number_about(ctx, name, place, number, error);
    }
    const sim_err_t result = find_value(ctx, name, place, &value, error);
    if (result != SIM_OK) {
        return result;
    }
    SIM_CHECK(value != NULL);
    if (value->kind != WORLD_TREE_SCALAR || !world_number_read(value->text, number)) {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_INVALID, place,
                          "parameter '%s' is %s in a computation, expected a number such as 64, "
                          "64KiB, 10us or 400Gbps",
                          name,
                          value->kind == WORLD_TREE_SCALAR ? world_show(&shown, value->text)
                                                           : world_tree_kind_text(value));
    }
    return SIM_OK;
}

// -- expressions in texts

// Returns the bytes up to the parenthesis that closes the one at text[0]; 0 if it stays open.
static size_t closing(const char *text)
{
    size_t depth = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        depth += text[i] == '(';
        depth -= text[i] == ')';
        if (depth == 0) {
            return i;
        }
    }
    return 0;
}

// Returns the expression without the blanks around it.
static char *trimmed(const char *text, size_t size)
{
    while (size > 0 && text[0] == ' ') {
        text++;
        size--;
    }
    while (size > 0 && text[size - 1] == ' ') {
        size--;
    }
    return sim_format("%.*s", (int)size, text);
}

// Returns what stands for an expression, in *list if it is the name of a list.
static sim_err_t compute(parameters_t *parameters, const char *expression,
                         const world_place_t *place, char **text, const world_tree_t **list,
                         world_error_t *error)
{
    *list = NULL;
    if (is_name(expression)) {
        const world_tree_t *value = NULL;
        const sim_err_t result = find_value(parameters, expression, place, &value, error);
        if (result == SIM_OK && value->kind == WORLD_TREE_LIST) {
            *list = value;
        } else if (result == SIM_OK) {
            *text = sim_strdup(value->text);
        }
        return result;
    }
    world_number_t number;
    const sim_err_t result =
        world_expression_value(expression, place, number_of, parameters, &number, error);
    if (result == SIM_OK) {
        *text = world_number_text(&number);
    }
    return result;
}

// Makes a scalar the copy of a list.
static sim_err_t become_list(parameters_t *parameters, world_tree_t *tree, const world_tree_t *list,
                             world_error_t *error)
{
    parameters->parts += list->count + 1;
    if (parameters->parts > WORLD_YAML_PARTS_MAX) {
        return world_fail(
            error, SIM_ERR_RANGE, &tree->place,
            "the lists of the parameters become too large, expected at most %u values",
            WORLD_YAML_PARTS_MAX);
    }
    sim_free(tree->text);
    tree->text = NULL;
    tree->kind = WORLD_TREE_LIST;
    for (size_t i = 0; i < list->count; i++) {
        world_tree_add(
            tree, NULL,
            world_tree_new_scalar(parameters->document, tree->place, list->entries[i].value->text));
    }
    return SIM_OK;
}

// Replaces the first expression of a text, which begins at `start`.
static sim_err_t replace_first(parameters_t *parameters, world_tree_t *tree, const char *start,
                               size_t *done, world_error_t *error)
{
    world_shown_t shown;
    const size_t size = closing(start + 1);
    if (size == 0) {
        return world_fail(error, SIM_ERR_INVALID, &tree->place,
                          "'%s' is not closed, expected an expression such as $(gpus / 8)",
                          world_show(&shown, start));
    }
    char *const expression = trimmed(start + 2, size - 1);
    const char *const rest = start + 2 + size;
    char *text = NULL;
    const world_tree_t *list = NULL;
    sim_err_t result = compute(parameters, expression, &tree->place, &text, &list, error);
    if (result == SIM_OK && list != NULL) {
        const bool alone = start == tree->text && *rest == '\0';
        result = alone ? become_list(parameters, tree, list, error)
                       : world_fail(error, SIM_ERR_INVALID, &tree->place,
                                    "parameter '%s' is a list within a text, expected it alone",
                                    expression);
    } else if (result == SIM_OK) {
        char *const whole =
            sim_format("%.*s%s%s", (int)(start - tree->text), tree->text, text, rest);
        *done = (size_t)(start - tree->text) + strlen(text);
        if (strlen(whole) > TEXT_BYTES_MAX) {
            result = world_fail(error, SIM_ERR_RANGE, &tree->place,
                                "the text with its parameters is too long, expected at most %u "
                                "characters",
                                TEXT_BYTES_MAX);
            sim_free(whole);
        } else {
            sim_free(tree->text);
            tree->text = whole;
        }
    }
    sim_free(expression);
    sim_free(text);
    return result;
}

static sim_err_t replace_text(parameters_t *parameters, world_tree_t *tree, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    size_t done = 0; // what was put in is not read again
    while (result == SIM_OK && tree->kind == WORLD_TREE_SCALAR && tree->text != NULL) {
        const char *const start = strstr(tree->text + done, "$(");
        if (start == NULL) {
            // "$(" would be read again in the resolved scenario.
            return strstr(tree->text, "$(") == NULL
                       ? SIM_OK
                       : world_fail(error, SIM_ERR_INVALID, &tree->place,
                                    "a value before '(' ends with $, expected a text without $(");
        }
        result = replace_first(parameters, tree, start, &done, error);
    }
    return result;
}

static sim_err_t check_twin(const world_tree_t *map, size_t index, world_error_t *error)
{
    const world_tree_t *const key = map->entries[index].key;
    for (size_t i = 0; i < map->count; i++) {
        if (i != index && strcmp(map->entries[i].key->text, key->text) == 0) {
            world_shown_t shown;
            return world_fail(error, SIM_ERR_EXISTS, &key->place,
                              "'%s' is there twice with these parameters, expected it once",
                              world_show(&shown, key->text));
        }
    }
    return SIM_OK;
}

static sim_err_t replace_key(parameters_t *parameters, const world_tree_t *map, size_t index,
                             world_error_t *error)
{
    world_tree_t *const key = map->entries[index].key;
    if (strstr(key->text, "$(") == NULL) {
        return SIM_OK;
    }
    const sim_err_t result = replace_text(parameters, key, error);
    if (result == SIM_OK && key->kind != WORLD_TREE_SCALAR) {
        return world_fail(error, SIM_ERR_INVALID, &key->place,
                          "a list stands for a key, expected one value");
    }
    return result == SIM_OK ? check_twin(map, index, error) : result;
}

static sim_err_t replace_value(parameters_t *parameters, world_tree_t *tree, world_error_t *error)
{
    if (tree->kind == WORLD_TREE_SCALAR) {
        return replace_text(parameters, tree, error);
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < tree->count && result == SIM_OK; i++) {
        if (tree->kind == WORLD_TREE_MAP) {
            result = replace_key(parameters, tree, i, error);
        }
        if (result == SIM_OK) {
            result = replace_value(parameters, tree->entries[i].value, error);
        }
    }
    return result;
}

// -- values and sections at their paths

static sim_err_t put(parameters_t *parameters, world_tree_t *root, const world_tree_t *path,
                     world_tree_t *value, world_error_t *error)
{
    if (path == NULL) {
        world_tree_merge(root, value);
        return SIM_OK;
    }
    const bool list = path->kind == WORLD_TREE_LIST;
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < (list ? path->count : 1) && result == SIM_OK; i++) {
        const world_tree_t *const one = list ? path->entries[i].value : path;
        world_tree_t *const copy = world_tree_copy(parameters->document, value);
        result = world__merge_value(parameters->document, root, one, copy, error);
    }
    return result;
}

static sim_err_t put_choice(parameters_t *parameters, world_tree_t *root,
                            const parameter_t *parameter, const world_tree_t *choose,
                            world_error_t *error)
{
    const world_tree_t *const name = world_tree_value(parameter->tree, "default");
    SIM_CHECK(name != NULL && name->text != NULL); // check_form saw to it
    const world_tree_entry_t *entry = world_tree_find(choose, name->text);
    entry = entry == NULL ? world_tree_find(choose, WORLD_PARAMETERS_ELSE) : entry;
    if (entry == NULL) {
        const char **const names = sim_alloc_array(choose->count, sizeof(*names));
        for (size_t i = 0; i < choose->count; i++) {
            names[i] = choose->entries[i].key->text;
        }
        world_shown_t shown;
        world_fail(error, SIM_ERR_UNKNOWN, &name->place, "unknown choice '%s' of parameter '%s'",
                   world_show(&shown, name->text), parameter->name);
        world_error_add_nearest(error, name->text, names, choose->count);
        world_error_add_names(error, names, choose->count, "the scenario");
        sim_free((void *)names);
        return SIM_ERR_UNKNOWN;
    }
    if (entry->value->is_null) {
        return SIM_OK;
    }
    return put(parameters, root, world_tree_value(parameter->tree, "path"), entry->value, error);
}

static sim_err_t expand(parameters_t *parameters, world_tree_t *root, const parameter_t *parameter,
                        world_error_t *error)
{
    const world_tree_t *const map = parameter->tree;
    if (map->kind != WORLD_TREE_MAP) {
        return SIM_OK;
    }
    world_tree_t *const value = world_tree_value(map, "default");
    const world_tree_t *const choose = world_tree_value(map, "choose");
    const world_tree_t *const path = world_tree_value(map, "path");
    if (choose != NULL) {
        return put_choice(parameters, root, parameter, choose, error);
    }
    return path != NULL && value != NULL ? put(parameters, root, path, value, error) : SIM_OK;
}

// Lists the parameters of a tree.
static sim_err_t list(parameters_t *parameters, const world_tree_t *map, world_error_t *error)
{
    if (map->count > WORLD_PARAMETERS_MAX) {
        return world_fail(error, SIM_ERR_RANGE, &map->place, "%zu parameters, expected at most %u",
                          map->count, WORLD_PARAMETERS_MAX);
    }
    for (size_t i = 0; i < map->count; i++) {
        parameters->list[parameters->count++] =
            (parameter_t){.name = map->entries[i].key->text, .tree = map->entries[i].value};
    }
    return SIM_OK;
}

sim_err_t world_parameters_expand(world_document_t *document, world_tree_t *root,
                                  world_error_t *error)
{
    const world_tree_t *const map = world__parameters_section(root);
    if (map == NULL) {
        return SIM_OK;
    }
    parameters_t parameters = {.document = document, .root = root};
    sim_err_t result = list(&parameters, map, error);
    for (size_t i = 0; i < parameters.count && result == SIM_OK; i++) {
        if (parameters.list[i].tree->kind == WORLD_TREE_MAP) {
            result = check_form(&parameters.list[i], map->entries[i].key, error);
        }
    }
    for (size_t i = 0; i < parameters.count && result == SIM_OK; i++) {
        const parameter_t *const parameter = &parameters.list[i];
        const world_tree_t *value = NULL;
        if (parameter->tree->kind == WORLD_TREE_MAP &&
            world_tree_value(parameter->tree, "default") != NULL) {
            result =
                find_value(&parameters, parameter->name, &parameter->tree->place, &value, error);
        }
        if (result == SIM_OK && value != NULL && !is_plain_or_list(value)) {
            result = fail(parameter, value, "the value", "a value, or a list of values", error);
        }
    }
    for (size_t i = 0; i < parameters.count && result == SIM_OK; i++) {
        result = expand(&parameters, root, &parameters.list[i], error);
    }
    return result;
}

sim_err_t world_parameters_replace(world_document_t *document, world_tree_t *root,
                                   world_error_t *error)
{
    parameters_t parameters = {.document = document, .root = root};
    const world_tree_t *const map = world__parameters_section(root);
    sim_err_t result = map != NULL ? list(&parameters, map, error) : SIM_OK;
    for (size_t i = 0; i < parameters.count; i++) {
        parameters.list[i].state = STATE_DONE;
    }
    for (size_t i = 0; i < root->count && result == SIM_OK; i++) {
        if (root->entries[i].value != map) {
            result = replace_value(&parameters, root->entries[i].value, error);
        }
    }
    return result;
}
