// SPDX-License-Identifier: Apache-2.0
// studio/server/library/study_parameters.c - finds the parameters of a study in its text.
//
// A parameter of a script is used where it is declared: `pick NAME "QUICK" "ALL"` gives the values
// of a loop, `seeds ALL` the number of seeds (scenarios/study_lib.sh). Parameters of a sweep are
// its grid and its variants. Other settings are attributes.
#include "studio/server/library/library_internal.h"
#include "world/yaml_tree.h"

#include <string.h>

#define PICK "$(pick "
#define SEEDS "$(seeds "
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define VALUE_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:/_+-, "

static const studio__entry_t *find_study(const studio_library_t *library, const char *name)
{
    for (size_t i = 0; i < library->count; i++) {
        const studio__entry_t *const entry = &library->entries[i];
        if (entry->is_study && strcmp(entry->name, name) == 0) {
            return entry;
        }
    }
    return NULL;
}

// Reads a quoted text and moves behind it. A text that the script computes is empty.
static json_t *quoted(const char **at)
{
    *at += strspn(*at, " ");
    if (**at != '"') {
        return json_string("");
    }
    const char *const from = *at + 1;
    const size_t length = strcspn(from, "\"\n");
    *at = from + length + (from[length] == '"');
    return memchr(from, '$', length) == NULL ? json_stringn(from, length) : json_string("");
}

static bool has_parameter(const json_t *list, const char *name, size_t length)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *const known =
            json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            return true;
        }
    }
    return false;
}

static json_t *script_parameters(const char *script)
{
    json_t *const list = json_array();
    for (const char *at = strstr(script, PICK); at != NULL; at = strstr(at, PICK)) {
        at += strlen(PICK);
        const char *const word = at;
        const size_t length = strspn(word, NAME_LETTERS);
        at += length;
        if (length == 0 || strncmp(at, " \"", 2) != 0 || has_parameter(list, word, length)) {
            continue;
        }
        json_t *const quick = quoted(&at);
        json_t *const all = quoted(&at);
        (void)json_array_append_new(
            list, json_pack("{s:s%, s:o, s:o}", "name", word, length, "quick", quick, "all", all));
    }
    const char *const seeds = strstr(script, SEEDS);
    if (seeds != NULL) {
        const char *const number = seeds + strlen(SEEDS);
        (void)json_array_append_new(list,
                                    json_pack("{s:s, s:s, s:s%}", "name", "seeds", "quick", "1",
                                              "all", number, strspn(number, "0123456789")));
    }
    return list;
}

// Returns the texts of a list's values, or of a mapping's keys; `otherwise` if there is no tree.
static json_t *values_of(const world_tree_t *tree, const world_tree_t *otherwise)
{
    const world_tree_t *const list = tree != NULL ? tree : otherwise;
    char *text = sim_strdup("");
    for (size_t i = 0; i < list->count; i++) {
        const world_tree_t *const value =
            list->kind == WORLD_TREE_MAP ? list->entries[i].key : list->entries[i].value;
        char *const longer = sim_format("%s%s%s", text, i == 0 ? "" : ", ",
                                        value->kind == WORLD_TREE_SCALAR ? value->text : "");
        sim_free(text);
        text = longer;
    }
    json_t *const values = json_string(text);
    sim_free(text);
    return values;
}

static const world_tree_t *part_of(const world_tree_t *map, const char *key)
{
    return map != NULL && map->kind == WORLD_TREE_MAP ? world_tree_value(map, key) : NULL;
}

static json_t *sweep_parameters(const char *text)
{
    json_t *const list = json_array();
    world_document_t *const document = world_document_create();
    world_error_t error;
    world_tree_t *sweep = NULL;
    if (world_yaml_parse(document, "sweep", true, text, strlen(text), &sweep, &error) == SIM_OK) {
        const world_tree_t *const quick = part_of(sweep, "quick");
        const world_tree_t *const grid = part_of(sweep, "grid");
        const world_tree_t *const variants = part_of(sweep, "variants");
        for (size_t i = 0; grid != NULL && grid->kind == WORLD_TREE_MAP && i < grid->count; i++) {
            const char *const name = grid->entries[i].key->text;
            const world_tree_t *const all = grid->entries[i].value;
            (void)json_array_append_new(
                list, json_pack("{s:s, s:o, s:o}", "name", name, "quick",
                                values_of(part_of(part_of(quick, "grid"), name), all), "all",
                                values_of(NULL, all)));
        }
        if (variants != NULL) {
            (void)json_array_append_new(list,
                                        json_pack("{s:s, s:o, s:o}", "name", "variant", "quick",
                                                  values_of(part_of(quick, "variants"), variants),
                                                  "all", values_of(NULL, variants)));
        }
    }
    world_document_destroy(document);
    return list;
}

json_t *studio_library_parameters(const studio_library_t *library, const char *name)
{
    const studio__entry_t *const study = find_study(library, name);
    return study == NULL     ? json_array()
           : study->is_sweep ? sweep_parameters(study->text)
                             : script_parameters(study->text);
}

bool studio_library_settings(const studio_library_t *library, const char *name, const json_t *set,
                             sim_message_t *message)
{
    json_t *const parameters = studio_library_parameters(library, name);
    bool good = true;
    for (size_t i = 0; good && i < json_array_size(set); i++) {
        const char *const text = json_string_value(json_array_get(set, i));
        const size_t length = strcspn(text, "=");
        const char *const value = text + length + 1;
        if (has_parameter(parameters, text, length) &&
            (value[0] == '\0' || value[strspn(value, VALUE_LETTERS)] != '\0')) {
            (void)sim_fail(message, SIM_ERR_INVALID,
                           "%.*s: expected values of letters, digits and . : / _ + -, with spaces "
                           "or commas between them",
                           (int)length, text);
            good = false;
        }
    }
    json_decref(parameters);
    return good;
}
