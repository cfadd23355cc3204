// SPDX-License-Identifier: Apache-2.0
// cli/params.c - prints the reference of attributes on the terminal and as a Markdown page.
#include "cli/params.h"

#include "nic/detail.h"
#include "world/attributes.h"
#include "world/bind.h"
#include "world/choices.h"
#include "world/parameters.h"
#include "world/scenario.h"
#include "world/tree_paths.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define PATHS_MAX 4096u

sim_err_t cli_params_registry(const cli_args_t *args, world_registry_t **registry,
                              world_error_t *error)
{
    *registry = world_registry_create();
    for (size_t i = 0; i < args->plugin_count; i++) {
        const sim_err_t result = world_registry_add_plugin(*registry, args->plugins[i], error);
        if (result != SIM_OK) {
            world_registry_destroy(*registry);
            *registry = NULL;
            return result;
        }
    }
    return SIM_OK;
}

static const char *type_text(sim_attr_type_t type)
{
    switch (type) {
    case SIM_ATTR_BOOL:
        return "true or false";
    case SIM_ATTR_COUNT:
        return "number";
    case SIM_ATTR_BYTES:
        return "bytes (64KB, 64KiB)";
    case SIM_ATTR_TIME:
        return "time (1us, 20ms)";
    case SIM_ATTR_RATE:
        return "rate (100Gbps)";
    case SIM_ATTR_RATIO:
        return "ratio (0.2, 1/8, 20%)";
    case SIM_ATTR_ENUM:
        return "one of";
    case SIM_ATTR_NAME:
        return "name";
    case SIM_ATTR_STRING:
        return "text";
    case SIM_ATTR_PRIORITIES:
        return "classes 0 to 7 ([3, 4])";
    case SIM_ATTR_WEIGHTS:
        return "weight, or eight ([1, 1, 1, 4, 1, 1, 1, 1])";
    case SIM_ATTR_PROFILES:
        return "list ([25Gbps 100KB 400KB 0.2, 100Gbps 400KB 1600KB 0.2]) of up to 8 rows";
    }
    return "";
}

// Returns "one of none dcqcn..." for an attribute that chooses a part by name, else NULL. Free with
// sim_free.
static char *parts_text(const world_registry_t *registry, const sim_attr_t *attr)
{
    const char **names = NULL;
    const size_t count = world_choices(registry, attr->path, attr->default_text, &names);
    char *text = count > 0 ? sim_strdup("one of") : NULL;
    for (size_t i = 0; i < count; i++) {
        char *const longer = sim_format("%s %s", text, names[i]);
        sim_free(text);
        text = longer;
    }
    sim_free((void *)names);
    return text;
}

// Returns the accepted values in words. Free with sim_free.
static char *values_text(const world_registry_t *registry, const sim_attr_t *attr)
{
    const char *const type = type_text(attr->type);
    const char *const automatic = attr->auto_ok ? ", or auto" : "";
    if (attr->type == SIM_ATTR_ENUM) {
        char *const text = sim_format("%s %s", type, attr->choices);
        for (char *p = text; *p != '\0'; p++) {
            *p = *p == '|' ? ' ' : *p;
        }
        return text;
    }
    char *const parts = parts_text(registry, attr);
    if (parts != NULL) {
        return parts;
    }
    if (attr->min_text != NULL && attr->max_text != NULL) {
        return sim_format("%s, %s to %s%s", type, attr->min_text, attr->max_text, automatic);
    }
    if (attr->min_text != NULL) {
        return sim_format("%s, at least %s%s", type, attr->min_text, automatic);
    }
    if (attr->max_text != NULL) {
        return sim_format("%s, at most %s%s", type, attr->max_text, automatic);
    }
    return sim_format("%s%s", type, automatic);
}

// Returns the default value as a scenario file would write it.
static const char *default_text(const sim_attr_t *attr)
{
    return attr->default_text == NULL || attr->default_text[0] == '\0' ? "\"\""
                                                                       : attr->default_text;
}

