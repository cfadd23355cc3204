// SPDX-License-Identifier: Apache-2.0
// world/values/parameters_print.c - prints the section `parameters`: what was chosen, for people,
// and all of it as JSON.
#include "world/bind.h"
#include "world/parameters.h"

#include <string.h>

// Returns a choice in words: the last one may stand for every other value.
static const char *shown_name(const char *name)
{
    return strcmp(name, WORLD_PARAMETERS_ELSE) == 0 ? "another value" : name;
}

// Prints the names that could be chosen beside the one that is.
static void print_others(const world_tree_t *choose, const char *chosen, FILE *stream)
{
    const char *before = " (or ";
    for (size_t i = 0; i < choose->count; i++) {
        const char *const name = choose->entries[i].key->text;
        if (strcmp(name, chosen) != 0) {
            fprintf(stream, "%s%s", before, shown_name(name));
            before = ", ";
        }
    }
    fprintf(stream, "%s", choose->count > 1 ? ")" : "");
}

void world_parameters_print(const world_tree_t *root, FILE *stream)
{
    const world_tree_t *const map = world__parameters_section(root);
    const char *label = "parameter";
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        const char *const name = map->entries[i].key->text;
        const world_tree_t *const tree = map->entries[i].value;
        const world_tree_t *const value =
            tree->kind == WORLD_TREE_MAP ? world_tree_value(tree, "default") : NULL;
        world_error_t error;
        char *const text = value != NULL ? world_value_text(value, name, &error) : NULL;
        if (text == NULL) {
            continue;
        }
        fprintf(stream, "  %-9s %s: %s", label, name, text);
        label = "";
        const world_tree_t *const choose = world_tree_value(tree, "choose");
        if (choose != NULL) {
            print_others(choose, text, stream);
        }
        fprintf(stream, "\n");
        sim_free(text);
    }
}

static void put_text(json_t *object, const char *key, const world_tree_t *tree)
{
    world_error_t error;
    char *const text = tree != NULL ? world_value_text(tree, key, &error) : NULL;
    if (text != NULL) {
        json_object_set_new(object, key, json_string(text));
    }
    sim_free(text);
}

// Returns the paths that the parameter sets: none, one, or a list of them.
static json_t *paths_json(const world_tree_t *tree)
{
    json_t *const paths = json_array();
    if (tree != NULL && tree->kind == WORLD_TREE_SCALAR) {
        json_array_append_new(paths, json_string(tree->text));
    }
    for (size_t i = 0; tree != NULL && tree->kind == WORLD_TREE_LIST && i < tree->count; i++) {
        json_array_append_new(paths, json_string(tree->entries[i].value->text));
    }
    return paths;
}

json_t *world_parameters_json(const world_tree_t *root)
{
    const world_tree_t *const section = world__parameters_section(root);
    json_t *const list = json_array();
    for (size_t i = 0; section != NULL && i < section->count; i++) {
        const world_tree_t *const tree = section->entries[i].value;
        const bool map = tree->kind == WORLD_TREE_MAP;
        const world_tree_t *const choose = map ? world_tree_value(tree, "choose") : NULL;
        json_t *const object = json_object();
        json_object_set_new(object, "name", json_string(section->entries[i].key->text));
        put_text(object, "default", map ? world_tree_value(tree, "default") : NULL);
        put_text(object, "help", map ? world_tree_value(tree, "help") : NULL);
        if (choose != NULL) {
            json_t *const choices = json_array();
            for (size_t c = 0; c < choose->count; c++) {
                json_array_append_new(choices, json_string(choose->entries[c].key->text));
            }
            json_object_set_new(object, "choices", choices);
        }
        json_object_set_new(object, "paths",
                            paths_json(map ? world_tree_value(tree, "path") : tree));
        json_array_append_new(list, object);
    }
    return list;
}