// Returns the values that NIC profiles give an attribute ("connectx 8, connectx-3 8..."), or NULL
// if profiles do not set it. Free with sim_free.
static char *profiles_text(const sim_attr_t *attr)
{
    const char *name = NIC_PROFILE_CHOICES;
    char *text = NULL;
    for (uint32_t i = 0; i < NIC_PROFILE_COUNT; i++) {
        const char *const value = nic_detail_text(attr->path, i);
        if (value == NULL) {
            return NULL;
        }
        const size_t size = strcspn(name, "|");
        char *const longer = sim_format("%s%s%.*s %s", text != NULL ? text : "",
                                        text != NULL ? ", " : "", (int)size, name, value);
        sim_free(text);
        text = longer;
        name += size + (name[size] == '|');
    }
    return text;
}

// Returns whether `path` is `prefix` or lies below it. A dot at the end of the prefix is ignored.
static bool begins_with(const char *path, const char *prefix)
{
    size_t size = strlen(prefix);
    size -= size > 0 && prefix[size - 1] == '.';
    return strncmp(path, prefix, size) == 0 &&
           (size == 0 || path[size] == '\0' || path[size] == '.');
}

static void print_attr(const world_registry_t *registry, const sim_attr_table_t *table,
                       const sim_attr_t *attr, FILE *out)
{
    char *const values = values_text(registry, attr);
    fprintf(out, "%s = %s\n    %s\n    %s; a value per %s\n", attr->path, default_text(attr),
            attr->help, values, table->scope);
    sim_free(values);
    char *const profiles = profiles_text(attr);
    if (profiles != NULL) {
        fprintf(out, "    auto: %s\n", profiles);
        sim_free(profiles);
    }
}

// Collects every attribute path and every group of paths, for "did you mean".
static size_t collect_paths(const world_registry_t *registry, const char **paths, char **groups)
{
    const sim_attr_table_t **tables = NULL;
    const size_t table_count = world_attr_tables(registry, &tables);
    size_t count = 0;
    size_t group_count = 0;
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < tables[t]->count && count + 4 < PATHS_MAX; i++) {
            const char *const path = tables[t]->attrs[i].path;
            paths[count++] = path;
            const char *const dot = strrchr(path, '.');
            if (dot != NULL && group_count < PATHS_MAX) {
                groups[group_count] = sim_format("%.*s", (int)(dot - path), path);
                paths[count++] = groups[group_count++];
            }
        }
    }
    groups[group_count] = NULL;
    sim_free((void *)tables);
    return count;
}

static sim_err_t unknown_path(const world_registry_t *registry, const char *path,
                              world_error_t *error)
{
    world_shown_t shown;
    world_fail(error, SIM_ERR_UNKNOWN, NULL, "params: no attribute '%s'", world_show(&shown, path));
    const char **const paths = sim_alloc_array(PATHS_MAX, sizeof(*paths));
    char **const groups = sim_alloc_array(PATHS_MAX + 1, sizeof(*groups));
    const size_t count = collect_paths(registry, paths, groups);
    world_error_add_nearest(error, path, paths, count);
    world_error_add_expected(error, "a path such as switch.ecn or a word such as buffer");
    for (size_t i = 0; groups[i] != NULL; i++) {
        sim_free(groups[i]);
    }
    sim_free(groups);
    sim_free(paths);
    return SIM_ERR_UNKNOWN;
}

// Which attributes are printed for the PATH of a user: those below it, else those whose path
// contains it as a word, else those that accept it as a name, else those whose meaning does.
typedef enum matching { BELOW, IN_PATH, IN_CHOICES, IN_MEANING, MATCHING_COUNT } matching_t;

// Returns whether a text contains the beginning of a word, in upper or lower case.
static bool contains_word(const char *text, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = text; size > 0 && *at != '\0'; at++) {
        if (strncasecmp(at, word, size) == 0 && (at == text || !isalpha((unsigned char)at[-1]))) {
            return true;
        }
    }
    return false;
}

// Returns whether the word begins a name that the attribute takes: one of several, or its default.
static bool is_choice(const world_registry_t *registry, const sim_attr_t *attr, const char *word)
{
    char *const choices =
        attr->type == SIM_ATTR_ENUM ? sim_strdup(attr->choices) : parts_text(registry, attr);
    const bool found =
        choices != NULL ? contains_word(choices, word) : strcasecmp(default_text(attr), word) == 0;
    sim_free(choices);
    return found;
}

static bool matches(const world_registry_t *registry, const sim_attr_t *attr, const char *path,
                    matching_t matching)
{
    switch (matching) {
    case BELOW:
        return begins_with(attr->path, path);
    case IN_PATH:
        return contains_word(attr->path, path);
    case IN_CHOICES:
        return is_choice(registry, attr, path);
    case IN_MEANING:
    case MATCHING_COUNT:
        break;
    }
    return contains_word(attr->help, path);
}

static size_t print_matches(const world_registry_t *registry, const char *path, matching_t matching,
                            FILE *out)
{
    const sim_attr_table_t **tables = NULL;
    const size_t table_count = world_attr_tables(registry, &tables);
    size_t printed = 0;
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < tables[t]->count; i++) {
            if (matches(registry, &tables[t]->attrs[i], path, matching)) {
                fputs(printed++ > 0 ? "\n" : "", out);
                print_attr(registry, tables[t], &tables[t]->attrs[i], out);
            }
        }
    }
    sim_free((void *)tables);
    return printed;
}

sim_err_t cli_params_print(const world_registry_t *registry, const char *path, FILE *out,
                           world_error_t *error)
{
    for (matching_t matching = BELOW; matching < MATCHING_COUNT; matching++) {
        if (print_matches(registry, path, matching, out) > 0) {
            return SIM_OK;
        }
    }
    return unknown_path(registry, path, error);
}

// -- the parameters of a scenario

bool cli_params_is_file(const char *operand)
{
    static const char *const ends[] = {".yaml", ".yml", ".json"};
    const size_t size = strlen(operand);
    for (size_t i = 0; i < SIM_COUNT_OF(ends); i++) {
        const size_t end = strlen(ends[i]);
        if (size > end && strcmp(operand + size - end, ends[i]) == 0) {
            return true;
        }
    }
    return false;
}

static const sim_attr_t *find_attr(const world_registry_t *registry, const char *path)
{
    const sim_attr_table_t **tables = NULL;
    const size_t count = world_attr_tables(registry, &tables);
    const sim_attr_t *attr = NULL;
    for (size_t t = 0; t < count && attr == NULL; t++) {
        attr = sim_attr_find(tables[t], path);
    }
    sim_free((void *)tables);
    return attr;
}

// Returns a value, or a list of values, as text; NULL: the tree has none. Free with sim_free.
static char *tree_text(const world_tree_t *tree)
{
    world_error_t error;
    return tree != NULL ? world_value_text(tree, "", &error) : NULL;
}

static void print_choices(const world_tree_t *choose, FILE *out)
{
    for (size_t i = 0; i < choose->count; i++) {
        const char *const name = choose->entries[i].key->text;
        fprintf(out, "%s%s", i == 0 ? "    one of " : ", ",
                strcmp(name, WORLD_PARAMETERS_ELSE) == 0 ? "another value" : name);
    }
    fputc('\n', out);
}

// Returns the value of a parameter: its default, what stands at its path, or the default of the
// attribute there. NULL: it has none. Free with sim_free.
static char *parameter_value(const world_tree_t *root, const world_tree_t *own, const char *path,
                             const sim_attr_t *attr)
{
    char *const text = tree_text(own);
    if (text != NULL || path == NULL) {
        return text;
    }
    const world_tree_t *const there = world_tree_at_path(root, path);
    char *const placed = there != NULL && there->kind != WORLD_TREE_MAP ? tree_text(there) : NULL;
    return placed != NULL || attr == NULL ? placed : sim_strdup(default_text(attr));
}

// Prints a line below a parameter's name, and frees its text; nothing if that is NULL.
static void print_line(const char *label, char *text, FILE *out)
{
    if (text != NULL) {
        fprintf(out, "    %s%s\n", label, text);
    }
    sim_free(text);
}

// Prints a parameter with its value, meaning, accepted values and paths. What the scenario does not
// say of it is told by the attribute that it sets.
static void print_parameter(const world_registry_t *registry, const world_tree_t *root,
                            const world_tree_entry_t *entry, FILE *out)
{
    const world_tree_t *const tree = entry->value;
    const world_tree_t *const map = tree->kind == WORLD_TREE_MAP ? tree : NULL;
    const world_tree_t *const paths = map != NULL ? world_tree_value(map, "path") : tree;
    const world_tree_t *const choose = map != NULL ? world_tree_value(map, "choose") : NULL;
    const bool several = paths != NULL && paths->kind == WORLD_TREE_LIST && paths->count > 0;
    char *const path = tree_text(several ? paths->entries[0].value : paths);
    char *const name = path != NULL ? world_attribute_of_path(path) : NULL;
    const sim_attr_t *const attr = name != NULL ? find_attr(registry, name) : NULL;
    const world_tree_t *const own = map != NULL ? world_tree_value(map, "default") : NULL;
    char *const value = parameter_value(root, own, path, attr);
    fprintf(out, "%s%s%s\n", entry->key->text, value != NULL ? " = " : "",
            value != NULL ? value : "");
    char *const help = tree_text(map != NULL ? world_tree_value(map, "help") : NULL);
    print_line("", help != NULL || attr == NULL ? help : sim_strdup(attr->help), out);
    if (choose != NULL) {
        print_choices(choose, out);
    } else if (attr != NULL) {
        print_line("", values_text(registry, attr), out);
    }
    print_line("sets ", tree_text(paths), out);
    SIM_FREE_ALL(value, name, path);
}

sim_err_t cli_params_scenario(const world_registry_t *registry, const char *file, FILE *out,
                              world_error_t *error)
{
    world_scenario_t *scenario = NULL;
    const sim_err_t result = world_scenario_load(registry, file, NULL, 0, &scenario, error);
    if (result != SIM_OK) {
        return result;
    }
    const world_tree_t *const map = world__parameters_section(scenario->root);
    if (map == NULL || map->count == 0) {
        fprintf(out, "%s has no section `parameters`\n", file);
    }
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        fputs(i > 0 ? "\n" : "", out);
        print_parameter(registry, scenario->root, &map->entries[i], out);
    }
    world_scenario_destroy(scenario);
    return SIM_OK;
}

// -- the page

// Writes a cell of a Markdown table; escapes the vertical bar, which would end the cell.
static void put_cell(const char *text, FILE *out)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '|') {
            fputc('\\', out);
        }
        fputc(*p, out);
    }
}

static void print_section(const world_registry_t *registry, const sim_attr_table_t *table,
                          FILE *out)
{
    const char *const title = table->prefix[0] == '\0' ? "the top level" : table->prefix;
    fprintf(out, "\n## %s\n\n", title);
    const topo_ops_t *const *topology = world_registry_topologies(registry);
    for (; *topology != NULL; topology++) {
        if ((*topology)->attrs == table) {
            fprintf(out, "The topology `%s`: %s.\n\n", (*topology)->name, (*topology)->help);
        }
    }
    for (const app_ops_t *const *app = world_registry_apps(registry); *app != NULL; app++) {
        if ((*app)->attrs == table) {
            fprintf(out, "The traffic `%s`: %s.\n\n", (*app)->name, (*app)->help);
        }
    }
    fprintf(out, "A value per %s.\n\n", table->scope);
    fprintf(out, "| attribute | default | values | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < table->count; i++) {
        const sim_attr_t *const attr = &table->attrs[i];
        char *const values = values_text(registry, attr);
        fprintf(out, "| `%s` | `%s` | ", attr->path, default_text(attr));
        put_cell(values, out);
        fputs(" | ", out);
        put_cell(attr->help, out);
        char *const profiles = profiles_text(attr);
        if (profiles != NULL) {
            fprintf(out, " (%s)", profiles);
            sim_free(profiles);
        }
        fputs(" |\n", out);
        sim_free(values);
    }
}

void cli_params_markdown(const world_registry_t *registry, FILE *out)
{
    const sim_attr_table_t **tables = NULL;
    const size_t count = world_attr_tables(registry, &tables);
    fputs(
        "# Attributes\n\n"
        "Every parameter of rocesim, made by `rocesim params --markdown`. How they are written in "
        "a scenario:\n[scenario.md](scenario.md).\n\n"
        "Units: bytes in B, KB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024); time "
        "in ps, ns, us, ms, s;\nrates in bps, Kbps, Mbps, Gbps, Tbps.\n",
        out);
    for (size_t t = 0; t < count; t++) {
        print_section(registry, tables[t], out);
    }
    sim_free((void *)tables);
}
